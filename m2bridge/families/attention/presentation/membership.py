"""Where a function lies, for people and programs."""

from __future__ import annotations

from typing import Any

from sympy import Matrix
from sympy import latex as sympy_latex

from m2bridge.algebra.field import QQ
from m2bridge.convert.notation import exact_text
from m2bridge.digits import any_length
from m2bridge.families.attention.membership import Membership
from m2bridge.layout import duration, plural
from m2bridge.presented import result_json
from m2bridge.sheet import Facts, Sheet

ZERO_FIBRE = "A = 0 or V = 0"
NAMES = {True: "yes", False: "no", None: None}


def json(found: Membership) -> dict[str, Any]:
    """Place, orbit, fibre and weights; entries of weights are exact strings."""
    return result_json(found.model.to_json(), QQ, found.engine_version or None, found.seconds) | {
        "place": found.place,
        "orbit": None if found.orbit is None else found.orbit.to_json(),
        "fibre": ZERO_FIBRE if found.is_zero else None,
        "fibre_dimension": found.fibre_dimension,
        "fibre_length": found.length,
        "fibre_points": None if found.is_zero else len(found.weights),
        "weights": [{"A": _strings(A), "V": _strings(V)} for A, V in found.weights],
        "singular": found.singular,
        "tangent_dimension": found.tangent_dimension,
        "boundary": found.boundary,
        "remark": found.remark or None,
    }


def sheet(found: Membership) -> Sheet:
    """Place, orbit, fibre, weights, and what kind of point it is."""
    named = ["one of them"] if found.is_zero else [f"weights {n}" for n in range(1, len(found.weights) + 1)]
    weights = [f"A = {_row(A)}, V = {_row(V)}" for A, V in found.weights]
    computed = f"Macaulay2 {found.engine_version}" if found.engine_version else "exact arithmetic"
    lines = [
        ("place", "the zero function, in the neuromanifold" if found.is_zero else found.place),
        ("orbit (rk A, rk V, dim L∩U)", found.orbit),
        ("fibre", _fibre(found)),
        *zip(named, weights, strict=True),
        ("singular point of the closure", NAMES[found.singular]),
        ("tangent dimension", found.tangent_dimension),
        ("boundary point", NAMES[found.boundary]),
        ("remark", found.remark or None),
        ("computed by", f"{computed}, {duration(found.seconds)}"),
    ]
    return Sheet(f"A function of lightning self-attention, {found.model}", [Facts(lines)], _formulas(found))


def _fibre(found: Membership) -> str | None:
    if found.is_zero:
        return f"all weights with {ZERO_FIBRE}: dimension {found.fibre_dimension}"
    return f"length {found.length}, {plural(len(found.weights), 'point')}" if found.weights else None


def _formulas(found: Membership) -> list[str]:
    """The weights."""
    with any_length():
        pairs = [f"A = {sympy_latex(A)},\\; V = {sympy_latex(V)}" for A, V in found.weights]
    if found.is_zero:
        return [rf"\{{(A, V) : A = 0 \text{{ or }} V = 0\}} \ni ({pairs[0]})"]
    return pairs


def macaulay2(found: Membership) -> str:
    """The orbit, as a Macaulay2 sequence."""
    return f"orbit = {found.orbit or 'null'}"


def _strings(matrix: Matrix) -> list[list[str]]:
    return [[exact_text(entry) for entry in matrix.row(i)] for i in range(matrix.rows)]


def _row(matrix: Matrix) -> str:
    return "(" + "; ".join(" ".join(row) for row in _strings(matrix)) + ")"
