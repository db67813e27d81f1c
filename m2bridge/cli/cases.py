"""Cases of any family on the command line: options, maps in files, shell completion.

A family is a set of models that numbers name, such as layers of attention (d, d', a, t) or
polynomial networks (their widths); a case is one of them. The options of a command depend on the
family that it names, so ``--family`` is looked for in the arguments before they are parsed. Here
``options`` are the values of a command's options by name; those that name a case are taken out of
them, and the rest are arguments of the computation.

The time limit of a command counts from the start of the program, which ``clock().begin`` holds; it
is 0 where no command was begun, and then the limit counts from the block that it limits. A mistake
of the caller raises ``click.UsageError``, or InvalidCaseError with the name of the option.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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


Command = TypeVar("Command", bound=Callable[..., Any])
CommandResultT = TypeVar("CommandResultT")

ALL = "all"
"""The argument for every statement, or every usual question."""
REACHABLE = "reachable"
"""The argument for every question whose answer is expected within minutes."""


Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completion(words: Callable[[str], Iterable[str]], separator: str = "") -> Completion:
    """Return the completion of an option by words, which the family in the command line has."""

    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        complete_words, last_separator, beginning = "", "", incomplete
        if separator:  # of "3.2,clo" the word "clo" is completed
            complete_words, last_separator, beginning = incomplete.rpartition(separator)
        try:
            possible = words(ctx.params.get("family") or DEFAULT_FAMILY)
        except InvalidCaseError:  # there is no such family
            return []
        prefix = complete_words + last_separator
        return [CompletionItem(prefix + word) for word in possible if word.startswith(beginning)]

    return complete


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


complete_families = _completion(lambda family_name: family_names())
complete_statements = _completion(_statements)
complete_questions = _completion(_questions, ",")
complete_kinds = _completion(_kinds, ",")


CASE_OPTIONS = ("d", "d_out", "a", "t", "coordinates", "weights")
"""The options of the default family, replaced for another family or a map."""

NUMBERS_OF_CASE = ("d", "d_out", "a", "t")
"""The options among these that name a case; pictures have an option ``--coordinates`` of their own.
"""

WEIGHTS = ("attention", "factored")
"""The parametrizations of attention, by (A, V) or (Q, K, V); the first is the default."""

_NUMBERS = ("d", "d_out", "a")
_REPLACED = "m2bridge.cli.cases"
"""Where :func:`replace_case_options` notes the options in ``ctx.meta`` of click."""


def replace_case_options(ctx: click.Context, options: Sequence[click.Parameter]) -> None:
    """Give a command these options in place of the options of the default family."""
    ctx.meta[_REPLACED] = options


class FamilyCommand(click.Command):
    """A command with the options of the named family; in a batch each takes ``several`` values."""

    several: ClassVar[bool] = False
    replaceable: ClassVar[Collection[str]] = CASE_OPTIONS  # what other families do not have

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Replace the options that name a case by the named family's or map's; then parse."""
        name = value_of("--family", args)
        try:
            if name is not None:
                # in a batch the limit is for each case, so that loading a family has none; it
                # counts from the begin of the command
                limit = None if self.several else limit_in(args)
                with limited(limit, begin=clock().begin or None):
                    options = family(name).options
                replace_case_options(ctx, [as_parameter(one, self.several) for one in options])
            elif value_of("--map", args) is not None:
                replace_case_options(ctx, [])
        except InvalidCaseError:
            # shell completion shows no errors
            if not ctx.resilient_parsing:
                raise
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options of the command, for parsing, help and completion."""
        params = super().get_params(ctx)
        if _REPLACED not in ctx.meta:  # neither a family nor a map is named
            return params
        replacing = ctx.meta[_REPLACED]
        absent = {*self.replaceable, *(param.name for param in replacing)}
        return [*replacing, *(param for param in params if param.name not in absent)]


class ModelPicture(FamilyCommand):
    """A command for a picture of a model; an option of the picture whose name a family has for its
    own is left out, and has its default.
    """

    replaceable = NUMBERS_OF_CASE


class FamilyBatch(FamilyCommand):
    """A command with several values for each option of a family, such as ``--widths 1..3,2``."""

    several = True


def value_of(option: str, args: Sequence[str]) -> str | None:
    """Return the last value of an option such as ``--family`` in unparsed arguments."""
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


RENAMED = {"norm": "norm-before", "output": "output-matrix", "outputs": "restrict-to"}
"""Options by their parameters, whose names were too similar to --normalization and --out."""


class RenamedOption(click.Option):
    """An option whose former name is understood, and is in no help, message or completion."""

    def __init__(self, *args: Any, former: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.former = former

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know both names."""
        names_in_help = self.opts
        self.opts = [*names_in_help, self.former]
        super().add_to_parser(parser, ctx)
        self.opts = names_in_help


def flag_of(parameter: str) -> str:
    """Return the name of an option by its parameter: ``as`` for ``as_``, ``rank-a`` for ``rank_A``,
    and ``A`` for a matrix A.
    """
    words = parameter.strip("_").split("_")
    return "-".join(words).lower() if len(words) > 1 else words[0]


def with_flags(message: str) -> str:
    """Return a message with options in place of arguments of Python: ``--biases ignore`` for
    ``biases='ignore'``.
    """

    def flag(match: re.Match[str]) -> str:
        parameter = match["parameter"]
        return f"--{RENAMED.get(parameter) or flag_of(parameter)} {match['value']}"

    return re.sub(r"\b(?P<parameter>[a-z]\w*)='(?P<value>[\w-]+)'", flag, message)


def names_of_option(parameter: str) -> tuple[list[str], dict[str, Any]]:
    """Return the name of the option for a parameter, and click's arguments if it was renamed."""
    flag = flag_of(parameter)
    if parameter not in RENAMED:
        return [f"--{flag}", parameter], {}
    return [f"--{RENAMED[parameter]}", parameter], {"cls": RenamedOption, "former": f"--{flag}"}


def as_parameter(
    option: CaseOption, several: bool = False, *, is_renamed: bool = False
) -> click.Parameter:
    """Return click's parameter for an option of a family; the family itself reads its text.

    ``is_renamed`` is whether it is an option of m2bridge, which may have a new name.
    """
    if option.positional:
        return click.Argument([option.name])
    sentence = f"{option.help[:1].upper()}{option.help[1:]}."
    more: dict[str, Any] = {"help": sentence, "default": None}
    if option.flag:  # the value true or false may also be given explicitly
        more |= {"is_flag": True, "flag_value": "true"}
    if not several:
        more |= {"default": option.default, "show_default": not option.flag}
    if is_renamed and option.name in RENAMED:
        names, renaming = names_of_option(option.name)
        return RenamedOption(names, former=renaming["former"], **more)
    return click.Option([f"--{option.name.strip('_').replace('_', '-')}", option.name], **more)


class MapFile(click.Path):
    """A file with a polynomial map; for ``closure 2 1`` a hint says how to name a case."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of an existing file."""
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
    """Give a command the argument ``FILE``, short for ``--map FILE``, and ``--restrict-to``."""
    outputs = (
        "Use only these coordinates of the map, such as x,y; for layered maps they are outputs of"
        " the last layer."
    )
    names, more = names_of_option("outputs")
    command = click.option(*names, metavar="NAMES", help=outputs, **more)(command)
    return click.argument("named_file", metavar="[FILE]", required=False, type=MapFile())(command)


def family_with_all_sizes(
    name: str, options: Mapping[str, Any], *, without_effect: Iterable[str] = ()
) -> Family[Any]:
    """Return the named family; refuse what has no effect with ``--all-sizes``."""
    named_family = family(name)
    is_batch = "all_a" in options  # an option of certify alone
    # in a batch the family itself fills in its defaults later
    own_defaults = {one.name: None if is_batch else one.default for one in named_family.options}
    defaults = own_defaults | {"field": "QQ", "strategy": "auto", "weights": WEIGHTS[0]}
    for option in (*own_defaults, *without_effect):
        value = options.get(option)  # a text, or what a text was read as; defaults are texts
        if value in (None, False) or str(value) == defaults.get(option):
            continue
        if option == "file":  # the parameter of --cases, and of --map
            option = "cases" if is_batch else "map"
        raise InvalidCaseError(
            option, "has no effect with --all-sizes, which is about all sizes at once, over QQ"
        )
    if (
        not named_family.all_sizes
    ):  # the name of the family whose one case is all sizes of this family
        raise InvalidCaseError(
            "all_sizes", f"no statement about {named_family.title} has a form for all sizes"
        )
    return named_family


def named_case(options: dict[str, Any]) -> Any:
    """Take the options that name a case out of a command's options; return its model: of the map in
    a file, restricted to some outputs, of a family, or of the default family.
    """
    name = options.pop("family", None)
    file: Path | Text | None = options.pop("file", None)
    argument: Path | Text | None = options.pop("named_file", None)
    outputs = options.pop("outputs", None)
    if argument is not None:  # FILE is short for --map FILE
        if any(one is not None for one in (file, *map(options.get, _NUMBERS))):
            raise click.UsageError(f"'{argument}' and a case, or --map, exclude each other")
        file = argument
    if name is not None and file is not None:
        raise click.UsageError("--family and a file exclude each other")
    if file is not None:
        with importing():  # SymPy
            from m2bridge.maps.polynomial_map_model import read_model

        model = read_file(file, read_model)
        if outputs is None:
            return model
        return model.restricted_to([output.strip() for output in outputs.split(",")])
    if outputs is not None:
        raise click.UsageError("--restrict-to needs a map in a file")
    if name is not None:
        from m2bridge.maps.model import Model

        chosen = family(name)
        texts = {option.name: options.pop(option.name, None) for option in chosen.options}
        case = chosen.from_options(texts)
        # a family of all sizes has no single map that could be computed with
        if not isinstance(case, Model):
            raise InvalidCaseError(
                "family", f"{case.title} is not a single model: it can only be certified"
            )
        return case
    meanings = {"d": "the input embedding dimension", "d_out": "the output embedding dimension"}
    for option, meaning in meanings.items():
        if options[option] is None:
            raise InvalidCaseError(
                option, f"is missing: {meaning}; a case is named by --d 2 --d-out 1 (--a 1)"
            )
    sizes = {size: options.pop(size) for size in ("d", "d_out", "a", "t")}
    return family(DEFAULT_FAMILY).build(**sizes)


@dataclass(frozen=True, slots=True)
class Text:
    """A text in place of a file, passed to a tool of ``mcp``; messages call it ``name``."""

    name: str
    content: str

    def __str__(self) -> str:
        return self.name


def read_file(file: Path | Text, reader: Callable[[str], CommandResultT]) -> CommandResultT:
    """Return what a reader makes of the content of a text file.

    Where a server reads files for assistants, errors say a position in the file but quote nothing
    of it; a :class:`Text` came from the assistant itself and may be quoted.
    """
    try:
        if isinstance(file, Text):
            return reader(file.content)
        content = read_text(file)
        with unquoted():  # has an effect in such a server only
            return reader(content)
    except ConversionError as reason:
        raise click.UsageError(f"{file}: {reason}") from None
