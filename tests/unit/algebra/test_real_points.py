"""Real points of finite schemes from matrices of multiplication, compared with known points."""

import sys
from fractions import Fraction
from itertools import product
from math import inf

import flint
import pytest

from m2bridge.algebra.intervals import digits_text, ends, float_bounds, middle
from m2bridge.algebra.real_points import real_points
from m2bridge.errors import ParseError

Rows = list[list[str]]


def texts(matrix: flint.fmpq_mat) -> Rows:
    """The entries as Macaulay2 prints them."""
    return [[str(entry) for entry in row] for row in matrix.tolist()]


def companion(coefficients: list[int]) -> flint.fmpq_mat:
    """Multiplication by T on QQ[T]/(f), for a monic f with these ascending coefficients."""
    size = len(coefficients) - 1
    matrix = flint.fmpq_mat(size, size)
    for row in range(size):
        matrix[row, size - 1] = -coefficients[row]
        if row:
            matrix[row, row - 1] = 1
    return matrix


def scheme_of(matrix: flint.fmpq_mat, *coordinates: flint.fmpq_mat) -> tuple[Rows, list[Rows]]:
    """The trace form in the basis 1, T, T², …, and the matrices of the coordinates."""
    size = matrix.nrows()
    power = matrix * 0
    for i in range(size):
        power[i, i] = 1
    traces = []
    for _ in range(2 * size - 1):
        traces.append(sum(power[i, i] for i in range(size)))
        power = power * matrix
    form = [[str(traces[i + j]) for j in range(size)] for i in range(size)]
    return form, list(map(texts, coordinates))


@pytest.mark.parametrize("scale", [1, 10**30, Fraction(1, 10**200)])
def test_rational_points_of_any_size(scale: Fraction | int) -> None:
    """Nine points of a grid, one of them double: the ring is QQ[T]/(T(T − 1) ⋯ (T − 7)(T − 8)²)."""
    polynomial = flint.fmpz_poly([-8, 1])
    for root in range(9):
        polynomial *= flint.fmpz_poly([-root, 1])
    matrix = companion(list(map(int, polynomial.coeffs())))
    factor = flint.fmpq(Fraction(scale).numerator, Fraction(scale).denominator)
    places = [(x * factor, y * factor) for x, y in product((-1, 0, 2), repeat=2)]
    coordinates = []
    for position in range(2):
        values = [place[position] for place in places]
        coordinates.append(interpolated(matrix, values))
    found = real_points(*scheme_of(matrix, *coordinates))
    assert len(found) == 9
    for x, y in places:
        near = [a for a, b in found if a.overlaps(flint.arb(x)) and b.overlaps(flint.arb(y))]
        assert len(near) == 1
    for point in found:
        assert all(value.is_zero() or not value.contains(0) for value in point)


def interpolated(matrix: flint.fmpq_mat, values: list[flint.fmpq]) -> flint.fmpq_mat:
    """The value at a matrix of the polynomial with given values at 0, 1, 2, …."""
    nodes = range(len(values))
    vandermonde = flint.fmpq_mat([[node**k for k in nodes] for node in nodes])
    coefficients = vandermonde.solve(flint.fmpq_mat([[value] for value in values])).entries()
    total = matrix * 0
    for coefficient in reversed(coefficients):
        total = total * matrix
        for i in range(matrix.nrows()):
            total[i, i] += coefficient
    return total


def test_complex_points_are_left_out() -> None:
    """x³ = 2 has one real solution, and y = x² − x is 2^(2/3) − 2^(1/3) there."""
    matrix = companion([-2, 0, 0, 1])
    form, matrices = scheme_of(matrix, matrix, matrix * matrix - matrix)
    ((x, y),) = real_points(form, matrices)
    with flint.ctx.workprec(300):
        root = flint.arb(2).root(3)
        assert x.overlaps(root)
        assert y.overlaps(root**2 - root)
    assert min(x.rel_accuracy_bits(), y.rel_accuracy_bits()) >= 100


def test_matrices_that_do_not_belong_together_are_an_error() -> None:
    matrix = companion([-2, 0, 0, 1])
    form, matrices = scheme_of(matrix, matrix)
    wrong_trace, _ = scheme_of(companion([-2, 0, 1, 1]), matrix)
    with pytest.raises(ParseError, match="does not belong to the matrices"):
        real_points(wrong_trace, matrices)
    with pytest.raises(ParseError, match="separate"):
        real_points(form, [texts(matrix * 0)])
    # traces of x agree, and those of x² do not: there are three real points, and one
    form_of_three, _ = scheme_of(companion([0, -1, 0, 1]), matrix)
    with pytest.raises(ParseError, match="3 real points, but 1"):
        real_points(form_of_three, matrices)


def test_digits_that_an_interval_proves() -> None:
    third = ends(flint.arb(1) / 3)
    assert digits_text(third, 20) == "0.333333333333333"
    assert digits_text(third, 5) == "0.33333"
    assert digits_text((Fraction(2), Fraction(2)), 15) == "2"
    assert digits_text((Fraction(-1, 10), Fraction(1, 3)), 9) == "from -0.1 to 0.34"
    large = Fraction(10) ** 600
    assert digits_text((large, large + 1), 9) == "1e+600"
    assert digits_text((1 / large / 3, 1 / large / 3), 3) == "3.33e-601"


def test_floating_point_bounds_contain_the_interval() -> None:
    low, high = float_bounds((Fraction(1, 3), Fraction(2, 3)))
    assert Fraction(low) < Fraction(1, 3) < Fraction(2, 3) < Fraction(high)
    assert float_bounds((Fraction(1, 4), Fraction(1, 4))) == (0.25, 0.25)
    huge = Fraction(10) ** 400
    assert float_bounds((-huge, huge)) == (-inf, inf)
    assert float_bounds((huge, huge)) == (sys.float_info.max, inf)
    assert middle((Fraction(1), Fraction(2))) == Fraction(3, 2)
