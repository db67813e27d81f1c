"""The fibre over a function that is given by its coordinates, by Macaulay2 in a chart.

A function in reduced coordinates is a matrix of quadratic forms l_i v_k; a chart contains its
fibre, whose points are weights. Theorem 3.2 of the paper allows at most two. Exact over QQ and real
or imaginary quadratic extensions, for t ≥ 2.

Notation. Weights are a d×d matrix A of rank ≤ α = min(a, d) and a d'×d matrix V; l_i = Σ_p A_pi y_p
and v_k = Σ_q V_kq y_q. The coordinate ``c_k_i_p_q`` is the coefficient of y_p y_q in l_i v_k. The
fibre is the scheme of the weights of a function up to (λA, V/λ); its length counts multiplicities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import isqrt
from typing import Any, NamedTuple

from sympy import Expr, Float, Matrix, Rational, eye, sqrt

from m2bridge.convert.answers import answer_to
from m2bridge.convert.printing import polynomial_text
from m2bridge.engine.script import Script, render
from m2bridge.errors import ContradictionError, InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.orbits.fibres import matrix_program
from m2bridge.families.attention.orbits.parametrization import (
    check_coordinates,
    indices,
    reduced_name,
)
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.limits import check_deadline_in

MAX_ROOT_BITS = 5000
"""The largest number of bits of numerator and denominator under an irrational square root."""


Forms = list[list[Matrix]]
"""``forms[k][i]`` is the symmetric matrix l_i v_kᵀ + v_k l_iᵀ of the quadratic form l_i v_k."""


def quadratic_forms(shape: LayerSizes, function: Mapping[str, Fraction | int]) -> Forms:
    """Return the quadratic forms l_i v_k of a function, from its reduced coordinates by name.

    Coordinates that are left out are zero. The form of k and i is ``forms[k][i]``, as the symmetric
    matrix of its second derivatives.

    Raises
    ------
    InvalidCaseError
        If a name is not a reduced coordinate of the model, or a value is a float.
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
    for name, value in check_deadline_in(function.items()):
        if name not in places:
            raise InvalidCaseError(
                "function", f"'{name!s:.60}' is not a coordinate: they are c_k_i_p_q with p ≤ q"
            )
        number = _exact_value(name, value)
        k, i, p, q = places[name]
        # For p = q both lines add to one entry: the second derivative of c y_p² is 2c.
        forms[k][i][p, q] += number
        forms[k][i][q, p] += number
    return forms


def _exact_value(name: str, value: Any) -> Rational:
    """Return the value that a function has for the coordinate ``name``, a rational number.

    ``value`` is an int, a Fraction or a Rational, or a float, which is refused; the public
    ``membership`` has refused all else before.

    Raises
    ------
    InvalidCaseError
        If the value is a float, of Python or SymPy.
    """
    if isinstance(value, float | Float):
        raise InvalidCaseError(
            "function", f"{value} is not exact: write Fraction('{value}') for '{name}'"
        )
    return Rational(value)


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


class FibreInChart(NamedTuple):
    """The fibre over a function that is not zero, in a chart.

    Parameters
    ----------
    length : int
        The length of the scheme; 0 if it is empty.
    points : tuple
        Its geometric points, each as (z_2, …, z_d): the first row of V is (1, z_2, …, z_d).
    are_real : bool
        Whether all points are real. Two points that are not are complex conjugates.
    """

    length: int
    points: tuple[tuple[Expr, ...], ...]
    are_real: bool


def fibre_in_chart(model: LayerSizes, chart: Chart) -> FibreInChart:
    """Return the fibre over the function of a chart, which Macaulay2 computes.

    Raises
    ------
    ContradictionError
        If there are more points than Theorem 3.2 allows.
    MethodUnavailableError
        If the points are irrational and their numbers too long.
    """
    answer = answer_to(membership_script(model, chart))
    length = answer.integer("length")
    if length == 0:
        return FibreInChart(length=0, points=(), are_real=True)
    # Macaulay2 sends rational numbers as texts.
    first_moments, second_moments = answer.values["moments"]
    return fibre_by_moments(
        answer.integer("points"),
        length,
        first_moments=list(map(Rational, first_moments)),
        second_moments=Matrix([list(map(Rational, row)) for row in second_moments]),
    )


def membership_script(model: LayerSizes, chart: Chart) -> Script:
    """Return the Macaulay2 program for the fibre in the chart, in z_2, …, z_d as unknowns.

    The first row of V is (1, z_2, …, z_d). The answers are "length" and the number "points" and, if
    there are any, their "moments": the sums of z_p, and of z_p z_q, with multiplicities.
    """
    rows = []
    for row in chart.forms:
        forms_of_row = ", ".join(matrix_program(entry_texts(form)) for form in row)
        rows.append("{" + forms_of_row + "}")
    forms = "{" + ",\n    ".join(rows) + "}"
    unknowns = ", ".join(f"z_{q}" for q in range(2, model.d + 1))
    values = {"title": str(model), "forms": forms, "unknowns": unknowns, "alpha": model.alpha}
    return render("membership", libraries=("wire", "fibres"), values=values)


def fibre_by_moments(
    point_count: int, length: int, first_moments: Sequence[Rational], second_moments: Matrix
) -> FibreInChart:
    """Return a fibre with one or two geometric points, from the sums over its points.

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
        If there are more than two points, or two of which one is multiple, against Theorem 3.2.
    MethodUnavailableError
        If the points are irrational and their numbers too long.
    """
    mean = [moment / length for moment in first_moments]
    if point_count == 1:
        # a single point is invariant under complex conjugation
        return FibreInChart(length, points=(tuple(mean),), are_real=True)
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
    return FibreInChart(length, points=(plus, minus), are_real=bool(spread[q, q] > 0))


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


def entry_texts(matrix: Matrix) -> list[list[str]]:
    """Return the entries of an exact matrix as texts, row by row."""
    return [[polynomial_text(entry) for entry in matrix.row(i)] for i in range(matrix.rows)]
