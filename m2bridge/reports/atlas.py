"""An atlas: one page for each case that a folder of certificates is about, and an overview; it needs no server."""

from pathlib import Path

from m2bridge.certificates.files import write_aside
from m2bridge.engine.script import page
from m2bridge.families import family
from m2bridge.limits import watched
from m2bridge.reports.atlas_content import Atlas, Sheet, Value, grids
from m2bridge.reports.atlas_reading import atlas
from m2bridge.reports.page import MARKS

__all__ = ["Atlas", "Sheet", "Value", "atlas", "write_atlas"]


CERTIFICATES = "certificates"
"""The folder in an atlas that its pages are made from."""

MOST_GENERATORS = 200
"""The number of generators that are shown; all are in the certificate."""


def write_atlas(atlas: Atlas, folder: Path, documentation: str = "") -> Path:
    """Write ``index.html`` and a page for each case beside the folder of certificates.

    Parameters
    ----------
    atlas : Atlas
    folder : Path
    documentation : str
        Address of the site, or its folder, seen from the pages of cases; what they cite there are links then.

    Returns
    -------
    Path
        Of the overview.

    Raises
    ------
    OSError
        If a page cannot be written.
    """
    neighbours = zip((None, *atlas.sheets), atlas.sheets, (*atlas.sheets[1:], None), strict=False)
    for before, sheet, after in watched(neighbours):
        write_aside(_case_page(sheet, before, after, documentation), folder / "cases" / sheet.file)
    target = folder / "index.html"
    write_aside(_overview(atlas), target)
    if missing := [sheet.file for sheet in atlas.sheets if not (folder / "cases" / sheet.file).is_file()]:
        raise FileNotFoundError(
            f"{len(missing)} pages such as 'cases/{missing[0]}' were deleted while others were made"
        )
    return target


def _case_page(sheet: Sheet, before: Sheet | None, after: Sheet | None, documentation: str) -> str:
    named = family(sheet.case.family)
    values = {
        "sheet": sheet,
        "before": before,
        "after": after,
        "legend": named.orbits,
        "marks": MARKS,
        "most": MOST_GENERATORS,
        "certificates": f"../{CERTIFICATES}",
        "documentation": documentation,
    }
    return page("atlas_case", values)


def _overview(atlas: Atlas) -> str:
    tables, alone = grids(atlas.sheets)
    values = {
        "titles": sorted({family(sheet.case.family).title for sheet in atlas.sheets}),
        "sheets": atlas.sheets,
        "grids": tables,
        "alone": alone,
        "problems": atlas.problems,
        "verdicts": [verdict for verdict in MARKS if any(sheet.verdict == verdict for sheet in atlas.sheets)],
        "marks": MARKS,
    }
    return page("atlas", values)
