"""Values of Macaulay2 about modules: matrices, complexes, Betti tables, Hilbert polynomials.

Ideals of any ring, ring maps and vectors too: frozen values without arithmetic, which are displayed
as in Macaulay2. ``_formula()`` is the LaTeX of a value, or ``""`` where it is shown as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import chain
from math import prod
from typing import Any

from sympy import ImmutableMatrix, Symbol, SympifyError, expand, sympify

from m2bridge.algebra.ring import PolynomialRing, entry_text, field_text
from m2bridge.algebra.typeset import (
    Typeset,
    betti_latex,
    free_module_latex,
    ideal_latex,
    matrix_latex,
    ring_latex,
    ring_letter,
    tuple_latex,
)
from m2bridge.errors import ConversionError
from m2bridge.results.sheet import shortened


class AsText:
    """A value whose ``repr`` is its text, as of SymPy's expressions: rings, ideals."""

    __slots__ = ()

    def __repr__(self) -> str:
        return one_line(self)


class Named:
    """A value whose ``repr`` is its text with the name of its class."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {one_line(self)}>"


class AsCode:
    """A dataclass of positional fields; its ``repr`` is the shortest call that makes it."""

    __slots__ = ()

    def __repr__(self) -> str:
        shown = list(fields(self))  # type: ignore[arg-type]
        # fields at the end whose values are the defaults are left out
        while shown and getattr(self, shown[-1].name) == shown[-1].default:
            shown.pop()
        arguments = ", ".join(repr(getattr(self, field.name)) for field in shown)
        return f"{type(self).__name__}({arguments})"


def one_line(value: object) -> str:
    """The text of a value, its lines joined by semicolons, its middle left out if it is long."""
    return shortened("; ".join(str(value).splitlines()), 300)


def tuple_text(elements: Iterable[Any]) -> str:
    """The texts of elements of a ring in parentheses, separated by commas: ``(x, y**2)``."""
    return f"({', '.join(map(entry_text, elements))})"


Multidegree = tuple[int, ...]
"""The degree of an element of a graded ring: one integer for each grading."""

TermPlace = tuple[int, Multidegree, int]
"""Homological degree, degree and weight (a number) of generators in a complex."""


@dataclass(frozen=True, slots=True)
class BettiTable(Typeset):
    """The numbers of generators of a complex, by homological degree, degree and weight.

    Parameters
    ----------
    entries : tuple of ((homological degree, degree, weight), number)

    Examples
    --------
    >>> koszul = BettiTable((((0, (0,), 0), 1), ((1, (1,), 1), 2), ((2, (2,), 2), 1)))
    >>> print(koszul)
           0 1 2
    total: 1 2 1
        0: 1 2 1
    >>> koszul[1, 0]
    2
    """

    entries: tuple[tuple[TermPlace, int], ...]

    def __getitem__(self, place: tuple[int, int]) -> int:
        """The number of generators of weight i + j in homological degree i: column i, row j."""
        return self.rows.get(place, 0)

    @property
    def rows(self) -> dict[tuple[int, int], int]:
        """The nonzero numbers of generators, by pairs (homological degree i, weight minus i)."""
        table: Counter[tuple[int, int]] = Counter()
        for (i, _, weight), count in self.entries:
            table[i, weight - i] += count
        return dict(table)

    @property
    def _totals(self) -> dict[int, int]:
        """The numbers of generators by homological degree."""
        totals: Counter[int] = Counter()
        for (i, _, _), count in self.entries:
            totals[i] += count
        return dict(sorted(totals.items()))

    def __repr__(self) -> str:
        return f"<BettiTable {' '.join(f'{i}: {n}' for i, n in self._totals.items())}>"

    def __str__(self) -> str:
        """The table of the example: a column for each degree, lines for totals and rows."""
        table = self.rows  # (i, j) → the number of weight i + j in homological degree i
        totals = self._totals  # i → the sum of column i
        if not table:
            return "total:"
        row_numbers = [j for _, j in table]
        rows = range(min(row_numbers), max(row_numbers) + 1)
        # Texts are aligned column by column; the first column has the names of the lines.
        columns = [_align_right(["", "total:", *(f"{j}:" for j in rows)])]
        for i in range(min(totals), max(totals) + 1):
            numbers = [table.get((i, j), ".") for j in rows]
            columns.append(_align_right([i, totals.get(i, 0), *numbers]))
        lines = zip(*columns, strict=True)
        return "\n".join(map(" ".join, lines))

    def _formula(self) -> str:
        """The table with its totals, as a formula."""
        return betti_latex(self._totals, self.rows)


def _align_right(column: Iterable[object]) -> list[str]:
    """The texts of the cells of a column, with blanks before them so that all have one width."""
    texts = list(map(str, column))
    width = max(map(len, texts))
    return [text.rjust(width) for text in texts]


@dataclass(frozen=True, slots=True, repr=False)
class HilbertPolynomial(Named):
    """A Hilbert polynomial, as a combination of Hilbert polynomials of projective spaces.

    Parameters
    ----------
    coefficients : tuple of (n, c)
        The sum of c times the Hilbert polynomial of n-dimensional projective space.

    Examples
    --------
    >>> twisted_cubic = HilbertPolynomial(((0, -2), (1, 3)))
    >>> print(twisted_cubic)
    -2*P_0 + 3*P_1
    >>> twisted_cubic(5)
    Fraction(16, 1)
    >>> twisted_cubic.to_sympy("t")
    3*t + 1
    """

    coefficients: tuple[tuple[int, int], ...]

    def __call__(self, degree: int) -> Fraction:
        """The value at an integer, which is an integer, as a fraction."""
        return Fraction(self._value(Fraction(degree)))

    def to_sympy(self, variable: str = "t") -> Any:
        """The polynomial in powers of a variable."""
        return expand(self._value(Symbol(variable)))

    def _value(self, t: Any) -> Any:
        """The value Σ c C(t + n, n) at a number or symbol t; C(t + n, n) is ∏ (t + k)/k, k ≤ n."""
        total = 0
        for n, c in self.coefficients:
            total += c * prod((t + k) / k for k in range(1, n + 1))
        return total

    def __str__(self) -> str:
        terms = " + ".join(f"{c}*P_{n}" for n, c in self.coefficients)
        return terms.replace("+ -", "- ") or "0"


@dataclass(frozen=True, slots=True, repr=False)
class GeneralIdeal(AsText, Typeset):
    """An ideal of a ring that is not a plain polynomial ring; else see :class:`m2bridge.Ideal`.

    ``_function`` is Macaulay2's function that makes such an ideal, with which its text begins.

    Examples
    --------
    >>> from m2bridge.workspace.values import IntegerRing
    >>> print(GeneralIdeal(IntegerRing(), (4, 6)))
    ideal(4, 6) of ZZ
    """

    ring: Any
    generators: tuple[Any, ...]
    _function = "ideal"

    def __str__(self) -> str:
        return f"{self._function}{tuple_text(self.generators)} of {ring_text(self.ring)}"

    def _formula(self) -> str:
        """The generators in angle brackets, and the ring."""
        return ideal_latex(self.generators, self.ring)


class MonomialIdeal(GeneralIdeal):
    """A monomial ideal, given by its monomials.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> from m2bridge.algebra.ring import PolynomialRing
    >>> ring = PolynomialRing(QQ, ("x", "y"))
    >>> x, y = ring.sympy_ring.gens
    >>> MonomialIdeal(ring, (x**2, x * y))
    monomialIdeal(x**2, x*y) of QQ[x, y]
    """

    _function = "monomialIdeal"


@dataclass(frozen=True, slots=True, repr=False)
class Module(Named, Typeset):
    """A submodule of a quotient of a free module.

    Parameters
    ----------
    ring : ring
    degrees : tuple of degrees
        The degrees of the basis of the free module.
    generators : Matrix, optional
        Its columns generate the module; the whole free module when left out.
    relations : Matrix, optional
        Its columns are zero in the module.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> print(Module(QQ, ((0,), (1,))))
    QQ^{0, -1}
    """

    ring: Any
    degrees: tuple[Multidegree, ...]
    generators: Matrix | None = None
    relations: Matrix | None = None

    @property
    def kind(self) -> str:
        """``free``, ``image``, ``cokernel`` or ``subquotient``."""
        if self.generators is None:
            return "free" if self.relations is None else "cokernel"
        return "image" if self.relations is None else "subquotient"

    def _matrices(self) -> list[Matrix]:
        """The generators and the relations, where they are not left out."""
        return [matrix for matrix in (self.generators, self.relations) if matrix is not None]

    def __str__(self) -> str:
        """``QQ^{0, -1}`` or ``QQ^2`` for a free module, else the kind and the matrices."""
        if self.kind != "free":
            return f"{self.kind}({', '.join(map(str, self._matrices()))})"
        if not any(map(any, self.degrees)):  # all degrees are zero
            return f"{ring_text(self.ring)}^{len(self.degrees)}"
        # A generator of degree d is in the summand R^{−d}, as Macaulay2 writes it.
        shifts = []
        for degree in self.degrees:
            shift = tuple(-entry for entry in degree)
            shifts.append(str(shift if len(shift) != 1 else shift[0]))
        return f"{ring_text(self.ring)}^{{{', '.join(shifts)}}}"

    def _formula(self) -> str:
        """Shifts of the ring for a free module, else its matrices; empty if one has no formula."""
        if self.kind == "free":
            letter = ring_letter(self.ring)
            module = free_module_latex(self.degrees, letter)
            return rf"{module}, \quad {letter} = {ring_latex(self.ring)}"
        formulas = [matrix._formula() for matrix in self._matrices()]
        if not all(formulas):
            return ""
        if self.kind == "subquotient":
            generators, relations = formulas
            return rf"\operatorname{{im}} {generators} \,/\, \operatorname{{im}} {relations}"
        name = {"image": "im", "cokernel": "coker"}[self.kind]
        return rf"\operatorname{{{name}}} {formulas[0]}"


@dataclass(frozen=True, slots=True, repr=False)
class Matrix(Named, Typeset):
    """A homomorphism of modules, given by a matrix.

    Parameters
    ----------
    target, source : Module
    entries : tuple of rows
        One row for each generator of the target.
    degree : tuple of int
        By how much the map raises degrees, usually zero.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> matrix = Matrix(Module(QQ, ((0,),)), Module(QQ, ((1,), (2,))), ((3, 4),))
    >>> print(matrix, matrix.shape)
    ((3, 4)) (1, 2)
    """

    target: Module
    source: Module
    entries: tuple[tuple[Any, ...], ...]
    degree: Multidegree = ()

    @property
    def ring(self) -> Any:
        """The ring of its entries."""
        return self.target.ring

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        if self.entries:
            return len(self.entries), len(self.entries[0])
        # Without rows, the source says how many columns there are: one for each of its generators.
        generators = self.source.generators
        if generators is None:  # the basis of its free module generates the source
            return 0, len(self.source.degrees)
        return 0, generators.shape[1]

    def __getitem__(self, place: tuple[int, int]) -> Any:
        """The entry in row i and column j, both from 0 on, where ``place`` is (i, j)."""
        return self.entries[place[0]][place[1]]

    def to_sympy(self) -> Any:
        """The same entries in an immutable matrix of SymPy.

        Raises
        ------
        ConversionError
            If an entry is neither a number nor a SymPy polynomial.
        """
        entries = chain.from_iterable(self.entries)
        return ImmutableMatrix(*self.shape, list(map(to_expression, entries)))

    def __str__(self) -> str:
        rows, columns = self.shape
        if not rows or not columns:
            return f"0 ({rows} × {columns})"
        return f"({'; '.join(map(tuple_text, self.entries))})"

    def _formula(self) -> str:
        """The entries in parentheses; empty, to be shown as text, without columns or with many."""
        return matrix_latex(self.entries)


@dataclass(frozen=True, slots=True, repr=False)
class MutableMatrix(AsText, Typeset):
    """The entries of a mutable matrix when it was read.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> line = Module(QQ, ((),))
    >>> MutableMatrix(Matrix(line, line, ((2,),)))
    mutable ((2))
    """

    matrix: Matrix

    def __str__(self) -> str:
        return f"mutable {self.matrix}"

    def _formula(self) -> str:
        """The entries in parentheses."""
        return self.matrix._formula()


@dataclass(frozen=True, slots=True, repr=False)
class Vector(Named, Typeset):
    """An element of a module, given by its coefficients.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> print(Vector(Module(QQ, ((), ())), (3, 4)))
    (3, 4)
    """

    module: Module
    entries: tuple[Any, ...]

    def __str__(self) -> str:
        return tuple_text(self.entries)

    def _formula(self) -> str:
        """The coefficients as a column."""
        return matrix_latex([[entry] for entry in self.entries])


@dataclass(frozen=True, slots=True, repr=False)
class GroebnerBasis(AsText, Typeset):
    """A Gröbner basis, as far as it was computed; its elements are the columns of a matrix.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> from m2bridge.algebra.ring import PolynomialRing
    >>> ring = PolynomialRing(QQ, ("x", "y"))
    >>> x, y = ring.sympy_ring.gens
    >>> target, source = Module(ring, ((0,),)), Module(ring, ((1,), (2,)))
    >>> basis = GroebnerBasis(Matrix(target, source, ((y, x**2),), (0,)))
    >>> basis, basis.generators
    (Gröbner basis (y, x**2), (y, x**2))
    """

    matrix: Matrix

    @property
    def generators(self) -> tuple[Any, ...]:
        """The columns of the matrix as tuples; if it has one row, as for an ideal, its entries."""
        rows = self.matrix.entries
        if len(rows) == 1:
            return rows[0]
        return tuple(zip(*rows, strict=True))  # the columns

    def __iter__(self) -> Iterator[Any]:
        """Yield the elements of the basis."""
        return iter(self.generators)

    def __str__(self) -> str:
        return f"Gröbner basis {tuple_text(self.generators)}"

    def _formula(self) -> str:
        """The elements of the basis of an ideal in parentheses; the matrix of one of a module."""
        if len(self.matrix.entries) == 1:
            return tuple_latex(self.generators)
        return self.matrix._formula()


@dataclass(frozen=True, slots=True, repr=False)
class RingMap(Named, Typeset):
    """A ring homomorphism: the images of the variables of ``source``, then of its coefficients'.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> from m2bridge.algebra.ring import PolynomialRing
    >>> ring = PolynomialRing(QQ, ("x", "y"))
    >>> x, y = ring.sympy_ring.gens
    >>> RingMap(ring, ring, (y, x))
    <RingMap QQ[x, y] → QQ[x, y], (y, x)>
    """

    target: Any
    source: Any
    images: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{ring_text(self.source)} → {ring_text(self.target)}, {tuple_text(self.images)}"

    def _formula(self) -> str:
        """Source and target, and the images."""
        arrow = rf"{ring_latex(self.source)} \to {ring_latex(self.target)}"
        return rf"{arrow}, \quad {tuple_latex(self.images)}"


@dataclass(frozen=True, slots=True, repr=False)
class Complex(Named, Typeset):
    """A chain complex.

    Parameters
    ----------
    ring : ring
    low : int
        Homological degree of the first module.
    modules : tuple of Module
    differentials : tuple of Matrix
        From each module but the first to the one before.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> line = Module(QQ, ((),))
    >>> print(Complex(QQ, 0, (line, line), (Matrix(line, line, ((0,),)),)))
    QQ^1 ← QQ^1
    """

    ring: Any
    low: int
    modules: tuple[Module, ...]
    differentials: tuple[Matrix, ...]

    @property
    def betti(self) -> BettiTable:
        """The numbers of generators of the free modules in each degree.

        The weight of a degree is the sum of its entries.

        Raises
        ------
        ConversionError
            If a module is not free.
        """
        if any(module.kind != "free" for module in self.modules):
            raise ConversionError("a Betti table is for complexes of free modules")
        counts = Counter[TermPlace]()
        for i, module in enumerate(self.modules, self.low):
            counts.update((i, degree, sum(degree)) for degree in module.degrees)
        return BettiTable(tuple(sorted(counts.items())))

    def __str__(self) -> str:
        return " ← ".join(map(str, self.modules)) or "0"

    def _formula(self) -> str:
        """The modules from the lowest degree on, and their ring; empty if a module is not free."""
        if any(module.kind != "free" for module in self.modules):
            return ""
        letter = ring_letter(self.ring)
        modules = [free_module_latex(module.degrees, letter) for module in self.modules]
        arrows = r" \leftarrow ".join(modules) or "0"
        return rf"{arrows}, \quad {letter} = {ring_latex(self.ring)}"


@dataclass(frozen=True, slots=True, repr=False)
class ComplexMap(Named):
    """A map of chain complexes, which need not commute with the differentials.

    Parameters
    ----------
    source, target : Complex
    degree : int
        By how much it raises the homological degree; −1 for a differential.
    maps : tuple of Matrix
        From each module of the source, the lowest degree first.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> line = Module(QQ, ((),))
    >>> point = Complex(QQ, 0, (line,), ())
    >>> double = ComplexMap(point, point, 0, (Matrix(line, line, ((2,),)),))
    >>> print(double, double[0])
    QQ^1 → QQ^1, (((2))) ((2))
    """

    source: Complex
    target: Complex
    degree: int
    maps: tuple[Matrix, ...]

    def __getitem__(self, place: int) -> Matrix:
        """The map from the source's module of homological degree ``place``; KeyError if none is."""
        number = place - self.source.low
        if not 0 <= number < len(self.maps):
            raise KeyError(place)
        return self.maps[number]

    def __str__(self) -> str:
        return f"{self.source} → {self.target}, ({', '.join(map(str, self.maps))})"


def to_expression(value: Any) -> Any:
    """Return a number or an element of a ring as an expression of SymPy; ConversionError if it has
    no counterpart.
    """
    try:
        if hasattr(value, "as_expr"):
            return value.as_expr()
        return sympify(value, strict=True)
    except SympifyError as reason:
        raise ConversionError(f"'{entry_text(value)}' has no counterpart in SymPy") from reason


def ring_text(ring: Any) -> str:
    """Return the text of a ring; of a polynomial ring with all its variables, as ``QQ[x, y]``."""
    if isinstance(ring, PolynomialRing):
        return f"{field_text(ring.field)}[{', '.join(ring.variables)}]"
    return str(ring)
