"""The script for SLURM, as one job of its array would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.batches import results

SCRIPT = Path(__file__).parents[2] / "examples" / "slurm.sh"

pytestmark = pytest.mark.engine


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
    ended = subprocess.run(["bash", SCRIPT], env=os.environ | {"PATH": path} | job, check=False, capture_output=True)
    assert ended.returncode == code, ended.stderr
    if code == 0:
        assert all(name.endswith(".json") for name in results(tmp_path / "table"))
        assert results(tmp_path / "table")
