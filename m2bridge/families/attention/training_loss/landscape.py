"""The loss at real weights, by interval arithmetic: values, gradient, Hessian, and what they prove.

A critical point that another program has approximated is proved to exist by Krawczyk's test: for a
box X around x and Y ≈ H(x)⁻¹, if x − Y ∇L(x) + (1 − Y H(X))(X − x) lies in the interior of X, then
X contains exactly one zero of the gradient, and the Hessian H is invertible there. Source:
R. E. Moore, *A test for existence of solutions to nonlinear systems*, SIAM J. Numer. Anal. 14
(1977).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf, nextafter
from typing import Any

import flint
import numpy

from m2bridge.algebra.numbers import flint_rational
from m2bridge.families.attention.orbits.orbits import Orbit, generic_orbit
from m2bridge.families.attention.orbits.parametrization import indices
from m2bridge.families.attention.training_loss.gradient import ChartWeights, Entries
from m2bridge.families.attention.training_loss.loss import Loss

BITS = 200
"""The precision of the intervals."""
NEWTON_STEPS = 12
"""The number of correct digits doubles with each."""
RADIUS = flint.arb(2) ** -70
"""Of the box in which a critical point is proved to lie, relative to the size of its entries."""
NEAR = 1e-4
"""A zero of the gradient is that of an approximation at most this far from it, relatively."""

MOST_DENOMINATOR = 10**9
"""Of a coordinate that is tried as a rational number; boxes are much smaller than its square."""

FloatInterval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossAtPoint:
    """The matrices of weights, the loss, its gradient and its Hessian, in a chart."""

    matrices: dict[str, flint.arb_mat]
    function: flint.arb_mat
    loss: flint.arb
    gradient: flint.arb_mat
    hessian: flint.arb_mat


@dataclass(frozen=True, slots=True, kw_only=True)
class RealPoint:
    """A real critical point of a loss.

    Parameters
    ----------
    kind : {"minimum", "saddle", "maximum", "undecided"}
        By the signature of the Hessian modulo the rescaling, and for a < d modulo GL(a); undecided
        where the Hessian is not shown to be invertible.
    index : int or None
        The number of negative eigenvalues of that Hessian.
    loss : pair of float
        The loss lies between them.
    is_dense : bool
        Whether the function is proved to be in the dense orbit.
    orbit : Orbit or None
        The dense orbit, or the one of an exact point: where the weights in the chart are rational
        numbers that are critical exactly. ``None`` where neither is proved.
    weights : dict of str to tuple of tuple of float
        A and V, and for a < d K and Q.
    function : flint.arb_mat
        The coordinates of the function.
    """

    kind: str
    index: int | None
    loss: FloatInterval
    is_dense: bool
    orbit: Orbit | None
    weights: dict[str, tuple[tuple[float, ...], ...]]
    function: flint.arb_mat

    def to_json(self) -> dict[str, Any]:
        """The fields, for ``json.dumps``."""
        return {
            "kind": self.kind,
            "index": self.index,
            "loss": list(self.loss),
            "orbit": None if self.orbit is None else self.orbit.to_json(),
            "weights": {name: list(map(list, rows)) for name, rows in self.weights.items()},
        }


class Landscape:
    """A loss as a function of the coordinates of a chart, with values that are intervals."""

    def __init__(self, loss: Loss, weights: ChartWeights) -> None:
        self.loss, self.shape, self.weights = loss, loss.shape, weights
        with flint.ctx.workprec(BITS):
            self.gram, self.linear = flint.arb_mat(loss.gram), flint.arb_mat(loss.linear)
            self.constant = flint.arb(loss.constant)
        blocks = [weights.A, weights.V]
        if weights.K is not None and weights.Q is not None:
            blocks = [weights.K, weights.Q, weights.V]
        entries = [entry for block in blocks for row in block for entry in row]
        columns = weights.ring.ngens
        # entries of weights are affine-linear in the coordinates of the chart
        slopes = [[int(entry.diff(x).LC) for x in weights.ring.gens] for entry in entries]
        self.slopes = flint.arb_mat(len(entries), columns, [x for row in slopes for x in row])

    def values(self, point: Sequence[flint.arb]) -> LossAtPoint:
        """Everything at a point, or on a box."""
        matrices = self._matrices(point, flint.arb_mat)
        A, V = matrices["A"], matrices["V"]
        C, D = self._along_A(V), self._along_V(A)
        function = C * flint.arb_mat(A.nrows() * A.ncols(), 1, A.entries())
        image = self.gram * function
        error = image - self.linear
        half = (function.transpose() * image)[0, 0] / 2
        loss = half - (self.linear.transpose() * function)[0, 0] + self.constant
        both = _beside(C, D)
        gradient = both.transpose() * error
        hessian = both.transpose() * (self.gram * both)
        self._add_second_derivatives(hessian, error)
        if "K" in matrices:
            gradient, hessian = self._through_factors(matrices, gradient, hessian)
        chart = self.slopes.transpose()
        return LossAtPoint(
            matrices=matrices,
            function=function,
            loss=loss,
            gradient=chart * gradient,
            hessian=chart * hessian * self.slopes,
        )

    def _matrices(self, point: Sequence[Any], matrix_class: Any) -> dict[str, Any]:
        """A and V, and K and Q for a < d, with intervals or rational numbers as entries."""
        named: dict[str, Entries | None] = {"K": self.weights.K, "Q": self.weights.Q}
        named |= {"A": self.weights.A, "V": self.weights.V}
        if self.weights.K is not None:
            del named["A"]
        matrices = {}
        for name, matrix in named.items():
            if matrix is not None:
                entries = [_value(entry, point) for row in matrix for entry in row]
                matrices[name] = matrix_class(len(matrix), len(matrix[0]), entries)
        if "A" not in matrices:
            matrices["A"] = matrices["K"].transpose() * matrices["Q"]
        return matrices

    def _along_A(self, V: Any) -> Any:
        """The derivatives of the coordinates along the entries of A."""
        d = self.shape.d
        matrix = type(V)(self.shape.independent_count, d * d)
        for place, (k, i, p, q) in enumerate(indices(self.shape)):
            matrix[place, p * d + i] += V[k, q]
            if p != q:
                matrix[place, q * d + i] += V[k, p]
        return matrix

    def _along_V(self, A: Any) -> Any:
        """The derivatives of the coordinates along the entries of V."""
        d = self.shape.d
        matrix = type(A)(self.shape.independent_count, self.shape.d_out * d)
        for place, (k, i, p, q) in enumerate(indices(self.shape)):
            matrix[place, k * d + q] += A[p, i]
            if p != q:
                matrix[place, k * d + p] += A[q, i]
        return matrix

    def _add_second_derivatives(self, hessian: flint.arb_mat, error: flint.arb_mat) -> None:
        """Add Σ error · ∂²c: c_{k,i,{p,q}} has the products A_pi V_kq and A_qi V_kp."""
        d = self.shape.d
        for place, (k, i, p, q) in enumerate(indices(self.shape)):
            for p1, q1 in {(p, q), (q, p)}:
                row, entry = p1 * d + i, d * d + k * d + q1
                hessian[row, entry] += error[place, 0]
                hessian[entry, row] += error[place, 0]

    def _through_factors(
        self, matrices: dict[str, flint.arb_mat], gradient: flint.arb_mat, hessian: flint.arb_mat
    ) -> tuple[flint.arb_mat, flint.arb_mat]:
        """The derivatives along (K, Q, V), from those along (A, V), by the chain rule."""
        d, alpha, outputs = self.shape.d, self.shape.alpha, self.shape.d_out
        K, Q = matrices["K"], matrices["Q"]
        size = 2 * alpha * d
        chain = flint.arb_mat(d * d + outputs * d, size + outputs * d)
        for e, p, i in product(range(alpha), range(d), range(d)):
            chain[p * d + i, e * d + p] += Q[e, i]
            chain[p * d + i, alpha * d + e * d + i] += K[e, p]
        for j in range(outputs * d):
            chain[d * d + j, size + j] = 1
        found = chain.transpose() * hessian * chain
        for e, p, i in product(range(alpha), range(d), range(d)):
            row, entry = e * d + p, alpha * d + e * d + i
            found[row, entry] += gradient[p * d + i, 0]
            found[entry, row] += gradient[p * d + i, 0]
        return chain.transpose() * gradient, found

    def critical_point(self, approximation: Sequence[Any]) -> RealPoint:
        """The critical point near an approximation, and all that is proved of it."""
        with flint.ctx.workprec(BITS):
            return self._critical_point([flint.arb(flint_rational(x)) for x in approximation])

    def _critical_point(self, start: list[flint.arb]) -> RealPoint:
        box = self._proved_box(start)
        values = self.values(start if box is None else box)
        index = None
        if box is not None:
            index = negative_eigenvalues(values.hessian)
        kind = "undecided"
        if index is not None:
            kind = {0: "minimum", len(start): "maximum"}.get(index, "saddle")
        dense = self._dense_orbit(values.matrices)
        weights = {}
        for name, matrix in values.matrices.items():
            weights[name] = tuple(tuple(map(_shown, row)) for row in matrix.tolist())
        return RealPoint(
            kind=kind,
            index=index,
            loss=_at_least_zero(interval(values.loss)),
            is_dense=dense is not None,
            orbit=dense or (None if box is None else self._exact_orbit(box)),
            weights=weights,
            function=values.function,
        )

    def _proved_box(self, start: list[flint.arb]) -> list[flint.arb] | None:
        """A box with exactly one zero of the gradient, near the approximation."""
        point = start
        count = len(start)
        try:
            for _ in range(NEWTON_STEPS):
                values = self.values(point)
                step = values.hessian.mid().solve(values.gradient.mid())
                point = [(x - step[j, 0]).mid() for j, x in enumerate(point)]
            inverse = self.values(point).hessian.mid().inv().mid()
        except ZeroDivisionError:
            return None
        for x, y in zip(point, start, strict=True):
            if not abs(x - y) < NEAR * (1 + abs(y)):
                return None
        radii = [RADIUS * (1 + abs(x).mid()) for x in point]
        box = [x + flint.arb(0, r) for x, r in zip(point, radii, strict=True)]
        identity = flint.arb_mat(
            count, count, [int(i == j) for i in range(count) for j in range(count)]
        )
        centre = flint.arb_mat(count, 1, point)
        around = flint.arb_mat(count, 1, [flint.arb(0, r) for r in radii])
        slope = identity - inverse * self.values(box).hessian
        image = centre - inverse * self.values(point).gradient + slope * around
        for j in range(count):
            if not box[j].contains_interior(image[j, 0]):
                return None
        return [image[j, 0] for j in range(count)]

    def _dense_orbit(self, matrices: dict[str, flint.arb_mat]) -> Orbit | None:
        """The dense orbit, if all ranks are shown to be the largest ones."""
        dense = generic_orbit(self.shape)
        conditions = [(matrices["V"], dense.s)]
        if "K" in matrices:
            conditions.append((matrices["Q"], dense.r))
            K, V = matrices["K"], matrices["V"]
            conditions.append((_above(K, V), dense.span))
        else:
            conditions.append((matrices["A"], dense.r))
        if all(_has_full_rank(matrix, rank) for matrix, rank in conditions):
            return dense
        return None

    def _exact_orbit(self, box: Sequence[flint.arb]) -> Orbit | None:
        """The orbit of the only critical point in a box, if it has simple rational coordinates.

        These are found by continued fractions; that they are critical is computed exactly.
        """
        point = [_simple_rational(side) for side in box]
        if None in point:
            return None
        matrices = self._matrices(point, flint.fmpq_mat)
        A, V = matrices["A"], matrices["V"]
        if not self._is_critical(matrices):
            return None
        r, s = A.rank(), V.rank()
        if not (r and s):
            return None
        both = flint.fmpq_mat(
            V.nrows() + A.ncols(), A.nrows(), V.entries() + A.transpose().entries()
        )
        return Orbit(r, s, r + s - both.rank())

    def _is_critical(self, matrices: dict[str, flint.fmpq_mat]) -> bool:
        """Whether the gradient is zero at rational weights, exactly."""
        A, V = matrices["A"], matrices["V"]
        d, outputs = self.shape.d, self.shape.d_out
        along_A, along_V = self._along_A(V), self._along_V(A)
        function = along_A * flint.fmpq_mat(d * d, 1, A.entries())
        error = self.loss.gram * function - self.loss.linear
        of_V = flint.fmpq_mat(outputs, d, (along_V.transpose() * error).entries())
        of_A = flint.fmpq_mat(d, d, (along_A.transpose() * error).entries())
        gradient = [of_V, of_A]
        if "K" in matrices:
            # A = KᵀQ, by the chain rule
            of_Q = matrices["K"] * of_A
            of_K = matrices["Q"] * of_A.transpose()
            gradient = [of_V, of_K, of_Q]
        return not any(any(part.entries()) for part in gradient)


def _simple_rational(side: flint.arb) -> flint.fmpq | None:
    """The rational number of small denominator in an interval; ``None`` if there is none."""
    middle = side.mid().fmpq()
    simple = Fraction(int(middle.p), int(middle.q)).limit_denominator(MOST_DENOMINATOR)
    found = flint.fmpq(simple.numerator, simple.denominator)
    return found if side.contains(flint.arb(found)) else None


def _has_full_rank(matrix: flint.arb_mat, rank: int) -> bool:
    """Whether the rank is shown to be this one, the number of rows or of columns.

    It is exactly if the determinant of the Gram matrix is not zero.
    """
    gram = matrix * matrix.transpose()
    if rank < matrix.nrows():
        gram = matrix.transpose() * matrix
    return not gram.det().contains(0)


def negative_eigenvalues(matrix: flint.arb_mat) -> int | None:
    """The number of negative eigenvalues of a symmetric matrix of intervals.

    ``None`` if it is not shown that there is no eigenvalue zero. For P with approximate
    eigenvectors PᵀMP has the same signature (Sylvester), and where each diagonal entry is larger
    than the sum of the others in its row, their signs are those of the eigenvalues (Gershgorin).
    """
    count = matrix.nrows()
    middle = numpy.array([[float(matrix[i, j].mid()) for j in range(count)] for i in range(count)])
    if not numpy.isfinite(middle).all():
        return None
    vectors = numpy.linalg.eigh((middle + middle.T) / 2)[1]
    P = flint.arb_mat(count, count, [float(x) for x in vectors.ravel()])
    diagonal = P.transpose() * matrix * P
    negative = 0
    for i in range(count):
        others = [abs(diagonal[i, j]) for j in range(count) if j != i]
        if not abs(diagonal[i, i]) > sum(others, start=flint.arb(0)):
            return None
        negative += bool(diagonal[i, i] < 0)
    return negative


def interval(value: flint.arb) -> FloatInterval:
    """Floating-point numbers below and above all of an interval."""
    lower, upper = float(value.lower()), float(value.upper())
    return nextafter(lower, -inf), nextafter(upper, inf)


def _shown(entry: flint.arb) -> float:
    """The middle of an interval; 0 if zero lies in it."""
    return 0.0 if entry.contains(0) else float(entry.mid())


def _at_least_zero(found: FloatInterval) -> FloatInterval:
    """An interval of a loss, which is never negative."""
    return max(found[0], 0.0), found[1]


def _value(entry: Any, point: Sequence[Any]) -> Any:
    """An affine-linear polynomial at a point, of intervals or of rational numbers."""
    zero = 0 * point[0]
    total = zero
    for exponents, coefficient in entry.terms():
        term = zero + int(coefficient)
        for exponent, x in zip(exponents, point, strict=True):
            if exponent:
                term *= x
        total += term
    return total


def _beside(left: flint.arb_mat, right: flint.arb_mat) -> flint.arb_mat:
    """Two matrices with as many rows, side by side."""
    return _above(left.transpose(), right.transpose()).transpose()


def _above(upper: flint.arb_mat, lower: flint.arb_mat) -> flint.arb_mat:
    """Two matrices with as many columns, one above the other."""
    rows = upper.nrows() + lower.nrows()
    return flint.arb_mat(rows, upper.ncols(), upper.entries() + lower.entries())
