"""The numbers of a network, the formulas about them, the predictions of statements, and the
hypotheses that fail.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import comb
from pathlib import Path
from typing import Any

from m2bridge.certificates.wording import wording
from m2bridge.errors import CertificateError

NAMES = {"widths", "a", "t", "heads", "skip", "normalization"}
MOST_LAYERS = 1000


@dataclass(frozen=True)
class Case:
    """Widths d_0, …, d_l, query/key dimensions a_1, …, a_l, tokens, heads; skip connections,
    softmax.
    """

    d: tuple[int, ...]
    a: tuple[int, ...]
    t: int
    heads: int
    skip: bool
    softmax: bool

    @property
    def layers(self) -> list[tuple[int, int, int]]:
        """Width before and after, and query/key dimension, of each layer."""
        return [(n, m, a) for (n, m), a in zip(pairwise(self.d), self.a, strict=True)]

    @property
    def plain(self) -> bool:
        """One head, no skip connections."""
        return self.heads == 1 and not self.skip

    @property
    def narrowest(self) -> list[int]:
        """The rank of what enters each layer."""
        return list(accumulate(self.d[:-1], min))

    @property
    def ranks(self) -> list[int]:
        """α_k."""
        return list(map(min, self.a, self.narrowest))

    @property
    def whole(self) -> int:
        """The last layer of lightning attention of which the skew-symmetric part matters."""
        if self.t == 1:
            return 0
        return self.ranks.index(1) + 1 if 1 in self.ranks else len(self.a)

    @property
    def key(self) -> str:
        """The name without that of the family."""
        text = f"{self.d}-a{self.a}-t{self.t}{f'-h{self.heads}' * (self.heads > 1)}"
        return (
            re.sub(r"[(),]", "", text).replace(" ", "-")
            + "-skip" * self.skip
            + "-softmax" * self.softmax
        )


def read(data: Mapping[str, Any]) -> Case:
    """Read a case from a certificate; CertificateError if there is no such network."""
    numbers = [data.get("widths"), data.get("a"), [data.get("t")], [data.get("heads")]]
    if data.keys() != NAMES or not all(
        isinstance(n, list) and n and all(map(_positive, n)) for n in numbers
    ):
        raise CertificateError("widths, a, t and heads must be positive integers below 10^9")
    d, a, skip, sigma = tuple(data["widths"]), tuple(data["a"]), data["skip"], data["normalization"]
    if (
        len(d) != len(a) + 1
        or len(a) > MOST_LAYERS
        or type(skip) is not bool
        or sigma not in ("none", "softmax")
    ):
        raise CertificateError(
            "from 1 to 1000 layers, one a for each; skip connections or not; none or softmax"
        )
    if skip and len(set(d)) > 1:
        raise CertificateError("skip connections need equal widths")
    return Case(d, a, data["t"], data["heads"], skip, sigma == "softmax")


def _positive(n: Any) -> bool:
    return type(n) is int and 1 <= n < 10**9


def name(data: Mapping[str, Any]) -> str:
    """Return the name of a case, such as ``deep-attention-3-3-3-a2-2-t2``."""
    return f"deep-attention-{read(data).key}"


def matrices(n: int, rank: int) -> int:
    """The dimension of the n × n matrices of at most this rank."""
    return n * n - max(0, n - rank) ** 2


def forms(n: int, rank: int) -> int:
    """The dimension of the quadratic forms in n variables of at most this rank."""
    return comb(n + 1, 2) - comb(max(0, n - rank) + 1, 2)


def virtual(case: Case, whole: int) -> int:
    """D_red(whole): a flag in K^n, a matrix M on the least space, matrices and forms on the
    others.
    """
    total, inner = min(case.d) * case.d[-1], min(case.d)
    for k, (space, rank) in reversed(
        list(enumerate(zip(case.narrowest, case.ranks, strict=True), 1))
    ):
        outer = case.d[0] if k == 1 else min(space, inner + 2 * rank)
        total += inner * (outer - inner) + (
            matrices(outer, rank) if k <= whole else forms(outer, 2 * rank)
        )
        inner = outer
    return total


def linear(case: Case) -> int:
    """Softmax of one score is 1: matrices of at most the least rank."""
    return min(case.d) * (case.d[0] + case.d[-1] - min(case.d))


def upper_bound(case: Case) -> int:
    """The least bound of docs/deep-attention.md."""
    if case.softmax and case.t == 1:
        return linear(case)
    if case.plain:
        return (
            virtual(case, len(case.a)) if case.softmax else virtual(case, case.whole) - len(case.a)
        )
    return (
        layered(case) if case.softmax or case.d[0] > 3 else min(layered(case), _coefficients(case))
    )


def layered(case: Case) -> int:
    """The least bounds of all layers, less changes of base between them."""
    bases = sum(m * m for n, m in pairwise(case.d[:-1]) if m <= n and not case.skip)
    return sum(min(_layer(case, *layer)) for layer in case.layers) - bases


def _layer(case: Case, n: int, m: int, a: int) -> Iterator[int]:
    h = case.heads
    if case.softmax:
        yield h * (n * m + matrices(n, a))
        return
    seen, most = (matrices(n, a), n * n) if case.t > 1 else (forms(n, 2 * a), comb(n + 1, 2))
    swaps = comb(h, 2) * max(0, 2 * min(a, n) - n) if m == 1 and h <= n and case.t > 1 else 0
    yield h * (n * m + seen - 1) - swaps
    tensors = min(h, n * m, most)
    yield tensors * (n * m + most - tensors)
    if m == 1 and case.t > 1:
        yield min(h, n) * (n - min(h, n)) + n * forms(n, h)
    yield m * (n * comb(n + 1, 2) if case.t > 1 else comb(n + 2, 3))


def _coefficients(case: Case) -> int:
    n, entries = case.d[0], comb(case.d[0] + 1, 2)
    degree = 3 ** len(case.a)
    if case.skip:
        return case.d[-1] * n * (comb(degree // 2 + entries, entries) - 1)
    if case.t == 1:
        return case.d[-1] * comb(degree + n - 1, n - 1)
    return case.d[-1] * n * comb(degree // 2 + entries - 1, entries - 1)


WORDS = wording(Path(__file__).parents[1] / "words.toml")


def hypotheses(case: Case, key: str, part: str) -> list[str]:
    """Return all hypotheses that fail, in words."""
    return _failing(case, STATEMENTS[key, part].hypotheses)


def _failing(case: Case, names: tuple[str, ...]) -> list[str]:
    n, *hidden, last = case.d
    ones = [k for k, (d, _, a) in enumerate(case.layers, 1) if min(a, d) == 1]
    single, widest = len(case.a) == 1, max(hidden, default=0)
    holds = {
        "lightning": not case.softmax,
        "softmax": case.softmax,
        "plain": case.plain,
        "skip": case.skip,
        "one-head": case.heads == 1,
        "several-heads": case.heads > 1,
        "no-skip": not case.skip,
        "scalings": not case.softmax,
        "several-tokens": case.t > 1,
        "single-layer": single,
        "several-layers": not single,
        "one-hidden-width": len(set(hidden)) < 2,
        "bottleneck": widest <= min(n, last),
        "equal-widths": len(set(case.d)) == 1 and n > 1,
        "no-hidden-width-one": min(case.d[:-1]) > 1,
        "three-threes": case.d == (3, 3, 3) and min(case.a) > 1 and case.t > 2,
        "rank-above-one": not (single and ones) or last > 1,
        "ranks-above-one": single or not ones,
    }
    numbers = {"widths": ", ".join(map(str, hidden)), "hidden": widest, "first": n, "last": last}
    numbers["layer"] = ones[0] if ones else 0
    return [WORDS.hypotheses[name].format(**numbers) for name in names if not holds[name]]


def prediction(case: Case, key: str, part: str) -> int | None:
    """The number, or yes or no, that a statement gives, where it means something."""
    statement = STATEMENTS[key, part]
    if _failing(case, statement.hypotheses if statement.meaning is None else statement.meaning):
        return None
    return statement.prediction(case)


def _equation_16(case: Case) -> int:
    """All hidden layers have one width δ; A_1 is d_0 × d_0, the others are δ × δ, and M has
    rank δ.
    """
    n, *hidden, last = case.d
    delta = hidden[0] if hidden else min(n, last)
    attention = matrices(n, case.a[0]) + sum(matrices(delta, a) for a in case.a[1:])
    return delta * (n + last - delta) + attention


def _fibre_degree(case: Case) -> int:
    """Return how many linear spaces a fibre is, up to scalings."""
    if min(case.d) > 1:
        return 1
    last = case.ranks[-1]
    if case.whole == len(case.a):  # a column of A_l for the row of M
        return 1 + (last == 1)
    return 3 if min(2 * last, case.narrowest[-1]) == 2 else 1


@dataclass(frozen=True)
class Statement:
    """A prediction, the names of its hypotheses, and those without which it means nothing (all when
    left out).
    """

    prediction: Callable[[Case], int]
    hypotheses: tuple[str, ...] = ()
    meaning: tuple[str, ...] | None = None


_LIGHTNING, _SOFTMAX = ("plain", "lightning"), ("plain", "softmax")
_NARROW = ("one-hidden-width", "bottleneck")
_PAPER = (*_LIGHTNING, "several-tokens", *_NARROW, "rank-above-one", "ranks-above-one")
_HEADS = ("lightning", "no-skip", "single-layer", "several-heads", "several-tokens")
_SKIP = ("skip", "one-head")

STATEMENTS: dict[tuple[str, str], Statement] = {
    ("3.1", ""): Statement(
        lambda case: case.heads * sum(matrices(d, a) for d, _, a in case.layers)
    ),
    ("3.5", ""): Statement(_equation_16, ("plain", *_NARROW), ("plain", "one-hidden-width")),
    ("V", ""): Statement(lambda case: virtual(case, len(case.a)), ("plain",)),
    ("3.6", ""): Statement(lambda case: True, _LIGHTNING),
    ("3.7", ""): Statement(lambda case: True, _PAPER),
    ("fibre", "dimension"): Statement(
        lambda case: (len(case.a) - case.whole) * comb(case.d[0], 2), _LIGHTNING
    ),
    ("fibre", "degree"): Statement(_fibre_degree, (*_LIGHTNING, "no-hidden-width-one")),
    ("fibre", "virtual weights"): Statement(
        lambda case: virtual(case, len(case.a)) - virtual(case, case.whole), _LIGHTNING
    ),
    ("closed", ""): Statement(lambda case: False, (*_LIGHTNING, "three-threes")),
    ("3.8", ""): Statement(
        lambda case: _equation_16(case) - len(case.a), _PAPER, (*_LIGHTNING, "one-hidden-width")
    ),
    ("3.9", ""): Statement(_equation_16, (*_SOFTMAX, "several-tokens", "single-layer")),
    ("3.10", ""): Statement(
        _equation_16, (*_SOFTMAX, "several-tokens", *_NARROW), (*_SOFTMAX, "one-hidden-width")
    ),
    ("L", ""): Statement(upper_bound, _LIGHTNING),
    ("S", ""): Statement(upper_bound, _SOFTMAX),
    ("skip", "scalings"): Statement(lambda case: False, (*_SKIP, "scalings")),
    ("skip", "one-to-one"): Statement(lambda case: 0, (*_SKIP, "several-tokens")),
    ("skip", "dimension"): Statement(
        lambda case: linear(case) if case.softmax and case.t == 1 else layered(case), _SKIP
    ),
    ("heads", "separate heads"): Statement(
        lambda case: case.heads * sum(n * m + matrices(n, a) - 1 for n, m, a in case.layers), _HEADS
    ),
    ("heads", "one layer"): Statement(layered, _HEADS),
    ("heads", "several layers"): Statement(
        layered, ("several-layers", "several-heads", "several-tokens", "equal-widths")
    ),
}
