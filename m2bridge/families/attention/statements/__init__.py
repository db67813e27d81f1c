"""The statements that m2bridge checks, one file each; they predict and never compute.

To add one: write a file with a tuple ``STATEMENTS`` and put it into the registry below.
"""

from m2bridge.families.attention.statements import (
    corollary_3_3,
    corollary_a_2,
    corollary_a_4,
    corollary_a_6,
    degree,
    lemma_a_3,
    not_a_manifold,
    proposition_a_5,
    singular_locus,
    theorem_3_2,
    theorem_3_4,
)
from m2bridge.maps.statement import GlobalStatement, OrbitStatement, Statement

REGISTRY: tuple[Statement, ...] = (
    *theorem_3_2.STATEMENTS,
    *corollary_3_3.STATEMENTS,
    *theorem_3_4.STATEMENTS,
    *corollary_a_2.STATEMENTS,
    *lemma_a_3.STATEMENTS,
    *corollary_a_4.STATEMENTS,
    *proposition_a_5.STATEMENTS,
    *corollary_a_6.STATEMENTS,
    *not_a_manifold.STATEMENTS,
    *degree.STATEMENTS,
    *singular_locus.STATEMENTS,
)

__all__ = ["REGISTRY", "GlobalStatement", "OrbitStatement", "Statement"]
