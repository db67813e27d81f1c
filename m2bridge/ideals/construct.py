"""Ideals from the polynomials, texts and files of people and programs.

Polynomials of many libraries, texts that other programs print (``listings``), files in TOML, JSON
and ``.mrdi``, programs for Sage. Each thing that is given becomes a ``Listing``: its polynomials,
still as texts or as objects of a library, with the variables and the field of their ring where it
names these. When the ring is known, ``convert.parsing`` makes elements of it; no text is ever run.

Whatever is not an ideal, has two readings, or contradicts the field or the variables that were
asked for is a ConversionError.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from sympy import Symbol
from sympy.polys.rings import PolyElement

from m2bridge.algebra import MAX_RING_VARIABLES
from m2bridge.algebra.expressions import difference
from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.field import QQ, CoefficientField, check_is_field
from m2bridge.algebra.ring import (
    PolynomialRing,
    check_characters,
    check_variable,
    is_name,
    variable_name,
)
from m2bridge.convert import parsing
from m2bridge.convert.bounded_io import load, read_json, read_toml
from m2bridge.convert.fields import as_field, field_of_numbers, parse_coefficients
from m2bridge.convert.polynomial_parser import without_comments
from m2bridge.convert.short_forms import (
    NAME_THE_VARIABLES,
    NAMES_OF_VARIABLES,
    check_numbers_of_fields,
    check_short_forms,
)
from m2bridge.convert.toml_files import check_keys, line_of_text, polynomial, strings, table_of
from m2bridge.errors import ConversionError, check_flag, check_kind, class_with_article, elements
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.interop import from_mrdi, sage_generators, sage_parts
from m2bridge.ideals.listings import Listing, listing, named_field, plain_listing
from m2bridge.ideals.printed import check_json_of_ideal
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
        or elements of SymPy's polynomial rings, multivariate polynomials of
        python-flint, exact numbers, equations of SymPy (``Eq(f, g)`` is f − g), or text such as
        ``"x^2 - 2/3*y*z"``, ``"[x + -3*y, 2//3*x]"``, ``"x^2 + y^2 = 1"``
        or what Macaulay2, SymPy, Sage and Oscar print for lists and ideals
        (:func:`m2bridge.ideals.listings.listing`), which a strict parser reads; nothing is
        evaluated.
    variables : sequence of str or sympy.Symbol, or one string such as "x y z", optional
        The variables of the ring in their order, which matters for Gröbner bases. When left out,
        the variables of the ring of the first generator that has a ring or names one in its text;
        else all that occur, in alphabetical order, where x_2 comes before x_10.
    field : CoefficientField or str, optional
        Also by name: ``"GF(9)"``, ``"QQ[i]/(i^2+1)"`` with a root as a constant, ``"QQ(a,b)"`` with
        parameters as constants. When left out, the field of the generators that have one, or the
        field of roots and of I in expressions; else QQ. Polynomials over QQ are reduced modulo p
        where GF(p) is asked for. ``"ZZ"`` is for ideals over the integers; SymPy's domain ZZ alone
        means QQ.

    Raises
    ------
    ConversionError
        If something is not an exact polynomial in the variables over the field, polynomials are
        over different fields, or no variables are known.
    InvalidCaseError
        If the field is neither a CoefficientField nor the name of a field or of ZZ.

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
        field = parse_coefficients(field)
    items = list(parsing.flat(generators))  # without the brackets of lists
    for item in items:
        parsing.check_polynomial(item)
    if field is not None and not isinstance(field, CoefficientField):
        check_is_field(field)  # which refuses it
    # a single polynomial that is not text is a listing of its own
    listings = [listing(item) if isinstance(item, str) else Listing((item,)) for item in items]
    polynomials = list(chain.from_iterable(entry.polynomials for entry in listings))
    common_field = _field_of(listings, polynomials, field)
    if variables is None:
        variables_in_texts = (entry.variables for entry in listings if entry.variables)
        variables = next(variables_in_texts, None)  # the first, if a text names any
    if variables is None:
        _check_short_powers(listings)
    names = _variable_names(polynomials, variables, common_field)
    for name in names:
        check_variable(name)
    ring = _ring_of(common_field, names)
    return Ideal.without_zeros(ring, (parsing.element(ring, value) for value in polynomials))


def _check_short_powers(listings: Iterable[Listing]) -> None:
    """Raise ConversionError if Singular's short form of a power may stand in a list."""
    for entry in listings:
        if entry.short_power:
            power = f"{entry.short_power[0]}^{entry.short_power[1:]}"
            raise ConversionError(
                f"'{entry.short_power:.60}' could be {power:.60} in Singular's short form or one"
                f" variable: print it again with short = 0, or {NAME_THE_VARIABLES}"
            )


def _field_of(
    listings: Iterable[Listing], polynomials: Sequence[Any], field: CoefficientField | None
) -> CoefficientField:
    """The field that was asked for, else the field of the polynomials: by what texts say of their
    ring, by objects with a ring, or by numbers in expressions of SymPy, such as I; else QQ.
    """
    # Polynomials whose coefficients are polynomials in the generators of ``field`` are over it,
    # whatever domain SymPy gives them; the others can have a field of their own.
    without_constants = [
        value for value in polynomials if not parsing.has_constants_of(value, field)
    ]
    # ``None`` stands for a text or polynomial that names no field.
    fields = [*(entry.field for entry in listings), *map(parsing.own_field, without_constants)]
    # Numbers such as I define a field where none was asked for. Where one with a root of SymPy was,
    # such as QQ(i), the field of the numbers has to agree with it. Over any other field, numbers
    # are read, or refused, when the polynomials are.
    has_root = isinstance(field, ExtensionField) and field.root is not None
    if field is None or has_root:
        fields.append(field_of_numbers(map(difference, polynomials)))
    return parsing.common_field(fields, field)


def _variable_names(
    polynomials: Sequence[Any],
    variables: str | Sequence[str | Symbol] | None,
    field: CoefficientField,
) -> tuple[str, ...]:
    """The variables that are given, in their order; else the variables of the first polynomial that
    has a ring; else all that occur.
    """
    if isinstance(variables, str):
        variables = variables.replace(",", " ").split()
    if variables is not None:
        return tuple(map(_variable_name, elements("variables", variables, "a list of names")))
    for value in polynomials:
        of_ring = parsing.ring_variables(value)
        if of_ring:  # empty for texts and expressions, which have no ring
            return of_ring
    return _occurring_variables(polynomials, field)


def _occurring_variables(polynomials: Sequence[Any], field: CoefficientField) -> tuple[str, ...]:
    """The names that occur in polynomials and are no constants of the field, x_2 before x_10;
    refused if a name in a text could also be a product of variables, as xy, or an algebraic number,
    as I, or is the one that m2bridge chose for the field's generator.
    """
    constants = field.names
    texts = [value for value in polynomials if isinstance(value, str)]
    check_short_forms(texts, constants)
    objects = [value for value in polynomials if not isinstance(value, str)]
    in_texts: set[str] = set().union(*map(parsing.occurring_names, texts))
    occurring = in_texts.union(*map(parsing.occurring_names, objects))
    occurring_constants = occurring.intersection(constants)
    if occurring_constants and isinstance(field, ExtensionField) and not field.names_are_given:
        (generator,) = occurring_constants
        order = f"{field.characteristic}^{len(field.minimal_polynomial) - 1}"
        raise ConversionError(
            f"'{generator}' could be the generator of GF({order}) or a variable: for the generator"
            f" write GF({order},{generator}); for a variable {NAME_THE_VARIABLES}"
        )
    check_numbers_of_fields(in_texts.difference(constants))
    names = occurring.difference(constants)
    if not names:
        raise ConversionError(
            "no variables occur: name the variables of the ring, as in"
            " ideal(0, variables=['x', 'y']), or"
            ' in a file by variables = ["x", "y"]'
        )
    return tuple(sorted(names, key=natural_key))


def _ring_of(field: CoefficientField, names: tuple[str, ...]) -> PolynomialRing:
    """The ring with these variables over a field, whose generator gets another name if m2bridge
    chose it and a variable has it.
    """
    if isinstance(field, ExtensionField) and not field.names_are_given:
        letters_of_variables = {name.partition("_")[0] for name in names}
        free_letters = [letter for letter in _GENERATORS if letter not in letters_of_variables]
        if free_letters:
            field = replace(field, names=(free_letters[0],))
    return PolynomialRing(field, names)


_GENERATORS = "abcdefghklmnopqrstuvwxyz"
"""Names of a generator that nobody has named, the first one first."""


def _variable_name(variable: str | Symbol) -> str:
    """The name of a variable of an ideal, which may have primes, as x' in Macaulay2."""
    if isinstance(variable, str) and is_name(variable.replace("'", "_")):
        return variable
    return variable_name(variable)


def natural_key(name: str) -> list[tuple[int, str]]:
    """A key by which x_2 comes before x_10: ``[(-1, "x_"), (2, ""), (-1, "")]`` for ``x_2``, where
    the −1 of parts that are no numbers is the value of no number, so that these are compared as
    text.
    """
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
        If it does not have that form, or its generators are ``null``: none were found.

    Examples
    --------
    >>> generators = ["x**2 - 2/3*y", "-x*y"]
    >>> read_ideal({"field": "QQ", "coordinates": ["x", "y"], "generators": generators}).generators
    (x**2 - 2/3*y, -x*y)
    """
    if not isinstance(data, Mapping):
        raise ConversionError(f"not the JSON of a closure, but {class_with_article(type(data))}")
    try:
        field_name = data["field"]
        coordinates = data["coordinates"]
        texts = data["generators"]
    except (KeyError, TypeError) as reason:
        raise ConversionError(f"not the JSON of a closure: {reason!r:.120}") from None
    has_lists = isinstance(texts, list) and isinstance(coordinates, list | tuple)
    # Without lists the values cannot be gone through.
    if not has_lists or not all(
        isinstance(text, str) for text in (field_name, *coordinates, *texts)
    ):
        raise ConversionError("not the JSON of a closure with generators")
    for coordinate in coordinates:
        check_characters(coordinate)
        # primes and negative indices are allowed, as in s' and x_-1
        if not is_name(coordinate.replace("'", "_").replace("_-", "_")):
            raise ConversionError(f"{coordinate!r:.60} is not the name of a coordinate")
    ring = PolynomialRing(named_field(field_name), tuple(coordinates))
    with collection_paused():  # there can be very many generators
        generators = tuple(map(parsing.generator_reader(ring), texts))
    if not all(generators):  # over QQ and GF(p) the reader has refused zero already
        raise ConversionError("a generator of a closure is not zero")
    return Ideal(ring, generators)


def read_mrdi(source: Path | str | Mapping[str, Any]) -> Ideal:
    """The ideal in a file ``.mrdi``, as Macaulay2 (package MRDI) or Oscar wrote it.

    Parameters
    ----------
    source : path of a file, or the dictionary that it holds

    Raises
    ------
    ConversionError
        If it is not such a file, or holds something other than an ideal of a polynomial ring over
        QQ or GF(p), or a variable has a name such as ``2`` or ``x-y``. Oscar's name ``x[1]`` is
        taken as it is.

    Examples
    --------
    >>> print(read_mrdi(ideal("x^2 - 2/3*y").to_mrdi("Oscar")))
    ideal(x**2 - 2/3*y) of QQ[x, y]
    """
    return Ideal.of(from_mrdi(source))


def from_sage(source: Any) -> Ideal:
    """The ideal that is an object of Sage, or that a list of Sage's polynomials generates.

    Raises
    ------
    ConversionError
        If the source is something else, polynomials are of several rings, or m2bridge has no such
        coefficients.

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
    parts = sage_parts(text)
    return ideal(parts.generators, variables=parts.names, field=parts.field)


_TOML = re.compile(
    r"""
    "                                               # a text in quotes
    | ^ \s* \[+ \s* [A-Za-z]{2,} \s* \]+ \s* (?:\#|$)  # the heading of a table, as [ideal]
    | ^ \s* [A-Za-z]{2,} \s* = \s* [\['0-9]         # a key with a list, text or number
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What a file in TOML has, and a list of polynomials has not."""


def read_ideal_file(
    text: str,
    *,
    field: CoefficientField | str | None = None,
    plain: bool = True,
    variables: str | Sequence[str | Symbol] | None = None,
) -> tuple[Ideal, str]:
    """The ideal that the text of a file describes, and its title (empty if it has none).

    ``parse_ideal`` is the same function; :func:`m2bridge.load_ideal` takes the path of a file.

    Parameters
    ----------
    text : str
        The content of the file: TOML with a table ``[ideal]``, or plain text: polynomials with
        commas between them, a polynomial or equation on each line, or one of the forms of
        :func:`m2bridge.ideals.listings.listing`. A line that ends with an operation continues in
        the next one; in plain text ``# …`` and `` -- …`` are comments. A text that looks like the
        path of a file is read as a polynomial, with a warning.
    field : CoefficientField or str, optional
        The field, also by name, if the file names none; QQ when left out. A table that names a
        different one is refused.
    plain : bool, optional
        Whether plain text is read; else the file has to be in TOML or JSON.
    variables : sequence of str or sympy.Symbol, or one string such as "x y z", optional
        The variables of the ring, for plain text; a file that names its own is refused.

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
    check_flag("plain", plain)
    if plain and variables is None and looks_like_path(text):
        warnings.warn(
            f"{text!r:.60} is read as a polynomial, not as the name of a file: this function"
            " takes the content of a file, and load_ideal its path",
            stacklevel=2,
        )
    return _ideal_of_text(text, field=field, plain=plain, variables=variables)


parse_ideal = read_ideal_file


def load_ideal(
    path: str | PathLike[str],
    *,
    field: CoefficientField | str | None = None,
    plain: bool = True,
    variables: str | Sequence[str | Symbol] | None = None,
) -> tuple[Ideal, str]:
    """The ideal that a file describes, and its title: :func:`m2bridge.parse_ideal` of its text, and
    its options.

    Raises
    ------
    ConversionError
        If the file cannot be read, or describes no ideal; the message begins with the path.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "umbrella.txt")
    ...     _ = file.write_text("x^2 - y^2*z")
    ...     print(load_ideal(file)[0])
    ideal(-y**2*z + x**2) of QQ[x, y, z]
    """
    check_flag("plain", plain)
    reader = partial(_ideal_of_text, field=field, plain=plain, variables=variables)
    return load(path, reader)


def _ideal_of_text(
    text: str,
    *,
    field: CoefficientField | str | None,
    plain: bool,
    variables: str | Sequence[str | Symbol] | None,
) -> tuple[Ideal, str]:
    """The ideal and the title that the text of a file describes."""
    if field is not None:
        field = as_field(field)
    stored = _stored_ideal(text, plain=plain)
    if stored is not None:
        _check_field_of_file(stored.ring.field, field, place="the ideal in the file")
    if variables is not None and (stored is not None or _TOML.search(without_comments(text))):
        raise ConversionError("the file names its variables: leave others out")
    if stored is not None:
        return stored, ""
    if plain and text.strip() and not _TOML.search(without_comments(text)):
        return ideal(plain_listing(text), field=field, variables=variables), ""
    content = read_toml(text)
    if "ideal" not in content and content.keys() & {"map", "layers"}:
        raise ConversionError("this file holds a map, and no ideal: write --map FILE")
    check_keys(content, "", {"ideal"}, set())  # the required keys, and the optional ones
    table = table_of(content, "ideal", {"variables", "generators"}, {"title", "field"})
    title = line_of_text(table, "ideal", "title")  # empty if the file has none
    ring = _ring_of_table(table, field)
    texts = strings(table["generators"], "[ideal] generators")
    elements = []
    for number, generator_text in enumerate(texts, 1):
        place = f"[ideal] generators {number}"
        elements.append(_generator_from_text(generator_text, place, ring))
    return Ideal.without_zeros(ring, elements), title


_PATH = re.compile(r"~?[\w./\\~-]+")
"""A text without blanks and without signs of products, powers and equations."""


def looks_like_path(text: str) -> bool:
    """Whether a text could be the path of a file: without blanks, and with a word of three letters
    or more that is not a usual name of a variable, as ``alpha`` and ``sin`` are.

    >>> looks_like_path("twisted-cubic"), looks_like_path("x-y"), looks_like_path("alpha - beta")
    (True, False, False)
    """
    if _PATH.fullmatch(text) is None:
        return False
    words = re.findall(r"[^\W\d_]{3,}", text)
    return any(word.lower() not in NAMES_OF_VARIABLES for word in words)


def _stored_ideal(text: str, *, plain: bool) -> Ideal | None:
    """The ideal in JSON of m2bridge, in the format ``.mrdi`` or in a program for Sage by m2bridge;
    ``None`` for another text. Unless ``plain``, only objects of JSON with the keys of an ideal are
    read.
    """
    if plain and re.search(r"(?m)^\s*from sage\b", text):
        return read_sage_text(text)
    if not re.match(r'\s*(?:\{\s*"|\[\s*["{])', text):
        return None
    if text.lstrip().startswith("[") and not plain:
        return None
    data = read_json(text)
    if isinstance(data, dict) and "_ns" in data:
        return read_mrdi(data)
    if isinstance(data, list):
        return ideal(text)  # of a list of texts; other lists are refused
    check_json_of_ideal(data)
    return read_ideal(data)


def _check_field_of_file(
    field_of_file: CoefficientField, field: CoefficientField | None, place: str
) -> None:
    """Raise ConversionError if a file names a different field than was asked for."""
    if field is not None and field_of_file != field:
        raise ConversionError(f"{place} is over {field_of_file}, and {field} was asked for")


def _ring_of_table(table: dict[str, Any], field: CoefficientField | None) -> PolynomialRing:
    """The ring that the table ``[ideal]`` of a file names, over ``field``, or QQ, where it names
    none.
    """
    name_of_field = line_of_text(table, "ideal", "field")  # empty if the file has none
    names = tuple(map(variable_name, strings(table["variables"], "[ideal] variables")))
    if not 0 < len(names) <= MAX_RING_VARIABLES:
        counts = f"{len(names)}; there must be one at least, and at most {MAX_RING_VARIABLES}"
        raise ConversionError(f"[ideal] variables: {counts}")
    field_of_file = named_field(name_of_field) if name_of_field else None
    if field_of_file is not None:
        _check_field_of_file(field_of_file, field, place="[ideal] field: the ideal")
    return _ring_of(field_of_file or field or QQ, names)


def _generator_from_text(text: str, place: str, ring: PolynomialRing) -> PolyElement:
    """The element of a ring that the text of a polynomial or equation in a file, at ``place``,
    stands for; over GF(p) it is read over QQ, so that it may have fractions, and reduced.
    """
    if isinstance(ring.field, ExtensionField):
        try:
            return parsing.element(ring, text)
        except ConversionError as reason:
            raise ConversionError(f"{place}: {reason}") from None
    rational = polynomial(text, place, PolynomialRing(QQ, ring.variables), equation=True)
    return parsing.element(ring, rational)
