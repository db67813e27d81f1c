"""Upper bounds for the dimension of a polynomial network, from its widths and its activation degree
alone.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise, product
from math import comb

from m2bridge.results.known import Known

Widths = tuple[int, ...]


def gauge_dimension(widths: Sequence[int], degree: int) -> int:
    """The dimension of the orbits of the gauge group on generic weights.

    For r ≥ 2 the torus that rescales the hidden neurons acts freely where no weight is zero. For r
    = 1 the group is Π GL(d_i) over the hidden layers.
    """
    hidden = widths[1:-1]
    return sum(hidden) if degree > 1 else sum(d * d for d in hidden) - _stabilizer(tuple(widths))


def _stabilizer(widths: Widths) -> int:
    """The dimension of the stabilizer of generic weights in Π GL(d_i), for r = 1.

    Generic matrices are a direct sum of intervals [a, b] with the multiplicities m_ab below; the
    stabilizer is open in the endomorphisms that vanish on inputs and outputs; Hom([a, b], [c, d])
    is a line if c ≤ a ≤ d ≤ b, else zero.
    """
    last = len(widths) - 1

    def rank(a: int, b: int) -> int:
        return min(widths[a : b + 1]) if a >= 0 and b <= last else 0

    intervals = [(a, b) for a in range(last + 1) for b in range(a, last + 1)]
    copies = {
        (a, b): rank(a, b) - rank(a - 1, b) - rank(a, b + 1) + rank(a - 1, b + 1)
        for a, b in intervals
    }
    present = [(interval, count) for interval, count in copies.items() if count]
    pairs = product(present, repeat=2)
    return sum(
        many * others
        for ((a, b), many), ((c, d), others) in pairs
        if c <= a <= d <= b and a > 0 and d < last
    )


def best_bound(widths: Widths, degree: int, characteristic: int = 0) -> Known:
    """The smallest bound that these arguments give, applied to all parts of the network."""
    if degree == 1:
        rank = min(widths)
        return Known.at_most(
            rank * (widths[0] + widths[-1] - rank),
            f"the functions are matrices of rank at most {rank}",
        )

    @cache
    def bound(part: Widths) -> Known:
        return min(candidates(part), key=lambda candidate: candidate.value)

    def candidates(part: Widths) -> Iterator[Known]:
        (first, second), (before, last) = part[:2], part[-2:]
        yield from _direct(part, degree, characteristic)
        if second < first:
            value = second * (first - second) + bound((second, *part[1:])).value
            yield Known.at_most(value, f"every function depends on {second} linear forms only")
        if before < last:
            value = before * (last - before) + bound((*part[:-1], before)).value
            yield Known.at_most(value, f"the outputs span a space of dimension at most {before}")
        for i, width in enumerate(part[1:-1], 1):
            left, right = bound(part[: i + 1]).value, bound(part[i:]).value
            reason = f"composition at the hidden layer {i}: at most {left} + {right} − {width}"
            yield Known.at_most(left + right - width, reason)

    return bound(tuple(widths))


def _direct(part: Widths, degree: int, characteristic: int) -> Iterator[Known]:
    """Bounds that look at the whole network at once."""
    first, last = part[0], part[-1]
    weights = sum(before * after for before, after in pairwise(part))
    form_degree = degree ** (len(part) - 2)
    moved = gauge_dimension(part, degree)
    yield Known.at_most(weights - moved, "the weights up to the gauge group")
    if first > 1 and form_degree > weights:
        return  # even more coordinates than that, perhaps a number with very many digits
    ambient = last * comb(first - 1 + form_degree, first - 1)
    yield Known.at_most(ambient, "the number of coordinates")
    if len(part) == 3 and last == 1:
        yield from _power_sums(first, part[1], degree, characteristic, ambient)
    if len(part) == 3 and last == 3 and degree == 2 and 2 * part[1] < 3 * first - first % 2:
        yield Known.at_most(
            ambient - 1, "a minor of the skew-symmetric matrix of three quadratic forms vanishes"
        )


def _power_sums(
    variables: int, summands: int, degree: int, characteristic: int, ambient: int
) -> Iterator[Known]:
    """Sums of r-th powers of linear forms that satisfy an equation (Alexander–Hirschowitz:
    defective cases).
    """
    if summands < comb(variables - 1 + degree // 2, variables - 1):
        yield Known.at_most(ambient - 1, "a minor of the catalecticant matrix vanishes")
    if (variables, summands, degree, characteristic) == (5, 7, 3, 0):
        yield Known.at_most(
            ambient - 1,
            "seven points of P^4 are singular points of a cubic (Alexander–Hirschowitz)",
        )
