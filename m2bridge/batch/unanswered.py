"""What became of a question that got no certificate."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from m2bridge._version import __version__
from m2bridge.errors import (
    EngineDiedError,
    EngineMemoryError,
    EngineTimeoutError,
    InvalidCaseError,
    M2BridgeError,
    MethodUnavailableError,
    NotApplicableError,
    TooLargeError,
)

Kind = Literal["timed-out", "out-of-memory", "failed", "died", "refused", "not-applicable"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SUFFIX = ".outcome.json"


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why a question has no certificate.

    Parameters
    ----------
    family : str
    case : dict
    name : str
        As of :class:`~m2bridge.certificate.schema.Certificate`.
    question : str
    kind : {"timed-out", "out-of-memory", "failed", "died", "refused", "not-applicable"}
        ``died``: Macaulay2 or the worker ended twice while at this case. ``refused``: the case is too large for the
        methods that there are. ``not-applicable``: the question is not about this case, and nothing is missing.
    reason : str
        One line for a person.
    details : str
        The traceback of an unexpected failure; empty otherwise.
    timeout, memory : float, int or None
        The limits of the batch.
    versions : dict of str to str
    """

    family: str
    case: dict[str, Any]
    name: str
    question: str
    kind: Kind
    reason: str
    details: str
    timeout: float | None
    memory: int | None
    versions: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self)

    def to_text(self) -> str:
        """The content of its file."""
        return json.dumps(self.to_json(), sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def kind_of(error: BaseException) -> Kind:
    """The kind of outcome that an exception amounts to."""
    if isinstance(error, EngineTimeoutError):
        return "timed-out"
    if isinstance(error, EngineMemoryError | MemoryError):
        return "out-of-memory"
    if isinstance(error, NotApplicableError):
        return "not-applicable"
    if isinstance(error, InvalidCaseError | MethodUnavailableError | TooLargeError):
        return "refused"
    return "died" if isinstance(error, EngineDiedError) else "failed"


def reason_of(error: BaseException) -> str:
    """The first line of an exception's message, with its type where the message does not say enough."""
    said = (str(error).splitlines() or [""])[0]
    return said if isinstance(error, M2BridgeError) and said else f"{type(error).__name__}: {said}"


def versions(macaulay2: str) -> dict[str, str]:
    """Versions that an outcome records."""
    return {"m2bridge": __version__, "macaulay2": macaulay2, "python": platform.python_version()}
