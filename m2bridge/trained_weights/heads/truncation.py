"""The singular vectors of a head, and the nearest head of lower rank as matrices to put back.

Rank k is reached by a change of Q and of O alone: for an a × a matrix P of rank k, K and PQ make
KᵀPQ, which is the matrix of rank k nearest to A = KᵀQ for the right P (docs/weights.md). P acts on
rows of Q, and so on its bias, too, and commutes with all that a norm does to tokens: γ, and the
mean that it subtracts. In the same way OP and V make the matrix nearest to OV. K and V stay as they
are, so that heads that share them are not changed, and Q and O are of one head each. Without O the
matrix V itself is changed; where A is given in place of K and Q, A is.

As everywhere A and V act on the coordinates of tokens that they see: x behind the norm, before γ,
and a coordinate 1 where a bias counts. Distances are those in the norm of Frobenius there. All of
it is in double precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import in_brackets
from m2bridge.trained_weights.heads.eigenvalues import EPSILON
from m2bridge.trained_weights.heads.numerical import scaled
from m2bridge.trained_weights.heads.token_space import ReducedHead


class SingularVectors(NamedTuple):
    """The singular value decomposition of A or of OV: left · diag(values) · rightᵀ, k terms.

    Attributes
    ----------
    left : array, (rows, k)
        Orthonormal columns: for A in the space of keys, for OV in the space of outputs, d'.
    values : array, (k,)
        The singular values, the largest first; k is the least size of the factors.
    right : array, (columns, k)
        Orthonormal columns: for A in the space of queries, for OV in the space of tokens.

    Vectors in spaces of tokens have d entries, for x behind the norm and before its γ (behind a
    LayerNorm their sum is 0), and one more for the coordinate 1 where a bias counts.
    """

    left: Any
    values: Any
    right: Any

    @classmethod
    def of(cls, left_factor: Any, right_factor: Any | None = None) -> Self:
        """Return the decomposition of a matrix or of a product, which is not multiplied out."""
        factors = [left_factor] if right_factor is None else [left_factor, right_factor]
        matrices, exponents = zip(*map(scaled, factors), strict=True)
        right_basis, triangle = numpy.linalg.qr(matrices[-1].T)
        core = triangle.T
        left_basis = None
        if len(matrices) == 2:
            left_basis, left_triangle = numpy.linalg.qr(matrices[0])
            core = left_triangle @ core
        left, values, rows = numpy.linalg.svd(core, full_matrices=False)
        if left_basis is not None:
            left = left_basis @ left
        values = numpy.ldexp(values, sum(exponents))
        return cls(left=left, values=values, right=right_basis @ rows.T)


def singular_vectors(head: ReducedHead, letter: str) -> SingularVectors:
    """Return the singular values and vectors of A or, by the letter V, of V or OV."""
    matrices, _errors = head.rounded()
    if letter == "A" and "A" in matrices:
        found = SingularVectors.of(matrices["A"])
    elif letter == "A":
        found = SingularVectors.of(matrices["K"].T, matrices["Q"])
    elif "O" in matrices:
        found = SingularVectors.of(matrices["O"], matrices["V"])
    else:
        found = SingularVectors.of(matrices["V"])
    if head.tokens is None:
        return found
    right = head.tokens.in_all_coordinates(found.right)
    left = head.tokens.in_all_coordinates(found.left) if letter == "A" else found.left
    return SingularVectors(left=left, values=found.values, right=right)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TruncatedHead:
    """A head of lower rank, as arrays of the shapes of the head that it replaces.

    Attributes
    ----------
    layer, head : int
        Which head it replaces, counted from 1.
    K, Q, A, V, O : array or None
        Its matrices, (a, d), (a, d), (d, d), (v, d) and (d', v), in double precision; None for
        those that the head has not. Only those named in ``changed`` differ from the head's own.
    changed : tuple of str
        The letters of the matrices that differ: Q (or A) for ``rank_A``, O (or V) for ``rank_V``.
    biases : dict
        The biases that change with them, by letters, as vectors of the lengths of their matrices.
    output_shift : array or None
        A vector of length d' to be added to the bias of the outputs of the layer, so that the
        constant that values add in softmax attention stays the same; None if nothing is.
    """

    layer: int
    head: int
    K: Any = None
    Q: Any = None
    A: Any = None
    V: Any = None
    O: Any = None
    changed: tuple[str, ...] = ()
    biases: Mapping[str, Any] = field(default_factory=dict)
    output_shift: Any = None

    def __repr__(self) -> str:
        return in_brackets(self, "layer", "head", "changed")


def truncated_head(
    head: ReducedHead, rank_A: int | None = None, rank_V: int | None = None
) -> TruncatedHead:
    """Return the head whose A and V, or OV, are the nearest ones of at most these ranks."""
    for name, rank in (("rank_A", rank_A), ("rank_V", rank_V)):
        if rank is not None and (type(rank) is not int or rank < 0):
            raise InvalidCaseError(name, f"must be at least 0, not {rank!r:.60}")
    arrays = head.arrays
    reduced, _errors = head.rounded()
    stored = {letter: _doubles(array) for letter, array in arrays.matrices.items()}
    matrices = dict(stored)
    biases: dict[str, Any] = {}
    if rank_A is not None and "A" in matrices:
        if head.tokens is not None:
            raise InvalidCaseError(
                "rank_A", "is for K and Q, or for an A without norm: a given A is behind one here"
            )
        matrices["A"] = _leading_projection(stored["A"], None, rank_A) @ stored["A"]
    elif rank_A is not None:
        P = _change_of_right_factor(reduced["K"].T, reduced["Q"], rank_A)
        matrices["Q"] = P @ stored["Q"]
        if arrays.Q_bias is not None:
            biases["Q"] = P @ _doubles(arrays.Q_bias)
    if rank_V is not None and "O" in matrices:
        P = _change_of_right_factor(reduced["V"].T, reduced["O"].T, rank_V).T
        matrices["O"] = stored["O"] @ P
    elif rank_V is not None:
        if arrays.sharing > 1:
            raise InvalidCaseError(
                "rank_V",
                f"would change the V that {arrays.sharing} heads share, as there is no O; truncate"
                " A alone, or give these heads a V of their own",
            )
        projection = _leading_projection(reduced["V"], None, rank_V)
        matrices["V"] = projection @ stored["V"]
        is_constant = head.coordinates is not None and head.coordinates.adds_constant
        if arrays.V_bias is not None and not is_constant:
            biases["V"] = projection @ _doubles(arrays.V_bias)
    return TruncatedHead(
        layer=arrays.layer,
        head=arrays.head,
        changed=tuple(letter for letter in matrices if matrices[letter] is not stored[letter]),
        biases=biases,
        output_shift=_output_shift(head, stored, matrices),
        **matrices,
    )


def _doubles(array: Any) -> Any:
    """Return an array in double precision."""
    return numpy.array(array, dtype=float)


def _leading_projection(left: Any, right: Any | None, rank: int) -> Any:
    """Return the orthogonal projection onto the leading left singular vectors of a matrix, or of a
    product: it makes of this matrix the nearest one of at most this rank.
    """
    vectors = SingularVectors.of(left, right).left[:, :rank]
    return vectors @ vectors.T


def _change_of_right_factor(left: Any, right: Any, rank: int) -> Any:
    """Return P such that left · P · right is the matrix of at most this rank nearest to
    left · right.

    With left = B·R, where B has orthonormal columns, and the leading left singular vectors B·U of
    the product, it is P = R⁺UUᵀR. R⁺ is the inverse of R where its columns are independent: where
    R is nearly singular, what is beyond rounding is left out.
    """
    _basis, R = numpy.linalg.qr(scaled(left)[0])
    U = SingularVectors.of(R, right).left[:, :rank]
    return numpy.linalg.pinv(R, rcond=max(R.shape) * EPSILON) @ (U @ (U.T @ R))


def _output_shift(head: ReducedHead, stored: Mapping[str, Any], changed: Mapping[str, Any]) -> Any:
    """Return the constant that values add in softmax attention, Vβ + b times O, less the one that
    the changed matrices add: it is the same for all tokens, and no part of the rank of OV.
    """
    if head.coordinates is None or not head.coordinates.adds_constant or head.tokens is None:
        return None
    constants = []
    for matrices in (stored, changed):
        constant = numpy.zeros(len(matrices["V"]))
        if head.tokens.beta is not None:
            constant = constant + matrices["V"] @ _doubles(head.tokens.beta)
        if head.arrays.V_bias is not None:
            constant = constant + _doubles(head.arrays.V_bias)
        constants.append(matrices["O"] @ constant if "O" in matrices else constant)
    before, after = constants
    return before - after
