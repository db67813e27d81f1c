"""Text, JSON, TOML and numbers from outside: read strictly, bounded in size, refused in one line.

A file may be hostile or mistaken: nothing is opened that may have no end, nothing is read beyond a
limit (``most`` is in bytes), and each refusal is a ConversionError without a trace of the reader's
own. Its ``place`` says, where it is known, where the text is wrong. A pipe that does not end within
the limit of the computation is a TimeLimitError.
"""

import json
import math
import os
import re
import select
import stat
import tomllib
from collections.abc import Callable
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from m2bridge.convert import MAX_DOCUMENT_BYTES, MAX_NUMBER_DIGITS
from m2bridge.errors import ConversionError, check_kind, class_with_article
from m2bridge.limits import MAX_WAIT_SECONDS, check, clock
from m2bridge.reading import check_readable, opened
from m2bridge.system import any_length, integer

ReadT = TypeVar("ReadT")

# A part of a name in TOML, bare or quoted.
_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}\.[ \t]*){{20}}")
"""The beginning of a name with more than 20 parts."""


def read_text(path: Path, most: int = MAX_DOCUMENT_BYTES) -> str:
    """The text of a file in UTF-8, read by :func:`read_bytes`, without a mark of the byte order."""
    data = read_bytes(path, most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        message = f"not text in UTF-8 (byte {reason.start + 1})"
        raise ConversionError(message, place=message) from None


def load(path: str | PathLike[str], reader: Callable[[str], ReadT]) -> ReadT:
    """What a reader makes of the text of a file, whose path begins the message of an error."""
    check_kind("path", path, (str, PathLike), "the path of a file")
    try:
        return reader(read_text(Path(path)))
    except ConversionError as reason:
        raise ConversionError(f"{path!s:.200}: {reason}", place=reason.place) from None


def read_bytes(path: Path, most: int = MAX_DOCUMENT_BYTES) -> bytes:
    """Read a regular file, or a pipe with a name; a device, which may have no end, is not
    opened.
    """
    check_readable(path)
    try:
        _check_it_ends(os.stat(path))  # before it is opened, which may already wait or act
        descriptor = opened(path)
        try:
            _check_it_ends(os.fstat(descriptor))  # what is there now may be something else
            return read_open(descriptor, most)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as reason:  # ValueError: no file can have this name
        raise ConversionError(getattr(reason, "strerror", None) or str(reason)) from None


def read_open(descriptor: int, most: int = MAX_DOCUMENT_BYTES) -> bytes:
    """All that comes from an open file, such as standard input, in time; ``descriptor`` is its
    number in the system.
    """
    ready = select.poll()
    ready.register(descriptor, select.POLLIN)
    data = bytearray()
    while len(data) <= most:
        # Wait for data, no longer than the limit allows; then check the limit.
        seconds_left = clock().remaining  # None without a limit
        milliseconds = None
        if seconds_left is not None:
            milliseconds = min(seconds_left, MAX_WAIT_SECONDS) * 1000
        ready.poll(milliseconds)
        check()
        try:
            # One byte more than ``most`` shows that there is more. At most 2^20 bytes are read
            # between two checks of the deadline.
            chunk = os.read(descriptor, min(2**20, most + 1 - len(data)))
        except BlockingIOError:  # nothing has come yet
            continue
        if not chunk:
            return bytes(data)
        data += chunk
    raise ConversionError(f"larger than {most / 1e6:g} MB")


def _check_it_ends(status: os.stat_result) -> None:
    """Raise ConversionError unless the status belongs to a regular file or a named pipe."""
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
        raise ConversionError("neither a file nor a pipe")


def read_json(
    text: str,
    *,
    parse_float: Callable[[str], Any] | None = None,
    digits: int = 4000,  # Python writes integers of at most 4300 digits
) -> Any:
    """The value of a JSON text as the standard (RFC 8259) has it, with integers of at most
    ``digits`` digits; ``parse_float`` makes numbers with a point or an exponent, which are finite
    floats otherwise.
    """

    def bounded_integer(number: str) -> int:
        """The integer that this text, with a sign perhaps, stands for, if it is short enough."""
        count = len(number.removeprefix("-"))
        if count > digits:
            raise ConversionError(f"an integer of {count} digits; at most {digits} are read")
        return integer(number)

    try:
        return json.loads(
            text,
            object_pairs_hook=_object_of_pairs,
            parse_constant=_finite_float,  # refuses NaN and infinities
            parse_int=bounded_integer,
            parse_float=parse_float or _finite_float,
        )
    except json.JSONDecodeError as reason:
        place = f"not JSON (line {reason.lineno}, column {reason.colno})"
        raise ConversionError(f"not JSON: {reason}", place=place) from None
    except RecursionError:
        raise ConversionError(
            "not JSON that is read here: lists or objects are nested too deeply"
        ) from None


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    if not isinstance(text, str):
        raise ConversionError(f"not a text, but {class_with_article(type(text))}")
    if len(text) > MAX_DOCUMENT_BYTES:
        raise ConversionError(f"larger than {MAX_DOCUMENT_BYTES / 1e6:g} MB")
    if _LONG_KEY.search(text):  # Python's reader takes quadratic time for them
        raise ConversionError(
            "not TOML that is read here: a name of more than 20 parts with dots between them"
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as reason:
        # Python's messages end with the place, unless the text ends too early.
        position = re.search(r" \(at line ([0-9]+), column ([0-9]+)\)\Z", str(reason))
        if position is None:
            raise ConversionError(f"not TOML: {reason}", place="not TOML") from None
        line, column = map(int, position.groups())
        message = f"not TOML: {reason}{_hint(text, line, column)}"
        place = f"not TOML (line {line}, column {column})"
        raise ConversionError(message, place=place) from None
    except ValueError:  # Python's own limit
        raise ConversionError(
            "an integer of more than 4300 digits; long numbers stand in quotes"
        ) from None
    except RecursionError:
        raise ConversionError(
            "not TOML that is read here: lists or tables are nested too deeply"
        ) from None


def _hint(text: str, line_number: int, column: int) -> str:
    """What to write instead: the rule on names, or on quotes around text, that is broken at this
    place, with lines and columns from 1 on; empty if it is another rule.
    """
    if text.strip().endswith(".toml") and "\n" not in text.strip():
        return "; the text is read, and load_map, load_model or load_ideal read a file"
    line = text.split("\n")[line_number - 1]
    # empty, which is ASCII, at the end of the line
    wrong_character = line[column - 1 :][:1]
    if not wrong_character.isascii():
        return "; in TOML a name with other letters than a to z stands in quotes"
    name, _, value = (part.strip() for part in line.partition("="))
    if not re.fullmatch(_PART, name) or not value:  # no line ``name = value``
        return ""
    if value.startswith("["):
        example = "" if '"' in value else f': {name} = ["s", "t"]'
        return f"; put names and polynomials in quotes{example}"
    if value.startswith(('"', "'", "{")):  # it has quotes, or is a table
        return ""
    return f'; put polynomials in quotes: {name:.60} = "{value:.60}"'


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The dictionary of the pairs of a JSON object; refused if a name occurs twice, of which Python
    would keep the last.
    """
    content = dict(pairs)
    if len(content) == len(pairs):
        return content
    names = set()
    for name, _ in pairs:
        if name in names:
            raise ConversionError(f"the name '{name:.60}' occurs twice in one JSON object")
        names.add(name)
    return content


def _finite_float(number: str) -> float:
    """The float of a text; ConversionError for infinities, NaN and numbers too large for floats."""
    value = float(number)
    if not math.isfinite(value):
        raise ConversionError(f"{number:.40} is not a finite number")
    return value


_RATIONAL = re.compile(
    r"""
    \s* [+-]?
    (?P<digits>
        [0-9]+/[0-9]+(?![eE])   # 3/7
        | [0-9]+(?:\.[0-9]*)?   # 3, 1.5
        | \.[0-9]+              # .5
    )
    (?:[eE](?P<exponent>[+-]?[0-9]+))?
    \s*
    """,
    re.VERBOSE,
)
"""A rational number, which with a divisor has no exponent."""


def read_rational(text: str) -> Fraction:
    """Read a rational number, ``3``, ``-1.5``, ``2e-3`` or ``3/7``, exactly; its digits (the larger
    number of numerator and denominator, a point counts) and the absolute value of its exponent are
    together at most :data:`MAX_NUMBER_DIGITS`.
    """
    too_long = ConversionError(
        f"a number has more than {MAX_NUMBER_DIGITS} digits when it is written out"
    )
    if len(text) > 3 * MAX_NUMBER_DIGITS:  # numerator, denominator, and blanks around
        raise too_long
    match = _RATIONAL.fullmatch(text)
    if match is None:
        raise ConversionError(f'{text!r:.60} is not a rational number: write 3, 1.5 or "3/7"')
    exponent = match["exponent"] or "0"
    if len(exponent) > 9:  # int() of many digits takes long, too
        raise too_long
    numerator, _, denominator = match["digits"].partition("/")
    digits = max(len(numerator), len(denominator))
    if digits + abs(int(exponent)) > MAX_NUMBER_DIGITS:
        raise too_long
    try:
        with any_length():
            return Fraction(text)
    except ZeroDivisionError:
        raise ConversionError(f"{text!r:.60} has the divisor 0") from None
