"""All critical points with a skip connection, for one head of rank one (Theorem R7).

Then g(X) = ⟨βγᵀ, XXᵀAX⟩ + ⟨ωγᵀ, X⟩ + b, where A = κᵀα has the rows K = κ and Q = α.

*Critical points.* In the notation of ``critical_points``, N(X) = U + (να + ω/m)γᵀ there. Let
n = mν, and [p, q] = D·pᵀN⁻¹q, which is a polynomial in x. The equations are, times powers of m,

    cP·n = x D m² − [α, u] m − c[α, ω] = ℓ(m),
    n(x D m² + c[α, ω]) + ([ω, u] + Db) m + c[ω, ω] = 0,
    (mDf)(mD·κy) + m²c D²κ(Cβ̃/D + Hβ + Fw) = c D² m² n,

where mDf = [β, u]m + [β, ω]c + [β, α]cn, and so for κy. Where P ≠ 0 the first gives n, and the
second and third are two polynomials F and G of degree 4 in m. The determinant of their Bézout
matrix is zero exactly where they have a common root, or both a degree below 4; its kernel is then
(1, m, m², m³), so that m is the quotient of two minors. Without its factors in common with x, D and
P the determinant is a polynomial S, of degree 29 in general.

*What is tested, over the rational numbers.* No critical point has D = 0, as in Theorem R3; none has
P = 0 (with n by the second equation, the first and the third have no common root m); none has
x = 0 (F has degree one there, and G must not vanish at its root); and m is determined, and is not
zero, at each root of S.

*Singular points* are never nearest if β, κ and α are not all parallel, and ω is not parallel to α:
where g = 0 and ∇g = 0, the part of g of degree two takes both signs (Theorem R7). For one token
β, κ and α must be independent for this; and as W₀ = 0, it is tested in place of W₀ᵀβ̃ ≠ 0 that the
equations have no solution with D = 0.
"""

from __future__ import annotations

from collections.abc import Callable

import flint

from m2bridge.decision_boundary.balls import AnyNumber
from m2bridge.decision_boundary.boundary import BoundaryProblem, Units, scaled
from m2bridge.decision_boundary.critical_points import (
    AllCriticalPoints,
    CriticalEquations,
    OneReadout,
    ScalarProducts,
    Solution,
    listed_points,
    rank_one_boundary,
    scalar,
    without,
)

InM = list[AnyNumber]
"""A polynomial in m by its coefficients, from the constant one on."""
BezoutRows = list[list[AnyNumber]]
"""A matrix by its rows: the one of Bézout, and its minors."""

DEGREE = 4
"""The degree of F and G in m."""


def all_points_with_skip(problem: BoundaryProblem, units: Units) -> AllCriticalPoints | None:
    """The critical points of an input that is not on the boundary, for a layer with a skip
    connection, if none of its singular points can be nearest.
    """
    boundary = rank_one_boundary(problem, units) if problem.skip else None
    if boundary is None or not boundary.has_similar_sizes():
        return None
    if _rank(boundary.beta, boundary.K, boundary.Q) == 1:
        return None
    if _rank(boundary.Q, boundary.omega) == 1:
        return None
    one_token = problem.U.shape[1] == 1
    if one_token and _rank(boundary.beta, boundary.K, boundary.Q) < 3:
        return None
    equations = _Equations(boundary, flint.fmpq_poly([0, 1]), flint.fmpq)
    S = _polynomial_of_points(equations, one_token=one_token)
    if S is None:
        return None
    return listed_points(
        S,
        lambda root: _Equations(boundary, root, flint.arb).solution(),
        boundary=boundary,
        U=scaled(problem.U, -units.size),
        theorem="R7",
    )


def _rank(*columns: flint.fmpq_mat) -> int:
    """The rank of a matrix by its columns."""
    entries = [entry for column in columns for entry in column.entries()]
    return int(flint.fmpq_mat(len(columns), columns[0].nrows(), entries).rank())


class _Equations:
    """The equations at x: a number in a ball, or the variable."""

    def __init__(
        self, boundary: OneReadout, x: AnyNumber, number: Callable[[flint.fmpq], AnyNumber]
    ) -> None:
        constants, forms = boundary.constants(), boundary.linear_forms()
        s = ScalarProducts.of([number(one) for one in constants], [number(one) for one in forms])
        columns = (boundary.beta, boundary.K, boundary.Q, boundary.omega, boundary.u())
        self.bo, self.ko, self.qo, self.oo, self.uo = (
            number(scalar(boundary.omega, column)) for column in columns
        )
        self.x, self.products = x, s
        self.old = old = CriticalEquations(s, x)
        D = old.D
        # β̃·ω, w̃·ω, and [p, ω] = D·pᵀN⁻¹ω for p = β, κ, α, ω, u
        self.on_beta = old.q * self.bo + s.bb * x * self.ko
        on_w = old.q * x * self.ko + old.ww * self.bo
        self.on_K = D * self.ko + s.bk * on_w + s.kk * x * self.on_beta
        self.on_Q = D * self.qo + s.bq * on_w + s.kq * x * self.on_beta
        self.on_omega = D * self.oo + self.bo * on_w + self.ko * x * self.on_beta
        self.on_u = D * self.uo + s.bu * on_w + s.ku * x * self.on_beta

    def F_and_G(self) -> tuple[InM, InM]:
        """The second and the third equation, with n by the first; F is divided by D."""
        old, s, x = self.old, self.products, self.x
        P, D, c = old.P, old.D, self.products.c

        def minor(form: AnyNumber, left: AnyNumber, right: AnyNumber) -> AnyNumber:
            """(P[p, q] − [α, p][α, q])/D, a polynomial."""
            both = P * form - left * right
            return both // D if isinstance(both, flint.fmpq_poly) else both / D

        # P/D times mDf and mDκy
        f = [c * minor(self.on_beta, old.bq, self.on_Q), minor(old.bu, old.bq, old.qu), x * old.bq]
        Ky = [c * minor(self.on_K, old.kq, self.on_Q), minor(old.ku, old.kq, old.qu), x * old.kq]
        F = [
            c * c * minor(self.on_omega, self.on_Q, self.on_Q),
            c * (minor(self.on_u, self.on_Q, old.qu) + P * s.bias),
            0 * x,
            -1 * x * old.qu,
            x * x * D,
        ]
        G = [D * D * coefficient for coefficient in _times(f, Ky)]
        PDD = P * D * D
        G[2] += P * P * old.constant + PDD * c * self.on_Q
        G[3] += PDD * old.qu
        G[4] -= PDD * x * D
        return F, G

    def both_if_P_is_0(self) -> tuple[InM, InM]:
        """The first and the third equation, with n by the second, for P = 0."""
        old, s, x = self.old, self.products, self.x
        D, c = old.D, s.c
        first = [-1 * c * self.on_Q, -1 * old.qu, x * D, 0 * x, 0 * x]
        # n = −over/under, where x D m² is taken from the first
        under = [2 * c * self.on_Q, old.qu]
        over = [c * self.on_omega, self.on_u + D * s.bias]
        f, Ky = (
            [
                left - c * form * right
                for left, right in zip(_times(with_u, under), [*over, 0 * x], strict=True)
            ]
            for with_u, form in (
                ([c * self.on_beta, old.bu], old.bq),
                ([c * self.on_K, old.ku], old.kq),
            )
        )
        third = _times(f, Ky)
        for k, coefficient in enumerate(_times(under, under)):
            third[k + 2] += old.constant * coefficient
        for k, coefficient in enumerate(_times(over, under)):
            third[k + 2] += c * D * D * coefficient
        return first, third

    def both_if_D_is_0(self) -> tuple[InM, InM]:
        """For one token: the second and the third equation, for D = 0.

        With v = (nα + ω)/m, β̃·(u + cv) = 0 gives n, and the first equation f = β·y. Then h = w·y
        is known, and y = u + cv + βh + wf. All is multiplied by powers of m and of A = β̃·α.
        """
        old, s, x = self.old, self.products, self.x
        A, bb, c = old.bq, s.bb, s.c
        Acn = [-1 * c * self.on_beta, -1 * old.bu]
        # A m p·(u + cv) for p = α, β, K and ω
        on_Q, on_beta, on_K, on_omega = (
            [A * c * of_omega + of_Q * Acn[0], A * of_u + of_Q * Acn[1], 0 * x]
            for of_u, of_Q, of_omega in (
                (s.qu, s.qq, self.qo),
                (s.bu, s.bq, self.bo),
                (s.ku, s.kq, self.ko),
                (self.uo, self.qo, self.oo),
            )
        )
        # m A² f, and m A² |β|² h, K·y and ω·y
        f = [s.bq * left - bb * right for left, right in zip(on_beta, on_Q, strict=True)]
        f[2] += bb * A * x
        h = [old.q * left - A * right for left, right in zip(f, on_beta, strict=True)]
        Ky, omega_y = (
            [
                bb * A * alone + of_beta * with_h + bb * x * of_K * with_f
                for alone, with_h, with_f in zip(on_p, h, f, strict=True)
            ]
            for on_p, of_beta, of_K in ((on_K, s.bk, s.kk), (on_omega, self.bo, self.ko))
        )
        second = _times(f, Ky)
        third = [c * entry for entry in (*omega_y, 0 * x, 0 * x)]
        third[1] += A * A * bb * c * s.bias
        for k, entry in enumerate(Acn):
            second[2 + k] -= A * A * A * bb * entry
            third[2 + k] += A * bb * x * entry
        return second, third

    def solution(self) -> Solution:
        """The critical point at a root x of S, in balls."""
        old, s, x = self.old, self.products, self.x
        m = _quotient_of_minors(_bezout(*self.F_and_G()))
        m = m[0] / m[1]
        n = (m * m * x * old.D - m * old.qu - s.c * self.on_Q) / (s.c * old.P)
        # v = (nα + ω)/m
        of_v = (
            (n * s.bq + self.bo) / m,
            x * (n * s.kq + self.ko) / m,
            (n * n * s.qq + 2 * n * self.qo + self.oo) / (m * m),
        )
        return old.point(m, n / m, of_v)


def _polynomial_of_points(equations: _Equations, *, one_token: bool) -> flint.fmpq_poly | None:
    """The polynomial S, if the list of critical points by its roots is complete."""
    old = equations.old
    D, P, x = old.D, old.P, old.x
    with_D_0 = _determinant(_bezout(*equations.both_if_D_is_0())) if one_token else old.bCb
    if with_D_0.gcd(D).degree() > 0:
        return None
    with_P_0 = _determinant(_bezout(*equations.both_if_P_is_0()))
    if with_P_0.gcd(without(P, D)).degree() > 0:
        return None
    F, G = equations.F_and_G()
    if not _no_root(F, G):
        return None
    bezout = _bezout(F, G)
    resultant = _determinant(bezout)
    if resultant == 0:
        return None
    S = without(resultant, x * D * P)
    first, last = _quotient_of_minors(bezout)
    return S if S.gcd(first * last).degree() == 0 else None


def _no_root(F: InM, G: InM) -> bool:
    """Whether F and G, of which F has degree one at x = 0, have no common root m ≠ 0 there."""
    constant, slope, *_ = (coefficient[0] for coefficient in F)
    if slope == 0:
        return bool(constant != 0)
    m = -constant / slope
    value = sum((coefficient[0] * m**k for k, coefficient in enumerate(G)), flint.fmpq(0))
    return bool(m == 0 or value != 0)


def _times(left: InM, right: InM) -> InM:
    found = [0 * left[0] for _ in range(len(left) + len(right) - 1)]
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            found[i + j] += one * other
    return found


def _bezout(F: InM, G: InM) -> BezoutRows:
    """The matrix of the coefficients of (F(m)G(n) − F(n)G(m))/(m − n)."""
    matrix = [[0 * F[0] for _ in range(DEGREE)] for _ in range(DEGREE)]
    for i in range(DEGREE):
        for j in range(DEGREE):
            for k in range(min(i, DEGREE - 1 - j) + 1):
                matrix[i][j] += F[j + k + 1] * G[i - k] - F[i - k] * G[j + k + 1]
    return matrix


def _determinant(matrix: BezoutRows) -> AnyNumber:
    """By its first row."""
    first, *rest = matrix
    if not rest:
        return first[0]
    total = 0 * first[0]
    for k, entry in enumerate(first):
        minor = entry * _determinant([row[:k] + row[k + 1 :] for row in rest])
        total = total - minor if k % 2 else total + minor
    return total


def _quotient_of_minors(matrix: BezoutRows) -> tuple[AnyNumber, AnyNumber]:
    """Two entries of the adjugate of a symmetric matrix, whose quotient is m where the kernel is
    spanned by (1, m, m², m³).
    """
    below = matrix[1:]
    numerator = _determinant([[row[0], *row[2:]] for row in below])
    return -1 * numerator, _determinant([row[1:] for row in below])
