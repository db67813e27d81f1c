"""Certificates: answers with the evidence that lets a reader without Macaulay2 check them."""

from m2bridge.certificate.certify import certify, certify_all
from m2bridge.certificate.files import read, write
from m2bridge.certificate.finding import Finding
from m2bridge.certificate.schema import QUESTIONS, SCHEMA, Certificate
from m2bridge.certificate.verify import verify, verify_path

__all__ = [
    "QUESTIONS",
    "SCHEMA",
    "Certificate",
    "Finding",
    "certify",
    "certify_all",
    "read",
    "verify",
    "verify_path",
    "write",
]
