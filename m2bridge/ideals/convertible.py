"""Ideals as objects or texts of other programs: SymPy, FLINT, Sage, and Oscar by ``.mrdi``.

How these forms are written and read stands in ``interop``.
"""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import flint
from sympy import Poly, Symbol

from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.errors import check_kind
from m2bridge.ideals.interop import flint_polynomials, mrdi, sage_ideal, sage_text


class ConvertibleIdeal(GeneratingSet):
    """The methods of an ideal that convert it for other programs."""

    __slots__ = ()

    def to_sympy(self) -> list[Poly]:
        """The generators as SymPy's ``Poly``, with variables and field; ``[0]`` for the zero ideal.

        >>> ideal("x^2 - 2/3*y").to_sympy()
        [Poly(x**2 - 2/3*y, x, y, domain='QQ')]
        """
        symbols = list(map(Symbol, self.ring.variables))
        field = self.ring.field
        # for each generator its coefficients by exponents
        polynomials: list[dict[Any, Any]] = list(map(dict, self.generators_or_zero))
        # The domain of QQ, GF(p) and QQ(a, b) is one of SymPy's own. That of an algebraic
        # extension, the only kind of field with a minimal polynomial, is a class of m2bridge.
        domain = field.domain
        if isinstance(field, ExtensionField) and field.minimal_polynomial:
            domain = field.sympy_domain
            # Elements of both are polynomials in the root a, listed from its highest power to 1.
            polynomials = [
                {exponents: domain(coefficient.to_list()) for exponents, coefficient in f.items()}
                for f in polynomials
            ]
        return [Poly.from_dict(terms, *symbols, domain=domain) for terms in polynomials]

    def to_flint(self) -> list[flint.fmpq_mpoly] | list[flint.nmod_mpoly]:
        """The generators in one context of python-flint, its ring; ``[0]`` for the zero ideal.

        Raises ConversionError for names that are not ASCII, MethodUnavailableError over extension
        fields.

        >>> ideal("x^2 - 2/3*y").to_flint()
        [x^2 - 2/3*y]
        """
        return flint_polynomials(self)

    def to_sage(self) -> Any:
        """The ideal as an object of Sage, in degrevlex; :func:`m2bridge.from_sage` goes back.

        Raises MethodUnavailableError where Sage, or those parts of passagemath that know polynomial
        rings, are not in this Python; ConversionError if Sage does not accept a name.

        >>> umbrella = ideal("x^2 - y^2*z").to_sage()  # doctest: +SKIP
        >>> umbrella.groebner_basis()  # doctest: +SKIP
        [x^2 - y^2*z]
        """
        return sage_ideal(self)

    def to_sage_text(self) -> str:
        """A Python program for Sage that defines the ring ``R`` and the ideal ``I``.

        Sage may run it with its preparser or without. Raises ConversionError if Sage does not
        accept a name.

        >>> print(*ideal("x^2 - 2/3*y").to_sage_text().splitlines()[-5:], sep="\\n")
        R = PolynomialRing(QQ, 2, names=["x", "y"], order="degrevlex")
        read = Parser(make_int=ZZ, make_var=R.gens_dict()).parse_expression
        I = R.ideal([R(read(f)) for f in [
            "x^2 - 2/3*y",
        ]])
        """
        return sage_text(self)

    def to_mrdi(self, namespace: str = "Macaulay2") -> dict[str, Any]:
        """The ideal in the interchange format ``.mrdi``, as a dictionary for ``json.dumps``.

        It is written in the words of ``"Macaulay2"`` (its package MRDI, 1.26, reads ideals over QQ)
        or ``"Oscar"``. Raises ConversionError if there is no such namespace, or it has no words for
        the field. Source: Della Vecchia, Joswig, Lorenz, *A FAIR file format for mathematical
        software*, ICMS 2024.

        >>> ideal("x^2 - 2/3*y").to_mrdi()["data"]
        [[[['2', '0'], ['1', '1']], [['0', '1'], ['-2', '3']]]]
        """
        return mrdi(self, namespace)

    def write_mrdi(self, path: Path | str, namespace: str = "Macaulay2") -> None:
        """Write the ideal in the interchange format ``.mrdi``; :func:`m2bridge.read_mrdi` reads it.

        ``namespace``, ``"Macaulay2"`` or ``"Oscar"``, says which program's words are used. Raises
        ConversionError if it is another one, or has no words for the field.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     ideal("x^2 - y").write_mrdi(f"{folder}/parabola.mrdi")
        ...     print(read_mrdi(f"{folder}/parabola.mrdi"))
        ideal(x**2 - y) of QQ[x, y]
        """
        check_kind("path", path, (str, PathLike), "the path of a file")
        data = self.to_mrdi(namespace)
        Path(path).write_text(json.dumps(data, ensure_ascii=False) + "\n", encoding="utf-8")
