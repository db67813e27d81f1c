"""Commands about cases of any family, and about maps in files; no engine is needed for
dimensions.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from m2bridge import CoefficientField, SingleLayerAttention
from m2bridge.algebra.field import QQ
from m2bridge.batch.store import tasks
from m2bridge.certification.make import StatedQuestion, questions
from m2bridge.cli import commands
from m2bridge.cli.decide import _chosen
from m2bridge.engine import Transcript
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError, MethodUnavailableError, TimeLimitError, TooLargeError
from m2bridge.families import registry
from m2bridge.families.registry import family
from m2bridge.maps.singular_locus import singular_locus
from m2bridge.results.sheet import name_with_part
from tests.conftest import Invoke
from tests.plug_in import HERE, install

PLUG_IN = (HERE / "rational_normal_curves.py").read_text(encoding="utf-8")

LAYERS = """
[[layers]]
inputs = ["x", "y"]
parameters = ["a", "b", "c", "d"]
outputs = { u = "(a*x + b*y)^2", v = "(c*x + d*y)^2" }

[[layers]]
inputs = ["u", "v"]
parameters = ["e", "f"]
outputs = { z = "e*u + f*v" }
"""


def run(*line: str) -> Result:
    return CliRunner().invoke(commands.cli, list(line))


@pytest.mark.parametrize(
    ("widths", "dimension", "status"),
    [
        ("2,2,1", 3, "proved"),
        ("2,2,2", 6, "proved"),
        ("2,3,1", 3, "proved"),
        ("6,6,6,6,6,6,6", 186, "proved"),
    ],
)
def test_dimensions_of_networks(widths: str, dimension: int, status: str) -> None:
    line = ("--family", "polynomial-network", "--widths", widths, "--degree", "2")
    found = json.loads(run("dimension", *line, "--json").output)
    assert (found["dimension"], found["status"]) == (dimension, status)
    assert found["case"] == {"widths": [int(width) for width in widths.split(",")], "degree": 2}


def test_the_default_family_by_its_name() -> None:
    plain = json.loads(run("dimension", "--d", "3", "--d-out", "2", "--a", "2", "--json").output)
    named = json.loads(
        run(
            "dimension", "--family", "attention", "--d", "3", "--d-out", "2", "--a", "2", "--json"
        ).output
    )
    assert plain | {"seconds": 0} == named | {"seconds": 0}


def test_a_composition_in_a_file(tmp_path: Path) -> None:
    """Binary quadratic forms as sums of two squares: all of them."""
    file = tmp_path / "layers.toml"
    file.write_text(LAYERS, encoding="utf-8")
    found = json.loads(run("dimension", "--map", str(file), "--json").output)
    assert (found["dimension"], found["status"], found["case"]) == (
        3,
        "proved",
        {"layers": found["case"]["layers"]},
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("dimension", "--family", "nope"), "there is no family 'nope'"),
        (("dimension", "--family", "polynomial-network"), "--widths"),
        (("dimension", "--family", "polynomial-network", "--d", "3"), "No such option"),
        (
            ("dimension", "--family", "polynomial-network", "--widths", "two"),
            "not a list of integers",
        ),
        (("dimension", "--d", "3"), "--d-out"),
    ],
)
def test_wrong_cases_get_one_line(
    line: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["m2bridge", *line])
    assert commands.run() == 2
    (complaint,) = capsys.readouterr().err.splitlines()
    assert complaint.startswith("Error: ")
    assert said in complaint


class Late:
    """An engine that reaches its limit whatever it is asked."""

    version = "late"

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        raise TimeLimitError("late")


DEEP = {"widths": "2,2,2", "a": "1,1"}
SOFTMAX = {"widths": "2,2", "a": "1", "normalization": "softmax"}
CASES = {
    "several layers": ("deep-attention", DEEP, QQ),
    "softmax": ("deep-attention", SOFTMAX, QQ),
    "one token": ("attention", {"d": "2", "d_out": "1", "t": "1"}, QQ),
    "not birational": ("attention", {"d": "2", "d_out": "1", "a": "1"}, QQ),
    "positive characteristic": ("attention", {"d": "2", "d_out": "1"}, CoefficientField(7)),
    "too large": ("attention", {"d": "99", "d_out": "99"}, CoefficientField(7)),
    "usual": ("attention", {"d": "2", "d_out": "2"}, QQ),
    "network": ("polynomial-network", {"widths": "2,2,1"}, QQ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", ["auto", "fibres", "orbits", "jacobian", "all"])
def test_advice_leads_to_a_method_that_applies(
    case: str, method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is advised, in a refusal or at a limit, is no circle; where no method applies none
    is advised.
    """
    monkeypatch.setattr("m2bridge.maps.singular_locus.MAX_LINEAR_ALGEBRA_SECONDS", 0.01)
    name, options, field = CASES[case]
    model = family(name).from_options(options)
    said, tried, refused = "", set(), False
    while method and method not in tried:
        tried.add(method)
        try:
            said, refused = (
                singular_locus(model, engine=Late(), field=field, method=method).unfinished,
                False,
            )
        except (MethodUnavailableError, InvalidCaseError, TooLargeError) as reason:
            said, refused = str(reason), True
        advised = re.search(r"--method (\w+)", said)
        method = advised and advised[1]
    assert method is None, said
    assert refused == (case in ("softmax", "too large")), said


NO_STATEMENTS = PLUG_IN.replace(
    "        return STATEMENTS\n\n    def effort", "        return ()\n\n    def effort"
)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("cross-check",), "there are no statements about rational normal curves"),
        (("cross-check", "3.4"), "there are no statements about rational normal curves"),
        (
            ("certify", "--out", "results"),
            "there are no questions about rational normal curves to be certified",
        ),
        (
            ("certify", "--out", "results", "--check", "3.4"),
            "there are no questions about rational normal curves",
        ),
    ],
)
def test_a_family_without_statements_is_said_to_have_none(
    line: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    install(tmp_path)
    (tmp_path / "rational_normal_curves.py").write_text(NO_STATEMENTS, encoding="utf-8")
    questions.cache_clear()
    registry._load.cache_clear()
    monkeypatch.delitem(sys.modules, "rational_normal_curves", raising=False)
    monkeypatch.setattr(
        "sys.argv", ["m2bridge", *line, "--family", "rational-normal-curve", "--n", "3"]
    )
    assert commands.run() == 2
    (complaint,) = capsys.readouterr().err.splitlines()
    assert complaint.startswith(f"Error: Invalid value for '--family': {said}")
    questions.cache_clear()
    registry._load.cache_clear()
    monkeypatch.delitem(sys.modules, "rational_normal_curves", raising=False)


def test_questions_that_are_asked_of_no_case_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ("--family", "deep-attention", "--widths", "2,2", "--a", "1", "--check", "all")
    monkeypatch.setattr(StatedQuestion, "usual", lambda question, model: False)
    monkeypatch.setattr("sys.argv", ["m2bridge", "certify", *line, "--out", str(tmp_path / "out")])
    assert commands.run() == 2
    assert (
        capsys.readouterr().err
        == "Error: Invalid value for '--check': 'all' contains no question about these cases.\n"
    )


@pytest.mark.parametrize("name", registry.OWN_FAMILIES)
def test_statements_go_by_the_names_that_reports_print(name: str) -> None:
    stated = family(name).statements()
    for question in questions(name).values():
        for printed in question.names():
            assert tasks([family(name).sample_case()], printed)[0].questions == (question.key,)
            if question.key in {statement.key for statement in stated}:
                chosen = _chosen(printed, name)
                assert set(chosen) <= set(_chosen(question.key, name))
                assert printed in {
                    name_with_part(statement.key, statement.part) for statement in chosen
                }
                assert len(chosen) == 1 or printed == question.key


def test_keys_name_cases() -> None:
    shape = SingleLayerAttention(3, 2, 2, 4)
    again = family("attention").from_key(shape.key)
    assert (again.key, again.to_json()) == (shape.key, shape.to_json())
    assert family("attention").from_json(shape.to_json()).key == shape.key


def test_a_file_by_itself_and_some_of_its_outputs(tmp_path: Path) -> None:
    file = "examples/whitney_umbrella.toml"
    whole = json.loads(run("dimension", file, "--json").output)
    assert whole | {"seconds": 0} == json.loads(
        run("dimension", "--map", file, "--json").output
    ) | {"seconds": 0}
    some = json.loads(run("dimension", file, "--restrict-to", "z", "--json").output)
    assert (whole["dimension"], some["dimension"]) == (2, 1)
    layers = tmp_path / "layers.toml"
    layers.write_text(
        LAYERS.replace('outputs = { z = "e*u + f*v" }', 'outputs = { z = "e*u + f*v", w = "e*u" }')
    )
    two, one = (
        json.loads(run("dimension", str(layers), *more, "--json").output)
        for more in ((), ("--outputs", "w"))
    )
    assert (two["dimension"], one["dimension"]) == (4, 2)  # w is a square times a number
    for line, said in {
        ("dimension", file, "--restrict-to", "q"): "there is no output 'q'",
        ("dimension", file, "--outputs", "x,x"): "each of them once",
        (
            "dimension",
            "--d",
            "2",
            "--d-out",
            "1",
            "--outputs",
            "x",
        ): "--restrict-to needs a map in a file",
        ("dimension", file, "--d", "2"): "exclude each other",
        (
            "dimension",
            file,
            "--family",
            "polynomial-network",
            "--widths",
            "2,1",
        ): "exclude each other",
    }.items():
        found = run(*line)
        assert found.exit_code != 0
        assert said in str(found.exception) + found.output


@pytest.mark.slow
def test_a_family_of_somebody_else_from_beginning_to_end(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package with entry points: dimension, cross-check, certify, verify and report, in processes
    of their own.
    """
    site, results = tmp_path / "site", tmp_path / "results"
    site.mkdir()
    install(site)
    monkeypatch.setenv("PYTHONPATH", str(site))

    def m2bridge(*line: str, code: int = 0) -> str:
        done = subprocess.run([command, *line], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout or done.stderr

    own = ("--family", "rational-normal-curve")
    assert json.loads(m2bridge("dimension", *own, "--n", "3", "--json"))["dimension"] == 2
    assert "computed 2, stated 3" in m2bridge("cross-check", *own, "--n", "3", code=1)
    assert m2bridge("cross-check", *own, "--n", "2").count("CONFIRMED") == 3
    m2bridge("certify", *own, "--n", "1..3", "--out", str(results), "--workers", "2", code=1)
    assert sorted(path.name for path in results.glob("*.json")) == [
        f"rational-normal-curve-n{n}-dimension.json" for n in (1, 2, 3)
    ]
    assert json.loads(m2bridge("verify", str(results), "--json"))["counts"] == {"accepted": 3}
    rows = json.loads(m2bridge("report", str(results), "--format", "json"))["rows"]
    assert [(row["case"], row["verdict"]) for row in rows][:2] == [
        ({"n": 1}, "REFUTED"),
        ({"n": 3}, "REFUTED"),
    ]
    monkeypatch.delenv("PYTHONPATH")
    found = json.loads(m2bridge("verify", str(results), "--json", code=5))["certificates"]
    assert all(
        "install the package that provides it" in certificate["found"] for certificate in found
    )
    assert "there is no family 'rational-normal-curve'" in m2bridge("report", str(results), code=2)


def test_networks_from_beginning_to_end(invoke: Invoke, tmp_path: Path) -> None:
    line = ("--family", "polynomial-network", "--widths", "2..3,2,1", "--degree", "2..3")

    def m2bridge(*line: str, code: int = 0) -> str:
        done = invoke(*line)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    summary = json.loads(m2bridge("certify", *line, "--out", str(tmp_path), "--json", code=1))
    assert summary["cases"] == 4
    assert summary["answers"]["REFUTED"] == 1  # (3, 2, 1), r = 2
    assert json.loads(m2bridge("verify", str(tmp_path), "--json"))["counts"] == {"accepted": 4}
    assert "3,2,1" in m2bridge("report", str(tmp_path))
    again = m2bridge("certify", *line, "--out", str(tmp_path), "--json", code=1)
    assert json.loads(again)["done_before"] == 4
    said = m2bridge(
        "cross-check", "expected-dimension", *line[:2], "--widths", "6,6,6,6", "--degree", "2"
    )
    assert said.count("CONFIRMED") == 3  # the answer first, then each verdict
