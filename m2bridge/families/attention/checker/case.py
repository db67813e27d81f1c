"""Single-layer attention from its definition: sizes, functions, orbits, and three identities.

Rests on: for t ≥ 2 there are finitely many orbits of functions, which ranks tell apart.
Proved in: docs/mathematics.md (proposition-orbits, proposition-products, proposition-boundary).
Computed here: representatives, dimensions of orbits, the identities, coordinates of generic
weights.
On trust: the lemmas that a certificate lists, such as that ranks determine the closures of orbits.

Notation. The sizes of a case are d, d' (``d_out``), a and t, and α = min(a, d).

* The weights (A, V) are a d × d matrix A and a d' × d matrix V, here sparse: {(row, column):
  entry}. D_α is the set of the A of rank at most α, P(V) the projective space of all V, and
  P(D_α) × P(V) the source. rk is the rank.
* l_i(y) = Σ_p A_pi y_p is column i of A and v_k(y) = Σ_q V_kq y_q is row k of V, as linear forms in
  y_1, …, y_d. The coordinate c_{k,i,p,q}, p ≤ q, is the coefficient of y_p y_q in l_i v_k.
* f is the map (A, V) ↦ c, which is bilinear: ``function``. A function is such a c, as for t ≥ 2 it
  is determined by it. "The map" is f from the source to the projective space of all c, and "the
  closure" its image; its dimension is the one of the cone over it, unless "projective" is said.
* The fibre over a function is the set of its weights up to (λA, V/λ), with its equations: a scheme.
  Its length counts points with multiplicities, so it is reduced if it has as many points.
* An orbit is (r, s, m) = (rk A, rk V, dim L ∩ U), where the l_i span L and the v_k span U: the
  functions of all such weights. Its representative is the function of ``representative``.
* z_q is V_1q, or by how much it grows from a point of the fibre; e_p is a unit vector. k qᵀ and
  h vᵀ are A and V of rank one: then k and v are vectors, and no index.

Indices begin with 0 in the code, and with 1 in comments, as in docs/.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, islice, permutations, product
from math import comb
from typing import Any

from m2bridge.checker.algebra import ring
from m2bridge.errors import CertificateError

Orbit = tuple[int, int, int]  # (r, s, m): rk A, rk V and dim L ∩ U, as in ``orbits``
Sparse = Mapping[tuple[int, int], Any]  # the entries of a matrix, by row and column
Pair = tuple[Sparse, Sparse]  # A and V
Function = dict[tuple[int, ...], Any]  # c_{k,i,p,q} by (k, i, p, q), p ≤ q; zeros are left out


@dataclass(frozen=True, slots=True)
class Case:
    """The functions X ↦ V X Xᵀ A X for X of size d × t, V of size d' × d, and A d × d, rk A ≤ α;
    ``a`` is the bound for rk A as it was entered, perhaps above d.
    """

    d: int
    d_out: int
    a: int
    t: int

    @property
    def alpha(self) -> int:
        """The largest rank of A."""
        return min(self.a, self.d)

    @property
    def coordinate_count(self) -> int:
        """The number of the c_{k,i,p,q}; for t = 1 of the coefficients of d' cubic forms."""
        if self.t == 1:
            return self.d_out * comb(self.d + 2, 3)
        return self.d_out * self.d * comb(self.d + 1, 2)

    @property
    def source_dimension(self) -> int:
        """The dimension of D_α and all V together: D_α has codimension (d − α)² in the matrices."""
        return self.alpha * (2 * self.d - self.alpha) + self.d * self.d_out

    @property
    def projective_dimension(self) -> int:
        """The dimension of the source, A and V up to factors, and, for t ≥ 2, of the closure."""
        return self.source_dimension - 2

    @property
    def is_of_symmetric_matrices(self) -> bool:
        """Whether α = d' = 1 < d: A = k qᵀ, V = vᵀ, and functions are q ⊗ c, c = k·v symmetric."""
        return self.alpha == self.d_out == 1 < self.d

    def with_fewest_weights(self) -> "Case":
        """The case with a ≤ d and t ≤ 2 whose functions have the same coordinates c, as two tokens
        show all l_i v_k (docs/mathematics.md#proposition-products).
        """
        return Case(self.d, self.d_out, self.alpha, min(self.t, 2))


def name(case: Mapping[str, Any]) -> str:
    """The name of a case, such as ``d3-dout2-a2-t2``; CertificateError for other keys or values."""
    numbers = [case.get(key) for key in ("d", "d_out", "a", "t")]
    # Python counts a bool as an int, but it is not a size
    are_numbers = all(type(n) is int and 0 < n < 10**9 for n in numbers)
    if len(case) != 4 or not are_numbers:
        raise CertificateError("integers d, d_out, a, t from 1 to 999999999")
    return "d{}-dout{}-a{}-t{}".format(*numbers)


def function(*pairs: Pair) -> Function:
    """The sum of f(A, V) over pairs (A, V): c_{k,i,p,p} = A_pi V_kp, and c_{k,i,p,q} = A_pi V_kq +
    A_qi V_kp for p < q. Entries are integers, or polynomials of one ring.

    As f is bilinear, f(A', V) + f(A, V') is its derivative at (A, V) in the direction (A', V').
    """
    coordinates: Function = {}
    for A, V in pairs:
        for (p, i), a in A.items():
            for (k, q), v in V.items():
                index = (k, i, p, q)
                if p > q:
                    index = (k, i, q, p)
                coordinates[index] = coordinates.get(index, 0) + a * v
    return drop_zeros(coordinates)


def drop_zeros(entries: Mapping[Any, Any]) -> dict[Any, Any]:
    """The entries of a matrix or a function that are not zero, keyed by their indices."""
    return {index: x for index, x in entries.items() if x}


# Sparse matrices.


def multiply(left: Sparse, right: Sparse) -> Sparse:
    """The product of two sparse matrices, of which zero entries are left out."""
    # {row: [(column, entry), …]}
    rows_of_right: dict[int, list[tuple[int, Any]]] = {}
    for (j, column), y in right.items():
        rows_of_right.setdefault(j, []).append((column, y))
    product: dict[tuple[int, int], Any] = {}
    for (i, j), x in left.items():
        for column, y in rows_of_right.get(j, ()):
            product[i, column] = product.get((i, column), 0) + x * y
    return drop_zeros(product)


def add(first: Sparse, second: Sparse) -> Sparse:
    """The sum of two matrices."""
    total = dict(first)
    for place, x in second.items():
        total[place] = total.get(place, 0) + x
    return drop_zeros(total)


def transpose(matrix: Sparse) -> Sparse:
    """The transpose of a matrix."""
    return {(j, i): x for (i, j), x in matrix.items()}


def identity(size: int) -> Sparse:
    """The matrix with ones at (i, i) for i < size, and zeros elsewhere, of any larger size."""
    return {(i, i): 1 for i in range(size)}


def unit_factors(rank_m: int, rank_n: int, common: int) -> tuple[Sparse, Sparse]:
    """Matrices M and N with different unit vectors as columns, of which the first ``common`` are
    the same, so that rk MᵀN = ``common``.
    """
    N: dict[tuple[int, int], int] = {}
    for j in range(rank_n):
        row = j if j < common else rank_m + j - common
        N[row, j] = 1
    return identity(rank_m), N


# Orbits.


def orbits(case: Case) -> list[Orbit]:
    """All orbits (r, s, m) of nonzero functions, in increasing order: r ≤ α and s from 1 on, and
    each m for which L + U fits into d dimensions (docs/mathematics.md#proposition-orbits).
    """
    triples: list[Orbit] = []
    for r in range(1, case.alpha + 1):
        for s in range(1, min(case.d, case.d_out) + 1):
            least = max(0, r + s - case.d)  # dim (L + U) = r + s − m ≤ d
            triples.extend((r, s, m) for m in range(least, min(r, s) + 1))
    return triples


def orbit_dimension(orbit: Orbit, case: Case) -> int:
    """The dimension of an orbit of functions: the dimension of its weights less one, for (λA, V/λ).

    L ∩ U is chosen, then L and U that contain it, in (r − m)(d − r) and (s − m)(d − s) dimensions;
    then A with columns in L and V with rows in U (docs/mathematics.md#checker-fibres).
    """
    r, s, m = orbit
    d = case.d
    subspaces = m * (d - m) + (r - m) * (d - r) + (s - m) * (d - s)
    return subspaces + r * d + s * case.d_out - 1


def representative(orbit: Orbit) -> Pair:
    """Weights (A, V) over an orbit (r, s, m), with A_11 = V_11 = 1.

    A = diag(1 … 1, 0 … 0), so L is spanned by e_1, …, e_r. V has the rows e_1, …, e_m in L, and
    e_{r+1}, …, e_{r+s−m} outside it. For m = 0 the first row is e_1 + e_{r+1} instead, so that V_11
    is 1; L ∩ U is still 0.
    """
    r, s, m = orbit
    A = {(p, p): 1 for p in range(r)}
    V = {(k, k): 1 for k in range(m)}
    for k in range(m, s):
        V[k, r + k - m] = 1
    V[0, 0] = 1  # it is 1 already if m ≥ 1
    return A, V


def exchange_vectors(pair: Pair) -> Pair:
    """For A = k qᵀ and V = h vᵀ of rank one, with q = h = e_1, the weights v qᵀ and h kᵀ."""
    A, V = pair  # with entries in the first column of A, which is k, and the first row of V, vᵀ
    exchanged_a = {}
    exchanged_v = {}
    for (_, p), v_p in V.items():
        exchanged_a[p, 0] = v_p
    for (p, _), k_p in A.items():
        exchanged_v[0, p] = k_p
    return exchanged_a, exchanged_v


def matrices(weights: Pair, case: Case) -> dict[str, list[list[Any]]]:
    """The weights as certificates have them: A and V as lists of rows, with their zeros."""
    A, V = weights
    columns = range(case.d)
    return {
        "A": [[A.get((p, i), 0) for i in columns] for p in range(case.d)],
        "V": [[V.get((k, q), 0) for q in columns] for k in range(case.d_out)],
    }


# Identities that hold for all sizes.


@cache
def base_locus_is_empty() -> bool:
    """Whether a product l v of linear forms is zero only for l = 0 or v = 0: so f is a morphism.

    x = l_p v_q is a root of T² − c_pq T + c_pp c_qq, where c_pq = l_p v_q + l_q v_p and c_pp = l_p
    v_p are the coefficients of l v; this identity is what is computed. If they are all zero, so is
    l_p v_q.
    """
    l_p, l_q, v_p, v_q = ring(4).gens()
    x = l_p * v_q
    c_pq = l_p * v_q + l_q * v_p
    return bool(x**2 - c_pq * x + (l_p * v_p) * (l_q * v_q) == 0)


@cache
def real_family_has_no_real_weights() -> bool:
    """Whether real functions exist that have no real weights and tend to the orbit (1, 1, 1).

    The function with l_1 = y_1 + iεy_2 and v_1 = y_1 − iεy_2, and all other l_i and v_k zero, is
    real if c_{1,1,1,2} = 0 and c_{1,1,2,2} = ε², which is what is computed. For weights of it with
    A_11 = V_11 = 1 these are A_21 + V_12 and A_21 V_12, so V_12 is a root of T² + ε²
    (docs/mathematics.md#proposition-boundary). In the code ``i`` is a variable: two polynomials are
    equal for i² = −1 if their difference is a multiple of i² + 1.
    """
    i, epsilon = ring(2).gens()
    coefficient_of_y1_y2 = i * epsilon + (-i * epsilon)
    coefficient_of_y2_y2 = (i * epsilon) * (-i * epsilon)
    is_epsilon_squared = coefficient_of_y2_y2 - epsilon**2 == -(i**2 + 1) * epsilon**2
    return bool(coefficient_of_y1_y2 == 0 and is_epsilon_squared)


@cache
def products_determine_functions() -> bool:
    """Whether an output (xᵀAx)(v·x) + (yᵀAx)(v·y) is Σ c_{i,p,q} x_i (x_p x_q + y_p y_q).

    It is the output of two tokens at the token x, for one row v of V; so the c determine the
    functions, and are read off from these, as each x_i y_p y_q stands in one summand only. A term
    has three indices, so d = 3 decides for all d; each further token y has a summand of its own
    (docs/mathematics.md#proposition-products).
    """
    d = range(3)
    unknowns = ring(18).gens()  # 9 entries of A, and 3 each of the row of V, of x and of y
    A = {(p, i): unknowns[3 * p + i] for p in d for i in d}
    V = {(0, q): unknowns[9 + q] for q in d}
    x, y = unknowns[12:15], unknowns[15:18]
    by_definition = ring(18).constant(0)
    by_products = ring(18).constant(0)
    for token in (x, y):
        for p, i, q in product(d, d, d):
            by_definition += A[p, i] * token[p] * x[i] * V[0, q] * token[q]
        for (_, i, p, q), c in function((A, V)).items():
            by_products += c * x[i] * token[p] * token[q]
    return bool(by_definition == by_products)


# Functions of generic weights.


def images(
    rows: int, columns: int, variables: int, alpha: int, t: int = 2
) -> dict[tuple[int, ...], Any]:
    """The coordinates of generic weights, keyed by their indices: polynomials in the entries of V,
    ``rows`` × ``variables``, and A, ``variables`` × ``columns``.

    Columns of A after the first α are combinations of these, as on a dense part of the matrices of
    rank ≤ α. So a polynomial in the coordinates vanishes on the closure exactly if it is zero here.
    For t = 1 there is one token x, and the coordinate (k, p, q, r) with p ≤ q ≤ r is the
    coefficient of x_p x_q x_r in output k: the sum of A_pj V_kq over the different orders.
    """
    # generic V, and A of rank α: its columns after the first α are combinations of these
    alpha = min(alpha, columns)
    other_columns = columns - alpha
    count = rows * variables + variables * alpha + alpha * other_columns
    unknowns = iter(ring(count).gens())
    V = _matrix_of(unknowns, rows, variables)
    first_columns = _matrix_of(unknowns, variables, alpha)
    factors = _matrix_of(unknowns, alpha, other_columns)
    A = []
    for row in first_columns:
        others = [sum(row[j] * factors[j][i] for j in range(alpha)) for i in range(other_columns)]
        A.append([*row, *others])
    entries: dict[tuple[int, ...], Any] = {}
    if t == 1:
        triples = list(combinations_with_replacement(range(variables), 3))
        for k, triple in product(range(rows), triples):
            orders = set(permutations(triple))
            entries[k, *triple] = sum(A[p][j] * V[k][q] for p, j, q in orders)
        return entries
    pairs = list(combinations_with_replacement(range(variables), 2))
    for k, i, (p, q) in product(range(rows), range(columns), pairs):
        coefficient = A[p][i] * V[k][q]
        if p < q:
            coefficient += A[q][i] * V[k][p]
        entries[k, i, p, q] = coefficient
    return entries


def _matrix_of(unknowns: Iterator[Any], rows: int, columns: int) -> list[list[Any]]:
    """The rows of a matrix whose entries are the next items of ``unknowns``."""
    return [list(islice(unknowns, columns)) for _ in range(rows)]
