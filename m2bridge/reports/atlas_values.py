"""The values of a case in an atlas, each read from the certificates of the case and made text.

A reader takes one certificate, of any question, and returns ``None`` where it does not have the
value.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.schur import Representation
from m2bridge.certificates.form import Certificate
from m2bridge.convert.printing import degree_summary, expression_text
from m2bridge.results.known import Bounds

CertificateReader = Callable[[Certificate], Any]
"""A function that reads a value from a certificate; ``None`` if there is none."""

CLOSURE = "closure"
"""The question whose answer has the invariants of a Zariski closure, or says why there are none."""
EQUATIONS = "equations"
"""The question whose answer has these invariants up to a degree."""
POLAR = "polar-degrees"
"""The question whose answer has the polar degrees."""
STATED_POLAR = "polar"
"""The statement about polar degrees, whose verdict has them as they were computed."""


def _stated(name: str, certificate: Certificate) -> Any:
    """Return the value of this name in the answer of a certificate, or else in its evidence."""
    return certificate.answer.get(name, certificate.evidence.get(name))


def _dimension(certificate: Certificate) -> int | None:
    """Return the dimension, which in some families is a mapping with its two proved bounds."""
    value = _stated("dimension", certificate)
    if isinstance(value, Mapping):
        value = Bounds(value["lower_bound"], value["upper_bound"]).exact
    dimension: int | None = value
    return dimension


def _answer_reader(name: str, text: Callable[[Any], str]) -> CertificateReader:
    """Return the reader of the value of this name in an answer, as ``text`` writes it."""

    def read(certificate: Certificate) -> str | None:
        """Return the text of the value."""
        value = certificate.answer.get(name)
        if value is None:
            return None
        return text(value)

    return read


def _coordinate_count(certificate: Certificate) -> int | None:
    """Return the number of coordinates: the number of their names, or the value of the Hilbert
    function at 1, as no linear form is zero on the closures that are certified.
    """
    values = certificate.answer.get("hilbert_function")
    if values:
        return values[1]  # type: ignore[no-any-return]
    names = certificate.evidence.get("coordinates")
    if names is None:
        return None
    return len(names)


def _text_of_all_generator_degrees(certificate: Certificate) -> str | None:
    """Return the degrees of the generators in words, if it is proved that they are all."""
    # the number of generators of each degree; None if not all generators are known
    degrees = certificate.answer.get("generator_degrees")
    # An answer about equations up to a degree has only those; ``all_generators`` says that it is
    # proved that there are no others.
    if certificate.answer.get("all_generators"):
        degrees = certificate.answer.get("generators_up_to_degree")
    if degrees is None:
        return None
    return degree_summary(degrees)


def _low_generator_degrees(certificate: Certificate) -> str | None:
    """Return the degrees of the generators up to a degree in words, as ``degree ≤ 4: …``."""
    degrees = certificate.answer.get("generators_up_to_degree")
    if degrees is None:
        return None
    return f"degree ≤ {certificate.answer.get('max_degree')}: {degree_summary(degrees)}"


def _polar_degrees(certificate: Certificate) -> Sequence[int] | None:
    """Return the polar degrees in an answer, or the numbers that integrals gave for the statement
    about them, also where it was refuted.

    Numbers that were counted modulo random primes only are not taken, and where one number is
    missing, none are.
    """
    if certificate.question != STATED_POLAR:
        return certificate.answer.get("polar_degrees")
    for verdict in certificate.answer["verdicts"]:
        # the numbers by method; they are not a mapping if there are none
        observed = verdict.get("observed")
        if isinstance(observed, Mapping):
            # the default is a missing number, so that nothing is returned
            degrees: Sequence[int | None] = observed.get("integrals", (None,))
            if None not in degrees:
                return degrees  # type: ignore[return-value]
    return None


def _numbers_text(values: Iterable[int] | None) -> str | None:
    """Return numbers with commas between them."""
    return None if values is None else ", ".join(map(str, values))


def _generic_ed_degree(certificate: Certificate) -> int | None:
    """Return the generic ED degree in a certificate, or the sum of its polar degrees.

    Source: Draisma, Horobeț, Ottaviani, Sturmfels, Thomas, *The Euclidean distance degree of an
    algebraic variety*, Found. Comput. Math. 16, 2016, Theorem 5.4.
    """
    degree: int | None = _stated("generic_ed_degree", certificate)
    degrees = _polar_degrees(certificate)
    if degree is None and degrees is not None:
        return sum(degrees)
    return degree


def _representations_text(parts: Iterable[Mapping[str, Any]]) -> str:
    """Return representations of an answer as text: ``degree 2: S_11 X ⊗ S_11 H ⊗ S_4 Y``."""
    spaces = ("X", "H", "Y")
    texts = []
    for part in parts:
        representation = Representation(
            degree=part["degree"],
            spaces=spaces,
            sizes=(),  # which the text does not say
            shapes=tuple(tuple(part[space]) for space in spaces),
            multiplicity=part["multiplicity"],
        )
        texts.append(f"degree {part['degree']}: {representation}")
    return "; ".join(texts) or "none"


def hilbert_polynomial_text(coefficients: Sequence[int]) -> str:
    """Return the text of a Hilbert polynomial with the coefficients e_0, …, e_(D−1).

    In degree n it is Σ (−1)^i e_i C(n + D − i − 1, D − i − 1), where D is the dimension of the cone
    that the ideal defines, as ``4 C(n + 4, 4) − 6 C(n + 3, 3)``.
    """
    text = ""
    for i, coefficient in enumerate(coefficients):
        signed_coefficient = (-1) ** i * coefficient
        if signed_coefficient == 0:
            continue
        k = len(coefficients) - 1 - i
        sign = "−" if signed_coefficient < 0 else "+"
        text += f" {sign} {abs(signed_coefficient)} C(n + {k}, {k})"
    return text.removeprefix(" + ").removeprefix(" ") or "0"


def _series_text(series: Mapping[str, Any]) -> str:
    """Return a Hilbert series as text, such as ``(T³ + 2 T² + T + 1)/(1 − T)⁵``."""
    value = HilbertSeries(tuple(series["numerator"]), series["denominator_exponent"])
    # ``expression_text`` writes powers with the sign ^.
    text = expression_text(value.expression).replace("*", " ").replace("-", "−")

    def raised(power: re.Match[str]) -> str:
        """Return an exponent as raised digits, without its sign ^."""
        return power[1].translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))

    return re.sub(r"\^(\d+)", raised, text)


VALUES: dict[str, tuple[str, CertificateReader]] = {
    "dimension": (CLOSURE, _dimension),
    "degree": (CLOSURE, partial(_stated, "degree")),
    "Hilbert polynomial": (
        EQUATIONS,
        _answer_reader("hilbert_coefficients", hilbert_polynomial_text),
    ),
    "Hilbert series": (CLOSURE, _answer_reader("hilbert_series", _series_text)),
    "Hilbert function": (
        EQUATIONS,
        _answer_reader("hilbert_function", lambda values: f"{', '.join(map(str, values))}, …"),
    ),
    "generators": (CLOSURE, _text_of_all_generator_degrees),
    "generators of low degree": (EQUATIONS, _low_generator_degrees),
    "representations": (EQUATIONS, _answer_reader("representations", _representations_text)),
    "coordinates": (CLOSURE, _coordinate_count),
    "polar degrees": (POLAR, lambda certificate: _numbers_text(_polar_degrees(certificate))),
    "generic ED degree": (POLAR, _generic_ed_degree),
}
"""The values of each case: the question whose outcome says why one is missing, and its reader."""
