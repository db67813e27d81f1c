"""The parametrization of attention, its grading and symmetries, and its rank from one block.

Weights are A and V (``attention``), with the (a+1)-minors of A as relations for a < d, or Q, K and
V (``factored``), without relations. The *free* parametrization has no relations and as few weights
as possible: A and V for α = d, where A is any matrix, and else Q, K and V with α rows in Q and K,
as more give no other function.

What cannot be stored, or takes too long, is a TooLargeError. (Notation: the docstring of
families/attention.)
"""

from collections.abc import Iterable, Iterator
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
from m2bridge.families.attention.orbits.coordinates import (
    check_coordinates,
    entry_names,
    images,
    too_large,
)
from m2bridge.families.attention.orbits.orbits import Orbit
from m2bridge.families.attention.sizes import (
    CoordinateSystem,
    LayerSizes,
    Parametrization,
    weights_dimension,
)
from m2bridge.implicitization.multigraded_map import MultigradedMap, multigraded
from m2bridge.limits import check_deadline_in
from m2bridge.maps.model import DegreeVector, MethodValue
from m2bridge.results.known import Bounds
from m2bridge.statements.statement import IntegerMatrix

MatrixOfPolynomials = list[list[PolyElement]]
MAX_STORED_PARAMETERS = 5_000
"""The largest number of weights: SymPy's polynomials have an exponent for each of them."""
MAX_RELATION_MINORS = 5_000
"""The largest number of minors, which are expanded one after the other."""

ROLES = {"V": "kp", "A": "pi", "Q": "ei", "K": "ep", "c": "kipp"}
"""The kinds of the indices of a weight or of a reduced coordinate, by the letter of its name: k of
outputs, p of variables y_p, and i of columns of A.
"""


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
        raise too_large(
            f"has {weight_count} weights", MAX_STORED_PARAMETERS, "take smaller numbers"
        )
    minor_count = comb(shape.d, shape.a + 1) ** 2  # none for a ≥ d
    if weights == "attention" and minor_count > MAX_RELATION_MINORS:
        raise too_large(
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
        # the (a+1)-minors, which generate a prime ideal over every field (Bruns, Vetter,
        # *Determinantal Rings*, section 2); none for a ≥ d
        size = shape.a + 1
        choices = list(combinations(range(shape.d), size))
        domain = source.sympy_ring.to_domain()
        minors = []
        for rows, columns in check_deadline_in(product(choices, repeat=2)):
            block = [[A[p][i] for i in columns] for p in rows]
            minors.append(DomainMatrix(block, (size, size), domain).det())
        relations = tuple(minors)
    else:
        A = _transposed_product(matrix["K"], matrix["Q"])
    values = images(shape, A, matrix["V"], coordinates)
    # minors of a matrix of variables, or no relations, generate a prime ideal
    return PolynomialMap(source, tuple(values), tuple(values.values()), relations, prime=True)


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
    # entries are all residues modulo a prime; over QQ they are integers below 1000: products stay
    # short, and points are hardly special
    bound_of_entries = characteristic or 1000
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
    random = Random(20240817)

    def row() -> list[int]:
        return [random.randrange(bound) for _ in range(size)]

    for _ in range(100):  # over small fields many are special
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
