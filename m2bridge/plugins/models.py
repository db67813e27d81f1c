"""The names of ``m2bridge.plugins`` that a checker does not need; import them from there."""

from m2bridge.families.base import (
    AnswerRow,
    CaseOption,
    ComputedQuestion,
    Family,
    Figure,
    Question,
    integer_option,
    integers_option,
)
from m2bridge.maps.jacobian_rank import ObservedRank, observe_rank
from m2bridge.maps.model import DifferentiableModel, Expectation, MethodValue, Model, PolarData
from m2bridge.results.known import Bounds
from m2bridge.statements.statement import GlobalStatement, Observed, OrbitStatement

__all__ = [
    "AnswerRow",
    "Bounds",
    "CaseOption",
    "ComputedQuestion",
    "DifferentiableModel",
    "Expectation",
    "Family",
    "Figure",
    "GlobalStatement",
    "MethodValue",
    "Model",
    "Observed",
    "ObservedRank",
    "OrbitStatement",
    "PolarData",
    "Question",
    "integer_option",
    "integers_option",
    "observe_rank",
]
