"""A number between bounds: its bounds, its texts, and what several of them say together."""

from itertools import product

import pytest

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.maps import closure
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.results.known import UNKNOWN, Bounds, bounds_agree, intersect_bounds

BOUNDS = (None, 0, 2, 3)
NUMBERS = range(-1, 6)
SOME = [
    Bounds(lower, upper)
    for lower, upper in product(BOUNDS, BOUNDS)
    if lower is None or upper is None or lower <= upper
]


def values(known: Bounds) -> set[int]:
    """The numbers that it can be, among those from −1 to 5."""
    return {n for n in NUMBERS if known.least <= n <= known.most}


@pytest.mark.parametrize("first", SOME, ids=str)
def test_together_is_the_intersection(first: Bounds) -> None:
    for second in SOME:
        common = values(first) & values(second)
        assert bounds_agree(first, second) == bool(common)
        if common:
            assert values(intersect_bounds(first, second)) == common
            assert intersect_bounds(first, second) == intersect_bounds(second, first)
        else:
            with pytest.raises(ContradictionError, match="exceeds the upper bound"):
                intersect_bounds(first, second)


def test_of_three_that_agree_in_pairs_all_agree() -> None:
    """Intervals that meet in pairs have a point in common (Helly)."""
    for three in product(SOME, repeat=3):
        pairs = [(three[i], three[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
        assert bounds_agree(*three) == all(bounds_agree(*pair) for pair in pairs)


def test_reasons_are_those_of_the_sharpest_bounds() -> None:
    found = intersect_bounds(
        Bounds.at_least(2, "a rank"),
        Bounds.at_least(3, "another rank"),
        Bounds.at_most(7, "parameters"),
        Bounds.at_most(7, "coordinates"),
        UNKNOWN,
    )
    assert found == Bounds(3, 7, "another rank; parameters")
    with pytest.raises(
        ContradictionError, match=r"bound 8 .* bound 7: eight vectors; another rank"
    ):
        intersect_bounds(Bounds.at_least(8, "eight vectors"), found)
    assert (
        intersect_bounds(Bounds.exactly(4, "one reason"), Bounds.at_most(9)).because == "one reason"
    )
    assert intersect_bounds() == UNKNOWN


@pytest.mark.parametrize(
    ("known", "text", "cell", "relation", "status"),
    [
        (Bounds.exactly(0), "0", "0", "= 0", "proved"),
        (Bounds.exactly(5), "5", "5", "= 5", "proved"),
        (Bounds(4, 6), "at least 4, at most 6", "4 to 6", "≥ 4", "lower bound"),
        (Bounds.at_least(0), "at least 0", "≥ 0", "≥ 0", "lower bound"),
        (Bounds.at_most(6), "at most 6", "≤ 6", None, "unfinished"),
        (UNKNOWN, "not known", "–", None, "unfinished"),
    ],
)
def test_forms(known: Bounds, text: str, cell: str, relation: str | None, status: str) -> None:
    assert (str(known), known.cell, known.status) == (text, cell, status)
    if relation is not None:
        assert known.relation() == relation
        assert known.relation(r"\ge") == relation.replace("≥", r"\ge")
    assert known.to_json("tangent_") == {
        "tangent_dimension": known.exact,
        "tangent_lower_bound": known.lower,
        "tangent_upper_bound": known.upper,
    }


def test_the_value_is_the_lower_bound_where_there_is_one() -> None:
    assert (Bounds(4, 6).value, Bounds.at_least(0).value, Bounds.at_most(0).value) == (4, 0, 0)
    with pytest.raises(LookupError):
        _ = UNKNOWN.value


def test_a_model_whose_own_bounds_decide_nothing_has_an_unknown_dimension(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(closure, "jacobian_findings", lambda model, field: [])
    model = as_model(SingleLayerAttention(2, 1))
    result = closure.closure(model, strategy="multigraded", max_degree=1)
    assert result.known_dimension == UNKNOWN
