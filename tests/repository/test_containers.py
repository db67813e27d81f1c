"""The Dockerfile and the workflow for other repositories, as far as they are tested without Docker.

What they install is what README's line installs, and each command of m2bridge is one that the
program has, with its options.
"""

import json
import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest
import yaml

from m2bridge.cli.commands import cli

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "examples" / "Dockerfile"
WORKFLOW = ROOT / "examples" / "github-actions.yml"

PROGRAMS = {"python3", ".venv/bin/pip", ".venv/bin/m2bridge"}
"""What README's line starts."""


def readme_line() -> str:
    """The line under "Install" that installs m2bridge and Macaulay2."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first, _second = re.findall(r"^```sh\n(.*)\n```$", text, re.MULTILINE)
    return first


def split(line: str) -> list[list[str]]:
    """The commands of a line, which are joined by ``&&``."""
    return [shlex.split(command) for command in line.split(" && ")]


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their arguments; lines that go on are joined."""
    text = DOCKERFILE.read_text(encoding="utf-8")
    without_comments = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    lines = without_comments.replace("\\\n", " ").splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line)]


def arguments(name: str) -> list[str]:
    return [rest for instruction, rest in instructions() if instruction == name]


def steps() -> list[dict[str, object]]:
    (job,) = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"].values()
    found: list[dict[str, object]] = job["steps"]
    return found


def runs() -> list[str]:
    return [str(step["run"]) for step in steps() if "run" in step]


def check_command(words: list[str]) -> None:
    """Parse a command of m2bridge as the program does; click names what it does not know."""
    name, *rest = words
    command = cli.get_command(click.Context(cli), name)
    assert command is not None, name
    command.make_context(name, rest)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder ``results`` below the current one, as both files have it."""
    (tmp_path / "results").mkdir()
    monkeypatch.chdir(tmp_path)


def test_both_install_what_readme_installs() -> None:
    """Both install the wheel at the same pin with the same constraints, and no other program."""
    expected = split(readme_line())
    assert {words[0] for words in expected} == PROGRAMS
    assert expected[1][2:4] == ["-c", "constraints.txt"]
    (run,) = arguments("RUN")
    assert split(run) == expected
    install, *others = runs()
    assert split(install) == expected
    assert {words[0] for line in others for words in split(line)} == {"m2bridge/.venv/bin/m2bridge"}


@pytest.mark.usefixtures("results")
def test_the_commands_of_the_dockerfile_are_known() -> None:
    (entry,) = map(json.loads, arguments("ENTRYPOINT"))
    (default,) = map(json.loads, arguments("CMD"))
    assert entry == ["m2bridge"]
    check_command(default)
    (run,) = arguments("RUN")
    check_command(split(run)[-1][1:])
    shown = re.findall(r"^#   docker run .* m2bridge (.+)$", DOCKERFILE.read_text(), re.MULTILINE)
    assert len(shown) == 2
    for line in shown:
        check_command(shlex.split(line))


@pytest.mark.usefixtures("results")
def test_the_commands_of_the_workflow_are_known() -> None:
    checked = [split(line)[-1][1:] for line in runs()]
    assert [words[0] for words in checked] == ["singular-locus", "doctor", "verify", "cross-check"]
    for words in checked:
        check_command(words)


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize("line", ["verify resluts/", "doctor --jason", "cross-check 3.3 --dd 2"])
def test_a_mistake_would_be_noticed(line: str) -> None:
    with pytest.raises(click.UsageError):
        check_command(line.split())


def test_the_image_has_the_files_that_the_package_is_made_of() -> None:
    """What ``pyproject.toml`` names, and the constraints; each source is there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    copied = {source for rest in arguments("COPY") for source in rest.split()[:-1]}
    assert copied == {
        "pyproject.toml",
        "constraints.txt",
        project["project"]["readme"],
        *project["project"]["license-files"],
        *wheel["only-include"],
    }
    assert all((ROOT / source).exists() for source in copied)
    folders = {tuple(rest.split()) for rest in arguments("COPY") if not rest.endswith("./")}
    assert folders == {(name, name) for name in wheel["only-include"]}
    known = {"FROM", "WORKDIR", "COPY", "ENV", "RUN", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in instructions()} == known
    first, last = arguments("WORKDIR")
    assert f"PATH={first}/.venv/bin:$PATH" in arguments("ENV")
    assert last == "/work"  # where the comment mounts the current folder
    assert '-v "$PWD:/work"' in DOCKERFILE.read_text(encoding="utf-8")


def test_python_and_the_release_are_those_of_the_tests() -> None:
    """The constraints are of one Python, and the workflow takes the last release."""
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    (python,) = re.findall(r"CPython (3\.\d+) ", constraints)
    (base,) = arguments("FROM")
    assert base.startswith(f"python:{python}-slim")
    options: dict[str, str] = {}
    for step in steps():
        options |= step.get("with", {})  # type: ignore[arg-type]
    assert options["python-version"] == python
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    last_release, *_ = re.findall(r"^## ([0-9.]+) \(\d{4}-", changelog, re.MULTILINE)
    assert options["ref"] == f"v{last_release}"
    (install,) = (step for step in steps() if "constraints.txt" in str(step.get("run")))
    assert install["working-directory"] == options["path"] == "m2bridge"


def test_the_workflow_has_the_keys_that_workflows_have() -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    # YAML 1.1, as read here, takes the key "on" for true.
    assert list(workflow) == ["name", True, "permissions", "jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    for step in steps():
        assert step.keys() <= {"name", "uses", "with", "run", "working-directory"}
        assert ("uses" in step) != ("run" in step)
