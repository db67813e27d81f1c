"""Certificates in files: written aside and renamed, so that there is never half a file."""

import json
import os
import stat
import tempfile
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from m2bridge.certificates.schema import Certificate
from m2bridge.convert.documents import read_json
from m2bridge.errors import CertificateError, ConversionError, TooExpensiveError

MOST_BYTES = 32 * 2**20
"""The largest file that is read."""


def write(certificate: Certificate, folder: Path) -> Path:
    """Write a certificate under its name; an older file of that name is replaced at once or not at all."""
    target = folder / certificate.file_name
    write_aside(certificate.to_text(), target)
    return target


def write_aside(text: str, target: Path) -> None:
    """Write a file under another name and rename it, so that there is never half of it.

    It has the permissions of the file that it replaces.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, aside = tempfile.mkstemp(prefix=".", suffix=".partial", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(aside, target.stat().st_mode & 0o777 if target.exists() else 0o644)
        os.replace(aside, target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def text_of(path: Path) -> str:
    """The text of a regular file; nothing else is opened, and never more than :data:`MOST_BYTES` are read.

    Raises
    ------
    CertificateError
        If it is something else than a file, which may never come to an end.
    TooExpensiveError
        If it is larger.
    OSError
        If it cannot be read.
    """
    if not path.is_file():
        raise CertificateError("not a file")
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)  # what is there now may be something else
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise CertificateError("not a file")
        content = file.read(MOST_BYTES + 1) if status.st_size <= MOST_BYTES else b""
    if max(status.st_size, len(content)) > MOST_BYTES:
        raise TooExpensiveError("size", f"more than {MOST_BYTES // 2**20} MiB, and no more is read of a file")
    return content.decode("utf-8")


def read(path: Path) -> Certificate:
    """Read a certificate, whatever the name of its file is.

    Raises
    ------
    CertificateError
        If the file is not, byte for byte, what :func:`write` writes for the certificate in it.
    """
    try:
        text = text_of(path)
        certificate = Certificate.from_json(read_json(text))
        if certificate.to_text() != text:
            raise CertificateError("not in the canonical form that m2bridge writes")
    except ConversionError as reason:
        raise CertificateError(str(reason)) from None
    except (ValueError, RecursionError) as reason:
        raise CertificateError(f"not JSON: {reason}") from None
    return certificate


_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where what is stored is not what was found.

    Parameters
    ----------
    place : str
        Such as ``evidence.orbits[3].fibre_length``.
    stored, found : str
        The values as JSON, shortened.
    """

    place: str
    stored: str
    found: str


def difference(stored: Any, found: Any, place: str) -> Difference | None:
    """Compare values and types; ``1``, ``1.0`` and ``true`` differ."""
    if isinstance(stored, dict) and isinstance(found, dict) and stored.keys() == found.keys():
        pairs = [(f"{place}.{key}", stored[key], found[key]) for key in sorted(stored)]
    elif isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        pairs = [(f"{place}[{i}]", *both) for i, both in enumerate(zip(stored, found, strict=True))]
    elif type(stored) is type(found) and stored == found:
        return None
    else:
        return Difference(place, *_shown(stored, found))
    return next((d for inner, s, f in pairs if (d := difference(s, f, inner))), None)


def _shown(stored_value: Any, found_value: Any) -> tuple[str, str]:
    """Both values as JSON; of long ones a part around the first character where they differ."""
    stored, found = (json.dumps(value, ensure_ascii=False) for value in (stored_value, found_value))
    start = max(_common(stored, found) - _SHOWN // 2, 0)
    return _part(stored, start), _part(found, start)


def _common(first: str, second: str) -> int:
    """Length of the longest common beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _part(text: str, start: int) -> str:
    end = start + _SHOWN
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
