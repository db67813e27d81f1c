"""Polynomial networks: the dimension of the kernel that Macaulay2 computes is the rank."""

import pytest

from m2bridge import Macaulay2, closure
from m2bridge.families.polynomial_network.model import PolynomialNetwork
from m2bridge.maps.rank import rank_result
from tests.limits import HOUR


@pytest.mark.parametrize(
    ("widths", "degree"),
    [((2, 2, 1), 2), ((2, 2, 2), 2), ((3, 2, 1), 2), ((2, 1, 2, 1), 2), ((2, 2, 1), 4), ((2, 1, 2), 3), ((3, 1, 2), 1)],
)
def test_the_dimension_is_that_of_the_kernel(engine: Macaulay2, widths: tuple[int, ...], degree: int) -> None:
    network = PolynomialNetwork(widths, degree)
    found = closure(network.parametrization(), engine=engine, strategy="elimination", timeout=HOUR)
    assert found.dimension == rank_result(network).lower
