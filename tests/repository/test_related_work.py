"""The numbers of docs/related-work.md are what the program beside the benchmarks computes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.related_work import (
    boundary_degree,
    kinds_of_generators,
    largest_rank,
    proved_dimension,
)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("size", "generators", "kinds"),
    [
        ((2, 1, 2), (0, 0, 1), {"resultants": (0, 0, 1), "Veronese, in coordinates": (0, 0, 1)}),
        pytest.param(
            (2, 2, 1),
            (15, 0, 5),
            {
                "low rank, one output": (9, 0, 0),
                "low rank, all outputs": (15, 0, 0),
                "resultants of outputs": (0, 0, 5),
                "products": (5, 0, 0),
            },
            marks=pytest.mark.slow,
        ),
        pytest.param(
            (2, 2, 2),
            (5, 0, 10),
            {
                "resultants": (0, 0, 5),
                "Veronese, in coordinates": (0, 0, 1),
                "resultants of outputs": (0, 0, 5),
                "products": (5, 0, 0),
            },
            marks=pytest.mark.slow,
        ),
        pytest.param(
            (3, 1, 1),
            (45, 10, 0),
            {
                "low rank, one output": (45, 0, 0),
                "low rank, all outputs": (45, 0, 0),
                "rank two": (0, 10, 0),
            },
            marks=pytest.mark.slow,
        ),
        pytest.param(
            (3, 1, 3),
            (0, 20, 90),
            {
                "rank two": (0, 10, 0),
                "context syzygies": (0, 10, 0),
                "resultants": (0, 0, 90),
                "Veronese, in coordinates": (0, 0, 18),
            },
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_kinds_of_invariants_span_all_generators(
    size: tuple[int, int, int], generators: tuple[int, ...], kinds: dict[str, tuple[int, ...]]
) -> None:
    found = kinds_of_generators(*size)
    assert found.generators == generators
    spanned = {name: numbers for name, numbers in found.by_kind.items() if any(numbers)}
    assert spanned == kinds | {"together": generators}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("softmax", "dimensions"), [(True, (37, 52, 61, 64)), (False, (34, 49, 58, 61))]
)
def test_proved_dimensions_are_the_ranks_in_double_precision(
    softmax: bool, dimensions: tuple[int, ...]
) -> None:
    for a, known in enumerate(dimensions, start=1):
        assert proved_dimension(a, softmax=softmax)[0] == known
        assert largest_rank(a, softmax=softmax, precision=np.float64) == known


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "degree"),
    [
        ((2, 1, 1, 1), 9),
        ((2, 2, 1, 1), 17),
        ((2, 2, 1, 2), 33),
        ((2, 2, 2, 2), 39),
        ((2, 3, 1, 1), 17),
        ((2, 3, 1, 2), 39),
    ],
)
def test_boundaries_of_small_layers(size: tuple[int, int, int, int], degree: int) -> None:
    assert boundary_degree(*size, seed=1) == degree
