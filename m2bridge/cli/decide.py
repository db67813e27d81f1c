"""Commands that decide: statements about a case, and membership of a function.

A statement has a key, such as ``3.4``, and may have parts, which have names such as ``3.4 (iii)``.
It is about an observable of the model, a quantity such as the dimension, which is computed and
compared with what the statement predicts. A function is given by the values of its reduced
coordinates, or by weights: the letters A, K, Q, V name matrices.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import m2bridge
from m2bridge.algebra.field import QQ
from m2bridge.cli import common
from m2bridge.cli.cases import (
    ALL,
    FamilyCommand,
    complete_statements,
    family_options,
    family_with_all_sizes,
)
from m2bridge.cli.common import exit_code, progress, show
from m2bridge.convert import MAX_NUMBER_DIGITS, MAX_TABLE_BYTES
from m2bridge.convert.bounded_io import read_json, read_rational, read_text
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.families.registry import DEFAULT_FAMILY, families, family
from m2bridge.limits import importing
from m2bridge.reading import exists
from m2bridge.statements.statement import statements_named

if TYPE_CHECKING:
    from m2bridge.statements.statement import Statement


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
        of_a_model = ("file", "field", "coordinates")
        named_family = family_with_all_sizes(name, options, without_effect=of_a_model)
        statements = _chosen(statement, name)
        result, code_if_decided = common.Run.of(options).compute(
            "cross-check for all sizes",
            lambda: named_family.cross_check_all_sizes,  # the family itself imports what it needs
            statements,
            starts_engine_early=named_family.all_sizes_use_engine,
        )
        # where every verdict is decided, a limit may still have cut the result short
        return exit_code(result, exit_zero) or code_if_decided
    if not family(name).options:  # such a family has one case only: all sizes of another family
        raise click.UsageError("use --all-sizes to cross-check statements for all sizes")
    selection = []  # for a map in a file, about which there are no statements
    if not options.get("file"):
        selection = _chosen(statement, name)
    request = common.case_request(options)
    if request.field != QQ:
        raise InvalidCaseError(
            "field", "must be QQ for cross-checks: statements are about characteristic 0"
        )
    model = request.model
    # statements are decided by observables, some of which only Macaulay2 computes
    needs_engine = model.needs_engine(model.observables(selection))
    result, _ = request.compute(
        f"cross-check of the {model.title}",
        lambda: m2bridge.cross_check,
        model,
        statements=selection,
        starts_engine_early=needs_engine,
    )
    return exit_code(result, exit_zero)


def _chosen(statement: str, name: str) -> list[Statement]:
    """Return the statements about a family with this key or name, and what follows from them."""
    statements = family(name).statements()
    if not statements:
        raise InvalidCaseError("family", f"there are no statements about {family(name).title}")
    try:
        return list(statements_named(statements, statement))
    except InvalidCaseError as reason:
        message = reason.message
    loaded, _ = families()  # without those that cannot be loaded
    for other_name, other in loaded.items():
        with suppress(InvalidCaseError):
            statements_named(other.statements(), statement)
            message = f"'{statement:.60}' is about {other.title}: give --family {other_name}"
            break
    raise click.BadParameter(message, param_hint="'STATEMENT'")


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
    matrices = {"K": K, "Q": Q, "A": A, "V": V}
    texts = {letter: text for letter, text in matrices.items() if text is not None}
    # the letters are in the order of ``matrices``, whatever the order of the options was
    is_one_function = "".join(texts) in ("AV", "KQV")
    if function is not None:
        is_one_function = not texts
    if not is_one_function:
        raise click.UsageError("give either --function, or --K, --Q and --V, or --A and --V")
    weights = {letter: _exact_values(letter, text) for letter, text in texts.items()}
    # The matrices determine the sizes. A size that is given stays, and is refused together with
    # the matrices if it does not fit.
    for name, size in _sizes(weights).items():
        if options.get(name) is None:
            options[name] = size
    sizes_are_known = options.get("d") is not None and options.get("d_out") is not None
    if weights and not sizes_are_known:
        raise click.BadParameter(
            f"V, which determines d and d', is not a matrix: write {_ROWS}",
            param_hint="the weights",
        )
    request = common.case_request(options)
    if request.field != QQ:
        raise InvalidCaseError("field", "must be QQ for membership, which asks for real weights")
    with common.time_limit(timeout=request.timeout) as clock:
        coordinates_of_function = None  # given by weights
        if function is not None:
            coordinates_of_function = _exact_values("function", _function_text(function))
        with request.engine(), progress(f"membership for {request.model}"):
            with importing():
                from m2bridge.trained_weights.heads.membership import membership
            try:
                result = membership(request.model, coordinates_of_function, **weights)
            except InvalidCaseError as reason:
                if reason.option != "weights":
                    raise
                # --weights is not an option, so that the hint is without quotes
                raise click.BadParameter(reason.message, param_hint="the weights") from None
    if has_decimals(texts.values()):
        remark = "decimals are taken exactly as they are written"
        if result.remark:
            remark = f"{remark}; {result.remark}"
        result = replace(result, remark=remark)
    return show(result, request.form, clock)


def has_decimals(texts: Iterable[str]) -> bool:
    """Whether one of the matrices, JSON texts, has a number with a point or an exponent."""
    return any(re.search(r"\.|[0-9][eE]", text) for text in texts)


def _sizes(weights: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes that matrices determine: V has d' rows and d columns, K has a rows. The
    values, read from JSON, may be no matrices; then nothing is determined.
    """
    V = weights.get("V")
    if not isinstance(V, list) or not V or not isinstance(V[0], list) or not V[0]:
        return {}
    sizes = {"d": len(V[0]), "d_out": len(V)}
    K = weights.get("K")
    if isinstance(K, list) and K:
        sizes["a"] = len(K)
    return sizes


def _function_text(text: str) -> str:
    """Return the given JSON object as it is, or the content of the file with this name."""
    if text.lstrip().startswith("{"):
        return text
    if not exists(text):
        raise InvalidCaseError("function", f"'{text:.120}' is neither a JSON object nor a file")
    try:
        return read_text(Path(text), MAX_TABLE_BYTES)
    except ConversionError as reason:
        raise InvalidCaseError("function", f"'{text}' cannot be read: {reason}") from None


_ROWS = """'[[1, 2], [3, "1/2"]]'"""
_EXAMPLES = {
    "function": """'{"c_1_1_1_1": 1, "c_1_1_2_2": "1/2"}'""",
    **dict.fromkeys("AKQV", _ROWS),
}


def _exact_values(option: str, text: str) -> Any:
    """Return what the JSON text after an option says, with exact numbers."""
    try:
        return _rationals(read_json(text, parse_float=read_rational, digits=MAX_NUMBER_DIGITS))
    except ConversionError as reason:
        raise InvalidCaseError(
            option, f"{reason}; write, in quotes for the shell, {_EXAMPLES[option]}"
        ) from None


def _rationals(value: Any, depth: int = 2) -> Any:
    """Return a JSON value with exact numbers in place of numbers and texts such as ``3/7``: a
    number, an object of numbers, or nested lists with at most ``depth`` levels.
    """
    if depth and isinstance(value, dict):
        return {name: _rationals(entry, depth=0) for name, entry in value.items()}
    if depth and isinstance(value, list):
        return [_rationals(entry, depth - 1) for entry in value]
    if isinstance(value, bool) or not isinstance(value, int | str | Fraction):
        raise ConversionError(
            f'{json.dumps(value, default=str):.60} is not a rational number: write 3, 1.5 or "3/7"'
        )
    if isinstance(value, str):
        return read_rational(value)
    return Fraction(value)
