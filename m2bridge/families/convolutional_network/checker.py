"""The checker of certificates about convolutional networks: ranks, and fibres point by point.

*Theorems* (docs/convolutional-networks.md), for r ≥ 2 in characteristic 0. The map from filters up
to rescaling to the projective closure of the functions is finite. So the degree of the closure is
the degree of the source divided by the number of points of the general fibre, which is at most the
length of any fibre (theorem-convolutional-degree). Zeros at the ends of filters can be moved from
filter to filter, as long as their number in front of all filters together stays the same; and a
point is smooth exactly if its fibre is one reduced point (theorem-convolutional-fibres).

*Checked here*: the rank of the differential at one point modulo a prime, a lower bound for the
dimension, and the number of weights up to rescaling, an upper bound; the degree of the source, as
the last difference of its Hilbert function. Of one fibre for each type of zeros, over random
filters that are drawn for each check, all points are found: filters with moved zeros have the same
function, the differential is injective there, so that they are reduced points of the fibre, and
Gröbner bases over QQ find no further points. The formulas of statements are in words.toml, which
the program reads, too.

*Taken on trust*: these theorems, and FLINT's ranks and Gröbner bases.

*Notation* (as in docs/convolutional-networks.md). A network has L filters w_i of sizes k_i, and
activation degree r, its ``degree``. The output f is a form of degree D = r^(L − 1) in the inputs
x_1 to x_n, n = 1 + Σ(k_i − 1), and of degree r^(L − i) in the entries of w_i. A *polynomial* in the
inputs is a dictionary from exponents to coefficients other than zero, which may be of any ring:
x_1² + 3x_2 is {(2, 0): 1, (0, 1): 3}. The *type of zeros* of filters is (e, P): filter i has e_i
zeros at its ends, and all together have P zeros in front. None is a number that is not decided, or
not stated as there are too many types.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise, product
from math import comb, prod
from operator import add, mul
from pathlib import Path
from typing import Any, NamedTuple

from m2bridge.certificates.conditions import CaseNumbers
from m2bridge.certificates.form import Certificate, Content
from m2bridge.certificates.wording import wording
from m2bridge.checker import FamilyChecker, excluding_bound, global_verdict, statements
from m2bridge.checker.algebra import (
    PRIME,
    groebner_basis,
    hilbert_series,
    leading_monomials,
    rank_modulo,
    ring,
)
from m2bridge.checker.draws import unpredictable
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
ZeroType = tuple[tuple[int, ...], int]
Polynomial = Mapping[Any, Any]


# The dimension.


def upper_bound(sizes: Sizes) -> int:
    """An upper bound for the dimension: the number of weights less L − 1, for rescalings.

    All filters but the last can be rescaled, and the last one compensates.
    """
    return sum(sizes) - (len(sizes) - 1)


def lower_bound(sizes: Sizes, degree: int) -> int:
    """A lower bound for the dimension: the rank of the differential at random filters."""
    random = unpredictable()
    filters = [[random.randrange(PRIME) for _ in range(size)] for size in sizes]
    return differential_rank(filters, degree)


def differential_rank(filters: Filters, degree: int) -> int:
    """A lower bound for the rank at these filters of the differential of filters ↦ f.

    It is the rank modulo PRIME of a matrix. A row is the gradient of f(x) with respect to all
    weights, at random inputs x of its own: a combination of the rows of the Jacobian matrix of the
    coefficients of f.
    """
    sizes = tuple(map(len, filters))
    inputs = 1 + sum(sizes) - len(sizes)
    # more rows than the rank can be, so that a few that depend on others do not matter
    count = upper_bound(sizes) + 5
    if count * inputs * max(sizes) * sum(sizes) > MAX_GRADIENT_STEPS:
        raise TooExpensiveError("case", f"{count} gradients by {sum(sizes)} weights")
    random = unpredictable()
    rows = []
    for _ in range(count):
        x = [random.randrange(PRIME) for _ in range(inputs)]
        rows.append(_gradient(filters, degree, x))
    return rank_modulo(rows)


class Neuron(NamedTuple):
    """The value of a neuron, and its derivatives with respect to weights, modulo PRIME."""

    value: int
    slopes: list[int]  # for all layers up to the neuron, the entries of w_1 first


def _gradient(filters: Filters, degree: int, x: Sequence[int]) -> list[int]:
    """The gradient of f(x) with respect to all weights, modulo PRIME, the entries of w_1 first."""
    neurons = [Neuron(entry, slopes=[]) for entry in x]
    for layer, w in enumerate(filters):
        # there is an activation in front of each layer but the first
        if layer > 0:
            neurons = [_activated(neuron, degree) for neuron in neurons]
        count = len(neurons) - len(w) + 1
        neurons = [_weighted_sum(w, neurons[j : j + len(w)]) for j in range(count)]
    (output,) = neurons
    return output.slopes


def _activated(neuron: Neuron, degree: int) -> Neuron:
    """The r-th power of a neuron: (v^r)' = r v^(r−1) v'."""
    factor = degree * pow(neuron.value, degree - 1, PRIME)
    slopes = [factor * slope % PRIME for slope in neuron.slopes]
    return Neuron(pow(neuron.value, degree, PRIME), slopes)


def _weighted_sum(w: Sequence[int], neurons: Sequence[Neuron]) -> Neuron:
    """The neuron Σ w_a v_a: its derivative is Σ w_a v_a' by an earlier weight, and v_a by w_a.

    A weight has the same place in the lists of all neurons of a layer, which have the same filter.
    """
    values = [neuron.value for neuron in neurons]
    # a column has the derivatives of all neurons with respect to one earlier weight
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
        values = [next_value - value for value, next_value in pairwise(values)]
    return values[0]


# Fibres.


def type_count(sizes: Sizes) -> int:
    """The number of types of zeros: the sum of 1 + Σ e_i over all e with 0 ≤ e_i < k_i."""
    choices_of_e = prod(sizes)
    largest_sum = sum(size - 1 for size in sizes)
    # the average of Σ e_i is half of its largest value, as e ↦ (k_i − 1 − e_i) permutes the choices
    return choices_of_e + choices_of_e * largest_sum // 2


def types_of_zeros(sizes: Sizes) -> list[ZeroType]:
    """All types of zeros (e, P), the type of filters without zeros first; or TooExpensiveError."""
    if type_count(sizes) > MAX_TYPES:
        raise TooExpensiveError("case", f"{type_count(sizes)} types of zeros")
    types = []
    for e in product(*(range(size) for size in sizes)):
        types += [(e, P) for P in range(sum(e) + 1)]
    return types


def placements(zeros: ZeroType) -> Iterator[tuple[int, ...]]:
    """Yield all p with 0 ≤ p_i ≤ e_i and Σ p_i = P: the numbers of zeros in front of filters."""
    e, P = zeros
    for p in product(*(range(count + 1) for count in e)):
        if sum(p) == P:
            yield p


def fibre_length(sizes: Sizes, degree: int, zeros: ZeroType) -> int | None:
    """The length of the fibre over the function f of random filters of this type.

    Some points of the fibre are known: the same filters with their zeros moved (``placements``). It
    is shown that each of them is reduced, and that the fibre has no other points.

    Up to rescaling, filters are of the form (0, …, 0, 1, *, …, *). If their function is f, they
    have P zeros in front, because P + 1 is the smallest number of a variable in f. For each
    distribution p of P zeros to the filters, a Gröbner basis bounds the number of such filters
    whose function is f.
    """
    e, P = zeros
    _check_fibre_price(sizes, degree)
    cores = [random_core(size - count) for size, count in zip(sizes, e, strict=True)]
    points = []
    for p in placements(zeros):
        parts = zip(cores, p, e, strict=True)
        points.append([[0] * p_i + core + [0] * (e_i - p_i) for core, p_i, e_i in parts])
    # f, which must be the same for all points
    function = output_form(points[0], degree)
    for filters in points:
        if output_form(filters, degree) != function:
            raise ContradictionError(f"filters {filters}: zeros that are moved change the function")
        # The point is reduced exactly if the kernel of the differential has only the directions of
        # rescalings, L − 1 dimensions. If the rank modulo PRIME is smaller, this is not shown.
        if differential_rank(filters, degree) != upper_bound(sizes):
            return None
    most_points = 0
    # filter i has at most k_i − 1 zeros in front, as it is not zero
    for p in product(*(range(size) for size in sizes)):
        if sum(p) == P:
            most_points += length_with_zeros(sizes, degree, p, function)
    # no more points than are known: then these are all, and each is reduced
    return len(points) if most_points == len(points) else None


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


def random_core(size: int) -> list[int]:
    """The ``size`` entries of a filter between its zeros: 1, and then random nonzero numbers."""
    random = unpredictable()
    # from so many numbers special filters are drawn with a probability below 10^(−9)
    return [1, *(random.randint(1, 2**40) for _ in range(size - 1))]


def length_with_zeros(sizes: Sizes, degree: int, p: Sequence[int], function: Polynomial) -> int:
    """The length of the scheme of filters with p_i zeros in front that have this function f.

    The filters are of the form (0, …, 0, 1, *, …, *) with unknown last entries. It is required that
    their function is f, not a multiple of f: both have the coefficient 1 at x_(P+1)^D, as the first
    nonzero entry of all filters is 1.
    """
    unknowns = sum(size - 1 - p_i for size, p_i in zip(sizes, p, strict=True))
    if unknowns == 0:
        # the 1 is the last entry of each filter
        only_filters = [[0] * (size - 1) + [1] for size in sizes]
        return int(output_form(only_filters, degree) == function)
    context = ring(unknowns)
    variables = iter(context.gens())
    zero, one = context.constant(0), context.constant(1)
    filters = []
    for size, p_i in zip(sizes, p, strict=True):
        last_entries = [next(variables) for _ in range(size - 1 - p_i)]
        filters.append([zero] * p_i + [one] + last_entries)
    form = output_form(filters, degree)
    monomials = form.keys() | function.keys()
    equations = [form.get(m, zero) - function.get(m, 0) for m in monomials]
    basis = groebner_basis(equations, context)
    numerator, dimension = hilbert_series(leading_monomials(basis), unknowns)
    if dimension:
        raise ContradictionError(f"filters of sizes {sizes}: a fibre of dimension {dimension}")
    # Of dimension 0 the series is its numerator, whose sum is the length. If no filters have the
    # function, the ideal is the whole ring, and the numerator is empty.
    return sum(numerator)


def output_form(filters: Sequence[Sequence[Any]], degree: int) -> Polynomial:
    """The output f of these filters, with entries of any ring."""
    inputs = 1 + sum(map(len, filters)) - len(filters)
    # x_1, …, x_n are the first neurons
    units = [tuple(int(i == j) for i in range(inputs)) for j in range(inputs)]
    neurons: list[Polynomial] = [{unit: 1} for unit in units]
    for layer, w in enumerate(filters):
        # there is an activation in front of each layer but the first
        if layer > 0:
            neurons = [_power(neuron, degree) for neuron in neurons]
        count = len(neurons) - len(w) + 1
        neurons = [_combination(w, neurons[j : j + len(w)]) for j in range(count)]
    (output,) = neurons
    return output


def _combination(w: Sequence[Any], neurons: Sequence[Polynomial]) -> Polynomial:
    """The polynomial Σ w_a y_a, for as many polynomials y_a as the filter w has entries."""
    combination: dict[Any, Any] = {}
    for entry, neuron in zip(w, neurons, strict=True):
        for monomial, c in neuron.items():
            combination[monomial] = combination.get(monomial, 0) + entry * c
    return {monomial: c for monomial, c in combination.items() if c}


def _power(neuron: Polynomial, degree: int) -> Polynomial:
    """The power of a polynomial, by ``degree`` − 1 multiplications with it."""
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


# Predictions.


def multinomial(sizes: Sizes) -> int:
    """The multinomial coefficient of the numbers k_i − 1: a product of binomial coefficients."""
    coefficient = 1
    partial_sum = 0
    for size in sizes:
        partial_sum += size - 1
        coefficient *= comb(partial_sum, size - 1)
    return coefficient


def exponent_of_degree(sizes: Sizes) -> int:
    """The exponent Σ (L − i)(k_i − 1) of r in the degree, from the last filter on."""
    return sum(i * (size - 1) for i, size in enumerate(reversed(sizes)))


# The numbers of a network, its filter sizes and its degree, by their names in words.toml.
NUMBERS: dict[str, Callable[[tuple[Sizes, int]], int]] = {
    "L": lambda network: len(network[0]),
    "k": lambda network: sum(network[0]),
    "r": lambda network: network[1],
    "exponent": lambda network: exponent_of_degree(network[0]),
    "multinomial": lambda network: multinomial(network[0]),
}


def stated_fibres(sizes: Sizes) -> list[int] | None:
    """The stated number of points of the fibre for each type, as many as placements of zeros; None
    for too many types.
    """
    with suppress(TooExpensiveError):
        return [len(list(placements(zeros))) for zeros in types_of_zeros(sizes)]
    return None


def stated_singular(sizes: Sizes) -> list[int] | None:
    """For each type of zeros 1 if its general functions are stated to be singular points, else 0;
    None for too many types.

    The functions are stated to be singular if, for some placement of the zeros, one filter has a
    zero in front and a different one a zero behind. That is so exactly if at least two filters have
    zeros, and neither all zeros are in front, nor all behind.
    """
    singular = []
    with suppress(TooExpensiveError):
        for e, P in types_of_zeros(sizes):
            filters_with_zeros = sum(e_i > 0 for e_i in e)
            singular.append(int(filters_with_zeros > 1 and 0 < P < sum(e)))
        return singular
    return None


# The predictions that are not formulas, by the key of the statement.
PREDICTED: dict[str, Callable[[Sizes], list[int] | None]] = {
    "fibres": stated_fibres,
    "singular": stated_singular,
}


# The content of certificates.


def name(case: Mapping[str, Any]) -> str:
    """The name of a case, such as ``convolutional-network-3-2-r2``; or CertificateError."""
    filters: Any = case.get("filters")
    degree = case.get("degree")
    if len(case) != 2 or not _is_network(filters, degree):
        raise CertificateError(
            f"from 1 to {MAX_CHECKED_FILTERS} filters, at most {MAX_CHECKED_WEIGHTS} weights,"
            f" a degree of at most {MAX_CHECKED_DEGREE}"
        )
    return f"convolutional-network-{'-'.join(map(str, filters))}-r{degree}"


def _is_network(filters: Any, degree: Any) -> bool:
    """Whether these are filter sizes and an activation degree r ≥ 1, all within the limits."""
    if not isinstance(filters, list) or not 1 <= len(filters) <= MAX_CHECKED_FILTERS:
        return False
    if not all(type(number) is int and number >= 1 for number in [*filters, degree]):
        return False
    return degree <= MAX_CHECKED_DEGREE and sum(filters) <= MAX_CHECKED_WEIGHTS


def expected(certificate: Certificate) -> Content:
    """The content of a certificate on the statement that it asks about.

    For r = 1 the dimension alone is observed, because other statements are about r ≥ 2.
    """
    sizes, degree = tuple(certificate.case["filters"]), certificate.case["degree"]
    question = certificate.question
    lower, upper = lower_bound(sizes, degree), upper_bound(sizes)
    # a rank above the upper bound refutes a proof or a program
    if lower > upper:
        raise ContradictionError(f"filter sizes {sizes}: a rank {lower} above the bound {upper}")
    dimension = upper if lower == upper else None
    evidence: dict[str, Any] = {
        "dimension": dimension,
        "lower_bound": lower,
        "upper_bound": upper,
        "degree": None,
        "source_degree": None,
        "general_fibre": None,
        "fibres": [],
    }
    observed: Any = None
    if question == "dimension":
        observed = dimension
    elif question == "degree" and degree > 1:
        # no zeros at the ends of any filter, and none in front of all together
        length = fibre_length(sizes, degree, ((0,) * len(sizes), 0))
        degree_of_source = source_degree(sizes, degree)
        # The length of this fibre is only an upper bound for the number of points of the general
        # fibre, which is shown by a length of 1 alone.
        observed = degree_of_source if length == 1 else None
        evidence |= {"degree": observed, "source_degree": degree_of_source, "general_fibre": length}
    elif degree > 1:
        numbers = []
        for e, P in types_of_zeros(sizes):
            length = fibre_length(sizes, degree, (e, P))
            evidence["fibres"].append({"zeros": list(e), "leading": P, "length": length})
            # a function is a singular point exactly if its fibre is more than one reduced point
            is_singular = None if length is None else int(length > 1)
            numbers.append(is_singular if question == "singular" else length)
        # by the name of the one method that finds these numbers
        observed = {"lengths_of_fibres": numbers}
    listed = WORDS.listed(question, certificate.answer)
    named = CaseNumbers((sizes, degree), NUMBERS)
    verdicts = []
    for words in listed:
        predict = PREDICTED.get(question)
        predicted = predict(sizes) if predict else WORDS.predicted(words, named)
        observation = observed
        if question == "dimension" and dimension is None:
            observation = excluding_bound(certificate, words, predicted, lower, upper)
        verdict = global_verdict(
            words,
            hypothesis=next(iter(WORDS.failing(words.assumes, named)), None),
            predicted=predicted,
            observed=observation,
        )
        verdicts.append(verdict)
    return statements(WORDS, listed, verdicts, evidence)


CHECKER = FamilyChecker(
    family="convolutional-network",
    name=name,
    questions={words.key: expected for words in WORDS.statements},
    wordings=(WORDS,),
)
