"""Progress on standard error, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from m2bridge.layout import visible


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show what is being computed and the elapsed time until the block ends, then remove it."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as display:
        display.add_task(visible(what), total=None)
        yield
