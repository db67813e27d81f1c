"""Programs that stand for Macaulay2 where it is sought, and a machine on which nothing is found."""

from pathlib import Path

import pytest


def program(folder: Path, version: str) -> Path:
    """Write a program that prints this version, whatever it is asked; return its path."""
    folder.mkdir()
    path = folder / "M2"
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return path


def hide_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be found, neither Macaulay2 nor msolve, but for what a test adds."""
    monkeypatch.setattr("m2bridge.engine.discovery.in_wheel", lambda *_: None)
    monkeypatch.setattr("m2bridge.engine.msolve.in_wheel", lambda *_: None)
    monkeypatch.delenv("M2BRIDGE_M2", raising=False)
    monkeypatch.setenv("PATH", "")
