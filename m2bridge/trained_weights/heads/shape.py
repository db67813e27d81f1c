"""Sizes of heads: their parameters, the dimension of their functions, and redundant directions.

Tokens have d coordinates, as far as K and V see them, and outputs d' (``d_out``). K and Q have a
rows; Q has ``queries`` columns, d, or d + 1 where it has a bias in softmax attention, as that of K
does nothing. Where A is given, a is the largest rank that A may have. V has d' rows, or, with an
output matrix O of size d' × v, it has v rows, and OV is in its place; without O, ``v`` is ``None``.
Biases are columns. α = min(a, d) and β = min(v, d, d') are the largest ranks of A = KᵀQ and OV.
K and V have ``keys`` and ``values`` columns, d, but in lightning attention with biases of only some
of K, Q and V, where d counts the coordinate 1, a matrix without a bias has one column less
(lemma-some-biases). Then α = min(a, keys, queries), β = min(v, values, d'), and a vector k, v in
A = k qᵀ, V = h vᵀ has its entries in the spaces of this dimension, one within the other.

With O the functions are those of {rk A ≤ α} × {rk OV ≤ β}, a smaller variety than that of the
paper, for which β = min(d, d'). The lemmas hold for it with the same proofs.

Heads h = 1, …, m with the same K and V, as in grouped-query attention, are a ``HeadGroup``: A_h =
KᵀQ_h and V_h = O_h V. All A_h next to each other are Kᵀ(Q_1 | … | Q_m), one product of rank at most
a; all V_h on top of each other are one product of rank at most v. A single head is a group with
m = 1.

*Redundant directions* of generic weights are those in which the function does not change: pairs of
a name and a number of dimensions. They are tangent to the fibres of (K, Q) ↦ KᵀQ and (O, V) ↦ OV,
which are orbits of GL where the products are of bounded rank; to the rescaling (λA, V/λ), which
softmax does not have (Theorem S); and they are those that biases and norms hide. Proofs are in
``docs/weights-mathematics.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import Any

from m2bridge.algebra.determinantal import determinantal_dimension
from m2bridge.results.sheet import in_brackets
from m2bridge.trained_weights.heads.token_space import (
    IN_CONSTANT,
    KEY_BIAS,
    TokenSpace,
    UnseenColumns,
)

RESCALING = "rescaling of A against V"
"""The name of the redundant direction (λA, V/λ)."""


@dataclass(frozen=True, slots=True)
class HeadShape:
    """The sizes of a head, in the notation above."""

    d: int
    d_out: int
    a: int
    v: int | None
    factored: bool  # whether K and Q are given, and not A
    softmax: bool
    coordinates: TokenSpace | None = None  # None without biases and norm: all entries are seen

    def __repr__(self) -> str:
        return in_brackets(self, "d", "d_out", "a", "v", "softmax", "dimension")

    @classmethod
    def of(
        cls,
        matrices: Mapping[str, Any],
        a: int | None,
        softmax: bool,
        coordinates: TokenSpace | None = None,
    ) -> HeadShape:
        """Return the sizes of a head by its matrices K and Q, or A, and V, and perhaps O; ``a`` is
        for A, and ``None`` for d.
        """
        V, O = matrices["V"], matrices.get("O")
        rows, d = V.shape
        factored = "K" in matrices
        return cls(
            d=d,
            d_out=rows if O is None else O.shape[0],
            # A number a that is given is at least 1.
            a=matrices["K"].shape[0] if factored else (a or d),
            v=None if O is None else rows,
            factored=factored,
            softmax=softmax,
            coordinates=coordinates,
        )

    @property
    def width(self) -> int:
        """The number of entries of a token, as it is given."""
        return self.d if self.coordinates is None else self.coordinates.width

    def with_width(self, width: int) -> HeadShape:
        """Return the sizes of a head for tokens with this number of entries, without a norm."""
        lost = self.width - width
        coordinates = self.coordinates
        if coordinates is not None:
            coordinates = replace(
                coordinates,
                width=width,
                dimension=coordinates.dimension - lost,
                keys=coordinates.keys - lost,
                queries=coordinates.queries - lost,
                values=coordinates.values - lost,
            )
        return replace(self, d=self.d - lost, coordinates=coordinates)

    @property
    def token_dimension(self) -> int:
        """The dimension of tokens, with biases and norms counted."""
        return self.d if self.coordinates is None else self.coordinates.dimension

    @property
    def queries(self) -> int:
        """The number of columns of Q."""
        return self.d if self.coordinates is None else self.coordinates.queries

    @property
    def keys(self) -> int:
        """The number of columns of K."""
        return self.d if self.coordinates is None else self.coordinates.keys

    @property
    def values(self) -> int:
        """The number of columns of V."""
        return self.d if self.coordinates is None else self.coordinates.values

    @property
    def without_bias(self) -> str:
        """The letters of K, Q and V without a bias where others have one; "" for softmax."""
        columns = {"K": self.keys, "Q": self.queries, "V": self.values}
        letters = [letter for letter, count in columns.items() if count < self.d]
        return "" if self.softmax else "".join(letters)

    @property
    def lacks_biases(self) -> bool:
        """Whether only some of K, Q and V have a bias, in lightning attention."""
        return bool(self.without_bias)

    @property
    def common(self) -> int:
        """The dimension of the space in which both vectors k and v of A = k qᵀ, V = h vᵀ may be,
        in which they can be exchanged.
        """
        return min(self.keys, self.values)

    @property
    def coefficients(self) -> int:
        """The dimension of the space of all sums of functions of such heads of lightning attention:
        of tensors T(x, x, y), a quadratic form for each output and each coordinate of y.
        """
        # Products of two linear forms, one on all columns of K, one on all columns of V.
        larger = max(self.keys, self.values)
        quadratic_forms = comb(self.common + 1, 2) + self.common * (larger - self.common)
        return self.d_out * quadratic_forms * self.queries

    @property
    def has_constants(self) -> bool:
        """Whether constants are functions of heads, as all of K, Q and V see the coordinate 1."""
        return self.has_one and not self.softmax and not self.lacks_biases

    @property
    def has_one(self) -> bool:
        """Whether tokens have 1 as their last coordinate, for biases."""
        return self.coordinates is not None and self.coordinates.has_one

    @property
    def adds_constant(self) -> bool:
        """Whether a head of softmax adds a constant: V has a bias, or β acts as one."""
        return self.coordinates is not None and self.coordinates.adds_constant

    def unseen(self, letter: str) -> list[UnseenColumns]:
        """Return the columns of K, Q or V, biases among them, that do not change the function."""
        if self.coordinates is None:
            return []
        return [unseen for unseen in self.coordinates.unseen if unseen.letter == letter]

    def columns_in_file(self, letter: str) -> int:
        """Return the number of columns of K, Q or V, seen and unseen."""
        seen = {"K": self.keys, "Q": self.queries, "V": self.values}[letter]
        return seen + sum(unseen.columns for unseen in self.unseen(letter))

    @property
    def most_A(self) -> int:
        """The largest rank of a d × d matrix, or of one of ``keys`` × ``queries`` entries."""
        return min(self.keys, self.queries)

    @property
    def alpha(self) -> int:
        """The largest rank of A."""
        return min(self.a, self.most_A)

    @property
    def most_V(self) -> int:
        """The largest rank of a d' × d matrix, or of one of d' × ``values`` entries."""
        return min(self.values, self.d_out)

    @property
    def beta(self) -> int:
        """The largest rank of V, or OV."""
        return self.most_V if self.v is None else min(self.most_V, self.v)

    @property
    def has_factors(self) -> bool:
        """Whether the parameters of A are K and Q: if they are given, or A has bounded rank."""
        return self.factored or self.a < self.most_A

    @property
    def as_group(self) -> HeadGroup:
        """The group of this head alone."""
        return HeadGroup(shape=self, heads=1, rotary=False)

    @property
    def parameters(self) -> int:
        """The number of entries of K and Q (or A) and of V (and O)."""
        return self.as_group.parameters

    @property
    def dimension(self) -> int:
        """The dimension of the functions for t ≥ 2 tokens."""
        return self.as_group.dimension

    def redundant(self) -> list[tuple[str, int]]:
        """Return the redundant directions."""
        return self.as_group.redundant()

    @property
    def can_be_mixed(self) -> bool:
        """Whether several such heads can be mixed by GL(H) without a change of their sum: any A and
        V, of whatever rank, are those of a head of lightning attention.
        """
        is_any = self.alpha == self.most_A and self.beta == self.most_V
        return is_any and not self.softmax

    @property
    def can_be_exchanged(self) -> bool:
        """Whether generic A and V are A = k qᵀ, V = h vᵀ, with the same function as A = v qᵀ,
        V = h kᵀ. For d = 1 the two differ by a rescaling only.
        """
        return self.alpha == self.beta == 1 < self.common == max(self.keys, self.values) and (
            not self.softmax
        )

    def is_singular(self, r: int, s: int, m: int) -> bool | None:
        """Return whether a function of lightning attention in the orbit (r, s, m) is a singular
        point of the Zariski closure; ``None`` where these numbers do not say it.

        Where α > 1 or β > 1 the parametrization is finite and birational: a point is smooth exactly
        if its fibre is one reduced point, where the source is smooth. For α = β = 1 the closure is
        the cone over a Segre product of projective spaces and the quadrics of rank at most 2, which
        are singular at rank 1 if d ≥ 3.
        """
        # For d = 1 the functions are AV·x²y, with a number A and any vector V: the whole space.
        if self.d == 1:
            return False
        if r == 0 or s == 0:
            # Zero is singular unless the closure is the whole space of coordinates: cubic forms in
            # two tokens, quadratic in one and linear in the other.
            return self.dimension < self.coefficients
        can_be_exchanged = r == s == 1 and self.common > 1
        if can_be_exchanged and self.keys != self.values:
            # k and v can be exchanged if both are in the smaller space, as they are if they are
            # equal. For α = β = 1 too, the closure has two branches, or a cusp, at such functions.
            return True if m == 1 else None
        if self.alpha == self.beta == 1:
            return m == 1 and self.common >= 3
        # Of rank one, A = k qᵀ, V = h vᵀ, has the fibre of two points (k and v exchanged), or of
        # one that is not reduced (k = v).
        if can_be_exchanged:
            return True
        # A determinantal variety that is not the whole space is singular at smaller ranks.
        A_is_singular = r < self.alpha < self.most_A
        V_is_singular = s < self.beta < self.most_V
        return A_is_singular or V_is_singular

    def is_boundary(self, r: int, s: int, m: int) -> bool:
        """Return whether a function of lightning attention in the orbit (r, s, m) is a boundary
        point: near it there are real functions of the closure without real weights.
        """
        is_zero = r == 0 or s == 0
        return self.common > 1 and (is_zero or (r, s, m) == (1, 1, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadGroup:
    """The sizes of m heads of equal shapes that share keys and values."""

    shape: HeadShape
    heads: int  # m
    rotary: bool  # whether positions rotate queries and keys: a is even then

    @property
    def rows_of_V(self) -> int:
        """The number of rows of V."""
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
        """The number of columns of K that are seen: with rotations, which differ from place to
        place, softmax sees the bias of K, too.
        """
        columns = self.shape.keys
        if self.rotary:
            unseen = self.shape.unseen("K")
            columns += sum(part.columns for part in unseen if part.name == KEY_BIAS)
        return columns

    @property
    def dimension_of_attention(self) -> int:
        """The dimension of what the function determines of K and all Q_h.

        Without rotary positions these are (A_1, …, A_m), next to each other a product of bounded
        rank. With them K and the Q_h are complex vectors k and q for each of the a/2 planes in
        which tokens are rotated, and the function determines their products, complex matrices of
        rank one: 2(n + m) real entries of n columns of K and m of all Q_h, less 2 for (zk, q/z).
        """
        shape = self.shape
        columns_of_all_Q = self.heads * shape.queries
        if self.rotary:
            return shape.a * (self.seen_columns_of_K + columns_of_all_Q) - shape.a
        rank = min(shape.a, shape.keys, columns_of_all_Q)
        return determinantal_dimension(shape.keys, columns_of_all_Q, rank)

    @property
    def dimension_of_values(self) -> int:
        """The dimension of the set of all (V_1, …, V_m); without output matrices all are one V."""
        shape = self.shape
        if shape.v is None:
            return shape.d_out * shape.values
        outputs = self.heads * shape.d_out
        return determinantal_dimension(outputs, shape.values, min(shape.v, shape.values, outputs))

    @property
    def dimension_of_mixings(self) -> int:
        """The dimension of the orbits of the group GL(m) of matrices that mix the heads.

        In lightning attention Σ_h O_h V x · (Kx)ᵀQ_h y is a function of Σ_h O_h ⊗ Q_h. A matrix g
        in GL(m) that acts on the Q_h, with its inverse on the O_h, preserves this sum. For one head
        it is the rescaling of A against V.
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
        relations_of_V = max(0, m - min(shape.v, shape.values) * shape.d_out)
        return m * m - relations_of_A * relations_of_V

    @property
    def dimension(self) -> int:
        """An upper bound for the dimension of the functions of the group: for a single head the
        dimension, and for softmax where the A_h are independent, as heads are seen each alone.
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
        # All A_h next to each other, d × (m·queries), have rank at most a; all V_h on top of each
        # other, (m·d') × d, have rank at most v. That bounds nothing if a and v are so large.
        any_A = shape.a >= min(shape.keys, m * shape.queries) and not self.rotary
        any_V = shape.v is not None and shape.v >= min(shape.values, m * shape.d_out)
        return any_A and any_V

    def redundant(self, *, are_added: bool = True) -> list[tuple[str, int]]:
        """Return the redundant directions; ``are_added`` is whether the outputs of the heads are
        added. Else they are concatenated, and biases of V are seen.
        """
        name = RESCALING
        if self.heads > 1 and self.shape.v is not None:
            name = f"GL({self.heads}) that mixes heads with the same K and V"
        directions = [*self._redundant_factors(), (name, self.dimension_of_mixings)]
        directions += self._redundant_columns(are_added=are_added)
        return [(name, size) for name, size in directions if size]

    def _redundant_factors(self) -> Iterator[tuple[str, int]]:
        """Yield the directions in which K and Q_h, or O_h and V, change, and not their products:
        the entries that are seen, less the dimension of all products.

        If a bounds the rank of the products, generic factors with the same products are one orbit
        of GL(a), with g⁻ᵀK and gQ_h; in the same way of GL(v) for O_h and V.
        """
        shape = self.shape
        if shape.has_factors:
            seen = shape.a * (self.seen_columns_of_K + self.heads * shape.queries)
            name = "K and Q with the same KᵀQ"
            if self.rotary:
                name = "elements of GL(a) on K and Q that commute with rotations"
            elif shape.a <= min(shape.keys, self.heads * shape.queries):
                name = f"GL({shape.a}) on K and Q"
            yield name, seen - self.dimension_of_attention
        if shape.v is not None:
            name = "O and V with the same OV"
            if shape.v <= min(shape.values, self.heads * shape.d_out):
                name = f"GL({shape.v}) on O and V"
            entries = shape.v * (shape.values + self.heads * shape.d_out)
            yield name, entries - self.dimension_of_values

    def _redundant_columns(self, *, are_added: bool) -> Iterator[tuple[str, int]]:
        """Yield the directions that biases and norms hide: columns of V, K and Q_h, with an entry
        in each row of their matrix.
        """
        shape = self.shape
        rows = {"V": self.rows_of_V}
        if shape.has_factors:
            rows |= {"K": shape.a, "Q": shape.a * self.heads}
        for letter, number in rows.items():
            for unseen in shape.unseen(letter):
                # Rotations let the bias of K be seen, and outputs next to each other the constants.
                is_seen_key_bias = unseen.name == KEY_BIAS and self.rotary
                is_seen_constant = unseen.name == IN_CONSTANT and not are_added
                if not (is_seen_key_bias or is_seen_constant):
                    yield unseen.name, number * unseen.columns
        if not shape.has_factors:
            # A has as many rows as K would have columns; ``keys`` × ``queries`` of its entries are
            # seen.
            entries = shape.columns_in_file("K") * shape.columns_in_file("Q")
            yield "A on tokens that do not occur", entries - shape.keys * shape.queries
