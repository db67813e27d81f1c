"""The cross-check for all sizes as it is shown, from a stored transcript."""

import json
import re
from dataclasses import replace

import islpy as isl
import pytest

from m2bridge.engine import Engine
from m2bridge.engine.protocol import Transcript
from m2bridge.engine.script import Script
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention.all_sizes.decide import cross_check_all_sizes
from m2bridge.families.attention.all_sizes.result import AllSizes
from m2bridge.families.attention.statements import REGISTRY


@pytest.fixture(scope="module")
def found(recorded: Engine) -> AllSizes:
    return cross_check_all_sizes(recorded)


def test_text(found: AllSizes) -> None:
    text = str(found)
    assert "Cross-check of lightning self-attention for all d, d', a ≥ 1 and all t ≥ 2" in text
    assert "  REFUTED         3.4 (iii): For t ≥ 2" in text
    assert "→ false for 2 ≤ a < d, except (a, d') = (2, 1)\n" in text
    assert "(d, d', a) = (3, 2, 2), orbit (1, 2, 0), A = (1 0 0; 0 0 0; 0 0 0), V = (1 1 0; 0 0 1)" in text
    assert "→ vacuous for d = 1 < d'\n" in text
    assert text.count("REFUTED") == 2  # and Corollary A.4


def test_a_statement_about_single_cases_only_is_named(recorded: Engine, found: AllSizes) -> None:
    assert ("not stated for all sizes" in str(found)) == bool(found.not_stated)
    new = replace(REGISTRY[0], key="new")
    more = cross_check_all_sizes(recorded, (new, *REGISTRY))
    assert [v.name for v in more.verdicts] == [v.name for v in found.verdicts]
    assert (more.to_json()["not_stated"], more.undecided) == ([f"new ({new.part})", *found.not_stated], False)
    assert re.search(rf"not stated for all sizes +new \({new.part}\)", str(more))
    with pytest.raises(MethodUnavailableError, match=r"^new \(.*\) is not stated for all sizes"):
        cross_check_all_sizes(recorded, (new,))


def test_json_has_the_sets_in_words_and_exactly(found: AllSizes) -> None:
    data = json.loads(json.dumps(found.to_json()))
    assert {verdict["verdict"] for verdict in data["verdicts"]} == {"CONFIRMED", "REFUTED"}
    for verdict, stored in zip(found.verdicts, data["verdicts"], strict=True):
        for name in ("holds_for", "fails_for", "undecided_for", "vacuous_for"):
            assert isl.Set(stored[name]["isl"]).is_equal(getattr(verdict, name))
            assert stored[name]["words"]
        assert stored["computed"]
        assert stored["trusted"]
        assert "{" not in "".join(stored["computed"])
    assert [stratum["length"] for stratum in data["fibres"]] == ["1", "1", "d", "2"]
    by_case = {(i["r"], i["s"], i["m"], i["d"]): i["groebner_basis"] for i in data["ideals"]}
    assert by_case[1, 1, 0, 3] == [[[[2, 0], "1"], [[1, 0], "-1"]], [[[0, 1], "1"]]]


def test_latex_and_macaulay2(found: AllSizes) -> None:
    latex = found.to_latex()
    assert r"3.4 (iii) & refuted & false for 2 \ensuremath{\leq} a < d, except" in latex.replace(r"\textless{}", "<")
    assert "≤" not in latex
    assert all(f"{verdict.name} & ".replace("-", "{-}") in latex for verdict in found.verdicts)
    assert '"3.4 (iii)" => {"REFUTED", "false for 2 ≤ a < d, except (a, d\') = (2, 1)"}' in found.to_macaulay2()


class Lying:
    """Another engine whose answers have one text replaced by another."""

    def __init__(self, engine: Engine, text: str, by: str) -> None:
        self._engine, self._text, self._by = engine, text, by

    version = "lying"

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        answer = self._engine.run(script, timeout=timeout)
        records = tuple(record.replace(self._text, self._by) for record in answer.records)
        assert records != answer.records
        return Transcript(records, answer.output, answer.seconds, answer.version)


def test_a_wrong_ideal_proves_nothing(recorded: Engine) -> None:
    with pytest.raises(ContradictionError, match="no base case has the pattern"):
        cross_check_all_sizes(Lying(recorded, '[[2],"1"],[[1],"-1"]', '[[2],"1"],[[1],"-2"]'))


def test_an_identity_that_fails_leaves_statements_undecided(recorded: Engine) -> None:
    lying = Lying(recorded, '"base_locus_empty","value":true', '"base_locus_empty","value":false')
    found = cross_check_all_sizes(lying)
    assert found.undecided
    assert {v.decision for v in found.verdicts if v.name == "3.4 (i)"} == {"UNDECIDED"}
