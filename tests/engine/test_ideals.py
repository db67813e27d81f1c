"""Ideals, their operations, and their exchange with OSCAR, with Macaulay2."""

import json
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sympy import Poly, groebner, symbols

from m2bridge import (
    CoefficientField,
    Engine,
    Ideal,
    Macaulay2,
    PolynomialMap,
    Script,
    ideal,
    read_mrdi,
)
from m2bridge.algebra.field import QQ
from m2bridge.algebra.hilbert_series import HilbertSeries, n
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.cli.ideals import METHODS_OF_IDEALS, METHODS_OF_TWO_IDEALS
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import parse
from m2bridge.errors import ConversionError, MethodUnavailableError, TimeLimitError
from m2bridge.ideals.program import small_basis
from tests.conftest import Invoke

pytestmark = pytest.mark.macaulay2("any")


# Ideals by both versions of Macaulay2, against what books say, closed formulas, and enumeration.

TWISTED_CUBIC = ideal("x*z - y^2", "y*w - z^2", "x*w - y*z", variables="x y z w")
XY = PolynomialRing(QQ, ("x", "y"))
FIVE, SEVEN = CoefficientField(5), CoefficientField(7)


def sets(*listed: Sequence[str], variables: str) -> set[Ideal]:
    """Ideals by their generators."""
    return {ideal(*generators, variables=variables) for generators in listed}


@pytest.mark.macaulay2("each")
def test_twisted_cubic(engine: Engine) -> None:
    """Harris, Algebraic Geometry, 1.10: prime, of codimension 2 and degree 3; 3n + 1 functions of
    degree n.
    """
    cubic = TWISTED_CUBIC
    assert cubic.is_prime(engine=engine)
    assert (
        cubic.dimension(engine=engine),
        cubic.codimension(engine=engine),
        cubic.degree(engine=engine),
    ) == (2, 2, 3)
    assert cubic.hilbert_series(engine=engine).numerator == (1, 2)
    assert cubic.hilbert_polynomial(engine=engine).to_sympy("n") == 3 * n + 1
    assert cubic.betti_table(engine=engine).rows == {(0, 0): 1, (1, 1): 3, (2, 1): 2}
    assert cubic.is_radical(engine=engine)
    assert cubic.radical(engine=engine).equals(cubic, engine=engine)


@pytest.mark.macaulay2("each")
def test_a_complete_intersection_that_contains_the_twisted_cubic(engine: Engine) -> None:
    """Cox, Little, O'Shea, section 4.4: two of its quadrics meet in the cubic and a line."""
    two = ideal("x*z - y^2", "x*w - y*z", variables="x y z w")
    line = ideal("x", "y", variables="x y z w")
    assert set(two.minimal_primes(engine=engine)) == {TWISTED_CUBIC, line}
    assert two.quotient(line, engine=engine) == TWISTED_CUBIC
    assert two.saturate("x", engine=engine) == TWISTED_CUBIC
    assert TWISTED_CUBIC.intersect(line, engine=engine) == two


@pytest.mark.macaulay2("each")
def test_an_embedded_component(engine: Engine) -> None:
    """Eisenbud, Commutative Algebra, section 3.3: (x², xy) = (x) ∩ (x², y), associated primes (x)
    and (x, y).
    """
    given_ideal = ideal("x^2", "x*y")
    found = given_ideal.primary_decomposition(engine=engine)
    assert len(found) == 2
    assert found[0].intersect(found[1], engine=engine) == given_ideal
    assert set(given_ideal.associated_primes(engine=engine)) == sets(
        ["x"], ["x", "y"], variables="x y"
    )
    assert set(given_ideal.minimal_primes(engine=engine)) == sets(["x"], variables="x y")
    assert given_ideal.radical(engine=engine) == ideal("x", variables="x y")
    assert not given_ideal.is_radical(engine=engine)
    assert given_ideal.saturate(ideal("x", "y"), engine=engine) == ideal("x", variables="x y")


@pytest.mark.slow
def test_adjacent_minors(engine: Engine) -> None:
    """Diaconis, Eisenbud, Sturmfels (1998): of a 2 × 3 matrix, adjacent minors meet in all minors
    and a plane.
    """
    adjacent = ideal("a*e - b*d", "b*f - c*e")
    everything = adjacent + ideal("a*f - c*d", variables="a b c d e f")
    assert set(adjacent.minimal_primes(engine=engine)) == {
        everything,
        ideal("b", "e", variables="a b c d e f"),
    }
    assert adjacent.is_radical(engine=engine)
    assert not adjacent.is_prime(engine=engine)


def test_primes_depend_on_the_field(engine: Engine) -> None:
    """−1 is a square modulo 5, and not modulo 7."""
    assert ideal("x^2 + 1").is_prime(engine=engine)
    assert ideal("x^2 + 1", field=SEVEN).is_prime(engine=engine)
    found = ideal("x^2 + 1", field=FIVE).minimal_primes(engine=engine)
    assert [str(prime) for prime in found] == [
        "ideal(x + 2) of GF(5)[x]",
        "ideal(x - 2) of GF(5)[x]",
    ]


def test_powers_of_p_in_characteristic_p(engine: Engine) -> None:
    two = CoefficientField(2)
    assert ideal("x^2 + y^2", field=two).radical(engine=engine) == ideal("x + y", field=two)
    assert ideal("x^2 + y^2*z", field=two).is_prime(engine=engine)


@pytest.mark.slow
@pytest.mark.macaulay2("each")
def test_primes_that_are_too_large_for_factors(engine: Engine) -> None:
    """Decompositions were errors in a program of Macaulay2; what needs no factors is computed."""
    given = ideal("x^2*y + y^3", field=CoefficientField(2**31 - 1))
    for ask in (given.minimal_primes, given.radical, given.singular_locus):
        with pytest.raises(MethodUnavailableError, match="use p < 536870912"):
            ask(engine=engine)
    assert given.degree(engine=engine) == 3


@pytest.mark.slow
def test_unit_and_zero_ideal(engine: Engine) -> None:
    one, zero = ideal(1, variables="x y"), ideal(variables="x y")
    assert (
        one.dimension(engine=engine),
        one.codimension(engine=engine),
        one.degree(engine=engine),
    ) == (-1, 3, 0)
    assert (
        zero.dimension(engine=engine),
        zero.codimension(engine=engine),
        zero.degree(engine=engine),
    ) == (2, 0, 1)
    for decompose in (one.minimal_primes, one.primary_decomposition, one.associated_primes):
        assert decompose(engine=engine) == ()
    for decompose in (zero.minimal_primes, zero.primary_decomposition, zero.associated_primes):
        assert decompose(engine=engine) == (zero,)
    assert (one.is_prime(engine=engine), zero.is_prime(engine=engine)) == (False, True)
    assert (one.is_radical(engine=engine), zero.is_radical(engine=engine)) == (True, True)
    assert (one.radical(engine=engine), zero.radical(engine=engine)) == (one, zero)
    assert one.intersect(zero, engine=engine) == zero
    assert (zero.quotient(zero, engine=engine), one.quotient(zero, engine=engine)) == (one, one)
    assert (zero.saturate(one, engine=engine), zero.saturate(zero, engine=engine)) == (zero, one)
    assert one.contains(zero, engine=engine)
    assert not zero.contains(one, engine=engine)
    assert zero.equals(zero, engine=engine)
    assert not zero.equals(one, engine=engine)


@pytest.mark.macaulay2("each")
def test_elimination(engine: Engine) -> None:
    """Cox, Little, O'Shea, section 3.3: the tangent surface of the twisted cubic."""
    surface = ideal("x - t - u", "y - t^2 - 2*t*u", "z - t^3 - 3*t^2*u", variables="t u x y z")
    found = surface.eliminate("t", "u", engine=engine)
    assert found == ideal("4*x^3*z - 3*x^2*y^2 - 6*x*y*z + 4*y^3 + z^2", variables="x y z")
    assert surface.eliminate(["t", "u", "t"], engine=engine).generators == found.generators
    assert surface.eliminate(engine=engine).equals(surface, engine=engine)
    assert ideal("x", "y").eliminate("x", "y", engine=engine).generators == ()
    assert str(ideal("x", "x + 1").eliminate("x", engine=engine)) == "ideal(1) of QQ[]"
    with pytest.raises(ConversionError, match="not a variable"):
        surface.eliminate("v", engine=engine)


def test_what_is_no_ideal_is_refused(engine: Engine) -> None:
    with pytest.raises(ConversionError, match="int is not an ideal"):
        ideal("x").intersect(3, engine=engine)  # type: ignore[arg-type]
    with pytest.raises(ConversionError, match="different rings"):
        ideal("x").intersect([ideal("y")], engine=engine)
    with pytest.raises(ConversionError, match="unknown name"):
        ideal("x").quotient("y", engine=engine)


@pytest.mark.macaulay2("each")
def test_images(engine: Engine) -> None:
    s, t = symbols("s t")
    square = PolynomialMap.from_expressions([s, t], {"x": s**2, "y": t})
    assert ideal("s^2 - t", variables="s t").image(square, engine=engine) == ideal("x - y")
    assert ideal("s", variables="s t").image(square, engine=engine) == ideal("x", variables="x y")
    assert ideal("s^2", variables="s t").image(square, engine=engine) == ideal("x", variables="x y")
    assert ideal("s^3", variables="s t").image(square, engine=engine) == ideal(
        "x^2", variables="x y"
    )
    assert ideal(1, variables="s t").image(square, engine=engine) == ideal(1, variables="x y")
    assert ideal(variables="s t").image(square, engine=engine).generators == ()
    double_line = PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, [s**2])
    assert ideal(variables="s t").image(double_line, engine=engine) == ideal("x", variables="x y")


@pytest.mark.macaulay2("each")
def test_groups_of_names(engine: Engine) -> None:
    """Names that mean something to Macaulay2, in any alphabet, with indices."""
    given_ideal = ideal("e*i", "ω*gens - c_1_2", "res^2*c_1", variables="c_1 c_1_2 e gens i res ω")
    assert given_ideal.equals(given_ideal + given_ideal * given_ideal, engine=engine)
    assert {prime.ring for prime in given_ideal.minimal_primes(engine=engine)} == {given_ideal.ring}
    union = given_ideal.minimal_primes(engine=engine)
    assert (
        union[0]
        .intersect(*union[1:], engine=engine)
        .equals(given_ideal.radical(engine=engine), engine=engine)
    )


@pytest.mark.parametrize("seed", range(4))
def test_squarefree_monomial_ideals(engine: Engine, seed: int) -> None:
    """Miller, Sturmfels, Combinatorial Commutative Algebra, 1.2: minimal primes are minimal vertex
    covers.
    """
    variables = ["a", "b", "c", "d", "e"]
    triples = list(combinations(variables, 3)) + list(combinations(variables, 2))
    edges = triples[seed :: 4 + seed]
    given_ideal = ideal(["*".join(edge) for edge in edges], variables=variables)
    covers = [
        set(cover)
        for size in range(6)
        for cover in combinations(variables, size)
        if all({*cover} & {*e} for e in edges)
    ]
    minimal = [cover for cover in covers if not any(other < cover for other in covers)]
    expected = {ideal(sorted(cover), variables=variables) for cover in minimal}
    assert set(given_ideal.minimal_primes(engine=engine)) == expected
    assert given_ideal.codimension(engine=engine) == min(map(len, minimal))
    assert given_ideal.degree(engine=engine) == sum(
        len(cover) == min(map(len, minimal)) for cover in minimal
    )


HOMOGENEOUS = [
    TWISTED_CUBIC,
    ideal("x^2", "x*y", "y^3"),
    ideal("x^2 - y*z", "y^2 - x*z", "z^2 - x*y", "x*y*z", field=CoefficientField(101)),
    ideal("a*d - b*c", "a*f - b*e", "c*f - d*e") ** 2,
    ideal("x^2", "2*x^2 + x*y", "x*y", "x^3 - y^3"),
    ideal(1, variables="x y"),
    ideal(variables="x y"),
]


@pytest.mark.parametrize("given_ideal", HOMOGENEOUS, ids=str)
def test_resolutions(engine: Engine, given_ideal: Ideal) -> None:
    """Compositions vanish, entries have the right degrees, and ranks and Betti numbers give the
    Hilbert series.

    Eisenbud, The Geometry of Syzygies, Corollary 1.10: the numerator over (1 − T)^n is Σ (−1)^i
    β_ij T^j.
    """
    resolution, table = (
        given_ideal.resolution(engine=engine),
        given_ideal.betti_table(engine=engine),
    )
    assert resolution.betti == table
    for first, second in pairwise(resolution.differentials):
        columns = list(zip(*second.entries, strict=True))
        products = [
            sum((a * b for a, b in zip(row, c, strict=True)), first.ring.sympy_ring.zero)
            for row in first.entries
            for c in columns
        ]
        assert not any(products)
    for step, matrix in enumerate(resolution.differentials):
        for row, target in zip(matrix.entries, resolution.modules[step].degrees, strict=True):
            for entry, source in zip(row, resolution.modules[step + 1].degrees, strict=True):
                # no units: the resolution is minimal
                assert {sum(m) for m in entry} <= {source[0] - target[0]} - {0}
    numerator: Counter[int] = Counter()
    for (i, _, j), count in table.entries:
        numerator[j] += (-1) ** i * count
    variables = len(given_ideal.ring.variables)
    series = given_ideal.hilbert_series(engine=engine)
    assert HilbertSeries.from_numerator(numerator, variables) == series
    assert series.polynomial == given_ideal.hilbert_polynomial(engine=engine).to_sympy("n")


@pytest.mark.macaulay2("each")
def test_resolutions_of_other_ideals(engine: Engine) -> None:
    with pytest.raises(MethodUnavailableError, match="homogeneous"):
        ideal("x^2 - y").betti_table(engine=engine)
    found = ideal("x^2 - y", "x*y - 1").resolution(engine=engine)
    (generators,) = found.differentials[0].entries
    assert ideal(list(generators)) == ideal("x^2 - y", "x*y - 1")


@pytest.mark.macaulay2("each")
def test_groebner_bases_are_those_of_sympy(engine: Engine) -> None:
    x, y, z = symbols("x y z")
    for listed in (
        [x**2 + 3 * y, 2 * x * y - 1],
        [x**3 - y * z, y**2 - x * z, z**2 - x**2 * y * 7],
        [x * y * z - 1, x + y],
    ):
        for p in (0, 101):
            options = {"modulus": p} if p else {"domain": "QQ"}
            expected = groebner(listed, x, y, z, order="grevlex", **options)
            found = ideal(listed, variables="x y z", field=CoefficientField(p)).groebner_basis(
                engine=engine
            )
            assert set(found) == set(
                ideal([Poly(g, x, y, z, **options) for g in expected.exprs]).generators
            )
            assert all(g.LC == 1 for g in found)


WRITTEN = [
    ideal("x^2 - 2/3*c_1_2", "alpha*ω - 5"),
    ideal("R^2 - I", "I*c", variables="I R c"),
    ideal("e*i - res", "gens^2", field=SEVEN, variables="e gens i res"),
    ideal(1, "1/2", variables="x"),
    ideal(variables="x y"),
]


@pytest.mark.macaulay2("each")
@pytest.mark.parametrize("given_ideal", WRITTEN, ids=str)
def test_macaulay2_reads_its_own_text(engine: Engine, given_ideal: Ideal) -> None:
    text = given_ideal.to_macaulay2()
    name = text.split("\n")[-len(given_ideal.generators) or -1].split(" = ")[0]
    found = parse(engine.run(Script("text", f'{text}\nmbEmit("read", {name})')).records).ideal(
        "read"
    )
    assert (found.ring, found.generators) == (given_ideal.ring, given_ideal.generators)


@pytest.mark.slow
def test_a_limit_on_time(engine: Engine) -> None:
    large = ideal(
        [
            f"x_{i}^7 + x_{(i + 1) % 9}^5*x_{(i + 3) % 9} - {i + 2}*x_{(i + 5) % 9}^6 + 1"
            for i in range(9)
        ]
    )
    with pytest.raises(TimeLimitError):
        large.primary_decomposition(engine=engine, timeout=0.5)


small = st.integers(-2, 2).filter(bool)
polynomials = st.dictionaries(st.tuples(*[st.integers(0, 2)] * 3), small, min_size=1, max_size=2)
fields = st.sampled_from([QQ, CoefficientField(2), CoefficientField(3), CoefficientField(101)])


@st.composite
def pairs(
    draw: st.DrawFn, over: st.SearchStrategy[CoefficientField] = fields
) -> tuple[Ideal, Ideal]:
    """Two ideals of one ring."""
    ring = PolynomialRing(draw(over), ("x", "y", "z"))
    domain = ring.sympy_ring.domain

    def drawn() -> Ideal:
        listed = draw(st.lists(polynomials, min_size=1, max_size=3))
        terms = ({m: domain(c) for m, c in f.items() if domain(c)} for f in listed)
        return Ideal(ring, tuple(filter(None, map(ring.sympy_ring.from_dict, terms))))

    return drawn(), drawn()


FEW = settings(
    max_examples=6,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.slow
@FEW
@given(pair=pairs())
def test_laws_of_operations(engine: Engine, pair: tuple[Ideal, Ideal]) -> None:
    first, second = pair
    asked = engine
    both, quotient = first.intersect(second, engine=asked), first.quotient(second, engine=asked)
    saturation = first.saturate(second, engine=asked)
    assert both.contains(first * second, engine=asked)
    assert first.contains(both, engine=asked)
    assert second.contains(both, engine=asked)
    assert first.contains(quotient * second, engine=asked)
    assert quotient.contains(first, engine=asked)
    assert saturation.contains(quotient, engine=asked)
    assert saturation.quotient(second, engine=asked).equals(saturation, engine=asked)
    assert (first + second).contains(first, engine=asked)
    assert both.dimension(engine=asked) == max(
        first.dimension(engine=asked), second.dimension(engine=asked)
    )
    eliminated = first.eliminate("x", engine=asked)
    assert all(first.contains(generator, engine=asked) for generator in eliminated.generators)


@pytest.mark.slow
@FEW
@given(pair=pairs())
def test_laws_of_decompositions(engine: Engine, pair: tuple[Ideal, Ideal]) -> None:
    given_ideal, asked = pair[0], engine
    radical = given_ideal.radical(engine=asked)
    one = ideal(1, variables=given_ideal.ring.variables, field=given_ideal.ring.field)
    components = given_ideal.primary_decomposition(engine=asked)
    primes, minimal = (
        given_ideal.associated_primes(engine=asked),
        given_ideal.minimal_primes(engine=asked),
    )
    assert radical.contains(given_ideal, engine=asked)
    assert radical.is_radical(engine=asked)
    assert one.intersect(*components, engine=asked).equals(given_ideal, engine=asked)
    assert one.intersect(*minimal, engine=asked).equals(radical, engine=asked)
    assert all(prime.is_prime(engine=asked) for prime in primes)
    assert len(components) == len(primes)
    assert all(
        any(c.radical(engine=asked).equals(p, engine=asked) for p in primes) for c in components
    )
    assert all(any(m.equals(p, engine=asked) for p in primes) for m in minimal)
    assert given_ideal.dimension(engine=asked) == max(
        (p.dimension(engine=asked) for p in minimal), default=-1
    )
    assert given_ideal.is_prime(engine=asked) == (
        len(minimal) == 1 and minimal[0].equals(given_ideal, engine=asked)
    )


@FEW
@given(pair=pairs())
def test_flint_and_macaulay2_agree(engine: Engine, pair: tuple[Ideal, Ideal]) -> None:
    first, second = pair
    if first.ring.field == QQ and None not in (
        small_basis(first),
        small_basis(second),
        small_basis(first + second),
    ):
        assert first.contains(second) == first.contains(second, engine=engine)
        assert first.equals(second) == first.equals(second, engine=engine)
        assert first.equals(first + first * second) is True


@pytest.mark.slow
@FEW
@given(pair=pairs(st.just(CoefficientField(3))))
def test_points_over_a_small_field(engine: Engine, pair: tuple[Ideal, Ideal]) -> None:
    """Radical, product and intersection have the zeros that they should have, at all 27 points over
    GF(3).
    """
    first, second = pair
    assert _zeros(first.radical(engine=engine)) == _zeros(first)
    assert _zeros(first.intersect(second, engine=engine)) == _zeros(first) | _zeros(second)
    assert _zeros(first * second) == _zeros(first) | _zeros(second)
    assert _zeros(first + second) == _zeros(first) & _zeros(second)


def _zeros(given_ideal: Ideal) -> set[tuple[int, ...]]:
    points = product(range(3), repeat=3)
    return {
        point
        for point in points
        if not any(
            g.evaluate(list(zip(g.ring.gens, point, strict=True))) for g in given_ideal.generators
        )
    }


# The interchange format against Macaulay2's own package MRDI (1.26), in both directions.

IDEALS = [
    ideal("x^2 - 2/3*y", "x*y - 7"),
    ideal("c_1_2^3 - 123456789012345678901234567890*c_1*alpha", "ω*x_10 - 1/98765432109876543210"),
    ideal(variables="x y"),
    ideal(1, variables="x"),
    ideal("e*i - res", "gens^2", variables="e gens i res"),
]


@pytest.fixture
def engine_of_mrdi(m2: str, sessions: Callable[[Path], Macaulay2]) -> Macaulay2:
    """A Macaulay2 that has the package."""
    session = sessions(Path(m2))
    if tuple(map(int, session.version.split(".")[:2])) < (1, 26):
        pytest.skip("the package MRDI came with Macaulay2 1.26")
    return session


@pytest.mark.parametrize("given", IDEALS, ids=str)
def test_macaulay2_reads_what_we_write(
    engine_of_mrdi: Macaulay2, given: Ideal, tmp_path: Path
) -> None:
    given.write_mrdi(tmp_path / "ideal.mrdi")
    body = f'needsPackage "MRDI"\nmbEmit("read", loadMRDI get "{tmp_path / "ideal.mrdi"}")'
    found = parse(engine_of_mrdi.run(Script("read", body)).records).ideal("read")
    assert (found.ring, found.generators) == (given.ring, given.generators)


@pytest.mark.parametrize("given", IDEALS, ids=str)
def test_we_read_what_macaulay2_writes(
    engine_of_mrdi: Macaulay2, given: Ideal, tmp_path: Path
) -> None:
    path = tmp_path / "ideal.mrdi"
    lines = [
        'needsPackage "MRDI"',
        f"givenRing = {m2_syntax.ring(given.ring)}",
        f'saveMRDI({m2_syntax.ideal(given, "givenRing")}, FileName => "{path}")',
        f'validateMRDI get "{path}"',
        'mbEmit("written", true)',
    ]
    engine_of_mrdi.run(Script("write", "\n".join(lines)))
    found = read_mrdi(path)
    assert (found.ring, found.generators) == (given.ring, given.generators)


def test_what_we_write_is_valid(engine_of_mrdi: Macaulay2, tmp_path: Path) -> None:
    """Macaulay2's check of the format itself, for both namespaces."""
    for namespace in ("Macaulay2", "Oscar"):
        IDEALS[0].write_mrdi(tmp_path / namespace, namespace)
        engine_of_mrdi.run(
            Script(
                "check",
                f'needsPackage "MRDI"\nvalidateMRDI get "{tmp_path / namespace}"\nmbEmit("valid",'
                " true)",
            )
        )


def test_macaulay2_reads_rings_in_oscars_words(engine_of_mrdi: Macaulay2, tmp_path: Path) -> None:
    """Over QQ; it reads no ideals, polynomials over QQ, or finite fields as Oscar writes them yet
    (1.26.06).
    """
    given = ideal("x^2 - y")
    written = given.to_mrdi("Oscar")
    (ring,) = written["_refs"].values()
    (tmp_path / "ring.mrdi").write_text(json.dumps({"_ns": written["_ns"], **ring}))
    body = (
        f'needsPackage "MRDI"\nmbEmit("read", ideal vars loadMRDI get "{tmp_path / "ring.mrdi"}")'
    )
    assert parse(engine_of_mrdi.run(Script("read", body)).records).ideal("read").ring == given.ring


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["x^2 - y^2*z, x*y", "dimension"], 1),
        (["x^2 - y^2*z, x*y", "is_radical"], False),
        (["x^2, x*y", "radical", "--field", "GF(7)"], ["x"]),
        (["x*y", "minimal_primes"], [["x"], ["y"]]),
        (["x^2 - y^2*z, x*y", "eliminate", "--other", "x"], ["y**3*z"]),
        (["x*y, x*z", "quotient", "--other", "x"], ["y", "z"]),
        (["x*y, x*z", "contains", "--other", "x*y + x*z"], True),
        (["x^2 - y^3", "jacobian"], "((2*x, -3*y**2))"),
        (["-x^2 + y", "jacobian"], "((-2*x, 1))"),
        (["Eq(x*y, 0)", "minimal-primes"], [["x"], ["y"]]),
        (["examples/ideals/whitney_umbrella.toml", "degree"], 3),
    ],
    ids=lambda value: value[1] if isinstance(value, list) and len(value) > 1 else "",
)
@pytest.mark.usefixtures("one_session")
def test_methods_on_the_command_line(
    invoke: Invoke, program: Path, words: list[str], value: Any
) -> None:
    def plain(found: Any) -> Any:
        if isinstance(found, list):
            return [plain(one) for one in found]
        return found["generators"] if isinstance(found, dict) else found

    done = invoke("ideal", *words, "--json", "--m2", str(program))
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["method"] == words[1].replace("-", "_")
    assert plain(printed["value"]) == value
    lines = invoke("ideal", *words, "--m2", str(program)).stdout.splitlines()
    # of several ideals each has a line of its own
    shown = lines[0] if len(lines) == 1 else f"({', '.join(lines)})"
    assert shown == printed["text"]


@pytest.mark.usefixtures("one_session")
def test_a_text_that_starts_with_a_minus_sign_and_a_plain_file(
    invoke: Invoke, program: Path, tmp_path: Path
) -> None:
    file = tmp_path / "curve.txt"
    file.write_text("x^2 - y\nx y = 1\n", encoding="utf-8")
    for written, matrix in (
        ("-h^2 + y", "((-2*h, 1))"),
        ("-x^2 + y", "((-2*x, 1))"),
        (str(file), "((2*x, -1); (y, x))"),
    ):
        assert invoke("ideal", written, "jacobian", "--m2", str(program)).stdout.strip() == matrix
    both = ("ideal", "--other", "-y", "-x^2 + y", "intersect", "--m2", str(program))
    assert invoke(*both).stdout.strip() == "ideal(x**2*y - y**2) of QQ[x, y]"


@pytest.mark.usefixtures("one_session")
def test_closure_takes_a_file_as_dimension_does(invoke: Invoke, program: Path) -> None:
    file = "examples/whitney_umbrella.toml"
    by_name = invoke("closure", file, "--json", "--m2", str(program))
    assert by_name.returncode == 0, by_name.stderr
    by_option = invoke("closure", "--map", file, "--json", "--m2", str(program))
    generators = [json.loads(done.stdout)["generators"] for done in (by_name, by_option)]
    assert generators[0] == generators[1]
    refused = invoke("closure", file, "--weights", "factored", "--m2", str(program))
    assert (refused.returncode, "'--weights' does not apply" in refused.stderr) == (2, True)


def test_every_method_that_the_command_line_names_is_there(invoke: Invoke) -> None:
    for method in (*METHODS_OF_IDEALS, *METHODS_OF_TWO_IDEALS):
        assert callable(getattr(ideal("x"), method))
    for words in (["x", "saturate"], ["x", "radical", "--other", "x"]):
        done = invoke("ideal", *words)
        assert done.returncode == 2
        assert "--other belongs to contains, equals" in done.stderr
    assert "is neither a file nor a list" in invoke("ideal", "x^^2", "degree").stderr


@pytest.mark.parametrize(
    ("method", "other", "said"),
    [
        ("contains", "z", "unknown name 'z'"),
        ("saturate", "x,,y", "expected a number"),
        ("eliminate", "x, z", "'z' is not a variable of QQ[x, y]"),
    ],
)
def test_another_ideal_that_is_none_is_wrong_usage(
    invoke: Invoke, program: Path, method: str, other: str, said: str
) -> None:
    done = invoke("ideal", "x,y", method, "--other", other, "--m2", str(program))
    assert done.returncode == 2
    assert "Error: Invalid value for '--other': " in done.stderr
    assert said in done.stderr


@pytest.mark.slow
def test_minimal_primes_in_the_order_that_is_quicker() -> None:
    """In the order of this ring Macaulay2 does not end; in the reverse one it takes a moment."""
    generators = ("x*t^3 - y^2 + 1", "y*t^4 - z^3 + t", "z*t - x^3 + y")
    given = ideal(*generators, variables="z y x t")
    (found,) = given.minimal_primes()
    (other,) = ideal(*generators, variables="t x y z").minimal_primes()
    assert found.ring == given.ring
    assert found == ideal(*map(str, other.generators), variables="z y x t")


@pytest.mark.usefixtures("one_session")
def test_the_command_prints_a_component_a_line(invoke: Invoke) -> None:
    for method in ("minimal_primes", "primary_decomposition", "associated_primes"):
        lines = invoke("ideal", "x*y, x*z", method).stdout.splitlines()
        assert sorted(lines) == ["ideal(x) of QQ[x, y, z]", "ideal(y, z) of QQ[x, y, z]"]
    assert invoke("ideal", "1", "minimal_primes", "--variables", "x").stdout == "()\n"


def test_components_are_a_tuple_with_a_component_a_line(session: Macaulay2) -> None:
    components = ideal("x*y, x*z").minimal_primes(engine=session)
    first, second = components
    assert components == (first, second)
    assert hash(components) == hash((first, second))
    assert repr(components) == f"({first!r},\n {second!r})" == str(components)
    assert repr(ideal("x").minimal_primes(engine=session)) == "(ideal(x) of QQ[x],)"
    assert repr(ideal(1, variables="x").minimal_primes(engine=session)) == "()"
    assert pickle.loads(pickle.dumps(components)) == components
    x = symbols("x")
    assert session.value("f % L_0 == 0 and f % L_1 != 0", L=components, f=x)
    assert session.value("intersect toList L == I", L=components, I=ideal("x*y, x*z"))
