"""Certificates in files: written aside and renamed, so that there is never half a file."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from m2bridge.certificate.schema import Certificate
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
