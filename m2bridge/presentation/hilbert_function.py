"""A Hilbert function as a table, and as data."""

from __future__ import annotations

import csv as csv_files
import io
from typing import TYPE_CHECKING, Any

from sympy import latex

from m2bridge.convert.notation import expression_text
from m2bridge.presented import computed_by, result_json
from m2bridge.sheet import Facts, Formula, Picture, Sheet, Table

if TYPE_CHECKING:
    from m2bridge.maps.hilbert_function import HilbertFunction

HEADER = ("n", "H(n)", "P(n)", "by ranks")


def sheet(found: HilbertFunction) -> Sheet:
    """A table of both, and the polynomial."""
    known = [
        ("Hilbert series", expression_text(found.series.expression)),
        ("Hilbert polynomial P", Formula(expression_text(found.polynomial), latex(found.polynomial))),
        ("H(n) = P(n)", f"for all n ≥ {found.polynomial_from}" if found.polynomial_from > 0 else "for all n ≥ 0"),
        ("computed by", computed_by(found.engine_version, found.seconds)),
    ]
    rows = [["–" if cell is None else cell for cell in row] for row in _rows(found)]
    return Sheet(
        f"Hilbert function of the {found.subject.title}",
        [Facts(known), Table(HEADER, rows), Picture(found.page_svg)],
        [f"P(n) = {latex(found.polynomial)}"],
    )


def json(found: HilbertFunction) -> dict[str, Any]:
    """Values, polynomial and series."""
    return result_json(found.subject.case, "QQ", found.engine_version or None, found.seconds) | {
        "hilbert_function": list(found.values),
        "by_ranks": list(found.ranks),
        "hilbert_polynomial": str(found.polynomial),
        "hilbert_series": {"numerator": list(found.series.numerator), "denominator_exponent": found.series.dimension},
        "polynomial_from": max(found.polynomial_from, 0),
        "unfinished": None,
    }


def macaulay2(found: HilbertFunction) -> str:
    """A list of values."""
    return f"hilbertFunctionValues = {{{', '.join(map(str, found.values))}}}"


def csv(found: HilbertFunction) -> str:
    """One line for each degree."""
    page = io.StringIO()
    writer = csv_files.writer(page, lineterminator="\n")
    writer.writerow(("n", "hilbert_function", "hilbert_polynomial", "by_ranks"))
    writer.writerows(_rows(found))
    return page.getvalue()


def _rows(found: HilbertFunction) -> list[tuple[int | None, ...]]:
    ranks = (*found.ranks, *(None,) * (len(found.values) - len(found.ranks)))
    return [
        (n, value, found.polynomial_at(n), rank)
        for n, (value, rank) in enumerate(zip(found.values, ranks, strict=True))
    ]
