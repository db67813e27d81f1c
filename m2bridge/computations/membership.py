"""Is a function in the neuromanifold, only in its Zariski closure, or outside? With its orbit and its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy import Matrix, Rational, latex, zeros

from m2bridge.computations.subject import Clock, case_json, result_json
from m2bridge.digits import any_length
from m2bridge.engine import Engine
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.geometry.function import Chart, fibre_points, function_of, orbit_of, quadratic_forms
from m2bridge.layout import duration, facts, plural
from m2bridge.model.attention import SingleLayerAttention
from m2bridge.model.field import QQ
from m2bridge.model.orbit import Orbit
from m2bridge.notation import exact_text
from m2bridge.parse import Answer, parse
from m2bridge.render import Script, render

INSIDE = "in the neuromanifold"
CLOSURE = "only in the Zariski closure"
OUTSIDE = "outside the Zariski closure"

Weights = tuple[Matrix, Matrix]


@dataclass(frozen=True, slots=True)
class Membership:
    """Where a function lies.

    Parameters
    ----------
    model : SingleLayerAttention
    place : str
        One of ``in the neuromanifold``, ``only in the Zariski closure``, ``outside the Zariski closure``.
    orbit : Orbit or None
        ``None`` for the zero function and outside.
    weights : tuple of (A, V)
        All weights of the function up to rescaling, as SymPy matrices; complex where the function is only in the
        closure.
    length : int
        Length of the fibre scheme; 0 outside.
    singular, boundary : bool or None
        Of the Zariski closure; ``None`` outside, and for ``singular`` where the parametrization is not birational.
    engine_version : str
    seconds : float
    unfinished : str
        Always empty: a limit is an error here, since nothing is known before the end.
    """

    model: SingleLayerAttention
    place: str
    orbit: Orbit | None
    weights: tuple[Weights, ...]
    length: int
    singular: bool | None
    boundary: bool | None
    engine_version: str
    seconds: float
    unfinished: str = ""

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``; entries of weights are exact strings."""
        orbit = None if self.orbit is None else {"r": self.orbit.r, "s": self.orbit.s, "m": self.orbit.m}
        return result_json(case_json(self.model), QQ, self.engine_version, self.seconds) | {
            "place": self.place,
            "orbit": orbit,
            "fibre_length": self.length,
            "fibre_points": len(self.weights),
            "weights": [{"A": _strings(A), "V": _strings(V)} for A, V in self.weights],
            "singular": self.singular,
            "boundary": self.boundary,
        }

    def to_text(self) -> str:
        """For a person at a terminal."""
        said = {True: "yes", False: "no", None: None}
        weights = [(f"weights {n}", f"A = {_row(A)}, V = {_row(V)}") for n, (A, V) in enumerate(self.weights, 1)]
        lines = [
            ("place", self.place),
            ("orbit (rk A, rk V, dim L∩U)", self.orbit),
            ("fibre", f"length {self.length}, {plural(len(self.weights), 'point')}" if self.orbit else None),
            *weights,
            ("singular point of the closure", said[self.singular]),
            ("boundary point", said[self.boundary]),
            ("computed by", f"Macaulay2 {self.engine_version}, {duration(self.seconds)}"),
        ]
        return f"A function of lightning self-attention, {self.model}\n{facts(lines)}"

    def to_latex(self) -> str:
        """The weights."""
        with any_length():
            written = [f"A = {latex(A)},\\; V = {latex(V)}" for A, V in self.weights]
        return r",\quad ".join(written) or rf"\text{{{self.place}}}"

    def to_macaulay2(self) -> str:
        """The orbit, as a Macaulay2 sequence."""
        return f"orbit = {self.orbit or 'null'}"

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"


def membership(
    model: SingleLayerAttention, function: Mapping[str, Fraction | int], engine: Engine, timeout: float | None = None
) -> Membership:
    """Decide where a function lies, exactly.

    Parameters
    ----------
    function : mapping from coordinate name to rational number
        Reduced coordinates ``c_k_i_p_q``; those left out are zero.

    Raises
    ------
    InvalidCaseError
        If a name is not a coordinate of the model.
    MethodUnavailableError
        If t = 1.
    ContradictionError
        If the weights that were found do not give the function.
    """
    if model.t == 1:
        raise MethodUnavailableError("membership is decided in reduced coordinates, which need t ≥ 2")
    clock = Clock(timeout)
    chart = Chart.of(quadratic_forms(model, function))
    if chart is None:
        return _zero(model, engine, clock)
    answer = parse(engine.run(membership_script(model, chart), clock.remaining).records)
    length = answer.integer("length")
    if length == 0:
        return Membership(model, OUTSIDE, None, (), 0, None, None, engine.version, clock.seconds)
    points, real = fibre_points(answer.integer("points"), length, *_moments(answer))
    weights = tuple(chart.weights(point) for point in points)
    for A, V in weights:
        if function_of(A, V) != {name: Rational(value) for name, value in function.items() if value}:
            raise ContradictionError(f"the weights A = {A}, V = {V} do not give the function")
    orbit = orbit_of(*weights[0])
    singular = length > 1 or model.alpha not in (model.d, orbit.r)
    birational = model.d == 1 or model.alpha > 1 or model.d_out > 1
    return Membership(
        model,
        INSIDE if real else CLOSURE,
        orbit,
        weights,
        length,
        singular if birational else None,
        length > len(points),
        engine.version,
        clock.seconds,
    )


def _zero(model: SingleLayerAttention, engine: Engine, clock: Clock) -> Membership:
    """The zero function: the apex of the cone; a limit of the boundary points, and singular, unless d = 1."""
    weights = (zeros(model.d, model.d), zeros(model.d_out, model.d))
    return Membership(model, INSIDE, None, (weights,), 0, model.d > 1, model.d > 1, engine.version, clock.seconds)


def membership_script(model: SingleLayerAttention, chart: Chart) -> Script:
    """The Macaulay2 program for the fibre in the chart."""
    forms = "{" + ",\n    ".join("{" + ", ".join(map(_matrix, row)) + "}" for row in chart.forms) + "}"
    unknowns = ", ".join(f"z_{q}" for q in range(2, model.d + 1))
    values = {"title": str(model), "forms": forms, "unknowns": unknowns, "alpha": model.alpha}
    return render("membership", ("wire", "fibres"), values)


def _matrix(form: Matrix) -> str:
    rows = ("{" + ", ".join(map(exact_text, form.row(i))) + "}" for i in range(form.rows))
    return "matrix(QQ, {" + ", ".join(rows) + "})"


def _moments(answer: Answer) -> tuple[list[Rational], Matrix]:
    first, second = answer.values["moments"]
    return [Rational(m) for m in first], Matrix(len(first), len(first), lambda i, j: Rational(second[i][j]))


def _strings(matrix: Matrix) -> list[list[str]]:
    return [[exact_text(entry) for entry in matrix.row(i)] for i in range(matrix.rows)]


def _row(matrix: Matrix) -> str:
    return "(" + "; ".join(" ".join(row) for row in _strings(matrix)) + ")"
