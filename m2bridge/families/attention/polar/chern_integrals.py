"""The polar degrees that the theorem states, by integrals of Chern classes over the
desingularization of the source, in two ways that share nothing.

Let Y be the desingularization of the source: the product of the space of pairs of a subspace W of
dimension α and a point [A] of P(W ⊗ K^d), of dimension n_1, and of the space of the [V] in
P(K^{d'×d}), of dimension n_2. Polar degrees are sums of integrals of c_j(T_Y) H^{n−j}, where
n = n_1 + n_2, and H = h_1 + h_2 is the sum of the hyperplane classes of both factors
(docs/polar-degrees.md). For α = d' = 1 < d functions are q ⊗ c with a symmetric matrix c of rank at
most two. Then the factors of Y are the space of pairs of a plane S and a point [c] of P(S²S), and
the space of the [q]; and another bundle N stands for the tangent bundle.
:func:`stated_polar_degrees` integrates in the Chow ring, :func:`localized_polar_degrees` at the
fixed points of a torus. Nothing here looks at a function of attention.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, factorial, prod

import flint

from m2bridge.algebra.determinantal import matrices_of_rank
from m2bridge.algebra.numbers import nearest_to_zero
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


def has_short_polar_degrees(shape: LayerSizes) -> bool:
    """Return whether polar degrees are computed: they are not of larger varieties."""
    return dimension_formula(shape) <= MAX_POLAR_DIMENSION


def is_computed_for_verdicts(shape: LayerSizes) -> bool:
    """Return whether the numbers of the formula are computed for a verdict, as they are small."""
    if not has_short_polar_degrees(shape):
        return False
    # the dimension of the subspaces in Y: of W, or of the planes S for α = d' = 1 < d
    rank = shape.alpha
    if not is_birational(shape):  # α = d' = 1 < d
        rank = 2
    # fixed points of the torus on the Grassmannian are the coordinate subspaces
    fixed_points = comb(shape.d, rank)
    dimension = rank * (shape.d - rank)
    return fixed_points * dimension**2 <= MAX_GRASSMANNIAN_STEPS


@lru_cache(maxsize=64)
def stated_polar_degrees(shape: LayerSizes) -> Numbers | None:
    """Return the numbers of the formula, also where its hypotheses fail; ``None`` if too large."""
    if not is_computed_for_verdicts(shape):
        return None
    return Numbers(polar_degrees_in_chow_ring(shape))


def polar_degrees_in_chow_ring(shape: LayerSizes) -> tuple[int, ...]:
    """Return the numbers δ_n, …, δ_0 of the formula, integrated in the Chow ring; of any size."""
    if is_birational(shape):
        integrals = chern_integrals(shape.d, shape.alpha)
    else:  # α = d' = 1 < d
        integrals = symmetric_integrals(shape.d)
    return polar_sums(integrals, shape.d * shape.d_out)


@lru_cache(maxsize=64)
def localized_polar_degrees(shape: LayerSizes) -> Numbers | None:
    """Return the numbers δ_n, …, δ_0 of the formula, by localization; ``None`` if too large."""
    if not is_computed_for_verdicts(shape):
        return None
    integrals = localized_integrals(shape)
    return Numbers(polar_sums(integrals, shape.d * shape.d_out))


def polar_sums(a: Sequence[int], coordinates: int) -> tuple[int, ...]:
    """Return the polar degrees δ_n, …, δ_0 from integrals over both factors of Y.

    Let a_j be the integrals of c_j h_1^{n_1−j} over the first factor, and b_j = C(n_2 + 1, j) those
    of c_j h_2^{n_2−j} over the second, the projective space of V with n_2 + 1 ``coordinates``. The
    integral I_j of c_j(T_Y) H^{n−j} is Σ C(n − j, n_1 − j_1) a_{j_1} b_{j_2} over j_1 + j_2 = j.
    Then δ_i is the coefficient of T^{i+1} in Σ_j (−1)^j I_j (1 + T)^{n+1−j}.
    """
    b = [comb(coordinates, j) for j in range(coordinates)]
    # n_1 + n_2
    n = len(a) + len(b) - 2
    # C(n − j, n_1 − j_1) = (n − j)!/((n_1 − j_1)! (n_2 − j_2)!), so the I_j/(n − j)! are the
    # coefficients of a product
    integrals_over_factorials = _divide_by_factorials(a) * _divide_by_factorials(b)
    signed_integrals = []
    for j in range(n + 1):
        # an integer: its numerator is all of it
        integral = integrals_over_factorials[j] * factorial(n - j)
        signed_integrals.append((-1) ** j * int(integral.p))
    # Σ_j (−1)^j I_j T^{n+1−j}, and then with T + 1 in place of T
    polynomial = flint.fmpz_poly([0, *reversed(signed_integrals)])
    shifted = polynomial(flint.fmpz_poly([1, 1]))
    return tuple(int(shifted[i + 1]) for i in range(n, -1, -1))


def _divide_by_factorials(integrals: Sequence[int]) -> flint.fmpq_poly:
    """Return the polynomial Σ_j a_j T^j/(last − j)! for the integrals a_0, …, a_last."""
    last = len(integrals) - 1
    return flint.fmpq_poly(
        [flint.fmpq(value, factorial(last - j)) for j, value in enumerate(integrals)]
    )


def chern_integrals(d: int, alpha: int) -> list[int]:
    """Return the integrals a_j of c_j(T) h^{n_1−j} over P(S ⊗ K^d), for j = 0, …, n_1.

    S is the tautological bundle over Gr(α, d), and T the tangent bundle of P(S ⊗ K^d), a projective
    space for α = d. For α < d Σ_j a_j u^j is a known polynomial in u,
    :func:`_characteristic_coefficient`, divided by u^{α(α−1)} and cut off after u^{n_1}
    (docs/polar-degrees.md, Proposition "A determinantal formula"). It is interpolated from values
    modulo a prime that is larger than twice all coefficients.
    """
    if alpha == d:
        return [comb(d * d, j) for j in range(d * d)]
    # Up to MAX_POLAR_DIMENSION bounds have at most a few thousand binary digits.
    bits = (2 * _coefficient_bound(d, alpha)).bit_length()
    prime = next(2**e - 1 for e in MERSENNE if e > bits)
    n_1 = matrices_of_rank(d, alpha) - 1
    # the values of the quotient by u
    values = {}
    # the quotient by u^{α(α−1)} has at most the degree n_1 + 1: n_1 + 2 values determine it
    for u in check_deadline_in(range(1, n_1 + 3)):
        coefficient = _characteristic_coefficient(d, alpha, u, prime)
        # divided by u^{α(α−1)}: a negative power is one of the inverse modulo the prime
        values[u] = coefficient * pow(u, -alpha * (alpha - 1), prime)
    polynomial = _interpolate(values, prime)
    # The prime is above twice the absolute value of each integral.
    return [nearest_to_zero(int(polynomial[j]), prime) for j in range(n_1 + 1)]


def _geometric_series_coefficients(d: int) -> list[int]:
    """Return the coefficients of 1/(1 − y)^d from degree 0 to d − 1."""
    return [comb(d - 1 + k, k) for k in range(d)]


def _characteristic_coefficient(d: int, alpha: int, u: int, prime: int) -> int:
    """Return e_α(C M) at u, modulo the prime: the sum of the principal minors of size α.

    C and M are d×d matrices with the entries C_ab = (−u)^{a+b} (−1)^b C(a + b, a) and M_bc =
    [y^{d−1−b−c}] φ(y), where φ is ((1 + uy)(1 + u − uy)/(1 − y))^d, and [y^k] the coefficient of
    y^k, zero for k < 0.
    """
    modulo_prime = flint.fmpz_mod_ctx(prime)
    polynomials = flint.fmpz_mod_poly_ctx(modulo_prime)
    # (1 + uy)(1 + u − uy) = 1 + u + u² y − u² y²
    numerator = polynomials([1 + u, u * u, -u * u]) ** d
    phi = numerator * polynomials(_geometric_series_coefficients(d))
    coefficients = [int(phi[k]) for k in range(d)]
    powers = [(-u) ** k for k in range(2 * d)]
    rows_of_C = []
    rows_of_M = []
    for a in range(d):
        rows_of_C.append([powers[a + b] * (-1) ** b * comb(a + b, a) for b in range(d)])
        # from degree d − 1 − a down to 0, then zeros
        rows_of_M.append([*coefficients[d - 1 - a :: -1], *[0] * a])
    C = flint.fmpz_mod_mat(rows_of_C, modulo_prime)
    M = flint.fmpz_mod_mat(rows_of_M, modulo_prime)
    # the characteristic polynomial is Σ (−1)^k e_k T^{d−k}
    coefficient = int((C * M).charpoly()[d - alpha])
    return -coefficient if alpha % 2 else coefficient


def _coefficient_bound(d: int, alpha: int) -> int:
    """Return a bound for the absolute values of the coefficients of e_α(C M), a polynomial in u.

    Let |P| be the sum of the absolute values of the coefficients of a polynomial P; then |P Q| is
    at most |P| |Q|. If Σ |entry| over each row of C M is at most ``row_bound``, a minor of size α
    has at most row_bound^α, and e_α is a sum of C(d, α) minors.
    """
    # φ with absolute values, at u = 1: |1 + u| = 2 and |u²| = 1
    phi = flint.fmpz_poly([2, 1, 1]) ** d * flint.fmpz_poly(_geometric_series_coefficients(d))
    row_bound = 0
    for a in range(d):
        row_sum = 0
        for b in range(d):
            for c in range(d - b):
                # |C_ab| |M_bc|, for the matrices of _characteristic_coefficient
                row_sum += comb(a + b, a) * int(phi[d - 1 - b - c])
        row_bound = max(row_bound, row_sum)
    return int(comb(d, alpha) * row_bound**alpha)


def _interpolate(values: dict[int, int], prime: int) -> flint.fmpz_mod_poly:
    """Return the polynomial with the value ``values[u]`` at each u, modulo the prime (Lagrange)."""
    ring = flint.fmpz_mod_poly_ctx(flint.fmpz_mod_ctx(prime))
    # Π (y − u), whose derivative at u is the product of the differences to all other numbers
    vanishing = prod((ring([-u, 1]) for u in values), start=ring([1]))
    derivative = vanishing.derivative()
    total = ring([0])
    for u, value in values.items():
        zero_elsewhere = vanishing // ring([-u, 1])  # at u it has the value of the derivative
        total += zero_elsewhere * (value / derivative(u))
    return total


def localized_integrals(shape: LayerSizes) -> list[int]:
    """Return ∫ c_j(N) h^{n_1−j} over the first factor of Y, for j = 0, …, n_1, by localization.

    N is the tangent bundle, or the bundle that stands for it for α = d' = 1 < d. By the formula of
    Atiyah and Bott (*The moment map and equivariant cohomology*, 1984) an integral is a sum over
    the fixed points of a torus: the integrand there in weights of the torus, divided by the product
    of the weights of the tangent space.
    """
    if is_birational(shape):
        sums = _sums_over_subspaces(shape.d, shape.alpha)
    else:  # α = d' = 1 < d
        sums = _sums_over_lines_in_planes(shape.d)
    if any(total.q != 1 for total in sums):
        raise ContradictionError(f"localization for {shape} gives fractions")
    return [int(total.p) for total in sums]


def _sums_over_subspaces(d: int, alpha: int) -> list[flint.fmpq]:
    """Return the integrals over P(E), E = S ⊗ K^d, as sums over coordinate subspaces of K^d.

    The fixed points of P(E) itself are too many. But the total Chern class of P(E) is the class of
    Gr(α, d) times Σ_k c_k(E) (1 + h)^{αd−k}, and h^{αd−1+m} pushes forward to the Segre class
    s_m(E), where c(E) s(E) = 1. What is left are integrals of c_k(E) s_m(E) c_{D−k−m} over
    Gr(α, d), of dimension D, on which the torus with the weights 1, …, d has the fixed points W.
    """
    dimension = alpha * (d - alpha)  # D, of Gr(α, d)
    rank = alpha * d  # of E
    pairs = [(k, m) for k in range(dimension + 1) for m in range(dimension + 1 - k)]
    on_grassmannian = dict.fromkeys(pairs, flint.fmpq(0))
    for own_weights in check_deadline_in(combinations(range(1, d + 1), alpha)):
        other_weights = set(range(1, d + 1)).difference(own_weights)
        tangent_weights = [b - a for a in own_weights for b in other_weights]
        chern_of_t = _chern_class(tangent_weights)
        # E has each of the weights of W as often as K^d has dimensions
        chern_of_e = _chern_class(own_weights) ** d
        # s(E) = 1/c(E): the coefficient m of c(E) s(E) is zero for m ≥ 1
        segre_of_e = [1]
        for m in range(1, dimension + 1):
            terms = [int(chern_of_e[k]) * segre_of_e[m - k] for k in range(1, m + 1)]
            segre_of_e.append(-sum(terms))
        euler = prod(tangent_weights)
        for k, m in pairs:
            value = chern_of_e[k] * segre_of_e[m] * chern_of_t[dimension - k - m]
            on_grassmannian[k, m] += flint.fmpq(value, euler)
    integrals = [flint.fmpq(0)] * (rank + dimension)
    for (k, m), value in on_grassmannian.items():
        # A term of c_j(T) is c_k(E) · c_{D−k−m}(Gr) · C(αd − k, power) h^power, so
        # j = D − m + power. As n_1 = D + αd − 1, its product with h^{n_1−j} has h to the power
        # αd − 1 + m, which leaves s_m(E). There is no c_j for j > n_1.
        for power in range(min(rank - k, rank - 1 + m) + 1):
            integrals[dimension - m + power] += value * comb(rank - k, power)
    return integrals


def _chern_class(weights: Iterable[int]) -> flint.fmpz_poly:
    """Return Π (1 + wT) for the weights w of a torus: the coefficient of T^k is the class c_k."""
    return prod((flint.fmpz_poly([1, weight]) for weight in weights), start=flint.fmpz_poly([1]))


def _sums_over_lines_in_planes(d: int) -> list[flint.fmpq]:
    """Return the integrals over P(S²S) as sums over its fixed points.

    They are a coordinate plane S, with the weights a and b, and one of the lines e_a², e_a e_b and
    e_b². All integrals together are the coefficients of the powers of u in Σ_p Π_ν (h_p + ν u) /
    Π_w w, where h_p is the weight of h at p, and ν and w run through the weights of N and of the
    tangent space there. N is the tangent space with S(1) in place of the dual of S.
    """
    total = flint.fmpq_poly([])
    for plane in check_deadline_in(combinations(range(d), 2)):
        a, b = plane
        other_weights = set(range(d)).difference(plane)
        of_grassmannian = [c - weight for weight in plane for c in other_weights]
        lines = (2 * a, a + b, 2 * b)
        for line in lines:
            of_lines = [other - line for other in lines if other != line]
            of_N = [*of_lines, *(weight + c - line for weight in plane for c in other_weights)]
            factors = [flint.fmpz_poly([-line, weight]) for weight in of_N]
            numerator = prod(factors, start=flint.fmpz_poly([1]))
            total += flint.fmpq_poly(numerator, prod(of_lines) * prod(of_grassmannian))
    return [total[j] for j in range(2 * d - 1)]


# Symmetric matrices of rank at most two, for α = d' = 1 < d.


def symmetric_integrals(d: int) -> list[int]:
    """Return the integrals of c_j(N) h^{2d−2−j} over P(S²S), for j = 0, …, 2d − 2.

    S is the tautological bundle over Gr(2, d), and N = S²S ⊗ O(h) − O + S ⊗ (K^d/S) ⊗ O(h). The
    integral for j is the coefficient of u^j in −½ (1 + u)³ [y^{d−1} z^{d−1}] (y − z)² φ(y) φ(z) Σ_k
    ((1 + u)^{k+1} − u^{k+1}) (y + z)^k, where φ(y) = (1 − uy)^d / (1 − 2(1 + u)y)
    (docs/polar-degrees.md, Proposition "Symmetric matrices").
    """
    u, t = flint.fmpz_poly([0, 1]), flint.fmpz_poly([1, 1])  # t = 1 + u
    # the coefficients of φ at y^0, …, y^{d−1}: (1 − 2ty) φ = (1 − uy)^d gives each from the former
    phi = []
    coefficient = flint.fmpz_poly([])
    for m in range(d):
        coefficient = 2 * t * coefficient + (-1) ** m * comb(d, m) * u**m
        phi.append(coefficient)
    total = flint.fmpz_poly([])
    # (y − z)² and (y + z)^k have degree 2 + k, which is at most 2d − 2
    for k in check_deadline_in(range(2 * d - 3)):
        # by the symmetry in y and z half of (y − z)² can be replaced by y² − yz
        half = flint.fmpz_poly([])
        for i in range(k + 1):
            # the powers of y and z that the term y^i z^{k−i} of (y + z)^k leaves
            of_y, of_z = d - 1 - i, d - 1 - k + i
            if of_y >= 2 and of_z >= 0:
                half += comb(k, i) * phi[of_y - 2] * phi[of_z]
            if of_y >= 1 and of_z >= 1:
                half -= comb(k, i) * phi[of_y - 1] * phi[of_z - 1]
        total -= (t ** (k + 1) - u ** (k + 1)) * half
    total *= t**3
    return [int(total[j]) for j in range(2 * d - 1)]
