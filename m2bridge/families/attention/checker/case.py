"""Cases of single-layer attention, the functions of weights, orbits: definitions, written anew.

Weights are sparse matrices {(row, column): entry}, functions are mappings from (k, i, p, q), p ≤ q, to the coordinate
c_{k,i,p,q}; all indices begin with 0. An orbit is (r, s, m) = (rk A, rk V, dim of col A ∩ row V).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import Any

from m2bridge.errors import CertificateError

Orbit = tuple[int, int, int]
Sparse = Mapping[tuple[int, int], Any]
Pair = tuple[Sparse, Sparse]  # A and V
Function = dict[tuple[int, ...], Any]


@dataclass(frozen=True, slots=True)
class Case:
    """X ↦ V X Xᵀ A X for X of size d × t, V of size d' × d, and A of size d × d and rank at most α = min(a, d)."""

    d: int
    d_out: int
    a: int
    t: int

    @property
    def alpha(self) -> int:
        """The largest rank of A."""
        return min(self.a, self.d)

    @property
    def coordinate_count(self) -> int:
        """For t ≥ 2 of the c_{k,i,p,q}; for t = 1 of the coefficients of the output, cubic forms."""
        return self.d_out * (comb(self.d + 2, 3) if self.t == 1 else self.d * comb(self.d + 1, 2))


def name(case: Mapping[str, Any]) -> str:
    """Such as ``d3-dout2-a2-t2``; CertificateError if there is no such case."""
    numbers = [case.get(key) for key in ("d", "d_out", "a", "t")]
    if len(case) != 4 or not all(type(n) is int and 0 < n < 10**9 for n in numbers):
        raise CertificateError("integers d, d_out, a, t from 1 to 999999999")
    return "d{}-dout{}-a{}-t{}".format(*numbers)


def function(*weights: Pair) -> Function:
    """The coefficients of y_p y_q in products of columns of A and rows of V, linear forms in y; the sum for several."""
    found: Function = {}
    for A, V in weights:
        for ((p, i), x), ((k, q), y) in product(A.items(), V.items()):
            key = (k, i, p, q) if p <= q else (k, i, q, p)
            found[key] = found.get(key, 0) + x * y
    return {key: value for key, value in found.items() if value}


def orbits(case: Case) -> list[Orbit]:
    """All orbits of nonzero functions, in increasing order."""
    ranks = product(range(1, case.alpha + 1), range(1, min(case.d, case.d_out) + 1))
    return [(r, s, m) for r, s in ranks for m in range(max(0, r + s - case.d), min(r, s) + 1)]


def representative(orbit: Orbit) -> Pair:
    """A = diag(1 … 1, 0 … 0); V has the rows e_1 … e_m, e_{r+1}, …; for m = 0 e_1 is added to the first of them."""
    r, s, m = orbit
    V = {(k, k if k < m else r + k - m): 1 for k in range(s)}
    return {(p, p): 1 for p in range(r)}, V | ({(0, 0): 1} if m == 0 else {})
