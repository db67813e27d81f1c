"""Comments in texts with polynomials.

These are comments: `` -- text`` and ``# text`` to the end of the line, with a blank or the
beginning of a line before them, and after ``--``; ``// text`` at the beginning of a line; and what
stands between ``/*`` and ``*/``, or between ``-*`` and ``*-``. Elsewhere ``//`` is the stroke of
Oscar's fractions, and ``--`` without a blank on each side is refused by the parser, except before a
digit, as in ``x--3*y``, which programs write.
"""

import re

_COMMENT = re.compile(
    r"""
    (?<!\S) (?: -{2,}(?!\S) | \# ) [^\n]*       # Macaulay2's, and Sage's and Python's
    | ^[^\S\n]* // (?!\s*[0-9(]) [^\n]*         # Singular's and Magma's, on a line of its own
    | /\* (?s:.*?) \*/                          # Singular's and Magma's, of several lines
    | -\* (?s:.*?) \*-                          # Macaulay2's, of several lines
    """,
    re.MULTILINE | re.VERBOSE,
)


def without_comments(text: str) -> str:
    """The text with blanks in place of comments, so that no place in it moves.

    Examples
    --------
    >>> without_comments("x*y - 1 -- hyperbola")
    'x*y - 1             '
    """
    return _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)
