"""Certificates on closures for one token: what is proved, what is on trust, and what is false."""

import json
from dataclasses import replace
from math import comb, factorial
from pathlib import Path

import pytest

from m2bridge.certificates.form import Certificate, read
from m2bridge.checker import algebra
from m2bridge.cli import commands
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker import closure, one_token
from m2bridge.families.attention.checker.case import Case
from tests.certificates.__main__ import by_release
from tests.changing import changed
from tests.checking import verify, verify_path

FOLDER = Path(__file__).parents[4] / "certificates"
PROVED = FOLDER / "accepted" / "d2-dout2-a2-t1-closure.json"
ON_TRUST = FOLDER / "accepted-on-trust" / "d2-dout3-a1-t1-closure.json"


def as_whole_space(d: int, d_out: int, a: int) -> Certificate:
    """A certificate by which the closure has no equations: all numbers in it fit together."""
    case = Case(d, d_out, a, 1).with_fewest_weights()
    count = case.coordinate_count
    candidate = closure.candidate_of(case, [])
    assert isinstance(candidate, closure.Candidate)
    words = f"no further generators of degree above {closure._last_degree(candidate)}"
    answer = {
        "dimension": count,
        "degree": 1,
        "generator_degrees": {},
        "homogeneous": True,
        "hilbert_series": {"numerator": [1], "denominator_exponent": count},
    }
    evidence = {
        "coordinates": closure.names_of_coordinates(case),
        "generators": [],
        "tangent_dimensions": [],
    }
    return replace(
        read(PROVED),
        case={"d": d, "d_out": d_out, "a": a, "t": 1},
        name=f"d{d}-dout{d_out}-a{a}-t1",
        answer=answer,
        evidence=evidence,
        trusted=[f"{words}: elimination by Macaulay2"],
    ).sealed()


@pytest.mark.parametrize(
    ("size", "dimension"), [((3, 1, 2), 8), ((4, 1, 2), 13), ((3, 1, 3), 8), ((3, 1, 1), 7)]
)
def test_a_false_dimension_is_rejected_where_no_equation_has_a_low_degree(
    size: tuple[int, int, int], dimension: int
) -> None:
    """Of these closures there are no equations of degree up to 3, 4 or 7."""
    finding = verify(as_whole_space(*size))
    assert finding.outcome == "rejected"
    if finding.check == "evidence.generators":
        assert finding.found.startswith(f"dimension, degree ({dimension}, ")


@pytest.mark.parametrize("size", [(1, 1, 1), (1, 3, 1), (2, 1, 1), (2, 1, 2)])
def test_a_closure_without_equations_is_proved(size: tuple[int, int, int]) -> None:
    """All outputs for d = 1, and all binary cubics, which have a linear factor."""
    assert verify(as_whole_space(*size)).outcome == "accepted"


# By elimination of Macaulay2, over QQ for the first ones and modulo 32003 for (2, 4, 1); the
# degrees of the varieties of plane cubics that contain a line, and are three lines, are classical.
KNOWN = {
    (1, 3, 1): (3, 1),
    (2, 1, 2): (4, 1),
    (2, 2, 1): (6, 10),
    (2, 3, 1): (8, 21),
    (2, 4, 1): (10, 36),
    (3, 1, 1): (7, 15),
    (3, 1, 2): (8, 21),
}


@pytest.mark.parametrize("size", KNOWN)
def test_dimension_and_degree(size: tuple[int, int, int]) -> None:
    case = Case(*size, 1)
    assert (one_token.dimension(case), one_token.degree(case)) == KNOWN[size]


@pytest.mark.parametrize("d", range(2, 7))
def test_products_of_three_linear_forms(d: int) -> None:
    """The degree of three times P^(d−1) under forms of degree (1, 1, 1), in all six orders."""
    n = d - 1
    points = factorial(3 * n) // factorial(n) ** 3 // 6
    case = Case(d, 1, 1, 1)
    assert (one_token.dimension(case), one_token.degree(case)) == (3 * n + 1, points)


@pytest.mark.parametrize("d", range(1, 7))
def test_forms_of_bounded_rank(d: int) -> None:
    """Squares are the Veronese variety, forms that are not of full rank a hypersurface."""
    assert one_token.degree_by_values(d, 1) == 2 ** (d - 1)
    assert one_token.degree_by_values(d, d) == 1
    if d > 1:
        assert one_token.degree_by_values(d, d - 1) == d


def test_a_wrong_bound_of_the_checker_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    one_token._degree_of_forms.cache_clear()
    monkeypatch.setattr(one_token, "_dimension_of_forms", lambda d, rank: comb(d + 1, 2))
    with pytest.raises(ContradictionError, match="the differential has the rank 10"):
        one_token.dimension(Case(4, 1, 1, 1))
    with pytest.raises(ContradictionError, match="by values"):
        one_token.degree(Case(4, 1, 1, 1))
    one_token._degree_of_forms.cache_clear()


def test_what_is_proved_is_accepted_and_what_is_not_is_accepted_on_trust() -> None:
    """The binary cubics with a common factor of degree two, of two outputs and of three."""
    proved, on_trust = verify_path(PROVED), verify_path(ON_TRUST)
    assert (proved.outcome, proved.accepted, proved.remarks) == ("accepted", True, ())
    assert on_trust.outcome == "accepted-on-trust"
    assert on_trust.accepted
    assert on_trust.content_right
    words = "no further generators of degree above 4: elimination by Macaulay2"
    assert on_trust.remarks == (f"on trust: {words}",)
    former = verify(by_release(read(ON_TRUST), "1.0.0"))
    assert (former.outcome, former.remarks[0]) == ("accepted-on-trust", on_trust.remarks[0])


def test_a_closure_of_release_1_0_is_accepted() -> None:
    finding = verify_path(FOLDER / "1.0" / PROVED.name)
    assert (finding.outcome, finding.accepted, finding.content_right) == ("accepted", True, True)


@pytest.mark.slow
def test_generators_that_are_dropped_are_missed() -> None:
    """One after the other, the last ones, and all of the highest degree."""
    for path in (PROVED, ON_TRUST):
        certificate = read(path)
        generators = certificate.evidence["generators"]
        polynomials = algebra.read(generators, certificate.evidence["coordinates"])
        degrees = [sum(next(iter(terms))) for terms in polynomials]
        highest = max(degrees)
        lower = [text for text, n in zip(generators, degrees, strict=True) if n < highest]
        shorter = [generators[:i] + generators[i + 1 :] for i in range(len(generators))]
        for left in (*shorter, generators[:-2], lower, []):
            finding = verify(changed(certificate, ("evidence", "generators"), left))
            assert finding.outcome == "rejected"


@pytest.mark.parametrize(
    ("texts", "is_one"),
    [
        ([], True),
        (["c_1"], True),
        (["c_1**2 - c_2*c_3", "c_3**2 - c_2*c_4"], True),
        # the twisted cubic, and a line with an embedded point
        (["c_2**2 - c_1*c_3", "c_3**2 - c_2*c_4", "c_2*c_3 - c_1*c_4"], True),
        (["c_1**2", "c_1*c_2"], False),
        # two planes that meet in a point, and the rational quartic in space
        (["c_1*c_3", "c_1*c_4", "c_2*c_3", "c_2*c_4"], False),
        (
            [
                "c_2*c_3 - c_1*c_4",
                "c_2**3 - c_1**2*c_3",
                "c_3**3 - c_2*c_4**2",
                "c_1*c_3**2 - c_2**2*c_4",
            ],
            False,
        ),
    ],
)
def test_cohen_macaulay_rings(texts: list[str], is_one: bool) -> None:
    names = ["c_1", "c_2", "c_3", "c_4"]
    context = algebra.ring(4)
    generators = [context.from_dict(terms) for terms in algebra.read(texts, names)]
    basis = algebra.groebner_basis(generators, context)
    leading = algebra.minimal(g.monoms()[0] for g in basis)
    series = algebra.hilbert_series(leading, 4)
    assert algebra.is_cohen_macaulay(generators, series, 4) == is_one


def test_the_command_counts_what_is_on_trust_apart(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(PROVED), str(ON_TRUST)]
    monkeypatch.setattr("sys.argv", ["m2bridge", "verify", *paths])
    assert commands.run() == 0
    *_, counts, line = capsys.readouterr().out.splitlines()
    assert counts == "  2 certificates: 1 accepted, 1 accepted-on-trust"
    assert line == (
        "  1 certificate accepted on trust in Macaulay2, or in primes, where no proof decides"
    )
    monkeypatch.setattr("sys.argv", ["m2bridge", "verify", *paths, "--json"])
    assert commands.run() == 0
    found = json.loads(capsys.readouterr().out)
    assert found["counts"] == {"accepted": 1, "accepted-on-trust": 1}
