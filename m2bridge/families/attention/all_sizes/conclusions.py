"""A prediction against the facts: for which sizes it is false, and where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import islpy as isl

from m2bridge.families.attention.all_sizes.facts import ALL, FORMULAS, NONE, ORBITS, SIZES, Facts, Formula
from m2bridge.families.attention.all_sizes.formulas import NAMES, variables, zeros
from m2bridge.families.attention.all_sizes.predictions import (
    FormulaPrediction,
    OrbitPrediction,
    Prediction,
    SizePrediction,
)
from m2bridge.families.attention.all_sizes.sizes import orbits, over, sizes, with_some


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Whether what a statement says is so, its hypotheses left aside.

    Parameters
    ----------
    false : set of sizes
    unknown : set of sizes
        Where the facts do not decide it.
    vacuous : set of sizes
        Without any orbit that the statement is about; it is true there.
    wrong : set of orbits or None
        Where the statement is false; ``None`` if it is not about orbits.
    """

    false: isl.Set
    unknown: isl.Set
    vacuous: isl.Set
    wrong: isl.Set | None = None


@singledispatch
def conclusion(prediction: Prediction, seen: Facts) -> Conclusion:
    """For which sizes the conclusion of a statement is false."""
    raise TypeError(prediction)


@conclusion.register
def _(prediction: OrbitPrediction, seen: Facts) -> Conclusion:
    observed = ORBITS[prediction.observable](seen)
    about = orbits(prediction.concerns)
    if observed.about is not None:
        about = about.intersect(observed.about)
    wrong = _difference(observed.true, orbits(prediction.condition)).intersect(about).intersect(over(observed.known))
    vacuous = ALL.subtract(with_some(about))
    return Conclusion(with_some(wrong), ALL.subtract(observed.known).subtract(vacuous), vacuous, wrong)


@conclusion.register
def _(prediction: SizePrediction, seen: Facts) -> Conclusion:
    observed = SIZES[prediction.observable](seen)
    false = _difference(observed.true, sizes(prediction.condition)).intersect(observed.known)
    return Conclusion(false, ALL.subtract(observed.known), NONE)


@conclusion.register
def _(prediction: FormulaPrediction, seen: Facts) -> Conclusion:
    agree, differ = NONE, NONE
    for where, observed in FORMULAS[prediction.observable](seen):
        for condition, predicted in prediction.cases:
            for branch in ("a <= d", "a > d"):
                piece = where.intersect(sizes(condition)).intersect(sizes(branch))
                equal = _equal(predicted, observed, branch)
                if equal is not None:
                    agree = agree.union(piece.intersect(equal))
                    differ = differ.union(piece.subtract(equal))
    return Conclusion(differ, ALL.subtract(agree).subtract(differ), NONE)


def _equal(first: Formula, second: Formula, branch: str) -> isl.Set | None:
    """The sizes where two formulas agree, with α = a for a ≤ d and α = d for a > d; ``None`` if that is not known."""
    d, dp, a, D = variables(*NAMES)
    alpha = a if branch == "a <= d" else d
    return zeros(first(d, dp, alpha, D) - second(d, dp, alpha, D))


def _difference(first: isl.Set, second: isl.Set) -> isl.Set:
    """What is in one of them only."""
    return first.subtract(second).union(second.subtract(first))
