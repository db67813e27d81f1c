"""All samples are accepted, in a fast test; slow ones alter them."""

from __future__ import annotations

from pathlib import Path

import pytest

from m2bridge.certificates.form import read
from m2bridge.certification.make import questions
from m2bridge.certification.verify import verify_path
from m2bridge.families.registry import OWN_FAMILIES
from tests.certificates import VERIFIED

FOLDER = Path(__file__).parents[2] / "certificates"

LONG = {"attention-all-sizes-polar", "attention-all-sizes-closures"}
"""Their checks take seconds: the samples are accepted in ``tests/unit/checker/test_checker.py``, a
slow test. All others together take two seconds.
"""
SAMPLES = [
    path
    for folder in VERIFIED
    for path in sorted((FOLDER / folder).glob("*.json"))
    if path.stem not in LONG
]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_it_is_accepted(path: Path) -> None:
    finding = verify_path(path)
    assert finding.outcome == (
        "accepted-on-trust" if path.parent.name == "accepted-on-trust" else "accepted"
    ), finding


def test_each_family_has_two() -> None:
    families = [read(path).family for path in SAMPLES]
    assert all(families.count(name) >= 2 for name in OWN_FAMILIES if questions(name))
