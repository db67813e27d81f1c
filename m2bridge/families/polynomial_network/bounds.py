"""Upper bounds for the dimension of a polynomial network, from its widths and its degree alone.

They are those of theorem-network-bounds in docs/polynomial_networks.md, with its numbers, and the
dimension of the orbits of the gauge group, which is the reason for the first of them.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise, product
from math import comb

from m2bridge.results.known import Bounds

Widths = tuple[int, ...]


def gauge_dimension(widths: Sequence[int], degree: int) -> int:
    """The dimension of the orbits of the gauge group on generic weights.

    For r ≥ 2 the torus that rescales the hidden neurons acts freely where no weight is zero. For r
    = 1 the group is Π GL(d_i) over the hidden layers.
    """
    hidden = widths[1:-1]
    if degree > 1:
        return sum(hidden)
    return sum(d * d for d in hidden) - _stabilizer(tuple(widths))


def _stabilizer(widths: Widths) -> int:
    """The dimension of the stabilizer of generic weights in Π GL(d_i), for r = 1.

    Generic matrices are a direct sum of intervals [a, b] with the multiplicities m_ab below; the
    stabilizer is open in the endomorphisms that vanish on inputs and outputs; Hom([a, b], [c, d])
    is a line if c ≤ a ≤ d ≤ b, else zero.
    """
    last = len(widths) - 1

    def rank(a: int, b: int) -> int:
        """Return the rank of the product of the matrices from a to b."""
        # Outside of the network spaces are zero.
        if a < 0 or b > last:
            return 0
        return min(widths[a : b + 1])

    present = []
    for a in range(last + 1):
        for b in range(a, last + 1):
            m_ab = rank(a, b) - rank(a - 1, b) - rank(a, b + 1) + rank(a - 1, b + 1)
            if m_ab:
                present.append((a, b, m_ab))
    dimension = 0
    for (a, b, m_ab), (c, d, m_cd) in product(present, repeat=2):
        if c <= a <= d <= b and a > 0 and d < last:
            dimension += m_ab * m_cd
    return dimension


def best_bound(widths: Widths, degree: int, characteristic: int = 0) -> Bounds:
    """The smallest bound that these arguments give, applied to all parts of the network."""
    if degree == 1:
        rank = min(widths)
        dimension = rank * (widths[0] + widths[-1] - rank)
        return Bounds.at_most(dimension, f"the functions are matrices of rank at most {rank}")

    @cache
    def bound(part: Widths) -> Bounds:
        return min(candidates(part), key=_value)

    def candidates(part: Widths) -> Iterator[Bounds]:
        """Yield the bounds of a part by each argument, and by those of its parts."""
        first, second = part[:2]
        before, last = part[-2:]
        yield from _direct(part, degree, characteristic)
        if second < first:
            value = second * (first - second) + bound((second, *part[1:])).value
            yield Bounds.at_most(value, f"every function depends on {second} linear forms only")
        if before < last:
            value = before * (last - before) + bound((*part[:-1], before)).value
            yield Bounds.at_most(value, f"the outputs span a space of dimension at most {before}")
        for i, width in enumerate(part[1:-1], 1):
            left = bound(part[: i + 1]).value
            right = bound(part[i:]).value
            reason = f"composition at the hidden layer {i}: at most {left} + {right} − {width}"
            yield Bounds.at_most(left + right - width, reason)

    return bound(tuple(widths))


def _value(bound: Bounds) -> int:
    return bound.value


def _direct(part: Widths, degree: int, characteristic: int) -> Iterator[Bounds]:
    """Bounds that look at the whole network at once: 1, 2, and 7 to 9."""
    weights = sum(before * after for before, after in pairwise(part))
    moved = gauge_dimension(part, degree)
    yield Bounds.at_most(weights - moved, "the weights up to the gauge group")
    first, last = part[0], part[-1]
    form_degree = degree ** (len(part) - 2)
    if first > 1 and form_degree > weights:
        return  # even more coordinates than that, perhaps a number with very many digits
    ambient = last * comb(first - 1 + form_degree, first - 1)
    yield Bounds.at_most(ambient, "the number of coordinates")
    if len(part) == 3:
        for reason in _equations(part, degree, characteristic):
            yield Bounds.at_most(ambient - 1, reason)


def _equations(widths: Widths, degree: int, characteristic: int) -> Iterator[str]:
    """Why the functions of a network with one hidden layer satisfy an equation."""
    first, hidden, last = widths
    if last == 1 and hidden < comb(first - 1 + degree // 2, first - 1):
        yield "a minor of the catalecticant matrix vanishes"
    # the only defective case in which no minor of a catalecticant vanishes
    if widths == (5, 7, 1) and degree == 3 and characteristic == 0:
        yield "seven points of P^4 are singular points of a cubic (Alexander–Hirschowitz)"
    if last == 3 and degree == 2 and 2 * hidden < 3 * first - first % 2:
        yield "a minor of the skew-symmetric matrix of three quadratic forms vanishes"
