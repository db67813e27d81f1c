"""Proofs that real critical points of a distance exist, near approximations, by Krawczyk's test.

Where a variety has as many equations f as its codimension c, the critical points x for the data u
are zeros of f and M (x − u) − Jᵀ λ, with the Jacobian matrix J of f. For a box X around z = (x, λ)
and Y ≈ F′(z)⁻¹, if z − Y F(z) + (1 − Y F′(X))(X − z) lies in the interior of X, there is exactly
one zero in X, and F′ is invertible there; so J has rank c, and x is a regular point of the variety.
Source: R. E. Moore, *A test for existence of solutions to nonlinear systems*, SIAM J. Numer. Anal.
14 (1977). Arithmetic is that of FLINT's balls.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import flint
from sympy.polys.rings import PolyElement

from m2bridge.algebra.numbers import flint_rational
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.limits import check_deadline_in

BITS = 200
"""The precision of the balls."""
NEWTON_STEPS = 10
"""The number of correct digits doubles with each."""
RADIUS = flint.arb(2) ** -70
"""Of the box, relative to the size of its entries."""
MAX_CHANGE = 1e-5
"""Relative change of a coordinate by Newton's method, up to which an approximation is that of the
zero."""
MAX_UNKNOWNS = 40
"""Coordinates and multipliers of a system whose points are proved."""

FormMatrix = Sequence[Sequence[Fraction]]


def proved_points(
    ideal: GeneratingSet,
    matrix: FormMatrix,
    *,
    data: Sequence[Fraction],
    points: Sequence[Sequence[float]],
) -> int:
    """The number of approximations near which a critical point is proved to exist, in boxes that
    have no point in common.
    """
    size = len(ideal.ring.variables) + len(ideal.generators)
    if size > MAX_UNKNOWNS or not ideal.generators:
        return 0
    before = flint.ctx.prec
    flint.ctx.prec = BITS
    try:
        system = CriticalSystem(ideal, matrix, data)
        boxes = [system.proved_box(point) for point in check_deadline_in(points)]
    finally:
        flint.ctx.prec = before
    found = [box for box in boxes if box is not None]
    for one, other in combinations(found, 2):
        if all(x.overlaps(y) for x, y in zip(one, other, strict=True)):
            return 0
    return len(found)


class CriticalSystem:
    """The equations F of critical points, with their derivatives, at points of balls."""

    def __init__(self, ideal: GeneratingSet, matrix: FormMatrix, data: Sequence[Fraction]) -> None:
        variables = ideal.ring.sympy_ring.gens
        self.equations = ideal.generators
        self.gradients = [[f.diff(x) for x in variables] for f in self.equations]
        self.second = [[[g.diff(x) for x in variables] for g in row] for row in self.gradients]
        self.matrix = [[flint.arb(flint_rational(c)) for c in row] for row in matrix]
        self.data = [flint.arb(flint_rational(u)) for u in data]

    def proved_box(self, approximation: Sequence[float]) -> list[flint.arb] | None:
        """The coordinates of a box with one critical point; ``None`` if there is no proof."""
        point = [flint.arb(x) for x in approximation]
        try:
            point += self._multipliers(point)
            for _ in range(NEWTON_STEPS):
                values, slopes = self.at(point)
                step = slopes.mid().solve(values.mid())
                point = [(z - step[k, 0]).mid() for k, z in enumerate(point)]
            values, slopes = self.at(point)
            inverse = slopes.mid().inv().mid()
        except ZeroDivisionError:
            return None
        for x, given in zip(point, approximation, strict=False):
            if not abs(x - given) < MAX_CHANGE * (1 + abs(given)):
                return None
        size = len(point)
        radii = [RADIUS * (1 + abs(z)).mid() for z in point]
        box = [z + flint.arb(0, r) for z, r in zip(point, radii, strict=True)]
        around = flint.arb_mat(size, 1, [flint.arb(0, r) for r in radii])
        identity = flint.arb_mat(
            size, size, [int(i == j) for i in range(size) for j in range(size)]
        )
        slope = identity - inverse * self.at(box)[1]
        image = flint.arb_mat(size, 1, point) - inverse * values + slope * around
        if not all(box[k].contains_interior(image[k, 0]) for k in range(size)):
            return None
        return [image[k, 0] for k in range(len(approximation))]

    def _multipliers(self, point: Sequence[flint.arb]) -> list[flint.arb]:
        """The λ for which Jᵀ λ is closest to M (x − u)."""
        jacobian = self._matrix(self.gradients, point)
        force = flint.arb_mat(len(point), 1, self._force(point))
        gram = jacobian * jacobian.transpose()
        found = gram.mid().solve((jacobian * force).mid())
        return [multiplier.mid() for multiplier in found.entries()]

    def _force(self, point: Sequence[flint.arb]) -> list[flint.arb]:
        """M (x − u)."""
        moved = [x - u for x, u in zip(point, self.data, strict=True)]
        return [sum(c * y for c, y in zip(row, moved, strict=True)) for row in self.matrix]

    def at(self, point: Sequence[flint.arb]) -> tuple[flint.arb_mat, flint.arb_mat]:
        """F and F′ at a point (x, λ)."""
        n, c = len(self.data), len(self.equations)
        x, multipliers = point[:n], point[n:]
        jacobian = self._matrix(self.gradients, x)
        column = flint.arb_mat(c, 1, multipliers)
        equations = [_value(f, x) for f in self.equations]
        force = flint.arb_mat(n, 1, self._force(x)) - jacobian.transpose() * column
        # F′ = ((J, 0), (M − Σ λᵢ Hᵢ, −Jᵀ)), with the Hessian matrices Hᵢ of the equations
        bent = flint.arb_mat(self.matrix)
        for multiplier, rows in zip(multipliers, self.second, strict=True):
            bent -= multiplier * self._matrix(rows, x)
        slopes = flint.arb_mat(n + c, n + c)
        for i, j in product(range(c), range(n)):
            slopes[i, j] = jacobian[i, j]
            slopes[c + j, n + i] = -jacobian[i, j]
        for j, k in product(range(n), range(n)):
            slopes[c + j, k] = bent[j, k]
        return flint.arb_mat(n + c, 1, equations + force.entries()), slopes

    @staticmethod
    def _matrix(rows: Sequence[Sequence[PolyElement]], point: Sequence[flint.arb]) -> flint.arb_mat:
        entries = [_value(f, point) for row in rows for f in row]
        return flint.arb_mat(len(rows), len(point), entries)


def _value(polynomial: PolyElement, point: Sequence[flint.arb]) -> flint.arb:
    """The value of a polynomial over QQ."""
    total = flint.arb(0)
    for monomial, coefficient in polynomial.items():
        term = flint.arb(flint_rational(coefficient))
        for x, exponent in zip(point, monomial, strict=True):
            for _ in range(exponent):  # FLINT's powers of balls around 0 are NaN
                term = term * x
        total = total + term
    return total
