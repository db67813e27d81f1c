"""Ideals as people work with them: constructed, combined, decomposed, resolved.

Each question is one program of Macaulay2 (``program``); what is found is again an ``Ideal``. The
limits of the room stand here.
"""

MOST_BRACKETS = 100
"""Brackets inside one another in a text with polynomials: it is read by recursion."""

LARGEST_MRDI = 100_000_000
"""Bytes of a file in the format ``.mrdi``, which is read into memory as a whole."""

LIMITS_OF_A_BASIS = (60, 200, 2000)
"""Polynomials in a Gröbner basis by FLINT, terms of a polynomial, bits of a coefficient: beyond
them Macaulay2 is faster.
"""
MOST_TERMS_OF_GENERATORS = 1000
"""The largest number of terms of all generators together of an ideal that FLINT is given."""
MOST_MONOMIALS_OF_A_REDUCTION = 5000
"""Monomials up to twice the degree of the generators: a bound for what a reduction goes through,
which no limit of FLINT is.
"""

FEW_MINORS = 60
"""``auto`` takes all minors of the Jacobian matrix of a component if there are at most so many."""

SHOWN_EQUATIONS = 6
"""Equations of a component that a table shows."""
LONGEST_SHOWN = 60
"""Characters of each."""
LARGEST_FACTORED = 2**29
"""Macaulay2 factors polynomials, and so finds radicals, modulo primes below this number."""
