"""The ideal of a closure up to a degree: Hilbert function, minimal generators, and what follows for all degrees.

Proofs are in docs/mathematics.md (What verify computes) and docs/completeness.md.
"""

from typing import Any

from m2bridge.certificate.difference import Difference
from m2bridge.certificate.schema import Certificate, Content
from m2bridge.checker import algebra
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.equations.products import Products
from m2bridge.families.attention.checker.equations.sections import Core, hilbert_coefficients, sections
from m2bridge.families.attention.checker.statements import WORDS

MOST_COORDINATES, MOST_SERIES = 400, 200


def equations(certificate: Certificate) -> Content | Difference:
    """The content for the degree up to which a certificate says something."""
    case, last = Case(**certificate.case), certificate.answer.get("max_degree")
    case = Case(case.d, case.d_out, case.alpha, case.t)
    if type(last) is not int or last < 1:
        return Difference("answer.max_degree", f"{last!r:.80}", "a degree")
    if case.t == 1:
        return Difference("case", "one token", "several tokens")
    if case.coordinate_count > MOST_COORDINATES:
        raise TooExpensiveError("case", f"{case.coordinate_count} coordinates; at most {MOST_COORDINATES}")
    products, h = Products(case.d_out, case.d, case.d, case.alpha), sections(case.d_out, case.d, case.d, case.alpha)
    values = [1, *(products.hilbert_function(n) for n in range(1, last + 1))]
    counts = {n: products.generator_count(n) for n in range(1, last + 1)}
    coefficients = hilbert_coefficients(h, case.alpha * (2 * case.d - case.alpha) + case.d * case.d_out)
    answer: dict[str, Any] = {"dimension": len(coefficients), "degree": coefficients[0], "max_degree": last}
    answer |= {"hilbert_function": values, "hilbert_coefficients": coefficients}
    answer |= {"generators_up_to_degree": {str(n): count for n, count in counts.items() if count}}
    answer |= {"hilbert_series": None, "all_generators": False}
    lemmas = WORDS.closure["up-to-a-degree"]
    if certificate.answer.get("hilbert_series") is not None:  # else nothing is claimed beyond the degree
        core = Core(case, products)
        start = core.sections_from()
        if start is None or start > last + 1:
            return Difference("answer.hilbert_series", "a series", "no proof that it is known")
        answer["hilbert_series"] = _series(values + [h(n) for n in range(last + 1, MOST_SERIES)], len(coefficients))
        answer["all_generators"] = core.generated(last)
        lemmas = WORDS.closure["for-all-degrees"]
    return Content(answer, {}, tuple(WORDS.lemmas[lemma] for lemma in lemmas))


def _series(values: list[int], dimension: int) -> dict[str, Any]:
    """Σ values[n] T^n times (1 − T)^dimension, as far as that is known; the rest is zero."""
    numerator = algebra.flint.fmpz_poly(values) * algebra.flint.fmpz_poly([1, -1]) ** dimension
    known = [int(x) for x in numerator.coeffs()[: len(values)]]
    while known and not known[-1]:
        known.pop()
    return {"numerator": known, "denominator_exponent": dimension}
