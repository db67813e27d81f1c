"""Observables of a network, computed anew, with the numbers that a certificate holds of them."""

from collections.abc import Callable
from functools import cache

from m2bridge.errors import ContradictionError
from m2bridge.families.deep_attention.checker import layers
from m2bridge.families.deep_attention.checker.block import SEED, STATED_PRIME, columns_and_rank, unseen
from m2bridge.families.deep_attention.checker.case import Case, matrices, upper_bound, virtual
from m2bridge.families.deep_attention.checker.fibres import fibre, limit_outside, unknowns
from m2bridge.families.deep_attention.checker.predicted import hypothesis

Found = tuple[int | None, dict[str, int]]
"""The value, if it is decided, and numbers; none where nothing is computed."""

MOST_LAYERS = 12
SMALL = 60
"""Weights of networks whose whole differential is computed beside the block."""


def observed(case: Case, observable: str) -> Found:
    """TooExpensiveError for what is too large."""
    return _OBSERVED[observable](case)


def _bounded(rank: int, bound: int) -> Found:
    if rank > bound:
        raise ContradictionError(f"a rank {rank} above the bound {bound}")
    return (rank if rank == bound else None), {"rank": rank, "upper_bound": bound}


def _attention_matrices(case: Case) -> Found:
    rank = case.heads * sum(layers.attention_rank(d, a) for d, _, a in case.layers)
    return _bounded(rank, case.heads * sum(matrices(d, a) for d, _, a in case.layers))


def _virtual_weights(case: Case) -> Found:
    return _bounded(layers.virtual_rank(case), virtual(case, len(case.a))) if case.plain else (None, {})


def _normal_form(case: Case) -> Found:
    if case.softmax or not case.plain or len(case.a) > MOST_LAYERS:
        return None, {}
    factors = layers.normal_form_factors(len(case.a))
    return factors is not None, {"factors": factors or 0}


def _scalings(case: Case) -> Found:
    if case.softmax:
        return None, {}
    values, attention = layers.degrees_in_first_layer()
    return values == attention, {"degree_in_values": values, "degree_in_attention": attention}


@cache
def _dimension(case: Case) -> Found:
    if case.softmax and not case.plain:
        return None, {}
    upper = upper_bound(case)
    if case.softmax and case.t == 1:
        return upper, {"lower_bound": upper, "upper_bound": upper}
    if not case.plain:
        lower, numbers = layers.function_rank(case, upper), dict[str, int]()
    else:
        columns, rank = columns_and_rank(case)
        kernel = unseen(case)
        numbers = {"columns": columns, "rank": rank, "unseen": kernel, "seed": SEED, "prime": STATED_PRIME}
        lower = upper if rank == columns - kernel else rank
        _check_small(case, upper)
    if lower > upper:
        raise ContradictionError(f"a rank {lower} above the bound {upper}")
    return (lower if lower == upper else None), {**numbers, "lower_bound": lower, "upper_bound": upper}


def _check_small(case: Case, upper: int) -> None:
    """The same by the whole differential."""
    small = sum(d * after + 2 * d * a for d, after, a in case.layers) <= SMALL
    if small and not case.softmax and (found := layers.function_rank(case, upper)) != upper:
        raise ContradictionError(f"the block gives {upper}, the whole differential {found}")


def _unseen_weights(case: Case) -> Found:
    dimension, numbers = _dimension(case)
    if not numbers:
        return None, {}
    weights = case.heads * sum(d * after + matrices(d, a) for d, after, a in case.layers)
    return (None if dimension is None else weights - dimension), {**numbers, "weights": weights}


def _virtual_fibre_dimension(case: Case) -> Found:
    """The difference of the dimensions of virtual weights and of functions, less one for each scaling."""
    if case.softmax or not case.plain:
        return None, {}
    (weights, ranks), (functions, bounds) = _virtual_weights(case), _dimension(case)
    numbers = {"virtual_weights": ranks["rank"], "functions": bounds["lower_bound"]}
    return (None if weights is None or functions is None else weights - functions - len(case.a)), numbers


def _fibre_dimension(case: Case) -> Found:
    if not unknowns(case):
        return None, {}
    dimension, _ = fibre(case)
    _hold(dimension, case)
    return dimension, {"unknowns": unknowns(case), "dimension": dimension}


def _hold(dimension: int, case: Case) -> None:
    """Among all matrices there are at least as many as among virtual weights; as many, if these are all matrices."""
    virtual_dimension, numbers = _virtual_fibre_dimension(case)
    if virtual_dimension is None:
        return
    n = case.d[0]
    missing = len(case.a) * n * n + n * case.d[-1] - numbers["virtual_weights"]
    if dimension < virtual_dimension or (dimension > virtual_dimension and not missing):
        raise ContradictionError(f"a fibre of dimension {dimension}, {virtual_dimension} in the virtual weights")


def _fibre_is_one_point(case: Case) -> Found:
    """One simple point; of several ones, which are virtual weights is not computed, but they are no curve if unique."""
    if not unknowns(case):
        return None, {}
    dimension, degree = fibre(case)
    virtual_dimension, _ = _virtual_fibre_dimension(case)
    one = True if dimension == 0 and degree == 1 else False if virtual_dimension else None
    return one, {"unknowns": unknowns(case), "dimension": dimension, "degree": degree}


def _fibre_degree(case: Case) -> Found:
    if not unknowns(case):
        return None, {}
    _, degree = fibre(case)
    return degree, {"unknowns": unknowns(case), "degree": degree}


def _closed(case: Case) -> Found:
    if hypothesis(case, "closed", ""):
        return None, {}
    found = limit_outside()
    return (False if all(found.values()) else None), dict(found)


_OBSERVED: dict[str, Callable[[Case], Found]] = {
    "attention_matrices": _attention_matrices,
    "closed": _closed,
    "dimension": _dimension,
    "fibre_degree": _fibre_degree,
    "fibre_dimension": _fibre_dimension,
    "fibre_is_one_point": _fibre_is_one_point,
    "normal_form": _normal_form,
    "scalings_keep_the_function": _scalings,
    "unseen_weights": _unseen_weights,
    "virtual_fibre_dimension": _virtual_fibre_dimension,
    "virtual_weights": _virtual_weights,
}
