"""Reports: a folder of certificates as one table, one paragraph, one page."""

from m2bridge.reports.collect import collect
from m2bridge.reports.content import Report, Row
from m2bridge.reports.forms import FORMATS, LINKED, to_html, to_sheet

__all__ = ["FORMATS", "LINKED", "Report", "Row", "collect", "to_html", "to_sheet"]
