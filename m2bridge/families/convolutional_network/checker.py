"""The checker of certificates about convolutional networks: ranks, and fibres point by point.

*Theorems* (docs/convolutional-networks.md), for r ≥ 2 in characteristic 0. The map from filters up
to rescaling to the projective closure of the functions is finite. So the degree of the closure is
the degree of the source divided by the number of points of the general fibre, which is at most the
length of any fibre (theorem-convolutional-degree). Zeros at the ends of filters can be moved from
filter to filter, as long as their number in front of all filters together stays the same; and a
point is smooth exactly if its fibre is one reduced point (theorem-convolutional-fibres).

*Checked here*: the rank of the differential at one point modulo a prime, a lower bound for the
dimension, and the number of weights up to rescaling, an upper bound. The degree of the source, as
the last difference of its Hilbert function. Of one fibre for each type of zeros, all its points:
filters with moved zeros have the same function, the differential is injective there, so that they
are reduced points of the fibre, and Gröbner bases over QQ find no further points.

*Taken on trust*: these theorems, and FLINT's ranks and Gröbner bases.

*Notation* (that of docs/convolutional-networks.md). A network has L filters w_i of sizes k_i, and
activation degree r, its ``degree``. The output f is a form of degree D = r^(L − 1) in the inputs
x_1 to x_n, n = 1 + Σ(k_i − 1), and of degree r^(L − i) in the entries of w_i. The *type of zeros*
of filters is (e, P): filter i has e_i zeros at its ends, and all together have P zeros in front.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import comb
from operator import add, mul
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from m2bridge.certificates.form import Certificate, Content
from m2bridge.certificates.wording import wording
from m2bridge.checker import FamilyChecker, global_verdict, statements
from m2bridge.checker.algebra import (
    PRIME,
    groebner_basis,
    hilbert_series,
    minimal,
    rank_modulo,
    ring,
)
from m2bridge.errors import CertificateError, ContradictionError, TooExpensiveError

WORDS = wording(Path(__file__).parent / "words.toml")

MAX_CHECKED_FILTERS = 20
MAX_CHECKED_WEIGHTS = 2000
MAX_CHECKED_DEGREE = 1000
# Multiplications for all rows of the matrix whose rank is computed: some minutes.
MAX_GRADIENT_STEPS = 10**9
# Of fibres: their types of zeros, the weights, and the coefficients of the functions. Each fibre
# within these limits takes at most some seconds.
MAX_TYPES = 128
MAX_FIBRE_UNKNOWNS = 16
MAX_FORM_COEFFICIENTS = 6000

Sizes = tuple[int, ...]
Filters = list[list[int]]
# (e, P): (e_1, …, e_L) are the numbers of zeros at the ends of each filter, and P is the number of
# zeros in front of all filters together.
ZeroType = tuple[tuple[int, ...], int]


def name(case: Mapping[str, Any]) -> str:
    """The name of a case, such as ``convolutional-network-3-2-r2``.

    CertificateError if it is not a network, or one beyond the limits.
    """
    filters: Any = case.get("filters")
    degree = case.get("degree")
    if len(case) != 2 or not _is_network(filters, degree):
        raise CertificateError(
            "from 1 to 20 filters, at most 2000 weights, a degree of at most 1000"
        )
    return f"convolutional-network-{'-'.join(map(str, filters))}-r{degree}"


def _is_network(filters: Any, degree: Any) -> bool:
    """Whether these are filter sizes and a degree, linear networks too (1), within the limits."""
    if not isinstance(filters, list) or not 1 <= len(filters) <= MAX_CHECKED_FILTERS:
        return False
    if not all(type(number) is int and number >= 1 for number in [*filters, degree]):
        return False
    return degree <= MAX_CHECKED_DEGREE and sum(filters) <= MAX_CHECKED_WEIGHTS


# The dimension.


def upper_bound(sizes: Sizes) -> int:
    """The number of weights, less one for each filter but the last, which can be rescaled."""
    return sum(sizes) - (len(sizes) - 1)


def lower_bound(sizes: Sizes, degree: int) -> int:
    """A lower bound for the dimension: the rank of the differential at random filters.

    It is found modulo PRIME, at one point.
    """
    random = Random(11)
    filters = [[random.randrange(PRIME) for _ in range(size)] for size in sizes]
    return differential_rank(filters, degree)


def differential_rank(filters: Filters, degree: int) -> int:
    """A lower bound for the rank at these filters of the differential of filters ↦ f.

    It is the rank modulo PRIME of a matrix. A row of this matrix has the derivatives of f(x) by all
    weights, at random inputs x of its own. It is a combination of the rows of the Jacobian matrix
    of the coefficients of f, so that the rank is at most that of the Jacobian matrix.
    """
    sizes = tuple(map(len, filters))
    inputs = 1 + sum(sizes) - len(sizes)
    # more rows than the rank can be, so that a few that depend on others do not matter
    count = upper_bound(sizes) + 5
    if count * inputs * max(sizes) * sum(sizes) > MAX_GRADIENT_STEPS:
        raise TooExpensiveError("case", f"{count} gradients by {sum(sizes)} weights")
    random = Random(17)
    rows = []
    for _ in range(count):
        x = [random.randrange(PRIME) for _ in range(inputs)]
        rows.append(_gradient(filters, degree, x))
    return rank_modulo(rows)


def _gradient(filters: Filters, degree: int, x: Sequence[int]) -> list[int]:
    """The derivatives of f(x) by all weights modulo PRIME, those by w_1 first.

    A neuron has derivatives by the weights of all layers up to it, and none if it is an input.
    ``x`` has an entry for each input, so that one neuron is left behind the last layer.
    """
    neurons = [Neuron(entry, slopes=[]) for entry in x]
    for layer, w in enumerate(filters):
        # there is an activation in front of each layer but the first
        if layer > 0:
            neurons = [_activated(neuron, degree) for neuron in neurons]
        count = len(neurons) - len(w) + 1
        neurons = [_weighted_sum(w, neurons[j : j + len(w)]) for j in range(count)]
    (output,) = neurons
    return output.slopes


class Neuron(NamedTuple):
    """The value v of a neuron, and its derivatives v' by weights, modulo PRIME."""

    value: int
    slopes: list[int]


def _activated(neuron: Neuron, degree: int) -> Neuron:
    """The r-th power of a neuron modulo PRIME, as a neuron: (v^r)' = r v^(r−1) v'."""
    factor = degree * pow(neuron.value, degree - 1, PRIME)
    slopes = [factor * slope % PRIME for slope in neuron.slopes]
    return Neuron(pow(neuron.value, degree, PRIME), slopes)


def _weighted_sum(w: Sequence[int], neurons: Sequence[Neuron]) -> Neuron:
    """The neuron Σ w_a v_a modulo PRIME, and its derivatives by the weights of all layers up to w.

    There are as many ``neurons`` (v_a, v_a') as the filter w has entries. The derivative of the sum
    is Σ w_a v_a' by a weight of an earlier layer, and v_a by w_a. (A weight has the same place in
    the lists of all neurons of a layer, since they have the same filter.)
    """
    values = [neuron.value for neuron in neurons]
    # a column has the derivatives of all neurons by one earlier weight
    columns = zip(*(neuron.slopes for neuron in neurons), strict=True)
    by_earlier_weights = [sum(map(mul, w, column)) % PRIME for column in columns]
    return Neuron(sum(map(mul, w, values)) % PRIME, by_earlier_weights + values)


# The degree.


def source_degree(sizes: Sizes, degree: int) -> int:
    """The degree of Π P^(k_i − 1) with the line bundle O(r^(L − 1), …, r, 1).

    The Hilbert function at m, the dimension of the space of forms of m times this multidegree, is
    Π C(m r^(L−i) + k_i − 1, k_i − 1). It is a polynomial in m whose degree is the dimension N of
    the source. Its N-th difference is N! times its leading coefficient: the degree of the source.
    """
    dimension = sum(sizes) - len(sizes)  # N
    # the values of the Hilbert function at 0, …, N
    values = []
    for m in range(dimension + 1):
        form_count = 1
        # from the last filter on, whose forms have degree m r^0
        for exponent, size in enumerate(reversed(sizes)):
            form_count *= comb(m * degree**exponent + size - 1, size - 1)
        values.append(form_count)
    # one difference after the other, until only the last is left
    while len(values) > 1:
        values = [after - before for before, after in pairwise(values)]
    return values[0]


# Fibres.


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
    cores = [_core(i, size - count) for i, (size, count) in enumerate(zip(sizes, e, strict=True))]
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

    ``function`` has the coefficients of f by the exponents of monomials. The filters have P zeros
    in front of all together: for each distribution p of these zeros to the filters the number is at
    most the length of the scheme of filters with p_i zeros in front of filter i.
    """
    number = 0
    # filter i has at most k_i − 1 zeros in front
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


def _core(i: int, size: int) -> list[int]:
    """The ``size`` entries of filter i between its zeros: 1, and then random nonzero numbers."""
    random = Random(100 + i)
    return [1, *(random.choice((-3, -2, -1, 2, 3, 4)) for _ in range(size - 1))]


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

    The filters are of the form (0, …, 0, 1, *, …, *) with unknown last entries, and ``function``
    has the coefficients of f by the exponents of monomials. The length is at least the number of
    points of the scheme. It is required that the function of the filters is f, not a multiple of f:
    both have the coefficient 1 at x_(P+1)^D, as the first nonzero entry of all filters is 1.
    """
    unknowns = sum(size - 1 - p_i for size, p_i in zip(sizes, p, strict=True))
    if unknowns == 0:
        # the 1 is the last entry of each filter
        only_filters = [[0] * (size - 1) + [1] for size in sizes]
        return int(_coefficients(only_filters, degree) == function)
    context = ring(unknowns)
    variables = iter(context.gens())
    zero, one = context.constant(0), context.constant(1)
    filters = []
    for size, p_i in zip(sizes, p, strict=True):
        last_entries = [next(variables) for _ in range(size - 1 - p_i)]
        filters.append([zero] * p_i + [one] + last_entries)
    coefficients = _coefficients(filters, degree)
    monomials = coefficients.keys() | function.keys()
    equations = [coefficients.get(m, zero) - function.get(m, 0) for m in monomials]
    basis = groebner_basis(equations, context)
    # the first monomial of a polynomial is its leading one
    leading = minimal(next(iter(g.monoms())) for g in basis)
    numerator, dimension = hilbert_series(leading, unknowns)
    if dimension:
        raise ContradictionError(f"filters of sizes {sizes}: a fibre of dimension {dimension}")
    # of dimension 0 the series is its numerator, whose sum is the length
    return sum(numerator)


def _coefficients(filters: Sequence[Sequence[Any]], degree: int) -> dict[Any, Any]:
    """The nonzero coefficients of f by the exponents of monomials in x_1, …, x_n.

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


# Statements.


def stated_degree(sizes: Sizes, degree: int) -> int:
    """The stated degree (Σ(k_i − 1))! ∏ r^((L − i)(k_i − 1))/(k_i − 1)!.

    It is multiplied up from the last filter on, whose power of r is r^0.
    """
    stated = 1
    partial_sum = 0
    for exponent, size in enumerate(reversed(sizes)):
        partial_sum += size - 1
        # the multinomial coefficient is the product of such binomial coefficients
        stated *= comb(partial_sum, size - 1) * degree ** (exponent * (size - 1))
    return stated


def stated_fibres(sizes: Sizes) -> list[int] | None:
    """The stated number of points of the fibre for each type, as many as placements of zeros.

    None if there are more than MAX_TYPES types.
    """
    if type_count(sizes) > MAX_TYPES:
        return None
    return [len(list(placements(zeros))) for zeros in types_of_zeros(sizes)]


def stated_singular(sizes: Sizes) -> list[int] | None:
    """For each type of zeros 1 if its general functions are stated to be singular points, else 0.

    None if there are more than MAX_TYPES types. The functions are stated to be singular if, for
    some placement of the zeros, one filter has a zero in front and a different one a zero behind.
    That is so exactly if at least two filters have zeros, and neither all zeros are in front, nor
    all behind.
    """
    if type_count(sizes) > MAX_TYPES:
        return None
    stated = []
    for e, P in types_of_zeros(sizes):
        filters_with_zeros = sum(e_i > 0 for e_i in e)
        stated.append(int(filters_with_zeros > 1 and 0 < P < sum(e)))
    return stated


def _dimension(sizes: Sizes, degree: int) -> dict[str, int | None]:
    """The dimension, None if it is not decided, and its bounds, by the names of the evidence.

    A rank above the upper bound refutes a proof or a program: ContradictionError.
    """
    lower = lower_bound(sizes, degree)
    upper = upper_bound(sizes)
    if lower > upper:
        raise ContradictionError(f"filter sizes {sizes}: a rank {lower} above the bound {upper}")
    dimension = upper if lower == upper else None
    return {"dimension": dimension, "lower_bound": lower, "upper_bound": upper}


def _case(certificate: Certificate) -> tuple[Sizes, int]:
    """The filter sizes and the activation degree of the case of a certificate."""
    return tuple(certificate.case["filters"]), certificate.case["degree"]


def _content_on_statements(
    certificate: Certificate,
    *,
    hypothesis: str | None,
    predicted: Any,
    observed: Any,
    evidence: dict[str, Any],
) -> Content:
    """The content of a certificate on the statement that it asks about.

    ``hypothesis`` is the hypothesis that fails, in words, or None if all hold. ``predicted`` and
    ``observed`` are the values of the observable, None for one that is not known: a number, or for
    each type of zeros one, predicted as a list, and observed as a dictionary from the name of the
    method to the list. ``evidence`` has the computed numbers by name. In the content all names of
    numbers occur: those that were not computed are None, and fibres are an empty list.
    """
    statements_in_words = WORDS.listed(certificate.question, certificate.answer)
    verdicts = [
        global_verdict(words, hypothesis=hypothesis, predicted=predicted, observed=observed)
        for words in statements_in_words
    ]
    not_computed: dict[str, Any] = {
        "degree": None,
        "source_degree": None,
        "general_fibre": None,
        "fibres": [],
    }
    return statements(WORDS, statements_in_words, verdicts, not_computed | evidence)


def _failed_hypothesis(activation_degree: int) -> str | None:
    """The hypothesis r ≥ 2 in words, if it fails; None if it holds."""
    return WORDS.hypotheses["nonlinear"] if activation_degree == 1 else None


def about_dimension(certificate: Certificate) -> Content:
    """The content of a certificate on the dimension."""
    sizes, degree = _case(certificate)
    evidence = _dimension(sizes, degree)
    # no hypothesis: the statement is about all networks
    return _content_on_statements(
        certificate,
        hypothesis=None,
        predicted=upper_bound(sizes),
        observed=evidence["dimension"],
        evidence=evidence,
    )


def about_degree(certificate: Certificate) -> Content:
    """The content of a certificate on the degree of the closure of a network.

    The degree is that of the source, divided by the number of points of the general fibre. For a
    linear activation, r = 1, nothing is observed, because the statement is about r ≥ 2.
    """
    sizes, activation_degree = _case(certificate)
    evidence: dict[str, Any] = {**_dimension(sizes, activation_degree)}
    observed = None
    if activation_degree > 1:
        # no zeros at the ends of any filter, and none in front of all together
        without_zeros = ((0,) * len(sizes), 0)
        length = fibre_length(sizes, activation_degree, without_zeros)
        degree_of_source = source_degree(sizes, activation_degree)
        # The length of this fibre is only an upper bound for the number of points of the general
        # fibre, which is shown by a length of 1 alone.
        observed = degree_of_source if length == 1 else None
        evidence |= {"degree": observed, "source_degree": degree_of_source, "general_fibre": length}
    return _content_on_statements(
        certificate,
        hypothesis=_failed_hypothesis(activation_degree),
        predicted=stated_degree(sizes, activation_degree),
        observed=observed,
        evidence=evidence,
    )


def about_fibres(certificate: Certificate) -> Content:
    """The content of a certificate on the points of fibres."""
    sizes, _ = _case(certificate)
    # the length itself is the number of points
    return _about_types(
        certificate, predicted=stated_fibres(sizes), number_from_length=lambda length: length
    )


def about_singular(certificate: Certificate) -> Content:
    """The content of a certificate on singular points: those with more than one preimage."""
    sizes, _ = _case(certificate)
    # a function is a singular point exactly if its fibre is more than one reduced point
    return _about_types(
        certificate,
        predicted=stated_singular(sizes),
        number_from_length=lambda length: int(length > 1),
    )


def _about_types(
    certificate: Certificate,
    *,
    predicted: list[int] | None,
    number_from_length: Callable[[int], int],
) -> Content:
    """The content of a certificate with a number for each type of zeros, from its fibre.

    ``predicted`` has the stated number for each of ``types_of_zeros``, in their order; None if
    there are too many types. ``number_from_length`` takes the length of the fibre over a function
    of a type, and returns the observed number of this type. A length that is not decided gives the
    number None. For r = 1 nothing is observed, because the statement is about r ≥ 2; for r ≥ 2 too
    many types are a TooExpensiveError.
    """
    sizes, activation_degree = _case(certificate)
    evidence: dict[str, Any] = {**_dimension(sizes, activation_degree)}
    observed = None
    if activation_degree > 1:
        # for the evidence: each type (e, P) with the length of its fibre
        fibres = []
        # the observed number of each type
        numbers: list[int | None] = []
        for e, P in types_of_zeros(sizes):
            length = fibre_length(sizes, activation_degree, (e, P))
            fibres.append({"zeros": list(e), "leading": P, "length": length})
            numbers.append(None if length is None else number_from_length(length))
        evidence["fibres"] = fibres
        # by the name of the one method that finds these numbers
        observed = {"lengths_of_fibres": numbers}
    return _content_on_statements(
        certificate,
        hypothesis=_failed_hypothesis(activation_degree),
        predicted=predicted,
        observed=observed,
        evidence=evidence,
    )


CHECKER = FamilyChecker(
    family="convolutional-network",
    name=name,
    questions={
        "dimension": about_dimension,
        "degree": about_degree,
        "fibres": about_fibres,
        "singular": about_singular,
    },
    wordings=(WORDS,),
)
