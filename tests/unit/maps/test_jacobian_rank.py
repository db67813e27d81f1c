"""Ranks against upper bounds: what a family says wrongly is an error, and one case has one answer."""

from __future__ import annotations

import re
from itertools import product
from random import Random

import pytest
from sympy import symbols

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.polynomial_network import model as networks
from m2bridge.families.polynomial_network.model import PolynomialNetwork
from m2bridge.maps.chain import Chain, Layer
from m2bridge.maps.dimension import dimension
from m2bridge.maps.jacobian_rank import differentiable, observe_rank, rank_result, upper_bound
from m2bridge.maps.model import MethodValue
from m2bridge.maps.polynomial_map_model import MapModel
from m2bridge.results.known import Bounds

a, b, c, d = symbols("a b c d")
RANK_ONE = PolynomialMap.from_expressions(
    [a, b, c, d], {"x": a * c, "y": a * d, "z": b * c, "w": b * d}
)


class WithGauge(MapModel):
    """The 2 × 2 matrices of rank one, which are kept by a torus of dimension 1 and not 2."""

    __slots__ = ()

    def gauge_dimension(self) -> int:
        return 2


class WithBound(MapModel):
    __slots__ = ()

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        return (Bounds.at_most(2, "a wrong formula"),)


class WithLowerBounds(WithBound):
    __slots__ = ()

    def lower_bounds(self, characteristic: int) -> object:
        yield MethodValue("one block", Bounds.at_least(3, "rank 3 of a block"))


@pytest.mark.parametrize(
    ("wrong", "method", "reason"),
    [
        (WithGauge, "jacobian over QQ", "4 parameters, less 2 for the orbits of a group"),
        (WithBound, "jacobian over QQ", "a wrong formula"),
        (WithLowerBounds, "one block", "a wrong formula"),
    ],
)
def test_a_rank_above_a_bound_of_the_family_is_an_error(
    wrong: type[MapModel], method: str, reason: str
) -> None:
    with pytest.raises(ContradictionError) as error:
        dimension(wrong(RANK_ONE), method="jacobian")
    message = str(error.value)
    assert f"the dimension is at least 3 ({method})" in message
    assert f"exceeds the upper bound 2 ({reason}" in message
    assert "gauge_dimension or upper_bounds of the family 'map' is wrong" in message


@pytest.mark.parametrize("wrong", [WithGauge, WithBound])
def test_elimination_and_cross_checks_find_the_same_error(wrong: type[MapModel]) -> None:
    for compute in (observe_rank, rank_result):
        with pytest.raises(ContradictionError, match=r"at least 3 \(jacobian mod"):
            compute(wrong(RANK_ONE))


def test_a_network_with_a_wrong_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "gauge_dimension", lambda widths, degree: sum(widths[1:-1]) + 1)
    with pytest.raises(ContradictionError, match="family 'polynomial-network' is wrong"):
        dimension(PolynomialNetwork((2, 2, 2)))


def test_bounds_that_contradict_each_other_are_no_bounds() -> None:
    with pytest.raises(ContradictionError, match="lower bound 5 exceeds the upper bound 4: ranks"):
        Bounds(5, 4, "ranks")


def test_cross_checks_prove_what_dimension_proves() -> None:
    """No group of a + b is known, so that only minors prove the dimension 2."""
    images = {"x": a + b, "y": (a + b) ** 2, "z": (a + b) * c}
    model = MapModel(PolynomialMap.from_expressions([a, b, c], images))
    observed, found = observe_rank(model), dimension(model)
    assert (observed.dimension, found.dimension, found.status) == (2, 2, "proved")
    assert observed.result.because == "no larger minor is a nonzero polynomial"
    # the checker of a family has upper bounds only
    certified = observe_rank(model, certified=True).result
    assert (certified.exact, certified.lower, certified.upper) == (None, 2, 3)


def test_reasons_for_attention_are_formulas() -> None:
    """Each sum in a reason is the bound; its first summand is a rank: of A, or of the form q."""
    random = Random(1)
    for d, d_out, a, t in product((1, 2, 3, 4), (1, 2), (1, 2, 3), (1, 2)):
        model = SingleLayerAttention(d, d_out, a, t)
        (bound,) = model.upper_bounds(0)
        match = re.fullmatch(
            r"the pairs .* of rank at most (\d+): (\d+) \+ (\d+), less 1 .*", bound.because
        )
        assert match is not None, bound
        rank, first, second = map(int, match.groups())
        assert bound.value == first + second - 1
        assert second == d * d_out
        # the tangent space of matrices KᵀQ, or of their symmetric parts, with a × d matrices
        K, Q = ([[random.randrange(99) for _ in range(d)] for _ in range(a)] for _ in "KQ")
        rows = []
        for e, i in product(range(a), range(d)):
            for other, transposed in ((Q, False), (K, True)):
                M = [[0] * d for _ in range(d)]
                M[i] = list(other[e])
                if transposed:
                    M = [list(row) for row in zip(*M, strict=True)]
                if t == 1:
                    M = [[M[p][q] + M[q][p] for q in range(d)] for p in range(d)]
                rows.append([entry for row in M for entry in row])
        assert rank_mod(rows, LARGE_PRIME) == first, (d, a, t)
        assert rank == (min(a, d) if t > 1 else min(2 * a, d))
        assert ("(A, V)" in bound.because) == (t > 1)


def test_the_reason_of_a_group_names_its_orbits() -> None:
    """For r = 1 the group GL(5) of dimension 25 has stabilizers GL(3), so that orbits have 16."""
    model = PolynomialNetwork((2, 5, 2), 1)
    assert model.gauge_dimension() == 25 - 9
    bound = upper_bound(WithGauge(RANK_ONE), differentiable(WithGauge(RANK_ONE)))
    assert (bound.value, bound.because) == (
        2,
        "4 parameters, less 2 for the orbits of a group that keeps the function",
    )


def test_a_chain_counts_monomials_that_may_occur() -> None:
    """There are two coordinates, but three monomials of degree at most 2."""
    x, p, q = symbols("x p q")
    layer = PolynomialMap.from_expressions([x, p, q], {"f": p * x**2 + q})
    chain = Chain((Layer(layer, ("x",)),))
    bound = chain.upper_bounds(0)[0]
    assert len(chain.coordinate_names()) == 2
    assert bound.value == 3
    assert "monomials in the inputs" in bound.because
