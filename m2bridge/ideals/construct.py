"""Ideals from the polynomials, texts and files of people and programs.

Polynomials of many libraries, texts that other programs print (:func:`listing`), files in TOML,
JSON and ``.mrdi``, programs for Sage. Polynomials themselves are read by ``convert.parsing``;
no text is ever run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from sympy import Symbol
from sympy.polys.rings import PolyElement

from m2bridge.algebra.expressions import difference
from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.field import QQ, CoefficientField, check_is_field
from m2bridge.algebra.ring import (
    MAX_RING_VARIABLES,
    PolynomialRing,
    check_characters,
    check_variable,
    is_name,
    variable_name,
)
from m2bridge.convert import parsing
from m2bridge.convert.bounded_io import read_toml
from m2bridge.convert.fields import field_of_numbers, parse_field
from m2bridge.convert.short_forms import check_short_forms
from m2bridge.convert.toml_files import check_keys, line, polynomial, strings, table_of
from m2bridge.errors import ConversionError, InvalidCaseError, check_kind
from m2bridge.ideals import MAX_BRACKET_DEPTH
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.interop import from_mrdi, sage_generators, sage_parts
from m2bridge.system import collection_paused


def ideal(
    *generators: Any,
    variables: str | Sequence[str | Symbol] | None = None,
    field: CoefficientField | str | None = None,
) -> Ideal:
    """The ideal that polynomials generate.

    Parameters
    ----------
    generators : polynomials, or lists of them
        SymPy expressions (in symbols, or entries such as ``A[1]`` of an ``IndexedBase`` or
        ``M[0, 1]`` of a ``MatrixSymbol``, which are the variables ``A_1`` and ``M_0_1``), ``Poly``
        or elements of its polynomial rings, multivariate polynomials of
        python-flint, exact numbers, equations of SymPy (``Eq(f, g)`` is f − g), or text such as
        ``"x^2 - 2/3*y*z"``, ``"[x + -3*y, 2//3*x]"``, ``"x^2 + y^2 = 1"``
        or what Macaulay2, SymPy, Sage and Oscar print for lists and ideals
        (:func:`m2bridge.ideals.construct.listing`), which a strict parser reads; nothing is
        evaluated.
    variables : sequence of str or sympy.Symbol, or one string such as "x y z", optional
        Of the ring, in this order, which matters for Gröbner bases. When left out, those of the
        ring of the first generator that has one, or that its text names; else all that occur, in
        alphabetical order, numbers in names by their value.
    field : CoefficientField or str, optional
        Also by name: ``"GF(9)"``, ``"QQ[i]/(i^2+1)"`` with a root as a constant, ``"QQ(a,b)"`` with
        parameters as constants. When left out, that of the generators that have one, or of the
        roots and of I in expressions; else QQ. Polynomials over QQ are reduced modulo p where GF(p)
        is asked for.

    Raises
    ------
    ConversionError
        If something is not an exact polynomial in the variables over the field, polynomials are
        over different fields, or no variables are known.
    InvalidCaseError
        If the field is neither a CoefficientField nor the name of a field.

    Examples
    --------
    >>> from sympy import symbols
    >>> x, y, z = symbols("x y z")
    >>> print(ideal(x**2 - y*z, x*y))
    ideal(x**2 - y*z, x*y) of QQ[x, y, z]
    >>> print(ideal("x^2 - 1/2*y", variables=["y", "x"], field=CoefficientField(7)))
    ideal(x**2 + 3*y) of GF(7)[y, x]
    >>> sage = "Multivariate Polynomial Ring in y, x over Finite Field of size 7"
    >>> print(ideal(f"Ideal (x^2 + 4*y) of {sage}"))
    ideal(x**2 - 3*y) of GF(7)[y, x]
    >>> print(ideal("(x + i*y)(x - i*y)", "x/(1 + i)", field="QQ[i]/(i^2+1)"))
    ideal(x**2 + y**2, -(1/2*i - 1/2)*x) of (QQ[i]/(i**2 + 1))[x, y]
    """
    if isinstance(field, str):
        field = parse_field(field)
    items = list(parsing.flat(generators))
    for item in items:
        parsing.check_polynomial(item)
    if field is not None and not isinstance(field, ExtensionField):
        check_is_field(field)
    texts = [_listing_of(item) for item in items]
    listed = list(chain.from_iterable(text.polynomials for text in texts))
    common = _field_of(texts, listed, field)
    if variables is None:
        variables = next((text.variables for text in texts if text.variables), None)
    names = _variables(listed, variables, common.names)
    for name in names:
        check_variable(name)
    ring = PolynomialRing(common, names)
    return Ideal.without_zeros(ring, (parsing.element(ring, given) for given in listed))


def _listing_of(item: Any) -> Listing:
    if isinstance(item, str):
        return listing(item)
    return Listing((item,))


def _field_of(
    texts: Iterable[Listing], listed: Sequence[Any], field: CoefficientField | None
) -> CoefficientField:
    """The field that was asked for, else the one of the polynomials and of numbers in them."""
    others = [value for value in listed if not parsing.has_constants_of(value, field)]
    fields = [*(text.field for text in texts), *map(parsing.own_field, others)]
    if field is None or (isinstance(field, ExtensionField) and field.root is not None):
        fields.append(field_of_numbers(map(difference, listed)))
    return parsing.common_field(fields, field)


def _variables(
    listed: Sequence[Any],
    variables: str | Sequence[str | Symbol] | None,
    constants: Sequence[str] = (),
) -> tuple[str, ...]:
    """The variables that are named, else those of a ring among the polynomials, else all that
    occur and are not constants of the field.
    """
    if isinstance(variables, str):
        variables = variables.replace(",", " ").split()
    if variables is not None:
        return tuple(map(_variable, variables))
    owned = next(filter(None, map(parsing.ring_variables, listed)), None)
    if owned is not None:
        return owned
    check_short_forms((text for text in listed if isinstance(text, str)), constants)
    names: set[str] = set().union(*map(parsing.occurring_names, listed)).difference(constants)
    if not names:
        raise ConversionError(
            "no variables occur: name those of the ring, as in ideal(0, variables=['x', 'y'])"
        )
    return tuple(sorted(names, key=_natural))


def _variable(variable: str | Symbol) -> str:
    """The name of a variable of an ideal, which may have primes, as in Macaulay2."""
    if isinstance(variable, str) and is_name(variable.replace("'", "_")):
        return variable
    return variable_name(variable)


def _natural(name: str) -> list[tuple[int, str]]:
    """A key by which x_2 comes before x_10."""
    key = []
    for part in re.split("([0-9]+)", name):
        if re.fullmatch("[0-9]+", part):
            key.append((int(part), ""))
        else:
            key.append((-1, part))
    return key


def read_ideal(data: Mapping[str, Any]) -> Ideal:
    """The ideal of the generators in the JSON form of a closure or an image.

    Parameters
    ----------
    data : mapping
        With ``field``, ``coordinates`` and ``generators``, as in :meth:`m2bridge.Closure.to_json`.

    Raises
    ------
    ConversionError
        If it does not have that form, or no generators were found.

    Examples
    --------
    >>> generators = ["x**2 - 2/3*y", "-x*y"]
    >>> read_ideal({"field": "QQ", "coordinates": ["x", "y"], "generators": generators}).generators
    (x**2 - 2/3*y, -x*y)
    """
    try:
        name, coordinates, texts = data["field"], data["coordinates"], data["generators"]
    except (KeyError, TypeError) as reason:
        raise ConversionError(f"not the JSON of a closure: {reason!r:.120}") from None
    listed = isinstance(texts, list) and isinstance(coordinates, list | tuple)
    if not listed or not all(isinstance(text, str) for text in (name, *coordinates, *texts)):
        raise ConversionError("not the JSON of a closure with generators")
    for coordinate in coordinates:
        check_characters(coordinate)
        if not _is_coordinate(coordinate):
            raise ConversionError(f"{coordinate!r:.60} is not the name of a coordinate")
    ring = PolynomialRing(_named_field(name), tuple(coordinates))
    with collection_paused():
        return Ideal(ring, tuple(map(parsing.generator_reader(ring), texts)))


def _named_field(text: str) -> CoefficientField:
    """The field of this name; raises ConversionError for others."""
    try:
        return parse_field(text)
    except InvalidCaseError as reason:
        raise ConversionError(f"coefficients in {text!r:.60}: {reason}") from None


def _is_coordinate(name: str) -> bool:
    """Whether text is a name, possibly with primes or negative indices, as ``s'`` and ``x_-1``."""
    return is_name(name.replace("'", "_").replace("_-", "_"))


def read_mrdi(source: Path | str | Mapping[str, Any]) -> Ideal:
    """The ideal in a file ``.mrdi``, as Macaulay2 (package MRDI) or Oscar wrote it.

    Parameters
    ----------
    source : path of a file, or the dictionary that it holds

    Raises
    ------
    ConversionError
        If it is not such a file, or holds something other than an ideal of a polynomial ring over
        QQ or GF(p), or a variable has a name such as ``2`` or ``x-y``; Oscar's ``x[1]`` is one.

    Examples
    --------
    >>> print(read_mrdi(ideal("x^2 - 2/3*y").to_mrdi("Oscar")))
    ideal(x**2 - 2/3*y) of QQ[x, y]
    """
    return Ideal.of(from_mrdi(source))


def from_sage(source: Any) -> Ideal:
    """The ideal that is an object of Sage, or that a list of Sage's polynomials generates.

    It is over QQ or GF(p).

    Raises
    ------
    ConversionError
        If it is something else, or polynomials are of several rings.

    Examples
    --------
    In Sage, ``from_sage(ideal("x^2 - 2/3*y").to_sage())`` is the ideal of m2bridge again. A text is
    no object of Sage:

    >>> from_sage("x^2 - 2/3*y")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    m2bridge.errors.ConversionError: not an ideal of one polynomial ring of Sage: ...
    """
    return Ideal.of(sage_generators(source))


def read_sage_text(text: str) -> Ideal:
    """The ideal of a program by :meth:`m2bridge.Ideal.to_sage_text`; it is read, and not run.

    Raises
    ------
    ConversionError
        If it has another form.

    Examples
    --------
    >>> print(read_sage_text(ideal("x^2 - 2/3*y").to_sage_text()))
    ideal(x**2 - 2/3*y) of QQ[x, y]
    """
    generators, names, field = sage_parts(text)
    return ideal(generators, variables=names, field=field)


def read_ideal_file(
    text: str, *, field: CoefficientField | None = None, plain: bool = True
) -> tuple[Ideal, str]:
    """The ideal that a file describes, and its title (empty if it has none).

    Parameters
    ----------
    text : str
        The content of the file: TOML with a table ``[ideal]``, or plain text: polynomials with
        commas between them, a polynomial or equation on each line, or one of the forms of
        :func:`listing`. A line may end with a sign, and continue on the next; in plain text lines
        that begin with ``#`` are comments.
    field : CoefficientField, optional
        Where the file names none; QQ when left out.
    plain : bool, optional
        Whether plain text is read; else the file has to be in TOML.

    Raises
    ------
    ConversionError
        In one line, with the place, if a part is missing, unknown or not a polynomial.

    Examples
    --------
    >>> umbrella, title = read_ideal_file('''
    ... [ideal]
    ... title = "Whitney umbrella"
    ... variables = ["x", "y", "z"]
    ... generators = ["x^2 - y^2*z"]
    ... ''')
    >>> title, umbrella.dimension()
    ('Whitney umbrella', 2)
    """
    check_kind("text", text, str, "the content of a file, as text")
    if plain and text.strip() and not _TOML.search(text):
        return ideal(_plain_listing(text), field=field), ""
    content = read_toml(text)
    if "ideal" not in content and content.keys() & {"map", "layers"}:
        raise ConversionError("this file holds a map, and no ideal: write --map FILE")
    check_keys(content, "", {"ideal"}, set())
    table = table_of(content, "ideal", {"variables", "generators"}, {"title", "field"})
    title = line(table, "ideal", "title")
    name_of_field = line(table, "ideal", "field")
    names = tuple(map(variable_name, strings(table["variables"], "[ideal] variables")))
    if not 0 < len(names) <= MAX_RING_VARIABLES:
        counts = f"{len(names)}; there must be one at least, and at most {MAX_RING_VARIABLES}"
        raise ConversionError(f"[ideal] variables: {counts}")
    own = _named_field(name_of_field) if name_of_field else None
    if own and field and own != field:
        raise ConversionError(f"[ideal] field: the ideal is over {own}, and {field} was asked for")
    ring = PolynomialRing(own or field or QQ, names)
    texts = strings(table["generators"], "[ideal] generators")
    elements = []
    for number, text_of_one in enumerate(texts, 1):
        place = f"[ideal] generators {number}"
        elements.append(_generator(text_of_one, place, ring))
    return Ideal.without_zeros(ring, elements), title


def _generator(text: str, place: str, ring: PolynomialRing) -> PolyElement:
    """A polynomial or equation of a file, read with the place for messages."""
    if ring.field.names:
        try:
            return parsing.element(ring, text)
        except ConversionError as reason:
            raise ConversionError(f"{place}: {reason}") from None
    rational = polynomial(text, place, PolynomialRing(QQ, ring.variables), equation=True)
    return parsing.element(ring, rational)


_TOML = re.compile(r"(?m)\"|^\s*\[+\s*[A-Za-z]{2,}\s*\]+\s*(?:#|$)|^\s*[A-Za-z]{2,}\s*=\s*[\['0-9]")
"""What a file in TOML has, and a list of polynomials has not: texts in quotes, or a heading."""
_COMMENT = re.compile(r"(?m)^\s*#.*$")
_CONTINUED = re.compile(r"[-+*/^=−–·⋅×({[]\s*\Z")
_CONTINUES = re.compile(r"\s*[+*/^=·⋅×)}\]]")


def _plain_listing(text: str) -> str:
    """A list with commas of the polynomials in a text that has one on each line, or commas.

    Raises
    ------
    ConversionError
        If a line without commas before it begins with a minus sign, so that it could be a
        polynomial or the rest of one.
    """
    text = _COMMENT.sub("", text)
    if len(_parts(text)) > 1 or _HEAD.match(text.strip()) or _inside(text.strip()) is not None:
        return text
    polynomials: list[str] = []
    for number, row in enumerate(text.splitlines(), 1):
        if not row.strip():
            continue
        is_rest = bool(polynomials) and bool(_CONTINUED.search(polynomials[-1]))
        if polynomials and not is_rest and row.lstrip()[0] in "-−–":
            raise ConversionError(
                f"line {number}: it begins with a minus sign, and could be a polynomial or belong"
                " to the line before it: write a comma after each polynomial"
            )
        if is_rest or (polynomials and _CONTINUES.match(row)):
            polynomials[-1] += f" {row.strip()}"
        else:
            polynomials.append(row.strip())
    return ", ".join(polynomials)


_HEAD = re.compile(
    r"(?:(?:principal )?ideal|monomialIdeal|matrix|\w*MPolyRingElem)(?=\s*[\[({])"
    r"|ideal\s+generated\s+by:?\s|(?:monomialI|i)deal\s+(?=\w)",
    re.IGNORECASE,
)
_RING = re.compile(
    r"(?s)(?P<body>.*[\])}])\s+of\s+(?:"
    r"(?:Multi|Uni)variate Polynomial Ring in (?P<names>[\w, ]+?) over (?P<sage>[^\n]+)"
    r"|(?P<field>QQ(?:\([\w, ]+\))?|GF\(\d+\)|\([^\n]+\)|frac\(QQ\[[\w, ]+\]\))"
    r"\[(?P<own>[^]]*)\])\s*"
)
_EQUATION = re.compile(r"(?s)\s*Eq\((?P<sides>.*)\)\s*")
_SYMPY = re.compile(r"(?s)\s*(?:Poly|GroebnerBasis)\((?P<body>.*)\)\s*")
_OPTION = re.compile(r"\s*(domain|modulus|order)\s*=\s*'?([^']*)'?\s*")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Listing:
    """The polynomials in a text, and what it says of their ring.

    Parameters
    ----------
    polynomials : tuple of str
        The text of each, or another object that is one.
    variables : tuple of str or None
        Those of the ring, if the text names them.
    field : CoefficientField or None
        Likewise.

    Examples
    --------
    >>> listing("{x^2 - y, x*y}").polynomials
    ('x^2 - y', 'x*y')
    >>> sage = "Multivariate Polynomial Ring in x, y over Finite Field of size 7"
    >>> listing(f"Ideal (x^2 - y) of {sage}").field
    GF(7)
    """

    polynomials: tuple[Any, ...]
    variables: tuple[str, ...] | None = None
    field: CoefficientField | None = None


def listing(text: str) -> Listing:
    """Split a text with polynomials: lists and ideals, as many programs print them.

    It is cut at brackets and commas; :mod:`m2bridge.convert.parsing` reads the polynomials, and
    nothing is run. These forms are accepted, with ``f, g`` for polynomials::

        f, g     [f, g]     {f, g}     (f, g)     [[f], [g]]                        lists
        f = g     f == g     Eq(f, g)                                               equations
        ideal(f,g)     monomialIdeal(f,g)     ideal f     matrix {{f, g}}           Macaulay2
        Poly(f, x, y, domain='QQ')     GroebnerBasis([f, g], x, y, modulus=7, …)    SymPy
        Ideal (f, g) of Multivariate Polynomial Ring in x, y over Rational Field    Sage
        Ideal (f, g)     Ideal generated by, with a line for each                   Oscar
        QQMPolyRingElem[f, g]                                                       Oscar
        ideal(f, g) of QQ[x, y]                                                     m2bridge

    Raises
    ------
    ConversionError
        If brackets do not match, the text holds several ideals or rings, or m2bridge does not have
        the field of the coefficients.
    """
    match = _RING.fullmatch(text)
    if match:
        listed = match["names"] or match["own"] or ""
        names = [name.strip() for name in listed.split(",")]
        if "…" in names:
            raise ConversionError("the text leaves variables of the ring out: give them in a list")
        field = _field((match["sage"] or match["field"]).removeprefix("Finite Field of size "))
        return replace(listing(match["body"]), variables=tuple(filter(None, names)), field=field)
    match = _SYMPY.fullmatch(text)
    if match:
        return _of_sympy(match["body"])
    body = text.strip()
    head = _HEAD.match(body)
    if head:
        body = body[head.end() :].strip()
    if head and "generated" in head[0].lower():  # Oscar's, a line for each
        inside: str | None = body.replace("\n", ",")
    else:
        inside = _inside(body)
    if inside is None:
        return _together(body)
    if not inside.strip():
        return Listing(())
    return _together(inside)


_DECIMAL_COMMA = re.compile(r"[-+*·⋅×−–]\s*(0,[0-9]+)")


def _together(text: str) -> Listing:
    """The polynomials of all parts of a list; they are of one ring."""
    comma = _DECIMAL_COMMA.search(text)
    if comma:
        meant = comma[1].replace(",", ".")
        raise ConversionError(
            f"'{comma[1]:.40}' has a decimal comma, or ends a polynomial with 0: write {meant:.40},"
            " or a blank after the comma"
        )
    parts = [_without_eq(part.strip()) for part in _parts(text)]
    if len(parts) == 1 and not _inside(parts[0]) and not _SYMPY.fullmatch(parts[0]):
        return Listing((parts[0],))
    listed: list[Any] = []
    rings = set()
    for part in parts:
        if _HEAD.match(part):
            raise ConversionError(
                f"the text holds several ideals, such as {part!r:.60}: give one at a time"
            )
    for part in parts:
        found = Listing((part,))
        if _inside(part) or _SYMPY.fullmatch(part):
            found = listing(part)
        listed += found.polynomials
        rings.add((found.variables, found.field))
    if len(rings) > 1:
        raise ConversionError(f"the text holds polynomials of different rings (in {text[:80]!r})")
    ((variables, field),) = rings
    return Listing(tuple(listed), variables, field)


def _without_eq(part: str) -> str:
    """SymPy's ``Eq(f, g)`` as ``f = g``; other text as it is."""
    match = _EQUATION.fullmatch(part)
    sides = _parts(match["sides"]) if match else []
    return " = ".join(sides) if len(sides) == 2 else part


def _of_sympy(body: str) -> Listing:
    """The polynomials of a ``Poly`` or ``GroebnerBasis`` with these arguments."""
    generators, *others = _parts(body)
    options = {}
    for part in others:
        match = _OPTION.fullmatch(part)
        if match:
            options[match[1]] = match[2]
    names = tuple(part.strip() for part in others if "=" not in part)
    field = _field(options.get("modulus") or options.get("domain", "QQ"))
    return replace(listing(generators), variables=names, field=field)


def _field(text: str) -> CoefficientField:
    """The field by its name in another program, or its characteristic; of ZZ it is QQ."""
    if text in ("QQ", "ZZ", "Rational Field"):
        return QQ
    if text.isascii() and text.isdecimal():
        text = f"GF({text})"
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    return _named_field(text)


def _inside(text: str) -> str | None:
    """The text between the first and the last character, if these are brackets of one pair."""
    if _CLOSING.get(text[:1]) != text[-1:]:
        return None
    depth = 0
    for sign in text[:-1]:
        if sign in _CLOSING:
            depth += 1
        elif sign in ")]}":
            depth -= 1
        if depth == 0:  # the first bracket is closed before the end
            return None
    return text[1:-1]


def _parts(text: str) -> list[str]:
    """The parts between the commas that are in no brackets; after the last comma there may be
    nothing.

    Raises
    ------
    ConversionError
        If a bracket is closed by one of another kind, or not at all, or too many are inside one
        another.
    """
    open_brackets: list[str] = []
    cuts = [-1]
    for place, sign in enumerate(text):
        if sign in _CLOSING:
            open_brackets.append(sign)
            if len(open_brackets) > MAX_BRACKET_DEPTH:
                raise ConversionError(
                    f"column {place + 1}: more than {MAX_BRACKET_DEPTH} brackets inside one another"
                )
        elif sign in ")]}":
            if not open_brackets or _CLOSING[open_brackets.pop()] != sign:
                raise ConversionError(
                    f"column {place + 1}: '{sign}' closes nothing (in {text[:80]!r})"
                )
        elif sign == "," and not open_brackets:
            cuts.append(place)
    if open_brackets:
        raise ConversionError(f"'{open_brackets[-1]}' is not closed (in {text[:80]!r})")
    cuts.append(len(text))
    parts = [text[begin + 1 : end] for begin, end in pairwise(cuts)]
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()
    return parts
