"""All critical points as the solutions of a system of polynomials, which msolve finds.

The boundary is g = 0 with b ≠ 0 and without skip connection, so it is smooth: a nearest point X has
X − U = λ∇g(X). There are two systems over the rational numbers:

* *for one readout* (Theorem R5), for one head with A of rank a ≤ 2, the unknowns are x, ν, f, h, F,
  H, 1/D and m, in the notation of ``critical_points``, where x and ν are now columns of a numbers.
  They have all critical points with D ≠ 0;
* *in all entries* (Theorems R1 and R2), for any heads and readouts: X = EZFᵀ, where the columns of
  E are a basis of T, and the columns of F are a basis of the space S_U of the rows of ΠU and of R,
  with one more direction if that is not all of ℝᵗ. The unknowns are Z and λ. With G = EᵀE,
  H = FᵀF, A' = EᵀAE, B' = EᵀBF and EZ₀Fᵀ = ΠU,

      G(Z − Z₀)H = λ ∂g/∂Z,   g = Σ_h tr(B'ᵀ Z H Zᵀ A' Z) + b = 0.

*When nothing is lost.* A critical point with D = 0 has W₀ᵀβ̃ = 0 and β̃ = c₀β + Kᵀ(c₁, …, c_a),
where c₀ = 1 − p and c_i = |β|²x_i; so |β|²c₀ + (Kβ)·(c₁, …, c_a) = |β|². There is none if no such
c is in the kernel of the form of C on β and the columns of Kᵀ, or one is and D ≠ 0 there. Else the
second system serves: for every U it has a nearest point, and all critical points if it leaves out
no direction of ℝᵗ.

*What is trusted*: msolve, which finds the solutions and writes no certificate. Each of its boxes is
put into the equations, and the distance is compared with the bounds of Theorem R4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt, lcm
from typing import Any

import flint
import numpy

from m2bridge.algebra.intervals import interval_of_ends
from m2bridge.decision_boundary.balls import AnyNumber, BallMatrix, Floats, working_precision
from m2bridge.decision_boundary.boundary import BoundaryProblem, Units, exponent, rational, scaled
from m2bridge.decision_boundary.critical_points import (
    AllCriticalPoints,
    OneReadout,
    one_readout,
    product,
    rounded,
    times,
)
from m2bridge.engine import msolve
from m2bridge.errors import ContradictionError, MethodUnavailableError, TimeLimitError
from m2bridge.limits import clock

MAX_ENTRIES = 11
"""The largest number of entries of Z."""
MAX_SECONDS = 20.0
"""The time for msolve, where time has no limit."""
RESERVED_SECONDS = 1.0
"""The part of a limit on time that is left for what follows."""

RationalPolynomial = Any
"""A polynomial of FLINT over the rational numbers."""


@dataclass(frozen=True, slots=True)
class SystemOfPoints:
    """Equations for all critical points, and what a solution says."""

    names: tuple[str, ...]
    equations: tuple[RationalPolynomial, ...]
    has_all_points: bool  # else perhaps only some of each family of them
    theorem: str
    square: Callable[[Sequence[AnyNumber]], AnyNumber]  # of the distance
    step: Callable[[Sequence[flint.arb]], Floats]  # X − U

    def texts(self) -> list[str]:
        """The equations with integer coefficients."""
        texts = []
        for equation in self.equations:
            denominator = lcm(*(int(entry.q) for entry in equation.coeffs()))
            texts.append(str(equation * denominator).replace(" ", ""))
        return texts


def points_by_msolve(problem: BoundaryProblem, units: Units) -> AllCriticalPoints | None:
    """The critical points of an input that is not on the boundary, if a system has few unknowns;
    MethodUnavailableError, with the reason, if msolve does not find them.
    """
    system = critical_system(problem, units)
    if system is None:
        return None
    program = msolve.usable()
    if program is None:
        raise MethodUnavailableError(f"msolve would find them ({msolve.INSTALL})")
    texts = system.texts()
    remaining = clock().remaining
    seconds = MAX_SECONDS if remaining is None else remaining - RESERVED_SECONDS
    if seconds <= 0:
        raise MethodUnavailableError("no time is left for msolve")
    # up to six unknowns there are few solutions, as 39 for two tokens of two entries
    max_letters = 10_000 if len(system.names) <= 6 else 3000
    if remaining is None and sum(map(len, texts)) > max_letters:
        raise MethodUnavailableError("numbers are long: msolve tries if a limit on time is set")
    try:
        solutions = msolve.solutions(program, system.names, texts, seconds)
    except TimeLimitError as limit:
        raise MethodUnavailableError(str(limit)) from None
    if solutions is None:
        raise MethodUnavailableError("critical points are infinite in number")
    if not solutions.boxes:
        raise ContradictionError("msolve finds no critical point, but there is a nearest one")
    with working_precision(msolve.PRECISION):
        points = [[interval_of_ends(*side) for side in box] for box in solutions.boxes]
        for point in points:
            if not all(_value(equation, point).contains(0) for equation in system.equations):
                raise ContradictionError("a solution by msolve does not satisfy an equation")
        listed = [(system.square(point).sqrt(), point) for point in points]
        listed.sort(key=lambda one: one[0].mid())
        nearest = system.step(listed[0][1])
    if not numpy.isfinite(nearest).all():
        raise MethodUnavailableError("rows of K and Q are too small for the others")
    is_simple = solutions.number == solutions.distinct
    return AllCriticalPoints(
        number=solutions.number if is_simple and system.has_all_points else None,
        real=len(listed) if system.has_all_points else None,
        distances=tuple(distance for distance, _ in listed),
        nearest=nearest,
        because=(
            f"complete list of critical points ({system.theorem}), by msolve {program.version},"
            " which is trusted"
        ),
    )


def _value(equation: RationalPolynomial, point: Sequence[flint.arb]) -> flint.arb:
    """The value of a polynomial, in balls."""
    value = flint.arb(0)
    for exponents, coefficient in equation.to_dict().items():
        term = flint.arb(coefficient)
        for x, power in zip(point, exponents, strict=True):
            if power:
                term *= x ** int(power)
        value += term
    return value


def critical_system(problem: BoundaryProblem, units: Units) -> SystemOfPoints | None:
    """The system with all critical points that has few unknowns, if there is one."""
    if problem.skip or problem.bias == 0:
        return None
    boundary = one_readout(problem, units, most_rank=2)
    if boundary is not None:
        system = _System.of(boundary, scaled(problem.U, -units.size))
        if system.has_all_points():
            return system.equations()
    return in_all_entries(problem, units)


@dataclass(frozen=True, slots=True, eq=False)
class _System:
    """The system for one readout: the forms of its columns, over the rational numbers."""

    boundary: OneReadout
    U: Floats
    c: flint.fmpq
    columns: flint.fmpq_mat  # β and the columns of Kᵀ
    gram: flint.fmpq_mat  # of these columns
    form: flint.fmpq_mat  # of C on these columns
    on_u: flint.fmpq_mat  # their products with u

    @classmethod
    def of(cls, boundary: OneReadout, U: Floats) -> _System:
        beside = [boundary.beta.tolist(), boundary.K.tolist()]
        columns = flint.fmpq_mat([left + right for left, right in zip(*beside, strict=True)])
        c = product(boundary.gamma, boundary.gamma)[0, 0]
        u = times(boundary.integers, boundary.gamma * boundary.unit)
        on_u = product(columns, u)
        of_tokens = times(boundary.integers.transpose(), columns * boundary.unit)
        return cls(
            boundary=boundary,
            U=U,
            c=c,
            columns=columns,
            gram=product(columns, columns),
            form=product(of_tokens, of_tokens) - on_u * on_u.transpose() / c,
            on_u=on_u,
        )

    def has_all_points(self) -> bool:
        """Whether D ≠ 0 at all critical points, by the test above."""
        size = self.form.nrows()
        # the equations for c, with the right side
        of_c = [[*row, 0] for row in self.form.tolist()]
        bb = self.gram[0, 0]
        of_c.append([bb, *(self.gram[i, 0] for i in range(1, size)), bb])
        reduced, rank = flint.fmpq_mat(of_c).rref()
        pivots = [next(j for j in range(size + 1) if reduced[i, j] != 0) for i in range(rank)]
        if size in pivots:
            return True
        if rank < size:
            return False
        c = [reduced[i, size] for i in range(size)]
        x = flint.fmpq_mat([[entry / bb] for entry in c[1:]])
        of_K = flint.fmpq_mat([row[1:] for row in self.gram.tolist()[1:]])
        ww = (x.transpose() * of_K * x)[0, 0]
        return bool(c[0] ** 2 != bb * ww)

    def equations(self) -> SystemOfPoints:
        """The equations of Theorem R5 for b ≠ 0 and no skip connection."""
        boundary, c = self.boundary, self.c
        Q = boundary.Q
        rank = Q.ncols()
        numbers = range(rank)
        names = [f"{letter}{i}" for letter in "xn" for i in numbers]
        names += ["f", "h", "F", "H", "e", "m"]
        ring = flint.fmpq_mpoly_ctx.get(names, flint.Ordering.degrevlex)
        unknowns = ring.gens()
        columns_and_Q = product(self.columns, Q)
        QQ = product(Q, Q)
        Qu = product(Q, times(boundary.integers, boundary.gamma * boundary.unit))

        def forms(point: Sequence[AnyNumber]) -> _Forms:
            return _Forms(self, columns_and_Q, QQ, point)

        at = forms(unknowns)
        x, nu = unknowns[:rank], unknowns[rank : 2 * rank]
        f, h, F, H, e, m = unknowns[2 * rank :]
        equations = [
            Qu[i, 0]
            + sum((c * QQ[i, j] * nu[j] for j in numbers), columns_and_Q[0, i] * h)
            + f * at.w_on_Q[i]
            - m * x[i]
            for i in numbers
        ]
        # products of β, w and the columns of Kᵀ with y
        on_y = [
            self.on_u[k, 0]
            + sum((c * columns_and_Q[k, j] * nu[j] for j in numbers), self.gram[k, 0] * h)
            + f * at.on_w[k]
            for k in range(rank + 1)
        ]
        equations.append(on_y[0] - f)
        equations.append(sum((x[i] * on_y[1 + i] for i in numbers), -1 * h))
        for i in numbers:
            k = 1 + i
            of_W = e * at.on_C_beta(k) + H * self.gram[k, 0] + F * at.on_w[k]
            equations.append(f * on_y[k] / c + of_W - m * nu[i])
        equations.append(F - e * e * at.bCb)
        equations.append(H - e * e * at.wCb)
        equations.append(e * at.D - 1)
        g = sum((m * m * nu[i] * x[i] for i in numbers), boundary.bias + 0 * m)
        equations.append(g)
        return SystemOfPoints(
            names=tuple(names),
            equations=tuple(equations),
            has_all_points=True,
            theorem="Theorem R5",
            square=lambda point: forms(point).square(),
            step=self._step,
        )

    def _step(self, solution: Sequence[flint.arb]) -> Floats:
        """X − U = β(wᵀX) + w(βᵀX) + Qᵀνγᵀ, with Xᵀβ = fγ/c + W₀ᵀβ̃/D, and so for w."""
        boundary = self.boundary
        matrices = (boundary.K, boundary.Q, boundary.beta, boundary.gamma)
        K, Q, beta, gamma = map(rounded, matrices)
        rank = Q.shape[1]
        point = [float(x.mid()) for x in solution]
        x, nu = (numpy.array([point[k : k + rank]]).T for k in (0, rank))
        f, h, _, _, e, _ = point[2 * rank :]
        gamma_over_c = gamma / (gamma * gamma).sum()
        W = self.U - (self.U @ gamma) @ gamma_over_c.T
        w = K @ x
        q = 1 - float((beta * w).sum())
        on_beta = q * beta + (beta**2).sum() * w
        on_w = q * w + (w**2).sum() * beta
        X_beta = f * gamma_over_c + e * W.T @ on_beta
        X_w = h * gamma_over_c + e * W.T @ on_w
        step: Floats = beta @ X_w.T + w @ X_beta.T + Q @ nu @ gamma.T
        return step


class _Forms:
    """What is quadratic in w at a point, or for the unknowns: products with β̃ and w̃."""

    def __init__(
        self,
        system: _System,
        columns_and_Q: flint.fmpq_mat,
        QQ: flint.fmpq_mat,
        point: Sequence[AnyNumber],
    ) -> None:
        rank = QQ.nrows()
        numbers = range(rank)
        self.system, self.columns_and_Q, self.QQ = system, columns_and_Q, QQ
        self.x, self.nu = point[:rank], point[rank : 2 * rank]
        self.f, self.h, self.F, self.H, self.e, _ = point[2 * rank :]
        gram, form, x = system.gram, system.form, self.x
        zero = 0 * x[0]
        self.bb = gram[0, 0]
        # products of β and the columns of Kᵀ with w, and with Cw; of w with Q
        self.on_w = [sum((gram[k, 1 + j] * x[j] for j in numbers), zero) for k in range(rank + 1)]
        self.on_Cw = [sum((form[k, 1 + j] * x[j] for j in numbers), zero) for k in range(rank + 1)]
        self.w_on_Q = [
            sum((columns_and_Q[1 + j, i] * x[j] for j in numbers), zero) for i in numbers
        ]
        self.p = self.on_w[0]
        self.q = 1 - self.p
        self.ww = sum((x[i] * self.on_w[1 + i] for i in numbers), zero)
        self.D = self.q * self.q - self.bb * self.ww
        q, bb, ww = self.q, self.bb, self.ww
        b_b, b_w = form[0, 0], self.on_Cw[0]
        w_w = sum((x[i] * self.on_Cw[1 + i] for i in numbers), zero)
        self.bCb = q * q * b_b + 2 * bb * q * b_w + bb * bb * w_w
        self.wCb = q * q * b_w + q * ww * b_b + bb * q * w_w + bb * ww * b_w
        self.wCw = q * q * w_w + 2 * q * ww * b_w + ww * ww * b_b

    def on_C_beta(self, k: int) -> AnyNumber:
        """The product of a column with Cβ̃."""
        return self.q * self.system.form[k, 0] + self.bb * self.on_Cw[k]

    def square(self) -> AnyNumber:
        """‖X − U‖², by its parts along γ and orthogonal to γ."""
        numbers = range(self.QQ.nrows())
        c, nu, f, h = self.system.c, self.nu, self.f, self.h
        with_beta = sum(self.columns_and_Q[0, i] * nu[i] for i in numbers)
        with_w = sum(self.w_on_Q[i] * nu[i] for i in numbers)
        with_nu = sum(self.QQ[i, j] * nu[i] * nu[j] for i in numbers for j in numbers)
        along = self.bb * h * h + self.ww * f * f
        along += 2 * self.p * h * f
        along += c * c * with_nu
        along += 2 * c * (with_beta * h + with_w * f)
        rest = self.bb * self.wCw + self.ww * self.bCb
        rest += 2 * self.p * self.wCb
        return along / c + rest * self.e * self.e


def in_all_entries(problem: BoundaryProblem, units: Units) -> SystemOfPoints | None:
    """The system in the entries of Z, for b ≠ 0 and no skip connection."""
    n = isqrt(problem.scores_over)
    # the size is asked before exact matrices are multiplied
    if n * n != problem.scores_over or problem.U.size > 10_000:
        return None
    two = flint.fmpq(2)
    readout = rational(problem.W) * rational(problem.C).transpose()
    readout *= two ** (3 * units.size - units.value) / (problem.readout_over * n)
    A, B = [], []
    for head in problem.heads:
        # numbers are as short as in any other units
        shift = exponent(head.K) + exponent(head.Q)
        A.append(rational(head.K).transpose() * rational(head.Q) * two**-shift)
        values = rational(head.V).transpose() * (rational(head.O).transpose() * readout)
        B.append(values * two**shift)
    E = _basis([*A, *(matrix.transpose() for matrix in A), *B])
    if E.ncols() > MAX_ENTRIES:
        return None
    # the columns of Z₀, with all tokens
    tokens = product(E, E).inv() * product(E, rational(problem.U) * two**-units.size)
    F = _basis([tokens.transpose(), *(matrix.transpose() for matrix in B)])
    t, s = F.nrows(), F.ncols()
    if s < t:
        # one direction more: orthogonal to the columns of F
        kernel, _ = F.transpose().numer_denom()[0].nullspace()
        F = _beside([F, flint.fmpq_mat([row[:1] for row in kernel.tolist()])])
    if E.ncols() * F.ncols() > MAX_ENTRIES:
        return None
    return _Entries(
        E=E,
        F=F,
        Z=tokens * F * product(F, F).inv(),
        A=[product(E, matrix) * E for matrix in A],
        B=[product(E, matrix) * F for matrix in B],
        bias=flint.fmpq(*problem.bias.as_integer_ratio()) * two**-units.value,
    ).equations()


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """The system in all entries: bases, and Z₀, A' and B', over the rational numbers."""

    E: flint.fmpq_mat
    F: flint.fmpq_mat
    Z: flint.fmpq_mat
    A: list[flint.fmpq_mat]
    B: list[flint.fmpq_mat]
    bias: flint.fmpq

    def equations(self) -> SystemOfPoints:
        """g = 0, and G(Z − Z₀)H = λ ∂g/∂Z."""
        n, s = self.Z.nrows(), self.Z.ncols()
        names = [f"z{i}_{j}" for i in range(n) for j in range(s)] + ["l"]
        ring = flint.fmpq_mpoly_ctx.get(names, flint.Ordering.degrevlex)
        *entries, multiplier = ring.gens()
        Z = _rows(entries, s)
        G, H = (product(matrix, matrix).tolist() for matrix in (self.E, self.F))
        ZHZ = _times_rows(_times_rows(Z, H), _transposed(Z))
        g = self.bias + 0 * multiplier
        for A, B in zip(self.A, self.B, strict=True):
            # tr(B'ᵀ Z H Zᵀ A' Z), as the product of B' and Z H Zᵀ A' Z
            right = _times_rows(_times_rows(ZHZ, A.tolist()), Z)
            for row, other in zip(B.tolist(), right, strict=True):
                g = g + sum((x * y for x, y in zip(other, row, strict=True)), 0 * multiplier)
        left = _times_rows(_times_rows(G, self._differences(entries)), H)
        equations = [
            side - multiplier * g.derivative(name)
            for side, name in zip(_flat(left), names[:-1], strict=True)
        ]
        return SystemOfPoints(
            names=tuple(names),
            equations=(*equations, g),
            has_all_points=s == self.F.nrows(),
            theorem="Theorems R1 and R2",
            square=self._square,
            step=self._step,
        )

    def _differences(self, entries: Sequence[AnyNumber]) -> list[list[AnyNumber]]:
        """Z − Z₀."""
        pairs = zip(entries, self.Z.entries(), strict=True)
        return _rows([x - number for x, number in pairs], self.Z.ncols())

    def _square(self, point: Sequence[AnyNumber]) -> AnyNumber:
        """tr(G(Z − Z₀)H(Z − Z₀)ᵀ)."""
        differences = self._differences(point[:-1])
        G, H = (product(matrix, matrix).tolist() for matrix in (self.E, self.F))
        left = _times_rows(_times_rows(G, differences), H)
        pairs = zip(_flat(left), _flat(differences), strict=True)
        return sum(x * y for x, y in pairs)

    def _step(self, solution: Sequence[flint.arb]) -> Floats:
        """E(Z − Z₀)Fᵀ: entries of Z are large where columns of E are small."""
        E, F = (flint.arb_mat(matrix) for matrix in (self.E, self.F))
        step = E * flint.arb_mat(self._differences(solution[:-1])) * F.transpose()
        return BallMatrix(step).middles()


def _basis(matrices: Sequence[flint.fmpq_mat]) -> flint.fmpq_mat:
    """A basis of the space of all columns: the unit vectors, or columns with a pivot."""
    columns = _beside(matrices)
    reduced, rank = columns.rref()
    if rank == columns.nrows():
        return flint.fmpq_mat([[int(i == j) for j in range(rank)] for i in range(rank)])
    rows = reduced.tolist()[:rank]
    pivots = [next(j for j, entry in enumerate(row) if entry != 0) for row in rows]
    return flint.fmpq_mat([[row[j] for j in pivots] for row in columns.tolist()])


def _beside(matrices: Sequence[flint.fmpq_mat]) -> flint.fmpq_mat:
    """Matrices one beside the other."""
    rows = zip(*(matrix.tolist() for matrix in matrices), strict=True)
    return flint.fmpq_mat([[entry for part in row for entry in part] for row in rows])


def _rows(entries: Sequence[AnyNumber], width: int) -> list[list[AnyNumber]]:
    """Entries, row by row."""
    return [list(entries[k : k + width]) for k in range(0, len(entries), width)]


def _flat(rows: Sequence[Sequence[AnyNumber]]) -> list[AnyNumber]:
    """The entries of all rows."""
    return [entry for row in rows for entry in row]


def _transposed(rows: Sequence[Sequence[AnyNumber]]) -> list[list[AnyNumber]]:
    """The columns."""
    return [list(column) for column in zip(*rows, strict=True)]


def _times_rows(left: Sequence[Any], right: Sequence[Any]) -> list[list[AnyNumber]]:
    """The product of two matrices of numbers or polynomials, by their rows."""
    columns = _transposed(right)
    return [
        [sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in left
    ]
