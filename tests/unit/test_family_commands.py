"""Commands about cases of any family, and about maps in files; no engine is needed for dimensions."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from m2bridge import SingleLayerAttention
from m2bridge.cli import commands
from m2bridge.families import family

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
    [("2,2,1", 3, "proved"), ("2,2,2", 6, "proved"), ("2,3,1", 3, "proved"), ("6,6,6,6,6,6,6", 186, "proved")],
)
def test_dimensions_of_networks(widths: str, dimension: int, status: str) -> None:
    line = ("--family", "polynomial-network", "--widths", widths, "--degree", "2")
    found = json.loads(run("dimension", *line, "--json").output)
    assert (found["dimension"], found["status"]) == (dimension, status)
    assert found["case"] == {"widths": [int(width) for width in widths.split(",")], "degree": 2}


def test_the_default_family_by_its_name() -> None:
    plain = json.loads(run("dimension", "--d", "3", "--d-out", "2", "--a", "2", "--json").output)
    named = json.loads(
        run("dimension", "--family", "attention", "--d", "3", "--d-out", "2", "--a", "2", "--json").output
    )
    assert plain | {"seconds": 0} == named | {"seconds": 0}


def test_a_composition_in_a_file(tmp_path: Path) -> None:
    """Binary quadratic forms as sums of two squares: all of them."""
    file = tmp_path / "layers.toml"
    file.write_text(LAYERS, encoding="utf-8")
    found = json.loads(run("dimension", "--map", str(file), "--json").output)
    assert (found["dimension"], found["status"], found["case"]) == (3, "proved", {"layers": found["case"]["layers"]})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("dimension", "--family", "nope"), "there is no family 'nope'"),
        (("dimension", "--family", "polynomial-network"), "--widths"),
        (("dimension", "--family", "polynomial-network", "--d", "3"), "No such option"),
        (("dimension", "--family", "polynomial-network", "--widths", "two"), "not a list of integers"),
        (("dimension", "--d", "3"), "--d-out"),
    ],
)
def test_wrong_cases_get_one_line(
    line: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["m2bridge", *line])
    assert commands.run() == 2
    (complaint,) = capsys.readouterr().err.splitlines()
    assert complaint.startswith("Error: ")
    assert said in complaint


def test_keys_name_cases() -> None:
    shape = SingleLayerAttention(3, 2, 2, 4)
    again = family("attention").from_key(shape.key)
    assert (again.key, again.to_json()) == (shape.key, shape.to_json())
    assert family("attention").from_json(shape.to_json()).key == shape.key
