"""Polynomial networks whose activation is a polynomial and not a power, such as x² + x.

Hidden neurons cannot be scaled: permutations of them, and changes of their signs for an odd or even
activation, are all that is known to keep all functions. These are not homogeneous: coordinates are
their coefficients in all degrees that occur.

An activation σ = a_0 + a_1 x + … + a_r x^r is given by the tuple (a_0, …, a_r) of its coefficients,
integers; x² + x is (0, 1, 1). A network has widths d_0, …, d_l, and l layers. A
:class:`~m2bridge.results.known.Bounds` has a ``value`` and its reason in words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from math import comb, inf
from numbers import Integral
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self

from m2bridge.errors import InvalidCaseError, MethodUnavailableError, elements
from m2bridge.families.polynomial_network.bounds import (
    Widths,
    best_bound,
    bounds_by_few_inputs_or_outputs,
)
from m2bridge.families.polynomial_network.model import PolynomialNetwork
from m2bridge.limits import check_deadline_in
from m2bridge.maps.model import Expectation
from m2bridge.results.known import Bounds

if TYPE_CHECKING:
    from m2bridge.maps.jacobian_rank import ObservedRank

MAX_POLYNOMIAL_DEGREE = 1000
MAX_ABSOLUTE_COEFFICIENT = 10**9

# x or x^2
_POWER = r"x(?:\^[0-9]{1,4})?"
# 3, 3x, 3*x^2 or x^2
_TERM = rf"(?:[0-9]{{1,10}}(?:\*?{_POWER})?|{_POWER})"
_POLYNOMIAL = re.compile(rf"[+-]?{_TERM}(?:[+-]{_TERM})*")
_DIGITS_APART = re.compile("[0-9] +[0-9]")
# A term of a polynomial: the sign, the number, x, and the exponent; each of them may be empty.
_SIGNED_TERM = re.compile(
    r"""
    ([+-]?)
    (?=[0-9x])          # no term is empty
    ([0-9]*) \*? (x?)
    (?:\^ ([0-9]+))?
    """,
    re.VERBOSE,
)


def read_activation(text: str) -> tuple[int, ...]:
    """Return the coefficients a_0, a_1, … of a polynomial in x; or ValueError."""
    # both spellings of a power are accepted
    polynomial = text.replace("**", "^").replace(" ", "")
    # without the space between two digits they would be one number
    if _DIGITS_APART.search(text) or not _POLYNOMIAL.fullmatch(polynomial):
        raise ValueError(f"'{text:.60}' is not a polynomial such as x^2 + 3*x - 1")
    coefficients: dict[int, int] = {}
    for sign, number, variable, power in _SIGNED_TERM.findall(polynomial):
        # x is x^1, and x^2 is 1*x^2; a number alone has the exponent 0
        exponent = int(power or 1) if variable else 0
        coefficient = int(number or 1) * (-1 if sign == "-" else 1)
        coefficients[exponent] = coefficients.get(exponent, 0) + coefficient
    degree = max(coefficients)
    return tuple(coefficients.get(exponent, 0) for exponent in range(degree + 1))


def checked_activation(values: object) -> tuple[int, ...]:
    """Return the coefficients a_0, …, a_r, a_r ≠ 0, of an activation that is not a power, from
    coefficients or a text as :func:`read_activation` takes it.
    """
    if isinstance(values, str):
        try:
            values = read_activation(values)
        except ValueError as reason:
            raise InvalidCaseError("activation", str(reason)) from None
    coefficients = _integer_coefficients(values)
    # the last coefficient is to belong to the largest power
    while coefficients and coefficients[-1] == 0:
        coefficients.pop()
    # −1 for the polynomial zero
    degree = len(coefficients) - 1
    if not 2 <= degree <= MAX_POLYNOMIAL_DEGREE:
        message = f"must have a degree from 2 to {MAX_POLYNOMIAL_DEGREE}, not {max(degree, 0)}"
        raise InvalidCaseError("activation", message)
    lower_coefficients = coefficients[:-1]
    if not any(lower_coefficients):
        message = f"is a multiple of a power: leave it out, and take degree {degree}"
        raise InvalidCaseError("activation", message)
    return tuple(coefficients)


def _integer_coefficients(values: object) -> list[int]:
    """Return values as a list of integers up to MAX_ABSOLUTE_COEFFICIENT, or InvalidCaseError."""
    # A mapping from exponents would yield its keys, and a set has no order.
    requirement = "a polynomial in x, or the list of its coefficients a_0, a_1, …"
    if isinstance(values, Mapping | Set):
        raise InvalidCaseError("activation", f"must be {requirement}, not {values!r:.60}")
    coefficients = []
    for value in elements("activation", values, requirement):
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise InvalidCaseError("activation", f"has a coefficient {value!r:.60}: use integers")
        coefficient = int(value)  # integers of SymPy and NumPy too
        if abs(coefficient) > MAX_ABSOLUTE_COEFFICIENT:
            message = f"has a coefficient above {MAX_ABSOLUTE_COEFFICIENT}"
            raise InvalidCaseError("activation", message)
        coefficients.append(coefficient)
    return coefficients


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
        activation_degree = len(coefficients) - 1
        is_degree = isinstance(degree, Integral) and degree == activation_degree
        if degree is not None and not is_degree:
            message = f"has degree {activation_degree}: add --degree {activation_degree}"
            raise InvalidCaseError("activation", message)
        PolynomialNetwork.__init__(self, widths, activation_degree)
        object.__setattr__(self, "activation", coefficients)

    @classmethod
    def from_key(cls, key: str) -> Self:
        """Return the network with this key; InvalidCaseError if none has it.

        ``2-2-1-p0_m1_1`` has the widths (2, 2, 1) and the activation x² − x: the coefficients a_0,
        a_1, a_2 are 0, −1 and 1, and ``m`` is a minus.
        """
        number = "[1-9][0-9]{0,8}"
        entry = "m?[0-9]{1,10}"
        match = re.fullmatch(rf"({number}(?:-{number})+)-p({entry}(?:_{entry})*)", key)
        if match is not None:
            widths = match[1].split("-")
            coefficients = match[2].replace("m", "-").split("_")
            network = cls(map(int, widths), map(int, coefficients))
            # one key for each network: no zeros in front or at the end, and no −0
            if network.key == key:
                return network
        message = f"'{key}' does not name a polynomial network: write 2-2-1-p0_1_1"
        raise InvalidCaseError("key", message)

    @property
    def key(self) -> str:
        """The name of the case, such as ``2-2-1-p0_1_1``; ``m`` is a minus, as in ``p0_m1_1``."""
        coefficients = "_".join(map(str, self.activation)).replace("-", "m")
        return f"{'-'.join(map(str, self.widths))}-p{coefficients}"

    @property
    def title(self) -> str:
        """The architecture of the network in words."""
        shape = f"widths ({', '.join(map(str, self.widths))}) and activation {self._polynomial()}"
        return f"polynomial neural network of {shape}"

    def _polynomial(self) -> str:
        """Return the activation as text, such as ``-x^2 + 3*x``: the largest exponent first."""
        signed_terms = []
        for exponent, coefficient in enumerate(self.activation):
            if coefficient == 0:
                continue
            power = {0: "", 1: "x"}.get(exponent, f"x^{exponent}")
            number = str(abs(coefficient))
            # 1*x^2 is written x^2; a constant stands alone
            if power != "":
                number = "" if number == "1" else f"{number}*"
            sign = "-" if coefficient < 0 else "+"
            signed_terms.append((sign, f"{number}{power}"))
        (first_sign, text), *later_terms = reversed(signed_terms)
        for sign, term in later_terms:
            text += f" {sign} {term}"
        # a plus in front is left out
        return text if first_sign == "+" else f"-{text}"

    def to_json(self) -> dict[str, Any]:
        """Return the arguments of the network by their names, with the degree of the activation."""
        return {**PolynomialNetwork.to_json(self), "activation": list(self.activation)}

    @property
    def coordinate_count(self) -> int:
        """The number of coefficients of all outputs at the monomials whose degrees can occur.

        Where these degrees are too large to be listed, it is the number of coefficients in all
        degrees up to the largest, an upper bound.
        """
        degrees = possible_degrees(len(self.widths) - 1, self.activation)
        if degrees is None:
            inputs = self.input_count
            return self.output_count * comb(inputs + self.function_degree, inputs)
        return _coordinate_count(self.widths, degrees)

    def grading(self) -> None:
        """Return None: the functions are not homogeneous."""

    def gauge_dimension(self) -> int:
        """Return 0: only finite groups, such as permutations, are known to keep all functions."""
        return 0

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        """Return one bound for the dimension: the least of docs/polynomial-networks.md that holds
        for this activation and this ``characteristic`` of the field of the weights.
        """
        return (activation_bound(self.widths, self.activation, characteristic),)

    def expectations(self) -> tuple[Expectation, ...]:
        """Return the expected dimension: the number of weights, or of coefficients if smaller."""
        weights = self.parameter_count
        degrees = possible_degrees(len(self.widths) - 1, self.activation)
        # Where there are more coefficients than weights, they are not counted to the end: the
        # number may have very many digits. A form of degree D in two or more variables has more
        # than D coefficients.
        if degrees is not None:
            coefficients = _coordinate_count(self.widths, degrees, most=weights)
        elif self.input_count > 1 and self.function_degree > weights:
            coefficients = self.function_degree
        else:
            coefficients = self.coordinate_count
        dimension = min(weights, coefficients)
        source = "weights and coefficients (docs/polynomial-networks.md)"
        assumes = "assumes that generic functions have finitely many preimages"
        return (Expectation(dimension, source, assumes=assumes),)

    def activated(self, z: Sequence[int], prime: int) -> tuple[list[int], list[int]]:
        """Return the values and the slopes of σ at the entries of z modulo a prime.

        By Horner's rule the value v at an entry x becomes v x + a for each coefficient a, from that
        of the largest power on. So the slope s = dv/dx becomes s x + v.
        """
        values, slopes = [0] * len(z), [0] * len(z)
        for coefficient in reversed(self.activation):
            # with the values before this step
            slopes = [(s * x + v) % prime for s, v, x in zip(slopes, values, z, strict=True)]
            values = [(v * x + coefficient) % prime for v, x in zip(values, z, strict=True)]
        return values, slopes

    @property
    def has_power_activation(self) -> bool:
        """False: statements about dimensions assume a power."""
        return False

    def observe(self, observables: Collection[str], *, certified: bool = False) -> ObservedRank:
        """Return the dimension, by exact ranks and upper bounds, without Macaulay2.

        It is the only observable, so that ``observables`` are not read.

        Raises
        ------
        MethodUnavailableError
            If ``certified`` is true: no statement about these networks has certificates.
        """
        from m2bridge.maps.jacobian_rank import observe_rank  # imports FLINT

        if certified:
            raise MethodUnavailableError(
                "no certificate is about activations that are not powers: 'dimension' computes"
                " the dimension"
            )
        return observe_rank(self)

    def activated_expression(self, entry: Any) -> Any:
        """Return σ of an element of a ring, by Horner's rule."""
        value = entry * 0
        for coefficient in reversed(self.activation):
            value = value * entry + coefficient
        return value


def possible_degrees(layers: int, activation: Sequence[int]) -> frozenset[int] | None:
    """Return the degrees of monomials that can occur in the outputs; ``None`` if the largest degree
    is above 10 000, where the number of weights is the smaller bound.
    """
    largest = (len(activation) - 1) ** (layers - 1)
    if largest > 10_000:
        return None
    exponents = [exponent for exponent, coefficient in enumerate(activation) if coefficient]
    return _degrees_after_layers(layers, tuple(exponents))


# The parts of a network with equally many layers have the same degrees.
@lru_cache(maxsize=16)
def _degrees_after_layers(layers: int, exponents: tuple[int, ...]) -> frozenset[int]:
    """Return the degrees of monomials in the outputs, for the exponents of the activation: after it
    they are the sums of e degrees before it, for each exponent e.

    A set of degrees is kept as an integer whose bit e is 1 if e is in the set: all degrees of the
    set, each plus b, are this integer shifted by b.
    """
    bits = 1 << 1  # the degree 1
    for _ in range(layers - 1):
        degrees = _set_bits(bits)
        bits_after = 0
        # all sums of as many degrees as ``exponent`` says; the sum of none is 0
        sums = 1 << 0
        for exponent in check_deadline_in(range(max(exponents) + 1)):
            if exponent in exponents:
                bits_after |= sums
            longer_sums = 0
            for degree in degrees:
                longer_sums |= sums << degree
            sums = longer_sums
        bits = bits_after
    return frozenset(_set_bits(bits))


def _set_bits(bits: int) -> list[int]:
    """Return the places, from 0, of the digits 1 of a number in base 2."""
    return [place for place, digit in enumerate(reversed(f"{bits:b}")) if digit == "1"]


def _coordinate_count(widths: Sequence[int], degrees: Iterable[int], most: float = inf) -> int:
    """Return the number of coefficients of all outputs at the monomials of these degrees, or, if it
    is above ``most``, some number above ``most``.
    """
    inputs, outputs = widths[0], widths[-1]
    count = 0
    for degree in sorted(degrees):
        if count > most:
            break
        count += outputs * comb(inputs - 1 + degree, degree)
    return count


def activation_bound(widths: Widths, activation: Sequence[int], characteristic: int = 0) -> Bounds:
    """Return the least bound for the dimension that holds for this activation polynomial: of the
    bounds 2, 5 and 6 of theorem-network-bounds, the number of weights, the sum of the bounds of two
    parts, the bound by the terms of one degree, and lemma-odd-cubic.
    """

    @cache
    def least(part: Widths) -> Bounds:
        """Return the least bound for consecutive widths, the first or last perhaps reduced."""
        by_counts = _bounds_by_counts(part, activation)
        by_parts = _bounds_by_parts(part, least)
        by_degrees = _bounds_by_degrees(part, activation, characteristic)
        # of equal bounds the first is taken, whose reason is simpler
        return min((*by_counts, *by_parts, *by_degrees), key=attrgetter("value"))

    return least(tuple(widths))


def _bounds_by_counts(widths: Widths, activation: Sequence[int]) -> Iterator[Bounds]:
    """Yield the number of weights, and the number of coefficients of all degrees that can occur,
    unless it is above the number of weights, or not known.
    """
    weights = sum(inputs * outputs for inputs, outputs in pairwise(widths))
    yield Bounds.at_most(weights, "the number of weights")
    degrees = possible_degrees(len(widths) - 1, activation)
    if degrees is not None:
        count = _coordinate_count(widths, degrees, most=weights)
        # above the number of weights it may not be counted to the end, and is not the least bound
        if count <= weights:
            yield Bounds.at_most(count, "the number of coefficients")


def _bounds_by_degrees(
    widths: Widths, activation: Sequence[int], characteristic: int
) -> Iterator[Bounds]:
    """Yield the bounds by the terms of one degree, for networks with one hidden layer; else
    nothing.

    The terms of degree e of the functions belong to a network whose activation is the power e. So
    the dimension is at most the dimension of such networks, plus the number of all other
    coefficients. For widths (2, 3, 2) and σ = ax³ + bx lemma-odd-cubic has the bound 11, because of
    an equation between the terms of degrees 1 and 3.
    """
    if len(widths) != 3:
        return
    exponents = [exponent for exponent, coefficient in enumerate(activation) if coefficient]
    # a constant, exponent 0, is not a network of powers
    for exponent in filter(None, exponents):
        bound_of_power = best_bound(widths, exponent, characteristic).value
        other_exponents = [other for other in exponents if other != exponent]
        other_terms = _coordinate_count(widths, other_exponents)
        reason = f"terms of degree {exponent} have dimension at most {bound_of_power}"
        reason += f", and there are {other_terms} others"
        yield Bounds.at_most(bound_of_power + other_terms, reason)
    if widths == (2, 3, 2) and exponents == [1, 3]:
        yield Bounds.at_most(11, "an equation between cubic and linear parts of the outputs")


def _bounds_by_parts(widths: Widths, least: Callable[[Widths], Bounds]) -> Iterator[Bounds]:
    """Yield the bounds that use the bounds ``least`` of smaller networks. No torus is known that
    rescales hidden neurons and keeps the function, so the bounds of two parts are added.
    """
    yield from bounds_by_few_inputs_or_outputs(widths, least)
    for i in range(1, len(widths) - 1):
        left = least(widths[: i + 1]).value
        right = least(widths[i:]).value
        reason = f"composition at the hidden layer {i}: at most {left} + {right}"
        yield Bounds.at_most(left + right, reason)
