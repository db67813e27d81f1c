"""The real points of a finite scheme over QQ, exactly, from its matrices of multiplication.

The scheme has finitely many complex points p with multiplicities m(p), and each coordinate x acts
on its ring of functions, a vector space of finite dimension, by a matrix M(x). Its *trace form*
(f, g) ↦ trace M(f g) has the number of points as its rank, and the number of real ones as its
signature (Hermite). A linear form t in the coordinates *separates* the points if its values there
are different: if the squarefree part χ of the characteristic polynomial of M(t) has as many roots
as there are points. With

    g(v) = Σ_p m(p) v(p) χ(T)/(T − t(p)) = Σ_k trace(M(v) M(t)^k) H_{δ−1−k}(T),

where δ is the degree of χ, and H_j the quotient of χ by T^{δ−j}, the coordinate x of p is the value
of g(x)/g(1) at T = t(p). With the vector of v in the basis of the ring, whose first element is 1,
the traces are values of linear functions: the first one is the first row of the trace form, and the
others are its products with powers of M(t). As t has rational coefficients, a point is real exactly
if t(p) is. Source: F. Rouillier, *Solving zero-dimensional systems through the rational univariate
representation*, AAECC 9 (1999).

For each irreducible factor of χ the coordinates are polynomials in its root, with rational
coefficients. So a coordinate is zero only if its polynomial is, and numbers of any size get as many
digits as one wants. Nothing is a floating-point approximation; roots are isolated by FLINT.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import signature
from m2bridge.algebra.numbers import flint_rational
from m2bridge.errors import ParseError
from m2bridge.limits import check_deadline_in

ACCURATE_BITS = 128
"""The relative precision of coordinates, in bits, unless they are zero, which is exact."""

NumberRows = Sequence[Sequence[Any]]
"""The rows of a matrix of rational numbers, or of texts such as ``-2/3``."""


def real_points(
    trace_form: NumberRows, multiplication: Sequence[NumberRows]
) -> list[list[flint.arb]]:
    """The real points of a finite scheme, each a list of balls around its coordinates, which have
    to separate the points; ParseError if the trace form and the matrices M(x) do not belong to one
    basis.
    """
    if not trace_form:  # there are no points
        return []
    form = _rational_matrix(trace_form)
    matrices = list(map(_rational_matrix, multiplication))
    # with 1 as the first element of the basis, trace M(v) is the value of the form at 1 and v
    size = form.nrows()
    one = _first_unit_vector(size)
    first_row = one.transpose() * form
    traces_agree = first_row[0, 0] == size
    for matrix in matrices:
        trace = sum((matrix[i, i] for i in range(size)), start=flint.fmpq(0))
        traces_agree = traces_agree and (first_row * matrix * one)[0, 0] == trace
    if not traces_agree:
        raise ParseError("the trace form does not belong to the matrices of multiplication")
    M_t, chi = _separating_form(matrices, number_of_points=form.rank())
    traces = _Traces(form, M_t, chi)
    g_1 = traces.numerator(one)
    numerators = [traces.numerator(matrix * one) for matrix in matrices]
    points = []
    for factor, _ in check_deadline_in(chi.factor()[1]):
        # g(1) and the factor have no common root: the second cofactor inverts g(1)
        _, inverse, _ = g_1.xgcd(factor)
        coordinates = [numerator * inverse % factor for numerator in numerators]
        points += _at_real_roots(factor, coordinates)
    point_count = signature(form.tolist())
    if len(points) != point_count:
        raise ParseError(
            f"the trace form has {point_count} real points, but {len(points)} were found"
        )
    return points


def _rational_matrix(rows: NumberRows) -> flint.fmpq_mat:
    """The square matrix with these rows."""
    entries = [flint_rational(Fraction(entry)) for row in rows for entry in row]
    return flint.fmpq_mat(len(rows), len(rows), entries)


def _first_unit_vector(size: int) -> flint.fmpq_mat:
    """The first unit vector, a column, which is the function 1."""
    return flint.fmpq_mat(size, 1, [1] + [0] * (size - 1))


def _separating_form(
    matrices: Sequence[flint.fmpq_mat], number_of_points: int
) -> tuple[flint.fmpq_mat, flint.fmpq_poly]:
    """M(t) for a form t = x_1 + j x_2 + j² x_3 + … that separates the points, and χ: two different
    points have the same value for fewer j than there are coordinates, so that one j separates all.
    """
    pairs_of_points = number_of_points * (number_of_points - 1) // 2
    most_forms = 1 + pairs_of_points * (len(matrices) - 1)
    for j in check_deadline_in(range(1, most_forms + 1)):
        M_t = matrices[0]
        power = 1
        for matrix in matrices[1:]:
            power *= j
            M_t = M_t + matrix * power
        characteristic = M_t.charpoly()
        repeated = characteristic.gcd(characteristic.derivative())
        chi = characteristic / repeated
        if chi.degree() == number_of_points:
            return M_t, chi
    raise ParseError("the trace form has more points than the matrices of multiplication separate")


class _Traces:
    """The linear functions v ↦ trace(M(v) M(t)^k), and the polynomials H_k, for k = 0, …, δ − 1."""

    def __init__(self, form: flint.fmpq_mat, M_t: flint.fmpq_mat, chi: flint.fmpq_poly) -> None:
        """Take the trace form, M(t), and χ with the leading coefficient 1."""
        self.functions = [_first_unit_vector(form.nrows()).transpose() * form]
        self.quotients = [flint.fmpq_poly([1])]
        descending = chi.coeffs()[::-1]
        for coefficient in check_deadline_in(descending[1:-1]):
            self.functions.append(self.functions[-1] * M_t)
            H = self.quotients[-1] * flint.fmpq_poly([0, 1]) + coefficient
            self.quotients.append(H)

    def numerator(self, vector: flint.fmpq_mat) -> flint.fmpq_poly:
        """The polynomial g(v) for a function v, given by its column in the basis."""
        total = flint.fmpq_poly([0])
        for function, H in zip(self.functions, reversed(self.quotients), strict=True):
            total += (function * vector)[0, 0] * H
        return total


def _at_real_roots(
    factor: flint.fmpq_poly, coordinates: Sequence[flint.fmpq_poly]
) -> list[list[flint.arb]]:
    """The values of polynomials at each real root of an irreducible polynomial, with a precision
    that is doubled until each value that is not zero has ``ACCURATE_BITS``.
    """
    bits = 2 * ACCURATE_BITS
    while True:
        with flint.ctx.workprec(bits):
            roots = [root for root, _ in factor.numer().complex_roots()]
            # FLINT makes the imaginary part of a real root exactly zero
            real_roots = [root.real for root in roots if root.imag.is_zero()]
            points = [[_value(f, root) for f in coordinates] for root in real_roots]
        values = [value for point in points for value in point]
        if all(value.is_zero() or value.rel_accuracy_bits() >= ACCURATE_BITS for value in values):
            return points
        bits *= 2


def _value(polynomial: flint.fmpq_poly, root: flint.arb) -> flint.arb:
    """The value of a polynomial at a root; it is exact for the polynomial zero."""
    total = flint.arb(0)
    for coefficient in reversed(polynomial.coeffs()):
        total = total * root + flint.arb(coefficient)
    return total
