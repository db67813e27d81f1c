"""The command ``ideal``, and the option ``--ideal`` of commands about the variety of an ideal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
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
from m2bridge.results.sheet import plural, printable

if TYPE_CHECKING:
    from m2bridge.ideals.ideal import Ideal

OPTIONS_FOR_IDEALS = frozenset(
    {
        "named_ideal",
        "variables",
        "projective",
        "field",
        "timeout",
        "memory",
        "program",
        "form",
        "everything",
    }
)
"""The options that commands about varieties accept together with ``--ideal``."""
MAX_SHOWN_NAMES = 400
"""Characters of the names of variables that the line about the ring has."""


variables_option = click.option(
    "--variables",
    metavar="NAMES",
    help=(
        "The variables of the ring in their order, 'x, y, z', where a text or a plain file has only"
        " polynomials: every name in it is then one of them."
    ),
)
ideal_option = common.stack_options(
    click.option(
        "--ideal",
        "named_ideal",
        metavar="FILE|TEXT",
        help=(
            "Compute for the variety of an ideal: polynomials such as 'x^2 - y^2*z, x*y', a file of"
            " polynomials, or a TOML file: "
            '[ideal], variables = ["x", "y"], generators = ["x^2 - y^3"].'
        ),
    ),
    variables_option,
)


def refuse_variables(options: dict[str, Any]) -> None:
    """Take ``variables`` out of the options of a command that is called without ``--ideal``.

    Raises
    ------
    click.UsageError
        If ``--variables`` is given.
    """
    if options.pop("variables") is not None:
        raise click.UsageError("--variables has no effect without --ideal")


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
    variables = options.pop("variables")
    request, field = _ideal_request(options, own_options)
    with common.time_limit(timeout=request.timeout) as clock, request.engine():
        with importing():  # while Macaulay2 starts
            compute = function()
        ideal, title = read_ideal(ideal_text, field, variables)
        with progress(f"{result_name} of {title or printable(ideal_text):.60}"):
            result = compute(ideal, title=title)
    if request.form == "text":
        show_ring(ideal)
    return show(result, request.form, clock, request.everything)


def show_ring(ideal: Ideal) -> None:
    """Say the coefficients and the variables of an ideal, as they were read, beside the result."""
    ring = ideal.ring
    names = ", ".join(ring.variables)
    shown = names if len(names) <= MAX_SHOWN_NAMES else f"{names[:MAX_SHOWN_NAMES]}…"
    count = plural(len(ring.variables), "variable")
    click.echo(f"The ring has {count}, {shown}, over {ring.field}.", err=True)


def titled(function: Callable[..., Any], ideal_text: str) -> Callable[..., Any]:
    """Return a function of an ideal, called with a title made of its polynomials if it has none."""
    of_text = f"variety of {printable(ideal_text):.60}"
    return lambda ideal, title: function(ideal, title=title or of_text)


def _ideal_request(
    options: dict[str, Any], own_options: frozenset[str]
) -> tuple[common.Run, CoefficientField | None]:
    """Return the limits and format of a command with ``--ideal``, and the field after ``--field``.

    The field is ``None`` if it is not given, since the ideal may say it then. ``options`` are the
    values of the command's options by name, and ``own_options`` the names of those that it accepts
    together with ``--ideal`` in addition to :data:`OPTIONS_FOR_IDEALS`.

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
    named: str,
    field: CoefficientField | None,
    variables: str | None = None,
    option: str = "--ideal: ",
) -> tuple[Ideal, str]:
    """Return the ideal in a file, or generated by the polynomials in a text, and its title.

    The title is empty for polynomials in a text, and for a file without one.

    Parameters
    ----------
    named : str
        The name of a file, or, if there is no such file, polynomials separated by commas.
    field : CoefficientField or None
        The field of coefficients; ``None`` if a file, or the polynomials themselves, say it.
    variables : str or None
        The variables of the ring; ``None`` if a file says them, or they are those that occur.
    option : str
        The beginning of the message about a mistake.

    Raises
    ------
    click.UsageError
        If there is no such file, and the text is no list of polynomials or could name a file.
    """
    from m2bridge.ideals.construct import ideal, looks_like_path, read_ideal_file

    if exists(named):
        # A process that reads for assistants, below some folders only, reads TOML and JSON alone.
        # If it took the lines of any text for polynomials, an assistant could see secrets: TOKEN =
        # secret.
        may_be_plain = folders() is None  # None: files of all folders may be read
        reader = partial(read_ideal_file, field=field, plain=may_be_plain, variables=variables)
        return read_file(Path(named), reader)
    if variables is None and looks_like_path(named):
        raise click.UsageError(
            f"{option}there is no file '{printable(named):.60}'; if it is a polynomial, write"
            " blanks around its signs, or name the variables by --variables"
        )
    try:
        return ideal(named, field=field, variables=variables), ""
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
    """The name of a method of ideals, where ``groebner-basis`` means ``groebner_basis``.

    The name of a computation that is a command of its own is refused with a hint at the command.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name of the method in Python; click calls this with the text ``value``."""
        name = str(value).strip().replace("-", "_")
        if name in _COMMANDS_OF_IDEALS:
            command = _COMMANDS_OF_IDEALS[name]
            self.fail(f"'{name}' is a command of its own: m2bridge {command} FILE|TEXT", param, ctx)
        return super().convert(name, param, ctx)


class PolynomialsFirst(click.Command):
    """A command whose first argument is a text of polynomials that may start with a minus sign."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put a blank before each text that begins with a minus sign, then parse.

        So click does not take the text for an option.

        Of the arguments that begin with a minus sign four kinds are no text of polynomials, and
        stay:

        * what begins with two, as ``--json``;
        * the value of an option, as ``-y`` after ``--other``, which click reads as it is;
        * a number, as ``-3``, and a minus sign alone, which have no variables: click refuses the
          number as an unknown option, and takes the sign for an argument;
        * an option, as ``-h``, also if one of its two dashes is missing: ``-json``.

        For example ``-x^2 + y`` is a text.
        """
        options: set[str] = set()
        options_with_value: set[str] = set()
        for param in self.get_params(ctx):
            options.update(param.opts)
            if isinstance(param, click.Option) and not param.is_flag:
                options_with_value.update(param.opts)
        marked: list[str] = []
        previous = ""
        for arg in args:
            is_value_of_option = previous in options_with_value
            is_text = not is_value_of_option and _is_negative_text(arg, options)
            marked.append(f" {arg}" if is_text else arg)
            previous = arg
        return super().parse_args(ctx, marked)


def _is_negative_text(arg: str, options: Collection[str]) -> bool:
    """Whether an argument is a text that begins with a minus sign, and none of the ``options``.

    An option with one dash too few, as ``-json``, is no text, nor is a number or a sign alone.
    """
    # a minus sign, which no second one follows, and not only a number or nothing
    begins_as_text = re.match(r"-(?!-|[0-9.]*$)", arg) is not None
    name_with_second_dash = f"-{arg.partition('=')[0]}"
    is_option = arg in options or name_with_second_dash in options
    return begins_as_text and not is_option


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
        " 'QQ[i]/(i^2+1)', or with parameters as constants, 'QQ(a,b)'. Or the ring ZZ, for"
        " contains, equals, groebner_basis, intersect, quotient, saturate, eliminate and jacobian."
    ),
)
@variables_option
@common.timeout_option
@common.memory_option
@common.engine_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON object: ideal, method, value, text."
)
def ideal_command(
    ideal: str,
    method: str,
    other: str | None,
    field: str | None,
    variables: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Compute the dimension, radical, primary decomposition and so on of an ideal.

    The ideal is given by polynomials or equations such as 'x^2 - y^2*z, x*y = 1', or by a file:
    TOML, or plain text with a polynomial on each line.
    """
    # a method of two ideals needs the second one, and any other method would ignore it
    needs_other = method in METHODS_OF_TWO_IDEALS
    has_other = other is not None
    if needs_other != has_other:
        names = ", ".join(METHODS_OF_TWO_IDEALS)
        raise click.UsageError(f"--other belongs to {names}, which need it")
    request = common.Run.of(options)
    ideal = ideal.strip()
    with common.time_limit(timeout=request.timeout), request.engine():
        with importing():
            from m2bridge.convert.fields import parse_coefficients
            from m2bridge.ideals import construct  # noqa: F401  (while Macaulay2 starts)
        coefficients = None if field is None else parse_coefficients(field)
        given, title = read_ideal(ideal, coefficients, variables, option="")
        arguments = _arguments(other, method, given)
        with progress(f"{method} of {title or printable(ideal):.60}"):
            value = getattr(given, method)(*arguments)
    remark = _about_decomposition(method, value, str(given.ring.field))
    if as_json:
        data = {"ideal": given.to_json(), "method": method, "value": _as_json(value)}
        data |= {"text": str(value), "remark": remark}
        common.echo_json(json.dumps(data, ensure_ascii=False))
    else:
        click.echo(str(value))
        show_ring(given)
        if remark:
            click.echo(remark, err=True)
    return DONE


def _about_decomposition(method: str, value: Any, field: str) -> str:
    """Return a remark that a decomposition, or primality, depends on the field; else ''.

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


def _arguments(other: str | None, method: str, given: Ideal) -> list[Any]:
    """Return the arguments of a method of the ideal ``given``: variables, or another ideal.

    ``other`` is the text after ``--other``: for ``eliminate`` variables of the ring, ``x, y``, each
    of which is an entry of the list; else polynomials, and the list has the ideal of them. Methods
    of one ideal, for which ``other`` is ``None``, have no arguments.

    Raises
    ------
    InvalidCaseError
        If the text does not describe variables or an ideal of this ring.
    """
    from m2bridge.ideals.construct import ideal

    if other is None:
        return []
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
    """Return the value of a method of ideals as JSON has it.

    Booleans and integers stay, tuples become lists, an object with a method ``to_json`` gives that,
    and anything else becomes text.
    """
    if isinstance(value, bool | int):
        return value
    if isinstance(value, tuple):
        return [_as_json(entry) for entry in value]
    if hasattr(value, "to_json"):
        return value.to_json()
    return str(value)
