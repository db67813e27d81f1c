"""What a call of an assistant can say: values of arguments, and nothing about the machine.

No server runs here: calls are performed as a worker performs them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from m2bridge import limits, reading
from m2bridge.cli.commands import run_reporting_errors
from m2bridge.cli.mcp import perform_tool
from m2bridge.cli.tool_arguments import ARGUMENT_TYPES, TOOL_COMMANDS, arguments_of, parse
from m2bridge.errors import M2BridgeError, TimeLimitError
from m2bridge.families import registry
from tests.tiers import examples

MOST = 4096
"""MiB, the limit of the server."""
OF_THE_MACHINE = ("program", "out", "executor", "workers", "retry", "each", "quiet", "exit_zero")
FAMILIES = (*registry.OWN_FAMILIES, "nowhere")

STARTS = re.compile(
    r"subprocess\.Popen|os\.(exec|posix_spawn|system|spawn|startfile|fork|forkpty)|pty\.spawn"
)
started: list[str] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if STARTS.fullmatch(event):
        started.append(f"{event} {arguments}")


sys.addaudithook(_hook)


def call(name: str, **values: Any) -> dict[str, Any]:
    """The values of a call, with those that the schema adds where they are left out."""
    usual: dict[str, Any] = {}
    for argument, param in arguments_of(name).items():
        default = param.default
        usual[argument] = default if isinstance(default, str | int | float) else None
    return usual | {"timeout": 60.0, "memory": MOST, "options": {}} | values


def parsed(name: str, **values: Any) -> dict[str, Any]:
    """The parameters of the command."""
    command = TOOL_COMMANDS[name]
    with click.Context(command, info_name=command.name) as context:
        parse(context, name, call(name, **values), MOST)
        return dict(context.params)


def in_a_context_of_its_own(call: Callable[[], Any]) -> None:
    """Perform a call with a clock of its own, as a worker does, which the next test does not see."""

    def perform() -> None:
        limits.start("timeout")
        run_reporting_errors(call)

    copy_context().run(perform)


def answer(capsys: pytest.CaptureFixture[str], name: str, **values: Any) -> tuple[str, str]:
    """What a call prints, and its messages."""
    in_a_context_of_its_own(lambda: perform_tool(name, call(name, **values), MOST))
    out, error = capsys.readouterr()
    return out, error


WITH_FAMILIES = [name for name in TOOL_COMMANDS if "family" in arguments_of(name)]
NO_OPTIONS = (
    "m2=/tmp/program",
    "m2",
    "--m2",
    "program",
    "",
    "=",
    "-",
    "--",
    "help",
    "--help",
    "h",
    "timeout",
    "timeout=1e9",
    "memory",
    "memory=9T",
    "format",
    "format=latex",
    "form",
    "json",
    "out",
    "out=x",
    "executor",
    "workers",
    "file",
    "map",
    "family",
    "field",
    "widths=2,2,1",
    "widths ",
    "Widths",
    "wid",
    "a\0",
    "a\n",
)


@pytest.mark.parametrize("written", NO_OPTIONS)
@pytest.mark.parametrize("value", [True, False, "2,2,1", 3])
def test_options_are_names_of_options_of_the_family(written: str, value: Any) -> None:
    for name in WITH_FAMILIES:
        with pytest.raises(
            click.UsageError, match="is not an option of the family 'polynomial-netw"
        ):
            parsed(name, family="polynomial-network", options={"widths": "2,2", written: value})
        with pytest.raises(click.UsageError, match="is not an option of a family"):
            parsed(name, d=2, d_out=1, options={written: value})
        with pytest.raises(click.UsageError, match="is not an option of a family"):
            parsed(name, map="[map]\n", options={written: value})


def test_code_is_a_text_and_no_name_of_a_file() -> None:
    file = parsed("evaluate", code="1 + 1")["file"]
    assert (str(file), file.content) == ("code", "1 + 1")


def test_options_of_families_stay() -> None:
    """As release 1.0 has them: names with ``_`` or ``-``, numbers, texts, true and false."""
    options = {"widths": "2,2,2", "a": 2, "skip": True}
    found = parsed("dimension", family="deep-attention", options=options)
    assert (found["widths"], found["a"], found["skip"]) == ("2,2,2", "2", "true")
    assert parsed("dimension", family="deep-attention", options={"skip": False})["skip"] is None
    for written in ("d_out", "d-out"):
        options = {"d": 3, written: "2"}
        found = parsed("dimension", family="attention", options=options)
        assert (found["d"], found["d_out"]) == ("3", "2")
    found = parsed("dimension", family="deep-attention", a=2, options={"widths": "2,2"})
    assert found["a"] == "2"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"options": {"skip": "yes"}}, "'skip' must be true or false"),
        ({"options": {"widths": True}}, "'widths' must be a number or a text"),
        ({"options": {"a": 2}, "a": 3}, "'a' is given twice"),
        ({"d": 2}, "'d' is not an option of the family 'deep-attention'"),
        ({"family": None, "map": "[map]\n", "d": 2}, "'d' is not an option of a map"),
    ],
)
def test_values_that_make_no_sense_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(click.UsageError, match=message):
        parsed("dimension", **{"family": "deep-attention"} | values)


words = st.sampled_from([*NO_OPTIONS, "-x", "--m2=/bin/sh", "/bin/sh", "x*y", "2", "2,2,1", "-1"])
texts = words | st.text(max_size=12)
names = st.sampled_from([*NO_OPTIONS, "widths", "a", "skip", "d", "d_out", "d-out", "heads"])


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A tool, and values of the types of its arguments."""
    name = draw(st.sampled_from(sorted(TOOL_COMMANDS)))
    values: dict[str, Any] = {
        "timeout": draw(st.sampled_from([0.5, 5.0])),
        "memory": draw(st.sampled_from([700, MOST])),
    }
    for argument, param in arguments_of(name).items():
        if isinstance(param.type, click.Choice):
            kind: st.SearchStrategy[Any] = st.sampled_from(param.type.choices)
        elif param.nargs == -1:
            kind = st.lists(texts, max_size=3)
        elif str(param.name) in ARGUMENT_TYPES:
            kind = st.just([[1, "1/2"], ["--m2=x", 2]])
        elif isinstance(param, click.Option) and param.is_flag:
            kind = st.booleans()
        else:
            kind = {"integer": st.integers(-2, 3), "decimal": st.floats(0, 2)}.get(
                param.type.name, texts
            )
        if param.required or draw(st.booleans()):
            values[argument] = draw(kind)
    if "family" in arguments_of(name):
        values["family"] = draw(st.none() | st.sampled_from(FAMILIES) | texts)
        of_families = st.dictionaries(names | texts, st.booleans() | st.integers(0, 3) | texts)
        values["options"] = draw(of_families)
    return name, values


def usual(name: str) -> dict[str, Any]:
    """The values of the options of the machine where none are given."""
    of_machine = {}
    for param in TOOL_COMMANDS[name].params:
        if param.name in OF_THE_MACHINE:
            of_machine[str(param.name)] = param.get_default(click.Context(TOOL_COMMANDS[name]))
    return of_machine


@given(calls())
@settings(max_examples=examples(200), deadline=None, suppress_health_check=list(HealthCheck))
def test_no_name_and_no_value_reaches_the_machine(drawn: tuple[str, dict[str, Any]]) -> None:
    """No program starts, and neither m2, out, executor nor workers change, nor the limits rise."""
    name, values = drawn
    started.clear()
    try:
        found = parsed(name, **values)
    except (click.ClickException, M2BridgeError):
        assert started == []
        return
    assert started == []
    assert not found.get("program")
    for option, value in usual(name).items():
        assert found[option] in (value, None), option
    assert found["timeout"] <= values["timeout"]
    if found.get("memory") is not None:
        assert found["memory"] <= values["memory"] * 2**20
    assert found.get("form", "json") == "json"
    assert found.get("as_json", True) is True
    assert "help" not in found


@given(calls())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_calls_start_no_program(drawn: tuple[str, dict[str, Any]]) -> None:
    """Calls as they are performed, where there is no Macaulay2 that could be started."""
    name, values = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("M2BRIDGE_M2", "/nowhere/M2")
        patch.setattr(reading, "_folders", ())
        started.clear()
        values["timeout"] = 2.0
        in_a_context_of_its_own(lambda: perform_tool(name, call(name, **values), MOST))
        assert started == []


SECRET = "hunter2"
CONTENTS = (
    f"SECRET_TOKEN = {SECRET}\n",
    f'SECRET_TOKEN = "{SECRET}"\n',
    f"[{SECRET}]\n",
    f'[map]\n{SECRET} = "x"\n',
    f'[map]\nparameters = ["s"]\n[coordinates]\nx = "{SECRET}"\n',
    f'[map]\nparameters = "{SECRET}"\n',
    f'[ideal]\nvariables = ["x"]\ngenerators = ["{SECRET}^^2"]\n',
    f'[ideal]\nvariables = ["x"]\ngenerators = ["x"]\nfield = "{SECRET}"\n',
    f'[[layers]]\nkind = "{SECRET}"\n',
    f"{SECRET}\n",
    f'{{"{SECRET}": "{SECRET}"}}',
    f'{{"token": "{SECRET}"}}',
    f'["{SECRET}"]',
    f'{{"x": [[1, "{SECRET}"]]}}',
    f'{{"x": 1, "{SECRET}": 1, "{SECRET}": 2}}',
    f"x = 1\x00{SECRET}",
    f"HOME=/\0TOKEN={SECRET}\0",
)


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", ["map.toml", "arrays.json", "arrays.npy", "arrays.safetensors"])
def test_messages_quote_nothing_of_a_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: str,
    name: str,
) -> None:
    """They name the file, and the place where there is one."""
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    monkeypatch.setattr(reading, "_folders", (tmp_path,))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("weights", {"file": str(file)}),
        ("weights", {"file": str(file), "query": "x", "key": "x", "value": "x"}),
    ]
    if name == "map.toml":
        calls = [(tool, {"map": str(file)}) for tool in WITH_FAMILIES]
        calls += [("ideal", {"ideal": str(file), "method": "dimension"})]
        calls += [(tool, {"ideal": str(file)}) for tool in ("singular_locus", "polar_degrees")]
    for tool, values in calls:
        out, error = answer(capsys, tool, **values)
        assert out == ""
        assert name in error
        assert SECRET not in error
        assert "SECRET_TOKEN" not in error


def test_the_place_of_an_error_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "map.toml").write_text("[map]\nx = hunter2\n", encoding="utf-8")
    (tmp_path / "x.json").write_text('{"x":\n hunter2}', encoding="utf-8")
    monkeypatch.setattr(reading, "_folders", (tmp_path,))
    assert "not TOML (line 2, column 5)" in answer(capsys, "closure", map=f"{tmp_path}/map.toml")[1]
    assert "not JSON (line 2, column 2)" in answer(capsys, "weights", file=f"{tmp_path}/x.json")[1]
    # what came with the call is said, as it is on the command line
    assert "put polynomials in quotes: x = " in answer(capsys, "closure", map="[map]\nx = y\n")[1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to which this process is confined, and beside it one with a file."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for each in (inside, outside):
        (each / "deep").mkdir(parents=True)
        (each / "deep" / "file").write_text(each.name, encoding="utf-8")
    monkeypatch.setattr(reading, "_folders", (inside,))
    monkeypatch.chdir(inside)
    return inside


def content(path: Path | str) -> str:
    with open(reading.opened(Path(path)), encoding="utf-8") as file:
        return file.read()


def test_files_below_the_folder_are_read(folder: Path) -> None:
    assert content("deep/file") == content(folder / "deep" / "file") == "inside"
    (folder / "link").symlink_to("deep")
    assert content("link/file") == content("link/../deep/./file") == "inside"
    with reading.openable(folder / "deep" / "file") as name:
        assert Path(name).read_text(encoding="utf-8") == "inside"


def test_nothing_else_is_read(folder: Path) -> None:
    outside = folder.parent / "outside"
    (folder / "link").symlink_to(outside / "deep" / "file")
    (folder / "folder").symlink_to(outside / "deep")
    (folder / "up").symlink_to("..")
    os.mkfifo(folder / "pipe")
    (folder / "device").symlink_to("/dev/zero")
    paths = ["link", "folder/file", "up/outside/deep/file", "../outside/deep/file", "pipe", "deep"]
    paths += ["device", "/dev/zero", "/proc/self/environ", str(outside / "deep" / "file"), "."]
    paths += ["/proc/self/environ", "\0", "a\0b", "x" * 5000, "\ud800"]
    for path in paths:
        with pytest.raises((OSError, ValueError)):
            os.close(reading.opened(Path(path)))
    for path in ["link", "folder/file", "/etc/passwd", "/nowhere", "../nowhere", "\0", "\ud800"]:
        with pytest.raises(M2BridgeError, match=f"{reading.OUTSIDE}|no file can have this name"):
            reading.check_readable(path)
        assert reading.exists(path) == (path == "link")


def test_the_environment_is_no_file_even_below_the_root(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_folders", (Path("/"),))
    assert content(folder / "deep" / "file") == "inside"
    with pytest.raises(PermissionError):
        reading.opened(Path("/proc/self/environ"))


@pytest.mark.parametrize("part", ["deep", "deep/file"])
def test_a_link_that_comes_after_the_check_is_not_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """The real path was asked for, and then somebody put a link in its place."""
    real = os.path.realpath(folder / "deep" / "file")
    (folder / "deep").rename(folder / "was")
    if part == "deep/file":
        (folder / "deep").mkdir()
    (folder / part).symlink_to(folder.parent / "outside" / part)
    assert Path(real).read_text(encoding="utf-8") == "outside"
    monkeypatch.setattr("os.path.realpath", lambda path: str(path))
    with pytest.raises(OSError, match=r"Not a directory|not a file"):
        content(real)


def test_without_folders_nothing_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_folders", ())
    with pytest.raises(PermissionError):
        content("deep/file")


def test_arrays_are_read_below_the_folder_only(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each form of file, and a file in a folder of them."""
    import numpy
    from safetensors.numpy import save_file

    rows = numpy.eye(2)
    arrays = {f"layers.0.attn.{name}_proj.weight": rows for name in "qkv"}
    outside = folder.parent / "outside"
    numpy.savez(outside / "x.npz", **arrays)
    save_file(arrays, outside / "x.safetensors")
    for form in ("npz", "safetensors"):
        (folder / f"x.{form}").write_bytes((outside / f"x.{form}").read_bytes())
        out, error = answer(capsys, "weights", file=f"x.{form}", heads="1")
        assert '"heads"' in out, error
        (folder / form).mkdir()
        (folder / form / f"x.{form}").symlink_to(outside / f"x.{form}")
        for path in (str(outside / f"x.{form}"), f"{form}/x.{form}", form):
            out, error = answer(capsys, "weights", file=path)
            assert out == ""
            assert reading.OUTSIDE in error


class Marker:
    """Unpickled, it writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


@pytest.mark.parametrize("ending", ["npy", "npz", "pt", "bin", "ckpt", "pth"])
def test_nothing_is_unpickled(
    folder: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    import pickle

    import numpy

    marker = folder.parent / "unpickled"
    file, array = folder / f"x.{ending}", numpy.array([Marker(marker)], dtype=object)
    if ending == "npy":
        numpy.save(file, array, allow_pickle=True)
    elif ending == "npz":
        numpy.savez(file, x=array)
    else:
        file.write_bytes(pickle.dumps(Marker(marker), protocol=2))
    for values in ({}, {"query": "x", "key": "x", "value": "x"}):
        out, error = answer(capsys, "weights", file=str(file), **values)
        assert out == ""
        assert "Error" in error
    assert not marker.exists()


def test_modules_are_loaded_to_their_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that is reached meanwhile leaves no half of a package, and holds right after."""
    package = tmp_path / "package_of_two"
    package.mkdir()
    (package / "__init__.py").write_text("from package_of_two import part\n", encoding="utf-8")
    (package / "part.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(limits, "_imports_without_limit", False)
    limits.load_wholly()
    with limits.limited(1e-9):
        assert limits.imported("package_of_two").part
        with pytest.raises(TimeLimitError):
            limits.check()


def test_a_mistake_of_ours_is_said_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(**options: Any) -> None:
        raise KeyError("hunter2")

    monkeypatch.setattr(TOOL_COMMANDS["ideal"], "callback", wrong)
    _, error = answer(capsys, "ideal", ideal="x", method="dimension")
    assert re.fullmatch(r"Error: internal error of m2bridge: KeyError in \S+, line \d+\n", error)
