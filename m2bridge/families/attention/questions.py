"""Questions about one closure that certificates answer.

There are three: the whole closure, its equations up to a degree by exact linear algebra,
and its polar degrees by the theorem of the family. None of the answers is a verdict. They are
computed in ``closure_answers``, which needs SymPy; it is imported when something is computed, as a
batch is planned without it.

To make a certificate, ``observe`` of a question computes a result, and ``content`` turns it into
JSON: the answer, the evidence from which a checker recomputes it, and the names of the lemmas on
which the checker relies. ``summary`` takes such an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.base import ComputedQuestion
from m2bridge.limits import importing

if TYPE_CHECKING:
    from m2bridge.certificates.form import Content
    from m2bridge.engine.script import Script
    from m2bridge.families.attention.closure_answers import CertifiedEquations
    from m2bridge.maps.closure import Closure
    from m2bridge.maps.degrees.polar_degrees import PolarDegrees


class ClosureQuestion(ComputedQuestion[SingleLayerAttention, "Closure"]):
    """The question about the closure: dimension, degree and generators of its ideal."""

    __slots__ = ()

    key = "closure"
    text = "Dimension, degree and generators of the ideal of the Zariski closure."

    def observe(self, model: SingleLayerAttention) -> Closure:
        """Compute the closure, and all of its invariants."""
        with importing():
            from m2bridge.families.attention.closure_answers import observe_closure

        return observe_closure(model)

    def content(self, model: SingleLayerAttention, observed: Closure) -> Content:
        """Return the invariants, and the generators from which a checker recomputes them."""
        with importing():
            from m2bridge.families.attention.closure_answers import closure_content

        return closure_content(model, observed)

    def summary(self, answer: dict[str, Any]) -> str:
        """Return dimension, degree and degrees of generators of an answer, in words."""
        from m2bridge.convert.printing import degree_summary

        degrees = degree_summary(answer["generator_degrees"])
        return f"dimension {answer['dimension']}, degree {answer['degree']}, generators: {degrees}"

    def script(self, model: SingleLayerAttention) -> Script:
        """Return the program of the elimination."""
        with importing():
            from m2bridge.families.attention.closure_answers import closure_program

        return closure_program(model)

    def needs_engine(self, model: SingleLayerAttention) -> bool:
        """Return True, since Macaulay2 eliminates."""
        return True

    def usual(self, model: SingleLayerAttention) -> bool:
        """Return whether ``all`` includes the question: with few coordinates it takes seconds."""
        # it depends on the case alone, so that everybody asks the same questions
        return model.coordinate_count <= 12

    def within_reach(self, model: SingleLayerAttention) -> bool:
        """Return whether elimination ends within minutes, as the number of coordinates tells."""
        from m2bridge.families.attention.observations.by_degree import can_be_eliminated

        return can_be_eliminated(model.coordinate_count)

    def trusts_program(self, model: SingleLayerAttention) -> bool:
        """Return whether t = 1: then a checker may recompute the ideal only up to a degree."""
        return model.t == 1


CLOSURE = ClosureQuestion()


class EquationsQuestion(ComputedQuestion[SingleLayerAttention, "CertifiedEquations"]):
    """The question about equations up to a degree, answered by linear algebra in weight spaces."""

    __slots__ = ()

    key = "equations"
    text = (
        "Hilbert function and minimal generators of the ideal of the Zariski closure up to a"
        " degree, Hilbert polynomial."
    )

    def observe(self, model: SingleLayerAttention) -> CertifiedEquations:
        """Compute the ideal up to a degree; try to prove that all generators are found."""
        with importing():
            from m2bridge.families.attention.closure_answers import observe_equations

        return observe_equations(model)

    def content(self, model: SingleLayerAttention, observed: CertifiedEquations) -> Content:
        """Return the results up to the degree, and those about all degrees that are proved."""
        with importing():
            from m2bridge.families.attention.closure_answers import equations_content

        return equations_content(model, observed)

    def summary(self, answer: dict[str, Any]) -> str:
        """Return degrees of generators and values of the Hilbert function, in words, and if these
        are all.
        """
        from m2bridge.convert.printing import degree_summary

        degrees = degree_summary(answer["generators_up_to_degree"])
        generators = f"generators of degree ≤ {answer['max_degree']}: {degrees}"
        scope = "nothing is claimed about higher degrees"
        if answer["all_generators"]:
            scope = "these are all"
        values = ", ".join(map(str, answer["hilbert_function"]))
        summary = f"{generators}; {scope}; Hilbert function {values}, …"
        if answer["hilbert_series"]:
            summary += "; Hilbert series proved"
        return summary

    def within_reach(self, model: SingleLayerAttention) -> bool:
        """Return whether the equations can be computed: the coordinates are few enough."""
        with importing():
            from m2bridge.families.attention.closure_answers import are_equations_within_reach

        return are_equations_within_reach(model)


EQUATIONS = EquationsQuestion()


class PolarQuestion(ComputedQuestion[SingleLayerAttention, "PolarDegrees"]):
    """The question about polar degrees, answered by the theorem of the family."""

    __slots__ = ()

    key = "polar-degrees"
    text = (
        "Polar degrees, generic Euclidean distance degree and dual variety of the Zariski closure."
    )

    def observe(self, model: SingleLayerAttention) -> PolarDegrees:
        """Compute the polar degrees, with the strata of the source on which the theorem relies."""
        with importing():
            from m2bridge.families.attention.closure_answers import observe_polar_degrees

        return observe_polar_degrees(model)

    def content(self, model: SingleLayerAttention, observed: PolarDegrees) -> Content:
        """Return the polar degrees, and the strata of the source on which they rely."""
        with importing():
            from m2bridge.families.attention.closure_answers import polar_content

        return polar_content(model, observed)

    def summary(self, answer: dict[str, Any]) -> str:
        """Return the polar degrees of an answer and their sum, in words."""
        degrees = ", ".join(map(str, answer["polar_degrees"]))
        return f"polar degrees {degrees}; generic ED degree {answer['generic_ed_degree']}"

    def within_reach(self, model: SingleLayerAttention) -> bool:
        """Return whether t, d ≥ 2, as the theorem needs, and the case is not too large."""
        with importing():
            from m2bridge.families.attention.closure_answers import are_polar_degrees_within_reach

        return are_polar_degrees_within_reach(model)


POLAR = PolarQuestion()
