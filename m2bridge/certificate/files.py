"""Certificates in files: written aside and renamed, so that there is never half a file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from m2bridge.certificate.schema import Certificate
from m2bridge.convert.documents import read_json
from m2bridge.errors import CertificateError, ConversionError

MOST_BYTES = 200_000_000
"""Of a certificate; the largest that were seen have a tenth."""


def write(certificate: Certificate, folder: Path) -> Path:
    """Write a certificate under its name; an older file of that name is replaced at once or not at all."""
    target = folder / certificate.file_name
    write_aside(certificate.to_text(), target)
    return target


def write_aside(text: str, target: Path) -> None:
    """Write a file under another name and rename it, so that there is never half of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, aside = tempfile.mkstemp(prefix=".", suffix=".partial", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(aside, 0o644)
        os.replace(aside, target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def text_of(path: Path) -> str:
    """The text of a file.

    Raises
    ------
    CertificateError
        If it is something else than a file, which may never come to an end, or larger than :data:`MOST_BYTES`.
    """
    if not path.is_file():
        raise CertificateError("not a file")
    if path.stat().st_size > MOST_BYTES:
        raise CertificateError(f"larger than {MOST_BYTES / 1e6:g} MB")
    return path.read_bytes().decode("utf-8")


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
