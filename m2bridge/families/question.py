"""A question that can be certified, as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from m2bridge.certificate.schema import Certificate, Content

if TYPE_CHECKING:
    from m2bridge.engine import Engine
    from m2bridge.render import Script


class Row(NamedTuple):
    """What a table says of one answer.

    Parameters
    ----------
    name : str
        The statement, such as ``3.4 (iii)``, or the question.
    text : str
        What it says, or what was asked.
    verdict : str
        One of the four verdicts, or ``COMPUTED``.
    reason : str
    witness : str
        Empty unless refuted.
    """

    name: str
    text: str
    verdict: str
    reason: str
    witness: str = ""


def always(model: Any) -> bool:
    """For questions that are asked of every model."""
    return True


def never(model: Any) -> bool:
    """For questions that are asked of no model, unless they are asked for."""
    return False


@dataclass(frozen=True, slots=True)
class Question:
    """How a question is answered, certified and shown; the checker of the family is apart, and shares none of it.

    Parameters
    ----------
    key : str
        On the command line, in files and in names of files.
    observation : str
        Questions about one case with the same word here share one observation.
    observe : callable
        From a model and an engine, perhaps ``None``, to what is observed.
    content : callable
        From a model and what was observed to the content of the certificate.
    script : callable
        The Macaulay2 program that is behind the answer; ``None`` if none is.
    rows : callable
        What tables say of a certificate.
    names : callable
        The names of the rows, where there is no certificate.
    usual : callable
        Whether ``all`` includes the question for a model.
    within_reach : callable
        Whether ``reachable`` does: an answer is expected within minutes.
    needs_engine : callable
        Whether Macaulay2 takes part.
    trusts_program : callable
        Whether the answer about a model rests on what Macaulay2 said, which a checker does not compute anew.
    """

    key: str
    observation: str
    observe: Callable[[Any, Engine | None], Any]
    content: Callable[[Any, Any], Content]
    script: Callable[[Any], Script | None]
    rows: Callable[[Certificate], list[Row]]
    names: Callable[[], tuple[str, ...]]
    usual: Callable[[Any], bool] = always
    within_reach: Callable[[Any], bool] = always
    needs_engine: Callable[[Any], bool] = always
    trusts_program: Callable[[Any], bool] = never
