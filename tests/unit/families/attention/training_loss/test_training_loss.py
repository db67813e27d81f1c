"""Losses from data: moments, quadratic forms and gradients, against sampling, SymPy and NumPy."""

from fractions import Fraction
from math import ceil
from random import Random
from typing import Any

import flint
import numpy as np
import pytest
from sympy import Matrix, Rational, exp as exponential, integrate, oo, pi, sqrt, symbols
from sympy.functions.combinatorial.numbers import stirling

from m2bridge import InvalidCaseError, SingleLayerAttention, TooLargeError
from m2bridge.algebra.intervals import least_rank, negative_eigenvalues, simplest_between
from m2bridge.families.attention.orbits.coordinates import indices
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.attention.training_loss import eliminated
from m2bridge.families.attention.training_loss.counting import random_primes
from m2bridge.families.attention.training_loss.gradient import gradient, random_chart, weights_in
from m2bridge.families.attention.training_loss.landscape import Landscape
from m2bridge.families.attention.training_loss.loss import (
    Loss,
    function_of,
    gaussian,
    normal_moment,
    random_function,
    random_quadratic,
    scaled_loss,
)
from m2bridge.training.data import read_loss

CASES = [(2, 1, 2), (2, 2, 2), (2, 1, 1), (3, 2, 2)]


def forward(X: np.ndarray, A: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The layer on one sequence, as Definition 1 has it."""
    outputs: np.ndarray = V @ X @ X.T @ A @ X
    return outputs


def gaussian_loss(case: tuple[int, int, int], t: int = 3) -> Loss:
    shape = LayerSizes(*case, t)
    return gaussian(shape).towards(random_function(shape, 1), "")


def data_loss(model: SingleLayerAttention, **arrays: object) -> Loss:
    nothing = {"tokens": None, "quadratic": None, "teacher": None, "seed": 0}
    return read_loss(model, data=arrays, **nothing)  # type: ignore[arg-type]


def value(loss: Loss, function: list[Fraction]) -> Fraction:
    c = flint.fmpq_mat(len(function), 1, [flint.fmpq(x.numerator, x.denominator) for x in function])
    found = (c.transpose() * loss.gram * c)[0, 0] / 2 - (loss.linear.transpose() * c)[0, 0]
    found += loss.constant
    return Fraction(int(found.numerator), int(found.denominator))


def test_moments_of_the_normal_distribution_are_integrals() -> None:
    x = symbols("x")
    density = exponential(-(x**2) / 2) / sqrt(2 * pi)
    for k in range(7):
        assert normal_moment([k]) == integrate(x**k * density, (x, -oo, oo))
    assert normal_moment([2, 4, 2]) == 3


@pytest.mark.parametrize("t", [2, 3, 5])
def test_gaussian_moments_in_one_dimension_are_those_of_a_quadrature(t: int) -> None:
    """Gauss and Hermite: four nodes give the moments of order up to seven."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    weights = weights / weights.sum()
    shape = LayerSizes(1, 1, 1, t)
    total = 0.0
    for places in np.ndindex(*(4,) * t):
        X = np.array([[nodes[j] for j in places]])
        weight = np.prod([weights[j] for j in places])
        total += weight * (np.sum(X * X) * X[0, 0]) ** 2
    assert float(gaussian(shape).gram[0, 0]) == pytest.approx(total)


def test_gaussian_moments_in_two_dimensions_are_those_of_a_quadrature() -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    weights = weights / weights.sum()
    shape = LayerSizes(2, 1, 2, 2)
    features = [(i, p, q) for _, i, p, q in indices(shape)]
    gram = np.zeros((len(features), len(features)))
    for places in np.ndindex(4, 4, 4, 4):
        X = nodes[np.array(places)].reshape(2, 2)
        S = X @ X.T
        row = np.array([S[p, q] * X[i, 0] for i, p, q in features])
        gram += weights[np.array(places)].prod() * np.outer(row, row)
    exact = np.array([[float(x) for x in row] for row in gaussian(shape).gram.tolist()])
    assert np.allclose(exact, gram)


@pytest.mark.parametrize("case", CASES)
def test_the_loss_of_data_is_the_mean_squared_error_of_the_layer(
    case: tuple[int, int, int],
) -> None:
    rng = np.random.default_rng(1)
    model = SingleLayerAttention(*case)
    X = rng.integers(-3, 4, (40, model.d, 3))
    Y = rng.integers(-3, 4, (40, model.d_out, 3))
    A, V = rng.integers(-3, 4, (model.d, model.d)), rng.integers(-3, 4, (model.d_out, model.d))
    loss = data_loss(model, X=X, Y=Y)
    function = function_of(model, _fractions(A), _fractions(V))
    errors = [forward(x, A, V) - y for x, y in zip(X, Y, strict=True)]
    mean = sum(Fraction(int((error**2).sum())) for error in errors) / (40 * 3)
    assert value(loss, list(function)) == mean / 2
    # t is that of the data
    assert (model.t, loss.shape.t) == (2, 3)


def _fractions(matrix: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(int(x)) for x in row] for row in matrix]


def test_the_loss_towards_a_teacher_vanishes_at_the_teacher() -> None:
    rng = np.random.default_rng(2)
    model = SingleLayerAttention(3, 2, 2)
    K, Q = rng.integers(-3, 4, (2, 3)), rng.integers(-3, 4, (2, 3))
    V = rng.integers(-3, 4, (2, 3))
    loss = data_loss(model, X=rng.integers(-3, 4, (40, 3, 3)), K=K, Q=Q, V=V)
    assert value(loss, list(function_of(model, _fractions(K.T @ Q), _fractions(V)))) == 0


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES[:3])
def test_the_gradient_is_that_of_sympy(case: tuple[int, int, int]) -> None:
    loss = gaussian_loss(case)
    chart = random_chart(loss.shape, 5, Random(1))
    weights = weights_in(loss.shape, chart)
    names = weights.ring.symbols
    K, Q = weights.K, weights.Q
    matrices = [K, Q, weights.V] if K is not None and Q is not None else [weights.A, weights.V]
    A = [[x.as_expr() for x in row] for row in weights.A]
    V = [[x.as_expr() for x in row] for row in weights.V]
    c = Matrix([_coordinate(A, V, index) for index in indices(loss.shape)])
    n = loss.shape.independent_count
    G = Matrix(n, n, [Rational(int(x.p), int(x.q)) for x in loss.gram.entries()])
    b = Matrix(n, 1, [Rational(int(x.p), int(x.q)) for x in loss.linear.entries()])
    whole = ((c.T * G * c)[0, 0] / 2 - (b.T * c)[0, 0]).expand()
    # All entries of the gradient vanish exactly where its components in the chart do: here the
    # chain rule, with a factor that makes the coefficients integers.
    entries = [entry for matrix in matrices for row in matrix for entry in row]
    full = gradient(loss, weights)
    assert len(full) == len(entries)
    components = []
    for name in names:
        along = [entry.diff(weights.ring(name)) for entry in entries]
        terms = [x * y for x, y in zip(along, full, strict=True)]
        components.append(sum(terms[1:], start=terms[0]).as_expr())
    ratios = set()
    for name, component in zip(names, components, strict=True):
        ratios.add((whole.diff(name).expand() / component).simplify())
    assert len(ratios) == 1
    assert ratios.pop().is_positive


def _coordinate(A: list[list[Any]], V: list[list[Any]], index: tuple[int, ...]) -> Any:
    """The coefficient of y_p y_q in the product of the linear forms Σ A_pi y_p and Σ V_kq y_q."""
    k, i, p, q = index
    y = symbols(f"y0:{len(A)}")
    left = sum(row[i] * z for row, z in zip(A, y, strict=True))
    right = sum(x * z for x, z in zip(V[k], y, strict=True))
    return (left * right).expand().coeff(y[p] * y[q] if p != q else y[p] ** 2)


@pytest.mark.parametrize("case", CASES)
def test_gradient_and_hessian_are_differences_of_the_loss(case: tuple[int, int, int]) -> None:
    loss = gaussian_loss(case)
    weights = weights_in(loss.shape, random_chart(loss.shape, 3, Random(2)))
    landscape = Landscape(loss, weights)
    count = weights.ring.ngens
    rng = np.random.default_rng(3)
    with flint.ctx.workprec(400):
        start = [flint.arb(float(x)) for x in rng.standard_normal(count)]
        step = flint.arb(2) ** -60
        values = landscape.values(start)
        for j in range(count):
            moved = landscape.values([x + step * (i == j) for i, x in enumerate(start)])
            slope = (moved.loss - values.loss) / step
            assert float(slope) == pytest.approx(float(values.gradient[j, 0]))
            for i in range(count):
                slope = (moved.gradient[i, 0] - values.gradient[i, 0]) / step
                assert float(slope) == pytest.approx(float(values.hessian[i, j]), abs=1e-6)


@pytest.mark.parametrize("rows", [[[1, 2], [2, 4]], [[0, 0, 0], [0, 0, 0]], [[1, 0, 3], [2, 1, 1]]])
def test_least_ranks_are_those_of_sympy(rows: list[list[int]]) -> None:
    matrix = flint.arb_mat(rows)
    assert least_rank(matrix) == Matrix(rows).rank()
    # an interval around zero may be zero
    blurred = flint.arb_mat([[flint.arb(x, 100) for x in row] for row in rows])
    assert least_rank(blurred) == 0


def test_the_simplest_rational_number_of_an_interval() -> None:
    """Against all fractions with a smaller denominator."""
    random = Random(0)
    for _ in range(50):
        low = Fraction(random.randint(-50, 50), random.randint(1, 60))
        high = low + Fraction(1, random.randint(1, 500))
        found = simplest_between(low, high)
        assert low <= found <= high
        for smaller in range(1, found.denominator):
            # a fraction with this denominator is not between them
            assert ceil(low * smaller) > high * smaller


def test_a_rational_point_is_exact_and_an_irrational_one_is_not() -> None:
    loss = gaussian_loss((2, 1, 2))
    weights = weights_in(loss.shape, random_chart(loss.shape, 3, Random(2)))
    point = [flint.fmpq(j, 7) for j in range(weights.ring.ngens)]
    landscape = Landscape(loss, weights)
    exact, near = landscape.values(point), landscape.values([flint.arb(x) for x in point])
    assert isinstance(exact.loss, flint.fmpq)
    assert near.loss.contains(flint.arb(exact.loss))
    for one, other in ((exact.gradient, near.gradient), (exact.hessian, near.hessian)):
        for x, y in zip(one.entries(), other.entries(), strict=True):
            assert y.contains(x)


def test_negative_eigenvalues_are_counted_or_not_known() -> None:
    assert negative_eigenvalues(flint.arb_mat([[2, 1], [1, -3]])) == 1
    assert negative_eigenvalues(flint.arb_mat([[2, 1], [1, 3]])) == 0
    assert negative_eigenvalues(flint.arb_mat([[1, 1], [1, 1]])) is None
    assert negative_eigenvalues(flint.arb_mat(0, 0)) == 0


def test_an_eliminated_loss_is_a_quotient_of_forms_of_degree_six() -> None:
    """For one output and standard normal tokens F = N/(v·v)³."""
    loss = gaussian_loss((3, 1, 3))
    reduced = eliminated._Reduced(loss, 32003)
    assert eliminated._degree_on_a_line(reduced, Random(1)) == 6
    quotient = eliminated._interpolate_quotient(reduced, 6, Random(1))
    assert quotient is not None
    _, denominator = quotient
    x, y, z = denominator.context().gens()
    cube = (x**2 + y**2 + z**2) ** 3
    assert denominator == cube * denominator.leading_coefficient()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_determinant_of_forms_is_flints_at_points(size: int) -> None:
    """Without signs it would be the permanent, which no number of critical points shows."""
    context = flint.nmod_mpoly_ctx.get(("x", size * size), 32003, flint.Ordering.lex)
    x = context.gens()
    matrix = [[x[size * i + j] for j in range(size)] for i in range(size)]
    determinant = eliminated._determinant(matrix)
    random = Random(size)
    for _ in range(3):
        point = [random.randrange(32003) for _ in x]
        assert determinant(*point) == flint.nmod_mat(size, size, point, 32003).det()


def test_primes_are_other_ones_for_other_losses() -> None:
    first = random_primes("one")
    found = [next(first) for _ in range(50)]
    assert len(set(found)) == 50
    assert all(2**14 < p < 2**15 and flint.fmpz(p).is_prime() for p in found)
    again = random_primes("one")
    assert found == [next(again) for _ in range(50)]
    other = random_primes("other")
    assert found != [next(other) for _ in range(50)]


ONE_TOKEN = SingleLayerAttention(2, 1, t=1)
TOKENS: np.ndarray = np.arange(24).reshape(4, 2, 3) ** 2 % 7
BAD = {
    "X of tokens is missing": {"Y": TOKENS},
    "must be (sequences, d, t) with d = 2": {"X": TOKENS[:, :1]},
    "must be (sequences, d', t) with d' = 1": {"X": TOKENS, "Y": TOKENS},
    "they must have as many sequences": {"X": TOKENS, "Y": TOKENS[:3, :1]},
    "functions of dimension 4 (of 6) vanish on all of them": {"X": TOKENS[0]},
    "has one token (t = 1)": {"X": TOKENS[:, :, :1]},
    "all tokens of a sequence are the same": {"X": TOKENS[:, :, :1].repeat(3, axis=2)},
    "not a finite number": {"X": TOKENS * np.nan},
    "entry (1, 1, 2) of 'Y' is inf": {"X": TOKENS, "Y": TOKENS[:, :1] + [[[0, np.inf, 0]]]},
    "it has no entries": {"X": TOKENS[:0]},
    "X is 4 × 2 × 3 × 1": {"X": TOKENS[..., None]},
    "the teacher: A is 3 × 3": {"X": TOKENS, "A": np.ones((3, 3)), "V": [[1, 1]]},
    "the teacher: give K, Q and V, or A and V": {"X": TOKENS, "V": [[1, 1]]},
    "entry (1, 2) of 'A' is nan": {"X": TOKENS, "A": [[1, np.nan], [0, 1]], "V": [[1, 1]]},
    "unknown arrays: y; data have X (tokens), and Y (outputs)": {"X": TOKENS, "y": TOKENS[:, :1]},
    "unknown arrays: seed; data have X": {"X": TOKENS, "Y": TOKENS[:, :1], "seed": [1]},
    "the target is given twice": {
        "X": TOKENS,
        "Y": TOKENS[:, :1],
        "A": [[1, 2], [3, 4]],
        "V": [[1, 1]],
    },
}


@pytest.mark.parametrize("words", BAD)
def test_bad_data_are_refused_by_name(words: str) -> None:
    with pytest.raises(InvalidCaseError) as refused:
        data_loss(SingleLayerAttention(2, 1), **BAD[words])
    assert refused.value.option == "data"
    assert words in refused.value.message


@pytest.mark.parametrize("factor", [Fraction(10) ** 300, Fraction(1, 10**200), Fraction(3)])
@pytest.mark.parametrize("size_of_tokens", [1, 2**100])
def test_a_scaled_loss_is_the_loss_in_other_units(factor: Fraction, size_of_tokens: int) -> None:
    """L(2^k c) = 2^(g + 2k) L'(c), and the target of L' has coordinates of size about 1."""
    model = SingleLayerAttention(2, 2)
    X = np.array([x * size_of_tokens for x in TOKENS.ravel().tolist()], dtype=object)
    Y = np.array([x * factor for x in TOKENS.ravel().tolist()], dtype=object)
    loss = data_loss(model, X=X.reshape(TOKENS.shape), Y=Y.reshape(TOKENS.shape))
    scaled, scaling = scaled_loss(loss)
    k, g = (Fraction(2) ** exponent for exponent in scaling)
    for seed in range(3):
        c = list(random_function(loss.shape, seed))
        assert value(loss, [k * x for x in c]) == g * k**2 * value(scaled, c)
    target = scaled.gram.solve(scaled.linear)
    diagonal = [scaled.gram[i, i] for i in range(scaled.gram.nrows())]
    for numbers in (target.entries(), diagonal):
        assert flint.fmpq(1, 2**12) < max(map(abs, numbers)) < 2**12


def test_the_functions_that_vanish_on_all_data_are_counted_for_all_outputs() -> None:
    """One sequence of three tokens in R²: S ⊗ x takes values in a space of dimension 2."""
    with pytest.raises(InvalidCaseError, match=r"dimension 12 \(of 18\)"):
        data_loss(SingleLayerAttention(2, 3), X=TOKENS[0], Y=np.ones((3, 3)))


def test_a_teacher_of_another_size_is_refused_by_its_option() -> None:
    model = SingleLayerAttention(2, 1)
    nothing: dict[str, Any] = {"data": None, "quadratic": None, "seed": 0}
    for teacher in ({"A": [[1.0]], "V": [[1.0]]}, {"X": [[1.0]]}, {"K": [[np.nan, 1.0]]}):
        with pytest.raises(InvalidCaseError) as refused:
            read_loss(model, tokens="gaussian", teacher=teacher, **nothing)
        assert refused.value.option == "teacher"


def test_sources_that_exclude_each_other() -> None:
    model = SingleLayerAttention(2, 1)
    nothing: dict[str, Any] = {"data": None, "teacher": None, "seed": 0}
    with pytest.raises(InvalidCaseError, match="Argument 'quadratic' excludes tokens"):
        read_loss(model, tokens="gaussian", quadratic="random", **nothing)
    with pytest.raises(InvalidCaseError, match="Argument 'tokens' must be gaussian, not 'uniform'"):
        read_loss(model, tokens="uniform", quadratic=None, **nothing)
    with pytest.raises(InvalidCaseError, match="Argument 't': critical points"):
        read_loss(ONE_TOKEN, tokens="gaussian", quadratic=None, **nothing)


def test_what_is_too_large_is_refused_at_once() -> None:
    with pytest.raises(TooLargeError, match="1800 coordinates"):
        random_quadratic(LayerSizes(15, 1, 15, 2), 0)


def test_the_closed_form_of_the_learning_degree_is_a_stirling_number() -> None:
    """The generating functions of docs/learning-degrees.md, and the prediction."""
    z = symbols("z")
    quadric = 2 * z / ((1 + z) * (1 - z) ** 2)
    curve = 6 * z**2 / ((1 + z) * (1 + 2 * z) * (1 - z) ** 2)
    nodes = 24 * z**3 / ((1 + z) * (1 + 2 * z) * (1 + 3 * z) * (1 - z) ** 2)
    one, other = 12 / ((1 + 2 * z) * (1 + 3 * z)), 6 * (1 - 2 * z) / ((1 + z) * (1 + 2 * z))
    resolution = z / (1 - z) ** 2 * (one - other)
    total = 1 / (1 - z) ** 2 - quadric - resolution + nodes + curve
    assert (total * (1 + z) * (1 + 2 * z) * (1 + 3 * z)).simplify() == 1
    (stated,) = [statement for statement in REGISTRY if statement.key == "learning-degree"]
    for d in range(1, 12):
        assert stated.predict(LayerSizes(d, 1, d, 2)) == stirling(d + 2, 3)  # type: ignore[call-arg]
