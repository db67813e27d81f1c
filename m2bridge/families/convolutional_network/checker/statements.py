"""Statements about convolutional networks: predictions, and verdicts from what is computed.

*Notation.* A network has L filters w_i of sizes k_i, and activation degree r, its ``degree``. The
output f is a form of degree D = r^(L − 1) in the inputs x_1 to x_n, n = 1 + Σ(k_i − 1), and of
degree r^(L − i) in the entries of w_i. The *type of zeros* of filters is (e, P): filter i has e_i
zeros at its ends, and all together have P zeros in front. WORDS has the words of statements and
hypotheses.
"""

from collections.abc import Callable, Mapping
from math import comb
from pathlib import Path
from typing import Any

from m2bridge.certificates.form import Certificate, Content
from m2bridge.certificates.wording import wording
from m2bridge.checker import global_verdict, statements
from m2bridge.errors import CertificateError, ContradictionError
from m2bridge.families.convolutional_network.checker.fibres import (
    MAX_TYPES,
    fibre_length,
    placements,
    type_count,
    types_of_zeros,
)
from m2bridge.families.convolutional_network.checker.ranks import (
    Sizes,
    lower_bound,
    source_degree,
    upper_bound,
)

WORDS = wording(Path(__file__).parents[1] / "words.toml")

MAX_CHECKED_FILTERS = 20
MAX_CHECKED_WEIGHTS = 2000
MAX_CHECKED_DEGREE = 1000


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
    """Whether these are filter sizes and an activation degree r ≥ 1, all within the limits."""
    if not isinstance(filters, list) or not 1 <= len(filters) <= MAX_CHECKED_FILTERS:
        return False
    if not all(type(number) is int and number >= 1 for number in [*filters, degree]):
        return False
    return degree <= MAX_CHECKED_DEGREE and sum(filters) <= MAX_CHECKED_WEIGHTS


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
    """The dimension, None if it is not decided, and its bounds, as the evidence names them.

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
    """The content of a certificate on the number of points of a fibre of each type of zeros."""
    sizes, _ = _case(certificate)
    # the length itself is the number of points
    return _about_types(
        certificate, predicted=stated_fibres(sizes), number_from_length=lambda length: length
    )


def about_singular(certificate: Certificate) -> Content:
    """The content of a certificate on which types of zeros have singular points as functions."""
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
        fibres = _fibres_of_types(sizes, activation_degree)
        evidence["fibres"] = fibres
        numbers: list[int | None] = []
        for fibre in fibres:
            length = fibre["length"]
            numbers.append(None if length is None else number_from_length(length))
        # by the name of the one method that finds these numbers
        observed = {"lengths_of_fibres": numbers}
    return _content_on_statements(
        certificate,
        hypothesis=_failed_hypothesis(activation_degree),
        predicted=predicted,
        observed=observed,
        evidence=evidence,
    )


def _fibres_of_types(sizes: Sizes, degree: int) -> list[dict[str, Any]]:
    """Each type of zeros (e, P) with the length of its fibre, as certificates have them.

    ``length`` is None where it is not decided. TooExpensiveError if there are too many types.
    """
    fibres = []
    for e, P in types_of_zeros(sizes):
        length = fibre_length(sizes, degree, (e, P))
        fibres.append({"zeros": list(e), "leading": P, "length": length})
    return fibres
