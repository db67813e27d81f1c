"""Convolutional networks: what Macaulay2 finds of fibres, against equations and minors."""

from __future__ import annotations

from dataclasses import replace
from math import factorial

import pytest

from m2bridge import ConvolutionalNetwork, closure, cross_check, ideal, polar_degrees
from m2bridge.families.convolutional_network.observation import observe
from m2bridge.families.convolutional_network.shape import FilterSizes
from m2bridge.families.convolutional_network.statements import STATEMENTS
from m2bridge.results.base import Decision
from m2bridge.statements.statement import Numbers
from tests.tiers import few

pytestmark = pytest.mark.macaulay2("any")

DIMENSION, DEGREE, FIBRES, SINGULAR = STATEMENTS


@pytest.mark.parametrize("filters", [(2, 2), (2, 3), (1, 2)])
def test_the_degree_is_that_of_the_equations(filters: tuple[int, ...]) -> None:
    network = ConvolutionalNetwork(filters)
    found = closure(network)
    seen = observe(network, ("degree",))
    assert (found.dimension, found.degree) == (seen.value("dimension"), seen.value("degree"))


@pytest.mark.slow
def test_the_singular_locus_by_minors() -> None:
    """The multiples of x_2², a line: the functions of the types that are found singular."""
    network = ConvolutionalNetwork((2, 2))
    locus = ideal(*closure(network).ideal.generators).singular_locus()
    seen = observe(network, ("singular",)).to_json()["fibres"]
    singular = [fibre["zeros"] for fibre in seen if fibre["length"] > 1]
    assert singular == [[1, 1]]
    assert locus.dimension == sum(network.filters) - 2 - 1


def test_polar_degrees_by_slices() -> None:
    network = ConvolutionalNetwork((2, 3))
    counted = polar_degrees(network, method="slices")
    assert counted.degrees == polar_degrees(network).degrees == (6, 10, 6, 0)


def reversed_exponents(network: FilterSizes) -> int:
    """The stated degree with r^((i − 1)(k_i − 1))."""
    degree = factorial(sum(network.filters) - len(network.filters))
    for i, size in enumerate(network.filters):
        degree = degree * network.degree ** (i * (size - 1)) // factorial(size - 1)
    return degree


WRONG = {
    "dimension: all filters rescaled": (DIMENSION, lambda n: sum(n.filters) - len(n.filters)),
    "degree: exponents reversed": (DEGREE, reversed_exponents),
    "degree: of a hypersurface": (DEGREE, lambda n: n.function_degree),
    "fibres: one point each": (FIBRES, lambda n: Numbers(tuple(1 for _ in n.zero_types()))),
    "fibres: all distributions": (
        FIBRES,
        lambda n: Numbers(tuple(1 + sum(zeros.zeros) for zeros in n.zero_types())),
    ),
    "singular: nowhere": (SINGULAR, lambda n: Numbers(tuple(0 for _ in n.zero_types()))),
    "singular: zeros at two filters": (
        SINGULAR,
        lambda n: Numbers(
            tuple(int(sum(count > 0 for count in zeros.zeros) > 1) for zeros in n.zero_types())
        ),
    ),
    "singular: zeros in front and behind": (
        SINGULAR,
        lambda n: Numbers(
            tuple(int(0 < zeros.leading < sum(zeros.zeros)) for zeros in n.zero_types())
        ),
    ),
}


@pytest.mark.parametrize("name", few(WRONG, 4))
def test_a_wrong_statement_is_refuted(name: str) -> None:
    statement, predict = WRONG[name]
    network = ConvolutionalNetwork((3, 2))
    both = (statement, replace(statement, predict=predict))
    right, wrong = cross_check(network, statements=both).verdicts
    assert (right.decision, wrong.decision) == (Decision.CONFIRMED, Decision.REFUTED)
