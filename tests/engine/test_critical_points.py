"""Critical points of training, against SymPy, gradient descent and numbers that msolve counted."""

import json
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import flint
import numpy as np
import pytest
from sympy import QQ, Matrix, Rational, cancel, fraction, sqf_list, symbols
from sympy.functions.combinatorial.numbers import stirling
from sympy.polys.matrices import DomainMatrix

from m2bridge import Engine, SingleLayerAttention, critical_points, cross_check
from m2bridge.certification.make import certify, question_of
from m2bridge.certification.verify import verify
from m2bridge.convert.answers import answer_to, parse
from m2bridge.engine import msolve
from m2bridge.engine.context import using
from m2bridge.engine.script import Script
from m2bridge.families.attention.orbits.coordinates import indices
from m2bridge.families.attention.orbits.orbits import Orbit
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.attention.training_loss import counting
from m2bridge.families.attention.training_loss.counting import count_in_chart, count_of_rank
from m2bridge.families.attention.training_loss.eliminated import eliminated_system
from m2bridge.families.attention.training_loss.gradient import (
    RankCondition,
    WeightChart,
    random_chart,
    weights_in,
)
from m2bridge.families.attention.training_loss.loss import Loss, gaussian, random_function
from m2bridge.families.attention.training_loss.real_points import Isolation
from m2bridge.results.sheet import Facts
from m2bridge.trained_weights.heads.shape import HeadShape
from m2bridge.training.data import read_loss
from tests.conftest import Invoke
from tests.tiers import few

pytestmark = pytest.mark.macaulay2("any")

# docs/learning-degrees.md: (d, d', a), t and the number for standard normal tokens, by msolve
GAUSSIAN = {
    ((2, 1, 2), 2): 6,
    ((2, 1, 2), 1000): 6,
    ((2, 2, 2), 3): 52,
    ((2, 3, 2), 7): 76,
    ((2, 4, 2), 3): 76,
    ((3, 1, 3), 2): 25,
    ((4, 1, 4), 3): 90,
}


@pytest.mark.parametrize(("case", "t"), few(GAUSSIAN, 3, rows=True), ids=str)
def test_standard_normal_tokens(case: tuple[int, int, int], t: int, engine: Engine) -> None:
    model = SingleLayerAttention(*case, t)
    found = critical_points(model, tokens="gaussian", count_only=True, engine=engine)
    assert found.critical_points == GAUSSIAN[case, t]
    one, other = found.primes
    assert 2**14 < min(one, other) < max(one, other) < 2**15
    if model.d_out == 1:
        assert found.critical_points == stirling(model.d + 2, 3)


@pytest.mark.parametrize(("case", "number"), [((2, 1, 2), 14), ((2, 1, 1), 10)], ids=str)
def test_a_random_form_has_the_generic_ed_degree(
    case: tuple[int, int, int], number: int, engine: Engine
) -> None:
    model = SingleLayerAttention(*case)
    found = critical_points(model, quadratic="random", count_only=True, engine=engine)
    assert found.critical_points == found.generic_ed_degree == number


def test_with_factors_the_chart_has_boundary_functions_too(engine: Engine) -> None:
    """36 in the chart: 2 · 10 for the two weights of each function, 16 elsewhere."""
    model = SingleLayerAttention(2, 1, 1)
    found = critical_points(model, quadratic="random", count_only=True, engine=engine)
    assert (found.counts.count.dense, found.counts.count.elsewhere) == (20, 16)


@pytest.mark.parametrize(("d", "number"), [(2, 6), (3, 25)])
def test_elimination_and_the_whole_gradient_count_alike(
    d: int, number: int, engine: Engine
) -> None:
    """The whole gradient of (4, 1, 4) takes 20 seconds of processor time, and its 90 points are
    those that msolve finds (``GAUSSIAN``).
    """
    shape = LayerSizes(d, 1, d, 2)
    loss = gaussian(shape).towards(random_function(shape, 4), "")
    with using(engine):
        whole = count_in_chart(32003, loss, random_chart(shape, 32002, Random(5)))
        system = eliminated_system(loss, 32003, Random(5))
        assert system is not None
        answer = answer_to(counting.count_script(*system, 32003, ""))
    assert (whole.dense, whole.elsewhere) == (number, 0)
    assert answer.integers("critical") == answer.integers("dense") == [0, number]


def test_the_program_of_a_certificate_counts_modulo_two_primes(engine: Engine) -> None:
    """As the observation does, whose primes are the first two of the same seed."""
    model = SingleLayerAttention(2, 1)
    question = question_of("attention", "learning-degree")
    script = question.script(model)
    assert script is not None
    with using(engine):
        observed = question.observe(model)
        answer = answer_to(script)
    for prime in observed.evidence()["primes"]:
        assert f"ZZ/{prime}" in script.body
    assert answer.integers("dense") == answer.integers("dense_again") == [0, 6]


@pytest.mark.slow
def test_orbits_are_known_where_a_is_eliminated(engine: Engine) -> None:
    """For a teacher with A of rank two and d = 4 its function alone is not in the dense orbit."""
    model = SingleLayerAttention(4, 1)
    teacher = {"A": np.diag([1.0, 2, 0, 0]), "V": [[1.0, 3, 2, 1]]}
    found = critical_points(model, teacher=teacher, count_only=True, engine=engine)
    assert found.to_json()["orbits_counted"]
    count = found.counts.count
    assert count.eliminated
    assert count.elsewhere
    assert count.dense is not None
    general = critical_points(model, count_only=True, engine=engine).counts.count
    assert (general.dense, general.elsewhere) == (90, 0)


@pytest.mark.slow
def test_points_elsewhere_may_be_at_smooth_functions(engine: Engine) -> None:
    """The function of a teacher with A of rank one, for a = d = d' = 2, is no singular or boundary
    function, and not in the dense orbit (2, 2, 2).
    """
    shape = HeadShape(d=2, d_out=2, a=2, v=None, factored=True, softmax=False)
    assert not shape.is_singular(1, 2, 1)
    assert not shape.is_boundary(1, 2, 1)
    teacher = {"A": [[1, 2], [3, 6]], "V": [[1, 0], [0, 1]]}
    found = critical_points(
        SingleLayerAttention(2, 2), teacher=teacher, count_only=True, engine=engine
    )
    assert found.counts.count.elsewhere == 1
    (facts,) = found.to_sheet().blocks
    assert isinstance(facts, Facts)
    assert ("elsewhere", "1 in the chart, outside the dense orbit") in facts.pairs


def test_a_chart_that_misses_a_point_is_seen(engine: Engine) -> None:
    """A teacher with v_1 + v_2 = 0 is at infinity in the chart with v_1 + v_2 = 1."""
    model = SingleLayerAttention(2, 1)
    teacher = {"A": [[1, 2], [3, 5]], "V": [[1, -1]]}
    loss = read_loss(model, data=None, tokens="gaussian", quadratic=None, teacher=teacher, seed=0)
    with using(engine):
        assert count_in_chart(32003, loss, WeightChart((1,))).dense == 5
        assert count_in_chart(32003, loss, WeightChart((2,))).dense == 6


def by_sympy(loss: Loss) -> tuple[int, list[float]]:
    """The number of critical points of (2, 1, 2), and the losses at the real ones.

    A is eliminated by symbolic linear algebra, and V = (1, x).
    """
    x = symbols("x")
    V = [1, x]
    rows = []
    for _, i, p, q in indices(loss.shape):
        row = [0] * 4
        row[2 * p + i] += V[q]
        if p != q:
            row[2 * q + i] += V[p]
        rows.append(row)
    n = loss.shape.independent_count
    field = QQ.frac_field(x)

    def matrix(height: int, width: int, entries: list[Any]) -> DomainMatrix:
        return DomainMatrix.from_Matrix(Matrix(height, width, entries)).convert_to(field)

    C = matrix(n, 4, [entry for row in rows for entry in row])
    G = matrix(n, n, [Rational(int(y.p), int(y.q)) for y in loss.gram.entries()])
    b = matrix(n, 1, [Rational(int(y.p), int(y.q)) for y in loss.linear.entries()])
    w = C.transpose() * b
    A = (C.transpose() * G * C).lu_solve(w)
    reduced = (w.transpose() * A).to_Matrix()[0, 0]
    numerator, _ = fraction(cancel(reduced.diff(x)))
    polynomial = numerator.as_poly(x)
    assert all(multiplicity == 1 for _, multiplicity in sqf_list(polynomial)[1])
    constant = float(Rational(int(loss.constant.p), int(loss.constant.q)))
    roots = [root.evalf(40) for root in polynomial.real_roots()]
    losses = [constant - float(reduced.subs(x, root)) / 2 for root in roots]
    return polynomial.degree(), sorted(losses)


@pytest.mark.parametrize("seed", few(range(4), 2))
def test_two_one_two_is_as_in_sympy(seed: int, engine: Engine) -> None:
    model = SingleLayerAttention(2, 1)
    # an integer of NumPy is the same seed
    found = critical_points(model, tokens="gaussian", seed=np.int64(seed), engine=engine)
    assert (found.seed, type(found.seed)) == (seed, int)
    nothing: dict[str, Any] = {"data": None, "quadratic": None, "teacher": None}
    loss = read_loss(model, tokens="gaussian", seed=seed, **nothing)
    number, losses = by_sympy(loss)
    assert found.critical_points == number
    assert found.real_points is not None
    assert [sum(point.loss) / 2 for point in found.real_points] == pytest.approx(losses)


@pytest.mark.slow
@pytest.mark.parametrize("case", [(2, 1, 2), (2, 1, 1)], ids=str)
def test_gradient_descent_ends_in_the_minima(case: tuple[int, int, int], engine: Engine) -> None:
    """From many starts nowhere else than in the minima that are listed, and in the smallest one."""
    model = SingleLayerAttention(*case)
    found = critical_points(model, tokens="gaussian", seed=0, engine=engine)
    assert found.points is not None
    minima = [sum(point.loss) / 2 for point in found.points if point.kind == "minimum"]
    nothing: dict[str, Any] = {"data": None, "quadratic": None, "teacher": None}
    loss = read_loss(model, tokens="gaussian", seed=0, **nothing)
    reached = [descended(loss, np.random.default_rng(start)) for start in range(16)]
    for value in reached:
        assert any(value == pytest.approx(minimum, abs=1e-3) for minimum in minima)
    assert min(reached) == pytest.approx(min(minima), abs=1e-3)


def descended(loss: Loss, rng: np.random.Generator) -> float:
    """The loss after alternating least squares: exact steps in A (or Q, then K) and in V.

    Each step is a minimum along a block of weights, so the loss falls; it ends in minima only, as
    saddles repel.
    """
    shape = loss.shape
    G = np.array([[float(x) for x in row] for row in loss.gram.tolist()])
    b = np.array([float(x) for x in loss.linear.entries()])
    d, a = shape.d, shape.alpha
    K, Q = rng.standard_normal((a, d)), rng.standard_normal((a, d))
    V = rng.standard_normal((shape.d_out, d))
    factored = a < d
    A = K.T @ Q
    for _ in range(1000):
        before = V
        C, D = derivatives(shape, A, V)
        if factored:
            along_Q = C @ np.kron(K.T, np.eye(d))
            Q = solved(G, b, along_Q).reshape(a, d)
            along_K = np.einsum("npi,ei->nep", C.reshape(-1, d, d), Q).reshape(len(C), -1)
            K = solved(G, b, along_K).reshape(a, d)
            A = K.T @ Q
        else:
            A = solved(G, b, C).reshape(d, d)
        C, D = derivatives(shape, A, V)
        V = solved(G, b, D).reshape(V.shape)
        if np.abs(V - before).max() < 1e-12 * np.abs(V).max():
            break
    C, _ = derivatives(shape, A, V)
    c = C @ A.ravel()
    return round(float(c @ G @ c / 2 - b @ c) + float(loss.constant), 4)


def derivatives(shape: LayerSizes, A: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives of the function along A, whose entries are those of V, and along V."""
    rows, of_A, entries_of_V, of_V, entries_of_A = places(shape).T
    C = np.zeros((shape.independent_count, shape.d**2))
    D = np.zeros((shape.independent_count, V.size))
    C[rows, of_A] = V.ravel()[entries_of_V]
    D[rows, of_V] = A.ravel()[entries_of_A]
    return C, D


@cache
def places(shape: LayerSizes) -> np.ndarray:
    """Where the entries of V and A stand in the derivatives: a row, a column along A with an entry
    of V, and a column along V with an entry of A.
    """
    d = shape.d
    return np.array(
        [
            (row, one * d + i, k * d + other, k * d + other, one * d + i)
            for row, (k, i, p, q) in enumerate(indices(shape))
            for one, other in {(p, q), (q, p)}
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", [(2, 1, 2), (2, 1, 1)], ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_newtons_method_finds_listed_points_only(
    seed: int, case: tuple[int, int, int], engine: Engine
) -> None:
    """From many starts, in all weights and without a chart, for random data."""
    model = SingleLayerAttention(*case)
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (10, model.d, 3))
    data = {"X": X, "Y": rng.integers(-99, 100, (10, model.d_out, 3))}
    found = critical_points(model, data, engine=engine)
    if found.points is None:
        # the chart of (2, 1, 1) has 36 complex points, too many without msolve
        assert case == (2, 1, 1)
        assert "RealRoots" in found.unfinished
        return
    nothing: dict[str, Any] = {"tokens": None, "quadratic": None, "teacher": None}
    loss = read_loss(model, data=data, seed=0, **nothing)
    reached = newton_points(loss, rng, 60)
    assert reached
    for value, index in reached:
        listed = {p.index for p in found.points if sum(p.loss) / 2 == pytest.approx(value)}
        assert index in listed


def newton_points(loss: Loss, rng: np.random.Generator, starts: int) -> set[tuple[float, int]]:
    """Losses and indices of the critical points to which Newton's method converges; zero is none.

    The Hessian is a quotient of differences; it is singular along the group, so steps are least
    squares.
    """
    shape = loss.shape
    d, a, outputs = shape.d, shape.alpha, shape.d_out
    G = np.array([[float(x) for x in row] for row in loss.gram.tolist()])
    b = np.array([float(x) for x in loss.linear.entries()])
    heads = 2 * a * d if a < d else d * d

    def matrices(w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        V = w[heads:].reshape(outputs, d)
        if a == d:
            return np.eye(d), w[:heads].reshape(d, d), w[:heads].reshape(d, d), V
        K, Q = w[: a * d].reshape(a, d), w[a * d : heads].reshape(a, d)
        return K, Q, K.T @ Q, V

    def gradient_at(w: np.ndarray) -> np.ndarray:
        K, Q, A, V = matrices(w)
        C, D = derivatives(shape, A, V)
        error = G @ (C @ A.ravel()) - b
        of_A, of_V = (C.T @ error).reshape(d, d), D.T @ error
        parts = [of_A.ravel()] if a == d else [(Q @ of_A.T).ravel(), (K @ of_A).ravel()]
        return np.concatenate([*parts, of_V])

    def hessian_at(w: np.ndarray) -> np.ndarray:
        steps = 1e-5 * np.eye(len(w))
        columns = [(gradient_at(w + h) - gradient_at(w - h)) / 2e-5 for h in steps]
        return np.array(columns)

    reached = set()
    for _ in range(starts):
        w = rng.standard_normal(heads + outputs * d) * rng.choice([0.3, 1, 3])
        for _ in range(60):
            step = np.linalg.lstsq(hessian_at(w), gradient_at(w), rcond=1e-9)[0]
            step *= min(1, 5 * (1 + np.linalg.norm(w)) / (1e-300 + np.linalg.norm(step)))
            w = w - step
            if np.linalg.norm(step) < 1e-14 * np.linalg.norm(w):
                break
        _, _, A, V = matrices(w)
        small = np.abs(A).max() * np.abs(V).max() < 1e-6
        # steps are short, too, where the Hessian has no inverse that is used
        if small or np.linalg.norm(gradient_at(w)) > 1e-7 * np.linalg.norm(b):
            continue
        C, _ = derivatives(shape, A, V)
        c = C @ A.ravel()
        value = float(c @ G @ c / 2 - b @ c) + float(loss.constant)
        eigenvalues = np.linalg.eigvalsh(hessian_at(w))
        negative = eigenvalues < -1e-8 * np.abs(eigenvalues).max()
        reached.add((round(value, 5), int(negative.sum())))
    return reached


def solved(G: np.ndarray, b: np.ndarray, J: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.linalg.lstsq(J.T @ G @ J, J.T @ b, rcond=None)[0]
    return found


@pytest.mark.slow
def test_a_teacher_is_a_minimum_with_loss_zero(engine: Engine) -> None:
    model = SingleLayerAttention(2, 1)
    rng = np.random.default_rng(0)
    data = {"X": rng.integers(-3, 4, (6, 2, 3)), "A": [[1, 2], [3, 5]], "V": [[1, 1]]}
    found = critical_points(model, data, engine=engine)
    assert found.critical_points == 14
    assert found.real_points is not None
    best = found.real_points[0]
    assert (best.kind, best.loss, best.orbit) == ("minimum", (0, 0), Orbit(2, 1, 1))
    product = np.array(best.weights["A"]) * best.weights["V"][0][0]
    assert np.allclose(product, [[1, 2], [3, 5]])


@pytest.mark.slow
def test_a_teacher_of_rank_one_is_found_apart(engine: Engine) -> None:
    """It has two weights (A, V), which are singular functions: Theorem 3.2."""
    rng = np.random.default_rng(0)
    data = {"X": rng.integers(-3, 4, (6, 2, 3)), "A": [[1, 2], [2, 4]], "V": [[1, 1]]}
    found = critical_points(SingleLayerAttention(2, 1), data, engine=engine)
    assert (found.critical_points, found.counts.count.elsewhere) == (12, 2)
    assert found.real_points_elsewhere is not None
    assert [point.loss for point in found.real_points_elsewhere] == [(0, 0), (0, 0)]
    # (1, 2)ᵀ and (1, 1) span R², and the weights are rational
    assert [point.orbit for point in found.real_points_elsewhere] == [Orbit(1, 1, 0)] * 2
    assert found.spurious_minima is False


@pytest.mark.parametrize("a", [1, 2])
def test_a_degenerate_teacher_on_the_boundary_is_a_minimum(a: int, engine: Engine) -> None:
    """(1, 2)ᵀ is in the row space of V. Two weights come together there, so the Hessian is
    degenerate, and no test of intervals proves anything.
    """
    teacher = {"A": [[1, 1], [2, 2]], "V": [[1, 2]]}
    model = SingleLayerAttention(2, 1, a)
    found = critical_points(model, tokens="gaussian", teacher=teacher, engine=engine)
    if found.points is None:
        assert "too many for Macaulay2's RealRoots" in found.unfinished
        return
    best = found.points[0]
    assert (best.kind, best.loss, best.is_dense) == ("minimum", (0, 0), False)
    assert best.orbit == Orbit(1, 1, 1)
    assert found.spurious_minima is False
    assert "(1, 1, 1)" in found.to_text()


@pytest.mark.parametrize(
    ("seed", "with_msolve"),
    [
        (3, True),
        pytest.param(0, True, marks=pytest.mark.slow),
        pytest.param(3, False, marks=pytest.mark.slow),
    ],
)
def test_orbits_at_irrational_points_are_decided(
    seed: int, with_msolve: bool, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    """For (2, 1, 1) they are boundary functions, where V is a multiple of K, or zero."""
    if not with_msolve:
        monkeypatch.setattr(msolve, "usable", lambda *_: None)
    model = SingleLayerAttention(2, 1, 1)
    found = critical_points(model, tokens="gaussian", seed=seed, engine=engine)
    assert found.real_points_elsewhere
    for point in found.real_points_elsewhere:
        (K,), (Q,), (V,) = (point.weights[name] for name in "KQV")
        if not any(Q):
            assert point.is_zero
            assert point.orbit is None
        else:
            assert point.orbit == Orbit(1, 1, 1)
            assert K[0] * V[1] == pytest.approx(K[1] * V[0])
            assert point.is_zero is False
    assert {point.orbit for point in found.real_points or ()} == {Orbit(1, 1, 0)}


@pytest.mark.slow
def test_no_real_point_is_left_out_with_the_families(engine: Engine) -> None:
    """With (3, −8) as a row of Q, 8 q_1 + 3 q_2 is zero: a combination of the minors of Q with these
    coefficients, which were once drawn, leaves out the teacher.
    """
    teacher = {"A": np.outer([1, 2], [3, -8]), "V": [[1, 3], [2, 1]]}
    model = SingleLayerAttention(2, 2, 1)
    found = critical_points(model, tokens="gaussian", teacher=teacher, engine=engine)
    if found.points is None:
        assert "RealRoots" in found.unfinished
        return
    assert found.points[0].loss == (0, 0)
    assert found.points[0].kind == "minimum"


def test_an_orbit_is_not_decided_where_a_point_is_missing(
    monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    """With fewer points of a smaller rank than are listed nothing follows."""
    right = Isolation._number_of_points
    monkeypatch.setattr(
        Isolation, "_number_of_points", lambda self, condition: right(self, condition) - 1
    )
    model = SingleLayerAttention(2, 1, 1)
    found = critical_points(model, tokens="gaussian", seed=3, engine=engine)
    assert found.real_points_elsewhere
    assert all(point.ranks is None for point in found.real_points_elsewhere)
    assert "elsewhere" in found.to_text()


@pytest.mark.macaulay2("each")
def test_without_msolve_few_points_are_found_by_realroots(
    monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    model = SingleLayerAttention(2, 1)
    with_all = critical_points(model, tokens="gaussian", engine=engine)
    monkeypatch.setattr(msolve, "usable", lambda *_: None)
    without = critical_points(model, tokens="gaussian", engine=engine)
    assert without.isolated_by.startswith("Macaulay2's RealRoots")
    assert with_all.real_points is not None
    assert without.real_points is not None
    for one, other in zip(with_all.real_points, without.real_points, strict=True):
        assert (one.kind, one.index) == (other.kind, other.index)
        assert one.loss == pytest.approx(other.loss)
    larger = critical_points(SingleLayerAttention(2, 2), tokens="gaussian", engine=engine)
    assert larger.critical_points == 52
    assert larger.points is None
    assert "too many for Macaulay2's RealRoots" in larger.unfinished


@pytest.mark.slow
@pytest.mark.parametrize(("a", "number"), [(2, 4), (1, 8)])
def test_data_with_long_numbers_have_points_near_the_points_of_short_ones(
    a: int, number: int, engine: Engine
) -> None:
    """Tokens are changed by less than 10⁻¹⁴, so that all points move as little, and none is lost:
    points of the short numbers are isolated as they are. For a = 1 some are elsewhere.
    """
    rng = np.random.default_rng(0)
    X, Y = rng.integers(-8, 9, (30, 2, 3)) / 4, rng.integers(-8, 9, (30, 1, 3)) / 4
    model = SingleLayerAttention(2, 1, a)
    short = critical_points(model, {"X": X, "Y": Y}, engine=engine)
    moved = X + rng.integers(1, 50, X.shape) * 2.0**-50
    long = critical_points(model, {"X": moved, "Y": Y}, engine=engine)
    if short.points is None:  # without msolve there are too many for RealRoots
        assert a == 1
        assert "RealRoots" in long.unfinished
        return
    assert short.rounded_bits is None
    assert long.rounded_bits == 24
    assert "for data rounded to 24 bits" in long.to_text()
    assert long.points is not None
    assert len(long.points) == len(short.points) == number
    for one, other in zip(long.points, short.points, strict=True):
        assert one.proved
        assert (one.kind, one.index, one.orbit) == (other.kind, other.index, other.orbit)
        assert one.loss[0] == pytest.approx(other.loss[0], rel=1e-12)
        for name, rows in one.weights.items():
            assert np.allclose(rows, other.weights[name], rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_points_of_small_rank_are_counted_modulo_a_prime(engine: Engine) -> None:
    """Of the 36 points of (2, 1, 1) 16 are elsewhere: there V is a multiple of K, or Q is 0."""
    model = SingleLayerAttention(2, 1, 1)
    loss = read_loss(model, data=None, tokens=None, quadratic="random", teacher=None, seed=0)
    chart = random_chart(loss.shape, 32002, Random(1))
    weights = weights_in(loss.shape, chart)
    assert weights.K is not None
    assert weights.Q is not None
    with using(engine):
        count = count_in_chart(32003, loss, chart)
        spanning = RankCondition(name="span_dimension", matrix=[*weights.K, *weights.V], rank=1)
        of_A = RankCondition(name="A", matrix=weights.Q, rank=0)
        with_small_span = count_of_rank(loss, weights, 32003, of_rank_at_most=spanning)
        with_zero = count_of_rank(loss, weights, 32003, of_rank_at_most=of_A)
    assert (count.dense, count.elsewhere) == (20, 16)
    assert with_small_span is not None
    assert with_zero is not None
    # at the other two both hold, or Q alone is 0
    assert (with_small_span, with_zero) == (14, 2)


@pytest.mark.slow
@pytest.mark.parametrize("with_msolve", [True, False])
@pytest.mark.parametrize("factor", [1e300, 1e60, 1e-8, 1e-10, 1e-200])
def test_targets_of_any_size_have_the_same_critical_points(
    factor: float, with_msolve: bool, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    """The functions are linear in V: all points are multiplied, and losses by the square."""
    if not with_msolve:
        monkeypatch.setattr(msolve, "usable", lambda *_: None)
    rng = np.random.default_rng(0)
    X, Y = rng.integers(-4, 5, (12, 2, 3)), rng.integers(-4, 5, (12, 1, 3))
    model = SingleLayerAttention(2, 1)
    expected = critical_points(model, {"X": X, "Y": Y}, engine=engine)
    found = critical_points(model, {"X": X, "Y": Y * factor}, engine=engine)
    assert expected.points is not None
    assert found.points is not None
    assert len(expected.points) == 4
    squared = flint.arb(factor) * flint.arb(factor)
    for point, usual in zip(found.points, expected.points, strict=True):
        assert point.proved
        assert (point.kind, point.index, point.is_dense) == (usual.kind, usual.index, True)
        # ``Y * factor`` is rounded, each entry by a part of 2^−53
        ratio = point.loss_interval / squared / usual.loss_interval
        assert abs(float(ratio) - 1) < 1e-14
    lines = found.to_text()
    first_digits = f"{expected.points[0].loss[0]:.9g}"[:7]
    exponent = {1e300: "e+600", 1e60: "e+120", 1e-8: "e-16", 1e-10: "e-20", 1e-200: "e-400"}[factor]
    assert first_digits in lines
    assert exponent in lines
    json.dumps(found.to_json(), allow_nan=False)


ON_DATA = [(2, 1, 2, 14), (2, 2, 2, 68), (2, 3, 2, 92), (2, 4, 2, 92), (2, 2, 1, 68), (2, 3, 1, 68)]


@pytest.mark.slow
@pytest.mark.parametrize(("d", "d_out", "a", "expected"), ON_DATA)
def test_general_data_have_equal_blocks_and_fewer_critical_points(
    d: int, d_out: int, a: int, expected: int, engine: Engine
) -> None:
    """Not the generic ED degrees 284 and 1324, and constant for many outputs; msolve finds the same
    numbers for (2, d', 2) from the expanded loss."""
    X = np.random.default_rng(a).integers(-9, 10, (32, d, 3))
    model = SingleLayerAttention(d, d_out, a)
    found = critical_points(model, {"X": X}, count_only=True, engine=engine)
    assert found.critical_points == expected


RANK_ONE = """
needsPackage "Saturation";
S = ZZ/PRIME[x, y];
k = transpose matrix {{ROW1}};
q = flatten entries matrix {{ROW2}};
C = matrix flatten apply(q, z -> {{k_(0,0)*z, 0}, {k_(1,0)*z, k_(0,0)*z}, {0, k_(1,0)*z}});
G = sub(matrix MOMENTS, S);
b = sub(matrix TARGETS, S);
N = transpose C * G * C;
adjugate = matrix {{N_(1,1), -N_(0,1)}, {-N_(1,0), N_(0,0)}};
W = transpose C * b;
P = trace(adjugate * W * transpose W);
D = det N;
V = adjugate * W;
zeros = saturate(ideal apply({x, y}, z -> diff(z, P)*D - P*diff(z, D)), D);
smaller = if OUTPUTS == 1 then ideal det(k | V) else minors(2, V);
mbEmit("dimension", dim zeros);
mbEmit("weights", degree saturate(zeros, smaller));
"""
"""In two unknowns: V is eliminated from the loss of A = k qᵀ, V, which leaves −P/2D."""


@pytest.mark.slow
@pytest.mark.parametrize("d_out", [1, 2, 3, 7])
def test_learning_degrees_of_rank_one_by_a_second_route(d_out: int, engine: Engine) -> None:
    """(2, d', 1) on data, modulo two primes: for d' = 1 each of 10 functions has two weights."""
    random = Random(d_out)
    X = np.random.default_rng(1).integers(-9, 10, (32, 2, 3))
    moments = np.zeros((6, 6), dtype=int)
    for sequence in X:
        S = sequence @ sequence.T
        for token in sequence.T:
            features = np.kron(token, [S[0, 0], S[0, 1], S[1, 1]])
            moments += np.outer(features, features)
    for prime in random.sample([32003, 31991, 31981, 31973, 31963, 30011, 30029], 2):
        # a random chart of k and q, and random targets
        linear = [f"{random.randrange(prime)}*z+{random.randrange(prime)}" for _ in range(4)]
        row1, row2 = (", ".join(linear[i : i + 2]) for i in (0, 2))
        targets = [[random.randrange(prime) for _ in range(d_out)] for _ in range(6)]
        program = RANK_ONE.replace("ROW1", row1.replace("z", "x"))
        program = program.replace("ROW2", row2.replace("z", "y")).replace("PRIME", str(prime))
        for name, rows in (("MOMENTS", moments.tolist()), ("TARGETS", targets)):
            program = program.replace(name, str(rows).replace("[", "{").replace("]", "}"))
        script = Script("rank-one", program.replace("OUTPUTS", str(d_out)))
        found = parse(engine.run(script).records).values
        assert found == {"dimension": 0, "weights": 20 if d_out == 1 else 68}


def test_json_has_the_fields_of_the_documentation(engine: Engine) -> None:
    found = critical_points(SingleLayerAttention(2, 1), engine=engine)
    written = json.loads(json.dumps(found.to_json()))
    assert written["critical_points"] == 6
    assert written["generic_ed_degree"] == 14
    assert written["primes"] == list(found.primes)
    point = written["real_points"][0]
    assert set(point) == {"kind", "index", "proved", "loss", "orbit", "zero", "weights"}
    assert point["proved"]
    assert point["kind"] == "minimum"
    assert "spurious minima" in found.to_text()
    assert r"\#" in found.to_latex()


def test_the_statement_is_confirmed_and_a_wrong_one_refuted(engine: Engine) -> None:
    model = SingleLayerAttention(2, 1)
    (stated,) = [statement for statement in REGISTRY if statement.key == "learning-degree"]
    (verdict,) = cross_check(model, statements=[stated], engine=engine).verdicts
    assert verdict.decision == "CONFIRMED"
    # as many as there would be if U² had the coefficient zero: (3^d − 1)/2
    wrong = replace(stated, predict=lambda shape: (3**shape.d - 1) // 2)  # type: ignore[arg-type]
    (verdict,) = cross_check(model, statements=[wrong], engine=engine).verdicts
    assert verdict.decision == "REFUTED"


@pytest.mark.parametrize(
    "size", [(2, 1, 2, 2), pytest.param((3, 1, 4, 3), marks=pytest.mark.slow), (2, 2, 2, 2)]
)
def test_certificates_are_counted_again(size: tuple[int, ...], engine: Engine) -> None:
    """By the checker, without Macaulay2."""
    certificate = certify(SingleLayerAttention(*size), "learning-degree", engine=engine)
    assert verify(certificate).accepted
    (row,) = question_of("attention", "learning-degree").rows(certificate)
    assert row.verdict == certificate.answer["verdicts"][0]["verdict"]
    assert row.verdict == ("CONFIRMED" if certificate.evidence else "NOT_APPLICABLE")
    assert ("degree" in certificate.script["text"]) is bool(certificate.evidence)


@pytest.mark.slow
def test_the_command(invoke: Invoke) -> None:
    done = invoke("critical-points", "--d", "2", "--d-out", "1", "--count", "--json")
    assert json.loads(done.stdout)["critical_points"] == 6
    refused = invoke("critical-points", "--d", "2", "--d-out", "1", "--t", "1")
    assert refused.returncode == 2
    assert (
        "Invalid value for '--t': critical points are computed for t ≥ 2 tokens" in refused.stderr
    )
