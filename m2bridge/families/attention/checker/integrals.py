"""The numbers of the theorem on polar degrees, by two computations that share nothing.

Rests on: the polar degrees of the closure are integrals of Chern classes over a smooth Y
(docs/polar-degrees.md, theorem-polar). In the Chow ring they are coefficients of a determinant
(proposition-polar-determinant); in equivariant cohomology, sums over the fixed points of a torus,
each with the product of the weights of its tangent space as denominator.
Proved in: docs/polar-degrees.md; Atiyah and Bott, *The moment map and equivariant cohomology*,
Topology 23, 1984.
Computed here: the stated numbers, in the Chow ring; the observed ones, and the numbers
of certificates on polar degrees, by localization.
For α = d' = 1 there are the same two computations over symmetric matrices of rank at most two
(theorem-polar-symmetric, proposition-polar-symmetric).
On trust: these theorems. Points that are counted without them are in slices.py.

Notation. d, d', α, A, V, D_α and "projective" are as in case.py.

* Y = P(S ⊗ K^d) × P(V) is a desingularization of the source P(D_α) × P(V). S is the tautological
  bundle of rank α on Gr(α, d), the Grassmannian of subspaces W of K^d of dimension α; so the points
  of Y are the (W, A, V) with the columns of A in W, A and V up to factors.
* n_1 = α(2d − α) − 1 and n_2 = d d' − 1 are the dimensions of the two factors of Y, which in names
  are ``of_A`` and ``of_V``; n = n_1 + n_2 is the dimension of Y, and of the projective closure.
* T, or T_Y, is a tangent bundle, c_j(T) its Chern class of degree j. h is the hyperplane class of
  P(S ⊗ K^d), h_1 = h and h_2 the ones of both factors, and H = h_1 + h_2. ∫ is the number that a
  class of highest degree is. "The integrals" of a factor are ∫ c_j(T) h^(n_1−j), j = 0, …, n_1, and
  the ones of Y ∫ c_j(T_Y) H^(n−j), j = 0, …, n.
* δ_i, the polar degrees, are numbers of pairs: of a smooth point of the closure on i general
  hyperplanes, and a hyperplane tangent there in a general linear space of dimension i + 1.
* For α = d' = 1, A = k qᵀ and V = vᵀ, a function is q ⊗ c with the symmetric matrix c = kv, of rank
  at most two. S is then the tautological bundle of rank 2 on Gr(2, d), Q = K^d/S the quotient
  bundle, and Y = P(S²S) × P^(d−1), c in the first factor and q in the second. O(1) is on
  P(S²S). The affine tangent spaces of the closure are a bundle on Y, O + N up to a twist, and N
  stands where T_Y does above. Its part of the first factor is S²S(1) − O + S ⊗ Q(1), where T_Y has
  the dual of S in place of S(1): c takes one to the other, and is not an isomorphism at rank one.
* u and T, in polynomials, are variables. Weights are here weights of a torus: the integers by which
  it acts on lines.
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, combinations, product
from math import comb, prod
from typing import Any

import flint

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker.case import Case

FIRST_REFUSED_D = 100
"""The first d that is too large for localization: the number of steps is not computed."""


def localization_steps(case: Case) -> int:
    """A bound for the steps of localization: subspaces W, lines in both factors, and n². From
    FIRST_REFUSED_D on it says nothing, as such a case is refused whatever it is.
    """
    n = case.projective_dimension
    subspace_count = comb(min(case.d, FIRST_REFUSED_D - 1), case.alpha)
    pairs_of_lines = (case.alpha * case.d) * (case.d * case.d_out)
    return subspace_count * pairs_of_lines * n**2


def is_affordable(case: Case) -> bool:
    """Whether a verdict compares the polar degrees of a case, which then takes a few seconds."""
    # the cone over the closure has one dimension more; larger degrees have thousands of digits
    if case.projective_dimension >= 600:
        return False
    # for α = d' = 1 < d the subspaces are planes: c has rank two
    rank = 2 if case.is_of_symmetric_matrices else case.alpha
    dimension = rank * (case.d - rank)  # of the Grassmannian
    subspaces = comb(case.d, rank)
    return subspaces * dimension**2 <= 10**6


def stated_polar_degrees(case: Case) -> list[int] | None:
    """δ_n, …, δ_0 in the Chow ring, whether the theorem applies or not; None for large cases."""
    if not is_affordable(case):
        return None
    if case.is_of_symmetric_matrices:
        # the second factor of Y is the P^(d−1) of q, not of V
        return _degrees_from_factors(symmetric_in_chow_ring(case.d), case.d)
    of_A = integrals_in_chow_ring(case.d, case.alpha)
    return _degrees_from_factors(of_A, case.d * case.d_out)


def localized_polar_degrees(case: Case) -> list[int] | None:
    """δ_n, …, δ_0 by localization; None for large cases."""
    return polar_degrees(case)[::-1] if is_affordable(case) else None


def polar_degrees(case: Case) -> list[int]:
    """δ_0, …, δ_n by localization: δ_i = Σ_j (−1)^j C(n + 1 − j, i + 1) ∫ c_j(T_Y) H^{n−j}, where
    integrals of both factors contribute as in ``_degrees_from_factors``.
    """
    if case.is_of_symmetric_matrices:
        of_A, size = localized_symmetric(case.d), case.d
    else:
        of_A, size = localized_integrals(case.d, case.alpha), case.d * case.d_out
    n_1 = len(of_A) - 1
    n = n_1 + size - 1
    degrees = [0] * (n + 1)
    for (j_1, integral), j_2 in product(enumerate(of_A), range(size)):
        j = j_1 + j_2
        of_Y = comb(n - j, n_1 - j_1) * integral * comb(size, j_2)
        for i in range(n - j + 1):
            degrees[i] += (-1) ** j * comb(n + 1 - j, i + 1) * of_Y
    return degrees


# In the Chow ring.


@cache
def integrals_in_chow_ring(d: int, alpha: int) -> list[int]:
    """∫ c_j(T) h^{n_1−j} over P(S ⊗ K^d), j = 0, …, n_1: the coefficients of e_α(C M) / u^{α(α−1)},
    a polynomial in u (docs/polar-degrees.md, proposition-polar-determinant).

    They are read off from its value at one u, a power of two above twice their absolute values: as
    digits to the base u, from −u/2 to u/2.
    """
    if alpha == d:
        return [comb(d * d, j) for j in range(d * d)]  # the projective space of all matrices
    bits = _coefficient_bound(d, alpha).bit_length() + 1
    value = _characteristic_value(d, alpha, u=1 << bits)
    lowest = alpha * (alpha - 1)  # the power of u that divides e_α(C M)
    number_of_integrals = alpha * (2 * d - alpha)  # n_1 + 1
    digits = []
    for _ in range(lowest + number_of_integrals):
        digit = value % (1 << bits)
        if digit >> (bits - 1):  # it is at least u/2
            digit -= 1 << bits
        digits.append(digit)
        value = (value - digit) >> bits
    return digits[lowest:]


def _characteristic_value(d: int, alpha: int, u: int) -> int:
    """The value at u of e_α(C M), the sum of the principal minors of size α of C M.

    C and M are d × d matrices with indices from 0 on:

    * C_ij is (−u)^{i+j} (−1)^j times the binomial coefficient of i + j and i;
    * M_ij is the coefficient of y^{d−1−i−j} in φ = ((1 + u·y)(1 + u − u·y) / (1 − y))^d.
    """
    # (1 + u·y)(1 + u − u·y) = 1 + u + u² y − u² y²; the power d of it, divided by 1 − y
    phi = _power_series([1 + u, u * u, -u * u], d)
    C = flint.fmpz_mat(d, d)
    M = flint.fmpz_mat(d, d)
    for i, j in product(range(d), repeat=2):
        C[i, j] = (-u) ** (i + j) * (-1) ** j * comb(i + j, i)
        degree = d - 1 - i - j
        if degree >= 0:
            M[i, j] = phi[degree]
    characteristic_polynomial = (C * M).charpoly()
    # its coefficient at degree d − α is, up to the sign, the sum of the principal minors of size α
    return int((-1) ** alpha * characteristic_polynomial[d - alpha])


@cache
def symmetric_in_chow_ring(d: int) -> list[int]:
    """∫ c_j(N) h^{2d−2−j} over P(S²S), j = 0, …, 2d − 2: the coefficients in u of −½ t³ [y^{d−1}
    z^{d−1}] (y − z)² φ(y) φ(z) Σ_k (t^{k+1} − u^{k+1}) (y + z)^k, the coefficient of this monomial,
    with t = 1 + u and φ(y) = (1 − u·y)^d / (1 − 2t·y)
    (docs/polar-degrees.md#proposition-polar-symmetric).
    """
    u = flint.fmpz_poly([0, 1])
    t = u + 1
    phi = [flint.fmpz_poly([1])]  # the coefficients of 1, y, …, y^{d−1}, polynomials in u
    for m in range(1, d):
        phi.append(2 * t * phi[-1] + comb(d, m) * (-u) ** m)
    # −½ (y − z)² is y z − ½ (y² + z²). By the symmetry in y and z both squares contribute equally,
    # so y² stands for the half of both.
    total = flint.fmpz_poly([])
    for k in range(2 * d - 3):  # k + 2 is at most 2d − 2, the degree of y^(d−1) z^(d−1)
        from_mixed = flint.fmpz_poly([])  # the part with the factor y z
        from_squares = flint.fmpz_poly([])  # the part with the factor y²
        # neither i nor k − i is above d − 1
        for i in range(max(0, k - d + 1), min(k, d - 1) + 1):
            # (y + z)^k has C(k, i) y^i z^(k−i), which leaves these powers of y^(d−1) z^(d−1)
            power_of_y = d - 1 - i
            power_of_z = d - 1 - (k - i)
            if power_of_y >= 1 and power_of_z >= 1:
                from_mixed += comb(k, i) * phi[power_of_y - 1] * phi[power_of_z - 1]
            if power_of_y >= 2:
                from_squares += comb(k, i) * phi[power_of_y - 2] * phi[power_of_z]
        total += (t ** (k + 1) - u ** (k + 1)) * (from_mixed - from_squares)
    total *= t**3
    return [int(total[j]) for j in range(2 * d - 1)]


def _coefficient_bound(d: int, alpha: int) -> int:
    """An upper bound for the sum of the absolute values of the coefficients of e_α(C M) in u.

    For products such sums are at most multiplied; so for a minor the sum is at most the product,
    over the rows, of the sums for rows.
    """
    phi = _power_series([2, 1, 1], d)  # with u = 1, and every sign positive
    sum_of_row = 0  # at least the sum of any row of C M: it is the sum of all entries
    for i, j in product(range(d), repeat=2):
        # row j of M has the entries φ_{d−1−j}, …, φ_0 and zeros
        sum_of_row += comb(i + j, i) * sum(phi[: d - j])
    number_of_minors = comb(d, alpha)
    bound: int = number_of_minors * sum_of_row**alpha
    return bound


def _power_series(f: Sequence[int], d: int) -> list[int]:
    """The coefficients of 1, y, …, y^{d−1} in (f / (1 − y))^d, for the coefficients of f, the
    constant one first.
    """
    coefficients = [1] + [0] * (d - 1)
    for _ in range(d):
        multiplied = []
        for k in range(d):
            last = min(k, len(f) - 1)
            multiplied.append(sum(f[i] * coefficients[k - i] for i in range(last + 1)))
        # coefficient k of g/(1 − y) is the sum of the coefficients 0, …, k of g
        coefficients = list(accumulate(multiplied))
    return coefficients


def _degrees_from_factors(of_A: Sequence[int], size: int) -> list[int]:
    """δ_n, …, δ_0 from the integrals of the first factor of Y, where the second one is P^(size−1).

    c_j(T_Y) is the sum of the products of c_{j_1} and c_{j_2} with j_1 + j_2 = j, H^{n−j} has
    h_1^{n_1−j_1} h_2^{n_2−j_2} with a binomial coefficient, and ∫ c_{j_2} h_2^{n_2−j_2} is C(size,
    j_2). δ_i is the coefficient of T^{i+1} in Σ_j (−1)^j (1 + T)^{n+1−j} ∫ c_j(T_Y) H^{n−j} (Piene;
    Holme).
    """
    n_1 = len(of_A) - 1
    n_2 = size - 1
    n = n_1 + n_2
    one_plus_T = flint.fmpz_poly([1, 1])
    total = flint.fmpz_poly([])
    # Horner's rule: in the end the summand of j = n has the factor 1 + T, and the one of j = 0 its
    # power n + 1
    for j in range(n + 1):
        integral = 0  # of c_j(T_Y) H^{n−j}
        for j_2 in range(min(j, n_2) + 1):
            j_1 = j - j_2
            if j_1 <= n_1:
                integral += of_A[j_1] * comb(size, j_2) * comb(n - j, n_2 - j_2)
        total = total * one_plus_T + (-1) ** j * integral
    total *= one_plus_T
    return [int(total[i + 1]) for i in range(n, -1, -1)]


# By localization.


@cache
def localized_integrals(d: int, alpha: int) -> list[int]:
    """∫ c_j(T) h^{n_1−j} over P(E), j = 0, …, n_1, where E = S ⊗ K^d has rank αd over Gr(α, d), of
    dimension D.

    c(T) is the class of the Grassmannian times Σ_k c_k(E) (1 + h)^{αd−k}, and integration over the
    lines in E takes h^{αd−1+m} to the Segre class s_m(E). What is left are the integrals of
    c_{D−k−m} c_k(E) s_m(E) over Gr(α, d).
    """
    rank = alpha * d
    dimension = alpha * (d - alpha)  # D
    integrals = [flint.fmpq(0)] * (rank + dimension)
    for (k, m), total in _integrals_on_grassmannian(d, alpha).items():
        # c_k(E) (1 + h)^{αd−k} has h^power with a binomial coefficient, and h^power h^{n_1−j} is
        # h^{αd−1+m} for j = D − m + power; as j ≤ n_1, the power is at most αd − 1 + m
        for power in range(min(rank - k, rank - 1 + m) + 1):
            integrals[dimension - m + power] += comb(rank - k, power) * total
    return _integers(integrals)


def _integrals_on_grassmannian(d: int, alpha: int) -> dict[tuple[int, int], Any]:
    """The integrals of c_{D−k−m} c_k(E) s_m(E) over Gr(α, d), keyed by (k, m): sums over coordinate
    subspaces W, the fixed points of a torus (Atiyah and Bott).

    c_k(E) and s_m(E) are symmetric functions of the weights of E and of their negatives. The
    tangent space has as weights the differences of a weight outside W and one inside.
    """
    dimension = alpha * (d - alpha)  # D
    degrees = [(k, m) for k in range(dimension + 1) for m in range(dimension + 1 - k)]
    on_grassmannian = dict.fromkeys(degrees, flint.fmpq(0))
    squares = [j**2 for j in range(d)]  # the weights of the torus on K^d
    for weights_of_w in combinations(squares, alpha):
        other_weights = [weight for weight in squares if weight not in weights_of_w]
        differences = [b - a for a in weights_of_w for b in other_weights]
        weights_of_e = [a for a in weights_of_w for _ in range(d)]
        tangent = _elementary_symmetric(differences, dimension)
        chern = _elementary_symmetric(weights_of_e, dimension)
        segre = _complete_symmetric([-weight for weight in weights_of_e], dimension)
        denominator = prod(differences)
        for k, m in degrees:
            value = tangent[dimension - k - m] * chern[k] * segre[m]
            on_grassmannian[k, m] += flint.fmpq(value, denominator)
    return on_grassmannian


def _elementary_symmetric(weights: Sequence[int], last: int) -> list[int]:
    """The elementary symmetric functions of degrees 0, …, last: the coefficients of Π (1 + w u)."""
    values = [1] + [0] * last
    for weight in weights:
        # downwards, so that values[k - 1] still belongs to the former product
        for k in range(last, 0, -1):
            values[k] += weight * values[k - 1]
    return values


def _complete_symmetric(weights: Sequence[int], last: int) -> list[int]:
    """The complete symmetric functions of degrees 0, …, last: the coefficients of Π 1/(1 − w u)."""
    values = [1] + [0] * last
    for weight in weights:
        # upwards, so that values[k - 1] belongs to the new series g, as g = (former) + w u g
        for k in range(1, last + 1):
            values[k] += weight * values[k - 1]
    return values


@cache
def localized_symmetric(d: int) -> list[int]:
    """∫ c_j(N) h^{2d−2−j} over P(S²S), j = 0, …, 2d − 2: the coefficients of 1, u, u², … in Σ_p Π_ν
    (h + ν u) / Π_w w, over fixed points p.

    ν and w run through the weights of N and of the tangent space at p: a coordinate plane S, with
    weights a and b, and a line in S²S, of weight 2a, a + b or 2b. h has minus the weight of the
    line. The space of lines has the other two weights, the Grassmannian c − a and c − b for the
    weights c of Q, and N in place of these a + c and b + c; all but c − a and c − b are less the
    weight of the line.
    """
    weights = [j**2 for j in range(d)]
    total = flint.fmpq_poly([])
    for a, b in combinations(weights, 2):
        others = [c for c in weights if c not in (a, b)]
        on_grassmannian = prod((c - a) * (c - b) for c in others)
        lines = (2 * a, a + b, 2 * b)
        for line in lines:
            of_lines = [other - line for other in lines if other != line]
            of_s_and_q = [weight + c - line for weight, c in product((a, b), others)]
            factors = [flint.fmpz_poly([-line, weight]) for weight in (*of_lines, *of_s_and_q)]
            numerator = prod(factors, start=flint.fmpz_poly([1]))
            total += flint.fmpq_poly(numerator, on_grassmannian * prod(of_lines))
    return _integers([total[j] for j in range(2 * d - 1)])


def _integers(integrals: Sequence[Any]) -> list[int]:
    """These fractions of FLINT as integers; ContradictionError if one of them is none."""
    if any(integral.q != 1 for integral in integrals):
        raise ContradictionError("localization gives fractions")
    return [int(integral.p) for integral in integrals]
