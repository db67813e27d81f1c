# mypy: disable-error-code="no-any-return"
"""Ideals for other programs; :func:`m2bridge.ideal` and the readers named here give the same ideal back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from m2bridge.algebra.verbs.delegate import function

if TYPE_CHECKING:
    import flint
    from sympy import Poly


class Neighbours:
    """The forms in which other programs take an ideal. Macaulay2's is ``to_macaulay2``."""

    __slots__ = ()

    def to_sympy(self) -> list[Poly]:
        """The generators as SymPy's ``Poly``, with variables and field; ``[0]`` for the zero ideal.

        ``ideal(generators)`` gives the ideal back.

        Examples
        --------
        >>> ideal("x^2 - 2/3*y").to_sympy()
        [Poly(x**2 - 2/3*y, x, y, domain='QQ')]
        """
        return function("ideals.interop.to_sympy")(self)

    def to_flint(self) -> list[flint.fmpq_mpoly] | list[flint.nmod_mpoly]:
        """The generators as polynomials of python-flint, in one context, in this order; ``[0]`` for the zero ideal.

        ``ideal(generators)`` gives the ideal back.

        Raises
        ------
        ConversionError
            If a name has letters that FLINT does not take: all but ASCII.

        Examples
        --------
        >>> ideal("x^2 - 2/3*y").to_flint()
        [x^2 - 2/3*y]
        """
        return function("ideals.interop.to_flint")(self)

    def to_sage_text(self) -> str:
        """A Python program for Sage that defines the ring ``R`` and the ideal ``I``.

        It means the same with Sage's preparser and without it. :func:`m2bridge.read_sage_text` gives the ideal back.

        Raises
        ------
        ConversionError
            If a name is none that Sage takes.

        Examples
        --------
        >>> print(ideal("x^2 - 2/3*y").to_sage_text())
        from sage.all import GF, QQ, PolynomialRing
        R = PolynomialRing(QQ, names=["x", "y"], order="degrevlex")
        I = R.ideal([R(f) for f in [
            "x^2 - 2/3*y",
        ]])
        """
        return function("ideals.interop.to_sage_text")(self)

    def to_mrdi(self, namespace: str = "Macaulay2") -> dict[str, Any]:
        """The ideal in the interchange format ``.mrdi``, as a dictionary for ``json.dumps``.

        Parameters
        ----------
        namespace : {"Macaulay2", "Oscar"}
            Whose words are used. Macaulay2's package MRDI (1.26) reads ideals over QQ in its own.

        Raises
        ------
        ConversionError
            If there is no such namespace, or it has no words for the field.

        Source: Della Vecchia, Joswig, Lorenz, *A FAIR file format for mathematical software*, ICMS 2024.

        Examples
        --------
        >>> ideal("x^2 - 2/3*y").to_mrdi()["data"]
        [[[['2', '0'], ['1', '1']], [['0', '1'], ['-2', '3']]]]
        """
        return function("ideals.interop.to_mrdi")(self, namespace)

    def write_mrdi(self, path: Path | str, namespace: str = "Macaulay2") -> None:
        """Write the ideal to a file in the interchange format ``.mrdi``; :func:`m2bridge.read_mrdi` reads it.

        As :meth:`to_mrdi`. A file that is there is replaced.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     ideal("x^2 - y").write_mrdi(f"{folder}/parabola.mrdi")
        ...     print(read_mrdi(f"{folder}/parabola.mrdi"))
        ideal(x**2 - y) of QQ[x, y]
        """
        function("ideals.interop.write_mrdi")(self, path, namespace)
