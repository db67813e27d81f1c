"""The predictions of each statement, for all sizes: conditions on sizes and orbits, or numbers.

They are made of the formulas in ``words.toml`` from which predictions for one case are made, too.
What they are compared with stands in ``base_ideals.py``.

A size is (d, d', a), where d' is ``dp`` in conditions, and α = min(a, d). An orbit (r, s, m) of
functions has r = rk A, s = rk V, and m the dimension of the intersection of the column space of A
and the row space of V; "sets of orbits" have pairs of a size and one of its orbits. All sets are
sets of the library isl.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import islpy as isl

from m2bridge.certificates import conditions
from m2bridge.certificates.wording import Words
from m2bridge.errors import ResourceError
from m2bridge.families.attention.all_sizes.base_ideals import (
    ALL,
    FORMULAS,
    NONE,
    OBSERVABLES,
    SizeFormula,
    SizeOrbitSets,
    compared_polar_degrees,
    sizes_with_polar_theorem,
)
from m2bridge.families.attention.all_sizes.integer_sets import (
    NAMES,
    WORDS,
    orbits,
    orbits_over,
    sizes,
    sizes_with_orbits,
    variables,
    zeros,
)
from m2bridge.families.attention.all_sizes.weight_types import exposed_types, types, with_some_type
from m2bridge.families.attention.hypotheses import WORDS as WORDS_OF_CASES
from m2bridge.families.attention.polar.chern_integrals import stated_polar_degrees
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.results.base import Decision
from m2bridge.statements.statement import Numbers


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """An assumption of a statement on the size, as a condition and in words; ``added`` says whether
    m2bridge adds it to a statement that its source prints without it.
    """

    condition: str
    reason: str
    added: bool = False


class DecidedSizes(NamedTuple):
    """A set of sizes in three parts: where a statement is true, is false, and is not decided."""

    true: isl.Set
    false: isl.Set
    unknown: isl.Set


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Where the conclusion of a statement is false or not decided, without regard to its
    hypotheses: ``vacuous`` are the sizes without an orbit that it is about, ``wrong`` the orbits
    where it is false, or ``None`` if it is not about orbits.
    """

    false: isl.Set
    unknown: isl.Set
    vacuous: isl.Set
    wrong: isl.Set | None = None

    def restricted_to(self, size_set: isl.Set) -> DecidedSizes:
        """The parts of ``size_set`` where the conclusion is true, false and not decided."""
        false = size_set.intersect(self.false)
        unknown = size_set.intersect(self.unknown)
        true = size_set.subtract(false).subtract(unknown)
        return DecidedSizes(true=true, false=false, unknown=unknown)


@dataclass(frozen=True, slots=True)
class SetPrediction:
    """The orbits, or the sizes, for which an observable, a key of OBSERVABLES, is true, by a
    statement about the orbits in ``concerns``; an empty condition always holds.
    """

    observable: str
    condition: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    concerns: str = ""

    def conclusion(self, facts: SizeOrbitSets) -> Conclusion:
        """Compare the statement with the observation: about orbits, it is false for the sizes with
        some orbit where it differs, among the orbits it concerns for which the observable is
        defined.
        """
        observed = OBSERVABLES[self.observable](facts)
        unknown = ALL.subtract(observed.known)
        if observed.is_about_sizes:
            different_sizes = _symmetric_difference(observed.true, sizes(self.condition))
            false = different_sizes.intersect(observed.known)
            return Conclusion(false=false, unknown=unknown, vacuous=NONE)
        about = orbits(self.concerns).intersect(observed.about)
        different_orbits = _symmetric_difference(observed.true, orbits(self.condition))
        wrong = different_orbits.intersect(about).intersect(orbits_over(observed.known))
        vacuous = ALL.subtract(sizes_with_orbits(about))
        return Conclusion(
            false=sizes_with_orbits(wrong),
            # where there is no orbit to speak of nothing is left to be decided
            unknown=unknown.subtract(vacuous),
            vacuous=vacuous,
            wrong=wrong,
        )


@dataclass(frozen=True, slots=True)
class FormulaPrediction:
    """The number, a key of FORMULAS, that a statement predicts: formulas for disjoint sets of
    sizes, together all sizes.
    """

    observable: str
    cases: tuple[tuple[str, SizeFormula], ...]
    hypotheses: tuple[Hypothesis, ...] = ()

    def conclusion(self, facts: SizeOrbitSets) -> Conclusion:
        """Compare the statement with the observed number on each set of sizes with one observed
        formula, one condition of the statement, and α = a, or α = d: there both are polynomials.
        """
        d, dp, a, D = variables(*NAMES)
        # min(a, d) is not a polynomial, but it is one under each of these conditions
        values_of_alpha = (("a <= d", a), ("a > d", d))
        # the sizes where both numbers are known to be equal, and to be different
        agree, differ = NONE, NONE
        observed_formulas = FORMULAS[self.observable](facts)
        for observed_case, stated_case, alpha_case in product(
            observed_formulas, self.cases, values_of_alpha
        ):
            where, observed = observed_case
            condition, predicted = stated_case
            alpha_condition, alpha = alpha_case
            equal = zeros(predicted(d, dp, alpha, D) - observed(d, dp, alpha, D))
            if equal is None:
                # the zeros are not known to be a set of isl, so these sizes stay open
                continue
            size_set = where.intersect(sizes(condition)).intersect(sizes(alpha_condition))
            agree = agree.union(size_set.intersect(equal))
            differ = differ.union(size_set.subtract(equal))
        return Conclusion(false=differ, unknown=ALL.subtract(agree).subtract(differ), vacuous=NONE)


@dataclass(frozen=True, slots=True)
class NumbersPrediction:
    """Polar degrees for each size, by a statement, which no polynomial gives: compared at some
    sizes, for all others by the theorem. ``predict`` returns ``None`` for a size that is too large.
    """

    predict: Callable[[LayerSizes], Numbers | None]
    observable: str
    hypotheses: tuple[Hypothesis, ...] = ()

    def conclusion(self, facts: SizeOrbitSets) -> Conclusion:
        """Compare the statement with the numbers of some sizes.

        Sizes without the conditions of the theorem are open, as there the numbers that are compared
        need not be the polar degrees. So are sizes for which only numbers modulo primes differ.
        """
        differ = NONE
        unknown = ALL.subtract(sizes_with_polar_theorem(facts))
        for known_case in compared_polar_degrees(facts):
            predicted = self.predict(known_case.shape)
            assert predicted is not None, "None is returned for large cases only"
            decision, _ = known_case.polar_degrees.against(predicted)
            if decision is Decision.REFUTED:
                differ = differ.union(known_case.same_functions)
            if decision is Decision.UNDECIDED:
                unknown = unknown.union(known_case.same_functions)
        return Conclusion(false=differ.subtract(unknown), unknown=unknown, vacuous=NONE)


@dataclass(frozen=True, slots=True)
class TypePrediction:
    """The exposed types of weights, by a statement: a condition on (d, d', a, r, s, m, k, q)."""

    condition: str
    observable: str
    hypotheses: tuple[Hypothesis, ...] = ()

    def conclusion(self, facts: SizeOrbitSets) -> Conclusion:
        """Compare the statement with the exposed types: it is false for the sizes where they
        differ.
        """
        differ = _symmetric_difference(exposed_types(facts), types(self.condition))
        return Conclusion(false=with_some_type(differ), unknown=NONE, vacuous=NONE)


Prediction = SetPrediction | FormulaPrediction | NumbersPrediction | TypePrediction


def hypotheses(words: Words) -> tuple[Hypothesis, ...]:
    """The assumptions of a statement on sizes: all of its hypotheses but t ≥ 2."""
    result = []
    for name in words.assumes:
        if name == "several-tokens":
            continue
        if name not in WORDS.hypotheses:
            raise ResourceError(f"all_sizes/words.toml: no words of the hypothesis '{name}'")
        condition = _isl(WORDS_OF_CASES.conditions[name])
        is_added = words.printed is not None and name not in words.printed
        result.append(Hypothesis(condition, WORDS.hypotheses[name], added=is_added))
    return tuple(result)


def _isl(condition: str) -> str:
    """A condition in the language of isl; the empty one always holds."""
    if condition in ("", "True"):
        return ""
    return conditions.isl(condition, {"alpha": "min(a, d)"})


DECIDED = {*OBSERVABLES, *FORMULAS, "polar_degrees", "exposed_types"}
"""The observables about which statements are decided for all sizes."""


def _prediction(words: Words) -> Prediction:
    """The prediction of a statement for all sizes."""
    observable = words.as_property or words.observable
    assumed = hypotheses(words)
    if observable in FORMULAS:
        pieces = conditions.pieces(words.value)
        cases = tuple((_isl(condition), _formula(text)) for condition, text in pieces)
        return FormulaPrediction(observable, cases, assumed)
    if observable == "polar_degrees":
        return NumbersPrediction(stated_polar_degrees, observable, assumed)
    if observable == "exposed_types":
        return TypePrediction(_isl(words.value), observable, assumed)
    condition = "" if words.as_property else _isl(words.value)
    return SetPrediction(observable, condition, assumed, concerns=_isl(words.orbits))


def _formula(text: str) -> SizeFormula:
    """The function of d, d', α and D that a formula is, for polynomials."""
    return lambda d, dp, alpha, D: conditions.value(
        text, {"d": d, "dp": dp, "alpha": alpha, "D": D}
    )


PREDICTIONS: dict[tuple[str, str], Prediction] = {
    (words.key, words.part): _prediction(words)
    for words in WORDS_OF_CASES.statements
    if (words.as_property or words.observable) in DECIDED
}


def _symmetric_difference(first: isl.Set, second: isl.Set) -> isl.Set:
    """The symmetric difference of the sets."""
    return first.subtract(second).union(second.subtract(first))
