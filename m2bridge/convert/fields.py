"""Fields of coefficients as people name them, and as SymPy's objects have them."""

import re
from collections.abc import Iterable
from itertools import chain
from typing import Any

import flint
from sympy import QQ as SYMPY_QQ, CRootOf, Expr, I, Pow, Rational, preorder_traversal
from sympy.core.numbers import ImaginaryUnit
from sympy.polys.polyerrors import BasePolynomialError

from m2bridge.algebra.extension_field import IMAGINARY_UNITS, ExtensionField
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.numbers import fraction, is_prime
from m2bridge.algebra.ring import PolynomialRing, first_names
from m2bridge.convert.polynomial_text import read_equation
from m2bridge.errors import ConversionError, InvalidCaseError

_SPACES = re.compile(r"\s+")
_PRIME = r"(?P<prime>QQ|GF\([0-9]+\)|ZZ/[0-9]+)"
_ALGEBRAIC = re.compile(rf"(?:toField\()?\(?{_PRIME}\[(?P<name>\w+)\]\)?/(?P<relation>.+)")
_PARAMETERS = re.compile(
    r"QQ\((?P<plain>[\w,]+)\)|(?:frac|Frac|FractionField)\(?QQ\[(?P<names>[\w,]+)\]\)?"
)
_GALOIS = re.compile(r"GF\(?([0-9]+)(?:\^|\*\*)?([0-9]+)?(?:,(?:Variable=>)?([A-Za-z]\w*))?\)?")

MAX_FINITE_FIELD_DIGITS = 60
"""Digits of the order of a finite field."""
MAX_ROOTS = 4
"""Different roots in expressions, of which SymPy makes one generator of their field."""

_FORMS = "QQ, GF(p), GF(9), QQ[i]/(i^2+1) or QQ(a,b)"


def parse_field(text: str) -> CoefficientField:
    """The field of this name.

    These are taken: ``QQ``, ``GF(p)``, ``ZZ/p``; ``GF(9)``, ``GF 9`` and ``GF(3^2)``, whose
    generator is ``a``, a root of the Conway polynomial; ``QQ[i]/(i^2+1)`` and
    ``GF(3)[b]/(b^2+1)``, also inside ``toField``; ``QQ(a,b)`` and ``frac(QQ[a,b])``.

    Raises
    ------
    InvalidCaseError
        If it is not a field, or not one of these.

    Examples
    --------
    >>> print(parse_field("QQ[i]/(i^2+1)"), parse_field("GF 9"), parse_field("frac(QQ[a,b])"))
    QQ[i]/(i**2 + 1) GF(3)[a]/(a**2 - a - 1) QQ(a, b)
    """
    short = _SPACES.sub("", text)
    if re.fullmatch(r"GF[0-9]+", short):
        short = f"GF({short[2:]})"
    if re.fullmatch(r"ZZ/[0-9]+", short):
        short = f"GF({short[3:]})"
    parameters = _PARAMETERS.fullmatch(short)
    if parameters:
        return _with_parameters(
            parameters["plain"] or parameters["names"], bool(parameters["plain"])
        )
    algebraic = _ALGEBRAIC.fullmatch(short)
    if algebraic:
        prime = CoefficientField.parse(re.sub(r"ZZ/([0-9]+)", r"GF(\1)", algebraic["prime"]))
        return _algebraic(prime, algebraic["name"], algebraic["relation"])
    galois = _GALOIS.fullmatch(short)
    if galois:
        field = _galois(galois[1], galois[2], galois[3])
        if field is not None:
            return field
    if short == "ZZ":
        raise InvalidCaseError(
            "field",
            "ZZ is not a field, and Macaulay2 has no dimensions or decompositions there: take QQ,"
            " or its own code by 'm2bridge run'",
        )
    try:
        return CoefficientField.parse(short)
    except InvalidCaseError as reason:
        if "is not a coefficient field" not in reason.message:
            raise
        raise InvalidCaseError(
            "field", f"'{text:.60}' is not a field of coefficients: write {_FORMS}"
        ) from None


def _with_parameters(listed: str, is_plain: bool) -> ExtensionField:
    names = tuple(listed.split(","))
    for name in names:
        if is_plain and name in IMAGINARY_UNITS:
            raise InvalidCaseError(
                "field",
                f"'QQ({listed:.60})' could have {name} as a root of -1 or as a parameter: write"
                f" QQ[{name}]/({name}^2+1) or frac(QQ[{listed:.60}])",
            )
    return ExtensionField(0, names)


def _algebraic(prime: CoefficientField, name: str, relation: str) -> ExtensionField:
    """The field k[a]/(m), by the text of m, perhaps in parentheses, one of them of ``toField``."""
    if relation.count(")") > relation.count("("):
        relation = relation[:-1]
    relation = relation.removeprefix("ideal")
    if relation.startswith("(") and relation.find(")") == len(relation) - 1:
        relation = relation[1:-1]
    try:
        polynomial = read_equation(relation, PolynomialRing(QQ, (name,)))
    except ConversionError as reason:
        raise InvalidCaseError("field", f"minimal polynomial of {name:.60}: {reason}") from None
    degree = max((exponent for (exponent,) in polynomial), default=0)
    numbers = [polynomial.get((exponent,), 0) for exponent in range(degree + 1)]
    coefficients = tuple(map(fraction, numbers))
    return ExtensionField(prime.characteristic, (name,), coefficients)


def _galois(order: str, power: str | None, name: str | None) -> ExtensionField | None:
    """The field GF(p^k) with its Conway polynomial; ``None`` for GF(p) and for no prime power."""
    if len(order) > MAX_FINITE_FIELD_DIGITS or len(power or "") > 2:
        return None
    p, degree = int(order), int(power or 1)
    if power is None and not is_prime(p):
        p, degree = _prime_power(p)
    if degree < 2 or not is_prime(p):
        return None
    CoefficientField(p)  # refuses large primes
    modulus = flint.fq_default_ctx(p, degree).modulus().coeffs()
    return ExtensionField(p, (name or "a",), tuple(map(int, modulus)))


def _prime_power(number: int) -> tuple[int, int]:
    """The prime and the exponent of a power of a prime; (number, 1) for any other number."""
    for exponent in range(number.bit_length(), 1, -1):
        root = int(flint.fmpz(number).root(exponent)) if number > 1 else 1
        if root**exponent == number and is_prime(root):
            return root, exponent
    return number, 1


def field_of_domain(domain: Any) -> CoefficientField:
    """The field of a SymPy domain; of ZZ it is QQ, and of ZZ<I> it is QQ<I>.

    Raises
    ------
    ConversionError
        If the domain is not a field that is supported, or not exact.
    """
    if domain.is_ZZ or domain.is_QQ or domain.is_FiniteField:
        return CoefficientField(int(domain.characteristic()))
    if domain.is_ZZ_I or domain.is_QQ_I:
        return field_of_root(SYMPY_QQ.algebraic_field(I))
    if domain.is_AlgebraicField and domain.dom.is_QQ:
        described = getattr(domain, "described", None)  # one of ours
        return described or field_of_root(domain)
    if domain.is_FractionField and (domain.domain.is_ZZ or domain.domain.is_QQ):
        return ExtensionField(0, tuple(map(str, domain.symbols)))
    advice = ""
    if domain.is_PolynomialRing or domain.is_FractionField:
        names = first_names(list(map(str, domain.symbols)))
        advice = f": give a Poly in all variables, {names} too, or name QQ({names}) as the field"
    raise ConversionError(
        f"coefficients in {domain} are in no field that is supported here{advice}"
    )


def field_of_root(domain: Any) -> ExtensionField:
    """The number field of SymPy, its generator named I, sqrt2 or theta."""
    root = domain.ext.as_expr()
    name = "theta"
    if isinstance(root, ImaginaryUnit):
        name = "I"
    elif isinstance(root, Pow) and root.exp == Rational(1, 2) and root.base.is_Integer:
        name = f"sqrt{root.base}" if root.base > 0 else name
    elif domain.ext.alias is not None:
        name = str(domain.ext.alias)
    ascending = tuple(map(fraction, reversed(domain.mod.to_list())))
    return ExtensionField(0, (name,), ascending, root=domain.ext)


def field_of_numbers(expressions: Iterable[Any]) -> ExtensionField | None:
    """The field that the roots in expressions of SymPy generate over QQ; ``None`` without any.

    Raises
    ------
    ConversionError
        If there are many, or SymPy finds no generator.
    """
    roots = set(chain.from_iterable(map(_roots, expressions)))
    if not roots:
        return None
    if len(roots) > MAX_ROOTS:
        raise ConversionError(
            f"{len(roots)} different roots in the coefficients; at most {MAX_ROOTS}: give"
            " polynomials over a field, by Poly(…, extension=…)"
        )
    ordered = sorted(roots, key=str)
    try:
        return field_of_root(SYMPY_QQ.algebraic_field(*ordered))
    except (BasePolynomialError, NotImplementedError, InvalidCaseError) as reason:
        raise ConversionError(
            f"the numbers {', '.join(map(str, ordered))} are in no number field that is"
            f" supported here: {reason}"
        ) from None


def _roots(value: Any) -> set[Any]:
    """The irrational algebraic numbers of which an expression is made."""
    if not isinstance(value, Expr):
        return set()
    found = set()
    parts = preorder_traversal(value)
    for part in parts:
        is_root = isinstance(part, Pow) and part.base.is_number and not part.exp.is_Integer
        if is_root and part.exp.is_Rational and part.is_algebraic:
            found.add(Pow(part.base, Rational(1, part.exp.q)))
            parts.skip()
        elif isinstance(part, ImaginaryUnit | CRootOf):
            found.add(part)
            parts.skip()
    return found


def coefficient_terms(coefficient: Any) -> tuple[dict[tuple[int, ...], Any], dict[Any, Any] | None]:
    """An element of a number field or of a field of fractions of SymPy, as terms in generators.

    They are those of numerator and denominator; of the latter ``None`` where there is none.
    """
    if hasattr(coefficient, "numer"):
        return dict(coefficient.numer), dict(coefficient.denom)
    if hasattr(coefficient, "to_list"):
        return {(k,): c for k, c in enumerate(reversed(coefficient.to_list())) if c}, None
    return {(0,): coefficient.x, (1,): coefficient.y}, None  # Gaussian numbers
