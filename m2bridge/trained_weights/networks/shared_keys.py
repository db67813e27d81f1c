"""Groups of heads that share keys and values, as in grouped-query attention, and rotary positions.

Heads h = 1, …, m with the same K and V have the matrices A_h = KᵀQ_h and V_h = O_h V. All A_h
beside each other are Kᵀ(Q_1 | … | Q_m), one product of rank at most a; all V_h on top of each other
are one product of rank at most v. A single head is a group with m = 1. Proofs are in
``docs/weights-mathematics.md`` (Heads that share keys and values).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from m2bridge.algebra.determinantal import determinantal_dimension
from m2bridge.results.known import Bounds
from m2bridge.trained_weights.checkpoints.arrays import as_fractions
from m2bridge.trained_weights.heads.findings import HeadWeights, sum_of_known
from m2bridge.trained_weights.heads.ranks import HeadShape, exact_rank
from m2bridge.trained_weights.heads.token_space import (
    IN_CONSTANT,
    KEY_BIAS,
    LazyProduct,
    ReducedHead,
)

ENOUGH_TOKENS = "all but finitely many t"
"""The numbers t of tokens for which heads with rotary positions are determined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadGroup:
    """The numbers of heads that share keys and values.

    Parameters
    ----------
    shape : HeadShape
        Of each of the heads.
    heads : int
        m, the number of heads.
    rotary : bool
        Whether queries and keys are rotated by positions: a is even then.
    """

    shape: HeadShape
    heads: int
    rotary: bool

    @property
    def rows_of_V(self) -> int:
        """The number of entries of the values."""
        return self.shape.d_out if self.shape.v is None else self.shape.v

    @property
    def parameters(self) -> int:
        """The number of entries of K and V, and of the Q and O of all heads."""
        shape, m = self.shape, self.heads
        keys, queries, values = map(shape.given, "KQV")
        attention = shape.a * (keys + m * queries) if shape.has_factors else keys * queries
        outputs = 0 if shape.v is None else m * shape.v * shape.d_out
        return attention + self.rows_of_V * values + outputs

    @property
    def keys(self) -> int:
        """The number of columns of K that are seen, with its bias where positions are rotary."""
        bias = sum(size for name, size in self.shape.unseen("K") if name == KEY_BIAS)
        return self.shape.d + (bias if self.rotary else 0)

    @property
    def attention(self) -> int:
        """The dimension of all (A_1, …, A_m).

        With rotary positions K and Q_h are complex vectors for each plane in which tokens are
        rotated, and the function determines their products, complex matrices of rank one.
        """
        shape = self.shape
        queries = self.heads * shape.queries
        if self.rotary:
            return shape.a * (self.keys + queries) - shape.a
        return determinantal_dimension(shape.d, queries, min(shape.a, shape.d, queries))

    @property
    def values(self) -> int:
        """The dimension of all (V_1, …, V_m)."""
        shape = self.shape
        if shape.v is None:
            return shape.d_out * shape.d
        outputs = self.heads * shape.d_out
        return determinantal_dimension(outputs, shape.d, min(shape.v, shape.d, outputs))

    @property
    def mixed(self) -> int:
        """The dimension of the orbits of the matrices that mix the heads of the group.

        In lightning attention Σ_h O_h V x · (Kx)ᵀQ_h y is a function of Σ_h O_h ⊗ Q_h. It is kept
        by g that acts on the Q_h, with its inverse on the O_h. For one head it is the rescaling.
        """
        shape, m = self.shape, self.heads
        if shape.softmax:
            return 0
        if shape.v is None:
            return 1
        of_A = max(0, m - shape.alpha * shape.queries)
        of_V = max(0, m - min(shape.v, shape.d) * shape.d_out)
        return m * m - of_A * of_V

    @property
    def dimension(self) -> int:
        """An upper bound for the dimension of the functions of the group.

        For softmax it is the dimension where the A_h are independent, as heads are seen each alone.
        """
        return self.attention + self.values - self.mixed

    @property
    def is_free(self) -> bool:
        """Whether any A_h and V_h of m heads are those of a group: sharing costs nothing."""
        shape, m = self.shape, self.heads
        if m == 1:
            return True
        any_A = shape.a >= min(shape.d, m * shape.queries) and not self.rotary
        return any_A and shape.v is not None and shape.v >= min(shape.d, m * shape.d_out)

    def redundant(self, *, are_added: bool = True) -> list[tuple[str, int]]:
        """Return the directions of generic weights in which the function does not change, by name.

        Parameters
        ----------
        are_added : bool
            Whether the outputs of the heads are added; else they are concatenated, and biases of
            V are seen.
        """
        shape = self.shape
        found = []
        if shape.has_factors:
            seen = shape.a * (self.keys + self.heads * shape.queries)
            name = "K and Q with the same KᵀQ"
            if self.rotary:
                name = "elements of GL(a) on K and Q that commute with rotations"
            elif shape.a <= min(shape.d, self.heads * shape.queries):
                name = f"GL({shape.a}) on K and Q"
            found.append((name, seen - self.attention))
        if shape.v is not None:
            name = "O and V with the same OV"
            if shape.v <= min(shape.d, self.heads * shape.d_out):
                name = f"GL({shape.v}) on O and V"
            number = shape.v * (shape.d + self.heads * shape.d_out) - self.values
            found.append((name, number))
        name = "rescaling of A against V"
        if self.heads > 1 and shape.v is not None:
            name = f"GL({self.heads}) that mixes heads with the same K and V"
        found.append((name, self.mixed))
        if not shape.has_factors:
            return [*found, *shape.redundant_columns()]
        for letter, rows in (("V", self.rows_of_V), ("K", shape.a), ("Q", shape.a * self.heads)):
            for name, size in shape.unseen(letter):
                is_seen = name == KEY_BIAS and self.rotary
                is_seen = is_seen or (name == IN_CONSTANT and not are_added)
                found.append((name, 0 if is_seen else rows * size))
        return [(name, size) for name, size in found if size]

    def rank_of_products(
        self, heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead]
    ) -> Bounds:
        """Return the rank of the differential of (K, Q_h, V, O_h) ↦ (A_h, V_h) at weights.

        Parameters
        ----------
        heads : sequence of HeadWeights
            Those of the group.
        reduced : sequence of ReducedHead
            These heads with their matrices.
        """
        ranks = {letter: heads[0].ranks.by_letter.get(letter) for letter in "KV"}
        ranks |= {letter: _rank_together(letter, heads, reduced) for letter in "QO"}
        attention = self._rank_of_attention(ranks)
        values = self._rank_of_values(ranks)
        return Bounds(
            sum_of_known([attention.lower, values.lower]),
            sum_of_known([attention.upper, values.upper]),
        )

    def _rank_of_attention(self, ranks: dict[str, int | None]) -> Bounds:
        """Return bounds for the rank of the differential of (K, Q_1, …, Q_m) ↦ (KᵀQ_1, …, KᵀQ_m).

        ``ranks`` has those of K, and of all Q_h beside each other, by the letters K and Q.
        """
        keys, queries = ranks["K"], ranks["Q"]
        if self.rotary:
            # No complex row of K or of all Q_h is 0 then.
            proved = keys == queries == self.shape.a
            return Bounds(self.attention if proved else None, self.attention)
        if keys is None or queries is None:
            return Bounds(None, self.attention)
        columns = self.heads * self.shape.queries
        return Bounds.exactly(columns * keys + self.shape.d * queries - keys * queries)

    def _rank_of_values(self, ranks: dict[str, int | None]) -> Bounds:
        """Return bounds for the rank of the differential of (O_1, …, O_m, V) ↦ (O_1 V, …, O_m V).

        ``ranks`` has those of V, and of all O_h on top of each other, by the letters V and O.
        """
        outputs, values = ranks["O"], ranks["V"]
        if self.shape.v is None:
            return Bounds.exactly(self.values)
        if outputs is None or values is None:
            return Bounds(None, self.values)
        rows = self.heads * self.shape.d_out
        return Bounds.exactly(self.shape.d * outputs + rows * values - outputs * values)


def _rank_together(
    letter: str, heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead]
) -> int | None:
    """Return the rank of all Q_h beside each other, or of all O_h on top of each other, as
    ``letter`` is Q or O; ``None`` if there is no such matrix, or the rank is not known.

    ``reduced`` are the heads with their matrices, of which ranks of single ones are known already.
    """
    if letter not in reduced[0].matrices:
        return None
    shape = heads[0].shape
    full_rank = shape.a if letter == "Q" else shape.v
    ranks = [head.ranks.by_letter.get(letter) for head in heads]
    # One matrix of full rank makes that of all together full, too.
    if full_rank in ranks or len(ranks) == 1:
        return max((rank for rank in ranks if rank is not None), default=None)
    arrays = []
    for head in reduced:
        matrix = head.matrices[letter]
        exact = matrix.exact() if isinstance(matrix, LazyProduct) else as_fractions(matrix)
        arrays.append(exact if letter == "Q" else exact.T)
    return exact_rank(numpy.column_stack(arrays))


def ranks_of_groups(
    groups: Sequence[HeadGroup], heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead]
) -> Bounds:
    """Return bounds for the rank of the differential of the map from the weights of a layer to all
    A_h and V_h.

    ``heads`` are all heads of the layer in their order, and ``reduced`` these heads with their
    matrices; each group has as many in a row.
    """
    lower: list[int | None] = []
    upper: list[int | None] = []
    size = groups[0].heads
    for number, group in enumerate(groups):
        own = slice(number * size, (number + 1) * size)
        found = group.rank_of_products(heads[own], reduced[own])
        lower.append(found.lower)
        upper.append(found.upper)
    return Bounds(sum_of_known(lower), sum_of_known(upper))
