"""The checker of certificates about polynomial networks: a rank that meets an upper bound.

*Theorem.* In characteristic 0 the dimension of the functions of a network is the rank of the
differential of the map from weights to functions at general weights ("Lower bounds" in
docs/polynomial_networks.md); it is at most each of nine numbers (theorem-network-bounds there).

*Checked here*: the rank at one point modulo a prime, which is a lower bound, and the least of the
nine numbers, from formulas of its own. Where they meet this is the dimension.

*Taken on trust*: the two facts above, and FLINT's ranks modulo a prime.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import comb
from operator import mul
from pathlib import Path
from random import Random
from typing import Any

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.certificates.wording import wording
from m2bridge.checker import FamilyChecker, global_verdict, statements
from m2bridge.checker.algebra import PRIME, rank_modulo
from m2bridge.errors import CertificateError, ContradictionError, TooExpensiveError

WORDS = wording(Path(__file__).parent / "words.toml")

# The bounds of all parts of a network take time cubic in the number of widths.
MOST_WIDTHS = 101
# One row is as long as there are weights, and the numbers of coordinates have log r digits for each
# layer.
MOST_WEIGHTS = 10**5
MOST_DEGREE = 10**6
# Rows times columns of the matrix whose rank is computed.
MOST_ENTRIES = 2 * 10**7

Widths = tuple[int, ...]
Entries = list[int]


def name(case: Mapping[str, Any]) -> str:
    """The name, such as ``polynomial-network-2-2-1-r2``; CertificateError if it is no network."""
    widths: Any = case.get("widths")
    degree = case.get("degree")
    if len(case) != 2 or not _is_network(widths, degree):
        raise CertificateError(
            "from 2 to 101 widths, at most 100000 weights, a degree of at most 1000000"
        )
    return f"polynomial-network-{'-'.join(map(str, widths))}-r{degree}"


def _is_network(widths: Any, degree: Any) -> bool:
    if not isinstance(widths, list) or not 2 <= len(widths) <= MOST_WIDTHS:
        return False
    if not all(type(number) is int and number >= 1 for number in [*widths, degree]):
        return False
    return degree <= MOST_DEGREE and _weights(widths) <= MOST_WEIGHTS


def _weights(widths: Sequence[int]) -> int:
    """The number of entries of all W_i."""
    return sum(before * after for before, after in pairwise(widths))


def expected_dimension(widths: Widths, degree: int) -> int:
    """The lesser of bounds 1 and 2: weights less hidden neurons, and the number of coordinates."""
    return min(_weights(widths) - sum(widths[1:-1]), _coordinates(widths, degree))


def _coordinates(widths: Widths, degree: int) -> int:
    """The number of coefficients of d_l forms of degree D = r^(l − 1) in d_0 variables.

    If D is larger than the number of weights, it is given instead where d_0 > 1. There are more
    than D coordinates then, so that neither number is ever the least bound, but D has fewer digits.
    """
    inputs, outputs = widths[0], widths[-1]
    form_degree: int = degree ** (len(widths) - 2)
    if inputs > 1 and form_degree > _weights(widths):
        return form_degree
    return outputs * comb(inputs - 1 + form_degree, inputs - 1)


def upper_bound(widths: Widths, degree: int) -> int:
    """The least of the nine bounds, with such bounds for the smaller networks in them."""
    if degree == 1:
        # bound 3: the functions are the matrices of rank at most the least width
        least = min(widths)
        return least * (widths[0] + widths[-1] - least)

    @cache
    def bound(part: Widths) -> int:
        return min(candidates(part))

    def candidates(part: Widths) -> Iterator[int]:
        inputs, first_hidden = part[:2]
        last_hidden, outputs = part[-2:]
        # bounds 1 and 2
        yield expected_dimension(part, degree)
        # bound 5: a function depends on its values on a quotient of dimension d_1
        if first_hidden < inputs:
            quotients = first_hidden * (inputs - first_hidden)
            yield quotients + bound((first_hidden, *part[1:]))
        # bound 6: the outputs lie in a space of dimension d_(l−1)
        if last_hidden < outputs:
            spaces = last_hidden * (outputs - last_hidden)
            yield spaces + bound((*part[:-1], last_hidden))
        # bound 4: the network is a composition at each hidden layer, up to a torus
        for i in range(1, len(part) - 1):
            yield bound(part[: i + 1]) + bound(part[i:]) - part[i]
        # bounds 7 to 9: the functions satisfy an equation
        if _has_equation(part, degree):
            yield _coordinates(part, degree) - 1

    return bound(widths)


def _has_equation(widths: Widths, degree: int) -> bool:
    """Whether bound 7, 8 or 9 applies: the functions satisfy an equation, and are not all."""
    if len(widths) != 3:
        return False
    inputs, hidden, outputs = widths
    # 7: the catalecticant matrix of a sum of d_1 powers has rank at most d_1
    if outputs == 1 and hidden < comb(inputs - 1 + degree // 2, inputs - 1):
        return True
    # 8: seven points of P^4 lie on a rational normal curve
    if widths == (5, 7, 1) and degree == 3:
        return True
    # 9: the skew-symmetric matrix of three forms has rank at most 2 d_1, but 3 d_0 in general,
    # or one less if d_0 is odd
    return outputs == 3 and degree == 2 and 2 * hidden < 3 * inputs - inputs % 2


def lower_bound(widths: Widths, degree: int, count: int) -> int:
    """The rank modulo a prime of so many derivatives of values of the network, at random weights.

    The derivative of ⟨g, φ(x)⟩ by the weights is a combination of rows of the Jacobian matrix of
    the coefficients of φ. So the rank is at most that of this matrix, whatever the random numbers
    are; with x and g different in each row it is hardly ever less.
    """
    columns = _weights(widths)
    if count * columns > MOST_ENTRIES:
        raise TooExpensiveError("case", f"a matrix with {count} rows and {columns} columns")
    random = Random(7)
    matrices = []
    for before, after in pairwise(widths):
        matrices.append([_random_vector(before, random) for _ in range(after)])
    return rank_modulo([_gradient(matrices, degree, random) for _ in range(count)])


def _random_vector(length: int, random: Random) -> Entries:
    return [random.randrange(PRIME) for _ in range(length)]


def _gradient(matrices: list[list[Entries]], degree: int, random: Random) -> Entries:
    """The derivative of ⟨g, φ(x)⟩ by all weights, the last layer first, for random x and g.

    Layer i multiplies its inputs y by W_i; between layers z ↦ z^r, with the slopes r z^(r−1). If
    the derivative by W_i y is the covector g, that by W_i is g yᵀ and that by y is W_iᵀ g.
    """
    y = _random_vector(len(matrices[0][0]), random)
    inputs, slopes = [y], []
    for W in matrices[:-1]:
        z = [_dot(row, y) for row in W]
        y = [pow(entry, degree, PRIME) for entry in z]
        inputs.append(y)
        slopes.append([degree * pow(entry, degree - 1, PRIME) for entry in z])
    g = _random_vector(len(matrices[-1]), random)
    gradient: Entries = []
    for i in reversed(range(len(matrices))):
        for entry in g:
            gradient += [entry * x for x in inputs[i]]
        if i > 0:
            back = [_dot(column, g) for column in zip(*matrices[i], strict=True)]
            g = [x * slope % PRIME for x, slope in zip(back, slopes[i - 1], strict=True)]
    return gradient


def _dot(row: Sequence[int], column: Sequence[int]) -> int:
    product: int = sum(map(mul, row, column)) % PRIME
    return product


def expected(certificate: Certificate) -> Content:
    """The content of a certificate on the expected dimension.

    A rank above a bound refutes a proof or a program, and no certificate.
    """
    widths, degree = tuple(certificate.case["widths"]), certificate.case["degree"]
    upper = upper_bound(widths, degree)
    # more rows than the rank can be, so that a few that depend on others do not matter
    lower = lower_bound(widths, degree, count=upper + 5)
    if lower > upper:
        message = f"widths {widths}, degree {degree}: a rank {lower} above the bound {upper}"
        raise ContradictionError(message)
    dimension = upper if lower == upper else None
    predicted = expected_dimension(widths, degree)
    verdicts = []
    for words in WORDS.about("expected-dimension"):
        about_equal_widths = words.part != ""
        hypothesis = None
        if degree == 1:
            hypothesis = WORDS.hypotheses["nonlinear"]
        elif about_equal_widths and len(set(widths)) > 1:
            hypothesis = WORDS.hypotheses["equal-widths"]
        verdicts.append(global_verdict(words, hypothesis, predicted, dimension))
    evidence = {"lower_bound": lower, "upper_bound": upper, "dimension": dimension}
    return statements(WORDS, WORDS.about("expected-dimension"), verdicts, evidence)


CHECKER = FamilyChecker("polynomial-network", name, {"expected-dimension": expected})
