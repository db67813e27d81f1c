"""The published JSON Schema of certificates, held against the samples and against the program that reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from m2bridge import DeepAttention
from m2bridge.certificates.schema import SCHEMA, Certificate
from m2bridge.crosscheck.certify import certify_all
from m2bridge.errors import CertificateError

TEXT = files("m2bridge.certificates").joinpath("certificate.schema.json").read_text(encoding="utf-8")
VALIDATOR = Draft202012Validator(json.loads(TEXT))
SAMPLES = Path(__file__).parents[1] / "certificates"
GOOD = ("accepted", "all-sizes", "networks", "program-not-checked")
NOT_OF_THE_FORM = {
    "another-layout": "the file is not canonical",
    "field-twice": "seen before the JSON is read",
    "not-a-number": "NaN is not JSON",
    "unknown-question": "packages may bring questions",
}
"""Malformed files whose fault no schema can say."""


def valid(data: Any) -> bool:
    return bool(VALIDATOR.is_valid(data))


def sample(name: str) -> dict[str, Any]:
    return json.loads((SAMPLES / "accepted" / f"{name}.json").read_text(encoding="utf-8"))


def test_the_schema_is_one_and_of_this_version() -> None:
    Draft202012Validator.check_schema(VALIDATOR.schema)
    assert VALIDATOR.schema["properties"]["schema"]["const"] == SCHEMA
    assert VALIDATOR.schema["$id"].endswith(f":{SCHEMA}")


@pytest.mark.parametrize("path", [p for name in GOOD for p in sorted((SAMPLES / name).glob("*.json"))], ids=str)
def test_every_sample_is_valid(path: Path) -> None:
    VALIDATOR.validate(json.loads(path.read_text(encoding="utf-8")))


def test_certificates_of_deep_attention_are_valid() -> None:
    for certificate in certify_all(DeepAttention((2, 2, 2), a=(1, 1)), ("3.1", "3.5")):
        VALIDATOR.validate(certificate.to_json())


@pytest.mark.parametrize("path", sorted((SAMPLES / "malformed").glob("*.json")), ids=lambda path: path.stem)
def test_malformed_files_are_not(path: Path) -> None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return
    assert valid(data) is (path.stem in NOT_OF_THE_FORM)


WRONG = (None, True, -1, 1.5, 10**13, "", "two words", "é", [], [1.5], [[]], {}, {"x": None}, {"x y": 1})


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The fields that the program itself looks at when it reads a certificate."""
    for name, value in data.items():
        if name not in ("answer", "evidence") or path:
            yield (*path, name)
            if isinstance(value, dict):
                yield from places(value, (*path, name))


def changed(data: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The same with another value at one place; without that field for ``...``."""
    result = deepcopy(data)
    inner = result
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    if value is ...:
        del inner[path[-1]]
    return result


@pytest.mark.parametrize("path", list(places(sample("d2-dout1-a1-t2-3.2"))), ids=lambda path: ".".join(path))
def test_schema_and_program_agree_on_every_field(path: tuple[Any, ...]) -> None:
    """Of a family that neither knows, so that the numbers of the case are free."""
    data = changed(sample("d2-dout1-a1-t2-3.2"), ("family",), "a-family-of-a-plug-in")
    for wrong in (..., *WRONG):
        other = changed(data, path, wrong)
        assert valid(other) is accepted(other), (path, wrong)


def accepted(data: Any) -> bool:
    try:
        Certificate.from_json(data)
    except CertificateError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "path", "wrong"),
    [
        ("d3-dout2-a2-t2-3.4", ("answer", "verdicts", 2, "verdict"), "MAYBE"),
        ("d3-dout2-a2-t2-3.4", ("answer", "verdicts", 2, "witness", "numbers"), {"dimension": "13"}),
        ("d3-dout2-a2-t2-3.4", ("answer", "verdicts", 2, "failing"), [["1", 2, 0]]),
        ("d3-dout2-a2-t2-3.4", ("answer", "verdicts"), []),
        ("d3-dout2-a2-t2-3.4", ("evidence", "orbits", 0, "dimension"), -1),
        ("d3-dout2-a2-t2-3.4", ("evidence", "orbits", 0, "colour"), "red"),
        ("d3-dout2-a2-t2-3.4", ("case", "t"), ...),
        ("d2-dout1-a2-t2-closure", ("answer", "degree"), 4.5),
        ("d2-dout1-a2-t2-closure", ("answer", "generator_degrees"), {"four": 1}),
        ("d2-dout1-a2-t2-closure", ("answer", "hilbert_series", "numerator"), ["1"]),
        ("d2-dout1-a2-t2-closure", ("evidence", "generators"), [1]),
        ("d2-dout1-a2-t2-closure", ("evidence", "tangent_dimensions"), ...),
    ],
)
def test_wrong_answers_and_evidence_are_not(name: str, path: tuple[Any, ...], wrong: Any) -> None:
    assert valid(sample(name))
    assert not valid(changed(sample(name), path, wrong))
