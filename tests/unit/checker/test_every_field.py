"""Every field of every kind of certificate: what is said of it, and that altering it is noticed."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from m2bridge.certificates.form import Certificate, Content, read
from m2bridge.certification.verify import verify
from m2bridge.checker import FamilyChecker, verify as checking
from m2bridge.errors import CertificateError
from m2bridge.families.attention.checker import closure
from m2bridge.families.convolutional_network import checker as networks
from m2bridge.families.registry import OWN_FAMILIES, checker
from tests.certificates import VERIFIED
from tests.changing import alterations, field_of, places, with_value
from tests.plug_in import rational_normal_curves_checker as plug_in

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
SAMPLES = [
    path
    for folder in VERIFIED
    for path in sorted((ROOT / "tests" / "certificates" / folder).glob("*.json"))
]
EVERY = "Every certificate"
VERDICTS = "Verdicts on statements"
ROW = re.compile(r"^\* (?P<fields>`[^`]+`(?:, `[^`]+`)*): (?P<way>.+)$", re.MULTILINE)
WHOLE = ("schema", "family", "case", "name", "question", "field", "libraries", "reported", "digest")
"""Fields about which the same is said whatever is in them."""


def tables() -> dict[str, dict[str, str]]:
    """What docs/checkers.md says of each field, by the kind of certificate.

    A field that begins with a point stands in the same object as the one before it.
    """
    _, _, text = (ROOT / "docs" / "checkers.md").read_text("utf-8").partition("(checker-fields)=")
    found: dict[str, dict[str, str]] = {}
    for part in text.split("\n### ")[1:]:
        kind, _, rows = part.partition("\n")
        said = found[kind] = {}
        for row in ROW.finditer(rows):
            whole = ""
            for field in re.findall("`([^`]+)`", row["fields"]):
                whole = f"{whole.rpartition('.')[0]}{field}" if field.startswith(".") else field
                assert whole not in said, whole
                said[whole] = row["way"]
        assert len(ROW.findall(rows)) == rows.count("\n* ")
    return found


def kind_of(family: str, question: str) -> str:
    """The kind of certificate with this question, as the tables call it."""
    if question in ("closure", "equations", "polar-degrees", "expected-dimension"):
        return f"{family}: {question}"
    if family == "attention" and question in ("exposed", "exposed-heads"):
        return "attention: exposed"
    if question == "learning-degree":
        return f"{family}: learning-degree"
    if question.startswith("closures"):
        return f"{family}: closures"
    return f"{family}: statements"


def fields_of(certificate: Certificate) -> Iterator[str]:
    """Every field that has a value in a certificate, or an empty list, by its name in the tables."""
    for place, value in places(certificate.to_json()):
        if place[0] in WHOLE:
            yield str(place[0])
        elif value == []:
            yield f"{field_of(place)}[]"
        elif value != {} and not isinstance(value, dict | list):
            yield field_of(place)


def test_the_tables_have_a_row_for_each_field_of_each_kind() -> None:
    """And no other; what may be null, or an empty list, is one field with what is in it elsewhere."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in SAMPLES:
        certificate = read(path)
        for field in fields_of(certificate):
            of_content = field.startswith(("answer", "evidence"))
            kind = kind_of(certificate.family, certificate.question)
            found[kind if of_content else EVERY].add(field)
    said = tables()
    of_verdicts = set(said.pop(VERDICTS))
    assert said.keys() == found.keys()
    assert of_verdicts <= set().union(*found.values())
    for kind, fields in found.items():
        filled = {field for field in fields if not is_whole_of(field, fields)}
        # numbers that are one for some statements are several for others
        assert filled <= {*said[kind], *of_verdicts}, kind
        assert set(said[kind]) <= fields, kind


def is_whole_of(field: str, fields: set[str]) -> bool:
    """Whether a field, null or empty here, has fields in it elsewhere."""
    return any(other != field and other.startswith((f"{field}.", f"{field}[")) for other in fields)


def test_the_tables_are_about_every_question() -> None:
    kinds = {kind_of(name, key) for name in OWN_FAMILIES for key in checker(name).questions}
    assert kinds == tables().keys() - {EVERY, VERDICTS}


def test_the_tables_say_how_each_field_is_checked() -> None:
    """What is on trust is named: two things only."""
    on_trust = []
    for kind, fields in tables().items():
        for field, way in fields.items():
            assert way != "", (kind, field)
            if "on trust" in way:
                on_trust.append((kind, field))
    assert on_trust == [
        (EVERY, "trusted[]"),
        ("attention: closure", "evidence.generators[]"),
        ("attention: learning-degree", "evidence.learning_degree"),
    ]


def altered(certificate: Certificate) -> Iterator[tuple[str, Certificate]]:
    """The certificate with one value altered, sealed again, for the first and last of each field.

    What is reported is not checked, and the digest is made anew.
    """
    data = certificate.to_json()
    by_field: dict[tuple[str, type], list[tuple[Any, ...]]] = defaultdict(list)
    values = {}
    for place, value in places(data):
        if place[0] not in ("reported", "digest"):
            by_field[field_of(place), type(value)].append(place)
            values[place] = value
    for found in by_field.values():
        for place in dict.fromkeys((found[0], found[-1])):
            for other in alterations(values[place]):
                try:
                    changed = Certificate.from_json(with_value(data, place, other))
                except CertificateError:
                    continue
                yield f"{place}: {values[place]!r:.60} to {other!r:.60}", changed.sealed()


def of_generators(candidate: closure.Candidate) -> tuple[str, ...]:
    """What the computations with a candidate for a closure read: its case and its generators."""
    return (repr(candidate.case), *map(str, candidate.generators))


def once(function: Callable[..., Any], key: Callable[..., Any]) -> Callable[..., Any]:
    """The function, computed once for the same key; what it raises is raised each time."""
    known: dict[Any, Any] = {}

    def remembered(*arguments: Any) -> Any:
        asked = key(*arguments)
        if asked not in known:
            known[asked] = function(*arguments)
        return known[asked]

    return remembered


@pytest.fixture
def each_computation_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most alterations are of values that the longest computations of checkers do not read."""
    for name in ("_series_of_closure", "_tangent_dimensions"):
        monkeypatch.setattr(closure, name, once(getattr(closure, name), of_generators))
    lengths = once(networks.fibre_length, lambda *arguments: arguments)
    monkeypatch.setattr(networks, "fibre_length", lengths)


@pytest.mark.usefixtures("each_computation_once")
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_field_altered_in_both_directions_is_noticed(path: Path) -> None:
    certificate = read(path)
    assert verify(certificate).accepted
    number = 0
    for what, changed in altered(certificate):
        finding = verify(changed)
        refused = {"rejected", "malformed", "too-expensive"}
        if changed.family != certificate.family:
            refused = {"failed"}  # the checker of another family is not installed
        assert finding.outcome in refused, what
        assert finding.check, what
        number += 1
    assert number > 100


def of_plug_in() -> Certificate:
    """A certificate of the plug-in, of the form of one of ours."""
    empty = replace(
        read(
            ROOT / "tests/certificates/networks/polynomial-network-2-2-1-r2-expected-dimension.json"
        ),
        family=plug_in.CHECKER.family,
        case={"n": 3},
        name="rational-normal-curve-n3",
        question="dimension",
        trusted=[],
    )
    content = plug_in.CHECKER.questions["dimension"](empty)
    assert isinstance(content, Content)
    return replace(empty, answer=content.answer, evidence=content.evidence).sealed()


def test_every_field_of_a_plug_in_altered_is_noticed() -> None:
    """By its checker alone, which has no program to compare."""

    def checker_of(name: str) -> FamilyChecker:
        return plug_in.CHECKER

    certificate = of_plug_in()
    assert checking.verify(certificate, checker_of).accepted
    for what, changed in altered(certificate):
        program = changed.script != certificate.script or changed.libraries
        if changed.family == certificate.family and not program:
            assert checking.verify(changed, checker_of).outcome in ("rejected", "malformed"), what
