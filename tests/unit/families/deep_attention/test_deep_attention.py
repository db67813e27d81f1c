"""Deep attention: values, coordinates and dimensions against the definition, exact ranks over QQ,
and known values.
"""

from __future__ import annotations

import doctest
import json
from collections.abc import Iterator
from functools import partial
from itertools import chain, pairwise, product
from math import factorial
from operator import mul
from random import Random

import flint
import numpy
import pytest
from click.testing import CliRunner

from m2bridge import SingleLayerAttention, dimension
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.cli import commands
from m2bridge.errors import ContradictionError, InvalidCaseError, TooLargeError
from m2bridge.families.deep_attention import bounds, model, shape, upper_bounds
from m2bridge.families.deep_attention.figure import figure_3
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.network import (
    Balls,
    HeadMatrices,
    PowerSeries,
    Residues,
    SeriesMatrix,
    gradient,
    output,
)
from m2bridge.families.deep_attention.shape import MAX_NETWORK_LAYERS, virtual_dimension
from m2bridge.families.registry import family
from m2bridge.implicitization.implicitize import implicitize
from m2bridge.implicitization.multigraded_map import multigraded
from m2bridge.maps.jacobian_rank import rank_result
from m2bridge.maps.model import DifferentiableModel, Model
from m2bridge.results.known import Bounds
from tests import deep
from tests.tiers import slow

TABLE = [  # widths, ranks, t, dimension
    ((3, 3, 3), (2, 2), 2, 23),
    ((3, 3, 3), (2, 1), 2, 20),
    ((3, 3, 3), (1, 2), 2, 18),
    ((3, 3, 3), (1, 3), 3, 18),
    ((2, 2, 2), (1, 2), 2, 8),
    ((2, 2, 2), (2, 2), 2, 10),
    ((4, 4, 4), (1, 2), 2, 31),
    ((4, 4, 4), (1, 4), 2, 31),
    ((3, 3, 3, 3), (2, 2, 2), 2, 30),
    ((3, 3, 3, 3), (2, 1, 2), 2, 25),
    ((3, 3, 3, 3), (1, 2, 3), 2, 23),
    ((2, 3, 2), (2, 2), 2, 10),
    ((3, 2, 3), (2, 2), 2, 18),
    ((2, 2, 2), (2, 2), 1, 8),
]
SOME = [  # widths, ranks, t, heads, skip
    ((3, 2), (2,), 2, 1, False),
    ((2, 3, 2), (1, 2), 2, 1, False),
    ((2, 1, 2), (2, 1), 3, 2, False),
    ((2, 2, 2), (2, 1), 2, 1, True),
    ((3, 1, 2), (2, 1), 1, 2, False),
    ((2, 2), (3,), 1, 3, True),
]


@pytest.mark.parametrize(("widths", "a", "t", "heads", "skip"), SOME)
def test_values_are_those_of_the_definition(
    widths: tuple[int, ...], a: tuple[int, ...], t: int, heads: int, skip: bool
) -> None:
    network = DeepAttention(widths, a, t, heads, skip)
    random = Random(3)
    weights = deep.random_weights(widths, a, heads, random)
    X = [[random.randrange(-4, 5) for _ in range(t)] for _ in range(widths[0])]
    parameters = deep.flattened(weights, widths)
    assert network.evaluate(parameters, X) == deep.value(weights, X, skip)


@pytest.mark.parametrize(("widths", "a", "t", "heads", "skip"), SOME)
def test_gradients_are_those_of_the_product_rule(
    widths: tuple[int, ...], a: tuple[int, ...], t: int, heads: int, skip: bool
) -> None:
    """The derivative along any direction, from the function as a polynomial on a line of
    weights.
    """
    network = DeepAttention(widths, a, t, heads, skip)
    random = Random(4)
    w, direction = (
        [random.randrange(LARGE_PRIME) for _ in range(network.parameter_count)] for _ in range(2)
    )
    x = [random.randrange(LARGE_PRIME) for _ in range(network.input_count)]
    g = [random.randrange(LARGE_PRIME) for _ in range(network.output_count)]
    degree = 3 ** (len(a) + 1)
    points = [
        [(u + s * v) % LARGE_PRIME for u, v in zip(w, direction, strict=True)]
        for s in range(degree + 1)
    ]
    X = [x[i : i + t] for i in range(0, len(x), t)]
    values = [
        sum(map(int.__mul__, g, chain.from_iterable(network.evaluate(point, X))))
        for point in points
    ]
    polynomial = _interpolated(values)
    (found,) = network.pullbacks(w, [x], [g], LARGE_PRIME)
    assert sum(map(int.__mul__, found, direction)) % LARGE_PRIME == int(polynomial[1])


@pytest.mark.parametrize("widths", [(2, 1, 1), (3, 3, 2), (1, 2, 1)])
def test_gradients_of_blocks(widths: tuple[int, ...]) -> None:
    """Along any direction in C_k, c_k and m, from the output as a polynomial on a line."""
    numbers, random = Residues(LARGE_PRIME), Random(5)
    draw = partial(random.randrange, 1, 1000)
    start, direction = (
        bounds.random_block(DeepAttention(widths, widths[:-1]), draw) for _ in range(2)
    )
    X, G = (
        numbers.matrix([[random.randrange(LARGE_PRIME) for _ in range(2)] for _ in range(rows)])
        for rows in (start.size, 1)
    )

    def moved(s: int) -> bounds.TwoInputNetwork:
        attention = tuple(
            tuple(
                tuple(x + s * y for x, y in zip(row, other, strict=True))
                for row, other in zip(A, B, strict=True)
            )
            for A, B in zip(start.attention, direction.attention, strict=True)
        )
        return bounds.TwoInputNetwork(
            attention, tuple(x + s * y for x, y in zip(start.row, direction.row, strict=True))
        )

    values = []
    for s in range(15):
        found = output(moved(s).network(numbers), X, numbers)
        values.append(sum(int(g * y) for g, y in zip(G.entries(), found.entries(), strict=True)))
    entries = start.flattened(gradient(start.network(numbers), X, G, numbers))
    along = [x for A in direction.attention for row in A for x in row] + [*direction.row]
    slope = sum(int(entry) * x for entry, x in zip(entries, along, strict=True))
    assert slope % LARGE_PRIME == int(_interpolated(values)[1])


def _interpolated(values: list[int]) -> flint.nmod_poly:
    """The polynomial with these values at 0, 1, 2, …, by Lagrange's formula."""
    total, n = flint.nmod_poly([0], LARGE_PRIME), len(values)
    for i, y in enumerate(values):
        basis = flint.nmod_poly([y % LARGE_PRIME], LARGE_PRIME)
        for j in range(n):
            if j != i:
                basis *= flint.nmod_poly([-j % LARGE_PRIME, 1], LARGE_PRIME) * pow(
                    i - j, -1, LARGE_PRIME
                )
        total += basis
    return total


@pytest.mark.parametrize(
    ("widths", "a", "t", "heads", "skip"), [case for case in SOME if case[2] > 1]
)
def test_the_coordinates_give_the_function(
    widths: tuple[int, ...], a: tuple[int, ...], t: int, heads: int, skip: bool
) -> None:
    """Σ c_k_i_e S^e X with S = XXᵀ (plus X with skip connections) is the function."""
    network = DeepAttention(widths, a, t, heads, skip)
    random = Random(6)
    weights = deep.random_weights(widths, a, heads, random)
    X = [[random.randrange(-4, 5) for _ in range(t)] for _ in range(widths[0])]
    n = widths[0]
    S = [sum(map(int.__mul__, X[p], X[q])) for p in range(n) for q in range(p, n)]
    expanded = network.parametrization()
    assert expanded.source.variables == network.parameter_names()
    found = [list(row) for row in X] if skip else [[0] * t for _ in range(widths[-1])]
    for name, coefficient in zip(
        expanded.coordinates, expanded.evaluate(deep.flattened(weights, widths)), strict=True
    ):
        k, i, *exponents = map(int, name.split("_")[1:])
        for s, e in zip(S, exponents, strict=True):
            coefficient *= s**e
        for j in range(t):
            found[k - 1][j] += coefficient * X[i - 1][j]
    assert found == deep.value(weights, X, skip)


def test_the_coordinates_of_few_tokens_are_coefficients() -> None:
    """t < d_0: the first token as a polynomial in X, for integer weights; all coefficients are
    combinations of them.
    """
    from sympy import Matrix, Poly, symbols

    network = DeepAttention((2, 2, 1), (1, 2), 1)
    weights = deep.random_weights(network.widths, network.a, 1, Random(8))
    X = Matrix(2, 1, symbols("x1:3"))
    Y = X
    for (head,) in weights:
        K, Q, V = (deep.as_sympy(head[name]) for name in "KQV")
        Y = V * Y * Y.T * K.T * Q * Y
    coefficients = dict(Poly(Y[0, 0].expand(), *X).terms())
    expanded = network.parametrization()
    values = expanded.evaluate(deep.flattened(weights, network.widths))
    for name, found in zip(expanded.coordinates, values, strict=True):
        assert found == coefficients.get(tuple(map(int, name.split("_")[2:])), 0)
    assert any(values)


@pytest.mark.parametrize(
    ("key", "count"),
    [
        *(
            ("2-2-1-a2-t2", 30),
            ("2-2-2-a2-t2", 60),
            ("2-2-1-a2-t1", 10),
            ("1-1-1-a1-t2", 1),
            ("2-1-1-a2-t2", 30),
        ),
        *(("3-2-a2-t2", 36), ("3-1-1-a1-t1", 55), slow("3-1-1-a1-t2", 315), ("3-1-1-a1-t3", 378)),
    ],
)
def test_how_many_coordinates_there_are(key: str, count: int) -> None:
    assert len(DeepAttention.from_key(key).parametrization().coordinates) == count


def test_two_layers_of_width_two_are_expanded_soon() -> None:
    """3 744 terms; the expansion of a larger network is refused with what to do instead."""
    assert sum(map(len, DeepAttention((2, 2, 2), 2).parametrization().images)) == 3744
    with pytest.raises(TooLargeError, match="needs no expansion"):
        DeepAttention((2, 2, 2, 2), 2).parametrization()
    with pytest.raises(TooLargeError, match="coordinates to write down"):
        DeepAttention((64, 64), 2).parametrization()
    with pytest.raises(InvalidCaseError, match="softmax functions are not polynomial"):
        DeepAttention((2, 2), 2, normalization="softmax").parametrization()


@pytest.mark.parametrize("widths", [(3, 2, 3), (2, 3, 1), (1, 2), (2, 2, 2, 2)])
def test_the_function_depends_on_the_virtual_weights(widths: tuple[int, ...]) -> None:
    """Lemma 3.6 and the shorter form φ(X) = M X T_{l+1} with T_{k+1} = T_k T_kᵀ XᵀA'_kX T_k."""
    network, random = DeepAttention(widths, 2, 3), Random(2)
    parameters = [random.randrange(-5, 6) for _ in range(network.parameter_count)]
    X = flint.fmpz_mat([[random.randrange(-3, 4) for _ in range(3)] for _ in range(widths[0])])
    attention, M = network.virtual_weights(parameters)
    T = flint.fmpz_mat(3, 3, [1, 0, 0, 0, 1, 0, 0, 0, 1])
    for A in attention:
        T = T * T.transpose() * X.transpose() * flint.fmpz_mat(A) * X * T
    rows = [[int(x) for x in row] for row in X.table()]
    assert network.evaluate(parameters, rows) == [
        [int(y) for y in row] for row in (flint.fmpz_mat(M) * X * T).table()
    ]
    with pytest.raises(InvalidCaseError, match="one head"):
        DeepAttention(widths, 2, 3, heads=2).virtual_weights([])


def test_values_of_softmax_are_refused_as_they_may_not_be_rational() -> None:
    softmax = DeepAttention((2, 2), 1, 2, normalization="softmax")
    with pytest.raises(InvalidCaseError, match="in general not rational"):
        softmax.evaluate([1] * softmax.parameter_count, [[1, 2], [3, 4]])


@pytest.mark.parametrize("X", [[[1, 2]], [[1], [2]], [[1, 2], [3]], [[1, 2], [3, 4], [5, 6]]])
def test_tokens_of_another_size_have_no_values(X: list[list[int]]) -> None:
    network = DeepAttention((2, 2), 1, 2)
    parameters = [1] * network.parameter_count
    with pytest.raises(InvalidCaseError, match="'X' must be a matrix of 2 rows and 2 columns"):
        network.evaluate(parameters, X)
    # V YYᵀAY for matrices A and V of ones, and tokens Y = (1, 0), (0, 1)
    assert network.evaluate(parameters, [[1, 0], [0, 1]]) == [[2, 2], [2, 2]]


def proved(network: DeepAttention) -> int:
    """The dimension, which must be proved by every method."""
    found = dimension(network)
    assert found.agree
    assert {finding.status for finding in found.findings} == {"proved"}, (
        network.key,
        found.findings,
    )
    assert found.dimension is not None
    return found.dimension


@pytest.mark.parametrize(("widths", "a", "t", "value"), TABLE)
def test_dimensions_that_are_known(
    widths: tuple[int, ...], a: tuple[int, ...], t: int, value: int
) -> None:
    assert proved(DeepAttention(widths, a, t)) == value


def test_dimensions_are_exact_ranks_over_the_rationals() -> None:
    """(K, Q, V) are the columns, whatever the shape; the entries are found by tangents, not by the
    chain rule.
    """
    shapes = [
        (w, a, t)
        for w in product((1, 2, 3), repeat=3)
        for a in product((1, 2), repeat=2)
        for t in (1, 2)
    ]
    shapes += [
        ((2, 2, 2, 1), (2, 1, 2), 2),
        ((2, 1, 3, 2), (2, 2, 1), 2),
        ((1, 2, 1, 2), (1, 1, 1), 3),
    ]
    for widths, a, t in Random(1).sample(shapes, 40):
        network = DeepAttention(widths, a, t)
        assert (
            deep.jacobian_rank(widths, a, t) == network.upper_bounds(0)[0].value == proved(network)
        ), (widths, a, t)


@pytest.mark.parametrize(
    ("widths", "a", "t", "heads", "skip"),
    [
        *(((2, 2, 2), (2, 2), 2, 1, True), ((3, 3), (2,), 2, 1, True), ((2, 2), (1,), 1, 1, True)),
        *(
            ((3, 3), (2,), 2, 3, False),
            ((3, 1), (3,), 2, 2, False),
            ((2, 2, 2), (1, 2), 2, 2, False),
        ),
        *(
            ((2, 2, 1), (2, 2), 2, 3, False),
            ((2, 2, 2), (2, 2), 1, 2, False),
            ((2, 2), (2,), 2, 5, True),
        ),
    ],
)
def test_heads_and_skips_are_exact_ranks_over_the_rationals(
    widths: tuple[int, ...], a: tuple[int, ...], t: int, heads: int, skip: bool
) -> None:
    found = dimension(DeepAttention(widths, a, t, heads, skip))
    assert deep.jacobian_rank(widths, a, t, heads, skip) == found.dimension <= found.upper.value


@pytest.mark.parametrize(
    ("d", "a", "heads", "value"), [(5, 3, 2, 49), (7, 4, 3, 135), (3, 3, 3, 18)]
)
def test_exchanges_of_values_between_heads(d: int, a: int, heads: int, value: int) -> None:
    """With one output, heads whose row spaces meet have more symmetries than scalings."""
    assert proved(DeepAttention((d, 1), a, 2, heads)) == value


def test_one_block_decides_all_small_networks() -> None:
    """No block falls short of its upper bound."""
    for layers, most in ((1, 4), (2, 3), (3, 2)):
        for widths, a in product(
            product(range(1, most + 1), repeat=layers + 1), product((1, 2), repeat=layers)
        ):
            for t, normalization in ((1, "none"), (2, "none"), (2, "softmax")):
                network = DeepAttention(widths, a, t, normalization=normalization)
                methods = bounds.formal_block if network.softmax else bounds.lightning_block
                assert [bound.value for bound in methods(network)] == [
                    upper_bounds.virtual_bound(network).value
                ], network


@pytest.mark.parametrize(
    ("widths", "a", "t", "value"),
    [
        *(
            ((3, 3, 3), (2, 2), 2, 25),
            ((3, 3, 3), (1, 2), 3, 22),
            ((2, 3, 2), (2, 2), 2, 12),
            ((2, 2, 2), (2, 2), 1, 4),
        ),
        *(
            ((2, 1, 2), (2, 2), 2, 8),
            ((1, 1), (1,), 5, 2),
            ((2, 2, 2, 2), (2, 2, 2), 2, 16),
            ((4, 2), (3,), 2, 23),
        ),
    ],
)
def test_softmax_has_the_dimension_of_the_virtual_weights(
    widths: tuple[int, ...], a: tuple[int, ...], t: int, value: int
) -> None:
    """By blocks in power series, with exponentials as unknowns and in balls; and by the whole
    Jacobian matrix.
    """
    network = DeepAttention(widths, a, t, normalization="softmax")
    assert proved(network) == value
    if t > 1:
        assert (
            bounds._jacobian_bound_by_series(network).value
            == value
            == virtual_dimension(DeepAttention(widths, a))
        )
        assert len(list(network.lower_bounds(0))) == 3


@pytest.mark.parametrize(
    ("widths", "heads", "skip", "value"),
    [
        ((3, 3), 2, False, 34),
        ((2, 2, 2), 1, True, 16),
        ((2, 2, 2), 2, False, 28),
        ((2, 2), 2, True, 16),
    ],
)
def test_softmax_with_heads_and_skips(
    widths: tuple[int, ...], heads: int, skip: bool, value: int
) -> None:
    assert proved(DeepAttention(widths, 2, 2, heads, skip, "softmax")) == value


@pytest.mark.parametrize(
    ("delta", "lightning", "softmax"), [(3, 23, 25), (5, 55, 57), (10, 170, 172)]
)
def test_figure_3(delta: int, lightning: int, softmax: int) -> None:
    assert proved(DeepAttention((delta,) * 3, 2, 3)) == lightning
    assert proved(DeepAttention((delta,) * 3, 2, 3, normalization="softmax")) == softmax


def test_figure_of_numpy_integers_is_json() -> None:
    one = numpy.int64(1)
    found = figure_3(layers=one, t=numpy.int64(2), a=one, deltas=numpy.array([1]))
    data = json.loads(json.dumps(found.to_json()))
    assert (data["layers"], data["t"], data["a"]) == (1, 2, 1)
    # x ↦ va·XXᵀx depends on the product va alone, and softmax attention on v and a
    (point,) = data["points"]
    dimensions = (point["lightning"]["dimension"], point["softmax"]["dimension"])
    assert (point["delta"], dimensions) == (1, (1, 2))


def test_large_networks() -> None:
    deep_network = DeepAttention((64,) * 13, 16)
    assert proved(deep_network) == 25_588
    assert proved(DeepAttention((64,) * 13, 16, normalization="softmax")) == 25_600
    assert proved(DeepAttention((64, 16, 16, 16, 64), 8)) == 3_324
    wide = DeepAttention((4096,) * 33, 128, 8192)
    assert proved(wide) == 4096**2 + 32 * 128 * (2 * 4096 - 128) - 32


def test_gauge() -> None:
    """Under the width hypothesis of Lemma 3.5 the fibres have the dimension of the gauge group."""
    for widths, a, t in [((3, 3, 3), (2, 2), 2), ((4, 2, 2, 3), (2, 1, 1), 2)]:
        network = DeepAttention(widths, a, t)
        hidden, factored = (
            sum(d * d for d in widths[1:-1]),
            sum(r * r for r, d in zip(a, widths, strict=False) if r < d),
        )
        assert network.gauge_dimension() == hidden + factored + len(a)
    for heads, skip in product((1, 2), (False, True)):
        network = DeepAttention((3, 3, 3), 2, heads=heads, skip=skip)
        assert network.parameter_count - network.gauge_dimension() >= rank_result(network).lower


def test_too_few_inputs_give_a_lower_bound_and_refute_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert deep.jacobian_rank((3, 3, 3), (2, 2), 2, inputs=4) < 23
    monkeypatch.setattr("m2bridge.maps.jacobian_rank.SPARE_ROWS", -6)
    monkeypatch.setattr(bounds, "lightning_block", lambda network: iter(()))
    found = dimension(DeepAttention((3, 3, 3), 2))
    assert (found.dimension, found.status, found.upper.value) == (17, "lower bound", 23)


def test_wrong_formulas_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An upper bound that is too small meets a rank that exceeds it; one that is too large is not
    attained.
    """
    right = shape.reduced_dimension
    for wrong in (
        lambda s, whole: right(s, whole) - 1,
        lambda s, whole: right(s, max(0, whole - 1)),
    ):
        monkeypatch.setattr(shape, "reduced_dimension", wrong)
        with pytest.raises(ContradictionError):
            dimension(DeepAttention((3, 3, 3), 2))
    monkeypatch.setattr(shape, "reduced_dimension", right)
    monkeypatch.setattr(
        upper_bounds,
        "virtual_bound",
        lambda s: Bounds.at_most(right(s, s.layers) - 2, "skew parts counted"),
    )
    found = dimension(DeepAttention((3, 3, 3), (1, 2)))
    assert (found.dimension, found.status, found.upper.value) == (18, "lower bound", 20)


def test_a_bad_point_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block whose first matrix has rank one sees less of the second one."""
    for first, deciding in (((1, 1), (1, 1)), 0), (((1, 2), (1, 1)), 1):
        monkeypatch.setattr(
            bounds,
            "random_block",
            lambda *_, C=first: bounds.TwoInputNetwork((C, ((1, 2), (3, 5))), (1, 4)),
        )
        assert len(list(bounds.lightning_block(DeepAttention((3, 3, 3), 2)))) == deciding


def test_exponentials_of_power_series() -> None:
    numbers = PowerSeries(LARGE_PRIME, 12, (1, 1))
    h = flint.nmod_poly([0, 3], LARGE_PRIME)
    expected = [
        pow(3, k, LARGE_PRIME) * pow(factorial(k), -1, LARGE_PRIME) % LARGE_PRIME for k in range(12)
    ]
    assert [int(c) for c in numbers._exponential(h).coeffs()] == expected
    (columns,) = [
        list(zip(*numbers.normalized(numbers.matrix([[1, 2], [3, 4]])).rows, strict=True))
    ]
    assert all(sum(column, flint.nmod_poly([0], LARGE_PRIME)) == 1 for column in columns)


@pytest.mark.parametrize("skip", [False, True])
def test_softmax_gradients_are_limits_of_difference_quotients(skip: bool) -> None:
    """In balls; the arithmetic of power series and the chain rule are tested apart."""
    random = Random(9)
    with flint.ctx.workprec(400):
        numbers = Balls((1, 2))

        def matrix(rows: int, columns: int) -> flint.arb_mat:
            return numbers.matrix(
                [
                    [flint.fmpq(random.randrange(-9, 10), 7) for _ in range(columns)]
                    for _ in range(rows)
                ]
            )

        network = [(HeadMatrices(matrix(2, 2), matrix(2, 2)),) for _ in range(2)]
        X, G = matrix(2, 2), matrix(2, 2)
        found = gradient(network, X, G, numbers, skip)
        small = flint.arb(2) ** -120
        for k, name in product((0, 1), ("A", "V")):
            direction = matrix(2, 2)
            (head,) = network[k]
            moved = {"A": head.A, "V": head.V} | {name: getattr(head, name) + direction * small}
            other = [
                (HeadMatrices(**moved),) if j == k else layer for j, layer in enumerate(network)
            ]
            difference = output(other, X, numbers, skip) + output(network, X, numbers, skip) * -1
            quotient = sum(
                map(lambda g, d: g * d / small, G.entries(), difference.entries()), flint.arb(0)
            )
            (covector,) = found[k]
            slope = sum(
                map(lambda g, d: g * d, getattr(covector, name).entries(), direction.entries()),
                flint.arb(0),
            )
            assert abs(quotient - slope) < flint.arb(2) ** -100
            assert abs(slope) > flint.arb(2) ** -30


def test_the_rank_of_growing_spans() -> None:
    """Of random vectors in a space of dimension 20 with two orders each, of zeros, and of few."""
    random = Random(4)
    basis = [[random.randrange(LARGE_PRIME) for _ in range(30)] for _ in range(20)]

    def combination() -> list[int]:
        factors = [random.randrange(LARGE_PRIME) for _ in basis]
        return [sum(map(mul, factors, column)) % LARGE_PRIME for column in zip(*basis, strict=True)]

    def endless(orders: int) -> Iterator[list[tuple[int, ...]]]:
        while True:
            # Orders 0 and 2 are 0 throughout, as of odd functions.
            vectors = [combination() if k % 2 else [0] * 30 for k in range(orders)]
            yield list(zip(*vectors, strict=True))

    assert bounds.growing_rank(endless(4), length=4) == 20
    assert bounds.growing_rank(endless(4), length=4, upper=20) == 20
    assert bounds.growing_rank(endless(1), length=1) == 0


def test_series_matrices_multiply_like_polynomials() -> None:
    numbers = Residues(LARGE_PRIME)
    left, right = [[1, 2], [3, 4]], [[5, 6], [7, 8]]
    series = PowerSeries(LARGE_PRIME, 3, (1, 1))
    product_ = series.matrix(left) * series.matrix(right) + series.matrix(left).transpose()
    exact = numbers.matrix(left) * numbers.matrix(right) + numbers.matrix(left).transpose()
    assert [int(entry[0]) for entry in product_.entries()] == [
        int(entry) for entry in exact.entries()
    ]
    h = flint.nmod_poly([1, 1], LARGE_PRIME)
    product = SeriesMatrix.of([[h]], 3, LARGE_PRIME) * SeriesMatrix.of([[h**2]], 3, LARGE_PRIME)
    assert product.rows[0][0] == flint.nmod_poly([1, 3, 3], LARGE_PRIME)


@pytest.mark.parametrize(
    ("d", "d_out", "a", "t"), [(3, 2, 2, 2), (2, 1, 1, 2), (4, 2, 3, 3), (2, 2, 2, 1)]
)
def test_a_single_layer_is_single_layer_attention(d: int, d_out: int, a: int, t: int) -> None:
    network, single = DeepAttention((d, d_out), a, t), SingleLayerAttention(d, d_out, a, t)
    assert dimension(network).dimension == dimension(single).dimension
    if t > 1:
        free = single.in_coordinates().free_parametrization()
        found = network.parametrization()
        weights = deep.random_weights((d, d_out), (a,), 1, Random(1))
        named = dict(zip(found.source.variables, deep.flattened(weights, (d, d_out)), strict=True))
        point = [named[name.replace("_", "_1_", 1)] for name in free.source.variables]
        theirs, ours = free.evaluate(point), found.evaluate(list(named.values()))
        assert sorted(theirs) == sorted(ours)


@pytest.mark.parametrize(
    ("widths", "degree", "counts"),
    [
        ((2, 1), 4, {4: 1}),
        ((2, 1, 1), 2, {2: 68}),
        ((2, 1, 2), 2, {2: 639}),
        slow((3, 2), 3, {2: 45, 3: 136}),
    ],
)
def test_closures_in_low_degree(
    widths: tuple[int, ...], degree: int, counts: dict[int, int]
) -> None:
    """Single layers as for the other family; two layers of width two have known numbers of
    quadrics.
    """
    found = implicitize(multigraded(DeepAttention(widths, 2).parametrization()), degree)
    assert found.generator_counts == counts


def test_a_network_is_a_model_with_capabilities() -> None:
    network = DeepAttention((2, 2, 1), 2)
    for kind in (Model, DifferentiableModel):
        assert isinstance(network, kind)
    assert network.lower_bounds(0) is not None
    assert network.upper_bounds(0)
    assert {network: 1}[DeepAttention([2, 2, 1], [2, 2], 2)] == 1


@pytest.mark.parametrize(
    "network",
    [
        DeepAttention((3, 2, 4), (1, 2), 3),
        DeepAttention((2, 2), 3, 1, 2, True, "softmax"),
        DeepAttention((5, 1), 9),
    ],
)
def test_a_case_in_all_its_forms(network: DeepAttention) -> None:
    chosen = family("deep-attention")
    assert chosen.from_key(network.key) == network
    assert chosen.from_json(json.loads(json.dumps(network.to_json()))) == network
    options = {
        "widths": ",".join(map(str, network.widths)),
        "a": ",".join(map(str, network.a)),
        "t": str(network.t),
        "heads": str(network.heads),
        "skip": "true" if network.skip else None,
        "normalization": network.normalization,
    }
    assert chosen.from_options(options) == network


@pytest.mark.parametrize(
    ("numbers", "option"),
    [
        *(
            ({"widths": (2,)}, "widths"),
            ({"widths": (2, 0)}, "widths"),
            ({"widths": "22"}, "widths"),
        ),
        *(
            ({"widths": (2, 2.0)}, "widths"),
            ({"widths": (2,) * 1002}, "widths"),
            ({"a": ()}, "a"),
            ({"a": (1, 2, 3)}, "a"),
        ),
        *(
            ({"a": 0}, "a"),
            ({"t": 0}, "t"),
            ({"t": 10**9}, "t"),
            ({"heads": -1}, "heads"),
            ({"skip": 1}, "skip"),
        ),
        *(
            ({"skip": True, "widths": (2, 3, 2)}, "skip"),
            ({"normalization": "sigmoid"}, "normalization"),
            ({"a": True}, "a"),
        ),
    ],
)
def test_what_is_no_network_is_refused(numbers: dict[str, object], option: str) -> None:
    with pytest.raises(InvalidCaseError) as refused:
        DeepAttention(**({"widths": (2, 2, 2), "a": 2} | numbers))  # type: ignore[arg-type]
    assert refused.value.option == option


@pytest.mark.parametrize(
    "key",
    ["", "2-2", "2-a2-t2", "2-2-a2", "2-2-a2-t02", "2-2-a2-t2-soft", "2-2-a2-t2\n", "2-2-a2-2-t2"],
)
def test_keys_that_name_no_case(key: str) -> None:
    with pytest.raises(InvalidCaseError):
        DeepAttention.from_key(key)


def run(*line: str) -> tuple[int, dict[str, object]]:
    result = CliRunner().invoke(
        commands.cli, ["dimension", "--family", "deep-attention", *line, "--json"]
    )
    return result.exit_code, json.loads(result.output)


def test_the_command_gives_both_bounds() -> None:
    code, found = run("--widths", "3,3,3", "--a", "1,2")
    assert code == 0
    assert (found["dimension"], found["status"]) == (18, "proved")
    assert found["upper_bound"]["value"] == found["lower_bound"]["value"] == 18
    assert "after layer 1, which has rank one" in found["upper_bound"]["reason"]
    assert found["lower_bound"]["method"].startswith("block mod")


@pytest.mark.parametrize(
    ("line", "said", "value"),
    [
        (
            ("--widths", "64,64", "--a", "64", "--heads", "64"),
            "the matrix of the differential would have",
            64 * 8128,
        ),
        (
            ("--widths", "32,64,32", "--a", "8", "--heads", "8", "--normalization", "softmax"),
            "too many",
            8 * 5504 - 64**2,  # of GL(64) between the layers
        ),
    ],
)
def test_what_is_too_large_has_an_upper_bound(
    line: tuple[str, ...],
    said: str,
    value: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And the exit code says that it is undecided."""
    monkeypatch.setattr(
        "sys.argv", ["m2bridge", "dimension", "--family", "deep-attention", *line, "--json"]
    )
    assert commands.run() == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["dimension"], found["upper_bound"]["value"]) == (None, value)
    assert said in found["unfinished"]


def test_titles() -> None:
    assert (
        DeepAttention((64,) * 13, 16).title
        == "lightning self-attention of widths 13 × 64, a = 12 × 16, t = 2"
    )
    assert (
        DeepAttention((3, 2), 2, 3, 2).title
        == "lightning self-attention of widths (3, 2), a = (2), t = 3, 2 heads"
    )


def test_options_of_the_command() -> None:
    assert run("--widths", "3,3", "--a", "2", "--skip")[1]["dimension"] == 16
    assert run("--widths", "3,3", "--a", "2", "--heads", "2", "--t", "3")[1]["dimension"] == 32
    assert (
        run("--widths", "3,3,3", "--a", "2", "--normalization", "softmax", "--field", "QQ")[1][
            "dimension"
        ]
        == 25
    )
    assert run("--widths", "2,2,2", "--a", "2", "--field", "GF(101)")[1]["dimension"] == 10


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("dimension", "--widths", "3,3"), "Option '--a' is missing"),
        (
            ("dimension", "--widths", "3,3,3", "--a", "2,2,2"),
            "Invalid value for '--a': must be one integer, or one for each of the 2 layers",
        ),
        (
            ("dimension", "--widths", "3,0", "--a", "2"),
            "Invalid value for '--widths': must be at least 1, not 0",
        ),
        (
            ("dimension", "--widths", "3,2", "--a", "2", "--skip"),
            "Option '--skip' needs widths that are all equal",
        ),
        (
            ("dimension", "--widths", "3,2", "--a", "2", "--normalization", "soft"),
            "Invalid value for '--normalization': must be none or",
        ),
        (
            (
                "dimension",
                "--widths",
                "3,2",
                "--a",
                "2",
                "--normalization",
                "softmax",
                "--field",
                "GF(7)",
            ),
            "Invalid value for '--field': must be QQ for softmax",
        ),
        (
            (
                "closure",
                "--max-degree",
                "2",
                "--widths",
                "2,2",
                "--a",
                "2",
                "--normalization",
                "softmax",
            ),
            "not polynomial",
        ),
    ],
)
def test_wrong_cases_get_one_line(
    line: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["m2bridge", line[0], "--family", "deep-attention", *line[1:]])
    assert commands.run() == 2
    (complaint,) = capsys.readouterr().err.splitlines()
    assert said in complaint


def test_examples() -> None:
    assert doctest.testmod(model).failed == 0


def test_the_number_of_layers_is_limited() -> None:
    assert len(DeepAttention((1,) * (MAX_NETWORK_LAYERS + 1), 1).widths) == MAX_NETWORK_LAYERS + 1
    with pytest.raises(InvalidCaseError, match="widths"):
        DeepAttention((1,) * (MAX_NETWORK_LAYERS + 2), 1)


# Heads are separate (Theorem H), against ranks of the differential.


@pytest.mark.slow
def test_separate_heads_are_ranks() -> None:
    """Of softmax at random weights by power series, of lightning by gradients; both without the
    theorem.
    """
    compared = 0
    for widths, a, heads, skip, t in product(
        [(2, 2), (2, 1), (1, 2), (3, 2), (1, 1, 1), (2, 2, 2)],
        (1, 2),
        (1, 2, 3),
        (False, True),
        (2, 3),
    ):
        if (skip and len(set(widths)) > 1) or (heads == 1 and not skip):
            continue
        network = DeepAttention(widths, a, t, heads, skip, "softmax")
        betas = [min(pair) for pair in pairwise(widths)]
        if network.parameter_count < 32 and upper_bounds.are_separate(network, betas):
            found = next(bounds.softmax_bounds(network, 0))
            assert (found.value, "series" in found.method) == (
                upper_bounds.bound_by_ranks(network, betas).value,
                True,
            )
            compared += 1
    for d, d_out, a, heads in product((3, 4, 5), (1, 2, 3), (1, 2), (2, 3)):
        network = DeepAttention((d, d_out), a, 2, heads)
        betas = [min(d, d_out)]
        if upper_bounds.are_separate(network, betas):
            assert (
                next(bounds.lightning_bounds(network, 0)).value
                == upper_bounds.bound_by_ranks(network, betas).value
            )
            compared += 1
    assert compared > 40


def test_large_networks_with_heads() -> None:
    gpt = dimension(DeepAttention((768,) * 13, 64, heads=12, skip=True, normalization="softmax"))
    assert (gpt.dimension, gpt.status) == (12 * 12 * (768**2 + 64 * (2 * 768 - 64)), "proved")
    layer = dimension(DeepAttention((768, 768), 64, heads=12))
    assert (layer.dimension, layer.status) == (12 * (768**2 + 64 * (2 * 768 - 64) - 1), "proved")
    assert dimension(DeepAttention((768, 768), 65, heads=12)).status != "proved"


def test_one_layer_has_one_scaling_in_words() -> None:
    reasons = [
        upper_bounds.virtual_bound(DeepAttention(widths, 2, 2)).because
        for widths in ((2, 2), (2, 2, 2))
    ]
    assert reasons == [
        "the virtual weights, up to 1 scaling",
        "the virtual weights, up to 2 scalings",
    ]
