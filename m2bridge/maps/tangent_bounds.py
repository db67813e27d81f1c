"""What equations of low degree say about tangent spaces, without an engine."""

from __future__ import annotations

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.jacobian import random_point
from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.algebra.sparse_polynomial import gradient_of_terms, value_at
from m2bridge.clock import share, watched
from m2bridge.errors import ContradictionError
from m2bridge.implicitization.result import Implicitization
from m2bridge.maps.jacobian_rank import Status, jacobian_findings
from m2bridge.maps.subject import Subject


def singular_by_bounds(lower: int, upper: int | None, dimension: int) -> bool | None:
    """Whether a point is singular whose tangent dimension lies between two bounds; ``None`` if they do not decide.

    Raises
    ------
    ContradictionError
        If the upper bound is below the lower one, or below the dimension of the variety.
    """
    if upper is not None and upper < max(lower, dimension):
        raise ContradictionError(
            f"tangent dimension at least {lower} by tangent vectors and at most {upper} by equations, on a variety of "
            f"dimension {dimension}"
        )
    return True if lower > dimension else False if upper == dimension else None


def known_dimension(subject: Subject, field: CoefficientField) -> tuple[int | None, Status]:
    """What the ranks of the differential say about the dimension, found in at most half of the time."""
    with share(0.5):
        findings = jacobian_findings(subject, field)
    best = max(findings, key=lambda finding: (finding.status == "proved", finding.value or -1))
    return best.value, best.status


def image_dimension(known: tuple[int | None, Status], found: Implicitization) -> tuple[int | None, Status]:
    """Dimension of the closure of the image: ranks of the differential below, ranks of the equations above.

    At a point of the image the tangent space has at least the dimension of the closure, and lies in the kernel of the
    differentials of all equations. Where a random point does not show it, another one is tried.

    Parameters
    ----------
    known : (int or None, status)
        What :func:`known_dimension` says.
    """
    value, status = known
    if status == "lower bound" and any(_tangent_bound(found, seed) == value for seed in range(1, 4)):
        return value, "proved"
    return known


def _tangent_bound(found: Implicitization, seed: int) -> int:
    """The number of coordinates less the rank of the equations at a random point of the image."""
    parameters = random_point(found.source.polynomial_map, 9, seed)
    point = [value_at(image, parameters) for image in found.source.integral_images]
    return len(point) - sparse_rank(
        gradient_of_terms(generator, point) for generator in watched(found.sparse_generators())
    )
