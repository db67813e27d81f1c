"""The decision boundary of a layer with a readout, over floats and over balls.

With heads A_h = K_hᵀQ_h and V_h, a readout R and a bias b, the boundary is g = 0 for

    g(X) = Σ_h tr(B_hᵀ X Xᵀ A_h X) + ⟨S, X⟩ + b,        B_h = (O_h V_h)ᵀR,

where S = R with a skip connection, and 0 without. The columns of Γ (t×r) are an orthonormal basis
of the space of the rows of R; so B_h = β_h Γᵀ and S = ω Γᵀ with β_h = B_hΓ and ω = SΓ.

*Units.* Floats overflow where weights or inputs are of size 1e150. So ``BoundaryProblem``, which is
what was given, is computed with in units that are powers of two and change no digit: X = 2^e X' and
g = 2^f g'. ``Boundary`` is in these units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import frexp

import flint
import numpy

from m2bridge.decision_boundary.balls import (
    AnyMatrix,
    AnyNumber,
    BallMatrix,
    Floats,
    columns,
    inner,
    root,
    stacked,
)

OF_ZERO = -10_000
"""The exponent of zero: less than every float has."""

Scaled = Callable[[Floats, int], AnyMatrix]
"""An array times a power of two, as floats or as balls."""


@dataclass(frozen=True, slots=True)
class Head:
    """One head in the boundary: A = KᵀQ, and the columns of β."""

    K: AnyMatrix  # a×d
    Q: AnyMatrix  # a×d
    beta: AnyMatrix  # d×r


@dataclass(frozen=True, slots=True)
class Boundary:
    """The function g and the input U, by matrices of floats or of balls."""

    heads: tuple[Head, ...]
    gamma: AnyMatrix  # t×r, with orthonormal columns
    omega: AnyMatrix | None  # d×r; None without skip connection
    bias: AnyNumber
    U: AnyMatrix  # d×t

    def value(self, X: AnyMatrix) -> AnyNumber:
        """g(X)."""
        y = X @ self.gamma
        value = self.bias
        for head in self.heads:
            value = value + inner((head.K @ X) @ (X.T @ head.beta), head.Q @ y)
        if self.omega is not None:
            value = value + inner(self.omega, y)
        return value

    def gradient(self, X: AnyMatrix) -> AnyMatrix:
        """∇g(X)."""
        left, right = self.factors_of_gradient(X)
        return left @ right

    def factors_of_gradient(self, X: AnyMatrix) -> tuple[AnyMatrix, AnyMatrix]:
        """Few columns, and as many rows, whose product is ∇g(X) = Σ_h (β vᵀX + v βᵀX + AᵀX Xᵀβ Γᵀ)
        + ωΓᵀ with v = A X Γ.
        """
        y = X @ self.gamma
        columns, rows = [], []
        for head in self.heads:
            v = head.K.T @ (head.Q @ y)
            beta_X = head.beta.T @ X
            on_gamma = head.Q.T @ ((head.K @ X) @ beta_X.T)
            columns += [head.beta.T, v.T, on_gamma.T]
            rows += [v.T @ X, beta_X, self.gamma.T]
        if self.omega is not None:
            columns.append(self.omega.T)
            rows.append(self.gamma.T)
        return stacked(columns).T, stacked(rows)

    def with_sign(self, sign: int) -> Boundary:
        """The same boundary by g (sign 1) or by −g (sign −1)."""
        if sign > 0:
            return self
        return replace(
            self,
            heads=tuple(replace(head, beta=-head.beta) for head in self.heads),
            omega=None if self.omega is None else -self.omega,
            bias=-self.bias,
        )

    def on(self, space: Floats) -> Boundary:
        """The same boundary on the space of an orthonormal basis, the columns of ``space``."""
        return replace(
            self,
            heads=tuple(
                Head(head.K @ space, head.Q @ space, space.T @ head.beta) for head in self.heads
            ),
            omega=None if self.omega is None else space.T @ self.omega,
            U=space.T @ self.U,
        )


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a problem: X = 2^size · X' and g = 2^value · g'."""

    size: int
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class GivenHead:
    """The weights of a head as floats, which are exact."""

    K: Floats  # a×d
    Q: Floats  # a×d
    V: Floats  # v×d
    O: Floats  # d'×v


@dataclass(frozen=True, slots=True, eq=False)
class BoundaryProblem:
    """A layer, a readout R = W Cᵀ, a bias and an input, as floats, which are exact."""

    heads: tuple[GivenHead, ...]
    W: Floats  # d'×m
    C: Floats  # t×m
    row_space: Floats  # t×r: its columns are a basis of the space of the rows of R
    skip: bool
    bias: float
    U: Floats  # d×t
    readout_over: int = 1  # R is W Cᵀ divided by this number
    scores_over: int = 1  # all A are divided by the square root of this number
    zero_heads: int = 0  # the number of heads that are left out, as a matrix of them is zero

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """d, d', t and the number of heads."""
        return len(self.U), len(self.W), len(self.C), len(self.heads) + self.zero_heads

    def in_units(self) -> Units:
        """Units in which the numbers of the problem are of size 1, and so is the distance if it is
        not much smaller than U.
        """
        of_readout = exponent(self.W) + exponent(self.C)
        of_heads = [
            sum(exponent(matrix) for matrix in (head.K, head.Q, head.V, head.O))
            for head in self.heads
        ]
        start = of_readout + max([*of_heads, 0] if self.skip else of_heads)
        boundary = replace(self, bias=0.0).in_floats(Units(0, start))
        cubic = start + max(exponent(head.beta) for head in boundary.heads)
        linear = OF_ZERO if boundary.omega is None else start + exponent(boundary.omega)
        constant = frexp(self.bias)[1] if self.bias else OF_ZERO
        # where the cubic or the linear part is as large as the constant one
        reach = min((constant - cubic) // 3, constant - linear)
        size = max(exponent(self.U), reach)
        return Units(size, max(cubic + 3 * size, linear + size, constant))

    def in_floats(self, units: Units) -> Boundary:
        """The boundary over floats."""
        gamma = _orthonormal(in_balls(self.row_space, 0))
        return self._boundary(units, gamma.middles(), scaled)

    def in_balls(self, units: Units) -> Boundary:
        """The boundary over balls, of FLINT's present precision."""
        return self._boundary(units, _orthonormal(in_balls(self.row_space, 0)), in_balls)

    def _boundary(self, units: Units, gamma: AnyMatrix, scaled_by: Scaled) -> Boundary:
        of_W, of_C = exponent(self.W), exponent(self.C)
        one = scaled_by(numpy.ones((1, 1)), 0)[0, 0]
        readout = scaled_by(self.W, -of_W) @ (scaled_by(self.C, -of_C).T @ gamma)
        readout = (one / self.readout_over) * readout
        heads = []
        for head in self.heads:
            of_K, of_Q = exponent(head.K), exponent(head.Q)
            of_V, of_O = exponent(head.V), exponent(head.O)
            beta = scaled_by(head.V, -of_V).T @ (scaled_by(head.O, -of_O).T @ readout)
            beta = (1 / root(one * self.scores_over)) * beta
            shift = of_K + of_Q + of_V + of_O + of_W + of_C
            shift += 3 * units.size - units.value
            K, Q = scaled_by(head.K, -of_K), scaled_by(head.Q, -of_Q)
            heads.append(Head(K, Q, times_power(beta, shift)))
        omega = None
        if self.skip:
            omega = times_power(readout, of_W + of_C + units.size - units.value)
        bias = scaled_by(numpy.array([[self.bias]]), -units.value)[0, 0]
        return Boundary(
            heads=tuple(heads),
            gamma=gamma,
            omega=omega,
            bias=bias,
            U=scaled_by(self.U, -units.size),
        )


def exponent(array: Floats) -> int:
    """The exponent e with 2^(e−1) ≤ m < 2^e, where m is the largest absolute value of an entry."""
    largest = float(numpy.abs(array).max()) if array.size else 0.0
    return frexp(largest)[1] if largest else OF_ZERO


def scaled(array: Floats, shift: int) -> Floats:
    """An array times 2^shift, as floats."""
    result: Floats = numpy.ldexp(array, shift)
    return result


def in_balls(array: Floats, shift: int) -> BallMatrix:
    """An array times 2^shift, as balls of radius 0."""
    return BallMatrix.of_rows(array.tolist()).times_power(shift)


def times_power(matrix: AnyMatrix, shift: int) -> AnyMatrix:
    """A matrix times 2^shift."""
    return matrix.times_power(shift) if isinstance(matrix, BallMatrix) else scaled(matrix, shift)


def _orthonormal(basis: BallMatrix) -> BallMatrix:
    """An orthonormal basis of the same space, by the method of Gram and Schmidt; division by a ball
    that contains 0 gives no number, so that nothing is proved with it.
    """
    found: list[BallMatrix] = []
    for column in columns(basis):
        for other in found:
            column = column - inner(column, other) * other
        found.append((1 / inner(column, column).sqrt()) * column)
    basis_found: BallMatrix = stacked([column.T for column in found]).T
    return basis_found


def is_on_boundary(problem: BoundaryProblem) -> bool:
    """Whether g(U) = 0, over the rational numbers: with c the cubic part without its divisor √n,
    and l the rest, c/√n + l = 0 if c² = n l² and the signs of c and l differ.
    """
    U, R = rational(problem.U), rational(problem.W) * rational(problem.C).transpose()
    cubic = flint.fmpq(0)
    for head in problem.heads:
        K, Q, V, O = (rational(matrix) for matrix in (head.K, head.Q, head.V, head.O))
        read = R.transpose() * (O * (V * U))  # t×t
        scores = (K * U).transpose() * (Q * U)  # t×t
        product = read * scores
        cubic += sum((product[i, i] for i in range(product.nrows())), flint.fmpq(0))
    rest = flint.fmpq(*problem.bias.as_integer_ratio())
    if problem.skip:
        pairs = zip(R.entries(), U.entries(), strict=True)
        rest += sum((x * y for x, y in pairs), flint.fmpq(0)) / problem.readout_over
    cubic /= problem.readout_over
    return bool(cubic * rest <= 0) and bool(cubic**2 == problem.scores_over * rest**2)


def has_cubic_part(problem: BoundaryProblem) -> bool:
    """Whether the part of g of degree three is not zero, over the rational numbers; also true where
    this is long to decide.
    """
    boundary = replace(problem, bias=0.0, skip=False).in_floats(problem.in_units())
    X = numpy.random.default_rng(0).normal(size=boundary.U.shape)
    sizes = [
        numpy.linalg.norm(head.K) * numpy.linalg.norm(head.Q) * numpy.linalg.norm(head.beta)
        for head in boundary.heads
    ]
    d, _, t, _ = problem.sizes
    # a smaller part of what norms allow may be zero
    is_surely_not_zero = abs(boundary.value(X)) > 1e-6 * sum(sizes)
    # more terms are not compared with zero
    if is_surely_not_zero or len(sizes) * t * d**3 > 200_000:
        return True
    R = rational(problem.W) * rational(problem.C).transpose()
    products = []
    for head in problem.heads:
        K, Q, V, O = (rational(matrix) for matrix in (head.K, head.Q, head.V, head.O))
        products.append(((O * V).transpose() * R, K.transpose() * Q))
    for token in range(t):
        # of x_p x_q y_s, with another token x if there is one, and with y for x if there is none
        coefficients: Floats = sum(
            numpy.multiply.outer(numpy.array(B.tolist())[:, token], numpy.array(A.tolist()))
            for B, A in products
        )
        coefficients = coefficients + coefficients.transpose(1, 0, 2)
        if t == 1:
            others = coefficients.transpose(0, 2, 1) + coefficients.transpose(2, 1, 0)
            coefficients = coefficients + others
        if (coefficients != 0).any():
            return True
    return False


def rational(array: Floats) -> flint.fmpq_mat:
    """An array of floats over the rational numbers."""
    entries = [flint.fmpq(*x.as_integer_ratio()) for x in array.ravel().tolist()]
    return flint.fmpq_mat(*array.shape, entries)
