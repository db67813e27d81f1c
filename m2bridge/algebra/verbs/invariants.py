# mypy: disable-error-code="no-any-return"
"""Gröbner bases, dimensions, Hilbert series, resolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from m2bridge.algebra.verbs.delegate import function

if TYPE_CHECKING:
    from m2bridge.algebra.hilbert_series import HilbertSeries
    from m2bridge.engine import Engine


class Invariants:
    """Numbers that belong to an ideal; they do not change when the field is enlarged."""

    __slots__ = ()

    def dimension(self, engine: Engine | None = None, timeout: float | None = None) -> int:
        """The dimension of the variety in affine space, the Krull dimension of the quotient; −1 for the unit ideal.

        Over the algebraic closure the dimension is the same. The projective variety of a homogeneous ideal has one
        dimension less.

        Examples
        --------
        >>> ideal("x*y", "x*z").dimension()
        2
        """
        return function("ideals.invariants.dimension")(self, engine, timeout)

    def codimension(self, engine: Engine | None = None, timeout: float | None = None) -> int:
        """The number of variables less the dimension, which is the smallest height of a minimal prime.

        For the unit ideal, which has none, it is one more than there are variables.

        Examples
        --------
        >>> ideal("x*y", "x*z").codimension()
        1
        """
        return function("ideals.invariants.codimension")(self, engine, timeout)

    def degree(self, engine: Engine | None = None, timeout: float | None = None) -> int:
        """The degree of the scheme: of its components of the largest dimension, with multiplicities; 0 for 1.

        For an ideal that is not homogeneous that of the closure in projective space.

        Source: Hartshorne, *Algebraic Geometry*, section I.7.

        Examples
        --------
        >>> ideal("x^2*y").degree()
        3
        """
        return function("ideals.invariants.degree")(self, engine, timeout)

    def hilbert_series(self, engine: Engine | None = None, timeout: float | None = None) -> HilbertSeries:
        """The Hilbert series of the quotient by a homogeneous ideal.

        For others it is that of the quotient by the leading forms, whose value in degree n is the dimension of the
        space of functions of degree at most n less that of those of degree at most n − 1.

        Source: Bruns, Herzog, *Cohen–Macaulay Rings*, section 4.1.

        Examples
        --------
        >>> ideal("x^2 - y*z").hilbert_series()
        HilbertSeries(numerator=(1, 1), dimension=2)
        """
        return function("ideals.invariants.hilbert_series")(self, engine, timeout)
