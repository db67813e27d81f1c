"""Certificates, made from a case and a question; and the questions about a family.

A question is observed, by methods that share nothing with predictions, and its content is what was
observed and what follows. A certificate holds the content, the program of Macaulay2 behind it, and
what is reported and nobody can check: versions, seconds, memory. What is checked of it afterwards
stands in :mod:`m2bridge.checker`, and shares nothing with this file.
"""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import metadata
from typing import Any, Unpack

from m2bridge._version import __version__
from m2bridge.algebra.field import QQ
from m2bridge.certificates.form import (
    LARGEST,
    SCHEMA,
    Certificate,
    Content,
    Difference,
    difference,
    digest,
)
from m2bridge.crosscheck.verdict import (
    from_certificate,
    numbers_text,
    plain_text,
    verdicts_on,
    weights_text,
)
from m2bridge.engine import Engine, RunOptions, Session, computation, current
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError
from m2bridge.families.base import AnswerRow, Family, Question
from m2bridge.families.registry import family
from m2bridge.limits import limited
from m2bridge.results.base import Decision
from m2bridge.results.sheet import name_with_part, value_text
from m2bridge.statements.statement import Statement, Witness, observed_together
from m2bridge.system import m2script

FORMER_SCRIPTS: dict[str, tuple[str, ...]] = {
    # comments of 1.0 name files that have moved since
    "wire": ("21aefd283c4d5cc6d26f06ce469dd4d994b13812884e456ee87c583ec99d1d28",),
    "values": ("5fdb8039284075fe387fd9fef2164b70e28711d8233769d48138d6c6d3ff01bb",),
}
"""By the name of a shared script, SHA-256 of its texts in former releases, of which somebody has
read that they do what the present one does.
"""


def program_difference(certificate: Certificate) -> Difference | None:
    """Find the first place where program or shared scripts are not those of this release for this
    case and question, nor the scripts those of a former one.

    Raises
    ------
    InvalidCaseError
        If there is no such family, case or question.
    TooLargeError
        If the case is too large for this release to write a program.
    """
    model = family(certificate.family).from_json(certificate.case)
    text, libraries = _program(_script(certificate.family, certificate.question, model))
    stored = certificate.libraries
    for name in stored.keys() & libraries.keys():
        if stored[name] in FORMER_SCRIPTS.get(name, ()):
            libraries[name] = stored[name]
    found = difference(certificate.script["text"], text, "script.text")
    return found or difference(stored, libraries, "libraries")


@lru_cache(maxsize=256)
def _script(name: str, question: str, model: Any) -> Script | None:
    return question_of(name, question).script(model)


def rests_on_program(certificate: Certificate) -> bool:
    """Whether another program is a reason to refuse it.

    This release has one program for each case and question. Of another release nobody here knows
    the program; where everything is computed anew the content does not rest on it.
    """
    if certificate.release == __version__:
        return True
    model = family(certificate.family).from_json(certificate.case)
    return question_of(certificate.family, certificate.question).trusts_program(model)


def _program(script: Script | None) -> tuple[str, dict[str, str]]:
    """The text of a program, and SHA-256 of the shared scripts that it uses; empty for none."""
    if script is None:
        return "", {}
    return script.body, {name: _digest(name) for name in script.libraries}


@cache
def _digest(name: str) -> str:
    return digest(m2script(name).read_text(encoding="utf-8"))


STATEMENTS = "statements"
"""The observation that all statements share, if those of a family are not observed apart."""


@cache
def questions(name: str) -> Mapping[str, Question[Any, Any]]:
    """The questions of the family of this name, by their keys; InvalidCaseError if there is none.

    Statements with the same key are one question; those that are observed apart are none, unless
    the family has one of its own with their key.
    """
    chosen = family(name)
    by_key: dict[str, list[Statement]] = {}
    for statement in observed_together(chosen.statements()):
        by_key.setdefault(statement.key, []).append(statement)
    by_question: dict[str, Question[Any, Any]] = {}
    for key, parts in by_key.items():
        by_question[key] = StatedQuestion(key=key, statements=tuple(parts), family=chosen)
    for question in chosen.questions():
        by_question[question.key] = question
    return by_question


def question_of(name: str, key: str) -> Question[Any, Any]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedQuestion(Question[Any, Any]):
    """Whether the statements with one key are true.

    Parameters
    ----------
    key : str
    statements : tuple of Statement
        With this key, one for each part.
    family : Family
    """

    key: str
    statements: tuple[Statement, ...]
    family: Family[Any]

    @property
    def _observables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(statement.observable for statement in self.statements))

    @property
    def observation(self) -> str:
        """One for all statements about a case, or what these are about if they are observed
        apart.
        """
        if not self.family.observed_separately:
            return STATEMENTS
        return " ".join([STATEMENTS, *sorted(self._observables)])

    def observe(self, model: Any) -> Any:
        """Observe what the statements are about, by methods that share nothing with predictions."""
        return model.observe(self._observables, certified=True)

    def content(self, model: Any, observed: Any) -> Content:
        """The verdicts, and the observations behind them."""
        verdicts = verdicts_on(self.statements, model, observed)
        answer = {"verdicts": [verdict.to_data() for verdict in verdicts]}
        if observed is None:
            return Content(answer, {}, ())
        # not those of the verdicts, which have none where a statement does not apply
        trusted: dict[str, None] = {}
        for verdict in verdicts:
            if verdict.decision is not Decision.UNDECIDED:
                trusted |= dict.fromkeys(verdict.statement.trusted)
        return Content(answer, observed.evidence(), tuple(trusted))

    def rows(self, certificate: Certificate) -> list[AnswerRow]:
        """One row for each verdict; its sentences are made from the numbers in it.

        The words are those of the certificate, which may be those of another release.
        """
        orbits = certificate.evidence.get("orbits")
        number = len(orbits) if isinstance(orbits, list) else 0
        model = self.family.from_json(certificate.case)
        rows = []
        for statement, data in zip(self.statements, certificate.answer["verdicts"], strict=True):
            verdict = from_certificate(
                statement,
                data,
                orbits=number,
                looked=bool(certificate.evidence),
                numbers=model.numbers(statement.observable),
            )
            row = AnswerRow(
                name=name_with_part(statement.key, data["part"]),
                text=data["text"],
                verdict=data["verdict"],
                reason=verdict.reason,
                witness=_witness_text(verdict.witness),
                source=data["source"],
            )
            rows.append(row)
        return rows

    def names(self) -> tuple[str, ...]:
        """The key with each part."""
        return tuple(name_with_part(self.key, statement.part) for statement in self.statements)

    def script(self, model: Any) -> Script | None:
        """The program that the family names."""
        return self.family.program(model, self.key)

    def usual(self, model: Any) -> bool:
        """Whether the answer costs little more than others do.

        All questions share an observation; or some statement applies, and none takes Macaulay2.
        """
        if not self.family.observed_separately:
            return True
        applies = any(not statement.hypotheses(model) for statement in self.statements)
        return applies and not self.needs_engine(model)

    def within_reach(self, model: Any) -> bool:
        """The same."""
        return self.usual(model)

    def needs_engine(self, model: Any) -> bool:
        """Whether Macaulay2 takes part in observing."""
        needed: bool = model.needs_engine(self._observables)
        return needed


def _witness_text(witness: Witness | None) -> str:
    """A sentence about the place where a statement fails; empty if there is none."""
    if witness is None:
        return ""
    values = f"stated {value_text(witness.predicted)}, computed {value_text(witness.observed)}"
    details = "; ".join(filter(None, (weights_text(witness), numbers_text(witness))))
    return f"at orbit {plain_text(witness.orbit)}: {values} ({details})"


@computation
def certify(model: Any, question: str, **options: Unpack[RunOptions]) -> Certificate:
    """Answer one question about one case; as :func:`certify_all`.

    Examples
    --------
    >>> certificate = certify(PolynomialNetwork([2, 2, 1]), "expected-dimension")
    >>> certificate.file_name, certificate.answer["verdicts"][0]["verdict"]
    ('polynomial-network-2-2-1-r2-expected-dimension.json', 'CONFIRMED')
    """
    return certify_all(model, (question,))[0]


@computation
def certify_all(
    model: Any, questions: Sequence[str], **options: Unpack[RunOptions]
) -> list[Certificate]:
    """Answer questions about one case; those that rest on the same observation share it.

    Parameters
    ----------
    model : Model
        Of a family in the registry.
    questions : sequence of str
        Keys of :func:`m2bridge.certification.make.questions`.
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    timeout : float, optional
        Seconds for all questions together.

    Returns
    -------
    list of Certificate
        One for each question, in their order.

    Raises
    ------
    InvalidCaseError
        If there is no such question, or a number of the case is above
        :data:`~m2bridge.certificates.form.LARGEST`.
    EngineError
        If Macaulay2 failed or reached a limit; nothing is certified then.
    ContradictionError
        If independent methods disagree.
    """
    if not isinstance(getattr(model, "family", None), str):
        raise InvalidCaseError("model", f"must be a model, not a {type(model).__name__}")
    chosen = [question_of(model.family, question) for question in questions]
    _check_numbers(model.to_json())
    needed = any(question.needs_engine(model) for question in chosen)
    return _certificates(model, chosen, current() if needed else None)


def _check_numbers(case: dict[str, Any]) -> None:
    """Raise InvalidCaseError for a number, alone or in a list, that the form does not hold."""
    for name, value in case.items():
        numbers = value if isinstance(value, list) else [value]
        for number in numbers:
            if isinstance(number, int) and number > LARGEST:
                raise InvalidCaseError(name, f"a certificate is about numbers up to {LARGEST}")


def _certificates(
    model: Any, questions: Sequence[Question[Any, Any]], engine: Engine | None
) -> list[Certificate]:
    certificates = []
    observed: dict[str, tuple[Any, dict[str, Any]]] = {}
    for question in questions:
        if question.observation not in observed:
            observed[question.observation] = _observed(model, question, engine)
        observation, reported = observed[question.observation]
        certificates.append(_certificate(model, question, observation, reported))
    return certificates


def _observed(
    model: Any, question: Question[Any, Any], engine: Engine | None
) -> tuple[Any, dict[str, Any]]:
    """What is observed of a model, and what is reported of the run, which nobody can check."""
    if isinstance(engine, Session):
        engine.forget_peak_memory()
    with limited(None) as running:
        observation = question.observe(model)
        reported = {
            "versions": _versions("none" if engine is None else engine.version),
            "seconds": round(running.seconds, 3),
            "peak_memory": engine.peak_memory if isinstance(engine, Session) else None,
        }
    return observation, reported


def _certificate(
    model: Any, question: Question[Any, Any], observation: Any, reported: dict[str, Any]
) -> Certificate:
    content = question.content(model, observation)
    text, libraries = _program(question.script(model))
    return Certificate(
        schema=SCHEMA,
        family=model.family,
        case=model.to_json(),
        name=family(model.family).label(model),
        question=question.key,
        answer=content.answer,
        evidence=content.evidence,
        trusted=list(content.trusted),
        field=str(QQ),
        script={"text": text, "digest": digest(text)},
        libraries=libraries,
        reported=reported,
    ).sealed()


def _versions(macaulay2: str) -> dict[str, str]:
    packages = {name: metadata.version(name) for name in ("sympy", "python-flint")}
    return {
        "macaulay2": macaulay2,
        "m2bridge": __version__,
        **packages,
        "python": platform.python_version(),
    }
