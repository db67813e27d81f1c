"""Ranks near the token 0, modulo a prime, compared with ranks in balls, which share no arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import flint
import numpy
import pytest

from m2bridge import weights
from m2bridge.errors import TooLargeError
from m2bridge.families.deep_attention.network import Balls, Reals
from m2bridge.trained_weights.networks import series
from m2bridge.trained_weights.networks.differential import (
    EPSILON,
    TOKENS,
    AffineLayer,
    gradients_of,
    rank_in_balls,
)
from m2bridge.trained_weights.networks.series import differential_ranks, rank_near_zero


def layer(
    random: Random, d: int = 3, a: int = 1, heads: int = 1, norm: str = "", constants: bool = True
) -> AffineLayer:
    """A layer with or without biases of K, Q, V and of the output, and β."""

    def row(length: int) -> list[Fraction]:
        return [Fraction(random.randrange(-64, 64), 64) for _ in range(length)]

    seen = d + constants
    given = []
    for _ in range(heads):
        head = {letter: [row(seen) for _ in range(a)] for letter in "KQV"}
        given.append(head | {"O": [row(a) for _ in range(d)]})
    return AffineLayer(
        width=d,
        heads=tuple(given),
        output_bias=tuple(row(d)) if constants else (),
        norm=norm,
        gamma=tuple(1 + entry for entry in row(d)) if norm else (),
        beta=tuple(row(d)) if norm and constants else (),
    )


CASES: dict[str, tuple[dict[str, Any], dict[str, bool]]] = {
    "softmax with biases": ({"d": 2}, {"skip": True, "softmax": True}),
    "softmax behind LayerNorm": ({"norm": "layer"}, {"skip": True, "softmax": True}),
    "softmax behind RMSNorm": ({"norm": "rms"}, {"skip": False, "softmax": True}),
    "RMSNorm without constants": (
        {"norm": "rms", "constants": False},
        {"skip": True, "softmax": True},
    ),
    "lightning behind LayerNorm": ({"norm": "layer"}, {"skip": True, "softmax": False}),
    "lightning without constants": (
        {"norm": "rms", "constants": False},
        {"skip": False, "softmax": False},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_ranks_are_those_in_balls(name: str) -> None:
    sizes, options = CASES[name]
    random = Random(3)
    layers = [layer(random, **sizes) for _ in range(2)]
    parameters = sum(one.parameters for one in layers)
    numbers = Balls((1,) * TOKENS) if options["softmax"] else Reals()
    in_balls = rank_in_balls(numbers, options["skip"], layers, parameters)
    found = rank_near_zero(options["skip"], options["softmax"], layers, parameters)
    assert 0 < found == in_balls < parameters
    # Balls look for more only where the orders near 0 show less than the largest possible rank.
    ranks = differential_ranks(layers, **options, most=found, most_at_weights=found)
    assert (ranks.at_weights, ranks.method) == (found, "modulo a prime, near the token 0")


def test_balls_find_what_few_orders_near_the_token_0_do_not_show() -> None:
    random = Random(3)
    layers = [layer(random, d=2, norm="rms")]
    most = 13
    whole = rank_in_balls(Balls((1,) * TOKENS), True, layers, most)
    # From any number that is proved already the same rank is reached.
    for known in range(1, whole):
        assert rank_in_balls(Balls((1,) * TOKENS), True, layers, most, known=known) == whole


def form_of_outputs(layers: list[AffineLayer], entries: Any, X: Any, G: Any, skip: bool) -> float:
    """A linear form of the outputs of lightning attention, as frameworks compute them."""
    entries = iter(entries)
    for one in layers:
        Y = X
        if one.norm:
            Y = X - X.mean(axis=0) if one.norm == "layer" else X
            Y = Y / numpy.sqrt((Y**2).mean(axis=0) + float(one.epsilon))
            gamma, beta = (numpy.array(part, dtype=float) for part in (one.gamma, one.beta))
            Y = gamma[:, None] * Y + beta[:, None]
        Y = numpy.vstack([Y, numpy.ones(Y.shape[1])])
        outputs = numpy.zeros_like(X)
        for head in one.heads:
            M = {}
            for letter, rows in head.items():
                M[letter] = numpy.array([[next(entries) for _ in row] for row in rows])
            scores = (M["K"] @ Y).T @ (M["Q"] @ Y)
            outputs = outputs + M["O"] @ M["V"] @ Y @ scores
        bias = numpy.array([next(entries) for _ in one.output_bias])
        X = outputs + bias[:, None] + (X if skip else 0)
    return float((G * X).sum())


@pytest.mark.parametrize("norm", ["", "layer", "rms"])
@pytest.mark.parametrize("skip", [False, True])
def test_gradients_are_the_derivatives_of_the_forward_pass(norm: str, skip: bool) -> None:
    random = Random(7)
    layers = [layer(random, norm=norm) for _ in range(2)]
    drawn: list[float] = []

    def draw() -> Any:
        number = Fraction(random.randrange(-64, 64), 64)
        drawn.append(float(number))
        return read(number)

    def read(number: Any) -> Any:
        number = Fraction(number)
        return flint.fmpq(number.numerator, number.denominator)

    gradients = gradients_of(layers, skip=skip, numbers=Reals(), read=read, draw=draw)
    gradient = [float(entry) for entry in next(gradients)]
    X, G = (numpy.array(part).reshape(3, TOKENS) for part in (drawn[:6], drawn[6:]))
    entries: list[float] = []
    for one in layers:
        for head in one.heads:
            entries += [float(x) for rows in head.values() for row in rows for x in row]
        entries += map(float, one.output_bias)
    step = 1e-6
    derivatives = []
    for change in step * numpy.identity(len(entries)):
        after = form_of_outputs(layers, entries + change, X, G, skip)
        before = form_of_outputs(layers, entries - change, X, G, skip)
        derivatives.append((after - before) / (2 * step))
    # The letters of a head may stand in another order.
    assert sorted(gradient) == pytest.approx(sorted(derivatives), rel=1e-5, abs=1e-6)


def test_the_primes_have_roots_and_prove_that_they_are_new() -> None:
    random = Random(5)
    layers = [layer(random, norm="layer") for _ in range(3)]
    prime = series._prime_with_roots(layers, skip=True, softmax=True)
    ten = EPSILON.denominator * EPSILON.numerator
    assert pow(ten, (prime - 1) // 2, prime) == 1
    assert series._first_without_root(layers, prime, skip=True, softmax=True) is None
    assert series._new_roots(layers) == {0, 1, 2}
    # Without constants all variances are those of the token 0.
    plain = [layer(random, norm="rms", constants=False) for _ in range(3)]
    assert series._new_roots(plain) == {0}


def test_a_root_that_is_not_proved_to_be_new_decides_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A variance plus ε that is a square: no prime shows that its root is new."""
    random = Random(5)
    monkeypatch.setattr(series, "_MAX_PRIMES", 60)
    first = layer(random, d=2, norm="layer")
    values = [{**first.heads[0], "V": [[Fraction(0)] * 3]}]
    zero = AffineLayer(
        width=2,
        heads=tuple(values),
        output_bias=(Fraction(3, 10), Fraction(-3, 10)),
        norm="rms",
        gamma=first.gamma,
        beta=(Fraction(0), Fraction(0)),
    )
    # The tokens between the layers are (3/10, −3/10): with ε = 0.07 the variance plus ε is 0.4².
    other = replace(zero, epsilon=Fraction(7, 100))
    with pytest.raises(TooLargeError, match="no prime is found"):
        rank_near_zero(False, True, [other, other], 4)
    assert rank_near_zero(False, True, [zero, zero], 4) >= 0


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(9, 10**8), Fraction(4, 25)])
def test_an_epsilon_that_is_a_square_has_its_root(epsilon: Fraction) -> None:
    """As in BERT and T5: the rank is that in balls, with the real root."""
    random = Random(3)
    one = layer(random, d=2, norm="rms", constants=False)
    layers = [replace(one, epsilon=epsilon), replace(one, epsilon=epsilon)]
    assert series._new_roots(layers) == set()
    parameters = sum(one.parameters for one in layers)
    in_balls = rank_in_balls(Balls((1,) * TOKENS), True, layers, parameters)
    assert rank_near_zero(True, True, layers, parameters) == in_balls


def test_biases_that_are_zero_leave_the_token_zero() -> None:
    """As in a model that is not trained."""
    random = Random(3)
    one = layer(random, d=2, norm="layer")
    zero = (Fraction(0), Fraction(0))
    values = [{**head, "V": [[*row[:-1], Fraction(0)] for row in head["V"]]} for head in one.heads]
    plain = replace(one, heads=tuple(values), output_bias=zero, beta=zero)
    assert series._new_roots([plain, plain, one, plain]) == {0, 3}


@pytest.mark.parametrize("denominator", [1, 7, 10**6])
def test_the_root_of_a_square_is_the_positive_fraction(denominator: int) -> None:
    prime = 2147483647
    for numerator in (1, 3, 200):
        residue = numerator * pow(denominator, -1, prime) % prime
        assert series._is_of_positive_fraction(residue, prime)
        assert not series._is_of_positive_fraction(prime - residue, prime)
    assert series._is_small_square(Fraction(1, denominator**2))
    assert not series._is_small_square(Fraction(2, denominator**2))


def test_a_denominator_that_a_prime_divides_is_another_prime() -> None:
    with pytest.raises(series._BadPrimeError):
        series._residue(Fraction(1, 7), prime=7)
    assert series._residue(Fraction(1, 2), prime=7) == 4


@pytest.mark.slow
def test_a_network_with_more_parameters_than_balls_take_is_decided() -> None:
    """Three layers of GPT-2 with d = 8: the rank meets the bound by named symmetries."""
    random = numpy.random.default_rng(7)
    state: dict[str, Any] = {}
    for number in range(3):
        block = f"h.{number}"
        sizes = {"attn.c_attn": (8, 24), "attn.c_proj": (8, 8), "ln_1": (8,)}
        for name, size in sizes.items():
            state[f"{block}.{name}.weight"] = random.integers(-99, 99, size) / 64
            state[f"{block}.{name}.bias"] = random.integers(-99, 99, size[-1:]) / 64
    found = weights(state, heads=4, normalization="softmax", skip=True).network
    assert found is not None
    assert found.parameters == 912
    assert found.method == "modulo a prime, near the token 0"
    assert (found.rank, found.dimension.exact) == (646, 646)
    assert found.regular
