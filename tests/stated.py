"""The tables of docs/statements.md: a row for every statement of every family, and for every
observable for all sizes.

``python -m tests.stated`` writes them again, from ``words.toml``: what each statement says, and what
is computed for it, by the numbers of a list above. Why that decides the words is written by a
person who has read both, and stays; a new row has no such reason, which a test notices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from m2bridge.families.attention.all_sizes import predictions as one_layer
from m2bridge.families.attention.all_sizes.integer_sets import WORDS as ONE_LAYER
from m2bridge.families.deep_attention.all_sizes import layers as deep
from m2bridge.families.deep_attention.all_sizes.family import NORMAL_FORM
from m2bridge.families.deep_attention.all_sizes.layers import WORDS
from m2bridge.families.registry import OWN_FAMILIES, family
from m2bridge.results.sheet import name_with_part

PAGE = Path(__file__).parents[1] / "docs" / "statements.md"
Row = tuple[str, str, tuple[str, ...]]
"""A name, what is said, and what is computed."""

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
GENERIC = "For t ≥ 2, and α = min(a, d) > 1 or d' > 1"
SIGNS = {"†": f"{GENERIC}: ", "‡": f"{GENERIC}, and d ≥ 2 (added by m2bridge): "}
"""The sign after a name that stands for hypotheses with which many statements begin."""
ALL_SIZES = {
    name: f"{title}, all sizes at once"
    for name, title in FAMILIES.items()
    if family(name).all_sizes
}


def by_case(name: str) -> Iterator[Row]:
    """The statements of a family: name, words, and what is computed."""
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


def _listed(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        part.replace("{orbits}", "every orbit")
        .replace("{ideals}", "all")
        .replace(": {patterns}", "")
        for part in parts
    )


SECTIONS: dict[str, tuple[Row, ...]] = {
    title: tuple(by_case(name)) for name, title in FAMILIES.items()
} | {title: tuple(for_all_sizes(name)) for name, title in ALL_SIZES.items()}
"""The rows of each table, by the title above it."""


def computations(rows: tuple[Row, ...]) -> list[str]:
    """What is computed for the rows of a table, each once."""
    return list(dict.fromkeys(part for _, _, parts in rows for part in parts))


def with_sign(text: str) -> tuple[str, str]:
    """The sign for the hypotheses with which words begin, or "", and the words after them."""
    sign = next((sign for sign, hypotheses in SIGNS.items() if text.startswith(hypotheses)), "")
    return sign, text.removeprefix(SIGNS.get(sign, ""))


def table(title: str, reasons: dict[str, str]) -> str:
    """What is computed, as a numbered list, and below it a paragraph for each row: its name, the
    numbers of what is computed for it, what is said, and the reason by its name.
    """
    rows = SECTIONS[title]
    listed = computations(rows)
    lines = [f"{number}. {part}" for number, part in enumerate(listed, 1)]
    lines.append("")
    for sign, hypotheses in SIGNS.items():
        if any(text.startswith(hypotheses) for _, text, _ in rows):
            lines += [f"{sign} {hypotheses}…", ""]
    for name, text, parts in rows:
        numbers = ", ".join(str(listed.index(part) + 1) for part in parts)
        sign, words = with_sign(text)
        lines += [f"**{name}**{sign} ({numbers}): {words}", f"→ {reasons.get(name, '')}", ""]
    # Markdown's own mark of emphasis, in the words of hilbert
    return "\n".join(line.replace("]_", "]\\_") for line in lines).rstrip()


ENTRY = re.compile(r"^\*\*(?P<name>[^*]+)\*\*\S? \([\d, ]*\): .*\n→ ?(?P<reason>.*)$", re.MULTILINE)


def reasons(title: str, text: str) -> dict[str, str]:
    """Why what is computed decides the words, by the name of each row of the table."""
    _, _, section = text.partition(f"\n## {title}\n")
    return {
        found["name"]: found["reason"] for found in ENTRY.finditer(section.partition("\n## ")[0])
    }


def page(text: str) -> str:
    """The page with all tables written again; sections without a table stay."""
    head, *sections = text.split("\n## ")
    written = [head]
    for section in sections:
        title = section.partition("\n")[0]
        if title in SECTIONS:
            section = f"{title}\n\n{table(title, reasons(title, text))}\n"
        written.append(section)
    return "\n## ".join(written)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
