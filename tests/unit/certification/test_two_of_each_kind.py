"""Two certificates of each kind are verified by a fast test; all samples by slow ones."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from m2bridge.certificates.form import read
from m2bridge.certification.make import questions
from m2bridge.certification.verify import verify_path
from m2bridge.families.registry import OWN_FAMILIES
from tests.certificates import VERIFIED

FOLDER = Path(__file__).parents[2] / "certificates"


def smallest_of_each_kind() -> list[Path]:
    """Of each question about each family, the two samples with the shortest files."""
    by_kind: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for kind in VERIFIED:
        for path in (FOLDER / kind).glob("*.json"):
            certificate = read(path)
            by_kind[certificate.family, certificate.question].append(path)
    return [
        path
        for paths in by_kind.values()
        for path in sorted(paths, key=lambda path: (path.stat().st_size, path.name))[:2]
    ]


LONG = {"attention-all-sizes-polar", "attention-all-sizes-closures"}
"""Their checks take seconds: the samples are accepted in ``tests/unit/checker/test_checker.py``, a
slow test. Other questions about all sizes are fast.
"""
TWO_OF_EACH = smallest_of_each_kind()


@pytest.mark.parametrize(
    "path", [path for path in TWO_OF_EACH if path.stem not in LONG], ids=lambda path: path.stem
)
def test_it_is_accepted(path: Path) -> None:
    finding = verify_path(path)
    assert finding.outcome == (
        "accepted-on-trust" if path.parent.name == "accepted-on-trust" else "accepted"
    ), finding


def test_each_family_has_two() -> None:
    families = [read(path).family for path in TWO_OF_EACH if path.stem not in LONG]
    assert all(families.count(name) >= 2 for name in OWN_FAMILIES if questions(name))
