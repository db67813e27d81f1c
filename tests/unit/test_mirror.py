"""The tests of the package stand in its folders."""

from pathlib import Path

import m2bridge

PACKAGE = Path(m2bridge.__file__).parent
"""Modules outside packages, such as ``limits``, have their tests beside this one."""


def packages(folder: Path, file: str) -> set[str]:
    """Folders below ``folder`` with files of that name, by their paths from there."""
    found = {str(path.parent.relative_to(folder)) for path in folder.rglob(file)}
    return found - {"."}


def test_every_folder_of_tests_is_a_package() -> None:
    assert packages(Path(__file__).parent, "test_*.py") <= packages(PACKAGE, "__init__.py")
