"""A folder of certificates and outcomes, read into the rows of a report.

A certificate is the answer to a question about a case, with a verdict for each part of a statement.
An outcome is what a batch writes, in a file whose name ends with ``SUFFIX``, where there was no
answer. A plan, in a file whose name ends with ``PLAN_SUFFIX``, says what a batch asks; what is
neither answered nor an outcome is a row without an answer.

All files come from strangers: one that cannot be used, or answers a question about a case a second
time, raises CertificateError or an error of reading, and becomes a problem of the report. ``name``
and ``file`` are the path of a file in the folder, as text.
"""

import sys
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from m2bridge._version import __version__
from m2bridge.batch.plan_file import PLAN_SUFFIX, PlanComparison, read_plan
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
    """Return the rows of the unchecked JSON of an outcome: one for each part of its statement."""
    try:
        outcome = Unanswered(**data)
        case = case_of(outcome.family, outcome.case)
        names = question_of(outcome.family, outcome.question).names()
        verdict, reason = "NOT_APPLICABLE", outcome.reason
        if outcome.kind != "not-applicable":
            # The reason itself may name a smaller limit, what was left for the question.
            limit = ""
            if outcome.kind == "timed-out" and outcome.timeout is not None:
                limit = f" (limit {duration(outcome.timeout)})"
            if outcome.kind == "out-of-memory" and outcome.memory is not None:
                limit = f" (limit {outcome.memory / 2**30:.3g} GiB)"
            verdict = "NO_ANSWER"
            reason = f"{outcome.kind}{limit}: {outcome.reason}"
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


def collect(folder: Path) -> Report:
    """Read the certificates and outcomes in a folder and below it.

    Certificates are read, not verified: their digests and names are checked, and nothing is
    computed again. An outcome counts only for questions without a certificate. The report is empty
    if the folder has no certificate, outcome or plan.
    """
    answered: list[VerdictRow] = []  # the rows of certificates
    unanswered: list[VerdictRow] = []  # the rows of outcomes
    details: list[Detail] = []
    tables: dict[Table, Table] = {}  # each table of orbits, to itself
    files: dict[str, str] = {}  # paths by the names without folders
    planned_rows: _RowsByQuestion = {}
    plan_count = 0
    problems: list[Problem] = []
    unusable_plans = {}
    paths = chain(folder.rglob("*.json"), folder.rglob(f"*{PLAN_SUFFIX}"))
    for path in check_deadline_in(sorted(check_deadline_in(paths))):
        # bytes of the name that are not text, surrogates in Python, become question marks
        name = str(path.relative_to(folder)).encode("utf-8", "replace").decode()
        try:
            if name.endswith(PLAN_SUFFIX):
                # a question is of the first plan with it
                planned_rows.update(_rows_of_plan(path, name) | planned_rows)
                plan_count += 1
            elif name.endswith(SUFFIX):
                rows = outcome_rows(read_json(text_of_file(path)), name)
                _register_file_name(rows, SUFFIX, files)
                unanswered += rows
            else:
                certificate = read(path)
                rows = certificate_rows(certificate, name)
                _register_file_name(rows, ".json", files)
                # there is at least one row, and all are about one case
                details.append(_detail(certificate, rows[0].case, tables))
                answered += rows
        except (CertificateError, ConversionError, OSError, ValueError, RecursionError) as reason:
            problems.append(Problem(name, line(str(reason))))
            if name.endswith(PLAN_SUFFIX):
                unusable_plans[name] = str(reason)
    certified = {(row.case, row.question) for row in answered}
    other_outcomes = [row for row in unanswered if (row.case, row.question) not in certified]
    missing_questions = (
        planned_rows.keys() - certified - {(row.case, row.question) for row in unanswered}
    )
    all_rows = [
        *answered,
        *other_outcomes,
        *chain.from_iterable(planned_rows[key] for key in missing_questions),
    ]
    plan = PlanComparison(
        plans=plan_count,
        asked=len(planned_rows),
        missing=tuple(
            sorted(file_name(case.name, question) for case, question in missing_questions)
        ),
        unplanned=len(certified - planned_rows.keys()),
        unusable=unusable_plans,
    )
    details.sort(key=lambda detail: (detail.case.sort_key, detail.question))
    return Report(
        rows=tuple(sorted(all_rows, key=lambda row: row.sort_key)),
        details=tuple(details),
        problems=tuple(problems),
        plan=plan,
    )


_RowsByQuestion = dict[tuple[NamedCase, str], list[VerdictRow]]
"""The rows of each question of plans, by case and question."""


def _rows_of_plan(path: Path, file: str) -> _RowsByQuestion:
    """Return the rows of what a plan asks; nothing of a plan with a wrong case is used."""
    rows: _RowsByQuestion = {}
    for planned in check_deadline_in(read_plan(path)):
        try:
            case = case_of(planned.family, planned.case)
            statements = {key: question_of(case.family, key).names() for key in planned.questions}
        except (AttributeError, KeyError, TypeError, ValueError, InvalidCaseError) as error:
            raise CertificateError(f"a case that this release does not have: {error!r}") from None
        if case.name != planned.name:
            raise CertificateError(f"the name is {planned.name}, but the case is named {case.name}")
        for key, names in statements.items():
            rows[case, key] = [
                VerdictRow(
                    case=case,
                    question=key,
                    statement=statement,
                    text="",
                    verdict="NO_ANSWER",
                    reason=f"asked by the plan {file}, and the folder has no usable certificate"
                    " or outcome",
                    witness="",
                    reported={"versions": {}, "seconds": None, "peak_memory": None},
                    file=file,
                )
                for statement in names
            ]
    return rows


def _register_file_name(rows: list[VerdictRow], suffix: str, files: dict[str, str]) -> None:
    """Check that the name of a file with these rows is made of case and question, and that no file
    that was read before has it; add it to ``files``.
    """
    row = rows[0]
    name = f"{row.case.name}-{row.question}{suffix}"
    if Path(row.file).name != name:
        raise CertificateError(f"the content belongs to {name}")
    if name in files:
        raise CertificateError(f"the same case and question as {files[name]}")
    files[name] = row.file


def certificate_rows(certificate: Certificate, file: str) -> list[VerdictRow]:
    """Return the rows of a certificate: one for each verdict, or one for an answer without
    verdicts, such as a closure. Its digest has to be the digest of the content.
    """
    if certificate.digest != certificate.computed_digest():
        raise CertificateError("the digest does not belong to the content: the file was changed")
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
    """Return the answers of a certificate, one or more, with verdicts that reports know."""
    answers = question_of(certificate.family, certificate.question).rows(certificate)
    if not answers or any(row.verdict not in VERDICTS for row in answers):
        raise ValueError("no verdicts, or unknown ones")
    # the last cell, which says whether a statement is true as printed, is not text
    if not all(isinstance(cell, str) for cell in chain.from_iterable(row[:-1] for row in answers)):
        raise ValueError("something that is shown is not text")
    # An answer that may rest on the program of another release is not taken as it is. A certificate
    # of this release with another program is wrong, which ``verify`` says.
    if certificate.release == __version__:
        return answers
    try:
        has_program = program_difference(certificate) is None
    except (InvalidCaseError, TooLargeError):  # this release has no program for so large a case
        has_program = False
    if has_program:
        return answers
    unchecked = []
    for row in answers:
        if row.verdict in ("REFUTED", "UNDECIDED"):
            unchecked.append(row._replace(reason=f"{row.reason}; program not checked"))
            continue
        unchecked_row = row._replace(
            verdict="PROGRAM_NOT_CHECKED",
            reason=f"{verdict_words(row.verdict)}: {row.reason}",
            as_printed=None,
        )
        unchecked.append(unchecked_row)
    return unchecked


def _detail(certificate: Certificate, case: NamedCase, tables: dict[Table, Table]) -> Detail:
    """Return the content of a certificate of a case, without its verdicts.

    Certificates of one case share script and orbits, so equal ones are kept once: scripts by
    Python, tables of orbits in ``tables``, where each is the key of itself.
    """
    evidence = certificate.evidence
    facts = evidence.get("orbits") or evidence.get("tangent_dimensions")
    orbits = (
        [orbit for orbit in facts if isinstance(orbit, dict)] if isinstance(facts, list) else []
    )
    table = evidence_table(orbits) if orbits else None
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
