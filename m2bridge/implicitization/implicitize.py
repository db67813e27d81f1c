"""Generators of the ideal of an image up to a degree and its Hilbert function, with proof.

:func:`implicitize` is the way in: the linear relations first, then one degree after the other in
the independent coordinates (``graded_pieces``), in each multidegree by ``generators``. On what the
proof rests stands in docs/computing-closures.md, *Multigraded implicitization*.

``Terms`` are a polynomial as pairs of a monomial, the numbers of its coordinates in ascending order
with repetition, and an integer coefficient; generators have coprime ones. For large results
exponent vectors would take too much memory. Symmetries, permutations π of the coordinates given by
π(0), π(1), …, carry the ideal to itself and a multidegree to the others of its orbit; generators
are computed for one multidegree of each orbit, the dominant one, and carried to the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from operator import attrgetter

from sympy.polys.rings import PolyElement

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
    """Minimal generators of one multidegree, and how symmetries carry them through its orbit."""

    degree: int
    multidegree: IntegerVector  # the dominant one, number 0 of the orbit
    polynomials: tuple[Terms, ...]  # the generators of that multidegree
    symmetries: tuple[Permutation, ...] = ()  # of the coordinates
    # for the multidegrees 1, 2, … of the orbit the step from an earlier one, by their numbers
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
            generators = _carried(generators_of[earlier], self.symmetries[symmetry_number])
            generators_of.append(generators)
            yield generators


def _carried(polynomials: Sequence[Terms], image: Permutation) -> tuple[Terms, ...]:
    """Return the polynomials with the variable ``image[j]`` in place of each variable j."""
    monomials = {monomial for polynomial in polynomials for monomial, _ in polynomial}
    # Polynomials of one multidegree share most monomials, so each is replaced once.
    replaced = {monomial: tuple(sorted([image[j] for j in monomial])) for monomial in monomials}
    return tuple(tuple([(replaced[monomial], c) for monomial, c in terms]) for terms in polynomials)


@dataclass(frozen=True, slots=True)
class HigherDegrees:
    """Minimal generators in the degrees above those searched degree by degree: their numbers by
    degree, and a function that computes them.
    """

    counts: Mapping[int, int]
    # generators of one tuple have many monomials in common, as in one multidegree
    polynomials: Callable[[], Iterator[tuple[Terms, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Implicitization:
    """All minimal generators of the ideal of the image up to some degree, and its Hilbert function.

    Nothing is claimed about generators of higher degree. It is ``exact`` if dimensions and
    generators are proved over QQ. In every multidegree the rank modulo a prime, a lower bound of H,
    and the number of independent relations proved over ZZ, a lower bound of dim I, add up to the
    number of monomials; so both are equalities. No random choice enters the truth of the result.
    That no generator can be left out is proved too, by ranks over QQ of what lower degrees
    generate.
    """

    source: MultigradedMap
    max_degree: int  # the last degree that was completed
    requested_degree: int  # larger than ``max_degree`` if the time ended first
    hilbert_function: tuple[int, ...]  # H(0), …, H(max_degree), of the coordinate ring
    orbits: tuple[GeneratorOrbit, ...]  # the generators that were found degree by degree
    exact: bool
    higher: HigherDegrees | None = None  # generators above the degrees of the orbits, if known

    def continue_with(self, values: Sequence[int], higher: HigherDegrees) -> Implicitization:
        """Return the result with all values H(0), …, H(N) of the Hilbert function, in the standard
        grading, and the generators above the degrees of the orbits up to N.
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
        """Yield all minimal generators found, by increasing degree, in a tuple for each
        multidegree, but for generators in ``orbits`` of degree ≤ ``above``.
        """
        for orbit in sorted(self.orbits, key=attrgetter("degree")):
            if orbit.degree > above:
                yield from orbit.expand()
        if self.higher is not None:
            yield from self.higher.polynomials()

    def sparse_generators(self) -> Iterator[Terms]:
        """Yield all minimal generators found, by increasing degree."""
        yield from chain.from_iterable(self.generators_by_multidegree())

    def generators(self) -> tuple[PolyElement, ...]:
        """Return all minimal generators found, as elements of ``ring.sympy_ring``."""
        ring = self.ring.sympy_ring
        scalar = cache(ring.domain)  # from an integer to a coefficient; the same ones recur
        generators = []
        with collection_paused():  # there can be very many generators
            for terms in check_deadline_in(self.sparse_generators()):
                # Filled in place: PolyRing.from_dict would convert each coefficient again, which
                # takes longer than all the rest.
                generator = ring.zero
                for monomial, coefficient in terms:
                    generator[exponents_of(monomial, ring.ngens)] = scalar(coefficient)
                generators.append(generator)
        return tuple(generators)

    def ideal(self) -> GeneratingSet:
        """Return the ideal that the generators found generate, in ``ring``."""
        return GeneratingSet(self.ring, self.generators())


def implicitize(
    source: MultigradedMap, max_degree: int, *, seed: int = 0, first: bool = False
) -> Implicitization:
    """Compute all minimal generators of degree ≤ max_degree of the ideal of the image, with proof,
    and the Hilbert function up to this degree.

    At a limit of :mod:`m2bridge.limits` the result has the degrees that were completed, the last of
    which is its ``max_degree``. Degrees are with respect to the grading; for most maps it is the
    total degree in the coordinates. ``seed`` chooses random points, which can change the running
    time, but neither dimensions nor the numbers of generators. With ``first`` it ends with the
    first degree that has generators other than linear relations.

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
    symmetries = tuple(
        elimination.extend_permutation(permutation, reduction)
        for permutation in check_deadline_in(independent.symmetries)
    )
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


def _linear_orbits(
    source: MultigradedMap, reduction: LinearReduction, max_degree: int
) -> Iterator[GeneratorOrbit]:
    """Yield for each dependent coordinate the relation that expresses it in the independent ones,
    unless its degree is above ``max_degree`` and so was not completed.

    Each is an orbit of one multidegree, without symmetries, also where the symmetries of the map
    would carry relations to each other.
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

    The deadline is not checked here, because generators found before a limit are returned after it.
    """
    for n, degree in completed.items():
        for multidegree, piece in degree.pieces.items():
            if not piece.generators:
                continue
            polynomials = [elimination.in_all_coordinates(g, reduction) for g in piece.generators]
            yield GeneratorOrbit(
                degree=n,
                multidegree=grading.vector(piece.monomials[0]),  # of every monomial of it
                polynomials=tuple(polynomials),
                symmetries=symmetries,
                tree=degree.orbits.tree(multidegree),
            )
