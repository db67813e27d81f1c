"""Minimal generators in one multidegree, and the proof that they are all and that none can be left
out.

Three facts are proved for a multidegree with M monomials (docs/computing-closures.md, *Exactness*):

* ρ monomials are independent as functions on the image: they are modulo a prime;
* σ polynomials of the ideal are independent: each vanishes after substitution, and they are
  independent modulo a prime. Where ρ + σ = M, both are dimensions;
* what lower degrees generate has over QQ no larger dimension than modulo the prime, since as many
  functionals vanish on it, so that each generator is needed.

Relations are computed modulo a prime, lifted to QQ, and proved; those with larger coefficients are
computed over QQ, among the basis and few other monomials.

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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from random import Random
from typing import NamedTuple

import flint

from m2bridge.algebra import linear_algebra
from m2bridge.algebra.numbers import primes_from, rational_reconstruction
from m2bridge.algebra.sparse_polynomial import Monomial, Terms, packed
from m2bridge.errors import ContradictionError
from m2bridge.implicitization.elimination import Echelon, ModularElimination, Substitution
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


def proved_relations(
    echelon: Echelon, columns: Sequence[int], substitution: Substitution
) -> tuple[Terms, ...] | None:
    """Return for each column a relation that expresses its monomial in the basis, proved.

    A relation is proved by substitution of the images. Where the coefficients that the echelon
    form gives are wrong, since they are too large to be found modulo its prime, the basis and the
    monomials of these columns are eliminated again over QQ.

    Parameters
    ----------
    echelon : Echelon
        A basis among monomials, the pivots, and the expressions of the others in it, as a guess.
    columns : sequence of int
        Columns of the echelon form that are not pivots.
    substitution : Substitution
        Decides whether a polynomial vanishes on the image.

    Returns
    -------
    tuple of polynomials or None
        In the order of the columns; ``None`` if the pivots are no basis, or relations fail.
    """
    relations = {column: echelon.relation(column) for column in columns}
    wrong = [column for column in columns if not substitution.vanishes(relations[column])]
    if wrong:
        kept = sorted({*echelon.pivots, *wrong})
        exact = Echelon.exact([echelon.monomials[column] for column in kept], substitution)
        if tuple(kept[i] for i in exact.pivots) != echelon.pivots:
            return None
        relations |= {column: exact.relation(kept.index(column)) for column in wrong}
    return tuple(relations[column] for column in columns)


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

    def has_rank_over_rationals(self, places: Sequence[int]) -> bool:
        """Whether the products span no larger dimension over QQ than modulo the prime.

        Then none of the new generators, which are independent modulo the span, is a combination of
        products: each is needed. Over QQ the dimension is at least the rank r modulo the prime. It
        is at most r if n − r independent linear functionals over QQ vanish on all products, where n
        is the number of free monomials. Those that are dual to a basis modulo the span, the free
        monomials at ``places``, are lifted from their residues; each is nonzero at its own place
        and zero at the others, and so they are independent. Where the lifts are wrong, since they
        need a larger prime, the rank over QQ is computed.
        """
        duals = check_deadline_in(self._dual(places))
        # without its denominator a functional vanishes at the same places
        functionals = [rational_reconstruction(values, self.prime)[1] for values in duals]
        if self._is_annihilated(functionals):
            return True
        return linear_algebra.sparse_rank(map(dict, self.products)) <= len(self.chosen)

    def _dual(self, places: Sequence[int]) -> list[list[int]]:
        """Return the functionals that vanish on the span and are dual to the monomials at places.

        Each is given by its residues at all free monomials: 1 at its own place, 0 at the others.
        """
        # the positions at which some functional is not zero; at others the duals are zero too
        nonzero = {place for place, values in enumerate(self.functionals) if values}
        # with the places as the first columns, the echelon form has a unit matrix there
        order = [*places, *sorted(nonzero.difference(places))]
        echelon, pivots = linear_algebra.reduced_echelon(self._values_at(order))
        duals = []
        for row in range(len(pivots)):
            values = [0] * len(self.functionals)
            for column, place in enumerate(order):
                values[place] = int(echelon[row, column])
            duals.append(values)
        return duals

    def _is_annihilated(self, functionals: Sequence[Sequence[int]]) -> bool:
        """Whether functionals, given by integers at all free monomials, vanish on all products.

        All functionals are evaluated at once, as digits of one large integer: a digit is at most
        the largest value times the sum of the absolute values of the coefficients of a product.
        """
        largest = max(map(abs, chain.from_iterable(functionals)), default=0)
        norms = (sum([abs(c) for _, c in product]) for product in self.products)
        digit_bits = (2 * largest * max(norms, default=0) + 1).bit_length() + 1
        by_place = check_deadline_in(zip(*functionals, strict=True))
        digits = [packed(values, digit_bits) for values in by_place]
        return not functionals or not any(
            sum([c * digits[place] for place, c in product])
            for product in check_deadline_in(self.products)
        )


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
        Primes that divide no coefficient of the map.
    elimination : ModularElimination
        Modulo the first of these primes.
    substitution : Substitution
        Proves that polynomials vanish on the image.
    """

    max_degree: int
    grading: PackedGrading
    primes: tuple[int, ...]
    elimination: ModularElimination
    substitution: Substitution

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int, seed: int) -> Context:
        """Prepare the computation for a map up to a degree; ``seed`` chooses slices and points."""
        # The primes divide none of these, so that each image keeps all its terms.
        coefficients: set[int] = set()
        for image in source.integral_images:
            coefficients.update(map(abs, image.values()))
        primes = tuple(islice(primes_from(FAST_MODULUS, coefficients), KEPT_PRIMES))
        return cls(
            max_degree=max_degree,
            grading=PackedGrading.of(source, max_degree),
            primes=primes,
            elimination=ModularElimination.of(
                source, max_degree, random=Random(seed), prime=primes[0]
            ),
            substitution=Substitution.of(source),
        )

    def echelons(self, candidates: Sequence[Monomial]) -> Iterator[tuple[Echelon, int]]:
        """Yield echelon forms for the candidates, each with a prime modulo which to compute the
        span of the products: modulo the first prime, then over QQ with each further prime.
        """
        first_prime, *further_primes = self.primes
        yield Echelon.modular(candidates, self.elimination), first_prime
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
        Its substitution proves relations.

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
    relations = proved_relations(echelon, columns, context.substitution)
    # too few relations hold over QQ: the caller continues with another prime
    if relations is None or len(multiples) + len(relations) < len(free_monomials):
        return None
    # Were the rank of the products larger over QQ, a relation could be a combination of products.
    if not generated.has_rank_over_rationals([place[column] for column in columns]):
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
