"""A network evaluated and differentiated, in any number system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from m2bridge.errors import InvalidCaseError
from m2bridge.families.deep_attention.number_systems import Integers, Matrix, NumberSystem
from m2bridge.families.deep_attention.shape import Shape


@dataclass(frozen=True, slots=True)
class Point:
    """Parameters as matrices: for each layer and each head V and either A or K and Q."""

    layers: tuple[tuple[dict[str, Matrix], ...], ...]

    @classmethod
    def read(cls, shape: Shape, parameters: Sequence[Any], numbers: NumberSystem) -> Point:
        """Cut the list of parameters into matrices.

        Raises
        ------
        InvalidCaseError
            If they are not as many as the network has.
        """
        if len(parameters) != shape.parameter_count:
            raise InvalidCaseError("parameters", f"are {shape.parameter_count} numbers, not {len(parameters)}")
        layers: list[list[dict[str, Matrix]]] = [[{} for _ in range(shape.heads)] for _ in shape.a]
        start = 0
        for matrix in shape.parameter_matrices():
            rows = [parameters[i : i + matrix.columns] for i in range(start, start + matrix.size, matrix.columns)]
            layers[matrix.layer - 1][matrix.head - 1][matrix.kind] = numbers.matrix(rows)
            start += matrix.size
        return cls(tuple(map(tuple, layers)))

    def network(self) -> Network:
        """The attention and value matrices."""
        return tuple(tuple(Head(_attention(head), head["V"]) for head in layer) for layer in self.layers)

    def flattened(self, gradient: Sequence[Layer]) -> list[Any]:
        """A gradient with respect to all A and V as one with respect to the parameters: dK = Q dAᵀ, dQ = K dA."""
        entries: list[Any] = []
        for layer, covectors in zip(self.layers, gradient, strict=True):
            for head, covector in zip(layer, covectors, strict=True):
                if "A" in head:
                    entries += covector.A.entries()
                else:
                    entries += (head["Q"] * covector.A.transpose()).entries() + (head["K"] * covector.A).entries()
                entries += covector.V.entries()
        return entries


def _attention(head: dict[str, Matrix]) -> Matrix:
    return head["A"] if "A" in head else head["K"].transpose() * head["Q"]


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


def integer_virtual_weights(shape: Shape, parameters: Sequence[int]) -> tuple[list[list[list[int]]], list[list[int]]]:
    """Return A'_1, …, A'_l and M for integer parameters; for one head without skips."""
    matrices, M = virtual_weights(Point.read(shape, parameters, Integers()).network())
    *attention, values = [[[int(entry) for entry in row] for row in A.table()] for A in (*matrices, M)]
    return attention, values


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
