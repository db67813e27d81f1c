"""Polynomial networks: a rank modulo a prime, and the bounds (1) to (9) of
docs/polynomial_networks.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import comb
from pathlib import Path
from random import Random
from typing import Any

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.certificates.wording import wording
from m2bridge.checker import FamilyChecker, global_verdict, statements
from m2bridge.checker.algebra import PRIME, rank_modulo
from m2bridge.errors import CertificateError, ContradictionError, TooExpensiveError

WORDS = wording(Path(__file__).parent / "words.toml")
Widths = tuple[int, ...]


def name(case: Mapping[str, Any]) -> str:
    """The name, such as ``polynomial-network-2-2-1-r2``; CertificateError if there is no
    such case.
    """
    d, r = case.get("widths"), case.get("degree")
    numbers: list[Any] = (
        [*d, r] if isinstance(d, list) and 2 <= len(d) <= 101 and len(case) == 2 else [None]
    )
    if (
        not all(type(n) is int and n >= 1 for n in numbers)
        or numbers[-1] > 10**6
        or _weights(numbers[:-1]) > 10**5
    ):
        raise CertificateError(
            "from 2 to 101 widths, at most 100000 weights, a degree of at most 1000000"
        )
    return f"polynomial-network-{'-'.join(map(str, numbers[:-1]))}-r{r}"


def _weights(d: Sequence[int]) -> int:
    return sum(before * after for before, after in pairwise(d))


def _coordinates(d: Widths, r: int) -> int:
    """d_l·C(d_0 − 1 + r^(l−1), d_0 − 1), or what is less, where that is more than the weights."""
    power: int = r ** (len(d) - 2)
    return power if d[0] > 1 and power > _weights(d) else d[-1] * comb(d[0] - 1 + power, d[0] - 1)


def expected_dimension(d: Widths, r: int) -> int:
    """Weights less hidden neurons, or all coordinates."""
    return min(_weights(d) - sum(d[1:-1]), _coordinates(d, r))


def upper_bound(widths: Widths, r: int) -> int:
    """The smallest of the bounds, applied to all parts."""

    @cache
    def bound(d: Widths) -> int:
        return min(candidates(d))

    def candidates(d: Widths) -> Iterator[int]:
        (n, m), k, last = d[:2], d[-2], d[-1]
        yield expected_dimension(d, r)
        if m < n:
            yield m * (n - m) + bound((m, *d[1:]))
        if k < last:
            yield k * (last - k) + bound((*d[:-1], k))
        yield from (bound(d[: i + 1]) + bound(d[i:]) - d[i] for i in range(1, len(d) - 1))
        catalecticant = len(d) == 3 and last == 1 and m < comb(n - 1 + r // 2, n - 1)
        quadrics = len(d) == 3 and last == 3 and r == 2 and 2 * m < 3 * n - n % 2
        if catalecticant or quadrics or (d, r) == ((5, 7, 1), 3):
            yield _coordinates(d, r) - 1

    return bound(widths) if r > 1 else min(widths) * (widths[0] + widths[-1] - min(widths))


def lower_bound(d: Widths, r: int, count: int) -> int:
    """The rank of so many rows of the differential: each at an input of its own, for a combination
    of the outputs.
    """
    if count * _weights(d) > 2 * 10**7:
        raise TooExpensiveError("case", f"a matrix with {count} rows and {_weights(d)} columns")
    random = Random(7)
    W = [[[random.randrange(PRIME) for _ in range(n)] for _ in range(m)] for n, m in pairwise(d)]
    return rank_modulo([_row(W, r, random) for _ in range(count)])


def _row(W: list[list[list[int]]], r: int, random: Random) -> list[int]:
    """Derivatives by all weights: by those of layer i they are g_i y_{i−1}ᵀ, with y the inputs of
    the layers.
    """
    y, slopes = [[random.randrange(PRIME) for _ in W[0][0]]], []
    for layer in W:
        z = [sum(w * x for w, x in zip(row, y[-1], strict=True)) for row in layer]
        y.append([pow(x, r, PRIME) for x in z])
        slopes.append([r * pow(x, r - 1, PRIME) for x in z])
    g, gradient = [random.randrange(PRIME) for _ in W[-1]], list[int]()
    for i in reversed(range(len(W))):
        gradient += [a * x for a in g for x in y[i]]
        g = [
            sum(w * a for w, a in zip(column, g, strict=True)) for column in zip(*W[i], strict=True)
        ]
        g = [a * slope % PRIME for a, slope in zip(g, slopes[i - 1], strict=True)] if i else g
    return gradient


def expected(certificate: Certificate) -> Content:
    """The content of a certificate on the expected dimension."""
    d, r = tuple(certificate.case["widths"]), certificate.case["degree"]
    upper = upper_bound(d, r)
    if (lower := lower_bound(d, r, upper + 5)) > upper:
        raise ContradictionError(f"widths {d}, degree {r}: a rank {lower} above the bound {upper}")
    dimension = upper if lower == upper else None
    verdicts = []
    for words in WORDS.about("expected-dimension"):
        unequal = WORDS.hypotheses["equal-widths"] if words.part and len(set(d)) > 1 else None
        hypothesis = WORDS.hypotheses["nonlinear"] if r == 1 else unequal
        verdicts.append(global_verdict(words, hypothesis, expected_dimension(d, r), dimension))
    evidence = {"lower_bound": lower, "upper_bound": upper, "dimension": dimension}
    return statements(WORDS, "expected-dimension", verdicts, evidence)


CHECKER = FamilyChecker("polynomial-network", name, {"expected-dimension": expected})
