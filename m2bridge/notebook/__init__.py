"""``%load_ext m2bridge``: Macaulay2 in cells of a notebook. The only room that knows IPython, which is loaded there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load(shell: InteractiveShell) -> None:
    """Add the magics ``%%m2`` and ``%m2``, the completion of names in them, and the progress of long cells."""
    from m2bridge.notebook.completion import completes
    from m2bridge.notebook.magics import Macaulay2Magics
    from m2bridge.notebook.progress import Progress

    magics = Macaulay2Magics(shell, Progress())
    shell.register_magics(magics)
    shell.Completer.custom_matchers.append(completes(lambda: magics.work.names()))
    shell.events.register("pre_run_cell", magics.progress.begin)
    shell.events.register("post_run_cell", magics.progress.end)


def unload(shell: InteractiveShell) -> None:
    """End the notebook's Macaulay2, and take all of it away."""
    from m2bridge.notebook.completion import IDENTIFIER
    from m2bridge.notebook.magics import Macaulay2Magics

    magics = shell.magics_manager.registry.pop(Macaulay2Magics.__name__)
    magics.close()
    shell.events.unregister("pre_run_cell", magics.progress.begin)
    shell.events.unregister("post_run_cell", magics.progress.end)
    magics.progress.end()
    for kind in shell.magics_manager.magics.values():
        kind.pop("m2", None)
    matchers = shell.Completer.custom_matchers
    matchers[:] = [matcher for matcher in matchers if getattr(matcher, "matcher_identifier", "") != IDENTIFIER]
