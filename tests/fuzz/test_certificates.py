"""Changed certificates with a digest that fits: a short run."""

import json
from random import Random

import pytest

from tests.fuzz import certificates


def test_changed_certificates() -> None:
    assert certificates.run(150, 1) == 0


@pytest.mark.parametrize("path", certificates.ACCEPTED, ids=lambda path: path.name)
def test_certificates_that_are_not_changed_are_accepted(path: object) -> None:
    """Seals and names are written anew here; a wrong seal would make every rejection worthless."""
    data = json.loads(path.read_text(encoding="utf-8"))  # type: ignore[attr-defined]
    assert certificates.sealed(data) == data
    assert certificates.name_of(data) == path.name  # type: ignore[attr-defined]
    assert certificates.complaint(data, data, "accepted") == ""


def test_what_must_not_be_accepted() -> None:
    drawn = [certificates.changed(Random(f"1 {number}")) for number in range(300)]
    complained = [certificates.complaint(old, new, "accepted") for old, new in drawn]
    assert complained.count("accepted") > 200
    assert all(certificates.complaint(old, new, "failed") for old, new in drawn if new.get("family") == old["family"])
    old, new = next(pair for pair, said in zip(drawn, complained, strict=True) if not said)
    assert certificates.complaint(old, new, "rejected") == ""
