"""Many certificates on several cores: the same findings as on one, and no process left."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from m2bridge.batch import verifying
from m2bridge.batch.verifying import verify_files
from m2bridge.errors import BatchError
from tests.events import PATIENCE, wait_for, wait_for_end

FOLDER = Path(__file__).parents[1] / "certificates"
FILES = sorted(FOLDER.rglob("*.json"))
WITHOUT_END = """
import signal
from m2bridge.batch import verifying
from m2bridge.cli.main import main
verifying.wait = lambda lines: signal.pause()
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


def test_the_same_findings_in_the_same_order() -> None:
    assert len(FILES) > verifying.FEW
    there = children()
    assert verify_files(FILES, 2) == verify_files(FILES, 1)
    assert [finding.name for finding in verify_files(FILES[::-1] + FILES[:2], 3)] == [
        str(path) for path in FILES[::-1] + FILES[:2]
    ]
    assert children() == there


def test_an_unreadable_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "memory.json").symlink_to("/proc/self/mem")
    with pytest.raises(OSError, match="error"):
        verify_files([*FILES, tmp_path / "memory.json"], 2)


def test_files_that_are_none_are_findings(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "nothing")
    findings = verify_files([*FILES, *sorted(tmp_path.iterdir())], 2)
    assert [finding.found for finding in findings[-2:]] == ["not a file"] * 2


def test_a_worker_that_is_killed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    real = verifying._heard

    def killing(line: object) -> object:
        for child in set(children()) - there:
            child.kill()
        return real(line)  # type: ignore[arg-type]

    there = set(children())
    monkeypatch.setattr(verifying, "_heard", killing)
    with pytest.raises(BatchError, match="--workers 1"):
        verify_files(FILES, 2)


@pytest.mark.parametrize("processes", [2, 4])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_leaves_no_process(number: signal.Signals, processes: int, tmp_path: Path) -> None:
    """Sent while workers start, when there are the two servers of multiprocessing, and while they work."""
    for copy in range(30):
        shutil.copytree(FOLDER / "accepted", tmp_path / str(copy))
    process = subprocess.Popen(
        [*MAIN_WITHOUT_END, str(tmp_path), "--workers", "2"], stderr=subprocess.PIPE, text=True, start_new_session=True
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
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[number]
    if number is not signal.SIGKILL:  # after which the fork server may complain of half a start
        assert "Traceback" not in said
    wait_for_end(p.pid for p in started)
