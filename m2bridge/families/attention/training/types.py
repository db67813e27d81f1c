"""Types of the weights of one layer, and what the theorem on exposed types predicts of them.

Weights are a×d matrices K and Q and a d'×d matrix V; or, with *factorized* values W = OV in place
of V, a d'×h matrix O and an h×d matrix V, where h is ``head_dim`` (None where values are not
factorized, and W is V). The function f(A, W) depends on A = KᵀQ and W alone, bilinearly. The bases
of queries and keys, of the tokens that K and V see, of the tokens that Q sees, of outputs, and
between O and V can be changed: GL(a) × GL(d) × GL(d) × GL(d') × GL(h) acts on weights. A *type* is
all weights with given ranks, which are finitely many orbits of this group. A type is *exposed* if
some of its weights are critical points of a squared loss for all targets in an open set. Source:
ours, docs/training.md. (Notation: the docstring of families/attention.)
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
    """All weights with given ranks."""

    k: int
    q: int
    r: int  # the rank of A = KᵀQ
    s: int  # the rank of V, or W = OV
    m: int  # the dimension of the intersection of the column space of A and the row space of W
    o: int | None = None  # the ranks of O and V, where values are factorized
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
        """The type with the same r, s, m, and k = q = r; for factorized values also o = v = s."""
        balanced = replace(self, k=self.r, q=self.r)
        if self.o is None:
            return balanced
        return replace(balanced, o=self.s, v=self.s)

    def is_exposed(self, shape: LayerSizes) -> bool:
        """Whether the type is exposed, by the theorem (docs/training.md#theorem-exposed).

        So it is if K and Q have the rank of A; the intersection of the column space of A and the
        row space of W is as small as the ranks allow, or A = v qᵀ and W = h vᵀ; and the rank of O
        exceeds the rank of W = OV by at most max(0, d' − d), and the rank of V does so by at most
        max(0, d − d'). Values V alone are O = 1, of rank d', so that the condition on O says that V
        has the rank min(d, d').
        """
        if self.r == 0 or self.s == 0:
            return self._is_exposed_at_zero(shape)
        factors_have_rank_of_A = self.k == self.q == self.r
        smallest_intersection = max(0, self.r + self.s - shape.d)
        is_of_squares = self.r == self.s == self.m == 1
        intersection_is_right = self.m == smallest_intersection or is_of_squares
        # values that are not factorized are V alone, with O = 1 of rank d'
        rank_of_o = shape.d_out if self.o is None else self.o
        rank_of_v = self.s if self.v is None else self.v
        o_is_right = rank_of_o - self.s <= max(0, shape.d_out - shape.d)
        v_is_right = rank_of_v - self.s <= max(0, shape.d - shape.d_out)
        values_are_right = o_is_right and v_is_right
        return factors_have_rank_of_A and intersection_is_right and values_are_right

    def _is_exposed_at_zero(self, shape: LayerSizes) -> bool:
        """Whether a type with the zero function is exposed (docs/training.md#theorem-exposed-zero).

        Weights are critical by a linear functional ν on functions, under these conditions:

        * A = 0: the matrix of A' ↦ ν(f(A', W)), of size d×d, has at most the rank d − max(k, q).
          These are max(k, q)² conditions; the type is exposed if they are at most as many as the
          dimension of all W of rank s up to a factor, s(d + d' − s) − 1.
        * W = 0: the matrix of W' ↦ ν(f(A, W')), of size d'×d, has at most the rank ρ = min(d' − o,
          d − v). These are (d' − ρ)(d − ρ) conditions; the type is exposed if they are at most as
          many as the dimension of all A of rank r up to a factor, r(2d − r) − 1.
        * A = W = 0: none, as all weights are critical.
        """
        d, outputs = shape.d, shape.d_out
        if self.r == self.s == 0:
            return True
        if self.r == 0:
            dimension_of_w = self.s * (d + outputs - self.s) - 1
            return max(self.k, self.q) ** 2 <= dimension_of_w
        dimension_of_a = self.r * (2 * d - self.r) - 1
        largest_rank_on_w = 0  # ρ for values that are V alone, with O = 1 of rank d'
        if self.o is not None and self.v is not None:
            largest_rank_on_w = min(outputs - self.o, d - self.v)
        return (outputs - largest_rank_on_w) * (d - largest_rank_on_w) <= dimension_of_a

    def is_saddle(self, shape: LayerSizes, head_dim: int | None = None) -> bool:
        """Whether weights of the type, where they are critical, are saddles for almost all targets.

        By the theorem on saddles (docs/training.md#theorem-saddles) this is so if the type is
        exposed, and A has not the largest rank α, or W = OV not the largest rank min(h, d, d')
        while O and V have the rank of W. False for the zero function, of which the theorem claims
        nothing.
        """
        has_zero_function = self.r == 0 or self.s == 0
        if has_zero_function or not self.is_exposed(shape):
            return False
        if self.r < shape.alpha:
            return True
        if head_dim is None or self.o is None:
            return False
        largest_rank_of_W = min(head_dim, shape.d, shape.d_out)
        return self.o == self.v == self.s < largest_rank_of_W


HEADER = ("rk K", "rk Q", "rk A", "rk V", "dim L∩U")
FACTORED_HEADER = ("rk K", "rk Q", "rk O", "rk V", "rk A", "rk OV", "dim L∩U")


def weight_types(shape: LayerSizes, head_dim: int | None = None) -> tuple[WeightType, ...]:
    """All types with nonzero functions, in increasing order; TooLargeError for too many."""
    listed: list[WeightType] = []
    ranks_of_values = list(_ranks_of_values(shape, head_dim))
    for k, q, r in _ranks_of_factors(shape.d, shape.a, shape.d):
        for s, o, v in ranks_of_values:
            # the two spaces span at most d dimensions
            dimensions = range(max(0, r + s - shape.d), min(r, s) + 1)
            listed += [WeightType(k=k, q=q, r=r, s=s, m=m, o=o, v=v) for m in dimensions]
            if len(listed) > MAX_ORBITS:
                raise TooLargeError(
                    f"this case has more than {MAX_ORBITS} types of weights: take smaller numbers"
                )
    return tuple(sorted(listed))


def zero_types(shape: LayerSizes, head_dim: int | None = None) -> tuple[WeightType, ...]:
    """All types with the zero function, in increasing order: A = 0 or W = 0, and so m = 0."""
    types = []
    for k, q, r in _ranks_of_factors(shape.d, shape.a, shape.d, least=0):
        for s, o, v in _ranks_of_values(shape, head_dim, least=0):
            if r == 0 or s == 0:
                types.append(WeightType(k=k, q=q, r=r, s=s, m=0, o=o, v=v))
    return tuple(sorted(types))


def _ranks_of_factors(
    rows: int, inner: int, columns: int, *, least: int = 1
) -> Iterator[tuple[int, int, int]]:
    """Yield all (rk X, rk Y, rk XY), at least ``least``, for a product with these sizes.

    rk XY ≥ rk X + rk Y − inner (Sylvester), and all values from there to the smaller rank occur.
    """
    for rank_x in range(least, min(rows, inner) + 1):
        for rank_y in range(least, min(columns, inner) + 1):
            smallest = max(least, rank_x + rank_y - inner)
            for rank_xy in range(smallest, min(rank_x, rank_y) + 1):
                yield rank_x, rank_y, rank_xy


def _ranks_of_values(
    shape: LayerSizes, head_dim: int | None, *, least: int = 1
) -> Iterator[tuple[int, int | None, int | None]]:
    """Yield the ranks s of W, o of O and v of V, at least ``least``; or s of V alone."""
    if head_dim is None:
        for s in range(least, min(shape.d, shape.d_out) + 1):
            yield s, None, None
        return
    for o, v, s in _ranks_of_factors(shape.d_out, head_dim, shape.d, least=least):
        yield s, o, v


@dataclass(frozen=True, slots=True)
class ExposedTypes(PartialValue):
    """The exposed and the undecided types among all types of a case, by their ranks."""

    exposed: frozenset[tuple[int, ...]]
    undecided: frozenset[tuple[int, ...]] = frozenset()

    @classmethod
    def of(
        cls, exposed: Iterable[WeightType], undecided: Iterable[WeightType] = ()
    ) -> ExposedTypes:
        """The value that says that these types are exposed, or not decided, by their ranks."""
        return cls(
            exposed=frozenset(kind.cells for kind in exposed),
            undecided=frozenset(kind.cells for kind in undecided),
        )

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ExposedTypes:
        """The value from the data that :meth:`to_json` returns."""
        return cls(
            exposed=frozenset(map(tuple, data["exposed"])),
            undecided=frozenset(map(tuple, data["undecided"])),
        )

    def against(self, predicted: Any) -> tuple[Decision, str]:
        """Return whether these observed types are the predicted ones, and the reason in words."""
        # the sets are of types, each the tuple of its ranks
        exposed_but_not_stated = self.exposed - predicted.exposed
        not_exposed_but_stated = predicted.exposed - self.exposed - self.undecided
        differences = []
        if exposed_but_not_stated:
            words = _types_in_words(exposed_but_not_stated)
            differences.append(f"exposed, though the statement says not: {words}")
        if not_exposed_but_stated:
            words = _types_in_words(not_exposed_but_stated)
            differences.append(f"not exposed, though the statement says exposed: {words}")
        if differences:
            return Decision.REFUTED, "; ".join(differences)
        if self.undecided:
            words = _types_in_words(self.undecided)
            return Decision.UNDECIDED, f"not decided for the types {words}"
        words = _types_in_words(self.exposed)
        return Decision.CONFIRMED, f"computed and stated are the types {words}"

    def to_json(self) -> dict[str, list[list[int]]]:
        """Both lists in increasing order, for ``json.dumps``."""
        return {
            "exposed": sorted(map(list, self.exposed)),
            "undecided": sorted(map(list, self.undecided)),
        }

    def __str__(self) -> str:
        """The exposed types in words, without those that are not decided."""
        return _types_in_words(self.exposed)


def _types_in_words(types: Iterable[tuple[int, ...]]) -> str:
    """Types, given by their ranks, in words: ``(1, 1, 1, 1, 0), (2, 2, 2, 1, 1)``."""
    return ", ".join(f"({', '.join(map(str, cells))})" for cells in sorted(types))


@dataclass(frozen=True, slots=True)
class TypedWeights:
    """Weights of a type: integer matrices, whose entries may be meant modulo a prime."""

    K: IntegerMatrix
    Q: IntegerMatrix
    V: IntegerMatrix
    O: IntegerMatrix | None = None


def representative(
    kind: WeightType, shape: LayerSizes, head_dim: int | None = None
) -> TypedWeights:
    """Weights with entries 0 and 1 in the orbit that is dense in the type.

    The nonzero rows of K, Q, O and V are different unit vectors. The row space of K is spanned by
    e_1, …, e_k, and the column space L of A by e_1, …, e_r. The row space of W is spanned by the
    first s of the following, and where values are factorized, the row space of V by the first v:

    * e_1, …, e_m, which are in L;
    * the e_j outside the row space of K;
    * the e_j in the row space of K, but not in L;
    * the other e_j in L.

    So the row spaces of W and of V meet L and the row space of K in the smallest dimensions that m
    allows, as in the dense orbit.
    """
    d = shape.d
    # the indices j of unit vectors e_j in the row space of W, or V, in the order of the docstring
    in_L_and_W = range(kind.m)
    outside_K = range(kind.k, d)
    in_K_outside_L = range(kind.r, kind.k)
    rest_of_L = range(kind.m, kind.r)
    unit_vectors = [*in_L_and_W, *outside_K, *in_K_outside_L, *rest_of_L]

    # K has its ones in the rows 0, …, k − 1. Q has r of its ones in the first of these rows, and
    # the others in rows where K is zero: so A = KᵀQ has the ones (j, j), j < r, and no others.
    ones_of_K = [(j, j) for j in range(kind.k)]
    ones_of_Q = _ones_of_second_factor(kind.r, kind.k, range(kind.q))
    K = _matrix_with_ones(shape.a, d, ones_of_K)
    Q = _matrix_with_ones(shape.a, d, ones_of_Q)
    if kind.o is None or kind.v is None or head_dim is None:
        ones_of_V = list(enumerate(unit_vectors[: kind.s]))
        V = _matrix_with_ones(shape.d_out, d, ones_of_V)
        return TypedWeights(K, Q, V)

    ones_of_O = [(j, j) for j in range(kind.o)]
    ones_of_V = _ones_of_second_factor(kind.s, kind.o, unit_vectors[: kind.v])
    O = _matrix_with_ones(shape.d_out, head_dim, ones_of_O)
    V = _matrix_with_ones(head_dim, d, ones_of_V)
    return TypedWeights(K, Q, V, O)


def _ones_of_second_factor(
    rank_of_product: int, rank_of_first: int, columns: Sequence[int]
) -> list[tuple[int, int]]:
    """The places (row, column) of the ones of a second factor, one in each of the columns.

    The first factor has ones at the first ``rank_of_first`` indices. The second one has the ones of
    the first ``rank_of_product`` columns at the first of these, and all others where the first
    factor is zero; so the product has the rank ``rank_of_product``.
    """
    ones = []
    for j, column in enumerate(columns):
        # rows from rank_of_first on are those where the first factor is zero
        row = j if j < rank_of_product else rank_of_first + j - rank_of_product
        ones.append((row, column))
    return ones


def _matrix_with_ones(rows: int, columns: int, ones: list[tuple[int, int]]) -> IntegerMatrix:
    """The rows × columns matrix with ones at these places, and zeros elsewhere."""
    return tuple(tuple(int((i, j) in ones) for j in range(columns)) for i in range(rows))
