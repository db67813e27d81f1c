"""Reports: a folder of certificates as one table, one paragraph, one page."""

from m2bridge.reports.collect import collect
from m2bridge.reports.content import Report, Row
from m2bridge.reports.forms import FORMATS, LINKED, to_sheet
from m2bridge.reports.grid import paragraph
from m2bridge.reports.page import to_html

__all__ = ["FORMATS", "LINKED", "Report", "Row", "collect", "paragraph", "to_html", "to_sheet"]
