"""The one place that knows both SymPy's and Macaulay2's notation.

Here are its limits on what comes from outside: within them all is read, or refused, in seconds.
"""

LARGEST_DOCUMENT = 2_000_000
"""Bytes of a file that people write."""

LONGEST_INTEGER = 4000
"""Digits of an integer in JSON, which Python has to write again: it refuses more than 4300."""

LONGEST_NUMBER = 10_000
"""Digits of a number that is written out: computations with longer ones take minutes."""

MOST_PARAMETERS = 2000
"""Parameters of a map in a file; a rank of so many columns takes a minute."""

# Polynomials in text, before they are expanded.

DEEPEST_PARENTHESES = 50
"""The parser calls itself for each, and Python's own stack has an end."""

LARGEST_EXPONENT = 1000
"""Of a power in text, whose base may be a sum."""

MOST_TERMS = 100_000
"""Terms of a polynomial: SymPy computes with so many in seconds."""

LONGEST_COEFFICIENT = 1_000_000
"""Bits."""

LARGEST_POLYNOMIAL = 5_000_000
"""Terms times bits of a coefficient: 1 MB of numbers."""

MOST_PRODUCTS = 1_000_000
"""Products of two terms with small coefficients, in a whole text; one takes a microsecond."""

# Arrays of numbers in files.

LARGEST_ARRAY = 2**28
"""Entries of an array: 2 GB of double precision."""

LARGEST_JSON_OF_ARRAYS = 50_000_000
"""Bytes: a few million numbers, which take some seconds."""

LONGEST_HEADER = 10_000
"""Bytes, as in NumPy, which reads the header of a file .npy before it looks at its length."""

MOST_DIMENSIONS = 32
"""As all versions of NumPy have them."""
