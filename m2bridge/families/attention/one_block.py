"""The dimension of a case of any size from the case with two indices and one output, which is computed.

At A = UᵀCU and V with all rows mᵀU, for a matrix U of two rows with pairwise independent columns, the function looks
the same on every two indices: as that of C and m. If the kernel of the differential there is only what it always is, so
it is at generic weights of every size. The proof is in ``docs/mathematics.md``, "One block decides".
"""

from collections.abc import Iterator
from itertools import product
from math import comb
from random import Random

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.jacobian import differential_rank
from m2bridge.families.attention.parametrization import parametrization
from m2bridge.families.attention.shape import Shape, weights_dimension
from m2bridge.maps.model import LowerBound

_SEED = 20240817
_SIZE = 1000
ATTEMPTS = 100
"""Points that are tried; over small fields many are special."""


def lower_bounds(shape: Shape, characteristic: int) -> Iterator[LowerBound]:
    """The dimension, if the kernel of the differential of the block is as small as it can be; else nothing."""
    field = CoefficientField(characteristic) if characteristic else QQ
    block = Shape(min(shape.d, 2), 1, t=min(shape.t, 2))
    always = 1 + (comb(block.d, 2) if block.t == 1 else 0)
    enough = block.d**2 + block.d - always
    source = parametrization(block, block.default_coordinates, "attention")
    for C, m in _points(block.d, min(shape.alpha, block.d), characteristic or _SIZE):
        if _has_form(C, characteristic) and differential_rank(source, (*sum(C, ()), *m), field=field) == enough:
            reason = f"rank {enough} of the case (d, d', a) = ({block.d}, 1, {min(shape.alpha, block.d)})"
            yield LowerBound(weights_dimension(shape) - 1, f"block over {field}", f"{reason}: one block decides")
            return


def _points(size: int, rank: int, bound: int) -> Iterator[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]]:
    """Random matrices C of at most this rank, and rows m, of integers below ``bound``."""
    random = Random(_SEED)

    def row() -> tuple[int, ...]:
        return tuple(random.randrange(bound) for _ in range(size))

    for _ in range(ATTEMPTS):
        if rank == size:
            yield tuple(row() for _ in range(size)), row()
        else:
            k, q = row(), row()
            yield tuple(tuple(x * y for y in q) for x in k), row()


def _has_form(C: tuple[tuple[int, ...], ...], characteristic: int) -> bool:
    """Whether the quadratic form of C is not zero."""
    pairs = ((i, j) for i, j in product(range(len(C)), repeat=2) if i <= j)
    sums = (C[i][j] + (C[j][i] if i < j else 0) for i, j in pairs)
    return any(value % characteristic if characteristic else value for value in sums)
