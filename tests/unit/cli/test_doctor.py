"""What `m2bridge doctor` says of programs that are found, without Macaulay2."""

import json
import re
from importlib import metadata
from pathlib import Path

import pytest

from m2bridge._version import __version__
from m2bridge.cli import commands
from tests.events import PATIENCE
from tests.programs import hide_programs, program

PAGE = Path(__file__).parents[3] / "docs" / "installation.md"


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Nothing is found, but for what a test adds."""
    hide_programs(monkeypatch)
    return monkeypatch


def test_doctor_asks_each_program_once(
    only: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that hangs has the seconds of --timeout, and a table that fits 80 columns says what was
    found.
    """
    only.setenv("PATH", "/usr/bin:/bin")
    path = program(tmp_path / "hangs", "")
    path.write_text(f"#!/bin/sh\necho asked >>{tmp_path}/log\nexec sleep {PATIENCE}\n")
    only.setattr("sys.argv", ["m2bridge", "doctor", "--m2", str(path), "--timeout", "0.5"])
    assert commands.run() == 4
    out, err = capsys.readouterr()
    assert (tmp_path / "log").read_text() == "asked\n"
    assert "did not finish within the limit of 0.5 seconds; raise --timeout" in " ".join(
        err.split()
    )
    assert all(len(line) <= 80 for line in out.splitlines() if "/" not in line)


def test_doctor_says_what_each_list_is(
    only: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The paths of programs, and why some are not taken, stand under headings of their own."""
    broken = program(tmp_path / "broken", "hello")
    only.setattr("m2bridge.engine.discovery.in_wheel", lambda *_: broken)
    good = program(tmp_path / "good", "1.22")
    only.setenv("PATH", str(good.parent))
    only.setattr("sys.argv", ["m2bridge", "doctor"])
    assert commands.run() == 0
    blocks = capsys.readouterr().out.split("\n\n")
    (paths,) = [block for block in blocks if block.splitlines()[1].endswith(str(broken))]
    assert paths.splitlines()[0] == "  Where they are"
    (refused,) = [block for block in blocks if "is not Macaulay2" in block]
    assert refused.splitlines()[0] == "  Why others are not taken"


def test_doctor_prints_json(
    only: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The fields are those that docs/installation.md lists, and stay in all releases 1.x."""
    broken = program(tmp_path / "broken", "hello")
    only.setattr("m2bridge.engine.discovery.in_wheel", lambda *_: broken)
    good = program(tmp_path / "good", "1.22")
    only.setenv("PATH", str(good.parent))
    assert commands.cli.main(["doctor", "--json"], standalone_mode=False) == 0
    found = json.loads(capsys.readouterr().out)
    page = Path(__file__).parents[3] / "docs" / "installation.md"
    table = (
        page.read_text(encoding="utf-8")
        .partition("## The JSON of `doctor`")[2]
        .partition("\n## ")[0]
    )
    documented = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    first = list(found["macaulay2"][0])
    assert documented == [*found, *first]
    assert (found["m2bridge"], found["error"], found["msolve"]) == (__version__, None, [])
    assert found["packages"]["sympy"] == metadata.version("sympy")
    refused, taken = found["macaulay2"]
    assert (refused["origin"], refused["program"]) == ("wheel passagemath-macaulay2", str(broken))
    assert (refused["version"], refused["taken"]) == (None, False)
    assert "is not Macaulay2" in refused["reason"]
    assert taken == {
        "origin": "PATH",
        "program": str(good),
        "version": "1.22",
        "taken": True,
        "reason": "",
    }


def test_doctor_without_macaulay2_says_why_in_json(
    only: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["doctor", "--json", "--m2", "/no/such/file"]
    assert commands.cli.main(arguments, standalone_mode=False) == 4
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert not any(one["taken"] for one in found["macaulay2"])
    assert "/no/such/file" in found["error"]
    assert found["error"] in err
