"""From a case and a question to a certificate."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from m2bridge._version import __version__
from m2bridge.algebra.field import QQ
from m2bridge.certificate.closures import computed_content
from m2bridge.certificate.schema import LARGEST, QUESTIONS, SCHEMA, Certificate, digest
from m2bridge.certificate.scripts import library_digests, script_of
from m2bridge.certificate.statements import Content, statement_content
from m2bridge.clock import limited
from m2bridge.engine import Engine, Macaulay2
from m2bridge.errors import InvalidCaseError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.observation import observe
from m2bridge.render import Script


def certify(model: SingleLayerAttention, question: str, engine: Engine, timeout: float | None = None) -> Certificate:
    """Answer one question about one case; as :func:`certify_all`.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     certificate = certify(SingleLayerAttention(d=2, d_out=1), "3.3", engine)
    >>> certificate.question, certificate.answer["verdicts"][0]["reason"]
    ('3.3', 'dimension: computed 5, stated 5')
    """
    return certify_all(model, (question,), engine, timeout)[0]


def certify_all(
    model: SingleLayerAttention, questions: Sequence[str], engine: Engine, timeout: float | None = None
) -> list[Certificate]:
    """Answer questions about one case, observing its orbits once for all statements.

    Parameters
    ----------
    model : SingleLayerAttention
    questions : sequence of str
        From :data:`QUESTIONS`.
    engine : Engine
    timeout : float, optional
        Seconds for all questions together.

    Returns
    -------
    list of Certificate
        One for each question, in their order. Statements about t ≥ 2 are NOT_APPLICABLE for t = 1 and need no engine.

    Raises
    ------
    InvalidCaseError
        If a question is not in :data:`QUESTIONS`, or a number of the case is above :data:`LARGEST`.
    EngineError
        If Macaulay2 failed or reached a limit; nothing is certified then.
    ContradictionError
        If independent methods disagree.
    """
    if unknown := [question for question in questions if question not in QUESTIONS]:
        raise InvalidCaseError("check", f"unknown question '{unknown[0]}': use {', '.join(QUESTIONS)}")
    if large := [name for name, number in model.to_json().items() if number > LARGEST]:
        raise InvalidCaseError(large[0], f"a certificate is about numbers up to {LARGEST}")
    with limited(timeout):
        return _certificates(model, questions, engine)


def _certificates(model: SingleLayerAttention, questions: Sequence[str], engine: Engine) -> list[Certificate]:
    observed = model.t > 1 and any(question != "closure" for question in questions)
    _forget_peak(engine)
    seen = observe(model, engine, partial=False) if observed else None
    observing = Cost(seen.seconds if seen else 0.0, _peak(engine))
    certificates = []
    for question in questions:
        script: Script | None
        if question == "closure":
            _forget_peak(engine)
            content, script, seconds = computed_content(model, engine)
            cost = Cost(seconds, _peak(engine))
        else:
            content, script, cost = statement_content(question, model, seen), script_of(question, model), observing
        certificates.append(_sealed(model, question, content, script, engine, cost))
    return certificates


@dataclass(frozen=True, slots=True)
class Cost:
    """Wall time of a computation, and the largest resident memory of Macaulay2 during it, where that is known."""

    seconds: float
    peak_memory: int | None


def _forget_peak(engine: Engine) -> None:
    if isinstance(engine, Macaulay2):
        engine.forget_peak_memory()


def _peak(engine: Engine) -> int | None:
    return engine.peak_memory if isinstance(engine, Macaulay2) else None


def _sealed(
    model: SingleLayerAttention, question: str, content: Content, script: Script | None, engine: Engine, cost: Cost
) -> Certificate:
    text = script.body if script else ""
    return Certificate(
        schema=SCHEMA,
        case=model.to_json(),
        question=question,
        answer=content.answer,
        evidence=content.evidence,
        script={"text": text, "digest": digest(text)},
        libraries=library_digests(script.libraries if script else ()),
        field=str(QQ),
        reported=_reported(engine, cost),
        recheckable=list(content.recheckable),
        trusted=list(content.trusted),
    ).sealed()


def _reported(engine: Engine, cost: Cost) -> dict[str, Any]:
    versions = {
        "macaulay2": engine.version,
        "m2bridge": __version__,
        "sympy": metadata.version("sympy"),
        "python-flint": metadata.version("python-flint"),
        "python": platform.python_version(),
    }
    return {"versions": versions, "seconds": round(cost.seconds, 3), "peak_memory": cost.peak_memory}
