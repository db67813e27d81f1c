"""Sets of sizes in words: phrases of ours where the set is proved to be equal, else those of the library."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import islpy as isl

from m2bridge.certificate.wording import wording
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.attention.all_sizes.sizes import sizes, text, text_of

WORDS = wording(Path(__file__).parent / "words.toml")

PHRASES = WORDS.phrases
"""Phrases, and the conditions that they are short for: a phrase is used for the set of its condition only."""


def words(some: isl.Set) -> str:
    """The set for people: ``2 ≤ a < d, except (a, d') = (2, 1)``."""
    return next((phrase for phrase, known in _phrases() if some.is_equal(known)), _plain(some))


def canonical(some: isl.Set) -> str:
    """The one text that a certificate has for this set; isl, and each release of it, writes a set in many ways.

    Raises
    ------
    MethodUnavailableError
        If there is no phrase for it in ``words.toml``.
    """
    for phrase, known in _phrases():
        if some.is_equal(known):
            return text_of(PHRASES[phrase])
    raise MethodUnavailableError(f"a certificate needs a phrase in words.toml for {text(some)}")


def phrase(text: str) -> str:
    """The words for a set in a certificate; ValueError if the text is not canonical."""
    found = _phrase_of().get(text)
    if found is None:
        raise ValueError(f"not a set of sizes: {text!r:.80}")
    return found


@cache
def _phrase_of() -> dict[str, str]:
    return {text_of(condition): phrase for phrase, condition in PHRASES.items()}


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
