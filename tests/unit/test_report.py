"""Reports: every format, refuted first, nothing hidden, special characters kept as text."""

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from m2bridge import report
from m2bridge.certificate import files
from m2bridge.cli import commands, reporting
from m2bridge.cli.reporting import report_command
from m2bridge.report import escape

ACCEPTED = Path(__file__).parents[1] / "certificates" / "accepted"
MALFORMED = ACCEPTED.parent / "malformed"
NASTY = '<script>alert("&")</script> 50% of $x_1$ {\\input}, a|b #~^\n"quoted", new line'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The accepted certificates, one malformed file, and two outcomes: one nasty, one answered since then."""
    shutil.copytree(ACCEPTED, tmp_path / "results")
    results = tmp_path / "results"
    shutil.copy(MALFORMED / "half-a-file.json", results)
    case = {"d": 4, "d_out": 4, "a": 3, "t": 2}
    nasty = {"case": case, "questions": ["3.4", "closure"], "kind": "timeout", "reason": NASTY}
    (results / "d4-dout4-a3-t2.outcome.json").write_text(json.dumps(nasty), encoding="utf-8")
    answered = {"case": "d3-dout2-a2-t2", "question": "3.3", "kind": "died", "reason": "killed"}
    (results / "d3-dout2-a2-t2-3.3.outcome.json").write_text(json.dumps(answered), encoding="utf-8")
    return results


def test_refuted_statements_come_first_with_their_witness_in_words(folder: Path) -> None:
    rows = report.collect(folder).rows
    assert (rows[0].statement, rows[0].verdict) == ("3.4 (iii)", "REFUTED")
    assert rows[0].witness.startswith("at orbit (1, 2, 0): stated no, computed yes (A = [1 0 0; 0 0 0; 0 0 0], V = ")
    assert [row.verdict for row in rows].count("REFUTED") == 1


def test_outcomes_count_until_there_is_a_certificate(folder: Path) -> None:
    found = report.collect(folder)
    failed = [row for row in found.rows if row.verdict == "NO_ANSWER"]
    assert [(row.question, row.case.key) for row in failed] == [
        ("3.4", "d4-dout4-a3-t2"),
        ("closure", "d4-dout4-a3-t2"),
    ]
    assert failed[0].reason == f"timeout: {NASTY}"


@pytest.mark.parametrize("form", report.FORMATS)
def test_every_format_lists_the_malformed_file(form: str, folder: Path) -> None:
    found = report.collect(folder)
    assert [problem.file for problem in found.problems] == ["half-a-file.json"]
    assert "half-a-file.json" in report.FORMATS[form](found)


def test_a_changed_certificate_is_not_used(tmp_path: Path) -> None:
    whole = files.read(ACCEPTED / "d3-dout2-a2-t2-3.3.json")
    files.write(replace(whole, seconds=0.001), tmp_path)
    found = report.collect(tmp_path)
    assert not found.rows
    assert "was changed" in found.problems[0].reason


@pytest.mark.parametrize("answer", [{}, {"verdicts": [{}]}, {"verdicts": [7]}, {"verdicts": 7}])
def test_an_answer_of_another_form_is_listed(answer: dict[str, object], tmp_path: Path) -> None:
    whole = files.read(ACCEPTED / "d3-dout2-a2-t2-3.3.json")
    files.write(replace(whole, answer=answer).sealed(), tmp_path)
    found = report.collect(tmp_path)
    assert "expected form" in found.problems[0].reason


def test_evidence_of_another_form_shows_no_orbits(tmp_path: Path) -> None:
    whole = files.read(ACCEPTED / "d3-dout2-a2-t2-3.3.json")
    files.write(replace(whole, evidence={"orbits": 7}).sealed(), tmp_path)
    found = report.collect(tmp_path)
    assert len(found.rows) == 1
    assert "Orbits (" not in report.FORMATS["html"](found)


@pytest.mark.parametrize("text", ["[]", "{}", '{"case": {"d": "x"}}', "{", '{"case": "here"}'])
def test_an_outcome_without_a_case_is_listed(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.outcome.json").write_text(text, encoding="utf-8")
    assert [problem.file for problem in report.collect(tmp_path).problems] == ["x.outcome.json"]


def test_the_paragraph_says_what_a_paper_needs(folder: Path) -> None:
    text = report.paragraph(report.collect(folder))
    for part in ("9 cases (1 ≤ d ≤ 4, 1 ≤ d' ≤ 4, 1 ≤ a ≤ 3, 1 ≤ t ≤ 3)", "1 refuted", "2 without an answer"):
        assert part in text
    for part in ("macaulay2 1.", "Taken on trust: ", "Bruns, Vetter", "1 file could not be used"):
        assert part in text


def test_seconds_of_one_observation_count_once() -> None:
    data = json.loads(report.FORMATS["json"](report.collect(ACCEPTED)))
    seconds = {(row["case"]["d"], row["case"]["d_out"], row["question"], row["seconds"]) for row in data["rows"]}
    assert 0 < data["summary"]["seconds"] < sum(item[-1] for item in seconds)


def test_csv_reads_back(folder: Path) -> None:
    found = report.collect(folder)
    lines = list(csv.DictReader(io.StringIO(report.FORMATS["csv"](found), newline="")))
    assert len(lines) == len(found.rows) + 1
    assert [line["reason"] for line in lines[:-1]] == [row.reason for row in found.rows]
    assert lines[-1]["verdict"] == "MALFORMED"


def test_the_page_is_one_file_with_every_text_escaped(folder: Path) -> None:
    page = report.FORMATS["html"](report.collect(folder))
    assert "&lt;script&gt;alert(&#34;&amp;&#34;)" in page
    assert page.count("<script") == page.count("</script>") == 1
    assert not re.search(r"(src|href)=[\"'](?!#)|@import|url\(", page)
    assert 'id="d3-dout2-a2-t2"' in page
    assert "-- Fibres of the parametrization at one point of each orbit: (d, d&#39;, a) = (3, 2, 2), t = 2." in page


def test_latex_and_markdown_keep_text_as_text(folder: Path) -> None:
    assert escape.latex("50% {a_1} \\x ≥ α") == (
        r"50\% \{a\_1\} \textbackslash{}x \ensuremath{\geq} \ensuremath{\alpha}"
    )
    found = report.collect(folder)
    rows = [line for line in report.FORMATS["latex"](found).splitlines() if line.endswith(r"\\")]
    assert all(len(re.findall(r"(?<!\\)&", line)) == 6 for line in rows)
    table = [line for line in report.FORMATS["markdown"](found).splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 10 for line in table)
    assert len(table) == len(found.rows) + 2


def test_the_command_writes_every_format(tmp_path: Path) -> None:
    assert tuple(report.FORMATS) == reporting.FORMATS
    for form in report.FORMATS:
        out = tmp_path / form
        result = CliRunner().invoke(report_command, [str(ACCEPTED), "--format", form, "--out", str(out)])
        assert result.exit_code == 0
        assert out.read_text(encoding="utf-8") == report.FORMATS[form](report.collect(ACCEPTED))


@pytest.mark.parametrize("name", ["", "missing"])
def test_a_missing_or_empty_folder_is_wrong_usage(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["m2bridge", "report", str(tmp_path / name)])
    assert commands.run() == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
