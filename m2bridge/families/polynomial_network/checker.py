"""The checker of certificates about polynomial networks: a rank that meets an upper bound.

*Theorem.* In characteristic 0 the dimension of the functions of a network is the rank of the
differential of the map from weights to functions at general weights ("Lower bounds" in
docs/polynomial-networks.md); it is at most each of ten numbers (theorem-network-bounds there).

*Checked here*: the rank at one point modulo a prime, which is a lower bound, and the least of the
ten numbers, from formulas of its own. Where they meet this is the dimension. The formula of the
statements is in words.toml, which the program reads, too. Release 1.0 had fewer
bounds, and the least of them is accepted as the upper bound, too.

*Taken on trust*: the two facts above, and FLINT's ranks modulo a prime.

*Notation* (as in docs/polynomial-networks.md). A network has widths d_0, …, d_l and matrices
W_1, …, W_l, its weights, where W_i is d_i × d_{i−1}. The function φ maps x to W_l σ(… σ(W_1 x)),
with σ the r-th power of each coordinate, and r is its ``degree``. So its d_l outputs are forms of
degree D = r^(l − 1) in d_0 variables, and their coefficients are the *coordinates* of φ. A *part*
of a network is one with some of its consecutive widths, or with one of them replaced.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import comb
from operator import mul
from pathlib import Path
from random import Random
from typing import Any

from m2bridge.certificates.conditions import CaseNumbers
from m2bridge.certificates.form import Certificate, Content
from m2bridge.certificates.wording import wording
from m2bridge.checker import FamilyChecker, excluding_bound, global_verdict, statements
from m2bridge.checker.algebra import PRIME, rank_modulo
from m2bridge.checker.draws import unpredictable
from m2bridge.errors import CertificateError, ContradictionError, TooExpensiveError

WORDS = wording(Path(__file__).parent / "words.toml")

# The bounds of all parts of a network take time cubic in the number of widths.
MAX_CHECKED_WIDTHS = 101
# One row of the matrix whose rank is computed is as long as there are weights, and the numbers of
# coordinates have log r digits for each layer.
MAX_CHECKED_WEIGHTS = 10**5
MAX_CHECKED_DEGREE = 10**6
# Rows times columns of the matrix whose rank is computed.
MAX_JACOBIAN_ENTRIES = 2 * 10**7

Widths = tuple[int, ...]
Entries = list[int]


def name(case: Mapping[str, Any]) -> str:
    """The name of a case, such as ``polynomial-network-2-2-1-r2``; or CertificateError."""
    widths: Any = case.get("widths")
    degree = case.get("degree")
    if len(case) != 2 or not _is_network(widths, degree):
        raise CertificateError(
            f"from 2 to {MAX_CHECKED_WIDTHS} widths, at most {MAX_CHECKED_WEIGHTS} weights,"
            f" a degree of at most {MAX_CHECKED_DEGREE}"
        )
    return f"polynomial-network-{'-'.join(map(str, widths))}-r{degree}"


def _is_network(widths: Any, degree: Any) -> bool:
    """Whether these, of any types, are the widths and the degree of a network within the limits."""
    if not isinstance(widths, list) or not 2 <= len(widths) <= MAX_CHECKED_WIDTHS:
        return False
    if not all(type(number) is int and number >= 1 for number in [*widths, degree]):
        return False
    return degree <= MAX_CHECKED_DEGREE and _weight_count(widths) <= MAX_CHECKED_WEIGHTS


def _weight_count(widths: Sequence[int]) -> int:
    """The number of weights: of the entries of all W_i."""
    return sum(inputs * outputs for inputs, outputs in pairwise(widths))


def _bound_by_coordinates(widths: Widths, degree: int) -> int:
    """Bound 2, the number of coefficients of d_l forms of degree D in d_0 variables; or only D, if
    d_0 > 1 and D exceeds the number of weights.

    The number of coefficients is then above D, and may have very many digits. Neither of them is
    the least bound.
    """
    inputs, outputs = widths[0], widths[-1]
    form_degree: int = degree ** (len(widths) - 2)
    if inputs > 1 and form_degree > _weight_count(widths):
        return form_degree
    return outputs * comb(inputs - 1 + form_degree, inputs - 1)


def upper_bound(widths: Widths, degree: int, *, of_release_1_0: bool = False) -> int:
    """The least of the ten bounds for the dimension; of release 1.0, the least of its bounds."""
    if degree == 1:
        # bound 3: the functions are the matrices of rank at most the least width
        least = min(widths)
        return least * (widths[0] + widths[-1] - least)

    @cache
    def least_bound(part: Widths) -> int:
        """The least bound of a part of the network, given by its widths."""
        bounds = [*_bounds(part, degree, least_bound)]
        if not of_release_1_0:
            bounds += _bounds_by_curves(part, degree)
            if degree == 2:
                bounds += _bounds_by_sums_of_squares(part, least_bound)
        return min(bounds)

    return least_bound(widths)


def _bounds(widths: Widths, degree: int, least_bound: Callable[[Widths], int]) -> Iterator[int]:
    """Yield the bounds of release 1.0 that apply: 1, 2 and 4 to 9, with the numbers of
    theorem-network-bounds, and bound 8 for one case; ``least_bound`` is about other widths.
    """
    inputs, first_hidden = widths[:2]
    last_hidden, outputs = widths[-2:]
    # bound 1: each hidden neuron can be scaled without changing φ
    yield _weight_count(widths) - sum(widths[1:-1])
    # bound 2
    yield _bound_by_coordinates(widths, degree)
    # bound 5: W_1 has rank at most d_1, so that a function factors through a quotient of K^(d_0) of
    # dimension d_1, by a subspace of the kernel of W_1; such quotients form a Grassmannian
    if first_hidden < inputs:
        quotients = first_hidden * (inputs - first_hidden)
        on_quotient = (first_hidden, *widths[1:])
        yield quotients + least_bound(on_quotient)
    # bound 6: the outputs lie in a space of dimension d_(l−1), the image of W_l; such spaces form a
    # Grassmannian
    if last_hidden < outputs:
        spaces = last_hidden * (outputs - last_hidden)
        into_space = (*widths[:-1], last_hidden)
        yield spaces + least_bound(into_space)
    # bound 4: at each hidden layer i the network is the composition of two parts, and a torus of
    # dimension d_i scales the outputs of the first against the inputs of the second, which keeps
    # the composition
    for i in range(1, len(widths) - 1):
        up_to_layer, from_layer = widths[: i + 1], widths[i:]
        yield least_bound(up_to_layer) + least_bound(from_layer) - widths[i]
    # bounds 7 to 9: the coordinates of all functions satisfy an equation
    if _has_equation(widths, degree):
        # where the first number is D, which exceeds the number of weights, this is at least bound 1
        yield _bound_by_coordinates(widths, degree) - 1


def _bounds_by_curves(widths: Widths, degree: int) -> Iterator[int]:
    """Yield bound 8 for one hidden layer with at most d_0 + 2 neurons; else nothing.

    At most d_0 + 2 general linear forms are points of a rational normal curve: a ↦ g(a^N, a^(N−1)
    b, …, b^N) with N = d_0 − 1. Such curves are PGL(d_0)/PGL(2). The r-th powers of its points span
    at most as many dimensions as there are monomials of degree rN in a and b.
    """
    if len(widths) == 3 and widths[0] > 1 and widths[1] <= widths[0] + 2:
        inputs, _, outputs = widths
        curves = (inputs**2 - 1) - (2**2 - 1)
        monomials = degree * (inputs - 1) + 1
        yield curves + outputs * monomials


def _bounds_by_sums_of_squares(
    widths: Widths, least_bound: Callable[[Widths], int]
) -> Iterator[int]:
    """Yield bound 10 for r = 2, one output and at least one hidden layer; else nothing.

    The function is Σ c_j h_j² with the k last hidden polynomials h_j, and √c_j h_j are outputs of
    the network up to this layer. So it is the image of its function (h_1, …, h_k) under h ↦ hᵀh,
    whose fibres contain orbits of O(k). If the h_j span a space of dimension s, an orbit of h has
    the dimension of the Stiefel manifold of s orthonormal vectors in k-space, (k − 1) + … + (k −
    s); with less than s, this number is no larger.
    """
    if len(widths) < 3 or widths[-1] != 1:
        return
    k = widths[-2]
    s = _dimension_of_span(widths[:-1])
    stiefel_manifold = sum(range(k - s, k))
    yield least_bound(widths[:-1]) - stiefel_manifold


def _dimension_of_span(widths: Widths) -> int:
    """A lower bound of the dimension of the span of the outputs at general weights, for r = 2.

    Let S be the span of the inputs of a later layer before they are squared. Squares of general
    elements of S are independent as long as there are not more than dim S², the products; that is
    at least 2 dim S − 1, by leading monomials, and the number of all forms if S has all forms of
    its degree in the d_1 general linear forms of the first layer.
    """
    forms = min(widths[0], widths[1])
    dimension = forms
    for i in range(1, len(widths) - 1):
        degree = 2 ** (i - 1)
        of_products = 2 * dimension - 1
        if dimension == comb(forms - 1 + degree, forms - 1):
            of_products = comb(forms - 1 + 2 * degree, forms - 1)
        dimension = min(widths[i], widths[i + 1], of_products)
    return dimension


def _has_equation(widths: Widths, degree: int) -> bool:
    """Whether bound 7, 8 or 9 applies: whether the functions are known to satisfy an equation.

    All three need one hidden layer: then outputs are linear combinations of d_1 powers L_j^r of
    linear forms. With an equation the dimension is less than the number of coordinates.
    """
    if len(widths) != 3:
        return False
    inputs, hidden, outputs = widths
    # 7: the catalecticant matrix of a form of degree r has a row for each monomial of degree r//2
    # and a column for each of degree r − r//2, so at least as many columns as rows. The rank of the
    # matrix is 1 for a power of a linear form, so at most d_1 for a sum of d_1 powers. For general
    # forms the rank is the number of rows. If there are more than d_1 rows, the minors of size
    # d_1 + 1 vanish for all functions of the network, and not for all forms.
    rows_of_catalecticant = comb(inputs - 1 + degree // 2, inputs - 1)
    if outputs == 1 and hidden < rows_of_catalecticant:
        return True
    # 8: seven general points of P^4 lie on a rational normal quartic. Their cubes lie on its image,
    # a rational normal curve in P^12. Seven points of it and a point of their span have 13
    # parameters (7 and 6), and fill at most 12 dimensions. So a sum of seven cubes in 5 variables
    # is one in infinitely many ways, and these sums have less than 7 · 5 = 35 dimensions, the
    # number of coordinates (Alexander and Hirschowitz; docs/ has a different proof).
    if widths == (5, 7, 1) and degree == 3:
        return True
    # 9: three quadratic forms with symmetric matrices A, B, C have the skew-symmetric matrix
    # (0 A B; −A 0 C; −B −C 0) of size 3 d_0. The square of each of the d_1 hidden linear forms adds
    # a matrix of rank 2, so the rank is at most 2 d_1. For general forms (after Strassen) it is
    # 3 d_0, or one less if d_0 is odd. Indeed for A = 1 it is 2 d_0 plus the rank of the commutator
    # [B, C]; for a diagonal B with distinct entries [B, C] can be any skew-symmetric matrix, and so
    # of rank d_0 or d_0 − 1. If the general rank is more than 2 d_1, minors of size 2 d_1 + 1
    # vanish for all functions of the network, and not for all forms.
    general_rank = 3 * inputs - inputs % 2
    return outputs == 3 and degree == 2 and 2 * hidden < general_rank


def lower_bound(widths: Widths, degree: int, count: int) -> int:
    """A lower bound of the dimension: the rank modulo the prime of a matrix at random weights.

    Each of its ``count`` rows is the derivative of ⟨g, φ(x)⟩ with respect to all weights, for an
    input x and a covector g of its own: a combination of rows of the Jacobian matrix of the
    coordinates of φ, whose rank is at least as large, whatever the random numbers are.
    """
    columns = _weight_count(widths)
    if count * columns > MAX_JACOBIAN_ENTRIES:
        raise TooExpensiveError("case", f"a matrix with {count} rows and {columns} columns")
    random = unpredictable()
    matrices = []
    for inputs, outputs in pairwise(widths):
        matrices.append([_random_vector(inputs, random) for _ in range(outputs)])
    return rank_modulo([_gradient(matrices, degree, random) for _ in range(count)])


def _random_vector(length: int, random: Random) -> Entries:
    """A random vector modulo the prime."""
    return [random.randrange(PRIME) for _ in range(length)]


def _gradient(matrices: list[list[Entries]], degree: int, random: Random) -> Entries:
    """The derivative of ⟨g, φ(x)⟩ with respect to all weights, modulo PRIME, for random x and g,
    the last matrix first, row by row.

    Layer i maps its inputs y to z = W_i y, and z^r are the inputs of the next layer, with the
    derivatives r z^(r−1), the *slopes*. If the derivative with respect to z is the covector g, it
    is g yᵀ with respect to W_i, and W_iᵀ g with respect to y.
    """
    y = _random_vector(len(matrices[0][0]), random)
    inputs = [y]
    slopes = []
    for W in matrices[:-1]:
        z = [_dot(row, y) for row in W]
        y = [pow(entry, degree, PRIME) for entry in z]
        inputs.append(y)
        slopes.append([degree * pow(entry, degree - 1, PRIME) for entry in z])
    g = _random_vector(len(matrices[-1]), random)
    gradient: Entries = []
    # before step i, g is the derivative with respect to the outputs W y of the layer with index i
    for i in reversed(range(len(matrices))):
        # g yᵀ, row by row
        for entry in g:
            gradient += [entry * y for y in inputs[i]]
        if i > 0:
            # Wᵀ g, and then the product with the slopes of the layer before
            columns = zip(*matrices[i], strict=True)
            by_y = [_dot(column, g) for column in columns]
            g = [y * slope % PRIME for y, slope in zip(by_y, slopes[i - 1], strict=True)]
    return gradient


def _dot(row: Sequence[int], column: Sequence[int]) -> int:
    """The product of a row and a column modulo PRIME."""
    product: int = sum(map(mul, row, column)) % PRIME
    return product


# The numbers of a network, its widths and its degree, by their names in words.toml; the activations
# of certificates are powers.
NUMBERS: dict[str, Callable[[tuple[Widths, int]], int]] = {
    "l": lambda network: len(network[0]) - 1,
    "r": lambda network: network[1],
    "power": lambda network: True,
    "n": lambda network: network[0][0],
    "e": lambda network: network[0][-1],
    "least": lambda network: min(network[0]),
    "greatest": lambda network: max(network[0]),
    "weights": lambda network: _weight_count(network[0]),
    "neurons": lambda network: sum(network[0][1:-1]),
}


def expected(certificate: Certificate) -> Content:
    """The content of a certificate on the expected dimension, known if a rank is the upper bound; a
    rank above a bound refutes a proof or a program, and no certificate.
    """
    widths = tuple(certificate.case["widths"])
    degree = certificate.case["degree"]
    upper = upper_bound(widths, degree)
    # certificates of release 1.0 may have a larger upper bound
    upper_of_1_0 = upper_bound(widths, degree, of_release_1_0=True)
    if certificate.evidence.get("upper_bound") == upper_of_1_0:
        upper = upper_of_1_0
    # more rows than the rank can be, so that a few that depend on others do not matter
    lower = lower_bound(widths, degree, count=upper + 5)
    if lower > upper:
        message = f"widths {widths}, degree {degree}: a rank {lower} above the bound {upper}"
        raise ContradictionError(message)
    dimension = upper if lower == upper else None
    numbers = CaseNumbers((widths, degree), NUMBERS)
    verdicts = []
    # all statements with this key, each in the words of the certificate
    statements_in_words = WORDS.listed("expected-dimension", certificate.answer)
    for words in statements_in_words:
        failing = WORDS.failing(words.assumes, numbers)
        predicted = WORDS.predicted(words, numbers)
        observed: Any = dimension
        if dimension is None:
            observed = excluding_bound(certificate, words, predicted, lower, upper)
        verdict = global_verdict(
            words, hypothesis=next(iter(failing), None), predicted=predicted, observed=observed
        )
        verdicts.append(verdict)
    evidence = {"lower_bound": lower, "upper_bound": upper, "dimension": dimension}
    return statements(WORDS, statements_in_words, verdicts, evidence)


CHECKER = FamilyChecker(
    family="polynomial-network",
    name=name,
    questions={"expected-dimension": expected},
    wordings=(WORDS,),
)
