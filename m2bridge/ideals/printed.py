"""What other programs print or keep as a whole: lists with names, files, sessions, JSON.

Such a text has more than polynomials: the names of a list's entries, the variables, a prompt. Its
polynomials are taken out where the form is certain; a session or a program is refused by its name,
since its lines could be read as polynomials or equations of another ideal, and so is a text with
two readings. A single equation, such as ``p = x^2 - y``, stays an equation. ``None`` means that a
text has another form, or does not name its variables or its field. No text is ever run.
"""

import re
from typing import Any, NamedTuple, NoReturn

from m2bridge.convert.bounded_io import read_json
from m2bridge.convert.polynomial_parser import names_in
from m2bridge.errors import ConversionError


class PrintedIdeal(NamedTuple):
    """The generators of a printed ideal, and its ring."""

    generators: tuple[str, ...] | str  # texts, or one text of a list
    variables: tuple[str, ...] | None = None
    field: str | None = None  # the name of a field
    short_power: str = ""  # a name such as x2 that is x^2 if Singular printed its short form


_ENTRY = re.compile(
    r"\s*(?P<name>[^\W\d]\w*)\[(?P<number>[0-9]+)\]=(?![= ])(?P<polynomial>.*\S)\s*"
)
"""A line of a list that Singular prints: ``h[1]=x2-y``, without blanks before the polynomial."""
_MSOLVE = re.compile(
    r"\s*(?P<names>\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]*\n"
    r"[ \t]*(?P<characteristic>[0-9]+)[ \t]*\n"
    r"(?P<body>.*)",
    re.DOTALL,
)
"""A file of msolve: the variables, the characteristic, the polynomials."""
_MAGMA = re.compile(
    r"\s*Ideal of (?:Graded )?Polynomial ring of rank [0-9]+ over (?P<field>[^\n]+)\n"
)
"""The first line of an ideal as Magma prints it; the variables and a basis follow."""
_NAMED = re.compile(
    r"""
    (?: (?P<output>o[0-9]+)\s*+=\s*+ | [^\W\d]\w*+\s*+:?=\s*+ )?
    (?P<ideal> (?:monomialIdeal|ideal) (?=\s*[({]) .*? [)}] )
    \s*+;?+ (?: (?P=output)\s*+:\s*+(?:Monomial)?Ideal\ of\ [^\n]++ )?
    | ideal \s++ [^\W\d]\w*+ \s*+ = (?P<singular>.*?) ;?
    """,
    re.DOTALL | re.VERBOSE,
)
"""An ideal with a name: ``I = ideal(x, y)``, ``o3 = ideal(x, y)``, Singular's ``ideal i = x, y;``.
"""
_OWN_PROGRAM = re.compile(
    r"\s*R = (?P<field>[^\n]+?)\[(?P<names>[^\n\[\]]*)\]\n\s*I = (?P<ideal>ideal.*)", re.DOTALL
)
"""The program for Macaulay2 that m2bridge writes for an ideal."""
_SESSIONS = (
    ("a session of Macaulay2", re.compile(r"(?m)^[^\S\n]*(?:i[0-9]+ :|o[0-9]+ [:=])(?:\s|$)")),
    ("a session of Sage", re.compile(r"(?m)^[^\S\n]*(?:sage:|\.\.\.\.:)")),
    ("a session of Python", re.compile(r"(?m)^[^\S\n]*(?:>>>|In \[[0-9]+\]:)")),
    ("a session of Julia", re.compile(r"(?m)^[^\S\n]*julia>")),
    ("a session of Singular or Magma", re.compile(r"(?m)^[^\S\n]*> ")),
    ("a program for Singular", re.compile(r"(?m)^[^\S\n]*ring[ \t]+\w+[ \t]*=")),
    (
        "a program for Macaulay2 or Sage",
        re.compile(
            r"(?m)^[^\S\n]*\w+(?:\.<[^>\n]*>)?[ \t]*:?=[ \t]*"
            r"(?:QQ|ZZ|GF|PolynomialRing|kk|toField)\b.*[\[(]"
        ),
    ),
    ("a program for Magma", re.compile(r"(?m)^[^\S\n]*\w+(?:<[^>\n]*>)?[ \t]*:=")),
    ("Sage's summary of a sequence", re.compile(r"\s*Polynomial Sequence with ")),
    (
        "Macaulay2's form with exponents on lines of their own (take its toString)",
        re.compile(r"(?m)\A[^\S\n]*\n*(?:[^\S\n]+[0-9]+)+[^\S\n]*\n(?=.*\S)"),
    ),
)
"""What is refused, by its name; a pattern is searched in the whole text."""


def printed_ideal(text: str) -> PrintedIdeal | None:
    """The polynomials and the ring of a text in one of the forms here, without its comments.

    >>> printed_ideal("h[1]=x^2-y\\nh[2]=x*y").generators
    ('x^2-y', 'x*y')
    >>> printed_ideal("x, y\\n7\\nx^2-y,\\nx*y").field
    'GF(7)'
    """
    if re.match(r"\s*(?:\{\s*\"|\[\s*[{\"])", text):
        return _ideal_in_json(text)
    program = _OWN_PROGRAM.fullmatch(text)
    if program:
        names = re.findall(r"[^,(\s]+(?:\([^)]*\))?", program["names"])
        variables = tuple(names_in(name)[0] for name in names)
        return PrintedIdeal(program["ideal"], variables, field=program["field"].strip())
    magma = _MAGMA.match(text)
    if magma:
        return _ideal_of_magma(magma["field"].strip(), text[magma.end() :])
    msolve = _MSOLVE.fullmatch(text)
    if msolve:
        return _ideal_of_msolve(msolve)
    named = _NAMED.fullmatch(text.strip())
    if named:
        return PrintedIdeal(named["ideal"] or f"[{named['singular']}]")
    for name, pattern in _SESSIONS:
        if pattern.search(text):
            raise ConversionError(
                f"this looks like {name}, which is not read: give the polynomials alone, with"
                " commas between them, and an equation as a difference"
            )
    return _list_of_singular(text)


def _names(text: str) -> tuple[str, ...]:
    """The names in a text with commas between them."""
    return tuple(name.strip() for name in text.split(","))


def _ideal_of_magma(field: str, text: str) -> PrintedIdeal:
    """The ideal that Magma printed, from its field and the text after the first line."""
    heading, _, basis = text.replace("basis:", "Basis:").partition("Basis:")
    names = re.search(r"(?m)^Variables: (.+)$", heading)
    if names is None or not basis.strip():
        raise ConversionError("this looks like an ideal of Magma without its variables or basis")
    field = re.sub(r"(?i)finite field of size ([0-9]+)", r"GF(\1)", field)
    field = field.replace("Rational Field", "QQ")
    return PrintedIdeal(basis.strip(), _names(names[1]), field=field)


def _ideal_of_msolve(match: re.Match[str]) -> PrintedIdeal | None:
    """The ideal in a file of msolve, unless a name is a number, so that the text is a list; refused
    if it has one variable, which could be a polynomial.
    """
    names = _names(match["names"])
    if any(name[0].isdigit() for name in names):
        return None
    if len(names) == 1:
        raise ConversionError(
            f"'{names[0]:.60}' and '{match['characteristic']:.40}' on the first lines could be the"
            " ring of a file of msolve, or polynomials: write a comma after each polynomial"
        )
    characteristic = match["characteristic"]
    is_rational = not characteristic.strip("0")
    field = "QQ" if is_rational else f"GF({characteristic})"
    return PrintedIdeal(f"[{match['body'].strip().rstrip(':;')}]", names, field=field)


def _list_of_singular(text: str) -> PrintedIdeal | None:
    """The polynomials of a list ``h[1]=…``, ``h[2]=…``, where other lines continue the line before.
    The name of a list does not occur in its entries: ``x[1]=x[2]^2`` and ``x[2]=x[3]^2`` are
    equations.
    """
    names: list[str] = []
    numbers: list[int] = []
    lines_of_entries: list[list[str]] = []
    for line in text.splitlines():
        entry = _ENTRY.fullmatch(line)
        if entry:
            names.append(entry["name"])
            numbers.append(int(entry["number"][:9]))
            lines_of_entries.append([entry["polynomial"]])
        elif line.strip():
            if not names:
                return None
            lines_of_entries[-1].append(line.strip())
    if not names:
        return None
    polynomials = [" ".join(lines) for lines in lines_of_entries]
    # a list of one entry is a single equation, unless its name cannot be a variable
    is_list = len(set(names)) == 1 and (len(names) > 1 or names[0] == "_")
    if not is_list or any(re.search(rf"\b{names[0]}\[", f) for f in polynomials):
        return None
    first = numbers[0]
    if numbers != list(range(first, first + len(numbers))):
        return None
    if first != 1:
        raise ConversionError(
            f"'{names[0]:.60}[{first}]=' could begin the rest of a list that Singular printed, or"
            " an equation: write the polynomials alone, or blanks around ="
        )
    # Singular's short form has neither * nor ^, and is there where variables have one letter.
    short_power = None
    if not re.search(r"[*^]", "".join(polynomials)):
        short_power = re.search(r"\b[^\W\d_](?!1\b)[1-9][0-9]*\b", " ".join(polynomials))
    return PrintedIdeal(
        tuple(polynomial.rstrip(",") for polynomial in polynomials),
        short_power=short_power[0] if short_power else "",
    )


def _ideal_in_json(text: str) -> PrintedIdeal:
    """The ideal in JSON by m2bridge, or a list of texts; other JSON is refused by its name."""
    try:
        data: Any = read_json(text)
    except ConversionError as reason:
        raise ConversionError(f"this has the beginning of JSON: {reason}") from None
    if isinstance(data, list) and all(isinstance(entry, str) for entry in data):
        return PrintedIdeal(tuple(data))
    check_json_of_ideal(data)
    return PrintedIdeal(
        tuple(data["generators"]), variables=tuple(data["coordinates"]), field=data["field"]
    )


def check_json_of_ideal(data: object) -> None:
    """Raise ConversionError, with the name of what it is, unless JSON holds one ideal; JSON of a
    singular locus has two, the given one and the ideal of the locus.
    """
    if not isinstance(data, dict):
        _refuse_json("a list of results")
    if "_ns" in data:
        _refuse_json("a file .mrdi: give its name, or in Python its content to read_mrdi")
    if {"method", "ideal", "value"} <= data.keys():
        _refuse_json("what 'm2bridge ideal … --json' printed: give its part 'ideal', or 'value'")
    if not {"field", "coordinates", "generators"} <= data.keys():
        _refuse_json("no ideal: it needs field, coordinates and generators")
    if "given" in data:
        _refuse_json(
            "what 'm2bridge singular-locus … --json' printed: give field and coordinates, and as"
            " generators 'given', or 'generators' for the locus"
        )
    for key in ("coordinates", "generators"):
        entries = data[key]
        if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
            _refuse_json(f"no ideal: {key} is not a list of texts")
    if not isinstance(data["field"], str):
        _refuse_json("no ideal: field is not text")


def _refuse_json(kind: str) -> NoReturn:
    """Raise ConversionError for JSON that is not an ideal, but of another kind."""
    raise ConversionError(f"this JSON is {kind}")
