"""Numbers that Macaulay2 and SymPy hold by name."""

from sympy import Catalan, EulerGamma, I, pi

CONSTANTS = {"pi": pi, "ii": I, "EulerConstant": EulerGamma, "CatalanConstant": Catalan}
"""SymPy's by Macaulay2's names."""
