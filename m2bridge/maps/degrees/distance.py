"""Critical points of a quadratic distance q(x − u) on a variety: forms, programs and counts.

Of a variety given by an ideal the points are those where the gradient of q is a combination of the
rows of the Jacobian matrix; of the image of a map they are those of the parametrization. Why this
counts them is in docs/ed-degrees.md.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import lcm
from random import Random
from typing import Any

import flint
import numpy

from m2bridge.algebra.differential import jacobian_at
from m2bridge.algebra.linear_algebra import pivot_columns, signature
from m2bridge.algebra.numbers import flint_rational, fraction, integer_coefficients, random_primes
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, is_homogeneous, total_degree
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.convert.bounded_io import read_rational
from m2bridge.convert.parsing import element
from m2bridge.convert.printing import polynomial_text
from m2bridge.engine import current, msolve
from m2bridge.engine.script import Script, render
from m2bridge.errors import (
    ConversionError,
    InvalidCaseError,
    MemoryLimitError,
    MethodUnavailableError,
    ParseError,
    TimeLimitError,
)
from m2bridge.ideals.program import question
from m2bridge.limits import clock
from m2bridge.maps.degrees.counting_primes import (
    LONG_PRIME_BITS,
    MAX_COUNTING_PRIMES,
    MIN_AGREEING_PRIMES,
    deciding,
    leading,
    modulo_primes,
    primes_for,
    too_few,
    with_given_prime,
)
from m2bridge.results.sheet import quoted

MAX_TRACE_FORM_POINTS = 30
"""The largest number of complex points whose trace form is computed, without msolve."""
MAX_REAL_ATTEMPTS = 3
"""The largest number of random systems that are tried until one leaves no critical point out."""
MAX_IMAGINARY_PART = 1e-6
"""The imaginary part, relatively, up to which an approximation may be that of a real point."""

FormRows = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, slots=True)
class DistanceForm:
    """A nondegenerate quadratic form q(x) = xᵀ M x over QQ.

    Parameters
    ----------
    matrix : tuple of tuple of Fraction
        M, which is symmetric.
    text : str
        The form as a polynomial.
    """

    matrix: FormRows
    text: str

    @property
    def is_standard(self) -> bool:
        """Whether it is the sum of the squares of the coordinates."""
        size = len(self.matrix)
        return self.matrix == _identity(size)

    def at(self, vector: Sequence[Fraction]) -> Fraction:
        """The value at a vector."""
        total = Fraction(0)
        for row, x in zip(self.matrix, vector, strict=True):
            total += x * sum(c * y for c, y in zip(row, vector, strict=True))
        return total

    def scaled(self, denominators: Sequence[int]) -> DistanceForm:
        """The form in coordinates that are multiplied by these numbers."""
        rows = []
        for row, d in zip(self.matrix, denominators, strict=True):
            rows.append(tuple(c / (d * e) for c, e in zip(row, denominators, strict=True)))
        return DistanceForm(tuple(rows), self.text)

    @property
    def integer_rows(self) -> list[list[int]]:
        """A multiple of M with integer entries; it has the same critical points."""
        scale = lcm(*(c.denominator for row in self.matrix for c in row))
        return [[int(c * scale) for c in row] for row in self.matrix]


def read_quadratic(value: Any, ring: PolynomialRing) -> DistanceForm:
    """Read a quadratic form in the variables of a ring; ``None`` means the standard one.

    Parameters
    ----------
    value : polynomial, or sequence of rows of exact numbers, or None
        A polynomial is what :func:`m2bridge.ideal` takes.

    Raises
    ------
    ConversionError
        If it is not read as one.
    InvalidCaseError
        If it is not homogeneous of degree two, or no symmetric matrix of this size, or singular.
    """
    size = len(ring.variables)
    if value is None:
        matrix = _identity(size)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        matrix = tuple(read_numbers(row, "quadratic", size) for row in value)
        if matrix != tuple(zip(*matrix, strict=True)):
            raise InvalidCaseError("quadratic", f"must be a symmetric {size} × {size} matrix")
    else:
        matrix = _matrix_of(element(ring, value), size)
    form = DistanceForm(matrix, _form_text(matrix, ring))
    rank = flint.fmpz_mat(form.integer_rows).rank() if size else 0
    if rank < size:
        raise InvalidCaseError(
            "quadratic",
            f"{form.text} is singular, of rank {rank} in {size} variables: critical points come in"
            f" families; give a form of rank {size}",
        )
    return form


def _identity(size: int) -> FormRows:
    return tuple(tuple(Fraction(i == j) for j in range(size)) for i in range(size))


def _matrix_of(polynomial: Any, size: int) -> FormRows:
    """The symmetric matrix of a homogeneous polynomial of degree two."""
    if not is_homogeneous(polynomial) or total_degree(polynomial) != 2:
        shown = polynomial_text(polynomial)
        raise InvalidCaseError(
            "quadratic", f"{shown:.60} is not a homogeneous polynomial of degree 2"
        )
    rows = [[Fraction(0)] * size for _ in range(size)]
    for monomial, coefficient in polynomial.terms():
        i, j = (index for index, exponent in enumerate(monomial) for _ in range(exponent))
        rows[i][j] += fraction(coefficient) / 2
        rows[j][i] += fraction(coefficient) / 2
    return tuple(map(tuple, rows))


def _form_text(matrix: FormRows, ring: PolynomialRing) -> str:
    """The quadratic form of a symmetric matrix as a polynomial."""
    terms: dict[tuple[int, ...], Any] = {}
    for i, row in enumerate(matrix):
        for j, entry in enumerate(row[: i + 1]):
            exponents = [0] * len(matrix)
            exponents[i] += 1
            exponents[j] += 1
            if entry:
                terms[tuple(exponents)] = ring.number(entry if i == j else 2 * entry)
    return polynomial_text(ring.sympy_ring.from_dict(terms))


def read_numbers(values: Any, option: str, size: int) -> tuple[Fraction, ...]:
    """Exact rational numbers, as many as there are coordinates.

    Raises
    ------
    ConversionError
        If one is not exact: a float, or text that is not a rational number.
    InvalidCaseError
        If there are more or fewer.
    """
    if isinstance(values, str):
        values = values.strip().removeprefix("[").removesuffix("]").split(",")
    if not isinstance(values, Iterable):
        raise ConversionError(f"{values!r:.60} is not a list of numbers")
    numbers = []
    for value in values:
        if isinstance(value, str):
            numbers.append(read_rational(value.strip()))
        elif hasattr(value, "numerator") and hasattr(value, "denominator"):
            numbers.append(fraction(value))
        else:
            raise ConversionError(f"{value!r:.60} is not exact: give integers or fractions")
    if len(numbers) != size:
        raise InvalidCaseError(option, f"{len(numbers)} numbers for {size} coordinates")
    return tuple(numbers)


@dataclass(frozen=True, slots=True)
class CriticalCount:
    """What was counted modulo one prime.

    Parameters
    ----------
    dimension : int
        That of the variety; −1 if it is empty.
    critical_dimension : int
        That of the set of critical points; −1 if there are none.
    points : int or None
        Their number with multiplicity; ``None`` if they are not isolated.
    fibre : int
        The number of points of a general fibre of the map; 1 if an ideal is given.
    """

    dimension: int
    critical_dimension: int
    points: int | None
    fibre: int = 1


@dataclass(frozen=True, slots=True)
class Agreed:
    """A count on which random primes agree.

    Parameters
    ----------
    count : CriticalCount
    primes : tuple of int
    others : tuple of int
        Primes that gave other numbers.
    """

    count: CriticalCount
    primes: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def known(self) -> str:
        """How the number is known, in words."""
        return modulo_primes(self.primes, (*self.primes, *self.others))


def agreed(counted: Callable[[int], CriticalCount], primes: Iterator[int]) -> Agreed:
    """The count that most random primes give, by two or three primes more than any other.

    Raises
    ------
    MethodUnavailableError
        If no count is that of enough primes.
    TimeLimitError, MemoryLimitError
        If they are not reached within the limits.
    """
    counts: dict[int, CriticalCount] = {}
    begin = clock().seconds
    for prime in islice(primes, MAX_COUNTING_PRIMES):
        try:
            counts[prime] = counted(prime)
        except (TimeLimitError, MemoryLimitError) as limit:
            return _until_limit(counts, limit)
        agreeing = deciding(counts, clock().seconds - begin)
        if agreeing:
            return _of_primes(counts, agreeing)
    raise too_few(counts)


def _of_primes(counts: Mapping[int, CriticalCount], agreeing: tuple[int, ...]) -> Agreed:
    others = tuple(prime for prime in counts if prime not in agreeing)
    return Agreed(counts[agreeing[0]], agreeing, others)


def _until_limit(
    counts: Mapping[int, CriticalCount], limit: TimeLimitError | MemoryLimitError
) -> Agreed:
    """The count of two primes; else raise the limit, which names what one prime gave."""
    agreeing = leading(counts, MIN_AGREEING_PRIMES) if counts else ()
    if agreeing:
        return _of_primes(counts, agreeing)
    found = [f"{count.points} critical points modulo {prime}" for prime, count in counts.items()]
    limit.progress = limit.progress or ", ".join(found)
    raise limit


@dataclass(frozen=True, slots=True)
class Variety:
    """A variety whose ideal is known.

    Parameters
    ----------
    ideal : GeneratingSet
        Over QQ.
    title : str
    prime : bool
        Whether the ideal is known to be prime over QQ; else its radical is decomposed.
    """

    ideal: GeneratingSet
    title: str
    prime: bool = False

    @property
    def is_cone(self) -> bool:
        """Whether the generators are homogeneous."""
        return all(map(is_homogeneous, self.ideal.generators))

    def count(self, form: DistanceForm | None, point: Sequence[Fraction] | None = None) -> Agreed:
        """Count the critical points for a form and a data point; ``None`` is a random one."""
        script = ideal_script(self, "ed_degree", form, point)

        def counted(prime: int) -> CriticalCount:
            answer = answer_to(with_given_prime(script, prime))
            dimension = max(answer.integers("dimensions"), default=-1)
            return _summed(dimension, answer)

        return agreed(counted, primes_for(self._integral, _avoided(form, point)))

    @property
    def _integral(self) -> list[dict[tuple[int, ...], int]]:
        return list(map(integer_coefficients, self.ideal.generators_or_zero))


def _summed(dimension: int, answer: Answer) -> CriticalCount:
    """The critical points on all components."""
    pairs = answer.integer_lists("critical")
    critical_dimension = max((pair[0] for pair in pairs), default=-1)
    points = None if critical_dimension > 0 else sum(pair[1] for pair in pairs)
    return CriticalCount(dimension, critical_dimension, points)


def _avoided(form: DistanceForm | None, point: Sequence[Fraction] | None) -> set[int]:
    """Numbers that a prime must not divide: the determinant, and denominators."""
    numbers = {1}
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
    """The program of this name, modulo a prime that it is given, or over QQ with real points.

    ``None`` is a random form or data point.
    """
    ring = variety.ideal.ring
    generators = variety.ideal.generators
    values = {
        "title": variety.title,
        "prime": "true" if variety.prime else "",
        "form": _written_form(form, len(ring.variables)),
        "point": "" if point is None else _written_point(point),
        **more,
    }
    if name == "ed_degree":
        variables = ", ".join(m2_syntax.all_to_macaulay2(ring.variables))
        values["ring"] = f"coefficients'[{variables}]"
        # the program reads the generators modulo its prime, so they need coefficients in ZZ
        integral = map(integer_coefficients, variety.ideal.generators_or_zero)
        generators = tuple(map(ring.sympy_ring.from_dict, integral))
    return question(name, {"givenIdeal": GeneratingSet(ring, generators)}, values)


def _written_form(form: DistanceForm | None, size: int) -> str:
    """An integer matrix for Macaulay2, or a random one."""
    if form is None:
        entries = f"matrix table({size}, {size}, (i, j) -> random givenPrime)"
        return f"(entries' -> entries' + transpose entries') {entries}"
    rows = (m2_syntax.sequence(map(str, row)) for row in form.integer_rows)
    return f"matrix {m2_syntax.sequence(rows)}"


def _written_point(point: Sequence[Fraction]) -> str:
    return f"{{{m2_syntax.sequence(map(m2_syntax.rational, point))}}}"


@dataclass(frozen=True, slots=True)
class ParametrizedImage:
    """The closure of the image of a polynomial map without relations.

    Parameters
    ----------
    parametrization : PolynomialMap
    kept : tuple of int
        As few parameters as suffice, by their positions; the others become random numbers.
    title : str
    """

    parametrization: PolynomialMap
    kept: tuple[int, ...]
    title: str

    @classmethod
    def of(cls, parametrization: PolynomialMap, title: str) -> ParametrizedImage:
        """The image of a map; its rank is found at a random point modulo a long random prime."""
        prime = next(random_primes(LONG_PRIME_BITS))
        point = [1 + secrets.randbelow(prime - 1) for _ in parametrization.source.variables]
        gradients = jacobian_at(parametrization.images, point, prime)
        kept = pivot_columns(gradients, prime)[0] if point and gradients else []
        return cls(parametrization, tuple(kept), title)

    def count(self, form: DistanceForm | None) -> Agreed:
        """Count the critical points for a form and a random data point.

        They are those of the parametrization, divided by the number of points of a general fibre.
        """
        script = map_script(self, form)
        images = [integer_coefficients(image) for image in self.parametrization.images]
        return agreed(
            lambda prime: self._counted(with_given_prime(script, prime)),
            primes_for(images, _avoided(form, None)),
        )

    def _counted(self, script: Script) -> CriticalCount:
        answer = answer_to(script)
        fibre_dimension, fibre = answer.integers("fibre")
        dimension, points = answer.integers("critical")
        isolated = fibre_dimension == 0 and dimension <= 0 and points % fibre == 0
        found = points // fibre if isolated else None
        return CriticalCount(len(self.kept), dimension, found, fibre)


def map_script(image: ParametrizedImage, form: DistanceForm | None) -> Script:
    """The program that counts by the parametrization, modulo a prime that it is given.

    Coordinates are multiplied by the denominators of their images, and the form is changed.
    """
    source = image.parametrization.source
    names = m2_syntax.all_to_macaulay2(source.variables)
    cleared = [polynomial.clear_denoms() for polynomial in image.parametrization.images]
    # images are cleared of denominators, and the form is taken in the new coordinates
    if form is not None:
        form = form.scaled([int(denominator) for denominator, _ in cleared])
    values = []
    for j, name in enumerate(names):
        values.append(f"sub({name}, sourceRing)" if j in image.kept else "randomNumber()")
    written = {
        "title": image.title,
        "parameters": ", ".join(names),
        "kept": ", ".join(names[j] for j in image.kept),
        "values": m2_syntax.sequence(values),
        "images": m2_syntax.sequence(m2_syntax.polynomial(image, names) for _, image in cleared),
        "form": _written_form(form, len(cleared)),
    }
    return render("ed_degree_map", ("wire",), written)


@dataclass(frozen=True, slots=True)
class RealCriticalPoints:
    """The real critical points for one data point.

    Parameters
    ----------
    number : int
    points : tuple of pairs, or None
        For each x approximations of q(x − u) and of the coordinates of x, by increasing q(x − u);
        ``None`` if they were not found.
    isolated_by : str
    proved : int
        Of how many points the existence near the approximation is proved by Krawczyk's test.
    """

    number: int
    points: tuple[tuple[float, tuple[float, ...]], ...] | None
    isolated_by: str
    proved: int = 0


def real_points(
    variety: Variety, form: DistanceForm, point: Sequence[Fraction], *, complex_points: int
) -> RealCriticalPoints:
    """Find the real critical points, by msolve or by Macaulay2's RealRoots.

    Parameters
    ----------
    complex_points : int
        The number of complex ones; a system that has fewer is not solved.

    Raises
    ------
    MethodUnavailableError
        If there are too many for RealRoots, or random systems leave points out.
    """
    program, isolated_by = msolve.for_engine(current())
    # without complex points there is nothing to isolate
    if complex_points == 0:
        return RealCriticalPoints(0, (), isolated_by)
    if program is None and complex_points > MAX_TRACE_FORM_POINTS:
        raise MethodUnavailableError(
            f"{complex_points} complex critical points are too many for Macaulay2's RealRoots (at"
            f" most {MAX_TRACE_FORM_POINTS}): install msolve ({msolve.INSTALL})"
        )
    script = ideal_script(
        variety,
        "ed_degree_real",
        form,
        point,
        msolve="true" if program else "",
        program="" if program is None else quoted(f"{program.program.parent}/"),
    )
    primes = primes_for(map(integer_coefficients, variety.ideal.generators), _avoided(form, point))
    # the combinations of minors are drawn at random with each prime
    for prime in islice(primes, MAX_REAL_ATTEMPTS):
        answer = answer_to(with_given_prime(script, prime))
        # else a combination of minors leaves a critical point out, and others are drawn
        if _summed(0, answer).points == complex_points:
            if program is not None:
                points = _of_boxes(answer, len(point))
                number = len(points)
            else:
                number, points = _of_trace_forms(answer)
            return RealCriticalPoints(number, _valued(points, form, point, number), isolated_by)
    raise MethodUnavailableError("random combinations of minors leave critical points out")


def _valued(
    points: Sequence[Sequence[Fraction]], form: DistanceForm, data: Sequence[Fraction], number: int
) -> tuple[tuple[float, tuple[float, ...]], ...] | None:
    """The points in floating-point numbers, if all were found, and none is too large for these."""
    if len(points) != number:
        return None
    valued = []
    for point in points:
        value = form.at([x - u for x, u in zip(point, data, strict=True)])
        try:
            valued.append((float(value), tuple(map(float, point))))
        except OverflowError:
            return None
    return tuple(sorted(valued))


def _of_boxes(answer: Answer, size: int) -> list[list[Fraction]]:
    """The middles of isolating boxes; multipliers are left out."""
    points = []
    for boxes in answer.lists("boxes"):
        for box in boxes:
            sides = box[:size]
            if len(sides) != size or not all(isinstance(side, list) for side in sides):
                raise ParseError("the field 'boxes' is not a list of boxes")
            points.append([(Fraction(low) + Fraction(high)) / 2 for low, high in sides])
    return points


def _of_trace_forms(answer: Answer) -> tuple[int, list[list[Fraction]]]:
    """The number of real points by signatures, and approximations by eigenvalues.

    Of each component there are as many approximations as real points, or none.
    """
    number = 0
    points: list[list[Fraction]] = []
    forms = answer.lists("trace_forms")
    for form, matrices in zip(forms, answer.lists("multiplication"), strict=True):
        expected = signature([[flint_rational(Fraction(x)) for x in row] for row in form])
        number += expected
        found = _by_eigenvalues(matrices)
        if len(found) == expected:
            points += found
    return number, points


def _by_eigenvalues(matrices: Sequence[Sequence[Sequence[Any]]]) -> list[list[Fraction]]:
    """Approximations of the real points, from the matrices of multiplication by coordinates.

    All are diagonal in a basis of eigenvectors of a general combination, if points are simple.
    There are none where numbers are too large for floating-point arithmetic.
    """
    random = Random(1)
    try:
        arrays = [numpy.array([list(map(_float, row)) for row in rows]) for rows in matrices]
        combination: Any = sum(random.random() * array for array in arrays)
        vectors = numpy.linalg.eig(combination)[1]
        inverse = numpy.linalg.pinv(vectors)
    except (OverflowError, numpy.linalg.LinAlgError):
        return []
    diagonals = [numpy.diagonal(inverse @ array @ vectors) for array in arrays]
    points = zip(*diagonals, strict=True)
    return [[Fraction(float(x.real)) for x in point] for point in points if _may_be_real(point)]


def _float(number: Any) -> float:
    """An exact number of an answer, rounded."""
    return float(Fraction(number))


def _may_be_real(point: Sequence[Any]) -> bool:
    """Whether imaginary parts are as small as the errors of approximations; false for no number."""
    return all(abs(x.imag) <= MAX_IMAGINARY_PART * (1 + abs(x)) for x in point)
