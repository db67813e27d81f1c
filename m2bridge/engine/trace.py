"""Where in a person's own code an error arose, from what Macaulay2 printed about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from m2bridge.engine.conversation import Reply
from m2bridge.errors import ScriptError

# file:line:column:(load depth):[depth]: error: …, and lines of the same form for the calls that led there.
_PLACE = r"(?P<file>[^\n]*?)\"?:(?P<line>\d+):(?P<column>\d+):\(\d+\):(?:\[\d+\]:)? "
_HEAD = re.compile(rf"^{_PLACE}error: ", re.MULTILINE)
_BARE_HEAD = re.compile(r"^error: ", re.MULTILINE)
_FRAME = re.compile(rf"^{_PLACE}(?:error: |--back ?trace)", re.MULTILINE)
_OPENING = " ... to match this"


@dataclass(frozen=True, slots=True)
class Source:
    """Code that Macaulay2 ran, and what people call it."""

    name: str
    code: str


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source; line and column count from 1."""

    source: Source
    line: int
    column: int

    @property
    def excerpt(self) -> str:
        """The lines around it."""
        lines = self.source.code.splitlines() or [""]
        around = range(max(1, self.line - 2), min(len(lines), self.line + 2) + 1)
        shown = [f"{'>' if n == self.line else ' '} {n:4} | {lines[n - 1][:200]}" for n in around]
        if self.column <= 200:
            shown.insert(list(around).index(self.line) + 1, " " * 7 + "| " + " " * (self.column - 1) + "^")
        return "\n".join(shown)

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column} of {self.source.name}"


def script_error(reply: Reply, sources: Mapping[str, Source], first_column: int) -> ScriptError:
    """The error for code that Macaulay2 did not run to its end.

    Parameters
    ----------
    reply : Reply
    sources : mapping
        All that a place may be in, by the nonces that are the names of their files.
    first_column : int
        How this Macaulay2 numbers the first column, 0 or 1.
    """
    message, text = _said(reply.output)
    places = list(_places(text, sources, first_column))
    if not places:
        where, place = f" ({sources[reply.nonce].name})", None
    else:
        place, last = places[0], places[-1]
        called = "" if place.source is last.source else f", called from {last}"
        where = f" ({place}{called})"
    excerpt = place.excerpt if place else ""
    return ScriptError(
        f"Macaulay2 reported an error: {message}{where}" + (f"\n{excerpt}" if excerpt else ""),
        error=message,
        file=(place.source if place else sources[reply.nonce]).name,
        line=place.line if place else None,
        column=place.column if place else None,
        excerpt=excerpt,
        records=reply.records,
        output=reply.output,
    )


def _said(output: str) -> tuple[str, str]:
    """The message, and the text with the places; an error is the last thing that is printed."""
    heads = list(_HEAD.finditer(output))
    if not heads:
        bare = _BARE_HEAD.search(output)
        return (_message(output[bare.end() :]) if bare else "the code ended before its last line"), ""
    head, told = heads[-1], heads[-1]
    if len(heads) > 1 and output.startswith(_OPENING, head.end()):  # the place is that of the bracket left open
        told = heads[-2]
    return _message(output[told.end() :]), output[head.start() :]


def _message(text: str) -> str:
    end = _FRAME.search(text)
    return re.sub(r"^-- ?", "", text[: end.start() if end else None].strip(), flags=re.MULTILINE)


def _places(text: str, sources: Mapping[str, Source], first_column: int) -> Iterator[Place]:
    for frame in _FRAME.finditer(text):
        nonce = frame["file"].rpartition("/")[2].removesuffix(".m2")
        if nonce in sources:
            lines = sources[nonce].code.splitlines() or [""]
            line = min(int(frame["line"]), len(lines))
            column = int(frame["column"]) - first_column + 1 if line == int(frame["line"]) else len(lines[-1]) + 1
            yield Place(sources[nonce], line, min(column, len(lines[line - 1]) + 1))
