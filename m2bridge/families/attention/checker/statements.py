"""Predictions of the statements about single-layer attention, and verdicts on them.

Rests on: a statement predicts for a case a number, or yes or no, or one for each orbit; it is
compared with what evidence.py observes. Why that decides its words: docs/statements.md.
Proved in: docs/mathematics.md (proposition-boundary, proposition-not-manifold, theorem-degree,
theorem-smooth) and docs/polar-degrees.md (theorem-polar).
Computed here: predictions, from formulas of the statements alone; verdicts, with the largest orbit
where a statement fails as witness.
On trust: the lemmas that words.toml lists for each observable.

No prediction uses an observation, and no observation uses a prediction.

Notation. Cases, d, d', a, t, α, weights (A, V), orbits (r, s, m), fibres, the map f and the closure
are those of case.py; Y, W and polar degrees δ_0, …, δ_n those of integrals.py. Statements with a
number are those of the paper by Henry, Marchetti and Kohn; others have a name in its place.

* An orbit (r, s, m) of functions has r = rk A, s = rk V and m the dimension of the intersection of
  the column space of A and the row space of V; α = min(a, d) is the largest r.
* "Words" are a statement, or a part of one, with its key, part, text and observable: words.toml.
* An observable is what a statement is about, such as "singular". It is predicted by the statement,
  and observed by ``evidence``, which is what ``observe`` in evidence.py finds: numbers of the
  case, and for each orbit its ``facts``.
* A statement concerns an orbit if it says something there. It has hypotheses, such as "there are
  several tokens" (TOKENS and PAPER are lists of their names); where one fails, the verdict names it
  and still has the values.
* A Content is what a certificate should have, as it is found here: the answer with its verdicts,
  the evidence, and the lemmas that are taken on trust. A Difference says where what is stored
  differs: a place, what stands there, what was found. ``listed`` are the words of the statements
  that a certificate lists.
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


def numbers(text: str, case: Case, orbit: Orbit | None = None) -> Json:
    """The numbers of a case, and of an orbit, by their names in formulas of words.toml."""
    named = {"d": case.d, "dp": case.d_out, "a": case.a, "t": case.t, "alpha": case.alpha}
    if orbit is not None:
        named |= zip("rsm", orbit, strict=True)
    if "D" in conditions.names(text):
        named["D"] = source_degree(case)
    return named


def source_degree(case: Case) -> int:
    """The degree of the source P(D_α) × P(V), of dimension δ, under forms of bidegree (1, 1).

    It is C(δ, d d' − 1) deg P(D_α), where deg P(D_α) is Giambelli's product of C(d + i, α) /
    C(α + i, α) over i < d − α, here with factorials (docs/mathematics.md#theorem-degree).
    """
    d, alpha = case.d, case.alpha
    numerator = 1
    denominator = 1
    for i in range(d - alpha):
        numerator *= factorial(d + i) * factorial(i)
        denominator *= factorial(alpha + i) * factorial(d - alpha + i)
    return comb(case.projective_dimension, d * case.d_out - 1) * (numerator // denominator)


def fibre_of_rank_one(case: Case, orbit: Orbit) -> list[Json]:
    """The fibre by Theorem 3.2 where A and V have rank one, as certificates have weights.

    It has the points (k qᵀ, h vᵀ) and (v qᵀ, h kᵀ), which are equal if k = v. The representative of
    an orbit has q = h = e_1.
    """
    pair = representative(orbit)
    exchanged = exchange_vectors(pair)
    if exchanged == pair:
        return as_json([pair], case)
    return as_json([pair, exchanged], case)


def fibre_of_other_ranks(case: Case, orbit: Orbit) -> list[Json]:
    """The fibre by Theorem 3.2 where A or V has a rank above one: the representative alone."""
    return as_json([representative(orbit)], case)


# The predictions that are no formula, by observable or by the property of all sizes.
PREDICTED: dict[str, Callable[..., Any]] = {
    "fibre_exchanged": fibre_of_rank_one,
    "fibre_itself": fibre_of_other_ranks,
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
    for name in words.assumes:
        condition = WORDS.conditions[name]
        if not conditions.value(condition, numbers(condition, case)):
            return WORDS.hypotheses[name]
    return None


def statement(key: str, certificate: Certificate) -> Content | Difference:
    """The content of a certificate on the statements with this key: evidence and verdicts.

    A difference if the certificate does not list facts about as many orbits as there are. For t = 1
    there is no evidence, and each verdict says that several tokens are supposed.
    """
    case = Case(**certificate.case)
    listed = WORDS.listed(key, certificate.answer)
    if case.t == 1:
        # another variety, about which nothing is stated and nothing is computed
        return inapplicable(listed, WORDS.hypotheses["several-tokens"])
    failure = missing_facts(certificate.evidence, case)
    if failure:
        return failure
    # points[orbit] = the weights (A, V) that are the points of the fibre over the orbit
    evidence, points = observe(case.d, case.d_out, case.alpha)
    # polar degrees are counted as points, also where that takes long, if the certificate has them
    with_slices = _has_counted_points(certificate.answer)
    verdicts = []
    for words in listed:
        if words.orbits:
            verdicts.append(_verdict_at_orbits(words, case, evidence, points))
        else:
            verdicts.append(_global_verdict(words, case, evidence, with_slices=with_slices))
    return statements(WORDS, listed, verdicts, evidence)


def inapplicable(listed: Sequence[Words], reason: str) -> Content:
    """The content of a certificate on statements that do not apply, without evidence.

    ``reason`` has the words for the hypothesis that fails. ``listed`` are the statements.
    """
    verdicts = [verdict(words, hypothesis=reason, outcome="") for words in listed]
    return statements(WORDS, listed, verdicts, evidence={})


# Statements that take a computation of their own, which orbits do not decide.
SEPARATE = {"hilbert", "generators", "generated", "exposed", "exposed-heads", "learning-degree"}
QUESTIONS = {
    words.key: partial(statement, words.key)
    for words in WORDS.statements
    if words.key not in SEPARATE
}


# Verdicts on a case as a whole.


def _has_counted_points(answer: Json) -> bool:
    """Whether some verdict of an answer has polar degrees that were counted as points in slices.

    The answer is that of a certificate and not yet checked, so that its entries may be anything.
    """
    verdicts = answer.get("verdicts")
    if not isinstance(verdicts, list):
        return False
    for stored in verdicts:
        observed = stored.get("observed") if isinstance(stored, dict) else None
        if isinstance(observed, dict) and "slices" in observed:
            return True
    return False


def _global_verdict(words: Words, case: Case, evidence: Json, *, with_slices: bool) -> Json:
    """The verdict on a statement about the whole case: whether prediction and observation agree.

    ``evidence`` is what ``observe`` of evidence.py finds: the dimension, the generic fibre and the
    facts about each orbit. ``with_slices`` says that points in slices are counted even where that
    is expensive, because the certificate has their numbers.
    """
    observed = _observed_in_case(words.observable, case, evidence, with_slices=with_slices)
    return global_verdict(
        words,
        hypothesis=failing_hypothesis(words, case),
        predicted=predicted(words, case),
        observed=observed,
    )


def _observed_in_case(
    observable: str, case: Case, evidence: Json, *, with_slices: bool = False
) -> Observed:
    """The observed value of an observable that belongs to the whole case, not to an orbit.

    It follows from the evidence, or stands there under the name of the observable, as "dimension"
    and "degree" do. None if it is not known. ``with_slices`` matters for "polar_degrees" alone: it
    says that points in slices are counted even where that is expensive, because the certificate has
    their numbers.
    """
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
        return _points_of_special_fibres(evidence)
    if observable == "smooth_manifold":
        # whether the neuromanifold, which is a cone, is a C¹ manifold near zero, its vertex
        return _decide_manifold(case, evidence)
    if observable == "polar_degrees":
        return _polar_degrees(case, evidence, with_slices=with_slices)
    # the observable of former words: whether polar degrees are the stated ones, not these numbers
    if observable == "polar_integrals":
        return _decide_stated_polar_degrees(case, evidence)
    in_evidence: int | None = evidence[observable]
    return in_evidence


def _points_of_special_fibres(evidence: Json) -> int:
    """The largest number of points of a fibre; 0 if that is the number of the generic fibre."""
    generic_points = evidence["generic_fibre"]["points"]
    numbers = [facts["fibre_points"] for facts in evidence["orbits"]]
    special = [points for points in numbers if points > generic_points]
    return max(special, default=0)


def _polar_degrees(
    case: Case, evidence: Json, *, with_slices: bool = False
) -> dict[str, list[int | None]] | None:
    """The polar degrees of a case: {name of a method: list of δ_n, …, δ_0 as it finds them}.

    An entry is None where the method does not give this δ_i. The methods are

    * "integrals", those of the theorem, computed in another way than the stated ones;
    * "projection_formula", which gives δ_n alone, the degree of the closure;
    * "slices", points in general slices, where they are counted.

    That integrals and numbers of points are the polar degrees is one of two theorems of
    docs/polar-degrees.md: theorem-polar, where the map is birational and kernels are small, and
    theorem-polar-symmetric for α = d' = 1 < d, where it is two-to-one. The answer is None where
    neither applies, or the case is too large for integrals.

    ``with_slices`` says that points are counted in all cases that slices.py has, because a
    certificate has their numbers; without it that is done only where it is cheap.
    """
    if evidence["degree"] is None:
        return None
    if not (
        _polar_theorem_applies(case, evidence) or _symmetric_polar_theorem_applies(case, evidence)
    ):
        return None
    integrals = localized_polar_degrees(case)
    if integrals is None:
        return None
    n = evidence["dimension"] - 1  # from the cone to the projective variety
    degree_alone = [evidence["degree"]] + [None] * n
    found = {"integrals": [*integrals], "projection_formula": degree_alone}
    if with_slices or is_counted_always(case):
        counted = count_polar_degrees(case)
        if counted is not None:
            found["slices"] = counted
    return found


def _decide_stated_polar_degrees(case: Case, evidence: Json) -> bool | None:
    """The observed value of the old observable "polar_integrals", which former certificates have.

    None where theorem-polar does not apply. Where it does, the theorem itself says that polar
    degrees are the stated integrals: so the value is True, unless numbers are computed for the case
    and differ. It is True also for a case so large that no numbers are compared.
    """
    if not _polar_theorem_applies(case, evidence):
        return None
    stated = stated_polar_degrees(case)
    observed = _polar_degrees(case, evidence)
    if stated is None or observed is None:
        return True  # too large a case to compare numbers: the theorem alone says so
    return outcome_of_several(stated, observed) != "REFUTED"


def _decide_manifold(case: Case, evidence: Json) -> bool | None:
    """Whether the neuromanifold is a C¹ manifold near zero; None if that is not known.

    The neuromanifold, the set of all functions of the case, is a cone. A cone is a C¹ manifold near
    zero only if it is a linear space (docs/mathematics.md#proposition-not-manifold). The
    coordinates are linearly independent functions on it, so the only linear space that it can be is
    the whole space of the coordinates. If its dimension is smaller, it is not; for d = 1 it is.
    Nothing is known for larger d if the dimensions are equal.
    """
    if evidence["dimension"] < case.coordinate_count:
        return False
    if case.d == 1:
        return True
    return None


def _polar_theorem_applies(case: Case, evidence: Json) -> bool:
    """Whether the theorem on polar degrees applies (docs/polar-degrees.md#theorem-polar).

    It does if f is defined everywhere (its base locus is empty) and birational, and over every
    orbit the kernel of its differential on the desingularization Y is zero or of smaller dimension
    than the codimension, in Y, of what lies over the orbit. Y is the set of all (W, A, V) with W a
    subspace of dimension α that contains the columns of A.

    * Over A of rank r the W are a Grassmannian of dimension (α − r)(d − α). So what lies over the
      orbit has as many dimensions more than the orbit; and dim Y is that of the closure, as f is
      birational. (Dimensions of cones are compared, both one larger.)
    * The tangent vectors of the Grassmannian are in the kernel. The others move (A, V), so modulo
      the Grassmannian the kernel is contained in the tangent space of the fibre of f. The dimension
      of this tangent space is the length of the fibre less the number of its points, because the
      square of the maximal ideal of a point of the fibre is zero (``_length_at`` in evidence.py).
    """
    for facts in evidence["orbits"]:
        r, _, _ = facts["orbit"]
        grassmannian_dimension = (case.alpha - r) * (case.d - case.alpha)
        fibre_tangent_dimension = facts["fibre_length"] - facts["fibre_points"]
        kernel_bound = grassmannian_dimension + fibre_tangent_dimension
        codimension = evidence["dimension"] - (facts["dimension"] + grassmannian_dimension)
        if kernel_bound > 0 and kernel_bound >= codimension:
            return False
    return bool(evidence["base_locus_empty"] and evidence["generic_fibre"]["length"] == 1)


def _symmetric_polar_theorem_applies(case: Case, evidence: Json) -> bool:
    """Whether the theorem on polar degrees for symmetric matrices applies.

    Its hypotheses are α = d' = 1 < d, where functions are q ⊗ c with symmetric matrices c of rank
    at most two; that the map is defined everywhere; and that a general function has two weights
    (docs/polar-degrees.md#theorem-polar-symmetric).
    """
    generic_fibre = evidence["generic_fibre"]
    is_two_to_one = generic_fibre["points"] == generic_fibre["length"] == 2
    map_is_defined_everywhere = bool(evidence["base_locus_empty"])
    return map_is_defined_everywhere and is_two_to_one and case.is_of_symmetric_matrices


# Verdicts orbit by orbit.


def _verdict_at_orbits(
    words: Words, case: Case, evidence: Json, points: Mapping[Orbit, list[Pair]]
) -> Json:
    """The verdict on a statement about orbits: REFUTED if it fails at an orbit that it concerns.

    The verdict has the number of orbits that the statement concerns, the list of those where it
    fails, the list of those where that is not known, and as witness the orbit of the largest
    dimension where it fails. There is no witness where a hypothesis fails, as the statement then
    claims nothing. ``points`` has for each orbit the points of its fibre, weights (A, V).
    """
    failed_hypothesis = failing_hypothesis(words, case)
    comparisons = _comparisons(words, case, evidence, points)
    failing = [comparison for comparison in comparisons if comparison.fails]
    undecided = [comparison for comparison in comparisons if comparison.observed is None]
    outcome = "CONFIRMED"
    if failing:
        outcome = "REFUTED"
    elif undecided:
        outcome = "UNDECIDED"
    witness = None
    if failing and failed_hypothesis is None:
        largest = max(failing, key=ComparisonAtOrbit.sort_key)
        witness = _witness(largest, case, evidence["dimension"])
    return verdict(
        words,
        hypothesis=failed_hypothesis,
        outcome=outcome,
        concerned=len(comparisons),
        failing=[comparison.facts["orbit"] for comparison in failing],
        undecided=[comparison.facts["orbit"] for comparison in undecided],
        witness=witness,
    )


def _comparisons(
    words: Words, case: Case, evidence: Json, points: Mapping[Orbit, list[Pair]]
) -> list["ComparisonAtOrbit"]:
    """Prediction and observation of a statement at each orbit that it concerns, in their order.

    For Theorem 3.2, about fibres, the observed values are the points of the fibre over the orbit,
    weights (A, V), which ``points`` has; for other statements they are in the facts of
    ``evidence``.
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
    return comparisons


class ComparisonAtOrbit(NamedTuple):
    """The facts about an orbit, and the predicted and observed value of an observable there.

    ``observed`` is None if it is not known.
    """

    facts: Json
    predicted: Any
    observed: Any

    @property
    def fails(self) -> bool:
        """Whether the observed value is known, and not the predicted one."""
        return self.observed is not None and self.observed != self.predicted

    def sort_key(self) -> tuple[int, list[int]]:
        """The dimension of the orbit, and its numbers (r, s, m), by which orbits are ordered."""
        return self.facts["dimension"], self.facts["orbit"]


def _observed_at_orbit(observable: str, facts: Json, *, has_family: bool) -> bool | None:
    """The observed value of an observable at an orbit; None if it is not known.

    For all observables but two it is the entry of ``facts`` with the name of the observable. The
    two are "boundary", whether the functions of the orbit are limits of real functions without real
    weights; and "boundary_critical", whether "boundary" and "critical" have the same value.

    The entry "boundary" of ``facts`` is True where the fibre is not reduced, and is returned only
    where it is proved (docs/mathematics.md#proposition-boundary). True is proved at (1, 1, 1) if
    there is the family of real functions without real weights (``has_family``); False is proved
    where the fibre is reduced and has at most two points.
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
    """The orbit where a statement fails, weights over it, and the numbers that show it.

    ``comparison`` is that at this orbit, and ``dimension`` is that of the closure.
    """
    facts = comparison.facts
    orbit = tuple(facts["orbit"])
    rank_of_A, _, _ = orbit
    numbers = {
        "dimension": dimension,
        "tangent_dimension_at_least": facts["tangent_lower_bound"],
        "fibre_length": facts["fibre_length"],
        "fibre_points": facts["fibre_points"],
        "rank_A": rank_of_A,
        "generic_rank_A": case.alpha,
    }
    weights = matrices(representative(orbit), case)
    return {
        "orbit": facts["orbit"],
        **weights,
        "numbers": numbers,
        "predicted": comparison.predicted,
        "observed": comparison.observed,
    }


def as_json(pairs: list[Pair], case: Case) -> list[Json]:
    """Pairs of weights as a certificate has them, in increasing order of A, then V."""
    listed = [matrices(pair, case) for pair in pairs]
    return sorted(listed, key=itemgetter("A", "V"))
