"""Planted mistakes: wrong patterns, wrong base ideals, wrong statements are all noticed."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product

import pytest

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.all_sizes import (
    base_ideals as facts,
    fibre_theorem,
    integer_sets,
    integer_sets as patterns,
)
from m2bridge.families.attention.all_sizes.base_ideals import COMPARED, ComputedCases, SizeOrbitSets
from m2bridge.families.attention.all_sizes.checker import (
    fibres as checked_fibres,
    identities,
    statements as checked,
)
from m2bridge.families.attention.all_sizes.checker.weight_types import sizes_with_wrong_types
from m2bridge.families.attention.all_sizes.family import decide, is_stated
from m2bridge.families.attention.all_sizes.fibre_theorem import BASE_CASES, DETERMINED, BaseCase
from m2bridge.families.attention.all_sizes.predictions import (
    PREDICTIONS,
    FormulaPrediction,
    NumbersPrediction,
    SetPrediction,
    TypePrediction,
)
from m2bridge.families.attention.all_sizes.weight_types import _vanishing, types
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.polar.chern_integrals import stated_polar_degrees
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.attention.training.types import weight_types
from m2bridge.results.base import Decision
from m2bridge.statements.statement import Numbers
from tests.all_sizes import basis, counted

PAPER = PREDICTIONS["3.3", ""].hypotheses
NONDEGENERATE = PREDICTIONS["singular-locus", ""].hypotheses
TWO_DIMENSIONS = PREDICTIONS["polar", ""].hypotheses
TWO_TO_ONE = "a = 1 and dp = 1 and d >= 2"
EXPOSED = PREDICTIONS["exposed", ""].condition  # type: ignore[union-attr]
USED = {base for stratum in fibre_theorem.fibre_theorem(basis().ideals) for base in stratum.ideals}


@pytest.mark.parametrize("base", BASE_CASES, ids=str)
def test_without_a_base_case_that_is_used_nothing_is_proved(base: BaseCase) -> None:
    fewer = {known: ideal for known, ideal in basis().ideals.items() if known != base}
    if base in USED:
        with pytest.raises(ContradictionError, match="no base case"):
            fibre_theorem.fibre_theorem(fewer)
    else:
        assert base.d == 4
        assert len(fibre_theorem.fibre_theorem(fewer)) == 4


@pytest.mark.parametrize("base", sorted(USED), ids=str)
def test_a_base_ideal_with_one_generator_less_or_changed_is_not_enough(base: BaseCase) -> None:
    ideal = basis().ideals[base]
    changed = next(iter(ideal))
    other = tuple((monomial, 2 * c if any(monomial) else c + 1) for monomial, c in changed)
    for wrong in (
        ideal - {changed},
        ideal - {changed} | {other},
        frozenset({(((0,) * (base.d - 1), 1),)}),
    ):
        with pytest.raises(ContradictionError, match="no base case"):
            fibre_theorem.fibre_theorem({**basis().ideals, base: wrong})


FIRST, FURTHER = "({k} <= m and {q} = {k})", "(m < {k} and {k} <= s and {q} = r + {k} - m)"

WRONG_V = {
    "row k is e_{r+k}": (
        f"{FIRST} or {FURTHER.replace(' - m', '')} or (m = 0 and {{k}} = 1 and {{q}} = 1)"
    ),
    "row 1 without e_1": f"{FIRST} or {FURTHER}",
    "e_1 in every row": f"{FIRST} or {FURTHER} or (m = 0 and {{q}} = 1)",
    "no rows after m": f"{FIRST} or (m = 0 and {{k}} = 1 and {{q}} = 1)",
}


@pytest.mark.parametrize("rule", WRONG_V)
def test_a_wrong_rule_for_the_entries_of_v(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(k: str, q: str) -> str:
        return WRONG_V[rule].format(k=k, q=q)

    monkeypatch.setattr(patterns, "entry_of_v", planted)
    monkeypatch.setattr(fibre_theorem, "entry_of_v", planted)
    with pytest.raises(ContradictionError):
        fibre_theorem.fibre_theorem(basis().ideals)


@pytest.mark.parametrize(
    "rule",
    ["{p} = {i} and {p} < r", "{p} = {i} + 1 and {p} <= r", "{p} <= r", "{p} = 1 and {i} = 1"],
)
def test_a_wrong_rule_for_the_entries_of_a(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "entry_of_a", lambda p, i: rule.format(p=p, i=i))
    with pytest.raises(ContradictionError):
        fibre_theorem.fibre_theorem(basis().ideals)


@pytest.mark.parametrize(
    ("condition", "left_out"),
    [(c, n) for c, listed in DETERMINED.items() for n in range(len(listed))],
)
def test_selections_that_leave_out_a_place(
    condition: str, left_out: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = DETERMINED[condition]
    monkeypatch.setitem(DETERMINED, condition, listed[:left_out] + listed[left_out + 1 :])
    with pytest.raises(ContradictionError, match="no selection has the last place"):
        fibre_theorem.fibre_theorem(basis().ideals)


@pytest.mark.parametrize("condition", checked_fibres.STRATA)
def test_the_checker_needs_each_base_case(condition: str) -> None:
    bases = checked_fibres.STRATA[condition]
    assert checked_fibres._stratum(condition, bases)["orbits"] == condition
    for missing in bases:
        fewer = {base: kind for base, kind in bases.items() if base != missing}
        with pytest.raises(ContradictionError, match=r"no base case|what the theorem"):
            checked_fibres._stratum(condition, fewer)


@pytest.mark.parametrize("place", [0, 1])
def test_the_checker_wants_both_points_of_theorem_3_2(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: another point in place of the representative, or of the exchanged weights."""
    length, points = checked_fibres.fibre((1, 1, 0), Case(2, 1, 1, 2))
    assert length == len(points) == 2
    wrong = list(points)
    wrong[place] = ({(0, 0): 2}, {(0, 0): 2})
    monkeypatch.setattr(checked_fibres, "fibre", lambda *_: (2, wrong))
    with pytest.raises(ContradictionError, match="exchanged weights"):
        checked_fibres._check_exchange()


def test_strata_that_leave_out_orbits(monkeypatch: pytest.MonkeyPatch) -> None:
    selections = tuple(
        replace(s, condition=f"{s.condition} and r <= 5") for s in DETERMINED["r >= 2"]
    )
    others = {
        condition: listed for condition, listed in DETERMINED.items() if condition != "r >= 2"
    }
    monkeypatch.setattr(fibre_theorem, "DETERMINED", {"r >= 2 and r <= 5": selections, **others})
    with pytest.raises(ContradictionError, match="not all orbits"):
        decide(basis(), [])


RANK_TWO = "a >= 2 and d >= 3"

WRONG = {
    "every fibre one point": (SetPrediction("fibre_itself", ""), "d >= 2", "d = 1"),
    "two points for k = v": (SetPrediction("fibre_itself", "r >= 2 or s >= 2"), "", "1 = 0"),
    "two points for rk V = 1": (
        SetPrediction("fibre_itself", "s >= 2 or m >= 1"),
        RANK_TWO,
        f"not ({RANK_TWO})",
    ),
    "an exchanged point for every rk A = 1": (
        SetPrediction("fibre_exchanged", "", concerns="r = 1"),
        "d >= 2 and dp >= 2",
        "d = 1 or dp = 1",
    ),
    "critical for rk A = rk V = 1": (
        SetPrediction("critical", "r = 1 and s = 1", NONDEGENERATE),
        "d >= 2",
        "1 = 0",
    ),
    "no boundary": (SetPrediction("boundary", "1 = 0", NONDEGENERATE), "d >= 2", "1 = 0"),
    "birational without hypotheses": (
        SetPrediction("birational"),
        TWO_TO_ONE,
        f"not ({TWO_TO_ONE})",
    ),
    "a smooth manifold": (SetPrediction("smooth_manifold"), "d >= 2", "d = 1"),
    "singular at rk A < a": (
        SetPrediction("singular", "r <= a - 1", NONDEGENERATE),
        "(a >= d or a = 1) and not (d = 2 and a = 2 and dp = 1)",
        "(2 <= a and a < d) or (d = 2 and a = 2 and dp = 1)",
    ),
    "the dimension of the source": (
        FormulaPrediction(
            "dimension", (("", lambda d, dp, alpha, D: alpha * (2 * d - alpha) + d * dp),), PAPER
        ),
        "",
        "1 = 0",
    ),
    "a for α": (
        FormulaPrediction("dimension", (("", lambda d, dp, alpha, D: d**2 + d * dp - 1),), PAPER),
        "a < d",
        "a >= d",
    ),
    "the degree without its half": (
        FormulaPrediction("degree", (("", lambda d, dp, alpha, D: D),)),
        TWO_TO_ONE,
        f"not ({TWO_TO_ONE})",
    ),
    "half the degree for d = 1 too": (
        FormulaPrediction(
            "degree",
            (
                ("not (a = 1 and dp = 1)", lambda d, dp, alpha, D: D),
                ("a = 1 and dp = 1", lambda d, dp, alpha, D: D / 2),
            ),
        ),
        "a = 1 and dp = 1 and d = 1",
        "d >= 2 or dp >= 2 or a >= 2",
    ),
}


def _wrong_polar_degrees(shape: LayerSizes) -> Numbers:
    """With one more point in the last slice of (2, 2, 1)."""
    right = stated_polar_degrees(shape)
    assert right is not None
    wrong = (shape.d, shape.d_out, shape.alpha) == (2, 2, 1)
    return Numbers((*right.entries[:-1], 1)) if wrong else right


def test_polar_degrees_are_refuted_where_one_is_planted() -> None:
    wrong = NumbersPrediction(_wrong_polar_degrees, "polar_degrees", TWO_DIMENSIONS)
    _, (verdict,), _ = decide(basis(), [(REGISTRY[-1], wrong)])
    assert verdict.decision == "REFUTED"
    assert verdict.extent.fails_for.is_equal(integer_sets.sizes("d = 2 and dp = 2 and a = 1"))
    assert verdict.witness is not None
    observed = {shape: Numbers((*numbers.entries[:-1], 9)) for shape, numbers in counted().items()}
    _, (verdict,), _ = decide(
        replace(basis(), polar_degrees=observed), [(REGISTRY[-1], PREDICTIONS["polar", ""])]
    )
    # Counts modulo primes alone refute nothing, and confirm nothing where they differ.
    assert verdict.decision == "UNDECIDED"
    assert verdict.witness is None
    _, (verdict,), _ = decide(
        replace(basis(), polar_degrees={}), [(REGISTRY[-1], PREDICTIONS["polar", ""])]
    )
    assert verdict.decision == "CONFIRMED"


@pytest.mark.parametrize("size", range(len(COMPARED)))
def test_a_wrong_localization_is_refuted(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = COMPARED[size]

    def localized(shape: LayerSizes) -> Numbers | None:
        right = stated_polar_degrees(shape)
        if shape != wrong or right is None:
            return right
        return Numbers((*right.entries[:2], right.entries[2] + 1, *right.entries[3:]))

    monkeypatch.setattr(facts, "localized_polar_degrees", localized)
    _, (verdict,), _ = decide(basis(), [(REGISTRY[-1], PREDICTIONS["polar", ""])])
    assert verdict.decision == "REFUTED"
    assert integer_sets.contains(verdict.extent.fails_for, (wrong.d, wrong.d_out, wrong.alpha))


def test_a_wrong_number_is_refuted_by_the_checker_for_all_sizes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The formula, the localization and the count are compared with each other."""
    right = checked.polar_degrees.__wrapped__()
    assert right.true.is_equal(right.known)
    for name in ("stated_polar_degrees", "localized_polar_degrees", "count_polar_degrees"):
        function = getattr(checked, name)
        with monkeypatch.context() as patch:
            patch.setattr(checked, name, partial(_one_more, function))
            found = checked.polar_degrees.__wrapped__()
        if name == "count_polar_degrees":  # modulo a prime: where it differs nothing is known
            assert not found.known.is_equal(right.known)
        else:
            assert not found.true.is_equal(found.known), name


def _one_more(right: Callable[[Case], list[int] | None], case: Case) -> list[int] | None:
    """A number of (2, 1, 2) larger by one."""
    numbers = right(case)
    if numbers is None or (case.d, case.d_out, case.a) != (2, 1, 2):
        return numbers
    return [*numbers[:-1], numbers[-1] + 1]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_statement_is_refuted_for_exactly_the_right_sizes(name: str) -> None:
    prediction, fails, holds = WRONG[name]
    _, (verdict,), _ = decide(basis(), [(REGISTRY[0], prediction)])
    applies = integer_sets.sizes()
    for hypothesis in prediction.hypotheses:
        applies = applies.intersect(integer_sets.sizes(hypothesis.condition))
    assert verdict.decision == "REFUTED"
    assert verdict.extent.fails_for.is_equal(integer_sets.sizes(fails).intersect(applies))
    assert verdict.extent.holds_for.is_equal(integer_sets.sizes(holds).intersect(applies))
    found = verdict.witness
    assert found is not None
    assert integer_sets.contains(verdict.extent.fails_for, (found["d"], found["d_out"], found["a"]))


def test_what_is_not_decided_is_undecided() -> None:
    """A formula whose zeros are no linear inequalities; identities that were not verified."""
    quadratic = FormulaPrediction(
        "dimension", (("", lambda d, dp, alpha, D: alpha * (2 * d - alpha) + dp**2 - 1),)
    )
    _, (verdict,), _ = decide(basis(), [(REGISTRY[0], quadratic)])
    # d·d' − d'² = d'(d − d')
    assert (verdict.decision, verdict.extent.undecided_for.is_empty()) == ("REFUTED", True)
    cubic = FormulaPrediction(
        "dimension", (("", lambda d, dp, alpha, D: alpha * (2 * d - alpha) + d * d * dp - dp * dp),)
    )
    _, (verdict,), _ = decide(basis(), [(REGISTRY[0], cubic)])
    assert verdict.decision == "UNDECIDED"
    unverified = ComputedCases(basis().ideals, base_locus_empty=False, boundary_family=False)
    _, found, _ = decide(
        unverified, [(s, PREDICTIONS[s.key, s.part]) for s in filter(is_stated, REGISTRY)]
    )
    open_ones = {verdict.name for verdict in found if verdict.decision == "UNDECIDED"}
    assert {
        "3.4 (i)",
        "3.4 (ii)",
        "3.4 (iii)",
        "A.2 (birational)",
        "degree",
        "singular-locus",
        "polar",
    } <= open_ones
    assert "A.3" not in open_ones


def test_polar_degrees_are_open_where_a_kernel_is_not_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = SizeOrbitSets.of(fibre_theorem.fibre_theorem(basis().ideals), basis())
    right = integer_sets.sizes("d = 1 or a >= 2 or dp >= 2")
    assert facts.sizes_with_small_kernels.is_equal(right)
    more = replace(
        facts,
        critical=facts.critical.union(integer_sets.orbits("r = 1 and s = 1 and m = 0 and a = 3")),
    )
    assert more.sizes_with_small_kernels.is_equal(
        right.intersect(integer_sets.sizes("d = 1 or a < 3 or a > 3"))
    )
    monkeypatch.setattr(integer_sets, "source_dimension", lambda d, dp, alpha: d**2 + d * dp)
    assert not integer_sets.codimensions_exceed_kernels()


WRONG_TYPES = {
    "singular functions": "r = 1 and s = 1",
    "any ranks of K and Q": EXPOSED.replace("(k = q = r)", "(q = r)"),
    "no boundary": EXPOSED.replace(" or (r = s = m = 1)", ""),
    "any V": EXPOSED.replace("(s = min(d, dp)) and ", ""),
    "any m": EXPOSED.partition(" and ((m = max")[0],
    "nothing": "1 = 0",
}


@pytest.mark.parametrize("wrong", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_wrong_types_of_weights_are_refuted(wrong: str) -> None:
    (statement,) = (one for one in REGISTRY if one.key == "exposed")
    assert wrong != EXPOSED
    _, (verdict,), _ = decide(basis(), [(statement, TypePrediction(wrong, "exposed_types"))])
    assert verdict.decision is Decision.REFUTED
    assert not sizes_with_wrong_types(wrong).is_empty()
    _, (right,), _ = decide(basis(), [(statement, PREDICTIONS["exposed", ""])])
    assert right.decision is Decision.CONFIRMED
    assert sizes_with_wrong_types(EXPOSED).is_empty()


def test_what_is_about_nothing_is_not_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: an observable of the orbits with r ≥ 2 that is known nowhere."""
    planted = checked.Seen(
        checked_fibres.EVERY_ORBIT, known=checked_fibres.NONE, about=checked_fibres.orbits("r >= 2")
    )
    monkeypatch.setattr(checked, "where_observed", lambda _: planted)
    words = next(one for one in checked.STATED if one.observable == "boundary")
    compared = checked._compare(words, "boundary")
    assert compared.vacuous.is_equal(checked_fibres.sizes("a = 1 or d = 1"))
    assert compared.unknown.is_equal(checked_fibres.sizes("a >= 2 and d >= 2"))


@pytest.mark.parametrize(
    ("more", "false", "unknown"),
    [("", "1 = 0", "1 = 0"), (" + d", "1 = 1", "1 = 0"), (" + d - dp", "1 = 0", "1 = 1")],
)
def test_numbers_whose_difference_may_be_zero_are_not_known(
    more: str, false: str, unknown: str
) -> None:
    """A difference d − d' is zero for some sizes, and not for others; d for none."""
    words = next(one for one in checked.STATED if one.observable == "dimension")
    planted = replace(words, value="d**2 - (d - alpha)**2 + d * dp - 1" + more)
    compared = checked._compare(planted, "dimension")
    assert compared.false.is_equal(checked_fibres.sizes(false))
    assert compared.unknown.is_equal(checked_fibres.sizes(unknown))


@pytest.mark.parametrize("bound", ["s <= dp", "s <= d + m - r"])
def test_the_checker_wants_factors_that_are_not_negative(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: orbits for which d' − s, or the codimension of L + U, can be −1."""
    assert identities.where_kernels_are_small()
    planted = checked_fibres.IS_ORBIT.replace(bound, f"{bound} + 1")
    assert planted != checked_fibres.IS_ORBIT
    monkeypatch.setattr(checked_fibres, "IS_ORBIT", planted)
    with pytest.raises(ContradictionError, match="codimensions of orbits"):
        identities.where_kernels_are_small()


def test_the_checker_wants_more_coordinates_than_the_dimension(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: a codimension that is zero for d = 2 and d' = 1, and positive for larger sizes."""
    identities.check_identities()
    right = identities._twice_codimension
    monkeypatch.setattr(identities, "_twice_codimension", lambda d, dp: right(d, dp) * (d + dp - 3))
    with pytest.raises(ContradictionError, match="an identity behind"):
        identities.check_identities()


def test_a_statement_about_ranks_that_no_weights_have_says_nothing() -> None:
    """By Sylvester k + q ≤ r + a, by the sizes the others."""
    for impossible in ("k + q > r + a", "k > d", "q > a", "k < r"):
        assert sizes_with_wrong_types(f"({EXPOSED}) or {impossible}").is_empty()


def test_types_of_all_sizes_are_those_of_each_case() -> None:
    """The conditions of both predictions, one after the other, at small sizes."""
    stated = types(EXPOSED)
    for d, dp, a in product(range(1, 4), repeat=3):
        for kind in weight_types(LayerSizes(d, dp, a)):
            point = (d, dp, a, kind.r, kind.s, kind.m, kind.k, kind.q)
            assert integer_sets.contains(types(), point)
            assert integer_sets.contains(stated, point) is kind.is_exposed(LayerSizes(d, dp, a))


def test_a_term_that_can_be_negative_is_noticed() -> None:
    with pytest.raises(ContradictionError, match="can be negative"):
        _vanishing("r - s")
