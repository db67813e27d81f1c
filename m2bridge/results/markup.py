"""Text that stays text: on one line, in tables for spreadsheets, in LaTeX and in Markdown.

Names and words come from files of others, so nothing in them may be a command, a link or a formula.
Polynomials come written out, and become formulas of LaTeX; citations (of arXiv, of pages of the
documentation) become links.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from urllib.parse import quote

from m2bridge.errors import InvalidCaseError
from m2bridge.results.formulas import letters, pieces, spelled
from m2bridge.results.sheet import line, visible

__all__ = ["cell", "latex", "latex_links", "line", "markdown", "markdown_links"]

_GREEK = r"""
    \alpha \beta \gamma \delta \varepsilon \zeta \eta \theta \iota \kappa \lambda \mu \nu \xi
    \pi \rho \varsigma \sigma \tau \upsilon \varphi \chi \psi \omega \Gamma \Delta \Theta
    \Lambda \Xi \Pi \Sigma \Upsilon \Phi \Psi \Omega
"""
GREEK_LATEX = dict(zip("αβγδεζηθικλμνξπρςστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", _GREEK.split(), strict=True))
"""The LaTeX commands for Greek letters; capitals that look Latin have none."""

_MATHEMATICS = {
    "≤": r"\leq",
    "≥": r"\geq",
    "≠": r"\neq",
    "∩": r"\cap",
    "↦": r"\mapsto",
    "−": "-",
    "·": r"\cdot",
    "²": "^2",
    "ᵀ": r"^{\top}",
    "′": "'",
    "∞": r"\infty",
    "→": r"\to",
    "∈": r"\in",
    "⊂": r"\subset",
    "∂": r"\partial",
    "∫": r"\int",
    "√": r"\surd",
    "∪": r"\cup",
    "Σ": r"\sum",
    "×": r"\times",
    **GREEK_LATEX,
}
_LATEX = {
    **dict(zip("&%$#_{}", [r"\&", r"\%", r"\$", r"\#", r"\_", r"\{", r"\}"], strict=True)),
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "-": "{-}",  # no dash from two of them, no other sign from ?`
    "`": "{`}",
    "[": "{[}",
    "]": "{]}",
    "–": "--",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "…": r"\ldots{}",
}
# All characters that a formula of running text may have.
_FORMULA = re.compile(
    r"[A-Za-z0-9 α-ωΑ-Ω()[\]{},.;:!'’/√∞…_^*+<>=|~≤≥≠∩∪∈⊂⊗⊕↦→∘∥−·×ΣΠ∫ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+"
)
_SCRIPT = r"\{(?:[^{}]|\{[^{}]*\})*\}"
_TWO_SCRIPTS = re.compile(rf"\^{_SCRIPT}(?:_{_SCRIPT})?\s*['^]|_{_SCRIPT}(?:'*\^?{_SCRIPT})?\s*_")
"""Formulas that LaTeX refuses: two exponents of one letter, or a prime after an exponent."""
_BARE = re.compile(r"[_^](?!\{)")
"""The sign of a subscript or exponent without braces after it."""
_COMMAND = re.compile("'(m2bridge [^']+)'")
"""A shell command in quotes."""
_PAGE = re.compile(r"docs/(?P<page>[\w/-]+)\.md(?P<place>#[\w-]+)?", re.ASCII)
"""A citation of a page of the documentation, or of a place on it."""
_UNKNOWN = re.compile(r"[^\x20-\x7e\xa1-\u017f]|[ĦħĸĿŀŉŦŧſ]")  # all but what the encoding T1 has


def cell(text: str) -> str:
    """Return text for a cell of a spreadsheet, in which it is never read as a formula: text that
    begins with a sign such as = gets an apostrophe before it, the mark of text.
    """
    visible_text = "\n".join(map(visible, text.splitlines()))
    could_be_formula = visible_text.startswith(tuple("=+-@＝＋－＠"))
    return f"'{visible_text}" if could_be_formula else visible_text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as lines of comma-separated values, under a line with the header."""
    page = StringIO()
    csv.writer(page, lineterminator="\n").writerows((header, *rows))
    return page.getvalue()


def latex(text: str) -> str:
    """Return text in LaTeX: formulas, Greek letters and relations become mathematics, other
    special characters are escaped, and a character that the encoding lacks becomes its number.

    >>> print(latex("dimension α(2d − α) of 50%"))
    dimension $\\alpha (2d - \\alpha )$ of 50\\%
    """
    return _latex(" ".join(text.split()))


def latex_links(text: str, documentation: str = "") -> str:
    """Return text in LaTeX with each citation as a link; pages have links if the address of the
    documentation is given.
    """
    latex_parts = []
    for part, address in references(" ".join(text.split()), documentation):
        part_latex = _latex(part)
        if address:
            escaped = re.sub("[%#]", r"\\\g<0>", address)
            part_latex = rf"\href{{{escaped}}}{{{part_latex}}}"
        latex_parts.append(part_latex)
    return "".join(latex_parts)


@cache
def _signs() -> dict[int, str]:
    """Return the LaTeX of each special character in words, as ``str.translate`` takes it."""
    mathematics = {sign: rf"\ensuremath{{{command}}}" for sign, command in _MATHEMATICS.items()}
    return str.maketrans(_LATEX | mathematics)


def _latex(text: str) -> str:
    """Return words and formulas in LaTeX; shell commands in quotes are set in typewriter."""
    latex_parts = []
    for place, part in enumerate(_COMMAND.split(text)):
        if place % 2:  # ``split`` gives text and the group of the pattern by turns
            latex_parts.append(rf"\texttt{{{_escaped_words(part)}}}")
        else:
            latex_parts.append(_sentence_latex(part))
    return "".join(latex_parts)


def _sentence_latex(text: str) -> str:
    """Return a sentence in LaTeX, with formulas as mathematics and titles for cited pages."""
    latex_parts = []
    # each citation of a page is replaced by the title of the page
    for part, is_formula in pieces(_PAGE.sub(_title_of_citation, text)):
        mathematics = _formula_latex(part) if is_formula else ""
        # What only looked like a formula is set as words.
        latex_parts.append(mathematics or _words_latex(part))
    return "".join(latex_parts)


def _formula_latex(text: str) -> str:
    """Return a formula from running text in LaTeX, in dollar signs; empty if LaTeX would refuse it.

    :func:`m2bridge.results.formulas.spelled` writes it for the site; here it is changed for print.
    """
    if not _FORMULA.fullmatch(text):
        return ""
    # A line of a narrow column may end after a name such as det: LaTeX's \operatorname forbids it.
    upright_name = r"\\mathop{\\mathrm\1}\\penalty500 "
    formula = re.sub(r"\\operatorname(\{\w+\})", upright_name, spelled(text))
    # A line may also end after a comma. LaTeX does not know the names \lt and \gt of the site.
    for for_site, for_print in ((", ", r",\allowbreak{} "), (r"\lt ", "< "), (r"\gt ", "> ")):
        formula = formula.replace(for_site, for_print)
    # Greek letters, and signs that ``spelled`` left.
    for sign in set(formula) & set(_MATHEMATICS):
        formula = formula.replace(sign, f"{_MATHEMATICS[sign]} ")
    formula = re.sub(" +", " ", formula)
    # two exponents of one letter, or an exponent without braces
    has_bad_scripts = _TWO_SCRIPTS.search(formula) or _BARE.search(formula)
    if has_bad_scripts or not formula.isascii() or not _has_paired_braces(formula):
        return ""
    return f"${formula.strip()}$"


def _has_paired_braces(formula: str) -> bool:
    """Whether the braces around parts of a formula are paired; braces around sets do not count."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", formula):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


@cache
def cited_titles() -> dict[str, dict[str, str]]:
    """Return the titles that are cited in print, of ``pages`` by the names of their files and of
    ``places`` by their anchors; and the ``present_pages`` by former names, which certificates of
    former releases have.
    """
    text = Path(__file__).with_name("titles.json").read_text(encoding="utf-8")
    titles: dict[str, dict[str, str]] = json.loads(text)
    return titles


def _title_of_citation(citation: re.Match[str]) -> str:
    """Return the title of a cited theorem or page for print; the citation itself if no title is
    known.
    """
    # the place is an anchor such as #theorem-degree, or None
    page, place = _present_page(citation["page"]), citation["place"] or ""
    title = cited_titles()["places"].get(place.removeprefix("#"))
    if title:
        return title
    title = cited_titles()["pages"].get(page)
    return f"“{title}”" if title else citation[0]


def _present_page(page: str) -> str:
    """Return the name of the page that has what a page of this name had."""
    return cited_titles()["present_pages"].get(page, page)


def _words_latex(text: str) -> str:
    """Return words in LaTeX; a letter between words, as A in "the rank of A", is a formula, and so
    is a text that is one small letter.
    """
    # Between words the letter a would be the article; as the whole text, such as a cell, it is not.
    is_one_letter = len(text) == 1 and text.isascii() and text.islower()
    if is_one_letter:
        return f"${text}$"
    latex_parts = []
    for part, is_letter in letters(text):
        latex_parts.append(f"${part}$" if is_letter else _escaped_words(part))
    return "".join(latex_parts)


def _escaped_words(text: str) -> str:
    """Return text in LaTeX with special characters escaped; what no font has is its number."""

    def number(sign: re.Match[str]) -> str:
        """The number of a character in Unicode, as ``U+4E2D``."""
        return rf"\texttt{{U+{ord(sign[0]):04X}}}"

    return _UNKNOWN.sub(number, text.translate(_signs()))


def markdown(text: str) -> str:
    """Return text in Markdown for a cell or list item, with all special characters escaped."""
    return _markdown(line(text))


def markdown_links(text: str, documentation: str = "") -> str:
    """Return text on one line of Markdown with each citation as a link; pages have links if the
    documentation is given, by its address or its path relative to the page.
    """
    markdown_parts = []
    for part, address in references(line(text), documentation):
        part_markdown = _markdown(part)
        if address:
            part_markdown = f"[{part_markdown}]({address})"
        markdown_parts.append(part_markdown)
    return "".join(markdown_parts)


def _markdown(text: str) -> str:
    """Return one line with backslashes before all that Markdown would take for its marks."""
    escaped = re.sub(r"[\\`*_|<>\[\]~&$]|^[-+#]", r"\\\g<0>", text)
    # A number at the beginning does not number an item of a list.
    return re.sub(r"^[0-9]+(?=[.)] )", r"\g<0>\\", escaped)


BREAKABLE_AFTER_CHARS = 36
"""A line may break within numbers and terms that are longer than this."""

DIGITS_PER_PART = 12
"""A line may break after each part of a long number, which has this number of digits."""

BREAK = r"\penalty900 "
"""A possible line break, used if the line cannot break at a sign."""

_PARTS = re.compile(
    r"""
    (?P<variable>[^\s*+/()0-9-][^\s*+/()-]*)(?:\*\*(?P<power>[0-9]+))?  # c_1_2**3
    | (?P<number>[0-9]+)(?:/(?P<denominator>[0-9]+))?                   # 1/2
    | (?P<sign>[-+])
    | (?P<product>\*(?!\*))
    | \s+
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class FormulaPart:
    """A sign, a number, a power of a variable, or a bracket."""

    kind: str  # sign, number, variable or bracket
    text: str  # the sign, the numerator, the name without its indices; or ( ) / and a product
    indices: tuple[str, ...] = ()  # of a variable
    power: str = ""  # the exponent, or the denominator of a number; empty for 1


def parts(text: str) -> Iterator[FormulaPart]:
    """Yield the signs, numbers and powers of variables of a polynomial in Python's notation,
    without signs of products; ValueError where the iteration reaches what is not understood.

    >>> [part.text for part in parts("-1/2*c_1_2**3 + x")]
    ['-', '1', 'c', '+', 'x']
    """
    end = 0
    while end < len(text):
        match = _PARTS.match(text, end)
        if match is None:
            rest = text[end : end + 40]
            raise ValueError(f"'{rest}' is not part of a polynomial that is written out")
        end = match.end()
        if match["variable"]:
            base, *indices = match["variable"].split("_")
            yield FormulaPart("variable", base, tuple(indices), match["power"] or "")
        elif match["number"]:
            yield FormulaPart("number", match["number"], power=match["denominator"] or "")
        elif match["sign"]:
            yield FormulaPart("sign", match["sign"])


_TIMES = "\N{DOT OPERATOR}"
"""The sign of a product after a divisor, without which ``1/b*x`` would look like 1/(bx)."""
_DIVISOR = re.compile(r"(/(?:\([^()]*\)|(?![0-9])[^\s*+/()-]+(?:\*\*[0-9]+)?))\*(?!\*)")
"""A divisor that is not a number, with the asterisk after it: ``/(b + 1)*`` or ``/b**2*``."""
_ONE_BRACKET = re.compile(rf"([(){_TIMES}]|/(?![0-9]))")
"""A bracket, the sign of a division by what is not a number, or the product after a divisor."""


def _with_times(text: str) -> str:
    """Return a polynomial in which the asterisk after a divisor is :data:`_TIMES`."""
    return _DIVISOR.sub(rf"\1{_TIMES}", text)


def parts_with_brackets(text: str) -> Iterator[FormulaPart]:
    """Yield the parts of a polynomial whose coefficients may be sums in brackets, and quotients of
    them: brackets, strokes and the product after a divisor are parts of their own.

    >>> [part.text for part in parts_with_brackets("(a + 1)/b*x")]
    ['(', 'a', '+', '1', ')', '/', 'b', '⋅', 'x']
    """
    for place, piece in enumerate(_ONE_BRACKET.split(_with_times(text))):
        if place % 2:  # ``split`` gives text and the group of the pattern by turns
            yield FormulaPart("bracket", piece)
        else:
            yield from parts(piece)


_BRACKETS = re.compile(rf"(\([^()]*\)|/(?![0-9])|{_TIMES})")
"""Sums in brackets, and the signs before and after divisors, in coefficients as of
``(a + 1)/b*x``.
"""
_NO_SUM = re.compile(r"[^\s*/+-]\(|,")
"""Brackets that do not enclose a sum: f( of a function, and the comma of a pair."""


def polynomial_latex(text: str) -> str:
    r"""Return a polynomial in LaTeX, in which lines may break at signs and in long terms;
    ValueError if the text is not a polynomial, as with brackets of a function or of a pair.

    >>> polynomial_latex("-1/2*c_1_12**3 + λ")
    '-\\tfrac{1}{2} c_{1,12}^{3} + \\lambda'
    """
    # Coefficients may be sums in brackets and quotients, as in (a + 1)/b*x. A text with brackets of
    # a function or a pair is left to :func:`terms`, which raises the ValueError.
    if _BRACKETS.search(text) and not _NO_SUM.search(text):
        latex_parts = []
        for piece in _BRACKETS.split(_with_times(text)):
            if piece.startswith("("):
                latex_parts.append(rf"\left({polynomial_latex(piece[1:-1])}\right)")
            elif piece == _TIMES:
                latex_parts.append(r" \cdot ")
            else:
                latex_parts.append(piece if piece == "/" else polynomial_latex(piece))
        return "".join(latex_parts)
    latex_terms = []
    for sign, factors in terms(text):
        separator = " "
        if sum(map(len, factors)) > BREAKABLE_AFTER_CHARS:
            separator = BREAK
        latex_terms.append(sign + separator.join(factors))
    return "".join(latex_terms)


def terms(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each term of a polynomial as its sign and its factors, in LaTeX; the sign of the first
    term is ``-`` or empty, the sign of others has blanks around it.
    """
    sign = ""
    factors: list[str] = []
    for part in parts(text):
        if part.kind == "number":
            factors.append(_number_latex(part))
        elif part.kind == "variable":
            factors.append(variable_latex(part))
        elif factors:  # a sign after factors begins the next term
            yield sign, factors
            sign = f" {part.text} "
            factors = []
        else:
            sign = part.text
    yield sign, factors


def _number_latex(part: FormulaPart) -> str:
    """Return an integer or a fraction in LaTeX; a long fraction is a quotient on one line."""
    if not part.power:
        return _breakable_number(part.text)
    if len(part.text) + len(part.power) > BREAKABLE_AFTER_CHARS:
        return f"{_breakable_number(part.text)}/{_breakable_number(part.power)}"
    return rf"\tfrac{{{part.text}}}{{{part.power}}}"


def _breakable_number(digits: str) -> str:
    """Return the decimal digits of a number in LaTeX; lines may break within a long one."""
    if len(digits) <= BREAKABLE_AFTER_CHARS:
        return digits
    starts = range(0, len(digits), DIGITS_PER_PART)
    return BREAK.join(digits[start : start + DIGITS_PER_PART] for start in starts)


def variable_latex(part: FormulaPart) -> str:
    """Return a power of a variable in LaTeX; letters of other alphabets are set as text."""
    variable = _letters(part.text)
    if part.indices:
        variable += f"_{{{','.join(map(_letters, part.indices))}}}"
    if part.power:
        variable += f"^{{{part.power}}}"
    return variable


def _letters(word: str) -> str:
    """Return a name without indices in LaTeX: ASCII as it is, Greek letters, all else as text."""
    if word.isascii():
        return word
    return GREEK_LATEX.get(word) or rf"\text{{{word}}}"


_CITED = re.compile(
    r"arXiv[ :](?P<number>[0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?)"
    r"|docs/(?P<page>[\w/-]+)\.md(?P<place>#[\w-]+)?"
    r"|(?P<address>https://[\w./-]*\w)",
    re.ASCII,
)
_SAFE = "/:?&=@+,;!*'~#%$"  # allowed in an address in addition to letters, digits and -._

_SITE = re.compile(r"https?://[^\s/?#\\]+[^\s\\]*", re.IGNORECASE | re.ASCII)
_PATH = re.compile(r"(?!//|\\)[^:/]*(/.*)?")


def check_documentation(documentation: str) -> None:
    """Check that the address of the documentation is one with http or https, or a relative path: a
    browser might execute an arbitrary link.
    """
    is_site = _SITE.fullmatch(documentation)
    is_path = _PATH.fullmatch(documentation) and documentation.isprintable()
    if not (is_site or is_path):
        raise InvalidCaseError(
            "docs", f"{documentation!r:.120} is neither an address (https://…) nor a relative path"
        )


def references(text: str, documentation: str = "") -> Iterator[tuple[str, str]]:
    """Yield the parts of a text, each with its link, which is empty if the part cites nothing;
    pages have links if the documentation is given, by its address or its path relative to the page.

    >>> list(references("as in arXiv 2408.17221, Theorem 3.4"))
    [('as in ', ''), ('arXiv 2408.17221', 'https://arxiv.org/abs/2408.17221'),
     (', Theorem 3.4', '')]
    >>> list(references("docs/trust.md", "../site"))
    [('docs/trust.md', '../site/trust.html')]
    """
    check_documentation(documentation)
    base = documentation.rstrip("/")
    end = 0
    for citation in _CITED.finditer(text):
        address = _address_of_citation(citation, base)
        if not address:
            continue
        if citation.start() > end:
            yield text[end : citation.start()], ""
        yield citation[0], address
        end = citation.end()
    if end < len(text):
        yield text[end:], ""


def _address_of_citation(citation: re.Match[str], base: str) -> str:
    """Return the address that a match of ``_CITED`` links to; empty for a page if ``base``, the
    address of the documentation without a stroke at its end, is empty.
    """
    if citation["number"]:
        return f"https://arxiv.org/abs/{citation['number']}"
    if citation["address"]:
        return citation["address"]
    if not base:
        return ""
    page = _present_page(citation["page"])
    return quote(f"{base}/{page}.html", safe=_SAFE) + (citation["place"] or "")
