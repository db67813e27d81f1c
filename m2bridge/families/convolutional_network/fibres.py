"""The fibres of the map from filters to functions, by Gröbner bases over QQ in Macaulay2.

Rescaled filters λ_i w_i have the function of the w_i exactly if ∏ λ_i^(D_i) = 1, where D_i =
r^(L−i). So all filters with one function f are the disjoint union of hypersurfaces of degree ΣD_i
in linear spaces of dimension L, one for each point of the fibre in the product of projective
spaces, with its multiplicity. Their ideal has the coefficients of φ(w) − f as generators.

Here φ(w) is the function of L filters w_i of sizes k_i with the activation degree r. A *type of
zeros* says how many zeros filters have at their ends (:class:`ZeroType`); fibres are computed over
one function of each type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from m2bridge.algebra.determinantal import monomial_count
from m2bridge.convert.answers import answer_to
from m2bridge.engine.script import Script, render
from m2bridge.errors import ContradictionError, TooLargeError
from m2bridge.families.convolutional_network.shape import MAX_ZERO_TYPES, FilterSizes, ZeroType

# Most fibres within these limits take seconds, and some of 16 weights in three layers minutes.
MAX_FIBRE_WEIGHTS = 16
MAX_FIBRE_COEFFICIENTS = 6000

Filters = list[list[int]]


def check_fibres_computable(network: FilterSizes) -> None:
    """Raise TooLargeError if there are too many weights or coefficients to compute fibres."""
    if network.parameter_count > MAX_FIBRE_WEIGHTS:
        raise TooLargeError(
            f"the fibre has {network.parameter_count} unknowns; at most {MAX_FIBRE_WEIGHTS} are"
            " tried: take smaller filters"
        )
    if monomial_count(network.input_count, network.function_degree) > MAX_FIBRE_COEFFICIENTS:
        raise TooLargeError(
            f"the functions have more than {MAX_FIBRE_COEFFICIENTS} coefficients, too many for"
            " fibres: take fewer or smaller filters, or a smaller --degree"
        )


def checked_zero_types(network: FilterSizes) -> tuple[ZeroType, ...]:
    """Return all types of zeros; raise TooLargeError if they are too many."""
    count = network.zero_type_count
    if count > MAX_ZERO_TYPES:
        raise TooLargeError(
            f"there are {count} types of zeros; fibres are computed for at most {MAX_ZERO_TYPES}:"
            " take smaller filters"
        )
    return tuple(network.zero_types())


def fibre_lengths(network: FilterSizes, types: Sequence[ZeroType]) -> tuple[int, ...]:
    """Return the length of the fibre over one function of each type of zeros, for r ≥ 2.

    The length is the number of points of the fibre, filters up to rescaling, with multiplicities.
    """
    # for each type the dimension and the degree of the set of all filters with the function
    answer = answer_to(fibres_script(network, types))
    # dimension and degree of the hypersurface of rescalings of one point of a fibre
    orbit_dimension = len(network.filters) - 1
    orbit_degree = sum(network.weight_degrees)
    lengths = []
    for dimension, degree in answer.integer_lists("fibres"):
        if dimension != orbit_dimension or degree % orbit_degree:
            raise ContradictionError(
                f"{network.title}: the filters with one function have dimension {dimension} and"
                f" degree {degree}"
            )
        lengths.append(degree // orbit_degree)
    return tuple(lengths)


def fibres_script(network: FilterSizes, types: Sequence[ZeroType]) -> Script:
    """Return the Macaulay2 program for the fibres over one function of each type of zeros.

    Its answer ``fibres`` is a list of pairs, one for each type: the dimension and the degree of the
    set of all filters with the function of the filters :func:`filters_of` of this type.
    """
    check_fibres_computable(network)
    # w_(i,1), … are the entries of filter i
    weights = [
        [f"w_({i},{a})" for a in range(1, size + 1)] for i, size in enumerate(network.filters, 1)
    ]
    filters_of_types = [_m2_list(map(_m2_list, filters_of(network, zeros))) for zeros in types]
    return render(
        "convolutional_fibres",
        libraries=("wire",),
        values={
            "title": network.title,
            "orbit_degree": sum(network.weight_degrees),
            "orbit_dimension": len(network.filters) - 1,
            "weights": ", ".join(chain.from_iterable(weights)),
            "inputs": network.input_count,
            "activation": network.degree,
            "filters": _m2_list(map(_m2_list, weights)),
            "points": _m2_list(filters_of_types),
        },
    )


def filters_of(network: FilterSizes, zeros: ZeroType) -> Filters:
    """Return filters of this type of zeros, with small integers between the zeros."""
    filters = []
    for i, (before, behind) in enumerate(zeros.placed(), 1):
        # of the core, the entries between the zeros
        size = network.filters[i - 1] - before - behind
        # Numbers from ±1, …, ±7 that look random, as the fibre over the function of special ones
        # may be longer. None is 0, so that there are no further zeros at the ends.
        core = [(-1) ** a * (1 + (3 * a + 2 * i + a * i) % 7) for a in range(size)]
        filters.append([0] * before + core + [0] * behind)
    return filters


def _m2_list(items: Iterable[object]) -> str:
    """Return a list in Macaulay2 of the texts of the items, such as ``{1, 2}``."""
    return "{" + ", ".join(map(str, items)) + "}"
