"""Multigrading and symmetries of the free parametrization of attention, by the indices in the names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.clock import watched
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.implicitization.multigraded_map import MultigradedMap, coordinate_permutation
from m2bridge.maps.multigraded_closure import graded_source
from m2bridge.maps.structure import Multigrading, Permutation, Symmetry, Vector
from m2bridge.maps.subject import Subject

Places = Mapping[str, tuple[int | None, int | None]]
"""For each matrix, which of its indices s is exchanged with s + 1; ``None`` stays."""


def multigraded_attention(shape: SingleLayerAttention, coordinates: str | None = None) -> MultigradedMap:
    """The free parametrization with its grading and symmetries."""
    return graded_source(Subject.of(shape, coordinates))


def grading(shape: SingleLayerAttention, free: PolynomialMap) -> Multigrading:
    """In Z^d' × Z^d × Z^d; the coordinate c_k_i_p_q has degree (e_k, e_i, e_p + e_q).

    V_k_p has degree (e_k, 0, e_p), A_p_i has (0, e_i, e_p), Q_e_i has (0, e_i, 0), and K_e_p has (0, 0, e_p).
    """
    return Multigrading(
        tuple(_parameter_degree(name, shape) for name in watched(free.source.variables)),
        tuple(_coordinate_degree(name, shape) for name in watched(free.coordinates)),
    )


def _parameter_degree(name: str, shape: SingleLayerAttention) -> Vector:
    letter, first, second = _parts(name)
    d_out, d = shape.d_out, shape.d
    i, p = d_out - 1, d_out + d - 1
    places = {
        "V": (first - 1, p + second),
        "A": (i + second, p + first),
        "Q": (i + second,),
        "K": (p + second,),
    }
    return _degree(places[letter], shape)


def _coordinate_degree(name: str, shape: SingleLayerAttention) -> Vector:
    k, i, p, q = (int(index) for index in name.split("_")[1:])
    d, d_out = shape.d, shape.d_out
    return _degree((k - 1, d_out + i - 1, d_out + d + p - 1, d_out + d + q - 1), shape)


def _degree(places: Sequence[int], shape: SingleLayerAttention) -> Vector:
    degree = [0] * (shape.d_out + 2 * shape.d)
    for place in places:
        degree[place] += 1
    return tuple(degree)


def symmetries(shape: SingleLayerAttention, free: PolynomialMap) -> tuple[Symmetry, ...]:
    """Generators of S_d' × S_d × S_d: permutations of the outputs k, of the columns i of A, and of p, q together.

    Permuting columns alone is a symmetry of reduced coordinates only; for full coordinates it is left out.
    """
    reduced = free.coordinates[0].startswith("c_")
    moves: list[Places] = [{"V": (s, None)} for s in range(1, shape.d_out)]
    for s in range(1, shape.d):
        columns: Places = {"A": (None, s), "Q": (None, s)}
        rows: Places = {"A": (s, None), "K": (None, s), "V": (None, s)}
        both: Places = {"A": (s, s), "Q": (None, s), "K": (None, s), "V": (None, s)}
        moves += [columns, rows] if reduced else [both]
    return tuple(_symmetry(free, move) for move in moves)


def _symmetry(free: PolynomialMap, places: Places) -> Symmetry:
    variables = free.source.variables
    renaming = {name: _renamed(name, places) for name in watched(variables)}
    place = {name: number for number, name in enumerate(variables)}
    moved = tuple(place[renaming[name]] for name in variables)
    return Symmetry(moved, _moved_coordinates(free, places, renaming))


def _moved_coordinates(free: PolynomialMap, places: Places, renaming: Mapping[str, str]) -> Permutation:
    """Reduced coordinates by their indices; full ones by their images."""
    if not free.coordinates[0].startswith("c_"):
        return coordinate_permutation(free, renaming)
    k, i, p = places.get("V", (None, None))[0], places.get("A", (None, None))[1], places.get("V", (None, None))[1]
    place = {name: number for number, name in enumerate(free.coordinates)}
    return tuple(place[_moved_name(name, k, i, p)] for name in watched(free.coordinates))


def _moved_name(name: str, k: int | None, i: int | None, p: int | None) -> str:
    output, column, *pair = (int(index) for index in name.split("_")[1:])
    first, second = sorted(_swap(index, p) for index in pair)
    return f"c_{_swap(output, k)}_{_swap(column, i)}_{first}_{second}"


def _renamed(name: str, places: Places) -> str:
    letter, *indices = _parts(name)
    chosen = places.get(letter, (None, None))
    first, second = (_swap(index, s) for index, s in zip(indices, chosen, strict=True))
    return f"{letter}_{first}_{second}"


def _parts(name: str) -> tuple[str, int, int]:
    letter, first, second = name.split("_")
    return letter, int(first), int(second)


def _swap(index: int, s: int | None) -> int:
    return index if s is None else {s: s + 1, s + 1: s}.get(index, index)
