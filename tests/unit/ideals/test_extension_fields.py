"""Number fields, GF(p^k) and fields with parameters: names, elements, and ideals as people write
them, compared with SymPy and FLINT.
"""

import pickle
import re
from fractions import Fraction
from random import Random
from typing import Any

import flint
import numpy
import pytest
import sympy
from sympy import I, Integer, Poly, sqrt, symbols

from m2bridge import CoefficientField, PolynomialRing, dimension, ideal, read_ideal, read_ideal_file
from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.field import QQ, check_is_field
from m2bridge.convert.fields import parse_field
from m2bridge.convert.short_forms import check_short_forms
from m2bridge.errors import ConversionError, InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.ideals.program import question
from m2bridge.results.markup import parts_with_brackets, polynomial_latex

x, y, a, b = symbols("x y a b")
GAUSS = parse_field("QQ[i]/(i^2+1)")
NINE = parse_field("GF(9, a)")
PARAMETERS = parse_field("QQ(a,b)")


@pytest.mark.parametrize(
    ("names", "field"),
    [
        (["QQ[i]/(i^2+1)", "QQ[ i ] / ( i**2 = -1 )", "toField(QQ[i]/(i^2+1))", "QQ[i]/(2i²+2)"],
         ExtensionField(0, ("i",), (1, 0, 1))),
        (["GF(9)", "GF 9", "gf(9)", "gf 9", "GF(3^2)", "GF(9, Variable => a)", "ZZ/3[a]/(a^2-a-1)"],
         ExtensionField(3, ("a",), (2, 2, 1))),
        (["GF(9^2)", "GF(81)", "GF(3**4)"], ExtensionField(3, ("a",), (2, 0, 0, 2, 1))),
        (["(QQ[c])/(c^3 - 2)", "QQ[c]/ideal(2 c^3 - 4)", "QQ[c]/((c^3) = 2)"], ExtensionField(0, ("c",), (-2, 0, 0, 1))),
        (["QQ(a,b)", "frac(QQ[a,b])", "frac QQ[a, b]"], ExtensionField(0, ("a", "b"))),
        (["QQ(sqrt(2))", "QQ( sqrt(2) )", "QQ[sqrt2]/(sqrt2^2-2)"], ExtensionField(0, ("sqrt2",), (-2, 0, 1))),
        (["QQ", " qq "], QQ),
        (["GF(7)", "GF 7", "ZZ/7", "gf(7)", "GF(7^1)"], CoefficientField(7)),
    ],
)  # fmt: skip
def test_fields_have_the_names_that_people_write(names: list[str], field: CoefficientField) -> None:
    assert [parse_field(name) for name in names] == [field] * len(names)
    assert parse_field(str(field)) == field
    assert pickle.loads(pickle.dumps(field)) == field


@pytest.mark.parametrize("three", [Integer(3), numpy.int64(3)])
def test_a_characteristic_may_be_an_integer_of_another_library(three: Any) -> None:
    field = CoefficientField(three)
    assert field == CoefficientField(3)
    assert type(field.characteristic) is int
    assert ExtensionField(three, ("i",), (1, 0, 1)) == parse_field("GF(3)[i]/(i^2+1)")
    assert ideal("x^2 + 4", field=field).generators == ideal("x^2 + 1", field="GF(3)").generators


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("QQ[i]/(i^2-1)", "reducible over QQ: (i - 1)*(i + 1)"),
        ("GF(5)[i]/(i^2+1)", "reducible over GF(5): (i + 2)*(i - 2)"),
        ("QQ[a]/(a^2+2a+1)", "reducible over QQ: (a + 1)**2"),
        ("QQ[a]/(a^11-a^10+2a-2)", "reducible over QQ: (a - 1)*(a**10 + 2)"),
        ("GF(5)[a]/(a^12)", "reducible over GF(5): (a)**12"),
        ("QQ[i]/(i+1)", "of degree 2 to"),
        ("QQ[i]/(x^2+1)", "unknown name 'x'"),
        ("QQ(i)", "a root of -1 or as a parameter"),
        ("QQ(a,a)", "different names"),
        ("QQ(sqrt(4))", "a positive integer of at most 60 digits that is not a square"),
        ("QQ(sqrt(-3))", "write QQ[a]/(a^2+3) for a square root of -3"),
        pytest.param(
            "QQ(" + "a" * 101 + ")", "has 101 characters; a name has at most 100", id="101"
        ),
        pytest.param("QQ[" + "a" * 101 + "]/(1)", "at most 100", id="algebraic"),
        pytest.param("(" * 40_000 + "QQ" + ")" * 40_000, "is not a field", id="parentheses"),
        pytest.param("(" * 1_000_001, "1000001 characters; at most 1000000 are read", id="long"),
        ("GF(6)", "not a prime number"),
        ("GF(3)(t)", "not a field of coefficients"),
        ("QQ[i]", "not a field of coefficients"),
        ("CC", "write QQ, GF(p), GF(9)"),
        ("", "not a field of coefficients"),
        ("GF(2147483659^2)", "too large"),
        ("GF(2147483647)[a]/(a^2+1)", "use p < 2^29"),
        ("GF(3)[a]/(a^2/3+1)", "denominator is divisible by 3"),
        (
            "ZZ/9",
            "ZZ/9 is not a field, since 9 is not a prime number: for the field with 9 elements"
            " write GF(9)",
        ),
        ("ZZ / 8", "elements write GF(8)"),
        ("ZZ/4[b]/(b^2+b+1)", "ZZ/4 is not a field"),
        ("ZZ/6", "ZZ/6 is not a field, since 6 is not a prime number"),
        ("ZZ/0", "ZZ/0 is not a field"),
        ("ZZ/" + "9" * 5000, "too large"),
        ("QQ(a b)", "a space does not separate names"),
        ("frac(QQ[a b])", "a space does not separate names"),
        ("GF(1 1)", "a space does not separate names"),
        ("QQ[a]/(a^2 + 1 1)", "a space does not separate names"),
        ("toField(QQ[i]/(i^2+1)", "parentheses"),
        ("QQ[i]/(i^2+1))", "parentheses"),
        ("toField(QQ[i])/(i^2+1)", "parentheses"),
        ("GF(3^2", "parentheses"),
        ("frac(QQ[i]", "parentheses"),
        ("GF3^2", "not a field of coefficients"),
        ("GF(2,a)", "GF(2) has no generator that could have the name a"),
        ("GF(3^0)", "not a field of coefficients"),
        ("GF(2^25)", "GF(2^25) has degree 25 over GF(2); at most 24"),
    ],
)
def test_what_is_no_field_is_refused(name: str, words: str) -> None:
    with pytest.raises(InvalidCaseError, match=re.escape(words)):
        parse_field(name)


def test_words_may_be_separated_by_spaces() -> None:
    assert parse_field("frac QQ[ a , b ]") == parse_field("FractionField QQ[a,b]") == PARAMETERS
    assert parse_field("QQ[a]/(3 a^2 + 6)").minimal_polynomial == (2, 0, 1)


def test_finite_fields_are_those_of_flint() -> None:
    """Sums, products and inverses, by the same minimal polynomial."""
    for order in (4, 8, 9, 25, 27, 49):
        field = parse_field(f"GF({order})")
        p, k = field.characteristic, len(field.minimal_polynomial) - 1
        assert p**k == order
        theirs = flint.fq_default_ctx(p, k)
        chance = Random(order)
        for _ in range(5):
            lists = [[chance.randrange(p) for _ in range(k)] for _ in range(3)]
            u, v, w = (field.element({(e,): c for e, c in enumerate(one)}) for one in lists)
            r, s, t = map(theirs, lists)
            assert _coefficients(field, u * v + w) == _theirs(r * s + t, p, k)
            if v:
                assert _coefficients(field, u / v) == _theirs(r / s, p, k)


def _coefficients(field: ExtensionField, element: Any) -> list[int]:
    above, _ = field.parts(element)
    degree = len(field.minimal_polynomial) - 1
    return [int(above.get((e,), 0)) % field.characteristic for e in range(degree)]


def _theirs(element: Any, p: int, k: int) -> list[int]:
    listed = [int(c) % p for c in element.to_list()]
    return listed + [0] * (k - len(listed))


def _random_text(chance: Random, names: list[str], constants: list[str], depth: int = 0) -> str:
    kind = chance.randrange(6) if depth < 3 else 0
    if kind <= 1:
        return chance.choice([*names, *constants, str(chance.randrange(1, 12)), "1/3"])
    parts = [_random_text(chance, names, constants, depth + 1) for _ in range(2)]
    if kind == 2:
        return f"({parts[0]})^{chance.randrange(3)}"
    if kind == 3:
        return f"({parts[0]} - {parts[1]})"
    if kind == 4:
        return f"({parts[0]})*({parts[1]})/({chance.randrange(1, 5)} + {constants[0]})"
    return f"{parts[0]} + {parts[1]}"


@pytest.mark.slow
def test_text_is_read_as_sympy_reads_it() -> None:
    chance = Random(1)
    at = {"i": I, "a": a, "b": b, "x": x, "y": y}
    for field, constants in ((GAUSS, ["i"]), (PARAMETERS, ["a", "b"])):
        for _ in range(12):
            text = _random_text(chance, ["x", "y"], constants)
            (found,) = ideal(text, variables="x y", field=field).generators or (None,)
            expected = sympy.sympify(text.replace("^", "**"), locals=at)
            if found is None:
                assert sympy.simplify(expected) == 0, text
                continue
            got = sympy.sympify(str(found), locals=at)
            assert sympy.simplify(sympy.expand(got - expected)) == 0, text
            # what was printed is read again
            assert ideal(str(found), variables="x y", field=field).generators == (found,)


def test_polynomials_of_sympy_keep_their_field() -> None:
    given = ideal(x**2 - 2 * y**2, x * (y - sqrt(2)))
    assert str(given.ring) == "(QQ[sqrt2]/(sqrt2**2 - 2))[x, y]"
    domain = sympy.QQ.algebraic_field(sqrt(2))
    assert given.to_sympy() == [Poly(g, x, y, domain=domain) for g in
                                (x**2 - 2 * y**2, x * (y - sqrt(2)))]  # fmt: skip
    again = ideal(*given.to_sympy())
    assert (again.ring, again.generators) == (given.ring, given.generators)
    for one in (Poly(x**2 + I, x), Poly(x**2 + I, x, extension=I), x**2 + I, sympy.Eq(x**2, -I)):
        assert str(ideal(one)) == "ideal(x**2 + I) of (QQ[I]/(I**2 + 1))[x]"
    both = ideal(x**2 + I, sqrt(2) * x)
    assert [poly.as_expr().expand() for poly in both.to_sympy()] == [x**2 + I, sqrt(2) * x]
    fractions = ideal(Poly(x / a + y, x, y), Poly(x - y))
    assert str(fractions) == "ideal(1/a*x + y, x - y) of QQ(a)[x, y]"
    assert fractions.to_sympy()[0] == Poly(x / a + y, x, y, domain="QQ(a)")
    cube = sympy.QQ.alg_field_from_poly(Poly(b**3 - 2, b), alias="c")
    assert str(ideal(Poly(x, x, domain=cube)).ring) == "(QQ[c]/(c**3 - 2))[x]"


@pytest.mark.parametrize("field", [GAUSS, NINE, PARAMETERS, parse_field("QQ[c]/(c^3-2)")], ids=str)
def test_our_own_elements_are_taken_again(field: ExtensionField) -> None:
    name = field.names[0]
    given = ideal(f"x^2 + {name}*y - 1, x*y/{name}", field=field)
    again = ideal(*given.generators)
    assert (again.ring, again.generators) == (given.ring, given.generators)
    turned = ideal(*given.generators, variables="y x")
    assert turned == ideal(f"x^2 + {name}*y - 1, x*y/{name}", variables="y x", field=field)


def test_multiples_of_roots() -> None:
    """The coefficients have the values that SymPy computes, by the root that it chose."""
    root = sympy.Pow(-1, sympy.Rational(1, 3))
    numbers = [root, 2 * root, -root, root / 2, sympy.Pow(-8, sympy.Rational(1, 3)), -(root**2),
               1 / root, 3 / (1 + root), sympy.Pow(4, sympy.Rational(-1, 3))]  # fmt: skip
    for number in numbers:
        given = ideal(number * x)
        (generator,) = given.generators
        field = given.ring.field
        assert isinstance(field, ExtensionField)
        assert field.root is not None
        above, below = field.parts(generator.LC)
        value = (above.as_expr() / below.as_expr()).subs(field.names[0], field.root.as_expr())
        assert abs(sympy.N(value - number, 30)) < 1e-20, number
    zero = (sqrt(2) - 1) * (sqrt(2) + 1) * x - x
    assert ideal(zero).generators == ()


def test_expressions_in_the_symbols_of_a_field() -> None:
    assert ideal(x / a + y, field=PARAMETERS) == ideal("x/a + y", field=PARAMETERS)
    assert ideal(Poly(a * x, x), field=PARAMETERS) == ideal("a*x", field=PARAMETERS)
    root = parse_field("QQ[a]/(a^3-2)")
    assert ideal(x / a, x + a**4, field=root) == ideal("a^2*x/2", "x + 2a", field=root)
    u = flint.fmpz_mpoly_ctx.get(("x", "y")).gens()[0]
    assert ideal(u, field=GAUSS) == ideal("x", variables="x y", field=GAUSS)


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ("x/(i^2 + 1)", GAUSS, "that are not zero can be divisors"),
        ("x/(x + i)", GAUSS, "numbers and polynomials in i"),
        ("x/0", GAUSS, "divisor must not be zero"),
        ("ix + y", GAUSS, "'ix' could be i*x or one variable"),
        ("x/3", NINE, "divisible by 3"),
        ("(x + a)^1000^9", NINE, "expected"),
        ("(x + y + i)^1000", GAUSS, "too large"),
        (x + I, GAUSS, "is not a polynomial over QQ in x, i"),
        (x * sympy.pi, PARAMETERS, "not a polynomial"),
        (1.5 * I * x, GAUSS, "not exact"),
        (Poly(x, x, modulus=5), GAUSS, "is not one over"),
        (Poly(x + sqrt(2), x, extension=True), GAUSS, "is not one over"),
    ],
)
def test_what_is_no_polynomial_over_the_field_is_refused(
    given: Any, field: Any, words: str
) -> None:
    with pytest.raises(ConversionError, match=re.escape(words)):
        ideal(given, field=field)


def test_names_of_constants_and_variables_differ() -> None:
    for variables in ("a x", "a_1 x"):
        with pytest.raises(ConversionError, match="give them different letters"):
            ideal("x", variables=variables, field=PARAMETERS)
    assert ideal("a*x + b", field=PARAMETERS).ring.variables == ("x",)
    check_short_forms(["alpha*x + y"], ["a"])
    with pytest.raises(ConversionError, match=re.escape("a*x or one variable")):
        check_short_forms(["ax*y"], ["a"])


def test_other_computations_refuse_these_fields() -> None:
    with pytest.raises(InvalidCaseError, match="must be QQ or GF"):
        check_is_field(GAUSS)
    with pytest.raises(InvalidCaseError, match="must be QQ or GF"):
        dimension(SingleLayerAttention(2, 1), field=GAUSS)
    given = ideal("x + i", field=GAUSS)
    for convert in (given.to_flint, given.to_mrdi):
        with pytest.raises(MethodUnavailableError, match="i can be variables"):
            convert()
    with pytest.raises(MethodUnavailableError, match="SymPy has no field"):
        ideal("x", field=NINE).to_sympy()


def test_ideals_over_these_fields_in_text_json_files_and_pickles() -> None:
    for given in (
        ideal("x^2 + i*y, (1 + i)x/(2 - i) - 0.5", field=GAUSS),
        ideal("x^2 + a*y, x/(a + 1)", field=NINE),
        ideal("x^2/(a*b) - y/a, a*b*x - 1/2", field=PARAMETERS),
    ):
        for again in (ideal(str(given)), read_ideal(given.to_json())):
            assert (again.ring, again.generators) == (given.ring, given.generators)
        copied = pickle.loads(pickle.dumps(given))
        assert (copied.ring, copied.generators) == (given.ring, given.generators)
        assert given._repr_latex_()
    text = '[ideal]\nvariables = ["x"]\ngenerators = ["x^2 = i"]\nfield = "QQ[i]/(i^2+1)"'
    assert str(read_ideal_file(text)[0]) == "ideal(x**2 - i) of (QQ[i]/(i**2 + 1))[x]"
    with pytest.raises(ConversionError, match=r"\[ideal\] generators 1: .*unknown name 'j'"):
        read_ideal_file(text.replace("= i", "= j"))


@pytest.mark.parametrize("zero", ["0", "x - x", "(i^2 + 1)*x"])
@pytest.mark.parametrize("field", ["QQ", "QQ[i]/(i^2+1)"])
def test_a_generator_in_json_is_not_zero(field: str, zero: str) -> None:
    with pytest.raises(ConversionError):
        read_ideal({"field": field, "coordinates": ["x"], "generators": ["x", zero]})


def test_long_polynomials_whose_coefficients_are_sums() -> None:
    """Signs inside of coefficients are not between terms, and brackets are set in all forms."""
    terms = " + ".join(f"(a + {i})*x^{i}*y^{29 - i}" for i in range(30))
    given = ideal(terms, field="QQ(a)")
    assert str(given).endswith("+ (a + 19)*x**19*y**10 …  (30 terms)")
    last_shown = r" + \left(a + 19\right)x^{19} y^{10} + \cdots$ (30 terms)"
    assert last_shown in given.to_latex()
    page = given._repr_html_()
    assert page is not None
    assert "(<var>a</var> + 29)<var>x</var><sup>29</sup> + (<var>a</var> + 28)<var>x</var>" in page
    assert page.count("all (30 terms)") == 1


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("(a + 1)/b*x", r"\left(a + 1\right)/b \cdot x"),
        ("2/(b + 1)*x*y - 1/2*x", r"2/\left(b + 1\right) \cdot x y - \tfrac{1}{2} x"),
        ("x/b**2", "x/b^{2}"),
    ],
)
def test_what_follows_a_divisor_is_not_in_the_denominator(text: str, latex: str) -> None:
    assert polynomial_latex(text) == latex
    signs = [part.text for part in parts_with_brackets(text)]
    assert signs.count("/") == 1
    assert signs.count("⋅") == latex.count(r"\cdot")


def test_numbers_with_denominators() -> None:
    ring = PolynomialRing(PARAMETERS, ("x",))
    half = PARAMETERS.element({(1, 0): Fraction(1, 2)})
    assert half == PARAMETERS.element({(1, 0): 1}, {(0, 0): 2})
    assert str(ring.sympy_ring.ground_new(half)) == "1/2*a"
    with pytest.raises(ZeroDivisionError):
        NINE.element({(0,): 1}, {(2,): 1, (1,): -1, (0,): -1})


SAGE_RING = "Ideal (x^2 + {constant}*y) of Multivariate Polynomial Ring in x, y over {field}"


@pytest.mark.parametrize(
    ("constant", "sage_field", "field"),
    [
        ("i", "Number Field in i with defining polynomial x^2 + 1", "QQ[i]/(i^2+1)"),
        ("i", "Number Field in i with defining polynomial x^2 + 1 with i = 1*I", "QQ[i]/(i^2+1)"),
        (
            "r",
            "Number Field in r with defining polynomial t^3 - 2*t + 2 with r = -1.769292354238632?",
            "QQ[r]/(r^3-2*r+2)",
        ),
        (
            "a",
            "Fraction Field of Univariate Polynomial Ring in a over Rational Field",
            "frac(QQ[a])",
        ),
        (
            "b",
            "Fraction Field of Multivariate Polynomial Ring in a, b over Rational Field",
            "frac(QQ[a,b])",
        ),
    ],
)
def test_fields_that_sage_prints(constant: str, sage_field: str, field: str) -> None:
    pasted = ideal(SAGE_RING.format(constant=constant, field=sage_field))
    assert pasted.ring == PolynomialRing(parse_field(field), ("x", "y"))
    assert pasted.generators == ideal(f"x^2 + {constant}*y", field=parse_field(field)).generators


@pytest.mark.parametrize(
    ("sage_field", "words"),
    [
        ("Finite Field in a of size 3^2", "Sage does not print the minimal polynomial"),
        ("Number Field in a with defining polynomial x^2 - 1", r"reducible over QQ: \(a - 1\)"),
        ("Cyclotomic Field of order 3 and degree 2", "is not a field of coefficients"),
    ],
)
def test_fields_of_sage_that_are_refused(sage_field: str, words: str) -> None:
    with pytest.raises(ConversionError, match=words):
        ideal(SAGE_RING.format(constant="a", field=sage_field))


@pytest.mark.parametrize("libraries", [("wire", "invariants"), ("invariants",)])
def test_programs_over_extension_fields_have_all_libraries(libraries: tuple[str, ...]) -> None:
    script = question(
        "ideal_invariants", {"givenIdeal": ideal("i*x", field=GAUSS)}, libraries=libraries
    )
    assert script.libraries == ("wire", "extension_fields", "invariants")


def test_a_field_with_a_root_is_the_field_of_expressions_with_it() -> None:
    """The field by its name, and of SymPy's expressions with the same root, are one."""
    by_name = ideal("x^2 - sqrt2*x*y", field="QQ(sqrt(2))")
    by_expression = ideal(x**2 - sqrt(2) * x * y)
    assert by_name == by_expression
    assert ideal(x**2 - sqrt(8) * x * y / 2, field="QQ(sqrt(2))") == by_name
