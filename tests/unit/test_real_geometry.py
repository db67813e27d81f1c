"""Real surfaces in cells, real branches of curves: against areas, signs and geometry that is known."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose, pi
from typing import Any

import pytest
from flint import Ordering, fmpq, fmpq_mpoly_ctx

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import ContradictionError
from m2bridge.ideals.ideal import Ideal
from m2bridge.pictures import real_geometry as real_surface
from m2bridge.pictures.real_geometry import Patch, ball, branches, fractions_between, nodes, patches, pieces, real_roots

NAMES = ("x", "y", "z")
X, Y, Z = fmpq_mpoly_ctx.get(NAMES, Ordering.lex).gens()
RING = PolynomialRing(QQ, NAMES)
x, y, z = RING.sympy_ring.gens
half = RING.sympy_ring.domain(1, 2)


def cube(low: int, high: int) -> dict[str, tuple[Any, Any]]:
    return dict.fromkeys(NAMES, (fmpq(low), fmpq(high)))


SURFACES = {
    "umbrella": (Z**2 - X * Y**2, None),
    "sphere": (X**2 + Y**2 + Z**2 - 1, 2),
    "cubic of Cayley": (X * Y + Y * Z + Z * X + X * Y * Z, None),
    "saddle": (Z - X * Y, None),
    "graph with poles": (X * Z - 1, 2),
    "torus": ((X**2 + Y**2 + Z**2 + fmpq(3, 4)) ** 2 - 4 * (X**2 + Y**2), None),
    "cylinder": (X**2 + Y**2 - 1, 2),
    "no real points": (X**2 + Y**2 + Z**2 + 1, 0),
}


@pytest.mark.parametrize("name", SURFACES)
def test_points_of_cells_lie_on_the_surface(name: str) -> None:
    surface, count = SURFACES[name]
    cells = patches(surface, cube(-2, 2), [], 8)
    assert count is None or len(cells) == count
    for cell in cells:
        assert all(abs(_value(surface, point)) < 1e-5 for strip in cell.points for point in strip)
        assert ball(surface, cell.sample).contains(0)
        assert cell.rational is None or surface(*(cell.rational[n] for n in NAMES)) == 0


def _value(polynomial: Any, point: Sequence[float]) -> float:
    return sum(
        int(c.p) / int(c.q) * point[0] ** int(i) * point[1] ** int(j) * point[2] ** int(k)
        for (i, j, k), c in polynomial.to_dict().items()
    )


@pytest.mark.parametrize(("name", "area"), [("sphere", 4 * pi), ("torus", 2 * pi**2)])
def test_cells_cover_a_surface_once(name: str, area: float) -> None:
    """Their squares have its area in the end: no sheet is missing, none is there twice."""
    cells = patches(SURFACES[name][0], cube(-2, 2), [], 48)
    assert isclose(sum(map(_area, cells)), area, rel_tol=0.02)


def _area(cell: Patch) -> float:
    total = 0.0
    for one, other in zip(cell.points[:-1], cell.points[1:], strict=True):
        for a, b, c, d in zip(one[:-1], one[1:], other[1:], other[:-1], strict=True):
            u, v = ([p - q for p, q in zip(*ends, strict=True)] for ends in ((c, a), (d, b)))
            cross = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
            total += sum(part * part for part in cross) ** 0.5 / 2
    return total


def test_a_cut_has_one_sign_on_each_cell() -> None:
    cut = X - Y + Z / 3
    for cell in patches(SURFACES["sphere"][0], cube(-2, 2), [cut], 8):
        sign = ball(cut, cell.sample) > 0
        values = [_value(cut, point) for strip in cell.points for point in strip]
        assert all(value > -1e-5 if sign else value < 1e-5 for value in values)


def test_without_the_discriminant_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: the numbers of roots over a cell differ, which is seen."""
    monkeypatch.setattr(real_surface, "boundaries", lambda polynomial, variable, interval: [])
    with pytest.raises(ContradictionError, match="number of real roots"):
        patches(SURFACES["sphere"][0], cube(-2, 2), [], 8)


def test_branches_of_curves() -> None:
    """A circle in a plane that is not parallel to the axes, cut where x = 0; a twisted cubic; two isolated points."""
    circle = Ideal(RING, (x**2 + y**2 + z**2 - 1, x + y + z))
    found = branches(circle, cube(-2, 2), [x], 12)
    assert len(found) == 4
    for branch in found:
        assert all(isclose(sum(c * c for c in point), 1, abs_tol=1e-5) for point in branch.points)
        assert all(abs(sum(point)) < 1e-5 for point in branch.points)
        assert len({point[0] > 0 for point in branch.points}) == 1
    cubic = Ideal(RING, (y - x**2, z - x**3))
    (only,) = branches(cubic, cube(-1, 1), [], 12)
    assert all(isclose(point[2], point[0] ** 3, abs_tol=1e-9) for point in only.points)
    pair = branches(Ideal(RING, (x**2 - half, y - x, z)), cube(-1, 1), [], 12)
    assert [branch.points for branch in pair] == [((-(0.5**0.5),) * 2 + (0.0,),), ((0.5**0.5,) * 2 + (0.0,),)]
    assert branches(Ideal(RING, (x - half, y, z)), cube(-1, 1), [], 12)[0].rational == {"x": fmpq(1, 2), "y": 0, "z": 0}
    assert not branches(Ideal(RING, (x**2 + 1, y, z)), cube(-1, 1), [], 12)


def test_roots_nodes_and_fractions() -> None:
    assert [float(root.mid()) for root in real_roots(X**3 - 2 * X**2 + X, "x", (fmpq(-1), fmpq(2)))] == [0.0, 1.0]
    parts = pieces([X, X - fmpq(1, 2), X**2 + 1], "x", (fmpq(-1), fmpq(1)))
    assert parts == [(-1, 0), (0, fmpq(1, 2)), (fmpq(1, 2), 1)]
    assert nodes(parts[1], 9) == sorted(nodes(parts[1], 9))
    assert fractions_between((fmpq(3, 10), fmpq(7, 10)), 3) == [fmpq(1, 2), fmpq(1, 3), fmpq(2, 3)]
    low, high = fmpq(123456781, 10**9), fmpq(123456789, 10**9)
    assert all(low < fraction < high for fraction in fractions_between((low, high), 2))
