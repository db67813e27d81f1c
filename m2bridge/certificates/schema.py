"""The content of a certificate, and its form as JSON."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from m2bridge.errors import CertificateError, OtherReleaseError

SCHEMA = 3
"""The version of the format that this release writes and reads."""

_VERSION = re.compile(r"[0-9][0-9A-Za-z.+]{0,30}")
_WORD = re.compile(r"[0-9A-Za-z][\w.+-]{0,60}")
_PROGRAMS = {"macaulay2", "m2bridge", "sympy", "python-flint", "python"}
_AGES = 10**12
_SHOWN = 200

_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,200}")
_MOST_NUMBERS = 1000

LARGEST = 10**9
"""The largest number of a case that a certificate may be about."""


@dataclass(frozen=True, slots=True)
class Content:
    """The mathematical part of a certificate; fields as in :class:`Certificate`."""

    answer: dict[str, Any]
    evidence: dict[str, Any]
    trusted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """The answer to one question about one case, and what it takes to check it: numbers, polynomials, no sentences.

    Sentences in it are only those of statements and lemmas, word for word as in the wording of the family.

    Parameters
    ----------
    schema : int
        Version of the format.
    family : str
        Name of the family of models.
    case : dict
        What names the case within the family: numbers, lists of numbers, words.
    name : str
        The case in one word, such as ``d3-dout2-a2-t2``, unique among all families.
    question : str
        Key of a statement (``3.2``, ``degree``, ``singular-locus``, …), ``closure`` or ``equations``.
    answer : dict
        The verdicts, or the invariants of the closure.
    evidence : dict
        What the answer rests on: facts about every orbit, bounds of a rank, or the generators of the ideal.
    trusted : list of str
        Lemmas and computations that the answer takes on trust.
    field : str
        Coefficient field of the computation.
    script : dict of str to str
        ``text`` of the Macaulay2 program and its ``digest``; empty text if none was needed.
    libraries : dict of str to str
        SHA-256 of the shared Macaulay2 scripts that the program uses.
    reported : dict
        What nobody can check: ``versions`` of ``macaulay2``, ``m2bridge`` (the release that wrote it), ``sympy``,
        ``python-flint``, ``python``; ``seconds``, the wall time of the computation, at least 0; ``peak_memory``, the
        largest resident memory of Macaulay2 during the computation, in bytes, where the system tells it (else
        ``None``), with what its garbage collector holds from earlier computations of the same process. Where the
        system cannot begin to measure anew (only Linux can), since the start of the process.
    digest : str
        SHA-256 of the canonical JSON of all the rest.
    """

    schema: int
    family: str
    case: dict[str, Any]
    name: str
    question: str
    answer: dict[str, Any]
    evidence: dict[str, Any]
    trusted: list[str]
    field: str
    script: dict[str, str]
    libraries: dict[str, str]
    reported: dict[str, Any]
    digest: str = ""

    @property
    def release(self) -> str:
        """The release of m2bridge that wrote it, as far as it says one."""
        return _release(self.reported)

    @property
    def file_name(self) -> str:
        """``d3-dout2-a2-t2-3.4.json``: one name for each case and question."""
        return file_name(self.name, self.question)

    def computed_digest(self) -> str:
        """SHA-256 of the canonical JSON of everything but the digest."""
        content = self._fields()
        del content["digest"]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def sealed(self) -> Self:
        """A copy of the certificate with its digest."""
        return replace(self, digest=self.computed_digest())

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self)

    def _fields(self) -> dict[str, Any]:
        """The fields without copies of what is nested, for reading only: copying takes most of the time."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The inverse of :meth:`to_json`.

        Raises
        ------
        CertificateError
            If a field is missing, unknown, or of another type, or the schema does not exist. Whether there is such a
            family, case or question is for the checker of the family to say.
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
        return cls(**data)

    def to_text(self) -> str:
        """The content of a certificate's file; equal certificates have equal files."""
        return json.dumps(self._fields(), sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def __str__(self) -> str:
        return self.to_text()


def file_name(name: str, question: str) -> str:
    """The name of the file of a certificate about the case with this name."""
    return f"{name}-{question}.json"


def with_release(release: str) -> str:
    """The way to verify a certificate of another release."""
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
    """Names with numbers, lists of numbers, words, yes or no."""
    named = _object(value) and all(map(_name, value)) and len(value) <= _MOST_NUMBERS
    return named and all(_number(v) or isinstance(v, bool) or _name(v) or _numbers(v) for v in value.values())


def _number(value: Any) -> bool:
    return _integer(value) and abs(value) <= LARGEST


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= _MOST_NUMBERS and all(map(_number, value))


def _name(value: Any) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _reported(value: Any) -> bool:
    if not _object(value) or value.keys() != {"versions", "seconds", "peak_memory"}:
        return False
    versions, memory = value["versions"], value["peak_memory"]
    named = _named_texts(versions) and versions.keys() == _PROGRAMS and all(map(_WORD.fullmatch, versions.values()))
    measured = _duration(value["seconds"]) and (memory is None or (_integer(memory) and memory >= 0))
    return named and bool(_release(value)) and measured


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
    "family": _name,
    "case": _case,
    "name": _name,
    "question": _name,
    "answer": _object,
    "evidence": _object,
    "trusted": _texts,
    "field": _text,
    "script": lambda v: _named_texts(v) and v.keys() == {"text", "digest"},
    "libraries": _named_texts,
    "reported": _reported,
    "digest": _text,
}
