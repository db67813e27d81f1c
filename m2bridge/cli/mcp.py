"""``m2bridge mcp``: commands as tools of a server by the Model Context Protocol.

A tool is a command: the schema of its arguments is made from the options, and a call is the command
line itself with ``--json``, in a worker process, one of those of ``anyio.to_process``.

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
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import Any, Literal

import click

from m2bridge import limits
from m2bridge._version import __version__
from m2bridge.cli import DONE, bridge, certifying, computing, shared, showing
from m2bridge.cli.families import CASE
from m2bridge.engine import Session
from m2bridge.engine.context import choose
from m2bridge.engine.discovery import VARIABLE
from m2bridge.engine.scratch import Scratch
from m2bridge.errors import EngineError
from m2bridge.limits import Limits
from m2bridge.loading import library
from m2bridge.results.sheet import shortened
from m2bridge.system import cores, end_with, limit_address_space

MOST_TEXT = 4000  # characters beside the whole result, for who reads it
NOTICE = 2.0  # seconds between two notices of progress
PATIENCE = 5.0  # seconds after the limit for a worker in code that looks at no clock

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
class Answer:
    """What a command line printed as JSON, the text of its results, and its message, if any."""

    printed: str = ""
    text: str = ""
    error: str = ""


class Workers:
    """At most as many worker processes as there are cores, and two in any case.

    Each calls ``run`` for a command line, and has so many bytes of memory, as has its Macaulay2.
    The first call begins the first of them.
    """

    def __init__(self, run: Callable[[], object], memory: int) -> None:
        self._folder = Scratch()  # what a worker that is killed leaves goes with it
        watched = self._folder.path / "watched"
        os.mkfifo(watched)
        # closed by the system when this process ends, whatever ends it: then workers end too
        self._held = os.open(watched, os.O_RDWR)
        self._performed = partial(_performed, run, watched, memory)

    async def ask(self, words: Sequence[str]) -> Answer:
        """The answer of a worker, which is ended if it is not waited for."""
        from anyio import BrokenWorkerProcess, to_process

        to_process.current_default_process_limiter().total_tokens = max(cores(), 2)
        try:
            answer: Answer = await to_process.run_sync(self._performed, words, cancellable=True)
        except BrokenWorkerProcess:
            return Answer(error="Error: the process that computed it has ended")
        return answer


def _performed(
    run: Callable[[], object], watched: Path, memory: int, words: Sequence[str]
) -> Answer:
    """Perform a command line in this process, a worker."""
    texts = _begun(watched, memory)
    texts.clear()
    limits.start("timeout")
    sys.argv = ["m2bridge", *words]
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as error:
        run()
    return Answer(printed=out.getvalue(), text="".join(texts), error=error.getvalue())


@cache
def _begun(watched: Path, memory: int) -> list[str]:
    """Prepare this process, once; the texts that commands will say of their results."""
    end_with(os.open(watched, os.O_RDONLY))
    os.environ["TMPDIR"] = str(watched.parent)
    limit_address_space(memory)
    session = Session(limits=Limits(memory=memory))
    with suppress(EngineError):  # a command that needs Macaulay2 says what is missing
        session.start()
    choose(session)
    texts: list[str] = []
    shared.listeners.append(texts.append)
    return texts


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
        return await called(name, values, mebibytes, workers, ctx)

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


def words_of(name: str, values: Mapping[str, Any], folder: Path, most: int) -> list[str]:
    """The command line of a call; a text in place of a file is written into ``folder``."""
    command = COMMANDS[name]
    words, places = [str(command.name), "--json", f"--timeout={values['timeout']}"], []
    # less than the Macaulay2 that runs has; checkers, and code of users, have their own processes
    if values.get("memory", most) < most or name in ("verify", "evaluate"):
        words.append(f"--memory={values['memory']}M")
    own = {option.lstrip("-") for param in command.params for option in param.opts}
    for option, value in values.get("options", {}).items():
        option = option.replace("_", "-")
        if not values["family"] or option in own - {*CASE}:
            raise click.UsageError(f"options: '{option}' is no option of a family")
        if value is not False:
            words.append(f"--{option}" if value is True else f"--{option}={value}")
    for argument, param in arguments_of(name).items():
        value = values[argument]
        if value is None or value == _default(param):
            continue
        if argument == "code" or (argument == "map" and "\n" in value):
            path = folder / argument
            path.write_text(value, encoding="utf-8", errors="surrogateescape")
            value = str(path)
        if isinstance(param, click.Argument):
            places += value if isinstance(value, list) else [value]
        elif value is True:
            words.append(param.opts[0])
        else:
            text = json.dumps(value) if isinstance(value, list | dict) else value
            words.append(f"{param.opts[0]}={text}")
    return [*words, "--", *places]


async def called(name: str, values: dict[str, Any], most: int, workers: Workers, ctx: Any) -> Any:
    """The result of a call, or the error of the command line; meanwhile there are notices."""
    import anyio
    from mcp_types import CallToolResult, TextContent

    begin = time.monotonic()

    async def notices() -> None:
        while True:
            seconds = time.monotonic() - begin
            await ctx.report_progress(seconds, values["timeout"], f"{name}: {seconds:.0f} s")
            await anyio.sleep(NOTICE)

    answer = Answer(error="Error: it did not finish in time, and was ended")
    scratch = Scratch()
    try:
        words = words_of(name, values, scratch.path, most)
    except click.UsageError as error:
        answer = Answer(error=f"Error: {error.message}")
    else:
        async with anyio.create_task_group() as group:
            group.start_soon(notices)
            with anyio.move_on_after(values["timeout"] + PATIENCE):
                answer = await workers.ask(words)
            group.cancel_scope.cancel()
    scratch.remove()
    found = json.loads(answer.printed or "{}")
    text = answer.text or found.get("output", "") + found.get("text", "") or answer.printed
    said = "\n".join(filter(None, (text, answer.error))).replace(f"{scratch.path}/", "")
    content = [TextContent(type="text", text=shortened(said, MOST_TEXT))]
    if not found:
        return CallToolResult(content=content, is_error=True)
    return CallToolResult(content=content, structured_content=found)


@click.command("mcp", epilog="Example: m2bridge mcp --timeout 300 --memory 4G")
@click.option("--timeout", type=shared.seconds, default=600.0, help="Seconds for a call, at most.")
@click.option(
    "--memory", type=shared.engine_memory, default="4G", help="Of Macaulay2 for a call, at most."
)
@click.option("--allow-code", is_flag=True, help="With the tool 'evaluate': any Macaulay2 code.")
@shared.engine_option
@click.pass_obj
def mcp_command(run: Any, /, *, memory: int, program: str | None, **options: Any) -> int:
    """Serve commands as tools for assistants and other programs (Model Context Protocol).

    On standard input and output. Callers can lower the limits, and not raise them.
    """
    library("mcp.server.mcpserver", "mcp is missing: in the clone, pip install '.[mcp]'")
    from mcp.server.mcpserver import MCPServer

    # the thread that waits for input would outlive an exception; workers end with this process
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if program is not None:
        os.environ[VARIABLE] = program  # of workers too
    workers = Workers(run, memory)
    most = Limits(timeout=options["timeout"], memory=memory)
    names = [name for name in COMMANDS if options["allow_code"] or name != "evaluate"]
    server = MCPServer(
        "m2bridge",
        version=__version__,
        instructions="Exact algebraic geometry of lightning self-attention, maps and ideals.",
        tools=[tool(name, most, workers) for name in names],
        log_level="WARNING",
    )
    server.run()
    return DONE
