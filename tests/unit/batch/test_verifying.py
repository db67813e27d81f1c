"""Many certificates on several cores: the same findings as on one, and no process left."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import flint
import psutil
import pytest

from m2bridge import SingleLayerAttention
from m2bridge.batch import MIN_CHECK_MEMORY_BYTES, pool
from m2bridge.batch.pool import Done, Pool, Worker
from m2bridge.batch.verifying import Verification, verify_files
from m2bridge.certificates.form import digest, read, write
from m2bridge.certification.make import question_of
from m2bridge.certification.verify import verify_path
from m2bridge.checker.verify import VerifyResult
from m2bridge.engine import scratch
from m2bridge.errors import BatchError, ContradictionError, InvalidCaseError
from tests.events import PATIENCE, wait_for, wait_for_end
from tests.limits import HOUR

FOLDER = Path(__file__).parents[2] / "certificates"
LONG = ("deep-attention-all-sizes", "attention-all-sizes-closures", "d2-dout2-a1-t2-polar")
FILES = sorted(path for path in FOLDER.rglob("*.json") if not path.name.startswith(LONG))
"""All samples but those that take seconds."""
alone = cache(verify_path)
"""The finding about a file in this process."""


def without_primes(findings: Sequence[VerifyResult]) -> list[VerifyResult]:
    """Findings without the primes that each check draws anew."""
    return [replace(one, found=re.sub(r"modulo \d+", "modulo", one.found)) for one in findings]


WITHOUT_END = """
import signal
from m2bridge.batch import pool
from m2bridge.cli.main import main
pool.wait = lambda lines, moment: signal.pause()
main()
"""
MAIN_WITHOUT_END = [sys.executable, "-c", WITHOUT_END, "verify"]
"""Workers get their first files, and nobody ever listens to them."""


def children() -> list[psutil.Process]:
    """Living ones, without the two servers of multiprocessing."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE and process.ppid() != os.getpid():
                found.append(process)
    return found


@pytest.mark.slow
def test_the_same_findings_in_the_same_order() -> None:
    there = children()
    files = FILES[::3]
    found = verify_files(files, workers=2)
    expected = without_primes([alone(path) for path in files])
    assert without_primes(found) == expected
    assert expected[::3] == without_primes(verify_files(files[::3], workers=1))
    order = files[9::-1] + files[:2]
    assert [finding.name for finding in verify_files(order, workers=3)] == [
        str(path) for path in order
    ]
    assert children() == there


@pytest.mark.slow
def test_whatever_a_file_is_the_others_get_their_findings(tmp_path: Path) -> None:
    """Nothing but regular files is opened, and no more is read of one than is said."""
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "nothing.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "device.json").symlink_to("/dev/zero")
    (tmp_path / "memory.json").symlink_to("/proc/self/mem")
    os.mkfifo(tmp_path / "pipe.json")
    with (tmp_path / "sparse.json").open("wb") as file:
        file.truncate(50 * 2**30)
    (tmp_path / "deep.json").write_text("[" * 200_000)
    files = FILES[1::3]
    found = verify_files([*sorted(tmp_path.iterdir()), *files], workers=2)
    said = {
        Path(finding.name).stem: (finding.outcome, finding.check, finding.found)
        for finding in found[:7]
    }
    assert without_primes(found[7:]) == without_primes([alone(path) for path in files])
    assert {name: outcome for name, (outcome, *_) in said.items()} == {
        "deep": "malformed", "device": "malformed", "folder": "malformed", "memory": "failed", "nothing": "malformed",
        "pipe": "malformed", "sparse": "too-expensive",
    }  # fmt: skip
    assert {said[name][-1] for name in ("device", "folder", "nothing", "pipe")} == {"not a file"}
    assert "nested too deeply" in said["deep"][-1]
    assert said["memory"][1:] == ("reading", "Input/output error")
    assert said["sparse"][1:] == ("size", "the file has more than 32 MiB, the most that is read")


def hostile(path: Path) -> VerifyResult:
    """What a file may do to the process that checks it, by its name."""
    what, folder = path.name.removeprefix("late "), path.parent
    if what == "loop in C":
        pow(3, 1 << 40, 1 << (1 << 24))
    elif what == "loop in Python":
        while True:
            pass
    elif what == "memory in Python":
        bytearray(1 << 40)
    elif what == "memory in FLINT":
        flint.fmpz(3) ** 10**11
    elif what == "a mistake of ours":
        raise ContradictionError("two methods disagree")
    elif what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "kill once" and not (folder / "killed").exists():
        (folder / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "exit":
        os._exit(3)
    return VerifyResult("accepted", str(path))


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is late by its name reaches its limit as soon as it is at work."""
    left = Pool._seconds_left

    def sooner(pool: Pool[Path, VerifyResult], worker: Worker[Path, VerifyResult]) -> float:
        assert left(pool, worker) <= HOUR
        return left(pool, worker) - (HOUR if worker.items[0].name.startswith("late ") else 0)

    monkeypatch.setattr(Pool, "_seconds_left", sooner)


EXPECTED = {
    "late loop in C": ("too-expensive", "time"),
    "late loop in Python": ("too-expensive", "time"),
    "memory in Python": ("too-expensive", "memory"),
    "memory in FLINT": ("too-expensive", "memory"),
    "a mistake of ours": ("failed", "m2bridge itself"),
    "kill": ("failed", "process"),
    "kill once": ("accepted", ""),
    "exit": ("failed", "process"),
}


@pytest.mark.slow
@pytest.mark.usefixtures("late")
@pytest.mark.parametrize("workers", [2])
def test_limits_hold_and_a_process_that_ended_is_replaced(workers: int, tmp_path: Path) -> None:
    names = [name for bad in EXPECTED for name in (bad, f"good after {bad}")]
    there = children()
    found = verify_files(
        [tmp_path / name for name in names], Verification(timeout=HOUR, check=hostile), workers
    )
    assert [Path(finding.name).name for finding in found] == names
    said = {Path(finding.name).name: (finding.outcome, finding.check) for finding in found}
    assert said == {name: EXPECTED.get(name, ("accepted", "")) for name in names}
    assert children() == there


@pytest.mark.slow
@pytest.mark.usefixtures("late")
def test_a_limit_is_named_with_what_to_do(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("late loop in Python", "memory in Python", "kill")]
    late, large, dead = verify_files(
        paths, Verification(timeout=HOUR, memory=2**30, check=hostile), 1
    )
    assert late.found == "not decided within 1 h 0 min; raise timeout="
    assert large.found == "not decided within 1 GiB of memory; raise --memory"
    assert dead.found == "the process of the check was killed by SIGKILL, twice"


def test_a_limit_is_a_number_of_seconds() -> None:
    """What never ends reaches it on any machine."""
    (found,) = verify_files([Path("loop in Python")], Verification(timeout=0.25, check=hostile), 1)
    assert found.found == "not decided within 0.25 s; raise timeout="


def test_a_large_file_takes_no_more_memory_than_allowed(tmp_path: Path) -> None:
    (tmp_path / "large.json").write_text("[" + "[]," * 5_000_000 + "[]]")
    (found,) = verify_files([tmp_path / "large.json"], Verification(memory=MIN_CHECK_MEMORY_BYTES))
    assert (found.outcome, found.check) == ("too-expensive", "memory")


@pytest.mark.parametrize(
    "limits",
    [{"timeout": 0}, {"timeout": float("inf")}, {"memory": 2**20}, {"memory": 2**62 + 1}],
    ids=str,
)
def test_what_is_no_limit_is_refused(limits: dict[str, Any]) -> None:
    (name,) = limits
    with pytest.raises(InvalidCaseError) as refusal:
        Verification(**limits)
    assert refusal.value.option == name


@pytest.mark.slow
def test_processes_that_do_not_start_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "serve", broken)
    with pytest.raises(
        BatchError, match="end before they begin; the last one ended with exit status 9"
    ):
        verify_files(FILES[:3], workers=2)


def broken(*arguments: object) -> None:
    os._exit(9)


@pytest.mark.slow
def test_processes_that_are_killed_cost_nothing_but_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process is killed once it has sent its first finding: at its next file, or idle as files
    are handed out.
    """
    real, killed = Worker.receive, set[int | None]()

    def killing(self: Worker[Path, VerifyResult]) -> object:
        message = real(self)
        if isinstance(message, Done) and self.process.pid not in killed:
            killed.add(self.process.pid)
            self.process.kill()
            self.process.join()
        return message

    monkeypatch.setattr(Worker, "receive", killing)
    expected = without_primes([alone(path) for path in FILES[:8]])
    assert without_primes(verify_files(FILES[:8], workers=2)) == expected
    # How many depends on what was in the pipes already: both of the first ones were, at least.
    assert len(killed) >= 2


@pytest.mark.slow
def test_a_parent_that_is_killed_takes_its_processes_along_in_the_middle_of_c(
    tmp_path: Path,
) -> None:
    code = (
        "from pathlib import Path; from m2bridge.batch.verifying import verify_files; "
        "from tests.unit.batch.test_verifying import HOUR, Verification, hostile; "
        "verify_files([Path('loop in C')], Verification(timeout=HOUR, check=hostile), 1)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    busy = wait_for_busy(process)
    process.kill()
    process.wait()
    wait_for_end(p.pid for p in busy)


def wait_for_busy(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """All processes that it started, once one of them computes."""
    started: list[psutil.Process] = []

    def busy() -> bool:
        started[:] = psutil.Process(process.pid).children(recursive=True)
        with suppress(psutil.NoSuchProcess):
            times = [child.cpu_times().user for child in started if child.ppid() != process.pid]
            return len(started) > 2 and max(times, default=0.0) > 1
        return False

    wait_for(busy)
    return started


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "processes"),
    [(signal.SIGINT, 2), (signal.SIGINT, 4), (signal.SIGTERM, 4), (signal.SIGKILL, 2)],
)
def test_a_signal_leaves_no_process(number: signal.Signals, processes: int, tmp_path: Path) -> None:
    """Sent while workers start, when there are the two servers of multiprocessing, and while they
    work.
    """
    for copy in range(30):
        shutil.copytree(FOLDER / "accepted", tmp_path / str(copy))
    process = subprocess.Popen(
        [*MAIN_WITHOUT_END, str(tmp_path), "--workers", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    started: list[psutil.Process] = []

    def enough() -> bool:
        started[:] = psutil.Process(process.pid).children(recursive=True)
        return len(started) >= processes

    wait_for(enough)
    if number is signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    assert (
        process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[number]
    )
    if number is not signal.SIGKILL:  # after which the fork server may complain of half a start
        assert "Traceback" not in said
    wait_for_end(p.pid for p in started)


def test_a_closure_with_large_a_takes_no_more_than_with_a_equal_to_d(tmp_path: Path) -> None:
    """Q and K with α rows have all the functions; with 20 000 rows their Jacobian matrix took 19
    GB.
    """
    small = read(FOLDER / "accepted" / "d2-dout1-a2-t2-closure.json")
    case = small.case | {"a": 20_000}
    script = question_of("attention", "closure").script(SingleLayerAttention(**case))
    assert script is not None
    text = {"text": script.body, "digest": digest(script.body)}
    path = write(
        replace(small, case=case, name="d2-dout1-a20000-t2", script=text).sealed(), tmp_path
    )
    (found,) = verify_files([path], Verification(memory=2**29))
    assert found.accepted, found


# Worker processes and their sockets: whatever TMPDIR is, and nothing left there.

SAMPLES = str(FOLDER / "accepted")


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder for temporary files in which there can be sockets."""
    with tempfile.TemporaryDirectory(prefix="i-", dir="/tmp") as folder:
        yield Path(folder)


def verify(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [command, "verify", SAMPLES, "--workers", "2"],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("length", [0, 100])
def test_no_name_of_the_folder_for_temporary_files_is_too_long(
    command: str, short: Path, length: int
) -> None:
    (folder := short / ("x" * length)).mkdir(exist_ok=True)
    done = verify(command, folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(folder.iterdir()) == []


def test_no_folder_with_a_short_name_at_all(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (long := short / ("x" * 100)).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    monkeypatch.setattr(scratch, "_SYSTEM", ("/nowhere",))
    pool._choose_folder.cache_clear()
    with pytest.raises(BatchError, match="a temporary folder with a short name: set TMPDIR to one"):
        pool.prepare()


@pytest.mark.slow
def test_the_folder_of_a_command_that_was_killed_is_swept_by_the_next(
    command: str, short: Path
) -> None:
    process = subprocess.Popen(
        [*MAIN_WITHOUT_END, SAMPLES, "--workers", "2"],
        env={**os.environ, "TMPDIR": str(short)},
        start_new_session=True,
    )
    wait_for(lambda: list(short.glob("*/listener*")))
    process.kill()
    process.wait()
    assert list(short.iterdir()) != []
    assert verify(command, short).returncode == 0
    assert list(short.iterdir()) == []


FORKING = """
import os, sys
from m2bridge.batch import pool
pool.prepare()
before = os.listdir(os.environ["TMPDIR"])
if os.fork() == 0:
    sys.exit()
os.wait()
print(len(before), os.listdir(os.environ["TMPDIR"]) == before)
"""


def test_a_child_made_by_fork_leaves_the_folder_to_its_parent(short: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(short)}
    assert (
        subprocess.check_output([sys.executable, "-c", FORKING], env=environment, text=True)
        == "1 True\n"
    )
    assert list(short.iterdir()) == []
