"""What a report holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

VERDICTS = ("REFUTED", "UNDECIDED", "NO_ANSWER", "PROGRAM_NOT_CHECKED", "CONFIRMED", "COMPUTED", "NOT_APPLICABLE")
"""In the order of a report: the four verdicts on statements; a closure is COMPUTED; what failed has NO_ANSWER.

What another release answered, and did not refute, with a program that is not this release's, is PROGRAM_NOT_CHECKED.
"""


@dataclass(frozen=True, slots=True, order=True)
class Case:
    """The numbers of one attention model."""

    d: int
    d_out: int
    a: int
    t: int

    @property
    def key(self) -> str:
        """``d3-dout2-a2-t2``, as in the names of files."""
        return f"d{self.d}-dout{self.d_out}-a{self.a}-t{self.t}"

    def __str__(self) -> str:
        return f"(d, d', a) = ({self.d}, {self.d_out}, {self.a}), t = {self.t}"


@dataclass(frozen=True, slots=True)
class Row:
    """One verdict on one case.

    Parameters
    ----------
    case : Case
    question, statement : str
        ``3.4`` and ``3.4 (iii)``.
    verdict : str
        From :data:`VERDICTS`.
    reason, witness : str
        In words; no witness unless refuted.
    reported : dict
        ``versions``, ``seconds`` and ``peak_memory`` as the certificate that holds this verdict reports them, which
        nobody checked; verdicts of one certificate share them.
    file : str
    """

    case: Case
    question: str
    statement: str
    verdict: str
    reason: str
    witness: str
    reported: dict[str, Any]
    file: str

    @property
    def seconds(self) -> float | None:
        """Reported wall time of the certificate; ``None`` without one."""
        return self.reported["seconds"]  # type: ignore[no-any-return]

    @property
    def rank(self) -> tuple[object, ...]:
        """Refuted first; then by statement and case."""
        return VERDICTS.index(self.verdict), self.question, self.statement, self.case

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Table:
    """Facts in words, one line for each orbit."""

    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Detail:
    """What a certificate holds besides its verdicts.

    Parameters
    ----------
    case : Case
    question : str
    orbits : Table or None
        Facts about each orbit, if the certificate rests on them.
    script : str
        The Macaulay2 program; empty if none was needed.
    trusted : tuple of str
    reported : dict
        As in :class:`Row`.
    """

    case: Case
    question: str
    orbits: Table | None
    script: str
    trusted: tuple[str, ...]
    reported: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be used, and why."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """A folder of certificates and outcomes.

    Parameters
    ----------
    rows : tuple of Row
        Refuted first.
    details : tuple of Detail
        One for each certificate, by case.
    problems : tuple of Problem
    """

    rows: tuple[Row, ...]
    details: tuple[Detail, ...]
    problems: tuple[Problem, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many rows have each verdict that occurs."""
        found = Counter(row.verdict for row in self.rows)
        return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}
