"""Multidegrees of monomials, and their orbits under the symmetries.

A multidegree is stored as one integer, so that multidegrees add as integers do; its leading part is the degree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from m2bridge.clock import watched

if TYPE_CHECKING:
    from m2bridge.algebra.lattice import Vector
    from m2bridge.algebra.sparse_polynomial import Monomial
    from m2bridge.implicitization.multigraded_map import MultigradedMap, Permutation


@dataclass(frozen=True, slots=True)
class PackedGrading:
    """The multidegrees of the coordinates, packed, and how the symmetries move them.

    Parameters
    ----------
    multidegrees : tuple of vectors
    degrees : vector
    packed : tuple of int
        The multidegree of each coordinate, degree first, as digits of one integer.
    permutations : tuple of permutations of the coordinates
    moved : tuple of tuples of int
        For each permutation π, the packed multidegree of π(j) for each coordinate j.
    """

    multidegrees: tuple[Vector, ...]
    degrees: Vector
    packed: tuple[int, ...]
    permutations: tuple[Permutation, ...]
    moved: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int) -> PackedGrading:
        """A grading, packed for monomials of at most the given degree."""
        grading = source.grading
        entries = [abs(entry) for multidegree in grading.multidegrees for entry in multidegree]
        # Digits of sums of max_degree multidegrees stay below half of the base: packing is injective also with signs.
        base = 2 * (max_degree + 1) * max([1, *entries, *grading.degrees]) + 2
        packed = tuple(
            _pack((degree, *multidegree), base)
            for degree, multidegree in zip(grading.degrees, grading.multidegrees, strict=True)
        )
        moved = tuple(tuple(packed[j] for j in permutation) for permutation in watched(source.symmetries))
        return cls(grading.multidegrees, grading.degrees, packed, source.symmetries, moved)

    def vector(self, monomial: Monomial) -> Vector:
        """The multidegree of a monomial, spelled out."""
        return tuple(sum(self.multidegrees[j][i] for j in monomial) for i in range(self.length))

    @property
    def length(self) -> int:
        """Number of entries of a multidegree."""
        return len(self.multidegrees[0]) if self.multidegrees else 0


def _pack(digits: Iterable[int], base: int) -> int:
    total = 0
    for digit in digits:
        total = total * base + digit
    return total


@dataclass(frozen=True, slots=True)
class MultidegreeOrbits:
    """All multidegrees of one degree that occur, in orbits; each orbit is represented by its largest multidegree.

    Parameters
    ----------
    samples : mapping from multidegree to one monomial of that multidegree
    members : mapping from dominant multidegree to its orbit, which it begins, breadth first
    steps : mapping from multidegree to (previous multidegree, number of the permutation that leads from there)
        A spanning forest of the orbits; dominant multidegrees are its roots and not listed.
    transports : dict
        Filled by :meth:`transport`.
    """

    grading: PackedGrading
    samples: Mapping[int, Monomial]
    members: Mapping[int, tuple[int, ...]]
    steps: Mapping[int, tuple[int, int]]
    transports: dict[int, tuple[int, Permutation]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, grading: PackedGrading, samples: Mapping[int, Monomial]) -> MultidegreeOrbits:
        """Sort multidegrees into orbits."""
        members: dict[int, tuple[int, ...]] = {}
        steps: dict[int, tuple[int, int]] = {}
        for multidegree in watched(sorted(samples, reverse=True)):
            if multidegree not in steps:
                members[multidegree] = _explore(multidegree, samples, grading, steps)
        return cls(grading, samples, members, steps)

    def transport(self, multidegree: int) -> tuple[int, Permutation]:
        """The dominant multidegree of the orbit, and one product of symmetries that carries it to this multidegree."""
        known = self.transports.get(multidegree)
        if known is None:
            if multidegree in self.members:
                known = multidegree, tuple(range(len(self.grading.packed)))
            else:
                previous, number = self.steps[multidegree]
                root, first = self.transport(previous)
                last = self.grading.permutations[number]
                known = root, tuple(last[j] for j in first)
            self.transports[multidegree] = known
        return known

    def tree(self, dominant: int) -> tuple[tuple[int, int], ...]:
        """For each multidegree of an orbit after the first: the place of an earlier one, the permutation from there."""
        place = {multidegree: i for i, multidegree in enumerate(self.members[dominant])}
        steps = (self.steps[multidegree] for multidegree in self.members[dominant][1:])
        return tuple((place[previous], number) for previous, number in steps)


def _explore(
    root: int, samples: Mapping[int, Monomial], grading: PackedGrading, steps: dict[int, tuple[int, int]]
) -> tuple[int, ...]:
    """The orbit of a multidegree, breadth first; symmetries act on multidegrees as on any monomial of that multidegree.

    The action is well defined because a symmetry carries the finest grading to itself.
    """
    orbit = [root]
    current: dict[int, Monomial] = {root: samples[root]}
    for multidegree in watched(orbit):
        monomial = samples[multidegree]
        for number, moved in enumerate(grading.moved):
            image = sum([moved[j] for j in monomial])
            if image not in current:
                current[image] = monomial
                steps[image] = (multidegree, number)
                orbit.append(image)
    return tuple(orbit)


def multiply(monomial: Monomial, permutation: Permutation, coordinate: int) -> Monomial:
    """Apply a permutation to a monomial, then multiply by a coordinate."""
    return tuple(sorted([*[permutation[j] for j in monomial], coordinate]))
