"""Random values of the kinds of docs/values.md that are made of elements of rings."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.values.rings import Algebra, IntegerRing, ring_variables
from m2bridge.ideals.ideal import Ideal
from m2bridge.workspace.values import (
    BettiTable,
    Complex,
    ComplexField,
    ComplexMap,
    Factorization,
    FractionField,
    GaloisField,
    GeneralIdeal,
    GroebnerBasis,
    HilbertPolynomial,
    Matrix,
    Module,
    MonomialIdeal,
    MutableMatrix,
    Net,
    RealField,
    RealInterval,
    RingMap,
    Vector,
)
from tests.random_rings import RINGS, commutative, elements, fields, nonzero, plain_rings, reals

modest = st.one_of(commutative, RINGS["exterior algebras"], st.just(IntegerRing()))


def degree_length(ring: Any) -> int:
    """How many integers a degree of an element has."""
    match ring:
        case PolynomialRing():
            return 1
        case Algebra():
            return ring.rank + (degree_length(ring.coefficients) if ring.joined else 0)
        case GaloisField():
            return 0
    below = getattr(ring, "ambient", None) or getattr(ring, "ring", None)
    return degree_length(below) if below is not None else 0


def lists(some: st.SearchStrategy[Any], count: int) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(some, min_size=count, max_size=count).map(tuple)


def free_modules(ring: Any, least: int = 0) -> st.SearchStrategy[Module]:
    degree = lists(st.integers(-3, 3), degree_length(ring))
    return st.lists(degree, min_size=least, max_size=3).map(
        lambda degrees: Module(ring, tuple(degrees))
    )


@st.composite
def matrices(
    draw: st.DrawFn, target: Module, source: Module | None = None, degree: Any = None
) -> Matrix:
    """Between free modules, homogeneous or not."""
    source = source or draw(free_modules(target.ring))
    rows = tuple(draw(lists(elements(target.ring), len(source.degrees))) for _ in target.degrees)
    zero = (0,) * degree_length(target.ring)
    return Matrix(
        target, source, rows, draw(degree) if degree is not None and rows and rows[0] else zero
    )


@st.composite
def any_matrices(draw: st.DrawFn) -> Matrix:
    """Those without rows or columns, and of other degrees, too."""
    ring = draw(modest)
    degree = lists(st.integers(-2, 2), degree_length(ring))
    return draw(matrices(draw(free_modules(ring)), degree=degree if draw(st.booleans()) else None))


@st.composite
def mutable_matrices(draw: st.DrawFn) -> MutableMatrix:
    """They have no degrees in Macaulay2."""
    ring = draw(plain_rings)
    target, source = (Module(ring, ((0,),) * draw(st.integers(1, 3))) for _ in range(2))
    return MutableMatrix(draw(matrices(target, source)))


@st.composite
def modules(draw: st.DrawFn, rings: st.SearchStrategy[Any] = modest) -> Module:
    """Free modules, images, cokernels and subquotients."""
    ring = draw(rings)
    basis = draw(free_modules(ring, least=1))
    parts = [
        draw(matrices(basis, draw(free_modules(ring, 1)))) if draw(st.booleans()) else None
        for _ in range(2)
    ]
    generators, relations = parts
    if relations is not None and not any(x for row in relations.entries for x in row):
        relations = None  # as Macaulay2 has it
    return Module(ring, basis.degrees, generators, relations)


@st.composite
def maps_of_modules(draw: st.DrawFn) -> Matrix:
    """From a free module to any module; of rings in which a Gröbner basis takes no time."""
    target = draw(
        modules(st.builds(PolynomialRing, fields, st.just(("x",))) | st.just(IntegerRing()))
    )
    ring, generators = target.ring, target.generators
    count = len(target.degrees) if generators is None else generators.shape[1]
    source = draw(free_modules(ring, 1))
    rows = tuple(draw(lists(elements(ring), len(source.degrees))) for _ in range(count))
    return Matrix(target, source, rows, (0,) * degree_length(ring))


@st.composite
def vectors(draw: st.DrawFn) -> Vector:
    module = draw(modest.flatmap(lambda ring: free_modules(ring, 1)))
    return Vector(module, draw(lists(elements(module.ring), len(module.degrees))))


@st.composite
def ideals(draw: st.DrawFn) -> Ideal | GeneralIdeal:
    ring = draw(plain_rings | modest)
    if isinstance(ring, PolynomialRing):
        return Ideal(ring, tuple(draw(st.lists(nonzero(ring), max_size=3))))
    return GeneralIdeal(ring, tuple(draw(st.lists(elements(ring), min_size=1, max_size=3))))


@st.composite
def monomial_ideals(draw: st.DrawFn) -> MonomialIdeal:
    """By powers of different variables, so that no generator is too many."""
    ring = draw(plain_rings)
    powers = draw(st.lists(st.integers(1, 5), min_size=1, max_size=len(ring.variables)))
    return MonomialIdeal(
        ring, tuple(x**n for x, n in zip(ring.sympy_ring.gens, powers, strict=False))
    )


@st.composite
def ring_maps(draw: st.DrawFn) -> RingMap:
    source, target = draw(plain_rings), draw(commutative)
    target = target if characteristic(target) == source.field.characteristic else source
    return RingMap(target, source, draw(lists(elements(target), len(source.variables))))


def characteristic(ring: Any) -> int:
    while not hasattr(ring, "characteristic"):
        if isinstance(ring, IntegerRing | RealField | ComplexField):
            return 0
        ring = getattr(ring, "field", None) or getattr(ring, "coefficients", None) or ring.ambient
    return int(ring.characteristic)


@st.composite
def koszul_complexes(draw: st.DrawFn) -> Complex:
    """Of two elements of a commutative ring, from any degree on; with a zero map to the right."""
    ring = draw(plain_rings | RINGS["degrees and orders"])
    f, g = draw(nonzero(ring)), draw(nonzero(ring))
    zero = (0,) * degree_length(ring)
    one, two = Module(ring, (zero,)), Module(ring, (zero, zero))
    minus = negative(g)
    maps = (Matrix(one, two, ((f, g),), zero), Matrix(two, one, ((minus,), (f,)), zero))
    return Complex(ring, draw(st.integers(-3, 3)), (one, two, one), maps)


def negative(value: Any) -> Any:
    from dataclasses import replace

    if hasattr(value, "terms") and not callable(value.terms):
        return replace(value, terms=tuple((m, -c) for m, c in value.terms))
    return -value


@st.composite
def zero_complexes(draw: st.DrawFn) -> Complex:
    """With zero maps between free modules."""
    ring = draw(plain_rings)
    parts = draw(st.lists(free_modules(ring, 1), min_size=1, max_size=4))
    zero = ring.sympy_ring.zero
    maps = tuple(
        Matrix(below, above, ((zero,) * len(above.degrees),) * len(below.degrees), (0,))
        for below, above in pairwise(parts)
    )
    return Complex(ring, draw(st.integers(-3, 3)), tuple(parts), maps)


@st.composite
def maps_of_complexes(draw: st.DrawFn) -> ComplexMap:
    """Of any degree; they need not commute with anything."""
    source = draw(zero_complexes())
    ring, degree = source.ring, draw(st.integers(-1, 1))
    parts = [draw(free_modules(ring, 1)) for _ in source.modules]
    zero = ring.sympy_ring.zero
    differentials = tuple(
        Matrix(below, above, ((zero,) * len(above.degrees),) * len(below.degrees), (0,))
        for below, above in pairwise(parts)
    )
    target = Complex(ring, source.low + degree, tuple(parts), differentials)
    maps = (
        draw(matrices(below, above)) for above, below in zip(source.modules, parts, strict=True)
    )
    return ComplexMap(source, target, degree, tuple(maps))


@st.composite
def intervals(draw: st.DrawFn) -> RealInterval:
    precision = draw(st.sampled_from([53, 100]))
    ends = draw(lists(reals(precision), 2))
    return RealInterval(*sorted(ends, key=lambda end: end.exact))


@st.composite
def nets(draw: st.DrawFn) -> Net:
    """Whose lines have one length, as Macaulay2's have."""
    width = draw(st.integers(1, 6))
    written = draw(st.lists(st.text('ab |"\\', min_size=width, max_size=width), max_size=4))
    return Net(tuple(written), draw(st.integers(-2, 5)) if written else 0)


@st.composite
def groebner_bases(draw: st.DrawFn) -> GroebnerBasis:
    """As they are forced to be, whether they are or not."""
    ring = draw(plain_rings)
    target, source = draw(free_modules(ring, 1)), draw(free_modules(ring, 1))
    rows = [draw(lists(nonzero(ring), len(source.degrees))) for _ in target.degrees]
    return GroebnerBasis(Matrix(target, source, tuple(rows), (0,)))


def _table(entries: dict[Any, int]) -> BettiTable:
    return BettiTable(
        tuple(sorted(((i, degree, sum(degree)), n) for (i, degree), n in entries.items()))
    )


betti_tables = st.dictionaries(
    st.tuples(st.integers(-2, 4), lists(st.integers(-3, 5), 2)), st.integers(1, 99)
).map(_table)
hilbert_polynomials = st.dictionaries(st.integers(0, 5), st.integers(-9, 9).filter(bool)).map(
    lambda found: HilbertPolynomial(tuple(sorted(found.items())))
)
factorizations = st.one_of(
    st.lists(
        st.tuples(st.sampled_from([2, 3, 5, 10**30 + 57]), st.integers(1, 9)),
        min_size=1,
        max_size=3,
    ),
    plain_rings.flatmap(
        lambda ring: st.lists(st.tuples(nonzero(ring), st.integers(1, 9)), min_size=1, max_size=3)
    ),
).map(lambda factors: Factorization(tuple(factors))) | st.integers(1, 9).map(
    lambda n: Factorization(((-1, 1), (7, n)))
)


def facts_of_ring(ring: Any) -> Any:
    """What Macaulay2 has to say of it: variables, characteristic, whether it is commutative,
    degrees.
    """
    if isinstance(ring, RealField | ComplexField):
        return None
    names = ring_variables(ring.ring if isinstance(ring, FractionField) else ring)
    length = degree_length(ring)
    over = ring
    while not isinstance(over, PolynomialRing | Algebra | IntegerRing | CoefficientField):
        over = (
            over.quotient
            if isinstance(over, GaloisField)
            else getattr(over, "ambient", None) or over.ring
        )
    below = (
        ()
        if not length or not getattr(over, "joined", True)
        else (0,) * (length - getattr(over, "rank", 1))
    )
    own = over.degrees if isinstance(over, Algebra) else ((1,),) * len(names)
    degrees = [list(degree + below) for degree in own] if length else [[] for _ in names]
    noncommutative = isinstance(over, Algebra) and (over.skew or over.weyl)
    return len(names), characteristic(over), not noncommutative, length, degrees


def facts_of_matrix(matrix: Matrix) -> Any:
    """Rows, columns, degrees."""
    target, source = (list(map(list, module.degrees)) for module in (matrix.target, matrix.source))
    return len(target), len(source), target, source, list(matrix.degree)


def facts_of_module(module: Module) -> Any:
    """Degrees, and what it is made of."""
    degrees = list(map(list, module.degrees))
    columns = [
        0 if part is None else part.shape[1] for part in (module.generators, module.relations)
    ]
    generators = len(degrees) if module.generators is None else columns[0]
    return (
        degrees,
        generators,
        columns[1],
        module.generators is not None,
        module.relations is not None,
    )


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "ideals": ideals(),
    "monomial ideals": monomial_ideals(),
    "matrices": any_matrices(),
    "mutable matrices": mutable_matrices(),
    "modules": modules(),
    "maps of modules": maps_of_modules(),
    "vectors": vectors(),
    "ring maps": ring_maps(),
    "Koszul complexes": koszul_complexes(),
    "complexes with zero maps": zero_complexes(),
    "maps of complexes": maps_of_complexes(),
    "Gröbner bases": groebner_bases(),
    "intervals": intervals(),
    "nets": nets(),
    "Betti tables": betti_tables,
    "Hilbert polynomials": hilbert_polynomials,
    "factorizations": factorizations,
}
