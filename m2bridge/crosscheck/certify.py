"""From a case and a question to a certificate."""

import platform
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from m2bridge._version import __version__
from m2bridge.algebra.field import QQ
from m2bridge.certificates.schema import LARGEST, SCHEMA, Certificate, digest
from m2bridge.crosscheck.questions import library_digests, question_of
from m2bridge.engine import Engine, Session, engine_or_own
from m2bridge.errors import InvalidCaseError
from m2bridge.families import family
from m2bridge.families.definition import Question
from m2bridge.limits import limited


def certify(model: Any, question: str, *, engine: Engine | None = None, timeout: float | None = None) -> Certificate:
    """Answer one question about one case; as :func:`certify_all`.

    Examples
    --------
    >>> certificate = certify(PolynomialNetwork([2, 2, 1]), "expected-dimension")
    >>> certificate.file_name, certificate.answer["verdicts"][0]["verdict"]
    ('polynomial-network-2-2-1-r2-expected-dimension.json', 'CONFIRMED')
    """
    return certify_all(model, (question,), engine=engine, timeout=timeout)[0]


def certify_all(
    model: Any, questions: Sequence[str], *, engine: Engine | None = None, timeout: float | None = None
) -> list[Certificate]:
    """Answer questions about one case; those that rest on the same observation share it.

    Parameters
    ----------
    model : Model
        Of a family in the registry.
    questions : sequence of str
        Keys of :func:`m2bridge.crosscheck.questions.questions`.
    engine : Engine, optional
        A Macaulay2 of its own is started, and ended, where none is given and one is needed.
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
        :data:`~m2bridge.certificates.schema.LARGEST`.
    EngineError
        If Macaulay2 failed or reached a limit; nothing is certified then.
    ContradictionError
        If independent methods disagree.
    """
    chosen = [question_of(model.family, question) for question in questions]
    _check_numbers(model.to_json())
    needed = engine is not None or any(question.needs_engine(model) for question in chosen)
    with limited(timeout), engine_or_own(engine) as engine:
        return _certificates(model, chosen, engine, engine.version if needed else "none")


def _check_numbers(case: dict[str, Any]) -> None:
    for name, value in case.items():
        numbers = value if isinstance(value, list) else [value]
        if any(isinstance(number, int) and number > LARGEST for number in numbers):
            raise InvalidCaseError(name, f"a certificate is about numbers up to {LARGEST}")


def _certificates(model: Any, questions: Sequence[Question], engine: Engine, version: str) -> list[Certificate]:
    observations: dict[str, tuple[Any, dict[str, Any]]] = {}
    for question in questions:
        if question.observation not in observations:
            if isinstance(engine, Session):
                engine.forget_peak_memory()
            with limited(None) as running:
                observation = question.observe(model, engine)
                peak_memory = engine.peak_memory if isinstance(engine, Session) else None
                reported = {"versions": _versions(version), "seconds": round(running.seconds, 3)}
                observations[question.observation] = observation, reported | {"peak_memory": peak_memory}
    return [_certificate(model, question, *observations[question.observation]) for question in questions]


def _certificate(model: Any, question: Question, observation: Any, reported: dict[str, Any]) -> Certificate:
    content, script = question.content(model, observation), question.script(model)
    text = script.body if script else ""
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
        libraries=library_digests(script.libraries if script else ()),
        reported=reported,
    ).sealed()


def _versions(macaulay2: str) -> dict[str, str]:
    packages = {name: metadata.version(name) for name in ("sympy", "python-flint")}
    return {"macaulay2": macaulay2, "m2bridge": __version__, **packages, "python": platform.python_version()}
