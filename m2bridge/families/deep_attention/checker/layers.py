"""Ranks of differentials of whole networks: attention matrices, virtual weights, functions of lightning attention."""

from collections.abc import Iterator
from functools import cache, reduce
from operator import add
from random import Random
from typing import Any

import flint

from m2bridge.checker.algebra import PRIME
from m2bridge.errors import TooExpensiveError
from m2bridge.families.deep_attention.checker.case import Case

MOST, MOST_STEPS = 3 * 10**6, 10**8
TOKENS = 3
Head = dict[str, Any]


def rank(rows: list[list[int]]) -> int:
    """Modulo a prime."""
    return int(flint.nmod_mat(len(rows), len(rows[0]), [x for row in rows for x in row], PRIME).rank())


def weights(case: Case) -> int:
    """How many weights all heads have; more rows of K and Q than d are not needed."""
    return case.heads * sum(2 * min(a, d) * d + d * after for d, after, a in case.layers)


def _payable(rows: int, columns: int, steps: int = 0) -> None:
    if rows * columns > MOST or steps > MOST_STEPS:
        raise TooExpensiveError("case", f"a matrix of {rows} × {columns} entries")


def _random(rows: int, columns: int, random: Random) -> Any:
    return flint.nmod_mat(rows, columns, [random.randrange(PRIME) for _ in range(rows * columns)], PRIME)


def _entries(A: Any) -> list[int]:
    return list(map(int, A.entries()))


@cache
def attention_rank(d: int, a: int) -> int:
    """The tangent space K̇ᵀQ + KᵀQ̇ contains all of the columns of Kᵀ, and modulo these the rows of Q."""
    a = min(a, d)
    _payable(2 * a * d, d * d)
    random = Random(3)
    K, Q = (_random(a, d, random) for _ in range(2))
    return rank([_entries(x) for E in _units(K) for x in (E.transpose() * Q, K.transpose() * E)])


def virtual_rank(case: Case) -> int:
    """Return the rank of the differential of weights ↦ (A'_1, …, A'_l, M), by the product rule."""
    n, random = case.d[0], Random(4)
    count = weights(case)
    _payable(count, len(case.a) * n * n + case.d[-1] * n, count**2)
    layers = [_head(d, after, a, random) for d, after, a in case.layers]
    entering = [flint.nmod_mat(n, n, [int(i == j) for i in range(n) for j in range(n)], PRIME)]
    for head in layers:
        entering.append(head["V"] * entering[-1])
    moves = [(k, kind, E) for k, head in enumerate(layers) for kind in "KQV" for E in _units(head[kind])]
    return rank([_virtual_tangent(layers, entering, *move) for move in moves])


def _virtual_tangent(layers: list[Head], entering: list[Any], k: int, name: str, E: Any) -> list[int]:
    """All slopes when one weight of layer k moves."""
    zero, found = entering[0] - entering[0], list[int]()
    slope: Any = None
    for i, head in enumerate(layers):
        M, K, Q = entering[i], head["K"], head["Q"]
        dA = zero if slope is None else (K * slope).transpose() * (Q * M) + (K * M).transpose() * (Q * slope)
        if i == k and name != "V":
            dA = dA + ((E * M).transpose() * (Q * M) if name == "K" else (K * M).transpose() * (E * M))
        found += _entries(dA)
        if slope is not None:
            slope = head["V"] * slope
        elif i == k and name == "V":
            slope = E * M
    last = entering[-1]
    return found + (_entries(slope) if slope is not None else [0] * (last.nrows() * last.ncols()))


def _units(block: Any) -> Iterator[Any]:
    size = block.nrows() * block.ncols()
    for i in range(size):
        yield flint.nmod_mat(block.nrows(), block.ncols(), [int(i == j) for j in range(size)], PRIME)


def _head(d: int, after: int, a: int, random: Random) -> Head:
    """K and Q always; more rows than d are not needed."""
    K, Q = (_random(min(a, d), d, random) for _ in range(2))
    return {"K": K, "Q": Q, "V": _random(after, d, random)}


def function_rank(case: Case, most: int) -> int:
    """Return the rank of gradients of functions of lightning attention, each at tokens of its own."""
    rows = most + 5
    _payable(rows, weights(case))
    random, tokens = Random(5), min(case.t, TOKENS)
    layers = [[_head(*layer, random) for _ in range(case.heads)] for layer in case.layers]
    return rank([_gradient(layers, case.skip, tokens, random) for _ in range(rows)])


def _gradient(layers: list[list[Head]], skip: bool, tokens: int, random: Random) -> list[int]:
    """With Γ = VᵀG: dV = G(YYᵀAY)ᵀ, dA = YYᵀΓYᵀ, and Y gets AᵀYYᵀΓ + (W + Wᵀ)Y with W = ΓYᵀAᵀ; no matrix is d × d."""
    Y = _random(layers[0][0]["V"].ncols(), tokens, random)
    entering = []
    for layer in layers:
        entering.append(Y)
        Y = reduce(add, [head["V"] * _moved(head, Y) for head in layer], *[Y] * skip)
    G = _random(Y.nrows(), tokens, random)
    found = list[int]()
    for layer, Y in zip(reversed(layers), reversed(entering), strict=True):
        passed = [G] * skip
        for head in layer:
            K, Q, gamma = head["K"], head["Q"], head["V"].transpose() * G
            left = Y * (Y.transpose() * gamma)
            found += _entries(G * _moved(head, Y).transpose())
            found += _entries(Q * Y * left.transpose()) + _entries(K * left * Y.transpose())
            AY = K.transpose() * (Q * Y)
            form = gamma * (AY.transpose() * Y) + AY * (gamma.transpose() * Y)
            passed.append(Q.transpose() * (K * left) + form)
        G = reduce(add, passed)
    return found


def _moved(head: Head, Y: Any) -> Any:
    """YYᵀAY."""
    return Y * (Y.transpose() * (head["K"].transpose() * (head["Q"] * Y)))


def normal_form_factors(layers: int) -> int | None:
    """The number of factors, if both sides of φ = M Q_{l+1} X are the same word in V_k, A_k, X and their transposes.

    φ_{k+1} = V_{k+1} φ_k φ_kᵀ A_{k+1} φ_k; Q_{k+1} = Q_k X Xᵀ Q_kᵀ M_kᵀ A_{k+1} M_k Q_k with M_k = V_k⋯V_1. A letter is
    a number, negative for a transpose: 1 is X, 2k is A_k, 2k + 1 is V_k.
    """
    function: tuple[int, ...] = (1,)
    M, Q = tuple[int, ...](), tuple[int, ...]()
    for k in range(1, layers + 1):
        A, V = (2 * k,), (2 * k + 1,)
        function = V + function + _turned(function) + A + function
        Q = (*Q, 1, -1, *_turned(Q), *_turned(M), *A, *M, *Q)
        M = V + M
    return len(function) if function == M + Q + (1,) else None


def _turned(word: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-letter for letter in reversed(word))


def degrees_in_first_layer() -> tuple[int, int]:
    """How often V and A occur in V Y Yᵀ A Y: a layer changes by c^(difference) when V is scaled by c and A by 1/c."""
    word = ["V", "Y", "Y'", "A", "Y"]
    return word.count("V"), word.count("A")
