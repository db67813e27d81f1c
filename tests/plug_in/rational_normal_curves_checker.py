"""The checker of certificates about rational normal curves: a rank by hand, and an upper bound."""

from collections.abc import Mapping
from typing import Any

from m2bridge.plugins import (
    Certificate,
    CertificateError,
    Content,
    FamilyChecker,
    Words,
    global_verdict,
)

TEXT = "The cone over the rational normal curve of degree n has dimension {}."
SOURCE = "Harris, Algebraic Geometry: A First Course, Example 1.14"


def _name(case: Mapping[str, Any]) -> str:
    if case.keys() != {"n"} or type(case["n"]) is not int or case["n"] < 1:
        raise CertificateError("no degree n ≥ 1")
    return f"rational-normal-curve-n{case['n']}"


def _dimension(certificate: Certificate) -> Content:
    n = certificate.case["n"]
    # ∂(s^n, s^(n−1) t)/∂(s, t) is n at (1, 1), so the rank is 2, and there are two parameters
    evidence = {"dimension": 2, "lower_bound": 2, "upper_bound": 2}
    verdicts = []
    for part, number, predicted in (("right", "2", 2), ("wrong", "n", n)):
        words = Words("dimension", part, TEXT.format(number), SOURCE, "dimension")
        verdicts.append(global_verdict(words, None, predicted, observed=2))
    return Content({"verdicts": verdicts}, evidence, trusted=())


CHECKER = FamilyChecker("rational-normal-curve", _name, {"dimension": _dimension})
