"""Sets of sizes (d, d', a) and of their orbits (r, s, m), as sets of isl, the integer set library.

Also identities of polynomials in the sizes, the patterns of entries that representatives of orbits
have in few places, and sets in words. Source: Verdoolaege, *isl: An Integer Set Library for the
Polyhedral Model*, ICMS 2010. Nothing here knows a statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, reduce
from itertools import permutations, product
from math import lcm
from pathlib import Path
from typing import Any, NamedTuple

import flint
import islpy as isl

from m2bridge.certificates.wording import wording
from m2bridge.errors import MethodUnavailableError
from m2bridge.statements.statement import IntegerMatrix

# d' is dp in the library's language.
SIZE = "d, dp, a"
POSITIVE = "1 <= d and 1 <= dp and 1 <= a"
ORBIT = f"{SIZE}, r, s, m"
# Which triples (r, s, m) are orbits of the model (d, d', a); see
# :mod:`m2bridge.families.attention.orbits.orbits`.
IS_ORBIT = (
    f"{POSITIVE} and 1 <= r and r <= a and r <= d and 1 <= s and s <= d and s <= dp"
    " and 0 <= m and m <= r and m <= s and r + s - d <= m"
)


def sizes(condition: str = "") -> isl.Set:
    """The sizes that satisfy a condition."""
    return isl.Set(text_of(condition))


def text_of(condition: str = "") -> str:
    """The sizes that satisfy a condition, as text in the library's language."""
    return _text(SIZE, POSITIVE, condition)


def orbits(condition: str = "") -> isl.Set:
    """The pairs of a size and one of its orbits that satisfy a condition."""
    return isl.Set(_text(ORBIT, IS_ORBIT, condition))


def _text(names: str, always: str, condition: str) -> str:
    """The points that satisfy what always holds and a condition, in the library's language."""
    if condition:
        always = f"{always} and ({condition})"
    return f"{{ [{names}] : {always} }}"


def with_some(orbit_set: isl.Set) -> isl.Set:
    """The sizes over which the set has an orbit."""
    return orbit_set.project_out(isl.dim_type.set, 3, 3)


def orbits_over(size_set: isl.Set) -> isl.Set:
    """Return the set of all orbits of these sizes."""
    return size_set.insert_dims(isl.dim_type.set, 3, 3).intersect(orbits())


def union(sets: list[isl.Set]) -> isl.Set:
    """Return the union of the sets."""
    return reduce(isl.Set.union, sets)


def text(some: isl.Set) -> str:
    """The set in the library's language, which it reads again."""
    return str(some.coalesce())


def contains(some: isl.Set, point: tuple[int, ...]) -> bool:
    """Whether the set has this point."""
    return bool(isl.Set(f"{{ {list(point)} }}").is_subset(some))


def first_point(some: isl.Set) -> tuple[int, ...]:
    """The lexicographically first point of a set that is not empty."""
    point = some.lexmin().sample_point()
    places = range(some.n_dim())
    coordinates = [point.get_coordinate_val(isl.dim_type.set, place) for place in places]
    return tuple(coordinate.to_python() for coordinate in coordinates)


# The variables of polynomials in the sizes; D is the degree of the source.
NAMES = ("d", "dp", "a", "D")


def variables(*names: str) -> list[Any]:
    """The variables of a polynomial ring over QQ."""
    return list(flint.fmpq_mpoly_ctx.get(names, flint.Ordering.degrevlex).gens())


def source_dimension(d: Any, dp: Any, alpha: Any) -> Any:
    """The dimension of {rk A ≤ α} × {V}."""
    # The codimension is (d − α)² by Harris, *Algebraic Geometry: A First Course*, 12.2.
    return d**2 - (d - alpha) ** 2 + d * dp


def zeros(polynomial: Any) -> isl.Set | None:
    """Return the sizes where a polynomial in d, dp, a, D is zero; ``None`` if this is undecided.

    D is the degree of the source. The zeros are a Presburger set if every factor of the polynomial
    is D, or linear and without D.
    """
    if polynomial == 0:
        return sizes()
    _, factors = polynomial.factor()
    found = sizes("1 = 0")
    for factor, _ in factors:
        # The degree of the source is positive.
        if str(factor) == "D":
            continue
        for exponents, _ in factor.terms():
            if sum(exponents) > 1 or exponents[-1]:
                return None
        found = found.union(sizes(f"{_polynomial_text(factor)} = 0"))
    return found


def _polynomial_text(factor: Any) -> str:
    """A multiple with integer coefficients in the language of the library: ``2 * d + -1 * a + 1``.

    The polynomial is linear.
    """
    scale = lcm(*(int(c.q) for c in factor.coeffs()))
    terms = []
    for exponents, c in factor.terms():
        names = [name for name, e in zip(NAMES, exponents, strict=True) if e]
        terms.append(" * ".join([str(int(c * scale)), *names]))
    return " + ".join(terms)


def tangents_exceed_dimension() -> bool:
    """Whether the tangent space at rk A < α < d exceeds the dimension by (d − α)², which is
    positive.

    The curves φ(A + sB, V), rk B = 1, stay in the neuromanifold; with all φ(A, V + sW) their
    tangents span a space of dimension d² + d d' − 1, if the fibre is one reduced point.
    """
    d, dp, alpha, _ = variables(*NAMES)
    tangents = d**2 + d * dp - 1
    dimension = source_dimension(d, dp, alpha) - 1
    return bool(tangents - dimension == (d - alpha) ** 2)


def more_tangents_at_squares() -> isl.Set:
    """The sizes (d, 1, 1) where tangent vectors at a matrix of rank one exceed the dimension.

    For α = d' = 1 functions are q ⊗ c with symmetric matrices c of rank at most two, and at c = k²
    all q ⊗ w² and p ⊗ c are tangent: together d(d + 1)/2 + d − 1 dimensions. That is (d − 1)(d −
    2)/2 more than the dimension 3d − 2.
    """
    d, *_ = variables(*NAMES)
    one = d**0
    tangents = d * (d + 1) / 2 + d - 1
    dimension = source_dimension(d, one, one) - 1
    no_excess = zeros(tangents - dimension)
    assert no_excess is not None, "the excess has linear factors"
    return sizes("a = 1 and dp = 1").subtract(no_excess)


def codimensions_exceed_kernels() -> bool:
    """Whether codimensions less kernels on the desingularization are sums of squares and products.

    Over the orbit (r, s, m) there is a Grassmannian, to which (α − r)(d − α) of the kernel are
    tangent; at (1, 1, 1) there are d − 1 dimensions more. That a product is not negative follows
    from the conditions on orbits.
    """
    d, dp, alpha, r, s, m = variables("d", "dp", "alpha", "r", "s", "m")
    orbit = r * (2 * d - r) + s * (d + dp - s) - m * (m + d - r - s) - 1
    of_subspaces = (alpha - r) * (d - alpha)
    codimension = source_dimension(d, dp, alpha) - 1 - orbit - of_subspaces
    excess = codimension - of_subspaces
    if excess != (alpha - r) ** 2 + (d - s) * (dp - s) + m * (m + d - r - s):
        return False
    # s ≤ d, s ≤ d', m ≥ 0 and m ≥ r + s − d on every orbit: the products are not negative
    if not orbits("s > d or s > dp or m < 0 or m + d < r + s").is_empty():
        return False
    one = d**0
    at_critical = excess.compose(d, dp, alpha, one, one, one) - (d - 1)
    return bool(at_critical == (alpha - 1) ** 2 + (d - 1) * (dp - 1))


def ambient_exceeds_dimension() -> bool:
    """Whether there are more coordinates than the dimension for d ≥ 2, and as many for d = 1.

    For d = 2 + u, d' = 1 + w, and α = d, which has the largest dimension, no coefficient of the
    difference is negative, and the constant one is positive.
    """
    u, w = variables("u", "w")
    difference = _ambient_excess(u + 2, w + 1)
    coefficients = dict(difference.terms())
    if min(coefficients.values()) <= 0 or (0, 0) not in coefficients:
        return False
    one = w**0
    return bool(_ambient_excess(one, w + 1) == 0)


def _ambient_excess(d: Any, dp: Any) -> Any:
    """The number d'·d·C(d + 1, 2) of coordinates less the dimension for α = d."""
    return dp * d**2 * (d + 1) / 2 - (source_dimension(d, dp, d) - 1)


class Pattern(NamedTuple):
    """Entries of the representative in some places.

    Parameters
    ----------
    A : matrix of 0 and 1
        A row for each place p (the first is p = 1), a column for each column i (the first is i =
        1).
    V : matrix of 0 and 1
        A row for each row k (the first is k = 1), a column for each place.
    """

    A: IntegerMatrix
    V: IntegerMatrix

    def reordered(self) -> Iterator[Pattern]:
        """Return the pattern with its places permuted in all ways that fix the first place."""
        for rest in permutations(range(1, len(self.A))):
            order = (0, *rest)
            A = tuple(self.A[p] for p in order)
            V = [tuple(row[p] for p in order) for row in self.V]
            yield Pattern(A, tuple(V))


@dataclass(frozen=True, slots=True)
class Selection:
    """Places, columns and rows, as linear forms in the symbols d, dp, a, r, s, m and the free
    indices.

    Parameters
    ----------
    condition : str
        A condition on orbits and free indices.
    places, columns, rows : tuple of str
        The first of each is ``1``.
    free : tuple of str
        Names of the free indices.
    """

    condition: str
    places: tuple[str, ...]
    columns: tuple[str, ...] = ("1",)
    rows: tuple[str, ...] = ("1",)
    free: tuple[str, ...] = ()

    def patterns(self) -> set[Pattern]:
        """All patterns that occur for some size, orbit and values of the free indices.

        Entry by entry, the remaining set is divided into where it is 1 and where it is 0.
        """
        conditions = [entry_of_a(p, i) for p, i in product(self.places, self.columns)]
        conditions += [entry_of_v(k, p) for k, p in product(self.rows, self.places)]
        found: list[tuple[tuple[int, ...], isl.Set]] = [((), self._set(self._conditions))]
        for condition in conditions:
            one = self._set(condition)
            parts = []
            for entries, some in found:
                parts.append(((*entries, 1), some.intersect(one)))
                parts.append(((*entries, 0), some.subtract(one)))
            # Otherwise there would be a part for each of the 2^n matrices.
            found = [part for part in parts if not part[1].is_empty()]
        return {self._pattern(entries) for entries, _ in found}

    def last_places(self) -> isl.Set:
        """The pairs of an orbit and an index x that is the last place of the selection."""
        reached = f"{self._conditions} and x = {self.places[-1]}"
        if self.free:
            reached = f"exists ({', '.join(self.free)} : {reached})"
        return isl.Set(f"{{ [{ORBIT}, x] : {reached} }}")

    @property
    def _conditions(self) -> str:
        """The condition that all indices are indices of entries, with that of the selection."""
        inside = [f"1 <= {p} and {p} <= d" for p in self.places]
        inside += [f"{i} <= d" for i in self.columns]
        inside += [f"{k} <= dp" for k in self.rows]
        return " and ".join([IS_ORBIT, *inside, f"({self.condition})"])

    def _set(self, condition: str) -> isl.Set:
        """The orbits and free indices that satisfy a condition."""
        names = ", ".join((ORBIT, *self.free))
        return isl.Set(f"{{ [{names}] : {condition} }}")

    def _pattern(self, entries: tuple[int, ...]) -> Pattern:
        """The pattern with these entries, row by row, those of A first."""
        of_A = len(self.places) * len(self.columns)
        A = _rows(entries[:of_A], len(self.columns))
        V = _rows(entries[of_A:], len(self.places))
        return Pattern(A, V)


def _rows(entries: tuple[int, ...], length: int) -> IntegerMatrix:
    """The matrix with these entries, cut into rows of one length."""
    starts = range(0, len(entries), length)
    return tuple(entries[start : start + length] for start in starts)


def entry_of_a(p: str, i: str) -> str:
    """The condition for A_pi of the representative to be 1: A = Σ_{p ≤ r} e_p e_pᵀ."""
    return f"{p} = {i} and {p} <= r"


def entry_of_v(k: str, q: str) -> str:
    """The condition for V_kq of the representative to be 1.

    Row k is e_k for k ≤ m, and e_{r+k−m} for m < k ≤ s; for m = 0 row 1 is e_1 + e_{r+1}.
    """
    common = f"{k} <= m and {q} = {k}"
    other = f"m < {k} and {k} <= s and {q} = r + {k} - m"
    first = f"m = 0 and {k} = 1 and {q} = 1"
    return f"({common}) or ({other}) or ({first})"


WORDS = wording(Path(__file__).parent / "words.toml")

# Phrases, and the conditions that they are short for: a phrase is used for the set of its condition
# only.
PHRASES = WORDS.phrases


def words(some: isl.Set) -> str:
    """The set in words: ``2 ≤ a < d, except (a, d') = (2, 1)``."""
    # Without a phrase it is as the library writes it.
    return _phrase(some) or text(some)


def canonical(some: isl.Set) -> str:
    """Return the one text that certificates have for this set.

    Each release of isl writes a set in other ways, so that it is not the text of the library.

    Raises
    ------
    MethodUnavailableError
        If there is no phrase for it in ``words.toml``.
    """
    known = _phrase(some)
    if not known:
        raise MethodUnavailableError(f"a certificate needs a phrase in words.toml for {text(some)}")
    return text_of(PHRASES[known])


def phrase(text: str) -> str:
    """The words for a set in a certificate; ValueError if the text is not canonical."""
    for known, condition in PHRASES.items():
        if text_of(condition) == text:
            return known
    raise ValueError(f"not a set of sizes: {text!r:.80}")


def _phrase(some: isl.Set) -> str:
    """The phrase for a set; empty if there is none."""
    for known, meant in _sets().items():
        if some.is_equal(meant):
            return known
    return ""


@cache
def _sets() -> dict[str, isl.Set]:
    """The set of each phrase."""
    return {known: sizes(condition) for known, condition in PHRASES.items()}
