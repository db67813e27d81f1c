"""Certificates about deep attention for all sizes: accepted as they come, and rejected when anything is changed."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from m2bridge import reports as report
from m2bridge.certificates.files import write
from m2bridge.certificates.schema import Certificate
from m2bridge.checker.verify import verify
from m2bridge.crosscheck.certify import certify_all
from m2bridge.crosscheck.questions import questions
from m2bridge.errors import ContradictionError
from m2bridge.families.deep_attention.all_sizes import decide as cross_check
from m2bridge.families.deep_attention.all_sizes.checker import layers, statements
from m2bridge.families.deep_attention.all_sizes.decide import known_dimension, small_networks
from m2bridge.families.deep_attention.all_sizes.family import EveryNetwork
from m2bridge.families.deep_attention.all_sizes.layer_numbers import PREDICTIONS, equation
from m2bridge.families.deep_attention.checker.case import read, upper_bound, virtual
from tests.changing import changed, leaves, others

KEYS = tuple(questions(EveryNetwork.family))


@pytest.fixture(scope="module")
def made() -> dict[str, Certificate]:
    return {certificate.question: certificate for certificate in certify_all(EveryNetwork(), KEYS)}


def test_what_is_certified_is_accepted(made: dict[str, Certificate], tmp_path: Path) -> None:
    assert set(made) == {"3.5", "V", "3.6", "3.8", "3.9", "3.10", "L", "S"}
    for certificate in made.values():
        assert verify(certificate).accepted, (certificate.question, verify(certificate))
        write(certificate, tmp_path)
    shown = report.FORMATS["markdown"](report.collect(tmp_path))
    assert "8 confirmed" in shown
    assert "first for 2-2-2-a1-2-t2: computed 8, stated 9" in " ".join(shown.split())


@pytest.mark.parametrize("key", ["3.8", "3.5", "3.6"])
def test_every_change_is_rejected(key: str, made: dict[str, Certificate]) -> None:
    tried = 0
    content = {"evidence": made[key].evidence, "answer": made[key].answer, "trusted": made[key].trusted}
    for path, value in islice(leaves(content), 0, None, 2):
        for other in others(value):
            assert not verify(changed(made[key], path, other)).accepted, (path, other)
            tried += 1
    assert tried > 80


def test_a_case_that_a_number_names(made: dict[str, Certificate]) -> None:
    assert verify(replace(made["L"], case={"widths": [2, 2]}).sealed()).outcome == "malformed"


def test_a_maker_with_another_statement_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PREDICTIONS, "3.8", replace(PREDICTIONS["3.8"], layer=equation(0)))
    (wrong,) = certify_all(EveryNetwork(), ["3.8"])
    assert wrong.answer["verdicts"][0]["verdict"] == "REFUTED"
    assert verify(wrong).outcome == "rejected"
    (row,) = questions(EveryNetwork.family)["3.8"].rows(wrong)
    assert (row.verdict, row.witness) == ("REFUTED", "1-2-a1-t2: computed 2, stated 3")


def test_a_maker_without_an_identity_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = {"determinant": True}
    monkeypatch.setattr(cross_check, "layer_identities", lambda: fewer)
    (wrong,) = certify_all(EveryNetwork(), ["S"])
    assert verify(wrong).outcome == "rejected"


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        ("_matrices", lambda n, s, x, u: (u - s) * (n - u) + x * u),
        ("_twice_forms", lambda n, s, y, u: 2 * (u - s) * (n - u) + 2 * y * (u - y) + y * y),
        ("_end", lambda n, s, e: s * e),
        ("_det", lambda A: A[0][0] * A[1][1]),
        ("_order", lambda polynomial, variable: 0),
        ("_transposed", lambda word: word),
        ("_turned", lambda A: A),
    ],
)
def test_a_mistake_of_the_checker_is_noticed(name: str, planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, name, planted)
    statements._evidence.cache_clear()
    statements.content.cache_clear()
    with pytest.raises(ContradictionError):
        statements.content("L")
    monkeypatch.undo()
    assert statements.content("L").evidence["identities"] == list(layers.IDENTITIES)


def test_both_sides_count_alike() -> None:
    """Layer by layer with isl there, flags and codimensions of one case here."""
    for normalization in ("none", "softmax"):
        for network in small_networks(normalization)[::17]:
            case = read(network.to_json())
            assert upper_bound(case) == known_dimension(network, "softmax" if case.softmax else "lightning")
            assert virtual(case, len(case.a)) == known_dimension(network, "virtual_weights")
