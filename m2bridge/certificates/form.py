"""The content of a certificate, its form as JSON, and its file, which is written atomically.

Maker and checker share this file, so it contains no mathematics. A certificate has exactly one
text: keys are sorted, and numbers and strings are written in one way. A file is accepted only if it
is this text, byte for byte, so equal files and equal digests mean equal certificates.

*Notation.* A *case* is one model of a family, such as a network with its widths; a *question* is
the key of statements about it, ``closure`` or ``equations``. The *content* of a certificate is the
mathematical part: its answer, its evidence and the lemmas that it takes on trust. The *form* of
a field is the type and size that its value must have. A *digest* is the SHA-256 of a text. A
value is *stored* in a certificate, and *found* if a checker has computed it.
"""

import hashlib
import json
import os
import re
import stat
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from m2bridge.convert.bounded_io import read_json
from m2bridge.errors import CertificateError, ConversionError, OtherReleaseError, TooExpensiveError
from m2bridge.reading import opened
from m2bridge.system import write_aside

SCHEMA = 3
"""The version of the format that this release writes and reads; wording is not part of it."""

MAX_CASE_NUMBER = 10**9
"""The largest number of a case that a certificate may be about."""

MAX_CERTIFICATE_BYTES = 32 * 2**20
"""The size of the largest file that is read."""

# A case is read before it is checked, so the length of its lists, the characters of its names and
# the reported duration in seconds are limited.
_MAX_NUMBERS_IN_CASE = 1000
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,200}")

# The release that wrote a certificate becomes part of a command in a message, and so cannot be
# arbitrary text.
_RELEASE = re.compile(r"[0-9][0-9A-Za-z.+]{0,30}")
# The form of a version, and the programs whose versions a certificate reports.
_VERSION = re.compile(r"[0-9A-Za-z][\w.+-]{0,60}")
_PROGRAMS = {"macaulay2", "m2bridge", "sympy", "python-flint", "python"}

# The length of the excerpts of two values that differ.
_MAX_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True)
class Content:
    """The mathematical part of a certificate; fields as in :class:`Certificate`.

    ``on_trust`` are the entries of ``trusted`` that follow from no theorem, only from the program
    that made the certificate or from counts modulo primes; only a checker sets it.
    """

    answer: dict[str, Any]
    evidence: dict[str, Any]
    trusted: tuple[str, ...]
    on_trust: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Certificate:
    """The answer to one question about one case, with the numbers and polynomials for its check.

    Its only sentences are statements and lemmas, word for word from the wording of the family.

    Parameters
    ----------
    schema : int
        Version of the format.
    family : str
        Name of the family of models.
    case : dict
        The parameters of the case within the family: numbers, lists of numbers, words.
    name : str
        The case in one word, such as ``d3-dout2-a2-t2``, unique among all families.
    question : str
        Key of a statement (``3.2``, ``degree``, ``singular-locus``, …), ``closure`` or
        ``equations``.
    answer : dict
        The verdicts, or the invariants of the closure.
    evidence : dict
        The basis of the answer: facts about every orbit, bounds of a rank, or the generators of
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
        Data that cannot be checked: ``versions`` of ``macaulay2``, ``m2bridge`` (the release that
        wrote it), ``sympy``, ``python-flint``, ``python``; ``seconds``, the wall time of the
        computation, at least 0; ``peak_memory``, the largest resident memory of Macaulay2 during
        the computation in bytes, or ``None`` if the system does not report it. The memory includes
        garbage from earlier computations in the same process, and on other systems than Linux the
        maximum is taken since the start of the process.
    digest : str
        SHA-256 of the canonical JSON of all other fields.
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
        """The release of m2bridge that wrote the certificate; empty if none is named."""
        return _release(self.reported)

    @property
    def file_name(self) -> str:
        """The name of its file, from case and question, such as ``d3-dout2-a2-t2-3.4.json``."""
        return file_name(self.name, self.question)

    def computed_digest(self) -> str:
        """Compute the digest that the certificate should have, from all fields but ``digest``."""
        content = self._fields()
        del content["digest"]
        return digest(_canonical(content, separators=(",", ":")))

    def sealed(self) -> Self:
        """Return a copy of the certificate with its digest."""
        return replace(self, digest=self.computed_digest())

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``: copies of all fields, by name."""
        return asdict(self)

    def _fields(self) -> dict[str, Any]:
        """Return the fields by name; nested values are shared with the certificate, not copies."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return the certificate with these fields: the inverse of :meth:`to_json`.

        CertificateError is raised if a field is missing, unknown, or of a different form, or
        another schema is named and no release wrote it; OtherReleaseError if another release wrote
        it in another schema. The checker of the family later decides whether the family, case and
        question exist.
        """
        if not isinstance(data, dict):
            raise CertificateError("not a JSON object")
        schema = data.get("schema")
        if schema != SCHEMA:
            message = f"schema {schema!r:.40}; this m2bridge reads schema {SCHEMA}"
            # schema 1 has ``versions`` as a field of the certificate
            release = _release(data.get("reported")) or _release(data)
            # without a release, or with another thing than a number as schema, no release wrote it
            if release and type(schema) is int:
                raise OtherReleaseError(f"{message}; {other_release_message(release)}")
            raise CertificateError(message)
        missing_or_unknown = sorted(_FORM.keys() ^ data.keys())
        if missing_or_unknown:
            field_list = ", ".join(missing_or_unknown)
            raise CertificateError(f"missing or unknown fields: {field_list:.{_MAX_SHOWN_CHARS}}")
        for name, form in _FORM.items():
            if not _fits(data[name], form):
                message = f"the field '{name}' does not have the form of schema {SCHEMA}"
                raise CertificateError(message)
        return cls(**data)

    def to_text(self) -> str:
        """Return the content of the certificate's file; equal certificates have equal files."""
        return _canonical(self._fields(), indent=1) + "\n"

    __str__ = to_text


def file_name(name: str, question: str) -> str:
    """Return the name of the file for a case and a question."""
    return f"{name}-{question}.json"


COMMITS_WITHOUT_TAG = {
    "0.1.0": "0b8981dfdc6212123d1e4084b49d086669701cb9",
    "0.2.0": "5427b3e31ee1aedcb61bfc60c92722924ac07aa9",
    "1.0.0": "2cd807834105f47e370ee48adb4367077a8e89ff",
    "1.1.0": "89cba341503e5964b0cad25c619e4e534aec33da",
}
"""The last commits of releases without a tag; later ones have the tag ``v`` with their number."""


def other_release_message(release: str) -> str:
    """Return advice on how to verify a certificate that another release wrote."""
    revision = COMMITS_WITHOUT_TAG.get(release, f"v{release}")
    return (
        f"written by m2bridge {release}, which can verify it: in a clone, git checkout"
        f" {revision[:12]} and pip install ."
    )


def digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(fields: dict[str, Any], **layout: Any) -> str:
    """Return the canonical JSON text of fields: keys sorted, letters as they are, no NaN."""
    return json.dumps(fields, sort_keys=True, ensure_ascii=False, allow_nan=False, **layout)


def _release(reported: Any) -> str:
    """Return the release of m2bridge in the unchecked field ``reported``, or ''."""
    versions = reported.get("versions") if isinstance(reported, dict) else None
    release = versions.get("m2bridge") if isinstance(versions, dict) else None
    if isinstance(release, str) and _RELEASE.fullmatch(release):
        return release
    return ""


def _is_case(value: Any) -> bool:
    """Return whether a value maps names to numbers, lists of numbers, words or booleans."""
    if type(value) is not dict or len(value) > _MAX_NUMBERS_IN_CASE:
        return False
    return all(_fits(name, _NAME) for name in value) and all(map(_is_case_entry, value.values()))


def _is_case_entry(value: Any) -> bool:
    """Return whether a value may be an entry of a case: numbers, also one alone, a word, true."""
    numbers = value if type(value) is list else [value]
    if len(numbers) <= _MAX_NUMBERS_IN_CASE and all(map(_is_case_number, numbers)):
        return True
    return type(value) is bool or _fits(value, _NAME)


def _is_case_number(value: Any) -> bool:
    """Return whether a value is an integer that may name a case, of any sign."""
    return type(value) is int and abs(value) <= MAX_CASE_NUMBER


_FORM: dict[str, Any] = {
    "schema": int,
    "family": _NAME,
    "case": _is_case,
    "name": _NAME,
    "question": _NAME,
    "answer": dict,
    "evidence": dict,
    "trusted": [str],
    "field": str,
    "script": {"text": str, "digest": str},
    "libraries": {str: str},
    "reported": {
        "versions": dict.fromkeys(_PROGRAMS, _VERSION) | {"m2bridge": _RELEASE},
        "seconds": lambda value: type(value) in (int, float) and 0 <= value <= 10**12,
        "peak_memory": lambda value: value is None or (type(value) is int and value >= 0),
    },
    "digest": str,
}
"""The form of each field, as :func:`_fits` understands it."""


def _fits(value: Any, form: Any) -> bool:
    """Return whether a value of JSON has a form: a type, which is exactly its own, so that true is
    no integer; a regular expression for a text; ``[form]`` for a list; ``{str: form}`` for an
    object of such values; an object with exactly these entries; or a function that decides.
    """
    match form:
        case type():
            return type(value) is form
        case re.Pattern():
            return type(value) is str and form.fullmatch(value) is not None
        case [entry]:
            return type(value) is list and all(_fits(one, entry) for one in value)
        case dict() if str in form:
            return type(value) is dict and all(_fits(one, form[str]) for one in value.values())
        case dict():
            if type(value) is not dict or value.keys() != form.keys():
                return False
            return all(_fits(value[name], entry) for name, entry in form.items())
    return bool(form(value))


def names_a_question(family: Any, case: Any, name: Any, question: Any) -> bool:
    """Return whether these values of JSON have the form of the fields of these names."""
    fields_and_values = {"family": family, "case": case, "name": name, "question": question}
    return all(_fits(value, _FORM[field]) for field, value in fields_and_values.items())


def write(certificate: Certificate, folder: Path) -> Path:
    """Write a certificate to its file in a folder, atomically, and return the path."""
    target = folder / certificate.file_name
    write_aside(certificate.to_text(), target)
    return target


def text_of_file(path: Path, most: int = MAX_CERTIFICATE_BYTES) -> str:
    """Return the text of a regular file of at most ``most`` bytes.

    CertificateError is raised for a pipe or device, which may never end, and TooExpensiveError for
    a larger file.
    """
    if not path.is_file():
        raise CertificateError("not a file")
    # it may have been replaced by a pipe meanwhile, for which this must not wait
    descriptor = opened(path)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise CertificateError("not a file")
        if status.st_size <= most:
            # one byte more than allowed, as it may grow while it is read
            content = file.read(most + 1)
            if len(content) <= most:
                return content.decode("utf-8")
    limit = most // 2**20
    raise TooExpensiveError("size", f"the file has more than {limit} MiB, the most that is read")


def read(path: Path) -> Certificate:
    """Read a certificate from a file of any name.

    CertificateError is raised if the file is not a certificate, or differs from the text that
    :func:`write` writes for it; OtherReleaseError if another release wrote it in another schema;
    TooExpensiveError if it is too large; OSError if it cannot be read.
    """
    try:
        text = text_of_file(path)
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
    """The first place where a stored value differs from the one found, both as short JSON."""

    place: str  # the path of the value, such as ``evidence.orbits[3].fibre_length``
    stored: str
    found: str


def difference(stored: Any, found: Any, place: str) -> Difference | None:
    """Return the first difference between a stored and a found value at a place; None without one.

    Dictionaries with the same keys are compared key by key in sorted order, lists of the same
    length entry by entry; others differ as a whole. Values of different types differ: 1, 1.0 and
    true are three values.
    """
    if isinstance(stored, dict) and isinstance(found, dict) and stored.keys() == found.keys():
        for key in sorted(stored):
            inner = difference(stored[key], found[key], f"{place}.{key}")
            if inner is not None:
                return inner
        return None
    if isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        for i, (stored_entry, found_entry) in enumerate(zip(stored, found, strict=True)):
            inner = difference(stored_entry, found_entry, f"{place}[{i}]")
            if inner is not None:
                return inner
        return None
    if type(stored) is type(found) and stored == found:
        return None
    texts = [json.dumps(value, ensure_ascii=False) for value in (stored, found)]
    # both excerpts begin at the same place, before the first character that differs
    common = 0
    for character, other in zip(*texts, strict=False):
        if character != other:
            break
        common += 1
    start = max(common - _MAX_SHOWN_CHARS // 2, 0)
    excerpts = []
    for text in texts:
        dots_before = "…" if start > 0 else ""
        dots_after = "…" if start + _MAX_SHOWN_CHARS < len(text) else ""
        excerpts.append(f"{dots_before}{text[start : start + _MAX_SHOWN_CHARS]}{dots_after}")
    return Difference(place, *excerpts)
