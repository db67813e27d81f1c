"""A report as text, Markdown, LaTeX, CSV, JSON and HTML.

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
from m2bridge.results.sheet import Block, Facts, Sheet, Table, enumeration, line, table, value_text
from m2bridge.results.writers import keep_with_next

CASES_PER_HTML_PART = 100
"""A part of this size has some tens of kilobytes, which are unpacked at once."""

TEXT_LINE_CHARS = 100
"""Characters in a line of the text form."""

MAX_LATEX_NUMBER_CHARS = 20
"""The width of the numbers of a case in a LaTeX table; wider ones leave no space for reasons."""

MAX_LATEX_NAME_SHARE = 0.32
"""The share of the line for names of cases in a LaTeX table; longer ones wrap."""

WITNESS_INDENT = " " * 7
"""The indentation of witnesses in the text form."""

MARKS = dict(zip(VERDICTS, "✗?!○✓•–", strict=True))
"""A sign for each verdict, so that verdicts do not differ by colour alone."""

HashableT = TypeVar("HashableT", bound=Hashable)


def to_html(report: Report, documentation: str = "") -> str:
    """Return the report as one self-contained page of HTML.

    ``documentation`` is the address of the documentation, or its folder as seen from the page:
    citations of its pages are links then. If it is empty, they are not.
    """
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
    """Return the values that templates of all forms take, by the names that the templates use.

    ``documentation`` is the address of the site, or its folder as seen from the report; it is empty
    if there are to be no links to pages of the documentation.
    """
    return {
        "report": report,
        "statements": statements(report.rows),
        "words": verdict_words,  # the function that puts a verdict into words
        "documentation": documentation,
        "titles": titles(documentation),
    }


def latex_answer(report: Report, documentation: str) -> str:
    """Return the answer of a report in LaTeX; names of statements, such as V, are set as text and
    not as variables.

    ``documentation`` is the address of the site, or its folder as seen from the page, with which
    links to pages of the documentation begin; if it is empty, there are none.
    """
    answer = report.answer_and_names
    latex_before = latex_links(answer.text_before, documentation)
    latex_names = ", ".join(map(latex, answer.names))
    latex_after = latex_links(answer.text_after, documentation)
    return f"{latex_before} {latex_names}{latex_after}"


def titles(documentation: str) -> str:
    """Return a sentence for print on what titles in quotation marks are, with the address of the
    documentation: ``documentation`` if this is an address on the web, else the project's, if any.
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
    those of the first row that has one of them, as rows without an answer have none.
    """
    by_statement: dict[str, list[VerdictRow]] = {}
    for row in rows:
        by_statement.setdefault(row.statement, []).append(row)
    # a paper that is shown once is left out of the sources; empty if they cite several or none
    paper = paper_of(rows)
    return [_statement(name, its_rows, paper) for name, its_rows in sorted(by_statement.items())]


def _statement(name: str, rows: Sequence[VerdictRow], paper: str) -> dict[str, Any]:
    """Return the dictionary of :func:`statements` for one statement, all of whose rows are given.

    ``paper`` is the beginning of its source that is left out; it may be empty.
    """
    with_words = [row for row in rows if row.text or row.source] or rows
    text = with_words[0].text
    source = with_words[0].source.removeprefix(paper)
    sentence = f"{name}: {text}"
    if source:
        sentence += f" ({source})"
    return {
        "statement": name,
        "text": text,
        "source": source,
        "sentence": sentence,
        "counts": Counter(row.verdict for row in rows),
    }


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
    """Return the table of a page, as a dictionary: its ``rows`` refer to its lists by places, from
    0 on.

    A row has the places of its case in ``cases``, of its statement in ``statements``, of its
    verdict in ``verdicts``, and of its reason and witness in ``texts``; and its seconds. A row may
    be about several statements, and is shown where one of them is chosen: ``members`` has for each
    text in ``statements`` the list of their names. ``marks`` has the signs of the verdicts, and
    ``legends`` says for each family what the numbers of an orbit are.
    """
    # A row of ``report.rows`` is about one statement. In ``report.lines`` statements that one fact
    # decides share a row, whose statement is their list, such as "3.4 (iii), A.4".
    single_statements = {row.statement for row in report.rows}
    names = sorted({row.statement for row in report.lines})
    members = [[name] if name in single_statements else name.split(", ") for name in names]
    texts = sorted({text for row in report.rows for text in (row.reason, row.witness)})
    families = sorted({case.family for case in report.cases})
    return {
        "columns": list(report.headings),
        "cases": [(case.name, case.title, report.cells(case)) for case in report.cases],
        "legends": {name: family(name).orbits for name in families},
        "statements": names,
        "members": members,
        "verdicts": VERDICTS,
        "marks": list(MARKS.values()),
        "texts": texts,
        "rows": _numbered_rows(report, names, texts),
    }


def _numbered_rows(
    report: Report, statements: Sequence[str], texts: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Return a row of numbers for each line of the table of a report: the places, from 0 on, of its
    case in ``report.cases``, of its statement in ``statements``, of its verdict in
    :data:`VERDICTS`, and of its reason and its witness in ``texts``; and its seconds.
    """
    case_number = _places(report.cases)
    statement_number = _places(statements)
    verdict_number = _places(VERDICTS)
    text_number = _places(texts)
    rows = []
    for row in report.lines:
        numbers = (
            case_number[row.case],
            statement_number[row.statement],
            verdict_number[row.verdict],
            text_number[row.reason],
            text_number[row.witness],
        )
        rows.append((*numbers, row.seconds))
    return rows


def _places(things: Iterable[HashableT]) -> dict[HashableT, int]:
    """Return for each of some things, all different, its place among them, from 0 on."""
    return {thing: number for number, thing in enumerate(things)}


def _case_sheet(rows: list[VerdictRow], details: list[Detail]) -> dict[str, Any]:
    """Return what a page shows when a case is opened: its verdicts, and what certificates rest on.
    ``rows``, at least one, and ``details`` are all of the case.

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
    """Return for each different thing the list of its questions, from pairs (thing, question).

    ``{"S": ["a", "b"]}`` for the pairs ("S", "a"), ("", "c"), ("S", "b"): things that are empty or
    ``None`` are left out.
    """
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
    r"""Return LaTeX for ``\\input``: a grid of verdicts for each statement, side by side, as many
    as fit into a line.

    Citations are links if the document uses ``hyperref``, those of pages only if
    ``documentation``, the address of the site, is not empty. Cases that are not named by two
    numbers stand below one another, by their names.
    """
    families = []  # for each family the headings of what names its cases, and its grids
    for name in sorted({case.family for case in report.cases}):
        rows = tuple(row for row in report.rows if row.case.family == name)
        report_of_family = replace(report, rows=rows)
        families.append((report_of_family.headings, list(_grids(report_of_family))))
    return _document(
        "report_grid.tex",
        report,
        documentation,
        answer=latex_answer(report, documentation),
        signs=SIGNS,
        families=families,
    )


class _Grid(NamedTuple):
    """The verdicts on one statement, with columns and rows as in a :class:`CrossTable`: a row has
    its first cell, and the signs of verdicts in each column, empty for a place without a case.
    """

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
    for statement in sorted({row.statement for row in report.rows}):
        verdicts = {row.case: row.verdict for row in report.rows if row.statement == statement}
        signs_by_place: dict[tuple[TableCell, ...], str] = {}
        for place, cases in cases_by_place.items():
            signs = _verdict_signs([verdicts.get(case) for case in cases])
            if signs:
                signs_by_place[place] = signs
        table_of_signs = cross_table(signs_by_place)
        # a place without a case has None, which becomes an empty cell
        rows = [(first, [signs or "" for signs in row]) for first, row in table_of_signs.rows]
        yield _Grid(statement=statement, columns=table_of_signs.columns, rows=rows)


def _verdict_signs(verdicts: list[str | None]) -> str:
    """Return the signs of verdicts in LaTeX, one for each; a dot for ``None``, a case without a
    verdict.

    Only one sign if all are the same; empty if all verdicts are ``None``.
    """
    if all(verdict is None for verdict in verdicts):
        return ""
    signs = [SIGNS.get(verdict or "", r"$\cdot$") for verdict in verdicts]
    if len(set(signs)) == 1:
        return signs[0]
    return "".join(signs)


def _case_texts(report: Report, row: VerdictRow) -> tuple[str, ...]:
    """Return the texts of the cells that name the case of a row."""
    return tuple(map(str, report.cells(row.case)))


def to_text(report: Report) -> str:
    """Return the report as plain text: the answer, the table of verdicts with each witness on a
    line of its own, the files not used, notes, and the lemmas taken on trust.
    """
    fill = partial(textwrap.fill, width=TEXT_LINE_CHARS, break_on_hyphens=False)
    parts = [fill(line(report.answer))]
    for block in to_sheet(report).blocks:
        if isinstance(block, Table):
            rows = table(block.header, block.rows)
            # Reasons may be long; the rule below the header need not be.
            parts.append(re.sub("^ +─.*", _shorten_rule, rows, flags=re.MULTILINE))
    parts.append(fill(line(report.notes)))
    trust = report.trust
    if report.trusted:
        lemmas = [fill(f"* {line(lemma)}", subsequent_indent="  ") for lemma in report.trusted]
        trust = "\n".join(["Taken on trust:", *lemmas])
    text = "\n\n".join([*parts, trust])
    # A witness is a line of its own in a cell, at the left margin; it is indented here, so that it
    # is seen to belong to the row above.
    return text.replace("\nwitness: ", f"\n{WITNESS_INDENT}witness: ") + "\n"


def _shorten_rule(rule: re.Match[str]) -> str:
    """Return the rule below a header, which was matched, cut to the length of a line of text."""
    return rule[0][:TEXT_LINE_CHARS]


def to_sheet(report: Report) -> Sheet:
    """Return a sheet for a terminal, in whose width it is laid out: witnesses stand below reasons,
    and files that were not used have a table of their own.
    """
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
    """Return the cells of a row for a terminal: those that name the case, the statement, verdict,
    seconds, and the reason, with the witness on a line of its own below it.
    """
    reason = line(row.reason)
    if row.witness:
        reason += f"\nwitness: {line(row.witness)}"
    seconds = "–"
    if row.seconds is not None:
        seconds = f"{row.seconds:.3f}"
    return (*_case_texts(report, row), line(row.statement), row.verdict, seconds, reason)


def to_markdown(report: Report, documentation: str = "") -> str:
    """Return Markdown: the paragraph, what the statements say, and a table; citations are links.

    ``documentation`` is the address of the site, or its folder as seen from the file; if it is
    empty, citations of pages of the documentation are no links.
    """
    return _document("report.md", report, documentation)


def to_latex(report: Report, documentation: str = "") -> str:
    r"""Return LaTeX for ``\input``: the paragraph, what the statements say, and a ``longtable``.

    The top says what the preamble needs. With ``hyperref``, citations are links, those of pages
    only if ``documentation``, the address of the site, is not empty. Cases are named by their
    numbers, or by their names on several lines where the numbers take too much space.
    """
    # of the columns of numbers together, in characters
    width_of_numbers = _width_of_case_texts(report)
    are_named = report.columns == NAMES or width_of_numbers > MAX_LATEX_NUMBER_CHARS
    # In the template ``by_name`` is whether cases are named by their names, ``of_names`` the share
    # of the line for these, and ``width`` the width of the columns of numbers.
    return _document(
        "report.tex",
        report,
        documentation,
        answer=latex_answer(report, documentation),
        by_name=are_named,
        width=width_of_numbers,
        of_names=_share_of_names(report),
        keep_with_next=keep_with_next(),
    )


def _share_of_names(report: Report) -> float:
    """Return the width of a column with the names of cases, as a share of the line in LaTeX: that
    of the longest name, up to :data:`MAX_LATEX_NAME_SHARE`.
    """
    longest = max((len(case.name) for case in report.cases), default=0)
    # A character takes about 0.0115 of the line.
    return min(0.0115 * longest, MAX_LATEX_NAME_SHARE)


def _document(template: str, report: Report, documentation: str, **more: Any) -> str:
    """Return a report as the template with this file name writes it.

    The template gets the values of :func:`_template_values` and those in ``more``.
    """
    return document(template, _template_values(report, documentation) | more)


def _width_of_case_texts(report: Report) -> int:
    """Return the width, in characters, of the columns that name a case: the sum over these columns
    of the width of the widest cell, headings included.
    """
    lines = [report.headings, *(_case_texts(report, row) for row in report.rows)]
    return sum(max(map(len, column)) for column in zip(*lines, strict=True))


def to_csv(report: Report) -> str:
    """Return lines of comma-separated values: one for each row, then one for each file not used,
    with the verdict ``MALFORMED``.

    The columns are what names the case, statement, verdict, reason and witness, the reported
    figures and versions of programs, the file, and whether the statement is true as printed: yes,
    no, or empty if that is not known or no source prints it.
    """
    names = [option for option, _ in report.columns]
    programs = set(chain.from_iterable(row.reported["versions"] for row in report.rows))
    figures = ["seconds", "peak_memory", *sorted(programs)]
    reported_names = [f"reported_{name}" for name in figures]
    header = [
        *names,
        "statement",
        "verdict",
        "reason",
        "witness",
        *reported_names,
        "file",
        "as_printed",
    ]
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
    return csv_text(_spreadsheet_cells(header), map(_spreadsheet_cells, lines))


def _spreadsheet_cells(values: Iterable[Any]) -> list[Any]:
    """Return values for a spreadsheet: text that is never read as a formula, and numbers, or
    ``None``, as they are.
    """
    return [cell(value) if isinstance(value, str) else value for value in values]


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
