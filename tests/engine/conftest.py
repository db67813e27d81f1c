"""What batches of tests tell."""

import os
from pathlib import Path

import pytest

from m2bridge.engine.session import OPTIONS
from tests import quick


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workspaces and values without the packages that Macaulay2 loads at its start, which take
    longer than the rest.

    For tests of what becomes of a process, and not of what can be said in it.
    """
    monkeypatch.setattr("m2bridge.engine.session.OPTIONS", (*OPTIONS, "--no-preload"))


@pytest.fixture
def log() -> Path:
    """The file in which the cheap computations of a batch say what they were asked; there is none
    yet.
    """
    path = Path(os.environ[quick.LOG])
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    return path
