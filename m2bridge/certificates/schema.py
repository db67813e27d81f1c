"""The content of a certificate, its form as JSON, and its file, which is never half there."""

import hashlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Self

from m2bridge.convert.documents import read_json
from m2bridge.errors import CertificateError, ConversionError, OtherReleaseError, TooExpensiveError

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
    """The answer to one question about one case, and what it takes to check it: numbers,
    polynomials, no sentences.

    Sentences in it are only those of statements and lemmas, word for word as in the wording of the
    family.

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
        Key of a statement (``3.2``, ``degree``, ``singular-locus``, …), ``closure`` or
        ``equations``.
    answer : dict
        The verdicts, or the invariants of the closure.
    evidence : dict
        What the answer rests on: facts about every orbit, bounds of a rank, or the generators of
        the ideal.
    trusted : list of str
        Lemmas and computations that the answer takes on trust.
    field : str
        Coefficient field of the computation.
    script : dict of str to str
        ``text`` of the Macaulay2 program and its ``digest``; empty text if none was needed.
    libraries : dict of str to str
        SHA-256 of the shared Macaulay2 scripts that the program uses.
    reported : dict
        What nobody can check: ``versions`` of ``macaulay2``, ``m2bridge`` (the release that wrote
        it), ``sympy``, ``python-flint``, ``python``; ``seconds``, the wall time of the computation,
        at least 0; ``peak_memory``, the largest resident memory of Macaulay2 during the
        computation, in bytes, where the system tells it (else ``None``), with what its garbage
        collector holds from earlier computations of the same process. Where the system cannot begin
        to measure anew (only Linux can), since the start of the process.
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
        text = json.dumps(
            content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def sealed(self) -> Self:
        """A copy of the certificate with its digest."""
        return replace(self, digest=self.computed_digest())

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self)

    def _fields(self) -> dict[str, Any]:
        """The fields without copies of what is nested, for reading only: copying takes most of the
        time.
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The inverse of :meth:`to_json`.

        Raises
        ------
        CertificateError
            If a field is missing, unknown, or of another type, or the schema does not exist.
            Whether there is such a family, case or question is for the checker of the family to
            say.
        OtherReleaseError
            If it says that another release wrote it, in another schema.
        """
        if not isinstance(data, dict):
            raise CertificateError("not a JSON object")
        if (schema := data.get("schema")) != SCHEMA:
            message = f"schema {schema!r:.40}; this m2bridge reads schema {SCHEMA}"
            # schema 1 has its versions beside the rest
            release = _release(data.get("reported")) or _release(data)
            if release and type(schema) is int:
                raise OtherReleaseError(f"{message}; {with_release(release)}")
            raise CertificateError(message)
        names = {field.name for field in fields(cls)}
        if wrong := sorted(names ^ data.keys()):
            raise CertificateError(f"missing or unknown fields: {', '.join(wrong):.{_SHOWN}}")
        if badly := [name for name, form in _FORM.items() if not _has_form(data[name], form)]:
            raise CertificateError(
                f"the field '{badly[0]}' does not have the form of schema {SCHEMA}"
            )
        return cls(**data)

    def to_text(self) -> str:
        """The content of a certificate's file; equal certificates have equal files."""
        return (
            json.dumps(
                self._fields(), sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False
            )
            + "\n"
        )

    __str__ = to_text


def file_name(name: str, question: str) -> str:
    """The name of the file of a certificate about the case with this name."""
    return f"{name}-{question}.json"


def with_release(release: str) -> str:
    """The way to verify a certificate of another release."""
    return (
        f"written by m2bridge {release}, which can verify it: in a clone, git checkout v{release}"
        " and pip install ."
    )


def _release(reported: Any) -> str:
    versions = reported.get("versions") if isinstance(reported, dict) else None
    release = versions.get("m2bridge") if isinstance(versions, dict) else None
    return release if isinstance(release, str) and _VERSION.fullmatch(release) else ""


def digest(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _duration(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= _AGES


def _case(value: Any) -> bool:
    """Names with numbers, lists of numbers, words, yes or no."""
    named = isinstance(value, dict) and all(map(_name, value)) and len(value) <= _MOST_NUMBERS
    return named and all(
        _number(v) or isinstance(v, bool) or _name(v) or _numbers(v) for v in value.values()
    )


def _number(value: Any) -> bool:
    return type(value) is int and abs(value) <= LARGEST


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= _MOST_NUMBERS and all(map(_number, value))


def _name(value: Any) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _reported(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() != {"versions", "seconds", "peak_memory"}:
        return False
    versions, memory = value["versions"], value["peak_memory"]
    named = (
        _named_texts(versions)
        and versions.keys() == _PROGRAMS
        and all(map(_WORD.fullmatch, versions.values()))
    )
    measured = _duration(value["seconds"]) and (
        memory is None or (type(memory) is int and memory >= 0)
    )
    return named and bool(_release(value)) and measured


def _named_texts(value: Any) -> bool:
    return isinstance(value, dict) and _texts(value.values())


def _texts(values: Iterable[Any]) -> bool:
    return all(type(value) is str for value in values)


def _has_form(value: Any, form: type | Callable[[Any], bool]) -> bool:
    return type(value) is form if isinstance(form, type) else form(value)


_FORM: dict[str, type | Callable[[Any], bool]] = {
    "schema": int,
    "family": _name,
    "case": _case,
    "name": _name,
    "question": _name,
    "answer": dict,
    "evidence": dict,
    "trusted": lambda v: isinstance(v, list) and _texts(v),
    "field": str,
    "script": lambda v: _named_texts(v) and v.keys() == {"text", "digest"},
    "libraries": _named_texts,
    "reported": _reported,
    "digest": str,
}


MOST_BYTES = 32 * 2**20
"""The largest file that is read."""


def write(certificate: Certificate, folder: Path) -> Path:
    """Write a certificate under its name; an older file of that name is replaced at once or not at
    all.
    """
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
    """The text of a regular file; nothing else is opened, and never more than :data:`MOST_BYTES`
    are read.

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
    # what is there now may be something else
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise CertificateError("not a file")
        content = file.read(MOST_BYTES + 1) if status.st_size <= MOST_BYTES else b""
    if max(status.st_size, len(content)) > MOST_BYTES:
        raise TooExpensiveError(
            "size", f"more than {MOST_BYTES // 2**20} MiB, and no more is read of a file"
        )
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


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where what is stored is not what was found.

    Parameters
    ----------
    place : str
        Such as ``evidence.orbits[3].fibre_length``.
    stored, found : str
        The values as JSON, shortened.
    """

    place: str
    stored: str
    found: str


def difference(stored: Any, found: Any, place: str) -> Difference | None:
    """Compare values and types; ``1``, ``1.0`` and ``true`` differ."""
    if isinstance(stored, dict) and isinstance(found, dict) and stored.keys() == found.keys():
        pairs = [(f"{place}.{key}", stored[key], found[key]) for key in sorted(stored)]
    elif isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        pairs = [(f"{place}[{i}]", *both) for i, both in enumerate(zip(stored, found, strict=True))]
    elif type(stored) is type(found) and stored == found:
        return None
    else:
        return Difference(place, *_shown(stored, found))
    return next((d for inner, s, f in pairs if (d := difference(s, f, inner))), None)


def _shown(stored_value: Any, found_value: Any) -> tuple[str, str]:
    """The values as JSON; of long ones a part around the first character where they differ."""
    stored, found = (json.dumps(value, ensure_ascii=False) for value in (stored_value, found_value))
    beginning = takewhile(lambda pair: pair[0] == pair[1], zip(stored, found, strict=False))
    start = max(len(list(beginning)) - _SHOWN // 2, 0)
    return _part(stored, start), _part(found, start)


def _part(text: str, start: int) -> str:
    end = start + _SHOWN
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
