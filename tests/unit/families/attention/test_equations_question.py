"""Equations of single-layer attention: their statement, certificates and checks."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement
from math import comb, prod
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import flint
import pytest
from click.testing import CliRunner
from flint import fmpz_mat

from m2bridge import Orbit, SingleLayerAttention, reports as report
from m2bridge.certificates.form import Certificate, Difference, read
from m2bridge.certification.make import certify
from m2bridge.checker import sparse_rows
from m2bridge.checker.sparse_rows import (
    ELIMINATION_PRIME,
    drop_unit_vectors,
    fraction,
    matrix,
    span_modulo_prime,
)
from m2bridge.cli.certificates import certify_command
from m2bridge.errors import MethodUnavailableError, TooExpensiveError, TooLargeError
from m2bridge.families.attention.checker import (
    equations as checker,
    ideal_parts as products,
    schur,
    sections,
)
from m2bridge.families.attention.checker.case import Case, function
from m2bridge.families.attention.checker.ideal_parts import Part, Products, is_above
from m2bridge.families.attention.closure_answers import degree_for
from m2bridge.families.attention.ideal.sections import predicted_hilbert_function, sections_of
from m2bridge.families.attention.orbits.tangents import (
    default_degree,
    orbit_tangents,
    tangent_upper_bounds,
)
from m2bridge.families.attention.sizes import degree_formula, dimension_formula
from tests.checking import verify
from tests.tiers import few, slow

# Equations up to a degree: what is certified against elimination, the formula for sections, and
# another program.

CASES = [(d, d_out, a) for d in range(1, 5) for d_out in range(1, 5) for a in range(1, d + 1)]
QUICK = [case for case in CASES if case[0] <= 2 or (case[0] == 3 and case[1] == 1)]
ACCEPTED = Path(__file__).parents[3] / "certificates" / "accepted"


def made(*case: int) -> Certificate:
    return certify(SingleLayerAttention(*case), "equations")


def sections_by_checker(d: int, d_out: int, a: int) -> Any:
    return partial(sections.sections_of_case, Case(d, d_out, a, 2))


@pytest.mark.parametrize("case", few(QUICK, 5), ids=str)
def test_the_checker_finds_the_same_by_its_own_way(case: tuple[int, int, int]) -> None:
    certificate = made(*case)
    assert verify(certificate).accepted
    answer = certificate.answer
    assert answer["hilbert_series"] is not None
    assert answer["all_generators"]
    model = SingleLayerAttention(*case)
    assert (answer["dimension"], answer["degree"]) == (
        dimension_formula(model),
        degree_formula(model),
    )


@pytest.mark.parametrize("name", ["d1-dout2-a1-t2", "d2-dout2-a1-t2"])
def test_elimination_finds_the_same(name: str) -> None:
    """Its certificate has been made by Macaulay2, and verified by a slice of a chart."""
    whole, part = (
        read(ACCEPTED / f"{name}-{question}.json").answer for question in ("closure", "equations")
    )
    assert part["all_generators"]
    assert part["generators_up_to_degree"] == whole["generator_degrees"]
    for key in ("dimension", "degree", "hilbert_series"):
        assert part[key] == whole[key]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_formulas_for_sections_agree(case: tuple[int, int, int]) -> None:
    """Hooks by alternating sums and Schur functors by contents, against products and Weyl's
    formula.
    """
    model, h = SingleLayerAttention(*case), sections_by_checker(*case)
    assert [h(n) for n in range(9)] == [sections_of(model, n) for n in range(9)]
    found = sections.hilbert_coefficients(Case(*case, 2))
    dimension = len(found)
    assert (dimension, found[0]) == (dimension_formula(model), degree_formula(model))
    for n in range(1, 2 * dimension):
        terms = (
            (-1) ** i * e * comb(n + dimension - i - 1, dimension - i - 1)
            for i, e in enumerate(found)
        )
        assert sum(terms) == h(n)


@pytest.mark.parametrize("case", [case for case in CASES if case[0] < 4 or 1 in case[1:]], ids=str)
def test_hilbert_functions_are_as_predicted(case: tuple[int, int, int]) -> None:
    """By the checker's ranks up to degree 3, for all cases of the atlas about which something is
    predicted.
    """
    d, d_out, a = case
    found = Products(rows=d_out, columns=d, variables=d, alpha=a)
    model = SingleLayerAttention(*case)
    assert [found.hilbert_function(n) for n in range(4)] == [
        predicted_hilbert_function(model, n) for n in range(4)
    ]


@pytest.mark.parametrize("case", [(4, 2, 2), (4, 3, 3)], ids=str)
def test_hilbert_functions_are_at_most_the_number_of_sections(case: tuple[int, int, int]) -> None:
    d, d_out, a = case
    found, h = Products(rows=d_out, columns=d, variables=d, alpha=a), sections_by_checker(*case)
    values = [found.hilbert_function(n) for n in range(4)]
    assert all(value <= h(n) for n, value in enumerate(values))
    assert values[2] < h(2)


@pytest.mark.parametrize(
    ("case", "degree"), [((2, 1, 2), 4), ((2, 2, 1), 3), ((3, 1, 1), 2)], ids=str
)
def test_ranks_of_values_at_points_are_the_same(case: tuple[int, int, int], degree: int) -> None:
    """All monomials at once, at integral points, over QQ: neither weights nor symmetries."""
    d, d_out, a = case
    found = Products(rows=d_out, columns=d, variables=d, alpha=a)
    monomials = list(combinations_with_replacement(range(len(found.coordinates)), degree))
    points = [
        _point(case, seed, found.coordinates)
        for seed in range(1, found.hilbert_function(degree) + 5)
    ]
    rows = [[prod(point[j] for j in monomial) for monomial in monomials] for point in points]
    assert fmpz_mat(rows).rank() == found.hilbert_function(degree)


def _point(case: tuple[int, int, int], seed: int, names: list[Any]) -> list[int]:
    """Coordinates of the function of random weights, A of rank a."""
    d, d_out, a = case
    random = Random(seed)
    left, right, V = (
        {(x, y): random.randint(-9, 9) for x in range(m) for y in range(n)}
        for m, n in ((d, a), (a, d), (d_out, d))
    )
    A = {
        (p, i): sum(left[p, e] * right[e, i] for e in range(a)) for p in range(d) for i in range(d)
    }
    values = function((A, V))
    return [values.get(name, 0) for name in names]


def test_the_degree_depends_on_the_size_alone() -> None:
    degrees = {case: degree_for(SingleLayerAttention(*case)) for case in CASES}
    assert [degrees[case] for case in ((1, 1, 1), (3, 2, 2), (3, 4, 3), (4, 1, 4), (4, 2, 1), (4, 4, 4))] == [
        5, 5, 4, 5, 3, 3,
    ]  # fmt: skip
    assert made(2, 1, 2).answer == made(2, 1, 5).answer


def test_one_token_and_large_cases_are_refused() -> None:
    for case, reason in (((2, 2, 2, 1), "t ≥ 2"), ((9, 1), "400 coordinates")):
        with pytest.raises((MethodUnavailableError, TooLargeError), match=reason):
            made(*case)
    with pytest.raises(TooExpensiveError, match="degree 5"):
        Products(rows=4, columns=4, variables=4, alpha=4).hilbert_function(5)


@pytest.mark.parametrize("seed", range(40))
def test_sparse_elimination_finds_whether_rows_span(seed: int) -> None:
    """Against ranks by FLINT; a row that is zero modulo the prime alone is none."""
    random = Random(seed)
    size = random.randint(0, 6)
    rows = []
    for _ in range(random.randint(0, 9)):
        columns = random.sample(range(size), random.randint(0, min(size, 3)))
        rows.append(
            {column: random.choice([-2, -1, 1, 3, ELIMINATION_PRIME]) for column in columns}
        )
    rank = matrix(rows, size).rank() if rows else 0
    modulo = flint.nmod_mat(matrix(rows, size), ELIMINATION_PRIME).rank() if rows else 0
    found = span_modulo_prime(rows, size)
    assert found == (modulo == size)
    assert rank == size or not found


def test_generators_are_as_many_by_sparse_elimination(monkeypatch: pytest.MonkeyPatch) -> None:
    """With it in every weight the numbers are those without it."""
    without = Products(rows=2, columns=2, variables=2, alpha=2).generator_numbers(4)
    monkeypatch.setattr(products, "MIN_SPARSE_MATRIX_ENTRIES", 0)
    assert Products(rows=2, columns=2, variables=2, alpha=2).generator_numbers(4) == without
    monkeypatch.setattr(products, "span_modulo_prime", lambda rows, width: True)
    assert Products(rows=2, columns=2, variables=2, alpha=2).generator_numbers(4) == {}


class SmallRank(flint.fmpz_mat):  # type: ignore[misc]
    """One less than it is."""

    def rank(self) -> int:
        return int(super().rank()) - 1


def test_representations_are_checked() -> None:
    certificate = read(ACCEPTED / "d2-dout2-a1-t2-equations.json")
    first, *others = certificate.answer["representations"]
    without = {
        name: value for name, value in certificate.answer.items() if name != "representations"
    }
    assert not verify(replace(certificate, answer=without).sealed()).accepted
    for wrong in (others, [first | {"multiplicity": 2}, *others], [first | {"Y": [3, 1]}, *others]):
        changed = replace(
            certificate, answer=certificate.answer | {"representations": wrong}
        ).sealed()
        assert not verify(changed).accepted


def test_weights_that_are_skipped_have_no_generators() -> None:
    """All weights of degree 4 one by one, and the number that skips those above one without
    generators.
    """
    ideal = Products(rows=2, columns=2, variables=2, alpha=2)
    alone = {weight: ideal.count_generators(weight) for weight in ideal.weights(4)}
    assert (
        {weight: count for weight, count in alone.items() if count}
        == ideal.generator_numbers(4)
        != {}
    )
    without = [weight for weight, count in alone.items() if not count]
    assert any(is_above(weight, lower) for weight in alone for lower in without if weight != lower)
    assert not any(
        alone[weight] for weight in alone for lower in without if is_above(weight, lower)
    )


PLANTED = {
    "a bound that is too small": (schur, "comb", lambda n, k: comb(n, k) + (k == 4)),
    "lifts that are wrong": (products, "fraction", lambda x, p: (x % p % 7, 1)),
    "orbits that are too small": (products, "permutation_count", lambda weight: 1),
    "ranks that are too small": (sparse_rows, "flint", Mock(wraps=flint, fmpz_mat=SmallRank)),
    "multiples forgotten": (
        products,
        "drop_unit_vectors",
        lambda rows, columns: ([], sorted(columns)),
    ),
}


@pytest.mark.parametrize("mistake", PLANTED)
def test_mistakes_of_the_checker_are_noticed(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = read(ACCEPTED / "d2-dout2-a1-t2-equations.json")
    module, name, planted = PLANTED[mistake]
    for cached in (checker.low_degrees, checker.all_degrees):
        monkeypatch.setattr(checker, cached.__name__, cached.__wrapped__)
    assert verify(certificate).accepted
    monkeypatch.setattr(module, name, planted)
    assert not verify(certificate).accepted


@pytest.mark.parametrize("changes", [{"2": 16, "4": 5}, {"2": 15, "4": 5, "5": 1}, {"2": 15}])
def test_planted_numbers_of_generators_are_rejected(changes: dict[str, int]) -> None:
    certificate = read(ACCEPTED / "d2-dout2-a1-t2-equations.json")
    answer = certificate.answer | {"generators_up_to_degree": changes}
    found = verify(Certificate(**{**certificate.to_json(), "answer": answer}).sealed())
    assert (found.outcome, found.check.startswith("answer.generators_up_to_degree")) == (
        "rejected",
        True,
    )


@pytest.mark.parametrize(
    ("variables", "columns", "rows", "decides"),
    [(2, 1, 1, 3), (2, 1, 2, 3), (3, 1, 2, 4), (3, 2, 1, 4), (3, 2, 2, 4)],
)
def test_degrees_below_the_bound_of_the_theorem_decide_nothing(
    variables: int, columns: int, rows: int, decides: int
) -> None:
    """L + 3, for L = min(max(e, f) − 1, m − 2), though H is h before in all of these but the last."""
    core = Products(rows=rows, columns=columns, variables=variables, alpha=columns)
    values, start = core.up_to_sections()
    assert (len(values) - 1, start) == (decides, 4 if columns == rows == 2 else 0)


def test_a_core_that_decides_nothing_proves_no_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """With sections that are too many H is not h in any degree that is looked at."""
    assert checker.all_degrees.__wrapped__(Case(3, 2, 2, 2), 4)[0] == 4
    right = sections.number_of_sections
    monkeypatch.setattr(products, "number_of_sections", lambda n, **sizes: right(n, **sizes) + 1)
    with pytest.raises(TooExpensiveError, match="not decided"):
        checker.all_degrees.__wrapped__(Case(2, 2, 2, 2), 4)


@pytest.mark.parametrize(("last", "is_all"), [(2, False), (3, False), (4, True)])
def test_generators_of_the_last_degree_of_the_bound_are_looked_for(last: int, is_all: bool) -> None:
    """(2, 2, 2), which is its own core, has generators of degree 2, and of 4, its bound."""
    assert checker.all_degrees.__wrapped__(Case(2, 2, 2, 2), last) == (0, is_all)


@pytest.mark.parametrize(("d", "size"), [(2, 2), (3, 3)])
def test_generators_are_not_all_before_the_degree_of_minors(d: int, size: int) -> None:
    """The core of (d, 1, 1) has no equations; those of the case are minors of this size at most.

    Of size 2, as there is one free form l_i among d; for d = 3 of size 3, as the forms have three
    variables and two dimensions.
    """
    for last in range(1, size + 2):
        start, is_all = checker.all_degrees.__wrapped__(Case(d, 1, 1, 2), last)
        assert (start, is_all) == (0, last >= size)


@pytest.mark.parametrize("last", [2, 3])
def test_too_few_degrees_prove_no_series(last: int) -> None:
    """H is h from degree 4 on: H(0), …, H(3) and h give the series, and H(0), H(1), H(2) and h
    another one.
    """
    sample = read(ACCEPTED / "d2-dout2-a1-t2-equations.json")
    answer = sample.answer | {"max_degree": last, "hilbert_series": {}}
    case = {"d": 3, "d_out": 2, "a": 2, "t": 2}
    found = checker.up_to_a_degree(replace(sample, case=case, answer=answer))
    assert isinstance(found, Difference) == (last == 2)
    if not isinstance(found, Difference):
        # by as many values of h as the dimension: the last coefficient needs all of them
        numerator = found.answer["hilbert_series"]["numerator"]
        assert (numerator[-1], sum(numerator)) == (128, found.answer["degree"])
    assert getattr(found, "place", "") == ("answer.hilbert_series" if last == 2 else "")


def test_relations_are_lifted_over_the_integers() -> None:
    """Or not decided, where their coefficients are too large."""

    def relations(large: int) -> list[dict[tuple[int, ...], int]]:
        rows = [{0: 2 * large, 1: 3}, {1: 5, 2: -7}, {0: 4 * large, 1: 11, 2: -7}]
        return Part(
            weight=((1,),), monomials=[(0,), (1,), (2,)], images=matrix(rows, 3), rank=2
        ).relations

    assert relations(1) == [{(0,): -21, (1,): 14, (2,): 10}]
    with pytest.raises(TooExpensiveError, match="large coefficients"):
        relations(10_007)


def test_fractions_are_found_from_their_residues() -> None:
    residues = [x * pow(y, -1, ELIMINATION_PRIME) for x, y in ((2, 3), (-5, 4))]
    assert [fraction(x, ELIMINATION_PRIME) for x in residues] == [(2, 3), (-5, 4)]


def test_rows_of_one_entry_are_taken_out_again_and_again() -> None:
    rows, columns = drop_unit_vectors(
        [{0: 2}, {0: 1, 1: 1}, {1: 3, 2: 1, 3: 1}, {2: 1, 3: 1}, {}], range(5)
    )
    assert (rows, columns) == ([{0: 1, 1: 1}] * 2, [2, 3, 4])


@pytest.mark.parametrize(
    ("case", "kind", "answer", "code", "said"),
    [
        ((1, 1, 1, 1), "not-applicable", "NOT_APPLICABLE", 0, "the question assumes t ≥ 2"),
        ((12, 12, 12, 2), "refused", "refused", 3, "at most 400 coordinates"),
    ],
)
def test_a_question_that_is_not_about_a_case_has_an_outcome_without_traceback(
    case: tuple[int, ...], kind: str, answer: str, code: int, said: str, tmp_path: Path
) -> None:
    """Nothing is missing where it does not apply; a case that is too large has no answer. Reports
    say so.
    """
    model = SingleLayerAttention(*case)
    options = [f"--{name.replace('_', '-')}={number}" for name, number in model.to_json().items()]
    command = [
        *options,
        "--check",
        "equations",
        "--out",
        str(tmp_path),
        "--executor",
        "serial",
        "--json",
    ]
    for done_before in (0, 1):
        result = CliRunner().invoke(certify_command, command, standalone_mode=False)
        assert result.return_value == code, result.output
        summary = json.loads(result.stdout)
        assert (summary["answers"], summary["done_before"]) == ({answer: 1}, done_before)
    outcome = json.loads(
        (tmp_path / f"{model.key}-equations.outcome.json").read_text(encoding="utf-8")
    )
    assert (outcome["kind"], outcome["details"]) == (kind, "")
    assert said in outcome["reason"]
    (row,) = report.collect(tmp_path).rows
    assert row.verdict == ("NOT_APPLICABLE" if code == 0 else "NO_ANSWER")
    assert said in row.reason


# Tangent bounds from equations of low degree, against the tangent dimensions from all equations.

# Tangent dimensions that Macaulay2 found from all generators, whose degrees are at most 4 here
# (MATH).
TANGENT = {
    (2, 1, 2): {(1, 1, 0): 6, (1, 1, 1): 6, (2, 1, 1): 5},
    (2, 2, 2): {(1, 1, 0): 9, (1, 1, 1): 9, (1, 2, 1): 7, (2, 1, 1): 7, (2, 2, 2): 7},
    (2, 2, 1): {(1, 1, 0): 7, (1, 1, 1): 7, (1, 2, 1): 6},
    (3, 1, 3): {(1, 1, 0): 15, (1, 1, 1): 18, (2, 1, 0): 11, (2, 1, 1): 11, (3, 1, 1): 11},
}


@pytest.mark.parametrize("case", TANGENT)
def test_bounds_are_the_tangent_dimensions_where_the_equations_are_all(
    case: tuple[int, int, int],
) -> None:
    bounds = tangent_upper_bounds(SingleLayerAttention(*case), 4)
    assert {(o.r, o.s, o.m): bound for o, bound in bounds.items()} == TANGENT[case]


@pytest.mark.parametrize("case", [(2, 2, 2), (3, 1, 3), (3, 1, 2)])
def test_bounds_decrease_with_the_degree_and_stay_above_the_dimension(
    case: tuple[int, int, int],
) -> None:
    model = SingleLayerAttention(*case)
    by_degree = [tangent_upper_bounds(model, degree) for degree in (2, 3, 4)]
    for orbit in by_degree[0]:
        bounds = [bound[orbit] for bound in by_degree]
        assert bounds == sorted(bounds, reverse=True)
        assert bounds[-1] >= dimension_formula(model)


@pytest.mark.parametrize("case", [(2, 2, 2), slow((3, 1, 3)), slow((3, 1, 2))])
def test_lower_bounds_save_equations_and_change_no_upper_bound(case: tuple[int, int, int]) -> None:
    model = SingleLayerAttention(*case)
    tangents = orbit_tangents(model, equations=False)
    lower = {orbit: found.known.lower or 0 for orbit, found in tangents.items()}
    assert tangent_upper_bounds(model, 4, lower) == tangent_upper_bounds(model, 4)
    # a false one shows that they are used: equations of degree 2 are enough to attain it
    quadrics = tangent_upper_bounds(model, 2)
    assert tangent_upper_bounds(model, 4, quadrics) == quadrics


def test_default_degrees() -> None:
    cases = {(2, 1, 2): 4, (3, 2, 3): 4, (4, 1, 3): 4, (3, 3, 3): 3, (4, 4, 4): 2, (10, 10, 10): 0}
    assert {case: default_degree(SingleLayerAttention(*case)) for case in cases} == cases


def test_where_there_is_nothing_to_say() -> None:
    assert tangent_upper_bounds(SingleLayerAttention(6, 6)) == {}
    with pytest.raises(MethodUnavailableError, match="t ≥ 2"):
        tangent_upper_bounds(SingleLayerAttention(2, 2, t=1))
    assert tangent_upper_bounds(SingleLayerAttention(1, 2)) == {Orbit(1, 1, 1): 2}


@pytest.mark.slow
def test_quartics_prove_smooth_orbits_smooth() -> None:
    """For (3, 2, 3) only rk A = rk V = 1 stays open; for (3, 2, 2) also the orbits with rk A = 1,
    as they should.
    """
    for case, undecided in [
        ((3, 2, 3), {(1, 1, 0): 20, (1, 1, 1): 24}),
        ((3, 2, 2), {(1, 1, 0): 20, (1, 1, 1): 24, (1, 2, 0): 14, (1, 2, 1): 14}),
    ]:
        model = SingleLayerAttention(*case)
        bounds = tangent_upper_bounds(model)
        above = {
            (o.r, o.s, o.m): bound
            for o, bound in bounds.items()
            if bound > dimension_formula(model)
        }
        assert above == undecided


@pytest.mark.parametrize(
    ("size", "minors"),
    [
        ((2, 2, 2), []),
        ((2, 3, 2), [3]),  # three outputs span two dimensions of linear forms v_k
        ((3, 1, 1), [2, 3]),  # columns l_i span one dimension, l_i and v_k two
        ((4, 5, 2), [3, 5]),
        ((5, 1, 2), [3, 4]),
    ],
    ids=str,
)
def test_minors_that_the_core_lacks(size: tuple[int, int, int], minors: list[int]) -> None:
    assert checker._sizes_of_minors(Case(*size, 2)) == minors
