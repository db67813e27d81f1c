"""Errors of code that Macaulay2 ran, with their places in it, and errors of a process that
ended.
"""

import re
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from m2bridge.engine.discovery import OTHER_PROCESSOR
from m2bridge.engine.scratch import PREFIX
from m2bridge.errors import (
    ConversionError,
    EngineDiedError,
    EngineError,
    MemoryLimitError,
    ScriptError,
)
from m2bridge.limits import Limits, address_space
from m2bridge.system import exit_text, signal_of

# file:line:column:(load depth):[depth]: error: …, and lines of the same form for the calls that led
# there.
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

    @property
    def lines(self) -> list[str]:
        """The lines, as Macaulay2 counts them; an empty last one only if there is no other."""
        lines = re.split(r"\r?\n", self.code)
        return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source; line and column count from 1, or are not known."""

    source: Source
    line: int | None = None
    column: int | None = None

    @property
    def excerpt(self) -> str:
        """The lines around it."""
        lines = self.source.lines
        if self.line is None or self.column is None:
            return ""
        around = range(max(1, self.line - 2), min(len(lines), self.line + 2) + 1)
        shown = [f"{'>' if n == self.line else ' '} {n:4} | {lines[n - 1][:200]}" for n in around]
        if self.column <= 200:
            shown.insert(
                list(around).index(self.line) + 1, " " * 7 + "| " + " " * (self.column - 1) + "^"
            )
        return "\n".join(shown)

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column} of " if self.line else ""
        return f"{place}{self.source.name}"


def script_error(
    nonce: str,
    records: tuple[str, ...],
    output: str,
    sources: Mapping[str, Source],
    first_column: int,
) -> ScriptError | ConversionError:
    """The error for code that Macaulay2 did not run to its end, or for what was given to it.

    Parameters
    ----------
    nonce : str
        The name of the request.
    records : tuple of str
        The wire records that were written to their end.
    output : str
        What was printed.
    sources : mapping
        All that a place may be in, by the nonces that are the names of their files.
    first_column : int
        How this Macaulay2 numbers the first column, 0 or 1.
    """
    printed, message, text = _parts(output)
    places = list(_places(text, sources, first_column))
    if not places and f"{nonce}.given.m2" in output:
        return ConversionError(f"Macaulay2 does not take what is given: {message}")
    place, last = (places[0], places[-1]) if places else (Place(sources[nonce]),) * 2
    called = "" if place.source is last.source else f", called from {last}"
    return ScriptError(
        "\n".join(
            filter(
                None, (f"Macaulay2 reported an error: {message} ({place}{called})", place.excerpt)
            )
        ),
        error=message,
        file=place.source.name,
        line=place.line,
        column=place.column,
        excerpt=place.excerpt,
        records=records,
        output=printed,
    )


def _parts(output: str) -> tuple[str, str, str]:
    """Split output into what was printed before the error, its message, and the text with the
    places, which is last.
    """
    heads = list(_HEAD.finditer(output))
    if not heads:
        bare = _BARE_HEAD.search(output)
        if bare is None:
            return output, "the code ended before its last line", ""
        return output[: bare.start()], _message(output, bare.end()), ""
    head, place = heads[-1], heads[-1]
    # the place is that of the bracket left open
    if len(heads) > 1 and output.startswith(_OPENING, head.end()):
        place = heads[-2]
    begin = place.start("file") + _path(place["file"])
    return output[:begin], _message(output, place.end()), output[head.start() :]


def _path(text: str) -> int:
    """The place where the name of a file begins, after what was printed on the same line."""
    own = re.search(rf"(?:(?:\.\./)+|/)?(?:[^\s/]+/)*?{PREFIX}[^/]+/[^/]+$", text)
    match = own or re.search(r"(?:(?:\.\./)+|/)[^\s]*$", text) or re.search(r"\S*$", text)
    return match.start() if match else 0


def _message(output: str, begin: int) -> str:
    """The message that begins there, up to the calls that led to it."""
    end = _FRAME.search(output, begin)
    return re.sub(
        r"^-- ?", "", output[begin : end.start() if end else None].strip(), flags=re.MULTILINE
    )


def _places(text: str, sources: Mapping[str, Source], first_column: int) -> Iterator[Place]:
    for frame in _FRAME.finditer(text):
        nonce = frame["file"].rpartition("/")[2].removesuffix(".m2")
        if nonce in sources:
            yield _place(sources[nonce], int(frame["line"]), int(frame["column"]) - first_column)


def _place(source: Source, line: int, width: int) -> Place:
    """The place where people see it; at the end of the code where Macaulay2 has met its end."""
    lines = source.lines
    if line > len(lines):
        return Place(source, len(lines), len(lines[-1]) + 1)
    return Place(source, line, _column(lines[line - 1], width))


def _column(line: str, width: int) -> int:
    """The character before which a line has this width; Macaulay2 counts bytes, and tabs to
    multiples of 8.
    """
    reached = 0
    for number, character in enumerate(line, 1):
        if reached >= width:
            return number
        reached += (
            8 - reached % 8
            if character == "\t"
            else len(character.encode("utf-8", "surrogateescape"))
        )
    return len(line) + 1


_OUT_OF_MEMORY = re.compile(
    r"out of memory|std::bad_alloc|(?:[Cc]annot|[Uu]nable to) allocate|failed to map"
)


def size(memory: int) -> str:
    """A number of bytes as a person writes it."""
    return f"{memory / 2**30:.3g} GiB" if memory >= 2**30 else f"{memory / 2**20:.3g} MiB"


def death(status: int | None, output: str, records: tuple[str, ...], limits: Limits) -> EngineError:
    """The error for a process that ended by itself, with its exit status (negative: a signal;
    ``None``: not known).
    """
    tail = output[-2000:]
    if status == 97 and not output:
        return EngineDiedError("this system refuses a limit on memory; run without --memory")
    inherited = address_space()
    crashed = status in (-signal.SIGABRT, -signal.SIGSEGV) and (
        limits.memory is not None or inherited is not None
    )
    if _OUT_OF_MEMORY.search(tail) or crashed:
        if limits.memory is not None:
            reached, advice = (
                f"the memory limit of {size(limits.memory)}",
                "give it more with --memory",
            )
        elif inherited is not None:
            reached, advice = (
                f"the limit of {size(inherited)} on address space here",
                "raise it (ulimit -v)",
            )
        else:
            reached, advice = "the memory of this machine", "take a larger one"
        message = f"Macaulay2 reached {reached} and ended; {advice}, or try a smaller case"
        return MemoryLimitError(message, records=records, output=output)
    last = f"; its last words: {tail.strip().splitlines()[-1]}" if tail.strip() else ""
    return EngineDiedError(f"Macaulay2 {ending(status)}{last}", records=records, output=output)


def ending(status: int | None) -> str:
    """Say how a process ended, by its exit status; to follow its name."""
    if status is None:
        return (
            "ended (how, is not known: this program ignores SIGCHLD, or waits for all its children)"
        )
    if signal_of(status) == signal.SIGILL:
        return OTHER_PROCESSOR
    return exit_text(status) + (
        " (the system may have run out of memory)" if status == -signal.SIGKILL else ""
    )
