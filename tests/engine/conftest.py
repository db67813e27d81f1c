"""What batches of tests tell."""

import os
from pathlib import Path

import pytest

from tests import quick


@pytest.fixture
def log() -> Path:
    """The file in which the cheap computations of a batch say what they were asked; there is none yet."""
    path = Path(os.environ[quick.LOG])
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    return path
