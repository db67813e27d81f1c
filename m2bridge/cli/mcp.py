"""``m2bridge mcp``: commands as tools of a server of the Model Context Protocol.

A tool is a command: the schema of its arguments is made from the options. A call passes values to
the parameters by name, and never words of a command line; the command runs with ``--json`` in a
worker process of ``anyio.to_process``. A tool has the options that the family in the call declares,
and it reads only files below the allowed folders.

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
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache, partial
from io import StringIO
from pathlib import Path
from pkgutil import walk_packages
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Literal

import click

import m2bridge
from m2bridge import limits
from m2bridge._version import __version__
from m2bridge.cli import (
    DONE,
    FAILED,
    certificates as certifying,
    common,
    compute as computing,
    decide as deciding,
    ed_degree as distances,
    ideals,
    macaulay2 as bridge,
    show as showing,
)
from m2bridge.cli.cases import CASE_OPTIONS, Text, as_parameter, replace_case_options
from m2bridge.engine import Session
from m2bridge.engine.context import choose
from m2bridge.engine.discovery import VARIABLE
from m2bridge.engine.scratch import Scratch, sweep
from m2bridge.errors import ConversionError, EngineError, M2BridgeError
from m2bridge.families.registry import families, family
from m2bridge.limits import Limits, imported, library, load_wholly
from m2bridge.reading import check_readable, confine
from m2bridge.results.sheet import printable, shortened
from m2bridge.system import cores, end_with, limit_address_space

if TYPE_CHECKING:
    from m2bridge.families.base import CaseOption

MAX_ANSWER_TEXT_CHARS = 4000  # the text for people, in addition to the structured result
NOTICE_INTERVAL_SECONDS = 2.0  # between two reports of progress
PATIENCE_SECONDS = 5.0  # after the limit, for a worker in code that does not check the deadline
LOADING_SECONDS = 120.0  # for the start of a worker, on a slow disk

UNNEEDED_MODULES = {"__main__", "main", "notebook"}
"""The last parts of the names of modules that no call needs."""
LAZY_IMPORTS = ("ml_dtypes", "safetensors")
"""Modules that functions import when they read files of weights."""

NOT_GIVEN = click.Option(["--any"]).default
"""The value that click sets for a parameter that is not given."""

TOOL_COMMANDS: dict[str, click.Command] = {
    "closure": computing.closure_command,
    "dimension": computing.dimension_command,
    "singular_locus": computing.singular_locus_command,
    "cross_check": deciding.cross_check_command,
    "membership": deciding.membership_command,
    "polar_degrees": computing.polar_degrees_command,
    "ed_degree": distances.ed_degree_command,
    "critical_points": computing.critical_points_command,
    "weights": showing.weights_command,
    "verify": certifying.verify_command,
    "ideal": ideals.ideal_command,
    "evaluate": bridge.run_command,
}
"""The command of each tool."""

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
    "verify": {"counts": dict[str, int], "certificates": OBJECTS},
    "ideal": {"ideal": dict[str, Any], "method": str, "value": Any, "text": str},
    "evaluate": {"value": Any, "text": str, "output": str, "seconds": float},
}
"""The main fields of the JSON result of each tool, with their types; there are more."""

# Options about a terminal, a batch or this machine, and options that all tools have.
OMITTED_OPTIONS = {"form", "as_json", "everything", "exit_zero", "quiet", "program", "workers"}
OMITTED_OPTIONS |= {"each", "out", "executor", "retry", "named_file", "timeout", "memory"}
NUMBER = int | float | str
ARGUMENT_TYPES = {
    **dict.fromkeys("AKQV", list[list[NUMBER]]),
    "function": dict[str, NUMBER],
    "heads": int | str,  # a number, or with "all"
}
ARGUMENT_HELP = {
    "options": 'The options of the family by name, such as {"widths": "2,2,1"}.',
    "statement": "A statement, '3.4', or a part of one, '3.4 (iii)' [default: all].",
    "code": "Macaulay2 code; the result is the value of its last statement.",
    "file": "A file with arrays of weights.",
    "map": "A polynomial map, or layers of polynomial maps: a TOML file, or its content.",
    "paths": "Certificates, or folders of certificates.",
    "ideal": "Polynomials such as 'x^2 - y^3, x*y', or a file with an ideal.",
    "timeout": "Time limit for the call, in seconds.",
    "memory": "Limit on the address space of Macaulay2, in MiB.",
}


def arguments_of(name: str) -> dict[str, click.Parameter]:
    """Return the arguments of a tool: the parameters of its command, by the argument's name."""
    kept = [param for param in TOOL_COMMANDS[name].params if param.name not in OMITTED_OPTIONS]
    named = {param.opts[0].lstrip("-").replace("-", "_"): param for param in kept}
    if name == "evaluate":  # the code itself is an argument, not a file
        named["code"] = named.pop("file")
    return named


def _type(param: click.Parameter) -> Any:
    """Return the Python type of an argument, by the parameter's name or type; else ``str``."""
    if isinstance(param.type, click.Choice):
        return Literal[tuple(param.type.choices)]
    kinds = {"integer": int, "decimal": float, "boolean": bool} | ARGUMENT_TYPES
    kind: Any = kinds.get(str(param.name), kinds.get(param.type.name, str))
    return list[kind] if param.nargs == -1 else kind


def _default(param: click.Parameter) -> Any:
    """Return the default of an argument of a tool; ``None`` if it has none that JSON can show."""
    return param.default if isinstance(param.default, str | int | float) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """The JSON that a command printed, the text of its results, and its error message, if any."""

    printed: str = ""
    text: str = ""
    error: str = ""


class Workers:
    """The worker processes of the server, at most one for each core, but two in any case.

    The first call starts the first worker. Workers, and each Macaulay2 of theirs, have ``memory``
    bytes of address space and read only files below ``folders``; ``run_reporting_errors`` calls a
    function without arguments, which runs a command, and prints its errors. A worker runs
    ``_prepare``, and ``_perform`` for a call; at most ``_turns`` calls run at once.
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
        # the system closes it when this process ends for whatever reason, and then workers end
        self._held = os.open(watched, os.O_RDWR)
        self._prepare = partial(_prepare_worker, watched, memory, folders)
        self._perform = partial(_perform_in_worker, self._prepare, run_reporting_errors, memory)
        self._turns = CapacityLimiter(max(cores(), 2))

    async def ask(self, name: str, values: Mapping[str, Any]) -> ToolAnswer:
        """Return the answer of a worker, which is ended if the call is cancelled or late.

        ``name`` is that of the tool, and ``values`` has all its arguments. The limit ``timeout``
        among them counts from now, without the time that a worker takes to start.
        """
        import anyio
        from anyio import to_process

        to_process.current_default_process_limiter().total_tokens = self._turns.total_tokens
        try:
            with anyio.move_on_after(values["timeout"] + PATIENCE_SECONDS) as limit:
                async with self._turns:
                    before = anyio.current_time()
                    # a new worker may take so long to start, and the call gets that time, too
                    limit.deadline += LOADING_SECONDS
                    await to_process.run_sync(self._prepare, cancellable=True)
                    loaded_in = anyio.current_time() - before
                    limit.deadline += loaded_in - LOADING_SECONDS
                    answer: ToolAnswer = await to_process.run_sync(
                        self._perform, name, values, cancellable=True
                    )
                    return answer
        except anyio.BrokenWorkerProcess:
            return ToolAnswer(error="Error: the process of this computation has ended")
        finally:
            sweep(self._folder.path)  # temporary folders of workers that were killed
        # move_on_after has ended its block at the deadline
        return ToolAnswer(error="Error: the call did not finish in time and was ended")

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
    memory: int,
    name: str,
    values: Mapping[str, Any],
) -> ToolAnswer:
    """Perform a call of the tool ``name`` in this worker process; return the answer.

    ``prepare`` prepares the process at the first call, and returns the list to which commands add
    the texts of their results. The other parameters are those of :class:`Workers` (``memory`` in
    bytes) and :meth:`Workers.ask`.
    """
    texts = prepare()
    texts.clear()  # those of the call before
    limits.start("timeout")
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as error:
        run_reporting_errors(partial(perform_tool, name, values, memory // 2**20))
    return ToolAnswer(printed=out.getvalue(), text="".join(texts), error=error.getvalue())


_kept: list[Scratch] = []
"""The temporary folder of this process, if it is a worker."""


@cache
def _prepare_worker(watched: Path, memory: int, folders: tuple[Path, ...]) -> list[str]:
    """Prepare this worker process, once; return the list to which commands add their texts.

    The pipe ``watched`` is closed when the server ends; then the worker ends as well, whose
    temporary folder is beside it. ``memory`` limits the address space, in bytes.
    """
    end_with(os.open(watched, os.O_RDONLY))
    _kept.append(Scratch(str(watched.parent)))
    os.environ["TMPDIR"] = tempfile.tempdir = str(_kept[-1].path)
    limit_address_space(memory)
    session = Session(limits=Limits(memory=memory))
    with suppress(EngineError):  # a command that needs Macaulay2 will report the error
        session.start()
    choose(session)
    _load()
    confine(folders)
    texts: list[str] = []
    common.listeners.append(texts.append)
    return texts


def _load() -> None:
    """Import all modules that calls may need, before a time limit could interrupt an import."""
    load_wholly()
    for module in walk_packages(m2bridge.__path__, "m2bridge."):
        if module.name.rpartition(".")[2] not in UNNEEDED_MODULES:
            imported(module.name)
    for name in LAZY_IMPORTS:
        with suppress(ImportError):
            imported(name)
    families()


def perform_tool(name: str, values: Mapping[str, Any], most: int) -> object:
    """Perform the command of a tool; return its exit code.

    ``name`` is that of the tool, ``values`` are the values of its arguments by name, and ``most``
    is the largest memory of a Macaulay2, in MiB.

    Raises
    ------
    click.ClickException, M2BridgeError, OSError, MemoryError
        Errors of the command, and if a value is not valid for an argument of the tool.
    """
    command = TOOL_COMMANDS[name]
    try:
        with click.Context(command, info_name=command.name) as context:
            parse(context, name, values, most)
            return command.invoke(context)
    except (click.ClickException, M2BridgeError, OSError, MemoryError):
        raise
    except Exception as mistake:  # its message and traceback may quote a file
        *_, place = traceback.extract_tb(mistake.__traceback__)
        where = f"{Path(place.filename).name}, line {place.lineno}"
        kind = type(mistake).__name__
        click.echo(f"Error: internal error of m2bridge: {kind} in {where}", err=True)
        return FAILED


def parse(context: click.Context, name: str, values: Mapping[str, Any], most: int) -> None:
    """Set the parameters of a command to the values of a call, each by name.

    No value becomes a word of a command line, so a value cannot act as an option. ``context`` is
    that of the command; the other parameters are those of :func:`perform_tool`.

    Raises
    ------
    click.UsageError
        If the family lacks an option, a value is invalid for its parameter, or a path is not below
        a folder that may be read.
    """
    command = context.command
    given = _given_values(name, values)
    texts: dict[str, Text] = {}  # in place of files
    given |= _json_flag(command) | {"timeout": values["timeout"]}
    # a lower limit than the worker's needs a new Macaulay2; checkers and code of users have
    # processes of their own
    if values.get("memory", most) < most or name in ("verify", "evaluate"):
        given["memory"] = f"{values['memory']}M"
    own = _own_options(values)
    if own is not None:  # with a family or a map, d, d', a and t name nothing
        replace_case_options(context, list(map(as_parameter, own)))
        given = _with_family_options(name, given, values, own)
    for argument, param in arguments_of(name).items():
        value = given.get(str(param.name))
        # a text of several lines is the content of a file, not its name
        is_map_itself = argument == "map" and isinstance(value, str) and "\n" in value
        if argument == "code" or is_map_itself:
            texts[str(param.name)] = Text(argument, given.pop(str(param.name)))
        elif value is not None and isinstance(param.type, click.Path):
            _check_paths(argument, value)
    # the time limit first, since it counts while the others are read
    for param in sorted(command.get_params(context), key=lambda param: param.name != "timeout"):
        if param.name not in ("help", *texts):
            param.handle_parse_result(context, given, [])
    for parameter, value in context.params.items():
        if value is NOT_GIVEN:
            context.params[parameter] = None
    context.params |= texts


def _given_values(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the arguments that a call gives, by the names of click's parameters.

    ``values`` are all arguments of the tool ``name``; ``None`` and defaults count as not given.
    Parameters read texts, as from a command line: a number or a list becomes JSON.
    """
    given: dict[str, Any] = {}
    for argument, param in arguments_of(name).items():
        value = values[argument]
        if value is None or value == _default(param):
            continue
        # several values, such as paths, stay a list
        if param.nargs == -1 or isinstance(value, bool | str):
            given[str(param.name)] = value
        else:
            given[str(param.name)] = json.dumps(value)
    return given


def _json_flag(command: click.Command) -> dict[str, Any]:
    """Return the parameter that makes the command print JSON, with its value."""
    names = [param.name for param in command.params]
    return {"form": "json"} if "form" in names else {"as_json": True}


def _own_options(values: Mapping[str, Any]) -> Sequence[CaseOption] | None:
    """Return the options of the family that a call names, none for a map; ``None`` for neither."""
    if values.get("family") is not None:
        return family(values["family"]).options
    for written in values.get("options", {}):  # options without a family: the first is refused
        raise click.UsageError(f"options: '{printable(written):.60}' is not an option of a family")
    return None if values.get("map") is None else ()


def _with_family_options(
    name: str, given: dict[str, Any], values: Mapping[str, Any], own: Sequence[CaseOption]
) -> dict[str, Any]:
    """Return the values in ``given``, and those of a family's options, by parameters.

    ``given`` are the values of the tool ``name``, ``values`` all arguments of the call, among them
    ``options``, and ``own`` the options that the family declares, none for a map. An argument that
    is an option of the default family is refused unless the named family has one of this name.
    """
    of_command = {param.name for param in TOOL_COMMANDS[name].params} - {*CASE_OPTIONS}
    by_name = {option.name: option for option in own if option.name not in of_command}
    which = "a map" if values.get("family") is None else f"the family '{values['family']:.60}'"
    given = dict(given)
    for argument in CASE_OPTIONS:
        if argument in given and argument not in by_name:
            raise click.UsageError(f"'{argument}' is not an option of {which}")
    for written, value in values.get("options", {}).items():
        option = by_name.get(written.replace("-", "_"))
        if option is None or option.name in ("help", *given):
            reason = "is given twice" if option is not None else f"is not an option of {which}"
            raise click.UsageError(f"options: '{printable(written):.60}' {reason}")
        if value is False:  # as if it were not given
            continue
        # true belongs to an option without a value, and only to such an option
        if (value is True) is not option.flag:
            kind = "true or false" if option.flag else "a number or a text"
            raise click.UsageError(f"options: '{option.name}' must be {kind}")
        given[option.name] = "true" if value is True else str(value)
    return given


def _check_paths(argument: str, value: Any) -> None:
    """Check that a path, or each path in a list, may be read, before anything accesses it."""
    for path in [value] if isinstance(value, str) else value:
        try:
            check_readable(path)
        except ConversionError as reason:
            raise click.UsageError(f"{argument}: {reason}") from None


def tool(name: str, most: Limits, workers: Workers) -> Any:
    """Return the tool of this name, whose calls are performed by workers.

    ``most`` are the largest limits that a call may ask for; they are also the defaults. An entry
    of ``more`` is the type, default and bounds of an argument that is no single parameter.
    """
    from mcp.server.mcpserver.tools.base import Tool, ToolAnnotations
    from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
    from pydantic import ConfigDict, Field, create_model

    fields: dict[str, Any] = {}
    for argument, param in arguments_of(name).items():
        about = ARGUMENT_HELP.get(argument) or getattr(param, "help", None) or argument
        kind, default = _type(param), _default(param)
        if param.required:
            fields[argument] = (kind, Field(description=about))
        else:
            fields[argument] = (kind | None, Field(default, description=about))
    more: dict[str, Any] = {"timeout": (float, most.timeout, {"gt": 0, "le": most.timeout})}
    mebibytes = (most.memory or 0) // 2**20
    if "memory" in [param.name for param in TOOL_COMMANDS[name].params]:
        least = limits.MIN_ENGINE_MEMORY_BYTES // 2**20
        more["memory"] = (int, mebibytes, {"ge": least, "le": mebibytes})
    if "family" in fields:
        more["options"] = (dict[str, bool | int | str], {}, {})
    for argument, (kind, default, bounds) in more.items():
        fields[argument] = (kind, Field(default, description=ARGUMENT_HELP[argument], **bounds))

    async def call(ctx: Any, **values: Any) -> Any:
        return await call_tool(name, values, workers, ctx)

    # unknown arguments are refused
    strict = type("Strict", (ArgModelBase,), {"model_config": ConfigDict(extra="forbid")})
    arguments = create_model(f"{name}_arguments", __base__=strict, **fields)
    shown: dict[str, Any] = {}
    for field, kind in RESULT_FIELDS[name].items():
        shown[field] = (kind | None, None)
    found = create_model(f"{name}_result", __config__=ConfigDict(extra="allow"), **shown)
    return Tool(
        fn=call,
        name=name,
        description=str(TOOL_COMMANDS[name].help).partition("\n\n")[0],
        parameters=arguments.model_json_schema(),
        fn_metadata=FuncMetadata(arg_model=arguments, output_model=found),
        is_async=True,
        context_kwarg="ctx",
        annotations=ToolAnnotations(read_only_hint=name != "evaluate"),
    )


async def call_tool(name: str, values: dict[str, Any], workers: Workers, ctx: Any) -> Any:
    """Return the result of a call, or the command's error; report progress to ``ctx`` meanwhile."""
    import anyio
    from mcp_types import CallToolResult, TextContent

    begin = time.monotonic()

    async def notices() -> None:
        """Report how long the call has taken, again and again until this is cancelled."""
        while True:
            seconds = time.monotonic() - begin
            await ctx.report_progress(seconds, values["timeout"], f"{name}: {seconds:.0f} s")
            await anyio.sleep(NOTICE_INTERVAL_SECONDS)

    async with anyio.create_task_group() as group:
        group.start_soon(notices)
        answer = await workers.ask(name, values)
        group.cancel_scope.cancel()
    found = _sendable(json.loads(answer.printed or "{}"))
    # the text of the result, else what Macaulay2 printed and its value, else the JSON
    text = answer.text or found.get("output", "") + found.get("text", "") or answer.printed
    said = _sendable("\n".join(filter(None, (text, answer.error))))
    content = [TextContent(type="text", text=shortened(said, MAX_ANSWER_TEXT_CHARS))]
    if not found:  # a command that prints no JSON has failed
        return CallToolResult(content=content, is_error=True)
    return CallToolResult(content=content, structured_content=found)


def _sendable(value: Any) -> Any:
    """Return a JSON value in which bytes of file names that are not UTF-8 are escaped."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, list):
        return [_sendable(entry) for entry in value]
    if isinstance(value, dict):
        return {_sendable(name): _sendable(entry) for name, entry in value.items()}
    return value


def _first_exception(failures: BaseException) -> BaseException:
    """Return the first exception in nested groups."""
    while isinstance(failures, BaseExceptionGroup):
        failures = failures.exceptions[0]
    return failures


def _current_folder() -> tuple[Path, ...]:
    """Return the current folder, unless it is the root, where desktops start programs."""
    here = Path.cwd()
    return () if here.parent == here else (here,)


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
    report: Any, /, *, memory: int, program: str | None, folders: tuple[Path, ...], **options: Any
) -> int:
    """Serve commands as tools for assistants and other programs (Model Context Protocol).

    The server uses standard input and output. Callers can lower the limits but not raise them.
    """
    missing = "the package mcp is missing: in the clone, pip install '.[mcp]'"
    library("mcp.server.mcpserver", missing)
    from mcp.server.mcpserver import MCPServer

    if program is not None:
        os.environ[VARIABLE] = program  # workers inherit it
    os.environ["PYTHONSAFEPATH"] = "1"  # workers import no modules from the current folder
    folders = tuple(map(Path.absolute, folders)) or _current_folder()
    workers = Workers(report, memory=memory, folders=folders)

    def end(number: int, frame: object) -> None:
        """End the workers, and then this process by the same signal."""
        signal.signal(number, signal.SIG_DFL)
        workers.end()
        os.kill(os.getpid(), number)

    # an exception would not end the thread that waits for input
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
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
        raise _first_exception(failures) from None
    finally:
        workers.end()
    return DONE
