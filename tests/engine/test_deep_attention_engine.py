"""Fibres of deep attention and a limit that is no network, by Macaulay2."""

from dataclasses import replace

import pytest

from m2bridge import Macaulay2, cross_check
from m2bridge.crosscheck import compare
from m2bridge.crosscheck.certify import certify_all
from m2bridge.crosscheck.verified import verify
from m2bridge.engine.answer import parse
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.deep_attention import fibres as closedness
from m2bridge.families.deep_attention import fibres as generic_fibre_module
from m2bridge.families.deep_attention.fibres import GenericFibre, generic_fibre
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.observation import observe
from m2bridge.families.deep_attention.statements import STATEMENTS

BY_NAME = {f"{statement.key} {statement.part}".strip(): statement for statement in STATEMENTS}
FIBRES = [  # dimension, degree, points
    ("2-2-1-a2-2-t2", 0, 1, 1),
    ("2-2-2-a2-2-t2", 0, 1, 1),
    ("2-2-1-a2-1-t2", 0, 2, 2),
    ("2-2-1-a1-2-t2", 1, 3, None),
    ("2-2-2-a1-1-t2", 1, 1, None),
    ("2-2-1-a2-2-t1", 2, 3, None),
    ("2-2-2-a2-2-t1", 2, 1, None),
    ("2-1-a1-t2", 0, 2, 2),
    ("2-2-a1-t1", 1, 1, None),
    ("3-3-a1-t1", 3, 1, None),
    ("3-2-a1-t2", 0, 1, 1),
    ("3-1-a2-t3", 0, 1, 1),
]


@pytest.mark.parametrize(("key", "dimension", "degree", "points"), FIBRES)
def test_fibres_are_as_stated(engine: Macaulay2, key: str, dimension: int, degree: int, points: int | None) -> None:
    network = DeepAttention.from_key(key)
    assert generic_fibre(network, engine) == GenericFibre(dimension, degree, points)
    for name in ("3.7", "fibre dimension", "fibre degree"):
        statement = BY_NAME[name]
        if not statement.hypotheses(network):
            assert statement.predict(network) == observe(network, statement.observable, engine).value


@pytest.mark.parametrize("key", ["2-2-2-a1-1-t2", "2-2-a1-t1", "2-2-2-a1-2-t2"])
def test_fibres_in_the_virtual_weights_by_their_equations(engine: Macaulay2, key: str) -> None:
    """Where all widths are 2 the only condition is det A_k = 0 for a_k = 1: the dimension that ranks tell."""
    network = DeepAttention.from_key(key)
    corners = [A[0][0] for A in generic_fibre_module._random_weights(network)[0]]
    singular = [
        f"({corner})*inner_({k},2,2) - inner_({k},1,2)*inner_({k},2,1)"
        for k, (corner, a) in enumerate(zip(corners, network.a, strict=True), 1)
        if a == 1
    ]
    script, before = generic_fibre_module.fibre_script(network), 'mbEmit("dimension"'
    assert before in script.body
    body = script.body.replace(before, f"fibre = fibre + ideal({', '.join(singular)})\n{before}")
    found = parse(engine.run(replace(script, body=body), timeout=60).records)
    assert found.integer("dimension") == observe(network, "virtual_fibre_dimension").value
    if key == "2-2-2-a1-1-t2":
        assert found.integer("points") == 2


def test_a_swap_that_is_no_swap_is_a_double_point(engine: Macaulay2) -> None:
    """Behind a hidden width 1 the vectors that could be exchanged are parallel: excluded by the hypothesis."""
    network = DeepAttention((2, 1, 1), 2)
    assert generic_fibre(network, engine) == GenericFibre(0, 2, 1)
    assert "the last one is 1" in BY_NAME["fibre degree"].hypotheses(network)


def test_a_cross_check_starts_macaulay2_where_a_statement_needs_it(engine: Macaulay2) -> None:
    network = DeepAttention((2, 2, 1), (2, 1))
    found = cross_check(network, engine=engine)
    verdicts = {verdict.name: str(verdict.decision) for verdict in found.verdicts}
    assert (verdicts["fibre (degree)"], verdicts["fibre (dimension)"], verdicts["L"]) == ("CONFIRMED",) * 3
    assert verdicts["3.7"] == verdicts["closed"] == "NOT_APPLICABLE"
    assert found.engine_version == engine.version
    alone = cross_check(network, engine=None, statements=[BY_NAME["L"], BY_NAME["closed"]])
    assert (alone.engine_version, [str(v.decision) for v in alone.verdicts]) == ("", ["CONFIRMED", "NOT_APPLICABLE"])


def test_theorem_3_7_without_its_hypothesis_is_not_confirmed(engine: Macaulay2) -> None:
    """A second point in E need not be virtual weights; a curve in the virtual weights is more than a point."""
    wrong = replace(BY_NAME["3.7"], hypotheses=lambda network: "")
    for key, verdict in {"2-2-1-a1-2-t2": "REFUTED", "2-2-1-a2-1-t2": "UNDECIDED"}.items():
        network = DeepAttention.from_key(key)
        assert str(compare(wrong, network.observe({wrong.observable}, engine)).decision) == verdict


def test_two_layers_are_not_closed(engine: Macaulay2) -> None:
    network = DeepAttention((3, 3, 3), (3, 2), 3)
    found = closedness.limit_outside(network, engine)
    assert found == closedness.LimitOutside(True, True, True, True, True)
    statement = BY_NAME["closed"]
    assert statement.predict(network) is observe(network, "closed", engine).value is False
    for other in (DeepAttention((3, 3, 3), 2, 2), DeepAttention((2, 2, 2), 2, 3), DeepAttention((3, 3, 3), (1, 2), 3)):
        assert statement.hypotheses(other)
        with pytest.raises(MethodUnavailableError):
            closedness.limit_outside(other, engine)


SKEW = "skew = sub(matrix{ {0, 0, 1}, {0, 0, 1}"
LIMIT = "(map(functions, family, {0} | gens functions)) limit"
A_NETWORK = """functionMatrix(sub(matrix{ {0, 1, 2}, {-1, 0, 3}, {-2, -3, 0} }, functions),
    sub(matrix{ {1, 2, 3}, {2, 4, 6}, {1, 2, 3} }, functions), id_(functions^3),
    genericSymmetricMatrix(functions, sym_1, 3))"""
LAST = "-- So B has rank one"


@pytest.mark.parametrize(
    ("right", "wrong", "refused"),
    [
        (SKEW, SKEW.replace("{0, 0, 1}, {0, 0, 1}", "{0, 0, 1}, {0, 1, 1}"), "networks_for_all_epsilon"),
        ("{ {0, 1, 0}, {0, 0, 0}, {0, 0, 0} }", "{ {0, 0, 0}, {0, 0, 0}, {0, 0, 0} }", "rank_one"),
        ("{0, 0, 0}, {1, 2, 1} }", "{0, 0, 0}, {0, 0, 0} }", "columns_span"),
        (LIMIT, A_NETWORK, "no_network"),
    ],
)
def test_changed_examples_show_nothing(engine: Macaulay2, right: str, wrong: str, refused: str) -> None:
    """A matrix that is not skew-symmetric, limits that are zero, and a network in place of the limit."""
    script = closedness.limit_script(DeepAttention((3, 3, 3), 2, 3))
    assert right in script.body
    body = script.body if refused == "no_network" else script.body.partition(LAST)[0]
    answer = parse(engine.run(replace(script, body=body.replace(right, wrong)), timeout=60).records)
    assert answer.boolean(refused) is False


CERTIFIED = ["2-2-1-a2-2-t2", "2-2-1-a2-1-t2", "2-2-1-a1-2-t2", "2-2-1-a2-2-t1", "2-1-1-a2-2-t2", "3-1-a2-t2"]


@pytest.mark.parametrize("key", CERTIFIED)
def test_fibres_are_certified_and_computed_anew_without_macaulay2(engine: Macaulay2, key: str) -> None:
    for certificate in certify_all(DeepAttention.from_key(key), ["3.7", "fibre"], engine=engine):
        assert "groebner" not in certificate.script["text"]
        assert verify(certificate).accepted, verify(certificate)
        evidence = certificate.evidence
        for name, number in [(observable, number) for observable in evidence for number in evidence[observable]]:
            wrong = evidence | {name: evidence[name] | {number: evidence[name][number] + 1}}
            assert verify(replace(certificate, evidence=wrong).sealed()).check == f"evidence.{name}.{number}"


def test_closedness_is_certified_and_computed_anew_without_macaulay2(engine: Macaulay2) -> None:
    (certificate,) = certify_all(DeepAttention((3, 3, 3), (3, 2), 3), ["closed"], engine=engine)
    assert certificate.answer["verdicts"][0]["verdict"] == "CONFIRMED"
    assert "no_network" in certificate.script["text"]
    assert verify(certificate).accepted
    (outside,) = certify_all(DeepAttention((2, 2, 2), 2, 3), ["closed"], engine=engine)
    assert (outside.answer["verdicts"][0]["verdict"], outside.evidence) == ("NOT_APPLICABLE", {})
    assert verify(outside).accepted
