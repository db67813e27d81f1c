"""The strategy that ``auto`` stands for, as an unfinished closure names it."""

from pathlib import Path

import pytest
from sympy import Expr, symbols

from m2bridge import CoefficientField, PolynomialMap, closure
from m2bridge.algebra.field import QQ
from m2bridge.errors import TimeLimitError
from m2bridge.maps import closure as closure_module, completeness, equations, toric

s, t = symbols("s t")
INHOMOGENEOUS = {"x": s + 1, "y": s**2, "z": s**3}
WEIGHTED = {"x": s**2, "y": s * t**2, "z": t**3, "w": s**3}
TWO_TERMS = {"x": s**2 + t**2, "y": s * t, "z": s**2 - t**2}
MANY_MONOMIALS = {f"x_{i}": s**i * t ** (13 - i) for i in range(14)}


def reached(*_: object, **__: object) -> None:
    """Stands for a step at which the limit on time is reached."""
    raise TimeLimitError("reached")


@pytest.mark.parametrize(
    ("images", "field", "markov_program", "max_degree", "strategy"),
    [
        (INHOMOGENEOUS, QQ, None, None, "elimination"),
        (WEIGHTED, QQ, None, None, "elimination"),
        (TWO_TERMS, CoefficientField(101), None, None, "elimination"),
        (TWO_TERMS, QQ, None, None, "multigraded"),
        (WEIGHTED, QQ, None, 2, "multigraded"),
        (MANY_MONOMIALS, QQ, Path("markov"), None, "lattice"),
        (MANY_MONOMIALS, QQ, Path("markov"), 2, "multigraded"),
        (MANY_MONOMIALS, QQ, None, None, "multigraded"),
    ],
)
def test_an_unfinished_closure_has_the_strategy_that_was_chosen(
    monkeypatch: pytest.MonkeyPatch,
    images: dict[str, Expr],
    field: CoefficientField,
    markov_program: Path | None,
    max_degree: int | None,
    strategy: str,
) -> None:
    """The limit is reached before any equation is found, by Macaulay2 or by linear algebra."""
    monkeypatch.setattr(toric, "markov_program", lambda: markov_program)
    for module in (completeness, closure_module):
        monkeypatch.setattr(module, "low_degree_equations", reached)
    monkeypatch.setattr(equations, "implicitize", reached)
    monkeypatch.setattr(completeness, "linear_reduction", reached)
    curve = PolynomialMap.from_expressions([s, t], images)
    found = closure(curve, field=field, max_degree=max_degree)
    assert (found.strategy, found.unfinished) == (strategy, "reached")
    assert (found.dimension, found.equations) == (1 if images is INHOMOGENEOUS else 2, None)


def test_no_strategy_is_named_where_none_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closure_module, "graded_source", reached)
    curve = PolynomialMap.from_expressions([s, t], TWO_TERMS)
    assert closure(curve).strategy == "auto"
    assert closure(curve, strategy="multigraded").strategy == "multigraded"
