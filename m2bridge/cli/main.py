"""Entry point: what signals do, before and while commands run.

The first thing is what an interrupt does, before anything else is imported: libraries may swallow a KeyboardInterrupt
meanwhile, and Python would show where it was. Nothing runs yet that would have to be ended in an orderly way, so until
commands run an interrupt ends the process at once.
"""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit."""
    import gc
    import sys

    from m2bridge import limits as clock
    from m2bridge.errors import UnsupportedSystemError
    from m2bridge.system import check_system

    try:
        check_system()
    except UnsupportedSystemError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(5)  # as for every failure; cli.output, which names the codes, could not be imported
    clock.start()
    gc.disable()  # what is imported stays: collecting it only costs time, now and at the end
    from m2bridge.cli.streams import Streams

    streams = Streams()
    from m2bridge.cli.commands import run

    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, _terminate)
    sys.exit(streams.finish(run()))


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """End in an orderly way, so that Macaulay2 and temporary files go too."""
    raise SystemExit(128 + number)
