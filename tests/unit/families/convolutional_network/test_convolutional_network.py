"""Convolutional networks against their definition, calculations by hand, and degrees that
Macaulay2 found alone, from the kernel of a map that SymPy expanded.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sympy import Poly, symbols

from m2bridge import ConvolutionalNetwork
from m2bridge.certificates.form import read
from m2bridge.certification.verify import verify_path
from m2bridge.errors import CertificateError, InvalidCaseError, TooExpensiveError, TooLargeError
from m2bridge.families.convolutional_network import checker, polar, statements
from m2bridge.families.convolutional_network.family import FAMILY
from m2bridge.families.convolutional_network.observation import (
    check_fibres_computable,
    checked_zero_types,
    filters_of,
    observe,
    source_degree,
)
from m2bridge.families.convolutional_network.shape import ZeroType
from m2bridge.maps.jacobian_rank import rank_result
from tests.changing import with_formulas

Sizes = tuple[int, ...]
CERTIFICATES = Path(__file__).parents[3] / "certificates"

BY_KERNELS: dict[tuple[Sizes, int], tuple[int, int]] = {
    ((2, 2), 2): (3, 4),
    ((2, 2), 3): (3, 6),
    ((2, 2), 4): (3, 8),
    ((2, 2), 5): (3, 10),
    ((3, 2), 2): (4, 12),
    ((2, 3), 2): (4, 6),
    ((3, 2), 3): (4, 27),
    ((2, 3), 3): (4, 9),
    ((4, 2), 2): (5, 32),
    ((3, 3), 2): (5, 24),
    ((2, 1, 2), 2): (3, 8),
    ((1, 3, 2), 2): (4, 12),
    ((1, 2), 2): (2, 1),
    ((2, 1), 3): (2, 3),
}
"""Dimension and degree of the closure."""

BY_MINORS: dict[tuple[Sizes, int], int | None] = {
    ((2, 2), 2): 1,
    ((2, 2), 3): 1,
    ((2, 3), 2): 2,
    ((1, 2), 2): None,
    ((2, 1), 3): None,
}
"""The dimension of the singular locus without zero, irreducible, by minors of a Jacobian matrix in
Macaulay2; ``None`` where it is empty.
"""


def stated_number(network: ConvolutionalNetwork, key: str) -> Any:
    """What a statement predicts."""
    (statement,) = (one for one in statements.STATEMENTS if one.key == key)
    return statement.predict(network)  # type: ignore[call-arg]


@pytest.mark.parametrize(("filters", "degree"), BY_KERNELS)
def test_dimension_and_degree(filters: Sizes, degree: int) -> None:
    network = ConvolutionalNetwork(filters, degree)
    stated = stated_number(network, "dimension"), stated_number(network, "degree")
    assert stated == BY_KERNELS[filters, degree]
    assert rank_result(network).exact == checker.lower_bound(filters, degree) == stated[0]
    without_zeros = ((0,) * len(filters), 0)
    assert checker.fibre_length(filters, degree, without_zeros) == 1
    assert checker.source_degree(filters, degree) == stated[1]


@pytest.mark.parametrize(("filters", "degree"), BY_MINORS)
def test_the_dimension_of_the_singular_locus(filters: Sizes, degree: int) -> None:
    """The functions of a type are Σ(k_i − e_i) − (L − 1) dimensional."""
    singular = [
        sum(filters) - sum(e) - (len(filters) - 1)
        for e, P in checker.types_of_zeros(filters)
        if (checker.fibre_length(filters, degree, (e, P)) or 0) > 1
    ]
    assert max(singular, default=None) == BY_MINORS[filters, degree]


def test_predictions_are_equal_in_maker_and_checker() -> None:
    cases = [*product((1, 2, 3), repeat=3), (1,), (7,), (20, 30), (4, 5)]
    for filters, degree in product(cases, (1, 2, 3)):
        network = ConvolutionalNetwork(filters, degree)
        for name, function in checker.NUMBERS.items():
            assert function((filters, degree)) == statements.NUMBERS[name](network)
        assert stated_number(network, "dimension") == checker.upper_bound(filters)
        assert source_degree(network) == checker.source_degree(filters, degree)
        fibres = statements.stated_fibres(network)
        assert (fibres and fibres.to_json()) == checker.stated_fibres(filters)
        singular = statements.stated_singular(network)
        assert (singular and singular.to_json()) == checker.stated_singular(filters)


@pytest.mark.parametrize("filters", [(1,), (4,), (2, 3), (2, 2, 3), (1, 2, 1)])
def test_types_of_zeros(filters: Sizes) -> None:
    network = ConvolutionalNetwork(filters)
    types = list(network.zero_types())
    assert len(types) == network.zero_type_count == checker.type_count(filters)
    assert types[0] == ZeroType((0,) * len(filters), 0)
    assert [(zeros.zeros, zeros.leading) for zeros in types] == checker.types_of_zeros(filters)
    for zeros in types:
        for size, count, w in zip(filters, zeros.zeros, filters_of(network, zeros), strict=True):
            assert (len(w), w.count(0)) == (size, count)
        leading = [
            next(a for a, entry in enumerate(w) if entry) for w in filters_of(network, zeros)
        ]
        assert sum(leading) == zeros.leading


@pytest.mark.parametrize(("filters", "degree"), [((2, 2), 3), ((3, 2), 2), ((2, 2, 2), 2)])
def test_all_fibres_have_the_stated_points(filters: Sizes, degree: int) -> None:
    lengths = [checker.fibre_length(filters, degree, z) for z in checker.types_of_zeros(filters)]
    assert lengths == checker.stated_fibres(filters)


@pytest.mark.parametrize(("filters", "points"), [((2, 2), 2), ((3, 3), 6), ((3, 2), 3)])
def test_without_activation_roots_are_distributed(filters: Sizes, points: int) -> None:
    """A polynomial of degree 2, 4, 3 has as many factors of degree 1, 2, 2."""
    cores = [checker.random_core(size) for size in filters]
    function = checker.output_form(cores, 1)
    assert checker.length_with_zeros(filters, 1, (0,) * len(filters), function) == points
    assert checker.fibre_length(filters, 1, ((0,) * len(filters), 0)) is None
    assert rank_result(ConvolutionalNetwork(filters, 1)).exact == 1 + sum(filters) - len(filters)


def forward(filters: list[list[int]], degree: int, x: list[Any]) -> Any:
    """The output, by the definition."""
    y = x
    for i, w in enumerate(filters):
        if i:
            y = [entry**degree for entry in y]
        y = [sum(w[a] * y[j + a] for a in range(len(w))) for j in range(len(y) - len(w) + 1)]
    (output,) = y
    return output


def test_the_map_is_the_forward_pass() -> None:
    network = ConvolutionalNetwork((2, 3), 3)
    random = Random(1)
    filters = [[random.randint(-5, 5) for _ in range(size)] for size in network.filters]
    x = [random.randint(-5, 5) for _ in range(network.input_count)]
    found = Fraction(0)
    images = network.parametrization().images
    for name, image in zip(network.coordinate_names(), images, strict=True):
        monomial = 1
        for base, exponent in zip(x, name.split("_")[1:], strict=True):
            monomial *= base ** int(exponent)
        found += Fraction(int(image(*filters[0], *filters[1]))) * monomial
    assert found == forward(filters, 3, x)


@pytest.mark.parametrize(("filters", "degree"), [((3, 2), 2), ((2, 1, 2), 3), ((4,), 2)])
def test_gradients_are_derivatives_of_the_definition(filters: Sizes, degree: int) -> None:
    network, prime, random = ConvolutionalNetwork(filters, degree), 10007, Random(5)
    weights = [list(symbols(f"w{i}_1:{size + 1}")) for i, size in enumerate(filters)]
    listed = [weight for w in weights for weight in w]
    x = [random.randrange(1, 99) for _ in range(network.input_count)]
    point = [random.randrange(1, 99) for _ in listed]
    output = Poly(forward(weights, degree, x), *listed)
    expected = [5 * int(output.diff(weight).eval(tuple(point))) % prime for weight in listed]
    assert network.pullbacks(point, [x], [[5]], prime) == [expected]


BY_SLICES: dict[tuple[Sizes, int], tuple[int, ...]] = {
    ((2, 2), 2): (4, 6, 4),
    ((2, 2), 3): (6, 10, 6),
    ((3, 2), 2): (12, 28, 27, 12),
    ((2, 3), 2): (6, 10, 6, 0),
    ((2, 1), 3): (3, 4),
    ((1, 2), 2): (1, 0),
    ((2, 2, 2), 2): (48, 136, 148, 72),
}
"""Polar degrees that were counted in slices of the conormal variety, modulo primes."""


@pytest.mark.parametrize(("filters", "degree"), BY_SLICES)
def test_polar_degrees(filters: Sizes, degree: int) -> None:
    found = ConvolutionalNetwork(filters, degree).polar_theorem()
    assert found is not None
    assert found.degrees == BY_SLICES[filters, degree]


@pytest.mark.parametrize(
    ("filters", "degree", "expected"),
    [
        ((1,), 2, (1,)),  # a point
        ((4,), 3, (1, 0, 0, 0)),  # all linear forms
        ((1, 1, 3), 2, (1, 0, 0)),  # linear combinations of fourth powers of variables
        ((2, 1), 5, (5, 8)),  # the rational normal curve of degree 5
        ((1, 3, 1), 2, (4, 6, 3)),  # the Veronese surface, whose dual is the cubic determinant
    ],
)
def test_polar_degrees_with_one_filter_that_matters(
    filters: Sizes, degree: int, expected: tuple[int, ...]
) -> None:
    found = ConvolutionalNetwork(filters, degree).polar_theorem()
    assert found is not None
    assert found.degrees == expected


@pytest.mark.parametrize(("filters", "degree"), [((3, 4), 2), ((2, 2, 3), 3), ((4,), 2)])
def test_integrals_of_chern_classes(filters: Sizes, degree: int) -> None:
    """By multiplication in the Chow ring, in SymPy; the last one is the degree of the source."""
    network = ConvolutionalNetwork(filters, degree)
    hyperplanes = symbols(f"h1:{len(filters) + 1}")
    terms = zip(network.weight_degrees, hyperplanes, strict=True)
    of_forms = Poly(sum(d * h for d, h in terms), *hyperplanes)
    chern = Poly(1, *hyperplanes)
    for h, size in zip(hyperplanes, filters, strict=True):
        chern *= Poly((1 + h) ** size, *hyperplanes)
    top = tuple(size - 1 for size in filters)
    expected = [(chern * of_forms**i).nth(*top) for i in range(sum(top) + 1)]
    # only the part of c of the complementary degree has this monomial
    assert polar.chern_integrals(network) == expected
    assert expected[-1] == stated_number(network, "degree")


def test_keys_and_wrong_sizes() -> None:
    network = ConvolutionalNetwork((3, 2), 2)
    assert ConvolutionalNetwork.from_key(network.key) == network
    assert FAMILY.label(network) == checker.name(network.to_json())
    for wrong in ((), (0, 2), (3000,), "22", (1,) * 21):
        with pytest.raises(InvalidCaseError, match="filters"):
            ConvolutionalNetwork(wrong)  # type: ignore[arg-type]
    for degree in (0, 1001, True):
        with pytest.raises(InvalidCaseError, match="degree"):
            ConvolutionalNetwork((2, 2), degree)
    with pytest.raises(InvalidCaseError, match="write 3-2-r2"):
        ConvolutionalNetwork.from_key("3-2")


def test_what_is_too_large_is_refused_before_it_is_computed() -> None:
    large = ConvolutionalNetwork((3,) * 12, 900)
    assert rank_result(large).exact == 25
    for refused in (large.parametrization, lambda: checked_zero_types(large)):
        with pytest.raises(TooLargeError):
            refused()
    for network in (large, ConvolutionalNetwork((2, 2, 2), 9)):
        with pytest.raises(TooLargeError):
            check_fibres_computable(network)
    assert statements.stated_fibres(large) is statements.stated_singular(large) is None
    with pytest.raises(TooLargeError, match="up to 200"):
        ConvolutionalNetwork((150, 150)).polar_theorem()
    found = observe(large, ("degree", "fibres"))
    assert (found.value("degree"), found.value("fibres")) == (None, None)
    assert "at most 128" in found.unknown("fibres")
    with pytest.raises(TooLargeError):
        observe(large, ("degree",), certified=True)


def test_the_checker_prices_before_it_computes() -> None:
    for filters, degree in (((9,) * 20, 900), ((2, 2, 2), 9), ((9, 9), 2)):
        with pytest.raises(TooExpensiveError):
            checker.fibre_length(filters, degree, ((0,) * len(filters), 0))
    with pytest.raises(TooExpensiveError):
        checker.types_of_zeros((9, 9))
    assert checker.stated_fibres((9, 9)) is checker.stated_singular((9, 9)) is None
    with pytest.raises(TooExpensiveError):
        checker.lower_bound((1000, 1000), 2)


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"filters": [2, 2]},
        {"filters": [2, 2], "degree": 0},
        {"filters": [2, True], "degree": 2},
        {"filters": "22", "degree": 2},
        {"filters": [], "degree": 2},
        {"filters": [1] * 21, "degree": 2},
        {"filters": [2001], "degree": 2},
        {"filters": [2, 2], "degree": 1001},
        {"filters": [2, 2], "degree": 2, "strides": [1, 1]},
    ],
)
def test_what_is_no_case_has_no_name(case: dict[str, Any]) -> None:
    with pytest.raises(CertificateError):
        checker.name(case)


@pytest.mark.parametrize(
    "path", sorted(CERTIFICATES.glob("convolutional/*.json")), ids=lambda path: path.stem
)
def test_a_sample_is_accepted(path: Path) -> None:
    assert verify_path(path).accepted, verify_path(path)


def test_a_special_function_would_be_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """A critical point, or further filters, give no number; and the verdict is UNDECIDED."""
    certificate = read(CERTIFICATES / "convolutional" / "convolutional-network-2-2-r2-degree.json")
    monkeypatch.setattr(checker, "differential_rank", lambda filters, degree: 1)
    assert checker.fibre_length((2, 2), 2, ((0, 0), 0)) is None
    monkeypatch.undo()
    monkeypatch.setattr(checker, "length_with_zeros", lambda *_: 2)
    content = checker.expected(certificate)
    assert content.answer["verdicts"][0]["verdict"] == "UNDECIDED"
    assert content.trusted == ()


def test_linear_networks_have_no_observed_degree() -> None:
    linear = ConvolutionalNetwork((2, 2), 1)
    found = observe(linear, ("degree", "fibres"))
    assert (found.value("dimension"), found.value("degree"), found.value("fibres")) == (
        3,
        None,
        None,
    )
    assert not linear.needs_engine({"degree"})
    assert linear.polar_theorem() is None
    assert FAMILY.program(linear, "degree") is None


# Statements stand once, as a table that program and checker read.

STATED = {words.key: words for words in statements.WORDS.statements}
BY_HAND: dict[str, tuple[str, Callable[[Sizes, int], int]]] = {
    "dimension": (
        "have dimension Σ k_i − (L − 1).",
        lambda filters, r: 1 + sum(size - 1 for size in filters),
    ),
    "degree": (
        "degree r^e times the multinomial coefficient of the numbers k_i − 1,"
        " with e = Σ (L − i)(k_i − 1).",
        checker.source_degree,
    ),
}
"""The end of each sentence on a number, and the number by hand."""


@pytest.mark.parametrize("key", BY_HAND)
def test_a_formula_is_what_the_sentence_says(key: str) -> None:
    sentence, by_hand = BY_HAND[key]
    assert STATED[key].text.endswith(sentence)
    for filters, r in product([*product((1, 2, 3), repeat=3), (1,), (7,), (4, 5)], (1, 2, 3)):
        assert stated_number(ConvolutionalNetwork(filters, r), key) == by_hand(filters, r)


HYPOTHESES = {"nonlinear": "r >= 2"}


def test_each_formula_and_hypothesis_is_compared() -> None:
    assert {key for key, words in STATED.items() if words.value} == BY_HAND.keys()
    assert STATED.keys() - BY_HAND.keys() == checker.PREDICTED.keys() == statements.PREDICTED.keys()
    assert statements.WORDS.conditions == HYPOTHESES
    for statement in statements.STATEMENTS:
        linear = ConvolutionalNetwork((2, 2), 1)
        words = STATED[statement.key]
        assert ("For r ≥ 2" in words.text) == (words.assumes == ("nonlinear",))
        assert bool(statement.hypotheses(linear)) == bool(words.assumes)  # type: ignore[arg-type]
        assert not statement.hypotheses(replace_degree(linear, 2))  # type: ignore[arg-type]


def replace_degree(network: ConvolutionalNetwork, degree: int) -> ConvolutionalNetwork:
    return ConvolutionalNetwork(network.filters, degree)


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("dimension", "k - L"),
        ("dimension", "k"),
        ("degree", "multinomial"),
        ("degree", "r ** (exponent + 1) * multinomial"),
    ],
)
def test_a_wrong_value_in_the_table_is_refuted_by_program_and_checker(
    key: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The observable is computed without the table, by both."""
    name = f"convolutional-network-2-2-r2-{key}.json"
    certificate = read(CERTIFICATES / "convolutional" / name)
    (right,) = checker.expected(certificate).answer["verdicts"]
    monkeypatch.setattr(checker, "WORDS", with_formulas(checker.WORDS, (key, ""), value=wrong))
    (found,) = checker.expected(certificate).answer["verdicts"]
    assert (right["verdict"], found["verdict"]) == ("CONFIRMED", "REFUTED")
    network = ConvolutionalNetwork((2, 2), 2)
    by_program = statements.StatedNumber(checker.WORDS.words(key, ""))(network)
    computed = {"dimension": rank_result(network).exact, "degree": source_degree(network)}
    assert by_program != computed[key] == stated_number(network, key)
