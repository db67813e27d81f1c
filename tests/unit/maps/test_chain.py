"""Compositions of polynomial maps: against SymPy, against their expansion, and read from files."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest
from sympy import Expr, Rational, diff, symbols

from m2bridge import Orbit, SingleLayerAttention, dimension
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.errors import (
    ContradictionError,
    ConversionError,
    InvalidCaseError,
    MethodUnavailableError,
    TimeLimitError,
    TooLargeError,
)
from m2bridge.families.attention.orbits.orbits import flatten, orbits, representative
from m2bridge.limits import limited
from m2bridge.maps import chain as bounds
from m2bridge.maps.chain import Chain, Layer
from m2bridge.maps.jacobian_rank import PRIMES, differentiable, rank_result
from m2bridge.maps.model import DifferentiableModel, Model
from m2bridge.maps.polynomial_map_model import MapModel, as_model, read_model
from tests.limits import Looks

EXAMPLES = Path(__file__).parents[3] / "examples"

x, y, z, w, a, b, c, d, e = symbols("x y z w a b c d e")
FIRST = Layer.from_expressions(
    ["x", "y"], ["a", "b"], {"z": a * x**2 + b * x * y - 3, "w": (a + Rational(1, 2)) * y}
)
SECOND = Layer.from_expressions(["z", "w"], ["c", "d"], {"f": c * z**2 * w + d * w, "g": d * z - c})
FUNCTIONS = Chain((FIRST, SECOND))
START = Layer.from_expressions([], ["a", "b", "e"], {"z": a * b + e, "w": a**3 * e**2})
COMPOSED = Chain((START, SECOND))


def substituted(outputs: dict[str, Expr]) -> list[Expr]:
    """The outputs of the second layer when z and w are what the first one gives."""
    f = [c * z**2 * w + d * w, d * z - c]
    return [value.subs({z: outputs["z"], w: outputs["w"]}, simultaneous=True) for value in f]


F_FUNCTIONS = substituted({"z": a * x**2 + b * x * y - 3, "w": (a + Rational(1, 2)) * y})
F_COMPOSED = substituted({"z": a * b + e, "w": a**3 * e**2})


def residue(value: Expr, prime: int) -> int:
    exact = Rational(value)
    return int(exact.p) * pow(int(exact.q), -1, prime) % prime


@pytest.mark.parametrize("prime", [*PRIMES, 7])
@pytest.mark.parametrize(
    ("model", "inputs", "outputs"),
    [(FUNCTIONS, (x, y), F_FUNCTIONS), (COMPOSED, (), F_COMPOSED)],
    ids=["f", "map"],
)
def test_gradients_are_those_of_sympy(
    model: Chain, inputs: tuple[Expr, ...], outputs: list[Expr], prime: int
) -> None:
    random = Random(5)
    parameters = symbols(model.parameters)
    point = [random.randrange(100) for _ in parameters]
    places = [[random.randrange(100) for _ in inputs] for _ in range(2)]
    covectors = [[random.randrange(100) for _ in outputs] for _ in places]
    rows = model.pullbacks(point, places, covectors, prime)
    for place, covector, row in zip(places, covectors, rows, strict=True):
        at = dict(zip(parameters, point, strict=True)) | dict(zip(inputs, place, strict=True))
        paired = sum(g * f for g, f in zip(covector, outputs, strict=True))
        assert row == [residue(diff(paired, p).subs(at), prime) for p in parameters]


def test_the_expansion_is_the_substitution() -> None:
    found = COMPOSED.parametrization()
    assert found.coordinates == ("f", "g")
    assert [
        (image.as_expr() - f).expand() for image, f in zip(found.images, F_COMPOSED, strict=True)
    ] == [0, 0]
    found = FUNCTIONS.parametrization()
    rebuilt = {"f": 0, "g": 0}
    for name, image in zip(found.coordinates, found.images, strict=True):
        output, i, j = name.split("_")
        rebuilt[output] += image.as_expr() * x ** int(i) * y ** int(j)
    assert [(rebuilt[name] - f).expand() for name, f in zip("fg", F_FUNCTIONS, strict=True)] == [
        0,
        0,
    ]
    assert (
        len(set(found.coordinates))
        == len(found.coordinates)
        <= bounds.coordinate_bound(FUNCTIONS.layers)
    )


def test_a_single_layer_is_the_map_itself() -> None:
    assert Chain((START,)).parametrization() is START.polynomial_map


@pytest.mark.parametrize("model", [FUNCTIONS, COMPOSED, FUNCTIONS.restricted_to(["g"])])
def test_the_dimension_is_that_of_the_expansion(model: Chain) -> None:
    assert rank_result(model).lower == rank_result(MapModel(model.parametrization())).lower


@pytest.mark.parametrize(
    ("size", "low", "high"), [(1, 0, 0), (1, 2, 5), (2, 0, 3), (3, 2, 2), (3, 1, 4)]
)
def test_monomials_are_counted(size: int, low: int, high: int) -> None:
    every = [m for m in product(range(high + 1), repeat=size) if low <= sum(m) <= high]
    first, *_ = names = symbols(f"z1:{size + 1}")
    layer = Layer.from_expressions(
        [*map(str, names)],
        ["a", "b"],
        {"f": symbols("a") * first**low + symbols("b") * first**high},
    )
    assert bounds.coordinate_bound((layer,)) == len(every)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_have_the_rank_of_their_jacobian(path: Path) -> None:
    model = read_model(path.read_text(encoding="utf-8"), path.stem)
    assert isinstance(model, MapModel)
    known = dimension(model.polynomial_map)
    if model.polynomial_map.relations:
        assert known.dimension is None
        return
    found = rank_result(model)
    assert found.lower == known.dimension
    # Where the rank is less than all bounds that are known, larger minors are proved to be zero.
    assert known.status == "proved"


def test_bounds_between_the_layers() -> None:
    """Two numbers pass from ten parameters to a layer that has one parameter of its own: dimension
    3.
    """
    names = [f"a{i}" for i in range(10)]
    first = Layer.from_expressions(
        [], names, {"u": sum(symbols(names)), "v": symbols("a0") * symbols("a1")}
    )
    second = Layer.from_expressions(["x", "y"], ["c"], {f"f{i}": c * x**i + y**2 for i in range(5)})
    found = rank_result(Chain((first, second)))
    assert (found.lower, found.status, found.upper) == (3, "proved", 3)
    assert "layer 1" in found.because


@pytest.mark.parametrize(
    ("images", "torus"),
    [
        ({"x": a * b, "y": a * b * c}, 1),
        ({"x": a * b, "y": a + b}, 0),
        ({"x": a * b, "y": c * d}, 2),
        ({"x": a**2 * b**3, "y": c + 1}, 1),
        ({"x": a + c, "y": 5}, 0),
    ],
)
def test_rescalings_that_keep_a_map(images: dict[str, Expr], torus: int) -> None:
    names = sorted(
        {str(v) for image in images.values() for v in getattr(image, "free_symbols", ())}
    )
    model = MapModel(PolynomialMap.from_expressions(names, images))
    assert model.gauge_dimension() == torus
    assert rank_result(model).lower <= len(names) - torus


def test_a_map_with_rescalings_gets_a_proved_dimension() -> None:
    """2×3 matrices of rank one."""
    rank_one = PolynomialMap.from_expressions(
        ["a", "b", "x", "y", "z"],
        {f"m{i}{j}": u * v for i, u in enumerate((a, b)) for j, v in enumerate((x, y, z))},
    )
    found = rank_result(MapModel(rank_one))
    assert (found.lower, found.status) == (4, "proved")


def test_a_torus_that_moves_hidden_variables_only_is_no_gauge() -> None:
    """A hidden variable that nothing reads can be rescaled freely; the parameters stay where they
    are.
    """
    first = Layer.from_expressions([], ["a"], {"u": a, "v": 0})
    second = Layer.from_expressions(["u", "v"], [], {"f": symbols("u")})
    assert Chain((first, second)).gauge_dimension() == 0
    assert rank_result(Chain((first, second))).lower == 1


def test_primes_that_divide_denominators_are_left_out() -> None:
    awkward = MapModel(PolynomialMap.from_expressions(["a"], {"x": a / LARGE_PRIME}))
    assert (rank_result(awkward).lower, rank_result(awkward).prime) == (1, PRIMES[1])
    with pytest.raises(InvalidCaseError, match="modulo 3"):
        rank_result(MapModel(PolynomialMap.from_expressions(["a"], {"x": a / 3})), 3)
    hopeless = MapModel(PolynomialMap.from_expressions(["a"], {"x": a / (PRIMES[0] * PRIMES[1])}))
    with pytest.raises(MethodUnavailableError, match="denominators"):
        rank_result(hopeless)


def test_an_unlucky_prime_is_followed_by_another() -> None:
    unlucky = MapModel(PolynomialMap.from_expressions(["a", "b"], {"x": a, "y": LARGE_PRIME * b}))
    found = rank_result(unlucky)
    assert (found.lower, found.prime, found.status) == (2, PRIMES[1], "proved")


def test_ranks_can_be_stopped_and_repeated() -> None:
    with pytest.raises(TimeLimitError), limited(1, now=Looks()):
        rank_result(FUNCTIONS)
    assert rank_result(FUNCTIONS) == rank_result(FUNCTIONS)


def test_relations_among_parameters_are_for_elimination() -> None:
    circle = PolynomialMap.from_expressions(["a", "b"], {"x": a}, [a**2 + b**2 - 1])
    with pytest.raises(MethodUnavailableError, match="use elimination"):
        rank_result(as_model(circle))
    with pytest.raises(ConversionError, match="relations"):
        Layer(circle)


def test_what_is_a_model() -> None:
    given = PolynomialMap.from_expressions(["a"], {"x": a**2})
    for model in (as_model(given), FUNCTIONS):
        assert isinstance(model, Model)
        assert isinstance(differentiable(model), Chain)
        assert model.statements() == ()
        assert as_model(model) is model
        assert model.family == "map"
    assert as_model(given).to_json() == {
        "parameters": ["a"],
        "relations": [],
        "coordinates": {"x": "a**2"},
    }
    with pytest.raises(InvalidCaseError, match="must be a model"):
        as_model((2, 1))


def test_layers_that_do_not_fit() -> None:
    with pytest.raises(ConversionError, match="at least one layer"):
        Chain(())
    with pytest.raises(ConversionError, match="layer 2 has 1 input, but layer 1 has 2 outputs"):
        Chain((FIRST, Layer.from_expressions(["z"], ["c"], {"f": c * z})))
    with pytest.raises(ConversionError, match="'a' belongs to an earlier layer"):
        Chain((FIRST, Layer.from_expressions(["z", "w"], ["a"], {"f": a * z})))
    with pytest.raises(ConversionError, match="inputs followed by"):
        Layer(START.polynomial_map, ("b",))
    with pytest.raises(InvalidCaseError, match="no output 'h': use f, g"):
        FUNCTIONS.restricted_to(["h"])


def test_lists_of_layers_and_names_are_taken() -> None:
    layer = Layer(START.polynomial_map, list(START.inputs))  # type: ignore[arg-type]
    assert Chain([layer]) == Chain((START,))  # type: ignore[arg-type]
    assert Chain([layer]).polynomial_map == START.polynomial_map  # type: ignore[arg-type]


def test_a_coordinate_has_not_the_name_of_a_parameter() -> None:
    weight = symbols("f_1")
    with pytest.raises(ConversionError, match="'f_1' names a parameter and a coord"):
        Chain((Layer.from_expressions(["x"], ["f_1"], {"f": weight * x}),)).parametrization()


def test_what_is_too_large_is_refused_before_it_is_expanded() -> None:
    layers = [
        Layer.from_expressions(
            ["x", "y"], [f"a{i}"], {"u": (x + y + symbols(f"a{i}")) ** 9, "v": x}
        )
        for i in range(20)
    ]
    with pytest.raises(TooLargeError, match="the dimension needs no expansion"):
        Chain(tuple(layers)).parametrization()


TWO_LAYERS = """
[map]
title = "two layers"

[[layers]]
inputs = ["x", "y"]
parameters = ["a", "b"]
[layers.outputs]
z = "a*x^2 + b*x*y - 3"
w = "(a + 1/2)*y"

[[layers]]
parameters = ["c", "d"]
[layers.outputs]
f = "c*z^2*w + d*w"
g = "d*z - c"
"""


def test_a_file_with_layers() -> None:
    found = read_model(TWO_LAYERS, "two")
    assert isinstance(found, Chain)
    assert found.layers == FUNCTIONS.layers
    assert (found.title, found.key) == ("two layers", "two")
    renamed = TWO_LAYERS.replace('["c", "d"]', '["c", "d"]\ninputs = ["p", "q"]').replace(
        "c*z^2*w + d*w", "c*p^2*q + d*q"
    )
    renamed = renamed.replace("d*z - c", "d*p - c")
    assert read_model(renamed).parametrization() == FUNCTIONS.parametrization()
    assert found.to_json()["layers"][1] == {
        "inputs": ["z", "w"],
        "parameters": ["c", "d"],
        "outputs": {"f": "z**2*w*c + w*d", "g": "z*d - c"},
    }


def test_a_file_with_coordinates_is_a_map() -> None:
    found = read_model('[map]\nparameters = ["s"]\n[coordinates]\nx = "s^2"\n', "square")
    assert isinstance(found, MapModel)
    assert (found.key, found.title, found.polynomial_map.coordinates) == (
        "square",
        "polynomial map",
        ("x",),
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[map]", "[map", "not TOML"),
        ('title = "two layers"', "title = 3", r"\[map\] title"),
        ('title = "two layers"', 'titel = "x"', "unknown key 'titel'"),
        (
            'parameters = ["c", "d"]',
            'parameters = ["c", "a"]',
            "layer 2, outputs f: column 11: unknown name 'd'.*'Parameters as constants'",
        ),
        (
            'parameters = ["c", "d"]',
            'parameters = ["c", "d", "a"]',
            "layer 2: the parameter 'a' belongs",
        ),
        ('parameters = ["c", "d"]', 'parameters = ["c", "d", "z"]', "layer 2, .*'z' occurs twice"),
        ('parameters = ["c", "d"]', 'parameters = ["c", "d", "1"]', "layer 2, '1' is not a name"),
        ('parameters = ["c", "d"]', 'parameters = "cd"', "layer 2, parameters: must be a list"),
        ('parameters = ["c", "d"]', 'weights = ["c", "d"]', "layer 2: unknown key 'weights'"),
        (
            'parameters = ["c", "d"]',
            'inputs = ["z"]\nparameters = ["c", "d", "w"]',
            "layer 2 has 1 input,",
        ),
        ('w = "(a + 1/2)*y"', "w = 3", "layer 1, outputs w: must be a polynomial in quotes"),
        ('w = "(a + 1/2)*y"', 'w = "1e5*y"', "layer 1, outputs w: column 1"),
        ('w = "(a + 1/2)*y"', 'x = "y"', "layer 1, .*'x' names a parameter"),
    ],
)
def test_mistakes_in_a_file_are_named(old: str, new: str, said: str) -> None:
    assert old in TWO_LAYERS
    with pytest.raises(ConversionError, match=said):
        read_model(TWO_LAYERS.replace(old, new))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("layers = 3", "list of tables"),
        ("layers = [3]", "list of tables"),
        ("layers = []", "at least one layer"),
        ("layers = [{}]", "layer 1: 'outputs' is missing"),
        ("layers = [{outputs = {}}]", "at least one output"),
        ("map = 3\nlayers = [{outputs = {x = '1'}}]", "must be a table"),
        ("other = 3\nlayers = [{outputs = {x = '1'}}]", "unknown key 'other'"),
    ],
)
def test_files_that_are_no_composition(text: str, said: str) -> None:
    with pytest.raises(ConversionError, match=said):
        read_model(text)


def test_a_rank_above_a_bound_is_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_image_degrees", lambda monomials, degrees: (0, 0))
    with pytest.raises(ContradictionError):
        rank_result(FUNCTIONS)


# The protocol of models serves single-layer attention, with relations, orbits and a second
# parametrization.


@dataclass(frozen=True)
class Attention(Model):
    """Attention with A as parameters, whose (a + 1)-minors vanish; Q and K are free parameters."""

    shape: SingleLayerAttention
    family: ClassVar[str] = "attention"
    key: ClassVar[str] = "case"
    title: ClassVar[str] = "attention"

    def to_json(self) -> dict[str, Any]:
        return {"d": self.shape.d}

    def parametrization(self) -> PolynomialMap:
        return self.shape.parametrization()

    def free_parametrization(self) -> PolynomialMap:
        return self.shape.parametrization(weights="factored")

    def gauge_dimension(self) -> int:
        """A rescaling of A against V, and GL_a acting on Q and K."""
        shape = self.shape
        return 2 * shape.a * shape.d - shape.alpha * (2 * shape.d - shape.alpha) + 1

    def orbits(self) -> tuple[Orbit, ...]:
        return orbits(self.shape)

    def representative(self, orbit: Orbit) -> tuple[int, ...]:
        return flatten(*representative(orbit, self.shape))


@pytest.mark.parametrize("numbers", [(2, 1), (2, 2), (3, 1, 1), (3, 2, 2), (2, 1, 3), (2, 1, 1)])
def test_the_dimension_of_attention(numbers: tuple[int, ...]) -> None:
    shape = SingleLayerAttention(*numbers)
    model = as_model(Attention(shape))
    assert isinstance(differentiable(model), Chain)
    found = rank_result(model)
    assert (found.lower, found.status) == (dimension(shape).dimension, "proved")


def test_capabilities_are_told_apart() -> None:
    model = Attention(SingleLayerAttention(3, 1, 1))
    assert isinstance(model, Model)
    assert not isinstance(model, DifferentiableModel)
    assert model.free_parametrization() is not None
    assert model.upper_bounds(0) == ()
    for orbit in model.orbits():
        point = model.representative(orbit)
        assert any(model.parametrization().evaluate(point))


def test_without_its_free_parametrization_attention_of_low_rank_has_no_rank() -> None:
    with pytest.raises(MethodUnavailableError, match="use elimination"):
        rank_result(MapModel(SingleLayerAttention(3, 1, 1).parametrization()))


def test_asking_for_capabilities_computes_nothing() -> None:
    """Large cases are asked too, and nothing is expanded to answer."""

    class Untouchable(Attention):
        def parametrization(self) -> PolynomialMap:
            raise AssertionError("expanded")

        free_parametrization = parametrization

        def gauge_dimension(self) -> int:
            raise AssertionError("computed")

    model = Untouchable(SingleLayerAttention(3, 1, 1))
    assert isinstance(model, Model)
    assert not isinstance(model, DifferentiableModel)
