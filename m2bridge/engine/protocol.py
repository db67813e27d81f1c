"""What the rest of the package knows of an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from m2bridge.render import Script


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one run.

    Parameters
    ----------
    timeout : float, optional
        Seconds of wall time; no limit when left out.
    memory : int, optional
        Bytes of address space of each process of the engine. Macaulay2 maps about 0.4 to 0.8 GB before it computes
        anything, so useful limits start at 1 GiB.
    """

    timeout: float | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """What one run gave.

    Parameters
    ----------
    records : tuple of str
        The wire records, without the closing one.
    output : str
        What the script printed besides.
    seconds : float
        Wall time.
    version : str
        Version of Macaulay2.
    """

    records: tuple[str, ...]
    output: str
    seconds: float
    version: str


class Engine(Protocol):
    """Runs scripts one after the other; no run sees anything of another."""

    @property
    def version(self) -> str:
        """Version of Macaulay2."""
        ...

    def run(self, script: Script, timeout: float | None = None) -> Transcript:
        """Run one script.

        Raises
        ------
        EngineError
            If it did not run to its end; the records that were complete by then are in the exception.
        """
        ...
