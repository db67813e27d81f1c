"""Options and engines of the test suite.

Engine tests run on every supported Macaulay2 of this machine: the one in the wheel and the one on
PATH. Those marked ``macaulay2("any")`` run on the first, which is the wheel's: modules of
mathematics are, but for the tests in them that are marked ``macaulay2("each")``, of which each
template has one. A machine without any Macaulay2 makes engine tests fail, not skip, unless
``--no-engine`` says that this is meant. Where one Macaulay2 cannot be used, as when the wheel's
needs another processor, they run on the others, and one warning says so.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from m2bridge.batch.pool import prepare
from m2bridge.cli import commands
from m2bridge.engine import Candidate, Engine, Session, candidates, using
from m2bridge.engine.discovery import Probed, probed
from m2bridge.families.registry import family
from m2bridge.limits import Limits
from m2bridge.workspace.macaulay2 import Macaulay2
from tests import quick
from tests.events import PATIENCE
from tests.limits import RecordedEngine, RecordingEngine, Remembering
from tests.tiers import FAST, TEN

settings.register_profile(
    "patient",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    max_examples=50,  # the same ones at each run
)
settings.register_profile(TEN, settings.get_profile("patient"), max_examples=10)
settings.register_profile(
    "exploring", settings.get_profile("patient"), derandomize=False, max_examples=100
)
settings.load_profile("patient")

REMEMBERING = cache(Remembering)
TRANSCRIPTS = Path(__file__).parent / "golden" / "transcripts"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-engine", action="store_true", help="leave out all tests that need Macaulay2"
    )
    parser.addoption("--update-golden", action="store_true", help="write the golden scripts anew")
    parser.addoption("--record", action="store_true", help="record the golden transcripts anew")


@cache
def asked() -> list[Probed]:
    """What all places where Macaulay2 may be say of their versions."""
    return [probed(candidate) for candidate in candidates()]


def usable() -> list[Candidate]:
    """The Macaulay2 programs of this machine, one for each version."""
    found: dict[str, Candidate] = {}
    for one in asked():
        if one.refusal is None:
            found.setdefault(one.candidate.version, one.candidate)
    return list(found.values())


def warn_of_refused(config: pytest.Config) -> None:
    """One warning that names the programs that are there and cannot be used, when tests run on
    another one.
    """
    refused = [
        f"without the Macaulay2 of {one.candidate.origin}: {one.refusal}"
        for one in asked()
        if one.candidate.program is not None and one.refusal is not None
    ]
    if refused and usable():
        versions = ", ".join(candidate.version for candidate in usable())
        reasons = "; ".join(refused)
        warning = pytest.PytestWarning(f"tests run on Macaulay2 {versions} alone, {reasons}")
        config.issue_config_time_warning(warning, stacklevel=2)


def pytest_configure(config: pytest.Config) -> None:
    """A shell that starts the tests in the background, or ``nohup``, lets them and their children
    ignore signals.

    Programs that the tests start, some hundreds, keep their bytecode: one that compiles it anew
    takes a third longer. So do the workers of xdist, which read what another has compiled.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if leaves_out_slow_tests(config) and config.getoption("--hypothesis-profile") is None:
        settings.load_profile(TEN)
    is_worker = hasattr(config, "workerinput")
    if not is_worker and not config.getoption("--no-engine"):
        warn_of_refused(config)


def leaves_out_slow_tests(config: pytest.Config) -> bool:
    """Return whether the expression after ``-m`` does, as it does where none is given."""
    return FAST in config.getoption("-m")


def pytest_sessionstart(session: pytest.Session) -> None:
    """``M2BRIDGE_REQUIRED_ENGINES`` names versions that must be there, so that no run leaves one
    out silently.
    """
    required = set(os.environ.get("M2BRIDGE_REQUIRED_ENGINES", "").split())
    missing = required - {candidate.version for candidate in usable()} if required else set()
    if missing:
        raise pytest.UsageError(
            f"Macaulay2 {', '.join(sorted(missing))} is required and was not found"
        )


WHOLLY_SLOW = re.compile(r"^pytestmark = .*\bpytest\.mark\.slow\b", re.MULTILINE)


def is_left_out(file: Path, config: pytest.Config) -> bool:
    """Return whether all tests of a file are slow, and slow ones are left out."""
    if not leaves_out_slow_tests(config):
        return False
    return WHOLLY_SLOW.search(file.read_text(encoding="utf-8")) is not None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file of slow tests is not imported among the fast ones."""
    if collection_path.suffix == ".py" and is_left_out(collection_path, config):
        return True
    return None


def pytest_collection(session: pytest.Session) -> None:
    """A worker of xdist imports its share of all tests before the rest, which the others have
    compiled meanwhile.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.option.file_or_dir:
        return
    gc.disable()  # until all are collected
    files = [
        file
        for file in sorted(Path(__file__).parent.rglob("test_*.py"))
        if not is_left_out(file, session.config)
    ][int(worker["workerid"][2:]) :: worker["workercount"]]
    sys.path[:0] = sorted({str(file.parent) for file in files})
    for file in files:
        with suppress(Exception, pytest.skip.Exception):  # the collection says it
            import_module(file.stem)


def pytest_collection_finish() -> None:
    """Tests and modules stay to the end: collectors of garbage need not look at them again, and at
    others seldom.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "program" in metafunc.fixturenames:
        found = [] if metafunc.config.getoption("--no-engine") else usable()
        marker = metafunc.definition.get_closest_marker("macaulay2")
        if marker is not None and marker.args == ("any",):
            found = found[:1]
        values = [
            pytest.param(
                c.program, id=f"M2-{c.version}", marks=[pytest.mark.slow] * (c != found[0])
            )
            for c in found
        ]
        metafunc.parametrize(
            "program", values or [pytest.param(None, id="no-engine")], scope="session"
        )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if {"program", "m2"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("engine")
        if is_hypothesis_test(getattr(item, "obj", None)) and not leaves_out_slow_tests(config):
            item.add_marker("slow")  # among the fast tests with ten examples
    if config.getoption("--no-engine"):
        for item in items:
            if item.get_closest_marker("engine"):
                item.add_marker(pytest.mark.skip(reason="--no-engine was given"))


@pytest.fixture(scope="session", autouse=True)
def no_hurry() -> Iterator[None]:
    """What a computation without a limit gives itself, a minute, is more than any needs here, on a
    busy machine too.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("m2bridge.limits.METHOD_SECONDS", PATIENCE)
        patch.setattr("m2bridge.maps.dimension.MAX_ELIMINATION_SECONDS", PATIENCE)
        patch.setattr(
            "m2bridge.families.attention.orbits.singular_orbits.MAX_BOUND_SECONDS", PATIENCE
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def server_of_workers(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The process from which workers are forked: it knows one folder of logs, and imports once what
    workers need.
    """
    os.environ[quick.LOG] = str(tmp_path_factory.mktemp("logs") / "log")
    prepare(
        "m2bridge.batch.executors", "m2bridge.certification.verify", *family("attention").modules
    )


@pytest.fixture(scope="session")
def sessions() -> Iterator[Callable[[Path], Macaulay2]]:
    """Warm sessions, one for each Macaulay2, shared by all tests: sessions do not leak."""
    with ExitStack() as stack:

        def session(program: Path) -> Macaulay2:
            started = Macaulay2(program)
            stack.callback(started.end)  # not entered: it is no choice for tests that choose none
            return started

        yield cache(session)


@pytest.fixture(scope="session")
def session(program: Path | None, sessions: Callable[[Path], Macaulay2]) -> Macaulay2:
    """The session on each Macaulay2 in turn."""
    if program is None:
        pytest.fail("no Macaulay2 was found on this machine; install one, or say --no-engine")
    return sessions(program)


@pytest.fixture(scope="session")
def engine(session: Macaulay2) -> Engine:
    """The session, asked each question once; what is about sessions takes ``session``."""
    return REMEMBERING(session)


@pytest.fixture
def chosen(engine: Engine) -> Iterator[None]:
    """What asks Macaulay2 below the public functions asks the session of the tests."""
    with using(engine):
        yield


@pytest.fixture(scope="module")
def recorded(request: pytest.FixtureRequest) -> Engine:
    """Answers from stored transcripts; with ``--record`` from a real Macaulay2, stored for the next
    time.
    """
    if request.config.getoption("--record"):
        return RecordingEngine(Macaulay2(), TRANSCRIPTS)
    return RecordedEngine(TRANSCRIPTS)


@pytest.fixture(scope="session")
def m2() -> str:
    """Any Macaulay2, for tests of the command line."""
    found = usable()
    if not found:
        pytest.fail("no Macaulay2 was found on this machine; install one, or say --no-engine")
    return str(found[0].program)


class Lent:
    """A session that a command takes for its own, and does not end; it asks each question once."""

    def __init__(self, session: Macaulay2) -> None:
        self._using = using(REMEMBERING(session))

    def __enter__(self) -> None:
        self._using.__enter__()

    def __exit__(self, *reason: Any) -> None:
        self._using.__exit__(*reason)

    def start(self) -> None:
        """It runs, or starts with the first script."""


@pytest.fixture
def one_session(
    m2: str, sessions: Callable[[Path], Macaulay2], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands in this process that would start a Macaulay2 without limits take the session of the
    tests on it.
    """
    own = {str(candidate.program) for candidate in usable()}

    def session(program: Path | str | None = None, limits: Limits | None = None) -> Session | Lent:
        chosen = str(program or m2)
        if limits in (None, Limits()) and chosen in own:
            return Lent(sessions(Path(chosen)))
        return Session(program, limits)

    for name in ("cli.common", "cli.show"):
        monkeypatch.setattr(f"m2bridge.{name}.Session", session)
    monkeypatch.setattr("m2bridge.engine.session._shared", lambda candidate: sessions(Path(m2)))


Invoke = Callable[..., subprocess.CompletedProcess[str]]
"""A command with its arguments, and what is on its standard input."""


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Invoke:
    """The command in this process, which need not start: its exit code, and what it writes to both
    streams.
    """

    def run(*arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["m2bridge", *arguments])
        before = os.dup(0)
        with TemporaryFile() as given:
            given.write(code.encode())
            given.seek(0)
            os.dup2(given.fileno(), 0)
            try:
                return subprocess.CompletedProcess(arguments, commands.run(), *capfd.readouterr())
            finally:
                os.dup2(before, 0)
                os.close(before)

    return run


@pytest.fixture
def command() -> str:
    """The installed ``m2bridge`` command."""
    beside = Path(sys.executable).with_name("m2bridge")
    found = str(beside) if beside.exists() else shutil.which("m2bridge")
    assert found, "m2bridge is not installed in this environment"
    return found
