"""Groups of heads that share keys and values, as in grouped-query attention, and rotary positions.

Heads h = 1, …, m with the same K and V have the matrices A_h = KᵀQ_h and V_h = O_h V. All A_h
beside each other are Kᵀ(Q_1 | … | Q_m), one product of rank at most a; all V_h on top of each other
are one product of rank at most v. A single head is a group with m = 1. Proofs are in
``docs/weights-mathematics.md`` (Heads that share keys and values).

K and Q_h have a rows and d columns, as many as tokens have coordinates; Q_h has ``queries``
columns, d or d + 1, as its bias may be one more. V has v rows, and O_h has d' rows (``d_out``), as
many as there are outputs. Without output matrices ``v`` is ``None``, and the outputs are those of
V.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy

from m2bridge.algebra.determinantal import determinantal_dimension
from m2bridge.results.known import Bounds
from m2bridge.trained_weights.checkpoints.arrays import as_fractions
from m2bridge.trained_weights.heads.findings import HeadWeights, sum_or_none
from m2bridge.trained_weights.heads.ranks import HeadShape, exact_rank
from m2bridge.trained_weights.heads.reduced_head import IN_CONSTANT, KEY_BIAS, ReducedHead
from m2bridge.trained_weights.heads.token_space import LazyProduct

ENOUGH_TOKENS = "all but finitely many t"
"""The numbers t of tokens for which heads with rotary positions are determined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadGroup:
    """The sizes and dimensions of m heads that share keys and values.

    Parameters
    ----------
    shape : HeadShape
        The sizes of each of the heads: d, d', a, v, and α = min(a, d), the largest rank of A.
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
        """The number of rows of V: v, or d' without an output matrix."""
        return self.shape.d_out if self.shape.v is None else self.shape.v

    @property
    def parameters(self) -> int:
        """The number of entries of K and V, and of the Q and O of all heads."""
        shape, m = self.shape, self.heads
        columns_of_K, columns_of_Q, columns_of_V = map(shape.columns_in_file, "KQV")
        # Only a single head has a given A, of as many rows as K has columns.
        attention = columns_of_K * columns_of_Q
        if shape.has_factors:
            attention = shape.a * (columns_of_K + m * columns_of_Q)
        entries_of_O = 0 if shape.v is None else m * shape.v * shape.d_out
        return attention + self.rows_of_V * columns_of_V + entries_of_O

    @property
    def seen_columns_of_K(self) -> int:
        """The number of columns of K that are seen, with its bias where positions are rotary."""
        if not self.rotary:
            return self.shape.d
        # Rotations differ from place to place, so that softmax sees the bias of K, a column that
        # counts as unseen for a head alone.
        bias_columns = 0
        for unseen in self.shape.unseen("K"):
            if unseen.name == KEY_BIAS:
                bias_columns += unseen.columns
        return self.shape.d + bias_columns

    @property
    def dimension_of_attention(self) -> int:
        """The dimension of what the function determines of K and all Q_h.

        Without rotary positions these are (A_1, …, A_m), beside each other a product of bounded
        rank. With them K and the Q_h are complex vectors k and q for each of the a/2 planes in
        which tokens are rotated, and the function determines their products, complex matrices of
        rank one: 2(n + m) real entries of n columns of K and m of all Q_h, less 2 for (zk, q/z).
        """
        shape = self.shape
        columns_of_all_Q = self.heads * shape.queries
        if self.rotary:
            return shape.a * (self.seen_columns_of_K + columns_of_all_Q) - shape.a
        rank = min(shape.a, shape.d, columns_of_all_Q)
        return determinantal_dimension(shape.d, columns_of_all_Q, rank)

    @property
    def dimension_of_values(self) -> int:
        """The dimension of the set of all (V_1, …, V_m), V_h = O_hV: the matrices V_h on top of
        each other have rank at most v. Without output matrices all are one V, d' × d.
        """
        shape = self.shape
        if shape.v is None:
            return shape.d_out * shape.d
        outputs = self.heads * shape.d_out
        return determinantal_dimension(outputs, shape.d, min(shape.v, shape.d, outputs))

    @property
    def dimension_of_mixings(self) -> int:
        """The dimension of the orbits of the group GL(m) of matrices that mix the heads.

        In lightning attention Σ_h O_h V x · (Kx)ᵀQ_h y is a function of Σ_h O_h ⊗ Q_h. A matrix g
        in GL(m) that acts on the Q_h, with its inverse on the O_h, preserves this sum. For one head
        it is the rescaling of A against V. Softmax has none of these symmetries.
        """
        shape, m = self.shape, self.heads
        if shape.softmax:
            return 0
        # Without output matrices outputs of heads are not added, and only a rescaling is left.
        if shape.v is None:
            return 1
        # The stabilizer of generic weights has as many dimensions as the product of the numbers of
        # independent linear relations among the A_h, which are in a space of dimension α·queries,
        # and among the V_h, in one of dimension min(v, d)·d'.
        relations_of_A = max(0, m - shape.alpha * shape.queries)
        relations_of_V = max(0, m - min(shape.v, shape.d) * shape.d_out)
        return m * m - relations_of_A * relations_of_V

    @property
    def dimension(self) -> int:
        """An upper bound for the dimension of the functions of the group.

        For softmax it is the dimension where the A_h are independent, as heads are seen each alone.
        """
        return self.dimension_of_attention + self.dimension_of_values - self.dimension_of_mixings

    @property
    def is_free(self) -> bool:
        """Whether any m matrices A_h and any m matrices V_h are those of heads that share K and V,
        so that sharing restricts nothing.
        """
        shape, m = self.shape, self.heads
        if m == 1:
            return True
        # All A_h beside each other, d × (m·queries), have rank at most a; all V_h on top of each
        # other, (m·d') × d, have rank at most v. That bounds nothing if a and v are so large.
        any_A = shape.a >= min(shape.d, m * shape.queries) and not self.rotary
        any_V = shape.v is not None and shape.v >= min(shape.d, m * shape.d_out)
        return any_A and any_V

    def redundant(self, *, are_added: bool = True) -> list[tuple[str, int]]:
        """Return the directions of generic weights in which the function does not change, as pairs
        of a name and a number of dimensions.

        Parameters
        ----------
        are_added : bool
            Whether the outputs of the heads are added; else they are concatenated, and biases of
            V are seen.
        """
        name = "rescaling of A against V"
        if self.heads > 1 and self.shape.v is not None:
            name = f"GL({self.heads}) that mixes heads with the same K and V"
        found = [*self._redundant_factors(), (name, self.dimension_of_mixings)]
        if self.shape.has_factors:
            found += self._redundant_columns(are_added=are_added)
        else:
            # A given A, which only a single head has: its columns and rows are not those of K and
            # Q.
            found += self.shape.redundant_columns()
        return [(name, size) for name, size in found if size]

    def _redundant_factors(self) -> Iterator[tuple[str, int]]:
        """Yield the directions in which the factors K and Q_h, or O_h and V, change, and not their
        products, as pairs of a name and a number of dimensions, perhaps 0.

        They are the entries of K and Q_h that are seen, less the dimension of all (A_1, …, A_m);
        and the entries of O_h and V, less the dimension of all (V_1, …, V_m). If a bounds the rank
        of the products, generic factors with the same products are one orbit of GL(a), with g⁻ᵀK
        and gQ_h; in the same way of GL(v) for O_h and V.
        """
        shape = self.shape
        if shape.has_factors:
            seen = shape.a * (self.seen_columns_of_K + self.heads * shape.queries)
            name = "K and Q with the same KᵀQ"
            if self.rotary:
                name = "elements of GL(a) on K and Q that commute with rotations"
            elif shape.a <= min(shape.d, self.heads * shape.queries):
                name = f"GL({shape.a}) on K and Q"
            yield name, seen - self.dimension_of_attention
        if shape.v is not None:
            name = "O and V with the same OV"
            if shape.v <= min(shape.d, self.heads * shape.d_out):
                name = f"GL({shape.v}) on O and V"
            entries = shape.v * (shape.d + self.heads * shape.d_out)
            yield name, entries - self.dimension_of_values

    def _redundant_columns(self, *, are_added: bool) -> Iterator[tuple[str, int]]:
        """Yield the directions that change only columns or biases of K, Q_h and V without an effect
        on the function, as pairs of a name and a number of dimensions.

        Each such column has an entry in each row of its matrix. ``are_added`` is whether the
        outputs of heads are added; else the constants that heads add are seen one by one, so that
        none of them is redundant.
        """
        for letter, rows in (
            ("V", self.rows_of_V),
            ("K", self.shape.a),
            ("Q", self.shape.a * self.heads),
        ):
            for unseen in self.shape.unseen(letter):
                # With rotations a bias of K changes scores.
                is_seen_key_bias = unseen.name == KEY_BIAS and self.rotary
                is_seen_constant = unseen.name == IN_CONSTANT and not are_added
                if not (is_seen_key_bias or is_seen_constant):
                    yield unseen.name, rows * unseen.columns

    def rank_of_products(
        self, heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead]
    ) -> Bounds:
        """Return bounds for the rank of the differential of (K, Q_h, V, O_h) ↦ (A_h, V_h) at the
        weights of a group of heads.

        Parameters
        ----------
        heads : sequence of HeadWeights
            The results on the heads of the group, with the ranks of their single matrices.
        reduced : sequence of ReducedHead
            These heads with their matrices.
        """
        # K and V are the same for all heads; of Q and O the matrices of all heads count together.
        ranks = {letter: heads[0].ranks.by_letter.get(letter) for letter in "KV"}
        ranks |= {letter: _rank_together(letter, heads, reduced) for letter in "QO"}
        attention = self._rank_of_attention(ranks)
        values = self._rank_of_values(ranks)
        return Bounds(
            sum_or_none([attention.lower, values.lower]),
            sum_or_none([attention.upper, values.upper]),
        )

    def _rank_of_attention(self, ranks: dict[str, int | None]) -> Bounds:
        """Return bounds for the rank of the differential of (K, Q_1, …, Q_m) ↦ (KᵀQ_1, …, KᵀQ_m).

        ``ranks`` has those of K, and of all Q_h beside each other, by the letters K and Q; ``None``
        for one that is not known.
        """
        rank_K, rank_Q = ranks["K"], ranks["Q"]
        if self.rotary:
            # On each plane the function has the product of two complex rows, of K and of all Q_h,
            # whose differential has its largest rank if neither row is 0, as at full ranks.
            is_largest = rank_K == rank_Q == self.shape.a
            most = self.dimension_of_attention
            return Bounds(lower=most if is_largest else None, upper=most)
        if rank_K is None or rank_Q is None:
            return Bounds(lower=None, upper=self.dimension_of_attention)
        rows, columns = self.shape.d, self.heads * self.shape.queries
        # With Q, all Q_h beside each other, the image is {XᵀQ + KᵀY}: the XᵀQ are rows·rk Q
        # dimensions, the KᵀY are rk K·columns, and rk K·rk Q are common to both.
        return Bounds.exactly(columns * rank_K + rows * rank_Q - rank_K * rank_Q)

    def _rank_of_values(self, ranks: dict[str, int | None]) -> Bounds:
        """Return bounds for the rank of the differential of (O_1, …, O_m, V) ↦ (O_1 V, …, O_m V).

        ``ranks`` has those of V, and of all O_h on top of each other, by the letters V and O;
        ``None`` for one that is not known, or for O if there is no output matrix.
        """
        rank_O, rank_V = ranks["O"], ranks["V"]
        # Without output matrices the map is the identity on V, whose entries are independent.
        if self.shape.v is None:
            return Bounds.exactly(self.dimension_of_values)
        if rank_O is None or rank_V is None:
            return Bounds(lower=None, upper=self.dimension_of_values)
        rows, columns = self.heads * self.shape.d_out, self.shape.d
        # With O, all O_h on top of each other, the image is {X·V + O·Y}: the X·V are rows·rk V
        # dimensions, the O·Y are rk O·columns, and rk O·rk V are common to both.
        return Bounds.exactly(columns * rank_O + rows * rank_V - rank_O * rank_V)


def _rank_together(
    letter: str, heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead]
) -> int | None:
    """Return the rank of all Q_h beside each other, or of all O_h on top of each other, as
    ``letter`` is Q or O; ``None`` if there is no such matrix, or the rank is not known.

    ``heads`` have the ranks of the single matrices, and ``reduced`` are these heads with their
    matrices.
    """
    if letter not in reduced[0].matrices:
        return None
    shape = heads[0].shape
    full_rank = shape.a if letter == "Q" else shape.v
    ranks = [head.ranks.by_letter.get(letter) for head in heads]
    # One matrix of full rank makes that of all together full, too; and a single one is all of them.
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
    A_h and V_h: sums over the groups.

    ``heads`` are all heads of the layer in their order, and ``reduced`` these heads with their
    matrices. All groups are of the same size, and the heads of a group stand one after the other.
    """
    lower: list[int | None] = []
    upper: list[int | None] = []
    size = groups[0].heads
    for number, group in enumerate(groups):
        own = slice(number * size, (number + 1) * size)
        found = group.rank_of_products(heads[own], reduced[own])
        lower.append(found.lower)
        upper.append(found.upper)
    return Bounds(sum_or_none(lower), sum_or_none(upper))
