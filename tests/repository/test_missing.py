"""What is missing for something new is listed; nothing is missing for what is there."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from m2bridge import errors
from m2bridge.certificates.wording import Wording
from m2bridge.families.attention.hypotheses import WORDS
from m2bridge.ideals.ideal import Ideal
from m2bridge.reports import forms
from m2bridge.trained_weights.checkpoints.layouts import LAYOUTS
from tests import missing


def places(kind: str) -> list[str]:
    """The places that lack something."""
    return [line.partition(": ")[0] for line in missing.KINDS[kind]()]


@pytest.mark.parametrize("kind", missing.KINDS)
def test_nothing_is_missing(kind: str) -> None:
    assert list(missing.KINDS[kind]()) == []


def test_a_new_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row in the table, and nothing else."""
    (row, *_) = WORDS.about("3.3")
    new = replace(row, key="new", text="For t ≥ 2: it is so.", value="1")
    planted = replace(WORDS, statements=(*WORDS.statements, new))
    test, compared = missing.STATED_ONCE["attention"][1:]
    monkeypatch.setitem(missing.STATED_ONCE, "attention", (planted, test, compared))
    rows = missing.stated.SECTIONS["One layer"]
    monkeypatch.setitem(
        missing.stated.SECTIONS, "One layer", (*rows, ("new", new.text, ("by hand",)))
    )
    monkeypatch.setattr(missing.formulas, "unread", lambda: {"few t"})
    (statement, *_) = missing.family("attention").statements()
    stated_anew = replace(statement, key="new", part="")
    everywhere = missing.family("attention")

    class WithOneMore(type(everywhere)):  # type: ignore[misc]
        def statements(self) -> Any:
            return (*super().statements(), stated_anew)

    monkeypatch.setattr(missing, "family", lambda name: WithOneMore())
    outside = replace(stated_anew, hypotheses=lambda model: "never applies")
    monkeypatch.setattr(missing.verdicts, "STATED", [("attention", outside)])
    checker = missing.checker("attention")
    with_question = replace(checker, questions={**checker.questions, "new": None})
    monkeypatch.setattr(missing, "checker", lambda name: with_question)
    monkeypatch.setattr(missing, "OWN_FAMILIES", {"attention": ""})
    monkeypatch.setattr(missing.fields, "kind_of", lambda name, key: f"{name}: {key}")
    found = list(missing.of_statements())
    assert found[:2] == [
        "tests/unit/families/attention/test_stated_once.py: 'new' in BY_HAND, and wrong values of"
        " it in WRONG",
        "docs/statements.md: what each says and what is computed (python -m tests.stated)",
    ]
    about_new = {line.partition(": ")[0] for line in found[2:] if "new" in line or "few" in line}
    assert about_new == {
        "docs/statements.md",
        "tests/repository/formulas.tsv",
        "tests/unit/crosscheck/test_verdicts.py",
        "tests/certificates/__main__.py",
        "tests/unit/certificates/test_former_words.py",
        "docs/checkers.md",
        "tests/engine/test_cross_check.py",
    }


def test_a_new_hypothesis_and_a_prediction_without_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    wording, test, compared = missing.STATED_ONCE["convolutional-network"]
    (row, *_) = wording.about("singular")
    new = replace(row, key="new", observable="dimension")
    planted = replace(
        wording,
        statements=(*wording.statements, new),
        conditions=wording.conditions | {"linear": "r == 1"},
    )
    assert isinstance(planted, Wording)
    monkeypatch.setitem(missing.STATED_ONCE, "convolutional-network", (planted, test, compared))
    assert list(missing._of_the_table()) == [
        "m2bridge/families/convolutional_network/statements.py: 'dimension' in PREDICTED",
        "tests/unit/families/convolutional_network/test_convolutional_network.py: 'linear' in"
        " HYPOTHESES",
    ]


def test_a_new_method_of_ideals(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Ideal, "arithmetic_genus", lambda self: 0, raising=False)
    assert places("methods of ideals") == [
        "m2bridge/cli/ideals.py",
        "docs/ideals.md",
        "tests/engine/test_ideals.py",
    ]
    monkeypatch.undo()
    over_fields = dict(missing.program.WORDS_OF_QUESTIONS_OVER_FIELDS)
    del over_fields["ideal_radical"]
    monkeypatch.setattr(missing.program, "WORDS_OF_QUESTIONS_OVER_FIELDS", over_fields)
    assert places("methods of ideals") == ["m2bridge/ideals/program.py"]


def test_a_new_form_of_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(forms.FORMATS, "typst", str)
    monkeypatch.setitem(forms.LINKED, "typst", forms.LINKED["markdown"])
    assert list(missing.of_forms_of_reports()) == [
        "m2bridge/cli/show.py: 'typst' in REPORT_FORMATS",
        "m2bridge/cli/show.py: the ending of files of 'typst' in ENDINGS",
        "README.md: typst, in the line of 'm2bridge report'",
        "m2bridge/cli/show.py: 'typst' in LINKED_FORMATS",
        "tests/unit/reports/test_report.py: how 'typst' writes a link, in LINKS",
    ]
    monkeypatch.undo()
    monkeypatch.setitem(missing.show.ENDINGS, ".typ", "typst")
    monkeypatch.setattr(missing.show, "REPORT_FORMATS", (*missing.show.REPORT_FORMATS, "typst"))
    assert list(missing.of_forms_of_reports()) == [
        "m2bridge/cli/show.py: .typ in the help of --out",
        "m2bridge/reports/forms.py: 'typst' in FORMATS, or in LINKED",
    ]


def test_a_new_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    new = replace(LAYOUTS[0], whose="a library", names={"Q": "*q_new", "O": "*o_new"})
    monkeypatch.setattr(missing, "LAYOUTS", (*LAYOUTS, new))
    assert places("layouts of checkpoints") == [
        "tests/unit/trained_weights/checkpoints/test_layouts.py",
        "tests/unit/trained_weights/checkpoints/held_out",
    ]


def test_a_new_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class LibraryError(errors.M2BridgeError):
        exit_code = 9

    monkeypatch.setattr(errors, "LibraryError", LibraryError, raising=False)
    assert places("errors") == [
        "m2bridge/errors.py",
        "docs/guide/command-line.md",
        "m2bridge/__init__.pyi",
    ]
    monkeypatch.setattr(missing.m2bridge, "__all__", [*missing.m2bridge.__all__, "LibraryError"])
    assert places("errors") == [
        "m2bridge/errors.py",
        "docs/guide/command-line.md",
        "m2bridge/errors.py",
        "docs/reference/api.rst",
        "tests/unit/cli/test_likely_mistakes.py",
    ]


def test_a_new_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    text_of = missing.text_of
    monkeypatch.setattr(missing, "text_of", lambda place: text_of(place).replace("_M2", "_OLD"))
    assert places("variables of the environment") == [
        "docs/installation.md",
        "docs/stability.md",
        "tests/programs.py",
        "tests/fuzz/inputs.py",
    ]


def test_the_tests_of_a_module(capsys: pytest.CaptureFixture[str]) -> None:
    assert missing.main(["m2bridge/maps/locus.py"]) == 0
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("tests/unit/maps/")
    found = missing.tests_of("tests/missing.py")
    assert found == [str(Path(inspect.getfile(test_a_new_error)).relative_to(missing.ROOT))]
    assert missing.main(["m2bridge/nowhere.py"]) == 0
    assert capsys.readouterr().out == "no test imports m2bridge/nowhere.py\n"


def test_what_is_missing_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for lines, code in (([], 0), (["README.md: it"], 1)):
        monkeypatch.setattr(missing, "KINDS", {"all": lambda lines=lines: iter(lines)})
        assert missing.main([]) == code
        assert capsys.readouterr().out == f"{(lines or ['nothing is missing'])[0]}\n"
