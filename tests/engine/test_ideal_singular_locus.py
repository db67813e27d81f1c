"""Singular loci of any ideals, against the Jacobian criterion done by hand."""

import json
from itertools import product
from math import prod
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sympy import symbols
from sympy.polys.rings import PolyElement

from m2bridge import (
    CoefficientField,
    Engine,
    Ideal,
    IdealSingularLocus,
    Macaulay2,
    PolynomialMap,
    ideal,
    read_ideal_file,
)
from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.cli import UNDECIDED
from m2bridge.cli.common import show
from m2bridge.engine.script import Script
from m2bridge.errors import TimeLimitError
from m2bridge.ideals.varieties import singular_locus
from m2bridge.limits import Clock
from m2bridge.maps.singular_locus import projective_singular_locus
from tests.conftest import Invoke
from tests.limits import HOUR, limit_after

pytestmark = pytest.mark.macaulay2("any")


EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "ideals"

# generators, variables: dimension of V(I), components of the singular locus; by hand, from the
# partial derivatives and the points where components meet.
KNOWN: list[tuple[list[str], str, int, list[list[str]]]] = [
    (["x^2 - y^2*z"], "x y z", 2, [["x", "y"]]),  # Whitney umbrella
    (["y^2 - x^3"], "x y", 1, [["x", "y"]]),  # cusp
    (["x^2 + y^2 - z^2"], "x y z", 2, [["x", "y", "z"]]),  # cone
    (["x^2 + y^2 - 1"], "x y", 1, []),  # circle
    # Steiner
    (["x^2*y^2 + y^2*z^2 + z^2*x^2 - x*y*z"], "x y z", 2, [["x", "y"], ["x", "z"], ["y", "z"]]),
    # cone over the twisted cubic
    (["x*z - y^2", "y*w - z^2", "x*w - y*z"], "x y z w", 2, [["x", "y", "z", "w"]]),
    # not radical
    (["x^2"], "x y", 1, []),  # a double line is a line
    (["x^2", "x*y"], "x y", 1, []),  # a line with an embedded point
    (["(y^2 - x^3)^2"], "x y", 1, [["x", "y"]]),
    # several components: where they meet, and nowhere else
    (["x*y"], "x y", 1, [["x", "y"]]),
    (["x*z", "x*w", "y*z", "y*w"], "x y z w", 2, [["x", "y", "z", "w"]]),  # two planes in a point
    (["x*(x - 1)"], "x y", 1, []),  # parallel lines
    (["x*z", "y*z"], "x y z", 2, [["x", "y", "z"]]),  # a plane and a line through it
    (["z*(z - 1)", "x*z", "y*z"], "x y z", 2, []),  # a plane and a point beside it
    (["x*y*(x + y)"], "x y z", 2, [["x", "y"]]),  # three planes in a line
    # tangent curves: the point is found although gradients are parallel
    (["y*(y - x^2)"], "x y", 1, [["x", "y"]]),
    # it meets the plane
    (["z*(x^2 - y^3)", "w*(x^2 - y^3)"], "x y z w", 3, [["x", "y"], ["z", "w", "x^2 - y^3"]]),
    # a line through a singular point
    (["y*(x^2 - y^2*z)", "(z - 1)*(x^2 - y^2*z)"], "x y z", 2, [["x", "y"]]),
    # irreducible over QQ only
    (["x^2 + y^2"], "x y", 1, [["x", "y"]]),
    (["x^2 - 2"], "x y", 1, []),
    # nothing, everything
    (["1"], "x y", -1, []),
    (["0"], "x y", 2, []),
    (["x", "y"], "x y", 0, []),
]


def components(locus: IdealSingularLocus) -> set[Ideal]:
    assert locus.components is not None
    return {component.ideal for component in locus.components}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("generators", "variables", "dimension", "expected"), KNOWN, ids=lambda value: str(value)
)
def test_by_hand(
    engine: Engine, generators: list[str], variables: str, dimension: int, expected: list[list[str]]
) -> None:
    locus = ideal(generators, variables=variables).singular_locus(engine=engine)
    assert not locus.unfinished
    assert locus.variety_dimension == dimension
    assert components(locus) == {ideal(*listed, variables=variables) for listed in expected}
    assert locus.ideal is not None
    if not expected:
        assert (locus.dimension, locus.ideal) == (-1, ideal(1, variables=variables))
    assert all(prime.contains(locus.ideal) for prime in components(locus))


def test_the_criterion_for_the_whole_ideal_is_wrong_where_dimensions_differ(engine: Engine) -> None:
    """A plane, and beside it a cusp in another plane: the gradients have rank 1 at the cusp, the
    codimension of all.
    """
    beside = ideal("z*(z - 1)", "(x^2 - y^3)*(z - 1)", variables="x y z")
    entries = [entry for row in beside.jacobian().entries for entry in row]
    assert (beside + ideal(entries)).dimension(engine=engine) == -1
    assert beside.codimension(engine=engine) == 1
    assert components(beside.singular_locus(engine=engine)) == {ideal("x", "y", "z")}


def test_characteristic_p(engine: Engine) -> None:
    """x^p − y is smooth, x² + y²·z modulo 2 is singular where y = 0; over QQ it is the umbrella."""
    two = CoefficientField(2)
    assert components(ideal("x^2 - y", field=two).singular_locus(engine=engine)) == set()
    locus = ideal("x^2 + y^2*z", field=two).singular_locus(engine=engine)
    assert [str(component.ideal) for component in locus.components or ()] == [
        "ideal(x, y) of GF(2)[x, y, z]"
    ]


def partial_derivatives(f: PolyElement) -> list[PolyElement]:
    return [f.diff(x) for x in f.ring.gens]


curves = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda m: sum(m) <= 3),
    st.integers(-2, 2),
    min_size=2,
    max_size=4,
)


@pytest.mark.slow
@settings(
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(first=curves, second=curves, p=st.sampled_from([0, 5]))
def test_plane_curves(
    engine: Engine, first: dict[tuple[int, int], int], second: dict[tuple[int, int], int], p: int
) -> None:
    """Of a curve f·g² the singular points are the zeros of its reduced equation and of its partial
    derivatives.
    """
    ring = PolynomialRing(CoefficientField(p), ("x", "y"))
    domain = ring.sympy_ring.domain
    f, g = (
        ring.sympy_ring.from_dict({m: domain(c) for m, c in h.items() if domain(c)})
        for h in (first, second)
    )
    if not f * g:
        return
    locus = Ideal(ring, (f * g**2,)).singular_locus(engine=engine)
    (curve,) = Ideal(ring, (f * g**2,)).to_flint()
    (reduced,) = ideal(
        [prod((factor for factor, _ in curve.factor()[1]), start=curve * 0 + 1)]
    ).generators
    by_hand = Ideal(ring, tuple(filter(None, [reduced, *partial_derivatives(reduced)])))
    assert locus.ideal is not None
    assert by_hand.radical(engine=engine).equals(locus.ideal, engine=engine)
    if p:
        assert _zeros(by_hand) == _zeros(locus.ideal)


def _zeros(given_ideal: Ideal) -> set[tuple[int, ...]]:
    points = product(range(5), repeat=2)
    return {
        p
        for p in points
        if not any(
            g.evaluate(list(zip(g.ring.gens, p, strict=True))) for g in given_ideal.generators
        )
    }


class Late:
    """An engine that reaches its limit after some answers; the first three are the components of
    the variety.
    """

    version = "0"

    def __init__(self, engine: Engine, count: int = 3) -> None:
        self._engine, self._count, self.complete = engine, count, False

    def run(self, script: Script, *, timeout: float | None = None) -> None:
        records = self._engine.run(script, timeout=timeout).records
        self.complete = len(records) <= self._count
        raise TimeLimitError("the limit", records=records[: self._count])


def test_what_was_found_until_the_limit_is_kept(engine: Engine) -> None:
    locus = ideal("x*y").singular_locus(engine=Late(engine))  # type: ignore[arg-type]
    assert locus.unfinished == "the limit"
    assert locus.variety_dimension == 1
    assert locus.dimension is None is locus.components
    assert "not finished" in str(locus)
    assert "not decided" in str(locus)
    assert all(f"V({x})" in str(locus) for x in "xy")
    assert locus.to_json()["components"] is None
    assert "not finished" in locus.to_latex() + locus.to_macaulay2()


def test_at_the_limit_the_components_so_far_are_shown_with_exit_code_3(
    session: Macaulay2, capsys: pytest.CaptureFixture[str]
) -> None:
    """Macaulay2 never ends after the components, their dimensions and degrees."""
    with limit_after(session, 3, "ideal_singular_locus") as stuck:
        locus = ideal("x*y").singular_locus(engine=stuck, timeout=HOUR)
    assert show(locus, "text", Clock()) == UNDECIDED
    text = capsys.readouterr().out
    assert all(f"V({x})" in text for x in "xy")
    assert "singular locus   not decided" in text


@pytest.mark.slow
def test_components_proved_until_the_limit_are_shown_with_a_bound_for_the_others(
    engine: Engine,
) -> None:
    """A cone over the twisted cubic and a cusp beside it: where the cone is done, the cusp
    is left.
    """
    names = "x y z w u"
    cone = ideal("x*z - y^2", "y*w - z^2", "x*w - y*z", "u", variables=names)
    both = cone.intersect(ideal("x^2 - y^3", "u - 1", variables=names), engine=engine)
    whole = both.singular_locus(engine=engine, minors="selected")
    assert whole.components is not None
    seen = set()
    for count in range(4, 40):
        limited = Late(engine, count)
        part = both.singular_locus(engine=limited, minors="selected")  # type: ignore[arg-type]
        assert part.unfinished
        assert {c.ideal for c in part.proved} <= {c.ideal for c in whole.components}
        rest = [
            c.dimension for c in whole.components if c.ideal not in {c.ideal for c in part.proved}
        ]
        assert part.rest_dimension is None or max(rest, default=-1) <= part.rest_dimension
        seen.add((len(part.proved), part.rest_dimension))
        if limited.complete:
            break
    assert len(seen) > 2


# file: dimension of the variety, its components, dimension of the singular locus, its components
SHOWN = {
    "whitney_umbrella": (2, 1, 1, [["x", "y"]]),
    "three_components": (2, 3, 0, [["x", "y", "z"]]),
    "steiner_surface": (2, 1, 1, [["x", "y"], ["x", "z"], ["y", "z"]]),
}


def test_every_example_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.toml")} == set(SHOWN)


@pytest.mark.slow
@pytest.mark.macaulay2("each")
@pytest.mark.parametrize("name", SHOWN)
def test_examples(engine: Engine, name: str) -> None:
    given_ideal, title = read_ideal_file((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
    record = json.loads(
        json.dumps(singular_locus(given_ideal, engine=engine, title=title).to_json())
    )
    found = (record["variety_dimension"], len(record["variety"]), record["dimension"])
    assert (*found, [component["generators"] for component in record["components"]]) == SHOWN[name]


def test_forms(engine: Engine) -> None:
    locus = ideal("x^2 - y^2*z").singular_locus(engine=engine)
    assert "V(x, y)" in str(locus)
    assert locus.to_json()["generators"] == ["x", "y"]
    assert r"$\operatorname{Sing} = V\left\langle x, y \right\rangle$" in locus.to_latex()
    assert locus.to_macaulay2() == "R = QQ[x, y, z]\nI = ideal {x,\n    y}"
    smooth = ideal("x", variables="x y").singular_locus(engine=engine)
    assert "smooth" in str(smooth)
    assert r"$\operatorname{Sing} = \varnothing$" in smooth.to_latex()


@pytest.mark.slow
@pytest.mark.usefixtures("one_session")
def test_the_map_has_the_same_locus(invoke: Invoke, m2: str) -> None:
    """The umbrella is parametrized in examples/whitney_umbrella.toml, with other names for the same
    equation.
    """
    done = invoke(
        "singular-locus",
        "--map",
        str(EXAMPLES.parent / "whitney_umbrella.toml"),
        "--m2",
        m2,
        "--json",
    )
    (component,) = json.loads(done.stdout)["components"]
    assert sorted(component["generators"]) == ["x", "y"]


CURVE = """[map]
parameters = ["s", "t"]
[coordinates]
x = "s^3"
y = "s*t^2"
z = "t^3"
"""


@pytest.mark.slow
@pytest.mark.usefixtures("one_session")
def test_the_projective_variety_of_a_homogeneous_map(
    invoke: Invoke, m2: str, tmp_path: Path
) -> None:
    """A cubic with a cusp at (1 : 0 : 0), by its parametrization and by its equation; and the
    smooth twisted cubic.
    """
    file = tmp_path / "cusp.toml"
    file.write_text(CURVE)
    for field in ("QQ", "GF(32003)"):
        options = ("--projective", "--m2", m2, "--field", field, "--json")
        of_map = json.loads(invoke("singular-locus", "--map", str(file), *options).stdout)
        of_ideal = json.loads(invoke("singular-locus", "--ideal", "y^3 - x*z^2", *options).stdout)
        same = (
            "projective",
            "variety_dimension",
            "dimension",
            "components",
            "generators",
            "proved",
            "rest_dimension",
        )
        assert {name: of_map[name] for name in same} == {name: of_ideal[name] for name in same}
        assert (of_map["variety_dimension"], of_map["dimension"]) == (1, 0)
        assert sorted(of_map["generators"]) == ["y", "z"]
    twisted = str(EXAMPLES.parent / "twisted_cubic.toml")
    smooth = json.loads(
        invoke("singular-locus", "--map", twisted, "--projective", "--m2", m2, "--json").stdout
    )
    assert (smooth["variety_dimension"], smooth["dimension"], smooth["components"]) == (1, -1, [])


def test_projective_loci_by_double_points_and_by_minors(engine: Engine) -> None:
    """A nodal cubic, a smooth rational quartic, and Steiner's surface with its three lines."""
    s, t, u = symbols("s t u")
    nodal = PolynomialMap.from_expressions(
        [s, t], {"x": s * (s**2 - t**2), "y": t * (s**2 - t**2), "z": s**3}
    )
    quartic = PolynomialMap.from_expressions(
        [s, t], {"x": s**4, "y": s**3 * t, "z": s * t**3, "w": t**4}
    )
    steiner = PolynomialMap.from_expressions(
        [s, t, u], {"x": t * u, "y": s * u, "z": s * t, "w": s**2 + t**2 + u**2}
    )
    for case, dimension, count in ((nodal, 0, 1), (quartic, -1, 0), (steiner, 1, 3)):
        by_pairs = projective_singular_locus(case, engine=engine)
        by_minors = projective_singular_locus(case, method="jacobian", engine=engine)
        assert (by_pairs.method, by_minors.method) == ("double points", "Jacobian criterion")
        assert by_pairs.components == by_minors.components
        assert by_pairs.ideal == by_minors.ideal
        assert by_pairs.dimension == dimension
        assert len(by_pairs.components or ()) == count
        assert by_pairs.variety_dimension == by_minors.variety_dimension


@pytest.mark.slow
@pytest.mark.usefixtures("one_session")
def test_components_of_a_projective_variety_always_have_ideals(
    invoke: Invoke, m2: str, tmp_path: Path
) -> None:
    """So ``--ideals`` is accepted and adds nothing: the cusp (1 : 0 : 0) is the zero of y and z."""
    file = tmp_path / "cusp.toml"
    file.write_text(CURVE)
    options = ("--map", str(file), "--projective", "--m2", m2, "--json")
    for arguments in (options, (*options, "--ideals")):
        (cusp,) = json.loads(invoke("singular-locus", *arguments).stdout)["components"]
        assert (cusp["dimension"], sorted(cusp["generators"])) == (0, ["y", "z"])


@pytest.mark.slow
@pytest.mark.usefixtures("one_session")
def test_a_map_that_is_not_homogeneous_has_no_projective_variety(invoke: Invoke, m2: str) -> None:
    umbrella = str(EXAMPLES.parent / "whitney_umbrella.toml")
    refused = invoke("singular-locus", "--map", umbrella, "--projective", "--m2", m2)
    assert "is not a cone" in refused.stderr
    assert "-y**2*z + x**2 is not homogeneous" in refused.stderr
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--d", "2"], "--ideal and --d exclude each other"),
        (["--method", "jacobian"], "--ideal and --method exclude each other"),
        (["--family", "attention"], "--ideal and --family exclude each other"),
        (["--field", "GF(6)"], "not a prime"),
        (["--ideal", "nowhere.toml"], "nowhere.toml"),
        (
            ["--ideal", str(EXAMPLES.parent / "segre.toml")],
            "this file holds a map, and no ideal: write --map FILE",
        ),
    ],
)
def test_bad_arguments_get_one_line(invoke: Invoke, arguments: list[str], words: str) -> None:
    done = invoke("singular-locus", "--ideal", str(EXAMPLES / "whitney_umbrella.toml"), *arguments)
    assert words in done.stderr
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("one_session")
def test_on_the_command_line_over_another_field(invoke: Invoke, m2: str) -> None:
    umbrella = str(EXAMPLES / "whitney_umbrella.toml")
    done = invoke("singular-locus", "--ideal", umbrella, "--m2", m2, "--field", "GF(2)")
    assert "over GF(2)" in done.stdout
    assert "V(x, y)" in done.stdout


def test_fields_of_components(engine: Engine) -> None:
    """Two conjugate lines are one component over QQ, and meet in one point over every field."""
    locus = ideal("x^2 + y^2").singular_locus(engine=engine)
    assert locus.variety is not None
    assert [(c.dimension, c.degree) for c in locus.variety] == [(1, 2)]
    assert locus.given.ring.field == QQ
    assert components(locus) == {ideal("x", "y")}
