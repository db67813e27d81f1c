"""Predictions of the statements about a network, and the hypotheses that fail."""

from collections.abc import Callable
from math import comb
from pathlib import Path

from m2bridge.certificates.wording import wording
from m2bridge.families.deep_attention.checker.case import Case, forms, linear, matrices, virtual

WORDS = wording(Path(__file__).parents[1] / "words.toml")
PAPER = ("plain", "lightning", "several-tokens", "one-hidden-width", "bottleneck", "ranks-above-one")
SOFTMAX = ("plain", "softmax", "several-tokens", "one-hidden-width", "bottleneck")
HEADS = ("lightning", "no-skip", "single-layer", "several-heads", "several-tokens")

HYPOTHESES: dict[tuple[str, str], tuple[str, ...]] = {
    ("3.1", ""): (),
    ("3.5", ""): ("plain", "one-hidden-width", "bottleneck"),
    ("V", ""): ("plain",),
    ("3.6", ""): ("plain", "lightning"),
    ("3.7", ""): PAPER,
    ("3.8", ""): PAPER,
    ("3.9", ""): ("plain", "softmax", "several-tokens", "single-layer"),
    ("3.10", ""): SOFTMAX,
    ("L", ""): ("plain", "lightning"),
    ("S", ""): ("plain", "softmax"),
    ("fibre", "dimension"): ("plain", "lightning"),
    ("fibre", "degree"): ("plain", "lightning", "no-hidden-width-one"),
    ("fibre", "virtual weights"): ("plain", "lightning"),
    ("closed", ""): ("plain", "lightning", "three-threes"),
    ("skip", "scalings"): ("skip", "one-head", "scalings"),
    ("skip", "one-to-one"): ("skip", "one-head", "several-tokens"),
    ("skip", "dimension"): ("skip", "one-head"),
    ("heads", "separate heads"): HEADS,
    ("heads", "one layer"): HEADS,
    ("heads", "several layers"): ("several-layers", "several-heads", "several-tokens", "equal-widths"),
}
MEANING = {("3.5", ""): ("plain",), ("3.8", ""): ("plain", "lightning"), ("3.10", ""): ("plain", "softmax")}
"""Where a formula means something without its other hypotheses."""


def hypothesis(case: Case, key: str, part: str) -> str | None:
    """Return the first hypothesis that fails, in words."""
    return next(iter(hypotheses(case, key, part)), None)


def hypotheses(case: Case, key: str, part: str) -> list[str]:
    """Return all hypotheses that fail, in words."""
    return _failing(case, HYPOTHESES[key, part])


def _failing(case: Case, names: tuple[str, ...]) -> list[str]:
    holds: dict[str, bool] = {
        "lightning": not case.softmax,
        "softmax": case.softmax,
        "plain": case.plain,
        "skip": case.skip,
        "one-head": case.heads == 1,
        "several-heads": case.heads > 1,
        "no-skip": not case.skip,
        "scalings": not case.softmax,
        "several-tokens": case.t > 1,
        "single-layer": len(case.a) == 1,
        "several-layers": len(case.a) > 1,
        "one-hidden-width": len(set(case.d[1:-1])) < 2,
        "bottleneck": max(case.d[1:-1], default=0) <= min(case.d[0], case.d[-1]),
        "equal-widths": len(set(case.d)) == 1 and case.d[0] > 1,
        "no-hidden-width-one": min(case.d[:-1]) > 1,
        "three-threes": case.d == (3, 3, 3) and min(case.a) > 1 and case.t > 2,
    }
    ones = [k for k, (d, _, a) in enumerate(case.layers, 1) if min(a, d) == 1]
    single = len(case.a) == 1
    holds["ranks-above-one"] = not ones or (single and case.d[1] > 1)
    numbers = {
        "widths": ", ".join(map(str, case.d[1:-1])),
        "hidden": max(case.d[1:-1], default=0),
        "first": case.d[0],
        "last": case.d[-1],
        "layer": ones[0] if ones else 0,
    }
    said = {"ranks-above-one": "rank-above-one"} if single else {}
    return [WORDS.hypotheses[said.get(name, name)].format(**numbers) for name in names if not holds[name]]


def prediction(case: Case, key: str, part: str) -> int | None:
    """The number, or yes or no, that a statement gives, where it means something."""
    if _failing(case, MEANING.get((key, part), HYPOTHESES[key, part])):
        return None
    return _PREDICTIONS[key, part](case)


def _equation_16(case: Case) -> int | None:
    """All hidden layers have one width δ; A_1 is d_0 × d_0, the others are δ × δ, and M has rank δ."""
    hidden = set(case.d[1:-1])
    if len(hidden) > 1:
        return None
    n, last, *deltas = case.d[0], case.d[-1], *hidden
    value_matrix = deltas[0] * (n + last - deltas[0]) if deltas else n * last
    return value_matrix + matrices(n, case.a[0]) + sum(matrices(deltas[0], a) for a in case.a[1:])


def _equation_14(case: Case) -> int | None:
    value = _equation_16(case)
    return None if value is None else value - len(case.a)


def _single(d: int, m: int, a: int, heads: int) -> int:
    """One layer of heads: the least of four numbers."""
    alpha, h, tensors = min(a, d), min(heads, d), min(heads, d * d, d * m)
    apart = heads * (d * m + matrices(d, alpha) - 1)
    found = [apart, tensors * (d * m + d * d - tensors), m * d * comb(d + 1, 2)]
    if m == 1:
        found.append(h * (d - h) + d * forms(d, h))
        found[0] -= comb(heads, 2) * max(0, 2 * alpha - d) if heads <= d else 0
    return min(found)


def _deep_heads(case: Case) -> int:
    d, h = case.d[0], case.heads
    layers = [h * (d * d + matrices(d, a)) if case.softmax else _single(d, d, a, h) for a in case.a]
    return sum(layers) - (0 if case.skip else (len(case.a) - 1) * d * d)


def _skip(case: Case) -> int:
    d = case.d[0]
    if case.t == 1:
        return d * d if case.softmax else sum(d * d + forms(d, 2 * a) - 1 for a in case.a)
    return sum(d * d + matrices(d, a) - (not case.softmax) for a in case.a)


def _fibre_degree(case: Case) -> int:
    """Return how many linear spaces a fibre is, up to scalings."""
    if min(case.d) > 1:
        return 1
    last = case.ranks[-1]
    if case.whole == len(case.a):  # a column of A_l for the row of M
        return 1 + (last == 1)
    return 3 if min(2 * last, case.narrowest[-1]) == 2 else 1


_PREDICTIONS: dict[tuple[str, str], Callable[[Case], int | None]] = {
    ("3.1", ""): lambda case: case.heads * sum(matrices(d, a) for d, _, a in case.layers),
    ("3.5", ""): _equation_16,
    ("V", ""): lambda case: virtual(case, len(case.a)),
    ("3.6", ""): lambda case: True,
    ("3.7", ""): lambda case: True,
    ("fibre", "dimension"): lambda case: (len(case.a) - case.whole) * comb(case.d[0], 2),
    ("fibre", "degree"): _fibre_degree,
    ("fibre", "virtual weights"): lambda case: virtual(case, len(case.a)) - virtual(case, case.whole),
    ("closed", ""): lambda case: False,
    ("3.8", ""): _equation_14,
    ("3.9", ""): _equation_16,
    ("3.10", ""): _equation_16,
    ("L", ""): lambda case: virtual(case, case.whole) - len(case.a),
    ("S", ""): lambda case: virtual(case, len(case.a)) if case.t > 1 else linear(case),
    ("skip", "scalings"): lambda case: False,
    ("skip", "one-to-one"): lambda case: 0,
    ("skip", "dimension"): _skip,
    ("heads", "separate heads"): lambda case: case.heads * (_single(case.d[0], case.d[1], case.a[0], 1)),
    ("heads", "one layer"): lambda case: _single(case.d[0], case.d[1], case.a[0], case.heads),
    ("heads", "several layers"): _deep_heads,
}
