"""What was observed about a network: a value for each observable, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from m2bridge.families.deep_attention.shape import Shape
from m2bridge.maps.observation import WithoutOrbits
from m2bridge.maps.statement import Value


@dataclass(frozen=True, slots=True)
class Finding:
    """A value that was computed, or why it was not.

    Parameters
    ----------
    value : bool, int or None
    method : str
        How, in one line; why not, if there is no value.
    bound : {"", "at least", "at most"}
        What is proved about a number that is not exact.
    proved : bool
        Whether the value is proved; an identity that is not holds at random points.
    numbers : dict
        What a certificate holds of it.
    """

    value: bool | int | None
    method: str
    bound: str = ""
    proved: bool = True
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def decided(self) -> bool | int | None:
        """The value if it is not only a bound."""
        return None if self.bound else self.value

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {"value": self.value, "bound": self.bound or None, "proved": self.proved, "method": self.method}


@dataclass(frozen=True, slots=True)
class ObservedNetwork(WithoutOrbits):
    """See :class:`m2bridge.maps.observation.Observed`; there are no orbits.

    Parameters
    ----------
    model : Shape
    findings : dict of str to Finding
        By observable.
    engine_version : str
    seconds : float
    unfinished : str
        The limit that was reached, or empty.
    """

    model: Shape
    findings: Mapping[str, Finding]
    engine_version: str
    seconds: float
    unfinished: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def progress(self) -> str:
        """What was done until a limit."""
        return f"observed: {', '.join(self.findings) or 'nothing'}" if self.unfinished else ""

    def value(self, observable: str) -> Value | None:
        """What was decided."""
        found = self.findings.get(observable)
        return None if found is None else found.decided

    def unknown(self, observable: str) -> str:
        """A bound, or why nothing was computed."""
        words = observable.replace("_", " ")
        if (found := self.findings.get(observable)) is None:
            return self.unfinished or f"{words}: not observed"
        if found.value is None:
            return f"{words}: {found.method}"
        return f"{words}: {found.bound} {found.value} ({found.method})"

    def numbers(self) -> dict[str, int]:
        """Ranks and bounds."""
        return {
            name: number
            for found in self.findings.values()
            for name, number in found.numbers.items()
            if isinstance(number, int) and not isinstance(number, bool)
        }

    def evidence(self) -> dict[str, Any]:
        """What a certificate holds: the numbers behind each observable."""
        return {observable: {**found.numbers} for observable, found in sorted(self.findings.items())}

    def facts(self) -> list[tuple[str, str | None]]:
        """Each value, and how it was found."""
        return [(observable.replace("_", " "), _said(found)) for observable, found in self.findings.items()]

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {"observed": {observable: found.to_json() for observable, found in self.findings.items()}}


def _said(found: Finding) -> str:
    if found.value is None:
        return f"not decided: {found.method}"
    value = ("yes" if found.value else "no") if isinstance(found.value, bool) else str(found.value)
    proved = " (proved)" if found.proved and not found.bound else ""
    return " ".join(filter(None, (found.bound, value))) + f"{proved}: {found.method}"
