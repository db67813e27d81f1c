"""Polar degrees of attention against the literature, other ways to integrate, and critical points
that are counted.
"""

import json
from dataclasses import replace
from math import comb
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from sympy import QQ, Matrix, Poly, symbols

from m2bridge import (
    InvalidCaseError,
    SingleLayerAttention,
    TooLargeError,
    certify,
    polar_degrees,
    verify,
)
from m2bridge.cli import compute as computing
from m2bridge.cli.commands import cli
from m2bridge.errors import ContradictionError, MethodUnavailableError, NotApplicableError
from m2bridge.families.attention.checker import integrals as checked, polar as checker_of_polar
from m2bridge.families.attention.polar import chern_integrals as integrals, theorem as polar
from m2bridge.families.attention.questions import POLAR
from m2bridge.families.attention.sizes import LayerSizes, degree_formula, dimension_formula
from m2bridge.maps.degrees.polar_degrees import PolarMethod
from m2bridge.maps.degrees.slices import _projective_map, _spanning_parameters
from m2bridge.statements.statement import Numbers
from tests.checking import verify as check

Case = tuple[int, int, int]

# The sums of Segre varieties of p × q matrices of rank one with general weights: Ottaviani,
# Spaenlehauer, Sturmfels, *Exact solutions in structured low-rank approximation*, SIAM J. Matrix
# Anal. Appl. 35, 2014, Table 1 (2 × 4, 4 × 4).
KNOWN: dict[Case, tuple[tuple[int, ...], int]] = {
    (2, 1, 2): ((4, 6, 4, 0, 0), 14),
    (2, 2, 2): ((20, 60, 84, 68, 36, 12, 4), 284),
    (2, 2, 1): ((20, 56, 68, 40, 12, 0), 196),
    (3, 1, 3): ((45, 144, 192, 126, 36, 0, 0, 0, 0, 0, 0), 543),
}


@pytest.mark.parametrize("case", KNOWN, ids=str)
def test_numbers_that_were_counted_or_are_known(case: Case) -> None:
    result = polar_degrees(SingleLayerAttention(*case))
    assert (result.degrees, result.generic_ed_degree) == KNOWN[case]
    assert result.method == "theorem"


def segre(p: int, q: int) -> int:
    """The generic ED degree of P^p × P^q by Chern classes, those of (1 + s)^{p+1} (1 + t)^{q+1}."""
    n = p + q
    terms = (
        (i, j, comb(p + 1, i) * comb(q + 1, j) * comb(n - i - j, p - i))
        for i in range(p + 1)
        for j in range(q + 1)
    )
    return sum((-1) ** (i + j) * (2 ** (n + 1 - i - j) - 1) * value for i, j, value in terms)


@pytest.mark.parametrize("size", [(2, 1), (2, 2), (3, 1), (3, 2), (4, 3), (5, 5)], ids=str)
def test_matrices_of_every_rank_give_the_numbers_of_a_segre_variety(size: tuple[int, int]) -> None:
    d, d_out = size
    assert segre(2, 2) == 39  # 3 × 3 matrices, the same table
    assert sum(polar.predicted_polar_degrees(LayerSizes(d, d_out))) == segre(
        d * d - 1, d * d_out - 1
    )


@pytest.mark.parametrize(
    "case", [(2, 2, 1), (3, 1, 2), (3, 2, 1), (4, 2, 2), (4, 3, 3), (5, 2, 1), (6, 5, 4)], ids=str
)
def test_the_first_is_the_degree(case: Case) -> None:
    degrees = polar.predicted_polar_degrees(LayerSizes(*case))
    assert degrees[0] == degree_formula(LayerSizes(*case))
    assert len(degrees) == dimension_formula(LayerSizes(*case))
    assert min(degrees) >= 0


@pytest.mark.parametrize(
    "size", [(d, alpha) for d in range(1, 6) for alpha in range(1, d + 1)], ids=str
)
def test_integrals_by_segre_classes_and_at_fixed_points_agree(size: tuple[int, int]) -> None:
    d, alpha = size
    assert integrals.localized_integrals(LayerSizes(d, 2, alpha)) == integrals.chern_integrals(
        *size
    )


@pytest.mark.parametrize("size", [(3, 1), (4, 2), (5, 3)], ids=str)
def test_the_last_integral_is_the_euler_characteristic(size: tuple[int, int]) -> None:
    """By Gauss and Bonnet, that of a projective bundle over a Grassmannian."""
    d, alpha = size
    assert integrals.chern_integrals(d, alpha)[-1] == comb(d, alpha) * alpha * d


@pytest.mark.parametrize("case", [(2, 2, 1), (3, 1, 2), (3, 2, 1), (3, 2, 3), (4, 2, 2)], ids=str)
def test_observed_loci_are_those_of_the_proof(case: Case) -> None:
    d, d_out, alpha = case
    loci = {
        locus.name: (locus.codimension, locus.kernel)
        for locus in polar.observed_loci(LayerSizes(*case))
    }
    subspaces = (alpha - 1) * (d - alpha)
    assert loci["(1, 1, 1)"] == ((alpha - 1) * (d - 1) + d_out * (d - 1), subspaces + d - 1)
    for name, (codimension, kernel) in loci.items():
        r = int(name[1])
        if name != "(1, 1, 1)":
            assert kernel == (alpha - r) * (d - alpha)
        assert not kernel or codimension > kernel


@pytest.mark.parametrize(
    "case", [(d, d_out, a) for d in (2, 3, 4) for d_out in (1, 2, 3) for a in (1, 2, 3)], ids=str
)
def test_codimensions_exceed_kernels_as_the_polynomials_for_all_sizes_say(case: Case) -> None:
    """The dimension of an orbit is a rank here, and there a formula; the kernel is a rank here, and
    there d − 1.
    """
    d, d_out, alpha = case[0], case[1], min(case[0], case[2])
    for locus in polar.observed_loci(LayerSizes(*case)):
        r, s, m = map(int, locus.name.strip("()").split(","))
        excess = (alpha - r) ** 2 + (d - s) * (d_out - s) + m * (m + d - r - s)
        assert locus.codimension - locus.kernel == excess - (d - 1 if (r, s, m) == (1, 1, 1) else 0)


SYMMETRIC = {
    2: (3, 4, 3, 0),
    3: (45, 180, 312, 300, 174, 60, 12),
    4: (840, 5040, 13860, 22840, 24880, 18672, 9770, 3520, 840, 120),
}
"""By d: δ_n, …, δ_0 for α = d' = 1. The first is P¹ × P²."""


@pytest.mark.parametrize(("d", "total"), [(2, 10), (3, 1083), (4, 100382), (5, 9687960)])
def test_a_two_to_one_parametrization_has_polar_degrees_by_the_theorem(d: int, total: int) -> None:
    found = polar_degrees(SingleLayerAttention(d, 1, 1))
    assert (found.generic_ed_degree, found.method) == (total, "theorem")
    assert found.degrees == SYMMETRIC.get(d, found.degrees)
    assert found.degrees[0] == degree_formula(LayerSizes(d, 1, 1))
    assert found.theorem.generic_fibre == 2
    assert any("symmetric" in lemma for lemma in found.theorem.rests_on)


@pytest.mark.parametrize("d", range(2, 9))
def test_integrals_over_symmetric_matrices_agree(d: int) -> None:
    """In the Chow ring and by localization, by program and checker."""
    right = integrals.symmetric_integrals(d)
    assert integrals.localized_integrals(LayerSizes(d, 1, 1)) == right
    assert checked.symmetric_in_chow_ring(d) == right
    assert checked.localized_symmetric(d) == right


def test_symmetric_matrices_alone_have_the_algebraic_degrees_of_semidefinite_programming() -> None:
    """Nie, Ranestad, Sturmfels, *The algebraic degree of semidefinite programming*, Table 2: 4 × 4
    matrices of rank at most two.
    """
    assert integrals.polar_sums(integrals.symmetric_integrals(4), 1) == (10, 30, 42, 30, 10, 0, 0)


def test_a_fibre_that_is_not_of_two_points_contradicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polar, "fibre_points", lambda orbit, shape: frozenset({1}))
    with pytest.raises(ContradictionError, match="1 points in a general fibre"):
        polar_degrees(SingleLayerAttention(3, 1, 1))


SIZES = [(d, alpha) for d in range(1, 6) for alpha in range(1, d + 1)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_checker_integrates_in_two_ways(size: tuple[int, int]) -> None:
    right = integrals.chern_integrals(*size)
    assert checked.integrals_in_chow_ring(*size) == checked.localized_integrals(*size) == right


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("localized_polar_degrees", lambda shape: Numbers((20, 60, 84, 68, 36, 12, 5))),
        ("differential_rank", lambda orbit, shape: 0),
        ("fibre_points", lambda orbit, shape: frozenset({1, 2})),
    ],
)
def test_planted_mistakes_contradict(
    name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polar, name, wrong)
    with pytest.raises(ContradictionError):
        polar_degrees(SingleLayerAttention(2, 2))


@pytest.mark.parametrize("kernel", [2, 3])
def test_the_checker_wants_kernels_below_the_codimension(
    kernel: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: in all cases of the theorem they are smaller, so that no certificate shows this."""
    certificate = certify(SingleLayerAttention(2, 1), "polar-degrees")

    def facts(orbit: object, case: object) -> dict[str, object]:
        return {"orbit": orbit, "codimension": 2, "kernel_at_most": kernel}

    monkeypatch.setattr(checker_of_polar, "facts_over_orbit", facts)
    with pytest.raises(ContradictionError, match="the theorem does not apply"):
        checker_of_polar.polar(certificate)


def test_where_the_theorem_does_not_apply() -> None:
    with pytest.raises(
        MethodUnavailableError, match=r"no theorem gives the polar degrees: .*t ≥ 2"
    ):
        polar.predicted_polar_degrees(LayerSizes(2, 2, 2, 1))
    with pytest.raises(MethodUnavailableError, match="no theorem gives the polar degrees"):
        polar_degrees(SingleLayerAttention(3, 1, 1, 1), method="theorem")
    with pytest.raises(TooLargeError, match="dimension at most 600"):
        polar_degrees(SingleLayerAttention(300, 2))
    with pytest.raises(
        InvalidCaseError, match="must be auto, theorem, slices or conormal, not 'guess'"
    ):
        polar_degrees(SingleLayerAttention(2, 1), method="guess")  # type: ignore[arg-type]


@pytest.mark.parametrize("d_out", [1, 2, 3])
def test_a_linear_space_is_not_known_by_a_theorem_about_larger_dimensions(d_out: int) -> None:
    found = polar_degrees(SingleLayerAttention(1, d_out))
    assert found.degrees == (1, *(0,) * (d_out - 1))
    assert found.theorem.known == polar.LINEAR_SPACE
    assert "by the theorem" not in str(found)
    assert "Chern classes" not in str(found)


def test_the_whole_space_has_no_dual() -> None:
    result = polar_degrees(SingleLayerAttention(1, 3))
    assert (result.degrees, result.generic_ed_degree) == ((1, 0, 0), 1)
    assert (result.dual_dimension, result.dual_degree) == (-1, 0)


def test_of_a_large_case_nothing_is_observed() -> None:
    result = polar_degrees(SingleLayerAttention(8, 8, 2))
    assert result.theorem.loci == ()
    assert any("not observed" in lemma for lemma in result.theorem.rests_on)


@pytest.mark.parametrize(("d", "observed"), [(6, True), (7, False)])
def test_the_limit_is_on_the_steps_of_all_orbits_together(d: int, observed: bool) -> None:
    """For d = d' = 7 each of the 105 orbits alone has few: 134 456, of the 10^7."""
    assert polar.are_loci_observed(LayerSizes(d, d)) is observed


def test_a_chart_has_finite_fibres_and_the_dimension_of_the_variety() -> None:
    forms, cone = _projective_map(SingleLayerAttention(3, 2, 2))
    assert cone
    assert len(_spanning_parameters(forms)) == dimension_formula(LayerSizes(3, 2, 2)) - 1


def test_command_line_and_forms() -> None:
    run = CliRunner().invoke(
        cli, ["polar-degrees", "--d", "2", "--d-out", "2", "--json"], standalone_mode=False
    )
    result = json.loads(run.output)
    assert result["polar_degrees"] == [20, 60, 84, 68, 36, 12, 4]
    assert (result["generic_ed_degree"], result["dual_dimension"], result["dual_degree"]) == (
        284,
        10,
        4,
    )
    assert result["loci"][0]["orbit"] == "(1, 1, 0)"
    assert PolarMethod.__args__ == computing.POLAR_METHODS  # type: ignore[attr-defined]
    found = polar_degrees(SingleLayerAttention(2, 1))
    assert found.to_macaulay2() == "polarDegrees = {4, 6, 4, 0, 0}"
    assert found.to_csv().splitlines()[:2] == ["i,polar_degree", "4,4"]
    assert "generic ED degree   14" in found.to_text()


@pytest.mark.slow
def test_bars_of_the_picture(tmp_path: Path) -> None:
    out = tmp_path / "polar.svg"
    CliRunner().invoke(
        cli,
        ["figure", "polar", "--d", "2", "--d-out", "2", "--out", str(out)],
        standalone_mode=False,
    )
    assert "generic ED degree 284" in out.read_text(encoding="utf-8")
    axes = polar_degrees(SingleLayerAttention(2, 2)).figure().axes[0]
    assert [bar.get_height() for bar in axes.patches] == [20, 60, 84, 68, 36, 12, 4]


@pytest.mark.parametrize("case", [(2, 1, 2), (2, 2, 1), (3, 2, 2), (3, 1, 1)], ids=str)
def test_a_certificate_is_verified_in_another_way(case: Case) -> None:
    certificate = certify(SingleLayerAttention(*case), "polar-degrees")
    assert verify(certificate).accepted
    assert certificate.answer["polar_degrees"] == list(
        polar.predicted_polar_degrees(LayerSizes(*case))
    )


def test_a_certificate_is_refused_or_too_expensive() -> None:
    with pytest.raises(NotApplicableError):
        certify(SingleLayerAttention(1, 2, 1), "polar-degrees")
    with pytest.raises(TooLargeError, match="too many to be observed"):
        certify(SingleLayerAttention(8, 8, 2), "polar-degrees")
    certificate = certify(SingleLayerAttention(2, 1), "polar-degrees")
    case = {"d": 40, "d_out": 40, "a": 20, "t": 2}
    large = replace(certificate, case=case, name="d40-dout40-a20-t2").sealed()
    assert check(large).outcome == "too-expensive"


def critical_points(form: Matrix, target: Matrix) -> Poly:
    """The polynomial in z whose roots are the critical points of the distance from (2, 1, 2), in
    the chart V = (1, z).

    The function is linear in A: what is left of the distance is bᵀ M⁻¹ b, a rational function of z.
    """
    z = symbols("z")
    products = Matrix([[1, 0], [z, 1], [0, z]])
    linear = Matrix(
        6, 4, lambda row, column: products[row % 3, column % 2] if row // 3 == column // 2 else 0
    )
    gram, side = linear.T * form * linear, linear.T * form * target
    top, bottom = (
        Poly(e, z, domain=QQ)
        for e in ((side.T * gram.adjugate() * side)[0], gram.det(method="berkowitz"))
    )
    common = top.gcd(bottom)
    top, bottom = top.quo(common), bottom.quo(common)
    return top.diff() * bottom - top * bottom.diff()


@pytest.mark.slow
def test_critical_points_of_a_general_form_are_as_many() -> None:
    """The example of docs/polar-degrees.md: 14 complex critical points, some of them real; another
    form has fewer.
    """
    random = Random(1)
    root = Matrix(6, 6, lambda row, column: random.randint(-9, 9))
    target = Matrix([random.randint(-9, 9) for _ in range(6)])
    general, euclidean = (
        critical_points(root * root.T, target),
        critical_points(Matrix.eye(6), target),
    )
    assert general.is_irreducible
    assert (general.degree(), general.count_roots()) == (14, 8)
    assert (euclidean.degree(), euclidean.count_roots()) == (6, 4)


def test_the_question_is_not_within_reach_where_the_dimension_is_too_large() -> None:
    """The dimension is α(2d − α) + d d' − 1: 603 for (2, 300, 2), which has five orbits only."""
    assert POLAR.within_reach(SingleLayerAttention(2, 297))
    assert not POLAR.within_reach(SingleLayerAttention(2, 300))
