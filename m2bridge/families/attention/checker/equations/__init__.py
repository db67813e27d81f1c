"""The ideal of a closure up to a degree: Hilbert function, minimal generators, and what follows for all degrees.

Proofs are in docs/mathematics.md (What verify computes) and docs/completeness.md.
"""

from functools import lru_cache
from typing import Any

import flint

from m2bridge.certificate.difference import Difference
from m2bridge.certificate.schema import Certificate, Content
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.equations.products import products_of
from m2bridge.families.attention.checker.equations.sections import Core, hilbert_coefficients, number_of_sections
from m2bridge.families.attention.checker.statements import WORDS

MOST_COORDINATES, MOST_DEGREE = 400, 6


def up_to_a_degree(certificate: Certificate) -> Content | Difference:
    """The content for the degree up to which a certificate says something."""
    case, last = Case(**certificate.case), certificate.answer.get("max_degree")
    case = Case(case.d, case.d_out, case.alpha, min(case.t, 2))  # the same functions
    if type(last) is not int or last < 1:
        return Difference("answer.max_degree", f"{last!r:.80}", "a degree")
    if case.t == 1:
        return Difference("case", "one token", "several tokens")
    if case.coordinate_count > MOST_COORDINATES or last > MOST_DEGREE:
        raise TooExpensiveError("number of coordinates", f"degree {last} in {case.coordinate_count} coordinates")
    values, degrees = low_degrees(case, last)
    h = number_of_sections(case.d_out, case.d, case.d, case.alpha)
    coefficients = hilbert_coefficients(h, case.alpha * (2 * case.d - case.alpha) + case.d * case.d_out)
    answer: dict[str, Any] = {"dimension": len(coefficients), "degree": coefficients[0], "max_degree": last}
    answer |= {"hilbert_function": values, "generators_up_to_degree": {str(n): degrees[n] for n in degrees}}
    answer |= {"hilbert_coefficients": coefficients, "hilbert_series": None, "all_generators": False}
    scope, claimed = "up-to-a-degree", certificate.answer.get("hilbert_series")
    if isinstance(claimed, dict):  # else nothing is claimed beyond the degree
        scope, (start, answer["all_generators"]) = "for-all-degrees", all_degrees(case, last)
        if start is None or start > last + 1:
            return Difference("answer.hilbert_series", "a series", "no proof of one")
        more = [h(n) for n in range(last + 1, last + len(coefficients) + 1)]
        answer["hilbert_series"] = series([*values, *more], len(coefficients))
    return Content(answer, {}, tuple(WORDS.lemmas[lemma] for lemma in WORDS.closure[scope]))


@lru_cache(maxsize=64)
def low_degrees(case: Case, last: int) -> tuple[list[int], dict[int, int]]:
    """H(0), …, H(last), and how many minimal generators there are, by degree."""
    products = products_of(case)
    values = [products.hilbert_function(n) for n in range(last + 1)]
    counts = {n: products.generator_count(n) for n in range(1, last + 1)}
    return values, {n: count for n, count in counts.items() if count}


@lru_cache(maxsize=64)
def all_degrees(case: Case, last: int) -> tuple[int | None, bool]:
    """From which degree on H = h, and whether the generators of degree ≤ last are all."""
    core = Core(case)
    start = core.sections_from()
    return start, start is not None and core.generated(last)


def series(values: list[int], dimension: int) -> dict[str, Any]:
    """Σ values[n] T^n times (1 − T)^dimension; coefficients after these values are zero."""
    product = flint.fmpz_poly(values) * flint.fmpz_poly([1, -1]) ** dimension
    numerator = flint.fmpz_poly(product.coeffs()[: len(values)])
    return {"numerator": [int(x) for x in numerator.coeffs()], "denominator_exponent": dimension}
