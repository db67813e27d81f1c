"""Certificates of numbers of critical points, counted along a curve, against other numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
import sympy
from click.testing import CliRunner

from m2bridge.cli.commands import cli
from m2bridge.decision_boundary.checker import digest_of
from m2bridge.decision_boundary.count_checker import FORM, check_count
from m2bridge.errors import CertificateError, TooExpensiveError


def certificate(
    number: Any, d: Any = 8, d_out: int = 1, a: int = 1, t: int = 5, **more: Any
) -> dict[str, Any]:
    """The fields of a certificate, with its digest."""
    fields = {
        "form": FORM,
        "version": "1.2.0",
        "case": {"d": d, "d_out": d_out, "a": a, "t": t},
        "pool": None,
        "skip": False,
        "cone": False,
        "critical_points": number,
    } | more
    return fields | {"digest": digest_of(fields)}


def text_of(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode()


SKIP: dict[str, Any] = {"d_out": 8, "pool": "mean", "skip": True}
TWO: dict[str, Any] = {"d": 2, "d_out": 2, "a": 2, "t": 2}
TABLE: list[tuple[int, dict[str, Any]]] = [(20, {}), (3, {"cone": True}), (12, {"t": 1})]
"""Numbers of docs/robustness.md, which Gröbner bases found."""
LARGE_TABLE: list[tuple[int, dict[str, Any]]] = [
    (29, SKIP),
    (24, {"t": 1, "a": 2}),
    (48, {"t": 1, "a": 4, "d": 20}),
    (39, TWO),
    (33, TWO | {"pool": "first"}),
    (32, {"a": 2, "cone": True}),
    (100, {"a": 2}),
    (137, {"a": 2, **SKIP}),
    (99, TWO | {"t": 3}),
    (132, {"d": 3, "d_out": 2, "a": 2, "t": 2}),
]


@pytest.mark.parametrize(
    ("number", "sizes"), TABLE + [pytest.param(*row, marks=pytest.mark.slow) for row in LARGE_TABLE]
)
def test_numbers_of_the_table_are_accepted(number: int, sizes: dict[str, Any]) -> None:
    assert f"{number} critical points" in check_count(text_of(certificate(number, **sizes)))


@pytest.mark.slow
def test_two_relations_of_high_degree_are_waited_for() -> None:
    """Those of degree seven and less have 119 solutions, of which some are no points."""
    with pytest.raises(CertificateError, match="119 are claimed, and 117 are found"):
        check_count(text_of(certificate(119, **TWO | {"t": 7})))


@pytest.mark.parametrize(
    "number", [19, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3, 6, 14, 21, 40, 60))]
)
def test_planted_numbers_are_refused(number: int) -> None:
    with pytest.raises(CertificateError, match=f"{number} are claimed, and (20|more than)"):
        check_count(text_of(certificate(number)))


@pytest.mark.parametrize(
    ("number", "sizes"),
    [
        (2, {"cone": True}),
        (1, {"cone": True}),
        (4, {"cone": True}),
        (20, {"t": 1}),
        (11, {"t": 1}),
        pytest.param(12, {"t": 2}, marks=pytest.mark.slow),
        pytest.param(28, SKIP, marks=pytest.mark.slow),
        pytest.param(20, SKIP, marks=pytest.mark.slow),
        pytest.param(38, TWO, marks=pytest.mark.slow),
        pytest.param(39, TWO | {"pool": "first"}, marks=pytest.mark.slow),
    ],
)
def test_numbers_of_other_boundaries_are_refused(number: int, sizes: dict[str, Any]) -> None:
    with pytest.raises(CertificateError, match="are claimed"):
        check_count(text_of(certificate(number, **sizes)))


def test_a_curve_by_resultants() -> None:
    """Two coordinates, one token: the critical points are the zeros of two polynomials."""
    random = numpy.random.default_rng(7)
    x, y = sympy.symbols("x y")
    # after a change of coordinates no two points have the same x, and none is at infinity
    X = sympy.Matrix(random.integers(-9, 10, (2, 2))) * sympy.Matrix([x, y])
    beta, U = (sympy.Matrix(random.integers(-9, 10, 2)) for _ in range(2))
    A = sympy.Matrix(random.integers(-9, 10, (2, 2)))
    u, v = sympy.symbols("u v")
    of_coordinates = sympy.Matrix([u, v])
    g = beta.dot(of_coordinates) * (of_coordinates.T * A * of_coordinates)[0] + 5
    critical = (u - U[0]) * g.diff(v) - (v - U[1]) * g.diff(u)
    at_X = {u: X[0], v: X[1]}
    polynomials = [sympy.expand(form.subs(at_X, simultaneous=True)) for form in (g, critical)]
    number = sympy.Poly(sympy.resultant(*polynomials, y), x).degree()
    assert number == 9
    assert "9 critical" in check_count(text_of(certificate(number, d=2, a=2, t=1)))


@pytest.mark.parametrize(("number", "cone"), [(3, False), (7, False), (1, True)])
def test_one_row(number: int, cone: bool) -> None:
    """d = 1: a cubic in one variable, and (x² + y²)(cx + ey) = −b by Gröbner bases; without b one
    line is left, as the others are isotropic.
    """
    t = 1 if number == 3 else 2
    check_count(text_of(certificate(number, d=1, t=t, cone=cone)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"form": "m2bridge-distance-1"}, "form"),
        ({"version": 1}, "form"),
        ({"case": {"d": 1}}, "case"),
        ({"case": {"d": 0, "d_out": 1, "a": 1, "t": 1}}, "d: must be an integer"),
        ({"case": {"d": 2.0, "d_out": 1, "a": 1, "t": 1}}, "d: must be an integer"),
        ({"critical_points": True}, "critical_points: must be an integer"),
        ({"critical_points": "20"}, "critical_points: must be an integer"),
        ({"skip": 1}, "skip: must be"),
        ({"skip": True}, "as many outputs"),
        ({"cone": None}, "cone: must be"),
        ({"pool": "best"}, "pool: must be"),
        ({"pool": "5"}, "pool: must be"),
        ({"pool": 0}, "pool: must be"),
    ],
)
def test_what_is_no_certificate(change: dict[str, Any], words: str) -> None:
    fields = certificate(20) | change
    del fields["digest"]
    fields["digest"] = digest_of(fields)
    with pytest.raises(CertificateError, match=words):
        check_count(text_of(fields))


def test_a_changed_file_and_missing_fields() -> None:
    for text in (b"", b"[]", b"[" * 9_000, b"\xff"):
        with pytest.raises(CertificateError):
            check_count(text)
    fields = certificate(20)
    for name in fields:
        with pytest.raises(CertificateError):
            check_count(text_of({key: value for key, value in fields.items() if key != name}))
    with pytest.raises(CertificateError, match="digest"):
        check_count(text_of(fields | {"critical_points": 21}))
    with pytest.raises(CertificateError, match="fields"):
        check_count(text_of(fields | {"more": 1}))


def test_what_is_too_large() -> None:
    with pytest.raises(TooExpensiveError, match="150 points"):
        check_count(text_of(certificate(288, a=3)))
    with pytest.raises(TooExpensiveError, match="30 entries"):
        check_count(text_of(certificate(20, d=10**6, d_out=10**6, t=10**6)))
    with pytest.raises(TooExpensiveError, match="bytes"):
        check_count(b" " * 20_000)


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "count.json"
    outcomes = {20: ("accepted-on-trust", 0), 19: ("rejected", 1), 900: ("too-expensive", 3)}
    for number, (outcome, code) in outcomes.items():
        path.write_bytes(text_of(certificate(number)))
        words = ["robustness", str(path), "--verify", "--json"]
        done = CliRunner().invoke(cli, words, standalone_mode=False)
        assert done.return_value == code
        assert json.loads(done.stdout)["outcome"] == outcome
