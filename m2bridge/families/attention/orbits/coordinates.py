"""The coordinates of the function of weights: their indices, names and values, in any ring.

Reduced coordinates have names c_k_i_p_q, and full ones f_k_j_…: the coefficient of a monomial
X_pu X_qu X_ij in output k of token j. Both are bilinear in A and V. Sparse weights and functions
are mappings from index to entry. Too many coordinates are a TooLargeError. (Notation: the docstring
of families/attention.)
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any

from m2bridge.errors import TooLargeError
from m2bridge.families.attention.sizes import CoordinateSystem, LayerSizes, coordinate_count
from m2bridge.limits import check_deadline_in
from m2bridge.statements.statement import IntegerMatrix

Index = tuple[int, int, int, int]
"""(k, i, p, q) with p ≤ q, for the coordinate c_{k,i,{p,q}}; all begin with 0."""
Sparse = Mapping[tuple[int, int], int]
"""The nonzero entries of a matrix, by row and column."""
FunctionCoordinates = Counter[Index]
"""The reduced coordinates of a function by their indices; those left out are zero."""
InputMonomial = tuple[tuple[int, int], ...]
"""A monomial in the entries X_pu: three pairs (p, u), sorted."""
MAX_STORED_COORDINATES = 20_000
"""The largest number of coordinates, each a polynomial with a name."""


def indices(shape: LayerSizes) -> Iterator[Index]:
    """Yield the indices of all reduced coordinates, in the order of the parametrization."""
    for k, i in product(range(shape.d_out), range(shape.d)):
        for p, q in combinations_with_replacement(range(shape.d), 2):
            yield k, i, p, q


def reduced_name(index: Index) -> str:
    """Return the name of a reduced coordinate: ``c_1_1_1_2`` for (0, 0, 0, 1)."""
    k, i, p, q = index
    return f"c_{k + 1}_{i + 1}_{p + 1}_{q + 1}"


def coordinate(index: Index, A: Callable[[int, int], Any], V: Callable[[int, int], Any]) -> Any:
    """Return the coordinate of the function with the entries A(p, i) and V(k, q), in any ring."""
    k, i, p, q = index
    # For p = q both orders of p and q give one term.
    if p == q:
        return V(k, p) * A(p, i)
    return V(k, p) * A(q, i) + V(k, q) * A(p, i)


def reduced_coordinates(shape: LayerSizes, A: Sequence[Any], V: Sequence[Any]) -> list[Any]:
    """Return the reduced coordinates of weights in any ring, given by their rows, in order."""
    return [
        coordinate(index, lambda p, i: A[p][i], lambda k, q: V[k][q])
        for index in check_deadline_in(indices(shape))
    ]


@lru_cache(maxsize=64)
def bilinear_terms(shape: LayerSizes) -> tuple[tuple[int, int, int], ...]:
    """Return (number of c, place of A_pi, place of V_kq) for each term A_pi V_kq of a coordinate c.

    Each product is a term of one coordinate, with the coefficient 1. Coordinates are numbered in
    their order, and entries of A and V row by row, from 0 on.
    """
    terms = []
    for number, (k, i, p, q) in enumerate(indices(shape)):
        for row_of_A, column_of_V in {(p, q), (q, p)}:
            terms.append((number, row_of_A * shape.d + i, k * shape.d + column_of_V))
    return tuple(terms)


def sparse_matrix(matrix: IntegerMatrix) -> dict[tuple[int, int], int]:
    """Return the nonzero entries of a matrix, by row and column."""
    nonzero = {}
    for i, row in enumerate(matrix):
        for j, entry in enumerate(row):
            if entry:
                nonzero[i, j] = entry
    return nonzero


def function_coordinates(A: Sparse, V: Sparse) -> FunctionCoordinates:
    """Return the coordinates of the function of sparse weights; zeros are not listed."""
    values: FunctionCoordinates = Counter()
    # Each product A_pi V_kq is a term of one coordinate, the one of y_p y_q.
    for ((p, i), a), ((k, q), v) in product(A.items(), V.items()):
        values[k, i, min(p, q), max(p, q)] += a * v
    return values


def images(
    shape: LayerSizes, A: Sequence[Any], V: Sequence[Any], coordinates: CoordinateSystem
) -> dict[str, Any]:
    """Return the function coordinates of weights (A, V) over any polynomial ring, by name.

    Names are in the order of the parametrization.
    """
    if coordinates == "reduced":
        names = map(reduced_name, indices(shape))
        named = zip(names, reduced_coordinates(shape, A, V), strict=True)
        return dict(check_deadline_in(named))
    values: dict[str, Any] = {}
    # by the definition: the output of token j is Σ_u (x_uᵀ A x_j)(V x_u)
    inputs, tokens = range(shape.d), range(shape.t)
    for k, j in product(range(shape.d_out), tokens):
        terms: dict[InputMonomial, Any] = defaultdict(int)
        for u, p, q, i in check_deadline_in(product(tokens, inputs, inputs, inputs)):
            terms[_monomial(u, p, q, i, j)] += A[p][i] * V[k][q]
        for monomial in sorted(terms):
            values[_full_name(k, j, monomial)] = terms[monomial]
    return values


def coordinate_names(shape: LayerSizes, coordinates: CoordinateSystem) -> tuple[str, ...]:
    """Return the names of the function coordinates, in order, without their images."""
    check_coordinates(shape, coordinates)
    if coordinates == "reduced":
        return tuple(map(reduced_name, indices(shape)))
    inputs, tokens = range(shape.d), range(shape.t)
    names = []
    for k, j in product(range(shape.d_out), tokens):
        # A set: terms with p and q exchanged have the same monomial, and for u = j, where all three
        # factors are entries of one token, those with i, p and q in any order.
        terms = product(tokens, inputs, inputs, inputs)
        monomials = {_monomial(u, p, q, i, j) for u, p, q, i in terms}
        names += [_full_name(k, j, monomial) for monomial in sorted(monomials)]
    return tuple(names)


def _monomial(u: int, p: int, q: int, i: int, j: int) -> InputMonomial:
    """Return the monomial X_pu X_qu X_ij, which (x_uᵀ A x_j)(V x_u)_k has with A_pi V_kq."""
    return tuple(sorted([(p, u), (q, u), (i, j)]))


def _full_name(k: int, j: int, monomial: InputMonomial) -> str:
    """Return ``f_1_1_1_1_1_1_2_2`` for k = j = 0 and the monomial ((0, 0), (0, 0), (1, 1))."""
    name = "_".join(f"{p + 1}_{u + 1}" for p, u in monomial)
    return f"f_{k + 1}_{j + 1}_{name}"


def coordinate_name_in(index: Index, coordinates: CoordinateSystem) -> str:
    """Return the name, in either system, of a coordinate with the value of a reduced one; t ≥ 2."""
    if coordinates == "reduced":
        return reduced_name(index)
    k, i, p, q = index
    # of several the coefficient of x_i y_p y_q in the first token x, where y is the second
    return _full_name(k, 0, _monomial(1, p, q, i, 0))


def entry_names(name: str, rows: int, columns: int) -> tuple[str, ...]:
    """Return the names of the entries of a matrix, row by row: ``A_1_1``, ``A_1_2`` and so on."""
    return tuple(f"{name}_{i + 1}_{j + 1}" for i, j in product(range(rows), range(columns)))


def check_coordinates(shape: LayerSizes, coordinates: CoordinateSystem) -> None:
    """Raise TooLargeError if there are more coordinates than can be stored."""
    count = coordinate_count(shape, coordinates)
    if count > MAX_STORED_COORDINATES:
        advice = "take smaller numbers, or ask for its dimension"
        raise too_large(f"has {count} coordinates", MAX_STORED_COORDINATES, advice)


def too_large(count: str, limit: int, advice: str) -> TooLargeError:
    """Return the error for a case that, as ``count`` says, "has 5001 weights"."""
    return TooLargeError(f"this case {count}; at most {limit} can be stored: {advice}")
