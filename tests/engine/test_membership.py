"""Where functions lie, on real Macaulay2."""

import json
import subprocess
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sympy import I, Matrix, Rational, zeros

from m2bridge import Macaulay2, Orbit, SingleLayerAttention
from m2bridge.computations.membership import CLOSURE, INSIDE, OUTSIDE, Membership, membership
from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.geometry.function import function_of, orbit_of

through_engine = settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
CASES = [(1, 2), (2, 1), (2, 1, 1), (2, 2), (3, 2, 2), (3, 1)]


def locate(engine: Macaulay2, case: tuple[int, ...], A: Matrix, V: Matrix) -> Membership:
    function = {name: Fraction(int(v.p), int(v.q)) for name, v in function_of(A, V).items()}
    return membership(SingleLayerAttention(*case), function, engine)


def test_the_pair_of_sums_of_squares(engine: Macaulay2) -> None:
    """(y1² + y2², 2y1² + 2y2²): a limit of nothing real, but in the Zariski closure."""
    forms = {"c_1_1_1_1": 1, "c_1_1_2_2": 1, "c_1_2_1_1": 2, "c_1_2_2_2": 2}
    found = membership(SingleLayerAttention(2, 1), forms, engine)
    assert (found.place, found.orbit, found.length) == (CLOSURE, Orbit(1, 1, 0), 2)
    assert found.singular is True
    assert found.boundary is False
    assert all(A.has(I) for A, V in found.weights)


def test_places_and_orbits(engine: Macaulay2) -> None:
    model = SingleLayerAttention(2, 1)
    irrational = membership(model, {"c_1_1_1_1": 1, "c_1_1_2_2": -2}, engine)
    assert (irrational.place, irrational.length, len(irrational.weights)) == (INSIDE, 2, 2)
    outside = membership(model, {"c_1_1_1_1": 1, "c_1_1_2_2": 1, "c_1_2_1_1": 2, "c_1_2_2_2": 3}, engine)
    assert (outside.place, outside.weights, outside.singular) == (OUTSIDE, (), None)
    boundary = membership(model, {"c_1_2_2_2": Fraction(5, 3)}, engine)
    assert (boundary.place, boundary.orbit, boundary.boundary) == (INSIDE, Orbit(1, 1, 1), True)
    zero = membership(model, {}, engine)
    assert (zero.place, zero.orbit, zero.singular) == (INSIDE, None, True)


def test_rank_above_a_is_outside(engine: Macaulay2) -> None:
    A, V = Matrix([[1, 0, 2], [0, 1, 1], [1, 1, 5]]), Matrix([[1, 2, 3], [0, 1, 0]])
    assert A.rank() == 3
    assert locate(engine, (3, 2, 2), A, V).place == OUTSIDE
    assert locate(engine, (3, 2, 3), A, V).place == INSIDE
    singular = locate(engine, (3, 2, 2), Matrix([[1, 0, 2], [2, 0, 4], [0, 0, 0]]), V)
    assert (singular.place, singular.orbit, singular.singular) == (INSIDE, Orbit(1, 2, 0), True)


@through_engine
@given(data=st.data(), case=st.sampled_from(CASES))
def test_every_function_of_the_model_is_found(engine: Macaulay2, data: st.DataObject, case: tuple[int, ...]) -> None:
    """Random real weights of rank ≤ a: in the neuromanifold, in their orbit, and the weights come back."""
    model = SingleLayerAttention(*case)
    entries = st.integers(-2, 2)

    def matrix(rows: int, columns: int) -> Matrix:
        return Matrix(rows, columns, data.draw(st.lists(entries, min_size=rows * columns, max_size=rows * columns)))

    A = matrix(model.a, model.d).T * matrix(model.a, model.d)
    V = matrix(model.d_out, model.d)
    assume(zeros(*A.shape) != A and zeros(*V.shape) != V)
    found = locate(engine, case, A, V)
    assert found.place == INSIDE
    assert found.orbit == orbit_of(A, V)
    assert any(_proportional(A, found_a) and _proportional(V, found_v) for found_a, found_v in found.weights)


def _proportional(first: Matrix, second: Matrix) -> bool:
    return Matrix.vstack(first.reshape(1, len(first)), second.reshape(1, len(second))).rank() <= 1


@through_engine
@given(data=st.data())
def test_conjugate_weights_are_only_in_the_closure(engine: Macaulay2, data: st.DataObject) -> None:
    """k = v + iw with v, w independent: real coordinates, no real weights."""
    pair = st.lists(st.integers(-3, 3), min_size=2, max_size=2)
    v, w, q = (data.draw(pair) for _ in range(3))
    assume(v[0] * w[1] != v[1] * w[0] and any(q))
    k = Matrix([a + I * b for a, b in zip(v, w, strict=True)])
    A, V = (k * Matrix([q])).applyfunc(lambda e: e.expand()), k.conjugate().T
    found = locate(engine, (2, 1), A, V)
    assert (found.place, found.orbit) == (CLOSURE, Orbit(1, 1, 0))


def test_bad_functions(engine: Macaulay2) -> None:
    with pytest.raises(InvalidCaseError, match="not a coordinate"):
        membership(SingleLayerAttention(2, 1), {"c_1_1_2_1": 1}, engine)
    with pytest.raises(MethodUnavailableError):
        membership(SingleLayerAttention(2, 1, t=1), {}, engine)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--A", "[[1, 0], [0, 1]]", "--V", '[[1, "1/2"]]'], 0, "in the neuromanifold"),
        (["--function", '{"c_1_1_1_1": 1, "c_1_1_2_2": 0.25}'], 0, "only in the Zariski closure"),
        (["--function", '{"c_1_1_1_1": "x"}'], 2, "--function:"),
        (["--function", "{"], 2, "--function:"),
        (["--function", "nowhere.json"], 2, "--function:"),
        (["--A", "[[1, 0], [0, 1]]"], 2, "--function"),
        (["--A", "[[1, 0]]", "--V", "[[1, 1]]"], 2, "--A:"),
        (["--A", "[[1, 0], [0, 1]]", "--V", "[[true, 1]]"], 2, "--V:"),
    ],
)
def test_command(command: str, m2: str, arguments: list[str], code: int, said: str) -> None:
    done = subprocess.run(
        [command, "membership", "--d", "2", "--d-out", "1", "--m2", m2, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_json(engine: Macaulay2) -> None:
    found = membership(SingleLayerAttention(2, 1), {"c_1_1_1_1": Rational(1, 3)}, engine)
    assert json.loads(json.dumps(found.to_json()))["weights"] == [{"A": [["1", "0"], ["0", "0"]], "V": [["1/3", "0"]]}]
