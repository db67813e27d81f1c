"""Single-layer lightning self-attention: weights, function coordinates, parametrizations.

Source: Henry, Marchetti, Kohn, *Geometry of Lightning Self-Attention: Identifiability and Dimension*, ICLR 2025
(arXiv 2408.17221), Definition 1, proof of Theorem 3.2, Proposition A.5.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import Literal, get_args

from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyElement

from m2bridge.errors import InvalidCaseError
from m2bridge.model.field import QQ
from m2bridge.model.polynomial_map import PolynomialMap
from m2bridge.model.ring import PolynomialRing

Coordinates = Literal["reduced", "full"]
Weights = Literal["attention", "factored"]
Matrix = list[list[PolyElement]]

MAX_COORDINATES = 20_000
MAX_MINORS = 5_000


@dataclass(frozen=True, slots=True, init=False)
class SingleLayerAttention:
    """The model X ↦ V X Xᵀ A X with A = KᵀQ, X ∈ R^{d×t} (Definition 1).

    Parameters
    ----------
    d : int
        Input embedding dimension.
    d_out : int
        Output embedding dimension (d' in the paper).
    a : int, optional
        Query/key dimension, d when left out; the attention matrix A has rank at most α = min(a, d).
    t : int
        Number of tokens. The statements of the paper assume t ≥ 2; t = 1 is a different variety.

    Raises
    ------
    InvalidCaseError
        If one of them is below 1.
    """

    d: int
    d_out: int
    a: int
    t: int

    def __init__(self, d: int, d_out: int, a: int | None = None, t: int = 2) -> None:
        for option, value in (("d", d), ("d_out", d_out), ("a", d if a is None else a), ("t", t)):
            if value < 1:
                raise InvalidCaseError(option, f"must be at least 1, not {value}")
            object.__setattr__(self, option, value)

    def __str__(self) -> str:
        return f"(d, d', a) = ({self.d}, {self.d_out}, {self.a}), t = {self.t}"

    @property
    def alpha(self) -> int:
        """Largest rank of an attention matrix, α = min(a, d)."""
        return min(self.a, self.d)

    @property
    def default_coordinates(self) -> Coordinates:
        """``reduced`` for t ≥ 2, ``full`` for t = 1 (where the reduced coordinates are not functions of the output)."""
        return "reduced" if self.t >= 2 else "full"

    def coordinate_count(self, coordinates: Coordinates) -> int:
        """How many coordinates there are (for ``full``: coefficients that are not identically zero)."""
        quadratic = self.d * (self.d + 1) // 2
        if coordinates == "reduced":
            return self.d_out * self.d * quadratic
        cubic = comb(self.d + 2, 3)
        return self.d_out * self.t * (cubic + (self.t - 1) * self.d * quadratic)

    def parametrization(self, coordinates: Coordinates | None = None, weights: Weights = "attention") -> PolynomialMap:
        """The map from weights to function coordinates.

        Parameters
        ----------
        coordinates : {"reduced", "full"}, optional
            ``reduced``: the d'·d·d(d+1)/2 coordinates ``c_k_i_p_q``, the coefficient of x_i y_p y_q (p ≤ q) in
            output k, where x is the token and y another one; only for t ≥ 2. ``full``: all coefficients of V X Xᵀ A X
            that are not identically zero; ``f_k_j_p_u_q_v_r_w`` is the coefficient of X_pu X_qv X_rw in output k of
            token j.
        weights : {"attention", "factored"}
            ``attention``: parameters are the entries ``A_p_i`` and ``V_k_p``, with the (a+1)-minors of A as relations
            when a < d. ``factored``: parameters are the entries of Q, K and V, without relations.

        Raises
        ------
        InvalidCaseError
            If the coordinates do not exist for this t, or the map is too large to be stored.
        """
        system = coordinates or self.default_coordinates
        self.check_options(system, weights)
        self._check_size(system, weights)
        source = PolynomialRing(QQ, self._attention_variables() if weights == "attention" else self._factored())
        A, V = self._matrices(source, weights)
        images = self.images(A, V, system)
        relations = self._rank_relations(A) if weights == "attention" else ()
        return PolynomialMap(source, tuple(images), tuple(images.values()), relations)

    def images(self, A: Matrix, V: Matrix, coordinates: Coordinates) -> dict[str, PolyElement]:
        """The function coordinates of weights (A, V) with entries in any polynomial ring, by name."""
        return self._reduced_images(A, V) if coordinates == "reduced" else self._full_images(A, V)

    def check_options(self, coordinates: Coordinates, weights: Weights = "attention") -> None:
        """Raise InvalidCaseError if these coordinates or weights do not exist for this model."""
        if coordinates not in get_args(Coordinates):
            raise InvalidCaseError("coordinates", f"unknown coordinate system '{coordinates}': use reduced or full")
        if weights not in get_args(Weights):
            raise InvalidCaseError("weights", f"unknown weights '{weights}': use attention or factored")
        if coordinates == "reduced" and self.t == 1:
            raise InvalidCaseError("coordinates", "reduced coordinates need t ≥ 2; use full coordinates for t = 1")

    def _check_size(self, coordinates: Coordinates, weights: Weights) -> None:
        count = self.coordinate_count(coordinates)
        if count > MAX_COORDINATES:
            raise InvalidCaseError("d", f"this case has {count} coordinates; at most {MAX_COORDINATES} can be stored")
        if weights == "attention" and self.a < self.d and comb(self.d, self.a + 1) ** 2 > MAX_MINORS:
            raise InvalidCaseError(
                "a", f"this case needs {comb(self.d, self.a + 1) ** 2} minors of A; at most {MAX_MINORS} can be stored"
            )

    def _attention_variables(self) -> tuple[str, ...]:
        return entries("A", self.d, self.d) + entries("V", self.d_out, self.d)

    def _factored(self) -> tuple[str, ...]:
        return entries("Q", self.a, self.d) + entries("K", self.a, self.d) + entries("V", self.d_out, self.d)

    def _matrices(self, source: PolynomialRing, weights: Weights) -> tuple[Matrix, Matrix]:
        """The matrices A and V with entries in the ring of parameters."""
        generators = iter(source.sympy_ring.gens)

        def matrix(rows: int) -> Matrix:
            return [[next(generators) for _ in range(self.d)] for _ in range(rows)]

        if weights == "attention":
            return matrix(self.d), matrix(self.d_out)
        Q, K = matrix(self.a), matrix(self.a)
        zero = source.sympy_ring.zero
        A = [[sum((K[e][p] * Q[e][i] for e in range(self.a)), zero) for i in range(self.d)] for p in range(self.d)]
        return A, matrix(self.d_out)

    def _reduced_images(self, A: Matrix, V: Matrix) -> dict[str, PolyElement]:
        indices = range(self.d)
        return {
            f"c_{k + 1}_{i + 1}_{p + 1}_{q + 1}": (
                V[k][p] * A[p][i] if p == q else V[k][p] * A[q][i] + V[k][q] * A[p][i]
            )
            for k, i, p, q in product(range(self.d_out), indices, indices, indices)
            if p <= q
        }

    def _full_images(self, A: Matrix, V: Matrix) -> dict[str, PolyElement]:
        """Expand Σ_u (x_uᵀ A x_j)(V x_u) by the definition of the model."""
        indices = range(self.d)
        images: dict[str, PolyElement] = {}
        for k, j in product(range(self.d_out), range(self.t)):
            terms: defaultdict[tuple[tuple[int, int], ...], list[PolyElement]] = defaultdict(list)
            for u, p, q, i in product(range(self.t), indices, indices, indices):
                terms[tuple(sorted([(p, u), (q, u), (i, j)]))].append(A[p][i] * V[k][q])
            for monomial, summands in sorted(terms.items()):
                name = "_".join(f"{p + 1}_{u + 1}" for p, u in monomial)
                images[f"f_{k + 1}_{j + 1}_{name}"] = sum(summands[1:], summands[0])
        return images

    def _rank_relations(self, A: Matrix) -> tuple[PolyElement, ...]:
        """The (a+1)-minors of A: its rank is at most a."""
        size = self.a + 1
        if size > self.d:
            return ()
        choices = list(combinations(range(self.d), size))
        return tuple(
            _determinant([[A[p][i] for i in columns] for p in rows]) for rows, columns in product(choices, repeat=2)
        )


def entries(name: str, rows: int, columns: int) -> tuple[str, ...]:
    """Names of the entries of a matrix, row by row."""
    return tuple(f"{name}_{i + 1}_{j + 1}" for i in range(rows) for j in range(columns))


def _determinant(matrix: Matrix) -> PolyElement:
    ring = matrix[0][0].ring
    return DomainMatrix(matrix, (len(matrix), len(matrix)), ring.to_domain()).det()
