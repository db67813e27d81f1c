"""No name is a command: neither in what results write as Macaulay2, nor in a program of a
template.
"""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy
import pytest
from sympy import Expr, Symbol, symbols
from sympy.polys.rings import PolyElement

import m2bridge
from m2bridge import (
    DeepAttention,
    Ideal,
    Macaulay2,
    PolynomialMap,
    PolynomialNetwork,
    SingleLayerAttention,
    certify,
    closure,
    closures_of_all_sizes,
    critical_points,
    cross_check,
    cross_check_all_sizes,
    cross_check_deep_attention,
    dimension,
    ed_degree,
    fibres,
    hilbert_function,
    ideal,
    image,
    membership,
    observe,
    orbit_diagram,
    polar_degrees,
    robustness,
    robustness_count,
    singular_locus,
    slice_surface,
    tasks,
    verify,
    weights,
)
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert import values
from m2bridge.convert.bindings import bindings
from m2bridge.decision_boundary.count import BoundarySizes
from m2bridge.decision_boundary.figure import plane_of_inputs
from m2bridge.decision_boundary.radii import radii_of_inputs
from m2bridge.engine import script as programs
from m2bridge.engine.script import Script
from m2bridge.errors import ScriptError
from m2bridge.families.attention.all_sizes.base_ideals import base_ideals_script
from m2bridge.families.attention.all_sizes.closures import CORES
from m2bridge.families.attention.all_sizes.generators import generators_of_all_sizes
from m2bridge.families.attention.orbits.fibres import fibres_script
from m2bridge.families.attention.orbits.singular_orbits import orbit_script
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training_loss.gradient import WeightChart, weights_in
from m2bridge.families.attention.training_loss.loss import gaussian, random_function
from m2bridge.families.attention.training_loss.real_points import Isolation
from m2bridge.families.convolutional_network.model import ConvolutionalNetwork
from m2bridge.families.convolutional_network.observation import (
    fibres_script as convolutional_fibres_script,
)
from m2bridge.families.deep_attention.fibres import fibre_script, limit_script
from m2bridge.families.deep_attention.figure import figure_3
from m2bridge.ideals.program import question
from m2bridge.maps.closure import Closure, base_locus_script, closure_script
from m2bridge.maps.completeness import completeness_script
from m2bridge.maps.degrees.distance import ParametrizedImage, Variety, ideal_script, map_script
from m2bridge.maps.degrees.polar_degrees import conormal_script
from m2bridge.maps.degrees.quadratic_forms import read_quadratic
from m2bridge.maps.degrees.slices import slices_script
from m2bridge.maps.double_points import double_points_script
from m2bridge.maps.polynomial_map_model import MapModel
from m2bridge.maps.singular_locus import jacobian_script
from m2bridge.maps.slice_space import SliceSpace
from m2bridge.maps.slice_surface import slice_script
from m2bridge.maps.toric import lattice_script
from m2bridge.results.base import Result
from m2bridge.results.known import Bounds
from m2bridge.results.sheet import printable, quoted
from m2bridge.system import folder
from m2bridge.trained_weights.checkpoints.find_layers import contents
from m2bridge.trained_weights.training_run import training_run

pytestmark = pytest.mark.slow

HOSTILE = '"}; run "touch x"; y = {"\\" \\\nrun "touch x"\rrun "touch x" -- *- -* /// \x85'
"""It ends strings, lists and comments of every kind, and then runs a command."""

# A reader of Macaulay2's strings and comments, which knows nothing of how they are written.

STRING = r'"(?:[^"\\]|\\.)*"|///(?:.|\n)*?///'
COMMENT = r"--[^\n\r]*|-\*(?:.|\n)*?\*-"
WORD = r"[A-Za-z][A-Za-z0-9']*"
PARTS = re.compile(f"{STRING}|{COMMENT}|{WORD}|.", re.DOTALL)


def words(program: str) -> set[str]:
    """The words of a program that stand neither in strings nor in comments."""
    parts = PARTS.findall(program)
    assert "".join(parts) == program
    # A quotation mark by itself begins a string that has no end.
    assert '"' not in parts
    return {part for part in parts if re.match("[A-Za-z]", part)}


def check(program: str) -> None:
    """No command of the hostile name is part of the program."""
    assert words(program).isdisjoint({"run", "touch"})


def test_the_reader_finds_commands() -> None:
    hidden = '-- run\nx = "run \\" run" -* run\n *- ; mbvrunZ22Z'
    check(hidden)
    for shown in (f'{hidden}; run "touch x"', f'names = {{"{HOSTILE}"}}', f"-- {HOSTILE}"):
        with pytest.raises(AssertionError):
            check(shown)


def hostile_names(count: int) -> list[Symbol]:
    """Variables with hostile names that are different."""
    return [Symbol(f"{HOSTILE}{place}") for place in range(count)]


def ideal_in(variables: list[Symbol], *generators: Expr) -> Ideal:
    """An ideal whose ring has variables of any name, which ``ideal`` would refuse."""
    ring = PolynomialRing(QQ, tuple(map(str, variables)))
    return Ideal.without_zeros(ring, map(ring.polynomial, generators))


def poisoned(value: Any) -> Any:
    """The value with the hostile name in place of every text in it."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return HOSTILE
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return type(value)(f"{HOSTILE}{place}" for place in range(len(value)))
    if isinstance(value, list | tuple | frozenset) and not hasattr(value, "_fields"):
        return type(value)(map(poisoned, value))
    if isinstance(value, PolyElement):
        return value.ring.clone(symbols=hostile_names(value.ring.ngens)).from_dict(dict(value))
    if isinstance(value, Mapping):
        return {key: poisoned(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = copy.copy(value)
        for field in fields(value):
            object.__setattr__(changed, field.name, poisoned(getattr(value, field.name)))
        return changed
    return value


# Results: an example of each class that there is, with the hostile name wherever it has a text.


def in_the_package(kind: type) -> set[type]:
    """The classes of the package below this one, of all its files."""
    for module in pkgutil.walk_packages(m2bridge.__path__, "m2bridge."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {found for found in _below(kind) if found.__module__.startswith("m2bridge.")}


def _below(kind: type) -> Iterator[type]:
    for found in kind.__subclasses__():
        yield found
        yield from _below(found)


s, t = symbols("s t")
CUBIC = PolynomialMap.from_expressions([s, t], {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3})
UMBRELLA = PolynomialMap.from_expressions([s, t], {"x": s * t, "y": s, "z": t**2})
MODEL = SingleLayerAttention(2, 1)
ROWS = {"K": [[1, 0, 2]], "Q": [[0, 1, 1]], "V": [[1, 1, 0], [2, 2, 0]]}

RUN = {
    "step": numpy.arange(3.0),
    "loss": 2 - numpy.arange(3.0),
    "A": numpy.stack([numpy.diag([2.0, x]) for x in range(3)]),
    "V": numpy.ones((3, 1, 2)),
}

LINE = {"A": [[1]], "V": [[1]], "w": [1], "X": [[3]]}
"""A layer of one number."""
TWO_ENTRIES = {"K": [[1, 0]], "Q": [[1, 1]], "V": [[1, 2]], "w": [1], "X": [[3], [1]]}
"""A layer for tokens of two numbers."""

EXAMPLES: dict[str, Callable[[], Result]] = {
    "AllClosures": lambda: closures_of_all_sizes(CORES[:1]),
    "AllSizes": cross_check_all_sizes,
    "Closure": lambda: closure(CUBIC),
    "Contents": lambda: _found(contents({"first": [[1.0]]})),
    "CriticalPoints": lambda: critical_points(MODEL, count_only=True),
    "CrossCheck": lambda: cross_check(MODEL),
    "DeepAttentionAllSizes": cross_check_deep_attention,
    "Dimension": lambda: dimension(CUBIC),
    "EDDegree": lambda: ed_degree(CUBIC, generic=False),
    "Figure3": lambda: figure_3(1, 2, 9, [2]),
    "GeneratorsOfAllSizes": lambda: generators_of_all_sizes(CORES[:1], 2),
    "HilbertFunction": lambda: hilbert_function(CUBIC),
    "Ideal": lambda: ideal("x^2 - y^2*z", "3"),
    "IdealSingularLocus": lambda: ideal("x^2 - y^2*z").singular_locus(),
    "Image": lambda: image(CUBIC),
    "Membership": lambda: membership(MODEL, {"c_1_1_1_2": 1}),
    "OrbitDiagram": lambda: orbit_diagram(MODEL),
    "PlaneOfInputs": lambda: plane_of_inputs(TWO_ENTRIES, bias=-8.0, pixels=2),
    "PolarDegrees": lambda: polar_degrees(CUBIC),
    "RadiiOfInputs": lambda: radii_of_inputs(LINE | {"X": [[[3]]]}, bias=-8.0),
    "Robustness": lambda: robustness(LINE, bias=-8),
    "RobustnessCount": lambda: robustness_count(MODEL),
    "SingularLocus": lambda: singular_locus(MODEL, ideals=True),
    "SliceSurface": lambda: slice_surface(UMBRELLA, fineness=4),
    "TrainingRun": lambda: training_run(RUN),
    "Weights": lambda: weights(**ROWS),
}


def _found(result: Result | None) -> Result:
    assert result is not None
    return result


def test_every_class_of_results_has_an_example() -> None:
    """A class that is new must have one too."""
    concrete = {
        kind for kind in in_the_package(Result) if not getattr(kind, "__abstractmethods__", None)
    }
    named = {kind.__name__ for kind in concrete} - {
        "VerdictsResult",
        "PictureResult",
        "SurfaceResult",
    }
    assert named == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_name_in_a_result_is_a_command(one_session: None, name: str) -> None:
    result = EXAMPLES[name]()
    assert type(result).__name__ == name
    check(result.to_macaulay2())
    check(poisoned(result).to_macaulay2())


PUBLIC: dict[str, Callable[[], object]] = EXAMPLES | {
    "Certificate": lambda: certify(MODEL, "polar-degrees"),
    "CrossCheck of layers": lambda: cross_check(DeepAttention((2, 2, 1), 1)),
    "CrossCheck of powers": lambda: cross_check(PolynomialNetwork([3, 2, 1])),
    "Evaluation": lambda: Macaulay2().evaluate("x = 2"),
    "Fibres": lambda: fibres(MODEL),
    "Observations": lambda: observe(MODEL),
    "Task": lambda: tasks([MODEL], "3.3"),
    "VerifyResult": lambda: verify(certify(MODEL, "polar-degrees")),
}
"""What the public functions give."""


@pytest.mark.parametrize("name", PUBLIC)
def test_what_public_functions_give_can_be_pickled(one_session: None, name: str) -> None:
    """And says the same afterwards, in every form."""
    result = PUBLIC[name]()
    copied = pickle.loads(pickle.dumps(result))
    assert type(copied) is type(result)
    assert str(copied) == str(result)
    if isinstance(result, Result):
        assert copied.to_json() == result.to_json()
        assert copied.to_text() == result.to_text()
        assert copied.to_macaulay2() == result.to_macaulay2()


# Templates: each is rendered for variables with hostile names, and with a hostile title.

TEMPLATES = {
    path.name for path in folder("templates").glob("*.m2.j2") if not path.name.startswith("_")
}


class Recorder:
    """An engine that answers nothing."""

    version = "1.26"

    def run(self, script: Script, *, timeout: float | None = None) -> NoReturn:
        raise ScriptError("nothing is run")


def hostile_map() -> PolynomialMap:
    """A twisted cubic whose parameters and coordinates have hostile names."""
    *coordinates, u, v = hostile_names(6)
    ring = PolynomialRing(QQ, (str(u), str(v)))
    images = tuple(ring.polynomial(u**power * v ** (3 - power)) for power in range(4))
    return PolynomialMap(ring, tuple(map(str, coordinates)), images)


def real_points_script() -> Script:
    """The program for the real critical points of (2, 1, 2) for standard normal tokens."""
    shape = LayerSizes(2, 1, 2, 2)
    loss = gaussian(shape).towards(random_function(shape, 0), "")
    weights_in_chart = weights_in(shape, WeightChart((2,)))
    isolation = Isolation(
        loss=loss, weights=weights_in_chart, conditions=(), msolve=False, program=None
    )
    return isolation.script(title=HOSTILE)


def programs_about_ideals() -> Iterator[Callable[[], Any]]:
    """All that is asked about ideals; no question gets an answer."""
    engine = Recorder()
    x, y, z, *others = hostile_names(7)
    first = ideal_in([x, y, z], x**2 - y * z, x * y - z**2)
    second = ideal_in([x, y, z], x**3 - y, z - 1)
    for name in (
        "groebner_basis", "dimension", "betti_table", "resolution", "radical", "minimal_primes",
        "primary_decomposition", "associated_primes", "is_prime", "is_radical", "singular_locus",
    ):  # fmt: skip
        yield partial(getattr(first, name), engine=engine)
    for name in ("equals", "contains", "intersect", "quotient", "saturate"):
        yield partial(getattr(first, name), second, engine=engine)
    yield partial(first.eliminate, z, engine=engine)
    map_of_ideal = PolynomialMap(first.ring, (str(others[0]),), (first.generators[0],))
    yield partial(first.image, map_of_ideal, engine=engine)


def programs_about_maps() -> Iterator[Callable[[], Any]]:
    """The other programs, by the functions that write them."""
    cubic = hostile_map()
    model = MapModel(cubic, HOSTILE)
    coordinates = [Symbol(name) for name in cubic.coordinates]
    equations = ideal_in(coordinates, *coordinates)
    found = Closure(
        model=model,
        field=QQ,
        strategy="elimination",
        equations=equations,
        known_dimension=Bounds.exactly(0),
        degree=1,
        seconds=0.0,
    )
    yield partial(base_locus_script, cubic, field=QQ, title=HOSTILE)
    yield partial(closure_script, model, field=QQ)
    yield partial(completeness_script, model, field=CoefficientField(32003))
    yield partial(jacobian_script, model, field=QQ)
    yield partial(double_points_script, model)
    yield partial(lattice_script, cubic, field=QQ, title=HOSTILE)
    yield partial(conormal_script, equations, HOSTILE, prime=True)
    yield partial(slices_script, cubic, (0,), HOSTILE)
    for name in ("ed_degree", "ed_degree_real"):
        yield partial(
            ideal_script,
            Variety(equations, HOSTILE),
            name,
            read_quadratic(None, equations.ring),
            (Fraction(1, 2),) * len(equations.ring.variables),
            msolve="",
            program="",
        )
    yield partial(map_script, ParametrizedImage(cubic, (0,), HOSTILE), None)
    forms = dict(zip(cubic.coordinates, equations.generators, strict=True))
    space = SliceSpace(equations.ring, forms, {})
    yield partial(
        slice_script, found.model.title, found.ideal, space, exceptional=equations.generators
    )
    yield partial(question, "one_minimal_prime", {"givenIdeal": equations})
    yield base_ideals_script.__wrapped__
    yield partial(fibres_script, MODEL)
    yield partial(membership, MODEL, {"c_1_1_1_2": 1}, engine=Recorder())
    yield partial(critical_points, MODEL, count_only=True, engine=Recorder())
    for readouts in (1, 2):
        sizes = BoundarySizes(d=2, t=2, a=1, r=readouts, skip=True, cone=False)
        yield partial(sizes.script, HOSTILE)
    yield real_points_script
    yield partial(orbit_script, MODEL, field=QQ)
    yield partial(fibre_script, DeepAttention((2, 2, 2), (1, 1), 2))
    yield partial(limit_script, DeepAttention((3, 3, 3), (3, 2), 3))
    network = ConvolutionalNetwork((2, 1))
    yield partial(convolutional_fibres_script, network, list(network.zero_types()))


def test_no_name_and_no_title_in_a_program_is_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every template that there is, also of one that is new."""
    filled = programs._filled
    rendered = set[str]()

    def checked(environment: Any, template: str, values: Mapping[str, object]) -> str:
        program = filled(environment, template, values)
        check(program)
        rendered.add(template)
        return program

    monkeypatch.setattr(programs, "_filled", checked)
    for ask in (*programs_about_ideals(), *programs_about_maps()):
        with suppress(ScriptError):
            ask()
    assert rendered == TEMPLATES


@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_a_title_is_a_comment(template: str) -> None:
    """Where a template takes one, whatever its other values are."""
    text = (folder("templates") / template).read_text(encoding="utf-8")
    for line in text.splitlines():
        if "{{ title }}" in line:
            check(line.replace("{{ title }}", printable(HOSTILE)))


# Calls in a workspace: names that are bound, texts, and the texts in values of every class.


def test_no_text_that_goes_into_a_workspace_is_a_command() -> None:
    x = PolynomialRing(QQ, (HOSTILE,)).sympy_ring.gens[0]
    algebra = values.Algebra(QQ, (HOSTILE,), ((2,),))
    element = values.RingElement(algebra, (((1,), Fraction(1)),))
    given = [
        HOSTILE,
        [HOSTILE],
        {HOSTILE: HOSTILE},
        frozenset({HOSTILE}),
        x**2,
        Symbol(HOSTILE) ** 2,
        element,
        algebra,
        values.Symbol(HOSTILE),
        values.Symbol(HOSTILE, [HOSTILE]),
        values.Option(HOSTILE, HOSTILE),
        values.Expression(HOSTILE, (HOSTILE,)),
        values.Factorization(((HOSTILE, 1),)),
        values.Net((HOSTILE,), 1),
        values.Reference(HOSTILE, HOSTILE, HOSTILE),
        values.Array((HOSTILE,)),
        values.Tally([(HOSTILE, 1)]),
        values.MutableHashTable([(HOSTILE, HOSTILE)]),
    ]
    for value in given:
        check(bindings({HOSTILE: value}))


def test_names_and_texts_are_no_commands_in_macaulay2(session: Macaulay2, tmp_path: Path) -> None:
    """Nothing is made by the command in a name; what was text and a name comes back as that."""
    mark = tmp_path / "made"
    name = f'"}}; run "touch {mark}"; y = {{"'
    x, y = Symbol(name), Symbol("y")
    found = ideal_in([x, y], x * y, x**2).radical(engine=session)
    assert found.generators == ideal_in([x, y], x).generators
    assert session.value("f", f=[name, {name: 1}]) == [name, {name: 1}]
    listed = quoted(name), quoted(name, readable=True)
    assert session.value(f"({', '.join(listed)})") == (name, name)
    assert not mark.exists()
