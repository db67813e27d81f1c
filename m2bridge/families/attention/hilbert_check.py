"""The comparison of the predicted Hilbert function with that of the ideal of the closure."""

from dataclasses import dataclass
from typing import Any, Literal

from m2bridge.engine import Engine
from m2bridge.families.attention.completeness import no_prediction, predicted_hilbert_function, predicted_series
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.implicitization.implicitize import Implicitization
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure
from m2bridge.results.base import Result
from m2bridge.results.sheet import Block, Facts, Finding, Findings, Sheet, Table, duration

TEXT = (
    "For t ≥ 2, and d ≤ 3 or d' = 1 or min(a, d) = 1: the Hilbert function of the Zariski closure is that of the "
    "source less Λ² S_n Y and hooks (docs/completeness.md)."
)
COMPUTED = "the Hilbert function of the ideal of the closure, and its Hilbert series where the ideal is proved complete"
SOURCE = "m2bridge, docs/completeness.md (proved as an upper bound, and in large degrees)"


@dataclass(frozen=True, slots=True)
class HilbertCheck(Result):
    """The outcome of a comparison of Hilbert functions.

    Parameters
    ----------
    model : SingleLayerAttention
    verdict : {"CONFIRMED", "REFUTED", "UNDECIDED", "NOT_APPLICABLE"}
    reason : str
        Up to which degree they were compared, or for all; where they differ; which hypothesis fails.
    computed, predicted : tuple of int
        H(0), …, H(N).
    all_degrees : bool
        Whether the whole series was compared, of an ideal that is proved complete.
    engine_version : str
    seconds : float
    unfinished : str
    """

    model: SingleLayerAttention
    verdict: Literal["CONFIRMED", "REFUTED", "UNDECIDED", "NOT_APPLICABLE"]
    reason: str
    computed: tuple[int, ...] = ()
    predicted: tuple[int, ...] = ()
    all_degrees: bool = False
    engine_version: str = ""
    seconds: float = 0.0
    unfinished: str = ""

    @property
    def refuted(self) -> bool:
        """Whether the prediction is wrong."""
        return self.verdict == "REFUTED"

    @property
    def undecided(self) -> bool:
        """Whether not all values were compared, though the prediction applies."""
        return self.verdict == "UNDECIDED"

    def to_sheet(self) -> Sheet:
        """A table of values, and the verdict."""
        blocks: list[Block] = []
        if self.computed:
            rows = list(enumerate(zip(self.computed, self.predicted, strict=True)))[:SHOWN]
            blocks.append(Facts([("computed in", duration(self.seconds)), ("not finished", self.unfinished or None)]))
            blocks.append(Table(("n", "computed", "predicted"), [(n, *values) for n, values in rows]))
        blocks.append(Findings([Finding(self.verdict, "hilbert", TEXT, (self.reason,))]))
        values = ", ".join(map(str, self.computed[:SHOWN]))
        title = f"Hilbert function of the Zariski closure, lightning self-attention, {self.model}, over QQ"
        return Sheet(title, blocks, [rf"H = ({values}, \dots)"] if values else [])

    def to_json(self) -> dict[str, Any]:
        """The verdict and both functions."""
        return {
            "case": self.model.to_json(),
            "field": "QQ",
            "engine": {"version": self.engine_version or None},
            "seconds": round(self.seconds, 3),
            "verdicts": [
                {"statement": "hilbert", "part": "", "text": TEXT, "source": SOURCE, "verdict": self.verdict}
                | {"reason": self.reason}
            ],
            "computed": list(self.computed),
            "predicted": list(self.predicted),
            "all_degrees": self.all_degrees,
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """Both functions as Macaulay2 lists."""
        computed, predicted = (", ".join(map(str, values)) for values in (self.computed, self.predicted))
        return f"computed = {{{computed}}}\npredicted = {{{predicted}}}"


def hilbert_check(model: SingleLayerAttention, *, engine: Engine, timeout: float | None = None) -> HilbertCheck:
    """Compare the predicted Hilbert function with that of the ideal that :func:`m2bridge.maps.closure.closure` finds.

    Raises
    ------
    EngineError
        If Macaulay2 failed, or a limit was reached before anything was found.
    """
    if reason := no_prediction(model):
        return HilbertCheck(model, "NOT_APPLICABLE", reason)
    variety = closure(model, engine=engine, timeout=timeout)
    values = _values(variety)
    predicted = tuple(predicted_hilbert_function(model, n) for n in range(len(values)))
    whole = variety.hilbert_series is not None
    verdict, reason = _decided(model, variety, values, predicted)
    return HilbertCheck(
        model, verdict, reason, values, predicted, whole, variety.engine_version, variety.seconds, variety.unfinished
    )


def _values(variety: Closure) -> tuple[int, ...]:
    """Values that are proved; none if the ranks are known modulo a prime only."""
    if isinstance(variety.equations, Implicitization):
        return variety.equations.hilbert_function if variety.equations.exact else ()
    if variety.hilbert_series is not None:
        series = variety.hilbert_series
        return tuple(series.value(n) for n in range(series.dimension + 4))
    return ()


def _decided(
    model: SingleLayerAttention, variety: Closure, values: tuple[int, ...], predicted: tuple[int, ...]
) -> tuple[Literal["CONFIRMED", "REFUTED", "UNDECIDED"], str]:
    if not values:
        return "UNDECIDED", f"no value was proved; {variety.unfinished}".rstrip("; ")
    wrong = [n for n, (value, expected) in enumerate(zip(values, predicted, strict=True)) if value != expected]
    if wrong:
        n = wrong[0]
        return "REFUTED", f"H({n}) is {values[n]}, and {predicted[n]} is predicted"
    series = variety.hilbert_series
    if series is None:
        last = len(values) - 1
        text = f"H(0), …, H({last}) are as predicted; the statement is about all n, and n > {last} is not decided"
        return "UNDECIDED", "; ".join(filter(None, (text, variety.unfinished)))
    if series == predicted_series(model, series.dimension):
        return "CONFIRMED", "in this case for all n: the ideal is complete, and its Hilbert series is the predicted one"
    return "REFUTED", "the Hilbert series of the complete ideal is another one"


SHOWN = 12
"""Values that are written."""
