"""Whether a function is in the neuromanifold, only in its closure, or outside; with its weights.

It is decided by the fibre over the function, whose points are its weights
(:mod:`m2bridge.families.attention.orbits.charts`): exact, for t ≥ 2.

Notation. Weights are a d×d matrix A of rank ≤ α = min(a, d) and a d'×d matrix V; l_i = Σ_p A_pi y_p
and v_k = Σ_q V_kq y_q. The coordinate ``c_k_i_p_q`` is the coefficient of y_p y_q in l_i v_k. The
fibre is the scheme of the weights of a function up to (λA, V/λ); its length counts multiplicities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sympy import Expr, Matrix, Rational, latex as sympy_latex, zeros
from sympy.polys.matrices import DomainMatrix

from m2bridge.algebra.determinantal import matrices_of_rank
from m2bridge.algebra.field import QQ
from m2bridge.engine import current
from m2bridge.errors import ContradictionError, InvalidCaseError
from m2bridge.families.attention.orbits.charts import (
    Chart,
    entry_texts,
    fibre_in_chart,
    quadratic_forms,
)
from m2bridge.families.attention.orbits.orbits import Orbit
from m2bridge.families.attention.orbits.parametrization import images
from m2bridge.families.attention.sizes import LayerSizes, dimension_bound, is_birational
from m2bridge.limits import check_deadline_in, clock
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import Facts, Sheet, duration, matrix_text, plural
from m2bridge.system import any_length


def function_of(A: Matrix, V: Matrix) -> dict[str, Expr]:
    """Return the function of weights (A, V) with exact entries: its reduced coordinates by name.

    A is d×d and V is d'×d. Coordinates that are zero are left out.
    """
    images_by_name = images(LayerSizes(A.cols, V.rows), A.tolist(), V.tolist(), "reduced")
    function = {}
    for name, image in check_deadline_in(images_by_name.items()):
        # With square roots a zero is seen after expansion only.
        value = image.expand()
        if value != 0:
            function[name] = value
    return function


def orbit_of(A: Matrix, V: Matrix) -> Orbit:
    """Return the orbit (rk A, rk V, dim L ∩ U) of the function of weights with algebraic entries.

    L is the column space of A, and U the row space of V.
    """
    r = _rank(A)
    s = _rank(V)
    # dim (L ∩ U) = dim L + dim U − dim (L + U).
    return Orbit(r, s, r + s - _rank(Matrix.hstack(A, V.T)))


def _rank(matrix: Matrix) -> int:
    """Return the rank over the number field that the entries generate."""
    return int(DomainMatrix.from_Matrix(matrix, extension=True).to_field().rank())


INSIDE = "in the neuromanifold"
CLOSURE = "only in the Zariski closure"
OUTSIDE = "outside the Zariski closure"

MatrixPair = tuple[Matrix, Matrix]
"""Weights (A, V) with exact entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership(Result):
    """The answer to whether a function is in the neuromanifold, only in its closure, or outside.

    Parameters
    ----------
    model : LayerSizes
    place : str
        One of ``in the neuromanifold``, ``only in the Zariski closure``, ``outside the Zariski
        closure``.
    orbit : Orbit or None
        ``None`` for the zero function and outside.
    weights : tuple of (A, V)
        All weights of the function up to rescaling, as SymPy matrices; complex where the function
        is only in the closure. For the zero function, which all (A, V) with A = 0 or V = 0 have,
        one pair: the given one, if its A has rank ≤ α; else A = V = 0.
    length : int or None
        Length of the fibre scheme; 0 outside; ``None`` for the zero function, whose fibre is not
        finite.
    singular, boundary : bool or None
        Whether the function is a singular point, or a boundary point; ``None`` outside the closure.
    engine_version : str
        Empty for the zero function, about which Macaulay2 is not asked.
    seconds : float
    remark : str
        Empty, or why the weights that were given do not belong to the model.

    Examples
    --------
    >>> found = membership(SingleLayerAttention(d=2, d_out=1), {"c_1_1_1_2": 1})
    >>> found.place, found.length, found.singular
    ('in the neuromanifold', 2, True)
    >>> A, V = found.weights[0]
    >>> A.tolist(), V.tolist()
    ([[1, 0], [0, 0]], [[0, 1]])
    """

    model: LayerSizes
    place: str
    orbit: Orbit | None
    weights: tuple[MatrixPair, ...]
    length: int | None
    singular: bool | None
    boundary: bool | None
    engine_version: str
    seconds: float
    remark: str = ""

    @property
    def is_zero(self) -> bool:
        """Whether the function is zero, the only one whose fibre has no length."""
        return self.length is None

    @property
    def fibre_dimension(self) -> int | None:
        """The dimension of the fibre: of {rk A ≤ α, V = 0} ∪ {A = 0} for the zero function.

        All other fibres are finite up to rescaling, and have dimension 0; ``None`` for an empty
        fibre.
        """
        if self.is_zero:
            d, alpha = self.model.d, self.model.alpha
            return max(matrices_of_rank(d, alpha), d * self.model.d_out)
        if not self.weights:
            return None
        return 0

    @property
    def tangent_dimension(self) -> int | None:
        """Tangent dimension of the closure, at the zero function; ``None`` elsewhere."""
        return self.model.independent_count if self.is_zero else None

    def to_sheet(self) -> Sheet:
        """Return a table: place, orbit, fibre, weights, and whether the point is singular."""
        place = self.place
        names = [f"weights {n}" for n in range(1, len(self.weights) + 1)]
        if self.is_zero:
            place = f"the zero function, {place}"
            names = ["one of them"]
        weights = [_text_of_weights(A, V) for A, V in self.weights]
        computed = "exact arithmetic"
        if self.engine_version:
            computed = f"Macaulay2 {self.engine_version}"
        lines = [
            ("place", place),
            ("orbit (rk A, rk V, dim L∩U)", self.orbit),
            ("fibre", _fibre_text(self)),
            *zip(names, weights, strict=True),
            ("singular point of the closure", ANSWERS[self.singular]),
            ("tangent dimension", self.tangent_dimension),
            ("boundary point", ANSWERS[self.boundary]),
            ("remark", self.remark or None),  # as everywhere, a line with None is left out
            ("computed by", f"{computed}, {duration(self.seconds)}"),
        ]
        title = f"A function of lightning self-attention, {self.model}"
        return Sheet(title, [Facts(lines)], _latex_of_weights(self))

    def to_json(self) -> dict[str, Any]:
        """Return place, orbit, fibre and weights, for ``json.dumps``.

        Entries of weights are exact numbers as text.
        """
        return result_json(self.model.to_json(), QQ, self.engine_version or None, self.seconds) | {
            "place": self.place,
            "orbit": None if self.orbit is None else self.orbit.to_json(),
            "fibre": ZERO_FIBRE if self.is_zero else None,
            "fibre_dimension": self.fibre_dimension,
            "fibre_length": self.length,
            "fibre_points": None if self.is_zero else len(self.weights),
            "weights": [{"A": entry_texts(A), "V": entry_texts(V)} for A, V in self.weights],
            "singular": self.singular,
            "tangent_dimension": self.tangent_dimension,
            "boundary": self.boundary,
            "remark": self.remark or None,
        }

    def to_macaulay2(self) -> str:
        """Return the orbit as a Macaulay2 sequence; ``null`` for zero and outside the closure."""
        return f"orbit = {self.orbit or 'null'}"


def membership_of(
    model: LayerSizes,
    function: Mapping[str, Fraction | int],
    weights: MatrixPair | None = None,
    remark: str = "",
) -> Membership:
    """Return where a function lies: in the neuromanifold, only in its closure, or outside; exact.

    Parameters
    ----------
    model : LayerSizes
        With t ≥ 2.
    function : mapping from coordinate name to rational number
        Reduced coordinates ``c_k_i_p_q``; those left out are zero.
    weights : pair of Matrix, optional
        A and V with exact entries, weights of the function, which is checked. They are the witness
        if the function is zero, and the rank of A is not too large; else others are found.
    remark : str, optional
        The remark of the result: what was done to read the function or its weights.

    Raises
    ------
    InvalidCaseError
        As :func:`quadratic_forms` does, or if the weights do not have this function.
    TooLargeError
        If there are too many coordinates to be stored.
    ContradictionError
        If the weights that were found do not give the function, or there are more than two, which
        Theorem 3.2 excludes.
    MethodUnavailableError
        If the weights are irrational and their numbers too long.
    """
    chart = Chart.of(quadratic_forms(model, function))  # None for the zero function
    if weights is not None and not _have_function(weights, function):
        raise InvalidCaseError("weights", "must be weights of the given function")
    if chart is not None:
        return replace(_membership_of_nonzero(model, function, chart), remark=remark)
    # Weights (A, V) of the zero function are a witness only if the model allows the rank of A.
    if weights is not None and weights[0].rank() > model.alpha:
        weights = None
    return _membership_of_zero(model, weights, remark)


def _membership_of_nonzero(
    model: LayerSizes, function: Mapping[str, Fraction | int], chart: Chart
) -> Membership:
    """Return the result for a function that is not zero, by its fibre in a chart (Macaulay2).

    The function is outside of the closure if the fibre is empty, and a boundary point if the fibre
    has a multiple point. Each point of the fibre gives weights, which have to give the function.

    Raises
    ------
    ContradictionError
        If the weights do not give the function, or there are more than two.
    MethodUnavailableError
        If the weights are irrational and their numbers too long.
    """
    running = clock()
    fibre = fibre_in_chart(model, chart)
    weights = tuple(chart.weights(point) for point in fibre.points)
    for A, V in weights:
        if not _have_function((A, V), function):
            raise ContradictionError(f"the weights A = {A}, V = {V} do not give the function")
    place, orbit = OUTSIDE, None
    # of functions in the closure only
    singular = boundary = None
    if weights:
        place = INSIDE if fibre.are_real else CLOSURE
        orbit = orbit_of(*weights[0])
        singular = _is_singular(orbit, fibre.length, model)
        boundary = fibre.length > len(fibre.points)
    return Membership(
        model=model,
        place=place,
        orbit=orbit,
        weights=weights,
        length=fibre.length,
        singular=singular,
        boundary=boundary,
        engine_version=current().version,
        seconds=running.seconds,
    )


def _is_singular(orbit: Orbit, length: int, model: LayerSizes) -> bool:
    """Return whether the functions of an orbit are singular points of the closure.

    ``length`` is that of the fibre over one of them.
    """
    if is_birational(model):
        # A function is singular if its fibre is not one reduced point, or if this point is
        # singular in the source, which it is for α < d and an A of rank below α.
        source_is_singular = model.alpha not in (model.d, orbit.r)
        return length > 1 or source_is_singular
    # For α = d' = 1 < d it is a vector times a symmetric matrix of rank ≤ 2, which has rank one
    # exactly if m = 1. Those of rank one are singular, unless all matrices have rank ≤ 2.
    return orbit.m == 1 and model.d > 2


def _have_function(weights: MatrixPair, function: Mapping[str, Fraction | int]) -> bool:
    """Return whether the weights have this function, given by its reduced coordinates.

    Coordinates that are zero may be left out.
    """
    values = {name: Rational(value) for name, value in function.items()}
    return function_of(*weights) == {name: value for name, value in values.items() if value}


def _membership_of_zero(
    model: LayerSizes, weights_of_zero: MatrixPair | None, remark: str
) -> Membership:
    """Return the result for the zero function, the apex of the cone, which is in the neuromanifold.

    Its weights are those with A = 0 or V = 0, since a product l_i v_k of forms vanishes only if a
    factor does. It is a limit of boundary points unless d = 1, and singular where the tangent
    dimension, the number of independent coordinates, exceeds the dimension of the closure. The
    result shows one pair of weights: ``weights_of_zero``, or A = V = 0 if these are ``None``.
    """
    weights = weights_of_zero
    if weights is None:
        weights = zeros(model.d, model.d), zeros(model.d_out, model.d)
    return Membership(
        model=model,
        place=INSIDE,
        orbit=None,
        weights=(weights,),
        length=None,
        singular=model.independent_count > dimension_bound(model),  # for t ≥ 2 the dimension
        boundary=model.d > 1,
        engine_version="",
        seconds=clock().seconds,
        remark=remark,
    )


ZERO_FIBRE = "A = 0 or V = 0"
"""The fibre over the zero function."""
ANSWERS = {True: "yes", False: "no", None: None}
"""The text of an answer in a table; a line whose text is ``None`` is left out of the table."""


def _fibre_text(result: Membership) -> str | None:
    """Return the fibre over a function in words; ``None`` if it is empty."""
    if result.is_zero:
        return f"all weights with {ZERO_FIBRE}: dimension {result.fibre_dimension}"
    if not result.weights:
        return None
    return f"length {result.length}, {plural(len(result.weights), 'point')}"


def _text_of_weights(A: Matrix, V: Matrix) -> str:
    """Return weights in words for a table, such as "A = (1 0; 0 0), V = (0 1)"."""
    return f"A = {matrix_text(entry_texts(A))}, V = {matrix_text(entry_texts(V))}"


def _latex_of_weights(result: Membership) -> list[str]:
    """Return each pair (A, V) of weights in LaTeX; for the zero function one formula for all."""
    with any_length():  # numbers in the texts may have any number of digits
        pairs = [f"A = {sympy_latex(A)},\\; V = {sympy_latex(V)}" for A, V in result.weights]
    if result.is_zero:
        return [rf"\{{(A, V) : A = 0 \text{{ or }} V = 0\}} \ni ({pairs[0]})"]
    return pairs
