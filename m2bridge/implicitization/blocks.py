"""The data of one weight: monomials, a basis of the coordinate ring, a basis of the ideal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from m2bridge.clock import watched
from m2bridge.implicitization.grading import Vector
from m2bridge.implicitization.substitution import Terms
from m2bridge.implicitization.weight_spaces import Monomial, WeightOrbits, WeightSystem, multiply

SparseRow = tuple[tuple[int, int], ...]
"""A polynomial of the ideal in one weight: positions of its monomials and their coefficients."""


@dataclass(frozen=True, slots=True)
class Block:
    """One dominant weight of one degree.

    Parameters
    ----------
    weight : vector of int
    orbit_size : int
        Number of weights that the symmetries make of this one.
    monomials : tuple of monomials
        All of this weight.
    basis : tuple of int
        Positions of monomials that form a basis of the coordinate ring of the image in this weight.
    proved : int
        Number of linearly independent polynomials of this weight proved to be in the ideal.
    ideal : tuple of sparse rows
        A basis of the ideal in this weight; left out in the last degree.
    generators : tuple of polynomials
        Minimal generators of the ideal in this weight.
    """

    weight: Vector
    orbit_size: int
    monomials: tuple[Monomial, ...]
    basis: tuple[int, ...]
    proved: int = 0
    ideal: tuple[SparseRow, ...] = ()
    generators: tuple[Terms, ...] = ()

    @property
    def rank(self) -> int:
        """Dimension of the coordinate ring of the image in this weight."""
        return len(self.basis)

    @property
    def nullity(self) -> int:
        """Dimension of the ideal in this weight."""
        return len(self.monomials) - len(self.basis)

    @property
    def exact(self) -> bool:
        """Whether the lower bounds for the dimensions of coordinate ring and ideal add up, so that both are proved."""
        return len(self.basis) + self.proved == len(self.monomials)


@dataclass(frozen=True, slots=True)
class Layer:
    """All weights of one degree; blocks for the dominant ones."""

    orbits: WeightOrbits
    blocks: Mapping[int, Block]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A coordinate times the weight space below.

    Parameters
    ----------
    block : Block
        The dominant block below.
    products : tuple of monomials
        The image of each of its monomials under the symmetry that leads to the weight below, times the coordinate.
    """

    block: Block
    products: tuple[Monomial, ...]

    @property
    def candidates(self) -> list[Monomial]:
        """The products of the basis of the coordinate ring."""
        return [self.products[i] for i in self.block.basis]


def layer_zero(system: WeightSystem) -> Layer:
    """Degree 0: the constants."""
    orbits = WeightOrbits.of(system, {0: ()})
    return Layer(orbits, {0: Block((0,) * system.length, 1, ((),), (0,))})


def orbits_of_degree(system: WeightSystem, degree: int, layers: Mapping[int, Layer]) -> WeightOrbits:
    """The weights of one degree, each with one monomial, from the degrees below."""
    samples: dict[int, Monomial] = {}
    for j, (packed, own_degree) in enumerate(zip(system.packed, system.degrees, strict=True)):
        below = layers.get(degree - own_degree)
        if below is None:
            continue
        for weight, monomial in watched(below.orbits.samples.items()):
            if weight + packed not in samples:
                samples[weight + packed] = tuple(sorted((*monomial, j)))
    return WeightOrbits.of(system, samples)


def neighbours_below(weight: int, degree: int, system: WeightSystem, layers: Mapping[int, Layer]) -> list[Neighbour]:
    """For each coordinate that divides a monomial of this weight, the weight space below.

    Their products are all monomials of the weight; the products of their bases span the coordinate ring in this
    weight; the products of their ideals span what lower degrees generate of the ideal.
    """
    result = []
    for j, (packed, own_degree) in enumerate(watched(zip(system.packed, system.degrees, strict=True))):
        below = layers.get(degree - own_degree)
        if below is None or weight - packed not in below.orbits.samples:
            continue
        root, permutation = below.orbits.transport(weight - packed)
        block = below.blocks[root]
        result.append(Neighbour(block, tuple([multiply(m, permutation, j) for m in block.monomials])))
    return result


@dataclass(frozen=True, slots=True)
class WeightSpace:
    """The monomials of one weight and where they come from.

    ``candidates`` span the coordinate ring in this weight: products of a coordinate and a basis monomial below. The
    ``others`` are congruent to combinations of candidates modulo what lower degrees generate of the ideal.
    """

    neighbours: Sequence[Neighbour]
    candidates: tuple[Monomial, ...]
    others: tuple[Monomial, ...]

    @classmethod
    def of(cls, weight: int, degree: int, system: WeightSystem, layers: Mapping[int, Layer]) -> WeightSpace:
        """The weight space, from the degrees below."""
        neighbours = neighbours_below(weight, degree, system, layers)
        everything = {monomial for neighbour in neighbours for monomial in neighbour.products}
        candidates = {monomial for neighbour in neighbours for monomial in neighbour.candidates}
        # Any order is correct. Comparing the last coordinates first gave the shortest generators in experiments.
        order = itemgetter(slice(None, None, -1))
        return cls(neighbours, tuple(sorted(candidates, key=order)), tuple(sorted(everything - candidates, key=order)))

    @property
    def monomials(self) -> tuple[Monomial, ...]:
        """All of them, the candidates first."""
        return self.candidates + self.others
