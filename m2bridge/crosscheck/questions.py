"""Whether the program in a certificate is the one that this release would run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache, partial
from typing import Any

from m2bridge._version import __version__
from m2bridge.certificates.files import Difference, difference
from m2bridge.certificates.schema import Certificate, Content, digest
from m2bridge.crosscheck.cross_check import compare, without_observations
from m2bridge.crosscheck.verdict import Grounds
from m2bridge.engine import Engine
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError
from m2bridge.families import family
from m2bridge.families.definition import Family, Question, Row
from m2bridge.maps.statement import GlobalStatement, Statement
from m2bridge.results.base import Decision
from m2bridge.results.sheet import matrix_text, name_with_part, value_text
from m2bridge.system import m2script


def foreign_program(certificate: Certificate) -> Difference | None:
    """Where program and shared scripts are not those of this release for this case and question.

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
    known = questions(name)
    if key not in known:
        raise InvalidCaseError("check", f"unknown question '{key}': use {', '.join(known)}")
    return known[key]


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
    """Of what is observed apart: what applies, and does not take Macaulay2."""
    applies = any(not statement.hypotheses(model) for statement in statements)
    return applies and not model.needs_engine({statement.observable for statement in statements})


def _observe(observables: tuple[str, ...], model: Any, engine: Engine | None) -> Any:
    return model.observe(observables, engine, certified=True)


def _content(statements: tuple[Statement, ...], model: Any, seen: Any) -> Content:
    """The verdicts, and the observations behind them."""
    if seen is None:
        verdicts = [without_observations(statement, model) for statement in statements]
        return Content({"verdicts": [verdict.to_data() for verdict in verdicts]}, {}, ())
    verdicts = [compare(statement, seen) for statement in statements]
    answer = {"verdicts": [verdict.to_data() for verdict in verdicts]}
    said = (verdict.statement for verdict in verdicts if verdict.decision is not Decision.UNDECIDED)
    trusted = tuple(dict.fromkeys(lemma for statement in said for lemma in statement.trusted))
    return Content(answer, seen.evidence(), trusted)


def _rows(statements: tuple[Statement, ...], certificate: Certificate) -> list[Row]:
    """One row for each verdict; its sentences are made from the numbers in it."""
    orbits = certificate.evidence.get("orbits")
    number = len(orbits) if isinstance(orbits, list) else 0
    return list(_verdict_rows(statements, certificate.answer["verdicts"], number, bool(certificate.evidence)))


def _verdict_rows(
    statements: tuple[Statement, ...], verdicts: list[dict[str, Any]], orbits: int, looked: bool
) -> Iterator[Row]:
    for statement, data in zip(statements, verdicts, strict=True):
        witness = data["witness"]
        grounds = Grounds(
            statement.observable,
            data["hypothesis"] or "",
            _said(witness["predicted"] if witness else data["predicted"]),
            _said(witness["observed"] if witness else data["observed"]),
            vacuous=data["concerned"] == 0 or _nothing(statement, data["observed"]),
            concerned=data["concerned"],
            orbits=orbits,
            failing=tuple(map(_orbit, data["failing"])),
            undecided=tuple(map(_orbit, data["undecided"])),
            at=_orbit(witness["orbit"]) if witness else "",
            looked=looked,
        )
        if grounds.decision != data["verdict"]:
            raise ValueError(f"the verdict {data['verdict']} does not follow from what is said about it")
        yield Row(
            name_with_part(statement.key, data["part"]),
            data["text"],
            data["verdict"],
            grounds.reason,
            "" if witness is None else _witness(witness),
        )


def _nothing(statement: Statement, observed: Any) -> bool:
    return isinstance(statement, GlobalStatement) and observed is not None and observed == statement.nothing


def _orbit(cells: list[int]) -> str:
    return f"({', '.join(map(str, cells))})"


def _said(value: Any) -> str:
    return "" if value is None else value_text(value)


def _witness(witness: Mapping[str, Any]) -> str:
    """Where a statement fails, in one sentence."""
    own = ("orbit", "predicted", "observed", "numbers")
    weights = [f"{name} = {matrix_text(rows)}" for name, rows in witness.items() if name not in own]
    numbers = [f"{name.replace('_', ' ')} {value}" for name, value in witness["numbers"].items()]
    said = f"stated {value_text(witness['predicted'])}, computed {value_text(witness['observed'])}"
    details = "; ".join(part for part in (", ".join(weights), ", ".join(numbers)) if part)
    return f"at orbit {_orbit(witness['orbit'])}: {said} ({details})"
