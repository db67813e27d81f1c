"""The checker of certificates for all sizes (d, d', a) of single-layer attention at once.

It trusts isl (Presburger arithmetic) and the libraries that :mod:`m2bridge.checker` trusts, and
shares nothing else with the program that makes certificates.
"""

from m2bridge.checker import FamilyChecker, only_case
from m2bridge.families.attention.all_sizes.checker.statements import (
    QUESTIONS,
    WORDS,
    WORDS_OF_CASES,
)
from m2bridge.families.attention.checker import representations

CHECKER = FamilyChecker(
    family="attention-all-sizes",
    name=only_case("attention-all-sizes"),
    questions={**QUESTIONS, **representations.QUESTIONS},
    wordings=(WORDS_OF_CASES, WORDS),
)
