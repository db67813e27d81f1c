"""Predictions of the statements about single-layer attention, and verdicts on them.

Rests on: a statement predicts for a case a number, or yes or no, or one for each orbit; it is
compared with what evidence.py observes. Why that decides its words: docs/statements.md.
Proved in: docs/mathematics.md (proposition-boundary, proposition-not-manifold, theorem-degree,
theorem-smooth) and docs/polar-degrees.md (theorem-polar).
Computed here: predictions, from the formulas of statements in words.toml alone; verdicts, with the
largest orbit where a statement fails as witness.
On trust: the lemmas that words.toml lists for each observable.

The formulas are those that the program reads, too. No prediction uses an observation, and no
observation uses a prediction; and observations are computed in other ways than by the program.

Notation. Cases, d, d', a, t, α, weights (A, V), orbits (r, s, m), fibres, the map f and the closure
are as in case.py; Y, W and polar degrees δ_0, …, δ_n as in integrals.py. Statements with a
number are statements of the paper by Henry, Marchetti and Kohn; others have a name in its place.

* "Words" are a statement, or a part of one, with its key, part, text, observable and formulas.
* ``evidence`` is what ``observe`` in evidence.py finds: numbers of the case, and for each orbit its
  ``facts``. Where a hypothesis fails, the verdict names it and still has the values.
* A Content is what a certificate should have, as it is found here: the answer with its verdicts,
  the evidence, and the lemmas on trust. A Difference is a place, what is stored there, and what was
  found. ``listed`` are the words of the statements that a certificate lists.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import comb, factorial
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from m2bridge.certificates import conditions
from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.certificates.wording import Words, wording
from m2bridge.checker import global_verdict, outcome_of_several, statements, verdict
from m2bridge.families.attention.checker.case import (
    Case,
    Orbit,
    Pair,
    exchange_vectors,
    matrices,
    representative,
)
from m2bridge.families.attention.checker.evidence import missing_facts, observe
from m2bridge.families.attention.checker.integrals import (
    localized_polar_degrees,
    stated_polar_degrees,
)
from m2bridge.families.attention.checker.slices import count_polar_degrees, is_counted_always

WORDS = wording(Path(__file__).parents[1] / "words.toml")
Json = dict[str, Any]
# The observed value of an observable of a case: yes or no, a number, or polar degrees δ_n, …, δ_0
# by the names of methods; None if it is not known.
Observed = int | dict[str, list[int | None]] | None


def sizes(case: Case) -> Json:
    """The sizes of a case by their names in formulas of words.toml."""
    return {"d": case.d, "dp": case.d_out, "a": case.a, "t": case.t, "alpha": case.alpha}


def numbers(text: str, case: Case, orbit: Orbit | None = None) -> Json:
    """The numbers of a case, and of an orbit, by their names in a formula of words.toml."""
    named = sizes(case)
    if orbit is not None:
        named |= zip("rsm", orbit, strict=True)
    if "D" in conditions.names(text):
        named["D"] = source_degree(case)
    return named


def source_degree(case: Case) -> int:
    """The degree C(δ, d d' − 1) deg P(D_α) of the source P(D_α) × P(V), of dimension δ, by
    Giambelli's product of C(d + i, α) / C(α + i, α) over i < d − α
    (docs/mathematics.md#theorem-degree).
    """
    d, alpha = case.d, case.alpha
    numerator = 1
    denominator = 1
    for i in range(d - alpha):
        numerator *= factorial(d + i) * factorial(i)
        denominator *= factorial(alpha + i) * factorial(d - alpha + i)
    return comb(case.projective_dimension, d * case.d_out - 1) * (numerator // denominator)


def fibre_of_rank_one(case: Case, orbit: Orbit) -> list[Json]:
    """The fibre by Theorem 3.2 where A and V have rank one: (k qᵀ, h vᵀ) and (v qᵀ, h kᵀ), which
    are equal if k = v. The representative of an orbit has q = h = e_1.
    """
    pair = representative(orbit)
    exchanged = exchange_vectors(pair)
    if exchanged == pair:
        return as_json([pair], case)
    return as_json([pair, exchanged], case)


# The predictions that are no formula, by observable or by the property of all sizes.
PREDICTED: dict[str, Callable[..., Any]] = {
    "fibre_exchanged": fibre_of_rank_one,
    # where A or V has a rank above one: the representative alone
    "fibre_itself": lambda case, orbit: as_json([representative(orbit)], case),
    "polar_degrees": stated_polar_degrees,
}


def predicted(words: Words, case: Case, *orbit: Orbit) -> Any:
    """The value that a statement predicts of a case, or of an orbit, whatever its hypotheses."""
    predict = PREDICTED.get(words.as_property or words.observable)
    if predict is not None:
        return predict(case, *orbit)
    return conditions.value(words.value, numbers(words.value, case, *orbit))


def failing_hypothesis(words: Words, case: Case) -> str | None:
    """The words for the first hypothesis of a statement that fails in a case; None if all hold."""
    return next(iter(WORDS.failing(words.assumes, sizes(case))), None)


def statement(key: str, certificate: Certificate) -> Content | Difference:
    """The content of a certificate on the statements with this key, or a difference if it does not
    list facts about all orbits; for t = 1, another variety, nothing is stated or computed.
    """
    case = Case(**certificate.case)
    listed = WORDS.listed(key, certificate.answer)
    if case.t == 1:
        return inapplicable(listed, WORDS.hypotheses["several-tokens"])
    failure = missing_facts(certificate.evidence, case)
    if failure:
        return failure
    evidence, points = observe(case.d, case.d_out, case.alpha)
    # polar degrees are counted as points, also where that takes long, if the certificate has them
    with_slices = _has_counted_points(certificate.answer)
    verdicts = []
    for words in listed:
        if words.orbits:
            verdicts.append(_verdict_at_orbits(words, case, evidence, points))
            continue
        observed = _observed_in_case(words.observable, case, evidence, with_slices=with_slices)
        hypothesis = failing_hypothesis(words, case)
        verdicts.append(global_verdict(words, hypothesis, predicted(words, case), observed))
    return statements(WORDS, listed, verdicts, evidence)


def inapplicable(listed: Sequence[Words], reason: str) -> Content:
    """The content of a certificate on statements of which a hypothesis fails, without evidence."""
    verdicts = [verdict(words, hypothesis=reason, outcome="") for words in listed]
    return statements(WORDS, listed, verdicts, evidence={})


# Statements that take a computation of their own, which orbits do not decide.
SEPARATE = {"hilbert", "generators", "generated", "exposed", "exposed-heads", "learning-degree"}
# Those about the whole come first, as in the messages of former releases.
QUESTIONS = {
    words.key: partial(statement, words.key)
    for words in sorted(WORDS.statements, key=lambda words: bool(words.orbits))
    if words.key not in SEPARATE
}


def _has_counted_points(answer: Json) -> bool:
    """Whether a verdict of an answer, which may be anything, has polar degrees by slices."""
    verdicts = answer.get("verdicts")
    if not isinstance(verdicts, list):
        return False
    for stored in verdicts:
        observed = stored.get("observed") if isinstance(stored, dict) else None
        if isinstance(observed, dict) and "slices" in observed:
            return True
    return False


# Observables of a case as a whole.


def _observed_in_case(
    observable: str, case: Case, evidence: Json, *, with_slices: bool = False
) -> Observed:
    """The observed value of an observable of the whole case, which follows from the evidence."""
    map_is_defined_everywhere = bool(evidence["base_locus_empty"])
    generic_fibre = evidence["generic_fibre"]
    if observable == "zero_fibre":
        # the function is zero only for A = 0 or V = 0
        return map_is_defined_everywhere
    if observable == "closed":
        # the image of a compact source under a morphism is closed; else nothing is known
        return True if map_is_defined_everywhere else None
    if observable == "products":
        return bool(evidence["products_determine_functions"])
    if observable == "birational":
        return bool(generic_fibre["length"] == 1)
    if observable == "special_fibre_points":
        # the largest number of points of a fibre; 0 if the generic fibre has as many
        numbers_of_points = [facts["fibre_points"] for facts in evidence["orbits"]]
        special = [points for points in numbers_of_points if points > generic_fibre["points"]]
        return max(special, default=0)
    if observable == "smooth_manifold":
        # The neuromanifold is a cone, which is a C¹ manifold near zero only if it is a linear space
        # (docs/mathematics.md#proposition-not-manifold). The coordinates are independent functions
        # on it, so this can only be the space of all coordinates; and it is for d = 1.
        if evidence["dimension"] < case.coordinate_count:
            return False
        return True if case.d == 1 else None
    if observable == "polar_degrees":
        return _polar_degrees(case, evidence, with_slices=with_slices)
    if observable == "polar_integrals":
        # Whether polar degrees are the stated integrals, in former certificates: where
        # theorem-polar applies it says so, unless numbers for the case differ.
        if not _polar_theorem_applies(case, evidence):
            return None
        integrals = stated_polar_degrees(case)
        observed = _polar_degrees(case, evidence)
        if integrals is None or observed is None:
            return True  # too large a case to compare numbers
        return outcome_of_several(integrals, observed) != "REFUTED"
    in_evidence: int | None = evidence[observable]
    return in_evidence


def _polar_degrees(
    case: Case, evidence: Json, *, with_slices: bool = False
) -> dict[str, list[int | None]] | None:
    """The polar degrees {name of a method: δ_n, …, δ_0}, with None for a δ_i that it does not give;
    None where no theorem says that these numbers are the polar degrees, or the case is too large.

    The methods are "integrals", localization and not the stated sums; "projection_formula", for the
    degree δ_n alone; and "slices", points in general slices, with ``with_slices`` also where that
    is expensive.
    """
    if evidence["degree"] is None:
        return None
    # For α = d' = 1 < d functions are q ⊗ c with symmetric c of rank at most two, for which there
    # is a second theorem, about two weights of a general function
    # (docs/polar-degrees.md#theorem-polar-symmetric).
    fibre = evidence["generic_fibre"]
    is_two_to_one = fibre["points"] == fibre["length"] == 2
    is_symmetric = case.is_of_symmetric_matrices and is_two_to_one and evidence["base_locus_empty"]
    if not (_polar_theorem_applies(case, evidence) or is_symmetric):
        return None
    integrals = localized_polar_degrees(case)
    if integrals is None:
        return None
    n = evidence["dimension"] - 1  # from the cone to the projective variety
    degree_alone = [evidence["degree"]] + [None] * n
    degrees = {"integrals": [*integrals], "projection_formula": degree_alone}
    if with_slices or is_counted_always(case):
        point_counts = count_polar_degrees(case)
        if point_counts is not None:
            degrees["slices"] = point_counts
    return degrees


def _polar_theorem_applies(case: Case, evidence: Json) -> bool:
    """Whether f is defined everywhere and birational, and over every orbit the kernel of its
    differential on Y zero, or of smaller dimension than the codimension, in Y, of what lies over
    the orbit (docs/polar-degrees.md#theorem-polar). Dimensions are of cones.
    """
    for facts in evidence["orbits"]:
        r, _, _ = facts["orbit"]
        # over A of rank r the W are a Grassmannian, whose tangent vectors are in the kernel
        grassmannian_dimension = (case.alpha - r) * (case.d - case.alpha)
        # The other kernel vectors move (A, V), so they are tangent to the fibre of f. Its tangent
        # space has the length less the number of points as dimension, as the square of the maximal
        # ideal of each point is zero (``_length_at`` in evidence.py).
        fibre_tangent_dimension = facts["fibre_length"] - facts["fibre_points"]
        kernel_bound = grassmannian_dimension + fibre_tangent_dimension
        codimension = evidence["dimension"] - (facts["dimension"] + grassmannian_dimension)
        if kernel_bound > 0 and kernel_bound >= codimension:
            return False
    return bool(evidence["base_locus_empty"] and evidence["generic_fibre"]["length"] == 1)


# Verdicts orbit by orbit.


class ComparisonAtOrbit(NamedTuple):
    """The facts about an orbit, and the predicted and observed value there; None: not known."""

    facts: Json
    predicted: Any
    observed: Any

    @property
    def fails(self) -> bool:
        """Whether the observed value is known, and not the predicted one."""
        return self.observed is not None and self.observed != self.predicted


def _verdict_at_orbits(
    words: Words, case: Case, evidence: Json, points: Mapping[Orbit, list[Pair]]
) -> Json:
    """The verdict on a statement about orbits: REFUTED if it fails at an orbit that it concerns.
    ``points`` has for each orbit the points of its fibre, which Theorem 3.2 is about.
    """
    comparisons = []
    for facts in evidence["orbits"]:
        orbit = tuple(facts["orbit"])
        if not conditions.value(words.orbits, numbers(words.orbits, case, orbit)):
            continue
        observed: Any
        if words.observable == "fibre":
            observed = as_json(points[orbit], case)
        else:
            has_family = evidence["boundary_family"]
            observed = _observed_at_orbit(words.observable, facts, has_family=has_family)
        comparisons.append(ComparisonAtOrbit(facts, predicted(words, case, orbit), observed))
    failing = [comparison for comparison in comparisons if comparison.fails]
    undecided = [comparison for comparison in comparisons if comparison.observed is None]
    outcome = "CONFIRMED"
    if failing:
        outcome = "REFUTED"
    elif undecided:
        outcome = "UNDECIDED"
    hypothesis = failing_hypothesis(words, case)
    witness = None
    # where a hypothesis fails, the statement claims nothing that could be refuted
    if failing and hypothesis is None:
        largest = max(failing, key=lambda one: (one.facts["dimension"], one.facts["orbit"]))
        witness = _witness(largest, case, evidence["dimension"])
    return verdict(
        words,
        hypothesis=hypothesis,
        outcome=outcome,
        concerned=len(comparisons),
        failing=[comparison.facts["orbit"] for comparison in failing],
        undecided=[comparison.facts["orbit"] for comparison in undecided],
        witness=witness,
    )


def _observed_at_orbit(observable: str, facts: Json, *, has_family: bool) -> bool | None:
    """The observed value of an observable at an orbit; None if it is not known.

    "boundary" says whether the functions of the orbit are limits of real functions without real
    weights. In ``facts`` it is True where the fibre is not reduced; that is proved at (1, 1, 1), if
    there is the family of real functions without real weights. False is proved where the fibre is
    reduced and has at most two points (docs/mathematics.md#proposition-boundary).
    """
    if observable not in ("boundary", "boundary_critical"):
        in_facts: bool | None = facts[observable]
        return in_facts
    is_boundary: bool = facts["boundary"]
    if is_boundary:
        is_proved = has_family and facts["orbit"] == [1, 1, 1]
    else:
        is_proved = facts["fibre_points"] <= 2
    if not is_proved:
        return None
    if observable == "boundary_critical":
        return bool(is_boundary == facts["critical"])
    return is_boundary


def _witness(comparison: ComparisonAtOrbit, case: Case, dimension: int) -> Json:
    """The orbit where a statement fails, weights over it, and the numbers that show it."""
    facts = comparison.facts
    orbit = tuple(facts["orbit"])
    rank_of_A, _, _ = orbit
    return {
        "orbit": facts["orbit"],
        **matrices(representative(orbit), case),
        "numbers": {
            "dimension": dimension,
            "tangent_dimension_at_least": facts["tangent_lower_bound"],
            "fibre_length": facts["fibre_length"],
            "fibre_points": facts["fibre_points"],
            "rank_A": rank_of_A,
            "generic_rank_A": case.alpha,
        },
        "predicted": comparison.predicted,
        "observed": comparison.observed,
    }


def as_json(pairs: list[Pair], case: Case) -> list[Json]:
    """Pairs of weights as a certificate has them, in increasing order of A, then V."""
    listed = [matrices(pair, case) for pair in pairs]
    return sorted(listed, key=itemgetter("A", "V"))
