"""Commands on systems where something is wrong: each fault and each signal once."""

from pathlib import Path

import pytest

from tests.fuzz import faults

TRIALS = [(name, trial) for name, trial in faults.each(seed=1)]


@pytest.mark.parametrize(("name", "trial"), TRIALS, ids=[name for name, _ in TRIALS])
def test_a_command_takes_it(
    name: str, trial: faults.Suffering, tmp_path_factory: pytest.TempPathFactory, m2: str
) -> None:
    folder = tmp_path_factory.mktemp("f")  # a short name: sockets of processes take no long ones
    assert trial(folder, m2) == ""


def test_what_is_left_is_seen(tmp_path: Path, m2: str) -> None:
    """A traceback, a file, a wrong exit code."""
    line = 'touch "$TMPDIR/left"; exec "$@"'
    trial = faults.Trial(tmp_path, m2, ["script", "closure", "--d", "2", "--d-out", "1"], line)
    assert faults.suffered("", faults.Fault(line), "script", trial) == "left in TMPDIR: left"
    assert "no clear line" in faults.unclear("Traceback (most recent call last):\n  …")
    assert "3 lines" in faults.unclear("one\ntwo\nthree")
    assert "no clear line" in faults.unclear("")
