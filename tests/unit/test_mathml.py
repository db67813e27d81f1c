"""Formulas of the site: where their lines end, and how they are spelled."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "docs" / "_ext" / "mathml.py"


@pytest.fixture(scope="module")
def mathml() -> ModuleType:
    """The extension of the site, which needs what the extra ``docs`` installs."""
    pytest.importorskip("sphinx")
    pytest.importorskip("latex2mathml")
    spec = importlib.util.spec_from_file_location("mathml", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("formula", "parts"),
    [
        (r"a = b + c", [r"a = b + c"]),
        (
            r"c - \kappa = (\alpha - 1)^2 + (d - 1)(d' - 1) > 0",
            [r"c - \kappa =", r" (\alpha - 1)^2 +", r" (d - 1)(d' - 1) > 0"],
        ),
        (r"\left(a + b + c = d + e + f + g + h + i + j + k + l\right)", None),
        (r"\begin{cases} a + b + c & d + e + f + g \\ h + i & j + k \end{cases}", None),
        (r"S^+ T^- x^{a+b+c+d+e+f} y z u v w S^+ T^- x^+ x^-", None),
    ],
)
def test_long_formulas_of_running_text_may_end_a_line_after_a_sign(
    formula: str, parts: list[str] | None, mathml: ModuleType
) -> None:
    assert mathml.lines(formula) == (parts or [formula])


def test_letters_of_words_are_variables(mathml: ModuleType) -> None:
    parts = mathml.with_letters([("over Y, and H is", False), ("a = b", True)])
    assert [part for part, is_formula in parts if is_formula] == ["Y", "H", "a = b"]


def test_parentheses_of_a_binomial_coefficient_are_as_high_as_it_is(mathml: ModuleType) -> None:
    class Translator:
        body: list[str] = []  # noqa: RUF012

    with pytest.raises(mathml.nodes.SkipNode):
        mathml.formula(Translator, mathml.nodes.math("", r"\binom{n}{k}"))
    assert "minsize" not in Translator.body[0]
    assert "<mrow><mo>&#x00028;</mo><mfrac" in Translator.body[0]
