"""All critical points for one head of rank one: the roots of one polynomial (Theorem R3).

For A = KᵀQ with rows K and Q, R of rank one, b ≠ 0 and no skip connection, g(X) = ⟨βγᵀ, XXᵀAX⟩ + b.
Then ∇g ≠ 0 on the boundary, and X is critical if X − U = λ∇g(X) and g(X) = 0. Let c = γ·γ, u = Uγ,
W₀ = U − uγᵀ/c, C = W₀W₀ᵀ, m = 1/λ; for a number x let w = xKᵀ, p = β·w, D = (1 − p)² − |β|²|w|²,

    β̃ = (1 − p)β + |β|²w,  w̃ = (1 − p)w + |w|²β,  N⁻¹ = 1 + (βw̃ᵀ + wβ̃ᵀ)/D,  P = D·QN⁻¹Qᵀ.

The critical points with D ≠ 0 are X = N⁻¹(U + νQᵀγᵀ) for the solutions (x, ν, m) of three equations

    Qy = mx,    K(fy/c + Cβ̃/D + Hβ + Fw) = mν,    m²νx + b = 0,    y = Xγ, f = β·y.

If P ≠ 0, the first gives ν, and the others are a cubic and a quadratic in m. As the first
coefficient of the cubic, x²D, is not zero, they have a common root exactly where their resultant is
zero. Without its factors in common with x, D and P it is a polynomial S, of degree 20 in general.

*What is tested, over the rational numbers.* D has real roots only, so that no critical point has
D = 0 if β̃ᵀCβ̃ = |W₀ᵀβ̃|² and D have no common root; so it is if W₀ᵀ is injective on the space of β
and K. For one token W₀ = 0, but then D = 0 leaves more equations than unknowns, and one of them
must fail. If P = 0, then m and ν follow from the first and the third equation, and the second must
fail. If these tests succeed, and no root of S belongs to two values of m, the list is complete, and
its real points are the real roots of S. Else there is no list, and None is returned.

Weights and inputs are exact. The roots are isolated by FLINT, and distances are balls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt

import flint
import numpy

from m2bridge.decision_boundary.balls import AnyNumber, Floats
from m2bridge.decision_boundary.boundary import BoundaryProblem, Units, exponent, rational, scaled
from m2bridge.limits import check_deadline_in


@dataclass(frozen=True, slots=True, eq=False)
class AllCriticalPoints:
    """The list for an input, in the units of a problem."""

    number: int | None  # of complex critical points; None if some coincide
    real: int | None  # the number of real ones; None if some may not be in the list
    distances: tuple[flint.arb, ...]  # of the real ones in the list, in ascending order
    nearest: Floats  # X − U for the first of them
    because: str


@dataclass(frozen=True, slots=True, eq=False)
class OneReadout:
    """The data of g for one head, over the rational numbers, and the input, a multiple of integers;
    K and Q are transposed, with as many columns as the rank of A: one in this chapter.
    """

    K: flint.fmpq_mat
    Q: flint.fmpq_mat
    beta: flint.fmpq_mat
    gamma: flint.fmpq_mat
    omega: flint.fmpq_mat  # the skip connection adds ωγᵀ, or nothing
    integers: flint.fmpz_mat
    unit: flint.fmpq
    bias: flint.fmpq

    def constants(self) -> list[flint.fmpq]:
        """What the equations need of g: c, b, and products of β, K and Q."""
        K, Q = self.K, self.Q
        beta = self.beta
        squares = [scalar(column, column) for column in (beta, K, Q)]
        c = scalar(self.gamma, self.gamma)
        return [c, self.bias, *squares, scalar(beta, K), scalar(beta, Q), scalar(K, Q)]

    def u(self) -> flint.fmpq_mat:
        """The column Uγ."""
        return times(self.integers, self.gamma * self.unit)

    def linear_forms(self) -> list[flint.fmpq]:
        """What they need of the input: β·u, K·u, Q·u, and the entries of Uᵀβ and UᵀKᵀ."""
        u = self.u()
        of_u = [scalar(column, u) for column in (self.beta, self.K, self.Q)]
        transposed = self.integers.transpose()
        on_beta, on_K = (times(transposed, column * self.unit) for column in (self.beta, self.K))
        return [*of_u, *on_beta.entries(), *on_K.entries()]

    def has_similar_sizes(self) -> bool:
        """Whether the numbers of the equations are of sizes for which roots are isolated."""
        numbers = [*self.constants(), scalar(self.omega, self.omega), *self.linear_forms()]
        sizes = [int(x.p).bit_length() - int(x.q).bit_length() for x in numbers if x != 0]
        # else roots nearly coincide, and FLINT, which cannot be interrupted, takes minutes
        return max(sizes) - min(sizes) <= 128


@dataclass(frozen=True, slots=True)
class ScalarProducts:
    """The scalar products that the equations need, of β, K, Q and u, also with C."""

    c: AnyNumber
    bias: AnyNumber
    bb: AnyNumber
    kk: AnyNumber
    qq: AnyNumber
    bk: AnyNumber
    bq: AnyNumber
    kq: AnyNumber
    bu: AnyNumber
    ku: AnyNumber
    qu: AnyNumber
    bCb: AnyNumber
    bCk: AnyNumber
    kCk: AnyNumber

    @classmethod
    def of(cls, constants: Sequence[AnyNumber], forms: Sequence[AnyNumber]) -> ScalarProducts:
        """By the constants of g and the linear forms of an input."""
        c = constants[0]
        bu, ku, qu = forms[:3]
        t = (len(forms) - 3) // 2
        beta, K = forms[3 : 3 + t], forms[3 + t :]
        inner = [
            sum((x * y for x, y in zip(left, right, strict=True)), 0 * bu)
            for left, right in ((beta, beta), (beta, K), (K, K))
        ]
        of_C = (inner[0] - bu * bu / c, inner[1] - bu * ku / c, inner[2] - ku * ku / c)
        return cls(*(*constants, bu, ku, qu, *of_C))


def product(left: flint.fmpq_mat, right: flint.fmpq_mat) -> flint.fmpq_mat:
    """The scalar products of the columns of two matrices."""
    return left.transpose() * right


def scalar(left: flint.fmpq_mat, right: flint.fmpq_mat) -> flint.fmpq:
    """The scalar product of two columns."""
    return product(left, right)[0, 0]


def times(integers: flint.fmpz_mat, column: flint.fmpq_mat) -> flint.fmpq_mat:
    """A large matrix of integers times a column."""
    numerators, denominator = column.numer_denom()
    return flint.fmpq_mat(integers * numerators) / denominator


class CriticalEquations:
    """The equations at x: a number in a ball, or the variable."""

    def __init__(self, s: ScalarProducts, x: AnyNumber) -> None:
        p = s.bk * x
        q = 1 - p
        ww = s.kk * x * x
        self.products = s
        self.x, self.p = x, p
        self.q, self.ww = q, ww
        self.D = q * q - s.bb * ww
        # products of β̃ and of w̃ with β, w and C
        bx = s.bb * x
        kx = s.kk * x
        with_w = x * s.bCk
        self.bCb = q * q * s.bCb + 2 * bx * q * s.bCk
        self.bCb += bx * bx * s.kCk
        self.wCb = q * q * with_w + q * ww * s.bCb
        self.wCb += bx * q * x * s.kCk + s.bb * ww * with_w
        self.wCw = q * q * x * x * s.kCk
        self.wCw += 2 * q * ww * with_w + ww * ww * s.bCb
        self.bu = q * s.bu + bx * s.ku
        self.bq = q * s.bq + bx * s.kq
        wu = q * x * s.ku + ww * s.bu
        wq = q * x * s.kq + ww * s.bq
        # D times the values of the form N⁻¹ on Q, K and u
        self.P = self.D * s.qq + s.bq * wq
        self.P += s.kq * x * self.bq
        self.qu = self.D * s.qu + s.bq * wu
        self.qu += s.kq * x * self.bu
        self.ku = self.D * s.ku + s.bk * wu
        self.ku += kx * self.bu
        self.kq = self.D * s.kq + s.bk * wq
        self.kq += kx * self.bq
        # D²K(Cβ̃/D + Hβ + Fw)
        of_C = q * s.bCk + bx * s.kCk
        of_H_and_F = s.bk * self.wCb + kx * self.bCb
        self.constant = s.c * (self.D * of_C + of_H_and_F)

    def cubic(self) -> tuple[AnyNumber, AnyNumber, AnyNumber]:
        """The coefficients of m³, m² and 1; there is none of m."""
        s, x = self.products, self.x
        return x * x * self.D, -1 * x * self.qu, s.c * s.bias * self.P

    def quadratic(self) -> tuple[AnyNumber, AnyNumber, AnyNumber]:
        """The coefficients of m², m and 1."""
        P, xD = self.P, self.x * self.D
        # DP Ky = A₀ + A₁m, and DP f = B₀ + B₁m
        A0, A1 = self.ku * P - self.kq * self.qu, self.kq * xD
        B0, B1 = self.bu * P - self.bq * self.qu, self.bq * xD
        PDD = P * self.D * self.D
        linear = A1 * B0 + A0 * B1 + self.qu * PDD
        return A1 * B1 - xD * PDD, linear, self.constant * P * P + A0 * B0

    def remainder(self) -> tuple[AnyNumber, AnyNumber]:
        """The coefficients of m and 1 in what the cubic leaves on division by the quadratic, times
        the square of the first coefficient of the quadratic.
        """
        (a, b, d), (first, linear, last) = self.cubic(), self.quadratic()
        rest = b * first - a * linear
        return -1 * (a * first * last + rest * linear), d * first * first - rest * last

    def resultant(self) -> AnyNumber:
        """The resultant of the cubic and the quadratic."""
        (a, b, d), (first, linear, last) = self.cubic(), self.quadratic()
        # with the sums of the squares and of the cubes of the roots of the quadratic
        square = linear * linear
        squares = square - 2 * first * last
        cubes = linear * (3 * first * last - square)
        without_d = a * (a * last - b * linear)
        without_d += b * b * first
        with_d = a * cubes + b * first * squares
        with_d += d * first * first * first
        return last * last * without_d + d * with_d

    def second_if_P_is_0(self) -> AnyNumber:
        """The second equation without denominators, for P = 0."""
        s = self.products
        qu, D = self.qu, self.D
        cb = s.c * s.bias
        square = qu * qu
        Ky = self.ku * square - self.kq * cb * self.x * D
        f = self.bu * square - self.bq * cb * self.x * D
        rest = self.constant * qu + cb * D * D * D
        return Ky * f + square * qu * rest

    def second_if_D_is_0(self) -> AnyNumber:
        """For one token: the second equation without denominators, for D = 0.

        Then ν, m² and, by the first equation, f follow from β̃ᵀ(u + cνQᵀ) = 0 and the third one;
        the second is Am = −B/(x(β̃·u)), which is squared.
        """
        s, x = self.products, self.x
        u, Q = self.bu, self.bq
        on_beta = s.bu * Q - s.bq * u
        on_Q = s.qu * Q - s.qq * u
        on_K = s.ku * Q - s.kq * u
        f = s.bq * on_beta - s.bb * on_Q
        Ky = s.bb * on_K - s.bk * on_beta
        of_f = self.q * s.bk + s.bb * s.kk * x
        sum_of_A = 2 * x * f * of_f + x * Q * Ky
        A = s.bb * Q * (sum_of_A + u * Q * Q)
        square = s.bb * x * Q
        B = s.c * s.bias * square * square * Q * of_f
        B += f * (f * of_f + Q * Ky) * u * x
        cb = s.c * s.bias
        return A * A * (cb * Q * u * x) - B * B

    def solution(self) -> Solution:
        """The critical point at a root x of S, in balls."""
        s, x = self.products, self.x
        linear, constant = self.remainder()
        m = -constant / linear
        nu = (m * x * self.D - self.qu) / (s.c * self.P)
        return self.point(m, nu, (s.bq * nu, s.kq * x * nu, s.qq * nu * nu))

    def point(self, m: flint.arb, nu: flint.arb, of_v: Sequence[flint.arb]) -> Solution:
        """The critical point with NX = U + vγᵀ, by β·v, w·v and v·v, in balls."""
        s, D = self.products, self.D
        on_beta, on_w, square = of_v
        f = (self.bu + s.c * (self.q * on_beta + s.bb * on_w)) / D
        # h = w·y, from f = β·(u + cv) + |β|²h + pf
        h = (self.q * f - s.bu - s.c * on_beta) / s.bb
        # the squares of the part of X − U along γ, and of the rest
        along = s.c * s.c * square
        along += s.bb * h * h + self.ww * f * f
        along += 2 * self.p * h * f
        along += 2 * s.c * (on_beta * h + on_w * f)
        rest = s.bb * self.wCw + self.ww * self.bCb
        rest += 2 * self.p * self.wCb
        square = along / s.c + rest / (D * D)
        return Solution(x=self.x, m=m, nu=nu, f=f, h=h, D=D, square=square)


@dataclass(frozen=True, slots=True)
class Solution:
    """A real critical point, in balls, and the square of its distance."""

    x: flint.arb
    m: flint.arb
    nu: flint.arb
    f: flint.arb
    h: flint.arb
    D: flint.arb
    square: flint.arb

    def step(self, boundary: OneReadout, U: Floats) -> Floats:
        """X − U = β(wᵀX) + w(βᵀX) + vγᵀ, v = νQᵀ + ω/m, in floats, with Xᵀβ = fγ/c + W₀ᵀβ̃/D and
        the same for w.
        """
        columns = (boundary.K, boundary.Q, boundary.beta, boundary.gamma, boundary.omega)
        K, Q, beta, gamma, omega = map(rounded, columns)
        numbers = (self.x, self.nu, self.f, self.h, self.D, 1 / self.m)
        x, nu, f, h, D, inverse_of_m = (float(number.mid()) for number in numbers)
        gamma_over_c = gamma / (gamma * gamma).sum()
        W = U - (U @ gamma) @ gamma_over_c.T
        w = x * K
        q = 1 - float((beta * w).sum())
        on_beta = q * beta + (beta**2).sum() * w
        on_w = q * w + (w**2).sum() * beta
        X_beta = f * gamma_over_c + W.T @ on_beta / D
        X_w = h * gamma_over_c + W.T @ on_w / D
        v = nu * Q + inverse_of_m * omega
        step: Floats = beta @ X_w.T + w @ X_beta.T + v @ gamma.T
        return step


def rounded(matrix: flint.fmpq_mat) -> Floats:
    """The entries, rounded."""
    entries = [float(flint.arb(entry).mid()) for entry in matrix.entries()]
    array: Floats = numpy.array(entries).reshape(matrix.nrows(), matrix.ncols())
    return array


def all_critical_points(problem: BoundaryProblem, units: Units) -> AllCriticalPoints | None:
    """The critical points of an input that is not on the boundary."""
    if problem.skip or problem.bias == 0:
        return None
    boundary = rank_one_boundary(problem, units)
    if boundary is None or not boundary.has_similar_sizes():
        return None
    products = ScalarProducts.of(boundary.constants(), boundary.linear_forms())
    S = polynomial_of_points(products, one_token=problem.U.shape[1] == 1)
    if S is None:
        return None
    return listed_points(
        S,
        lambda root: CriticalEquations(products, root).solution(),
        boundary=boundary,
        U=scaled(problem.U, -units.size),
        theorem="R3",
    )


def listed_points(
    S: flint.fmpq_poly,
    solution: Callable[[flint.arb], Solution],
    *,
    boundary: OneReadout,
    U: Floats,
    theorem: str,
) -> AllCriticalPoints | None:
    """The critical points at the roots of S, which a theorem proves to be all; ``None`` if none of
    them is real.
    """
    repeated = S.gcd(S.derivative())
    solutions = real_solutions(S // repeated, solution)
    if not solutions:
        return None
    return AllCriticalPoints(
        number=S.degree() if repeated.degree() == 0 else None,
        real=len(solutions),
        distances=tuple(solution.square.sqrt() for solution in solutions),
        nearest=solutions[0].step(boundary, U),
        because=f"complete list of critical points (Theorem {theorem})",
    )


def rank_one_boundary(problem: BoundaryProblem, units: Units) -> OneReadout | None:
    """The data of g in the units of a problem, for one head of rank one and one readout."""
    return one_readout(problem, units, 1)


def one_readout(problem: BoundaryProblem, units: Units, most_rank: int) -> OneReadout | None:
    """The data of g for one head of at most this rank and one readout."""
    n = isqrt(problem.scores_over)
    if len(problem.heads) > 1 or problem.row_space.shape[1] > 1 or n * n != problem.scores_over:
        return None
    head = problem.heads[0]
    of_K, of_Q = exponent(head.K), exponent(head.Q)
    factors = _factors(numpy.ldexp(head.K, -of_K), numpy.ldexp(head.Q, -of_Q), most_rank)
    if factors is None:
        return None
    two = flint.fmpq(2)
    gamma = rational(problem.row_space) * two ** -exponent(problem.row_space)
    # R = ωγᵀ, and β = (OV)ᵀω
    omega = rational(problem.W) * (rational(problem.C).transpose() * gamma)
    omega /= scalar(gamma, gamma) * problem.readout_over
    beta = rational(head.V).transpose() * (rational(head.O).transpose() * omega)
    beta *= two ** (of_K + of_Q + 3 * units.size - units.value) / n
    omega = omega * two ** (units.size - units.value) if problem.skip else 0 * beta
    if not any(beta.entries()):
        return None
    bias = flint.fmpq(*problem.bias.as_integer_ratio()) * two**-units.value
    K, Q = factors
    integers, shift = _integers(problem.U)
    return OneReadout(
        K=K,
        Q=Q,
        beta=beta,
        gamma=gamma,
        omega=omega,
        integers=integers,
        unit=two ** (shift - units.size),
        bias=bias,
    )


def _integers(array: Floats) -> tuple[flint.fmpz_mat, int]:
    """Integers and an exponent e, with the array equal to 2^e times the integers."""
    mantissas, exponents = numpy.frexp(array)
    # floats have exponents up to 1024
    least = int(exponents[mantissas != 0].min(initial=1024))
    shifts = numpy.maximum(exponents - least, 0).ravel().tolist()
    mantissas = numpy.ldexp(mantissas, 53).astype(numpy.int64).ravel().tolist()
    entries = [mantissa << shift for mantissa, shift in zip(mantissas, shifts, strict=True)]
    return flint.fmpz_mat(*array.shape, entries), least - 53


def _factors(K: Floats, Q: Floats, most_rank: int) -> tuple[flint.fmpq_mat, flint.fmpq_mat] | None:
    """Matrices k and q of at most so many columns with KᵀQ = kqᵀ, if there are such."""
    if len(K) <= most_rank:
        return rational(K.T), rational(Q.T)
    rows = _one_row_each(K, Q)
    if rows is not None:
        return rows[0].transpose(), rows[1].transpose()
    A = K.T @ Q
    # the exact test takes longer, and is for small matrices
    is_possible = most_rank > 1 and A.size <= 20_000
    if not is_possible or numpy.linalg.matrix_rank(A) > most_rank:
        return None
    A_exactly = rational(K).transpose() * rational(Q)
    reduced, rank = A_exactly.rref()
    if rank > most_rank:
        return None
    # A is the matrix of its columns with a pivot, times the nonzero rows of the reduced form
    nonzero_rows, columns = reduced.tolist()[:rank], A_exactly.transpose().tolist()
    pivots = [next(j for j, entry in enumerate(row) if entry != 0) for row in nonzero_rows]
    k = flint.fmpq_mat([columns[j] for j in pivots]).transpose()
    return k, flint.fmpq_mat(nonzero_rows).transpose()


def _one_row_each(K: Floats, Q: Floats) -> tuple[flint.fmpq_mat, flint.fmpq_mat] | None:
    """Rows k and q with KᵀQ = kᵀq, if K or Q has rank one."""
    for matrix, other in ((Q, K), (K, Q)):
        i, j = numpy.unravel_index(numpy.abs(matrix).argmax(), matrix.shape)
        column, row = matrix[:, [j]], matrix[[i]]
        if not numpy.allclose(column * row / row[0, j], matrix):  # the exact test takes longer
            continue
        exact, exact_row = rational(column) / rational(row)[0, int(j)], rational(row)
        if exact * exact_row == rational(matrix):
            other_row = exact.transpose() * rational(other)
            return (other_row, exact_row) if matrix is Q else (exact_row, other_row)
    return None


def polynomial_of_points(products: ScalarProducts, *, one_token: bool) -> flint.fmpq_poly | None:
    """The polynomial S, if the list by its roots is complete."""
    equations = CriticalEquations(products, flint.fmpq_poly([0, 1]))
    not_0_with_D = equations.second_if_D_is_0() if one_token else equations.bCb
    x, D, P = equations.x, equations.D, equations.P
    if not_0_with_D.gcd(D).degree() > 0:
        return None
    with_P_0 = without(without(P, equations.qu), x * D)
    if equations.second_if_P_is_0().gcd(with_P_0).degree() > 0:
        return None
    resultant = equations.resultant()
    if resultant == 0:
        return None
    S = without(resultant, x * D * P)
    linear, _ = equations.remainder()
    return S if S.gcd(linear).degree() == 0 else None


def without(polynomial: flint.fmpq_poly, other: flint.fmpq_poly) -> flint.fmpq_poly:
    """A polynomial without the factors that it has in common with another one."""
    while (common := polynomial.gcd(other)).degree() > 0:
        polynomial = polynomial // common
    return polynomial


def real_solutions(S: flint.fmpq_poly, solution: Callable[[flint.arb], Solution]) -> list[Solution]:
    """The critical points at the real roots of S, which has no multiple ones, by distance; with a
    precision that is doubled until distances are accurate.
    """
    bits = 256
    for _ in check_deadline_in(range(8)):
        with flint.ctx.workprec(bits):
            # FLINT makes the imaginary part of a real root exactly zero
            roots = [root.real for root, _ in S.numer().complex_roots() if root.imag.is_zero()]
            solutions = [solution(root) for root in roots]
            if all(one.square.rel_accuracy_bits() >= 100 for one in solutions):
                return sorted(solutions, key=lambda one: one.square.mid())
        bits *= 2
    return []
