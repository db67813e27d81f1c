"""Observables of a network, computed anew, with the numbers that a certificate holds of them.

Ranks are those of differentials of whole networks: attention matrices, virtual weights, functions
of lightning attention.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial, reduce
from operator import add
from random import Random
from typing import Any

import flint

from m2bridge.checker.algebra import PRIME, rank_modulo
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.deep_attention.checker.block import (
    SEED,
    STATED_PRIME,
    columns_and_rank,
    unseen,
)
from m2bridge.families.deep_attention.checker.fibres import fibre, limit_outside, unknowns
from m2bridge.families.deep_attention.checker.predictions import (
    Case,
    hypotheses,
    matrices,
    upper_bound,
    virtual,
)

MOST, MOST_STEPS = 3 * 10**6, 10**8
TOKENS = 3
Head = dict[str, Any]


def weights(case: Case) -> int:
    """Return the number of weights of all heads; more rows of K and Q than d are not needed."""
    return case.heads * sum(2 * min(a, d) * d + d * after for d, after, a in case.layers)


def _payable(rows: int, columns: int, steps: int = 0) -> None:
    if rows * columns > MOST or steps > MOST_STEPS:
        raise TooExpensiveError("case", f"a matrix of {rows} × {columns} entries")


def _random(rows: int, columns: int, random: Random) -> Any:
    return flint.nmod_mat(
        rows, columns, [random.randrange(PRIME) for _ in range(rows * columns)], PRIME
    )


def _entries(A: Any) -> list[int]:
    return list(map(int, A.entries()))


@cache
def attention_rank(d: int, a: int) -> int:
    """The tangent space K̇ᵀQ + KᵀQ̇ contains all of the columns of Kᵀ, and modulo these the rows of
    Q.
    """
    a = min(a, d)
    _payable(2 * a * d, d * d)
    random = Random(3)
    K, Q = (_random(a, d, random) for _ in range(2))
    return rank_modulo(
        [_entries(x) for E in _units(K) for x in (E.transpose() * Q, K.transpose() * E)]
    )


def virtual_rank(case: Case) -> int:
    """Return the rank of the differential of weights ↦ (A'_1, …, A'_l, M), by the product rule."""
    n, random = case.d[0], Random(4)
    count = weights(case)
    _payable(count, len(case.a) * n * n + case.d[-1] * n, count**2)
    layers = [_random_head(*layer, random) for layer in case.layers]
    entering = [flint.nmod_mat(n, n, [int(i == j) for i in range(n) for j in range(n)], PRIME)]
    for head in layers:
        entering.append(head["V"] * entering[-1])
    moves = [
        (k, kind, E) for k, head in enumerate(layers) for kind in "KQV" for E in _units(head[kind])
    ]
    return rank_modulo([_virtual_tangent(layers, entering, *move) for move in moves])


def _virtual_tangent(
    layers: list[Head], entering: list[Any], moving: int, name: str, E: Any
) -> list[int]:
    """All slopes when one weight of a layer moves; before it they are zero."""
    slope, slopes = 0 * entering[moving], [0] * (moving * entering[0].nrows() ** 2)
    for head, M in list(zip(layers, entering, strict=False))[moving:]:
        dK, dQ, dV = (
            E if head is layers[moving] and kind == name else 0 * head[kind] for kind in "KQV"
        )
        KM, QM = head["K"] * M, head["Q"] * M
        dKM, dQM = dK * M + head["K"] * slope, dQ * M + head["Q"] * slope
        slopes += _entries(dKM.transpose() * QM + KM.transpose() * dQM)
        slope = dV * M + head["V"] * slope
    return slopes + _entries(slope)


def _units(block: Any) -> Iterator[Any]:
    size = block.nrows() * block.ncols()
    for i in range(size):
        yield flint.nmod_mat(
            block.nrows(), block.ncols(), [int(i == j) for j in range(size)], PRIME
        )


def _random_head(d: int, after: int, a: int, random: Random) -> Head:
    """K and Q always; more rows than d are not needed."""
    K, Q = (_random(min(a, d), d, random) for _ in range(2))
    return {"K": K, "Q": Q, "V": _random(after, d, random)}


def function_rank(case: Case, most: int) -> int:
    """Return the rank of gradients of functions of lightning attention, each at tokens of
    its own.
    """
    rows = most + 5
    _payable(rows, weights(case))
    random, tokens = Random(5), min(case.t, TOKENS)
    layers = [[_random_head(*layer, random) for _ in range(case.heads)] for layer in case.layers]
    return rank_modulo([_gradient(layers, case.skip, tokens, random) for _ in range(rows)])


def _gradient(layers: list[list[Head]], skip: bool, tokens: int, random: Random) -> list[int]:
    """With Γ = VᵀG: dV = G(YYᵀAY)ᵀ, dA = YYᵀΓYᵀ, and Y gets AᵀYYᵀΓ + (W + Wᵀ)Y with W = ΓYᵀAᵀ; no
    matrix is d × d.
    """
    Y = _random(layers[0][0]["V"].ncols(), tokens, random)
    entering = []
    for layer in layers:
        entering.append(Y)
        Y = reduce(add, [head["V"] * _moved(head, Y) for head in layer], *[Y] * skip)
    G = _random(Y.nrows(), tokens, random)
    entries = list[int]()
    for layer, Y in zip(reversed(layers), reversed(entering), strict=True):
        passed = [G] * skip
        for head in layer:
            K, Q, gamma = head["K"], head["Q"], head["V"].transpose() * G
            left = Y * (Y.transpose() * gamma)
            entries += _entries(G * _moved(head, Y).transpose())
            entries += _entries(Q * Y * left.transpose()) + _entries(K * left * Y.transpose())
            AY = K.transpose() * (Q * Y)
            form = gamma * (AY.transpose() * Y) + AY * (gamma.transpose() * Y)
            passed.append(Q.transpose() * (K * left) + form)
        G = reduce(add, passed)
    return entries


def _moved(head: Head, Y: Any) -> Any:
    """YYᵀAY."""
    return Y * (Y.transpose() * (head["K"].transpose() * (head["Q"] * Y)))


def normal_form_factors(layers: int) -> int | None:
    """The number of factors, if both sides of φ = M Q_{l+1} X are the same word in V_k, A_k, X and
    their transposes.

    φ_{k+1} = V_{k+1} φ_k φ_kᵀ A_{k+1} φ_k; Q_{k+1} = Q_k X Xᵀ Q_kᵀ M_kᵀ A_{k+1} M_k Q_k with M_k =
    V_k⋯V_1. A letter is a number, negative for a transpose: 1 is X, 2k is A_k, 2k + 1 is V_k.
    """
    function: tuple[int, ...] = (1,)
    M, Q = tuple[int, ...](), tuple[int, ...]()
    for k in range(1, layers + 1):
        A, V = (2 * k,), (2 * k + 1,)
        function = V + function + turned(function) + A + function
        Q = (*Q, 1, -1, *turned(Q), *turned(M), *A, *M, *Q)
        M = V + M
    return len(function) if function == M + Q + (1,) else None


def turned(word: tuple[int, ...]) -> tuple[int, ...]:
    """Return the transpose of a product of matrices."""
    return tuple(-letter for letter in reversed(word))


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
    rank = case.heads * sum(attention_rank(d, a) for d, _, a in case.layers)
    return _bounded(rank, case.heads * sum(matrices(d, a) for d, _, a in case.layers))


def _virtual_weights(case: Case) -> Found:
    return _bounded(virtual_rank(case), virtual(case, len(case.a))) if case.plain else (None, {})


def _normal_form(case: Case) -> Found:
    if case.softmax or not case.plain or len(case.a) > MOST_LAYERS:
        return None, {}
    factors = normal_form_factors(len(case.a))
    return factors is not None, {"factors": factors or 0}


def _scalings(case: Case) -> Found:
    if case.softmax:
        return None, {}
    word = ["V", "Y", "Y'", "A", "Y"]  # with cV and A/c a layer is multiplied by c^(difference)
    values, attention = map(word.count, "VA")
    return values == attention, {"degree_in_values": values, "degree_in_attention": attention}


@cache
def _dimension(case: Case) -> Found:
    if case.softmax and not case.plain:
        return None, {}
    upper = upper_bound(case)
    if case.softmax and case.t == 1:
        return upper, {"lower_bound": upper, "upper_bound": upper}
    if not case.plain:
        lower, numbers = function_rank(case, upper), dict[str, int]()
    else:
        columns, rank = columns_and_rank(case)
        kernel = unseen(case)
        numbers = {
            "columns": columns,
            "rank": rank,
            "unseen": kernel,
            "seed": SEED,
            "prime": STATED_PRIME,
        }
        lower = upper if rank == columns - kernel else rank
        # then it is found by the whole differential as well
        small = weights(case) <= SMALL and not case.softmax
        if small and (whole := function_rank(case, upper)) != upper:
            raise ContradictionError(f"the block gives {upper}, the whole differential {whole}")
    value, _ = _bounded(lower, upper)
    return value, {**numbers, "lower_bound": lower, "upper_bound": upper}


def _unseen_weights(case: Case) -> Found:
    dimension, numbers = _dimension(case)
    if not numbers:
        return None, {}
    weights = case.heads * sum(d * after + matrices(d, a) for d, after, a in case.layers)
    return (None if dimension is None else weights - dimension), {**numbers, "weights": weights}


def _virtual_fibre_dimension(case: Case) -> Found:
    """The difference of the dimensions of virtual weights and of functions, less one for each
    scaling.
    """
    if case.softmax or not case.plain:
        return None, {}
    (weights, ranks), (functions, bounds) = _virtual_weights(case), _dimension(case)
    numbers = {"virtual_weights": ranks["rank"], "functions": bounds["lower_bound"]}
    return (
        None if weights is None or functions is None else weights - functions - len(case.a)
    ), numbers


def _fibre(case: Case, observable: str) -> Found:
    """An observable of a fibre, which has among all matrices at least the dimension that it has
    among virtual weights.

    One simple point; of several ones, which are virtual weights is not computed, but they are no
    curve if unique.
    """
    if not unknowns(case):
        return None, {}
    dimension, degree = fibre(case)
    among_virtual, numbers = _virtual_fibre_dimension(case)
    n = case.d[0]
    everything = numbers["virtual_weights"] == len(case.a) * n * n + n * case.d[-1]
    if among_virtual is not None and (
        dimension < among_virtual or (everything and dimension > among_virtual)
    ):
        raise ContradictionError(
            f"a fibre of dimension {dimension}, {among_virtual} in the virtual weights"
        )
    sizes = {"unknowns": unknowns(case), "dimension": dimension, "degree": degree}
    if observable == "fibre_is_one_point":
        return True if (dimension, degree) == (0, 1) else False if among_virtual else None, sizes
    name = observable.removeprefix("fibre_")
    return sizes[name], {"unknowns": sizes["unknowns"], name: sizes[name]}


def _closed(case: Case) -> Found:
    if hypotheses(case, "closed", ""):
        return None, {}
    equations = limit_outside()
    return (False if all(equations.values()) else None), dict(equations)


_OBSERVED: dict[str, Callable[[Case], Found]] = {
    "attention_matrices": _attention_matrices,
    "closed": _closed,
    "dimension": _dimension,
    **{
        name: partial(_fibre, observable=name)
        for name in ("fibre_degree", "fibre_dimension", "fibre_is_one_point")
    },
    "normal_form": _normal_form,
    "scalings_keep_the_function": _scalings,
    "unseen_weights": _unseen_weights,
    "virtual_fibre_dimension": _virtual_fibre_dimension,
    "virtual_weights": _virtual_weights,
}
