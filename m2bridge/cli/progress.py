"""The display of a running computation on the terminal: what is computed, and for how long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from m2bridge.limits import progress_listener
from m2bridge.results.sheet import visible


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show the computation and the elapsed time on the terminal until the block ends.

    ``what`` is the computation in words, ``dimension of the layer``. A bar shows the number of
    steps where the computation counts them. Where there is no terminal, nothing is shown.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    spinner = SpinnerColumn()
    text = TextColumn("{task.description}", markup=False)
    elapsed = TimeElapsedColumn()
    count = TextColumn("{task.completed} of {task.total} {task.fields[steps]}", markup=False)
    console = Console(stderr=True)
    # transient: when the result is printed, nothing of the display is left above it
    with Progress(spinner, text, elapsed, console=console, transient=True) as display:
        task = display.add_task(visible(what), total=None, steps="")

        def show_count(done: int, total: int, steps: str) -> None:
            """Show that ``done`` of ``total`` steps are done; ``steps`` names them."""
            display.columns = (spinner, text, BarColumn(), count, elapsed)
            display.update(task, completed=done, total=total, steps=steps)

        with progress_listener(show_count):
            yield
