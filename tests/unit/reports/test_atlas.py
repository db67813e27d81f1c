"""An atlas says what its certificates say, and its pages refer to files that are there."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from sympy import binomial, sympify

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.batch.store import Store, Unanswered
from m2bridge.certificates.form import read, write
from m2bridge.cli import commands
from m2bridge.errors import CertificateError, ContradictionError
from m2bridge.families.registry import OWN_FAMILIES, family
from m2bridge.reports.atlas import Atlas, Entry, atlas, singular_values, write_atlas
from m2bridge.reports.atlas_values import hilbert_polynomial_text

SAMPLES = Path(__file__).parents[2] / "certificates"
NASTY = "<script>document.title = 'evil'</script> & {{ 7 * 7 }}"


def run(*arguments: object) -> int:
    return commands.cli.main([str(a) for a in arguments], standalone_mode=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The samples of attention, and why one closure has no certificate."""
    found = tmp_path / "certificates"
    shutil.copytree(SAMPLES / "accepted", found)
    case = {"d": 3, "d_out": 2, "a": 2, "t": 2}
    Store(found).put_outcome(
        Unanswered(
            family="attention",
            case=case,
            name="d3-dout2-a2-t2",
            question="closure",
            kind="timed-out",
            reason=NASTY,
            details="",
            timeout=60.0,
            memory=None,
            versions={},
        )
    )
    return found


def entry_of(found: Atlas, name: str) -> Entry:
    return next(entry for entry in found.entries if entry.case.name == name)


def test_values_of_a_closure_are_those_of_its_certificate(folder: Path) -> None:
    shown = entry_of(atlas(folder), "d2-dout1-a2-t2")
    assert {value.name: value.text for value in shown.values} == {
        "representations": "",
        "dimension": "5",
        "degree": "4",
        "Hilbert polynomial": "",
        "Hilbert series": "(T³ + T² + T + 1)/(1 − T)⁵",
        "Hilbert function": "",
        "generators": "1 quartic",
        "generators of low degree": "",
        "coordinates": "6",
        "polar degrees": "4, 6, 4, 0, 0",
        "generic ED degree": "14",
    }
    sources = {value.source: value.name for value in shown.values if value.text}
    assert sources.keys() == {"d2-dout1-a2-t2-closure.json", "d2-dout1-a2-t2-polar-degrees.json"}
    assert sources["d2-dout1-a2-t2-polar-degrees.json"] == "generic ED degree"
    stored = json.loads((folder / "d2-dout1-a2-t2-closure.json").read_text(encoding="utf-8"))
    assert list(shown.generators) == stored["evidence"]["generators"]
    assert shown.orbits is not None
    assert [(line[0], line[2]) for line in shown.orbits.rows] == [
        ("(1, 1, 0)", "6"),
        ("(1, 1, 1)", "6"),
        ("(2, 1, 1)", "5"),
    ]


def test_a_page_says_what_the_generic_ed_degree_is(folder: Path, tmp_path: Path) -> None:
    write_atlas(atlas(folder), tmp_path)
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "cases").iterdir()}
    said = {
        name
        for name, page in pages.items()
        if "complex critical points of a general quadratic loss" in page
    }
    assert said == {"d2-dout1-a1-t2", "d2-dout1-a2-t2", "d2-dout2-a1-t2", "d3-dout2-a2-t2"}


def test_a_page_says_what_is_false_as_printed(folder: Path, tmp_path: Path) -> None:
    """Theorem 3.4 (ii) and (iii) for d = 1 < d'; no other page of the folder says so."""
    write_atlas(atlas(folder), tmp_path)
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "cases").iterdir()}
    counts = {name: page.count("as printed the statement is false") for name, page in pages.items()}
    assert counts.pop("d1-dout2-a1-t2") == 2
    assert set(counts.values()) == {0}


def test_without_a_certificate_of_the_closure_there_is_a_reason(folder: Path) -> None:
    shown = entry_of(atlas(folder), "d3-dout2-a2-t2")
    assert [value.text for value in shown.values[:-2]] == ["13", "2376", *[""] * 7]
    assert [value.name for value in shown.values[-2:]] == ["polar degrees", "generic ED degree"]
    assert shown.values[-2].text.startswith("2376, ")
    assert shown.values[0].source == "d3-dout2-a2-t2-3.3.json"
    reasons = {value.name: value.reason for value in shown.values[2:-2]}
    up_to_a_degree = (
        "Hilbert polynomial",
        "Hilbert function",
        "generators of low degree",
        "representations",
    )
    not_asked = {reasons.pop(name) for name in up_to_a_degree}
    assert not_asked == {"there is no certificate of 'equations'"}
    assert set(reasons.values()) == {f"timed-out (limit 1 min 0 s): {NASTY}"}
    assert [(value.name, value.text) for value in shown.singular] == [
        ("singular orbits", "(1, 1, 0), (1, 1, 1), (1, 2, 0), (1, 2, 1)"),
        ("smooth orbits", "(2, 1, 0), (2, 1, 1), (2, 2, 1), (2, 2, 2)"),
        ("largest dimension of a singular orbit", "10"),
    ]
    assert shown.orbits is not None
    assert shown.orbits.rows[2] == ("(1, 2, 0)", "10", "≥ 14", "1", "1", "yes", "no", "no")
    assert shown.verdict == "REFUTED"


def test_an_undecided_orbit_may_be_singular_and_larger(folder: Path) -> None:
    certificate = read(folder / "d3-dout2-a2-t2-3.4.json")
    orbits = [dict(facts) for facts in certificate.evidence["orbits"]]
    orbits[-1]["singular"] = None
    changed = replace(certificate, evidence=certificate.evidence | {"orbits": orbits})
    texts = {value.name: value.text for value in singular_values({"file": changed})}
    assert texts["undecided orbits"] == "(2, 2, 2)"
    assert texts["largest dimension of a singular orbit"] == "at least 10"


def test_equations_up_to_a_degree_are_shown(folder: Path, tmp_path: Path) -> None:
    """Where they are all, they are the generators; what elimination found has to be the same."""
    found = atlas(folder)
    whole, part = entry_of(found, "d2-dout2-a1-t2"), entry_of(found, "d4-dout2-a2-t2")
    assert {
        name: whole.text(name)
        for name in ("Hilbert function", "generators", "generators of low degree")
    } == {
        "Hilbert function": "1, 12, 63, 224, 625, 1476, …",
        "generators": "15 quadrics, 5 quartics",
        "generators of low degree": "degree ≤ 5: 15 quadrics, 5 quartics",
    }
    assert whole.text("representations").endswith("degree 4: S_4 X ⊗ S_22 H ⊗ S_44 Y")
    shown = {value.name: (value.text, value.reason) for value in part.values}
    assert shown["degree"] == ("636480", "")
    assert shown["coordinates"] == ("80", "")
    assert shown["Hilbert series"] == shown["generators"] == ("", "not known beyond degree 3")
    assert shown["generators of low degree"] == ("degree ≤ 3: 210 quadrics, 3232 cubics", "")
    page = write_atlas(found, tmp_path).read_text(encoding="utf-8")
    assert (
        "<td>degree ≤ 3: 210 quadrics, 3232 cubics</td>"
        '<td><span class="dash" title="not known beyond degree 3">–</span></td>'
        "<td>1, 80, 3030, 69200, …</td>" in page
    )
    changed = read(folder / "d2-dout2-a1-t2-equations.json")
    counts = {"generators_up_to_degree": {"2": 15, "4": 6}}
    write(replace(changed, answer=changed.answer | counts).sealed(), folder)
    with pytest.raises(
        ContradictionError, match="do not agree about the generators: 15 quadrics, 5 quartics"
    ):
        atlas(folder)


def test_a_value_goes_with_its_certificate(folder: Path) -> None:
    (folder / "d2-dout1-a2-t2-closure.json").unlink()
    (folder / "d2-dout1-a2-t2-polar.json").unlink()
    (folder / "d2-dout1-a2-t2-polar-degrees.json").unlink()
    (folder / "d3-dout2-a1-t2-degree.json").unlink()
    names = {entry.case.name for entry in atlas(folder).entries}
    assert not names & {"d2-dout1-a2-t2", "d3-dout2-a1-t2"}


@pytest.mark.parametrize("name", ["dimension", "degree"])
def test_certificates_that_disagree_stop_the_atlas(name: str, folder: Path) -> None:
    changed = read(folder / "d2-dout1-a1-t2-degree.json")
    write(replace(changed, evidence=changed.evidence | {name: 17}).sealed(), folder)
    other = read(folder / "d2-dout1-a1-t2-3.2.json")
    write(replace(other, evidence=other.evidence | {name: 18}).sealed(), folder)
    with pytest.raises(
        ContradictionError, match=rf"the {name}: .*17 \(d2-dout1-a1-t2-degree.json\)"
    ):
        atlas(folder)


def test_certificates_that_disagree_about_an_orbit_stop_the_atlas(folder: Path) -> None:
    changed = read(folder / "d3-dout2-a2-t2-3.3.json")
    first, *others = changed.evidence["orbits"]
    orbits = [first | {"singular": False}, *others]
    write(replace(changed, evidence=changed.evidence | {"orbits": orbits}).sealed(), folder)
    with pytest.raises(ContradictionError, match=r"do not agree about orbit \[1, 1, 0\]"):
        atlas(folder)


def test_evidence_of_another_form_is_refused_in_one_line(folder: Path) -> None:
    changed = read(folder / "d2-dout1-a2-t2-closure.json")
    write(
        replace(changed, evidence=changed.evidence | {"tangent_dimensions": [7]}).sealed(), folder
    )
    with pytest.raises(CertificateError, match="d2-dout1-a2-t2 does not have the expected form"):
        atlas(folder)


@pytest.mark.parametrize(
    ("numerator", "dimension"), [((1,), 1), ((1, 1, 1, 1), 5), ((1, 6, 6, 6, 1), 6), ((3, -1), 2)]
)
def test_a_hilbert_polynomial_reads_back(numerator: tuple[int, ...], dimension: int) -> None:
    series = HilbertSeries(numerator, dimension)
    text = re.sub(
        r"(\d) C", r"\1*C", hilbert_polynomial_text(series.hilbert_coefficients).replace("−", "-")
    )
    for n in range(1, 20):
        assert sympify(text, locals={"C": binomial, "n": n}) == series.polynomial.subs("n", n)


class Links(HTMLParser):
    """What a page refers to, and its tags."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def reached(page: Path) -> Iterator[Path]:
    """All files that a page leads to, each of which has to be there."""
    seen, left = {page.resolve()}, [page.resolve()]
    while left:
        current = left.pop()
        yield current
        if current.suffix == ".html":
            for link in Links(current).found:
                if link.startswith("https://arxiv.org/abs/"):
                    continue
                assert not re.match(r"\w+:|/|#", link)
                target = (current.parent / unquote(link)).resolve()
                assert target.is_file(), f"{current.name}: {link}"
                left += [target] if target not in seen else []
                seen.add(target)


def test_every_page_and_certificate_is_reached(folder: Path, tmp_path: Path) -> None:
    index = write_atlas(atlas(folder), tmp_path)
    made = {
        path.resolve() for path in tmp_path.rglob("*.*") if not path.name.endswith(".outcome.json")
    }
    assert set(reached(index)) == made
    assert len(list(tmp_path.glob("cases/*.html"))) == len(atlas(folder).entries) == 12


def test_pages_have_no_scripts_and_escape_what_files_say(folder: Path, tmp_path: Path) -> None:
    write_atlas(atlas(folder), tmp_path)
    for page in tmp_path.rglob("*.html"):
        assert "script" not in Links(page).tags
    text = (tmp_path / "cases" / "d3-dout2-a2-t2.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in text
    assert "{{ 7 * 7 }}" in text


def test_other_families_have_pages_too(tmp_path: Path) -> None:
    for name in ("networks", "all-sizes", "deep", "convolutional"):
        shutil.copytree(SAMPLES / name, tmp_path / "certificates", dirs_exist_ok=True)
    found = atlas(tmp_path / "certificates")
    index = write_atlas(found, tmp_path)
    text = index.read_text(encoding="utf-8")
    for name in OWN_FAMILIES:
        if name != "attention":
            case = f"{name}.html" if name.endswith("all-sizes") else f"{name}-"
            assert f"cases/{case}" in text, name
            caption = "" if name.endswith("all-sizes") else f"<caption>{family(name).title}"
            assert caption in text, name
    values = {
        entry.case.name: (entry.text("dimension"), entry.text("degree")) for entry in found.entries
    }
    assert values["convolutional-network-3-2-r2"] == ("4", "12")
    assert values["deep-attention-3-3-a3-t2-h2"] == ("32", "")
    assert set(reached(index)) == {path.resolve() for path in tmp_path.rglob("*.*")}


def test_the_command_takes_a_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("atlas", tmp_path / "one", "--from", folder) == 0
    assert run("atlas", tmp_path, "--from", folder) == 0  # the certificates are where they belong
    assert capsys.readouterr().out.splitlines() == [
        f"12 cases: {tmp_path / 'one' / 'index.html'}",
        f"12 cases: {tmp_path / 'index.html'}",
    ]
    pages: list[Any] = [
        sorted(p.name for p in (tmp_path / f).rglob("*.html")) for f in ("one/cases", "cases")
    ]
    assert pages[0] == pages[1]
    assert {p.name: p.read_bytes() for p in (tmp_path / "one" / "certificates").iterdir()} == {
        p.name: p.read_bytes() for p in folder.iterdir()
    }


def test_the_command_refuses_what_contradicts_a_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Exception, match="--d-out has no effect with --from"):
        run("atlas", tmp_path / "one", "--from", folder, "--d-out", "2")
    (tmp_path / "empty").mkdir()
    with pytest.raises(Exception, match="no certificates in the folder"):
        run("atlas", tmp_path / "two", "--from", tmp_path / "empty")
    assert not (tmp_path / "two" / "index.html").exists()


def test_an_atlas_below_its_folder_is_not_copied_into_itself(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where one path is relative and the other absolute."""
    shutil.copytree(folder, tmp_path / "results")
    monkeypatch.chdir(tmp_path / "results")
    for _ in range(2):
        assert run("atlas", Path.cwd() / "pages", "--from", ".") == 0
    copies = list(Path("pages").rglob("*.json"))
    assert sorted(path.name for path in copies) == sorted(path.name for path in folder.iterdir())
