"""Formulas in running text, in print and on the site; and how print cites the documentation."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from m2bridge import reports
from m2bridge.results.formulas import pieces
from m2bridge.results.markup import cited_titles, latex, references
from tests.certificates import COMPLETE

ROOT = Path(__file__).parents[2]
CERTIFICATES = ROOT / "tests" / "certificates"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("dimension α(2d − α) − 1", r"dimension $\alpha (2d - \alpha ) - 1$"),
        ("d_{k−1} and x^2", r"$d_{k-1}$ and $x^{2}$"),
        ("degree C(n + 1, n)", r"degree $\binom{n + 1}{n}$"),
        (
            "C(C(n, 2), 2)·C(f(n, k), 1)",
            r"$\binom{\binom{n}{2}}{2}\cdot \binom{f(n,\allowbreak{} k)}{1}$",
        ),
        (
            "δ = Σ (−1)^j C(n, j) ∫ c_j(N) H^(n−j)",
            r"$\delta = \sum (-1)^{j} \binom{n}{j} \int c_{j}(N) H^{n-j}$",
        ),
        ("Σ_k α_k(2d − α_k) (Eq. 16)", r"$\sum _{k} \alpha _{k}(2d - \alpha _{k})$ (Eq. 16)"),
        ("K[D_α]_n·C(n, 2)", r"$K[D_{\alpha }]_{n}\cdot \binom{n}{2}$"),
        (
            "s_k = dim S_(n−k, 1^k)",
            r"$s_{k} = \mathop{\mathrm{dim}}\penalty500 S_{n-k,\allowbreak{} 1^{k}}$",
        ),
        ("with D_red as in", r"with $D_{\mathrm{red}}$ as in"),
        ("scales A against V in a layer", "scales $A$ against $V$ in a layer"),
        ("Proposition 2.5 (c)", "Proposition 2.5 (c)"),
        ("(V: the dimension", "(V: the dimension"),
        ("from A and V, for a head", "from $A$ and $V$, for a head"),
        ("keys of dimension a, a number", "keys of dimension $a$, a number"),
        ("read ('m2bridge verify -h')", r"read (\texttt{m2bridge verify {-}h})"),
        ("the rank of A, for a matrix c", "the rank of $A$, for a matrix $c$"),
        ("A = (1 0; 0 1)", r"$A = (1\;0; 0\;1)$"),
        ("A matrix of J. Algebra 93", "A matrix of J. Algebra 93"),
        ("Theorem S of m2bridge", "Theorem S of m2bridge"),
        ("3.4 (iii)", "3.4 (iii)"),
        ("d", "$d$"),
        ("true for all d, d', a", "true for all $d$, $d'$, $a$"),
    ],
)
def test_formulas_in_words(text: str, written: str) -> None:
    assert latex(text) == written


@pytest.mark.parametrize(
    "text", [r"f(\input{x}, y) = 1", "f($x$, y) = 1", "f(x%, y) = 1", "f(x#1, y) = 1"]
)
def test_what_may_be_a_command_is_no_formula(text: str) -> None:
    written = latex(text)
    assert not re.search(r"(?<!\\)[%#]|\\input|(?<!\\)\$\S*(?<!\\)\$\S*\$", written)


def test_two_exponents_of_one_letter_are_no_formula() -> None:
    assert "}^{" not in latex("x^2ᵀ = y")


def test_titles_are_those_of_the_documentation() -> None:
    found = {}
    pages, places = cited_titles()["pages"], cited_titles()["places"]
    for name, title in pages.items():
        page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        assert re.search(r"^# (.+)$", page, re.MULTILINE)[1] == title
        for kind, words, label in re.findall(r"\{prf:(\w+)\} (.+)\n:label: ([\w-]+)", page):
            found[label] = f"{kind.capitalize()} “{words}”"
        for label, words in re.findall(r"^\(([\w-]+)\)=\n#+ (.+)$", page, re.MULTILINE):
            found[label] = f"section “{words}”"
    assert {label: found[label] for label in places} == places


def test_what_is_no_pair_is_no_binomial_coefficient() -> None:
    assert latex("C(n) = C(a, b, c)") == r"$C(n) = C(a,\allowbreak{} b,\allowbreak{} c)$"


@pytest.mark.parametrize("path", sorted(ROOT.glob("m2bridge/families/**/words.toml")), ids=str)
def test_words_of_statements_have_no_formula_outside_of_mathematics(path: Path) -> None:
    for sentence in strings(words_of(path)):
        if " " in sentence and not re.search(" (and|not) .*=", sentence):  # conditions for isl
            written = re.sub(r"\$[^$]*\$|\\texttt\{[^}]*\}", "", latex(sentence))
            assert not re.search(r"ensuremath\{(?!\\mapsto)|textasciicircum|\bC\(", written), (
                written
            )


def test_formulas_of_statements_are_those_that_a_person_has_read(
    request: pytest.FixtureRequest,
) -> None:
    """``formulas.tsv`` has the LaTeX of each formula in the words; ``--update-golden`` writes it,
    and the difference is to be read.
    """
    found = formulas_of_words()
    table = Path(__file__).with_name("formulas.tsv")
    if request.config.getoption("--update-golden"):
        lines = [f"{formula}\t{found[formula]}\n" for formula in sorted(found)]
        table.write_text("".join(lines), encoding="utf-8")
    assert found == those_that_a_person_has_read()


def formulas_of_words() -> dict[str, str]:
    """The LaTeX of each formula in the words of statements."""
    found = {}
    for path in ROOT.glob("m2bridge/families/**/words.toml"):
        for sentence in strings(words_of(path)):
            for part, is_formula in pieces(sentence):
                if is_formula:
                    found[part] = latex(part)
    return found


def those_that_a_person_has_read() -> dict[str, str]:
    lines = Path(__file__).with_name("formulas.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def unread() -> set[str]:
    """The formulas that the table does not have."""
    return formulas_of_words().keys() - those_that_a_person_has_read().keys()


def words_of(path: Path) -> dict[str, Any]:
    """A file of words without the formulas for programs beside them."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    content.pop("conditions", None)
    for statement in (*content.get("statements", ()), *content.get("former", ())):
        for formula in ("orbits", "value", "each_layer"):
            statement.pop(formula, None)
    return content


def strings(value: object) -> Iterator[str]:
    """All texts in a table of TOML."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


@pytest.mark.parametrize("folder", COMPLETE)
def test_print_names_no_file_of_the_documentation(folder: str) -> None:
    report = reports.collect(CERTIFICATES / folder)
    assert any("docs/" in lemma for lemma in report.trusted)
    written = reports.LINKED["latex"](report, "")
    assert "docs/" not in written
    assert r"\caption{Verdicts}" in written
    assert written.index(r"\providecommand{\binom}") < written.index(r"\begin{itemize}")
    assert written.index("Taken on trust") > written.index(r"\end{longtable}")


def test_print_says_where_the_documentation_is() -> None:
    report = reports.collect(CERTIFICATES / "accepted")
    assert "https://example.org/docs" in reports.LINKED["latex"](report, "https://example.org/docs")


@pytest.mark.parametrize("form", ["latex", "latex-grid"])
def test_print_has_one_form_for_names_of_statements(form: str) -> None:
    written = reports.LINKED[form](reports.collect(CERTIFICATES / "deep"), "")
    assert "3.8, L, S, V, closed, fibre, heads, skip. The certificates were read" in written
    assert r"\item V: For all widths" in written or form == "latex-grid"


# Formulas of the site: where their lines end, and how they are spelled.

EXTENSIONS = ROOT / "docs" / "_ext"


def extension(name: str) -> ModuleType:
    """An extension of the site, which needs what the extra ``docs`` installs."""
    pytest.importorskip("sphinx")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXTENSIONS)
        return import_module(name)


@pytest.fixture(scope="module")
def mathml() -> ModuleType:
    pytest.importorskip("latex2mathml")
    return extension("mathml")


def test_letters_in_other_fonts_are_in_braces() -> None:
    """Without braces the site shows them as letters of the usual font."""
    without = []
    for page in (ROOT / "docs").rglob("*.md"):
        letters = re.findall(r"\\math(?:bb|bf|cal|frak|rm|sf) \w", page.read_text(encoding="utf-8"))
        without += [(page.name, letter) for letter in letters]
    assert without == []


@pytest.mark.parametrize(
    ("formula", "parts"),
    [
        (r"a = b + c", [r"a = b + c"]),
        (
            r"c - \kappa = (\alpha - 1)^2 + (d - 1)(d' - 1) > 0",
            [r"c - \kappa =", r" (\alpha - 1)^2 +", r" (d - 1)(d' - 1) > 0"],
        ),
        (r"\left(a + b + c = d + e + f + g + h + i + j + k + l\right)", None),
        (r"\begin{cases} a + b + c & d + e + f + g \\ h + i & j + k \end{cases}", None),
        (r"S^+ T^- x^{a+b+c+d+e+f} y z u v w S^+ T^- x^+ x^-", None),
    ],
)
def test_long_formulas_of_running_text_may_end_a_line_after_a_sign(
    formula: str, parts: list[str] | None, mathml: ModuleType
) -> None:
    assert mathml.lines(formula) == (parts or [formula])


def test_letters_of_words_are_variables(mathml: ModuleType) -> None:
    parts = mathml.with_letters([("over Y, and H is", False), ("a = b", True)])
    assert [part for part, is_formula in parts if is_formula] == ["Y", "H", "a = b"]


def written(formula: str, mathml: ModuleType) -> str:
    """The MathML of a formula of running text."""

    class Translator:
        body: list[str] = []  # noqa: RUF012

    with pytest.raises(mathml.nodes.SkipNode):
        mathml.formula(Translator, mathml.nodes.math("", formula))
    return Translator.body[-1]


def test_parentheses_of_a_binomial_coefficient_are_as_high_as_it_is(mathml: ModuleType) -> None:
    found = written(r"\binom{n}{k}", mathml)
    assert "minsize" not in found
    assert "<mrow><mo>&#x00028;</mo><mfrac" in found


@pytest.mark.parametrize(
    ("formula", "part"),
    [
        (r"u_1, \dots, u_d", "<mi>&#x02026;</mi>"),
        (r"q'^\top", "<mi>&#x02032;</mi><mi>&#x022A4;</mi>"),
        (r"(x_1 \dots x_t)", "</msub><mspace width='0.17em'/><mi>&#x02026;</mi><mspace"),
        (r"V/\lambda", "<mo lspace='0' rspace='0' stretchy='false'>&#x0002F;</mo>"),
        (r"(|y|^2)", "</mo><mo lspace='0' rspace='0' stretchy='false'>&#x0007C;</mo><mi>y"),
        (r"d \operatorname{rk} K", "<mi>d</mi><mspace width='0.17em'/><mi>rk</mi><mspace"),
        (r"2\|A\|", "<mn>2</mn><mo lspace='0' rspace='0' stretchy='false'>&#x02016;</mo>"),
        (r"2\min_i x", "<mn>2</mn><mspace width='0.17em'/><msub><mi>min</mi><mi>i</mi></msub>"),
        (r"\operatorname{Tor}_i^R(N)", "<msubsup><mi>Tor</mi><mi>i</mi><mi>R</mi></msubsup>"),
        (r"\le +1", "<mo lspace='0'>&#x02264;</mo><mo form='prefix'>&#x0002B;</mo>"),
        (r"x_\max", "<msub><mi>x</mi><mi>max</mi></msub>"),
        (r"\bigl(x\bigr)", "<mo stretchy='false' mathsize='120%'>(</mo>"),
        (r"(\det T)", "<mi>det</mi><mspace width='0.17em'/><mi>T</mi>"),
        (r"c^{-2} \det T", "</msup><mspace width='0.17em'/><mi>det</mi>"),
        (r"u \bmod n", "<mi>u</mi><mspace width='0.17em'/><mi>mod</mi><mspace width='0.17em'/>"),
    ],
)
def test_signs_have_the_space_that_they_have_in_print(
    formula: str, part: str, mathml: ModuleType
) -> None:
    assert part in written(formula, mathml)


def test_a_letter_at_the_end_or_the_beginning_of_a_line_is_one_of_its_sentence(
    mathml: ModuleType,
) -> None:
    nodes = mathml.nodes
    lines = ["at most 1500 points, a", "\n", "number; a row of", "\n", "V and of W."]
    paragraph = nodes.paragraph("", "", *map(nodes.Text, lines))
    document = import_module("docutils.utils").new_document("page")
    document += paragraph
    mathml.join_lines(document)
    assert document.astext() == "".join(lines)
    assert [text.parent for text in document.findall(nodes.Text)] == [paragraph]
    found = list(mathml.with_letters([(document.astext(), False)]))
    assert [part for part, is_letter in found if is_letter] == ["V", "W"]


def test_a_comma_stays_with_the_formula_before_it_and_no_other_is_lost(mathml: ModuleType) -> None:
    nodes = mathml.nodes
    literals = [nodes.literal("", name) for name in ("--query", "--key", "--value")]
    paragraph = nodes.paragraph("", "", literals[0], nodes.Text(", "), literals[1])
    paragraph += [nodes.Text(", "), literals[2], nodes.Text(" and ")]
    paragraph += [nodes.math("", "Q"), nodes.Text(", "), nodes.math("", "K"), nodes.Text(", V")]
    document = import_module("docutils.utils").new_document("page")
    document += paragraph
    before = document.astext()

    class App:
        class env:
            docname = "page"

        class config:
            pages_without_terms = ("page",)

    mathml.typeset(App, document)
    assert document.astext() == before
    together = [node.astext() for node in document.findall(nodes.inline)]
    assert together == ["Q,", "K,"]


def test_no_line_ends_between_a_parenthesis_and_its_formula(mathml: ModuleType) -> None:
    nodes = mathml.nodes
    paragraph = nodes.paragraph("", "", nodes.Text("points ("), nodes.math("", "a"))
    paragraph += [nodes.Text(" or "), nodes.math("", "b"), nodes.Text(") are")]
    before = paragraph.astext()
    for formula in list(paragraph.findall(nodes.math)):
        mathml.keep_together(formula)
    assert paragraph.astext() == before
    assert [node.astext() for node in paragraph.findall(nodes.inline)] == ["(a", "b)"]


def test_words_that_name_a_page_by_its_file_lead_to_it() -> None:
    cited = extension("cited_pages")
    nodes = cited.nodes
    words = "D of docs/deep-attention.md. See docs/tutorials/none.md, docs/weights.md"
    paragraph = nodes.paragraph("", "", nodes.Text(words), nodes.literal("", "docs/weights.md"))
    document = import_module("docutils.utils").new_document("page")
    document += paragraph

    class App:
        class env:
            docname = "statements"
            found_docs = ("deep-attention", "weights")

    cited.link(App, document)
    links = list(document.findall(cited.addnodes.pending_xref))
    assert [link["reftarget"] for link in links] == ["/deep-attention", "/weights"]
    left = "D of deep-attention. See docs/tutorials/none.md, weightsdocs/weights.md"
    assert document.astext() == left


def test_long_defaults_are_left_out_of_signatures() -> None:
    def function(sizes: tuple[int, ...] = tuple(range(40)), most: int = 3) -> None: ...

    extension("reference_pages").shorten(None, function, False)
    shown = str(inspect.signature(function))
    assert shown == "(sizes: 'tuple[int, ...]' = ..., most: 'int' = 3) -> 'None'"


def test_sentences_go_on_below_and_commands_with_their_comments_stay_on_a_line() -> None:
    fold = extension("console").fold
    command = (
        "m2bridge figure 1 --elevation 35 --azimuth 20 --out figure1.pdf  # from another angle"
    )
    assert fold(f"{command} above the plane") == f"{command} above the plane"
    words = (
        "agreement     fibres and ranks agree on all orbits, and so do the ideals of both of them"
    )
    assert re.search(r"\n {14}\S", fold(f"{words}, each"))
    title = "Cross-check of the neuromanifold of lightning self-attention, (d, d', a) = (2, 1, 2), t = 2"
    assert fold(f"{title}, over QQ").endswith("\nt = 2, over QQ")
    times = "computed by   exact ranks (FLINT), singular values (NumPy), and other things; less than 0.1 s"
    assert fold(times).endswith(" 0.1 s")
    first = "Verdicts: " + 6 * "3 confirmed, " + "14 not"
    assert len(first) == 94
    paragraph = [first, "applicable; 12 cases.", "", "  a  b"]
    joined = extension("console").joined(paragraph)
    assert joined == [f"{first} applicable; 12 cases.", "", "  a  b"]
    for printed in ([first, "12 cases"], [f"{first} applicable, 12 cases", "REFUTED"]):
        assert extension("console").joined(printed) == printed
    commands = [
        f"m2bridge certify --widths {'1..4,' * 15}1 --out networks/",
        "m2bridge verify networks/",
    ]
    assert extension("console").joined(commands) == commands
    assert [fold(command) for command in commands] == commands


def shown(*elements: tuple[str, str, str]) -> str:
    """The text of a page of these elements: name of docutils, text, and language if it has one."""
    console = extension("console")
    document = import_module("docutils.utils").new_document("page")
    for name, text, language in elements:
        document += getattr(console.nodes, name)(text, text, language=language)
    console.shown(None, document)
    return document.astext()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("on two cores, in the core", 21),
        ("a batch runs on all cores", None),
        ("the 16 cores", 7),
        ("exposed-cores and cores", 18),
    ],
)
def test_words_are_linked_to_the_glossary_where_they_have_its_meaning(
    text: str, place: int | None
) -> None:
    module = extension("first_use")
    app = SimpleNamespace(srcdir=ROOT / "docs")
    found = module.first_use(module.terms(app)["core"], text)
    assert (None if found is None else found.start()) == place


@pytest.mark.parametrize("language", ["pycon", "python", "doctest"])
def test_wide_blocks_of_python_keep_their_lines(language: str) -> None:
    session = f">>> f({'1, ' * 30}2)\n>>> 1 + 1\n2"
    assert shown(("literal_block", session, language)) == session


def test_no_line_ends_between_a_number_and_its_unit() -> None:
    elements = ("paragraph", "1.01 s, 81 MB", ""), ("literal_block", "sleep 2 s", "sh")
    assert shown(*elements) == "1.01\xa0s, 81\xa0MB\n\nsleep 2 s"


def test_the_last_column_of_a_table_is_folded_and_wide_blocks_are_named() -> None:
    console = extension("console")
    row = "  3  2  2   3.4 (iii)   REFUTED       singular: computed yes, stated no at orbit (1, 2, 0); they"
    folded = console.fold(f"{row} differ on the orbits (1, 2, 0), (1, 2, 1)")
    first, *others = folded.splitlines()
    assert first.startswith("  3  2  2   3.4 (iii)   REFUTED       singular: computed yes")
    assert others
    assert all(line.startswith(" " * 38) and line[38] != " " for line in others)
    assert all(len(line) <= console.WIDTH for line in folded.splitlines())
    assert len(console.fold("  ───   " + "─" * 200)) == console.WIDTH
    rule = "   ".join(["─" * 9] * 10)
    assert console.fold(rule) == rule
    numbers = "   ".join(f"{n}.125" for n in range(10, 24))
    assert console.fold(numbers) == numbers
    assert console.width_classes(numbers) == ["wide"]
    assert console.width_classes("x" * 200) == ["wide", "wrapped"]
    assert console.width_classes("x" * console.WIDTH) == []


def test_theorems_have_names_and_no_numbers() -> None:
    theorems = extension("named_theorems")
    source = [
        "```{prf:lemma} Biases\n:label: lemma-biases\n\nWords.\n```\n```{prf:proof}\nIt is.\n```\n"
    ]
    theorems.without_number(None, "page", source)
    assert source[0].count(":nonumber:") == 1
    assert ":label: lemma-biases\n:nonumber:\n\nWords." in source[0]
    names = theorems.names()
    assert names["theorem-L"] == "Theorem L"
    assert names["theorem-fibres"] == "Theorem “Fibres for all sizes”"


def test_what_is_typed_is_code_in_the_help_of_commands() -> None:
    help_ = extension("plain_help")
    line = 'polynomials such as \'x^2 - y^2*z, x*y\', or variables = ["x", "y"]; don\'t take * out.'
    shown = help_.as_typed(line, help_.MARKUP)
    assert shown.startswith("polynomials such as ``'x^2 - y^2*z, x*y'``, or ``variables = [")
    assert shown.endswith("don't take \\* out.")
    lines = ["Example: m2bridge ideal 'x*y'", "(0 with --exit-zero), (https://…, or a_ path)"]
    help_.escaped(None, None, lines)
    assert lines == [
        "Example: ``m2bridge ideal 'x*y'``",
        "(0 with ``--exit-zero``), (``https://…``, or a\\_ path)",
    ]
    options = [".. option:: --retry <retry>", "    As --timeout.", "    :default: ``a*``"]
    help_.without_emphasis(None, None, options)
    assert options == [options[0], "    As ``--timeout``.", options[2]]
    required = ["    **Required** With --V, where x*y is a product.", "    **Required**"]
    help_.without_emphasis(None, None, required)
    assert required == [
        "    **Required** With ``--V``, where x\\*y is a product.",
        "    **Required**",
    ]
    family = help_.as_typed("such as --family polynomial-network --widths 1..3,2,1.", help_.MARKUP)
    assert family == "such as ``--family polynomial-network --widths 1..3,2,1``."


def test_a_dash_stands_between_a_parameter_and_its_description() -> None:
    pages = extension("reference_pages")
    nodes = pages.nodes
    texts = [nodes.Text(words) for words in ("a (int)", " -- ", "a -- b")]
    document = import_module("docutils.utils").new_document("page")
    document += nodes.paragraph("", "", *texts)
    pages.dashes(None, document)
    assert document.astext() == "a (int) – a -- b"


def test_pages_that_certificates_cite_are_there_or_have_another_name() -> None:
    """Certificates of former releases keep the words of their time; reports show today's pages."""
    kept = ROOT / "tests" / "certificates"
    paths = [*(kept / "1.0").glob("*.json"), *(kept / "former").glob("*.json")]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    cited = {name for text in texts for name in re.findall(r"docs/([\w/-]+)\.md", text)}
    assert "polynomial_networks" in cited
    for name in cited:
        ((_, address), *_) = references(f"docs/{name}.md", "docs")
        page = ROOT / address.replace(".html", ".md")
        title = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert title is not None
        assert latex(f"docs/{name}.md") == latex(f"“{title[1]}”")
