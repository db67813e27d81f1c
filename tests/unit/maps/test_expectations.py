"""What formulas expect of the dimension, compared with the dimension that is proved."""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from click.testing import CliRunner

from m2bridge import (
    CoefficientField,
    DeepAttention,
    Dimension,
    PolynomialNetwork,
    SingleLayerAttention,
    dimension,
)
from m2bridge.cli.commands import cli
from m2bridge.maps.model import Model


def attention() -> Iterator[Model]:
    for d, d_out, a, t in product((1, 2, 3), (1, 2, 3), (1, 2, 3), (1, 2)):
        yield SingleLayerAttention(d, d_out, a, t)


def one_layer() -> Iterator[Model]:
    for d, d_out, a, t, heads in product((1, 2, 3), (1, 2, 3), (1, 2, 3), (1, 2, 3), (1, 2, 3)):
        for normalization in ("none", "softmax"):
            yield DeepAttention((d, d_out), a, t, heads=heads, normalization=normalization)


def several_layers() -> Iterator[Model]:
    for widths in product((1, 2), (1, 2), (1, 2)):
        for ranks, heads in product(product((1, 2), (1, 2)), (1, 2)):
            for normalization in ("none", "softmax"):
                yield DeepAttention(widths, ranks, heads=heads, normalization=normalization)
    for d, heads, layers in product((1, 2), (1, 2), (1, 2, 3)):
        yield DeepAttention((d,) * (layers + 1), 2, heads=heads, skip=True)


def polynomial() -> Iterator[Model]:
    for layers in (1, 2, 3):
        for widths in product((1, 2, 3), repeat=layers + 1):
            yield PolynomialNetwork(widths)
    yield PolynomialNetwork((2, 2, 3), 1)


THEOREMS = {
    "Corollary 3.3",
    "Eq. 14 (Corollary 3.8)",
    "Theorem 3.9",
    "Theorem L of m2bridge",
    "Theorem S of m2bridge",
}
"""Of these only hypotheses that are stated may fail."""

FAMILIES = [attention, one_layer, several_layers, polynomial]


@pytest.mark.slow
@pytest.mark.parametrize("cases", FAMILIES)
def test_a_formula_that_applies_is_the_proved_dimension(cases: Any) -> None:
    """Else the hypothesis that fails is named."""
    proved = wrong = 0
    for model in cases():
        found = dimension(model, method="jacobian")
        if found.status != "proved":
            continue
        proved += 1
        for said in found.to_json()["expected"]:
            assert said["applies"] is (said["fails"] is None)
            if said["value"] not in (None, found.dimension):
                assert not said["applies"], (model, said)
                refuted = said["fails"].endswith(", proved")
                assert not (refuted and said["statement"] in THEOREMS), (model, said)
                wrong += 1
    assert proved > 40
    assert (wrong > 0) is (cases is not attention)


def of_heads() -> Dimension:
    return dimension(DeepAttention((2, 1), 3, 3, heads=3))


def test_symmetries_of_heads_that_the_paper_does_not_have_are_named() -> None:
    """Three heads of widths 2 and 1 have all six functions, and not fifteen dimensions."""
    words = ["dimension", "--family", "deep-attention", "--widths", "2,1", "--a", "3"]
    words += ["--heads", "3", "--t", "3", "--json"]
    result = json.loads(CliRunner().invoke(cli, words, standalone_mode=False).output)
    paper, ours = result["expected"]
    assert (paper["value"], paper["applies"], result["dimension"]) == (15, False, 6)
    assert paper["fails"] == (
        "assumes that scalings and permutations of the heads are their only symmetries; the"
        " dimension is 6, proved"
    )
    assert (ours["value"], ours["applies"], ours["fails"]) == (6, True, None)
    assert result["defect"] == 9
    assert "which does not apply: assumes that scalings and permutations" in of_heads().to_text()


def test_a_defective_network_is_named() -> None:
    """Quadrics of rank two in three variables, (3, 2, 1): five dimensions, as det = 0."""
    found = dimension(PolynomialNetwork((3, 2, 1)))
    (said,) = found.to_json()["expected"]
    assert (said["value"], found.dimension, found.defect) == (6, 5, 1)
    assert said["fails"].startswith("assumes that scalings of hidden neurons")


def test_a_formula_about_characteristic_zero_does_not_apply_to_another_dimension() -> None:
    for model in (
        SingleLayerAttention(2, 2),
        PolynomialNetwork((2, 2, 2)),
        DeepAttention((2, 2), 1),
    ):
        found = dimension(model, field=CoefficientField(2), method="jacobian")
        for said in found.to_json()["expected"]:
            if found.status == "proved" and said["value"] not in (None, found.dimension):
                assert said["fails"].startswith("is about characteristic zero")
