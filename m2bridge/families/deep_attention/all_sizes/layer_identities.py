"""The action of one layer on two tokens in a plane, as identities of polynomials; they hold in every layer.

With "one block decides" they are all that the dimension for any number of layers needs
(docs/deep-attention.md#deep-all-sizes).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import flint

from m2bridge.errors import ContradictionError
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.network import certified_block
from m2bridge.families.deep_attention.shape import Normalization
from m2bridge.families.deep_attention.softmax import block_rank
from m2bridge.limits import watched

Column = list[Any]
_NAMES = ("a", "b", "c", "d", "u1", "u2", "y1", "y2", "k", "h")


@cache
def layer_identities() -> dict[str, bool]:
    """Return by name whether an identity holds."""
    return {**dict(_lightning()), **dict(_softmax()), "normal form": _normal_form()}


def _lightning() -> Iterator[tuple[str, bool]]:
    """Tokens u and v = κu + hy, and S = uuᵀ + vvᵀ; τ = 1 + κ²."""
    a, b, c, d, u1, u2, y1, y2, kappa, h = flint.fmpz_mpoly_ctx.get(_NAMES, flint.Ordering.degrevlex).gens()
    A, u, y = [[a, b], [c, d]], [u1, u2], [y1, y2]
    v = [kappa * x + h * z for x, z in zip(u, y, strict=True)]
    first, second = _moved(A, u, v, u), _moved(A, u, v, v)
    tau = 1 + kappa**2
    parallel = [x - tau * _form(A, u, u) * z for x, z in zip(first, u, strict=True)]
    yield "parallel tokens", all(_divides(h, entry) for entry in parallel)
    apart = [new - kappa * old - tau * h * _form(A, u, y) * z for new, old, z in zip(second, first, u, strict=True)]
    yield "ratio of tokens", all(_divides(h**2, entry) for entry in apart)
    yield "determinant", _determinant(first, second) == _determinant(u, v) ** 3 * (a * d - b * c)
    skew = [[0 * a, h], [-h, 0 * a]]
    yield "skew part", _form(skew, u, u) == 0 and _form(skew, u, y) == h * _determinant(u, y)


def _softmax() -> Iterator[tuple[str, bool]]:
    """Tokens x, y, …, y with δ = x − y; a token z becomes y + π(z)δ with π = e^ζ/(e^ζ + t − 1), ζ = δᵀAz."""
    names = ("a", "b", "c", "d", "x1", "x2", "y1", "y2", "t", "z")
    a, b, c, d, x1, x2, y1, y2, t, z = flint.fmpz_mpoly_ctx.get(names, flint.Ordering.degrevlex).gens()
    A, x, y, delta = [[a, b], [c, d]], [x1, x2], [y1, y2], [x1 - y1, x2 - y2]
    approximate = (1 + z) * t**2 - (t + (t - 1) * z) * (t + z)
    yield "weights of softmax", _divides(z**2, approximate)
    scores = _form(A, delta, x) - _form(A, delta, y)
    yield "difference of tokens", scores == _form(A, delta, delta)
    total = [p + (t - 1) * q for p, q in zip(x, y, strict=True)]
    yield "mean of tokens", _form(A, delta, x) + (t - 1) * _form(A, delta, y) == _form(A, delta, total)


def _moved(A: list[Column], u: Column, v: Column, token: Column) -> Column:
    """SA applied to a token."""
    along, across = _form(A, u, token), _form(A, v, token)
    return [along * x + across * z for x, z in zip(u, v, strict=True)]


def _form(A: list[Column], x: Column, y: Column) -> Any:
    """xᵀAy."""
    return sum(x[i] * A[i][j] * y[j] for i in range(2) for j in range(2))


def _determinant(x: Column, y: Column) -> Any:
    return x[0] * y[1] - x[1] * y[0]


def _divides(divisor: Any, polynomial: Any) -> bool:
    return bool(divmod(polynomial, divisor)[1] == 0)


def _normal_form() -> bool:
    """The step of Lemma 3.6: V φφᵀAφ is M⁺Q⁺X for φ = MQX, M⁺ = VM and Q⁺ = Q S Qᵀ(MᵀAM)Q, letter by letter."""
    token, gram, virtual = "MQX", "X" + _transposed("X"), _transposed("M") + "A" + "M"
    longer = "Q" + gram + _transposed("Q") + virtual + "Q"
    return "V" + token + _transposed(token) + "A" + token == "VM" + longer + "X"


def _transposed(word: str) -> str:
    return word[::-1].swapcase()


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

    def to_json(self) -> dict[str, Any]:
        """Return the name of the network, and both numbers."""
        return {"network": self.network.key, "columns": self.columns, "rank": self.rank}


def blocks() -> Iterator[DeepAttention]:
    """For each number of layers all ranks of two inputs; behind a hidden width 1 all ranks are one."""
    for layers, normalization, t in _KINDS:
        for wide in range(layers + 1):
            for ranks in product((1, 2), repeat=wide):
                widths = (2,) * wide + (1,) * (layers + 1 - wide)
                yield DeepAttention(widths, ranks + (1,) * (layers - wide), t, normalization=normalization)


@cache
def block_ranks() -> tuple[BlockRank, ...]:
    """Return the ranks of all blocks.

    Raises
    ------
    ContradictionError
        If a kernel is larger than it always is.
    """
    return tuple(watched(map(_ranked, blocks())))


def _ranked(network: DeepAttention) -> BlockRank:
    block = certified_block(network)
    rank = block_rank(block, network.t, network.layers, network.softmax)
    unseen = network.kernel_dimension
    if rank != block.columns - unseen:
        raise ContradictionError(f"the {network.title} has a block of rank {rank}, not {block.columns} − {unseen}")
    return BlockRank(network, block.columns, rank)
