"""The equations of closures beyond elimination, held against Gröbner bases by Macaulay2.

That there are no other generators, and the Hilbert series, rest on one theorem in the program that makes certificates
and in the one that verifies them. A Gröbner basis of the generators knows nothing of it: of an ideal with too few
generators, or of another variety, the Hilbert series would be another one.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from sympy import Poly, symbols

from m2bridge import SingleLayerAttention
from m2bridge.families.attention.questions import equations_content, observe_equations
from m2bridge.workspace.macaulay2 import Macaulay2

pytestmark = pytest.mark.engine

T = symbols("T")


def poincare(session: Macaulay2, generators: object) -> Poly:
    """The numerator of the Hilbert series over (1 − T)ⁿ, n the number of variables, modulo a prime."""
    code = "p = poincare sub(I, (ZZ/32003)(monoid ring I)); apply(listForm p, (e, c) -> (first e, c))"
    return Poly.from_dict(dict(session.value(code, I=generators)), T)


@pytest.mark.parametrize("case", [(2, 4, 1), (2, 4, 2), (3, 1, 1), (3, 1, 2), (3, 2, 1), (4, 1, 1)], ids=str)
def test_the_generators_have_the_series_that_is_proved(
    case: tuple[int, int, int], sessions: Callable[[Path], Macaulay2], m2: str
) -> None:
    model = SingleLayerAttention(*case)
    found = observe_equations(model, None)
    answer = equations_content(model, found).answer
    assert answer["all_generators"]
    series = answer["hilbert_series"]
    variables = answer["hilbert_function"][1]
    expected = Poly(series["numerator"][::-1], T) * Poly(1 - T, T) ** (variables - series["denominator_exponent"])
    assert poincare(sessions(Path(m2)), found.equations.ideal()) == expected


def test_too_few_generators_have_another_series(sessions: Callable[[Path], Macaulay2], m2: str) -> None:
    """One of 45 quadrics, or all ten cubics, left out."""
    ideal = observe_equations(SingleLayerAttention(3, 1, 1), None).equations.ideal()
    session = sessions(Path(m2))
    whole = poincare(session, ideal)
    quadrics = [f for f in ideal.generators if Poly(f.as_expr()).total_degree() == 2]
    for fewer in (ideal.generators[1:], quadrics):
        assert poincare(session, type(ideal)(ideal.ring, tuple(fewer))) != whole
