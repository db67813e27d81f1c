"""What is written for a paper, compiled by LaTeX: nothing fails, and no line is more than 10 pt too
long. In the preprint every number is printed by the command that is named beside it.

Without pdflatex tests that need it are skipped; with ``M2BRIDGE_TEX=required`` they fail instead.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from m2bridge import closures_of_all_sizes, reports as report
from m2bridge.cli.commands import cli
from m2bridge.families.attention.all_sizes.closures import CORES
from m2bridge.families.attention.ideal.sections import CoreSize
from m2bridge.reports import Report, VerdictRow
from m2bridge.reports.content import VERDICTS, case_of
from m2bridge.results.markup import latex
from m2bridge.results.sheet import Sheet, Table
from m2bridge.results.writers import paper
from tests.certificates import COMPLETE
from tests.events import PATIENCE
from tests.unit.results.test_forms import WORDS, sheet_of

pytestmark = pytest.mark.slow

CERTIFICATES = Path(__file__).parents[1] / "certificates" / "accepted"
EXAMPLES = Path(__file__).parents[2] / "examples"
TOO_LONG = 10
"""Points."""

COMMANDS = (
    "closure --d 2 --d-out 1",
    "closure --d 2 --d-out 2 --all",
    "dimension --d 2 --d-out 2 --method all",
    "singular-locus --d 3 --d-out 2",
    "singular-locus --d 2 --d-out 1 --ideals --all",
    "cross-check --d 3 --d-out 2 --a 2",
    "cross-check hilbert --d 2 --d-out 1",
    "cross-check --all-sizes",
    "membership --d 2 --d-out 1 --function {}",
    'membership --d 2 --d-out 1 --function \'{"c_1_1_1_1": 1, "c_1_1_2_2": "1/3"}\'',
    f"implicitize {EXAMPLES / 'grassmannian.toml'} --all",
    f"singular-locus --map {EXAMPLES / 'whitney_umbrella.toml'} --ideals",
    f"singular-locus --ideal {EXAMPLES / 'ideals' / 'whitney_umbrella.toml'} --all",
    "closure --d 3 --d-out 2 --max-degree 3",
    "closure --family polynomial-network --widths 2,2,3 --all",
    "cross-check --family polynomial-network --widths 3,2,1",
    "dimension --family deep-attention --widths 3,3,3 --a 1,2",
    "cross-check --family deep-attention --widths 2,2,2 --a 2 --skip skip",
    "cross-check --family deep-attention --all-sizes",
)

Compile = Callable[..., list[str]]


@pytest.fixture
def compiled(tmp_path: Path) -> Compile:
    """Compiles the body of an article; what the log says of lines that are too long, and of the
    pages.
    """
    if shutil.which("pdflatex") is None:
        reason = (
            "pdflatex is not on PATH: apt-get install texlive-latex-base texlive-latex-recommended"
        )
        if os.environ.get("M2BRIDGE_TEX") == "required":
            pytest.fail(f"M2BRIDGE_TEX=required, but: {reason}")
        pytest.skip(reason)

    def compile(body: str, preamble: str = "") -> list[str]:
        packages = (
            r"\usepackage[T1]{fontenc}\usepackage{amsmath,amssymb,array,longtable}" + preamble
        )
        whole = f"\\documentclass{{article}}{packages}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
        (tmp_path / "paper.tex").write_text(whole, encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=False
        )
        said = done.stdout.decode(errors="replace")
        assert done.returncode == 0, said[-2000:]
        long = [line for line in said.splitlines() if _excess(line) > TOO_LONG]
        return [*long, *re.findall(r"\((\d+) pages?", said.replace("\n", ""))]

    return compile


def _excess(line: str) -> float:
    found = re.search(r"Overfull \\hbox \(([0-9.]+)pt too wide", line)
    return float(found[1]) if found else 0


def test_a_line_that_is_too_long_is_found(compiled: Compile) -> None:
    long, _ = compiled(r"\noindent$\mbox{" + "x" * 200 + "}$")
    assert "Overfull" in long


SIGNS = r"xyAV12(){}[]_^'’ ,.;:|~=≤≥−·→ᵀ²⁻√Σ∞αδ/*+<>\$%#&"


def test_whatever_looks_like_a_formula_is_compiled(compiled: Compile) -> None:
    random = Random(1)
    texts = ["x^2ᵀ", "x'²'", "x_1_2^3^4", "a_{b_{c}}", "√((x)", "f(x_1, {y)}", "(A)²'^2"]
    texts += ["".join(random.choices(SIGNS, k=random.randint(2, 14))) for _ in range(3000)]
    assert compiled("\n\n".join(map(latex, texts)), r"\sloppy")


def test_words_stay_words(compiled: Compile) -> None:
    """None is a command that fails."""
    assert compiled("\n".join(paper(sheet_of(text)) for text in WORDS))


@pytest.mark.usefixtures("one_session")
def test_every_command(compiled: Compile, m2: str) -> None:
    bodies = []
    for command in COMMANDS:
        words = [*shlex.split(command), "--format", "latex", "--m2", m2]
        done = CliRunner().invoke(cli, words, standalone_mode=False)
        assert done.exception is None, (command, done.output)
        bodies.append(done.output)
    assert len(compiled("\n".join(bodies))) == 1


def test_no_heading_is_alone_at_the_end_of_a_page(compiled: Compile, tmp_path: Path) -> None:
    """Wherever on a page a result begins, captions stand above the first row of their tables."""
    rows = [("first row", 1), ("second row", 2), ("third row", 3)]
    text = paper(Sheet("A result", [Table(("name", "value"), rows, caption="The caption")]))
    offsets = range(300, 600, 6)
    pages = []
    for points in offsets:
        named = text.replace("The caption", rf"The caption\label{{caption{points}}}")
        named = named.replace("first row", rf"first row\label{{row{points}}}")
        pages.append(rf"\clearpage\vspace*{{{points}pt}}{{}}" + "\n\n" + named)
    compiled("\n".join(pages))
    labels = (tmp_path / "paper.aux").read_text(encoding="utf-8")
    page_of = dict(re.findall(r"\\newlabel\{(\w+)\}\{\{[^}]*\}\{(\d+)\}", labels))
    assert max(map(int, page_of.values())) > len(offsets)  # some begin at the end of a page
    assert all(page_of[f"caption{points}"] == page_of[f"row{points}"] for points in offsets)


@pytest.mark.parametrize("preamble", ["", r"\usepackage{hyperref}"])
def test_reports(preamble: str, compiled: Compile) -> None:
    """With the package hyperref citations are links, without it text."""
    reports = [report.collect(CERTIFICATES.parent / folder) for folder in COMPLETE]
    forms = [
        report.LINKED[form](whole, "../site 1/50%#")
        for whole in reports
        for form in ("latex", "latex-grid")
    ]
    assert len(compiled("\n".join(forms), preamble)) == 1


def grid_report(largest: int) -> Report:
    """Every statement that the samples are about, for all d, d' up to a bound and all a, with all
    verdicts in turn.
    """
    statements = sorted({row.statement for row in report.collect(CERTIFICATES).rows})
    reported = {"versions": {}, "seconds": 0.1, "peak_memory": None}
    cases = [
        case_of("attention", {"d": d, "d_out": d_out, "a": a, "t": 2})
        for d, d_out in product(range(1, largest + 1), repeat=2)
        for a in range(1, d + 1)
    ]
    rows = [
        VerdictRow(
            case=case,
            question=statement,
            statement=statement,
            text="",
            verdict=VERDICTS[(i * j) % len(VERDICTS)],
            reason="",
            witness="",
            reported=reported,
            file="file",
        )
        for i, case in enumerate(cases)
        for j, statement in enumerate(statements)
    ]
    return Report(tuple(rows), (), ())


def test_the_table_to_publish_takes_two_pages(compiled: Compile) -> None:
    """For d, d' ≤ 5, where nearly no cell has one verdict for all a."""
    assert compiled(report.FORMATS["latex-grid"](grid_report(5))) in (["1"], ["2"])


# The preprint.

PAPER = Path(__file__).parents[2] / "paper"
COMPUTED = re.compile(r"\\computed\{((?:[^{}]|\{[^{}]*\})*)\}\{m2bridge ([^{}]*)\}")
NAMED = re.compile(r"`m2bridge ([^`]*)`")


def numbers() -> dict[str, set[str]]:
    """Return what each command has to print: numbers of the preprint, and of the sentence before it
    in the paper.
    """
    printed: dict[str, set[str]] = {}
    for words, command in COMPUTED.findall((PAPER / "preprint.tex").read_text(encoding="utf-8")):
        number = words.replace("$", "").replace("\\le", "≤").replace("  ", " ")
        printed.setdefault(command, set()).update(number.split(" + "))
    text = (PAPER / "paper.md").read_text(encoding="utf-8")
    for item in re.findall(r"^\* .*(?:\n  .*)*", text, re.MULTILINE):
        end = 0
        for match in NAMED.finditer(item):
            sentence = re.sub(r"(Eq\.|Theorem|Conjecture) [\d.]+", "", item[end : match.start()])
            printed.setdefault(match[1], set()).update(re.findall(r"\b\d{2,}\b", sentence))
            end = match.end()
    return printed


def test_the_paper_names_commands_with_numbers() -> None:
    assert sum(bool(words) for words in numbers().values()) >= 6


def test_theorems_of_the_preprint_have_the_hypotheses_of_their_proofs() -> None:
    """Ranks of values that there are, widths above one for blocks, and what upper bounds for
    tangents rest on.
    """
    text = (PAPER / "preprint.tex").read_text(encoding="utf-8")
    heads = text[text.index("\\section{Several heads}") : text.index("\\label{heads}")]
    assert r"\beta_k \le \min(d_{k-1}, d_k)" in heads
    block = text[
        text.index("\\section{One block decides}") : text.index("\\section{Several heads}")
    ]
    assert r"Let $n \ge 2$ and $r_k \ge 2$ for all $k \le l$" in block
    assert r"l - \nu" not in block
    stated = text.index("\\label{low-degree}")
    assert (
        "minors of size $\\alpha + 1$ generate" in text[stated : text.index("\\end{proof}", stated)]
    )
    page = (PAPER.parent / "docs" / "completeness.md").read_text(encoding="utf-8")
    assert ":label: proposition-low-degree\n" in page


def test_no_sentence_of_the_preprint_has_another_number() -> None:
    """But for those of theorems, indices, and sizes of a case."""
    text = (PAPER / "preprint.tex").read_text(encoding="utf-8").partition("\\section")[2]
    text = COMPUTED.sub("", text.partition("\\begin{thebibliography}")[0])
    text = re.sub(r"(?s)\\begin\{tabular\}.*?\\end\{tabular\}|\[[\d, ]+\]", "", text)
    text = re.sub(
        r"(Eq\.|Theorem|Conjecture|Proposition)~[A-Z\d.]+|_\{\d+\}|= \d+|\\\w+\{[^{}]*\}", "", text
    )
    assert re.findall(r".{0,40}\b\d{2,}\b.*", text) == []


Line = dict[tuple[int, int], set[tuple[str, ...]]]


def lines_of_generators(text: str, line: str) -> Line:
    """Return the theorem on generators: representations by min(a, d) and degree, which these lines
    name.
    """
    lines: Line = {}
    least = 0
    for first, degree, cells in re.findall(line, text, re.MULTILINE):
        least = int(first or least)
        lines[least, int(degree)] = set(re.findall(r"\[(\d+), (\d+), (\d+)\]", cells))
    return lines


def test_the_theorem_on_generators() -> None:
    """In the preprint and on the site it is the same; small cores are computed."""
    preprint, page = PAPER / "preprint.tex", PAPER.parent / "docs" / "representations.md"
    lines = lines_of_generators(
        preprint.read_text(encoding="utf-8"), r"^ ?(\d?) &.*& (\d) & (.*\].*)$"
    )
    listed = page.read_text(encoding="utf-8")
    assert lines == lines_of_generators(listed, r"^(?:(\d)\. If.*\n)? +\* \$n = (\d)\$: (.*)$")
    assert len(lines) == 11
    for core in [core for core in CORES if core.variables * core.columns * core.rows < 12]:
        [found] = closures_of_all_sizes((core,)).to_json()["closures"]
        computed: Line = {}
        for part in found["representations"]:
            assert part["multiplicity"] == 1
            types = computed.setdefault((core.columns, part["degree"]), set())
            types.add(tuple("".join(map(str, part[space])) for space in "XHY"))
        size = product(range(1, 6), repeat=3)
        for d, d_out, a in (size for size in size if core_size(*size) == core):
            for degree in range(2, 7):
                stated, shown = (
                    {rows for rows in of.get((core.columns, degree), ()) if fits(rows, d, d_out)}
                    for of in (lines, computed)
                )
                assert stated == shown, (d, d_out, a, degree)


def core_size(d: int, d_out: int, a: int) -> CoreSize:
    """Return the core of these sizes."""
    columns, rows = min(a, d), min(d_out, d)
    return CoreSize(min(d, columns + rows), columns, rows)


def fits(rows: tuple[str, ...], d: int, d_out: int) -> bool:
    """Whether partitions have at most as many rows as their spaces have dimensions."""
    return all(len(partition) <= size for partition, size in zip(rows, (d, d_out, d), strict=True))


@pytest.mark.engine
@pytest.mark.parametrize("command", sorted(numbers()))
@pytest.mark.usefixtures("one_session")
def test_each_number_is_printed_by_its_command(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(PAPER / "symmetric.m2", tmp_path)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, shlex.split(command))
    assert result.exit_code in (0, 1), result.output
    for words in numbers()[command]:
        assert re.search(rf"(?<![0-9]){re.escape(words)}(?![0-9])", result.output), (
            words,
            result.output,
        )


def test_the_preprint_compiles(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        reason = (
            "pdflatex is not on PATH: apt-get install texlive-latex-base texlive-latex-recommended"
        )
        pytest.fail(reason) if os.environ.get("M2BRIDGE_TEX") == "required" else pytest.skip(reason)
    command = [
        "pdflatex",
        "-interaction=nonstopmode",
        "-halt-on-error",
        f"-output-directory={tmp_path}",
        "preprint.tex",
    ]
    for _ in range(2):
        run = subprocess.run(
            command,
            cwd=PAPER,  # where its figure is
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        assert run.returncode == 0, run.stdout[-2000:]
    assert not re.search(r"undefined|multiply defined|Overfull \\hbox \(([1-9]\d)", run.stdout)
    pages = re.search(r"Output written on .*\((\d+) pages", run.stdout.replace("\n", ""))
    assert pages is not None
    assert 10 <= int(pages[1]) <= 21
