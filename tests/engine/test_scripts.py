"""Golden scripts: frozen text, and what each prints in plain ``M2 --script`` is what the session answers."""

import subprocess
from pathlib import Path

import pytest

from m2bridge import CoefficientField, Macaulay2, SingleLayerAttention
from m2bridge.algebra.field import QQ
from m2bridge.engine.script import Script
from m2bridge.families.attention.all_sizes.facts import base_ideals_script
from m2bridge.families.attention.fibres import fibres_script
from m2bridge.families.attention.singular_points import orbit_script
from m2bridge.families.deep_attention import fibres as closedness
from m2bridge.families.deep_attention import fibres as generic_fibre
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.maps.closure import closure, closure_script
from m2bridge.maps.completeness import completeness_script
from m2bridge.maps.map_model import as_model
from m2bridge.maps.model import Model
from m2bridge.maps.singular_locus import jacobian_script
from m2bridge.maps.slice_surface import Criterion, SliceSpace, slice_script
from tests.events import PATIENCE

GOLDEN = Path(__file__).parent.parent / "golden" / "scripts"


def model(*case: int, coordinates: str | None = None) -> Model:
    return as_model(SingleLayerAttention(*case), coordinates)  # type: ignore[arg-type]


def umbrella_script() -> Script:
    """The slice of Figure 1, whose closure is the resultant of two binary quadrics."""
    found = closure(SingleLayerAttention(2, 1), max_degree=4)
    fixed = {"c_1_1_1_1": 1, "c_1_1_1_2": 0, "c_1_2_1_1": 0}
    space = SliceSpace.of(found.model.coordinate_names(), fixed, (-1, 1))
    return slice_script(found, space, Criterion.of(found.model, space).zero)


SCRIPTS: dict[str, Script] = {
    "closure-2-1-2": closure_script(model(2, 1), QQ),
    "closure-2-2-1-mod-101": closure_script(model(2, 2, 1), CoefficientField(101)),
    "closure-2-1-2-full-3-tokens": closure_script(model(2, 1, 2, 3, coordinates="full"), QQ),
    "closure-2-1-2-one-token": closure_script(model(2, 1, 2, 1), QQ),
    "closure-2-1-2-ungraded": closure_script(model(2, 1), QQ, "ungraded-elimination"),
    "jacobian-2-1-2": jacobian_script(model(2, 1), QQ),
    "orbits-2-2-2": orbit_script(model(2, 2), field=QQ),
    "fibres-3-2-2": fibres_script(SingleLayerAttention(3, 2, 2)),
    "completeness-2-1-2-full": completeness_script(model(2, 1, coordinates="full"), CoefficientField(32003)),
    "fibres-1-2-1": fibres_script(SingleLayerAttention(1, 2)),
    "all-sizes": base_ideals_script(),
    "slice-2-1-2": umbrella_script(),
    "not-closed-3-3-3": closedness.limit_script(DeepAttention((3, 3, 3), 2, 3)),
    "generic-fibre-2-2-1": generic_fibre.fibre_script(DeepAttention((2, 2, 1), (1, 2), 2)),
    "generic-fibre-3-1-two-tokens": generic_fibre.fibre_script(DeepAttention((3, 1), 1, 2)),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_golden_scripts(name: str, request: pytest.FixtureRequest) -> None:
    path = GOLDEN / f"{name}.m2"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SCRIPTS[name].body, encoding="utf-8")
    assert SCRIPTS[name].body == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SCRIPTS)
def test_standalone_programs_print_the_answer(engine: Macaulay2, program: Path, name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.m2"
    path.write_text(SCRIPTS[name].standalone(), encoding="utf-8")
    printed = subprocess.run([program, "--script", path], capture_output=True, text=True, timeout=PATIENCE, check=True)
    *records, end = printed.stdout.splitlines()
    assert tuple(records) == engine.run(SCRIPTS[name]).records
    assert end == f'{{"end":"standalone","records":{len(records)}}}'


def test_script_command(command: str) -> None:
    arguments = ["script", "closure", "--d", "2", "--d-out", "1"]
    printed = subprocess.run([command, *arguments], capture_output=True, text=True, check=True)
    assert printed.stdout == SCRIPTS["closure-2-1-2"].standalone()
