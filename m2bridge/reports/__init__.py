"""Reports: a folder of certificates as one table, one paragraph, one page."""

from m2bridge.reports.content import Report, VerdictRow
from m2bridge.reports.forms import FORMATS, LINKED, to_html, to_sheet
from m2bridge.reports.read import collect

__all__ = ["FORMATS", "LINKED", "Report", "VerdictRow", "collect", "to_html", "to_sheet"]
