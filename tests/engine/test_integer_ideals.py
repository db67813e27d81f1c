"""Ideals over ZZ, compared with values by hand, strong Gröbner bases in pure Python, and Gröbner
bases modulo primes and over QQ.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import gcd, lcm
from random import Random

import pytest

from m2bridge import Engine, Ideal, Macaulay2, ideal
from m2bridge.algebra.field import ZZ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.cli.ideals import METHODS_OF_IDEALS
from m2bridge.errors import MethodUnavailableError
from tests import integer_ideals
from tests.conftest import Invoke
from tests.integer_ideals import Terms, terms_of

pytestmark = pytest.mark.macaulay2("any")

XY = "x y"
TORSION = ideal("2x", "x^2", field="ZZ")
"""The quotient has a basis 1 and elements of order 2: neither leading coefficients nor content may
be left out.
"""


def over_integers(*generators: str, variables: str = XY) -> Ideal:
    """An ideal over ZZ."""
    return ideal(*generators, variables=variables, field="ZZ")


# By hand.


@pytest.mark.slow
@pytest.mark.macaulay2("each")
def test_ideals_of_constants_are_those_of_integers(engine: Engine) -> None:
    """In ZZ a sum, an intersection and a quotient are a gcd, an lcm, and a number over a gcd."""
    for a, b in ((12, 18), (4, 9), (30, 30), (7, 1)):
        first, second = over_integers(str(a)), over_integers(str(b))
        assert (first + second).groebner_basis(engine=engine).generators == (gcd(a, b),)
        assert first.intersect(second, engine=engine).generators == (lcm(a, b),)
        assert first.quotient(str(b), engine=engine).generators == (a // gcd(a, b),)
        assert first.contains(str(b), engine=engine) == (b % a == 0)
        assert first.equals(second, engine=engine) == (a == b)
    # 2 and 3 are inverted, and 5 is left of 60
    assert over_integers("60").saturate("6", engine=engine).generators == (5,)


@pytest.mark.slow
@pytest.mark.macaulay2("each")
def test_leading_coefficients_matter(engine: Engine) -> None:
    assert not TORSION.contains("x", engine=engine)
    assert TORSION.contains("6*x - 5*x^2", engine=engine)
    assert not TORSION.contains("3*x", engine=engine)
    assert not TORSION.contains("1", engine=engine)
    double, single = over_integers("2x"), over_integers("x")
    assert not double.equals(single, engine=engine)
    assert double != single
    assert single.contains(double, engine=engine)
    assert not double.contains(single, engine=engine)
    assert double.equals(over_integers("-2x"), engine=engine)
    assert over_integers("4x", "6x").equals(double, engine=engine)
    # over QQ, where 2 has an inverse, both are the ideal of x
    assert ideal(*double.generators, field="QQ") == ideal(*single.generators, field="QQ")


@pytest.mark.macaulay2("each")
@pytest.mark.parametrize(
    ("generators", "basis"),
    [
        # the content stays
        (["4x + 6y"], ["4x + 6y"]),
        # 3x − 2x = x, times xy: the S-polynomial of 2x and 3y is 0, their G-polynomial xy
        (["2x", "3y"], ["2x", "3y", "x*y"]),
        # 4x and 6x have the gcd 2x; x² is in neither
        (["4x", "6x", "x^2"], ["2x", "x^2"]),
        # 3x² − x·2x = x²
        (["2x", "3x^2"], ["2x", "x^2"]),
        # 1 = 3·7 − 4·5, so that (5, 7) is the unit ideal
        (["5", "7", "x + y"], ["1"]),
        # the other coefficients are the integers nearest to 0: 11 = −1 modulo 12
        (["12", "x + 11y"], ["12", "x - y"]),
        # 14y = y·2x − 2(xy − 7y), so that −7y = 7y; of two nearest integers the positive one
        (["2x", "x*y - 7y"], ["2x", "14y", "x*y + 7y"]),
    ],
)
def test_strong_groebner_bases(generators: list[str], basis: list[str], engine: Engine) -> None:
    found = over_integers(*generators).groebner_basis(engine=engine).generators
    assert set(found) == set(over_integers(*basis).generators)


@pytest.mark.macaulay2("each")
def test_torsion_is_divided_out(engine: Engine) -> None:
    """With the elements of order 2: (2x, x²) : 2 = (x), and (2x, x²) : x = (2, x)."""
    assert TORSION.quotient("2", engine=engine).generators == ideal("x", field="ZZ").generators
    quotient = TORSION.quotient("x", engine=engine)
    assert quotient.equals(ideal("2", "x", field="ZZ"), engine=engine)
    assert TORSION.saturate("2", engine=engine).equals(ideal("x", field="ZZ"), engine=engine)
    assert TORSION.saturate("x", engine=engine).generators == (1,)


@pytest.mark.macaulay2("each")
def test_saturation_by_forms_that_are_no_coordinates(engine: Engine) -> None:
    """For 2x, as for all linear forms without a coefficient 1, Macaulay2's own choice of a method
    ends with an error.
    """
    given = over_integers("6x*y", "9x^2")
    # 9x² = (3x)². I : (2y)^∞ is the ideal of 3x: 3x·2y = 6xy, and modulo 3 or x there is nothing
    # that a power of 2y makes zero.
    assert given.saturate("3x", engine=engine).generators == (1,)
    assert given.saturate("2y", engine=engine).equals(over_integers("3x"), engine=engine)
    both = given.saturate(over_integers("3x", "2y"), engine=engine)
    assert both.equals(over_integers("3x"), engine=engine)
    # I : 0^∞ is the whole ring, as 0 is in I
    assert given.saturate(over_integers("0"), engine=engine).generators == (1,)
    assert given.saturate("0", engine=engine).generators == (1,)


@pytest.mark.macaulay2("each")
def test_quotients_that_macaulay2_itself_has_wrong(engine: Engine) -> None:
    """By hand: the first ideal is (4), and the other ideal of the second is the unit ideal."""
    four = over_integers("4*x^2*y", "4*x*y + 4", "8")
    assert four.equals(over_integers("4"), engine=engine)  # 4 = 4(1 − xy)(1 + xy) + y·4x²y
    assert four.quotient("x", engine=engine).generators == (4,)
    assert four.saturate("x", engine=engine).generators == (4,)
    given = over_integers("4", "x")
    # x² and 8 are in the ideal of x and 4, and 2x + 1 is 1 there
    unit = over_integers("2*x + 1", "x^2", "8")
    assert given.quotient(unit, engine=engine).equals(given, engine=engine)
    assert given.saturate(unit, engine=engine).equals(given, engine=engine)


@pytest.mark.macaulay2("each")
def test_elimination_keeps_the_constants(engine: Engine) -> None:
    """x − 2 and 3x − 12 have the common zero modulo 6 only: 6 = 3(x − 2) − (3x − 12)."""
    given = over_integers("x - 2", "3x - 12", "y - x")
    constants = given.eliminate("x", "y", engine=engine)
    assert constants.ring == PolynomialRing(ZZ, ())
    assert constants.generators == (6,)
    assert constants.contains("12", engine=engine)
    assert not constants.contains("4", engine=engine)
    in_y = given.eliminate("x", engine=engine)
    assert in_y.equals(over_integers("y - 2", "6", variables="y"), engine=engine)


def test_what_needs_no_macaulay2() -> None:
    first, second = over_integers("2x", "3"), over_integers("4", "y")
    assert (first * second).generators == over_integers("8x", "2x*y", "12", "3y").generators
    assert (first**2).generators == over_integers("4x^2", "6x", "9").generators
    assert (first + second).generators == over_integers("2x", "3", "4", "y").generators
    assert over_integers("2x^2 - 3y").jacobian().entries == (over_integers("4x", "-3").generators,)


# By strong Gröbner bases in Python.


def random_polynomial(random: Random, most_terms: int = 3) -> Terms:
    """A polynomial in x and y of degree at most 2."""
    terms: Terms = {}
    for _ in range(random.randint(1, most_terms)):
        monomial = random.choice([(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)])
        terms[monomial] = random.choice([-6, -4, -3, -2, -1, 1, 2, 3, 5, 6, 8, 12])
    return terms


def of_terms(*polynomials: Terms) -> Ideal:
    """The ideal over ZZ[x, y] that these polynomials generate."""
    ring = PolynomialRing(ZZ, ("x", "y"))
    return Ideal(ring, tuple(map(ring.sympy_ring.from_dict, polynomials)))


def same(found: Ideal, expected: Sequence[Terms]) -> bool:
    """Whether an ideal is that of these polynomials, by a strong Gröbner basis in Python."""
    return integer_ideals.are_equal(terms_of(found), expected)


def is_reduced(basis: Sequence[Terms]) -> bool:
    """Whether leading coefficients are positive, and all other coefficients the integers nearest to
    zero modulo the leading coefficients of those elements whose leading monomials divide theirs.
    """
    leading = [max(element, key=integer_ideals.grevlex) for element in basis]
    for element, largest in zip(basis, leading, strict=True):
        if element[largest] < 0:
            return False
        for monomial, coefficient in element.items():
            for other, divisor in zip(basis, leading, strict=True):
                size = other[divisor]
                is_small = -size < 2 * coefficient <= size
                is_multiple = integer_ideals.divides(divisor, monomial)
                # the leading coefficient itself may be large: 4x beside 6x²
                if monomial != largest and is_multiple and not is_small:
                    return False
    return True


@pytest.mark.macaulay2("each")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_random_ideals(seed: int, engine: Engine) -> None:
    random = Random(seed)
    first = [random_polynomial(random) for _ in range(random.randint(1, 2))]
    if random.random() < 0.5:
        first.append({(0, 0): random.choice([4, 6, 12, 30])})
    second = [random_polynomial(random, most_terms=2) for _ in range(2)]
    divisor = random_polynomial(random, most_terms=1)
    I, J, f = of_terms(*first), of_terms(*second), of_terms(divisor)
    basis = [
        {monomial: int(c) for monomial, c in element.items()}
        for element in I.groebner_basis(engine=engine).generators
    ]
    assert integer_ideals.is_strong_basis(basis)
    assert integer_ideals.are_equal(basis, first)
    own_basis = integer_ideals.strong_basis(first)
    assert integer_ideals.leading_terms(basis) == integer_ideals.leading_terms(own_basis)
    assert is_reduced(basis)
    for polynomial in second:
        is_in = not integer_ideals.remainder(polynomial, own_basis)
        assert I.contains(of_terms(polynomial), engine=engine) == is_in
    multiple = integer_ideals.plus(
        integer_ideals.product(first[0], second[0]), integer_ideals.times(first[-1], (1, 1), 5)
    )
    assert I.contains(of_terms(multiple), engine=engine)
    are_equal = integer_ideals.are_equal(first, second)
    assert I.equals(J, engine=engine) == are_equal
    assert same(I.intersect(J, engine=engine), integer_ideals.intersection(first, second))
    assert same(I.quotient(f, engine=engine), integer_ideals.ideal_quotient(first, divisor))
    by_each = [integer_ideals.ideal_quotient(first, polynomial) for polynomial in second]
    assert same(I.quotient(J, engine=engine), integer_ideals.intersection(*by_each))
    assert same(I.saturate(f, engine=engine), integer_ideals.saturation(first, divisor))
    by_each = [integer_ideals.saturation(first, polynomial) for polynomial in second]
    assert same(I.saturate(J, engine=engine), integer_ideals.intersection(*by_each))
    in_y = I.eliminate("x", engine=engine)
    assert same(in_y, integer_ideals.without_first(first))


# By ideals over fields.


def random_ideal(seed: int) -> Ideal:
    """An ideal over ZZ[x, y, z] of three quadrics or linear polynomials."""
    random = Random(seed)
    texts = []
    for _ in range(3):
        monomials = random.sample(["x^2", "x*y", "y*z", "z^2", "x", "y", "z", "1"], k=3)
        texts.append("+".join(f"({random.randint(-9, 9)})*{monomial}" for monomial in monomials))
    return over_integers(*texts, variables="x y z")


@pytest.mark.macaulay2("each")
@pytest.mark.parametrize("seed", range(4))
def test_bases_modulo_primes_and_over_the_rationals(seed: int, engine: Engine) -> None:
    """A strong basis generates the ideal modulo each prime and over QQ."""
    given = random_ideal(seed)
    basis = given.groebner_basis(engine=engine).generators
    for field in ("QQ", "GF(2)", "GF(3)", "GF(5)", "GF(101)"):
        reduced = ideal(*given.generators, field=field, variables="x y z")
        assert ideal(*basis, field=field, variables="x y z").equals(reduced, engine=engine), field
    # Over QQ it is a Gröbner basis: its leading monomials generate those of the reduced basis.
    leading = [element.monoms()[0] for element in basis]
    rational = ideal(*given.generators, field="QQ", variables="x y z")
    for element in rational.groebner_basis(engine=engine).generators:
        monomial = element.monoms()[0]
        assert any(integer_ideals.divides(divisor, monomial) for divisor in leading)


@pytest.mark.slow
@pytest.mark.macaulay2("each")
@pytest.mark.parametrize("seed", range(3))
def test_saturation_by_the_leading_coefficients(seed: int, engine: Engine) -> None:
    """I QQ[x] ∩ ZZ[x] = I : s^∞ for a common multiple s of the leading coefficients of a strong
    basis: both have no torsion, and are the same ideal over QQ. Source: Gianni, Trager, Zacharias,
    *Gröbner Bases and Primary Decomposition of Polynomial Ideals* (1988), section 3.
    """
    given = random_ideal(seed)
    basis = given.groebner_basis(engine=engine).generators
    number = lcm(*(int(element.LC) for element in basis))
    contracted = given.saturate(str(number), engine=engine)
    rational = ideal(*given.generators, field="QQ", variables="x y z")
    assert ideal(*contracted.generators, field="QQ", variables="x y z").equals(
        rational, engine=engine
    )
    assert contracted.contains(given, engine=engine)
    for prime in (2, 3, 5, 7, 11, 13):
        assert contracted.quotient(str(prime), engine=engine).equals(contracted, engine=engine)
    # multiples of elements over QQ whose denominators are cleared
    for element in rational.groebner_basis(engine=engine).generators:
        _, primitive = element.clear_denoms()
        _, primitive = primitive.primitive()
        assert contracted.contains(primitive, engine=engine)


# What is refused.


@pytest.mark.macaulay2("each")
def test_what_is_there_over_fields_only(engine: Engine) -> None:
    without_engine = {"jacobian"}
    refused = set(METHODS_OF_IDEALS) - {"groebner_basis"} - without_engine
    for method in sorted(refused | {"singular_locus"}):
        with pytest.raises(MethodUnavailableError, match="not available over ZZ, only over fields"):
            getattr(TORSION, method)(engine=engine)
    cone = over_integers("2x", "x*y").projective()
    for method in ("dimension", "degree", "hilbert_polynomial", "minimal_primes", "singular_locus"):
        with pytest.raises(MethodUnavailableError, match="over ZZ"):
            getattr(cone, method)(engine=engine)
    # I : x^∞ = (2, y) and I : y^∞ = (x), which meet in (2x, xy)
    assert cone.saturated_ideal(engine=engine).equals(over_integers("2x", "x*y"), engine=engine)


@pytest.mark.slow
def test_the_command(invoke: Invoke) -> None:
    command = ("ideal", "4x, 6x, x^2", "--field", "ZZ")
    assert invoke(*command, "groebner-basis").stdout == "Gröbner basis (2*x, x**2)\n"
    assert invoke(*command, "saturate", "--other", "2").stdout == "ideal(x) of ZZ[x]\n"
    refused = invoke(*command, "dimension")
    assert refused.returncode == 2
    assert "not available over ZZ, only over fields" in refused.stderr


@pytest.mark.slow
def test_ideals_in_workspaces(session: Macaulay2) -> None:
    with session.workspace() as work:
        work["I"] = TORSION
        work["basis"] = TORSION.groebner_basis(engine=session)
        assert str(work.value("I")) == "ideal(2*x, x**2) of ZZ[x]"
        assert work.value("coefficientRing ring I === ZZ and ring gens basis === ring I") is True
        assert work.value("isSubset(ideal (ring I)_0, I)") is False
        assert work.value("isSubset(ideal (2*(ring I)_0), I)") is True


def test_helpers_find_wrong_bases() -> None:
    """The method in Python says of bases that are none that they are none."""
    two_x, three_y = {(1, 0): 2}, {(0, 1): 3}
    assert not integer_ideals.is_strong_basis([two_x, three_y])  # without xy
    assert integer_ideals.is_strong_basis([two_x, three_y, {(1, 1): 1}])
    assert not integer_ideals.are_equal([two_x], [{(1, 0): 1}])
    assert not is_reduced([{(0, 0): 12}, {(1, 0): 1, (0, 0): 11}])
    bases = [integer_ideals.strong_basis([two_x, three_y]), [two_x, three_y, {(1, 1): 1}]]
    for first, second in pairwise(bases):
        assert integer_ideals.leading_terms(first) == integer_ideals.leading_terms(second)
