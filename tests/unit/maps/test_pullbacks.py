"""Arguments of public methods of models that have a wrong size, or are no numbers, are refused by
name.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy
import pytest
from sympy import symbols

from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.errors import InvalidCaseError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.convolutional_network.model import ConvolutionalNetwork
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.polynomial_network.activation import ActivatedNetwork
from m2bridge.families.polynomial_network.model import PolynomialNetwork
from m2bridge.maps.chain import Chain, Layer
from m2bridge.maps.model import DifferentiableModel

P = 101
x, p, q = symbols("x p q")
MODELS: list[DifferentiableModel] = [
    ConvolutionalNetwork([2, 2]),
    PolynomialNetwork([2, 2, 1]),
    ActivatedNetwork([2, 2, 1], "x^2+1"),
    DeepAttention([2, 1, 1], [1, 1]),
    Chain((Layer(PolynomialMap.from_expressions([x, p, q], {"f": p * x**2 + q}), ("x",)),)),
    Chain((Layer(PolynomialMap.from_expressions([p, q], {"f": p * q})),)),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__name__}-{model.key}")
def test_pullbacks_refuse_wrong_arguments(model: DifferentiableModel) -> None:
    n, inputs, outputs = model.parameter_count, model.input_count, model.output_count
    w, X, G = list(range(1, n + 1)), [[2] * inputs], [[3] * outputs]
    right = model.pullbacks(w, X, G, P)
    assert [len(row) for row in right] == [n]
    arrays = (numpy.array(w), [numpy.array(X[0], dtype=int)], [numpy.array(G[0])])
    assert model.pullbacks(*arrays, P) == right
    wrong: list[tuple[str, Any, Any, Any, Any]] = [
        ("parameters", [1] * (n - 1), X, G, P),
        ("parameters", [1] * (n + 1), X, G, P),
        ("parameters", [0.5] * n, X, G, P),
        ("parameters", [Fraction(1, 2)] * n, X, G, P),
        ("parameters", "a" * n, X, G, P),
        ("parameters", None, X, G, P),
        ("inputs", w, [[2] * (inputs + 1)], G, P),
        ("inputs", w, 5, G, P),
        ("covectors", w, X, [[3] * (outputs + 1)], P),
        ("covectors", w, X, [[]], P),
        ("covectors", w, X * 2, G, P),
        ("covectors", w, X, [3], P),
        ("prime", w, X, G, 0),  # FLINT would end the process
        ("prime", w, X, G, 4),
        ("prime", w, X, G, -7),
        ("prime", w, X, G, 7.0),
    ]
    if inputs:
        wrong.append(("inputs", w, [[2] * (inputs - 1)], G, P))
    for name, *arguments in wrong:
        with pytest.raises(InvalidCaseError, match=f"'{name}'"):
            model.pullbacks(*arguments)


def test_deep_attention_refuses_wrong_weights_and_tokens() -> None:
    model = DeepAttention([2, 1, 1], [1, 1])
    w = [1] * model.parameter_count
    assert model.evaluate(w, [[1, 0], [0, 1]])
    for name, parameters, X in [
        ("parameters", w[:-1], [[1, 0], [0, 1]]),
        ("parameters", None, [[1, 0], [0, 1]]),
        ("X", w, [[1, 0]]),
        ("X", w, [[1], [0]]),
        ("X", w, None),
        ("X", w, [[0.5, 1], [1, 1]]),
    ]:
        with pytest.raises(InvalidCaseError, match=f"'{name}'"):
            model.evaluate(parameters, X)
    for wrong in ([*w, 1], None, [0.5] * len(w)):
        with pytest.raises(InvalidCaseError, match="'parameters'"):
            model.virtual_weights(wrong)


def test_single_layers_refuse_wrong_numbers() -> None:
    model = SingleLayerAttention(2, 2, 1)
    for wrong in (0, -1, 1.5, "1", None):
        with pytest.raises(InvalidCaseError, match="'count'"):
            model.fewer_outputs(wrong)
    assert [model.predicted_hilbert_function(n) for n in (0, 1)] == [1, model.coordinate_count]
    for wrong in (-1, 1.5, "1", None):
        with pytest.raises(InvalidCaseError, match="'degree'"):
            model.predicted_hilbert_function(wrong)
    zero = dict.fromkeys(model.coordinate_names(), Fraction(0))
    assert model.has_real_weights(zero) is True
    for function in ({}, None, zero | {"c_1_1_1_1": "1"}):
        with pytest.raises(InvalidCaseError, match="'function'"):
            model.has_real_weights(function)
    with pytest.raises(InvalidCaseError, match="'t' must be at least 2"):
        SingleLayerAttention(2, 2, 1, 1).has_real_weights({})
