"""Formulas in running text, for the site of the documentation and for print.

The words of statements, reasons and docstrings are plain text, so that a terminal can show them;
``A_k``, ``d_{k−1}``, ``x^2`` or ``α(2d − α) ≥ 2`` are recognised here and become formulas.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

ABC = "A-Za-zα-ωΑ-Ω"
"""The letters of formulas, Latin and Greek."""
HIGH = "ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
"""The exponents that are signs of their own."""
INDEX = r"(?:[a-zα-ω∞]{1,4}|[A-ZΑ-Ω])(?![a-z])[⁺⁻]?(?:['’](?![a-z]))?"
"""An index of a few letters, such as ``k``, ``max`` or ``i'``; no word continues it."""
PART = rf"(?:\{{[^{{}}]+\}}|\([^()]+\)|[0-9]+|{INDEX}|\*)"
"""A subscript or an exponent: in braces or parentheses, a number, or a few letters."""
NO_BASE = "[A-Za-z_`/.-]"
"""What no base of scripts follows: the inside of a word, of a path, of a decimal."""
NUMBER_BASE = rf"(?:(?<!\d)|(?<={NO_BASE}\d))\d++"
"""All digits of a number, or all but the first where no base begins with that one.

A search that tried each digit as the first would need a time quadratic in their number.
"""
SCRIPTED = re.compile(
    rf"(?P<base>(?<!{NO_BASE})(?:{NUMBER_BASE}|GL|[{ABC}]['’]?)|[)\]])"
    rf"(?P<scripts>(?:[_^]{PART})+)(?!_)"
)
"""A letter, a number or a parenthesis, with its subscripts and exponents."""

NAMES = "rk|dim|codim|deg|min|max|det|log|span|diag|Gr|Sym|GL|gl"
"""Functions whose names are upright."""
WORD = (
    rf"(?<![A-Za-z_])(?!(?:{NAMES}|row|col)(?![A-Za-z_])|[A-Zds]?[A-Z][a-z]?(?![A-Za-z]))"
    rf"[A-Za-z]{{2,}}|QQ|OV"
)
"""A word, which is in no formula; ``AY`` and ``sB`` are products."""
FACTOR = rf"[{ABC}]['’]?(?:[_^]{PART})*[{HIGH}]*"
"""A letter with its prime, its subscripts and its exponents."""
PRODUCT = (
    rf"(?!a\s)(?:{FACTOR}(?![a-z])\s?){{0,3}}{FACTOR}(?<=[{HIGH}])"
    rf"(?:[A-Z][a-z](?![a-z])|\s?(?!a\s){FACTOR}(?![a-z]))*"
)
"""Letters side by side of which one is transposed or has a power: ``V X Xᵀ A X``."""
PLAIN = rf"[A-Z]_{PART}\s[A-Z]|\d*(?:[ds]?{FACTOR}|GL)|[a-z]?[α-ωΑ-Ω][A-Za-z]"
"""Letters side by side of which none has a power: ``V_k A``, ``2d``, ``sB``, ``λA``."""
LETTER = rf"(?<![{ABC}_`])(?:{PRODUCT}|{PLAIN})(?:_{PART})*(?![{ABC}])"
"""Letters that stand for variables, and are not part of a word."""
NUMBER = rf"(?<![A-Za-z\d.])\d+(?:\^\d+|[{HIGH}]+)?(?![A-Za-z\d]|\.\d)"
"""An integer, perhaps with a power; not a decimal, and not part of a word."""
OPERATOR = r"\s*(?:[=≤≥≠+−·×∩∪∈⊂⊗⊕↦→∘|~∥]|(?<=\s)[<>](?=\s))\s*"
"""A sign between two terms; < and > with blanks about them, as they are brackets too."""
SIGN = rf"(?:(?!{WORD})[^(){{}}\"\n])"
"""A character inside parentheses at which no word begins."""
INNER = rf"(?:{SIGN}|\((?:{SIGN}|\({SIGN}*\))*\)|\{{{SIGN}*\}})*"
"""The inside of parentheses: characters, and parentheses up to two levels deep."""
PARENTHESES = rf"(?:\({INNER}\)|\{{{INNER}\}})[{HIGH}]*"
RING = rf"[A-Z]\[{FACTOR}\](?:_{PART})?"
"""A ring of coordinates, or one degree of it: ``K[D_α]_n``."""
ATOM = rf"(?:{NUMBER}|{RING}|(?:√|{LETTER})?{PARENTHESES}|{LETTER})"
"""A term without operators: a number, a ring, letters, a function of something, a root."""
BEFORE = rf"[−Σ]?(?:(?<![A-Za-z])(?:{NAMES})\s?|[ΣΠ](?:_{PART})?\s)?"
"""The start of a term: a minus, a name such as ``rk``, a sign Σ or Π."""
TERM = rf"{BEFORE}{ATOM}(?:{PARENTHESES}|(?<=\)){FACTOR}(?![a-z]))*(?:(?<=\))/\d)?"
"""A product or quotient without a multiplication sign: ``(d − 1)(d − 2)/2``."""
NEXT = rf"(?!a\s|\([A-Z][a-z]){TERM}(?:\^{PART})?"
"""A second or later factor; ``a`` with a blank is the article."""
SUM = rf"Σ(?:_{PART})?\s{NEXT}(?:\s(?:∫\s)?{NEXT})+"
"""A sum of products without a sign of multiplication: ``Σ (−1)^j C(n, j) ∫ c_j(N) H^(n−j)``."""
SUMMAND = rf"(?:{SUM}|{TERM})"
"""A term, or a sum over several factors."""
BOUND = r"[≤≥]\s\+?\d[\d.]*(?<!\.)"
"""A bound for a quantity in words: ``≥ 2``."""
FORMULA = rf"(?<![\w/.^{{-])(?:(?:[≤≥]\s)?{SUMMAND}(?:{OPERATOR}{SUMMAND})*(?![\w/^])|{BOUND})"
"""Numbers, letters and functions of them, with operators between.

``re`` compiles it at its first use and keeps it: most commands write no LaTeX, and would start
15 ms later.
"""
LONE = (
    r"(?<=[ (/\n])(?<!Theorem\s)(?<!Proposition\s)(?<!Lemma\s)(?<![0-9]\s)"
    r"(?!(?<=\()[a-z]\)|[A-Z]:)"  # (c) is the name of a part, and V: of a theorem
    r"(?:(?:[B-HJ-Zb-hj-z]"
    r"|(?:(?<=rk )|(?<=rank )|(?<=of )|(?<=in )|(?<=and )|(?<=scales )|(?<=scaling ))A)"
    r"(?=[ :;)/\n]|,(?!\w)|\.?$)|A(?=[),;:]| and [A-Z]\b)|(?:(?<=, )|(?<=dimension ))a(?=[;,.]|$))"
)
"""A letter between words that is not an article, a number or an initial."""
MARK = re.compile(rf"[=≤≥≠+−·×∩∪∈⊂⊗⊕↦→∘|~∥<>α-ωΑ-Ω{{√{HIGH}]|[A-Za-z]'|\(.*,.*\)|\w\(")
"""A mark of a formula, which a number, a letter or a remark in parentheses lacks."""
SIGNS = {
    "−": "-",
    "’": "'",
    "·": r"\cdot ",
    "×": r"\times ",
    "≤": r"\le ",
    "≥": r"\ge ",
    "≠": r"\ne ",
    "∩": r"\cap ",
    "∪": r"\cup ",
    "∈": r"\in ",
    "⊂": r"\subset ",
    "⊗": r"\otimes ",
    "⊕": r"\oplus ",
    "↦": r"\mapsto ",
    "→": r"\to ",
    "∘": r"\circ ",
    "|": r"\mid ",
    "~": r"\sim ",
    "Σ": r"\sum ",
    "Π": r"\prod ",
    "∫": r"\int ",
    "<": r"\lt ",
    ">": r"\gt ",
    "∥": r"\parallel ",
    "…": r"\dots ",
}
"""The LaTeX commands for signs."""
POWERS = dict(zip(HIGH, (r"\top", *"0123456789+-"), strict=True))


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text, each with whether it is a formula; between two formulas a part may
    be empty.

    A formula is a match of ``FORMULA`` with a mark such as = (a number alone has none), or a letter
    with subscripts or exponents, a match of ``SCRIPTED``, in the text between these.
    """
    end = 0
    scripts = list(SCRIPTED.finditer(text))
    for match in re.finditer(FORMULA, text):
        if not MARK.search(match[0]):
            continue
        # No formula begins inside a subscript or exponent, which belongs to its letter.
        if any(script.start() < match.start() < script.end() for script in scripts):
            continue
        yield from _split(SCRIPTED, text[end : match.start()])
        yield match[0], True
        end = match.end()
    yield from _split(SCRIPTED, text[end:])


def letters(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text without formulas, each with whether it is a variable: a letter
    between words, such as A in "the rank of A".
    """
    return _split(LONE, text)


def _split(pattern: str | re.Pattern[str], text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text one after the other, each with whether it matches the pattern."""
    end = 0
    for match in re.finditer(pattern, text):
        yield text[end : match.start()], False
        yield match[0], True
        end = match.end()
    yield text[end:], False


def spelled(text: str) -> str:
    """Return a formula of running text as LaTeX; ``C(n, k)`` is a binomial coefficient in it."""
    # first the braces of subscripts and exponents, so that all other braces enclose sets
    text = _with_scripts(text)
    # braces of sets, {0, 1} → \{0, 1\}
    text = re.sub(r"(?<![_^])\{((?:[^{}]|[_^]\{[^{}]*\})*)\}", r"\\{\1\\}", text)
    # roots, √(x + 1) → \sqrt{x + 1}
    text = re.sub(r"√\(([^()]*)\)", r"\\sqrt{\1}", text)
    # names of functions, det M → \operatorname{det} M
    text = re.sub(rf"(?<![A-Za-z\\])({NAMES}|row|col)(?![A-Za-z])\s?", r"\\operatorname{\1} ", text)
    # exponents that are signs of their own, A⁻¹ → A^{-1}
    text = re.sub(
        f"[{''.join(POWERS)}]+",
        lambda match: f"^{{{''.join(POWERS[sign] for sign in match[0])}}}",
        text,
    )
    text = re.sub(r"(?<=\d) (?=[−-]?\d)", r"\\;", text)  # entries of a row of a matrix
    text = re.sub(r"_\{([a-z]{3,})\}", r"_{\\mathrm{\1}}", text)  # an index that is a word
    return _binomials("".join(SIGNS.get(sign, sign) for sign in text))


def _binomials(text: str) -> str:
    """Return a text with a binomial coefficient for each ``C(n, k)``, also where they are nested;
    without exactly one comma between its parentheses, C is a function and stays.
    """
    call = _first_call_of_C(text)
    if call is None:
        return text
    text_before = text[: call.start]
    text_after = _binomials(text[call.end + 1 :])
    if len(call.commas) != 1:
        arguments = _binomials(text[call.first : call.end])
        return f"{text_before}C({arguments}){text_after}"
    (comma,) = call.commas
    upper = _binomials(text[call.first : comma].strip())
    lower = _binomials(text[comma + 1 : call.end].strip())
    return rf"{text_before}\binom{{{upper}}}{{{lower}}}{text_after}"


class _Call(NamedTuple):
    """The places of a call ``C(n, k)`` in a text."""

    start: int  # of its C
    first: int  # of the first sign inside of its parentheses
    commas: list[int]  # between its arguments
    end: int  # of its last parenthesis


def _first_call_of_C(text: str) -> _Call | None:
    """Return the first call of a function C in a text, if there is one whose parenthesis
    is closed.
    """
    start = re.search(r"(?<![A-Za-z\\])C\(", text)
    if start is None:
        return None
    depth = 0  # of parentheses and braces inside of the call
    commas: list[int] = []
    for place in range(start.end(), len(text)):
        sign = text[place]
        if sign == ")" and depth == 0:
            return _Call(start=start.start(), first=start.end(), commas=commas, end=place)
        if sign == "," and depth == 0:
            commas.append(place)
        elif sign in "({":
            depth += 1
        elif sign in ")}":
            depth -= 1
    return None


def _with_scripts(text: str) -> str:
    """Return a text whose subscripts and exponents are in braces, as LaTeX needs them."""
    return SCRIPTED.sub(lambda match: _letter_with_scripts(match["base"], match["scripts"]), text)


def _letter_with_scripts(base: str, scripts: str) -> str:
    """Return the letter ``base`` with its subscripts and exponents as LaTeX, in which several
    become one: ``A_{k,1}^{2}`` for ``A`` and ``_k_1^2``.
    """
    marks = re.findall(rf"[_^]{PART}", scripts)
    latex = base
    for sign in "_^":
        scripts_of_sign = [_script(mark[1:]) for mark in marks if mark[0] == sign]
        if scripts_of_sign:
            latex += f"{sign}{{{','.join(scripts_of_sign)}}}"
    return latex


def _script(text: str) -> str:
    """Return a subscript or exponent without its outer parentheses or braces, and with braces about
    the inner ones: ``d_{k-1}`` for ``(d_(k-1))``.
    """
    return _with_scripts(re.sub(r"^[({](.*)[)}]$", r"\1", text))
