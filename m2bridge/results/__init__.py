"""Results and their output formats; this file has the limits on the length of output.

A result may have tens of thousands of polynomials of megabytes each. Its output stays readable, and
small enough for a terminal, a notebook and a browser.
"""

MAX_SHOWN_GENERATORS = 12
"""Polynomials of an ideal that are written by default: half a screen."""

MAX_POLYNOMIAL_CHARS = 240
"""Characters of a polynomial that are written by default: three lines."""

FOLDED_POLYNOMIAL_CHARS = 400
"""Characters of a polynomial in HTML before it is unfolded."""

MAX_UNFOLDED_POLYNOMIAL_CHARS = 4000
"""Characters of a polynomial in HTML that can be unfolded; a longer one would fill the page."""

MAX_CELL_CHARS = 600
"""Characters of one fact in HTML."""

MAX_HTML_ROWS = 1024
"""Rows of each block in HTML, reduced if they do not fit into :data:`MAX_PAGE_BYTES`."""

MAX_PAGE_BYTES = 100_000
"""Bytes of one result in a notebook, which keeps all outputs in one file."""

MAX_PICTURE_BYTES = 80_000
"""Bytes of a picture in HTML: less than a page, so that its table fits on it too."""

MAX_NOTEBOOK_TEXT_CHARS = 30_000
"""Characters of a text that a notebook shows."""
