"""Waiting for what happens, never for a number of seconds.

Some other work on the machine may make everything many times slower; then a test takes longer, and
its verdict stays.
"""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import psutil

PATIENCE = 900.0
"""Seconds after which something will never happen, on however slow a machine; only a hang waits so
long.
"""

SMALL_FILES = "export PYTHONDONTWRITEBYTECODE=1; ulimit -f {}"
"""A line of a shell: no file grows beyond so many blocks. Python would leave half of the bytecode
that it writes, and no later program could read it.
"""


def wait_for(condition: Callable[[], object]) -> None:
    """Return as soon as the condition holds, or a twentieth of a second later.

    Most conditions look at all processes of the machine, which takes some thousandths of a second.
    """
    end = time.monotonic() + PATIENCE
    pause = 0.01
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def alive(pid: int) -> bool:
    """Whether this process runs; a zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for_end(pids: Iterable[int]) -> None:
    """Return when none of these processes runs."""
    listed = list(pids)
    wait_for(lambda: not any(map(alive, listed)))


def session_members(leader: int) -> list[int]:
    """The running processes of a session."""
    members = []
    for pid in psutil.pids():
        with suppress(OSError):
            if os.getsid(pid) == leader and alive(pid):
                members.append(pid)
    return members
