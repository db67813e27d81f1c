"""Symmetries of a polynomial map: permutations of the parameters that permute the images.

Such a permutation carries the ideal of the image to itself, and identities that hold for one weight to all weights
of its orbit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import gcd, lcm

from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.clock import watched
from m2bridge.errors import MethodUnavailableError

Permutation = tuple[int, ...]
Renaming = Callable[[str, tuple[int, ...]], tuple[int, ...]]


def coordinate_permutation(polynomial_map: PolynomialMap, renaming: Mapping[str, str]) -> Permutation:
    """The permutation π of the coordinates induced by a permutation τ of the parameters: f_π(j) = τ(f_j).

    Finding it proves that it is a symmetry, because the images are compared exactly. Coordinates with the same image
    keep their order, so that products of permutations of the parameters go to products.

    Parameters
    ----------
    polynomial_map : PolynomialMap
        Without relations.
    renaming : mapping from parameter name to parameter name
        A permutation; parameters that are not mentioned stay.

    Raises
    ------
    MethodUnavailableError
        If it does not permute the parameters, or does not permute the images.
    """
    variables = polynomial_map.source.variables
    position = {name: i for i, name in enumerate(variables)}
    targets = [position.get(renaming.get(name, name), -1) for name in variables]
    if sorted(targets) != list(range(len(variables))):
        raise MethodUnavailableError("a symmetry has to permute the parameters of the map")
    sources = [targets.index(i) for i in range(len(variables))]
    classes: defaultdict[frozenset[object], list[int]] = defaultdict(list)
    for j, image in enumerate(watched(polynomial_map.images)):
        classes[frozenset(image.items())].append(j)
    result = [0] * len(polynomial_map.images)
    for members in watched(classes.values()):
        image = polynomial_map.images[members[0]]
        moved = frozenset((tuple(exponents[i] for i in sources), c) for exponents, c in image.items())
        others = classes.get(moved, [])
        if len(others) != len(members):
            raise MethodUnavailableError("this permutation of the parameters does not permute the images")
        for j, target in zip(members, others, strict=True):
            result[j] = target
    return tuple(result)


def symmetrized(degrees: Sequence[int], permutations: Sequence[Permutation]) -> tuple[int, ...]:
    """The average of the degrees over the group, scaled to integers: positive gradings that the group preserves."""
    orbits = _orbits(len(degrees), permutations)
    scale = lcm(*(len(orbit) for orbit in orbits))
    result = [0] * len(degrees)
    for orbit in orbits:
        for j in orbit:
            result[j] = scale // len(orbit) * sum(degrees[i] for i in orbit)
    return tuple(degree // gcd(*result) for degree in result)


def _orbits(size: int, permutations: Sequence[Permutation]) -> list[list[int]]:
    seen: set[int] = set()
    result = []
    for start in watched(range(size)):
        if start in seen:
            continue
        orbit = [start]
        seen.add(start)
        for j in watched(orbit):
            fresh = {permutation[j] for permutation in permutations} - seen
            seen |= fresh
            orbit += sorted(fresh)
        result.append(orbit)
    return result
