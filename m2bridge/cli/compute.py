"""Commands that compute dimensions, closures, singular loci, polar degrees, critical points.

A command passes a function without arguments to its request, which imports the computation and
returns it: so modules are imported within the time limit, and while Macaulay2 starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import m2bridge
from m2bridge.algebra.field import QQ
from m2bridge.cli import common
from m2bridge.cli.cases import (
    WEIGHTS,
    FamilyCommand,
    family_options,
    family_with_all_sizes,
    map_options,
    named_case,
    read_file,
)
from m2bridge.cli.common import progress, show
from m2bridge.cli.ideals import ideal_option, refuse_variables, show_for_ideal
from m2bridge.convert.bounded_io import read_json, read_rational
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.families.registry import DEFAULT_FAMILY
from m2bridge.limits import importing
from m2bridge.results.sheet import printable

if TYPE_CHECKING:
    from m2bridge.results.base import Result


# Copies of choices that are defined in modules which import SymPy, and that is slow; a test
# compares them.
DIMENSION_METHODS = ("auto", "elimination", "jacobian", "formula", "all")
LOCUS_METHODS = ("auto", "fibres", "orbits", "double-points", "jacobian", "all")
POLAR_METHODS = ("auto", "theorem", "slices", "conormal")
ED_METHODS = ("auto", "ideal", "parametrization")


model_options = common.stack_options(common.case_options, family_options, map_options)
"""The options that name a case of any family, or a map."""


@click.command(
    "dimension", cls=FamilyCommand, epilog="Example: m2bridge dimension --d 3 --d-out 2 --a 2"
)
@model_options
@common.method_option(DIMENSION_METHODS)
@common.run_options
def dimension_command(method: Any, **options: Any) -> int:
    """Compute the dimension of the Zariski closure, by up to three methods."""
    request = common.case_request(options)
    needs_engine = method in ("elimination", "all")
    return request.show(
        "dimension", lambda: m2bridge.dimension, starts_engine_early=needs_engine, method=method
    )


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
        of_one_size = {
            "strategy": strategy,
            "max_degree": max_degree,
            "weights": weights,
            "no_generators": no_generators or None,  # None: the flag is not given
        }
        of_a_model = ("file", "named_file", "field", "coordinates")
        family = family_with_all_sizes(
            options.get("family") or DEFAULT_FAMILY,
            options | of_one_size,
            without_effect=(*of_a_model, *of_one_size, "outputs"),
        )
        run = common.Run.of(options)
        _, exit_code = run.compute(
            "Zariski closures for all sizes",
            # the family itself imports what it needs, so this only returns its method
            lambda: family.closures_of_all_sizes,
            # representations are found in Python, so Macaulay2 starts only where it is asked
            starts_engine_early=False,
            vectors=run.everything,  # with --all a polynomial for each representation
        )
        return exit_code
    is_default = "weights" not in common.explicit_options(click.get_current_context())
    if options["named_file"] is not None and is_default:
        # The map in FILE has its own parameters, and given weights are refused for it later. After
        # --map the command has no option --weights.
        weights = None
    request = common.case_request(options)
    # only elimination needs Macaulay2; up to a degree, or by multidegrees, Python finds the ideal
    eliminates = strategy != "multigraded" and max_degree is None

    def imported() -> Callable[..., Result]:
        closure = m2bridge.closure
        return lambda *case, **more: replace(
            closure(*case, **more), lists_generators=not no_generators
        )

    return request.show(
        "Zariski closure",
        imported,
        starts_engine_early=eliminates,
        strategy=strategy,
        max_degree=max_degree,
        weights=weights,
    )


@click.command(
    "singular-locus", cls=FamilyCommand, epilog="Example: m2bridge singular-locus --d 2 --d-out 1"
)
@model_options
@common.method_option(LOCUS_METHODS)
@click.option(
    "--ideals",
    is_flag=True,
    help="Also compute the ideals of the components, which --projective always does.",
)
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

        def of_ideal() -> Callable[..., Result]:
            from m2bridge.ideals.varieties import singular_locus

            if projective:
                return lambda ideal, title: ideal.projective().singular_locus(title=title)
            return singular_locus

        return show_for_ideal("singular locus", named_ideal, options, of_ideal)
    refuse_variables(options)
    if projective and method not in ("auto", "jacobian"):
        raise click.UsageError(
            "--method has no effect with --projective, which uses double points where they apply,"
            " and else the Jacobian criterion"
        )
    request = common.case_request(options)
    if projective:
        return request.show("projective singular locus", _projective_locus, method=method)
    return request.show(
        "singular locus", lambda: m2bridge.singular_locus, method=method, ideals=ideals
    )


def _projective_locus() -> Callable[..., Result]:
    from m2bridge.maps.singular_locus import projective_singular_locus

    return projective_singular_locus


@click.command(
    "polar-degrees", cls=FamilyCommand, epilog="Example: m2bridge polar-degrees --d 2 --d-out 2"
)
@model_options
@common.method_option(POLAR_METHODS)
@ideal_option
@common.run_options
def polar_degrees_command(method: Any, named_ideal: str | None, **options: Any) -> int:
    """Compute polar degrees and their sum, the generic ED degree; with --ideal, of any variety.

    Where no theorem applies they are counted modulo two or more random primes; this is not a proof.
    An affine variety has the polar degrees of its closure in projective space.
    """
    if named_ideal is not None:
        return show_for_ideal("polar degrees", named_ideal, options, lambda: m2bridge.polar_degrees)
    return _show_over_QQ(
        "polar degrees",
        options,
        lambda: m2bridge.polar_degrees,
        starts_engine_early=method in ("slices", "conormal"),
        method=method,
    )


def _show_over_QQ(
    name: str, options: dict[str, Any], function: common.ImportedFunction, **more: Any
) -> int:
    """Print what a function computes for the case in the options, over QQ; return the exit code."""
    refuse_variables(options)
    request = common.case_request(options)
    if request.field != QQ:
        raise InvalidCaseError("field", f"must be QQ for {name.removesuffix('s')}s")
    # weights=None: with the usual parameters of the model
    model = request.model.in_coordinates(request.coordinates, weights=None)
    _, code = request.compute(f"{name} of the {model.title}", function, model, **more)
    return code


ED_OPTIONS = frozenset({"method", "quadratic", "point", "generic"})
"""The options of ``ed-degree`` that are accepted together with ``--ideal``."""


@click.command(
    "ed-degree", cls=FamilyCommand, epilog="Example: m2bridge ed-degree --ideal 'y - x^2'"
)
@model_options
@common.method_option(ED_METHODS)
@ideal_option
@click.option(
    "--quadratic",
    metavar="FORM",
    help=(
        "The quadratic form in the coordinates, such as 'x^2 + 2*y^2', or a symmetric matrix:"
        " '[[1, 0], [0, 2]]'. Default: the sum of their squares."
    ),
)
@click.option(
    "--point",
    metavar="NUMBERS",
    help="A data point, such as '1, 2/3', whose real critical points are found, too.",
)
@click.option(
    "--generic/--no-generic",
    default=True,
    show_default=True,
    help="Also count for a general quadratic form, and of the closure in projective space.",
)
@common.run_options
def ed_degree_command(named_ideal: str | None, **options: Any) -> int:
    """Count the critical points of a quadratic distance on a variety: its ED degree.

    The variety is affine, in its coordinates, for example a cone. The number is that for a general
    data point. It is counted modulo two or more random primes; this is not a proof.
    """
    # The arguments of the computation, which itself reads the text of the point; the other
    # ``options`` name the case and the limits.
    own = {name: options.pop(name) for name in ED_OPTIONS}
    if own["quadratic"] is not None:
        own["quadratic"] = _quadratic_form(own["quadratic"])
    try:
        if named_ideal is not None:
            return show_for_ideal(
                "ED degree",
                named_ideal,
                options,
                lambda: partial(m2bridge.ed_degree, **own),
                own_options=ED_OPTIONS,  # these may be given together with --ideal
            )
        return _show_over_QQ("ED degree", options, lambda: m2bridge.ed_degree, **own)
    except ConversionError as reason:  # the form, the point or the ideal cannot be read
        raise click.UsageError(str(reason)) from None


def _quadratic_form(text: str) -> str | list[Any]:
    """Return the value of ``--quadratic``: a text in brackets is a matrix in JSON, read exactly;
    any other text is a polynomial.
    """
    if not text.lstrip().startswith("["):
        return text
    try:
        rows: list[Any] = read_json(text, parse_float=read_rational)
    except ConversionError as reason:
        raise click.UsageError(
            f'--quadratic: {reason}; fractions are in quotes, as [[1, 0], [0, "1/2"]]'
        ) from None
    return rows


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

    The loss is half the mean, over all tokens of all sequences, of the squared norm of the error,
    a sum over the outputs of a token. Critical points are counted over the complex numbers modulo
    two primes, and the real ones isolated, by the program msolve where it is installed.
    """
    request = common.Run.of(options)  # the other ``options`` are arguments of the computation
    model = named_case({"d": d, "d_out": d_out, "a": a, "t": t})
    title = f"critical points of the {model.title}"
    try:
        _, code = request.compute(title, lambda: m2bridge.critical_points, model, **options)
    except ConversionError as reason:  # a file of data or weights
        raise click.UsageError(str(reason)) from None
    return code


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
    where all relations vanish. Coefficients are numbers; docs/maps.md shows how a parameter becomes
    a constant of the field QQ(c).
    """
    request = common.Run.of(options)  # field, strategy and max_degree are left in ``options``
    with common.time_limit(timeout=request.timeout) as clock:
        with importing():
            from m2bridge.convert.toml_files import read_map
            from m2bridge.maps.closure import image

        polynomial_map, title = read_file(file, read_map)
        # the strategy decides whether Macaulay2 is needed
        with (
            request.engine(starts_early=False),
            progress(f"image of {title or printable(file.name)}"),
        ):
            try:
                result = image(polynomial_map, title=title, **options)
            except InvalidCaseError as reason:
                if reason.option != "relations":  # this is not an option but a part of the file
                    raise
                raise click.UsageError(f"{file}: [map] relations: {reason.message}") from None
    return show(result, request.form, clock, request.everything)
