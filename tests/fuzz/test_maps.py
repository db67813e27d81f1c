"""Random maps against Macaulay2's own kernel: a short run."""

from dataclasses import replace
from random import Random

from m2bridge import CoefficientField, Macaulay2, image
from m2bridge.engine.answer import parse
from m2bridge.ideals.ideal import Ideal
from tests.fuzz import maps


def test_random_maps(engine: Macaulay2) -> None:
    assert maps.run(25, 1, engine) == 0


def test_every_field_and_kind_is_drawn() -> None:
    drawn = [maps.random_case(Random(f"1 {number}")) for number in range(100)]
    assert {case.field for case in drawn} == set(maps.FIELDS)
    assert {bool(case.relations) for case in drawn} == {True, False}
    assert {case.polynomial_map().image_degrees is None for case in drawn} == {True, False}


def test_a_wrong_ideal_is_seen(engine: Macaulay2) -> None:
    """The twisted cubic without one of its quadrics, with one too many, and of a wrong degree."""
    cubic = maps.Case(CoefficientField(5), 2, tuple((((3 - i, i), 1),) for i in range(4)), ())
    found = image(cubic.polynomial_map(), engine=engine, field=cubic.field)
    ideal = found.closure.ideal
    assert ideal is not None

    def complaint(generators: tuple[object, ...], **changes: object) -> str:
        closure = replace(found.closure, equations=Ideal(ideal.ring, generators), **changes)  # type: ignore[arg-type]
        wrong = replace(found, closure=closure)
        return maps.complaint(cubic, wrong, parse(engine.run(maps.comparison(cubic, wrong)).records))

    assert complaint(ideal.generators) == ""
    assert complaint(ideal.generators[1:]) == "not the whole kernel"
    assert complaint((*ideal.generators, ideal.generators[0].ring.gens[0])) == "an element that is not in the kernel"
    assert complaint(ideal.generators, degree=4) == "degree 4, not 3"
    assert complaint(ideal.generators, dimension=3) == "dimension 3, not 2"
