"""The optional program msolve: where it is found, and what is said of one that cannot be used."""

from pathlib import Path

import pytest

from m2bridge.engine import msolve
from m2bridge.errors import ParseError, TimeLimitError


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


# Answers of msolve 0.10.1 to y² = 1, x² = y + 2, which changes the order of variables (with wider
# boxes here); to x² = 2x − 1, y² = 4, which adds a variable; and to two that have none, or a curve.
CHANGED_ORDER = """[0, [0,
2,
4,
['y', 'x'],
[0, 1],
[1,
[[4, [3, 0, -4, 0, 1]],
[3, [0, -8, 0, 4]],
[
[[3, [0, -4, 0, 0]],
1]
]]]],[1,
[[[7 / 2^3, 9 / 2^3], [-28 / 2^4, -13 / 2^3]], [[-1, -1], [-1, -1]]]
]]:
"""
ADDED = """[0, [0,
3,
4,
['x', 'y', 'A'],
[1,1,1],
[1,
[[2, [-3, 2, 1]],
[1, [2, 2]],
[
[[1, [-2, -2]],
1],
[[1, [8, 0]],
1]
]]]],[1,
[[[1, 1], [2, 2]], [[1, 1], [-2, -2]]]
]]:
"""


def asked(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> msolve.Solutions | None:
    """The solutions in an answer of a program that writes it."""
    (folder / "answer").write_text(answer, encoding="ascii")
    program = planted(folder, monkeypatch, f'cp {folder}/answer "$4"')
    return msolve.solutions(program, ("x", "y"), ("x", "y"), 30)


def test_solutions_in_the_order_of_the_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = asked(tmp_path, monkeypatch, CHANGED_ORDER)
    assert found is not None
    assert (found.number, found.distinct) == (4, 4)
    assert found.boxes == (((-1.75, -1.625), (0.875, 1.125)), ((-1, -1), (-1, -1)))


def test_solutions_with_multiplicity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = asked(tmp_path, monkeypatch, ADDED)
    assert found is not None
    assert (found.number, found.distinct) == (4, 2)
    assert found.boxes == (((1, 1), (2, 2)), ((1, 1), (-2, -2)))


def test_no_solution_and_infinitely_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(tmp_path, monkeypatch, "[-1]:\n") == msolve.Solutions(0, 0, ())
    assert asked(tmp_path, monkeypatch, "[1, 2, -1, []]:\n") is None


@pytest.mark.parametrize("answer", ["", "killed", CHANGED_ORDER[:-5], ADDED.replace(", 1]", "]")])
def test_other_answers_are_refused(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ParseError):
        asked(tmp_path, monkeypatch, answer)


def test_a_program_that_takes_too_long(tmp_path: Path) -> None:
    script = tmp_path / "msolve"
    script.write_text("#!/bin/sh\nexec sleep 60\n", encoding="ascii")
    script.chmod(0o755)
    program = msolve.Msolve("PATH", script, "0.10.1", "")
    with pytest.raises(TimeLimitError, match="did not end in 0 s"):
        msolve.solutions(program, ("x",), ("x",), 0.1)
