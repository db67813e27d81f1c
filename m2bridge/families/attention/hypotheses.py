"""The words of statements about single-layer attention, their formulas, and their hypotheses.

A *formula* is a text of ``words.toml`` in numbers of a case (d, d', a, t; α = min(a, d)) and of an
orbit or a type of weights. A hypothesis is a formula that is true or false; it is asked for the
sizes ``shape`` of a case, and answers with the reason why it fails, in words, or an empty text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from m2bridge.certificates import conditions
from m2bridge.certificates.conditions import CaseNumbers
from m2bridge.certificates.wording import wording
from m2bridge.families.attention.sizes import LayerSizes, source_degree

# the words of statements, hypotheses, lemmas and remarks, by their keys in the file
WORDS = wording(Path(__file__).parent / "words.toml")

NUMBERS: dict[str, Callable[[LayerSizes], int]] = {
    "d": attrgetter("d"),
    "dp": attrgetter("d_out"),
    "a": attrgetter("a"),
    "t": attrgetter("t"),
    "alpha": attrgetter("alpha"),
    "D": source_degree,
}
"""The numbers of a case by their names in formulas; all others are of an orbit or a type."""


@dataclass(frozen=True, slots=True)
class StatedFormula:
    """A formula as a function of a case, of an orbit, or of an orbit (or type) and its case."""

    text: str

    def __call__(self, *arguments: Any) -> Any:
        """Return its value."""
        orbit, shape = arguments[0], arguments[-1]
        numbers = {}
        for name in conditions.names(self.text):
            number_of = NUMBERS.get(name)
            numbers[name] = number_of(shape) if number_of else getattr(orbit, name)
        return conditions.value(self.text, numbers)


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Hypotheses by their names in ``words.toml``, in the order in which they are asked."""

    names: tuple[str, ...]

    def __call__(self, shape: LayerSizes) -> str:
        """Return why the first that fails does, in words; empty if all hold."""
        return next(iter(WORDS.failing(self.names, CaseNumbers(shape, NUMBERS))), "")


why_not_several_tokens = Assumptions(("several-tokens",))
# the hypotheses of the paper from Corollary 3.3 on; for 3.4 we add d ≥ 2, since for d = 1 < d' some
# statements fail as printed
why_outside_paper = Assumptions(("several-tokens", "not-degenerate"))
why_degenerate = Assumptions(("several-tokens", "not-degenerate", "two-dimensions"))
why_not_two_dimensions = Assumptions(("several-tokens", "two-dimensions"))
# no Hilbert function is predicted where computed values contradict the formula
why_no_prediction = Assumptions(WORDS.words("hilbert", "").assumes)
