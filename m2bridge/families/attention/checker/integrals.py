"""The numbers of the theorem on polar degrees, by localization at the fixed points of a torus.

Rests on: the polar degrees of the closure are integrals of Chern classes over a smooth Y
(docs/polar-degrees.md, theorem-polar); and an integral over Y is a sum over the fixed points of a
torus, each with the product of the weights of its tangent space as denominator.
Proved in: docs/polar-degrees.md; Atiyah and Bott, *The moment map and equivariant cohomology*,
Topology 23, 1984.
Computed here: the sum over all fixed points of Y = P(S ⊗ K^d) × P(V), with rational numbers.
On trust: both theorems. The maker has another formula for the same integrals.
"""

from collections.abc import Iterator
from itertools import combinations, product
from math import comb, prod

import flint

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker.case import Case

MOST_STATED = 10**7
"""The most steps for the numbers in a verdict, some seconds."""

MOST_SIZES = 100
"""The first d that is too large whatever else: the number of steps is not computed for it."""


def localization_steps(case: Case) -> int:
    """Fixed points, times the square of the dimension n of Y; for d ≥ 100 at least as for 99."""
    n = case.projective_dimension
    subspaces = comb(min(case.d, MOST_SIZES - 1), case.alpha)
    lines = (case.alpha * case.d) * (case.d * case.d_out)
    return subspaces * lines * n**2


def is_stated(case: Case) -> bool:
    """Whether a verdict asks for the numbers."""
    return case.d < MOST_SIZES and localization_steps(case) <= MOST_STATED


def stated_polar_degrees(case: Case) -> list[int] | None:
    """δ_n, …, δ_0 by the formula, whether it applies or not; None for large cases."""
    if not is_stated(case):
        return None
    return polar_degrees(case)[::-1]


def polar_degrees(case: Case) -> list[int]:
    """δ_0, …, δ_n: δ_i = Σ_j (−1)^j C(n + 1 − j, i + 1) ∫ c_j(T) H^(n−j)."""
    n = case.projective_dimension
    integrals = _integrals(case)
    found = []
    for i in range(n + 1):
        total = 0
        for j in range(n - i + 1):
            total += (-1) ** j * comb(n + 1 - j, i + 1) * integrals[j]
        found.append(total)
    return found


def _integrals(case: Case) -> list[int]:
    """The integrals of c_j(T) H^(n−j) over Y, j = 0, …, n.

    At a fixed point c_j(T) is the elementary symmetric function of the tangent weights, the
    coefficient of u^j in Π (1 + w u). The sum does not depend on the torus, and is an integer.
    """
    n = case.projective_dimension
    integrals = [flint.fmpq(0)] * (n + 1)
    for hyperplane, tangents in fixed_points(case):
        factors = [flint.fmpz_poly([1, weight]) for weight in tangents]
        chern = prod(factors, start=flint.fmpz_poly([1]))
        euler = prod(tangents)
        for j in range(n + 1):
            integrals[j] += flint.fmpq(chern[j] * hyperplane ** (n - j), euler)
    if any(integral.q != 1 for integral in integrals):
        raise ContradictionError(f"localization for {case} gives fractions")
    return [int(integral.p) for integral in integrals]


def fixed_points(case: Case) -> Iterator[tuple[int, list[int]]]:
    """For each fixed point the weight of H, and those of the tangent space.

    Y is the set of subspaces W of K^d of dimension α, with a line in W ⊗ K^d and a line in V. The
    torus has the weights d i² on the basis of the first K^d, k + 1 on that of the second, and
    squares on that of V: all those of lines, and all those of subspaces, are different, so the
    fixed points are the coordinate ones. A tangent space of lines has the differences with the
    other weights, that of subspaces the differences of those outside and inside; H is minus the
    weights of both lines.
    """
    d = case.d
    weights_of_v = [j**2 for j in range(d * case.d_out)]
    for chosen in combinations(range(d), case.alpha):
        others = [b for b in range(d) if b not in chosen]
        of_subspace = [d * (b**2 - a**2) for a, b in product(chosen, others)]
        weights_of_a = [d * i**2 + k + 1 for i, k in product(chosen, range(d))]
        for weight_a, weight_v in product(weights_of_a, weights_of_v):
            of_line_a = [x - weight_a for x in weights_of_a if x != weight_a]
            of_line_v = [x - weight_v for x in weights_of_v if x != weight_v]
            yield -weight_a - weight_v, [*of_subspace, *of_line_a, *of_line_v]
