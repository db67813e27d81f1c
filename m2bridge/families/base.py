"""What a family of models is, and what a question about it is: base classes, whose methods a family
overrides.

Also the options that name a case, figures, and how numbers are read. In a batch one text means
several numbers, ``1..4,7``, or several lists of numbers, ``1..3,2,1``. Statements stand in
:mod:`m2bridge.statements.statement`, and what is computed of a model in :mod:`m2bridge.maps`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from m2bridge.errors import InvalidCaseError

if TYPE_CHECKING:
    from m2bridge.certificates.form import Certificate, Content
    from m2bridge.citation import Work
    from m2bridge.engine.script import Script
    from m2bridge.results.base import Result
    from m2bridge.statements.statement import Statement


MOST = 2_000_000
"""Numbers in one range, and cases of the largest batch; larger ones are a mistake or need a design
of their own.
"""

DIGITS = 9
"""The number of digits of the largest numbers that are read."""
LARGEST = 10**DIGITS - 1
"""The largest number that names a case."""


def positive_integer(option: str, value: object, largest: int = LARGEST) -> int:
    """Return a number that names a case, if it is one.

    Parameters
    ----------
    option : str
        What the error names.

    Raises
    ------
    InvalidCaseError
        If the value is not an integer, below 1, or larger than ``largest``.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidCaseError(option, f"must be an integer, not {value!r:.60}")
    if value > largest:
        raise InvalidCaseError(option, f"must be at most {largest}")
    if value <= -LARGEST:  # its digits would fill the line
        raise InvalidCaseError(option, "must be at least 1")
    if value < 1:
        raise InvalidCaseError(option, f"must be at least 1, not {value}")
    return value


def positive_integers(option: str, values: object) -> tuple[int, ...]:
    """Return a list of numbers that name a case as a tuple; see :func:`positive_integer`."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidCaseError(option, f"must be a list of integers, not {values!r:.60}")
    return tuple(positive_integer(option, value) for value in values)


def ranges(option: str, text: str) -> tuple[int, ...]:
    """The numbers meant by ``3``, ``1..4``, ``1,3,5`` or ``1..3,7``, in order and without
    repetition.

    Raises
    ------
    InvalidCaseError
        Naming ``option``.
    """
    numbers: set[int] = set()
    for part in text.split(","):
        numbers.update(_range(option, part, there=len(numbers)))
    return tuple(sorted(numbers))


def lists(option: str, text: str) -> Iterator[tuple[int, ...]]:
    """The lists meant by ``2,2,1`` or ``1..3,2,1``: one range for each place.

    Raises
    ------
    InvalidCaseError
        Naming ``option``.
    """
    places = [_range(option, part) for part in text.split(",")]
    if prod(map(len, places)) > MOST:
        raise InvalidCaseError(option, f"'{text:.60}' means more than {MOST} lists")
    return product(*places)


def _range(option: str, part: str, there: int = 0) -> range:
    """The numbers that one part of a text means; so many are there already."""
    match = re.fullmatch(r"\s*([0-9]+)\s*(?:\.\.\s*([0-9]+)\s*)?", part)
    if match is None:
        raise InvalidCaseError(
            option, f"'{part.strip():.60}' is not a range: write 3, 1..4 or 1,3,5"
        )
    if any(len(digits or "") > DIGITS for digits in match.groups()):
        raise InvalidCaseError(
            option, f"'{part.strip():.60}' is too large: numbers have at most {DIGITS} digits"
        )
    first, last = int(match[1]), int(match[2] or match[1])
    if first < 1 or last < first:
        raise InvalidCaseError(option, f"'{part.strip()}' is not a range of positive numbers")
    if there + last - first >= MOST:
        raise InvalidCaseError(option, f"'{part.strip():.60}' has more than {MOST} numbers")
    return range(first, last + 1)


class AnswerRow(NamedTuple):
    """A row of a table, about one answer.

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
    source : str
        Where a statement is stated.
    """

    name: str
    text: str
    verdict: str
    reason: str
    witness: str = ""
    source: str = ""


class HasKey(Protocol):
    """A case of a family: a model, or all sizes of one."""

    @property
    def key(self) -> str:
        """Names the case within its family."""


M = TypeVar("M", bound=HasKey)
"""The cases of a family."""
O = TypeVar("O")
"""What is observed of one."""


class Question(ABC, Generic[M, O]):
    """A question: how it is answered, certified and shown; the checker of the family is apart, and
    shares none of it.

    Attributes
    ----------
    key : str
        On the command line, in files and in names of files.
    """

    __slots__ = ()

    key: str

    @property
    @abstractmethod
    def observation(self) -> str:
        """Questions about one case with the same word here share one observation."""

    @abstractmethod
    def observe(self, model: M) -> O:
        """Return what is observed of a model; for a certificate, so everything or nothing."""

    @abstractmethod
    def content(self, model: M, observed: O) -> Content:
        """Return the content of the certificate, from what was observed."""

    @abstractmethod
    def rows(self, certificate: Certificate) -> list[AnswerRow]:
        """Return what tables say of a certificate."""

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Return the names of the rows, where there is no certificate."""

    def script(self, model: M) -> Script | None:
        """Return the Macaulay2 program that is behind the answer; ``None`` if none is."""
        return None

    def usual(self, model: M) -> bool:
        """Return whether ``all`` includes the question for a model."""
        return True

    def within_reach(self, model: M) -> bool:
        """Return whether ``reachable`` does: an answer is expected within minutes."""
        return True

    def needs_engine(self, model: M) -> bool:
        """Return whether Macaulay2 takes part."""
        return True

    def trusts_program(self, model: M) -> bool:
        """Return whether the answer rests on what Macaulay2 said, which a checker does not compute
        anew.
        """
        return False


class ComputedQuestion(Question[M, O]):
    """A question whose answer is computed, and no verdict.

    Without Macaulay2, and not part of ``all``, unless overridden.

    Attributes
    ----------
    text : str
        What is asked.
    """

    __slots__ = ()

    text: str

    @property
    def observation(self) -> str:
        """The key: no other question is answered by the same computation."""
        return self.key

    @abstractmethod
    def summary(self, answer: dict[str, Any]) -> str:
        """Return the answer in a certificate in words."""

    def rows(self, certificate: Certificate) -> list[AnswerRow]:
        """Return one row, with the answer in words."""
        return [AnswerRow(self.key, self.text, "COMPUTED", self.summary(certificate.answer))]

    def names(self) -> tuple[str, ...]:
        """Return the key."""
        return (self.key,)

    def usual(self, model: M) -> bool:
        """Return False: it is asked of no model, unless it is asked for."""
        return False

    def needs_engine(self, model: M) -> bool:
        """Return False."""
        return False


@dataclass(frozen=True, slots=True)
class CaseOption:
    """One number, one list of numbers, or one word, that names a case.

    Parameters
    ----------
    name : str
        As in Python and JSON (``d_out``); ``--d-out`` on the command line.
    read : callable
        From text on the command line to the value; raises ValueError with what was expected.
    help : str
        For the command line.
    default : str, optional
        What stands for it when it is left out, as text.
    required : bool
        Whether it has to be given where there is no default.
    flag : bool
        Whether it is given without a value: ``--skip``. Then ``read`` gets any text.
    symbol : str
        How tables call it; the name when left out.
    several : callable, optional
        From the name and text such as ``1..3`` to the values that are meant, for batches; raises
        InvalidCaseError. One value when left out.
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
        """The values that text means where several may be asked for; raises InvalidCaseError."""
        if self.several is None:
            return (self.value(text),)
        return self.several(self.name, text)

    def value(self, text: str) -> Any:
        """The value that text means; raises InvalidCaseError."""
        try:
            return self.read(text)
        except ValueError as reason:
            raise InvalidCaseError(self.name, str(reason)) from None


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a paper that is computed anew, or another picture about a family.

    Parameters
    ----------
    name : str
        The number in the paper, or a word: ``m2bridge figure NAME``.
    title : str
        What it shows, in one line.
    options : tuple of CaseOption
        What can be chosen.
    compute : callable
        From the values of the options, by name, to a
        :class:`~m2bridge.results.picture.PictureResult` that has ``to_csv``; with ``engine=`` if
        Macaulay2 takes part.
    needs_engine : bool
    """

    name: str
    title: str
    options: tuple[CaseOption, ...]
    compute: Callable[..., Any]
    needs_engine: bool = False

    def from_options(self, texts: Mapping[str, str | None]) -> Any:
        """The figure for options on the command line; raises InvalidCaseError with the name of a
        bad option.
        """
        return self.compute(**read_options(self.options, texts))


class Family(ABC, Generic[M]):
    """A family of models.

    Subclasses override what there is to say; the registry has one instance of each. Modules that
    are slow to import, such as those that need SymPy, are imported inside the methods: the names of
    options and statements need none.

    Attributes
    ----------
    options : tuple of CaseOption
        What names a case.
    observed_separately : bool
        Whether a question observes only what its statements are about (the models are
        :meth:`~m2bridge.maps.model.Model.observe`), and is asked only where one of them applies,
        when everything is asked; else all questions share one observation of everything.
    grid_note : str
        The cases that a batch does not leave out of a grid, in words.
    orbits : str
        What names an orbit, in words, where the functions of a model fall into orbits.
    all_sizes : str
        The family with one case, all sizes of this one; empty if no statement has a form for them.
        Its certificates are those of ``--all-sizes``, and :meth:`cross_check_all_sizes` is its
        cross-check.
    modules : tuple of str
        The modules that observe models and answer questions, by their names: a process of its own
        imports them for the workers while a batch is planned, before it is known what they will be
        asked.
    prefix : str or None
        Before the key in names of files; the name of the family and a hyphen for ``None``.
    paper : Work or None
        The one whose statements are about the family; reports name it.
    """

    __slots__ = ()

    options: ClassVar[tuple[CaseOption, ...]] = ()
    observed_separately: ClassVar[bool] = False
    grid_note: ClassVar[str] = "these numbers"
    orbits: ClassVar[str] = ""
    all_sizes: ClassVar[str] = ""
    modules: ClassVar[tuple[str, ...]] = ()
    prefix: ClassVar[str | None] = None
    paper: ClassVar[Work | None] = None

    @property
    @abstractmethod
    def name(self) -> str:
        """``polynomial-network``: on the command line (``--family``), in files and JSON, and in the
        registry.
        """

    @property
    @abstractmethod
    def title(self) -> str:
        """The family in words, plural."""

    @abstractmethod
    def build(self, **values: Any) -> M:
        """Return the model that the values of the options, by name, mean.

        Raises
        ------
        InvalidCaseError
            With the name of the option that is wrong.
        """

    @abstractmethod
    def from_key(self, key: str) -> M:
        """Return the model with this :attr:`Model.key`; raises InvalidCaseError if there is
        none.
        """

    def statements(self) -> tuple[Statement, ...]:
        """Return all statements about the family. There is a question for each of their keys."""
        return ()

    def questions(self) -> tuple[Question[M, Any], ...]:
        """Return what can be certified beside the statements."""
        return ()

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures about the family."""
        return ()

    def grid(self, **values: Any) -> Iterable[M]:
        """Return the models that are meant, in a batch, by one value for each option."""
        return (self.build(**values),)

    def cross_check_all_sizes(self, statements: Sequence[Statement]) -> Result:
        """Decide statements for all sizes at once; raises InvalidCaseError where none has a form
        for them.
        """
        raise InvalidCaseError(
            "all_sizes", f"no statement about {self.title} has a form for all sizes"
        )

    def closures_of_all_sizes(self, *, vectors: bool = False) -> Result:
        """Compute closures for all sizes at once, with a polynomial for each representation if that
        is asked for.

        Raises
        ------
        InvalidCaseError
            If there is no way to do that.
        """
        raise InvalidCaseError("all_sizes", f"closures of {self.title} are computed case by case")

    def program(self, model: M, key: str) -> Script | None:
        """Return the Macaulay2 program behind the statements with this key; ``None`` if none is."""
        return None

    def effort(self, model: M) -> int:
        """Return a rough measure of how long a model takes: a batch begins with the short ones."""
        return 0

    def excluded_from_grids(self, model: M) -> bool:
        """Return whether a batch leaves a case of a grid out, unless all are asked for."""
        return False

    def label(self, model: M) -> str:
        """One word for a case, unlike that of any case of another family."""
        if self.prefix is None:
            return f"{self.name}-{model.key}"
        return f"{self.prefix}{model.key}"

    def from_options(self, texts: Mapping[str, str | None]) -> M:
        """The case that options on the command line name; ``None`` stands for one that was left
        out.

        Raises
        ------
        InvalidCaseError
            If one is missing, unknown, or does not say what it should.
        """
        self.check_names(name for name, text in texts.items() if text is not None)
        return self.build(**read_options(self.options, texts))

    def from_json(self, content: object) -> M:
        """The case that :meth:`Model.to_json` wrote.

        Raises
        ------
        InvalidCaseError
            If it is not one.
        """
        if not isinstance(content, dict):
            raise InvalidCaseError("case", f"must be a table of {', '.join(self._names())}")
        self.check_names(content)
        required = [option.name for option in self.options if option.required]
        for name in required:
            if name not in content:
                raise InvalidCaseError("case", f"'{name}' is missing")
        return self.build(**content)

    def _names(self) -> list[str]:
        return [option.name for option in self.options]

    def check_names(self, names: Iterable[Any]) -> None:
        """Raise InvalidCaseError for a name that is no option of the family."""
        known = self._names()
        for name in names:
            if name not in known:
                reason = f"is not an option of the family {self.name}: use {', '.join(known)}"
                raise InvalidCaseError(str(name), reason)


def read_options(
    options: Iterable[CaseOption],
    texts: Mapping[str, str | None],
    read: Callable[[CaseOption, str], Any] = CaseOption.value,
) -> dict[str, Any]:
    """What is read of the text of options, or of their defaults.

    Raises
    ------
    InvalidCaseError
        If one is missing, or does not say what it should.
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


def integer(text: str) -> int:
    """Read one integer in decimal digits; ValueError with what was expected."""
    if not text.strip().isascii() or not text.strip().removeprefix("-").isdigit() or len(text) > 18:
        raise ValueError(f"'{text}' is not an integer")
    return int(text)


def integers(text: str) -> tuple[int, ...]:
    """Read integers separated by commas, such as ``2,2,1``; ValueError with what was expected."""
    try:
        return tuple(map(integer, text.split(",")))
    except ValueError:
        raise ValueError(f"'{text}' is not a list of integers such as 2,2,1") from None


def integer_option(name: str, help: str, **more: Any) -> CaseOption:
    """An option that is an integer; a batch takes ranges such as ``1..4,7``."""
    return CaseOption(name, integer, help, several=ranges, **more)


def integers_option(name: str, help: str, **more: Any) -> CaseOption:
    """An option that is a list of integers; a batch takes a range in each place, such as
    ``1..3,2,1``.
    """
    return CaseOption(name, integers, help, several=lists, **more)
