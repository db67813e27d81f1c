"""Results and their output formats; this file has the limits on the length of output.

A result may have tens of thousands of polynomials of megabytes each. Its output stays readable, and
small enough for a terminal, a notebook and a browser.
"""

MAX_SHOWN_GENERATORS = 12
"""Polynomials of an ideal that are written by default: half a screen."""

MAX_POLYNOMIAL_CHARS = 240
"""Characters of a polynomial that are written by default: three lines."""

MAX_PAGE_BYTES = 100_000
"""Bytes of one result in a notebook, which keeps all outputs in one file."""
