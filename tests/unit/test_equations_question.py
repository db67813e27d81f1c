"""Equations up to a degree: what is certified against elimination, the formula for sections, and another program."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb, prod
from pathlib import Path
from random import Random
from typing import Any

import pytest
from flint import fmpz_mat

from m2bridge import SingleLayerAttention
from m2bridge.certificate.files import read
from m2bridge.certificate.schema import Certificate
from m2bridge.certifying.certify import certify
from m2bridge.checker.verify import verify
from m2bridge.errors import MethodUnavailableError, TooExpensiveError, TooLargeError
from m2bridge.families.attention.checker import equations as checker
from m2bridge.families.attention.checker.case import Case, function
from m2bridge.families.attention.checker.equations import products, sections
from m2bridge.families.attention.checker.equations.products import Products, fraction, kernel, without_units
from m2bridge.families.attention.equations_question import degree_for
from m2bridge.families.attention.formulas import degree_formula, dimension_formula
from m2bridge.families.attention.hilbert_function import predicted_hilbert_function, sections_of

CASES = [(d, d_out, a) for d in range(1, 5) for d_out in range(1, 5) for a in range(1, d + 1)]
QUICK = [case for case in CASES if case[0] <= 2 or (case[0] == 3 and case[1] == 1)]
ACCEPTED = Path(__file__).parents[1] / "certificates" / "accepted"


def made(*case: int) -> Certificate:
    return certify(SingleLayerAttention(*case), "equations")


def sections_by_checker(d: int, d_out: int, a: int) -> Any:
    return sections.number_of_sections(d_out, d, d, a)


@pytest.mark.parametrize("case", QUICK, ids=str)
def test_the_checker_finds_the_same_by_its_own_way(case: tuple[int, int, int]) -> None:
    certificate = made(*case)
    assert verify(certificate).accepted
    answer = certificate.answer
    assert answer["hilbert_series"] is not None
    assert answer["all_generators"]
    model = SingleLayerAttention(*case)
    assert (answer["dimension"], answer["degree"]) == (dimension_formula(model), degree_formula(model))


@pytest.mark.parametrize("name", ["d1-dout2-a1-t2", "d2-dout2-a1-t2"])
def test_elimination_finds_the_same(name: str) -> None:
    """Its certificate has been made by Macaulay2, and verified by a slice of a chart."""
    whole, part = (read(ACCEPTED / f"{name}-{question}.json").answer for question in ("closure", "equations"))
    assert part["all_generators"]
    assert part["generators_up_to_degree"] == whole["generator_degrees"]
    for key in ("dimension", "degree", "hilbert_series"):
        assert part[key] == whole[key]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_formulas_for_sections_agree(case: tuple[int, int, int]) -> None:
    """Hooks by alternating sums and Schur functors by contents, against products and Weyl's formula."""
    model, h = SingleLayerAttention(*case), sections_by_checker(*case)
    assert [h(n) for n in range(9)] == [sections_of(model, n) for n in range(9)]
    found = sections.hilbert_coefficients(h, model.alpha * (2 * model.d - model.alpha) + model.d * model.d_out)
    dimension = len(found)
    assert (dimension, found[0]) == (dimension_formula(model), degree_formula(model))
    for n in range(1, 2 * dimension):
        terms = ((-1) ** i * e * comb(n + dimension - i - 1, dimension - i - 1) for i, e in enumerate(found))
        assert sum(terms) == h(n)


@pytest.mark.parametrize("case", [case for case in CASES if case[0] < 4 or 1 in case[1:]], ids=str)
def test_hilbert_functions_are_as_predicted(case: tuple[int, int, int]) -> None:
    """By the checker's ranks up to degree 3, for all cases of the atlas about which something is predicted."""
    d, d_out, a = case
    found = Products(d_out, d, d, a)
    model = SingleLayerAttention(*case)
    assert [found.hilbert_function(n) for n in range(4)] == [predicted_hilbert_function(model, n) for n in range(4)]


@pytest.mark.parametrize("case", [(4, 2, 2), (4, 3, 3)], ids=str)
def test_hilbert_functions_are_at_most_the_number_of_sections(case: tuple[int, int, int]) -> None:
    d, d_out, a = case
    found, h = Products(d_out, d, d, a), sections_by_checker(*case)
    values = [found.hilbert_function(n) for n in range(4)]
    assert all(value <= h(n) for n, value in enumerate(values))
    assert values[2] < h(2)


@pytest.mark.parametrize(("case", "degree"), [((2, 1, 2), 4), ((2, 2, 1), 3), ((3, 1, 1), 2)], ids=str)
def test_ranks_of_values_at_points_are_the_same(case: tuple[int, int, int], degree: int) -> None:
    """All monomials at once, at integral points, over QQ: neither weights nor symmetries."""
    d, d_out, a = case
    found = Products(d_out, d, d, a)
    monomials = list(combinations_with_replacement(range(len(found.names)), degree))
    points = [_point(case, seed, found.names) for seed in range(1, found.hilbert_function(degree) + 5)]
    rows = [[prod(point[j] for j in monomial) for monomial in monomials] for point in points]
    assert fmpz_mat(rows).rank() == found.hilbert_function(degree)


def _point(case: tuple[int, int, int], seed: int, names: list[Any]) -> list[int]:
    """Coordinates of the function of random weights, A of rank a."""
    d, d_out, a = case
    random = Random(seed)
    left, right, V = (
        {(x, y): random.randint(-9, 9) for x in range(m) for y in range(n)} for m, n in ((d, a), (a, d), (d_out, d))
    )
    A = {(p, i): sum(left[p, e] * right[e, i] for e in range(a)) for p in range(d) for i in range(d)}
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
        Products(4, 4, 4, 4).hilbert_function(5)


PLANTED = {
    "a bound that is too small": (sections, "comb", lambda n, k: comb(n, k) + (k == 4)),
    "lifts that are wrong": (products, "fraction", lambda x, p: (x % p % 7, 1)),
    "orbits that are too small": (products, "orbit", lambda weight: 1),
    "multiples forgotten": (products, "without_units", lambda rows, columns: ([], sorted(columns))),
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
    assert (found.outcome, found.check.startswith("answer.generators_up_to_degree")) == ("rejected", True)


def test_a_core_that_decides_nothing_proves_no_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a bound that is too small H is not h in the degree before it."""
    core = sections.Core(Case(3, 2, 2, 2))
    assert core.sections_from() == 4
    core.bound = 3
    assert core.sections_from() is None


def test_kernels_are_lifted_over_the_integers() -> None:
    rows = [{0: 2, 1: 3}, {1: 5, 2: -7}, {0: 4, 1: 11, 2: -7}]
    ((free, vector),) = kernel(rows, 3)
    assert vector[free] != 0
    assert all(sum(c * vector[j] for j, c in row.items()) == 0 for row in rows)
    assert [fraction(x * pow(y, -1, products.algebra.PRIME), products.algebra.PRIME) for x, y in ((2, 3), (-5, 4))] == [
        (2, 3), (-5, 4),
    ]  # fmt: skip


def test_rows_of_one_entry_are_taken_out_again_and_again() -> None:
    rows, columns = without_units([{0: 2}, {0: 1, 1: 1}, {1: 3, 2: 1, 3: 1}, {2: 1, 3: 1}, {}], range(5))
    assert (rows, columns) == ([{0: 1, 1: 1}], [2, 3, 4])
