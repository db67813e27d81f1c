"""The room results: the limits on what is shown of a result.

A result may hold tens of thousands of polynomials of megabytes each; what is shown of it stays
readable, and small enough for a terminal, a notebook and a browser. Each limit says what it cuts.
"""

SHOWN = 12
"""Polynomials of an ideal that are written, unless all are asked for: half a screen."""

WIDTH = 240
"""Characters of a polynomial that are written, unless all is asked for: three lines."""

FOLDED_WIDTH = 400
"""Characters of a polynomial in HTML before it is unfolded."""

MOST_TERMS = 4000
"""Characters of a polynomial in HTML that can be unfolded; a longer one would fill the page."""

LONGEST_CELL = 600
"""Characters of one fact in HTML."""

MOST_ITEMS = 1024
"""Rows of each block in HTML, before it is seen whether they fit into :data:`LARGEST_PAGE`."""

LARGEST_PAGE = 100_000
"""Bytes of one result in a notebook, which keeps all outputs in one file."""

LARGEST_PICTURE = 80_000
"""Bytes of a picture in HTML: less than a page, so that its table fits beside it."""

MOST_TEXT = 30_000
"""Characters that a notebook shows of a text."""
