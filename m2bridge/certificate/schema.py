"""What a certificate holds, and how it is written as JSON."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from m2bridge.errors import CertificateError, InvalidCaseError, OtherReleaseError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements import REGISTRY

SCHEMA = 2
"""The version of the format that this release writes and reads."""

_VERSION = re.compile(r"[0-9][0-9A-Za-z.+]{0,30}")
_WORD = re.compile(r"[0-9A-Za-z][\w.+-]{0,60}")
_PROGRAMS = {"macaulay2", "m2bridge", "sympy", "python-flint", "python"}
_AGES = 10**12
_SHOWN = 200

LARGEST = 10**9
"""The largest d, d', a or t of a case that a certificate may be about."""

QUESTIONS = (*dict.fromkeys(statement.key for statement in REGISTRY), "closure")
"""What can be certified: the statements by their number, and the Zariski closure."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The answer to one question about one case, and what it takes to check it.

    Parameters
    ----------
    schema : int
        Version of the format.
    case : dict of str to int
        The numbers d, d_out, a, t of the attention model.
    question : str
        Number of a statement (``3.2``, ``degree``, ``singular-locus``, …) or ``closure``.
    answer : dict
        The verdicts, or the invariants of the closure.
    evidence : dict
        What the answer rests on: facts about every orbit, or the generators of the ideal.
    script : dict of str to str
        ``text`` of the Macaulay2 program and its ``digest``; empty text if none was needed.
    libraries : dict of str to str
        SHA-256 of the shared Macaulay2 scripts that the program uses.
    field : str
        Coefficient field of the computation.
    reported : dict
        What nobody can check: ``versions`` of ``macaulay2``, ``m2bridge`` (the release that wrote it), ``sympy``,
        ``python-flint``, ``python``; ``seconds``, the wall time of the computation, at least 0; ``peak_memory``, the
        largest resident memory of Macaulay2 during the computation, in bytes, where the system tells it (else
        ``None``), with what its garbage collector holds from earlier computations of the same process. Where the
        system cannot begin to measure anew (only Linux can), since the start of the process.
    recheckable : list of str
        What :func:`m2bridge.checker.verify` recomputes.
    trusted : list of str
        Lemmas and computations that the answer takes on trust.
    digest : str
        SHA-256 of the canonical JSON of all the rest.
    """

    schema: int
    case: dict[str, int]
    question: str
    answer: dict[str, Any]
    evidence: dict[str, Any]
    script: dict[str, str]
    libraries: dict[str, str]
    field: str
    reported: dict[str, Any]
    recheckable: list[str]
    trusted: list[str]
    digest: str = ""

    @property
    def model(self) -> SingleLayerAttention:
        """The case as a model."""
        return SingleLayerAttention(**self.case)

    @property
    def release(self) -> str:
        """The release of m2bridge that wrote it, as far as it says one."""
        return _release(self.reported)

    @property
    def file_name(self) -> str:
        """``d3-dout2-a2-t2-3.4.json``: one name for each case and question."""
        return file_name(self.model, self.question)

    def computed_digest(self) -> str:
        """SHA-256 of the canonical JSON of everything but the digest."""
        content = self._fields()
        del content["digest"]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def sealed(self) -> Self:
        """The same certificate with its digest."""
        return replace(self, digest=self.computed_digest())

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self)

    def _fields(self) -> dict[str, Any]:
        """The same without copying what is nested, for reading only: of many certificates the copies take most time."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The inverse of :meth:`to_json`.

        Raises
        ------
        CertificateError
            If a field is missing, unknown, or of another type; if the schema, the question or the case does not exist.
        OtherReleaseError
            If it says that another release wrote it, in another schema.
        """
        if not isinstance(data, dict):
            raise CertificateError("not a JSON object")
        if (schema := data.get("schema")) != SCHEMA:
            message = f"schema {schema!r:.40}; this m2bridge reads schema {SCHEMA}"
            release = _release(data.get("reported")) or _release(data)  # schema 1 has its versions beside the rest
            if release and _integer(schema):
                raise OtherReleaseError(f"{message}; {with_release(release)}")
            raise CertificateError(message)
        names = {field.name for field in fields(cls)}
        if wrong := sorted(names ^ data.keys()):
            raise CertificateError(f"missing or unknown fields: {', '.join(wrong):.{_SHOWN}}")
        if badly := [name for name, good in _FORM.items() if not good(data[name])]:
            raise CertificateError(f"the field '{badly[0]}' does not have the form of schema {SCHEMA}")
        if data["question"] not in QUESTIONS:
            raise CertificateError(f"unknown question '{data['question']:.{_SHOWN}}'")
        try:
            SingleLayerAttention(**data["case"])
        except InvalidCaseError as reason:
            raise CertificateError(f"the case does not exist: {reason}") from None
        return cls(**data)

    def to_text(self) -> str:
        """The content of a certificate's file; equal certificates have equal files."""
        return json.dumps(self._fields(), sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def file_name(model: SingleLayerAttention, question: str) -> str:
    """The name of the file of a certificate."""
    return f"d{model.d}-dout{model.d_out}-a{model.a}-t{model.t}-{question}.json"


def with_release(release: str) -> str:
    """How a certificate of another release is verified."""
    return f"written by m2bridge {release}, which can verify it: pip install m2bridge=={release}"


def _release(reported: Any) -> str:
    versions = reported.get("versions") if isinstance(reported, dict) else None
    release = versions.get("m2bridge") if isinstance(versions, dict) else None
    return release if isinstance(release, str) and _VERSION.fullmatch(release) else ""


def digest(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _duration(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _AGES


def _case(value: Any) -> bool:
    named = _object(value) and value.keys() == {"d", "d_out", "a", "t"}
    return named and all(_integer(number) and abs(number) <= LARGEST for number in value.values())


def _reported(value: Any) -> bool:
    return (
        _object(value)
        and value.keys() == {"versions", "seconds", "peak_memory"}
        and _versions(value)
        and _duration(value["seconds"])
        and _memory(value["peak_memory"])
    )


def _versions(reported: dict[str, Any]) -> bool:
    value = reported["versions"]
    named = _named_texts(value) and value.keys() == _PROGRAMS
    return named and bool(_release(reported)) and all(map(_word, value.values()))


def _memory(value: Any) -> bool:
    return value is None or (_integer(value) and value >= 0)


def _word(value: str) -> bool:
    return _WORD.fullmatch(value) is not None


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _named_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_text, value.values()))


_FORM = {
    "schema": _integer,
    "case": _case,
    "question": _text,
    "answer": _object,
    "evidence": _object,
    "script": lambda v: _named_texts(v) and v.keys() == {"text", "digest"},
    "libraries": _named_texts,
    "field": _text,
    "reported": _reported,
    "recheckable": _texts,
    "trusted": _texts,
    "digest": _text,
}
