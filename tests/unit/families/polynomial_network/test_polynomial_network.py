"""Polynomial networks against their definition in SymPy, closed formulas and known
defective cases.
"""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from math import comb
from operator import mul
from random import Random
from types import SimpleNamespace
from typing import cast

import flint
import pytest
from sympy import Expr, Integer, Matrix, Poly, Symbol, symbols
from sympy.polys.matrices import DomainMatrix

from m2bridge import certify, cross_check, verify
from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.certificates import conditions
from m2bridge.certificates.form import Certificate
from m2bridge.certification.make import question_of
from m2bridge.errors import (
    ContradictionError,
    InvalidCaseError,
    MethodUnavailableError,
    TooLargeError,
)
from m2bridge.families.polynomial_network import bounds, checker, model
from m2bridge.families.polynomial_network.activation import ActivatedNetwork
from m2bridge.families.polynomial_network.model import (
    STATEMENTS,
    PolynomialNetwork,
    expected_dimension,
    layer_chain,
    monomials,
)
from m2bridge.implicitization.implicitize import implicitize
from m2bridge.implicitization.multigraded_map import (
    coordinate_permutation,
    coordinates_by_image,
    finest_grading,
    multigraded,
)
from m2bridge.maps.chain import coordinate_bound
from m2bridge.maps.jacobian_rank import rank_result
from m2bridge.maps.model import DifferentiableModel, Model
from m2bridge.maps.polynomial_map_model import MapModel
from tests.changing import with_formulas

SMALL = [
    ((2, 2, 1), 2),
    ((2, 2, 2), 2),
    ((2, 3, 1), 2),
    ((3, 2, 1), 2),
    ((2, 2, 1), 3),
    ((1, 2, 2), 3),
    ((2, 1, 2, 1), 2),
    ((2, 2, 1, 1), 2),
    ((2, 3), 2),
    ((2, 2, 2), 1),
    ((3, 2, 1), 1),
    ((1, 3, 1), 1),
]


def written_out(widths: tuple[int, ...], degree: int) -> tuple[list[Symbol], list[Expr]]:
    """The weights, and the coefficients of the outputs that are not zero, by SymPy from the
    definition alone.
    """
    x = symbols(f"x1:{widths[0] + 1}")
    weights = [
        Matrix(after, before, lambda i, j, k=k: Symbol(f"W_{k}_{i + 1}_{j + 1}"))
        for k, (before, after) in enumerate(pairwise(widths), 1)
    ]
    value = weights[0] * Matrix(x)
    for matrix in weights[1:]:
        value = matrix * value.applyfunc(lambda z: z**degree)
    return [w for matrix in weights for w in matrix], [
        c for f in value for c in Poly(f.expand(), *x).coeffs()
    ]


@pytest.mark.parametrize(("widths", "degree"), SMALL)
def test_the_parametrization_is_the_expanded_definition(
    widths: tuple[int, ...], degree: int
) -> None:
    network = PolynomialNetwork(widths, degree)
    weights, coefficients = written_out(widths, degree)
    found = network.parametrization()
    assert found.source.variables == tuple(map(str, weights))
    assert len(found.coordinates) == network.coordinate_count
    assert [
        (image.as_expr() - c).expand() for image, c in zip(found.images, coefficients, strict=True)
    ] == [Integer(0)] * len(coefficients)


@pytest.mark.parametrize(("widths", "degree"), SMALL)
def test_the_rank_is_that_of_the_symbolic_jacobian(widths: tuple[int, ...], degree: int) -> None:
    weights, coefficients = written_out(widths, degree)
    jacobian = Matrix(coefficients).jacobian(weights)
    assert (
        rank_result(PolynomialNetwork(widths, degree)).lower
        == DomainMatrix.from_Matrix(jacobian).to_field().rank()
    )


@pytest.mark.parametrize(
    ("widths", "degree", "dimension"),
    [
        ((2, 2, 1), 2, 3),
        ((2, 2, 2), 2, 6),
        ((2, 3, 1), 2, 3),
        ((2, 2, 3), 2, 8),  # three quadratic forms in a pencil: examples/polynomial_layer.toml
        ((6, 6, 6, 6, 6, 6, 6), 2, 186),
        ((6, 5, 4, 3, 2, 1, 2), 2, 56),
        ((2, 1, 2, 1), 2, 2),  # c·(w·x)^4
        ((3, 4, 5), 1, 15),
    ],
)
def test_dimensions_that_are_known(widths: tuple[int, ...], degree: int, dimension: int) -> None:
    found = rank_result(PolynomialNetwork(widths, degree))
    assert (found.lower, found.status) == (dimension, "proved")


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_sums_of_powers_are_as_alexander_and_hirschowitz_say(n: int) -> None:
    """All of the exceptions with at most five variables occur here."""
    exceptions = {(3, 5, 4): 14, (4, 9, 4): 34, (5, 14, 4): 69, (5, 7, 3): 34}
    for r, m in product((2, 3, 4), range(1, 16)):
        ambient = comb(n - 1 + r, r)
        rank = min(m, n)
        expected = rank * (2 * n - rank + 1) // 2 if r == 2 else min(m * n, ambient)
        found = rank_result(PolynomialNetwork((n, m, 1), r))
        assert (found.lower, found.status) == (exceptions.get((n, m, r), expected), "proved"), (
            n,
            m,
            r,
        )


def test_linear_networks_are_matrices_of_bounded_rank() -> None:
    for widths in [w for l in (2, 3, 4) for w in product((1, 2, 3), repeat=l)]:
        rank = min(widths)
        found = rank_result(PolynomialNetwork(widths, 1))
        assert (found.lower, found.status) == (rank * (widths[0] + widths[-1] - rank), "proved"), (
            widths
        )


def test_the_gauge_group_of_linear_networks_by_linear_algebra() -> None:
    """Tangent space of the orbit of Π GL(d_i): all (X_i W_i − W_i X_{i−1}) with X_0 = X_l = 0, at
    random W.
    """
    random = Random(7)
    for widths in [
        (2, 2),
        (3, 2, 1),
        (1, 3, 1),
        (3, 2, 3),
        (2, 1, 3, 2),
        (3, 1, 2, 1, 3),
        (2, 3, 3, 1),
        (2, 2, 2, 2),
    ]:
        weights = [
            Matrix(b, a, lambda i, j: random.randrange(1, 10**6)) for a, b in pairwise(widths)
        ]
        rows = []
        for k in range(1, len(widths) - 1):
            for i, j in product(range(widths[k]), repeat=2):
                X = Matrix(widths[k], widths[k], lambda a, b, i=i, j=j: int((a, b) == (i, j)))
                moved = [0 * w for w in weights]
                moved[k - 1], moved[k] = X * weights[k - 1], -weights[k] * X
                rows.append([int(entry) for matrix in moved for entry in matrix])
        assert bounds.gauge_dimension(widths, 1) == rank_mod(rows, LARGE_PRIME), widths


def test_no_rank_exceeds_a_bound_and_few_are_below() -> None:
    """Where the bounds of docs/polynomial-networks.md do not decide, nothing is claimed."""
    undecided = set()
    shapes = [
        *product(range(1, 6), repeat=3),
        *product(range(1, 4), repeat=4),
        *product((1, 2), repeat=5),
    ]
    for widths, degree in product(shapes, (2, 3)):
        if rank_result(PolynomialNetwork(widths, degree)).status != "proved":
            undecided.add((widths, degree))
    assert undecided == set()


def test_flattenings_have_full_rank_for_generic_forms() -> None:
    """The bounds by catalecticants and skew-symmetric matrices need forms for which the matrices
    have larger rank.
    """
    random = Random(3)
    for n in (1, 2, 3, 4, 5):
        forms = [
            [[random.randrange(LARGE_PRIME) for _ in range(n)] for _ in range(n)] for _ in range(3)
        ]
        A, B, C = ([[f[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)] for f in forms)
        blocks = [[0, A, B], [A, 0, C], [B, C, 0]]
        signs = [[0, 1, 1], [-1, 0, 1], [-1, -1, 0]]
        rows = [
            [signs[a][b] * blocks[a][b][i][j] if a != b else 0 for b in range(3) for j in range(n)]
            for a in range(3)
            for i in range(n)
        ]
        assert rank_mod(rows, LARGE_PRIME) == 3 * n - n % 2
    assert (
        bounds.best_bound((4, 5, 3), 2).value
        == 29
        == rank_result(PolynomialNetwork((4, 5, 3), 2)).lower
    )


def test_the_bounds_of_the_checker_are_those_of_the_maker() -> None:
    """Written twice; also where no rank meets them."""
    cases = [
        (widths, degree)
        for layers in (1, 2, 3)
        for widths in product(range(1, 6), repeat=layers + 1)
        for degree in (1, 2, 3)
    ]
    cases += [
        # more points than a rational normal curve passes through
        ((3, 6, 3), 3),
        ((3, 6, 6), 2),
        ((5, 7, 1), 3),
        ((5, 7, 1), 4),
        ((6, 8, 3), 2),
        ((6, 9, 3), 2),
        ((2, 3, 4, 5, 6, 6, 6), 2),
    ]
    for widths, degree in cases:
        bound = bounds.best_bound(widths, degree)
        assert checker.upper_bound(widths, degree) == bound.value, (widths, degree)


def test_a_rank_above_a_bound_refutes_the_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a bound below the dimension, which no certificate is refused for."""
    right = checker.upper_bound((2, 2, 1), 2)
    certificate = _stored((2, 2, 1), 2, right)
    assert checker.expected(certificate).evidence["dimension"] == right
    monkeypatch.setattr(checker, "upper_bound", lambda *_, of_release_1_0=False: right - 1)
    with pytest.raises(ContradictionError, match="above the bound"):
        checker.expected(certificate)


def test_what_no_bound_reaches_is_a_lower_bound() -> None:
    found = rank_result(PolynomialNetwork((3, 4, 6, 6, 1), 2))
    assert (found.lower, found.upper, found.status) == (42, 43, "lower bound")


def test_a_prediction_above_a_proved_bound_is_refuted() -> None:
    """45 forms of degree 8 in 3 variables are expected, and there are at most 43 dimensions."""
    network = PolynomialNetwork((3, 4, 6, 6, 1), 2)
    expected, of_equal_widths = cross_check(network).verdicts
    assert (expected.decision, expected.predicted, expected.observed) == (
        "REFUTED",
        45,
        "at most 43",
    )
    assert expected.reason == "dimension: computed at most 43, stated 45"
    assert of_equal_widths.decision == "NOT_APPLICABLE"
    certificate = certify(network, "expected-dimension")
    assert verify(certificate).outcome == "accepted"
    # A certificate of 1.0 leaves open what a bound refutes; a false bound is rejected.
    for observed, verdict, outcome in (
        (None, "UNDECIDED", "accepted"),
        ("at most 44", "REFUTED", "rejected"),
        (43, "REFUTED", "rejected"),
        (None, "REFUTED", "rejected"),
    ):
        verdicts = [dict(one) for one in certificate.answer["verdicts"]]
        verdicts[0] |= {"observed": observed, "verdict": verdict}
        changed = replace(certificate, answer={"verdicts": verdicts})
        assert verify(changed.sealed()).outcome == outcome, (observed, verdict)


@pytest.mark.parametrize(
    ("widths", "degree", "dimension", "bounds_of_1_0"),
    [
        ((5, 7, 1), 3, 34, 34),
        ((3, 5, 2), 3, 19, 20),
        ((4, 6, 5), 2, 47, 48),
        ((3, 4, 2, 1), 2, 11, 12),
        ((4, 5, 3, 1), 2, 26, 27),
        ((4, 6, 4, 1), 2, 34, 35),
    ],
)
def test_curves_and_sums_of_squares_decide(
    widths: tuple[int, ...], degree: int, dimension: int, bounds_of_1_0: int
) -> None:
    """Bounds 8 and 10; a certificate of release 1.0 with its weaker bound is right, too."""
    assert rank_result(PolynomialNetwork(widths, degree)).exact == dimension
    assert checker.upper_bound(widths, degree, of_release_1_0=True) == bounds_of_1_0
    for upper, decided in ((dimension, dimension), (bounds_of_1_0, None)):
        if bounds_of_1_0 > dimension:
            content = checker.expected(_stored(widths, degree, upper))
            assert content.evidence["upper_bound"] == upper
            assert content.evidence["dimension"] == decided
    assert checker.expected(_stored(widths, degree, 10**6)).evidence["upper_bound"] == dimension


def _stored(widths: tuple[int, ...], degree: int, upper: int) -> Certificate:
    """A certificate with this upper bound and verdicts in the present words."""
    network = PolynomialNetwork(widths, degree)
    question = question_of("polynomial-network", "expected-dimension")
    content = question.content(network, question.observe(network))
    evidence = content.evidence | {"upper_bound": upper}
    return cast(
        "Certificate",
        SimpleNamespace(case=network.to_json(), answer=content.answer, evidence=evidence),
    )


def test_sums_of_squares_have_the_rank_over_the_rationals() -> None:
    """Bound 10 on a grid, with exact ranks of expanded Jacobian matrices by FLINT; where there is
    one hidden layer it is the dimension of the quadratic forms of rank at most k.
    """
    random = Random(10)
    grid = [(*widths, 1) for l in (2, 3) for widths in product((1, 2, 3), repeat=l)]
    for widths in [*grid, (3, 4, 2, 1), (1, 5, 1), (2, 5, 1), (5, 2, 1)]:
        (bound,) = bounds._bounds_by_orthogonal_group(
            widths, lambda part: bounds.best_bound(part, 2)
        )
        rank = rank_over_the_rationals(widths, random)
        assert rank <= bound.value, widths
        assert rank == bounds.best_bound(widths, 2).value, widths
        if len(widths) == 3:
            n, k = min(widths[:2]), widths[0]
            assert bound.value == n * (2 * k - n + 1) // 2, widths


def rank_over_the_rationals(widths: tuple[int, ...], random: Random) -> int:
    """The rank over QQ of the Jacobian matrix of the coefficients, for r = 2, at random integers."""
    names = [f"x{j}" for j in range(widths[0])]
    sizes = [before * after for before, after in pairwise(widths)]
    names += [f"w{n}" for n in range(sum(sizes))]
    ring = flint.fmpz_mpoly_ctx.get(names)
    generators = ring.gens()
    weights = list(generators[widths[0] :])
    y = list(generators[: widths[0]])
    for k, (before, after) in enumerate(pairwise(widths)):
        squares = [entry * entry for entry in y] if k else y
        rows = [[weights.pop(0) for _ in range(before)] for _ in range(after)]
        y = [sum(w * entry for w, entry in zip(row, squares, strict=True)) for row in rows]
    point = {name: random.randint(1, 99) for name in names[widths[0] :]}
    gradients = []
    for name in point:
        derivative = y[0].derivative(name).subs(point)
        gradients.append({e[: widths[0]]: int(c) for e, c in derivative.terms()})
    exponents = sorted(set().union(*gradients))
    return flint.fmpz_mat([[row.get(e, 0) for e in exponents] for row in gradients]).rank()


def test_the_span_of_hidden_polynomials() -> None:
    """The number ρ of bound 10 by values of random networks: never more, and exact for two layers."""
    random = Random(11)
    shapes = [w for l in (2, 3, 4, 5) for w in product((1, 2, 3, 5), repeat=l)]
    for widths in [*random.sample(shapes, 150), (2, 3, 6, 6), (3, 6, 6, 20), (2, 3, 3, 8)]:
        weights = [
            [[random.randrange(LARGE_PRIME) for _ in range(a)] for _ in range(b)]
            for a, b in pairwise(widths)
        ]
        values = []
        for _ in range(widths[-1]):
            y = [random.randrange(LARGE_PRIME) for _ in range(widths[0])]
            for k, W in enumerate(weights):
                powers = [entry**2 for entry in y] if k else y
                y = [sum(map(mul, row, powers)) % LARGE_PRIME for row in W]
            values.append(y)
        rank = rank_mod(values, LARGE_PRIME)
        assert bounds.least_span(widths) <= rank, widths
        if len(widths) <= 3:
            assert bounds.least_span(widths) == rank, widths


def test_reasons_are_the_formulas_of_the_bounds() -> None:
    """The sum in a reason is the bound that it is printed for."""
    shapes = [*product(range(1, 6), repeat=3), *product(range(1, 4), repeat=4)]
    kinds = set()
    for widths, degree in product([*shapes, (3, 6, 5, 2, 1), (4, 6, 5)], (2, 3, 4)):
        bound = bounds.best_bound(widths, degree)
        if bound.because == "the number of coordinates":
            assert bound.value == PolynomialNetwork(widths, degree).coordinate_count
            continue
        if match := re.search(r"on (\d+) coordinates$", bound.because):
            value = int(match[1]) - 1
        elif match := re.match(r"(\d+) weights, less (\d+) for", bound.because):
            value = int(match[1]) - int(match[2])
        else:
            match = re.search(r"(\d+) ([+−]) (\d+)(?: − (\d+))?", bound.because)
            assert match is not None, bound
            value = int(match[1]) + int(f"{match[2]}{match[3]}".replace("−", "-"))
            value -= int(match[4] or 0)
        assert value == bound.value, (widths, degree, bound)
        kinds.add(re.sub(r"\d+", "n", bound.because))
    assert len(kinds) >= 7, kinds


def test_a_wrong_gauge_dimension_is_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "gauge_dimension", lambda widths, degree: sum(widths[1:-1]) + 1)
    with pytest.raises(ContradictionError, match="exceeds the upper bound"):
        rank_result(PolynomialNetwork((2, 2, 2)))


@pytest.mark.parametrize(
    ("widths", "degree"), [((2, 3, 2, 2), 2), ((3, 2, 2), 3), ((3, 1), 2), ((2, 3, 2), 1)]
)
def test_backpropagation_is_the_chain_rule_of_the_layers(
    widths: tuple[int, ...], degree: int
) -> None:
    network = PolynomialNetwork(widths, degree)
    chain = layer_chain(network)
    random = Random(11)
    for prime in (LARGE_PRIME, 2**61 - 1, 5):
        point, *rest = (
            [random.randrange(prime) for _ in range(size)]
            for size in [network.parameter_count] + 3 * [widths[0], widths[-1]]
        )
        inputs, covectors = rest[::2], rest[1::2]
        assert network.pullbacks(point, inputs, covectors, prime) == chain.pullbacks(
            point, inputs, covectors, prime
        )
    assert coordinate_bound(chain.layers) == network.coordinate_count
    assert chain.gauge_dimension() == (0 if len(widths) == 2 else sum(widths[1:-1]))


@pytest.mark.parametrize(("widths", "degree"), SMALL)
def test_the_expanded_map_has_the_same_dimension(widths: tuple[int, ...], degree: int) -> None:
    network = PolynomialNetwork(widths, degree)
    assert rank_result(MapModel(network.parametrization())).lower == rank_result(network).lower


@pytest.mark.parametrize(
    ("widths", "degree"),
    [((2, 2, 1), 2), ((3, 2, 2), 2), ((2, 2, 2, 1), 2), ((2, 3, 2), 1), ((3, 2), 1)],
)
def test_grading_and_symmetries(widths: tuple[int, ...], degree: int) -> None:
    network = PolynomialNetwork(widths, degree)
    found = network.parametrization()
    assert finest_grading(found, network.grading()).is_standard  # it is the finest one
    symmetries = network.symmetries()
    assert len(symmetries) == widths[0] - 1 + widths[-1] - 1
    # permutations of the parameters that permute the images, or it raises an error
    for symmetry in symmetries:
        moved = coordinate_permutation(found, coordinates_by_image(found), symmetry)
        assert sorted(moved) == list(range(len(found.coordinates))) != list(moved)
    assert len(set(multigraded(found, symmetries).symmetries)) == len(symmetries)


def test_the_ideal_of_a_network() -> None:
    """Three quadratic forms in a pencil: the determinant of their coefficients, and nothing
    else.
    """
    network = PolynomialNetwork((2, 2, 3))
    found = network.parametrization()
    assert implicitize(multigraded(found, network.symmetries()), 4).generator_counts == {3: 1}


def test_wrong_gradings_and_symmetries_are_noticed() -> None:
    network = PolynomialNetwork((2, 2, 1))
    found, degrees = network.parametrization(), network.grading()
    by_image = coordinates_by_image(found)
    with pytest.raises(MethodUnavailableError, match="does not permute the images"):
        coordinate_permutation(found, by_image, {"W_1_1_1": "W_1_1_2", "W_1_1_2": "W_1_1_1"})
    with pytest.raises(ContradictionError):
        finest_grading(found, ((1, 2, 1), *degrees[1:]))


def test_a_network_is_a_model_with_capabilities() -> None:
    network = PolynomialNetwork((2, 2, 1))
    for kind in (Model, DifferentiableModel):
        assert isinstance(network, kind)
    assert network.statements()
    assert network.upper_bounds(0)


def test_statements_predict_and_may_be_wrong() -> None:
    expected, equal = network_statements = PolynomialNetwork((2, 2, 1)).statements()
    assert network_statements == STATEMENTS
    defective = PolynomialNetwork((3, 2, 1))
    assert expected.predict(defective) == 6 != rank_result(defective).lower
    assert expected.hypotheses(PolynomialNetwork((2, 2, 2), 1))
    assert equal.hypotheses(defective)
    for widths, degree in [((2, 2, 2, 2), 2), ((3, 3, 3), 3), ((4, 4, 4, 4), 2), ((1, 1, 1), 2)]:
        network = PolynomialNetwork(widths, degree)
        assert equal.hypotheses(network) == ""
        assert equal.predict(network) == rank_result(network).lower == expected_dimension(network)


@pytest.mark.parametrize(
    ("widths", "degree", "option"),
    [
        ((2,), 2, "widths"),
        ((2, 0, 1), 2, "widths"),
        ((2, 2.0, 1), 2, "widths"),
        ("2,2,1", 2, "widths"),
        (5, 2, "widths"),
        ((2, 2, 1), 0, "degree"),
        ((2, 2, 1), True, "degree"),
        ((2, 2, 1), 10**7, "degree"),
        ((1000, 1000), 2, "widths"),
        ((1,) * 102, 2, "widths"),
    ],
)
def test_what_is_no_network_is_refused(widths: object, degree: object, option: str) -> None:
    with pytest.raises(InvalidCaseError) as refused:
        PolynomialNetwork(widths, degree)  # type: ignore[arg-type]
    assert refused.value.option == option


def test_what_is_too_large_to_expand_is_refused_and_has_a_dimension() -> None:
    for network in (PolynomialNetwork((3, 3, 3, 3, 1)), PolynomialNetwork((9, 2, 1), 9)):
        with pytest.raises((InvalidCaseError, TooLargeError), match=r"at most|more than"):
            network.parametrization()
        assert rank_result(network).status == "proved"
    with pytest.raises(TooLargeError, match="more than"):
        PolynomialNetwork((9, 2, 1), 9).grading()


@pytest.mark.slow
def test_enormous_degrees() -> None:
    """Forms whose degree has hundreds of digits."""
    deep = PolynomialNetwork((2,) * 101, 10**6)
    with pytest.raises(TooLargeError, match="more than"):
        deep.parametrization()
    found = rank_result(deep)
    assert (found.lower, found.status) == (100 * 4 - 99 * 2, "proved")


def test_over_a_finite_field() -> None:
    """In characteristic 2 squares are additive, and the coefficient of x_1·x_2 is zero: the
    dimension is 2.
    """
    found = rank_result(PolynomialNetwork((2, 2, 1)), 2)
    assert (found.lower, found.status) == (2, "lower bound")
    assert rank_result(PolynomialNetwork((2, 2, 1)), 32003).lower == 3


def test_the_dimension_needs_no_sympy() -> None:
    code = (
        "import sys; from m2bridge.families.registry import family; from m2bridge.maps.jacobian_rank import"
        " rank_result;assert rank_result(family('polynomial-network').from_key('2-2-1-r2')).lower"
        " == 3;sys.exit('sympy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_examples() -> None:
    assert doctest.testmod(model).failed == 0


@pytest.mark.parametrize(("variables", "degree"), [(1, 0), (1, 3), (2, 2), (3, 0), (3, 4), (4, 1)])
def test_monomials_are_all_of_their_degree_in_decreasing_order(variables: int, degree: int) -> None:
    exponents = product(range(degree, -1, -1), repeat=variables)
    assert monomials(variables, degree) == [e for e in exponents if sum(e) == degree]


def test_monomials_in_thousands_of_variables() -> None:
    """A recursion over the variables would be too deep."""
    found = monomials(2000, 1)
    assert [vector.index(1) for vector in found] == list(range(2000))


# The statements stand once, as a table that program and checker read.


BY_HAND = {("expected-dimension", ""), ("expected-dimension", "equal widths")}
"""The statements with one formula, which is compared here."""


def test_a_formula_is_what_the_sentence_says() -> None:
    """The number of weights less that of hidden neurons, or of monomials, by hand."""
    general, equal = model.WORDS.statements
    assert {(words.key, words.part) for words in (general, equal)} == BY_HAND
    assert "min(Σ d_i d_{i−1} − Σ_{0<i<l} d_i, d_l·C(d_0 − 1 + r^(l−1), r^(l−1)))" in general.text
    assert equal.text.endswith("has the expected dimension.")
    assert general.value == equal.value
    for layers in (1, 2, 3):
        for widths, r in product(product((1, 2, 3), repeat=layers + 1), (1, 2, 3)):
            weights = sum(a * b for a, b in pairwise(widths)) - sum(widths[1:-1])
            forms = monomials(widths[0], r ** (layers - 1))
            by_hand = min(weights, widths[-1] * len(forms))
            numbers = conditions.CaseNumbers((widths, r), checker.NUMBERS)
            network = PolynomialNetwork(widths, r)
            for words, statement in zip(model.WORDS.statements, STATEMENTS, strict=True):
                assert statement.predict(network) == by_hand
                assert model.WORDS.predicted(words, numbers) == by_hand


HYPOTHESES: dict[str, tuple[str, Callable[[PolynomialNetwork], bool]]] = {
    "power": ("assumes an activation that is a power", lambda n: type(n) is PolynomialNetwork),
    "nonlinear": ("assumes an activation degree r ≥ 2", lambda n: n.degree > 1),
    "equal-widths": ("that all widths are equal", lambda n: len({*n.widths}) == 1),
}
"""What is said of each hypothesis, and when it holds."""


def test_hypotheses_are_those_of_the_sentence() -> None:
    assert model.WORDS.conditions.keys() == HYPOTHESES.keys()
    networks = [
        PolynomialNetwork((2, 2)),
        PolynomialNetwork((2, 3)),
        PolynomialNetwork((2, 2), 1),
        ActivatedNetwork((2, 2, 2), "x^2+x"),
    ]
    for name, (phrase, holds_for) in HYPOTHESES.items():
        assert phrase in model.WORDS.hypotheses[name]
        found = [not model.Hypotheses((name,))(network) for network in networks]
        assert found == [holds_for(network) for network in networks]
        assert set(found) == {True, False}
    for words in model.WORDS.statements:
        assert "For r ≥ 2" in words.text
        assert ("all equal" in words.text) == ("equal-widths" in words.assumes)
        assert (words.assumes[:2], words.meaning) == (("power", "nonlinear"), ("power",))
    assert STATEMENTS[0].predict(networks[-1]) is None


@pytest.mark.parametrize("wrong", ["weights", "weights - neurons + 1", "e * comb(n + r, n)"])
def test_a_wrong_value_in_the_table_is_refuted_by_program_and_checker(
    wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dimension is computed without the table, by both."""
    widths = (3, 3, 3)
    key = ("expected-dimension", "equal widths")
    certificate = _stored(widths, 2, 18)
    right = checker.expected(certificate).answer["verdicts"]
    monkeypatch.setattr(checker, "WORDS", with_formulas(checker.WORDS, key, value=wrong))
    found = checker.expected(certificate).answer["verdicts"]
    assert [verdict["verdict"] for verdict in right] == ["CONFIRMED", "CONFIRMED"]
    assert [verdict["verdict"] for verdict in found] == ["CONFIRMED", "REFUTED"]
    network = PolynomialNetwork(widths)
    by_program = model.ExpectedDimension(checker.WORDS.words(*key))(network)
    assert by_program != rank_result(network).exact == expected_dimension(network)
