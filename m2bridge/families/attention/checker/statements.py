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

* "Words" are a statement, or a part of one, with its key, part, text and observable: words.toml.
* An observable is what a statement is about, such as "singular". It is predicted by the statement,
  and observed by ``evidence``, which is what ``observe`` in evidence.py finds: numbers of the
  case, and for each orbit its ``facts``.
* A statement concerns an orbit if it says something there. It has hypotheses, the first few of
  HYPOTHESES; where one fails, the verdict names it and still has the values.
"""

from collections.abc import Callable, Mapping
from functools import partial
from math import comb, factorial
from operator import itemgetter
from pathlib import Path
from typing import Any

from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.certificates.wording import Words, wording
from m2bridge.checker import global_verdict, of_several, statements, verdict
from m2bridge.families.attention.checker.case import (
    Case,
    Orbit,
    Pair,
    matrices,
    representative,
    with_exchanged_vectors,
)
from m2bridge.families.attention.checker.evidence import missing_facts, observe
from m2bridge.families.attention.checker.integrals import (
    localized_polar_degrees,
    stated_polar_degrees,
)
from m2bridge.families.attention.checker.slices import counted_polar_degrees, is_counted_always

WORDS = wording(Path(__file__).parents[1] / "words.toml")
Json = dict[str, Any]


# Predictions of the statements, for a case or at an orbit of a case. They are also evaluated where
# a hypothesis fails, and have a value there.


def always(*_: Any) -> bool:
    """Predict that the observable is true, in every case and at every orbit."""
    return True


def never(*_: Any) -> bool:
    """Predict that the observable is false, in every case."""
    return False


def two_points(case: Case) -> int:
    """The number of points of special fibres by Corollary A.2."""
    return 2


def dimension(case: Case) -> int:
    """The dimension by Corollary 3.3: that of the weights less one, for (λA, V/λ)."""
    return case.source_dimension - 1


def degree(case: Case) -> int:
    """The degree of the closure: that of the source, and half of it where the map is two-to-one.

    The source P(D_α) × P(V), of dimension δ, has the degree C(δ, d d' − 1) deg P(D_α) under forms
    of bidegree (1, 1), and the map is two-to-one for α = d' = 1 < d. deg P(D_α) is Giambelli's
    product of C(d + i, α) / C(α + i, α) over i < d − α, here with factorials
    (docs/mathematics.md#theorem-degree).
    """
    d, alpha = case.d, case.alpha
    numerator = 1
    denominator = 1
    for i in range(d - alpha):
        numerator *= factorial(d + i) * factorial(i)
        denominator *= factorial(alpha + i) * factorial(d - alpha + i)
    source = comb(dimension(case) - 1, d * case.d_out - 1) * (numerator // denominator)
    if alpha == case.d_out == 1 < d:
        return source // 2
    return source


def is_square(orbit: Orbit, case: Case) -> bool:
    """Whether all products l_i v_k are multiples of the square of one form: A = v qᵀ, V = h vᵀ."""
    return orbit == (1, 1, 1)


def has_rank_one(orbit: Orbit, case: Case) -> bool:
    """Whether A and V have rank one."""
    r, s, _ = orbit
    return r == s == 1


def has_rank_at_most_one(orbit: Orbit, case: Case) -> bool:
    """Whether rk A · rk V ≤ 1, as in the paper; for nonzero functions both ranks are then one."""
    r, s, _ = orbit
    return r * s <= 1


def singular_locus(orbit: Orbit, case: Case) -> bool:
    """Whether an orbit is singular by docs/mathematics.md#theorem-singular-locus."""
    r, s, _ = orbit
    if case.a >= case.d:
        return r == s == 1
    if case.a == 1:
        return s == 1
    return r <= case.a - 1


def exchanged(orbit: Orbit, case: Case) -> list[Json]:
    """The fibre by Theorem 3.2 where A and V have rank one, as certificates have weights.

    It is A = k qᵀ, V = h vᵀ, here with q = h = e_1, and A = v qᵀ, V = h kᵀ: one point if k = v.
    """
    given = representative(orbit)
    other = with_exchanged_vectors(given)
    if other == given:
        return as_json([given], case)
    return as_json([given, other], case)


def itself(orbit: Orbit, case: Case) -> list[Json]:
    """The fibre by Theorem 3.2 for other ranks: the representative alone."""
    return as_json([representative(orbit)], case)


# The hypotheses of statements, in the order in which they are checked.
TOKENS = ("several-tokens",)
PAPER = (*TOKENS, "not-degenerate")
NONDEGENERATE = (*PAPER, "two-dimensions")
TWO_DIMENSIONS = (*TOKENS, "two-dimensions")
Hypotheses = tuple[str, ...]

# By key and part of a statement: its hypotheses, and its prediction.
GLOBAL: dict[tuple[str, str], tuple[Hypotheses, Callable[[Case], int | list[int] | None]]] = {
    ("3.2", "zero"): (TOKENS, always),
    ("3.3", ""): (PAPER, dimension),
    ("3.4", "i"): (PAPER, always),
    ("A.2", "birational"): (PAPER, always),
    ("A.2", "special fibres"): (PAPER, two_points),
    ("A.5", ""): (TOKENS, always),
    ("not-a-manifold", ""): (NONDEGENERATE, never),
    ("degree", ""): (TOKENS, degree),
    ("polar", ""): (TWO_DIMENSIONS, stated_polar_degrees),
}
# By key, part and version, where former words predict something else: those on polar degrees leave
# out α = d' = 1, and say yes or no of the formula in place of its numbers.
FORMER: dict[tuple[str, str, int], tuple[Hypotheses, Callable[[Case], bool]]] = {
    ("polar", "", 1): (NONDEGENERATE, always)
}
AT_ORBITS: dict[tuple[str, str], tuple[Hypotheses, Callable[[Orbit, Case], Any]]] = {
    ("3.2", "rank one"): (TOKENS, exchanged),
    ("3.2", "otherwise"): (TOKENS, itself),
    ("3.4", "ii"): (NONDEGENERATE, is_square),
    ("3.4", "iii"): (NONDEGENERATE, has_rank_at_most_one),
    ("A.3", ""): (NONDEGENERATE, is_square),
    ("A.4", ""): (NONDEGENERATE, has_rank_one),
    ("A.6", ""): (NONDEGENERATE, always),
    ("singular-locus", ""): (NONDEGENERATE, singular_locus),
}


def statement(key: str, certificate: Certificate) -> Content | Difference:
    """The content of a certificate on the statements with this key: evidence and verdicts.

    A difference if it does not list as many orbits as there are. For t = 1 there is no evidence.
    """
    case = Case(**certificate.case)
    listed = WORDS.listed(key, certificate.answer)
    if case.t == 1:
        # another variety, about which nothing is stated and nothing is computed
        reason = failing_hypothesis(TOKENS, case)
        return statements(WORDS, listed, [verdict(words, reason, "") for words in listed], {})
    failure = missing_facts(certificate.evidence, case)
    if failure:
        return failure
    evidence, points = observe(case.d, case.d_out, case.alpha)
    with_points = _has_counted_points(certificate.answer)
    verdicts = []
    for words in listed:
        if (words.key, words.part) in AT_ORBITS:
            verdicts.append(_verdict_at_orbits(words, case, evidence, points))
        else:
            verdicts.append(_global_verdict(words, case, evidence, with_points=with_points))
    return statements(WORDS, listed, verdicts, evidence)


QUESTIONS = {key: partial(statement, key) for key, _ in (*GLOBAL, *AT_ORBITS)}


def failing_hypothesis(hypotheses: Hypotheses, case: Case) -> str | None:
    """The first of these hypotheses that fails, in words; None if all hold."""
    holds = {
        "several-tokens": case.t >= 2,
        "not-degenerate": case.alpha > 1 or case.d_out > 1,
        "two-dimensions": case.d >= 2,
        "one-output": case.d_out == 1 and case.alpha == case.d,
    }
    for name in hypotheses:
        if not holds[name]:
            return WORDS.hypotheses[name]
    return None


# Verdicts on a case as a whole.


def _has_counted_points(answer: Json) -> bool:
    """Whether a verdict of an unchecked answer has points in slices among its polar degrees."""
    verdicts = answer.get("verdicts")
    if not isinstance(verdicts, list):
        return False
    for stored in verdicts:
        observed = stored.get("observed") if isinstance(stored, dict) else None
        if isinstance(observed, dict) and "slices" in observed:
            return True
    return False


def _global_verdict(words: Words, case: Case, evidence: Json, *, with_points: bool) -> Json:
    """The verdict on a statement about the whole case: whether prediction and observation agree.

    ``with_points``: whether points are counted also where that is expensive, since a certificate
    has their number.
    """
    key = (words.key, words.part)
    hypotheses, predict = FORMER.get((*key, words.version), GLOBAL[key])
    observed = _observed_of_case(words.observable, case, evidence, with_points=with_points)
    return global_verdict(words, failing_hypothesis(hypotheses, case), predict(case), observed)


def _observed_of_case(
    observable: str, case: Case, evidence: Json, *, with_points: bool = False
) -> int | dict[str, list[int | None]] | None:
    """The observed value of an observable of the whole case; None if it is not known.

    For the polar degrees it is what several methods find, by their names.
    """
    generic = evidence["generic_fibre"]
    if observable == "zero_fibre":
        # the function is zero only for A = 0 or V = 0
        return bool(evidence["base_locus_empty"])
    if observable == "closed":
        # the image of a compact source under a morphism; without a morphism nothing is known
        return bool(evidence["base_locus_empty"]) or None
    if observable == "products":
        return bool(evidence["products_determine_functions"])
    if observable == "birational":
        return bool(generic["length"] == 1)
    if observable == "special_fibre_points":
        # those with more points than the generic one; 0 if there are none
        numbers = [facts["fibre_points"] for facts in evidence["orbits"]]
        return max((n for n in numbers if n > generic["points"]), default=0)
    if observable == "smooth_manifold":
        return _is_manifold(case, evidence)
    if observable == "polar_degrees":
        return _polar_degrees(case, evidence, with_points=with_points)
    if observable == "polar_integrals":
        return _has_stated_polar_degrees(case, evidence)
    known: int | None = evidence[observable]
    return known


def _polar_degrees(
    case: Case, evidence: Json, *, with_points: bool = False
) -> dict[str, list[int | None]] | None:
    """The polar degrees δ_n, …, δ_0 by several methods, each a list with None where it is silent.

    They are the integrals of the theorem, computed in another way than the stated ones; δ_n alone,
    the degree of the closure; and points in slices, where they are counted: in the cheap cases, and
    for ``with_points`` in all that slices.py has. The polar degrees are
    these integrals, and the numbers of points of general slices, by one of two theorems of
    docs/polar-degrees.md: theorem-polar, where the map is birational and kernels are small, and
    theorem-polar-symmetric for α = d' = 1 < d, where it is two-to-one. None where neither applies,
    or for large cases.
    """
    if evidence["degree"] is None:
        return None
    if not (_polar_theorem_applies(case, evidence) or _is_of_symmetric_matrices(case, evidence)):
        return None
    integrals = localized_polar_degrees(case)
    if integrals is None:
        return None
    unknown = [None] * (evidence["dimension"] - 1)
    found = {"integrals": [*integrals], "projection_formula": [evidence["degree"], *unknown]}
    counted = counted_polar_degrees(case) if with_points or is_counted_always(case) else None
    if counted is not None:
        found["slices"] = counted
    return found


def _has_stated_polar_degrees(case: Case, evidence: Json) -> bool | None:
    """Whether the polar degrees are those of the formula; for large cases by the theorem alone.

    None where the theorem does not apply. Former certificates say this of a case.
    """
    if not _polar_theorem_applies(case, evidence):
        return None
    stated = stated_polar_degrees(case)
    observed = _polar_degrees(case, evidence)
    if stated is None or observed is None:
        return True
    return of_several(stated, observed) != "REFUTED"


def _is_manifold(case: Case, evidence: Json) -> bool | None:
    """Whether the neuromanifold is a C¹ manifold near zero.

    The neuromanifold, the set of all functions of the case, is a cone. A cone is such a manifold
    only if it is a linear space (docs/mathematics.md#proposition-not-manifold). The coordinates are
    independent functions on it, so it would be the whole space of the coordinates, and not have a
    smaller dimension; for d = 1 it is. None if neither decides.
    """
    if evidence["dimension"] < case.coordinate_count:
        return False
    if case.d == 1:
        return True
    return None


def _polar_theorem_applies(case: Case, evidence: Json) -> bool:
    """Whether the theorem on polar degrees applies (docs/polar-degrees.md#theorem-polar).

    So it does if f is defined everywhere (its base locus is empty) and birational, and over every
    orbit the kernel of its differential on the desingularization Y is zero or of smaller dimension
    than the codimension, in Y, of what lies over the orbit.

    Y is the set of all (W, A, V) with W a subspace of dimension α that contains the columns of A.
    Over A of rank r the W are a Grassmannian of dimension (α − r)(d − α). So over the orbit there
    are as many dimensions more than the orbit has; and dim Y is that of the closure, as f is
    birational. (Dimensions of cones are compared, both one larger.)

    The tangent vectors of the Grassmannian are in the kernel. The others move (A, V), so modulo
    these the kernel is contained in the tangent space of the fibre of f; as a bound is enough it
    does not matter which vectors of this space come from Y. Where the square of the maximal ideal
    of a point of the fibre is zero, as evidence.py finds, the tangent space there has as many
    dimensions as the fibre is longer than its points.
    """
    for facts in evidence["orbits"]:
        r, _, _ = facts["orbit"]
        subspaces = (case.alpha - r) * (case.d - case.alpha)
        kernel = subspaces + facts["fibre_length"] - facts["fibre_points"]
        codimension = evidence["dimension"] - (facts["dimension"] + subspaces)
        if kernel > 0 and kernel >= codimension:
            return False
    return bool(evidence["base_locus_empty"] and evidence["generic_fibre"]["length"] == 1)


def _is_of_symmetric_matrices(case: Case, evidence: Json) -> bool:
    """Whether functions are q ⊗ c with symmetric matrices c of rank at most two, α = d' = 1 < d,
    and general ones are those of two weights (docs/polar-degrees.md#theorem-polar-symmetric).
    """
    generic = evidence["generic_fibre"]
    two_points = generic["points"] == generic["length"] == 2
    return bool(evidence["base_locus_empty"]) and two_points and case.is_of_symmetric_matrices


# Verdicts orbit by orbit.


def _verdict_at_orbits(
    words: Words, case: Case, evidence: Json, points: Mapping[Orbit, list[Pair]]
) -> Json:
    """The verdict on a statement about orbits: false if it fails at one that it concerns.

    It has the number of the orbits concerned, those where the statement fails and those where that
    is not known; and, if all hypotheses hold, the largest orbit where it fails as witness.
    ``points`` has the points of the fibre over each orbit, which Theorem 3.2 is about.
    """
    hypotheses, predict = AT_ORBITS[words.key, words.part]
    hypothesis = failing_hypothesis(hypotheses, case)
    concerned = 0
    failing = []
    undecided = []
    witness = None
    size_of_witness: tuple[int, list[int]] = (0, [])
    for facts in evidence["orbits"]:
        orbit = tuple(facts["orbit"])
        if not _concerns(words, orbit):
            continue
        concerned += 1
        if words.observable == "fibre":
            observed: Any = as_json(points[orbit], case)
        else:
            observed = _observed_at_orbit(words.observable, facts, evidence["boundary_family"])
        predicted = predict(orbit, case)
        if observed is None:
            undecided.append(facts["orbit"])
        elif observed != predicted:
            failing.append(facts["orbit"])
            size = (facts["dimension"], facts["orbit"])
            if not hypothesis and size > size_of_witness:
                size_of_witness = size
                witness = _witness(facts, case, evidence["dimension"])
                witness |= {"predicted": predicted, "observed": observed}
    outcome = "CONFIRMED"
    if failing:
        outcome = "REFUTED"
    elif undecided:
        outcome = "UNDECIDED"
    return verdict(
        words,
        hypothesis,
        outcome,
        concerned=concerned,
        failing=failing,
        undecided=undecided,
        witness=witness,
    )


def _concerns(words: Words, orbit: Orbit) -> bool:
    """Whether a statement concerns an orbit: all do but for the parts of Theorem 3.2.

    One part is about functions with A and V of rank one, the other about all others.
    """
    has_rank_one = orbit[:2] == (1, 1)
    if words.key != "3.2":
        return True
    if words.part == "rank one":
        return has_rank_one
    return not has_rank_one


def _observed_at_orbit(observable: str, facts: Json, has_family: bool) -> bool | None:
    """The observed value of an observable at an orbit; None if it is not known.

    Boundary points are limits of real functions without real weights. For (1, 1, 1) there is a
    family of such functions, if ``has_family``. Where the fibre is reduced with at most two points
    its functions are not boundary points; elsewhere nothing is known
    (docs/mathematics.md#proposition-boundary).
    """
    if not observable.startswith("boundary"):
        known: bool | None = facts[observable]
        return known
    is_boundary: bool = facts["boundary"]
    if is_boundary:
        is_known = has_family and facts["orbit"] == [1, 1, 1]
    else:
        is_known = facts["fibre_points"] <= 2
    if not is_known:
        return None
    if observable == "boundary_critical":
        return bool(is_boundary == facts["critical"])
    return is_boundary


def _witness(facts: Json, case: Case, dimension: int) -> Json:
    """The orbit where a statement fails, weights over it, and the numbers that show it.

    ``facts`` are those about the orbit, ``dimension`` is that of the closure.
    """
    orbit = tuple(facts["orbit"])
    numbers = {
        "dimension": dimension,
        "tangent_dimension_at_least": facts["tangent_lower_bound"],
        "fibre_length": facts["fibre_length"],
        "fibre_points": facts["fibre_points"],
        "rank_A": orbit[0],
        "generic_rank_A": case.alpha,
    }
    weights = matrices(representative(orbit), case)
    return {"orbit": facts["orbit"], **weights, "numbers": numbers}


def as_json(pairs: list[Pair], case: Case) -> list[Json]:
    """Weights as a certificate has them, in increasing order of A, then V."""
    listed = [matrices(pair, case) for pair in pairs]
    return sorted(listed, key=itemgetter("A", "V"))
