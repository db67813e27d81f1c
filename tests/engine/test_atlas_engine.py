"""An atlas from nothing: certified, written, and continued."""

from __future__ import annotations

from pathlib import Path

import pytest

from m2bridge.cli import commands
from m2bridge.crosscheck.verified import verify_path

pytestmark = pytest.mark.engine


def run(out: Path, m2: str, *arguments: str) -> int:
    words = ("atlas", str(out), "--d", "1..2", "--d-out", "1", "--check", "3.4,closure", "--workers", "1", "--m2", m2)
    return int(commands.cli.main([*words, *arguments], standalone_mode=False))


def test_an_atlas_from_nothing_and_once_more(tmp_path: Path, m2: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, m2) == 0
    folder = tmp_path / "certificates"
    made = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.json")}
    cases = ("d1-dout1-a1-t2", "d2-dout1-a1-t2", "d2-dout1-a2-t2")
    assert set(made) == {f"{case}-{question}.json" for case in cases for question in ("3.4", "closure")}
    assert all(verify_path(folder / name).accepted for name in made)
    assert [path.stem for path in sorted((tmp_path / "cases").iterdir())] == list(cases)
    assert "<td>(1 + T + T² + T³) / (1 − T)⁵" in (tmp_path / "cases" / f"{cases[2]}.html").read_text(encoding="utf-8")

    (folder / f"{cases[1]}-closure.json").unlink()  # as if killed before it
    (tmp_path / "index.html").unlink()
    capsys.readouterr()
    assert run(tmp_path, m2) == 0
    said = capsys.readouterr().out
    assert "done: 2, to do: 1" in said
    assert said.splitlines()[-1] == f"3 cases: {tmp_path / 'index.html'}"
    again = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.json")}
    assert {name for name in again if again[name] != made[name]} == {f"{cases[1]}-closure.json"}
    assert (tmp_path / "index.html").exists()
