"""A folder of certificates and outcomes, read into the rows of a report.

A certificate is the answer to a question about a case, with a verdict for each part of a statement.
An outcome is what a batch writes, in a file whose name ends with ``SUFFIX``, where there was no
answer. A plan, in a file whose name ends with ``PLAN_SUFFIX``, says what a batch asks; what is
neither answered nor an outcome is a row without an answer.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from m2bridge._version import __version__
from m2bridge.batch.plan_file import PLAN_SUFFIX, AskedCase, PlanComparison, read_plan
from m2bridge.batch.store import SUFFIX, Unanswered
from m2bridge.certificates.form import Certificate, file_name, read, text_of_file
from m2bridge.certification.make import program_difference, question_of
from m2bridge.convert.bounded_io import read_json
from m2bridge.errors import CertificateError, ConversionError, InvalidCaseError, TooLargeError
from m2bridge.families.base import AnswerRow
from m2bridge.limits import check_deadline_in
from m2bridge.reports.content import (
    VERDICTS,
    Detail,
    NamedCase,
    Problem,
    Report,
    VerdictRow,
    case_of,
    evidence_table,
    verdict_words,
)
from m2bridge.results.sheet import Table, duration, line


def outcome_rows(data: Any, file: str) -> list[VerdictRow]:
    """Return the rows of a question without an answer: one for each part of its statement.

    Parameters
    ----------
    data : object
        The JSON of the file, unchecked: a dictionary with the fields of
        :class:`m2bridge.batch.Unanswered`, such as ``kind``, why there is no answer.
    file : str
        The file with these data, which the rows name.

    Raises
    ------
    CertificateError
        If the data have a different form.
    """
    try:
        outcome = Unanswered(**data)
        case = case_of(outcome.family, outcome.case)
        names = question_of(outcome.family, outcome.question).names()
        verdict, reason = "NOT_APPLICABLE", outcome.reason
        if outcome.kind != "not-applicable":
            verdict = "NO_ANSWER"
            reason = f"{outcome.kind}{_limit_words(outcome)}: {outcome.reason}"
        reason.encode()  # half of a pair of surrogates is not text, and raises a ValueError
        versions = {str(name): str(version) for name, version in outcome.versions.items()}
    except (AttributeError, KeyError, TypeError, ValueError, InvalidCaseError) as error:
        raise CertificateError(f"not an outcome of a batch: {error!r}") from None
    reported = {"versions": versions, "seconds": None, "peak_memory": None}
    row_of_statement = partial(
        VerdictRow,
        case=case,
        question=outcome.question,
        text="",
        verdict=verdict,
        reason=reason,
        witness="",
        reported=reported,
        file=file,
    )
    return [row_of_statement(statement=name) for name in names]


def _rows_of_asked_case(
    asked: AskedCase, file: str
) -> dict[tuple[NamedCase, str], list[VerdictRow]]:
    """Return the rows of a case of the plan ``file`` without answers, by case and question.

    Raises
    ------
    CertificateError
        If there is no such case, under this name, or no such question.
    """
    try:
        case = case_of(asked.family, asked.case)
        names = {
            question: question_of(asked.family, question).names() for question in asked.questions
        }
    except (AttributeError, KeyError, TypeError, ValueError, InvalidCaseError) as error:
        raise CertificateError(f"a case that this release does not have: {error!r}") from None
    if case.name != asked.name:
        raise CertificateError(f"the name {asked.name} is not that of the case, {case.name}")
    row_of_statement = partial(
        VerdictRow,
        case=case,
        text="",
        verdict="NO_ANSWER",
        reason=f"asked by the plan {file}, and the folder has no usable certificate or outcome",
        witness="",
        reported={"versions": {}, "seconds": None, "peak_memory": None},
        file=file,
    )
    rows = {}
    for key, statements in names.items():
        of_question = [row_of_statement(question=key, statement=name) for name in statements]
        rows[case, key] = of_question
    return rows


def _limit_words(outcome: Unanswered) -> str:
    """Return the text `` (limit 60 s)`` for a limit of the batch that was reached; empty if
    none was.

    The batch has limits in seconds and in bytes. The reason of an outcome may name a smaller limit,
    what was left for the question.
    """
    if outcome.kind == "timed-out" and outcome.timeout is not None:
        return f" (limit {duration(outcome.timeout)})"
    if outcome.kind == "out-of-memory" and outcome.memory is not None:
        return f" (limit {outcome.memory / 2**30:.3g} GiB)"
    return ""


def collect(folder: Path) -> Report:
    """Read the certificates and outcomes in a folder and below it.

    Certificates are read, not verified: their digests and names are checked, and nothing is
    computed again. What cannot be used is listed among the problems, and so is a second answer to
    the same question about the same case. An outcome counts only for questions without a
    certificate.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Report
        Empty if the folder has no certificate, outcome or plan.
    """
    contents = _Contents()
    problems: list[Problem] = []
    unusable_plans = {}
    for path in check_deadline_in(sorted(check_deadline_in(_files_below(folder)))):
        # bytes of the name that are no text, surrogates in Python, become question marks
        name = str(path.relative_to(folder)).encode("utf-8", "replace").decode()
        try:
            if name.endswith(PLAN_SUFFIX):
                contents.include_plan(path, name)
            elif name.endswith(SUFFIX):
                contents.include_outcome(path, name)
            else:
                contents.include_certificate(path, name)
        except (CertificateError, ConversionError, OSError, ValueError, RecursionError) as reason:
            problems.append(Problem(name, line(str(reason))))
            if name.endswith(PLAN_SUFFIX):
                unusable_plans[name] = str(reason)
    rows = sorted(contents.all_rows(), key=lambda row: row.sort_key)
    details = sorted(contents.details, key=lambda detail: (detail.case.sort_key, detail.question))
    return Report(
        rows=tuple(rows),
        details=tuple(details),
        problems=tuple(problems),
        plan=contents.comparison_with_plans(unusable_plans),
    )


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of certificates, outcomes and plans in a folder and below it."""
    yield from folder.rglob("*.json")
    yield from folder.rglob(f"*{PLAN_SUFFIX}")


@dataclass(frozen=True, slots=True)
class _Contents:
    """What the files of a folder contain that have been read so far; it grows with each of them.

    Parameters
    ----------
    answered : list of VerdictRow
        The rows of certificates.
    unanswered : list of VerdictRow
        The rows of outcomes.
    details : list of Detail
        One for each certificate.
    tables : dict of Table to Table
        Maps each table of orbits to itself, so that equal ones are kept once.
    files : dict of str to str
        The path of each file, by its name without folders.
    plans : set of str
        The names of the plans.
    asked : dict
        The rows of each question of a plan, by case and question, if it has no other rows.
    """

    answered: list[VerdictRow] = field(default_factory=list)
    unanswered: list[VerdictRow] = field(default_factory=list)
    details: list[Detail] = field(default_factory=list)
    tables: dict[Table, Table] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    plans: set[str] = field(default_factory=set)
    asked: dict[tuple[NamedCase, str], list[VerdictRow]] = field(default_factory=dict)

    def include_plan(self, path: Path, name: str) -> None:
        """Include a plan; ``name`` is the path of its file in the folder, as text.

        Raises
        ------
        CertificateError, ConversionError, OSError, ValueError, RecursionError
            If it cannot be used.
        """
        rows: dict[tuple[NamedCase, str], list[VerdictRow]] = {}
        for asked in check_deadline_in(read_plan(path)):
            rows |= _rows_of_asked_case(asked, name)
        # nothing of a plan with a wrong case is used, and a question is of the first plan with it
        self.asked.update(rows | self.asked)
        self.plans.add(name)

    def include_outcome(self, path: Path, name: str) -> None:
        """Include an outcome; ``name`` is the path of its file in the folder, as text.

        Raises
        ------
        CertificateError, ConversionError, OSError, ValueError, RecursionError
            If it cannot be used, or there is another about the same question and case.
        """
        rows = outcome_rows(read_json(text_of_file(path)), name)
        _register_file_name(rows, SUFFIX, self.files)  # raises for a second answer
        self.unanswered.extend(rows)

    def include_certificate(self, path: Path, name: str) -> None:
        """Include a certificate; ``name`` is the path of its file in the folder, as text.

        Raises
        ------
        CertificateError, ConversionError, OSError, ValueError, RecursionError
            If it cannot be used, or there is another about the same question and case.
        """
        certificate = read(path)
        rows = certificate_rows(certificate, name)
        _register_file_name(rows, ".json", self.files)  # raises for a second answer
        # there is at least one row, and all are about one case
        self.details.append(_detail(certificate, rows[0].case, self.tables))
        self.answered.extend(rows)

    def all_rows(self) -> list[VerdictRow]:
        """Return the rows of certificates, those of outcomes about other questions or cases, and
        rows of what plans ask and neither of them answers.
        """
        answered = {(row.case, row.question) for row in self.answered}
        rows = list(self.answered)
        rows += [row for row in self.unanswered if (row.case, row.question) not in answered]
        for key in self._missing():
            rows += self.asked[key]
        return rows

    def _missing(self) -> list[tuple[NamedCase, str]]:
        """Return the cases and questions of plans without a certificate and without an outcome."""
        there = {(row.case, row.question) for row in (*self.answered, *self.unanswered)}
        return [key for key in self.asked if key not in there]

    def comparison_with_plans(self, unusable: dict[str, str]) -> PlanComparison:
        """Return what the plans have and the folder has not.

        ``unusable`` has the reasons why plans could not be used, by their files.
        """
        missing = [file_name(case.name, question) for case, question in self._missing()]
        certified = {(row.case, row.question) for row in self.answered}
        return PlanComparison(
            plans=len(self.plans),
            asked=len(self.asked),
            missing=tuple(sorted(missing)),
            unplanned=len(certified - self.asked.keys()),
            unusable=unusable,
        )


def _register_file_name(rows: list[VerdictRow], suffix: str, files: dict[str, str]) -> None:
    """Check the name of a file with these rows, and add it to the names of ``files``.

    The name has to be made of case and question, and no file that was read before may have had it.

    Parameters
    ----------
    rows : list of VerdictRow
        Not empty, all of one file.
    suffix : str
        How names of certificates, or of outcomes, end.
    files : dict of str to str
        The path of the file with each name so far; this one is added.

    Raises
    ------
    CertificateError
        If the name is not made of case and question, or another file has it.
    """
    row = rows[0]
    name = f"{row.case.name}-{row.question}{suffix}"
    if Path(row.file).name != name:
        raise CertificateError(f"the content is that of {name}")
    if name in files:
        raise CertificateError(f"the same case and question as {files[name]}")
    files[name] = row.file


def certificate_rows(certificate: Certificate, file: str) -> list[VerdictRow]:
    """Return the rows of a certificate: one for each verdict, or one for an answer without
    verdicts, such as a closure.

    ``file`` is that of the certificate, which the rows name.

    Raises
    ------
    CertificateError
        If the digest is not that of the content, or the answer has no form that this version
        writes.
    """
    if certificate.digest != certificate.computed_digest():
        raise CertificateError("the digest is not that of the content: the file was changed")
    try:
        case = case_of(certificate.family, certificate.case)
        answers = _answers(certificate)
    except InvalidCaseError as reason:
        raise CertificateError(str(reason)) from None
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise CertificateError(f"the answer does not have the expected form: {reason!r}") from None
    row_of_answer = partial(
        VerdictRow,
        case=case,
        question=certificate.question,
        reported=certificate.reported,
        file=file,
    )
    rows = []
    for answer in answers:
        # A VerdictRow has the fields of an AnswerRow, but calls its name ``statement``.
        fields = answer._asdict()
        statement = fields.pop("name")
        rows.append(row_of_answer(statement=statement, **fields))
    return rows


def _answers(certificate: Certificate) -> list[AnswerRow]:
    """Return the answers of a certificate, one or more, with verdicts that reports know; if its
    program is that of another release, each as :func:`_program_not_checked` changes it.

    Raises
    ------
    InvalidCaseError, KeyError, TypeError, ValueError, AttributeError
        If the certificate has another form.
    """
    answers = question_of(certificate.family, certificate.question).rows(certificate)
    if not answers or any(row.verdict not in VERDICTS for row in answers):
        raise ValueError("no verdicts, or unknown ones")
    # the last cell, which says whether a statement is true as printed, is no text
    if not all(isinstance(cell, str) for cell in chain.from_iterable(row[:-1] for row in answers)):
        raise ValueError("something that is shown is not text")
    # An answer that may rest on the program of another release is not taken as it is.
    if _has_other_program(certificate):
        return list(map(_program_not_checked, answers))
    return answers


def _has_other_program(certificate: Certificate) -> bool:
    """Whether another release wrote a certificate, with another program than this release's.

    It is false for a certificate of this release with another program: that is wrong, and
    :func:`m2bridge.certification.verify.verify` rejects it, while a certificate of another release
    is ``program-not-checked``.
    """
    if certificate.release == __version__:
        return False
    try:
        return program_difference(certificate) is not None
    except (InvalidCaseError, TooLargeError):  # this release has no program for so large a case
        return True


def _program_not_checked(row: AnswerRow) -> AnswerRow:
    """Return the row of an answer whose program this release does not have.

    Its verdict is PROGRAM_NOT_CHECKED, and the verdict of the certificate part of the reason;
    REFUTED and UNDECIDED stay, with a remark.
    """
    if row.verdict in ("REFUTED", "UNDECIDED"):
        return row._replace(reason=f"{row.reason}; program not checked")
    return row._replace(
        verdict="PROGRAM_NOT_CHECKED",
        reason=f"{verdict_words(row.verdict)}: {row.reason}",
        as_printed=None,
    )


def _detail(certificate: Certificate, case: NamedCase, tables: dict[Table, Table]) -> Detail:
    """Return the content of a certificate of a case, without its verdicts.

    Certificates of one case share script and orbits, so equal ones are kept once: scripts by
    Python, tables of orbits in ``tables``, where each is the key of itself.
    """
    table = _table_of_orbits(certificate)
    if table is not None:
        table = tables.setdefault(table, table)
    return Detail(
        case=case,
        question=certificate.question,
        observation=question_of(certificate.family, certificate.question).observation,
        orbits=table,
        script=sys.intern(certificate.script["text"]),
        trusted=tuple(certificate.trusted),
        reported=certificate.reported,
    )


def _table_of_orbits(certificate: Certificate) -> Table | None:
    """Return the facts about orbits, or else the dimensions of their tangent spaces, that the
    evidence of a certificate has; ``None`` if it has neither.
    """
    evidence = certificate.evidence
    facts = evidence.get("orbits") or evidence.get("tangent_dimensions")
    if not isinstance(facts, list):
        return None
    orbits = [orbit for orbit in facts if isinstance(orbit, dict)]
    return evidence_table(orbits) if orbits else None
