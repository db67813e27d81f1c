"""The command that counts critical points of a quadratic distance on a variety."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

import m2bridge
from m2bridge.algebra.field import QQ
from m2bridge.cli import common
from m2bridge.cli.cases import FamilyCommand
from m2bridge.cli.compute import model_options
from m2bridge.cli.ideals import ideal_option, refuse_variables, show_for_ideal, titled
from m2bridge.convert.bounded_io import read_json, read_rational
from m2bridge.errors import ConversionError, InvalidCaseError

# A copy of a choice that is defined in a module which imports SymPy; a test compares them.
ED_METHODS = ("auto", "ideal", "parametrization")
OWN_OPTIONS = frozenset({"method", "quadratic", "point", "generic"})
"""The options of this command that are accepted together with ``--ideal``."""


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
    data point. It is counted modulo two or more random primes; this is no proof.
    """
    # The arguments of the computation, which itself reads the text of the point; what is left in
    # ``options`` names the case and the limits.
    own = {name: options.pop(name) for name in OWN_OPTIONS}
    if own["quadratic"] is not None:
        own["quadratic"] = _quadratic_form(own["quadratic"])
    try:
        if named_ideal is not None:
            return show_for_ideal(
                "ED degree",
                named_ideal,
                options,
                lambda: titled(partial(m2bridge.ed_degree, **own), named_ideal),
                own_options=OWN_OPTIONS,  # these may be given together with --ideal
            )
        refuse_variables(options)
        request = common.case_request(options)
        if request.field != QQ:
            raise InvalidCaseError("field", "must be QQ for ED degrees")
        # weights=None: with the usual parameters of the model
        model = request.model.in_coordinates(request.coordinates, weights=None)
        what = f"ED degree of the {model.title}"
        _, code = request.compute(what, lambda: m2bridge.ed_degree, model, **own)
        return code
    except ConversionError as reason:  # the form, the point or the ideal cannot be read
        raise click.UsageError(str(reason)) from None


def _quadratic_form(text: str) -> str | list[Any]:
    """Return the value of ``--quadratic``: the rows of a matrix, or the text of a polynomial.

    A text in brackets is a matrix in JSON, whose numbers are read exactly; any other text stays.

    Raises
    ------
    click.UsageError
        If brackets are not valid JSON.
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
