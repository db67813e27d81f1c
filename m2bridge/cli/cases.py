"""Cases of any family on the command line: options, maps in files, shell completion.

A family is a set of models that numbers name, such as layers of attention (d, d', a, t) or
polynomial networks (their widths); a case is one of them. The options of a command depend on the
family that it names. So ``--family`` is looked for in the arguments before they are parsed.

The time limit of a command counts from the start of the program, which ``clock().begin`` holds; it
is 0 where no command was begun, and then the limit counts from the block that it limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click
from click.shell_completion import CompletionItem

from m2bridge.convert.bounded_io import read_text
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.families.registry import DEFAULT_FAMILY, family, family_names
from m2bridge.limits import clock, importing, limited
from m2bridge.reading import unquoted

if TYPE_CHECKING:
    from m2bridge.families.base import CaseOption, Family
    from m2bridge.maps.chain import Chain
    from m2bridge.maps.model import Model
    from m2bridge.maps.polynomial_map_model import MapModel


Command = TypeVar("Command", bound=Callable[..., Any])
CommandResultT = TypeVar("CommandResultT")

ALL = "all"
"""The argument for every statement, or every usual question."""
REACHABLE = "reachable"
"""The argument for every question whose answer is expected within minutes."""


Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completion(words: Callable[[str], Iterable[str]], separator: str = "") -> Completion:
    """Return the shell completion of an option.

    Parameters
    ----------
    words : callable
        Returns the words that are possible, from the name of the family in the command line.
    separator : str
        What separates the words of an option that takes several, of which the last is completed.
    """

    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the possible values of an option whose value so far is ``incomplete``."""
        complete_words, last_separator, begun = "", "", incomplete
        if separator:  # of "3.2,clo" the word "clo" is completed
            complete_words, last_separator, begun = incomplete.rpartition(separator)
        try:
            possible = words(ctx.params.get("family") or DEFAULT_FAMILY)
        except InvalidCaseError:  # there is no such family
            return []
        before = complete_words + last_separator
        return [CompletionItem(before + word) for word in possible if word.startswith(begun)]

    return complete


def _families(family_name: str) -> Iterable[str]:
    """Return the names of all families, whatever family is named."""
    return family_names()


def _statements(family_name: str) -> Iterable[str]:
    """Return the keys of the statements about a family, and the word for all."""
    return ALL, *dict.fromkeys(statement.key for statement in family(family_name).statements())


def _questions(family_name: str) -> Iterable[str]:
    """Return the keys of the questions about a family, and the words for several."""
    from m2bridge.certification.make import questions

    return ALL, REACHABLE, *questions(family_name)


def _kinds(family_name: str) -> Iterable[str]:
    """Return the kinds of outcomes, which are the same for all families."""
    from m2bridge.batch.store import KINDS

    return KINDS


complete_families = _completion(_families)
complete_statements = _completion(_statements)
complete_questions = _completion(_questions, ",")
complete_kinds = _completion(_kinds, ",")


CASE_OPTIONS = ("d", "d_out", "a", "t", "coordinates", "weights")
"""The options of the default family, replaced for another family or a map."""

WEIGHTS = ("attention", "factored")
"""The parametrizations of attention, by (A, V) or (Q, K, V); the first is the default."""

_NUMBERS = ("d", "d_out", "a")
_REPLACED = "m2bridge.cli.cases"
"""Where :func:`replace_case_options` notes the options in ``ctx.meta`` of click."""


def replace_case_options(ctx: click.Context, options: Sequence[click.Parameter]) -> None:
    """Give a command these options in place of the options of the default family."""
    ctx.meta[_REPLACED] = options


class FamilyCommand(click.Command):
    """A command with the options of the named family, such as ``--widths``.

    ``several`` says whether each of these options takes several values, for a batch of cases.
    """

    several: ClassVar[bool] = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the family or map first, which determines the options that name a case; then parse.

        After ``--family deep-attention`` these are the options of that family, such as
        ``--widths``; with ``--map FILE`` there are none; else they are the options of the default
        family.
        """
        name = value_of("--family", args)
        try:
            if name is not None:
                options = self._options_of_family(name, args)
                replace_case_options(ctx, options)
            elif value_of("--map", args) is not None:
                replace_case_options(ctx, [])
        except InvalidCaseError:
            # shell completion shows no errors
            if not ctx.resilient_parsing:
                raise
        return super().parse_args(ctx, args)

    def _options_of_family(self, name: str, args: Sequence[str]) -> list[click.Parameter]:
        """Return the options of the family with this name, loaded within the limit in ``args``.

        In a batch ``--timeout`` is a limit for each case, so that loading has none.

        Raises
        ------
        InvalidCaseError
            If there is no such family.
        """
        limit = None
        if not self.several:
            limit = limit_in(args)
        # The limit counts from the begin of the command; that is 0 if no command was begun, and
        # then, for None, the limit counts from here.
        with limited(limit, begin=clock().begin or None):
            options = family(name).options
        return [as_parameter(option, self.several) for option in options]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options, where the named family's replace the default family's.

        Click calls this for parsing, help and completion.
        """
        params = super().get_params(ctx)
        if _REPLACED not in ctx.meta:  # neither a family nor a map is named
            return params
        return [
            *ctx.meta[_REPLACED],
            *(param for param in params if param.name not in CASE_OPTIONS),
        ]


class FamilyBatch(FamilyCommand):
    """A command with several values for each option of a family, such as ``--widths 1..3,2``."""

    several = True


def value_of(option: str, args: Sequence[str]) -> str | None:
    """Return the value of an option such as ``--family`` in unparsed arguments, else ``None``.

    It is written as ``--family NAME`` or ``--family=NAME``; the last one counts, as in click.
    """
    value = None
    for place, arg in enumerate(args):
        if arg.startswith(f"{option}="):
            value = arg.partition("=")[2]
        if arg == option and place + 1 < len(args):
            value = args[place + 1]
    return value


def limit_in(args: Sequence[str]) -> float | None:
    """Return the time limit in unparsed arguments; ``None`` if it is missing or invalid."""
    try:
        number = float(value_of("--timeout", args) or inf)  # inf is refused below
    except ValueError:
        return None
    if not 0 < number < inf:
        return None
    return number


def as_parameter(option: CaseOption, several: bool = False) -> click.Parameter:
    """Return click's parameter for an option of a family; the family itself reads its text.

    Where ``several`` values are possible, the family fills in the default later.
    """
    if option.positional:
        return click.Argument([option.name])
    more: dict[str, Any] = {"help": _as_sentence(option.help), "default": None}
    if option.flag:  # the value true or false may also be given explicitly
        more |= {"is_flag": True, "flag_value": "true"}
    if not several:
        more |= {"default": option.default, "show_default": not option.flag}
    return click.Option([f"--{option.name.strip('_').replace('_', '-')}", option.name], **more)


def _as_sentence(phrase: str) -> str:
    """Return a phrase that messages contain, the help of an option, as a sentence."""
    return f"{phrase[:1].upper()}{phrase[1:]}."


class MapFile(click.Path):
    """A file with a polynomial map.

    A number that is no file, as in ``closure 2 1``, is refused with a hint on how to name a case.
    """

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of an existing file; click calls this with the text ``value``."""
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
        "A different family of models, with its own options: --family polynomial-network"
        " --widths 2,2,1."
    )
    help_map = (
        "A TOML file with a polynomial map, or with layers of polynomial maps. Its coefficients are"
        " numbers; docs/maps.md shows how a parameter becomes a constant of the field QQ(c)."
    )
    command = click.option("--family", help=help_family, shell_complete=complete_families)(command)
    return click.option("--map", "file", type=MapFile(), help=help_map)(command)


def map_options(command: Command) -> Command:
    """Give a command the argument ``FILE``, short for ``--map FILE``, and ``--outputs``."""
    outputs = (
        "Use only these coordinates of the map, such as x,y; for layered maps they are outputs of"
        " the last layer."
    )
    command = click.option("--outputs", metavar="NAMES", help=outputs)(command)
    return click.argument("named_file", metavar="[FILE]", required=False, type=MapFile())(command)


def family_with_all_sizes(
    name: str, options: Mapping[str, Any], *, without_effect: Iterable[str] = ()
) -> Family[Any]:
    """Return the named family, after checking that ``--all-sizes`` means something for it.

    With ``--all-sizes`` a command is about all cases of the family at once, over QQ, so that an
    option which names a case, or says how one case is computed, is refused.

    Parameters
    ----------
    name : str
        The name of the family.
    options : mapping
        The values of the options of the command, by name; those left out have their defaults.
    without_effect : iterable of str
        Names of options that are refused, in addition to those that name a case.

    Raises
    ------
    InvalidCaseError
        If no statement has a form for all sizes, or an option without effect is given.
    """
    chosen = family(name)
    is_batch = "all_a" in options  # an option of certify alone
    for option in _given_options(chosen, options, without_effect):
        if option == "file":  # the parameter of --cases, and of --map
            option = "cases" if is_batch else "map"
        raise InvalidCaseError(
            option, "has no effect with --all-sizes, which is about all sizes at once, over QQ"
        )
    if not chosen.all_sizes:  # the name of the family whose one case is all sizes of this family
        raise InvalidCaseError(
            "all_sizes", f"no statement about {chosen.title} has a form for all sizes"
        )
    return chosen


def _given_options(
    chosen: Family[Any], options: Mapping[str, Any], others: Iterable[str]
) -> Iterator[str]:
    """Yield the names of a family's options, and of ``others``, with values that are no defaults.

    ``options`` are the values of the command's options by name. In a batch the default of an option
    of the family is ``None``: the family fills in its default later.
    """
    case_defaults = {option.name: option.default for option in chosen.options}
    is_batch = "all_a" in options  # an option of certify alone
    if is_batch:
        case_defaults = dict.fromkeys(case_defaults)
    defaults = case_defaults | {"field": "QQ", "strategy": "auto", "weights": WEIGHTS[0]}
    for option in (*case_defaults, *others):
        value = options.get(option)  # a text, or what a text was read as; defaults are texts
        if value not in (None, False) and str(value) != defaults.get(option):
            yield option


def named_case(options: dict[str, Any]) -> Any:
    """Take the options that name a case out of a command's options; return the model.

    With a map in a file it is the model of the map, restricted to the coordinates that
    ``--outputs`` names, if any; with ``--family`` a case of that family; else a case of the default
    family. ``options`` are the values by name, of which those that name the case are removed.

    Raises
    ------
    InvalidCaseError
        If the family or the case does not exist, or the case is not a single model; or if an
        output is no coordinate of the map, or named twice.
    click.UsageError
        If the file cannot be read, or is given together with a family; if the argument FILE is
        given together with ``--map`` or a case; or if ``--outputs`` is given without a map.
    """
    name = options.pop("family", None)
    file = _map_file(options)
    outputs = options.pop("outputs", None)
    if name is not None and file is not None:
        raise click.UsageError("--family and a file exclude each other")
    if file is not None:
        return _map_in_file(file, outputs)
    if outputs is not None:
        raise click.UsageError("--outputs needs a map in a file")
    if name is not None:
        return _case_of_family(family(name), options)
    return _default_case(options)


def _map_file(options: dict[str, Any]) -> Path | Text | None:
    """Take ``--map FILE`` and the argument FILE out of the options; return the file with the map.

    The argument is short for ``--map``, and excludes d, d' and a. ``None`` if neither is given.

    Raises
    ------
    click.UsageError
        If the argument is given together with ``--map`` or a case.
    """
    file: Path | Text | None = options.pop("file", None)
    argument: Path | Text | None = options.pop("named_file", None)
    if argument is None:
        return file
    others = [file, *(options.get(option) for option in _NUMBERS)]
    if any(other is not None for other in others):
        raise click.UsageError(f"'{argument}' and a case, or --map, exclude each other")
    return argument


def _map_in_file(file: Path | Text, outputs: str | None) -> MapModel | Chain:
    """Return the model of the map in a file, restricted to the coordinates ``outputs``.

    These are names with commas between them, as in ``x,y``; all coordinates if it is ``None``.

    Raises
    ------
    InvalidCaseError
        If an output is no coordinate of the map, or named twice.
    click.UsageError
        If the file cannot be read, or has no map.
    """
    # imported here, within the time limit, as it imports SymPy
    with importing():
        from m2bridge.maps.polynomial_map_model import read_model

    model = read_file(file, read_model)
    if outputs is None:
        return model
    return model.restricted_to([output.strip() for output in outputs.split(",")])


def _case_of_family(chosen: Family[Any], options: dict[str, Any]) -> Model:
    """Take the options of a family out of a command's options; return the case that they name.

    Raises
    ------
    InvalidCaseError
        If there is no such case, or it is not a single model.
    """
    from m2bridge.maps.model import Model

    texts = {option.name: options.pop(option.name, None) for option in chosen.options}
    model = chosen.from_options(texts)
    # a family of all sizes has no single map that could be computed with
    if not isinstance(model, Model):
        raise InvalidCaseError(
            "family", f"{model.title} is not a single model: it can only be certified"
        )
    return model


def _default_case(options: dict[str, Any]) -> Model:
    """Take d, d', a and t out of the options; return the model of the default family.

    Raises
    ------
    InvalidCaseError
        If d or d' is missing, or there is no such case.
    """
    meanings = {"d": "the input embedding dimension", "d_out": "the output embedding dimension"}
    for option, meaning in meanings.items():
        if options[option] is None:
            raise InvalidCaseError(
                option, f"is missing: {meaning}; a case is named by --d 2 --d-out 1 (--a 1)"
            )
    sizes = {name: options.pop(name) for name in ("d", "d_out", "a", "t")}
    model: Model = family(DEFAULT_FAMILY).build(**sizes)
    return model


@dataclass(frozen=True, slots=True)
class Text:
    """A text in place of a file, passed to a tool of ``mcp``: its content.

    ``name`` stands for the name of a file in messages.
    """

    name: str
    content: str

    def __str__(self) -> str:
        return self.name


def read_file(file: Path | Text, reader: Callable[[str], CommandResultT]) -> CommandResultT:
    """Return what a reader makes of the content of a text file.

    Where a server reads files for assistants, errors say a position in the file but quote nothing
    of it; a :class:`Text` came from the assistant itself and may be quoted.

    Raises
    ------
    click.UsageError
        If the file cannot be read, or the reader refuses its content.
    """
    try:
        if isinstance(file, Text):
            return reader(file.content)
        content = read_text(file)
        with unquoted():  # has an effect in such a server only
            return reader(content)
    except ConversionError as reason:
        raise click.UsageError(f"{file}: {reason}") from None
