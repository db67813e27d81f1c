"""Certification: the questions about a family, and a certificate for a case and a question.

A question is answered from observations, by methods that share nothing with predictions. A
certificate has the answer, the observations, the Macaulay2 program behind them, and reported data
that cannot be checked: versions, seconds, memory. The checker of certificates is
:mod:`m2bridge.checker`, which shares nothing with this file.

A *question* has a key, such as that of a theorem, ``3.4``, whose parts are statements. A *program*
is a text in Macaulay2, with the names of the scripts (``libraries``) that it shares with other
programs; a certificate has the SHA-256 of each. The *content* of a certificate is its answer, the
evidence from which this follows, and the lemmas that it takes on trust.
"""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import metadata
from typing import Any, NamedTuple, Unpack

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
from m2bridge.crosscheck.scope import numbers_text, plain_text, weights_text
from m2bridge.crosscheck.verdict import Verdict, from_certificate, verdicts_on
from m2bridge.engine import Engine, RunOptions, Session, computation, current
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError
from m2bridge.families.base import AnswerRow, Family, Question
from m2bridge.families.registry import family
from m2bridge.limits import limited
from m2bridge.results.base import Decision
from m2bridge.results.sheet import name_with_part, value_text
from m2bridge.statements.statement import Statement, Witness, sharing_one_observation
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
    """Return the first difference between the program of a certificate and that of this release.

    ``None`` if there is no difference. A shared script of a former release that is listed in
    :data:`FORMER_SCRIPTS` counts as the present one.

    Raises
    ------
    InvalidCaseError
        If there is no such family, case or question.
    TooLargeError
        If the case is too large for this release to write a program.
    """
    model = family(certificate.family).from_json(certificate.case)
    # the program of this release
    text, digests = _program(_script(certificate.family, certificate.question, model))
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
    """Return the program for the question with this key about a model; ``None`` if it needs none.

    The last programs are kept.
    """
    return question_of(family_name, question).script(model)


def rests_on_program(certificate: Certificate) -> bool:
    """Return whether a certificate must be refused if its program is not that of this release.

    It must be if this release wrote it, since there is exactly one program for each case and
    question. The programs of other releases are unknown here: a certificate of another release must
    be refused only if the checker does not recompute its whole content.
    """
    if certificate.release == __version__:
        return True
    model = family(certificate.family).from_json(certificate.case)
    return question_of(certificate.family, certificate.question).trusts_program(model)


class ProgramText(NamedTuple):
    """The text of a program, and {name: SHA-256} for the shared scripts that it uses."""

    text: str
    digests: dict[str, str]


def _program(script: Script | None) -> ProgramText:
    """Return the text and the digests of a program; both are empty without a program."""
    if script is None:
        return ProgramText(text="", digests={})
    digests = {name: _script_digest(name) for name in script.libraries}
    return ProgramText(script.body, digests)


@cache
def _script_digest(name: str) -> str:
    """Return the SHA-256 of the shared script with this name."""
    return digest(m2script(name).read_text(encoding="utf-8"))


STATEMENTS = "statements"
"""The observation shared by all statements, unless those of a family are observed separately."""


@cache
def questions(name: str) -> Mapping[str, Question[Any, Any]]:
    """Return {key: question} of the named family; raise InvalidCaseError if it is unknown.

    Statements with the same key form one question. Those with ``separate_computation``, which can
    be long and is done on demand only, form none, unless the family has a question of its own with
    their key.
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
    """Return the question with this key about the named family.

    Raises
    ------
    InvalidCaseError
        If the family or the question is unknown.
    """
    by_key = questions(name)
    if not isinstance(key, str) or key not in by_key:
        raise InvalidCaseError("check", f"unknown question '{key}': use {', '.join(by_key)}")
    return by_key[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedQuestion(Question[Any, Any]):
    """The question whether the statements with one key are true.

    Parameters
    ----------
    key : str
    statements : tuple of Statement
        The statements with this key, one for each part.
    family : Family
    """

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
        """Observe the observables of the statements, by methods independent of the predictions.

        The result is ``None`` if nothing that a checker recomputes can be observed of this model.
        """
        return model.observe(self._observables, certified=True)

    def content(self, model: Any, observed: Any) -> Content:
        """Return the verdicts, the observed numbers behind them, and the lemmas.

        ``observed`` is what :meth:`observe` returned, ``None`` if nothing was observed; then there
        is no evidence and no lemma.
        """
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

        Statements appear in the words of the certificate, which may be those of another release.
        """
        rows = []
        # an answer has its verdicts in the order of the statements
        for statement, data in zip(self.statements, certificate.answer["verdicts"], strict=True):
            verdict = self._verdict(statement, data, certificate)
            row = AnswerRow(
                name=name_with_part(statement.key, data["part"]),
                text=data["text"],
                verdict=data["verdict"],
                reason=verdict.reason,
                witness=_witness_text(verdict.witness),
                source=data["source"],
                as_printed=verdict.as_printed,
            )
            rows.append(row)
        return rows

    def _verdict(
        self, statement: Statement, data: dict[str, Any], certificate: Certificate
    ) -> Verdict:
        """Return as a ``Verdict`` the verdict on a statement whose fields in a certificate are
        ``data``.
        """
        orbits = certificate.evidence.get("orbits")
        # families without orbits have no such evidence
        orbit_count = len(orbits) if isinstance(orbits, list) else 0
        model = self.family.from_json(certificate.case)
        return from_certificate(
            statement,
            data,
            model,
            orbits=orbit_count,
            was_observed=bool(certificate.evidence),
            numbers=model.numbers(statement.observable),
        )

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
        needed: bool = model.needs_engine(self._observables)
        return needed


def _witness_text(witness: Witness | None) -> str:
    """Return in words the orbit at which a statement fails, and the values that show it.

    ``witness`` is None, and the text empty, if the verdict has no such orbit.
    """
    if witness is None:
        return ""
    values = f"stated {value_text(witness.predicted)}, computed {value_text(witness.observed)}"
    details = "; ".join(filter(None, (weights_text(witness), numbers_text(witness))))
    return f"at orbit {plain_text(witness.orbit)}: {values} ({details})"


@computation
def certify(model: Any, question: str, **options: Unpack[RunOptions]) -> Certificate:
    """Return the certificate that answers one question about one case.

    ``model`` is the case, and ``question`` a key of :func:`questions`. ``engine`` is the session to
    use, by default that of the enclosing ``with`` block, else the one shared in the process;
    ``timeout`` is a number of seconds, by default no limit but that of an enclosing block. The
    errors are those of :func:`certify_all`.

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
        The session to use; default: that of the enclosing ``with`` block, else the one shared in
        the process.
    timeout : float, optional
        Seconds for all questions together; default: no limit but that of an enclosing block.

    Returns
    -------
    list of Certificate
        One for each question, in their order.

    Raises
    ------
    InvalidCaseError
        If ``model`` is no model, a question is unknown, or a number of the case is above
        :data:`~m2bridge.certificates.form.MAX_CASE_NUMBER`.
    EngineError
        If Macaulay2 failed or reached a limit; nothing is certified then.
    ContradictionError
        If independent methods disagree.
    """
    if not isinstance(getattr(model, "family", None), str):
        raise InvalidCaseError("model", f"must be a model, not a {type(model).__name__}")
    chosen = [question_of(model.family, key) for key in questions]
    _check_numbers(model.to_json())
    needs_engine = any(question.needs_engine(model) for question in chosen)
    # Macaulay2 starts only if it is needed
    return _certificates(model, chosen, current() if needs_engine else None)


def _check_numbers(case: dict[str, Any]) -> None:
    """Raise InvalidCaseError for a number in a case that is too large for a certificate.

    ``case`` maps names to numbers, lists of numbers, and words; words are not limited here.
    """
    for name, value in case.items():
        numbers = value if isinstance(value, list) else [value]
        for number in numbers:
            if isinstance(number, int) and number > MAX_CASE_NUMBER:
                raise InvalidCaseError(name, f"must be at most {MAX_CASE_NUMBER} in a certificate")


class MadeObservation(NamedTuple):
    """An observation of a model, and the field ``reported`` of certificates that rest on it.

    ``observed`` is None if nothing was observed. ``reported`` has versions, seconds and memory.
    """

    observed: Any
    reported: dict[str, Any]


def _certificates(
    model: Any, questions: Sequence[Question[Any, Any]], engine: Engine | None
) -> list[Certificate]:
    """Return a certificate for each question; questions with the same observation share it.

    ``engine`` is None if no question needs Macaulay2.
    """
    certificates = []
    # made[name] = the observation with this name
    made: dict[str, MadeObservation] = {}
    for question in questions:
        if question.observation not in made:
            made[question.observation] = _observe(model, question, engine)
        certificates.append(_certificate(model, question, made[question.observation]))
    return certificates


def _observe(model: Any, question: Question[Any, Any], engine: Engine | None) -> MadeObservation:
    """Return the observation of a model for a question, with what is reported about the run.

    ``engine`` is ``None`` if no question needs Macaulay2. An engine other than a session does not
    report its memory.
    """
    if isinstance(engine, Session):
        # so that the peak of memory is that of this observation
        engine.forget_peak_memory()
    # no limit of time is added; the context measures the seconds
    with limited(None) as timer:
        observation = question.observe(model)
        reported = {
            "versions": _versions("none" if engine is None else engine.version),
            "seconds": round(timer.seconds, 3),
            "peak_memory": engine.peak_memory if isinstance(engine, Session) else None,
        }
    return MadeObservation(observation, reported)


def _certificate(model: Any, question: Question[Any, Any], made: MadeObservation) -> Certificate:
    """Return the certificate that answers a question from an observation, with its digest."""
    content = question.content(model, made.observed)
    # the program is part of the certificate: whoever distrusts both checkers can run it
    program = _program(question.script(model))
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
        script={"text": program.text, "digest": digest(program.text)},
        libraries=program.digests,
        reported=made.reported,
    ).sealed()


def _versions(macaulay2: str) -> dict[str, str]:
    """Return {name: version} for all programs that a certificate reports.

    ``macaulay2`` is the version of Macaulay2, or "none" if it was not needed.
    """
    packages = {name: metadata.version(name) for name in ("sympy", "python-flint")}
    return {
        "macaulay2": macaulay2,
        "m2bridge": __version__,
        **packages,
        "python": platform.python_version(),
    }
