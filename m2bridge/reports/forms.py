"""A report as text, Markdown, LaTeX, CSV, JSON and HTML.

Citations are links. Here ``documentation`` is the address of the documentation, or its folder as
seen from the report; if it is empty, citations of its pages are no links.

The HTML page stays usable with tens of thousands of cases because it shows little at a time: the
first rows of the table, the grids of verdicts, one opened case. The rest is compressed JSON in
base64, in parts of :data:`CASES_PER_HTML_PART` cases, each unpacked when one of its cases is
opened.
"""

import json
import re
import textwrap
import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from m2bridge.citation import M2BRIDGE
from m2bridge.engine.script import document, page
from m2bridge.families.registry import family
from m2bridge.reports.content import (
    NAMES,
    VERDICTS,
    Detail,
    NamedCase,
    Report,
    TableCell,
    VerdictRow,
    all_trusted,
    cross_table,
    table_lines,
    verdict_words,
)
from m2bridge.results.markup import cell, csv_text, latex, latex_links
from m2bridge.results.sheet import (
    Block,
    Facts,
    Sheet,
    Table,
    enumeration,
    line,
    statement_sort_key,
    table,
    value_text,
)
from m2bridge.results.writers import keep_with_next

CASES_PER_HTML_PART = 100
"""A part of this size has some tens of kilobytes, which are unpacked at once."""

TEXT_LINE_CHARS = 100
"""Characters in a line of the text form."""

WITNESS_INDENT = " " * 7
"""The indentation of witnesses in the text form."""

MARKS = dict(zip(VERDICTS, "✗?!○✓•–", strict=True))
"""A sign for each verdict, so that verdicts do not differ by colour alone."""

HashableT = TypeVar("HashableT", bound=Hashable)


def to_html(report: Report, documentation: str = "") -> str:
    """Return the report as one self-contained page of HTML."""
    cases = report.by_case()
    # what is shown when a case is opened, in parts of which each is unpacked by itself
    sheets = [_case_sheet(own.rows, own.details) for own in cases.values()]
    parts = [
        sheets[i : i + CASES_PER_HTML_PART] for i in range(0, len(sheets), CASES_PER_HTML_PART)
    ]
    page_values = {
        "title": enumeration(sorted({family(case.family).title for case in cases})),
        "marks": MARKS,  # the sign of each verdict
        "table": pack(_page_table(report)),
        "parts": [pack(part) for part in parts],
        "cases_in_a_part": CASES_PER_HTML_PART,
    }
    return page("report", _template_values(report, documentation) | page_values)


def _template_values(report: Report, documentation: str) -> dict[str, Any]:
    """Return the values that templates of all forms take, by the names that the templates use."""
    return {
        "report": report,
        "statements": statements(report.rows),
        "words": verdict_words,  # the function that puts a verdict into words
        "documentation": documentation,
        "titles": titles(documentation),
    }


def latex_answer(report: Report, documentation: str) -> str:
    """Return the answer of a report in LaTeX; names of statements, such as V, are no variables."""
    answer = report.answer_and_names
    latex_before = latex_links(answer.text_before, documentation)
    latex_names = ", ".join(map(latex, answer.names))
    latex_after = latex_links(answer.text_after, documentation)
    return f"{latex_before} {latex_names}{latex_after}"


def titles(documentation: str) -> str:
    """Return a sentence for print on what titles in quotation marks are, with the address of the
    documentation on the web, if there is one.
    """
    address = documentation if documentation.startswith("http") else M2BRIDGE.url
    place = f", {address}" if address else ""
    return f"Titles in quotation marks are of the documentation of m2bridge{place}."


def pack(data: Any) -> str:
    """Return a value as JSON, compressed by zlib, in base64."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode())).decode()


def statements(rows: Sequence[VerdictRow]) -> list[dict[str, Any]]:
    """Return a dictionary for each statement that the rows are about, sorted by name.

    ``statement`` is its name, ``text`` what it says, ``source`` where it is stated, ``sentence``
    these three in one, and ``counts`` the number of rows with each verdict. Text and source are
    from the first row that has one of them, as rows without an answer have none.
    """
    by_statement: dict[str, list[VerdictRow]] = {}
    for row in rows:
        by_statement.setdefault(row.statement, []).append(row)
    # a paper that is shown once is left out of the sources; empty if they cite several or none
    paper = paper_of(rows)
    listed = []
    for name in sorted(by_statement, key=statement_sort_key):
        its_rows = by_statement[name]
        with_words = [row for row in its_rows if row.text or row.source] or its_rows
        text = with_words[0].text
        source = with_words[0].source.removeprefix(paper)
        place = f" ({source})" if source else ""
        entry = {
            "statement": name,
            "text": text,
            "source": source,
            "sentence": f"{name}: {text}{place}",
            "counts": Counter(row.verdict for row in its_rows),
        }
        listed.append(entry)
    return listed


def paper_of(rows: Iterable[VerdictRow]) -> str:
    """Return the paper with which sources begin, if all cite the same; empty otherwise.

    It can then be shown once, and left out of the sources. For the source "Henry, Marchetti, Kohn,
    arXiv 2408.17221v2, Theorem 3.2" it is all up to the comma after the number, with a blank.
    Sources without a number of arXiv do not count.
    """
    papers = set()
    for row in rows:
        paper = re.match(r".*arXiv [\d.]+(v\d+)?, ", row.source)
        if paper:
            papers.add(paper[0])
    if len(papers) != 1:
        return ""
    return papers.pop()


def _page_table(report: Report) -> dict[str, Any]:
    """Return the table of a page, whose ``rows`` refer to its lists by places, from 0 on.

    A row has the places of its case in ``cases``, of its statement in ``statements``, of its
    verdict in ``verdicts``, and of its reason and witness in ``texts``; and its seconds. A row may
    be about several statements, and is shown where one of them is chosen: ``members`` has for each
    text in ``statements`` the list of their names. ``marks`` has the signs of the verdicts, and
    ``legends`` says for each family what the numbers of an orbit are.
    """
    # A row of ``report.rows`` is about one statement. In ``report.lines`` statements that one fact
    # decides share a row, whose statement is their list, such as "3.4 (iii), A.4".
    single_statements = {row.statement for row in report.rows}
    names = sorted({row.statement for row in report.lines}, key=statement_sort_key)
    members = [[name] if name in single_statements else name.split(", ") for name in names]
    texts = sorted({text for row in report.rows for text in (row.reason, row.witness)})
    families = sorted({case.family for case in report.cases})
    place_of_case = {case: place for place, case in enumerate(report.cases)}
    place_of_statement = {name: place for place, name in enumerate(names)}
    place_of_text = {text: place for place, text in enumerate(texts)}
    rows = []
    for row in report.lines:
        cells = (
            place_of_case[row.case],
            place_of_statement[row.statement],
            VERDICTS.index(row.verdict),
            place_of_text[row.reason],
            place_of_text[row.witness],
            row.seconds,
        )
        rows.append(cells)
    return {
        "columns": list(report.headings),
        "cases": [(case.name, case.title, report.cells(case)) for case in report.cases],
        "legends": {name: family(name).orbits for name in families},
        "statements": names,
        "members": members,
        "verdicts": VERDICTS,
        "marks": list(MARKS.values()),
        "texts": texts,
        "rows": rows,
    }


def _case_sheet(rows: list[VerdictRow], details: list[Detail]) -> dict[str, Any]:
    """Return what a page shows when a case is opened: its verdicts, and what certificates rest on.

    Tables of orbits and scripts that certificates share appear once, each with the list of the
    questions whose certificates have it.
    """
    orbits = _questions_by_thing((detail.orbits, detail.question) for detail in details)
    scripts = _questions_by_thing((detail.script, detail.question) for detail in details)
    # the cells of a line of the page
    shown_fields = attrgetter("statement", "verdict", "reason", "witness", "file")
    return {
        "verdicts": list(map(shown_fields, table_lines(rows))),
        "family": rows[0].case.family,
        "orbits": [(questions, facts.header, facts.rows) for facts, questions in orbits.items()],
        "scripts": [(questions, text) for text, questions in scripts.items()],
        "trusted": all_trusted(details),
    }


def _questions_by_thing(
    pairs: Iterable[tuple[HashableT | None, str]],
) -> dict[HashableT, list[str]]:
    """Return the questions of each thing that is not empty, from pairs (thing, question)."""
    questions: dict[HashableT, list[str]] = {}
    for thing, question in pairs:
        if thing:
            questions.setdefault(thing, []).append(question)
    return questions


SIGNS = dict(
    zip(
        VERDICTS,
        (r"$\times$", "?", "!", r"$\circ$", r"$\checkmark$", r"$\bullet$", "$-$"),
        strict=True,
    )
)
"""The signs of verdicts in LaTeX, which do not differ by colour alone."""


def to_latex_grid(report: Report, documentation: str = "") -> str:
    """Return LaTeX for an input file: a grid of verdicts for each statement, side by side, as many
    as fit into a line.

    Citations are links if the document uses ``hyperref``. Cases that are not named by two numbers
    stand below one another, by their names.
    """
    families = []  # for each family the headings of what names its cases, and its grids
    for name in sorted({case.family for case in report.cases}):
        rows = tuple(row for row in report.rows if row.case.family == name)
        report_of_family = replace(report, rows=rows)
        families.append((report_of_family.headings, list(_grids(report_of_family))))
    values = {"answer": latex_answer(report, documentation), "signs": SIGNS, "families": families}
    return document("report_grid.tex", _template_values(report, documentation) | values)


class _Grid(NamedTuple):
    """The verdicts on one statement, with columns and rows as in a :class:`CrossTable`."""

    statement: str
    columns: tuple[TableCell, ...]
    rows: list[tuple[TableCell, list[str]]]


def _grids(report: Report) -> Iterator[_Grid]:
    """Yield the grid of verdicts on each statement.

    The first cell of a case gives its row, the second its column, and its verdict is shown by a
    sign; a case with one cell is in the column "". Cases that differ in further cells share a
    place, with several signs.
    """
    cases_by_place: dict[tuple[TableCell, TableCell], list[NamedCase]] = {}
    for case in report.cases:
        first, *further_cells = report.cells(case)
        second = further_cells[0] if further_cells else ""
        cases_by_place.setdefault((first, second), []).append(case)
    for statement in sorted({row.statement for row in report.rows}, key=statement_sort_key):
        verdicts = {row.case: row.verdict for row in report.rows if row.statement == statement}
        signs_by_place: dict[tuple[TableCell, ...], str] = {}
        for place, cases in cases_by_place.items():
            if verdicts.keys().isdisjoint(cases):
                continue
            # a dot for a case without a verdict, and one sign if all are the same
            signs = [SIGNS.get(verdicts.get(case, ""), r"$\cdot$") for case in cases]
            signs_by_place[place] = signs[0] if len(set(signs)) == 1 else "".join(signs)
        table_of_signs = cross_table(signs_by_place)
        # a place without a case has None, which becomes an empty cell
        rows = [(first, [mark or "" for mark in marks]) for first, marks in table_of_signs.rows]
        yield _Grid(statement=statement, columns=table_of_signs.columns, rows=rows)


def _case_texts(report: Report, row: VerdictRow) -> tuple[str, ...]:
    """Return the texts of the cells that name the case of a row."""
    return tuple(map(str, report.cells(row.case)))


def to_text(report: Report) -> str:
    """Return the report as plain text, each witness and each lemma on a line of its own."""
    fill = partial(textwrap.fill, width=TEXT_LINE_CHARS, break_on_hyphens=False)
    parts = [fill(line(report.answer))]
    for block in to_sheet(report).blocks:
        if isinstance(block, Table):
            rows = table(block.header, block.rows)
            # Reasons may be long; the rule below the header need not be.
            parts.append(re.sub("^ +─.*", lambda rule: rule[0][:TEXT_LINE_CHARS], rows, flags=re.M))
    parts.append(fill(line(report.notes)))
    trust = report.trust
    if report.trusted:
        lemmas = [fill(f"* {line(lemma)}", subsequent_indent="  ") for lemma in report.trusted]
        trust = "\n".join(["Taken on trust:", *lemmas])
    text = "\n\n".join([*parts, trust])
    # A witness is a line of its own in a cell, at the left margin; it is indented here, so that it
    # is seen to belong to the row above.
    return text.replace("\nwitness: ", f"\n{WITNESS_INDENT}witness: ") + "\n"


def to_sheet(report: Report) -> Sheet:
    """Return a sheet, to be laid out in the width of a terminal; witnesses stand below reasons."""
    blocks: list[Block] = [Facts([("summary", line(report.answer))])]
    if report.lines:
        # the cell of the reason has the witness, if any, on a line of its own
        header = (*report.headings, "statement", "verdict", "seconds", "reason")
        blocks.append(Table(header, [_cells_of(report, row) for row in report.lines]))
    if report.problems:
        unused = [(line(problem.file), line(problem.reason)) for problem in report.problems]
        blocks.append(Table(("file not used", "reason"), unused))
    trusted = [("taken on trust", line(lemma)) for lemma in report.trusted]
    return Sheet("", [*blocks, Facts([("notes", line(report.notes)), *trusted])])


def _cells_of(report: Report, row: VerdictRow) -> tuple[str, ...]:
    """Return the cells of a row for a terminal."""
    reason = line(row.reason)
    if row.witness:
        reason += f"\nwitness: {line(row.witness)}"
    seconds = "–"
    if row.seconds is not None:
        seconds = f"{row.seconds:.3f}"
    return (*_case_texts(report, row), line(row.statement), row.verdict, seconds, reason)


def to_markdown(report: Report, documentation: str = "") -> str:
    """Return Markdown: the paragraph, what the statements say, and a table."""
    return document("report.md", _template_values(report, documentation))


def to_latex(report: Report, documentation: str = "") -> str:
    """Return LaTeX for an input file: the paragraph, what the statements say, and a ``longtable``.

    The top says what the preamble needs. With ``hyperref``, citations are links. Cases are named by
    their numbers, or by their names on several lines where the numbers take too much space.
    """
    # the widest cells, in characters, of the columns that name a case
    lines = [report.headings, *(_case_texts(report, row) for row in report.rows)]
    width_of_numbers = sum(max(map(len, column)) for column in zip(*lines, strict=True))
    # a character of a name takes about 0.0115 of the line
    longest = max((len(case.name) for case in report.cases), default=0)
    share_of_names = min(0.0115 * longest, 0.32)  # longer names wrap
    # wider numbers leave no space for reasons
    are_named = report.columns == NAMES or width_of_numbers > 20
    # In the template ``by_name`` is whether cases are named by their names, ``of_names`` the share
    # of the line for these, and ``width`` the width of the columns of numbers.
    values = {
        "answer": latex_answer(report, documentation),
        "by_name": are_named,
        "width": width_of_numbers,
        "of_names": share_of_names,
        "keep_with_next": keep_with_next(),
    }
    return document("report.tex", _template_values(report, documentation) | values)


def to_csv(report: Report) -> str:
    """Return lines of comma-separated values: one for each row, then one for each file not used,
    with the verdict ``MALFORMED``.

    ``as_printed`` is yes, no, or empty if that is not known or no source prints the statement.
    """
    names = [option for option, _ in report.columns]
    programs = set(chain.from_iterable(row.reported["versions"] for row in report.rows))
    figures = ["seconds", "peak_memory", *sorted(programs)]
    reported_names = [f"reported_{name}" for name in figures]
    words = ["statement", "verdict", "reason", "witness"]
    header = [*names, *words, *reported_names, "file", "as_printed"]
    lines: list[list[Any]] = []
    for row in report.rows:
        words = [row.statement, row.verdict, row.reason, row.witness]
        # the versions by the names of programs, and the figures by their names
        reported = row.reported["versions"] | row.reported
        numbers = [reported.get(name) for name in figures]
        printed = "" if row.as_printed is None else value_text(row.as_printed)
        lines.append([*report.cells(row.case), *words, *numbers, row.file, printed])
    for problem in report.problems:
        words = ["", "MALFORMED", problem.reason, ""]
        lines.append([*("" for _ in names), *words, *("" for _ in figures), problem.file, ""])
    # text is never read as a formula; numbers and None stay
    table_of_cells = [
        [cell(value) if isinstance(value, str) else value for value in values]
        for values in (header, *lines)
    ]
    return csv_text(table_of_cells[0], table_of_cells[1:])


def to_json(report: Report) -> str:
    """Return JSON: the numbers of the paragraph, the rows, and the files that were not used."""
    data = {
        "summary": report.summary | {"text": report.paragraph},
        "rows": [row.to_json() for row in report.rows],
        "problems": [asdict(problem) for problem in report.problems],
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


LINKED: dict[str, Callable[..., str]] = {
    "markdown": to_markdown,
    "latex": to_latex,
    "latex-grid": to_latex_grid,
    "html": to_html,
}
"""Forms with links, which take the address of the documentation too."""

FORMATS: dict[str, Callable[[Report], str]] = {
    "text": to_text,
    **LINKED,
    "csv": to_csv,
    "json": to_json,
}
"""The functions that write a report, by the names of the forms as on the command line."""
