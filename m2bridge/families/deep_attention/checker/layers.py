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

MOST = 3 * 10**6
TOKENS = 3
Head = dict[str, Any]


def rank(rows: list[list[int]]) -> int:
    """Modulo a prime."""
    if len(rows) * len(rows[0]) > MOST:
        raise TooExpensiveError("case", f"a matrix of {len(rows)} × {len(rows[0])} entries")
    return int(flint.nmod_mat(len(rows), len(rows[0]), [x for row in rows for x in row], PRIME).rank())


def _random(rows: int, columns: int, random: Random) -> Any:
    return flint.nmod_mat(rows, columns, [random.randrange(PRIME) for _ in range(rows * columns)], PRIME)


def _entries(A: Any) -> list[int]:
    return list(map(int, A.entries()))


@cache
def attention_rank(d: int, a: int) -> int:
    """The tangent space K̇ᵀQ + KᵀQ̇ contains all of the columns of Kᵀ, and modulo these the rows of Q."""
    if (2 * a * d) * d * d > MOST:
        raise TooExpensiveError("case", f"matrices of size {d} and rank {a}")
    random = Random(3)
    K, Q = (_random(a, d, random) for _ in range(2))
    rows = []
    for i in range(a):
        for j in range(d):
            E = flint.nmod_mat(a, d, [int((e, f) == (i, j)) for e in range(a) for f in range(d)], PRIME)
            rows += [_entries(E.transpose() * Q), _entries(K.transpose() * E)]
    return rank(rows)


def virtual_rank(case: Case) -> int:
    """Of the differential of weights ↦ (A'_1, …, A'_l, M), by the product rule."""
    n, random = case.d[0], Random(4)
    layers = [_head(d, after, a, random) for d, after, a in case.layers]
    entering = [flint.nmod_mat(n, n, [int(i == j) for i in range(n) for j in range(n)], PRIME)]
    for head in layers:
        entering.append(head["V"] * entering[-1])
    count = sum(block.nrows() * block.ncols() for head in layers for name, block in head.items() if name != "A")
    if count * (len(layers) * n * n + case.d[-1] * n) > MOST:
        raise TooExpensiveError("case", f"{count} weights")
    moves = [(k, kind, E) for k, head in enumerate(layers) for kind in "KQV" for E in _units(head[kind])]
    return rank([_virtual_tangent(layers, entering, *move) for move in moves])


def _virtual_tangent(layers: list[Head], entering: list[Any], k: int, name: str, E: Any) -> list[int]:
    """All slopes when one weight of layer k moves."""
    zero, found = entering[0] - entering[0], list[int]()
    slope: Any = None
    for i, head in enumerate(layers):
        M, A = entering[i], head["A"]
        dA = zero if slope is None else slope.transpose() * A * M + M.transpose() * A * slope
        if i == k and name != "V":
            moved = E.transpose() * head["Q"] if name == "K" else head["K"].transpose() * E
            dA = dA + M.transpose() * moved * M
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
    return {"K": K, "Q": Q, "A": K.transpose() * Q, "V": _random(after, d, random)}


def function_rank(case: Case, most: int) -> int:
    """Of the differential of weights ↦ functions of lightning attention: gradients, each at tokens of its own."""
    random = Random(5)
    layers = [[_head(*layer, random) for _ in range(case.heads)] for layer in case.layers]
    tokens = min(case.t, TOKENS)
    count = sum(2 * min(a, d) * d + d * after for d, after, a in case.layers) * case.heads
    if (most + 5) * count > MOST:
        raise TooExpensiveError("case", f"a matrix of {most + 5} × {count} entries")
    return rank([_gradient(layers, case.skip, tokens, random) for _ in range(most + 5)])


def _gradient(layers: list[list[Head]], skip: bool, tokens: int, random: Random) -> list[int]:
    """With S = YYᵀ and Γ = VᵀG: dV = G(SAY)ᵀ, dA = SΓYᵀ, and Y gets AᵀSΓ + (W + Wᵀ)Y with W = ΓYᵀAᵀ."""
    Y = _random(layers[0][0]["V"].ncols(), tokens, random)
    entering = []
    for layer in layers:
        entering.append(Y)
        S = Y * Y.transpose()
        Y = reduce(add, [head["V"] * S * head["A"] * Y for head in layer], *[Y] * skip)
    G = _random(Y.nrows(), tokens, random)
    found = list[int]()
    for layer, Y in zip(reversed(layers), reversed(entering), strict=True):
        S, passed = Y * Y.transpose(), [G] * skip
        for head in layer:
            gamma = head["V"].transpose() * G
            dA = S * gamma * Y.transpose()
            found += _entries(G * (S * head["A"] * Y).transpose())
            found += _entries(head["Q"] * dA.transpose()) + _entries(head["K"] * dA)
            W = gamma * (head["A"] * Y).transpose()
            passed.append(head["A"].transpose() * S * gamma + (W + W.transpose()) * Y)
        G = reduce(add, passed)
    return found


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
