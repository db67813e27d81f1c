"""The loss at real weights: values, gradient, Hessian, and what they prove.

Another program has isolated a critical point in a box. If the simplest rational numbers in the box
are critical, all is computed exactly. Otherwise it is proved to exist by Krawczyk's test, in
interval arithmetic: for a box X around x and Y ≈ H(x)⁻¹, if x − Y ∇L(x) + (1 − Y H(X))(X − x) lies
in the interior of X, then X contains exactly one zero of the gradient, and the Hessian H is
invertible there. Source: R. E. Moore, *A test for existence of solutions to nonlinear systems*,
SIAM J. Numer. Anal. 14 (1977).

A chart has coordinates, in which the entries of A and V, or of K, Q and V for a < d, are
affine-linear. c_{k,i,{p,q}} = A_pi V_kq + A_qi V_kp, or A_pi V_kp for p = q, are the coordinates of
a function; the loss is L = ½ cᵀGc − bᵀc + constant.
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
from m2bridge.families.attention.orbits.orbits import Orbit, generic_orbit
from m2bridge.families.attention.orbits.parametrization import indices
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training_loss.gradient import ChartWeights, Entries, is_scaled_in_A
from m2bridge.families.attention.training_loss.loss import Loss, Scaling

MatrixOfIntervals = tuple[tuple[flint.arb, ...], ...]
"""The rows of a matrix of intervals."""

PRECISIONS = (200, 800, 3200)
"""The precisions of the intervals, in binary digits, that are tried until a point is proved: where
coordinates are of very different sizes, few digits do not suffice.
"""
NEWTON_STEPS = 12
"""The number of steps of Newton's method: each doubles the number of correct digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossAtPoint:
    """The matrices of weights, the loss, its gradient and its Hessian, in a chart.

    All are FLINT's numbers and matrices: rational (``fmpq``), or intervals (``arb``).

    Parameters
    ----------
    matrices : dict of str to matrix
        A and V, and for a < d K and Q.
    function : column
        The reduced coordinates c of the function.
    loss : number
    gradient : column
        The derivatives with respect to the coordinates of the chart.
    hessian : matrix
        The second derivatives with respect to these coordinates.
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

    Parameters
    ----------
    kind : {"minimum", "saddle", "maximum", "undecided"}
        By the signature of the Hessian in the chart, so modulo rescaling, and for a < d modulo
        GL(a). Where the Hessian is not shown to be invertible the kind is undecided, with two
        exceptions at rational points: a saddle, if the Hessian has eigenvalues of both signs, and a
        minimum, if the loss is 0.
    index : int or None
        The number of negative eigenvalues of that Hessian, at a rational point also of a Hessian
        that is not invertible; ``None`` where it is not decided.
    proved : bool
        Whether there is a critical point in the box of the point; if not, this is what the program
        says that isolated it.
    loss_interval : flint.arb
        An interval with the loss; at a point that is not proved, with the losses in the whole box
        that should contain it.
    least_ranks : FunctionRanks
        Lower bounds for ranks, which are proved: zero at a point that is not proved.
    ranks : FunctionRanks or None
        The ranks; ``None`` where they are not decided.
    is_dense : bool
        Whether the function is proved to be in the dense orbit.
    entries : dict of str to rows of flint.arb
        A and V, and for a < d K and Q. An entry is exactly 0 if its interval contains 0 and is
        short.
    coordinates : list of flint.arb
        Intervals for the coordinates in the chart, for a loss that is scaled.
    function : flint.arb_mat
        The coordinates of the function.
    """

    kind: str
    index: int | None
    proved: bool
    loss_interval: flint.arb
    least_ranks: FunctionRanks
    ranks: FunctionRanks | None
    is_dense: bool
    entries: dict[str, MatrixOfIntervals]
    coordinates: list[flint.arb]
    function: flint.arb_mat

    @property
    def loss(self) -> FloatInterval:
        """A lower and an upper bound for the loss, in floating-point numbers; ∞ if it is larger
        than all of them.
        """
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
        """The orbit of the function; ``None`` if it is not decided, or the function is zero."""
        return None if self.ranks is None else self.ranks.orbit

    @property
    def is_zero(self) -> bool | None:
        """Whether the function is zero; ``None`` where it is not decided."""
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
        """The fields, for ``json.dumps``: "orbit" is None also for the zero function, and so is a
        number that is too large for floating-point numbers.
        """
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

    def gradient(self, c: Any) -> Any:
        """The gradient at a column c, the column Gc − b."""
        return self.gram * c - self.linear


class Derivatives(NamedTuple):
    """The gradient, a column, and the Hessian of a function with respect to some coordinates."""

    gradient: Any
    hessian: Any

    def along(self, slopes: Any) -> Derivatives:
        """The derivatives with respect to new coordinates, of which the former ones are
        affine-linear functions.

        The matrix ``slopes`` has a row for each former coordinate and a column for each new one.
        """
        transposed = slopes.transpose()
        return Derivatives(transposed * self.gradient, transposed * self.hessian * slopes)


class Landscape:
    """A loss as a function of the coordinates of a chart, with values that are intervals.

    ``exact_loss`` is the loss as a function of the reduced coordinates c, and ``interval_losses``
    has the same numbers as intervals, by their precision. ``slopes`` has the derivatives of the
    entries of weights, in rows, by the coordinates of the chart, in columns: entries are
    affine-linear. Weights stand in the order A, V, or K, Q, V for a < d, row by row.
    """

    def __init__(self, loss: Loss, weights: ChartWeights) -> None:
        """Take the loss, and the weights as polynomials in the coordinates of the chart."""
        self.shape, self.weights = loss.shape, weights
        self.exact_loss = QuadraticFunction(loss.gram, loss.linear, loss.constant)
        self.interval_losses: dict[int, QuadraticFunction] = {}
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
        """The weights, the function, the loss, its gradient and its Hessian at a point.

        The point is given by its coordinates in the chart. If these are rational, all ``fmpq``, the
        values are exact; if they are intervals, all ``arb``, the values are intervals that contain
        those at all points of the box.
        """
        loss, matrix_class = self._interval_loss(), flint.arb_mat
        if isinstance(point[0], flint.fmpq):
            loss, matrix_class = self.exact_loss, flint.fmpq_mat
        matrices = self._matrices(point, matrix_class)
        A, V = matrices["A"], matrices["V"]
        entries_of_A = matrix_class(A.nrows() * A.ncols(), 1, A.entries())
        function = self._derivatives_along_A(V) * entries_of_A  # c is linear in A
        by_weights = self._derivatives_by_A_and_V(loss, A, V, function)
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

    def _interval_loss(self) -> QuadraticFunction:
        """The loss with intervals of the present precision."""
        bits = flint.ctx.prec
        if bits not in self.interval_losses:
            exact = self.exact_loss
            self.interval_losses[bits] = QuadraticFunction(
                flint.arb_mat(exact.gram), flint.arb_mat(exact.linear), flint.arb(exact.constant)
            )
        return self.interval_losses[bits]

    def _matrices(self, point: Sequence[Any], matrix_class: Any) -> dict[str, Any]:
        """A and V, and K and Q for a < d, at a point, by their names.

        ``matrix_class`` is FLINT's class for matrices with such entries, ``fmpq_mat`` or
        ``arb_mat``.
        """

        def at_point(matrix: Entries) -> Any:
            """The value at ``point`` of a matrix of polynomials in the coordinates of the chart."""
            entries = [_value(entry, point) for row in matrix for entry in row]
            return matrix_class(len(matrix), len(matrix[0]), entries)

        weights = self.weights
        V = at_point(weights.V)
        if weights.K is None or weights.Q is None:
            return {"A": at_point(weights.A), "V": V}
        K = at_point(weights.K)
        Q = at_point(weights.Q)
        return {"K": K, "Q": Q, "V": V, "A": K.transpose() * Q}

    def _derivatives_by_A_and_V(
        self, loss: QuadraticFunction, A: Any, V: Any, function: Any
    ) -> Derivatives:
        """Gradient and Hessian of ``loss`` by all entries of A, and then of V, row by row.

        ``function`` is the column c of the function of A and V. With the error E = Gc − b and the
        derivative J of c, a matrix, the gradient is JᵀE, and the Hessian JᵀGJ + Σ E ∂²c.
        """
        error = loss.gradient(function)
        J = _join_columns(self._derivatives_along_A(V), self._derivatives_along_V(A))
        hessian = J.transpose() * (loss.gram * J)
        self._add_second_derivatives(hessian, error)
        return Derivatives(J.transpose() * error, hessian)

    def _derivatives_along_A(self, V: Any) -> Any:
        """The matrix of derivatives of the coordinates c, in rows, along the entries of A.

        The column for A_pi has the number p d + i. As c_{k,i,p,q} is A_pi V_kq + A_qi V_kp, or
        A_pi V_kp for p = q, the entries are those of ``V``.
        """
        d = self.shape.d
        matrix = type(V)(self.shape.independent_count, d * d)
        for row, (k, i, p, q) in enumerate(indices(self.shape)):
            matrix[row, p * d + i] += V[k, q]
            if p != q:
                matrix[row, q * d + i] += V[k, p]
        return matrix

    def _derivatives_along_V(self, A: Any) -> Any:
        """The matrix of derivatives of the coordinates c, in rows, along the entries of V.

        The column for V_kq has the number k d + q. As c_{k,i,p,q} is A_pi V_kq + A_qi V_kp, or
        A_pi V_kp for p = q, the entries are those of ``A``.
        """
        d = self.shape.d
        matrix = type(A)(self.shape.independent_count, self.shape.d_out * d)
        for row, (k, i, p, q) in enumerate(indices(self.shape)):
            matrix[row, k * d + q] += A[p, i]
            if p != q:
                matrix[row, k * d + p] += A[q, i]
        return matrix

    def _add_second_derivatives(self, hessian: Any, error: Any) -> None:
        """Add the sum of error · ∂²c over all coordinates c to a Hessian matrix, in place.

        ``error`` is a column with an entry for each c. A second derivative of c is not 0 only with
        respect to an entry of A and one of V whose product occurs in c: c_{k,i,{p,q}} has the
        products A_pi V_kq and A_qi V_kp, or A_pi V_kp alone for p = q.
        """
        d = self.shape.d
        for number, (k, i, p, q) in enumerate(indices(self.shape)):
            for row_of_A, column_of_V in {(p, q), (q, p)}:
                of_A = row_of_A * d + i
                of_V = d * d + k * d + column_of_V
                hessian[of_A, of_V] += error[number, 0]
                hessian[of_V, of_A] += error[number, 0]

    def _derivatives_by_factors(self, K: Any, Q: Any, by_A_and_V: Derivatives) -> Derivatives:
        """Gradient and Hessian of the loss by all entries of K, Q and V, where A = KᵀQ.

        ``by_A_and_V`` are those with respect to the entries of A and V. By the chain rule the
        Hessian is that for an affine-linear A, plus for each A_pi its second derivatives times the
        derivative of the loss with respect to A_pi. As A_pi = Σ_e K_ep Q_ei, its second derivatives
        are 1 for the pairs (K_ep, Q_ei), and else 0. In the rows of the result K_ep has the number
        e d + p, and Q_ei the number a d + e d + i.
        """
        d, alpha = self.shape.d, self.shape.alpha
        gradient, hessian = by_A_and_V.along(self._slopes_of_product(K, Q))
        for e, p, i in product(range(alpha), range(d), range(d)):
            of_K = e * d + p
            of_Q = alpha * d + e * d + i
            along_A_pi = by_A_and_V.gradient[p * d + i, 0]
            hessian[of_K, of_Q] += along_A_pi
            hessian[of_Q, of_K] += along_A_pi
        return Derivatives(gradient, hessian)

    def _slopes_of_product(self, K: Any, Q: Any) -> Any:
        """The matrix of derivatives with a row for each entry of A = KᵀQ and V, and a column for
        each entry of K, Q and V; entries of all matrices are numbered row by row.

        The derivative of A_pi with respect to K_ep is Q_ei, and with respect to Q_ei it is K_ep.
        """
        d, alpha, d_out = self.shape.d, self.shape.alpha, self.shape.d_out
        entries_of_K_and_Q = 2 * alpha * d
        slopes = type(K)(d * d + d_out * d, entries_of_K_and_Q + d_out * d)
        for e, p, i in product(range(alpha), range(d), range(d)):
            of_A = p * d + i
            slopes[of_A, e * d + p] += Q[e, i]
            slopes[of_A, alpha * d + e * d + i] += K[e, p]
        for j in range(d_out * d):  # V itself
            slopes[d * d + j, entries_of_K_and_Q + j] = 1
        return slopes

    def critical_point(
        self, sides: Sequence[CoordinateSide], *, only_dense: bool = False
    ) -> RealPoint:
        """The critical point in a box, and all that is proved of it.

        ``sides`` has for each coordinate of the chart the two numbers that it lies between. If the
        simplest rational numbers between them are critical, the point is exact; else it is proved
        to exist, if that succeeds, or only isolated. With ``only_dense`` the box was isolated among
        the points of the dense orbit; then it may contain other rational points, which are not
        meant.

        Two isolating boxes may lead to one point, as the box in which it is proved to exist need
        not lie inside of them. Then ``may_be`` holds for both points, and
        :meth:`Isolation.real_points` refuses to list them.
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
        exact = _exact_kind(values)
        A, V = values.matrices["A"], values.matrices["V"]
        spanning = _stack_rows(A.transpose(), V)  # rows span the columns of A and the rows of V
        ranks = FunctionRanks(A.rank(), V.rank(), spanning.rank())
        return RealPoint(
            kind=exact.kind,
            index=exact.index,
            proved=True,
            loss_interval=flint.arb(values.loss),
            least_ranks=ranks,
            ranks=ranks,
            is_dense=ranks == self._dense_ranks(),
            entries=_shown_entries(values),
            coordinates=[flint.arb(x) for x in point],
            function=flint.arb_mat(values.function),
        )

    def _proved_point(self, box: list[flint.arb]) -> RealPoint:
        """The only critical point in a box, which is nondegenerate, as :meth:`_proved_box` proves.

        For the ranks of A, V and their span there are lower bounds only. If these are the ranks in
        the dense orbit, they are the ranks, as no function has larger ones.
        """
        values = self.values(box)
        index = negative_eigenvalues(values.hessian)
        A, V = values.matrices["A"], values.matrices["V"]
        spanning = _stack_rows(A.transpose(), V)
        least_ranks = FunctionRanks(least_rank(A), least_rank(V), least_rank(spanning))
        is_dense = least_ranks == self._dense_ranks()
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
        """What is known where no critical point is proved to lie in a box with these sides.

        There may be one that is degenerate, or none. So kind, index and ranks are undecided, and
        loss, weights and function are the intervals of their values on the whole box.
        """
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

    def _dense_ranks(self) -> FunctionRanks:
        """The ranks of functions in the dense orbit."""
        dense = generic_orbit(self.shape)  # r, s and span are the ranks of A and V, and of both
        return FunctionRanks(dense.r, dense.s, dense.span)

    def _proved_box(self, sides: Sequence[CoordinateSide]) -> list[flint.arb] | None:
        """A box with exactly one zero of the gradient, where the Hessian is invertible; or None.

        It is the image of Krawczyk's test of the top of the file, for a small box around the point
        to which Newton's method leads from the middle of the sides; and it overlaps ``sides``.
        ``None`` if the test fails, or the image lies outside of the sides.
        """
        middle = [flint.arb(flint_rational((low + high) / 2)) for low, high in sides]
        try:
            point = self._after_newton_steps(middle)
            image = self._krawczyk_image(point)
        except ZeroDivisionError:  # a Hessian is not invertible
            return None
        box = _box_around(point)
        for j, side in enumerate(sides):
            is_in_interior = box[j].contains_interior(image[j])
            overlaps_side = image[j].overlaps(interval_of_ends(*side))
            if not (is_in_interior and overlaps_side):
                return None
        return image

    def _after_newton_steps(self, point: list[flint.arb]) -> list[flint.arb]:
        """The point after NEWTON_STEPS steps of Newton's method for a zero of the gradient.

        Of intervals the middles are taken, which are numbers. ZeroDivisionError if a Hessian is not
        invertible.
        """
        for _ in range(NEWTON_STEPS):
            values = self.values(point)
            step = values.hessian.mid().solve(values.gradient.mid())
            point = [(x - step[j, 0]).mid() for j, x in enumerate(point)]
        return point

    def _krawczyk_image(self, point: list[flint.arb]) -> list[flint.arb]:
        """The box x − Y ∇L(x) + (1 − Y H(X))(X − x), for a point x and the box X around it.

        X is :func:`_box_around` x, and Y the approximate inverse of the Hessian H(x).
        ZeroDivisionError if H(x) is not invertible.
        """
        count = len(point)
        x = flint.arb_mat(count, 1, point)
        values = self.values(point)
        Y = values.hessian.mid().inv().mid()
        identity = flint.arb_mat(
            count, count, [int(i == j) for i in range(count) for j in range(count)]
        )
        slope = identity - Y * self.values(_box_around(point)).hessian
        X_less_x = flint.arb_mat(count, 1, [flint.arb(0, _radius_at(entry)) for entry in point])
        image = x - Y * values.gradient + slope * X_less_x
        return list(image.entries())


def _radius_at(x: flint.arb) -> flint.arb:
    """The radius, in one coordinate, of the box around a point whose coordinate is x.

    A third of the bits: the product of two radii, by which the Hessian varies, has to be small.
    """
    return flint.arb(2) ** -(flint.ctx.prec // 3) * (1 + abs(x).mid())


def _box_around(point: Sequence[flint.arb]) -> list[flint.arb]:
    """The small box around a point in which a critical point is proved to lie."""
    return [x + flint.arb(0, _radius_at(x)) for x in point]


@dataclass(frozen=True, slots=True)
class _KindOfPoint:
    """The fields ``kind`` and ``index`` of :class:`RealPoint`, for a point where both are exact."""

    kind: str
    index: int


def _exact_kind(values: LossAtPoint) -> _KindOfPoint:
    """The kind and the index of a critical point, of which all ``values`` are rational.

    Where the Hessian has not full rank the kind may be undecided; the index is the number of its
    negative eigenvalues in any case.
    """
    size = values.hessian.nrows()
    rank = values.hessian.rank()
    # the signature is the number of positive less that of negative eigenvalues
    negative = (rank - signature(values.hessian.tolist())) // 2
    kind = "undecided"
    if rank == size:
        kind = _kind_of_point(negative, size)
    elif 0 < negative < rank:
        kind = "saddle"  # also for a degenerate Hessian, as it has both signs
    elif values.loss == 0:
        kind = "minimum"  # also for a degenerate Hessian, as no loss is smaller
    return _KindOfPoint(kind, negative)


def _kind_of_point(index: int, size: int) -> str:
    """The kind of a nondegenerate critical point: ``minimum``, ``saddle`` or ``maximum``.

    ``index`` is the number of negative eigenvalues of the Hessian, and ``size`` that of all its
    eigenvalues.
    """
    if index == 0:
        return "minimum"
    return "maximum" if index == size else "saddle"


def _shown_entries(values: LossAtPoint) -> dict[str, MatrixOfIntervals]:
    """The matrices of weights by their names, with intervals as entries."""
    shown = {}
    for name, matrix in values.matrices.items():
        shown[name] = tuple(
            tuple(shown_entry(flint.arb(x)) for x in row) for row in matrix.tolist()
        )
    return shown


def _finite_or_none(number: float) -> float | None:
    """The number; ``None`` if it is infinite."""
    return number if isfinite(number) else None


def _value(polynomial: Any, point: Sequence[Any]) -> Any:
    """The value at a point of an affine-linear polynomial of SymPy's, with integer coefficients.

    The coordinates of the point, at least one, are intervals or rational numbers.
    """
    zero = 0 * point[0]  # of the type of the coordinates
    total = zero
    for exponents, coefficient in polynomial.terms():
        term = zero + int(coefficient)
        for exponent, x in zip(exponents, point, strict=True):
            if exponent:  # it is 0 or 1
                term *= x
        total += term
    return total


def _join_columns(left: Any, right: Any) -> Any:
    """The matrix with the columns of ``left``, then those of ``right``; both have as many rows."""
    return _stack_rows(left.transpose(), right.transpose()).transpose()


def _stack_rows(upper: Any, lower: Any) -> Any:
    """The matrix with the rows of ``upper``, then those of ``lower``; both have as many columns."""
    rows = upper.nrows() + lower.nrows()
    return type(upper)(rows, upper.ncols(), upper.entries() + lower.entries())
