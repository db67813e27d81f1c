"""What docs/statements.md has a row for: every statement of every family, and every observable for
all sizes.
"""

from __future__ import annotations

from collections.abc import Iterator

from m2bridge.families.attention.all_sizes import predictions as one_layer
from m2bridge.families.attention.all_sizes.integer_sets import WORDS as ONE_LAYER
from m2bridge.families.deep_attention.all_sizes import layers as deep
from m2bridge.families.deep_attention.all_sizes.family import NORMAL_FORM
from m2bridge.families.deep_attention.all_sizes.layers import WORDS
from m2bridge.families.registry import OWN_FAMILIES, family
from m2bridge.results.sheet import name_with_part

Row = tuple[str, str, str]

FOR_ALL_SIZES = {family(name).all_sizes for name in OWN_FAMILIES}
SHORT = {
    "attention": "One layer",
    "deep-attention": "Deep networks",
    "polynomial-network": "Polynomial networks",
}
"""Headings that are not the title of the family."""

FAMILIES = {
    name: SHORT.get(name) or family(name).title.capitalize()
    for name in OWN_FAMILIES
    if family(name).statements() and name not in FOR_ALL_SIZES
}
"""The heading of the table of each family."""
ALL_SIZES = {
    name: f"{title}, all sizes at once"
    for name, title in FAMILIES.items()
    if family(name).all_sizes
}


def by_case(name: str) -> Iterator[Row]:
    """Name, words, and what is computed."""
    for statement in family(name).statements():
        yield (
            name_with_part(statement.key, statement.part),
            statement.text,
            _listed(statement.computed),
        )


def for_all_sizes(name: str) -> Iterator[Row]:
    """What is observed, the statements about it, and what is computed."""
    if name == "attention":
        about = {
            name_with_part(*key): prediction.observable
            for key, prediction in one_layer.PREDICTIONS.items()
        }
        about |= {words.key: words.observable for words in ONE_LAYER.statements}
        computed = ONE_LAYER.computed
    else:
        about = {key: prediction.counts for key, prediction in deep.PREDICTIONS.items()} | {
            NORMAL_FORM: "normal_form"
        }
        computed = WORDS.computed
    for observable, parts in computed.items():
        if not parts:  # of certificates that nobody writes any more
            continue
        names = ", ".join(statement for statement, seen in about.items() if seen == observable)
        yield observable.replace("_", " "), names, _listed(parts)


def _listed(parts: tuple[str, ...]) -> str:
    return (
        "; ".join(parts)
        .replace("{orbits}", "every orbit")
        .replace("{ideals}", "all")
        .replace(": {patterns}", "")
    )
