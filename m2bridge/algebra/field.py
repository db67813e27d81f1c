"""Coefficients: the rationals and the prime fields that Macaulay2 computes with, and the integers.

The ring ZZ is given where fields are, though it is not a field: :attr:`CoefficientField.is_field`
distinguishes it. Only ideals have coefficients in ZZ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from typing import Any

from m2bridge.errors import InvalidCaseError, MethodUnavailableError, check_kind

MAX_FIELD_CHARS = 1_000_000
"""Characters in the name of a field, which may have a minimal polynomial with long numbers."""


@dataclass(frozen=True, slots=True)
class CoefficientField:
    """The field QQ (characteristic 0) or GF(p).

    Parameters
    ----------
    characteristic : int
        0, or a prime p with 2 ≤ p ≤ 2^31 − 1 (the range that Macaulay2's ``ZZ/p`` handles in
        Gröbner bases).

    Raises
    ------
    InvalidCaseError
        If the characteristic is neither 0 nor such a prime.

    Examples
    --------
    >>> print(CoefficientField.parse("GF(32003)"), QQ)
    GF(32003) QQ
    """

    characteristic: int = 0

    def __post_init__(self) -> None:
        """Store the characteristic as an ``int``; InvalidCaseError unless it is one of a field."""
        check_kind("field", self.characteristic, Integral, "0 or a prime number")
        p = int(self.characteristic)  # FLINT takes no integers of SymPy or NumPy
        object.__setattr__(self, "characteristic", p)
        if p == 0:
            return
        from m2bridge.algebra.numbers import LARGE_PRIME, is_prime  # imports FLINT

        if not is_prime(p):
            raise InvalidCaseError(
                "field", f"GF({p}) is not a prime field: {p} is not a prime number"
            )
        if p > LARGE_PRIME:
            raise InvalidCaseError(
                "field", f"GF({p}) is too large: Macaulay2 needs p ≤ {LARGE_PRIME}"
            )

    @classmethod
    def parse(cls, text: str) -> CoefficientField:
        """Read ``QQ`` or ``GF(p)``.

        Raises
        ------
        InvalidCaseError
            If the text is something else, or p is not a prime below 2^31.
        """
        check_kind("text", text, str, "the name of a field, such as QQ or GF(7)")
        check_length_of_field(text)
        if text.strip().upper() == "QQ":
            return cls(0)
        match = re.fullmatch(r"\s*(?:GF|gf)\(\s*([0-9]+)\s*\)\s*", text)
        # GF(0) is refused here, because CoefficientField(0) is QQ.
        if match is None or not match[1].strip("0"):
            rule = "write QQ or GF(p) with a prime p"
            # a letter in brackets, as in QQ[i] or QQ(a); sought from the first bracket on only
            if re.match(r"[^\[(]*[\[(].*[A-Za-z]", text):
                rule += (
                    "; 'ideal' and 'singular-locus --ideal' also take number fields and parameters."
                    " How a map has such constants is said under 'Parameters as constants' in"
                    " docs/maps.md"
                )
            raise InvalidCaseError("field", f"'{text:.60}' is not a coefficient field: {rule}")
        if len(match[1]) > 12:  # too long to be read: no field of m2bridge is as large
            raise InvalidCaseError("field", f"{text.strip():.60} is too large: use p < 2^31")
        return cls(int(match[1]))

    @property
    def is_field(self) -> bool:
        """Whether these coefficients are a field, as all are but the integers."""
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of generators over the prime field; empty for QQ and GF(p) themselves."""
        return ()

    @property
    def base(self) -> CoefficientField:
        """The prime field; this field itself, unless it is an extension field."""
        return self

    @property
    def domain(self) -> Any:
        """The SymPy domain; residues of GF(p) are printed symmetrically, as in Macaulay2."""
        return _domain(self.characteristic)

    def __str__(self) -> str:
        if self.characteristic == 0:
            return "QQ"
        return f"GF({self.characteristic})"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, repr=False)
class IntegerCoefficients(CoefficientField):
    """The ring ZZ of integers as coefficients of ideals; it is :data:`ZZ`, and no field: functions
    that compute over fields refuse it by :func:`check_is_field` or :func:`check_over_field`.

    >>> IntegerCoefficients(), IntegerCoefficients().is_field
    (ZZ, False)
    """

    def __post_init__(self) -> None:
        """Raise InvalidCaseError unless the characteristic is 0."""
        if self.characteristic != 0:
            raise InvalidCaseError("field", f"ZZ has characteristic 0, not {self.characteristic}")

    @property
    def is_field(self) -> bool:
        """False: 2 has no inverse."""
        return False

    @property
    def domain(self) -> Any:
        """SymPy's domain ZZ."""
        from sympy import ZZ as SYMPY_ZZ  # slow to import

        return SYMPY_ZZ

    def __str__(self) -> str:
        return "ZZ"

    __repr__ = __str__


def prime_coefficients(field: CoefficientField | str) -> CoefficientField:
    """The coefficients as they are, or that a text such as ``"GF(7)"`` or ``"ZZ"`` names."""
    if not isinstance(field, str):
        return field
    return ZZ if field.strip() == "ZZ" else CoefficientField.parse(field)


def check_length_of_field(text: str) -> None:
    """Raise InvalidCaseError for the name of a field that is too long to be read."""
    if len(text) > MAX_FIELD_CHARS:
        raise InvalidCaseError(
            "field", f"has a name of {len(text)} characters; at most {MAX_FIELD_CHARS} are read"
        )


@lru_cache(maxsize=256)
def _domain(characteristic: int) -> Any:
    """SymPy's domain QQ or GF(p), by which residues become the integers closest to zero, made once
    for each p: SymPy's finite fields are equal, but their hashes differ.
    """
    from sympy import GF, QQ  # slow to import

    if characteristic == 0:
        return QQ
    return GF(characteristic, symmetric=True)


def check_is_field(field: object) -> None:
    """Raise InvalidCaseError unless the value is QQ or GF(p), and no text such as ``"QQ"``."""
    if not isinstance(field, CoefficientField):
        raise InvalidCaseError("field", f"must be QQ or CoefficientField(p), not {field!r:.60}")
    if not field.is_field:
        message = f"must be QQ or GF(p) here, not {field}, which is not a field"
        raise InvalidCaseError("field", message)
    if field.names:  # an extension field
        raise InvalidCaseError(
            "field", f"must be QQ or GF(p) here, not {field!r:.60}: ideals have such coefficients"
        )


def check_over_field(coefficients: CoefficientField, results: str) -> None:
    """Raise MethodUnavailableError if the coefficients are ZZ, for results over fields only, in the
    plural as "minimal primes".
    """
    if coefficients.is_field:
        return
    raise MethodUnavailableError(
        f"{results} are not available over {coefficients}, only over fields: take the same"
        " generators over QQ, or over GF(p) for the ideal modulo a prime"
    )


QQ = CoefficientField(0)
"""The field of rational numbers."""

ZZ = IntegerCoefficients()
"""The ring of integers, for ideals."""
