# mypy: disable-error-code="no-any-return"
"""Gröbner bases, dimensions, Hilbert series, resolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from m2bridge.algebra.verbs.delegate import function

if TYPE_CHECKING:
    from m2bridge.algebra.hilbert_series import HilbertSeries
    from m2bridge.algebra.modules import BettiTable, Complex, GroebnerBasis, HilbertPolynomial, Matrix
    from m2bridge.engine import Engine


class Invariants:
    """Numbers that belong to an ideal; they do not change when the field is enlarged."""

    __slots__ = ()

    def groebner_basis(self, engine: Engine | None = None, timeout: float | None = None) -> GroebnerBasis:
        """The reduced Gröbner basis for the graded reverse lexicographic order, which belongs to the ideal alone.

        Leading coefficients are 1; elements of low degree come first.

        Source: Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, section 2.7.

        Examples
        --------
        >>> ideal("x^2 + y", "x*y - 1").groebner_basis().generators
        (x**2 + y, x*y - 1, y**2 + x)
        """
        return function("ideals.operations.groebner_basis")(self, engine, timeout)

    def dimension(self, engine: Engine | None = None, timeout: float | None = None) -> int:
        """The dimension of the variety in affine space, the Krull dimension of the quotient; −1 for the unit ideal.

        Over the algebraic closure the dimension is the same. The projective variety of a homogeneous ideal has one
        dimension less.

        Examples
        --------
        >>> ideal("x*y", "x*z").dimension()
        2
        """
        return function("ideals.operations.dimension")(self, engine, timeout)

    def codimension(self, engine: Engine | None = None, timeout: float | None = None) -> int:
        """The number of variables less the dimension, which is the smallest height of a minimal prime.

        For the unit ideal, which has none, it is one more than there are variables.

        Examples
        --------
        >>> ideal("x*y", "x*z").codimension()
        1
        """
        return function("ideals.operations.codimension")(self, engine, timeout)

    def degree(self, engine: Engine | None = None, timeout: float | None = None) -> int:
        """The degree of the scheme: of its components of the largest dimension, with multiplicities; 0 for 1.

        For an ideal that is not homogeneous that of the closure in projective space.

        Source: Hartshorne, *Algebraic Geometry*, section I.7.

        Examples
        --------
        >>> ideal("x^2*y").degree()
        3
        """
        return function("ideals.operations.degree")(self, engine, timeout)

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
        return function("ideals.operations.hilbert_series")(self, engine, timeout)

    def hilbert_polynomial(self, engine: Engine | None = None, timeout: float | None = None) -> HilbertPolynomial:
        """The Hilbert polynomial: the values of the Hilbert function in all large degrees.

        Of the quotient by a homogeneous ideal; for others of the quotient by the leading forms, see
        :meth:`hilbert_series`.

        Source: Bruns, Herzog, *Cohen–Macaulay Rings*, Theorem 4.1.3.

        Examples
        --------
        >>> cubic = ideal("x*z - y^2", "y*w - z^2", "x*w - y*z")
        >>> print(cubic.hilbert_polynomial(), cubic.hilbert_polynomial().to_sympy("n"))
        -2*P_0 + 3*P_1 3*n + 1
        """
        return function("ideals.operations.hilbert_polynomial")(self, engine, timeout)

    def betti_table(self, engine: Engine | None = None, timeout: float | None = None) -> BettiTable:
        """The graded Betti numbers of the quotient by a homogeneous ideal.

        Raises
        ------
        MethodUnavailableError
            If a generator is not homogeneous.

        Source: Eisenbud, *The Geometry of Syzygies*, chapter 1.

        Examples
        --------
        >>> print(ideal("x*z - y^2", "y*w - z^2", "x*w - y*z").betti_table())
               0 1 2
        total: 1 3 2
            0: 1 . .
            1: . 3 2
        """
        return function("ideals.operations.betti_table")(self, engine, timeout)

    def resolution(self, engine: Engine | None = None, timeout: float | None = None) -> Complex:
        """A free resolution of the quotient: the minimal one where all generators are homogeneous, else any.

        Source: Eisenbud, *Commutative Algebra*, chapters 19 and 20.

        Examples
        --------
        >>> koszul = ideal("x", "y").resolution()
        >>> [module.degrees for module in koszul.modules]
        [((0,),), ((1,), (1,)), ((2,),)]
        >>> koszul.differentials[1].entries
        ((-y,), (x,))
        """
        return function("ideals.operations.resolution")(self, engine, timeout)

    def jacobian(self) -> Matrix:
        """The Jacobian matrix of the generators: a row for each generator, a column for each variable.

        Macaulay2's ``jacobian`` is its transpose. No engine is needed.

        Examples
        --------
        >>> ideal("x^2 - y^2*z").jacobian().entries
        ((2*x, -2*y*z, -y**2),)
        """
        return function("ideals.operations.jacobian_of_generators")(self)
