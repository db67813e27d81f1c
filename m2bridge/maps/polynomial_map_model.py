"""What public functions take as a case, as a model; and models in TOML files.

:func:`as_model` is the one place where a case is read: a model, a polynomial map, a mapping of
coordinates to expressions, or an ideal, whose variety is a model of which only the equations are
known. A file describes a map, or a composition with layers::

    [map]
    title = "a network with two layers"   # optional, and so is [map]

    [[layers]]
    inputs = ["x", "y"]                   # optional in the first layer: variables of the functions
    parameters = ["a", "b"]               # optional: none
    [layers.outputs]                      # in this order
    z = "(a*x + b*y)^2"

    [[layers]]
    inputs = ["z"]                        # optional: new names for the outputs before, in order
    parameters = ["c", "d"]
    [layers.outputs]
    f = "c*z + d*z^2"

Every layer has parameters of its own. With inputs in the first layer, the coordinates are the
coefficients of the last outputs as polynomials in these inputs; without them, the outputs
themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from sympy import Poly
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ, CoefficientField, check_is_field
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing, variable_name
from m2bridge.convert import MAX_MAP_PARAMETERS, toml_files
from m2bridge.convert.bounded_io import load, read_toml
from m2bridge.convert.parsing import occurring_names
from m2bridge.convert.polynomial_parser import names_in, read_rational_function
from m2bridge.convert.short_forms import (
    NAME_THE_VARIABLES,
    check_numbers_of_fields,
    check_short_forms,
)
from m2bridge.errors import (
    ConversionError,
    InvalidCaseError,
    MethodUnavailableError,
    class_with_article,
)
from m2bridge.ideals.construct import natural_key
from m2bridge.ideals.ideal import Ideal
from m2bridge.maps import chain
from m2bridge.maps.chain import Chain, Layer, rescaling_dimension, restrict_outputs
from m2bridge.maps.model import Model, PolarData
from m2bridge.results.sheet import in_brackets, plural

TITLE = "polynomial map"


@dataclass(frozen=True, slots=True)
class MapModel(Model):
    """A polynomial map of which nothing is known but its polynomials."""

    polynomial_map: PolynomialMap = field()  # in place of the property of the base class
    title: str = TITLE
    key: str = "map"
    family: ClassVar[str] = "map"

    def __repr__(self) -> str:
        return in_brackets(self, "title", "polynomial_map")

    def to_json(self) -> dict[str, Any]:
        """Return the map, with polynomials as text."""
        images = zip(self.polynomial_map.coordinates, self.polynomial_map.images, strict=True)
        return {
            "parameters": list(self.polynomial_map.source.variables),
            "relations": list(map(str, self.polynomial_map.relations)),
            "coordinates": {name: str(image) for name, image in images},
        }

    def restricted_to(self, outputs: Sequence[str]) -> MapModel:
        """Return the map followed by the projection to some of the coordinates."""
        return MapModel(restrict_outputs(self.polynomial_map, outputs), self.title, self.key)

    def parametrization(self) -> PolynomialMap:
        """Return the map."""
        return self.polynomial_map

    @property
    def case(self) -> None:
        """``None``: a map without a family is not a case that numbers define."""
        return

    def check_field(self, field: CoefficientField) -> None:
        """Raise InvalidCaseError if the map cannot be taken over this field."""
        check_is_field(field)
        self.polynomial_map.check_field(field)

    def gauge_dimension(self) -> int:
        """Return the dimension of the torus of rescalings of the parameters that keep all images;
        0, which claims nothing, where the parameters satisfy relations.
        """
        if self.polynomial_map.relations:
            # rescaling may not keep the relations
            return 0
        return rescaling_dimension((Layer(self.polynomial_map),))

    def polar_theorem(self) -> PolarData | None:
        """Return the polar degrees of the closure if it is a toric variety."""
        from m2bridge.maps.degrees.toric_degrees import toric_polar_data

        return toric_polar_data(self.polynomial_map)


@dataclass(frozen=True, slots=True, repr=False)
class IdealModel(Model):
    """The variety of an ideal, of which nothing is known but its equations."""

    ideal: Ideal
    title: str = "variety of an ideal"
    key: str = "ideal"
    family: ClassVar[str] = "ideal"

    def __repr__(self) -> str:
        return in_brackets(self, "title", "ideal")

    def to_json(self) -> dict[str, Any]:
        """Return the ideal, with polynomials as text."""
        return self.ideal.to_json()

    @property
    def case(self) -> None:
        """``None``: an ideal is not a case that numbers define."""
        return

    def coordinate_names(self) -> tuple[str, ...]:
        """Return the variables of the ring."""
        return self.ideal.ring.variables

    def parametrization(self) -> PolynomialMap:
        """Raise MethodUnavailableError: no parametrization of the variety is known."""
        raise MethodUnavailableError(f"no parametrization of the {self.title} is known")

    def check_field(self, field: CoefficientField) -> None:
        """Raise InvalidCaseError unless this is QQ, the default of functions, or the ideal's field;
        the field of an ideal is always the field of its ring.
        """
        check_is_field(field)
        own = self.ideal.ring.field
        if field not in (QQ, own):
            raise InvalidCaseError("field", f"does not apply to an ideal, whose ring is over {own}")

    def check_method(self, method: str, accepted: Sequence[str]) -> None:
        """Raise InvalidCaseError unless the method, which exists for maps, is for ideals too."""
        if method not in accepted:
            raise InvalidCaseError("method", f"'{method}' is not for ideals: use {accepted[-1]}")


Case = Model | PolynomialMap | Mapping[str, Any]
"""A model, or a map that becomes one, also as a mapping from coordinates to expressions."""


def as_model(
    case: Case | Ideal, coordinates: str | None = None, weights: str | None = None
) -> Model:
    """Return the model of a case, in the coordinates and parameters with these names; a map becomes
    a :class:`MapModel`, an ideal an :class:`IdealModel`. InvalidCaseError if it is not a case.
    """
    if isinstance(case, Mapping):
        case = map_of(case)
    if isinstance(case, PolynomialMap):
        case = MapModel(case, f"{TITLE} to {plural(len(case.coordinates), 'coordinate')}")
    if isinstance(case, Ideal):
        case = IdealModel(case)
    if not isinstance(case, Model):
        raise InvalidCaseError(
            "case",
            "must be a model, a PolynomialMap, a mapping such as {'x': t**2} or an Ideal, not"
            f" {class_with_article(type(case))}",
        )
    return case.in_coordinates(coordinates, weights)


NAME_THE_PARAMETERS = "name the parameters, as PolynomialMap.from_expressions and read_map do"
"""The advice where a name in the text of a coordinate has two readings."""


def map_of(images: Mapping[Any, Any]) -> PolynomialMap:
    """Return the map whose coordinates have these images, expressions of SymPy, exact numbers or
    texts. Its parameters are the names that occur in them, x_2 before x_10.
    """
    if not images:
        raise ConversionError("a map needs a coordinate, as {'x': t**2} has one")
    values = list(images.values())
    texts = [value for value in values if isinstance(value, str)]
    # no name in a text is declared, so one that has two readings is refused
    try:
        check_short_forms(texts)
    except ConversionError as reason:
        advice = str(reason).replace(NAME_THE_VARIABLES, NAME_THE_PARAMETERS)
        raise ConversionError(advice) from None
    try:
        check_numbers_of_fields({name for text in texts for name in names_in(text)})
    except ConversionError as reason:  # whose advice is a field of ideals; maps are over QQ
        ambiguity = str(reason).partition(":")[0]
        raise ConversionError(f"{ambiguity}: {NAME_THE_PARAMETERS}") from None
    expressions = {}
    for name, value in images.items():
        expressions[name] = value
        if isinstance(value, Poly | PolyElement):
            expressions[name] = value.as_expr()
        elif isinstance(value, str):
            ring = PolynomialRing(QQ, names_in(value))
            try:
                numerator, denominator = read_rational_function(value, ring)
            except ConversionError as reason:
                raise ConversionError(f"{name!s:.60}: {reason}") from None
            expressions[name] = numerator.as_expr() / denominator.as_expr()
    parameters = set[str]().union(*map(occurring_names, expressions.values()))
    return PolynomialMap.from_expressions(sorted(parameters, key=natural_key), expressions)


def read_model(text: str, key: str = "map") -> MapModel | Chain:
    """Return the model that a text in TOML describes: a polynomial map, or a composition with
    layers.

    ``parse_model`` is the same function; :func:`m2bridge.load_model` takes the path of a file.

    Parameters
    ----------
    text : str
        The content of the file.
    key : str
        The name of the case in files and tables, such as the name of the file without its
        ending.

    Raises
    ------
    ConversionError
        In one line, with the place, if the text is not TOML, or a part of it is missing, unknown or
        not a polynomial.

    Examples
    --------
    >>> model = read_model('''
    ... [[layers]]
    ... inputs = ["x"]
    ... parameters = ["a"]
    ... outputs = {y = "a*x^2"}
    ... [[layers]]
    ... parameters = ["b"]
    ... outputs = {z = "b*y^2"}
    ... ''')
    >>> dimension(model).dimension
    1
    """
    content = read_toml(text)
    if "layers" in content:
        return _read_chain(content, key)
    # a file without layers has to be a map: read_map raises an error that says what a map needs
    polynomial_map, title = toml_files.read_map(text)
    return MapModel(polynomial_map, title or TITLE, key)


parse_model = read_model


def load_model(path: str | PathLike[str]) -> MapModel | Chain:
    """Return the model that a TOML file describes: :func:`m2bridge.parse_model` of its text, with
    the name of the file without its ending as its key.

    Raises
    ------
    ConversionError
        If the file cannot be read, or describes no model; the message begins with the path.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "parabola.toml")
    ...     text = '[map]\\nparameters = ["t"]\\n[coordinates]\\nx = "t"\\ny = "t^2"'
    ...     _ = file.write_text(text)
    ...     dimension(load_model(file)).dimension
    1
    """
    return load(path, lambda text: read_model(text, Path(path).stem))


def _read_chain(content: dict[str, Any], key: str) -> Chain:
    """Return the composition that a parsed file with ``[[layers]]`` describes."""
    # at the top level layers are required, and [map] is allowed, which may have a title
    toml_files.check_keys(content, "", {"layers"}, {"map"})
    map_table = toml_files.table_of(content, "map", set(), {"title"})
    title = toml_files.line_of_text(map_table, "map", "title")  # empty without a title
    tables = content["layers"]
    # inputs of a layer that are not named have the names of the outputs of the layer before it
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConversionError("[[layers]] must be a list of tables")
    layers: list[Layer] = []
    previous_outputs: tuple[str, ...] = ()
    for number, table in enumerate(tables, 1):
        layer = _read_layer(table, f"layer {number}", previous_outputs)
        layers.append(layer)
        previous_outputs = layer.outputs
    return Chain(tuple(layers), title or chain.TITLE, key)


def _read_layer(table: dict[str, Any], where: str, previous_outputs: tuple[str, ...]) -> Layer:
    """Return the layer that one parsed table of ``[[layers]]`` describes; ``where``, such as
    ``layer 2``, is its place for messages.
    """
    # outputs are required, inputs and parameters allowed
    toml_files.check_keys(table, where, {"outputs"}, {"inputs", "parameters"})
    inputs = toml_files.strings(table.get("inputs", list(previous_outputs)), f"{where}, inputs")
    parameters = toml_files.strings(table.get("parameters", []), f"{where}, parameters")
    outputs = table["outputs"]
    if not isinstance(outputs, dict) or not outputs:
        raise ConversionError(f"{where}, outputs: must be a table with at least one output")
    count = len(inputs) + len(parameters)
    if count > MAX_MAP_PARAMETERS:
        # a monomial of SymPy has an exponent for every variable, which takes memory
        raise ConversionError(
            f"{where}: {count} inputs and parameters; at most {MAX_MAP_PARAMETERS}"
        )
    try:
        # an output has a name too, which is not a variable of the ring
        for name in (*inputs, *parameters, *outputs):
            variable_name(name)
        source = PolynomialRing(QQ, (*inputs, *parameters))
        images = []
        for name, value in outputs.items():
            # an error of a value with undeclared names says what to do about them
            with toml_files.advice_on_names(value, source):
                images.append(toml_files.polynomial(value, f"outputs {name}", source))
        return Layer(PolynomialMap(source, tuple(outputs), tuple(images)), tuple(inputs))
    except ConversionError as reason:
        raise ConversionError(f"{where}, {reason}") from None
