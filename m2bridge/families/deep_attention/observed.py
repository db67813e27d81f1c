"""Observed values of a network: which number or answer is known, whether it is proved, and how.

They are computed in ``observation``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from m2bridge.families.deep_attention.shape import NetworkSizes
from m2bridge.results.known import Bounds
from m2bridge.results.sheet import value_text
from m2bridge.statements.statement import Observed, Value


@dataclass(frozen=True, slots=True)
class ComputedValue:
    """A computed value of an observable, or the reason why it is not known.

    Parameters
    ----------
    known : bool, Bounds or None
        Yes or no, or a number, possibly between bounds; ``None`` if nothing is known.
    method : str
        The method in one line, or the reason why nothing is known.
    numbers : dict
        The numbers that a certificate contains, by name; empty if it contains none.
    """

    known: bool | Bounds | None
    method: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> bool | int | None:
        """The value, or a bound for it, which :attr:`bound` names: the lower one if both bounds are
        known. ``None`` if nothing is known.
        """
        return self.known.value if isinstance(self.known, Bounds) else self.known

    @property
    def bound(self) -> str:
        """The words before :attr:`value` if it is a bound: ``at least`` for a lower bound, also if
        an upper one is known, and else ``at most``. Empty for an exact number, yes or no, and if
        nothing is known.
        """
        if not isinstance(self.known, Bounds) or self.known.exact is not None:
            return ""
        if self.known.lower is None:
            return "at most"
        return "at least"

    @property
    def exact_value(self) -> bool | int | None:
        """The value if it is not only a bound; else ``None``."""
        return self.known.exact if isinstance(self.known, Bounds) else self.known

    @property
    def proved(self) -> bool:
        """Whether an exact value is known, which is then proved: bounds are proved, and agree."""
        return self.exact_value is not None

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``; a value that is not known becomes ``null``."""
        return {
            "value": self.value,
            # "at least" or "at most"; null where the value is exact or not known
            "bound": self.bound or None,
            "proved": self.proved,
            "method": self.method,
        }


@dataclass(frozen=True, slots=True)
class ObservedNetwork(Observed):
    """The observed values of a network; see :class:`m2bridge.statements.statement.Observed`.

    Parameters
    ----------
    model : NetworkSizes
    findings : dict of str to ComputedValue
        The computed values by observable.
    engine_version : str
        The version of Macaulay2, or empty if no value needed it.
    seconds : float
    unfinished : str
        The limit that was reached, or empty.
    remarks : tuple of str
        Empty, as no two methods are compared here.
    """

    model: NetworkSizes
    findings: Mapping[str, ComputedValue]
    engine_version: str
    seconds: float
    unfinished: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def progress(self) -> str:
        """The observables that were computed before a limit, in words; empty without a limit."""
        if not self.unfinished:
            return ""
        return f"observed: {', '.join(self.findings) or 'nothing'}"

    def value(self, observable: str) -> Value | None:
        """Return the value of an observable where it is exact, else ``None``."""
        finding = self.findings.get(observable)
        return None if finding is None else finding.exact_value

    def unknown(self, observable: str) -> str:
        """Return in words why the value of an observable is not exact.

        The words name the bound that is known, or the reason why nothing is known.
        """
        words = observable.replace("_", " ")
        finding = self.findings.get(observable)
        if finding is None:
            return self.unfinished or f"{words}: not observed"
        if finding.value is None:
            return f"{words}: {finding.method}"
        return f"{words}: {finding.known} ({finding.method})"

    def numbers(self) -> dict[str, int]:
        """Return the integers from which values follow, such as ranks, by their names.

        If several observables have a number of one name, it is that of the last.
        """
        numbers: dict[str, Any] = {}
        for finding in self.findings.values():
            numbers |= finding.numbers
        # Values yes and no are not numbers, although a bool is an int.
        return {name: number for name, number in numbers.items() if type(number) is int}

    def evidence(self) -> dict[str, Any]:
        """Return for a certificate the numbers from which each value follows, by observable."""
        return {name: {**self.findings[name].numbers} for name in sorted(self.findings)}

    def facts(self) -> list[tuple[str, str | None]]:
        """Return the name of each observable, and its value with the method, for a page."""
        findings = self.findings.items()
        return [(name.replace("_", " "), _finding_text(finding)) for name, finding in findings]

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``: each value by its observable."""
        observed = {name: finding.to_json() for name, finding in self.findings.items()}
        return {"observed": observed}


def _finding_text(finding: ComputedValue) -> str:
    """Return the computed value of an observable in words."""
    if finding.known is None:
        return f"not decided: {finding.method}"
    proved = " (proved)" if finding.proved else ""
    return f"{value_text(finding.known)}{proved}: {finding.method}"
