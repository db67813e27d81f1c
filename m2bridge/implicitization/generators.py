"""Minimal generators in one multidegree, and the proof that they are all and that none can be left
out.

Three facts are proved for a multidegree with M monomials (docs/computing-closures.md, *Exactness*):

* ρ monomials are independent as functions on the image: they are modulo a prime;
* σ polynomials of the ideal are independent: each vanishes after substitution, and they are
  independent modulo a prime. Where ρ + σ = M, both are dimensions;
* what lower degrees generate has over QQ no larger dimension than modulo the prime, so that each
  generator is needed.

Relations and functionals are computed modulo primes, lifted to QQ with as many primes as they need,
and proved. A relation that needs more primes is eliminated again among the basis and few other
monomials; functionals that vanish on products are computed again modulo one more prime after the
other.

A monomial lists the numbers of its coordinates in ascending order, with repetition. The basis is
monomials that are a basis of the coordinate ring of the image in the multidegree, the pivots of an
echelon form; all other monomials are called free, and a place is a position in their list.
Candidates are the monomials that can be in the basis. A product x_j · g is a coordinate times an
element g of the ideal of lower degree, in the multidegree called the neighbour of x_j; products
span the part of the ideal that lower degrees generate, and are given by their coefficients at the
free monomials. A functional is linear on such coefficients, and given by its values at the free
monomials. A prime or echelon form is unlucky if its rank or pivots are not those over QQ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from random import Random
from typing import NamedTuple

import flint

from m2bridge.algebra import linear_algebra
from m2bridge.algebra.numbers import (
    chinese_remainder,
    combine_residues,
    primes_from,
    rational_reconstruction,
)
from m2bridge.algebra.sparse_polynomial import Monomial, Terms, packed
from m2bridge.errors import ContradictionError
from m2bridge.implicitization.elimination import (
    Echelon,
    ModularElimination,
    Substitution,
    unluckiness,
)
from m2bridge.implicitization.graded_pieces import (
    DegreePieces,
    GradedPiece,
    MonomialSpace,
    Neighbour,
    PackedGrading,
    SparseRow,
    products_at,
)
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.limits import check_deadline_in

FAST_MODULUS = 1515531528
"""Up to this number, about 2^30.5, FLINT multiplies matrices in half the time that larger moduli
take.
"""

KEPT_PRIMES = 16
"""The number of primes below ``FAST_MODULUS`` that are kept: the first for a guess, others where it
is unlucky.
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
    """Return for each column a relation that expresses its monomial in the basis, proved.

    A relation is proved by substitution of the images. Where the coefficients that the echelon
    form gives are wrong, since they are too large to be found modulo its primes, its columns are
    eliminated again modulo one long prime, then modulo several primes, then over QQ.

    Parameters
    ----------
    echelon : Echelon
        A basis among monomials, the pivots, and the expressions of the others in it, as a guess.
    columns : sequence of int
        Columns of the echelon form that are not pivots.
    eliminations : sequence of ModularElimination
        The first is modulo a short prime, the others modulo long ones.
    substitution : Substitution
        Decides whether a polynomial vanishes on the image.

    Returns
    -------
    tuple of polynomials or None
        In the order of the columns; ``None`` if not every column has a proved relation.
    """
    # Each takes monomials, and returns their echelon form.
    eliminate_methods = (
        # modulo one long prime, all primes, no prime
        partial(Echelon.modular, eliminations=eliminations[1:2]),
        partial(Echelon.modular, eliminations=eliminations),
        partial(Echelon.exact, substitution=substitution),
    )
    # the relations proved so far, by their columns
    proved = dict(_relations_that_vanish(echelon, columns, substitution))
    for eliminate in eliminate_methods:
        missing = [column for column in columns if column not in proved]
        if not missing:
            break
        # the basis and few other monomials
        kept_columns = sorted({*echelon.pivots, *missing})
        kept_monomials = [echelon.monomials[column] for column in kept_columns]
        smaller = SmallerEchelon(eliminate(kept_monomials), kept_columns)
        pivots = smaller.pivots
        # A larger rank, or pivots further left, show that the echelon form that is given, and not
        # the smaller one, is unlucky.
        if unluckiness(pivots) < unluckiness(echelon.pivots):
            return None
        # with other pivots the smaller echelon form is unlucky, and the next method is tried
        if pivots == echelon.pivots:
            proved |= smaller.relations_that_vanish(missing, substitution)
    if len(proved) < len(columns):
        return None
    return tuple(proved[column] for column in columns)


class SmallerEchelon(NamedTuple):
    """The echelon form of some of the monomials of a larger one.

    Its column number i is that of the monomial in column ``columns[i]`` of the larger one; columns
    and pivots of its methods are numbered as in the larger one.
    """

    echelon: Echelon
    columns: list[int]

    @property
    def pivots(self) -> tuple[int, ...]:
        """The pivots, as columns of the larger echelon form."""
        return tuple(self.columns[i] for i in self.echelon.pivots)

    def relations_that_vanish(
        self, columns: Sequence[int], substitution: Substitution
    ) -> dict[int, Terms]:
        """Return the relations of these columns that vanish on the image, by their columns."""
        own_columns = [self.columns.index(column) for column in columns]
        relations = _relations_that_vanish(self.echelon, own_columns, substitution)
        return {self.columns[i]: relation for i, relation in relations}


def _relations_that_vanish(
    echelon: Echelon, columns: Iterable[int], substitution: Substitution
) -> Iterator[tuple[int, Terms]]:
    """Yield (column, relation) for those of the columns whose relation, read off the echelon form,
    is identically zero after substitution.
    """
    for column in columns:
        relation = echelon.relation(column)
        if substitution.vanishes(relation):
            yield column, relation


def has_no_larger_rank(
    generated: GeneratedPart, places: Sequence[int], primes: Sequence[int]
) -> bool:
    """Whether the products span no larger dimension over QQ than modulo a prime, which is r.

    Then none of the new generators, which are independent modulo the span, is a combination of
    products: each is needed. Over QQ the dimension is at least r. It is at most r if there are
    n − r independent linear functionals over QQ that vanish on all products, where n is the number
    of free monomials. A basis modulo the span, at the places, has one dual functional for each of
    its monomials: they are computed modulo primes and lifted to QQ, from as many primes as that
    takes; if all primes are not enough, the rank over QQ is computed.

    Parameters
    ----------
    generated : GeneratedPart
        The span of the products modulo its prime.
    places : sequence of int
        Positions of n − r free monomials, a basis modulo the span, by which functionals are chosen.
    primes : sequence of int
        Further primes for lifting.
    """
    modulo_others = (generated.modulo(prime) for prime in primes if prime != generated.prime)
    rank = len(generated.chosen)  # r
    used_primes = []
    duals = []
    for modulo_prime in chain([generated], modulo_others):
        if len(modulo_prime.chosen) > rank:
            return False  # the rank over QQ is at least that modulo any prime
        if len(modulo_prime.chosen) < rank:
            continue  # this prime is unlucky
        used_primes.append(modulo_prime.prime)
        duals.append(modulo_prime.dual(places))
        functionals = _lift_to_integers(used_primes, duals)
        if _are_independent(functionals, places) and generated.is_annihilated(functionals):
            return True
    return generated.rational_rank() <= rank


def _lift_to_integers(primes: Sequence[int], duals: Sequence[list[list[int]]]) -> list[list[int]]:
    """Return integer vectors, each a multiple of the rational vector with the given residues.

    ``duals[k][i]`` is vector i modulo ``primes[k]``. A result is right only if numerators and
    denominators are small against the product of the primes, so the caller checks them.
    """
    modulus, weights = chinese_remainder(primes)
    lifted = []
    for vectors in check_deadline_in(zip(*duals, strict=True)):
        residues = combine_residues(vectors, weights, modulus)
        # without the common denominator the vector vanishes at the same places
        _, numerators = rational_reconstruction(residues, modulus)
        lifted.append(numerators)
    return lifted


def _are_independent(functionals: Sequence[Sequence[int]], places: Sequence[int]) -> bool:
    """Whether functional i is nonzero at ``places[i]`` and zero at all other places, for each i.

    Then the functionals, which are given by their values, are linearly independent.
    """
    for i, functional in enumerate(functionals):
        nonzero = [j for j, place in enumerate(places) if functional[place]]
        if nonzero != [i]:
            return False
    return True


@dataclass(frozen=True, slots=True)
class GeneratedPart:
    """The span of the products modulo a prime, and the linear functionals that vanish on it.

    Parameters
    ----------
    products : list of sparse rows
        All products x_j · g at the free monomials, without repetitions; see :func:`products_at`.
    prime : int
    chosen : list of int
        Numbers of products that form a basis of the span modulo the prime.
    functionals : list of sparse vectors over GF(prime)
        For each free monomial its nonzero values, by the numbers of the functionals. These are a
        basis of those that vanish on the span, so the values are the class modulo the span.
    """

    products: list[SparseRow]
    prime: int
    chosen: list[int]
    functionals: list[linear_algebra.SparseVector]

    @classmethod
    def of(cls, products: list[SparseRow], size: int, prime: int) -> GeneratedPart:
        """Return the span modulo a prime of products in ``size`` free monomials.

        The functionals are the coordinates of the quotient by the span: the class of each free
        monomial, written in the free monomials that are independent modulo the span.
        """
        rows = []
        for product in check_deadline_in(products):
            residues = {place: c % prime for place, c in product}
            nonzero_residues = {place: residue for place, residue in residues.items() if residue}
            rows.append(nonzero_residues)
        quotient = linear_algebra.Quotient.of(rows, prime)
        classes = quotient.classes(size)  # for each free monomial
        return cls(products, prime, chosen=quotient.chosen, functionals=classes)

    def modulo(self, prime: int) -> GeneratedPart:
        """Return the span of the same products modulo a different prime."""
        return GeneratedPart.of(self.products, len(self.functionals), prime)

    def complement(self, columns: Sequence[int], place: Mapping[int, int]) -> list[int]:
        """Return those of the columns whose monomials do not depend, modulo the span, on the
        monomials of columns earlier in the sequence.

        Monomials are independent modulo the span exactly if their values under the functionals that
        vanish on it are. If all columns together span the quotient, the returned ones are a basis
        of it: as many as there are free monomials less independent products.

        Parameters
        ----------
        columns : sequence of int
            Columns of an echelon form, whose monomials are free.
        place : mapping from int to int
            The position of each of these columns among the free monomials.
        """
        # Column i of the matrix has the values of all functionals at the monomial of columns[i].
        values = self._values_at([place[column] for column in columns])
        pivots = linear_algebra.reduced_echelon(values).pivots
        return [columns[i] for i in pivots]

    def dual(self, places: Sequence[int]) -> list[list[int]]:
        """Return the functionals that vanish on the span and are dual to some free monomials.

        Parameters
        ----------
        places : sequence of int
            Positions of free monomials that form a basis modulo the span.

        Returns
        -------
        list of lists of int
            Functional number i by its values modulo the prime at all free monomials: 1 at place
            number i, 0 at the other places.
        """
        # the positions at which some functional is not zero; at others the duals are zero too
        nonzero = {place for place, values in enumerate(self.functionals) if values}
        # with the places as the first columns, the echelon form has a unit matrix there
        order = [*places, *sorted(nonzero.difference(places))]
        echelon, pivots = linear_algebra.reduced_echelon(self._values_at(order))
        duals = []
        for row in check_deadline_in(range(len(pivots))):
            values_of_dual = [0] * len(self.functionals)
            for column, place in enumerate(order):
                values_of_dual[place] = int(echelon[row, column])
            duals.append(values_of_dual)
        return duals

    def _values_at(self, places: Sequence[int]) -> flint.nmod_mat:
        """Return the matrix of the values of the functionals at some free monomials.

        Column k belongs to the free monomial at ``places[k]``. There is a row for each functional
        that is nonzero at one of the places or more, in the order in which they are met.
        """
        row_of: dict[int, int] = {}  # functional → its row
        columns = []  # each as pairs (row, value)
        for place in places:
            column = []
            for functional, value in self.functionals[place].items():
                row = row_of.setdefault(functional, len(row_of))
                column.append((row, value))
            columns.append(column)
        transposed = flint.nmod_mat(len(places), len(row_of), self.prime)
        return linear_algebra.fill_matrix(transposed, columns).transpose()

    def is_annihilated(self, functionals: Sequence[Sequence[int]]) -> bool:
        """Whether functionals over ZZ vanish on all products, and so on what these span over QQ.

        ``functionals[i][place]`` is the value of functional i at a free monomial. All functionals
        are evaluated at once, as digits of one large integer.
        """
        if not functionals:
            return True
        # for each product the sum of absolute values of its coefficients
        norms = [sum([abs(c) for _, c in product]) for product in self.products]
        max_norm = max(norms, default=0)
        max_value = max(map(abs, chain.from_iterable(functionals)), default=0)
        # A functional is at most this in absolute value on every product. So with digits of twice
        # this size, the packed values are zero only if all functionals are.
        bound = max_norm * max_value
        bits_per_digit = (2 * bound + 1).bit_length() + 1
        # for each free monomial the values of all functionals, as one integer
        values_by_place = check_deadline_in(zip(*functionals, strict=True))
        packed_values = [packed(values, bits_per_digit) for values in values_by_place]
        for product in check_deadline_in(self.products):
            if sum([c * packed_values[place] for place, c in product]) != 0:
                return False
        return True

    def rational_rank(self) -> int:
        """Return the dimension of the span of all products over QQ."""
        return linear_algebra.sparse_rank(map(dict, self.products))


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The data that all multidegrees of one computation share.

    Parameters
    ----------
    max_degree : int
        The last degree of the computation.
    grading : PackedGrading
        The multidegrees of the coordinates, each packed into one integer.
    primes : tuple of int
        Short primes, which divide no coefficient of the map.
    eliminations : tuple of ModularElimination
        Modulo the first of these primes, and modulo a few long primes.
    substitution : Substitution
        Proves that polynomials vanish on the image.
    """

    max_degree: int
    grading: PackedGrading
    primes: tuple[int, ...]
    eliminations: tuple[ModularElimination, ...]
    substitution: Substitution

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int, seed: int) -> Context:
        """Prepare the computation for a map up to a degree; ``seed`` chooses slices and points."""
        # The primes divide none of these, so that each image keeps all its terms.
        coefficients: set[int] = set()
        for image in source.integral_images:
            coefficients.update(map(abs, image.values()))
        primes = tuple(islice(primes_from(FAST_MODULUS, coefficients), KEPT_PRIMES))
        # long primes determine a rational number by fewer residues
        lifting_primes = islice(
            primes_from(linear_algebra.LONG_PRIME, coefficients), LIFTING_PRIMES
        )
        # All are on the slice that the first one finds; each draws its own points.
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
        """Yield echelon forms for the candidates, each with a prime modulo which to compute the
        span of the products.

        The echelon forms become more reliable and more expensive: modulo one prime, modulo several
        primes, over QQ. The last is repeated with each further prime for the products.
        """
        first_prime, second_prime, *further_primes = self.primes
        yield Echelon.modular(candidates, self.eliminations[:1]), first_prime
        yield Echelon.modular(candidates, self.eliminations), second_prime
        for prime in further_primes:
            yield Echelon.exact(candidates, self.substitution), prime


def compute_piece(
    multidegree: int, degree: int, lower: Mapping[int, DegreePieces], *, context: Context
) -> GradedPiece:
    """Return the ideal, its minimal generators and the dimensions in one multidegree, proved.

    Parameters
    ----------
    multidegree : int
        A dominant multidegree, packed.
    degree : int
        Its degree.
    lower : mapping from degree to DegreePieces
        The pieces of all smaller degrees.
    context : Context

    Raises
    ------
    ContradictionError
        If not even elimination over QQ gives a proof (that would be an error in this program, or a
        map for which all these primes are unlucky).
    """
    space = MonomialSpace.of(multidegree, degree, grading=context.grading, lower=lower)
    pivots, basis_of_ideal = _proved_bases(space, degree, context)
    is_last_degree = degree == context.max_degree  # then no higher degree needs the ideal
    return GradedPiece(
        monomials=space.monomials,
        basis=pivots,  # positions among the candidates, the first of the monomials
        proved=len(basis_of_ideal.multiples) + len(basis_of_ideal.generators),
        ideal=() if is_last_degree else basis_of_ideal.rows(space.monomials),
        generators=basis_of_ideal.generators,
    )


class BasisOfIdeal(NamedTuple):
    """A basis of the ideal in one multidegree: ``multiples``, then the new ``generators``.

    The multiples are some of the products x_j · g, a basis of the part of the ideal that lower
    degrees generate; each is given by the neighbour of x_j and the polynomial g of its ideal.
    """

    multiples: list[tuple[Neighbour, SparseRow]]
    generators: tuple[Terms, ...]

    def rows(self, monomials: Sequence[Monomial]) -> tuple[SparseRow, ...]:
        """Return the basis, multiples first, as pairs (position of a monomial, coefficient).

        ``monomials`` are all those of the multidegree, which have these positions.
        """
        position = {monomial: i for i, monomial in enumerate(monomials)}
        rows: list[SparseRow] = []
        for neighbour, polynomial in self.multiples:
            products = neighbour.products
            # A term (i, c) of g times x_j is c times the monomial products[i] of this multidegree.
            rows.append(tuple([(position[products[i]], c) for i, c in polynomial]))
        rows += [tuple([(position[m], c) for m, c in generator]) for generator in self.generators]
        return tuple(rows)


class ProvedBases(NamedTuple):
    """Bases of the coordinate ring and of the ideal in one multidegree, proved.

    The basis of the coordinate ring is given by the positions ``pivots`` among the candidates.
    """

    pivots: tuple[int, ...]
    of_ideal: BasisOfIdeal


def _proved_bases(space: MonomialSpace, degree: int, context: Context) -> ProvedBases:
    """Return the first bases for the monomials of a multidegree that are proved, by echelon forms
    that become more reliable.

    Raises
    ------
    ContradictionError
        If not even elimination over QQ gives a proof.
    """
    try:
        for echelon, prime in context.echelons(space.candidates):
            basis_of_ideal = _proved_ideal(space, echelon, prime=prime, context=context)
            if basis_of_ideal is not None:
                return ProvedBases(echelon.pivots, basis_of_ideal)
    finally:
        # expansions are not needed in other multidegrees, and take much memory
        context.substitution.forget_expansions()
    raise ContradictionError(
        f"exact elimination in degree {degree} did not give a basis of the ideal"
    )


def _proved_ideal(
    space: MonomialSpace, echelon: Echelon, prime: int, context: Context
) -> BasisOfIdeal | None:
    """Return a basis of the ideal in one multidegree, proved: multiples and new generators.

    Parameters
    ----------
    space : MonomialSpace
        The monomials of the multidegree.
    echelon : Echelon
        The candidates among them, and a basis of the coordinate ring; it may be unlucky.
    prime : int
        The prime modulo which the span of the products is computed.
    context : Context
        Primes, and eliminations and the substitution that prove relations.

    Returns
    -------
    BasisOfIdeal or None
        ``None`` if a relation fails on substitution, too few relations are found, or a generator
        may not be minimal.
    """
    pivots = set(echelon.pivots)
    free = [j for j in range(len(space.candidates)) if j not in pivots]  # the free candidates
    free_monomials = [*space.others, *(space.candidates[j] for j in free)]
    place = {column: len(space.others) + i for i, column in enumerate(free)}
    # maps the coefficients of x_j · g at the free monomials to (neighbour of x_j, g)
    origin_of_product = products_at(free_monomials, space.neighbours)
    generated = GeneratedPart.of(list(origin_of_product), len(free_monomials), prime)
    multiples = [origin_of_product[generated.products[i]] for i in generated.chosen]
    # The dimension of the ideal is at most the number of free monomials: those at the pivots are
    # independent on the image modulo a prime, and hence over QQ, also if the echelon form is
    # unlucky. The multiples are independent too: so they are a basis, and nothing is new.
    if len(multiples) == len(free_monomials):
        return BasisOfIdeal(multiples, ())
    # Free candidates whose relations complete the multiples to a basis of the ideal, by their
    # columns of the echelon form.
    columns = _new_columns(echelon, place, generated)
    relations = proved_relations(
        echelon, columns, eliminations=context.eliminations, substitution=context.substitution
    )
    # too few relations hold over QQ: the caller continues with another prime
    if relations is None or len(multiples) + len(relations) < len(free_monomials):
        return None
    # Were the rank of the products larger over QQ, a relation could be a combination of products.
    places = [place[column] for column in columns]
    if not has_no_larger_rank(generated, places, context.primes):
        return None
    return BasisOfIdeal(multiples, relations)


def _new_columns(echelon: Echelon, place: Mapping[int, int], generated: GeneratedPart) -> list[int]:
    """Return columns of free candidates whose relations complete the generated part to the ideal.

    Each free candidate has a relation, which expresses it in the basis. The relations of some free
    candidates complete the generated part to the ideal iff these monomials form a basis modulo it.
    Relations with few terms are preferred.

    Parameters
    ----------
    echelon : Echelon
        The echelon form of all candidates.
    place : mapping from column to int
        The position of each free candidate among the free monomials, by its column.
    generated : GeneratedPart
        The span of the products at the free monomials.
    """
    # a monomial on which all functionals are zero is in the span
    outside_span = [column for column in place if generated.functionals[place[column]]]
    # The first columns that complement the span are taken, so those with few terms come first.
    shortest_first = echelon.by_support(outside_span)
    columns = generated.complement(shortest_first, place)
    columns.reverse()  # so that the list of generators begins with those of most terms
    return columns
