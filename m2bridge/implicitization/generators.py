"""Minimal generators in one multidegree, and the proof that they are all and that none can be left
out.

Three facts are proved for a multidegree with M monomials (docs/computing-closures.md, *Exactness*):

* ρ monomials are independent as functions on the image: they are modulo a prime;
* σ polynomials of the ideal are independent: each vanishes after substitution, and they are
  independent modulo a prime. Where ρ + σ = M, both are dimensions;
* what lower degrees generate has over QQ no larger dimension than modulo the prime, since as many
  functionals vanish on it, so that each generator is needed.

Relations are computed modulo a prime, lifted to QQ, and proved; those with larger coefficients are
computed over QQ, among the basis and few other monomials. A prime or echelon form is unlucky if its
rank or pivots are not those over QQ; the next one is tried then. Only if all primes are unlucky, or
this program is wrong, there is a ContradictionError.

A monomial lists the numbers of its coordinates in ascending order, with repetition. The basis is
monomials that are a basis of the coordinate ring of the image in the multidegree, the pivots of an
echelon form of the *candidates*, the monomials that can be in it; all other monomials are called
*free*, and a *place* is a position in their list. A product x_j · g is a coordinate times an
element g of the ideal of lower degree, in the multidegree called the neighbour of x_j; products
span the part of the ideal that lower degrees generate, and are given by their coefficients at the
free monomials. A functional is linear on such coefficients, and given by its values at the free
monomials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def proved_relations(
    echelon: Echelon, columns: Sequence[int], substitution: Substitution
) -> tuple[Terms, ...] | None:
    """Return for each column that is not a pivot a relation that expresses its monomial in the
    basis, proved by substitution; ``None`` if the pivots are no basis, or relations fail.
    """
    relations = {column: echelon.relation(column) for column in columns}
    wrong = [column for column in columns if not substitution.vanishes(relations[column])]
    # Coefficients that are too large to be found modulo the prime are computed over QQ, among the
    # basis and the monomials of these columns.
    if wrong:
        columns_over_qq = sorted({*echelon.pivots, *wrong})
        monomials = [echelon.monomials[column] for column in columns_over_qq]
        exact = Echelon.exact(monomials, substitution)
        if tuple(columns_over_qq[i] for i in exact.pivots) != echelon.pivots:
            return None
        relations |= {column: exact.relation(columns_over_qq.index(column)) for column in wrong}
    return tuple(relations[column] for column in columns)


@dataclass(frozen=True, slots=True)
class GeneratedPart:
    """The span of the products modulo a prime, and the linear functionals that vanish on it."""

    products: list[SparseRow]  # all products, without repetitions
    prime: int
    basis: list[int]  # the numbers of products that form a basis of the span
    # For each free monomial its nonzero values, by the numbers of the functionals. These are a
    # basis of the functionals that vanish on the span: the values are the class modulo the span.
    functionals: list[linear_algebra.SparseVector]

    @classmethod
    def of(cls, products: list[SparseRow], size: int, prime: int) -> GeneratedPart:
        """Return the span of products in ``size`` free monomials; the functionals are the
        coordinates of the quotient, in the free monomials that are independent modulo the span.
        """
        rows = []
        for product in check_deadline_in(products):
            residues = {place: c % prime for place, c in product}
            nonzero_residues = {place: residue for place, residue in residues.items() if residue}
            rows.append(nonzero_residues)
        quotient = linear_algebra.Quotient.of(rows, prime)
        classes = quotient.classes(size)  # for each free monomial
        return cls(products, prime, basis=quotient.basis_rows, functionals=classes)

    def complement(self, columns: Sequence[int], place: Mapping[int, int]) -> list[int]:
        """Return the columns whose monomials do not depend, modulo the span, on monomials of
        columns earlier in the sequence; ``place`` maps a column to the position among the free
        monomials.

        Monomials are independent modulo the span exactly if their values under the functionals are.
        If all columns together span the quotient, the returned ones are a basis of it.
        """
        # Column i of the matrix has the values of all functionals at the monomial of columns[i].
        values = self._values_at([place[column] for column in columns])
        pivots = linear_algebra.reduced_echelon(values).pivots
        return [columns[i] for i in pivots]

    def _values_at(self, places: Sequence[int]) -> flint.nmod_mat:
        """Return the matrix of the values of the functionals at free monomials, one column for each
        place, without the functionals that are zero at all of them.
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
        # the positions at which some functional is not zero; at others the duals are zero too
        nonzero = {place for place, values in enumerate(self.functionals) if values}
        # with the places as the first columns, the echelon form has a unit matrix there
        order = [*places, *sorted(nonzero.difference(places))]
        echelon, pivots = linear_algebra.reduced_echelon(self._values_at(order))
        duals = []
        for row in check_deadline_in(range(len(pivots))):
            residues = [0] * len(self.functionals)
            for column, place in enumerate(order):
                residues[place] = int(echelon[row, column])
            # without its denominator a functional vanishes at the same places
            duals.append(rational_reconstruction(residues, self.prime)[1])
        if self._is_annihilated(duals):
            return True
        return linear_algebra.sparse_rank(map(dict, self.products)) <= len(self.basis)

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
    """The data that all multidegrees of one computation share."""

    max_degree: int
    grading: PackedGrading
    primes: tuple[int, ...]  # they divide no coefficient of the map
    elimination: ModularElimination  # modulo the first prime
    substitution: Substitution

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int, seed: int) -> Context:
        """Prepare the computation for a map up to a degree; ``seed`` chooses slices and points."""
        # The primes divide none of these, so that each image keeps all its terms.
        coefficients: set[int] = set()
        for image in source.integral_images:
            coefficients.update(map(abs, image.values()))
        # the first prime is for a guess, and others where it is unlucky
        primes = tuple(islice(primes_from(FAST_MODULUS, coefficients), 16))
        return cls(
            max_degree=max_degree,
            grading=PackedGrading.of(source, max_degree),
            primes=primes,
            elimination=ModularElimination.of(
                source, max_degree, random=Random(seed), prime=primes[0]
            ),
            substitution=Substitution.of(source),
        )


def compute_piece(
    multidegree: int, degree: int, lower: Mapping[int, DegreePieces], *, context: Context
) -> GradedPiece:
    """Return the ideal, its minimal generators and the dimensions in one dominant multidegree,
    proved, from the pieces of all smaller degrees.
    """
    space = MonomialSpace.of(multidegree, degree, grading=context.grading, lower=lower)
    try:
        pivots, basis_of_ideal = _proved_bases(space, degree, context)
    finally:
        # expansions are not needed in other multidegrees, and take much memory
        context.substitution.forget_expansions()
    is_last_degree = degree == context.max_degree  # then no higher degree needs the ideal
    return GradedPiece(
        monomials=space.monomials,
        basis=pivots,  # positions among the candidates, the first of the monomials
        proved=len(basis_of_ideal.multiples) + len(basis_of_ideal.generators),
        ideal=() if is_last_degree else basis_of_ideal.rows(space.monomials),
        generators=basis_of_ideal.generators,
    )


class BasisOfIdeal(NamedTuple):
    """A basis of the ideal in one multidegree: ``multiples``, a basis of the part that lower
    degrees generate, then the new ``generators``.
    """

    multiples: list[tuple[Neighbour, SparseRow]]  # x_j · g, by the neighbour of x_j and g
    generators: tuple[Terms, ...]

    def rows(self, monomials: Sequence[Monomial]) -> tuple[SparseRow, ...]:
        """Return the basis by positions in ``monomials``, all of the multidegree."""
        position = {monomial: i for i, monomial in enumerate(monomials)}
        rows: list[SparseRow] = []
        for neighbour, polynomial in self.multiples:
            products = neighbour.products
            # A term (i, c) of g times x_j is c times the monomial products[i] of this multidegree.
            rows.append(tuple([(position[products[i]], c) for i, c in polynomial]))
        rows += [tuple([(position[m], c) for m, c in generator]) for generator in self.generators]
        return tuple(rows)


def _proved_bases(
    space: MonomialSpace, degree: int, context: Context
) -> tuple[tuple[int, ...], BasisOfIdeal]:
    """Return the first bases that are proved: of the coordinate ring by its positions among the
    candidates, and of the ideal.
    """
    first_prime, *further_primes = context.primes
    echelon = Echelon.modular(space.candidates, context.elimination)
    basis = _proved_ideal(space, echelon, prime=first_prime, context=context)
    for prime in further_primes:
        if basis is not None:
            break
        echelon = Echelon.exact(space.candidates, context.substitution)
        basis = _proved_ideal(space, echelon, prime=prime, context=context)
    if basis is None:
        raise ContradictionError(
            f"exact elimination in degree {degree} did not give a basis of the ideal"
        )
    return echelon.pivots, basis


def _proved_ideal(
    space: MonomialSpace, echelon: Echelon, prime: int, context: Context
) -> BasisOfIdeal | None:
    """Return a basis of the ideal in one multidegree, proved, from an echelon form of the
    candidates and products modulo a prime, which may both be unlucky.

    ``None`` if a relation fails on substitution, too few relations are found, or a generator may
    not be minimal.
    """
    pivots = set(echelon.pivots)
    free = [j for j in range(len(space.candidates)) if j not in pivots]  # the free candidates
    free_monomials = [*space.others, *(space.candidates[j] for j in free)]
    place = {column: len(space.others) + i for i, column in enumerate(free)}
    # maps the coefficients of x_j · g at the free monomials to (neighbour of x_j, g)
    origin_of_product = products_at(free_monomials, space.neighbours)
    generated = GeneratedPart.of(list(origin_of_product), len(free_monomials), prime)
    multiples = [origin_of_product[generated.products[i]] for i in generated.basis]
    # The dimension of the ideal is at most the number of free monomials: those at the pivots are
    # independent on the image modulo a prime, and hence over QQ, also if the echelon form is
    # unlucky. The multiples are independent too: so they are a basis, and nothing is new.
    if len(multiples) == len(free_monomials):
        return BasisOfIdeal(multiples, ())
    # Each free candidate has a relation, which expresses it in the basis. The relations of some of
    # them complete the multiples to a basis of the ideal iff these monomials are a basis modulo the
    # span. A monomial on which all functionals are zero is in the span. The first columns that
    # complement it are taken, so the monomials with short relations come first.
    outside_span = [column for column in place if generated.functionals[place[column]]]
    columns = generated.complement(echelon.by_support(outside_span), place)
    columns.reverse()  # so that the list of generators begins with the ones of most terms
    relations = proved_relations(echelon, columns, context.substitution)
    # too few relations hold over QQ: the caller continues with another prime
    if relations is None or len(multiples) + len(relations) < len(free_monomials):
        return None
    # Were the rank of the products larger over QQ, a relation could be a combination of products.
    if not generated.has_rank_over_rationals([place[column] for column in columns]):
        return None
    return BasisOfIdeal(multiples, relations)
