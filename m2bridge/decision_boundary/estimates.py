"""Bounds for g on a ball, and proofs that a point of the boundary is the nearest (Theorem R4).

At a base point X, g(X + E) = g(X) + ⟨∇g(X), E⟩ + c₂(E) + c₃(E) with the cubic part
c₃(E) = Σ_h tr(β_hᵀEEᵀA_hEΓ). As ⟨Eᵀβ, EᵀAEΓ⟩ ≤ ‖E‖·‖Eᵀβ‖·‖AEΓ‖, for ‖E‖ ≤ ρ and any θ_h > 0

    c₂(E) + c₃(E) ≤ q(E) = c₂(E) + (ρ/2) Σ_h (θ_h ‖Eᵀβ_h‖² + ‖A_h E Γ‖² / θ_h),

a quadratic form. For λ such that λ − q is positive definite, the function
λρ² + g(X) + ⟨∇g(X), E⟩ + (q − λ)(E) has a largest value, and g(X + E) is at most that number for
all E with ‖E‖ ≤ ρ.

*How λ − q is decided.* E = ηΓᵀ + F with FΓ = 0. Nothing depends on the part of E outside of T ⊗ ℝᵗ
(Theorem R1), so columns of η and F are combinations of a basis p_1, …, p_n of T, with the Gram
matrix G. A *form* here is the matrix of its values on the basis: b = (⟨p_i, β⟩), Â = (⟨p_i, Ap_j⟩),
and so on; no orthonormal basis is needed. Each column of F has the form

    N = λG − Σ_h [sym(v̂ bᵀ) + (ρθ_h/2) b bᵀ],

F and η are coupled by ⟨F, L(η)⟩, L(η) = Σ_h (β ηᵀAᵀ + Aη βᵀ)W with W = X − XΓΓᵀ. When F is
eliminated the form Z of η remains: λG minus what q has on η, minus ¼ of the form η ↦ tr(LᵀN⁻¹L).
Matrices with n rows, and one with n·r rows, decide whatever d and t are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from m2bridge.decision_boundary.balls import (
    AnyMatrix,
    AnyNumber,
    block_matrix,
    columns,
    inner,
    inverse_form,
    stacked,
    symmetric_part,
)
from m2bridge.decision_boundary.boundary import Boundary, Head

Inverse = Callable[[AnyMatrix], AnyMatrix]
"""M ↦ N⁻¹M, for a matrix N that is positive definite."""


@dataclass(frozen=True, slots=True)
class _HeadForms:
    """What Theorem R4 needs of one head at a base point, as forms on the basis of T."""

    b: AnyMatrix  # n×r, β
    A: AnyMatrix  # n×n
    v: AnyMatrix  # n×r, A y
    z: AnyMatrix  # n×r, Aᵀy
    b_y: AnyMatrix  # r×r, βᵀy
    s: AnyMatrix  # t×r, Wᵀβ
    AW: AnyMatrix  # n×t, AᵀW
    W_v: AnyMatrix  # t×r, Wᵀv
    y_v: AnyMatrix  # r×r, vᵀy
    AA: AnyMatrix  # n×n, AᵀA
    towards_gamma: AnyMatrix  # n×r, AᵀXXᵀβ

    @classmethod
    def at(cls, head: Head, boundary: Boundary, X: AnyMatrix, basis: AnyMatrix) -> _HeadForms:
        y = X @ boundary.gamma
        W = X - y @ boundary.gamma.T
        K, Q = basis @ head.K.T, basis @ head.Q.T
        queries = head.Q @ y
        v = head.K.T @ queries
        KX = head.K @ X
        return cls(
            b=basis @ head.beta,
            A=K @ Q.T,
            v=K @ queries,
            z=Q @ (head.K @ y),
            b_y=head.beta.T @ y,
            s=W.T @ head.beta,
            AW=Q @ (head.K @ W),
            W_v=W.T @ v,
            y_v=v.T @ y,
            AA=Q @ (head.K @ head.K.T) @ Q.T,
            towards_gamma=Q @ (KX @ (X.T @ head.beta)),
        )


@dataclass(frozen=True, slots=True)
class Multipliers:
    """The numbers of an estimate: any positive ones give a true bound."""

    multiplier: float  # λ
    weights: tuple[float, ...]  # θ_h


@dataclass(frozen=True, slots=True)
class Away:
    """The condition ⟨E, E*⟩ ≤ σ = (D² + ‖E*‖² − ρ²)/2 of points E with ‖E‖ ≤ D and ‖E − E*‖ ≥ ρ."""

    step: AnyMatrix  # E*
    slack: AnyNumber  # σ
    square_outside: AnyNumber  # the square of the norm of the part of E* outside of T
    weight: float  # κ


class Expansion:
    """g around a base point X, as forms on a basis of T."""

    def __init__(self, boundary: Boundary, X: AnyMatrix, basis: AnyMatrix) -> None:
        self.boundary = boundary
        self.basis = basis
        self.gram = basis @ basis.T
        self.value = boundary.value(X)
        self.heads = [_HeadForms.at(head, boundary, X, basis) for head in boundary.heads]
        # products with t columns, which no multiplier changes, by pairs of heads
        pairs = [(head, other) for head in self.heads for other in self.heads]
        self.products = [
            (other.AW @ head.AW.T, head.AW @ other.s, head.s.T @ other.s) for head, other in pairs
        ]

    def is_positive(self, radius: AnyNumber, multipliers: Multipliers) -> bool:
        """Whether λ − q is proved to be positive definite for a ball of this radius."""
        return self._inverses(radius, multipliers) is not None

    def largest_value(
        self, radius: AnyNumber, multipliers: Multipliers, away: Away | None = None
    ) -> AnyNumber | None:
        """A number that g is at most on the ball of this radius around X, or None if λ − q is not
        proved to be positive definite; with ``away``, on the points of the ball that are not near a
        point, where κ(σ − ⟨E, E*⟩) ≥ 0 is added.
        """
        inverses = self._inverses(radius, multipliers)
        if inverses is None:
            return None
        inverse_of_N, inverse_of_Z = inverses
        multiplier, gamma = multipliers.multiplier, self.boundary.gamma
        value = self.value + multiplier * radius * radius
        # the linear form ⟨∇g, E⟩ on the columns of F, and of η
        on_F = 0.0 * (self.basis @ self.boundary.U)
        on_eta = 0.0 * (on_F @ gamma)
        for head in self.heads:
            on_F = on_F + head.b @ head.W_v.T + head.v @ head.s.T
            on_eta = on_eta + head.b @ head.y_v + head.v @ head.b_y + head.towards_gamma
        if self.boundary.omega is not None:
            on_eta = on_eta + self.basis @ self.boundary.omega
        if away is not None:
            step = self.basis @ away.step
            step_on_eta = step @ gamma
            on_F = on_F - away.weight * (step - step_on_eta @ gamma.T)
            on_eta = on_eta - away.weight * step_on_eta
            value = value + away.weight * away.slack
            # by the ball first, as products of floats are rounded
            outside = away.square_outside * away.weight * away.weight / (4 * multiplier)
            value = value + outside
        inverse_on_F = inverse_of_N(on_F)
        for head in self.heads:
            on_eta = on_eta + 0.5 * (head.AW @ (inverse_on_F.T @ head.b))
            on_eta = on_eta + 0.5 * (head.A.T @ (inverse_on_F @ head.s))
        column = stacked(columns(on_eta))
        return value + 0.25 * inner(on_F, inverse_on_F) + 0.25 * inner(column, inverse_of_Z(column))

    def _inverses(
        self, radius: AnyNumber, multipliers: Multipliers
    ) -> tuple[Inverse, Inverse] | None:
        """M ↦ N⁻¹M and M ↦ Z⁻¹M, if both matrices are proved to be positive definite."""
        weighted = list(zip(multipliers.weights, self.heads, strict=True))
        N = multipliers.multiplier * self.gram
        for theta, head in weighted:
            N = N - symmetric_part(head.v @ head.b.T) - (0.5 * theta * radius) * (head.b @ head.b.T)
        inverse_of_N = inverse_form(N)
        if inverse_of_N is None:
            return None
        diagonal = N
        for theta, head in weighted:
            diagonal = diagonal - (0.5 * radius / theta) * head.AA
        r = self.boundary.gamma.shape[1]
        coupling = self._coupling(inverse_of_N)

        def block(k: int, l: int) -> AnyMatrix:
            """The form of (η_k, η_l)."""
            form = -0.25 * coupling(k, l)
            if k == l:
                form = form + diagonal
            for head in self.heads:
                form = form - head.b[:, [l]] @ head.z[:, [k]].T - head.b_y[l, k] * head.A
            return form

        inverse_of_Z = inverse_form(symmetric_part(block_matrix(r, block)))
        return None if inverse_of_Z is None else (inverse_of_N, inverse_of_Z)

    def _coupling(self, inverse_of_N: Inverse) -> Callable[[int, int], AnyMatrix]:
        """The forms of (η_k, η_l) whose sum is tr(LᵀN⁻¹L)."""
        b_of = [inverse_of_N(head.b) for head in self.heads]
        A_of = [inverse_of_N(head.A) for head in self.heads]

        def block(k: int, l: int) -> AnyMatrix:
            form = 0.0 * self.gram
            numbers = product(range(len(self.heads)), repeat=2)
            for (i, j), (AW_AW, AW_s, s_s) in zip(numbers, self.products, strict=True):
                head, other = self.heads[i], self.heads[j]
                form = form + (head.b.T @ b_of[j])[l, k] * AW_AW
                form = form + 2 * (AW_s[:, [l]] @ (b_of[i][:, [k]].T @ other.A))
                form = form + s_s[k, l] * (head.A.T @ A_of[j])
            return form

        return block
