"""Numbers of critical points of distances to general boundaries, by several systems of equations."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sympy import Matrix, symbols

from m2bridge import (
    InvalidCaseError,
    SingleLayerAttention,
    TooLargeError,
    ed_degree,
    ideal,
    robustness_count,
)
from m2bridge.convert.answers import answer_to
from m2bridge.decision_boundary.count import BoundarySizes
from m2bridge.engine.script import Script, render
from m2bridge.maps.degrees.counting_primes import count_modulo_primes, primes_for, with_given_prime
from tests.conftest import Invoke
from tests.tiers import slow

pytestmark = pytest.mark.macaulay2("any")

CLASSIFIER = str(Path(__file__).parents[2] / "examples" / "classifier.npz")


def counted(script: Script) -> tuple[int, ...]:
    """The dimension of the set of solutions and their number, on which random primes agree."""
    outcomes = count_modulo_primes(
        lambda prime: tuple(answer_to(with_given_prime(script, prime)).integers("critical")),
        primes_for(()),
        value=lambda outcome: outcome,
    )
    return outcomes.by_prime[outcomes.agreeing[0]]


def in_all_entries(sizes: BoundarySizes) -> tuple[int, ...]:
    """The count by Lagrange's equations, with λ and all entries of X as unknowns."""
    values: dict[str, Any] = {name: getattr(sizes, name) for name in sizes.__slots__}
    return counted(render("boundary_count_full", values=values | {"title": "all entries"}))


@pytest.mark.parametrize(
    ("d", "a", "t", "cone", "number"),
    [
        (8, 1, 5, False, 20),
        (8, 2, 5, False, 100),
        slow(7, 3, 5, False, 288),
        *((2 * a + 1, a, 1, False, 12 * a) for a in (1, 2, 3)),
        (3, 1, 3, True, 3),
        (5, 2, 4, True, 32),
        slow(7, 3, 5, True, 101),
        (3, 1, 2, False, 20),
        (5, 2, 2, False, 88),
        # the numbers that ed-degree finds for random integers, on docs/related-work.md
        (2, 1, 1, False, 9),
        (2, 1, 2, False, 17),
        (2, 2, 2, False, 33),
        (2, 2, 3, False, 39),
        # x³ = 0 has no critical point, x³ = b three
        (1, 1, 1, True, 0),
        (1, 1, 1, False, 3),
    ],
)
def test_one_readout(d: int, a: int, t: int, cone: bool, number: int) -> None:
    found = robustness_count(SingleLayerAttention(d, 1, a, t), cone=cone)
    assert (found.critical_points, found.rank) == (number, 1)
    assert not found.is_proved
    assert len(found.primes) >= 2


@pytest.mark.parametrize(("d", "a", "number"), [(4, 1, 29), (6, 2, 137), slow(8, 3, 389)])
def test_one_readout_with_a_skip_connection(d: int, a: int, number: int) -> None:
    layer = SingleLayerAttention(d, d, a, t=a + 2)
    assert robustness_count(layer, pool="mean", skip=True).critical_points == number
    # more directions and tokens change nothing
    larger = SingleLayerAttention(d + 5, d + 5, a, t=a + 7)
    found = robustness_count(larger, pool="3", skip=True)
    assert (found.critical_points, found.directions, found.tokens) == (number, 2 * a + 2, a + 2)


@pytest.mark.parametrize(
    ("d", "a", "t", "number"),
    [(2, 2, 2, 39), (2, 2, 3, 99), (3, 2, 2, 132), (2, 2, 4, 117), slow(4, 1, 3, 92)],
)
def test_two_readouts(d: int, a: int, t: int, number: int) -> None:
    found = robustness_count(SingleLayerAttention(d, 2, a, t))
    assert (found.critical_points, found.rank) == (number, 2)


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("cone", [False, True])
@pytest.mark.parametrize(
    ("d", "a", "t"),
    [(1, 1, 1), (1, 1, 2), (2, 1, 2), (3, 1, 2), (4, 1, 2), (2, 2, 2), (3, 2, 1), slow(4, 1, 3)],
)
def test_theorem_R5_against_all_entries(d: int, a: int, t: int, skip: bool, cone: bool) -> None:
    sizes = BoundarySizes(d=d, t=t, a=a, r=1, skip=skip, cone=cone)
    assert counted(sizes.script("few unknowns")) == in_all_entries(sizes)


@pytest.mark.parametrize(
    ("d", "a", "t", "r", "skip"),
    [
        (5, 1, 1, 1, False),
        (4, 1, 3, 1, False),
        (1, 1, 4, 1, False),
        (2, 1, 5, 1, False),
        (6, 1, 1, 1, True),
        (5, 1, 2, 2, False),
        (2, 2, 5, 2, False),
    ],
)
def test_reductions_against_all_entries(d: int, a: int, t: int, r: int, skip: bool) -> None:
    """Sizes that Theorems R1 and R2 reduce, as they are."""
    if r == 1:
        found = robustness_count(SingleLayerAttention(d, d, a, t), pool="last", skip=skip)
    else:
        found = robustness_count(SingleLayerAttention(d, r, a, t))
    assert found.directions < d or found.tokens < t
    sizes = BoundarySizes(d=d, t=t, a=a, r=r, skip=skip, cone=False)
    assert in_all_entries(sizes) == (0, found.critical_points)


@pytest.mark.parametrize(
    ("d", "a", "t", "cone"), [(2, 1, 1, False), (2, 1, 2, False), (3, 1, 1, True)]
)
def test_against_the_ed_degree_of_an_equation(d: int, a: int, t: int, cone: bool) -> None:
    """By minors of a Jacobian matrix, for random integers as weights."""
    numbers = Random(d * t)

    def entries(m: int, n: int) -> Matrix:
        return Matrix(m, n, lambda i, j: numbers.randint(1, 99))

    X = Matrix(d, t, symbols(f"x:{d * t}"))
    A, B = entries(d, a) * entries(a, d), entries(d, 1) * entries(1, t)
    g = (B.T * X * X.T * A * X).trace() + (0 if cone else 7)
    found = ed_degree(ideal(str(g.expand()).replace("**", "^")), generic=False)
    layer = SingleLayerAttention(d, 1, a, t)
    assert robustness_count(layer, cone=cone).critical_points == found.ed_degree


def test_what_is_too_large_is_refused_at_once() -> None:
    with pytest.raises(TooLargeError, match="up to rank 4: take a smaller a"):
        robustness_count(SingleLayerAttention(64, 1, 5, 32))
    with pytest.raises(TooLargeError, match=r"20 entries after the reductions.*up to 12"):
        robustness_count(SingleLayerAttention(4, 4, 1, 5))
    with pytest.raises(InvalidCaseError, match="as many outputs as inputs, not 1 and 2"):
        robustness_count(SingleLayerAttention(2, 1), skip=True)
    with pytest.raises(InvalidCaseError, match="tokens 0 to 1, not 2"):
        robustness_count(SingleLayerAttention(2, 1), pool="2")


def test_the_command(invoke: Invoke) -> None:
    sizes = ("--count", "--d", "8", "--d-out", "1", "--a", "2", "--t", "5")
    answer = json.loads(invoke("robustness", *sizes, "--json").stdout)
    assert answer["critical_points"] == 100
    assert (answer["reduced_to"], answer["reduced_tokens"], answer["rank"]) == (5, 4, 1)
    assert answer["is_proved"] is False
    assert "random primes" in answer["because"]
    cone = ("--count", "--d", "3", "--d-out", "2", "--a", "1", "--t", "3", "--pool", "mean")
    assert invoke("robustness", *cone, "--cone", "--format", "m2").stdout == "edDegree = 3\n"


def test_certificates(invoke: Invoke, tmp_path: Path) -> None:
    """What Gröbner bases count is counted again from one point."""
    path = tmp_path / "count.json"
    sizes = ("--count", "--d", "3", "--d-out", "3", "--a", "1", "--t", "3", "--pool", "last")
    assert invoke("robustness", *sizes, "--skip", "--certificate", str(path)).returncode == 0
    done = invoke("robustness", str(path), "--verify")
    assert (done.returncode, done.stdout[:17]) == (0, "accepted-on-trust")
    layer = SingleLayerAttention(3, 3, 1, 3)
    found = robustness_count(layer, pool="last", skip=True)
    assert found.to_certificate() == path.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--count", "--d", "2", "--d-out", "1", "--bias", "3"), "--count takes no --bias"),
        (("--count", "FILE", "--d", "2", "--d-out", "1"), "--count takes no FILE"),
        (("--count", "--d", "2"), "--d-out"),
        (("FILE", "--d", "2"), "--d is for --count"),
        (("FILE", "--m2", "M2"), "--m2 is for --count"),
        (("--verify",), "Missing argument 'FILE'"),
        ((), "Missing argument 'FILE'"),
    ],
)
def test_options_that_do_not_go_together(
    invoke: Invoke, arguments: tuple[str, ...], message: str
) -> None:
    words = (CLASSIFIER if word == "FILE" else word for word in arguments)
    done = invoke("robustness", *words)
    assert done.returncode == 2
    assert message in done.stderr
