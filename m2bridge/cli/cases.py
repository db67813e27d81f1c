"""Cases of any family on the command line: options, maps in files, names for the shell.

Which options a command has depends on the family that is named in it. So the words are looked
through for ``--family`` before they are parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click
from click.shell_completion import CompletionItem

from m2bridge.convert.bounded_io import read_text
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.families.registry import DEFAULT, family, family_names
from m2bridge.limits import clock, limited
from m2bridge.loading import imported
from m2bridge.reading import unquoted

if TYPE_CHECKING:
    from m2bridge.families.base import CaseOption, Family


Command = TypeVar("Command", bound=Callable[..., Any])
CommandResultT = TypeVar("CommandResultT")

ALL = "all"
"""Every statement, or every usual question."""
REACHABLE = "reachable"
"""Every question whose answer is expected within minutes."""


Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completion(names: Callable[[str], Iterable[str]], separator: str = "") -> Completion:
    """The completion of a word by names of the family; with a separator, of a list's last word."""

    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, begun = "", "", incomplete
        if separator:
            before, comma, begun = incomplete.rpartition(separator)
        try:
            found = names(ctx.params.get("family") or DEFAULT)
        except InvalidCaseError:
            return []
        return [CompletionItem(before + comma + name) for name in found if name.startswith(begun)]

    return complete


def _families(name: str) -> Iterable[str]:
    return family_names()


def _statements(name: str) -> Iterable[str]:
    return ALL, *dict.fromkeys(statement.key for statement in family(name).statements())


def _questions(name: str) -> Iterable[str]:
    from m2bridge.certification.make import questions

    return ALL, REACHABLE, *questions(name)


def _kinds(name: str) -> Iterable[str]:
    from m2bridge.batch.store import KINDS

    return KINDS


complete_families = _completion(_families)
complete_statements = _completion(_statements)
complete_questions = _completion(_questions, ",")
complete_kinds = _completion(_kinds, ",")


CASE = ("d", "d_out", "a", "t", "coordinates", "weights")
"""The options of the default family, which those of another family, or a map, replace."""

WEIGHTS = ("attention", "factored")
"""Which weights of attention are the parameters; the first by default."""

_NUMBERS = ("d", "d_out", "a")
_REPLACED = "m2bridge.cli.cases"


def replace_case(ctx: click.Context, options: Sequence[click.Parameter]) -> None:
    """Let a command have these options in place of those of the default family."""
    ctx.meta[_REPLACED] = options


class FamilyCommand(click.Command):
    """A command that takes the options of the family that is named, such as ``--widths``."""

    several: ClassVar[bool] = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Look for a family or a map first: they say which other options there are."""
        name = value_of("--family", args)
        if name is not None or value_of("--map", args) is not None:
            limit = None
            if not self.several:  # in a batch each case has a limit of its own
                limit = limit_in(args)
            options: Sequence[CaseOption] = ()
            try:
                with limited(limit, begin=clock().begin or None):
                    if name is not None:
                        options = family(name).options
                replace_case(ctx, [as_parameter(option, self.several) for option in options])
            except InvalidCaseError:
                # the shell asks what may come next, and takes no answer but that
                if not ctx.resilient_parsing:
                    raise
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """All options, those of the default family replaced by those of the one that is named."""
        params = super().get_params(ctx)
        if _REPLACED not in ctx.meta:
            return params
        return [*ctx.meta[_REPLACED], *(param for param in params if param.name not in CASE)]


class FamilyBatch(FamilyCommand):
    """A command that takes several values for each option, such as ``--widths 1..3,2``."""

    several = True


def value_of(option: str, args: Sequence[str]) -> str | None:
    """The value of an option among the words of the command line; ``None`` if it is not there."""
    for place, arg in enumerate(args):
        if arg.startswith(f"{option}="):
            return arg.partition("=")[2]
        if arg == option and place + 1 < len(args):
            return args[place + 1]
    return None


def limit_in(args: Sequence[str]) -> float | None:
    """The limit of time among the words of the command line, before they are read as options.

    ``None`` if there is none, or what stands there is no limit and will be refused.
    """
    try:
        number = float(value_of("--timeout", args) or inf)
    except ValueError:
        return None
    if not 0 < number < inf:
        return None
    return number


def as_parameter(option: CaseOption, several: bool = False) -> click.Parameter:
    """An option of a family on the command line; what is given for it is read by the family.

    Where ``several`` values may be given, defaults come in later.
    """
    if option.positional:
        return click.Argument([option.name])
    more: dict[str, Any] = {"help": option.help, "default": None}
    if option.flag:  # with a word such as false, a value may be said
        more |= {"is_flag": True, "flag_value": "true"}
    if not several:
        more |= {"default": option.default, "show_default": not option.flag}
    return click.Option([f"--{option.name.replace('_', '-')}"], **more)


class MapFile(click.Path):
    """A file with a polynomial map; who gives a number in its place may have meant a case."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if str(value).isdigit() and not Path(value).exists():
            self.fail(
                f"there is no file '{value}'; a case is named by --d 2 --d-out 1 (--a 1)",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


def family_options(command: Command) -> Command:
    """Give a command the options ``--family NAME`` and ``--map FILE``."""
    help_family = (
        "Another family of models, with options of its own: --family polynomial-network --widths"
        " 2,2,1."
    )
    help_map = "A polynomial map, or layers of them, in a TOML file."
    command = click.option("--family", help=help_family, shell_complete=complete_families)(command)
    return click.option("--map", "file", type=MapFile(), help=help_map)(command)


def map_options(command: Command) -> Command:
    """Give a command the argument ``FILE``, the same as ``--map FILE``, and a choice of its output
    coordinates.
    """
    outputs = (
        "Of the map in FILE only these coordinates: x,y. They are outputs of the last layer where"
        " there are layers."
    )
    command = click.option("--outputs", metavar="NAMES", help=outputs)(command)
    return click.argument("named_file", metavar="[FILE]", required=False, type=MapFile())(command)


def every_size(name: str, options: Mapping[str, Any], more: Iterable[str] = ()) -> Family[Any]:
    """The family of the one case that ``--all-sizes`` names for a family.

    Raises
    ------
    InvalidCaseError
        If it has none, or a size, or one of ``more`` options, is given.
    """
    chosen = family(name)
    is_batch = "all_a" in options  # there defaults come in later
    usual = {option.name: option.default for option in chosen.options}
    if is_batch:
        usual = dict.fromkeys(usual)
    defaults = usual | {"field": "QQ", "strategy": "auto", "weights": WEIGHTS[0]}
    for option in (*usual, *more):
        value = options.get(option)
        if value not in (None, False) and str(value) != defaults.get(option):
            if option == "file":
                option = "cases" if is_batch else "map"
            raise InvalidCaseError(
                option, "has no meaning with --all-sizes, which is about all sizes at once, over QQ"
            )
    if not chosen.all_sizes:
        raise InvalidCaseError(
            "all_sizes", f"no statement about {chosen.title} has a form for all sizes"
        )
    return family(chosen.all_sizes)


def named_case(options: dict[str, Any]) -> Any:
    """The model that a command's options name, which are taken out of them.

    Raises
    ------
    InvalidCaseError
        If there is no such family, or no such case of it, or the case is not one model.
    click.UsageError
        If the file cannot be read, or a family and a file are named.
    """
    name = options.pop("family", None)
    file = options.pop("file", None)
    argument = options.pop("named_file", None)
    outputs = options.pop("outputs", None)
    if argument is not None:
        others = [file, *(options.get(option) for option in _NUMBERS)]
        if others != [None] * len(others):
            raise click.UsageError(f"'{argument}' and a case, or --map, exclude each other")
        file = argument
    if name is not None and file is not None:
        raise click.UsageError("--family and a file exclude each other")
    if file is not None:
        model = read_file(file, imported("m2bridge.maps.polynomial_map_model").read_model)
        if outputs is None:
            return model
        return model.restricted_to([output.strip() for output in outputs.split(",")])
    if outputs is not None:
        raise click.UsageError("--outputs needs a map in a file")
    if name is None:
        return _default_case(options)
    from m2bridge.maps.model import Model

    chosen = family(name)
    texts = {option.name: options.pop(option.name, None) for option in chosen.options}
    model = chosen.from_options(texts)
    if not isinstance(model, Model):
        raise InvalidCaseError(
            "family", f"{model.title} is not one model: it can be certified, and nothing else"
        )
    return model


def _default_case(options: dict[str, Any]) -> Any:
    meanings = {"d": "the input embedding dimension", "d_out": "the output embedding dimension"}
    for option, meaning in meanings.items():
        if options[option] is None:
            raise InvalidCaseError(
                option, f"is missing: {meaning}; a case is named by --d 2 --d-out 1 (--a 1)"
            )
    return family(DEFAULT).build(**{name: options.pop(name) for name in ("d", "d_out", "a", "t")})


@dataclass(frozen=True, slots=True)
class Text:
    """A text in place of a file, which came with the call of a tool; messages call it by a name."""

    name: str
    content: str

    def __str__(self) -> str:
        return self.name


def read_file(file: Path | Text, reader: Callable[[str], CommandResultT]) -> CommandResultT:
    """The content of a text file, by its reader.

    Raises
    ------
    click.UsageError
        If it cannot be read, or the reader refuses it.
    """
    try:
        if isinstance(file, Text):
            return reader(file.content)
        content = read_text(file)
        with unquoted():
            return reader(content)
    except ConversionError as reason:
        raise click.UsageError(f"{file}: {reason}") from None
