"""Sets of sizes in words: phrases of ours where the set is proved to be equal, else those of the library."""

from __future__ import annotations

from functools import cache

import islpy as isl

from m2bridge.families.attention.all_sizes.sizes import sizes

PHRASES = {
    "all d, d', a": "",
    "no size": "1 = 0",
    "d = 1": "d = 1",
    "d ≥ 2": "d >= 2",
    "d = d' = 1": "d = 1 and dp = 1",
    "d = 1 < d'": "d = 1 and dp >= 2",
    "d = 1 or a = d' = 1": "d = 1 or (a = 1 and dp = 1)",
    "a = d' = 1 < d": "a = 1 and dp = 1 and d >= 2",
    "all d, d', a except a = d' = 1 < d": "not (a = 1 and dp = 1 and d >= 2)",
    "d' = 1 and min(a, d) = 1": "dp = 1 and (a = 1 or d = 1)",
    "d' ≥ 2 or min(a, d) ≥ 2": "dp >= 2 or (a >= 2 and d >= 2)",
    "d ≥ 2, except a = d' = 1": "d >= 2 and not (a = 1 and dp = 1)",
    "2 ≤ a < d": "2 <= a and a < d",
    "2 ≤ a < d, except (a, d') = (2, 1)": "2 <= a and a < d and not (a = 2 and dp = 1)",
    "a ≥ d ≥ 2, or a = 1 < d with d' ≥ 2, or (a, d') = (2, 1) with d ≥ 3": (
        "(a >= d and d >= 2) or (a = 1 and a < d and dp >= 2) or (a = 2 and dp = 1 and d >= 3)"
    ),
}
"""Phrases, and the conditions that they are short for: a phrase is used for the set of its condition only."""


def words(some: isl.Set) -> str:
    """The set for people: ``2 ≤ a < d, except (a, d') = (2, 1)``."""
    return next((phrase for phrase, known in _phrases() if some.is_equal(known)), _plain(some))


@cache
def _phrases() -> tuple[tuple[str, isl.Set], ...]:
    return tuple((phrase, sizes(condition)) for phrase, condition in PHRASES.items())


def _plain(some: isl.Set) -> str:
    """As the library writes it: ``(d ≥ 2 and a ≥ 3 − d') or d = 1``."""
    parts = str(some.coalesce().gist(sizes())).strip("{ }").split("; ")
    condition = " or ".join(_condition(part, len(parts) > 1) for part in parts)
    for plain, sign in (("dp", "d'"), ("<=", "≤"), (">=", "≥"), ("!=", "≠"), ("-", "−")):
        condition = condition.replace(plain, sign)
    return condition


def _condition(part: str, bracketed: bool) -> str:
    """``[d, dp, a = 1] : d >= 2`` as ``a = 1 and d >= 2``."""
    names, _, condition = part.partition(" : ")
    fixed = [entry for entry in names.strip("[] ").split(", ") if "=" in entry]
    every = " and ".join([*fixed, *filter(None, [condition.strip()])])
    return f"({every})" if bracketed and " and " in every else every
