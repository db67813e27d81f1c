"""Theorems for all sizes with Macaulay2: the same ideals as by linear algebra, and the command."""

import json
import subprocess

from m2bridge import Macaulay2
from m2bridge.families.attention.all_sizes import certificate
from m2bridge.families.attention.all_sizes.base_ideals import base_ideals
from m2bridge.families.attention.all_sizes.cross_check import cross_check_all_sizes
from m2bridge.families.attention.all_sizes.exact_ideals import exact_ideals
from m2bridge.families.attention.statements import REGISTRY
from tests.events import PATIENCE


def test_macaulay2_and_linear_algebra_find_the_same_ideals(engine: Macaulay2) -> None:
    found = base_ideals(engine)
    assert found.ideals == exact_ideals()
    assert found.base_locus_empty
    assert found.boundary_family


def test_what_macaulay2_said_is_a_certificate_that_linear_algebra_accepts(engine: Macaulay2) -> None:
    found = cross_check_all_sizes(engine)
    assert [v.name for v in found.verdicts if v.verdict != "CONFIRMED"] == ["3.4 (iii)", "A.4"]
    content = json.loads(json.dumps(certificate.content(found.verdicts, found.strata, found.basis)))
    assert certificate.recheck(content, REGISTRY, base_locus_empty=True, boundary_family=True) is None


def test_command(command: str, m2: str) -> None:
    """Exit code 1, since (iii) is refuted for some sizes; no case is asked for."""
    arguments = [command, "cross-check", "3.4", "--all-sizes", "--json", "--m2", m2]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    found = json.loads(done.stdout)
    assert found["scope"] == "all d, d', a ≥ 1 and all t ≥ 2, in characteristic 0"
    assert {v["part"]: v["verdict"] for v in found["verdicts"]} == {
        "i": "CONFIRMED",
        "ii": "CONFIRMED",
        "iii": "REFUTED",
    }
    (refuted,) = [v for v in found["verdicts"] if v["verdict"] == "REFUTED"]
    assert refuted["fails_for"]["words"] == "2 ≤ a < d, except (a, d') = (2, 1)"
    assert len(found["ideals"]) == 13
