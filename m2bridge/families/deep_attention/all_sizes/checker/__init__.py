"""The checker of certificates about deep attention for all sizes; ``CHECKER`` is what the registry looks for.

Layers are counted by the dimensions of Grassmannians and without isl; identities are those of products of matrices;
ranks are found at the points and modulo the primes of the checker of one network. Proofs: docs/deep-attention.md, 10.
"""

from m2bridge.checker import FamilyChecker
from m2bridge.families.deep_attention.all_sizes.checker.statements import QUESTIONS, name

CHECKER = FamilyChecker("deep-attention-all-sizes", name, QUESTIONS)
