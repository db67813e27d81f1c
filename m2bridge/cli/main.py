"""Entry point: signals before and while commands run, and robust standard streams.

The handler of interrupts is set before any other module is imported: libraries may swallow a
KeyboardInterrupt during their import, and Python would print a traceback. Nothing runs yet that
needs an orderly end, so until commands run an interrupt ends the process at once.

Standard output and error may be closed, full, a broken pipe, or unable to encode a character.
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
    start()  # time limits count from here
    gc.disable()  # imported modules stay alive, so collecting them only costs time
    streams = Streams()
    from m2bridge.cli.commands import run

    gc.freeze()  # later collections leave out what exists now
    gc.enable()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # KeyboardInterrupt, from now on
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, leave)
    sys.exit(streams.finish(run()))


class NonRaisingStream(io.FileIO):
    """A standard stream that never raises: after its first ``failure`` data is dropped.

    So a progress line that nobody can read does not stop a batch, and results that nobody can read
    are reported at the end.
    """

    failure: OSError | None = None

    def write(self, data: object, /) -> int:
        """Write the data, or drop it after a failure; dropped data counts as written, so that the
        buffer above this stream does not try again.
        """
        if self.failure is None:
            try:
                return super().write(data)  # type: ignore[arg-type]
            except OSError as reason:
                self.failure = reason
        return memoryview(data).nbytes  # type: ignore[arg-type]


class Streams:
    """Replacements for ``sys.stdout`` and ``sys.stderr`` that never raise."""

    def __init__(self) -> None:
        _open_closed_descriptors()
        if sys.stdin is None:  # it was closed, so nothing can be read
            sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
        self._out, sys.stdout = _replacement_stream(1, sys.stdout)
        _, sys.stderr = _replacement_stream(2, sys.stderr)

    def finish(self, code: int) -> int:
        """Write what is buffered; return ``code``, unless results could not be written."""
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


def _open_closed_descriptors() -> None:
    """Open the null device on closed standard descriptors, before other files get their numbers."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            mode = os.O_WRONLY  # for standard error: messages may vanish
            if descriptor < 2:
                # Standard input, 0, is only read. Results must not vanish silently, so standard
                # output, 1, stays unwritable.
                mode = os.O_RDONLY
            # The system gives a new file the lowest free number, and so the closed descriptor's.
            os.set_inheritable(os.open(os.devnull, mode), True)


def _replacement_stream(descriptor: int, stream: TextIO | None) -> tuple[NonRaisingStream, TextIO]:
    """Return a raw stream that never raises, and a text stream on it in place of ``stream``, with
    its encoding, where characters that it lacks are escaped.
    """
    encoding = "utf-8"
    if stream is not None:
        from contextlib import suppress

        encoding = stream.encoding
        with suppress(OSError):
            stream.flush()  # what was written before comes first, if it can be written
    raw = NonRaisingStream(descriptor, "w", closefd=False)
    by_line = descriptor == 2 or raw.isatty()  # else results are written in large blocks
    buffer = io.BufferedWriter(raw)
    return raw, io.TextIOWrapper(
        buffer, encoding=encoding, errors="backslashreplace", line_buffering=by_line
    )
