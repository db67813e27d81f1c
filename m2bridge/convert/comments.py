"""Comments in texts with polynomials.

These are comments: `` -- text`` and ``# text`` to the end of the line, with a blank or the
beginning of a line before them, and after ``--``; ``// text`` at the beginning of a line; and what
stands between ``/*`` and ``*/``, or between ``-*`` and ``*-``. Elsewhere ``//`` is the stroke of
Oscar's fractions, and ``--`` without a blank on each side is refused by the parser, except before a
digit, as in ``x--3*y``, which programs write.
"""

import re

_OPENING = re.compile(
    r"""
    (?<!\S) (?: -{2,}(?!\S) | \# )              # Macaulay2's, and Sage's and Python's
    | ^[^\S\n]* // (?![^\S\n]*[0-9(])           # Singular's and Magma's, on a line of its own
    | /\*                                       # Singular's and Magma's, of several lines
    | -\*                                       # Macaulay2's, of several lines
    """,
    re.MULTILINE | re.VERBOSE,
)
"""The beginning of a comment."""
_CLOSING = {"/*": "*/", "-*": "*-"}
"""The end of a comment of several lines; all others end with their line."""


def without_comments(text: str) -> str:
    """The text with blanks in place of comments, so that no place in it moves; the beginning of a
    comment of several lines that does not end stays.

    >>> without_comments("x*y - 1 -- hyperbola")
    'x*y - 1             '
    """
    pieces: list[str] = []
    place = 0
    without_end: set[str] = set()  # signs that are not searched for again
    for opening in _OPENING.finditer(text):
        begin = opening.start()
        closing = _CLOSING.get(opening[0], "\n")
        if begin < place or closing in without_end:  # inside of the comment before
            continue
        end = text.find(closing, opening.end())
        if end < 0 and closing != "\n":
            without_end.add(closing)
            continue
        if closing == "\n":
            end = len(text) if end < 0 else end
        else:
            end += len(closing)
        pieces += [text[place:begin], re.sub(r"[^\n]", " ", text[begin:end])]
        place = end
    pieces.append(text[place:])
    return "".join(pieces)
