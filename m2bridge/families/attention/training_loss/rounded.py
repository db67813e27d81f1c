"""The critical points of a loss with long numbers, found from a loss with short ones.

Programs that isolate points compute over QQ, and moments of floating-point data have hundreds of
digits. So the loss is *rounded*: its form and its target, in the unit in which both are about 1,
to multiples of a power of two. Coordinates of all its complex critical points are common
eigenvalues of matrices of multiplication. From each point Newton's method leads to a point of the
given loss, which Krawczyk's test proves to be critical, and the only one in a small box
(:mod:`.landscape`). The boxes have to be disjoint, and as many as the given loss has complex
critical points, with multiplicity, by the count modulo primes: then each contains one of them, and
there are no others. So rounding only says where to look; that the list is complete rests on the
count, and on nothing that was computed with rounded numbers.

A critical point is real if its box has real coordinates: the box was proved in real numbers. A box
of complex numbers contains no real point if the imaginary part of one side excludes 0. ``None``
means that not all points were proved so, as where the Hessian is not invertible at one; then finer
rounding is tried, and at last the given numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import flint

from m2bridge.algebra.intervals import CoordinateSide, ends
from m2bridge.algebra.numbers import flint_rational, without_denominators
from m2bridge.families.attention.training_loss.landscape import FunctionRanks, Landscape, RealPoint
from m2bridge.families.attention.training_loss.loss import Loss, RationalRows
from m2bridge.limits import check_deadline_in

ROUNDED_BITS = (24, 96)
"""The numbers of bits after the binary point to which a loss is rounded, one after the other."""
NEWTON_BITS = 800
"""The precision of the points to which Newton's method leads, twice the precision of their boxes: a
rational point, as of a teacher, is then the simplest one in its box."""


@dataclass(frozen=True, slots=True)
class ProvedPoints:
    """All complex critical points of a loss in a chart."""

    real: tuple[RealPoint, ...]
    least_ranks_of_others: tuple[FunctionRanks, ...]  # lower bounds at those that are not real


def is_long(loss: Loss) -> bool:
    """Whether the integers in the equations of critical points are so long that rounding pays."""
    numbers = without_denominators([*loss.gram.entries(), *loss.linear.entries()])
    return max(number.bit_length() for number in numbers) > 128


def rounded_loss(loss: Loss, bits: int) -> Loss:
    """A loss near a scaled one: the entries of G and of the target are multiples of 2^−bits.

    The target is rounded, and not b, since data with a teacher keep the teacher so.
    """
    gram = _rounded(loss.gram, bits)
    target = _rounded(loss.gram.solve(loss.linear), bits)
    return replace(loss, gram=gram, linear=gram * target)


def _rounded(matrix: flint.fmpq_mat, bits: int) -> flint.fmpq_mat:
    """The matrix with all entries rounded to multiples of 2^−bits."""
    unit = flint.fmpq(1, 2**bits)
    half = flint.fmpq(1, 2)
    entries = [(entry / unit + half).floor() * unit for entry in matrix.entries()]
    return flint.fmpq_mat(matrix.nrows(), matrix.ncols(), entries)


def common_eigenvalues(matrices: Sequence[RationalRows]) -> list[list[flint.acb]]:
    """Approximations of the points whose coordinates are common eigenvalues of matrices of
    multiplication, which commute; coordinates of a point that is nearly real are made real.

    An eigenvector of a combination that separates the points belongs to all of the matrices.
    """
    size = len(matrices[0])
    with flint.ctx.workprec(256):
        by_coordinate = []
        for rows in matrices:
            entries = [flint_rational(Fraction(entry)) for row in rows for entry in row]
            by_coordinate.append(flint.acb_mat(flint.arb_mat(flint.fmpq_mat(size, size, entries))))
        combination = flint.acb_mat(size, size)
        for j, matrix in enumerate(by_coordinate):
            combination += matrix * (j * j + 1)
        _, vectors = combination.eig(right=True, algorithm="approx", nonstop=True)
        images = [matrix * vectors for matrix in by_coordinate]
        points = []
        for column in range(size):
            lengths = [float(abs(vectors[k, column]).mid()) for k in range(size)]
            k = lengths.index(max(lengths))
            point = [(image[k, column] / vectors[k, column]).mid() for image in images]
            largest = max(float(abs(x).mid()) for x in point)
            # imaginary parts that are so small are taken for rounding errors of eigenvalues
            if max(abs(float(x.imag.mid())) for x in point) <= 2.0**-64 * largest:
                point = [flint.acb(x.real) for x in point]
            points.append(point)
    return points


def proved_points(
    landscape: Landscape,
    approximations: Iterable[Sequence[flint.acb]],
    *,
    number: int,
    only_dense: bool,
) -> ProvedPoints | None:
    """All critical points in a chart, each proved near one of the approximations, if there are
    ``number`` of them; with ``only_dense`` all critical points of the dense orbit.
    """
    real: list[RealPoint] = []
    boxes: list[list[flint.acb]] = []  # of points that are not real
    least_ranks = []
    for approximation in check_deadline_in(approximations):
        with flint.ctx.workprec(NEWTON_BITS):
            if all(x.imag.is_zero() for x in approximation):
                box = landscape.proved_box_near([x.real for x in approximation])
            else:
                box = landscape.proved_box_near(approximation)
            if box is None:
                return None
            if isinstance(box[0], flint.arb):
                point = landscape.critical_point(_sides(box), only_dense=only_dense)
                if point.index is None or (only_dense and not point.is_dense):
                    return None
                real.append(point)
                continue
            ranks = landscape.least_ranks(landscape.values(box))
            is_dense = ranks == landscape.dense_ranks()
            may_be_real = all(x.imag.contains(0) for x in box)
            if may_be_real or (only_dense and not is_dense):
                return None
            boxes.append(box)
            least_ranks.append(ranks)
    if len(real) + len(boxes) != number:
        return None
    if any(first.may_be(second) for first, second in combinations(real, 2)):
        return None
    for one, other in combinations(boxes, 2):
        if all(x.overlaps(y) for x, y in zip(one, other, strict=True)):
            return None
    return ProvedPoints(tuple(real), tuple(least_ranks))


def _sides(box: Sequence[flint.arb]) -> list[CoordinateSide]:
    """The sides of a box around a point that is known with all digits of ``NEWTON_BITS``."""
    radius = flint.arb(2) ** -(NEWTON_BITS // 2)
    return [ends(x + flint.arb(0, radius * (1 + abs(x).mid()))) for x in box]
