"""Certification: the questions about a family, and a certificate for a case and a question.

A question is answered from observations, by methods that share nothing with predictions. A
certificate has the answer, the observations, the Macaulay2 program behind them, and reported data
that cannot be checked: versions, seconds, memory. The checker of certificates is
:mod:`m2bridge.checker`, which shares nothing with this file.

A *question* has a key, such as ``3.4``, the number of a theorem, whose parts are statements. A
*program* is a text in Macaulay2, with the names of the scripts (``libraries``) that it shares with
other programs; a certificate has the SHA-256 of each. The *content* of a certificate is its answer,
the evidence from which this follows, and the lemmas that it takes on trust. ``None`` is a program
that is not needed, an engine that is not used, or an observation of a model of which nothing that a
checker recomputes can be observed. InvalidCaseError says that there is no such family, case or
question.
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
    MAX_CASE_NUMBER,
    SCHEMA,
    Certificate,
    Content,
    Difference,
    difference,
    digest,
)
from m2bridge.crosscheck.scope import difference_text, numbers_text, plain_text, weights_text
from m2bridge.crosscheck.verdict import from_certificate, verdicts_on
from m2bridge.engine import Engine, RunOptions, Session, computation, current
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError, class_with_article
from m2bridge.families.base import AnswerRow, Family, Question
from m2bridge.families.registry import family
from m2bridge.limits import limited
from m2bridge.results.base import Decision
from m2bridge.results.sheet import name_with_part
from m2bridge.statements.statement import Statement, sharing_one_observation
from m2bridge.system import m2script

FORMER_SCRIPTS: dict[str, tuple[str, ...]] = {
    # comments of 1.0 name files that have moved since
    "wire": ("21aefd283c4d5cc6d26f06ce469dd4d994b13812884e456ee87c583ec99d1d28",),
    # the same ideal from more equations; the fibre of one point was an ideal of unknowns
    "fibres_of_weights": ("2dc9c259786503cd02c2ad4cc06e2c2ab7360f00e1bf2a7e099d67ec93d6258a",),
    "values": ("5fdb8039284075fe387fd9fef2164b70e28711d8233769d48138d6c6d3ff01bb",),
}
"""SHA-256 of former texts of shared scripts, by the name of the script. A person has compared each
of these texts with the present one, and they compute the same.
"""


def program_difference(certificate: Certificate) -> Difference | None:
    """Return the first difference between the program of a certificate and the program of this
    release.

    A shared script of a former release that is listed in :data:`FORMER_SCRIPTS` counts as the
    present one. TooLargeError is raised if the case is too large for this release to write a
    program.
    """
    model = family(certificate.family).from_json(certificate.case)
    # the program of this release
    text, digests = _text_and_digests(_script(certificate.family, certificate.question, model))
    stored_digests = certificate.libraries
    # a former text that computes the same counts as the present one
    for name in stored_digests.keys() & digests.keys():
        if stored_digests[name] in FORMER_SCRIPTS.get(name, ()):
            digests[name] = stored_digests[name]
    in_text = difference(certificate.script["text"], text, "script.text")
    if in_text is not None:
        return in_text
    return difference(stored_digests, digests, "libraries")


@lru_cache(maxsize=256)
def _script(family_name: str, question: str, model: Any) -> Script | None:
    """Return the program for the question with this key about a model; the last ones are kept."""
    return question_of(family_name, question).script(model)


def rests_on_program(certificate: Certificate) -> bool:
    """Return whether a certificate must be refused with a program that this release does not write.

    It must be if this release wrote it, since there is exactly one program for each case and
    question. The programs of other releases are unknown here: a certificate of another release must
    be refused only if the checker does not recompute its whole content.
    """
    if certificate.release == __version__:
        return True
    model = family(certificate.family).from_json(certificate.case)
    return question_of(certificate.family, certificate.question).trusts_program(model)


def _text_and_digests(script: Script | None) -> tuple[str, dict[str, str]]:
    """Return the text of a program, and the digests of the shared scripts; empty without one."""
    if script is None:
        return "", {}
    return script.body, {name: _digest_of_script(name) for name in script.libraries}


@cache
def _digest_of_script(name: str) -> str:
    """Return the SHA-256 of the shared script with this name."""
    return digest(m2script(name).read_text(encoding="utf-8"))


STATEMENTS = "statements"
"""The observation shared by all statements, unless a family has them observed separately."""


@cache
def questions(name: str) -> Mapping[str, Question[Any, Any]]:
    """Return {key: question} of the named family.

    Statements with the same key form one question. Statements with ``separate_computation``, which
    can be long and is done on demand only, form none, unless the family has a question of its own
    with their key.
    """
    chosen_family = family(name)
    # by_key[key] = the statements with this key, without separate computations
    by_key: dict[str, list[Statement]] = {}
    for statement in sharing_one_observation(chosen_family.statements()):
        by_key.setdefault(statement.key, []).append(statement)
    by_question: dict[str, Question[Any, Any]] = {}
    for key, parts in by_key.items():
        by_question[key] = StatedQuestion(key=key, statements=tuple(parts), family=chosen_family)
    for question in chosen_family.questions():
        by_question[question.key] = question
    return by_question


def question_of(name: str, key: str) -> Question[Any, Any]:
    """Return the question with this key about the named family."""
    by_key = questions(name)
    if not isinstance(key, str) or key not in by_key:
        raise InvalidCaseError("check", f"unknown question '{key}': use {', '.join(by_key)}")
    return by_key[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedQuestion(Question[Any, Any]):
    """The question whether the statements with one key, one for each part, are true."""

    key: str
    statements: tuple[Statement, ...]
    family: Family[Any]

    @property
    def _observables(self) -> tuple[str, ...]:
        """The observables of the statements, each once."""
        return tuple(dict.fromkeys(statement.observable for statement in self.statements))

    @property
    def observation(self) -> str:
        """The name of the observation; questions with the same name share an observation.

        It is the same for all statements of the family. Only if they are observed separately, the
        name also has the observables of this question: ``statements dimension``.
        """
        if not self.family.observed_separately:
            return STATEMENTS
        return " ".join([STATEMENTS, *sorted(self._observables)])

    def observe(self, model: Any) -> Any:
        """Observe the observables of the statements, by methods independent of the predictions."""
        return model.observe(self._observables, certified=True)

    def content(self, model: Any, observed: Any) -> Content:
        """Return the verdicts, the observed numbers behind them, and the lemmas."""
        verdicts = verdicts_on(self.statements, model, observed)
        answer = {"verdicts": [verdict.to_data() for verdict in verdicts]}
        if observed is None:
            return Content(answer, {}, trusted=())
        # Each lemma once, from the statements: a verdict lists no lemma if its statement does not
        # apply, but what was observed rests on the lemma also then.
        trusted: dict[str, None] = {}
        for verdict in verdicts:
            if verdict.decision is not Decision.UNDECIDED:
                trusted |= dict.fromkeys(verdict.statement.trusted)
        return Content(answer, observed.evidence(), tuple(trusted))

    def rows(self, certificate: Certificate) -> list[AnswerRow]:
        """Return a row for each verdict, with sentences made from its numbers.

        Statements appear in the words of the certificate, which another release may have written.
        """
        rows = []
        model = self.family.from_json(certificate.case)
        orbits = certificate.evidence.get("orbits")
        # an answer has its verdicts in the order of the statements
        for statement, data in zip(self.statements, certificate.answer["verdicts"], strict=True):
            verdict = from_certificate(
                statement,
                data,
                model,
                # families without orbits have no such evidence
                orbits=len(orbits) if isinstance(orbits, list) else 0,
                was_observed=bool(certificate.evidence),
                numbers=model.numbers(statement.observable),
            )
            witness = verdict.witness
            witness_text = ""
            if witness is not None:
                details = "; ".join(filter(None, (weights_text(witness), numbers_text(witness))))
                values = difference_text(statement.observable, witness.observed, witness.predicted)
                witness_text = f"at orbit {plain_text(witness.orbit)}: {values} ({details})"
            row = AnswerRow(
                name=name_with_part(statement.key, data["part"]),
                text=data["text"],
                verdict=data["verdict"],
                reason=verdict.reason,
                witness=witness_text,
                source=data["source"],
                as_printed=verdict.as_printed,
            )
            rows.append(row)
        return rows

    def names(self) -> tuple[str, ...]:
        """Return the names of the statements: the key with each part."""
        return tuple(name_with_part(self.key, statement.part) for statement in self.statements)

    def script(self, model: Any) -> Script | None:
        """Return the program that the family names for the key of the question, or ``None``."""
        return self.family.program(model, self.key)

    def usual(self, model: Any) -> bool:
        """Return whether the question is among ``all`` questions about a model.

        It is if all statements of the family share one observation, because then it costs nothing
        more. Otherwise it is if a statement applies to the model and Macaulay2 is not needed.
        """
        if not self.family.observed_separately:
            return True
        # an empty text says that all hypotheses hold
        applies = any(statement.hypotheses(model) == "" for statement in self.statements)
        return applies and not self.needs_engine(model)

    def within_reach(self, model: Any) -> bool:
        """Return whether the question is among the ``reachable`` ones: exactly if :meth:`usual`."""
        return self.usual(model)

    def needs_engine(self, model: Any) -> bool:
        """Return whether the observation needs Macaulay2."""
        is_needed: bool = model.needs_engine(self._observables)
        return is_needed


@computation
def certify(model: Any, question: str, **options: Unpack[RunOptions]) -> Certificate:
    """Return the certificate that answers one question about one case.

    ``model`` is the case, and ``question`` a key of :func:`questions`. ``engine`` is the session to
    use, by default the session of the enclosing ``with`` block, else the one shared in the process;
    ``timeout`` is a number of seconds, by default no limit but the limit of an enclosing block. The
    errors are the errors of :func:`certify_all`.

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
    """Return certificates for questions about one case, which share observations.

    Parameters
    ----------
    model : Model
        A model of a family in the registry.
    questions : sequence of str
        Keys of questions of the family, such as ``3.4``.
    engine : Engine, optional
        The session to use; default: the session of the enclosing ``with`` block, else the one
        shared in the process.
    timeout : float, optional
        Seconds for all questions together; default: no limit but the limit of an enclosing block.

    Returns
    -------
    list of Certificate
        One for each question, in their order.

    Raises
    ------
    InvalidCaseError
        If ``model`` is not a model, a question is unknown, or a number of the case is above
        :data:`~m2bridge.certificates.form.MAX_CASE_NUMBER`.
    EngineError
        If Macaulay2 failed or reached a limit; nothing is certified then.
    ContradictionError
        If independent methods disagree.
    """
    if not isinstance(getattr(model, "family", None), str):
        raise InvalidCaseError("model", f"must be a model, not {class_with_article(type(model))}")
    chosen_questions = [question_of(model.family, key) for key in questions]
    for name, value in model.to_json().items():
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, int) and number > MAX_CASE_NUMBER:
                raise InvalidCaseError(name, f"must be at most {MAX_CASE_NUMBER} in a certificate")
    # Macaulay2 starts only if it is needed
    engine = (
        current() if any(question.needs_engine(model) for question in chosen_questions) else None
    )
    certificates = []
    # the observation with each name, and the field ``reported`` of certificates that rest on it
    observations: dict[str, tuple[Any, dict[str, Any]]] = {}
    for question in chosen_questions:
        if question.observation not in observations:
            observations[question.observation] = _observe(model, question, engine)
        observed, reported = observations[question.observation]
        content = question.content(model, observed)
        # the program is part of the certificate: whoever distrusts both checkers can run it
        text, digests = _text_and_digests(question.script(model))
        certificate = Certificate(
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
            libraries=digests,
            reported=reported,
        )
        certificates.append(certificate.sealed())
    return certificates


def _observe(
    model: Any, question: Question[Any, Any], engine: Engine | None
) -> tuple[Any, dict[str, Any]]:
    """Return the observation of a model for a question, with what is reported about the run.

    An engine other than a session does not report its memory.
    """
    if isinstance(engine, Session):
        # so that the peak of memory is of this observation alone
        engine.forget_peak_memory()
    # no limit of time is added; the context measures the seconds
    with limited(None) as timer:
        observation = question.observe(model)
        packages = {name: metadata.version(name) for name in ("sympy", "python-flint")}
        reported = {
            "versions": {
                "macaulay2": "none" if engine is None else engine.version,
                "m2bridge": __version__,
                **packages,
                "python": platform.python_version(),
            },
            "seconds": round(timer.seconds, 3),
            "peak_memory": engine.peak_memory if isinstance(engine, Session) else None,
        }
    return observation, reported
