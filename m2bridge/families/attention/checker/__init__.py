"""The checker of certificates about single-layer attention: one function for each question.

case.py has a case from its definition, evidence.py, with degree.py, what is found at its orbits,
and statements.py the verdicts. closure.py and equations.py, with ideal_parts.py and sections.py,
are about the ideal of a closure, one_token.py about its dimension and degree for t = 1; polar.py,
with integrals.py and slices.py, is about its polar degrees. exposed.py is about types of the
weights (K, Q, V) and (K, Q, O, V), and learning_degree.py about critical points of a loss.
representations.py, with schur.py, has the closures of all sizes, a question of the family of all
sizes. What is trusted, and the notation, stand at the top of each file.
"""

from m2bridge.checker import FamilyChecker
from m2bridge.families.attention.checker import (
    case,
    closure,
    equations,
    exposed,
    learning_degree,
    polar,
    statements,
)

CHECKER = FamilyChecker(
    family="attention",
    name=case.name,
    questions={
        **statements.QUESTIONS,
        **exposed.QUESTIONS,
        **learning_degree.QUESTIONS,
        "closure": closure.closure,
        "equations": equations.up_to_a_degree,
        "polar-degrees": polar.polar,
    },
    wordings=(statements.WORDS,),
)
