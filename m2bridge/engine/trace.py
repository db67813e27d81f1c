"""Errors of code that Macaulay2 ran, with their places in it, and of a process that ended.

Words of Macaulay2 are read here, and only to say what happened: that it happened is known from the
records. Where they are not understood, the error has what was printed and no place.
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
from m2bridge.limits import Limits
from m2bridge.system import NO_LIMIT, address_space, exit_text, limits_memory, signal_of

# file:line:column:(load depth):[depth]: error: …, and such lines for the calls that led there.
_PLACE = r"(?P<file>[^\n]*?)\"?:(?P<line>\d+):(?P<column>\d+):\(\d+\):(?:\[\d+\]:)? "
_HEAD = re.compile(rf"^{_PLACE}error: ", re.MULTILINE)
_BARE_HEAD = re.compile(r"^error: ", re.MULTILINE)
_FRAME = re.compile(rf"^{_PLACE}(?:error: |--back ?trace)", re.MULTILINE)
_OPENING = " ... to match this"
"""The message at the bracket that a bracket of the message before does not close."""

_AROUND = 2
"""Lines that are shown before and after the place of an error."""
_WIDTH = 200
"""Characters that are shown of a line."""


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
        first = max(1, self.line - _AROUND)
        last = min(len(lines), self.line + _AROUND)
        shown = []
        for number in range(first, last + 1):
            mark = ">" if number == self.line else " "
            shown.append(f"{mark} {number:4} | {lines[number - 1][:_WIDTH]}")
            if number == self.line and self.column <= _WIDTH:
                shown.append(" " * 7 + "| " + " " * (self.column - 1) + "^")
        return "\n".join(shown)

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column} of " if self.line else ""
        return f"{place}{self.source.name}"


def script_error(
    *,
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
    if not places:
        places = [Place(sources[nonce])]
    place = places[0]
    outermost = places[-1]
    where = str(place)
    if place.source is not outermost.source:
        where += f", called from {outermost}"
    said = f"Macaulay2 reported an error: {message} ({where})"
    if place.excerpt:
        said += "\n" + place.excerpt
    return ScriptError(
        said,
        error=message,
        file=place.source.name,
        line=place.line,
        column=place.column,
        excerpt=place.excerpt,
        records=records,
        output=printed,
    )


def _parts(output: str) -> tuple[str, str, str]:
    """What was printed before the error, its message, and the text with the places."""
    heads = list(_HEAD.finditer(output))
    if not heads:
        bare = _BARE_HEAD.search(output)
        if bare is None:
            return output, "the code ended before its last line", ""
        return output[: bare.start()], _message(output, bare.end()), ""
    head = place = heads[-1]
    if len(heads) > 1 and output.startswith(_OPENING, head.end()):
        place = heads[-2]  # that of the bracket left open
    begin = place.start("file") + _start_of_path(place["file"])
    return output[:begin], _message(output, place.end()), output[head.start() :]


def _start_of_path(text: str) -> int:
    """The place where the name of a file begins, after what was printed on the same line.

    What was printed may end with any letter but a blank, so a name in a temporary folder of ours is
    looked for first, then one that begins with / or ../, and then the last word.
    """
    own = re.search(rf"(?:(?:\.\./)+|/)?(?:[^\s/]+/)*?{PREFIX}[^/]+/[^/]+$", text)
    match = own or re.search(r"(?:(?:\.\./)+|/)[^\s]*$", text) or re.search(r"\S*$", text)
    return match.start() if match else 0


def _message(output: str, begin: int) -> str:
    """The message that begins there, up to the calls that led to it."""
    end = _FRAME.search(output, begin)
    message = output[begin : end.start()] if end else output[begin:]
    return re.sub(r"^-- ?", "", message.strip(), flags=re.MULTILINE)


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
    """The character before which a line has this width in Macaulay2's count."""
    reached = 0
    for number, character in enumerate(line, 1):
        if reached >= width:
            return number
        # It counts bytes, and a tab up to the next multiple of 8.
        if character == "\t":
            reached += 8 - reached % 8
        else:
            reached += len(character.encode("utf-8", "surrogateescape"))
    return len(line) + 1


_OUT_OF_MEMORY = re.compile(
    r"out of memory|std::bad_alloc|(?:[Cc]annot|[Uu]nable to) allocate|failed to map"
)


def size(memory: int) -> str:
    """A number of bytes as a person writes it."""
    return f"{memory / 2**30:.3g} GiB" if memory >= 2**30 else f"{memory / 2**20:.3g} MiB"


def death(status: int | None, output: str, records: tuple[str, ...], limits: Limits) -> EngineError:
    """The error for a process that ended by itself.

    Its exit status is negative for a signal, and ``None`` where it is not known.
    """
    tail = output[-2000:]
    if status == NO_LIMIT and not output:
        return EngineDiedError("this system refuses a limit on memory; run without --memory")
    given = limits.memory if limits_memory() else None
    inherited = address_space()
    is_limited = given is not None or inherited is not None
    # Where memory is limited, the collector of garbage ends in these ways without a word.
    crashed = is_limited and status in (-signal.SIGABRT, -signal.SIGSEGV)
    if not crashed and not _OUT_OF_MEMORY.search(tail):
        last = f"; its last words: {tail.strip().splitlines()[-1]}" if tail.strip() else ""
        message = f"Macaulay2 {ending(status)}{last}"
        return EngineDiedError(message, records=records, output=output)
    if given is not None:
        reached = f"the memory limit of {size(given)}"
        advice = "give it more with --memory"
    elif inherited is not None:
        reached = f"the limit of {size(inherited)} on address space here"
        advice = "raise it (ulimit -v)"
    else:
        reached = "the memory of this machine"
        advice = "take a larger one"
    message = f"Macaulay2 reached {reached} and ended; {advice}, or try a smaller case"
    return MemoryLimitError(message, records=records, output=output)


def ending(status: int | None) -> str:
    """Say how a process ended, by its exit status; to follow its name."""
    if status is None:
        return (
            "ended (how, is not known: this program ignores SIGCHLD, or waits for all its children)"
        )
    if signal_of(status) == signal.SIGILL:
        return OTHER_PROCESSOR
    # This is how Linux frees memory.
    hint = " (the system may have run out of memory)" if status == -signal.SIGKILL else ""
    return exit_text(status) + hint
