import re

import pytest

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert import macaulay2
from m2bridge.engine.script import Script, render
from m2bridge.errors import RenderError
from m2bridge.system import templates

BASE_LOCUS = {"field": "QQ", "parameters": "s", "relations": "", "radical": False, "images": "{s}"}


def test_polynomials_are_written_exactly() -> None:
    ring = PolynomialRing(QQ, ("x", "y_1_2"))
    x, y = ring.sympy_ring.gens
    third = ring.sympy_ring.domain(1, 3)
    assert macaulay2.polynomial(x**2 * y - third * y + 1) == "x^2*y_(1,2)-1/3*y_(1,2)+1"
    assert macaulay2.polynomial(-x) == "-x"
    assert macaulay2.polynomial(0 * x) == "0"
    residues = PolynomialRing(CoefficientField(7), ("x",)).sympy_ring.gens[0]
    assert macaulay2.polynomial(6 * residues) == "-x"


def test_long_sums_and_lists_are_grouped() -> None:
    """Macaulay2's parser crashes on flat sums of 50 000 terms and flat lists of 200 000 entries."""
    x = PolynomialRing(QQ, ("x",)).sympy_ring.gens[0]
    written = macaulay2.polynomial(sum((x**k for k in range(1, 1000)), x**0))
    assert written.startswith("sum {")
    assert max(len(group.split("+")) for group in written.split(",")) <= 200
    items = macaulay2.sequence(str(i) for i in range(100_000))
    assert max(len(group) for group in re.findall(r"\{([^{}]*)\}", items)) < 5000
    assert [int(i) for i in re.findall(r"\d+", items)] == list(range(100_000))


def test_titles_stand_in_comments_only() -> None:
    """A title is words of any origin; see also the property test that none of them leaves its comment."""
    for path in sorted(templates().glob("*.m2.j2")):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if re.search(r"\btitle\b", line)]
        assert all(line.startswith("-- ") for line in lines), path.name


@pytest.mark.parametrize("break_", ["\n", "\r", "\x0b", "\x0c", "\x00", "\x1b", "\x85", "\u2028", "\u2029", "\ud800"])
def test_no_character_ends_the_comment(break_: str) -> None:
    body = render("base_locus", values=BASE_LOCUS | {"title": f'a{break_}run "touch made"'}).body
    assert '-- a run "touch made".\n' in body


def test_missing_values_and_templates_are_errors() -> None:
    with pytest.raises(RenderError, match="undefined"):
        render("closure", values={"title": "no more than that"})
    with pytest.raises(RenderError):
        render("no_such_template")


def test_standalone_has_the_shared_code_and_the_end() -> None:
    text = Script("one", 'mbEmit("x", 1)\n').standalone()
    assert "mbEncode = method" in text
    assert text.endswith('mbEmit("x", 1)\nmbFinish()\n')
