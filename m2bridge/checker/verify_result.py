"""What the check of one certificate says."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

VerifyOutcome = Literal[
    "accepted", "program-not-checked", "too-expensive", "other-release", "malformed", "rejected", "failed"
]


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The outcome of checking a certificate.

    ``accepted``: every check passed. ``program-not-checked``: the content is right, but another release wrote the
    certificate, with a program that is not this release's, and nobody looked at what that program does.
    ``too-expensive``: not decided within the limits on size, time and memory. ``other-release``: another release wrote
    it, in another format or with other contents, and only that one can say whether it is right. ``malformed``: not a
    certificate. ``rejected``: wrong. ``failed``: it could not be read, or its check failed.
    """

    outcome: VerifyOutcome
    name: str  # of the file, or what it should be
    check: str = ""  # which one failed
    stored: str = ""
    found: str = ""
    remarks: tuple[str, ...] = ()  # what decides nothing

    @property
    def accepted(self) -> bool:
        """Whether every check passed."""
        return self.outcome == "accepted"

    @property
    def content_right(self) -> bool:
        """Whether the content is what was computed anew, whatever the program is."""
        return self.outcome in ("accepted", "program-not-checked")

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self) | {"remarks": list(self.remarks)}
