"""Theorems for all sizes with Macaulay2: the same ideals as by linear algebra, and the command."""

import json
import subprocess
from pathlib import Path

from m2bridge import Macaulay2
from m2bridge.certificates.files import write
from m2bridge.crosscheck.certify import certify_all
from m2bridge.crosscheck.questions import questions
from m2bridge.crosscheck.verified import verify_path
from m2bridge.families.attention.all_sizes.facts import base_ideals
from m2bridge.families.attention.all_sizes.family import EverySize
from tests.events import PATIENCE
from tests.exact_ideals import exact_ideals

KEYS = tuple(questions("attention-all-sizes"))


def test_macaulay2_and_linear_algebra_find_the_same_ideals(engine: Macaulay2) -> None:
    found = base_ideals(engine)
    assert found.ideals == exact_ideals()
    assert found.base_locus_empty
    assert found.boundary_family


def test_what_macaulay2_said_is_certified_and_accepted(engine: Macaulay2, tmp_path: Path) -> None:
    for certificate in certify_all(EverySize(), KEYS, engine=engine):
        assert verify_path(write(certificate, tmp_path)).accepted


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


def test_certificates_of_the_command(command: str, m2: str, tmp_path: Path) -> None:
    """Written by one command, and gone on with by another; verified and reported without Macaulay2."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([command, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False)

    out = ("--out", str(tmp_path), "--executor", "serial", "--m2", m2)
    first = run("certify", "--all-sizes", "--check", "3.3", *out)
    assert (first.returncode, first.stdout.splitlines()[0]) == (0, "cases: 1 (1 questions), done: 0, to do: 1")
    second = run("certify", "--all-sizes", "--check", "3.3,A.4", *out, "--json")
    assert (second.returncode, json.loads(second.stdout)["answers"]) == (1, {"CONFIRMED": 1, "REFUTED": 1})
    assert run("verify", str(tmp_path)).returncode == 0
    assert "false for 2 ≤ a < d, except (a, d') = (2, 1)" in run("report", str(tmp_path)).stdout
