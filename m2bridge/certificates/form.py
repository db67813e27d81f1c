"""The content of a certificate, its form as JSON, and its file, which is never half there.

Maker and checker share this file, so nothing in it depends on mathematics. A certificate has one
text: keys in order, numbers and strings in one way. What is read has to be this text, byte for
byte, so that equal files and equal digests mean equal certificates.

*Notation.* A *case* is one model of a family, such as a network with its widths; a *question* is
the key of statements about it, ``closure`` or ``equations``. The *content* of a certificate is the
part with mathematics: its answer, its evidence and the lemmas that it takes on trust. The *form* of
a field is the type and the size that its value must have. A *digest* is the SHA-256 of a text.
*Stored* is what stands in a certificate, *found* what a checker finds in its place.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from m2bridge.convert.bounded_io import read_json
from m2bridge.errors import CertificateError, ConversionError, OtherReleaseError, TooExpensiveError
from m2bridge.reading import opened
from m2bridge.system import write_aside

SCHEMA = 3
"""The version of the format that this release writes and reads; words do not belong to it."""

LARGEST = 10**9
"""The largest number of a case that a certificate may be about."""

MOST_BYTES = 32 * 2**20
"""The largest file that is read, in bytes."""

# The case is read before anything about it is known, so its lists have at most so many entries, its
# names have such characters, and the time that it is said to have taken is at most so many seconds:
# all of a size that can be shown.
_MOST_NUMBERS = 1000
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,200}")
_LONGEST = 10**12

# The release that wrote a certificate is part of a command that is shown (with_release), and so is
# never any text.
_RELEASE = re.compile(r"[0-9][0-9A-Za-z.+]{0,30}")
# The programs whose versions a certificate reports, and what a version looks like.
_VERSION = re.compile(r"[0-9A-Za-z][\w.+-]{0,60}")
_PROGRAMS = {"macaulay2", "m2bridge", "sympy", "python-flint", "python"}

# The most characters of a value that are shown where two values differ.
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Content:
    """The mathematical part of a certificate; fields as in :class:`Certificate`.

    ``on_trust`` are those of ``trusted`` that no theorem says: only the program that made the
    certificate does. It is no field of a certificate, and a checker alone fills it.
    """

    answer: dict[str, Any]
    evidence: dict[str, Any]
    trusted: tuple[str, ...]
    on_trust: tuple[str, ...] = ()


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
        """The release of m2bridge that wrote the certificate; empty if it says none."""
        return _release(self.reported)

    @property
    def file_name(self) -> str:
        """The name of its file, such as ``d3-dout2-a2-t2-3.4.json``: of its case and question."""
        return file_name(self.name, self.question)

    def computed_digest(self) -> str:
        """The digest that the certificate must have: of the JSON of all its other fields."""
        content = self._fields()
        del content["digest"]
        return digest(_canonical(content, separators=(",", ":")))

    def sealed(self) -> Self:
        """A copy of the certificate with its digest."""
        return replace(self, digest=self.computed_digest())

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self)

    def _fields(self) -> dict[str, Any]:
        """The fields, for reading only: copying what is nested would take most of the time."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The certificate with these fields: the inverse of :meth:`to_json`.

        Raises
        ------
        CertificateError
            If a field is missing, unknown, or of another form, or the schema does not exist.
            Whether there is such a family, case or question is for the checker of the family to
            say.
        OtherReleaseError
            If it says that another release wrote it, in another schema.
        """
        if not isinstance(data, dict):
            raise CertificateError("not a JSON object")
        schema = data.get("schema")
        if schema != SCHEMA:
            message = f"schema {schema!r:.40}; this m2bridge reads schema {SCHEMA}"
            # schema 1 has its versions beside the rest
            release = _release(data.get("reported")) or _release(data)
            if release and type(schema) is int:
                raise OtherReleaseError(f"{message}; {other_release_message(release)}")
            raise CertificateError(message)
        wrong = sorted(_FORM.keys() ^ data.keys())
        if wrong:
            raise CertificateError(f"missing or unknown fields: {', '.join(wrong):.{_SHOWN}}")
        for name, has_form in _FORM.items():
            if not has_form(data[name]):
                message = f"the field '{name}' does not have the form of schema {SCHEMA}"
                raise CertificateError(message)
        return cls(**data)

    def to_text(self) -> str:
        """The content of a certificate's file; equal certificates have equal files."""
        return _canonical(self._fields(), indent=1) + "\n"

    __str__ = to_text


def file_name(name: str, question: str) -> str:
    """The name of the file of a certificate on this question about the case with this name."""
    return f"{name}-{question}.json"


def other_release_message(release: str) -> str:
    """The words that say how to verify a certificate that this other release wrote."""
    return (
        f"written by m2bridge {release}, which can verify it: in a clone, git checkout v{release}"
        " and pip install ."
    )


def digest(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(fields: dict[str, Any], **layout: Any) -> str:
    """The one JSON text of these fields: keys sorted, no escapes, no NaN.

    ``layout`` are the indentation and the separators, as for ``json.dumps``.
    """
    return json.dumps(fields, sort_keys=True, ensure_ascii=False, allow_nan=False, **layout)


def _release(reported: Any) -> str:
    """The release of m2bridge in the field ``reported``; empty if there is none in it.

    The value has not been looked at before, and may be of any type.
    """
    versions = reported.get("versions") if isinstance(reported, dict) else None
    release = versions.get("m2bridge") if isinstance(versions, dict) else None
    if isinstance(release, str) and _RELEASE.fullmatch(release):
        return release
    return ""


# Whether a value has the form of a field. A bool is no number here, though Python takes it for one.


def _is_integer(value: Any) -> bool:
    return type(value) is int


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_object(value: Any) -> bool:
    return type(value) is dict


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_named_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _is_number(value: Any) -> bool:
    return type(value) is int and abs(value) <= LARGEST


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= _MOST_NUMBERS and all(map(_is_number, value))


def _is_part_of_a_case(value: Any) -> bool:
    return _is_number(value) or type(value) is bool or _is_name(value) or _are_numbers(value)


def _is_case(value: Any) -> bool:
    """Whether this maps names to numbers, lists of numbers, words, yes or no."""
    if not isinstance(value, dict) or len(value) > _MOST_NUMBERS:
        return False
    return all(map(_is_name, value)) and all(map(_is_part_of_a_case, value.values()))


def _is_script(value: Any) -> bool:
    return _are_named_texts(value) and value.keys() == {"text", "digest"}


def _is_reported(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() != {"versions", "seconds", "peak_memory"}:
        return False
    return (
        _are_versions(value["versions"])
        and bool(_release(value))
        and _is_duration(value["seconds"])
        and _is_memory(value["peak_memory"])
    )


def _are_versions(value: Any) -> bool:
    if not _are_named_texts(value) or value.keys() != _PROGRAMS:
        return False
    return all(map(_VERSION.fullmatch, value.values()))


def _is_duration(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= _LONGEST


def _is_memory(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 0)


_FORM: dict[str, Callable[[Any], bool]] = {
    "schema": _is_integer,
    "family": _is_name,
    "case": _is_case,
    "name": _is_name,
    "question": _is_name,
    "answer": _is_object,
    "evidence": _is_object,
    "trusted": _are_texts,
    "field": _is_text,
    "script": _is_script,
    "libraries": _are_named_texts,
    "reported": _is_reported,
    "digest": _is_text,
}


def write(certificate: Certificate, folder: Path) -> Path:
    """Write a certificate into a folder under its name, and give the path of its file.

    An older file is replaced at once or not at all.
    """
    target = folder / certificate.file_name
    write_aside(certificate.to_text(), target)
    return target


def text_of(path: Path) -> str:
    """The text of a regular file, of which never more than :data:`MOST_BYTES` are read.

    Raises
    ------
    CertificateError
        If it is something else than a file, which may never come to an end.
    TooExpensiveError
        If the file is larger.
    OSError
        If the file cannot be read.
    """
    if not path.is_file():
        raise CertificateError("not a file")
    # what is there now may be something else, such as a pipe, which must not be waited for
    descriptor = opened(path)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise CertificateError("not a file")
        if status.st_size <= MOST_BYTES:
            # one byte more than allowed, as it may grow while it is read
            content = file.read(MOST_BYTES + 1)
            if len(content) <= MOST_BYTES:
                return content.decode("utf-8")
    limit = MOST_BYTES // 2**20
    raise TooExpensiveError("size", f"more than {limit} MiB, and no more is read of a file")


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
    """The first difference of what is stored and what was found; None if they are equal.

    Dictionaries are compared key by key in their order, lists entry by entry. Values differ if
    their types do: 1, 1.0 and true are three values. ``place`` names both in the certificate, and
    the difference says at which place within them it is.
    """
    if isinstance(stored, dict) and isinstance(found, dict) and stored.keys() == found.keys():
        for key in sorted(stored):
            inner = difference(stored[key], found[key], f"{place}.{key}")
            if inner:
                return inner
        return None
    if isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        for i, (stored_entry, found_entry) in enumerate(zip(stored, found, strict=True)):
            inner = difference(stored_entry, found_entry, f"{place}[{i}]")
            if inner:
                return inner
        return None
    if type(stored) is type(found) and stored == found:
        return None
    return _shortened(stored, found, place)


def _shortened(stored_value: Any, found_value: Any, place: str) -> Difference:
    """The difference of two values that are not equal, as JSON.

    Of long texts a part is given that begins before the first character where they differ.
    """
    stored = json.dumps(stored_value, ensure_ascii=False)
    found = json.dumps(found_value, ensure_ascii=False)
    start = max(_common(stored, found) - _SHOWN // 2, 0)
    return Difference(place, _part(stored, start), _part(found, start))


def _common(first: str, second: str) -> int:
    """The number of characters before the first one in which two texts differ."""
    for i, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return i
    return min(len(first), len(second))


def _part(text: str, start: int) -> str:
    """The part of a text that is shown, from ``start`` on, with dots for what is left out."""
    end = start + _SHOWN
    shown = text[start:end]
    if start:
        shown = "…" + shown
    if end < len(text):
        shown += "…"
    return shown
