"""The public names of the values of Macaulay2 that have no class of their own in Python, SymPy or
FLINT.
"""

from m2bridge.convert.values import *  # noqa: F403  # the same names, which are listed there
from m2bridge.convert.values import __all__ as __all__
