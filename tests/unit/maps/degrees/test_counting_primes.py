"""How long primes are, by the coefficients that they must not divide."""

import pytest

from m2bridge.maps.degrees.counting_primes import primes_for


@pytest.mark.parametrize(("bits", "terms", "length"), [(8, 20, 15), (60, 30, 16), (60, 40, 29)])
def test_longer_coefficients_have_longer_primes(bits: int, terms: int, length: int) -> None:
    polynomial = {(power,): 2**bits - 1 - 2 * power for power in range(terms)}
    prime = next(primes_for([polynomial]))
    assert prime.bit_length() == length
    assert all(coefficient % prime for coefficient in polynomial.values())
