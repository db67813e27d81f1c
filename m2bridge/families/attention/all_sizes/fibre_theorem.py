"""The fibre over every orbit for all sizes, from thirteen small ideals and a finite check of patterns.

Every fibre ideal in the unknowns z_2, …, z_d is the sum of the ideals that belong to few places, columns and rows; up
to the names of the indices these are fibre ideals of small cases. For r ≥ 2, or s ≥ 2, every unknown is determined in
one of them. For r = s = 1 all equations belong to pairs of places, and the ideal is the sum of what is known of them.
Source: ours; docs/all-sizes.md has the proof.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import islpy as isl

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.all_sizes.sizes import (
    IS_ORBIT,
    ORBIT,
    Generators,
    Monomial,
    Pattern,
    Selection,
    entry_of_v,
    orbits,
    union,
)
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit, representative


@dataclass(frozen=True, slots=True, order=True)
class BaseCase:
    """An orbit of a small model: d as given, d' = s, a = r."""

    orbit: Orbit
    d: int

    def __str__(self) -> str:
        return f"{self.orbit} at d = {self.d}"

    @property
    def model(self) -> SingleLayerAttention:
        """The smallest model with this orbit."""
        return SingleLayerAttention(self.d, self.orbit.s, self.orbit.r)

    @property
    def pattern(self) -> Pattern:
        """All entries of the representative but the zero columns of A and the zero rows of V."""
        A, V = representative(self.orbit, self.model)
        return Pattern(tuple(row[: self.orbit.r] for row in A), V[: self.orbit.s])


BASE_CASES = tuple(
    BaseCase(Orbit(*orbit), d)
    for orbit, sizes in {
        (2, 1, 1): (2, 3),
        (1, 2, 1): (2, 3),
        (2, 1, 0): (3, 4),
        (1, 2, 0): (3, 4),
        (1, 1, 1): (2, 3),
        (1, 1, 0): (2, 3, 4),
    }.items()
    for d in sizes
)

BaseIdeals = Mapping[BaseCase, Generators]
"""For each base case the reduced Gröbner basis of its fibre ideal over QQ, graded reverse lexicographic, z_2 first;
coefficients cleared of denominators and coprime, the leading one positive."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Orbits with one kind of fibre.

    Parameters
    ----------
    condition : str
        On (d, d', a, r, s, m).
    length : str
        Of the fibre scheme: ``1``, ``2`` or ``d``.
    points : int
    patterns : int
        How many patterns were compared with base cases.
    bases : tuple of BaseCase
        Those that occurred.
    """

    condition: str
    length: str
    points: int
    patterns: int
    bases: tuple[BaseCase, ...]


DETERMINED = {
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
"""For r ≥ 2, or s ≥ 2, selections whose last places run through all of 2, …, d."""

ALIKE = "r = 1 and s = 1 and m = 1"
DIFFERENT = "r = 1 and s = 1 and m = 0"


def fibre_theorem(ideals: BaseIdeals) -> tuple[Stratum, ...]:
    """Length and number of points of the fibre over every orbit of every model with t ≥ 2.

    Raises
    ------
    ContradictionError
        If a pattern belongs to no base case, a base ideal is not what the theorem needs, or a place is left out.
    """
    determined = (_determined(condition, selections, ideals) for condition, selections in DETERMINED.items())
    return (*determined, _alike(ideals), _different(ideals))


def _determined(condition: str, selections: tuple[Selection, ...], ideals: BaseIdeals) -> Stratum:
    """The sizes whose places all belong to base cases with the ideal of one point: one reduced point."""
    _check_places(condition, selections)
    patterns = set().union(*(selection.patterns() for selection in selections))
    return _stratum(condition, "1", 1, [_with_ideal(pattern, ideals, one_point) for pattern in _sorted(patterns)])


def _check_places(condition: str, selections: tuple[Selection, ...]) -> None:
    every = isl.Set(f"{{ [{ORBIT}, x] : {IS_ORBIT} and {condition} and 2 <= x and x <= d }}")
    missing = every.subtract(union([selection.last_places() for selection in selections]))
    if not missing.is_empty():
        raise ContradictionError(f"no selection has the last place x for {missing}")


def _alike(ideals: BaseIdeals) -> Stratum:
    """(1, 1, 1): all monomials of degree 2 in each pair of unknowns, so the square of the maximal ideal: length d."""
    return _stratum(ALIKE, "d", 1, [_with_ideal(pattern, ideals, squares) for pattern in _pairs(ALIKE)])


def _different(ideals: BaseIdeals) -> Stratum:
    """(1, 1, 0): with the place where V_1q = 1 the ideal (z_2² − z_2, z_q); other pairs add nothing: two points."""
    entry = f"exists (q : 2 <= q and q <= d and ({entry_of_v('1', 'q')}))"
    missing = orbits(DIFFERENT).subtract(orbits(entry))
    if not missing.is_empty():
        raise ContradictionError(f"no place q ≥ 2 with V_1q = 1 for {missing}")
    bases = [
        _with_ideal(pattern, ideals, two_points if 1 in pattern.V[0][1:] else squares) for pattern in _pairs(DIFFERENT)
    ]
    return _stratum(DIFFERENT, "2", 2, bases)


def _pairs(condition: str) -> list[Pattern]:
    """The patterns of one place, and of two places, besides the first."""
    one = Selection(f"{condition} and 2 <= q", ("1", "q"), free=("q",))
    two = Selection(f"{condition} and 2 <= p and p < q", ("1", "p", "q"), free=("p", "q"))
    return _sorted(one.patterns() | two.patterns())


def _sorted(patterns: set[Pattern]) -> list[Pattern]:
    return sorted(patterns, key=str)


def _stratum(condition: str, length: str, points: int, bases: list[BaseCase]) -> Stratum:
    return Stratum(condition, length, points, len(bases), tuple(sorted(set(bases))))


def _with_ideal(pattern: Pattern, ideals: BaseIdeals, wanted: Callable[[BaseCase], Generators]) -> BaseCase:
    """The base case with this pattern, up to the order of places, if its ideal is the wanted one."""
    for base, ideal in ideals.items():
        if ideal == wanted(base) and _matches(pattern, base.pattern):
            return base
    raise ContradictionError(f"no base case has the pattern {pattern} and the ideal that the theorem needs")


def _matches(pattern: Pattern, wanted: Pattern) -> bool:
    same = len(pattern.A) == len(wanted.A)
    return same and any(pattern.renamed(order) == wanted for order in pattern.orders())


def one_point(base: BaseCase) -> Generators:
    """z_q − V_1q for all q."""
    number = base.pattern.V[0]
    constant = (0,) * (base.d - 1)
    return frozenset(
        frozenset({(unit, 1)} | ({(constant, -number[q + 1])} if number[q + 1] else set()))
        for q, unit in enumerate(_unknowns(base))
    )


def squares(base: BaseCase) -> Generators:
    """All monomials of degree 2."""
    unknowns = _unknowns(base)
    pairs = {tuple(x + y for x, y in zip(p, q, strict=True)) for p in unknowns for q in unknowns}
    return frozenset(frozenset({(pair, 1)}) for pair in pairs)


def two_points(base: BaseCase) -> Generators:
    """z_2² − z_2, and the other unknowns."""
    first, *others = _unknowns(base)
    square = tuple(2 * e for e in first)
    return frozenset({frozenset({(square, 1), (first, -1)}), *(frozenset({(e, 1)}) for e in others)})


def _unknowns(base: BaseCase) -> list[Monomial]:
    return [tuple(int(j == q) for j in range(base.d - 1)) for q in range(base.d - 1)]
