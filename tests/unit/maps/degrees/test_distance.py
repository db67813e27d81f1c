"""Quadratic forms, data points, and counts that primes agree on; without Macaulay2."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import flint
import numpy
import pytest
from sympy import Matrix, Poly, Rational, symbols

from m2bridge.algebra.field import QQ
from m2bridge.algebra.linear_algebra import signature
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.answers import Answer
from m2bridge.errors import ConversionError, MethodUnavailableError, ParseError, TimeLimitError
from m2bridge.maps.degrees import real_points
from m2bridge.maps.degrees.distance import AgreedCount, CriticalCount, count_by_random_primes
from m2bridge.maps.degrees.quadratic_forms import read_numbers, read_quadratic

RING = PolynomialRing(QQ, ("x", "y", "z"))


def test_a_form_is_the_same_as_text_expression_and_matrix() -> None:
    x, y, z = symbols("x y z")
    matrix = [[1, Fraction(1, 2), 0], ["1/2", 3, 0], [0, 0, Rational(5, 7)]]
    forms = [
        read_quadratic("x^2 + x*y + 3*y^2 + 5/7*z^2", RING),
        read_quadratic(x**2 + x * y + 3 * y**2 + 5 * z**2 / 7, RING),
        read_quadratic(matrix, RING),
    ]
    assert forms[0] == forms[1] == forms[2]
    assert forms[0].text == "x**2 + x*y + 3*y**2 + 5/7*z**2"
    assert forms[0].integer_rows == [[14, 7, 0], [7, 42, 0], [0, 0, 10]]
    assert forms[0].value_at([Fraction(x) for x in (1, 2, 0)]) == 15
    assert not forms[0].is_standard
    assert read_quadratic(None, RING).is_standard
    assert read_quadratic(numpy.eye(3, dtype=int).tolist(), RING).is_standard


def test_a_form_in_multiplied_coordinates_has_the_same_values() -> None:
    form = read_quadratic("x^2 + x*y + 3*y^2 + z^2", RING)
    scaled = form.in_scaled_coordinates([2, 3, 5])
    vectors = [[Fraction(x) for x in vector] for vector in ((2, 6, 15), (1, 2, 3))]
    assert scaled.value_at(vectors[0]) == form.value_at(vectors[1])


def test_numbers_are_exact() -> None:
    expected = (Fraction(1), Fraction(-2, 3), Fraction(1, 2))
    for given in ("1, -2/3, 0.5", "[1, -2/3, 5e-1]", (1, Rational(-2, 3), flint.fmpq(1, 2))):
        assert read_numbers(given, "point", 3) == expected


def test_a_form_modulo_a_prime_is_no_form_over_qq() -> None:
    x, y = symbols("x y")
    ring = PolynomialRing(QQ, ("x", "y"))
    form = x**2 + 5 * y**2
    assert read_quadratic(Poly(form), ring).text == "x**2 + 5*y**2"
    with pytest.raises(ConversionError, match="over GF\\(7\\) is not one over QQ"):
        read_quadratic(Poly(form, modulus=7), ring)


def test_the_signature_is_that_of_the_eigenvalues() -> None:
    random = Random(1)
    for size in range(1, 6):
        entries = [[random.randint(-3, 3) for _ in range(size)] for _ in range(size)]
        symmetric = Matrix(entries) + Matrix(entries).T
        eigenvalues = numpy.linalg.eigvalsh(numpy.array(symmetric.tolist(), dtype=float))
        expected = sum(int(numpy.sign(round(x, 9))) for x in eigenvalues)
        rows = [[flint.fmpq(int(x)) for x in row] for row in symmetric.tolist()]
        assert signature(rows) == expected


def counted(*points: int | None) -> AgreedCount:
    """What is agreed on where the primes 2, 3, … give these numbers."""
    numbers = dict(enumerate(points, 2))

    def count(prime: int) -> CriticalCount:
        if prime not in numbers:
            raise TimeLimitError("late")
        return CriticalCount(1, 0, numbers[prime])

    return count_by_random_primes(count, iter(range(2, 20)))


def test_primes_that_give_other_numbers_are_outvoted() -> None:
    assert counted(4, 4, 4).primes == (2, 3, 4)
    found = counted(4, 3, 4, 4, 4)
    assert (found.count.points, found.primes, found.others) == (4, (2, 4, 5, 6), (3,))
    assert "(other numbers modulo 3)" in found.known
    with pytest.raises(MethodUnavailableError, match="too few have the same numbers"):
        counted(*range(7))


def test_at_a_limit_two_primes_are_enough_and_one_is_not() -> None:
    assert counted(4, 4).known == "modulo two random primes; this is not a proof over QQ"
    with pytest.raises(TimeLimitError, match="late \\(4 critical points modulo 2\\)"):
        counted(4)
    with pytest.raises(TimeLimitError, match=r"^late$"):
        counted()


def test_boxes_of_msolve_have_the_sides_of_coordinates_alone() -> None:
    boxes = [[[["1/2", "3/2"], [2, 2], [0, 1]]], []]
    found = real_points._boxes_by_msolve(Answer({"boxes": boxes}), 2)
    assert found == [[(Fraction(1, 2), Fraction(3, 2)), (2, 2)]]
    with pytest.raises(ParseError, match="not a list of boxes"):
        real_points._boxes_by_msolve(Answer({"boxes": [[["1/2"]]]}), 2)


def test_the_value_of_the_form_is_that_of_the_whole_box() -> None:
    """By hand: 2x² + 4xy for x in [1, 2] and y = 3 has values from 14 to 32, at 1 from the data."""
    form = read_quadratic("2*x^2 + 4*x*y", PolynomialRing(QQ, ("x", "y")))
    box = [(Fraction(2), Fraction(3)), (Fraction(4), Fraction(4))]
    point = real_points._point_in(box, form, [Fraction(1), Fraction(1)], proved=False)
    assert point is not None
    low, high = point.value
    assert low <= 14 < 32 <= high
    assert point.coordinates == (2.5, 4.0)


def test_numbers_that_no_float_has_are_left_out() -> None:
    form = read_quadratic("x^2", PolynomialRing(QQ, ("x",)))
    small, large = Fraction(3), Fraction(10**200)
    point = real_points._point_in([(small, small)], form, [small], proved=True)
    assert point is not None
    assert (point.distance, point.coordinates, point.value) == (0.0, (3.0,), (0, 0))
    assert real_points._point_in([(large, large)], form, [small], proved=True) is None
    assert real_points._by_increasing_value([point, None]) is None
    assert real_points._by_increasing_value([point]) == (point,)
