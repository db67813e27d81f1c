"""Real points of finite schemes from matrices of multiplication, compared with known points."""

from fractions import Fraction
from itertools import product

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
    """Nine points of a grid, and a double one, by diagonal matrices: t has to separate them."""
    places = [*product((-1, 0, 2), repeat=2), (2, 2)]
    size = len(places)
    factor = flint.fmpq(Fraction(scale).numerator, Fraction(scale).denominator)
    matrices = []
    for position in range(2):
        matrix = flint.fmpq_mat(size, size)
        for i, place in enumerate(places):
            matrix[i, i] = place[position] * factor
        matrices.append(texts(matrix))
    form = flint.fmpq_mat(size, size)
    for i in range(size - 1):
        form[i, i] = 1
    form[size - 2, size - 2] = 2  # the double point; the last function is nilpotent
    found = real_points(texts(form), matrices)
    assert len(found) == 9
    for x, y in places[:9]:
        exact_x, exact_y = flint.arb(x * factor), flint.arb(y * factor)
        near = [a for a, b in found if a.overlaps(exact_x) and b.overlaps(exact_y)]
        assert len(near) == 1
    for point in found:
        assert all(value.is_zero() or not value.contains(0) for value in point)


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
    other, _ = scheme_of(companion([0, -1, 0, 1]), matrix)  # three real points
    with pytest.raises(ParseError, match="3 real points, but 1"):
        real_points(other, matrices)
    with pytest.raises(ParseError, match="separate"):
        real_points(form, [texts(matrix * 0)])


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
    low, high = float_bounds((Fraction(1, 3), Fraction(2, 3))) or (0, 0)
    assert Fraction(low) < Fraction(1, 3) < Fraction(2, 3) < Fraction(high)
    assert float_bounds((Fraction(1, 4), Fraction(1, 4))) == (0.25, 0.25)
    assert float_bounds((Fraction(0), Fraction(10) ** 400)) is None
    assert middle((Fraction(1), Fraction(2))) == Fraction(3, 2)
