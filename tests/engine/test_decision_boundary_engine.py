"""Lists of critical points against the critical equations in all variables, by Macaulay2."""

from __future__ import annotations

from typing import Any

import flint
import numpy
import pytest

from m2bridge.convert.answers import parse
from m2bridge.decision_boundary.critical_points import all_critical_points
from m2bridge.decision_boundary.reading import read_problem
from m2bridge.decision_boundary.skip_connections import all_points_with_skip
from m2bridge.engine import Engine
from m2bridge.engine.script import Script

PROGRAM = """
characteristic = (d, t, K, Q, B, S, U, b) -> (
    R := QQ[x_1..x_(d*t), l];
    X := genericMatrix(R, x_1, d, t);
    g := trace(transpose B * X * transpose X * transpose K * Q * X) + trace(transpose S * X) + b;
    gradient := matrix table(d, t, (i, j) -> diff(X_(i, j), g));
    S := R / (ideal flatten entries(X - U - l * gradient) + ideal g);
    points := basis S;
    square := sub(trace(transpose(X - U) * (X - U)), S);
    M := lift(last coefficients(square * points, Monomials => points), QQ);
    T := QQ[z];
    c := det(z * id_(T^(numcols points)) - sub(M, T));
    apply(numcols points + 1, i -> coefficient(z^i, c)));
"""
"""The characteristic polynomial of the square of the distance on the functions on the points."""


def matrix_text(matrix: numpy.ndarray[Any, Any]) -> str:
    rows = ("{" + ", ".join(f"{entry}_QQ" for entry in row) + "}" for row in matrix.tolist())
    return "matrix {" + ", ".join(rows) + "}"


@pytest.mark.parametrize("seed", range(20))
def test_the_list_is_the_solution_of_all_equations(engine: Engine, seed: int) -> None:
    d, t = ((1, 1), (2, 1), (3, 1), (1, 3), (2, 2))[seed % 5]
    compare_with_all_equations(engine, seed, d, t, skip=False)


@pytest.mark.parametrize("seed", range(4))
def test_the_list_with_skip_is_the_solution_of_all_equations(engine: Engine, seed: int) -> None:
    d, t = ((2, 2), (2, 3), (3, 1), (4, 1))[seed]
    compare_with_all_equations(engine, seed, d, t, skip=True)


def compare_with_all_equations(engine: Engine, seed: int, d: int, t: int, *, skip: bool) -> None:
    """The same number of complex points, and the same distances of real ones."""
    random = numpy.random.default_rng(seed)

    def matrix(*shape: int) -> numpy.ndarray[Any, Any]:
        entries: numpy.ndarray[Any, Any] = random.choice((-3, -2, -1, 1, 2, 3), shape)
        return entries

    K, Q, w, gamma, U = matrix(1, d), matrix(1, d), matrix(d, 1), matrix(1, t), matrix(d, t)
    R, b = w @ gamma, int(random.integers(1, 30))
    V = matrix(d, d) if skip else numpy.eye(d, dtype=int)
    matrices = map(matrix_text, (K, Q, V.T @ R, R if skip else 0 * R, U))
    arguments = ", ".join([str(d), str(t), *matrices, str(b)])
    body = PROGRAM + f'mbEmit("coefficients", apply(characteristic({arguments}), toString))'
    texts = parse(engine.run(Script("critical points", body)).records).values["coefficients"]
    characteristic = flint.fmpq_poly([flint.fmpq(*map(int, text.split("/"))) for text in texts])
    layer = {"K": K, "Q": Q, "V": V, "R": R, "X": U}
    problem = read_problem(layer, pool=None, bias=float(b), skip=skip, scores_over="1")
    listed = all_points_with_skip if skip else all_critical_points
    found = listed(problem, problem.in_units())
    assert found is not None
    assert found.number == characteristic.degree()
    simple = characteristic // characteristic.gcd(characteristic.derivative())
    roots = [root.real for root, _ in simple.numer().complex_roots() if root.imag.is_zero()]
    expected = sorted(float(root) ** 0.5 for root in roots if root > 0)
    unit = 2.0 ** problem.in_units().size
    assert [unit * float(distance) for distance in found.distances] == pytest.approx(expected)
