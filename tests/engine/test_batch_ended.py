"""Batches on real Macaulay2: several at once, and nothing lost whatever is killed."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from m2bridge import SingleLayerAttention as Case
from m2bridge.batch.cases import grid, ordered
from m2bridge.batch.executors import Serial, Settings
from m2bridge.batch.plan import Lines, plan, run
from m2bridge.batch.pool import Pool
from m2bridge.batch.store import Store, Task, tasks
from m2bridge.certificates.form import read
from m2bridge.families.registry import family
from tests import quick
from tests.batches import SMALL, batch, certifying, ended, held, results
from tests.conftest import Invoke
from tests.events import PATIENCE, wait_for, wait_for_end

QUESTIONS = ("3.3", "3.4")
CHECK = ("--check", ",".join(QUESTIONS))

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def test_two_batches_at_once_share_the_work(tmp_path: Path, log: Path, m2: str) -> None:
    folder, summaries = tmp_path / "results", []

    def one() -> None:
        summaries.append(batch(folder, m2, quick.quick, 20, Serial))

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [summary.answers for summary in summaries] == [{"NOT_APPLICABLE": 20}] * 2
    assert Counter(log.read_text().splitlines()) == {str(Case(d, 1, 1)): 1 for d in range(1, 21)}


def test_two_commands_on_one_folder(tmp_path: Path, m2: str) -> None:
    with (
        certifying(tmp_path, m2, *CHECK) as first,
        certifying(tmp_path, m2, *CHECK, "--executor", "serial") as second,
    ):
        ends = [ended(process) for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), ends
    assert len(results(tmp_path)) == 6 * len(QUESTIONS)
    for name in results(tmp_path):
        read(tmp_path / name)
    assert os.listdir(tmp_path / ".claims") == []


@pytest.mark.parametrize(
    ("number", "executor"),
    [
        (signal.SIGKILL, "processes"),
        (signal.SIGKILL, "dask"),
        (signal.SIGINT, "processes"),
        (signal.SIGINT, "dask"),
        (signal.SIGTERM, "processes"),  # which ends a batch as SIGINT does
    ],
)
def test_a_batch_that_is_ended_leaves_no_process_and_goes_on(
    number: signal.Signals, executor: str, tmp_path: Path, m2: str, invoke: Invoke
) -> None:
    line = (*CHECK, "--executor", executor)
    with held(tmp_path, Task(Case(2, 2, 2), ()).name), certifying(tmp_path, m2, *line) as process:
        wait_for(lambda: len(results(tmp_path)) >= 2 * len(QUESTIONS))  # one case at least
        descendants = psutil.Process(process.pid).children(recursive=True)
        assert any("M2" in p.name() for p in descendants)
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, said = ended(process)
        wait_for_end(p.pid for p in descendants)
    assert (
        process.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    )
    assert "Traceback" not in said
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in results(tmp_path)}
    again = invoke(
        "certify",
        *SMALL,
        "--out",
        str(tmp_path),
        "--executor",
        "serial",
        "--m2",
        m2,
        *CHECK,
        "--json",
    )
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["done_before"] >= 1
    assert len(results(tmp_path)) == 6 * len(QUESTIONS)
    assert all((tmp_path / name).stat().st_mtime_ns == written for name, written in before.items())


ENDED = """
import os, signal, sys
from threading import current_thread, main_thread
from distributed import Future
from distributed.nanny import WorkerProcess
from m2bridge.cli.main import main

event, number = os.environ["EVENT"], signal.Signals[os.environ["SIGNAL"]]
release, start, sent = Future.release, WorkerProcess.start, []

def send():
    if not sent:
        sent.append(os.kill(os.getpid(), number))

def releasing(future):
    if event == "release" and current_thread() is main_thread():
        send()
    release(future)

async def starting(process):
    if event == "start":
        send()
    return await start(process)

if __name__ == "__main__":
    Future.release, WorkerProcess.start = releasing, starting
    main()
"""
"""The command; a signal comes when a worker of Dask starts, or a future is deleted."""


@pytest.mark.parametrize(
    ("name", "code", "event"),
    [
        ("SIGINT", 130, "start"),
        ("SIGINT", 130, "release"),
        ("SIGTERM", 143, "start"),  # these two have one handler
        ("SIGHUP", 129, "release"),
    ],
)
def test_a_signal_ends_a_cluster_of_dask_in_an_orderly_way(
    name: str, code: int, event: str, tmp_path: Path
) -> None:
    """While a future is deleted it is not lost: Python ignores exceptions in ``__del__``."""
    (script := tmp_path / "script.py").write_text(ENDED)
    line = [
        "certify",
        "--d",
        "1",
        "--d-out",
        "1",
        "--check",
        "3.3",
        "--executor",
        "dask",
        "--workers",
        "1",
    ]
    command = [sys.executable, str(script), *line, "--out", str(tmp_path / "results")]
    with tempfile.TemporaryDirectory() as temporary:  # sockets in it need a short name
        variables = {**os.environ, "TMPDIR": temporary, "EVENT": event, "SIGNAL": name}
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=variables
        )
        assert done.returncode == code, done.stderr
        assert done.stderr.endswith("Interrupted.\n" * (code == 130))
        assert "Traceback" not in done.stderr
        assert os.listdir(temporary) == []


@pytest.mark.parametrize(
    ("target", "code"),
    [("2>&1 | head -1", 141), ("<&- >&- 2>&-", 5), ("2>/dev/full", 0), ("2>&- | true", 141)],
)
def test_a_batch_goes_on_when_nobody_can_read_its_progress(
    target: str, code: int, tmp_path: Path, m2: str
) -> None:
    run_it = f"{sys.executable} -c 'from m2bridge.cli.main import main; main()'"
    options = (
        f"certify {' '.join(SMALL)} --check A.3,3.3 --out {tmp_path}/out --m2 {m2} --timeout"
        " 2592000 --workers 1"
    )
    line = f"{{ {run_it} {options}; echo $? >{tmp_path}/code; }} {target}"
    subprocess.run(["sh", "-c", line], capture_output=True, timeout=PATIENCE, check=False)
    assert len(results(tmp_path / "out")) == 6 * 2
    assert int((tmp_path / "code").read_text()) == code


def test_limits_and_retry_on_the_command_line(tmp_path: Path, m2: str, invoke: Invoke) -> None:
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
        "3.3,closure",
    )
    late = invoke(*line, "--timeout", "0.001")
    assert late.returncode == 3, late.stderr
    assert "timed-out" in late.stdout
    assert late.stdout.startswith("cases: 6 (12 questions), done: 0, to do: 6\n")
    again = invoke(*line, "--quiet")
    assert (again.returncode, again.stdout, again.stderr) == (3, "", "")
    assert invoke(*line, "--retry", "timed-out").returncode == 0
    assert not [name for name in results(tmp_path) if name.endswith(".outcome.json")]


# Load


def test_many_cases_with_a_death_now_and_then(tmp_path: Path, m2: str) -> None:
    stop, killed = threading.Event(), []

    def kill() -> None:
        chance = random.Random(1)
        while not stop.wait(0.02):
            if len(results(tmp_path)) >= 15 * (len(killed) + 1) and (
                victims := workers_and_their_macaulay2()
            ):
                victim = chance.choice(victims)
                with suppress(psutil.Error):
                    victim.kill()
                    killed.append(victim.pid)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        number = 50
        store = Store(tmp_path)
        cases = grid(family("attention"), {"d": "1..10", "d_out": "1..5"})
        planned = plan(tasks(ordered(cases), "3.3"), store)
        summary = run(planned, lambda: Pool(Settings(store, m2, certify=quick.quick), 2), Lines())
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
