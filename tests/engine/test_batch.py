"""Batches with Macaulay2: certificates of many cases, the script for a cluster, and the atlas made
of them.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from m2bridge import SingleLayerAttention as Case
from m2bridge.batch.cases import grid, ordered
from m2bridge.batch.executors import Certify, Dask, Serial, Settings
from m2bridge.batch.plan import Progress, plan, run
from m2bridge.batch.pool import Pool, Worker
from m2bridge.batch.store import Store, Task, TaskResult, tasks
from m2bridge.certificates.form import read
from m2bridge.certification.make import questions
from m2bridge.certification.verify import verify_path
from m2bridge.cli import commands
from m2bridge.engine import locate
from m2bridge.errors import BatchError
from m2bridge.families.registry import family
from tests import quick
from tests.batches import EXECUTORS, SMALL, batch, certifying, ended, held, outcome, results
from tests.conftest import Invoke
from tests.events import wait_for, wait_for_end
from tests.limits import HOUR

# Batches on real Macaulay2: the same certificates everywhere, and failures that are outcomes of
# their case.

QUESTIONS = tuple(
    key
    for key in questions("attention")
    if key not in ("equations", "polar-degrees", "exposed", "exposed-heads", "learning-degree")
)
"""What ``all`` asks of small cases."""


# The same certificates everywhere


@pytest.fixture(scope="module")
def serial_contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The certificates of the six cases d ≤ 2, d' ≤ 2, made in this process."""
    from tests.conftest import usable

    store = Store(tmp_path_factory.mktemp("serial"))
    planned = plan(
        tasks(ordered(grid(family("attention"), {"d": "1,2", "d_out": "1,2", "a": "1,2"}))), store
    )
    assert len(planned.tasks) == 6
    summary = run(planned, lambda: Serial(Settings(store, str(usable()[0].program))), Progress())
    assert not summary.undecided, summary.to_text()
    return stored(store.folder)


def stored(folder: Path) -> dict[str, object]:
    """The certificates in a folder, without what differs from run to run."""
    reported = ("reported", "digest")
    certificates = {name: read(folder / name).to_json() for name in results(folder)}
    return {
        name: {key: value for key, value in data.items() if key not in reported}
        for name, data in certificates.items()
    }


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("executor", ["processes", "dask"])
def test_every_executor_gives_the_same_certificates(
    executor: str,
    tmp_path: Path,
    m2: str,
    serial_contents: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the command. The name of the folder for temporary files may be longer than that of a
    socket; none stays.
    """
    (folder := tmp_path / ("x" * 100)).mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    with certifying(tmp_path / "results", m2, "--executor", executor) as process:
        _, said = ended(process)
    assert process.returncode == 0, said
    assert stored(tmp_path / "results") == serial_contents
    assert list(folder.iterdir()) == []


# Failures of one case


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_an_unforeseen_failure_is_the_outcome_of_its_case(
    executor: str, tmp_path: Path, m2: str
) -> None:
    """As is the limit, which holds in Python too."""
    summary = batch(tmp_path, m2, quick.sleeps, 4, EXECUTORS[executor], timeout=HOUR)
    assert summary.answers == {"NOT_APPLICABLE": 2, "failed": 1, "timed-out": 1}
    assert outcome(tmp_path, 2)["reason"] == "ZeroDivisionError: unforeseen"
    assert "in fails" in outcome(tmp_path, 2)["details"]
    assert outcome(tmp_path, 3)["timeout"] == HOUR
    assert "did not finish within the limit of 3600 seconds" in outcome(tmp_path, 3)["reason"]


@pytest.mark.slow
@pytest.mark.engine
def test_a_worker_that_cannot_be_interrupted_is_killed(
    tmp_path: Path, log: Path, m2: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, mark, left = tmp_path / "results", log.with_suffix(".hanging"), Pool._seconds_left

    def sooner(pool: Pool[Task, TaskResult], worker: Worker[Task, TaskResult]) -> float:
        """The limit and all patience with the worker that hangs are over as soon as it has said
        that it does.
        """
        hangs = mark.exists() and mark.read_text().startswith(f"{worker.process.pid} ")
        return -1.0 if hangs else left(pool, worker)

    monkeypatch.setattr(Pool, "_seconds_left", sooner)
    summary = batch(folder, m2, quick.hangs, 4, lambda settings: Pool(settings, 2), timeout=HOUR)
    assert summary.answers == {"NOT_APPLICABLE": 3, "timed-out": 1}
    assert outcome(folder, 2)["kind"] == "timed-out"
    assert Counter(log.read_text().splitlines()) == {str(Case(d, 1, 1)): 1 for d in (1, 3, 4)}
    wait_for_end(map(int, mark.read_text().split()))


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("certify", [quick.kills_worker, quick.kills_macaulay2])
def test_a_death_is_forgiven_once(certify: Certify, tmp_path: Path, log: Path, m2: str) -> None:
    folder = tmp_path / "results"
    summary = batch(folder, m2, certify, number=4)
    assert summary.answers == {"NOT_APPLICABLE": 3, "died": 1}
    assert outcome(folder, 2)["kind"] == "died"
    assert outcome(folder, 2)["versions"]["macaulay2"] == locate(m2).version
    assert Counter(log.read_text().splitlines()) == {str(Case(d, 1, 1)): 1 for d in (1, 3, 4)}


@pytest.mark.slow
@pytest.mark.engine
def test_the_case_of_a_dask_worker_that_is_killed_is_done_once_by_another(
    tmp_path: Path, log: Path, m2: str, invoke: Invoke
) -> None:
    """In the cluster of a scheduler, which goes on with the next batch, of a command."""
    from distributed import LocalCluster

    there = macaulay2s()
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
    ) as cluster:
        address = cluster.scheduler_address
        killed = tmp_path / "killed"
        summary = batch(
            killed, m2, quick.kills_worker_once, 4, lambda settings: Dask(settings, address)
        )
        assert log.with_suffix(".killed").exists()
        assert summary.answers == {"NOT_APPLICABLE": 4}
        assert Counter(log.read_text().splitlines()) == {str(Case(d, 1, 1)): 1 for d in range(1, 5)}
        wait_for(lambda: macaulay2s() <= there)
        line = (
            "certify",
            "--d",
            "1..2",
            "--d-out",
            "1",
            "--check",
            "3.3",
            "--m2",
            m2,
            "--out",
            str(tmp_path / "command"),
        )
        done = invoke(*line, "--executor", "dask", "--scheduler", address)
    assert done.returncode == 0, done.stderr
    assert len(results(tmp_path / "command")) == 2


def macaulay2s() -> set[int]:
    """Those that this process and its children have started."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "M2" in process.name():
                found.add(process.pid)
    return found


@pytest.mark.slow
@pytest.mark.engine
def test_recycled_workers_lose_nothing(tmp_path: Path, m2: str) -> None:
    summary = batch(
        tmp_path, m2, quick.quick, 3, lambda settings: Pool(replace(settings, recycled_after=2), 1)
    )
    assert summary.answers == {"NOT_APPLICABLE": 3}


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_full_disk_stops_the_batch_and_leaves_nothing_half_written(
    executor: str, tmp_path: Path, m2: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if executor == "serial":
        monkeypatch.setattr(os, "replace", full)
        folder = tmp_path
    else:
        (folder := tmp_path / "file").touch()
    with pytest.raises(BatchError, match="cannot be written"):
        batch(folder, m2, quick.quick, start=EXECUTORS[executor])
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "file"] == []


@pytest.mark.slow
@pytest.mark.engine
def test_a_folder_that_is_deleted_while_a_batch_runs(tmp_path: Path, m2: str) -> None:
    """The batch cannot end before the case that is held, whose lock goes with the folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    with held(folder, Task(Case(2, 2, 2), ()).name), certifying(folder, m2) as process:
        wait_for(lambda: results(folder))
        shutil.rmtree(folder, ignore_errors=True)  # workers may write meanwhile
        _, said = ended(process)
    assert process.returncode == 5
    assert f"'{folder}'" in said
    assert "cannot be written" in said or "the same command computes what is missing" in said


@pytest.mark.engine
def test_files_that_are_deleted_while_a_batch_runs(tmp_path: Path, m2: str) -> None:
    store = Store(tmp_path)
    batch(tmp_path, m2, quick.fails, start=Serial)
    asked = tasks([Case(d, 1, 1) for d in (1, 2, 3)], "3.3")
    store.check(asked)
    (tmp_path / "d3-dout1-a1-t2-3.3.json").unlink()
    with pytest.raises(BatchError, match=r"1 of 3 results are not in .*d3-dout1-a1-t2-3\.3\.json"):
        store.check(asked)


class Disk:
    """A small disk in a namespace of its own, which ends with the process that holds it; seen by
    way of /proc.
    """

    _HOLD = """mount -t tmpfs -o size=160k none "$0" && echo ready && read _ &&
               mount -o remount,size=16M none "$0" && echo ready && read _"""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._holder = subprocess.Popen(
            ["unshare", "--map-root-user", "--mount", "sh", "-c", self._HOLD, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.folder = Path(f"/proc/{self._holder.pid}/root{folder}")

    def ready(self) -> bool:
        assert self._holder.stdout is not None
        return self._holder.stdout.readline() == "ready\n"

    def grow(self) -> bool:
        assert self._holder.stdin is not None
        self._holder.stdin.write("\n")
        self._holder.stdin.flush()
        return self.ready()

    def close(self) -> str:
        """What there was to complain about."""
        return self._holder.communicate()[1].strip()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    if shutil.which("unshare") is None:
        pytest.skip("this system has no unshare")
    small = Disk(tmp_path / "disk")
    if not small.ready():
        pytest.skip(f"this system lets nobody mount a disk: {small.close()}")
    yield small
    small.close()


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_batch_goes_on_when_a_full_disk_has_room_again(
    executor: str, disk: Disk, m2: str
) -> None:
    with certifying(disk.folder, m2, "--executor", executor) as process:
        _, said = ended(process)
    assert process.returncode == 5, said
    assert f"'{disk.folder}' cannot be written: No space left on device" in said
    assert "Traceback" not in said, said
    whole = {name: read(disk.folder / name) for name in results(disk.folder)}
    assert 0 < len(whole) < 6 * len(QUESTIONS)
    others = [name for name in os.listdir(disk.folder) if name not in whole]
    assert sorted(name for name in others if not name.endswith(".plan")) == [".claims"]
    assert os.listdir(disk.folder / ".claims") == []
    assert disk.grow()
    with certifying(disk.folder, m2, "--executor", executor) as process:
        _, said = ended(process)
    assert process.returncode == 0, said
    assert len(results(disk.folder)) == 6 * len(QUESTIONS)
    assert all(read(disk.folder / name) == certificate for name, certificate in whole.items())


@pytest.mark.slow
@pytest.mark.engine
def test_a_file_of_another_case_is_replaced(tmp_path: Path, m2: str, invoke: Invoke) -> None:
    line = (
        "certify",
        *SMALL,
        "--out",
        str(tmp_path),
        "--executor",
        "serial",
        "--m2",
        m2,
        "--check",
        "3.3",
    )
    assert invoke(*line, "--quiet").returncode == 0
    misnamed = tmp_path / "d2-dout1-a2-t2-3.3.json"
    whole = read(misnamed)
    shutil.copy(tmp_path / "d1-dout1-a1-t2-3.3.json", misnamed)
    again = invoke(*line)
    assert again.returncode == 0
    assert "done: 5, to do: 1" in again.stdout
    assert f"will be replaced: {misnamed.name}" in again.stderr
    assert (read(misnamed).case, read(misnamed).answer) == (whole.case, whole.answer)


# The script for SLURM, as one job of its array would run it.

SCRIPT = Path(__file__).parents[2] / "examples" / "slurm.sh"


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize(
    ("grid", "code"),
    [
        ("--d 1..2 --d-out 1 --check 3.3", 0),
        ("--d 3 --d-out 2 --a 2 --check 3.4", 0),  # refuted, which is no failure
        ("--d 3 --check 3.3", 2),
    ],
)
def test_a_job_of_the_array(grid: str, code: int, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    job = {"SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_CPUS_PER_TASK": "1", "GRID": grid}
    ended = subprocess.run(
        ["bash", SCRIPT], env=os.environ | {"PATH": path} | job, check=False, capture_output=True
    )
    assert ended.returncode == code, ended.stderr
    if code == 0:
        assert all(name.endswith(".json") for name in results(tmp_path / "table"))
        assert results(tmp_path / "table")


# An atlas from nothing: certified, written, and continued.


def run_of_atlas_engine(out: Path, m2: str, *arguments: str) -> int:
    words = (
        "atlas",
        str(out),
        "--d",
        "1..2",
        "--d-out",
        "1",
        "--check",
        "3.4,closure",
        "--workers",
        "1",
        "--m2",
        m2,
    )
    return int(commands.cli.main([*words, *arguments], standalone_mode=False))


@pytest.mark.slow
@pytest.mark.engine
def test_an_atlas_from_nothing_and_once_more(
    tmp_path: Path, m2: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_of_atlas_engine(tmp_path, m2) == 0
    folder = tmp_path / "certificates"
    made = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.json")}
    cases = ("d1-dout1-a1-t2", "d2-dout1-a1-t2", "d2-dout1-a2-t2")
    assert set(made) == {
        f"{case}-{question}.json" for case in cases for question in ("3.4", "closure")
    }
    assert all(verify_path(folder / name).accepted for name in made)
    assert [path.stem for path in sorted((tmp_path / "cases").iterdir())] == list(cases)
    assert "<td>(T³ + T² + T + 1)/(1 − T)⁵" in (tmp_path / "cases" / f"{cases[2]}.html").read_text(
        encoding="utf-8"
    )

    (folder / f"{cases[1]}-closure.json").unlink()  # as if killed before it
    (tmp_path / "index.html").unlink()
    capsys.readouterr()
    assert run_of_atlas_engine(tmp_path, m2) == 0
    said = capsys.readouterr().out
    assert "done: 2, to do: 1" in said
    assert said.splitlines()[-1] == f"3 cases: {tmp_path / 'index.html'}"
    again = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.json")}
    assert {name for name in again if again[name] != made[name]} == {f"{cases[1]}-closure.json"}
    assert (tmp_path / "index.html").exists()
