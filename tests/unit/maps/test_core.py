"""The core of a closure: its theorem's finite checks, its section counts against ranks, and planted
mistakes.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, product
from math import comb

import flint
import pytest

from m2bridge.algebra.field import QQ
from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.ideal import multiplicity_spaces, representations
from m2bridge.families.attention.ideal.multiplicity_spaces import MultiplicitySpaces
from m2bridge.families.attention.ideal.representations import coordinate_ring
from m2bridge.families.attention.ideal.sections import (
    CoreSize,
    PartitionTriple,
    largest_minor_degree,
    section_count,
    sections_of,
)
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits.coordinates import coordinate, entry_names, reduced_name
from m2bridge.families.attention.sizes import degree_formula, dimension_formula
from m2bridge.implicitization.multigraded_map import MultigradedMap, multigraded
from m2bridge.limits import limited
from m2bridge.maps.completeness import Core, prove_by_core
from m2bridge.maps.equations import (
    Equations,
    dimension_by_equations,
    graded_source,
    low_degree_equations,
)
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.results.known import Bounds
from tests.exact_ideals import series_of
from tests.hilbert_by_ranks import hilbert_function
from tests.limits import Looks
from tests.tiers import slow

Vector = tuple[int, ...]
SIZES = {
    (1, 3, 1): (CoreSize(1, 1, 1), 2),
    (2, 7, 1): (CoreSize(2, 1, 2), 3),
    (2, 6, 2): (CoreSize(2, 2, 2), 3),
    (3, 2, 2): (CoreSize(3, 2, 2), 3),
    (4, 1, 2): (CoreSize(3, 2, 1), 4),
    (4, 1, 4): (CoreSize(4, 4, 1), 1),
    (5, 1, 1): (CoreSize(2, 1, 1), 3),
    (5, 9, 2): (CoreSize(5, 2, 5), 6),
}


@pytest.mark.parametrize("case", SIZES, ids=str)
def test_size_of_the_core_and_degree_of_the_minors_outside(case: tuple[int, int, int]) -> None:
    model = SingleLayerAttention(*case)
    assert (CoreSize.of(model), largest_minor_degree(model)) == SIZES[case]


def test_bounds() -> None:
    bounds = {
        (2, 1, 2): 4,
        (2, 2, 2): 4,
        (3, 2, 1): 5,
        (3, 2, 2): 5,
        (3, 3, 2): 5,
        (4, 4, 1): 6,
        (4, 2, 2): 6,
    }
    assert {size: coordinate_ring(CoreSize(*size)).bound for size in bounds} == bounds


def test_the_bound_is_that_of_the_lemmas() -> None:
    """The largest of those for t_1(S) and t_2(M), the latter over all hooks; the same with A and Vᵀ
    exchanged.
    """
    for m, e, f in product(range(2, 7), range(1, 7), range(1, 7)):
        if max(e, f) <= m <= e + f:
            hooks = [max(i, j) + 1 for i in range(e) for j in range(f) if 1 <= i + j <= m - 2]
            relations = max(min(e, f, m // 2) + 3, 4, *(g + 3 for g in hooks))
            degree = CoreSize(m, e, f).decisive_degree
            assert degree == CoreSize(m, f, e).decisive_degree == relations - 1


# Finite checks of docs/completeness.md: homology in the weight that every representation has.


def balanced(total: int, size: int) -> Vector:
    return tuple(total // size + (place < total % size) for place in range(size))


def compositions(total: int, size: int) -> Iterator[Vector]:
    if size == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, size - 1):
            yield (first, *rest)


def second_syzygies(degrees: Vector, degree: int, size: int = 3) -> int:
    """Tor_2 of ⊕ S_{n·degrees[0]}(C^size) ⊗ … over its polynomial ring, in one weight of a degree.

    The first homology of the complex of sets of coordinates whose product divides the weight.
    """
    coordinates = [sum(parts, ()) for parts in product(*(compositions(d, size) for d in degrees))]
    weight = sum((balanced(degree * d, size) for d in degrees), ())

    def divides(face: Vector) -> bool:
        return all(sum(coordinates[j][i] for j in face) <= w for i, w in enumerate(weight))

    vertices = [j for j in range(len(coordinates)) if divides((j,))]
    edges = [face for face in combinations(vertices, 2) if divides(face)]
    number = {edge: i for i, edge in enumerate(edges)}
    triangles = [
        (*edge, c) for edge in edges for c in vertices if c > edge[1] and divides((*edge, c))
    ]
    boundaries = [{number[b, c]: 1, number[a, c]: -1, number[a, b]: 1} for a, b, c in triangles]
    return len(edges) - rank_modulo([{a: -1, b: 1} for a, b in edges]) - rank_modulo(boundaries)


def rank_modulo(rows: list[dict[int, int]]) -> int:
    """Modulo a prime, which can only make a homology larger."""
    matrix = flint.nmod_mat(
        len(rows), 1 + max((j for row in rows for j in row), default=0), LARGE_PRIME
    )
    for i, row in enumerate(rows):
        for j, value in row.items():
            matrix[i, j] = value % LARGE_PRIME
    return int(matrix.rank())


def test_segre_veronese_varieties_have_linear_syzygies_of_their_quadrics() -> None:
    """Lemma 3: Tor_2 of A and of A' is zero in degree 4; in degree 3, where it lives, it is not."""
    for degrees in [(1, 1, 2), (1, 1, 1)]:
        assert second_syzygies(degrees, 4) == 0
        assert second_syzygies(degrees, 3) > 0


def antisymmetric_torsion(place: int, degree: int, size: int = 4) -> int:
    """Tor_place of ⊕ Λ²S_nY over Sym(S²Y), dim Y = size, in the most balanced weight of a
    degree.
    """
    weight = balanced(2 * degree, size)
    ranks, dimensions = [], []
    for i in (place + 1, place):
        ranks.append(sparse_rank(koszul_differentials(i, degree - i, weight)))
        dimensions.append(len(list(koszul_basis(i, degree - i, weight))))
    return dimensions[1] - ranks[0] - ranks[1]


def koszul_basis(
    i: int, n: int, weight: Vector
) -> Iterator[tuple[tuple[Vector, ...], Vector, Vector]]:
    """The wedge of i coordinates y_p y_q, and u ∧ v for monomials u < v of degree n."""
    if n < 0:
        return
    squares, monomials = (list(compositions(total, len(weight))) for total in (2, n))
    for wedge in combinations(squares, i):
        rest = tuple(w - sum(factor[j] for factor in wedge) for j, w in enumerate(weight))
        for u in monomials:
            v = tuple(r - e for r, e in zip(rest, u, strict=True))
            if u < v and min(v) >= 0:
                yield wedge, u, v


def koszul_differentials(i: int, n: int, weight: Vector) -> Iterator[dict[object, int]]:
    """y_p y_q acts on u ∧ v by y_p u ∧ y_q v + y_q u ∧ y_p v, and y_p² by y_p u ∧ y_p v."""
    for wedge, u, v in koszul_basis(i, n, weight):
        image: Counter[object] = Counter()
        for position, factor in enumerate(wedge):
            rest = wedge[:position] + wedge[position + 1 :]
            for first in {
                tuple(int(j == p) for j in range(len(u))) for p in range(len(u)) if factor[p]
            }:
                left = tuple(a + b for a, b in zip(u, first, strict=True))
                right = tuple(a + c - b for a, b, c in zip(v, first, factor, strict=True))
                if left != right:
                    sign = (-1) ** (position + (left > right))
                    image[rest, min(left, right), max(left, right)] += sign
        yield {key: value for key, value in image.items() if value}


@pytest.mark.slow
def test_antisymmetric_functions_have_linear_relations() -> None:
    """Lemma 5: Tor_i in degree i + 1 only for i ≤ 2; its regularity 3 bounds the degrees. Tor_3 is
    in degree 6.
    """
    torsion = {(i, n): antisymmetric_torsion(i, n) for i in range(4) for n in range(i, i + 4)}
    assert {key for key, value in torsion.items() if value} == {(0, 1), (1, 2), (2, 3), (3, 6)}


def source_torsion(size: CoreSize, place: int, degree: int) -> int:
    """Tor_place of the ring of the source, over the polynomial ring, in the most balanced weight of
    a degree.
    """
    ranks = [sparse_rank(source_differentials(size, i, degree)) for i in (place, place + 1)]
    return len(list(source_basis(size, place, degree))) - sum(ranks)


def source_basis(
    size: CoreSize, i: int, degree: int
) -> Iterator[tuple[tuple[Vector, ...], Vector, Vector]]:
    """The wedge of i coordinates c_kipq, and a product of A_pi and one of V_kp, as numbers of (i,
    p) and (k, p).
    """
    m, e, f = size.variables, size.columns, size.rows
    weight = (*balanced(degree, e), *balanced(degree, f), *balanced(2 * degree, m))
    names = [
        (j, e + k, e + f + p, e + f + q)
        for j in range(e)
        for k in range(f)
        for p in range(m)
        for q in range(p, m)
    ]
    for wedge in combinations(names, i):
        left = [w - sum(factor.count(place) for factor in wedge) for place, w in enumerate(weight)]
        if min(left) >= 0:
            forms = [j for j in range(e + f) for _ in range(left[j])]
            for places in set(permuted(left[e + f :], len(forms))):
                pairs = sorted(zip(forms, places, strict=True))
                if [p for _, p in pairs] == list(places):
                    yield wedge, tuple(forms), places


def permuted(left: list[int], length: int) -> Iterator[Vector]:
    if length == 0:
        yield ()
    for p, number in enumerate(left):
        if number:
            yield from (
                (p, *rest)
                for rest in permuted([n - (j == p) for j, n in enumerate(left)], length - 1)
            )


def source_differentials(size: CoreSize, i: int, degree: int) -> Iterator[dict[object, int]]:
    """c_kipq acts as A_pi·V_kq + A_qi·V_kp, and as A_pi·V_kp for p = q."""
    first = size.columns + size.rows
    for wedge, forms, places in source_basis(size, i, degree) if i else ():
        image: Counter[object] = Counter()
        for position, (j, k, p, q) in enumerate(wedge):
            for a, b in {(p, q), (q, p)}:
                pairs = sorted([*zip(forms, places, strict=True), (j, a - first), (k, b - first)])
                image[wedge[:position] + wedge[position + 1 :], tuple(pairs)] += (-1) ** position
        yield image


@pytest.mark.parametrize("size", [(2, 1, 1), (2, 2, 2), slow((3, 2, 1))], ids=str)
def test_the_source_has_generators_and_relations_of_low_degree(size: tuple[int, int, int]) -> None:
    """Generators Λⁿ ⊗ Λⁿ ⊗ Λ²ⁿ, of which every weight is seen in the balanced one; relations of
    degree ≤ 3 here.
    """
    core_size = CoreSize(*size)
    most = min(core_size.columns, core_size.rows, core_size.variables // 2)
    generators = {n for n in range(5) if source_torsion(core_size, 0, n)}
    assert generators == set(range(most + 1))
    assert all(source_torsion(core_size, 1, n) == 0 for n in range(4, most + 5))


# The section counts.


def map_of(size: CoreSize) -> MultigradedMap:
    """The coefficients c_k_i_p_q of l_i·v_k."""
    m = size.variables
    source = PolynomialRing(QQ, entry_names("A", m, size.columns) + entry_names("V", size.rows, m))
    value = dict(zip(source.variables, source.sympy_ring.gens, strict=True))
    images = {
        reduced_name((k, i, p, q)): coordinate(
            (k, i, p, q),
            lambda p, i: value[f"A_{p + 1}_{i + 1}"],
            lambda k, p: value[f"V_{k + 1}_{p + 1}"],
        )
        for k, i in product(range(size.rows), range(size.columns))
        for p, q in combinations_with_replacement(range(m), 2)
    }
    return multigraded(PolynomialMap(source, tuple(images), tuple(images.values()), (), prime=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "last", "excess"),
    [
        (CoreSize(2, 1, 1), 5, {}),
        (CoreSize(2, 2, 2), 5, {}),
        (CoreSize(3, 2, 1), 6, {}),
        (CoreSize(3, 3, 1), 4, {}),
        (CoreSize(4, 2, 1), 4, {}),
        (CoreSize(3, 2, 2), 5, {2: 3, 3: 32}),
        (CoreSize(4, 2, 2), 4, {2: 15, 3: 280, 4: 15}),
    ],
    ids=str,
)
def test_hilbert_functions_are_bounded_by_sections_and_reach_them(
    size: CoreSize, last: int, excess: dict[int, int]
) -> None:
    values = hilbert_function(map_of(size), last, seed=1).values
    counts = [
        section_count(size.columns, size.rows, size.variables, size.columns, n)
        for n in range(last + 1)
    ]
    assert {
        n: c - v for n, (c, v) in enumerate(zip(counts, values, strict=True)) if c != v
    } == excess


@pytest.mark.parametrize("case", [(4, 2, 2), (5, 3, 4), (6, 2, 3), (3, 3, 3)], ids=str)
def test_sections_have_the_degree_of_the_closure(case: tuple[int, int, int]) -> None:
    """Where nothing was predicted too: the leading coefficient of h is the degree over the
    factorial.
    """
    model = SingleLayerAttention(*case)
    size = dimension_formula(model)
    value = sum(
        (-1) ** (size - 1 - n) * comb(size - 1, n) * sections_of(model, n + 1) for n in range(size)
    )
    assert value == degree_formula(model)


# Multiplicity spaces.


@pytest.mark.parametrize(
    "size", [(2, 1, 1), (2, 2, 1), (2, 1, 2), (2, 2, 2), (3, 2, 1), slow((3, 3, 1))], ids=str
)
def test_no_generators_just_above_the_bound(size: tuple[int, int, int]) -> None:
    """What the theorem says and the program does not look for: in degree B + 1 there are none."""
    core_size = CoreSize(*size)
    last = coordinate_ring(core_size).bound + 1
    assert not MultiplicitySpaces(core_size, core_size.dimensions).generators(last)


# The proof.


def known(model: SingleLayerAttention, degree: int) -> Equations:
    return low_degree_equations(graded_source(as_model(model)), degree)


def core_of(model: SingleLayerAttention) -> Core:
    found = model.core()
    assert found is not None
    return found


@pytest.mark.parametrize("case", [(2, 1, 1), (2, 2, 1), (2, 2, 2), (3, 1, 1)], ids=str)
def test_a_groebner_basis_agrees(case: tuple[int, int, int]) -> None:
    """The series of the same generators by the checker, over QQ; that ``verify`` accepts them is an
    engine test.
    """
    model = SingleLayerAttention(*case)
    proved = prove_by_core(known(model, 1), core_of(model))
    generators = list(proved.implicitization.sparse_generators())
    size = model.independent_count
    assert proved.series == series_of(generators, size)
    assert proved.series.degree == degree_formula(model)


@pytest.mark.slow
def test_generators_of_higher_degree_are_found() -> None:
    """(3, 2, 2) needs degree 5, after degrees 2, 3 and 4; the Hilbert function is below the
    sections at first.
    """
    model = SingleLayerAttention(3, 2, 2)
    proved = prove_by_core(known(model, 2), core_of(model))
    assert proved.implicitization.generator_counts == {2: 45, 3: 136, 4: 675, 5: 4770}
    assert proved.series is not None
    assert (proved.series.dimension, proved.series.degree) == (13, degree_formula(model))


def test_planted_mistakes_are_contradictions() -> None:
    model = SingleLayerAttention(2, 2)
    right, other = core_of(model), core_of(SingleLayerAttention(2, 3))
    wrong = [
        replace(right, hilbert_series=other.hilbert_series),
        replace(right, representations=other.representations),
    ]
    wrong += [replace(right, representations=lambda: right.representations()[1:])]
    for planted in wrong:
        with pytest.raises(ContradictionError):
            prove_by_core(known(model, 4), planted)
    above = prove_by_core(known(model, 1), planted).implicitization
    assert above.generator_counts == {4: 10}
    with pytest.raises(ContradictionError, match="0 generators of degree 2, not 5"):
        above.generators()


def test_what_decides_nothing_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections that are too many: the Hilbert function is not theirs in any degree that could
    decide.
    """
    model, right = SingleLayerAttention(2, 2), representations.section_multiplicities

    def more(size: CoreSize, n: int) -> dict[PartitionTriple, int]:
        return {
            kind: number + (n >= 3 and kind == ((n,), (n,), (2 * n,)))
            for kind, number in right(size, n).items()
        }

    for module in (multiplicity_spaces, representations):
        monkeypatch.setattr(module, "section_multiplicities", more)
    forget()
    found = prove_by_core(known(model, 4), core_of(model))
    assert (found.series, found.all_generators) == (None, False)
    assert "in degree 6 decides nothing" in found.unfinished


def forget() -> None:
    for name in ("multiplicity_spaces", "coordinate_ring", "core_types", "generators"):
        getattr(representations, name).cache_clear()


@pytest.mark.slow
def test_a_limit_leaves_what_was_known() -> None:
    """Whenever it ends the proof: nothing is claimed, and what is missing is said."""
    model = SingleLayerAttention(2, 2)
    start, right, looks = known(model, 2), core_of(model), Looks()
    forget()
    with limited(1e9, now=looks):
        assert prove_by_core(start, right).all_generators
    for number in range(1, looks.number - 1, max(looks.number // 12, 1)):
        forget()
        with limited(number, now=Looks()):
            found = prove_by_core(start, right)
        assert not found.all_generators
        assert "timeout=" in found.unfinished
        assert found.implicitization.max_degree >= 2


def test_what_is_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generators that are too many to be written out are representations all the same."""
    model = SingleLayerAttention(2, 2)
    monkeypatch.setattr("m2bridge.maps.completeness.MAX_ALL_DEGREES_MONOMIALS", 1000)
    found = prove_by_core(known(model, 2), core_of(model))
    assert (found.all_generators, found.implicitization.max_degree, found.unfinished) == (
        False,
        2,
        "",
    )
    assert found.series is not None
    assert [part.dimension for part in found.representations or ()] == [5, 5, 5]
    assert SingleLayerAttention(2, 1, 2, 1).core() is None


def test_full_coordinates_have_the_same_core(monkeypatch: pytest.MonkeyPatch) -> None:
    model = SingleLayerAttention(2, 2)
    full = model.in_coordinates("full").core()
    assert full is not None
    assert full.name == core_of(model).name
    monkeypatch.setattr("m2bridge.algebra.polynomial_map.same_span", lambda *_: False)
    assert model.in_coordinates("full").core() is None


def test_a_dimension_that_ranks_refute_stops_the_run() -> None:
    """The dimension of a proved Hilbert series is held against ranks of the differential, which
    know no ideal.
    """
    model = SingleLayerAttention(2, 1, 1)
    proved = prove_by_core(known(model, 1), core_of(model))
    assert proved.series is not None
    right = proved.series.dimension
    assert dimension_by_equations(proved, Bounds.exactly(right)).exact == right
    with pytest.raises(ContradictionError, match="the Hilbert series of the ideal"):
        dimension_by_equations(proved, Bounds.exactly(right - 1))
