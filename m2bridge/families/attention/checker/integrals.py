"""The numbers of the theorem on polar degrees, by localization at the torus-fixed points of the
desingularization.

A fixed point is a coordinate subspace W of dimension α, a line e_i ⊗ e_k with e_i in W, and a
coordinate line of V. There c_j(T) is a symmetric function of the tangent weights, and H is minus
the sum of the weights of both lines.
"""

from collections.abc import Iterator
from itertools import combinations, product
from math import comb, prod

import flint

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker.case import Case

MOST_STATED = 10**7  # fixed points, times the square of the dimension
MOST_SIZES = 100


def is_stated(case: Case) -> bool:
    """Whether a verdict asks for the numbers."""
    n = case.alpha * (2 * case.d - case.alpha) + case.d * case.d_out - 2
    return (
        case.d < MOST_SIZES
        and comb(case.d, case.alpha) * case.alpha * case.d**2 * case.d_out * n**2 <= MOST_STATED
    )


def stated_polar_degrees(case: Case) -> list[int] | None:
    """δ_n, …, δ_0 by the formula, whether it applies or not; ``None`` for large cases."""
    n = case.alpha * (2 * case.d - case.alpha) + case.d * case.d_out - 2
    return polar_degrees(case, n)[::-1] if is_stated(case) else None


def polar_degrees(case: Case, n: int) -> list[int]:
    """δ_0, …, δ_n: δ_i = Σ_j (−1)^j C(n + 1 − j, i + 1) ∫ c_j(T) H^{n−j}."""
    integrals = [flint.fmpq(0)] * (n + 1)
    for hyperplane, tangents in fixed_points(case):
        chern = prod(
            (flint.fmpz_poly([1, weight]) for weight in tangents), start=flint.fmpz_poly([1])
        )
        euler = prod(tangents)
        integrals = [
            x + flint.fmpq(chern[j] * hyperplane ** (n - j), euler) for j, x in enumerate(integrals)
        ]
    if any(x.q != 1 for x in integrals):
        raise ContradictionError(f"localization for {case} gives fractions")
    values = [int(x.p) for x in integrals]
    return [
        sum((-1) ** j * comb(n + 1 - j, i + 1) * values[j] for j in range(n - i + 1))
        for i in range(n + 1)
    ]


def fixed_points(case: Case) -> Iterator[tuple[int, list[int]]]:
    """H and the weights of the tangent space; e_i ⊗ e_k has weight d i² + k + 1, the lines of V
    have squares.
    """
    d, lines = case.d, [j**2 for j in range(case.d * case.d_out)]
    for chosen in combinations(range(d), case.alpha):
        moves = [d * (b**2 - a**2) for a in chosen for b in range(d) if b not in chosen]
        weights = [d * i**2 + k + 1 for i in chosen for k in range(d)]
        for w, v in product(weights, lines):
            yield (
                -w - v,
                [*moves, *(x - w for x in weights if x != w), *(x - v for x in lines if x != v)],
            )
