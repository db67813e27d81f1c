"""The questions about a family that certificates answer, and whether a program in one is this release's."""

from collections.abc import Mapping
from functools import cache, lru_cache, partial
from typing import Any

from m2bridge._version import __version__
from m2bridge.certificates.files import Difference, difference
from m2bridge.certificates.schema import Certificate, Content, digest
from m2bridge.crosscheck.cross_check import compare, without_observations
from m2bridge.crosscheck.verdict import Verdict, numbers_text, plain_text, weights_text
from m2bridge.engine import Engine
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError
from m2bridge.families import family
from m2bridge.families.definition import Family, Question, Row
from m2bridge.maps.statement import Statement, Witness
from m2bridge.results.base import Decision
from m2bridge.results.sheet import name_with_part, value_text
from m2bridge.system import m2script


def foreign_program(certificate: Certificate) -> Difference | None:
    """Find the first place where program or shared scripts are not those of this release for this case and question.

    Raises
    ------
    InvalidCaseError
        If there is no such family, case or question.
    TooLargeError
        If the case is too large for this release to write a program.
    """
    script = _script(certificate.family, certificate.question, family(certificate.family).from_json(certificate.case))
    libraries = library_digests(script.libraries if script else ())
    return difference(certificate.script["text"], script.body if script else "", "script.text") or difference(
        certificate.libraries, libraries, "libraries"
    )


@lru_cache(maxsize=256)
def _script(name: str, question: str, model: Any) -> Script | None:
    return question_of(name, question).script(model)


def rests_on_program(certificate: Certificate) -> bool:
    """Whether another program is a reason to refuse it.

    This release has one program for each case and question. Of another release nobody here knows the program; where
    everything is computed anew the content does not rest on it.
    """
    if certificate.release == __version__:
        return True
    model = family(certificate.family).from_json(certificate.case)
    return question_of(certificate.family, certificate.question).trusts_program(model)


def library_digests(names: tuple[str, ...]) -> dict[str, str]:
    """SHA-256 of shared Macaulay2 scripts of this installation.

    Raises
    ------
    ResourceError
        If this installation has no script of such a name.
    """
    return {name: _library_digest(name) for name in names}


@cache
def _library_digest(name: str) -> str:
    return digest(m2script(name).read_text(encoding="utf-8"))


STATEMENTS = "statements"
"""The observation that all statements share, if those of a family are not observed apart."""


@cache
def questions(name: str) -> Mapping[str, Question]:
    """By their keys, those of the family of this name; raises InvalidCaseError if there is no such family."""
    chosen = family(name)
    by_key: dict[str, list[Statement]] = {}
    for statement in chosen.statements():
        by_key.setdefault(statement.key, []).append(statement)
    stated = [_stated(key, tuple(parts), chosen) for key, parts in by_key.items()]
    return {question.key: question for question in (*stated, *chosen.questions())}


def question_of(name: str, key: str) -> Question:
    """The question with this key about the family of this name.

    Raises
    ------
    InvalidCaseError
        If there is no such family or question.
    """
    by_key = questions(name)
    if key not in by_key:
        raise InvalidCaseError("check", f"unknown question '{key}': use {', '.join(by_key)}")
    return by_key[key]


def _stated(key: str, statements: tuple[Statement, ...], chosen: Family) -> Question:
    """The question whether these statements, with one key, are true."""
    observables = tuple(dict.fromkeys(statement.observable for statement in statements))

    def usual(model: Any) -> bool:
        return not chosen.observed_separately or _usual(model, statements)

    return Question(
        key,
        " ".join([STATEMENTS, *sorted(observables)]) if chosen.observed_separately else STATEMENTS,
        partial(_observe, observables),
        partial(_content, statements),
        lambda model: chosen.program(model, key),
        partial(_rows, statements),
        lambda: tuple(name_with_part(key, statement.part) for statement in statements),
        usual=usual,
        within_reach=usual,
        needs_engine=lambda model: model.needs_engine(observables),
    )


def _usual(model: Any, statements: tuple[Statement, ...]) -> bool:
    """Whether some of the statements apply, and none takes Macaulay2."""
    applies = any(not statement.hypotheses(model) for statement in statements)
    return applies and not model.needs_engine({statement.observable for statement in statements})


def _observe(observables: tuple[str, ...], model: Any, engine: Engine | None) -> Any:
    return model.observe(observables, engine, certified=True)


def _content(statements: tuple[Statement, ...], model: Any, observed: Any) -> Content:
    """The verdicts, and the observations behind them."""
    if observed is None:
        verdicts = [without_observations(statement, model) for statement in statements]
        return Content({"verdicts": [verdict.to_data() for verdict in verdicts]}, {}, ())
    verdicts = [compare(statement, observed) for statement in statements]
    answer = {"verdicts": [verdict.to_data() for verdict in verdicts]}
    certain = (verdict.statement for verdict in verdicts if verdict.decision is not Decision.UNDECIDED)
    trusted = tuple(dict.fromkeys(lemma for statement in certain for lemma in statement.trusted))
    return Content(answer, observed.evidence(), trusted)


def _rows(statements: tuple[Statement, ...], certificate: Certificate) -> list[Row]:
    """One row for each verdict; its sentences are made from the numbers in it."""
    orbits, verdicts = certificate.evidence.get("orbits"), certificate.answer["verdicts"]
    number = len(orbits) if isinstance(orbits, list) else 0
    return [
        _row(Verdict.from_data(statement, data, orbits=number, looked=bool(certificate.evidence)), data)
        for statement, data in zip(statements, verdicts, strict=True)
    ]


def _row(verdict: Verdict, data: Mapping[str, Any]) -> Row:
    """A row with the words of the certificate, which may be those of another release."""
    witness = "" if verdict.witness is None else _witness_text(verdict.witness)
    return Row(name_with_part(verdict.key, data["part"]), data["text"], data["verdict"], verdict.reason, witness)


def _witness_text(witness: Witness) -> str:
    """A sentence about the place where a statement fails."""
    values = f"stated {value_text(witness.predicted)}, computed {value_text(witness.observed)}"
    details = "; ".join(filter(None, (weights_text(witness), numbers_text(witness))))
    return f"at orbit {plain_text(witness.orbit)}: {values} ({details})"
