"""Methods that disagree about the singular locus stop the run."""

from dataclasses import replace

import pytest

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.orbits import Orbit
from m2bridge.maps.orbits import Component, LocusFindings, OrbitStatus, compare

GENERIC = OrbitStatus(Orbit(2, 1, 1), 5, 5, False, 5)
SPECIAL = OrbitStatus(Orbit(1, 1, 0), 4, 6, True, 6)
COMPONENT = Component("closure of the orbit (1, 1, 0)", Orbit(1, 1, 0), 4, 3)
FINDINGS = LocusFindings("one", 5, (SPECIAL, GENERIC), (COMPONENT,))


def test_equal_findings_agree() -> None:
    compare(FINDINGS, replace(FINDINGS, method="two"))
    compare(FINDINGS, replace(FINDINGS, statuses=(), components=(replace(COMPONENT, degree=None),)))
    compare(FINDINGS, replace(FINDINGS, statuses=(replace(SPECIAL, tangent_dimension=None, tangent_bound=5), GENERIC)))
    undecided = replace(SPECIAL, tangent_dimension=None, singular=None, tangent_bound=5, tangent_upper_bound=6)
    compare(FINDINGS, replace(FINDINGS, statuses=(undecided, GENERIC), components=None))


@pytest.mark.parametrize(
    "changed",
    [
        {"statuses": (replace(SPECIAL, singular=False), GENERIC)},
        {"statuses": (replace(SPECIAL, tangent_dimension=7), GENERIC)},
        {"statuses": (replace(SPECIAL, tangent_dimension=None, tangent_bound=7), GENERIC)},
        {"statuses": (replace(SPECIAL, singular=None, tangent_dimension=None, tangent_upper_bound=5),)},
        {"statuses": (replace(SPECIAL, singular=False),), "components": None},
        {"components": ()},
        {"components": (replace(COMPONENT, dimension=3),)},
        {"components": (replace(COMPONENT, orbit=Orbit(1, 1, 1)),)},
        {"components": (replace(COMPONENT, degree=4),)},
    ],
)
def test_any_difference_is_an_error(changed: dict[str, tuple[object, ...]]) -> None:
    with pytest.raises(ContradictionError):
        compare(FINDINGS, replace(FINDINGS, method="two", **changed))  # type: ignore[arg-type]
