"""The polar degrees that the theorem states, by integrals of Chern classes over the
desingularization of the source, in two ways that share nothing.

Let Y be the desingularization of the source: the [V] in P(K^{d'×d}), and the pairs of a subspace W
of dimension α and a point [A] of P(W ⊗ K^d). Polar degrees are sums of integrals of c_j(T_Y)
H^{n−j}, H = h_1 + h_2 (docs/polar-degrees.md). For α = d' = 1 < d functions are q ⊗ c with a
symmetric matrix c of rank at most two, Y is the set of the [q], and the pairs of a plane S and a
point [c] of P(S²S), and another bundle N stands for the tangent bundle.
:func:`stated_polar_degrees` integrates in the Chow ring, :func:`localized_polar_degrees` at the
fixed points of a torus. Nothing here looks at a function of attention.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, factorial, prod

import flint

from m2bridge.algebra.determinantal import matrices_of_rank
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.sizes import LayerSizes, dimension_formula, is_birational
from m2bridge.limits import check_deadline_in
from m2bridge.statements.statement import Numbers

MAX_GRASSMANNIAN_STEPS = 10**6
"""Fixed points of the Grassmannian times the square of its dimension, up to which integrals are
computed by localization: a few seconds.
"""

MAX_POLAR_DIMENSION = 600
"""Larger varieties are refused: their polar degrees have thousands of digits."""

MERSENNE = (127, 521, 1279, 2203, 4423, 9689, 19937, 44497)
"""Exponents e for which 2^e − 1 is prime."""


def is_stated(shape: LayerSizes) -> bool:
    """Whether a verdict asks for the numbers of the formula. This depends on the case alone."""
    if dimension_formula(shape) > MAX_POLAR_DIMENSION:
        return False
    rank = shape.alpha if is_birational(shape) else 2  # of the bundle S
    return comb(shape.d, rank) * _moves(shape.d, rank) ** 2 <= MAX_GRASSMANNIAN_STEPS


def _lines(shape: LayerSizes) -> int:
    """The coordinates of the factor of Y that is a projective space: those of V, or of q."""
    return shape.d * shape.d_out


def _moves(d: int, alpha: int) -> int:
    """The dimension of Gr(α, d)."""
    return alpha * (d - alpha)


@lru_cache(maxsize=64)
def stated_polar_degrees(shape: LayerSizes) -> Numbers | None:
    """The numbers δ_n, …, δ_0 of the formula, whether it applies or not; ``None`` for large cases.

    Examples
    --------
    >>> str(stated_polar_degrees(LayerSizes(2, 2)))
    '(20, 60, 84, 68, 36, 12, 4)'
    """
    if not is_stated(shape):
        return None
    return Numbers(polar_degrees_in_chow_ring(shape))


def polar_degrees_in_chow_ring(shape: LayerSizes) -> tuple[int, ...]:
    """The same, of a case that may be large."""
    if is_birational(shape):
        integrals = chern_integrals(shape.d, shape.alpha)
    else:
        integrals = symmetric_integrals(shape.d)
    return polar_sums(integrals, _lines(shape))


@lru_cache(maxsize=64)
def localized_polar_degrees(shape: LayerSizes) -> Numbers | None:
    """The same numbers by localization, with sums of their own; ``None`` for large cases.

    Examples
    --------
    >>> str(localized_polar_degrees(LayerSizes(2, 2)))
    '(20, 60, 84, 68, 36, 12, 4)'
    """
    if not is_stated(shape):
        return None
    if is_birational(shape):
        of_A = integrals_at_fixed_points(shape.d, shape.alpha)
    else:
        of_A = symmetric_integrals_at_fixed_points(shape.d)
    size = _lines(shape)
    last_A = len(of_A) - 1
    n = last_A + size - 1
    integrals = []  # of c_j(T_Y) H^{n−j}
    for j in check_deadline_in(range(n + 1)):
        integral = 0
        for first in range(max(0, j - size + 1), min(j, last_A) + 1):
            integral += comb(n - j, last_A - first) * of_A[first] * comb(size, j - first)
        integrals.append(integral)
    degrees = []
    for i in check_deadline_in(range(n, -1, -1)):
        degree = 0
        for j in range(n - i + 1):
            degree += (-1) ** j * comb(n + 1 - j, i + 1) * integrals[j]
        degrees.append(degree)
    return Numbers(tuple(degrees))


def polar_sums(of_A: Sequence[int], size: int) -> tuple[int, ...]:
    """The polar degrees from the integrals of c_j(T) h_1^{n_1−j} over the space of the pairs (W,
    [A]), and the number of entries of V.

    With b_j those over the projective space of V, the integrals of c_j(T_Y) H^{n−j} are Σ C(n − j,
    n_1 − j_1) a_{j_1} b_{j_2} over j_1 + j_2 = j. Then δ_i is the coefficient of T^{i+1} in Σ
    (−1)^j (1 + T)^{n+1−j} of them.
    """
    of_V = [comb(size, j) for j in range(size)]
    n = len(of_A) + len(of_V) - 2
    divided = _over_factorials(of_A) * _over_factorials(of_V)
    signed = []
    for j in range(n + 1):
        integral = divided[j] * factorial(n - j)
        signed.append((-1) ** j * int(integral.p))
    # Σ signed_j T^{n+1−j}, at T + 1.
    polynomial = flint.fmpz_poly([0, *reversed(signed)])
    shifted = polynomial(flint.fmpz_poly([1, 1]))
    return tuple(int(shifted[i + 1]) for i in range(n, -1, -1))


def _over_factorials(integrals: Sequence[int]) -> flint.fmpq_poly:
    """The polynomial Σ_j a_j T^j/(last − j)! for the integrals a_j."""
    last = len(integrals) - 1
    return flint.fmpq_poly(
        [flint.fmpq(value, factorial(last - j)) for j, value in enumerate(integrals)]
    )


def chern_integrals(d: int, alpha: int) -> list[int]:
    """The integrals of c_j(T) h^{n_1−j} over P(S ⊗ K^d), S the tautological bundle over Gr(α, d),
    for j = 0, …, n_1.

    For α = d it is a projective space. Otherwise their generating function is the coefficient e_α
    of the characteristic polynomial of a matrix of size d, divided by u^{α(α−1)} and cut off after
    u^{n_1}; it is interpolated modulo a prime above twice its coefficients.

    Source: ours, proved in docs/polar-degrees.md: Segre classes push forward to the Grassmannian,
    where residues and Cauchy's determinant leave a sum over permutations.
    """
    if alpha == d:
        return [comb(d * d, j) for j in range(d * d)]
    prime = _prime(2 * _bound(d, alpha))
    last = matrices_of_rank(d, alpha) - 1
    values = {}
    for u in check_deadline_in(range(1, last + 3)):  # the quotient has at most the degree last + 1
        values[u] = _trace(d, alpha, u, prime) * pow(u, alpha - alpha**2, prime)
    found = _interpolated(values, prime)
    integrals = []
    for j in range(last + 1):
        residue = int(found[j])
        # The prime is above twice the integral, so a larger residue is a negative one.
        integrals.append(residue if 2 * residue < prime else residue - prime)
    return integrals


def _geometric(d: int) -> list[int]:
    """The coefficients of 1/(1 − y)^d up to degree d − 1."""
    return [comb(d - 1 + k, k) for k in range(d)]


def _trace(d: int, alpha: int, u: int, prime: int) -> int:
    """e_α(C M) at u, modulo the prime: C_ab = (−u)^{a+b} (−1)^b C(a + b, a), M_bc = [y^{d−1−b−c}]
    φ(y).

    φ = ((1 + uy)(1 + u − uy)/(1 − y))^d; α goes from 0 to d.
    """
    ring = flint.fmpz_mod_ctx(prime)
    series = flint.fmpz_mod_poly_ctx(ring)
    phi = series([1 + u, u * u, -u * u]) ** d * series(_geometric(d))
    powers = [(-u) ** k for k in range(2 * d)]
    terms = [int(phi[k]) for k in range(d)]
    C, M = [], []
    for i in range(d):
        C.append([powers[i + b] * comb(i + b, i) * (-1) ** b for b in range(d)])
        # the terms of φ from degree d − 1 − i down to 0
        M.append([*terms[d - 1 - i :: -1], *[0] * i])
    matrix = flint.fmpz_mod_mat(C, ring) * flint.fmpz_mod_mat(M, ring)
    coefficient = int(matrix.charpoly()[d - alpha])
    return -coefficient if alpha % 2 else coefficient


def _bound(d: int, alpha: int) -> int:
    """A bound for the coefficients of e_α(C M) in u: sums of absolute values are
    submultiplicative.
    """
    phi = flint.fmpz_poly([2, 1, 1]) ** d * flint.fmpz_poly(_geometric(d))
    row = max(
        sum(comb(a + b, a) * int(phi[d - 1 - b - c]) for b in range(d) for c in range(d - b))
        for a in range(d)
    )
    return int(comb(d, alpha) * row**alpha)


def _prime(least: int) -> int:
    """A prime of Mersenne that is above this number."""
    return int(next(2**e - 1 for e in MERSENNE if e > least.bit_length()))


def _interpolated(values: dict[int, int], prime: int) -> flint.fmpz_mod_poly:
    """The polynomial with these values at these numbers, modulo the prime (Lagrange)."""
    ring = flint.fmpz_mod_poly_ctx(flint.fmpz_mod_ctx(prime))
    whole = prod((ring([-u, 1]) for u in values), start=ring([1]))
    slope = whole.derivative()
    return sum(
        (whole // ring([-u, 1]) * (value / slope(u)) for u, value in values.items()), ring([0])
    )


def integrals_at_fixed_points(d: int, alpha: int) -> list[int]:
    """The integrals of :func:`chern_integrals` by localization at the fixed points of a torus.

    P(E), E = S ⊗ K^d, is a bundle of projective spaces over Gr(α, d), so c(T) is that of the
    Grassmannian times Σ c_k(E) (1 + h)^{αd−k}, and h^{αd−1+m} pushes forward to the Segre class
    s_m(E), where c(E) s(E) = 1. The fixed points of the torus of K^d on the Grassmannian are the
    coordinate subspaces. Source: Atiyah, Bott, *The moment map and equivariant cohomology*, 1984.
    """
    moves, rank = _moves(d, alpha), alpha * d
    # by k and m: the integral of c_k(E) s_m(E) c_{moves−k−m}(T) over the Grassmannian
    on_grassmannian = _on_grassmannian(d, alpha)
    integrals = [0] * (rank + moves)
    for (k, m), value in on_grassmannian.items():
        # c_k(E) comes with (1 + h)^{αd−k}, the Chern class of the Grassmannian with its degree
        for power in range(rank - k + 1):
            j = moves - m + power
            if j < len(integrals):
                integrals[j] += value * comb(rank - k, power)
    return integrals


def _on_grassmannian(d: int, alpha: int) -> dict[tuple[int, int], int]:
    """For k and m the integral of c_k(E) s_m(E) c_{moves−k−m}(T) over the Grassmannian.

    By Bott's formula it is a sum over the coordinate subspaces W: the integrand in the weights of
    the torus on E and T at W, divided by the product of those on T. On K^d the torus has the
    weights 1, …, d, so on T the differences b − a of weights outside of W and inside.
    """
    moves = _moves(d, alpha)
    places = [(k, m) for k in range(moves + 1) for m in range(moves + 1 - k)]
    totals = dict.fromkeys(places, flint.fmpq(0))
    for chosen in check_deadline_in(combinations(range(1, d + 1), alpha)):
        others = [b for b in range(1, d + 1) if b not in chosen]
        tangents = [b - a for a in chosen for b in others]
        tangent = prod((flint.fmpz_poly([1, weight]) for weight in tangents), start=_ONE)
        # E has each of the weights of W as often as K^d has dimensions
        bundle = prod((flint.fmpz_poly([1, weight]) for weight in chosen), start=_ONE) ** d
        segre = _inverse(bundle, moves)
        euler = prod(tangents)
        for k, m in places:
            value = bundle[k] * segre[m] * tangent[moves - k - m]
            totals[k, m] += flint.fmpq(value, euler)
    if any(total.q != 1 for total in totals.values()):
        raise ContradictionError(f"localization over rank {alpha} of size {d} gives fractions")
    return {place: int(total.p) for place, total in totals.items()}


_ONE = flint.fmpz_poly([1])


def _inverse(series: flint.fmpz_poly, last: int) -> list[int]:
    """The coefficients of 1/series up to a degree; the constant term of the series is 1."""
    inverse = [1]
    for m in range(1, last + 1):
        inverse.append(-sum(int(series[k]) * inverse[m - k] for k in range(1, m + 1)))
    return inverse


# Symmetric matrices of rank at most two, for α = d' = 1 < d.


def symmetric_integrals(d: int) -> list[int]:
    """The integrals of c_j(N) h^{2d−2−j} over P(S²S), S the tautological bundle over Gr(2, d), for
    j = 0, …, 2d − 2, with N = S²S ⊗ O(h) − O + S ⊗ (K^d/S) ⊗ O(h).

    They are coefficients of −½ (1 + u)³ [y^{d−1} z^{d−1}] (y − z)² φ(y) φ(z) Σ_k ((1 + u)^{k+1} −
    u^{k+1}) (y + z)^k, φ(y) = (1 − uy)^d / (1 − 2(1 + u)y).

    Source: ours, proved in docs/polar-degrees.md, as :func:`chern_integrals`.
    """
    u, t = flint.fmpz_poly([0, 1]), flint.fmpz_poly([1, 1])  # t = 1 + u
    phi = []  # the coefficients of φ at y^0, …, y^{d−1}
    coefficient = flint.fmpz_poly([])
    for m in range(d):
        # (1 − 2ty) φ = (1 − uy)^d
        coefficient = 2 * t * coefficient + (-1) ** m * comb(d, m) * u**m
        phi.append(coefficient)
    total = flint.fmpz_poly([])
    for k in check_deadline_in(range(2 * d - 3)):
        # (y − z)² as 2y² − 2yz, by symmetry: the powers of y and z that are left for φ
        inner = flint.fmpz_poly([])
        for i in range(k + 1):
            of_y, of_z = d - 1 - i, d - 1 - k + i
            if of_y >= 2 and of_z >= 0:
                inner += comb(k, i) * phi[of_y - 2] * phi[of_z]
            if of_y >= 1 and of_z >= 1:
                inner -= comb(k, i) * phi[of_y - 1] * phi[of_z - 1]
        total -= (t ** (k + 1) - u ** (k + 1)) * inner
    total *= t**3
    return [int(total[j]) for j in range(2 * d - 1)]


def symmetric_integrals_at_fixed_points(d: int) -> list[int]:
    """The integrals of :func:`symmetric_integrals` by localization.

    A fixed point is a coordinate plane with one of the lines of e_i², e_i e_j, e_j² in S²S.
    """
    last = 2 * d - 2
    totals = [flint.fmpq(0)] * (last + 1)
    for plane in check_deadline_in(combinations(range(1, d + 1), 2)):
        first, second = plane
        others = [b for b in range(1, d + 1) if b not in plane]
        lines = (2 * first, first + second, 2 * second)
        for line in lines:
            moves_of_line = [other - line for other in lines if other != line]
            moves_of_plane = [b - a for a in plane for b in others]
            normal = [a + b - line for a in plane for b in others]
            chern = prod((flint.fmpz_poly([1, w]) for w in (*moves_of_line, *normal)), start=_ONE)
            euler = prod(moves_of_line) * prod(moves_of_plane)
            for j in range(last + 1):
                totals[j] += flint.fmpq(int(chern[j]) * (-line) ** (last - j), euler)
    if any(total.q != 1 for total in totals):
        raise ContradictionError(f"localization over symmetric matrices of size {d}: fractions")
    return [int(total.p) for total in totals]
