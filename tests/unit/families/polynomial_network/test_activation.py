"""Activation polynomials against the definition in SymPy, and bounds against ranks."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import pytest
from sympy import QQ, Matrix, Poly, symbols
from sympy.polys.rings import ring

from m2bridge import ActivatedNetwork, cross_check
from m2bridge.errors import InvalidCaseError, MethodUnavailableError, TimeLimitError
from m2bridge.families.polynomial_network.activation import (
    activation_bound,
    possible_degrees,
    read_activation,
)
from m2bridge.families.polynomial_network.family import FAMILY
from m2bridge.families.polynomial_network.model import PolynomialNetwork
from m2bridge.limits import limited
from m2bridge.maps.jacobian_rank import rank_result
from m2bridge.results.base import Decision
from tests.limits import Looks

Widths = tuple[int, ...]
POLYNOMIALS = ("x^2+x", "x^2+1", "x^3+x", "x^3 - 2*x^2 + 1", "2x**3+x^2")


@pytest.mark.parametrize(
    ("text", "coefficients"),
    [
        ("x^2+x", (0, 1, 1)),
        ("-x**3 + 2*x^2 - 7", (-7, 0, 2, -1)),
        ("3x^2+x+x", (0, 2, 3)),
        ("1 + x^2", (1, 0, 1)),
    ],
)
def test_activations_are_read(text: str, coefficients: Widths) -> None:
    assert read_activation(text) == coefficients
    network = ActivatedNetwork((2, 2, 1), text)
    assert network == ActivatedNetwork((2, 2, 1), coefficients)
    assert read_activation(network.title.partition("activation ")[2]) == coefficients
    assert FAMILY.from_key(network.key) == network
    assert FAMILY.from_json(network.to_json()) == network


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("x^2+y", "not a polynomial"),
        ("x^^2", "not a polynomial"),
        ("", "not a polynomial"),
        ("x^12345", "not a polynomial"),
        # without the space this would be x^2 + 10x
        ("x^2 + 1 0x", "not a polynomial"),
        ("x* *2 + x", "not a polynomial"),
        ("x+1", "degree from 2"),
        ("x^2-x^2", "degree from 2"),
        ("3*x^4", "take degree 4"),
        ((0, 0.5, 1), "use integers"),
        ((0, 10**10, 1), "coefficient above"),
        (7, "polynomial in x"),
        # the keys of a mapping and the elements of a set are no coefficients
        ({0: 5, 1: 1, 2: 1}, "list of its coefficients"),
        ({1, 2, 3}, "list of its coefficients"),
        (b"123", "list of its coefficients"),
    ],
)
def test_what_is_no_activation_is_refused(wrong: Any, said: str) -> None:
    with pytest.raises(InvalidCaseError, match="activation") as refused:
        ActivatedNetwork((2, 2), wrong)
    assert said in str(refused.value)


@pytest.mark.parametrize("key", ["2-2-p0_01_1", "2-2-pm0_1_1", "2-2-p0_1_1_0", "02-2-p0_1_1"])
def test_a_network_has_one_key(key: str) -> None:
    with pytest.raises(InvalidCaseError, match="does not name a polynomial network"):
        FAMILY.from_key(key)


def test_the_degree_of_the_activation_is_named() -> None:
    with pytest.raises(InvalidCaseError, match="add --degree 3"):
        FAMILY.from_options({"widths": "2,2", "activation": "x^3+x"})
    network = FAMILY.from_options({"widths": "2,2", "activation": "x^3+x", "degree": "3"})
    assert isinstance(network, ActivatedNetwork)
    assert FAMILY.from_options({"widths": "2,2"}) == PolynomialNetwork((2, 2))


def written_out(widths: Widths, activation: str) -> tuple[list[Any], dict[str, Any]]:
    """The weights and the coefficients of the outputs by their names, by SymPy alone."""
    x = symbols("x")
    sigma = Poly(activation.replace("2x", "2*x").replace("^", "**"), x)
    inputs = symbols(f"x1:{widths[0] + 1}")
    y, weights = Matrix(inputs), []
    for k, (before, after) in enumerate(pairwise(widths), 1):
        W = Matrix(after, before, lambda i, j, k=k: symbols(f"W_{k}_{i + 1}_{j + 1}"))
        weights += list(W)
        y = W * (y if k == 1 else y.applyfunc(lambda z: sigma.eval(z)))
    found = {}
    for number, output in enumerate(y, 1):
        for monomial, coefficient in Poly(output.expand(), *inputs).terms():
            found["_".join(["f", str(number), *map(str, monomial)])] = coefficient
    return weights, found


@pytest.mark.parametrize("activation", POLYNOMIALS)
@pytest.mark.parametrize("widths", [(2, 2, 1), (1, 2, 2), (1, 1, 1, 1)])
def test_coordinates_are_the_coefficients(widths: Widths, activation: str) -> None:
    weights, coefficients = written_out(widths, activation)
    network = ActivatedNetwork(widths, activation)
    assert set(network.coordinate_names()) == set(coefficients)
    assert network.coordinate_count == len(coefficients)
    images = network.parametrization().images
    for name, image in zip(network.coordinate_names(), images, strict=True):
        assert (image.as_expr() - coefficients[name]).expand() == 0
    # the rank over QQ at one point is at most the dimension; here it is the dimension
    jacobian = Matrix(list(coefficients.values())).jacobian(weights)
    point = {weight: 2 + 3 * n**2 for n, weight in enumerate(weights)}
    assert jacobian.subs(point).rank() == rank_result(network).exact


def test_bounds_meet_ranks() -> None:
    """All networks that are named on the page are decided."""
    undecided = []
    cases = [*product((1, 2, 3), repeat=3), *product((1, 2), repeat=4)]
    for widths, activation in product(cases, POLYNOMIALS):
        if rank_result(ActivatedNetwork(widths, activation)).exact is None:
            undecided.append((widths, activation))
    assert undecided == []


@pytest.mark.parametrize(
    ("widths", "activation", "dimension"),
    [
        ((3, 3, 1), "x^3+1", 10),  # 9 for the cubes
        ((3, 4, 2), "x^3+1", 18),  # 16 for the cubes
        ((4, 4, 3), "x^2+1", 27),  # 24 for the squares
        ((3, 3, 1, 1), "x^3+1", 11),  # the first of these is a part
    ],
)
def test_terms_of_one_degree(widths: Widths, activation: str, dimension: int) -> None:
    """A rank meets the bound by the terms of one degree and the number of the others."""
    assert rank_result(ActivatedNetwork(widths, activation)).exact == dimension


def test_three_neurons_with_an_odd_cubic() -> None:
    """The equation of lemma-odd-cubic, expanded by SymPy, and that it is not zero."""
    algebra, x, y, *weights = ring("x, y, a1:7, c1:7", QQ)
    forms = [weights[j] * x + weights[3 + j] * y for j in range(3)]
    columns = (weights[6:9], weights[9:12])

    def outputs(power: int) -> list[Any]:
        return [sum(c * form**power for c, form in zip(row, forms, strict=True)) for row in columns]

    def contracted(cubic: Any, form: Any) -> Any:
        """The cubic as an operator, with ∂_y and −∂_x for x and y."""
        result = algebra.zero
        for (i, j, *others), coefficient in cubic.terms():
            value = form
            for variable in [y] * i + [x] * j:
                value = value.diff(variable)
            rest = algebra.term_new((0, 0, *others), coefficient)
            result += (-1) ** j * rest * value
        return result

    def determinant(f: Any, g: Any) -> Any:
        return f.diff(x) * g.diff(y) - f.diff(y) * g.diff(x)

    cubics, linear = outputs(3), outputs(1)
    jacobian = determinant(*cubics)
    first, second = (contracted(cubic, jacobian) for cubic in cubics)
    assert first
    assert second
    assert determinant(first, linear[1]) == determinant(second, linear[0])
    # with a square the lemma does not say anything
    assert activation_bound((2, 3, 2), (0, 1, 0, 1)).upper == 11
    assert activation_bound((2, 3, 2), (0, 1, 1, 1)).upper == 12


def test_degrees_that_occur() -> None:
    assert possible_degrees(1, (0, 1, 1)) == {1}
    assert possible_degrees(2, (1, 0, 1)) == {0, 2}
    assert possible_degrees(3, (0, 1, 0, 1)) == {1, 3, 5, 7, 9}
    assert possible_degrees(9, (0, 1, 0, 0, 1)) is None
    # Coefficients are positive, so that nothing cancels in the function of a network of widths one.
    x = symbols("x")
    for coefficients in [(1, 0, 3), (0, 2, 0, 5), (0, 0, 1, 1), (4, 0, 0, 1)]:
        activation = Poly(coefficients[::-1], x)
        function = activation
        for layers in (2, 3):
            degrees = {degree for (degree,) in function.monoms()}
            assert possible_degrees(layers, coefficients) == degrees
            function = activation.compose(function)


def test_ten_thousand_degrees_are_found_within_a_limit() -> None:
    assert possible_degrees(3, (1,) * 101) == set(range(10_001))
    # a limit that is over is noticed
    with pytest.raises(TimeLimitError), limited(1, Looks()):
        possible_degrees(3, (1,) * 97)


def test_statements_on_powers_do_not_apply() -> None:
    network = ActivatedNetwork((2, 2, 2), "x^2+x")
    verdicts = cross_check(network).verdicts
    assert {verdict.decision for verdict in verdicts} == {Decision.NOT_APPLICABLE}
    with pytest.raises(MethodUnavailableError, match="'dimension' computes"):
        network.observe(("dimension",), certified=True)


def test_a_key_with_a_coefficient_of_thousands_of_digits_is_refused() -> None:
    """Python itself refuses to read such a number, by another error."""
    with pytest.raises(InvalidCaseError, match=r"^Argument 'key': "):
        ActivatedNetwork.from_key(f"2-2-1-p0_{'1' * 5000}")


@pytest.mark.parametrize("widths", [(1, 2, 1), (2, 1, 1), (2, 3, 2), (1, 3, 3, 1), (3, 1, 1, 2)])
def test_the_expected_dimension_is_the_lesser_number(widths: Widths) -> None:
    network = ActivatedNetwork(widths, "x^3+x")
    (expectation,) = network.expectations()
    assert expectation.value == min(network.parameter_count, network.coordinate_count)


def test_more_coefficients_than_weights_are_not_counted_to_the_end() -> None:
    """These numbers have some hundred thousand digits, and more for the power."""
    (expectation,) = ActivatedNetwork([20_000, 1, 1], [1] * 301).expectations()
    assert expectation.value == 20_001
    (expectation,) = PolynomialNetwork([30_000] + [1] * 50, 10**6).expectations()
    assert expectation.value == 30_000  # multiples of a power of a linear form
