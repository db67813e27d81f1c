"""The parametrization of attention, its grading and symmetries, and its rank from one block.

The reduced function coordinate c_{k,i,{p,q}} is the coefficient of x_i y_p y_q in output k, for t ≥
2. It is A_pi V_kq + A_qi V_kp for p < q, and A_pi V_kp for p = q; full coordinates are all
coefficients of the outputs as polynomials in the tokens. Indices begin with 0, those in names
with 1. The theorem on one block is in docs/mathematics.md; fibres and orbits stand elsewhere.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
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
"""(k, i, p, q) with p ≤ q."""

Sparse = Mapping[tuple[int, int], int]
"""The nonzero entries of a matrix, by row and column."""

FunctionCoordinates = Counter[Index]
"""The coordinates of a function; those left out are zero."""

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
"""The kinds of the indices of a weight, or of a reduced coordinate; V_k_p, for example."""


def indices(shape: LayerSizes) -> Iterator[Index]:
    """Yield the indices of all reduced coordinates, in the order of the parametrization."""
    for k, i in product(range(shape.d_out), range(shape.d)):
        for p, q in combinations_with_replacement(range(shape.d), 2):
            yield k, i, p, q


def reduced_name(index: Index) -> str:
    """Return ``c_1_1_1_2`` for (0, 0, 0, 1)."""
    k, i, p, q = index
    return f"c_{k + 1}_{i + 1}_{p + 1}_{q + 1}"


def coordinate(index: Index, A: Callable[[int, int], Any], V: Callable[[int, int], Any]) -> Any:
    """Return one coordinate of the function of weights A and V, as functions of row and column."""
    k, i, p, q = index
    # On the diagonal both orders of p and q are one term.
    if p == q:
        return V(k, p) * A(p, i)
    return V(k, p) * A(q, i) + V(k, q) * A(p, i)


def sparse(matrix: IntegerMatrix) -> dict[tuple[int, int], int]:
    """Return the nonzero entries of a matrix."""
    nonzero = {}
    for i, row in enumerate(matrix):
        for j, entry in enumerate(row):
            if entry:
                nonzero[i, j] = entry
    return nonzero


def function(A: Sparse, V: Sparse) -> FunctionCoordinates:
    """Return all coordinates of the function of sparse weights."""
    values: FunctionCoordinates = Counter()
    # Each product A_pi V_kq belongs to one coordinate.
    for ((p, i), a), ((k, q), v) in product(A.items(), V.items()):
        values[k, i, min(p, q), max(p, q)] += a * v
    return values


def parametrization(
    shape: LayerSizes, coordinates: CoordinateSystem, weights: Parametrization
) -> PolynomialMap:
    """Return the map from weights to function coordinates, for these two choices of the model."""
    check_coordinates(shape, coordinates)
    rows = {"Q": shape.a, "K": shape.a, "V": shape.d_out}
    minors = 0
    if weights == "attention":
        rows = {"A": shape.d, "V": shape.d_out}
        minors = comb(shape.d, shape.a + 1) ** 2
    count = shape.d * sum(rows.values())
    if count > MAX_STORED_PARAMETERS:
        raise _too_large(f"has {count} weights", MAX_STORED_PARAMETERS, "take smaller numbers")
    if minors > MAX_RELATION_MINORS:
        raise _too_large(
            f"needs {minors} minors of A", MAX_RELATION_MINORS, "take the weights Q, K and V"
        )
    names: list[str] = []
    for name, height in rows.items():
        names += entries(name, height, shape.d)
    source = PolynomialRing(QQ, tuple(names))
    *factors, V = _filled(source, *((height, shape.d) for height in rows.values()))
    relations: tuple[PolyElement, ...] = ()
    if weights == "attention":
        A = factors[0]
        relations = _rank_relations(A, shape.a)
    else:
        Q, K = factors
        A = _transposed_product(K, Q)
    values = images(shape, A, V, coordinates)
    return PolynomialMap(source, tuple(values), tuple(values.values()), relations, prime=True)


def images(
    shape: LayerSizes, A: MatrixOfPolynomials, V: MatrixOfPolynomials, coordinates: CoordinateSystem
) -> dict[str, PolyElement]:
    """Return the function coordinates of weights (A, V) over any polynomial ring, by name."""
    if coordinates == "full":
        return _full_images(shape, A, V)
    values = {}
    for index in check_deadline_in(indices(shape)):
        value = coordinate(index, lambda p, i: A[p][i], lambda k, q: V[k][q])
        values[reduced_name(index)] = value
    return values


def orbit_closure_map(
    orbit: Orbit, shape: LayerSizes, coordinates: CoordinateSystem | None = None
) -> PolynomialMap:
    """Return a parametrization of the Zariski closure of the orbit, which is irreducible.

    Parameters of the source are vectors ``b`` spanning L + U, ``q`` and ``h``: A = Σ_{p ≤ r} b_p
    q_pᵀ and V = Σ_{k ≤ s} h_k b_{σ(k)}ᵀ, with the first m of the b shared between L and U.
    """
    d, span = shape.d, orbit.span
    names = entries("b", span, d) + entries("q", orbit.r, d) + entries("h", orbit.s, shape.d_out)
    source = PolynomialRing(QQ, names)
    b, q, h = _filled(source, (span, d), (orbit.r, d), (orbit.s, shape.d_out))
    rows_of_V = b[: orbit.m] + b[orbit.r :]
    A = _transposed_product(b[: orbit.r], q)
    V = _transposed_product(h, rows_of_V)
    values = images(shape, A, V, coordinates or shape.default_coordinates)
    return PolynomialMap(source, tuple(values), tuple(values.values()))


def _filled(source: PolynomialRing, *sizes: tuple[int, int]) -> list[MatrixOfPolynomials]:
    """Return matrices of these numbers of rows and columns, filled with the variables in turn."""
    generators = iter(source.sympy_ring.gens)
    matrices = []
    for rows, columns in sizes:
        matrices.append([list(islice(generators, columns)) for _ in range(rows)])
    return matrices


def _transposed_product(
    left: MatrixOfPolynomials, right: MatrixOfPolynomials
) -> MatrixOfPolynomials:
    """Return the transpose of the one matrix times the other, which have a row at least."""
    right_columns = list(zip(*right, strict=True))
    left_columns = check_deadline_in(zip(*left, strict=True))
    return [[sum(map(mul, x, y)) for y in right_columns] for x in left_columns]


def coordinate_names(shape: LayerSizes, coordinates: CoordinateSystem) -> tuple[str, ...]:
    """Return the names of the function coordinates, without their images."""
    check_coordinates(shape, coordinates)
    if coordinates == "reduced":
        return tuple(map(reduced_name, indices(shape)))
    columns, tokens = range(shape.d), range(shape.t)
    names = []
    for k, j in product(range(shape.d_out), tokens):
        # Terms with p and q exchanged, and for u = j with i too, have the same monomial.
        terms = product(tokens, columns, columns, columns)
        monomials = {_monomial(u, p, q, i, j) for u, p, q, i in terms}
        names += [_full_name(k, j, monomial) for monomial in sorted(monomials)]
    return tuple(names)


def _monomial(u: int, p: int, q: int, i: int, j: int) -> InputMonomial:
    """Return the entries of X in the term of A_pi V_kq for the tokens u and j."""
    return tuple(sorted([(p, u), (q, u), (i, j)]))


def _full_name(k: int, j: int, monomial: InputMonomial) -> str:
    name = "_".join(f"{p + 1}_{u + 1}" for p, u in monomial)
    return f"f_{k + 1}_{j + 1}_{name}"


def name_in(index: Index, coordinates: CoordinateSystem) -> str:
    """Return the name of a reduced coordinate, in these coordinates; t ≥ 2.

    The full one that has the same value takes x from the first token, y from the second.
    """
    if coordinates == "reduced":
        return reduced_name(index)
    k, i, p, q = index
    return _full_name(k, 0, _monomial(1, p, q, i, 0))


def entries(name: str, rows: int, columns: int) -> tuple[str, ...]:
    """Return the names of the entries of a matrix, row by row."""
    return tuple(f"{name}_{i + 1}_{j + 1}" for i, j in product(range(rows), range(columns)))


def check_coordinates(shape: LayerSizes, coordinates: CoordinateSystem) -> None:
    """Raise TooLargeError if there are more coordinates than can be stored."""
    count = coordinate_count(shape, coordinates)
    if count > MAX_STORED_COORDINATES:
        advice = "take smaller numbers, or ask for its dimension"
        raise _too_large(f"has {count} coordinates", MAX_STORED_COORDINATES, advice)


def _too_large(what: str, most: int, advice: str) -> TooLargeError:
    return TooLargeError(f"this case {what}; at most {most} can be stored: {advice}")


def _full_images(
    shape: LayerSizes, A: MatrixOfPolynomials, V: MatrixOfPolynomials
) -> dict[str, PolyElement]:
    """Expand Σ_u (x_uᵀ A x_j)(V x_u) by the definition of the model."""
    columns, tokens = range(shape.d), range(shape.t)
    values: dict[str, PolyElement] = {}
    for k, j in product(range(shape.d_out), tokens):
        terms: dict[InputMonomial, PolyElement] = defaultdict(int)
        for u, p, q, i in check_deadline_in(product(tokens, columns, columns, columns)):
            terms[_monomial(u, p, q, i, j)] += A[p][i] * V[k][q]
        for monomial in sorted(terms):
            values[_full_name(k, j, monomial)] = terms[monomial]
    return values


def _rank_relations(A: MatrixOfPolynomials, a: int) -> tuple[PolyElement, ...]:
    """Return the (a+1)-minors of A: its rank is at most a.

    Over every field they generate a prime ideal: Bruns, Vetter, *Determinantal Rings*, section 2.
    """
    if a >= len(A):
        return ()
    choices = list(combinations(range(len(A)), a + 1))
    domain = A[0][0].ring.to_domain()
    minors = []
    for rows, columns in check_deadline_in(product(choices, repeat=2)):
        block = [[A[p][i] for i in columns] for p in rows]
        minors.append(DomainMatrix(block, (a + 1, a + 1), domain).det())
    return tuple(minors)


def free_parametrization(shape: LayerSizes, coordinates: CoordinateSystem) -> PolynomialMap:
    """Return the map from weights without relations, as few as there can be.

    A = KᵀQ is any matrix of rank ≤ α where K and Q have α rows: more rows change no function.
    """
    return _free_parametrization(
        LayerSizes(shape.d, shape.d_out, shape.alpha, shape.t), coordinates
    )


@lru_cache(maxsize=64)
def _free_parametrization(shape: LayerSizes, coordinates: CoordinateSystem) -> PolynomialMap:
    weights: Parametrization = "attention" if shape.a == shape.d else "factored"
    return parametrization(shape, coordinates, weights)


def multigraded_attention(
    shape: LayerSizes, coordinates: CoordinateSystem | None = None
) -> MultigradedMap:
    """Return the free parametrization with its grading and symmetries."""
    system = coordinates or shape.default_coordinates
    free = free_parametrization(shape, system)
    # Full coordinates have no name from which a multidegree could be read.
    degrees = grading(shape, free) if system == "reduced" else None
    return multigraded(free, symmetries(shape, free), degrees)


def grading(shape: LayerSizes, free: PolynomialMap) -> tuple[DegreeVector, ...]:
    """Return the degrees in Z^d' × Z^d × Z^d; c_k_i_p_q has degree (e_k, e_i, e_p + e_q).

    It is the grading by V_k_p of degree (e_k, 0, e_p), A_p_i of (0, e_i, e_p), Q_e_i of (0, e_i,
    0), and K_e_p of (0, 0, e_p).
    """
    # The rows e of Q and K, which no coordinate names, have no degree.
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
    """Return generators of S_d' × S_d × S_d, as permutations of the weights.

    They permute the outputs k, the columns i of A, and p, q together. Permuting columns alone is a
    symmetry of reduced coordinates only; for full coordinates it is left out.
    """
    roles = ["i", "p"]
    if not free.coordinates[0].startswith("c_"):
        # The entries X_iu and X_pu of a token are moved together.
        roles = ["ip"]
    moves = [("k", s) for s in range(1, shape.d_out)]
    moves += [(role, s) for s, role in product(range(1, shape.d), roles)]
    found = []
    for role, s in moves:
        found.append(
            {name: renamed(name, role, s) for name in check_deadline_in(free.source.variables)}
        )
    return tuple(found)


def renamed(name: str, roles: str, s: int) -> str:
    """Return the name after s and s + 1 are exchanged among its indices of these kinds.

    The name is that of a weight or of a reduced coordinate.
    """
    letter, *numbers = name.split("_")
    exchange = {str(s): str(s + 1), str(s + 1): str(s)}
    moved = []
    for role, number in zip(ROLES[letter], numbers, strict=True):
        image = number
        if role in roles:
            image = exchange.get(number, number)
        moved.append(image)
    # The name c_k_i_p_q has p ≤ q, so the last two indices are sorted.
    return "_".join([letter, *moved[:2], *sorted(moved[2:], key=int)])


def lower_bounds(shape: LayerSizes, characteristic: int) -> Iterator[MethodValue]:
    """Yield the dimension by the case with two indices and one output, if that decides it.

    Let U be a matrix with two rows and pairwise independent columns, A = UᵀCU, and all rows of V
    equal to mᵀU. On any two indices the function is then that of C and m after a linear change of
    variables. If the kernel of the differential at C and m is as small as it can be, then so is
    the kernel at A and V, and at generic weights of every size. The proof is in
    ``docs/mathematics.md#theorem-one-block``.
    """
    field = CoefficientField(characteristic) if characteristic else QQ
    block = LayerSizes(min(shape.d, 2), 1, t=min(shape.t, 2))
    rank = min(shape.alpha, block.d)
    # The kernel always holds the rescaling (C, −m), and for one token the alternating matrices,
    # whose quadratic form is zero.
    kernel = 1
    if block.t == 1:
        kernel += comb(block.d, 2)
    enough = block.d**2 + block.d - kernel
    source = parametrization(block, block.default_coordinates, "attention")
    for C, m in _points(block.d, rank, characteristic or _MAX_RANDOM_INTEGER):
        if not _has_form(C, characteristic):
            continue
        entries_of_C = [entry for row in C for entry in row]
        if differential_rank(source, (*entries_of_C, *m), field=field) == enough:
            case = f"(d, d', a) = ({block.d}, 1, {rank})"
            reason = f"rank {enough} of the case {case}: one block decides"
            value = Bounds.at_least(weights_dimension(shape) - 1, reason)
            yield MethodValue(f"block over {field}", value)
            return


def _points(size: int, rank: int, bound: int) -> Iterator[tuple[IntegerMatrix, tuple[int, ...]]]:
    """Yield random matrices C of at most this rank, and rows m, of integers below ``bound``."""
    random = Random(_POINT_SEED)

    def row() -> tuple[int, ...]:
        return tuple(random.randrange(bound) for _ in range(size))

    for _ in range(MAX_RANDOM_POINTS):
        # C = KᵀQ has rank at most the number of rows of K and Q.
        K = [row() for _ in range(rank)]
        Q = [row() for _ in range(rank)]
        Q_columns = list(zip(*Q, strict=True))
        C = [tuple(sum(map(mul, k, q)) for q in Q_columns) for k in zip(*K, strict=True)]
        yield tuple(C), row()


def _has_form(C: IntegerMatrix, characteristic: int) -> bool:
    """Whether the quadratic form of C is not zero."""
    for i, j in combinations_with_replacement(range(len(C)), 2):
        value = C[i][j]
        if i < j:
            value += C[j][i]
        if characteristic:
            value %= characteristic
        if value:
            return True
    return False
