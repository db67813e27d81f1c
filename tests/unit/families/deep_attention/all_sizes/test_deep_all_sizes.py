"""Deep attention of all sizes, and its certificates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from m2bridge import reports as report
from m2bridge.certificates.form import Certificate, write
from m2bridge.certificates.wording import Words
from m2bridge.certification.make import certify_all, question_of, questions
from m2bridge.cli import commands
from m2bridge.errors import (
    ContradictionError,
    InvalidCaseError,
    MethodUnavailableError,
    TimeLimitError,
)
from m2bridge.families.deep_attention.all_sizes import (
    checker as checked,
    family as every_size,
    layers,
)
from m2bridge.families.deep_attention.all_sizes.family import (
    EVERY_NETWORK,
    cross_check_deep_attention,
    known_dimension,
    small_networks,
)
from m2bridge.families.deep_attention.all_sizes.layers import (
    END,
    LAYER,
    LAYERS,
    PREDICTIONS,
    DimensionFormula,
    blocks,
    dimension_formula,
    layer_identities,
    sum_contributions,
    variables,
)
from m2bridge.families.deep_attention.checker import predictions as predicted
from m2bridge.families.deep_attention.checker.predictions import (
    Network,
    read,
    upper_bound,
    virtual_weights_dimension,
)
from m2bridge.families.deep_attention.matrix_words import WordSum
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.observation import observe
from m2bridge.families.deep_attention.statements import Predicted
from m2bridge.families.registry import family
from tests.changing import changed, leaves, others
from tests.checking import verify
from tests.deep import jacobian_rank, softmax_rank
from tests.tiers import slow

# Deep attention for all sizes at once: what is counted, what is predicted, and that planted
# mistakes are noticed.

STATED = {statement.key: statement for statement in every_size.STATED}


def test_all_are_confirmed_and_where_hypotheses_are_needed() -> None:
    found = cross_check_deep_attention()
    assert [(v.name, v.decision) for v in found.verdicts] == [(key, "CONFIRMED") for key in STATED]
    outside = {
        v.name: [(example["network"], example["computed"]) for example in v.extent.outside]
        for v in found.verdicts
    }
    assert outside["3.8"] == [("2-1-a2-t1", 4), ("2-2-2-a1-2-t2", 8), ("2-3-1-a2-2-t2", 8)]
    assert not outside["L"] + outside["S"] + outside["V"]


@pytest.mark.slow
def test_what_is_counted_is_the_rank() -> None:
    """Of the differential over QQ of the definition, by tangents, in other code; four layers are
    there as well.
    """
    random = Random(3)
    networks = [
        DeepAttention((2, 3, 2, 2, 2), (1, 2, 2, 1)),
        DeepAttention((3, 3, 3), (1, 2)),
        DeepAttention((3, 3), 1, 1),
    ]
    networks += random.sample(small_networks("none")[:1500], 25)
    for network in networks:
        rank = jacobian_rank(network.widths, network.a, network.t, inputs=60)
        assert known_dimension(network, "lightning") == rank, network


@pytest.mark.slow
def test_what_is_counted_for_softmax_is_the_rank() -> None:
    """With the weights of softmax as unknowns: for two different tokens, in other code; four layers
    as well.
    """
    random = Random(4)
    networks = [((2, 3, 2, 2, 1), (1, 2, 2, 1), 2), ((3, 1, 2), (2, 2), 3), ((4, 3, 4), (2, 3), 2)]
    networks += [
        (small.widths, small.a, small.t + 1)
        for small in random.sample(small_networks("softmax"), 12)
    ]
    for widths, a, t in networks:
        known = known_dimension(DeepAttention(widths, a, t, normalization="softmax"), "softmax")
        assert softmax_rank(widths, a, t, inputs=known + 5) == known, (widths, a, t)


@pytest.mark.parametrize("key", PREDICTIONS)
def test_a_prediction_is_that_of_the_statement(key: str) -> None:
    """Wherever its hypotheses hold, and there all layers are as it assumes."""
    statement, prediction, compared = STATED[key], PREDICTIONS[key], 0
    end, layer = END.function(prediction.end), LAYER.function(prediction.layer)
    assumed = LAYER.function([(prediction.layer_assumed, "1")])
    for network in small_networks("softmax" if prediction.counts == "softmax" else "none")[::7]:
        if not statement.hypotheses(network):
            assert sum_contributions(network, end, layer) == statement.predict(network)
            assert all(assumed(point) == 1 for point in variables(network)[1])
            compared += 1
    assert compared > 3


WORDS = {words.key: words for words in predicted.WORDS.statements if words.key in PREDICTIONS}


def prediction(key: str, **changes: str) -> DimensionFormula:
    """The prediction by the table with other formulas."""
    return dimension_formula(replace(WORDS[key], **changes))  # type: ignore[arg-type]


def where_whole(condition: str) -> str:
    """The formula of L for each layer, with another condition for whole matrices."""
    formula = WORDS["L"].each_layer.replace("t >= 2 and p == 0", condition)
    assert formula != WORDS["L"].each_layer
    return formula


WRONG = {
    "without the scalings": (
        "L",
        prediction("L", each_layer=WORDS["L"].each_layer.replace(" - 1", "")),
    ),
    "the skew parts are seen": ("L", prediction("L", each_layer=where_whole("t >= 2"))),
    "after the second layer of rank one": (
        "L",
        prediction("L", each_layer=where_whole("t >= 2 and p <= 1")),
    ),
    "as with several tokens": ("L", prediction("L", each_layer=where_whole("p == 0"))),
    "spans of one rank": (
        "V",
        replace(PREDICTIONS["V"], spans=(("s + x <= r", "s + x"), ("s + x > r", "r"))),
    ),
    "no subspaces": ("V", prediction("V", each_layer="alpha * (2 * r - alpha)")),
    "Eq. 14 for all ranks": ("3.8", prediction("3.8", each_layer="rank * (2 * d - rank)")),
    "Eq. 16 with Eq. 14": ("3.10", prediction("3.10", each_layer="rank * (2 * d - rank) - 1")),
    "M of all sizes": ("S", prediction("S", value="n * e")),
    "one layer without values": ("3.9", prediction("3.9", value="0")),
}
"""Wrong formulas in the table."""
SMALLEST = {
    "without the scalings": ("1-1-a1-t1", 1, 2),
    "the skew parts are seen": ("2-2-1-a1-2-t2", 6, 7),
    "after the second layer of rank one": ("2-2-1-a1-2-t2", 6, 7),
    "as with several tokens": ("2-1-a2-t1", 4, 5),
    "no subspaces": ("3-2-1-a1-1-t1", 12, 11),
    "Eq. 14 for all ranks": ("1-2-a1-t2", 2, 3),
    "Eq. 16 with Eq. 14": ("1-1-a1-t2-softmax", 2, 1),
    "M of all sizes": ("2-1-2-a1-1-t1-softmax", 3, 4),
    "one layer without values": ("1-1-a1-t2-softmax", 2, 1),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_statement_is_refuted_by_the_smallest_network(name: str) -> None:
    key, wrong = WRONG[name]
    found = every_size.decide(STATED[key], wrong)
    if name not in SMALLEST:  # the sums of small networks are right, but the reason is not
        assert (found.decision, found.witness) == ("UNDECIDED", None)
        return
    assert found.decision == "REFUTED"
    assert found.witness is not None
    smallest, computed, _ = SMALLEST[name]
    assert tuple(found.witness.values()) == SMALLEST[name]
    network = DeepAttention.from_key(smallest)
    exact = observe(
        network, "virtual_weights" if wrong.counts == "virtual_weights" else "dimension"
    )
    assert exact.exact_value == computed


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("L", {name: getattr(PREDICTIONS["3.8"], name) for name in ("layer", "layer_assumed")}),
        ("3.10", {"layer": (("", "17"),), "layer_assumed": "1 = 0"}),
        ("S", {"end": (("", "17"),), "end_assumed": "1 = 0"}),
        ("3.5", {"end": (("", "n*e"),), "end_assumed": "s = n"}),
    ],
)
def test_more_is_assumed_than_the_statement_says(key: str, changes: dict[str, Any]) -> None:
    """Such as Eq. 14 for Theorem L: the summands agree where it is assumed to apply, and it applies
    elsewhere.
    """
    wrong = replace(PREDICTIONS[key], **changes)
    assert every_size.counts_alike(wrong)
    with pytest.raises(ContradictionError, match="more is assumed than"):
        every_size.decide(STATED[key], wrong)


@pytest.mark.parametrize("key", ["3.5", "3.8", "3.9", "3.10", "L", "S"])
def test_the_checker_notices_another_number(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It compares the formula of a statement with what it counts, for all small networks."""
    right = predicted.prediction

    def planted(case: Network, words: Words) -> int | None:
        value = right(case, words)
        return value if value is None or case.t == 1 or max(case.widths) < 3 else value + 1

    monkeypatch.setattr(checked, "prediction", planted)
    (verdict,) = checked.content.__wrapped__(WORDS[key]).answer["verdicts"]
    assert verdict["verdict"] == "REFUTED"


TABLE = {
    ("L", "each_layer", " - 1", ""): ("1-1-a1-t1", 1, 2),
    ("L", "each_layer", "t >= 2 and p == 0", "t >= 2"): ("2-2-1-a1-2-t2", 6, 7),
    ("L", "each_layer", "t >= 2 and p == 0", "p == 0"): ("2-1-a2-t1", 4, 5),
    ("V", "each_layer", "(u - s) * (n - u) + ", ""): ("3-2-1-a1-1-t1", 12, 11),
    ("3.8", "each_layer", " - 1", ""): ("1-2-a1-t2", 2, 3),
    ("S", "value", "m * (n + e - m)", "n * e"): ("2-1-2-a1-1-t1-softmax", 3, 4),
    ("3.9", "value", "n * e if l == 1 else ", "0 if l == 1 else "): ("1-1-a1-t2-softmax", 2, 1),
}


@pytest.mark.parametrize(("key", "field", "right", "wrong"), TABLE)
def test_a_wrong_formula_in_the_table_is_refuted_by_program_and_checker(
    key: str, field: str, right: str, wrong: str
) -> None:
    """They read one table; what they compare it with each counts in its own way."""
    formula = getattr(WORDS[key], field).replace(right, wrong)
    planted = replace(WORDS[key], **{field: formula})
    assert planted != WORDS[key]
    stated = replace(STATED[key], predict=Predicted(planted))  # type: ignore[type-var]
    by_program = every_size.decide(stated, dimension_formula(planted))
    (by_checker,) = checked.content.__wrapped__(planted).answer["verdicts"]
    assert by_program.decision == by_checker["verdict"] == "REFUTED"
    assert by_program.extent.to_data()["counterexample"] == by_checker["counterexample"]
    assert tuple(by_checker["counterexample"].values()) == TABLE[key, field, right, wrong]


@pytest.mark.parametrize("key", PREDICTIONS)
def test_sums_of_the_checker_need_the_formulas(key: str) -> None:
    assert checked.sums_agree(WORDS[key])
    for field in ("value", "each_layer"):
        for piece in ("({}) + 1", "2 * ({})"):
            formula = piece.format(getattr(WORDS[key], field))
            assert not checked.sums_agree(replace(WORDS[key], **{field: formula}))


def test_a_formula_that_only_large_networks_refute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked, "prediction", lambda network, words: None)
    with pytest.raises(ContradictionError, match="the number of a layer"):
        checked.content.__wrapped__(replace(WORDS["V"], value="n * e"))


def test_a_number_counted_wrongly_is_found_by_a_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tuple((where, f"{number} + 1") for where, number in LAYERS["lightning"])
    monkeypatch.setattr(
        every_size,
        "contributions",
        lambda what: (layers.contributions(what)[0], LAYER.function(wrong)),
    )
    with pytest.raises(ContradictionError, match="counted layer by layer"):
        every_size.decide(STATED["L"], PREDICTIONS["L"])


def test_an_identity_that_does_not_hold_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(layer_identities().values())
    monkeypatch.setattr(
        layers, "layer_identities", lambda: {**layer_identities(), "determinant": False}
    )
    with pytest.raises(ContradictionError, match="determinant"):
        cross_check_deep_attention()


class Untransposed(WordSum):
    """Words that are their own transposes."""

    def transpose(self) -> WordSum:
        return self


@pytest.mark.parametrize("name", ["_moved", "_form", "_determinant", "WordSum"])
def test_identities_can_fail(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from m2bridge.families.deep_attention.all_sizes import layers as module

    right = getattr(module, name)
    planted = {
        "_moved": lambda A, u, v, token: right(A, u, u, token),
        "_form": lambda A, x, y: right(A, x, y) + x[0],
        "_determinant": lambda x, y: right(x, y) + 1,
        "WordSum": Untransposed,
    }
    monkeypatch.setattr(module, name, planted[name])
    assert not all(module.layer_identities.__wrapped__().values())


def test_the_orders_in_the_identities_of_the_checker_are_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: yᵀAx for xᵀAy, a difference in order one, and one more, a difference in order 0."""
    value = checked._value
    monkeypatch.setattr(checked, "_value", lambda A, x, y: value(A, y, x))
    holds = checked._lightning()
    assert holds["parallel tokens"]
    assert not holds["ratio of tokens"]
    monkeypatch.setattr(checked, "_value", lambda A, x, y: value(A, x, y) + 1)
    assert not checked._lightning()["parallel tokens"]


def test_conditions_that_overlap_or_leave_gaps() -> None:
    with pytest.raises(ContradictionError, match="two numbers"):
        LAYER.function([("k >= 1", "1"), ("k = 2", "2")])
    gap = LAYER.function([("k >= 2", "1")])
    assert not gap.equals(gap, LAYER.where())
    assert gap.equals(gap, LAYER.where("k >= 2"))
    with pytest.raises(ContradictionError, match="no number"):
        gap((2, 2, 1, 1, 0, 1, 2))


def test_blocks_are_all_patterns() -> None:
    found = list(blocks())
    assert len(found) == len(set(found)) == 2 * (3 + 7 + 15) + 3 + 7
    assert {network.layers for network in found} == {1, 2, 3}


def test_the_case_and_its_statements() -> None:
    chosen = family(EVERY_NETWORK.family)
    assert (
        chosen.from_json(EVERY_NETWORK.to_json()) == EVERY_NETWORK == chosen.from_key("all-sizes")
    )
    assert chosen.label(EVERY_NETWORK) == EVERY_NETWORK.family
    with pytest.raises(InvalidCaseError, match="all-sizes"):
        chosen.from_key("3-3-a1-t2")
    heads = [s for s in family("deep-attention").statements() if s.key == "heads"]
    with pytest.raises(MethodUnavailableError, match=r"not stated for all sizes, .*: heads \("):
        cross_check_deep_attention(statements=heads)


@pytest.mark.slow
def test_statements_without_a_form_are_named() -> None:
    """They were left out without a word."""
    found = cross_check_deep_attention()
    assert {"skip (scalings)", "closed"} <= set(found.not_stated)
    assert set(found.not_stated).isdisjoint(verdict.name for verdict in found.verdicts)
    assert found.to_json()["not_stated"] == list(found.not_stated)
    assert "not stated for all sizes  " in str(found)


def _lines() -> Iterator[tuple[list[str], int, str]]:
    deep = ["cross-check", "--family", "deep-attention", "--all-sizes"]
    yield [*deep, "3.8"], 0, "first for 2-2-2-a1-2-t2: computed 8, stated 9"
    yield [*deep, "L", "--format", "latex"], 0, "L & confirmed"
    yield [*deep, "L", "--format", "m2"], 0, 'hashTable {"L" => "CONFIRMED"}'
    yield [*deep, "--json", "S"], 0, '"identities": ['
    yield [*deep, "--widths", "2,2"], 2, "Option '--widths' has no effect with --all-sizes"
    yield [*deep, "--skip"], 2, "Option '--skip' has no effect with --all-sizes"
    yield [*deep, "--field", "GF(7)"], 2, "Option '--field' has no effect with --all-sizes"
    yield (
        [*deep[:2], "polynomial-network", "--all-sizes"],
        2,
        "Invalid value for '--all-sizes': no statement about polynomial",
    )
    yield ["cross-check", "--family", EVERY_NETWORK.family], 2, "use --all-sizes to cross-check"


@pytest.mark.parametrize(
    ("line", "code", "said"),
    list(_lines()),
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_the_command(
    line: list[str],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["m2bridge", *line])
    assert commands.run() == code
    shown = capsys.readouterr()
    assert said in shown.out + shown.err


@pytest.mark.slow
def test_at_the_limit_the_verdicts_so_far_are_shown_and_none_is_certified(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    decided, verdict = list[str](), every_size._verdict

    def limited_to_two(statement: Any) -> Any:
        if len(decided) == 2:
            raise TimeLimitError("the limit")
        decided.append(statement.key)
        return verdict(statement)

    monkeypatch.setattr(every_size, "_verdict", limited_to_two)
    monkeypatch.setattr(
        "sys.argv",
        ["m2bridge", "cross-check", "--family", "deep-attention", "--all-sizes", "--json"],
    )
    assert commands.run() == 3
    data = json.loads(capsys.readouterr().out)
    assert [found["statement"] for found in data["verdicts"]] == decided
    assert data["unfinished"] == f"the limit (decided so far: {', '.join(decided)})"
    decided.clear()
    assert "not finished" in cross_check_deep_attention().to_text()
    decided.clear()
    with pytest.raises(TimeLimitError):
        question_of(EVERY_NETWORK.family, "L").observe(EVERY_NETWORK)


def test_predictions_are_of_known_kinds() -> None:
    assert {prediction.counts for prediction in layers.PREDICTIONS.values()} == set(LAYERS)


# Certificates about deep attention for all sizes: accepted as they come, and rejected when anything
# is changed.

KEYS = tuple(questions(EVERY_NETWORK.family))


@pytest.fixture(scope="module")
def made() -> dict[str, Certificate]:
    return {certificate.question: certificate for certificate in certify_all(EVERY_NETWORK, KEYS)}


@pytest.mark.slow
def test_what_is_certified_is_accepted(made: dict[str, Certificate], tmp_path: Path) -> None:
    assert set(made) == {"3.5", "V", "3.6", "3.8", "3.9", "3.10", "L", "S"}
    for certificate in made.values():
        assert verify(certificate).accepted, (certificate.question, verify(certificate))
        write(certificate, tmp_path)
    shown = report.FORMATS["markdown"](report.collect(tmp_path))
    assert "8 confirmed" in shown
    assert "first for 2-2-2-a1-2-t2: computed 8, stated 9" in " ".join(shown.split())


@pytest.mark.slow
@pytest.mark.parametrize("key", ["3.8", "3.5", "3.6"])
def test_every_change_is_rejected(key: str, made: dict[str, Certificate]) -> None:
    tried = 0
    content = {
        "evidence": made[key].evidence,
        "answer": made[key].answer,
        "trusted": made[key].trusted,
    }
    for path, value in islice(leaves(content), 0, None, 2):
        for other in others(value):
            assert not verify(changed(made[key], path, other)).accepted, (path, other)
            tried += 1
    assert tried > 80


def test_a_case_that_a_number_names(made: dict[str, Certificate]) -> None:
    assert verify(replace(made["L"], case={"widths": [2, 2]}).sealed()).outcome == "malformed"


@pytest.mark.slow
def test_a_maker_with_another_statement_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong_formula = prediction("3.8", each_layer="rank * (2 * d - rank)")
    monkeypatch.setitem(PREDICTIONS, "3.8", wrong_formula)
    (wrong,) = certify_all(EVERY_NETWORK, ["3.8"])
    assert wrong.answer["verdicts"][0]["verdict"] == "REFUTED"
    assert verify(wrong).outcome == "rejected"
    (row,) = questions(EVERY_NETWORK.family)["3.8"].rows(wrong)
    assert (row.verdict, row.witness) == ("REFUTED", "1-2-a1-t2: computed 2, stated 3")


@pytest.mark.slow
def test_a_maker_without_an_identity_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = {"determinant": True}
    monkeypatch.setattr(layers, "layer_identities", lambda: fewer)
    (wrong,) = certify_all(EVERY_NETWORK, ["S"])
    assert verify(wrong).outcome == "rejected"


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        slow("_count_with_matrix", lambda n, s, x, u: (u - s) * (n - u) + x * u),
        (
            "_twice_count_with_form",
            lambda n, s, y, u: 2 * (u - s) * (n - u) + 2 * y * (u - y) + y * y,
        ),
        ("_count_of_M", lambda n, s, e: s * e),
        ("_det", lambda A: A[0][0] * A[1][1]),
        slow("_order", lambda polynomial, variable: 0),
        slow("transposed_word", lambda word: word),
        slow("transposed", lambda A: A),
    ],
)
def test_a_mistake_of_the_checker_is_noticed(
    name: str, planted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked, name, planted)
    checked._evidence_of_the_lemma.cache_clear()
    checked.content.cache_clear()
    words = predicted.WORDS.words("L", "")
    with pytest.raises(ContradictionError):
        checked.content(words)
    monkeypatch.undo()
    assert checked.content(words).evidence["identities"] == list(layer_identities())


def test_both_sides_count_alike() -> None:
    """Layer by layer with isl there, flags and codimensions of one case here."""
    for normalization in ("none", "softmax"):
        for network in small_networks(normalization)[::17]:
            case = read(network.to_json())
            assert upper_bound(case) == known_dimension(
                network, "softmax" if case.softmax else "lightning"
            )
            assert virtual_weights_dimension(case, case.depth) == known_dimension(
                network, "virtual_weights"
            )
