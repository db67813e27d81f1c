"""``m2bridge mcp``, as a client of the library sees it, over pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("mcp.server.mcpserver", reason="the extra mcp is not installed")

import anyio
from jsonschema import Draft202012Validator, validate
from mcp import Client, StdioServerParameters

from m2bridge.cli.mcp import RESULT_FIELDS
from m2bridge.cli.tool_arguments import TOOL_COMMANDS
from tests.events import alive, wait_for, wait_for_end

ROOT = Path(__file__).parents[2]
Script = Callable[[Any], Awaitable[None]]
pytestmark = [pytest.mark.macaulay2("any"), pytest.mark.slow]


def served(script: Script, *options: str, program: Path | None = None, folder: Path = ROOT) -> None:
    """Let a client talk to a server of its own, which has a folder as its current one."""
    words = ["-P", "-m", "m2bridge", "mcp", *options]
    if program is not None:
        words.append(f"--m2={program}")

    async def main() -> None:
        server = StdioServerParameters(command=sys.executable, args=words, cwd=str(folder))
        async with Client(server) as client:
            await script(client)

    anyio.run(main)


def engines() -> list[int]:
    """The processes of Macaulay2 below the servers; other tests have sessions in this process."""
    found = []
    for server in psutil.Process().children():
        if "mcp" not in command(server):
            continue
        below = server.children(recursive=True)
        found += [one.pid for one in below if "--no-readline" in command(one) and alive(one.pid)]
    return found


def command(process: psutil.Process) -> list[str]:
    """The words of its command; none if it has ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def said(result: Any) -> str:
    return "\n".join(part.text for part in result.content)


CUBIC = (ROOT / "examples" / "twisted_cubic.toml").read_text(encoding="utf-8")
BLOCKS = {part: f"blocks.*.{part}" for part in ("query", "key", "value")}
CALLS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("closure", {"d": 2, "d_out": 1}, {"dimension": 5, "degree": 4}, "1 quartic"),
    ("closure", {"map": CUBIC, "strategy": "elimination"}, {"degree": 3}, "twisted cubic"),
    (
        "dimension",
        {"d": 2, "d_out": 1, "method": "elimination"},
        {"dimension": 5},
        "affine dimension",
    ),
    (
        "dimension",
        {"family": "polynomial-network", "options": {"widths": "2,2,1"}},
        {"dimension": 3},
        "(2, 2, 1)",
    ),
    (
        "dimension",
        {"family": "deep-attention", "options": {"widths": "2,2,2", "a": 2, "skip": True}},
        {"dimension": 14},
        "skip",
    ),
    (
        "dimension",
        {"family": "deep-attention", "options": {"widths": "2,2,2", "a": 2, "skip": False}},
        {"dimension": 10},
        "(2, 2, 2)",
    ),
    ("singular_locus", {"d": 2, "d_out": 1}, {"dimension": 4}, "(1, 1, 0)"),
    ("singular_locus", {"ideal": "x^2 - y^3"}, {"dimension": 0}, "dimension 0"),
    ("cross_check", {"statement": "3.4 (iii)", "d": 3, "d_out": 2, "a": 2}, {}, "REFUTED"),
    (
        "membership",
        {"A": [[1, 2], [3, 4]], "V": [[1, "1/2"]]},
        {"place": "in the neuromanifold"},
        "in the neuromanifold",
    ),
    ("polar_degrees", {"d": 2, "d_out": 1}, {"polar_degrees": [4, 6, 4, 0, 0]}, "4, 6, 4"),
    ("ed_degree", {"ideal": "y - x^2", "point": "0, 3"}, {"ed_degree": 3}, "generic ED degree 4"),
    ("critical_points", {"d": 2, "d_out": 1}, {"critical_points": 6}, "generic ED degree"),
    ("weights", {"file": "examples/blocks.npz", "heads": 1, **BLOCKS}, {}, "2 heads"),
    ("weights", {"file": "examples/blocks.npz"}, {}, "blocks.0.key"),
    (
        "verify",
        {"paths": ["tests/certificates/networks"]},
        {"counts": {"accepted": 4}},
        "4 certificates: 4 accepted",
    ),
    ("ideal", {"ideal": "x*y", "method": "is_prime"}, {"value": False}, "False"),
    ("ideal", {"ideal": "x*y", "method": "eliminate", "other": "x"}, {}, "ideal"),
    (
        "ideal",
        {"ideal": "x*y, x*z", "method": "saturate", "other": "x"},
        {},
        "ideal(y, z) of QQ[x, y, z]",
    ),
    ("evaluate", {"code": "print 5; 2^100"}, {"text": str(2**100), "output": "5\n"}, str(2**100)),
]


async def each_tool(client: Any, folder: Path) -> None:
    """Results are those of ``--json``, by the schema, with a text."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {name for name, *_ in CALLS} == tools.keys()
    seen: dict[str, set[str]] = {name: set() for name in tools}
    for name, arguments, expected, text in CALLS:
        validate(arguments, tools[name].input_schema)
        result = await client.call_tool(name, arguments)
        assert not result.is_error, said(result)
        assert text in said(result)
        validate(result.structured_content, tools[name].output_schema)
        assert expected.items() <= result.structured_content.items()
        seen[name] |= result.structured_content.keys()
    for name, fields in RESULT_FIELDS.items():
        assert fields.keys() <= seen[name]


def test_mistakes_are_answered_as_on_the_command_line(program: Path) -> None:
    mistakes = [
        ("closure", {"d": 2}, "a case is named by --d 2 --d-out 1"),
        ("closure", {"d": "two", "d_out": 1}, "integer"),
        ("closure", {"d": 2, "d_out": 1, "strategy": "magic"}, "lattice"),
        ("closure", {"d": 2, "d_out": 1, "everything": True}, "Extra inputs"),
        ("closure", {"d": 2, "d_out": 1, "timeout": 61}, "less than or equal to 60"),
        ("closure", {"d": 2, "d_out": 1, "timeout": -1}, "greater than 0"),
        ("closure", {"d": 2, "d_out": 1, "memory": 2001}, "less than or equal to 2000"),
        (
            "closure",
            {"family": "deep-attention", "options": {"m2": "/bin/sh"}},
            "'m2' is not an option of the family 'deep-attention'",
        ),
        ("closure", {"d": 2, "d_out": 1, "options": {"widths": "2"}}, "not an option of a family"),
        ("cross_check", {"statement": "9.9", "d": 2, "d_out": 1}, "is not one of 3.2"),
        ("ideal", {"ideal": "x^^2", "method": "radical"}, "an exponent must be an integer"),
        ("ideal", {"ideal": "x^2", "method": "saturate"}, "--other"),
        ("verify", {"paths": ["nowhere"]}, "does not exist"),
        ("dimension", {"d": 90, "d_out": 90, "method": "elimination"}, "Error"),
        ("evaluate", {"code": "1"}, "Unknown tool"),
    ]

    async def script(client: Any) -> None:
        assert "evaluate" not in [tool.name for tool in (await client.list_tools()).tools]
        for name, arguments, message in mistakes:
            result = await client.call_tool(name, arguments)
            assert result.is_error, (name, arguments)
            assert message in said(result)
            assert "Traceback" not in said(result)
        result = await client.call_tool("dimension", {"d": 2, "d_out": 1})
        assert result.structured_content["dimension"] == 5

    served(script, "--timeout=60", "--memory=2000M", program=program)


async def limits_can_be_lowered(client: Any, folder: Path) -> None:
    """On memory as Macaulay2 itself sees it, on time where nothing ever ends."""

    async def kibibytes(**limits: int) -> int:
        code = 'value get "!ulimit -v"'
        result = await client.call_tool("evaluate", {"code": code, **limits})
        return int(result.structured_content["text"])

    assert await kibibytes() == 2000 * 1024
    assert await kibibytes(memory=900) == 900 * 1024
    result = await client.call_tool("evaluate", {"code": "1;\n2/0"})
    assert said(result).startswith("Error: ScriptError: code:2:2: division by zero")
    endless = {"code": "while true do sleep 1", "timeout": 2.0}
    result = await client.call_tool("evaluate", endless)
    assert result.is_error
    assert "limit of 2 seconds" in said(result)  # it may be over before Macaulay2 has started
    assert "raise timeout" in said(result)


async def calls_share_a_session_and_nothing_in_it(client: Any, folder: Path) -> None:
    for _ in range(3):
        await client.call_tool("ideal", {"ideal": "x^2 - y^3", "method": "dimension"})
    first = engines()
    result = await client.call_tool("ideal", {"ideal": "x*y", "method": "is_prime"})
    assert result.structured_content["value"] is False
    assert engines() == first
    assert len(first) == 1
    await client.call_tool("evaluate", {"code": "x = 5"})
    result = await client.call_tool("evaluate", {"code": "x === symbol x"})
    assert result.structured_content["text"] == "true"


async def two_calls_at_once(client: Any, folder: Path) -> None:
    """Each waits for what the other writes."""

    def code(mine: str, other: str) -> str:
        write = f'"{folder / mine}" << "here" << close;'
        return f'{write} while not fileExists "{folder / other}" do sleep 1; "{mine}"'

    found = {}

    async def call(mine: str, other: str) -> None:
        result = await client.call_tool("evaluate", {"code": code(mine, other)})
        found[mine] = result.structured_content["text"]

    async with anyio.create_task_group() as group:
        group.start_soon(call, "a", "b")
        group.start_soon(call, "b", "a")
    assert found == {"a": "a", "b": "b"}


HARD = {"d": 4, "d_out": 4, "strategy": "elimination"}
"""A closure that takes Macaulay2 longer than anybody waits."""
SMALL = {"d": 2, "d_out": 1, "method": "elimination"}
"""A dimension that it computes at once."""


async def a_cancelled_call_ends_macaulay2(client: Any, folder: Path) -> None:
    """With notices of progress until then; what comes next is answered."""
    begun = folder / "begun"
    code = f'"{begun}" << "here" << close; while true do 1'
    for name, arguments in (("evaluate", {"code": code}), ("closure", HARD)):
        notices: list[tuple[float, float | None, str | None]] = []

        async def notice(
            seconds: float,
            total: float | None,
            message: str | None,
            name: str = name,
            notices: list[tuple[float, float | None, str | None]] = notices,
        ) -> None:
            notices.append((seconds, total, message))
            if len(notices) > 1 and engines() and (begun.exists() or name == "closure"):
                group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(partial(client.call_tool, name, arguments, progress_callback=notice))
        before = engines()
        assert notices[0][1] == 600
        assert str(notices[0][2]).startswith(name)
        assert [seconds for seconds, _, _ in notices] == sorted(
            seconds for seconds, _, _ in notices
        )
        await anyio.to_thread.run_sync(wait_for_end, before)
        assert (await client.call_tool("dimension", SMALL)).structured_content["dimension"] == 5


async def a_killed_macaulay2_is_an_error_and_the_next_call_has_another(
    client: Any, folder: Path
) -> None:
    """Killed in the middle of a call, and between two."""

    def kill() -> None:
        for pid in engines():
            psutil.Process(pid).send_signal(signal.SIGKILL)

    async with anyio.create_task_group() as group:

        async def killer() -> None:
            while True:  # until it is at work for the call
                kill()
                await anyio.sleep(0.1)

        group.start_soon(killer)
        result = await client.call_tool("closure", HARD)
        group.cancel_scope.cancel()
    assert result.is_error
    assert "EngineDiedError: Macaulay2" in said(result)
    assert (await client.call_tool("dimension", SMALL)).structured_content["dimension"] == 5
    kill()
    result = await client.call_tool("dimension", SMALL)
    assert not result.is_error, said(result)
    assert result.structured_content["dimension"] == 5


async def a_worker_that_is_killed_costs_at_most_its_call(client: Any, folder: Path) -> None:
    for _ in range(2):
        assert not (await client.call_tool("dimension", SMALL)).is_error
        workers = {psutil.Process(pid).ppid() for pid in engines()}
        assert len(workers) == 1
        for pid in workers:
            psutil.Process(pid).kill()
        result = await client.call_tool("dimension", SMALL)
        assert not result.is_error


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_all_of_it(program: Path, tmp_path: Path, number: signal.Signals) -> None:
    """In the middle of a call, which nobody waits for any more; no folder is left."""
    words = [sys.executable, "-m", "m2bridge", "mcp", f"--m2={program}"]
    pipe, place = subprocess.PIPE, os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=place) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        who = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        call = {"name": "closure", "arguments": HARD, "_meta": {"progressToken": 1}}
        for message in (
            {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", **who}},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": call},
        ):
            print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
        notices = 0
        while notices < 2:
            notices += "notifications/progress" in server.stdout.readline()
        below = [child.pid for child in psutil.Process(server.pid).children(recursive=True)]
        assert {*engines()} <= {*below}
        assert engines()
        server.send_signal(number)
        assert server.wait() == -number
    wait_for_end(below)
    if number != signal.SIGKILL:  # then whoever starts next removes what is left
        assert [*tmp_path.iterdir()] == []


def test_what_a_cut_call_leaves_is_removed_and_nothing_is_left_when_the_client_has_gone(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp.client.stdio.get_default_environment", lambda: {**os.environ})
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    running: list[int] = []

    def left() -> list[str]:
        """What is in the folder of the server, but for the pipe by which workers are ended."""
        return [path.name for path in tmp_path.glob("*/*") if path.name != "watched"]

    async def script(client: Any) -> None:
        async def notice(seconds: float, total: float | None, message: str | None) -> None:
            if engines() and left():
                group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(partial(client.call_tool, "closure", HARD, progress_callback=notice))
        await anyio.to_thread.run_sync(wait_for, lambda: not left())
        await client.call_tool("closure", {**HARD, "timeout": 1.0})
        assert len(left()) == 1  # that of the worker, which goes on
        await client.call_tool("evaluate", {"code": "1"})
        await client.call_tool("dimension", {"map": CUBIC})
        await client.call_tool("dimension", SMALL)  # begins a Macaulay2 anew, as the last was cut
        running.extend(engines())
        assert running
        assert [*tmp_path.iterdir()]

    served(script, "--allow-code", program=program)
    wait_for_end(running)
    assert [*tmp_path.iterdir()] == []


async def a_late_call_leaves_a_worker_that_answers(client: Any, folder: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("ideal", {"ideal": "x*y", "method": "is_prime"}),
        ("weights", {"file": "examples/blocks.npz"}),
        ("dimension", {"family": "deep-attention", "options": {"widths": "2,2", "a": 2}}),
    ]
    for name, arguments in calls:
        for timeout in (0.001, 0.05, 0.3):
            result = await client.call_tool(name, {**arguments, "timeout": timeout})
            assert "Traceback" not in said(result)
            assert "itself" not in said(result)
    for name, arguments in calls:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, said(result)


async def no_option_names_a_program(client: Any, folder: Path) -> None:
    """Neither by its name nor in a name or a value, whatever the tool."""
    marker, other = folder / "started", folder / "M2"
    other.write_text(f"#!/bin/sh\ntouch {marker}\n", encoding="utf-8")
    other.chmod(0o755)
    tools = (await client.list_tools()).tools
    with_options = [tool for tool in tools if "options" in tool.input_schema["properties"]]
    assert len(with_options) > 4
    for tool in with_options:
        for name, value in (
            (f"m2={other}", True),
            ("m2", str(other)),
            (f"widths=2,2 --m2={other}", True),
            ("widths", f"2,2 --m2={other}"),
            ("widths", f"--m2={other}"),
        ):
            chosen = {"family": "deep-attention", "options": {"a": 1, name: value}}
            result = await client.call_tool(tool.name, chosen)
            assert result.is_error
            assert "Traceback" not in said(result)
    for value in (f"--m2={other}", "--m2", "-", "--"):
        for arguments in (
            {"ideal": value, "method": "radical"},
            {"ideal": "x", "method": "contains", "other": value},
        ):
            assert "Traceback" not in said(await client.call_tool("ideal", arguments))
    for command in (f'run "touch {marker}"', f'x"; run "touch {marker}"; "', "x); run(x"):
        for named in (command, f"x + {command}"):
            coordinate = json.dumps(named)
            text = f'[map]\nparameters = ["s"]\n[coordinates]\n{coordinate} = "s^2"\n'
            for arguments in ({"map": text}, {"map": text.replace("s^2", named)}):
                assert (await client.call_tool("closure", arguments)).is_error
            arguments = {"ideal": named, "method": "radical"}
            assert (await client.call_tool("ideal", arguments)).is_error
    assert not marker.exists()


async def texts_are_short_and_results_whole(client: Any, folder: Path) -> None:
    result = await client.call_tool("verify", {"paths": ["tests/certificates/rejected"]})
    assert len(said(result)) < 5000 < len(json.dumps(result.structured_content))


Part = Callable[[Any, Path], Awaitable[None]]
GOOD_CALLS: tuple[Part, ...] = (
    calls_share_a_session_and_nothing_in_it,  # first: no other call has started a worker
    each_tool,
    no_option_names_a_program,
    texts_are_short_and_results_whole,
    limits_can_be_lowered,
    two_calls_at_once,
)
"""What one server with a lower limit on memory answers."""
DEATHS: tuple[Part, ...] = (
    a_cancelled_call_ends_macaulay2,
    a_killed_macaulay2_is_an_error_and_the_next_call_has_another,
    a_worker_that_is_killed_costs_at_most_its_call,
    a_late_call_leaves_a_worker_that_answers,
)
"""What one server survives, which has one worker at a time."""


@pytest.mark.parametrize(
    ("parts", "options"),
    [(GOOD_CALLS, ("--allow-code", "--memory=2000M")), (DEATHS, ("--allow-code",))],
    ids=["good calls", "deaths"],
)
def test_one_server(
    parts: tuple[Part, ...], options: tuple[str, ...], program: Path, tmp_path: Path
) -> None:
    """One part after the other: a server takes longer to start than to answer most calls.

    Code is evaluated without the packages that Macaulay2 loads at its start, as with ``bare``:
    each of a dozen calls would load them anew, and no part is about them.
    """
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{program}" --no-preload "$@"\n', encoding="utf-8")
    bare.chmod(0o755)

    async def script(client: Any) -> None:
        for part in parts:
            await part(client, tmp_path)

    served(script, *options, program=bare)


def test_files_below_the_current_folder_only(program: Path, tmp_path: Path) -> None:
    """Or below others that are named; what is in them is quoted by results, not by messages.

    No module of the current folder is loaded, and a name of a file that is no text disturbs nobody.
    """
    here, other, marker = tmp_path / "here", tmp_path / "other", tmp_path / "loaded"
    for folder in (here, other):
        folder.mkdir()
        (folder / "map.toml").write_text(CUBIC, encoding="utf-8")
        (folder / "secret").write_text("SECRET = hunter2\n", encoding="utf-8")
        (folder / "secret.json").write_text('{"SECRET": "hunter2"}', encoding="utf-8")
        (folder / "schema.json").write_text('{"schema": "hunter2"}', encoding="utf-8")
    for name in ("anyio", "sympy", "flint"):
        text = f"open({str(marker)!r}, 'w')\nraise ImportError\n"
        (here / f"{name}.py").write_text(text, encoding="utf-8")
    (here / "no\udcfftext.json").write_text("{}", encoding="utf-8")
    (here / "link.json").symlink_to(other / "secret.json")
    (here / "link").symlink_to(other)
    (other / "empty").mkdir()
    os.mkfifo(here / "pipe")
    os.mkfifo(here / "pipe.json")
    outside = ["/proc/self/environ", "/dev/stdin", "/etc/passwd", "link", "../other/secret"]
    outside += [str(other / "map.toml"), "link/map.toml", "/nowhere", "a\0b", "\0"]

    async def closed(client: Any) -> None:
        calls: list[tuple[str, dict[str, Any]]] = []
        for path in (*outside, "secret", "secret.json", "pipe", "x" * 5000, "."):
            calls += [("closure", {"map": path}), ("weights", {"file": path})]
            if not path.startswith("x"):
                calls += [("ideal", {"ideal": path, "method": "radical"})]
            if path not in ("secret.json", "."):
                calls += [("verify", {"paths": [path, "secret.json"]})]
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            assert result.is_error or name == "verify", (name, arguments)
            for word in ("hunter2", "SECRET", "root:", "PATH=", "Traceback", "itself"):
                assert word not in said(result), (name, arguments)
        result = await client.call_tool("closure", {"map": "map.toml"})
        assert result.structured_content["degree"] == 3
        result = await client.call_tool("verify", {"paths": ["."]})
        found = {one["name"]: one for one in result.structured_content["certificates"]}
        no_text = found.pop(r"no\udcfftext.json")
        assert no_text["outcome"] == "malformed"
        assert found.keys() == {"link.json", "pipe.json", "schema.json", "secret.json"}
        assert "accepted" not in result.structured_content["counts"]
        assert "not below a folder" in found["link.json"]["found"]
        assert "hunter2" not in json.dumps(result.structured_content)
        result = await client.call_tool("ideal", {"ideal": "x*y", "method": "is_prime"})
        assert result.structured_content["value"] is False
        assert not (await client.call_tool("dimension", {"d": 2, "d_out": 1})).is_error

    async def opened(client: Any) -> None:
        result = await client.call_tool("closure", {"map": str(other / "map.toml")})
        assert result.structured_content["degree"] == 3
        assert (await client.call_tool("closure", {"map": "map.toml"})).is_error

    served(closed, program=program, folder=here)
    served(opened, f"--files={other}", f"--files={other}/empty", program=program, folder=here)
    assert not marker.exists()


@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", "<&- 2>&-", "</dev/null", "0>/dev/null"])
def test_without_standard_input_it_ends(tmp_path: Path, closed: str) -> None:
    line = f'"{sys.executable}" -m m2bridge mcp {closed}'
    place = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(line, shell=True, capture_output=True, text=True, cwd=ROOT, env=place)
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == (5 if closed.startswith("0>") else 0), done.stderr
    assert [*tmp_path.iterdir()] == []


def test_schemas_are_strict_and_have_words() -> None:
    """Every argument has a type and a description, and there is none besides; no Macaulay2 runs."""

    async def script(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == TOOL_COMMANDS.keys()
        for tool in tools:
            assert tool.description
            Draft202012Validator.check_schema(tool.input_schema)
            Draft202012Validator.check_schema(tool.output_schema)
            assert tool.input_schema["additionalProperties"] is False
            for argument in tool.input_schema["properties"].values():
                assert argument["description"]
                assert {"type", "anyOf"} & argument.keys()
            limits = tool.input_schema["properties"]
            assert limits["timeout"]["maximum"] == 60
            if tool.name != "weights":  # which Macaulay2 has no part in
                assert limits["memory"]["maximum"] == 4096
            assert not {"m2", "format", "workers", "out"} & limits.keys()
            assert tool.annotations.read_only_hint is (tool.name != "evaluate")

    served(script, "--allow-code", "--timeout=60")


def test_without_macaulay2_the_rest_is_answered() -> None:
    async def script(client: Any) -> None:
        result = await client.call_tool("dimension", {"d": 2, "d_out": 1})
        assert result.structured_content["dimension"] == 5
        result = await client.call_tool("ideal", {"ideal": "x", "method": "radical"})
        assert result.is_error
        assert "/nowhere/M2" in said(result)

    served(script, "--m2=/nowhere/M2")
