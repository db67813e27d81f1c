"""Polar degrees modulo primes, at a limit."""

from itertools import count
from typing import Any

import pytest

from m2bridge.errors import InvalidCaseError, M2BridgeError, TimeLimitError
from m2bridge.maps.degrees.polar_degrees import PolarDegrees, _agreed_by_random_primes
from m2bridge.maps.model import PolarData


def unfinished(*degrees: int) -> Any:
    """A count of the polar degrees of a surface that a limit ends after these."""
    result = PolarDegrees(
        title="surface",
        case=None,
        ambient=3,
        dimension=2,
        method="slices",
        theorem=PolarData(degrees, "by counting", ()),
        seconds=0.0,
        unfinished="late",
    )
    return lambda prime: result


def test_at_a_limit_some_polar_degrees_are_a_result_and_none_are_an_error() -> None:
    found = _agreed_by_random_primes(unfinished(4, 6), count(2))
    assert (found.degrees, found.primes, found.unfinished) == ((4, 6), (2,), "late")
    with pytest.raises(TimeLimitError, match=r"^late$"):
        _agreed_by_random_primes(unfinished(), count(2))


@pytest.mark.parametrize(
    ("primes_before", "error"), [(0, TimeLimitError), (1, TimeLimitError), (2, InvalidCaseError)]
)
def test_an_error_modulo_one_prime_before_a_limit_decides_nothing(
    primes_before: int, error: type[M2BridgeError]
) -> None:
    """The variety can be empty modulo a prime, and not over QQ; two primes are believed."""

    def count_modulo(prime: int) -> PolarDegrees:
        if prime > primes_before:
            raise TimeLimitError("late")
        raise InvalidCaseError("ideal", "the projective variety is empty")

    with pytest.raises(error):
        _agreed_by_random_primes(count_modulo, count(1))
