"""Differentials of the parametrization at weights of a type, in bases of entries.

A is KᵀQ, and W is V, or OV where values are factorized. J is the differential of weights ↦ (A, W),
and F the one of (A, W) ↦ f, the bilinear map from pairs to functions; so F J is the differential of
the parametrization. Weights stand in the order K, Q, (O,) V, each row by row; pairs in the order A,
W; functions have the reduced coordinates of A and W. Tangent vectors of a type are the directions
in which the group of changes of bases moves the weights. (Notation: the docstring of
families/attention.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, product

import flint

from m2bridge.algebra.linear_algebra import SparseVector
from m2bridge.families.attention.orbits.coordinates import bilinear_terms
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training.types import TypedWeights, WeightType
from m2bridge.statements.statement import IntegerMatrix

PRIME = 2**31 - 1
"""Ranks of the form B are found modulo this prime."""


IntegerEntries = Sequence[Sequence[int]]
"""A matrix of integers, row by row."""


class Differentials:
    """The differentials at some weights, which are integers, or meant modulo :data:`PRIME`."""

    def __init__(self, weights: TypedWeights, shape: LayerSizes) -> None:
        """Take the weights of a layer of this shape; all else is computed when it is used."""
        self.weights = weights
        self.shape = shape

    @cached_property
    def A(self) -> IntegerEntries:
        """The attention matrix KᵀQ modulo the prime, with entries from 0 to PRIME − 1."""
        K, Q = matrix_modulo_prime(self.weights.K), matrix_modulo_prime(self.weights.Q)
        return rows_of_integers(K.transpose() * Q)

    @cached_property
    def W(self) -> IntegerEntries:
        """The values V as they are; or OV modulo the prime, with entries from 0 to PRIME − 1."""
        if self.weights.O is None:
            return self.weights.V
        O, V = matrix_modulo_prime(self.weights.O), matrix_modulo_prime(self.weights.V)
        return rows_of_integers(O * V)

    @cached_property
    def functions_of_pairs(self) -> list[list[int]]:
        """The differential F of (A, W) ↦ f: columns A_pi and then W_kq, rows c_{k,i,p,q}."""
        d, d_out = self.shape.d, self.shape.d_out
        entries_of_A = list(chain.from_iterable(self.A))
        entries_of_W = list(chain.from_iterable(self.W))
        rows = [[0] * (d * d + d_out * d) for _ in range(self.shape.independent_count)]
        for number, of_A, of_W in bilinear_terms(self.shape):
            rows[number][of_A] = entries_of_W[of_W]
            rows[number][d * d + of_W] = entries_of_A[of_A]
        return rows

    @cached_property
    def pairs_of_weights(self) -> list[list[int]]:
        """The differential J of weights ↦ (A, W), transposed: a row for each weight."""
        K, Q, O, V = self.weights.K, self.weights.Q, self.weights.O, self.weights.V
        d, d_out, a = self.shape.d, self.shape.d_out, self.shape.a
        first_of_W = d * d

        def pair(moved: Iterable[tuple[int, int]]) -> list[int]:
            entries = [0] * (first_of_W + d_out * d)
            for place, value in moved:
                entries[place] = value
            return entries

        pairs = []
        # A_pi = Σ_b K_bp Q_bi: along K_bp row p of A moves by row b of Q
        for b, p in product(range(a), range(d)):
            pairs.append(pair((p * d + i, Q[b][i]) for i in range(d)))
        # and along Q_bi column i of A moves by row b of K
        for b, i in product(range(a), range(d)):
            pairs.append(pair((p * d + i, K[b][p]) for p in range(d)))
        if O is None:
            # W is V, so that each entry of V moves the same entry of W
            return pairs + [pair([(first_of_W + place, 1)]) for place in range(d_out * d)]
        # W_kq = Σ_c O_kc V_cq: along O_kc row k of W moves by row c of V
        for k, c in product(range(d_out), range(len(V))):
            pairs.append(pair((first_of_W + k * d + q, V[c][q]) for q in range(d)))
        # and along V_cq column q of W moves by column c of O
        for c, q in product(range(len(V)), range(d)):
            pairs.append(pair((first_of_W + k * d + q, O[k][c]) for k in range(d_out)))
        return pairs

    @cached_property
    def image_modulo(self) -> flint.nmod_mat:
        """The differential F J of weights ↦ functions modulo the prime, with a column for each."""
        F = matrix_modulo_prime(self.functions_of_pairs)
        transposed_J = matrix_modulo_prime(self.pairs_of_weights)
        return F * transposed_J.transpose()

    @cached_property
    def columns_of_FJ(self) -> list[SparseVector]:
        """The columns of the differential F J over ZZ, one for each weight, by nonzero entries.

        They are exact only where A and W are not reduced modulo the prime, as at representatives.
        """
        columns_of_F = list(map(_nonzero_entries, zip(*self.functions_of_pairs, strict=True)))
        columns_of_J = map(_nonzero_entries, self.pairs_of_weights)
        return [_linear_combination(column, columns_of_F) for column in columns_of_J]

    @cached_property
    def images_along_type(self) -> list[SparseVector]:
        """The image F J x of each tangent vector x of the type, over ZZ; exact as the columns."""
        tangents = map(_nonzero_entries, self.tangents)
        return [_linear_combination(tangent, self.columns_of_FJ) for tangent in tangents]

    @cached_property
    def tangents(self) -> list[list[int]]:
        """The tangent vectors of the type, by the entries of all weights.

        There is one for each unit matrix E_ij in the Lie algebra of each of the groups GL: E_ij K
        has row j of K as its row i, and K E_ij has column i of K as its column j.
        """
        K, Q, O, V = self.weights.K, self.weights.Q, self.weights.O, self.weights.V
        moves: list[dict[str, IntegerEntries]] = []
        # queries and keys, K ↦ gK, Q ↦ g⁻ᵀQ: for g = 1 + εE_ij they move by E_ij K and −E_ji Q
        for i, j in product(range(self.shape.a), repeat=2):
            of_Q = _move_row(Q, source=i, target=j, factor=-1)
            moves.append({"K": _move_row(K, source=j, target=i), "Q": of_Q})
        # tokens that K and V see, K ↦ Kg, V ↦ Vg
        for i, j in product(range(self.shape.d), repeat=2):
            of_V = _move_column(V, source=i, target=j)
            moves.append({"K": _move_column(K, source=i, target=j), "V": of_V})
        # tokens that Q sees, Q ↦ Qg
        for i, j in product(range(self.shape.d), repeat=2):
            moves.append({"Q": _move_column(Q, source=i, target=j)})
        # outputs, O ↦ gO, or V ↦ gV where values are not factorized
        name, first = ("V", V) if O is None else ("O", O)
        for i, j in product(range(self.shape.d_out), repeat=2):
            moves.append({name: _move_row(first, source=j, target=i)})
        # between O and V, O ↦ Og, V ↦ g⁻¹V: for g = 1 + εE_ij they move by O E_ij and −E_ij V
        if O is not None:
            for i, j in product(range(len(V)), repeat=2):
                of_V = _move_row(V, source=j, target=i, factor=-1)
                moves.append({"O": _move_column(O, source=i, target=j), "V": of_V})
        directions = []
        for move in moves:
            entries: list[int] = []
            for name in ("K", "Q", "O", "V"):
                matrix = getattr(self.weights, name)
                if matrix is not None:
                    zero = [[0] * len(row) for row in matrix]
                    entries += chain.from_iterable(move.get(name, zero))
            directions.append(entries)
        return directions


def images_with_moved_spaces(
    at_representative: Differentials, kind: WeightType
) -> list[SparseVector]:
    """For each tangent vector of a type its image, together with how it moves some spaces.

    The spaces are the row spaces of K and Q, and for factorized values also the column space of O
    and the row space of V. The rank of the returned vectors is the dimension of Lemma 2. A space
    moves as the rows, or columns, that span it do modulo the space. At the representative the
    spaces are spanned by unit vectors, so only entries in zero columns of K, Q and V, and in zero
    rows of O, move them.

    The row space of V is among the spaces only where values are factorized.

    A vector is {number of a coordinate, or ("space", place of a moving entry of weights): entry}.
    """
    places = []
    start = 0  # the place of the first entry of the matrix
    for name in ("K", "Q", "O", "V"):
        matrix = getattr(at_representative.weights, name)
        if matrix is None:
            continue
        columns = list(zip(*matrix, strict=True))
        has_space = name != "V" or kind.v is not None
        for i, j in product(range(len(matrix)), range(len(columns))):
            row_or_column = matrix[i] if name == "O" else columns[j]
            if has_space and not any(row_or_column):
                places.append(start + i * len(columns) + j)
        start += len(matrix) * len(columns)
    extended = []
    images = at_representative.images_along_type
    for tangent, image in zip(at_representative.tangents, images, strict=True):
        moves = {("space", place): tangent[place] for place in places if tangent[place]}
        extended.append(image | moves)
    return extended


def _nonzero_entries(entries: Iterable[int]) -> SparseVector:
    """The sparse vector {position: entry} of the entries that are not zero."""
    return {position: entry for position, entry in enumerate(entries) if entry}


def _linear_combination(
    coefficients: SparseVector, vectors: Sequence[SparseVector]
) -> SparseVector:
    """The sum of factor · vector; ``coefficients`` has {position in ``vectors``: factor}."""
    total: SparseVector = {}
    for position, coefficient in coefficients.items():
        for place, entry in vectors[position].items():
            total[place] = total.get(place, 0) + coefficient * entry
    return {place: entry for place, entry in total.items() if entry}


def matrix_modulo_prime(matrix: IntegerEntries) -> flint.nmod_mat:
    """A matrix of integers as FLINT's matrix modulo the prime."""
    return flint.nmod_mat([list(row) for row in matrix], PRIME)


def rows_of_integers(matrix: flint.nmod_mat) -> IntegerMatrix:
    """The rows of FLINT's matrix, with integers from 0 to PRIME − 1 as entries."""
    return tuple(tuple(map(int, row)) for row in matrix.tolist())


def _move_row(matrix: IntegerEntries, source: int, target: int, factor: int = 1) -> IntegerEntries:
    """Zeros but for the row ``target``: ``factor`` times the row ``source`` of ``matrix``."""
    moved = [[0] * len(row) for row in matrix]
    moved[target] = [factor * entry for entry in matrix[source]]
    return moved


def _move_column(matrix: IntegerEntries, source: int, target: int) -> IntegerEntries:
    """Zeros but for the column ``target``: the column ``source`` of ``matrix``."""
    moved = [[0] * len(row) for row in matrix]
    for moved_row, row in zip(moved, matrix, strict=True):
        moved_row[target] = row[source]
    return moved
