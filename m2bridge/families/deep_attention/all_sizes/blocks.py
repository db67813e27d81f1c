"""The ranks of all blocks of few layers: an independent check of what holds for any number of layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

from m2bridge.clock import watched
from m2bridge.errors import ContradictionError
from m2bridge.families.deep_attention.block import kernel_dimension
from m2bridge.families.deep_attention.lower_bounds import block_rank, certified_block
from m2bridge.families.deep_attention.model import DeepAttention, Normalization

_KINDS: tuple[tuple[int, Normalization, int], ...] = (
    *((layers, "none", t) for layers in (1, 2, 3) for t in (1, 2)),
    *((layers, "softmax", 2) for layers in (1, 2)),
)
"""Layers, normalization and tokens; for softmax the power series of the third layer take long to check."""


@dataclass(frozen=True, slots=True)
class BlockRank:
    """A network with at most two inputs and one output, which is a block of itself; its columns, its rank."""

    network: DeepAttention
    columns: int
    rank: int


def blocks() -> Iterator[DeepAttention]:
    """For each number of layers all ranks of two inputs; behind a hidden width 1 all ranks are one."""
    for layers, normalization, t in _KINDS:
        for wide in range(layers + 1):
            for ranks in product((1, 2), repeat=wide):
                widths = (2,) * wide + (1,) * (layers + 1 - wide)
                yield DeepAttention(widths, ranks + (1,) * (layers - wide), t, normalization=normalization)


@cache
def block_ranks() -> tuple[BlockRank, ...]:
    """All of them.

    Raises
    ------
    ContradictionError
        If a kernel is larger than it always is.
    """
    return tuple(watched(map(_ranked, blocks())))


def _ranked(network: DeepAttention) -> BlockRank:
    block = certified_block(network)
    rank = block_rank(block, network.t, network.layers, network.softmax)
    unseen = kernel_dimension(network.shape, network.t, network.softmax)
    if rank != block.columns - unseen:
        raise ContradictionError(f"the {network.title} has a block of rank {rank}, not {block.columns} − {unseen}")
    return BlockRank(network, block.columns, rank)
