"""The checker of certificates about polynomial networks x ↦ W_l σ_r(W_{l−1} … σ_r(W_1 x)).

The dimension lies between the rank of some rows of the differential modulo a prime and the bounds (1) to (9) of
docs/polynomial_networks.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from math import comb
from pathlib import Path
from random import Random
from typing import Any

import flint

from m2bridge.certificate.schema import Certificate, Content
from m2bridge.certificate.wording import wording
from m2bridge.checker.family import FamilyChecker, global_verdict, statements
from m2bridge.errors import CertificateError, ContradictionError, TooExpensiveError

WORDS = wording(Path(__file__).parent / "words.toml")
PRIME = 2**61 - 1
MOST_ENTRIES = 2 * 10**7
"""Of a matrix whose rank is computed."""

Widths = tuple[int, ...]


def name(case: Mapping[str, Any]) -> str:
    """Such as ``polynomial-network-2-2-1-r2``."""
    widths, degree = _read(case)
    return f"polynomial-network-{'-'.join(map(str, widths))}-r{degree}"


def _read(case: Mapping[str, Any]) -> tuple[Widths, int]:
    widths, degree = case.get("widths"), case.get("degree")
    numbers = [*widths, degree] if isinstance(widths, list) else []
    if case.keys() != {"widths", "degree"} or not all(type(n) is int and n >= 1 for n in numbers):
        raise CertificateError("widths and degree, positive integers")
    if not (3 <= len(numbers) <= 102 and degree <= 10**6 and _weights(tuple(numbers[:-1])) <= 10**5):
        raise CertificateError("from 2 to 101 widths, a degree of at most 1000000 and at most 100000 weights")
    return tuple(numbers[:-1]), numbers[-1]


def _weights(widths: Widths) -> int:
    return sum(before * after for before, after in pairwise(widths))


def _coordinates(widths: Widths, degree: int) -> int:
    """d_l·C(d_0 − 1 + r^(l−1), d_0 − 1), or less where it is more than the weights."""
    power = degree ** (len(widths) - 2)
    if widths[0] > 1 and power > _weights(widths):
        return power
    return widths[-1] * comb(widths[0] - 1 + power, widths[0] - 1)


def expected_dimension(widths: Widths, degree: int) -> int:
    """Weights less hidden neurons, or all coordinates."""
    return min(_weights(widths) - sum(widths[1:-1]), _coordinates(widths, degree))


def upper_bound(widths: Widths, degree: int) -> int:
    """The smallest of the bounds, applied to all parts."""
    if degree == 1:
        return min(widths) * (widths[0] + widths[-1] - min(widths))

    @cache
    def bound(part: Widths) -> int:
        return min(candidates(part))

    def candidates(part: Widths) -> Iterator[int]:
        (n, m), k, last, ambient = part[:2], part[-2], part[-1], _coordinates(part, degree)
        yield expected_dimension(part, degree)
        if m < n:
            yield m * (n - m) + bound((m, *part[1:]))
        if k < last:
            yield k * (last - k) + bound((*part[:-1], k))
        yield from (bound(part[: i + 1]) + bound(part[i:]) - part[i] for i in range(1, len(part) - 1))
        power_sum = len(part) == 3 and last == 1
        catalecticant = power_sum and m < comb(n - 1 + degree // 2, n - 1)
        cubic = power_sum and (n, m, degree) == (5, 7, 3)
        quadrics = len(part) == 3 and last == 3 and degree == 2 and 2 * m < 3 * n - n % 2
        if catalecticant or cubic or quadrics:
            yield ambient - 1

    return bound(widths)


def lower_bound(widths: Widths, degree: int, count: int) -> int:
    """The rank of so many rows of the differential: each at an input of its own, for a combination of the outputs."""
    if count * _weights(widths) > MOST_ENTRIES:
        raise TooExpensiveError("case", f"a matrix with {count} rows and {_weights(widths)} columns")
    random = Random(7)
    W = [[[random.randrange(PRIME) for _ in range(n)] for _ in range(m)] for n, m in pairwise(widths)]
    entries = [x for _ in range(count) for x in _row(W, degree, random)]
    return int(flint.nmod_mat(count, _weights(widths), entries, PRIME).rank())


def _row(W: list[list[list[int]]], degree: int, random: Random) -> list[int]:
    """Derivatives by all weights: by those of layer i they are g_i y_{i−1}ᵀ, with y the inputs of the layers."""
    y, slopes = [[random.randrange(PRIME) for _ in W[0][0]]], []
    for layer in W:
        z = [sum(w * x for w, x in zip(row, y[-1], strict=True)) % PRIME for row in layer]
        y.append([pow(x, degree, PRIME) for x in z])
        slopes.append([degree * pow(x, degree - 1, PRIME) for x in z])
    g, found = [random.randrange(PRIME) for _ in W[-1]], []
    for i in reversed(range(len(W))):
        found += [a * x % PRIME for a in g for x in y[i]]
        columns = zip(*W[i], strict=True)
        g = [sum(w * a for w, a in zip(column, g, strict=True)) % PRIME for column in columns]
        g = [a * slope % PRIME for a, slope in zip(g, slopes[i - 1], strict=True)] if i else g
    return found


@cache
def _bounds(widths: Widths, degree: int) -> tuple[int, int]:
    upper = upper_bound(widths, degree)
    lower = lower_bound(widths, degree, upper + 5)
    if lower > upper:
        raise ContradictionError(f"widths {widths}, degree {degree}: a rank {lower} above the bound {upper}")
    return lower, upper


def expected(certificate: Certificate) -> Content:
    """The content of a certificate on the expected dimension."""
    widths, degree = _read(certificate.case)
    lower, upper = _bounds(widths, degree)
    dimension = upper if lower == upper else None
    linear = None if degree > 1 else WORDS.hypotheses["nonlinear"]
    unequal = None if len(set(widths)) == 1 else WORDS.hypotheses["equal-widths"]
    predicted = expected_dimension(widths, degree)
    verdicts = [
        global_verdict(words, linear or (unequal if words.part else None), predicted, dimension)
        for words in WORDS.about("expected-dimension")
    ]
    evidence = {"lower_bound": lower, "upper_bound": upper, "dimension": dimension}
    return statements(WORDS, "expected-dimension", verdicts, evidence)


CHECKER = FamilyChecker("polynomial-network", name, {"expected-dimension": expected})
