"""The question of certificates about polar degrees, and the cross-check of the theorem about them."""

from dataclasses import dataclass
from typing import Any, Literal

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.engine import Engine
from m2bridge.errors import NotApplicableError, TooLargeError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.polar import (
    integrals_at_fixed_points,
    is_observed,
    no_theorem,
    observed_loci,
    polar_sums,
    predicted_polar_degrees,
)
from m2bridge.families.attention.statements import WORDS
from m2bridge.families.definition import Question, Row, never
from m2bridge.limits import limited
from m2bridge.maps.polar import PolarDegrees, polar_degrees
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import Facts, Finding, Findings, Sheet, duration

POLAR_KEY = "polar-degrees"
TEXT = (
    "For t ≥ 2, d ≥ 2, and α = min(a, d) > 1 or d' > 1: the polar degrees of the Zariski closure are integrals of "
    "Chern classes over the desingularized source (docs/polar-degrees.md)."
)
COMPUTED = (
    "the integrals by localization; the orbits where the differential is not injective; in cases of at most 12 "
    "coordinates points in slices, modulo a prime"
)
SOURCE = "m2bridge, docs/polar-degrees.md (proved)"
FEW_COORDINATES = 12
"""Cases with at most so many are counted in slices too."""


def not_applicable(model: SingleLayerAttention) -> str:
    """Why the statement does not apply; empty if it does."""
    return no_theorem(model) or (WORDS.hypotheses["two-dimensions"] if model.d == 1 else "")


def is_within_reach(model: SingleLayerAttention) -> bool:
    """Whether a certificate can be made: the theorem applies, and the loci of the case are observed."""
    return not not_applicable(model) and is_observed(model)


def observe_polar_degrees(model: SingleLayerAttention, engine: Engine | None) -> PolarDegrees:
    """Compute the polar degrees with their loci; raises NotApplicableError, or TooLargeError for too many orbits."""
    if reason := not_applicable(model):
        raise NotApplicableError(f"the question {reason}")
    if not is_observed(model):
        raise TooLargeError("the orbits of this case are too many to be observed; 'm2bridge polar-degrees' needs none")
    return polar_degrees(model, engine=engine)


def _content(model: SingleLayerAttention, found: PolarDegrees) -> Content:
    answer = {
        "polar_degrees": list(found.degrees),
        "generic_ed_degree": found.generic_ed_degree,
        "dual_dimension": model.independent_count - 2 - found.degrees[::-1].index(found.dual_degree or 0),
        "dual_degree": found.dual_degree,
    }
    loci = [
        {
            "orbit": [int(n) for n in x.name.strip("()").split(",")],
            "codimension": x.codimension,
            "kernel_at_most": x.kernel,
        }
        for x in found.theorem.loci
    ]
    evidence = {"loci": loci, "generic_fibre_points": found.theorem.generic_fibre}
    return Content(answer, evidence, found.theorem.rests_on)


def _rows(certificate: Certificate) -> list[Row]:
    answer = certificate.answer
    shown = ", ".join(map(str, answer["polar_degrees"]))
    return [Row(POLAR_KEY, TEXT, "COMPUTED", f"polar degrees {shown}; generic ED degree {answer['generic_ed_degree']}")]


POLAR = Question(
    POLAR_KEY,
    observation=POLAR_KEY,
    observe=observe_polar_degrees,
    content=_content,
    script=lambda model: None,
    rows=_rows,
    names=lambda: (POLAR_KEY,),
    usual=never,
    within_reach=is_within_reach,
    needs_engine=never,
)


@dataclass(frozen=True, slots=True)
class PolarCheck(Result):
    """The outcome of a comparison of polar degrees; fields as in :class:`HilbertCheck`, ``counted`` is by slices."""

    model: SingleLayerAttention
    verdict: Literal["CONFIRMED", "REFUTED", "UNDECIDED", "NOT_APPLICABLE"]
    reason: str
    computed: tuple[int, ...] = ()
    predicted: tuple[int, ...] = ()
    counted: tuple[int, ...] = ()
    engine_version: str = ""
    seconds: float = 0.0

    @property
    def refuted(self) -> bool:
        """Whether the prediction is wrong."""
        return self.verdict == "REFUTED"

    @property
    def undecided(self) -> bool:
        """Whether nothing was decided, though the prediction applies."""
        return self.verdict == "UNDECIDED"

    def to_sheet(self) -> Sheet:
        """The numbers, and the verdict."""
        named = (("computed", self.computed), ("predicted", self.predicted), ("counted", self.counted))
        facts = [(name, ", ".join(map(str, values)) or None) for name, values in named]
        finding = Findings([Finding(self.verdict, "polar", TEXT, (self.reason,))])
        title = f"Polar degrees of the Zariski closure, lightning self-attention, {self.model}, over QQ"
        return Sheet(title, [Facts([*facts, ("computed in", duration(self.seconds))]), finding], [])

    def to_json(self) -> dict[str, Any]:
        """The verdict and the numbers."""
        words = {"statement": "polar", "part": "", "text": TEXT, "source": SOURCE}
        return result_json(self.model.to_json(), "QQ", self.engine_version or None, self.seconds) | {
            "verdicts": [words | {"verdict": self.verdict, "reason": self.reason}],
            "computed": list(self.computed),
            "predicted": list(self.predicted),
            "counted": list(self.counted),
            "unfinished": None,
        }

    def to_macaulay2(self) -> str:
        """The numbers as Macaulay2 lists."""
        named = (("computed", self.computed), ("predicted", self.predicted))
        return "\n".join(f"{name} = {{{', '.join(map(str, values))}}}" for name, values in named)


def polar_check(model: SingleLayerAttention, *, engine: Engine, timeout: float | None = None) -> PolarCheck:
    """Compare the polar degrees that the theorem predicts with integrals by localization, and with points in slices."""
    if reason := not_applicable(model):
        return PolarCheck(model, "NOT_APPLICABLE", reason)
    with limited(timeout) as running:
        predicted = predicted_polar_degrees(model)
        integrals = integrals_at_fixed_points(model.d, model.alpha)
        loci = observed_loci(model)
        if integrals is None or not loci:
            return PolarCheck(
                model, "UNDECIDED", "the case is too large for localization, or its orbits to be observed"
            )
        computed = polar_sums(model, integrals)
        counted: tuple[int, ...] = ()
        if model.independent_count <= FEW_COORDINATES:
            counted = polar_degrees(model, engine=engine, method="slices").degrees
        critical = [locus for locus in loci if locus.kernel]
        if any(locus.kernel >= locus.codimension for locus in critical):
            return PolarCheck(
                model, "UNDECIDED", f"the integrals prove nothing: {critical}", computed, predicted, counted
            )
        same = computed == predicted and counted in ((), predicted)
        reason = f"at all {len(loci)} orbits the kernel of the differential is smaller than the codimension"
        if counted:
            reason += "; points in slices modulo a prime are as many"
        version = engine.version if counted else ""
        outcome: Literal["CONFIRMED", "REFUTED"] = "CONFIRMED" if same else "REFUTED"
        reason = reason if same else "the numbers differ"
        return PolarCheck(model, outcome, reason, computed, predicted, counted, version, running.seconds)
