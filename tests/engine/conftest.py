"""What batches of tests tell."""

from pathlib import Path

import pytest

from tests import quick
from tests.batches import stop_server


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the cheap computations of a batch say what they were asked."""
    path = tmp_path / "log"
    monkeypatch.setenv(quick.LOG, str(path))
    stop_server()  # so that workers see this environment
    return path
