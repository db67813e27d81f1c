"""The table to publish: one grid of signs for each statement."""

import re

from m2bridge import reports as report
from m2bridge.reports import Report, Row
from m2bridge.reports.content import case_of


def row(d: int, d_out: int, a: int, statement: str, verdict: str) -> Row:
    case = case_of("attention", {"d": d, "d_out": d_out, "a": a, "t": 2})
    reported = {"versions": {}, "seconds": None, "peak_memory": None}
    return Row(case, statement, statement, "", verdict, "", "", reported, "file")


ROWS = (
    row(3, 2, 3, "A.4", "CONFIRMED"),
    row(3, 2, 2, "A.4", "REFUTED"),
    row(3, 2, 1, "A.4", "NOT_APPLICABLE"),
    row(1, 2, 1, "A.4", "CONFIRMED"),
    row(3, 10, 1, "A.4", "UNDECIDED"),
    row(3, 10, 2, "A.4", "UNDECIDED"),
    row(3, 2, 1, "3.3", "CONFIRMED"),
    row(3, 2, 2, "3.3", "CONFIRMED"),
)


def grids(text: str) -> dict[str, list[list[str]]]:
    """Rows of signs by statement, the header first."""
    found = re.findall(r"l@\{\}\}\{(.*?)\} \\\\\n(.*?)\\rule", text, re.DOTALL)
    lines = {name: body.replace(r"\hline", "").split(r"\\")[:-1] for name, body in found}
    return {name: [[cell.strip() for cell in line.split("&")] for line in rows] for name, rows in lines.items()}


def test_signs_stand_where_their_case_is() -> None:
    """In increasing order of a, once where all are the same; a dot where a statement was not asked of a case."""
    found = grids(report.FORMATS["latex-grid"](Report(ROWS, (), ())))
    assert list(found) == ["3.3", "A.4"]
    assert found["A.4"][0][1:] == ["2", "10"]
    assert found["A.4"][1:] == [["1", r"$\checkmark$", ""], ["3", r"$-$$\times$$\checkmark$", "?"]]
    assert found["3.3"][1:] == [["3", r"$\checkmark$$\checkmark$$\cdot$"]]


def test_the_legend_says_what_signs_mean_and_whose_statements_they_are() -> None:
    text = report.FORMATS["latex-grid"](Report(ROWS, (), ()))
    assert r"$\times$ refuted, ? undecided, $\checkmark$ confirmed, $-$ not applicable." in text
    for form in ("latex-grid", "latex", "markdown", "text", "html"):
        said = report.FORMATS[form](Report(ROWS, (), ())).replace("\n", " ").replace("{-}", "-")
        assert "Geometry of Lightning Self-Attention: Identifiability and Dimension" in said
        assert "arXiv:2408.17221v2" in said
        assert "cited as, m2bridge" in said


def test_families_have_grids_of_their_own() -> None:
    """Where a list of widths names a case, its name stands in the first column."""
    network = case_of("polynomial-network", {"widths": [3, 2, 1], "degree": 2})
    other = Row(network, "E", "E", "", "REFUTED", "", "", ROWS[0].reported, "file")
    found = grids(report.FORMATS["latex-grid"](Report((*ROWS, other), (), ())))
    assert found["A.4"][1:] == [["1", r"$\checkmark$", ""], ["3", r"$-$$\times$$\checkmark$", "?"]]
    assert found["E"][1][1:] == [r"$\times$"]
