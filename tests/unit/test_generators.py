"""Stored generators that are no minimal generators are refused before the work of their degree is done."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from m2bridge.checker.polynomials import read_polynomials
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.certificate.files import read
from m2bridge.checker import generators
from m2bridge.checker.verify import verify
from m2bridge.checker.verify_result import VerifyResult
from m2bridge.convert.notation import polynomial_text
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.implicitization import Implicitization

QUARTIC = read(Path(__file__).parents[1] / "certificates" / "accepted" / "d2-dout1-a2-t2-closure.json")
RING = PolynomialRing(QQ, tuple(QUARTIC.evidence["coordinates"]))
(F,) = read_polynomials(QUARTIC.evidence["generators"], RING)
X = RING.sympy_ring.gens


def checked(polynomials: Sequence[PolyElement]) -> VerifyResult:
    texts = list(map(polynomial_text, polynomials))
    return verify(replace(QUARTIC, evidence=QUARTIC.evidence | {"generators": texts}).sealed())


@pytest.fixture
def degrees(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The degrees up to which the whole ideal was computed."""
    asked: list[int] = []
    real = generators._ideal_up_to

    def counted(model: SingleLayerAttention, last: int) -> Implicitization:
        asked.append(last)
        return real(model, last)

    monkeypatch.setattr(generators, "_ideal_up_to", counted)
    return asked


@pytest.mark.parametrize("degree", [5, 20, 26])
def test_a_multiple_is_refused_at_once(degree: int, degrees: list[int]) -> None:
    factor = sum((x ** (degree - 4) for x in X), X[0] ** (degree - 6) * X[1] * X[2] if degree > 5 else X[0])
    assert checked([F, F * factor]).check == "minimal generators"
    assert degrees == [4]


def test_a_missing_generator_of_low_degree_is_noticed_before_higher_degrees(degrees: list[int]) -> None:
    finding = checked([F * X[0] ** 16])
    assert (finding.check, degrees) == ("generators by degree", [4])


def test_a_degree_out_of_reach_is_refused_before_it_is_begun(
    degrees: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generators, "_multiple", lambda *arguments: None)
    finding = checked([F, F * X[0] ** 40])
    assert (finding.outcome, finding.check) == ("too-expensive", "monomials")
    assert degrees == [4]


def test_what_does_not_vanish_is_refused_before_anything_is_expanded(
    degrees: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("m2bridge.implicitization.substitution.Substitution.vanishes")
    assert checked([F, F * X[0] ** 8 + X[1] ** 12]).check == "generator on the parametrization"
    assert degrees == []


def test_what_vanishes_at_the_point_only_is_refused_by_substitution(monkeypatch: pytest.MonkeyPatch) -> None:
    def zeros(source: Any) -> list[int]:
        return [0] * len(X)

    monkeypatch.setattr(generators, "_point_modulo_prime", zeros)
    assert checked([F + X[0] ** 4]).check == "generator on the parametrization"
    assert checked([F]).accepted
