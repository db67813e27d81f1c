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
"""The precision of the intervals, in binary digits."""
NEWTON_STEPS = 12
"""The number of steps of Newton's method: each doubles the number of correct digits."""
RADIUS = flint.arb(2) ** -70
"""The radius of the box in which a critical point is proved to lie, divided by 1 + |x| for each
coordinate x of its centre.
"""

FloatInterval = tuple[float, float]
CoordinateSide = tuple[Fraction, Fraction]
"""The side of a box in one coordinate: its lower and its upper end."""


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
        The derivatives by the coordinates of the chart.
    hessian : matrix
        The second derivatives by these.
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
        """The orbit of a function with these ranks; ``None`` if the function is zero."""
        if self.A == 0 or self.V == 0:
            return None
        dimension_of_intersection = self.A + self.V - self.span
        return Orbit(self.A, self.V, dimension_of_intersection)


@dataclass(frozen=True, slots=True, kw_only=True)
class RealPoint:
    """A real critical point of a loss.

    Parameters
    ----------
    kind : {"minimum", "saddle", "maximum", "undecided"}
        By the signature of the Hessian modulo the rescaling, and for a < d modulo GL(a); undecided
        where the Hessian is not shown to be invertible, unless the point is rational and it has
        both signs (a saddle), or the loss is 0 (a minimum).
    index : int or None
        The number of negative eigenvalues of that Hessian; ``None`` where it is not decided.
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
            return False  # the lower bounds for the ranks of A and V are not zero
        return None

    def may_be(self, other: RealPoint) -> bool:
        """Whether two points may be one: whether the intervals of all coordinates overlap."""
        pairs = zip(self.coordinates, other.coordinates, strict=True)
        return all(x.overlaps(y) for x, y in pairs)

    def to_json(self) -> dict[str, Any]:
        """The fields, for ``json.dumps``: "orbit" is None also for the zero function."""
        return {
            "kind": self.kind,
            "index": self.index,
            "loss": list(self.loss),
            "orbit": None if self.orbit is None else self.orbit.to_json(),
            "zero": self.is_zero,
            "weights": {name: list(map(list, rows)) for name, rows in self.weights.items()},
        }


class Landscape:
    """A loss as a function of the coordinates of a chart, with values that are intervals.

    ``gram``, ``linear`` and ``constant`` are those of the loss, as intervals. ``slopes`` has the
    derivatives of the entries of weights, in rows, by the coordinates of the chart, in columns:
    entries are affine-linear. Weights stand in the order A, V, or K, Q, V for a < d, row by row.
    """

    def __init__(self, loss: Loss, weights: ChartWeights) -> None:
        """Take the loss, and the weights as polynomials in the coordinates of the chart."""
        self.loss, self.shape, self.weights = loss, loss.shape, weights
        with flint.ctx.workprec(BITS):
            self.gram, self.linear = flint.arb_mat(loss.gram), flint.arb_mat(loss.linear)
            self.constant = flint.arb(loss.constant)
        blocks = [weights.A, weights.V]
        if weights.K is not None and weights.Q is not None:
            blocks = [weights.K, weights.Q, weights.V]
        entries = [entry for block in blocks for row in block for entry in row]
        slopes = []
        for entry in entries:
            # a derivative is a number, the leading coefficient of a constant polynomial, or 0
            slopes += [int(entry.diff(x).LC) for x in weights.ring.gens]
        self.slopes = flint.fmpz_mat(len(entries), weights.ring.ngens, slopes)

    def values(self, point: Sequence[Any]) -> LossAtPoint:
        """The weights, the function, the loss, its gradient and its Hessian at a point.

        The point is given by its coordinates in the chart. If these are rational, all ``fmpq``, the
        values are exact; if they are intervals, all ``arb``, the values are intervals that contain
        those at all points of the box.

        With the error E = Gc − b and the derivative J of c by the entries of A and V, the gradient
        of the loss by these is JᵀE, and its Hessian JᵀGJ + Σ E ∂²c. From there the chain rule leads
        to the entries of K, Q and V, if a < d, and to the coordinates of the chart (``slopes``).
        """
        gram, linear, constant = self.gram, self.linear, self.constant
        matrix_class: Any = flint.arb_mat
        if isinstance(point[0], flint.fmpq):
            gram, linear, constant = self.loss.gram, self.loss.linear, self.loss.constant
            matrix_class = flint.fmpq_mat
        matrices = self._matrices(point, matrix_class)
        A, V = matrices["A"], matrices["V"]
        along_A = self._derivatives_along_A(V)
        along_V = self._derivatives_along_V(A)
        # c is linear in A
        function = along_A * matrix_class(A.nrows() * A.ncols(), 1, A.entries())
        image = gram * function  # G c
        error = image - linear
        quadratic_part = (function.transpose() * image)[0, 0] / 2
        linear_part = (linear.transpose() * function)[0, 0]
        loss = quadratic_part - linear_part + constant
        derivative = _join_columns(along_A, along_V)
        gradient = derivative.transpose() * error
        hessian = derivative.transpose() * (gram * derivative)
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

        ``error`` is a column with an entry for each c. Second derivatives are by two entries of A
        and V: c_{k,i,{p,q}} has the products A_pi V_kq and A_qi V_kp, or A_pi V_kp alone for p = q.
        """
        d = self.shape.d
        for number, (k, i, p, q) in enumerate(indices(self.shape)):
            for row_of_A, column_of_V in {(p, q), (q, p)}:
                of_A = row_of_A * d + i
                of_V = d * d + k * d + column_of_V
                hessian[of_A, of_V] += error[number, 0]
                hessian[of_V, of_A] += error[number, 0]

    def _through_factors(
        self, matrices: dict[str, Any], gradient: Any, hessian: Any
    ) -> tuple[Any, Any]:
        """Gradient and Hessian along (K, Q, V), from those along (A, V), by the chain rule.

        ``matrices`` has K and Q by their names. A_pi = Σ_e K_ep Q_ei, and ``chain`` is the
        derivative of (A, V), in rows, by (K, Q, V), in columns. All entries are in the order of the
        docstring of the class: K_ep has the number e d + p, and Q_ei the number a d + e d + i.
        """
        d, alpha, d_out = self.shape.d, self.shape.alpha, self.shape.d_out
        K, Q = matrices["K"], matrices["Q"]
        entries_of_K_and_Q = 2 * alpha * d
        chain = type(hessian)(d * d + d_out * d, entries_of_K_and_Q + d_out * d)
        for e, p, i in product(range(alpha), range(d), range(d)):
            chain[p * d + i, e * d + p] += Q[e, i]
            chain[p * d + i, alpha * d + e * d + i] += K[e, p]
        for j in range(d_out * d):
            chain[d * d + j, entries_of_K_and_Q + j] = 1
        hessian_of_factors = chain.transpose() * hessian * chain
        # A itself has the second derivatives 1 by K_ep and Q_ei
        for e, p, i in product(range(alpha), range(d), range(d)):
            of_K = e * d + p
            of_Q = alpha * d + e * d + i
            hessian_of_factors[of_K, of_Q] += gradient[p * d + i, 0]
            hessian_of_factors[of_Q, of_K] += gradient[p * d + i, 0]
        return chain.transpose() * gradient, hessian_of_factors

    def critical_point(self, sides: Sequence[CoordinateSide]) -> RealPoint:
        """The critical point in a box, and all that is proved of it.

        ``sides`` has for each coordinate of the chart the two numbers that it lies between. If the
        simplest rational numbers between them are critical, the point is exact; else it is proved
        to exist, if that succeeds, or only approximated.

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
        """A rational critical point, which may be degenerate, with exact ``values`` there."""
        size = len(point)
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
        A, V = values.matrices["A"], values.matrices["V"]
        spanning = _stack_rows(A.transpose(), V)  # rows span the columns of A and the rows of V
        ranks = FunctionRanks(A.rank(), V.rank(), spanning.rank())
        lower, upper = interval(flint.arb(values.loss))
        if values.loss == 0:
            lower = upper = 0.0  # exact, while ``interval`` widens every interval
        return RealPoint(
            kind=kind,
            index=negative,
            loss=(lower, upper),
            least_ranks=ranks,
            ranks=ranks,
            is_dense=ranks == self._dense_ranks(),
            weights=_weights_as_floats(values),
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
            loss=_cut_off_below_zero(interval(values.loss)),
            least_ranks=least_ranks,
            ranks=least_ranks if is_dense else None,
            is_dense=is_dense,
            weights=_weights_as_floats(values),
            coordinates=box,
            function=values.function,
        )

    def _approximated_point(self, sides: Sequence[CoordinateSide]) -> RealPoint:
        """What is known where no critical point is proved to lie in a box with these sides.

        There may be one that is degenerate, or none. So kind, index and ranks are undecided, and
        loss, weights and function are the intervals of their values on the whole box.
        """
        box = [_interval_of_ends(*side) for side in sides]
        values = self.values(box)
        return RealPoint(
            kind="undecided",
            index=None,
            loss=_cut_off_below_zero(interval(values.loss)),
            least_ranks=FunctionRanks(0, 0, 0),
            ranks=None,
            is_dense=False,
            weights=_weights_as_floats(values),
            coordinates=box,
            function=values.function,
        )

    def _dense_ranks(self) -> FunctionRanks:
        """The ranks of functions in the dense orbit."""
        dense = generic_orbit(self.shape)
        return FunctionRanks(dense.r, dense.s, dense.span)

    def _proved_box(self, sides: Sequence[CoordinateSide]) -> list[flint.arb] | None:
        """A box with exactly one zero of the gradient, where the Hessian is invertible; or None.

        By Krawczyk's test of the top of the file: x is ``point``, found by Newton's method from the
        middle of the sides, X a small box around x, and Y ``inverse``. The smaller box returned is
        the image of X in the test, and overlaps ``sides``. ``None`` if the test fails, or the box
        lies outside of the sides.
        """
        point = [flint.arb(flint_rational((low + high) / 2)) for low, high in sides]
        count = len(point)
        try:
            for _ in range(NEWTON_STEPS):  # with the middles of all intervals
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
        box_less_centre = flint.arb_mat(count, 1, [flint.arb(0, r) for r in radii])
        slope = identity - inverse * self.values(box).hessian
        newton_step = inverse * self.values(point).gradient
        image = centre - newton_step + slope * box_less_centre
        for j, (low, high) in enumerate(sides):
            is_in_interior = box[j].contains_interior(image[j, 0])
            overlaps_side = image[j, 0].overlaps(_interval_of_ends(low, high))
            if not (is_in_interior and overlaps_side):
                return None
        return [image[j, 0] for j in range(count)]


def _kind_of_point(index: int, size: int) -> str:
    """The kind of a nondegenerate critical point: ``minimum``, ``saddle`` or ``maximum``.

    ``index`` is the number of negative eigenvalues of the Hessian, and ``size`` that of all its
    eigenvalues.
    """
    if index == 0:
        return "minimum"
    return "maximum" if index == size else "saddle"


def _weights_as_floats(values: LossAtPoint) -> dict[str, tuple[tuple[float, ...], ...]]:
    """The matrices of weights by their names, with floating-point numbers as entries."""
    shown = {}
    for name, matrix in values.matrices.items():
        shown[name] = tuple(tuple(map(_middle_or_zero, row)) for row in matrix.tolist())
    return shown


def _interval_of_ends(low: Fraction, high: Fraction) -> flint.arb:
    """An interval that contains all numbers from ``low`` to ``high``."""
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
    least_integer = ceil(low)
    if least_integer <= high:
        return Fraction(least_integer)
    # no integer lies in the interval, so both ends have the same integral part
    integral_part = least_integer - 1
    inverse_of_rest = simplest_between(1 / (high - integral_part), 1 / (low - integral_part))
    return integral_part + 1 / inverse_of_rest


def least_rank(matrix: flint.arb_mat) -> int:
    """A lower bound for the rank of all matrices in a matrix of intervals.

    It is the number of steps of elimination with intervals. In each the pivot is the entry that is
    farthest from zero, and there is one as long as some interval does not contain zero.
    """
    rows = [list(row) for row in matrix.tolist()]
    rank = 0
    while True:
        pivot_place = None
        distance_of_pivot = flint.arb(0)
        for i, j in product(range(len(rows)), range(matrix.ncols())):
            distance_from_zero = abs(rows[i][j]).lower()
            if distance_from_zero > distance_of_pivot:
                pivot_place = (i, j)
                distance_of_pivot = distance_from_zero
        if pivot_place is None:
            return rank
        i, j = pivot_place
        pivot_row = rows.pop(i)
        for row in rows:
            factor = row[j] / pivot_row[j]
            for column in range(matrix.ncols()):
                row[column] -= factor * pivot_row[column]
            row[j] = flint.arb(0)  # exactly, as intervals only show that it contains zero
        rank += 1


def negative_eigenvalues(matrix: flint.arb_mat) -> int | None:
    """The number of negative eigenvalues of a symmetric matrix of intervals.

    ``None`` if it is not shown that there is no eigenvalue zero. Let P be a matrix of approximate
    eigenvectors of the matrix M. If each diagonal entry of PᵀMP is larger, in absolute value, than
    the sum of the absolute values of the others in its row, then no eigenvalue of PᵀMP is zero, and
    their signs are those of the diagonal entries (Gershgorin). So P is invertible, and M has as
    many negative eigenvalues (Sylvester).
    """
    size = matrix.nrows()
    if size == 0:
        return 0
    middle = numpy.array([[float(matrix[i, j].mid()) for j in range(size)] for i in range(size)])
    if not numpy.isfinite(middle).all():
        return None
    _, eigenvectors = numpy.linalg.eigh((middle + middle.T) / 2)
    P = flint.arb_mat(size, size, [float(x) for x in eigenvectors.ravel()])
    nearly_diagonal = P.transpose() * matrix * P
    negative = 0
    for i in range(size):
        others = [abs(nearly_diagonal[i, j]) for j in range(size) if j != i]
        # a comparison of intervals is False also where it is not certain
        is_dominant = abs(nearly_diagonal[i, i]) > sum(others, start=flint.arb(0))
        if not is_dominant:
            return None
        if nearly_diagonal[i, i] < 0:
            negative += 1
    return negative


def interval(value: flint.arb) -> FloatInterval:
    """Floating-point numbers below and above all of an interval."""
    lower, upper = float(value.lower()), float(value.upper())
    # ``float`` may round into the interval, by less than the distance to the next number
    return nextafter(lower, -inf), nextafter(upper, inf)


def _middle_or_zero(entry: flint.arb | flint.fmpq) -> float:
    """A floating-point number for an entry: 0 if its interval contains zero, else the middle."""
    interval_of_entry = flint.arb(entry)
    return 0.0 if interval_of_entry.contains(0) else float(interval_of_entry.mid())


def _cut_off_below_zero(loss: FloatInterval) -> FloatInterval:
    """The part of an interval for a loss that is not negative, as no loss is."""
    lower, upper = loss
    return max(lower, 0.0), upper


def _value(polynomial: Any, point: Sequence[Any]) -> Any:
    """The value of an affine-linear polynomial at a point.

    The coordinates of the point, at least one, are intervals or rational numbers.
    """
    zero = 0 * point[0]  # an interval or a rational number as they are
    total = zero
    for exponents, coefficient in polynomial.terms():
        term = zero + int(coefficient)
        for exponent, x in zip(exponents, point, strict=True):
            if exponent:
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
