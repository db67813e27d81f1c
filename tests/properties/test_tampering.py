"""A certificate with anything changed in it is not accepted."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from m2bridge.certificates.form import Certificate, read
from m2bridge.certification.verify import verify, verify_path
from m2bridge.errors import CertificateError
from tests.certificates import VERIFIED
from tests.tiers import examples

pytestmark = pytest.mark.slow

FOLDERS = [Path(__file__).parents[1] / "certificates" / name for name in VERIFIED]
LONG = "attention-all-sizes-closures.json"
"""It takes seconds, and each of its numbers is changed in ``tests/unit/checker/test_checker.py``."""
ACCEPTED = [
    path for folder in FOLDERS for path in sorted(folder.glob("*.json")) if path.name != LONG
]
MATHEMATICS = ("answer", "evidence", "case", "question", "field", "trusted", "name")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all leaves, and to all entries of lists."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(value, list) and isinstance(inner, dict | list):
                yield (*path, key)
            yield from places(inner, (*path, key))
    else:
        yield path


def mathematical_places(data: dict[str, Any]) -> list[tuple[Any, ...]]:
    """For one token no statement applies, whatever d, d' and a are: a change of these leaves a true
    certificate.

    Equations up to a higher degree take minutes, or are too expensive to check; a lower one is in
    test_checker.
    """
    single = data["case"].get("t") == 1 and data["question"] != "closure"
    return [
        place
        for name in MATHEMATICS
        for place in places(data[name], (name,))
        if not (single and place[0] == "case" and place[1] != "t")
        and place != ("answer", "max_degree")
    ]


def other(value: Any, draw: st.DrawFn) -> Any:
    """A value near to this one, not equal to it."""
    if isinstance(value, bool):
        return draw(st.sampled_from([not value, int(value), None]))
    if isinstance(value, int):
        return (
            value + draw(st.sampled_from([-2, -1, 1, 2])) if draw(st.booleans()) else float(value)
        )
    if isinstance(value, str):
        position = draw(st.integers(0, len(value)))
        kept = value[position + draw(st.integers(0, 1)) :]
        changed = value[:position] + draw(st.sampled_from(["", "0", "1", "-", "e", "*"])) + kept
        return changed if changed != value else value + " "
    return 1 if value is None else None


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    data = read(draw(st.sampled_from(ACCEPTED))).to_json()
    path = draw(st.sampled_from(mathematical_places(data)))
    inner: Any = data
    for key in path[:-1]:
        inner = inner[key]
    if isinstance(inner, list) and draw(st.booleans()):
        if draw(st.booleans()):
            del inner[path[-1]]
        else:
            inner.insert(path[-1], inner[path[-1]])
    else:
        inner[path[-1]] = other(inner[path[-1]], draw)
    return data


@settings(max_examples=examples(200))
@given(changed())
def test_a_change_of_the_mathematics_is_not_accepted(data: dict[str, Any]) -> None:
    """The digest is made to fit, so that only the mathematics can say no."""
    try:
        certificate = Certificate.from_json(data).sealed()
    except CertificateError:
        return
    result = verify(certificate)
    known = result.check not in ("case", "question")  # another one may not exist
    assert result.outcome == ("rejected" if known else "malformed")


@settings(max_examples=examples(100))
@given(st.sampled_from(ACCEPTED), st.integers(0), st.integers(1, 255))
def test_a_changed_byte_is_not_accepted(path: Path, position: int, mask: int) -> None:
    content = bytearray(path.read_bytes())
    content[position % len(content)] ^= mask
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, path.name)
        file.write_bytes(content)
        assert verify_path(file).outcome in ("rejected", "malformed")


@given(st.sampled_from(ACCEPTED), st.data())
def test_a_part_of_a_file_is_not_a_certificate(path: Path, data: st.DataObject) -> None:
    content = path.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, path.name)
        file.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
        assert verify_path(file).outcome == "malformed"


def test_the_digest_does_not_depend_on_the_order_of_keys() -> None:
    certificate = read(ACCEPTED[0])
    turned = dict(reversed(json.loads(certificate.to_text()).items()))
    assert Certificate.from_json(turned).computed_digest() == certificate.digest
