"""Commands on systems where something is wrong: each fault and each signal once."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz import faults

TRIALS = [(name, trial) for name, trial in faults.each(seed=1)]


@pytest.fixture
def folder() -> Iterator[Path]:
    """With a short name, as sockets in it need."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        yield Path(name)


@pytest.mark.parametrize(("name", "trial"), TRIALS, ids=[name for name, _ in TRIALS])
def test_a_command_takes_it(name: str, trial: faults.Suffering, folder: Path, m2: str) -> None:
    assert trial(folder, m2) == ""


def test_what_is_left_is_seen(folder: Path, m2: str) -> None:
    """A traceback, a file, a wrong exit code."""
    line = 'touch "$TMPDIR/left"; exec "$@"'
    trial = faults.Trial(folder, m2, ["script", "closure", "--d", "2", "--d-out", "1"], line)
    assert faults.suffered("", faults.Fault(line), "script", trial) == "left in TMPDIR: left"
    assert "no clear line" in faults.unclear("Traceback (most recent call last):\n  …")
    assert "3 lines" in faults.unclear("one\ntwo\nthree")
    assert "no clear line" in faults.unclear("")
