"""Proofs that real critical points exist: their system against SymPy, and what is not proved."""

from fractions import Fraction

import flint
from sympy import Matrix, Rational, symbols

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.maps.degrees.certified import CriticalSystem, count_proved_points

x, y, z, first, second = symbols("x y z first second")
SPHERE = x**2 + y**2 + z**2 - 14
CUBIC = x * y**2 - z**3 + 2 * x * z - 5
FORM = ((2, 1, 0), (1, 3, -1), (0, -1, 5))
DATA = (Fraction(1, 2), Fraction(-3), Fraction(2, 7))


def ideal_of(*polynomials: object) -> GeneratingSet:
    ring = PolynomialRing(QQ, ("x", "y", "z"))
    return GeneratingSet(ring, tuple(map(ring.sympy_ring, polynomials)))


def test_the_system_and_its_derivative_are_those_of_sympy() -> None:
    """With a false derivative Krawczyk's test would prove nothing."""
    place = {x: 3, y: -2, z: Rational(5, 4), first: Rational(7, 3), second: -4}
    unknowns = Matrix(list(place))
    jacobian = Matrix([SPHERE, CUBIC]).jacobian([x, y, z])
    moved = Matrix([x, y, z]) - Matrix([Rational(u.numerator, u.denominator) for u in DATA])
    conormal = Matrix(FORM) * moved - jacobian.T * Matrix([first, second])
    expected = Matrix([SPHERE, CUBIC, *conormal])

    form = [[Fraction(entry) for entry in row] for row in FORM]
    system = CriticalSystem(ideal_of(SPHERE, CUBIC), form, DATA)
    point = [flint.arb(flint.fmpq(int(v.p), int(v.q))) for v in map(Rational, place.values())]
    values, slopes = system.value_and_derivative(point)

    slopes_expected = expected.jacobian(unknowns).subs(place)
    for found, exact in zip(values.entries(), expected.subs(place), strict=True):
        assert found.contains(flint.fmpq(int(exact.p), int(exact.q)))
    for found, exact in zip(slopes.entries(), slopes_expected, strict=True):
        assert found.contains(flint.fmpq(int(exact.p), int(exact.q)))


def test_points_that_are_not_critical_are_not_proved() -> None:
    """On the sphere of radius 5 the nearest and the farthest point from (0, 3, 4) are critical."""
    ball = ideal_of(x**2 + y**2 + z**2 - 25)
    form = [[Fraction(i == j) for j in range(3)] for i in range(3)]
    data = [Fraction(0), Fraction(6), Fraction(8)]
    critical = [(0.0, 3.0, 4.0), (0.0, -3.0, -4.0)]
    assert count_proved_points(ball, form, data=data, points=critical) == 2
    assert count_proved_points(ball, form, data=data, points=[*critical, (5.0, 0.0, 0.0)]) == 2
    # one point twice is not two points
    assert count_proved_points(ball, form, data=data, points=[critical[0], critical[0]]) == 0
