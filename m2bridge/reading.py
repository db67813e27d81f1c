"""Which files may be read, and how they are opened.

A command line reads any file that the user names. A process that reads files for others, such as a
worker of ``mcp``, is confined for good: it reads only regular files below some folders, follows no
link out of them, and reveals nothing about the content of a file that it refuses.

The file that is checked is the file that is read: the real path is opened step by step from the
folder, without following links, and the reader gets the opened file.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from m2bridge.errors import ConversionError, EngineError, TooLargeError
from m2bridge.system import PSEUDO_FILES, path_of_open

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

OUTSIDE = "not below a folder that 'm2bridge mcp --files FOLDER' names"

UNQUOTED = (
    "it does not have the expected form; its content is not revealed to others, but"
    " 'm2bridge' on the command line says what is wrong"
)

_folders: tuple[Path, ...] | None = None


def confine(folders: Sequence[Path]) -> None:
    """Confine this process to files below these folders; without folders it reads no files."""
    global _folders
    _folders = tuple(Path(os.path.realpath(folder)) for folder in folders)


def folders() -> tuple[Path, ...] | None:
    """Return the folders to which this process is confined; ``None`` if it is not confined."""
    return _folders


def opened(path: Path) -> int:
    """Open a file that may be read, without blocking; return its descriptor. OSError if this
    process is confined and it is not a regular file below one of the folders.
    """
    if _folders is None:
        return os.open(path, _FLAGS)
    folder, *inner_folders, name = _steps(path)
    place = _open_folder(folder, inner_folders)
    try:
        # checked before it is opened, because opening a device can have an effect
        _check_regular(os.stat(name, dir_fd=place, follow_symlinks=False), path)
        descriptor = os.open(name, _FLAGS | os.O_NOFOLLOW, dir_fd=place)
    finally:
        os.close(place)
    # and again, because another file may have taken its name meanwhile
    try:
        _check_regular(os.fstat(descriptor), path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _open_folder(folder: str, inner_folders: Sequence[str]) -> int:
    """Open the last of some folders, each in the one before, step by step without following links:
    a name may have become a link after the path was resolved, which is an OSError.
    """
    place = os.open(folder, _FLAGS | os.O_DIRECTORY)
    for inner_folder in inner_folders:
        try:
            inner = os.open(inner_folder, _FLAGS | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
        finally:
            os.close(place)
        place = inner
    return place


@contextmanager
def openable(path: Path) -> Iterator[str]:
    """Yield a path by which a library can open the file in the block; in a confined process it
    leads to what :func:`opened` has opened.
    """
    if _folders is None:
        yield str(path)
        return
    descriptor = opened(path)
    try:
        yield path_of_open(descriptor, os.path.realpath(path))
    finally:
        os.close(descriptor)


def check_readable(path: Path | str) -> None:
    """Check that a path, which need not exist, is below one of the folders of a confined process,
    and that a file can have this name; ConversionError if not.
    """
    if "\0" in os.fspath(path):
        name = f"{os.fspath(path)!r:.120}"
        raise ConversionError(f"{name} has a null character: no file can have this name")
    if _folders is None:
        return
    try:
        _folder_of(os.path.realpath(path))
    except (OSError, ValueError) as reason:  # ValueError: no file can have this name
        fault = getattr(reason, "strerror", None) or "no file can have this name"
        raise ConversionError(f"{os.fspath(path)!r:.120} is {fault}") from None


def exists(path: str) -> bool:
    """Return whether there is a file ``path``, as far as this process may know.

    In a confined process it is false outside the folders; in the folders a link counts as a file,
    wherever it leads: to follow it would reveal whether its target exists.
    """
    if _folders is None:
        return os.path.exists(path)
    try:
        check_readable(os.path.dirname(os.path.abspath(path)))
    except ConversionError:
        return False
    return os.path.lexists(path)


@contextmanager
def unquoted() -> Iterator[None]:
    """In a confined process, reduce errors about the content of a file to their position, the
    attribute ``place`` of a ConversionError; errors of the system and of limits quote no content,
    and stay.
    """
    try:
        yield
    except (OSError, MemoryError, EngineError, TooLargeError):
        raise
    except Exception as reason:
        if _folders is None:
            raise
        where = getattr(reason, "place", "")
        raise ConversionError(f"{where}: {UNQUOTED}" if where else UNQUOTED) from None


def _steps(path: Path) -> list[str]:
    """Return the allowed folder, and the names from there to the file, with links resolved:
    ``/data``, ``maps``, ``file``. PermissionError if the file is below no allowed folder.
    """
    real = os.path.realpath(path)
    folder = _folder_of(real)
    names = Path(real).relative_to(folder).parts
    if not names:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return [str(folder), *names]


def _folder_of(real: str) -> Path:
    """Return the allowed folder below which a path without links is; PermissionError if there is
    none.
    """
    place = Path(real)
    for folder in _folders or ():
        if place.is_relative_to(folder) and not _is_pseudo_file(place, folder):
            return folder
    raise PermissionError(errno.EACCES, OUTSIDE)


def _is_pseudo_file(place: Path, folder: Path) -> bool:
    """Return whether ``place`` is in a pseudo file system and ``folder`` is outside it: an allowed
    folder such as ``/`` does not allow ``/proc``; only a folder in ``/proc`` does.
    """
    return any(
        place.is_relative_to(pseudo) and not folder.is_relative_to(pseudo)
        for pseudo in PSEUDO_FILES
    )


def _check_regular(status: os.stat_result, path: Path) -> None:
    """Raise OSError if this is the status of a folder, pipe, device or link; ``path`` names it."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a file", str(path))
