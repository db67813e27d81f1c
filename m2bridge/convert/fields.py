"""Fields of coefficients as people name them, and as SymPy's objects have them.

A name that is not a field, or not a field which m2bridge has, is an InvalidCaseError; a domain or
numbers of SymPy without such a field are a ConversionError. An extension field has generators, and
an algebraic one the minimal polynomial of its only generator. The generator of GF(p^k) is a root of
the Conway polynomial where FLINT has it, otherwise of an irreducible polynomial of few terms, and
has the name a if no name is written.
"""

import re
from collections.abc import Iterable
from itertools import chain
from math import isqrt
from typing import Any, NamedTuple

import flint
from sympy import (
    QQ as SYMPY_QQ,
    AlgebraicNumber,
    CRootOf,
    Expr,
    I,
    Pow,
    Rational,
    preorder_traversal,
    sqrt,
)
from sympy.core.numbers import ImaginaryUnit
from sympy.polys.polyerrors import BasePolynomialError

from m2bridge.algebra.extension_field import (
    IMAGINARY_UNITS,
    MAX_EXTENSION_DEGREE,
    ExtensionDomain,
    ExtensionField,
)
from m2bridge.algebra.field import QQ, ZZ, CoefficientField, check_length_of_field
from m2bridge.algebra.numbers import fraction, is_prime
from m2bridge.algebra.ring import PolynomialRing, first_names
from m2bridge.convert.polynomial_parser import read_equation
from m2bridge.errors import ConversionError, InvalidCaseError

_SPACES = re.compile(r"\s+")
_MARKED_BREAK = re.compile(r"\b(GF|gf|frac|Frac|FractionField|ideal)\s+|\b([0-9]+)\s+(?=[A-Za-z])")
"""Spaces that can be left out, because a new word begins after them in any case: ``GF 9``, ``2 a``.
"""
_WORDS = re.compile(r"\w\s+\w")
"""Two words that only spaces separate."""
_PRIME = r"(?P<prime>QQ|(?:GF|gf)\([0-9]+\)|ZZ/[0-9]+)"
_ALGEBRAIC = re.compile(rf"(?P<open>\()?{_PRIME}\[(?P<name>\w+)\](?(open)\))/(?P<relation>.+)")
"""QQ[i]/(i^2+1) or (QQ[i])/(i^2+1)."""
_ROOT = re.compile(r"QQ\(sqrt\((?P<number>-?[0-9]+)\)\)")
_PARAMETERS = re.compile(
    r"""
    QQ\((?P<plain>[\w,]+)\)                                             # QQ(a,b)
    | (?:frac|Frac|FractionField)\(?QQ\[(?P<of_ring>[\w,]+)\]\)?        # frac(QQ[a,b])
    """,
    re.VERBOSE,
)
_GALOIS = re.compile(
    r"""
    (?:GF|gf)\(
        (?P<base>[0-9]+) (?:(?:\^|\*\*)(?P<power>[0-9]+))?      # 9 or 3^2
        (?:,(?:Variable=>)?(?P<name>[A-Za-z]\w*))?              # the generator
    \)
    """,
    re.VERBOSE,
)

MAX_FINITE_FIELD_DIGITS = 60
"""Digits of the order of a finite field."""
MAX_ROOTS = 4
"""Different roots in expressions, of which SymPy makes one generator of their field."""

_FORMS = "QQ, GF(p), GF(9), QQ[i]/(i^2+1) or QQ(a,b)"


def parse_field(text: str) -> CoefficientField:
    """The field named ``QQ``, ``GF(p)`` or ``ZZ/p``; ``GF(9)``, ``GF 9`` or ``GF(3^2)``;
    ``QQ[i]/(i^2+1)`` or ``GF(3)[b]/(b^2+1)``, also inside ``toField``; ``QQ(sqrt(2))``, in which
    the root is called sqrt2; ``QQ(a,b)`` or ``frac(QQ[a,b])``.
    """
    check_length_of_field(text)
    short = _remove_spaces(text)
    if re.fullmatch(r"(?:GF|gf)[0-9]+", short):
        short = f"GF({short[2:]})"
    bare = short
    if short.startswith("toField(") and short.endswith(")"):
        bare = short.removeprefix("toField(")[:-1]
    if not _is_balanced(bare):
        raise InvalidCaseError(
            "field", f"the parentheses of '{text:.60}' do not match: write {_FORMS}"
        )
    if algebraic := _ALGEBRAIC.fullmatch(bare):  # QQ[i]/(i^2+1)
        prime = _prime_field(algebraic["prime"])
        return _algebraic_field(prime, algebraic["name"], algebraic["relation"])
    if root := _ROOT.fullmatch(short):  # QQ(sqrt(2))
        return _quadratic_field(root["number"])
    if parameters := _PARAMETERS.fullmatch(short):  # QQ(a,b), or frac(QQ[a,b])
        is_plain = parameters["plain"] is not None
        return _parameter_field(parameters["plain"] or parameters["of_ring"], is_plain)
    if galois := _GALOIS.fullmatch(short):  # GF(9), also GF(7)
        field = _galois_field(galois["base"], galois["power"], galois["name"])
        if field is not None:
            return field
    if short == "ZZ":
        raise InvalidCaseError(
            "field",
            "ZZ is not a field, and has dimensions or decompositions of ideals neither here nor in"
            " Macaulay2: take QQ; 'm2bridge ideal' has Gröbner bases over ZZ",
        )
    # A prime field that cannot be used has an error that says why.
    if short.upper() == "QQ" or re.fullmatch(_PRIME, short):
        return _prime_field(short)
    raise InvalidCaseError("field", f"'{text:.60}' is not a field of coefficients: write {_FORMS}")


def parse_coefficients(text: str) -> CoefficientField:
    """The coefficients of an ideal from their name: a field as :func:`parse_field` reads, or ZZ."""
    return ZZ if text.strip() == "ZZ" else parse_field(text)


def as_field(field: CoefficientField | str) -> CoefficientField:
    """The coefficients that a caller names, as ``"GF(7)"``, or gives."""
    return parse_coefficients(field) if isinstance(field, str) else field


def _remove_spaces(text: str) -> str:
    """The text of a field without spaces, as ``GF 9`` and ``QQ [ a ]`` may have them; refused if
    two words, which would become one, are separated by spaces only, as in ``QQ i``.
    """
    # "GF 9" becomes "GF9", and "2 a" becomes "2a": only what stands before the spaces stays, which
    # is a word (group 1) or a number (group 2)
    joined = _MARKED_BREAK.sub(lambda match: match[1] or match[2], text.strip())
    if _WORDS.search(joined):
        raise InvalidCaseError(
            "field",
            f"'{text:.60}' is not a field of coefficients, since a space does not separate names"
            f" there: write {_FORMS}",
        )
    return _SPACES.sub("", joined)


def _is_balanced(text: str) -> bool:
    """Whether each parenthesis and each bracket is closed by its own kind."""
    awaited: list[str] = []  # what closes those that are open
    for character in text:
        if character in "([":
            awaited.append(")" if character == "(" else "]")
        elif character in ")]" and (not awaited or awaited.pop() != character):
            return False
    return not awaited


def _prime_field(text: str) -> CoefficientField:
    """The field of the name ``QQ``, ``GF(p)`` or ``ZZ/p``."""
    match = re.fullmatch(r"ZZ/([0-9]+)", text)
    if match is None:
        return CoefficientField.parse(text)
    digits = match[1]
    # Longer numbers are not tested, but refused below as too large.
    if len(digits) <= MAX_FINITE_FIELD_DIGITS and not is_prime(int(digits)):
        order = int(digits)
        _, degree = _prime_power(order)
        advice = f": for the field with {order} elements write GF({order})" if degree > 1 else ""
        raise InvalidCaseError(
            "field", f"ZZ/{order} is not a field, since {order} is not a prime number{advice}"
        )
    return CoefficientField.parse(f"GF({digits})")


class NumberName(NamedTuple):
    """What the name of an algebraic number means, in words, and the field that it generates."""

    meaning: str
    field: str


def number_named(name: str) -> NumberName | None:
    """The algebraic number that a name such as ``i``, ``sqrt2``, ``zeta3`` or ``theta`` could mean:
    the usual names, and the names that m2bridge itself gives to numbers of SymPy.
    """
    if name in IMAGINARY_UNITS:
        return NumberName("a root of -1", f"QQ[{name}]/({name}^2+1)")
    match = re.fullmatch(r"(sqrt|zeta)_?([0-9]+)", name)
    if match and match[1] == "sqrt":
        number = match[2].lstrip("0")
        return NumberName(f"the square root of {number}", f"QQ[{name}]/({name}^2-{number})")
    if match:
        return NumberName(
            f"a root of unity of order {match[2]}", f"QQ[{name}]/(its minimal polynomial)"
        )
    if name == "theta":
        return NumberName("an algebraic number", "QQ[theta]/(its minimal polynomial)")
    return None


def _parameter_field(listed: str, is_plain: bool) -> ExtensionField:
    """The field of fractions in parameters, from names as ``a,b``; where it was written plainly, as
    ``QQ(a,b)``, a name such as i or sqrt2 could also mean a number and is refused.
    """
    names = tuple(listed.split(","))
    for name in names:
        number = number_named(name)
        if is_plain and number is not None:
            raise InvalidCaseError(
                "field",
                f"'QQ({listed:.60})' could have {name:.60} as {number.meaning:.60} or as a"
                f" parameter: write {number.field:.90} or frac(QQ[{listed:.60}])",
            )
    return ExtensionField(0, names)


def _quadratic_field(digits: str) -> ExtensionField:
    """The field QQ(√n) for a positive integer n that is not a square, with the generator sqrt2 for
    n = 2.
    """
    number = int(digits) if len(digits) <= MAX_FINITE_FIELD_DIGITS else 0
    if number <= 0 or isqrt(number) ** 2 == number:
        raise InvalidCaseError(
            "field",
            f"'QQ(sqrt({digits:.60}))' needs a positive integer of at most"
            f" {MAX_FINITE_FIELD_DIGITS} digits that is not a square: write QQ[a]/(a^2+3) for a"
            " square root of -3",
        )
    return ExtensionField(
        0, (f"sqrt{number}",), (-number, 0, 1), root=AlgebraicNumber(sqrt(number))
    )


def _algebraic_field(prime: CoefficientField, name: str, relation: str) -> ExtensionField:
    """The field k[a]/(m) for k = ``prime``; ``relation`` is m, perhaps as an equation such as
    ``a^2=-1``, perhaps in parentheses, as ``(a^2+1)`` or ``ideal(a^2+1)``.
    """
    relation = relation.removeprefix("ideal")
    text_inside = relation[1:-1]
    is_in_parentheses = relation == f"({text_inside})" and _is_balanced(text_inside)
    if is_in_parentheses:
        relation = text_inside
    try:
        # also for GF(p) with rational coefficients, which ExtensionField reduces modulo p
        polynomial = read_equation(relation, PolynomialRing(QQ, (name,)))
    except ConversionError as reason:
        raise InvalidCaseError("field", f"minimal polynomial of {name:.60}: {reason}") from None
    degree = max((exponent for (exponent,) in polynomial), default=0)
    # all coefficients from the constant one on, zeros included
    numbers = [polynomial.get((exponent,), 0) for exponent in range(degree + 1)]
    coefficients = tuple(map(fraction, numbers))
    return ExtensionField(prime.characteristic, (name,), coefficients)


def _galois_field(base: str, power: str | None, name: str | None) -> CoefficientField | None:
    """The field with base^power elements, as ``GF(9)``, ``GF(3^2)`` and ``GF(9,b)`` name it;
    ``None`` if base^power is not a power of a prime, or too large to be read.
    """
    # A power of three digits is above MAX_EXTENSION_DEGREE.
    if len(base) > MAX_FINITE_FIELD_DIGITS or len(power or "") > 2:
        return None
    p, exponent = _prime_power(int(base))
    degree = exponent * int(power or 1)
    if degree < 1 or not is_prime(p):  # the power 0, or no power of a prime
        return None
    prime = CoefficientField(p)  # refuses large primes
    if degree == 1 and name:
        raise InvalidCaseError(
            "field", f"GF({p}) has no generator that could have the name {name:.60}: write GF({p})"
        )
    if degree == 1:
        return prime
    if degree > MAX_EXTENSION_DEGREE:
        raise InvalidCaseError(
            "field",
            f"GF({p}^{degree}) has degree {degree} over GF({p}); at most {MAX_EXTENSION_DEGREE}",
        )
    modulus = flint.fq_default_ctx(p, degree).modulus().coeffs()  # the constant one first
    is_named = name is not None
    names = (name or "a",)
    return ExtensionField(p, names, tuple(map(int, modulus)), names_are_given=is_named)


def _prime_power(number: int) -> tuple[int, int]:
    """The prime and the exponent of a power of a prime; (number, 1) for other numbers."""
    # An exponent is at most the number of bits, since a prime is at least 2. For 0 and 1 there is
    # no exponent to try.
    for exponent in range(number.bit_length(), 1, -1):
        root = int(flint.fmpz(number).root(exponent))  # rounded down
        if root**exponent == number and is_prime(root):
            return root, exponent
    return number, 1


def field_of_domain(domain: Any) -> CoefficientField:
    """The smallest field of m2bridge that contains a domain of SymPy: for a ring its field of
    fractions, as QQ(I) for the Gaussian integers ZZ<I>, and QQ(a) for the domain ZZ(a).
    """
    if isinstance(domain, ExtensionDomain):
        return domain.described
    if domain.is_ZZ or domain.is_QQ or domain.is_FiniteField:
        return CoefficientField(int(domain.characteristic()))
    if domain.is_ZZ_I or domain.is_QQ_I:  # SymPy's QQ<I> is not one of its AlgebraicFields
        return field_of_root(SYMPY_QQ.algebraic_field(I))
    if domain.is_AlgebraicField and domain.dom.is_QQ:
        return field_of_root(domain)
    if domain.is_FractionField and (domain.domain.is_ZZ or domain.domain.is_QQ):
        return ExtensionField(0, tuple(map(str, domain.symbols)))
    advice = ""
    if domain.is_PolynomialRing or domain.is_FractionField:  # such as QQ[a], or GF(p)(a)
        names = first_names(list(map(str, domain.symbols)))
        advice = f": give a Poly in all variables, {names} too, or name QQ({names}) as the field"
    raise ConversionError(f"coefficients in {domain}: m2bridge has no such field{advice}")


def field_of_root(domain: Any) -> ExtensionField:
    """The number field that an ``AlgebraicField`` of SymPy is; its generator has the name I, sqrt2
    for ``sqrt(2)`` and likewise for other integers, else SymPy's ``alias``, or theta if there is
    none.
    """
    root = domain.ext.as_expr()
    name = "theta"
    if isinstance(root, ImaginaryUnit):
        name = "I"
    elif isinstance(root, Pow) and root.exp == Rational(1, 2) and root.base.is_Integer:
        name = f"sqrt{root.base}" if root.base > 0 else name  # a minus cannot be in a name
    elif domain.ext.alias is not None:
        name = str(domain.ext.alias)
    # the coefficients of the minimal polynomial, the constant one first
    ascending = tuple(map(fraction, reversed(domain.mod.to_list())))
    return ExtensionField(0, (name,), ascending, root=domain.ext)


def field_of_numbers(expressions: Iterable[Any]) -> ExtensionField | None:
    """The field that the roots in expressions of SymPy, at most :data:`MAX_ROOTS`, generate over
    QQ; ``None`` without roots.
    """
    powers = chain.from_iterable(map(powers_of_roots, expressions))
    roots = {power.root for power in powers}
    if not roots:
        return None
    if len(roots) > MAX_ROOTS:
        raise ConversionError(
            f"{len(roots)} different roots in the coefficients; at most {MAX_ROOTS}: give"
            " polynomials over a field, by Poly(…, extension=…)"
        )
    ordered = sorted(roots, key=str)  # so that the generator does not change from run to run
    try:
        return field_of_root(SYMPY_QQ.algebraic_field(*ordered))
    except (BasePolynomialError, NotImplementedError, InvalidCaseError) as reason:
        raise ConversionError(
            f"m2bridge has no number field with {', '.join(map(str, ordered))}: {reason}"
        ) from None


class PowerOfRoot(NamedTuple):
    """An irrational algebraic number of SymPy as root**exponent: 2^(3/2) is the power 3
    of 2^(1/2).
    """

    number: Expr  # as it stands in an expression
    root: Expr
    exponent: int


def powers_of_roots(value: Any) -> set[PowerOfRoot]:
    """The irrational algebraic numbers of which an expression is made, as powers of roots; none for
    other values.
    """
    if not isinstance(value, Expr):
        return set()
    powers = set()
    subexpressions = preorder_traversal(value)
    for subexpression in subexpressions:
        if isinstance(subexpression, ImaginaryUnit | CRootOf):
            powers.add(PowerOfRoot(subexpression, root=subexpression, exponent=1))
            subexpressions.skip()
        elif isinstance(subexpression, Pow) and subexpression.base.is_number:
            base, exponent = subexpression.base, subexpression.exp
            is_fraction = exponent.is_Rational and not exponent.is_Integer
            if is_fraction and subexpression.is_algebraic:
                root = Pow(base, Rational(1, exponent.q))
                powers.add(PowerOfRoot(subexpression, root, exponent=int(exponent.p)))
                subexpressions.skip()  # roots inside of the base belong to this one
    return powers


def coefficient_terms(
    coefficient: Any,
) -> tuple[dict[tuple[int, ...], Any], dict[tuple[int, ...], Any] | None]:
    """Numerator and denominator of an element of an algebraic field or a field of fractions of
    SymPy, by exponents of the generators: ``{(1,): 2, (0,): -1}`` is 2*i - 1. In an algebraic field
    the denominator is ``None``.
    """
    if hasattr(coefficient, "numer"):  # a fraction of polynomials
        return dict(coefficient.numer), dict(coefficient.denom)
    if hasattr(coefficient, "to_list"):  # ``ANP``, which has the highest power first
        numbers = coefficient.to_list()
        if coefficient.dom.is_FiniteField:  # residues, as integers that stand for them
            numbers = [SYMPY_QQ(coefficient.dom.to_int(c)) for c in numbers]
        return {(k,): c for k, c in enumerate(reversed(numbers)) if c}, None
    return {(0,): coefficient.x, (1,): coefficient.y}, None  # a Gaussian number x + y·I
