"""The checker by itself, with the checkers of all families that are registered here."""

from pathlib import Path

from m2bridge.certificates.form import Certificate
from m2bridge.checker import verify as checker
from m2bridge.checker.verify import VerifyResult
from m2bridge.families import registry


def verify(certificate: Certificate, name: str = "") -> VerifyResult:
    """Verify a certificate without looking at its program."""
    return checker.verify(certificate, registry.checker, name)


def verify_path(path: Path) -> VerifyResult:
    """Verify the certificate in a file without looking at its program."""
    return checker.verify_path(path, registry.checker)
