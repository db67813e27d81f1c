"""The fibre over every orbit for all sizes, from thirteen small ideals and finitely many patterns.

Every fibre ideal in the unknowns z_2, …, z_d is the sum of the ideals that belong to few places,
columns and rows; up to the names of the indices these are fibre ideals of small cases. For r ≥ 2,
or s ≥ 2, every unknown is determined in one of them. For r = s = 1 all equations belong to pairs of
places, and the ideal is the sum of their known ideals. Source: ours; docs/all-sizes.md has the
proof.

An orbit (r, s, m) of functions has r = rk A, s = rk V, and m the dimension of the intersection of
the column space of A and the row space of V; its representative is a pair (A, V) with entries 0 and
1, A = diag(1, …, 1, 0, …, 0). The fibre over a function has as points its weights (A', V') up to
(λA', V'/λ); z_q, the unknowns, stand for V'_1q if V'_11 = 1. A place is an index q of the
variables, which is a row of A and a column of V. A pattern is the entries of A and V in some
places, columns and rows. A selection says which: it is a condition on orbits, with places, columns
of A and rows of V as texts, such as ``r + 2 - m``; its patterns are all that occur for an orbit of
some size.

A polynomial of a Gröbner basis is a tuple of terms (exponents of z_2, …, z_d, coefficient): for d =
2 the polynomial z_2² − z_2 is (((2,), 1), ((1,), -1)). A basis is a frozenset of these.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement

import islpy as isl

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.all_sizes.integer_sets import (
    IS_ORBIT,
    ORBIT,
    Pattern,
    Selection,
    entry_of_v,
    orbits,
    union,
)
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits.orbits import Orbit, representative
from m2bridge.ideals.program import ReducedGroebnerBasis


@dataclass(frozen=True, slots=True, order=True)
class BaseCase:
    """An orbit of a small model: d as given, d' = s, a = r."""

    orbit: Orbit
    d: int

    def __str__(self) -> str:
        return f"{self.orbit} at d = {self.d}"

    @property
    def model(self) -> SingleLayerAttention:
        """The smallest model of this d with this orbit."""
        return SingleLayerAttention(self.d, self.orbit.s, self.orbit.r)

    @property
    def pattern(self) -> Pattern:
        """The entries of the representative: the first r columns of A and s rows of V; all others
        are zero.
        """
        A, V = representative(self.orbit, self.model)
        return Pattern(tuple(row[: self.orbit.r] for row in A), V[: self.orbit.s])


# The smallest d at which an orbit occurs, and further d with more places.
BASE_SIZES = {
    Orbit(2, 1, 1): (2, 3),
    Orbit(1, 2, 1): (2, 3),
    Orbit(2, 1, 0): (3, 4),
    Orbit(1, 2, 0): (3, 4),
    Orbit(1, 1, 1): (2, 3),
    Orbit(1, 1, 0): (2, 3, 4),
}
BASE_CASES = tuple(BaseCase(orbit, d) for orbit, sizes in BASE_SIZES.items() for d in sizes)

# For each base case the reduced Gröbner basis of its fibre ideal over QQ, graded reverse
# lexicographic, z_2 first; coefficients cleared of denominators and coprime, the leading one
# positive.
BaseIdeals = Mapping[BaseCase, ReducedGroebnerBasis]

# The ideal that the theorem needs for a base case, by its reduced Gröbner basis.
NeededIdeal = Callable[[BaseCase], ReducedGroebnerBasis]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Orbits with one kind of fibre, by a condition on (d, d', a, r, s, m).

    ``length`` of the fibre scheme is "1", "2" or "d"; ``points`` are without multiplicities;
    ``patterns`` were compared with base cases, and ``ideals`` are the base cases that occurred.
    """

    orbits: str
    length: str
    points: int
    patterns: int
    ideals: tuple[BaseCase, ...]


# For r ≥ 2, or s ≥ 2, selections whose last places run through all of 2, …, d.
DETERMINED: dict[str, tuple[Selection, ...]] = {
    "r >= 2": (
        Selection("r >= 2", ("1", "2"), columns=("1", "2")),
        Selection("r >= 2 and 3 <= q", ("1", "2", "q"), columns=("1", "2"), free=("q",)),
    ),
    "r = 1 and s >= 2": (
        Selection("r = 1 and s >= 2", ("1", "r + 2 - m"), rows=("1", "2")),
        Selection(
            "r = 1 and s >= 2 and 2 <= q and (q < r + 2 - m or q > r + 2 - m)",
            ("1", "r + 2 - m", "q"),
            rows=("1", "2"),
            free=("q",),
        ),
    ),
}

# A = k qᵀ, V = h vᵀ: here k and v are proportional, or not.
PROPORTIONAL = "r = 1 and s = 1 and m = 1"
NOT_PROPORTIONAL = "r = 1 and s = 1 and m = 0"


def fibre_theorem(ideals: BaseIdeals) -> tuple[Stratum, ...]:
    """The strata, which are all orbits of every model with t ≥ 2, each with its kind of fibre.

    Where every unknown is determined the fibre is one reduced point. Over (1, 1, 1) the ideal has
    all monomials of degree 2 in each pair of unknowns, so it is the square of the maximal ideal.
    Over (1, 1, 0), with the place where V_1q = 1, it has (z_2² − z_2, z_q), to which other pairs
    add nothing: two points. ContradictionError if a pattern belongs to no base case, a base ideal
    is not what the theorem needs, or a place is left out.
    """
    for condition, selections in DETERMINED.items():
        # each x in 2, …, d is the last place of one of the selections: there z_x is determined
        is_place = f"{IS_ORBIT} and {condition} and 2 <= x and x <= d"
        all_places = isl.Set(f"{{ [{ORBIT}, x] : {is_place} }}")
        determined = union([selection.last_places() for selection in selections])
        _check_nothing_left_out(all_places.subtract(determined))
    # Over (1, 1, 0) the second point needs a place q ≥ 2 with V_1q = 1: there has to be one.
    has_place = f"exists (q : 2 <= q and q <= d and ({entry_of_v('1', 'q')}))"
    _check_nothing_left_out(orbits(NOT_PROPORTIONAL).subtract(orbits(has_place)))
    # The functions ``one_point``, ``squares``, … give the ideal that the theorem needs. DETERMINED
    # has r ≥ 2, and r = 1, s ≥ 2; PROPORTIONAL is the orbit (1, 1, 1), NOT_PROPORTIONAL (1, 1, 0).
    strata = []
    for condition, selections in DETERMINED.items():
        bases = _base_cases_of_patterns(selections, ideals, one_point)
        strata.append(_stratum(condition, bases, length="1", points=1))
    bases = _base_cases_of_patterns(_selections_of_places(PROPORTIONAL), ideals, squares)
    strata.append(_stratum(PROPORTIONAL, bases, length="d", points=1))
    bases = _base_cases_of_patterns(
        _selections_of_places(NOT_PROPORTIONAL), ideals, two_points_or_squares
    )
    strata.append(_stratum(NOT_PROPORTIONAL, bases, length="2", points=2))
    return tuple(strata)


def _check_nothing_left_out(rest: isl.Set) -> None:
    """Raise ContradictionError unless ``rest`` is empty: orbits, or orbits with a place."""
    if not rest.is_empty():
        raise ContradictionError(
            f"no selection has the last place, or there is no place with V_1q = 1, for {rest}"
        )


def _selections_of_places(condition: str) -> tuple[Selection, ...]:
    """Two selections for the orbits of a condition: the first place and q; the first place and p <
    q.
    """
    one_place = Selection(f"{condition} and 2 <= q", ("1", "q"), free=("q",))
    two_places = Selection(f"{condition} and 2 <= p and p < q", ("1", "p", "q"), free=("p", "q"))
    return one_place, two_places


def _base_cases_of_patterns(
    selections: tuple[Selection, ...], ideals: BaseIdeals, needed_ideal: NeededIdeal
) -> list[BaseCase]:
    """For each pattern that occurs in one of the selections a base case with this pattern.

    ``needed_ideal`` gives the ideal that the theorem needs of a base case; ContradictionError
    without one.
    """
    patterns: set[Pattern] = set()
    for selection in selections:
        patterns |= selection.patterns()
    needed_cases = [base for base, ideal in ideals.items() if ideal == needed_ideal(base)]
    bases = []
    for pattern in patterns:
        # with its places in another order, the first one fixed, a pattern belongs to the same ideal
        # with unknowns renamed
        reordered = set(pattern.reorderings())
        base = next((base for base in needed_cases if base.pattern in reordered), None)
        if base is None:
            raise ContradictionError(
                f"no base case has the pattern {pattern} and the ideal that the theorem needs"
            )
        bases.append(base)
    return bases


def _stratum(condition: str, bases: list[BaseCase], *, length: str, points: int) -> Stratum:
    """The orbits of a condition, with the fibre over them and the base cases of all patterns."""
    return Stratum(
        orbits=condition,
        length=length,
        points=points,
        patterns=len(bases),
        ideals=tuple(sorted(set(bases))),
    )


def one_point(base: BaseCase) -> ReducedGroebnerBasis:
    """The ideal of one reduced point: z_q − V_1q for q = 2, …, d."""
    constant = (0,) * (base.d - 1)
    values = base.pattern.V[0][1:]  # V_12, …, V_1d
    generators = []
    for z_q, value in zip(_unknowns(base), values, strict=True):
        terms = [(z_q, 1)]
        # A polynomial has no terms with coefficient 0.
        if value:
            terms.append((constant, -value))
        generators.append(tuple(terms))
    return frozenset(generators)


def squares(base: BaseCase) -> ReducedGroebnerBasis:
    """The square of the maximal ideal (z_2, …, z_d): all monomials of degree 2."""
    pairs = combinations_with_replacement(_unknowns(base), 2)
    return frozenset(((_multiply_monomials(first, second), 1),) for first, second in pairs)


def two_points(base: BaseCase) -> ReducedGroebnerBasis:
    """The ideal of the points (0, …, 0) and (1, 0, …, 0): z_2² − z_2, and z_3, …, z_d."""
    z_2, *others = _unknowns(base)
    two_values_of_z_2 = ((_multiply_monomials(z_2, z_2), 1), (z_2, -1))
    zeros = [((z_q, 1),) for z_q in others]
    return frozenset([two_values_of_z_2, *zeros])


def two_points_or_squares(base: BaseCase) -> ReducedGroebnerBasis:
    """The needed ideal over (1, 1, 0): of two points if some place q ≥ 2 has V_1q = 1, else
    squares.
    """
    if 1 in base.pattern.V[0][1:]:
        return two_points(base)
    return squares(base)


# The exponents of z_2, …, z_d in a monomial.
UnknownExponents = tuple[int, ...]


def _multiply_monomials(first: UnknownExponents, second: UnknownExponents) -> UnknownExponents:
    """The exponents of the product of two monomials."""
    return tuple(map(operator.add, first, second))


def _unknowns(base: BaseCase) -> list[UnknownExponents]:
    """The unknowns z_2, …, z_d as monomials: unit vectors of exponents."""
    number = base.d - 1
    return [tuple(int(p == q) for p in range(number)) for q in range(number)]
