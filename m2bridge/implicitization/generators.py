"""One multidegree: the dimensions of coordinate ring and ideal, and the minimal generators of the ideal there.

Why the result is exact although points and primes are arbitrary. Let M be the number of monomials of the multidegree.
Expand them in the parameters, some of which may be fixed, or evaluate them at points: the rank modulo p of the matrix
of coefficients or values is at most the dimension over QQ of the coordinate ring in this multidegree. On the other
side, polynomials are exhibited that vanish identically over ZZ (products of generators proved in lower degrees, and new
generators proved by substitution) and that are linearly independent modulo p, so over QQ. When rank plus number of
these polynomials is M, both are equal to the true dimensions and the polynomials are a basis of the ideal. The new
generators are minimal when what lower degrees generate has over QQ no larger dimension than modulo p; linear
functionals over ZZ that vanish on it show that. Relations and functionals that are too large for one prime are lifted
by more (:mod:`m2bridge.implicitization.lifting`). If a guess cannot be proved even so, the multidegree is done again,
first modulo several primes, then by elimination over QQ, with another prime for the products each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

from m2bridge.algebra.integers import primes_from
from m2bridge.algebra.linear_algebra import large_primes
from m2bridge.errors import ContradictionError
from m2bridge.implicitization.degrees import Degree, GradedPiece, MonomialSpace
from m2bridge.implicitization.elimination import ModularElimination
from m2bridge.implicitization.generated_part import GeneratedPart, Products
from m2bridge.implicitization.lifting import has_no_larger_rank, proved_relations
from m2bridge.implicitization.multidegrees import PackedGrading
from m2bridge.implicitization.relations import Echelon, ExactEchelon, ModularEchelon, Substitution

if TYPE_CHECKING:
    from m2bridge.algebra.sparse_polynomial import Terms
    from m2bridge.implicitization.multigraded_map import MultigradedMap

FAST_MODULUS = 1515531528
"""Up to this number, about 2^30.5, FLINT multiplies matrices in half the time that larger moduli take."""
PRIMES = 16
"""How many primes below it are kept: the first for a guess, others where it is unlucky."""
LIFTING_PRIMES = 2
"""How many primes of 62 bits, not slower than those of 31, help to lift to QQ what is too large for the first one."""


@dataclass(frozen=True, slots=True)
class Context:
    """What all multidegrees of one computation share; the primes divide no coefficient of the map."""

    grading: PackedGrading
    primes: tuple[int, ...]
    eliminations: tuple[ModularElimination, ...]
    substitution: Substitution

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int, seed: int) -> Context:
        """Prepare the computation for a map up to a degree."""
        grading = PackedGrading.of(source, max_degree)
        primes = tuple(islice(_harmless(primes_from(FAST_MODULUS), source), PRIMES))
        first = ModularElimination.of(source, max_degree, Random(seed), primes[0])
        lifting = islice(_harmless(large_primes(), source), LIFTING_PRIMES)
        others = [first.modulo(prime, Random(seed)) for prime in lifting]
        return cls(grading, primes, (first, *others), Substitution.of(source))


def _harmless(primes: Iterator[int], source: MultigradedMap) -> Iterator[int]:
    coefficients = {abs(c) for image in source.integral_images for c in image.values()}
    return (prime for prime in primes if all(c % prime for c in coefficients))


def compute_piece(
    multidegree: int, degree: int, lower: Mapping[int, Degree], orbit_size: int, context: Context, *, keep_ideal: bool
) -> GradedPiece:
    """Dimension, ideal and minimal generators in one multidegree, proved.

    Raises
    ------
    ContradictionError
        If not even elimination over QQ gives a proof (that would be an error in this program, or a map for which all
        these primes are unlucky).
    """
    space = MonomialSpace.of(multidegree, degree, context.grading, lower)
    piece = None
    for make_echelon, number in _ECHELONS:
        echelon = make_echelon(space, context)
        piece = _proved_piece(space, echelon, orbit_size, context, context.primes[number], keep_ideal)
        if piece is not None:
            break
    context.substitution.forget()
    if piece is None:
        raise ContradictionError(f"exact elimination in degree {degree} did not give a basis of the ideal")
    return piece


def _guess(space: MonomialSpace, context: Context) -> Echelon:
    return ModularEchelon.of(space.candidates, context.eliminations[:1])


def _better_guess(space: MonomialSpace, context: Context) -> Echelon:
    return ModularEchelon.of(space.candidates, context.eliminations)


def _exact(space: MonomialSpace, context: Context) -> Echelon:
    return ExactEchelon.of(space.candidates, context.substitution)


_ECHELONS = ((_guess, 0), (_better_guess, 1), *((_exact, number) for number in range(2, PRIMES)))
"""How relations are found, and by which prime it is known that products of generators are independent."""


def _proved_piece(
    space: MonomialSpace, echelon: Echelon, orbit_size: int, context: Context, prime: int, keep_ideal: bool
) -> GradedPiece | None:
    """The piece that belongs to an echelon form.

    None if a relation fails on substitution, too few relations are found, or a generator may not be minimal.
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
    ideal = [products.polynomial(index, position) for index in generated.chosen] if keep_ideal else []
    ideal += [tuple((position[m], c) for m, c in generator) for generator in generators] if keep_ideal else []
    multidegree = context.grading.vector(monomials[0])
    proved = len(generated.chosen) + len(generators)
    return GradedPiece(multidegree, orbit_size, monomials, echelon.pivots, proved, tuple(ideal), generators)


def _new_columns(echelon: Echelon, free: list[int], generated: GeneratedPart) -> tuple[list[int], list[int]]:
    """Free candidates whose relations complete the generated part to the ideal; those with few terms if possible.

    Relations correspond to free monomials, and those of some free monomials complete the generated part iff the
    monomials form a basis modulo it. Relations with few terms are taken first. The places of the monomials among the
    free ones are returned with them.
    """
    start = len(generated.functionals) - len(free)
    place = {column: start + i for i, column in enumerate(free)}
    nonzero = [column for column in free if generated.functionals[place[column]]]
    # The list of generators begins with those of most terms.
    columns = generated.complement(echelon.by_support(nonzero), place)[::-1]
    return columns, [place[column] for column in columns]
