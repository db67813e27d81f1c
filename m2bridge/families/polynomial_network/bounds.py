"""Upper bounds for the dimension of a polynomial network, from its widths and its degree alone.

They stand in theorem-network-bounds of docs/polynomial-networks.md, with its numbers; the reason
for the first bound is the dimension of the orbits of the gauge group, which is computed here too.

Reasons in words contain the numbers of which the bound is made.

Notation: ``least`` is the function that returns the least bound for given widths, of a smaller
network. A network has widths d_0, …, d_l, weight matrices W_i of size d_i × d_{i−1}, and the
activation degree r, here ``degree``. The *gauge group* acts on the weights and keeps the function.
The *coordinates* of the function are the coefficients of its d_l outputs, forms of degree r^(l−1)
in d_0 variables. A :class:`~m2bridge.results.known.Bounds` has a ``value`` and its reason in words.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise, product
from math import comb
from operator import attrgetter

from m2bridge.results.known import Bounds

Widths = tuple[int, ...]


def gauge_dimension(widths: Sequence[int], degree: int) -> int:
    """Return the dimension of the orbits of the gauge group on generic weights.

    For r ≥ 2 the group is the torus that rescales the hidden neurons, which acts freely where no
    weight is zero. For r = 1 it is Π GL(d_i) over the hidden layers, with a stabilizer.
    """
    hidden = widths[1:-1]
    if degree > 1:
        return sum(hidden)
    return sum(d * d for d in hidden) - _stabilizer_dimension(tuple(widths))


def _stabilizer_dimension(widths: Widths) -> int:
    """Return the dimension of the stabilizer of generic weights in Π GL(d_i), for r = 1.

    Generic W_1, …, W_l are a representation of a quiver of type A, a direct sum of intervals [a, b]
    with multiplicities m_ab, one-dimensional at the layers a to b, of 0 for the inputs to l. g is
    in the stabilizer if g − 1 is an endomorphism that vanishes on inputs and outputs; the
    invertible 1 + f are open in the space of these.
    """
    last = len(widths) - 1
    intervals = _multiplicities_of_intervals(widths)
    dimension = 0
    for ((a, b), m_ab), ((c, d), m_cd) in product(intervals.items(), repeat=2):
        # the homomorphisms from [a, b] to [c, d] are a line or zero, and live on the layers a to d
        homomorphisms_are_a_line = c <= a <= d <= b
        vanish_at_the_ends = a > 0 and d < last
        if homomorphisms_are_a_line and vanish_at_the_ends:
            # a line for each copy of [a, b] and each copy of [c, d]
            dimension += m_ab * m_cd
    return dimension


def _multiplicities_of_intervals(widths: Widths) -> dict[tuple[int, int], int]:
    """Return the multiplicity m_ab > 0 of each interval [a, b] in generic matrices W_1, …, W_l;
    they follow from the ranks of products of W_i, the numbers of intervals that contain a to b.
    """
    last = len(widths) - 1

    def rank(a: int, b: int) -> int:
        """Return the rank of the product of generic matrices; 0 outside of the network."""
        if a < 0 or b > last:
            return 0
        return min(widths[a : b + 1])

    multiplicities = {}
    for a in range(last + 1):
        for b in range(a, last + 1):
            # intervals that contain [a, b], less those that go on to a − 1 or to b + 1
            m_ab = rank(a, b) - rank(a - 1, b) - rank(a, b + 1) + rank(a - 1, b + 1)
            if m_ab > 0:
                multiplicities[a, b] = m_ab
    return multiplicities


def best_bound(widths: Widths, degree: int, characteristic: int = 0) -> Bounds:
    """Return the least of the ten upper bounds for the dimension, with its reason in words; for r =
    1 bound 3 is the dimension, and bound 10 is proved in characteristics other than 2.
    """
    if degree == 1:
        rank = min(widths)
        dimension = rank * (widths[0] + widths[-1] - rank)
        return Bounds.at_most(dimension, f"the functions are matrices of rank at most {rank}")

    @cache
    def least(part: Widths) -> Bounds:
        """Return the least bound for consecutive widths, the first or last perhaps reduced."""
        direct_bounds = _direct_bounds(part, degree)
        recursive_bounds = [*_bounds_by_parts(part, least)]
        if degree == 2 and characteristic != 2:
            recursive_bounds += _bounds_by_orthogonal_group(part, least)
        return min((*direct_bounds, *recursive_bounds), key=attrgetter("value"))

    return least(tuple(widths))


def bounds_by_few_inputs_or_outputs(
    widths: Widths, least: Callable[[Widths], Bounds]
) -> Iterator[Bounds]:
    """Yield the bounds 5 and 6 of a network, which hold for every activation.

    Bound 5, for d_1 < d_0: a function depends on d_1 linear forms of the inputs only. The space
    that they span is a point of a Grassmannian of dimension d_1(d_0 − d_1), and given this space
    the function belongs to a network with d_1 inputs. Bound 6, for d_{l−1} < d_l: likewise for the
    space of dimension at most d_{l−1} that the outputs span.
    """
    inputs, first_hidden = widths[:2]
    last_hidden, outputs = widths[-2:]
    if first_hidden < inputs:
        spaces = first_hidden * (inputs - first_hidden)
        with_few_inputs = least((first_hidden, *widths[1:])).value
        reason = f"every function depends on {first_hidden} linear forms only"
        reason += f": at most {spaces} + {with_few_inputs}"
        yield Bounds.at_most(spaces + with_few_inputs, reason)
    if last_hidden < outputs:
        spaces = last_hidden * (outputs - last_hidden)
        with_few_outputs = least((*widths[:-1], last_hidden)).value
        reason = f"the outputs span a space of dimension at most {last_hidden}"
        reason += f": at most {spaces} + {with_few_outputs}"
        yield Bounds.at_most(spaces + with_few_outputs, reason)


def _bounds_by_parts(widths: Widths, least: Callable[[Widths], Bounds]) -> Iterator[Bounds]:
    """Yield the bounds 4 to 6, which use the least bounds of smaller networks.

    Bound 4: at a hidden layer the network is the composition of two parts. A torus, with as many
    dimensions as the layer has neurons, rescales the outputs of the first part against the inputs
    of the second and keeps the composition.
    """
    yield from bounds_by_few_inputs_or_outputs(widths, least)
    for i, width in enumerate(widths[1:-1], 1):
        left = least(widths[: i + 1]).value
        right = least(widths[i:]).value
        reason = f"composition at the hidden layer {i}: at most {left} + {right} − {width}"
        yield Bounds.at_most(left + right - width, reason)


def _bounds_by_orthogonal_group(
    widths: Widths, least: Callable[[Widths], Bounds]
) -> Iterator[Bounds]:
    """Yield bound 10 of a network for r = 2, if it has a hidden layer and one output.

    Up to factors of its k last hidden polynomials h_j the function is Σ h_j², which O(k) keeps. A
    matrix fixes (h_1, …, h_k) if it fixes the columns of their coefficients, which span a space of
    the dimension ρ of the span of the h_j; for general weights this space is not degenerate, so
    that the stabilizer is O(k − ρ).
    """
    *first_widths, k, outputs = widths
    if outputs > 1 or not first_widths:
        return
    hidden = least((*first_widths, k)).value
    span = least_span(widths[:-1])
    # dim O(k) − dim O(k − ρ)
    orbits = span * (2 * k - span - 1) // 2
    reason = f"sums of squares of {k} polynomials: at most {hidden} − {orbits} for orbits of O({k})"
    yield Bounds.at_most(hidden - orbits, reason)


def least_span(widths: Widths) -> int:
    """Return a lower bound for the dimension of the span of the outputs at general weights, r = 2;
    it is exact for at most two layers.

    Outputs are general elements of the span of squares of m polynomials, general elements of a
    space B themselves. So these squares span a space of dimension min(m, dim B²), in
    characteristics other than 2, where B² is spanned by all products of two elements. If B is all
    forms of some degree, so is B². In any case dim B² ≥ 2 dim B − 1: products of elements with
    different leading monomials have at least as many different ones.
    """
    # all functions are polynomials in this number of linear forms, which are independent
    variables = span = min(widths[0], widths[1])
    degree = 1
    for squared, outputs in pairwise(widths[1:]):
        products = 2 * span - 1
        if span == comb(variables - 1 + degree, degree):
            products = comb(variables - 1 + 2 * degree, 2 * degree)
        span = min(outputs, squared, products)
        degree *= 2
    return span


def _direct_bounds(widths: Widths, degree: int) -> Iterator[Bounds]:
    """Yield the bounds 1, 2 and 7 to 9 for r ≥ 2, as far as they apply; bound 2, the number of
    coordinates, only where it may be below bound 1, as it can have very many digits.
    """
    weights = sum(inputs * outputs for inputs, outputs in pairwise(widths))
    gauge = gauge_dimension(widths, degree)
    reason = f"{weights} weights, less {gauge} for rescalings of hidden neurons"
    yield Bounds.at_most(weights - gauge, reason)
    inputs, outputs = widths[0], widths[-1]
    form_degree = degree ** (len(widths) - 2)
    if inputs > 1 and form_degree > weights:
        # A form of degree D in two variables has D + 1 coefficients, and in more variables more. So
        # there are more coordinates than weights.
        return
    coordinates = outputs * comb(inputs - 1 + form_degree, inputs - 1)
    yield Bounds.at_most(coordinates, "the number of coordinates")
    # Bounds 7 to 9 are about one hidden layer.
    if len(widths) == 3:
        # with an equation the functions do not fill the space of all coordinates
        for reason in _equations(widths, degree):
            yield Bounds.at_most(coordinates - 1, f"{reason}, on {coordinates} coordinates")
        yield from _bounds_by_rational_normal_curves(widths, degree)


def _equations(widths: Widths, degree: int) -> Iterator[str]:
    """Yield the reasons why the functions of a network with one hidden layer satisfy an equation
    (bounds 7 and 9).

    Both are minors. A matrix is linear in the function, and the functions of the network make its
    rank smaller than general forms do; so a minor, of one row more than the smaller rank, vanishes
    for the network and not for all forms.
    """
    inputs, hidden, outputs = widths
    # Bound 7: the catalecticant matrix of a form of degree r has a row for each monomial of degree
    # r//2, and a column for each of degree r − r//2. Its rank is 1 for a power of a linear form,
    # so at most d_1 for the network; for a general form it is the number of rows.
    rows_of_catalecticant = comb(inputs - 1 + degree // 2, inputs - 1)
    if outputs == 1 and hidden < rows_of_catalecticant:
        yield "a minor of the catalecticant matrix vanishes"
    # Bound 9: three quadratic forms with symmetric matrices A, B, C have the skew-symmetric matrix
    # (0 A B; −A 0 C; −B −C 0) of size 3 d_0. A hidden neuron adds to it a summand of rank 2, so its
    # rank is at most 2 d_1 for the network. For general forms it is the largest even number up to
    # 3 d_0 (an idea of Strassen), as the rank of a skew-symmetric matrix is even.
    general_rank = 3 * inputs - inputs % 2
    if outputs == 3 and degree == 2 and 2 * hidden < general_rank:
        yield "a minor of the skew-symmetric matrix of three quadratic forms vanishes"


def _bounds_by_rational_normal_curves(widths: Widths, degree: int) -> Iterator[Bounds]:
    """Yield bound 8 of a network with one hidden layer and d_1 ≤ d_0 + 2.

    The d_1 linear forms are points of the projective space of dimension N = d_0 − 1, and at most N
    + 3 general points lie on a rational normal curve. These curves form a family of dimension (N +
    3)(N − 1). The r-th powers of the points of one curve span a space of dimension at most r N + 1,
    as they are forms of degree r N in two variables; the outputs are in this space.
    """
    inputs, hidden, outputs = widths
    N = inputs - 1
    if N >= 1 and hidden <= N + 3:
        curves = (N + 3) * (N - 1)
        on_one_curve = outputs * (degree * N + 1)
        reason = f"powers of linear forms on rational normal curves: {curves} + {on_one_curve}"
        yield Bounds.at_most(curves + on_one_curve, reason)
