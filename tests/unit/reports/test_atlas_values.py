"""Polar degrees of an atlas are those of its certificates, and dashes say why they stand there."""

import json
import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from m2bridge.certificates.form import read, write
from m2bridge.errors import ContradictionError
from m2bridge.reports.atlas import Atlas, Entry, atlas, write_atlas

SAMPLES = Path(__file__).parents[2] / "certificates"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for certificates of one atlas."""
    (tmp_path / "certificates").mkdir()
    return tmp_path / "certificates"


def only(found: Atlas) -> Entry:
    (entry,) = found.entries
    return entry


@pytest.mark.parametrize(
    ("case", "polar_degrees", "ed_degree"),
    [
        # P¹ × P² by Segre: the generic ED degree of 2 × 3 matrices of rank one is 10.
        ("d2-dout1-a1-t2", "3, 4, 3, 0", "10"),
        # As on the page docs/learning-degrees.md.
        ("d2-dout2-a1-t2", "20, 56, 68, 40, 12, 0", "196"),
    ],
)
def test_polar_degrees_come_from_the_statement_too(
    case: str, polar_degrees: str, ed_degree: str, folder: Path
) -> None:
    file = f"{case}-polar.json"
    shutil.copy(SAMPLES / "accepted" / file, folder)
    entry = only(atlas(folder))
    assert (entry.text("polar degrees"), entry.value("polar degrees").source) == (
        polar_degrees,
        file,
    )
    assert (entry.text("generic ED degree"), entry.value("generic ED degree").source) == (
        ed_degree,
        file,
    )


def test_both_certificates_have_to_agree(folder: Path) -> None:
    for question in ("polar", "polar-degrees"):
        shutil.copy(SAMPLES / "accepted" / f"d2-dout1-a2-t2-{question}.json", folder)
    assert only(atlas(folder)).text("polar degrees") == "4, 6, 4, 0, 0"
    changed = read(folder / "d2-dout1-a2-t2-polar-degrees.json")
    answer = changed.answer | {"polar_degrees": [4, 6, 5, 0, 0]}
    write(replace(changed, answer=answer).sealed(), folder)
    with pytest.raises(ContradictionError, match="do not agree about the polar degrees: 4, 6, 5"):
        atlas(folder)


def test_counts_modulo_random_primes_alone_are_not_taken(folder: Path) -> None:
    changed = read(SAMPLES / "accepted" / "d2-dout1-a2-t2-polar.json")
    (verdict,) = changed.answer["verdicts"]
    counted = verdict | {"observed": {"slices": [4, 6, 4, 0, 0]}, "verdict": "UNDECIDED"}
    write(replace(changed, answer={"verdicts": [counted]}).sealed(), folder)
    value = only(atlas(folder)).value("polar degrees")
    assert (value.text, value.reason) == ("", "there is no certificate of 'polar-degrees'")


def test_former_certificates_without_numbers_are_read(folder: Path) -> None:
    shutil.copy(SAMPLES / "former" / "d3-dout2-a2-t2-polar.json", folder)
    found = atlas(folder)
    assert not found.problems
    assert only(found).text("polar degrees") == ""


def dashes_without_a_reason(text: str) -> list[str]:
    """Cells and words that are a dash and have no title with words."""
    bare = re.sub(r'<span class="dash" title="[^"]+">–</span>', "", text)
    return re.findall(r"<t[dh][^>]*>–|(?:dim|deg) –", bare)


@pytest.mark.parametrize("sample", ["accepted", "networks", "deep", "convolutional", "all-sizes"])
def test_every_dash_has_a_reason_and_the_legend_has_all(sample: str, folder: Path) -> None:
    shutil.copytree(SAMPLES / sample, folder, dirs_exist_ok=True)
    found = atlas(folder)
    assert not found.problems
    index = write_atlas(found, folder.parent)
    overview = index.read_text(encoding="utf-8")
    assert dashes_without_a_reason(overview) == []
    legend = unescape(overview.partition('id="dashes"')[2].partition("</details>")[0])
    titles = {unescape(title) for title in re.findall('class="dash" title="([^"]+)"', overview)}
    assert all(title in legend for title in titles)
    for entry in found.entries:
        assert all(bool(value.text) != bool(value.reason) for value in entry.values)
        page = (folder.parent / "cases" / entry.file).read_text(encoding="utf-8")
        assert dashes_without_a_reason(page) == []
        listed = unescape(page.partition('id="dashes"')[2].partition("</ul>")[0])
        for reason, names in entry.reasons.items():
            assert f"{', '.join(names)}: {reason}" in listed


def test_reasons_name_what_is_missing(folder: Path) -> None:
    shutil.copy(SAMPLES / "accepted" / "d1-dout2-a1-t2-closure.json", folder)
    shutil.copy(
        SAMPLES / "networks" / "polynomial-network-2-2-1-r2-expected-dimension.json", folder
    )
    first, second = atlas(folder).entries
    assert first.value("polar degrees").reason == "there is no certificate of 'polar-degrees'"
    assert second.value("polar degrees").reason == (
        "'polar-degrees' is not asked about polynomial neural networks"
    )


def test_polar_degrees_for_one_input_dimension_are_not_stated(folder: Path) -> None:
    """The hypothesis of the statement that fails is the reason."""
    changed = read(SAMPLES / "accepted" / "d2-dout1-a1-t2-polar.json")
    (verdict,) = changed.answer["verdicts"]
    failing = "assumes something that fails"
    altered = verdict | {"observed": None, "hypothesis": failing, "verdict": "NOT_APPLICABLE"}
    write(replace(changed, answer={"verdicts": [altered]}).sealed(), folder)
    found = atlas(folder)
    assert json.dumps(found.problems) == "[]"
    assert failing in only(found).value("polar degrees").reason
