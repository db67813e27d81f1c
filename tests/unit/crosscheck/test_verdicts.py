"""What verdicts rest on, without Macaulay2: mistakes are planted in statements, rules and
observations.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sympy import Matrix, symbols

from m2bridge import DeepAttention, Orbit, PolynomialNetwork, SingleLayerAttention, cross_check
from m2bridge._version import __version__
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.polynomial_map import same_span
from m2bridge.certificates.form import Content, read
from m2bridge.certification.make import question_of
from m2bridge.checker import global_verdict, outcome_of_several
from m2bridge.citation import LIGHTNING
from m2bridge.crosscheck.scope import NO_ORBIT, NONE_SPECIAL, OrbitwiseComparison, difference_text
from m2bridge.crosscheck.verdict import Verdict, compare, verdicts_on
from m2bridge.errors import ContradictionError, InvalidCaseError
from m2bridge.families.attention.checker import slices, statements as checker
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.evidence import observe as observe_again
from m2bridge.families.attention.hypotheses import WORDS, why_degenerate, why_not_two_dimensions
from m2bridge.families.attention.ideal.values_by_degree import (
    GeneratorDegrees,
    GeneratorNumbers,
    HilbertValues,
)
from m2bridge.families.attention.observations import at_orbits as observing
from m2bridge.families.attention.observations.at_orbits import Observations
from m2bridge.families.attention.orbits.fibres import fibre_points, products_determine_functions
from m2bridge.families.attention.orbits.orbits import orbits, representative
from m2bridge.families.attention.polar import chern_integrals as integrals
from m2bridge.families.attention.statements import REGISTRY, Preimages
from m2bridge.families.attention.training.types import ExposedTypes
from m2bridge.families.deep_attention.statements import WORDS as WORDS_OF_NETWORKS
from m2bridge.families.registry import OWN_FAMILIES, family
from m2bridge.reports.read import certificate_rows
from m2bridge.results.base import Decision
from m2bridge.statements.statement import (
    GlobalStatement,
    IntegerMatrix,
    Numbers,
    NumbersByMethod,
    Observed,
    OrbitStatement,
    Statement,
    Value,
    sharing_one_observation,
    statements_named,
    value_json,
)
from tests import changing as rechecking, stated
from tests.certificates.__main__ import by_release
from tests.changing import changed, fibres_at, recheck
from tests.checking import verify
from tests.tiers import slow

PAPER = "Henry, Marchetti, Kohn"
TOGETHER = sharing_one_observation(REGISTRY)
CASES = [(1, 2, 1), (2, 1, 1), (2, 2, 2), (3, 2, 1), (3, 2, 2), (3, 1, 2), (3, 3, 3)]


@pytest.fixture
def planting(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Observations made with a planted mistake are not those of other tests."""
    rechecking._observations.cache_clear()
    yield monkeypatch
    rechecking._observations.cache_clear()


def statement(name: str) -> Statement:
    return next(s for s in REGISTRY if name == (f"{s.key} ({s.part})" if s.part else s.key))


def seen(*case: int) -> Observations:
    return recheck(SingleLayerAttention(*case))


def content(question: str, observed: Observations) -> Content:
    return question_of("attention", question).content(observed.model, observed)


def verdict(name: str, *case: int) -> Verdict:
    return compare(statement(name), seen(*case))


E_1, E_2 = (1, 0, 0), (0, 1, 0)
WRONG: dict[str, list[Callable[..., object]]] = {
    "3.2 (rank one)": [
        lambda orbit, model: Preimages(frozenset({representative(orbit, model)})),
        lambda orbit, model: Preimages(frozenset()),
        lambda orbit, model: Preimages(
            frozenset({representative(orbit, model), ((E_1, E_2, E_2), (E_1, E_1))})
        ),
    ],
    "3.2 (zero)": [lambda model: False],
    "3.2 (otherwise)": [
        lambda orbit, model: Preimages(frozenset({representative(Orbit(1, 1, 1), model)}))
    ],
    "A.4": [
        lambda orbit, model: False,
        lambda orbit, model: orbit.s == 2,
        lambda orbit, model: True,
    ],
    "A.5": [lambda model: False],
    "A.6": [lambda orbit, model: False, lambda orbit, model: orbit != Orbit(1, 1, 1)],
    "not-a-manifold": [lambda model: True],
    "degree": [lambda model: 755],
    "A.3": [lambda orbit, model: orbit.r == orbit.s == 1],
    "3.4 (ii)": [lambda orbit, model: False],
    "A.2 (special fibres)": [lambda model: 3, lambda model: 1],
}


@pytest.mark.parametrize(
    ("name", "number"), [(name, n) for name, wrong in WRONG.items() for n in range(len(wrong))]
)
def test_a_wrong_statement_is_refuted(name: str, number: int) -> None:
    right, observed = statement(name), seen(3, 2, 1)
    assert compare(right, observed).decision is Decision.CONFIRMED
    found = compare(replace(right, predict=WRONG[name][number]), observed)  # type: ignore[arg-type]
    assert found.decision is Decision.REFUTED
    assert found.witness is not None
    assert found.to_json()["witness"]["predicted"] != found.to_json()["witness"]["observed"]


def test_the_points_of_a_fibre_are_shown() -> None:
    wrong = replace(statement("3.2 (rank one)"), predict=WRONG["3.2 (rank one)"][0])  # type: ignore[arg-type]
    found = compare(wrong, seen(2, 1, 2))
    assert (
        "computed {((1 0; 0 0), (1 1)), ((1 0; 1 0), (1 0))}, stated {((1 0; 0 0), (1 1))}"
        in found.reason
    )
    assert found.witness is not None
    assert found.witness.to_json()["observed"][1] == {"A": [[1, 0], [1, 0]], "V": [[1, 0]]}


@pytest.mark.parametrize("case", CASES)
def test_points_are_as_many_as_the_scheme_says(case: tuple[int, int, int]) -> None:
    model = SingleLayerAttention(*case)
    schemes = fibres_at(model)
    for orbit in orbits(model):
        points, scheme = fibre_points(orbit, model), schemes[orbit]
        assert representative(orbit, model) in points
        assert len(points) == scheme.points == (2 if orbit == Orbit(1, 1, 0) else 1)


def test_points_that_do_not_fit_the_scheme_stop_the_run(planting: pytest.MonkeyPatch) -> None:
    planting.setattr(
        "m2bridge.families.attention.observations.observe.fibre_points",
        lambda orbit, model: frozenset(),
    )
    with pytest.raises(ContradictionError, match="0 points solve the equations"):
        seen(2, 2)


def test_a_boundary_that_is_not_critical_refutes() -> None:
    observed = seen(2, 2)
    facts = tuple(
        replace(f, boundary=False) if f.orbit == Orbit(1, 1, 1) else f for f in observed.orbits
    )
    found = compare(statement("A.6"), replace(observed, orbits=facts))
    assert found.decision is Decision.REFUTED
    assert found.witness is not None
    assert found.witness.orbit == Orbit(1, 1, 1)


@pytest.mark.parametrize("length", [4, 5])
def test_a_kernel_that_is_too_large_leaves_polar_degrees_open(length: int) -> None:
    """At (1, 1, 1) of (3, 2, 1) the codimension is 4: a kernel of dimension 3 is small enough."""
    observed = seen(3, 2, 1)
    facts = [
        (
            replace(fact, fibre=replace(fact.fibre, length=length))
            if fact.orbit == Orbit(1, 1, 1)
            else fact
        )
        for fact in observed.orbits
    ]
    right = statement("polar").predict(observed.model)
    found = compare(statement("polar"), replace(observed, orbits=tuple(facts), polar_degrees=right))
    assert found.decision is (Decision.CONFIRMED if length == 4 else Decision.UNDECIDED)
    assert ("generic ED degree 51993" in found.reason) == (length == 4)


@pytest.mark.parametrize("case", [(3, 2, 1), (3, 2, 2), (4, 2, 3)])
def test_polar_degrees_that_are_not_counted_follow_from_the_theorem(
    case: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every number is integrated in two ways, and the first is the degree, too: a wrong one on
    either side is refuted.
    """
    stated, observed = statement("polar"), seen(*case)
    found = compare(stated, observed)
    number = observed.dimension
    assert found.decision is Decision.CONFIRMED
    said = f"({number} of {number} by integrals, 1 of {number} by projection formula)"
    assert said in found.reason
    right = stated.predict(observed.model)
    assert isinstance(right, Numbers)
    another_degree = replace(observed, degree=observed.degree + 1)  # type: ignore[operator]
    assert compare(stated, another_degree).decision is Decision.REFUTED
    for wrong in wrong_values(right, []):
        planted = replace(stated, predict=partial(_planted, wrong))  # type: ignore[arg-type]
        assert compare(planted, observed).decision is Decision.REFUTED
        with monkeypatch.context() as patch:
            patch.setattr(observing, "localized_polar_degrees", partial(_planted, wrong))
            assert compare(stated, observed).decision is Decision.REFUTED


def test_polar_degrees_of_large_cases_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    stated, observed = statement("polar"), seen(3, 2, 1)
    without = replace(stated, predict=partial(_planted, None))  # type: ignore[arg-type]
    assert compare(without, observed).decision is Decision.UNDECIDED
    monkeypatch.setattr(integrals, "MAX_GRASSMANNIAN_STEPS", 1)
    integrals.stated_polar_degrees.cache_clear()
    integrals.localized_polar_degrees.cache_clear()
    found = compare(stated, observed)
    assert (found.decision, "too large" in found.reason) == (Decision.UNDECIDED, True)
    integrals.stated_polar_degrees.cache_clear()
    integrals.localized_polar_degrees.cache_clear()
    case = Case(24, 3, 3, 2)
    assert checker.stated_polar_degrees(case) is checker.localized_polar_degrees(case) is None
    assert statement("polar").predict(SingleLayerAttention(24, 3, 3)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("d_out", "alpha"),
    [(1, 1), (1, 2), *(pytest.param(2, alpha, marks=pytest.mark.slow) for alpha in (1, 2))],
)
def test_polar_degrees_are_counted_and_each_number_can_refute(d_out: int, alpha: int) -> None:
    """By the checker's linear algebra, which knows no theorem; and a number that is planted on
    either side.
    """
    model = SingleLayerAttention(2, d_out, alpha)
    counted = Numbers(
        slices.degrees_by_cokernels(d_out, alpha, slices.LARGE_MULTIDEGREES[d_out, alpha])
    )
    stated, observed = statement("polar"), replace(seen(2, d_out, alpha), polar_degrees=counted)
    found = compare(stated, observed)
    assert found.decision is Decision.CONFIRMED
    assert f"{observed.dimension} of {observed.dimension} by slices" in found.reason
    for wrong in wrong_values(counted, []):
        planted = replace(stated, predict=partial(_planted, wrong))  # type: ignore[arg-type]
        assert compare(planted, observed).decision is Decision.REFUTED
        # a count modulo primes alone refutes nothing, and is shown
        differing = compare(stated, replace(observed, polar_degrees=wrong))  # type: ignore[arg-type]
        assert differing.decision is Decision.UNDECIDED
        assert f"{wrong} by slices modulo random primes" in differing.reason
    for index in range(len(counted.entries)):
        some = Numbers(tuple(None if i == index else x for i, x in enumerate(counted.entries)))
        assert compare(stated, replace(observed, polar_degrees=some)).decision is Decision.CONFIRMED
    assert stated.hypotheses(model) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d_out", "alpha", "degree"), [(1, 1, (4, 3, 4)), (1, 2, (3, 3)), (2, 1, (3, 4, 2))]
)
def test_points_are_as_many_in_larger_degrees(
    d_out: int, alpha: int, degree: tuple[int, ...]
) -> None:
    assert slices.degrees_by_cokernels(d_out, alpha, degree) == slices.degrees_by_cokernels(
        d_out, alpha, slices.LARGE_MULTIDEGREES[d_out, alpha]
    )


def test_the_checker_decides_as_the_program() -> None:
    """A verdict on several numbers, by several methods, which may not have found all."""
    words = next(words for words in checker.WORDS.statements if words.key == "polar")
    right = [4, 6, 4, 0, 0]
    first = [4, None, None, None, None]
    cases: list[tuple[Any, dict[str, list[int | None]] | None, str]] = [
        (right, {"one": [*right]}, "CONFIRMED"),
        (right, {"one": first, "two": [*right]}, "CONFIRMED"),
        (right, {"one": first}, "UNDECIDED"),
        (right, {"one": [5, *first[1:]], "two": [*right]}, "REFUTED"),
        (right, {"one": [4, 6, 4, 0], "two": [*right]}, "REFUTED"),
        (right, {"one": [*right], "two": [4, 6, 4, 0, 1]}, "REFUTED"),
        (right, {"one": [*right], "slices": [4, 6, 4, 0, 1]}, "UNDECIDED"),
        (right, {"one": [*right], "slices": [4, 6, 4, 0]}, "UNDECIDED"),
        (right, {"one": first, "slices": [*right]}, "UNDECIDED"),
        (right, {"one": [*right], "slices": [*right]}, "CONFIRMED"),
        (right, {}, "UNDECIDED"),
        (right, None, "UNDECIDED"),
        (None, {"one": [*right]}, "UNDECIDED"),
        ([4, 4, 6, 0, 0], {"one": [*right]}, "REFUTED"),
    ]
    model = SingleLayerAttention(2, 1, 2)
    for predicted, observed, outcome in cases:
        assert global_verdict(words, None, predicted, observed)["verdict"] == outcome
        stated = None if predicted is None else Numbers(tuple(predicted))
        planted = replace(statement("polar"), predict=partial(_planted, stated))  # type: ignore[arg-type]
        assert compare(planted, Given(model, _by_method(observed))).decision == outcome


def _by_method(observed: dict[str, list[int | None]] | None) -> NumbersByMethod | None:
    if observed is None:
        return None
    found = [(name, Numbers(tuple(numbers))) for name, numbers in observed.items()]
    return NumbersByMethod(tuple(found))


CERTIFICATES = Path(__file__).parents[2] / "certificates"


@pytest.mark.parametrize("case", ["d2-dout1-a2-t2", "d3-dout2-a2-t2"])
def test_a_wrong_number_is_no_certificate_of_the_checker(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The formula, the localization, the count and the degree."""
    certificate = read(CERTIFICATES / "accepted" / f"{case}-polar.json")
    (said,) = certificate.answer["verdicts"]
    right = said["predicted"]
    wrong = [*right[:2], right[2] + 1, *right[3:]]

    def decided() -> str:
        (found,) = checker.statement("polar", certificate).answer["verdicts"]  # type: ignore[union-attr]
        return str(found["verdict"])

    assert decided() == "CONFIRMED"
    with monkeypatch.context() as patch:
        patch.setitem(checker.PREDICTED, "polar_degrees", lambda case: wrong)
        assert decided() == "REFUTED"
    methods = {"localized_polar_degrees": "REFUTED"}
    if "slices" in said["observed"]:
        methods["count_polar_degrees"] = "UNDECIDED"  # known modulo primes only
    for name, outcome in methods.items():
        with monkeypatch.context() as patch:
            patch.setattr(checker, name, lambda case: wrong)
            assert decided() == outcome
    evidence = certificate.evidence | {"degree": right[0] + 1}
    found = checker._observed_in_case("polar_degrees", Case(**certificate.case), evidence)
    assert outcome_of_several(right, found) == "REFUTED"  # type: ignore[arg-type]


@pytest.mark.slow
def test_points_of_expensive_cases_are_counted_where_a_certificate_has_them() -> None:
    """Certificates of 1.0 have them for d' = 2; a wrong number of points is not accepted."""
    former = read(CERTIFICATES / "1.0" / "d2-dout2-a1-t2-polar.json")
    (said,) = former.answer["verdicts"]
    assert said["observed"]["slices"] == [20, 56, 68, 40, 12, 0]
    assert verify(former).accepted
    place = ("answer", "verdicts", 0, "observed", "slices")
    wrong = changed(by_release(former, __version__), place, [20, 56, 69, 40, 12, 0])
    assert verify(wrong).check == "answer.verdicts[0].observed.slices[2]"


def test_points_are_not_left_out_where_they_are_cheap_nor_invented() -> None:
    """For d' = 1 each certificate has them; for d = 3 none does."""
    cheap = read(CERTIFICATES / "accepted" / "d2-dout1-a2-t2-polar.json")
    (said,) = cheap.answer["verdicts"]
    place = ("answer", "verdicts", 0, "observed")
    fewer = {name: numbers for name, numbers in said["observed"].items() if name != "slices"}
    assert verify(changed(cheap, place, fewer)).outcome == "rejected"
    large = read(CERTIFICATES / "accepted" / "d3-dout2-a2-t2-polar.json")
    (said,) = large.answer["verdicts"]
    more = said["observed"] | {"slices": said["observed"]["integrals"]}
    assert verify(changed(large, place, more)).outcome == "rejected"


@pytest.mark.parametrize("name", ["d2-dout1-a1-t2", "d3-dout2-a2-t2", "attention-all-sizes"])
def test_a_certificate_that_says_yes_in_place_of_the_numbers_is_accepted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they were written before the numbers were compared; a wrong number makes them wrong."""
    certificate = read(CERTIFICATES / "former" / f"{name}-polar.json")
    assert verify(certificate).accepted
    (row,) = certificate_rows(certificate, f"{name}-polar.json")
    assert row.verdict == certificate.answer["verdicts"][0]["verdict"]
    if name.startswith("d3"):
        monkeypatch.setattr(checker, "localized_polar_degrees", lambda case: [0] * 13)
        assert verify(certificate).check == "answer.verdicts[0].observed"


@pytest.mark.parametrize("case", [(3, 2, 1), (3, 1, 2), (2, 2, 1)])
def test_a_source_said_to_be_singular_where_it_is_smooth(
    planting: pytest.MonkeyPatch, case: tuple[int, int, int]
) -> None:
    """``singular`` needs more tangent vectors than the dimension; where there are none, nothing is
    claimed.
    """
    right = {s: compare(s, seen(*case)).decision for s in TOGETHER}
    rechecking._observations.cache_clear()
    planting.setattr(
        "m2bridge.families.attention.observations.observe.source_is_smooth",
        lambda o, m: m.alpha == m.d,
    )
    observed = seen(*case)
    assert {fact.singular for fact in observed.orbits} == {True, None}
    for name in ("3.4 (iii)", "A.4", "singular-locus"):
        found = compare(statement(name), observed)
        assert found.decision is Decision.UNDECIDED
        assert "no more tangent vectors" in found.reason
    assert all(
        compare(s, observed).decision in (outcome, Decision.UNDECIDED)
        for s, outcome in right.items()
    )


def test_a_source_said_to_be_smooth_where_it_is_singular(planting: pytest.MonkeyPatch) -> None:
    planting.setattr(
        "m2bridge.families.attention.observations.observe.source_is_smooth",
        lambda orbit, model: True,
    )
    with pytest.raises(
        ContradictionError, match="smooth by its fibre, singular by tangent vectors"
    ):
        seen(3, 2, 2)


@pytest.mark.parametrize("case", [slow((3, 2, 2)), (3, 1, 2), (3, 3, 2), slow((4, 2, 3))])
def test_one_reduced_point_is_singular_by_tangent_vectors_only(case: tuple[int, int, int]) -> None:
    observed = seen(*case)
    found = [fact for fact in observed.orbits if fact.singular and fact.fibre.length == 1]
    assert all(fact.tangent_lower > observed.dimension for fact in found)
    assert bool(found) == (case[1] > 1 or case[2] > 2)


@pytest.mark.slow
def test_statements_about_nothing_say_so() -> None:
    for name, said in {"A.2 (special fibres)": NONE_SPECIAL, "3.2 (otherwise)": NO_ORBIT}.items():
        found = verdict(name, 1, 2, 1)
        assert found.decision is Decision.CONFIRMED
        assert said in found.reason
        assert all(said not in verdict(name, *case).reason for case in CASES[2:])


@pytest.mark.parametrize("case", [(2, 1, 1), (3, 1, 1), (4, 1, 1)])
def test_fibres_of_fewer_points_than_the_generic_one_are_not_special(
    case: tuple[int, int, int],
) -> None:
    """For a = d' = 1 < d the generic fibre has two points, and those over (1, 1, 1) have one."""
    found = verdict("A.2 (special fibres)", *case)
    assert {fact.fibre.points for fact in seen(*case).orbits} == {1, 2}
    assert (found.decision, found.observed) == (Decision.NOT_APPLICABLE, 0)
    assert NONE_SPECIAL in found.reason
    assert "would be false" not in found.reason


def test_hypotheses_of_ours_are_called_ours() -> None:
    ours = {s.key for s in REGISTRY if "(added by m2bridge)" in s.text}
    assert ours == {
        s.key for s in REGISTRY if s.hypotheses == why_degenerate and s.source.startswith(PAPER)
    }
    for s in TOGETHER:
        found = compare(s, seen(1, 2, 1))
        if s.hypotheses in (why_degenerate, why_not_two_dimensions):
            assert found.decision is Decision.NOT_APPLICABLE
            assert "assumes d ≥ 2" in found.reason
            # m2bridge adds nothing to its own statements, which the paper does not print
            assert ("m2bridge adds this hypothesis" in found.reason) == (s.key in ours)
        else:
            assert found.decision is Decision.CONFIRMED
    # words that statements of the paper and of m2bridge share do not speak of the paper
    assert not any("paper" in words for words in WORDS.hypotheses.values())
    # α = 1 for d = 1, however large a is
    outside = verdict("3.4 (i)", 1, 1, 5)
    assert outside.reason.startswith("assumes α > 1 or d' > 1, with α = min(a, d); here α = d' = 1")
    for name in ("3.4 (ii)", "3.4 (iii)", "A.3", "not-a-manifold"):
        assert "the conclusion would be false" in verdict(name, 1, 2, 1).reason


AT_DIMENSION_ONE = {
    "3.4 (ii)": False,
    "3.4 (iii)": False,
    "A.3": False,
    "A.4": False,
    "A.6": True,
    "not-a-manifold": False,
}
"""Which statements with an added hypothesis are true as printed for d = 1 < d'.

By hand: A is a number and V a column, and the functions are all columns AV. They are a linear
space, so no point is on a boundary, singular or critical, and boundary and critical points agree.
The statements say the opposite of the only nonzero orbit, where rk A = rk V = 1 and the two vectors
of length one are parallel; and that the linear space is no manifold.
"""


@pytest.mark.parametrize("d_out", [2, 3])
def test_at_dimension_one_statements_are_false_as_printed(d_out: int) -> None:
    """The verdict stays NOT_APPLICABLE, and its line and JSON say what is so as printed."""
    A, *V = entries = symbols(f"A V:{d_out}")
    jacobian = Matrix([A * entry for entry in V]).jacobian(entries)
    assert jacobian.rank() == d_out  # one less than the weights: only rescaling is in the kernel
    for name, truth in AT_DIMENSION_ONE.items():
        found = verdict(name, 1, d_out, 1)
        assert found.decision is Decision.NOT_APPLICABLE
        assert found.as_printed is found.to_json()["as_printed"] is truth
        words = f"m2bridge adds this hypothesis: as printed the statement is {str(truth).lower()}"
        assert found.reason.endswith(words)
    # all others are the paper's as they stand, and true, or are not in the paper
    for s in TOGETHER:
        found = compare(s, seen(1, d_out, 1))
        if found.name not in AT_DIMENSION_ONE:
            assert found.as_printed is (True if s.source.startswith(PAPER) else None)
            assert "printed" not in found.reason


def truth_by_checker(s: Statement, case: Case) -> bool | None:
    """Whether the conclusion of a statement is true in a case, as the checker finds it."""
    evidence, points = observe_again(case.d, case.d_out, case.alpha)
    (words,) = (words for words in checker.WORDS.about(s.key) if words.part == s.part)
    if words.orbits:
        found = checker._verdict_at_orbits(words, case, evidence, points)
        return False if found["failing"] else None if found["undecided"] else True
    observed = checker._observed_in_case(words.observable, case, evidence)
    outcome = global_verdict(words, None, checker.predicted(words, case), observed)["verdict"]
    return {"CONFIRMED": True, "REFUTED": False}.get(outcome)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_printed_is_what_the_checker_finds(case: tuple[int, int, int]) -> None:
    """None for what the paper does not print, and where it says nothing: α = d' = 1."""
    d, d_out, a = case
    outside = min(a, d) == d_out == 1
    for s in TOGETHER:
        found = compare(s, seen(*case))
        if not s.source.startswith(PAPER) or (outside and s.key not in ("3.2", "A.5")):
            assert found.as_printed is None
            assert "as printed" not in found.reason
        else:
            assert found.as_printed is truth_by_checker(s, Case(d=d, d_out=d_out, a=a, t=2))
    # Theorem 3.4 (iii) is false for d = 1 < d', and where it is REFUTED
    is_refuted = 2 <= a < d and (a, d_out) != (2, 1)
    is_false = not outside and (d == 1 or is_refuted)
    assert (verdict("3.4 (iii)", *case).as_printed is False) == is_false


def test_as_printed_follows_from_the_observation() -> None:
    """Another prediction, or a value that is not known, gives another answer."""
    boundary = statement("3.4 (ii)")
    assert isinstance(boundary, OrbitStatement)
    right = replace(boundary, predict=lambda orbit, model: False)
    assert compare(right, seen(1, 2, 1)).as_printed is True
    undecided = [replace(fact, boundary=None) for fact in seen(1, 2, 1).orbits]
    unknown = compare(boundary, replace(seen(1, 2, 1), orbits=tuple(undecided)))
    assert (unknown.decision, unknown.as_printed) == (Decision.NOT_APPLICABLE, None)
    assert unknown.reason.endswith("whether the statement is true as printed is not known")
    # one token: the paper says nothing
    (one_token,) = verdicts_on((boundary,), SingleLayerAttention(1, 2, 1, t=1), None)
    assert one_token.as_printed is None


@pytest.mark.parametrize("release", ["accepted", "1.0"])
def test_a_certificate_says_what_is_true_as_printed(release: str) -> None:
    """It does not store it: it follows from the orbits where the statement fails, which the checker
    finds too. A certificate without them says the contrary, and is rejected.
    """
    folder = Path(__file__).parents[2] / "certificates"
    certificate = read(folder / release / "d1-dout2-a1-t2-3.4.json")
    assert verify(certificate).accepted
    assert all("as_printed" not in stored for stored in certificate.answer["verdicts"])
    question = question_of("attention", "3.4")
    rows = question.rows(certificate)
    assert [(row.name, row.as_printed) for row in rows] == [
        ("3.4 (i)", True),
        ("3.4 (ii)", False),
        ("3.4 (iii)", False),
    ]
    assert [row.reason for row in rows[1:]] == [
        verdict(name, 1, 2, 1).reason for name in ("3.4 (ii)", "3.4 (iii)")
    ]
    planted = changed(certificate, ("answer", "verdicts", 1, "failing"), [])
    assert question.rows(planted)[1].as_printed is True
    finding = verify(planted)
    assert (finding.accepted, finding.check) == (False, "answer.verdicts[1].failing")


def test_sources_in_the_paper_name_its_version() -> None:
    """They are read from version 2; a later one may number and word them otherwise."""
    words = [*WORDS.statements, *WORDS_OF_NETWORKS.statements]
    sources = {s.source for s in words if s.source.startswith(PAPER)}
    assert len(sources) > 10
    version = LIGHTNING.arxiv
    assert version.endswith("v2")
    assert all(f", arXiv {version}, " in source for source in sources)
    assert (WORDS.renewed_source(f"{PAPER}, arXiv 1"), WORDS.renewed_source("hearsay")) == (
        f"{PAPER}, arXiv 1",
        "hearsay",
    )
    certificate = read(Path(__file__).parents[2] / "certificates/1.0/d1-dout2-a1-t2-3.4.json")
    place = ("answer", "verdicts", 0, "source")
    former = certificate.answer["verdicts"][0]["source"]
    assert former.replace("2408.17221", version) == statement("3.4 (i)").source
    other = changed(certificate, place, former.replace("2408.17221", "2408.17221v3"))
    assert not verify(other).accepted


def test_statements_carry_their_hypotheses() -> None:
    assert all("t ≥ 2" in s.text for s in REGISTRY)
    for s in TOGETHER:
        assert ("α = min(a, d) > 1 or d' > 1" in s.text) == bool(
            s.hypotheses(SingleLayerAttention(2, 1, 1))
        )


def test_trusted_lemmas_are_those_of_the_proof() -> None:
    used = {
        name: verdict(name, 3, 2, 1).trusted
        for name in ("singular-locus", "degree", "A.5", "A.3", "3.4 (ii)")
    }
    names = {text: name for name, text in WORDS.lemmas.items()}
    lemmas = {statement: [names[lemma] for lemma in trusted] for statement, trusted in used.items()}
    assert lemmas == {
        "singular-locus": [
            "reduced",
            "orbits",
            "closures-of-orbits",
            "fibre-lemma",
            "determinantal",
            "zero",
        ],
        "degree": ["reduced", "orbits", "projection", "low-rank"],
        "A.5": ["indices"],
        "A.3": ["reduced", "orbits", "determinantal"],
        "3.4 (ii)": ["reduced", "orbits", "local", "zero"],
    }
    for s in TOGETHER:
        found = compare(s, seen(3, 2, 1))
        assert not any(" normal" in lemma for lemma in found.trusted)
        assert set(found.trusted) <= set(content(s.key, seen(3, 2, 1)).trusted)


@pytest.mark.parametrize(
    "model", [SingleLayerAttention(2, 2, t=3), SingleLayerAttention(3, 1, t=2)], ids=str
)
def test_products_determine_functions(model: SingleLayerAttention) -> None:
    """Both spans are equal for the whole parametrization too, with all tokens and outputs."""
    full, reduced = model.parametrization("full"), model.parametrization("reduced")
    assert products_determine_functions(model.d) == same_span(full, reduced)


def test_one_token_does_not_determine_products(monkeypatch: pytest.MonkeyPatch) -> None:
    from m2bridge.families.attention.orbits import fibres as tokens

    whole = tokens._output_coefficients
    monkeypatch.setattr(tokens, "_output_coefficients", lambda d: whole(d)[::2])
    assert not products_determine_functions(2)


def test_the_manifold_is_linear_for_one_dimension_only() -> None:
    for case in CASES:
        observed = seen(*case)
        found = compare(statement("not-a-manifold"), observed)
        assert isinstance(statement("not-a-manifold"), GlobalStatement)
        assert ("yes" in found.reason) == (case[0] == 1)


PAGE = stated.PAGE.read_text(encoding="utf-8")


def test_the_page_of_statements_is_up_to_date() -> None:
    """Whoever changes words, or what is computed, writes the page again (``python -m
    tests.stated``), and reads the reasons there.
    """
    assert stated.page(PAGE) == PAGE


@pytest.mark.parametrize("title", stated.SECTIONS)
def test_a_person_says_why_what_is_computed_decides_each_statement(title: str) -> None:
    reasons = stated.reasons(title, PAGE)
    assert list(reasons) == [name for name, _, _ in stated.SECTIONS[title]]
    for name, reason in reasons.items():
        assert reason.endswith("."), name


def test_a_change_of_words_is_noticed() -> None:
    for right, wrong in [
        ("dimension α(2d − α) + d·d' − 1", "dimension α(2d − α) + d·d'"),
        ("the base locus is empty (Macaulay2)", "the base locus is empty"),
        ("**3.3**† (4)", "**3.3**† (4, 5)"),
        ("**3.4 (ii)**‡", "**3.4 (ii)**†"),
        ("† For t ≥ 2, and α = min(a, d) > 1", "† For t ≥ 2, and α = min(a, d) > 2"),
    ]:
        assert right in PAGE
        assert stated.page(PAGE.replace(right, wrong, 1)) == PAGE


def test_no_sign_of_the_words_is_lost_in_markdown() -> None:
    markdown_it = pytest.importorskip("markdown_it")
    page = unescape(markdown_it.MarkdownIt("commonmark").render(PAGE))
    for rows in stated.SECTIONS.values():
        for name, text, parts in rows:
            sign, words = stated.with_sign(text)
            shown = (f"{name}</strong>{sign}", stated.SIGNS.get(sign, ""), words, *parts)
            assert [said for said in shown if said not in page] == []


def test_every_family_with_statements_has_its_table() -> None:
    with_statements = {name for name in OWN_FAMILIES if family(name).statements()}
    for_all = {family(name).all_sizes for name in with_statements}
    assert with_statements - for_all == set(stated.FAMILIES)
    assert {name for name in stated.FAMILIES if family(name).all_sizes} == set(stated.ALL_SIZES)
    titles = re.findall("^## (.*)$", PAGE, re.MULTILINE)
    assert set(titles) == {*stated.FAMILIES.values(), *stated.ALL_SIZES.values()}


def present_words(path: Path) -> str:
    """A file of words without former ones, which may name pages that are gone."""
    text = path.read_text(encoding="utf-8")
    return re.sub(
        r"^\[\[?former.*?(?=^\[(?!\[?former)|\Z)", "", text, flags=re.MULTILINE | re.DOTALL
    )


def test_what_verdicts_rest_on_is_on_the_pages_that_they_name() -> None:
    root = Path(__file__).parents[3]
    places = {
        place
        for words in (root / "m2bridge").rglob("words.toml")
        for place in re.findall(r"docs/([\w-]+\.md)#([\w-]+)", present_words(words))
    }
    assert len(places) >= 20
    for page, label in places:
        text = (root / "docs" / page).read_text(encoding="utf-8")
        assert f":label: {label}\n" in text or f"({label})=\n" in text, (page, label)


# Every statement of every family: a wrong number, set, or case is planted in the prediction and in
# what is observed.


@dataclass(frozen=True)
class Given(Observed):
    """An observation with these values: of the closure as a whole, or at orbits."""

    model: Any
    whole: Value | None = None
    at: Mapping[Any, Value | None] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    engine_version: str = ""
    seconds: float = 0.0

    def value(self, observable: str) -> Value | None:
        return self.whole

    def unknown(self, observable: str) -> str:
        return "not known"

    def all_orbits(self) -> tuple[Any, ...]:
        return tuple(self.at)

    def at_orbits(self, observable: str) -> Mapping[Any, Value | None]:
        return self.at

    def witness(
        self, orbits: Sequence[Any]
    ) -> tuple[Any, Mapping[str, IntegerMatrix], dict[str, int]]:
        return orbits[0], {}, {}

    def numbers(self) -> dict[str, int]:
        return {}

    def facts(self) -> list[tuple[str, str | None]]:
        return []

    def to_json(self) -> dict[str, Any]:
        return {}


def some_networks() -> list[DeepAttention]:
    """Networks of which some satisfy the hypotheses of each statement about deep attention."""
    widths = (3, 3, 3), (2, 2, 2), (3, 2, 3), (3, 3), (2, 2, 1), (4, 4, 4)
    found = []
    for w, a, t, softmax in product(widths, (1, 2, 3), (1, 2, 3), (False, True)):
        how = {"normalization": "softmax"} if softmax else {}
        found.append(DeepAttention(w, a, t, **how))
        found.append(DeepAttention(w, a, t, heads=2, **how))
        if len(set(w)) == 1:
            found.append(DeepAttention(w, a, t, skip=True, **how))
            found.append(DeepAttention(w, a, t, heads=2, skip=True, **how))
    return found


MORE_MODELS: dict[str, Callable[[], list[Any]]] = {
    "attention": lambda: [SingleLayerAttention(*case) for case in (*CASES, (2, 2, 1), (4, 2, 3))],
    "deep-attention": some_networks,
    "polynomial-network": lambda: [PolynomialNetwork(w) for w in ([2, 2, 2], [3, 2, 1], [3, 3, 3])],
}
"""More cases of a family than its sample."""


def models(name: str) -> list[Any]:
    """Cases of a family, in each of which mistakes are planted."""
    return MORE_MODELS[name]() if name in MORE_MODELS else [family(name).sample_case()]


FEW = [SingleLayerAttention(*size) for size in ((2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2))]
"""Cases whose cores are small."""
STATED = [(name, s) for name in OWN_FAMILIES for s in family(name).statements()]


def applies(name: str, s: Statement) -> list[Any]:
    """The models of the family to which it applies, and for which it predicts something."""
    within = [
        model
        for model in (FEW if s.separate_computation else models(name))
        if not s.hypotheses(model)
    ]
    if isinstance(s, OrbitStatement):
        return [model for model in within if any(map(s.concerns, orbits(model)))]
    return [model for model in within if s.predict(model) is not None]


def wrong_values(value: Value, elsewhere: Iterable[Value]) -> list[Value]:
    """Other values of the same kind, and those of other cases or orbits."""
    found: list[Value] = [not value] if isinstance(value, bool) else []
    if isinstance(value, int) and not isinstance(value, bool):
        found = [value + 1, value - 1, 2 * value + 1]
    if isinstance(value, Numbers):
        entries = value.entries
        found = [
            Numbers((*entries[:i], entries[i] + 1, *entries[i + 1 :])) for i in range(len(entries))
        ]  # type: ignore[operator]
        found += [Numbers(entries[:-1]), Numbers((*entries, 0)), Numbers(())]
    if isinstance(value, Preimages):
        stranger = ((E_1, E_2, E_2), (E_1, E_1))
        found = [Preimages(frozenset()), Preimages(value.points | {stranger})]
        found += [Preimages(value.points - {point}) for point in value.points]
    if isinstance(value, HilbertValues):
        found = [*wrong_hilbert_values(value)]
    if isinstance(value, GeneratorNumbers):
        found = [*wrong_generators(value)]
    if isinstance(value, ExposedTypes):
        found = [ExposedTypes(value.exposed - {one}) for one in value.exposed]
        found.append(ExposedTypes(value.exposed | {(9, 9, 9, 9, 9)}))
    return [*found, *(other for other in elsewhere if other != value)]


def wrong_hilbert_values(value: HilbertValues) -> Iterator[HilbertValues]:
    """Those of one more or one less in the last coefficient, and in a degree that is not shown."""
    series = value.series
    assert series is not None
    *first, last = series.numerator
    for numerator in ((*first, last + 1), tuple(first), (*first, last, *(0,) * 9, 1)):
        wrong = HilbertSeries(numerator, series.dimension)
        yield HilbertValues(tuple(wrong.value(n) for n in range(len(value.values))), wrong)


def wrong_generators(value: GeneratorNumbers) -> Iterator[GeneratorNumbers]:
    """Too many, too few, in another degree, with numbers exchanged."""
    right = dict(value.counts)
    wrong: list[dict[int, int]] = [{}, right | {max(right) + 1: 1}]
    for degree, number in right.items():
        others = {n: count for n, count in right.items() if n != degree}
        wrong += [others, others | {degree + 1: number}]
        if not isinstance(value, GeneratorDegrees):
            wrong += [right | {degree: number + 1}, right | {degree: number - 1}]
    if not isinstance(value, GeneratorDegrees) and len(set(right.values())) > 1:
        wrong.append(dict(zip(right, reversed(right.values()), strict=True)))
    yield from (type(value).of(numbers) for numbers in wrong if numbers != right)


def names_of(pairs: Sequence[tuple[str, Statement]]) -> list[str]:
    return [f"{name}: {s.key} {s.part}".strip() for name, s in pairs]


MOST_OTHERS = 60
"""The values of so many other cases are enough to be planted in each case; some statements apply to
hundreds.
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "s"), STATED, ids=names_of(STATED))
def test_what_is_planted_in_a_prediction_or_in_an_observation_is_never_confirmed(
    name: str, s: Statement
) -> None:
    models = applies(name, s)
    assert models, "no case of the list is one to which the statement applies"
    others = models[:: 1 + len(models) // MOST_OTHERS]
    for model in models:
        if isinstance(s, GlobalStatement):
            right = s.predict(model)
            assert compare(s, Given(model, right)).decision is Decision.CONFIRMED
            assert compare(s, Given(model, None)).decision is Decision.UNDECIDED
            for wrong in wrong_values(right, [s.predict(other) for other in others]):
                planted = replace(s, predict=partial(_planted, wrong))
                assert compare(planted, Given(model, right)).decision is Decision.REFUTED
                if wrong != s.nothing:  # that there is nothing to speak of is seen, and no number
                    assert compare(s, Given(model, wrong)).decision is Decision.REFUTED
            continue
        values = {orbit: s.predict(orbit, model) for orbit in orbits(model)}
        assert compare(s, Given(model, at=values)).decision is Decision.CONFIRMED
        for orbit in filter(s.concerns, values):
            for wrong in wrong_values(values[orbit], values.values()):
                seen_wrong = Given(model, at={**values, orbit: wrong})
                assert compare(s, seen_wrong).failing == (orbit,)
                assert compare(s, seen_wrong).decision is Decision.REFUTED
                planted = replace(s, predict=partial(_planted_at, orbit, wrong, s.predict))
                assert compare(planted, Given(model, at=values)).decision is Decision.REFUTED
            assert (
                compare(s, Given(model, at={**values, orbit: None})).decision is Decision.UNDECIDED
            )


OUTSIDE = [
    SingleLayerAttention(*size, t) for size in product((1, 2, 3), (1, 2), (1, 2, 3)) for t in (1, 2)
]


@pytest.mark.parametrize("s", TOGETHER, ids=lambda s: f"{s.key} {s.part}".strip())
def test_predictions_are_total_and_those_of_the_checker_also_where_hypotheses_fail(
    s: Statement,
) -> None:
    """A verdict says of a case to which a statement does not apply whether its conclusion holds all
    the same.
    """
    assert any(map(s.hypotheses, OUTSIDE))
    words = checker.WORDS.words(s.key, s.part)
    for model in OUTSIDE:
        case = Case(model.d, model.d_out, model.a, model.t)
        if isinstance(s, GlobalStatement):
            assert checker.predicted(words, case) == value_json(s.predict(model))
        else:
            for orbit in orbits(model):
                if s.concerns(orbit):
                    stated = checker.predicted(words, case, orbit.cells)
                    assert stated == value_json(s.predict(orbit, model))
        assert (checker.failing_hypothesis(words, case) or "") == s.hypotheses(model)


def _planted(wrong: Value, model: Any) -> Value:
    return wrong


def _planted_at(
    where: Any, wrong: Value, right: Callable[..., Value], orbit: Any, model: Any
) -> Value:
    return wrong if orbit == where else right(orbit, model)


def test_statements_are_chosen_by_name() -> None:
    about = SingleLayerAttention(3, 3).statements()
    names = [(one.key, one.part) for one in statements_named(about, "3.4")]
    assert ("3.4", "iii") in names
    assert {key for key, _ in names} == {"3.4"}
    for name in ("3.4 (iii)", "3.4iii", "3.4(iii)", "Theorem 3.4 (iii)", "thm. 3.4 iii"):
        assert [(one.key, one.part) for one in statements_named(about, name)] == [("3.4", "iii")]
    assert statements_named(about, "Theorem 3.4") == statements_named(about, "3.4")
    assert statements_named(about, "lemma a.3") == statements_named(about, "A.3")
    wrong = (
        "Theorem",
        "3.4 iiii",
        "3 4",
        "34",
        "3.4 (",
        "3.4)",
        "(3.4)",
        "3.4 ()",
        "3.4 (iii))",
        "",
    )
    for name in wrong:
        with pytest.raises(InvalidCaseError, match="is not one of"):
            statements_named(about, name)
    assert statements_named(about, "all") == sharing_one_observation(about)
    with pytest.raises(InvalidCaseError, match=r"'9\.9' is not one of 3\.2, 3\.3"):
        cross_check(SingleLayerAttention(3, 3), "9.9")
    with pytest.raises(InvalidCaseError, match="must be statements or their names, not an int"):
        cross_check(SingleLayerAttention(3, 3), 5)  # type: ignore[arg-type]
    with pytest.raises(InvalidCaseError, match="'statements' must have one at least"):
        cross_check(SingleLayerAttention(3, 3), [])


def test_a_conclusion_that_is_not_decided_is_not_said_to_hold() -> None:
    orbit = Orbit(1, 1, 1)
    extent = OrbitwiseComparison(
        observable="boundary", hypothesis="assumes x", concerned=2, orbits=2, undecided=(orbit,)
    )
    expected = "assumes x; whether the conclusion holds on (1, 1, 1) is not decided"
    assert extent.reasons() == [expected]


def test_a_yes_against_a_no_is_said_in_words() -> None:
    assert difference_text("singular", True, False) == "singular, though the statement says smooth"
    assert difference_text("singular", False, True) == "smooth, though the statement says singular"
    assert difference_text("boundary", True, False) == "yes, though the statement says no"
    assert difference_text("closed", True, True) == "yes, as stated"
    assert difference_text("dimension", 5, 6) == "computed 5, stated 6"
