# mypy: disable-error-code="no-any-return"
"""Sums, products, comparison, quotients, elimination."""

from __future__ import annotations

from typing import TYPE_CHECKING

from m2bridge.algebra.verbs.delegate import function

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sympy import Symbol

    from m2bridge.algebra.ring import Ideal
    from m2bridge.engine import Engine


class Arithmetic:
    """What ideals of one ring are combined to."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Whether both are the same ideal of the same ring, whatever generators they are given by.

        Where the generators differ, reduced Gröbner bases are compared: those that FLINT finds within narrow limits, in
        milliseconds, and else, as everywhere over GF(p), by Macaulay2, in the session that all ideals share.
        :meth:`equals` takes another one and a limit on time. Equal ideals have the same ``hash``, which is that of the
        ring and needs no Macaulay2; so a set of many ideals of one ring compares all of them with each other.

        Examples
        --------
        >>> ideal("x + y", "x - y") == ideal("x", "y")
        True
        >>> ideal("x^2", variables="x y") == ideal("x", variables="x y")
        False
        """
        if not isinstance(other, Arithmetic):
            return NotImplemented
        return function("ideals.operations.equals")(self, other)

    def __hash__(self) -> int:
        return hash(self.ring)  # type: ignore[attr-defined]

    def __add__(self, other: Ideal) -> Ideal:
        """The sum of two ideals of one ring: it defines the intersection of their varieties. No engine is needed.

        Examples
        --------
        >>> print(ideal("x", variables="x y") + ideal("y", variables="x y"))
        ideal(x, y) of QQ[x, y]
        """
        return function("ideals.operations.add")(self, other) if isinstance(other, Arithmetic) else NotImplemented

    def __mul__(self, other: Ideal) -> Ideal:
        """The product of two ideals of one ring: it defines the union of their varieties. No engine is needed.

        Examples
        --------
        >>> print(ideal("x", "y") * ideal("x", "y"))
        ideal(x**2, x*y, y**2) of QQ[x, y]
        """
        return function("ideals.operations.multiply")(self, other) if isinstance(other, Arithmetic) else NotImplemented

    def __pow__(self, exponent: int) -> Ideal:
        """A power of the ideal; the unit ideal for the exponent 0. No engine is needed.

        Examples
        --------
        >>> print(ideal("x", "y") ** 2)
        ideal(x**2, x*y, y**2) of QQ[x, y]
        """
        if isinstance(exponent, bool) or not isinstance(exponent, int) or exponent < 0:
            return NotImplemented
        return function("ideals.operations.power")(self, exponent)

    def __contains__(self, polynomial: object) -> bool:
        return self.contains(polynomial)

    def equals(self, other: Ideal, engine: Engine | None = None, timeout: float | None = None) -> bool:
        """Whether both are the same ideal; as ``==``, with a session and a limit on time.

        Where an engine is given, it is asked.

        Examples
        --------
        >>> ideal("x + y", "x - y").equals(ideal("x", "y"), timeout=60)
        True
        """
        return function("ideals.operations.equals")(self, other, engine, timeout)

    def contains(self, other: object, engine: Engine | None = None, timeout: float | None = None) -> bool:
        """Whether a polynomial, or another ideal of the ring, lies in the ideal; ``in`` asks the same.

        Small questions over QQ are answered by FLINT where no engine is given.

        Parameters
        ----------
        other : Ideal, or a polynomial as :func:`m2bridge.ideal` takes them

        Examples
        --------
        >>> cusp = ideal("y^2 - x^3")
        >>> cusp.contains("x*y^2 - x^4"), cusp.contains("x")
        (True, False)
        """
        return function("ideals.operations.contains")(self, other, engine, timeout)

    def intersect(
        self, *others: Ideal | Sequence[Ideal], engine: Engine | None = None, timeout: float | None = None
    ) -> Ideal:
        """The intersection with other ideals of the ring: it defines the union of the varieties.

        Source: Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, section 4.3.

        Examples
        --------
        >>> x, y = (ideal(name, variables="x y") for name in "xy")
        >>> print(x.intersect(y))
        ideal(x*y) of QQ[x, y]
        """
        return function("ideals.operations.intersect")(self, others, engine, timeout)

    def quotient(self, other: object, engine: Engine | None = None, timeout: float | None = None) -> Ideal:
        """The quotient I : J, all f with f·J ⊆ I, for an ideal J or a polynomial.

        Source: Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, section 4.4.

        Examples
        --------
        >>> print(ideal("x^2*y").quotient("x"))
        ideal(x*y) of QQ[x, y]
        """
        return function("ideals.operations.quotient")(self, other, engine, timeout)

    def saturate(self, other: object, engine: Engine | None = None, timeout: float | None = None) -> Ideal:
        """The saturation I : J^∞, all f with f·J^n ⊆ I for some n, for an ideal J or a polynomial.

        It defines the closure of V(I) without V(J), components embedded in V(J) left out.

        Source: Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, section 4.4.

        Examples
        --------
        >>> print(ideal("x^2*y").saturate("x"))
        ideal(y) of QQ[x, y]
        """
        return function("ideals.operations.saturate")(self, other, engine, timeout)

    def eliminate(
        self,
        *variables: str | Symbol | Sequence[str | Symbol],
        engine: Engine | None = None,
        timeout: float | None = None,
    ) -> Ideal:
        """The elimination ideal: what the ideal contains in the other variables, as an ideal of their ring.

        It defines the closure of the projection of V(I) to the other coordinates.

        Source: Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, sections 3.1 and 3.2.

        Examples
        --------
        >>> print(ideal("x - t^2", "y - t^3").eliminate("t"))
        ideal(x**3 - y**2) of QQ[x, y]
        """
        return function("ideals.operations.eliminate")(self, variables, engine, timeout)
