"""Conversion between SymPy's and Macaulay2's notation; no other package knows both.

This file has the limits on input: within them every input is read, or refused, in seconds.
"""

MAX_DOCUMENT_BYTES = 2_000_000
"""A file that people write."""

MAX_TABLE_BYTES = 10_000_000
"""A list of cases, or the coefficients of a function: 100 bytes for each of 100 000 entries."""

MAX_FILE_BYTES = 100_000_000
"""A file of programs, which is in memory as a whole: code, an ideal in ``.mrdi``, an outcome."""

MAX_NUMBER_DIGITS = 10_000
"""Digits of a number in text: computations with longer ones take minutes."""

MAX_MAP_PARAMETERS = 2000
"""Parameters of a map in a file; the rank of a matrix with this many columns takes a minute."""

# Polynomials in text, before they are expanded.

MAX_PARENTHESIS_DEPTH = 50
"""The parser is recursive, and Python's stack is limited."""

MAX_EXPONENT = 1000
"""The exponent of a power in text, whose base may be a sum."""

MAX_POLYNOMIAL_TERMS = 100_000
"""SymPy computes with this many terms in seconds."""

MAX_COEFFICIENT_BITS = 1_000_000
"""Bits of a coefficient of a polynomial in text."""

MAX_POLYNOMIAL_TERM_BITS = 5_000_000
"""Terms times bits of the largest coefficient: about 1 MB of numbers."""

MAX_TERM_PRODUCTS = 1_000_000
"""Products of two terms in the expansion of a text; each takes a microsecond."""

# Arrays of numbers in files.

MAX_ARRAY_ENTRIES = 2**28
"""An array of this many entries has 2 GB in double precision."""

MAX_ARRAYS_JSON_BYTES = 50_000_000
"""A few million numbers, which take some seconds to read."""

MAX_NPY_HEADER_BYTES = 10_000
"""The limit of NumPy, which reads the header of a file .npy before it checks its length."""

MAX_ARRAY_DIMENSIONS = 32
"""The number that all versions of NumPy support."""
