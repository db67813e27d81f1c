"""The definition of a family of models: the options that name a case, figures, questions; and how numbers are read.

In a batch one text means several numbers, ``1..4,7``, or several lists of numbers, ``1..3,2,1``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.citation import Work
from m2bridge.errors import InvalidCaseError
from m2bridge.maps.statement import Statement

if TYPE_CHECKING:
    from m2bridge.engine.script import Script


MOST = 2_000_000
"""Numbers in one range, and cases of the largest batch; larger ones are a mistake or need a design of their own."""

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
    if value < 1:
        raise InvalidCaseError(option, "must be at least 1" + (f", not {value}" if value > -LARGEST else ""))
    return value


def positive_integers(option: str, values: object) -> tuple[int, ...]:
    """Return a list of numbers that name a case as a tuple; see :func:`positive_integer`."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidCaseError(option, f"must be a list of integers, not {values!r:.60}")
    return tuple(positive_integer(option, value) for value in values)


def ranges(option: str, text: str) -> tuple[int, ...]:
    """The numbers meant by ``3``, ``1..4``, ``1,3,5`` or ``1..3,7``, in order and without repetition.

    Raises
    ------
    InvalidCaseError
        Naming ``option``.
    """
    numbers: set[int] = set()
    for part in text.split(","):
        numbers.update(_range(option, part, len(numbers)))
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
    match = re.fullmatch(r"\s*([0-9]+)\s*(?:\.\.\s*([0-9]+)\s*)?", part)
    if match is None:
        raise InvalidCaseError(option, f"'{part.strip():.60}' is not a range: write 3, 1..4 or 1,3,5")
    if max(map(len, filter(None, match.groups()))) > DIGITS:
        raise InvalidCaseError(option, f"'{part.strip():.60}' is too large: numbers have at most {DIGITS} digits")
    first, last = int(match[1]), int(match[2] or match[1])
    if first < 1 or last < first:
        raise InvalidCaseError(option, f"'{part.strip()}' is not a range of positive numbers")
    if there + last - first >= MOST:
        raise InvalidCaseError(option, f"'{part.strip():.60}' has more than {MOST} numbers")
    return range(first, last + 1)


class Row(NamedTuple):
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


def never(model: Any) -> bool:
    """Return False: a question is asked of no model, unless it is asked for."""
    return False


@dataclass(frozen=True, slots=True)
class Question:
    """A question: how it is answered, certified and shown; the checker of the family is apart, and shares none of it.

    Parameters
    ----------
    key : str
        On the command line, in files and in names of files.
    observation : str
        Questions about one case with the same word here share one observation.
    observe : callable
        From a model to what is observed.
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
    observe: Callable[[Any], Any]
    content: Callable[[Any, Any], Content]
    script: Callable[[Any], Script | None]
    rows: Callable[[Certificate], list[Row]]
    names: Callable[[], tuple[str, ...]]
    usual: Callable[[Any], bool] = lambda model: True
    within_reach: Callable[[Any], bool] = lambda model: True
    needs_engine: Callable[[Any], bool] = lambda model: True
    trusts_program: Callable[[Any], bool] = never


def computed_question(
    key: str,
    text: str,
    *,
    observe: Callable[[Any], Any],
    content: Callable[[Any, Any], Content],
    summary: Callable[[dict[str, Any]], str],
    **more: Any,
) -> Question:
    """Return a question whose answer is computed, and no verdict; without Macaulay2 unless more is said.

    Parameters
    ----------
    text : str
        What is asked.
    summary : callable
        From the answer in a certificate to words.
    """

    def rows(certificate: Certificate) -> list[Row]:
        return [Row(key, text, "COMPUTED", summary(certificate.answer))]

    fields: dict[str, Any] = {"script": lambda model: None, "usual": never, "needs_engine": never}
    return Question(key, key, observe, content, rows=rows, names=lambda: (key,), **(fields | more))


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
        From the name and text such as ``1..3`` to the values that are meant, for batches; raises InvalidCaseError. One
        value when left out.
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
        return (self.value(text),) if self.several is None else self.several(self.name, text)

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
        From the values of the options, by name, to a :class:`~m2bridge.results.picture.PictureResult` that has
        ``to_csv``; with ``engine=`` if Macaulay2 takes part.
    needs_engine : bool
    """

    name: str
    title: str
    options: tuple[CaseOption, ...]
    compute: Callable[..., Any]
    needs_engine: bool = False

    def from_options(self, texts: Mapping[str, str | None]) -> Any:
        """The figure for options on the command line; raises InvalidCaseError with the name of a bad option."""
        return self.compute(**read_options(self.options, texts))


@dataclass(frozen=True, slots=True)
class Family:
    """A family of models.

    Parameters
    ----------
    name : str
        ``polynomial-network``: on the command line (``--family``), in files and JSON, and in the registry.
    title : str
        In words, plural.
    options : tuple of CaseOption
        What names a case.
    build : callable
        From the values of the options, by name, to the model; raises InvalidCaseError with the name of the option.
    from_key : callable
        From :attr:`Model.key` back to the model; raises InvalidCaseError.
    statements : callable
        All statements about the family. There is a question for each of their keys.
    observed_separately : bool
        Whether a question observes only what its statements are about (the models are
        :meth:`~m2bridge.maps.model.Model.observe`), and is asked only where one of them applies, when
        everything is asked; else all questions share one observation of everything.
    grid : callable, optional
        In a batch from one value for each option, by name, to the models that are meant; the one of ``build`` when left
        out.
    figures : callable
        Figures about the family.
    questions : callable
        What can be certified beside the statements.
    program : callable
        From a model and a key to the Macaulay2 program behind the statements with this key; ``None`` if none is.
    effort : callable
        A rough measure of how long a model takes: a batch begins with the short ones.
    excluded_from_grids : callable
        Whether a batch leaves a case of a grid out, unless all are asked for.
    grid_note : str
        The cases that it does not leave out, in words.
    orbits : str
        What names an orbit, in words, where the functions of a model fall into orbits.
    all_sizes : str
        The family with one case, all sizes of this one; empty if no statement has a form for them. Its certificates
        are those of ``--all-sizes``, and the command ``cross_check_all_sizes`` is its cross-check.
    modules : tuple of str
        The modules that observe models and answer questions: worker processes import them while a batch is planned.
    commands : dict of str to str
        The functions behind commands that belong to this family, as ``module:name``; see :meth:`command`.
    prefix : str, optional
        Before the key in names of files; the name of the family when left out.
    paper : Work, optional
        The one whose statements are about the family; reports name it.
    """

    name: str
    title: str
    options: tuple[CaseOption, ...]
    build: Callable[..., Any]
    from_key: Callable[[str], Any]
    statements: Callable[[], tuple[Statement, ...]] = tuple
    observed_separately: bool = False
    grid: Callable[..., Iterable[Any]] | None = None
    figures: Callable[[], tuple[Figure, ...]] = tuple
    questions: Callable[[], tuple[Question, ...]] = tuple
    program: Callable[[Any, str], Script | None] = lambda model, key: None
    effort: Callable[[Any], int] = lambda model: 0
    excluded_from_grids: Callable[[Any], bool] = lambda model: False
    grid_note: str = "these numbers"
    orbits: str = ""
    all_sizes: str = ""
    modules: tuple[str, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)
    prefix: str | None = None
    paper: Work | None = None

    def command(self, name: str) -> Callable[..., Any]:
        """The function behind a command, imported at its first use."""
        module, _, function = self.commands[name].partition(":")
        command: Callable[..., Any] = getattr(import_module(module), function)
        return command

    def label(self, model: Any) -> str:
        """One word for a case, unlike that of any case of another family."""
        return f"{self.name}-{model.key}" if self.prefix is None else f"{self.prefix}{model.key}"

    def from_options(self, texts: Mapping[str, str | None]) -> Any:
        """The case that options on the command line name; ``None`` stands for one that was left out.

        Raises
        ------
        InvalidCaseError
            If one is missing, unknown, or does not say what it should.
        """
        self.check_names(name for name, text in texts.items() if text is not None)
        return self.build(**read_options(self.options, texts))

    def from_json(self, content: object) -> Any:
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
        if missing := [name for name in required if name not in content]:
            raise InvalidCaseError("case", f"'{missing[0]}' is missing")
        return self.build(**content)

    def _names(self) -> list[str]:
        return [option.name for option in self.options]

    def check_names(self, names: Iterable[Any]) -> None:
        """Raise InvalidCaseError for a name that is no option of the family."""
        if unknown := [name for name in names if name not in self._names()]:
            reason = f"is not an option of the family {self.name}: use {', '.join(self._names())}"
            raise InvalidCaseError(str(unknown[0]), reason)


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
        text = option.default if text is None else text
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
    """An option that is a list of integers; a batch takes a range in each place, such as ``1..3,2,1``."""
    return CaseOption(name, integers, help, several=lists, **more)
