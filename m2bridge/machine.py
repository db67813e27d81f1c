"""What this computer has: its cores, and a system that m2bridge works on."""

from __future__ import annotations

import os
from importlib.util import find_spec

from m2bridge.errors import UnsupportedSystemError

POSIX = ("fcntl", "resource", "termios")
"""Modules of Python that Windows lacks, and sessions, locks and limits need."""


def cores() -> int:
    """How many cores this process may use; those of the computer where the system does not say (macOS)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_system() -> None:
    """Check that m2bridge can work here, before an import fails.

    Raises
    ------
    UnsupportedSystemError
        If it cannot: on Windows.
    """
    if missing := [name for name in POSIX if find_spec(name) is None]:
        raise UnsupportedSystemError(
            f"m2bridge needs Linux or macOS; on Windows install it in WSL, the Windows Subsystem for Linux "
            f"('wsl --install', then as README says). This Python has no module {', '.join(missing)}"
        )
