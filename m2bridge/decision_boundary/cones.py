"""The nearest point of a cone, in closed form: one head of rank one, one readout, b = 0.

Without a skip connection g(X) = (βᵀX XᵀKᵀ)(Q X γ) is then a product (Theorem R6). The boundary is a
hyperplane and a quadric, and singular where they meet; the distance is the smaller one of two:

    |QUγ| / (|Q| |γ|),        the square root of (P − √(P² − S²))/2,
    P = |Uᵀβ̂|² + |UᵀK̂|²,     S = 2⟨Uᵀβ̂, UᵀK̂⟩,

with unit vectors β̂ and K̂ along β and K. P and S² are rational numbers, so that nothing has to be
searched for. Cones of heads or readouts of larger rank do not split into two parts.
"""

from __future__ import annotations

from dataclasses import replace

import flint
import numpy

from m2bridge.decision_boundary.balls import Floats
from m2bridge.decision_boundary.boundary import BoundaryProblem, Units, scaled
from m2bridge.decision_boundary.critical_points import (
    AllCriticalPoints,
    ScalarProducts,
    rank_one_boundary,
    rounded,
)


def nearest_of_cone(problem: BoundaryProblem, units: Units) -> AllCriticalPoints | None:
    """The nearest points on both parts of the boundary, for an input that is not on it."""
    if problem.skip or problem.bias != 0:
        return None
    # a divisor of scores changes g by a factor, which may be irrational, and not the cone
    boundary = rank_one_boundary(replace(problem, scores_over=1), units)
    if boundary is None:
        return None
    s = ScalarProducts.of(boundary.constants(), boundary.linear_forms())
    # |Uᵀβ|², ⟨Uᵀβ, UᵀK⟩ and |UᵀK|²
    on_beta, on_both, on_K = (
        of_C + left * right / s.c
        for of_C, left, right in ((s.bCb, s.bu, s.bu), (s.bCk, s.bu, s.ku), (s.kCk, s.ku, s.ku))
    )
    P = on_beta / s.bb + on_K / s.kk
    square_of_S = 4 * on_both * on_both / (s.bb * s.kk)
    # (P − √(P² − S²))/2 without cancellation
    root = flint.arb(P * P - square_of_S).sqrt()
    to_quadric = (flint.arb(square_of_S) / (2 * (P + root))).sqrt()
    to_plane = flint.arb(s.qu * s.qu / (s.qq * s.c)).sqrt()
    U = scaled(problem.U, -units.size)
    beta, K, Q, gamma = map(rounded, (boundary.beta, boundary.K, boundary.Q, boundary.gamma))
    if to_plane < to_quadric:
        step = -(Q.T @ U @ gamma) * Q @ gamma.T / ((Q * Q).sum() * (gamma * gamma).sum())
    else:
        step = _step_to_quadric(U, beta, K)
    return AllCriticalPoints(
        number=None,
        real=None,
        distances=tuple(sorted((to_plane, to_quadric), key=lambda distance: distance.mid())),
        nearest=step,
        because="closed form for a cone (Theorem R6)",
    )


def _step_to_quadric(U: Floats, beta: Floats, K: Floats) -> Floats:
    """The step to the nearest point X with |Xᵀ(β̂ + K̂)| = |Xᵀ(β̂ − K̂)|, where β̂ + K̂ and
    β̂ − K̂ are orthogonal: both columns keep their directions, and get the same length.
    """
    beta, K = beta / numpy.linalg.norm(beta), K / numpy.linalg.norm(K)
    vectors = [beta + K, beta - K]
    squares = [float((vector * vector).sum()) for vector in vectors]
    parts = [U.T @ vector for vector in vectors]
    lengths = [float(numpy.linalg.norm(part)) for part in parts]
    common = (lengths[0] * squares[1] + lengths[1] * squares[0]) / 4
    # where U is orthogonal to one vector, every direction is as near
    directions = [
        part / length if length else parts[lengths.index(max(lengths))] / max(lengths)
        for part, length in zip(parts, lengths, strict=True)
    ]
    step: Floats = 0 * U
    for vector, square, part, direction in zip(vectors, squares, parts, directions, strict=True):
        # in floats β̂ + K̂ or β̂ − K̂ is zero if its square is smaller
        if square > 1e-20:
            step = step + vector @ (common * direction - part).T / square
    return step
