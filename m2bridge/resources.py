"""Finds the folders ``templates/`` and ``m2scripts/``: inside the package (wheel) or beside it (checkout)."""

from __future__ import annotations

from pathlib import Path

from m2bridge.errors import ResourceError

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder ``templates`` or ``m2scripts`` of this installation.

    Raises
    ------
    ResourceError
        If it is neither in the package nor beside it.
    """
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise ResourceError(f"the folder '{name}' is missing from this installation of m2bridge; reinstall it")


def templates() -> Path:
    """Folder of the Jinja templates, one for each computation."""
    return folder("templates")


def m2script(name: str) -> Path:
    """Path of the shared Macaulay2 script ``name`` (without ``.m2``)."""
    path = folder("m2scripts") / f"{name}.m2"
    if not path.is_file():
        raise ResourceError(f"the Macaulay2 script '{path.name}' is missing from this installation of m2bridge")
    return path
