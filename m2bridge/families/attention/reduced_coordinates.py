"""The reduced function coordinates: c_{k,i,{p,q}} is the coefficient of x_i y_p y_q in output k, for t ≥ 2.

It is A_pi V_kq + A_qi V_kp for p < q, and A_pi V_kp for p = q. Indices begin with 0, those in names with 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from m2bridge.families.attention.model import SingleLayerAttention
    from m2bridge.families.attention.orbits import IntegerMatrix

Index = tuple[int, int, int, int]
"""(k, i, p, q) with p ≤ q."""

Sparse = Mapping[tuple[int, int], int]
"""The nonzero entries of a matrix."""

Function = dict[Index, int]
"""The coordinates of a function; those left out are zero."""


def indices(model: SingleLayerAttention) -> Iterator[Index]:
    """Of all reduced coordinates, in the order of the parametrization."""
    columns = range(model.d)
    return ((k, i, p, q) for k, i, p, q in product(range(model.d_out), columns, columns, columns) if p <= q)


def name(index: Index) -> str:
    """``c_1_1_1_2`` for (0, 0, 0, 1)."""
    k, i, p, q = index
    return f"c_{k + 1}_{i + 1}_{p + 1}_{q + 1}"


def coordinate(index: Index, A: Callable[[int, int], Any], V: Callable[[int, int], Any]) -> Any:
    """One coordinate of the function of weights A and V, which are given by their entries."""
    k, i, p, q = index
    return V(k, p) * A(p, i) if p == q else V(k, p) * A(q, i) + V(k, q) * A(p, i)


def sparse(matrix: IntegerMatrix) -> dict[tuple[int, int], int]:
    """The nonzero entries of a matrix."""
    return {(i, j): entry for i, row in enumerate(matrix) for j, entry in enumerate(row) if entry}


def function(A: Sparse, V: Sparse) -> Function:
    """All coordinates of the function of sparse weights: each product A_pi V_kq belongs to one of them."""
    found: Function = {}
    for ((p, i), a), ((k, q), v) in product(A.items(), V.items()):
        key = (k, i, min(p, q), max(p, q))
        found[key] = found.get(key, 0) + a * v
    return found
