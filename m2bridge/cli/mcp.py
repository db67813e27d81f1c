"""``m2bridge mcp``: commands as tools of a server of the Model Context Protocol.

A tool is a command: the schema of its arguments is made from the options. A call passes values to
the parameters by name, and never words of a command line; the command runs with ``--json`` in a
worker process of ``anyio.to_process``. A tool has the options that the family in the call declares,
and it reads only files below the allowed folders. Here ``name`` is the name of a tool, and
``values`` has all its arguments by name, among them the limit ``timeout`` in seconds.

An idle worker takes the next call and keeps its Macaulay2 for it; a call that arrives while all are
busy starts another worker. So calls share a session, but no state in it. A call that is cancelled
or late is ended together with its worker and all processes that the worker has started.

Threads would not do: they share one limit on memory and one standard output, an alarm reaches only
the main thread, and FLINT blocks other threads. So a call could not be ended, and the progress
reports of other calls would have to wait for it.
"""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache, partial
from io import StringIO
from pathlib import Path
from pkgutil import walk_packages
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import click

import m2bridge
from m2bridge import limits
from m2bridge._version import __version__
from m2bridge.cli import DONE, FAILED, common
from m2bridge.cli.tool_arguments import (
    ARGUMENT_HELP,
    TOOL_COMMANDS,
    argument_default,
    argument_type,
    arguments_of,
    parse,
)
from m2bridge.engine import Session
from m2bridge.engine.context import choose
from m2bridge.engine.discovery import VARIABLE
from m2bridge.engine.scratch import Scratch, sweep
from m2bridge.errors import EngineError, M2BridgeError
from m2bridge.families.registry import families
from m2bridge.limits import Limits, imported, library, load_wholly
from m2bridge.reading import confine
from m2bridge.results.sheet import shortened
from m2bridge.system import cores, end_with, limit_address_space

if TYPE_CHECKING:
    from anyio import CancelScope

PATIENCE_SECONDS = 5.0  # after the limit, for a worker in code that does not check the deadline

UNNEEDED_MODULES = {"__main__", "main", "notebook"}
"""The last parts of the names of modules that no call needs."""
LAZY_IMPORTS = ("ml_dtypes", "safetensors")
"""Modules that functions import when they read files of weights."""

OBJECTS = list[dict[str, Any]]
RESULT_FIELDS: dict[str, dict[str, Any]] = {
    "closure": {"dimension": int, "degree": int, "generators": list[str], "complete": str},
    "dimension": {"dimension": int, "status": str},
    "singular_locus": {"dimension": int, "components": OBJECTS},
    "cross_check": {"verdicts": OBJECTS},
    "membership": {"place": str, "orbit": dict[str, int], "weights": OBJECTS},
    "polar_degrees": {"polar_degrees": list[int | None], "dual_degree": int, "proved": bool},
    "ed_degree": {"ed_degree": int, "generic_ed_degree": int, "primes": list[int], "proved": bool},
    "critical_points": {"critical_points": int, "real_points": OBJECTS, "primes": list[int]},
    "weights": {"heads": OBJECTS, "arrays": OBJECTS},
    "verify": {"counts": dict[str, int], "certificates": OBJECTS, "plan": dict[str, Any]},
    "ideal": {"ideal": dict[str, Any], "method": str, "value": Any, "text": str},
    "evaluate": {"value": Any, "text": str, "output": str, "seconds": float},
}
"""The main fields of the JSON result of each tool, with their types; there are more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """The JSON that a command printed, the text of its results, and its error message, if any."""

    printed: str = ""
    text: str = ""
    error: str = ""


class Workers:
    """The worker processes of the server, at most one for each core, but two in any case.

    The first call starts the first worker. Workers, and each Macaulay2 that they start, have
    ``memory`` bytes of address space and read only files below ``folders``;
    ``run_reporting_errors`` calls a function without arguments, which runs a command, and prints
    its errors.
    """

    def __init__(
        self,
        run_reporting_errors: Callable[[Callable[[], object]], object],
        *,
        memory: int,
        folders: tuple[Path, ...],
    ) -> None:
        from anyio import CapacityLimiter

        self._folder = Scratch()  # holds the temporary files of workers, even of killed ones
        watched = self._folder.path / "watched"
        os.mkfifo(watched)
        # The system closes it when this process ends for whatever reason, and then workers end. To
        # open a pipe for writing alone would wait for a reader.
        self._held = os.open(watched, os.O_RDWR)
        self._prepare = partial(_prepare_worker, watched, memory, folders)
        memory_mib = memory // 2**20
        self._perform = partial(_perform_in_worker, self._prepare, run_reporting_errors, memory_mib)
        self._turns = CapacityLimiter(max(cores(), 2))

    async def ask(self, name: str, values: Mapping[str, Any]) -> ToolAnswer:
        """Return the answer of a worker, which is ended if the call is cancelled or late.

        The limit counts from now, also while the call waits for its turn, but not while a worker
        starts.
        """
        import anyio
        from anyio import to_process

        # anyio too limits how many workers compute at once, to the number of cores, which may be 1
        to_process.current_default_process_limiter().total_tokens = self._turns.total_tokens
        try:
            with anyio.move_on_after(values["timeout"] + PATIENCE_SECONDS) as limit:
                async with self._turns:
                    await self._start_worker(limit)
                    answer: ToolAnswer = await to_process.run_sync(
                        self._perform, name, values, cancellable=True
                    )
                    return answer
        except anyio.BrokenWorkerProcess:
            return ToolAnswer(error="Error: the process of this computation has ended")
        finally:
            sweep(self._folder.path)  # temporary folders of workers that were killed
        # at the deadline move_on_after ends its block without an exception
        return ToolAnswer(error="Error: the call did not finish in time and was ended")

    async def _start_worker(self, limit: CancelScope) -> None:
        """Start a worker, if none is idle, and move the deadline of a call by the time it takes.

        The worker that performs the call later may be another one, and then prepares itself.
        """
        import anyio
        from anyio import to_process

        begin = anyio.current_time()
        deadline = limit.deadline
        limit.deadline = deadline + 120.0  # for the start alone, on a slow disk
        most_idle = int(self._turns.total_tokens)
        while True:
            try:
                await to_process.run_sync(self._prepare, cancellable=True)
                break
            except anyio.BrokenWorkerProcess:
                # An idle worker was killed meanwhile, and is dropped now: others may be, too.
                if most_idle == 0:
                    raise
                most_idle -= 1
        limit.deadline = deadline + (anyio.current_time() - begin)

    def end(self) -> None:
        """End all workers and remove their temporary files."""
        os.close(self._held)  # workers watch this pipe
        end = time.monotonic() + PATIENCE_SECONDS
        while self._folder.path.exists() and time.monotonic() < end:
            rmtree(self._folder.path, ignore_errors=True)  # workers may still write there
        self._folder.remove()


def _perform_in_worker(
    prepare: Callable[[], list[str]],
    run_reporting_errors: Callable[[Callable[[], object]], object],
    memory_mib: int,
    name: str,
    values: Mapping[str, Any],
) -> ToolAnswer:
    """Perform a call in this worker process; ``prepare`` returns the list to which commands add the
    texts of their results, and a Macaulay2 of the call's own may have ``memory_mib``.
    """
    texts = prepare()
    texts.clear()  # texts of the call before
    # The seconds of the limit that the command sets count from here. Errors about it name the
    # argument that gives more time, ``timeout``.
    limits.start("timeout")
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as error:
        run_reporting_errors(partial(perform_tool, name, values, memory_mib))
    return ToolAnswer(printed=out.getvalue(), text="".join(texts), error=error.getvalue())


_kept: list[Scratch] = []
"""The temporary folder of this process, if it is a worker."""


@cache
def _prepare_worker(watched: Path, memory: int, folders: tuple[Path, ...]) -> list[str]:
    """Prepare this worker process, once; return the list to which commands add their texts.

    The pipe ``watched``, in the server's folder for temporary files, is closed when the server
    ends.
    """
    end_with(os.open(watched, os.O_RDONLY))  # this process ends when the pipe is closed
    _kept.append(Scratch(str(watched.parent)))
    # for temporary files of this process, and of the programs that it starts
    os.environ["TMPDIR"] = tempfile.tempdir = str(_kept[-1].path)
    limit_address_space(memory)
    session = Session(limits=Limits(memory=memory))
    with suppress(EngineError):  # a command that needs Macaulay2 will report the error
        session.start()
    choose(session)  # computations use it, unless a call has a memory limit of its own
    _load()
    confine(folders)
    texts: list[str] = []
    common.listeners.append(texts.append)
    return texts


def _load() -> None:
    """Import all modules that calls may need, before a time limit could interrupt an import."""
    load_wholly()  # an import that a call still needs is finished even if its limit is reached
    for module in walk_packages(m2bridge.__path__, "m2bridge."):
        if module.name.rpartition(".")[2] not in UNNEEDED_MODULES:
            imported(module.name)
    for name in LAZY_IMPORTS:
        with suppress(ImportError):  # not installed
            imported(name)
    families()  # also those that other packages define


def perform_tool(name: str, values: Mapping[str, Any], max_memory_mib: int) -> object:
    """Perform the command of a tool; return its exit code.

    A bug in m2bridge is printed as a place in the program only; other errors are raised.
    """
    command = TOOL_COMMANDS[name]
    try:
        with click.Context(command, info_name=command.name) as context:
            parse(context, name, values, max_memory_mib)
            return command.invoke(context)
    except (click.ClickException, M2BridgeError, OSError, MemoryError):
        raise
    except Exception as mistake:  # its message and traceback may quote a file
        *_, place = traceback.extract_tb(mistake.__traceback__)
        where = f"{Path(place.filename).name}, line {place.lineno}"
        kind = type(mistake).__name__
        click.echo(f"Error: internal error of m2bridge: {kind} in {where}", err=True)
        return FAILED


def tool(name: str, most: Limits, workers: Workers) -> Any:
    """Return the tool of this name, an object of the package mcp; ``most`` are the largest limits
    that a call may ask for, and the defaults.
    """
    from mcp.server.mcpserver.tools.base import Tool, ToolAnnotations
    from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
    from pydantic import ConfigDict, create_model

    async def call(ctx: Any, **values: Any) -> Any:
        """Perform a call; the server passes its context, and the values of all arguments."""
        return await call_tool(name, values, workers, ctx)

    arguments = _argument_model(name, most)
    # the main fields, each of which may be missing; a result has more, which are sent, too
    fields: dict[str, Any] = {
        field: (kind | None, None) for field, kind in RESULT_FIELDS[name].items()
    }
    result = create_model(f"{name}_result", __config__=ConfigDict(extra="allow"), **fields)
    return Tool(
        fn=call,
        name=name,
        description=str(TOOL_COMMANDS[name].help).partition("\n\n")[0],
        parameters=arguments.model_json_schema(),
        fn_metadata=FuncMetadata(arg_model=arguments, output_model=result),
        is_async=True,
        context_kwarg="ctx",
        annotations=ToolAnnotations(read_only_hint=name != "evaluate"),
    )


def _argument_model(name: str, most: Limits) -> Any:
    """Return the class of pydantic for the arguments of a tool, which refuses all others."""
    from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
    from pydantic import ConfigDict, Field, create_model

    strict = type("Strict", (ArgModelBase,), {"model_config": ConfigDict(extra="forbid")})
    fields: dict[str, Any] = {}  # pydantic's pair of type and field, by argument
    for argument, param in arguments_of(name).items():
        description = ARGUMENT_HELP.get(argument) or getattr(param, "help", None) or argument
        kind = argument_type(param)
        if param.required:
            fields[argument] = (kind, Field(description=description))
        else:
            default = argument_default(param)
            fields[argument] = (kind | None, Field(default, description=description))
    description = ARGUMENT_HELP["timeout"]
    timeout = Field(most.timeout, description=description, gt=0, le=most.timeout)
    fields["timeout"] = (float, timeout)
    if "memory" in [param.name for param in TOOL_COMMANDS[name].params]:
        assert most.memory is not None
        largest = most.memory // 2**20
        least = limits.MIN_ENGINE_MEMORY_BYTES // 2**20
        description = ARGUMENT_HELP["memory"]
        fields["memory"] = (int, Field(largest, description=description, ge=least, le=largest))
    if "family" in fields:  # the options of the named family, by name
        options = Field({}, description=ARGUMENT_HELP["options"])
        fields["options"] = (dict[str, bool | int | str], options)
    return create_model(f"{name}_arguments", __base__=strict, **fields)


async def call_tool(name: str, values: dict[str, Any], workers: Workers, ctx: Any) -> Any:
    """Return the result of a call, or the command's error; report progress by ``ctx`` meanwhile."""
    import anyio
    from mcp_types import CallToolResult, TextContent

    begin = time.monotonic()

    async def notices() -> None:
        """Report how long the call has taken, again and again until this is cancelled."""
        while True:
            seconds = time.monotonic() - begin
            await ctx.report_progress(seconds, values["timeout"], f"{name}: {seconds:.0f} s")
            await anyio.sleep(2.0)  # between two reports of progress

    async with anyio.create_task_group() as group:
        group.start_soon(notices)
        answer = await workers.ask(name, values)
        group.cancel_scope.cancel()
    result = _sendable(json.loads(answer.printed or "{}"))
    # for people, where the answer has no text, the output of Macaulay2 and the text of the value
    text = answer.text or result.get("output", "") + result.get("text", "") or answer.printed
    parts = [part for part in (text, answer.error) if part]
    # the text for people, in addition to the structured result
    text_for_people = shortened(_sendable("\n".join(parts)), 4000)
    content = [TextContent(type="text", text=text_for_people)]
    if not result:  # a command that prints no JSON has failed
        return CallToolResult(content=content, is_error=True)
    return CallToolResult(content=content, structured_content=result)


def _sendable(value: Any) -> Any:
    """Return a JSON value in which bytes of file names that are not UTF-8 are escaped."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, list):
        return [_sendable(entry) for entry in value]
    if isinstance(value, dict):
        return {_sendable(name): _sendable(entry) for name, entry in value.items()}
    return value


def _end_by_signals(workers: Workers) -> None:
    """Let a signal that ends this process, such as SIGINT of Ctrl-C, end the workers first.

    The usual handlers raise an exception, which would not end the thread that waits for input.
    """

    def end(number: int, frame: object) -> None:
        """End the workers, and then this process by the same signal."""
        signal.signal(number, signal.SIG_DFL)
        workers.end()
        os.kill(os.getpid(), number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, end)


@click.command("mcp", epilog="Example: m2bridge mcp --timeout 300 --memory 4G")
@click.option(
    "--timeout", type=common.seconds, default=600.0, help="Largest limit on the time of a call."
)
@click.option(
    "--memory",
    type=common.engine_memory,
    default="4G",
    help="Largest address space of Macaulay2 for a call.",
)
@click.option(
    "--files",
    "folders",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    metavar="FOLDER",
    help="A folder below which calls may read files [default: the current folder]; may be"
    " repeated.",
)
@click.option("--allow-code", is_flag=True, help="Add the tool 'evaluate': any Macaulay2 code.")
@common.engine_option
@click.pass_obj
def mcp_command(
    run_reporting_errors: Any,
    /,
    *,
    memory: int,
    program: str | None,
    folders: tuple[Path, ...],
    **options: Any,
) -> int:
    """Serve commands as tools for assistants and other programs (Model Context Protocol).

    The server uses standard input and output. Callers can lower the limits but not raise them.
    """
    need = "the package mcp is missing: in the clone, pip install '.[mcp]'"
    library("mcp.server.mcpserver", need)
    from mcp.server.mcpserver import MCPServer

    if program is not None:
        os.environ[VARIABLE] = program  # workers inherit it
    os.environ["PYTHONSAFEPATH"] = "1"  # workers import no modules from the current folder
    folders = tuple(map(Path.absolute, folders))
    if not folders and Path.cwd() != Path.cwd().parent:
        # desktops start programs in /, and no user means that all files may be read
        folders = (Path.cwd(),)
    # the function of m2bridge.cli.commands, which click passes as the object of its context
    workers = Workers(run_reporting_errors, memory=memory, folders=folders)
    _end_by_signals(workers)
    most = Limits(timeout=options["timeout"], memory=memory)
    names = [name for name in TOOL_COMMANDS if options["allow_code"] or name != "evaluate"]
    server = MCPServer(
        "m2bridge",
        version=__version__,
        instructions="Exact algebraic geometry of lightning self-attention, maps and ideals.",
        tools=[tool(name, most, workers) for name in names],
        log_level="WARNING",
    )
    try:
        server.run()
    except BaseExceptionGroup as failures:  # for example if standard input cannot be read
        failure: BaseException = failures
        while isinstance(failure, BaseExceptionGroup):
            failure = failure.exceptions[0]
        raise failure from None
    finally:
        workers.end()
    return DONE
