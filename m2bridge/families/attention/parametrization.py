"""The polynomial maps from the weights of an attention model to its function coordinates.

Source: Henry, Marchetti, Kohn (arXiv 2408.17221), Definition 1, proof of Theorem 3.2, Proposition A.5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import combinations, product
from math import comb

from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.clock import watched
from m2bridge.errors import TooLargeError
from m2bridge.families.attention import reduced_coordinates
from m2bridge.families.attention.model import Coordinates, SingleLayerAttention, Weights

Matrix = list[list[PolyElement]]
Monomial = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""A monomial in the entries X_pu: the pairs (p, u), sorted."""

MAX_COORDINATES = 20_000
MAX_PARAMETERS = 5_000
"""SymPy's polynomials have one exponent for each variable, and its rings one polynomial."""
MAX_MINORS = 5_000


def parametrization(model: SingleLayerAttention, coordinates: Coordinates, weights: Weights) -> PolynomialMap:
    """See :meth:`m2bridge.families.attention.model.SingleLayerAttention.parametrization`."""
    _check_size(model, coordinates, weights)
    source = PolynomialRing(QQ, _attention_variables(model) if weights == "attention" else _factored_variables(model))
    A, V = _matrices(model, source, weights)
    values = images(model, A, V, coordinates)
    relations = _rank_relations(A, model.a) if weights == "attention" else ()
    return PolynomialMap(source, tuple(values), tuple(values.values()), relations, prime=True)


def images(model: SingleLayerAttention, A: Matrix, V: Matrix, coordinates: Coordinates) -> dict[str, PolyElement]:
    """The function coordinates of weights (A, V) with entries in any polynomial ring, by name."""
    return _reduced_images(model, A, V) if coordinates == "reduced" else _full_images(model, A, V)


def coordinate_names(model: SingleLayerAttention, coordinates: Coordinates) -> tuple[str, ...]:
    """The names of the function coordinates, without their images."""
    check_coordinates(model, coordinates)
    indices, tokens = range(model.d), range(model.t)
    if coordinates == "reduced":
        return tuple(map(reduced_coordinates.name, reduced_coordinates.indices(model)))
    return tuple(
        _full_name(k, j, monomial)
        for k, j in product(range(model.d_out), tokens)
        for monomial in sorted({_monomial(u, p, q, i, j) for u, p, q, i in product(tokens, indices, indices, indices)})
    )


def _monomial(u: int, p: int, q: int, i: int, j: int) -> Monomial:
    """The entries of X in the term of A_pi V_kq for the tokens u and j."""
    first, second, third = sorted([(p, u), (q, u), (i, j)])
    return first, second, third


def _full_name(k: int, j: int, monomial: Monomial) -> str:
    name = "_".join(f"{p + 1}_{u + 1}" for p, u in monomial)
    return f"f_{k + 1}_{j + 1}_{name}"


def name_in(index: reduced_coordinates.Index, coordinates: Coordinates) -> str:
    """A reduced coordinate, or the full one that is the same for t ≥ 2: x from the first token, y from the second."""
    k, i, p, q = index
    return reduced_coordinates.name(index) if coordinates == "reduced" else _full_name(k, 0, _monomial(1, p, q, i, 0))


def entries(name: str, rows: int, columns: int) -> tuple[str, ...]:
    """Names of the entries of a matrix, row by row."""
    return tuple(f"{name}_{i + 1}_{j + 1}" for i in range(rows) for j in range(columns))


def check_coordinates(model: SingleLayerAttention, coordinates: Coordinates) -> None:
    """Raise TooLargeError if there are more coordinates than can be stored."""
    count = model.coordinate_count(coordinates)
    if count > MAX_COORDINATES:
        raise TooLargeError(
            f"this case has {count} coordinates; at most {MAX_COORDINATES} can be stored: take smaller numbers, or ask"
            " for its dimension"
        )


def _check_size(model: SingleLayerAttention, coordinates: Coordinates, weights: Weights) -> None:
    check_coordinates(model, coordinates)
    rows = (model.d if weights == "attention" else 2 * model.a) + model.d_out
    if (count := model.d * rows) > MAX_PARAMETERS:
        raise TooLargeError(
            f"this case has {count} weights; at most {MAX_PARAMETERS} can be stored: take smaller numbers"
        )
    minors = comb(model.d, model.a + 1) ** 2
    if weights == "attention" and minors > MAX_MINORS:
        raise TooLargeError(
            f"this case needs {minors} minors of A; at most {MAX_MINORS} can be stored: take the weights Q, K and V"
        )


def _attention_variables(model: SingleLayerAttention) -> tuple[str, ...]:
    return entries("A", model.d, model.d) + entries("V", model.d_out, model.d)


def _factored_variables(model: SingleLayerAttention) -> tuple[str, ...]:
    return entries("Q", model.a, model.d) + entries("K", model.a, model.d) + entries("V", model.d_out, model.d)


def _matrices(model: SingleLayerAttention, source: PolynomialRing, weights: Weights) -> tuple[Matrix, Matrix]:
    """The matrices A and V with entries in the ring of parameters."""
    d, a = model.d, model.a
    generators = iter(source.sympy_ring.gens)

    def matrix(rows: int) -> Matrix:
        return [[next(generators) for _ in range(d)] for _ in range(rows)]

    if weights == "attention":
        return matrix(d), matrix(model.d_out)
    Q, K = matrix(a), matrix(a)
    zero = source.sympy_ring.zero
    A = [[sum((K[e][p] * Q[e][i] for e in range(a)), zero) for i in range(d)] for p in watched(range(d))]
    return A, matrix(model.d_out)


def _reduced_images(model: SingleLayerAttention, A: Matrix, V: Matrix) -> dict[str, PolyElement]:
    a, v = _entries(A), _entries(V)
    return {
        reduced_coordinates.name(index): reduced_coordinates.coordinate(index, a, v)
        for index in watched(reduced_coordinates.indices(model))
    }


def _entries(matrix: Matrix) -> Callable[[int, int], PolyElement]:
    return lambda row, column: matrix[row][column]


def _full_images(model: SingleLayerAttention, A: Matrix, V: Matrix) -> dict[str, PolyElement]:
    """Expand Σ_u (x_uᵀ A x_j)(V x_u) by the definition of the model."""
    indices, tokens = range(model.d), range(model.t)
    found: dict[str, PolyElement] = {}
    for k, j in product(range(model.d_out), tokens):
        terms: defaultdict[Monomial, list[PolyElement]] = defaultdict(list)
        for u, p, q, i in watched(product(tokens, indices, indices, indices)):
            terms[_monomial(u, p, q, i, j)].append(A[p][i] * V[k][q])
        for monomial, summands in watched(sorted(terms.items())):
            found[_full_name(k, j, monomial)] = sum(summands[1:], summands[0])
    return found


def _rank_relations(A: Matrix, a: int) -> tuple[PolyElement, ...]:
    """The (a+1)-minors of A: its rank is at most a. Over every field they generate a prime ideal.

    Source: Bruns, Vetter, *Determinantal Rings*, section 2.
    """
    if a >= len(A):
        return ()
    choices = list(combinations(range(len(A)), a + 1))
    return tuple(
        _determinant([[A[p][i] for i in columns] for p in rows])
        for rows, columns in watched(product(choices, repeat=2))
    )


def _determinant(matrix: Matrix) -> PolyElement:
    ring = matrix[0][0].ring
    return DomainMatrix(matrix, (len(matrix), len(matrix)), ring.to_domain()).det()
