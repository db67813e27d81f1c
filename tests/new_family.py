"""What is missing for a family of models: ``python -m tests.new_family NAME``.

ARCHITECTURE.md says how to add a family, step by step. This lists, in the order of its steps, what
is not there yet, and ends with 1 if anything is not. The tests demand that nothing is missing for
the families of this package.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from m2bridge import citation
from m2bridge.certification.make import questions
from m2bridge.errors import M2BridgeError
from m2bridge.families.base import Family
from m2bridge.families.registry import DEFAULT_FAMILY, OWN_FAMILIES, checker, family, family_names
from m2bridge.results.markup import cited_titles
from tests import stated
from tests.certificates import VERIFIED

ROOT = Path(__file__).parents[1]


def missing(name: str) -> list[str]:
    """What a family lacks, in words; empty if nothing."""
    try:
        found = family(name)
    except M2BridgeError as reason:
        return [f"families/registry.py: {reason}"]
    return [
        *_of_the_case(found),
        *_of_the_checker(found),
        *(_of_the_repository(found) if name in OWN_FAMILIES else ()),
    ]


def _of_the_case(found: Family[Any]) -> Iterator[str]:
    """The sample case, its key, and its form in JSON."""
    try:
        case = found.sample_case()
    except M2BridgeError as reason:
        yield f"sample of the family: {reason}"
        return
    if found.from_key(case.key).key != case.key:
        yield f"from_key: '{case.key}' leads to another case"
    if found.options and found.from_json(json.loads(json.dumps(case.to_json()))).key != case.key:
        yield "from_json: what to_json writes leads to another case"
    if not found.modules and found.statements() and found.questions():
        yield "modules of the family: workers have to import what answers its questions"


def _of_the_checker(found: Family[Any]) -> Iterator[str]:
    """A question of the checker for each question of the family."""
    asked = set(questions(found.name))
    if not asked:
        return
    try:
        checked = set(checker(found.name).questions)
    except M2BridgeError as reason:
        yield f"checker: {reason}"
        return
    for key in sorted(asked - checked):
        yield f"checker: no question '{key}'"


def _of_the_repository(found: Family[Any]) -> Iterator[str]:
    """What stands outside the folder of a family of this package."""
    if found.paper is not None and found.paper not in {work for _, work in citation.WORKS}:
        yield f"WORKS of citation.py: '{found.paper.title}'"
    yield from _of_the_public_names(found)
    yield from _of_the_pages(found)
    yield from _of_the_samples(found)


def _of_the_public_names(found: Family[Any]) -> Iterator[str]:
    """The class of its models, unless they are all sizes at once."""
    if not found.options:
        return
    model = type(found.sample_case()).__name__
    frozen = "tests/unit/cli/test_likely_mistakes.py"
    for place in ("m2bridge/__init__.pyi", "docs/reference/api.rst", frozen):
        if model not in text_of(place):
            yield f"{place}: {model}"


def _of_the_pages(found: Family[Any]) -> Iterator[str]:
    """Tables of its statements and certificates, and how the command line names its cases."""
    for titles in (stated.FAMILIES, stated.ALL_SIZES):
        title = titles.get(found.name)
        if title is not None and f"\n## {title}\n" not in text_of("docs/statements.md"):
            yield f"docs/statements.md: a section '{title}' (python -m tests.stated)"
    if questions(found.name) and f"\n### {found.name}: " not in text_of("docs/checkers.md"):
        yield f"docs/checkers.md: a list '{found.name}: …' of the fields of certificates"
    if found.name == DEFAULT_FAMILY or found.name in stated.FOR_ALL_SIZES:
        return
    if f"--family {found.name}" not in text_of("docs/guide/families.md"):
        yield f"docs/guide/families.md: a paragraph with --family {found.name}"
    if found.name not in text_of("README.md"):
        yield f"README.md: {found.name}"
    yield from _of_the_proofs(found)


def _of_the_proofs(found: Family[Any]) -> Iterator[str]:
    """The pages that its lemmas name: each in the index, with a title for reports."""
    trusted = " ".join(lemma for said in found.statements() for lemma in said.trusted)
    for page in sorted(set(re.findall(r"docs/([\w-]+)\.md", trusted))):
        if f"\n{page}\n" not in text_of("docs/index.md"):
            yield f"docs/index.md: {page}"
        if page not in cited_titles()["pages"]:
            yield f"results/titles.json: {page}"


def text_of(place: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / place).read_text(encoding="utf-8")


def _of_the_samples(found: Family[Any]) -> Iterator[str]:
    """At least one certificate that is accepted."""
    if not questions(found.name):
        return
    for kind in VERIFIED:
        for path in (ROOT / "tests" / "certificates" / kind).glob("*.json"):
            if json.loads(path.read_text(encoding="utf-8"))["family"] == found.name:
                return
    yield "tests/certificates: a certificate (its case in tests/certificates/__main__.py)"


def main(arguments: list[str]) -> int:
    """Print what is missing for one family; 2 if none is named."""
    if len(arguments) != 1:
        print("Usage: python -m tests.new_family NAME; there are", ", ".join(family_names()))
        return 2
    lines = missing(arguments[0])
    print(*(lines or [f"nothing is missing for {arguments[0]}"]), sep="\n")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
