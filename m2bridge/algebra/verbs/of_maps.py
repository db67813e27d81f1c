# mypy: disable-error-code="no-any-return"
"""What can be done with a polynomial map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.verbs.delegate import function

if TYPE_CHECKING:
    from m2bridge.algebra.modules import Matrix
    from m2bridge.algebra.ring import Ideal
    from m2bridge.engine import Engine
    from m2bridge.maps.image import Image
    from m2bridge.maps.singular_locus_result import SingularLocus


class MapVerbs:
    """The methods of a polynomial map that ask for more than algebra."""

    __slots__ = ()

    def image(
        self, engine: Engine | None = None, field: CoefficientField = QQ, *, timeout: float | None = None
    ) -> Image:
        """The closure of the image, with ideal, dimension and degree; :func:`m2bridge.image` has more options.

        Examples
        --------
        >>> from sympy import symbols
        >>> t = symbols("t")
        >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
        >>> cusp.image().closure.ideal.generators
        (x**3 - y**2,)
        """
        return function("maps.image.image")(self, engine, field, timeout=timeout)

    def preimage(self, ideal: Ideal) -> Ideal:
        """The preimage of an ideal in the coordinates; the same as :meth:`m2bridge.Ideal.preimage`.

        Examples
        --------
        >>> from sympy import symbols
        >>> t = symbols("t")
        >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
        >>> print(cusp.preimage(ideal("x - 1", "y + 1")))
        ideal(t**2 - 1, t**3 + 1) of QQ[t]
        """
        return function("ideals.operations.preimage")(ideal, self)

    def jacobian(self) -> Matrix:
        """The Jacobian matrix of the images: a row for each coordinate, a column for each parameter.

        Examples
        --------
        >>> from sympy import symbols
        >>> s, t = symbols("s t")
        >>> PolynomialMap.from_expressions([s, t], {"x": s**2, "y": s*t}).jacobian().entries
        ((2*s, 0), (t, s))
        """
        return function("ideals.operations.jacobian")(self)

    def singular_locus(
        self, engine: Engine | None = None, field: CoefficientField = QQ, *, timeout: float | None = None
    ) -> SingularLocus:
        """The singular locus of the closure of the image; :func:`m2bridge.singular_locus` has more options.

        Examples
        --------
        >>> from sympy import symbols
        >>> t = symbols("t")
        >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
        >>> cusp.singular_locus().dimension
        0
        """
        return function("maps.singular_locus.singular_locus")(self, engine, field, timeout=timeout)
