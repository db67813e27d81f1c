"""What is lifted from primes to QQ: against ranks over QQ, and with wrong lifts planted."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m2bridge.algebra.linear_algebra import rank
from m2bridge.algebra.numbers import chinese_remainder, rational_reconstruction
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.parametrization import multigraded_attention
from m2bridge.implicitization import elimination
from m2bridge.implicitization import generators as lifting
from m2bridge.implicitization.generators import GeneratedPart
from m2bridge.implicitization.implicitize import implicitize

PRIMES = (5, 7, 11, 13)
WIDTH = 6
CASE = (2, 2, 2)


@dataclass(frozen=True)
class Rows:
    """Products given as a matrix."""

    matrix: list[list[int]]
    size: int = WIDTH

    def distinct(self):
        return [(tuple((j, c) for j, c in enumerate(row) if c), (0, i)) for i, row in enumerate(self.matrix)]


@settings(max_examples=300)
@given(
    st.lists(st.lists(st.sampled_from([0, 0, 1, -1, 2, 5, 35, 1001]), min_size=WIDTH, max_size=WIDTH), max_size=WIDTH),
    st.sampled_from(PRIMES),
)
def test_the_rank_over_the_rationals_is_that_modulo_the_prime_iff_found_so(matrix, prime):
    generated = GeneratedPart.of(Rows(matrix), prime)
    basis = [place for place, form in enumerate(generated.functionals) if form == {place: 1}]
    same = rank(matrix) == len(generated.chosen)
    assert lifting.has_no_larger_rank(generated, Rows(matrix), basis, PRIMES) == same


def test_functionals_with_large_values_are_lifted_by_several_primes_without_a_rank(monkeypatch):
    monkeypatch.setattr(GeneratedPart, "rational_rank", lambda _: pytest.fail("a rank over QQ"))
    matrix = [[1, -6, 0], [0, 1, -5]]
    generated = GeneratedPart.of(Rows(matrix, 3), 11)
    assert lifting.has_no_larger_rank(generated, Rows(matrix, 3), [2], (11, 13, 17, 19))


def test_functionals_that_are_zero_prove_nothing(monkeypatch):
    monkeypatch.setattr(lifting, "rational_reconstruction", lambda residues, _: (1, [0] * len(residues)))
    generated = GeneratedPart.of(Rows([[1, 0], [0, 5]], 2), 5)
    assert len(generated.chosen) == 1
    assert not lifting.has_no_larger_rank(generated, Rows([[1, 0], [0, 5]], 2), [1], (5,))


@given(st.integers(-500, 500), st.integers(1, 500))
def test_remainders_modulo_several_primes_determine_a_fraction(numerator, denominator):
    primes = (1009, 1013, 1019)
    modulus, weights = chinese_remainder(primes)
    residues = [numerator * pow(denominator, -1, prime) % prime for prime in primes]
    lifted = sum(w * r for w, r in zip(weights, residues, strict=True)) % modulus
    found, (value,) = rational_reconstruction([lifted], modulus)
    assert value * denominator == numerator * found


def _wrong(residues, modulus):
    leading, others = rational_reconstruction(residues, modulus)
    return leading, [*others[:-1], others[-1] + 1]


@pytest.mark.parametrize("room", [elimination, lifting], ids=["relations", "functionals"])
def test_a_wrong_lift_is_noticed_and_the_result_computed_over_the_rationals(room, monkeypatch):
    roads = []
    method = (elimination.Substitution, "echelon") if room is elimination else (GeneratedPart, "rational_rank")
    original = getattr(*method)
    monkeypatch.setattr(*method, lambda *arguments: (roads.append(1), original(*arguments))[1])
    source = multigraded_attention(SingleLayerAttention(*CASE))
    right = implicitize(source, 4)
    before = len(roads)
    monkeypatch.setattr(room, "rational_reconstruction", _wrong)
    found = implicitize(source, 4)
    assert len(roads) > 2 * before
    assert found.exact
    assert found.hilbert_function == right.hilbert_function
    assert found.generator_counts == right.generator_counts
    assert set(found.sparse_generators()) == set(right.sparse_generators())
