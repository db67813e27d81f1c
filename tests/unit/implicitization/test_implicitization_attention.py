"""Multigraded implicitization of attention models, against values found by other means."""

from math import comb
from random import Random

import pytest

from m2bridge.errors import ContradictionError, TimeLimitError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits.parametrization import multigraded_attention
from m2bridge.implicitization.differentials import EquationsAtPoints
from m2bridge.implicitization.implicitize import implicitize
from m2bridge.implicitization.multigraded_map import finest_grading, multigraded
from m2bridge.limits import limited
from tests.exact_ideals import substituted
from tests.hilbert_by_ranks import hilbert_function
from tests.limits import Looks
from tests.tiers import slow

# Generators by degree and dim I_n for n = 2, 3, …, from elimination with Macaulay2 over QQ.
ELIMINATION = {
    (2, 1, 2): ({4: 1}, (0, 0, 1)),
    (2, 2, 2): ({2: 5, 4: 10}, (5, 60, 390)),
    (2, 2, 1): ({2: 15, 4: 5}, (15,)),
    (3, 1, 3): ({3: 20, 4: 90}, (0, 20, 450, 4581)),
}


def _case(d, d_out, a, t=2, coordinates=None):
    return multigraded_attention(SingleLayerAttention(d, d_out, a, t), coordinates)


@pytest.mark.parametrize("case", ELIMINATION)
def test_generators_and_dimensions_agree_with_elimination(case):
    counts, dimensions = ELIMINATION[case]
    result = implicitize(_case(*case), max(4, len(dimensions) + 1))
    coordinates = len(result.source.polynomial_map.coordinates)
    assert result.generator_counts == counts
    for n, dimension in enumerate(dimensions, 2):
        assert result.hilbert_function[n] == comb(coordinates + n - 1, n) - dimension
    assert result.exact
    assert not result.stopped_early


@pytest.mark.parametrize("case", [(2, 1, 2), (2, 2, 2), (2, 2, 1), (3, 1, 2)])
def test_every_generator_vanishes_under_substitution_with_sympy(case):
    result = implicitize(_case(*case), 4 if case[0] == 2 else 3)
    generators = result.generators()
    assert len(set(generators)) == sum(result.generator_counts.values())
    assert all(not substituted(g, result.source.polynomial_map.images) for g in generators)


@pytest.mark.slow
@pytest.mark.parametrize("case", [(2, 2, 2), (3, 1, 3), (3, 1, 2)])
def test_symmetries_change_nothing_but_the_work(case):
    with_symmetries = implicitize(_case(*case), 4)
    without = implicitize(multigraded(with_symmetries.source.polynomial_map), 4)
    assert without.generator_counts == with_symmetries.generator_counts
    assert without.hilbert_function == with_symmetries.hilbert_function
    assert all(orbit.size == 1 for orbit in without.orbits)


@pytest.mark.parametrize("case", [(2, 2, 2), (2, 2, 1), (3, 1, 3), (3, 2, 2)])
def test_ranks_alone_give_the_same_hilbert_function(case):
    degree = 4 if case[0] == 2 else 3
    ranks = hilbert_function(_case(*case), degree)
    assert ranks.values == implicitize(_case(*case), degree).hilbert_function
    assert ranks.failure_probability < 1e-3


@pytest.mark.parametrize(("case", "t"), [((2, 1, 2), 2), ((2, 1, 2), 3), ((2, 1, 1), 2)])
def test_full_coordinates_have_the_same_hilbert_function(case, t):
    full = implicitize(_case(*case, t, "full"), 3)
    reduced = implicitize(_case(*case), 3)
    assert full.hilbert_function == reduced.hilbert_function
    linear = full.generator_counts.pop(1)
    independent = len(reduced.source.polynomial_map.coordinates)
    assert linear == len(full.source.polynomial_map.coordinates) - independent


def test_one_token_is_a_different_variety():
    result = implicitize(_case(2, 2, 2, 1), 3)
    assert len(result.source.polynomial_map.coordinates) == 8
    assert result.exact


@pytest.mark.slow
def test_a_limit_keeps_the_degrees_that_are_complete():
    """Whenever it ends the computation: what is there is the beginning of what there is without a
    limit.
    """
    source, whole, degrees = _case(3, 1, 2), implicitize(_case(3, 1, 2), 4), []
    looks = Looks()
    with limited(1e9, now=looks):
        implicitize(source, 4)
    for number in range(1, looks.number, looks.number // 40):
        with limited(number, now=Looks()):
            try:
                found = implicitize(source, 4)
            except TimeLimitError:
                assert not degrees
                continue
        degrees.append(found.max_degree)
        assert (found.stopped_early, found.requested_degree) == (found.max_degree < 4, 4)
        assert found.hilbert_function == whole.hilbert_function[: found.max_degree + 1]
        assert found.generator_counts == {
            n: c for n, c in whole.generator_counts.items() if n <= found.max_degree
        }
    assert degrees == sorted(degrees)
    assert {1, 2, 3} <= set(degrees)


def test_the_ideal_lists_the_generators():
    result = implicitize(_case(2, 2, 2), 4)
    assert result.ideal().generator_degrees == result.generator_counts
    assert [dict(g) for g in result.ideal().generators] == [
        _exponents(g, 12) for g in result.sparse_generators()
    ]


@pytest.mark.parametrize("case", [(2, 1, 2), slow((2, 2, 1))])
def test_gradients_are_those_that_sympy_finds(case):
    result = implicitize(_case(*case), 4)
    equations = EquationsAtPoints.of(_case(*case), 4)
    random = Random(5)
    size = len(result.source.polynomial_map.coordinates)
    # points like those of orbits, where few coordinates are not zero, and one that is not like them
    points = [[1, 0, 0, 2, *[0] * (size - 4)]]
    points.append([random.choice((0, 0, 1, 3)) for _ in range(size)])
    points.append([random.randrange(-5, 6) for _ in range(size)])
    for point in points:
        expected = []
        for generator in result.generators():
            place = list(zip(generator.ring.gens, point, strict=True))
            values = [int(generator.diff(x).evaluate(place)) for x in generator.ring.gens]
            expected.append({j: value for j, value in enumerate(values) if value})
        found = []
        for degree in range(1, 5):
            for gradient in equations.gradients(point, degree):
                values = {j: value for j, value in gradient.items() if value}
                found.append(values)
        assert _listed(found) == _listed(expected)


def _listed(gradients):
    """The gradients that are not zero, in an order that depends on nothing else."""
    return sorted(sorted(gradient.items()) for gradient in gradients if gradient)


def _exponents(polynomial, size):
    return {tuple(m.count(j) for j in range(size)): c for m, c in polynomial}


def test_the_weights_of_attention_are_its_finest_grading():
    source = _case(3, 2, 2)
    assert source.grading.multidegrees[source.polynomial_map.coordinates.index("c_2_1_1_3")] == (
        0,
        1,
        1,
        0,
        0,
        1,
        0,
        1,
    )
    coarse = [weight[2:] for weight in source.grading.multidegrees]
    with pytest.raises(ContradictionError):
        finest_grading(source.polynomial_map, coarse)


def test_a_seed_changes_no_dimension():
    results = [implicitize(_case(2, 2, 2), 4, seed=seed) for seed in range(3)]
    assert len({(r.hilbert_function, tuple(r.generator_counts.items())) for r in results}) == 1


# Found by this package and proved by it. For (3,2,3) four of the weights with quintics were also
# computed from all monomial multiples of lower generators at once, without symmetries.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "degree", "counts"),
    [
        ((3, 2, 3), 4, {2: 45, 3: 80, 4: 675}),
        ((3, 3, 3), 3, {2: 135, 3: 300}),
        ((4, 4, 4), 2, {2: 1260}),
        ((4, 1, 4), 4, {3: 400, 4: 2500}),
        ((3, 3, 3), 4, {2: 135, 3: 300, 4: 2700}),
        ((3, 2, 3), 5, {2: 45, 3: 80, 4: 675, 5: 4770}),
    ],
)
def test_larger_cases(case, degree, counts):
    result = implicitize(_case(*case), degree)
    assert result.generator_counts == counts
    assert result.exact
    assert len(result.generators()) == sum(counts.values())
    assert result.hilbert_function == hilbert_function(_case(*case), degree).values


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "d_out", "a", "degree"), [(3, 1, 2, 2), (4, 2, 3, 3), (4, 3, 2, 2), (4, 3, 3, 2)]
)
def test_up_to_degree_a_the_equations_are_those_of_all_matrices(
    d: int, d_out: int, a: int, degree: int
) -> None:
    """The ideal of the matrices of rank ≤ a begins in degree a + 1; upper bounds of tangent
    dimensions rest on it.
    """
    found, every = (
        implicitize(multigraded_attention(SingleLayerAttention(d, d_out, b)), degree)
        for b in (a, d)
    )
    assert found.hilbert_function == every.hilbert_function
    assert set(found.sparse_generators()) == set(every.sparse_generators())


def test_in_degree_a_plus_one_there_are_more() -> None:
    found, every = (
        implicitize(multigraded_attention(SingleLayerAttention(3, 1, b)), 2) for b in (1, 3)
    )
    assert found.hilbert_function[2] < every.hilbert_function[2]
