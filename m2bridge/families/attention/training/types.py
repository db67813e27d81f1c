"""Types of the weights of one layer, and what the theorem on exposed types predicts of them.

Weights are (K, Q, V), or (K, Q, O, V) with values W = OV; A = KᵀQ. The bases of queries and keys,
of the tokens that K and V see, of the tokens that Q sees, of outputs, and between O and V can be
changed: GL(a) × GL(d) × GL(d) × GL(d') × GL(v) acts on weights. A *type* is all weights with given
ranks, which are finitely many orbits of this group. A type is *exposed* if some of its weights are
critical points of a squared loss for all targets in an open set. Source: ours, docs/training.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from m2bridge.errors import TooLargeError
from m2bridge.families.attention.orbits.orbits import MAX_ORBITS
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.results.base import Decision
from m2bridge.statements.statement import IntegerMatrix, PartialValue


@dataclass(frozen=True, slots=True, order=True)
class WeightType:
    """All weights with given ranks.

    Parameters
    ----------
    k, q, r, s : int
        The ranks of K, Q, A = KᵀQ, and V (or W = OV). The function is zero if r or s is.
    m : int
        The dimension of the intersection of the column space of A and the row space of V (or W).
    o, v : int, optional
        The ranks of O and V, where values are factorized; both or none.

    Examples
    --------
    >>> print(WeightType(2, 2, 2, 1, 0))
    (2, 2, 2, 1, 0)
    """

    k: int
    q: int
    r: int
    s: int
    m: int
    o: int | None = None
    v: int | None = None

    @property
    def cells(self) -> tuple[int, ...]:
        """The ranks of K, Q, (O, V,) A, V (or W), and m, for a row of a table."""
        if self.o is None or self.v is None:
            return self.k, self.q, self.r, self.s, self.m
        return self.k, self.q, self.o, self.v, self.r, self.s, self.m

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.cells))})"

    @property
    def balanced(self) -> WeightType:
        """The type of the same A and V (or W) whose factors have no larger ranks."""
        balanced = replace(self, k=self.r, q=self.r)
        if self.o is None:
            return balanced
        return replace(balanced, o=self.s, v=self.s)

    def is_exposed(self, shape: LayerSizes) -> bool:
        """Whether the type is exposed, by the theorem (docs/training.md#theorem-exposed).

        K and Q have the rank of A. The space that A and V share is as small as their ranks allow,
        or A = v qᵀ and V = h vᵀ. V has the largest rank; of O and V the one with fewer rows or
        columns for tokens or outputs has the rank of OV, and the other one exceeds it by at most
        |d − d'|. Values V alone are O = 1, whose rank is d'.

        For the zero function other conditions hold (docs/training.md#theorem-exposed-zero).
        """
        if not (self.r and self.s):
            return self._is_exposed_at_zero(shape)
        least = min(shape.d, shape.d_out)
        excess_of_o = (shape.d_out if self.o is None else self.o) - self.s
        excess_of_v = 0 if self.v is None else self.v - self.s
        smallest = max(0, self.r + self.s - shape.d)
        return (
            self.k == self.q == self.r
            and (self.m == smallest or self.r == self.s == self.m == 1)
            and excess_of_o <= shape.d_out - least
            and excess_of_v <= shape.d - least
        )

    def _is_exposed_at_zero(self, shape: LayerSizes) -> bool:
        """The same for the zero function: whether ν can be zero on enough directions.

        ν is zero on a block of max(k, q) rows and columns of the form on A, in the family of all W
        of rank s up to a factor; or on one of the form on W, in the family of all A of rank r.
        """
        d, outputs = shape.d, shape.d_out
        if self.r == self.s == 0:
            return True
        if self.r == 0:
            dimension = self.s * (d + outputs - self.s) - 1
            return max(self.k, self.q) ** 2 <= dimension
        dimension = self.r * (2 * d - self.r) - 1
        rank_of_o = outputs if self.o is None else self.o
        rank_of_v = 0 if self.v is None else self.v
        most_on_w = min(outputs - rank_of_o, d - rank_of_v)
        return (outputs - most_on_w) * (d - most_on_w) <= dimension

    def is_saddle(self, shape: LayerSizes, head_dim: int | None = None) -> bool:
        """Whether its weights are saddles for almost all targets for which they are critical.

        By the theorem on saddles (docs/training.md#theorem-saddles): the type is exposed, and below
        the full rank of A; or, where values are factorized by O and V with ``head_dim`` columns and
        rows, below that of OV, with O and V of its rank. Nothing is claimed of the zero function.
        """
        if not (self.r and self.s and self.is_exposed(shape)):
            return False
        if self.r < shape.alpha:
            return True
        if head_dim is None or self.o is None:
            return False
        return self.o == self.v == self.s < min(head_dim, shape.d, shape.d_out)


HEADER = ("rk K", "rk Q", "rk A", "rk V", "dim L∩U")
FACTORED_HEADER = ("rk K", "rk Q", "rk O", "rk V", "rk A", "rk OV", "dim L∩U")


def weight_types(shape: LayerSizes, head_dim: int | None = None) -> tuple[WeightType, ...]:
    """All types with nonzero functions, in increasing order.

    Parameters
    ----------
    head_dim : int, optional
        The number of columns of O and of rows of V, where values are factorized.

    Raises
    ------
    TooLargeError
        If there are too many of them.
    """
    listed: list[WeightType] = []
    for one in _types(shape, head_dim):
        listed.append(one)
        if len(listed) > MAX_ORBITS:
            raise TooLargeError(
                f"this case has more than {MAX_ORBITS} types of weights: take smaller numbers"
            )
    return tuple(sorted(listed))


def zero_types(shape: LayerSizes, head_dim: int | None = None) -> tuple[WeightType, ...]:
    """All types with the zero function, in increasing order: those with A = 0 or V = 0 (W = 0)."""
    found = []
    for k, q, r in _ranks_of_factors(shape.d, shape.a, shape.d, least=0):
        for s, o, v in _ranks_of_values(shape, head_dim, least=0):
            if not (r and s):
                found.append(WeightType(k=k, q=q, r=r, s=s, m=0, o=o, v=v))
    return tuple(sorted(found))


def _types(shape: LayerSizes, head_dim: int | None) -> Iterator[WeightType]:
    """All types, in no order: ranks of K, Q and A; those of values; and what they share."""
    values = list(_ranks_of_values(shape, head_dim))
    for k, q, r in _ranks_of_factors(shape.d, shape.a, shape.d):
        for s, o, v in values:
            # the column space of A and the row space of W span at most d dimensions
            smallest = max(0, r + s - shape.d)
            largest = min(r, s)
            for m in range(smallest, largest + 1):
                yield WeightType(k=k, q=q, r=r, s=s, m=m, o=o, v=v)


def _ranks_of_factors(
    rows: int, inner: int, columns: int, *, least: int = 1
) -> Iterator[tuple[int, int, int]]:
    """The ranks of two factors, and of their product, at least ``least``; ``inner`` is summed over.

    The product has rank at least the sum of the ranks less ``inner`` (Sylvester).
    """
    for left in range(least, min(rows, inner) + 1):
        for right in range(least, min(columns, inner) + 1):
            smallest = max(least, left + right - inner)
            for product in range(smallest, min(left, right) + 1):
                yield left, right, product


def _ranks_of_values(
    shape: LayerSizes, head_dim: int | None, *, least: int = 1
) -> Iterator[tuple[int, int | None, int | None]]:
    """The ranks of W, O and V; of V alone where values are not factorized."""
    if head_dim is None:
        for s in range(least, min(shape.d, shape.d_out) + 1):
            yield s, None, None
        return
    for o, v, s in _ranks_of_factors(shape.d_out, head_dim, shape.d, least=least):
        yield s, o, v


@dataclass(frozen=True, slots=True)
class ExposedTypes(PartialValue):
    """The exposed types among all types of a case.

    Parameters
    ----------
    exposed, undecided : frozenset of tuple of int
        The ranks of those that are exposed, and of those that are not decided.
    """

    exposed: frozenset[tuple[int, ...]]
    undecided: frozenset[tuple[int, ...]] = frozenset()

    @classmethod
    def of(
        cls, exposed: Iterable[WeightType], undecided: Iterable[WeightType] = ()
    ) -> ExposedTypes:
        """These types by their ranks."""
        return cls(
            frozenset(one.cells for one in exposed), frozenset(one.cells for one in undecided)
        )

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ExposedTypes:
        """The inverse of :meth:`to_json`."""
        return cls(*(frozenset(map(tuple, data[name])) for name in ("exposed", "undecided")))

    def against(self, predicted: Any) -> tuple[Decision, str]:
        """One type that differs refutes; if none does, those that are not decided leave it open."""
        wrongly = predicted.exposed - self.exposed - self.undecided
        missed = self.exposed - predicted.exposed
        if wrongly or missed:
            parts = []
            if missed:
                parts.append(f"exposed, stated not: {_listed(missed)}")
            if wrongly:
                parts.append(f"not exposed, stated exposed: {_listed(wrongly)}")
            return Decision.REFUTED, "; ".join(parts)
        if self.undecided:
            return Decision.UNDECIDED, f"not decided for the types {_listed(self.undecided)}"
        return Decision.CONFIRMED, f"computed and stated are the types {_listed(self.exposed)}"

    def to_json(self) -> dict[str, list[list[int]]]:
        """Both lists in increasing order, for ``json.dumps``."""
        return {
            "exposed": sorted(map(list, self.exposed)),
            "undecided": sorted(map(list, self.undecided)),
        }

    def __str__(self) -> str:
        return _listed(self.exposed)


def _listed(types: Iterable[tuple[int, ...]]) -> str:
    return ", ".join(f"({', '.join(map(str, cells))})" for cells in sorted(types))


def predicted_types(shape: LayerSizes, head_dim: int | None = None) -> ExposedTypes:
    """The exposed types by the theorem; TooLargeError as for all types."""
    types = weight_types(shape, head_dim)
    return ExposedTypes.of(one for one in types if one.is_exposed(shape))


@dataclass(frozen=True, slots=True)
class TypedWeights:
    """Weights of a type: integer matrices, whose entries may be meant modulo a prime.

    Parameters
    ----------
    K, Q : a×d matrices
    V : d'×d matrix, or v×d if there is an O
    O : d'×v matrix or None
    """

    K: IntegerMatrix
    Q: IntegerMatrix
    V: IntegerMatrix
    O: IntegerMatrix | None = None


def representative(
    kind: WeightType, shape: LayerSizes, head_dim: int | None = None
) -> TypedWeights:
    """Weights with entries 0 and 1 in the orbit that is dense in the type.

    K, Q, O and V have as rows, or columns, different unit vectors. The row space of K is spanned by
    the first k of R^d and L, the column space of A, by the first r. The row space of W has the
    first m of them, and then takes, as long as it needs more, those outside the row space of K,
    those in it but not in L, and the rest of L; that of V goes on in the same way. So both meet L
    and the row space of K in the smallest dimension that m allows, as in the dense orbit.
    """
    d = shape.d
    in_both = range(kind.m)
    in_neither = range(kind.k, d)
    in_rows_of_K = range(kind.r, kind.k)
    in_columns_of_A = range(kind.m, kind.r)
    places = [*in_both, *in_neither, *in_rows_of_K, *in_columns_of_A]

    # column j of Kᵀ meets column j of Qᵀ for j < r only
    ones_of_K = [(j, j) for j in range(kind.k)]
    ones_of_Q = _second_factor(kind.r, kind.k, range(kind.q))
    K = _with_ones(shape.a, d, ones_of_K)
    Q = _with_ones(shape.a, d, ones_of_Q)
    if kind.o is None or kind.v is None or head_dim is None:
        ones_of_V = list(enumerate(places[: kind.s]))
        V = _with_ones(shape.d_out, d, ones_of_V)
        return TypedWeights(K, Q, V)

    ones_of_O = [(j, j) for j in range(kind.o)]
    ones_of_V = _second_factor(kind.s, kind.o, places[: kind.v])
    O = _with_ones(shape.d_out, head_dim, ones_of_O)
    V = _with_ones(head_dim, d, ones_of_V)
    return TypedWeights(K, Q, V, O)


def _second_factor(common: int, first: int, columns: Sequence[int]) -> list[tuple[int, int]]:
    """The ones of a factor: its first rows are those of the other factor, whose rank is ``first``,
    as many as are common; the others come after those of the other factor.
    """
    ones = []
    for j, column in enumerate(columns):
        row = j if j < common else first + j - common
        ones.append((row, column))
    return ones


def _with_ones(rows: int, columns: int, ones: list[tuple[int, int]]) -> IntegerMatrix:
    return tuple(tuple(int((i, j) in ones) for j in range(columns)) for i in range(rows))
