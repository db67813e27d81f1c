"""The checker of certificates for all sizes; ``CHECKER`` is what the registry looks for.

It trusts isl (Presburger arithmetic) besides what :mod:`m2bridge.checker` trusts, and shares no more with the program
that makes certificates: ideals are found by FLINT's Gröbner bases from the coordinates of functions, and orbits are
covered by the places where entries are those of a base case, without a list of selections. Proofs: docs/all-sizes.md.
"""

from m2bridge.checker import FamilyChecker
from m2bridge.families.attention.all_sizes.checker.statements import QUESTIONS, name

CHECKER = FamilyChecker("attention-all-sizes", name, QUESTIONS)
