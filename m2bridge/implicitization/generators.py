"""Minimal generators in one multidegree, and the proof that they are all and that none can be left
out.

Relations and functionals are computed modulo primes, lifted to QQ with as many primes as they need,
and proved. A relation that needs more primes is eliminated again among the basis and few other
monomials; functionals that vanish on products are computed again modulo one more prime after the
other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from random import Random

import flint

from m2bridge.algebra import linear_algebra
from m2bridge.algebra.numbers import chinese_remainder, primes_from, rational_reconstruction
from m2bridge.algebra.sparse_polynomial import Monomial, Terms
from m2bridge.errors import ContradictionError
from m2bridge.implicitization.elimination import (
    Echelon,
    ModularElimination,
    Substitution,
    rank_and_pivots,
)
from m2bridge.implicitization.graded_pieces import (
    Degree,
    GradedPiece,
    MonomialSpace,
    Neighbour,
    PackedGrading,
    SparseRow,
)
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.limits import watched


def proved_relations(
    echelon: Echelon,
    columns: Sequence[int],
    eliminations: Sequence[ModularElimination],
    substitution: Substitution,
) -> tuple[Terms, ...] | None:
    """The relations of some monomials outside the basis, each proved by substitution; ``None`` if
    there is none.

    Those whose coefficients are too large for the echelon form are eliminated again modulo several
    primes, then over QQ.
    """
    roads: tuple[Callable[[Sequence[Monomial]], Echelon], ...] = (
        lambda monomials: Echelon.modular(monomials, eliminations[1:2]),
        lambda monomials: Echelon.modular(monomials, eliminations),
        lambda monomials: Echelon.exact(monomials, substitution),
    )
    proved = dict(_vanishing(echelon, columns, substitution))
    for eliminated in roads:
        missing = [column for column in columns if column not in proved]
        if not missing:
            break
        kept = sorted({*echelon.pivots, *missing})
        again = eliminated([echelon.monomials[column] for column in kept])
        pivots = tuple(kept[i] for i in again.pivots)
        if rank_and_pivots(pivots) < rank_and_pivots(echelon.pivots):
            return None  # The echelon form, not these primes, is unlucky.
        if pivots == echelon.pivots:
            relations = _vanishing(again, [kept.index(column) for column in missing], substitution)
            proved |= {kept[i]: relation for i, relation in relations}
    return tuple(proved[column] for column in columns) if len(proved) == len(columns) else None


def _vanishing(
    echelon: Echelon, columns: Iterable[int], substitution: Substitution
) -> Iterator[tuple[int, Terms]]:
    """The relations, with their columns, that are identically zero after substitution."""
    for column in columns:
        relation = echelon.relation(column)
        if substitution.vanishes(relation):
            yield column, relation


def has_no_larger_rank(
    generated: GeneratedPart, products: Products, places: Sequence[int], primes: Sequence[int]
) -> bool:
    """Whether the products span over QQ no more than modulo the prime, so that no new generator is
    among them.

    As many functionals as the span lacks dimensions, independent over QQ and zero on all products,
    prove it: those dual to a basis modulo the span, the monomials at the places. More primes are
    used as long as rational reconstruction does not find them, and where these are not enough the
    rank is computed.
    """
    duals: list[tuple[int, list[list[int]]]] = []
    others = (GeneratedPart.of(products, prime) for prime in primes if prime != generated.prime)
    for part in chain([generated], others):
        if len(part.chosen) > len(generated.chosen):
            return False
        if len(part.chosen) == len(generated.chosen):
            duals.append((part.prime, part.dual(places)))
            functionals = _lifted(duals)
            if _are_independent(functionals, places) and generated.is_annihilated(functionals):
                return True
    return generated.rational_rank() <= len(generated.chosen)


def _lifted(duals: Sequence[tuple[int, list[list[int]]]]) -> list[list[int]]:
    """Integer vectors from their residues modulo primes, up to a factor for each vector."""
    primes, residues = zip(*duals, strict=True)
    modulus, weights = chinese_remainder(primes)
    lifted = []
    for vectors in watched(zip(*residues, strict=True)):
        entries = zip(*vectors, strict=True)
        combined = [
            sum([w * r for w, r in zip(weights, entry, strict=True)]) % modulus for entry in entries
        ]
        lifted.append(rational_reconstruction(combined, modulus)[1])
    return lifted


def _are_independent(functionals: Sequence[Sequence[int]], places: Sequence[int]) -> bool:
    """Whether the values at the places are those of a diagonal matrix without zeros on the
    diagonal.
    """
    return all(
        bool(functional[place]) == (i == j)
        for i, functional in enumerate(functionals)
        for j, place in enumerate(places)
    )


@dataclass(frozen=True, slots=True)
class Products:
    """The products x_j · g, g in the basis of the ideal in the multidegree below, restricted to
    free monomials.

    An element of the ideal is determined by its coefficients at the free monomials, those outside a
    basis of the coordinate ring: a relation among the others alone is zero. So ranks may be
    computed there.

    Parameters
    ----------
    neighbours : sequence of Neighbour
    places : list of lists of int
        For each neighbour and each of its products the number of the free monomial, −1 if it is not
        free.
    size : int
        Number of free monomials.
    """

    neighbours: Sequence[Neighbour]
    places: list[list[int]]
    size: int

    @classmethod
    def of(cls, neighbours: Sequence[Neighbour], free: Sequence[Monomial]) -> Products:
        """All products, seen at the free monomials."""
        number = {monomial: i for i, monomial in enumerate(free)}
        places = [
            [number.get(m, -1) for m in neighbour.products] for neighbour in watched(neighbours)
        ]
        return cls(neighbours, places, len(free))

    def distinct(self) -> list[tuple[SparseRow, linear_algebra.Index]]:
        """The different products: nonzero coefficients, and (neighbour, row); short ones first."""
        rows: dict[SparseRow, linear_algebra.Index] = {}
        for i, neighbour in enumerate(self.neighbours):
            places = self.places[i]
            for row, terms in enumerate(watched(neighbour.piece.ideal)):
                product = tuple(
                    sorted(
                        [(place, c) for position, c in terms if (place := places[position]) >= 0]
                    )
                )
                rows.setdefault(product, (i, row))
        return sorted(rows.items(), key=lambda item: len(item[0]))

    def polynomial(
        self, index: linear_algebra.Index, position: Mapping[Monomial, int]
    ) -> SparseRow:
        """One product as a polynomial, its monomials numbered by ``position``."""
        neighbour, row = index
        products = self.neighbours[neighbour].products
        return tuple(
            [(position[products[i]], c) for i, c in self.neighbours[neighbour].piece.ideal[row]]
        )


@dataclass(frozen=True, slots=True)
class GeneratedPart:
    """The span of the products modulo a prime, and the linear functionals that vanish on it.

    Parameters
    ----------
    products : list of sparse rows
        All, without repetitions.
    chosen : list of (neighbour, row)
        Products that are linearly independent modulo the prime, as many as there are.
    functionals : list of sparse vectors over GF(prime)
        For each free monomial its values under a basis of the linear functionals that vanish on the
        chosen products: its class modulo the span.
    """

    products: list[SparseRow]
    chosen: list[linear_algebra.Index]
    functionals: list[linear_algebra.SparseVector]
    prime: int

    @classmethod
    def of(cls, products: Products, prime: int) -> GeneratedPart:
        """Eliminate modulo a prime."""
        listed = products.distinct()
        rows = [
            ({place: c % prime for place, c in row if c % prime}, index)
            for row, index in watched(listed)
        ]
        quotient = linear_algebra.Quotient.of(rows, prime)
        functionals = quotient.classes(products.size)
        return cls([row for row, _ in listed], quotient.chosen, functionals, prime)

    def complement(self, columns: Sequence[int], place: Mapping[int, int]) -> list[int]:
        """The columns whose places are independent modulo the span, each taken if it does not
        depend on earlier ones.

        If the columns suffice, there are as many as there are free monomials less independent
        products.
        """
        return [
            columns[i]
            for i in linear_algebra.reduced_echelon(self._values([place[c] for c in columns]))[1]
        ]

    def dual(self, places: Sequence[int]) -> list[list[int]]:
        """Functionals that vanish on the chosen products, dual to such monomials; all their values,
        mod the prime.
        """
        others = sorted(
            {place for place, values in enumerate(self.functionals) if values}.difference(places)
        )
        order = [*places, *others]
        echelon, pivots = linear_algebra.reduced_echelon(self._values(order))
        dual = []
        for row in watched(range(len(pivots))):
            vector = [0] * len(self.functionals)
            for column, place in enumerate(order):
                vector[place] = int(echelon[row, column])
            dual.append(vector)
        return dual

    def _values(self, places: Sequence[int]) -> flint.nmod_mat:
        """The values of the functionals at some places, which are the columns."""
        numbers: dict[int, int] = {}
        columns = [
            [
                (numbers.setdefault(i, len(numbers)), value)
                for i, value in self.functionals[place].items()
            ]
            for place in places
        ]
        return linear_algebra.filled(
            flint.nmod_mat(len(places), len(numbers), self.prime), columns
        ).transpose()

    def is_annihilated(self, functionals: Sequence[Sequence[int]]) -> bool:
        """Whether functionals over ZZ vanish on all products; then so do they on what these span
        over QQ.

        All functionals are evaluated at once, as digits of one large integer.
        """
        if not functionals:
            return True
        size = max((sum(abs(c) for _, c in row) for row in self.products), default=0)
        bound = size * max((abs(value) for vector in functionals for value in vector), default=0)
        # Sums are at most bound in absolute value, so no digit runs over and only zero has all
        # digits zero.
        width = (2 * bound + 1).bit_length() + 1
        packed = [
            sum(c << width * k for k, c in enumerate(column) if c)
            for column in watched(zip(*functionals, strict=True))
        ]
        return not any(
            sum([c * packed[place] for place, c in row]) for row in watched(self.products)
        )

    def rational_rank(self) -> int:
        """The dimension over QQ of what all products span."""
        return linear_algebra.sparse_rank(map(dict, self.products))


FAST_MODULUS = 1515531528
"""Up to this number, about 2^30.5, FLINT multiplies matrices in half the time that larger moduli
take.
"""
PRIMES = 16
"""The number of primes below it that are kept: the first for a guess, others where it is
unlucky.
"""
LIFTING_PRIMES = 2
"""The number of primes of 62 bits that help to lift larger coefficients to QQ; they are not slower
than those of 31.
"""


@dataclass(frozen=True, slots=True)
class Context:
    """The data that all multidegrees of one computation share; the primes divide no coefficient of
    the map.
    """

    max_degree: int
    grading: PackedGrading
    primes: tuple[int, ...]
    eliminations: tuple[ModularElimination, ...]
    substitution: Substitution

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int, seed: int) -> Context:
        """Prepare the computation for a map up to a degree."""
        grading = PackedGrading.of(source, max_degree)
        coefficients = {abs(c) for image in source.integral_images for c in image.values()}
        primes = tuple(islice(primes_from(FAST_MODULUS, coefficients), PRIMES))
        first = ModularElimination.of(source, max_degree, Random(seed), primes[0])
        lifting = islice(primes_from(linear_algebra.LONG_PRIME, coefficients), LIFTING_PRIMES)
        others = [first.modulo(prime, Random(seed)) for prime in lifting]
        return cls(max_degree, grading, primes, (first, *others), Substitution.of(source))


def compute_piece(
    multidegree: int, degree: int, lower: Mapping[int, Degree], orbit_size: int, *, context: Context
) -> GradedPiece:
    """Dimension, ideal and minimal generators in one multidegree, proved.

    Raises
    ------
    ContradictionError
        If not even elimination over QQ gives a proof (that would be an error in this program, or a
        map for which all these primes are unlucky).
    """
    space = MonomialSpace.of(multidegree, degree, context.grading, lower)
    proved = (
        _proved_piece(
            space, echelon, orbit_size, context, prime, keep_ideal=degree < context.max_degree
        )
        for echelon, prime in _echelons(space.candidates, context)
    )
    piece = next(filter(None, proved), None)
    context.substitution.forget()
    if piece is None:
        raise ContradictionError(
            f"exact elimination in degree {degree} did not give a basis of the ideal"
        )
    return piece


def _echelons(candidates: Sequence[Monomial], context: Context) -> Iterator[tuple[Echelon, int]]:
    """Echelon forms, better ones later, each with the prime modulo which products are seen to be
    independent.
    """
    guess, better_guess, *others = context.primes
    yield Echelon.modular(candidates, context.eliminations[:1]), guess
    yield Echelon.modular(candidates, context.eliminations), better_guess
    for prime in others:
        yield Echelon.exact(candidates, context.substitution), prime


def _proved_piece(
    space: MonomialSpace,
    echelon: Echelon,
    orbit_size: int,
    context: Context,
    prime: int,
    *,
    keep_ideal: bool,
) -> GradedPiece | None:
    """The piece that belongs to an echelon form.

    None if a relation fails on substitution, too few relations are found, or a generator may not be
    minimal.
    """
    pivots = set(echelon.pivots)
    free = [j for j in range(len(space.candidates)) if j not in pivots]
    monomials = space.monomials
    products = Products.of(space.neighbours, [*space.others, *(space.candidates[j] for j in free)])
    generated = GeneratedPart.of(products, prime)
    generators: tuple[Terms, ...] = ()
    if len(generated.chosen) < products.size:
        columns, places = _new_columns(echelon, free, generated)
        relations = proved_relations(echelon, columns, context.eliminations, context.substitution)
        if relations is None or len(generated.chosen) + len(relations) < products.size:
            return None
        if not has_no_larger_rank(generated, products, places, context.primes):
            return None
        generators = relations
    position = {monomial: i for i, monomial in enumerate(monomials)} if keep_ideal else {}
    ideal = (
        [products.polynomial(index, position) for index in generated.chosen] if keep_ideal else []
    )
    ideal += (
        [tuple((position[m], c) for m, c in generator) for generator in generators]
        if keep_ideal
        else []
    )
    multidegree = context.grading.vector(monomials[0])
    proved = len(generated.chosen) + len(generators)
    return GradedPiece(
        multidegree, orbit_size, monomials, echelon.pivots, proved, tuple(ideal), generators
    )


def _new_columns(
    echelon: Echelon, free: list[int], generated: GeneratedPart
) -> tuple[list[int], list[int]]:
    """Free candidates whose relations complete the generated part to the ideal; those with few
    terms if possible.

    Relations correspond to free monomials, and those of some free monomials complete the generated
    part iff the monomials form a basis modulo it. Relations with few terms are taken first. The
    places of the monomials among the free ones are returned with them.
    """
    start = len(generated.functionals) - len(free)
    place = {column: start + i for i, column in enumerate(free)}
    nonzero = [column for column in free if generated.functionals[place[column]]]
    # The list of generators begins with those of most terms.
    columns = generated.complement(echelon.by_support(nonzero), place)[::-1]
    return columns, [place[column] for column in columns]
