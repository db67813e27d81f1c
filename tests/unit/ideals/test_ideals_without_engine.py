"""Ideals without an engine: how people write them, sums and products, equality by FLINT, forms for
other programs.
"""

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import flint
import pytest
import sympy
from hypothesis import given, strategies as st
from sympy import GF as SympyGF, ZZ, Poly, Symbol, ring, symbols

from m2bridge import (
    CoefficientField,
    Ideal,
    Macaulay2,
    PolynomialMap,
    from_sage,
    ideal,
    read_ideal,
    read_mrdi,
    read_sage_text,
)
from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, check_one_ring
from m2bridge.convert.parsing import element
from m2bridge.convert.toml_files import read_map
from m2bridge.errors import ConversionError, InvalidCaseError, TooLargeError
from m2bridge.ideals.construct import read_ideal_file
from m2bridge.ideals.program import small_basis, tidy

x, y, z = symbols("x y z")
SEVEN = CoefficientField(7)
RING = PolynomialRing(QQ, ("x", "y", "z"))


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here starts Macaulay2."""
    monkeypatch.delattr("m2bridge.engine.session.Conversation.start")
    monkeypatch.delattr("m2bridge.engine.session.Session.run")


def same(first: Ideal, second: Ideal) -> bool:
    """The same generators, not only the same ideal."""
    return first.ring == second.ring and first.generators == second.generators


WRITTEN: list[Any] = [
    x**2 - sympy.Rational(2, 3) * y * z,
    "x^2 - 2/3*y*z",
    "(x)**2 - y*2*z/3",
    Poly(x**2 - sympy.Rational(2, 3) * y * z, x, y, z),
    Poly(x**2 - sympy.Rational(2, 3) * y * z, z, x, y).as_expr(),
    Symbol("x", positive=True) ** 2 - sympy.Rational(2, 3) * y * Symbol("z", real=True),
    RING.polynomial(x**2 - sympy.Rational(2, 3) * y * z),
    ideal("x^2 - 2/3*y*z").to_flint()[0],
    [["x^2 - 2/3*y*z"]],
]


@pytest.mark.parametrize("written", WRITTEN, ids=repr)
def test_polynomials_as_people_have_them(written: Any) -> None:
    assert same(
        ideal(written), Ideal(RING, (RING.polynomial(x**2 - sympy.Rational(2, 3) * y * z),))
    )


def test_entries_of_indexed_objects_and_matrices_are_variables() -> None:
    a, m = sympy.IndexedBase("a"), sympy.MatrixSymbol("m", 2, 2)
    cone = ideal("a_1^2 - a_2*a_3")
    for written in (a[1] ** 2 - a[2] * a[3], Poly(a[1] ** 2 - a[2] * a[3])):
        assert ideal(written).ring.variables == ("a_1", "a_2", "a_3")
        assert same(ideal(written), cone)
    assert same(ideal(a[1, 2] - x), ideal("a[1, 2] - x"))
    by_entries = ideal(m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0])
    assert same(by_entries, ideal("m_0_0*m_1_1 - m_0_1*m_1_0"))
    assert same(ideal(m.as_explicit().det()), by_entries)
    assert ideal(a[1] + a[2], variables=[a[2], a[1]]).ring.variables == ("a_2", "a_1")
    segre = PolynomialMap.from_expressions([a[1], a[2]], {"s": a[1] * a[2], "t": a[1] + 1})
    assert segre == PolynomialMap.from_expressions(["a_1", "a_2"], {
        "s": Symbol("a_1") * Symbol("a_2"), "t": Symbol("a_1") + 1})  # fmt: skip


def test_other_parts_of_indexed_objects_and_matrices_are_refused() -> None:
    a, m = sympy.IndexedBase("a"), sympy.MatrixSymbol("m", 2, 2)
    index = sympy.Symbol("i", integer=True)
    refused = [
        (a[index], "'a[i]' is not a variable, because i is not an integer"),
        (a[-1], "'a[-1]' is not a variable"),
        (a[1] + Symbol("a_1"), "different symbols with one name"),
        (sympy.det(m), "contains m as a whole"),
        (m * m, "contains m**2 as a whole"),
        (m[0, 0] + sympy.Trace(m), "contains m as a whole"),
    ]
    for written, words in refused:
        with pytest.raises(ConversionError, match=re.escape(words)):
            ideal(written)


def test_polynomials_over_different_fields_are_refused() -> None:
    """Integers have a residue modulo each prime; residues have no integer, nor others."""
    five, seven = Poly(x + 4, x, y, modulus=5), Poly(x**2 + 3, x, y, modulus=7)
    u = flint.nmod_mpoly_ctx.get(("x", "y"), modulus=7).gens()[0]
    rational = Poly(x + sympy.Rational(1, 3), x, y)
    for pair in ((five, seven), (rational, seven), (seven, rational), (u, five)):
        with pytest.raises(ConversionError, match="polynomials over different fields"):
            ideal(*pair)
    with pytest.raises(ConversionError, match="different fields"):
        ideal("Poly(x, x, modulus=7)", five)
    assert ideal(rational, field=SEVEN).ring.field == SEVEN
    assert same(ideal("x + y", five), ideal("x + y", "x - 1", field=CoefficientField(5)))
    for field in (QQ, SEVEN):
        with pytest.raises(ConversionError, match=r"over GF\(5\) is not one over"):
            ideal(five, field=field)
    with pytest.raises(ConversionError, match=r"over GF\(5\) is not one over QQ"):
        ideal("x", "y").contains(five)
    # 7*y + x is x modulo 7, and an equation is the difference of its sides
    multiples_of_x = ideal("x", variables="x, y", field=SEVEN)
    assert multiples_of_x.contains(Poly(7 * y + x, x, y))
    assert multiples_of_x.contains(sympy.Eq(x, 7 * y))
    with pytest.raises(ConversionError, match=r"name QQ\(a\) as the field"):
        ideal(Poly(x**2 + 1, x, domain=sympy.QQ["a"]))
    roots = [Poly(x**2 + 1, x, extension=sympy.sqrt(n)) for n in (2, 3)]
    with pytest.raises(ConversionError, match="polynomials over different fields"):
        ideal(*roots)


def test_order_of_variables_left_out() -> None:
    assert ideal("x_10 + x_2 + b").ring.variables == ("b", "x_2", "x_10")
    assert ideal(Poly(x + y, y, x)).ring.variables == ("y", "x")
    assert ideal("x + y", variables="y, x").ring.variables == ("y", "x")
    assert ideal(
        flint.fmpz_mpoly_ctx.get(("u", "v"), flint.Ordering.lex).gens()
    ).ring.variables == ("u", "v")


def test_fields_of_what_is_given() -> None:
    assert ideal(Poly(x, x, domain=SympyGF(7))).ring.field == SEVEN
    assert ideal(Poly(x, x, domain=ZZ)).ring.field == QQ
    assert ideal(flint.nmod_mpoly_ctx.get(("u",), modulus=7).gens()).ring.field == SEVEN
    assert ideal("x", field=SEVEN).ring.field == SEVEN


def test_a_residue_stands_for_the_integer_nearest_to_zero() -> None:
    """As SymPy and Macaulay2 print it, where a polynomial over GF(7) is read over another field."""
    names = ("u", "v")
    _, u, v = ring(names, SympyGF(7))
    contexts = (
        flint.nmod_mpoly_ctx.get(names, modulus=7),
        flint.fmpz_mod_mpoly_ctx.get(names, modulus=7),
    )
    givens = [3 * v - u, *(3 * V - U for U, V in (context.gens() for context in contexts))]
    for one in givens:
        assert str(element(PolynomialRing(QQ, names), one)) == "-u + 3*v"
        assert str(element(PolynomialRing(CoefficientField(5), names), one)) == "-u - 2*v"


def test_other_rings_and_fields_are_converted_term_by_term() -> None:
    half = RING.polynomial(x / 2 + y)
    assert str(ideal(half, variables="y x", field=SEVEN)) == "ideal(y - 3*x) of GF(7)[y, x]"
    assert (
        ideal("x^6 - 1", variables="x", field=SEVEN).generators[0]
        == ideal(x**6 - 1, field=SEVEN).generators[0]
    )
    assert not ideal("7*x", field=SEVEN).generators


REFUSED: list[tuple[Any, str]] = [
    (0.5 * x, "not exact"),
    (1 / x, "not a polynomial"),
    (sympy.sqrt(2) * x, "not a polynomial"),
    ("x.y", "column 2"),
    ("__import__('os')", "column"),
    (True, "bool"),
    (None, "NoneType"),
    (x / 7, "no meaning over GF(7)"),
    ("x/7", "no meaning over GF(7)"),
    ("w", "unknown name"),
    (RING.polynomial(z), "not a variable"),
    (Symbol("x", positive=True) + Symbol("x"), "one name"),
    (flint.fmpq(1, 2), "fmpq"),
    (Poly(x * sympy.Symbol("a"), x), "coefficients in ZZ[a]"),
]


@pytest.mark.parametrize(("written", "words"), REFUSED, ids=repr)
def test_what_is_no_polynomial_is_refused(written: Any, words: str) -> None:
    with pytest.raises(ConversionError, match=re.escape(words)):
        ideal(written, variables="x y", field=SEVEN)


def test_numbers_alone_have_no_ring() -> None:
    with pytest.raises(ConversionError, match="variables"):
        ideal(1, 0)
    assert same(ideal(variables="x"), Ideal(PolynomialRing(QQ, ("x",)), ()))


def test_sums_products_powers() -> None:
    first, second = ideal("x", "y"), ideal("x", "x - y")
    assert (first + second).generators == ideal("x", "y", "x - y").generators
    assert (first * second).generators == ideal("x^2", "x^2 - x*y", "x*y", "x*y - y^2").generators
    assert (first**3).generators == ideal("x^3", "x^2*y", "x*y^2", "y^3").generators
    assert (first**0).generators == ideal(1, variables="x y").generators
    zero = ideal(variables="x y")
    assert not (zero**2).generators
    assert (zero**0).generators == (zero.ring.sympy_ring.one,)
    assert not (zero * first).generators


def test_ideals_of_different_rings_are_not_combined() -> None:
    first, second = ideal("x", variables="x y"), ideal("x", variables="y x")
    assert first != second
    assert first != ideal("y", variables="y x")  # the same exponents
    for combined in (
        lambda: first + second,
        lambda: first * second,
        lambda: first.contains(second),
    ):
        with pytest.raises(ConversionError, match="different rings"):
            combined()
    for values in ("x", first), (first, "x"):
        with pytest.raises(ConversionError, match="is not an ideal"):
            check_one_ring(*values)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        first + 1  # type: ignore[operator]
    with pytest.raises(TypeError):
        first**-1
    with pytest.raises(TooLargeError, match="products"):
        ideal([f"x_{i}" for i in range(100)]) ** 4


def test_equality_is_that_of_ideals() -> None:
    circle = ideal("x^2 + y^2 - 1")
    assert circle == ideal("2 - 2*x^2 - 2*y^2")
    assert ideal("x + y", "x - y") == ideal("x", "y")
    assert ideal("x^2 + y", "x*y - 1") == ideal("x*y - 1", "x^2 + y", "y^2 + x")
    assert ideal("x^2", variables="x y") != ideal("x", variables="x y")
    assert ideal(1, variables="x y") == ideal("x", "x + 1", variables="x y")
    assert circle != "x"
    assert len({ideal("x + y", "x - y"), ideal("x", "y"), ideal("x", "y", field=SEVEN)}) == 2


coefficients = st.integers(-3, 3).filter(bool)
monomials = st.tuples(*[st.integers(0, 2)] * 3)
polynomials = st.dictionaries(monomials, coefficients, min_size=1, max_size=3)
ideals = st.lists(polynomials, min_size=1, max_size=3).map(
    lambda listed: Ideal(
        RING,
        tuple(RING.sympy_ring.from_dict({m: QQ.domain(c) for m, c in f.items()}) for f in listed),
    )
)


@given(ideals)
def test_bases_by_flint_are_those_of_sympy(given_ideal: Ideal) -> None:
    """Both are the reduced Gröbner basis, up to factors."""
    found = small_basis(given_ideal)
    if found is None:  # too large for the limits
        return
    expected = sympy.groebner(
        [g.as_expr() for g in given_ideal.generators], x, y, z, order="grevlex"
    )
    primitive = {tuple(sorted(Poly(g, x, y, z).primitive()[1].terms())) for g in expected.exprs}
    assert {tuple(sorted(terms)) for terms in found} == primitive


@given(ideals, st.permutations(range(3)), polynomials)
def test_other_generators_of_the_same_ideal(
    given_ideal: Ideal, order: list[int], factor: dict[Any, int]
) -> None:
    multiplier = RING.sympy_ring.from_dict({m: QQ.domain(c) for m, c in factor.items()})
    generators = [given_ideal.generators[i] for i in order if i < len(given_ideal.generators)]
    more = [generators[0] * multiplier + g * 2 for g in generators[1:]]
    other = Ideal(RING, (generators[0] * -3, *more))
    if small_basis(given_ideal) is not None and small_basis(other) is not None:
        assert other == given_ideal
        assert hash(other) == hash(given_ideal)
        as_given = GeneratingSet(RING, other.generators)
        assert as_given == given_ideal
        assert hash(as_given) == hash(given_ideal)
        assert all(g in given_ideal for g in other.generators)


names = st.sampled_from(["x", "y", "c_1_2", "c_1", "c", "alpha", "N", "e", "i", "ω", "x_10"])


@st.composite
def any_ideals(draw: Callable[..., Any]) -> Ideal:
    """Over QQ or a prime field, with all sorts of names; the zero and unit ideal, too."""
    field = draw(st.sampled_from([QQ, SEVEN, CoefficientField(2), CoefficientField(2**31 - 1)]))
    variables = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    ring = PolynomialRing(field, tuple(variables))
    number = st.integers(-(10**30), 10**30)
    denominator = st.integers(1, 10**6).filter(
        lambda n: not field.characteristic or n % field.characteristic
    )
    exponents = st.tuples(*[st.integers(0, 40)] * len(variables))
    domain = ring.sympy_ring.domain
    terms = st.dictionaries(exponents, st.tuples(number, denominator), max_size=4)
    listed = draw(st.lists(terms, max_size=3))
    found = [{m: domain(n) / domain(d) for m, (n, d) in f.items()} for f in listed]
    return Ideal(
        ring,
        tuple(
            filter(
                None, (ring.sympy_ring.from_dict({m: c for m, c in f.items() if c}) for f in found)
            )
        ),
    )


@given(any_ideals())
def test_every_form_reads_back_to_the_same_ideal(given_ideal: Ideal) -> None:
    assert same(ideal(given_ideal.to_sympy()), given_ideal)
    assert same(read_sage_text(given_ideal.to_sage_text()), given_ideal)
    assert same(read_mrdi(json.loads(json.dumps(given_ideal.to_mrdi("Oscar")))), given_ideal)
    assert same(read_ideal(given_ideal.to_json()), given_ideal)
    if given_ideal.ring.field == QQ:
        assert same(read_mrdi(json.loads(json.dumps(given_ideal.to_mrdi()))), given_ideal)
    if all(name.isascii() for name in given_ideal.ring.variables):
        assert same(ideal(given_ideal.to_flint()), given_ideal)


def test_sage_itself_reads_the_text_and_has_the_same_objects() -> None:
    """The parts of Sage that come with the wheels of Macaulay2 and 4ti2, or
    passagemath-singular.
    """
    pytest.importorskip(
        "sage.rings.finite_rings.finite_field_constructor", reason="Sage is not here"
    )
    pytest.importorskip(
        "sage.rings.polynomial.polynomial_ring_constructor", reason="Sage is not here"
    )
    seven = ideal("x^2 - 2/3*y", "x*y", field=SEVEN)
    for given_ideal in (
        ideal("x^2 - 2/3*c_1_2 + 1", "c_1_2*y^3 - 5"),
        seven,
        ideal(0, variables="x"),
        ideal("x^3"),
        ideal("6*x^2 - 4*y", "2*x", field="ZZ"),
        ideal("2*x", "x^2", field="ZZ"),
    ):
        scope: dict[str, Any] = {}
        exec(given_ideal.to_sage_text(), scope)  # what the user of Sage does
        sage = given_ideal.to_sage()
        assert scope["I"] == sage
        assert tuple(map(str, scope["R"].gens())) == given_ideal.ring.variables
        values = {name: 3 + place for place, name in enumerate(given_ideal.ring.variables)}
        # by values, which no converter here gives
        for f, g in zip(sage.gens(), given_ideal.to_sympy(), strict=True):
            number, expected = Fraction(str(f(*values.values()))), Fraction(str(g.eval(values)))
            p = given_ideal.ring.field.characteristic
            assert (number - expected) % p == 0 if p else number == expected
        assert same(from_sage(sage), given_ideal)
        assert same(from_sage(list(sage.gens())), given_ideal)
        assert same(ideal(str(sage)), given_ideal)


OVER_EXTENSIONS = (
    ideal("x^2 - sqrt2/3*y", "(1 + sqrt2)*x*y", field="QQ(sqrt(2))"),
    ideal("x^2 - (b + 1)*y^2", "y^3 - b", field="QQ[b]/(b^3 - b/2 + 2/3)"),
    ideal("x^2 - a*y", "x - (a + 1)", field="GF(9, a)"),
    ideal("a/(a + 1)*x^2 - y", field="QQ(a)"),
    ideal("a/(a - 2b)*x^2 - b*y", field="QQ(a, b)"),
    ideal(0, variables="x", field="GF(4)"),
)


@pytest.mark.parametrize("given_ideal", OVER_EXTENSIONS, ids=str)
def test_programs_for_sage_over_extension_fields(given_ideal: Ideal) -> None:
    """They are read back by the name of the field beside its code, which has to be its code."""
    program = given_ideal.to_sage_text()
    assert same(read_sage_text(program), given_ideal)
    field_line = next(line for line in program.splitlines() if line.startswith("K = "))
    for changed_line in (
        "K = QQ  # QQ(c)",
        field_line.replace("K = ", "K = QQ or "),
        "K = QQ  # QQ",
    ):
        with pytest.raises(ConversionError, match="its field is not"):
            read_sage_text(program.replace(field_line, changed_line))


def test_the_field_of_a_program_for_sage() -> None:
    lines = OVER_EXTENSIONS[0].to_sage_text().splitlines()
    field_line = next(line for line in lines if line.startswith("K = "))
    minimal_polynomial = 'PolynomialRing(QQ, "z")([QQ("-2"), QQ("0"), QQ("1")])'
    assert field_line.startswith(f'K = NumberField({minimal_polynomial}, "sqrt2")  #')
    assert 'R = PolynomialRing(K, 2, names=["x", "y"], order="degrevlex")' in lines


@pytest.mark.parametrize("given_ideal", OVER_EXTENSIONS, ids=str)
def test_sage_has_the_same_ideals_over_extension_fields(given_ideal: Ideal) -> None:
    """The program, run by Sage, and the object agree; each comes back as the same ideal."""
    pytest.importorskip("sage.rings.number_field.number_field", reason="Sage is not here")
    scope: dict[str, Any] = {}
    exec(given_ideal.to_sage_text(), scope)
    in_sage = given_ideal.to_sage()
    assert scope["I"] == in_sage
    assert same(from_sage(in_sage), given_ideal)
    root = scope["K"].gen(0)
    assert isinstance(given_ideal.ring.field, ExtensionField)
    # the generator is a root of the minimal polynomial
    number = int if given_ideal.ring.field.characteristic else scope["QQ"]
    relation = enumerate(given_ideal.ring.field.minimal_polynomial)
    assert sum(number(str(c)) * root**exponent for exponent, c in relation) == 0


def test_what_is_not_of_sage_is_refused() -> None:
    for other in (5, "x", [], ideal("x")):
        with pytest.raises(ConversionError, match="Sage"):
            from_sage(other)
    with pytest.raises(ConversionError, match="lambda"):
        ideal("lambda^2").to_sage()


OSCAR = {
    "_ns": {"Oscar": ["https://github.com/oscar-system/Oscar.jl", "1.4.0"]},
    "_type": {"name": "MPolyIdeal", "params": "31f400f8-14ab-42a8-a2df-69ba76a07ea1"},
    "data": [[[["1", "1"], "100"], [["0", "2"], "5"]]],
    "_refs": {
        "31f400f8-14ab-42a8-a2df-69ba76a07ea1": {
            "_type": {
                "name": "MPolyRing",
                "params": {"_type": {"name": "FiniteField", "_instance": "fpField"}, "data": "101"},
            },
            "data": {"symbols": ["x", "y"]},
        }
    },
}
"""As Oscar writes it."""


def test_a_file_as_oscar_writes_it() -> None:
    assert str(read_mrdi(OSCAR)) == "ideal(-x*y + 5*y**2) of GF(101)[x, y]"
    assert read_mrdi(OSCAR).to_mrdi("Oscar")["data"] == OSCAR["data"]


NO_VARIABLES = (
    "",
    "2",
    "x-y",
    "x y",
    "x^2",
    "f(x)",
    "<script>",
    "\x1b[1m",
    "x\n",
    "x\u202e",
    "[1]",
)
"""In a polynomial they would be something else than a variable, or change what is around them."""
VARIABLES = ("x[1]", "x[1, 2]", "x'", "x_(1,a)", "x_-1", "λ", r"\lambda_{1}", "_x")
"""What Oscar, Macaulay2 and SymPy call variables."""


def oscar(*names: object) -> dict[str, Any]:
    """Oscar's file with other variables, two of them."""
    (place,) = OSCAR["_refs"]
    ring = {**OSCAR["_refs"][place], "data": {"symbols": list(names)}}
    return {**OSCAR, "_refs": {place: ring}}


def readers(name: str) -> list[Callable[[], Ideal]]:
    """What reads variables that other programs have named."""
    x, y = map(Symbol, (name, "y"))
    in_flint = name if name.isascii() else "x"  # FLINT takes no other letters
    context = flint.fmpq_mpoly_ctx.get((in_flint, "y"), flint.Ordering.degrevlex)
    return [
        lambda: read_mrdi(oscar(name, "y")),
        lambda: ideal(x**2 - y),
        lambda: ideal("0", variables=[x, y]),
        lambda: ideal(Poly(x**2 - y, x, y)),
        lambda: ideal(sympy.ring([x, y], sympy.QQ)[1] ** 2),
        *[lambda: ideal(context.gens()[0])] * name.isascii(),
        lambda: from_sage([OfSage((name, "y"))]),
        lambda: PolynomialMap.from_expressions([x], {"z": x**2}),
        lambda: PolynomialMap.from_terms([name], {"z": {(2,): 1}}),
        lambda: PolynomialMap.from_terms(["t"], {name: {(2,): 1}}),
    ]


class OfSage:
    """A polynomial of Sage, and its ring: as much of them as is read."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def parent(self) -> Self:
        return self

    base_ring = parent

    def is_field(self) -> bool:
        return True

    is_prime_field = is_exact = is_field

    def characteristic(self) -> int:
        return 7

    def variable_names(self) -> tuple[str, ...]:
        return self._names

    def dict(self) -> dict[tuple[int, int], int]:
        return {(2, 0): 1}


@pytest.mark.parametrize("name", NO_VARIABLES)
def test_what_names_no_variable_is_refused(name: str) -> None:
    for read in readers(name):
        with pytest.raises(ConversionError, match="is not the name of a variable") as refused:
            read()
        assert str(refused.value).isprintable()
    spelled = "mbp" + "".join(f"Z{ord(letter):x}Z" for letter in name)
    macaulay2 = ideal("x - y").to_mrdi()
    (place,) = macaulay2["_refs"]
    macaulay2["_refs"][place]["data"]["variables"][0] = spelled
    with pytest.raises(ConversionError, match="is not the name of a variable"):
        read_mrdi(macaulay2)
    for text in (
        f"[ideal]\nvariables = [{json.dumps(name)}]\ngenerators = []\n",
        f"[map]\nparameters = [{json.dumps(name)}]\n[coordinates]\nz = '1'\n",
        f"[map]\nparameters = ['t']\n[coordinates]\n{json.dumps(name)} = 't'\n",
    ):
        with pytest.raises(ConversionError, match="is not a name"):
            read_ideal_file(text) if "[ideal]" in text else read_map(text)
    with pytest.raises(ConversionError, match="is not the name of a coordinate"):
        read_ideal({"field": "QQ", "coordinates": [name], "generators": []})
    with pytest.raises(ConversionError, match="is not a name"):
        read_sage_text(ideal("x").to_sage_text().replace('"x"]', f"{json.dumps(name)}]"))


@pytest.mark.parametrize("name", VARIABLES)
def test_what_other_programs_call_a_variable_is_read(name: str) -> None:
    for read in readers(name):
        read()
    given = read_mrdi(oscar(name, "y"))
    assert given.ring.variables == (name, "y")
    assert read_mrdi(given.to_mrdi("Oscar")) == given


@pytest.mark.parametrize("names", [[2, "y"], [None, "y"], [["x"], "y"]], ids=str)
def test_names_of_variables_are_texts(names: list[object]) -> None:
    with pytest.raises(ConversionError, match="list of texts"):
        read_mrdi(oscar(*names))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"_ns": {"Elsewhere": []}}, "Elsewhere"),
        (
            {"_type": {"name": "MPolyRingElem", "params": "31f400f8-14ab-42a8-a2df-69ba76a07ea1"}},
            "not an ideal",
        ),
        ({"_refs": {}}, "31f400f8"),
        ({"data": [[[["1"], "1"]]]}, "not a term"),
        ({"data": [[[["-1", "0"], "1"]]]}, "not a term"),
        ({"data": [[[["1", "0"], "1//101"]]]}, r"has no meaning over GF\(101\)"),
        ({"data": [[[["1", "0"], "1"], [["1", "0"], "2"]]]}, "not a term"),
        ({"data": [[["1", "0"]]]}, "mrdi"),
        ({"data": 3}, "mrdi"),
    ],
    ids=repr,
)
def test_other_files_are_refused_in_one_line(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ConversionError, match=words) as refused:
        read_mrdi({**OSCAR, **change})
    assert "\n" not in str(refused.value)


def test_files_in_the_interchange_format(tmp_path: Path) -> None:
    path = tmp_path / "ideal.mrdi"
    ideal("x^2 - y").write_mrdi(path)
    assert same(read_mrdi(path), ideal("x^2 - y"))
    path.write_text("{")
    with pytest.raises(ConversionError, match="not JSON"):
        read_mrdi(path)
    with pytest.raises(ConversionError, match="namespace"):
        ideal("x").to_mrdi("Singular")
    with pytest.raises(ConversionError, match="Oscar"):
        ideal("x", field=SEVEN).to_mrdi()


FILE = '[ideal]\nvariables = ["x", "y"]\ngenerators = ["x^2 - 1/2*y"]\n'


def test_an_ideal_in_a_file() -> None:
    assert same(read_ideal_file(FILE)[0], ideal("x^2 - 1/2*y"))
    assert same(read_ideal_file(FILE, field=SEVEN)[0], ideal("x^2 - 1/2*y", field=SEVEN))
    found, title = read_ideal_file(FILE + 'field = "GF(7)"\ntitle = "a parabola"\n')
    assert same(found, ideal("x^2 - 1/2*y", field=SEVEN))
    assert title == "a parabola"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", r"the table \[ideal\] is missing"),
        ("ideal = 3", "must be a table"),
        ('[ideal]\nvariables = ["x"]', "'generators' is missing"),
        (FILE + "color = 1", "unknown key"),
        (FILE.replace('"y"', '"x"'), "occurs twice"),
        (FILE.replace('"y"', '"2"'), "not a name"),
        (FILE.replace('["x", "y"]', "[]"), "one at least"),
        (FILE.replace("1/2*y", "w"), "generators 1: column 7: unknown name 'w'"),
        (FILE + 'field = "GF(6)"', "not a prime"),
        (FILE + 'field = "GF(2)"', "no meaning over GF"),
        (FILE + "title = 3", "title"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(ConversionError, match=words) as refused:
        read_ideal_file(text)
    assert "\n" not in str(refused.value)


def test_fields_that_contradict_each_other() -> None:
    with pytest.raises(ConversionError, match="asked for"):
        read_ideal_file(FILE + 'field = "GF(7)"', field=CoefficientField(5))


def test_preimages_are_substitutions() -> None:
    s, t = symbols("s t")
    cubic = PolynomialMap.from_expressions([s, t], {"x": s**2, "y": s * t, "z": t**2 / 2})
    assert ideal("x*z - 1/2*y^2").preimage(cubic).generators == ()
    assert (
        ideal("x", variables="x y z").preimage(cubic).generators
        == ideal("s^2", variables="s t").generators
    )
    circle = PolynomialMap.from_expressions([s, t], {"x": s}, [s**2 + t**2 - 1])
    assert ideal("x").preimage(circle).generators == ideal("s", "s^2 + t^2 - 1").generators
    with pytest.raises(ConversionError, match="the target"):
        ideal("x").preimage(cubic)


def test_preimages_under_a_map_to_a_point_are_ideals_of_the_source() -> None:
    line, point = PolynomialRing(QQ, ("t",)), PolynomialRing(QQ, ())
    to_point = PolynomialMap(line, coordinates=(), images=())
    assert Ideal(point, ()).preimage(to_point) == Ideal(line, ())
    nowhere = Ideal(point, (point.sympy_ring.one,)).preimage(to_point)
    assert nowhere == ideal("1", variables="t")
    assert nowhere + ideal("t") == nowhere


def test_bases_are_sought_where_they_are_small_only() -> None:
    """FLINT's limits do not end a long reduction: (y + z + 1)^1000 here, 10^22 terms in many
    variables.
    """
    assert small_basis(ideal("x^1000 - y", "x - y - z - 1")) is None
    assert (
        small_basis(ideal("x_0^9 - 1", "x_0 - " + " - ".join(f"x_{i}" for i in range(1, 60))))
        is None
    )
    assert small_basis(ideal("x", field=SEVEN)) is None


@pytest.mark.parametrize("name", ["lambda", "class"])
def test_words_of_python_are_no_names_in_sage(name: str) -> None:
    with pytest.raises(ConversionError, match="Sage"):
        ideal(name).to_sage_text()


def test_how_ideals_are_shown() -> None:
    many = ideal([f"x_{i}" for i in range(30)])
    assert (
        str(many)
        .splitlines()[0]
        .endswith("… and 18 more) of QQ[x_0, x_1, x_2, x_3, x_4, x_5, …, x_29]")
    )
    assert r"\left\langle x^{2} - y \right\rangle" in ideal("x^2 - y").to_latex()
    assert ideal("x^2 - y").to_macaulay2() == "R = QQ[x, y]\nI = ideal {x^2-y}"
    assert (
        ideal(1, "1/2", variables="x").to_macaulay2()
        == "R = QQ[x]\nI = ideal {(1)_R,\n    (1/2)_R}"
    )


def test_generators_of_results_are_in_order() -> None:
    shuffled = ideal("y", "x", "z^2 - x", "-x*y", variables="x y z")
    assert (
        tidy(shuffled).generators == ideal("x", "y", "x*y", "z^2 - x", variables="x y z").generators
    )


@pytest.mark.parametrize(
    "given", [None, {"x"}, ideal("x"), sympy.Matrix([[1]]), sympy.Ne(Symbol("x"), 1)], ids=str
)
def test_what_is_no_polynomial_is_refused_by_its_name(given: Any) -> None:
    article = "an" if isinstance(given, Ideal) else "a"
    words = f"^{article} {type(given).__name__} is not a polynomial"
    with pytest.raises(ConversionError, match=words):
        ideal(given)


@pytest.mark.parametrize("field", [7, SympyGF(7)], ids=str)
def test_what_is_no_field_is_refused(field: Any) -> None:
    with pytest.raises(InvalidCaseError, match=r"CoefficientField\(p\)"):
        ideal("x", field=field)
    assert ideal("x", field="GF(7)").ring.field == SEVEN


@pytest.mark.parametrize("other", [None, 5, "x", Symbol("x")], ids=str)
def test_only_ideals_are_equal_ideals(other: Any) -> None:
    assert ideal("x") != other
    with pytest.raises(ConversionError, match="is not an ideal: make one"):
        ideal("x").equals(other)


@pytest.mark.parametrize("engine", [5, "M2", Macaulay2], ids=str)
def test_only_sessions_are_asked(engine: Any) -> None:
    with pytest.raises(InvalidCaseError, match="Argument 'engine' must be a session"):
        ideal("x").radical(engine=engine)


def test_the_limit_on_products_counts_them_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    four = ideal("x", "y", "z", "w")
    monkeypatch.setattr("m2bridge.algebra.ring.MAX_PRODUCT_GENERATORS", 10)
    assert len((four**2).generators) == 10
    with pytest.raises(TooLargeError, match=r"20 products of generators; at most 10"):
        four**3
    monkeypatch.setattr("m2bridge.algebra.ring.MAX_PRODUCT_GENERATORS", 15)
    with pytest.raises(TooLargeError, match="16 products"):
        four * four
