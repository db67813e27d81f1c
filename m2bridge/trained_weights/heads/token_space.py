"""Heads on the coordinates of the tokens that they see: a bias is one more, LayerNorm one less.

W is any of the matrices K, Q, V of a head, and b its bias; matrices are in dicts by the letters K,
Q, A, V and O. γ and β are the factors and the shift of a norm before the layer, ∘ is the product
entry by entry; γ = ``None`` stands for 1, and β or b = ``None`` for 0.

(W | b) acts on the token (x, 1). Behind a norm, tokens are γ∘x + β: so W acts as W·diag(γ), with
the *constant* Wβ + b, one more column of W, by which it acts on the coordinate 1. Behind a
LayerNorm, x has the sum zero, any direction and any length up to √d, as a small number is added to
the variance: x is on the hyperplane Σx_i = 0. *The basis* is a basis of the space of all γ∘x:
exactly it is e_i − e_d on the hyperplane, which is rational; numerically it is orthonormal. A
coordinate with γ_i = 0 does not occur, and then the others have no relation.

Not all of (W | b) is seen. Behind a LayerNorm (1, …, 1) can be added to rows; softmax does not see
the bias of K, which adds the same number to all scores of a column; and as its weights of tokens
have the sum 1, a bias of V, or Vβ, is a constant that the layer adds, not a coordinate of tokens.
In lightning attention K, Q and V act on the coordinate 1 if one of them has a bias. Where only some
have one, the columns of the others are 0 there, and are no parameters: the functions are fewer, and
``keys``, ``queries`` and ``values`` count the columns of K, Q and V that are free. A β in the space
of all γ∘x moves the origin alone: then these are the columns on tokens less β. Proofs are in
``docs/weights-mathematics.md``.

Entries are computed exactly: residues modulo ``prime``, or fractions where it is ``None``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, ldexp, sqrt, ulp
from typing import Any, NamedTuple, Self

import numpy

from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.arrays import as_fractions, modular
from m2bridge.trained_weights.checkpoints.norms import Norm, is_before
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays

KEY_BIAS = "the bias of K does nothing in softmax attention"
"""The name of redundant directions; rotary positions let them be seen."""
IN_CONSTANT = "the bias of V, which is seen in the constant of the layer only"
"""The name of redundant directions; the layer sees some of them again."""


class UnseenColumns(NamedTuple):
    """Columns of (W | b) that do not change the function of the head."""

    letter: str  # of W
    name: str  # of the symmetry
    columns: int


@dataclass(frozen=True, slots=True)
class TokenSpace:
    """The numbers of the coordinates of tokens that the matrices of a head see."""

    width: int  # d, the number of entries of tokens as they are given
    dimension: int  # of the space of tokens that are seen, with 1 for biases
    # The coordinates that K, Q and V see, freely: one more where they have a bias. In softmax
    # attention the bias of K does nothing, and the bias of V is a constant.
    keys: int
    queries: int
    values: int
    unseen: tuple[UnseenColumns, ...]
    adds_constant: bool  # whether values add a constant that is no coordinate: softmax alone
    has_one: bool  # whether the last coordinate is 1, for biases
    has_norm: bool = False  # then tokens have at most the norm √d

    @property
    def words(self) -> str:
        """The dimension of tokens, and why it differs from d."""
        return f"of dimension {self.dimension}, with biases and norms counted; d = {self.width}"


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The tokens γ∘x + β on which the matrices K, Q, V of a layer act."""

    width: int  # d
    norm: Norm | None
    gamma: Any
    beta: Any
    active: Any  # the indices i, from 0 on, with γ_i ≠ 0
    on_hyperplane: bool  # whether Σx_i = 0: behind a LayerNorm in which no γ_i is 0
    is_moved: bool  # whether β is outside of the space of all γ∘x, so that it acts as a bias

    @classmethod
    def of(cls, width: int, norm: Norm | None, biases: bool) -> Self:
        """Return the tokens behind a norm; without ``biases`` its β is left out.

        InvalidCaseError if γ or β has another length, or there is one token only behind the norm.
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
        active = numpy.arange(width) if gamma is None else numpy.flatnonzero(gamma)
        on_hyperplane = norm is not None and norm.kind == "layer" and len(active) == width
        if norm is not None and len(active) == 0:
            raise InvalidCaseError(
                "norm",
                f"γ in '{visible(norm.name):.120}' is 0, so that all tokens are equal behind this"
                " norm; if it multiplies by 1 + γ, as in Gemma and Nemotron, say rms1 or layer1",
            )
        if len(active) <= on_hyperplane:  # the space of all γ∘x is 0, and β the only token
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

    def on_basis(self, W: Any, columns: int, prime: int | None) -> Any:
        """Return the first columns of W·diag(γ) on the basis."""
        found = self._scaled(W, self.active[:columns], prime)
        if self.on_hyperplane:
            # The basis is e_i − e_d: all coordinates are active, and the last one is d.
            found = found - self._scaled(W, self.active[-1:], prime)
        return _reduced(found, prime)

    def _scaled(self, W: Any, chosen: Any, prime: int | None) -> Any:
        """Return those columns of W·diag(γ) whose indices are ``chosen``."""
        found = _exact(W[:, chosen], prime)
        if self.gamma is not None:
            found = found * _exact(self.gamma[chosen], prime)
        return _reduced(found, prime)

    def constant(self, W: Any, bias: Any, prime: int | None) -> Any:
        """Return the vector Wβ + b."""
        found = _exact(numpy.zeros(W.shape[0]), prime)
        if self.beta is not None:
            products = _exact(W, prime) * _exact(self.beta, prime)
            found = found + _reduced(products, prime).sum(axis=1)
        if bias is not None:
            found = found + _exact(bias, prime)
        return _reduced(found, prime)

    def numeric(self, matrix: Any, bias: Any, with_constant: bool) -> tuple[Any, float]:
        """Return W·diag(γ) on an orthonormal basis of the space of tokens x, in floating point, and
        a bound for the norm of its error; ``with_constant`` adds the column Wβ + b.

        Behind a LayerNorm the space is the hyperplane Σx_i = 0, whatever γ is, else it is all of
        ℝ^d. InvalidCaseError if an entry, or a product, is beyond double precision.
        """
        W = _floats(matrix)
        gamma = numpy.ones(self.width) if self.gamma is None else _floats(self.gamma)
        # What is beyond double precision is refused below, without the warnings of NumPy.
        with numpy.errstate(over="ignore", invalid="ignore"):
            scaled = W * gamma
            found = scaled
            if self.norm is not None and self.norm.kind == "layer":
                found = _restricted_to_hyperplane(scaled)
            # The sum of the norms of all that is added: rounding errors are a small part of it.
            size = _norm(scaled)
            if with_constant:
                constant = numpy.zeros(len(W))
                if self.beta is not None:
                    beta = _floats(self.beta)
                    constant = constant + W @ beta
                    size += _norm(W) * _norm(beta)
                if bias is not None:
                    constant = constant + _floats(bias)
                found = numpy.column_stack([found, constant])
                size += _norm(constant)
        if not numpy.isfinite(found).all():
            raise InvalidCaseError("weights", "products with the norm are beyond double precision")
        has_bias = with_constant and bias is not None and bias.any()
        if not (matrix.any() or has_bias):
            return found, 0.0  # zeros
        # Each of the d terms of an entry is rounded a few times, by 2^−52 of its size, or by the
        # least positive number where it is nearly 0.
        rounding = 2.0**-52 * size + sqrt(found.size) * ulp(0.0)
        return found, 4 * sqrt(self.width) * rounding

    def in_all_coordinates(self, vectors: Any) -> Any:
        """Return vectors on the orthonormal basis of :meth:`numeric`, the columns of a matrix, with
        all d coordinates of tokens, and the coordinate 1 as the last one if they have it.
        """
        if self.norm is None or self.norm.kind != "layer":
            return vectors
        on_hyperplane, constants = vectors[: self.width - 1], vectors[self.width - 1 :]
        zeros = numpy.zeros((1, vectors.shape[1]))
        # The reflection is its own inverse: it takes the span of all axes but the last one back.
        return numpy.vstack([_reflected(numpy.vstack([on_hyperplane, zeros]).T).T, constants])

    def numeric_on_both_sides(
        self, A: Any, *, rows_have_constant: bool, columns_have_constant: bool
    ) -> tuple[Any, float]:
        """Return the matrix A of the scores xᵀAy on an orthonormal basis of the tokens x and of the
        tokens y, with a row and a column for the constants, and a bound for the norm of its error.
        """
        on_columns, first_error = self.numeric(A, bias=None, with_constant=columns_have_constant)
        on_both, second_error = self.numeric(
            on_columns.T, bias=None, with_constant=rows_have_constant
        )
        # The second step multiplies the first error by diag(γ), and by β for the constant.
        bound_of_factor = 1.0
        if self.gamma is not None:
            bound_of_factor = float(abs(_floats(self.gamma)).max())
        if self.beta is not None:
            bound_of_factor += _norm(_floats(self.beta))
        error = first_error * bound_of_factor + second_error
        # The product of two positive numbers may be 0 in floating point.
        if first_error > 0:
            error = max(error, ulp(0.0))
        return on_both.T, error


def _exact(array: Any, prime: int | None) -> Any:
    """Return the entries as fractions, or modulo the prime."""
    return as_fractions(array) if prime is None else modular(array)


def _reduced(entries: Any, prime: int | None) -> Any:
    """Return sums or products of exact entries modulo the prime, if there is one."""
    return entries if prime is None else entries % prime


def _is_moved(gamma: Any, beta: Any, active: Any, on_hyperplane: bool) -> bool:
    """Return whether β is outside of the space of all γ∘x: on the hyperplane Σx_i = 0, if Σβ_i/γ_i
    is not 0; else, if β_i is not 0 for some γ_i = 0.
    """
    if beta is None:
        return False
    if not on_hyperplane:
        return bool(numpy.delete(beta, active).any())
    if gamma is None:
        return bool(sum(as_fractions(beta), Fraction(0)))
    # A residue that is not 0 disproves it at once; fractions are slow.
    divisors = (modular(gamma) % LARGE_PRIME).tolist()
    if all(divisors):
        residue = 0
        for b, g in zip(modular(beta).tolist(), divisors, strict=True):
            residue += b * pow(g, -1, LARGE_PRIME)
        if residue % LARGE_PRIME:
            return True
    quotients = as_fractions(beta) / as_fractions(gamma)
    return bool(sum(quotients, Fraction(0)))


def _restricted_to_hyperplane(forms: Any) -> Any:
    """Return linear forms on ℝ^d, the rows of a matrix, on an orthonormal basis of Σx_i = 0."""
    return _reflected(forms)[:, :-1]


def _reflected(rows: Any) -> Any:
    """Return vectors, the rows of a matrix, in the mirror that exchanges the lines of (1, …, 1) and
    of the last axis, and so the hyperplane Σx_i = 0 and the span of the other axes: the images of
    these axes are an orthonormal basis of it.
    """
    d = rows.shape[1]
    u = numpy.full(d, 1 / sqrt(d))
    u[-1] += 1
    # The reflection is 1 − 2uuᵀ/uᵀu.
    reflected: Any = rows - numpy.outer(rows @ u, u) * (2 / (u @ u))
    return reflected


def _norm(array: Any) -> float:
    """Return the norm of Frobenius; infinite if it is beyond double precision."""
    # Entries are divided by a power of two, so that their squares are not beyond it, nor all 0.
    exponent = int(numpy.frexp(abs(array).max())[1])
    norm_of_scaled = float(numpy.linalg.norm(numpy.ldexp(array, -exponent)))
    try:
        return ldexp(norm_of_scaled, exponent)
    except OverflowError:
        return inf


def _floats(array: Any) -> Any:
    """Return an array in double precision; InvalidCaseError if an entry is beyond it."""
    try:
        return array.astype(float)
    except OverflowError:
        raise InvalidCaseError("weights", "an entry is beyond double precision") from None


@dataclass(frozen=True, slots=True, eq=False)
class LazyProduct:
    """The matrix (W·diag(γ) on the basis | Wβ + b), of which entries are computed, exactly, when
    they are asked for.

    It has what the ranks need of an array: shape, transposition, and its first columns. ``rows``
    and ``columns`` are counted before it is transposed; the column Wβ + b is there only if
    ``columns`` is larger than the dimension of the space of tokens.
    """

    matrix: Any  # W, as it is in the file
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
        """Return the first columns: only keys ``[:, :n]`` are understood."""
        _, columns = key
        if self.is_transposed:
            return replace(self, rows=min(self.rows, columns.stop))
        return replace(self, columns=min(self.columns, columns.stop))

    def entries(self, prime: int | None) -> Any:
        """Return the array of all entries."""
        W = self.matrix[: self.rows]
        linear = min(self.columns, self.tokens.linear)
        found = self.tokens.on_basis(W, linear, prime)
        if self.columns > linear:
            bias = None if self.bias is None else self.bias[: self.rows]
            found = numpy.column_stack([found, self.tokens.constant(W, bias, prime)])
        return found.T if self.is_transposed else found


@dataclass(frozen=True, slots=True, eq=False)
class ReducedHead:
    """A head of the file with its matrices on the coordinates of its tokens.

    With biases or a norm K, Q and V are :class:`LazyProduct`, and A is an array of fractions;
    without, matrices are the arrays of the file, and tokens and coordinates are ``None``.
    """

    arrays: HeadArrays
    matrices: Mapping[str, Any]
    tokens: Tokens | None = None
    coordinates: TokenSpace | None = None

    def rounded(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Return the matrices on orthonormal bases of the spaces of tokens, in floating point, and
        bounds for the norms of their errors; arrays of the file have no error, and no bound.
        """
        found, errors = dict(self.arrays.matrices), {}
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
                    found["A"],
                    rows_have_constant=rows > self.tokens.linear,
                    columns_have_constant=columns > self.tokens.linear,
                )
        return found, errors


def norm_before(head: HeadArrays, norm: str | None) -> Norm | None:
    """Return the norm before the layer of a head, if there is one: of the file, or of the
    option ``norm``, ``layer``, ``rms`` or ``none``; ``None`` is no option.
    """
    in_file = head.norm
    kind: Any = norm
    if in_file is None and norm in ("layer", "rms"):
        return Norm(kind=kind, gamma=None, beta=None, name="", place="pre")
    # The norm of the file may stand after the layer, or the option may leave it out.
    if in_file is None or not is_before(in_file.name, in_file.place, norm):
        return None
    return replace(in_file, place="pre", kind=in_file.kind if norm is None else kind)


def reduce_head(head: HeadArrays, softmax: bool, biases: bool, norm: str | None) -> ReducedHead:
    """Return a head on the coordinates of its tokens; ``biases`` is whether they count, and
    ``norm`` the option.
    """
    counted = head.biases if biases else {}
    before = norm_before(head, norm)
    if before is None and not counted:
        return ReducedHead(head, head.matrices)
    tokens = Tokens.of(head.matrices["V"].shape[1], before, biases)
    # The letters of the matrices that have a bias, and that act on the coordinate 1 of tokens.
    with_bias = "".join(counted)
    acting_on_one = "Q" if "Q" in counted or tokens.is_moved else ""
    free_on_one = acting_on_one
    adds_constant = softmax and ("V" in counted or tokens.is_moved)
    if not softmax:
        acting_on_one = "KQV" if counted or tokens.is_moved else ""
        # Where β acts as a bias, Wβ is free for every W.
        free_on_one = "KQV" if tokens.is_moved else with_bias

    def on_tokens(letter: str, W: Any, bias: Any = None) -> LazyProduct:
        """Return W on the coordinates that the matrix with this letter sees."""
        columns = tokens.linear + (letter in acting_on_one)
        return LazyProduct(matrix=W, bias=bias, tokens=tokens, rows=W.shape[0], columns=columns)

    matrices = dict(head.matrices)  # O acts on values, and not on tokens
    for letter, W in head.matrices.items():
        if letter in "KQV":
            matrices[letter] = on_tokens(letter, W, counted.get(letter))
        elif letter == "A":
            # Its columns are columns of Q, and its rows are the columns of K.
            on_queries = on_tokens("Q", W).entries(prime=None)
            matrices["A"] = on_tokens("K", on_queries.T).entries(prime=None).T
    unseen = _unseen_columns(tokens, with_bias, free_on_one, softmax=softmax)
    has_one = bool(acting_on_one)
    coordinates = TokenSpace(
        width=tokens.width,
        dimension=tokens.linear + (has_one or adds_constant),
        keys=tokens.linear + ("K" in free_on_one),
        queries=tokens.linear + ("Q" in free_on_one),
        values=tokens.linear + ("V" in free_on_one),
        unseen=tuple(unseen),
        adds_constant=adds_constant,
        has_one=has_one,
        has_norm=before is not None,
    )
    return ReducedHead(head, matrices, tokens, coordinates)


def _unseen_columns(
    tokens: Tokens, with_bias: str, free_on_one: str, *, softmax: bool
) -> Iterator[UnseenColumns]:
    """Yield the columns of (W | b), for W = K, Q and V, that do not change the function, by the
    names of symmetries.
    """
    for letter in "KQV":
        has_bias = letter in with_bias
        hidden = tokens.width + has_bias - tokens.linear - (letter in free_on_one)
        if softmax and letter == "K" and has_bias:
            yield UnseenColumns(letter, name=KEY_BIAS, columns=1)
            hidden -= 1
        if softmax and letter == "V" and (has_bias or tokens.is_moved):
            yield UnseenColumns(letter, name=IN_CONSTANT, columns=1)
            hidden -= 1
        # The others are hidden by the norm. On the hyperplane Σx_i = 0 behind a LayerNorm, sums of
        # (1, …, 1) with rows of W·diag(γ) change nothing; else columns where γ is 0 do not.
        if hidden and tokens.on_hyperplane:
            vector = "u" if letter == "V" else "w"
            name = f"{letter} + {vector}·1ᵀ behind LayerNorm, after γ"
            yield UnseenColumns(letter, name=name, columns=hidden)
        elif hidden:
            name = f"columns of {letter} where γ is 0"
            yield UnseenColumns(letter, name=name, columns=hidden)
