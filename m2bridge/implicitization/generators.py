"""Minimal generators in one multidegree, and the proof that they are all and that none can be left
out.

Three facts are proved for a multidegree with M monomials (docs/computing-closures.md, *Exactness*):

* ρ monomials are independent as functions on the image: they are modulo a prime;
* σ polynomials of the ideal are independent: each vanishes after substitution, and they are
independent modulo a
  prime. Where ρ + σ = M, both are dimensions;
* what lower degrees generate has over QQ no larger dimension than modulo the prime, so that each
generator is needed.

Relations and functionals are computed modulo primes, lifted to QQ with as many primes as they need,
and proved. A relation that needs more primes is eliminated again among the basis and few other
monomials; functionals that vanish on products are computed again modulo one more prime after the
other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from random import Random

import flint

from m2bridge.algebra import linear_algebra
from m2bridge.algebra.numbers import (
    chinese_remainder,
    combined,
    primes_from,
    rational_reconstruction,
)
from m2bridge.algebra.sparse_polynomial import Monomial, Terms, packed
from m2bridge.errors import ContradictionError
from m2bridge.implicitization.elimination import (
    Echelon,
    ModularElimination,
    Substitution,
    rank_and_pivots,
)
from m2bridge.implicitization.graded_pieces import (
    DegreePieces,
    GradedPiece,
    MonomialSpace,
    Neighbour,
    PackedGrading,
    SparseRow,
)
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.limits import check_deadline_in

FAST_MODULUS = 1515531528
"""Up to this number, about 2^30.5, FLINT multiplies matrices in half the time that larger moduli
take.
"""

KEPT_PRIMES = 16
"""The number of primes below it that are kept: the first for a guess, others where it is unlucky.
"""

LIFTING_PRIMES = 2
"""The number of primes of 62 bits that help to lift larger coefficients to QQ; they are not slower
than those of 31.
"""


def proved_relations(
    echelon: Echelon,
    columns: Sequence[int],
    eliminations: Sequence[ModularElimination],
    substitution: Substitution,
) -> tuple[Terms, ...] | None:
    """The relations of some monomials outside the basis, each proved; ``None`` if there is none.

    Those whose coefficients are too large for the echelon form are eliminated again modulo several
    primes, then over QQ.
    """
    ways = (
        partial(Echelon.modular, eliminations=eliminations[1:2]),
        partial(Echelon.modular, eliminations=eliminations),
        partial(Echelon.exact, substitution=substitution),
    )
    proved = dict(_vanishing(echelon, columns, substitution))
    for eliminate in ways:
        missing = [column for column in columns if column not in proved]
        if not missing:
            break
        kept = sorted({*echelon.pivots, *missing})
        again = eliminate([echelon.monomials[column] for column in kept])
        pivots = tuple(kept[i] for i in again.pivots)
        if rank_and_pivots(pivots) < rank_and_pivots(echelon.pivots):
            return None  # The echelon form, not these primes, is unlucky.
        if pivots == echelon.pivots:
            places = [kept.index(column) for column in missing]
            for i, relation in _vanishing(again, places, substitution):
                proved[kept[i]] = relation
    if len(proved) < len(columns):
        return None
    return tuple(proved[column] for column in columns)


def _vanishing(
    echelon: Echelon, columns: Iterable[int], substitution: Substitution
) -> Iterator[tuple[int, Terms]]:
    """The relations, with their columns, that are identically zero after substitution."""
    for column in columns:
        relation = echelon.relation(column)
        if substitution.vanishes(relation):
            yield column, relation


def has_no_larger_rank(
    generated: GeneratedPart, places: Sequence[int], primes: Sequence[int]
) -> bool:
    """Whether the products span over QQ no more than modulo the prime: no new generator is among
    them.

    As many functionals as the span lacks dimensions, independent over QQ and zero on all products,
    prove it: those dual to a basis modulo the span, the monomials at the places. More primes are
    used as long as rational reconstruction does not find them, and where these are not enough the
    rank is computed.
    """
    others = (generated.modulo(prime) for prime in primes if prime != generated.prime)
    rank = len(generated.chosen)
    used = []
    duals = []
    for part in chain([generated], others):
        if len(part.chosen) > rank:
            return False
        if len(part.chosen) < rank:
            continue  # this prime is unlucky
        used.append(part.prime)
        duals.append(part.dual(places))
        functionals = _lifted(used, duals)
        if _are_independent(functionals, places) and generated.is_annihilated(functionals):
            return True
    return generated.rational_rank() <= rank


def _lifted(primes: Sequence[int], duals: Sequence[list[list[int]]]) -> list[list[int]]:
    """Integer vectors from their residues modulo primes, up to a factor for each vector."""
    modulus, weights = chinese_remainder(primes)
    lifted = []
    for vectors in check_deadline_in(zip(*duals, strict=True)):
        residues = combined(vectors, weights, modulus)
        _, numerators = rational_reconstruction(residues, modulus)
        lifted.append(numerators)
    return lifted


def _are_independent(functionals: Sequence[Sequence[int]], places: Sequence[int]) -> bool:
    """Whether the values at the places form a diagonal matrix without zeros on the diagonal."""
    for i, functional in enumerate(functionals):
        nonzero = [j for j, place in enumerate(places) if functional[place]]
        if nonzero != [i]:
            return False
    return True


Products = dict[SparseRow, tuple[Neighbour, SparseRow]]
"""Products x_j · g, restricted to free monomials, with the neighbour of x_j and the polynomial g of
its ideal.
"""


def products_at(free: Sequence[Monomial], neighbours: Sequence[Neighbour]) -> Products:
    """The different products x_j · g, g in the basis of the ideal in the multidegree below; short
    ones first.

    An element of the ideal is determined by its coefficients at the free monomials, those outside a
    basis of the coordinate ring: a relation among the others alone is zero. So ranks may be
    computed there.
    """
    number = {monomial: i for i, monomial in enumerate(free)}
    found: Products = {}
    for neighbour in neighbours:
        places = {i: number[m] for i, m in enumerate(neighbour.products) if m in number}
        for polynomial in check_deadline_in(neighbour.piece.ideal):
            kept = sorted([(places[i], c) for i, c in polynomial if i in places])
            found.setdefault(tuple(kept), (neighbour, polynomial))
    return {product: found[product] for product in sorted(found, key=len)}


@dataclass(frozen=True, slots=True)
class GeneratedPart:
    """The span of the products modulo a prime, and the linear functionals that vanish on it.

    Parameters
    ----------
    products : list of sparse rows
        All, without repetitions.
    prime : int
    chosen : list of int
        Numbers of products that are linearly independent modulo the prime, as many as there are.
    functionals : list of sparse vectors over GF(prime)
        For each free monomial its values under a basis of the linear functionals that vanish on the
        chosen products: its class modulo the span.
    """

    products: list[SparseRow]
    prime: int
    chosen: list[int]
    functionals: list[linear_algebra.SparseVector]

    @classmethod
    def of(cls, products: list[SparseRow], size: int, prime: int) -> GeneratedPart:
        """Eliminate modulo a prime; there are ``size`` free monomials."""
        rows = []
        for product in check_deadline_in(products):
            residues = {place: c % prime for place, c in product}
            rows.append({place: residue for place, residue in residues.items() if residue})
        quotient = linear_algebra.Quotient.of(rows, prime)
        return cls(products, prime, quotient.chosen, quotient.classes(size))

    def modulo(self, prime: int) -> GeneratedPart:
        """Return the span of the same products modulo a different prime."""
        return GeneratedPart.of(self.products, len(self.functionals), prime)

    def complement(self, columns: Sequence[int], place: Mapping[int, int]) -> list[int]:
        """The columns whose places are independent modulo the span and earlier ones.

        If the columns suffice, there are as many as there are free monomials less independent
        products. Monomials are independent modulo the span exactly if their values under the
        functionals that vanish on it are.
        """
        values = self._values([place[column] for column in columns])
        _, pivots = linear_algebra.reduced_echelon(values)
        return [columns[i] for i in pivots]

    def dual(self, places: Sequence[int]) -> list[list[int]]:
        """Functionals zero on the chosen products and dual to such monomials: all values, mod the
        prime.
        """
        nonzero = {place for place, values in enumerate(self.functionals) if values}
        order = [*places, *sorted(nonzero.difference(places))]
        echelon, pivots = linear_algebra.reduced_echelon(self._values(order))
        dual = []
        for row in check_deadline_in(range(len(pivots))):
            vector = [0] * len(self.functionals)
            for column, place in enumerate(order):
                vector[place] = int(echelon[row, column])
            dual.append(vector)
        return dual

    def _values(self, places: Sequence[int]) -> flint.nmod_mat:
        """The values of the functionals at some places, which are the columns."""
        number: dict[int, int] = {}
        columns = []
        for place in places:
            values = self.functionals[place].items()
            columns.append([(number.setdefault(i, len(number)), value) for i, value in values])
        matrix = flint.nmod_mat(len(places), len(number), self.prime)
        return linear_algebra.filled(matrix, columns).transpose()

    def is_annihilated(self, functionals: Sequence[Sequence[int]]) -> bool:
        """Whether functionals over ZZ vanish on all products, and so on what these span over QQ.

        All functionals are evaluated at once, as digits of one large integer.
        """
        if not functionals:
            return True
        norm = max((sum([abs(c) for _, c in product]) for product in self.products), default=0)
        values = map(abs, chain.from_iterable(functionals))
        bound = norm * max(values, default=0)
        # Sums are at most bound in absolute value, so no digit runs over and only zero has all
        # digits zero.
        width = (2 * bound + 1).bit_length() + 1
        digits = [
            packed(column, width) for column in check_deadline_in(zip(*functionals, strict=True))
        ]
        for product in check_deadline_in(self.products):
            if sum([c * digits[place] for place, c in product]):
                return False
        return True

    def rational_rank(self) -> int:
        """The dimension over QQ of what all products span."""
        return linear_algebra.sparse_rank(map(dict, self.products))


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The data that all multidegrees of one computation share.

    The primes divide no coefficient of the map.
    """

    max_degree: int
    grading: PackedGrading
    primes: tuple[int, ...]
    eliminations: tuple[ModularElimination, ...]
    substitution: Substitution

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int, seed: int) -> Context:
        """Prepare the computation for a map up to a degree."""
        coefficients: set[int] = set()
        for image in source.integral_images:
            coefficients.update(map(abs, image.values()))
        primes = tuple(islice(primes_from(FAST_MODULUS, coefficients), KEPT_PRIMES))
        # long primes determine a rational number by fewer residues
        lifting_primes = islice(
            primes_from(linear_algebra.LONG_PRIME, coefficients), LIFTING_PRIMES
        )
        first = ModularElimination.of(source, max_degree, random=Random(seed), prime=primes[0])
        others = [first.modulo(prime, Random(seed)) for prime in lifting_primes]
        return cls(
            max_degree=max_degree,
            grading=PackedGrading.of(source, max_degree),
            primes=primes,
            eliminations=(first, *others),
            substitution=Substitution.of(source),
        )

    def echelons(self, candidates: Sequence[Monomial]) -> Iterator[tuple[Echelon, int]]:
        """Echelon forms, better ones later, each with the prime modulo which products are
        independent.
        """
        guess, better_guess, *others = self.primes
        yield Echelon.modular(candidates, self.eliminations[:1]), guess
        yield Echelon.modular(candidates, self.eliminations), better_guess
        for prime in others:
            yield Echelon.exact(candidates, self.substitution), prime


def compute_piece(
    multidegree: int, degree: int, lower: Mapping[int, DegreePieces], *, context: Context
) -> GradedPiece:
    """Dimension, ideal and minimal generators in one multidegree, proved.

    Raises
    ------
    ContradictionError
        If not even elimination over QQ gives a proof (that would be an error in this program, or a
        map for which all these primes are unlucky).
    """
    space = MonomialSpace.of(multidegree, degree, grading=context.grading, lower=lower)
    found = None
    for echelon, prime in context.echelons(space.candidates):
        found = _proved_ideal(space, echelon, prime=prime, context=context)
        if found is not None:
            break
    context.substitution.forget()
    if found is None:
        raise ContradictionError(
            f"exact elimination in degree {degree} did not give a basis of the ideal"
        )
    multiples, generators = found
    ideal: list[SparseRow] = []
    if degree < context.max_degree:  # higher degrees need the ideal of this one
        position = {monomial: i for i, monomial in enumerate(space.monomials)}
        for neighbour, polynomial in multiples:
            products = neighbour.products
            ideal.append(tuple([(position[products[i]], c) for i, c in polynomial]))
        ideal += [_numbered(generator, position) for generator in generators]
    return GradedPiece(
        monomials=space.monomials,
        basis=echelon.pivots,
        proved=len(multiples) + len(generators),
        ideal=tuple(ideal),
        generators=generators,
    )


def _numbered(polynomial: Terms, position: Mapping[Monomial, int]) -> SparseRow:
    return tuple([(position[monomial], c) for monomial, c in polynomial])


def _proved_ideal(
    space: MonomialSpace, echelon: Echelon, prime: int, context: Context
) -> tuple[list[tuple[Neighbour, SparseRow]], tuple[Terms, ...]] | None:
    """Independent multiples of polynomials of lower degree, and generators: a basis of the ideal.

    None if a relation fails on substitution, too few relations are found, or a generator may not be
    minimal.
    """
    pivots = set(echelon.pivots)
    free = [j for j in range(len(space.candidates)) if j not in pivots]
    free_monomials = [*space.others, *(space.candidates[j] for j in free)]
    products = products_at(free_monomials, space.neighbours)
    generated = GeneratedPart.of(list(products), len(free_monomials), prime)
    # products of generators of lower degree already span a part of the ideal
    multiples = [products[generated.products[i]] for i in generated.chosen]
    if len(multiples) == len(free_monomials):
        return multiples, ()
    columns, places = _new_columns(echelon, free, generated)
    relations = proved_relations(
        echelon, columns, eliminations=context.eliminations, substitution=context.substitution
    )
    # too few relations hold over QQ: the caller continues with another prime
    if relations is None or len(multiples) + len(relations) < len(free_monomials):
        return None
    if not has_no_larger_rank(generated, places, context.primes):
        return None
    return multiples, relations


def _new_columns(
    echelon: Echelon, free: list[int], generated: GeneratedPart
) -> tuple[list[int], list[int]]:
    """Free candidates whose relations complete the generated part to the ideal, and their places.

    Relations correspond to free monomials, and those of some free monomials complete the generated
    part iff the monomials form a basis modulo it. Relations with few terms are taken first. The
    places are among the free monomials, where the candidates come last.
    """
    start = len(generated.functionals) - len(free)
    place = {column: start + i for i, column in enumerate(free)}
    nonzero = [column for column in free if generated.functionals[place[column]]]
    columns = generated.complement(echelon.by_support(nonzero), place)
    columns.reverse()  # the list of generators begins with those of most terms
    return columns, [place[column] for column in columns]
