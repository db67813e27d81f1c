"""Proofs that real critical points exist: their system against SymPy, and what is not proved."""

from fractions import Fraction

import flint
import pytest
from sympy import Matrix, Rational, symbols

from m2bridge.algebra.field import QQ
from m2bridge.algebra.intervals import CoordinateSide, ends
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.maps.degrees.certified import CriticalSystem, proved_boxes

x, y, z, first, second = symbols("x y z first second")
SPHERE = x**2 + y**2 + z**2 - 14
CUBIC = x * y**2 - z**3 + 2 * x * z - 5
FORM = ((2, 1, 0), (1, 3, -1), (0, -1, 5))
DATA = (Fraction(1, 2), Fraction(-3), Fraction(2, 7))


UNIT_FORM = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))


def ideal_in(variables: str, *polynomials: object) -> GeneratingSet:
    ring = PolynomialRing(QQ, tuple(variables.split()))
    return GeneratingSet(ring, tuple(map(ring.sympy_ring, polynomials)))


def ideal_of(*polynomials: object) -> GeneratingSet:
    return ideal_in("x y z", *polynomials)


def box_around(place: tuple[float, ...], radius: Fraction = Fraction(0)) -> list[CoordinateSide]:
    return [(Fraction(x) - radius, Fraction(x) + radius) for x in place]


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
    nearest, farthest, other = ((0, 3, 4), (0, -3, -4), (5, 0, 0))

    def proved(*points: tuple[int, ...]) -> list[bool]:
        boxes = proved_boxes(ball, form, data=data, boxes=list(map(box_around, points)))
        return [box is not None for box in boxes]

    assert proved(nearest, farthest) == [True, True]
    assert proved(nearest, farthest, other) == [True, True, False]
    # one point twice is not two points
    assert proved(nearest, nearest) == [False, False]


def test_a_point_outside_of_its_box_is_not_proved() -> None:
    """The points used to pass within a relative 10⁻⁵: these boxes are 10⁻⁶ beside one."""
    ellipse = ideal_in("x y", x**2 + 4 * y**2 - 4)
    for data, place in (((10**6, 1), (-2, 0)), ((10**6, 1), (-2, -5e-7)), ((1, 0), (2, 0))):
        boxes = [box_around(place, radius=Fraction(1, 10**9))]
        (box,) = proved_boxes(ellipse, UNIT_FORM, data=list(map(Fraction, data)), boxes=boxes)
        assert (box is None) == (place == (-2, 0))


def widened(side: CoordinateSide) -> CoordinateSide:
    low, high = side
    return low - abs(low) / 2**60, high + abs(high) / 2**60


@pytest.mark.parametrize("exponent", [0, 1, 6, 8, 20])
def test_boxes_contain_the_roots_of_a_polynomial_by_hand(exponent: int) -> None:
    """On x² + 4y² = 4 a point is critical for (u, 1) where y(4u − 3x) = x."""
    u = 10**exponent
    ellipse = ideal_in("x y", x**2 + 4 * y**2 - 4)
    line = flint.fmpz_poly([4 * u, -3])  # 4u − 3x
    X = flint.fmpz_poly([0, 1])
    quartic = X**2 * line**2 + 4 * X**2 - 4 * line**2
    with flint.ctx.workprec(1000):
        roots = [root.real for root, _ in quartic.complex_roots() if root.imag.is_zero()]
        places = [(root, root / (4 * u - 3 * root)) for root in roots]
    assert len(places) == 2
    exact_boxes = [list(map(ends, place)) for place in places]
    rough_boxes = [list(map(widened, box)) for box in exact_boxes]
    data = [Fraction(u), Fraction(1)]
    proved = proved_boxes(ellipse, UNIT_FORM, data=data, boxes=rough_boxes)
    for box, exact in zip(proved, exact_boxes, strict=True):
        assert box is not None
        for (low, high), (exact_low, exact_high) in zip(box, exact, strict=True):
            assert low < exact_low <= exact_high < high
            assert high - low < abs(low) / 10**15, "the box has all digits that are shown"
