"""``m2bridge run``: Macaulay2 code of a user."""

from __future__ import annotations

import json
from pathlib import Path

import click

from m2bridge.cli.options import MemorySize, engine_option, timeout_option, within
from m2bridge.cli.output import DONE, echo_json
from m2bridge.convert.documents import read_bytes, read_open
from m2bridge.engine import Limits, Macaulay2
from m2bridge.engine.conversation import quoted
from m2bridge.errors import ConversionError, EngineError, ScriptError

MOST_BYTES = 100_000_000
"""Of code; Macaulay2 reads it all before the first statement runs."""


@click.command("run", epilog="Example: m2bridge run code.m2 --json --timeout 60")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--packages", default="", metavar="A,B,…", help="Packages to load besides those that M2 loads by itself.")
@timeout_option
@click.option("--memory", type=MemorySize(), help="Address space of Macaulay2, such as 4G.")
@engine_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object: value, text, output, seconds.")
def run_command(
    file: Path, packages: str, timeout: float | None, memory: int | None, program: str | None, as_json: bool
) -> int:
    """Run the Macaulay2 code in FILE (- for standard input): what it prints, and the value of its last statement.

    The value is written as Macaulay2 writes it; nothing if the statement ends with a semicolon. With --json it is in
    m2bridge's wire format besides, exact and with its rings. An error in the code says file, line and column.
    """
    name = "standard input" if str(file) == "-" else str(file)
    with (
        within(timeout),
        Macaulay2(program, Limits(memory=memory)) as m2,
        m2.workspace(packages.replace(",", " ").split()) as work,
    ):
        code = _code(file, name)
        if str(file) != "-":  # what the file loads may stand beside it
            work.run(f"path = prepend({quoted(f'{file.resolve().parent}/')}, path);")
        try:
            shown = work.show(code, file=name)
        except EngineError as error:
            if not as_json:
                _print(error.output)
            if isinstance(error, ScriptError) and error.line is not None:
                error.message = f"{name}:{error.line}:{error.column}: {error.error}\n{error.excerpt}"
            raise
    if as_json:
        data = {"value": shown.wire, "text": shown.text, "output": shown.output, "seconds": round(shown.seconds, 6)}
        echo_json(json.dumps(data, ensure_ascii=False))
    else:
        _print(shown.output)
        _print(shown.text)
    return DONE


def _code(file: Path, name: str) -> str:
    """The code, whatever its bytes."""
    try:
        data = read_open(0, MOST_BYTES) if str(file) == "-" else read_bytes(file, MOST_BYTES)
    except ConversionError as reason:
        raise click.UsageError(f"{name}: {reason}") from None
    return data.decode("utf-8-sig", errors="surrogateescape")


def _print(text: str) -> None:
    if text:
        click.echo(text, nl=not text.endswith("\n"))
