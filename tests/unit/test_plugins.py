"""``m2bridge.plugins``: what packages with families of their own import."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import m2bridge
from m2bridge import plugins
from tests import plug_in

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
