"""Certificates for all sizes, and how results for all sizes are shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from m2bridge import reports as report
from m2bridge.certificates.form import Certificate, read, write
from m2bridge.certification.make import certify_all, questions
from m2bridge.certification.verify import verify_path
from m2bridge.engine import Engine
from m2bridge.engine.script import Script, Transcript
from m2bridge.errors import CertificateError, ContradictionError, MethodUnavailableError
from m2bridge.families.attention.all_sizes import (
    base_ideals as facts,
    closures,
    fibre_theorem,
    integer_sets,
    integer_sets as patterns,
    integer_sets as wording,
    predictions,
)
from m2bridge.families.attention.all_sizes.checker import fibres, statements
from m2bridge.families.attention.all_sizes.closures import LARGE_CORES
from m2bridge.families.attention.all_sizes.family import (
    EVERY_SIZE,
    AllSizes,
    cross_check_all_sizes,
    ideals_json,
    is_stated,
)
from m2bridge.families.attention.all_sizes.predictions import SetPrediction
from m2bridge.families.attention.checker import representations
from m2bridge.families.attention.checker.case import Case, orbits, representative
from m2bridge.families.attention.checker.schur import by_degree
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.registry import family
from m2bridge.statements.statement import sharing_one_observation
from tests.all_sizes import basis, points
from tests.certificates.__main__ import ALL_SIZES, HERE
from tests.changing import with_formulas
from tests.checking import verify

# Certificates for all sizes: a round trip, every change and mistakes on both sides noticed, how
# they are shown.

SAMPLES = Path(__file__).parents[4] / "certificates" / "all-sizes"
KEYS = tuple(key for key in questions("attention-all-sizes") if not key.startswith("closures"))


@pytest.fixture(scope="module")
def made(recorded: Engine) -> dict[str, Certificate]:
    return {
        certificate.question: certificate
        for certificate in certify_all(EVERY_SIZE, KEYS, engine=recorded)
    }


def sample(key: str) -> Certificate:
    return read(SAMPLES / f"attention-all-sizes-{key}.json")


def test_every_statement_is_certified_and_accepted(
    made: Mapping[str, Certificate], tmp_path: Path
) -> None:
    assert set(made) == {statement.key for statement in filter(is_stated, REGISTRY)}
    for certificate in made.values():
        found = verify_path(write(certificate, tmp_path))
        assert found.accepted, found
    said = {
        key: [v["verdict"] for v in certificate.answer["verdicts"]]
        for key, certificate in made.items()
    }
    assert {key for key, verdicts in said.items() if "REFUTED" in verdicts} == {"3.4", "A.4"}
    every = {verdict for verdicts in said.values() for verdict in verdicts}
    assert every == {"CONFIRMED", "REFUTED"}


@pytest.mark.slow
def test_closures_are_certified_as_in_the_sample() -> None:
    """The sample itself is verified in ``test_checker.py``."""
    (certificate,) = certify_all(EVERY_SIZE, ("closures",))
    assert (certificate.answer, certificate.evidence) == (
        sample("closures").answer,
        sample("closures").evidence,
    )


def test_large_cores_have_questions_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Maker and checker mean the same core by a question. In place of the numbers of the large ones,
    which take the checker up to minutes, stand those of a small one.
    """
    keys = {f"closures-{core.variables}-{core.columns}-{core.rows}": core for core in LARGE_CORES}
    assert {"closures", *keys} == set(representations.QUESTIONS)
    of_a_small_core = representations.closure
    made_of_a_small_core = closures.closures_of_all_sizes(closures.CORES[1:2]).ranges[0]
    asked = list[tuple[int, ...]]()

    def small(*core: int) -> dict[str, Any]:
        asked.append(core)
        return of_a_small_core(2, 1, 1)

    monkeypatch.setattr(closures, "_closure_of_sizes", lambda *_: made_of_a_small_core)
    monkeypatch.setattr(representations, "closure", small)
    for key, core in keys.items():
        (certificate,) = certify_all(EVERY_SIZE, (key,))
        found = verify_path(write(certificate, tmp_path))
        assert found.accepted, found
        assert asked.pop() == (core.variables, core.columns, core.rows)
        (row,) = questions("attention-all-sizes")[key].rows(certificate)
        assert f"the core ({core.variables}; {core.columns}, {core.rows})" in row.text
        assert row.reason.startswith("1 core, ")
        spoilt = replace(certificate, answer={"closures": []}).sealed()
        assert not verify_path(write(spoilt, tmp_path)).accepted


def test_sets_are_read_by_isl_and_are_those_of_the_program(made: Mapping[str, Certificate]) -> None:
    verdict = made["3.4"].answer["verdicts"][2]
    wrong = integer_sets.sizes("2 <= a and a < d and not (a = 2 and dp = 1)")
    assert isl.Set(verdict["fails_for"]).is_equal(wrong)
    assert isl.Set(verdict["holds_for"]).is_equal(
        integer_sets.sizes("d >= 2 and not (a = 1 and dp = 1)").subtract(wrong)
    )


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value, whole lists and objects too."""
    yield path, value
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def near(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield from (not value, int(value), None)
    elif isinstance(value, int):
        yield from (value + 1, float(value), str(value))
    elif isinstance(value, str):
        yield from (f"{value} ", value[:-1] if value else "x", None)
    elif isinstance(value, list):
        yield from ([*value, None], value[1:] if value else [[]], {})
    elif isinstance(value, dict):
        yield from (value | {"more": 1}, dict(list(value.items())[1:]) if value else [], None)
    else:
        yield from ({}, 0, "")


def changed(certificate: Certificate, path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    data = certificate.to_json()
    inner: Any = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


@pytest.mark.slow
def test_every_changed_value_is_noticed() -> None:
    """With a digest that fits, so that the content alone can say no."""
    certificate = sample("A.4")
    tried = 0
    for name in ("answer", "evidence", "trusted", "name", "field"):
        for path, value in places(certificate.to_json()[name], (name,)):
            others = list(near(value))
            data = changed(certificate, path, others[tried % len(others)])
            tried += 1
            try:
                found = verify(Certificate.from_json(data).sealed())
            except CertificateError:  # a text that is none
                assert name not in ("answer", "evidence") or len(path) == 1
            else:
                assert (found.outcome, found.check.split(".")[0].split("[")[0]) == (
                    "rejected",
                    name,
                ), path
    assert tried > 350


@pytest.mark.parametrize("case", [{"d": 3}, {"d": 3, "d_out": 2, "a": 2, "t": 2}])
def test_no_number_names_the_case(case: dict[str, int]) -> None:
    found = verify(Certificate.from_json(changed(sample("3.4"), ("case",), case)).sealed())
    assert (found.outcome, found.check) == ("malformed", "case")


def test_another_question_is_not_answered() -> None:
    found = verify(Certificate.from_json(changed(sample("3.4"), ("question",), "A.4")).sealed())
    assert (found.outcome, found.check) == ("rejected", "answer.verdicts")
    found = verify(Certificate.from_json(changed(sample("3.4"), ("question",), "closure")).sealed())
    assert (found.outcome, found.check) == ("malformed", "question")
    assert found.found.startswith("this family's checker has no question closure; it has ")


def test_an_equal_set_in_other_words_is_not_canonical() -> None:
    path = ("answer", "verdicts", 2, "fails_for")
    right = sample("3.4").answer["verdicts"][2]["fails_for"]
    other = "{ [d, dp, a] : 2 <= a < d and 1 <= dp and not (a = 2 and dp = 1) }"
    assert isl.Set(other).is_equal(isl.Set(right))
    assert verify(
        Certificate.from_json(changed(sample("3.4"), path, other)).sealed()
    ).check == ".".join(("answer", "verdicts[2]", "fails_for"))


def test_a_set_without_a_phrase_is_not_certified() -> None:
    with pytest.raises(MethodUnavailableError, match=r"needs a phrase in words.toml for .*a = 7"):
        wording.canonical(integer_sets.sizes("a = 7"))
    assert [
        wording.phrase(wording.canonical(integer_sets.sizes(c))) for c in wording.PHRASES.values()
    ] == [*wording.PHRASES]


class Lying:
    """An engine whose answers have one text replaced by another."""

    version = "9.99"

    def __init__(self, engine: Engine, text: str, by: str) -> None:
        self._engine, self._text, self._by = engine, text, by

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        answer = self._engine.run(script, timeout=timeout)
        records = tuple(record.replace(self._text, self._by) for record in answer.records)
        assert records != answer.records or script != facts.base_ideals_script()
        return Transcript(records, answer.output, answer.seconds, self.version)


@pytest.mark.parametrize("name", ["base_locus_empty", "boundary_family"])
def test_a_wrong_identity_is_not_accepted(name: str, recorded: Engine) -> None:
    said = {
        "base_locus_empty": "base_locus_empty",
        "boundary_family": "family_without_real_points",
    }[name]
    lying = Lying(recorded, f'"{said}","value":true', f'"{said}","value":false')
    (certificate,) = certify_all(
        EVERY_SIZE, ["A.2" if name == "base_locus_empty" else "A.6"], engine=lying
    )
    assert "UNDECIDED" in [verdict["verdict"] for verdict in certificate.answer["verdicts"]]
    assert verify(certificate).check == f"evidence.{name}"


def test_a_wrong_ideal_is_not_certified_and_one_without_use_not_accepted(recorded: Engine) -> None:
    """Three of the ideals prove nothing, and their values are compared all the same."""
    with pytest.raises(ContradictionError, match="no base case has the pattern"):
        certify_all(
            EVERY_SIZE,
            ["3.3"],
            engine=Lying(recorded, '[[2],"1"],[[1],"-1"]', '[[2],"1"],[[1],"-2"]'),
        )
    at = [(i["r"], i["s"], i["m"], i["d"]) for i in sample("3.4").evidence["ideals"]].index(
        (1, 2, 0, 4)
    )
    path = ("evidence", "ideals", at, "groebner_basis", 0, 0, 1)
    found = verify(Certificate.from_json(changed(sample("3.4"), path, "2")).sealed())
    assert (found.outcome, found.check.startswith(f"evidence.ideals[{at}]")) == ("rejected", True)


WRONG_PREDICTIONS = {
    ("A.4", ""): predictions.PREDICTIONS["singular-locus", ""],
    ("A.3", ""): replace(predictions.PREDICTIONS["A.3", ""], condition="r = 1 and s = 1"),
    ("A.2", "birational"): SetPrediction("birational"),
    ("3.4", "ii"): replace(
        predictions.PREDICTIONS["3.4", "ii"],
        hypotheses=predictions.PREDICTIONS["3.3", ""].hypotheses,
    ),
}


@pytest.mark.parametrize("stated", WRONG_PREDICTIONS)
def test_a_wrong_prediction_is_not_accepted(
    stated: tuple[str, str], recorded: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(predictions.PREDICTIONS, stated, WRONG_PREDICTIONS[stated])
    (certificate,) = certify_all(EVERY_SIZE, [stated[0]], engine=recorded)
    assert verify(certificate).check.startswith("answer.verdicts")


def test_a_wrong_pattern_is_not_certified(
    recorded: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = (
        "({k} <= m and {q} = {k}) or (m < {k} and {k} <= s and {q} = r + {k}) or (m = 0 and {k} = 1"
        " and {q} = 1)"
    )
    for module in (patterns, fibre_theorem):
        monkeypatch.setattr(module, "entry_of_v", lambda k, q: rule.format(k=k, q=q))
    with pytest.raises(ContradictionError):
        certify_all(EVERY_SIZE, ["3.4"], engine=recorded)


def test_a_wrong_fact_is_not_accepted(recorded: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Smooth where the source is singular: then the printed statement would be true for a = 2 < d
    too.
    """
    monkeypatch.setattr(facts, "SOURCE_SINGULAR", "1 = 0")
    (certificate,) = certify_all(EVERY_SIZE, ["A.4"], engine=recorded)
    assert [verdict["verdict"] for verdict in certificate.answer["verdicts"]] == ["CONFIRMED"]
    assert verify(certificate).check.startswith("answer.verdicts[0]")


@pytest.fixture
def forgotten() -> Iterator[None]:
    """What the checker remembers is forgotten before and after."""
    caches = (statements.content, fibres.fibres, statements.observed_by_fibres, fibres.ideal)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def test_the_checker_knows_entries_and_dense_orbits_by_other_rules() -> None:
    larger = 4
    rules = {
        (name, i, j): points(fibres.orbits(fibres.entry(name, str(i), str(j))), larger)
        for name, i, j in product("AV", range(larger), range(larger))
    }
    for d, dp, a in product(range(1, larger + 1), repeat=3):
        for orbit in orbits(Case(d, dp, a, 2)):
            matrices = dict(zip("AV", representative(orbit), strict=True))
            for (name, i, j), where in rules.items():
                assert ((d, dp, a, *orbit) in where) == bool(matrices[name].get((i, j)))
    assert statements.dense_orbits().is_equal(integer_sets.orbits(facts.GENERIC))
    assert fibres.orbits().is_equal(integer_sets.orbits())
    assert fibres.evidence() == ideals_json(basis())


WRONG_ENTRIES = {
    "A with one column less": ("{row} < r", "{row} + 1 < r"),
    "rows e_{r+k} of V": ("r + {row} - m", "r + {row}"),
    "row 1 of V without e_1": ("m = 0 and {row} = 0", "m = 0 and {row} = 7"),
    "no rows of V after m": ("m <= {row} and", "1 = 0 and"),
}


@pytest.mark.parametrize("what", WRONG_ENTRIES)
def test_a_wrong_entry_of_the_checker_is_noticed(
    what: str, monkeypatch: pytest.MonkeyPatch, forgotten: None
) -> None:
    right, (text, by) = fibres.entry, WRONG_ENTRIES[what]

    def wrong(matrix: str, row: str, column: str) -> str:
        said = right(matrix, row, column)
        replaced = said.replace(text.format(row=row), by.format(row=row))
        assert replaced != said or (matrix == "A") != ("A" in what)
        return replaced

    monkeypatch.setattr(fibres, "entry", wrong)
    with pytest.raises(ContradictionError):
        verify(sample("3.4"))


@pytest.mark.parametrize(
    ("condition", "base"),
    [(condition, base) for condition, bases in fibres.STRATA.items() for base in bases],
    ids=str,
)
def test_every_base_case_of_the_checker_is_needed(
    condition: str, base: fibres.BaseCase, monkeypatch: pytest.MonkeyPatch, forgotten: None
) -> None:
    """Without one some places are not covered, or the place with z² = z is not found."""
    bases = fibres.STRATA[condition]
    monkeypatch.setitem(
        fibres.STRATA, condition, {other: kind for other, kind in bases.items() if other != base}
    )
    with pytest.raises(
        (ContradictionError, KeyError), match=r"no base case is there for|\(\(1, 1, 0\), 2\)"
    ):
        verify(sample("3.4"))


@pytest.mark.parametrize("kind", [fibres.POINT, fibres.SQUARES, fibres.TWO_POINTS])
def test_a_wrong_kind_of_ideal_is_noticed(
    kind: str, monkeypatch: pytest.MonkeyPatch, forgotten: None
) -> None:
    for condition, bases in dict(fibres.STRATA).items():
        for base, right in bases.items():
            if right != kind:
                monkeypatch.setitem(fibres.STRATA, condition, bases | {base: kind})
                with pytest.raises(ContradictionError, match="is not what"):
                    fibres.fibres()
                monkeypatch.setitem(fibres.STRATA, condition, bases)


def test_a_stratum_that_is_left_out_is_noticed(
    monkeypatch: pytest.MonkeyPatch, forgotten: None
) -> None:
    bases = dict(fibres.STRATA)
    first = bases.pop("r >= 2")
    monkeypatch.setattr(fibres, "STRATA", {"r >= 2 and r <= 5": first, **bases})
    with pytest.raises(ContradictionError, match="not all orbits, each once"):
        verify(sample("3.4"))


WRONG_STATED: dict[tuple[str, str], dict[str, Any]] = {
    ("3.2", "otherwise"): {"orbits": "True"},
    ("3.4", "i"): {"assumes": ("several-tokens", "not-degenerate", "two-dimensions")},
    ("3.4", "iii"): {"value": "r == s == 1 and m == 0"},
    ("A.2", "birational"): {"assumes": ("several-tokens",)},
    ("degree", ""): {"value": "D"},
}
"""Wrong formulas of statements."""


@pytest.mark.parametrize("stated", WRONG_STATED)
def test_a_wrong_prediction_of_the_checker_is_noticed(
    stated: tuple[str, str], monkeypatch: pytest.MonkeyPatch, forgotten: None
) -> None:
    planted = with_formulas(statements.WORDS_OF_CASES, stated, **WRONG_STATED[stated])
    monkeypatch.setattr(statements, "WORDS_OF_CASES", planted)
    assert verify(sample(stated[0])).check.startswith("answer.verdicts")


@pytest.mark.parametrize("form", report.FORMATS)
def test_a_report_shows_them(form: str) -> None:
    found = report.collect(SAMPLES)
    assert not found.problems
    assert found.columns == (("case", "case"),)
    assert {(row.statement, row.verdict) for row in found.rows} >= {
        ("3.4 (iii)", "REFUTED"),
        ("degree", "CONFIRMED"),
    }
    text = report.FORMATS[form](found)
    assert "attention" in text
    if form in ("text", "csv"):
        assert "false for 2 ≤ a < d, except (a, d') = (2, 1); true for" in text
        assert (
            "(d, d', a) = (3, 2, 2), orbit (1, 2, 0), A = (1 0 0; 0 0 0; 0 0 0), V = (1 1 0; 0 0 1)"
            in text
        )
        assert "where the conclusion fails" in text


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "CONFIRMED"),
        (("fails_for",), "{ [d, dp, a] : "),
        (("fails_for",), None),
        (("counterexample",), {"d": 3}),
        (("not_applicable",), [{}]),
    ],
)
def test_a_report_does_not_use_what_does_not_follow(
    path: tuple[str, ...], value: Any, tmp_path: Path
) -> None:
    data = changed(sample("3.4"), ("answer", "verdicts", 2, *path), value)
    write(Certificate.from_json(data).sealed(), tmp_path)
    found = report.collect(tmp_path)
    assert (len(found.rows), len(found.problems)) == (0, 1)


def test_the_case_in_all_its_forms() -> None:
    chosen = family("attention-all-sizes")
    assert (
        chosen.from_json(json.loads(json.dumps(EVERY_SIZE.to_json())))
        == EVERY_SIZE
        == chosen.from_options({})
    )
    assert chosen.from_key(EVERY_SIZE.key) == EVERY_SIZE
    assert chosen.label(EVERY_SIZE) == "attention-all-sizes"


# The cross-check for all sizes as it is shown, from a stored transcript.


@pytest.fixture(scope="module")
def found(recorded: Engine) -> AllSizes:
    return cross_check_all_sizes(engine=recorded)


def test_text(found: AllSizes) -> None:
    text = str(found)
    assert "Cross-check of lightning self-attention for all d, d', a ≥ 1 and all t ≥ 2" in text
    assert "  REFUTED         3.4 (iii): For t ≥ 2" in text
    assert "→ false for 2 ≤ a < d, except (a, d') = (2, 1)\n" in text
    assert (
        "(d, d', a) = (3, 2, 2), orbit (1, 2, 0), A = (1 0 0; 0 0 0; 0 0 0), V = (1 1 0; 0 0 1)"
        in text
    )
    assert "→ vacuous for d = 1 < d'\n" in text
    assert text.count("REFUTED") == 2  # and Corollary A.4


def test_a_statement_about_single_cases_only_is_named(recorded: Engine, found: AllSizes) -> None:
    assert ("not stated for all sizes" in str(found)) == bool(found.not_stated)
    new = replace(REGISTRY[0], key="new")
    more = cross_check_all_sizes((new, *sharing_one_observation(REGISTRY)), engine=recorded)
    assert [v.name for v in more.verdicts] == [v.name for v in found.verdicts]
    assert (more.to_json()["not_stated"], more.undecided) == (
        [f"new ({new.part})", *found.not_stated],
        False,
    )
    assert re.search(rf"not stated for all sizes +new \({new.part}\)", str(more))
    with pytest.raises(MethodUnavailableError, match=r"not stated for all sizes, .*: new \(.*\)$"):
        cross_check_all_sizes((new,), engine=recorded)


def test_json_has_the_sets_in_words_and_exactly(found: AllSizes) -> None:
    data = json.loads(json.dumps(found.to_json()))
    assert {verdict["verdict"] for verdict in data["verdicts"]} == {"CONFIRMED", "REFUTED"}
    for verdict, stored in zip(found.verdicts, data["verdicts"], strict=True):
        for name in ("holds_for", "fails_for", "undecided_for", "vacuous_for"):
            assert isl.Set(stored[name]["isl"]).is_equal(getattr(verdict.extent, name))
            assert stored[name]["words"]
        assert stored["computed"]
        assert stored["trusted"]
        assert "{" not in "".join(stored["computed"])
    assert [stratum["length"] for stratum in data["fibres"]] == ["1", "1", "d", "2"]
    by_case = {(i["r"], i["s"], i["m"], i["d"]): i["groebner_basis"] for i in data["ideals"]}
    assert by_case[1, 1, 0, 3] == [[[[2, 0], "1"], [[1, 0], "-1"]], [[[0, 1], "1"]]]


def test_latex_and_macaulay2(found: AllSizes) -> None:
    latex = found.to_latex()
    assert r"3.4 (iii) & refuted & false for $2 \le a < d$, except $(a," in latex
    assert "≤" not in latex
    assert all(f"{verdict.name} & ".replace("-", "{-}") in latex for verdict in found.verdicts)
    # 3.4 (ii), (iii), A.3, A.4, A.6 and not-a-manifold
    assert latex.count("where as printed it is") == 6
    false = "false for 2 ≤ a < d, except (a, d') = (2, 1); as printed also for d = 1 < d'"
    assert f'"3.4 (iii)" => {{"REFUTED", "{false}"}}' in found.to_macaulay2()


class LyingOfAllSizesShown:
    """Another engine whose answers have one text replaced by another."""

    def __init__(self, engine: Engine, text: str, by: str) -> None:
        self._engine, self._text, self._by = engine, text, by

    version = "lying"

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        answer = self._engine.run(script, timeout=timeout)
        records = tuple(record.replace(self._text, self._by) for record in answer.records)
        assert records != answer.records or script != facts.base_ideals_script()
        return Transcript(records, answer.output, answer.seconds, answer.version)


def test_a_wrong_ideal_proves_nothing(recorded: Engine) -> None:
    with pytest.raises(ContradictionError, match="no base case has the pattern"):
        cross_check_all_sizes(
            engine=LyingOfAllSizesShown(recorded, '[[2],"1"],[[1],"-1"]', '[[2],"1"],[[1],"-2"]')
        )


def test_an_identity_that_fails_leaves_statements_undecided(recorded: Engine) -> None:
    lying = LyingOfAllSizesShown(
        recorded, '"base_locus_empty","value":true', '"base_locus_empty","value":false'
    )
    found = cross_check_all_sizes(engine=lying)
    assert found.undecided
    assert {v.decision for v in found.verdicts if v.name == "3.4 (i)"} == {"UNDECIDED"}


@pytest.mark.parametrize("size", [(2, 2, 1), (3, 2, 1), (3, 3, 1)])
def test_the_checker_exchanges_x_and_h(size: tuple[int, int, int]) -> None:
    """A core, and the one with X and H exchanged: the latter is not computed, but here."""
    values, start, kinds = representations.core(*size)
    *again, direct = representations.core_itself(*size)
    assert [values, start] == again
    assert sorted(kinds, key=by_degree) == sorted(direct, key=by_degree)


def test_every_sample_about_all_sizes_is_one_that_is_written_anew() -> None:
    """``python -m tests.certificates`` begins with an empty folder: what it does not write would be
    lost.
    """
    written = {f"attention-all-sizes-{question}" for question in ALL_SIZES}
    assert {path.stem for path in (HERE / "all-sizes").glob("*.json")} == written


@pytest.mark.parametrize("name", ["base_locus_is_empty", "real_family_has_no_real_weights"])
@pytest.mark.parametrize("key", ["3.2", "polar", "exposed"])
def test_the_checker_computes_each_identity_that_the_evidence_states(
    name: str, key: str, forgotten: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for the statements whose verdicts do not need it."""
    certificate = sample(key)
    assert statements.statement(certificate).evidence["base_locus_empty"]
    statements.content.cache_clear()
    statements.observed_by_fibres.cache_clear()
    monkeypatch.setattr(statements.cases, name, lambda: False)
    with pytest.raises(ContradictionError, match="an identity behind the theorems"):
        statements.statement(certificate)
