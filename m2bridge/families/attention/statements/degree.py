"""The degree of the Zariski closure (ours)."""

from m2bridge.families.attention.orbits import degree_formula
from m2bridge.families.attention.statements.statement import about_the_whole, several_tokens

STATEMENTS = (about_the_whole("degree", "", predict=degree_formula, hypotheses=several_tokens),)
