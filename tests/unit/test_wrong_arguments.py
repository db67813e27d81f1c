"""Every public function with arguments of wrong kinds: an error of m2bridge, and no other one.

A value may be right by chance, as 3 is for a number; then the call has to end as any other does.
Macaulay2 is not found here, so that nothing long is computed.
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import sympy

import m2bridge
from m2bridge import (
    QQ,
    ActivatedNetwork,
    Chain,
    CoefficientField,
    ConvolutionalNetwork,
    DeepAttention,
    Ideal,
    Layer,
    Limits,
    Macaulay2,
    Orbit,
    PolynomialMap,
    PolynomialNetwork,
    PolynomialRing,
    ProjectiveScheme,
    Script,
    SingleLayerAttention,
    Store,
    Task,
    ideal,
)
from m2bridge.engine.discovery import VARIABLE
from m2bridge.errors import InvalidCaseError, M2BridgeError
from m2bridge.limits import limited

X, Y = sympy.symbols("x y")
CUSP = ideal("x^2 - y^3")
RING = CUSP.ring
MODEL = SingleLayerAttention(1, 1)
TASK = Task(MODEL, ("3.3",))
CURVE = PolynomialMap.from_expressions([X], {"u": X**2, "v": X**3})
STORE = Store(Path("no-such-folder"))
M2 = Macaulay2()


def a_function(*arguments: object, **more: object) -> int:
    return 1


WRONG: dict[str, Any] = {
    "an integer": 3,
    "a negative integer": -1,
    "a huge integer": 10**400,
    "a float": 0.5,
    "not a number": float("nan"),
    "a complex number": 1j,
    "a text": "x",
    "another text": "]]",
    "no text": "",
    "bytes": b"x",
    "an array without axes": numpy.array(3),
    "an array": numpy.ones((2, 2)),
    "an array of objects": numpy.array([object()], dtype=object),
    "a set": {1},
    "a mapping": {"a": 1},
    "a list": [1],
    "a list of lists": [[1]],
    "an empty list": [],
    "a tuple": (None,),
    "a function": a_function,
    "an object": object(),
    "a class": Path,
    "a symbol": X,
    "a field": QQ,
    "an ideal": CUSP,
    "a model": MODEL,
}

RIGHT: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "ActivatedNetwork": (ActivatedNetwork, ((1, 1, 1), "x^2 + x")),
    "Chain": (Chain, ((Layer(CURVE),),)),
    "CoefficientField": (CoefficientField, (0,)),
    "ConvolutionalNetwork": (ConvolutionalNetwork, ((2, 2),)),
    "DeepAttention": (DeepAttention, ((1, 1), 1)),
    "Ideal.image": (CUSP.image, (CURVE,)),
    "Ideal.of": (Ideal.of, (CUSP,)),
    "Ideal.preimage": (CUSP.preimage, (CURVE,)),
    "Ideal.quotient": (CUSP.quotient, (CUSP,)),
    "Ideal.saturate": (CUSP.saturate, (CUSP,)),
    "Ideal.intersect": (CUSP.intersect, (CUSP,)),
    "Ideal.eliminate": (CUSP.eliminate, ("x",)),
    "Ideal.contains": (CUSP.contains, (CUSP,)),
    "Ideal.singular_locus": (CUSP.singular_locus, ()),
    "Ideal.to_mrdi": (CUSP.to_mrdi, ()),
    "Layer": (Layer, (CURVE,)),
    "Limits": (Limits, ()),
    "Macaulay2": (Macaulay2, ()),
    "Macaulay2.evaluate": (M2.evaluate, ("1",)),
    "Macaulay2.run": (M2.run, (Script("one", "1"),)),
    "Macaulay2.value": (M2.value, ("1",)),
    "Macaulay2.workspace": (M2.workspace, ()),
    "PolynomialMap": (PolynomialMap, (RING, ("u",), (RING.sympy_ring.one,))),
    "PolynomialMap.from_expressions": (PolynomialMap.from_expressions, ([X], {"u": X})),
    "PolynomialMap.evaluate": (CURVE.evaluate, ((1,),)),
    "PolynomialNetwork": (PolynomialNetwork, ((1, 1, 1),)),
    "PolynomialRing": (PolynomialRing, (QQ, ("x", "y"))),
    "PolynomialRing.number": (RING.number, (1,)),
    "PolynomialRing.polynomial": (RING.polynomial, (X,)),
    "ProjectiveScheme": (ProjectiveScheme, (ideal("x*y"),)),
    "SingleLayerAttention": (SingleLayerAttention, (1, 1)),
    "SingleLayerAttention.in_coordinates": (MODEL.in_coordinates, ()),
    "SingleLayerAttention.parametrization": (MODEL.parametrization, ()),
    "SingleLayerAttention.orbit_closure": (MODEL.orbit_closure, (Orbit(1, 1, 1),)),
    "SingleLayerAttention.predicted_hilbert_function": (MODEL.predicted_hilbert_function, (1,)),
    "DeepAttention.evaluate": (DeepAttention((1, 1), 1, 1).evaluate, ([1, 1], [[1]])),
    "DeepAttention.virtual_weights": (DeepAttention((1, 1), 1, 1).virtual_weights, ([1, 1, 1],)),
    "PolynomialMap.check_field": (CURVE.check_field, (QQ,)),
    "Store": (Store, ("no-such-folder",)),
    "Store.answers": (STORE.answers, (TASK,)),
    "Store.check": (STORE.check, ([],)),
    "Store.left": (STORE.left, (TASK,)),
    "CoefficientField.parse": (CoefficientField.parse, ("QQ",)),
    "certify": (m2bridge.certify, (MODEL, "3.3")),
    "closure": (m2bridge.closure, (MODEL,)),
    "closures_of_all_sizes": (m2bridge.closures_of_all_sizes, ()),
    "critical_points": (m2bridge.critical_points, (MODEL,)),
    "cross_check": (m2bridge.cross_check, (MODEL,)),
    "cross_check_all_sizes": (m2bridge.cross_check_all_sizes, ()),
    "cross_check_deep_attention": (m2bridge.cross_check_deep_attention, ()),
    "dimension": (m2bridge.dimension, (MODEL,)),
    "ed_degree": (m2bridge.ed_degree, (CUSP,)),
    "fibres": (m2bridge.fibres, (MODEL,)),
    "from_sage": (m2bridge.from_sage, (CUSP,)),
    "hilbert_function": (m2bridge.hilbert_function, (MODEL,)),
    "ideal": (ideal, ()),
    "image": (m2bridge.image, (CURVE,)),
    "implicitize": (m2bridge.implicitize, (CURVE,)),
    "load_ideal": (m2bridge.load_ideal, ("no-such-file",)),
    "load_map": (m2bridge.load_map, ("no-such-file",)),
    "load_model": (m2bridge.load_model, ("no-such-file",)),
    "membership": (m2bridge.membership, (MODEL,)),
    "observe": (m2bridge.observe, (MODEL,)),
    "orbit_diagram": (m2bridge.orbit_diagram, (MODEL,)),
    "parse_ideal": (m2bridge.parse_ideal, ("x",)),
    "parse_map": (m2bridge.parse_map, ("",)),
    "parse_model": (m2bridge.parse_model, ("",)),
    "plan": (m2bridge.plan, ((TASK,), STORE)),
    "polar_degrees": (m2bridge.polar_degrees, (MODEL,)),
    "read_ideal": (m2bridge.read_ideal, ({},)),
    "read_ideal_file": (m2bridge.read_ideal_file, ("x",)),
    "read_map": (m2bridge.read_map, ("",)),
    "read_model": (m2bridge.read_model, ("",)),
    "read_mrdi": (m2bridge.read_mrdi, ("no-such-file",)),
    "robustness": (m2bridge.robustness, ("no-such-file",)),
    "robustness_count": (m2bridge.robustness_count, (MODEL,)),
    "read_sage_text": (m2bridge.read_sage_text, ("",)),
    "singular_locus": (m2bridge.singular_locus, (MODEL,)),
    "slice_surface": (m2bridge.slice_surface, (MODEL,)),
    "tasks": (m2bridge.tasks, ([MODEL],)),
    "verify": (m2bridge.verify, ({},)),
    "weights": (m2bridge.weights, ()),
}
"""Public functions, methods and classes, with right values of their required arguments."""

ELSEWHERE = {
    "Engine",  # a protocol
    "ExtensionField",  # made by reading a field, as of ideal(field=...)
    "Orbit",
    "Plan",
    "Script",
    "Task",
    "Workspace",  # made by Macaulay2.workspace
    "run_many",  # starts processes: tests/unit/batch/test_run_many_arguments.py
}
"""Public names of records that are not checked, and what is tested in other places."""


def test_every_public_function_is_listed() -> None:
    callables = set()
    for name in m2bridge.__all__:
        value = getattr(m2bridge, name)
        is_result = inspect.isclass(value) and name not in RIGHT
        if callable(value) and not is_result:
            callables.add(name)
    assert callables - ELSEWHERE <= set(RIGHT)


@pytest.mark.parametrize("name", RIGHT)
def test_arguments_of_wrong_kinds_end_in_an_error_of_m2bridge(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, "/no/such/M2")
    monkeypatch.chdir(tmp_path)
    function, right = RIGHT[name]
    other_errors = []
    for kind, value in WRONG.items():
        for place, arguments, keywords in _calls(function, right, value):
            try:
                with limited(0.05):
                    function(*arguments, **keywords)
            except M2BridgeError:
                continue
            except Exception as error:
                other_errors.append(f"{place} is {kind}: {type(error).__name__}: {error!s:.80}")
    assert other_errors == []


def _calls(
    function: Callable[..., Any], right: tuple[Any, ...], value: Any
) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """The name of each argument, with a call in which it has this value, and others are right."""
    calls = list[tuple[str, tuple[Any, ...], dict[str, Any]]]()
    for number, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.name in ("engine", "timeout"):
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            if parameter.kind == parameter.VAR_POSITIONAL:
                calls.append((parameter.name, (*right, value), {}))
        elif number < len(right):
            calls.append((parameter.name, (*right[:number], value, *right[number + 1 :]), {}))
        else:
            calls.append((parameter.name, right, {parameter.name: value}))
    return calls


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: ideal("x", variables=QQ), "variables"),
        (lambda: CUSP.preimage({1}), "polynomial_map"),  # type: ignore[arg-type]
        (lambda: m2bridge.tasks([1]), "cases"),  # type: ignore[list-item]
        (lambda: m2bridge.certify(MODEL, [[1]]), "check"),  # type: ignore[arg-type]
        (lambda: ActivatedNetwork("x", "x^2 + x"), "widths"),  # type: ignore[arg-type]
        (lambda: ActivatedNetwork((1, 1, 1), numpy.array(3)), "activation"),
        (lambda: m2bridge.dimension(MODEL, method=numpy.ones(2)), "method"),  # type: ignore[arg-type]
        (lambda: m2bridge.observe(MODEL, polar="no"), "polar"),  # type: ignore[arg-type]
        (lambda: Macaulay2(limits=3), "limits"),  # type: ignore[arg-type]
    ],
)
def test_the_error_names_the_argument(call: Callable[[], Any], argument: str) -> None:
    with pytest.raises(InvalidCaseError) as refused:
        call()
    assert refused.value.option == argument
