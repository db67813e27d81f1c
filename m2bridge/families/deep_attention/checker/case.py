"""The numbers of a network, and the formulas about them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import comb
from typing import Any

from m2bridge.errors import CertificateError

NAMES = {"widths", "a", "t", "heads", "skip", "normalization"}
MOST_LAYERS = 1000


@dataclass(frozen=True)
class Case:
    """Widths d_0, …, d_l, query/key dimensions a_1, …, a_l, tokens, heads; skip connections, softmax."""

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


def read(data: Mapping[str, Any]) -> Case:
    """Read a case from a certificate; CertificateError if there is no such network."""
    numbers = [data.get("widths"), data.get("a"), [data.get("t")], [data.get("heads")]]
    if data.keys() != NAMES or not all(isinstance(n, list) and n and all(map(_positive, n)) for n in numbers):
        raise CertificateError("widths, a, t and heads must be positive integers below 10^9")
    d, a, skip, sigma = tuple(data["widths"]), tuple(data["a"]), data["skip"], data["normalization"]
    if len(d) != len(a) + 1 or len(a) > MOST_LAYERS or type(skip) is not bool or sigma not in ("none", "softmax"):
        raise CertificateError("from 1 to 1000 layers, one a for each; skip connections or not; none or softmax")
    if skip and len(set(d)) > 1:
        raise CertificateError("skip connections need equal widths")
    return Case(d, a, data["t"], data["heads"], skip, sigma == "softmax")


def _positive(n: Any) -> bool:
    return type(n) is int and 1 <= n < 10**9


def name(data: Mapping[str, Any]) -> str:
    """Return the name of a case, such as ``deep-attention-3-3-3-a2-2-t2``."""
    case = read(data)
    text = f"deep-attention-{case.d}-a{case.a}-t{case.t}{f'-h{case.heads}' * (case.heads > 1)}"
    return re.sub(r"[(),]", "", text).replace(" ", "-") + "-skip" * case.skip + "-softmax" * case.softmax


def matrices(n: int, rank: int) -> int:
    """Dimension of the n × n matrices of at most this rank."""
    return n * n - max(0, n - rank) ** 2


def forms(n: int, rank: int) -> int:
    """Dimension of the quadratic forms in n variables of at most this rank."""
    return comb(n + 1, 2) - comb(max(0, n - rank) + 1, 2)


def virtual(case: Case, whole: int) -> int:
    """D_red(whole): a flag in K^n, a matrix M on the least space, matrices and forms on the others."""
    total, inner = min(case.d) * case.d[-1], min(case.d)
    for k, (space, rank) in reversed(list(enumerate(zip(case.narrowest, case.ranks, strict=True), 1))):
        outer = case.d[0] if k == 1 else min(space, inner + 2 * rank)
        total += inner * (outer - inner) + (matrices(outer, rank) if k <= whole else forms(outer, 2 * rank))
        inner = outer
    return total


def linear(case: Case) -> int:
    """Softmax of one score is 1: matrices of at most the least rank."""
    rank = min(case.d[0], case.d[-1]) if case.skip else min(case.d)
    return rank * (case.d[0] + case.d[-1] - rank)


def upper_bound(case: Case) -> int:
    """The least bound of docs/deep-attention.md."""
    if case.softmax and case.t == 1:
        return linear(case)
    if case.plain:
        return virtual(case, len(case.a)) if case.softmax else virtual(case, case.whole) - len(case.a)
    bases = sum(m * m for n, m in pairwise(case.d[:-1]) if m <= n and not case.skip)
    layers = sum(min(_layer(case, *layer)) for layer in case.layers) - bases
    return layers if case.softmax or case.d[0] > 3 else min(layers, _coefficients(case))


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
