"""Exact mathematics without an engine and without a model.

This file has the limits that several modules ask.
"""

MAX_RING_VARIABLES = 20_000
"""Variables of a ring, and so coordinates of a model that are written: each of SymPy's polynomials
has one exponent for each variable.
"""

FACTORING_CHARACTERISTIC_BOUND = 2**29
"""Macaulay2 factors polynomials, and finds common divisors, inverses and radicals, modulo primes
below this number.
"""

MAX_VARIABLE_NAME_CHARS = 100
"""Characters in the name of a variable, or of a generator of a field, that people write."""
