"""Tables of reports have one line where one fact decides two statements."""

import json
import re
import zlib
from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import pytest

from m2bridge import reports as report
from m2bridge.families.attention.all_sizes.predictions import PREDICTIONS
from m2bridge.families.attention.orbits.orbits import orbits
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.registry import OWN_FAMILIES, family
from m2bridge.reports import Report
from m2bridge.reports.content import table_lines
from m2bridge.statements.statement import OrbitStatement

ACCEPTED = Path(__file__).parents[2] / "certificates" / "accepted"
BOTH = "3.4 (iii), A.4"


@pytest.fixture(scope="module")
def found() -> Report:
    return report.collect(ACCEPTED)


def test_statements_of_one_fact_predict_the_same() -> None:
    """For singular points, on all orbits of small sizes and as sets of all sizes."""
    declared = {name: family(name).same_fact for name in OWN_FAMILIES if family(name).same_fact}
    assert declared == dict.fromkeys(("attention", "attention-all-sizes"), (("3.4 (iii)", "A.4"),))
    one, other = [
        statement
        for statement in REGISTRY
        if (statement.key, statement.part) in (("3.4", "iii"), ("A.4", ""))
        and isinstance(statement, OrbitStatement)
    ]
    assert (one.observable, other.observable) == ("singular", "singular")
    assert one.hypotheses == other.hypotheses
    for numbers in ((1, 1, 1), (2, 1, 1), (3, 2, 2), (2, 3, 2), (4, 3, 3)):
        shape = LayerSizes(*numbers, 2)
        for orbit in orbits(shape):
            assert one.predict(orbit, shape) == other.predict(orbit, shape)
    assert PREDICTIONS["3.4", "iii"] == PREDICTIONS["A.4", ""]


def test_verdicts_that_agree_share_a_line(found: Report) -> None:
    shared = [line for line in found.lines if line.statement == BOTH]
    assert [line.case.name for line in shared] == ["d3-dout2-a2-t2"]
    assert shared[0].file == "d3-dout2-a2-t2-3.4.json, d3-dout2-a2-t2-A.4.json"
    assert len(found.lines) == len(found.rows) - 1
    alone = [row for row in found.rows if row.case.name != "d3-dout2-a2-t2"]
    assert alone == [line for line in found.lines if line.case.name != "d3-dout2-a2-t2"]


def test_what_is_shown_differs_in_nothing_else(found: Report) -> None:
    first, second, *_ = (row for row in found.rows if row.statement in ("3.4 (iii)", "A.4"))
    assert [line.statement for line in table_lines([first, second])] == [BOTH]
    changes = (
        {"reason": "another"},
        {"witness": ""},
        {"verdict": "CONFIRMED"},
        {"reported": second.reported | {"seconds": 0.0}},
        {"statement": "A.6"},
    )
    for change in changes:
        rows = [first, replace(second, **change)]
        assert table_lines(rows) == rows


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_tables_have_one_line(form: str, found: Report) -> None:
    text = report.FORMATS[form](found)
    assert text.count("fibre length") == 1  # of the witness
    assert text.count(BOTH) == 1
    assert "2 refuted" in text  # verdicts are counted, not lines


def test_data_have_a_row_for_each_statement(found: Report) -> None:
    """CSV and JSON keep their rows; the page has a line that both statements choose."""
    rows = json.loads(report.FORMATS["json"](found))["rows"]
    assert len(rows) == len(found.rows)
    assert BOTH not in report.FORMATS["csv"](found)
    page = report.FORMATS["html"](found)
    packed = dict(re.findall(r'id="(table|part-\d+)"[^>]*>([^<]*)<', page))
    table, *parts = (json.loads(zlib.decompress(b64decode(text))) for text in packed.values())
    assert len(table["rows"]) == len(found.lines)
    members = dict(zip(table["statements"], table["members"], strict=True))
    assert members[BOTH] == ["3.4 (iii)", "A.4"]
    assert all(names == [name] for name, names in members.items() if name != BOTH)
    assert {name for names in members.values() for name in names} == {
        row.statement for row in found.rows
    }
    names = [name for part in parts for sheet in part for name, *_ in sheet["verdicts"]]
    assert names.count(BOTH) == 1
