"""One weight space: its dimension in coordinate ring and ideal, and the minimal generators of the ideal there.

Why the result is exact although the points are random. Let M be the number of monomials of the weight. The rank of the
matrix of values modulo p is at most the dimension over QQ of the coordinate ring in this weight. On the other side,
polynomials are exhibited that vanish identically over ZZ (products of generators proved in lower degrees, and new
generators proved by substitution) and that are linearly independent modulo p, so over QQ. When rank plus number of
these polynomials is M, both are equal to the true dimensions and the polynomials are a basis of the ideal. The new
generators are minimal when what lower degrees generate has over QQ no larger dimension than modulo p. If a guess cannot
be proved, the weight is done again by elimination over QQ and with another prime.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import flint

from m2bridge.errors import ContradictionError
from m2bridge.implicitization.blocks import Block, Layer, SparseRow, WeightSpace
from m2bridge.implicitization.evaluation import RandomPoints, reduced_echelon
from m2bridge.implicitization.known_part import Products, matrix_with_columns
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.implicitization.relations import Echelon, ExactEchelon, ModularEchelon
from m2bridge.implicitization.substitution import Substitution, Terms
from m2bridge.implicitization.weight_spaces import WeightSystem
from m2bridge.linear_algebra import LARGE_PRIME

SECOND_PRIME = 2147483629
"""The largest prime below LARGE_PRIME."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """What all weight spaces of one computation share."""

    system: WeightSystem
    points: RandomPoints
    substitution: Substitution
    random: Random

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int, seed: int) -> Workshop:
        """Prepare the computation for a map up to a degree."""
        system = WeightSystem.of(source, max_degree)
        return cls(system, RandomPoints.of(source, Random(seed)), Substitution.of(source), Random(seed))


def compute_block(
    weight: int, degree: int, layers: Mapping[int, Layer], orbit_size: int, workshop: Workshop, *, keep_ideal: bool
) -> Block:
    """Dimension, ideal and minimal generators in one weight, proved.

    Raises
    ------
    ContradictionError
        If not even elimination over QQ gives a proof (that would be an error in this program).
    """
    space = WeightSpace.of(weight, degree, workshop.system, layers)
    guess = ModularEchelon.of(space.candidates, workshop.points)
    block = _proved_block(space, guess, orbit_size, workshop, LARGE_PRIME, keep_ideal)
    if block is None:
        exact = ExactEchelon.of(space.candidates, workshop.substitution)
        block = _proved_block(space, exact, orbit_size, workshop, SECOND_PRIME, keep_ideal)
    workshop.substitution.forget()
    if block is None:
        raise ContradictionError(f"exact elimination in degree {degree} did not give a basis of the ideal")
    return block


def _proved_block(
    space: WeightSpace, echelon: Echelon, orbit_size: int, workshop: Workshop, prime: int, keep_ideal: bool
) -> Block | None:
    """The block that belongs to an echelon form.

    None if a relation fails on substitution, too few relations are found, or a generator may not be minimal.
    """
    pivots = set(echelon.pivots)
    free = [j for j in range(len(space.candidates)) if j not in pivots]
    monomials = space.monomials
    products = Products.of(space.neighbours, [*space.others, *(space.candidates[j] for j in free)])
    chosen = products.independent(prime, workshop.random)
    generators: tuple[Terms, ...] = ()
    if len(chosen) < products.size:
        columns = _new_columns(space, echelon, free, [products.coefficients(index) for index in chosen], prime)
        generators = tuple(echelon.relation(j) for j in columns)
        if not all(workshop.substitution.vanishes(generator) for generator in generators):
            return None
        if len(chosen) + len(generators) < products.size or products.rational_rank() > len(chosen):
            return None
    position = {monomial: i for i, monomial in enumerate(monomials)} if keep_ideal else {}
    ideal = [products.polynomial(index, position) for index in chosen] if keep_ideal else []
    ideal += [tuple((position[m], c) for m, c in generator) for generator in generators] if keep_ideal else []
    weight = workshop.system.vector(monomials[0])
    proved = len(chosen) + len(generators)
    return Block(weight, orbit_size, monomials, echelon.pivots, proved, tuple(ideal), generators)


def _new_columns(
    space: WeightSpace, echelon: Echelon, free: list[int], known: list[SparseRow], prime: int
) -> list[int]:
    """Free candidates whose relations complete the known part to the whole ideal; those with few terms if possible.

    Relations correspond to free monomials, so a complement of the known part corresponds to the non-pivot columns of
    its echelon form. Pivots are taken from the left, so the relations with most terms stand on the left.
    """
    start = len(space.others)
    order = sorted(range(len(free)), key=lambda i: -echelon.support(free[i]))
    if not known:
        return [free[i] for i in order]
    moved = {i: number for number, i in enumerate(order, start)}
    columns = [[(moved.get(place - start, place), c) for place, c in row] for row in known]
    matrix = matrix_with_columns(columns, flint.nmod_mat(start + len(free), len(known), prime))
    pivots = set(reduced_echelon(matrix.transpose())[1])
    return [free[i] for number, i in enumerate(order, start) if number not in pivots]
