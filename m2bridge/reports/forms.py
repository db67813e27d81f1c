"""A report as text, Markdown, LaTeX, CSV, JSON and HTML.

The page stays usable with tens of thousands of cases because it shows little at a time: the first
rows of the table, the grids of verdicts, the case that is opened. The rest is JSON, deflated, in
base64; the cases in parts of :data:`CASES_IN_A_PART`, each of which is unpacked when one of its
cases is opened.
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
from typing import Any, TypeVar

from m2bridge.engine.script import document, page
from m2bridge.families import family
from m2bridge.reports.content import (
    NAMES,
    VERDICTS,
    Case,
    Cell,
    Detail,
    Report,
    Row,
    crossed,
    verdict_words,
)
from m2bridge.results import markup
from m2bridge.results.markup import csv_text
from m2bridge.results.sheet import Block, Facts, Sheet, Table, table

CASES_IN_A_PART = 100

MARKS = dict(zip(VERDICTS, "✗?!○✓•–", strict=True))
"""One sign for each verdict, so that none is told by its colour alone."""

Thing = TypeVar("Thing", bound=Hashable)


def to_html(report: Report, documentation: str = "") -> str:
    """One self-contained page; cited papers are links, and pages of the documentation if its
    address is given.
    """
    cases = report.by_case()
    sheets = [_case_sheet(rows, details) for rows, details in cases.values()]
    parts = [sheets[i : i + CASES_IN_A_PART] for i in range(0, len(sheets), CASES_IN_A_PART)]
    more = {
        "title": " and ".join(sorted({family(case.family).title for case in cases})),
        "marks": MARKS,
        "table": pack(_page_table(report)),
        "parts": [pack(part) for part in parts],
        "cases_in_a_part": CASES_IN_A_PART,
    }
    return page("report", _values(report, documentation) | more)


def _values(report: Report, documentation: str) -> dict[str, Any]:
    """The values that templates of all forms take."""
    values = {"report": report, "statements": statements(report.rows), "words": verdict_words}
    return values | {"documentation": documentation}


def pack(data: Any) -> str:
    """JSON, deflated, in base64."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode())).decode()


def statements(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each statement its name, its text, where it is stated, all in a sentence, and the numbers
    of verdicts.
    """
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(row.statement, []).append(row)
    paper, found = paper_of(rows), []
    for name, part in sorted(parts.items()):
        text, stated = next(
            ((row.text, row.source) for row in part if row.text or row.source), ("", "")
        )
        source = stated.removeprefix(paper)
        words = {
            "text": text,
            "source": source,
            "sentence": f"{name}: {text}" + (f" ({source})" if source else ""),
        }
        found.append({"statement": name, **words, "counts": Counter(row.verdict for row in part)})
    return found


def paper_of(rows: Iterable[Row]) -> str:
    """Return the citation with which sources of statements begin, if they cite one paper: it is
    shown once.
    """
    papers = {paper[0] for row in rows if (paper := re.match(r".*arXiv [\d.]+, ", row.source))}
    return papers.pop() if len(papers) == 1 else ""


def _page_table(report: Report) -> dict[str, Any]:
    """All rows: cases, statements, verdicts and texts are sorted lists, and a row refers to them by
    numbers.
    """
    cases, rows = report.cases, report.rows
    texts = sorted({text for row in rows for text in (row.reason, row.witness)})
    names = sorted({row.statement for row in rows})
    case = {name: i for i, name in enumerate(cases)}
    statement, verdict, text = (
        {name: i for i, name in enumerate(names)} for names in (names, VERDICTS, texts)
    )
    return {
        "columns": list(report.headings),
        "cases": [(case.name, case.title, report.cells(case)) for case in cases],
        "legends": {name: family(name).orbits for name in sorted({case.family for case in cases})},
        "statements": names,
        "verdicts": VERDICTS,
        "marks": list(MARKS.values()),
        "texts": texts,
        "rows": [
            (
                case[r.case],
                statement[r.statement],
                verdict[r.verdict],
                text[r.reason],
                text[r.witness],
                r.seconds,
            )
            for r in rows
        ],
    }


def _case_sheet(rows: list[Row], details: list[Detail]) -> dict[str, Any]:
    """The sheet that opens with a case; orbits and scripts that several certificates share appear
    once.
    """
    orbits = _shared((detail.orbits, detail.question) for detail in details)
    scripts = _shared((detail.script, detail.question) for detail in details)
    return {
        "verdicts": [
            (row.statement, row.verdict, row.reason, row.witness, row.file) for row in rows
        ],
        "family": rows[0].case.family if rows else "",
        "orbits": [(questions, facts.header, facts.rows) for facts, questions in orbits.items()],
        "scripts": [(questions, text) for text, questions in scripts.items()],
        "trusted": sorted({lemma for detail in details for lemma in detail.trusted}),
    }


def _shared(pairs: Iterable[tuple[Thing | None, str]]) -> dict[Thing, list[str]]:
    """The different things, and the questions that they belong to; what is empty is left out."""
    questions: dict[Thing, list[str]] = {}
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
"""Verdicts that are no answers stand out; none is told by a colour."""


def to_latex_grid(report: Report, documentation: str = "") -> str:
    r"""The grids side by side, as many as fit into a line, for ``\\input``, with links as in
    :func:`to_latex`.

    Cases that are not named by two numbers stand below one another, by their names.
    """
    names = sorted({case.family for case in report.cases})
    parts = [
        replace(report, rows=tuple(row for row in report.rows if row.case.family == name))
        for name in names
    ]
    families = [(part.headings, list(_grids(part))) for part in parts]
    return _document("report_grid.tex", report, documentation, signs=SIGNS, families=families)


def _grids(report: Report) -> Iterator[tuple[str, tuple[Cell, ...], list[tuple[Cell, list[str]]]]]:
    """The second numbers of the cases of each statement, and for each first number the signs beside
    it.
    """
    places: dict[tuple[Cell, Cell], list[Case]] = {}
    for case in report.cases:
        first, second, *_ = *report.cells(case), ""
        places.setdefault((first, second), []).append(case)
    for statement in sorted({row.statement for row in report.rows}):
        verdicts = {row.case: row.verdict for row in report.rows if row.statement == statement}
        signs = {
            place: _signs([verdicts.get(case) for case in cases]) for place, cases in places.items()
        }
        across, lines = crossed({place: sign for place, sign in signs.items() if sign})
        yield statement, across, [(first, [sign or "" for sign in row]) for first, row in lines]


def _signs(verdicts: list[str | None]) -> str:
    """One sign if all are the same, a dot where there is no verdict; nothing if there is none at
    all.
    """
    signs = [r"$\cdot$" if verdict is None else SIGNS[verdict] for verdict in verdicts]
    if not any(verdicts):
        return ""
    return signs[0] if len(set(signs)) == 1 else "".join(signs)


WIDTH = 100
INDENT = " " * 7
MOST_OF_NUMBERS = 20


def _numbers(report: Report, row: Row) -> tuple[str, ...]:
    return tuple(map(str, report.cells(row.case)))


def to_text(report: Report) -> str:
    """For a terminal: the verdicts, the table with each witness on a line of its own, and what they
    rest on.
    """
    tables = [
        table(block.header, block.rows)
        for block in to_sheet(report).blocks
        if isinstance(block, Table)
    ]
    rules = [
        re.sub("^ +─.*", lambda rule: rule[0][:WIDTH], text, flags=re.MULTILINE) for text in tables
    ]
    fill = partial(textwrap.fill, width=WIDTH, break_on_hyphens=False)
    answer, notes = (fill(markup.line(text)) for text in (report.answer, report.notes))
    lemmas = [fill(f"* {markup.line(lemma)}", subsequent_indent="  ") for lemma in report.trusted]
    trust = "\n".join(["Taken on trust:", *lemmas]) if lemmas else report.trust
    text = "\n\n".join([answer, *rules, notes, trust])
    return text.replace("\nwitness: ", f"\n{INDENT}witness: ") + "\n"


def to_sheet(report: Report) -> Sheet:
    """A sheet for a terminal, in whose width it is laid out: witnesses stand below reasons."""
    blocks: list[Block] = [Facts([("summary", markup.line(report.answer))])]
    if report.rows:
        header = (*report.headings, "statement", "verdict", "seconds", "reason")
        blocks.append(Table(header, [_cells_of(report, row) for row in report.rows]))
    if report.problems:
        unused = [
            (markup.line(problem.file), markup.line(problem.reason)) for problem in report.problems
        ]
        blocks.append(Table(("file not used", "reason"), unused))
    trusted = [("taken on trust", markup.line(lemma)) for lemma in report.trusted]
    return Sheet("", [*blocks, Facts([("notes", markup.line(report.notes)), *trusted])])


def _cells_of(report: Report, row: Row) -> tuple[str, ...]:
    """The cells of a row for a terminal."""
    witness = f"\nwitness: {markup.line(row.witness)}" if row.witness else ""
    seconds = "–" if row.seconds is None else f"{row.seconds:.3f}"
    return (
        *_numbers(report, row),
        markup.line(row.statement),
        row.verdict,
        seconds,
        markup.line(row.reason) + witness,
    )


def to_markdown(report: Report, documentation: str = "") -> str:
    """The paragraph, what the statements say, and a table; with links as in :func:`to_html`."""
    return _document("report.md", report, documentation)


def to_latex(report: Report, documentation: str = "") -> str:
    r"""The paragraph, what the statements say, and a ``longtable``, for ``\input``.

    The top says what the preamble needs. With ``hyperref``, citations are links as in
    :func:`to_html`. Cases are named by their numbers, or by their names on several lines where the
    numbers take too much room.
    """
    by_name = report.columns == NAMES or _width(report) > MOST_OF_NUMBERS
    return _document("report.tex", report, documentation, by_name=by_name)


def _document(template: str, report: Report, documentation: str, **more: Any) -> str:
    return document(template, _values(report, documentation) | more)


def _width(report: Report) -> int:
    """The number of signs that the widest numbers take, one column beside the other."""
    lines = [report.headings, *(_numbers(report, row) for row in report.rows)]
    return sum(max(map(len, column)) for column in zip(*lines, strict=True))


def to_csv(report: Report) -> str:
    """One line for each row, then one for each file that was not used, with the verdict
    ``MALFORMED``.
    """
    programs = sorted({name for row in report.rows for name in row.reported["versions"]})
    figures, words = (
        ("seconds", "peak_memory", *programs),
        ("statement", "verdict", "reason", "witness"),
    )
    names = [option for option, _ in report.columns]
    lines: list[list[Any]] = [[*names, *words, *(f"reported_{name}" for name in figures), "file"]]
    for row in report.rows:
        data, reported = row.to_json(), row.reported["versions"] | row.reported
        numbers = (reported.get(name) for name in figures)
        lines.append([*report.cells(row.case), *(data[name] for name in words), *numbers, row.file])
    none, unknown = [""] * len(names), [""] * len(figures)
    lines += [
        [*none, "", "MALFORMED", problem.reason, "", *unknown, problem.file]
        for problem in report.problems
    ]
    header, *rows = [
        [markup.cell(value) if isinstance(value, str) else value for value in line]
        for line in lines
    ]
    return csv_text(header, rows)


def to_json(report: Report) -> str:
    """The numbers of the paragraph, the rows, and the files that were not used."""
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
