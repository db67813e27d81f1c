"""The formulas of words.toml, sentence by sentence: each is compared with values written here by
hand, and a wrong one is refuted by whatever reads it.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import comb, prod
from typing import Any

import islpy as isl
import pytest

from m2bridge import SingleLayerAttention
from m2bridge.certificates import conditions
from m2bridge.certificates.wording import Words
from m2bridge.checker import global_verdict
from m2bridge.crosscheck.verdict import compare
from m2bridge.errors import ResourceError
from m2bridge.families.attention import hypotheses
from m2bridge.families.attention.all_sizes import family, predictions
from m2bridge.families.attention.all_sizes.checker import statements as checked_for_all_sizes
from m2bridge.families.attention.all_sizes.checker.fibres import sizes
from m2bridge.families.attention.checker import statements as checker
from m2bridge.families.attention.checker.case import Case, orbits as orbits_of
from m2bridge.families.attention.checker.evidence import observe
from m2bridge.families.attention.hypotheses import WORDS
from m2bridge.families.attention.statements import REGISTRY, _statement
from m2bridge.results.base import Decision
from tests.all_sizes import basis
from tests.changing import recheck, with_formulas

SIZES = list(product(range(1, 5), range(1, 4), range(1, 6)))
"""d, d' and a."""


def determinantal_degree(d: int, alpha: int) -> int:
    """The degree of the d × d matrices of rank at most α, by Giambelli's formula."""
    numerator = prod(comb(d + i, alpha) for i in range(d - alpha))
    return numerator // prod(comb(alpha + i, alpha) for i in range(d - alpha))


def degree(d: int, dp: int, a: int) -> int:
    alpha = min(a, d)
    of_source = comb(alpha * (2 * d - alpha) - 1 + d * dp - 1, d * dp - 1)
    of_source *= determinantal_degree(d, alpha)
    return of_source // 2 if (alpha, dp) == (1, 1) and d > 1 else of_source


def singular_locus(d: int, dp: int, a: int, r: int, s: int, m: int) -> bool:
    if a >= d:
        return (r, s) == (1, 1)
    return s == 1 if a == 1 else r in range(1, a)


BY_HAND: dict[tuple[str, str], tuple[str, Callable[..., Any]]] = {
    ("3.2", "zero"): (
        "For t ≥ 2: if A = 0 or V = 0, the fibre is the set of all (A', V') with A' = 0 or V' = 0.",
        lambda d, dp, a: True,
    ),
    ("3.3", ""): (
        "For t ≥ 2, and α = min(a, d) > 1 or d' > 1: the neuromanifold has dimension"
        " α(2d − α) + d·d' − 1.",
        lambda d, dp, a: d * d - max(d - a, 0) ** 2 + d * dp - 1,
    ),
    ("3.4", "i"): (
        "For t ≥ 2, and α = min(a, d) > 1 or d' > 1: the neuromanifold is closed in the Euclidean"
        " topology.",
        lambda d, dp, a: True,
    ),
    ("3.4", "ii"): (
        "For t ≥ 2, and α = min(a, d) > 1 or d' > 1, and d ≥ 2 (added by m2bridge): the relative"
        " boundary points of the neuromanifold (limits of points of its Zariski closure outside it)"
        " are the functions of A = v qᵀ, V = h vᵀ.",
        lambda d, dp, a, r, s, m: (r, s, m) == (1, 1, 1),
    ),
    ("3.4", "iii"): (
        "For t ≥ 2, and α = min(a, d) > 1 or d' > 1, and d ≥ 2 (added by m2bridge): the singular"
        " points of the neuromanifold are the functions with rk A · rk V ≤ 1.",
        lambda d, dp, a, r, s, m: r * s <= 1,
    ),
    ("A.2", "birational"): (
        "For t ≥ 2, and α = min(a, d) > 1 or d' > 1: the projective parametrization (A, V) ↦ φ is"
        " birational onto its image.",
        lambda d, dp, a: True,
    ),
    ("A.2", "special fibres"): (
        "For t ≥ 2, and α = min(a, d) > 1 or d' > 1: the special fibres of the projective"
        " parametrization, those of more points than the generic one, have cardinality 2.",
        lambda d, dp, a: 2,
    ),
    ("A.3", ""): (
        "For t ≥ 2, and α = min(a, d) > 1 or d' > 1, and d ≥ 2 (added by m2bridge): a point (A, V)"
        " with A ≠ 0, V ≠ 0 is critical for the projective parametrization exactly when A = v qᵀ"
        " and V = h vᵀ for the same v (critical: the differential is not injective on the Zariski"
        " tangent space).",
        lambda d, dp, a, r, s, m: (r, s, m) == (1, 1, 1),
    ),
    ("A.4", ""): (
        "For t ≥ 2, and α = min(a, d) > 1 or d' > 1, and d ≥ 2 (added by m2bridge): the singular"
        " points of the image of the projective parametrization are the functions with"
        " rk A = rk V = 1.",
        lambda d, dp, a, r, s, m: r + s == 2,
    ),
    ("A.5", ""): (
        "For t ≥ 2: up to a linear isomorphism the function of (A, V) is the matrix of products"
        " l_i·v_k of the linear forms l_i (columns of A) and v_k (rows of V).",
        lambda d, dp, a: True,
    ),
    ("A.6", ""): (
        "For t ≥ 2, and α = min(a, d) > 1 or d' > 1, and d ≥ 2 (added by m2bridge): a nonzero"
        " function is a relative boundary point of the neuromanifold exactly when it is a critical"
        " value of the projective parametrization.",
        lambda d, dp, a, r, s, m: True,
    ),
    ("not-a-manifold", ""): (
        "For t ≥ 2, and α = min(a, d) > 1 or d' > 1, and d ≥ 2 (added by m2bridge): the"
        " neuromanifold is not a smooth manifold.",
        lambda d, dp, a: False,
    ),
    ("degree", ""): (
        "For t ≥ 2: the Zariski closure has degree C(δ_A + δ_V, δ_V)·deg P(D_α), with"
        " δ_A = α(2d − α) − 1 and δ_V = d·d' − 1; half of that when α = d' = 1 < d.",
        degree,
    ),
    ("singular-locus", ""): (
        "For t ≥ 2, d ≥ 2, and α = min(a, d) > 1 or d' > 1: the singular points are zero and the"
        " functions with rk A = rk V = 1 if a ≥ d; with rk V = 1 if a = 1 < d; with rk A ≤ a − 1 if"
        " 2 ≤ a < d.",
        singular_locus,
    ),
    ("learning-degree", ""): (
        "For t ≥ 2, d' = 1 and a ≥ d: the squared loss on t tokens with independent standard normal"
        " entries has, for a general target, S(d + 2, 3) = (3^(d + 1) − 2^(d + 2) + 1)/2 complex"
        " critical points (A, V) up to rescaling, with f(A, V) ≠ 0 and V·V ≠ 0.",
        lambda d, dp, a: (0, 1, 6, 25, 90)[d],
    ),
}
"""The sentence of each statement with a formula for its value, and the value by hand."""
EXPOSED = (
    "k = q = r, s = min(d, d'), and m = max(0, r + s − d) or r = s = m = 1.",
    "k = q = r, o − s ≤ d' − min(d, d'), v − s ≤ d − min(d, d'), and m = max(0, r + s − d) or"
    " r = s = m = 1.",
)
"""The ends of the sentences on types, whose formulas test_exposed.py compares at small sizes."""
STATED = {(words.key, words.part): words for words in WORDS.statements}


TYPES = (("exposed", ""), ("exposed-heads", ""))


def test_each_formula_is_compared() -> None:
    with_value = {key for key, words in STATED.items() if words.value}
    assert with_value == BY_HAND.keys() | set(TYPES)
    for key, end in zip(TYPES, EXPOSED, strict=True):
        assert STATED[key].text.endswith(f"exactly if {end}")


@pytest.mark.parametrize("key", BY_HAND, ids=lambda key: " ".join(key).strip())
def test_a_formula_is_what_the_sentence_says(key: tuple[str, str]) -> None:
    words = STATED[key]
    sentence, by_hand = BY_HAND[key]
    assert words.text == sentence
    for d, dp, a in SIZES:
        case = Case(d, dp, a, 2)
        if not words.orbits:
            assert checker.predicted(words, case) == by_hand(d, dp, a)
            continue
        for orbit in orbits_of(case):
            assert checker.predicted(words, case, orbit) == by_hand(d, dp, a, *orbit)


HYPOTHESES: dict[str, tuple[str, Callable[..., bool]]] = {
    "several-tokens": ("For t ≥ 2", lambda d, dp, a, t: t != 1),
    "not-degenerate": (
        "α = min(a, d) > 1 or d' > 1",
        lambda d, dp, a, t: dp > 1 or (a > 1 and d > 1),
    ),
    "two-dimensions": ("d ≥ 2", lambda d, dp, a, t: d != 1),
    "one-output": ("d' = 1 and a ≥ d", lambda d, dp, a, t: dp == 1 and min(a, d) == d),
    "few-rows": (
        "d ≤ 3 or d' = 1 or min(a, d) = 1",
        lambda d, dp, a, t: not (d >= 4 and dp >= 2 and min(a, d) >= 2),
    ),
}
"""What sentences say of each hypothesis, and when it holds."""


@pytest.mark.parametrize("words", STATED.values(), ids=lambda w: f"{w.key} {w.part}".strip())
def test_hypotheses_are_those_of_the_sentence(words: Words) -> None:
    for name, (phrase, _) in HYPOTHESES.items():
        # the part of the sentence before the colon
        assert (phrase in words.text.partition(": ")[0]) == (name in words.assumes), name
    is_of_paper = words.source.startswith("Henry")
    assert (words.printed is not None) == is_of_paper
    added = [name for name in words.assumes if name not in (words.printed or words.assumes)]
    assert ("(added by m2bridge)" in words.text) == (added == ["two-dimensions"])
    assert not added or is_of_paper


@pytest.mark.parametrize("name", HYPOTHESES)
def test_conditions_of_hypotheses(name: str) -> None:
    assert WORDS.conditions.keys() == HYPOTHESES.keys()
    _, holds = HYPOTHESES[name]
    condition = WORDS.conditions[name]
    for (d, dp, a), t in product(SIZES, (1, 2, 3)):
        numbers = checker.numbers(condition, Case(d, dp, a, t))
        assert conditions.value(condition, numbers) == holds(d, dp, a, t)


def test_orbits_of_theorem_3_2() -> None:
    for d, dp, a in SIZES:
        for r, s, _ in orbits_of(Case(d, dp, a, 2)):
            of_rank_one = conditions.value(STATED["3.2", "rank one"].orbits, {"r": r, "s": s})
            others = conditions.value(STATED["3.2", "otherwise"].orbits, {"r": r, "s": s})
            assert (of_rank_one, others) == ((r, s) == (1, 1), (r, s) != (1, 1))
    about = {key for key, words in STATED.items() if words.orbits == "True"}
    others = [("3.4", "ii"), ("3.4", "iii"), ("A.3", ""), ("A.4", ""), ("A.6", "")]
    assert about == {*others, ("singular-locus", "")}


WRONG: dict[tuple[str, str], list[str]] = {
    ("3.2", "zero"): ["False"],
    ("3.3", ""): [
        "alpha * (2 * d - alpha) + d * dp",
        "a * (2 * d - a) + d * dp - 1",
        "d * d + d * dp - 1",
    ],
    ("3.4", "i"): ["False"],
    ("3.4", "ii"): ["r == s == 1", "True", "r == m == 1"],
    ("A.2", "birational"): ["False"],
    ("A.2", "special fibres"): ["3"],
    ("A.3", ""): ["r == s == 1", "False"],
    ("A.4", ""): ["True", "s == 1 and m == 1"],
    ("A.5", ""): ["False"],
    ("A.6", ""): ["False", "m == 0"],
    ("not-a-manifold", ""): ["True"],
    ("degree", ""): ["D // 2", "D + 1", "D // 2 if alpha == 2 else D"],
    ("singular-locus", ""): [
        "r == s == 1",
        "(a >= d and r == s == 1) or (a < d and r <= a - 1)",
        "(a >= d and r == s == 1) or (a == 1 < d and s == 1) or (2 <= a < d and r <= a)",
    ],
}
"""Wrong values of statements that are true."""
WITHOUT_WRONG = {("3.4", "iii"), ("learning-degree", "")}
"""What is false, and what is counted where it is asked for by name."""


def test_wrong_values_are_tried_for_each_formula() -> None:
    assert WRONG.keys() | WITHOUT_WRONG == BY_HAND.keys()


PLANTED = [(key, value) for key, values in WRONG.items() for value in values]
CASES = [(2, 2, 1), (3, 2, 1), (3, 2, 2), (3, 3, 3), (2, 2, 3)]


@pytest.mark.parametrize(("key", "value"), PLANTED)
def test_a_wrong_value_in_the_table_is_refuted_by_program_and_checker(
    key: tuple[str, str], value: str
) -> None:
    """The observable is computed without the table, by both."""
    wrong = replace(STATED[key], value=value)
    outcomes = set()
    for size in CASES:
        observed = recheck(SingleLayerAttention(*size))
        (right,) = (one for one in REGISTRY if (one.key, one.part) == key)
        statement = replace(right, predict=_statement(wrong).predict)  # type: ignore[arg-type]
        evidence, points = observe(size[0], size[1], min(size[2], size[0]))
        case = Case(*size, 2)
        if wrong.orbits:
            found = checker._verdict_at_orbits(wrong, case, evidence, points)
        else:
            seen = checker._observed_in_case(wrong.observable, case, evidence)
            hypothesis = checker.failing_hypothesis(wrong, case)
            found = global_verdict(wrong, hypothesis, checker.predicted(wrong, case), seen)
        decision = compare(statement, observed).decision
        assert found["verdict"] == decision
        outcomes.add(decision)
    assert Decision.REFUTED in outcomes


@pytest.mark.slow
@pytest.mark.parametrize(("key", "value"), PLANTED)
def test_a_wrong_value_in_the_table_is_refuted_for_all_sizes(
    key: tuple[str, str], value: str
) -> None:
    if key == ("A.2", "special fibres"):
        return  # for all sizes it is a property, and the value is not read
    if "a *" in value:
        return  # a polynomial in d, d' and α has no place for a
    wrong = replace(STATED[key], value=value)
    statement = next(one for one in REGISTRY if (one.key, one.part) == key)
    _, (verdict,), _ = family.decide(basis(), [(statement, predictions._prediction(wrong))])
    assert verdict.decision is Decision.REFUTED
    found = checked_for_all_sizes._verdict(wrong, wrong.as_property or wrong.observable)
    # the checker compares polynomials, which differ at all sizes if they differ in one term
    not_one_term = key == ("3.3", "") and value.startswith("d * d")
    assert found["verdict"] == ("UNDECIDED" if not_one_term else "REFUTED")


@pytest.mark.parametrize(
    ("text", "numbers", "value"),
    [
        ("1 + 2 * 3 - 4", {}, 3),
        ("-d ** 2 // 3", {"d": 4}, -6),
        ("min(a, d) == max(1, 2)", {"a": 2, "d": 5}, True),
        ("2 <= a < d", {"a": 2, "d": 2}, False),
        ("2 <= a < d", {"a": 1, "d": 2}, False),
        ("a != d and not a > d", {"a": 1, "d": 2}, True),
        ("a == 1 or d == 1 or d == 2", {"a": 2, "d": 2}, True),
        ("a == 1 and d == 2 and d == 3", {"a": 1, "d": 2}, False),
        ("d if a > 1 else 0", {"a": 1, "d": 2}, 0),
        ("True", {}, True),
    ],
)
def test_the_language_of_conditions(text: str, numbers: dict[str, int], value: int) -> None:
    assert conditions.value(text, numbers) == value


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "d.real",
        "[1]",
        "lambda: 1",
        "d if",
        "abs(d)",
        "min(d, key=d)",
        "'d'",
        "1.5",
        "d in a",
        "d / 2",
        "(x := 1)",
        "d & a",
        "~d",
        "f(d)(d)",
        "None",
    ],
)
def test_nothing_else_is_in_the_language(text: str) -> None:
    with pytest.raises(ValueError, match="condition"):
        conditions.value(text, {"d": 1, "a": 1})


def test_conditions_for_isl() -> None:
    small = list(product(range(1, 5), repeat=3))
    for text in (*WORDS.conditions.values(), "not (a < d == 2) or a != dp", "a + 1 - d >= 2 * dp"):
        if "t >=" in text:
            continue
        found = sizes(checked_for_all_sizes.in_isl(text))
        for d, dp, a in small:
            numbers = {"d": d, "dp": dp, "a": a, "alpha": min(a, d)}
            point = isl.Set(f"{{ [{d}, {dp}, {a}] }}")
            assert point.is_subset(found) == conditions.value(text, numbers), text
    with pytest.raises(ValueError, match="isl has no"):
        conditions.isl("d ** 2 == 4")


def test_hypotheses_in_the_program() -> None:
    shape = SingleLayerAttention(1, 1, 1, 1)
    assert hypotheses.why_degenerate(shape) == WORDS.hypotheses["several-tokens"]
    planted = with_formulas(WORDS, ("3.3", ""), value="1")
    assert planted.words("3.3", "").value == "1"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("assumes", ("nameless",), "statement '3.3': no words or no condition of 'nameless'"),
        ("printed", ("nameless",), "no words or no condition of 'nameless'"),
        ("meaning", ("nameless",), "no words or no condition of 'nameless'"),
        ("observable", "width", "no observable 'width'"),
    ],
)
def test_a_statement_without_its_words_is_refused(field: str, value: Any, said: str) -> None:
    words = WORDS.words("3.3", "")
    with pytest.raises(ResourceError, match=said):
        replace(WORDS, statements=(replace(words, **{field: value}),))
