"""The ideal of a closure up to a degree: Hilbert function, minimal generators, and what follows for
all degrees.

Proofs are in docs/mathematics.md (What verify computes) and docs/completeness.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, product
from math import comb, factorial, lcm, prod
from typing import Any

import flint

from m2bridge.certificates.schema import Certificate, Content, Difference
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.checker.case import Case, images
from m2bridge.families.attention.checker.statements import WORDS

MOST_COORDINATES, MOST_DEGREE = 400, 6
Sizes = tuple[int, int, int]
Weight = tuple[tuple[int, ...], ...]


def up_to_a_degree(certificate: Certificate) -> Content | Difference:
    """The content for the degree up to which a certificate says something."""
    case, last = Case(**certificate.case), certificate.answer.get("max_degree")
    case = Case(case.d, case.d_out, case.alpha, min(case.t, 2))  # the same functions
    if type(last) is not int or last < 1:
        return Difference("answer.max_degree", f"{last!r:.80}", "a degree")
    if case.t == 1:
        return Difference("case", "one token", "several tokens")
    if case.coordinate_count > MOST_COORDINATES or last > MOST_DEGREE:
        raise TooExpensiveError(
            "number of coordinates", f"degree {last} in {case.coordinate_count} coordinates"
        )
    values, numbers = low_degrees(case, last)
    degrees = {
        n: sum(orbit(weight) * count for weight, count in found.items())
        for n, found in numbers.items()
    }
    h = number_of_sections(case.d_out, case.d, case.d, case.alpha)
    coefficients = hilbert_coefficients(
        h, case.alpha * (2 * case.d - case.alpha) + case.d * case.d_out
    )
    answer: dict[str, Any] = {
        "dimension": len(coefficients),
        "degree": coefficients[0],
        "max_degree": last,
    }
    answer |= {
        "hilbert_function": values,
        "generators_up_to_degree": {str(n): degrees[n] for n in degrees},
    }
    answer |= {
        "hilbert_coefficients": coefficients,
        "hilbert_series": None,
        "all_generators": False,
    }
    scope, claimed = "up-to-a-degree", certificate.answer.get("hilbert_series")
    if isinstance(claimed, dict):  # else nothing is claimed beyond the degree
        scope, (start, answer["all_generators"]) = "for-all-degrees", all_degrees(case, last)
        if start > last + 1:
            return Difference("answer.hilbert_series", "a series", "no proof of one")
        more = [h(n) for n in range(last + 1, last + len(coefficients) + 1)]
        answer["hilbert_series"] = series([*values, *more], len(coefficients))
    if "representations" in certificate.answer:  # older certificates have none
        kinds = (kind for n, found in numbers.items() for kind in representations(n, found))
        answer["representations"] = sorted(kinds, key=by_degree)
    return Content(answer, {}, tuple(WORDS.lemmas[lemma] for lemma in WORDS.closure[scope]))


@lru_cache(maxsize=64)
def low_degrees(case: Case, last: int) -> tuple[list[int], dict[int, dict[Weight, int]]]:
    """H(0), …, H(last), and by degree how many minimal generators there are of decreasing
    weights.
    """
    products = Products(case.d_out, case.d, case.d, case.alpha)
    values = [products.hilbert_function(n) for n in range(last + 1)]
    numbers = {n: products.generator_numbers(n) for n in range(1, last + 1)}
    return values, {n: found for n, found in numbers.items() if found}


@lru_cache(maxsize=64)
def all_degrees(case: Case, last: int) -> tuple[int, bool]:
    """From which degree on H = h, and whether the generators of degree ≤ last are all; by
    the core.
    """
    e, f = case.alpha, min(case.d, case.d_out)
    m = min(case.d, e + f)
    core = Products(f, e, m, e)
    values, start = core.up_to_sections()
    minors = ((e + 1, e < case.d), (case.d + 1, f < case.d_out), (e + f + 1, m < case.d))
    least = max([1, *(degree for degree, vanish in minors if vanish)])
    more = (core.generators(balanced(n, core.sizes)) for n in range(last + 1, len(values) + 1))
    return start, last >= least and not any(more)


def series(values: list[int], dimension: int) -> dict[str, Any]:
    """Σ values[n] T^n times (1 − T)^dimension; coefficients after these values are zero."""
    product = flint.fmpz_poly(values) * flint.fmpz_poly([1, -1]) ** dimension
    numerator = flint.fmpz_poly(product.coeffs()[: len(values)])
    return {"numerator": [int(x) for x in numerator.coeffs()], "denominator_exponent": dimension}


MOST_MONOMIALS, MORE_DEGREES = 2_000_000, 3
PRIME = 2**26 - 5  # FLINT eliminates fast modulo primes of this size
Monomial = tuple[int, ...]  # numbers of coordinates, increasing
# coefficients of products of variables, whose exponents are the digits of a number to base 2^16
Image = dict[int, int]


@dataclass(frozen=True)
class Part:
    """All monomials of a weight, the coefficients of their images, a column for each, and the rank
    of these over QQ.
    """

    weight: Weight
    monomials: list[Monomial]
    images: Any
    rank: int

    @cached_property
    def echelon(self) -> Any:
        """Modulo a prime; if the rank is the same, monomials of its pivots are a basis of the
        quotient over QQ.
        """
        echelon, rank = flint.nmod_mat(self.images, PRIME).rref()
        if rank != self.rank:
            raise TooExpensiveError(
                "answer", f"not decided: ranks of weight {self.weight} differ modulo a prime"
            )
        return echelon

    @cached_property
    def pivots(self) -> list[int]:
        """The columns in which the rows of the echelon form begin."""
        columns = iter(range(len(self.monomials)))  # each row is searched from the pivot before it
        return [next(j for j in columns if self.echelon[i, j]) for i in range(self.rank)]

    @cached_property
    def own(self) -> dict[Monomial, int]:
        """The monomials that are no pivots, with their numbers: coefficients that determine an
        element of I.
        """
        left = set(range(len(self.monomials))).difference(self.pivots)
        return {self.monomials[j]: number for number, j in enumerate(sorted(left))}

    @cached_property
    def relations(self) -> list[dict[Monomial, int]]:
        """A basis of I over QQ: one modulo the prime, lifted to integers."""
        place, vectors = {monomial: j for j, monomial in enumerate(self.monomials)}, []
        for free in map(place.__getitem__, self.own):
            column = (
                (j, int(self.echelon[i, free])) for i, j in enumerate(self.pivots) if j < free
            )
            vector = {j: fraction(-x, PRIME) for j, x in column if x} | {free: (1, 1)}
            scale = lcm(*(denominator for _, denominator in vector.values()))
            vectors.append({j: x * scale // denominator for j, (x, denominator) in vector.items()})
        if any(self.images * matrix(vectors, len(place)).transpose()):
            raise TooExpensiveError(
                "answer", f"not decided: a relation of weight {self.weight} has large coefficients"
            )
        return [{self.monomials[j]: c for j, c in vector.items()} for vector in vectors]


class Products:
    """Products of ``columns`` forms l_i and ``rows`` forms v_k in some variables."""

    def __init__(self, rows: int, columns: int, variables: int, alpha: int) -> None:
        self.sizes, self.alpha, self.parts = (rows, columns, variables), alpha, dict[Weight, Part]()
        self.listed: dict[tuple[Weight, int], list[Monomial]] = {}
        self.known: dict[Monomial, Image] = {}
        named = images(rows, columns, variables, alpha)
        self.names, self.images = list(named), list(map(packed, named.values()))
        self.place = {name: j for j, name in enumerate(self.names)}

    def weights(self, n: int) -> list[Weight]:
        """Return decreasing weights of degree n; others are permutations. TooExpensiveError if they
        have too much.
        """
        rows, columns, variables = self.sizes
        if comb(len(self.names) + n - 1, n) > MOST_MONOMIALS:
            raise TooExpensiveError(
                "degree", f"too many monomials of degree {n} in {len(self.names)} coordinates"
            )
        return list(
            product(
                partitions(n, rows, n),
                partitions(n, columns, n),
                partitions(2 * n, variables, 2 * n),
            )
        )

    def hilbert_function(self, n: int) -> int:
        """The dimension of the coordinate ring in degree n."""
        return sum(orbit(weight) * self.part(weight).rank for weight in self.weights(n))

    def up_to_sections(self) -> tuple[list[int], int]:
        """H(0), …, H(B − 1) of a core, and from where on H = h; B bounds the degrees of
        generators.
        """
        f, e, m = self.sizes
        if m == 1:
            return [1], 0
        h, first = number_of_sections(f, e, m, e), min(max(e, f) - 1, m - 2) + 3
        values = [1]
        while len(values) <= first or values[-1] != h(len(values) - 1):
            if len(values) > first + MORE_DEGREES:
                raise TooExpensiveError(
                    "answer", f"not decided: the Hilbert function up to degree {len(values) - 1}"
                )
            # where generators can be; an error if there are too many monomials
            self.weights(len(values) + 1)
            values.append(self.hilbert_function(len(values)))
        return values, max(n for n in range(len(values) + 1) if not n or values[n - 1] != h(n - 1))

    def generator_numbers(self, n: int) -> dict[Weight, int]:
        """The numbers of minimal generators of I of the decreasing weights of degree n.

        They are a representation: it has no weight above one that it does not have
        (docs/completeness.md).
        """
        found, without = dict[Weight, int](), list[Weight]()
        for weight in sorted(
            self.weights(n), key=lambda w: sum(x * x for counts in w for x in counts)
        ):
            if not any(is_above(weight, lower) for lower in without):
                found[weight] = self.generators(weight)
                without += [] if found[weight] else [weight]
        return {weight: number for weight, number in found.items() if number}

    def part(self, weight: Weight) -> Part:
        """The part of a decreasing weight."""
        if weight not in self.parts:
            monomials = sorted(self.monomials(weight), key=self.mixed)
            terms: dict[int, dict[int, int]] = {}
            for number, monomial in enumerate(monomials):
                for exponents, coefficient in self.image(monomial).items():
                    terms.setdefault(exponents, {})[number] = coefficient
            images = matrix(list(terms.values()), len(monomials))
            self.parts[weight] = Part(weight, monomials, images, images.rank())
        return self.parts[weight]

    def image(self, monomial: Monomial) -> Image:
        """Return the image of a product of coordinates; those of its beginnings are kept."""
        if not monomial:
            return {0: 1}
        if (beginning := monomial[:-1]) not in self.known:
            self.known[beginning] = self.image(beginning)
        return times(self.known[beginning], self.images[monomial[-1]])

    def monomials(self, weight: Weight, first: int = 0) -> list[Monomial]:
        """Return the monomials of a weight from the first coordinate on; each begins with the least
        k that is left.
        """
        least = next((k for k, count in enumerate(weight[0]) if count), None)
        if least is None:
            return [()]
        if (weight, first) not in self.listed:
            block = len(self.names) // self.sizes[0]
            places = (
                (j, self.without(weight, j))
                for j in range(max(first, least * block), (least + 1) * block)
            )
            self.listed[weight, first] = [
                (j, *rest) for j, less in places if less for rest in self.monomials(less, j)
            ]
        return self.listed[weight, first]

    def mixed(self, monomial: Monomial) -> int:
        """The number of coordinates with p ≠ q: with few of them first relations are short."""
        return sum(self.names[j][2] < self.names[j][3] for j in monomial)

    def without(self, weight: Weight, j: int) -> Weight | None:
        """Return a weight less that of a coordinate; ``None`` if it is not in it."""
        (ks, is_, ps), (k, i, p, q) = weight, self.names[j]
        if not (ks[k] and is_[i] and ps[p] and ps[q] > (p == q)):
            return None
        return less(ks, k), less(is_, i), less(less(ps, p), q)

    def generators(self, weight: Weight) -> int:
        """The number of minimal generators of a decreasing weight: the elements of I modulo
        multiples of lower ones.
        """
        own = self.part(weight).own
        rows, columns = without_units(self.multiples(weight, own), range(len(own)))
        return len(columns) - int(matrix(rows, len(columns)).rank())

    def multiples(self, weight: Weight, own: Mapping[Monomial, int]) -> Iterator[dict[int, int]]:
        """Coordinates times elements of I, written in the basis of I (whose elements may be
        scaled).
        """
        for j in range(len(self.names)):
            if (rest := self.without(weight, j)) is None or not any(rest[0]):
                continue
            ks, is_, ps = (sorted(range(len(w)), key=w.__getitem__, reverse=True) for w in rest)
            moved = [
                self.place[ks[k], is_[i], *sorted((ps[p], ps[q]))] for k, i, p, q in self.names
            ]
            part = self.part(tuple(tuple(sorted(counts, reverse=True)) for counts in rest))
            at = moved.__getitem__
            numbers = {
                m: own.get(tuple(sorted((j, *map(at, m)))))
                for m in (part.monomials if part.relations else ())
            }
            for relation in part.relations:
                yield {number: c for m, c in relation.items() if (number := numbers[m]) is not None}


def representations(n: int, numbers: Mapping[Weight, int]) -> Iterator[dict[str, Any]]:
    """The products of Schur functors with these dimensions of decreasing weights, the highest
    first.
    """
    left = dict(numbers)
    for weight in sorted(left, reverse=True):
        if number := left[weight]:
            for lower in left:
                left[lower] -= number * prod(
                    tableaux(a, b) for a, b in zip(weight, lower, strict=True)
                )
            h, x, y = (list(filter(None, part)) for part in weight)
            yield {"degree": n, "X": x, "H": h, "Y": y, "multiplicity": number}


def by_degree(kind: dict[str, Any]) -> list[Any]:
    return [kind[name] for name in ("degree", "X", "H", "Y")]


@lru_cache(maxsize=100_000)
def tableaux(shape: tuple[int, ...], weight: tuple[int, ...]) -> int:
    """Semistandard tableaux of a shape and a weight: the entries that are largest form a horizontal
    strip.
    """
    if not weight:
        return int(not any(shape))
    bounds = zip(shape, (*shape[1:], 0), strict=True)
    smaller = product(*(range(low, high + 1) for high, low in bounds))
    fitting = (inner for inner in smaller if sum(shape) - sum(inner) == weight[-1])
    return sum(tableaux(inner, weight[:-1]) for inner in fitting)


def less(counts: tuple[int, ...], index: int) -> tuple[int, ...]:
    return (*counts[:index], counts[index] - 1, *counts[index + 1 :])


def without_units(
    rows: Iterable[dict[int, int]], columns: Iterable[int]
) -> tuple[list[dict[int, int]], list[int]]:
    """The quotient by rows that have one entry, again and again: the other rows, in the columns
    that stay.
    """
    left, columns, before = list(rows), set(columns), -1
    while len(columns) != before:
        before = len(columns)
        for row in left:
            if len(kept := columns.intersection(row)) == 1:
                columns -= kept
    place = {column: j for j, column in enumerate(sorted(columns))}
    rows = ({place[j]: c for j, c in row.items() if j in place} for row in left)
    return [row for row in rows if row], sorted(columns)


def partitions(n: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Decreasing, padded with zeros."""
    if parts == 0:
        yield from [()] if n == 0 else []
        return
    for first in range(min(n, largest), -1, -1):
        yield from ((first, *rest) for rest in partitions(n - first, parts - 1, first))


def orbit(weight: Weight) -> int:
    """The number of its permutations."""
    return prod(factorial(len(w)) // prod(factorial(w.count(x)) for x in set(w)) for w in weight)


def balanced(n: int, sizes: Sizes) -> Weight:
    """The weight of degree n that occurs in every representation (docs/completeness.md)."""
    totals = zip((n, n, 2 * n), sizes, strict=True)
    return tuple(
        tuple(total // size + (j < total % size) for j in range(size)) for total, size in totals
    )


def packed(polynomial: Any) -> Image:
    """The coefficients of a polynomial, by its exponents as digits."""
    return {
        sum(int(e) << 16 * j for j, e in enumerate(exponents)): int(c)
        for exponents, c in polynomial.terms()
    }


def times(f: Image, g: Image) -> Image:
    """The product; nothing cancels, as all coefficients are positive."""
    found: Image = {}
    for n, y in g.items():
        for m, x in f.items():
            found[m + n] = found.get(m + n, 0) + x * y
    return found


def is_above(weight: Weight, lower: Weight) -> bool:
    """Whether sums of first entries are nowhere less."""
    pairs = ((accumulate(w), accumulate(v)) for w, v in zip(weight, lower, strict=True))
    return all(x >= y for sums in pairs for x, y in zip(*sums, strict=True))


def matrix(rows: Sequence[dict[int, int]], size: int) -> Any:
    """The matrix over ZZ, with so many columns."""
    found = flint.fmpz_mat(len(rows), size)
    for i, row in enumerate(rows):
        for j, c in row.items():
            found[i, j] = c
    return found


def fraction(x: int, p: int) -> tuple[int, int]:
    """The fraction with this residue and small numerator and denominator (Wang's algorithm)."""
    (a, b), (s, t) = (p, x % p), (0, 1)
    while b * b > p // 2:
        quotient = a // b
        (a, b), (s, t) = (b, a - quotient * b), (t, s - quotient * t)
    return (b, t) if t > 0 else (-b, -t)


def symmetric(size: int, n: int) -> int:
    return comb(size + n - 1, n) if n >= 0 else 0


def hook(size: int, n: int, legs: int) -> int:
    """dim S_(n − legs, 1^legs), by S_(n−i) ⊗ Λ^i = S_(n−i, 1^i) + S_(n−i+1, 1^(i−1))."""
    return (
        sum((-1) ** (legs - i) * symmetric(size, n - i) * comb(size, i) for i in range(legs + 1))
        if legs < n
        else 0
    )


def determinantal(size: int, rank: int, n: int) -> int:
    """Polynomials of degree n on matrices of rank at most this; dimensions of Schur functors by
    hooks and contents.
    """

    def schur(shape: tuple[int, ...]) -> int:
        cells = [(i, j) for i, row in enumerate(shape) for j in range(row)]
        hooks = prod(shape[i] - j + sum(row > j for row in shape[i + 1 :]) for i, j in cells)
        return prod(size + j - i for i, j in cells) // hooks

    return (
        symmetric(size * size, n)
        if rank >= size
        else sum(schur(s) ** 2 for s in partitions(n, rank, n))
    )


def number_of_sections(rows: int, columns: int, variables: int, alpha: int) -> Callable[[int], int]:
    """The function h; ``columns`` is ``variables``, or α."""

    def value(n: int) -> int:
        source = (
            symmetric(columns * variables, n)
            if alpha == columns
            else determinantal(columns, alpha, n)
        )
        odd = symmetric(columns, n) * symmetric(rows, n) * comb(symmetric(variables, n), 2)
        labels = [
            (i, j) for i, j in product(range(alpha), range(rows)) if 1 <= i + j <= variables - 2
        ]
        hooks = (
            hook(columns, n, i) * hook(rows, n, j) * hook(variables, 2 * n, i + j + 1)
            for i, j in labels
        )
        return source * symmetric(rows * variables, n) - odd - sum(hooks)

    return value


def hilbert_coefficients(h: Callable[[int], int], most: int) -> list[int]:
    """The e_i with P(n) = Σ (−1)^i e_i C(n + D − i − 1, D − i − 1), for P = h at n ≥ 1 of degree D
    − 1 < most.
    """
    numerator = flint.fmpz_poly(series([h(n) for n in range(most + 1)], most)["numerator"])
    # the e_i times (1 − T)^(most − D)
    at_one = [int(x) for x in numerator(flint.fmpz_poly([1, 1])).coeffs()]
    first = next(i for i, x in enumerate(at_one) if x)
    return [(-1) ** first * x for x in [*at_one, *[0] * most][first:most]]
