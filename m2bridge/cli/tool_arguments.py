"""The arguments of the tools of ``m2bridge mcp``, and how a call sets the parameters of a command.

A tool is a command, and an argument of it a parameter of the command, as click has it; its name is
the option's, such as ``d_out``, while click's own name of the parameter may differ. A call has a
value, as JSON, for each argument: ``None`` or the default if it is not given. In addition each call
has ``timeout``, some have ``memory``, and tools about a family have ``options``, the values of
options that the named family declares. Below ``values`` are the values of a call by arguments, and
``settings``, by parameters, the values that are not defaults; a mistake is a usage error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from m2bridge.cli import (
    certificates as certifying,
    compute as computing,
    decide as deciding,
    ideals,
    macaulay2 as bridge,
    show as showing,
)
from m2bridge.cli.cases import CASE_OPTIONS, RenamedOption, Text, as_parameter, replace_case_options
from m2bridge.errors import ConversionError
from m2bridge.families.registry import family
from m2bridge.reading import check_readable
from m2bridge.results.sheet import printable

if TYPE_CHECKING:
    from m2bridge.families.base import CaseOption

NOT_GIVEN = click.Option(["--any"]).default
"""The value that click sets for a parameter that is not given."""

TOOL_COMMANDS: dict[str, click.Command] = {
    "closure": computing.closure_command,
    "dimension": computing.dimension_command,
    "singular_locus": computing.singular_locus_command,
    "cross_check": deciding.cross_check_command,
    "membership": deciding.membership_command,
    "polar_degrees": computing.polar_degrees_command,
    "ed_degree": computing.ed_degree_command,
    "critical_points": computing.critical_points_command,
    "weights": showing.weights_command,
    "verify": certifying.verify_command,
    "ideal": ideals.ideal_command,
    "evaluate": bridge.run_command,
}
"""The command of each tool."""

# Options about a terminal, a batch or this machine, and options that all tools have.
OMITTED_OPTIONS = {"form", "as_json", "everything", "exit_zero", "quiet", "program", "workers"}
OMITTED_OPTIONS |= {"each", "out", "executor", "retry", "named_file", "timeout", "memory"}
OMITTED_OPTIONS |= {"layouts"}
NUMBER = int | float | str
ARGUMENT_TYPES = {
    **dict.fromkeys("AKQV", list[list[NUMBER]]),
    "function": dict[str, NUMBER],
    "heads": int | str,  # a number, or with "all"
}
ARGUMENT_HELP = {
    "options": 'The options of the family by name, such as {"widths": "2,2,1"}.',
    "statement": "A statement, '3.4', or a part of one, '3.4 (iii)' [default: all].",
    "code": "Macaulay2 code; the result is the value of its last statement.",
    "file": "A file with arrays of weights.",
    "map": "A polynomial map, or layers of polynomial maps: a TOML file, or its content.",
    "paths": "Certificates, or folders of certificates.",
    "ideal": "Polynomials such as 'x^2 - y^3, x*y', or a file with an ideal.",
    "timeout": "Time limit for the call, in seconds.",
    "memory": "Limit on the address space of Macaulay2, in MiB.",
}


def arguments_of(name: str) -> dict[str, click.Parameter]:
    """Return the arguments of a tool: parameters of its command, by the argument's name."""
    arguments: dict[str, click.Parameter] = {}
    for param in TOOL_COMMANDS[name].params:
        if param.name not in OMITTED_OPTIONS:
            # arguments keep their names where options are renamed
            option = param.former if isinstance(param, RenamedOption) else param.opts[0]
            argument = option.lstrip("-").replace("-", "_")
            arguments[argument] = param
    if name == "evaluate":  # the code itself is an argument, not a file with it
        arguments["code"] = arguments.pop("file")
    return arguments


def argument_type(param: click.Parameter) -> Any:
    """Return the Python type of the values of an argument, from which its JSON schema is made."""
    if isinstance(param.type, click.Choice):
        return Literal[tuple(param.type.choices)]
    of_click = {"integer": int, "decimal": float, "boolean": bool}
    kind: Any = ARGUMENT_TYPES.get(str(param.name), of_click.get(param.type.name, str))
    return list[kind] if param.nargs == -1 else kind  # -1: any number of values


def argument_default(param: click.Parameter) -> Any:
    """Return the default of an argument of a tool; ``None`` if it has none that JSON can show."""
    return param.default if isinstance(param.default, str | int | float) else None


def parse(
    context: click.Context, name: str, values: Mapping[str, Any], max_memory_mib: int
) -> None:
    """Set the parameters of a command to the values of a call, each by name: no value becomes a
    word of a command line, so none can act as an option. The Macaulay2 of this process has
    ``max_memory_mib``.
    """
    command = context.command
    settings = _given_values(name, values)
    prints_by_form = any(param.name == "form" for param in command.params)
    settings |= {"form": "json"} if prints_by_form else {"as_json": True}
    settings["timeout"] = values["timeout"]
    # With --memory a command starts processes of its own, instead of using the Macaulay2 of this
    # worker. That is needed for a lower limit; and "verify" and "evaluate", which never use that
    # Macaulay2, need a limit for their processes.
    if values.get("memory", max_memory_mib) < max_memory_mib or name in ("verify", "evaluate"):
        settings["memory"] = f"{values['memory']}M"
    own = _own_options(values)
    if own is not None:  # with a family or a map, d, d', a and t name nothing
        replace_case_options(context, [as_parameter(option) for option in own])
        settings = _with_family_options(name, settings, values, own)
    # The code of "evaluate", and a map with several lines, unlike the name of a file, are texts in
    # place of files. All other paths are checked before anything accesses them.
    texts: dict[str, Text] = {}
    for argument, param in arguments_of(name).items():
        parameter = str(param.name)
        value = settings.get(parameter)
        is_map_itself = argument == "map" and isinstance(value, str) and "\n" in value
        if argument == "code" or is_map_itself:
            texts[parameter] = Text(argument, settings.pop(parameter))
        elif value is not None and isinstance(param.type, click.Path):
            for path in [value] if isinstance(value, str) else value:
                try:
                    check_readable(path)
                except ConversionError as reason:
                    raise click.UsageError(f"{argument}: {reason}") from None
    # the time limit first, since it counts while the others are read
    for param in sorted(command.get_params(context), key=lambda param: param.name != "timeout"):
        if param.name not in ("help", *texts):
            param.handle_parse_result(context, settings, [])  # sets context.params[param.name]
    for parameter, value in context.params.items():
        if value is NOT_GIVEN:
            context.params[parameter] = None
    context.params |= texts


def _given_values(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a call gives, by parameters: numbers and lists become JSON."""
    settings: dict[str, Any] = {}
    for argument, param in arguments_of(name).items():
        value = values[argument]
        if value is None or value == argument_default(param):
            continue
        # several values, such as paths, stay a list
        if param.nargs == -1 or isinstance(value, bool | str):
            settings[str(param.name)] = value
        else:
            settings[str(param.name)] = json.dumps(value)
    return settings


def _own_options(values: Mapping[str, Any]) -> Sequence[CaseOption] | None:
    """Return the options of the named family, none for a map; ``None`` without either."""
    if values.get("family") is not None:
        return family(values["family"]).options
    for name in values.get("options", {}):  # options without a family: the first is refused
        raise click.UsageError(f"options: '{printable(name):.60}' is not an option of a family")
    return None if values.get("map") is None else ()


def _with_family_options(
    name: str, settings: dict[str, Any], values: Mapping[str, Any], own: Sequence[CaseOption]
) -> dict[str, Any]:
    """Return the ``settings`` with the values of ``own``, the options of the named family or map.

    An argument that is an option of the default family is refused unless the named family has one
    of this name.
    """
    # a family cannot set an option that the command has for every family, such as the field
    of_command = {param.name for param in TOOL_COMMANDS[name].params} - {*CASE_OPTIONS}
    by_name = {option.name: option for option in own if option.name not in of_command}
    owner = "a map" if values.get("family") is None else f"the family '{values['family']:.60}'"
    settings = dict(settings)
    for argument in CASE_OPTIONS:
        if argument in settings and argument not in by_name:
            raise click.UsageError(f"'{argument}' is not an option of {owner}")
    for text, value in values.get("options", {}).items():
        option = by_name.get(text.replace("-", "_"))
        if option is None or option.name in ("help", *settings):
            reason = "is given twice" if option is not None else f"is not an option of {owner}"
            raise click.UsageError(f"options: '{printable(text):.60}' {reason}")
        if value is not False:  # false counts as not given
            settings[option.name] = _text_of_value(option, value)
    return settings


def _text_of_value(option: CaseOption, value: bool | int | str) -> str:
    """Return the text that the command line has for a value, not false, of a family's option."""
    if option.flag:
        if value is not True:
            raise click.UsageError(f"options: '{option.name}' must be true or false")
        return "true"
    if value is True:
        raise click.UsageError(f"options: '{option.name}' must be a number or a text")
    return str(value)
