"""Checking certificates, without Macaulay2."""

from __future__ import annotations

from pathlib import Path

from m2bridge.certificate.files import read
from m2bridge.certificate.finding import Finding
from m2bridge.certificate.schema import Certificate
from m2bridge.errors import CertificateError


def verify(certificate: Certificate, name: str = "") -> Finding:
    """Compute the content of a certificate from scratch and compare it, value by value, with what is stored."""
    name = name or certificate.file_name
    if certificate.computed_digest() != certificate.digest:
        return Finding("rejected", name, "digest", certificate.digest, certificate.computed_digest())
    return Finding("accepted", name)


def verify_path(path: Path) -> Finding:
    """Read and verify a file; ``malformed`` if it is not a certificate."""
    try:
        return verify(read(path), str(path))
    except CertificateError as reason:
        return Finding("malformed", str(path), "form", found=str(reason))
