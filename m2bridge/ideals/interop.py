"""Ideals for other programs: the interchange format ``.mrdi``, Sage, FLINT and SymPy.

The format (Della Vecchia, Joswig, Lorenz, *A FAIR file format for mathematical software*, ICMS
2024) is JSON: a namespace ``_ns`` says whose words are used, ``Macaulay2`` or ``Oscar``, ``_type``
names the type and what it belongs to, ``_refs`` holds rings by their UUID. A polynomial is a list
of pairs, exponents and coefficient, with all numbers as strings. A program for Sage is written, and
read back by its form; nothing is run.

What another program has no words for, or cannot name, is a ConversionError, and so is whatever is
read and is not an ideal; a Sage that is not there, and in ``.mrdi`` and FLINT an extension field,
are a MethodUnavailableError. The methods of ideals, :class:`ConvertibleIdeal`, come last.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from keyword import iskeyword
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import flint
from sympy import Poly, Symbol
from sympy.polys.rings import PolyElement

from m2bridge.algebra.extension_field import ExtensionField, check_no_generators, check_prime_field
from m2bridge.algebra.field import QQ, ZZ, CoefficientField
from m2bridge.algebra.numbers import flint_rational, integer_coefficients
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, check_variable, is_name
from m2bridge.convert import MAX_FILE_BYTES
from m2bridge.convert.bounded_io import read_json, read_text
from m2bridge.convert.m2_syntax import from_macaulay2, plain_to_macaulay2
from m2bridge.convert.printing import polynomial_text
from m2bridge.convert.toml_files import strings
from m2bridge.errors import (
    ConversionError,
    M2BridgeError,
    MethodUnavailableError,
    check_kind,
    class_with_article,
)
from m2bridge.ideals.listings import named_field
from m2bridge.system import decimal, integer

_INDEXED = re.compile(
    r"(?P<letter>[^_]+)_(?:(?P<index>-?[0-9]+)|\((?P<indices>-?[0-9]+(?:,-?[0-9]+)*)\))"
)
"""A variable with one index or several, as ``c_1`` and ``c_(1,2)``."""


def _from_macaulay2(text: str) -> str:
    """The name in m2bridge of a variable that Macaulay2 writes as ``c``, ``c_1`` or ``c_(1,2)``."""
    match = _INDEXED.fullmatch(text)
    if match is None:
        return from_macaulay2(text)
    indices = match["index"] or match["indices"]
    return from_macaulay2(match["letter"], list(map(int, indices.split(","))))


class _Vocabulary(NamedTuple):
    """The words that a program, the namespace of a file, uses in the format ``.mrdi``."""

    origin: list[str]  # the address of the program, and its release
    ideal: str  # the name of the type of ideals
    variables: str  # the key under which a ring has its variables
    read_name: Callable[[str], str]  # from a variable in a file to its name in m2bridge


_VOCABULARIES = {
    "Macaulay2": _Vocabulary(
        origin=["https://macaulay2.com", "1.26.06"],
        ideal="Ideal",
        variables="variables",
        read_name=_from_macaulay2,
    ),
    "Oscar": _Vocabulary(
        origin=["https://github.com/oscar-system/Oscar.jl", "1.4.0"],
        ideal="MPolyIdeal",
        variables="symbols",
        read_name=str,
    ),
}


def mrdi(ideal: GeneratingSet, namespace: str) -> dict[str, Any]:
    """The ideal in the format ``.mrdi``, as a dictionary in the words of a namespace; equal rings
    have equal UUIDs.
    """
    check_prime_field(ideal.ring.field, "files .mrdi")
    check_kind("namespace", namespace, str, "a text")
    vocabulary = _VOCABULARIES.get(namespace)
    if vocabulary is None:
        namespaces = " or ".join(_VOCABULARIES)
        raise ConversionError(f"there is no namespace '{namespace:.40}': take {namespaces}")
    ring = _ring_data(ideal.ring, namespace)
    ring_uuid = str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(ring)))
    return {
        "_ns": {namespace: vocabulary.origin},  # the address and the release of the program
        "_type": {"name": vocabulary.ideal, "params": ring_uuid},
        "data": [_polynomial_data(generator, namespace) for generator in ideal.generators_or_zero],
        "_refs": {ring_uuid: ring},
    }


def from_mrdi(source: Path | str | Mapping[str, Any]) -> GeneratingSet:
    """The ideal in a file ``.mrdi``, of which the path or the dictionary is given: the file is
    taken apart as if it were one, and what fails names the reason.
    """
    data: Any = source
    if not isinstance(source, Mapping):
        if not isinstance(source, (str, PathLike)):
            kind = class_with_article(type(source))
            raise ConversionError(f"not a path or a mapping, but {kind}")
        data = read_json(read_text(Path(source), MAX_FILE_BYTES))
    try:
        return _read_ideal(data)
    except M2BridgeError as reason:
        raise ConversionError(f"not an ideal in the format .mrdi: {reason}") from None
    except (
        AttributeError,
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        ZeroDivisionError,
    ) as reason:
        raise ConversionError(
            f"not an ideal in the format .mrdi as it is read here: {reason!r:.120}"
        ) from None


def _read_ideal(data: Any) -> GeneratingSet:
    """The ideal that a dictionary in the format ``.mrdi`` describes; where it has another form, an
    error of Python, such as KeyError, names what is missing.
    """
    (namespace,) = data["_ns"]  # a dictionary with one key
    vocabulary = _VOCABULARIES[namespace]  # the namespace's words for types and keys
    if data["_type"]["name"] != vocabulary.ideal:
        raise ConversionError(f"a {data['_type']['name']!s:.40} and not an ideal")
    ring_data = _resolve_reference(data, data["_type"]["params"])
    variable_texts = strings(ring_data["data"][vocabulary.variables], vocabulary.variables)
    names = tuple(map(vocabulary.read_name, variable_texts))
    for name in names:
        check_variable(name)
    field = _read_field(_resolve_reference(data, ring_data["_type"]["params"]))
    ring = PolynomialRing(field, names)
    generators = [_read_polynomial(ring, terms) for terms in data["data"]]
    return GeneratingSet.without_zeros(ring, generators)


def _ring_data(ring: PolynomialRing, namespace: str) -> dict[str, Any]:
    """A polynomial ring in the words of a namespace; Macaulay2 has none for GF(p)."""
    p = ring.field.characteristic
    if namespace == "Oscar":
        field_data: dict[str, Any] = {"_type": "QQField"}
        if p:
            field_data = {"_type": {"name": "FiniteField", "_instance": "fpField"}, "data": str(p)}
        return {
            "_type": {"name": "MPolyRing", "params": field_data},
            "data": {"symbols": list(ring.variables)},
        }
    if p:
        raise ConversionError(
            f"Macaulay2's package MRDI has no ideals over {ring.field}; write them with"
            " namespace='Oscar'"
        )
    return {
        "_type": {"name": "PolynomialRing", "params": {"_type": "Ring", "data": "QQ"}},
        "data": {"variables": list(map(plain_to_macaulay2, ring.variables))},
    }


def _polynomial_data(polynomial: PolyElement, namespace: str) -> list[list[Any]]:
    """A polynomial as pairs of exponents and a coefficient, numbers as text; in Oscar's namespace
    x² − 2/3 y is ``[[["2", "0"], "1//1"], [["0", "1"], "-2//3"]]``.
    """
    domain = polynomial.ring.domain

    def coefficient(c: Any) -> Any:
        """A residue from 0 to p − 1; a fraction as ``"2//3"``, or ``["2", "3"]`` in Macaulay2's."""
        if domain.is_FiniteField:
            return str(int(domain.to_int(c)) % int(domain.characteristic()))
        parts = [decimal(int(c.numerator)), decimal(int(c.denominator))]
        if namespace == "Oscar":
            return "//".join(parts)
        return parts

    return [[list(map(str, monomial)), coefficient(c)] for monomial, c in polynomial.terms()]


def _resolve_reference(data: Mapping[str, Any], reference: Any) -> Any:
    """The object of a file to which a UUID refers; it may also be written out in its place."""
    if isinstance(reference, str):
        return data["_refs"][reference]
    return reference


def _read_field(described: Mapping[str, Any]) -> CoefficientField:
    """QQ or GF(p), as an object of a file describes it by the words of either namespace."""
    kind = described["_type"]
    name = kind["name"] if isinstance(kind, Mapping) else kind
    is_rational = name == "QQField" or (name == "Ring" and described["data"] == "QQ")
    if is_rational:
        return QQ
    # A finite field with a text as data is GF(p), and the text is p.
    if name in ("FiniteField", "QuotientRing") and isinstance(described["data"], str):
        return CoefficientField(integer(described["data"]))
    raise ConversionError(f"coefficients in a {name!s:.40}; they must be in QQ or GF(p)")


def _read_polynomial(ring: PolynomialRing, terms: Any) -> PolyElement:
    """The polynomial with these terms, each a pair of exponents and a coefficient, which is text
    such as ``2//3`` or ``2``, or a list of numerator and denominator.
    """
    coefficients = {}
    for exponents, coefficient in terms:
        parts = coefficient if isinstance(coefficient, list) else coefficient.split("//")
        monomial = tuple(map(int, exponents))
        is_monomial = len(monomial) == len(ring.variables) and min(monomial, default=0) >= 0
        if not is_monomial or monomial in coefficients:
            raise ConversionError(
                f"not a term of a polynomial of {ring}: {json.dumps([exponents, coefficient]):.80}"
            )
        coefficients[monomial] = ring.number(Fraction(*map(integer, parts)))
    return ring.sympy_ring.from_dict({monomial: c for monomial, c in coefficients.items() if c})


_IMPORTS = """\
try:
    from sage.all import GF, QQ, PolynomialRing
except ImportError:  # passagemath in parts
    from sage.rings.finite_rings.finite_field_constructor import GF
    from sage.rings.polynomial.polynomial_ring_constructor import PolynomialRing
    from sage.rings.rational_field import QQ
from sage.misc.parser import Parser
from sage.rings.integer_ring import ZZ
"""
_IMPORT_OF_NUMBER_FIELDS = "from sage.rings.number_field.number_field import NumberField\n"
_PROGRAM = re.compile(
    r"(?:.*\n)*?"  # imports
    r"(?:K = (?P<extension>.*)  # (?P<name>.*)\n)?"  # code, and the name of the field here
    r"R = PolynomialRing\((?P<field>ZZ|QQ|GF\(\d+\)|K), (?:\d+, )?names=(?P<names>\[.*\]),"
    r" order=\"degrevlex\"\)\n"
    r"(?:read = Parser\(.*\n)?"
    r"I = R\.ideal\(\[R\((?:f|read\(f\))\) for f in \[\n"
    r"(?P<generators>(?:    \".*\",\n)*)"  # one on each line
    r"\]\]\)\n?"
)
"""The form of the programs of :func:`sage_text`, also of those that release 0.1 wrote."""


def sage_text(ideal: GeneratingSet) -> str:
    """A Python program for Sage that defines the ring ``R`` and the ideal ``I``; polynomials are in
    strings, which Sage's preparser leaves alone.
    """
    _check_names_for_sage(ideal)
    field = ideal.ring.field
    imports, sage_field, constants = _IMPORTS, str(field), ""
    if isinstance(field, ExtensionField):
        code = _code_of_extension(field)
        if code.startswith("NumberField"):
            imports += _IMPORT_OF_NUMBER_FIELDS
        imports += f"K = {code}  # {field}\n"
        sage_field, constants = "K", " | K.gens_dict()"
    names = ", ".join(f'"{name}"' for name in ideal.ring.variables)
    texts = [polynomial_text(generator).replace("**", "^") for generator in ideal.generators]
    generators = "".join(f'    "{text}",\n' for text in texts)
    return (
        f"{imports}"
        f"R = PolynomialRing({sage_field}, {len(ideal.ring.variables)}, names=[{names}],"
        ' order="degrevlex")\n'
        f"read = Parser(make_int=ZZ, make_var=R.gens_dict(){constants}).parse_expression\n"
        f"I = R.ideal([R(read(f)) for f in [\n{generators}]])"
    )


def _code_of_extension(field: ExtensionField) -> str:
    """Sage's code of an extension field, whose minimal polynomial is in z, from the constant on."""
    names = ", ".join(f'"{name}"' for name in field.names)
    if not field.minimal_polynomial:
        return f"PolynomialRing(QQ, {len(field.names)}, names=[{names}]).fraction_field()"
    numbers = ", ".join(map(str, field.minimal_polynomial))
    p, degree = field.characteristic, len(field.minimal_polynomial) - 1
    if p:
        return f'GF({p**degree}, {names}, modulus=PolynomialRing(GF({p}), "z")([{numbers}]))'
    fractions = ", ".join(f'QQ("{number}")' for number in field.minimal_polynomial)
    return f'NumberField(PolynomialRing(QQ, "z")([{fractions}]), {names})'


def _check_names_for_sage(ideal: GeneratingSet) -> None:
    """Raise ConversionError if a name is not an identifier of Python, or a keyword."""
    for name in (*ideal.ring.field.names, *ideal.ring.variables):
        if not is_name(name) or iskeyword(name):
            raise ConversionError(f"Sage accepts no variable of the name {name!r:.60}")


class _Sage(NamedTuple):
    """What is used of the Sage in this Python: ``GF``, ``ZZ``, ``QQ`` and ``PolynomialRing``."""

    finite_field: Any
    integers: Any
    rationals: Any
    polynomial_ring: Any


def sage_ideal(ideal: GeneratingSet) -> Any:
    """The ideal as an object of the Sage in this Python, which may consist of parts of
    passagemath.
    """
    _check_names_for_sage(ideal)
    sage = _import_sage()
    field = ideal.ring.field
    if isinstance(field, ExtensionField):
        base_ring = _extension_of_sage(sage, field)
    elif not field.is_field:
        base_ring = sage.integers
    elif field.characteristic:
        base_ring = sage.finite_field(field.characteristic)
    else:
        base_ring = sage.rationals
    names = list(ideal.ring.variables)
    ring = sage.polynomial_ring(base_ring, len(names), names=names, order="degrevlex")
    generators = []
    for generator in ideal.generators_or_zero:
        terms = {}
        if isinstance(field, ExtensionField):
            for monomial, c in generator.items():
                numerator, denominator = field.parts(c)
                value = _value_in_sage(base_ring, numerator)
                terms[monomial] = value / _value_in_sage(base_ring, denominator)
        elif field == QQ:
            for monomial, c in generator.items():
                terms[monomial] = base_ring(int(c.numerator)) / base_ring(int(c.denominator))
        else:  # GF(p) or ZZ, where the integers are residues or the coefficients themselves
            for monomial, number in integer_coefficients(generator).items():
                terms[monomial] = base_ring(number)
        generators.append(ring(terms))
    return ring.ideal(generators)


def _extension_of_sage(sage: _Sage, field: ExtensionField) -> Any:
    """The extension field in Sage, as :func:`_code_of_extension` makes it."""
    if not field.minimal_polynomial:
        names = list(field.names)
        return sage.polynomial_ring(sage.rationals, len(names), names=names).fraction_field()
    (name,) = field.names
    p = field.characteristic
    prime_field = sage.finite_field(p) if p else sage.rationals
    polynomials = sage.polynomial_ring(prime_field, "z")
    minimal_polynomial = polynomials([prime_field(str(c)) for c in field.minimal_polynomial])
    if p:
        order = p ** (len(field.minimal_polynomial) - 1)
        return sage.finite_field(order, name, modulus=minimal_polynomial)
    try:
        from sage.rings.number_field.number_field import NumberField
    except ImportError as reason:
        raise MethodUnavailableError(
            f"the parts of Sage in this Python have no number fields ({reason}): pip install"
            " passagemath-singular, or give another Python the program of to_sage_text()"
        ) from None
    return NumberField(minimal_polynomial, name)


def _value_in_sage(base_ring: Any, polynomial: PolyElement) -> Any:
    """The value of a polynomial over QQ at the generators of an extension field in Sage."""
    generators = base_ring.gens()
    total = base_ring(0)
    for exponents, c in polynomial.items():
        power = prod(map(pow, generators, exponents), start=base_ring(1))
        total += base_ring(int(c.numerator)) / base_ring(int(c.denominator)) * power
    return total


def _import_sage() -> _Sage:
    """The Sage in this Python; MethodUnavailableError if there is none."""
    try:
        # A complete Sage has to be imported by ``sage.all``, which parts of passagemath lack.
        with suppress(ModuleNotFoundError):
            import sage.all  # noqa: F401
        # The order matters: the modules import one another, and this one has to come first.
        from sage.rings.finite_rings.finite_field_constructor import GF
        from sage.rings.integer_ring import ZZ as SAGE_ZZ
        from sage.rings.polynomial.polynomial_ring_constructor import PolynomialRing as SageRing
        from sage.rings.rational_field import QQ as SAGE_QQ
    except ImportError as reason:
        raise MethodUnavailableError(
            f"there is no Sage in this Python ({reason}): pip install passagemath-singular, or give"
            " another Python the program of to_sage_text()"
        ) from None
    return _Sage(finite_field=GF, integers=SAGE_ZZ, rationals=SAGE_QQ, polynomial_ring=SageRing)


def sage_generators(ideal: Any) -> GeneratingSet:
    """The ideal of m2bridge that an ideal of Sage, or polynomials of Sage in a list, generate."""
    try:
        listed = ideal if isinstance(ideal, list | tuple) else ideal.gens()
        # The ring of all of them: a second ring is a ValueError, as an empty list is.
        (parent,) = {polynomial.parent() for polynomial in listed}
        ring = _ring_from_sage(parent)
        generators = [_from_sage(ring, polynomial) for polynomial in listed]
        return GeneratingSet.without_zeros(ring, generators)
    except (AttributeError, TypeError, ValueError) as reason:
        raise ConversionError(
            f"not an ideal of one polynomial ring of Sage: {reason!r:.120}"
        ) from None


def _ring_from_sage(sage_ring: Any) -> PolynomialRing:
    """The ring with variables and coefficients of a polynomial ring of Sage."""
    base = sage_ring.base_ring()
    is_exact_field = base.is_field() and base.is_exact()
    coefficients: CoefficientField | None = None
    if is_exact_field and base.is_prime_field():
        coefficients = CoefficientField(int(base.characteristic()))
    elif is_exact_field:
        coefficients = _extension_from_sage(base)
    elif str(base) == "Integer Ring":  # the only exact ring of Sage of this name
        coefficients = ZZ
    if coefficients is None:
        raise ConversionError(
            f"coefficients in {base!s:.60}; they must be in QQ, GF(q) or ZZ, in an absolute number"
            " field, or be fractions of polynomials over QQ"
        )
    names = tuple(map(str, sage_ring.variable_names()))
    for name in names:
        check_variable(name)
    return PolynomialRing(coefficients, names)


def _extension_from_sage(base: Any) -> ExtensionField | None:
    """The extension field that a field of Sage is; ``None`` for fields of other kinds."""
    if base.is_finite():
        minimal_polynomial = [int(c) for c in base.modulus().list()]
        return ExtensionField(
            int(base.characteristic()), (str(base.variable_name()),), tuple(minimal_polynomial)
        )
    if hasattr(base, "absolute_degree") and base.is_absolute():
        rationals = base.defining_polynomial().monic().list()
        return ExtensionField(0, (str(base.variable_name()),), tuple(map(_fraction, rationals)))
    ring = base.ring() if hasattr(base, "ring") else None
    if ring is not None and ring.base_ring().is_prime_field() and not base.characteristic():
        return ExtensionField(0, tuple(map(str, ring.variable_names())))
    return None


def _fraction(number: Any) -> Fraction:
    """A rational number of Sage."""
    return Fraction(int(number.numerator()), int(number.denominator()))


def _element_from_sage(field: ExtensionField, element: Any) -> Any:
    """An element of a field of Sage, as an element of the same field here."""
    if not field.minimal_polynomial:
        numerator, denominator = (
            _exponents_and_numbers(part.dict())
            for part in (element.numerator(), element.denominator())
        )
        return field.element(numerator, denominator)
    # the coefficients of powers of the generator
    numbers = element.polynomial().list() if field.characteristic else element.list()
    terms: dict[tuple[int, ...], Fraction] = {}
    for exponent, c in enumerate(numbers):
        terms[(exponent,)] = Fraction(int(c)) if field.characteristic else _fraction(c)
    return field.element(terms)


def _exponents_and_numbers(terms: Mapping[Any, Any]) -> dict[tuple[int, ...], Fraction]:
    """The rational coefficients of a polynomial of Sage, by exponents."""
    numbers = {}
    for monomial, c in terms.items():
        # of one variable Sage gives the exponent alone
        exponents = (monomial,) if isinstance(monomial, int) else tuple(map(int, monomial))
        numbers[exponents] = _fraction(c)
    return numbers


def _from_sage(ring: PolynomialRing, polynomial: Any) -> PolyElement:
    """A polynomial of Sage as an element of ``ring``, which has the variables of Sage's ring."""
    field = ring.field
    coefficients = {}
    for monomial, c in polynomial.dict().items():
        # of one variable Sage gives the exponent alone
        exponents = (monomial,) if isinstance(monomial, int) else tuple(map(int, monomial))
        if isinstance(field, ExtensionField):
            coefficients[exponents] = _element_from_sage(field, c)
        else:
            coefficients[exponents] = ring.number(_fraction(c) if field == QQ else Fraction(int(c)))
    return ring.sympy_ring.from_dict({e: c for e, c in coefficients.items() if c})


class SageParts(NamedTuple):
    """What a program for Sage says about an ideal."""

    generators: list[str]
    names: list[str]  # of the variables
    field: CoefficientField


def sage_parts(text: str) -> SageParts:
    """The generators, the variables and the field of a program that :func:`sage_text` wrote."""
    match = _PROGRAM.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ConversionError("not a program for Sage that to_sage_text wrote")
    try:
        names = json.loads(match["names"])
    except ValueError as reason:
        raise ConversionError(f"not a program for Sage that to_sage_text wrote: {reason}") from None
    # Each generator is on a line as ``"x^2 - y",``, of which quotes and comma are left out.
    generators = [line.strip()[1:-2] for line in match["generators"].splitlines()]
    if match["field"] != "K":
        return SageParts(generators, names, named_field(match["field"]))
    # The field is read by the name next to its code, which has to be the code of this field.
    field = named_field(match["name"] or "")
    if not isinstance(field, ExtensionField) or _code_of_extension(field) != match["extension"]:
        raise ConversionError(
            f"not a program for Sage that to_sage_text wrote: its field is not {match['name']:.60}"
        )
    return SageParts(generators, names, field)


def flint_polynomials(ideal: GeneratingSet) -> list[Any]:
    """The generators as ``fmpq_mpoly``, ``nmod_mpoly``, or over ZZ ``fmpz_mpoly``; the polynomial 0
    for the zero ideal.
    """
    check_no_generators(ideal.ring.field, "polynomials of FLINT")
    context = _flint_context(ideal.ring)
    polynomials = []
    for generator in ideal.generators_or_zero:
        terms: dict[Any, Any]
        if ideal.ring.field == QQ:
            terms = {monomial: flint_rational(c) for monomial, c in generator.items()}
        else:  # GF(p) or ZZ, where the integers are residues or the coefficients themselves
            terms = integer_coefficients(generator)
        polynomials.append(context.from_dict(terms))
    return polynomials


def _flint_context(ring: PolynomialRing) -> Any:
    """FLINT's context for polynomials of the ring; ConversionError for a name that is not ASCII."""
    names = ring.variables
    for name in names:
        if not name.isascii():
            raise ConversionError(f"FLINT takes names in ASCII only, not {name!r:.60}")
    order = flint.Ordering.degrevlex
    if not ring.field.is_field:
        return flint.fmpz_mpoly_ctx.get(names, order)
    p = ring.field.characteristic
    if p:
        return flint.nmod_mpoly_ctx.get(names, modulus=p, ordering=order)
    return flint.fmpq_mpoly_ctx.get(names, order)


class ConvertibleIdeal(GeneratingSet):
    """The methods of an ideal that convert it for other programs."""

    __slots__ = ()

    def to_sympy(self) -> list[Poly]:
        """The generators as SymPy's ``Poly``, with variables and field; ``[0]`` for the zero ideal.

        >>> ideal("x^2 - 2/3*y").to_sympy()
        [Poly(x**2 - 2/3*y, x, y, domain='QQ')]
        """
        symbols = list(map(Symbol, self.ring.variables))
        field = self.ring.field
        # for each generator its coefficients by exponents
        polynomials: list[dict[Any, Any]] = list(map(dict, self.generators_or_zero))
        # The domain of QQ, GF(p) and QQ(a, b) is one of SymPy's own. The one of an algebraic
        # extension, the only kind of field with a minimal polynomial, is a class of m2bridge.
        domain = field.domain
        if isinstance(field, ExtensionField) and field.minimal_polynomial:
            domain = field.sympy_domain
            # Elements of both are polynomials in the root a, listed from its highest power to 1.
            polynomials = [
                {exponents: domain(coefficient.to_list()) for exponents, coefficient in f.items()}
                for f in polynomials
            ]
        return [Poly.from_dict(terms, *symbols, domain=domain) for terms in polynomials]

    def to_flint(self) -> list[flint.fmpq_mpoly] | list[flint.nmod_mpoly]:
        """The generators in one context of python-flint, its ring; ``[0]`` for the zero ideal.

        Raises ConversionError for names that are not ASCII, MethodUnavailableError over extension
        fields.

        >>> ideal("x^2 - 2/3*y").to_flint()
        [x^2 - 2/3*y]
        """
        return flint_polynomials(self)

    def to_sage(self) -> Any:
        """The ideal as an object of Sage, in degrevlex; :func:`m2bridge.from_sage` goes back.

        Raises MethodUnavailableError where Sage, or those parts of passagemath that know polynomial
        rings, are not in this Python; ConversionError if Sage does not accept a name.

        >>> umbrella = ideal("x^2 - y^2*z").to_sage()  # doctest: +SKIP
        >>> umbrella.groebner_basis()  # doctest: +SKIP
        [x^2 - y^2*z]
        """
        return sage_ideal(self)

    def to_sage_text(self) -> str:
        """A Python program for Sage that defines the ring ``R`` and the ideal ``I``.

        Sage may run it with its preparser or without. Raises ConversionError if Sage does not
        accept a name.

        >>> print(*ideal("x^2 - 2/3*y").to_sage_text().splitlines()[-5:], sep="\\n")
        R = PolynomialRing(QQ, 2, names=["x", "y"], order="degrevlex")
        read = Parser(make_int=ZZ, make_var=R.gens_dict()).parse_expression
        I = R.ideal([R(read(f)) for f in [
            "x^2 - 2/3*y",
        ]])
        """
        return sage_text(self)

    def to_mrdi(self, namespace: str = "Macaulay2") -> dict[str, Any]:
        """The ideal in the interchange format ``.mrdi``, as a dictionary for ``json.dumps``.

        It is written in the words of ``"Macaulay2"`` (its package MRDI, 1.26, reads ideals over QQ)
        or ``"Oscar"``. Raises ConversionError if there is no such namespace, or it has no words for
        the field. Source: Della Vecchia, Joswig, Lorenz, *A FAIR file format for mathematical
        software*, ICMS 2024.

        >>> ideal("x^2 - 2/3*y").to_mrdi()["data"]
        [[[['2', '0'], ['1', '1']], [['0', '1'], ['-2', '3']]]]
        """
        return mrdi(self, namespace)

    def write_mrdi(self, path: Path | str, namespace: str = "Macaulay2") -> None:
        """Write the ideal in the interchange format ``.mrdi``; :func:`m2bridge.read_mrdi` reads it.

        ``namespace``, ``"Macaulay2"`` or ``"Oscar"``, says which program's words are used. Raises
        ConversionError if it is another one, or has no words for the field.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     ideal("x^2 - y").write_mrdi(f"{folder}/parabola.mrdi")
        ...     print(read_mrdi(f"{folder}/parabola.mrdi"))
        ideal(x**2 - y) of QQ[x, y]
        """
        check_kind("path", path, (str, PathLike), "the path of a file")
        data = self.to_mrdi(namespace)
        Path(path).write_text(json.dumps(data, ensure_ascii=False) + "\n", encoding="utf-8")
