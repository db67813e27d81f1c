"""Critical points of a quadratic distance q(x − u) on a variety: programs and counts.

Of a variety given by an ideal the points are those where the gradient of q is a combination of rows
of the Jacobian matrix, as many as the codimension; for general u no polynomial has to be inverted
to leave out where these rows are dependent. Of the image of a map they are critical for the
parametrization. Why this counts them is in docs/ed-degrees.md. The quadratic form q, a
``DistanceForm``, and the data point u are arguments ``form`` and ``point``; for ``None`` a random
one is drawn. Programs count modulo a prime that they are given, with multiplicity; ``None`` points
are not isolated, and the empty set has dimension −1. The real points among them are found in
:mod:`.real_points`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import flint

from m2bridge.algebra.differential import jacobian_at
from m2bridge.algebra.linear_algebra import pivot_columns
from m2bridge.algebra.numbers import integer_coefficients, random_primes
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, is_homogeneous
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.engine import current, msolve
from m2bridge.engine.script import Script, render
from m2bridge.ideals.program import question
from m2bridge.maps.closure import closure
from m2bridge.maps.degrees.counting_primes import (
    LONG_PRIME_BITS,
    count_modulo_primes,
    modulo_primes,
    primes_for,
    with_given_prime,
)
from m2bridge.maps.degrees.quadratic_forms import DistanceForm
from m2bridge.maps.degrees.slices import map_values, parametrizes_cone
from m2bridge.maps.model import Model
from m2bridge.results.sheet import quoted


@dataclass(frozen=True, slots=True)
class CriticalCount:
    """The numbers modulo one prime."""

    dimension: int  # of the variety
    critical_dimension: int  # of the set of critical points, in the source if a map is given
    points: int | None  # critical points on the variety
    fibre: int = 1  # points of a general fibre of the map


@dataclass(frozen=True, slots=True)
class AgreedCount:
    """A count on which random primes agree; ``others`` were tried too and gave other counts."""

    count: CriticalCount
    primes: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def known(self) -> str:
        """How the count is known, in words: modulo how many primes, and which gave other counts."""
        return modulo_primes(self.primes, (*self.primes, *self.others))


def count_by_random_primes(
    count_modulo: Callable[[int], CriticalCount], primes: Iterator[int]
) -> AgreedCount:
    """Return the count on which enough random primes agree; at a limit before that, the error says
    what each prime gave.
    """
    counts = count_modulo_primes(count_modulo, primes, value=lambda count: count)
    if not counts.agreeing:
        assert counts.limit is not None
        so_far = [
            f"{count.points} critical points modulo {p}" for p, count in counts.by_prime.items()
        ]
        counts.limit.progress = counts.limit.progress or ", ".join(so_far)
        raise counts.limit
    others = tuple(prime for prime in counts.by_prime if prime not in counts.agreeing)
    count = counts.by_prime[counts.agreeing[0]]
    return AgreedCount(count=count, primes=counts.agreeing, others=others)


@dataclass(frozen=True, slots=True)
class Variety:
    """A variety whose ideal over QQ is known, with its title in words.

    Unless the ideal is known to be prime, programs decompose its radical.
    """

    ideal: GeneratingSet
    title: str
    prime: bool = False

    @property
    def ring(self) -> PolynomialRing:
        """The ring of polynomials in the coordinates of the ambient space."""
        return self.ideal.ring

    @property
    def is_cone(self) -> bool:
        """Whether the generators are homogeneous."""
        return all(map(is_homogeneous, self.ideal.generators))

    def count(
        self, form: DistanceForm | None, point: Sequence[Fraction] | None = None
    ) -> AgreedCount:
        """Count the complex critical points for a form and a data point, modulo random primes."""
        script = ideal_script(self, "ed_degree", form, point, msolve_folder=_msolve_folder())
        return self._count_by(script, form, point)

    def count_closure(self) -> AgreedCount:
        """Count them for a random form and data point on the cone over the closure in projective
        space.
        """
        script = ideal_script(
            self, "ed_degree", form=None, point=None, cone="true", msolve_folder=_msolve_folder()
        )
        return self._count_by(script, form=None, point=None)

    def _count_by(
        self, script: Script, form: DistanceForm | None, point: Sequence[Fraction] | None
    ) -> AgreedCount:
        """Count the critical points by this program, modulo random primes."""

        def count_modulo(prime: int) -> CriticalCount:
            """The critical points on all components of the variety modulo the prime."""
            answer = answer_to(with_given_prime(script, prime))
            critical_set = critical_set_of(answer)
            return CriticalCount(
                dimension=max(answer.integers("dimensions"), default=-1),
                critical_dimension=critical_set.dimension,
                points=critical_set.points,
            )

        generators = map(integer_coefficients, self.ideal.generators_or_zero)
        primes = primes_for(generators, numbers_not_divisible(form, point))
        return count_by_random_primes(count_modulo, primes)


def _msolve_folder() -> str:
    """Where Macaulay2 finds msolve, in its syntax; empty without it."""
    solver, _ = msolve.for_engine(current())
    return "" if solver is None else quoted(f"{solver.program.parent}/")


def variety_of_closure(model: Model) -> Variety:
    """Return the closure of a model as the variety of its ideal; the error of the closure if the
    ideal is not proved to be complete.
    """
    variety = closure(model)
    if variety.ideal is None or not variety.completeness.proved:
        raise variety.incomplete()
    # the closure of an image is irreducible if the source is, and then its ideal is prime
    is_prime = not model.polynomial_map.maybe_reducible
    return Variety(variety.ideal, model.title, prime=is_prime)


class CriticalSet(NamedTuple):
    """The set of critical points on all components of a variety."""

    dimension: int
    points: int | None


def critical_set_of(answer: Answer) -> CriticalSet:
    """Return the set of critical points by an answer, which has a pair ``critical`` for each
    component: the dimension of the set on it, and its number of points.
    """
    pairs = answer.integer_lists("critical")
    dimension = max((dimension for dimension, _ in pairs), default=-1)
    if dimension > 0:
        return CriticalSet(dimension, points=None)
    return CriticalSet(dimension, points=sum(number for _, number in pairs))


def numbers_not_divisible(form: DistanceForm | None, point: Sequence[Fraction] | None) -> set[int]:
    """Return the numbers that a prime must not divide: the determinant of the form, as the form
    must not be singular modulo the prime, and the denominators of the data point.
    """
    numbers = {1}  # no prime divides 1
    if form is not None:
        numbers.add(abs(int(flint.fmpz_mat(form.integer_rows).det())))
    if point is not None:
        numbers.add(lcm(*(x.denominator for x in point)))
    return numbers


def ideal_script(
    variety: Variety,
    name: str,
    form: DistanceForm | None,
    point: Sequence[Fraction] | None,
    **more: str,
) -> Script:
    """Return the Macaulay2 program that finds the critical points on the variety of an ideal.

    The template ``name`` is ``ed_degree``, complex points modulo a prime, or ``ed_degree_real``,
    real points over QQ; ``more`` are further values of it. With ``cone`` among them the points are
    on the cone over the closure in projective space, with one coordinate more.
    """
    ring = variety.ideal.ring
    generators = variety.ideal.generators
    values = {
        "title": variety.title,
        "prime": "true" if variety.prime else "",  # empty is false in a template
        "form": _form_for_macaulay2(form, len(ring.variables) + ("cone" in more)),
        "cone": "",
        # the row of a matrix
        "point": ""
        if point is None
        else f"{{{m2_syntax.sequence(map(m2_syntax.rational, point))}}}",
        **more,
    }
    # complex points are counted over ZZ/p, which is coefficients' in the program; the real points
    # are found in the ring of the ideal itself, over QQ
    if name == "ed_degree":
        variables = ", ".join(m2_syntax.all_to_macaulay2(ring.variables))
        values["ring"] = f"coefficients'[{variables}]"
        # the program reads the generators modulo its prime, so they need coefficients in ZZ
        integral = map(integer_coefficients, variety.ideal.generators_or_zero)
        generators = tuple(map(ring.sympy_ring.from_dict, integral))
    return question(name, {"givenIdeal": GeneratingSet(ring, generators)}, values)


def _form_for_macaulay2(form: DistanceForm | None, size: int) -> str:
    """Return the matrix of a positive integer multiple of a form, which has the same critical
    points, or a random symmetric matrix modulo the prime, in Macaulay2's syntax.
    """
    if form is None:
        # a random matrix plus its transpose, modulo the prime that the program is given
        entries = f"matrix table({size}, {size}, (i, j) -> random givenPrime)"
        return f"(entries' -> entries' + transpose entries') {entries}"
    rows = (m2_syntax.sequence(map(str, row)) for row in form.integer_rows)
    return f"matrix {m2_syntax.sequence(rows)}"


@dataclass(frozen=True, slots=True)
class ParametrizedImage:
    """The closure of the image of a polynomial map without relations, with its title in words.

    ``spanning`` are the positions of as few parameters as suffice: the derivatives with respect to
    them are a basis of the tangent space of the closure at a general point. All other parameters
    become random numbers.
    """

    parametrization: PolynomialMap
    spanning: tuple[int, ...]
    title: str

    @property
    def ring(self) -> PolynomialRing:
        """The ring of polynomials in the coordinates of the ambient space."""
        return self.parametrization.target()

    @property
    def is_cone(self) -> bool:
        """Whether weights of the parameters make the images homogeneous of weight 1."""
        return parametrizes_cone(self.parametrization)

    @classmethod
    def of(cls, parametrization: PolynomialMap, title: str) -> ParametrizedImage:
        """Return the image of a map; the parameters that suffice are found at a random point modulo
        a long random prime.
        """
        prime = next(random_primes(LONG_PRIME_BITS))
        point = [1 + secrets.randbelow(prime - 1) for _ in parametrization.source.variables]
        gradients = jacobian_at(parametrization.images, point, prime)
        spanning: list[int] = []
        if point and gradients:  # else the matrix has no columns or no rows
            # the columns that are no combinations of earlier ones
            spanning, _echelon = pivot_columns(gradients, prime)
        return cls(parametrization, tuple(spanning), title)

    def count(self, form: DistanceForm | None) -> AgreedCount:
        """Count the complex critical points for a form and a random data point, modulo random
        primes: the critical points of the parametrization, divided by the points of a general
        fibre.
        """
        script = map_script(self, form)

        def count_modulo(prime: int) -> CriticalCount:
            """The critical points of the parametrization modulo the prime."""
            answer = answer_to(with_given_prime(script, prime))
            fibre_dimension, fibre_points = answer.integers("fibre")
            critical_dimension, parameter_points = answer.integers("critical")
            # each critical point on the variety is counted once for each point of its fibre; a
            # number that is not divisible shows that a random choice was not general
            is_general = fibre_dimension == 0 and parameter_points % fibre_points == 0
            are_isolated = is_general and critical_dimension <= 0
            points = parameter_points // fibre_points if are_isolated else None
            return CriticalCount(
                dimension=len(self.spanning),
                critical_dimension=critical_dimension,
                points=points,
                fibre=fibre_points,
            )

        images = map(integer_coefficients, self.parametrization.images)
        primes = primes_for(images, numbers_not_divisible(form, point=None))
        return count_by_random_primes(count_modulo, primes)


def map_script(image: ParametrizedImage, form: DistanceForm | None) -> Script:
    """Return the Macaulay2 program that counts by the parametrization: ``fibre`` and ``critical``,
    each the dimension of the set and its number of points.

    Coordinates are multiplied by the denominators of their images, which may vanish modulo the
    prime, and the form is written in the new coordinates.
    """
    # for each coordinate the least denominator, and the image multiplied by it
    cleared = [polynomial.clear_denoms() for polynomial in image.parametrization.images]
    integral_images = [integral_image for _, integral_image in cleared]
    if form is not None:
        form = form.in_scaled_coordinates([int(denominator) for denominator, _ in cleared])
    values = {
        "title": image.title,
        **map_values(image.parametrization.source.variables, image.spanning, integral_images),
        "form": _form_for_macaulay2(form, len(integral_images)),
    }
    return render("ed_degree_map", libraries=("wire",), values=values)
