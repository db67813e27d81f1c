"""Critical points of a loss with long numbers, against points that are known otherwise."""

from fractions import Fraction

import flint
import pytest
from sympy import Poly, nroots, symbols

from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training_loss.gradient import WeightChart, weights_in
from m2bridge.families.attention.training_loss.landscape import Landscape
from m2bridge.families.attention.training_loss.loss import Loss, gaussian
from m2bridge.families.attention.training_loss.rounded import (
    common_eigenvalues,
    is_long,
    proved_points,
    rounded_loss,
)

SHAPE = LayerSizes(1, 1, 1, 2)
"""One number: φ(x₁, x₂) has the only coordinate c = a·v, and in a chart v = 1."""


def one_number(target: Fraction) -> tuple[Loss, Landscape]:
    """A loss that is quadratic in the only coordinate, with its minimum at the target."""
    loss = gaussian(SHAPE).towards([target], "")
    return loss, Landscape(loss, weights_in(SHAPE, WeightChart(())))


def test_coordinates_are_common_eigenvalues() -> None:
    """Of x and x² modulo x⁴ − x³ − 2, whose roots SymPy finds."""
    companion = flint.fmpq_mat(4, 4, [0, 0, 0, 2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1])
    squared = companion * companion
    texts = [[[str(x) for x in row] for row in M.tolist()] for M in (companion, squared)]
    x = symbols("x")
    roots = sorted(map(complex, nroots(Poly(x**4 - x**3 - 2, x))), key=lambda z: (z.real, z.imag))
    found = sorted(common_eigenvalues(texts), key=lambda p: (float(p[0].real), float(p[0].imag)))
    for point, root in zip(found, roots, strict=True):
        assert complex(point[0]) == pytest.approx(root)
        assert complex(point[1]) == pytest.approx(root**2)
    # two roots are real, and have no imaginary part at all
    assert [p[0].imag.is_zero() for p in found].count(True) == 2


def test_a_rounded_loss_keeps_short_numbers() -> None:
    long = Fraction(1, 3)
    loss, _ = one_number(long)
    rounded = rounded_loss(loss, 24)
    assert rounded.gram == loss.gram
    target = rounded.gram.solve(rounded.linear)[0, 0]
    assert target != flint.fmpq(1, 3)
    assert abs(target - flint.fmpq(1, 3)) <= flint.fmpq(1, 2**25)
    assert not is_long(loss)
    assert is_long(one_number(Fraction(1, 3**100))[0])


def test_a_point_is_proved_for_the_given_loss_and_not_for_the_rounded_one() -> None:
    target = Fraction(1, 3)
    _, landscape = one_number(target)
    near = [flint.acb(0.25)]
    found = proved_points(landscape, [near], number=1, only_dense=True)
    assert found is not None
    (point,) = found.real
    assert point.kind == "minimum"
    # 1/3 is the simplest number in its box, so that the loss is exactly zero there
    assert point.loss == (0, 0)
    assert float(point.coordinates[0]) == pytest.approx(1 / 3, rel=1e-15)


@pytest.mark.parametrize(("number", "copies"), [(2, 1), (1, 2), (2, 2), (0, 1)])
def test_another_number_of_points_proves_nothing(number: int, copies: int) -> None:
    """A point that is missing, or found twice, or one too many."""
    _, landscape = one_number(Fraction(1, 3))
    near = [[flint.acb(0.25)]] * copies
    assert proved_points(landscape, near, number=number, only_dense=True) is None
