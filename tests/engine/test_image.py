"""Images of maps, and maps at random, against Macaulay2."""

import json
import os
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
from sympy import Expr, Integer, Rational, symbols

from m2bridge import (
    QQ,
    CoefficientField,
    Macaulay2,
    PolynomialMap,
    SingleLayerAttention,
    closure,
    image,
    read_ideal,
    singular_locus,
)
from m2bridge.convert.answers import Answer, parse
from m2bridge.convert.toml_files import read_map
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.maps.dimension import Dimension, dimension
from tests.conftest import Invoke
from tests.tiers import few

pytestmark = pytest.mark.macaulay2("any")

# The examples, against what the literature says about them.

s, t, u = symbols("s t u")
TWO = CoefficientField(2)

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

# name: dimension (affine), degree, generators by degree, generic fibre, base locus. Harris,
# Algebraic Geometry: A First Course, 1.10, 2.12, 18.15 (Segre), 18.13 (Veronese), 19.10
# (determinantal); Gr(2,5) has degree 5, the Catalan number; Kileel, Trager, Bruna (2019) for
# polynomial networks.
KNOWN = {
    "twisted_cubic": (2, 3, {"2": 3}, 0, 0),
    "segre": (4, 3, {"2": 3}, 1, 3),
    "veronese_surface": (3, 4, {"2": 6}, 0, 0),
    "grassmannian": (7, 5, {"2": 5}, 3, 6),
    "whitney_umbrella": (2, 3, {"3": 1}, 0, 0),
    "secant_veronese": (5, 3, {"3": 1}, 1, 3),
    "polynomial_layer": (8, 3, {"3": 1}, 2, 6),
    "lightning_attention": (5, 4, {"1": 14, "4": 1}, 1, 4),
    "cuspidal_cubics": (2, 5, {"5": 1}, 0, 0),  # y^2 = C^2 x^3
}


def test_every_example_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.toml")} == set(KNOWN)


@pytest.mark.macaulay2("each")
@pytest.mark.parametrize("name", KNOWN)
def test_examples(engine: Macaulay2, name: str) -> None:
    dimension, degree, generators, fibre, base = KNOWN[name]
    polynomial_map, title = read_map((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
    found = image(polynomial_map, engine=engine, title=title)
    record = json.loads(json.dumps(found.to_json()))
    assert (record["dimension"], record["degree"], record["generator_degrees"]) == (
        dimension,
        degree,
        generators,
    )
    assert (record["generic_fibre_dimension"], record["base_locus_dimension"]) == (fibre, base)
    assert (record["complete"], record["dimension_status"], record["unfinished"]) == (
        "proved",
        "proved",
        None,
    )
    assert title in found.to_text()


def test_the_attention_example_is_the_model(engine: Macaulay2) -> None:
    polynomial_map, _ = read_map(
        (EXAMPLES / "lightning_attention.toml").read_text(encoding="utf-8")
    )
    model = SingleLayerAttention(2, 1).parametrization("full")
    assert dict(zip(polynomial_map.coordinates, polynomial_map.images, strict=True)) == dict(
        zip(model.coordinates, model.images, strict=True)
    )


def test_maps_with_relations_and_without_base_locus(engine: Macaulay2) -> None:
    circle, _ = read_map(
        '[map]\nparameters=["s","t"]\nrelations=["s^2+t^2-1"]\n[coordinates]\nx="s^2"\ny="s*t"\nz="t^2"'
    )
    found = image(circle, engine=engine)
    assert (found.source_dimension, found.base_locus_dimension, found.generic_fibre_dimension) == (
        1,
        -1,
        0,
    )
    assert "base locus      empty" in found.to_text()
    with pytest.raises(MethodUnavailableError, match="free parameters"):
        image(circle, engine=engine, strategy="multigraded")


def test_titles_are_words_and_no_program(engine: Macaulay2, tmp_path: Path) -> None:
    title = f'a\nrun "touch {tmp_path / "made"}"\n\x1b[31m'
    found = image(PolynomialMap.from_expressions([s], {"x": s}), engine=engine, title=title)
    assert list(tmp_path.iterdir()) == []
    assert "\x1b" not in found.to_text()
    assert found.to_text().startswith(f'a run "touch {tmp_path / "made"}"  [31m\n')


@pytest.mark.parametrize("field", [QQ, CoefficientField(7)], ids=str)
def test_a_map_without_parameters_is_a_point(engine: Macaulay2, field: CoefficientField) -> None:
    point = PolynomialMap.from_expressions([], {"x": 3, "y": Rational(1, 2), "z": 0})
    found = image(point, engine=engine, field=field)
    assert (found.source_dimension, found.generic_fibre_dimension, found.base_locus_dimension) == (
        0,
        0,
        -1,
    )
    assert (found.closure.dimension, found.closure.degree, str(found.closure.completeness)) == (
        0,
        1,
        "proved",
    )
    assert found.closure.codimension == 3
    for generator in found.closure.ideal.generators:
        domain = generator.ring.domain
        values = [domain(3), domain(1) / domain(2), domain(0)]
        assert generator.evaluate(list(zip(generator.ring.gens, values, strict=True))) == 0
    origin = image(PolynomialMap.from_expressions([], {"x": 0}), engine=engine, field=field)
    assert (origin.closure.dimension, origin.base_locus_dimension) == (0, 0)


def test_relations_are_equations_of_a_set_of_points(engine: Macaulay2) -> None:
    doubled = image(PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, [s**2]), engine=engine)
    assert list(doubled.closure.generator_texts()) == ["x"]
    assert (
        doubled.closure.degree,
        doubled.generic_fibre_dimension,
        doubled.source_irreducible,
    ) == (1, 0, True)
    cusp = PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, [(s**2 - t**3) ** 2])
    (component,) = singular_locus(cusp, engine=engine).components or ()
    assert component.dimension == 0
    inseparable = closure(
        PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, [s**2 - t**2]),
        engine=engine,
        field=TWO,
    )
    assert list(inseparable.generator_texts()) == ["x + y"]


@pytest.mark.slow
def test_minors_are_found_prime_where_nobody_says_so(engine: Macaulay2) -> None:
    known = SingleLayerAttention(3, 1, 1).parametrization()
    for prime in (True, False):
        found = image(replace(known, prime=prime), engine=engine)
        assert (found.closure.dimension, found.closure.degree) == (7, 45)
        assert (found.source_irreducible, found.generic_fibre_dimension) == (True, 1)


def test_a_reducible_source_has_no_one_fibre_and_is_singular_where_components_meet(
    engine: Macaulay2,
) -> None:
    crossing = PolynomialMap.from_expressions([s, t, u], {"x": s, "y": t}, [s * t])
    found = image(crossing, engine=engine)
    assert (found.source_dimension, found.closure.dimension, found.closure.degree) == (2, 1, 2)
    assert (found.source_irreducible, found.generic_fibre_dimension) == (False, None)
    assert "the source is reducible" in found.to_text()
    locus = singular_locus(crossing, engine=engine)
    assert locus.components is not None
    (origin,) = locus.components
    assert origin.ideal is not None
    assert (origin.dimension, set(map(str, origin.ideal.generators))) == (0, {"x", "y"})


@pytest.mark.slow
def test_a_singular_locus_by_the_closure_that_linear_algebra_finds(engine: Macaulay2) -> None:
    """The cone over the rational normal curve, and with one of its tangent planes, by hand."""
    cubic = PolynomialMap.from_expressions(
        [s, t], {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3}
    )
    locus = singular_locus(cubic, engine=engine)
    assert [(part.dimension, part.degree) for part in locus.components or ()] == [(0, 1)]
    # the plane z = w = 0 meets the cone in the line y = z = w = 0, along which it is tangent
    both = PolynomialMap.from_expressions(
        [s, t, u],
        {
            "x": s**3 * u + s * (1 - u),
            "y": s**2 * t * u + t * (1 - u),
            "z": s * t**2 * u,
            "w": t**3 * u,
        },
        [u * (u - 1)],
    )
    locus = singular_locus(both, engine=engine)
    assert [(part.dimension, part.degree) for part in locus.components or ()] == [(1, 1)]


@pytest.mark.parametrize("relations", [[s, s - 1], [Integer(1)], [s**2, s - 1]], ids=str)
def test_an_empty_source_is_refused(engine: Macaulay2, relations: list[Expr]) -> None:
    nothing = PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, relations)
    for compute in (image, closure):
        with pytest.raises(InvalidCaseError, match="the source is empty"):
            compute(nothing, engine=engine)


@pytest.mark.parametrize(
    ("images", "rank"), [({"x": s**2, "y": t**2}, 0), ({"x": s**2, "y": t**2, "z": s * t}, 1)]
)
def test_the_dimension_of_an_inseparable_map(
    images: dict[str, Expr], rank: int, engine: Macaulay2
) -> None:
    """The differential has a smaller rank at every point; images of planes have dimension two."""
    inseparable = PolynomialMap.from_expressions([s, t], images)
    found = dimension(inseparable, field=TWO, engine=engine)
    assert (found.findings[0].value, found.dimension, found.status) == (rank, 2, "proved")


def test_the_dimension_where_parameters_satisfy_relations(engine: Macaulay2) -> None:
    """No rank is known there, and elimination takes its place."""
    circle = PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, [s**2 + t**2 - 1])
    found = dimension(circle, engine=engine)
    assert (found.dimension, found.status) == (1, "proved")
    nothing = PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, [s, s - 1])
    with pytest.raises(InvalidCaseError, match="the source is empty"):
        dimension(nothing, engine=engine)
    without = dimension(circle, method="formula")
    assert "not known (not applicable)" in without.to_text()


@pytest.mark.slow
@pytest.mark.usefixtures("one_session")
def test_the_file_is_named_where_the_source_of_a_map_is_empty(
    tmp_path: Path, invoke: Invoke, program: Path
) -> None:
    file = tmp_path / "nothing.toml"
    file.write_text('[map]\nparameters = ["s"]\nrelations = ["1"]\n[coordinates]\nx = "s"\n')
    done = invoke("singular-locus", "--map", str(file), "--m2", str(program))
    assert done.returncode == 2
    assert (
        "Error: Invalid value for '--map': [map] relations: they have no common zero" in done.stderr
    )


def test_linear_relations_modulo_a_prime(engine: Macaulay2) -> None:
    multiples = PolynomialMap.from_expressions([s, t], {"x": 2 * s, "y": 3 * s, "z": t**2})
    for field, generator in [
        (TWO, "x"),
        (CoefficientField(3), "y"),
        (CoefficientField(5), "x + y"),
    ]:
        found = closure(multiples, engine=engine, field=field)
        assert (list(found.generator_texts()), found.dimension) == ([generator], 2)


def test_of_what_a_hilbert_series_is(engine: Macaulay2) -> None:
    parabola = closure(PolynomialMap.from_expressions([s], {"x": s, "y": s**2 + 1}), engine=engine)
    assert "(T + 1)/(1 - T), of the ring of leading forms" in parabola.to_text()
    assert parabola.to_json()["hilbert_series_of"] == "ring of leading forms"
    cone = closure(
        PolynomialMap.from_expressions([s, t], {"x": s**2, "y": s * t, "z": t**2}), engine=engine
    )
    assert "leading forms" not in cone.to_text()
    assert cone.to_json()["hilbert_series_of"] == "coordinate ring"


@pytest.mark.slow
@pytest.mark.usefixtures("one_session")
def test_command(invoke: Invoke, program: Path, tmp_path: Path) -> None:
    done = invoke("implicitize", str(EXAMPLES / "segre.toml"), "--json", "--m2", str(program))
    assert (done.returncode, json.loads(done.stdout)["degree"]) == (0, 3)
    partial = invoke(
        "implicitize",
        str(EXAMPLES / "segre.toml"),
        "--max-degree",
        "2",
        "--json",
        "--m2",
        str(program),
    )
    assert json.loads(partial.stdout)["complete"] == "up to degree 2"
    bad = tmp_path / "bad.toml"
    bad.write_text('[map]\nparameters = ["s"]\n[coordinates]\nx = "s +* 2"\n')
    refused = invoke("implicitize", str(bad))
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    assert "bad.toml: [coordinates] x: column 4: expected a number" in refused.stderr
    assert invoke("implicitize", str(tmp_path / "none.toml")).returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (
            'relations = ["s", "s - 1"]\n[coordinates]\nx = "s"',
            (),
            "[map] relations: they have no common zero",
        ),
        (
            'relations = ["1"]\n[coordinates]\nx = "s"',
            (),
            "[map] relations: they have no common zero",
        ),
        (
            '[coordinates]\nx = "s/7"',
            ("--field", "GF(7)"),
            "Invalid value for '--field': the coordinate x has no meaning over GF(7)",
        ),
        (
            'title = "a\\nrun \\"touch made\\""\n[coordinates]\nx = "s"',
            (),
            "[map] title: must be one line",
        ),
        ('[coordinates]\nx = "(s+t+1)^300"', (), "[coordinates] x: column 8: too large"),
    ],
)
@pytest.mark.usefixtures("one_session")
def test_wrong_maps_are_refused_in_one_line(
    invoke: Invoke, program: Path, tmp_path: Path, text: str, options: tuple[str, ...], said: str
) -> None:
    file = tmp_path / "map.toml"
    file.write_text(f'[map]\nparameters = ["s", "t"]\n{text}\n')
    refused = invoke("implicitize", str(file), "--m2", str(program), *options)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert len(refused.stderr.splitlines()) == 1
    assert said in refused.stderr
    assert list(tmp_path.iterdir()) == [file]


ALPHABETS = """[map]
title = "[/b] λ 变量 \\\\input{x}"
parameters = ["λ", "变量", "𐎀_1"]
relations = ["𐎀_1^2 - λ"]
[coordinates]
"η_1" = "λ"
"كتاب" = "𐎀_1*变量"
é = "变量^2"
""".replace("é =", '"é" =')


@pytest.mark.slow
@pytest.mark.macaulay2("each")
def test_names_in_any_alphabet(program: Path, command: str, invoke: Invoke, tmp_path: Path) -> None:
    """λ is a square, and كتاب² = λ·é; the names come back from Macaulay2, with LANG=C as well."""
    path = tmp_path / "λ.toml"
    path.write_text(ALPHABETS, encoding="utf-8")
    arguments = ["implicitize", str(path), "--m2", str(program), "--json"]
    poor = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    in_poor = subprocess.run(
        [command, *arguments], capture_output=True, env=poor, text=True, check=False
    )
    for done in (invoke(*arguments), in_poor):
        assert (done.returncode, done.stderr) == (0, "")
        found = json.loads(done.stdout)
        assert found["coordinates"] == ["η_1", "كتاب", "é"]
        assert found["title"] == "[/b] λ 变量 \\input{x}"
        assert read_ideal(found).generator_degrees == {2: 1}
        assert found["generators"][0] in ("كتاب**2 - η_1*é", "-كتاب**2 + η_1*é")
    assert in_poor.stdout.isascii()


# Random maps of small degree against Macaulay2's own kernel, over QQ and small prime fields, where
# ranks can fail.

SEEDS = range(6)
FIELDS = (0, 2, 3, 5, 7)
UNLUCKY = (32003, 32004, 32003 * 31991 + 1, 2147483647, 2147483648)
"""Coefficients and differences of them that the first primes divide."""


def random_map(p: int, seed: int) -> PolynomialMap:
    """One to four sums of up to three terms of degree ≤ 3; half of the maps are homogeneous, some
    are p-th powers.
    """
    chance = Random(100 * p + seed)
    parameters = symbols(f"s1:{chance.randint(2, 4)}")
    homogeneous, degree = seed % 2 == 0, chance.randint(1, 3)
    coefficients = [1, 1, -1, 2, 3, 6, Rational(3, 11), *(UNLUCKY if p == 0 else ())]

    def term() -> Expr:
        monomial = Rational(chance.choice(coefficients))
        for _ in range(degree if homogeneous else chance.randint(0, degree)):
            monomial *= chance.choice(parameters)
        return monomial

    images = {
        f"x{i}": sum((term() for _ in range(chance.randint(1, 3))), Integer(0))
        for i in range(chance.randint(2, 4))
    }
    if p in (2, 3) and seed % 3 == 0:
        images["x0"] = images["x0"] ** p
    return PolynomialMap.from_expressions(parameters, images)


def by_kernel(
    polynomial_map: PolynomialMap, field: str, generators: list[str], engine: Macaulay2
) -> Answer:
    """Macaulay2's own kernel in its default grading, written without any of our templates and
    notation.
    """
    images = ", ".join(
        f"({str(f.as_expr()).replace('**', '^')})*1_parameterRing" for f in polynomial_map.images
    )
    found = ", ".join(f"({text})*1_coordinateRing" for text in generators) or "0_coordinateRing"
    program = f"""
parameterRing = {field}[{", ".join(polynomial_map.source.variables)}]
coordinateRing = {field}[{", ".join(polynomial_map.coordinates)}]
whole = kernel map(parameterRing, coordinateRing, {{{images}}})
mbEmit("equal", whole == ideal({found}))
mbEmit("dimension", dim whole)
mbEmit("degree", degree whole)
"""
    return parse(engine.run(Script("kernel", program)).records)


def check(found: Dimension, expected: int, p: int) -> None:
    """No rank exceeds the dimension, in characteristic 0 it is the dimension, and only what is so
    is called proved.
    """
    ranks = [finding for finding in found.findings if finding.method.startswith("jacobian")]
    assert ranks
    for finding in ranks:
        assert finding.value is not None
        assert finding.value <= expected
        assert finding.value == expected or (p > 0 and finding.status == "lower bound")
    assert (found.dimension, found.agree) == (expected, True)


@pytest.mark.parametrize("p", few(FIELDS, 2))
def test_ideals_and_dimensions_are_those_of_the_kernel(engine: Macaulay2, p: int) -> None:
    field = CoefficientField(p)
    for seed in SEEDS:
        polynomial_map = random_map(p, seed)
        found = image(polynomial_map, engine=engine, field=field).closure
        assert (str(found.completeness), found.unfinished) == ("proved", "")
        assert found.ideal is not None
        generators = [str(g.as_expr()).replace("**", "^") for g in found.ideal.generators]
        kernel = by_kernel(polynomial_map, f"ZZ/{p}" if p else "QQ", generators, engine)
        assert kernel.boolean("equal"), polynomial_map.images
        assert (found.dimension, found.degree) == (
            kernel.integer("dimension"),
            kernel.integer("degree"),
        )
        check(
            dimension(polynomial_map, engine=engine, field=field, method="all"),
            kernel.integer("dimension"),
            p,
        )


CASES = [(1, 2, 1, 1), (2, 1, 1, 1), (2, 2, 1, 1), (2, 1, 1, 2), (2, 2, 2, 2)]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "p"), [*product(CASES, (0, 2, 3)), ((3, 1, 1, 1), 2)])
def test_the_rank_and_the_kernel_agree_for_attention(
    engine: Macaulay2, case: tuple[int, ...], p: int
) -> None:
    found = dimension(
        SingleLayerAttention(*case), engine=engine, field=CoefficientField(p), method="all"
    )
    eliminated = next(f.value for f in found.findings if f.method == "elimination")
    assert eliminated is not None
    check(found, eliminated, p)
    assert all(finding.status != "lower bound" for finding in found.findings)
