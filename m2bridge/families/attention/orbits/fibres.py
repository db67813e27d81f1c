"""The fibres of the parametrization: as finite schemes by Macaulay2, and as sets of points by
solving equations.

Further: products determine functions, and a criterion for functions without real weights.

Notation. The sizes d, d' (``d_out``), a and t of a model are in a LayerSizes, mostly ``shape``, and
α = min(a, d). Weights are a d×d matrix A of rank at most α and a d'×d matrix V. l_i = Σ_p A_pi y_p,
from column i of A, and v_k = Σ_q V_kq y_q, from row k of V, are linear forms; they span L and U. A
function is given, for t ≥ 2, by its reduced coordinates c_{k,i,p,q}, p ≤ q: the coefficient of
y_p y_q in l_i v_k. The parametrization takes (A, V) to it. The orbit (r, s, m) has the
functions with rk A = r, rk V = s and dim L ∩ U = m; one of its points is its representative, with
A_11 = V_11 = 1. The fibre over a function has as points its weights up to rescaling, (λA, V/λ).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from math import isqrt
from typing import NamedTuple, Unpack

from sympy.polys.rings import PolyElement

from m2bridge import errors
from m2bridge.algebra.field import QQ
from m2bridge.algebra.linear_algebra import rank, sparse_rank
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.answers import Answer, answer_to, parse
from m2bridge.engine import RunOptions, computation
from m2bridge.engine.script import Script, render
from m2bridge.families.attention.orbits.orbits import (
    Orbit,
    WeightPair,
    dense_first,
    generic_orbit,
    orbits,
    representative,
)
from m2bridge.families.attention.orbits.parametrization import (
    FunctionCoordinates,
    coordinate_name_in,
    coordinate_names,
    function_coordinates,
    indices,
    sparse_matrix,
)
from m2bridge.families.attention.sizes import CoordinateSystem, LayerSizes
from m2bridge.limits import check_deadline_in
from m2bridge.maps.model import WithoutRealWeights

Bilinear = Counter[tuple[int, int, int]]
"""A bilinear form in A and one row of V: the coefficients of A_pi V_q by (p, i, q)."""

FormCoefficients = dict[tuple[int, int], PolyElement]
"""A quadratic form Σ c_pq y_p y_q: the coefficients c_pq by (p, q), p ≤ q, from 0 on."""

MAX_SEPARATE_FORMS = 36
"""The largest number of forms l_i v_k that are constructed one by one in the program."""


def products_determine_functions(d: int) -> bool:
    """Return whether the products l_i·v and an output of V X Xᵀ A X determine each other, linearly.

    They do if the coefficients of the output, which are bilinear forms in A and V, span the same
    space as the coefficients of the products. The smallest case that decides this is computed: one
    row v of V, since each output has its own; two tokens, since each summand of
    Σ_u (x_uᵀ A x)(V x_u) has at most one token u in addition to x; and min(d, 3) indices, since
    forms with different sets of three indices have no monomial in common, and all sets are alike.
    """
    size = min(d, 3)
    of_output = _output_coefficients(size)
    of_products = _product_coefficients(size)
    # two spaces are the same exactly if both have the dimension of their sum
    dimension_of_sum = sparse_rank([*of_output, *of_products])
    return sparse_rank(of_output) == sparse_rank(of_products) == dimension_of_sum


def _output_coefficients(d: int) -> list[Bilinear]:
    """Return the coefficients of (xᵀ A x)(v·x) + (yᵀ A x)(v·y), one for each monomial in x and y.

    This is an output for the token x of two tokens x and y.
    """
    # the coefficient of each monomial, which a text names
    coefficients: defaultdict[str, Bilinear] = defaultdict(Counter)
    for p, i, q in product(range(d), repeat=3):
        # A_pi V_q stands before x_p x_i x_q, and before y_p y_q x_i
        monomial_in_x = f"x{sorted((p, i, q))}"
        monomial_in_x_and_y = f"x{i} y{sorted((p, q))}"
        coefficients[monomial_in_x][p, i, q] += 1
        coefficients[monomial_in_x_and_y][p, i, q] += 1
    return list(coefficients.values())


def _product_coefficients(d: int) -> list[Bilinear]:
    """Return the coefficients of the products l_i·v = (Σ_p A_pi y_p)(Σ_q V_q y_q), for all i.

    The coefficient of y_p y_q is A_pi V_q + A_qi V_p, or A_pi V_p for p = q.
    """
    pairs = combinations_with_replacement(range(d), 2)
    coefficients = []
    for (p, q), i in product(pairs, range(d)):
        # a set, as both terms are the same for p = q
        terms = {(p, i, q), (q, i, p)}
        coefficients.append(Counter(terms))
    return coefficients


def fibre_points(orbit: Orbit, shape: LayerSizes) -> frozenset[WeightPair]:
    """Return all (A, V) that have the function of the orbit's representative, up to rescaling.

    They have A_11 = V_11 = 1 and rk A ≤ α. The coefficients of l_1·v_1 are V_1q + A_q1 at y_1 y_q
    and A_q1 V_1q at y_q². So V_1q and A_q1 are the complex roots of a quadratic polynomial, and
    there are at most two choices for V_1q. All V_1q together decide all other weights.

    Raises
    ------
    MethodUnavailableError
        If candidates are not rational, which does not happen at our representatives.
    """
    # the coordinates c[k, i, p, q] of the function, p ≤ q, with indices that begin with 0
    c = function_coordinates(*map(sparse_matrix, representative(orbit, shape)))
    # for each q > 0 the possible values of the entry q in the first row of V
    choices = [_integer_roots(c[0, 0, 0, q], c[0, 0, q, q]) for q in range(1, shape.d)]
    points = set()
    for rest_of_row in product(*choices):
        A, V = _weights_from_first_row(c, (1, *rest_of_row), shape)
        # only some of the equations were solved for these weights
        if function_coordinates(sparse_matrix(A), sparse_matrix(V)) != c:
            continue
        # for α = d no rank is too large
        if shape.alpha == shape.d or rank(A) <= shape.alpha:
            points.add((A, V))
    return frozenset(points)


def _integer_roots(total: int, constant: int) -> set[int]:
    """Return the roots of z² − total·z + constant, whose sum is ``total`` and product ``constant``.

    Raises
    ------
    MethodUnavailableError
        If they are not integers.
    """
    discriminant = total**2 - 4 * constant
    # isqrt rounds down, and takes no negative number; the square shows whether it is exact.
    root = isqrt(max(discriminant, 0))
    if root**2 != discriminant:
        raise errors.MethodUnavailableError(
            f"a point of a fibre has the irrational coordinate √{discriminant}"
        )
    # root has the parity of total, as root² = total² − 4·constant: the divisions are exact
    return {(total - root) // 2, (total + root) // 2}


def _weights_from_first_row(
    c: FunctionCoordinates, first_row: tuple[int, ...], shape: LayerSizes
) -> WeightPair:
    """Return the only weights (A, V) with A_11 = 1 and this first row of V that can give c.

    The sums S_kiq = A_qi V_k1 + A_1i V_kq are coefficients of l_i·v_k. As V_11 = 1, A_1i is the
    coefficient of y_1² in l_i·v_1, and k = 1 gives A_qi = S_1iq − V_1q A_1i. As A_11 = 1, V_k1 is
    the coefficient of y_1² in l_1·v_k, and i = 1 gives V_kq = S_k1q − A_q1 V_k1.

    Parameters
    ----------
    c : FunctionCoordinates
        The coordinates by (k, i, p, q), p ≤ q; all indices in the code begin with 0.
    first_row : tuple of int
        The entries V_11, V_12, …, V_1d, of which the first is 1.
    shape : LayerSizes
    """
    # the sums S_1iq and S_k1q, from which the products V_1q A_1i and A_q1 V_k1 are subtracted
    A, V = _mixed_sums(c, shape)
    for i in range(shape.d):
        first_entry = c[0, i, 0, 0]  # A_1i
        if first_entry:
            for q, entry in enumerate(first_row):
                A[q][i] -= first_entry * entry
    for k in range(shape.d_out):
        first_entry = c[k, 0, 0, 0]  # V_k1
        if first_entry:
            for q in range(shape.d):
                V[k][q] -= first_entry * A[q][0]
    return tuple(map(tuple, A)), tuple(map(tuple, V))


class MixedSums(NamedTuple):
    """The sums S_kiq = A_qi V_k1 + A_1i V_kq with k = 1 or i = 1, for weights (A, V).

    Parameters
    ----------
    for_A : list of lists of int
        S_1iq in row q and column i, a d×d matrix as A is.
    for_V : list of lists of int
        S_k1q in row k and column q, a d'×d matrix as V is.
    """

    for_A: list[list[int]]
    for_V: list[list[int]]


def _mixed_sums(c: FunctionCoordinates, shape: LayerSizes) -> MixedSums:
    """Return the sums S_1iq and S_k1q of the weights of a function with these coordinates.

    S_kiq is the coefficient of y_1 y_q in l_i·v_k for q > 1, and twice that of y_1² for q = 1.
    """
    for_A = [[0] * shape.d for _ in range(shape.d)]
    for_V = [[0] * shape.d for _ in range(shape.d_out)]
    # most coordinates are zero, and not listed; indices begin with 0 here
    for (k, i, p, q), coefficient in c.items():
        if p > 0:
            # not a coefficient of y_1 y_q
            continue
        mixed_sum = 2 * coefficient if q == 0 else coefficient
        if k == 0:
            for_A[q][i] = mixed_sum
        if i == 0:
            for_V[k][q] = mixed_sum
    return MixedSums(for_A, for_V)


@dataclass(frozen=True, slots=True)
class Fibre:
    """The fibre of the projective parametrization over a function, as a finite scheme.

    The source is {rk A ≤ α} × {V}.

    Parameters
    ----------
    length : int
        Length (degree) of the scheme.
    points : int
        Number of its geometric points.

    Examples
    --------
    >>> Fibre(length=2, points=1).reduced
    False
    """

    length: int
    points: int

    @property
    def reduced(self) -> bool:
        """Whether the scheme is reduced: no point is multiple."""
        return self.length == self.points


@dataclass(frozen=True, slots=True, kw_only=True)
class Fibres:
    """The fibres over the orbits of a case.

    Parameters
    ----------
    at : dict of Orbit to Fibre
        Fibres over all orbits, or over some of them if there is a ``limit``; over the dense one in
        any case.
    base_locus_empty : bool
        Whether the function of (A, V) is zero only for A = 0 or V = 0.
    boundary_family : bool
        Whether the functions with k = e_1 + iεe_2, v = k̄ are real, have no real weights for ε ≠ 0,
        and tend to the representative of (1, 1, 1) for ε → 0; there is no such family for d = 1.
    limit : EngineError or None
        The limit on time or memory that was reached before all fibres were computed.
    """

    at: dict[Orbit, Fibre]
    base_locus_empty: bool
    boundary_family: bool
    limit: errors.EngineError | None = None


@computation
def fibres(
    model: LayerSizes, *, wanted: Sequence[Orbit] | None = None, **options: Unpack[RunOptions]
) -> Fibres:
    """Compute the fibres at representatives of orbits, in one run.

    Hypothesis: t ≥ 2.

    Parameters
    ----------
    model : LayerSizes
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    timeout : float, optional
        The limit on time, in seconds.
    wanted : sequence of Orbit, optional
        Some of the orbits, beginning with the dense one; all when left out.

    Returns
    -------
    Fibres
        With ``limit`` set, and the fibres that were computed until then, if a limit was reached.

    Raises
    ------
    EngineError
        If Macaulay2 failed in another way, or reached a limit before the fibre over the dense orbit
        was computed.

    Examples
    --------
    >>> found = fibres(SingleLayerAttention(d=2, d_out=1))
    >>> found.at[Orbit(1, 1, 1)]
    Fibre(length=2, points=1)
    """
    errors.check_kind("model", model, LayerSizes, "a SingleLayerAttention")
    if wanted is not None:
        for orbit in errors.elements("wanted", wanted, "a list of orbits"):
            errors.check_kind("wanted", orbit, Orbit, "a list of orbits")
    wanted_orbits = sorted(orbits(model) if wanted is None else wanted)
    try:
        return _read_fibres(answer_to(fibres_script(model, wanted)), model, wanted_orbits)
    except (errors.TimeLimitError, errors.MemoryLimitError) as limit:
        # the records that Macaulay2 wrote before the limit, of which each is complete
        answer = parse(limit.records)
        done = [orbit for orbit in wanted_orbits if str(orbit) in answer]
        if generic_orbit(model) not in done:
            # without the generic fibre the others prove nothing
            raise
        known_fibres = _read_fibres(answer, model, done)
        if done == wanted_orbits:
            # the limit was reached after the last fibre, so nothing is missing
            return known_fibres
        limit.progress = f"{len(done)} of {len(orbits(model))} orbits were done"
        return replace(known_fibres, limit=limit)


def _read_fibres(answer: Answer, shape: LayerSizes, done: Sequence[Orbit]) -> Fibres:
    """Return the fibres over the orbits ``done``, which the answer of Macaulay2 has.

    The answer also has the results of two checks that the program makes first: of the base locus,
    and of the family of boundary points.
    """
    # the family k = e_1 + iεe_2 needs a second unit vector, so there is none for d = 1
    has_no_real_points = shape.d > 1 and answer.boolean("family_without_real_points")
    return Fibres(
        at={orbit: _read_fibre(answer, orbit) for orbit in done},
        base_locus_empty=answer.boolean("base_locus_empty"),
        boundary_family=has_no_real_points and answer.boolean("family_tends_to_the_orbit"),
    )


def _read_fibre(answer: Answer, orbit: Orbit) -> Fibre:
    """Return the fibre over an orbit, which the answer has as [length, number of points].

    Raises
    ------
    ParseError
        If these are not numbers of a nonempty finite scheme.
    """
    length, points = answer.integers(str(orbit))
    if not 0 < points <= length:
        raise errors.ParseError(f"a fibre of length {length} with {points} points at orbit {orbit}")
    return Fibre(length, points)


def fibres_script(shape: LayerSizes, wanted: Sequence[Orbit] | None = None) -> Script:
    """Return the Macaulay2 program for fibres: the dense orbit first, then one after the other.

    First of all it checks the base locus and the family of boundary points; the answers are
    "base_locus_empty", "family_without_real_points" and "family_tends_to_the_orbit". ``wanted`` are
    the orbits over which fibres are computed, all when left out. The program has each as its name,
    such as "(1, 1, 0)", with columns of A and rows of V, and answers under this name with the
    length of the fibre and the number of its points. The unknowns z_2, …, z_d are the first row
    (1, z_2, …, z_d) of V, which determines a point of the fibre.

    Raises
    ------
    TooLargeError
        If there are too many orbits.
    """
    listed = dense_first(shape) if wanted is None else wanted
    # many forms l_i v_k are not written out: another function finds the fibre from A and V
    many = shape.alpha * shape.d_out > MAX_SEPARATE_FORMS
    parts: tuple[str, ...] = ("wire", "fibres")
    if many:
        parts += ("fibres_of_weights",)
    return render(
        "fibres",
        libraries=parts,
        values={
            "many": many,
            "title": str(shape),
            "d": shape.d,
            "alpha": shape.alpha,
            "unknowns": ", ".join(f"z_{q}" for q in range(2, shape.d + 1)),
            "orbits": [(orbit, *nonzero_part(orbit, shape)) for orbit in check_deadline_in(listed)],
            # the limit of the family of boundary points
            "boundary": nonzero_part(Orbit(1, 1, 1), shape),
            # the (p, q) for which l v ≠ 0 is checked, for forms l with the coefficient 1 at y_p and
            # v with that at y_q; for d = 1 there is no y_2
            "charts": "{(1,1)}" if shape.d == 1 else "{(1,1), (1,2)}",
            # the end of the diagonal of the forms of the family, in y_1 and y_2 alone
            "zeros": "{" + ", ".join(["0"] * (shape.d - 2)) + "}",
        },
    )


# many statements about a case rest on one program, which is rendered once
@lru_cache(maxsize=256)
def fibres_program(shape: LayerSizes) -> Script | None:
    """Return the program behind the statements about a case; ``None`` for one token."""
    if shape.t == 1:
        return None
    return fibres_script(shape)


def nonzero_part(orbit: Orbit, shape: LayerSizes) -> tuple[str, str]:
    """Return the nonzero columns of A and the nonzero rows of V of the representative.

    These are the first r columns and the first s rows. Both matrices are returned as texts in the
    language of Macaulay2.
    """
    A, V = representative(orbit, shape)
    columns_of_A = tuple(row[: orbit.r] for row in A)
    rows_of_V = V[: orbit.s]
    return matrix_program(columns_of_A), matrix_program(rows_of_V)


def matrix_program(rows: Iterable[Iterable[object]]) -> str:
    """Return a matrix over QQ with these rows, in the language of Macaulay2."""
    lists = ["{" + ", ".join(map(str, row)) + "}" for row in rows]
    return "matrix(QQ, {" + ", ".join(lists) + "})"


WHERE_NO_REAL_WEIGHTS = (
    "no real weights exactly where all forms l_i v_k are multiples of one definite form of rank 2"
    " (Theorem 3.2 and docs/pictures.md); membership confirms it at rational points"
)


def without_real_weights(shape: LayerSizes, coordinates: CoordinateSystem) -> WithoutRealWeights:
    """Return a criterion for functions without real weights, as polynomials in the coordinates.

    A function in the closure has no real weights where all polynomials in ``zero`` vanish and
    ``positive`` is positive.

    * Those in ``zero`` are the 2×2 minors of all pairs of forms l_i v_k = Σ c_pq y_p y_q, which
      vanish where all forms are multiples of one form.
    * ``positive`` is the sum of 4 c_pp c_qq − c_pq² over all p < q and all forms. Where the minors
      vanish, no two summands have different signs: none is negative if the one form, of rank at
      most 2, is semidefinite, and none is positive if it has real linear factors. So the sum is
      positive exactly if this form is semidefinite of rank 2.
    """
    names = coordinate_names(shape, coordinates)
    ring = PolynomialRing(QQ, names).sympy_ring
    variable_of = dict(zip(names, ring.gens, strict=True))
    # the coefficients c_pq of the form of k and i, by (p, q)
    forms: defaultdict[tuple[int, int], FormCoefficients] = defaultdict(dict)
    for index in indices(shape):
        k, i, p, q = index
        forms[k, i][p, q] = variable_of[coordinate_name_in(index, coordinates)]
    minors: list[PolyElement] = []
    for form, other in check_deadline_in(combinations(forms.values(), 2)):
        minors += _minors_of_two_forms(form, other)
    positive = ring.zero
    for form in forms.values():
        positive += _sum_of_principal_minors(form, shape.d)
    return WithoutRealWeights(zero=tuple(minors), positive=positive, reason=WHERE_NO_REAL_WEIGHTS)


def _minors_of_two_forms(form: FormCoefficients, other: FormCoefficients) -> list[PolyElement]:
    """Return the 2×2 minors of the matrix with the coefficients of two quadratic forms as rows.

    They vanish exactly where the forms are linearly dependent.
    """
    minors = []
    # two columns of the matrix, each of which is a pair (p, q)
    for a, b in combinations(form, 2):
        minors.append(form[a] * other[b] - form[b] * other[a])
    return minors


def _sum_of_principal_minors(form: FormCoefficients, d: int) -> PolyElement:
    """Return the sum of 4 c_pp c_qq − c_pq² over all p < q, for a form Σ c_pq y_p y_q; d ≥ 1.

    A summand is four times a principal 2×2 minor of the symmetric matrix of the form, and minus the
    discriminant of the form in y_p and y_q alone.
    """
    total = form[0, 0].ring.zero
    for p, q in combinations(range(d), 2):
        total += 4 * form[p, p] * form[q, q] - form[p, q] ** 2
    return total
