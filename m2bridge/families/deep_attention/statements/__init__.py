"""What is stated about deep attention networks: predictions, which share no code with what is observed."""

from __future__ import annotations

from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.statements import formulas
from m2bridge.families.deep_attention.statements.dimensions import CONJECTURE_3_10, COROLLARY_3_8, DIMENSIONS
from m2bridge.families.deep_attention.statements.weights import WEIGHTS
from m2bridge.maps.model import Expectation
from m2bridge.maps.statement import GlobalStatement

STATEMENTS: tuple[GlobalStatement[DeepAttention], ...] = (*WEIGHTS, *DIMENSIONS)

_NAMES = {
    "3.8": "Eq. 14 (Corollary 3.8)",
    "3.9": "Theorem 3.9",
    "3.10": "Eq. 16 (Conjecture 3.10)",
    "L": "Theorem L of m2bridge",
    "S": "Theorem S of m2bridge",
    "skip": "a conjecture of m2bridge on skip connections",
    "heads, separate heads": "the paper's symmetries of heads",
    "heads, one layer": "a conjecture of m2bridge on heads",
    "heads, several layers": "a conjecture of m2bridge on heads",
}


def expectations(network: DeepAttention) -> tuple[Expectation, ...]:
    """The dimension by all statements that apply, and by the paper's formula also where it does not."""
    found = []
    for statement in DIMENSIONS:
        fails = statement.hypotheses(network)
        predicted = statement.predict(network)
        if not fails and isinstance(predicted, int):
            found.append(Expectation(predicted, _name(statement)))
        elif statement is (CONJECTURE_3_10 if network.softmax else COROLLARY_3_8) and network.is_plain:
            formula = formulas.equation_16 if network.softmax else formulas.equation_14
            found.append(Expectation(formula(network.widths, network.a), _name(statement), fails))
    return tuple(found)


def _name(statement: GlobalStatement[DeepAttention]) -> str:
    key = f"{statement.key}, {statement.part}"
    return _NAMES.get(key) or _NAMES[statement.key]
