"""Exit codes, and how results are printed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any, Protocol

import click

DONE, REFUTED, USAGE, UNDECIDED, NO_ENGINE, FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


class Result(Protocol):
    """What every computation returns."""

    @property
    def unfinished(self) -> str: ...
    def to_json(self) -> dict[str, Any]: ...
    def to_text(self) -> str: ...
    def to_latex(self) -> str: ...
    def to_macaulay2(self) -> str: ...


def echo_json(text: str, end: str = "\n") -> None:
    """Print JSON that stays JSON in every encoding, and commands no terminal: other characters as their numbers."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"

    def written(match: re.Match[str]) -> str:
        sign = match[0]
        plain = sign.isprintable() and sign.encode(encoding, "ignore")
        return sign if plain else json.dumps(sign)[1:-1]

    click.echo(re.sub(r"[^\x00-\x7e]", written, text) + end, nl=False)


def show(result: Result, form: str) -> int:
    """Print a result; the exit code says whether it is finished."""
    if form == "json":
        echo_json(json.dumps(result.to_json(), ensure_ascii=False))
    else:
        writers: dict[str, Callable[[], str]] = {
            "text": result.to_text,
            "latex": result.to_latex,
            "m2": result.to_macaulay2,
        }
        click.echo(writers[form]())
    return UNDECIDED if result.unfinished else DONE
