"""What the check of one file may take."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.clock import check_timeout
from m2bridge.errors import InvalidCaseError

LEAST_MEMORY = 256 * 2**20
"""Python with SymPy and FLINT maps 100 MiB of address space before it checks anything."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits on the check of one file, which the system enforces.

    Parameters
    ----------
    timeout : float
        Seconds of wall time.
    memory : int
        Bytes of address space of the process that checks it.

    Raises
    ------
    InvalidCaseError
        If one of them is no limit, or too small to check anything.
    """

    timeout: float = 120.0
    memory: int = 2 * 2**30

    def __post_init__(self) -> None:
        check_timeout(self.timeout)
        if self.memory < LEAST_MEMORY:
            least = LEAST_MEMORY // 2**20
            raise InvalidCaseError("memory", f"what checks certificates needs {least}M of address space at least")
