"""The parametrization of attention, its grading and its symmetries; and its rank at all sizes, from
one block.

The reduced function coordinate c_{k,i,{p,q}} is the coefficient of x_i y_p y_q in output k, for t ≥
2. It is A_pi V_kq + A_qi V_kp for p < q, and A_pi V_kp for p = q. Indices begin with 0, those in
names with 1.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, combinations, product
from math import comb
from operator import mul
from random import Random
from typing import Any

from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap, differential_rank
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import TooLargeError
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.shape import (
    Coordinates,
    Shape,
    Weights,
    coordinate_count,
    weights_dimension,
)
from m2bridge.implicitization.multigraded_map import MultigradedMap, multigraded
from m2bridge.limits import watched
from m2bridge.maps.model import MethodValue, Vector
from m2bridge.maps.statement import IntegerMatrix
from m2bridge.results.known import Known

Index = tuple[int, int, int, int]
"""(k, i, p, q) with p ≤ q."""

Sparse = Mapping[tuple[int, int], int]
"""The nonzero entries of a matrix."""

Function = Counter[Index]
"""The coordinates of a function; those left out are zero."""


def indices(shape: Shape) -> Iterator[Index]:
    """The indices of all reduced coordinates, in the order of the parametrization."""
    columns = range(shape.d)
    return (
        (k, i, p, q)
        for k, i, p, q in product(range(shape.d_out), columns, columns, columns)
        if p <= q
    )


def reduced_name(index: Index) -> str:
    """``c_1_1_1_2`` for (0, 0, 0, 1)."""
    k, i, p, q = index
    return f"c_{k + 1}_{i + 1}_{p + 1}_{q + 1}"


def coordinate(index: Index, A: Callable[[int, int], Any], V: Callable[[int, int], Any]) -> Any:
    """One coordinate of the function of weights A and V, as functions of row and column."""
    k, i, p, q = index
    return V(k, p) * A(p, i) if p == q else V(k, p) * A(q, i) + V(k, q) * A(p, i)


def sparse(matrix: IntegerMatrix) -> dict[tuple[int, int], int]:
    """The nonzero entries of a matrix."""
    return {(i, j): entry for i, row in enumerate(matrix) for j, entry in enumerate(row) if entry}


def function(A: Sparse, V: Sparse) -> Function:
    """All coordinates of the function of sparse weights: each product A_pi V_kq belongs to one of
    them.
    """
    values: Function = Counter()
    for ((p, i), a), ((k, q), v) in product(A.items(), V.items()):
        values[(k, i, p, q) if p <= q else (k, i, q, p)] += a * v
    return values


Matrix = list[list[PolyElement]]
Monomial = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""A monomial in the entries X_pu: the pairs (p, u), sorted."""

MAX_COORDINATES = 20_000
MAX_PARAMETERS = 5_000
"""SymPy's polynomials have one exponent for each variable, and its rings one polynomial."""
MAX_MINORS = 5_000


def parametrization(shape: Shape, coordinates: Coordinates, weights: Weights) -> PolynomialMap:
    """The map from weights to function coordinates, both as the model explains them."""
    _check_size(shape, coordinates, weights)
    rows = ({"A": shape.d} if weights == "attention" else {"Q": shape.a, "K": shape.a}) | {
        "V": shape.d_out
    }
    names = (entries(name, count, shape.d) for name, count in rows.items())
    source = PolynomialRing(QQ, tuple(chain.from_iterable(names)))
    *factors, V = _filled(source, *((count, shape.d) for count in rows.values()))
    A = factors[0] if weights == "attention" else _transposed_product(factors[1], factors[0])
    values = images(shape, A, V, coordinates)
    relations = _rank_relations(A, shape.a) if weights == "attention" else ()
    return PolynomialMap(source, tuple(values), tuple(values.values()), relations, prime=True)


def images(shape: Shape, A: Matrix, V: Matrix, coordinates: Coordinates) -> dict[str, PolyElement]:
    """The function coordinates of weights (A, V) with entries in any polynomial ring, by name."""
    if coordinates == "full":
        return _full_images(shape, A, V)
    return {
        reduced_name(index): coordinate(index, lambda p, i: A[p][i], lambda k, q: V[k][q])
        for index in watched(indices(shape))
    }


def orbit_closure_map(
    orbit: Orbit, shape: Shape, coordinates: Coordinates | None = None
) -> PolynomialMap:
    """A parametrization of the Zariski closure of the orbit, which is irreducible.

    Parameters of the source are vectors ``b`` spanning L + U, ``q`` and ``h``: A = Σ_{p ≤ r} b_p
    q_pᵀ and V = Σ_{k ≤ s} h_k b_{σ(k)}ᵀ, with the first m of the b shared between L and U.
    """
    d, span = shape.d, orbit.span
    names = entries("b", span, d) + entries("q", orbit.r, d) + entries("h", orbit.s, shape.d_out)
    source = PolynomialRing(QQ, names)
    b, q, h = _filled(source, (span, d), (orbit.r, d), (orbit.s, shape.d_out))
    shared = [b[k if k < orbit.m else orbit.r + k - orbit.m] for k in range(orbit.s)]
    A, V = _transposed_product(b[: orbit.r], q), _transposed_product(h, shared)
    named = images(shape, A, V, coordinates or shape.default_coordinates)
    return PolynomialMap(source, tuple(named), tuple(named.values()))


def _filled(source: PolynomialRing, *sizes: tuple[int, int]) -> list[Matrix]:
    """Matrices of these numbers of rows and columns, whose entries are the variables, one after the
    other.
    """
    generators = iter(source.sympy_ring.gens)
    return [
        [[next(generators) for _ in range(columns)] for _ in range(rows)] for rows, columns in sizes
    ]


def _transposed_product(left: Matrix, right: Matrix) -> Matrix:
    """The transpose of the one matrix times the other, which have a row at least."""
    columns = [list(zip(*matrix, strict=True)) for matrix in (left, right)]
    return [
        [sum(map(mul, x[1:], y[1:]), x[0] * y[0]) for y in columns[1]] for x in watched(columns[0])
    ]


def coordinate_names(shape: Shape, coordinates: Coordinates) -> tuple[str, ...]:
    """The names of the function coordinates, without their images."""
    check_coordinates(shape, coordinates)
    columns, tokens = range(shape.d), range(shape.t)
    if coordinates == "reduced":
        return tuple(map(reduced_name, indices(shape)))
    return tuple(
        _full_name(k, j, monomial)
        for k, j in product(range(shape.d_out), tokens)
        for monomial in sorted(
            {_monomial(u, p, q, i, j) for u, p, q, i in product(tokens, columns, columns, columns)}
        )
    )


def _monomial(u: int, p: int, q: int, i: int, j: int) -> Monomial:
    """The entries of X in the term of A_pi V_kq for the tokens u and j."""
    first, second, third = sorted([(p, u), (q, u), (i, j)])
    return first, second, third


def _full_name(k: int, j: int, monomial: Monomial) -> str:
    name = "_".join(f"{p + 1}_{u + 1}" for p, u in monomial)
    return f"f_{k + 1}_{j + 1}_{name}"


def name_in(index: Index, coordinates: Coordinates) -> str:
    """A reduced coordinate, or the full one that is the same for t ≥ 2: x from the first token, y
    from the second.
    """
    k, i, p, q = index
    return (
        reduced_name(index)
        if coordinates == "reduced"
        else _full_name(k, 0, _monomial(1, p, q, i, 0))
    )


def entries(name: str, rows: int, columns: int) -> tuple[str, ...]:
    """The names of the entries of a matrix, row by row."""
    return tuple(f"{name}_{i + 1}_{j + 1}" for i in range(rows) for j in range(columns))


def check_coordinates(shape: Shape, coordinates: Coordinates) -> None:
    """Raise TooLargeError if there are more coordinates than can be stored."""
    count = coordinate_count(shape, coordinates)
    _check_count(
        f"has {count} coordinates",
        count,
        MAX_COORDINATES,
        "take smaller numbers, or ask for its dimension",
    )


def _check_size(shape: Shape, coordinates: Coordinates, weights: Weights) -> None:
    check_coordinates(shape, coordinates)
    count = shape.d * ((shape.d if weights == "attention" else 2 * shape.a) + shape.d_out)
    _check_count(f"has {count} weights", count, MAX_PARAMETERS, "take smaller numbers")
    minors = comb(shape.d, shape.a + 1) ** 2 if weights == "attention" else 0
    _check_count(f"needs {minors} minors of A", minors, MAX_MINORS, "take the weights Q, K and V")


def _check_count(what: str, count: int, most: int, advice: str) -> None:
    if count > most:
        raise TooLargeError(f"this case {what}; at most {most} can be stored: {advice}")


def _full_images(shape: Shape, A: Matrix, V: Matrix) -> dict[str, PolyElement]:
    """Expand Σ_u (x_uᵀ A x_j)(V x_u) by the definition of the model."""
    columns, tokens = range(shape.d), range(shape.t)
    values: dict[str, PolyElement] = {}
    for k, j in product(range(shape.d_out), tokens):
        terms: defaultdict[Monomial, list[PolyElement]] = defaultdict(list)
        for u, p, q, i in watched(product(tokens, columns, columns, columns)):
            terms[_monomial(u, p, q, i, j)].append(A[p][i] * V[k][q])
        for monomial, summands in watched(sorted(terms.items())):
            values[_full_name(k, j, monomial)] = sum(summands[1:], summands[0])
    return values


def _rank_relations(A: Matrix, a: int) -> tuple[PolyElement, ...]:
    """The (a+1)-minors of A: its rank is at most a. Over every field they generate a prime ideal.

    Source: Bruns, Vetter, *Determinantal Rings*, section 2.
    """
    if a >= len(A):
        return ()
    choices, size, domain = (
        list(combinations(range(len(A)), a + 1)),
        (a + 1, a + 1),
        A[0][0].ring.to_domain(),
    )
    return tuple(
        DomainMatrix([[A[p][i] for i in columns] for p in rows], size, domain).det()
        for rows, columns in watched(product(choices, repeat=2))
    )


def free_parametrization(shape: Shape, coordinates: Coordinates) -> PolynomialMap:
    """The map from weights without relations, as few as there can be: A = KᵀQ is any matrix of rank
    ≤ α for a = α.
    """
    return _free_parametrization(Shape(shape.d, shape.d_out, shape.alpha, shape.t), coordinates)


@lru_cache(maxsize=64)
def _free_parametrization(shape: Shape, coordinates: Coordinates) -> PolynomialMap:
    return parametrization(shape, coordinates, "attention" if shape.a == shape.d else "factored")


def multigraded_attention(shape: Shape, coordinates: Coordinates | None = None) -> MultigradedMap:
    """The free parametrization with its grading and symmetries."""
    system = coordinates or shape.default_coordinates
    free = free_parametrization(shape, system)
    return multigraded(
        free, symmetries(shape, free), grading(shape, free) if system == "reduced" else None
    )


ROLES = {"V": "kp", "A": "pi", "Q": "ei", "K": "ep", "c": "kipp"}
"""The kinds of the indices of a weight, or of a reduced coordinate; V_k_p, for example."""


def grading(shape: Shape, free: PolynomialMap) -> tuple[Vector, ...]:
    """The grading by Z^d' × Z^d × Z^d; the coordinate c_k_i_p_q has degree (e_k, e_i, e_p + e_q).

    It is that of V_k_p of degree (e_k, 0, e_p), A_p_i of (0, e_i, e_p), Q_e_i of (0, e_i, 0), and
    K_e_p of (0, 0, e_p).
    """
    first = {"k": 0, "i": shape.d_out, "p": shape.d_out + shape.d}

    def degree(name: str) -> Vector:
        degree = [0] * (shape.d_out + 2 * shape.d)
        letter, *numbers = name.split("_")
        for role, index in zip(ROLES[letter], numbers, strict=True):
            if role in first:
                degree[first[role] + int(index) - 1] += 1
        return tuple(degree)

    return tuple(degree(name) for name in watched(free.coordinates))


def symmetries(shape: Shape, free: PolynomialMap) -> tuple[dict[str, str], ...]:
    """Generators of S_d' × S_d × S_d: permutations of the outputs k, of the columns i of A, and of
    p, q together.

    Permuting columns alone is a symmetry of reduced coordinates only; for full coordinates it is
    left out.
    """
    roles = ("i", "p") if free.coordinates[0].startswith("c_") else ("ip",)
    moves = [("k", s) for s in range(1, shape.d_out)] + [
        (role, s) for s in range(1, shape.d) for role in roles
    ]
    return tuple(
        {name: renamed(name, *move) for name in watched(free.source.variables)} for move in moves
    )


def renamed(name: str, roles: str, s: int) -> str:
    """The name of a weight or reduced coordinate after s and s + 1 were exchanged among its indices
    of these kinds.
    """
    letter, *numbers = name.split("_")
    exchange = {str(s): str(s + 1), str(s + 1): str(s)}
    moved = [
        exchange.get(n, n) if role in roles else n
        for role, n in zip(ROLES[letter], numbers, strict=True)
    ]
    return "_".join([letter, *moved[:2], *sorted(moved[2:], key=int)])


_SEED = 20240817
_SIZE = 1000
ATTEMPTS = 100
"""Points that are tried; over small fields many are special."""


def lower_bounds(shape: Shape, characteristic: int) -> Iterator[MethodValue]:
    """The dimension from the case with two indices and one output, if the kernel there is as small
    as it can be.

    At A = UᵀCU and V with all rows mᵀU, for a matrix U of two rows with pairwise independent
    columns, the function looks the same on every two indices: as that of C and m. If the kernel of
    the differential there is only what it always is, so it is at generic weights of every size. The
    proof is in ``docs/mathematics.md#theorem-one-block``.
    """
    field = CoefficientField(characteristic) if characteristic else QQ
    block = Shape(min(shape.d, 2), 1, t=min(shape.t, 2))
    always = 1 + (comb(block.d, 2) if block.t == 1 else 0)
    enough = block.d**2 + block.d - always
    source = parametrization(block, block.default_coordinates, "attention")
    for C, m in _points(block.d, min(shape.alpha, block.d), characteristic or _SIZE):
        if (
            _has_form(C, characteristic)
            and differential_rank(source, (*sum(C, ()), *m), field=field) == enough
        ):
            reason = (
                f"rank {enough} of the case (d, d', a) = ({block.d}, 1,"
                f" {min(shape.alpha, block.d)})"
            )
            yield MethodValue(
                f"block over {field}",
                Known.at_least(weights_dimension(shape) - 1, f"{reason}: one block decides"),
            )
            return


def _points(
    size: int, rank: int, bound: int
) -> Iterator[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]]:
    """Random matrices C of at most this rank, and rows m, of integers below ``bound``."""
    random = Random(_SEED)

    def row() -> tuple[int, ...]:
        return tuple(random.randrange(bound) for _ in range(size))

    for _ in range(ATTEMPTS):
        K, Q = ([row() for _ in range(rank)] for _ in range(2))
        yield (
            tuple(
                tuple(sum(map(mul, k, q)) for q in zip(*Q, strict=True))
                for k in zip(*K, strict=True)
            ),
            row(),
        )


def _has_form(C: tuple[tuple[int, ...], ...], characteristic: int) -> bool:
    """Whether the quadratic form of C is not zero."""
    pairs = ((i, j) for i, j in product(range(len(C)), repeat=2) if i <= j)
    sums = (C[i][j] + (C[j][i] if i < j else 0) for i, j in pairs)
    return any(value % characteristic if characteristic else value for value in sums)
