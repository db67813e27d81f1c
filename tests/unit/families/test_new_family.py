"""What is missing for a family is listed; for those of this package nothing is."""

from collections.abc import Mapping
from typing import ClassVar

import pytest

from m2bridge.families import registry
from tests import new_family
from tests.plug_in.rational_normal_curves import FAMILY


@pytest.mark.parametrize("name", registry.OWN_FAMILIES)
def test_nothing_is_missing_for_families_of_this_package(name: str) -> None:
    assert new_family.missing(name) == []


def test_what_is_missing_is_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A family that is registered, and has statements, and nothing outside its file."""
    monkeypatch.setattr(new_family, "family", lambda name: FAMILY)
    monkeypatch.setattr(new_family, "questions", lambda name: {"dimension": None})
    monkeypatch.setitem(new_family.stated.FAMILIES, FAMILY.name, "Rational normal curves")
    monkeypatch.setattr(new_family, "OWN_FAMILIES", {FAMILY.name: ""})
    assert new_family.main([FAMILY.name]) == 1
    lines = capsys.readouterr().out.splitlines()
    places = [line.partition(": ")[0] for line in lines]
    assert places == [
        "checker",
        "m2bridge/__init__.pyi",
        "docs/reference/api.rst",
        "tests/unit/cli/test_likely_mistakes.py",
        "docs/statements.md",
        "docs/checkers.md",
        "docs/guide/families.md",
        "README.md",
        "tests/certificates",
    ]


def test_a_family_that_nobody_knows_is_a_named_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert new_family.main(["nowhere"]) == 1
    assert "there is no family 'nowhere': use attention" in capsys.readouterr().out
    assert new_family.main([]) == 2


def test_a_sample_without_what_names_a_case_is_missing() -> None:
    class WithoutSample(type(FAMILY)):
        sample: ClassVar[Mapping[str, str]] = {}

    (line,) = new_family._of_the_case(WithoutSample())
    assert line.startswith("sample of the family: Argument 'n' is missing")
