"""Networks with softmax or norms, differentiated near the token 0, modulo a prime.

Tokens are εx. Behind each layer all tokens are then a constant, the same for each of them, plus a
series in ε without constant term: so the scores of a column differ by series without constant term,
whose exponentials are series again, and 1/√(variance + e) is a series times 1/√r, where r is the
variance of the constant plus e. The coefficients of a gradient are in the span of all gradients.

They are in the field that the roots √r of all norms generate. If no r is a square in the field of
the roots before it, each choice of roots modulo a prime is a homomorphism of that field's integers,
and ranks modulo the prime are lower bounds. That an r is not a square is proved by a prime modulo
which it is not, while those before it are (docs/weights-mathematics.md, Ranks near the token 0).

Polynomials are differentiated modulo a prime, and small networks with softmax or norms, where a few
orders near 0 show less than the largest rank, in balls, by ``differential``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import isqrt
from random import Random
from typing import Any, NamedTuple

import flint

from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import TooLargeError
from m2bridge.families.deep_attention.bounds import (
    MAX_DIFFERENTIATED_PARAMETERS,
    MAX_SERIES_COEFFICIENTS,
    RANK_POINT_SEED,
    growing_rank,
)
from m2bridge.families.deep_attention.network import Balls, PowerSeries, Reals, Rows, SeriesMatrix
from m2bridge.limits import check_deadline_in
from m2bridge.results.known import Bounds
from m2bridge.trained_weights.networks.differential import (
    PRECISIONS,
    TOKENS,
    AffineLayer,
    gradients_of,
    rank_in_balls,
    rank_modulo_prime,
    small,
)

_MAX_PRIMES = 4096
"""How many primes are tried until roots exist, and are proved not to lie in the field."""

MAX_NUMERATOR = 256
"""The largest numerator of a root of ε that is taken for rational: 1 for ε = 10^−6 or 10^−12."""


class _NoRootError(ArithmeticError):
    """A constant is not a square modulo the prime."""


class _BadPrimeError(ArithmeticError):
    """A constant is 0 modulo the prime, or a denominator is."""


@dataclass(frozen=True, slots=True)
class _Germ:
    """A *germ*: a series in ε modulo a prime, cut off after ``length`` coefficients, with the
    operations that a norm needs.
    """

    series: Any
    length: int
    prime: int

    def _with_series(self, series: Any) -> _Germ:
        """Return a germ of another series."""
        return _Germ(series, self.length, self.prime)

    def __add__(self, other: Any) -> _Germ:
        """Return the sum with a germ or with a residue, which is a constant."""
        return self._with_series(
            self.series + (other.series if isinstance(other, _Germ) else other)
        )

    def __sub__(self, other: _Germ) -> _Germ:
        """Return the difference of two germs."""
        return self._with_series(self.series - other.series)

    def __mul__(self, other: _Germ) -> _Germ:
        """Return the product of two germs."""
        return self._with_series(self.series.mul_low(other.series, self.length))

    def __truediv__(self, number: int) -> _Germ:
        """Return the germ divided by an integer, which is not 0 modulo the prime."""
        return self._with_series(self.series * pow(number, -1, self.prime))

    def __rtruediv__(self, number: int) -> _Germ:
        """Return an integer divided by this germ, whose constant term is not 0."""
        return self._with_series(self.series.inverse_series_trunc(self.length) * number)

    def sqrt(self) -> _Germ:
        """Return the root whose constant term is the residue of a positive fraction, if one is of a
        small fraction; so the root of a small rational square is the real one.
        """
        constant = int(self.series[0])
        if not constant:
            raise _BadPrimeError
        # Euler's criterion for squares modulo a prime.
        if pow(constant, (self.prime - 1) // 2, self.prime) != 1:
            raise _NoRootError
        root = int(flint.nmod(constant, self.prime).sqrt())
        if not _is_of_positive_fraction(root, self.prime):
            root = self.prime - root
        value = flint.nmod_poly([root], self.prime)
        half = pow(2, -1, self.prime)
        terms = 1
        while terms < self.length:
            # Newton's iteration value ↦ (value + series/value)/2 doubles the correct terms.
            terms = min(2 * terms, self.length)
            quotient = self.series.mul_low(value.inverse_series_trunc(terms), terms)
            value = (value + quotient) * half
        return self._with_series(value)


def _is_of_positive_fraction(residue: int, prime: int) -> bool:
    """Return whether Euclid's algorithm writes a residue as a positive fraction: if it is one whose
    numerator is at most ``MAX_NUMERATOR``, and whose denominator is below the prime divided by
    twice this number, that is the fraction.
    """
    (larger, of_larger), (smaller, of_smaller) = (prime, 0), (residue, 1)
    # each pair (n, m) has n = m · residue modulo the prime
    while smaller > MAX_NUMERATOR:
        quotient = larger // smaller
        (larger, of_larger), (smaller, of_smaller) = (
            (smaller, of_smaller),
            (larger - quotient * smaller, of_larger - quotient * of_smaller),
        )
    return of_smaller > 0


@dataclass(frozen=True, slots=True)
class _GermMatrix(SeriesMatrix):
    """A matrix of series whose entries are germs."""

    def table(self) -> list[list[_Germ]]:
        """Return the rows of germs."""
        return [[_Germ(entry, self.length, self.prime) for entry in row] for row in self.rows]


@dataclass(frozen=True, slots=True)
class _NearZero(PowerSeries):
    """The number system GF(p)[ε]/(ε^length) for layers with softmax or without, at tokens that are
    equal for ε = 0.
    """

    softmax: bool = True

    def matrix(self, rows: Rows) -> _GermMatrix:
        """Return the matrix with these entries: all of them germs, or all of them residues."""
        if isinstance(rows[0][0], _Germ):
            series = [[germ.series for germ in row] for row in rows]
            return _GermMatrix.of(series, self.length, self.prime)
        constant = flint.nmod_mat([list(row) for row in rows], self.prime)
        return _GermMatrix({0: constant}, self.length, self.prime)

    def near_zero(self, X: SeriesMatrix) -> SeriesMatrix:
        """Return εX for a matrix X of constants, which has the coefficient of ε^0 alone."""
        constant = X.coefficients[0]
        coefficients = {1: constant} if self.length > 1 else {0: constant * 0}
        return replace(X, coefficients=coefficients)

    def normalized(self, scores: SeriesMatrix) -> SeriesMatrix:
        """Return the normalized scores σ(Z) of the matrix Z of ``scores``; Z without softmax.

        The first row is subtracted from all rows, which does not change σ(Z): the differences have
        no constant terms, of which there would be no exponentials modulo a prime.
        """
        if not self.softmax:
            return scores
        rows = scores.rows
        first = rows[0]
        differences = [[x - y for x, y in zip(row, first, strict=True)] for row in rows]
        return PowerSeries.normalized(self, SeriesMatrix.of(differences, self.length, self.prime))

    def scores_pullback(self, normalized: SeriesMatrix, covector: SeriesMatrix) -> SeriesMatrix:
        """Return the pullback of a linear form on the normalized scores σ(Z) to the scores Z."""
        if not self.softmax:
            return covector
        return PowerSeries.scores_pullback(self, normalized, covector)

    def _shifted(self, series: Any) -> Any:
        """Return the series of a score as it is: :class:`PowerSeries` multiplies it by its variable
        here, and scores of tokens εx have ε already.
        """
        return series


def check_few_parameters(parameters: int) -> None:
    """Check that a network has no more parameters than ranks are computed for: TooLargeError."""
    if parameters > MAX_DIFFERENTIATED_PARAMETERS:
        raise TooLargeError(
            "the rank of layers with biases, norms or shared keys is computed for up to"
            f" {MAX_DIFFERENTIATED_PARAMETERS} parameters"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentialRanks:
    """Bounds for ranks of the differential of a network; ``None`` if not known, or not needed."""

    method: str  # how they were computed, or why they were not
    at_weights: int | None = None  # a lower bound
    most_at_weights: int | None = None  # an upper bound
    at_random: int | None = None  # a lower bound at random weights behind the same norms

    def bounds_of_dimension(self) -> list[Bounds]:
        """Return the lower bounds for the dimension of the functions that these ranks are."""
        reason = f"the rank of the differential {self.method}"
        ranks = [rank for rank in (self.at_weights, self.at_random) if rank is not None]
        return [Bounds.at_least(rank, reason) for rank in ranks]


def differential_ranks(
    layers: Sequence[AffineLayer],
    *,
    skip: bool,
    softmax: bool,
    most: int,
    most_at_weights: int | None,
) -> DifferentialRanks:
    """Return lower bounds for the rank of the differential, at the weights and at random ones, by
    upper bounds for the rank at any weights, and, if one is known, at these.
    """
    # Without softmax and norms the functions are polynomials.
    if not (softmax or any(layer.norm for layer in layers)):
        compute = partial(_rank_of_polynomials, skip)
    else:
        compute = partial(_rank_of_functions, skip, softmax)
    found = compute(layers, most if most_at_weights is None else min(most, most_at_weights))
    at_random = None
    # Where the rank is the largest of any weights, it is the dimension.
    if found.rank != most:
        random = Random(RANK_POINT_SEED)
        random_layers = [layer.drawn(partial(small, random)) for layer in layers]
        at_random = compute(random_layers, most).rank
    return DifferentialRanks(
        method=found.method,
        at_weights=found.rank,
        most_at_weights=most_at_weights,
        at_random=at_random,
    )


class _RankByMethod(NamedTuple):
    """A lower bound for a rank, and how it was computed, as a clause."""

    rank: int
    method: str


def _rank_of_polynomials(skip: bool, layers: Sequence[AffineLayer], upper: int) -> _RankByMethod:
    """Return the rank, at most ``upper``, of lightning attention without norms."""
    return _RankByMethod(rank_modulo_prime(skip, layers, upper), f"modulo {LARGE_PRIME}")


def _rank_of_functions(
    skip: bool, softmax: bool, layers: Sequence[AffineLayer], upper: int
) -> _RankByMethod:
    """Return a rank, at most ``upper``, of a network with softmax or norms.

    Few orders near the token 0 may show less than the rank. Then balls, which are slower, look for
    more in a small network.
    """
    # Balls take some seconds for so many parameters.
    is_small = sum(layer.parameters for layer in layers) <= 400
    near_zero = _RankByMethod(0, "")
    try:
        rank = rank_near_zero(skip, softmax, layers, upper)
        near_zero = _RankByMethod(rank, "modulo a prime, near the token 0")
    except TooLargeError:
        if not is_small:
            raise
    if not is_small or near_zero.rank == upper:
        return near_zero
    # Each token counts once in the sums of softmax.
    numbers = Balls((1,) * TOKENS) if softmax else Reals()
    in_balls = rank_in_balls(numbers, skip, layers, upper, known=near_zero.rank)
    if near_zero.method and in_balls == near_zero.rank:
        return near_zero
    return _RankByMethod(in_balls, f"in balls of up to {PRECISIONS[-1]} bits")


def rank_near_zero(skip: bool, softmax: bool, layers: Sequence[AffineLayer], upper: int) -> int:
    """Return a lower bound for the rank of the differential of a network with softmax or norms, at
    most ``upper``. TooLargeError if there are too many coefficients, or no prime is found.
    """
    parameters = sum(layer.parameters for layer in layers)
    # A layer of lightning attention is of degree 3 in the tokens: without skip connections the
    # outputs of l layers are of order 3^l in ε, and series need 3^l + 1 coefficients to see them.
    orders = 4 if skip else int(3 ** len(layers)) + 1
    if orders * parameters * upper > MAX_SERIES_COEFFICIENTS:
        raise TooLargeError(
            "the rank of several layers with softmax or norms takes too many coefficients of series"
            f" for {parameters} parameters"
        )
    if upper == 0:
        return 0
    prime = _prime_with_roots(layers, skip=skip, softmax=softmax)
    rank = 0
    # Too few coefficients may show less than the rank: their number is doubled once.
    for doublings in range(2):
        length = orders * 2**doublings
        rows = _gradients_near_zero(layers, length, prime, skip=skip, softmax=softmax)
        rank = growing_rank(rows, length, upper=upper, prime=prime)
        if rank == upper:
            break
    return rank


def _gradients_near_zero(
    layers: Sequence[AffineLayer], length: int, prime: int, *, skip: bool, softmax: bool
) -> Iterator[list[Any]]:
    """Yield gradients at random tokens εx, as lists of series with ``length`` coefficients modulo
    the prime, without end. Where roots or denominators fail, the errors above come when a gradient
    is asked for.
    """
    # Each token counts once in the sums of softmax.
    numbers = _NearZero(prime, length, multiplicities=(1,) * TOKENS, softmax=softmax)
    draw = partial(Random(RANK_POINT_SEED).randrange, prime)
    return gradients_of(
        layers,
        skip=skip,
        numbers=numbers,
        read=partial(_residue, prime=prime),
        draw=draw,
        placed_at=numbers.near_zero,
    )


def _residue(number: Any, *, prime: int) -> int:
    """Return a fraction modulo a prime."""
    number = Fraction(number)
    if number.denominator % prime == 0:
        raise _BadPrimeError
    return int(number.numerator * pow(number.denominator, -1, prime) % prime)


def _prime_with_roots(layers: Sequence[AffineLayer], *, skip: bool, softmax: bool) -> int:
    """Return a prime modulo which the number r_k, whose root the norm of layer k takes at the token
    0, is a square for each k; other primes prove that no new r_k is a square in the field of the
    roots before it. TooLargeError if none is found.
    """
    # Numbers of layers k, from 0 on, of which r_k is new, and of which it is proved.
    to_prove = _new_roots(layers)
    proved: set[int] = set()
    # The first prime modulo which all r_k are squares, once it is found.
    with_all_roots = None
    prime = LARGE_PRIME
    # Where n roots are independent, one prime in 2^n has all of them, and as many prove each one.
    # If none of 16 · 2^n primes does, whose probability is e^−16, a root is most likely not new.
    number_of_primes = min(16 * 2 ** len(to_prove), _MAX_PRIMES)
    for _ in check_deadline_in(range(number_of_primes)):
        # A prime that divides a constant or a denominator shows nothing.
        with suppress(_BadPrimeError):
            number = _first_without_root(layers, prime, skip=skip, softmax=softmax)
            if number is not None:
                proved.add(number)
            elif with_all_roots is None:
                with_all_roots = prime
        if with_all_roots is not None and to_prove <= proved:
            return with_all_roots
        prime -= 1
        while not flint.fmpz(prime).is_prime():
            prime -= 1
    raise TooLargeError("no prime is found modulo which the roots of all norms are known")


def _new_roots(layers: Sequence[AffineLayer]) -> set[int]:
    """Return the numbers of layers, from 0 on, whose norm takes a root that no earlier norm takes.

    Until a layer adds a constant to the token 0 all variances are 0, and the norms take the same
    root, of the number ε added to the variance, which is one for all layers. Where that is a small
    rational square its root is taken as the real one.
    """
    new: set[int] = set()
    token_is_zero = True
    for number, layer in enumerate(layers):
        is_known = token_is_zero and (bool(new) or _is_small_square(layer.epsilon))
        if layer.norm and not is_known:
            new.add(number)
        # V has one more column if it has a bias, which may be zero
        bias_of_V = [row[-1] for head in layer.heads for row in head["V"] if len(row) > layer.width]
        adds_constant = any(layer.beta) or any(layer.output_bias) or any(bias_of_V)
        token_is_zero = token_is_zero and not adds_constant
    return new


def _is_small_square(epsilon: Fraction) -> bool:
    """Return whether a number is the square of a fraction that its residues determine."""
    numerator, denominator = isqrt(epsilon.numerator), isqrt(epsilon.denominator)
    is_square = numerator**2 == epsilon.numerator and denominator**2 == epsilon.denominator
    # half of the largest prime that is tried, as the smallest is not much smaller
    is_determined = 4 * MAX_NUMERATOR * denominator < LARGE_PRIME
    return is_square and numerator <= MAX_NUMERATOR and is_determined


def _first_without_root(
    layers: Sequence[AffineLayer], prime: int, *, skip: bool, softmax: bool
) -> int | None:
    """Return the number, from 0 on, of the first layer whose r_k is no square modulo the prime;
    ``None`` if all of them are squares.

    The roots are taken by differentiating the first layers with series of length 1, constants.
    """
    for number in range(len(layers)):
        first_layers = layers[: number + 1]
        gradients = _gradients_near_zero(
            first_layers, length=1, prime=prime, skip=skip, softmax=softmax
        )
        # The first gradient takes all roots.
        try:
            next(gradients)
        except _NoRootError:
            # The layers before it have their roots, as else the loop had ended.
            return number
    return None
