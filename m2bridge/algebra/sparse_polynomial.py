"""Polynomials with integer coefficients as plain Python values, and their derivatives.

An ``IntegerPolynomial`` maps the exponents of each monomial to its coefficient, as SymPy and FLINT
do. ``Terms`` list monomials by their variables, which is short where there are many variables and
low degrees: of x_0 x_2² in three variables the exponents are (1, 0, 2), and the monomial is (0, 2,
2). A monomial is packed as an integer whose digits are the exponents. A gradient maps the number of
a variable to a derivative; those left out are zero.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import compress
from math import prod
from typing import Any

from m2bridge.limits import check_deadline_in

Exponents = tuple[int, ...]
"""The exponent of each variable."""

IntegerPolynomial = dict[Exponents, int]

Monomial = tuple[int, ...]
"""The sorted numbers of the variables of a monomial, with repetition."""

Terms = tuple[tuple[Monomial, int], ...]
"""The monomials of a polynomial and their coefficients."""


def exponents_of(monomial: Monomial, variables: int) -> Exponents:
    """The exponents of a monomial that is given by its variables."""
    exponents = [0] * variables
    for j in monomial:
        exponents[j] += 1
    return tuple(exponents)


def monomial_of(exponents: Exponents) -> Monomial:
    """The variables of a monomial that is given by its exponents."""
    variables: list[int] = []
    for j, exponent in enumerate(exponents):
        variables += [j] * exponent
    return tuple(variables)


def packed(exponents: Exponents, width: int) -> int:
    """A monomial as an integer whose digits, of ``width`` bits each, are its exponents, the first
    lowest.
    """
    return sum(exponent << i * width for i, exponent in enumerate(exponents))


def gradients(
    polynomials: Iterable[IntegerPolynomial], point: Sequence[Any], prime: int = 0
) -> Iterator[dict[int, Any]]:
    """Yield for each polynomial its gradient at a point over any ring.

    With a ``prime``, powers of integer entries are taken modulo it: the derivatives are then
    congruent to the right ones, but not reduced.
    """

    @cache
    def power(i: int, exponent: int) -> Any:
        """The power of the i-th entry of the point, modulo ``prime`` if there is one."""
        return pow(point[i], exponent, prime) if prime else point[i] ** exponent

    is_zero = [not entry for entry in point]
    for polynomial in check_deadline_in(polynomials):
        gradient: dict[int, Any] = {}
        for exponents, c in check_deadline_in(polynomial.items()):
            # The derivative of a monomial with respect to x_i keeps the powers of all its other
            # variables. So it is zero for all i where the variables that are zero at the point have
            # together an exponent of two or more, and for all i but one where they have one.
            if sum(compress(exponents, is_zero)) > 1:
                continue
            factors = [(i, exponent) for i, exponent in enumerate(exponents) if exponent]
            zeros = [i for i, _ in factors if is_zero[i]]
            for i, exponent in factors:
                if zeros and i != zeros[0]:
                    continue
                other_powers = [power(j, e) for j, e in factors if j != i]
                own_derivative = c * exponent * power(i, exponent - 1)
                gradient[i] = gradient.get(i, 0) + prod(other_powers, start=own_derivative)
        yield gradient


def gradient_of_terms(
    polynomial: Iterable[tuple[Monomial, int]], point: Sequence[int]
) -> dict[int, int]:
    """The gradient at an integer point: by the product rule each factor of a monomial gives one
    summand, the product of all other factors.
    """
    gradient: dict[int, int] = {}
    for monomial, coefficient in polynomial:
        zeros = [place for place, j in enumerate(monomial) if not point[j]]
        if len(zeros) > 1:  # each summand keeps a factor that is zero
            continue
        # Where one factor is zero, all summands are zero but the one that leaves this factor out.
        for place in zeros or range(len(monomial)):
            j = monomial[place]
            other_factors = monomial[:place] + monomial[place + 1 :]
            value = coefficient * prod([point[i] for i in other_factors])
            gradient[j] = gradient.get(j, 0) + value
    return gradient


def fix_variables(polynomial: IntegerPolynomial, fixed: Mapping[int, int]) -> IntegerPolynomial:
    """A polynomial with some variables replaced by 0 or 1, in as many variables as before."""
    zeros = [i for i, value in fixed.items() if not value]
    result: IntegerPolynomial = {}
    for exponents, c in polynomial.items():
        if any(exponents[i] for i in zeros):
            continue  # the monomial vanishes
        remaining_exponents = list(exponents)
        for i in fixed:
            remaining_exponents[i] = 0
        result[tuple(remaining_exponents)] = result.get(tuple(remaining_exponents), 0) + c
    return {exponents: c for exponents, c in result.items() if c}
