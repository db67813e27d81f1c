"""The function of a network and its gradient with respect to the weights, by the chain rule, in any number system.

A layer maps Y to Σ_h V_h Y σ(Yᵀ A_h Y), plus Y itself with a skip connection; h runs through its heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from m2bridge.families.deep_attention.number_systems import Matrix, NumberSystem


@dataclass(frozen=True, slots=True)
class Head:
    """The attention matrix A and the value matrix V of a head; or a covector on them."""

    A: Matrix
    V: Matrix


Layer = tuple[Head, ...]
Network = Sequence[Layer]


def output(network: Network, X: Matrix, numbers: NumberSystem, skip: bool = False) -> Matrix:
    """The tokens after the last layer."""
    for layer in network:
        heads = [head.V * X * numbers.normalized(_scores(head, X)) for head in layer]
        X = reduce(add, heads, X) if skip else reduce(add, heads)
    return X


def gradient(network: Network, X: Matrix, G: Matrix, numbers: NumberSystem, skip: bool = False) -> list[Layer]:
    """The gradient of ⟨G, output(X)⟩ with respect to all A and V.

    For C = Yσ(Z), Z = YᵀAY and a covector G on VC: dV = GCᵀ; Γ = VᵀG; dσ = YᵀΓ, from which dZ; dA = Y dZ Yᵀ; and
    Y gets Γσᵀ + AY dZᵀ + AᵀY dZ.
    """
    entering: list[tuple[Matrix, list[Matrix]]] = []
    for layer in network:
        sigmas = [numbers.normalized(_scores(head, X)) for head in layer]
        entering.append((X, sigmas))
        heads = [head.V * X * sigma for head, sigma in zip(layer, sigmas, strict=True)]
        X = reduce(add, heads, X) if skip else reduce(add, heads)
    found: list[Layer] = []
    for layer, (Y, sigmas) in zip(reversed(network), reversed(entering), strict=True):
        pulled = [_pullback(head, Y, sigma, G, numbers) for head, sigma in zip(layer, sigmas, strict=True)]
        found.append(tuple(head for head, _ in pulled))
        covectors = [covector for _, covector in pulled]
        G = reduce(add, covectors, G) if skip else reduce(add, covectors)
    return found[::-1]


def virtual_weights(network: Network) -> tuple[list[Matrix], Matrix]:
    """A'_k = M_kᵀ A_k M_k with M_k = V_{k−1}⋯V_1 for each layer, and M = V_l⋯V_1; for one head without skips."""
    matrices: list[Matrix] = []
    M: Any = None
    for (head,) in network:
        matrices.append(head.A if M is None else M.transpose() * head.A * M)
        M = head.V if M is None else head.V * M
    return matrices, M


def _scores(head: Head, Y: Matrix) -> Matrix:
    return Y.transpose() * head.A * Y


def _pullback(head: Head, Y: Matrix, sigma: Matrix, G: Matrix, numbers: NumberSystem) -> tuple[Head, Matrix]:
    """The covectors on (A, V) and on Y."""
    gamma = head.V.transpose() * G
    dZ = numbers.scores_pullback(sigma, Y.transpose() * gamma)
    dV = G * (Y * sigma).transpose()
    dA = Y * dZ * Y.transpose()
    dY = gamma * sigma.transpose() + head.A * Y * dZ.transpose() + head.A.transpose() * Y * dZ
    return Head(dA, dV), dY
