"""Ideals as people work with them: constructed, combined, decomposed, resolved.

Each question is one Macaulay2 program (``program``); ideals in the answer are again ``Ideal``
objects. This file has the limits of the package.
"""

MAX_BRACKET_DEPTH = 100
"""Nested brackets in a text with polynomials, which is parsed recursively."""

FLINT_BASIS_LIMITS = (60, 200, 2000)
"""Polynomials in a Gröbner basis by FLINT, terms of a polynomial, bits of a coefficient: beyond
them Macaulay2 is faster.
"""

MAX_MINORS_BY_AUTO = 60
"""``auto`` uses all minors of the Jacobian matrix of a component if there are at most this many."""

MAX_SHOWN_EQUATIONS = 6
"""Equations of a component that a table shows."""
MAX_SHOWN_EQUATION_CHARS = 60
"""Characters of an equation in a table."""
