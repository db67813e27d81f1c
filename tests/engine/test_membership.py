"""Where functions lie, on real Macaulay2."""

import json
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from sympy import I, Matrix, Rational, Symbol, latex, zeros

from m2bridge import (
    Macaulay2,
    Orbit,
    PolynomialMap,
    SingleLayerAttention,
    closure,
    cross_check,
    singular_locus,
)
from m2bridge.algebra.differential import tangent_dimension
from m2bridge.algebra.field import QQ
from m2bridge.convert.answers import parse
from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.orbits.membership import (
    CLOSURE,
    INSIDE,
    OUTSIDE,
    Membership,
    function_of,
    orbit_of,
)
from m2bridge.families.attention.sizes import CoordinateSystem
from m2bridge.maps.closure import base_locus_script
from m2bridge.trained_weights.heads.membership import membership
from m2bridge.trained_weights.heads.shape import HeadShape
from tests.conftest import Invoke
from tests.tiers import examples, slow

pytestmark = pytest.mark.macaulay2("any")

through_engine = settings(
    max_examples=examples(30),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
CASES = [(1, 2), (2, 1), (2, 1, 1), (2, 2), (3, 2, 2), (3, 1)]


def locate(engine: Macaulay2, case: tuple[int, ...], A: Matrix, V: Matrix) -> Membership:
    function = {name: Fraction(int(v.p), int(v.q)) for name, v in function_of(A, V).items()}
    return membership(SingleLayerAttention(*case), function, engine=engine)


def test_the_pair_of_sums_of_squares(engine: Macaulay2) -> None:
    """(y1² + y2², 2y1² + 2y2²): a limit of nothing real, but in the Zariski closure."""
    forms = {"c_1_1_1_1": 1, "c_1_1_2_2": 1, "c_1_2_1_1": 2, "c_1_2_2_2": 2}
    found = membership(SingleLayerAttention(2, 1), forms, engine=engine)
    assert (found.place, found.orbit, found.length) == (CLOSURE, Orbit(1, 1, 0), 2)
    assert found.singular is True
    assert found.boundary is False
    assert all(A.has(I) for A, V in found.weights)


@pytest.mark.macaulay2("each")
def test_places_and_orbits(engine: Macaulay2) -> None:
    model = SingleLayerAttention(2, 1)
    irrational = membership(model, {"c_1_1_1_1": 1, "c_1_1_2_2": -2}, engine=engine)
    assert (irrational.place, irrational.length, len(irrational.weights)) == (INSIDE, 2, 2)
    outside = membership(
        model, {"c_1_1_1_1": 1, "c_1_1_2_2": 1, "c_1_2_1_1": 2, "c_1_2_2_2": 3}, engine=engine
    )
    assert (outside.place, outside.weights, outside.singular) == (OUTSIDE, (), None)
    boundary = membership(model, {"c_1_2_2_2": Fraction(5, 3)}, engine=engine)
    assert (boundary.place, boundary.orbit, boundary.boundary) == (INSIDE, Orbit(1, 1, 1), True)


@pytest.mark.parametrize(("d", "closure_dimension"), [(2, 4), (3, 7)])
def test_singular_points_of_symmetric_matrices(
    engine: Macaulay2, d: int, closure_dimension: int
) -> None:
    """Where α = d' = 1, against the rank at the function of all equations of degree 2 and 3."""
    model = SingleLayerAttention(d, 1, 1)
    ideal = closure(model, engine=engine, strategy="multigraded", max_degree=3).ideal
    assert ideal is not None
    k, q, other = Matrix([1, 2, 3][:d]), Matrix([2, 0, 5][:d]), Matrix([1, -1, 1][:d])
    for v in (k, 2 * k, other):
        function = {name: Fraction(int(c)) for name, c in function_of(k * q.T, v.T).items()}
        point = [int(function.get(name, 0)) for name in ideal.ring.variables]
        tangents = tangent_dimension(ideal.generators, point)
        found = membership(model, function, engine=engine)
        assert found.orbit == Orbit(1, 1, int(v != other))
        assert found.singular is (tangents > closure_dimension)


ZERO, ONE = Matrix([[0, 0], [0, 0]]), Matrix([[1, 2], [0, 3]])


@pytest.mark.parametrize(
    "case", [(1, 1), (1, 3), (2, 1), (2, 1, 1), (2, 2), (2, 5, 1), (3, 1, 2), (3, 2, 1)]
)
def test_the_zero_function(engine: Macaulay2, case: tuple[int, ...]) -> None:
    """Its fibre is Macaulay2's base locus; its tangent space the zeros of the linear forms in the
    ideal.
    """
    model = SingleLayerAttention(*case)
    zero = membership(model, {"c_1_1_1_1": 0}, engine=engine)
    assert (zero.place, zero.orbit, zero.length, zero.is_zero) == (INSIDE, None, None, True)
    attention = model.parametrization()
    base_locus = parse(engine.run(base_locus_script(attention, field=QQ)).records)
    assert zero.fibre_dimension == base_locus.integer("base_locus_dimension")
    found = closure(model, engine=engine, max_degree=1)
    assert zero.tangent_dimension == len(attention.coordinates) - found.generator_degrees.get(1, 0)
    assert zero.singular == (found.dimension < zero.tangent_dimension)


@pytest.mark.parametrize(
    ("case", "coordinates"),
    [((2, 1), None), slow((2, 1), "full"), ((1, 2), None), slow((2, 2, 1), None)],
)
def test_the_tangent_dimension_at_zero_is_shown_with_the_orbits(
    engine: Macaulay2, case: tuple[int, ...], coordinates: CoordinateSystem | None
) -> None:
    """Against the rank at zero of all equations by elimination; nothing is said without orbits."""
    model = SingleLayerAttention(*case)
    ideal = closure(model, engine=engine, coordinates=coordinates, strategy="elimination").ideal
    assert ideal is not None
    expected = tangent_dimension(ideal.generators, [0] * len(ideal.ring.variables))
    locus, checked = (
        singular_locus(model, engine=engine, coordinates=coordinates),
        cross_check(model, engine=engine),
    )
    assert (
        locus.to_json()["zero_tangent_dimension"]
        == checked.to_json()["zero_tangent_dimension"]
        == expected
    )
    verdict = "smooth" if model.d == 1 else "singular"
    assert f"{verdict}; its tangent space has dimension {expected}" in locus.to_text()
    assert f"{verdict}; its tangent space has dimension {expected}" in checked.to_text()
    one_token = SingleLayerAttention(1, 1, 1, 1)
    assert singular_locus(one_token, engine=engine).zero_tangent_dimension is None
    assert "  zero" not in cross_check(one_token, engine=engine).to_text()


@pytest.mark.parametrize(
    ("A", "V"), [(ZERO, Matrix([[5, 7]])), (ONE, Matrix([[0, 0]])), (ZERO, Matrix([[0, 0]]))]
)
def test_given_weights_of_zero_are_kept(engine: Macaulay2, A: Matrix, V: Matrix) -> None:
    zero = membership(SingleLayerAttention(2, 1), {}, engine=engine, weights=(A, V))
    assert (zero.weights, zero.remark) == (((A, V),), "")
    said = zero.to_json()
    assert (said["fibre"], said["fibre_length"], said["fibre_points"]) == (
        "A = 0 or V = 0",
        None,
        None,
    )
    assert said["weights"][0]["V"] == [[str(entry) for entry in V]]
    assert "all weights with A = 0 or V = 0: dimension 4" in zero.to_text()
    assert latex(V) in zero.to_latex()
    assert r"A = 0 \text{ or } V = 0" in zero.to_latex()


def test_given_weights_are_checked(engine: Macaulay2) -> None:
    model = SingleLayerAttention(2, 1, 1)
    with pytest.raises(InvalidCaseError, match="weights of the given function"):
        membership(model, {"c_1_1_1_1": 1}, engine=engine, weights=(ONE, Matrix([[2, 0]])))
    too_large = membership(model, {}, engine=engine, weights=(ONE, Matrix([[0, 0]])))
    assert too_large.weights == ((ZERO, Matrix([[0, 0]])),)
    assert "rk A = 2 > a = 1" in too_large.to_text()


def test_rank_above_a_is_outside(engine: Macaulay2) -> None:
    A, V = Matrix([[1, 0, 2], [0, 1, 1], [1, 1, 5]]), Matrix([[1, 2, 3], [0, 1, 0]])
    assert A.rank() == 3
    assert locate(engine, (3, 2, 2), A, V).place == OUTSIDE
    assert locate(engine, (3, 2, 3), A, V).place == INSIDE
    singular = locate(engine, (3, 2, 2), Matrix([[1, 0, 2], [2, 0, 4], [0, 0, 0]]), V)
    assert (singular.place, singular.orbit, singular.singular) == (INSIDE, Orbit(1, 2, 0), True)


@through_engine
@given(data=st.data(), case=st.sampled_from(CASES))
def test_every_function_of_the_model_is_found(
    engine: Macaulay2, data: st.DataObject, case: tuple[int, ...]
) -> None:
    """Random real weights of rank ≤ a: in the neuromanifold, in their orbit, and the weights come
    back.
    """
    model = SingleLayerAttention(*case)
    entries = st.integers(-2, 2)

    def matrix(rows: int, columns: int) -> Matrix:
        return Matrix(
            rows,
            columns,
            data.draw(st.lists(entries, min_size=rows * columns, max_size=rows * columns)),
        )

    A = matrix(model.a, model.d).T * matrix(model.a, model.d)
    V = matrix(model.d_out, model.d)
    assume(zeros(*A.shape) != A and zeros(*V.shape) != V)
    found = locate(engine, case, A, V)
    assert found.place == INSIDE
    assert found.orbit == orbit_of(A, V)
    assert any(
        _proportional(A, found_a) and _proportional(V, found_v)
        for found_a, found_v in found.weights
    )


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
        membership(SingleLayerAttention(2, 1), {"c_1_1_2_1": 1}, engine=engine)
    with pytest.raises(MethodUnavailableError):
        membership(SingleLayerAttention(2, 1, t=1), {}, engine=engine)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--A", "[[1, 0], [0, 1]]", "--V", '[[1, "1/2"]]'], 0, "in the neuromanifold"),
        (["--A", "[[0, 0], [0, 0]]", "--V", '[[1, "1/2"]]'], 0, "A = (0 0; 0 0), V = (1 1/2)"),
        (["--function", '{"c_1_1_1_1": 1, "c_1_1_2_2": 0.25}'], 0, "only in the Zariski closure"),
        (["--function", '{"c_1_1_1_1": "x"}'], 2, "Invalid value for '--function':"),
        (["--function", "{"], 2, "Invalid value for '--function':"),
        (["--function", "nowhere.json"], 2, "Invalid value for '--function':"),
        (["--A", "[[1, 0], [0, 1]]"], 2, "--function"),
        (["--A", "[[1, 0]]", "--V", "[[1, 1]]"], 2, "A is 1 × 2"),
        (["--A", "[[1, 0], [0, 1]]", "--V", "[[true, 1]]"], 2, "Invalid value for '--V':"),
    ],
)
@pytest.mark.usefixtures("one_session")
def test_command(invoke: Invoke, m2: str, arguments: list[str], code: int, said: str) -> None:
    done = invoke("membership", "--d", "2", "--d-out", "1", "--m2", m2, *arguments)
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_json(engine: Macaulay2) -> None:
    found = membership(SingleLayerAttention(2, 1), {"c_1_1_1_1": Rational(1, 3)}, engine=engine)
    assert json.loads(json.dumps(found.to_json()))["weights"] == [
        {"A": [["1", "0"], ["0", "0"]], "V": [["1/3", "0"]]}
    ]


@pytest.mark.slow
def test_numbers_of_five_thousand_digits(engine: Macaulay2) -> None:
    """Python refuses to write integers of more than 4300 digits, where nobody lifts that limit."""
    large = 10**5000
    A, V = (
        Matrix([[large + 1, Rational(3, 7)], [5, Rational(large + 3, 11)]]),
        Matrix([[large + 9, 2]]),
    )
    found = locate(engine, (2, 1), A, V)
    assert (found.place, found.orbit, len(found.weights)) == (INSIDE, Orbit(2, 1, 1), 1)
    assert len(json.dumps(found.to_json())) > 10_000
    assert len(found.to_text()) > 10_000
    assert len(found.to_latex()) > 10_000
    square = {"c_1_1_1_1": 1, "c_1_1_2_2": -(large**2)}
    assert membership(SingleLayerAttention(2, 1), square, engine=engine).length == 2
    with pytest.raises(MethodUnavailableError, match="square root of a number of"):
        membership(
            SingleLayerAttention(2, 1), square | {"c_1_1_2_2": -2 * large - 2}, engine=engine
        )


@pytest.mark.parametrize("number", ["1e5000", "9" * 5000, '"' + "9" * 5000 + '/7"'])
@pytest.mark.usefixtures("one_session")
def test_long_numbers_on_the_command_line(invoke: Invoke, m2: str, number: str) -> None:
    function = ("--function", f'{{"c_1_1_1_1": {number}}}')
    done = invoke("membership", "--d", "2", "--d-out", "1", "--m2", m2, "--json", *function)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["place"] == INSIDE


def test_weights_take_the_place_of_a_function(engine: Macaulay2) -> None:
    """K, Q and V are multiplied out exactly; floats are taken as the dyadic rationals that they
    are.
    """
    model = SingleLayerAttention(3, 2, 1)
    K, Q, V = [[0.5, 0.1, 2.0]], [[1.0, 0.3, 0.0]], [[1.0, 0.7, 0.0], [0.0, 1.0, 1.0]]
    found = membership(model, K=K, Q=Q, V=V, engine=engine)
    A = Matrix(
        [
            [Rational(*x.as_integer_ratio()) * Rational(*y.as_integer_ratio()) for y in Q[0]]
            for x in K[0]
        ]
    )
    same = locate(
        engine, (3, 2, 1), A, Matrix(2, 3, lambda i, j: Rational(*V[i][j].as_integer_ratio()))
    )
    assert (found.place, found.orbit, found.weights) == (INSIDE, Orbit(1, 2, 0), same.weights)
    assert found.remark.startswith("the floating-point numbers are taken exactly")
    assert membership(model, weights=(K, Q, V), engine=engine).weights == found.weights
    rounded = [[x * y for y in Q[0]] for x in K[0]]
    outside = membership(model, A=rounded, V=V, engine=engine)
    assert outside.place == OUTSIDE
    assert "within rounding of rank 1" in outside.remark
    assert "give K and Q" in outside.remark


@pytest.mark.slow
@pytest.mark.parametrize("case", [(2, 2, 1, 1), (2, 2, 2, 1)])
def test_heads_with_an_output_matrix(engine: Macaulay2, case: tuple[int, int, int, int]) -> None:
    """Dimension and singular points of {rk A ≤ a} × {V = O·W, O with v columns}, by the ideal of
    the closure.
    """
    d, d_out, a, v = case
    K, Q, W = (
        Matrix(n, d, lambda i, j, x=x: Symbol(f"{x}_{i}_{j}"))
        for x, n in (("K", a), ("Q", a), ("W", v))
    )
    O = Matrix(d_out, v, lambda i, j: Symbol(f"O_{i}_{j}"))
    heads = PolynomialMap.from_expressions([*K, *Q, *O, *W], function_of(K.T * Q, O * W))
    found, shape = closure(heads, engine=engine), HeadShape(d, d_out, a, v, True, False)
    assert found.dimension == shape.dimension
    assert found.ideal is not None
    k, w, q, h = Matrix([2, 3]), Matrix([1, -1]), Matrix([1, 4]), Matrix([3, 1])
    points = {(1, 1, 0): k * q.T, (1, 1, 1): w * q.T} | (
        {(2, 1, 1): Matrix([[1, 2], [0, 3]])} if a == 2 else {}
    )
    for orbit, A in points.items():
        values = function_of(A, h * w.T)
        point = [int(values.get(name, 0)) for name in heads.coordinates]
        singular = tangent_dimension(found.ideal.generators, point) > shape.dimension
        assert singular == shape.is_singular(*orbit)


@pytest.mark.usefixtures("one_session")
def test_the_matrices_tell_the_sizes(invoke: Invoke) -> None:
    K, Q, V = "[[1, 0.5, 2]]", "[[0, 1, 1]]", "[[1, 0, 2], [0, 1, 1]]"
    weights = ("--K", K, "--Q", Q, "--V", V, "--json")
    named = invoke("membership", "--d", "3", "--d-out", "2", "--a", "1", *weights)
    read = invoke("membership", *weights)
    assert named.returncode == read.returncode == 0
    first, second = json.loads(named.stdout), json.loads(read.stdout)
    assert first["case"] == second["case"] == {"d": 3, "d_out": 2, "a": 1, "t": 2}
    assert first["orbit"] == second["orbit"]
    refused = invoke("membership", "--d", "4", *weights)
    assert refused.returncode == 2
    assert "not of (d, d', a) = (4, 2, 1)" in refused.stderr
    assert invoke("membership", "--A", "[[1, 2], [3, 4]]", "--V", "[[1, 0]]").returncode == 0
