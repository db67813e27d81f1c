"""What names this release agrees, and where it does not, it is named."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from m2bridge import citation, cli
from m2bridge._version import __version__
from m2bridge.engine.discovery import TESTED_WHEEL
from tests.certificates import COMPLETE
from tests.release import (
    PINNING,
    ROOT,
    installed_here,
    of_the_checker,
    of_the_environment,
    problems,
)

TAG = f"v{__version__}"
SERIES = ".".join(__version__.split(".")[:2])
POLAR = "polar-degrees.json"


DATE = f"{citation.YEAR}-11-24"
HEADING = f"## {__version__} "


def test_all_agrees() -> None:
    """A tag is not demanded: after a release, the next one is written under ``(unreleased)``.

    What is installed is compared where the tested versions are: ``.ci/run`` does so.
    """
    assert problems() == []


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout of this version as it will be released, whose files can be replaced."""
    for path in ROOT.iterdir():
        if path.is_file():
            (tmp_path / path.name).symlink_to(path)
    for folder in ("docs", "examples", ".ci", ".github", *FOLDERS):
        shutil.copytree(ROOT / folder, tmp_path / folder, copy_function=os.symlink)
    (tmp_path / "m2bridge").symlink_to(ROOT / "m2bridge")
    rewrite(tmp_path / "CHANGELOG.md", rf"^{HEADING}\(.*\)$", f"{HEADING}({DATE})")
    rewrite(tmp_path / "CITATION.cff", r"^date-released:.*\n", "")
    dated = f'version: {__version__}\ndate-released: "{DATE}"'
    rewrite(tmp_path / "CITATION.cff", f"^version: {__version__}$", dated)
    kept = tmp_path / "tests" / "certificates" / SERIES
    if not kept.exists():
        kept.mkdir()
        for path in samples():
            (kept / path.name).symlink_to(path)
    return tmp_path


FOLDERS = [
    f"tests/certificates/{path.name}"
    for path in (ROOT / "tests" / "certificates").iterdir()
    if path.name in COMPLETE or re.fullmatch(r"\d+\.\d+", path.name)
]


def samples() -> Iterator[Path]:
    """The certificates of which the folder of a release is made."""
    for name in COMPLETE:
        yield from (ROOT / "tests" / "certificates" / name).glob("*.json")


def rewrite(path: Path, pattern: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    path.unlink()
    path.write_text(re.sub(pattern, new, text, flags=re.MULTILINE), encoding="utf-8")


def test_a_checkout_that_is_released_agrees(root: Path) -> None:
    assert problems(root, TAG) == []


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.unlink()
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("CHANGELOG.md", f"## {__version__} ", "## 9.9.9 ", "CHANGELOG.md does not begin"),
        ("CHANGELOG.md", f"{HEADING}({DATE})", f"{HEADING}(unreleased)", "has no date of"),
        ("CHANGELOG.md", f"{HEADING}({DATE})", f"{HEADING}(2026-11-25)", "on 2026-11-25"),
        ("CITATION.cff", f"\nversion: {__version__}", "\nversion: 9.9.9", "CITATION.cff is of"),
        ("CITATION.cff", f"m2bridge {__version__}:", "m2bridge 0.9:", "has the title 'm2bridge 0."),
        ("CITATION.cff", "\ndate-released:", "\nabstract:", "has no date-released"),
        ("CITATION.cff", DATE, "2026-11-23", "was released on 2026-11-23"),
        ("CITATION.cff", "license: MIT", "repository-code: a", "another address"),
        ("constraints.txt", "click==", "clack==", "no version of click"),
        ("constraints.txt", "click==8", "click==7", "has click 7"),
        ("constraints.txt", "CPython 3.11", "CPython 3.10", "of no Python"),
        ("constraints.txt", TESTED_WHEEL, f"{TESTED_WHEEL[:-2]}10", "not the pin"),
        ("README.md", TESTED_WHEEL, TESTED_WHEEL.replace("10.8.11", "10.8.12"), "not the pin"),
        ("docs/trust.md", "# ", f"`{TESTED_WHEEL}.1` # ", "docs/trust.md has not the pin"),
        ("README.md", "--no-deps 'pass", "'pass", "otherwise than by --no-deps"),
        ("pyproject.toml", "<=10.8.11", "<=10.8.12", "does not end with 10.8.11"),
        ("pyproject.toml", ":: Linux", ":: Linux :: X", "and not Operating System"),
        ("pyproject.toml", "4 - Beta", "5 - Production/Stable", "and not Development Status"),
        ("pyproject.toml", '"rich>=13"', '"rich>=99"', "pyproject.toml demands rich>=99"),
        ("pyproject.toml", 'python = ">=3.11"', 'python = ">=3.12"', "does not say 'requires-"),
        (".github/workflows/ci.yml", '["3.12", "3.13"]', '["3.12"]', "the workflow runs 3.11, 3.1"),
        ("docs/installation.md", "3.12 and 3.13", "3.12", "docs/installation.md does not say"),
        ("docs/stability.md", "3.11 to 3.13", "3.11 to 3.14", "docs/stability.md does not say"),
        ("docs/stability.md", "`m2bridge mcp`", "`m2bridge mpc`", "names the command 'mpc'"),
        ("docs/stability.md", "`--json`", "`--jason`", "names the option --jason"),
        (
            "docs/stability.md",
            "(guide/command-line.md#exit-codes)",
            "(codes.md)",
            "leads to codes.md",
        ),
        ("docs/stability.md", "`m2bridge.checkers`", "`m2bridge.check`", "entry-point groups"),
        ("docs/guide/command-line.md", "| 4 |", "| 7 |", "command-line.md has [0, 1, 2, 3, 7"),
        ("SECURITY.md", "--allow-code", "--allow-all", "names the option --allow-all"),
        ("SECURITY.md", "`m2bridge/citation.py`", "`m2bridge/site.py`", "m2bridge/site.py"),
    ],
)
def test_what_differs_is_named(root: Path, file: str, old: str, new: str, problem: str) -> None:
    replace(root / file, old, new)
    found = problems(root, TAG)
    assert any(problem in line for line in found), found


def test_codes_of_signals_are_those_of_shells() -> None:
    assert cli.INTERRUPTED == 128 + signal.SIGINT
    assert cli.BROKEN_PIPE == 128 + signal.SIGPIPE


def test_another_tag_is_refused(root: Path) -> None:
    assert problems(root, tag="v9.9.9") == [f"the tag v9.9.9 is not {TAG}"]


@pytest.mark.parametrize("file", PINNING)
def test_each_text_that_installs_the_wheel_is_read(root: Path, file: str) -> None:
    replace(root / file, TESTED_WHEEL, "a wheel")
    assert f"{file} has not the pin {TESTED_WHEEL}" in problems(root)


def test_what_is_not_released_may_stand_under_a_heading_without_a_version(root: Path) -> None:
    """While a release is written; a tag demands a version."""
    replace(root / "CHANGELOG.md", HEADING, f"## Not released\n\n* Something.\n\n{HEADING}")
    assert problems(root) == []
    assert problems(root, TAG) == [
        "CHANGELOG.md begins with 'Not released', and not with a version"
    ]


def test_without_a_tag_no_date_and_no_samples_are_demanded(root: Path) -> None:
    """While a release is written."""
    replace(root / "CHANGELOG.md", f"{HEADING}({DATE})", f"{HEADING}(unreleased)")
    shutil.rmtree(root / "tests" / "certificates" / SERIES)
    assert problems(root) == []
    assert problems(root, TAG) == [
        f"CHANGELOG.md has no date of {__version__}",
        f"tests/certificates has no folder {SERIES}",
    ]


def test_samples_are_of_their_release_and_of_all_kinds(root: Path) -> None:
    folder = root / "tests" / "certificates"
    made = f'"m2bridge": "{__version__}"'
    replace(folder / SERIES / "d2-dout1-a1-t2-3.2.json", made, '"m2bridge": "0.9.0"')
    later = next((folder / "accepted").glob("*-3.4.json"))
    replace(later, made, '"m2bridge": "9.0.0"')
    (kinds := [*(folder / SERIES).glob(f"*{POLAR}")])[0].unlink()
    kinds[-1].unlink()
    assert problems(root, TAG) == [
        f"tests/certificates/accepted/{later.name} is of the later release 9.0.0",
        f"tests/certificates/{SERIES}/d2-dout1-a1-t2-3.2.json was made by 0.9.0",
        f"tests/certificates/{SERIES} has no certificate of attention on polar-degrees",
    ]


def test_samples_are_verified(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "certificates" / SERIES
    folder.mkdir(parents=True)
    for name in ("d2-dout1-a1-t2-3.2.json", "d2-dout1-a1-t2-degree.json"):
        shutil.copy(ROOT / "tests" / "certificates" / "accepted" / name, folder)
    assert [*of_the_checker(tmp_path)] == []
    certificate = json.loads((folder / name).read_text(encoding="utf-8"))
    certificate["answer"]["degree"] = 5
    (folder / name).write_text(json.dumps(certificate), encoding="utf-8")
    (problem,) = of_the_checker(tmp_path)
    assert f"{name}: " in problem
    assert "accepted" not in problem


@pytest.mark.slow
def test_what_is_installed_is_what_was_tested() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()[1:]
    tested = dict(line.lower().replace("_", "-").split("==") for line in lines)
    tested |= {"m2bridge": "0", "pip": "1"}
    assert [*of_the_environment(tested)] == []
    (other,) = of_the_environment(tested | {"sympy": "1.15"})
    assert other.startswith("sympy 1.15 is installed, 1.")
    (more,) = of_the_environment(tested | {"numba": "1"})
    assert more == "numba 1 is installed, and not in constraints.txt"
    del tested["mcp"]
    (missing,) = of_the_environment(tested)
    assert missing.startswith("mcp is not installed")
    assert installed_here()["sympy"]
