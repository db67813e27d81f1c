"""What a family of models is for the program: its name, how a case is read, what is stated about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from m2bridge.errors import InvalidCaseError
from m2bridge.maps.model import Model
from m2bridge.maps.statement import OrbitStatement, Statement


@dataclass(frozen=True, slots=True)
class CaseOption:
    """One number, or one list of numbers, that names a case.

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
    """

    name: str
    read: Callable[[str], Any]
    help: str
    default: str | None = None
    required: bool = True
    flag: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a paper that can be computed anew.

    Parameters
    ----------
    number : str
        As in the paper; names it on the command line.
    title : str
        What it shows, in one line.
    options : tuple of CaseOption
        What can be chosen; all have a default.
    compute : callable
        From the values of the options, by name, to a result that also has ``to_csv`` and ``to_svg``.
    """

    number: str
    title: str
    options: tuple[CaseOption, ...]
    compute: Callable[..., Any]

    def from_options(self, given: Mapping[str, str | None]) -> Any:
        """The figure for options on the command line; raises InvalidCaseError with the name of a bad option."""
        return self.compute(**read_options(self.options, given))


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
        All statements about the family.
    figures : callable
        Figures about the family.
    """

    name: str
    title: str
    options: tuple[CaseOption, ...]
    build: Callable[..., Model]
    from_key: Callable[[str], Model]
    statements: Callable[[], tuple[Statement[Any] | OrbitStatement[Any, Any], ...]] = tuple
    figures: Callable[[], tuple[Figure, ...]] = tuple

    def from_options(self, given: Mapping[str, str | None]) -> Model:
        """The case that options on the command line name; ``None`` stands for one that was left out.

        Raises
        ------
        InvalidCaseError
            If one is missing, unknown, or does not say what it should.
        """
        self._check_names(name for name, text in given.items() if text is not None)
        return self.build(**read_options(self.options, given))

    def from_json(self, content: object) -> Model:
        """The case that :meth:`Model.to_json` wrote.

        Raises
        ------
        InvalidCaseError
            If it is not one.
        """
        if not isinstance(content, dict):
            raise InvalidCaseError("case", f"must be a table of {', '.join(self._names())}")
        self._check_names(content)
        required = [option.name for option in self.options if option.required]
        if missing := [name for name in required if name not in content]:
            raise InvalidCaseError("case", f"'{missing[0]}' is missing")
        return self.build(**content)

    def _names(self) -> list[str]:
        return [option.name for option in self.options]

    def _check_names(self, names: Any) -> None:
        if unknown := [name for name in names if name not in self._names()]:
            raise InvalidCaseError(
                str(unknown[0]), f"is not an option of the family {self.name}: use {', '.join(self._names())}"
            )


def read_options(options: Iterable[CaseOption], given: Mapping[str, str | None]) -> dict[str, Any]:
    """The values of options from text, or their defaults.

    Raises
    ------
    InvalidCaseError
        If one is missing, or does not say what it should.
    """
    values = {}
    for option in options:
        text = given.get(option.name)
        text = option.default if text is None else text
        if text is None and not option.required:
            continue
        if text is None:
            raise InvalidCaseError(option.name, f"is missing: {option.help}")
        try:
            values[option.name] = option.read(text)
        except ValueError as reason:
            raise InvalidCaseError(option.name, str(reason)) from None
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
