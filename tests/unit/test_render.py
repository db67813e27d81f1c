import re

import pytest

from m2bridge.convert import macaulay2
from m2bridge.errors import RenderError
from m2bridge.model.field import QQ, CoefficientField
from m2bridge.model.ring import PolynomialRing
from m2bridge.render import Script, render


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


def test_missing_values_and_templates_are_errors() -> None:
    with pytest.raises(RenderError, match="undefined"):
        render("closure", values={"title": "no more than that"})
    with pytest.raises(RenderError):
        render("no_such_template")


def test_standalone_has_the_shared_code_and_the_end() -> None:
    text = Script("one", 'mbEmit("x", 1)\n').standalone()
    assert "mbEncode = method" in text
    assert text.endswith('mbEmit("x", 1)\nmbFinish()\n')
