"""What was asked and left out of a folder is seen: the plans of batches."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from m2bridge import SingleLayerAttention as Case
from m2bridge.batch import plan_file
from m2bridge.batch.plan_file import compare_with_plans, plan_name, plan_text, read_plan, write_plan
from m2bridge.batch.store import Store, tasks
from m2bridge.certificates.form import digest
from m2bridge.checker.verify import VerifyResult
from m2bridge.cli import commands
from m2bridge.errors import BatchError, CertificateError, ConversionError
from m2bridge.reports.atlas import atlas
from m2bridge.reports.read import collect

SAMPLES = Path(__file__).parents[2] / "certificates" / "accepted"
REFUTED = "d3-dout2-a2-t2-3.4.json"
CONFIRMED = "d1-dout2-a1-t2-3.4.json"
ASKED = tasks([Case(1, 2), Case(3, 2, 2)], "3.4")

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a batch about two cases, of which one statement is refuted."""
    for name in (REFUTED, CONFIRMED):
        shutil.copy(SAMPLES / name, tmp_path)
    write_plan(ASKED, Store(tmp_path))
    return tmp_path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; what it printed follows the exit code."""

    # what is in the certificates is checked in tests/unit/certification
    monkeypatch.setattr(
        "m2bridge.batch.verifying.verify_files",
        lambda files, *_: [VerifyResult("accepted", str(path)) for path in files],
    )

    def perform(*words: object) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["m2bridge", *map(str, words)])
        code = commands.run()
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return perform


def test_a_complete_folder_is_said_to_be_complete(folder: Path, run: Run) -> None:
    code, said = run("verify", folder)
    assert code == 0
    assert said.endswith(
        "2 certificates: 2 accepted\n  Nothing is missing of 2 questions in 1 plan\n"
    )
    assert json.loads(run("verify", folder, "--json")[1])["plan"] == {
        "plans": 1,
        "questions": 2,
        "missing": [],
        "not_in_a_plan": 0,
        "unusable": {},
    }


def test_a_certificate_that_was_deleted_is_missed(folder: Path, run: Run, tmp_path: Path) -> None:
    """It is the certificate that refutes."""
    (folder / REFUTED).unlink()
    code, said = run("verify", folder)
    assert (code, f"1 of 2 questions in 1 plan: {REFUTED}" in said) == (3, True)
    assert json.loads(run("verify", folder, "--json")[1])["plan"]["missing"] == [REFUTED]
    assert run("verify", *folder.iterdir())[0] == 3  # as of verify results/*

    code, said = run("report", folder, "--format", "json")
    report = json.loads(said)
    assert (code, report["summary"]["plan"]["missing"]) == (0, [REFUTED])
    lost = [row for row in report["rows"] if row["name"] == "d3-dout2-a2-t2"]
    assert [row["statement"] for row in lost] == ["3.4 (i)", "3.4 (ii)", "3.4 (iii)"]
    assert {row["verdict"] for row in lost} == {"NO_ANSWER"}
    assert f"1 of 2 questions in 1 plan: {REFUTED}" in " ".join(run("report", folder)[1].split())

    code, said = run("atlas", "--from", folder, tmp_path / "atlas")
    page = (tmp_path / "atlas" / "index.html").read_text()
    assert (code, REFUTED in page) == (0, True)
    entries = {
        entry.case.name: entry for entry in atlas(tmp_path / "atlas" / "certificates").entries
    }
    assert entries["d3-dout2-a2-t2"].verdict == "NO_ANSWER"


def test_a_folder_with_nothing_but_a_plan_is_no_empty_folder(folder: Path, run: Run) -> None:
    for path in folder.glob("*.json"):
        path.unlink()
    code, said = run("verify", folder)
    assert (code, "plans there have 2 questions" in said) == (2, True)
    assert len(json.loads(run("report", folder, "--format", "json")[1])["rows"]) == 6


def test_a_folder_without_a_plan_has_the_exit_code_of_1_0(folder: Path, run: Run) -> None:
    (folder / REFUTED).unlink()
    for path in folder.glob("*.plan"):
        path.unlink()
    code, said = run("verify", folder)
    assert (code, "There is no plan of a batch: what was asked is not known" in said) == (0, True)
    assert "There is no plan of a batch" in " ".join(run("report", folder)[1].split())
    # whoever names certificates chooses them
    assert "no plan" not in run("verify", folder / CONFIRMED)[1]


def test_an_outcome_answers_and_a_file_that_only_has_its_name_does_not(
    folder: Path, run: Run
) -> None:
    (folder / REFUTED).unlink()
    outcome = folder / REFUTED.replace(".json", ".outcome.json")
    outcome.write_text("{}")
    assert run("verify", folder)[0] == 3
    task = tasks([Case(3, 2, 2)], "3.4")[0]
    Store(folder).put_outcomes(task, BatchError("lost"), None, None, "none")
    code, said = run("verify", folder)
    assert (code, "Nothing is missing" in said) == (0, True)


def test_plans_of_several_batches_count_together(folder: Path, run: Run) -> None:
    more = tasks([Case(3, 2, 2), Case(2, 1)], "3.3,3.4")
    write_plan(more, Store(folder))
    write_plan(more[::-1], Store(folder))  # the same plan, in another order
    assert len(list(folder.glob("*.plan"))) == 2
    missing = ["d2-dout1-a2-t2-3.3.json", "d2-dout1-a2-t2-3.4.json", "d3-dout2-a2-t2-3.3.json"]
    assert json.loads(run("verify", folder, "--json")[1])["plan"]["missing"] == missing
    assert list(collect(folder).plan.missing) == missing
    # a folder that was moved into another one is found there with its plan
    below = folder / "below"
    below.mkdir()
    for path in list(folder.iterdir()):
        if path != below:
            path.rename(below / path.name)
    assert list(collect(folder).plan.missing) == missing
    assert json.loads(run("verify", folder, "--json")[1])["plan"]["missing"] == missing


def test_a_certificate_in_no_plan_is_counted(folder: Path, run: Run) -> None:
    shutil.copy(SAMPLES / "d3-dout2-a2-t2-degree.json", folder)
    assert "In no plan: 1 certificate" in run("verify", folder)[1]
    assert collect(folder).plan.unplanned == 1


def hostile(text: str) -> Callable[[Path], None]:
    """Writes a file with this content, under the name of a plan with it."""

    def write(folder: Path) -> None:
        (folder / plan_name(text)).write_text(text)

    return write


def case(**changed: Any) -> str:
    entry: dict[str, Any] = {
        "family": "attention",
        "case": {"d": 1, "d_out": 1, "a": 1, "t": 2},
        "name": "d1-dout1-a1-t2",
        "questions": ["3.4"],
    }
    return json.dumps({"plan": 1, "cases": [entry | changed]})


HOSTILE: dict[str, Callable[[Path], object]] = {
    "empty": hostile(""),
    "not JSON": hostile("{"),
    "nested": hostile("[" * 100_000),
    "a number": hostile("3"),
    "another form": hostile('{"plan": 2, "cases": []}'),
    "no list": hostile('{"plan": 1, "cases": {}}'),
    "a case that is a number": hostile('{"plan": 1, "cases": [1]}'),
    "a name with a colour": hostile(case(name="\x1b[31mred")),
    "a path": hostile(case(name="../../etc")),
    "a question with a line end": hostile(case(questions=["3.4\n"])),
    "a question that is a list": hostile(case(questions=[["3.4"]])),
    "questions that are a text": hostile(case(questions="3.4")),
    "an unknown field": hostile(case(more=1)),
    "changed": lambda folder: (folder / "batch-0.plan").write_text(plan_text(ASKED)),
    "a folder": lambda folder: (folder / "batch.plan").mkdir(),
    "a pipe": lambda folder: os.mkfifo(folder / "batch.plan"),
    "not text": lambda folder: (folder / "batch.plan").write_bytes(b"\xff"),
}


@pytest.mark.parametrize("write", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_plan_hides_nothing(
    write: Callable[[Path], object], folder: Path, run: Run
) -> None:
    (folder / REFUTED).unlink()
    write(folder)
    code, said = run("verify", folder)
    assert (code, said.count(f"1 plan: {REFUTED}"), "\x1b" in said) == (3, 1, False)
    assert said.count("cannot be used") == 1
    report = collect(folder)
    assert (report.plan.missing, len(report.plan.unusable)) == ((REFUTED,), 1)
    (folder / plan_name(plan_text(ASKED))).unlink()
    assert run("verify", folder)[0] == 3  # what the plan that cannot be read asked is not known


def test_a_case_that_does_not_exist_is_missed_by_verify_and_named_by_reports(
    folder: Path, run: Run
) -> None:
    hostile(case(family="no-such-family"))(folder)
    assert run("verify", folder)[0] == 3
    (problem,) = collect(folder).problems
    assert "no-such-family" in problem.reason
    hostile(case(name="d9-dout9-a9-t2"))(folder)
    assert len(collect(folder).problems) == 2


def test_a_plan_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = folder.glob("*.plan")
    assert [asked.questions for asked in read_plan(path)] == [("3.4",), ("3.4",)]
    monkeypatch.setattr(plan_file, "MAX_PLAN_BYTES", 100)
    with pytest.raises(CertificateError, match="the most that is read"):
        read_plan(path)


def test_a_plan_is_written_at_once_or_not_at_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = folder.glob("*.plan")
    before = path.stat().st_mtime_ns
    assert write_plan(ASKED, Store(folder)) == path  # a batch that is resumed
    assert path.stat().st_mtime_ns == before
    path.unlink()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BatchError, match="cannot be written: No space left"):
        write_plan(ASKED, Store(folder))
    assert not list(folder.glob("*.plan"))
    assert not list(folder.glob(".*"))


def test_an_interrupted_batch_has_its_plan(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is computed; the same command writes the same file."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("m2bridge.batch.plan.run", interrupted)
    words = ("certify", "--d", "1..2", "--d-out", "1", "--check", "3.4", "--executor", "serial")
    for _ in range(2):
        assert run(*words, "--out", tmp_path)[0] == 130
        (path,) = tmp_path.iterdir()
        assert [asked.name for asked in read_plan(path)] == ["d1-dout1-a1-t2", "d2-dout1-a2-t2"]
    assert run(*words[:-2], "--all-a", *words[-2:], "--a", "1..2", "--out", tmp_path)[0] == 130
    assert len(list(tmp_path.glob("*.plan"))) == 2
    words = ("certify", "--all-sizes", "--check", "3.4", "--executor", "serial")
    assert run(*words, "--out", tmp_path)[0] == 130
    missing = collect(tmp_path).plan.missing
    assert (len(missing), missing[0]) == (5, "attention-all-sizes-3.4.json")


def test_names_in_plans_are_names_of_certificates() -> None:
    asked = plan_text(tasks([Case(1, 2)], "all"))
    (entry,) = json.loads(asked)["cases"]
    assert entry["name"] == "d1-dout2-a1-t2"
    assert plan_name(asked) == f"batch-{digest(asked)[:16]}.plan"
    compared = compare_with_plans([], {"a.json"}, set())
    assert (compared.plans, compared.unplanned, compared.complete) == (0, 1, True)


def test_a_confined_process_quotes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "secret.plan").write_text('{"password": 1, "password": 2}')
    monkeypatch.setattr("m2bridge.reading._folders", (folder.resolve(),))
    with pytest.raises(ConversionError) as refused:
        read_plan(folder / "secret.plan")
    assert "password" not in str(refused.value)
