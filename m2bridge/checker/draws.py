"""Random numbers and primes of the checker, which nobody who writes a certificate can know.

A certificate may be made by somebody who wants a false one to be accepted. For every prime that is
known beforehand there are cases for which it is unlucky, and for every point that is known
beforehand there may be cases for which it is special. So the checker takes no prime, point, target
or linear form from a certificate, and none from a fixed seed: each is drawn when it is needed,
by the system's source of randomness.

A true certificate must not be rejected by an unlucky draw. Numbers are drawn modulo a prime above
2^60. A polynomial of degree n that is not zero modulo the prime is zero at a random point with a
probability of at most n/2^60 (Schwartz, Zippel), and of the more than 10^16 primes of 61 bits at
most b/60 divide a given integer of b bits. Degrees are below 10^6 here, and integers have less than
10^8 bits: so both probabilities are below 10^(−9). (Only networks with activations of a very high
degree have larger ones; their values modulo the prime are as good as random.)
"""

import secrets
from random import Random

import flint

PRIME_BITS = 61
"""Bits of random primes: the products of two residues fit two machine words, as FLINT needs."""


def random_prime() -> int:
    """A random prime of PRIME_BITS bits."""
    while True:
        candidate = secrets.randbits(PRIME_BITS) | 1 << (PRIME_BITS - 1)  # the highest bit is 1
        if flint.fmpz(candidate).is_prime():
            return candidate


def unpredictable() -> Random:
    """Random numbers whose seed, of 256 bits, is drawn by the system."""
    return Random(secrets.randbits(256))
