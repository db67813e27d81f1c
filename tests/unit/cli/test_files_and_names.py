"""Which files a pattern means, and names of files in what commands print."""

import glob
import io
import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from m2bridge.batch.items import Job
from m2bridge.batch.plan import Lines, Live, Plan
from m2bridge.batch.store import TaskResult
from m2bridge.cli import commands, macaulay2
from m2bridge.cli.macaulay2 import matching_paths
from m2bridge.errors import TimeLimitError
from m2bridge.limits import limited

PATTERNS = (
    "**/*.m2",
    "**",
    "**/",
    "*/**/*.m2",
    "a/**/*.m2",
    "./**/z.m2",
    "*.m2",
    "a/**/b/**/*.m2",
    "**/b/*.m2",
    "**/**/z.m2",
    "a/**",
    "a**/*.m2",
    "a/../**/*.m2",
    "nothing/**/x",
    "a/[[]q].m2",
)

NAME = "\x1b]0;owned\x07 two\nlines"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files in folders, with one that is hidden and one whose name is a pattern."""
    for name in ("x.m2", "a/y.m2", "a/b/z.m2", ".hidden/w.m2", "a/[q].m2", "a/[d]/v.m2"):
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path / "tree")
    return tmp_path / "tree"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_mean_what_they_mean_in_python(pattern: str, tree: Path) -> None:
    for one in (pattern, str(tree / pattern)):
        found = {path for path in matching_paths(one) if os.path.isfile(path)}
        assert found == {path for path in glob.glob(one, recursive=True) if os.path.isfile(path)}


def test_links_to_folders_are_not_followed(tree: Path) -> None:
    """Two links to their own folder lead to 2^n paths of n links."""
    before = set(matching_paths("**/*.m2"))
    for name in ("one", "two"):
        (tree / "a" / name).symlink_to(".")
    (tree / "up").symlink_to("a")
    (tree / "link.m2").symlink_to("x.m2")  # a link to a file is a file
    assert sorted(matching_paths("**/*.m2")) == sorted({*before, "link.m2"})


def test_the_limit_holds_while_files_are_looked_for(tree: Path) -> None:
    with limited(1e-9), pytest.raises(TimeLimitError):
        list(matching_paths("**/*.nothing"))


def test_a_search_ends_at_the_limit_of_the_command(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "code.m2").write_text("1")
    monkeypatch.setattr(
        "sys.argv",
        ["m2bridge", "run", "code.m2", "--each", "**/*.toml", "--out", "out", "--timeout", "1e-9"],
    )
    assert commands.run() == 3
    assert "limit" in capsys.readouterr().err
    assert not (tree / "out").exists()


def controls(text: str) -> set[str]:
    return set(text) & {"\x1b", "\x07"}


def test_names_of_items_are_escaped() -> None:
    report = TaskResult(
        task=SimpleNamespace(name=NAME, effort=1), counts=Counter(), seconds=1.0, reason="lost"
    )
    stream = io.StringIO()
    Lines(stream).finished(report)
    printed = stream.getvalue()
    assert printed.count("\n") == 1
    assert not controls(printed)
    assert r"\x1b]0;owned\x07 two\nlines" in printed


def test_names_of_items_are_escaped_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    task = Job(number=0, name=f"[red]{NAME}", item=b"", digest="")
    display = Live()
    with display.of(Plan((task,), (task,), Counter())):
        display.started(task)
        (running,) = [
            text.plain
            for column in display._table().columns
            for text in column.cells
            if "owned" in getattr(text, "plain", "")
        ]
    assert running.startswith(r"[red]\x1b]0;owned\x07 two\nlines")
    capsys.readouterr()


@pytest.mark.parametrize(
    "words",
    [
        ("report", "FOLDER", "--out", f"{NAME}.md"),
        ("report", "FOLDER", "--out", f"{NAME}/no.md"),
        ("atlas", "--from", "FOLDER", NAME),
        ("figure", "3", "--out", f"{NAME}.svg"),
    ],
    ids=["report", "not written", "atlas", "figure"],
)
def test_names_of_what_is_written_are_escaped(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    samples = Path(__file__).parents[2] / "certificates" / "deep"
    monkeypatch.chdir(tmp_path)
    if words[-1].endswith("no.md"):
        Path(NAME).touch()  # no folder
    monkeypatch.setattr(
        "sys.argv", ["m2bridge", *(word.replace("FOLDER", str(samples)) for word in words)]
    )
    commands.run()
    printed = "".join(capsys.readouterr())
    assert r"\x1b]0;owned\x07 two\nlines" in printed
    assert not controls(printed)


def test_the_place_of_an_error_in_code_is_escaped() -> None:
    from m2bridge.errors import ScriptError

    error = ScriptError("", error="division by zero", file=NAME, line=1, column=2, excerpt="1/0")
    macaulay2._begin_with_place(error, "code.m2")
    assert not controls(error.message)
    assert error.message.startswith(r"\x1b]0;owned\x07 two\nlines:1:2: division by zero")
