"""Where Macaulay2 is looked for."""

from pathlib import Path

import pytest

from m2bridge.engine import candidates, locate
from m2bridge.errors import EngineNotFoundError, EngineVersionError


def program(folder: Path, version: str) -> Path:
    folder.mkdir()
    path = folder / "M2"
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr("m2bridge.engine.discovery._in_wheel", lambda: None)
    monkeypatch.delenv("M2BRIDGE_M2", raising=False)
    monkeypatch.setenv("PATH", "")
    return monkeypatch


def test_nowhere(nothing: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        EngineNotFoundError, match=r"pip install --no-deps passagemath-macaulay2.*apt-get install macaulay2"
    ):
        locate()


def test_order(nothing: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = {name: program(tmp_path / name, "1.26.06") for name in ("option", "variable", "wheel", "path")}
    nothing.setenv("PATH", str(found["path"].parent))
    assert locate().program == found["path"]
    nothing.setattr("m2bridge.engine.discovery._in_wheel", lambda: found["wheel"])
    assert locate().program == found["wheel"]
    nothing.setenv("M2BRIDGE_M2", str(found["variable"]))
    assert locate().program == found["variable"]
    assert locate(found["option"]).program == found["option"]
    assert [c.program for c in candidates(found["option"])] == list(found.values())


def test_a_named_program_is_never_replaced(nothing: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel = program(tmp_path / "wheel", "1.26.06")
    nothing.setattr("m2bridge.engine.discovery._in_wheel", lambda: wheel)
    with pytest.raises(EngineNotFoundError):
        locate(tmp_path / "missing")
    nothing.setenv("M2BRIDGE_M2", str(program(tmp_path / "old", "1.19.1")))
    with pytest.raises(EngineVersionError, match=r"needs 1\.21"):
        locate()


def test_a_probe_that_is_killed_is_made_again(nothing: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = program(tmp_path / "shot", "1.26.06")
    path.write_text(f"#!/bin/sh\n[ -e {tmp_path}/once ] || {{ : > {tmp_path}/once; kill -9 $$; }}\necho 1.26.06\n")
    assert locate(path).version == "1.26.06"


def test_an_unusable_program_that_nobody_named_is_passed_over(nothing: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = program(tmp_path / "broken", "hello")
    nothing.setattr("m2bridge.engine.discovery._in_wheel", lambda: broken)
    with pytest.raises(EngineVersionError, match="is not Macaulay2"):
        locate()
    good = program(tmp_path / "good", "1.22")
    nothing.setenv("PATH", str(good.parent))
    assert locate().program == good


def test_a_program_that_does_not_start_says_why(nothing: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = program(tmp_path / "crowded", "")
    path.write_text("#!/bin/sh\necho first >&2\necho 'cannot \033 open' >&2\nexit 1\n")
    with pytest.raises(EngineVersionError, match="printed '' and complained 'cannot   open'"):
        locate(path)
    nothing.setattr("m2bridge.engine.discovery.address_space", lambda: 300 * 2**20)
    with pytest.raises(EngineVersionError, match=r"within the 300M of address space allowed here \(ulimit -v\)"):
        locate(path)
