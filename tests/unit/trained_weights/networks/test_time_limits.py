"""What was computed before the time is over, or where it does not suffice, is not lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

from m2bridge import weights
from m2bridge.errors import TimeLimitError
from m2bridge.trained_weights import analysis
from m2bridge.trained_weights.networks import network, network_with_norms

LIMIT = "the computation did not finish within the limit of 1 second"


def late(*_: Any, **__: Any) -> Any:
    raise TimeLimitError(LIMIT)


def stacks(layers: int, width: int, *, bias: bool = False) -> dict[str, Any]:
    random = numpy.random.default_rng(1)
    state = {}
    for number in range(layers):
        for letter in "KQVO":
            state[f"{number}.{letter}"] = random.integers(-9, 9, (width, width)).astype(float)
        if bias:
            state[f"{number}.O_bias"] = random.integers(-9, 9, width).astype(float)
            for letter in "KQV":
                state[f"{number}.{letter}_bias"] = random.integers(-9, 9, width).astype(float)
    return state


def test_bounds_are_left_where_the_rank_at_the_weights_takes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(network, "_rank", late)
    monkeypatch.setattr(network, "free_base_changes", late)
    found = weights(stacks(2, 4), heads=4, normalization="softmax")
    assert len(found.heads) == 8
    assert found.network is not None
    assert found.network.rank is None
    assert found.network.note == LIMIT
    assert not found.unfinished


def test_the_rank_of_heads_is_kept_where_that_with_the_output_bias_takes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = stacks(1, 3, bias=True)
    whole = weights(state, heads=3).network
    monkeypatch.setattr(network, "_ranks_with_output_bias", late)
    found = weights(state, heads=3).network
    assert found is not None
    assert whole is not None
    assert found.note == LIMIT
    assert found.rank is None
    lower = found.dimension.lower
    assert lower is not None
    assert 0 < lower <= (whole.dimension.exact or 0)


def test_layers_that_are_decided_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    given = analysis.analyse_layers

    def first(*arguments: Any) -> Iterator[Any]:
        yield next(given(*arguments))
        late()

    monkeypatch.setattr(analysis, "analyse_layers", first)
    found = weights(stacks(2, 4), heads=2)
    assert len(found.heads) == 4
    assert list(found.layers) == [1]
    assert found.unfinished == LIMIT
    assert found.summary is None


def test_a_layer_alone_is_a_lower_bound_with_skip_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = stacks(2, 2, bias=True)
    whole = weights(state, skip=True).network
    monkeypatch.setattr(network_with_norms, "differential_ranks", late)
    found = weights(state, skip=True)
    assert found.network is not None
    assert whole is not None
    lower = found.network.dimension.lower
    assert lower == max(layer.dimension.exact or 0 for layer in found.layers.values())
    assert 0 < (lower or 0) < (whole.dimension.lower or 0)
    without = weights(state).network
    assert without is not None
    assert without.dimension.lower is None
