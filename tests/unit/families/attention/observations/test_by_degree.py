"""Tables of numbers by degree: a degree that was not computed is not one without generators."""

from m2bridge import SingleLayerAttention
from m2bridge.families.attention.ideal.values_by_degree import GeneratorNumbers
from m2bridge.families.attention.observations.by_degree import ObservedGenerators

MODEL = SingleLayerAttention(d=2, d_out=2)
PREDICTED = {"generator_numbers": GeneratorNumbers.of({2: 5, 4: 10})}


def table_rows(observed: ObservedGenerators) -> list[tuple[object, ...]]:
    table = observed.with_predictions(PREDICTED).table()
    assert table is not None
    return [tuple(row) for row in table[2]]


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
