"""The checker of certificates about rational normal curves: two rows of a Jacobian matrix,
by hand.
"""

from collections.abc import Mapping
from typing import Any

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.certificates.wording import Words
from m2bridge.checker import FamilyChecker, global_verdict
from m2bridge.errors import CertificateError

SOURCE = "Harris, Algebraic Geometry: A First Course, Example 1.14"


def _name(case: Mapping[str, Any]) -> str:
    if case.keys() != {"n"} or type(case["n"]) is not int or case["n"] < 1:
        raise CertificateError("no degree n ≥ 1")
    return f"rational-normal-curve-n{case['n']}"


def _dimension(certificate: Certificate) -> Content:
    n = certificate.case["n"]
    minor = n * 1  # ∂(s^n, s^(n−1) t)/∂(s, t) at (1, 1) is n, and two parameters are an upper bound
    dimension = 2 if minor else None
    evidence = {"dimension": dimension, "lower_bound": 2, "upper_bound": 2}
    verdicts = [
        global_verdict(
            Words(
                "dimension",
                part,
                f"The cone over the rational normal curve of degree n has dimension {said}.",
                SOURCE,
                "dimension",
            ),
            None,
            predicted,
            dimension,
        )
        for part, said, predicted in (("right", "2", 2), ("wrong", "n", n))
    ]
    return Content({"verdicts": verdicts}, evidence, ())


CHECKER = FamilyChecker("rational-normal-curve", _name, {"dimension": _dimension})
