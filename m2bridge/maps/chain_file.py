"""Compositions of polynomial maps in TOML files.

::

    [map]
    title = "a network with two layers"   # optional, and so is [map]

    [[layers]]
    inputs = ["x", "y"]                   # optional in the first layer: the variables of the functions
    parameters = ["a", "b"]               # optional: none
    [layers.outputs]                      # in this order
    z = "(a*x + b*y)^2"

    [[layers]]
    inputs = ["z"]                        # new names for the outputs before, in this order; optional: the same names
    parameters = ["c", "d"]
    [layers.outputs]
    f = "c*z + d*z^2"

Every layer has parameters of its own. With inputs in the first layer, the coordinates are the coefficients of the last
outputs as polynomials in these inputs; without them, the outputs themselves.
"""

from typing import Any

from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing, is_name, not_a_name
from m2bridge.convert.documents import read_toml
from m2bridge.convert.files import MOST_PARAMETERS, check_headings, check_keys, polynomial, read_map, strings
from m2bridge.errors import ConversionError
from m2bridge.maps import chain, map_model
from m2bridge.maps.chain import Chain, Layer
from m2bridge.maps.map_model import MapModel


def read_model(text: str, key: str = "map") -> MapModel | Chain:
    """The model that a TOML file describes: a polynomial map with coordinates, or a composition with layers.

    Parameters
    ----------
    text : str
    key : str
        What the case is called in files and tables, such as the name of the file without its ending.

    Raises
    ------
    ConversionError
        In one line, with the place, if it is not TOML, or a part is missing, unknown or not a polynomial.

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
    polynomial_map, title = read_map(text)
    return MapModel(polynomial_map, title or map_model.TITLE, key)


def read_chain(text: str, key: str = "map") -> Chain:
    """The composition that a TOML file describes; errors as in :func:`read_model`."""
    found = read_model(text, key)
    if not isinstance(found, Chain):
        raise ConversionError("the file: 'layers' is missing")
    return found


def _read_chain(content: dict[str, Any], key: str) -> Chain:
    check_headings(content, {"layers"}, {"map"})
    table = content.get("map", {})
    if not isinstance(table, dict):
        raise ConversionError("[map] must be a table")
    check_keys(table, "[map]", set(), {"title"})
    title = table.get("title", "")
    if not isinstance(title, str) or not title.isprintable():
        raise ConversionError("[map] title: must be one line of text without control characters")
    listed = content["layers"]
    if not isinstance(listed, list) or not all(isinstance(layer, dict) for layer in listed):
        raise ConversionError("[[layers]] must be a list of tables")
    layers: list[Layer] = []
    for number, layer in enumerate(listed, 1):
        layers.append(_read_layer(layer, f"layer {number}", layers[-1].outputs if layers else ()))
    return Chain(tuple(layers), title or chain.TITLE, key)


def _read_layer(table: dict[str, Any], where: str, before: tuple[str, ...]) -> Layer:
    check_keys(table, where, {"outputs"}, {"inputs", "parameters"})
    inputs = strings(table.get("inputs", list(before)), f"{where}, inputs")
    parameters = strings(table.get("parameters", []), f"{where}, parameters")
    outputs = table["outputs"]
    if not isinstance(outputs, dict) or not outputs:
        raise ConversionError(f"{where}, outputs: must be a table with at least one output")
    for name in (*inputs, *parameters, *outputs):
        if not is_name(name):
            raise ConversionError(f"{where}: {not_a_name(name)}")
    if (count := len(inputs) + len(parameters)) > MOST_PARAMETERS:
        raise ConversionError(f"{where}: {count} inputs and parameters; at most {MOST_PARAMETERS}")
    try:
        source = PolynomialRing(QQ, (*inputs, *parameters))
        images = tuple(polynomial(value, f"outputs {name}", source) for name, value in outputs.items())
        return Layer(PolynomialMap(source, tuple(outputs), images), tuple(inputs))
    except ConversionError as reason:
        raise ConversionError(f"{where}, {reason}") from None
