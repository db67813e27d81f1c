"""Closures of maps from books and papers: lattices and hypersurfaces, against elimination."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import NoReturn

import pytest
from sympy import Expr, Poly, Symbol, symbols

from m2bridge import CoefficientField, Engine, PolynomialMap, closure, ideal, read_map
from m2bridge.algebra.field import QQ
from m2bridge.errors import MethodUnavailableError, TimeLimitError
from m2bridge.maps import closure as closure_module, completeness, toric
from m2bridge.maps.equations import graded_source, low_degree_equations
from m2bridge.maps.polynomial_map_model import as_model

pytestmark = pytest.mark.macaulay2("any")

a, b, c, d, s, t, u = symbols("a b c d s t u")


def named(images: list[Expr]) -> PolynomialMap:
    parameters = sorted(set().union(*(image.free_symbols for image in images)), key=str)
    return PolynomialMap.from_expressions(
        parameters, {f"x{i}": image for i, image in enumerate(images)}
    )


# source: images, degree of the variety
MONOMIAL: dict[str, tuple[list[Expr], int]] = {
    "Harris, Lecture 1, twisted cubic": ([s**3, s**2 * t, s * t**2, t**3], 3),
    "a translate of it": ([2 * s**3, s**2 * t, -3 * s * t**2, t**3 / 5], 3),
    "Sturmfels, Gröbner Bases and Convex Polytopes, chapter 4, (3, 4, 5)": (
        [t**3, 7 * t**4, t**5],
        5,
    ),
    "Harris, Lecture 2, Veronese surface": ([s**2, s * t, s * u, t**2, t * u, u**2], 4),
    "Harris, Lecture 2, Segre P1 x P2": ([a * s, a * t, a * u, b * s, b * t, b * u], 3),
    "Macaulay's curve": ([s**4, s**3 * t, s * t**3, t**4], 4),
    "Herzog, monomial curve (6, 7, 8)": ([t**6, t**7, t**8], 8),
    "del Pezzo surface of degree 6": (
        [s * t * u, s**2 * t, s * t**2, s**2 * u, s * u**2, t**2 * u, t * u**2],
        6,
    ),
    "Drton, Sturmfels, Sullivant, 2 x 2 independence": ([a * s, a * t, b * s, -4 * b * t], 2),
}


def only(name: str) -> Path | None:
    """One of the programs for Markov bases, or none."""
    found = [
        program
        for program in toric.installed_markov_programs()
        if toric.program_name(program) == name
    ]
    if name and not found:
        pytest.skip(f"{name} is not installed")
    return found[0] if found else None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["4ti2", "Normaliz", ""])
@pytest.mark.parametrize("p", [0, 101])
@pytest.mark.parametrize("source", MONOMIAL)
def test_lattice_and_elimination(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, source: str, p: int, name: str
) -> None:
    program = only(name)
    monkeypatch.setattr(toric, "markov_program", lambda: program)
    images, degree = MONOMIAL[source]
    field = CoefficientField(p) if p else QQ
    one = closure(named(images), engine=engine, field=field, strategy="lattice")
    other = closure(named(images), engine=engine, field=field, strategy="elimination")
    assert one.ideal is not None
    assert other.ideal is not None
    assert one.ideal.equals(other.ideal, engine=engine)
    assert str(one.completeness) == "proved"
    assert (one.dimension, one.degree) == (other.dimension, other.degree)
    assert one.degree == degree
    assert (name or "saturated") in one.completeness.reason


@pytest.mark.slow
@pytest.mark.parametrize(
    "source", [name for name, (_, degree) in MONOMIAL.items() if degree in (3, 4)]
)
def test_one_minimal_prime_proves_generators(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """Of Macaulay's curve one prime has the quadric and the three cubics; elimination modulo a
    prime is not asked.
    """
    images, degree = MONOMIAL[source]
    expected = closure(named(images), engine=engine, strategy="elimination")
    monkeypatch.setattr(completeness, "_by_elimination", lambda equations, model: equations)
    one = closure(named(images), engine=engine)
    assert "one minimal prime" in one.completeness.reason
    assert str(one.completeness) == "proved"
    assert (one.degree, one.dimension, one.generator_degrees) == (
        degree,
        expected.dimension,
        expected.generator_degrees,
    )
    assert one.hilbert_series == expected.hilbert_series


@pytest.mark.slow
@pytest.mark.usefixtures("chosen")
def test_several_minimal_primes_or_another_dimension_prove_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One quadric through the twisted cubic leaves the dimension open, two leave a line
    in addition.
    """
    monkeypatch.setattr(completeness, "_by_elimination", lambda equations, model: equations)
    source = graded_source(as_model(named(MONOMIAL["Harris, Lecture 1, twisted cubic"][0])))
    whole = low_degree_equations(source, 2)
    for count in (1, 2):
        orbits = whole.implicitization.orbits[:count]
        part = replace(whole, implicitization=replace(whole.implicitization, orbits=orbits))
        assert not completeness._by_minimal_prime(part, 2).all_generators
    assert completeness._by_minimal_prime(whole, 2).all_generators
    assert not completeness._by_minimal_prime(whole, 1).all_generators


def test_only_monomials(engine: Engine) -> None:
    with pytest.raises(MethodUnavailableError, match="monomial"):
        closure(named([s + t**2, s, t]), engine=engine, strategy="lattice")


def ternary_cubes() -> PolynomialMap:
    """Sums of three cubes of linear forms in three variables: the coefficients of a ternary
    cubic.
    """
    variables, weights = symbols("x y z"), symbols("w0:9")
    forms = [sum(weights[3 * i + j] * variables[j] for j in range(3)) for i in range(3)]
    cubic = Poly(sum(form**3 for form in forms), *variables)
    return named([coefficient for _, coefficient in cubic.terms()])


# source: images, degree of the hypersurface
HYPERSURFACES: dict[str, tuple[PolynomialMap, int]] = {
    "Sturmfels, Invariant Theory, 4.4, the Aronhold invariant": (ternary_cubes(), 4),
    "Harris, Lecture 9, secants of the quartic curve": (
        named([s**i * t ** (4 - i) + a**i * b ** (4 - i) for i in range(5)]),
        3,
    ),
    "a conic": (named([s**2, s * t, t**2]), 2),
    "2 x 2 determinant": (named([a * s, a * t, b * s, b * t]), 2),
    "tangents of the twisted cubic": (
        named([s**2 * a, s**2 * b + 2 * s * t * a, t**2 * a + 2 * s * t * b, t**2 * b]),
        4,
    ),
    "Gelfand, Kapranov, Zelevinsky, discriminant of cubics": (
        named([a * s**2, 2 * a * s * t + b * s**2, a * t**2 + 2 * b * s * t, b * t**2]),
        4,
    ),
    "a quadric in four coordinates": (named([a * s, a * t + b * s, b * t + a * s, b * s]), 2),
}


@pytest.mark.parametrize("source", HYPERSURFACES)
def test_hypersurfaces_end_with_their_equation(engine: Engine, source: str) -> None:
    model, degree = HYPERSURFACES[source]
    one = closure(model, engine=engine)
    assert "hypersurface" in one.completeness.reason
    assert str(one.completeness) == "proved"
    assert one.generator_degrees == {degree: 1}
    assert (one.degree, one.dimension) == (degree, len(model.coordinates) - 1)
    if degree < 4 or len(model.coordinates) < 10:
        other = closure(model, engine=engine, strategy="elimination")
        assert one.ideal is not None
        assert other.ideal is not None
        assert one.ideal.equals(other.ideal, engine=engine)


@pytest.mark.parametrize("name", ["4ti2", "Normaliz"])
def test_no_three_way_interaction(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """81 binomials. Drton, Sturmfels, Sullivant, *Lectures on Algebraic Statistics*,
    section 1.2.
    """
    program = only(name)
    monkeypatch.setattr(toric, "markov_program", lambda: program)
    pairs = {(x, i, j): Symbol(f"{x}{i}{j}") for x in "abc" for i, j in product(range(3), repeat=2)}
    cells = [
        pairs["a", i, j] * pairs["b", i, k] * pairs["c", j, k]
        for i, j, k in product(range(3), repeat=3)
    ]
    model = closure(named(cells), engine=engine)
    assert (model.strategy, model.generator_degrees, model.dimension) == (
        "lattice",
        {4: 27, 6: 54},
        19,
    )
    assert str(model.completeness) == "proved"


@pytest.mark.slow
def test_markov_bases_of_two_programs() -> None:
    """Minimal generators are not unique; their degrees are. The columns are random, some of them
    repeated.
    """
    programs = [only("4ti2"), only("Normaliz")]
    chance = Random(7)
    for _ in range(12):
        columns = [
            tuple(chance.randint(0, 3) for _ in range(3)) for _ in range(chance.randint(2, 7))
        ]
        columns = [column for column in columns if any(column)] or [(1, 0, 0)]
        bases = [toric.markov_basis(columns, program) for program in programs if program]
        matrix = list(zip(*columns, strict=True))
        degrees = [
            sorted(
                [sum(max(u, 0) * a for u, a in zip(vector, row, strict=True)) for row in matrix]
                for vector in basis
            )
            for basis in bases
        ]
        assert degrees[0] == degrees[1]


def test_a_basis_of_the_lattice_not_of_a_sublattice() -> None:
    """(2, 0), (1, 1), (0, 2) span a sublattice of index 2; the kernel has a basis with coprime
    entries all the same.
    """
    assert toric.lattice_basis([(2, 0), (1, 1), (0, 2)]) == [(1, -2, 1)]
    assert sorted(toric.lattice_basis([(6,), (10,), (15,)])) != []
    for u in toric.lattice_basis([(6,), (10,), (15,)]):
        assert 6 * u[0] + 10 * u[1] + 15 * u[2] == 0


def test_rational_functions_as_coordinates(engine: Engine) -> None:
    """The circle; and a surface in which xy = 1, by two different denominators."""
    s, t = symbols("s t")
    circle = {"x": (1 - t**2) / (1 + t**2), "y": 2 * t / (1 + t**2)}
    for field in (QQ, CoefficientField(7)):
        found = closure(PolynomialMap.from_expressions([t], circle), engine=engine, field=field)
        assert found.ideal is not None
        assert found.ideal == ideal("x^2 + y^2 = 1", field=field)
    surface = PolynomialMap.from_expressions([s, t], {"x": s / t, "y": t / s, "z": s + t})
    assert closure(surface, engine=engine).ideal == ideal("x*y - 1", variables="x y z")


SLOW_FOR_LINEAR_ALGEBRA = """
[map]
parameters = ["v", "w", "a", "b", "c"]

[coordinates]
x = "(v+w)*(b^2*v^4-a^2*v^3*w+3*b^2*v^3*w+c^2*v^3*w-3*a^2*v^2*w^2+3*b^2*v^2*w^2+3*c^2*v^2*w^2-a^2*v*w^3+b^2*v*w^3+3*c^2*v*w^3+c^2*w^4)"
y = "-w*(-b^2*v^4-2*b^2*v^3*w-a^2*v*w^3+b^2*v*w^3+c^2*v*w^3+c^2*w^4)"
z = "-v*(b^2*v^4-a^2*v^3*w+b^2*v^3*w+c^2*v^3*w-2*c^2*v*w^3-c^2*w^4)"
A = "a"
B = "b"
C = "c"
"""


def test_elimination_has_its_turn_where_linear_algebra_is_slow(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elimination takes a second for this map; linear algebra, here of no end, twenty."""

    def without_end(*_: object) -> NoReturn:
        raise TimeLimitError("linear algebra reached no end")

    monkeypatch.setattr(closure_module, "_by_degrees", without_end)
    monkeypatch.setattr(closure_module, "FIRST_TURN_SECONDS", 300.0)
    source, _title = read_map(SLOW_FOR_LINEAR_ALGEBRA)
    found = closure(source, engine=engine)
    assert (found.strategy, found.completeness.proved) == ("elimination", True)
    assert (found.dimension, found.degree) == (5, 13)
    # Which of the two ends first depends on the machine: the text says so.
    assert found.strategy_reason in str(found)
    assert found.to_json()["strategy_reason"].startswith("elimination, as linear algebra")
