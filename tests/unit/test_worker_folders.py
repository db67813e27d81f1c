"""Worker processes and their sockets: whatever TMPDIR is, and nothing left there."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from m2bridge.batch import pool
from m2bridge.engine import scratch
from m2bridge.errors import BatchError
from tests.events import PATIENCE, wait_for
from tests.unit.test_verifying import FOLDER, MAIN_WITHOUT_END

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


@pytest.mark.parametrize("length", [0, 100])
def test_no_name_of_the_folder_for_temporary_files_is_too_long(command: str, short: Path, length: int) -> None:
    (folder := short / ("x" * length)).mkdir(exist_ok=True)
    done = verify(command, folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(folder.iterdir()) == []


def test_no_folder_with_a_short_name_at_all(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (long := short / ("x" * 100)).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    monkeypatch.setattr(scratch, "_SYSTEM", ("/nowhere",))
    pool._choose_folder.cache_clear()
    with pytest.raises(BatchError, match="a temporary folder with a short name: let TMPDIR name one"):
        pool.prepare()


def test_the_folder_of_a_command_that_was_killed_is_swept_by_the_next(command: str, short: Path) -> None:
    process = subprocess.Popen(
        [*MAIN_WITHOUT_END, SAMPLES, "--workers", "2"], env={**os.environ, "TMPDIR": str(short)}, start_new_session=True
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
    assert subprocess.check_output([sys.executable, "-c", FORKING], env=environment, text=True) == "1 True\n"
    assert list(short.iterdir()) == []
