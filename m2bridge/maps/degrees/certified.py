"""Proofs that real critical points of a distance exist, in small boxes, by Krawczyk's test.

Where a variety has as many equations f as its codimension c, the critical points x for the data u
are zeros of f and M (x − u) − Jᵀ λ, with the Jacobian matrix J of f. For a box X around z = (x, λ)
and Y ≈ F′(z)⁻¹, if z − Y F(z) + (1 − Y F′(X))(X − z) lies in the interior of X, there is exactly
one zero in X, and F′ is invertible there; so J has rank c, and x is a regular point of the variety.
Another program has isolated the points in boxes, from which z is found by Newton's method; the
image of X, a smaller box that overlaps the given one, is the result.
Source: R. E. Moore, *A test for existence of solutions to nonlinear systems*, SIAM J. Numer. Anal.
14 (1977).

Arithmetic uses FLINT's balls, intervals around a centre ``mid()`` that contain the right
value; a comparison is true only if it is true for all numbers in the balls.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import flint
from sympy.polys.rings import PolyElement

from m2bridge.algebra.intervals import CoordinateSide, ends, interval_of_ends, middle
from m2bridge.algebra.numbers import flint_rational
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.limits import check_deadline_in

FormMatrix = Sequence[Sequence[Fraction]]
"""The symmetric matrix M of the quadratic form, by rows."""
CoordinateBox = Sequence[CoordinateSide]
"""A side for each coordinate x."""


def proved_boxes(
    ideal: GeneratingSet,
    matrix: FormMatrix,
    *,
    data: Sequence[Fraction],
    boxes: Sequence[CoordinateBox],
) -> list[CoordinateBox | None]:
    """Return for each box a box that is proved to contain a critical point; ``None`` if it is not.

    No two of these boxes have a point in common, so that they have as many critical points. All are
    ``None`` if two boxes overlap, since they may have the same critical point, if there are no
    equations, or if the system is too large. If the equations are not as many as the codimension of
    the variety, J has not full rank, and nothing is proved.
    """
    nothing: list[CoordinateBox | None] = [None] * len(boxes)
    unknowns = len(ideal.ring.variables) + len(ideal.generators)
    if unknowns > 40 or not ideal.generators:
        return nothing
    images: list[list[flint.arb] | None] = []
    for box in check_deadline_in(boxes):
        image = None
        # where coordinates are of very different sizes, few bits do not suffice
        for bits in (200, 800, 3200):
            with flint.ctx.workprec(bits):
                # numbers become balls of this precision
                system = CriticalSystem(ideal=ideal, matrix=matrix, data=data)
                image = system.proved_box(box)
            if image is not None:
                break
        images.append(image)
    proved = [image for image in images if image is not None]
    for first, second in combinations(proved, 2):
        # boxes overlap if all their sides do
        if all(x.overlaps(y) for x, y in zip(first, second, strict=True)):
            return nothing
    return [None if image is None else list(map(ends, image)) for image in images]


class CriticalSystem:
    """The equations F(x, λ) = 0 of critical points, f and M (x − u) − Jᵀ λ, with their derivatives,
    in ball arithmetic. A matrix that is singular is a ZeroDivisionError.
    """

    def __init__(self, ideal: GeneratingSet, matrix: FormMatrix, data: Sequence[Fraction]) -> None:
        variables = ideal.ring.sympy_ring.gens
        self.equations = ideal.generators
        # for each equation its derivatives, a row of J, and the matrix of its second derivatives
        self.gradients = _derivatives(self.equations, variables)
        self.hessians = [_derivatives(gradient, variables) for gradient in self.gradients]
        # M and u as balls
        self.matrix = [[flint.arb(flint_rational(c)) for c in row] for row in matrix]
        self.data = [flint.arb(flint_rational(u)) for u in data]

    def proved_box(self, sides: CoordinateBox) -> list[flint.arb] | None:
        """Return a box that contains a critical point x, and that overlaps a box around it.

        It is the only one in the box whose multipliers λ are near the λ that Newton's method finds.
        ``None`` if there is no proof: F′ is singular, Newton's method leads out of the given box,
        or Krawczyk's test fails.
        """
        # a third of the bits: the square of the radius, by which F′ varies, has to be small
        relative_radius = flint.arb(2) ** -(flint.ctx.prec // 3)
        approximation = [flint.arb(flint_rational(middle(side))) for side in sides]
        try:
            point = self._newton_limit(approximation)  # z = (x, λ)
            radii = [relative_radius * (1 + abs(z)).mid() for z in point]
            image = self._krawczyk_image(point, radii)
        except ZeroDivisionError:  # a matrix is singular
            return None
        # Krawczyk's test: the image of the box lies in its interior
        for z, radius, side_of_image in zip(point, radii, image, strict=True):
            if not (z + flint.arb(0, radius)).contains_interior(side_of_image):
                return None
        # the zero lies in the image, a smaller box, of which the sides along x are returned
        proved = image[: len(sides)]
        # it must be the one that was isolated, so that all points together are different ones
        for x, side in zip(proved, sides, strict=True):
            if not x.overlaps(interval_of_ends(*side)):
                return None
        return proved

    def _krawczyk_image(
        self, point: Sequence[flint.arb], radii: Sequence[flint.arb]
    ) -> list[flint.arb]:
        """Return the box z − Y F(z) + (1 − Y F′(X))(X − z) for the point z = (x, λ) and the box X
        around it with the half sides ``radii``.
        """
        size = len(point)
        values, derivative = self.value_and_derivative(point)
        inverse = derivative.mid().inv().mid()  # Y
        box_minus_point = [flint.arb(0, radius) for radius in radii]  # X − z, balls around 0
        box = [z + side for z, side in zip(point, box_minus_point, strict=True)]
        _, derivative_on_box = self.value_and_derivative(box)
        unit_entries = [int(i == j) for i in range(size) for j in range(size)]
        contraction = flint.arb_mat(size, size, unit_entries) - inverse * derivative_on_box
        image = flint.arb_mat(size, 1, point) - inverse * values
        image += contraction * flint.arb_mat(size, 1, box_minus_point)
        return list(image.entries())

    def _newton_limit(self, approximation: Sequence[flint.arb]) -> list[flint.arb]:
        """Return an approximate zero (x, λ) of F, by Newton's method from an approximation of x."""
        point = list(approximation)
        point += self._multipliers(point)
        for _ in range(10):  # each step doubles the number of correct digits
            values, derivative = self.value_and_derivative(point)
            step = derivative.mid().solve(values.mid())  # F′ · step = F
            point = [(z - step[k, 0]).mid() for k, z in enumerate(point)]
        return point

    def _multipliers(self, point: Sequence[flint.arb]) -> list[flint.arb]:
        """Return the λ for which Jᵀ λ is closest to M (x − u), the solution of J Jᵀ λ = J M (x −
        u).
        """
        jacobian = self._matrix(self.gradients, point)
        half_gradient = flint.arb_mat(len(point), 1, self._half_gradient(point))
        gram = jacobian * jacobian.transpose()
        # an approximation suffices for the centre of a box, so only midpoints of balls are used
        multipliers = gram.mid().solve((jacobian * half_gradient).mid())
        return [multiplier.mid() for multiplier in multipliers.entries()]

    def _half_gradient(self, point: Sequence[flint.arb]) -> list[flint.arb]:
        """Return M (x − u), half of the gradient of the distance at a point x."""
        differences = [x - u for x, u in zip(point, self.data, strict=True)]
        return [sum(c * y for c, y in zip(row, differences, strict=True)) for row in self.matrix]

    def value_and_derivative(
        self, point: Sequence[flint.arb]
    ) -> tuple[flint.arb_mat, flint.arb_mat]:
        """Return F and F′ at a point (x, λ), in balls.

        F is the column of the c equations f, then the n entries of M (x − u) − Jᵀ λ, and F′ is
        ((J, 0), (M − Σ λᵢ Hᵢ, −Jᵀ)), with the Hessian matrices Hᵢ of f.
        """
        n, c = len(self.data), len(self.equations)
        x = point[:n]
        multipliers = point[n:]  # λ
        jacobian = self._matrix(self.gradients, x)
        equations = [_polynomial_value(f, x) for f in self.equations]
        half_gradient = flint.arb_mat(n, 1, self._half_gradient(x))  # M (x − u)
        remainder = half_gradient - jacobian.transpose() * flint.arb_mat(c, 1, multipliers)
        value = flint.arb_mat(n + c, 1, equations + remainder.entries())
        second_order = flint.arb_mat(self.matrix)
        for multiplier, hessian in zip(multipliers, self.hessians, strict=True):
            second_order -= multiplier * self._matrix(hessian, x)
        derivative = flint.arb_mat(n + c, n + c)
        for i, j in product(range(c), range(n)):
            derivative[i, j] = jacobian[i, j]
            derivative[c + j, n + i] = -jacobian[i, j]
        for j, k in product(range(n), range(n)):
            derivative[c + j, k] = second_order[j, k]
        return value, derivative

    @staticmethod
    def _matrix(rows: Sequence[Sequence[PolyElement]], point: Sequence[flint.arb]) -> flint.arb_mat:
        """Return the matrix of the values of polynomials at a point."""
        entries = [_polynomial_value(f, point) for row in rows for f in row]
        return flint.arb_mat(len(rows), len(point), entries)


def _derivatives(
    polynomials: Sequence[PolyElement], variables: Sequence[PolyElement]
) -> list[list[PolyElement]]:
    """Return for each polynomial its derivatives with respect to the variables."""
    return [[polynomial.diff(x) for x in variables] for polynomial in polynomials]


def _polynomial_value(polynomial: PolyElement, point: Sequence[flint.arb]) -> flint.arb:
    """Return a ball with the value of a polynomial over QQ at a point of balls."""
    total = flint.arb(0)
    for monomial, coefficient in polynomial.items():
        term = flint.arb(flint_rational(coefficient))
        for x, exponent in zip(point, monomial, strict=True):
            for _ in range(exponent):  # FLINT's powers of balls around 0 are NaN
                term = term * x
        total = total + term
    return total
