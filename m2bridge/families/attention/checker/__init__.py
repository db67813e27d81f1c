"""The checker of certificates about single-layer attention."""

from m2bridge.checker import FamilyChecker
from m2bridge.families.attention.checker.case import name
from m2bridge.families.attention.checker.closure import closure
from m2bridge.families.attention.checker.equations import up_to_a_degree
from m2bridge.families.attention.checker.polar import polar
from m2bridge.families.attention.checker.statements import QUESTIONS

CHECKER = FamilyChecker(
    "attention",
    name,
    {**QUESTIONS, "closure": closure, "equations": up_to_a_degree, "polar-degrees": polar},
)
