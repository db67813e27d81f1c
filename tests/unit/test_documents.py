"""Text, JSON, TOML and numbers from outside: exact, bounded, refused in one line."""

import os
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m2bridge.convert.documents import (
    LONGEST_NUMBER,
    MOST_BYTES,
    read_bytes,
    read_json,
    read_rational,
    read_text,
    read_toml,
)
from m2bridge.errors import ConversionError, TimeLimitError
from m2bridge.limits import limited
from m2bridge.system import any_length
from tests.clocks import Looks


@given(st.fractions())
def test_every_fraction(value: Fraction) -> None:
    assert read_rational(str(value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_every_decimal(value: object) -> None:
    exact = Fraction(str(value))
    if abs(exact) < 10 ** (LONGEST_NUMBER // 2) and exact.denominator < 10 ** (LONGEST_NUMBER // 2):
        assert read_rational(str(value)) == exact


def test_long_numbers() -> None:
    assert read_rational("9" * LONGEST_NUMBER) == 10**LONGEST_NUMBER - 1
    assert read_rational("-1e5000") == -(10**5000)
    assert read_rational(f"1/{'3' * 5000}") == Fraction(3, 10**5000 - 1)
    for text in ("9" * (LONGEST_NUMBER + 1), "1e9999999999", "1e-9999999999", f"1e{'9' * 5000}", f"1/{'9' * 20_000}"):
        with pytest.raises(ConversionError, match="10000 digits"):
            read_rational(text)


@pytest.mark.parametrize(
    "text", ["", ".", "e5", "1e", "1_0", "٣", "1/", "/2", "1/2/3", "1/0", "nan", "1 2", "0x1", "1/2e3"]
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
        ("1e999", "too large"),
        ("[NaN]", "NaN is not a number"),
        ("-Infinity", "-Infinity is not a number"),
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
        ("#" * (MOST_BYTES + 1), "larger than 2 MB"),
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
        (tmp_path / "a\0b", "null"),
    ]:
        with pytest.raises(ConversionError, match=said):
            read_text(path, 10)


def test_pipes_are_read_to_their_end_and_no_further(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for written, most in ((b"a" * 3_000_000, 3_000_000), (b"a" * 3_000_001, 3_000_000)):
        with subprocess.Popen(["sh", "-c", f"head -c {len(written)} /dev/zero | tr '\\0' a > {pipe}"]):
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
