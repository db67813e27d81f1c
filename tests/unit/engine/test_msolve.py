"""The optional program msolve: where it is found, and what is said of one that cannot be used."""

from pathlib import Path

import pytest

from m2bridge.engine import msolve


def planted(folder: Path, monkeypatch: pytest.MonkeyPatch, lines: str) -> msolve.Msolve:
    """What is said of a program on PATH that is this shell script."""
    program = folder / "msolve"
    program.write_text(f"#!/bin/sh\n{lines}\n", encoding="ascii")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    (found,) = (one for one in msolve.candidates() if one.origin == "PATH")
    assert found.program == program
    return found


def test_a_program_for_another_processor_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = planted(tmp_path, monkeypatch, "kill -ILL $$")
    assert "SIGILL" in found.refusal
    assert "ADX" in found.refusal
    assert found.version == ""


def test_a_program_that_solves_nothing_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert planted(tmp_path, monkeypatch, "echo 0.10.1").refusal == "did not solve a small system"
    monkeypatch.setattr(msolve, "in_wheel", lambda *_: None)
    assert msolve.usable() is None


def test_a_program_that_solves_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = '[ "$1" = -V ] && echo 0.9.9 && exit\necho "[0, [1, []]]:" > "$4"'
    found = planted(tmp_path, monkeypatch, lines)
    assert (found.version, found.refusal) == ("0.9.9", "")


def test_old_versions_of_macaulay2_have_no_package() -> None:
    assert not msolve.has_package("1.21")
    assert msolve.has_package("1.26.06")
    assert msolve.has_package("1.26-rc1")
    assert not msolve.has_package("1.24-rc1")
    assert not msolve.has_package("unknown")  # an engine of others
