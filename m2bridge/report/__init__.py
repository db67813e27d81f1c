"""Reports: a folder of certificates as one table, one paragraph, one page."""

from m2bridge.report.collect import collect
from m2bridge.report.content import Case, Detail, Problem, Report, Row, Table
from m2bridge.report.forms import FORMATS, LINKED, to_sheet
from m2bridge.report.page import to_html
from m2bridge.report.summary import paragraph

__all__ = [
    "FORMATS",
    "LINKED",
    "Case",
    "Detail",
    "Problem",
    "Report",
    "Row",
    "Table",
    "collect",
    "paragraph",
    "to_html",
    "to_sheet",
]
