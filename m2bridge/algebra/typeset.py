r"""Rings, elements, matrices and modules in LaTeX, as notebooks and papers show them.

Everything here is mathematics for ``$…$``, in commands that LaTeX (with ``amsmath`` and
``amssymb``), MathJax and KaTeX know.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.ring import PolynomialRing, entry_text
from m2bridge.results.markup import latex as words_latex, polynomial_latex

_BLACKBOARD = {"QQ": r"\mathbb{Q}", "ZZ": r"\mathbb{Z}", "RR": r"\mathbb{R}", "CC": r"\mathbb{C}"}
_PRIME_FIELD = re.compile(r"GF\((\d+)\)|ZZ/(\d+)")


class Typeset(ABC):
    """A value that a notebook typesets, where it is not too long."""

    __slots__ = ()

    @abstractmethod
    def _formula(self) -> str:
        """Return the value as LaTeX without dollar signs, such as ``\\mathbb{Q}[x]``; empty if it
        is shown as text.
        """

    def _repr_latex_(self) -> str | None:
        """The formula in display style, which notebooks ask for; ``None`` to show text instead."""
        formula = self._formula()
        if not formula or len(formula) > 6000:  # too long for a notebook to set
            return None
        return rf"$\displaystyle {formula}$"


def element_latex(element: Any) -> str:
    """Return an element of a ring, or the text of one, in LaTeX.

    A polynomial or a fraction of polynomials is one formula. Any other text is set as words, among
    which only those that look like formulas, as f(x), are formulas.

    Examples
    --------
    >>> element_latex("2*x_1**2 - 1/3*y")
    '2 x_{1}^{2} - \\\\tfrac{1}{3} y'
    >>> element_latex("(x + 1)/y")
    '\\\\left(x + 1\\\\right)/y'
    >>> element_latex("f(x)")
    '\\\\text{$f(x)$}'
    """
    text = entry_text(element)
    try:
        return polynomial_latex(text)
    except ValueError:  # neither a polynomial nor a fraction of polynomials
        return rf"\text{{{words_latex(text)}}}"


def ring_latex(ring: Any) -> str:
    r"""Return a ring in LaTeX: ``\mathbb{Q}`` and similar letters, with variables or generators.

    A ring without a usual letter is its text.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> ring_latex(PolynomialRing(QQ, ("x_1", "x_2")))
    '\\mathbb{Q}[x_{1}, x_{2}]'
    """
    if isinstance(ring, PolynomialRing):
        field = ring_latex(ring.field)
        if "/" in field:  # k[a]/(m) as field of coefficients
            field = f"({field})"
        return f"{field}[{', '.join(map(polynomial_latex, ring.variables))}]"
    if isinstance(ring, ExtensionField):
        names = ", ".join(map(polynomial_latex, ring.names))
        base = ring_latex(ring.base)
        if not ring.minimal_polynomial:
            return rf"{base}({names})"
        return rf"{base}[{names}]/({polynomial_latex(str(ring.relation))})"
    name = str(ring)
    if prime_field := _PRIME_FIELD.fullmatch(name):  # GF(p), or Macaulay2's ZZ/p
        characteristic = prime_field[1] or prime_field[2]
        return rf"\mathbb{{F}}_{{{characteristic}}}"
    return _BLACKBOARD.get(name) or rf"\text{{{words_latex(name)}}}"


def ideal_latex(generators: Iterable[Any], ring: Any) -> str:
    """Return generators in angle brackets, 0 if there are none, and the ring that contains them."""
    generator_list = ", ".join(map(element_latex, generators)) or "0"
    return rf"\left\langle {generator_list} \right\rangle \subset {ring_latex(ring)}"


def tuple_latex(elements: Iterable[Any]) -> str:
    """Return elements in parentheses."""
    return rf"\left( {', '.join(map(element_latex, elements))} \right)"


def matrix_latex(entries: Sequence[Sequence[Any]]) -> str:
    """Return the rows of entries in parentheses; empty without rows or columns, or with too many.

    More than 12 columns do not fit side by side in a notebook.
    """
    if not entries or not 0 < len(entries[0]) <= 12:
        return ""
    rows = r" \\ ".join(" & ".join(map(element_latex, row)) for row in entries)
    return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"


def ring_letter(ring: Any) -> str:
    """Return the letter for a ring in formulas of its modules: S, or R if S is a variable."""
    return "R" if "S" in getattr(ring, "variables", ()) else "S"


def free_module_latex(degrees: Iterable[tuple[int, ...]], letter: str) -> str:
    """Return a free module as a sum of shifts of the ring; 0 without generators.

    ``degrees`` are the degrees of its generators, which may have several gradings: a generator of
    degree d is in the summand S(−d), where S is the ``letter`` of the ring.

    Examples
    --------
    >>> free_module_latex([(2,), (2,), (3,)], "S")
    'S(-2)^{2} \\\\oplus S(-3)'
    """
    summands = []
    for degree, count in sorted(Counter(degrees).items()):
        summand = letter
        if any(degree):
            summand += f"({', '.join(str(-entry) for entry in degree)})"
        if count > 1:
            summand += f"^{{{count}}}"
        summands.append(summand)
    return r" \oplus ".join(summands) or "0"


def betti_latex(totals: dict[int, int], rows: dict[tuple[int, int], int]) -> str:
    """Return a Betti table as an array, with a dot for each zero; empty if all numbers are zero.

    Parameters
    ----------
    totals : dict
        The sum of each column, by its number, the homological degree.
    rows : dict
        The numbers of the table that are not zero, by (column, row).
    """
    if not rows:
        return ""
    columns = range(min(totals), max(totals) + 1)
    row_numbers = [j for _, j in rows]
    head = " & ".join(["", *map(str, columns)])
    lines = [[r"\text{total}", *(str(totals.get(i, 0)) for i in columns)]]
    for j in range(min(row_numbers), max(row_numbers) + 1):
        numbers = [str(rows.get((i, j), r"\cdot")) for i in columns]
        lines.append([str(j), *numbers])
    body = r" \\ ".join(" & ".join(line) for line in lines)
    return rf"\begin{{array}}{{r|{'r' * len(columns)}}} {head} \\ \hline {body} \end{{array}}"
