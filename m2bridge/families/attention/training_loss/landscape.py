"""The loss at real weights: values, gradient, Hessian, and what they prove.

Another program has isolated a critical point in a box. If the simplest rational numbers in the box
are critical, all is computed exactly. Otherwise it is proved to exist by Krawczyk's test, in
interval arithmetic: for a box X around x and Y ≈ H(x)⁻¹, if x − Y ∇L(x) + (1 − Y H(X))(X − x) lies
in the interior of X, then X contains exactly one zero of the gradient, and the Hessian H is
invertible there. Source: R. E. Moore, *A test for existence of solutions to nonlinear systems*,
SIAM J. Numer. Anal. 14 (1977).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, inf, nextafter
from typing import Any, NamedTuple

import flint
import numpy

from m2bridge.algebra.linear_algebra import signature
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

FloatInterval = tuple[float, float]
CoordinateSide = tuple[Fraction, Fraction]
"""A coordinate lies between these two numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossAtPoint:
    """The matrices of weights, the loss, its gradient and its Hessian, in a chart.

    Numbers are rational (FLINT's ``fmpq``), or intervals (``arb``).
    """

    matrices: dict[str, Any]
    function: Any
    loss: Any
    gradient: Any
    hessian: Any


class FunctionRanks(NamedTuple):
    """The ranks of A and V, and the dimension of the span of columns of A and rows of V."""

    A: int
    V: int
    span: int

    @property
    def orbit(self) -> Orbit | None:
        """The orbit of a function with these ranks; ``None`` if it is zero."""
        if not (self.A and self.V):
            return None
        return Orbit(self.A, self.V, self.A + self.V - self.span)


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
        The loss lies between them; at a point that is not proved, as far as it is approximated.
    least_ranks : FunctionRanks
        Lower bounds for ranks, which are proved: zero at a point that is not proved.
    ranks : FunctionRanks or None
        The ranks; ``None`` where they are not decided.
    is_dense : bool
        Whether the function is proved to be in the dense orbit.
    weights : dict of str to tuple of tuple of float
        A and V, and for a < d K and Q.
    coordinates : list of flint.arb
        Intervals for the coordinates in the chart.
    function : flint.arb_mat
        The coordinates of the function.
    """

    kind: str
    index: int | None
    loss: FloatInterval
    least_ranks: FunctionRanks
    ranks: FunctionRanks | None
    is_dense: bool
    weights: dict[str, tuple[tuple[float, ...], ...]]
    coordinates: list[flint.arb]
    function: flint.arb_mat

    @property
    def orbit(self) -> Orbit | None:
        """The orbit of the function; ``None`` if it is not decided, or the function is zero."""
        return None if self.ranks is None else self.ranks.orbit

    @property
    def is_zero(self) -> bool | None:
        """Whether the function is zero; ``None`` where it is not decided."""
        if self.ranks is not None:
            return self.ranks.orbit is None
        if self.least_ranks.orbit is not None:
            return False
        return None

    def may_be(self, other: RealPoint) -> bool:
        """Whether two points are not shown to be different."""
        pairs = zip(self.coordinates, other.coordinates, strict=True)
        return all(x.overlaps(y) for x, y in pairs)

    def to_json(self) -> dict[str, Any]:
        """The fields, for ``json.dumps``."""
        return {
            "kind": self.kind,
            "index": self.index,
            "loss": list(self.loss),
            "orbit": None if self.orbit is None else self.orbit.to_json(),
            "zero": self.is_zero,
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
        self.slopes = flint.fmpz_mat(len(entries), columns, [x for row in slopes for x in row])

    def values(self, point: Sequence[Any]) -> LossAtPoint:
        """Everything at a rational point exactly, or by intervals at a point or on a box."""
        gram, linear, constant = self.gram, self.linear, self.constant
        matrix_class: Any = flint.arb_mat
        if isinstance(point[0], flint.fmpq):
            gram, linear, constant = self.loss.gram, self.loss.linear, self.loss.constant
            matrix_class = flint.fmpq_mat
        matrices = self._matrices(point, matrix_class)
        A, V = matrices["A"], matrices["V"]
        C, D = self._along_A(V), self._along_V(A)
        function = C * matrix_class(A.nrows() * A.ncols(), 1, A.entries())
        image = gram * function
        error = image - linear
        half = (function.transpose() * image)[0, 0] / 2
        loss = half - (linear.transpose() * function)[0, 0] + constant
        both = _beside(C, D)
        gradient = both.transpose() * error
        hessian = both.transpose() * (gram * both)
        self._add_second_derivatives(hessian, error)
        if "K" in matrices:
            gradient, hessian = self._through_factors(matrices, gradient, hessian)
        slopes = matrix_class(self.slopes)
        return LossAtPoint(
            matrices=matrices,
            function=function,
            loss=loss,
            gradient=slopes.transpose() * gradient,
            hessian=slopes.transpose() * hessian * slopes,
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

    def _add_second_derivatives(self, hessian: Any, error: Any) -> None:
        """Add Σ error · ∂²c: c_{k,i,{p,q}} has the products A_pi V_kq and A_qi V_kp."""
        d = self.shape.d
        for place, (k, i, p, q) in enumerate(indices(self.shape)):
            for p1, q1 in {(p, q), (q, p)}:
                row, entry = p1 * d + i, d * d + k * d + q1
                hessian[row, entry] += error[place, 0]
                hessian[entry, row] += error[place, 0]

    def _through_factors(
        self, matrices: dict[str, Any], gradient: Any, hessian: Any
    ) -> tuple[Any, Any]:
        """The derivatives along (K, Q, V), from those along (A, V), by the chain rule."""
        d, alpha, outputs = self.shape.d, self.shape.alpha, self.shape.d_out
        K, Q = matrices["K"], matrices["Q"]
        size = 2 * alpha * d
        chain = type(hessian)(d * d + outputs * d, size + outputs * d)
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

    def critical_point(self, sides: Sequence[CoordinateSide]) -> RealPoint:
        """The critical point that lies between these numbers, and all that is proved of it.

        Two isolating boxes may lead to one point, as the box in which it is proved to exist need
        not lie inside of them. Then ``may_be`` holds for both points, and
        :meth:`Isolation.real_points` refuses to list them.
        """
        with flint.ctx.workprec(BITS):
            exact = [flint_rational(simplest_between(*side)) for side in sides]
            values = self.values(exact)
            if not any(values.gradient.entries()):
                return self._exact_point(exact, values)
            box = self._proved_box(sides)
            if box is None:
                return self._approximated_point(sides)
            return self._proved_point(box)

    def _exact_point(self, point: list[flint.fmpq], values: LossAtPoint) -> RealPoint:
        """A rational critical point, which may be degenerate."""
        size = len(point)
        rank = values.hessian.rank()
        negative = (rank - signature(values.hessian.tolist())) // 2
        kind = "undecided"
        if rank == size:
            kind = _kind(negative, size)
        elif 0 < negative < rank:
            kind = "saddle"
        elif values.loss == 0:
            # no loss is smaller
            kind = "minimum"
        A, V = values.matrices["A"], values.matrices["V"]
        both = _above(A.transpose(), V)
        ranks = FunctionRanks(A.rank(), V.rank(), both.rank())
        lower, upper = interval(flint.arb(values.loss))
        if values.loss == 0:
            lower = upper = 0.0
        return RealPoint(
            kind=kind,
            index=negative,
            loss=(lower, upper),
            least_ranks=ranks,
            ranks=ranks,
            is_dense=ranks == self._dense_ranks(),
            weights=_shown_weights(values),
            coordinates=[flint.arb(x) for x in point],
            function=flint.arb_mat(values.function),
        )

    def _proved_point(self, box: list[flint.arb]) -> RealPoint:
        """The only critical point in a box; it is nondegenerate."""
        values = self.values(box)
        index = negative_eigenvalues(values.hessian)
        A, V = values.matrices["A"], values.matrices["V"]
        both = _above(A.transpose(), V)
        least = FunctionRanks(least_rank(A), least_rank(V), least_rank(both))
        is_dense = least == self._dense_ranks()
        return RealPoint(
            kind="undecided" if index is None else _kind(index, len(box)),
            index=index,
            loss=_at_least_zero(interval(values.loss)),
            least_ranks=least,
            ranks=least if is_dense else None,
            is_dense=is_dense,
            weights=_shown_weights(values),
            coordinates=box,
            function=values.function,
        )

    def _approximated_point(self, sides: Sequence[CoordinateSide]) -> RealPoint:
        """A point of which nothing is proved: it may be degenerate."""
        box = [_between(*side) for side in sides]
        values = self.values(box)
        return RealPoint(
            kind="undecided",
            index=None,
            loss=_at_least_zero(interval(values.loss)),
            least_ranks=FunctionRanks(0, 0, 0),
            ranks=None,
            is_dense=False,
            weights=_shown_weights(values),
            coordinates=box,
            function=values.function,
        )

    def _dense_ranks(self) -> FunctionRanks:
        """The ranks of functions in the dense orbit."""
        dense = generic_orbit(self.shape)
        return FunctionRanks(dense.r, dense.s, dense.span)

    def _proved_box(self, sides: Sequence[CoordinateSide]) -> list[flint.arb] | None:
        """A box with exactly one zero of the gradient, which is not shown to be outside of sides.

        ``None`` if there is no proof.
        """
        point = [flint.arb(flint_rational((low + high) / 2)) for low, high in sides]
        count = len(point)
        try:
            for _ in range(NEWTON_STEPS):
                values = self.values(point)
                step = values.hessian.mid().solve(values.gradient.mid())
                point = [(x - step[j, 0]).mid() for j, x in enumerate(point)]
            inverse = self.values(point).hessian.mid().inv().mid()
        except ZeroDivisionError:
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
        for j, side in enumerate(sides):
            if not (
                box[j].contains_interior(image[j, 0]) and image[j, 0].overlaps(_between(*side))
            ):
                return None
        return [image[j, 0] for j in range(count)]


def _kind(index: int, size: int) -> str:
    """What a nondegenerate critical point is, by the number of its negative eigenvalues."""
    if index == 0:
        return "minimum"
    return "maximum" if index == size else "saddle"


def _shown_weights(values: LossAtPoint) -> dict[str, tuple[tuple[float, ...], ...]]:
    """The entries of weights as floating-point numbers."""
    shown = {}
    for name, matrix in values.matrices.items():
        shown[name] = tuple(tuple(map(_shown, row)) for row in matrix.tolist())
    return shown


def _between(low: Fraction, high: Fraction) -> flint.arb:
    """An interval that contains two numbers."""
    return flint.arb(flint_rational(low)).union(flint.arb(flint_rational(high)))


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The rational number of the smallest denominator in an interval, by continued fractions.

    Of integers it is the one nearest to zero.

    Examples
    --------
    >>> simplest_between(Fraction(333, 1000), Fraction(334, 1000))
    Fraction(1, 3)
    """
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    whole = ceil(low)
    if whole <= high:
        return Fraction(whole)
    # both have the same integral part
    part = whole - 1
    return part + 1 / simplest_between(1 / (high - part), 1 / (low - part))


def least_rank(matrix: flint.arb_mat) -> int:
    """A lower bound for the rank of all matrices in a matrix of intervals.

    Elimination: each pivot is an interval without zero, as far from it as there is one.
    """
    rows = [list(row) for row in matrix.tolist()]
    rank = 0
    while True:
        best = None
        for i, j in product(range(len(rows)), range(matrix.ncols())):
            size = abs(rows[i][j]).lower()
            if size > 0 and (best is None or size > best[0]):
                best = (size, i, j)
        if best is None:
            return rank
        _, i, j = best
        pivot = rows.pop(i)
        for row in rows:
            factor = row[j] / pivot[j]
            for column in range(matrix.ncols()):
                row[column] -= factor * pivot[column]
            row[j] = flint.arb(0)
        rank += 1


def negative_eigenvalues(matrix: flint.arb_mat) -> int | None:
    """The number of negative eigenvalues of a symmetric matrix of intervals.

    ``None`` if it is not shown that there is no eigenvalue zero. For P with approximate
    eigenvectors PᵀMP has the same signature (Sylvester). Where the absolute value of each diagonal
    entry is larger than the sum of those of the others in its row, their signs are those of the
    eigenvalues (Gershgorin).
    """
    count = matrix.nrows()
    if not count:
        return 0
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


def _shown(entry: flint.arb | flint.fmpq) -> float:
    """The middle of an interval; 0 if zero lies in it."""
    around = flint.arb(entry)
    return 0.0 if around.contains(0) else float(around.mid())


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


def _beside(left: Any, right: Any) -> Any:
    """Two matrices with as many rows, side by side."""
    return _above(left.transpose(), right.transpose()).transpose()


def _above(upper: Any, lower: Any) -> Any:
    """Two matrices with as many columns, one above the other."""
    rows = upper.nrows() + lower.nrows()
    return type(upper)(rows, upper.ncols(), upper.entries() + lower.entries())
