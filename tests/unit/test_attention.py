"""The model against its definition, expanded by SymPy in the ordinary way."""

import pytest
from sympy import Matrix, Poly, expand, symbols

from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import flatten, orbits, representative


def by_definition(d: int, d_out: int, t: int) -> dict[str, object]:
    """All nonzero coefficients of V X Xᵀ A X, keyed like the full coordinates."""
    A = Matrix(d, d, lambda p, i: symbols(f"A_{p + 1}_{i + 1}"))
    V = Matrix(d_out, d, lambda k, p: symbols(f"V_{k + 1}_{p + 1}"))
    names = [(p, u) for p in range(d) for u in range(t)]
    X = Matrix(d, t, lambda p, u: symbols(f"x_{p + 1}_{u + 1}"))
    output = V * X * X.T * A * X
    coefficients = {}
    for k in range(d_out):
        for j in range(t):
            for monomial, coefficient in Poly(expand(output[k, j]), *[X[p, u] for p, u in names]).terms():
                factors = [f"{p + 1}_{u + 1}" for (p, u), e in zip(names, monomial, strict=True) for _ in range(e)]
                coefficients["_".join([f"f_{k + 1}_{j + 1}", *factors])] = expand(coefficient)
    return coefficients


@pytest.mark.parametrize(("d", "d_out", "t"), [(1, 1, 1), (2, 1, 1), (2, 1, 2), (2, 2, 2), (2, 1, 3), (3, 1, 2)])
def test_full_coordinates_are_the_coefficients_of_the_definition(d: int, d_out: int, t: int) -> None:
    expected = by_definition(d, d_out, t)
    model = SingleLayerAttention(d, d_out, t=t)
    found = model.parametrization("full")
    assert {n: image.as_expr() for n, image in zip(found.coordinates, found.images, strict=True)} == expected
    assert model.in_coordinates("full").coordinate_count == len(expected)


def test_reduced_coordinates_are_the_mixed_coefficients() -> None:
    """c_{k,i,pq} is the coefficient of x_i y_p y_q in the output of token x, with y another token."""
    model = SingleLayerAttention(3, 2)
    reduced, full = model.parametrization("reduced"), by_definition(3, 2, 2)
    for name, image in zip(reduced.coordinates, reduced.images, strict=True):
        k, i, p, q = name.split("_")[1:]
        monomial = "_".join(f"{a}_{u}" for a, u in sorted([(i, 1), (p, 2), (q, 2)]))
        assert image.as_expr() - full[f"f_{k}_1_{monomial}"] == 0


def test_factored_weights_give_the_same_functions() -> None:
    model = SingleLayerAttention(3, 2, a=2)
    attention, factored = model.parametrization("reduced"), model.parametrization("reduced", "factored")
    Q, K = [Matrix(2, 3, lambda e, i, n=n: symbols(f"{n}_{e + 1}_{i + 1}")) for n in "QK"]
    A = K.T * Q
    values = {f"A_{p + 1}_{i + 1}": A[p, i] for p in range(3) for i in range(3)}
    for left, right in zip(attention.images, factored.images, strict=True):
        assert expand(left.as_expr().subs(values) - right.as_expr()) == 0
    assert [expand(r.as_expr().subs(values)) for r in attention.relations] == [0]


def test_minors_define_the_rank_condition() -> None:
    relations = SingleLayerAttention(3, 1, a=1).parametrization().relations
    assert len(relations) == 9
    assert all(len(r) == 2 for r in relations)
    cubic = SingleLayerAttention(3, 1, a=2).parametrization().relations[0]
    A = Matrix(3, 3, lambda p, i: symbols(f"A_{p + 1}_{i + 1}"))
    assert expand(cubic.as_expr() - A.det()) == 0


@pytest.mark.parametrize(
    ("arguments", "option"),
    [((0, 1), "d"), ((1, 0), "d_out"), ((2, 1, 0), "a"), ((2, 1, -1), "a"), ((2, 1, 2, 0), "t")],
)
def test_meaningless_cases_are_refused(arguments: tuple[int, ...], option: str) -> None:
    with pytest.raises(InvalidCaseError) as refused:
        SingleLayerAttention(*arguments)
    assert refused.value.option == option


def test_cases_that_cannot_be_stored_are_refused_at_once() -> None:
    with pytest.raises(TooLargeError, match="coordinates"):
        SingleLayerAttention(60, 60).parametrization()
    with pytest.raises(TooLargeError, match="minors"):
        SingleLayerAttention(12, 1, 5).parametrization()
    with pytest.raises(InvalidCaseError, match="t ≥ 2"):
        SingleLayerAttention(2, 1, t=1).parametrization("reduced")


@pytest.mark.parametrize(("case", "count"), [((2, 1), 3), ((4, 4), 26), ((6, 6), 71), ((8, 8), 148), ((2, 2, 1), 3)])
def test_orbit_counts(case: tuple[int, ...], count: int) -> None:
    assert len(orbits(SingleLayerAttention(*case))) == count


@pytest.mark.parametrize("case", [(1, 3), (2, 2), (3, 2, 2), (4, 3, 2), (4, 4)])
def test_representatives_lie_in_their_orbits(case: tuple[int, ...]) -> None:
    model = SingleLayerAttention(*case)
    attention = model.parametrization()
    for orbit in orbits(model):
        A, V = representative(orbit, model)
        r, s, both = Matrix(A).rank(), Matrix(V).rank(), Matrix(A).row_join(Matrix(V).T).rank()
        assert (r, s, r + s - both) == (orbit.r, orbit.s, orbit.m)
        assert attention.evaluate(flatten(A, V))[0] == 1
