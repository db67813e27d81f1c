"""Entry point: what signals do, before and while commands run, and the standard streams.

The first thing is what an interrupt does, before anything is imported that Python has not loaded:
libraries may swallow a KeyboardInterrupt meanwhile, and Python would show where it was. Nothing
runs yet that would have to be ended in an orderly way, so until commands run an interrupt ends the
process at once.

Standard output and error may be closed, full, a broken pipe, or of a narrow encoding.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys

from m2bridge.cli import BROKEN_PIPE, FAILED

signal.signal(signal.SIGINT, signal.SIG_DFL)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, TextIO


def main() -> NoReturn:
    """Run the command line and exit."""
    import gc

    from m2bridge.errors import UnsupportedSystemError
    from m2bridge.limits import start
    from m2bridge.system import check_system, leave

    try:
        check_system()
    except UnsupportedSystemError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(FAILED)
    start()
    gc.disable()  # what is imported stays: collecting it only costs time, now and at the end
    streams = Streams()
    from m2bridge.cli.commands import run

    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, leave)
    sys.exit(streams.finish(run()))


class NonRaisingStream(io.FileIO):
    """A standard stream that never raises: what cannot be written is dropped, its reason kept.

    So a progress line that nobody can read stops no batch, and results that nobody can read are
    noticed at the end.
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
        if sys.stdin is None:  # it was closed: there is nothing to read
            sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
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
        print(
            f"Error: the results cannot be written to standard output: {failure.strerror}",
            file=sys.stderr,
        )
        return FAILED


def _fill() -> None:
    """Put something in the place of closed descriptors: files that are opened would get them."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            mode = os.O_WRONLY
            if descriptor < 2:
                # Results must not vanish: what stands for standard output cannot be written to.
                mode = os.O_RDONLY
            os.set_inheritable(os.open(os.devnull, mode), True)


def _stream(descriptor: int, before: TextIO | None) -> tuple[NonRaisingStream, TextIO]:
    """The raw stream, and the text stream on it, in the encoding of the one before."""
    encoding = "utf-8"
    if before is not None:
        from contextlib import suppress

        encoding = before.encoding
        with suppress(OSError):
            before.flush()
    raw = NonRaisingStream(descriptor, "w", closefd=False)
    by_line = descriptor == 2 or raw.isatty()
    buffer = io.BufferedWriter(raw)
    return raw, io.TextIOWrapper(
        buffer, encoding=encoding, errors="backslashreplace", line_buffering=by_line
    )
