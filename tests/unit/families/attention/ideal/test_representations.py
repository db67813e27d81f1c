"""Closures as representations: characters, covariants, multiplicity spaces, closures for
all sizes.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb
from pathlib import Path
from random import Random

import numpy
import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st
from sympy import Matrix, Symbol, cancel, symbols, sympify
from sympy.polys.rings import PolyElement

from m2bridge.algebra import schur
from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.polynomial_map import vanishes_on_image
from m2bridge.algebra.schur import (
    PartitionTuple,
    Representation,
    Shapes,
    columns,
    dimension,
    from_weights,
    littlewood_richardson,
    partitions,
    strips_added,
    strips_removed,
)
from m2bridge.certification.make import questions
from m2bridge.cli.commands import cli
from m2bridge.crosscheck.cross_check import CrossCheck, cross_check
from m2bridge.errors import (
    ContradictionError,
    MethodUnavailableError,
    TimeLimitError,
    TooLargeError,
)
from m2bridge.families.attention.all_sizes.closures import (
    CORES,
    D_OUT,
    ClosureOfSizes,
    D,
    closures_of_all_sizes,
)
from m2bridge.families.attention.all_sizes.generators import (
    ABOUT_GENERATORS,
    VALUE_CLASSES,
    GeneratorsOfAllSizes,
    _verdict,
    generators_of_all_sizes,
)
from m2bridge.families.attention.checker.ideal_parts import Products
from m2bridge.families.attention.checker.representations import closure
from m2bridge.families.attention.hypotheses import WORDS
from m2bridge.families.attention.ideal import (
    covariants as covariants_module,
    highest_weights,
    multiplicity_spaces as spaces_module,
    representations as module,
    sections as sections_module,
)
from m2bridge.families.attention.ideal.covariants import (
    FIRST,
    GENERIC,
    Covariant,
    SourcePoints,
    covariant_values,
)
from m2bridge.families.attention.ideal.multiplicity_spaces import (
    MultiplicitySpaces,
    alternating_values,
    boundary_values,
    multiplicity_spaces,
)
from m2bridge.families.attention.ideal.representations import (
    coordinate_ring,
    core_types,
    from_multidegrees,
    generators,
    hilbert_series,
    representations,
)
from m2bridge.families.attention.ideal.sections import CoreSize, sections_of
from m2bridge.families.attention.ideal.values_by_degree import GeneratorDegrees, GeneratorNumbers
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.sizes import degree_formula, dimension_formula
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.implicitization.implicitize import HigherDegrees, implicitize
from m2bridge.limits import limited
from m2bridge.maps.closure import closure as closure_of_model
from m2bridge.maps.equations import Equations, generator_representations, graded_source
from m2bridge.results.sheet import Table
from m2bridge.statements.statement import sharing_one_observation
from tests.limits import Looks, RecordedEngine
from tests.tiers import examples

shapes = st.integers(0, 6).flatmap(lambda n: st.sampled_from(list(partitions(n, 3))))


@cache
def tableaux(shape: PartitionTuple, size: int) -> Counter[PartitionTuple]:
    """The weights of S_λ, by removing the entries ``size``, ``size`` − 1, … of semistandard
    tableaux.
    """
    if size == 0:
        return Counter({(): 1} if not shape else {})
    found: Counter[PartitionTuple] = Counter()
    for n in range(sum(shape) + 1):
        for smaller in strips_removed(shape, n):
            for weight, number in tableaux(smaller, size - 1).items():
                found[(*weight, n)] += number
    return found


@given(shapes, st.integers(0, 4))
def test_dimensions_count_tableaux(shape: PartitionTuple, size: int) -> None:
    assert dimension(shape, size) == tableaux(shape, size).total()


@given(shapes, shapes.filter(lambda shape: sum(shape) < 5))
@settings(max_examples=examples(30))
def test_products_have_the_product_of_the_characters(
    first: PartitionTuple, second: PartitionTuple
) -> None:
    expected: Counter[PartitionTuple] = Counter()
    for (a, x), (b, y) in product(tableaux(first, 3).items(), tableaux(second, 3).items()):
        expected[tuple(i + j for i, j in zip(a, b, strict=True))] += x * y
    found: Counter[PartitionTuple] = Counter()
    for shape, number in littlewood_richardson(first, second, 3).items():
        for weight, count in tableaux(shape, 3).items():
            found[weight] += number * count
    assert found == expected


def test_products_with_a_constant_leave_long_partitions_out() -> None:
    # S_111 of a plane is zero
    assert littlewood_richardson((1, 1, 1), (), 2) == {}
    assert littlewood_richardson((1, 1), (), 2) == {(1, 1): 1}


@given(shapes, st.integers(0, 3))
def test_strips_are_added_and_removed(shape: PartitionTuple, size: int) -> None:
    added = set(strips_added(shape, size, 4))
    assert added == set(littlewood_richardson(shape, (size,) if size else (), 4))
    assert all(shape in strips_removed(larger, size) for larger in added)


@given(st.dictionaries(shapes, st.integers(1, 5), min_size=1, max_size=4))
def test_representations_from_weights(multiplicities: dict[PartitionTuple, int]) -> None:
    counts: Counter[Shapes] = Counter()
    for shape, number in multiplicities.items():
        for weight, count in tableaux(shape, 3).items():
            if tuple(sorted(weight, reverse=True)) == weight:
                counts[(tuple(part for part in weight if part),)] += number * count
    assert from_weights(counts, (3,)) == {
        (shape,): number for shape, number in multiplicities.items()
    }


def test_what_is_no_character_is_an_error() -> None:
    with pytest.raises(ContradictionError, match="not the weights of a representation"):
        from_weights({((2,),): 1}, (2,))  # the weight (1, 1) is missing


def moved(points: SourcePoints, random: Random) -> SourcePoints:
    """The points moved by unipotent matrices of X, H and Y."""
    x, h, y = points.columns, points.rows, points.variables
    X, H, Y = (
        numpy.array(
            [
                [1 if i == j else random.randint(-2, 2) if i < j else 0 for j in range(n)]
                for i in range(n)
            ]
        )
        for n in (x, h, y)
    )
    vectors = points.vectors.copy()
    vectors[:x] = numpy.einsum("ij,ipq->jpq", X, points.vectors[:x])
    vectors[x : x + h] = numpy.einsum("ij,ipq->jpq", H, points.vectors[x : x + h])
    return SourcePoints(
        x, h, y, vectors @ Y, numpy.einsum("ij,kl,wikp->wjlp", X, H, points.scalars)
    )


@pytest.mark.parametrize(
    "type_", [((2, 1), (2, 1), (4, 1, 1)), ((2, 2), (3, 1), (4, 3, 1)), ((3, 1), (4,), (5, 2, 1))]
)
def test_covariants_are_invariant_under_unipotent_matrices(
    type_: tuple[PartitionTuple, PartitionTuple, PartitionTuple],
) -> None:
    random = Random(1)
    points = SourcePoints.random((2, 2, 3), 2, 6, random)
    drawn = [Covariant.random(type_, random) for _ in range(20)]
    covariants = [T for T in drawn if T is not None]
    assert covariant_values(covariants, points).any()
    for factors in ((), (FIRST,), (GENERIC, FIRST)):
        there = covariant_values(covariants, moved(points, random), factors)
        assert (covariant_values(covariants, points, factors) == there).all()


@pytest.mark.parametrize(
    "type_", [((2, 1), (2, 1), (4, 1, 1)), ((2, 2), (3, 1), (4, 3, 1)), ((3, 1), (4,), (5, 2, 1))]
)
def test_covariants_evaluated_together_are_their_polynomials(
    type_: tuple[PartitionTuple, PartitionTuple, PartitionTuple], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one block as in many, for covariants with different numbers of orders."""
    random = Random(4)
    points = SourcePoints.random((2, 2, 3), 2, 5, random)
    drawn = [Covariant.random(type_, random) for _ in range(12)]
    covariants = [T for T in drawn if T is not None]
    forms = points.vectors.swapaxes(1, 2)  # l_0, l_1, v_0, v_1 by their coordinates
    expected = []
    for T in covariants:
        value = numpy.zeros(5, dtype=int)
        for monomial, coefficient in highest_weights.covariant_polynomial(T).items():
            term = numpy.full(5, coefficient)
            for k, i, p, q in monomial:
                factor = forms[i][p] * forms[2 + k][q]
                if p != q:
                    factor = factor + forms[i][q] * forms[2 + k][p]
                term = term * factor
            value += term
        expected.append(value)
    assert numpy.any(expected)
    assert (covariant_values(covariants, points) == expected).all()
    assert (
        covariant_values(covariants, points.first_points(3)) == numpy.array(expected)[:, :3]
    ).all()
    monkeypatch.setattr(covariants_module, "TERMS_PER_BLOCK", 1)
    assert (covariant_values(covariants, points) == expected).all()


def test_a_permutation_is_a_sample_of_all() -> None:
    """Highest weight vectors are written with those that ``random.sample`` has drawn."""
    for size in range(1, 13):
        expected = Random(size).sample(range(size), size)
        assert covariants_module._random_permutation(size, Random(size)) == expected


def test_boundaries_are_boundaries() -> None:
    random, type_ = Random(2), ((2, 1), (2, 1), (3, 2, 1))
    points = SourcePoints.random((2, 2, 3), 2, 6, random)
    vectors, scalars = points.vectors.copy(), points.scalars.copy()
    vectors[6:8], scalars[1] = vectors[4:6], scalars[0]  # w' = w
    same = SourcePoints(2, 2, 3, vectors, scalars)
    for _ in range(10):
        T = Covariant.random(type_, random)
        assert T is not None
        assert not alternating_values([T], same).any()
    # at a point with one product only, c is x ⊗ h ⊗ l v
    vectors = points.vectors.copy()
    vectors[1] = vectors[3] = 0
    vectors[4:6] = vectors[[0, 2]]
    scalars = numpy.zeros_like(points.scalars)
    scalars[0, 0, 0] = 1
    for type_ in (((3,), (3,), (4, 2)), ((3,), (3,), (6,))):
        T = Covariant.random(type_, random)
        assert T is not None
        assert not boundary_values([T], SourcePoints(2, 2, 3, vectors, scalars)).any()


SMALL = {
    (2, 2, 1): {(4, (2, 2), (4,), (4, 4))},
    (2, 2, 2): {(2, (1, 1), (1, 1), (4,)), (4, (4,), (2, 2), (4, 4)), (4, (2, 2), (4,), (4, 4))},
    (3, 2, 1): {(3, (3,), (3,), (2, 2, 2)), (4, (2, 2), (4,), (4, 4))},
    (3, 1, 3): {
        (3, (3,), (3,), (2, 2, 2)),
        (3, (3,), (1, 1, 1), (3, 3)),
        (4, (4,), (2, 2), (4, 4)),
    },
}


@pytest.mark.parametrize("core", SMALL)
def test_generators_of_small_cores(core: tuple[int, int, int]) -> None:
    assert {(n, *kind) for n, kind, number in core_types(CoreSize(*core)) if number == 1} == SMALL[
        core
    ]


@pytest.mark.parametrize(
    ("size", "last"),
    [((2, 2), 4), ((2, 3, 1), 4), ((2, 3), 3), ((3, 1, 2), 4), ((3, 1, 1), 4), ((4, 1, 1), 3)],
)
def test_representations_are_those_of_the_ideal_in_each_multidegree(
    size: tuple[int, ...], last: int
) -> None:
    model = SingleLayerAttention(*size)
    found = implicitize(graded_source(model), last)
    seen = from_multidegrees(
        model, {(orbit.degree, orbit.multidegree): len(orbit.polynomials) for orbit in found.orbits}
    )
    assert set(seen) == {part for part in representations(model) if part.degree <= last}
    for n, count in found.generator_counts.items():
        assert count == sum(part.dimension for part in seen if part.degree == n)
    ring = coordinate_ring(CoreSize.of(model))
    assert found.hilbert_function == tuple(ring.hilbert_function(model, n) for n in range(last + 1))


def test_the_coordinate_ring_is_less_than_the_sections_in_low_degrees() -> None:
    assert coordinate_ring(CoreSize(3, 2, 2)).missing == [
        (2, ((1, 1), (1, 1), (2, 1, 1)), 1),
        (3, ((2, 1), (2, 1), (3, 2, 1)), 1),
    ]
    assert coordinate_ring(CoreSize(3, 2, 2)).all_sections_from == 4


def test_hilbert_series_of_cases_by_elimination() -> None:
    assert hilbert_series(SingleLayerAttention(2, 1)).degree == 4
    assert hilbert_series(SingleLayerAttention(3, 2, 2)).degree == 2376
    assert hilbert_series(SingleLayerAttention(3, 2)).degree == 1287


def test_a_closure_for_all_sizes_has_the_values_of_single_cases() -> None:
    for d, d_out, a in [(2, 5, 1), (2, 4, 2), (5, 1, 1), (4, 2, 1), (4, 1, 2), (3, 1, 3)]:
        model = SingleLayerAttention(d, d_out, a)
        found, numbers = (
            closures_of_all_sizes((CoreSize.of(model),)).ranges[0],
            {D: d, D_OUT: d_out},
        )
        assert found.dimension.subs(numbers) == dimension_formula(model)
        assert found.degree.subs(numbers) == degree_formula(model)
        counted = {part.shapes: part.dimension for part in representations(model)}
        formulas = {
            kind: int(number * found.number(kind).subs(numbers))
            for _, kind, number in found.generators
        }
        assert {kind: number for kind, number in formulas.items() if number} == counted


def test_numbers_for_all_sizes_have_a_line_for_each_degree() -> None:
    """So a line of text has one polynomial, and not as many as there are degrees."""
    found = closures_of_all_sizes(CORES[:3])
    numbers = GeneratorsOfAllSizes(closures=found, cases=(), verdicts=(), seconds=0.0)
    table = numbers.to_sheet().blocks[1]
    assert isinstance(table, Table)
    expected = [[*part.numbers()] or ["–"] for part in found.ranges]
    assert [row[1] for row in table.rows] == [degree for part in expected for degree in part]
    assert [row[0] for row in table.rows if row[0]] == [part.condition for part in found.ranges]
    assert max(map(len, numbers.to_text().splitlines())) < 100


def test_statements_without_a_form_for_all_sizes_are_named() -> None:
    """The Hilbert function is observed by degree as generators are, but has no such form."""
    asked = [statement for statement in REGISTRY if statement.key in ("hilbert", "generators")]
    found = generators_of_all_sizes(CORES[:1], 0, statements=asked)
    assert [verdict.name for verdict in found.verdicts] == ["generators"]
    assert found.to_json()["not_stated"] == ["hilbert"]
    assert "not stated for all sizes" in found.to_text()


def test_closures_for_all_sizes_in_all_forms() -> None:
    found = closures_of_all_sizes(CORES[:5])
    assert "d ≥ 2, d' = 1, a = 1" in str(found)
    assert "S_11 X ⊗ S_2 H ⊗ S_31 Y" in str(found)
    assert r"S_{11}X \otimes S_{2}H" in found.to_latex()
    assert found.to_json()["closures"][4]["representations"] == [
        {"degree": 4, "X": [2, 2], "H": [4], "Y": [4, 4], "multiplicity": 1, "dimension": "1"}
        | {"highest_weight_vectors": None, "products_of_determinants": None}
    ]
    generators.cache_clear()
    with pytest.raises(TimeLimitError):
        closures_of_all_sizes(CORES[5:], timeout=1e-9)


def test_a_wrong_multiplicity_of_sections_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    right = module.section_multiplicities

    def less(
        size: CoreSize, n: int
    ) -> dict[tuple[PartitionTuple, PartitionTuple, PartitionTuple], int]:
        found = right(size, n)
        return {
            kind: number - (n == 2 and kind == ((2,), (2,), (4,))) for kind, number in found.items()
        }

    for one in (module, spaces_module):
        monkeypatch.setattr(one, "section_multiplicities", less)
    with pytest.raises(ContradictionError):
        degrees(CoreSize(2, 2, 2))


def test_a_missing_hook_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections_module, "_hook_partition", lambda n, legs: (n,))
    with pytest.raises(ContradictionError):
        degrees(CoreSize(3, 2, 2))


def test_too_few_covariants_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Covariant.random
    first: dict[object, Covariant | None] = {}

    def same(
        type_: tuple[PartitionTuple, PartitionTuple, PartitionTuple], random: Random
    ) -> Covariant | None:
        return first.setdefault(type_, right(type_, random))

    monkeypatch.setattr(Covariant, "random", same)
    monkeypatch.setattr(spaces_module, "MAX_RANK_TRIES", 20)
    with pytest.raises(MethodUnavailableError, match="covariants of type"):
        degrees(CoreSize(3, 2, 2))


@pytest.mark.parametrize("rule", ["pieri", "times"])
def test_a_wrong_product_of_representations_is_an_error(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the module with the rule that is used first, and the name there
    module_of_rule, name = {
        "pieri": (spaces_module, "strips_added"),
        "times": (schur, "littlewood_richardson"),
    }[rule]
    right = getattr(module_of_rule, name)

    def wrong(shape: PartitionTuple, other: object, rows: int) -> object:
        found = right(shape, other, rows)
        return list(found)[:1] if rule == "pieri" else dict(list(found.items())[:1])

    monkeypatch.setattr(module_of_rule, name, wrong)
    with pytest.raises(ContradictionError):
        degrees(CoreSize(3, 2, 2))


def degrees(size: CoreSize) -> list[object]:
    spaces = MultiplicitySpaces(size, size.dimensions)
    return [spaces.generators(n) for n in range(1, 5)]


def test_columns() -> None:
    assert columns((3, 1)) == (2, 1, 1)
    assert columns(()) == ()


@pytest.mark.parametrize("core", CORES[:6])
def test_the_checker_finds_the_same_by_weight_spaces(core: CoreSize) -> None:
    found = closures_of_all_sizes((core,)).ranges[0]
    assert closure(core.variables, core.columns, core.rows) == found.to_certificate()


@pytest.mark.slow
def test_the_coordinate_ring_is_all_sections_in_the_degree_that_decides() -> None:
    """By weight spaces over QQ, where multiplicity spaces found it: (4; 2, 2) in degree 5, (3; 3,
    3) in degree 4.
    """
    two = Products(rows=2, columns=2, variables=4, alpha=2)
    three = Products(rows=3, columns=3, variables=3, alpha=3)
    assert two.hilbert_function(5) == two.number_of_sections(5) == 551_472
    assert three.hilbert_function(4) == three.number_of_sections(4)


@pytest.mark.slow
def test_generators_of_the_core_with_too_many_representations_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """(4; 4, 4) has 1947 in the degree of the bound, 6; the types are not computed here."""
    monkeypatch.setattr(module, "_generator_types", lambda size, sizes, last: ((last, size),))
    core = CoreSize(4, 4, 4)
    assert module.core_types.__wrapped__(core) == ((6, core),)
    monkeypatch.setattr(module, "MAX_REPRESENTATION_TYPES", 1946)
    with pytest.raises(TooLargeError, match="too many representations"):
        module.core_types.__wrapped__(core)


def test_a_certificate_with_another_generator_is_not_that_of_the_checker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A planted generator, in the maker or in the file, is seen by its weight."""
    core = CORES[1]
    right = generators(core)
    planted = (*right[1:], (4, ((2, 2), (4,), (4, 4)), 1))
    wrong = ClosureOfSizes(planted, coordinate_ring(core)).to_certificate()
    assert closure(core.variables, core.columns, core.rows) != wrong


def _given(parts: object, model: object) -> object:
    return parts


def generators_cross_checked(
    model: SingleLayerAttention, keys: Sequence[str] = ("generators", "generated")
) -> CrossCheck:
    stated = [statement for statement in ABOUT_GENERATORS if statement.key in keys]
    return cross_check(model, statements=stated, engine=RecordedEngine(Path()))


@pytest.mark.slow
def test_generators_of_a_case_by_weight_spaces_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = SingleLayerAttention(3, 2, 1)
    monkeypatch.setattr(
        "m2bridge.families.attention.observations.by_degree.degree_for", lambda _: 4
    )
    found = generators_cross_checked(model)
    observed = found.observations
    assert (observed.computed, observed.last) == ({2: 198, 3: 40, 4: 225}, 4)
    assert observed.predicted == dict(GeneratorNumbers.predicted(model).counts)
    assert [verdict.decision for verdict in found.verdicts] == ["UNDECIDED", "UNDECIDED"]
    right = representations(model)
    for wrong, decisions in (
        (right[1:], ["REFUTED", "UNDECIDED"]),
        (right[:-1], ["REFUTED", "REFUTED"]),
    ):
        monkeypatch.setattr(
            "m2bridge.families.attention.ideal.values_by_degree.representations",
            partial(_given, wrong),
        )
        verdicts = generators_cross_checked(model).verdicts
        assert [verdict.decision for verdict in verdicts] == decisions


def spanned(polynomials: list[dict[tuple[int, ...], int]], size: int, degree: int) -> int:
    """The dimension of the part of this degree of the ideal that they generate."""
    rows: list[dict[tuple[int, ...], int]] = []
    for terms in polynomials:
        if (more := degree - len(next(iter(terms)))) >= 0:
            rows += [
                {tuple(sorted((*monomial, *factor))): c for monomial, c in terms.items()}
                for factor in combinations_with_replacement(range(size), more)
            ]
    return sparse_rank(rows)


@pytest.mark.parametrize("size", [(2, 2), (2, 1), (2, 2, 1), (3, 1, 1)], ids=str)
def test_lowered_highest_weight_vectors_generate_the_ideal(size: tuple[int, ...]) -> None:
    """They lie in it, and span as much in each degree: the ideal by weight spaces, which knows no
    representations.
    """
    model = SingleLayerAttention(*size)
    last = max(part.degree for part in representations(model))
    found = implicitize(graded_source(model), last)
    lowered = [
        terms for part, polynomials in highest_weights.generators(model) for terms in polynomials
    ]
    known = [dict(terms) for terms in found.sparse_generators()]
    assert len(lowered) == len(known)
    for n in {len(next(iter(terms))) for terms in lowered}:
        dimensions = {
            spanned(kind, model.coordinate_count, n) for kind in (lowered, known, lowered + known)
        }
        assert dimensions == {comb(model.coordinate_count + n - 1, n) - found.hilbert_function[n]}


def search_up_to(degree: int, patch: pytest.MonkeyPatch) -> None:
    """Find generators of at most this degree by linear algebra, where no degree is given."""
    for name in ("completeness", "equations"):
        patch.setattr(f"m2bridge.maps.{name}.default_max_degree", lambda *_: degree)


@pytest.mark.parametrize("size", [(1, 2), (2, 2), (2, 1), (2, 2, 1), (3, 1, 1)], ids=str)
@pytest.mark.parametrize("last", [None, 2, 4])
def test_multiplicity_spaces_and_weight_spaces_agree(
    size: tuple[int, ...], last: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closures by the core above degree 1, and by weight spaces: numbers, representations, and
    spans in each degree.
    """
    model = SingleLayerAttention(*size)
    with monkeypatch.context() as patch:
        search_up_to(1, patch)
        found = closure_of_model(model, engine=RecordedEngine(Path()), max_degree=last)
    degree = last or max((part.degree for part in found.representations or ()), default=1)
    expected = closure_of_model(model, strategy="multigraded", max_degree=degree)
    assert str(found.completeness) == ("proved" if last is None else f"up to degree {last}")
    for name in ("generator_degrees", "hilbert_function", "representations", "dimension"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.ideal is not None
    assert expected.ideal is not None
    both = [[sparse_terms(g) for g in ideal.generators] for ideal in (found.ideal, expected.ideal)]
    for n in found.generator_degrees or ():
        spans = {spanned(kind, model.coordinate_count, n) for kind in (*both, both[0] + both[1])}
        assert len(spans) == 1


def sparse_terms(polynomial: PolyElement) -> dict[tuple[int, ...], int]:
    """The coefficients by the sorted numbers of the variables."""
    return {
        tuple(j for j, exponent in enumerate(exponents) for _ in range(exponent)): int(c)
        for exponents, c in polynomial.items()
    }


def test_a_limit_leaves_the_degrees_that_were_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    model, looks = SingleLayerAttention(2, 2), Looks()
    search_up_to(1, monkeypatch)
    multiplicity_spaces.cache_clear()
    with limited(1e9, now=looks):
        whole = closure_of_model(model, max_degree=3)
    reached = set()
    for number in range(looks.number // 2, looks.number - 1, max(looks.number // 24, 1)):
        multiplicity_spaces.cache_clear()
        with limited(number, now=Looks()):
            found = closure_of_model(model, max_degree=3)
        last = len(found.hilbert_function or ()) - 1
        assert (
            found.hilbert_function is None
            or found.hilbert_function == (whole.hilbert_function or ())[: last + 1]
        )
        assert bool(found.unfinished) == (last < 3)
        reached.add(last)
    assert {1, 2} <= reached


def test_generators_that_are_not_written_out_are_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m2bridge.maps.completeness.MAX_ALL_DEGREES_MONOMIALS", 1000)
    monkeypatch.setattr("m2bridge.maps.completeness.MAX_SEARCHED_MONOMIALS", 100)
    search_up_to(2, monkeypatch)
    model = SingleLayerAttention(2, 2)
    found = closure_of_model(model, engine=RecordedEngine(Path()))
    assert (str(found.completeness), found.generator_degrees) == ("up to degree 2", {2: 5})
    assert found.whole_ideal().generator_degrees == {2: 5, 4: 10}
    assert vanishes_on_image(found.whole_ideal(), model.parametrization())


@pytest.mark.slow
def test_relations_at_points_that_do_not_separate_are_no_equations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At one point any two covariants are dependent, though the type is in C_5 twice."""
    size = CoreSize(3, 2, 2)
    shapes = ((3, 2), (3, 2), (5, 3, 2))
    spaces = spaces_module.MultiplicitySpaces(size, size.dimensions)
    spaces.generators(5)
    assert spaces.ring(5)[shapes] == 2
    assert len(highest_weights.highest_weight_vectors(spaces, 5, shapes)) == 1
    spaces._points[5] = spaces.points(5).first_points(1)
    monkeypatch.setattr(highest_weights, "MAX_RELATION_TRIES", 5)
    with pytest.raises(MethodUnavailableError, match="the points do not separate"):
        highest_weights.highest_weight_vectors(spaces, 5, shapes)


def test_highest_weight_vectors_are_written_for_all_sizes() -> None:
    found = closures_of_all_sizes(CORES[1:2], vectors=True)
    assert "highest weight vectors" in str(found)
    assert "S_11 X ⊗ S_2 H ⊗ S_31 Y" in str(found)
    first, second = (
        kind["highest_weight_vectors"] for kind in found.to_json()["closures"][0]["representations"]
    )
    assert first in (
        ["c_1_1_1_2*c_1_2_1_1 - c_1_1_1_1*c_1_2_1_2"],
        ["-c_1_1_1_2*c_1_2_1_1 + c_1_1_1_1*c_1_2_1_2"],
    )
    form = [[2 * Symbol("c_1_1_1_1"), *symbols("c_1_1_1_2 c_1_1_1_3")], [0] * 3, [0] * 3]
    form[1] = [form[0][1], 2 * Symbol("c_1_1_2_2"), Symbol("c_1_1_2_3")]
    form[2] = [form[0][2], form[1][2], 2 * Symbol("c_1_1_3_3")]
    assert cancel(Matrix(form).det() / sympify(second[0])) in (2, -2)


def expanded(formula: str, degree: int) -> dict[tuple[tuple[int, ...], ...], int]:
    """A product of determinants of numbered factors as a polynomial, by its text alone; the k, i,
    p, q from 0.
    """
    places: dict[str, list[list[int]]] = {space: [] for space in "XHY"}
    for bracket, space in re.findall(r"\[(\d+)\]_([XHY])", formula):
        places[space].append([int(digit) - 1 for digit in bracket])
    found: Counter[tuple[tuple[int, ...], ...]] = Counter()
    named = [(space, column) for space, listed in places.items() for column in listed]
    for chosen in product(*(list(permutations(range(len(column)))) for _, column in named)):
        factors = [{"X": [0], "H": [0], "Y": list[int]()} for _ in range(degree)]
        sign = 1
        for (space, column), order in zip(named, chosen, strict=True):
            sign *= (-1) ** sum(a > b for a, b in combinations(order, 2))
            for factor, index in zip(column, order, strict=True):
                factors[factor][space] = [*(factors[factor][space] if space == "Y" else []), index]
        names = [
            (f["H"][0], f["X"][0], *sorted([*f["Y"], 0, 0][: max(2, len(f["Y"]))])) for f in factors
        ]
        found[tuple(sorted(names))] += sign * 2 ** sum(p == q for _, _, p, q in names)
    return {monomial: c for monomial, c in found.items() if c}


@pytest.mark.parametrize("core", [(2, 1, 1), (2, 1, 2), (2, 2, 2)], ids=str)
def test_products_of_determinants_are_the_polynomials(core: tuple[int, int, int]) -> None:
    size = CoreSize(*core)
    for (n, _, _), vectors in highest_weights.vectors_by_type(size, core_types(size)):
        for vector in vectors:
            if len(vector.terms) == 1:
                terms = expanded(vector.formula, n)
                ratios = {Fraction(c, vector.polynomial[monomial]) for monomial, c in terms.items()}
                assert terms.keys() == vector.polynomial.keys()
                assert len(ratios) == 1


def test_coefficients_of_any_length_are_lifted_modulo_the_prime() -> None:
    random = Random(3)
    points = SourcePoints.random((2, 2, 3), 2, 6, random)
    T = Covariant.random(((2, 1), (2, 1), (3, 2, 1)), random)
    assert T is not None
    short, long = (
        highest_weights.polarization_values([c], [T], points) for c in (5, 5 + LARGE_PRIME**3)
    )
    assert short.any()
    assert (short == long).all()


@pytest.mark.parametrize("core", [CoreSize(3, 2, 2), CoreSize(4, 2, 2)], ids=str)
def test_there_is_one_equation_for_each_value_of_the_hilbert_function(core: CoreSize) -> None:
    """From n = 0 on; where sections of two types are missing both are subtracted, as in degree 3 at
    (4, 2, 2).
    """
    part = ClosureOfSizes((), coordinate_ring(core))
    *single, general = part.hilbert_equations()
    assert [equation.split(" = ")[0] for equation in single] == [
        f"H({n})" for n in range(part.ring.all_sections_from)
    ]
    assert general == f"H(n) = h(n) for n ≥ {part.ring.all_sections_from}"
    model = SingleLayerAttention(core.variables, 2, 2)
    assert implicitize(graded_source(model), 3).hilbert_function == tuple(
        sections_of(model, n) - sum(_at(model, one) for one in part.missing_in_degree(n))
        for n in range(4)
    )
    for n, equation in enumerate(single):
        assert equation.count(" − dim ") == len(part.missing_in_degree(n))
    assert all(f"{equation}; " in str(part.facts()) for equation in single)


def _at(model: SingleLayerAttention, one: Representation) -> int:
    return replace(one, sizes=(model.d, model.d_out, model.d)).dimension


def test_the_third_value_at_4_2_2() -> None:
    part = ClosureOfSizes((), coordinate_ring(CoreSize(4, 2, 2)))
    model = SingleLayerAttention(4, 2, 2)
    missing = [_at(model, one) for one in part.missing_in_degree(3)]
    assert (sections_of(model, 3), sorted(missing), sections_of(model, 3) - sum(missing)) == (
        72000,
        [240, 2560],
        69200,
    )


def test_the_degrees_of_generators_are_compared_one_by_one() -> None:
    """Not the largest one alone."""
    planted = {3: 1, 4: 10}, {2: 5, 4: 10}
    for computed, predicted in (planted, planted[::-1]):
        for last, right in ((None, "CONFIRMED"), (4, "UNDECIDED")):
            for kind in VALUE_CLASSES.values():
                observed = kind.of(computed, last)
                assert observed.against(kind.of(predicted))[0] == "REFUTED"
                assert observed.against(kind.of(computed))[0] == right
    more, fewer = {2: 5, 4: 10}, {2: 5, 4: 9}
    assert GeneratorNumbers.of(fewer).against(GeneratorNumbers.of(more))[0] == "REFUTED"
    assert GeneratorDegrees.of(fewer).against(GeneratorDegrees.of(more))[0] == "CONFIRMED"
    assert GeneratorDegrees.of({2: 5}, 3).against(GeneratorDegrees.of(more))[0] == "UNDECIDED"
    _, text = GeneratorDegrees.of({}, 2).against(GeneratorDegrees.of({2: 5}))
    assert text.startswith("by the core degree 2; computed: no generators")


def test_each_statement_about_generators_can_be_asked_for() -> None:
    model = SingleLayerAttention(2, 2, t=1)
    for names in (("generators", "generated"), ("generated",)):
        found = generators_cross_checked(model, names)
        assert tuple(verdict.name for verdict in found.verdicts) == names
    assert "these" not in WORDS.words("generated", "").text
    answer = CliRunner().invoke(
        cli, ["cross-check", "generated", "--d", "2", "--d-out", "2", "--t", "1"]
    )
    assert answer.exit_code == 0, answer.output
    assert "NOT_APPLICABLE  generated" in answer.output
    assert "generators: " not in answer.output


def test_what_takes_a_closure_of_its_own_is_asked_for_apart() -> None:
    """It is not part of all, and there are no certificates of numbers by degree; an observation is
    about one kind of numbers.
    """
    model = SingleLayerAttention(2, 2)
    stated = {statement.key: statement for statement in model.statements()}
    apart = {key for key, statement in stated.items() if statement.separate_computation}
    certified = {"exposed", "exposed-heads", "learning-degree"}
    assert apart == {"hilbert", "generators", "generated", *certified}
    # types of weights and numbers of critical points are certified where that is asked for
    assert apart & questions("attention").keys() == certified
    assert not any(questions("attention")[key].usual(model) for key in certified)
    assert apart.isdisjoint(statement.key for statement in sharing_one_observation(stated.values()))
    for keys in (("hilbert", "generators"), ("generators", "degree"), ("exposed", "degree")):
        with pytest.raises(MethodUnavailableError, match="observed separately"):
            cross_check(
                model, statements=[stated[key] for key in keys], engine=RecordedEngine(Path())
            )


def test_what_is_decided_for_all_sizes_is_in_the_words() -> None:
    """Every core that is decided, and no other; so that the words are about no size that is not."""
    for statement in ABOUT_GENERATORS:
        for cores in (CORES, CORES[1:3]):
            verdict = _verdict(statement, cores, (), "")
            said = verdict.to_json()["text"]
            named = [
                CoreSize(*map(int, one.split(", ")))
                for one in re.findall(r"\((\d, \d, \d)\)", said)
            ]
            assert named == list(cores)
            assert said == verdict.to_finding().sentence
            assert "not decided for others" not in verdict.reason
            assert "m = min(d, e + f)" in said
    assert _verdict(ABOUT_GENERATORS[0], CORES, (), "a limit").decision == "UNDECIDED"


def test_known_representations_are_those_found_in_the_degrees_that_were_computed() -> None:
    """One too many is noticed there as one too few is; above these degrees they are all that is
    known.
    """
    model = SingleLayerAttention(2, 2)
    right = representations(model)
    found = implicitize(graded_source(model), 4)
    assert generator_representations(Equations(found, representations=right), model) == right
    cubic = Representation(3, right[0].spaces, right[0].sizes, ((2, 1), (2, 1), (3, 3)))
    too_many = (*right, cubic), (*right, replace(right[0], shapes=((2,), (2,), (2, 2))))
    for wrong in (*too_many, right[1:], (replace(right[0], multiplicity=2), *right[1:])):
        with pytest.raises(
            ContradictionError, match="different representations in some multidegree"
        ):
            generator_representations(Equations(found, representations=wrong), model)
    low = implicitize(graded_source(model), 2)
    continued = low.continue_with([1, 12, 73, 304, 975], HigherDegrees({4: 10}, lambda: iter(())))
    for part in (low, continued):  # of degree 4 no multidegree was computed
        assert generator_representations(Equations(part, representations=right), model) == right
        with pytest.raises(ContradictionError):
            generator_representations(Equations(part, representations=right[1:]), model)
    with pytest.raises(ContradictionError):
        generator_representations(Equations(continued, representations=(*right, cubic)), model)
