# mypy: disable-error-code="no-any-return"
"""Singular loci, images and preimages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from m2bridge.algebra.verbs.delegate import function

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.ring import Ideal
    from m2bridge.engine import Engine
    from m2bridge.ideals.singular_locus import IdealSingularLocus


class Geometry:
    """What belongs to the variety of an ideal."""

    __slots__ = ()

    def singular_locus(self, engine: Engine | None = None, timeout: float | None = None) -> IdealSingularLocus:
        """The singular locus of the variety V(I): the points of which the local ring is not regular.

        For every ideal: V(I) is taken as a reduced variety, and may have components of several dimensions. A point is
        singular when it is so on a component, which the Jacobian criterion for the prime ideal of that component
        decides, or when it lies on two components, because its local ring is no domain then. The same locus results
        over every larger field, because QQ and GF(p) are perfect; its components can decompose there.

        Raises
        ------
        TooLargeError
            If a component has too many minors.

        Source: Hartshorne, *Algebraic Geometry*, Theorem I.5.1; Eisenbud, *Commutative Algebra*, Corollary 16.20.

        Examples
        --------
        >>> umbrella = ideal("x^2 - y^2*z")
        >>> umbrella.singular_locus().ideal == ideal("x", "y", variables="x y z")
        True
        """
        return function("ideals.singular_locus.singular_locus")(self, engine, timeout)

    def image(self, polynomial_map: PolynomialMap, engine: Engine | None = None, timeout: float | None = None) -> Ideal:
        """The ideal of the image of the scheme of this ideal, in the coordinates of the target of a map.

        It is the kernel of the ring map from the functions on the target to those on the scheme, and defines the
        Zariski closure of the image of V(I); it is radical if this ideal is, and prime if this ideal is. Where the
        source of the map has relations, they define a set of points, and the ideal of those is added.

        Source: Hartshorne, *Algebraic Geometry*, Exercise II.3.11.

        Examples
        --------
        >>> from sympy import symbols
        >>> s, t = symbols("s t")
        >>> square = PolynomialMap.from_expressions([s, t], {"x": s**2, "y": t**2})
        >>> print(ideal("s - t").image(square))
        ideal(x - y) of QQ[x, y]
        """
        return function("ideals.operations.image")(self, polynomial_map, engine, timeout)

    def preimage(self, polynomial_map: PolynomialMap) -> Ideal:
        """The ideal of the preimage under a map: its generators with the coordinates replaced by their images.

        An ideal of the ring of the parameters, with the relations of the source as they are given; it need not be
        radical, even if this one is. No engine is needed.

        Examples
        --------
        >>> from sympy import symbols
        >>> t = symbols("t")
        >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
        >>> print(ideal("x", "y").preimage(cusp))
        ideal(t**2, t**3) of QQ[t]
        """
        return function("ideals.operations.preimage")(self, polynomial_map)
