"""Heads on the coordinates of the tokens that they see, where biases and norms are accounted for.

The matrices of a head are in dicts by the letters K, Q, A, V and O; W is any of K, Q, V, and b its
bias. γ and β are the factors and the shift of a norm before the layer, ∘ is the product entry by
entry. A *constant* Wβ + b is what W adds whatever the token is: a column of W, by which it acts on
the coordinate 1 of tokens (x, 1). The coordinates are those of ``token_space``, and proofs are in
``docs/weights-mathematics.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy

from m2bridge.trained_weights.checkpoints.arrays import as_fractions
from m2bridge.trained_weights.checkpoints.norms import Norm, is_before
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays
from m2bridge.trained_weights.heads.token_space import (
    LazyProduct,
    Tokens,
    TokenSpace,
    UnseenColumns,
)

KEY_BIAS = "the bias of K does nothing in softmax attention"
"""The name of directions of a head with softmax; rotary positions let them be seen."""
IN_CONSTANT = "the bias of V, which is seen in the constant of the layer only"
"""The name of directions of a head with softmax; the layer sees some of them again."""


@dataclass(frozen=True, slots=True, eq=False)
class ReducedHead:
    """A head on the coordinates of its tokens.

    Parameters
    ----------
    layer, head, kind
        Of the head in the file: two numbers from 1 on, and the type of its entries, as ``float32``.
    matrices : dict
        The matrices for exact ranks, by the letters K, Q, A, V, O. With biases or a norm K, Q and V
        are :class:`LazyProduct`, and A is an array of fractions.
    given : dict
        The arrays of the file by the same letters.
    tokens : Tokens or None
        ``None`` without biases and norm.
    coordinates : TokenSpace or None
        The numbers of coordinates; ``None`` without biases and norm.
    """

    layer: int
    head: int
    kind: str
    matrices: Mapping[str, Any]
    given: Mapping[str, Any]
    tokens: Tokens | None
    coordinates: TokenSpace | None

    def values_with_constant(self) -> LazyProduct:
        """Return V on the coordinates of tokens, and in one more column the constant Vβ + b, for
        its bias b, that is added to all values.

        Raises
        ------
        TypeError
            If there are no biases and no norm, so that it adds nothing.
        """
        V = self.matrices["V"]
        if not isinstance(V, LazyProduct):
            raise TypeError("the values of this head have no constant")
        return replace(V, columns=V.tokens.linear + 1)

    def rounded(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Return the matrices on orthonormal bases of the spaces of tokens, in floating point, and
        bounds for the norms of their errors, both by letters.

        There is no bound, as there is no error, for a matrix that is the array of the file.
        """
        found, errors = dict(self.given), {}
        for letter, matrix in self.matrices.items():
            if isinstance(matrix, LazyProduct):
                has_constant = matrix.columns > matrix.tokens.linear
                found[letter], errors[letter] = matrix.tokens.numeric(
                    matrix.matrix, matrix.bias, with_constant=has_constant
                )
            elif letter == "A" and self.tokens is not None:
                # A row or a column more than the space of tokens has dimensions is a constant.
                rows, columns = matrix.shape
                found["A"], errors["A"] = self.tokens.numeric_on_both_sides(
                    self.given["A"],
                    rows_have_constant=rows > self.tokens.linear,
                    columns_have_constant=columns > self.tokens.linear,
                )
        return found, errors


def norm_before(head: HeadArrays, norm: str | None) -> Norm | None:
    """Return the norm before the layer of a head; ``None`` if there is none.

    It is that of the file where the option ``norm`` is ``None``. The options ``layer`` and ``rms``
    say its kind, with γ = 1 where the file has no norm; ``none`` leaves it out.
    """
    in_file = head.norm
    kind: Any = norm
    if in_file is None and norm in ("layer", "rms"):
        # γ = ``None`` stands for 1, β = ``None`` for 0.
        return Norm(kind=kind, gamma=None, beta=None, name="", place="pre")
    # The norm of the file may stand after the layer, or the option may leave it out.
    if in_file is None or not is_before(in_file.name, in_file.place, norm):
        return None
    if norm is None:
        kind = in_file.kind
    return replace(in_file, place="pre", kind=kind)


def reduce_head(head: HeadArrays, softmax: bool, biases: bool, norm: str | None) -> ReducedHead:
    """Return a head on the coordinates of its tokens: K, Q, V (or A) act on the basis of the space
    of all γ∘x, and on a coordinate 1 if there are biases that are seen.

    Parameters
    ----------
    head : HeadArrays
        A head with the arrays, the biases and the norm that the file has for it.
    softmax : bool
        Whether scores are normalized by softmax, in which some biases have no effect.
    biases : bool
        Whether biases count.
    norm : str or None
        ``layer``, ``rms`` or ``none`` before the layer in place of what the file says.
    """
    counted_biases = head.biases if biases else {}
    before = norm_before(head, norm)
    as_stored = ReducedHead(
        layer=head.layer,
        head=head.head,
        kind=head.kind,
        matrices=head.matrices,
        given=head.matrices,
        tokens=None,
        coordinates=None,
    )
    if before is None and not counted_biases:
        return as_stored
    width = head.matrices["V"].shape[1]
    tokens = Tokens.of(width, before, biases)
    seen = _SeenCoordinates(tokens=tokens, biases=counted_biases, softmax=softmax)
    matrices = {letter: seen.reduced(letter, matrix) for letter, matrix in head.matrices.items()}
    return replace(as_stored, matrices=matrices, tokens=tokens, coordinates=seen.token_space())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _SeenCoordinates:
    """The coordinates of tokens that the matrices of a head see, with biases or behind a norm.

    Parameters
    ----------
    tokens : Tokens
        The tokens, with γ and β of the norm before the layer.
    biases : dict
        The biases that count, by the letters K, Q, V of their matrices.
    softmax : bool
        Whether scores are normalized by softmax.
    """

    tokens: Tokens
    biases: Mapping[str, Any]
    softmax: bool

    @property
    def acting_on_one(self) -> str:
        """The letters of the matrices that act on the coordinate 1 of tokens (x, 1), in which they
        have a constant as their last column: ``KQV``, ``Q``, or none.

        In lightning attention these are all three, where a missing bias is a zero one. In softmax
        attention the bias of K does nothing, and that of V is a part of the constant of the layer.
        """
        if self.softmax:
            return "Q" if "Q" in self.biases or self.tokens.is_moved else ""
        return "KQV" if self.biases or self.tokens.is_moved else ""

    @property
    def adds_constant(self) -> bool:
        """Whether values add a constant to the outputs that is no coordinate of tokens: in softmax
        attention, where V has a bias, or β acts as one, as weights of tokens have the sum 1.
        """
        return self.softmax and ("V" in self.biases or self.tokens.is_moved)

    def has_bias(self, letter: str) -> bool:
        """Return whether the matrix with this letter, K, Q or V, counts as having a bias: in
        lightning attention all three do if one has.
        """
        return letter in self.biases if self.softmax else bool(self.biases)

    def reduced(self, letter: str, matrix: Any) -> Any:
        """Return a matrix of the head, by its letter, on the coordinates that it sees: K, Q, V as a
        :class:`LazyProduct`, and A as an array of fractions; O, which acts on values and not on
        tokens, as it is.
        """
        if letter == "O":
            return matrix
        if letter == "A":
            return self._reduced_A(matrix)
        # The constant Wβ + b is one more column, for matrices that act on the coordinate 1.
        columns = self.tokens.linear
        if letter in self.acting_on_one:
            columns += 1
        return LazyProduct(
            matrix=matrix,
            bias=self.biases.get(letter),
            tokens=self.tokens,
            rows=matrix.shape[0],
            columns=columns,
        )

    def _reduced_A(self, A: Any) -> Any:
        """Return the matrix A = KᵀQ, which has no bias, on the coordinates of tokens on both sides:
        its columns are those of Q, and its rows are the columns of K.
        """
        on_queries = self._on_tokens(A, has_constant="Q" in self.acting_on_one)
        return self._on_tokens(on_queries.T, has_constant="K" in self.acting_on_one).T

    def _on_tokens(self, matrix: Any, *, has_constant: bool) -> Any:
        """Return a matrix W without bias on the coordinates of tokens, W·diag(γ) on their basis, as
        fractions; with ``has_constant`` Wβ is one more column at the end.
        """
        found = self.tokens.exact(matrix, self.tokens.linear)
        if not has_constant:
            return found
        constant = self.tokens.constant(matrix, bias=None, convert=as_fractions, prime=None)
        return numpy.column_stack([found, constant])

    def token_space(self) -> TokenSpace:
        """Return the numbers of the coordinates that are seen, and of the columns that are not."""
        linear = self.tokens.linear
        has_one = bool(self.acting_on_one)
        unseen: list[UnseenColumns] = []
        for letter in "KQV":
            unseen += self._unseen_columns(letter)
        return TokenSpace(
            width=self.tokens.width,
            # True counts as 1: at most one dimension is added.
            dimension=linear + (has_one or self.adds_constant),
            queries=linear + ("Q" in self.acting_on_one),
            unseen=tuple(unseen),
            constants=int(self.adds_constant),
            has_one=has_one,
            has_norm=self.tokens.norm is not None,
        )

    def _unseen_columns(self, letter: str) -> Iterator[UnseenColumns]:
        """Yield how many columns of (W | b), for the matrix W with this letter, K, Q or V, and its
        bias b, do not change the function of the head, by the names of symmetries.

        For example, K with a bias in softmax attention without a norm has one such column, its
        bias, under the name :data:`KEY_BIAS`.
        """
        tokens, has_bias = self.tokens, self.has_bias(letter)
        # The columns of (W | b), less the coordinates on which it acts: as many as the space of all
        # γ∘x has dimensions, and perhaps the coordinate 1.
        columns = tokens.width + has_bias
        hidden = columns - tokens.linear - (letter in self.acting_on_one)
        # Softmax does not change if the same number is added to all scores of a column, as a bias
        # of K does; and a bias of V, or Vβ, goes with the constant of the whole layer.
        if self.softmax and has_bias and letter == "K":
            yield UnseenColumns(letter, name=KEY_BIAS, columns=1)
            hidden -= 1
        if self.adds_constant and letter == "V":
            yield UnseenColumns(letter, name=IN_CONSTANT, columns=1)
            hidden -= 1
        # The other columns are hidden by the norm. On the hyperplane Σx_i = 0 behind a LayerNorm,
        # sums of (1, …, 1) with rows of W·diag(γ) change nothing; else columns where γ is 0 do not.
        if hidden and tokens.on_hyperplane:
            vector = "u" if letter == "V" else "w"
            name = f"{letter} + {vector}·1ᵀ behind LayerNorm, after γ"
            yield UnseenColumns(letter, name=name, columns=hidden)
        elif hidden:
            name = f"columns of {letter} where γ is 0"
            yield UnseenColumns(letter, name=name, columns=hidden)
