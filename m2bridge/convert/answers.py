"""The answer of a program that Macaulay2 ran: named values, checked by type as they are taken.

The program emits records, lines of JSON that have a name and a value in the wire format, which
:mod:`m2bridge.convert.decode` reads. After a limit was reached, the records before it are there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard, TypeVar

from m2bridge.algebra.ring import GeneratingSet
from m2bridge.convert.decode import decode
from m2bridge.engine.script import Script, fields_of
from m2bridge.engine.session import current
from m2bridge.errors import (
    MemoryLimitError,
    ParseError,
    TimeLimitError,
    WrongAnswerError,
    class_with_article,
)
from m2bridge.limits import clock

Kind = TypeVar("Kind")

FAILED_CHECKS = "failed_checks"
"""The value that ``m2scripts/checks.m2`` emits if an answer is wrong."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The named values that one run of Macaulay2 emitted; every reader raises ParseError if the
    field is missing or of another type.
    """

    values: dict[str, Any] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        """Whether there is a value of this name."""
        return name in self.values

    def integer(self, name: str) -> int:
        """The value of this name, an integer."""
        return self._typed(name, int)

    def boolean(self, name: str) -> bool:
        """The value of this name, a truth value."""
        return self._typed(name, bool)

    def texts(self, name: str) -> list[str]:
        """The value of this name, a list of texts."""
        return self._list(name, str)

    def integers(self, name: str) -> list[int]:
        """The value of this name, a list of integers."""
        return self._list(name, int)

    def lists(self, name: str) -> list[list[Any]]:
        """The value of this name, a list of lists of anything."""
        return self._list(name, list)

    def integer_lists(self, name: str) -> list[list[int]]:
        """The value of this name, a list of lists of integers."""
        lists = self.lists(name)
        for numbers in lists:
            if not all(_is_of_type(number, int) for number in numbers):
                raise ParseError(f"the field '{name}' is not a list of lists of integers")
        return lists

    def integer_pairs(self, name: str) -> dict[int, int]:
        """The value of this name, a list of pairs of integers, as a mapping of first to second."""
        pairs = self.integer_lists(name)
        mapping: dict[int, int] = {}
        for pair in pairs:
            if len(pair) != 2:
                raise ParseError(f"the field '{name}' is not a list of pairs of integers")
            first, second = pair
            mapping[first] = second
        return mapping

    def ideal(self, name: str) -> GeneratingSet:
        """The value of this name, an ideal."""
        return self._typed(name, GeneratingSet)

    def ideals(self, name: str) -> list[GeneratingSet]:
        """The value of this name, a list of ideals."""
        return self._list(name, GeneratingSet)

    def _typed(self, name: str, kind: type[Kind]) -> Kind:
        """The value of this name, which has to be of this type; ParseError if it is not."""
        if name not in self.values:
            raise ParseError(f"the answer has no field '{name}'")
        value = self.values[name]
        if not _is_of_type(value, kind):
            actual_kind = class_with_article(type(value))
            raise ParseError(f"the field '{name}' is {actual_kind}, not {class_with_article(kind)}")
        return value

    def _list(self, name: str, kind: type[Kind]) -> list[Kind]:
        """The list of this name, whose items have to be of this type; ParseError if one is not."""
        items = self._typed(name, list)
        if not all(_is_of_type(item, kind) for item in items):
            raise ParseError(f"the field '{name}' has entries that are not of type {kind.__name__}")
        return items


def _is_of_type(value: object, kind: type[Kind]) -> TypeGuard[Kind]:
    """Whether a value is of a type; true and false are no integers, although Python's are."""
    if kind is int and isinstance(value, bool):
        return False
    return isinstance(value, kind)


def parse(records: Sequence[str]) -> Answer:
    """Read the records that a program emitted; WrongAnswerError if it has found that an identity
    does not hold which follows from its answer, ParseError if a field occurs twice.
    """
    fields = fields_of(records)
    answer = Answer({name: decode(value) for name, value in fields.items()})
    if FAILED_CHECKS in answer:
        failed = ", ".join(answer.texts(FAILED_CHECKS))
        raise WrongAnswerError(
            f"the answer of Macaulay2 is wrong, since this is false of it: {failed}; do not use the"
            " answer, and please report it, with the input, to the developers of m2bridge"
        )
    return answer


def answer_to(script: Script) -> Answer:
    """Run a script, within the time limit of the computation, and read what it emitted."""
    transcript = current().run(script, timeout=clock().remaining)
    return parse(transcript.records)


def answer_until_limit(script: Script) -> tuple[Answer, str]:
    """Return what a script emitted before its end or a limit, and the message of the limit, empty
    if the script came to its end.
    """
    try:
        return answer_to(script), ""
    except (TimeLimitError, MemoryLimitError) as limit:
        return parse(limit.records), str(limit)
