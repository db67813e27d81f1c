"""The public names of the classes of values that Python, SymPy and FLINT lack."""

from m2bridge.convert.values import *  # noqa: F403  # the same names, which are listed there
from m2bridge.convert.values import __all__ as __all__
