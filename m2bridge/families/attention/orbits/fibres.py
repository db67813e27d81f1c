"""The fibres of the parametrization over representatives of orbits, t ≥ 2.

They are found twice: as finite schemes by Macaulay2 (:func:`fibres`), and as sets of points by
hand (:func:`fibre_points`). Where V_11 = A_11 = 1, the coefficients of l_1 v_1 are V_1q + A_q1 at
y_1 y_q and A_q1 V_1q at y_q², so that V_1q is one of two roots of a quadratic polynomial; the first
row of V then determines all other weights.

Further: products l_i v_k determine functions, and a criterion for functions without real weights.
(Notation: the docstring of families/attention.)
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from math import isqrt
from typing import Unpack

from sympy.polys.rings import PolyElement

from m2bridge import errors
from m2bridge.algebra.field import QQ
from m2bridge.algebra.linear_algebra import rank, sparse_rank
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.answers import Answer, answer_to, parse
from m2bridge.engine import RunOptions, computation
from m2bridge.engine.script import Script, render
from m2bridge.families.attention.orbits.coordinates import (
    FunctionCoordinates,
    coordinate_name_in,
    coordinate_names,
    function_coordinates,
    indices,
    sparse_matrix,
)
from m2bridge.families.attention.orbits.orbits import (
    Orbit,
    WeightPair,
    dense_first,
    generic_orbit,
    orbits,
    representative,
)
from m2bridge.families.attention.sizes import CoordinateSystem, LayerSizes
from m2bridge.limits import check_deadline_in
from m2bridge.maps.model import WithoutRealWeights
from m2bridge.results.sheet import m2_list

Bilinear = Counter[tuple[int, int, int]]
"""A bilinear form in A and one row of V: the coefficients of A_pi V_q by (p, i, q)."""

FormCoefficients = dict[tuple[int, int], PolyElement]
"""A quadratic form Σ c_pq y_p y_q: the coefficients c_pq by (p, q), p ≤ q, from 0 on."""

MAX_SEPARATE_FORMS = 36
"""The largest number of forms l_i v_k that are constructed one by one in the program."""


def products_determine_functions(d: int) -> bool:
    """Return whether the products l_i·v and an output of V X Xᵀ A X determine each other, linearly.

    They do if the coefficients of both, bilinear forms in A and V, span the same space. The
    smallest case that decides this is computed: one row v of V, since each output has its own; two
    tokens, since each summand of Σ_u (x_uᵀ A x)(V x_u) has at most one token u in addition to x;
    and min(d, 3) indices, since forms with different sets of three indices have no monomial in
    common, and all sets are alike.
    """
    size = min(d, 3)
    of_output = _output_coefficients(size)
    of_products = _product_coefficients(size)
    # two spaces are the same exactly if both have the dimension of their sum
    dimension_of_sum = sparse_rank([*of_output, *of_products])
    return sparse_rank(of_output) == sparse_rank(of_products) == dimension_of_sum


def _output_coefficients(d: int) -> list[Bilinear]:
    """Return the coefficients of (xᵀ A x)(v·x) + (yᵀ A x)(v·y), an output for x of tokens x, y."""
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
    """Return the coefficients A_pi V_q + A_qi V_p, or A_pi V_p for p = q, of the products l_i·v."""
    pairs = combinations_with_replacement(range(d), 2)
    coefficients = []
    for (p, q), i in product(pairs, range(d)):
        # a set, as both terms are the same for p = q
        terms = {(p, i, q), (q, i, p)}
        coefficients.append(Counter(terms))
    return coefficients


def fibre_points(orbit: Orbit, shape: LayerSizes) -> frozenset[WeightPair]:
    """Return all (A, V) with A_11 = V_11 = 1 and the function of the orbit's representative."""
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
    """Return the roots of z² − total·z + constant.

    At our representatives they are integers; others raise a MethodUnavailableError.
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

    The sum S_kiq = A_qi V_k1 + A_1i V_kq is the coefficient of y_1 y_q in l_i·v_k for q > 1, and
    twice the one of y_1² for q = 1. As V_11 = 1, A_1i is the coefficient of y_1² in l_i·v_1, and
    k = 1 gives A_qi = S_1iq − V_1q A_1i. As A_11 = 1, V_k1 is the coefficient of y_1² in l_1·v_k,
    and i = 1 gives V_kq = S_k1q − A_q1 V_k1.
    """
    A = [[0] * shape.d for _ in range(shape.d)]
    V = [[0] * shape.d for _ in range(shape.d_out)]
    # first the sums S_1iq and S_k1q; most coordinates are zero, and not listed
    for (k, i, p, q), coefficient in c.items():
        if p > 0:
            # not a coefficient of y_1 y_q
            continue
        mixed_sum = 2 * coefficient if q == 0 else coefficient
        if k == 0:
            A[q][i] = mixed_sum
        if i == 0:
            V[k][q] = mixed_sum
    # then V_1q A_1i and A_q1 V_k1 are subtracted
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
    """The fibres over the orbits of a case, with the dense one among them."""

    at: dict[Orbit, Fibre]  # of all orbits, unless there is a limit
    base_locus_empty: bool  # whether the function of (A, V) is zero only for A = 0 or V = 0
    # whether the functions with k = e_1 + iεe_2, v = k̄ are real, have no real weights for ε ≠ 0,
    # and tend to the representative of (1, 1, 1) for ε → 0; there is no such family for d = 1
    boundary_family: bool
    # the limit on time or memory that was reached before all fibres were computed
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
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
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
        orbits_done = [orbit for orbit in wanted_orbits if str(orbit) in answer]
        if generic_orbit(model) not in orbits_done:
            # without the generic fibre the others prove nothing
            raise
        known_fibres = _read_fibres(answer, model, orbits_done)
        if orbits_done == wanted_orbits:
            # the limit was reached after the last fibre, so nothing is missing
            return known_fibres
        limit.progress = f"{len(orbits_done)} of {len(orbits(model))} orbits were done"
        return replace(known_fibres, limit=limit)


def _read_fibres(answer: Answer, shape: LayerSizes, orbits_done: Sequence[Orbit]) -> Fibres:
    """Return the fibres over the orbits ``orbits_done``, and the two checks of the program."""
    at = {}
    for orbit in orbits_done:
        length, points = answer.integers(str(orbit))
        if not 0 < points <= length:
            raise errors.ParseError(
                f"a fibre of length {length} with {points} points at orbit {orbit}"
            )
        at[orbit] = Fibre(length, points)
    # the family k = e_1 + iεe_2 needs a second unit vector, so there is none for d = 1
    has_no_real_points = shape.d > 1 and answer.boolean("family_without_real_points")
    return Fibres(
        at=at,
        base_locus_empty=answer.boolean("base_locus_empty"),
        boundary_family=has_no_real_points and answer.boolean("family_tends_to_the_orbit"),
    )


def fibres_script(shape: LayerSizes, wanted: Sequence[Orbit] | None = None) -> Script:
    """Return the Macaulay2 program for fibres over the wanted orbits; over all, with the dense one
    first.

    First it checks the base locus and the family of boundary points: the answers
    "base_locus_empty", "family_without_real_points" and "family_tends_to_the_orbit". Then each
    orbit, by its name such as "(1, 1, 0)", has the length of its fibre and the number of points.
    The unknowns z_2, …, z_d stand in the first row (1, z_2, …, z_d) of V.
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
            "zeros": m2_list([0] * (shape.d - 2)),
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
    """Return the nonzero columns of A and rows of V of the representative, for Macaulay2."""
    A, V = representative(orbit, shape)
    columns_of_A = tuple(row[: orbit.r] for row in A)
    rows_of_V = V[: orbit.s]
    return matrix_program(columns_of_A), matrix_program(rows_of_V)


def matrix_program(rows: Iterable[Iterable[object]]) -> str:
    """Return a matrix over QQ with these rows, in the language of Macaulay2."""
    return f"matrix(QQ, {m2_list(map(m2_list, rows))})"


WHERE_NO_REAL_WEIGHTS = (
    "no real weights exactly where all forms l_i v_k are multiples of one definite form of rank 2"
    " (Theorem 3.2 and docs/mathematics.md); membership confirms it at rational points"
)


def without_real_weights(shape: LayerSizes, coordinates: CoordinateSystem) -> WithoutRealWeights:
    """Return a criterion for functions without real weights, as polynomials in the coordinates.

    ``zero`` are the 2×2 minors of all pairs of forms l_i v_k = Σ c_pq y_p y_q, which vanish where
    all are multiples of one form. ``positive`` is the sum of 4 c_pp c_qq − c_pq² over all p < q and
    all forms. Where the minors vanish, no two summands have different signs: none is negative if
    the one form, of rank ≤ 2, is semidefinite, and none is positive if it has real linear factors.
    So the sum is positive exactly if this form is semidefinite of rank 2.
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
        # two columns (p, q) of the matrix that has the coefficients of both forms as rows
        for a, b in combinations(form, 2):
            minors.append(form[a] * other[b] - form[b] * other[a])
    positive = ring.zero
    for form in forms.values():
        for p, q in combinations(range(shape.d), 2):
            # four times a principal minor, and minus the discriminant in y_p and y_q alone
            positive += 4 * form[p, p] * form[q, q] - form[p, q] ** 2
    return WithoutRealWeights(zero=tuple(minors), positive=positive, reason=WHERE_NO_REAL_WEIGHTS)
