"""Weights of monomials, their orbits under the symmetries, and the monomials of one weight.

A monomial is the sorted tuple of the indices of its coordinates, with repetition. A weight is stored as one integer,
so that weights add as integers do; its leading part is the degree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from m2bridge.clock import watched
from m2bridge.implicitization.grading import Vector
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.implicitization.symmetry import Permutation

Monomial = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WeightSystem:
    """The weights of the coordinates, packed, and how the symmetries move them.

    Parameters
    ----------
    weights : tuple of vectors
    degrees : vector
    packed : tuple of int
        The weight of each coordinate, degree first, as digits of one integer.
    permutations : tuple of permutations of the coordinates
    moved : tuple of tuples of int
        For each permutation π, the packed weight of π(j) for each coordinate j.
    """

    weights: tuple[Vector, ...]
    degrees: Vector
    packed: tuple[int, ...]
    permutations: tuple[Permutation, ...]
    moved: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int) -> WeightSystem:
        """The weight system for monomials of at most the given degree."""
        grading = source.grading
        entries = [abs(entry) for weight in grading.weights for entry in weight]
        # Digits of sums of max_degree weights stay below half of the base: packing is injective also with signs.
        base = 2 * (max_degree + 1) * max([1, *entries, *grading.degrees]) + 2
        packed = tuple(
            _pack((degree, *weight), base) for degree, weight in zip(grading.degrees, grading.weights, strict=True)
        )
        moved = tuple(tuple(packed[j] for j in permutation) for permutation in watched(source.symmetries))
        return cls(grading.weights, grading.degrees, packed, source.symmetries, moved)

    def vector(self, monomial: Monomial) -> Vector:
        """The weight of a monomial, spelled out."""
        return tuple(sum(self.weights[j][i] for j in monomial) for i in range(self.length))

    @property
    def length(self) -> int:
        """Number of entries of a weight."""
        return len(self.weights[0]) if self.weights else 0


def _pack(digits: Iterable[int], base: int) -> int:
    total = 0
    for digit in digits:
        total = total * base + digit
    return total


@dataclass(frozen=True, slots=True)
class WeightOrbits:
    """All weights of one degree that occur, in orbits; each orbit is represented by its largest weight.

    Parameters
    ----------
    samples : mapping from weight to one monomial of that weight
    members : mapping from dominant weight to its orbit, which it begins, breadth first
    steps : mapping from weight to (previous weight, number of the permutation that leads from there)
        A spanning forest of the orbits; dominant weights are its roots and not listed.
    transports : dict
        Filled by :meth:`transport`.
    """

    system: WeightSystem
    samples: Mapping[int, Monomial]
    members: Mapping[int, tuple[int, ...]]
    steps: Mapping[int, tuple[int, int]]
    transports: dict[int, tuple[int, Permutation]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, system: WeightSystem, samples: Mapping[int, Monomial]) -> WeightOrbits:
        """Sort weights into orbits."""
        members: dict[int, tuple[int, ...]] = {}
        steps: dict[int, tuple[int, int]] = {}
        for weight in watched(sorted(samples, reverse=True)):
            if weight not in steps:
                members[weight] = _explore(weight, samples, system, steps)
        return cls(system, samples, members, steps)

    def transport(self, weight: int) -> tuple[int, Permutation]:
        """The dominant weight of the orbit, and one product of symmetries that carries it to this weight."""
        known = self.transports.get(weight)
        if known is None:
            if weight in self.members:
                known = weight, tuple(range(len(self.system.packed)))
            else:
                previous, number = self.steps[weight]
                root, first = self.transport(previous)
                last = self.system.permutations[number]
                known = root, tuple(last[j] for j in first)
            self.transports[weight] = known
        return known

    def tree(self, dominant: int) -> tuple[tuple[int, int], ...]:
        """For each weight of an orbit but the first: the place of the previous one, and the permutation from there."""
        place = {weight: i for i, weight in enumerate(self.members[dominant])}
        steps = (self.steps[weight] for weight in self.members[dominant][1:])
        return tuple((place[previous], number) for previous, number in steps)


def _explore(
    root: int, samples: Mapping[int, Monomial], system: WeightSystem, steps: dict[int, tuple[int, int]]
) -> tuple[int, ...]:
    """The orbit of a weight, breadth first; symmetries act on weights as on any monomial of that weight.

    The action is well defined because a symmetry carries the finest grading to itself.
    """
    orbit = [root]
    current: dict[int, Monomial] = {root: samples[root]}
    for weight in watched(orbit):
        monomial = samples[weight]
        for number, moved in enumerate(system.moved):
            image = sum([moved[j] for j in monomial])
            if image not in current:
                current[image] = monomial
                steps[image] = (weight, number)
                orbit.append(image)
    return tuple(orbit)


def multiply(monomial: Monomial, permutation: Permutation, coordinate: int) -> Monomial:
    """Apply a permutation to a monomial, then multiply by a coordinate."""
    return tuple(sorted([*[permutation[j] for j in monomial], coordinate]))
