"""The coordinates of the tokens that a layer sees: a bias is one more, LayerNorm one less.

The matrices of a head are in dicts by the letters K, Q, A, V and O; W is any of K, Q, V, and b its
bias. γ and β are the factors and the shift of a norm before the layer, ∘ is the product entry by
entry. *The constant* of W is Wβ + b, which W adds whatever the token is: one more column of W, by
which it acts on the coordinate 1 of tokens (x, 1). *The basis* is that of the space of all γ∘x.
Functions that compute exactly take ``convert``, which takes an array to residues modulo ``prime``,
or to fractions where ``prime`` is ``None``.

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
from typing import Any, NamedTuple, Self

import numpy

from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.checkpoints.arrays import as_fractions, modular
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays, Norm, is_before

_ROUNDINGS = 4
"""A matrix on an orthonormal basis is wrong by at most about this many roundings times √d."""


class UnseenColumns(NamedTuple):
    """Columns of a matrix of a head, its bias among them, that do not change the function.

    ``letter`` is that of the matrix, K, Q or V; ``name`` is that of the symmetry by which they do
    not change the function, and ``columns`` their number.
    """

    letter: str
    name: str
    columns: int


@dataclass(frozen=True, slots=True)
class TokenSpace:
    """The numbers of the coordinates of tokens that the matrices of a head see.

    Parameters
    ----------
    width : int
        d, the number of entries of tokens as they are given.
    dimension : int
        The dimension of the space of tokens that are seen, plus 1 if there are biases.
    queries : int
        The number of coordinates that Q sees: with a bias of Q, in softmax attention one more than
        K sees.
    unseen : tuple of UnseenColumns
        The columns of K, Q and V, biases among them, that do not change the function.
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
    unseen: tuple[UnseenColumns, ...]
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
        The norm before the layer; ``None`` without one.
    gamma, beta : array or None
        γ and β of this norm; ``None`` stands for γ = 1 and β = 0.
    active : array of int
        The coordinates with γ_i ≠ 0.
    on_hyperplane : bool
        Whether there is one linear relation, Σx_i = 0, between these: behind a LayerNorm in which
        no γ_i is 0.
    is_moved : bool
        Whether β is outside of the space of all γ∘x, so that it acts as a bias.
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
            If γ or β have another length, or there is only one token behind the norm, as for γ = 0.
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
        # Where a coordinate does not occur, the others have no relation.
        on_hyperplane = norm is not None and norm.kind == "layer" and len(active) == width
        # The dimension of the space of all γ∘x; if it is 0, β is the only token.
        dimension = len(active) - (1 if on_hyperplane else 0)
        if dimension <= 0:
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
        """Return the first columns of the matrix W·diag(γ) on a basis of the space of all γ∘x,
        modulo the prime; ``matrix`` is W.
        """
        return self._on_basis(matrix, columns, modular, LARGE_PRIME)

    def exact(self, matrix: Any, columns: int) -> Any:
        """Return the first columns of the matrix W·diag(γ) on a basis of the space of all γ∘x, as
        fractions; ``matrix`` is W.
        """
        return self._on_basis(matrix, columns, as_fractions, prime=None)

    def _on_basis(self, matrix: Any, columns: int, convert: Any, prime: int | None) -> Any:
        """Return the first columns of W·diag(γ), for the matrix W, on the basis of all e_i with
        γ_i ≠ 0, or, on the hyperplane Σx_i = 0, on the basis e_i − e_d for i < d.

        ``convert`` takes entries to residues modulo the prime, or to fractions if ``prime`` is
        ``None``.
        """
        chosen = self.active[:columns]
        found = self._scaled(matrix, chosen, convert, prime)
        if self.on_hyperplane:
            # On the hyperplane all coordinates are active, and the last one is d.
            found = found - self._scaled(matrix, self.active[-1:], convert, prime)
        return found if prime is None else found % prime

    def _scaled(self, matrix: Any, chosen: Any, convert: Any, prime: int | None) -> Any:
        """Return those columns of W·diag(γ), for the matrix W, whose indices are ``chosen``.

        ``convert`` takes entries to residues modulo the prime, or to fractions if ``prime`` is
        ``None``.
        """
        found = convert(matrix[:, chosen])
        if self.gamma is not None:
            found = found * convert(self.gamma[chosen])
        return found if prime is None else found % prime

    def constant(self, matrix: Any, bias: Any, convert: Any, prime: int | None) -> Any:
        """Return the vector Wβ + b for the matrix W and its bias b. A bias that is ``None`` counts
        as 0, and so does β.

        ``convert`` takes entries to residues modulo the prime, or to fractions if ``prime`` is
        ``None``.
        """
        found = convert(numpy.zeros(matrix.shape[0]))
        if self.beta is not None:
            products = convert(matrix) * convert(self.beta)
            if prime is not None:
                products = products % prime
            found = found + products.sum(axis=1)
        if bias is not None:
            found = found + convert(bias)
        return found if prime is None else found % prime

    def numeric(self, matrix: Any, bias: Any, with_constant: bool) -> tuple[Any, float]:
        """Return W·diag(γ), for the matrix W, on an orthonormal basis of the space of tokens x,
        in floating point, and a bound for the norm of its error.

        Behind a LayerNorm this space is the hyperplane Σx_i = 0, else it is all of ℝ^d.
        With ``with_constant`` there is one more column Wβ + b, for the bias b of W; ``None`` is 0.

        Raises
        ------
        InvalidCaseError
            If an entry, or a product, is beyond double precision.
        """
        W = _floats(matrix)
        gamma = numpy.ones(self.width) if self.gamma is None else _floats(self.gamma)
        scaled = W * gamma
        # The sum of the norms of all that is added: rounding errors are a small part of it.
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
        # Each of the d terms of an entry is rounded a few times, by 2^−52 of its size.
        error = _ROUNDINGS * sqrt(self.width) * 2.0**-52 * size
        return found, error


def _is_moved(gamma: Any, beta: Any, active: Any, on_hyperplane: bool) -> bool:
    """Return whether β is outside of the space of all γ∘x.

    ``active`` are the indices with γ_i ≠ 0. With x on the hyperplane Σx_i = 0, ``on_hyperplane``, β
    is in that space if and only if Σβ_i/γ_i = 0, which a residue that is not 0 disproves at once.
    γ = ``None`` stands for 1, and β = ``None`` for 0.
    """
    if beta is None:
        return False
    # β is of the form γ∘x if it is 0 wherever γ is.
    if not on_hyperplane:
        return bool(numpy.delete(beta, active).any())
    if gamma is not None:
        quotients = zip(modular(beta).tolist(), modular(gamma).tolist(), strict=True)
        try:
            total = sum(b * pow(g, -1, LARGE_PRIME) for b, g in quotients)
        except ValueError:
            # Some γ_i is divisible by the prime, which then shows nothing.
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
    """A matrix W, with its bias b, on the coordinates of tokens: (W·diag(γ) on a basis | Wβ + b),
    of which entries are computed, exactly, when they are asked for.

    It has what the ranks need of an array: shape, transposition, and its first columns.

    Parameters
    ----------
    matrix : array
        W, as it is in the file.
    bias : array or None
        b; ``None`` stands for 0.
    tokens : Tokens
        The tokens on which W acts, with γ and β.
    rows, columns : int
        So many first rows and columns are taken of the matrix that is not transposed. The column
        Wβ + b is there only if ``columns`` is larger than the dimension of the space of tokens.
    is_transposed : bool
        Whether this object is the transposed matrix: ``rows`` are its columns then.
    """

    matrix: Any
    bias: Any
    tokens: Tokens
    rows: int
    columns: int
    is_transposed: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns, of the transposed matrix if this is one."""
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
        """Return the first columns: only keys ``[:, :n]`` are understood."""
        _, columns = key
        # The columns of the transposed matrix are the rows of the other.
        if self.is_transposed:
            return replace(self, rows=min(self.rows, columns.stop))
        return replace(self, columns=min(self.columns, columns.stop))

    def modular(self) -> Any:
        """Return the entries modulo the prime."""
        return self._entries(modular, LARGE_PRIME)

    def exact(self) -> Any:
        """Return the entries as fractions."""
        return self._entries(as_fractions, prime=None)

    def _entries(self, convert: Any, prime: int | None) -> Any:
        """Return the array of all entries: W·diag(γ) on the basis of the tokens, and Wβ + b as the
        last column if ``columns`` is so large; transposed if this is the transposed matrix.

        ``convert`` takes entries of W to residues modulo ``prime``, or to fractions where that is
        ``None``.
        """
        matrix = self.matrix[: self.rows]
        bias = None if self.bias is None else self.bias[: self.rows]
        linear = min(self.columns, self.tokens.linear)
        if prime is None:
            found = self.tokens.exact(matrix, linear)
        else:
            found = self.tokens.modular(matrix, linear)
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
        Those of the head in the file: two numbers from 1 on, and the type of its entries.
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
                rows, columns = matrix.shape
                found[letter], errors[letter] = _round_on_both_sides(
                    self.given["A"],
                    self.tokens,
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
    tokens = Tokens.of(head.matrices["V"].shape[1], before, biases)
    # The matrices that act on the coordinate 1 of tokens (x, 1): in lightning attention all, where
    # a missing bias is a zero one; in softmax attention the bias of K does nothing, and that of V
    # is a part of the constant.
    with_one: set[str] = set()
    if not softmax and (counted_biases or tokens.is_moved):
        with_one = set("KQV")
    elif softmax and ("Q" in counted_biases or tokens.is_moved):
        with_one = {"Q"}
    adds_constant = softmax and ("V" in counted_biases or tokens.is_moved)
    matrices = {}
    for letter, matrix in head.matrices.items():
        if letter == "A":
            # The columns of A = KᵀQ are those of Q, and its rows are the columns of K.
            on_queries = _on_tokens(matrix, tokens, has_constant="Q" in with_one)
            on_both = _on_tokens(on_queries.T, tokens, has_constant="K" in with_one).T
            matrices[letter] = on_both
        elif letter == "O":
            matrices[letter] = matrix
        else:
            # The constant Wβ + b is one more column, for matrices that act on the coordinate 1.
            columns = tokens.linear + (1 if letter in with_one else 0)
            bias = counted_biases.get(letter)
            matrices[letter] = LazyProduct(
                matrix=matrix, bias=bias, tokens=tokens, rows=matrix.shape[0], columns=columns
            )
    unseen: list[UnseenColumns] = []
    for letter in "KQV":
        # In lightning attention all three matrices have biases if one has.
        has_bias = letter in counted_biases if softmax else bool(counted_biases)
        unseen += _unseen_columns(
            letter, tokens, has_bias=has_bias, has_constant=letter in with_one, softmax=softmax
        )
    has_one = bool(with_one)
    coordinates = TokenSpace(
        width=tokens.width,
        dimension=tokens.linear + (has_one or adds_constant),
        queries=tokens.linear + ("Q" in with_one),
        unseen=tuple(unseen),
        constants=int(adds_constant),
        has_one=has_one,
        has_norm=before is not None,
    )
    return replace(as_stored, matrices=matrices, tokens=tokens, coordinates=coordinates)


def _on_tokens(matrix: Any, tokens: Tokens, *, has_constant: bool) -> Any:
    """Return a matrix W without bias on the coordinates of tokens, W·diag(γ) on their basis, as
    fractions; with ``has_constant`` Wβ is one more column at the end.
    """
    found = tokens.exact(matrix, tokens.linear)
    if not has_constant:
        return found
    constant = tokens.constant(matrix, bias=None, convert=as_fractions, prime=None)
    return numpy.column_stack([found, constant])


def _round_on_both_sides(
    A: Any, tokens: Tokens, *, rows_have_constant: bool, columns_have_constant: bool
) -> tuple[Any, float]:
    """Return a given A of the scores xᵀAy on an orthonormal basis for the tokens x, which are its
    rows, and for the tokens y, its columns; rounded, and with a bound for the norm of its error.

    ``rows_have_constant`` and ``columns_have_constant`` say whether there is a row, and a column,
    for the coordinate 1.
    """
    on_columns, first_error = tokens.numeric(A, bias=None, with_constant=columns_have_constant)
    on_both, second_error = tokens.numeric(
        on_columns.T, bias=None, with_constant=rows_have_constant
    )
    # The second step multiplies the first error by diag(γ), and by β for the constant.
    bound_of_factor = 1.0
    if tokens.gamma is not None:
        bound_of_factor = float(abs(_floats(tokens.gamma)).max())
    if tokens.beta is not None:
        bound_of_factor += float(numpy.linalg.norm(_floats(tokens.beta)))
    return on_both.T, first_error * bound_of_factor + second_error


def _unseen_columns(
    letter: str, tokens: Tokens, *, has_bias: bool, has_constant: bool, softmax: bool
) -> Iterator[UnseenColumns]:
    """Yield how many columns of (W | b), for the matrix W with this letter and its bias b, do not
    change the function of a head, by the names of symmetries.

    ``has_bias`` is whether W has a bias, and ``has_constant`` whether W acts on the coordinate 1.
    For example, K with a bias in softmax attention without a norm has one such column, its bias,
    under the name :data:`KEY_BIAS`.
    """
    # The columns of (W | b), less the coordinates on which it acts: as many as the space of all γ∘x
    # has dimensions, ``tokens.linear``, and perhaps the coordinate 1.
    hidden = tokens.width + has_bias - tokens.linear - has_constant
    # Softmax does not change if the same number is added to all scores of a column, as a bias of K
    # does; and a bias of V, or Vβ, goes with the constant of the whole layer.
    if softmax and has_bias and letter == "K":
        yield UnseenColumns(letter, name=KEY_BIAS, columns=1)
        hidden -= 1
    if softmax and letter == "V" and (has_bias or tokens.is_moved):
        yield UnseenColumns(letter, name=IN_CONSTANT, columns=1)
        hidden -= 1
    # The other columns are hidden by the norm. On the hyperplane Σx_i = 0 behind a LayerNorm, sums
    # of (1, …, 1) with rows of W·diag(γ) change nothing; else columns where γ is 0 do not.
    if hidden and tokens.on_hyperplane:
        vector = "u" if letter == "V" else "w"
        name = f"{letter} + {vector}·1ᵀ behind LayerNorm, after γ"
        yield UnseenColumns(letter, name=name, columns=hidden)
    elif hidden:
        yield UnseenColumns(letter, name=f"columns of {letter} where γ is 0", columns=hidden)


KEY_BIAS = "the bias of K does nothing in softmax attention"
"""The name of directions of a head with softmax; rotary positions let them be seen."""
IN_CONSTANT = "the bias of V, which is seen in the constant of the layer only"
"""The name of directions of a head with softmax; the layer sees some of them again."""
