"""Prime ideals in the answers of Macaulay2, with the dimensions and degrees of their varieties.

Varieties are affine, and have the degree of their closure in projective space.
"""

from itertools import count

from m2bridge.algebra.ring import GeneratingSet
from m2bridge.convert.answers import Answer

MeasuredPrime = tuple[GeneratingSet, int, int]
"""A prime ideal with the dimension and the degree of its variety."""


def measured_primes_in(
    answer: Answer, primes: str, dimensions: str, degrees: str
) -> list[MeasuredPrime]:
    """The prime ideals in an answer, with the dimensions and degrees of their varieties, from the
    three lists of these names.
    """
    numbers = zip(answer.integers(dimensions), answer.integers(degrees), strict=True)
    pairs = zip(answer.ideals(primes), numbers, strict=True)
    return [(prime, dimension, degree) for prime, (dimension, degree) in pairs]


def proved_before_limit(answer: Answer) -> tuple[list[MeasuredPrime], int | None]:
    """Components that were proved before a limit, and an upper bound for the dimension of others:
    −1 if there are none, ``None`` if the limit was reached before the end of step 0. After step n
    Macaulay2 prints ``bound_n``, and ``proved_n`` with its numbers if the step proved new
    components: the last values count.
    """
    components: list[MeasuredPrime] = []
    rest_dimension = None
    for step in count():
        if f"bound_{step}" not in answer:
            return components, rest_dimension
        rest_dimension = answer.integer(f"bound_{step}")
        if f"proved_{step}" in answer:
            names = (f"proved_{step}", f"proved_dimensions_{step}", f"proved_degrees_{step}")
            components = measured_primes_in(answer, *names)
    raise AssertionError("unreachable")  # count() does not end; mypy does not know it
