"""One function in reduced coordinates: its quadratic forms, the chart of its fibre, and weights from a point of it.

Exact over QQ and real or imaginary quadratic extensions, for t ≥ 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from sympy import Expr, Matrix, Rational, eye, sqrt
from sympy.polys.matrices import DomainMatrix

from m2bridge.errors import ContradictionError, InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.parametrization import check_coordinates, coordinate
from m2bridge.families.attention.parametrization import reduced_indices as indices
from m2bridge.families.attention.parametrization import reduced_name as name
from m2bridge.families.attention.shape import Shape
from m2bridge.limits import watched

MOST_BITS_OF_A_ROOT = 5000
"""Bits of numerator or denominator of a number whose irrational square root is taken."""

Forms = list[list[Matrix]]
"""``forms[k][i]`` is the symmetric matrix l_i v_kᵀ + v_k l_iᵀ of the quadratic form l_i v_k."""


def function_of(A: Matrix, V: Matrix) -> dict[str, Expr]:
    """The reduced function coordinates of weights with exact entries, without zeros."""
    shape = Shape(A.cols, V.rows)
    values = (
        (name(index), coordinate(index, lambda p, i: A[p, i], lambda k, q: V[k, q]).expand())
        for index in watched(indices(shape))
    )
    return {coordinate_name: value for coordinate_name, value in values if value != 0}


def quadratic_forms(shape: Shape, function: Mapping[str, Fraction | int]) -> Forms:
    """The forms of a function.

    Raises
    ------
    InvalidCaseError
        If a name is not a reduced coordinate of the model, or a number is not exact.
    TooLargeError
        If there are too many coordinates to be stored.
    """
    check_coordinates(shape, "reduced")
    if not isinstance(function, Mapping):
        message = 'must be a dictionary from coordinates to numbers, such as {"c_1_1_1_1": 1}'
        raise InvalidCaseError("function", f"{message}, not a {type(function).__name__}")
    d = shape.d
    forms = [[Matrix.zeros(d, d) for _ in range(d)] for _ in watched(range(shape.d_out))]
    places = {name(index): index for index in watched(indices(shape))}
    for key, value in watched(function.items()):
        if key not in places:
            raise InvalidCaseError("function", f"'{key:.60}' is not a coordinate: they are c_k_i_p_q with p ≤ q")
        if isinstance(value, float):
            raise InvalidCaseError("function", f"{value} is not exact: write Fraction('{value}') for '{key}'")
        k, i, p, q = places[key]
        forms[k][i][p, q] += Rational(value)
        forms[k][i][q, p] += Rational(value)
    return forms


@dataclass(frozen=True, slots=True)
class Chart:
    """Coordinates in which the fibre over a function lies in the chart A_11 = V_11 = 1.

    Parameters
    ----------
    k, i : int
        Position of a form that is not zero; it is exchanged with the first.
    basis : Matrix
        Invertible d×d; its first column is a vector where the form is not zero. New y-coordinates are y = basis·y'.
    scale : Rational
        The value of the form there; the function is divided by it.
    forms : Forms
        The forms in the new coordinates.
    """

    k: int
    i: int
    basis: Matrix
    scale: Rational
    forms: Forms

    @classmethod
    def of(cls, forms: Forms) -> Chart | None:
        """The first chart that contains the fibre; ``None`` for the zero function."""
        for k, row in enumerate(forms):
            for i, form in enumerate(row):
                if not form.is_zero_matrix:
                    return cls._at(forms, k, i)
        return None

    @classmethod
    def _at(cls, forms: Forms, k: int, i: int) -> Chart:
        basis = _basis(forms[k][i])
        first = basis[:, 0]
        scale = (first.T * forms[k][i] * first)[0, 0] / 2
        moved = [
            [basis.T * form * basis / scale for form in watched(_exchanged(row, i))] for row in _exchanged(forms, k)
        ]
        return cls(k, i, basis, scale, moved)

    def weights(self, z: Sequence[Expr]) -> tuple[Matrix, Matrix]:
        """The weights (A, V) at the point z_2, …, z_d of the fibre, in the original coordinates."""
        unknown = Matrix([Rational(1), *z])
        columns = [form[0, :].T - form[0, 0] / 2 * unknown for form in self.forms[0]]
        rows = [row[0][0, :].T - row[0][0, 0] / 2 * columns[0] for row in self.forms]
        back = self.basis.T.inv()
        A = Matrix.hstack(*(back * column for column in _exchanged(columns, self.i)))
        V = Matrix.hstack(*(self.scale * back * row for row in _exchanged(rows, self.k))).T
        return A.applyfunc(lambda entry: entry.expand()), V.applyfunc(lambda entry: entry.expand())


def _exchanged(items: Sequence, position: int) -> list:  # type: ignore[type-arg]
    """The items, the first one exchanged with that at this position."""
    listed = list(items)
    listed[0], listed[position] = listed[position], listed[0]
    return listed


def _basis(form: Matrix) -> Matrix:
    """An invertible matrix whose first column is e_p or e_p + e_q with nonzero value of the form."""
    d = form.rows
    p, q = next(((p, p) for p in range(d) if form[p, p]), (0, 0))
    if not form[p, p]:
        p, q = next((p, q) for p in range(d) for q in range(p + 1, d) if form[p, q])
    basis = eye(d)
    basis[q, p] = Rational(1)
    basis.col_swap(0, p)
    return basis


def fibre_points(
    points: int, length: int, first: Sequence[Rational], second: Matrix
) -> tuple[tuple[tuple[Expr, ...], ...], bool]:
    """The points of a fibre with one or two geometric points, and whether they are real.

    Parameters
    ----------
    first, second
        Σ z_p and Σ z_p z_q over the points with multiplicity. For two points z = m ± √D u these give m and the matrix
        D u uᵀ of rank one.

    Raises
    ------
    ContradictionError
        If there are more points than Theorem 3.2 allows.
    MethodUnavailableError
        If the points are irrational and their numbers too long.
    """
    mean = [moment / length for moment in first]
    if points == 1:
        return (tuple(mean),), True
    if (points, length) != (2, 2):
        raise ContradictionError(f"a fibre of length {length} with {points} points, against Theorem 3.2")
    size = len(mean)
    spread = [[second[p, q] / 2 - mean[p] * mean[q] for q in range(size)] for p in range(size)]
    q = next(q for q in range(size) if spread[q][q])
    root = _square_root(spread[q][q])
    offset = [spread[p][q] / spread[q][q] * root for p in range(size)]
    plus = tuple(m + o for m, o in zip(mean, offset, strict=True))
    minus = tuple(m - o for m, o in zip(mean, offset, strict=True))
    return (plus, minus), bool(spread[q][q] > 0)


def _square_root(value: Rational) -> Expr:
    """√value; where it is irrational SymPy looks for factors, which takes minutes for thousands of digits."""
    numbers = [abs(int(part)) for part in (value.p, value.q)]
    longest = max((n.bit_length() for n in numbers if isqrt(n) ** 2 != n), default=0)
    if longest > MOST_BITS_OF_A_ROOT:
        digits = longest * 3 // 10
        message = f"the weights hold the square root of a number of {digits} digits: use a function with shorter ones"
        raise MethodUnavailableError(message)
    return sqrt(value)


def orbit_of(A: Matrix, V: Matrix) -> Orbit:
    """The orbit of the function of weights with exact algebraic entries."""
    r, s, both = (_rank(matrix) for matrix in (A, V, Matrix.hstack(A, V.T)))
    return Orbit(r, s, r + s - both)


def _rank(matrix: Matrix) -> int:
    return int(DomainMatrix.from_Matrix(matrix, extension=True).to_field().rank())
