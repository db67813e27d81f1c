"""Each template of Macaulay2 is filled in, run and read by a fast test.

The values are such that a person can check them: of ideals of points and lines, and of the smallest
layers and networks. A template that is new needs its line in ``CALLS``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sympy import symbols

from m2bridge import (
    CoefficientField,
    PolynomialMap,
    SingleLayerAttention,
    critical_points,
    ed_degree,
    fibres,
    ideal,
    membership,
    polar_degrees,
    robustness_count,
    slice_surface,
)
from m2bridge.algebra.field import QQ
from m2bridge.convert.answers import parse
from m2bridge.engine import Engine, Transcript, using
from m2bridge.engine.script import Script
from m2bridge.families.attention.all_sizes.base_ideals import base_ideals_script
from m2bridge.families.attention.orbits.singular_orbits import orbit_script
from m2bridge.families.convolutional_network.model import ConvolutionalNetwork
from m2bridge.families.convolutional_network.observation import fibres_script
from m2bridge.families.deep_attention.fibres import fibre_script, limit_script
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.program import question
from m2bridge.maps.closure import base_locus_script, closure_script
from m2bridge.maps.completeness import completeness_script
from m2bridge.maps.double_points import double_points_script
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.maps.singular_locus import jacobian_script
from m2bridge.maps.toric import lattice_script
from m2bridge.system import folder

pytestmark = pytest.mark.macaulay2("any")

LAYER = SingleLayerAttention(2, 1)
"""Its functions are a hypersurface of dimension 5."""
ONE_HEAD = SingleLayerAttention(2, 2, 1)
"""With two readouts, or one."""
LINE, PLANE = ideal("x", "y", variables="x y z"), ideal("x", variables="x y z")
FAT_POINT = ideal("x^2", "x*y", variables="x y")
"""The line x = 0, with an embedded point at the origin."""
PARABOLA = ideal("y - x^2")
THE_LINE_TWICE = ideal("x^2", "x", variables="x y")
s = symbols("s")
CUSP = PolynomialMap.from_expressions([s], {"x": s**2, "y": s**3})


class Listening:
    """An engine that remembers the names of the programs that it ran."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.ran: set[str] = set()

    @property
    def version(self) -> str:
        return self._engine.version

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        self.ran.add(script.name)
        return self._engine.run(script, timeout=timeout)


def fields(script: Script) -> Callable[[Engine], bool]:
    """Whether a program by itself is answered by values that can be read."""
    return lambda engine: bool(parse(engine.run(script).records).values)


def texts(found: Ideal) -> list[str]:
    """The generators of an ideal, as text."""
    return sorted(map(str, found.generators))


def conormal(_: Engine) -> tuple[int, ...]:
    """A smooth plane conic has two polar degrees, both 2."""
    conic = ideal("x*z - y^2")
    return tuple(polar_degrees(conic, method="conormal").degrees)


def umbrella(_: Engine) -> int:
    """The degree of Whitney's umbrella, x²z = y²."""
    fixed = {"c_1_1_1_1": 1, "c_1_1_1_2": 0, "c_1_2_1_1": 0}
    surface = slice_surface(LAYER, fixed, fineness=4)
    return max(map(sum, surface.equation.monoms()))


MODEL, PART = as_model(LAYER), as_model(LAYER, "full")
NETWORK = ConvolutionalNetwork((2, 1))
CALLS: dict[str, tuple[Callable[[Engine], Any], Any]] = {
    "all_sizes": (fields(base_ideals_script()), True),
    "base_locus": (fields(base_locus_script(LAYER.parametrization(), field=QQ)), True),
    "closure": (fields(closure_script(MODEL, field=QQ)), True),
    "boundary_count": (lambda _: robustness_count(ONE_HEAD, pool="mean").critical_points, 17),
    "boundary_count_full": (lambda _: robustness_count(ONE_HEAD).critical_points, 28),
    "completeness": (fields(completeness_script(PART, field=CoefficientField(32003))), True),
    "convolutional_fibres": (fields(fibres_script(NETWORK, list(NETWORK.zero_types()))), True),
    "deep_fibre": (fields(fibre_script(DeepAttention((3, 1), 1, 2))), True),
    "double_points": (fields(double_points_script(as_model(NETWORK))), True),
    "ed_degree": (lambda _: ed_degree(PARABOLA, generic=False).ed_degree, 3),
    "ed_degree_map": (lambda _: ed_degree(CUSP, generic=False).ed_degree, 4),
    "ed_degree_real": (
        lambda _: ed_degree(PARABOLA, point=(0, 3), generic=False).real_critical_points,
        3,
    ),
    "fibres": (lambda _: len(fibres(LAYER).at), 3),
    "ideal_associated_primes": (
        lambda _: sorted(map(texts, FAT_POINT.associated_primes())),
        [["x"], ["x", "y"]],
    ),
    "ideal_betti_table": (lambda _: LINE.betti_table()[1, 0], 2),
    "ideal_containment": (
        lambda engine: (
            FAT_POINT.contains(THE_LINE_TWICE, engine=engine),
            THE_LINE_TWICE.contains("x", engine=engine),
        ),
        (False, True),
    ),
    "ideal_elimination": (lambda _: texts(LINE.eliminate("x")), ["y"]),
    "ideal_equality": (lambda engine: LINE.equals(PLANE, engine=engine), False),
    "ideal_groebner_basis": (lambda _: len(FAT_POINT.groebner_basis().generators), 2),
    "ideal_image": (lambda _: texts(ideal(variables="s").image(CUSP)), ["x**3 - y**2"]),
    "ideal_intersection": (lambda _: texts(ideal("x").intersect(ideal("x"))), ["x"]),
    "ideal_invariants": (lambda _: (LINE.dimension(), LINE.degree()), (1, 1)),
    "ideal_is_prime": (lambda _: FAT_POINT.is_prime(), False),
    "ideal_is_radical": (lambda _: FAT_POINT.is_radical(), False),
    "ideal_minimal_primes": (lambda _: [*map(texts, FAT_POINT.minimal_primes())], [["x"]]),
    "ideal_primary_decomposition": (lambda _: len(FAT_POINT.primary_decomposition()), 2),
    "ideal_quotient": (lambda _: texts(FAT_POINT.quotient(FAT_POINT)), ["1"]),
    "ideal_radical": (lambda _: texts(FAT_POINT.radical()), ["x"]),
    "ideal_resolution": (lambda _: LINE.resolution() is not None, True),
    "ideal_saturation": (
        lambda _: texts(FAT_POINT.saturate(ideal("x", "y", variables="x y"))),
        ["x"],
    ),
    "critical_points_count": (lambda _: critical_points(LAYER, count_only=True).critical_points, 6),
    "critical_points_real": (lambda _: bool(critical_points(LAYER).real_points), True),
    "ideal_singular_locus": (lambda _: ideal("x*y").singular_locus().dimension, 0),
    "jacobian_criterion": (fields(jacobian_script(MODEL, field=QQ)), True),
    "lattice_ideal": (fields(lattice_script(CUSP, field=QQ, title="cusp").script), True),
    "membership": (
        lambda _: membership(LAYER, {"c_1_1_1_1": 1, "c_1_1_2_2": 1}).place,
        "only in the Zariski closure",
    ),
    "not_closed": (fields(limit_script(DeepAttention((3, 3, 3), 2, 3))), True),
    "one_minimal_prime": (
        fields(question("one_minimal_prime", {"givenIdeal": LINE}, None, ("wire", "invariants"))),
        True,
    ),
    "orbit_criterion": (fields(orbit_script(MODEL, field=QQ)), True),
    "polar_conormal": (conormal, (2, 2)),
    "polar_slices": (lambda _: polar_degrees(MODEL, method="slices").degrees is not None, True),
    "slice_surface": (umbrella, 3),
}


def templates() -> set[str]:
    """The names of the templates that are programs: others are parts of these."""
    files = folder("templates").glob("*.m2.j2")
    return {file.name.removesuffix(".m2.j2") for file in files if not file.name.startswith("_")}


def test_every_template_has_its_line() -> None:
    assert set(CALLS) == templates()


@pytest.mark.parametrize("name", CALLS)
def test_a_template_is_run_and_read(name: str, engine: Engine) -> None:
    call, expected = CALLS[name]
    listening = Listening(engine)
    with using(listening):
        assert call(listening) == expected
    assert name in listening.ran
