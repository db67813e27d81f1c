"""Whether a function is in the neuromanifold, only in its closure, or outside; with its weights.

It is decided by the fibre over the function, whose points are its weights: exact, over QQ and
quadratic extensions, for t ≥ 2. A function in reduced coordinates is a matrix of quadratic forms
l_i v_k. In a :class:`Chart`, where A_11 = V_11 = 1 in all weights, Macaulay2 finds the fibre as a
scheme in the unknowns z_2, …, z_d, the first row (1, z_2, …, z_d) of V. Theorem 3.2 of the paper
allows at most two points, so the sums of z_p and of z_p z_q over all points determine them: two
are m ± √D u, with m, D and u rational. All weights that are found must give the function; a
ContradictionError says that they do not, or that there are more than two. (Notation: the docstring
of families/attention.)

The zero function has infinitely many weights, those with A = 0 or V = 0, and no chart: its orbit
and length are None. Outside of the closure the fibre is empty, and orbit, singular and boundary are
None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import isqrt
from typing import Any, NamedTuple

from sympy import Expr, Float, Matrix, Rational, eye, latex as sympy_latex, sqrt, zeros
from sympy.polys.matrices import DomainMatrix

from m2bridge.algebra.determinantal import matrices_of_rank
from m2bridge.algebra.field import QQ
from m2bridge.convert.answers import answer_to
from m2bridge.convert.printing import polynomial_text
from m2bridge.engine import current
from m2bridge.engine.script import Script, render
from m2bridge.errors import (
    ContradictionError,
    InvalidCaseError,
    MethodUnavailableError,
    class_with_article,
)
from m2bridge.families.attention.orbits.coordinates import (
    check_coordinates,
    images,
    indices,
    reduced_name,
)
from m2bridge.families.attention.orbits.fibres import matrix_program
from m2bridge.families.attention.orbits.orbits import Orbit
from m2bridge.families.attention.orbits.tangents import source_is_smooth
from m2bridge.families.attention.sizes import LayerSizes, dimension_bound, is_birational
from m2bridge.limits import check_deadline_in, clock
from m2bridge.results.base import Proof, Result, result_json
from m2bridge.results.sheet import Facts, Sheet, duration, in_brackets, m2_list, matrix_text, plural
from m2bridge.system import any_length

Forms = list[list[Matrix]]
"""``forms[k][i]`` is the symmetric matrix l_i v_kᵀ + v_k l_iᵀ of the quadratic form l_i v_k."""


def quadratic_forms(shape: LayerSizes, function: Mapping[str, Fraction | int]) -> Forms:
    """Return the forms l_i v_k of a function, from its reduced coordinates by name; zeros may miss.

    Unknown names and floats are refused, and cases with too many coordinates.
    """
    check_coordinates(shape, "reduced")
    if not isinstance(function, Mapping):
        message = 'must be a dictionary from coordinates to numbers, such as {"c_1_1_1_1": 1}'
        raise InvalidCaseError("function", f"{message}, not {class_with_article(type(function))}")
    d = shape.d
    forms = [[Matrix.zeros(d, d) for _ in range(d)] for _ in check_deadline_in(range(shape.d_out))]
    places = {reduced_name(index): index for index in check_deadline_in(indices(shape))}
    for name, value in check_deadline_in(function.items()):
        if name not in places:
            raise InvalidCaseError(
                "function", f"'{name!s:.60}' is not a coordinate: they are c_k_i_p_q with p ≤ q"
            )
        if isinstance(value, float | Float):
            raise InvalidCaseError(
                "function", f"{value} is not exact: write Fraction('{value}') for '{name}'"
            )
        number = Rational(value)  # of an int, a Fraction or a Rational
        k, i, p, q = places[name]
        # For p = q both lines add to one entry: the second derivative of c y_p² is 2c.
        forms[k][i][p, q] += number
        forms[k][i][q, p] += number
    return forms


@dataclass(frozen=True, slots=True)
class Chart:
    """The coordinates in which the fibre over a nonzero function has A_11 = V_11 = 1 everywhere.

    Some form l_i v_k is not zero. Outputs, columns of A and variables are changed so that this form
    becomes l_1 v_1 and has the value 1 at the first unit vector e_1. Then l_1(e_1) = A_11 and
    v_1(e_1) = V_11 are nonzero in all weights of the function, and can be scaled to 1.
    """

    k: int  # output k is exchanged with output 0
    i: int  # column i of A is exchanged with column 0
    basis: Matrix  # the new variables y' are given by y = basis·y'
    scale: Rational  # the function is divided by it
    forms: Forms  # after these changes

    @classmethod
    def of(cls, forms: Forms) -> Chart | None:
        """Return the first chart that contains the fibre; ``None`` for the zero function."""
        for k, row in enumerate(forms):
            for i, form in enumerate(row):
                if form.is_zero_matrix:
                    continue
                basis = _basis_with_nonzero_value(form)
                # the matrix of second derivatives gives twice the value of the form
                scale = (basis[:, 0].T * form * basis[:, 0])[0, 0] / 2
                changed_forms = []
                for other_row in _exchange_with_first(forms, k):
                    exchanged = check_deadline_in(_exchange_with_first(other_row, i))
                    changed_forms.append([basis.T * other * basis / scale for other in exchanged])
                return cls(k=k, i=i, basis=basis, scale=scale, forms=changed_forms)
        return None

    def weights(self, z: Sequence[Expr]) -> tuple[Matrix, Matrix]:
        """Return the weights (A, V) at a point (z_2, …, z_d), in the original coordinates."""
        # Where v(e_1) = 1, the first row of the symmetric matrix l vᵀ + v lᵀ of the form l v is
        # l + l(e_1) v, and its first entry is 2 l(e_1). So v_1 determines all l_i, by the forms
        # l_i v_1; and l_1, which is 1 at e_1 too, determines all v_k, by the forms l_1 v_k.
        v_1 = Matrix([Rational(1), *z])
        columns_of_A = [form[0, :].T - form[0, 0] / 2 * v_1 for form in self.forms[0]]
        l_1 = columns_of_A[0]
        rows_of_V = [row[0][0, :].T - row[0][0, 0] / 2 * l_1 for row in self.forms]
        # the exchanges of columns and outputs are undone
        columns_of_A = _exchange_with_first(columns_of_A, self.i)
        rows_of_V = _exchange_with_first(rows_of_V, self.k)
        # A linear form with the coefficients l' in y' has basis⁻ᵀ l' in y.
        to_old_variables = self.basis.T.inv()
        A = to_old_variables * Matrix.hstack(*columns_of_A)
        # The function was divided by the scale: V is multiplied by it.
        V = (self.scale * to_old_variables * Matrix.hstack(*rows_of_V)).T
        return A.expand(), V.expand()  # so that zeros are seen


def _exchange_with_first(items: Sequence, position: int) -> list:  # type: ignore[type-arg]
    """Return the items as a list, with the first one and the one at ``position`` exchanged."""
    listed = list(items)
    listed[0], listed[position] = listed[position], listed[0]
    return listed


def _basis_with_nonzero_value(form: Matrix) -> Matrix:
    """Return an invertible matrix whose first column is a vector where a form does not vanish."""
    d = form.rows
    # e_p if some form[p, p] is not zero; else e_p + e_q, where the form has the value form[p, q]
    diagonal_first = [(p, p) for p in range(d)] + list(combinations(range(d), 2))
    p, q = next(place for place in diagonal_first if form[place])  # of the first nonzero entry
    basis = eye(d)
    # column p becomes e_p + e_q; for p = q it stays e_p
    basis[q, p] = Rational(1)
    basis.col_swap(0, p)
    return basis


class FibreInChart(NamedTuple):
    """The fibre over a function that is not zero, in a chart; its length is 0 if it is empty."""

    length: int
    points: tuple[tuple[Expr, ...], ...]  # the geometric points (z_2, …, z_d)
    are_real: bool  # two points that are not real are complex conjugates


def membership_script(model: LayerSizes, chart: Chart) -> Script:
    """Return the Macaulay2 program for the fibre in the chart.

    The answers are "length" and the number "points" and, if there are any, their "moments": the
    sums of z_p, and of z_p z_q, with multiplicities.
    """
    rows = [m2_list(matrix_program(entry_texts(form)) for form in row) for row in chart.forms]
    forms = "{" + ",\n    ".join(rows) + "}"
    unknowns = ", ".join(f"z_{q}" for q in range(2, model.d + 1))
    values = {"title": str(model), "forms": forms, "unknowns": unknowns, "alpha": model.alpha}
    return render("membership", libraries=("wire", "fibres"), values=values)


def fibre_in_chart(model: LayerSizes, chart: Chart) -> FibreInChart:
    """Return the fibre over the function of a chart, which Macaulay2 computes."""
    answer = answer_to(membership_script(model, chart))
    length = answer.integer("length")
    if length == 0:
        return FibreInChart(length=0, points=(), are_real=True)
    point_count = answer.integer("points")
    # sums over the points with multiplicities; Macaulay2 sends rational numbers as texts
    first_moments, second_moments = answer.values["moments"]
    mean = [Rational(moment) / length for moment in first_moments]
    if point_count == 1:
        # a single point is invariant under complex conjugation
        return FibreInChart(length, points=(tuple(mean),), are_real=True)
    if (point_count, length) != (2, 2):
        raise ContradictionError(
            f"a fibre of length {length} with {point_count} points, against Theorem 3.2"
        )
    # Two points m ± √D u have the second moments 2 (m mᵀ + D u uᵀ); this is the matrix D u uᵀ.
    second = Matrix([list(map(Rational, row)) for row in second_moments])
    spread = second / 2 - Matrix(mean) * Matrix(mean).T
    # It has rank one. Any nonzero entry D u_q² of its diagonal determines √D u up to sign: as
    # column q, D u_q u, divided by √(D u_q²).
    q = next(q for q in range(len(mean)) if spread[q, q])
    offset = spread[:, q] / spread[q, q] * _square_root(spread[q, q])  # √D u or −√D u
    plus = tuple(m + o for m, o in zip(mean, offset, strict=True))
    minus = tuple(m - o for m, o in zip(mean, offset, strict=True))
    return FibreInChart(length, points=(plus, minus), are_real=bool(spread[q, q] > 0))


def _square_root(value: Rational) -> Expr:
    """Return √value; MethodUnavailableError if it is irrational and its numbers are too long."""
    # the number of bits of the longest of numerator and denominator that is not a square
    longest = 0
    for part in (value.p, value.q):
        number = abs(int(part))
        # if the root is irrational SymPy looks for factors: minutes for thousands of digits
        if isqrt(number) ** 2 != number:
            longest = max(longest, number.bit_length())
    if longest > 5000:
        # a decimal digit has about 10/3 bits
        digits = longest * 3 // 10
        message = (
            f"the weights hold the square root of a number of {digits} digits: use a function with"
            " shorter ones"
        )
        raise MethodUnavailableError(message)
    return sqrt(value)


def entry_texts(matrix: Matrix) -> list[list[str]]:
    """Return the entries of an exact matrix as texts, row by row."""
    return [[polynomial_text(entry) for entry in matrix.row(i)] for i in range(matrix.rows)]


def function_of(A: Matrix, V: Matrix) -> dict[str, Expr]:
    """Return the nonzero reduced coordinates, by name, of the function of exact weights."""
    images_by_name = images(LayerSizes(A.cols, V.rows), A.tolist(), V.tolist(), "reduced")
    function = {}
    for name, image in check_deadline_in(images_by_name.items()):
        # With square roots a zero is seen after expansion only.
        value = image.expand()
        if value != 0:
            function[name] = value
    return function


def orbit_of(A: Matrix, V: Matrix) -> Orbit:
    """Return the orbit of the function of weights with algebraic entries."""
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

ZERO_FIBRE = "A = 0 or V = 0"
"""The fibre over the zero function."""
ANSWERS = {True: "yes", False: "no", None: None}
"""The text of an answer in a table; a line whose text is ``None`` is left out of the table."""

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

    def proof(self) -> Proof:
        """Return that the place is proved: the fibre over the function is exact."""
        reason = "the fibre of the parametrization over the function, in exact arithmetic"
        if self.is_zero:
            reason = "the zero function has the weights A = 0 or V = 0, and no others"
        return Proof(True, reason)

    def __repr__(self) -> str:
        return in_brackets(self, "model", "place", "orbit", "length")

    def to_sheet(self) -> Sheet:
        """Return a table: place, orbit, fibre, weights, and whether the point is singular."""
        place, fibre = self.place, None
        names = [f"weights {n}" for n in range(1, len(self.weights) + 1)]
        if self.is_zero:
            place = f"the zero function, {place}"
            names = ["one of them"]
            fibre = f"all weights with {ZERO_FIBRE}: dimension {self.fibre_dimension}"
        elif self.weights:
            fibre = f"length {self.length}, {plural(len(self.weights), 'point')}"
        weights = []  # such as "A = (1 0; 0 0), V = (0 1)"
        for A, V in self.weights:
            weights.append(f"A = {matrix_text(entry_texts(A))}, V = {matrix_text(entry_texts(V))}")
        program = "exact arithmetic"
        if self.engine_version:
            program = f"Macaulay2 {self.engine_version}"
        lines = [
            ("place", place),
            ("orbit (rk A, rk V, dim L∩U)", self.orbit),
            ("fibre", fibre),
            *zip(names, weights, strict=True),
            ("singular point of the closure", ANSWERS[self.singular]),
            ("tangent dimension", self.tangent_dimension),
            ("boundary point", ANSWERS[self.boundary]),
            ("remark", self.remark or None),  # as everywhere, a line with None is left out
            ("computed by", f"{program}, {duration(self.seconds)}"),
        ]
        with any_length():  # numbers in the texts may have any number of digits
            formulas = [f"A = {sympy_latex(A)},\\; V = {sympy_latex(V)}" for A, V in self.weights]
        if self.is_zero:  # one formula for all weights
            formulas = [rf"\{{(A, V) : A = 0 \text{{ or }} V = 0\}} \ni ({formulas[0]})"]
        title = f"A function of lightning self-attention, {self.model}"
        return Sheet(title, [Facts(lines)], formulas)

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
            **self.proof()._asdict(),
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
    """Return where a function in reduced coordinates lies, and its weights.

    Exact ``weights`` of the function, which is checked, are the witness if it is zero. ``remark``
    says in the result how the function or its weights were read.
    """
    running = clock()
    chart = Chart.of(quadratic_forms(model, function))
    if weights is not None and not _have_function(weights, function):
        raise InvalidCaseError("weights", "must be weights of the given function")
    if chart is None:
        # The zero function is the apex of the cone. Its weights have A = 0 or V = 0, since a
        # product l_i v_k vanishes only if a factor does. One pair is shown, A = V = 0 if none is
        # given whose A has a rank that the model allows.
        if weights is None or weights[0].rank() > model.alpha:
            weights = zeros(model.d, model.d), zeros(model.d_out, model.d)
        return Membership(
            model=model,
            place=INSIDE,
            orbit=None,
            weights=(weights,),
            length=None,
            # the tangent dimension exceeds the dimension, which for t ≥ 2 is this bound
            singular=model.independent_count > dimension_bound(model),
            boundary=model.d > 1,  # a limit of boundary points
            engine_version="",
            seconds=running.seconds,
            remark=remark,
        )
    fibre = fibre_in_chart(model, chart)
    preimages = tuple(chart.weights(point) for point in fibre.points)
    for A, V in preimages:
        if not _have_function((A, V), function):
            raise ContradictionError(f"the weights A = {A}, V = {V} do not give the function")
    # outside of the closure the fibre is empty; a boundary point has a multiple point in its fibre
    place, orbit = OUTSIDE, None
    singular = boundary = None
    if preimages:
        place = INSIDE if fibre.are_real else CLOSURE
        orbit = orbit_of(*preimages[0])
        singular = _is_singular(orbit, fibre.length, model)
        boundary = fibre.length > len(fibre.points)
    return Membership(
        model=model,
        place=place,
        orbit=orbit,
        weights=preimages,
        length=fibre.length,
        singular=singular,
        boundary=boundary,
        engine_version=current().version,
        seconds=running.seconds,
        remark=remark,
    )


def _is_singular(orbit: Orbit, length: int, model: LayerSizes) -> bool:
    """Return whether functions of an orbit, with fibres of this length, are singular points."""
    if is_birational(model):
        # a function is singular if its fibre is not one reduced point at which the source is smooth
        return length > 1 or not source_is_smooth(orbit, model)
    # For α = d' = 1 < d it is a vector times a symmetric matrix of rank ≤ 2, which has rank one
    # exactly if m = 1. Those of rank one are singular, unless all matrices have rank ≤ 2.
    return orbit.m == 1 and model.d > 2


def _have_function(weights: MatrixPair, function: Mapping[str, Fraction | int]) -> bool:
    """Return whether the weights have this function."""
    values = {name: Rational(value) for name, value in function.items()}
    return function_of(*weights) == {name: value for name, value in values.items() if value}
