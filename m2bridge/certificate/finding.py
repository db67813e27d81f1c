"""What the check of one certificate says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

VerifyOutcome = Literal["accepted", "rejected", "malformed", "other-release"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of checking a certificate.

    Parameters
    ----------
    outcome : {"accepted", "rejected", "malformed", "other-release"}
        ``other-release``: another release wrote it, in another format or with other contents, and only that one can say
        whether it is right. It is not accepted.
    name : str
        The file, or the file name that the certificate should have.
    check : str
        Which check failed; empty if none did.
    stored, found : str
        What the certificate says, and what was computed from scratch.
    remarks : tuple of str
        What is worth knowing and decides nothing.
    """

    outcome: VerifyOutcome
    name: str
    check: str = ""
    stored: str = ""
    found: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether every check passed."""
        return self.outcome == "accepted"

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self) | {"remarks": list(self.remarks)}
