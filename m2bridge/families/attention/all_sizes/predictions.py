"""What each statement predicts, for all sizes: text and source are those of the statement itself.

The conditions here and the predictions of ``statements/`` are written twice on purpose; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.families.attention.all_sizes.facts import Formula
from m2bridge.families.attention.all_sizes.wording import WORDS


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What a statement assumes of the size.

    Parameters
    ----------
    condition : str
        On (d, d', a).
    reason : str
        Why the statement does not apply where the condition fails.
    """

    condition: str
    reason: str


PAPER = (Hypothesis("(a >= 2 and d >= 2) or dp >= 2", WORDS.hypotheses["not-degenerate"]),)
NONDEGENERATE = (*PAPER, Hypothesis("d >= 2", WORDS.hypotheses["two-dimensions"]))


@dataclass(frozen=True, slots=True)
class OrbitPrediction:
    """Where an observable of orbits is true, by a statement.

    Parameters
    ----------
    observable : str
        A key of :data:`.facts.ORBITS`.
    condition : str
        On (d, d', a, r, s, m); without one it is true of all that the statement is about.
    hypotheses : tuple of Hypothesis
    concerns : str
        On (d, d', a, r, s, m): which orbits the statement is about; without one, about all.
    """

    observable: str
    condition: str
    hypotheses: tuple[Hypothesis, ...] = ()
    concerns: str = ""


@dataclass(frozen=True, slots=True)
class SizePrediction:
    """Which sizes have a property, by a statement.

    Parameters
    ----------
    observable : str
        A key of :data:`.facts.SIZES`.
    condition : str
        On (d, d', a); without one, all sizes have it.
    hypotheses : tuple of Hypothesis
    """

    observable: str
    condition: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()


@dataclass(frozen=True, slots=True)
class FormulaPrediction:
    """A number, by a statement.

    Parameters
    ----------
    observable : str
        A key of :data:`.facts.FORMULAS`.
    cases : tuple of pairs
        Disjoint conditions on (d, d', a) that are all sizes together, and the number where they are satisfied.
    hypotheses : tuple of Hypothesis
    """

    observable: str
    cases: tuple[tuple[str, Formula], ...]
    hypotheses: tuple[Hypothesis, ...] = ()


Prediction = OrbitPrediction | SizePrediction | FormulaPrediction

TWO_TO_ONE = "a = 1 and dp = 1 and d >= 2"

PREDICTIONS: dict[tuple[str, str], Prediction] = {
    ("3.2", "rank one"): OrbitPrediction("fibre_exchanged", "", concerns="r = 1 and s = 1"),
    ("3.2", "zero"): SizePrediction("zero_fibre"),
    ("3.2", "otherwise"): OrbitPrediction("fibre_itself", "", concerns="r >= 2 or s >= 2"),
    ("3.3", ""): FormulaPrediction(
        "dimension", (("", lambda d, dp, alpha, D: alpha * (2 * d - alpha) + d * dp - 1),), PAPER
    ),
    ("3.4", "i"): SizePrediction("closed", "", PAPER),
    ("3.4", "ii"): OrbitPrediction("boundary", "r = 1 and s = 1 and m = 1", NONDEGENERATE),
    ("3.4", "iii"): OrbitPrediction("singular", "r = 1 and s = 1", NONDEGENERATE),
    ("A.2", "birational"): SizePrediction("birational", "", PAPER),
    ("A.2", "special fibres"): OrbitPrediction("special_fibre_points", "", PAPER),
    ("A.3", ""): OrbitPrediction("critical", "r = 1 and s = 1 and m = 1", NONDEGENERATE),
    ("A.4", ""): OrbitPrediction("singular", "r = 1 and s = 1", NONDEGENERATE),
    ("A.5", ""): SizePrediction("products"),
    ("A.6", ""): OrbitPrediction("boundary_critical", "", NONDEGENERATE),
    ("not-a-manifold", ""): SizePrediction("smooth_manifold", "1 = 0", NONDEGENERATE),
    ("degree", ""): FormulaPrediction(
        "degree",
        ((f"not ({TWO_TO_ONE})", lambda d, dp, alpha, D: D), (TWO_TO_ONE, lambda d, dp, alpha, D: D / 2)),
    ),
    ("singular-locus", ""): OrbitPrediction(
        "singular",
        "(a >= d and r = 1 and s = 1) or (a = 1 and a < d and s = 1) or (2 <= a and a < d and r <= a - 1)",
        NONDEGENERATE,
    ),
}
