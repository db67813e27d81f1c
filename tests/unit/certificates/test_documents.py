"""JSON documents: how they are read, and the schema of certificates."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from m2bridge import DeepAttention
from m2bridge.certificates.form import SCHEMA, Certificate
from m2bridge.certification.make import certify_all
from m2bridge.convert import MAX_DOCUMENT_BYTES, MAX_NUMBER_DIGITS
from m2bridge.convert.bounded_io import read_bytes, read_json, read_rational, read_text, read_toml
from m2bridge.errors import CertificateError, ConversionError, TimeLimitError
from m2bridge.limits import limited
from m2bridge.system import any_length
from tests.limits import Looks

# Text, JSON, TOML and numbers from outside: exact, bounded, refused in one line.


@given(st.fractions())
def test_every_fraction(value: Fraction) -> None:
    assert read_rational(str(value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_every_decimal(value: object) -> None:
    exact = Fraction(str(value))
    if abs(exact) < 10 ** (MAX_NUMBER_DIGITS // 2) and exact.denominator < 10 ** (
        MAX_NUMBER_DIGITS // 2
    ):
        assert read_rational(str(value)) == exact


def test_long_numbers() -> None:
    assert read_rational("9" * MAX_NUMBER_DIGITS) == 10**MAX_NUMBER_DIGITS - 1
    assert read_rational("-1e5000") == -(10**5000)
    assert read_rational(f"1/{'3' * 5000}") == Fraction(3, 10**5000 - 1)
    for text in (
        "9" * (MAX_NUMBER_DIGITS + 1),
        "1e9999999999",
        "1e-9999999999",
        f"1e{'9' * 5000}",
        f"1/{'9' * 20_000}",
    ):
        with pytest.raises(ConversionError, match="10000 digits"):
            read_rational(text)


@pytest.mark.parametrize(
    "text",
    ["", ".", "e5", "1e", "1_0", "٣", "1/", "/2", "1/2/3", "1/0", "nan", "1 2", "0x1", "1/2e3"],
)
def test_other_texts_are_no_numbers(text: str) -> None:
    with pytest.raises(ConversionError):
        read_rational(text)


def test_json() -> None:
    assert read_json('{"a": [1, 2.5, "x", null]}') == {"a": [1, 2.5, "x", None]}
    assert read_json("9" * 5000, digits=5000) == 10**5000 - 1
    for text, said in [
        ('{"a": 1, "b": 2, "a": 1}', "the name 'a' occurs twice"),
        ('{"b": {"a": 1, "\\u0061": 1}}', "the name 'a' occurs twice"),
        ("[" * 20_000, "nested too deeply"),
        ("9" * 5000, "5000 digits"),
        ("1e999", "1e999 is not a finite number"),
        ("[NaN]", "NaN is not a finite number"),
        ("-Infinity", "-Infinity is not a finite number"),
        ("{", "not JSON"),
    ]:
        with pytest.raises(ConversionError, match=said):
            read_json(text)


def test_toml() -> None:
    title = "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u"
    assert read_toml("[a.b]\nc = 1") == {"a": {"b": {"c": 1}}}
    for text, said in [
        ("x = " + "[" * 20_000, "nested too deeply"),
        ("x = " + "{a=" * 20_000, "nested too deeply"),
        (f"{title} = 1", "more than 20 parts"),
        (f"x = {{ {title} = 1 }}", "more than 20 parts"),
        ("'a' .\t" * 20_000 + "a = 1", "more than 20 parts"),
        (f"x = {'9' * 5000}", "4300 digits"),
        ("a = 1\na = 1", "not TOML"),
        ("#" * (MAX_DOCUMENT_BYTES + 1), "larger than 2 MB"),
    ]:
        with pytest.raises(ConversionError, match=said):
            read_toml(text)


def test_files(tmp_path: Path) -> None:
    good, binary, large = tmp_path / "good", tmp_path / "binary", tmp_path / "large"
    good.write_bytes("\ufeffλ".encode())
    binary.write_bytes(b"ab\xff")
    large.write_bytes(b"x" * 11)
    assert read_text(good) == "λ"
    for path, said in [
        (binary, "byte 3"),
        (large, "larger than"),
        (Path("/dev/zero"), "neither a file nor a pipe"),
        (tmp_path, "neither a file nor a pipe"),
        (tmp_path / "none", "No such file"),
        (tmp_path / ("x" * 5000), "too long"),
        (tmp_path / "a\0b", "null character"),
    ]:
        with pytest.raises(ConversionError, match=said):
            read_text(path, 10)


def test_pipes_are_read_to_their_end_and_no_further(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for written, most in ((b"a" * 3_000_000, 3_000_000), (b"a" * 3_000_001, 3_000_000)):
        with subprocess.Popen(
            ["sh", "-c", f"head -c {len(written)} /dev/zero | tr '\\0' a > {pipe}"]
        ):
            if len(written) <= most:
                assert read_bytes(pipe, most) == written
            else:
                with pytest.raises(ConversionError, match="larger than 3 MB"):
                    read_bytes(pipe, most)


def test_a_limit_holds_for_what_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(20 * 2**20))
    with limited(10, now=Looks()), pytest.raises(TimeLimitError):
        read_bytes(file, 10**8)


def test_the_limit_on_digits_comes_back() -> None:
    with pytest.raises(ValueError, match="4300"):
        str(10**5000)
    with any_length(), any_length():
        assert len(str(10**5000)) == 5001
    with pytest.raises(ValueError, match="4300"):
        str(10**5000)


# The published JSON Schema of certificates, held against the samples and against the program that
# reads them.

TEXT = (
    files("m2bridge.certificates").joinpath("certificate.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = Draft202012Validator(json.loads(TEXT))
SAMPLES = Path(__file__).parents[2] / "certificates"
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


def test_every_sample_is_valid() -> None:
    samples = [path for name in GOOD for path in (SAMPLES / name).glob("*.json")]
    assert len(samples) > 30
    for path in samples:
        VALIDATOR.validate(json.loads(path.read_text(encoding="utf-8")))


def test_certificates_of_deep_attention_are_valid() -> None:
    for certificate in certify_all(DeepAttention((2, 2, 2), a=(1, 1)), ("3.1", "3.5")):
        VALIDATOR.validate(certificate.to_json())


def test_malformed_files_are_not() -> None:
    for path in (SAMPLES / "malformed").glob("*.json"):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            continue
        assert valid(data) is (path.stem in NOT_OF_THE_FORM), path


WRONG = (
    None,
    True,
    -1,
    1.5,
    10**13,
    "",
    "two words",
    "é",
    [],
    [1.5],
    [[]],
    {},
    {"x": None},
    {"x y": 1},
)


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The fields that the program itself looks at when it reads a certificate."""
    for name, value in data.items():
        if name not in ("answer", "evidence") or path:
            yield (*path, name)
            if isinstance(value, dict):
                yield from places(value, (*path, name))


def changed(data: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return a copy with another value at one place, or without that field for ``...``."""
    result = deepcopy(data)
    inner = result
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    if value is ...:
        del inner[path[-1]]
    return result


def test_schema_and_program_agree_on_every_field() -> None:
    """Of a family that neither knows, so that the numbers of the case are free."""
    data = changed(sample("d2-dout1-a1-t2-3.2"), ("family",), "a-family-of-a-plug-in")
    for path, wrong in product(places(sample("d2-dout1-a1-t2-3.2")), (..., *WRONG)):
        other = changed(data, path, wrong)
        assert valid(other) is accepted(other), (path, wrong)


def test_an_unknown_field_is_refused_by_name() -> None:
    data = sample("d2-dout1-a1-t2-3.2")
    with pytest.raises(CertificateError, match=r"missing or unknown fields: extra$"):
        Certificate.from_json(data | {"extra": 1})
    del data["trusted"]
    with pytest.raises(CertificateError, match=r"missing or unknown fields: trusted$"):
        Certificate.from_json(data)


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
        (
            "d3-dout2-a2-t2-3.4",
            ("answer", "verdicts", 2, "witness", "numbers"),
            {"dimension": "13"},
        ),
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
