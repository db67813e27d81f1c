"""The command ``ideal``, and the option ``--ideal`` of commands about the variety of an ideal."""

from __future__ import annotations

import json
import re
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from m2bridge.algebra.field import CoefficientField
from m2bridge.cli import DONE, common
from m2bridge.cli.cases import read_file
from m2bridge.cli.common import progress, show
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.limits import importing
from m2bridge.reading import exists, folders
from m2bridge.results.sheet import printable

if TYPE_CHECKING:
    from m2bridge.ideals.ideal import Ideal

OPTIONS_FOR_IDEALS = frozenset(
    {"named_ideal", "projective", "field", "timeout", "memory", "program", "form", "everything"}
)
"""The options that commands about varieties accept together with ``--ideal``."""


ideal_option = click.option(
    "--ideal",
    "named_ideal",
    metavar="FILE|TEXT",
    help=(
        "Compute for the variety of an ideal: polynomials such as 'x^2 - y^2*z, x*y', a file of"
        " polynomials, or a TOML file: "
        '[ideal], variables = ["x", "y"], generators = ["x^2 - y^3"].'
    ),
)


def show_for_ideal(
    result_name: str,
    ideal_text: str,
    options: dict[str, Any],
    function: common.ImportedFunction,
    own_options: frozenset[str] = frozenset(),
) -> int:
    """Print what a command computes for the variety of an ideal; return the exit code.

    Parameters
    ----------
    result_name : str
        What is computed, for the display of progress: ``singular locus``.
    ideal_text : str
        The value of ``--ideal``: polynomials, or the name of a file.
    options : dict
        The values of all other options of the command, by name.
    function : callable
        Imports and returns the function that computes, called with the ideal and ``title=``, which
        is empty if the ideal has none.
    own_options : frozenset of str
        Options that the command accepts together with ``--ideal``, in addition to
        :data:`OPTIONS_FOR_IDEALS`.
    """
    request, field = _ideal_request(options, own_options)
    with common.time_limit(timeout=request.timeout) as clock, request.engine():
        with importing():  # while Macaulay2 starts
            compute = function()
        ideal, title = read_ideal(ideal_text, field)
        with progress(f"{result_name} of {title or printable(ideal_text):.60}"):
            result = compute(ideal, title=title)
    return show(result, request.form, clock, request.everything)


def title_of_variety(title: str, ideal_text: str) -> str:
    """Return the title that a file gives to an ideal, or one made of its polynomials."""
    return title or f"variety of {printable(ideal_text):.60}"


def _ideal_request(
    options: dict[str, Any], own_options: frozenset[str]
) -> tuple[common.Run, CoefficientField | None]:
    """Return the limits and format of a command with ``--ideal``, and the field if it is given.

    The parameters are those of :func:`show_for_ideal`.

    Raises
    ------
    click.UsageError
        If options are given that belong to cases and maps.
    """
    context = click.get_current_context()
    explicit = common.explicit_options(context)
    # an option that was left out has a default too, so only those that were given count
    foreign = sorted(explicit - OPTIONS_FOR_IDEALS - own_options)
    if foreign:
        # the first of them, as it is written on the command line
        parameters = {param.name: param for param in context.command.get_params(context)}
        name = parameters[foreign[0]].get_error_hint(context).strip("'")
        raise click.UsageError(f"--ideal and {name} exclude each other")
    field = None
    if "field" in explicit:
        field = options["field"]
    return common.Run.of(options), field


def read_ideal(
    named: str, field: CoefficientField | None, option: str = "--ideal: "
) -> tuple[Ideal, str]:
    """Return the ideal in the file with this name, else of the polynomials in this text; its title.

    Polynomials on the command line have no title, so that it is empty.

    Parameters
    ----------
    named : str
        The name of a file, or polynomials.
    field : CoefficientField or None
        The field of coefficients; ``None`` if a file, or the polynomials themselves, say it.
    option : str
        The beginning of the message about a mistake.

    Raises
    ------
    click.UsageError
        If there is no such file and the text is not a list of polynomials.
    """
    from m2bridge.ideals.construct import ideal, read_ideal_file

    if exists(named):
        # In a process that reads for assistants only TOML is read: of plain text they would be
        # shown the lines as polynomials, whatever it is, such as TOKEN = secret.
        may_be_plain = folders() is None
        return read_file(Path(named), partial(read_ideal_file, field=field, plain=may_be_plain))
    try:
        return ideal(named, field=field), ""
    except ConversionError as reason:
        raise click.UsageError(
            f"{option}'{printable(named):.60}' is neither a file nor a list of"
            f" polynomials: {reason}"
        ) from None


METHODS_OF_IDEALS = (
    "dimension",
    "codimension",
    "degree",
    "hilbert_series",
    "hilbert_polynomial",
    "betti_table",
    "resolution",
    "groebner_basis",
    "radical",
    "is_radical",
    "is_prime",
    "minimal_primes",
    "primary_decomposition",
    "associated_primes",
    "jacobian",
)
"""Methods of ideals without another argument."""
METHODS_OF_TWO_IDEALS = ("contains", "equals", "intersect", "quotient", "saturate", "eliminate")
"""Methods that take another ideal, a polynomial, or variables."""


_COMMANDS_OF_IDEALS = {
    "singular_locus": "singular-locus --ideal",
    "projective": "singular-locus --projective --ideal",
    "polar_degrees": "polar-degrees --ideal",
}
"""Computations that are methods of ideals, or like them, and are commands of their own."""


class IdealMethod(click.Choice[str]):
    """The name of a method of ideals; ``groebner-basis`` is one, and commands are pointed to."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name of the method in Python; other commands about ideals are pointed to."""
        name = str(value).strip().replace("-", "_")
        if name in _COMMANDS_OF_IDEALS:
            command = _COMMANDS_OF_IDEALS[name]
            self.fail(f"'{name}' is a command of its own: m2bridge {command} FILE|TEXT", param, ctx)
        return super().convert(name, param, ctx)


class PolynomialsFirst(click.Command):
    """A command whose first argument is a text that may start with a minus sign."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put a blank before such a text, so that it is not read as an option; then parse.

        A text is what begins with one minus sign, but is no number, which may be the value of an
        option such as ``--timeout -3``, and no option, even with one dash too few (``-json``).
        """
        options = {option for param in self.get_params(ctx) for option in param.opts}
        for place, arg in enumerate(args):
            begins_as_text = re.match(r"-(?!-|[0-9.]*$)", arg) is not None
            is_option = arg in options or f"-{arg.partition('=')[0]}" in options
            if begins_as_text and not is_option:
                args = [*args[:place], f" {arg}", *args[place + 1 :]]
                break
        return super().parse_args(ctx, args)


@click.command(
    "ideal", cls=PolynomialsFirst, epilog="Example: m2bridge ideal 'x^2 - y^2*z, x*y' radical"
)
@click.argument("ideal", metavar="FILE|TEXT")
@click.argument(
    "method", type=IdealMethod(METHODS_OF_IDEALS + METHODS_OF_TWO_IDEALS), metavar="METHOD"
)
@click.option(
    "--other", help="The polynomials of the second ideal, or the variables of 'eliminate': 'x, y'."
)
@click.option(
    "--field",
    metavar="FIELD",
    help=(
        "The field of coefficients: QQ, GF(p), GF(9), a root of a polynomial as in"
        " 'QQ[i]/(i^2+1)', or with parameters as constants, 'QQ(a,b)'."
    ),
)
@common.timeout_option
@common.memory_option
@common.engine_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON object: ideal, method, value, text."
)
def ideal_command(
    ideal: str, method: str, other: str | None, field: str | None, as_json: bool, **options: Any
) -> int:
    """Compute the dimension, radical, primary decomposition and so on of an ideal.

    The ideal is given by polynomials or equations such as 'x^2 - y^2*z, x*y = 1', or by a file:
    TOML, or plain text with a polynomial on each line.
    """
    # without it the method has nothing to compare with, and with it others would ignore it
    if (other is not None) != (method in METHODS_OF_TWO_IDEALS):
        raise click.UsageError(
            f"--other belongs to {', '.join(METHODS_OF_TWO_IDEALS)}, which need it"
        )
    request = common.Run.of(options)
    ideal = ideal.strip()
    with common.time_limit(timeout=request.timeout), request.engine():
        with importing():
            from m2bridge.convert.fields import parse_field
            from m2bridge.ideals import construct  # noqa: F401  (while Macaulay2 starts)
        coefficients = None if field is None else parse_field(field)
        given, title = read_ideal(ideal, coefficients, option="")
        arguments: list[Any] = []
        if other is not None:
            arguments = _second_operand(other, method, given)
        with progress(f"{method} of {title or printable(ideal):.60}"):
            value = getattr(given, method)(*arguments)
    remark = _about_decomposition(method, value, str(given.ring.field))
    if as_json:
        data = {"ideal": given.to_json(), "method": method, "value": _as_json(value)}
        data |= {"text": str(value), "remark": remark}
        common.echo_json(json.dumps(data, ensure_ascii=False))
    else:
        click.echo(str(value))
        if remark:
            click.echo(remark, err=True)
    return DONE


def _about_decomposition(method: str, value: Any, field: str) -> str:
    """Return a remark on the field of a decomposition, which is not absolute; else ''.

    Parameters
    ----------
    method : str
        The method of ideals that was called.
    value : object
        What it returned.
    field : str
        The field of coefficients.
    """
    if method in ("minimal_primes", "primary_decomposition", "associated_primes"):
        return f"This is over {field}; over a larger field components can decompose further."
    if method == "is_prime" and value:
        return f"It is prime over {field}; over a larger field it can decompose."
    return ""


ideal_command.help = (
    f"{cleandoc(str(ideal_command.help))}\n\n"
    f"METHOD is one of {', '.join(METHODS_OF_IDEALS + METHODS_OF_TWO_IDEALS)}."
)


def _second_operand(other: str, method: str, given: Ideal) -> list[Any]:
    """Return the second argument of a method: variables of the ring, or another ideal.

    Raises
    ------
    InvalidCaseError
        If the text does not describe variables or an ideal of this ring.
    """
    from m2bridge.ideals.construct import ideal

    ring = given.ring
    if method == "eliminate":
        names = [name.strip() for name in other.split(",")]
        strange = [name for name in names if name not in ring.variables]
        if strange:
            raise InvalidCaseError("other", f"'{strange[0]:.60}' is not a variable of {ring}")
        return names
    try:
        return [ideal(other, variables=ring.variables, field=ring.field)]
    except ConversionError as reason:
        raise InvalidCaseError("other", str(reason)) from None


def _as_json(value: Any) -> Any:
    """Return the value of a method for JSON: numbers, results by ``to_json``, the rest as text."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, tuple):
        return [_as_json(entry) for entry in value]
    if hasattr(value, "to_json"):
        return value.to_json()
    return str(value)
