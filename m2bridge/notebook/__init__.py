"""``%load_ext m2bridge``: Macaulay2 in cells of a notebook. The only room that knows IPython, which is loaded there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load(shell: InteractiveShell) -> None:
    """Add the magics ``%%m2`` and ``%m2``, and the completion of names in them."""
    from m2bridge.notebook.completion import completes
    from m2bridge.notebook.magics import Macaulay2Magics

    magics = Macaulay2Magics(shell)
    shell.register_magics(magics)
    shell.Completer.custom_matchers.append(completes(magics.names))


def unload(shell: InteractiveShell) -> None:
    """End the notebook's Macaulay2, and take all of it away."""
    from m2bridge.notebook.completion import IDENTIFIER
    from m2bridge.notebook.magics import Macaulay2Magics

    magics = shell.magics_manager.registry.pop(Macaulay2Magics.__name__)
    magics.close()
    for kind in shell.magics_manager.magics.values():
        kind.pop("m2", None)
    matchers = shell.Completer.custom_matchers
    matchers[:] = [matcher for matcher in matchers if getattr(matcher, "matcher_identifier", "") != IDENTIFIER]
