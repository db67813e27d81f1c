"""The numbers of the theorem on polar degrees, by two computations that share nothing.

Rests on: the polar degrees of the closure are integrals of Chern classes over a smooth Y
(docs/polar-degrees.md, theorem-polar). In the Chow ring they are coefficients of a determinant
(proposition-polar-determinant); in equivariant cohomology, sums over the fixed points of a torus,
each with the product of the weights of its tangent space as denominator.
Proved in: docs/polar-degrees.md; Atiyah and Bott, *The moment map and equivariant cohomology*,
Topology 23, 1984.
Computed here: the stated numbers, in the Chow ring; those that are observed, by localization on the
Grassmannian; and, for certificates of the numbers, by localization on all of Y.
On trust: these theorems. Points that are counted without them are in slices.py.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, combinations, product
from math import comb, prod

import flint

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker.case import Case

MOST_STEPS = 10**6
"""Subspaces times the square of the dimension of the Grassmannian, up to which a verdict asks for
the numbers: a few seconds.
"""

LARGEST_DIMENSION = 600
"""Of the affine closure. Polar degrees of larger ones have thousands of digits."""

MOST_SIZES = 100
"""The first d that is too large for localization on Y: the number of steps is not computed."""


def localization_steps(case: Case) -> int:
    """Fixed points of Y, times the square of its dimension n; for d ≥ 100 at least as for 99."""
    n = case.projective_dimension
    subspaces = comb(min(case.d, MOST_SIZES - 1), case.alpha)
    lines = (case.alpha * case.d) * (case.d * case.d_out)
    return subspaces * lines * n**2


def is_stated(case: Case) -> bool:
    """Whether a verdict asks for the numbers."""
    if case.projective_dimension >= LARGEST_DIMENSION:
        return False
    moves = case.alpha * (case.d - case.alpha)
    return comb(case.d, case.alpha) * moves**2 <= MOST_STEPS


def stated_polar_degrees(case: Case) -> list[int] | None:
    """δ_n, …, δ_0 in the Chow ring, whether the theorem applies or not; None for large cases."""
    if not is_stated(case):
        return None
    of_A = integrals_in_chow_ring(case.d, case.alpha)
    return _alternating_sums(of_A, case.d * case.d_out)


def localized_polar_degrees(case: Case) -> list[int] | None:
    """The same numbers by localization; None for large cases."""
    if not is_stated(case):
        return None
    of_A = localized_integrals(case.d, case.alpha)
    of_V = [comb(case.d * case.d_out, j) for j in range(case.d * case.d_out)]
    return _in_binomials(_of_product(of_A, of_V))[::-1]


# In the Chow ring.


@cache
def integrals_in_chow_ring(d: int, alpha: int) -> list[int]:
    """∫ c_j(T) h^{n_1−j} over P(S ⊗ K^d) for all j: the coefficients of e_α(C M) / u^{α(α−1)}.

    C_ab = (−u)^{a+b} (−1)^b C(a + b, a), and M_bc is the coefficient of y^{d−1−b−c} in
    φ = ((1 + u·y)(1 + u − u·y) / (1 − y))^d. Here u is a power of two above twice the coefficients
    of e_α, which are then the digits of its value.
    """
    if alpha == d:
        return [comb(d * d, j) for j in range(d * d)]  # the projective space of all matrices
    bits = _coefficient_bound(d, alpha).bit_length() + 1
    u = 1 << bits
    phi = _series([1 + u, u * u, -u * u], d)
    left = [[(-u) ** (a + b) * (-1) ** b * comb(a + b, a) for b in range(d)] for a in range(d)]
    right = [[phi[d - 1 - b - c] if b + c < d else 0 for c in range(d)] for b in range(d)]
    product_matrix = flint.fmpz_mat(left) * flint.fmpz_mat(right)
    value = (-1) ** alpha * int(product_matrix.charpoly()[d - alpha])
    digits = []
    for _ in range(alpha * (alpha - 1) + alpha * (2 * d - alpha)):
        digit = value % u
        if 2 * digit > u:
            digit -= u
        digits.append(digit)
        value = (value - digit) >> bits
    return digits[alpha * (alpha - 1) :]


def _coefficient_bound(d: int, alpha: int) -> int:
    """At least the sum of the absolute values of the coefficients of e_α(C M) in u.

    Such sums of a product are at most the product of those of the factors, and a minor is at most
    the product of the sums of its rows.
    """
    phi = _series([2, 1, 1], d)  # with u = 1, and every sign positive
    row = 0  # at least the sum of any row of C M
    for a, b in product(range(d), repeat=2):
        row += comb(a + b, a) * sum(phi[: d - b])
    bound: int = comb(d, alpha) * row**alpha
    return bound


def _series(numerator: Sequence[int], d: int) -> list[int]:
    """The coefficients of 1, y, …, y^{d−1} in (numerator / (1 − y))^d."""
    coefficients = [1] + [0] * (d - 1)
    for _ in range(d):
        multiplied = []
        for k in range(d):
            below = min(k, len(numerator) - 1) + 1
            multiplied.append(sum(numerator[i] * coefficients[k - i] for i in range(below)))
        coefficients = list(accumulate(multiplied))  # divided by 1 − y
    return coefficients


def _alternating_sums(of_A: Sequence[int], size: int) -> list[int]:
    """δ_n, …, δ_0: the coefficients of Σ (−1)^j (1 + T)^{n+1−j} ∫ c_j(T_Y) H^{n−j}.

    c_j(T_Y) is that of both factors, and H^{n−j} with h_1^{n_1−j_1} has a binomial coefficient.
    """
    last_A = len(of_A) - 1
    n = last_A + size - 1
    shifted = flint.fmpz_poly([1, 1])
    total = flint.fmpz_poly([])
    # Horner's rule: the first factor 1 + T belongs to j = n
    for j in range(n + 1):
        integral = 0
        of_V = 1
        for second in range(min(j, size - 1) + 1):
            first = j - second
            if first <= last_A:
                integral += of_A[first] * of_V * comb(n - j, size - 1 - second)
            of_V = of_V * (size - second) // (second + 1)
        total = total * shifted + (-1) ** j * integral
    total *= shifted
    return [int(total[i + 1]) for i in range(n, -1, -1)]


# By localization, on the Grassmannian and on all of Y.


@cache
def localized_integrals(d: int, alpha: int) -> list[int]:
    """∫ c_j(T) h^{n_1−j} over P(S ⊗ K^d), for all j.

    E = S ⊗ K^d has rank αd. Over a fixed point of Gr(α, d), a coordinate subspace W, c(T) is that
    of the Grassmannian times Σ c_k(E) (1 + h)^{αd−k}; and h^{αd−1+m} goes to the Segre class
    s_m(E), the complete symmetric function of the weights of the dual of E.
    """
    rank = alpha * d
    moves = alpha * (d - alpha)
    # by k and m: ∫ c_{moves−k−m}(T) c_k(E) s_m(E) over the Grassmannian
    places = [(k, m) for k in range(moves + 1) for m in range(moves + 1 - k)]
    on_grassmannian = dict.fromkeys(places, flint.fmpq(0))
    for chosen in combinations([j**2 for j in range(d)], alpha):
        others = [j**2 for j in range(d) if j**2 not in chosen]
        differences = [b - a for a in chosen for b in others]
        weights = [a for a in chosen for _ in range(d)]
        tangent = _elementary(differences, moves)
        chern = _elementary(weights, moves)
        segre = _complete([-weight for weight in weights], moves)
        euler = prod(differences)
        for k, m in places:
            value = tangent[moves - k - m] * chern[k] * segre[m]
            on_grassmannian[k, m] += flint.fmpq(value, euler)
    integrals = [0] * (rank + moves)
    for (k, m), total in on_grassmannian.items():
        if total.q != 1:
            raise ContradictionError(f"localization over rank {alpha} of size {d} gives fractions")
        for power in range(min(rank - k, rank - 1 + m) + 1):
            integrals[moves - m + power] += comb(rank - k, power) * int(total.p)
    return integrals


def _elementary(weights: Sequence[int], last: int) -> list[int]:
    """The elementary symmetric functions up to a degree."""
    values = [1] + [0] * last
    for weight in weights:
        for k in range(last, 0, -1):
            values[k] += weight * values[k - 1]
    return values


def _complete(weights: Sequence[int], last: int) -> list[int]:
    """The complete symmetric functions up to a degree."""
    values = [1] + [0] * last
    for weight in weights:
        for k in range(1, last + 1):
            values[k] += weight * values[k - 1]
    return values


def _of_product(of_A: Sequence[int], of_V: Sequence[int]) -> list[int]:
    """∫ c_j(T_Y) H^{n−j} for all j, from those of both factors."""
    n = len(of_A) + len(of_V) - 2
    integrals = [0] * (n + 1)
    for (first, a), (second, v) in product(enumerate(of_A), enumerate(of_V)):
        j = first + second
        integrals[j] += comb(n - j, len(of_A) - 1 - first) * a * v
    return integrals


def _in_binomials(integrals: Sequence[int]) -> list[int]:
    """δ_0, …, δ_n: δ_i = Σ_j (−1)^j C(n + 1 − j, i + 1) ∫ c_j(T) H^{n−j}."""
    n = len(integrals) - 1
    degrees = []
    for i in range(n + 1):
        degree = 0
        for j in range(n - i + 1):
            degree += (-1) ** j * comb(n + 1 - j, i + 1) * integrals[j]
        degrees.append(degree)
    return degrees


def polar_degrees(case: Case) -> list[int]:
    """δ_0, …, δ_n by localization at the fixed points of all of Y."""
    return _in_binomials(_integrals(case))


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
