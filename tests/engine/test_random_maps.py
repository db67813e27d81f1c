"""Random maps of small degree against Macaulay2's own kernel, over QQ and small prime fields, where ranks can fail."""

from itertools import product
from random import Random

import pytest
from sympy import Expr, Integer, Rational, symbols

from m2bridge import CoefficientField, Macaulay2, PolynomialMap, SingleLayerAttention, image
from m2bridge.engine.answer import Answer, parse
from m2bridge.engine.script import Script
from m2bridge.maps.dimension import Dimension, dimension

SEEDS = range(6)
FIELDS = (0, 2, 3, 5, 7)
UNLUCKY = (32003, 32004, 32003 * 31991 + 1, 2147483647, 2147483648)
"""Coefficients and differences of them that the first primes divide."""


def random_map(p: int, seed: int) -> PolynomialMap:
    """One to four sums of up to three terms of degree ≤ 3; half of the maps are homogeneous, some are p-th powers."""
    chance = Random(100 * p + seed)
    parameters = symbols(f"s1:{chance.randint(2, 4)}")
    homogeneous, degree = seed % 2 == 0, chance.randint(1, 3)
    coefficients = [1, 1, -1, 2, 3, 6, Rational(3, 11), *(UNLUCKY if p == 0 else ())]

    def term() -> Expr:
        monomial = Rational(chance.choice(coefficients))
        for _ in range(degree if homogeneous else chance.randint(0, degree)):
            monomial *= chance.choice(parameters)
        return monomial

    images = {
        f"x{i}": sum((term() for _ in range(chance.randint(1, 3))), Integer(0)) for i in range(chance.randint(2, 4))
    }
    if p in (2, 3) and seed % 3 == 0:
        images["x0"] = images["x0"] ** p
    return PolynomialMap.from_expressions(parameters, images)


def by_kernel(polynomial_map: PolynomialMap, field: str, generators: list[str], engine: Macaulay2) -> Answer:
    """Macaulay2's own kernel in its default grading, written without any of our templates and notation."""
    images = ", ".join(f"({str(f.as_expr()).replace('**', '^')})*1_parameterRing" for f in polynomial_map.images)
    found = ", ".join(f"({text})*1_coordinateRing" for text in generators) or "0_coordinateRing"
    program = f"""
parameterRing = {field}[{", ".join(polynomial_map.source.variables)}]
coordinateRing = {field}[{", ".join(polynomial_map.coordinates)}]
whole = kernel map(parameterRing, coordinateRing, {{{images}}})
mbEmit("equal", whole == ideal({found}))
mbEmit("dimension", dim whole)
mbEmit("degree", degree whole)
"""
    return parse(engine.run(Script("kernel", program)).records)


def check(found: Dimension, expected: int, p: int) -> None:
    """No rank exceeds the dimension, in characteristic 0 it is the dimension, and only what is so is called proved."""
    ranks = [finding for finding in found.findings if finding.method.startswith("jacobian")]
    assert ranks
    for finding in ranks:
        assert finding.value is not None
        assert finding.value <= expected
        assert finding.value == expected or (p > 0 and finding.status == "lower bound")
    assert (found.dimension, found.agree) == (expected, True)


@pytest.mark.parametrize("p", FIELDS)
def test_ideals_and_dimensions_are_those_of_the_kernel(engine: Macaulay2, p: int) -> None:
    field = CoefficientField(p)
    for seed in SEEDS:
        polynomial_map = random_map(p, seed)
        found = image(polynomial_map, engine=engine, field=field).closure
        assert (str(found.completeness), found.unfinished) == ("proved", "")
        assert found.ideal is not None
        generators = [str(g.as_expr()).replace("**", "^") for g in found.ideal.generators]
        kernel = by_kernel(polynomial_map, f"ZZ/{p}" if p else "QQ", generators, engine)
        assert kernel.boolean("equal"), polynomial_map.images
        assert (found.dimension, found.degree) == (kernel.integer("dimension"), kernel.integer("degree"))
        check(dimension(polynomial_map, engine=engine, field=field, method="all"), kernel.integer("dimension"), p)


CASES = [(1, 2, 1, 1), (2, 1, 1, 1), (2, 2, 1, 1), (2, 1, 1, 2), (2, 2, 2, 2)]


@pytest.mark.parametrize(("case", "p"), [*product(CASES, (0, 2, 3)), ((3, 1, 1, 1), 2)])
def test_the_rank_and_the_kernel_agree_for_attention(engine: Macaulay2, case: tuple[int, ...], p: int) -> None:
    found = dimension(SingleLayerAttention(*case), engine=engine, field=CoefficientField(p), method="all")
    eliminated = next(f.value for f in found.findings if f.method == "elimination")
    assert eliminated is not None
    check(found, eliminated, p)
    assert all(finding.status != "lower bound" for finding in found.findings)
