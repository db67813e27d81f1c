"""The coordinates of the tokens that a layer sees: a bias is one more, LayerNorm one less.

W is any of the matrices K, Q, V of a head, and b its bias. γ and β are the factors and the shift of
a norm before the layer, ∘ is the product entry by entry. *The constant* of W is Wβ + b, which W
adds whatever the token is: one more column of W, by which it acts on the coordinate 1 of tokens
(x, 1). *The basis* is that of the space of all γ∘x. Functions that compute exactly take
``convert``, which takes an array to residues modulo ``prime``, or to fractions where ``prime`` is
``None``.

(K | b) acts on the token (x, 1). Behind LayerNorm, tokens are γ∘x + β with x of sum zero, in any
direction and of any length up to √d, as a small number is added to the variance: so K acts as
K·diag(γ) on the hyperplane Σx_i = 0, with the bias Kβ + b. Exactly, the basis of the hyperplane is
e_i − e_d, which is rational; numerically it is orthonormal. A coordinate with γ_i = 0 does not
occur, and then the others have no relation. Proofs are in ``docs/weights-mathematics.md``. Heads on
these coordinates are in ``reduced_head``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, ldexp, sqrt, ulp
from typing import Any, NamedTuple, Self

import numpy

from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.arrays import as_fractions, modular
from m2bridge.trained_weights.checkpoints.norms import Norm

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
        The dimension of the space of tokens that are seen, plus 1 if there are biases or β acts as
        one.
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
        The indices i, from 0 on, with γ_i ≠ 0.
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
        _check_entries("γ", gamma, width)
        _check_entries("β", beta, width)
        active = numpy.arange(width)
        if gamma is not None:
            active = numpy.flatnonzero(gamma)
        # Where a coordinate does not occur, the others have no relation.
        on_hyperplane = norm is not None and norm.kind == "layer" and len(active) == width
        # The dimension of the space of all γ∘x; if it is 0, β is the only token.
        dimension = len(active) - (1 if on_hyperplane else 0)
        if norm is not None and len(active) == 0:
            raise InvalidCaseError(
                "norm",
                f"γ in '{visible(norm.name):.120}' is 0, so that all tokens are equal behind this"
                " norm; if it multiplies by 1 + γ, as in Gemma and Nemotron, say rms1 or layer1",
            )
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
        """Return the first ``columns`` columns of the matrix W·diag(γ) on a basis of the space of
        all γ∘x, modulo the prime; ``matrix`` is W.
        """
        return self._on_basis(matrix, columns, modular, LARGE_PRIME)

    def exact(self, matrix: Any, columns: int) -> Any:
        """Return the first ``columns`` columns of the matrix W·diag(γ) on a basis of the space of
        all γ∘x, as fractions; ``matrix`` is W.
        """
        return self._on_basis(matrix, columns, as_fractions, prime=None)

    def _on_basis(self, matrix: Any, columns: int, convert: Any, prime: int | None) -> Any:
        """Return the first ``columns`` columns of W·diag(γ), for the matrix W, on the basis of all
        e_i with γ_i ≠ 0, or, on the hyperplane Σx_i = 0, on the basis e_i − e_d for i < d.

        ``columns`` is at most the number of vectors of the basis. ``convert`` takes entries to
        residues modulo the prime, or to fractions if ``prime`` is ``None``.
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
        # What is beyond double precision is refused below, without the warnings of NumPy.
        with numpy.errstate(over="ignore", invalid="ignore"):
            scaled = W * gamma
            found = scaled
            if self.norm is not None and self.norm.kind == "layer":
                found = _restricted_to_hyperplane(scaled)
            # The sum of the norms of all that is added: rounding errors are a small part of it.
            size = _norm(scaled)
            if with_constant:
                constant = self._rounded_constant(W, bias)
                found = numpy.column_stack([found, constant])
                if self.beta is not None:
                    size += _norm(W) * _norm(_floats(self.beta))
                size += _norm(constant)
        if not numpy.isfinite(found).all():
            raise InvalidCaseError("weights", "products with the norm are beyond double precision")
        has_bias = with_constant and bias is not None and bias.any()
        if not (matrix.any() or has_bias):
            return found, 0.0  # zeros
        # Each of the d terms of an entry is rounded a few times, by 2^−52 of its size, or by the
        # least positive number where it is nearly 0.
        rounding = 2.0**-52 * size + sqrt(found.size) * ulp(0.0)
        return found, _ROUNDINGS * sqrt(self.width) * rounding

    def _rounded_constant(self, W: Any, bias: Any) -> Any:
        """Return the vector Wβ + b in floating point, for the matrix W in double precision and its
        bias b. A bias that is ``None`` counts as 0, and so does β.
        """
        constant = numpy.zeros(len(W))
        if self.beta is not None:
            constant = constant + W @ _floats(self.beta)
        if bias is not None:
            constant = constant + _floats(bias)
        return constant

    def numeric_on_both_sides(
        self, A: Any, *, rows_have_constant: bool, columns_have_constant: bool
    ) -> tuple[Any, float]:
        """Return the matrix A of the scores xᵀAy on an orthonormal basis of the space of tokens, on
        the side of x, its rows, and on that of y, its columns; in floating point, and with a bound
        for the norm of its error.

        ``rows_have_constant`` and ``columns_have_constant`` say whether there is a row, and a
        column, for the coordinate 1.
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


def _check_entries(name: str, array: Any, width: int) -> None:
    """Raise an InvalidCaseError if an array of a norm, γ or β by its ``name``, does not have
    ``width`` entries, as tokens have; ``None`` stands for an array that the norm does not have.
    """
    if array is not None and array.shape != (width,):
        size = " × ".join(map(str, array.shape))
        raise InvalidCaseError(
            "norm", f"{name} of the norm has {size} entries, tokens have {width}"
        )


def _restricted_to_hyperplane(forms: Any) -> Any:
    """Return linear forms on ℝ^d, the rows of an n × d matrix, on an orthonormal basis of the
    hyperplane Σx_i = 0, as an n × (d − 1) matrix in floating point.
    """
    d = forms.shape[1]
    # The reflection that takes (1, …, 1) to the last axis takes the hyperplane to the span of the
    # other axes: their images are an orthonormal basis. It is 1 − 2uuᵀ/uᵀu.
    u = numpy.full(d, 1 / sqrt(d))
    u[-1] += 1
    reflected = forms - numpy.outer(forms @ u, u) * (2 / (u @ u))
    return reflected[:, :-1]


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
    if gamma is None:
        return bool(sum(as_fractions(beta), Fraction(0)))
    # Fractions are slow, and needed only if the prime shows nothing: for ``None`` and for 0.
    if _sum_of_quotients_mod(beta, gamma):
        return True
    quotients = as_fractions(beta) / as_fractions(gamma)
    return bool(sum(quotients, Fraction(0)))


def _sum_of_quotients_mod(beta: Any, gamma: Any) -> int | None:
    """Return Σβ_i/γ_i modulo the prime; ``None`` if the prime divides some γ_i."""
    total = 0
    for b, g in zip(modular(beta).tolist(), modular(gamma).tolist(), strict=True):
        if g % LARGE_PRIME == 0:
            return None
        total += b * pow(g, -1, LARGE_PRIME)
    return total % LARGE_PRIME


def _norm(array: Any) -> float:
    """Return the norm of Frobenius of an array in double precision, or of a vector; infinite if it
    is beyond double precision.
    """
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
        How many first rows and columns are taken of the matrix that is not transposed. The column
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
        last column if ``columns`` exceeds the dimension of the space of tokens; transposed if this
        is the transposed matrix.

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
