"""Chain complexes and maps of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from m2bridge.errors import ConversionError
from m2bridge.values.invariants import BettiTable
from m2bridge.values.modules import Degree, Matrix, Module
from m2bridge.values.shown import Named


@dataclass(frozen=True, slots=True, repr=False)
class Complex(Named):
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
        """How many generators the free modules have in each degree, for standard weights.

        Raises
        ------
        ConversionError
            If a module is not free.
        """
        counts: dict[tuple[int, Degree, int], int] = {}
        for i, module in enumerate(self.modules, self.low):
            if not module.is_free:
                raise ConversionError("a Betti table is for complexes of free modules")
            for degree in module.degrees:
                place = (i, degree, sum(degree))
                counts[place] = counts.get(place, 0) + 1
        return BettiTable(tuple(sorted(counts.items())))

    def __str__(self) -> str:
        return " ← ".join(map(str, self.modules))


@dataclass(frozen=True, slots=True, repr=False)
class ComplexMap(Named):
    """A map of chain complexes, which need not commute with the differentials.

    Parameters
    ----------
    source, target : Complex
    degree : int
        By how much it raises the homological degree; −1 for a differential.
    maps : tuple of Matrix
        From each module of the source, the one of the lowest degree first.

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
        """The map from the module of this homological degree of the source."""
        if not 0 <= place - self.source.low < len(self.maps):
            raise KeyError(place)
        return self.maps[place - self.source.low]

    def __str__(self) -> str:
        return f"{self.source} → {self.target}, ({', '.join(map(str, self.maps))})"
