"""Verdicts on the statements for all sizes, compared with the consequences of the fibres.

Rests on: fibres and ranks decide where the map is birational, which points are critical, singular
or on the boundary, and the degree.
Proved in: docs/all-sizes.md (proposition-consequences), docs/mathematics.md (theorem-smooth,
lemma-singular-source, proposition-boundary, theorem-degree), docs/polar-degrees.md (theorem-polar).
Computed here: the sets of orbits and sizes where something is true, the symmetric difference with
what is stated, and its projection to the sizes (isl); identities of polynomials (identities.py).
On trust: the lemmas that words.toml lists for each observable; isl.

Notation. d, d' (``dp`` in conditions), a, α = min(a, d), weights (A, V), orbits (r, s, m), the map,
its source and the closure are as in case.py; sizes, sets and conditions as in fibres.py; Y and W
as in integrals.py. Statements with a number are statements of the paper by Henry, Marchetti and
Kohn.

* An observable is a property of sizes, or of orbits, that a statement is about, such as "singular".
  ``Seen`` says where it is true, ``Stated`` where a statement says so, ``Compared`` where the two
  differ.
* ``found.one``, ``found.two``, ``found.many`` are the orbits whose fibre is one reduced point; two;
  one point of length d ≥ 2.
* A statement is about sizes, or about orbits of all sizes. It is vacuous for a size without an
  orbit that it is about. It applies where its hypotheses hold, the first few of HYPOTHESES.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import islpy as isl

from m2bridge.certificates import conditions
from m2bridge.certificates.form import Certificate, Content
from m2bridge.certificates.wording import Words, wording
from m2bridge.checker.algebra import ring
from m2bridge.families.attention.all_sizes.checker.fibres import (
    ALL,
    EVERY,
    EVERY_ORBIT,
    IS_SIZE,
    NONE,
    ORBIT_LENGTH,
    SIZE,
    SIZE_LENGTH,
    SQUARE,
    Json,
    evidence,
    fibres,
    forget_numbers,
    is_orbit,
    orbits,
    orbits_over,
    sizes,
    sizes_of,
)
from m2bridge.families.attention.all_sizes.checker.identities import (
    check_identities,
    where_kernels_are_small,
)
from m2bridge.families.attention.all_sizes.checker.weight_types import sizes_with_wrong_types
from m2bridge.families.attention.checker import case as cases
from m2bridge.families.attention.checker.evidence import observe
from m2bridge.families.attention.checker.integrals import (
    localized_polar_degrees,
    stated_polar_degrees,
)
from m2bridge.families.attention.checker.slices import count_polar_degrees, is_counted_always

FOLDER = Path(__file__).parents[1]
WORDS_OF_CASES = wording(FOLDER.parent / "words.toml")
WORDS = wording(FOLDER / "words.toml")

# The consequences of the fibres: docs/all-sizes.md#proposition-consequences.


@dataclass(frozen=True, slots=True)
class Seen:
    """Where an observable is true: the orbits that it is a property of are ``about``, or the sizes,
    as far as ``known`` has the size.
    """

    true: isl.Set
    known: isl.Set = ALL
    about: isl.Set = EVERY_ORBIT


def where_observed(observable: str) -> Seen:
    """Where an observable is true; "polar_integrals" is the observable of former words on polar
    degrees, about birational maps only: all sizes but α = d' = 1 < d.
    """
    if observable == "polar_degrees":
        return polar_degrees()
    if observable == "polar_integrals":
        all_degrees = polar_degrees()
        birational = sizes("not (a = 1 and dp = 1 and d >= 2)")
        return Seen(all_degrees.true, known=all_degrees.known.intersect(birational))
    return observed_by_fibres()[observable]


@cache
def observed_by_fibres() -> Mapping[str, Seen]:
    """For each observable but numbers and polar degrees where it is true, by the fibres over all
    orbits.

    "critical" and "boundary" are true where the fibre is not reduced; "special_fibre_points" is
    about fibres with more points than the generic one, and true where there are two.
    """
    check_identities()
    fibre_sets = fibres()
    birational = sizes_of(dense_orbits().intersect(fibre_sets.one))
    two_to_one = sizes_of(dense_orbits().intersect(fibre_sets.two))
    symmetric = two_to_one.intersect(sizes("a = 1 and dp = 1"))
    # A point is singular if its fibre is not one reduced point, or if rk A < α < d, where the
    # source is singular (docs/mathematics.md#theorem-smooth).
    singular = EVERY_ORBIT.subtract(fibre_sets.one).union(orbits("r < a < d"))
    singular = singular.intersect(orbits_over(birational))
    # For α = d' = 1 < d functions are products of a vector and a symmetric matrix of rank at most
    # two. Its rank is one exactly at SQUARE, which is singular for d ≥ 3; for d = 2 no orbit of
    # nonzero functions is (docs/mathematics.md#proposition-singular-symmetric).
    large_symmetric = symmetric.intersect(sizes("d >= 3"))
    singular_of_rank_one = orbits(SQUARE).intersect(orbits_over(large_symmetric))
    return {
        # at (1, 1, 1) the two weights of Theorem 3.2 are equal
        "fibre_exchanged": Seen(fibre_sets.two.union(orbits(SQUARE))),
        "fibre_itself": Seen(fibre_sets.one.union(fibre_sets.many)),
        "special_fibre_points": Seen(
            fibre_sets.two, about=fibre_sets.two.intersect(orbits_over(birational))
        ),
        "critical": Seen(fibre_sets.many),
        "boundary": Seen(fibre_sets.many),
        # "boundary" and "critical" are true at the same orbits, so they agree at every orbit
        "boundary_critical": Seen(EVERY_ORBIT),
        "singular": Seen(singular.union(singular_of_rank_one), known=birational.union(symmetric)),
        "singular_birational": Seen(singular, known=birational),
        "birational": Seen(birational),
        # a cone that is a manifold is a linear space: by an identity this is so for d = 1 only
        "smooth_manifold": Seen(sizes("d = 1")),
        # the statements that the identities prove for all sizes
        "zero_fibre": Seen(ALL),
        "closed": Seen(ALL),
        "products": Seen(ALL),
    }


def where_numbers(observable: str) -> list[tuple[isl.Set, str]]:
    """The dimension or the degree of the closure, as sets of sizes with formulas: the degree is D,
    of the source, by the projection formula, and half of D where the map is two-to-one.
    """
    check_identities()
    if observable == "dimension":
        return [(ALL, "d**2 - (d - alpha)**2 + d * dp - 1")]
    fibre_sets = fibres()
    birational = sizes_of(dense_orbits().intersect(fibre_sets.one))
    two_to_one = sizes_of(dense_orbits().intersect(fibre_sets.two))
    return [(birational, "D"), (two_to_one, "D // 2")]


COMPARED = (
    *((2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2)),
    *((3, 1, 1), (3, 1, 2), (3, 2, 1), (3, 2, 2), (4, 2, 2)),
)
"""The sizes (d, d', α) whose polar degrees are compared with the stated ones."""


@cache
def polar_degrees() -> Seen:
    """The sizes for which the polar degrees are the stated ones.

    By two theorems the stated integrals are the polar degrees where the map is birational and the
    kernel of the differential small (docs/polar-degrees.md#theorem-polar), and for α = d' = 1
    (theorem-polar-symmetric): these sizes are ``decided_sizes``. A size of COMPARED for which
    localization differs is not ``true``; one for which only points in general slices, counted where
    it is cheap, differ is not known.
    """
    fibre_sets = fibres()
    birational = sizes_of(dense_orbits().intersect(fibre_sets.one))
    large_kernels = sizes_of(fibre_sets.many.subtract(orbits(where_kernels_are_small())))
    symmetric = sizes_of(dense_orbits().intersect(fibre_sets.two)).intersect(
        sizes("a = 1 and dp = 1")
    )
    decided_sizes = birational.subtract(large_kernels).union(symmetric)
    equal = decided_sizes
    for d, d_out, alpha in COMPARED:
        case = cases.Case(d=d, d_out=d_out, a=alpha, t=2)
        # any a ≥ d gives α = d
        values_of_a = f"a = {alpha}" if alpha < d else f"a >= {d}"
        same_functions = sizes(f"d = {d} and dp = {d_out} and {values_of_a}")
        integrals = stated_polar_degrees(case)
        if localized_polar_degrees(case) != integrals:
            equal = equal.subtract(same_functions)
        # points in general slices, where counting is cheap; None: nothing is counted for this case
        elif is_counted_always(case) and count_polar_degrees(case) not in (None, integrals):
            equal = equal.subtract(same_functions)
            decided_sizes = decided_sizes.subtract(same_functions)
    return Seen(equal, known=decided_sizes)


def dense_orbits() -> isl.Set:
    """The dense orbits of all sizes: no orbit of the same size has a larger r, s or r + s − m, as
    one whose closure contains it would (docs/mathematics.md#proposition-orbits).
    """
    is_other_orbit = is_orbit("R", "S", "M")
    is_larger = "(R > r or S > s or R + S - M > r + s - m)"
    # the pairs of an orbit (r, s, m) and another orbit (R, S, M) of the same size that is larger
    pairs = orbits(f"{is_other_orbit} and {is_larger}", ", R, S, M")
    orbits_with_larger = forget_numbers(pairs, ORBIT_LENGTH, 3)  # without R, S and M
    return EVERY_ORBIT.subtract(orbits_with_larger)


# Statements and verdicts.


OBSERVABLE_OF_TYPES = "exposed_types"
"""The observable of statements about types of weights, which weight_types.py decides."""
NUMBERS = ("dimension", "degree")
"""The observables that are numbers, for which statements have formulas."""
UNDECIDED = {"generator_numbers", "generator_degrees", "Hilbert_function"} | {
    "exposed_types_of_heads",
    "learning_degree",
}
"""The observables of statements that nothing here decides for all sizes."""
STATED = [words for words in WORDS_OF_CASES.statements if words.observable not in UNDECIDED]


def in_isl(condition: str) -> str:
    """A condition of words.toml in the language of isl."""
    return conditions.isl(condition, {"alpha": "min(a, d)"})


@cache
def content(listed: tuple[Words, ...], *, symmetric: bool) -> Content:
    """The content of a certificate on the listed statements; ``symmetric`` says whether singular
    points are decided for α = d' = 1, too.
    """
    # raises unless the base locus is empty and the family of boundary points is as it should be
    check_identities()
    evidence_of_all = {
        "fibres": fibres().evidence,
        "ideals": evidence(),
        "base_locus_empty": True,
        "boundary_family": True,
    }
    verdicts = []
    lemmas: list[str] = []
    for words in listed:
        if words.observable in UNDECIDED:
            continue
        observable = words.as_property or words.observable
        if observable == "singular" and not symmetric:
            observable = "singular_birational"
        verdict = _verdict(words, observable)
        verdicts.append(verdict)
        if verdict["verdict"] != "UNDECIDED":
            lemmas += WORDS.trusted[observable]
    return Content({"verdicts": verdicts}, evidence_of_all, tuple(dict.fromkeys(lemmas)))


def statement(certificate: Certificate) -> Content:
    """The content of a certificate whose question is the key of some statements.

    Former certificates do not list the proposition on symmetric matrices as a lemma. For them
    singular points are decided without it, where the map is birational.
    """
    listed = WORDS_OF_CASES.listed(certificate.question, certificate.answer)
    # the lemmas of the certificate in today's words, which former releases worded otherwise
    trusted = map(WORDS.renewed, certificate.trusted)
    return content(listed, symmetric=SYMMETRIC in trusted)


# the lemma on symmetric matrices: the only one that "singular" has and "singular_birational" has
# not
(SYMMETRIC,) = set(WORDS.trusted["singular"]) - set(WORDS.trusted["singular_birational"])
QUESTIONS = {words.key: statement for words in STATED}


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The sizes for which a statement is false, not known to be true, or about nothing, and the
    ``wrong`` orbits where it is false; None if it is about sizes.
    """

    false: isl.Set
    unknown: isl.Set
    vacuous: isl.Set
    wrong: isl.Set | None

    def verdict_on(self, where: isl.Set) -> str:
        """The verdict on the statement for the sizes of the set ``where``."""
        if not where.intersect(self.false).is_empty():
            return "REFUTED"
        if not where.intersect(self.unknown).is_empty():
            return "UNDECIDED"
        return "CONFIRMED"

    def texts_of_parts(self, where: isl.Set) -> Json:
        """The texts of three parts of the set ``where``: true, false, and undecided sizes."""
        fails = where.intersect(self.false)
        undecided = where.intersect(self.unknown)
        holds = where.subtract(fails).subtract(undecided)
        return {
            "holds_for": text(holds),
            "fails_for": text(fails),
            "undecided_for": text(undecided),
        }


def _compare(words: Words, observable: str) -> Compared:
    """Compare the prediction of a statement with the observation: it is wrong at the known orbits,
    or sizes, in the symmetric difference of ``found.true`` and what it says.

    It is about orbits if ``found.true`` has orbits: about the ones in ``found.about`` for which its
    condition holds. It is false for the sizes over which there is a wrong orbit.
    """
    if observable == OBSERVABLE_OF_TYPES:
        false = sizes_with_wrong_types(in_isl(words.value))
        return Compared(false=false, unknown=NONE, vacuous=NONE, wrong=None)
    if observable in NUMBERS:
        # As polynomials in d, d', α and D two numbers differ for all sizes if their difference is
        # one term, as no variable is zero; else it is not known where.
        d, dp, alpha, half = ring(4).gens()
        # D is twice a variable, so that half of it is a polynomial with integer coefficients
        names = {"d": d, "dp": dp, "alpha": alpha, "D": 2 * half}
        false, unknown = NONE, ALL
        for where, observed in where_numbers(observable):
            for condition, stated in conditions.pieces(words.value):
                compared = where.intersect(sizes(in_isl(condition)))
                difference = conditions.value(stated, names) - conditions.value(observed, names)
                if len(difference) <= 1:
                    unknown = unknown.subtract(compared)
                if len(difference) == 1:
                    false = false.union(compared)
        return Compared(false=false, unknown=unknown, vacuous=NONE, wrong=None)
    # polar degrees are no formula: they are observed as those that are stated
    true = EVERY if words.as_property or not words.value else in_isl(words.value)
    observation = where_observed(observable)
    unknown = ALL.subtract(observation.known)
    if observation.true.n_dim() == SIZE_LENGTH:
        wrong_sizes = _symmetric_difference(observation.true, sizes(true))
        false = wrong_sizes.intersect(observation.known)
        return Compared(false=false, unknown=unknown, vacuous=NONE, wrong=None)
    concerned = orbits(in_isl(words.orbits or "True")).intersect(observation.about)
    different = _symmetric_difference(observation.true, orbits(true))
    wrong = different.intersect(concerned).intersect(orbits_over(observation.known))
    vacuous = ALL.subtract(sizes_of(concerned))
    return Compared(
        false=sizes_of(wrong), unknown=unknown.subtract(vacuous), vacuous=vacuous, wrong=wrong
    )


def _symmetric_difference(first: isl.Set, second: isl.Set) -> isl.Set:
    """The symmetric difference: the elements that are in exactly one of the two sets."""
    return first.subtract(second).union(second.subtract(first))


def _verdict(words: Words, observable: str) -> Json:
    """The verdict on a statement: refuted if it is false for a size with all its hypotheses."""
    compared = _compare(words, observable)
    applies = ALL  # where no hypothesis so far fails
    not_applicable = []
    for name in words.assumes:
        if name == "several-tokens":  # none on sizes
            continue
        satisfied = sizes(in_isl(WORDS_OF_CASES.conditions[name]))
        fails_first = applies.subtract(satisfied)
        reason = {"sizes": text(fails_first), "hypothesis": WORDS.hypotheses[name]}
        not_applicable.append(reason | compared.texts_of_parts(fails_first))
        applies = applies.intersect(satisfied)
    refuted = applies.intersect(compared.false)
    undecided = applies.intersect(compared.unknown)
    counterexample = None
    if not refuted.is_empty():
        counterexample = _counterexample(refuted, compared.wrong, words.observable)
    vacuous = applies.intersect(compared.vacuous).subtract(refuted).subtract(undecided)
    return {
        "part": words.part,
        "text": words.text,
        "source": words.source,
        "verdict": compared.verdict_on(applies),
        "vacuous_for": text(vacuous),
        "counterexample": counterexample,
        "not_applicable": not_applicable,
    } | compared.texts_of_parts(applies)


# The sets of sizes that have a phrase in words.toml, with their conditions. The empty condition is
# true of every size.
PHRASES = [(sizes(condition or EVERY), condition) for condition in WORDS.phrases.values()]


def text(size_set: isl.Set) -> str:
    """The text of a set of sizes in certificates: by the condition of an equal set with a phrase,
    as isl itself writes one set in many ways.
    """
    for with_phrase, condition in PHRASES:
        if size_set.is_equal(with_phrase):
            if condition:  # the empty one is true of every size
                return f"{{ [{SIZE}] : {IS_SIZE} and ({condition}) }}"
            return f"{{ [{SIZE}] : {IS_SIZE} }}"
    return str(size_set)


def _counterexample(false: isl.Set, wrong: isl.Set | None, observable: str) -> Json:
    """The counterexample of a certificate: the first of the sizes ``false``, and of its orbits in
    ``wrong`` the last of the largest dimension, with weights; numbers come from the checker of
    cases.
    """
    point = false.lexmin().sample_point()  # ``lexmin`` is a set with one point
    values = [point.get_coordinate_val(isl.dim_type.set, i) for i in range(SIZE_LENGTH)]
    d, dp, a = (value.to_python() for value in values)
    example: Json = {"d": d, "d_out": dp, "a": a, "orbit": None, "A": [], "V": [], "numbers": {}}
    if wrong is None:
        return example
    case = cases.Case(d=d, d_out=dp, a=a, t=2)
    evidence_of_case, _ = observe(d, dp, min(a, d))  # without the points of the fibres
    in_set = []
    for facts in evidence_of_case["orbits"]:
        numbers = ", ".join(map(str, (case.d, case.d_out, case.a, *facts["orbit"])))
        if isl.Set(f"{{ [{numbers}] }}").is_subset(wrong):
            in_set.append(facts)
    largest = max(in_set, key=lambda facts: (facts["dimension"], facts["orbit"]))
    r, s, m = largest["orbit"]
    example["orbit"] = {"r": r, "s": s, "m": m}
    example |= cases.matrices(cases.representative((r, s, m)), case)
    if observable == "singular":
        example["numbers"] = {
            "dimension": evidence_of_case["dimension"],
            "tangent_dimension_at_least": largest["tangent_lower_bound"],
        }
    return example
