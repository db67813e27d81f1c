"""The coordinates of the tokens that a layer sees: a bias is one more, LayerNorm one less.

(K | b) acts on the token (x, 1). Behind LayerNorm, tokens are γ∘x + β with x of sum zero, in any
direction and of any length up to √d, as a small number is added to the variance: so K acts as
K·diag(γ) on the hyperplane Σx_i = 0, with the bias Kβ + b. Exactly, the basis of the hyperplane is
e_i − e_d, which is rational; numerically it is orthonormal. A coordinate with γ_i = 0 does not
occur, and then the others have no relation. Proofs are in ``docs/weights-mathematics.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import Any, Self

import numpy

from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.checkpoints.arrays import as_fractions, modular
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays, Norm, is_before

_ROUNDINGS = 4
"""A matrix on an orthonormal basis is wrong by at most about this many roundings times √d."""


@dataclass(frozen=True, slots=True)
class TokenSpace:
    """The numbers of the coordinates of tokens.

    Parameters
    ----------
    width : int
        d, of the tokens as they are given.
    dimension : int
        Of the tokens that are seen, and 1 if there are biases.
    queries : int
        Of these, the coordinates that Q sees: softmax has one more of them than of keys.
    unseen : tuple
        The letter of a matrix, the name of a symmetry, and the number of columns in which it acts.
    constants : int
        1 if the layer adds a constant that is not a coordinate: the biases of V in softmax
        attention.
    has_one : bool
        Whether the last coordinate is 1, for biases.
    has_norm : bool
        Whether there is a norm before, so that tokens have at most the norm √d.
    """

    width: int
    dimension: int
    queries: int
    unseen: tuple[tuple[str, str, int], ...]
    constants: int
    has_one: bool
    has_norm: bool = False

    @property
    def words(self) -> str:
        """The dimension of tokens, and why it differs from d."""
        return f"of dimension {self.dimension}, with biases and norms counted; d = {self.width}"


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The tokens on which the matrices K, Q, V of a layer act.

    Parameters
    ----------
    width : int
        d.
    norm : Norm or None
        The norm before the layer.
    gamma, beta : array or None
    active : array of int
        The coordinates with γ_i ≠ 0.
    on_hyperplane : bool
        Whether a linear relation between these is left.
    is_moved : bool
        Whether β is not in the space of all γ∘x, so that it is as a bias.
    """

    width: int
    norm: Norm | None
    gamma: Any
    beta: Any
    active: Any
    on_hyperplane: bool
    is_moved: bool

    @classmethod
    def of(cls, width: int, norm: Norm | None, biases: bool) -> Self:
        """Return the tokens with ``width`` entries behind a norm, or as they are if it is ``None``;
        without ``biases`` its β is left out.

        Raises
        ------
        InvalidCaseError
            If γ or β have another length, or γ is 0.
        """
        gamma = beta = None
        if norm is not None:
            gamma = norm.gamma
            beta = norm.beta if biases else None
        for name, array in (("γ", gamma), ("β", beta)):
            if array is not None and array.shape != (width,):
                size = " × ".join(map(str, array.shape))
                raise InvalidCaseError(
                    "norm", f"{name} of the norm has {size} entries, tokens have {width}"
                )
        active = numpy.arange(width)
        if gamma is not None:
            active = numpy.flatnonzero(gamma)
        on_hyperplane = norm is not None and norm.kind == "layer" and len(active) == width
        if len(active) <= on_hyperplane:
            raise InvalidCaseError("norm", "behind this norm there is one token only")
        return cls(
            width=width,
            norm=norm,
            gamma=gamma,
            beta=beta,
            active=active,
            on_hyperplane=on_hyperplane,
            is_moved=_is_moved(gamma, beta, active, on_hyperplane),
        )

    @property
    def linear(self) -> int:
        """The dimension of the space of all γ∘x."""
        return len(self.active) - self.on_hyperplane

    def modular(self, matrix: Any, columns: int) -> Any:
        """Return the first columns of a matrix on this space, modulo the prime."""
        return self._on_basis(matrix, columns, modular, LARGE_PRIME)

    def exact(self, matrix: Any, columns: int) -> Any:
        """Return the first columns of a matrix on this space, as fractions."""
        return self._on_basis(matrix, columns, as_fractions, None)

    def _on_basis(self, matrix: Any, columns: int, convert: Any, prime: int | None) -> Any:
        """Return the first columns of W·diag(γ), for the matrix W, on the basis e_i, or e_i − e_d
        of the hyperplane.

        ``convert`` takes entries to residues modulo the prime, or to fractions if ``prime`` is
        ``None``.
        """
        chosen = self.active[:columns]
        found = self._scaled(matrix, chosen, convert, prime)
        if self.on_hyperplane:
            found = found - self._scaled(matrix, self.active[-1:], convert, prime)
        return found if prime is None else found % prime

    def _scaled(self, matrix: Any, chosen: Any, convert: Any, prime: int | None) -> Any:
        """Return those columns of W·diag(γ) whose indices are ``chosen``; see
        :meth:`_on_basis`.
        """
        found = convert(matrix[:, chosen])
        if self.gamma is not None:
            found = found * convert(self.gamma[chosen])
        return found if prime is None else found % prime

    def constant(self, matrix: Any, bias: Any, convert: Any, prime: int | None) -> Any:
        """Return Wβ + b for the matrix W and its bias b, modulo a prime or as fractions: see
        :meth:`_on_basis`. A bias that is ``None`` counts as 0, and so does β.
        """
        found = convert(numpy.zeros(matrix.shape[0]))
        if self.beta is not None:
            products = convert(matrix) * convert(self.beta)
            if prime is not None:
                products = products % prime
            found = found + products.sum(1)
        if bias is not None:
            found = found + convert(bias)
        return found if prime is None else found % prime

    def numeric(self, matrix: Any, bias: Any, with_constant: bool) -> tuple[Any, float]:
        """Return a matrix on an orthonormal basis of the space of tokens, rounded, and a bound for
        the norm of its error.

        With ``with_constant`` its last column is Wβ + b, for the matrix W and its bias b.
        """
        W = _floats(matrix)
        gamma = numpy.ones(self.width) if self.gamma is None else _floats(self.gamma)
        scaled = W * gamma
        size = float(numpy.linalg.norm(scaled))
        found = scaled
        if self.norm is not None and self.norm.kind == "layer":
            # The reflection that takes (1, …, 1) to the last axis makes the other axes a basis.
            u = numpy.full(self.width, 1 / sqrt(self.width))
            u[-1] += 1
            reflected = scaled - numpy.outer(scaled @ u, u) * (2 / (u @ u))
            found = reflected[:, :-1]
        if with_constant:
            last = numpy.zeros(len(W))
            if self.beta is not None:
                beta = _floats(self.beta)
                last = last + W @ beta
                size += float(numpy.linalg.norm(W) * numpy.linalg.norm(beta))
            if bias is not None:
                last = last + _floats(bias)
            found = numpy.column_stack([found, last])
            size += float(numpy.linalg.norm(last))
        if not numpy.isfinite(found).all():
            raise InvalidCaseError("weights", "products with the norm are beyond double precision")
        return found, _ROUNDINGS * sqrt(self.width) * 2.0**-52 * size


def _is_moved(gamma: Any, beta: Any, active: Any, on_hyperplane: bool) -> bool:
    """Return whether β is outside of the space of all γ∘x.

    ``active`` are the indices with γ_i ≠ 0. On the hyperplane Σx_i = 0 it is in that space if and
    only if Σβ_i/γ_i = 0, which a residue that is not 0 disproves at once.
    """
    if beta is None:
        return False
    if not on_hyperplane:
        return bool(numpy.delete(beta, active).any())
    if gamma is not None:
        quotients = zip(modular(beta).tolist(), modular(gamma).tolist(), strict=True)
        try:
            total = sum(b * pow(g, -1, LARGE_PRIME) for b, g in quotients)
        except ValueError:  # γ_i is divisible by the prime
            total = 0
        if total % LARGE_PRIME:
            return True
    exact = as_fractions(beta)
    if gamma is not None:
        exact = exact / as_fractions(gamma)
    return bool(sum(exact, Fraction(0)))


def _floats(array: Any) -> Any:
    """Return an array in double precision; InvalidCaseError if an entry is beyond it."""
    try:
        return array.astype(float)
    except OverflowError:
        raise InvalidCaseError("weights", "an entry is beyond double precision") from None


@dataclass(frozen=True, slots=True, eq=False)
class LazyProduct:
    """A matrix on the coordinates of tokens, multiplied out exactly as far as it is needed.

    It has what the ranks need of an array: shape, transposition, and its first columns.

    Parameters
    ----------
    matrix, bias : array
    tokens : Tokens
    rows, columns : int
        The first ones, of the matrix that is not transposed.
    is_transposed : bool
    """

    matrix: Any
    bias: Any
    tokens: Tokens
    rows: int
    columns: int
    is_transposed: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        if self.is_transposed:
            return self.columns, self.rows
        return self.rows, self.columns

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.rows * self.columns

    @property
    def T(self) -> Self:
        """The transposed matrix."""
        return replace(self, is_transposed=not self.is_transposed)

    def __getitem__(self, key: tuple[slice, slice]) -> Self:
        """Return the first columns, ``[:, :n]``."""
        _, columns = key
        if self.is_transposed:
            return replace(self, rows=min(self.rows, columns.stop))
        return replace(self, columns=min(self.columns, columns.stop))

    def modular(self) -> Any:
        """Return the entries modulo the prime."""
        return self._entries(modular, LARGE_PRIME)

    def exact(self) -> Any:
        """Return the entries as fractions."""
        return self._entries(as_fractions, None)

    def _entries(self, convert: Any, prime: int | None) -> Any:
        """Return the entries of W·diag(γ) on the basis of the tokens, and those of Wβ + b in the
        last column, if there are so many columns.

        ``convert`` and ``prime`` say of which kind they are: see :meth:`Tokens._on_basis`.
        """
        matrix = self.matrix[: self.rows]
        bias = None if self.bias is None else self.bias[: self.rows]
        linear = min(self.columns, self.tokens.linear)
        on_basis = self.tokens.exact if prime is None else self.tokens.modular
        found = on_basis(matrix, linear)
        if self.columns > linear:
            last = self.tokens.constant(matrix, bias, convert, prime)
            found = numpy.column_stack([found, last])
        return found.T if self.is_transposed else found


@dataclass(frozen=True, slots=True, eq=False)
class ReducedHead:
    """A head on the coordinates of its tokens.

    Parameters
    ----------
    layer, head, kind
        Those of the head in the file.
    matrices : dict
        By the letters K, Q, A, V, O: arrays, or :class:`LazyProduct`, for exact ranks.
    given : dict
        The arrays of the file.
    tokens : Tokens or None
        ``None`` without biases and norm.
    coordinates : TokenSpace or None
    """

    layer: int
    head: int
    kind: str
    matrices: Mapping[str, Any]
    given: Mapping[str, Any]
    tokens: Tokens | None
    coordinates: TokenSpace | None

    def values_with_constant(self) -> LazyProduct:
        """Return V, and in one more column what it adds to all of its values.

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
        """Return the matrices on an orthonormal basis, and bounds for the norms of their errors.

        They have none where they are the arrays of the file.
        """
        found, errors = dict(self.given), {}
        for letter, matrix in self.matrices.items():
            if isinstance(matrix, LazyProduct):
                has_constant = matrix.columns > matrix.tokens.linear
                found[letter], errors[letter] = matrix.tokens.numeric(
                    matrix.matrix, matrix.bias, with_constant=has_constant
                )
            elif letter == "A" and self.tokens is not None:
                found[letter], errors[letter] = _rounded_twice(
                    self.tokens, self.given["A"], [n > self.tokens.linear for n in matrix.shape]
                )
        return found, errors


def norm_before(head: HeadArrays, norm: Any) -> Norm | None:
    """Return the norm before the layer of a head: that of the file, or one that the option ``norm``
    says; ``None`` if there is none. A norm that is said where the file has none has γ = 1.
    """
    found = head.norm
    if found is None and norm in ("layer", "rms"):
        return Norm(kind=norm, gamma=None, beta=None, name="", place="pre")
    if found is None or not is_before(found.name, found.place, norm):
        return None
    return replace(found, place="pre", kind=found.kind if norm is None else norm)


def reduce_head(head: HeadArrays, softmax: bool, biases: bool, norm: str | None) -> ReducedHead:
    """Return a head on the coordinates of its tokens.

    Parameters
    ----------
    head : HeadArrays
    softmax : bool
        Whether scores are normalized by softmax, in which some biases have no effect.
    biases : bool
        Whether biases count.
    norm : str or None
        ``layer``, ``rms`` or ``none`` before the layer in place of what the file says.
    """
    given = head.biases if biases else {}
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
    if before is None and not given:
        return as_stored
    tokens = Tokens.of(head.matrices["V"].shape[1], before, biases)
    # The matrices that act on the coordinate 1 of tokens (x, 1): in lightning attention all, where
    # a missing bias is a zero one; in softmax attention the bias of K does nothing, and that of V
    # is a part of the constant.
    constant: set[str] = set()
    if not softmax and (given or tokens.is_moved):
        constant = set("KQV")
    elif softmax and ("Q" in given or tokens.is_moved):
        constant = {"Q"}
    constants = softmax and ("V" in given or tokens.is_moved)
    matrices = {}
    for letter, matrix in head.matrices.items():
        if letter == "A":
            # A = KᵀQ has the columns of K as its rows.
            half = _with_constant(tokens, matrix, "Q" in constant)
            matrices[letter] = _with_constant(tokens, half.T, "K" in constant).T
        elif letter == "O":
            matrices[letter] = matrix
        else:
            columns = tokens.linear + (letter in constant)
            # The bias is in the column of the constant, which may be left out.
            bias = given.get(letter)
            matrices[letter] = LazyProduct(
                matrix=matrix, bias=bias, tokens=tokens, rows=matrix.shape[0], columns=columns
            )
    unseen = []
    for letter in "KQV":
        counted = letter in given if softmax else bool(given)
        unseen += list(_unseen(letter, tokens, counted, letter in constant, softmax))
    coordinates = TokenSpace(
        width=tokens.width,
        dimension=tokens.linear + bool(constant or constants),
        queries=tokens.linear + ("Q" in constant),
        unseen=tuple(unseen),
        constants=int(constants),
        has_one=bool(constant),
        has_norm=before is not None,
    )
    return replace(as_stored, matrices=matrices, tokens=tokens, coordinates=coordinates)


def _with_constant(tokens: Tokens, matrix: Any, has_constant: bool) -> Any:
    """Return a matrix W on the coordinates of tokens, as fractions; with ``has_constant`` it has Wβ
    as its last column.
    """
    found = tokens.exact(matrix, tokens.linear)
    if not has_constant:
        return found
    return numpy.column_stack([found, tokens.constant(matrix, None, as_fractions, None)])


def _rounded_twice(tokens: Tokens, A: Any, constants: list[bool]) -> tuple[Any, float]:
    """Return a given A on orthonormal bases for both of its tokens, rounded, and a bound for the
    norm of its error.

    ``constants`` say whether its rows, and its columns, have the coordinate 1.
    """
    of_rows, of_columns = constants
    rounded, first = tokens.numeric(A, None, with_constant=of_columns)
    rounded, second = tokens.numeric(rounded.T, None, with_constant=of_rows)
    largest = 1.0
    if tokens.gamma is not None:
        largest = float(abs(_floats(tokens.gamma)).max())
    if tokens.beta is not None:
        largest += float(numpy.linalg.norm(_floats(tokens.beta)))
    return rounded.T, first * largest + second


def _unseen(
    letter: str, tokens: Tokens, has_bias: bool, has_constant: bool, softmax: bool
) -> Iterator[tuple[str, str, int]]:
    """Yield the columns of (W | b) that the function of a head does not see, each with the letter
    of W, the name of a symmetry, and their number.

    ``has_bias`` is whether W has a bias, and ``has_constant`` whether it acts on the coordinate 1.
    """
    hidden = tokens.width + has_bias - tokens.linear - has_constant
    if softmax and has_bias and letter == "K":
        yield letter, KEY_BIAS, 1
        hidden -= 1
    if softmax and letter == "V" and (has_bias or tokens.is_moved):
        yield letter, IN_CONSTANT, 1
        hidden -= 1
    if hidden and tokens.on_hyperplane:
        vector = "u" if letter == "V" else "w"
        yield letter, f"{letter} + {vector}·1ᵀ behind LayerNorm, after γ", hidden
    elif hidden:
        yield letter, f"columns of {letter} where γ is 0", hidden


KEY_BIAS = "the bias of K does nothing in softmax attention"
"""The name of directions of a head with softmax; rotary positions let them be seen."""
IN_CONSTANT = "the bias of V, which is seen in the constant of the layer only"
"""The name of directions of a head with softmax; the layer sees some of them again."""
