"""Batches on real Macaulay2: the same certificates everywhere, and nothing lost whatever is killed."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from m2bridge.batch.cases import Case, grid, ordered
from m2bridge.batch.certifier import Certify, Settings
from m2bridge.batch.cluster import Dask
from m2bridge.batch.executor import Executor
from m2bridge.batch.plan import plan
from m2bridge.batch.processes import Processes
from m2bridge.batch.progress import Lines, Silent
from m2bridge.batch.run import Summary, run
from m2bridge.batch.serial import Serial
from m2bridge.batch.store import Store
from m2bridge.batch.task import tasks
from m2bridge.certificate.files import read
from m2bridge.errors import BatchError
from tests import quick

pytestmark = pytest.mark.engine

SMALL = ["--d", "1..2", "--d-out", "1..2", "--a", "1..2"]
EXECUTORS: dict[str, Callable[[Settings], Executor]] = {
    "serial": Serial,
    "processes": lambda settings: Processes(settings, workers=2),
    "dask": lambda settings: Dask(settings, workers=2),
}


def batch(
    folder: Path,
    m2: str,
    certify: Certify,
    number: int = 3,
    start: Callable[[Settings], Executor] = EXECUTORS["processes"],
    timeout: float | None = None,
) -> Summary:
    """Ask one cheap question about the cases (1, 1), (2, 1), …"""
    store = Store(folder)
    planned = plan(tasks([Case(d, 1, 1) for d in range(1, number + 1)], "3.2"), store)
    settings = Settings(store, m2, timeout, certify=certify)
    return run(planned, lambda: start(settings), Silent())


def results(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def outcome(folder: Path, d: int) -> dict[str, str]:
    return json.loads((folder / f"d{d}-dout1-a1-t2-3.2.outcome.json").read_text())  # type: ignore[no-any-return]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "log"
    monkeypatch.setenv(quick.LOG, str(path))
    stop_server()  # so that workers see this environment
    return path


def stop_server() -> None:
    from multiprocessing import forkserver

    with suppress(AttributeError, TypeError):
        forkserver._forkserver._stop()


# The same certificates everywhere


@pytest.fixture(scope="module")
def serial_contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    from tests.conftest import usable

    return contents(tmp_path_factory.mktemp("serial"), "serial", str(usable()[0].program))


def contents(folder: Path, executor: str, m2: str) -> dict[str, object]:
    """The certificates of the twelve cases d ≤ 2, d' ≤ 4, without what differs from run to run."""
    store = Store(folder)
    planned = plan(tasks(ordered(grid([1, 2], range(1, 5), [1, 2]))), store)
    assert len(planned.tasks) == 12
    summary = run(planned, lambda: EXECUTORS[executor](Settings(store, m2)), Silent())
    assert not summary.undecided, summary.to_text()
    stored = {name: read(folder / name).to_json() for name in results(folder)}
    return {
        name: {key: value for key, value in data.items() if key not in ("seconds", "peak_memory", "digest")}
        for name, data in stored.items()
    }


@pytest.mark.parametrize("executor", ["processes", "dask"])
def test_every_executor_gives_the_same_certificates(
    executor: str, tmp_path: Path, m2: str, serial_contents: dict[str, object]
) -> None:
    assert contents(tmp_path, executor, m2) == serial_contents


# Failures of one case


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_an_unforeseen_failure_is_the_outcome_of_its_case(executor: str, tmp_path: Path, m2: str) -> None:
    summary = batch(tmp_path, m2, quick.fails, start=EXECUTORS[executor])
    assert summary.answers == {"NOT_APPLICABLE": 2, "failed": 1}
    assert outcome(tmp_path, 2)["reason"] == "ZeroDivisionError: unforeseen"
    assert "in fails" in outcome(tmp_path, 2)["details"]


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_the_limit_holds_in_python_too(executor: str, tmp_path: Path, m2: str) -> None:
    summary = batch(tmp_path, m2, quick.sleeps, start=EXECUTORS[executor], timeout=4)
    assert summary.answers == {"NOT_APPLICABLE": 2, "timed-out": 1}
    assert summary.seconds < 50
    assert outcome(tmp_path, 2)["timeout"] == 4
    assert outcome(tmp_path, 2)["reason"] == "the case did not finish within 4 seconds"


def test_a_worker_that_cannot_be_interrupted_is_killed(tmp_path: Path, log: Path, m2: str) -> None:
    folder = tmp_path / "results"
    summary = batch(folder, m2, quick.hangs, 4, lambda settings: Processes(settings, 2, grace=1.5), timeout=1)
    assert summary.answers == {"NOT_APPLICABLE": 3, "timed-out": 1}
    assert outcome(folder, 2)["kind"] == "timed-out"
    assert Counter(log.read_text().splitlines()) == {str(Case(d, 1, 1)): 1 for d in (1, 3, 4)}
    worker, engine = map(int, log.with_suffix(".hanging").read_text().split())
    wait_for(lambda: not any(map(psutil.pid_exists, (worker, engine))), within=15)
    assert summary.seconds < 30


@pytest.mark.parametrize("certify", [quick.kills_worker, quick.kills_macaulay2])
def test_a_death_is_forgiven_once(certify: Certify, tmp_path: Path, log: Path, m2: str) -> None:
    folder = tmp_path / "results"
    summary = batch(folder, m2, certify, number=4)
    assert summary.answers == {"NOT_APPLICABLE": 3, "died": 1}
    assert outcome(folder, 2)["kind"] == "died"
    assert Counter(log.read_text().splitlines()) == {str(Case(d, 1, 1)): 1 for d in (1, 3, 4)}


def test_the_case_of_a_dask_worker_that_is_killed_is_done_once_by_another(tmp_path: Path, log: Path, m2: str) -> None:
    there = macaulay2s()
    summary = batch(tmp_path / "results", m2, quick.kills_worker_once, number=4, start=EXECUTORS["dask"])
    assert log.with_suffix(".killed").exists()
    assert summary.answers == {"NOT_APPLICABLE": 4}
    assert Counter(log.read_text().splitlines()) == {str(Case(d, 1, 1)): 1 for d in range(1, 5)}
    wait_for(lambda: macaulay2s() <= there, within=15)


def macaulay2s() -> set[int]:
    """Those that this process and its children have started."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "M2" in process.name():
                found.add(process.pid)
    return found


def test_recycled_workers_lose_nothing(tmp_path: Path, m2: str) -> None:
    summary = batch(tmp_path, m2, quick.quick, 9, lambda settings: Processes(settings, 2, recycled_after=2))
    assert summary.answers == {"NOT_APPLICABLE": 9}


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


class Disk:
    """A small disk in a namespace of its own, which ends with the process that holds it; seen by way of /proc."""

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


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_batch_goes_on_when_a_full_disk_has_room_again(executor: str, disk: Disk, m2: str) -> None:
    with certifying(disk.folder, m2, "--executor", executor) as process:
        _, said = process.communicate(timeout=120)
    assert process.returncode == 5, said
    assert f"'{disk.folder}' cannot be written: No space left on device" in said
    assert "Traceback" not in said
    whole = {name: read(disk.folder / name) for name in results(disk.folder)}
    assert 0 < len(whole) < 6 * 8
    assert [name for name in os.listdir(disk.folder) if name not in whole] == [".claims"]
    assert os.listdir(disk.folder / ".claims") == []
    assert disk.grow()
    with certifying(disk.folder, m2, "--executor", executor) as process:
        _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert len(results(disk.folder)) == 6 * 8
    assert all(read(disk.folder / name) == certificate for name, certificate in whole.items())


def test_a_file_of_another_case_is_replaced(tmp_path: Path, m2: str) -> None:
    with certifying(tmp_path, m2, "--check", "3.2", "--quiet") as process:
        process.communicate(timeout=120)
    misnamed = tmp_path / "d2-dout1-a2-t2-3.2.json"
    whole = read(misnamed)
    shutil.copy(tmp_path / "d1-dout1-a1-t2-3.2.json", misnamed)
    with certifying(tmp_path, m2, "--check", "3.2") as process:
        printed, said = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "done: 5, to do: 1" in printed
    assert f"to be replaced: {misnamed.name}" in said
    assert (read(misnamed).case, read(misnamed).answer) == (whole.case, whole.answer)


# Several batches, and batches that are killed


def test_two_batches_at_once_share_the_work(tmp_path: Path, log: Path, m2: str) -> None:
    folder, summaries = tmp_path / "results", []

    def one() -> None:
        summaries.append(batch(folder, m2, quick.quick, 40, Serial))

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [summary.answers for summary in summaries] == [{"NOT_APPLICABLE": 40}] * 2
    assert Counter(log.read_text().splitlines()) == {str(Case(d, 1, 1)): 1 for d in range(1, 41)}


@contextmanager
def certifying(folder: Path, m2: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    """The command in a process group of its own, as a terminal would start it."""
    code = "from m2bridge.cli.main import main; main()"
    workers = [] if {"serial", "--scheduler"} & set(more) else ["--workers", "2"]
    arguments = ["certify", *SMALL, "--out", str(folder), *workers, "--m2", m2, *more]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(condition: Callable[[], object], within: float = 60) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def test_two_commands_on_one_folder(tmp_path: Path, m2: str) -> None:
    with certifying(tmp_path, m2) as first, certifying(tmp_path, m2, "--executor", "serial") as second:
        ends = [process.communicate(timeout=120) for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), ends
    assert len(results(tmp_path)) == 6 * 8
    for name in results(tmp_path):
        read(tmp_path / name)
    assert os.listdir(tmp_path / ".claims") == []


@pytest.mark.parametrize("executor", ["processes", "dask"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_batch_that_is_ended_leaves_no_process_and_goes_on(
    number: signal.Signals, executor: str, tmp_path: Path, m2: str
) -> None:
    with certifying(tmp_path, m2, "--executor", executor) as process:
        wait_for(lambda: len(results(tmp_path)) >= 16)
        descendants = psutil.Process(process.pid).children(recursive=True)
        assert any("M2" in p.name() for p in descendants)
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, said = process.communicate(timeout=30)
        wait_for(lambda: not alive(descendants), within=15)
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert "Traceback" not in said
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in results(tmp_path)}
    with certifying(tmp_path, m2, "--executor", executor, "--json") as process:
        printed, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert json.loads(printed)["done_before"] >= 1
    assert len(results(tmp_path)) == 6 * 8
    assert all((tmp_path / name).stat().st_mtime_ns == written for name, written in before.items())


@pytest.mark.parametrize(
    ("target", "code"), [("2>&1 | head -1", 141), ("<&- >&- 2>&-", 5), ("2>/dev/full", 0), ("2>&- | true", 141)]
)
def test_a_batch_goes_on_when_nobody_can_read_its_progress(target: str, code: int, tmp_path: Path, m2: str) -> None:
    run_it = f"{sys.executable} -c 'from m2bridge.cli.main import main; main()'"
    options = f"certify {' '.join(SMALL)} --check 3.2,3.3 --out {tmp_path}/out --m2 {m2} --timeout 2592000"
    line = f"{{ {run_it} {options}; echo $? >{tmp_path}/code; }} {target}"
    subprocess.run(["sh", "-c", line], capture_output=True, timeout=120, check=False)
    assert len(results(tmp_path / "out")) == 6 * 2
    assert int((tmp_path / "code").read_text()) == code


def test_limits_and_retry_on_the_command_line(tmp_path: Path, m2: str) -> None:
    with certifying(tmp_path, m2, "--timeout", "0.001", "--check", "3.2,closure") as process:
        printed, said = process.communicate(timeout=120)
    assert process.returncode == 3, said
    assert "timed-out" in printed
    assert printed.startswith("cases: 6 (12 questions), done: 0, to do: 6\n")
    with certifying(tmp_path, m2, "--check", "3.2,closure", "--quiet") as process:
        assert process.communicate(timeout=120) == ("", "")
    assert process.returncode == 3
    with certifying(tmp_path, m2, "--check", "3.2,closure", "--retry", "timed-out") as process:
        process.communicate(timeout=120)
    assert process.returncode == 0
    assert not [name for name in results(tmp_path) if name.endswith(".outcome.json")]


def test_the_cluster_of_a_scheduler(tmp_path: Path, m2: str) -> None:
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        arguments = ("--executor", "dask", "--scheduler", cluster.scheduler_address, "--check", "3.2")
        with certifying(tmp_path, m2, *arguments) as process:
            _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert len(results(tmp_path)) == 6


# Load


@pytest.mark.slow
def test_two_thousand_cases_with_a_death_every_second(tmp_path: Path, m2: str) -> None:
    stop, killed = threading.Event(), []

    def kill() -> None:
        chance = random.Random(1)
        while not stop.wait(1):
            if victims := workers_and_their_macaulay2():
                victim = chance.choice(victims)
                with suppress(psutil.Error):
                    victim.kill()
                    killed.append(victim.pid)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        number = 2000
        store = Store(tmp_path)
        cases = grid(range(1, 41), range(1, 51))
        planned = plan(tasks(ordered(cases), "3.2"), store)
        summary = run(planned, lambda: Processes(Settings(store, m2, certify=quick.quick), 2), Lines())
    finally:
        stop.set()
        killer.join()
    assert killed
    assert sum(summary.answers.values()) == number
    found = results(tmp_path)
    assert len({name.replace(".outcome.json", ".json") for name in found}) == len(found) == number
    assert plan(planned.tasks, store).left == ()
    assert summary.answers["NOT_APPLICABLE"] > number - len(killed)


def workers_and_their_macaulay2() -> list[psutil.Process]:
    """What the server from which workers are forked has started."""
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if any("forkserver" in argument for argument in child.cmdline()):
                return child.children(recursive=True)
    return []
