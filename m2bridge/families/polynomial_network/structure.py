"""Multigrading and symmetries of a polynomial network, in the order of its parametrization."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from m2bridge.maps.structure import Multigrading, Permutation, Symmetry, Vector, transposition

MAX_COORDINATES = 20_000


def monomials(variables: int, degree: int) -> Iterator[Vector]:
    """The exponents of all monomials of this degree, in decreasing lexicographic order."""
    if variables == 1:
        yield (degree,)
        return
    for first in range(degree, -1, -1):
        for rest in monomials(variables - 1, degree - first):
            yield (first, *rest)


def grading(widths: Sequence[int], degree: int) -> Multigrading:
    """Rescaling the inputs acts on W_1, rescaling the outputs on W_l.

    The entry (i, j) of W_1 has degree e_j for input j, the entry (i, j) of W_l degree e_i for output i. Without hidden
    layers the map is the identity, and each coordinate has a degree of its own.
    """
    inputs, outputs, last = widths[0], widths[-1], len(widths) - 1
    if last == 1:
        units = tuple(_unit(inputs * outputs, n) for n in range(inputs * outputs))
        return Multigrading(units, units)

    def weight(k: int, i: int, j: int) -> Vector:
        return _unit(outputs, i if k == last else None) + _unit(inputs, j if k == 1 else None)

    parameters = tuple(weight(k, i, j) for k, i, j in _entries(widths))
    coordinates = tuple(_unit(outputs, k) + m for k in range(outputs) for m in monomials(inputs, degree))
    return Multigrading(parameters, coordinates)


def symmetries(widths: Sequence[int], degree: int) -> tuple[Symmetry, ...]:
    """Exchanges of neighbouring inputs and of neighbouring outputs."""
    inputs, outputs, last = widths[0], widths[-1], len(widths) - 1
    entries = {entry: n for n, entry in enumerate(_entries(widths))}
    names = [(k, m) for k in range(outputs) for m in monomials(inputs, degree)]
    coordinates = {name: n for n, name in enumerate(names)}
    result = []
    for s in range(inputs - 1):
        swap = transposition(inputs, (s, s + 1))
        columns = tuple(entries[k, i, swap[j] if k == 1 else j] for k, i, j in entries)
        result.append(Symmetry(columns, tuple(coordinates[k, _moved(m, swap)] for k, m in names)))
    for s in range(outputs - 1):
        swap = transposition(outputs, (s, s + 1))
        rows = tuple(entries[k, swap[i] if k == last else i, j] for k, i, j in entries)
        result.append(Symmetry(rows, tuple(coordinates[swap[k], m] for k, m in names)))
    return tuple(result)


def _entries(widths: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Layer (from 1), row and column (from 0) of each parameter."""
    for k, (before, after) in enumerate(pairwise(widths), 1):
        yield from ((k, i, j) for i in range(after) for j in range(before))


def _unit(size: int, i: int | None) -> Vector:
    return tuple(int(i == j) for j in range(size))


def _moved(monomial: Vector, swap: Permutation) -> Vector:
    return tuple(monomial[i] for i in swap)
