"""Sets of sizes (d, d', a) and of their orbits (r, s, m), as sets of isl, the integer set library.

Also identities of polynomials in the sizes, the patterns of entries that representatives of orbits
have in few places, and sets in words. Source: Verdoolaege, *isl: An Integer Set Library for the
Polyhedral Model*, ICMS 2010. Nothing here knows a statement.

An orbit (r, s, m) of functions has r = rk A ≤ α = min(a, d), s = rk V, and m the dimension of the
intersection of the column space of A and the row space of V; its representative is a pair (A, V)
with entries 0 and 1. φ(A, V) is the function of weights. A place is an index of the variables: a
row of A and column of V.
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

# A size, where d' is dp in the library's language.
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
    """The sizes that satisfy a condition on d, dp and a; all sizes for an empty one."""
    return isl.Set(_sizes_text(condition))


def _sizes_text(condition: str) -> str:
    """The set of the sizes that satisfy a condition, as text in the library's language."""
    return _set_text(SIZE, POSITIVE, condition)


def orbits(condition: str = "") -> isl.Set:
    """The pairs of a size and one of its orbits, in short a set of orbits, that satisfy a condition
    on d, dp, a, r, s, m; all for an empty one.
    """
    return isl.Set(_set_text(ORBIT, IS_ORBIT, condition))


def _set_text(names: str, necessary: str, condition: str) -> str:
    """A set in the library's language: points with these coordinates that satisfy two conditions,
    of which ``condition`` may be empty.
    """
    conditions = necessary
    if condition:
        conditions = f"{necessary} and ({condition})"
    return f"{{ [{names}] : {conditions} }}"


def sizes_with_orbits(orbit_set: isl.Set) -> isl.Set:
    """The sizes with some orbit in a set of orbits: its projection, which forgets r, s and m."""
    return orbit_set.project_out(isl.dim_type.set, 3, 3)


def orbits_over(size_set: isl.Set) -> isl.Set:
    """Return the set of all orbits of these sizes."""
    return size_set.insert_dims(isl.dim_type.set, 3, 3).intersect(orbits())


def union(sets: list[isl.Set]) -> isl.Set:
    """Return the union of the sets, of which there is at least one."""
    return reduce(isl.Set.union, sets)


def text(integer_set: isl.Set) -> str:
    """The set as text in the library's language, from which isl.Set makes the same set."""
    return str(integer_set.coalesce())


def contains(integer_set: isl.Set, point: tuple[int, ...]) -> bool:
    """Whether the set has this point."""
    return bool(isl.Set(f"{{ {list(point)} }}").is_subset(integer_set))


def first_point(integer_set: isl.Set) -> tuple[int, ...]:
    """The lexicographically first point of a set that is not empty."""
    point = integer_set.lexmin().sample_point()
    places = range(integer_set.n_dim())
    coordinates = [point.get_coordinate_val(isl.dim_type.set, place) for place in places]
    return tuple(coordinate.to_python() for coordinate in coordinates)


# The variables of polynomials in the sizes; D is the degree of the source.
NAMES = ("d", "dp", "a", "D")


def variables(*names: str) -> list[Any]:
    """The variables with these names of a polynomial ring over QQ that has no others."""
    return list(flint.fmpq_mpoly_ctx.get(names, flint.Ordering.degrevlex).gens())


def source_dimension(d: Any, dp: Any, alpha: Any) -> Any:
    """The dimension of all (A, V) with rk A ≤ α, for integers or polynomials: A has codimension (d
    − α)² (Harris, *Algebraic Geometry: A First Course*, 12.2).
    """
    return d**2 - (d - alpha) ** 2 + d * dp


def zeros(polynomial: Any) -> isl.Set | None:
    """The sizes where a polynomial in d, dp, a, and D > 0, the degree of the source, is zero;
    ``None`` unless every factor is D, or linear and without D.
    """
    if polynomial == 0:
        return sizes()
    _, factors = polynomial.factor()
    zero_set = sizes("1 = 0")
    for factor, _multiplicity in factors:
        if str(factor) == "D":
            continue  # D is positive for every size
        for exponents, _coefficient in factor.terms():
            is_linear = sum(exponents) <= 1
            has_degree_of_source = exponents[-1] > 0
            if not is_linear or has_degree_of_source:
                return None
        zero_set = zero_set.union(sizes(f"{_polynomial_text(factor)} = 0"))
    return zero_set


def _polynomial_text(polynomial: Any) -> str:
    """A positive multiple of a linear polynomial, with integer coefficients, in isl's language."""
    # with this multiple all coefficients are integers
    scale = lcm(*(int(c.q) for c in polynomial.coeffs()))
    terms = []
    for exponents, c in polynomial.terms():
        # the variable of the term; none for the constant one
        names = [name for name, exponent in zip(NAMES, exponents, strict=True) if exponent]
        terms.append(" * ".join([str(int(c * scale)), *names]))
    return " + ".join(terms)


def tangents_exceed_dimension() -> bool:
    """Whether tangent vectors at rk A < α < d span (d − α)² > 0 dimensions more than the closure
    has.

    The curves φ(A + sB, V), rk B = 1, stay in the neuromanifold; with all φ(A, V + sW) their
    tangents span a space of dimension d² + d d' − 1, if the fibre is one reduced point
    (docs/mathematics.md#lemma-singular-source).
    """
    d, dp, alpha, _ = variables(*NAMES)
    tangents = d**2 + d * dp - 1
    dimension = source_dimension(d, dp, alpha) - 1
    return bool(tangents - dimension == (d - alpha) ** 2)


def more_tangents_at_squares() -> isl.Set:
    """The sizes (d, 1, 1) where tangent vectors at a matrix of rank one exceed the dimension.

    For α = d' = 1 functions are q ⊗ c with a symmetric matrix c of rank at most two. At c = k² all
    q ⊗ w² are tangent, since c + s w² has rank at most two; and so are all p ⊗ c. They span d(d +
    1)/2 and d dimensions, with q ⊗ c in both: (d − 1)(d − 2)/2 more than the dimension 3d − 2.
    """
    d, *_ = variables(*NAMES)
    one = d**0
    tangents = d * (d + 1) / 2 + d - 1
    dimension = source_dimension(d, one, one) - 1
    no_excess = zeros(tangents - dimension)
    assert no_excess is not None, "the excess has linear factors"
    # for integers d the excess (d − 1)(d − 2)/2 is never negative, so it is positive off its zeros
    return sizes("a = 1 and dp = 1").subtract(no_excess)


def codimensions_exceed_kernels() -> bool:
    """Whether codimension less kernel, on the desingularization, is a sum of squares and products.

    Over an orbit (r, s, m) it has to be (α − r)² + (d − s)(d' − s) + m(m + d − r − s), where no
    product is negative. The points over a point of the orbit are a Grassmannian of dimension (α −
    r)(d − α), whose tangent vectors are the kernel where the fibre is reduced. At (1, 1, 1) the
    kernel has d − 1 dimensions more, and (α − 1)² + (d − 1)(d' − 1) is left.
    """
    d, dp, alpha, r, s, m = variables("d", "dp", "alpha", "r", "s", "m")
    # dimensions: of the orbit, of the Grassmannian, and of the desingularization less the dimension
    # of the points over the orbit
    orbit = r * (2 * d - r) + s * (d + dp - s) - m * (m + d - r - s) - 1
    grassmannian = (alpha - r) * (d - alpha)
    codimension = (source_dimension(d, dp, alpha) - 1) - (orbit + grassmannian)
    excess = codimension - grassmannian
    if excess != (alpha - r) ** 2 + (d - s) * (dp - s) + m * (m + d - r - s):
        return False
    # s ≤ d, s ≤ d', m ≥ 0 and m ≥ r + s − d on every orbit: the products are not negative
    if not orbits("s > d or s > dp or m < 0 or m + d < r + s").is_empty():
        return False
    one = d**0
    # at r = s = m = 1 the kernel is larger by d − 1
    at_critical = excess.compose(d, dp, alpha, one, one, one) - (d - 1)
    return bool(at_critical == (alpha - 1) ** 2 + (d - 1) * (dp - 1))


def ambient_exceeds_dimension() -> bool:
    """Whether there are more coordinates than the dimension for d ≥ 2, and as many for d = 1: for d
    = 2 + u, d' = 1 + w, and α = d, which has the largest dimension, all terms of the difference are
    positive, and there is a constant term.
    """
    u, w = variables("u", "w")
    difference = _ambient_excess(u + 2, w + 1)
    coefficients = dict(difference.terms())
    constant = (0, 0)  # the exponents of the constant term
    if min(coefficients.values()) <= 0 or constant not in coefficients:
        return False
    one = w**0  # as a polynomial
    return bool(_ambient_excess(one, w + 1) == 0)


def _ambient_excess(d: Any, dp: Any) -> Any:
    """The number of coordinates less the dimension for α = d, for polynomials."""
    return dp * d**2 * (d + 1) / 2 - (source_dimension(d, dp, d) - 1)


class Pattern(NamedTuple):
    """Entries of the representative in some places, columns of A and rows of V, the first of each
    kind being 1: A has a row for each place and V a column.
    """

    A: IntegerMatrix
    V: IntegerMatrix

    def reorderings(self) -> Iterator[Pattern]:
        """Yield the pattern with its places permuted in each way that fixes the first place."""
        for others in permutations(range(1, len(self.A))):
            order = (0, *others)
            A = tuple(self.A[p] for p in order)
            V = [tuple(row[p] for p in order) for row in self.V]
            yield Pattern(A, tuple(V))


@dataclass(frozen=True, slots=True)
class Selection:
    """Some places, columns of A and rows of V, the first of each ``1``, for orbits of all sizes
    that satisfy a condition.

    Their indices, from 1 on, are linear forms such as ``r + 2 - m`` in d, dp, a, r, s, m and in the
    ``free`` indices, which take all values that the condition allows.
    """

    condition: str
    places: tuple[str, ...]
    columns: tuple[str, ...] = ("1",)
    rows: tuple[str, ...] = ("1",)
    free: tuple[str, ...] = ()

    def patterns(self) -> set[Pattern]:
        """All patterns that occur for some size, orbit and values of the free indices, found entry
        by entry: each set with the same entries so far is divided by the next entry, 1 or 0.
        """
        conditions = [entry_of_a(p, i) for p, i in product(self.places, self.columns)]
        conditions += [entry_of_v(k, p) for k, p in product(self.rows, self.places)]
        # pairs of the first entries of a pattern, and the orbits and free indices that have them
        occurring: list[tuple[tuple[int, ...], isl.Set]] = [
            ((), self._values_with(self._conditions))
        ]
        for condition in conditions:
            where_one = self._values_with(condition)
            divided = []
            for entries, where in occurring:
                divided.append(((*entries, 1), where.intersect(where_one)))
                divided.append(((*entries, 0), where.subtract(where_one)))
            # Empty sets are dropped, as otherwise there would be 2^n sets for n entries.
            occurring = [(entries, where) for entries, where in divided if not where.is_empty()]
        return {self._pattern(entries) for entries, _ in occurring}

    def last_places(self) -> isl.Set:
        """The pairs of an orbit and an index x that is the last place for some free indices."""
        condition = f"{self._conditions} and x = {self.places[-1]}"
        if self.free:
            condition = f"exists ({', '.join(self.free)} : {condition})"
        return isl.Set(f"{{ [{ORBIT}, x] : {condition} }}")

    @property
    def _conditions(self) -> str:
        """The condition of the selection, and that all indices are within the sizes of A and V."""
        bounds = [f"1 <= {p} and {p} <= d" for p in self.places]
        bounds += [f"{i} <= d" for i in self.columns]
        bounds += [f"{k} <= dp" for k in self.rows]
        return " and ".join([IS_ORBIT, *bounds, f"({self.condition})"])

    def _values_with(self, condition: str) -> isl.Set:
        """The pairs of an orbit and values of the free indices that satisfy a condition."""
        names = ", ".join((ORBIT, *self.free))
        return isl.Set(f"{{ [{names}] : {condition} }}")

    def _pattern(self, entries: tuple[int, ...]) -> Pattern:
        """The pattern with these entries, row by row, the entries of A first."""
        entries_of_a = len(self.places) * len(self.columns)
        A = _rows(entries[:entries_of_a], len(self.columns))
        V = _rows(entries[entries_of_a:], len(self.places))
        return Pattern(A, V)


def _rows(entries: tuple[int, ...], length: int) -> IntegerMatrix:
    """The matrix with these entries, cut into rows of one length."""
    starts = range(0, len(entries), length)
    return tuple(entries[start : start + length] for start in starts)


def entry_of_a(p: str, i: str) -> str:
    """The condition for A_pi of the representative to be 1, with indices from 1 on as text: A =
    diag(1 … 1, 0 … 0) has r ones.
    """
    return f"{p} = {i} and {p} <= r"


def entry_of_v(k: str, q: str) -> str:
    """The condition for V_kq of the representative to be 1: row k is e_k for k ≤ m, and e_{r+k−m}
    for m < k ≤ s; for m = 0 row 1 is e_1 + e_{r+1}.
    """
    in_common_rows = f"{k} <= m and {q} = {k}"
    in_further_rows = f"m < {k} and {k} <= s and {q} = r + {k} - m"
    added_to_first_row = f"m = 0 and {k} = 1 and {q} = 1"
    return f"({in_common_rows}) or ({in_further_rows}) or ({added_to_first_row})"


WORDS = wording(Path(__file__).parent / "words.toml")

# {phrase: condition}: a phrase, such as "every size", is the words for the set of sizes that
# satisfy its condition, and for no other set.
PHRASES = WORDS.phrases


def words(size_set: isl.Set) -> str:
    """The set of sizes in words: ``2 ≤ a < d, except (a, d') = (2, 1)``; else in isl's language."""
    return _phrase_or_empty(size_set) or text(size_set)


def canonical(size_set: isl.Set) -> str:
    """The one text that certificates have for this set, made from its phrase, as releases of isl
    write a set in different ways; MethodUnavailableError if ``words.toml`` has no phrase for it.
    """
    in_words = _phrase_or_empty(size_set)
    if not in_words:
        raise MethodUnavailableError(
            f"a certificate needs a phrase in words.toml for {text(size_set)}"
        )
    return _sizes_text(PHRASES[in_words])


def phrase(canonical_text: str) -> str:
    """The phrase whose set has this text in certificates (:func:`canonical`); else ValueError."""
    for in_words, condition in PHRASES.items():
        if _sizes_text(condition) == canonical_text:
            return in_words
    raise ValueError(f"not a set of sizes: {canonical_text!r:.80}")


def _phrase_or_empty(size_set: isl.Set) -> str:
    """The phrase for a set of sizes; empty if there is none."""
    for in_words, with_phrase in _sets_by_phrase().items():
        if size_set.is_equal(with_phrase):
            return in_words
    return ""


@cache
def _sets_by_phrase() -> dict[str, isl.Set]:
    """The set of sizes of each phrase."""
    return {in_words: sizes(condition) for in_words, condition in PHRASES.items()}
