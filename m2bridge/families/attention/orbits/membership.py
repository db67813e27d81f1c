"""Whether a function is in the neuromanifold, only in its closure, or outside; with its weights.

A function in reduced coordinates is a matrix of quadratic forms l_i v_k; a chart contains its
fibre, whose points are weights. Theorem 3.2 of the paper allows at most two. Exact over QQ and real
or imaginary quadratic extensions, for t ≥ 2; Macaulay2 computes the fibre.

Notation. Weights are a d×d matrix A of rank ≤ α = min(a, d) and a d'×d matrix V; l_i = Σ_p A_pi y_p
and v_k = Σ_q V_kq y_q. The coordinate ``c_k_i_p_q`` is the coefficient of y_p y_q in l_i v_k. The
fibre is the scheme of the weights of a function up to (λA, V/λ); its length counts multiplicities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import isqrt
from typing import Any

from sympy import Expr, Matrix, Rational, eye, latex as sympy_latex, sqrt, zeros
from sympy.polys.matrices import DomainMatrix

from m2bridge.algebra.determinantal import matrices_of_rank
from m2bridge.algebra.field import QQ
from m2bridge.convert.answers import answer_to
from m2bridge.convert.printing import polynomial_text
from m2bridge.engine import current
from m2bridge.engine.script import Script, render
from m2bridge.errors import ContradictionError, InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.orbits.fibres import matrix_program
from m2bridge.families.attention.orbits.orbits import Orbit
from m2bridge.families.attention.orbits.parametrization import (
    check_coordinates,
    images,
    indices,
    reduced_name,
)
from m2bridge.families.attention.sizes import LayerSizes, dimension_bound, is_birational
from m2bridge.limits import check_deadline_in, clock
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import Facts, Sheet, duration, matrix_text, plural
from m2bridge.system import any_length

MAX_ROOT_BITS = 5000
"""The largest number of bits of numerator and denominator under an irrational square root."""

Forms = list[list[Matrix]]
"""``forms[k][i]`` is the symmetric matrix l_i v_kᵀ + v_k l_iᵀ of the quadratic form l_i v_k."""


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


def quadratic_forms(shape: LayerSizes, function: Mapping[str, Fraction | int]) -> Forms:
    """Return the quadratic forms l_i v_k of a function, from its reduced coordinates by name.

    Coordinates that are left out are zero. The form of k and i is ``forms[k][i]``, as the symmetric
    matrix of its second derivatives.

    Raises
    ------
    InvalidCaseError
        If a name is not a reduced coordinate of the model, or a number is a float.
    TooLargeError
        If there are too many coordinates to be stored.
    """
    check_coordinates(shape, "reduced")
    if not isinstance(function, Mapping):
        message = 'must be a dictionary from coordinates to numbers, such as {"c_1_1_1_1": 1}'
        raise InvalidCaseError("function", f"{message}, not a {type(function).__name__}")
    d = shape.d
    forms = [[Matrix.zeros(d, d) for _ in range(d)] for _ in check_deadline_in(range(shape.d_out))]
    places = {reduced_name(index): index for index in check_deadline_in(indices(shape))}
    for key, value in check_deadline_in(function.items()):
        if key not in places:
            raise InvalidCaseError(
                "function", f"'{key!s:.60}' is not a coordinate: they are c_k_i_p_q with p ≤ q"
            )
        if isinstance(value, float):
            raise InvalidCaseError(
                "function", f"{value} is not exact: write Fraction('{value}') for '{key}'"
            )
        number = Rational(value)
        k, i, p, q = places[key]
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

    Parameters
    ----------
    k, i : int
        Position ``forms[k][i]`` of a form that is not zero; output k is exchanged with output 0,
        and column i with column 0.
    basis : Matrix
        Invertible d×d; its first column is a vector at which this form is not zero. The new
        variables y' are given by y = basis·y'.
    scale : Rational
        The value of this form at that vector; the function is divided by it.
    forms : Forms
        All forms after these changes.
    """

    k: int
    i: int
    basis: Matrix
    scale: Rational
    forms: Forms

    @classmethod
    def of(cls, forms: Forms) -> Chart | None:
        """Return the first chart that contains the fibre; ``None`` for the zero function."""
        for k, row in enumerate(forms):
            for i, form in enumerate(row):
                if not form.is_zero_matrix:
                    return cls._at_nonzero_form(forms, k, i)
        return None

    @classmethod
    def _at_nonzero_form(cls, forms: Forms, k: int, i: int) -> Chart:
        """Return the chart where ``forms[k][i]``, which is not zero, becomes the form l_1 v_1."""
        form = forms[k][i]
        basis = _basis_with_nonzero_value(form)
        # the matrix of second derivatives gives twice the value of the form
        scale = (basis[:, 0].T * form * basis[:, 0])[0, 0] / 2
        changed_forms = []
        for row in _exchange_with_first(forms, k):
            exchanged_row = check_deadline_in(_exchange_with_first(row, i))
            changed_forms.append([basis.T * other * basis / scale for other in exchanged_row])
        return cls(k=k, i=i, basis=basis, scale=scale, forms=changed_forms)

    def weights(self, z: Sequence[Expr]) -> tuple[Matrix, Matrix]:
        """Return the weights (A, V) at a point of the fibre, in the original coordinates.

        ``z`` has the coordinates z_2, …, z_d of the point: the entries of v_1 = (1, z_2, …, z_d).
        """
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
    """Return the items as a list, where the first one and the one at ``position`` are exchanged."""
    listed = list(items)
    listed[0], listed[position] = listed[position], listed[0]
    return listed


def _basis_with_nonzero_value(form: Matrix) -> Matrix:
    """Return an invertible matrix whose first column is a vector where a form does not vanish.

    The form is a symmetric matrix that is not zero. The vector is e_p if some diagonal entry
    form[p, p] is not zero; else it is e_p + e_q, where the form has the value form[p, q].
    """
    d = form.rows
    diagonal_first = [(p, p) for p in range(d)] + list(combinations(range(d), 2))
    p, q = next(place for place in diagonal_first if form[place])  # of the first nonzero entry
    basis = eye(d)
    # column p becomes e_p + e_q; for p = q it stays e_p
    basis[q, p] = Rational(1)
    basis.col_swap(0, p)
    return basis


def points_by_moments(
    point_count: int, length: int, first_moments: Sequence[Rational], second_moments: Matrix
) -> tuple[tuple[tuple[Expr, ...], ...], bool]:
    """Return the points of a fibre with one or two geometric points, and whether they are real.

    A point is a tuple (z_2, …, z_d).

    Parameters
    ----------
    point_count, length : int
        The number of geometric points, and the length of the scheme.
    first_moments : sequence of Rational
        The sums Σ z_p over the points z with multiplicity, for p = 2, …, d.
    second_moments : Matrix
        The sums Σ z_p z_q over the points with multiplicity. Two points are z = m ± √D u, with
        their mean m, a rational number D and a rational vector u; so Σ z zᵀ = 2 (m mᵀ + D u uᵀ).

    Raises
    ------
    ContradictionError
        If there are more points than Theorem 3.2 allows.
    MethodUnavailableError
        If the points are irrational and their numbers too long.
    """
    mean = [moment / length for moment in first_moments]
    if point_count == 1:
        # a single point is invariant under complex conjugation
        return (tuple(mean),), True
    if (point_count, length) != (2, 2):
        raise ContradictionError(
            f"a fibre of length {length} with {point_count} points, against Theorem 3.2"
        )
    # the matrix D u uᵀ
    spread = second_moments / 2 - Matrix(mean) * Matrix(mean).T
    # It has rank one. Any nonzero entry D u_q² of its diagonal determines √D u up to sign: as
    # column q, D u_q u, divided by √(D u_q²).
    q = next(q for q in range(len(mean)) if spread[q, q])
    offset = spread[:, q] / spread[q, q] * _square_root(spread[q, q])  # √D u or −√D u
    plus = tuple(m + o for m, o in zip(mean, offset, strict=True))
    minus = tuple(m - o for m, o in zip(mean, offset, strict=True))
    are_real = bool(spread[q, q] > 0)
    return (plus, minus), are_real


def _square_root(value: Rational) -> Expr:
    """Return √value.

    Raises
    ------
    MethodUnavailableError
        If numerator or denominator has more than :data:`MAX_ROOT_BITS` bits and is no square.
    """
    # the number of bits of the longest of numerator and denominator that is not a square
    longest = 0
    for part in (value.p, value.q):
        number = abs(int(part))
        # if the root is irrational SymPy looks for factors: minutes for thousands of digits
        if isqrt(number) ** 2 != number:
            longest = max(longest, number.bit_length())
    if longest > MAX_ROOT_BITS:
        # a decimal digit has about 10/3 bits
        digits = longest * 3 // 10
        message = (
            f"the weights hold the square root of a number of {digits} digits: use a function with"
            " shorter ones"
        )
        raise MethodUnavailableError(message)
    return sqrt(value)


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
        one pair: that given, if its A has rank ≤ α; else A = V = 0.
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
        weights = []
        for A, V in self.weights:
            weights.append(
                f"A = {matrix_text(_entry_texts(A))}, V = {matrix_text(_entry_texts(V))}"
            )
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
            "weights": [{"A": _entry_texts(A), "V": _entry_texts(V)} for A, V in self.weights],
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
    """Decide where a function lies, exactly.

    Parameters
    ----------
    function : mapping from coordinate name to rational number
        Reduced coordinates ``c_k_i_p_q``; those left out are zero.
    weights : pair of Matrix, optional
        A and V with exact entries, weights of the function: the witness where it is zero.
    remark : str, optional
        The remark of the result about these weights.

    Raises
    ------
    InvalidCaseError
        As :func:`quadratic_forms` does, or if the weights do not have this function.
    ContradictionError
        If the weights that were found do not give the function.
    """
    check_coordinates(model, "reduced")
    chart = Chart.of(quadratic_forms(model, function))
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
    """
    running = clock()
    answer = answer_to(membership_script(model, chart))
    length = answer.integer("length")
    if length == 0:
        return Membership(
            model=model,
            place=OUTSIDE,
            orbit=None,
            weights=(),
            length=0,
            singular=None,
            boundary=None,
            engine_version=current().version,
            seconds=running.seconds,
        )
    # Macaulay2 sends rational numbers as texts.
    first_moments, second_moments = answer.values["moments"]
    points, are_real = points_by_moments(
        answer.integer("points"),
        length,
        first_moments=list(map(Rational, first_moments)),
        second_moments=Matrix([list(map(Rational, row)) for row in second_moments]),
    )
    weights = tuple(chart.weights(point) for point in points)
    for A, V in weights:
        if not _have_function((A, V), function):
            raise ContradictionError(f"the weights A = {A}, V = {V} do not give the function")
    orbit = orbit_of(*weights[0])
    if is_birational(model):
        # A function is singular if its fibre is not one reduced point, or if this point is
        # singular in the source, which it is for α < d and an A of rank below α.
        source_is_singular = model.alpha not in (model.d, orbit.r)
        singular = length > 1 or source_is_singular
    else:
        # For α = d' = 1 < d it is a vector times a symmetric matrix of rank ≤ 2, which has rank one
        # exactly if m = 1. Those of rank one are singular, unless all matrices have rank ≤ 2.
        singular = orbit.m == 1 and model.d > 2
    return Membership(
        model=model,
        place=INSIDE if are_real else CLOSURE,
        orbit=orbit,
        weights=weights,
        length=length,
        singular=singular,
        boundary=length > len(points),
        engine_version=current().version,
        seconds=running.seconds,
    )


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
        singular=model.independent_count > dimension_bound(model),
        boundary=model.d > 1,
        engine_version="",
        seconds=clock().seconds,
        remark=remark,
    )


def membership_script(model: LayerSizes, chart: Chart) -> Script:
    """Return the Macaulay2 program for the fibre in the chart, in z_2, …, z_d as unknowns.

    The first row of V is (1, z_2, …, z_d). The answers are "length" and the number "points" and, if
    there are any, their "moments": the sums of z_p, and of z_p z_q, with multiplicities.
    """
    rows = []
    for row in chart.forms:
        forms_of_row = ", ".join(matrix_program(_entry_texts(form)) for form in row)
        rows.append("{" + forms_of_row + "}")
    forms = "{" + ",\n    ".join(rows) + "}"
    unknowns = ", ".join(f"z_{q}" for q in range(2, model.d + 1))
    values = {"title": str(model), "forms": forms, "unknowns": unknowns, "alpha": model.alpha}
    return render("membership", libraries=("wire", "fibres"), values=values)


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


def _latex_of_weights(result: Membership) -> list[str]:
    """Return each pair (A, V) of weights in LaTeX; for the zero function one formula for all."""
    with any_length():  # numbers in the texts may have any number of digits
        pairs = [f"A = {sympy_latex(A)},\\; V = {sympy_latex(V)}" for A, V in result.weights]
    if result.is_zero:
        return [rf"\{{(A, V) : A = 0 \text{{ or }} V = 0\}} \ni ({pairs[0]})"]
    return pairs


def _entry_texts(matrix: Matrix) -> list[list[str]]:
    """Return the entries of an exact matrix as texts, row by row."""
    return [[polynomial_text(entry) for entry in matrix.row(i)] for i in range(matrix.rows)]
