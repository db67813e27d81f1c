"""``m2bridge.plugins``: what packages with families of their own import."""

import inspect
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import m2bridge
from m2bridge import PolynomialNetwork, plugins
from tests import plug_in
from tests.plug_in.rational_normal_curves import Cone
from tests.plug_in.rational_normal_curves_checker import CHECKER

# Frozen on purpose, as the names of ``m2bridge`` are: a change here is a change for every plug-in.
NAMES = """
AnswerRow Bounds CaseOption Certificate CertificateError ComputedQuestion Content Difference
DifferentiableModel Expectation Family FamilyChecker Figure GlobalStatement MethodValue Model
Observed ObservedRank OrbitStatement PolarData Question TooExpensiveError Wording Words Work
global_verdict integer_option integers_option observe_rank verdict wording
"""
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "families.md"


def test_public_names() -> None:
    assert sorted(plugins.__all__) == sorted(NAMES.split())
    assert all(inspect.getdoc(getattr(plugins, name)) for name in plugins.__all__)
    assert all(name in (plugins.__doc__ or "") for name in plugins.__all__)
    assert not set(plugins.__all__) & set(m2bridge.__all__)


def test_a_plug_in_needs_no_other_module() -> None:
    for path in plug_in.HERE.glob("rational*.py"):
        imported = re.findall(r"(?:from|import) (m2bridge[\w.]*)", path.read_text(encoding="utf-8"))
        assert set(imported) <= {"m2bridge", "m2bridge.plugins"}
        assert "m2bridge.plugins" in imported


def test_a_checker_loads_no_models() -> None:
    """What it shares with the program that makes certificates is no mathematics."""
    code = f"""
import sys
sys.path.insert(0, {str(plug_in.HERE)!r})
import rational_normal_curves_checker
print(*sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(found.stdout.split())
    assert "m2bridge.checker" in loaded
    models = ("algebra", "engine", "families", "maps", "statements")
    assert not loaded & {"sympy", "numpy", *(f"m2bridge.{name}" for name in models)}


def test_the_page_shows_the_plug_in_of_the_tests() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert "tests/plug_in/rational_normal_curves_checker.py" in page
    checker = (plug_in.HERE / "rational_normal_curves_checker.py").read_text(encoding="utf-8")
    code = checker.partition("def _name")[2]
    assert len([line for line in code.splitlines() if line.strip()]) <= 20


def test_what_a_hypothesis_returns() -> None:
    """An empty text where a statement applies, and else the words of what fails."""
    stated = plugins.GlobalStatement(
        key="more",
        part="",
        text="The cone over a curve that is no line has dimension 2.",
        source="",
        observable="dimension",
        predict=lambda cone: 2,
        hypotheses=lambda cone: "" if cone.n > 1 else "assumes n > 1",
    )
    (applies,) = m2bridge.cross_check(Cone(3), stated).verdicts
    assert applies.decision == "CONFIRMED"
    (fails,) = m2bridge.cross_check(Cone(1), stated).verdicts
    assert fails.decision == "NOT_APPLICABLE"
    assert fails.reason.startswith("assumes n > 1; the conclusion holds nevertheless")


def test_the_shape_of_evidence() -> None:
    """As the page has it, and as the checker computes it."""
    evidence = plugins.observe_rank(Cone(3)).evidence()
    assert evidence == {"dimension": 2, "lower_bound": 2, "upper_bound": 2}
    assert json.dumps(evidence) in PAGE.read_text(encoding="utf-8")
    certificate = m2bridge.certify(PolynomialNetwork([2, 2, 1]), "expected-dimension")
    content = CHECKER.questions["dimension"](replace(certificate, case={"n": 3}))
    assert isinstance(content, plugins.Content)
    assert content.evidence == evidence
