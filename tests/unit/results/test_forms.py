"""The forms of results, and markup in them."""

import io
import json
import re
import sys
from dataclasses import dataclass, replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from time import process_time
from typing import Any

import numpy
import pytest
from hypothesis import given, strategies as st

from m2bridge import reports as report, weights
from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.certificates import form as files
from m2bridge.cli import commands
from m2bridge.cli.common import progress
from m2bridge.convert.printing import polynomial_text
from m2bridge.limits import progress_listener, with_progress
from m2bridge.results import formulas, markup, markup as escape, writers
from m2bridge.results.base import Result
from m2bridge.results.sheet import (
    Facts,
    Finding,
    Findings,
    Formula,
    Polynomials,
    Sheet,
    Table,
    enumeration,
    statement_sort_key,
    with_article,
)
from tests.tiers import slow

# A sheet in every form: what it shows is there, nothing is markup that should be text, and nothing
# is too long.

KNOWN = {
    "div",
    "style",
    "p",
    "br",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "ol",
    "li",
    "span",
    "var",
}
SIGNS = r"""<script>alert("x")</script> $x$ \(y\) & 50% #1 _a^b ~ {c} \ ` ' ≤ Λ² é 漢 ﹏"""
NAMES = ("c_1_1_1_2", "x", "λ_2", "c_2_12", "weight")


class Reader(HTMLParser):
    """What a page shows, and which elements are open at its end."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.open, self.names = "", list[str](), set[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def generators(texts: list[str], caption: str = "") -> Polynomials:
    return Polynomials(len(texts), lambda: texts, caption)


def test_a_verdict_stands_once_and_what_it_rests_on_below() -> None:
    finding = Finding("REFUTED", "3.4", "it holds", ("a ground",), ("a remark",))
    lines = Sheet("", [Findings([finding])]).text().splitlines()
    assert lines == [
        "",
        "  REFUTED         3.4: it holds",
        " " * 18 + "→ a ground",
        " " * 18 + "a remark",
    ]


def sheet_of(text: str) -> Sheet:
    """Return a sheet with this text wherever people's words can be."""
    facts = Facts([(text, text), ("absent", None)])
    table = Table((text, "n"), [(text, 1)], text)
    findings = Findings([Finding("REFUTED", text, text, (text,), (text,))])
    return Sheet(text, [facts, table, generators(["x"], text), findings])


WORDS = (SIGNS, "'; DROP", "$$", "\\end{array}", "\\")


@pytest.mark.parametrize("text", WORDS)
def test_words_stay_words(text: str) -> None:
    page = Reader(writers.html(sheet_of(text)))
    assert page.open == []
    assert page.names <= KNOWN
    assert page.text.count(text) == 11


@pytest.mark.parametrize("number", [0, 1, 12, 13, slow(2000)])
def test_long_outputs_fold_and_end(number: int) -> None:
    texts = [f"x**{n} - {n}*c_1_1_1_2" for n in range(1, number + 1)]
    sheet = Sheet(
        "title",
        [generators(texts), Table(("n", "word"), [(n, "word" * 99) for n in range(number)])],
    )
    page = Reader(writers.html(sheet))
    assert len(writers.html(sheet).encode()) <= writers.MAX_PAGE_BYTES
    assert ("details" in page.names) == (number > 12)
    missing = sum(int(found) for found in re.findall(r"(\d+) more are left out", page.text))
    shown = len(re.findall(r"x\d+ − \d+", page.text)) + page.text.count("word" * 99)
    assert shown + missing == 2 * number
    assert len(sheet.text(None).splitlines()) == 1 + number + (3 + number)
    assert len(writers.paper(sheet, None).splitlines()) > 2 * number


@dataclass(frozen=True, slots=True)
class Many(Result):
    """A result with many lines."""

    number: int

    def to_sheet(self) -> Sheet:
        return Sheet("title", [Table(("n",), [(n,) for n in range(self.number)])])

    def to_json(self) -> dict[str, Any]:
        return {}

    def to_macaulay2(self) -> str:
        return ""


@pytest.mark.slow
def test_a_notebook_as_pdf_holds_what_is_short() -> None:
    assert Many(10)._repr_latex_() == Many(10).to_latex()
    assert Many(50_000)._repr_latex_() is None


@pytest.mark.slow
def test_one_polynomial_of_a_megabyte() -> None:
    text = " + ".join(f"c_1_1_1_2**{n}" for n in range(2, 70_000))
    sheet = Sheet("title", [generators([text])])
    assert len(text) > 1_000_000
    page = Reader(writers.html(sheet))
    assert "69998 terms" in page.text
    assert len(writers.html(sheet)) < 10_000
    assert len(writers.paper(sheet)) < 10_000
    assert writers.paper(sheet, None).count("c_{1,1,1,2}") == 69_998
    medium = Reader(writers.html(Sheet("", [generators([text[:3990].rpartition(" + ")[0]])])))
    assert "details" in medium.names


POLYNOMIALS = st.dictionaries(
    st.tuples(*[st.integers(0, 3)] * len(NAMES)),
    st.fractions(max_denominator=9).filter(bool),
    min_size=1,
    max_size=6,
)


@given(POLYNOMIALS)
def test_polynomials_are_read_back_from_html_and_latex(
    terms: dict[tuple[int, ...], object],
) -> None:
    """The markup holds the polynomial itself: indices below, exponents above."""
    ring = PolynomialRing(QQ, NAMES)
    polynomial = ring.sympy_ring.from_dict(
        {monomial: ring.field.domain.convert(c) for monomial, c in terms.items()}
    )
    text = polynomial_text(polynomial)
    page = writers.html(Sheet("", [generators([text])]))
    shown = page.partition('<span class="polynomial">')[2].partition("</span>")[0]
    shown = re.sub(r"<sub>(.*?)</sub>", lambda m: "_" + m[1].replace(",", "_"), shown)
    shown = re.sub(r"<sup>(.*?)</sup>", r"**\1", shown).replace("<var>", "*").replace("</var>", "")
    assert _factors(unescape(shown).replace("−", "-").replace("⁄", "/")) == text
    typed = re.sub(rf"(?<=\d){re.escape(markup.BREAK)}(?=\d)", "", markup.polynomial_latex(text))
    typed = re.sub(r"_\{(.*?)\}", lambda m: "_" + m[1].replace(",", "_"), typed)
    typed = re.sub(r"\^\{(\d+)\}", r"**\1", re.sub(r"\\tfrac\{(\d+)\}\{(\d+)\}", r"\1/\2", typed))
    typed = typed.replace(r"\lambda", "λ").replace(markup.BREAK, " ")
    assert re.sub(r"(?<=\w) (?=\w)", "*", typed) == text


def _factors(shown: str) -> str:
    """Stars stand before all variables: only those between factors remain."""
    return re.sub(r"(^-?|[-+] )\*", r"\1", re.sub(r"(?<=\d) \*", "*", shown)).rstrip()


def test_a_polynomial_whose_first_term_is_long_is_dots_in_latex() -> None:
    long_terms = "*".join(f"x_{i}" for i in range(1000)) + " + y"
    sheet = Sheet("title", [generators([long_terms, "x + y"])])
    text = writers.paper(sheet)
    assert r"$f_{1} = \cdots$ (2 terms)\\" in text
    assert r"$f_{2} = x + y$\\" in text


def test_latex_fits() -> None:
    long_number, long_term = "1" * 100, "*".join(["c_1_1_1_2"] * 20)
    for text in (long_number, long_term):
        assert markup.BREAK in markup.polynomial_latex(text)
    assert markup.polynomial_latex("1/2*c_1_12**2 - x") == r"\tfrac{1}{2} c_{1,12}^{2} - x"
    written = writers.paper(
        Sheet("T", [Facts([("series", Formula("1/(1 - T)", r"\frac{1}{1-T}"))]), Table(["n"], [])])
    )
    assert r"\rule[-2.6ex]{0pt}{6.4ex}$\displaystyle \frac{1}{1-T}$" in written
    wide = [("word " * 30, "a-long-word", 1)]
    assert writers.paper(Sheet("T", [Table(("a", "b", "n"), wide)])).count(r"\linewidth") == 3


def test_long_numbers_take_a_time_linear_in_their_digits() -> None:
    """A search for scripts that began at each digit would take minutes for these."""
    long = "9" * 30_000
    text = f"x = {long} and {long}_k"
    began = process_time()
    written = markup.latex(text)
    assert process_time() - began < 10  # of computing: a hundredth of it is enough
    assert written.replace(markup.BREAK, "") == f"$x = {long}$ and ${long}_{{k}}$"


@pytest.mark.parametrize(
    ("text", "bases"),
    [
        ("12_k", ["12"]),
        ("x^12_k", ["x"]),
        ("A12_k", ["2"]),
        ("1.25^2", ["5"]),
        ("a/7^2", []),
        ("7^2 (8)_i", ["7", ")"]),
    ],
)
def test_the_base_of_scripts(text: str, bases: list[str]) -> None:
    """All digits of a number, or all but the first after what no formula follows."""
    assert [match["base"] for match in formulas.SCRIPTED.finditer(text)] == bases


def test_what_is_no_polynomial_has_no_parts() -> None:
    with pytest.raises(ValueError, match="written out"):
        list(markup.parts("x**y"))


# Words of users and files are words everywhere: no markup, no commands to a terminal.

ACCEPTED = Path(__file__).parents[2] / "certificates" / "accepted"
NASTY = "\x1b]0;owned\x07\x1b[2J \x9b1m \u202e [/b] <b>&lt;</b> =1+1 | $x$ \\input{a}"


class Terminal(io.StringIO):
    """Standard error on a terminal."""

    def isatty(self) -> bool:
        return True


def test_words_of_a_user_are_no_markup_of_the_progress_display(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress("image of [/b] [red]:smile:\x1b]0;owned\x07"):
        pass
    shown = terminal.getvalue()
    assert "[/b] [red]:smile:\\x1b]0;owned\\x07" in re.sub(
        r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown
    ).replace("\n", "")
    assert "\x1b]0;" not in shown


def test_heads_of_weights_are_counted_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    random = numpy.random.default_rng(1)
    arrays = {f"{x}{k}": random.standard_normal((4, 4)) for x in "KQVO" for k in range(3)}
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress("weights"):
        weights(arrays, heads=2)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    # The whole bar is drawn once more before it is removed.
    assert re.search(r"weights ━+ 6 of 6 heads", shown)


def test_nothing_is_counted_where_nobody_sees_it(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("weights"):
        weights(K=[[1, 0]], Q=[[0, 1]], V=[[1, 1]])
    assert capsys.readouterr() == ("", "")


def test_steps_are_told_one_after_the_other() -> None:
    told_of = []
    with progress_listener(lambda *step: told_of.append(step)):
        assert list(with_progress("ab", 2, "letters")) == ["a", "b"]
    list(with_progress("c", 1, "letters"))
    assert told_of == [(0, 2, "letters"), (1, 2, "letters"), (2, 2, "letters")]


@pytest.mark.parametrize("form", report.FORMATS)
def test_what_certificates_trust_commands_no_terminal(form: str, tmp_path: Path) -> None:
    certificate = files.read(ACCEPTED / "d3-dout2-a2-t2-3.4.json")
    files.write(replace(certificate, trusted=[*certificate.trusted, NASTY]).sealed(), tmp_path)
    (tmp_path / f"{NASTY.replace('/', '')}.json").write_text("{}", encoding="utf-8")
    text = report.FORMATS[form](report.collect(tmp_path))
    assert not {"\x1b", "\x07"} & set(text)
    if form != "json":  # which is escaped when it is printed: escapes in it belong to the values
        assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert "<b>" not in text or form not in ("html", "markdown")


def test_marks_of_markdown() -> None:
    assert (
        escape.markdown("a*b_c|<i>&amp;$x$ `y` [z](w)")
        == r"a\*b\_c\|\<i\>\&amp;\$x\$ \`y\` \[z\](w)"
    )
    for text, written in [
        ("- x", r"\- x"),
        ("# x", r"\# x"),
        ("1. x", r"1\. x"),
        ("0.123", "0.123"),
        ("a - b", "a - b"),
    ]:
        assert escape.markdown(text) == written


@pytest.mark.parametrize("sign", "=+-@＝＋－＠")
def test_cells_that_a_spreadsheet_would_compute(sign: str) -> None:
    assert escape.cell(f"{sign}1+1").startswith("'")
    assert escape.cell(f" {sign}1+1") == f" {sign}1+1"


def test_error_messages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = ["--d", "2", "--d-out", "1"]
    for arguments in (
        ["closure", *case, "--field", NASTY],
        ["closure", *case, "--d", "9" * 4000],
        ["closure", *case, "--d", "9" * 5000],
        ["implicitize", NASTY],
        ["membership", *case, "--function", json.dumps({NASTY: 1})],
        [NASTY],
    ):
        monkeypatch.setattr(sys, "argv", ["m2bridge", *arguments])
        assert commands.run() == 2
        said = capsys.readouterr().err
        assert said.removesuffix("\n").isprintable()
        assert len(said) < 1000


def test_long_cells_of_tables_continue_on_the_next_line() -> None:
    generators = ", ".join(f"x_{n}**2 - x_{n + 1}" for n in range(1, 40))
    text = Table(("variety", "dimension"), [(f"V({generators})", 2), ("V(y)", 1)]).text(None)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 120
    assert [line.split()[-1] for line in lines if line.endswith((" 2", " 1"))] == ["2", "1"]
    assert "".join(line.strip() for line in lines).count("x_20**2 - x_21") == 1


@pytest.mark.parametrize(
    ("items", "phrase"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), ("abc", "a, b and c")]
)
def test_an_enumeration_has_one_and(items: list[str], phrase: str) -> None:
    assert enumeration(items) == phrase


def test_the_part_otherwise_is_listed_last() -> None:
    names = ["3.3", "3.2 (zero)", "3.2 (otherwise)", "3.2 (rank one)", "A.4", "3.2"]
    assert sorted(names, key=statement_sort_key) == [
        "3.2",
        "3.2 (rank one)",
        "3.2 (zero)",
        "3.2 (otherwise)",
        "3.3",
        "A.4",
    ]


def test_titles_have_articles_and_formulas_have_none() -> None:
    assert with_article("twisted cubic") == "the twisted cubic"
    assert with_article("V(x*w - y*z)") == "V(x*w - y*z)"


def test_latex_has_the_witness_of_a_verdict() -> None:
    finding = Finding(
        "REFUTED", "3.4 (iii)", "a sentence", ["a reason"], ["witness: A = (1 0; 0 0)"]
    )
    written = writers.paper(Sheet("", [Findings([finding])]))
    assert "a reason; witness: $A = (1\\;0; 0\\;0)$" in written
