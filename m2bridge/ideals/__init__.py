"""Ideals as people work with them: constructed, combined, decomposed, resolved.

Each question is one Macaulay2 program (``program``); ideals in the answer are again ``Ideal``
objects. This file has the limits of the package.
"""

MAX_BRACKET_DEPTH = 100
"""Nested brackets in a text with polynomials, which is parsed recursively."""

MAX_MRDI_BYTES = 100_000_000
"""A file in the format ``.mrdi``, which is read into memory as a whole."""

FLINT_BASIS_LIMITS = (60, 200, 2000)
"""Polynomials in a Gröbner basis by FLINT, terms of a polynomial, bits of a coefficient: beyond
them Macaulay2 is faster.
"""
MAX_FLINT_GENERATOR_TERMS = 1000
"""Terms of all generators of an ideal for which FLINT computes a Gröbner basis."""
MAX_REDUCTION_MONOMIALS = 5000
"""Monomials up to twice the degree of the generators: a bound for the length of a reduction, which
FLINT itself cannot limit.
"""

MAX_MINORS_BY_AUTO = 60
"""``auto`` uses all minors of the Jacobian matrix of a component if there are at most this many."""

MAX_SHOWN_EQUATIONS = 6
"""Equations of a component that a table shows."""
MAX_SHOWN_EQUATION_CHARS = 60
"""Characters of an equation in a table."""
FACTORING_CHARACTERISTIC_BOUND = 2**29
"""Macaulay2 factors polynomials, and so finds radicals, modulo primes below this number."""
