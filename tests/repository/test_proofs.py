"""The cases that the machine-checked proofs and the program share, and the build of the proofs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from m2bridge import SingleLayerAttention, dimension
from m2bridge.families.attention.hypotheses import WORDS
from m2bridge.families.attention.orbits.orbits import Orbit, representative
from m2bridge.families.attention.orbits.tangents import tangent_lower_bound
from tests.all_sizes import verdicts
from tests.events import PATIENCE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "proofs"


def cases() -> list[tuple[int, ...]]:
    """The list of Cases.v: d, d', a, the rank of the differential, and the number of lines."""
    text = (PROOFS / "Cases.v").read_text()
    listed = text.partition("Definition cases")[2].partition("]%N")[0]
    lines = re.findall(r"\((\d+), (\d+), (\d+), (\d+), (\d+)\)", listed)
    return [tuple(map(int, line)) for line in lines]


def test_the_list_is_read() -> None:
    assert len(cases()) == (PROOFS / "Cases.v").read_text().count("\n    ; (") + 1 >= 5


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_numbers_of_the_proof_are_those_that_are_computed(case: tuple[int, ...]) -> None:
    """The dimension by ranks; and independent tangent vectors at the matrices of ``witnesses``."""
    d, d_out, a, rank, lines = case
    model = SingleLayerAttention(d, d_out, a)
    assert dimension(model).dimension == rank
    # A = diag(1, 0, …) and V of rank 2; for d' = 1, A of rank 2 and V of rank 1.
    orbit = Orbit(1, 2, 1) if d_out >= 2 else Orbit(2, 1, 1)
    A, V = representative(orbit, model)
    assert sum(map(any, A)) == orbit.r < a
    assert sum(map(any, V)) == orbit.s
    assert tangent_lower_bound(orbit, model) == lines > rank


@pytest.mark.skipif(shutil.which("coqc") is None, reason="Rocq is not here: apt-get install coq")
def test_no_theorem_rests_on_an_axiom(tmp_path: Path) -> None:
    """A theorem that does is found: beside one of the list, one with an axiom.

    What ``make -C proofs`` has compiled is taken as it is, with its dates; that build asks for the
    whole list, and one theorem of it is enough here.
    """
    copied = tmp_path / "proofs"
    shutil.copytree(PROOFS, copied, ignore=shutil.ignore_patterns("assumptions"))
    wrong = "\nAxiom wrong : 1 = 2.\nTheorem planted : 2 = 1. Proof. now rewrite <- wrong. Qed.\n"
    file = copied / "Assumptions.v"
    proved = "Print Assumptions layer_eq_phi."
    assert proved in file.read_text()
    file.write_text(
        f"From Attention Require Import Tensors.\n{proved}\n{wrong}Print Assumptions planted.\n"
    )
    done = subprocess.run(
        ["make", "-C", copied], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode != 0
    assert "Error:" not in done.stderr  # of Rocq, to which nothing is wrong
    assert "are proved" not in done.stdout


def test_verdicts_name_the_theorems_that_a_machine_has_checked() -> None:
    """Each stands in the file that is named, and the page about them has it."""
    page = (ROOT / "docs" / "machine-checked.md").read_text(encoding="utf-8")
    named = {}
    for words in WORDS.statements:
        if words.machine_checked:
            named[f"{words.key} {words.part}".strip()] = words.machine_checked
    assert set(named) == {
        *("3.2 zero", "3.2 rank one", "3.2 otherwise"),
        *("3.3", "3.4 iii", "A.3", "A.5"),
    }
    for said in named.values():
        file = re.search(r"proofs/\w+\.v", said)
        assert file is not None, said
        text = (ROOT / file[0]).read_text(encoding="utf-8")
        theorems = re.findall(r"[a-z]+(?:_[a-z]+)+|critical", said)
        assert theorems, said
        for theorem in theorems:
            assert re.search(rf"(Theorem|Lemma|Corollary) {theorem}\b", text), theorem
            assert f"`{theorem}`" in page, theorem
        assert "docs/machine-checked.md" in said


def test_a_verdict_says_what_a_machine_has_checked_in_text_and_json() -> None:
    verdict = verdicts()["3.4 (iii)"]
    said = "that it is false for 2 ≤ a < d, except (a, d') = (2, 1), but for two facts"
    assert verdict.to_json()["machine_checked"].startswith(said)
    assert any(said in line for line in verdict.to_finding().lines)
    assert "machine_checked" not in verdicts()["3.4 (i)"].to_json()
