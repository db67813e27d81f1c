"""Commands that compute closures, loci and degrees, and that decide statements and membership."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.cli import DONE, MAX_FUNCTION_FILE_BYTES, common
from m2bridge.cli.cases import (
    ALL,
    WEIGHTS,
    Command,
    FamilyCommand,
    all_sizes_family,
    complete_statements,
    family_options,
    map_options,
    named_case,
    read_file,
)
from m2bridge.cli.common import exit_code, progress, show
from m2bridge.convert import MAX_NUMBER_DIGITS
from m2bridge.convert.bounded_io import read_json, read_rational, read_text
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.families.registry import DEFAULT_FAMILY, family
from m2bridge.loading import importing
from m2bridge.reading import exists, folders
from m2bridge.results.sheet import printable
from m2bridge.statements.statement import statements_named

if TYPE_CHECKING:
    from m2bridge.ideals.ideal import Ideal
    from m2bridge.results.base import Result
    from m2bridge.statements.statement import Statement


# Copies of choices that are defined in modules which import SymPy, and that is slow; a test
# compares them.
DIMENSION_METHODS = ("auto", "elimination", "jacobian", "formula", "all")
LOCUS_METHODS = ("auto", "fibres", "orbits", "jacobian", "all")
POLAR_METHODS = ("auto", "theorem", "slices", "conormal")


def method_option(methods: tuple[str, ...]) -> Callable[[Command], Command]:
    """Return the option ``--method`` with these choices."""
    return click.option(
        "--method",
        type=click.Choice(methods),
        default="auto",
        show_default=True,
        help="The method of computation.",
    )


model_options = common.stack_options(common.case_options, family_options, map_options)
"""The options that name a case of any family, or a map."""


@click.command(
    "dimension", cls=FamilyCommand, epilog="Example: m2bridge dimension --d 3 --d-out 2 --a 2"
)
@model_options
@method_option(DIMENSION_METHODS)
@common.run_options
def dimension_command(method: Any, **options: Any) -> int:
    """Compute the dimension of the Zariski closure, by up to three methods."""
    request, early = common.case_request(options), method in ("elimination", "all")
    return request.show("dimension", _dimension, early=early, method=method)


def _dimension() -> Callable[..., Result]:
    from m2bridge.maps.dimension import dimension

    return dimension


@click.command("closure", cls=FamilyCommand, epilog="Example: m2bridge closure --d 2 --d-out 2")
@model_options
@common.strategy_option
@common.max_degree_option
@click.option(
    "--weights",
    type=click.Choice(WEIGHTS),
    default="attention",
    show_default=True,
    help="The parameters of the model: (A, V) or (Q, K, V).",
)
@click.option(
    "--all-sizes", is_flag=True, help="Compute generators for all sizes, as representations."
)
@click.option(
    "--no-generators",
    is_flag=True,
    help="Leave out the generators; writing thousands takes longer than finding them.",
)
@common.all_option
@common.run_options
def closure_command(
    strategy: Any,
    max_degree: int | None,
    all_sizes: bool = False,
    no_generators: bool = False,
    weights: Any = None,
    **options: Any,
) -> int:
    """Compute ideal, dimension, degree and Hilbert series of the Zariski closure.

    With --all-sizes it computes, for all sizes with small cores at once, generators as
    representations, and formulas; with --all also a polynomial for each representation.
    """
    if all_sizes:
        return _closures_of_all_sizes(
            options
            | {
                "strategy": strategy,
                "max_degree": max_degree,
                "weights": weights,
                "no_generators": no_generators or None,
            }
        )
    is_default = "weights" not in common.explicit_options(click.get_current_context())
    if options["named_file"] is not None and is_default:
        weights = None  # a map has its own parameters
    more = {
        "early": strategy != "multigraded" and max_degree is None,
        "max_degree": max_degree,
        "weights": weights,
    }
    request = common.case_request(options)
    function = _closure_without_generators if no_generators else _closure
    return request.show("Zariski closure", function, strategy=strategy, **more)


def _closure() -> Callable[..., Result]:
    from m2bridge.maps.closure import closure

    return closure


def _closure_without_generators() -> Callable[..., Result]:
    from m2bridge.maps.closure import closure

    def without_generators(*subject: Any, **more: Any) -> Result:
        return replace(closure(*subject, **more), lists_generators=False)

    return without_generators


def _closures_of_all_sizes(options: dict[str, Any]) -> int:
    name, of_one_size = (
        options.get("family") or DEFAULT_FAMILY,
        ("strategy", "max_degree", "weights", "no_generators", "outputs"),
    )
    all_sizes_family(name, options, ("file", "named_file", "field", "coordinates", *of_one_size))
    request, what = common.Run.of(options), "Zariski closures for all sizes"
    closures = family(name).closures_of_all_sizes
    return request.compute(what, lambda: closures, early=False, vectors=request.everything)[1]


OPTIONS_FOR_IDEALS = frozenset(
    {"named_ideal", "projective", "field", "timeout", "memory", "program", "form", "everything"}
)
"""The options that commands about varieties accept together with ``--ideal``."""


def ideal_option(command: Command) -> Command:
    """Give a command the option ``--ideal FILE|TEXT``."""
    help_ideal = (
        "Compute for the variety of an ideal: polynomials such as 'x^2 - y^2*z, x*y', a file of"
        " polynomials, or a TOML file: "
        '[ideal], variables = ["x", "y"], generators = ["x^2 - y^3"].'
    )
    return click.option("--ideal", "named_ideal", metavar="FILE|TEXT", help=help_ideal)(command)


@click.command(
    "singular-locus", cls=FamilyCommand, epilog="Example: m2bridge singular-locus --d 2 --d-out 1"
)
@model_options
@method_option(LOCUS_METHODS)
@click.option("--ideals", is_flag=True, help="Also compute the ideals of the components.")
@ideal_option
@click.option(
    "--projective",
    is_flag=True,
    help=(
        "Compute for the projective variety of a cone or of a homogeneous ideal, with"
        " projective dimensions."
    ),
)
@common.all_option
@common.run_options
def singular_locus_command(
    method: Any, ideals: bool, named_ideal: str | None, projective: bool, **options: Any
) -> int:
    """Compute the singular locus of the Zariski closure, by orbits and components; with --ideal, of
    any variety.
    """
    if named_ideal is not None:
        return show_for_ideal(
            "singular locus", named_ideal, options, partial(_locus_of_ideal, projective)
        )
    if projective and method not in ("auto", "jacobian"):
        raise click.UsageError(
            "--method has no effect with --projective, which uses the Jacobian criterion"
        )
    request = common.case_request(options)
    if projective:
        return request.show("projective singular locus", _projective_singular_locus)
    return request.show("singular locus", _singular_locus, method=method, ideals=ideals)


def _projective_singular_locus() -> Callable[..., Result]:
    from m2bridge.maps.singular_locus import projective_singular_locus

    return projective_singular_locus


def _singular_locus() -> Callable[..., Result]:
    from m2bridge.maps.singular_locus import singular_locus

    return singular_locus


def _locus_of_ideal(projective: bool) -> Callable[..., Result]:
    from m2bridge.ideals.varieties import singular_locus

    return (
        (lambda variety, **named: variety.projective().singular_locus(**named))
        if projective
        else singular_locus
    )


def show_for_ideal(
    what: str,
    named: str,
    options: dict[str, Any],
    function: Callable[[], Callable[..., Result]],
    own: frozenset[str] = frozenset(),
) -> int:
    """Print the result of a function for the variety of an ideal; return the exit code.

    ``own`` has the names of further options that the command accepts together with ``--ideal``.
    """
    request, field = _ideal_request(options, own)
    with common.time_limit(timeout=request.timeout) as clock, request.engine():
        with importing():
            compute = function()
        ideal, title = read_ideal(named, field)
        with progress(f"{what} of {title or printable(named):.60}"):
            result = compute(ideal, title=title)
    return show(result, request.form, clock, request.everything)


def _ideal_request(
    options: dict[str, Any], own: frozenset[str]
) -> tuple[common.Run, CoefficientField | None]:
    """Return the limits and format of a command with ``--ideal``, and the field if it is given.

    Raises
    ------
    click.UsageError
        If options are given that belong to cases and maps.
    """
    context = click.get_current_context()
    explicit = common.explicit_options(context)
    foreign = sorted(explicit - OPTIONS_FOR_IDEALS - own)
    if foreign:
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
    """Return the ideal in the named file, or else of the polynomials in the text; and its title.

    ``option`` is the beginning of the message about a mistake.

    Raises
    ------
    click.UsageError
        If there is no such file and the text is not a list of polynomials.
    """
    from m2bridge.ideals.construct import ideal, read_ideal_file

    if exists(named):
        # to assistants the polynomials in any plain text would be shown, such as TOKEN = secret
        is_plain_read = folders() is None
        return read_file(Path(named), partial(read_ideal_file, field=field, plain=is_plain_read))
    try:
        return ideal(named, field=field), ""
    except ConversionError as reason:
        raise click.UsageError(
            f"{option}'{printable(named):.60}' is neither a file nor a list of"
            f" polynomials: {reason}"
        ) from None


@click.command(
    "polar-degrees", cls=FamilyCommand, epilog="Example: m2bridge polar-degrees --d 2 --d-out 2"
)
@model_options
@method_option(POLAR_METHODS)
@ideal_option
@common.run_options
def polar_degrees_command(method: Any, named_ideal: str | None, **options: Any) -> int:
    """Compute polar degrees and their sum, the generic ED degree; with --ideal, of any variety.

    Where no theorem applies they are counted modulo two or more random primes, which is no proof.
    The polar degrees of an affine variety are those of its closure in projective space.
    """
    if named_ideal is not None:
        return show_for_ideal(
            "polar degrees", named_ideal, options, partial(_polar_of_ideal, named_ideal)
        )
    request = common.case_request(options)
    if request.field != QQ:
        raise InvalidCaseError("field", "must be QQ for polar degrees")
    model, early = (
        request.model.in_coordinates(request.coordinates, None),
        method in ("slices", "conormal"),
    )
    what = f"polar degrees of the {model.title}"
    return request.compute(what, _polar_degrees, model, early=early, method=method)[1]


def _polar_degrees() -> Callable[..., Result]:
    from m2bridge.maps.degrees.polar_degrees import polar_degrees

    return polar_degrees


def _polar_of_ideal(named: str) -> Callable[..., Result]:
    from m2bridge.maps.degrees.polar_degrees import polar_degrees

    return lambda ideal, title, **more: polar_degrees(
        ideal, title=title or f"variety of {printable(named):.60}", **more
    )


@click.command(
    "critical-points", epilog="Example: m2bridge critical-points --d 2 --d-out 1 --tokens gaussian"
)
@common.layer_options
@click.option(
    "--data",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="Arrays X (sequences, d, t) and Y (sequences, d', t), or X and the weights of a teacher.",
)
@click.option(
    "--tokens",
    type=click.Choice(["gaussian"]),
    help="Independent standard normal tokens, by exact moments; the default.",
)
@click.option(
    "--quadratic",
    type=click.Choice(["random"]),
    help="A random positive definite quadratic form in place of data.",
)
@click.option(
    "--teacher",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="Weights whose function is the target: arrays A and V, or K, Q and V.",
)
@click.option(
    "--seed",
    type=common.Integer(),
    default=0,
    show_default=True,
    help="Seed of the random integers that form the target, if none is given.",
)
@click.option(
    "--count", "count_only", is_flag=True, help="Print only the number of complex critical points."
)
@common.run_options
def critical_points_command(d: Any, d_out: Any, a: Any, t: Any, **options: Any) -> int:
    """Where training stops: all critical points of the squared loss of a layer on given data.

    They are counted over the complex numbers modulo two primes, and the real ones isolated, by the
    program msolve where it is installed.
    """
    request = common.Run.of(options)
    model = named_case({"d": d, "d_out": d_out, "a": a, "t": t})
    try:
        return request.compute(
            f"critical points of the {model.title}", _critical_points, model, **options
        )[1]
    except ConversionError as reason:
        raise click.UsageError(str(reason)) from None


def _critical_points() -> Callable[..., Result]:
    from m2bridge.training.critical_points import critical_points

    return critical_points


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
        """Convert to the name in Python."""
        name = str(value).strip().replace("-", "_")
        if name in _COMMANDS_OF_IDEALS:
            command = _COMMANDS_OF_IDEALS[name]
            self.fail(f"'{name}' is a command of its own: m2bridge {command} FILE|TEXT", param, ctx)
        return super().convert(name, param, ctx)


class PolynomialsFirst(click.Command):
    """A command whose first argument is a text that may start with a minus sign."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put a blank before such a text, so that it is no option; then parse."""
        options = {option for param in self.get_params(ctx) for option in param.opts}
        for place, arg in enumerate(args):
            is_text = re.match(r"-(?!-|[0-9.]*$)", arg) is not None
            # -3 may be the value of an option, and -json is --json with one dash too few
            if is_text and arg not in options and f"-{arg.partition('=')[0]}" not in options:
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
    type=CoefficientField.parse,
    metavar="FIELD",
    help="The field of coefficients, QQ or GF(p).",
)
@common.timeout_option
@common.memory_option
@common.engine_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON object: ideal, method, value, text."
)
def ideal_command(
    ideal: str, method: str, other: str | None, field: Any, as_json: bool, **options: Any
) -> int:
    """Compute the dimension, radical, primary decomposition and so on of an ideal.

    The ideal is given by polynomials or equations such as 'x^2 - y^2*z, x*y = 1', or by a file:
    TOML, or plain text with a polynomial on each line.
    """
    if (other is not None) != (method in METHODS_OF_TWO_IDEALS):
        raise click.UsageError(
            f"--other belongs to {', '.join(METHODS_OF_TWO_IDEALS)}, which need it"
        )
    request = common.Run.of(options)
    ideal = ideal.strip()
    with common.time_limit(timeout=request.timeout), request.engine():
        with importing():
            from m2bridge.ideals import construct  # noqa: F401  (while Macaulay2 starts)
        given, title = read_ideal(ideal, field, option="")
        arguments: list[Any] = []
        if other is not None:
            arguments = _second_operand(other, method, given)
        with progress(f"{method} of {title or printable(ideal):.60}"):
            value = getattr(given, method)(*arguments)
    if as_json:
        data = {"ideal": given.to_json(), "method": method, "value": _as_json(value)}
        common.echo_json(json.dumps(data | {"text": str(value)}, ensure_ascii=False))
    else:
        click.echo(str(value))
    return DONE


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


@click.command("implicitize", epilog="Example: m2bridge implicitize examples/twisted_cubic.toml")
@common.file_argument()
@common.field_option
@common.strategy_option
@common.max_degree_option
@common.all_option
@common.run_options
def implicitize_command(file: Path, **options: Any) -> int:
    """Compute the closure of the image of the polynomial map in FILE: ideal, dimension, degree,
    fibres, base locus.

    FILE is TOML: a table [map] with parameters = ["s", "t"] (and relations = ["…"]), and a table
    [coordinates] with lines such as x = "3/7*s^2*t - (s + t)^3". The domain is the set of points
    where all relations vanish.
    """
    request = common.Run.of(options)
    with common.time_limit(timeout=request.timeout) as clock:
        with importing():
            from m2bridge.convert.toml_files import read_map
            from m2bridge.maps.closure import image

        polynomial_map, title = read_file(file, read_map)
        with request.engine(early=False), progress(f"image of {title or printable(file.name)}"):
            try:
                result = image(polynomial_map, title=title, **options)
            except InvalidCaseError as reason:
                if reason.option != "relations":  # this is not an option but a part of the file
                    raise
                raise click.UsageError(f"{file}: [map] relations: {reason.message}") from None
    return show(result, request.form, clock, request.everything)


@click.command(
    "cross-check",
    cls=FamilyCommand,
    epilog="Example: m2bridge cross-check 3.4 --d 3 --d-out 2 --a 2",
)
@click.argument("statement", default=ALL, shell_complete=complete_statements)
@click.option(
    "--all-sizes",
    is_flag=True,
    help="Decide for all sizes at once, without --d, --a, --widths etc.",
)
@common.case_options
@family_options
@common.run_options
@common.exit_zero_option
def cross_check_command(statement: str, all_sizes: bool, exit_zero: bool, **options: Any) -> int:
    """Decide statements of the paper for one case: all, those with one number, or one part such as
    '3.4 (iii)'.

    With --all-sizes it decides for every case at once where they hold and where they fail.

    Some more statements are not part of 'all'. 'hilbert' compares a predicted Hilbert function
    with the computed one. 'generators' compares the representations that generate the ideal for
    all sizes with the ideal of the case, or, with --all-sizes, of every small case; 'generated'
    compares their degrees only. 'exposed' says at which weights (K, Q, V) training by a squared
    loss stops for an open set of targets, and 'exposed-heads' at which (K, Q, O, V).
    'learning-degree' counts the critical points for normally distributed tokens.

    Exit code 0 when nothing is refuted or undecided, 1 when something is refuted (0 with
    --exit-zero), 3 when something is undecided.
    """
    name = options.get("family") or DEFAULT_FAMILY
    if all_sizes:
        return _cross_check_all_sizes(statement, name, options, exit_zero)
    if not family(name).options:  # the only case is all sizes of another family
        raise click.UsageError("use --all-sizes to cross-check statements for all sizes")
    chosen = []
    if not options.get("file"):
        chosen = _chosen(statement, name)
    request = common.case_request(options)
    if request.field != QQ:
        raise InvalidCaseError(
            "field", "must be QQ for cross-checks: statements are about characteristic 0"
        )
    model = request.model
    early = model.needs_engine(model.observables(chosen))
    result, _ = request.compute(
        f"cross-check of the {model.title}", _cross_check, model, statements=chosen, early=early
    )
    return exit_code(result, exit_zero)


def _cross_check() -> Callable[..., Result]:
    from m2bridge.crosscheck.cross_check import cross_check

    return cross_check


def _chosen(statement: str, name: str) -> list[Statement]:
    """Return the statements about a family with this key or name, and those that follow from them.

    The name of a statement is its key and part, as results and reports write it.

    Raises
    ------
    click.BadParameter
        If no statement has this key or name.
    InvalidCaseError
        If there are no statements about the family at all.
    """
    statements = family(name).statements()
    if not statements:
        raise InvalidCaseError("family", f"there are no statements about {family(name).title}")
    try:
        return list(statements_named(statements, statement))
    except InvalidCaseError as reason:
        raise click.BadParameter(reason.message, param_hint="'STATEMENT'") from None


def _cross_check_all_sizes(
    statement: str, name: str, options: dict[str, Any], exit_zero: bool
) -> int:
    every = all_sizes_family(name, options, ("file", "field", "coordinates"))
    statements = _chosen(statement, name)
    needs_engine = any(question.needs_engine(every.build()) for question in every.questions())
    check = family(name).cross_check_all_sizes
    result, unfinished = common.Run.of(options).compute(
        "cross-check for all sizes", lambda: check, statements, early=needs_engine
    )
    return exit_code(result, exit_zero) or unfinished


@click.command(
    "membership",
    epilog=(
        "Example: m2bridge membership --d 2 --d-out 1"
        """ --A '[[1, 2], [3, 4]]' --V '[[1, "1/2"]]'"""
    ),
)
@click.option(
    "--function",
    "function",
    help='Reduced coordinates of the function, as JSON or a JSON file: {"c_1_1_1_1": "3/2", …}.',
)
@click.option("--A", "A", help="Weights A as a JSON list of rows; use with --V.")
@click.option(
    "--K", "K", help="Weights K; with --Q and --V they replace --A by the exact product A = KᵀQ."
)
@click.option("--Q", "Q", help="Weights Q.")
@click.option("--V", "V", help="Weights V as a JSON list of rows.")
@common.case_options
@common.run_options
def membership_command(
    function: str | None, A: str | None, K: str | None, Q: str | None, V: str | None, **options: Any
) -> int:
    """Decide whether a function is in the neuromanifold, in its Zariski closure, or outside; show
    its orbit and weights.

    With weights, --d, --d-out and --a may be left out: the sizes of the matrices determine them.
    """
    given = {"K": K, "Q": Q, "A": A, "V": V}
    texts = {letter: text for letter, text in given.items() if text is not None}
    usual = {"AV", "KQV"}
    if function is not None:
        usual = {""}
    if "".join(texts) not in usual:
        raise click.UsageError("give either --function, or --K, --Q and --V, or --A and --V")
    weights = {letter: _exact_values(letter, text) for letter, text in texts.items()}
    for name, size in _sizes(weights).items():
        # a size that is given and does not fit is refused together with the matrices
        if options.get(name) is None:
            options[name] = size
    request = common.case_request(options)
    if request.field != QQ:
        raise InvalidCaseError("field", "must be QQ for membership, which asks for real weights")
    with common.time_limit(timeout=request.timeout) as clock:
        values = None
        if function is not None:
            values = _exact_values("function", _function_text(function))
        with request.engine(), progress(f"membership for {request.model}"):
            with importing():
                from m2bridge.trained_weights.heads.membership import membership
            try:
                result = membership(request.model, values, **weights)
            except InvalidCaseError as reason:
                if reason.option != "weights":
                    raise
                # --weights is not an option, so that the hint is without quotes
                raise click.BadParameter(reason.message, param_hint="the weights") from None
    if any(re.search(r"\d[.eE]", text) for text in texts.values()):
        remarks = ("decimals are taken exactly as they are written", result.remark)
        result = replace(result, remark="; ".join(filter(None, remarks)))
    return show(result, request.form, clock)


def _sizes(weights: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes that matrices determine: V has d' rows and d columns, K has a rows."""
    V = weights.get("V")
    if not isinstance(V, list) or not V or not isinstance(V[0], list) or not V[0]:
        return {}
    sizes = {"d": len(V[0]), "d_out": len(V)}
    K = weights.get("K")
    if isinstance(K, list) and K:
        sizes["a"] = len(K)
    return sizes


def _function_text(text: str) -> str:
    """Return the given JSON object, or the content of the named file."""
    if text.lstrip().startswith("{"):
        return text
    if not exists(text):
        raise InvalidCaseError("function", f"'{text:.120}' is neither a JSON object nor a file")
    try:
        return read_text(Path(text), MAX_FUNCTION_FILE_BYTES)
    except ConversionError as reason:
        raise InvalidCaseError("function", f"'{text}' cannot be read: {reason}") from None


_ROWS = """'[[1, 2], [3, "1/2"]]'"""
_EXAMPLES = {
    "function": """'{"c_1_1_1_1": 1, "c_1_1_2_2": "1/2"}'""",
    **dict.fromkeys("AKQV", _ROWS),
}


def _exact_values(option: str, text: str) -> Any:
    """Read a JSON text with exact numbers."""
    try:
        return _rationals(read_json(text, parse_float=read_rational, digits=MAX_NUMBER_DIGITS))
    except ConversionError as reason:
        raise InvalidCaseError(
            option, f"{reason}; write, in quotes for the shell, {_EXAMPLES[option]}"
        ) from None


def _rationals(value: Any, depth: int = 2) -> Any:
    """Return an object or nested lists with exact values of numbers and texts such as ``3/7``."""
    if depth and isinstance(value, dict):
        return {name: _rationals(entry, 0) for name, entry in value.items()}
    if depth and isinstance(value, list):
        return [_rationals(entry, depth - 1) for entry in value]
    if isinstance(value, bool) or not isinstance(value, int | str | Fraction):
        raise ConversionError(
            f'{json.dumps(value, default=str):.60} is not a rational number: write 3, 1.5 or "3/7"'
        )
    if isinstance(value, str):
        return read_rational(value)
    return Fraction(value)
