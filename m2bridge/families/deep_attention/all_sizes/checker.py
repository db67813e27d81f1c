"""The checker of certificates about deep attention for all sizes: any widths, ranks and layers.

*Theorems* (docs/deep-attention.md): one block decides (theorem-block), its kernel is only what it
always is (lemma-kernel), and the dimension is a sum with a summand for each layer (lemma-layers).

*Checked here*: the identities of one layer on which lemma-kernel rests, the ranks of all blocks of
few layers as a check of the whole lemma, the summands of lemma-layers by dimensions of
Grassmannians, without isl, and for small networks that a statement says what is counted.

*Taken on trust*: the steps of these proofs around the identities, the upper bounds, and that the
hypotheses say of all networks what they say of small ones ("All sizes at once" there).

``CHECKER`` is what the registry looks for.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product as tuples
from pathlib import Path
from typing import Any

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.certificates.wording import Words, wording
from m2bridge.checker import FamilyChecker, only_case
from m2bridge.checker.algebra import ring
from m2bridge.errors import ContradictionError
from m2bridge.families.deep_attention.checker import predictions
from m2bridge.families.deep_attention.checker.block import columns_and_rank, unseen
from m2bridge.families.deep_attention.checker.matrices import Matrix, product, transposed
from m2bridge.families.deep_attention.checker.observables import observed, turned
from m2bridge.families.deep_attention.checker.predictions import (
    Network,
    hypotheses,
    prediction,
    upper_bound,
    virtual,
)

WORDS = wording(Path(__file__).parent / "words.toml")
NAME = "deep-attention-all-sizes"

# What each statement is about, and what a verdict on it rests on (words.toml).
KINDS = {
    "3.5": "virtual_weights",
    "V": "virtual_weights",
    "3.6": "normal_form",
    "3.8": "lightning",
    "3.9": "softmax",
    "3.10": "softmax",
    "L": "lightning",
    "S": "softmax",
}

Json = dict[str, Any]


# The identities of one layer.


def identities() -> list[str]:
    """The names of the identities; ContradictionError if one does not hold."""
    holds = _lightning() | _softmax() | {"normal form": _normal_form()}
    if not all(holds.values()):
        raise ContradictionError(f"an identity of one layer does not hold: {holds}")
    return list(holds)


def _lightning() -> dict[str, bool]:
    """The identities of Y' = YYᵀAY with two tokens Y = (u, v) in the plane, where v = κu + hy.

    With τ = 1 + κ² and q(u) = uᵀAu, the first token of Y' is τ q(u) u modulo h, and the second is κ
    times the first, plus τh (uᵀAy) u, modulo h². The skew-symmetric part of A has to be seen in
    uᵀAy.
    """
    a, b, c, d, u_1, u_2, y_1, y_2, kappa, h = ring(10).gens()
    variable_h = 9
    A = [[a, b], [c, d]]
    u = [u_1, u_2]
    y = [y_1, y_2]
    Y = [[u_1, kappa * u_1 + h * y_1], [u_2, kappa * u_2 + h * y_2]]
    moved = product(Y, transposed(Y), A, Y)
    tau = 1 + kappa**2
    parallel = True
    ratio = True
    for x, (first, second) in zip(u, moved, strict=True):
        beside_first = first - tau * _value(A, u, u) * x
        beside_second = second - kappa * first - tau * h * _value(A, u, y) * x
        parallel = parallel and _order(beside_first, variable_h) >= 1
        ratio = ratio and _order(beside_second, variable_h) >= 2
    J = [[0, 1], [-1, 0]]
    return {
        "parallel tokens": parallel,
        "ratio of tokens": ratio,
        "determinant": _det(moved) == _det(Y) ** 3 * _det(A),
        "skew part": _value(J, u, u) == 0 and _value(J, u, y) == u_1 * y_2 - u_2 * y_1,
    }


def _value(A: Matrix, x: list[Any], y: list[Any]) -> Any:
    """The bilinear form xᵀAy."""
    return product([x], A, [[entry] for entry in y])[0][0]


def _det(A: Matrix) -> Any:
    return A[0][0] * A[1][1] - A[0][1] * A[1][0]


def _order(polynomial: Any, variable: int) -> int:
    """The least power of a variable in a polynomial; above all others if it is zero."""
    powers = (int(exponents[variable]) for exponents, _ in polynomial.terms())
    return min(powers, default=99)


def _softmax() -> dict[str, bool]:
    """The lowest orders of one layer of softmax on the tokens x, y, …, y, with δ = x − y.

    The weight (1 + ζ)/(t + ζ) of x is 1/t + (t − 1)ζ/t² modulo ζ², and ζ = δᵀAz is linear in the
    token z.
    """
    a, b, c, d, x_1, x_2, y_1, y_2, t, zeta = ring(10).gens()
    variable_zeta = 9
    A = [[a, b], [c, d]]
    delta = [x_1 - y_1, x_2 - y_2]
    at_x = _value(A, delta, [x_1, x_2])
    at_y = _value(A, delta, [y_1, y_2])
    at_delta = _value(A, delta, delta)
    at_sum = _value(A, delta, [x_1 + (t - 1) * y_1, x_2 + (t - 1) * y_2])
    # the two sides, times t²(t + ζ)
    weights = (1 + zeta) * t**2 - (t + (t - 1) * zeta) * (t + zeta)
    return {
        "weights of softmax": _order(weights, variable_zeta) >= 2,
        "difference of tokens": at_x - at_y == at_delta,
        "mean of tokens": at_x + (t - 1) * at_y == at_sum,
    }


def _normal_form() -> bool:
    """Whether one more layer keeps the normal form φ = MQX, as words in matrices (Lemma 3.6).

    V φφᵀAφ is M⁺Q⁺X with M⁺ = VM and Q⁺ = Q XXᵀ Qᵀ(MᵀAM)Q. A negative letter is a transpose.
    """
    V, M, Q, X, A = (1,), (2,), (3,), (4,), (5,)
    token = M + Q + X
    layer = V + token + turned(token) + A + token
    longer_Q = Q + X + turned(X) + turned(Q) + turned(M) + A + M + Q
    return layer == V + M + longer_Q + X


# What each layer adds to the dimension.


def sums_agree() -> bool:
    """Whether the formulas of lemma-layers, and those of statements, are what is counted.

    A layer takes the space of dimension s behind it to one of dimension u in an n-dimensional
    space, by a matrix of rank x. It is free if u = s + 2x, and fills its space otherwise; the first
    layer fills the whole space, u = n.
    """
    n, r, s, x, u, e = ring(6).gens()
    # n² − (n − x)² is x(2n − x)
    free = _matrices(n, s, x, s + 2 * x) == x * (2 * n - x)
    first = _matrices(n, s, x, n) == x * (2 * n - x)
    filled = _matrices(n, s, x, u) == (u - s) * (n - u) + x * (2 * u - x)
    one_width = _matrices(n, r, x, r) == x * (2 * r - x)
    # the same for quadratic forms of rank 2x, or of full rank
    free_forms = _twice_forms(n, s, 2 * x, s + 2 * x) == 2 * x * (2 * n - 2 * x + 1)
    filled_forms = True
    for y in (2 * x, u):
        stated = 2 * (u - s) * (n - u) + y * (2 * u - y + 1)
        filled_forms = filled_forms and _twice_forms(n, s, y, u) == stated
    end = _end(n, s, e) == s * (n + e - s)
    # M of full rank: as many rows as the space has dimensions, or fewer
    full = _end(n, n, e) == n * e and _end(n, e, e) == n * e
    matrices = free and first and filled and one_width
    return matrices and free_forms and filled_forms and end and full


def _matrices(n: Any, s: Any, x: Any, u: Any) -> Any:
    """A space of dimension u around one of dimension s, a column space in it, and x rows."""
    return (u - s) * (n - u) + x * (u - x) + x * u


def _twice_forms(n: Any, s: Any, y: Any, u: Any) -> Any:
    """Twice the same for quadratic forms of rank y: a space of dimension y, and forms on it."""
    return 2 * (u - s) * (n - u) + 2 * y * (u - y) + y * (y + 1)


def _end(n: Any, s: Any, e: Any) -> Any:
    """The rows of M span a space of dimension s; e vectors of it."""
    return s * (n - s) + s * e


# The content of certificates.


@cache
def content(key: str) -> Content:
    """The content of a certificate on the statement with this key.

    It is CONFIRMED: what contradicts it is an error here.
    """
    if not sums_agree():
        raise ContradictionError("the number of a layer is not the stated one")
    (words,) = predictions.WORDS.about(key)
    verdict: Json = {
        "text": words.text,
        "source": words.source,
        "verdict": "CONFIRMED",
        "counterexample": None,
        "outside": outside(words),
    }
    return Content({"verdicts": [verdict]}, _evidence(), WORDS.trusted[KINDS[key]])


@cache
def _evidence() -> Json:
    """The identities, and the ranks of blocks."""
    return {"identities": identities(), "blocks": [_block(network) for network in _blocks()]}


def _blocks() -> Iterator[Network]:
    """Networks with all blocks of at most three layers, for softmax of at most two.

    A block has some layers with matrices of rank one or two, and then others behind a hidden width
    one.
    """
    kinds = [(layers, False, t) for layers in (1, 2, 3) for t in (1, 2)]
    kinds += [(layers, True, 2) for layers in (1, 2)]
    for layers, softmax, t in kinds:
        for wide in range(layers + 1):
            behind = layers - wide
            for ranks in tuples((1, 2), repeat=wide):
                yield Network(
                    widths=(2,) * wide + (1,) * (behind + 1),
                    a=ranks + (1,) * behind,
                    t=t,
                    softmax=softmax,
                )


def _block(network: Network) -> Json:
    """The rank of a block, whose kernel is only what lemma-kernel says."""
    columns, rank = columns_and_rank(network)
    if rank != columns - unseen(network):
        raise ContradictionError(f"the kernel of {network} is larger than it always is")
    return {"network": network.key, "columns": columns, "rank": rank}


def outside(words: Words) -> list[Json]:
    """The first small network of those that one hypothesis alone excludes, for each hypothesis.

    Its dimension is not the stated number: the hypothesis is needed. ContradictionError if a
    network that none excludes has another dimension: then the statement is not what ``sums_agree``
    compares.
    """
    if words.observable == "normal_form":
        return []
    examples: dict[str, Json] = {}
    for network in _small(KINDS[words.key] == "softmax"):
        stated = prediction(network, words.key, words.part)
        if words.observable == "virtual_weights":
            dimension = virtual(network, whole=network.depth)
        else:
            dimension = upper_bound(network)
        if stated is None or stated == dimension:
            continue
        failing = hypotheses(network, words.key, words.part)
        if not failing:
            raise ContradictionError(
                f"{words.key} says {stated} for {network.key}, and the dimension is {dimension}"
            )
        # the words of a hypothesis go on with the numbers of the network
        kind = failing[0].split(";")[0]
        if len(failing) == 1 and kind not in examples:
            computed, _ = observed(network, words.observable)
            examples[kind] = {
                "hypothesis": failing[0],
                "network": network.key,
                "computed": computed,
                "stated": stated,
            }
    return list(examples.values())


@cache
def _small(softmax: bool) -> tuple[Network, ...]:
    """The networks of at most three layers, widths and ranks at most three, the smallest first."""
    numbers = (1, 2, 3)
    networks = []
    for layers in (1, 2, 3):
        for widths in tuples(numbers, repeat=layers + 1):
            for a in tuples(numbers, repeat=layers):
                networks += [Network(widths=widths, a=a, t=t, softmax=softmax) for t in (1, 2)]
    return tuple(sorted(networks, key=_size))


def _size(network: Network) -> tuple[Any, ...]:
    """The sum of all numbers, and what tells equal sums apart."""
    widths, a, t = network.widths, network.a, network.t
    return (sum(widths) + sum(a) + t, network.depth, widths, a, t)


def _asked(certificate: Certificate) -> Content:
    return content(certificate.question)


CHECKER = FamilyChecker(NAME, only_case(NAME), dict.fromkeys(KINDS, _asked))
