"""Ideals in the interchange format ``.mrdi``, in the words of Macaulay2's package MRDI and in those
of Oscar.

The format (Della Vecchia, Joswig, Lorenz, *A FAIR file format for mathematical software*, ICMS
2024) is JSON: a namespace ``_ns`` says whose words are used, ``_type`` names the type and what it
belongs to, ``_refs`` holds rings by their UUID. A polynomial is a list of pairs, exponents and
coefficient, with all numbers as strings.
"""

import json
import re
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from keyword import iskeyword
from pathlib import Path
from typing import Any

import flint
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.numbers import flint_rational, integer_coefficients
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, is_name
from m2bridge.convert.documents import read_json, read_text
from m2bridge.convert.files import read_field
from m2bridge.convert.macaulay2 import from_macaulay2, plain_to_macaulay2
from m2bridge.convert.notation import polynomial_text
from m2bridge.convert.polynomials import from_terms
from m2bridge.errors import ConversionError, M2BridgeError, MethodUnavailableError
from m2bridge.system import decimal, integer

_NAMESPACES = {
    "Macaulay2": ["https://macaulay2.com", "1.26.06"],
    "Oscar": ["https://github.com/oscar-system/Oscar.jl", "1.4.0"],
}
"""The source of each vocabulary, and its release."""
_INDEXED = re.compile(r"([^_]+)_(?:(-?[0-9]+)|\((-?[0-9]+(?:,-?[0-9]+)*)\))")
MOST_BYTES = 100_000_000
"""The largest file that is read."""


def mrdi(ideal: GeneratingSet, namespace: str) -> dict[str, Any]:
    """The ideal as a dictionary; equal rings have equal UUIDs."""
    if namespace not in _NAMESPACES:
        raise ConversionError(
            f"there is no namespace '{namespace:.40}': take {' or '.join(_NAMESPACES)}"
        )
    ring = _ring(ideal.ring, namespace)
    place = str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(ring)))
    generators = ideal.generators_or_zero
    return {
        "_ns": {namespace: _NAMESPACES[namespace]},
        "_type": {"name": _WORDS[namespace][0], "params": place},
        "data": [_terms(generator, namespace) for generator in generators],
        "_refs": {place: ring},
    }


def from_mrdi(source: Path | str | Mapping[str, Any]) -> GeneratingSet:
    """The ideal that :func:`m2bridge.read_mrdi` reads."""
    data = source if isinstance(source, Mapping) else read_json(read_text(Path(source), MOST_BYTES))
    try:
        (namespace,) = data["_ns"]
        kind, variables, read_name = _WORDS[namespace]
        if data["_type"]["name"] != kind:
            raise ConversionError(f"a {data['_type']['name']!s:.40} and not an ideal")
        described = _referred(data, data["_type"]["params"])
        names = [read_name(text) for text in described["data"][variables]]
        ring = PolynomialRing(_field(_referred(data, described["_type"]["params"])), tuple(names))
        return GeneratingSet(
            ring, tuple(filter(None, (_polynomial(ring, terms) for terms in data["data"])))
        )
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


def _ring(ring: PolynomialRing, namespace: str) -> dict[str, Any]:
    p, names = ring.field.characteristic, list(ring.variables)
    if namespace == "Oscar":
        prime = {"_type": {"name": "FiniteField", "_instance": "fpField"}, "data": str(p)}
        params = prime if p else {"_type": "QQField"}
        return {"_type": {"name": "MPolyRing", "params": params}, "data": {"symbols": names}}
    if p:
        raise ConversionError(
            f"Macaulay2's package MRDI has no ideals over {ring.field}; write them with"
            " namespace='Oscar'"
        )
    params = {"_type": "Ring", "data": "QQ"}
    data = {"variables": list(map(plain_to_macaulay2, names))}
    return {"_type": {"name": "PolynomialRing", "params": params}, "data": data}


def _terms(polynomial: PolyElement, namespace: str) -> list[list[Any]]:
    domain = polynomial.ring.domain

    def coefficient(c: Any) -> Any:
        if domain.is_FiniteField:
            return str(int(domain.to_int(c)) % int(domain.characteristic()))
        numerator, denominator = decimal(int(c.numerator)), decimal(int(c.denominator))
        return f"{numerator}//{denominator}" if namespace == "Oscar" else [numerator, denominator]

    return [[list(map(str, monomial)), coefficient(c)] for monomial, c in polynomial.terms()]


def _referred(data: Mapping[str, Any], described: Any) -> Any:
    """The object that a UUID refers to; an object that is written out is returned as it is."""
    return data["_refs"][described] if isinstance(described, str) else described


def _field(described: Mapping[str, Any]) -> CoefficientField:
    kind = described["_type"]
    name = kind["name"] if isinstance(kind, Mapping) else kind
    if name == "QQField" or (name == "Ring" and described["data"] == "QQ"):
        return QQ
    if name in ("FiniteField", "QuotientRing") and isinstance(described["data"], str):
        return CoefficientField(integer(described["data"]))
    raise ConversionError(f"coefficients in a {name!s:.40}; they must be in QQ or GF(p)")


def _from_macaulay2(text: str) -> str:
    """The name of a variable that Macaulay2 writes as text, such as ``c_(1,2)``."""
    match = _INDEXED.fullmatch(text)
    if match is None:
        return from_macaulay2(text)
    return from_macaulay2(match[1], [int(index) for index in (match[2] or match[3]).split(",")])


_WORDS: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "Macaulay2": ("Ideal", "variables", _from_macaulay2),
    "Oscar": ("MPolyIdeal", "symbols", str),
}
"""The words for an ideal and for the variables of a ring, and the reader of their names."""


def _polynomial(ring: PolynomialRing, terms: Any) -> PolyElement:
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
_PROGRAM = re.compile(
    r"(?:.*\n)*?R = PolynomialRing\((?P<field>QQ|GF\(\d+\)), (?:\d+, )?names=(?P<names>\[.*\]),"
    r" order=\"degrevlex\"\)\n"
    r"(?:read = Parser\(.*\n)?"
    r"I = R\.ideal\(\[R\((?:f|read\(f\))\) for f in \[\n(?P<generators>(?:    \".*\",\n)*)\]\]\)\n?"
)
"""What :func:`sage_text` writes, and what it wrote in 0.1."""


def sage_text(ideal: GeneratingSet) -> str:
    """The program; polynomials are in strings, which Sage's preparser leaves alone."""
    _check_names_for_sage(ideal)
    names = ", ".join(f'"{name}"' for name in ideal.ring.variables)
    generators = "".join(
        f'    "{polynomial_text(g).replace("**", "^")}",\n' for g in ideal.generators
    )
    return (
        f"{_IMPORTS}"
        f"R = PolynomialRing({ideal.ring.field}, {len(ideal.ring.variables)}, names=[{names}],"
        ' order="degrevlex")\n'
        "read = Parser(make_int=ZZ, make_var=R.gens_dict()).parse_expression\n"
        f"I = R.ideal([R(read(f)) for f in [\n{generators}]])"
    )


def _check_names_for_sage(ideal: GeneratingSet) -> None:
    if refused := [name for name in ideal.ring.variables if not is_name(name) or iskeyword(name)]:
        raise ConversionError(f"Sage takes no variable of the name {refused[0]!r:.60}")


def sage_ideal(ideal: GeneratingSet) -> Any:
    """The ideal as an object of the Sage in this Python, whole or in parts."""
    _check_names_for_sage(ideal)
    p, names = ideal.ring.field.characteristic, list(ideal.ring.variables)
    try:
        with suppress(ModuleNotFoundError):
            import sage.all  # whole Sage wants to be imported as a whole, and parts do not have it  # noqa: F401
        # before what imports it in a circle
        from sage.rings.finite_rings.finite_field_constructor import GF
        from sage.rings.polynomial.polynomial_ring_constructor import PolynomialRing as SageRing
        from sage.rings.rational_field import QQ as SAGE_QQ
    except ImportError as reason:
        raise MethodUnavailableError(
            f"there is no Sage in this Python ({reason}): pip install passagemath-singular, or give"
            " another Python the program of to_sage_text()"
        ) from None
    field = GF(p) if p else SAGE_QQ
    ring = SageRing(field, len(names), names=names, order="degrevlex")

    def number(c: Any) -> Any:
        numerator, denominator = (
            (ideal.ring.field.domain.to_int(c), 1) if p else (c.numerator, c.denominator)
        )
        return field(int(numerator)) / field(int(denominator))

    return ring.ideal(
        [ring({m: number(c) for m, c in g.items()}) for g in ideal.generators_or_zero]
    )


def sage_generators(ideal: Any) -> GeneratingSet:
    """The generators of an ideal of Sage, or the polynomials in a list."""
    try:
        listed = ideal if isinstance(ideal, list | tuple) else ideal.gens()
        (parent,) = {polynomial.parent() for polynomial in listed}
        base, names = parent.base_ring(), tuple(map(str, parent.variable_names()))
        if not (base.is_field() and base.is_prime_field() and base.is_exact()):
            raise ConversionError(f"coefficients in {base!s:.60}; they must be in QQ or GF(p)")
        ring = PolynomialRing(CoefficientField(int(base.characteristic())), names)
        return GeneratingSet(
            ring, tuple(filter(None, (_from_sage(ring, polynomial) for polynomial in listed)))
        )
    except (AttributeError, TypeError, ValueError) as reason:
        raise ConversionError(
            f"not an ideal of one polynomial ring of Sage: {reason!r:.120}"
        ) from None


def _from_sage(ring: PolynomialRing, polynomial: Any) -> PolyElement:
    def number(c: Any) -> Fraction:
        return (
            Fraction(int(c.numerator()), int(c.denominator()))
            if ring.field == QQ
            else Fraction(int(c))
        )

    terms = (((m,) if isinstance(m, int) else m, number(c)) for m, c in polynomial.dict().items())
    return from_terms(ring, ring.variables, terms)


def sage_parts(text: str) -> tuple[list[str], list[str], CoefficientField]:
    """The generators, the variables and the field of a program that :func:`sage_text` wrote."""
    match = _PROGRAM.fullmatch(text)
    if match is None:
        raise ConversionError("not a program for Sage that to_sage_text wrote")
    try:
        names = json.loads(match["names"])
    except ValueError as reason:
        raise ConversionError(f"not a program for Sage that to_sage_text wrote: {reason}") from None
    generators = [line.strip()[1:-2] for line in match["generators"].splitlines()]
    return generators, names, read_field(match["field"])


def flint_polynomials(ideal: GeneratingSet) -> list[Any]:
    """The generators as ``fmpq_mpoly`` or ``nmod_mpoly``; the zero polynomial where there
    are none.
    """
    names, order = ideal.ring.variables, flint.Ordering.degrevlex
    if foreign := [name for name in names if not name.isascii()]:
        raise ConversionError(f"FLINT takes names in ASCII only, not {foreign[0]!r:.60}")
    if p := ideal.ring.field.characteristic:
        modular = flint.nmod_mpoly_ctx.get(names, modulus=p, ordering=order)
        return [modular.from_dict(integer_coefficients(g)) for g in ideal.generators_or_zero]
    rational = flint.fmpq_mpoly_ctx.get(names, order)
    return [
        rational.from_dict({m: flint_rational(c) for m, c in g.items()})
        for g in ideal.generators_or_zero
    ]
