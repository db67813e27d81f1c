"""Polynomial maps and their generic rank."""

from fractions import Fraction
from itertools import combinations, islice, product
from math import prod
from pathlib import Path
from random import Random
from typing import Literal

import pytest
from sympy import Expr, Float, Matrix, Poly, Rational, Symbol, sqrt, symbols
from sympy.polys.matrices import DomainMatrix

from m2bridge import (
    CoefficientField,
    PolynomialMap,
    SingleLayerAttention,
    closure,
    dimension,
    singular_locus,
)
from m2bridge.algebra.differential import (
    differential_rank,
    extension_degree,
    generic_rank,
    generic_rank_is_at_most,
)
from m2bridge.algebra.field import QQ
from m2bridge.algebra.linear_algebra import LONG_PRIME, rank as linear_rank
from m2bridge.algebra.numbers import LARGE_PRIME, primes_from
from m2bridge.algebra.polynomial_map import reduce_linearly
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import ConversionError, InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.orbits import parametrization as one_block, tangents as tangent
from m2bridge.families.attention.orbits.orbits import Orbit
from m2bridge.families.attention.sizes import dimension_bound, dimension_formula
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.maps.completeness import elimination_values
from m2bridge.maps.dimension import Dimension
from m2bridge.maps.jacobian_rank import jacobian_findings
from m2bridge.maps.model import MethodValue
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.results.known import Bounds
from tests.tiers import few

# Maps from SymPy expressions: exact, never evaluated from text, and reduced modulo p only where
# that makes sense.

s, t = symbols("s t")
LINE = PolynomialMap.from_expressions([s], {"x": s})


def test_text_is_never_run(tmp_path: Path) -> None:
    trap = f"__import__('pathlib').Path({str(tmp_path / 'made')!r}).touch()"
    for build in (
        lambda: PolynomialMap.from_expressions([s], {"x": trap}),
        lambda: PolynomialMap.from_expressions([s], {"x": s}, [trap]),
        lambda: PolynomialMap.from_expressions([trap], {"x": 1}),
        lambda: PolynomialMap.from_expressions([s], {trap: s}),
        lambda: PolynomialRing(QQ, ("s",)).polynomial(trap),
    ):
        with pytest.raises(ConversionError):
            build()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConversionError, match=r"m2bridge\.read_map read text"):
        PolynomialMap.from_expressions([s], {"x": "s^2"})


@pytest.mark.parametrize(
    "value", [3.14, 3.14 * s, s ** Float(2), Float(1), True, None, [s], 1j, {"s": 1}]
)
def test_what_is_no_exact_polynomial_is_refused(value: object) -> None:
    with pytest.raises(ConversionError):
        PolynomialMap.from_expressions([s], {"x": value})  # type: ignore[dict-item]


@pytest.mark.parametrize("image", [s + t, s / t])
def test_an_undeclared_name_points_to_constants(image: Expr) -> None:
    with pytest.raises(ConversionError, match=r"in s\. Every name .* 'Parameters as constants'"):
        PolynomialMap.from_expressions([s], {"x": image})


def test_what_has_declared_names_alone_gets_no_such_advice() -> None:
    with pytest.raises(ConversionError) as refused:
        PolynomialMap.from_expressions([s], {"x": sqrt(s)})
    assert "constants" not in str(refused.value)


def test_exact_numbers_are_accepted() -> None:
    found = PolynomialMap.from_expressions(
        ["s", t], {"x": 3, "y": Fraction(1, 3), "z": Rational(2, 5) * s}
    )
    assert list(map(str, found.images)) == ["3", "1/3", "2/5*s"]
    with pytest.raises(ConversionError, match="is not a name"):
        PolynomialMap.from_expressions(["s t"], {"x": 1})
    assert PolynomialMap.from_expressions([Symbol("s'")], {"x": 1}).source.variables == ("s'",)


def test_relations_that_say_nothing_are_left_out() -> None:
    assert PolynomialMap.from_expressions([s], {"x": s}, [0, s - s]).relations == ()


def test_who_knows_that_relations_are_prime() -> None:
    low_rank = SingleLayerAttention(3, 1, 1)
    known = low_rank.parametrization()
    assert known.prime
    assert not known.maybe_reducible
    assert known.restricted_to([0, 1]).prime
    for prime in (False, True):
        circle = PolynomialMap.from_expressions(
            [s, t], {"x": s, "y": t}, [s**2 + t**2 - 1], prime=prime
        )
        assert circle.restricted_to([1]).maybe_reducible is not prime
    assert not LINE.maybe_reducible


def test_denominators_that_the_characteristic_divides() -> None:
    halved = PolynomialMap.from_expressions([s, t], {"x": s, "y": t / 14}, [s / 3 - t])
    for p, said in [(7, "the coordinate y"), (2, "the coordinate y"), (3, "a relation")]:
        with pytest.raises(InvalidCaseError, match=said) as refused:
            dimension(halved, field=CoefficientField(p))
        assert refused.value.option == "field"
    halved.check_field(CoefficientField(5))
    halved.check_field(QQ)


def test_linear_relations_modulo_a_prime() -> None:
    """2s and 3s: over QQ each is a multiple of the other, over GF(2) the first is zero, over GF(3)
    the second.
    """
    multiples = PolynomialMap.from_expressions([s, t], {"x": 2 * s, "y": 3 * s, "z": t**2})
    expected = {
        0: ((0, 2), {1: 1, 0: Fraction(-3, 2)}),
        2: ((1, 2), {0: 1}),
        3: ((0, 2), {1: 1}),
        5: ((0, 2), {0: 1, 1: 1}),
    }
    for p, (basis, form) in expected.items():
        field = CoefficientField(p)
        reduction = reduce_linearly(multiples, field=field)
        assert reduction.basis == basis
        (found,) = reduction.linear_forms(multiples, field=field)
        ring = multiples.target(field=field).sympy_ring
        assert found == sum(
            ring.gens[i] * ring.domain.from_sympy(Rational(c)) for i, c in form.items()
        )


def test_radicals_need_primes_that_macaulay2_factors_over() -> None:
    crossing = PolynomialMap.from_expressions([s, t], {"x": s}, [s * t])
    with pytest.raises(MethodUnavailableError, match="radical"):
        elimination_values(crossing, field=CoefficientField(2147483647))
    assert elimination_values(crossing, field=CoefficientField(32003))["radical"] is True
    assert elimination_values(LINE, field=CoefficientField(2147483647))["radical"] is False


@pytest.mark.parametrize("timeout", [0, -1, 0.0, float("nan"), float("inf"), "5", True])
def test_a_limit_is_a_number_of_seconds(timeout: object) -> None:
    with pytest.raises(InvalidCaseError, match="timeout"):
        closure(LINE, max_degree=1, timeout=timeout)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", [3, "d=2", None, (2, 1)])
def test_what_is_no_case_is_refused(case: object) -> None:
    for compute in (closure, dimension, singular_locus, as_model):
        with pytest.raises(InvalidCaseError, match="must be a model, a PolynomialMap"):
            compute(case)  # type: ignore[operator]


@pytest.mark.parametrize("degree", ["4", 4.0, True])
def test_a_degree_is_an_integer(degree: object) -> None:
    with pytest.raises(InvalidCaseError, match="must be an integer"):
        closure(LINE, max_degree=degree)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [2.0, True, "2", None])
@pytest.mark.parametrize("option", ["d", "d_out", "a", "t"])
def test_the_numbers_of_a_model_are_integers(option: str, wrong: object) -> None:
    if (option, wrong) == ("a", None):
        return
    with pytest.raises(InvalidCaseError, match="must be an integer") as refused:
        SingleLayerAttention(**({"d": 2, "d_out": 1} | {option: wrong}))  # type: ignore[arg-type]
    assert refused.value.option == option


def test_a_map_without_parameters_is_a_point() -> None:
    point = PolynomialMap.from_expressions([], {"x": 3, "y": Rational(1, 2)})
    found = dimension(point)
    assert (found.dimension, found.status) == (0, "proved")
    values = elimination_values(point, field=QQ)
    assert (values["parameters"], values["relations"], values["radical"]) == (
        "noParameter",
        "{noParameter}",
        False,
    )


# Ranks of differentials at random points: over small fields and their extensions, and what they
# prove.

s, t, u = symbols("s t u")


@pytest.mark.parametrize("p", [2, 3, 5, 7, 31])
def test_no_point_over_a_small_field_is_random(p: int) -> None:
    """s(t^p − t) vanishes with its derivative by s at all points over GF(p)."""
    field = CoefficientField(p)
    bent = PolynomialMap.from_expressions([s, t], {"x": s * (t**p - t), "y": t})
    assert {
        differential_rank(bent, point, field=field) for point in product(range(p), repeat=2)
    } == {1}
    assert generic_rank(bent, 2, field=field) == (2, f"GF({p}^{extension_degree(p)})")
    assert dimension(bent, field=field).status == "proved"


def random_map(p: int, seed: int) -> dict[str, Expr]:
    chance = Random(seed)
    monomials = [
        s**i * t**j * u**k for i, j, k in product(range(p + 1), repeat=3) if i + j + k <= p + 1
    ]
    return {
        x: sum(chance.randint(1, p) * m for m in chance.sample(monomials, 2))
        for x in ("x", "y", "z")
    }


def rank_by_minors(jacobian: Matrix, p: int) -> int:
    """The size of the largest minor of a 3×3 matrix that is no multiple of p, as a polynomial."""
    for size in (3, 2, 1):
        for rows, columns in product(combinations(range(3), size), repeat=2):
            minor = jacobian.extract(list(rows), list(columns)).det(method="berkowitz")
            if not Poly(minor, s, t, u, modulus=p).is_zero:
                return size
    return 0


@pytest.mark.parametrize("p", [2, 3, 5, 7])
@pytest.mark.parametrize("seed", few(range(12), 4))
def test_the_rank_is_that_over_the_field_of_rational_functions(p: int, seed: int) -> None:
    images = random_map(p, seed)
    expected = rank_by_minors(Matrix(list(images.values())).jacobian([s, t, u]), p)
    assert (
        generic_rank(
            PolynomialMap.from_expressions([s, t, u], images), 3, field=CoefficientField(p)
        )[0]
        == expected
    )


@pytest.mark.parametrize("p", [2, 3, 5, 101, LARGE_PRIME])
def test_an_inseparable_map_has_only_a_lower_bound(p: int) -> None:
    power = PolynomialMap.from_expressions(
        [s, t], {"x": s**p, "y": t} if p < 10 else {"x": p * s, "y": t}
    )
    found = dimension(power, field=CoefficientField(p), method="jacobian")
    assert (found.dimension, found.status) == (1, "lower bound")
    assert "can be less than the dimension" in found.findings[0].remark
    assert dimension(power).status == "proved"


def test_a_lower_bound_below_a_value_is_no_disagreement() -> None:
    def found(*findings: tuple[int | None, str]) -> Dimension:
        named = []
        for n, (value, status) in enumerate(findings):
            upper = None if status == "lower bound" else value
            instead: Literal["", "formula"] = "formula" if status == "formula" else ""
            named.append(MethodValue(f"method {n}", Bounds(value, upper), instead))
        assert [one.status for one in named] == [status for _, status in findings]
        model = as_model(SingleLayerAttention(2, 2))
        return Dimension(
            model=model, field=QQ, findings=tuple(named), engine_version=None, seconds=0.0
        )

    for agreeing in [
        [(5, "lower bound"), (7, "formula"), (7, "proved")],
        [(5, "lower bound"), (6, "lower bound")],
        [(None, "unfinished"), (7, "formula")],
    ]:
        assert found(*agreeing).agree
    for different in [
        [(8, "lower bound"), (7, "formula"), (7, "proved")],
        [(6, "formula"), (7, "proved")],
        [(None, "unfinished")],
    ]:
        assert not found(*different).agree
    text = found((5, "lower bound"), (7, "proved")).to_text()
    assert "no lower bound exceeds" in text
    assert "all methods agree" not in text
    assert "all methods agree" in found((7, "lower bound"), (7, "proved")).to_text()
    assert "do NOT agree" in found((8, "lower bound"), (7, "proved")).to_text()
    late = found((7, "proved"), (7, "formula"), (None, "unfinished")).to_text()
    assert "the methods that finished agree; not finished: method 2\n" in late
    assert "all methods" not in late


def test_another_prime_is_tried_where_one_is_unlucky() -> None:
    divided = PolynomialMap.from_expressions(
        [s, t], {"x": s**2, "y": LARGE_PRIME * s * t, "z": s**2 + LARGE_PRIME * t**2}
    )
    modular, exact = jacobian_findings(as_model(divided))
    assert (modular.method, modular.value, exact.value) == ("jacobian mod 2147483629", 2, 2)


ONE_TOKEN = [
    (1, 1, 1),
    (1, 3, 1),
    (2, 1, 1),
    (2, 1, 2),
    (2, 3, 1),
    (3, 1, 1),
    (3, 2, 2),
    (4, 2, 1),
    (5, 1, 2),
]


@pytest.mark.parametrize("p", [0, 2, 3, 5])
@pytest.mark.parametrize("case", ONE_TOKEN)
def test_the_dimension_of_one_token_is_proved(case: tuple[int, int, int], p: int) -> None:
    """The rank attains the bound; for d > 2a it is below what all quadratic forms would give."""
    d, d_out, a = case
    model = SingleLayerAttention(d, d_out, a, t=1)
    found = dimension(model, field=CoefficientField(p))
    assert (found.dimension, found.status) == (dimension_bound(model), "proved")
    assert (found.dimension < d * (d + 1) // 2 + d * d_out - 1) == (2 * a < d)


BLOCKS = [
    (d, d_out, a, t)
    for d, d_out, a, t in product((1, 2, 3, 4), (1, 3), (1, 2, 4), (1, 2))
    if a <= d
]


@pytest.mark.parametrize("p", [0, 2, 3, 7])
def test_one_block_says_what_the_whole_differential_does(p: int) -> None:
    """Of every case: neither way knows the other."""
    field = CoefficientField(p) if p else QQ
    for case in BLOCKS:
        model = SingleLayerAttention(*case)
        (block,) = one_block.lower_bounds(model, p)
        whole = generic_rank(
            model.in_coordinates().free_parametrization(), dimension_bound(model), field=field
        )
        assert block.value == whole[0], case


def test_a_block_with_a_larger_kernel_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """C = m mᵀ and m for one token, where y·m divides the form: another one is tried, and no value
    is given.
    """
    monkeypatch.setattr(
        one_block,
        "_random_block_weights",
        lambda *given: [(((1, 2), (2, 4)), (1, 2)), (((0, 1), (-1, 0)), (1, 2))],
    )
    assert list(one_block.lower_bounds(SingleLayerAttention(9, 9, 3, 1), 0)) == []
    assert list(one_block.lower_bounds(SingleLayerAttention(9, 9, 3, 2), 0)) == []


@pytest.mark.parametrize(("t", "value"), [(128, 5055), (1, 4999)])
def test_the_dimension_of_a_case_that_nobody_can_expand_is_proved(t: int, value: int) -> None:
    """With more than eight million coordinates, the same as of the deep network of one layer."""
    found = dimension(SingleLayerAttention(64, 64, 8, t))
    assert (found.dimension, found.status, found.unfinished) == (value, "proved", "")
    deep = dimension(DeepAttention(widths=(64, 64), a=(8,), t=t))
    assert (deep.dimension, deep.status) == (value, "proved")


def test_the_bound_for_several_tokens_is_the_formula() -> None:
    for case in [(2, 1), (2, 2, 1), (3, 2, 2), (4, 3, 2)]:
        assert dimension_bound(SingleLayerAttention(*case)) == dimension_formula(
            SingleLayerAttention(*case)
        )


def test_ranks_at_singular_points_of_the_source_can_exceed_the_dimension() -> None:
    """At rk A = 1 < a = 2 < d = 3 every matrix is tangent to {rk A ≤ 2}; so such a rank bounds no
    dimension.
    """
    model = SingleLayerAttention(3, 2, 2)
    assert tangent.differential_rank(Orbit(1, 2, 0), model) == 14 > dimension_formula(model)
    attention = model.parametrization()
    with pytest.raises(MethodUnavailableError, match="parameters are free"):
        differential_rank(attention, (1,) * len(attention.source.variables))


def test_a_determinant_that_the_first_primes_divide_is_not_zero() -> None:
    """As many primes are tried as Hadamard's bound asks for."""
    product_of_three = prod(islice(primes_from(LONG_PRIME), 3))
    assert (
        linear_rank([[product_of_three, 0], [0, 1]])
        == linear_rank([[1, 1], [1, 1 + product_of_three]])
        == 2
    )


def test_one_coordinate_is_named_in_the_singular() -> None:
    (t,) = symbols("t,")
    line = as_model(PolynomialMap.from_expressions([t], {"x": t}))
    assert line.title == "polynomial map to 1 coordinate"
    assert line.ambient == "1 coordinate x"


# Upper bounds for the rank, by Kronecker's substitution.

a, b, c, d = symbols("a b c d")
CUBES = {"x": s**3 - t, "y": s * t, "z": t**2 + 2 * s, "w": Rational(1, 3) * s * t**2 - s**3}
QUADRICS = {
    "x": a**2 + b**2,
    "y": a * c + b * d,
    "z": a * s + b * t,
    "u": c**2 + d**2,
    "v": c * s + d * t,
    "w": s**2 + t**2,
}
MAPS_WITH_RANKS = (
    ((s, t), {"x": 0 * s, "y": s + t}, 1),
    ((s, t), {"x": 7 + 0 * s, "y": 1 + 0 * s}, 0),
    ((s, t), {"x": s + t, "y": (s + t) ** 3, "z": 2 * s + 2 * t}, 1),
    ((s, t), CUBES, 2),
    ((a, b, c), {"x": a * b + c, "y": (a * b + c) ** 2, "z": a - Rational(1, 2) * b}, 2),
    ((a, b, c, d), {"x": a * c, "y": a * d, "z": b * c, "w": b * d}, 3),
    # symmetric matrices of rank 2, with the scalings of rows only
    ((a, b, c, d, s, t), QUADRICS, 5),
    # a minor that is a power of one parameter minus another one, and small at small numbers
    ((s, t), {"x": s**8 - t * s, "y": s**8 + t}, 2),
)


@pytest.mark.parametrize(("parameters", "images", "rank"), MAPS_WITH_RANKS)
def test_upper_bounds_of_a_rank_are_proved(parameters, images, rank):
    """Exactly those from the rank over the field of rational functions on, which SymPy computes."""
    names = list(images)
    functions = Matrix([images[name] for name in names])
    jacobian = functions.jacobian(Matrix(parameters))
    assert DomainMatrix.from_Matrix(jacobian).to_field().rank() == rank
    polynomial_map = PolynomialMap.from_expressions(parameters, images)
    assert [generic_rank_is_at_most(polynomial_map, n) for n in range(-1, 7)] == [
        n >= rank for n in range(-1, 7)
    ]


@pytest.mark.parametrize("seed", range(8))
def test_upper_bounds_of_ranks_of_random_maps_are_those_of_sympy(seed):
    """Four functions of one or two random polynomials, whose rank is less than the numbers say."""
    random = Random(seed)
    inner = []
    for _ in range(1 + seed % 2):
        coefficients = [random.randint(-3, 3) for _ in range(4)]
        inner.append(sum(c * m for c, m in zip(coefficients, (a * b, b**2, c, a), strict=True)))
    outer = [*inner, inner[0] * inner[-1], inner[0] ** 2 + inner[-1], 2 * inner[-1] - inner[0]][:4]
    jacobian = Matrix(outer).jacobian(Matrix([a, b, c]))
    rank = DomainMatrix.from_Matrix(jacobian).to_field().rank()
    images = {f"f_{i}": image for i, image in enumerate(outer)}
    polynomial_map = PolynomialMap.from_expressions([a, b, c], images)
    assert [generic_rank_is_at_most(polynomial_map, n) for n in range(4)] == [
        n >= rank for n in range(4)
    ]


def test_dimensions_below_all_bounds_that_need_no_computation_are_proved():
    """The coordinates are functions of s*t + u*v, of which no group of symmetries is known."""
    images = {"x": a * b + c * d, "y": (a * b + c * d) ** 2, "z": 3 * a * b + 3 * c * d}
    result = dimension(PolynomialMap.from_expressions((a, b, c, d), images))
    assert (result.dimension, result.status) == (1, "proved")
    assert result.findings[-1].remark == "no larger minor is a nonzero polynomial"


def test_an_upper_bound_that_would_take_long_is_not_tried():
    """The closure has dimension 1; the values of minors would have more than 10^9 digits."""
    variables = symbols("x_1:13")
    form = sum(x**9 + x for x in variables)
    large = PolynomialMap.from_expressions(variables, {"f": form, "g": 2 * form})
    assert generic_rank_is_at_most(large, 1) is False
    assert dimension(large).status == "lower bound"
