"""Small batches for tests, and what they leave in their folder."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from m2bridge import SingleLayerAttention as Case
from m2bridge.batch.executors import Certify, Dask, Serial, Settings
from m2bridge.batch.plan import Progress, Summary, plan, run
from m2bridge.batch.plan_file import PLAN_SUFFIX
from m2bridge.batch.pool import Pool
from m2bridge.batch.store import Store, case_lock, tasks
from tests.events import PATIENCE

SMALL = ["--d", "1..2", "--d-out", "1..2", "--a", "1..2"]
EXECUTORS: dict[str, Callable[[Settings], Any]] = {
    "serial": Serial,
    "processes": lambda settings: Pool(settings, workers=2),
    "dask": lambda settings: Dask(settings, workers=2),
}


def batch(
    folder: Path,
    m2: str,
    certify: Certify,
    number: int = 3,
    start: Callable[[Settings], Any] = EXECUTORS["processes"],
    timeout: float | None = None,
) -> Summary:
    """Ask one cheap question about the cases (1, 1), (2, 1), …"""
    store = Store(folder)
    planned = plan(tasks([Case(d, 1, 1) for d in range(1, number + 1)], "3.3"), store)
    settings = Settings(store, m2, timeout, certify=certify)
    return run(planned, lambda: start(settings), Progress())


def results(folder: Path) -> list[str]:
    """The names of certificates and outcomes, without the plan of the batch."""
    names = [name for name in os.listdir(folder) if not name.startswith(".")]
    return sorted(name for name in names if not name.endswith(PLAN_SUFFIX))


def outcome(folder: Path, d: int) -> dict[str, Any]:
    return json.loads((folder / f"d{d}-dout1-a1-t2-3.3.outcome.json").read_text())  # type: ignore[no-any-return]


@contextmanager
def certifying(
    folder: Path, m2: str, *more: str, shell: str = 'exec "$@"'
) -> Iterator[subprocess.Popen[str]]:
    """The command in a process group of its own, as a terminal would start it; by this line of a
    shell.
    """
    code = "from m2bridge.cli.main import main; main()"
    workers = (
        []
        if {"serial", "--scheduler"} & set(more)
        else ["--workers", "1" if "dask" in more else "2"]
    )
    arguments = ["certify", *SMALL, "--out", str(folder), *workers, "--m2", m2, *more]
    process = subprocess.Popen(
        ["sh", "-c", shell, "sh", sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a command printed and said, when it has come to its end."""
    return process.communicate(timeout=PATIENCE)


@contextmanager
def held(folder: Path, name: str) -> Iterator[None]:
    """Be at this case, as another batch would, so that no batch in this folder ends in the
    block.
    """
    with case_lock(folder, name) as mine:
        assert mine
        yield
