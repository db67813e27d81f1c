"""Random rings of every kind of docs/values.md, and random elements of any ring, as Macaulay2 gives
them back.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import assume, strategies as st

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.values.rings import ring_variables
from m2bridge.workspace.values import (
    Algebra,
    ComplexField,
    ComplexNumber,
    FractionField,
    GaloisField,
    IntegerRing,
    QuotientRing,
    Real,
    RealField,
    RingElement,
    RingFraction,
)

VARIABLES = [
    ("x",),
    ("x", "y"),
    ("x_1", "x_2", "x_3"),
    ("alpha", "res", "c_1_2"),
    ("p_0_0", "p_0_1", "e", "i"),
]

prime_fields = st.sampled_from([2, 3, 101, 32003, 2**31 - 1]).map(CoefficientField)
fields = st.just(QQ) | prime_fields
grounds = fields | st.just(IntegerRing())
small = st.integers(-3, 3)
integers = small | st.integers(-(10**25), 10**25)
fractions = st.builds(Fraction, integers, st.integers(1, 30))


def reals(precision: int) -> st.SearchStrategy[Real]:
    """Real numbers that are none of the special ones."""
    return st.builds(
        Real,
        st.integers(1 - 2**precision, 2**precision - 1),
        st.integers(-80, 80),
        st.just(precision),
    )


def complex_numbers(precision: int) -> st.SearchStrategy[ComplexNumber]:
    return st.builds(ComplexNumber, reals(precision), reals(precision))


plain_rings = st.builds(PolynomialRing, fields, st.sampled_from(VARIABLES))


def split(count: int) -> st.SearchStrategy[list[int]]:
    """Sizes of blocks of so many variables."""
    cuts = (
        st.lists(st.integers(1, count - 1), max_size=2, unique=True) if count > 1 else st.just([])
    )
    return cuts.map(
        lambda found: [
            b - a for a, b in zip([0, *sorted(found)], [*sorted(found), count], strict=True)
        ]
    )


@st.composite
def orders(draw: st.DrawFn, count: int) -> tuple[tuple[str, Any], ...]:
    """Monomial orders, blocks of different kinds, with weights before them; GLex is made of
    both.
    """
    parts: list[tuple[str, Any]] = []
    if draw(st.booleans()):
        parts.append(
            ("Weights", tuple(draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))))
        )
    if draw(st.integers(0, 4)) == 0:
        return ("Weights", (1,) * count), ("Lex", count)
    for size in draw(split(count)):
        kind = draw(st.sampled_from(["Lex", "GRevLex"]))
        weights = st.tuples(*[st.integers(1, 4)] * size)
        parts.append((kind, draw(weights) if kind == "GRevLex" else size))
    return tuple(parts)


@st.composite
def algebras(draw: st.DrawFn, coefficients: st.SearchStrategy[Any] = grounds) -> Algebra:
    """Polynomial rings with degrees, several gradings too, and orders."""
    names = draw(st.sampled_from(VARIABLES))
    count, rank = len(names), draw(st.integers(1, 3))
    degree = st.tuples(st.integers(1, 3), *[st.integers(-2, 2)] * (rank - 1))
    degrees = tuple(draw(st.lists(degree, min_size=count, max_size=count)))
    made = Algebra(draw(coefficients), names, degrees, draw(orders(count)), rank=rank)
    assume(made != Algebra(made.coefficients, names))  # that comes back as a plain ring
    return made


@st.composite
def exterior_algebras(draw: st.DrawFn) -> Algebra:
    names = draw(st.sampled_from(VARIABLES[1:]))
    skew = draw(st.sets(st.integers(0, len(names) - 1), min_size=1))
    return Algebra(draw(fields), names, skew=tuple(sorted(skew)))


weyl_algebras = st.builds(
    Algebra,
    fields,
    st.just(("x", "y", "dx", "dy")),
    weyl=st.sampled_from([((0, 2),), ((0, 2), (1, 3))]),
)
laurent_rings = st.builds(
    lambda field, names: Algebra(field, names, order=(("GroupLex", len(names)),), inverses=True),
    fields,
    st.sampled_from(VARIABLES),
)
towers = st.builds(
    Algebra,
    st.builds(PolynomialRing, fields, st.sampled_from([("a",), ("a", "b")])),
    st.sampled_from(VARIABLES),
    degrees=st.just(()),
)
inexact_rings = st.builds(
    Algebra,
    st.sampled_from([RealField(53), ComplexField(53), RealField(100), ComplexField(200)]),
    st.sampled_from(VARIABLES),
)


@st.composite
def monomial_quotients(draw: st.DrawFn) -> QuotientRing:
    """Of plain rings and exterior algebras by powers of variables."""
    below = draw(plain_rings)
    gens = below.sympy_ring.gens
    powers = draw(st.lists(st.integers(2, 4), min_size=1, max_size=len(gens)))
    return QuotientRing(below, tuple(x**n for x, n in zip(gens, powers, strict=False)))


@st.composite
def simple_extensions(draw: st.DrawFn) -> QuotientRing:
    """Of one variable by a monic polynomial."""
    below = draw(st.builds(PolynomialRing, fields, st.just(("x",))))
    terms = {(draw(st.integers(2, 5)),): 1}
    for exponent in range(2):
        terms[(exponent,)] = draw(small)
    domain = below.sympy_ring.domain
    relation = below.sympy_ring.from_dict({m: c for m, n in terms.items() if (c := domain(n))})
    return QuotientRing(below, (relation,))


CONWAY = [(2, (1, 1, 1)), (2, (1, 1, 0, 1)), (3, (2, 2, 1)), (5, (2, 4, 1))]
"""Conway polynomials by their coefficients, the constant one first."""


@st.composite
def galois_fields(draw: st.DrawFn) -> GaloisField:
    """With the root of a Conway polynomial as primitive element; Macaulay2 may choose another for
    other polynomials.
    """
    p, coefficients = draw(st.sampled_from(CONWAY))
    below = PolynomialRing(CoefficientField(p), (draw(st.sampled_from(["a", "b"])),))
    domain = below.sympy_ring.domain
    relation = below.sympy_ring.from_dict(
        {(n,): domain(c) for n, c in enumerate(coefficients) if c}
    )
    quotient = QuotientRing(below, (relation,))
    return GaloisField(quotient, RingElement(quotient, (((1,), domain(1)),)))


number_fields = simple_extensions().map(
    lambda quotient: Algebra(quotient, (), rank=0, joined=False)
)
"""As ``toField`` makes them."""
fraction_fields = (
    (plain_rings | algebras(st.sampled_from([QQ, IntegerRing(), CoefficientField(32003)])))
    .filter(lambda ring: getattr(ring, "field", QQ).characteristic < 2**29)  # Macaulay2's own limit
    .map(FractionField)
)
grounds_and_inexact = (
    grounds
    | st.builds(RealField, st.integers(2, 300))
    | st.builds(ComplexField, st.integers(2, 300))
)
RINGS: dict[str, st.SearchStrategy[Any]] = {
    "ground rings": grounds_and_inexact,
    "plain polynomial rings": plain_rings,
    "degrees and orders": algebras(),
    "exterior algebras": exterior_algebras(),
    "Weyl algebras": weyl_algebras,
    "Laurent polynomials": laurent_rings,
    "towers": towers,
    "towers of towers": algebras(towers),
    "inexact coefficients": inexact_rings,
    "quotients": monomial_quotients() | simple_extensions(),
    "algebras over quotients": algebras(simple_extensions()),
    "finite fields": galois_fields(),
    "algebras over finite fields": algebras(galois_fields()),
    "fraction fields": fraction_fields,
    "number fields": number_fields,
}
commutative = st.one_of(
    *(
        RINGS[name]
        for name in ("plain polynomial rings", "degrees and orders", "towers", "quotients")
    )
)


def elements(ring: Any) -> st.SearchStrategy[Any]:
    """Of a ring: small and large, zero among them."""
    match ring:
        case IntegerRing():
            return integers
        case CoefficientField(characteristic=0):
            return fractions
        case CoefficientField():
            return integers.map(ring.domain)
        case RealField():
            return reals(ring.precision)
        case ComplexField():
            return complex_numbers(ring.precision)
        case FractionField():
            return _fractions(ring)
        case _:
            return _polynomials(ring)


def nonzero(ring: Any) -> st.SearchStrategy[Any]:
    """Elements that are not zero."""
    return elements(ring).filter(is_not_zero)


def is_not_zero(value: Any) -> bool:
    match value:
        case Real():
            return bool(value.mantissa)
        case ComplexNumber():
            return bool(value.real.mantissa or value.imaginary.mantissa)
        case RingFraction():
            return is_not_zero(value.numerator)
    return bool(value)


@st.composite
def _fractions(draw: st.DrawFn, ring: FractionField) -> RingFraction:
    return RingFraction(ring, draw(elements(ring.ring)), draw(nonzero(ring.ring)))


@st.composite
def _polynomials(draw: st.DrawFn, ring: Any) -> Any:
    over = ring.sympy_ring if isinstance(ring, PolynomialRing | Algebra) else None
    terms = draw(
        st.dictionaries(st.tuples(*_exponents(ring)), nonzero(_coefficients(ring)), max_size=4)
    )
    if over is None:
        return RingElement(ring, tuple(terms.items()))
    return over.from_dict(
        {
            m: over.domain(c.numerator, c.denominator) if isinstance(c, Fraction) else c
            for m, c in terms.items()
        }
    )


def _exponents(ring: Any) -> list[st.SearchStrategy[int]]:
    """For each variable, those of normal forms."""
    if isinstance(ring, GaloisField):
        return [st.integers(0, ring.minimal_polynomial.degree() - 1)]
    if isinstance(ring, QuotientRing):
        heights = {
            g: r.degree(g)
            for g, r in zip(ring.ambient.sympy_ring.gens, ring.relations, strict=False)
        }
        return [st.integers(0, heights.get(g, 6) - 1) for g in ring.ambient.sympy_ring.gens]
    skew = ring.skew if isinstance(ring, Algebra) else ()
    lowest = -4 if isinstance(ring, Algebra) and ring.inverses else 0
    return [
        st.integers(lowest, 1 if place in skew else 8) for place in range(len(ring_variables(ring)))
    ]


def _coefficients(ring: Any) -> Any:
    while isinstance(ring, GaloisField | QuotientRing):
        ring = ring.quotient if isinstance(ring, GaloisField) else ring.ambient
    return ring.field if isinstance(ring, PolynomialRing) else ring.coefficients
