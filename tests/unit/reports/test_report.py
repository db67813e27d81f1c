"""Reports of certificates, and their grids."""

import csv
import errno
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from base64 import b64decode
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from m2bridge import reports as report
from m2bridge.batch.store import OutcomeKind, Store, Unanswered
from m2bridge.certificates import form as files
from m2bridge.cli import commands, show as showing
from m2bridge.cli.show import report_command
from m2bridge.engine.script import cited
from m2bridge.reports import Report, VerdictRow
from m2bridge.reports.content import Detail, case_of
from m2bridge.results import markup as escape
from tests.certificates.__main__ import by_release, with_foreign_program
from tests.events import SMALL_FILES

# Reports: every format, refuted first, nothing hidden, special characters kept as text.

ACCEPTED = Path(__file__).parents[2] / "certificates" / "accepted"
NETWORKS = ACCEPTED.parent / "networks"
MALFORMED = ACCEPTED.parent / "malformed"
NASTY = '<script>alert("&")</script> 50% of $x_1$ {\\input}, a|b #~^\n"quoted", new line'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The accepted certificates, one malformed file, and two outcomes: one nasty, one answered
    since then.
    """
    shutil.copytree(ACCEPTED, tmp_path / "results")
    results = tmp_path / "results"
    shutil.copy(MALFORMED / "half-a-file.json", results)
    Store(results).put_outcome(outcome((4, 4, 3), "3.4", "timed-out", NASTY))
    answered = outcome((3, 2, 2), "3.3", "died", "killed")
    (results / "d3-dout2-a2-t2-3.3.outcome.json").write_text(answered.to_text(), encoding="utf-8")
    return results


def outcome(
    numbers: tuple[int, int, int], question: str, kind: OutcomeKind, reason: str
) -> Unanswered:
    case = dict(zip(("d", "d_out", "a", "t"), (*numbers, 2), strict=True))
    name = "d{}-dout{}-a{}-t2".format(*numbers)
    return Unanswered(
        family="attention",
        case=case,
        name=name,
        question=question,
        kind=kind,
        reason=reason,
        details="",
        timeout=60.0,
        memory=2**30,
        versions={"m2bridge": "0.1.0"},
    )


def unpacked(page: str, name: str) -> Any:
    """The data that a page holds under a name."""
    packed = re.search(rf'id="{name}"[^>]*>([^<]*)<', page)
    assert packed
    return json.loads(zlib.decompress(b64decode(packed[1])))


def test_refuted_statements_come_first_with_their_witness_in_words(folder: Path) -> None:
    rows = report.collect(folder).rows
    assert (rows[0].statement, rows[0].verdict) == ("3.4 (iii)", "REFUTED")
    assert rows[0].witness.startswith(
        "at orbit (1, 2, 0): singular, though the statement says smooth (A = (1 0 0; 0 0 0; 0 0 0), V = "
    )
    assert [row.statement for row in rows if row.verdict == "REFUTED"] == ["3.4 (iii)", "A.4"]


def test_outcomes_count_until_there_is_a_certificate(folder: Path) -> None:
    found = report.collect(folder)
    failed = [row for row in found.rows if row.verdict == "NO_ANSWER"]
    assert [row.statement for row in failed] == ["3.4 (i)", "3.4 (ii)", "3.4 (iii)"]
    assert {row.case.name for row in failed} == {"d4-dout4-a3-t2"}
    assert {row.reason for row in failed} == {f"timed-out (limit 1 min 0 s): {NASTY}"}


REASONED = [form for form in report.FORMATS if form != "latex-grid"]
"""A grid has signs only."""


@pytest.mark.parametrize("form", REASONED)
def test_every_format_tells_why_there_is_no_answer(form: str, tmp_path: Path) -> None:
    Store(tmp_path).put_outcome(outcome((4, 4, 3), "closure", "out-of-memory", "killed"))
    text = report.FORMATS[form](report.collect(tmp_path))
    if form == "html":
        text = " ".join(unpacked(text, "table")["texts"])
    reason = "out-of-memory (limit 1 GiB): killed"
    assert (escape.latex(reason) if form == "latex" else reason) in text


@pytest.mark.parametrize("form", [form for form in report.FORMATS if form != "csv"])
def test_every_format_with_sentences_says_that_nothing_was_verified(form: str) -> None:
    text = report.FORMATS[form](report.collect(ACCEPTED))
    assert "read, not verified" in " ".join(text.split())


@pytest.mark.parametrize("form", report.FORMATS)
def test_every_format_says_what_is_false_as_printed(form: str, tmp_path: Path) -> None:
    """Parts (ii) and (iii) of Theorem 3.4 for d = 1; their verdict is NOT_APPLICABLE all the same.
    The rows say so in their reasons, and the paragraph in numbers, also above a grid of signs.
    """
    shutil.copy(ACCEPTED / "d1-dout2-a1-t2-3.4.json", tmp_path)
    found = report.collect(tmp_path)
    assert [(row.statement, row.verdict, row.as_printed) for row in found.rows] == [
        ("3.4 (i)", "CONFIRMED", True),
        ("3.4 (ii)", "NOT_APPLICABLE", False),
        ("3.4 (iii)", "NOT_APPLICABLE", False),
    ]
    text = report.FORMATS[form](found)
    if form != "csv":
        assert "2 not applicable (2 of them false as printed)" in " ".join(text.split())
    if form == "html":
        text = " ".join(unpacked(text, "table")["texts"])
    if form != "latex-grid":
        assert "as printed the statement is false" in text
    if form == "json":
        rows = json.loads(text)["rows"]
        assert [row["as_printed"] for row in rows] == [True, False, False]
    if form == "csv":
        printed = [row["as_printed"] for row in csv.DictReader(io.StringIO(text))]
        assert printed == ["yes", "no", "no"]


def test_what_is_confirmed_for_all_sizes_may_be_false_as_printed(tmp_path: Path) -> None:
    """Theorem 3.4 (ii), with the hypothesis d ≥ 2 that m2bridge adds; (iii) is refuted anyway."""
    shutil.copy(ACCEPTED.parent / "all-sizes" / "attention-all-sizes-3.4.json", tmp_path)
    found = report.collect(tmp_path)
    assert found.answer.startswith("Verdicts: 1 refuted, 2 confirmed (1 of them false as printed).")


def test_what_was_not_checked_says_nothing_as_printed(tmp_path: Path) -> None:
    """The answer may rest on another program, so it is not taken as it is."""
    shutil.copy(ACCEPTED / "d1-dout2-a1-t2-3.4.json", tmp_path)
    certificate = files.read(tmp_path / "d1-dout2-a1-t2-3.4.json")
    foreign = with_foreign_program(certificate)
    files.write(foreign, tmp_path)
    rows = report.collect(tmp_path).rows
    assert {(row.verdict, row.as_printed) for row in rows} == {("PROGRAM_NOT_CHECKED", None)}


@pytest.mark.parametrize("form", report.FORMATS)
def test_every_format_lists_the_malformed_file(form: str, folder: Path) -> None:
    found = report.collect(folder)
    assert [problem.file for problem in found.problems] == ["half-a-file.json"]
    assert "half-a-file.json" in report.FORMATS[form](found)


def test_a_changed_certificate_is_not_used(tmp_path: Path) -> None:
    whole = files.read(ACCEPTED / "d3-dout2-a2-t2-3.3.json")
    files.write(replace(whole, reported=whole.reported | {"seconds": 0.001}), tmp_path)
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
    assert found.details[0].orbits is None


@pytest.mark.parametrize(
    "change", [{"case": {"d": 1}}, {"case": "here"}, {"case": None}, {"question": "9.9"}, {"question": ["3.4"]},
               {"versions": 1}, {"reason": "\ud800"}, {"remark": ""}]
)  # fmt: skip
def test_an_outcome_of_another_form_is_listed(change: dict[str, object], tmp_path: Path) -> None:
    whole = asdict(outcome((2, 2, 2), "3.3", "died", "killed"))
    name = "d2-dout2-a2-t2-3.3.outcome.json"
    (tmp_path / name).write_text(json.dumps(whole | change), encoding="utf-8")
    assert [problem.file for problem in report.collect(tmp_path).problems] == [name]


def test_files_under_names_of_others_are_listed_and_not_counted(folder: Path) -> None:
    before = report.collect(folder)
    for name, other in [
        ("d3-dout2-a2-t2-3.4.json", "d2-dout2-a2-t2-3.4.json"),
        ("d3-dout2-a2-t2-3.4.json", "d3-dout2-a2-t2-3.4 (copy).json"),
        ("d4-dout4-a3-t2-3.4.outcome.json", "d4-dout4-a4-t2-3.4.outcome.json"),
    ]:
        shutil.copy(folder / name, folder / other)
    found = report.collect(folder)
    assert (found.rows, found.details) == (before.rows, before.details)
    said = {problem.file: problem.reason for problem in found.problems}
    assert said["d2-dout2-a2-t2-3.4.json"] == "the content belongs to d3-dout2-a2-t2-3.4.json"
    assert (
        said["d3-dout2-a2-t2-3.4 (copy).json"] == "the content belongs to d3-dout2-a2-t2-3.4.json"
    )
    assert (
        said["d4-dout4-a4-t2-3.4.outcome.json"]
        == "the content belongs to d4-dout4-a3-t2-3.4.outcome.json"
    )


def test_a_case_and_question_counts_once(folder: Path) -> None:
    before = report.collect(folder)
    shutil.copytree(folder, folder / "x" / "copy")
    found = report.collect(folder)
    assert (found.rows, len(found.details)) == (before.rows, len(before.details))
    assert found.counts == before.counts
    said = {problem.file: problem.reason for problem in found.problems}
    assert (
        said["x/copy/d3-dout2-a2-t2-3.4.json"]
        == "the same case and question as d3-dout2-a2-t2-3.4.json"
    )
    assert "x/copy/d4-dout4-a3-t2-3.4.outcome.json" in said


def test_what_is_not_a_file_is_listed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    os.mkfifo(tmp_path / "a.outcome.json")
    (tmp_path / "b.json").mkdir()
    assert {problem.reason for problem in report.collect(tmp_path).problems} == {"not a file"}


def test_what_is_written_commands_neither_terminals_nor_spreadsheets(tmp_path: Path) -> None:
    nasty = replace(
        outcome((2, 2, 2), "3.3", "died", "x\x1b[2J\x9b2J\u202e"),
        versions={"@SUM(A1)": "=cmd|calc"},
    )
    (tmp_path / "d2-dout2-a2-t2-3.3.outcome.json").write_text(nasty.to_text(), encoding="utf-8")
    (tmp_path / "=1+1\x1b.json").write_text("", encoding="utf-8")
    found = report.collect(tmp_path)
    for form in ("text", "markdown", "csv", "latex"):
        assert not {"\x1b", "\x9b", "\u202e"} & set(report.FORMATS[form](found)), form
    header, *lines = csv.reader(io.StringIO(report.FORMATS["csv"](found)))
    assert "reported_@SUM(A1)" in header
    assert "'=cmd|calc" in lines[0]
    assert not [
        cell for line in (header, *lines) for cell in line if cell.startswith(("=", "+", "-", "@"))
    ]


@pytest.mark.parametrize("text", ["[]", "{}", "{", "", "7"])
@pytest.mark.parametrize("name", ["x.outcome.json", "x.json"])
def test_any_other_json_is_listed(text: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert [problem.file for problem in report.collect(tmp_path).problems] == [name]


def test_the_paragraph_says_what_a_paper_needs(folder: Path) -> None:
    text = report.collect(folder).paragraph
    for part in (
        "13 cases (1 ≤ d ≤ 4, 1 ≤ d' ≤ 4, 1 ≤ a ≤ 3, 1 ≤ t ≤ 3)",
        "2 refuted",
        "3 without an answer",
    ):
        assert part in text
    for part in (
        "macaulay2 1.",
        "Taken on trust: ",
        "Harris, Algebraic Geometry",
        "1 file could not be used",
    ):
        assert part in text


def test_seconds_of_one_observation_count_once() -> None:
    data = json.loads(report.FORMATS["json"](report.collect(ACCEPTED)))
    seconds = {
        (row["case"]["d"], row["case"]["d_out"], row["question"], row["reported"]["seconds"])
        for row in data["rows"]
    }
    assert 0 < data["summary"]["reported"]["seconds"] < sum(item[-1] for item in seconds)


@pytest.mark.parametrize("form", report.FORMATS)
def test_every_format_keeps_apart_what_is_reported(form: str) -> None:
    text = report.FORMATS[form](report.collect(ACCEPTED))
    if form == "csv":
        header = next(csv.reader(io.StringIO(text)))
        assert [name for name in header if name.startswith("reported_")][:3] == [
            "reported_seconds", "reported_peak_memory", "reported_m2bridge"
        ]  # fmt: skip
    elif form == "json":
        summary = json.loads(text)["summary"]
        assert summary["reported"].keys() == {"seconds", "peak_memory", "versions"}
        assert not {"seconds", "versions", "peak_memory"} & summary.keys()
    else:
        assert "Reported and not checked: total computing time" in " ".join(text.split())


FOREIGN = ACCEPTED.parent / "program-not-checked" / "d2-dout1-a1-t2-degree.json"


@pytest.mark.parametrize("form", REASONED)
def test_every_format_says_that_a_program_was_not_checked(form: str, tmp_path: Path) -> None:
    shutil.copytree(ACCEPTED, tmp_path, dirs_exist_ok=True)
    before = report.collect(tmp_path)
    shutil.copy(FOREIGN, tmp_path)
    found = report.collect(tmp_path)
    assert found.counts == before.counts | {
        "CONFIRMED": before.counts["CONFIRMED"] - 1,
        "PROGRAM_NOT_CHECKED": 1,
    }
    text = " ".join(report.FORMATS[form](found).split()).replace("\\_", "_").replace("{-}", "-")
    assert "confirmed: degree: computed 3, stated 3" in (
        " ".join(unpacked(text, "table")["texts"]) if form == "html" else text
    )
    assert re.search("PROGRAM_NOT_CHECKED|program not checked", text)
    if form != "csv":
        assert "1 with a program of another release that was not checked" in text


def test_a_refuted_statement_with_a_foreign_program_stays_refuted(tmp_path: Path) -> None:
    theorem = files.read(ACCEPTED / "d3-dout2-a2-t2-3.4.json")
    files.write(with_foreign_program(theorem), tmp_path)
    rows = report.collect(tmp_path).rows
    assert [row.verdict for row in rows] == [
        "REFUTED",
        "PROGRAM_NOT_CHECKED",
        "PROGRAM_NOT_CHECKED",
    ]
    assert rows[0].reason.endswith("program not checked")
    files.write(by_release(theorem, "0.0.9"), tmp_path)
    assert {row.verdict for row in report.collect(tmp_path).rows} == {"REFUTED", "CONFIRMED"}, (
        "the same program"
    )


def test_csv_reads_back(folder: Path) -> None:
    found = report.collect(folder)
    lines = list(csv.DictReader(io.StringIO(report.FORMATS["csv"](found), newline="")))
    assert len(lines) == len(found.rows) + 1
    assert [line["reason"] for line in lines[:-1]] == [row.reason for row in found.rows]
    assert lines[-1]["verdict"] == "MALFORMED"
    assert (lines[-1]["reason"], lines[-1]["file"]) == (
        found.problems[0].reason,
        found.problems[0].file,
    )


def test_the_page_is_one_file_with_every_text_escaped(folder: Path) -> None:
    (folder / "<b>.json").write_text("{}", encoding="utf-8")
    page = report.FORMATS["html"](report.collect(folder))
    assert "<td>&lt;b&gt;.json</td>" in page
    assert page.count("<script") == page.count("</script>") == 3
    assert not re.search(r"src=|@import|url\(", page)
    assert set(re.findall(r'href="([^"]*)"', page)) == {PAPER}
    assert f"timed-out (limit 1 min 0 s): {NASTY}" in unpacked(page, "table")["texts"]


def test_the_page_holds_each_case_with_orbits_and_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m2bridge.reports.forms.CASES_PER_HTML_PART", 3)
    page = report.FORMATS["html"](report.collect(ACCEPTED))
    title = "neuromanifold of lightning self-attention, (d, d', a) = (3, 2, 2), t = 2"
    where = unpacked(page, "table")["cases"].index(["d3-dout2-a2-t2", title, [3, 2, 2, 2]])
    sheet = unpacked(page, f"part-{where // 3}")[where % 3]
    (questions, script), *others = sheet["scripts"]
    assert (questions, others) == (["3.3", "3.4", "A.4", "degree", "polar"], [])
    assert script.startswith(
        "-- Fibres of the parametrization at one point of each orbit: (d, d', a) = (3, 2, 2), t"
        " = 2."
    )
    assert [line[0] for _, _, lines in sheet["orbits"] for line in lines][:2] == [
        "(1, 1, 0)",
        "(1, 1, 1)",
    ]
    assert [name for name, *_ in sheet["verdicts"] if name.startswith("3.4 (iii)")] == [
        "3.4 (iii), A.4"
    ]


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Certificates about two families."""
    for path in [*NETWORKS.iterdir(), ACCEPTED / "d3-dout2-a2-t2-3.4.json"]:
        shutil.copy(path, tmp_path)
    return tmp_path


def test_networks_have_their_own_columns() -> None:
    found = report.collect(NETWORKS)
    assert (found.rows[0].verdict, found.rows[0].case.cells) == ("REFUTED", ("3,2,1", 2))
    assert found.rows[0].reason == "dimension: computed 5, stated 6"
    rows = list(csv.DictReader(io.StringIO(report.FORMATS["csv"](found))))
    assert {(row["widths"], row["degree"]) for row in rows} == {
        ("2,2,1", "2"),
        ("2,2,2", "2"),
        ("3,2,1", "2"),
        ("3,4,6,6,1", "2"),
    }
    assert "Verdicts on polynomial neural networks" in report.FORMATS["html"](found)
    assert "equal widths" in report.FORMATS["text"](found)


@pytest.mark.parametrize("form", REASONED)
def test_families_may_be_mixed(form: str, mixed: Path) -> None:
    found = report.collect(mixed)
    assert {row.case.family for row in found.rows} == {"attention", "polynomial-network"}
    text = report.FORMATS[form](found)
    if form == "html":
        assert "polynomial neural networks and single-layer lightning self-attention" in text
        text = json.dumps(unpacked(text, "table"), ensure_ascii=False)
    for name in ("d3-dout2-a2-t2", "polynomial-network-3-2-1-r2"):
        assert (name.replace("-", r"{-}\allowbreak{}") if form == "latex" else name) in text


def test_latex_and_markdown_keep_text_as_text(folder: Path) -> None:
    assert escape.latex("50% {a_1} \\x ≥ α") == r"50\% $\{a_{1}\}$ \textbackslash{}$x \ge \alpha$"
    assert (
        escape.latex("--m2 Gröbner 日 \x07") == r"{-}{-}m2 Gröbner \texttt{U+65E5} \texttt{U+0007}"
    )
    found = report.collect(folder)
    body = report.FORMATS["latex"](found).partition("\\hline")[2]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(rows) == len(found.lines) + 1
    assert all(len(re.findall(r"(?<!\\)&", line)) == 6 for line in rows)
    table = [
        line for line in report.FORMATS["markdown"](found).splitlines() if line.startswith("|")
    ]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 10 for line in table)
    assert len(table) == len(found.lines) + 2


@pytest.mark.slow
def test_the_command_writes_every_format(tmp_path: Path) -> None:
    assert tuple(report.FORMATS) == showing.REPORT_FORMATS
    for form in report.FORMATS:
        out = tmp_path / form
        result = CliRunner().invoke(
            report_command, [str(ACCEPTED), "--format", form, "--out", str(out)]
        )
        assert (result.exit_code, result.output) == (0, f"Written: {out}\n")
        assert out.read_text(encoding="utf-8") == report.FORMATS[form](report.collect(ACCEPTED))


@pytest.mark.slow
def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    """A shell's limit on the size of files stands for a full disk."""
    (old := tmp_path / "report.html").write_text("the old one", encoding="utf-8")
    main = [sys.executable, "-c", "from m2bridge.cli.main import main; main()"]
    command = [*main, "report", str(ACCEPTED), "--format", "html", "--out", str(old)]
    line = f'{SMALL_FILES.format(1)}; exec "$@"'
    found = subprocess.run(["sh", "-c", line, "sh", *command], capture_output=True, check=False)
    assert found.returncode == 5
    assert (
        found.stderr.decode() == f"Error: '{old}' cannot be written: {os.strerror(errno.EFBIG)}\n"
    )
    assert os.listdir(tmp_path) == ["report.html"]
    assert old.read_text(encoding="utf-8") == "the old one"


def test_a_report_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    """With the permissions of the old one, through a link; devices are written to."""
    (old := tmp_path / "report").write_text("the old one", encoding="utf-8")
    old.chmod(0o600)
    (link := tmp_path / "link").symlink_to(old)
    for out in (link, Path(os.devnull)):
        assert CliRunner().invoke(report_command, [str(ACCEPTED), "--out", str(out)]).exit_code == 0
    assert link.is_symlink()
    assert old.read_text(encoding="utf-8") == report.FORMATS["text"](report.collect(ACCEPTED))
    assert old.stat().st_mode & 0o777 == 0o600
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("name", ["", "missing"])
def test_a_missing_or_empty_folder_is_wrong_usage(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["m2bridge", "report", str(tmp_path / name)])
    assert commands.run() == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_pages_link_to_what_they_cite(folder: Path) -> None:
    pages = [report.to_html(report.collect(folder), address) for address in ("", "../site/")]
    paper = '<a href="https://arxiv.org/abs/2408.17221v2">arXiv:2408.17221v2</a>'
    assert all(page.count(paper) == 1 and "arXiv 2408.17221" not in page for page in pages)
    assert all('<div class="small">Theorem 3.4 (iii)</div>' in page for page in pages)
    lemma = "orbits are classified by (rk A, rk V, dim of the intersection) ({})"
    assert lemma.format("docs/mathematics.md#proposition-orbits") in pages[0]
    link = '<a href="../site/mathematics.html#proposition-orbits">docs/mathematics.md#proposition-orbits</a>'
    assert lemma.format(link) in pages[1]


PAPER = "https://arxiv.org/abs/2408.17221v2"
LINKS = {
    "markdown": "[{}]({})",
    "latex": r"\href{{{1}}}{{{0}}}",
    "latex-grid": r"\href{{{1}}}{{{0}}}",
    "html": '<a href="{1}">{0}</a>',
}


@pytest.mark.parametrize("form", LINKS)
def test_every_form_with_links_links_to_the_paper_and_to_the_documentation(
    form: str, folder: Path
) -> None:
    assert set(LINKS) == set(report.LINKED) == set(showing.LINKED_FORMATS)
    assert LINKS[form].format("arXiv:2408.17221v2", PAPER) in report.FORMATS[form](
        report.collect(folder)
    )
    hash_sign = r"\#" if form.startswith("latex") else "#"
    link = f"../site/mathematics.html{hash_sign}theorem-smooth"
    out = folder / "report"
    words = [str(folder), "--format", form, "--out", str(out)]
    for docs in ((), ("--docs", "../site/")):
        CliRunner().invoke(showing.report_command, [*words, *docs], standalone_mode=False)
        assert (link in out.read_text(encoding="utf-8")) is (bool(docs) and form != "latex-grid")


def test_what_is_trusted_stands_after_the_table_and_not_beside_the_grids(folder: Path) -> None:
    found = report.collect(folder)
    assert "Taken on trust" not in report.FORMATS["latex-grid"](found)
    table, _, after = report.FORMATS["latex"](found).partition(r"\end{longtable}")
    assert r"\caption{Verdicts}" in table
    assert "Harris, Algebraic Geometry" in after


def test_a_table_of_names_has_the_width_of_the_line_and_short_names_stand_on_one() -> None:
    whole = report.collect(Path(__file__).parents[2] / "certificates" / "deep")
    columns = re.search(r"\\begin\{longtable\}.*", report.FORMATS["latex"](whole))[0]
    shares = [float(share) for share in re.findall(r"\\dimexpr([\d.]+)\\linewidth", columns)]
    assert len(shares) == 4
    assert sum(shares) == pytest.approx(1, abs=0.002)
    assert shares[0] > 0.3


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_reports_say_what_the_statements_say(form: str, folder: Path) -> None:
    text = report.FORMATS[form](report.collect(folder))
    assert "the singular points of the neuromanifold are the functions with" in text
    assert "(Theorem 3.4 (iii))" in text
    assert text.count("arXiv") == 1, "the paper is cited once"


def test_odd_addresses_stay_addresses(folder: Path) -> None:
    """With signs that end a link or a line, or begin an argument."""
    odd = "a b/50%)]}{\\#<x"
    found = report.collect(folder)
    assert "](a%20b/50%%29%5D%7D%7B%5C#%3Cx/mathematics.html)" in report.LINKED["markdown"](
        found, odd
    )
    assert r"\href{a\%20b/50\%\%29\%5D\%7D\%7B\%5C\#\%3Cx/mathematics.html}" in report.LINKED[
        "latex"
    ](found, odd)


def test_a_citation_is_no_markup() -> None:
    assert (
        cited("<b> arXiv 2408.17221 & docs/x.md", '"><script>')
        == '&lt;b&gt; <a href="https://arxiv.org/abs/2408.17221">arXiv 2408.17221</a> &amp; '
        '<a href="%22%3E%3Cscript%3E/x.html">docs/x.md</a>'
    )
    assert cited("arXiv 1 and ../docs/../x.md") == "arXiv 1 and ../docs/../x.md"


# The table to publish: one grid of signs for each statement.


def row(d: int, d_out: int, a: int, statement: str, verdict: str) -> VerdictRow:
    case = case_of("attention", {"d": d, "d_out": d_out, "a": a, "t": 2})
    reported = {"versions": {}, "seconds": None, "peak_memory": None}
    return VerdictRow(
        case=case,
        question=statement,
        statement=statement,
        text="",
        verdict=verdict,
        reason="",
        witness="",
        reported=reported,
        file="file",
    )


def test_the_largest_memory_and_each_observation_once_are_reported() -> None:
    """Two statements rest on one observation of 2 s; a third has one of its own."""
    first, second = (row(d, 2, 1, "A.4", "CONFIRMED").case for d in (3, 4))
    details = []
    for case, observation, seconds, memory in (
        (first, "orbits", 2.0, 300),
        (first, "orbits", 2.0, 300),
        (first, "closure", 2.0, None),
        (second, "orbits", 1.5, 200),
    ):
        reported = {"versions": {}, "seconds": seconds, "peak_memory": memory}
        detail = Detail(
            case=case,
            question="A.4",
            observation=observation,
            orbits=None,
            script="",
            trusted=(),
            reported=reported,
        )
        details.append(detail)
    summary = Report((), tuple(details), ()).summary["reported"]
    assert summary == {"seconds": 5.5, "peak_memory": 300, "versions": {}}


ROWS = (
    row(3, 2, 3, "A.4", "CONFIRMED"),
    row(3, 2, 2, "A.4", "REFUTED"),
    row(3, 2, 1, "A.4", "NOT_APPLICABLE"),
    row(1, 2, 1, "A.4", "CONFIRMED"),
    row(3, 10, 1, "A.4", "UNDECIDED"),
    row(3, 10, 2, "A.4", "UNDECIDED"),
    row(3, 2, 1, "3.3", "CONFIRMED"),
    row(3, 2, 2, "3.3", "CONFIRMED"),
)


def grids(text: str) -> dict[str, list[list[str]]]:
    """Rows of signs by statement, the header first."""
    found = re.findall(r"l@\{\}\}\{(.*?)\} \\\\\n(.*?)\\end\{tabular\}", text, re.DOTALL)
    lines = {name: body.replace(r"\hline", "").split(r"\\")[:-1] for name, body in found}
    return {
        name: [[cell.strip() for cell in line.split("&")] for line in rows]
        for name, rows in lines.items()
    }


def test_signs_stand_where_their_case_is() -> None:
    """In increasing order of a, once where all are the same; a dot where a statement was not asked
    of a case.
    """
    found = grids(report.FORMATS["latex-grid"](Report(ROWS, (), ())))
    assert list(found) == ["3.3", "A.4"]
    assert found["A.4"][0][1:] == ["2", "10"]
    assert found["A.4"][1:] == [["1", r"$\checkmark$", ""], ["3", r"$-$$\times$$\checkmark$", "?"]]
    assert found["3.3"][1:] == [["3", r"$\checkmark$$\checkmark$$\cdot$"]]


def test_the_legend_says_what_signs_mean_and_whose_statements_they_are() -> None:
    text = report.FORMATS["latex-grid"](Report(ROWS, (), ()))
    assert r"$\times$ refuted, ? undecided, $\checkmark$ confirmed, $-$ not applicable." in text
    for form in ("latex-grid", "latex", "markdown", "text", "html"):
        said = report.FORMATS[form](Report(ROWS, (), ())).replace("\n", " ").replace("{-}", "-")
        assert "Geometry of Lightning Self-Attention: Identifiability and Dimension" in said
        assert "arXiv:2408.17221v2" in said
        assert "cited as, m2bridge" in said


def test_families_have_grids_of_their_own() -> None:
    """Where a list of widths names a case, its name stands in the first column."""
    network = case_of("polynomial-network", {"widths": [3, 2, 1], "degree": 2})
    other = VerdictRow(
        case=network,
        question="E",
        statement="E",
        text="",
        verdict="REFUTED",
        reason="",
        witness="",
        reported=ROWS[0].reported,
        file="file",
    )
    found = grids(report.FORMATS["latex-grid"](Report((*ROWS, other), (), ())))
    assert found["A.4"][1:] == [["1", r"$\checkmark$", ""], ["3", r"$-$$\times$$\checkmark$", "?"]]
    assert found["E"][1][1:] == [r"$\times$"]
