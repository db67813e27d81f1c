"""The Hilbert function of the closure, for all sizes (ours): an upper bound, which is exact in large degrees.

X, H, Y stand for the spaces of dimension d (index i), d' (index k) and d (the variables y), S_λ for Schur functors. In
degree n the coordinate ring of the source is C[D_α]_n ⊗ S_n(H ⊗ Y). From it are missing the forms that take different
values at two preimages with k and v exchanged, and where these come together those that are odd in the difference:

    h(n) = dim C[D_α]_n · C(n + d d' − 1, n) − dim S_n X · dim S_n H · C(dim S_n Y, 2)
           − Σ_{k=1}^{d−2} Σ_{i+j=k, i<α, j<d'} dim S_(n−i, 1^i) X · dim S_(n−j, 1^j) H · dim S_(2n−k−1, 1^(k+1)) Y.

This is the number of sections of O(n) over the closure, proved in docs/completeness.md; the coordinate ring consists of
some of them, and of all in large degrees. For d = 3, α ≥ 2, d' ≥ 2 fewer were seen in the degrees 2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any, ClassVar, Literal

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.engine import Engine
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements.statement import several_tokens
from m2bridge.implicitization.implicitize import Implicitization
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure
from m2bridge.results.base import Presented
from m2bridge.results.sheet import Block, Facts, Finding, Findings, Sheet, Table, duration

FEWER_FORMS = {2: 3, 3: 8}
"""For d = 3, α ≥ 2, d' ≥ 2: by degree, how many times dim S_(n−1, 1) X · dim S_(n−1, 1) H."""


def no_prediction(model: SingleLayerAttention) -> str:
    """Why no prediction exists for a model; empty if one exists."""
    if reason := several_tokens(model):
        return reason
    if model.d >= 4 and model.d_out >= 2 and model.alpha >= 2:
        return "for d ≥ 4, d' ≥ 2, min(a, d) ≥ 2 the formula is too large in low degrees (at (4, 2, 2) for n = 2, 3, 4)"
    return ""


def predicted_hilbert_function(model: SingleLayerAttention, n: int) -> int:
    """The predicted dimension of the part of degree n of the coordinate ring; t ≥ 2.

    Examples
    --------
    >>> [predicted_hilbert_function(SingleLayerAttention(2, 1), n) for n in range(5)]
    [1, 6, 21, 56, 125]
    """
    value = sections_of(model, n)
    if model.d == 3 and model.alpha >= 2 and model.d_out >= 2:
        value -= FEWER_FORMS.get(n, 0) * _hook(model.d, n, 1) * _hook(model.d_out, n, 1)
    return value


def sections_of(model: SingleLayerAttention, n: int) -> int:
    """The number of independent sections of O(n) over the closure, h(n) above; t ≥ 2."""
    return section_count(model.d, model.d_out, model.d, model.alpha, n)


def section_count(columns: int, rows: int, variables: int, rank: int, n: int) -> int:
    """The same for the products of linear forms l_i, which span a space of dimension at most ``rank``, and v_k.

    ``columns``, ``rows`` and ``variables`` are the dimensions of X, H and Y.
    """
    value = determinantal_hilbert_function(columns, variables, rank, n) * comb(n + variables * rows - 1, n)
    value -= _symmetric(columns, n) * _symmetric(rows, n) * comb(_symmetric(variables, n), 2)
    for i, j in product(range(rank), range(rows)):
        if 1 <= i + j <= variables - 2:
            value -= _hook(columns, n, i) * _hook(rows, n, j) * _hook(variables, 2 * n, i + j + 1)
    return value


def predicted_numerator(model: SingleLayerAttention, dimension: int) -> tuple[int, ...]:
    """Coefficients of the predicted Hilbert series times (1 − T)^dimension.

    The formula is a polynomial in n for all n ≥ 0, but for the corrections at n ≤ 3; so there are at most
    dimension + 4 coefficients.
    """
    values = [predicted_hilbert_function(model, n) for n in range(dimension + 4)]
    found = _times_denominator(values, dimension)
    while len(found) > 1 and found[-1] == 0:
        found.pop()
    return tuple(found)


def sections_series(model: SingleLayerAttention, dimension: int) -> HilbertSeries:
    """Σ h(n) T^n, which has the Hilbert polynomial of the closure; h is a polynomial for n ≥ 1.

    Examples
    --------
    >>> sections_series(SingleLayerAttention(2, 1), 5).hilbert_coefficients
    (4, 6, 4, 1, 0)
    """
    values = [sections_of(model, n) for n in range(dimension + 1)]
    return HilbertSeries.from_numerator(dict(enumerate(_times_denominator(values, dimension))), dimension)


def _times_denominator(values: list[int], dimension: int) -> list[int]:
    """The first coefficients of Σ values[n] T^n · (1 − T)^dimension."""
    signs = [(-1) ** i * comb(dimension, i) for i in range(len(values))]
    return [sum(signs[i] * values[n - i] for i in range(n + 1)) for n in range(len(values))]


def determinantal_hilbert_function(columns: int, rows: int, rank: int, n: int) -> int:
    """Polynomials of degree n on the matrices of rank at most ``rank``.

    The sum of dim S_λ(C^rows) · dim S_λ(C^columns) over the partitions λ of n with at most ``rank`` parts.

    Source: Bruns, Vetter, *Determinantal Rings*, Corollary 11.7 (Cauchy's formula).
    """
    if rank >= min(rows, columns):
        return comb(n + rows * columns - 1, n)
    return sum(_schur(shape, rows) * _schur(shape, columns) for shape in _partitions(n, rank, n))


def _symmetric(size: int, n: int) -> int:
    """dim S_n of a space."""
    return comb(n + size - 1, n)


def _hook(size: int, n: int, legs: int) -> int:
    """dim S_λ for λ = (n − legs, 1^legs); 0 if that is not a partition."""
    arm = n - legs - 1
    return comb(size + arm, arm + legs + 1) * comb(arm + legs, legs) if arm >= 0 else 0


def _partitions(n: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Weakly decreasing, padded with zeros to the number of parts."""
    if parts == 0:
        if n == 0:
            yield ()
        return
    for first in range(min(n, largest), -1, -1):
        if first * parts < n:
            return
        for rest in _partitions(n - first, parts - 1, first):
            yield (first, *rest)


def _schur(shape: tuple[int, ...], size: int) -> int:
    """Weyl's dimension formula."""
    rows = (*shape, *(0,) * (size - len(shape)))
    value = Fraction(1)
    for i, j in combinations(range(size), 2):
        value *= Fraction(rows[i] - rows[j] + j - i, j - i)
    return int(value)


TEXT = (
    "For t ≥ 2, and d ≤ 3 or d' = 1 or min(a, d) = 1: the Hilbert function of the Zariski closure is that of the "
    "source less Λ² S_n Y and hooks (docs/completeness.md)."
)
COMPUTED = "the Hilbert function of the ideal of the closure, and its Hilbert series where the ideal is proved complete"
SOURCE = "m2bridge, docs/completeness.md (proved as an upper bound, and in large degrees)"


@dataclass(frozen=True, slots=True)
class HilbertCheck(Presented):
    """What a comparison of Hilbert functions says.

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

    presentation: ClassVar[str] = "m2bridge.families.attention.hilbert"

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


def hilbert_check(model: SingleLayerAttention, engine: Engine, timeout: float | None = None) -> HilbertCheck:
    """Compare the predicted Hilbert function with that of the ideal that :func:`m2bridge.maps.closure.closure` finds.

    Raises
    ------
    EngineError
        If Macaulay2 failed, or a limit was reached before anything was found.
    """
    if reason := no_prediction(model):
        return HilbertCheck(model, "NOT_APPLICABLE", reason)
    found = closure(model, engine, timeout=timeout)
    values = _values(found)
    predicted = tuple(predicted_hilbert_function(model, n) for n in range(len(values)))
    whole = found.hilbert_series is not None
    verdict, reason = _decided(model, found, values, predicted)
    return HilbertCheck(
        model, verdict, reason, values, predicted, whole, found.engine_version, found.seconds, found.unfinished
    )


def _values(found: Closure) -> tuple[int, ...]:
    """Values that are proved; none if the ranks are known modulo a prime only."""
    if isinstance(found.equations, Implicitization):
        return found.equations.hilbert_function if found.equations.exact else ()
    if found.hilbert_series is not None:
        series = found.hilbert_series
        return tuple(series.value(n) for n in range(series.dimension + 4))
    return ()


def _decided(
    model: SingleLayerAttention, found: Closure, values: tuple[int, ...], predicted: tuple[int, ...]
) -> tuple[Literal["CONFIRMED", "REFUTED", "UNDECIDED"], str]:
    if not values:
        return "UNDECIDED", f"no value was proved; {found.unfinished}".rstrip("; ")
    wrong = [n for n, (seen, said) in enumerate(zip(values, predicted, strict=True)) if seen != said]
    if wrong:
        n = wrong[0]
        return "REFUTED", f"H({n}) is {values[n]}, and {predicted[n]} is predicted"
    series = found.hilbert_series
    if series is None:
        last = len(values) - 1
        said = f"H(0), …, H({last}) are as predicted; the statement is about all n, and n > {last} is not decided"
        return "UNDECIDED", "; ".join(filter(None, (said, found.unfinished)))
    if series.numerator == predicted_numerator(model, series.dimension):
        return "CONFIRMED", "in this case for all n: the ideal is complete, and its Hilbert series is the predicted one"
    return "REFUTED", "the Hilbert series of the complete ideal is another one"


SHOWN = 12
"""Values that are written."""


def json(found: HilbertCheck) -> dict[str, Any]:
    """The verdict and both functions."""
    return {
        "case": {"d": found.model.d, "d_out": found.model.d_out, "a": found.model.a, "t": found.model.t},
        "field": "QQ",
        "engine": {"version": found.engine_version or None},
        "seconds": round(found.seconds, 3),
        "verdicts": [
            {"statement": "hilbert", "part": "", "text": TEXT, "source": SOURCE, "verdict": found.verdict}
            | {"reason": found.reason}
        ],
        "computed": list(found.computed),
        "predicted": list(found.predicted),
        "all_degrees": found.all_degrees,
        "unfinished": found.unfinished or None,
    }


def sheet(found: HilbertCheck) -> Sheet:
    """A table of values, and the verdict."""
    blocks: list[Block] = []
    if found.computed:
        rows = list(enumerate(zip(found.computed, found.predicted, strict=True)))[:SHOWN]
        blocks.append(Facts([("computed in", duration(found.seconds)), ("not finished", found.unfinished or None)]))
        blocks.append(Table(("n", "computed", "predicted"), [(n, *values) for n, values in rows]))
    blocks.append(Findings([Finding(found.verdict, "hilbert", TEXT, (found.reason,))]))
    values = ", ".join(map(str, found.computed[:SHOWN]))
    title = f"Hilbert function of the Zariski closure, lightning self-attention, {found.model}, over QQ"
    return Sheet(title, blocks, [rf"H = ({values}, \dots)"] if values else [])


def macaulay2(found: HilbertCheck) -> str:
    """Both functions as Macaulay2 lists."""
    computed, predicted = (", ".join(map(str, values)) for values in (found.computed, found.predicted))
    return f"computed = {{{computed}}}\npredicted = {{{predicted}}}"
