"""``m2bridge mcp``: commands as tools of a server by the Model Context Protocol.

A tool is a command: the schema of its arguments is made from the options. A call gives its
parameters values, each by its name, and never words of a command line; the command is performed
with ``--json``, in a worker process, one of those of ``anyio.to_process``. Options of a family are
those that the family declares, and files those below some folders.

An idle worker takes the next call, and has kept its Macaulay2 for it; a call that comes while all
are busy begins another. So calls share a session and nothing in it; and one that is not waited for,
because it was cancelled or is late, is ended with its worker and all that this has begun.

Why processes: threads would share one limit on memory and one standard output, an alarm reaches the
main thread only, and FLINT lets no other thread run meanwhile. So a call could not be ended, and
the notices of others would wait for it.
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
    macaulay2 as bridge,
    show as showing,
)
from m2bridge.cli.cases import CASE, Text, as_parameter, replace_case
from m2bridge.engine import Session
from m2bridge.engine.context import choose
from m2bridge.engine.discovery import VARIABLE
from m2bridge.engine.scratch import Scratch, sweep
from m2bridge.errors import ConversionError, EngineError, M2BridgeError
from m2bridge.families.registry import families, family
from m2bridge.limits import Limits
from m2bridge.loading import imported, library, load_wholly
from m2bridge.reading import check_readable, confine
from m2bridge.results.sheet import printable, shortened
from m2bridge.system import cores, end_with, limit_address_space

if TYPE_CHECKING:
    from m2bridge.families.base import CaseOption

MOST_TEXT = 4000  # characters beside the whole result, for who reads it
NOTICE = 2.0  # seconds between two notices of progress
PATIENCE = 5.0  # seconds after the limit for a worker in code that looks at no clock
LOADING = 120.0  # seconds for a worker to begin, on a slow disk

NO_PART = {"__main__", "main", "notebook"}
"""The last parts of names of modules that no call needs."""
LAZY = ("ml_dtypes", "safetensors")
"""What functions import when files of weights are read."""

NOT_GIVEN = click.Option(["--any"]).default
"""What click writes in place of a value that is not given."""

COMMANDS: dict[str, click.Command] = {
    "closure": computing.closure_command,
    "dimension": computing.dimension_command,
    "singular_locus": computing.singular_locus_command,
    "cross_check": computing.cross_check_command,
    "membership": computing.membership_command,
    "polar_degrees": computing.polar_degrees_command,
    "weights": showing.weights_command,
    "verify": certifying.verify_command,
    "ideal": computing.ideal_command,
    "evaluate": bridge.run_command,
}
"""The command of each tool."""

OBJECTS = list[dict[str, Any]]
RESULTS: dict[str, dict[str, Any]] = {
    "closure": {"dimension": int, "degree": int, "generators": list[str], "complete": str},
    "dimension": {"dimension": int, "status": str},
    "singular_locus": {"dimension": int, "components": OBJECTS},
    "cross_check": {"verdicts": OBJECTS},
    "membership": {"place": str, "orbit": dict[str, int], "weights": OBJECTS},
    "polar_degrees": {"polar_degrees": list[int | None], "dual_degree": int, "proved": bool},
    "weights": {"heads": OBJECTS, "arrays": OBJECTS},
    "verify": {"counts": dict[str, int], "certificates": OBJECTS},
    "ideal": {"ideal": dict[str, Any], "method": str, "value": Any, "text": str},
    "evaluate": {"value": Any, "text": str, "output": str, "seconds": float},
}
"""The main fields of what ``--json`` prints, with their types; there are others."""

# Options about a terminal, a batch or this machine, and those that all tools have.
LEFT_OUT = {"form", "as_json", "everything", "exit_zero", "quiet", "program", "workers", "each"}
LEFT_OUT |= {"out", "executor", "retry", "named_file", "timeout", "memory"}
NUMBER = int | float | str
TYPES = {**dict.fromkeys("AKQV", list[list[NUMBER]]), "function": dict[str, NUMBER]}
ABOUT = {
    "options": 'With family: its own options by their names, such as {"widths": "2,2,1"}.',
    "statement": "A statement, '3.4', or a part, '3.4 (iii)'; all when left out.",
    "code": "Code of Macaulay2; the value of its last statement is that of the call.",
    "file": "A file with arrays.",
    "map": "A polynomial map, or layers of them: a TOML file, or its text.",
    "paths": "Certificates, and folders of them.",
    "ideal": "Polynomials, 'x^2 - y^3, x*y', or a file.",
    "timeout": "Seconds for all of it.",
    "memory": "MiB of address space for Macaulay2.",
}


def arguments_of(name: str) -> dict[str, click.Parameter]:
    """The parameters of a command that are arguments of its tool, by the names that they have."""
    kept = [param for param in COMMANDS[name].params if param.name not in LEFT_OUT]
    named = {param.opts[0].lstrip("-").replace("-", "_"): param for param in kept}
    if name == "evaluate":  # what is run comes with the call
        named["code"] = named.pop("file")
    return named


def _type(param: click.Parameter) -> Any:
    """The type of a parameter of a tool."""
    if isinstance(param.type, click.Choice):
        return Literal[tuple(param.type.choices)]
    kinds = {"integer": int, "decimal": float, "boolean": bool} | TYPES
    kind: Any = kinds.get(str(param.name), kinds.get(param.type.name, str))
    return list[kind] if param.nargs == -1 else kind


def _default(param: click.Parameter) -> Any:
    return param.default if isinstance(param.default, str | int | float) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a command line printed as JSON, the text of its results, and its message, if any."""

    printed: str = ""
    text: str = ""
    error: str = ""


class Workers:
    """At most as many worker processes as there are cores, and two in any case.

    Each performs calls, whose failures ``reported`` shows; it has so many bytes of memory, as has
    its Macaulay2, and reads files below these folders only. The first call begins the first of
    them.
    """

    def __init__(
        self,
        reported: Callable[[Callable[[], object]], object],
        *,
        memory: int,
        folders: tuple[Path, ...],
    ) -> None:
        from anyio import CapacityLimiter

        self._folder = Scratch()  # what a worker that is killed leaves goes with it
        watched = self._folder.path / "watched"
        os.mkfifo(watched)
        # closed by the system when this process ends, whatever ends it: then workers end too
        self._held = os.open(watched, os.O_RDWR)
        self._begun = partial(_begun, watched, memory, folders)
        self._performed = partial(_performed, self._begun, reported, memory)
        self._turns = CapacityLimiter(max(cores(), 2))

    async def ask(self, name: str, values: Mapping[str, Any]) -> ToolAnswer:
        """The answer of a worker, which is ended if it is not waited for.

        The limit counts from now on; that a worker begins is no part of it.
        """
        import anyio
        from anyio import to_process

        to_process.current_default_process_limiter().total_tokens = self._turns.total_tokens
        try:
            with anyio.move_on_after(values["timeout"] + PATIENCE) as limit:
                async with self._turns:
                    before = anyio.current_time()
                    limit.deadline += LOADING
                    await to_process.run_sync(self._begun, cancellable=True)
                    limit.deadline += anyio.current_time() - before - LOADING
                    answer: ToolAnswer = await to_process.run_sync(
                        self._performed, name, values, cancellable=True
                    )
                    return answer
        except anyio.BrokenWorkerProcess:
            return ToolAnswer(error="Error: the process that computed it has ended")
        finally:
            sweep(self._folder.path)
        return ToolAnswer(error="Error: it did not finish in time, and was ended")

    def end(self) -> None:
        """End all of them, and leave nothing."""
        os.close(self._held)
        end = time.monotonic() + PATIENCE
        while self._folder.path.exists() and time.monotonic() < end:
            rmtree(self._folder.path, ignore_errors=True)  # some may write there yet
        self._folder.remove()


def _performed(
    begun: Callable[[], list[str]],
    reported: Callable[[Callable[[], object]], object],
    memory: int,
    name: str,
    values: Mapping[str, Any],
) -> ToolAnswer:
    """Perform a call in this process, a worker."""
    texts = begun()
    texts.clear()
    limits.start("timeout")
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as error:
        reported(partial(performed, name, values, memory // 2**20))
    return ToolAnswer(printed=out.getvalue(), text="".join(texts), error=error.getvalue())


_kept: list[Scratch] = []
"""The folder of this process, if it is a worker."""


@cache
def _begun(watched: Path, memory: int, folders: tuple[Path, ...]) -> list[str]:
    """Prepare this process, once; the texts that commands will say of their results."""
    end_with(os.open(watched, os.O_RDONLY))
    _kept.append(Scratch(str(watched.parent)))
    os.environ["TMPDIR"] = tempfile.tempdir = str(_kept[-1].path)
    limit_address_space(memory)
    session = Session(limits=Limits(memory=memory))
    with suppress(EngineError):  # a command that needs Macaulay2 says what is missing
        session.start()
    choose(session)
    _load()
    confine(folders)
    texts: list[str] = []
    common.listeners.append(texts.append)
    return texts


def _load() -> None:
    """Import what calls may need; a limit that is reached meanwhile would leave it half loaded."""
    load_wholly()
    for module in walk_packages(m2bridge.__path__, "m2bridge."):
        if module.name.rpartition(".")[2] not in NO_PART:
            imported(module.name)
    for name in LAZY:
        with suppress(ImportError):
            imported(name)
    families()


def performed(name: str, values: Mapping[str, Any], most: int) -> object:
    """Perform the command of a tool; return its exit code.

    Raises
    ------
    click.ClickException, M2BridgeError, OSError, MemoryError
        As the command, and if a value is none of the arguments of the tool.
    """
    command = COMMANDS[name]
    try:
        with click.Context(command, info_name=command.name) as context:
            parse(context, name, values, most)
            return command.invoke(context)
    except (click.ClickException, M2BridgeError, OSError, MemoryError):
        raise
    except Exception as mistake:  # whose words, and lines of a traceback, may quote a file
        *_, place = traceback.extract_tb(mistake.__traceback__)
        where = f"{Path(place.filename).name}, line {place.lineno}"
        kind = type(mistake).__name__
        click.echo(f"Error: m2bridge itself is wrong: {kind} in {where}", err=True)
        return FAILED


def parse(context: click.Context, name: str, values: Mapping[str, Any], most: int) -> None:
    """Let the parameters of a command have the values of a call, each by its own name.

    No value becomes a word of a command line, so none can be more than a value.

    Raises
    ------
    click.UsageError
        If an option is none of the family, a value is none of its parameter, or a path does not
        lead to a place below a folder that may be read.
    """
    command = context.command
    given, texts = _given(name, values), dict[str, Text]()
    given |= _form(command) | {"timeout": values["timeout"]}
    # less than the Macaulay2 that runs has; checkers, and code of users, have their own processes
    if values.get("memory", most) < most or name in ("verify", "evaluate"):
        given["memory"] = f"{values['memory']}M"
    own = _own_options(values)
    if own is not None:
        replace_case(context, list(map(as_parameter, own)))
        given = _of_family(name, given, values, own)
    for argument, param in arguments_of(name).items():
        value = given.get(str(param.name))
        if argument == "code" or (argument == "map" and isinstance(value, str) and "\n" in value):
            texts[str(param.name)] = Text(argument, given.pop(str(param.name)))
        elif value is not None and isinstance(param.type, click.Path):
            _check_paths(argument, value)
    # the limit first: it counts while the others are read
    for param in sorted(command.get_params(context), key=lambda param: param.name != "timeout"):
        if param.name not in ("help", *texts):
            param.handle_parse_result(context, given, [])
    for parameter, value in context.params.items():
        if value is NOT_GIVEN:
            context.params[parameter] = None
    context.params |= texts


def _given(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the arguments that are not left out, by the names of parameters."""
    given: dict[str, Any] = {}
    for argument, param in arguments_of(name).items():
        value = values[argument]
        if value is None or value == _default(param):
            continue
        if param.nargs == -1 or isinstance(value, bool | str):
            given[str(param.name)] = value
        else:
            given[str(param.name)] = json.dumps(value)
    return given


def _form(command: click.Command) -> dict[str, Any]:
    """That the result is printed as JSON."""
    names = [param.name for param in command.params]
    return {"form": "json"} if "form" in names else {"as_json": True}


def _own_options(values: Mapping[str, Any]) -> Sequence[CaseOption] | None:
    """The options of the family or map that is named; ``None`` where none is."""
    if values.get("family") is not None:
        return family(values["family"]).options
    for written in values.get("options", {}):
        raise click.UsageError(f"options: '{printable(written):.60}' is no option of a family")
    return None if values.get("map") is None else ()


def _of_family(
    name: str, given: dict[str, Any], values: Mapping[str, Any], own: Sequence[CaseOption]
) -> dict[str, Any]:
    """The values with those of the options of a family.

    Arguments that are options of the default family are those of another one, if this has them too.
    """
    of_command = {param.name for param in COMMANDS[name].params} - {*CASE}
    by_name = {option.name: option for option in own if option.name not in of_command}
    which = "a map" if values.get("family") is None else f"the family '{values['family']:.60}'"
    given = dict(given)
    for argument in CASE:
        if argument in given and argument not in by_name:
            raise click.UsageError(f"'{argument}' is no option of {which}")
    for written, value in values.get("options", {}).items():
        option = by_name.get(written.replace("-", "_"))
        if option is None or option.name in ("help", *given):
            reason = "is given twice" if option is not None else f"is no option of {which}"
            raise click.UsageError(f"options: '{printable(written):.60}' {reason}")
        if value is False:
            continue
        if (value is True) is not option.flag:
            kind = "true or false" if option.flag else "a number or a text"
            raise click.UsageError(f"options: '{option.name}' takes {kind}")
        given[option.name] = "true" if value is True else str(value)
    return given


def _check_paths(argument: str, value: Any) -> None:
    """Check that paths lead to places that may be read, before anything looks there."""
    for path in [value] if isinstance(value, str) else value:
        try:
            check_readable(path)
        except ConversionError as reason:
            raise click.UsageError(f"{argument}: {reason}") from None


def tool(name: str, most: Limits, workers: Workers) -> Any:
    """The tool of this name; a call asks a worker."""
    from mcp.server.mcpserver.tools.base import Tool, ToolAnnotations
    from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
    from pydantic import ConfigDict, Field, create_model

    fields: dict[str, Any] = {}
    for argument, param in arguments_of(name).items():
        about = ABOUT.get(argument) or getattr(param, "help", None) or argument
        kind, default = _type(param), _default(param)
        if param.required:
            fields[argument] = (kind, Field(description=about))
        else:
            fields[argument] = (kind | None, Field(default, description=about))
    more: dict[str, Any] = {"timeout": (float, most.timeout, {"gt": 0, "le": most.timeout})}
    mebibytes = (most.memory or 0) // 2**20
    if "memory" in [param.name for param in COMMANDS[name].params]:
        more["memory"] = (int, mebibytes, {"ge": limits.LEAST_MEMORY // 2**20, "le": mebibytes})
    if "family" in fields:
        more["options"] = (dict[str, bool | int | str], {}, {})
    for argument, (kind, default, bounds) in more.items():
        fields[argument] = (kind, Field(default, description=ABOUT[argument], **bounds))

    async def call(ctx: Any, **values: Any) -> Any:
        return await called(name, values, workers, ctx)

    # a name that is no argument of the tool is refused, and not left out
    strict = type("Strict", (ArgModelBase,), {"model_config": ConfigDict(extra="forbid")})
    arguments = create_model(f"{name}_arguments", __base__=strict, **fields)
    shown: dict[str, Any] = {field: (kind | None, None) for field, kind in RESULTS[name].items()}
    found = create_model(f"{name}_result", __config__=ConfigDict(extra="allow"), **shown)
    return Tool(
        fn=call,
        name=name,
        description=str(COMMANDS[name].help).partition("\n\n")[0],
        parameters=arguments.model_json_schema(),
        fn_metadata=FuncMetadata(arg_model=arguments, output_model=found),
        is_async=True,
        context_kwarg="ctx",
        annotations=ToolAnnotations(read_only_hint=name != "evaluate"),
    )


async def called(name: str, values: dict[str, Any], workers: Workers, ctx: Any) -> Any:
    """The result of a call, or the error of the command; meanwhile there are notices."""
    import anyio
    from mcp_types import CallToolResult, TextContent

    begin = time.monotonic()

    async def notices() -> None:
        while True:
            seconds = time.monotonic() - begin
            await ctx.report_progress(seconds, values["timeout"], f"{name}: {seconds:.0f} s")
            await anyio.sleep(NOTICE)

    async with anyio.create_task_group() as group:
        group.start_soon(notices)
        answer = await workers.ask(name, values)
        group.cancel_scope.cancel()
    found = _sendable(json.loads(answer.printed or "{}"))
    text = answer.text or found.get("output", "") + found.get("text", "") or answer.printed
    said = _sendable("\n".join(filter(None, (text, answer.error))))
    content = [TextContent(type="text", text=shortened(said, MOST_TEXT))]
    if not found:
        return CallToolResult(content=content, is_error=True)
    return CallToolResult(content=content, structured_content=found)


def _sendable(value: Any) -> Any:
    """A value of JSON with the bytes of names of files that are no UTF-8 as numbers."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, list):
        return [_sendable(entry) for entry in value]
    if isinstance(value, dict):
        return {_sendable(name): _sendable(entry) for name, entry in value.items()}
    return value


def _first(failures: BaseException) -> BaseException:
    """The first of exceptions that are grouped."""
    while isinstance(failures, BaseExceptionGroup):
        failures = failures.exceptions[0]
    return failures


def _current_folder() -> tuple[Path, ...]:
    """The current folder; none where that is the root, in which desktops start programs."""
    here = Path.cwd()
    return () if here.parent == here else (here,)


@click.command("mcp", epilog="Example: m2bridge mcp --timeout 300 --memory 4G")
@click.option("--timeout", type=common.seconds, default=600.0, help="Seconds for a call, at most.")
@click.option(
    "--memory", type=common.engine_memory, default="4G", help="Of Macaulay2 for a call, at most."
)
@click.option(
    "--files",
    "folders",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    metavar="FOLDER",
    help="Calls read files below it only, the current folder when left out; several times if need"
    " be.",
)
@click.option("--allow-code", is_flag=True, help="With the tool 'evaluate': any Macaulay2 code.")
@common.engine_option
@click.pass_obj
def mcp_command(
    reported: Any, /, *, memory: int, program: str | None, folders: tuple[Path, ...], **options: Any
) -> int:
    """Serve commands as tools for assistants and other programs (Model Context Protocol).

    On standard input and output. Callers can lower the limits, and not raise them.
    """
    library("mcp.server.mcpserver", "mcp is missing: in the clone, pip install '.[mcp]'")
    from mcp.server.mcpserver import MCPServer

    if program is not None:
        os.environ[VARIABLE] = program  # of workers too
    os.environ["PYTHONSAFEPATH"] = "1"  # which take no modules from the current folder
    folders = tuple(map(Path.absolute, folders)) or _current_folder()
    workers = Workers(reported, memory=memory, folders=folders)

    def end(number: int, frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        workers.end()
        os.kill(os.getpid(), number)

    # the thread that waits for input would outlive an exception
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
    most = Limits(timeout=options["timeout"], memory=memory)
    names = [name for name in COMMANDS if options["allow_code"] or name != "evaluate"]
    server = MCPServer(
        "m2bridge",
        version=__version__,
        instructions="Exact algebraic geometry of lightning self-attention, maps and ideals.",
        tools=[tool(name, most, workers) for name in names],
        log_level="WARNING",
    )
    try:
        server.run()
    except BaseExceptionGroup as failures:  # such as standard input that cannot be read
        raise _first(failures) from None
    finally:
        workers.end()
    return DONE
