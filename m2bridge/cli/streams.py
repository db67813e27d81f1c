"""Standard output and error of the command line, whatever they are: closed, full, a broken pipe, a narrow encoding."""

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TextIO

from m2bridge.cli.output import FAILED

BROKEN_PIPE = 141
"""The exit code when the output pipe is closed, as when SIGPIPE ends a program."""


class Standard(io.FileIO):
    """A standard stream that never raises: what cannot be written is dropped, and the first reason is kept.

    So a progress line that nobody can read stops no batch, and results that nobody can read are noticed at the end.
    """

    failure: OSError | None = None

    def write(self, data: object, /) -> int:
        """Write or drop the data; return the number of its bytes."""
        if self.failure is None:
            try:
                return super().write(data)  # type: ignore[arg-type]
            except OSError as reason:
                self.failure = reason
        return memoryview(data).nbytes  # type: ignore[arg-type]


class Streams:
    """Takes the place of ``sys.stdout`` and ``sys.stderr``."""

    def __init__(self) -> None:
        _fill()
        self._out, sys.stdout = _stream(1, sys.stdout)
        _, sys.stderr = _stream(2, sys.stderr)

    def finish(self, code: int) -> int:
        """The exit code: that of the command, if its results could be written."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        failure = self._out.failure
        if failure is None:
            return code
        if failure.errno == errno.EPIPE:
            return BROKEN_PIPE
        print(f"Error: the results cannot be written to standard output: {failure.strerror}", file=sys.stderr)
        return FAILED


def _fill() -> None:
    """Put something in the place of closed descriptors, which the next files to be opened would get otherwise."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # Results must not vanish: what stands for standard output cannot be written to.
            os.set_inheritable(os.open(os.devnull, os.O_WRONLY if descriptor == 2 else os.O_RDONLY), True)


def _stream(descriptor: int, before: TextIO | None) -> tuple[Standard, TextIO]:
    """The raw stream, and the text stream on it, in the encoding of the one before."""
    encoding = before.encoding if before is not None else "utf-8"
    if before is not None:
        with suppress(OSError):
            before.flush()
    raw = Standard(descriptor, "w", closefd=False)
    by_line = descriptor == 2 or raw.isatty()
    buffer = io.BufferedWriter(raw)
    return raw, io.TextIOWrapper(buffer, encoding=encoding, errors="backslashreplace", line_buffering=by_line)
