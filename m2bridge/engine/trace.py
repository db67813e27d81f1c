"""Errors of Macaulay2 code, with their positions in the code, and of a process that has ended.

Messages of Macaulay2 are parsed only to describe an error; whether one occurred is known from the
records. If a message is not understood, the error contains the output and no position.

Code is passed in a file whose name is random, the nonce of the request. So a message begins with
lines such as ``/tmp/…/<nonce>.m2:3:7:(3):[1]: error: …``, and has such a line for each call that
led to the error. Macaulay2 counts columns by the width of the text before, in bytes.
"""

import re
import signal
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from m2bridge.engine.discovery import OTHER_PROCESSOR
from m2bridge.engine.scratch import PREFIX
from m2bridge.engine.script import Reply
from m2bridge.errors import (
    ConversionError,
    EngineDiedError,
    EngineError,
    MemoryLimitError,
    ScriptError,
)
from m2bridge.limits import Limits
from m2bridge.system import (
    FILE_SIZE_COMMAND,
    LIMIT_REFUSED_STATUS,
    address_space,
    exit_text,
    folder,
    limits_memory,
    signal_of,
)

# file:line:column:(load depth):[depth]: error: …, and such lines for the calls that led there.
_POSITION = r":(?P<line>\d+):(?P<column>\d+):"
_DEPTHS = r"\(\d+\):(?:\[\d+\]:)?"
_PLACE = rf"(?P<file>[^\n]*?)\"?{_POSITION}{_DEPTHS} "
_HEAD = re.compile(rf"^{_PLACE}error: ", re.MULTILINE)
_BARE_HEAD = re.compile(r"^error: ", re.MULTILINE)
_FRAME = re.compile(rf"^{_PLACE}(?:error: |--back ?trace)", re.MULTILINE)
_OPENING = " ... to match this"
"""The beginning of a second message, at the opening bracket that does not match."""

_CONTEXT_LINES = 2
"""Lines that are shown before and after the place of an error."""
_MAX_LINE_CHARS = 200
"""Characters that are shown of a line."""


@dataclass(frozen=True, slots=True)
class Source:
    """Code that Macaulay2 ran, empty for a file that the code loads, and its name in messages."""

    name: str
    code: str

    @property
    def lines(self) -> list[str]:
        """The lines as Macaulay2 counts them, without an empty last one."""
        lines = re.split(r"\r?\n", self.code)
        return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a source; line and column count from 1, or are ``None`` if unknown."""

    source: Source
    line: int | None = None
    column: int | None = None

    @property
    def excerpt(self) -> str:
        """The lines around the position, which is marked; empty if the code or the position is not
        known.
        """
        lines = self.source.lines
        if self.line is None or self.column is None or not self.source.code:
            return ""
        first = max(1, self.line - _CONTEXT_LINES)
        last = min(len(lines), self.line + _CONTEXT_LINES)
        lines_shown = []
        for number in range(first, last + 1):
            mark = ">" if number == self.line else " "
            lines_shown.append(f"{mark} {number:4} | {lines[number - 1][:_MAX_LINE_CHARS]}")
            if number == self.line and self.column <= _MAX_LINE_CHARS:
                # a mark under the column, after a margin as wide as "> 1234 | "
                lines_shown.append(" " * 7 + "| " + " " * (self.column - 1) + "^")
        return "\n".join(lines_shown)

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column} of " if self.line else ""
        return f"{place}{self.source.name}"


def script_error(
    reply: Reply, sources: Mapping[str, Source], first_column: int
) -> ScriptError | ConversionError:
    """Return the error for code that Macaulay2 did not finish, or for values that it refused; the
    sources are named by their nonces, and ``first_column`` is 0 or 1.
    """
    parts = _parts(reply.output)
    places = list(_places(parts.traceback, sources, first_column))
    # values were written to a file of their own, so the place tells that they are at fault
    if not places and f"{reply.nonce}.given.m2" in reply.output:
        return ConversionError(f"Macaulay2 does not accept the given value: {parts.message}")
    if not places:
        places = [Place(sources[reply.nonce])]  # the code of the request, without a position
    # Macaulay2 lists the innermost call first
    innermost, outermost = places[0], places[-1]
    where = str(innermost)
    if innermost.source is not outermost.source:  # such as a file that the code has loaded
        where += f", called from {outermost}"
    # the code of a loaded file is not known, and its caller is shown
    excerpt = innermost.excerpt or outermost.excerpt
    message = f"Macaulay2 reported an error: {parts.message} ({where})"
    if excerpt:
        message += "\n" + excerpt
    return ScriptError(
        message,
        error=parts.message,
        file=innermost.source.name,
        line=innermost.line,
        column=innermost.column,
        excerpt=excerpt,
        records=reply.records,
        output=parts.printed,
    )


class _Parts(NamedTuple):
    """The parts of the output of code that ended with an error."""

    printed: str  # before the error
    message: str  # without its position
    traceback: str  # the lines with positions, the error first; empty if there is none


def _parts(output: str) -> _Parts:
    """Return the output before the error, its message, and the lines with its positions."""
    heads = list(_HEAD.finditer(output))
    if not heads:
        bare = _BARE_HEAD.search(output)
        if bare is None:
            message = "the code ended before its last line"
            return _Parts(printed=output, message=message, traceback="")
        message = _message(output, bare.end())
        return _Parts(printed=output[: bare.start()], message=message, traceback="")
    # the code may print lines that look like errors, and the error itself comes last
    head = heads[-1]
    first = head
    if len(heads) > 1 and output.startswith(_OPENING, head.end()):
        # two lines are one error: the line of the bracket that does not match comes first
        first = heads[-2]
    # what the code has printed may stand in the same line, before the name of the file
    begin = first.start("file") + _start_of_file_name(first["file"])
    message = _message(output, first.end())
    return _Parts(printed=output[:begin], message=message, traceback=output[head.start() :])


_ROOT = r"(?:(?:\.\./)+|/)"
"""The beginning of a path from the root, or from a folder above."""

_FILE_NAMES = (
    re.compile(rf"{_ROOT}?(?:[^\s/]+/)*?{PREFIX}[^/]+/[^/]+$"),  # in a temporary folder of m2bridge
    re.compile(rf"{_ROOT}\S*$"),
    re.compile(r"\S*$"),  # the last word, perhaps an empty one
)
"""What may be the name of a file at the end of a line, the surest first."""


def _start_of_file_name(before_position: str) -> int:
    """Return the index at which the name of a file begins in ``before_position``, the part of a
    line before ``:line:column``.

    Macaulay2 writes the name right after what the code has printed: in ``done/home/FILE`` it begins
    at 4. If the printed part ends without a blank, only the form of the name tells where it begins.
    """
    for pattern in _FILE_NAMES:  # the surest first
        match = pattern.search(before_position)
        if match is not None:
            return match.start()
    # not reached, as the last pattern matches at the end of every text
    return len(before_position)


def _message(output: str, begin: int) -> str:
    """Return the message in ``output`` that begins at an index, without the list of calls
    after it.
    """
    end = _FRAME.search(output, begin)
    message = output[begin : end.start()] if end else output[begin:]
    # some lines of messages begin with two minus signs, as comments do
    return re.sub(r"^-- ?", "", message.strip(), flags=re.MULTILINE)


def _places(text: str, sources: Mapping[str, Source], first_column: int) -> Iterator[Place]:
    """Yield the positions that an error message names, the error first, in code that people can
    see.
    """
    for frame in _FRAME.finditer(text):
        nonce = frame["file"].rpartition("/")[2].removesuffix(".m2")
        line = int(frame["line"])
        width = int(frame["column"]) - first_column  # of the text before the position, in bytes
        if nonce in sources:
            yield _place(sources[nonce], line, width)
        elif frame.start() == 0 and not _is_own(frame["file"]):
            # A file that the code has loaded. Only the first line counts: later lines of this form
            # may be words of the message.
            yield Place(Source(frame["file"], ""), line, width + 1)


def _is_own(file: str) -> bool:
    """Whether a file belongs to m2bridge or to Macaulay2: people do not know such a file, so the
    code that called it is named instead.
    """
    *folders, name = file.split("/")
    is_in_m2scripts = folders[-1:] == ["m2scripts"]
    is_shared_script = is_in_m2scripts and Path(folder("m2scripts"), name).is_file()
    is_temporary = any(part.startswith(PREFIX) for part in (*folders, name))
    return is_shared_script or is_temporary or "Macaulay2" in (*folders, name)


def _place(source: Source, line: int, width: int) -> Place:
    """Return the position at a line, after the characters that have this width for Macaulay2.

    An error after the last line, such as a missing bracket, is at the end of the code.
    """
    lines = source.lines
    if line > len(lines):
        return Place(source, len(lines), len(lines[-1]) + 1)
    return Place(source, line, _column(lines[line - 1], width))


def _column(line: str, width: int) -> int:
    """Return the column, from 1, of the character after text of a width as Macaulay2 counts it: in
    ``"äb"`` the character ``b`` comes after the width 2, and has the column 2.
    """
    byte_column = 0
    for number, character in enumerate(line, 1):
        if byte_column >= width:
            return number
        # Macaulay2 counts bytes, and a tab as far as the next multiple of 8.
        if character == "\t":
            byte_column += 8 - byte_column % 8
        else:
            byte_column += len(character.encode("utf-8", "surrogateescape"))
    return len(line) + 1


_OUT_OF_MEMORY = re.compile(
    r"out of memory|std::bad_alloc|(?:[Cc]annot|[Uu]nable to) allocate|failed to map"
)


def _size_in_words(memory_bytes: int) -> str:
    """Return a number of bytes as text, in GiB or MiB."""
    if memory_bytes >= 2**30:
        return f"{memory_bytes / 2**30:.3g} GiB"
    return f"{memory_bytes / 2**20:.3g} MiB"


def death(status: int | None, output: str, records: tuple[str, ...], limits: Limits) -> EngineError:
    """Return the error for a process that ended by itself; ``output`` is what it had printed since
    the last request began, and ``records`` are the answers that were complete.
    """
    # messages about memory come last
    tail = output[-2000:]
    # the shell that should have started Macaulay2 ends so, before anything is printed
    if status == LIMIT_REFUSED_STATUS and not output:
        return EngineDiedError("this system refuses a limit on memory: run without --memory")
    limit = _memory_limit(limits)
    # With limited memory the garbage collector aborts in these ways without a message.
    lacked_memory = limit is not None and status in (-signal.SIGABRT, -signal.SIGSEGV)
    if not lacked_memory and not _OUT_OF_MEMORY.search(tail):
        last = f"; its last words: {tail.strip().splitlines()[-1]}" if tail.strip() else ""
        message = f"Macaulay2 {ending(status)}{last}"
        return EngineDiedError(message, records=records, output=output)
    resource, advice = limit or ("the memory of this machine", "take a larger one")
    message = f"Macaulay2 reached {resource} and ended; {advice}, or try a smaller case"
    return MemoryLimitError(message, records=records, output=output)


def _memory_limit(limits: Limits) -> tuple[str, str] | None:
    """Return the limit on memory that held for a process, if any, in words, and what to do if it is
    reached: the given limit, where this system can set one, else the limit of this process.
    """
    if limits.memory is not None and limits_memory():
        size = _size_in_words(limits.memory)
        return f"the memory limit of {size}", "raise --memory"
    inherited = address_space()
    if inherited is None:
        return None
    size = _size_in_words(inherited)
    return f"the limit of {size} on address space here", "raise it (ulimit -v)"


def ending(status: int | None) -> str:
    """Return how a process ended, as text that follows its name: ``was killed by SIGKILL (…)``; the
    status is negative for a signal, and ``None`` if it is unknown.
    """
    if status is None:
        return "ended (status unknown: this program ignores SIGCHLD, or waits for all its children)"
    if signal_of(status) == signal.SIGILL:
        return OTHER_PROCESSOR
    # Linux kills processes in this way to free memory.
    hint = " (the system may have run out of memory)" if status == -signal.SIGKILL else ""
    if signal_of(status) == signal.SIGXFSZ:
        folder_of_answers = tempfile.gettempdir()
        hint = f" (a file, such as one with its answers in {folder_of_answers}, became larger than"
        hint += f" the limit on the size of files, {FILE_SIZE_COMMAND})"
    return exit_text(status) + hint
