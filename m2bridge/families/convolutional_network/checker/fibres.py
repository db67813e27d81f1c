"""The fibres of the map from filters to functions of a convolutional network, point by point.

Of one fibre for each type of zeros, over random filters that are drawn for each check, all points
are found: filters with moved zeros have the same function, the differential is injective there, so
that they are reduced points of the fibre, and Gröbner bases over QQ find no further points.

*Notation.* A network has L filters w_i of sizes k_i, and activation degree r, its ``degree``. The
output f is a form of degree D = r^(L − 1) in the inputs x_1 to x_n, n = 1 + Σ(k_i − 1), and of
degree r^(L − i) in the entries of w_i. The *type of zeros* of filters is (e, P): filter i has e_i
zeros at its ends, and all together have P zeros in front.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import comb
from operator import add
from typing import Any

from m2bridge.checker.algebra import groebner_basis, hilbert_series, minimal, ring
from m2bridge.checker.draws import unpredictable
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.convolutional_network.checker.ranks import (
    Filters,
    Sizes,
    differential_rank,
    upper_bound,
)

# Of fibres: their types of zeros, the weights, and the coefficients of the functions. Each fibre
# within these limits takes at most some seconds.
MAX_TYPES = 128
MAX_FIBRE_UNKNOWNS = 16
MAX_FORM_COEFFICIENTS = 6000
# The largest entry of random filters: from so many numbers special filters are drawn with a
# probability below 10^(−9).
LARGEST_ENTRY = 2**40

# (e, P): (e_1, …, e_L) are the numbers of zeros at the ends of each filter, and P is the number of
# zeros in front of all filters together.
ZeroType = tuple[tuple[int, ...], int]


def type_count(sizes: Sizes) -> int:
    """The number of types of zeros: the sum of 1 + Σ e_i over all e with 0 ≤ e_i < k_i.

    For each e there is one type for each P from 0 to Σ e_i.
    """
    choices_of_e = 1
    for size in sizes:
        choices_of_e *= size
    largest_sum = sum(size - 1 for size in sizes)
    # the average of Σ e_i is half of its largest value, as e ↦ (k_i − 1 − e_i) permutes the choices
    return choices_of_e + choices_of_e * largest_sum // 2


def types_of_zeros(sizes: Sizes) -> list[ZeroType]:
    """All types of zeros (e, P), that of filters without zeros first.

    TooExpensiveError if there are more than MAX_TYPES.
    """
    if type_count(sizes) > MAX_TYPES:
        raise TooExpensiveError("case", f"{type_count(sizes)} types of zeros")
    types = []
    for e in product(*(range(size) for size in sizes)):
        types += [(e, P) for P in range(sum(e) + 1)]
    return types


def placements(zeros: ZeroType) -> Iterator[tuple[int, ...]]:
    """Yield all p with 0 ≤ p_i ≤ e_i and Σ p_i = P, for the type (e, P).

    p_i is the number of zeros in front of filter i; the other e_i − p_i are behind it.
    """
    e, P = zeros
    for p in product(*(range(count + 1) for count in e)):
        if sum(p) == P:
            yield p


def fibre_length(sizes: Sizes, degree: int, zeros: ZeroType) -> int | None:
    """The length of the fibre over the function f of filters of this type; None if undecided.

    Some points of the fibre are known: the same filters with their zeros moved (``placements``). It
    is shown that each of them is reduced, and that the fibre has no other points.

    Up to rescaling, filters are of the form (0, …, 0, 1, *, …, *). If their function is f, they
    have P zeros in front, because P + 1 is the smallest number of a variable in f. For each
    distribution p of P zeros to the filters, a Gröbner basis bounds the number of such filters
    whose function is f.
    """
    e, P = zeros
    _check_fibre_price(sizes, degree)
    cores = [_core(size - count) for size, count in zip(sizes, e, strict=True)]
    points = [_with_zeros(cores, p, e) for p in placements(zeros)]
    # the coefficients of f, which must be the same for all points
    function = _coefficients(points[0], degree)
    for filters in points:
        if _coefficients(filters, degree) != function:
            raise ContradictionError(f"filters {filters}: zeros that are moved change the function")
        # The point is reduced exactly if the kernel of the differential has only the directions of
        # rescalings, L − 1 dimensions. If the rank modulo PRIME is smaller, this is not shown.
        if differential_rank(filters, degree) != upper_bound(sizes):
            return None
    # no more points than are known: then these are all, and each is reduced
    upper_bound_of_points = _upper_bound_of_points(sizes, degree, P, function)
    return len(points) if upper_bound_of_points == len(points) else None


def _upper_bound_of_points(sizes: Sizes, degree: int, P: int, function: Mapping[Any, Any]) -> int:
    """An upper bound for the number of filters, up to rescaling, that have this function.

    ``function`` is f as {exponents of a monomial: coefficient}. The filters have P zeros in front
    of all together: for each distribution p of these zeros to the filters the number is at most the
    length of the scheme of filters with p_i zeros in front of filter i.
    """
    number = 0
    # filter i has at most k_i − 1 zeros in front, as it is not zero
    for p in product(*(range(size) for size in sizes)):
        if sum(p) == P:
            number += _length_with_zeros(sizes, degree, p, function)
    return number


def _check_fibre_price(sizes: Sizes, degree: int) -> None:
    """Raise TooExpensiveError for a fibre with too many unknowns, or too many equations."""
    # the weights of all filters
    unknowns = sum(sizes)
    if unknowns > MAX_FIBRE_UNKNOWNS:
        raise TooExpensiveError("case", f"a fibre in {unknowns} unknowns")
    inputs = 1 + unknowns - len(sizes)
    # a number of at most 46 digits, as filters are no more than unknowns
    form_degree = degree ** (len(sizes) - 1)
    coefficients = comb(inputs - 1 + form_degree, inputs - 1)
    if coefficients > MAX_FORM_COEFFICIENTS:
        raise TooExpensiveError("case", f"a form with {coefficients} coefficients")


def _core(size: int) -> list[int]:
    """The ``size`` entries of a filter between its zeros: 1, and then random nonzero numbers."""
    random = unpredictable()
    return [1, *(random.randint(1, LARGEST_ENTRY) for _ in range(size - 1))]


def _with_zeros(cores: Filters, p: Sequence[int], e: Sequence[int]) -> Filters:
    """The filters with p_i zeros in front of their cores, and e_i − p_i zeros behind."""
    filters = []
    for core, p_i, e_i in zip(cores, p, e, strict=True):
        filters.append([0] * p_i + core + [0] * (e_i - p_i))
    return filters


def _length_with_zeros(
    sizes: Sizes, degree: int, p: Sequence[int], function: Mapping[Any, Any]
) -> int:
    """The length of the scheme of filters with p_i zeros in front that have this function.

    The filters are of the form (0, …, 0, 1, *, …, *) with unknown last entries, and ``function`` is
    f as {exponents of a monomial: coefficient}. The length is at least the number of points of the
    scheme. It is required that the function of the filters is f, not a multiple of f: both have the
    coefficient 1 at x_(P+1)^D, as the first nonzero entry of all filters is 1.
    """
    unknowns = sum(size - 1 - p_i for size, p_i in zip(sizes, p, strict=True))
    if unknowns == 0:
        # the 1 is the last entry of each filter
        only_filters = [[0] * (size - 1) + [1] for size in sizes]
        return int(_coefficients(only_filters, degree) == function)
    context = ring(unknowns)
    coefficients = _coefficients(_unknown_filters(sizes, p, context), degree)
    monomials = coefficients.keys() | function.keys()
    zero = context.constant(0)
    equations = [coefficients.get(m, zero) - function.get(m, 0) for m in monomials]
    basis = groebner_basis(equations, context)
    # the first monomial of a polynomial is its leading one
    leading = minimal(next(iter(g.monoms())) for g in basis)
    numerator, dimension = hilbert_series(leading, unknowns)
    if dimension:
        raise ContradictionError(f"filters of sizes {sizes}: a fibre of dimension {dimension}")
    # Of dimension 0 the series is its numerator, whose sum is the length. If no filters have the
    # function, the ideal is the whole ring, and the numerator is empty.
    return sum(numerator)


def _unknown_filters(sizes: Sizes, p: Sequence[int], context: Any) -> list[list[Any]]:
    """The filters with p_i zeros in front, then 1, and then variables of the ring ``context``.

    Each variable occurs once, in the order of the ring.
    """
    variables = iter(context.gens())
    zero, one = context.constant(0), context.constant(1)
    filters = []
    for size, p_i in zip(sizes, p, strict=True):
        last_entries = [next(variables) for _ in range(size - 1 - p_i)]
        filters.append([zero] * p_i + [one] + last_entries)
    return filters


def _coefficients(filters: Sequence[Sequence[Any]], degree: int) -> dict[Any, Any]:
    """The output f as {exponents of a monomial in x_1, …, x_n: nonzero coefficient}.

    The entries of filters may be of any ring, as integers or polynomials in unknowns. A neuron is a
    polynomial in the inputs, as a dictionary from exponents to coefficients: x_1² + 3x_2 is
    {(2, 0): 1, (0, 1): 3}.
    """
    inputs = 1 + sum(map(len, filters)) - len(filters)
    # the exponents of x_1, …, x_n, which are the first neurons
    units = [tuple(int(i == j) for i in range(inputs)) for j in range(inputs)]
    neurons: list[dict[Any, Any]] = [{unit: 1} for unit in units]
    for layer, w in enumerate(filters):
        # there is an activation in front of each layer but the first
        if layer > 0:
            neurons = [_power(neuron, degree) for neuron in neurons]
        count = len(neurons) - len(w) + 1
        neurons = [_combination(w, neurons[j : j + len(w)]) for j in range(count)]
    (output,) = neurons
    return output


def _combination(w: Sequence[Any], neurons: Sequence[Mapping[Any, Any]]) -> dict[Any, Any]:
    """The polynomial Σ w_a y_a, for as many polynomials y_a as the filter w has entries.

    Polynomials are dictionaries from exponents to coefficients; zeros are left out.
    """
    combination: dict[Any, Any] = {}
    for entry, neuron in zip(w, neurons, strict=True):
        for monomial, c in neuron.items():
            combination[monomial] = combination.get(monomial, 0) + entry * c
    return {monomial: c for monomial, c in combination.items() if c}


def _power(neuron: Mapping[Any, Any], degree: int) -> dict[Any, Any]:
    """The power of a polynomial, by ``degree`` − 1 multiplications with it.

    Polynomials are dictionaries from exponents to coefficients.
    """
    power = dict(neuron)
    for _ in range(degree - 1):
        product_of_both: dict[Any, Any] = {}
        for exponents, c in power.items():
            for exponents_of_factor, c_of_factor in neuron.items():
                monomial = tuple(map(add, exponents, exponents_of_factor))
                summand = c * c_of_factor
                product_of_both[monomial] = product_of_both.get(monomial, 0) + summand
        power = product_of_both
    return power
