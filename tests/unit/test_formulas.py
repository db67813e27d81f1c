"""Formulas in running text, in print; and how print cites the documentation."""

import re
from pathlib import Path

import pytest

from m2bridge import reports
from m2bridge.results.markup import cited_titles, latex

ROOT = Path(__file__).parents[2]
CERTIFICATES = ROOT / "tests" / "certificates"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("dimension α(2d − α) − 1", r"dimension $\alpha (2d - \alpha ) - 1$"),
        ("d_{k−1} and x^2", r"$d_{k-1}$ and $x^{2}$"),
        ("degree C(n + 1, n)", r"degree $C(n + 1,\allowbreak{} n)$"),
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
    pages, places = cited_titles().values()
    for name, title in pages.items():
        page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        assert re.search(r"^# (.+)$", page, re.MULTILINE)[1] == title
        for kind, words, label in re.findall(r"\{prf:(\w+)\} (.+)\n:label: ([\w-]+)", page):
            found[label] = f"{kind.capitalize()} “{words}”"
        for label, words in re.findall(r"^\(([\w-]+)\)=\n#+ (.+)$", page, re.MULTILINE):
            found[label] = f"section “{words}”"
    assert {label: found[label] for label in places} == places


@pytest.mark.parametrize("folder", ["accepted", "all-sizes", "deep", "networks"])
def test_print_names_no_file_of_the_documentation(folder: str) -> None:
    report = reports.collect(CERTIFICATES / folder)
    assert any("docs/" in lemma for lemma in report.trusted)
    written = reports.LINKED["latex"](report, "")
    assert "docs/" not in written
    assert r"\caption{Verdicts}" in written
    assert written.index("Taken on trust") > written.index(r"\end{longtable}")


def test_print_says_where_the_documentation_is() -> None:
    report = reports.collect(CERTIFICATES / "accepted")
    assert "https://example.org/docs" in reports.LINKED["latex"](report, "https://example.org/docs")
