"""Is a function in the neuromanifold, only in its Zariski closure, or outside? With its orbit and its weights."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sympy import Matrix, Rational, zeros
from sympy import latex as sympy_latex

from m2bridge.algebra.determinantal import matrices_of_rank
from m2bridge.algebra.field import QQ
from m2bridge.convert.notation import exact_text
from m2bridge.engine import Engine, engine_or_own
from m2bridge.engine.answer import Answer, answer_to
from m2bridge.engine.script import Script, render
from m2bridge.errors import ContradictionError, InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.fibres import matrix_program
from m2bridge.families.attention.function import Chart, fibre_points, function_of, orbit_of, quadratic_forms
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.shape import Shape, dimension_bound, is_birational, zero_tangent_dimension
from m2bridge.limits import clock, limited
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import Facts, Sheet, duration, plural
from m2bridge.system import any_length

INSIDE = "in the neuromanifold"
CLOSURE = "only in the Zariski closure"
OUTSIDE = "outside the Zariski closure"

Weights = tuple[Matrix, Matrix]


@dataclass(frozen=True, slots=True)
class Membership(Result):
    """Where a function lies.

    Parameters
    ----------
    model : Shape
    place : str
        One of ``in the neuromanifold``, ``only in the Zariski closure``, ``outside the Zariski closure``.
    orbit : Orbit or None
        ``None`` for the zero function and outside.
    weights : tuple of (A, V)
        All weights of the function up to rescaling, as SymPy matrices; complex where the function is only in the
        closure. For the zero function, which all (A, V) with A = 0 or V = 0 have, one pair: that given, if one was.
    length : int or None
        Length of the fibre scheme; 0 outside; ``None`` for the zero function, whose fibre is not finite.
    singular, boundary : bool or None
        Of the Zariski closure; ``None`` outside, and for ``singular`` where the parametrization is not birational.
    engine_version : str
        Empty for the zero function, about which Macaulay2 is not asked.
    seconds : float
    unfinished : str
        Always empty: a limit is an error here, since everything is known at the end only.
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

    model: Shape
    place: str
    orbit: Orbit | None
    weights: tuple[Weights, ...]
    length: int | None
    singular: bool | None
    boundary: bool | None
    engine_version: str
    seconds: float
    unfinished: str = ""
    remark: str = ""

    @property
    def is_zero(self) -> bool:
        """Whether it is the zero function."""
        return self.length is None

    @property
    def fibre_dimension(self) -> int | None:
        """Affine dimension of {rk A ≤ α, V = 0} ∪ {A = 0} for the zero function; else 0, up to rescaling, or ``None``.

        It is ``None`` where the fibre is empty.
        """
        if self.is_zero:
            d, alpha = self.model.d, self.model.alpha
            return max(matrices_of_rank(d, alpha), d * self.model.d_out)
        return 0 if self.weights else None

    @property
    def tangent_dimension(self) -> int | None:
        """Tangent dimension of the closure, at the zero function; ``None`` elsewhere."""
        return zero_tangent_dimension(self.model) if self.is_zero else None

    def to_sheet(self) -> Sheet:
        """Place, orbit, fibre, weights, and what kind of point it is."""
        named = ["one of them"] if self.is_zero else [f"weights {n}" for n in range(1, len(self.weights) + 1)]
        weights = [f"A = {_row(A)}, V = {_row(V)}" for A, V in self.weights]
        computed = f"Macaulay2 {self.engine_version}" if self.engine_version else "exact arithmetic"
        lines = [
            ("place", "the zero function, in the neuromanifold" if self.is_zero else self.place),
            ("orbit (rk A, rk V, dim L∩U)", self.orbit),
            ("fibre", _fibre(self)),
            *zip(named, weights, strict=True),
            ("singular point of the closure", NAMES[self.singular]),
            ("tangent dimension", self.tangent_dimension),
            ("boundary point", NAMES[self.boundary]),
            ("remark", self.remark or None),
            ("computed by", f"{computed}, {duration(self.seconds)}"),
        ]
        return Sheet(f"A function of lightning self-attention, {self.model}", [Facts(lines)], _formulas(self))

    def to_json(self) -> dict[str, Any]:
        """Place, orbit, fibre and weights; entries of weights are exact strings."""
        return result_json(self.model.to_json(), QQ, self.engine_version or None, self.seconds) | {
            "place": self.place,
            "orbit": None if self.orbit is None else self.orbit.to_json(),
            "fibre": ZERO_FIBRE if self.is_zero else None,
            "fibre_dimension": self.fibre_dimension,
            "fibre_length": self.length,
            "fibre_points": None if self.is_zero else len(self.weights),
            "weights": [{"A": _strings(A), "V": _strings(V)} for A, V in self.weights],
            "singular": self.singular,
            "tangent_dimension": self.tangent_dimension,
            "boundary": self.boundary,
            "remark": self.remark or None,
        }

    def to_macaulay2(self) -> str:
        """The orbit, as a Macaulay2 sequence."""
        return f"orbit = {self.orbit or 'null'}"


def membership(
    model: Shape,
    function: Mapping[str, Fraction | int],
    *,
    engine: Engine | None = None,
    timeout: float | None = None,
    weights: Weights | None = None,
) -> Membership:
    """Decide where a function lies, exactly.

    Parameters
    ----------
    function : mapping from coordinate name to rational number
        Reduced coordinates ``c_k_i_p_q``; those left out are zero.
    engine : Engine, optional
        A Macaulay2 of its own is started, and ended, where none is given.
    weights : (A, V), optional
        Weights of the function, where they are known; kept as witness where the function is zero. They are weights of
        the model only if rk A ≤ a; if not, a remark says so.

    Raises
    ------
    InvalidCaseError
        If a name is not a coordinate of the model, or the given weights do not have this function.
    MethodUnavailableError
        If t = 1.
    ContradictionError
        If the weights that were found do not give the function.

    Examples
    --------
    >>> function = {"c_1_1_1_1": 1, "c_1_1_2_2": 1}
    >>> membership(SingleLayerAttention(d=2, d_out=1), function).place
    'only in the Zariski closure'
    """
    if model.t == 1:
        raise MethodUnavailableError("membership is decided in reduced coordinates, which need t ≥ 2")
    with limited(timeout), engine_or_own(engine) as engine:
        return _membership(model, function, engine, weights)


def _membership(
    model: Shape, function: Mapping[str, Fraction | int], engine: Engine, weights: Weights | None
) -> Membership:
    chart = Chart.of(quadratic_forms(model, function))
    if weights is not None and not _give(weights, function):
        raise InvalidCaseError("weights", "these weights have another function")
    remark = "" if weights is None else _rank_remark(weights[0], model)
    if chart is None:
        return _zero(model, None if remark else weights, remark)
    result = _nonzero(model, function, chart, engine)
    return replace(result, remark=remark)


def _nonzero(model: Shape, function: Mapping[str, Fraction | int], chart: Chart, engine: Engine) -> Membership:
    running = clock()
    answer = answer_to(membership_script(model, chart), engine=engine)
    length = answer.integer("length")
    if length == 0:
        return Membership(model, OUTSIDE, None, (), 0, None, None, engine.version, running.seconds)
    points, real = fibre_points(answer.integer("points"), length, *_moments(answer))
    weights = tuple(chart.weights(point) for point in points)
    for A, V in weights:
        if not _give((A, V), function):
            raise ContradictionError(f"the weights A = {A}, V = {V} do not give the function")
    orbit = orbit_of(*weights[0])
    singular = length > 1 or model.alpha not in (model.d, orbit.r)
    return Membership(
        model,
        INSIDE if real else CLOSURE,
        orbit,
        weights,
        length,
        singular if is_birational(model) else None,
        length > len(points),
        engine.version,
        running.seconds,
    )


def _give(weights: Weights, function: Mapping[str, Fraction | int]) -> bool:
    return function_of(*weights) == {name: Rational(value) for name, value in function.items() if value}


def _rank_remark(A: Matrix, model: Shape) -> str:
    rank = A.rank()
    return f"the given weights do not belong to this model: rk A = {rank} > a = {model.a}" if rank > model.alpha else ""


def _zero(model: Shape, weights_of_zero: Weights | None, remark: str) -> Membership:
    """The zero function: the apex of the cone, where a product l_i v_k of forms vanishes only if a factor does.

    It is a limit of the boundary points unless d = 1, and singular where the tangent dimension exceeds the dimension.
    """
    weights = weights_of_zero or (zeros(model.d, model.d), zeros(model.d_out, model.d))
    singular = zero_tangent_dimension(model) > dimension_bound(model)
    return Membership(model, INSIDE, None, (weights,), None, singular, model.d > 1, "", clock().seconds, remark=remark)


def membership_script(model: Shape, chart: Chart) -> Script:
    """The Macaulay2 program for the fibre in the chart."""
    rows = (", ".join(matrix_program(_strings(form)) for form in row) for row in chart.forms)
    forms = "{" + ",\n    ".join("{" + row + "}" for row in rows) + "}"
    unknowns = ", ".join(f"z_{q}" for q in range(2, model.d + 1))
    values = {"title": str(model), "forms": forms, "unknowns": unknowns, "alpha": model.alpha}
    return render("membership", ("wire", "fibres"), values)


def _moments(answer: Answer) -> tuple[list[Rational], Matrix]:
    first, second = answer.values["moments"]
    return [Rational(m) for m in first], Matrix(len(first), len(first), lambda i, j: Rational(second[i][j]))


ZERO_FIBRE = "A = 0 or V = 0"
NAMES = {True: "yes", False: "no", None: None}


def _fibre(result: Membership) -> str | None:
    if result.is_zero:
        return f"all weights with {ZERO_FIBRE}: dimension {result.fibre_dimension}"
    return f"length {result.length}, {plural(len(result.weights), 'point')}" if result.weights else None


def _formulas(result: Membership) -> list[str]:
    """The weights."""
    with any_length():
        pairs = [f"A = {sympy_latex(A)},\\; V = {sympy_latex(V)}" for A, V in result.weights]
    if result.is_zero:
        return [rf"\{{(A, V) : A = 0 \text{{ or }} V = 0\}} \ni ({pairs[0]})"]
    return pairs


def _strings(matrix: Matrix) -> list[list[str]]:
    return [[exact_text(entry) for entry in matrix.row(i)] for i in range(matrix.rows)]


def _row(matrix: Matrix) -> str:
    return "(" + "; ".join(" ".join(row) for row in _strings(matrix)) + ")"
