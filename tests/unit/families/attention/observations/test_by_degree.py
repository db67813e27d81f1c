"""Tables of numbers by degree: a number that was not computed is not shown as 0."""

from m2bridge import SingleLayerAttention
from m2bridge.families.attention.ideal.values_by_degree import GeneratorNumbers, HilbertValues
from m2bridge.families.attention.observations.by_degree import (
    ObservedByDegree,
    ObservedGenerators,
    ObservedHilbertFunction,
    last_computed_degree,
)
from m2bridge.maps.closure import Completeness

MODEL = SingleLayerAttention(d=2, d_out=2)
PREDICTED = {"generator_numbers": GeneratorNumbers.of({2: 5, 4: 10})}


def rows_of(observed: ObservedByDegree) -> list[tuple[object, ...]]:
    table = observed.table()
    assert table is not None
    return [tuple(row) for row in table[2]]


def table_rows(observed: ObservedGenerators) -> list[tuple[object, ...]]:
    return rows_of(observed.with_predictions(PREDICTED))


def test_degrees_above_the_last_one_are_not_computed() -> None:
    up_to_degree_3 = ObservedGenerators(model=MODEL, computed={2: 5}, last=3, found=True)
    assert table_rows(up_to_degree_3) == [(2, 5, 5), (4, "not computed", 10)]
    # up to the degree 4, or in all degrees, there are none of degree 4
    up_to_degree_4 = ObservedGenerators(model=MODEL, computed={2: 5}, last=4, found=True)
    assert table_rows(up_to_degree_4) == [(2, 5, 5), (4, 0, 10)]
    of_all_degrees = ObservedGenerators(model=MODEL, computed={2: 5}, last=None, found=True)
    assert table_rows(of_all_degrees) == [(2, 5, 5), (4, 0, 10)]


def test_nothing_is_computed_without_the_ideal() -> None:
    assert table_rows(ObservedGenerators(model=MODEL)) == [
        (2, "not computed", 5),
        (4, "not computed", 10),
    ]


def test_a_prediction_that_is_not_known_is_not_zero() -> None:
    generators = ObservedGenerators(model=MODEL, computed={2: 5}, last=None, found=True)
    without_prediction = generators.with_predictions({"generator_numbers": None})
    assert rows_of(without_prediction) == [(2, 5, "not computed")]
    # its JSON has the fields of all others
    assert without_prediction.to_json()["predicted"] == {}
    # where no generators are predicted, none are known to be there
    none = {"generator_numbers": GeneratorNumbers.of({})}
    assert rows_of(generators.with_predictions(none)) == [(2, 5, 0)]
    values = ObservedHilbertFunction(model=MODEL, computed=HilbertValues((1, 12), None))
    unknown = values.with_predictions({"Hilbert_function": None})
    assert rows_of(unknown) == [(0, 1, "not computed"), (1, 12, "not computed")]


def test_without_an_ideal_no_degree_is_said_to_be_computed() -> None:
    # None, which stands for all degrees, would say that the closure has no equations
    assert last_computed_degree(Completeness(proved=False)) == 0
    assert last_computed_degree(Completeness(proved=False, degree=3)) == 3
    assert last_computed_degree(Completeness(proved=True)) is None
