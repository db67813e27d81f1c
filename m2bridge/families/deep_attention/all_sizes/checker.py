"""The checker of certificates about deep attention for all sizes; ``CHECKER`` is what the registry
looks for.

Layers are counted by the dimensions of Grassmannians and without isl; identities are those of
products of matrices; ranks are found at the points and modulo the primes of the checker of one
network. The proofs are in docs/deep-attention.md#deep-all-sizes.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product as tuples
from pathlib import Path
from typing import Any

from m2bridge.certificates.schema import Content
from m2bridge.certificates.wording import Words, wording
from m2bridge.checker import FamilyChecker, only_case
from m2bridge.checker.algebra import ring
from m2bridge.errors import ContradictionError
from m2bridge.families.deep_attention.checker import predictions
from m2bridge.families.deep_attention.checker.block import columns_and_rank, unseen
from m2bridge.families.deep_attention.checker.fibres import Matrix, product, transposed
from m2bridge.families.deep_attention.checker.observables import observed, turned
from m2bridge.families.deep_attention.checker.predictions import (
    Case,
    hypotheses,
    prediction,
    upper_bound,
    virtual,
)


def identities() -> list[str]:
    """The names of the identities; ContradictionError if one does not hold."""
    holds = _lightning() | _softmax() | {"normal form": _normal_form()}
    if not all(holds.values()):
        raise ContradictionError(f"an identity of one layer does not hold: {holds}")
    return list(holds)


def _det(A: Matrix) -> Any:
    return A[0][0] * A[1][1] - A[0][1] * A[1][0]


def _lightning() -> dict[str, bool]:
    """The layer Y ↦ YYᵀAY for Y = (u, κu + hy), and for A skew."""
    a, b, c, d, p, q, v, w, kappa, h = ring(10).gens()
    A, Y = [[a, b], [c, d]], [[p, kappa * p + h * v], [q, kappa * q + h * w]]
    moved, u = product(Y, transposed(Y), A, Y), [[p], [q]]
    form, beside = (product([[p, q]], A, column)[0][0] for column in (u, [[v], [w]]))
    tau = 1 + kappa**2
    first = [moved[i][0] - tau * form * x for i, x in enumerate((p, q))]
    second = [
        moved[i][1] - kappa * moved[i][0] - tau * h * beside * x for i, x in enumerate((p, q))
    ]
    skew = product([[p, q]], [[0 * a, h], [-h, 0 * a]], [[p, v], [q, w]])[0]
    return {
        "parallel tokens": all(_order(f, 9) >= 1 for f in first),
        "ratio of tokens": all(_order(f, 9) >= 2 for f in second),
        "determinant": _det(moved) == _det(Y) ** 3 * _det(A),
        "skew part": skew == [0, h * (p * w - q * v)],
    }


def _order(polynomial: Any, variable: int) -> int:
    """The least power of a variable in it."""
    return min((int(exponents[variable]) for exponents, _ in polynomial.terms()), default=99)


def _softmax() -> dict[str, bool]:
    """π = (1 + ζ)/(t + ζ) + O(ζ²) is 1/t + (t − 1)ζ/t² + O(ζ²); ζ is linear in tokens."""
    a, b, c, d, p, q, v, w, t, z = ring(10).gens()
    A, delta = [[a, b], [c, d]], [[p - v, q - w]]
    at_x, at_y, at_delta, at_sum = (
        product(delta, A, [[x], [y]])[0][0]
        for x, y in ((p, q), (v, w), (p - v, q - w), (p + (t - 1) * v, q + (t - 1) * w))
    )
    weights = (1 + z) * t**2 - (t + (t - 1) * z) * (t + z)
    return {
        "weights of softmax": _order(weights, 9) >= 2,
        "difference of tokens": at_x - at_y == at_delta,
        "mean of tokens": at_x + (t - 1) * at_y == at_sum,
    }


def _normal_form() -> bool:
    """The words for φ = MQX: V φφᵀAφ and M⁺Q⁺X with M⁺ = VM, Q⁺ = Q XXᵀ Qᵀ(MᵀAM)Q; a negative
    letter is a transpose.
    """
    V, M, Q, X, A = ((letter,) for letter in range(1, 6))
    token, form = M + Q + X, turned(M) + A + M
    longer = Q + X + turned(X) + turned(Q) + form + Q
    return V + token + turned(token) + A + token == V + M + longer + X


def sums_agree() -> bool:
    """Whether what is stated for M and for each layer is what they add, wherever a formula is
    meant.

    A layer takes the space of dimension s behind it to one of dimension u, in n = d_0: u = s + 2x,
    or u = r, which is n in the first layer.
    """
    n, r, s, x, u, e = ring(6).gens()
    first = [(n, s + 2 * x, x), (n, n, x)]  # free and filled
    grown = all(_matrices(n, s, x, to) == x * (2 * n - x) for _, to, x in first)
    whole = _matrices(n, s, x, u) == (u - s) * (n - u) + x * (2 * u - x)
    one_width = _matrices(n, r, x, r) == x * (2 * r - x)
    forms = all(
        _twice_forms(n, s, y, u) == 2 * (u - s) * (n - u) + y * (2 * u - y + 1) for y in (2 * x, u)
    )
    first_forms = _twice_forms(n, s, 2 * x, s + 2 * x) == 2 * x * (2 * n - 2 * x + 1)
    end = _end(n, s, e) == s * (n + e - s) and _end(n, n, e) == n * e == _end(n, e, e)
    return grown and whole and one_width and forms and first_forms and end


def _matrices(n: Any, s: Any, x: Any, u: Any) -> Any:
    """A space of dimension u around one of dimension s, a column space in it, and x columns."""
    return (u - s) * (n - u) + x * (u - x) + x * u


def _twice_forms(n: Any, s: Any, y: Any, u: Any) -> Any:
    """Twice the same for quadratic forms of rank y: a space of dimension y, and forms on it."""
    return 2 * (u - s) * (n - u) + 2 * y * (u - y) + y * (y + 1)


def _end(n: Any, s: Any, e: Any) -> Any:
    """The rows of M span a space of dimension s; e vectors of it."""
    return s * (n - s) + s * e


WORDS = wording(Path(__file__).parent / "words.toml")
KINDS = {
    "3.5": "virtual_weights",
    "V": "virtual_weights",
    "3.6": "normal_form",
    "3.8": "lightning",
    "3.9": "softmax",
}
KINDS |= {"3.10": "softmax", "L": "lightning", "S": "softmax"}
Json = dict[str, Any]


@cache
def content(key: str) -> Content:
    """The content of a certificate on the statement with this key."""
    if not sums_agree():
        raise ContradictionError("the number of a layer is not the stated one")
    (words,) = predictions.WORDS.about(key)
    verdict: Json = {
        "text": words.text,
        "source": words.source,
        "verdict": "CONFIRMED",
        "counterexample": None,
    }
    return Content(
        {"verdicts": [verdict | {"outside": outside(words)}]},
        _evidence(),
        WORDS.trusted[KINDS[key]],
    )


@cache
def _evidence() -> Json:
    """The identities, and the ranks of all blocks of at most three layers, for softmax at
    most two.
    """
    return {"identities": identities(), "blocks": [_block(case) for case in _blocks()]}


def _blocks() -> Iterator[Case]:
    kinds = [(layers, False, t) for layers in (1, 2, 3) for t in (1, 2)] + [
        (layers, True, 2) for layers in (1, 2)
    ]
    for layers, softmax, t in kinds:
        for wide in range(layers + 1):
            for ranks in tuples((1, 2), repeat=wide):
                behind = layers - wide
                yield Case(
                    (2,) * wide + (1,) * (behind + 1), ranks + (1,) * behind, t, 1, False, softmax
                )


def _block(case: Case) -> Json:
    columns, rank = columns_and_rank(case)
    if rank != columns - unseen(case):
        raise ContradictionError(f"the kernel of {case} is larger than it always is")
    return {"network": case.key, "columns": columns, "rank": rank}


def outside(words: Words) -> list[Json]:
    """The first small network that each hypothesis alone excludes, and whose dimension is not the
    stated number.

    ContradictionError if none excludes such a network: then the statement is not what
    ``sums_agree`` compares.
    """
    examples: dict[str, Json] = {}
    for case in _small(KINDS[words.key] == "softmax") if words.observable != "normal_form" else ():
        reasons, stated = (
            hypotheses(case, words.key, words.part),
            prediction(case, words.key, words.part),
        )
        dimension = (
            virtual(case, len(case.a))
            if words.observable == "virtual_weights"
            else upper_bound(case)
        )
        if stated is None or stated == dimension:
            continue
        if not reasons:
            raise ContradictionError(
                f"{words.key} says {stated} for {case.key}, and the dimension is {dimension}"
            )
        kind = reasons[0].split(";")[0]
        if len(reasons) == 1 and kind not in examples:
            computed, _ = observed(case, words.observable)
            examples[kind] = {
                "hypothesis": reasons[0],
                "network": case.key,
                "computed": computed,
                "stated": stated,
            }
    return list(examples.values())


@cache
def _small(softmax: bool) -> tuple[Case, ...]:
    """The networks of at most three layers, widths and ranks at most three; the smallest sum of all
    numbers first.
    """
    numbers, cases = (1, 2, 3), list[Case]()
    for layers in numbers:
        widths, ranks = (tuples(numbers, repeat=count) for count in (layers + 1, layers))
        cases += [Case(d, a, t, 1, False, softmax) for d, a, t in tuples(widths, ranks, (1, 2))]
    cases.sort(
        key=lambda case: (sum(case.d) + sum(case.a) + case.t, len(case.a), case.d, case.a, case.t)
    )
    return tuple(cases)


CHECKER = FamilyChecker(
    "deep-attention-all-sizes",
    only_case("deep-attention-all-sizes"),
    dict.fromkeys(KINDS, lambda certificate: content(certificate.question)),
)
