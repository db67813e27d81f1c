from sympy.polys.orderings import grevlex
from sympy.polys.rings import PolyRing

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert.notation import degree_summary, ideal_macaulay2, polynomial_text, sparse_text
from m2bridge.results.sheet import duration, first_terms, table


def test_residues_are_written_symmetrically() -> None:
    ring = PolynomialRing(CoefficientField(7), ("x", "y"))
    x, y = ring.sympy_ring.gens
    assert polynomial_text(6 * x + 3 * y) == "-x + 3*y"
    assert ideal_macaulay2(GeneratingSet(ring, (6 * x,))) == "R = ZZ/7[x, y]\nI = ideal {-x}"
    assert ideal_macaulay2(GeneratingSet(ring, ())).endswith("ideal(0_R)")


def test_polynomials_of_the_rings_themselves_are_written_so() -> None:
    """They are equal to SymPy's own, hashes included, and so is the ring."""
    for p in (2, 3, 7, 2**31 - 1):
        ring = PolynomialRing(CoefficientField(p), ("x", "y"))
        x, y = ring.sympy_ring.gens
        f = -3 * x * y + x**2 - 1
        integers = PolynomialRing(QQ, ("x", "y")).sympy_ring.from_expr(f.as_expr())
        assert (str(f), repr(f), str(f * f - f * f + f)) == (str(integers),) * 3 == (polynomial_text(f),) * 3
        own = PolyRing(ring.sympy_ring.symbols, ring.field.domain, grevlex)
        assert len({own, ring.sympy_ring}) == len({own.from_dict(dict(f)), f}) == 1


def test_words() -> None:
    assert degree_summary({2: 1, 3: 20, 8: 2}) == "1 quadric, 20 cubics, 2 of degree 8"
    assert degree_summary({}) == "none"
    assert [duration(s) for s in (0.123, 12.3, 200)] == ["0.12 s", "12 s", "3 min 20 s"]
    assert [duration(s) for s in (9.94, 9.96, 59.4, 59.5, 119.6)] == ["9.9 s", "10 s", "59 s", "1 min 0 s", "2 min 0 s"]
    assert [duration(s) for s in (3599.6, 3600, 3690, 7199)] == ["1 h 0 min", "1 h 0 min", "1 h 2 min", "2 h 0 min"]
    x, y = PolynomialRing(QQ, ("x", "y")).sympy_ring.gens
    assert first_terms(str((x + y) ** 2), 240) == "x**2 + 2*x*y + y**2"
    assert first_terms(str((x + y) ** 40), 240).endswith("…  (41 terms)")
    assert table(("n", "word"), [(10, "a"), (5, "bb")]).splitlines()[2:] == ["  10   a", "   5   bb"]


def test_sparse_text_is_the_text_of_the_polynomial() -> None:
    ring = PolynomialRing(QQ, ("x", "y", "z")).sympy_ring
    x, y, z = ring.gens
    for polynomial in (x**2 * z - 3 * y**3 + x * y * z, -x + 1, 2 * z**2 - x, ring.one, -z, x * z + y**2):
        terms = [
            (tuple(i for i, e in enumerate(monomial) for _ in range(e)), int(c)) for monomial, c in polynomial.items()
        ]
        assert sparse_text(terms, ("x", "y", "z")) == polynomial_text(polynomial)
    assert sparse_text([], ()) == "0"
