"""The polar degrees that the theorem states: integrals of Chern classes over the desingularization
of the source.

Let Y be the desingularization of the source: the [V] in P(K^{d'×d}), and the pairs of a subspace W
of dimension α and a point [A] of P(W ⊗ K^d). Polar degrees are sums of integrals of c_j(T_Y)
H^{n−j}, H = h_1 + h_2 (docs/polar-degrees.md). Nothing here looks at a function of attention:
whether closures have these polar degrees is what counted points decide.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import comb, factorial, prod

import flint

from m2bridge.algebra.determinantal import matrices_of_rank
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.shape import Shape, dimension_formula
from m2bridge.limits import watched
from m2bridge.maps.statement import Numbers

MOST_STEPS = 2 * 10**6
"""Fixed points times the square of the dimension, up to which integrals are computed by
localization, too.
"""

MOST_STATED = 10**7
"""The same with the fixed points of all of Y, up to which a verdict asks for the numbers."""

MOST_SIZES = 100
"""No verdict asks for them from this d on."""

MERSENNE = (127, 521, 1279, 2203, 4423, 9689, 19937, 44497)
"""Exponents e for which 2^e − 1 is prime."""


def is_stated(shape: Shape) -> bool:
    """Whether a verdict asks for the numbers of the formula. This depends on the case alone."""
    d, alpha, n = shape.d, shape.alpha, dimension_formula(shape) - 1
    return d < MOST_SIZES and comb(d, alpha) * alpha * d**2 * shape.d_out * n**2 <= MOST_STATED


def stated_polar_degrees(shape: Shape) -> Numbers | None:
    """The numbers δ_n, …, δ_0 of the formula, whether it applies or not; ``None`` for large cases.

    Examples
    --------
    >>> str(stated_polar_degrees(Shape(2, 2)))
    '(20, 60, 84, 68, 36, 12, 4)'
    """
    return (
        Numbers(polar_sums(shape, chern_integrals(shape.d, shape.alpha)))
        if is_stated(shape)
        else None
    )


def polar_sums(shape: Shape, of_A: Sequence[int]) -> tuple[int, ...]:
    """The polar degrees from the integrals of c_j(T) h_1^{n_1−j} over the space of the pairs (W,
    [A]).

    With b_j those over the projective space of V, the integrals of c_j(T_Y) H^{n−j} are Σ C(n − j,
    n_1 − j_1) a_{j_1} b_{j_2} over j_1 + j_2 = j. Then δ_i is the coefficient of T^{i+1} in Σ
    (−1)^j (1 + T)^{n+1−j} of them.
    """
    size = shape.d * shape.d_out
    of_V = [comb(size, j) for j in range(size)]
    n = len(of_A) + len(of_V) - 2
    divided = _over_factorials(of_A) * _over_factorials(of_V)
    signed = [(-1) ** j * int((divided[j] * factorial(n - j)).p) for j in range(n + 1)]
    shifted = flint.fmpz_poly([0, *reversed(signed)])(flint.fmpz_poly([1, 1]))
    return tuple(int(shifted[i + 1]) for i in range(n, -1, -1))


def _over_factorials(integrals: Sequence[int]) -> flint.fmpq_poly:
    last = len(integrals) - 1
    return flint.fmpq_poly(
        [flint.fmpq(value, factorial(last - j)) for j, value in enumerate(integrals)]
    )


def chern_integrals(d: int, alpha: int) -> list[int]:
    """The integrals of c_j(T) h^{n_1−j} over P(S ⊗ K^d), S the tautological bundle over Gr(α, d),
    for j = 0, …, n_1.

    For α = d it is a projective space. Else their generating function is the coefficient e_α of the
    characteristic polynomial of a matrix of size d, divided by u^{α(α−1)} and cut off after
    u^{n_1}; it is interpolated modulo a prime above twice its coefficients.

    Source: ours, proved in docs/polar-degrees.md: Segre classes push forward to the Grassmannian,
    where residues and Cauchy's determinant leave a sum over permutations.
    """
    if alpha == d:
        return [comb(d * d, j) for j in range(d * d)]
    prime, last = _prime(2 * _bound(d, alpha)), matrices_of_rank(d, alpha) - 1
    points = watched(range(1, last + 3))  # the quotient has at most the degree last + 1
    found = _interpolated(
        {u: _trace(d, alpha, u, prime) * pow(u, alpha - alpha**2, prime) for u in points}, prime
    )
    coefficients = (int(found[j]) for j in range(last + 1))
    return [c if 2 * c < prime else c - prime for c in coefficients]


def _factors(d: int) -> tuple[list[list[int]], list[int]]:
    """The binomial coefficients C(a + b, a), and those of 1/(1 − y)^d."""
    return [[comb(a + b, a) for b in range(d)] for a in range(d)], [
        comb(d - 1 + k, k) for k in range(d)
    ]


def _trace(d: int, alpha: int, u: int, prime: int) -> int:
    """e_α(C M) at u, modulo the prime: C_ab = (−u)^{a+b} (−1)^b C(a + b, a), M_bc = [y^{d−1−b−c}]
    φ(y).

    φ = ((1 + uy)(1 + u − uy)/(1 − y))^d; α goes from 0 to d.
    """
    binomials, geometric = _factors(d)
    ring = flint.fmpz_mod_ctx(prime)
    series = flint.fmpz_mod_poly_ctx(ring)
    phi = series([1 + u, u * u, -u * u]) ** d * series(geometric)
    powers = [(-u) ** k for k in range(2 * d)]
    left = [[powers[a + b] * binomials[a][b] * (-1) ** b for b in range(d)] for a in range(d)]
    right = [[int(phi[d - 1 - b - c]) if b + c < d else 0 for c in range(d)] for b in range(d)]
    matrix = flint.fmpz_mod_mat(left, ring) * flint.fmpz_mod_mat(right, ring)
    coefficient = int(matrix.charpoly()[d - alpha])
    return -coefficient if alpha % 2 else coefficient


def _bound(d: int, alpha: int) -> int:
    """A bound for the coefficients of e_α(C M) in u: sums of absolute values are
    submultiplicative.
    """
    phi = flint.fmpz_poly([2, 1, 1]) ** d * flint.fmpz_poly(_factors(d)[1])
    row = max(
        sum(comb(a + b, a) * int(phi[d - 1 - b - c]) for b in range(d) for c in range(d - b))
        for a in range(d)
    )
    return int(comb(d, alpha) * row**alpha)


def _prime(least: int) -> int:
    return int(next(2**e - 1 for e in MERSENNE if e > least.bit_length()))


def _interpolated(values: dict[int, int], prime: int) -> flint.fmpz_mod_poly:
    """The polynomial with these values at these numbers, modulo the prime (Lagrange)."""
    ring = flint.fmpz_mod_poly_ctx(flint.fmpz_mod_ctx(prime))
    whole = prod((ring([-u, 1]) for u in values), start=ring([1]))
    slope = whole.derivative()
    return sum(
        (whole // ring([-u, 1]) * (value / slope(u)) for u, value in values.items()), ring([0])
    )


def integrals_at_fixed_points(d: int, alpha: int) -> list[int] | None:
    """The integrals of :func:`chern_integrals` by localization at the fixed points of a torus;
    ``None`` if it is long.

    The torus acts on both factors K^d. A fixed point is a coordinate subspace W with two numbers
    (i, k), the line spanned by e_i ⊗ e_k with e_i in W. Source: Atiyah, Bott, *The moment map and
    equivariant cohomology*, 1984.
    """
    last = matrices_of_rank(d, alpha) - 1
    if comb(d, alpha) * alpha * d * last**2 > MOST_STEPS:
        return None
    totals = [flint.fmpq(0)] * (last + 1)
    for weight, tangents in watched(_fixed_points(d, alpha)):
        chern = prod(
            (flint.fmpz_poly([1, tangent]) for tangent in tangents), start=flint.fmpz_poly([1])
        )
        euler = prod(tangents)
        totals = [
            t + flint.fmpq(chern[j] * (-weight) ** (last - j), euler) for j, t in enumerate(totals)
        ]
    if any(total.q != 1 for total in totals):
        raise ContradictionError(
            f"localization over rank {alpha} of size {d} gives fractions: {totals}"
        )
    return [int(total.p) for total in totals]


def _fixed_points(d: int, alpha: int) -> Iterator[tuple[int, list[int]]]:
    """The weight of the line, and the tangent weights; e_i ⊗ e_k has the weight d i + k."""
    for chosen in combinations(range(1, d + 1), alpha):
        others = [b for b in range(1, d + 1) if b not in chosen]
        subspace = [d * (b - a) for a in chosen for b in others]
        weights = [d * i + k for i, k in product(chosen, range(d))]
        yield from ((line, subspace + [w - line for w in weights if w != line]) for line in weights)
