"""Critical points of a quadratic distance q(x − u) on a variety: programs and counts.

Of a variety given by an ideal the points are those where the gradient of q is a combination of the
rows of the Jacobian matrix; of the image of a map they are those of the parametrization. Why this
counts them is in docs/ed-degrees.md. The quadratic form q, a ``DistanceForm``, and the data point u
are arguments ``form`` and ``point``; for ``None`` a random one is drawn. The real points among them
are found in :mod:`.real_points`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
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
from m2bridge.engine.script import Script, render
from m2bridge.errors import MemoryLimitError, TimeLimitError
from m2bridge.ideals.program import question
from m2bridge.limits import clock
from m2bridge.maps.degrees.counting_primes import (
    LONG_PRIME_BITS,
    MAX_COUNTING_PRIMES,
    MIN_AGREEING_PRIMES,
    deciding_primes,
    disagreement_error,
    leading_primes,
    modulo_primes,
    primes_for,
    with_given_prime,
)
from m2bridge.maps.degrees.quadratic_forms import DistanceForm
from m2bridge.maps.degrees.slices import parametrizes_cone


@dataclass(frozen=True, slots=True)
class CriticalCount:
    """What was counted modulo one prime.

    Parameters
    ----------
    dimension : int
        The dimension of the variety; −1 if it is empty.
    critical_dimension : int
        The dimension of the set of critical points, in the source if a map is given; −1 if there
        are none.
    points : int or None
        The number of critical points on the variety, with multiplicity; ``None`` if they are not
        isolated.
    fibre : int
        The number of points of a general fibre of the map; 1 if an ideal is given.
    """

    dimension: int
    critical_dimension: int
    points: int | None
    fibre: int = 1


@dataclass(frozen=True, slots=True)
class AgreedCount:
    """A count on which random primes agree.

    Parameters
    ----------
    count : CriticalCount
    primes : tuple of int
        The primes that gave this count.
    others : tuple of int
        The other primes that were tried; they gave other counts.
    """

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
    """Return the count that most random primes give: at least two primes more than all those with
    other counts, or three more if primes take little time.

    Parameters
    ----------
    count_modulo : function
        Counts modulo a prime.
    primes : iterator of int
        Random primes, without end.

    Raises
    ------
    MethodUnavailableError
        If no count is that of enough primes.
    TimeLimitError, MemoryLimitError
        If a limit was reached before at least two primes more gave one count than different ones.
    """
    counts: dict[int, CriticalCount] = {}
    begin = clock().seconds
    for prime in islice(primes, MAX_COUNTING_PRIMES):
        try:
            counts[prime] = count_modulo(prime)
        except (TimeLimitError, MemoryLimitError) as limit:
            return _agreed_before_limit(counts, limit)
        agreeing = deciding_primes(counts, clock().seconds - begin)
        if agreeing:
            return _agreed_count(counts, agreeing)
    raise disagreement_error(counts)


def _agreed_count(counts: Mapping[int, CriticalCount], agreeing: tuple[int, ...]) -> AgreedCount:
    """Return the common count of the agreeing primes; ``counts`` has all primes that were tried."""
    others = tuple(prime for prime in counts if prime not in agreeing)
    return AgreedCount(count=counts[agreeing[0]], primes=agreeing, others=others)


def _agreed_before_limit(
    counts: Mapping[int, CriticalCount], limit: TimeLimitError | MemoryLimitError
) -> AgreedCount:
    """Return the count that at least two primes more gave than gave different ones, before a limit.

    Raises
    ------
    TimeLimitError, MemoryLimitError
        The limit, if there is no such count; its ``progress`` says what each prime gave.
    """
    agreeing = leading_primes(counts, MIN_AGREEING_PRIMES) if counts else ()
    if agreeing:
        return _agreed_count(counts, agreeing)
    so_far = [f"{count.points} critical points modulo {prime}" for prime, count in counts.items()]
    limit.progress = limit.progress or ", ".join(so_far)
    raise limit


@dataclass(frozen=True, slots=True)
class Variety:
    """A variety whose ideal is known.

    Parameters
    ----------
    ideal : GeneratingSet
        Over QQ.
    title : str
        The variety in words.
    prime : bool
        Whether the ideal is known to be prime over QQ; else its radical is decomposed.
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
        """Count the complex critical points for a form and a data point, modulo random primes.

        The form ``None`` stands for a random form, and the data point ``None`` for a random one.
        """
        script = ideal_script(self, "ed_degree", form, point)

        def count_modulo(prime: int) -> CriticalCount:
            """The critical points on all components of the variety modulo the prime."""
            answer = answer_to(with_given_prime(script, prime))
            critical_set = critical_set_of(answer)
            return CriticalCount(
                # that of the largest component; −1 if there is none
                dimension=max(answer.integers("dimensions"), default=-1),
                critical_dimension=critical_set.dimension,
                points=critical_set.points,
            )

        return count_by_random_primes(
            count_modulo, primes_for(self._integral_generators, numbers_not_divisible(form, point))
        )

    @property
    def _integral_generators(self) -> list[dict[tuple[int, ...], int]]:
        """Multiples of the generators with integer coefficients, as {exponents: coefficient}."""
        return list(map(integer_coefficients, self.ideal.generators_or_zero))


class CriticalSet(NamedTuple):
    """The set of critical points on all components of a variety.

    Parameters
    ----------
    dimension : int
        −1 if the set is empty.
    points : int or None
        Their number with multiplicity; ``None`` if they are not isolated.
    """

    dimension: int
    points: int | None


def critical_set_of(answer: Answer) -> CriticalSet:
    """Return the set of critical points that an answer to a program of :func:`ideal_script` gives.

    The answer has a pair of integers ``critical`` for each component of the variety: the dimension
    of the set of critical points on it, and their number.
    """
    pairs = answer.integer_lists("critical")
    dimension = max((dimension for dimension, _ in pairs), default=-1)
    if dimension > 0:
        return CriticalSet(dimension, points=None)
    return CriticalSet(dimension, points=sum(number for _, number in pairs))


def numbers_not_divisible(form: DistanceForm | None, point: Sequence[Fraction] | None) -> set[int]:
    """Return the numbers that a prime must not divide: the determinant of the form, as the form
    must not be singular modulo the prime, and the denominators of the data point.

    A form or data point that is ``None`` is random, and forbids no prime.
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

    Parameters
    ----------
    variety : Variety
    name : {"ed_degree", "ed_degree_real"}
        The template: complex points are counted modulo a prime that the program is given, or real
        points are found over QQ.
    form : DistanceForm or None
        ``None`` for a random form.
    point : sequence of Fraction, or None
        ``None`` for a random data point.
    **more : str
        Further values of the template, by their names in it.
    """
    ring = variety.ideal.ring
    generators = variety.ideal.generators
    values = {
        "title": variety.title,
        "prime": "true" if variety.prime else "",  # empty is false in a template
        "form": _form_for_macaulay2(form, len(ring.variables)),
        "point": "" if point is None else _point_for_macaulay2(point),
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
    """Return the integer matrix of a positive multiple of a form, which has the same critical
    points, in Macaulay2's syntax; for ``None`` a random symmetric matrix modulo a prime.

    ``size`` is the number of rows.
    """
    if form is None:
        # a random matrix plus its transpose, modulo the prime that the program is given
        entries = f"matrix table({size}, {size}, (i, j) -> random givenPrime)"
        return f"(entries' -> entries' + transpose entries') {entries}"
    rows = (m2_syntax.sequence(map(str, row)) for row in form.integer_rows)
    return f"matrix {m2_syntax.sequence(rows)}"


def _point_for_macaulay2(point: Sequence[Fraction]) -> str:
    """Return a data point in Macaulay2's syntax, as the row of a matrix."""
    return f"{{{m2_syntax.sequence(map(m2_syntax.rational, point))}}}"


@dataclass(frozen=True, slots=True)
class ParametrizedImage:
    """The closure of the image of a polynomial map without relations.

    Parameters
    ----------
    parametrization : PolynomialMap
    spanning : tuple of int
        The positions of as few parameters as suffice: the derivatives with respect to them are a
        basis of the tangent space of the closure at a general point. All other parameters become
        random numbers.
    title : str
        The variety in words.
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
        """Return the image of a map, with ``title`` in words.

        The parameters that suffice are found at a random point modulo a long random prime.
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
        primes.

        This is the number of critical points of the parametrization, divided by the number of
        points of a general fibre. The form ``None`` stands for a random form.
        """
        script = map_script(self, form)
        images = [integer_coefficients(image) for image in self.parametrization.images]
        return count_by_random_primes(
            lambda prime: self._count_modulo(with_given_prime(script, prime)),
            primes_for(images, numbers_not_divisible(form, point=None)),
        )

    def _count_modulo(self, script: Script) -> CriticalCount:
        """Return the count modulo the prime that the program has.

        The answer has the dimension and the number of points of a general fibre, and the dimension
        and the number of the critical points of the parametrization.
        """
        answer = answer_to(script)
        fibre_dimension, fibre_points = answer.integers("fibre")
        critical_dimension, parameter_points = answer.integers("critical")
        # each critical point on the variety is counted once for each point of its fibre; a number
        # that is not divisible shows that a random choice was not general
        is_general = fibre_dimension == 0 and parameter_points % fibre_points == 0
        are_isolated = is_general and critical_dimension <= 0
        points = parameter_points // fibre_points if are_isolated else None
        return CriticalCount(
            dimension=len(self.spanning),
            critical_dimension=critical_dimension,
            points=points,
            fibre=fibre_points,
        )


def map_script(image: ParametrizedImage, form: DistanceForm | None) -> Script:
    """Return the Macaulay2 program that counts by the parametrization, modulo a prime that it is
    given.

    Coordinates are multiplied by the denominators of their images, which may vanish modulo the
    prime, and the form is written in the new coordinates. ``None`` stands for a random form. The
    answers of the program are ``fibre``, for a general fibre, and ``critical``, for the critical
    points on the source: each is a pair of the dimension of the set and its number of points.
    """
    source = image.parametrization.source
    names = m2_syntax.all_to_macaulay2(source.variables)
    # for each coordinate the least denominator, and the image multiplied by it
    cleared = [polynomial.clear_denoms() for polynomial in image.parametrization.images]
    integral_images = [integral_image for _, integral_image in cleared]
    if form is not None:
        form = form.in_scaled_coordinates([int(denominator) for denominator, _ in cleared])
    # what replaces each parameter in the program: itself, or a random number
    values = []
    for j, name in enumerate(names):
        values.append(f"sub({name}, sourceRing)" if j in image.spanning else "randomNumber()")
    template_values = {
        "title": image.title,
        "parameters": ", ".join(names),
        "kept": ", ".join(names[j] for j in image.spanning),
        "values": m2_syntax.sequence(values),
        "images": m2_syntax.sequence(m2_syntax.polynomial(f, names) for f in integral_images),
        "form": _form_for_macaulay2(form, len(integral_images)),
    }
    return render("ed_degree_map", libraries=("wire",), values=template_values)
