"""The protocol of engines, with limits and transcripts."""

import resource
from dataclasses import dataclass
from typing import Protocol

from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError
from m2bridge.limits import check_timeout

LEAST_MEMORY = 640 * 2**20
"""Macaulay2 maps 250 MiB (1.21) to 620 MiB (1.26) of address space before it computes anything, on two cores."""

MOST_MEMORY = 2**62
"""Limits on memory are signed numbers of 64 bits."""

CALM = {"OPENBLAS_NUM_THREADS": "1"}
"""OpenBLAS takes 32 MiB of address space for each core, and tries for ever where a limit denies it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one run.

    Parameters
    ----------
    timeout : float, optional
        Seconds of wall time, as many as you like; no limit when left out or infinite.
    memory : int, optional
        Bytes of address space of each process of the engine, at least :data:`LEAST_MEMORY`; what this process has
        (``ulimit -v``) when left out. Useful limits start at 1 GiB; machines with many cores need more.

    Raises
    ------
    InvalidCaseError
        If the time is not a positive number, if Macaulay2 cannot start within this memory, or if this process may not
        use so much itself: no limit that was set before is ever raised.

    Examples
    --------
    >>> from sympy import symbols
    >>> t = symbols("t")
    >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    >>> with Macaulay2(limits=Limits(timeout=60, memory=2 * 2**30)) as engine:
    ...     print(closure(cusp, engine=engine).degree)
    3
    """

    timeout: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        check_timeout(self.timeout)
        if self.memory is None:
            return
        if self.memory < LEAST_MEMORY:
            raise InvalidCaseError(
                "memory",
                "Macaulay2 takes up to 620 MiB of address space before it computes anything: "
                "give it 640M at least, better 1G or more",
            )
        if self.memory > MOST_MEMORY:
            raise InvalidCaseError("memory", f"this system takes no limit above {MOST_MEMORY / 2**30:.3g} GiB")
        inherited = address_space()
        if inherited is not None and self.memory > inherited:
            allowed = f"{inherited // 2**20}M"
            raise InvalidCaseError("memory", f"more than the {allowed} of address space allowed here (ulimit -v)")


def address_space() -> int | None:
    """Limit on the address space of this process and of those that it starts, in bytes; ``None`` if there is none."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


@dataclass(frozen=True, slots=True)
class Transcript:
    """The result of one run.

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

    Examples
    --------
    >>> script = Script("sum", 'mbEmit("sum", 1 + 1)')
    >>> with Macaulay2() as engine:
    ...     transcript = engine.run(script)
    >>> transcript.records
    ('{"field":"sum","value":["ZZ","2"]}',)
    """

    records: tuple[str, ...]
    output: str
    seconds: float
    version: str


class Engine(Protocol):
    """Runs scripts one after the other; no run sees anything of another.

    Examples
    --------
    >>> def invariants(case: PolynomialMap, engine: Engine) -> tuple[int, int]:
    ...     return closure(case, engine=engine).degree, singular_locus(case, engine=engine).dimension
    >>> from sympy import symbols
    >>> t = symbols("t")
    >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    >>> with Macaulay2() as engine:
    ...     print(invariants(cusp, engine))
    (3, 0)
    """

    @property
    def version(self) -> str:
        """The version of Macaulay2."""
        ...

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        """Run one script, within the timeout and the limit of :func:`m2bridge.limits.clock`.

        Raises
        ------
        EngineError
            If it did not run to its end; the records that were complete by then are in the exception.
        """
        ...
