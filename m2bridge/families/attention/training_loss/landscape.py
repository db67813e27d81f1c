"""The loss at real weights: values, gradient, Hessian, and what they prove.

Another program has isolated a critical point in a box. If the simplest rational numbers in the box
are critical, all is computed exactly. Otherwise it is proved to exist by Krawczyk's test, in
interval arithmetic: for a box X around x and Y ≈ H(x)⁻¹, if x − Y ∇L(x) + (1 − Y H(X))(X − x) lies
in the interior of X, then X contains exactly one zero of the gradient, and the Hessian H is
invertible there. Source: R. E. Moore, *A test for existence of solutions to nonlinear systems*,
SIAM J. Numer. Anal. 14 (1977). For a box of complex numbers the test is the same: the gradient is
polynomial, and ∇L(z) − ∇L(x) is a mean of values of H on the box, times z − x.

A chart has coordinates, in which the entries of A and V, or of K, Q and V for a < d, are
affine-linear; they stand in this order, matrix by matrix and row by row. The loss of a function
with the reduced coordinates c is L = ½ cᵀGc − bᵀc + constant. (Notation: the docstring of
families/attention.) Numbers and matrices are FLINT's: rational (``fmpq``), intervals (``arb``), or
rectangles of complex numbers (``acb``). None as an answer about a point means that it is not
decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isfinite
from typing import Any, NamedTuple

import flint

from m2bridge.algebra.intervals import (
    CoordinateSide,
    FloatInterval,
    ends,
    float_bounds,
    interval_of_ends,
    least_rank,
    negative_eigenvalues,
    shown_entry,
    simplest_between,
)
from m2bridge.algebra.linear_algebra import signature
from m2bridge.algebra.numbers import flint_rational
from m2bridge.families.attention.orbits.coordinates import bilinear_terms
from m2bridge.families.attention.orbits.orbits import Orbit, generic_orbit
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training_loss.gradient import ChartWeights, Entries, is_scaled_in_A
from m2bridge.families.attention.training_loss.loss import Loss, Scaling

MatrixOfIntervals = tuple[tuple[flint.arb, ...], ...]
"""The rows of a matrix of intervals."""

MATRIX_CLASSES = {flint.fmpq: flint.fmpq_mat, flint.arb: flint.arb_mat, flint.acb: flint.acb_mat}
"""The class of matrices for each class of coordinates."""
PRECISIONS = (200, 800, 3200)
"""The precisions of the intervals, in binary digits, that are tried until a point is proved: where
coordinates are of very different sizes, few digits do not suffice.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossAtPoint:
    """The matrices of weights, the loss, its gradient and its Hessian, in a chart."""

    matrices: dict[str, Any]  # A and V, and for a < d K and Q
    function: Any  # the column c
    loss: Any
    gradient: Any  # a column
    hessian: Any


class FunctionRanks(NamedTuple):
    """The ranks of A and V, and the dimension of the span of columns of A and rows of V."""

    A: int
    V: int
    span_dimension: int

    @property
    def orbit(self) -> Orbit | None:
        """The orbit of a function with these ranks; ``None`` if the function is zero."""
        if self.A == 0 or self.V == 0:
            return None
        dimension_of_intersection = self.A + self.V - self.span_dimension
        return Orbit(self.A, self.V, dimension_of_intersection)


@dataclass(frozen=True, slots=True, kw_only=True)
class RealPoint:
    """A real critical point of a loss.

    Its kind and index are by the signature of the Hessian in the chart, so modulo rescaling, and
    for a < d modulo GL(a). Where the Hessian is not shown to be invertible the kind is undecided,
    with two exceptions at rational points: a saddle, if the Hessian has eigenvalues of both signs,
    and a minimum, if the loss is 0.
    """

    kind: str  # minimum, saddle, maximum, undecided
    index: int | None  # the number of negative eigenvalues
    proved: bool  # whether there is a critical point in the box, or another program only says so
    loss_interval: flint.arb  # with the loss; if not proved, with the losses in the whole box
    least_ranks: FunctionRanks  # proved lower bounds
    ranks: FunctionRanks | None
    is_dense: bool  # whether the function is proved to be in the dense orbit
    # A and V, and for a < d K and Q; exactly 0 if an interval contains 0 and is short
    entries: dict[str, MatrixOfIntervals]
    coordinates: list[flint.arb]  # in the chart, for a loss that is scaled
    function: flint.arb_mat

    @property
    def loss(self) -> FloatInterval:
        """A lower and an upper bound for the loss, in floating-point numbers, perhaps ∞."""
        lower, upper = float_bounds(ends(self.loss_interval))
        return max(lower, 0.0), upper  # no loss is negative

    @property
    def weights(self) -> dict[str, tuple[tuple[float, ...], ...]]:
        """The matrices of weights by their names, with the middles of the intervals as entries."""
        middles = {}
        for name, rows in self.entries.items():
            middles[name] = tuple(tuple(float(entry.mid()) for entry in row) for row in rows)
        return middles

    @property
    def orbit(self) -> Orbit | None:
        """The orbit of the function; ``None`` also if the function is zero."""
        return None if self.ranks is None else self.ranks.orbit

    @property
    def is_zero(self) -> bool | None:
        """Whether the function is zero."""
        if self.ranks is not None:
            return self.ranks.orbit is None
        if self.least_ranks.orbit is not None:
            return False  # the lower bounds for the ranks of A and V are not zero
        return None

    def may_be(self, other: RealPoint) -> bool:
        """Whether two points may be one: whether the intervals of all coordinates overlap."""
        pairs = zip(self.coordinates, other.coordinates, strict=True)
        return all(x.overlaps(y) for x, y in pairs)

    def to_json(self) -> dict[str, Any]:
        """The fields, for ``json.dumps``; numbers that are too large for floats are ``None``."""
        weights = {}
        for name, rows in self.weights.items():
            weights[name] = [list(map(_finite_or_none, row)) for row in rows]
        return {
            "kind": self.kind,
            "index": self.index,
            "proved": self.proved,
            "loss": list(map(_finite_or_none, self.loss)),
            "orbit": None if self.orbit is None else self.orbit.to_json(),
            "zero": self.is_zero,
            "weights": weights,
        }

    def in_former_units(self, scaling: Scaling, shape: LayerSizes) -> RealPoint:
        """The same point of the loss before it was divided by powers of two.

        Of the matrices in a chart one is free of the linear form that is 1: V if this form is in A;
        else A, or Q for a < d. This matrix is multiplied, and the point stays in the chart.
        """
        names = {"V"} if is_scaled_in_A(shape) else {"A", "Q"}
        entries = dict(self.entries)
        # with all digits, so that the products are exact
        with flint.ctx.workprec(2 * PRECISIONS[-1]):
            factor = flint.arb(2) ** scaling.function
            for name in names & entries.keys():
                entries[name] = tuple(tuple(x * factor for x in row) for row in entries[name])
            return replace(
                self,
                loss_interval=self.loss_interval * flint.arb(2) ** scaling.loss,
                entries=entries,
                function=self.function * factor,
            )


class QuadraticFunction(NamedTuple):
    """The function ½ cᵀGc − bᵀc + constant of a column c: G, b and the constant.

    All are rational numbers of FLINT, or intervals.
    """

    gram: Any
    linear: Any
    constant: Any

    def value(self, c: Any) -> Any:
        """The value at a column c."""
        quadratic_part = (c.transpose() * (self.gram * c))[0, 0] / 2
        linear_part = (self.linear.transpose() * c)[0, 0]
        return quadratic_part - linear_part + self.constant


class Derivatives(NamedTuple):
    """The gradient, a column, and the Hessian of a function with respect to some coordinates."""

    gradient: Any
    hessian: Any

    def along(self, slopes: Any) -> Derivatives:
        """The derivatives in new coordinates, of which the former ones are affine-linear functions.

        ``slopes`` has a row for each former coordinate and a column for each new one.
        """
        transposed = slopes.transpose()
        return Derivatives(transposed * self.gradient, transposed * self.hessian * slopes)


class Landscape:
    """A loss as a function of the coordinates of a chart, exactly or in intervals."""

    def __init__(self, loss: Loss, weights: ChartWeights) -> None:
        """Take the loss, and the weights as polynomials in the coordinates of the chart."""
        self.shape, self.weights = loss.shape, weights
        # the loss as a function of c, and the same numbers as intervals or rectangles, by the class
        # of their matrices and their precision
        self.exact_loss = QuadraticFunction(loss.gram, loss.linear, loss.constant)
        self.losses_by_class: dict[tuple[Any, int], QuadraticFunction] = {}
        # the derivatives of the entries of weights, in rows, by the coordinates of the chart
        blocks = [weights.A, weights.V]
        if weights.K is not None and weights.Q is not None:
            blocks = [weights.K, weights.Q, weights.V]
        entries = [entry for block in blocks for row in block for entry in row]
        slopes = []
        for entry in entries:
            # a derivative is an integer, the leading coefficient of a constant polynomial, or 0
            slopes += [int(entry.diff(x).LC) for x in weights.ring.gens]
        self.slopes = flint.fmpz_mat(len(entries), weights.ring.ngens, slopes)

    def values(self, point: Sequence[Any]) -> LossAtPoint:
        """The weights, the function, the loss, its gradient and its Hessian at a point of a chart.

        If its coordinates are rational the values are exact; if they are intervals or rectangles,
        the values are intervals or rectangles that contain the values at all points of the box.
        """
        matrix_class = MATRIX_CLASSES[type(point[0])]
        loss = self._loss_in(matrix_class)
        matrices = self._matrices(point, matrix_class)
        A, V = matrices["A"], matrices["V"]
        # the derivatives of the coordinates c, in rows, along the entries of A and of V
        d, count = self.shape.d, self.shape.independent_count
        along_A = matrix_class(count, d * d)
        along_V = matrix_class(count, self.shape.d_out * d)
        entries_of_A, entries_of_V = A.entries(), V.entries()
        for number, of_A, of_V in bilinear_terms(self.shape):
            along_A[number, of_A] = entries_of_V[of_V]
            along_V[number, of_V] = entries_of_A[of_A]
        function = along_A * matrix_class(d * d, 1, entries_of_A)  # c is linear in A
        # with the error E = Gc − b and J = ∂c the gradient is JᵀE, and the Hessian JᵀGJ + Σ E ∂²c
        error = loss.gram * function - loss.linear
        J = _stack_rows(along_A.transpose(), along_V.transpose()).transpose()
        hessian = J.transpose() * (loss.gram * J)
        for number, of_A, of_V in bilinear_terms(self.shape):
            hessian[of_A, d * d + of_V] += error[number, 0]
            hessian[d * d + of_V, of_A] += error[number, 0]
        by_weights = Derivatives(J.transpose() * error, hessian)
        if "K" in matrices:
            by_weights = self._derivatives_by_factors(matrices["K"], matrices["Q"], by_weights)
        in_chart = by_weights.along(matrix_class(self.slopes))
        return LossAtPoint(
            matrices=matrices,
            function=function,
            loss=loss.value(function),
            gradient=in_chart.gradient,
            hessian=in_chart.hessian,
        )

    def _loss_in(self, matrix_class: Any) -> QuadraticFunction:
        """The loss with matrices of a class: exact, or of the present precision."""
        if matrix_class is flint.fmpq_mat:
            return self.exact_loss
        key = (matrix_class, flint.ctx.prec)
        if key not in self.losses_by_class:
            exact = self.exact_loss
            # a ball is made of a rational number first, and a rectangle of balls
            gram, linear = flint.arb_mat(exact.gram), flint.arb_mat(exact.linear)
            self.losses_by_class[key] = QuadraticFunction(
                matrix_class(gram), matrix_class(linear), flint.arb(exact.constant)
            )
        return self.losses_by_class[key]

    def _matrices(self, point: Sequence[Any], matrix_class: Any) -> dict[str, Any]:
        """A and V, and K and Q for a < d, at a point, by their names."""

        def at_point(matrix: Entries) -> Any:
            entries = [_value(entry, point) for row in matrix for entry in row]
            return matrix_class(len(matrix), len(matrix[0]), entries)

        weights = self.weights
        V = at_point(weights.V)
        if weights.K is None or weights.Q is None:
            return {"A": at_point(weights.A), "V": V}
        K = at_point(weights.K)
        Q = at_point(weights.Q)
        return {"K": K, "Q": Q, "V": V, "A": K.transpose() * Q}

    def _derivatives_by_factors(self, K: Any, Q: Any, by_A_and_V: Derivatives) -> Derivatives:
        """Gradient and Hessian by all entries of K, Q and V, where A = KᵀQ, by the chain rule.

        The Hessian is the one for an affine-linear A, plus for each A_pi its second derivatives
        times the derivative of the loss along A_pi. As A_pi = Σ_e K_ep Q_ei, these are 1 for the
        pairs (K_ep, Q_ei), and else 0.
        """
        d, alpha, d_out = self.shape.d, self.shape.alpha, self.shape.d_out
        # the numbers of the rows or columns of A_pi, K_ep and Q_ei
        places = []
        for e, p, i in product(range(alpha), range(d), range(d)):
            places.append((e, p, i, p * d + i, e * d + p, alpha * d + e * d + i))
        slopes = type(K)(d * d + d_out * d, 2 * alpha * d + d_out * d)
        for e, p, i, of_A, of_K, of_Q in places:
            slopes[of_A, of_K] += Q[e, i]
            slopes[of_A, of_Q] += K[e, p]
        for j in range(d_out * d):  # V itself
            slopes[d * d + j, 2 * alpha * d + j] = 1
        gradient, hessian = by_A_and_V.along(slopes)
        for _, _, _, of_A, of_K, of_Q in places:
            hessian[of_K, of_Q] += by_A_and_V.gradient[of_A, 0]
            hessian[of_Q, of_K] += by_A_and_V.gradient[of_A, 0]
        return Derivatives(gradient, hessian)

    def critical_point(
        self, sides: Sequence[CoordinateSide], *, only_dense: bool = False
    ) -> RealPoint:
        """The critical point in a box with these sides, and all that is proved of it.

        With ``only_dense`` the box was isolated among the points of the dense orbit; then it may
        contain other rational points, which are not meant. Two isolating boxes may lead to one
        point, as the box in which it is proved to exist need not lie inside of them: then
        ``may_be`` holds for both, and :meth:`Isolation.real_points` refuses to list them.
        """
        exact = [flint_rational(simplest_between(*side)) for side in sides]
        values = self.values(exact)
        if not any(values.gradient.entries()):
            with flint.ctx.workprec(PRECISIONS[0]):
                point = self._exact_point(exact, values)
            if point.is_dense or not only_dense:
                return point
        for bits in PRECISIONS:
            with flint.ctx.workprec(bits):
                box = self._proved_box(sides)
                if box is not None:
                    return self._proved_point(box)
        with flint.ctx.workprec(PRECISIONS[-1]):
            return self._isolated_point(sides)

    def _exact_point(self, point: list[flint.fmpq], values: LossAtPoint) -> RealPoint:
        """A rational critical point, which may be degenerate, with exact ``values`` there."""
        size, rank = values.hessian.nrows(), values.hessian.rank()
        # the signature is the number of positive less the number of negative eigenvalues
        index = (rank - signature(values.hessian.tolist())) // 2
        kind = "undecided"
        if rank == size:
            kind = _kind_of_point(index, size)
        elif 0 < index < rank:
            kind = "saddle"  # also for a degenerate Hessian, as it has both signs
        elif values.loss == 0:
            kind = "minimum"  # also for a degenerate Hessian, as no loss is smaller
        A, V = values.matrices["A"], values.matrices["V"]
        spanning = _stack_rows(A.transpose(), V)  # rows span the columns of A and the rows of V
        ranks = FunctionRanks(A.rank(), V.rank(), spanning.rank())
        return RealPoint(
            kind=kind,
            index=index,
            proved=True,
            loss_interval=flint.arb(values.loss),
            least_ranks=ranks,
            ranks=ranks,
            is_dense=ranks == self.dense_ranks(),
            entries=_shown_entries(values),
            coordinates=[flint.arb(x) for x in point],
            function=flint.arb_mat(values.function),
        )

    def _proved_point(self, box: list[flint.arb]) -> RealPoint:
        """The only critical point in a box, which is nondegenerate, as :meth:`_proved_box` proves.

        Lower bounds for ranks are the ranks only if these are the ranks in the dense orbit.
        """
        values = self.values(box)
        index = negative_eigenvalues(values.hessian)
        least_ranks = self.least_ranks(values)
        is_dense = least_ranks == self.dense_ranks()
        return RealPoint(
            kind="undecided" if index is None else _kind_of_point(index, len(box)),
            index=index,
            proved=True,
            loss_interval=values.loss,
            least_ranks=least_ranks,
            ranks=least_ranks if is_dense else None,
            is_dense=is_dense,
            entries=_shown_entries(values),
            coordinates=box,
            function=values.function,
        )

    def _isolated_point(self, sides: Sequence[CoordinateSide]) -> RealPoint:
        """What is known of a box with a degenerate critical point or none: values on all of it."""
        box = [interval_of_ends(*side) for side in sides]
        values = self.values(box)
        return RealPoint(
            kind="undecided",
            index=None,
            proved=False,
            loss_interval=values.loss,
            least_ranks=FunctionRanks(0, 0, 0),
            ranks=None,
            is_dense=False,
            entries=_shown_entries(values),
            coordinates=box,
            function=values.function,
        )

    def dense_ranks(self) -> FunctionRanks:
        """The ranks of functions in the dense orbit."""
        dense = generic_orbit(self.shape)  # r, s and span are the ranks of A and V, and of both
        return FunctionRanks(dense.r, dense.s, dense.span)

    def _proved_box(self, sides: Sequence[CoordinateSide]) -> list[flint.arb] | None:
        """A box that overlaps the sides, with exactly one zero of the gradient, or ``None``."""
        middle = [flint.arb(flint_rational((low + high) / 2)) for low, high in sides]
        box = self.proved_box_near(middle)
        if box is None:
            return None
        overlaps = (x.overlaps(interval_of_ends(*side)) for x, side in zip(box, sides, strict=True))
        return box if all(overlaps) else None

    def proved_box_near(self, point: Sequence[Any]) -> list[Any] | None:
        """A box with exactly one zero of the gradient, of real or of complex numbers, or ``None``.

        It is the image of Krawczyk's test, for a small box around the point to which Newton's
        method leads from ``point``.
        """
        try:
            for _ in range(12):  # each step doubles the number of correct digits
                values = self.values(point)
                # the middles of intervals are numbers
                step = values.hessian.mid().solve(values.gradient.mid())
                point = [(x - step[j, 0]).mid() for j, x in enumerate(point)]
            image = self._krawczyk_image(point)
        except ZeroDivisionError:  # a Hessian is not invertible
            return None
        box = _box_around(point)
        is_proved = all(x.contains_interior(y) for x, y in zip(box, image, strict=True))
        return image if is_proved else None

    def _krawczyk_image(self, point: Sequence[Any]) -> list[Any]:
        """The box x − Y ∇L(x) + (1 − Y H(X))(X − x), for a point x and the box X around it."""
        count = len(point)
        matrix_class = MATRIX_CLASSES[type(point[0])]
        x = matrix_class(count, 1, list(point))
        values = self.values(point)
        Y = values.hessian.mid().inv().mid()
        identity = matrix_class(
            count, count, [int(i == j) for i in range(count) for j in range(count)]
        )
        slope = identity - Y * self.values(_box_around(point)).hessian
        X_less_x = matrix_class(count, 1, [_ball_around_zero(entry) for entry in point])
        image = x - Y * values.gradient + slope * X_less_x
        return list(image.entries())

    def least_ranks(self, values: LossAtPoint) -> FunctionRanks:
        """Lower bounds for the ranks of a function, by intervals or rectangles."""
        A, V = values.matrices["A"], values.matrices["V"]
        spanning = _stack_rows(A.transpose(), V)  # rows span the columns of A and the rows of V
        return FunctionRanks(least_rank(A), least_rank(V), least_rank(spanning))


def _ball_around_zero(x: Any) -> Any:
    """The box around a point, less the point, in one coordinate x: an interval or a rectangle.

    A third of the bits: the product of two radii, by which the Hessian varies, has to be small.
    """
    radius = flint.arb(2) ** -(flint.ctx.prec // 3) * (1 + abs(x).mid())
    interval = flint.arb(0, radius)
    return interval if isinstance(x, flint.arb) else flint.acb(interval, interval)


def _box_around(point: Sequence[Any]) -> list[Any]:
    """The small box around a point in which a critical point is proved to lie."""
    return [x + _ball_around_zero(x) for x in point]


def _kind_of_point(index: int, size: int) -> str:
    """The kind of a nondegenerate critical point, by its index and the size of the Hessian."""
    if index == 0:
        return "minimum"
    return "maximum" if index == size else "saddle"


def _shown_entries(values: LossAtPoint) -> dict[str, MatrixOfIntervals]:
    """The matrices of weights by their names, with intervals as entries."""
    intervals = {}
    for name, matrix in values.matrices.items():
        intervals[name] = tuple(
            tuple(shown_entry(flint.arb(x)) for x in row) for row in matrix.tolist()
        )
    return intervals


def _finite_or_none(number: float) -> float | None:
    """The number; ``None`` if it is infinite."""
    return number if isfinite(number) else None


def _value(polynomial: Any, point: Sequence[Any]) -> Any:
    """The value at a point of an affine-linear polynomial of SymPy's, with integer coefficients."""
    zero = 0 * point[0]  # of the type of the coordinates
    total = zero
    for exponents, coefficient in polynomial.terms():
        term = zero + int(coefficient)
        for exponent, x in zip(exponents, point, strict=True):
            if exponent:  # it is 0 or 1
                term *= x
        total += term
    return total


def _stack_rows(upper: Any, lower: Any) -> Any:
    """The matrix with the rows of ``upper``, then the rows of ``lower``."""
    rows = upper.nrows() + lower.nrows()
    return type(upper)(rows, upper.ncols(), upper.entries() + lower.entries())
