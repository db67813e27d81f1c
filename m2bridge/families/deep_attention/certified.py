"""What is observed of a network for a certificate: only what its checker computes anew, without Macaulay2.

Fibres and closedness are found by Macaulay2 here, and by the checker without.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from m2bridge.algebra.integers import LARGE_PRIME
from m2bridge.clock import check, limited
from m2bridge.engine import Engine
from m2bridge.families.deep_attention.block import kernel_dimension, seen_dimension
from m2bridge.families.deep_attention.closedness import concerns
from m2bridge.families.deep_attention.generic_fibre import MOST_UNKNOWNS, unknown_count
from m2bridge.families.deep_attention.lower_bounds import DISTINCT_TOKENS, SEED, block_rank, certified_block
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.observation import BY_ENGINE, MOST_LAYERS, observe, virtual_fibre, weight_count
from m2bridge.families.deep_attention.observed import Finding, ObservedNetwork
from m2bridge.maps.rank import rank_result

FIBRES = ("fibre_dimension", "fibre_degree", "fibre_is_one_point")
CERTIFIED_LAYERS = 2
"""Of the networks whose fibres are certified: Gröbner bases of fibres of three layers take minutes."""


def certified_part(
    network: DeepAttention, observables: Collection[str], engine: Engine | None
) -> ObservedNetwork | None:
    """Those of the observables that can be certified; ``None`` if there are none.

    Softmax with several heads or skip connections is left out: no checker computes it anew.

    Raises
    ------
    TooLargeError
        If the network is too large for one of them.
    """
    with limited(None) as running:
        asked = [name for name in sorted(observables) if can_be_certified(network, name)]
        findings = {name: _found(network, name, engine) for name in asked}
    version = engine.version if engine and not BY_ENGINE.keys().isdisjoint(findings) else ""
    return ObservedNetwork(network, findings, version, running.seconds) if findings else None


def _found(network: DeepAttention, observable: str, engine: Engine | None) -> Finding:
    return _CERTIFIED[observable](network) if observable in _CERTIFIED else observe(network, observable, engine)


def can_be_certified(network: DeepAttention, observable: str) -> bool:
    """Whether the checker computes it anew."""
    if observable == "closed":
        return not concerns(network)
    if observable in FIBRES:
        small = network.layers <= CERTIFIED_LAYERS and unknown_count(network) <= MOST_UNKNOWNS
        return small and network.is_plain and not network.softmax
    if observable == "virtual_weights":
        return network.is_plain
    if observable == "virtual_fibre_dimension":
        return network.is_plain and not network.softmax
    if observable == "normal_form":
        return network.is_plain and not network.softmax and network.layers <= MOST_LAYERS
    if observable == "scalings_keep_the_function":
        return not network.softmax
    return observable == "attention_matrices" or network.is_plain or not network.softmax


def _dimension(network: DeepAttention) -> Finding:
    upper = network.upper_bounds(0)[0].value
    numbers = _numbers(network, upper)
    lower = numbers["lower_bound"]
    proved = lower == upper
    found = {**numbers, "upper_bound": upper}
    return Finding(lower, "ranks modulo a prime", "" if proved else "at least", proved, found)


def _numbers(network: DeepAttention, upper: int) -> dict[str, Any]:
    """The lower bound and the ranks behind it."""
    if network.softmax and network.t == 1:  # every matrix of bounded rank is the function of a network
        return {"lower_bound": upper}
    point = {"seed": SEED, "prime": LARGE_PRIME}
    if not network.is_plain:
        few = replace(network, t=min(network.t, DISTINCT_TOKENS))
        return {"lower_bound": rank_result(few, check=check).lower}
    block = certified_block(network)
    rank = _block_rank(block, network.t, network.layers, network.softmax)
    unseen = kernel_dimension(network.shape, network.t, network.softmax)
    decides = rank == block.columns - unseen
    value = seen_dimension(network.shape, network.t, network.softmax) if decides else rank
    return {"lower_bound": value, "columns": block.columns, "rank": rank, "unseen": unseen, **point}


_block_rank = lru_cache(maxsize=1024)(block_rank)
"""Networks of many widths have one block."""


def _unseen_weights(network: DeepAttention) -> Finding:
    found, weights = _dimension(network), weight_count(network)
    assert found.value is not None
    bound = "at most" if found.bound else ""
    return Finding(weights - found.value, found.method, bound, found.proved, {**found.numbers, "weights": weights})


def _virtual_fibre_dimension(network: DeepAttention) -> Finding:
    return virtual_fibre(observe(network, "virtual_weights"), _dimension(network), network.layers)


_CERTIFIED: dict[str, Callable[[DeepAttention], Finding]] = {
    "attention_matrices": partial(observe, observable="attention_matrices"),
    "dimension": _dimension,
    "normal_form": partial(observe, observable="normal_form"),
    "scalings_keep_the_function": partial(observe, observable="scalings_keep_the_function"),
    "unseen_weights": _unseen_weights,
    "virtual_fibre_dimension": _virtual_fibre_dimension,
    "virtual_weights": partial(observe, observable="virtual_weights"),
}
