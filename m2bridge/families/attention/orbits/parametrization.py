"""The parametrization of attention, its grading and symmetries, and its rank from one block.

Reduced coordinates have names c_k_i_p_q, and full ones f_k_j_…: the coefficient of a monomial
X_pu X_qu X_ij in output k of token j. Weights are A and V (``attention``), with the (a+1)-minors of
A as relations for a < d, or Q, K and V (``factored``), without relations. The *free*
parametrization has no relations and as few weights as possible: A and V for α = d, where A is any
matrix, and else Q, K and V with α rows in Q and K, as more give no other function.

What cannot be stored, or takes too long, is a TooLargeError. (Notation: the docstring of
families/attention.)
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, islice, product
from math import comb
from operator import mul
from random import Random
from typing import Any

from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyElement

from m2bridge.algebra.differential import differential_rank
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import TooLargeError
from m2bridge.families.attention.orbits.orbits import Orbit
from m2bridge.families.attention.sizes import (
    CoordinateSystem,
    LayerSizes,
    Parametrization,
    coordinate_count,
    weights_dimension,
)
from m2bridge.implicitization.multigraded_map import MultigradedMap, multigraded
from m2bridge.limits import check_deadline_in
from m2bridge.maps.model import DegreeVector, MethodValue
from m2bridge.results.known import Bounds
from m2bridge.statements.statement import IntegerMatrix

Index = tuple[int, int, int, int]
"""(k, i, p, q) with p ≤ q, for the coordinate c_{k,i,{p,q}}; all begin with 0."""

Sparse = Mapping[tuple[int, int], int]
"""The nonzero entries of a matrix, by row and column."""

FunctionCoordinates = Counter[Index]
"""The reduced coordinates of a function by their indices; those left out are zero."""

MatrixOfPolynomials = list[list[PolyElement]]
InputMonomial = tuple[tuple[int, int], ...]
"""A monomial in the entries X_pu: three pairs (p, u), sorted."""

MAX_STORED_COORDINATES = 20_000
"""The largest number of coordinates, each a polynomial with a name."""
MAX_STORED_PARAMETERS = 5_000
"""The largest number of weights: SymPy's polynomials have an exponent for each of them."""
MAX_RELATION_MINORS = 5_000
"""The largest number of minors, which are expanded one after the other."""
MAX_RANDOM_POINTS = 100
"""The number of random points that are tried; over small fields many are special."""
_POINT_SEED = 20240817
_MAX_RANDOM_INTEGER = 1000
"""A bound for random entries over QQ: products stay short, and points are hardly special."""

ROLES = {"V": "kp", "A": "pi", "Q": "ei", "K": "ep", "c": "kipp"}
"""The kinds of the indices of a weight or of a reduced coordinate, by the letter of its name: k of
outputs, p of variables y_p, and i of columns of A.
"""


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
    # Each product A_pi V_kq is a term of one coordinate, that of y_p y_q.
    for ((p, i), a), ((k, q), v) in product(A.items(), V.items()):
        values[k, i, min(p, q), max(p, q)] += a * v
    return values


def parametrization(
    shape: LayerSizes, coordinates: CoordinateSystem, weights: Parametrization
) -> PolynomialMap:
    """Return the map from weights to function coordinates, reduced or full."""
    check_coordinates(shape, coordinates)
    # the number of rows of each matrix of weights; all have d columns
    row_counts = {"Q": shape.a, "K": shape.a, "V": shape.d_out}
    if weights == "attention":
        row_counts = {"A": shape.d, "V": shape.d_out}
    weight_count = shape.d * sum(row_counts.values())
    if weight_count > MAX_STORED_PARAMETERS:
        raise _too_large(
            f"has {weight_count} weights", MAX_STORED_PARAMETERS, "take smaller numbers"
        )
    minor_count = comb(shape.d, shape.a + 1) ** 2  # none for a ≥ d
    if weights == "attention" and minor_count > MAX_RELATION_MINORS:
        raise _too_large(
            f"needs {minor_count} minors of A", MAX_RELATION_MINORS, "take the weights Q, K and V"
        )
    names: list[str] = []
    for name, row_count in row_counts.items():
        names += entry_names(name, row_count, shape.d)
    source = PolynomialRing(QQ, tuple(names))
    sizes = [(row_count, shape.d) for row_count in row_counts.values()]
    matrix = dict(zip(row_counts, _matrices_of_variables(source, sizes), strict=True))
    relations: tuple[PolyElement, ...] = ()
    if weights == "attention":
        A = matrix["A"]
        relations = _rank_relations(A, shape.a)
    else:
        A = _transposed_product(matrix["K"], matrix["Q"])
    values = images(shape, A, matrix["V"], coordinates)
    # minors of a matrix of variables, or no relations, generate a prime ideal
    return PolynomialMap(source, tuple(values), tuple(values.values()), relations, prime=True)


def images(
    shape: LayerSizes, A: MatrixOfPolynomials, V: MatrixOfPolynomials, coordinates: CoordinateSystem
) -> dict[str, PolyElement]:
    """Return the function coordinates of weights (A, V) over any polynomial ring, by name.

    Names are in the order of the parametrization.
    """
    values: dict[str, PolyElement] = {}
    if coordinates == "reduced":
        for index in check_deadline_in(indices(shape)):
            value = coordinate(index, lambda p, i: A[p][i], lambda k, q: V[k][q])
            values[reduced_name(index)] = value
        return values
    # by the definition: the output of token j is Σ_u (x_uᵀ A x_j)(V x_u)
    inputs, tokens = range(shape.d), range(shape.t)
    for k, j in product(range(shape.d_out), tokens):
        terms: dict[InputMonomial, PolyElement] = defaultdict(int)
        for u, p, q, i in check_deadline_in(product(tokens, inputs, inputs, inputs)):
            terms[_monomial(u, p, q, i, j)] += A[p][i] * V[k][q]
        for monomial in sorted(terms):
            values[_full_name(k, j, monomial)] = terms[monomial]
    return values


def orbit_closure_map(
    orbit: Orbit, shape: LayerSizes, coordinates: CoordinateSystem | None = None
) -> PolynomialMap:
    """Return a parametrization of the Zariski closure of the orbit, which is irreducible.

    For an orbit (r, s, m) its parameters are the entries of vectors b_1, …, b_{r+s−m} that span
    L + U, of q_1, …, q_r and of h_1, …, h_s. The first r of the b span L, and A = Σ_p b_p q_pᵀ.
    U is spanned by s of the b: the first m, which are in L too, and all after the first r. With
    these as u_1, …, u_s, V = Σ_k h_k u_kᵀ.
    """
    d = shape.d
    # the numbers of rows and columns of the matrices whose rows are the b, the q and the h
    sizes = {"b": (orbit.span, d), "q": (orbit.r, d), "h": (orbit.s, shape.d_out)}
    names: list[str] = []
    for name, (rows, columns) in sizes.items():
        names += entry_names(name, rows, columns)
    source = PolynomialRing(QQ, tuple(names))
    b, q, h = _matrices_of_variables(source, sizes.values())
    spanning_L = b[: orbit.r]
    spanning_U = b[: orbit.m] + b[orbit.r :]
    # Σ_p b_p q_pᵀ and Σ_k h_k u_kᵀ, with the vectors as rows of the factors
    A = _transposed_product(spanning_L, q)
    V = _transposed_product(h, spanning_U)
    values = images(shape, A, V, coordinates or shape.default_coordinates)
    return PolynomialMap(source, tuple(values), tuple(values.values()))


def _matrices_of_variables(
    source: PolynomialRing, sizes: Iterable[tuple[int, int]]
) -> list[MatrixOfPolynomials]:
    """Return matrices of these sizes whose entries are the variables of the ring, in order."""
    generators = iter(source.sympy_ring.gens)
    matrices = []
    for rows, columns in sizes:
        matrices.append([list(islice(generators, columns)) for _ in range(rows)])
    return matrices


def _transposed_product(left: list[list[Any]], right: list[list[Any]]) -> list[list[Any]]:
    """Return leftᵀ · right over any ring, for matrices with at least one row."""
    right_columns = list(zip(*right, strict=True))
    # the columns of left are the rows of its transpose
    left_columns = check_deadline_in(zip(*left, strict=True))
    return [[sum(map(mul, row, column)) for column in right_columns] for row in left_columns]


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
        raise _too_large(f"has {count} coordinates", MAX_STORED_COORDINATES, advice)


def _too_large(count: str, limit: int, advice: str) -> TooLargeError:
    """Return the error for a case that, as ``count`` says, "has 5001 weights"."""
    return TooLargeError(f"this case {count}; at most {limit} can be stored: {advice}")


def _rank_relations(A: MatrixOfPolynomials, a: int) -> tuple[PolyElement, ...]:
    """Return the (a+1)-minors of a square matrix A.

    They generate a prime ideal over every field (Bruns, Vetter, *Determinantal Rings*, section 2).
    """
    choices = list(combinations(range(len(A)), a + 1))  # none if A has at most a rows
    domain = A[0][0].ring.to_domain()
    minors = []
    for rows, columns in check_deadline_in(product(choices, repeat=2)):
        block = [[A[p][i] for i in columns] for p in rows]
        minors.append(DomainMatrix(block, (a + 1, a + 1), domain).det())
    return tuple(minors)


def free_parametrization(shape: LayerSizes, coordinates: CoordinateSystem) -> PolynomialMap:
    """Return the free parametrization."""
    fewest_rows = LayerSizes(shape.d, shape.d_out, shape.alpha, shape.t)
    return _free_parametrization(fewest_rows, coordinates)


@lru_cache(maxsize=64)
def _free_parametrization(shape: LayerSizes, coordinates: CoordinateSystem) -> PolynomialMap:
    """Return the free parametrization of a case with a ≤ d, computed once."""
    weights: Parametrization = "attention" if shape.a == shape.d else "factored"
    return parametrization(shape, coordinates, weights)


def multigraded_attention(
    shape: LayerSizes, coordinates: CoordinateSystem | None = None
) -> MultigradedMap:
    """Return the free parametrization with its grading and symmetries, by the indices k, i, p."""
    system = coordinates or shape.default_coordinates
    free = free_parametrization(shape, system)
    degrees = None
    if system == "reduced":
        # a multidegree is read in the name of a reduced coordinate; for full ones it is computed
        degrees = grading(shape, free)
    return multigraded(free, symmetries(shape, free), degrees)


def grading(shape: LayerSizes, free: PolynomialMap) -> tuple[DegreeVector, ...]:
    """Return the multidegree of each reduced coordinate in Z^d' × Z^d × Z^d, as d' + 2d integers.

    c_k_i_p_q has (e_k, e_i, e_p + e_q), from the grading of weights for which V_k_p has degree
    (e_k, 0, e_p), A_p_i has (0, e_i, e_p), Q_e_i has (0, e_i, 0), and K_e_p has (0, 0, e_p).
    """
    # where the entries for each kind of index begin
    offsets = {"k": 0, "i": shape.d_out, "p": shape.d_out + shape.d}
    degrees = []
    for name in check_deadline_in(free.coordinates):
        degree = [0] * (shape.d_out + 2 * shape.d)
        letter, *numbers = name.split("_")
        for role, number in zip(ROLES[letter], numbers, strict=True):
            degree[offsets[role] + int(number) - 1] += 1
        degrees.append(tuple(degree))
    return tuple(degrees)


def symmetries(shape: LayerSizes, free: PolynomialMap) -> tuple[dict[str, str], ...]:
    """Return generators of S_d' × S_d × S_d, each as a map from weights to weights by name.

    Each of them exchanges two neighbouring numbers among the outputs k, the columns i of A, or the
    indices p and q. For full coordinates i is permuted together with p and q, because all three are
    indices of entries of X: the group is S_d' × S_d.
    """
    # the kinds of indices that one permutation moves, as letters: "ip" are both i and p
    moved_together = ["i", "p"]
    if not free.coordinates[0].startswith("c_"):
        moved_together = ["ip"]
    # the kinds of indices of which s and s + 1 are exchanged, with s, which begins with 1
    exchanges = [("k", s) for s in range(1, shape.d_out)]
    exchanges += [(roles, s) for s, roles in product(range(1, shape.d), moved_together)]
    permutations = []
    for roles, s in exchanges:
        permutation = {}
        for name in check_deadline_in(free.source.variables):
            permutation[name] = exchange_indices_in_name(name, roles, s)
        permutations.append(permutation)
    return tuple(permutations)


def exchange_indices_in_name(name: str, roles: str, s: int) -> str:
    """Return a name with s and s + 1 exchanged: ``A_1_3`` for ``A_1_2``, the role "i" and s = 2."""
    letter, *numbers = name.split("_")
    exchange = {str(s): str(s + 1), str(s + 1): str(s)}
    new_numbers = []
    for role, number in zip(ROLES[letter], numbers, strict=True):
        new_number = number
        if role in roles:
            new_number = exchange.get(number, number)
        new_numbers.append(new_number)
    # The name c_k_i_p_q has p ≤ q, so its last two indices are sorted; weights have only two.
    return "_".join([letter, *new_numbers[:2], *sorted(new_numbers[2:], key=int)])


def lower_bounds(shape: LayerSizes, characteristic: int) -> Iterator[MethodValue]:
    """Yield one lower bound for the dimension, equal to the upper bound, or nothing.

    The bound is computed in the block, the case with d = 2 (1 if the case has d = 1), one output
    and at most two tokens; there C, of rank at most α, stands for A, and the row m for V.

    If the kernel of the differential at some weights (C, m) of the block, on all matrices and rows,
    is as small as it can be, and the quadratic form yᵀCy is not zero, then the kernel at generic
    weights of every size is as small as it can be (``docs/mathematics.md#theorem-one-block``). So
    the dimension is ``weights_dimension`` less one. Nothing is yielded if no random C and m have
    such a kernel. The characteristic is a prime, or 0 for QQ.
    """
    field = CoefficientField(characteristic) if characteristic else QQ
    block = LayerSizes(min(shape.d, 2), 1, t=min(shape.t, 2))
    rank = min(shape.alpha, block.d)
    # the kernel contains the rescaling (C, −m); and for one token all alternating matrices, whose
    # quadratic form, all that one token sees of C, is zero
    least_kernel = 1
    if block.t == 1:
        least_kernel += comb(block.d, 2)
    largest_rank = block.d**2 + block.d - least_kernel
    source = parametrization(block, block.default_coordinates, "attention")
    # entries are all residues modulo a prime, and integers up to a bound over QQ
    bound_of_entries = characteristic or _MAX_RANDOM_INTEGER
    for C, m in _random_block_weights(block.d, rank, bound_of_entries):
        if not _has_nonzero_form(C, characteristic):
            continue
        entries_of_C = [entry for row in C for entry in row]
        if differential_rank(source, (*entries_of_C, *m), field=field) == largest_rank:
            case = f"(d, d', a) = ({block.d}, 1, {rank})"
            reason = f"rank {largest_rank} of the case {case}: one block decides"
            value = Bounds.at_least(weights_dimension(shape) - 1, reason)
            yield MethodValue(f"block over {field}", value)
            return


def _random_block_weights(
    size: int, rank: int, bound: int
) -> Iterator[tuple[IntegerMatrix, tuple[int, ...]]]:
    """Yield random matrices C of at most this rank, each with a random row m.

    Entries of m, and of the factors of C, are integers from 0 to ``bound`` − 1, the same at each
    call.
    """
    random = Random(_POINT_SEED)

    def row() -> list[int]:
        return [random.randrange(bound) for _ in range(size)]

    for _ in range(MAX_RANDOM_POINTS):
        # The rank of C = KᵀQ is at most the number of rows of K and Q.
        K = [row() for _ in range(rank)]
        Q = [row() for _ in range(rank)]
        C = tuple(map(tuple, _transposed_product(K, Q)))
        yield C, tuple(row())


def _has_nonzero_form(C: IntegerMatrix, characteristic: int) -> bool:
    """Return whether the quadratic form yᵀCy is not zero over a field of this characteristic."""
    for i, j in combinations_with_replacement(range(len(C)), 2):
        # the coefficient of y_i y_j
        coefficient = C[i][j]
        if i < j:
            coefficient += C[j][i]
        if characteristic:
            coefficient %= characteristic
        if coefficient:
            return True
    return False
