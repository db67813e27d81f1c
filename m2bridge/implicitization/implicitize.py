"""Generators of the ideal of an image up to a degree and its Hilbert function, with proof.

:func:`implicitize` is the way in: the linear relations first, then one degree after the other in
the independent coordinates (``graded_pieces``), in each multidegree by ``generators``. On what the
proof rests stands in docs/computing-closures.md, *Multigraded implicitization*.

``Terms`` are a polynomial as pairs of a monomial, the numbers of its coordinates in ascending order
with repetition, and an integer coefficient. Symmetries, permutations π of the coordinates given by
π(0), π(1), …, carry the ideal to itself and a multidegree to those of its orbit; generators are
computed for one multidegree of each orbit, the dominant one, and carried to the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from operator import attrgetter
from typing import Any

from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.linear_algebra import IntegerVector
from m2bridge.algebra.numbers import without_denominators
from m2bridge.algebra.polynomial_map import LinearReduction
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.algebra.sparse_polynomial import Terms, exponents_of
from m2bridge.errors import InvalidCaseError
from m2bridge.implicitization import elimination
from m2bridge.implicitization.generators import Context, compute_piece
from m2bridge.implicitization.graded_pieces import (
    DegreePieces,
    PackedGrading,
    SymmetryStep,
    complete_degrees,
)
from m2bridge.implicitization.multigraded_map import MultigradedMap, Permutation
from m2bridge.limits import check_deadline_in
from m2bridge.system import collection_paused


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorOrbit:
    """Minimal generators of one multidegree, and how symmetries carry them through its orbit.

    Parameters
    ----------
    degree : int
    multidegree : vector of int
        The dominant multidegree, number 0 of the orbit.
    polynomials : tuple of polynomials
        The generators of that multidegree. Each is a tuple of (monomial, integer coefficient); a
        monomial is the sorted tuple of its coordinates' numbers.
    symmetries : tuple of permutations of the coordinates
    tree : tuple of SymmetryStep
        For the multidegrees 1, 2, … of the orbit, the number of an earlier multidegree and the
        number of the symmetry that carries that one to this one.
    """

    degree: int
    multidegree: IntegerVector
    polynomials: tuple[Terms, ...]
    symmetries: tuple[Permutation, ...] = ()
    tree: tuple[SymmetryStep, ...] = ()

    @property
    def size(self) -> int:
        """The number of multidegrees in the orbit."""
        return len(self.tree) + 1

    @property
    def generator_count(self) -> int:
        """The number of generators in all multidegrees of the orbit together."""
        return self.size * len(self.polynomials)

    def expand(self) -> Iterator[tuple[Terms, ...]]:
        """Yield the generators of each multidegree of the orbit, one multidegree after another."""
        generators_of = [self.polynomials]  # by the number of the multidegree in the orbit
        yield self.polynomials
        for earlier, symmetry_number in self.tree:  # for the multidegrees 1, 2, …
            symmetry = self.symmetries[symmetry_number]
            generators = _replace_variables(generators_of[earlier], symmetry)
            generators_of.append(generators)
            yield generators


def _replace_variables(polynomials: Sequence[Terms], image: Permutation) -> tuple[Terms, ...]:
    """Return the polynomials with the variable ``image[j]`` in place of each variable j."""
    monomials = {monomial for polynomial in polynomials for monomial, _ in polynomial}
    # Polynomials of one multidegree share most monomials, so each is replaced once.
    replaced = {monomial: tuple(sorted([image[j] for j in monomial])) for monomial in monomials}
    return tuple(tuple([(replaced[monomial], c) for monomial, c in terms]) for terms in polynomials)


@dataclass(frozen=True, slots=True)
class HigherDegrees:
    """Minimal generators in the degrees above those searched degree by degree.

    Their numbers are known; the polynomials are computed when they are asked for.

    Parameters
    ----------
    counts : mapping from degree to int
        The number of generators of each degree.
    polynomials : callable
        Takes no arguments, and returns an iterator over tuples of generators. Generators of one
        tuple have many monomials in common, as those of one multidegree have.
    """

    counts: Mapping[int, int]
    polynomials: Callable[[], Iterator[tuple[Terms, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Implicitization:
    """All minimal generators of the ideal of the image up to some degree, and its Hilbert function.

    Nothing is claimed about generators of higher degree.

    Parameters
    ----------
    source : MultigradedMap
        The map, its grading (whose ``degrees`` are those of the coordinates) and its symmetries.
    max_degree : int
        The last degree that was completed.
    requested_degree : int
        The degree asked for; larger than ``max_degree`` if the time ended first.
    hilbert_function : tuple of int
        H(0), …, H(max_degree): the dimensions of the graded pieces of the coordinate ring of the
        image, by the degrees of the grading.
    orbits : tuple of GeneratorOrbit
        The generators that were found degree by degree.
    exact : bool
        Whether dimensions and generators are proved over QQ. In every multidegree the rank modulo a
        prime, a lower bound of H, and the number of independent relations proved over ZZ, a lower
        bound of dim I, add up to the number of monomials; so both are equalities. No random choice
        enters the truth of the result. That no generator can be left out is proved too, by ranks
        over QQ of what lower degrees generate.
    higher : HigherDegrees, optional
        The generators in degrees above those of the orbits, where they are known.
    """

    source: MultigradedMap
    max_degree: int
    requested_degree: int
    hilbert_function: tuple[int, ...]
    orbits: tuple[GeneratorOrbit, ...]
    exact: bool
    higher: HigherDegrees | None = None

    def continue_with(self, values: Sequence[int], higher: HigherDegrees) -> Implicitization:
        """Return the result with further values of the Hilbert function and further generators.

        Parameters
        ----------
        values : sequence of int
            All values H(0), …, H(N), in the standard grading; N is the degree of the result.
        higher : HigherDegrees
            The generators in the degrees above those of the orbits, up to N.
        """
        return replace(
            self, max_degree=len(values) - 1, hilbert_function=tuple(values), higher=higher
        )

    @property
    def stopped_early(self) -> bool:
        """Whether the time ended before the degree asked for."""
        return self.max_degree < self.requested_degree

    @property
    def generator_counts(self) -> dict[int, int]:
        """The number of minimal generators by degree; degrees without generators are left out."""
        counts: Counter[int] = Counter()
        for orbit in self.orbits:
            counts[orbit.degree] += orbit.generator_count
        if self.higher is None:
            return dict(counts)
        return {**counts, **self.higher.counts}  # no degree is in both

    @property
    def ring(self) -> PolynomialRing:
        """The ring of polynomials in the coordinates, over QQ."""
        return self.source.polynomial_map.target()

    def generators_by_multidegree(self, above: int = 0) -> Iterator[tuple[Terms, ...]]:
        """Yield all minimal generators found, by increasing degree, those of one multidegree as a
        tuple. Those in ``orbits`` of degree ≤ ``above`` are left out; none of ``higher`` is.

        Generators have coprime integer coefficients. Each is a tuple of terms (sorted tuple of
        coordinate numbers, coefficient): for large results exponent vectors would take too much
        memory.
        """
        for orbit in sorted(self.orbits, key=attrgetter("degree")):
            if orbit.degree > above:
                yield from orbit.expand()
        if self.higher is not None:
            yield from self.higher.polynomials()

    def sparse_generators(self) -> Iterator[Terms]:
        """Yield all minimal generators found, as in :meth:`generators_by_multidegree`, one by
        one.
        """
        yield from chain.from_iterable(self.generators_by_multidegree())

    def generators(self) -> tuple[PolyElement, ...]:
        """Return all minimal generators found, as elements of ``ring.sympy_ring``."""
        ring = self.ring.sympy_ring
        scalar = cache(ring.domain)  # from an integer to a coefficient; the same ones recur
        with collection_paused():  # there can be very many generators
            return tuple(
                _ring_element(terms, ring, scalar)
                for terms in check_deadline_in(self.sparse_generators())
            )

    def ideal(self) -> GeneratingSet:
        """Return the ideal that the generators found generate, in ``ring``."""
        return GeneratingSet(self.ring, self.generators())


def _ring_element(polynomial: Terms, ring: PolyRing, scalar: Callable[[int], Any]) -> PolyElement:
    """Return the polynomial as an element of a ring of SymPy.

    ``scalar`` converts an integer to the coefficient field of the ring.
    """
    # Filled in place: PolyRing.from_dict would convert each coefficient again, which takes longer
    # than all the rest.
    result = ring.zero
    for monomial, coefficient in polynomial:
        result[exponents_of(monomial, ring.ngens)] = scalar(coefficient)
    return result


def implicitize(
    source: MultigradedMap, max_degree: int, *, seed: int = 0, first: bool = False
) -> Implicitization:
    """Compute all minimal generators of degree ≤ max_degree of the ideal of the image, with proof.

    The Hilbert function up to this degree comes with them. If a limit of :mod:`m2bridge.limits` is
    reached, the result has the degrees that were completed, the last of which is its
    ``max_degree``.

    Parameters
    ----------
    source : MultigradedMap
    max_degree : int
        The last degree of the grading; for most maps the total degree in the coordinates.
    seed : int
        Choice of random points. It can change the running time, but neither dimensions nor the
        numbers of generators.
    first : bool
        End with the first degree that has generators other than linear relations.

    Raises
    ------
    InvalidCaseError
        If the degree is negative.
    TimeLimitError
        If the limit was reached before the first degree was begun.
    ContradictionError
        If all primes that are tried are unlucky for the map.

    Examples
    --------
    >>> from sympy import symbols
    >>> from m2bridge.algebra.polynomial_map import PolynomialMap
    >>> from m2bridge.implicitization.multigraded_map import multigraded
    >>> s, t = symbols("s t")
    >>> powers = {"x": s**3, "y": s**2*t, "z": s*t**2, "w": t**3}
    >>> cubic = PolynomialMap.from_expressions([s, t], powers)
    >>> implicitize(multigraded(cubic), 3).generator_counts
    {2: 3}
    """
    if max_degree < 0:
        raise InvalidCaseError("max_degree", f"must be at least 0, not {max_degree}")
    # linear equations are split off first: every further degree has fewer monomials then
    reduction = elimination.linear_part(source)
    independent = elimination.in_independent_coordinates(source, reduction)
    symmetries = _symmetries_of_all_coordinates(independent, reduction)
    # The graded pieces by degree, in independent coordinates: as many degrees as the time allows.
    context = Context.of(independent, max_degree, seed)
    completed = complete_degrees(
        context.grading, max_degree, partial(compute_piece, context=context), first=first
    )
    last_degree = max(completed)
    # the generators, as polynomials in all coordinates of the map
    linear = _linear_orbits(source, reduction, last_degree)
    nonlinear = _nonlinear_orbits(
        reduction, symmetries, grading=context.grading, completed=completed
    )
    pieces = chain.from_iterable(degree.pieces.values() for degree in completed.values())
    return Implicitization(
        source=source,
        max_degree=last_degree,
        requested_degree=max_degree,
        hilbert_function=tuple(degree.dimension for degree in completed.values()),
        orbits=(*linear, *nonlinear),
        exact=all(piece.exact for piece in pieces),
    )


def _symmetries_of_all_coordinates(
    independent: MultigradedMap, reduction: LinearReduction
) -> tuple[Permutation, ...]:
    """Return the symmetries of a map in independent coordinates as permutations of all coordinates.

    Each dependent coordinate is fixed, since nonlinear generators do not contain it.
    """
    coordinate_count = len(reduction.basis) + len(reduction.dependencies)
    return tuple(
        elimination.extend_permutation(permutation, reduction, coordinate_count)
        for permutation in check_deadline_in(independent.symmetries)
    )


def _linear_orbits(
    source: MultigradedMap, reduction: LinearReduction, max_degree: int
) -> Iterator[GeneratorOrbit]:
    """Yield the linear relations: for each dependent coordinate of ``reduction`` one that expresses
    it in the independent ones.

    Each relation is listed as an orbit of one multidegree, without symmetries (the trivial group),
    also where the symmetries of the map would carry relations to each other. Relations of a degree
    above ``max_degree`` are left out, since that degree was not completed.
    """
    grading = source.grading
    # dependent coordinate j is the linear form Σ c_i x_i, where form maps i to c_i
    for j, form in reduction.dependencies:
        if grading.degrees[j] > max_degree:
            continue
        # x_j − Σ c_i x_i, multiplied by the denominators of the coefficients c_i
        monomials = [(j,), *((i,) for i in form)]
        coefficients = without_denominators([1, *(-c for c in form.values())])
        relation = tuple(zip(monomials, coefficients, strict=True))
        yield GeneratorOrbit(
            degree=grading.degrees[j], multidegree=grading.multidegrees[j], polynomials=(relation,)
        )


def _nonlinear_orbits(
    reduction: LinearReduction,
    symmetries: tuple[Permutation, ...],
    grading: PackedGrading,
    completed: Mapping[int, DegreePieces],
) -> Iterator[GeneratorOrbit]:
    """Yield the generators found in the independent coordinates, as polynomials in all coordinates.

    The deadline is not checked here, because what was found before a limit is returned after it.

    Parameters
    ----------
    reduction : LinearReduction
        How the independent coordinates are numbered among all coordinates.
    symmetries : tuple of permutations of all coordinates
    grading : PackedGrading
        The grading of the independent coordinates.
    completed : mapping from degree to DegreePieces
        The pieces in the independent coordinates.
    """
    for n, degree in completed.items():
        for multidegree, piece in degree.pieces.items():
            if not piece.generators:
                continue
            polynomials = [elimination.in_all_coordinates(g, reduction) for g in piece.generators]
            yield GeneratorOrbit(
                degree=n,
                multidegree=grading.vector(piece.monomials[0]),  # that of every monomial of it
                polynomials=tuple(polynomials),
                symmetries=symmetries,
                tree=degree.orbits.tree(multidegree),
            )
