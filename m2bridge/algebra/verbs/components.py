# mypy: disable-error-code="no-any-return"
"""Radicals, primes and decompositions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from m2bridge.algebra.verbs.delegate import function

if TYPE_CHECKING:
    from m2bridge.algebra.ring import Ideal
    from m2bridge.engine import Engine


class Components:
    """What an ideal is put together from, over the field of its ring.

    A prime ideal can decompose over a larger field: x² + 1 is irreducible over QQ, and has two factors over QQ(i).
    Radicals do not depend on the field, because QQ and GF(p) are perfect.
    """

    __slots__ = ()

    def radical(self, engine: Engine | None = None, timeout: float | None = None) -> Ideal:
        """The radical: all polynomials of which a power lies in the ideal.

        It generates the radical over every larger field, too, because QQ and GF(p) are perfect: all polynomials that
        vanish on the variety over an algebraically closed field.

        Source: Greuel, Pfister, *A Singular Introduction to Commutative Algebra*, section 4.5.

        Examples
        --------
        >>> print(ideal("x^2", "x*y").radical())
        ideal(x) of QQ[x, y]
        """
        return function("ideals.operations.radical")(self, engine, timeout)

    def minimal_primes(self, engine: Engine | None = None, timeout: float | None = None) -> tuple[Ideal, ...]:
        """The minimal primes, over the field of the ring: the irreducible components of the variety; none for 1.

        They can decompose over a larger field.

        Source: Greuel, Pfister, *A Singular Introduction to Commutative Algebra*, sections 4.3 and 4.4.

        Examples
        --------
        >>> [str(prime.generators) for prime in ideal("x*y", "x*z").minimal_primes()]
        ['(x,)', '(y, z)']
        """
        return function("ideals.operations.minimal_primes")(self, engine, timeout)

    def primary_decomposition(self, engine: Engine | None = None, timeout: float | None = None) -> tuple[Ideal, ...]:
        """Primary ideals with different radicals and this ideal as intersection, none superfluous; none for 1.

        Over the field of the ring. Where there are embedded components, these are not unique; their radicals are, see
        :meth:`associated_primes`.

        Source: Eisenbud, *Commutative Algebra*, Theorem 3.10.

        Examples
        --------
        >>> I = ideal("x^2", "x*y")
        >>> first, second = I.primary_decomposition()
        >>> first.intersect(second) == I
        True
        """
        return function("ideals.operations.primary_decomposition")(self, engine, timeout)

    def associated_primes(self, engine: Engine | None = None, timeout: float | None = None) -> tuple[Ideal, ...]:
        """The associated primes, over the field of the ring: the minimal ones and the embedded ones; none for 1.

        Source: Eisenbud, *Commutative Algebra*, Theorem 3.1.

        Examples
        --------
        >>> [str(prime.generators) for prime in ideal("x^2", "x*y").associated_primes()]
        ['(x,)', '(x, y)']
        """
        return function("ideals.operations.associated_primes")(self, engine, timeout)

    def is_prime(self, engine: Engine | None = None, timeout: float | None = None) -> bool:
        """Whether the ideal is prime over the field of its ring; over a larger field it can be another matter.

        The unit ideal is not prime.

        Examples
        --------
        >>> ideal("x^2 + 1").is_prime(), ideal("x^2 - 1").is_prime()
        (True, False)
        """
        return function("ideals.operations.is_prime")(self, engine, timeout)

    def is_radical(self, engine: Engine | None = None, timeout: float | None = None) -> bool:
        """Whether the ideal is its own radical; the unit ideal is.

        Then so it is over every larger field, because QQ and GF(p) are perfect.

        Examples
        --------
        >>> ideal("x*y").is_radical(), ideal("x^2*y").is_radical()
        (True, False)
        """
        return function("ideals.operations.is_radical")(self, engine, timeout)
