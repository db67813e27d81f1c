"""Polynomial networks whose activation is a polynomial and not a power, such as x² + x.

Without scalings of hidden neurons only permutations are known to keep all functions. Functions are
not homogeneous: coordinates are their coefficients in all degrees that occur.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, Any, Self

from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.families.polynomial_network.bounds import Widths, best_bound
from m2bridge.families.polynomial_network.model import PolynomialNetwork
from m2bridge.maps.model import Expectation
from m2bridge.results.known import Bounds

if TYPE_CHECKING:
    from m2bridge.maps.jacobian_rank import ObservedRank

MAX_POLYNOMIAL_DEGREE = 1000
MAX_ABSOLUTE_COEFFICIENT = 10**9
# The degrees of more monomials are not listed; then the number of weights is the smaller bound.
MAX_LISTED_DEGREE = 10_000

_TERM = r"(?:[0-9]{1,10}(?:\*?x(?:\^[0-9]{1,4})?)?|x(?:\^[0-9]{1,4})?)"
_POLYNOMIAL = re.compile(rf"[+-]?{_TERM}(?:[+-]{_TERM})*")
_SIGNED_TERM = re.compile(r"([+-]?)(?=[0-9x])([0-9]*)\*?(x?)(?:\^([0-9]+))?")


def read_activation(text: str) -> tuple[int, ...]:
    """Return the coefficients a_0, a_1, … of a polynomial in x with integer coefficients.

    Raises
    ------
    ValueError
        If the text does not have the form of ``x^2 + 3*x - 1``.
    """
    written = text.replace(" ", "").replace("**", "^")
    if not _POLYNOMIAL.fullmatch(written):
        raise ValueError(f"'{text:.60}' is not a polynomial such as x^2 + 3*x - 1")
    coefficients: dict[int, int] = {}
    for sign, number, variable, power in _SIGNED_TERM.findall(written):
        exponent = int(power or 1) if variable else 0
        coefficient = int(number or 1) * (-1 if sign == "-" else 1)
        coefficients[exponent] = coefficients.get(exponent, 0) + coefficient
    return tuple(coefficients.get(exponent, 0) for exponent in range(max(coefficients) + 1))


def checked_activation(values: object) -> tuple[int, ...]:
    """Return the coefficients a_0, …, a_r of an activation that is not a power.

    Raises
    ------
    InvalidCaseError
        If these are not integers, the polynomial is linear, too large, or a multiple of a power.
    """
    if isinstance(values, str):
        try:
            values = read_activation(values)
        except ValueError as reason:
            raise InvalidCaseError("activation", str(reason)) from None
    if not isinstance(values, Iterable):
        raise InvalidCaseError("activation", f"must be a polynomial in x, not {values!r:.60}")
    listed = list(values)
    for value in listed:
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidCaseError("activation", f"has a coefficient {value!r:.60}: use integers")
        if abs(value) > MAX_ABSOLUTE_COEFFICIENT:
            message = f"has a coefficient above {MAX_ABSOLUTE_COEFFICIENT}"
            raise InvalidCaseError("activation", message)
    while listed and listed[-1] == 0:
        listed.pop()
    degree = len(listed) - 1
    if not 2 <= degree <= MAX_POLYNOMIAL_DEGREE:
        message = f"must have a degree from 2 to {MAX_POLYNOMIAL_DEGREE}, not {max(degree, 0)}"
        raise InvalidCaseError("activation", message)
    if not any(listed[:-1]):
        message = f"is a multiple of a power: leave it out, and take degree {degree}"
        raise InvalidCaseError("activation", message)
    return tuple(listed)


@dataclass(frozen=True, slots=True, init=False)
class ActivatedNetwork(PolynomialNetwork):
    """The model x ↦ W_l σ(W_{l−1} … σ(W_1 x)) with an activation polynomial σ, entry by entry.

    The function coordinates are the coefficients of its d_l outputs in all degrees: ``f_k_2_0_1``
    is the coefficient of x_1²·x_3 in output k. There are no biases; one is an input that is
    constant.

    Parameters
    ----------
    widths : iterable of int
        d_0, …, d_l; at least two.
    activation : str or iterable of int
        σ as a text in x, or its coefficients a_0, a_1, …: integers.
    degree : int, optional
        The degree of σ, if it is to be compared.

    Raises
    ------
    InvalidCaseError
        As for :class:`~m2bridge.families.polynomial_network.model.PolynomialNetwork`; if σ is
        linear or a multiple of a power, or does not have the given degree.

    Examples
    --------
    >>> network = ActivatedNetwork([1, 1, 1], "x^2 + x")
    >>> network.coordinate_names(), network.parametrization().images
    (('f_1_2', 'f_1_1'), (W_1_1_1**2*W_2_1_1, W_1_1_1*W_2_1_1))
    """

    activation: tuple[int, ...]

    def __init__(
        self, widths: Iterable[int], activation: str | Iterable[int], degree: int | None = None
    ) -> None:
        coefficients = checked_activation(activation)
        of_activation = len(coefficients) - 1
        if degree not in (None, of_activation):
            message = f"has degree {of_activation}: add --degree {of_activation}"
            raise InvalidCaseError("activation", message)
        PolynomialNetwork.__init__(self, widths, of_activation)
        object.__setattr__(self, "activation", coefficients)

    @classmethod
    def from_key(cls, key: str) -> Self:
        """The network with this key, such as ``2-2-1-p0_1_1`` for x² + x; ``m`` is a minus."""
        number = "[1-9][0-9]{0,8}"
        match = re.fullmatch(rf"({number}(?:-{number})+)-p(m?[0-9]+(?:_m?[0-9]+)*)", key)
        if match is None:
            message = f"'{key}' does not name a polynomial network: write 2-2-1-p0_1_1"
            raise InvalidCaseError("key", message)
        coefficients = match[2].replace("m", "-").split("_")
        return cls(map(int, match[1].split("-")), map(int, coefficients))

    @property
    def key(self) -> str:
        """The name of the case, such as ``2-2-1-p0_1_1``."""
        coefficients = "_".join(map(str, self.activation)).replace("-", "m")
        return f"{'-'.join(map(str, self.widths))}-p{coefficients}"

    @property
    def title(self) -> str:
        """The architecture of the network in words."""
        shape = f"widths ({', '.join(map(str, self.widths))}) and activation {self._polynomial()}"
        return f"polynomial neural network of {shape}"

    def _polynomial(self) -> str:
        """Return the activation as text, such as ``x^2 + x``."""
        terms = []
        for exponent, coefficient in enumerate(self.activation):
            power = {0: "", 1: "x"}.get(exponent, f"x^{exponent}")
            size = str(abs(coefficient))
            if power:
                size = "" if size == "1" else f"{size}*"
            if coefficient:
                terms.append(("-" if coefficient < 0 else "+", f"{size}{power}"))
        (first, text), *others = reversed(terms)
        for sign, term in others:
            text += f" {sign} {term}"
        return text if first == "+" else f"-{text}"

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of the case."""
        return {**PolynomialNetwork.to_json(self), "activation": list(self.activation)}

    @property
    def coordinate_count(self) -> int:
        """The number of coefficients, those of all monomials whose degrees can occur."""
        degrees = possible_degrees(len(self.widths) - 1, self.activation)
        if degrees is None:  # more than can be written down: those of at most this degree
            inputs = self.input_count
            return self.output_count * comb(inputs + self.function_degree, inputs)
        return _coordinates(self.widths, degrees)

    def grading(self) -> None:
        """Return None: the functions are not homogeneous."""

    def gauge_dimension(self) -> int:
        """Return 0: only permutations of hidden neurons are known to keep all functions."""
        return 0

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        """Return the best bound of docs/polynomial_networks.md that holds for every activation."""
        return (activation_bound(self.widths, self.activation, characteristic),)

    def expectations(self) -> tuple[Expectation, ...]:
        """Return the number of weights, or of coefficients if that is smaller."""
        expected = min(self.parameter_count, self.coordinate_count)
        source = "weights and coefficients (docs/polynomial_networks.md)"
        assumes = "assumes that generic functions have finitely many preimages"
        return (Expectation(expected, source, assumes=assumes),)

    def activated(self, z: Sequence[int], prime: int) -> tuple[list[int], list[int]]:
        """Return the values and the slopes of σ at the entries modulo a prime, by Horner."""
        values, slopes = [0] * len(z), [0] * len(z)
        for coefficient in reversed(self.activation):
            slopes = [(s * x + v) % prime for s, v, x in zip(slopes, values, z, strict=True)]
            values = [(v * x + coefficient) % prime for v, x in zip(values, z, strict=True)]
        return values, slopes

    @property
    def has_power_activation(self) -> bool:
        """False: statements about dimensions assume a power."""
        return False

    def observe(self, observables: Collection[str], *, certified: bool = False) -> ObservedRank:
        """The dimension, by exact ranks and upper bounds, without Macaulay2.

        Raises
        ------
        MethodUnavailableError
            If it is for a certificate: no statement with one is about these networks.
        """
        from m2bridge.maps.jacobian_rank import observe_rank  # imports FLINT

        if certified:
            raise MethodUnavailableError(
                "no certificate is about activations that are not powers: 'dimension' computes"
                " the dimension"
            )
        return observe_rank(self)

    def activated_expression(self, entry: Any) -> Any:
        """Return σ of an element of a ring."""
        value = entry * 0
        for coefficient in reversed(self.activation):
            value = value * entry + coefficient
        return value


def possible_degrees(layers: int, activation: Sequence[int]) -> frozenset[int] | None:
    """Return the degrees of monomials that can occur in the outputs; ``None`` if too large."""
    if (len(activation) - 1) ** (layers - 1) > MAX_LISTED_DEGREE:
        return None
    exponents = [exponent for exponent, coefficient in enumerate(activation) if coefficient]
    degrees = frozenset((1,))
    for _ in range(layers - 1):
        sums = frozenset((0,))  # of as many degrees as the exponent says
        found: frozenset[int] = frozenset()
        for exponent in range(max(exponents) + 1):
            if exponent in exponents:
                found |= sums
            sums = frozenset(a + b for a in sums for b in degrees)
        degrees = found
    return degrees


def _coordinates(widths: Sequence[int], degrees: Iterable[int]) -> int:
    """The number of monomials of these degrees in the inputs, for each output."""
    return widths[-1] * sum(comb(widths[0] - 1 + degree, degree) for degree in degrees)


def activation_bound(widths: Widths, activation: Sequence[int], characteristic: int = 0) -> Bounds:
    """Return the least bound for the dimension that holds for this activation polynomial.

    These are the bounds 2, 5 and 6 of theorem-network-bounds, the number of weights, the sum of the
    bounds of two parts, that by the terms of one degree, and that of lemma-odd-cubic.
    """
    exponents = [exponent for exponent, coefficient in enumerate(activation) if coefficient]
    is_odd_cubic = exponents == [1, 3]

    @cache
    def bound(part: Widths) -> Bounds:
        return min(candidates(part), key=lambda one: one.value)

    def candidates(part: Widths) -> Iterator[Bounds]:
        """Yield the bounds of a part by each argument, and by those of its parts."""
        first, second = part[:2]
        before, last = part[-2:]
        weights = sum(inputs * outputs for inputs, outputs in pairwise(part))
        yield Bounds.at_most(weights, "the number of weights")
        degrees = possible_degrees(len(part) - 1, activation)
        if degrees is not None:
            count = _coordinates(part, degrees)
            yield Bounds.at_most(count, "the number of coefficients")
        if second < first:
            value = second * (first - second) + bound((second, *part[1:])).value
            yield Bounds.at_most(value, f"every function depends on {second} linear forms only")
        if before < last:
            value = before * (last - before) + bound((*part[:-1], before)).value
            yield Bounds.at_most(value, f"the outputs span a space of dimension at most {before}")
        for i in range(1, len(part) - 1):
            left, right = bound(part[: i + 1]).value, bound(part[i:]).value
            reason = f"composition at the hidden layer {i}: at most {left} + {right}"
            yield Bounds.at_most(left + right, reason)
        if len(part) == 3:
            for exponent in filter(None, exponents):
                power = best_bound(part, exponent, characteristic).value
                others = _coordinates(part, [other for other in exponents if other != exponent])
                reason = f"terms of degree {exponent} have dimension at most {power}"
                yield Bounds.at_most(power + others, f"{reason}, and there are {others} others")
        if part == (2, 3, 2) and is_odd_cubic:
            yield Bounds.at_most(11, "an equation between cubic and linear parts of the outputs")

    return bound(tuple(widths))
