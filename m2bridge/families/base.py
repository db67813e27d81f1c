"""The base classes of families of models and of questions: :class:`Family` and :class:`Question`.

The module also has the options that name a case, the figures of a family, and the functions that
read numbers. In a batch one text means several numbers, ``1..4,7``, or several lists of numbers,
``1..3,2,1``. Statements are in :mod:`m2bridge.statements.statement`; the computations about one
model are in :mod:`m2bridge.maps`.

A *case* is a model, named by the values of its *options*; its *key* is a word for these values. An
*observation* has the computed facts about a case; the *content* of a certificate is the answer that
follows from it, with its evidence and the lemmas that it takes on trust. A value that names no case
raises InvalidCaseError, with the name of the option.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import product
from math import prod
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from m2bridge.errors import InvalidCaseError, elements

if TYPE_CHECKING:
    from m2bridge.certificates.form import Certificate, Content
    from m2bridge.citation import Work
    from m2bridge.engine.script import Script
    from m2bridge.results.base import Result
    from m2bridge.statements.statement import Statement

MAX_RANGE_VALUES = 2_000_000
"""The largest number of values in one range, and of cases in one batch; more are a mistake."""
MAX_CASE_NUMBER = 10**9 - 1
"""The largest number that names a case."""


def positive_integer(option: str, value: object, largest: int = MAX_CASE_NUMBER) -> int:
    """Return ``value`` if it is an integer from 1 to ``largest``, which can name a case."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InvalidCaseError(option, f"must be an integer, not {value!r:.60}")
    value = int(value)  # integers of SymPy and NumPy too
    if value > largest:
        raise InvalidCaseError(option, f"must be at most {largest}")
    if value <= -MAX_CASE_NUMBER:  # its digits would fill the line
        raise InvalidCaseError(option, "must be at least 1")
    if value < 1:
        raise InvalidCaseError(option, f"must be at least 1, not {value}")
    return value


def positive_integers(option: str, values: object) -> tuple[int, ...]:
    """Return a list of integers in 1 … MAX_CASE_NUMBER as a tuple."""
    if isinstance(values, Mapping | Set):
        raise InvalidCaseError(option, f"must be a list of integers, not {values!r:.60}")
    listed = elements(option, values, "a list of integers")
    return tuple(positive_integer(option, value) for value in listed)


def ranges(option: str, text: str) -> tuple[int, ...]:
    """Return the numbers that ``3``, ``1..4``, ``1,3,5`` or ``1..3,7`` mean, each once, sorted."""
    numbers: set[int] = set()
    for part in text.split(","):
        numbers.update(_range(option, part, count_before=len(numbers)))
    return tuple(sorted(numbers))


def lists(option: str, text: str) -> Iterator[tuple[int, ...]]:
    """Return an iterator over the lists (1, 3) and (2, 3) that ``1..2,3`` means."""
    entries = [_range(option, part) for part in text.split(",")]
    if prod(map(len, entries)) > MAX_RANGE_VALUES:
        raise InvalidCaseError(option, f"'{text:.60}' means more than {MAX_RANGE_VALUES} lists")
    return product(*entries)


def _range(option: str, part: str, count_before: int = 0) -> range:
    """Return the range that ``3`` or ``1..4`` means, after ``count_before`` numbers of other
    ranges.
    """
    match = re.fullmatch(r"\s*([0-9]+)\s*(?:\.\.\s*([0-9]+)\s*)?", part)
    if match is None:
        raise InvalidCaseError(
            option, f"'{part.strip():.60}' is not a range: write 3, 1..4 or 1,3,5"
        )
    if any(len(digits or "") > 9 for digits in match.groups()):
        reason = "is too large: numbers have at most 9 digits"
        raise InvalidCaseError(option, f"'{part.strip():.60}' {reason}")
    first, last = int(match[1]), int(match[2] or match[1])
    if first < 1 or last < first:
        raise InvalidCaseError(option, f"'{part.strip()}' is not a range of positive numbers")
    if count_before + last - first >= MAX_RANGE_VALUES:
        raise InvalidCaseError(
            option, f"'{part.strip():.60}' has more than {MAX_RANGE_VALUES} numbers"
        )
    return range(first, last + 1)


class AnswerRow(NamedTuple):
    """A row of a table about one answer; ``reason`` says from what its verdict follows."""

    name: str  # the statement, such as ``3.4 (iii)``, or the question
    text: str  # of the statement, or the question that was asked
    verdict: str  # one of the four verdicts, or ``COMPUTED``
    reason: str
    witness: str = ""  # the counterexample of what is refuted
    source: str = ""  # where a statement is stated
    # whether its source prints a true statement; ``None`` if that is not known or none prints it
    as_printed: bool | None = None


class HasKey(Protocol):
    """A case of a family: a model, or all sizes of a family taken together."""

    @property
    def key(self) -> str:
        """Name of the case within its family."""


M = TypeVar("M", bound=HasKey)  # a case of a family
O = TypeVar("O")  # the observation of a case


class Question(ABC, Generic[M, O]):
    """A question about the models of a family: how it is answered, certified and shown.

    The checker of the family answers the question again with independent code.

    Attributes
    ----------
    key : str
        Name of the question on the command line, in certificates and in file names.
    """

    __slots__ = ()

    key: str

    @property
    @abstractmethod
    def observation(self) -> str:
        """Name of the observation; questions about one case with the same name share it."""

    @abstractmethod
    def observe(self, model: M) -> O:
        """Return the complete observation of a model; raises an error if a part is missing."""

    @abstractmethod
    def content(self, model: M, observed: O) -> Content:
        """Return the content of the certificate that follows from an observation."""

    @abstractmethod
    def rows(self, certificate: Certificate) -> list[AnswerRow]:
        """Return a row of a table for each answer in a certificate about this question."""

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Return the names of these rows, which tables show where the certificate is missing."""

    def script(self, model: M) -> Script | None:
        """Return the Macaulay2 program that computes the answer; ``None`` if none is needed."""
        return None

    def usual(self, model: M) -> bool:
        """Return whether ``all``, in place of names of questions, includes this one for a model."""
        return True

    def within_reach(self, model: M) -> bool:
        """Return whether this question is among ``reachable`` ones: it takes at most minutes."""
        return True

    def needs_engine(self, model: M) -> bool:
        """Return whether observing the model needs Macaulay2."""
        return True

    def trusts_program(self, model: M) -> bool:
        """Return whether the answer relies on a result of Macaulay2 that no checker recomputes."""
        return False


class ComputedQuestion(Question[M, O]):
    """A question whose answer is a computed value and not a verdict.

    It does not use Macaulay2 and is not part of ``all``, unless a subclass overrides this.

    Attributes
    ----------
    text : str
        The question in words.
    """

    __slots__ = ()

    text: str

    @property
    def observation(self) -> str:
        """The key: the computation answers this question only."""
        return self.key

    @abstractmethod
    def summary(self, answer: dict[str, Any]) -> str:
        """Return the ``answer`` of a certificate in words: ``polar degrees 4, 6``."""

    def rows(self, certificate: Certificate) -> list[AnswerRow]:
        """Return one row, with the answer in words as its reason."""
        return [AnswerRow(self.key, self.text, "COMPUTED", self.summary(certificate.answer))]

    def names(self) -> tuple[str, ...]:
        """Return the key, the name of the only row."""
        return (self.key,)

    def usual(self, model: M) -> bool:
        """Return False: the question is asked only by its name."""
        return False

    def needs_engine(self, model: M) -> bool:
        """Return False: the answer is computed in Python."""
        return False


@dataclass(frozen=True, slots=True)
class CaseOption:
    """An option that names a case: a number, a list of numbers, or a word.

    Parameters
    ----------
    name : str
        Name in Python and JSON (``d_out``); the command line has ``--d-out``.
    read : callable
        Converts text of the command line to the value; raises ValueError saying what is expected.
    help : str
    default : str, optional
        Text of the default value.
    required : bool
        Whether the option must be given if it has no default.
    flag : bool
        Whether the option has no value, as ``--skip``. Then ``read`` gets ``true``, and in batches
        ``false`` or any text that stands in a file of cases.
    symbol : str
        Heading in tables; the name if it is left out.
    several : callable, optional
        For batches: converts name and text such as ``1..3`` to all values that are meant; raises
        InvalidCaseError. If it is left out, an option has one value.
    positional : bool
        Whether it is given without its name, as a file is.
    """

    name: str
    read: Callable[[str], Any]
    help: str
    default: str | None = None
    required: bool = True
    flag: bool = False
    symbol: str = ""
    several: Callable[[str, str], Iterable[Any]] | None = None
    positional: bool = False

    @property
    def heading(self) -> str:
        """The heading of a column of a table."""
        return self.symbol or self.name

    def values(self, text: str) -> Iterable[Any]:
        """Return all values that a text means, for batches; raises InvalidCaseError."""
        if self.several is None:
            return (self.value(text),)
        return self.several(self.name, text)

    def value(self, text: str) -> Any:
        """Return the value that a text means; raises InvalidCaseError."""
        try:
            return self.read(text)
        except ValueError as reason:
            raise InvalidCaseError(self.name, str(reason)) from None


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a paper, computed independently, or another picture about a family.

    Parameters
    ----------
    name : str
        Number of the figure in the paper, or a word: ``m2bridge figure NAME``.
    title : str
        Caption in one line.
    options : tuple of CaseOption
    compute : callable
        Maps the values of the options, passed by name, to a
        :class:`~m2bridge.results.picture.PictureResult` with a method ``to_csv``; it accepts
        ``engine=`` if Macaulay2 is needed.
    needs_engine : bool
        Whether Macaulay2 is needed.
    of_model : callable, optional
        For a picture of any model: maps a model, and the values of the options that do not name a
        case, to the result; the command then takes ``--family`` and ``--map`` too, and ``--ideal``,
        with the ideal as the model.
    case : tuple of CaseOption
        The options among ``options`` that name a case, in place of which another family has its
        own.
    """

    name: str
    title: str
    options: tuple[CaseOption, ...]
    compute: Callable[..., Any]
    needs_engine: bool = False
    of_model: Callable[..., Any] | None = None
    case: tuple[CaseOption, ...] = ()

    @property
    def own_options(self) -> tuple[CaseOption, ...]:
        """The options that do not name a case."""
        return tuple(option for option in self.options if option not in self.case)

    def from_options(self, texts: Mapping[str, str | None], model: Any = None) -> Any:
        """Compute the figure from the texts of options, by name, ``None`` for a missing one; of a
        model, if one is given, which the options then do not name.
        """
        if model is None or self.of_model is None:
            return self.compute(**read_options(self.options, texts))
        return self.of_model(model, **read_options(self.own_options, texts))


class Family(ABC, Generic[M]):
    """A family of models.

    Subclasses override the methods that apply to them; the registry has one instance of each.
    Modules that are slow to import, such as those that need SymPy, are imported inside methods, so
    that the names of options and statements are available quickly.

    Attributes
    ----------
    options : tuple of CaseOption
        The options that together name a case.
    model_class : type
        The class of the models; its parameters have the names of the options.
    observed_separately : bool
        Whether a question observes only the observables of its statements (by
        :meth:`~m2bridge.maps.model.Model.observe`) and is asked, among all questions, only where
        one of its statements applies. Otherwise all questions share one observation of all
        observables.
    grid_note : str
        The cases of a grid that a batch includes, in words.
    orbits : str
        The numbers that name an orbit, in words, if functions of a model are classified by orbits.
    all_sizes : str
        Name of the family with one case, all sizes of this family; empty if no statement has a form
        for all sizes. ``--all-sizes`` makes its certificates, and
        :meth:`cross_check_all_sizes` is its cross-check.
    all_sizes_use_engine : bool
        Whether that cross-check needs Macaulay2, which then starts while modules are imported.
    modules : tuple of str
        Names of the modules that observe models and answer questions. A separate process imports
        them for the workers while a batch is planned, before its questions are known.
    prefix : str or None
        Prefix of file names, before the key; ``None`` means the name of the family and a hyphen.
    paper : Work or None
        The paper with the statements about the family; reports cite it.
    same_fact : tuple of tuple of str
        Groups of statements, by their names, that predict the same of the same observation, so that
        one fact decides them. Tables of reports have one line for such verdicts of a case.
    sample : mapping from str to str
        The options of one small case, as text on the command line; empty where defaults name one.
        Tests and lists that need a case of each family take :meth:`sample_case`.
    """

    __slots__ = ()

    options: ClassVar[tuple[CaseOption, ...]] = ()
    model_class: ClassVar[type[Any]]
    observed_separately: ClassVar[bool] = False
    grid_note: ClassVar[str] = "these numbers"
    orbits: ClassVar[str] = ""
    all_sizes: ClassVar[str] = ""
    all_sizes_use_engine: ClassVar[bool] = False
    modules: ClassVar[tuple[str, ...]] = ()
    prefix: ClassVar[str | None] = None
    paper: ClassVar[Work | None] = None
    same_fact: ClassVar[tuple[tuple[str, ...], ...]] = ()
    sample: ClassVar[Mapping[str, str]] = {}

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the family for ``--family``, files, JSON and registry: ``polynomial-network``."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The models of the family in words, such as ``polynomial neural networks``."""

    def build(self, **values: Any) -> M:
        """Return the model with these values of the options: here one of :attr:`model_class`."""
        model: M = self.model_class(**values)
        return model

    @abstractmethod
    def from_key(self, key: str) -> M:
        """Return the model with this :attr:`Model.key`; InvalidCaseError if there is none."""

    def statements(self) -> tuple[Statement, ...]:
        """Return all statements about the family. Each of their keys is a question."""
        return ()

    def questions(self) -> tuple[Question[M, Any], ...]:
        """Return the questions that can be certified in addition to those about statements."""
        return ()

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures about the family."""
        return ()

    def grid(self, **values: Any) -> Iterable[M]:
        """Return the models that a batch has for one value of each option; here one model."""
        return (self.build(**values),)

    def cross_check_all_sizes(self, statements: Sequence[Statement]) -> Result:
        """Decide statements for all sizes at once; families with such statements override it."""
        raise InvalidCaseError(
            "all_sizes", f"no statement about {self.title} has a form for all sizes"
        )

    def closures_of_all_sizes(self, *, vectors: bool = False) -> Result:
        """Compute the closures for all sizes at once.

        With ``vectors`` the result has a polynomial of highest weight for each representation.
        """
        raise InvalidCaseError("all_sizes", f"closures of {self.title} are computed case by case")

    def program(self, model: M, key: str) -> Script | None:
        """Return the Macaulay2 program for the statements with this key; ``None`` if none runs."""
        return None

    def effort(self, model: M) -> int:
        """Return a number that grows with the running time; batches take cases in this order."""
        return 0

    def excluded_from_grids(self, model: M) -> bool:
        """Return whether a batch leaves the case out of a grid, unless all cases are asked for."""
        return False

    def label(self, model: M) -> str:
        """Return the name of the case in one word, which no case of another family has."""
        if self.prefix is None:
            return f"{self.name}-{model.key}"
        return f"{self.prefix}{model.key}"

    def from_options(self, texts: Mapping[str, str | None]) -> M:
        """Return the case that options name as texts; ``None`` means a missing option."""
        self.check_names(name for name, text in texts.items() if text is not None)
        return self.build(**read_options(self.options, texts))

    def sample_case(self) -> M:
        """Return the case that :attr:`sample` names."""
        return self.from_options(self.sample)

    def from_json(self, content: object) -> M:
        """Return the case that :meth:`Model.to_json` wrote, a dictionary of the options' values."""
        if not isinstance(content, dict):
            names = ", ".join(option.name for option in self.options) or "no entries"
            raise InvalidCaseError("case", f"must be a table of {names}")
        self.check_names(content)
        for option in self.options:
            if option.required and option.name not in content:
                raise InvalidCaseError("case", f"'{option.name}' is missing")
        return self.build(**content)

    def check_names(self, names: Iterable[Any]) -> None:
        """Raise InvalidCaseError if a name is not an option of the family."""
        option_names = [option.name for option in self.options]
        for name in names:
            if name not in option_names:
                advice = f"use {', '.join(option_names)}" if option_names else "it has no options"
                raise InvalidCaseError(
                    str(name), f"is not an option of the family {self.name}: {advice}"
                )


def read_options(
    options: Iterable[CaseOption],
    texts: Mapping[str, str | None],
    read: Callable[[CaseOption, str], Any] = CaseOption.value,
) -> dict[str, Any]:
    """Return the values of options by name, read from texts or from the defaults.

    ``read`` makes the value of a text; for batches it is :meth:`CaseOption.values`. An option that
    has neither a text nor a default is left out, unless it is required.
    """
    values = {}
    for option in options:
        text = texts.get(option.name)
        if text is None:
            text = option.default
        if text is not None:
            values[option.name] = read(option, text)
        elif option.required:
            raise InvalidCaseError(option.name, f"is missing: {option.help}")
    return values


_INTEGER = re.compile(r"-?[0-9]+")


def integer(text: str) -> int:
    """Return the integer of a text such as ``-3``, of at most 18 characters; else ValueError."""
    if not _INTEGER.fullmatch(text.strip()):
        raise ValueError(f"'{text}' is not an integer")
    if len(text.strip()) > 18:  # numbers of a case are far shorter
        raise ValueError(f"'{text.strip():.20}…' has too many digits")
    return int(text)


def integers(text: str) -> tuple[int, ...]:
    """Return the integers of a text such as ``2,2,1``; raises ValueError for another text."""
    entries = text.split(",")
    if not all(_INTEGER.fullmatch(entry.strip()) for entry in entries):
        raise ValueError(f"'{text}' is not a list of integers such as 2,2,1")
    return tuple(map(integer, entries))


def integer_option(name: str, help: str, **more: Any) -> CaseOption:
    """Return an option for an integer, with ``more`` of its fields; batches accept ``1..4,7``."""
    return CaseOption(name, integer, help, several=ranges, **more)


def integers_option(name: str, help: str, **more: Any) -> CaseOption:
    """Return an option for a list of integers, with ``more`` fields; batches take ``1..3,2,1``."""
    return CaseOption(name, integers, help, several=lists, **more)
