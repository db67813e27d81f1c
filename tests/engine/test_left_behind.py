"""Nothing is left behind: no process, no folder, whatever ends, ignores or shares a session."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from m2bridge.convert.answers import parse
from m2bridge.engine import scratch
from m2bridge.engine.scratch import Scratch, sweep
from m2bridge.engine.script import Script
from m2bridge.errors import EngineDiedError, EngineError
from m2bridge.system import limits_memory
from m2bridge.workspace.macaulay2 import Macaulay2
from tests.batches import EXECUTORS, certifying, results
from tests.events import PATIENCE, wait_for
from tests.limits import HOUR

pytestmark = [pytest.mark.engine, pytest.mark.slow]

IGNORING = "trap '' HUP CHLD; exec \"$@\""
"""A shell line: how ``nohup`` and careless parents start programs."""


def emitted(engine: Macaulay2, code: str) -> object:
    return parse(engine.run(Script("test", f'mbEmit("x", {code})')).records).values["x"]


def running(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, here and in programs started from here; sockets in it need a
    short name.
    """
    with tempfile.TemporaryDirectory(prefix="left-") as folder:
        monkeypatch.setattr("tempfile.tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


PREAMBLE = """
import os, signal, sys, threading
from m2bridge.limits import Limits
from m2bridge.workspace.macaulay2 import Macaulay2
from m2bridge.errors import EngineError, M2BridgeError
from m2bridge.engine.script import Script
def one(engine): return engine.run(Script("one", 'mbEmit("x", 1)')).records
engine = Macaulay2(sys.argv[1])
"""


@contextmanager
def python(
    program: Path, code: str, shell: str = 'exec "$@"', **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """A program that has a session ``engine``, started by a shell line."""
    command = [sys.executable, "-c", PREAMBLE + textwrap.dedent(code), str(program)]
    process = subprocess.Popen(
        ["sh", "-c", shell, "sh", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def printed(process: subprocess.Popen[str]) -> list[str]:
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return out.splitlines()


SHARED = """
import psutil
from m2bridge import CoefficientField, ideal
from m2bridge.engine import current
five = CoefficientField(5)
listed = [ideal(*g, variables="x y", field=five) for g in (("x^2 + y", "y"), ("x^2", "y"), ("x", "y"), ("x", "y^2"))]
pids = []
def asked():
    pids.append(current().pid)
    return len(set(listed))
"""


@pytest.mark.macaulay2("any")
def test_calls_without_an_engine_share_one_session(program: Path, temporary: Path) -> None:
    """Sets, methods and threads take one process; a child of ``fork`` another; all are gone at the
    end.
    """
    code = """
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: asked(), range(4)))
    pids = [current().pid]
    found.append(asked())
    listed[0].minimal_primes(), listed[3].radical(), listed[0].singular_locus()
    pids.append(current().pid)
    reading, writing = os.pipe()
    if not os.fork():
        os.write(writing, f"{asked()} {current().pid}".encode())
        sys.exit()
    os.wait()
    number, pid = os.read(reading, 100).decode().split()
    print(*{*found, int(number)}, int(pid) not in pids, psutil.pid_exists(int(pid)))
    print(*sorted({p for p in [*pids, current().pid]}))
    """
    with python(
        program, SHARED + textwrap.dedent(code), M2BRIDGE_M2=str(program), TMPDIR=str(temporary)
    ) as process:
        first, second = printed(process)
        assert first == "3 True False"
        (pid,) = map(int, second.split())
        wait_for(lambda: not running(pid))
    assert not list(temporary.iterdir())


# Orphans


LOOP = 'Script("loop", "run \\"sleep 300 &\\"; \\"{}\\" << close; while true do 1")'
THREAD = "thread = threading.Thread(target=one, args=[engine]); thread.start(); thread.join()"


@pytest.mark.parametrize("start", ["engine.start()", THREAD], ids=["main thread", "ended thread"])
def test_no_process_survives_where_hang_ups_are_ignored(
    program: Path, start: str, tmp_path: Path
) -> None:
    looping = tmp_path / "looping"
    code = (
        f"{start}\none(engine)\nprint(engine.pid, flush=True)\nengine.run({LOOP.format(looping)})"
    )
    with python(program, code, IGNORING) as process:
        assert process.stdout is not None
        leader = int(process.stdout.readline())
        wait_for(looping.exists)
        assert len(session(leader)) > 1
        process.kill()
        process.wait(PATIENCE)
        wait_for(lambda: not session(leader))


def session(leader: int) -> list[int]:
    """Living processes of the session that a process leads."""
    members = []
    for pid in psutil.pids():
        with suppress(OSError):
            if os.getsid(pid) == leader and running(pid):
                members.append(pid)
    return members


def test_a_program_starts_with_a_clean_slate(program: Path) -> None:
    """It ignores and holds back no signals, and has no files of ours, whatever this process was
    given.
    """
    code = """
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP, signal.SIGTERM})
    one(engine)
    status = dict(line.split(":\\t") for line in open(f"/proc/{engine.pid}/status"))
    print(int(status["SigBlk"], 16), int(status["SigIgn"], 16) & 1 << signal.SIGHUP - 1)
    print(any(os.readlink(f"/proc/self/fd/{writing}") == os.readlink(file.path)
              for file in os.scandir(f"/proc/{engine.pid}/fd")))
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux tells")
    with python(program, code, IGNORING) as process:
        assert printed(process) == ["0 0", "False"]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_batch_outlives_a_hang_up_that_it_ignores_and_leaves_nothing(
    executor: str, tmp_path: Path, temporary: Path, m2: str
) -> None:
    (folder := tmp_path / "results").mkdir()
    long = ("--d", "1..5", "--d-out", "1..5", "--a", "1..5")
    with certifying(folder, m2, *long, "--executor", executor, shell=IGNORING) as process:
        wait_for(lambda: results(folder))
        os.kill(process.pid, signal.SIGHUP)
        seen = len(results(folder))
        wait_for(lambda: len(results(folder)) > seen + 16)  # more than was under way
        descendants = psutil.Process(process.pid).children(recursive=True)
        assert any("M2" in p.name() for p in descendants)
        process.kill()
        process.communicate(timeout=PATIENCE)
        wait_for(lambda: not any(running(p.pid) for p in descendants))
    sweep()
    assert [path for path in temporary.iterdir() if path.name.startswith("m2bridge")] == []


@pytest.mark.macaulay2("any")
def test_sessions_that_are_dropped_end_their_processes(program: Path, temporary: Path) -> None:
    engines = [Macaulay2(program) for _ in range(3)]
    for engine in engines:
        engine.start()
    pids = [engine.pid for engine in engines]
    del engine, engines
    gc.collect()
    assert not any(map(psutil.pid_exists, filter(None, pids)))
    assert list(temporary.iterdir()) == []


# Folders


@pytest.mark.macaulay2("any")
def test_folders_of_killed_processes_are_swept_at_the_next_start(
    program: Path, temporary: Path
) -> None:
    with python(
        program, "engine.start(); print(engine.pid, flush=True); signal.pause()"
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (folder,) = temporary.iterdir()
        (folder / "left").write_text("by a process that is to be killed", encoding="utf-8")
        sweep()
        assert folder.exists(), "its process lives"
        process.kill()
        process.wait(PATIENCE)
        assert folder.exists()
        with Macaulay2(program) as engine:
            engine.start()
            assert not folder.exists()
    assert list(temporary.iterdir()) == []


def test_a_sweep_leaves_what_is_not_left_behind(temporary: Path) -> None:
    mine = Scratch()
    for name in ("m2bridge-other", "other", "m2bridge-run-of-tuesday"):
        (temporary / name).mkdir()
    (temporary / "m2bridge-run-one_file").touch()
    (temporary / "m2bridge-run-one_link").symlink_to(temporary / "other")
    before = set(temporary.iterdir())
    sweep()
    assert set(temporary.iterdir()) == before
    mine.remove()
    assert set(temporary.iterdir()) == before - {mine.path}


def test_a_folder_is_removed_and_what_it_links_to_is_not(temporary: Path) -> None:
    (other := temporary / "other").mkdir()
    (other / "kept").touch()
    (left := temporary / "m2bridge-run-left_one").mkdir()
    mine = Scratch()
    for folder in (left, mine.path):
        (folder / "link").symlink_to(other)
    sweep()
    mine.remove()
    assert set(temporary.iterdir()) == {other}
    assert (other / "kept").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes folders of other users")
def test_a_sweep_leaves_the_folders_of_other_users(temporary: Path) -> None:
    (theirs := temporary / "m2bridge-run-of_other").mkdir()
    (ours := temporary / "m2bridge-run-our__own").mkdir()
    os.chown(theirs, 12345, -1)
    sweep()
    assert (theirs.exists(), ours.exists()) == (True, False)


@pytest.mark.parametrize("moment", ["before it is opened", "before it is locked"])
def test_a_new_folder_that_another_process_sweeps_is_made_again(
    moment: str, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, swept = scratch._opened, []

    def slowly(path: Path) -> int:
        if moment == "before it is opened" and not swept:
            swept.append(path)
            path.rmdir()
        descriptor = opened(path)
        if not swept:
            swept.append(path)
            sweep()
        return descriptor

    monkeypatch.setattr(scratch, "_opened", slowly)
    folder = Scratch()
    assert swept
    assert swept[0] != folder.path
    assert folder.path.is_dir()
    folder.remove()
    assert list(temporary.iterdir()) == []


def test_files_of_macaulay2_itself_are_removed(program: Path, temporary: Path) -> None:
    with Macaulay2(program) as engine:
        file = Path(str(emitted(engine, 'first {f = temporaryFileName(), f << "much" << close}')))
        assert file.exists()
        assert temporary in file.parents
    assert list(temporary.iterdir()) == []


# Threads and forks


@pytest.mark.macaulay2("any")
def test_threads_take_turns(program: Path) -> None:
    with Macaulay2(program) as engine, ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda n: emitted(engine, f"{n}^2"), range(40))) == [
            n**2 for n in range(40)
        ]
        assert len(list(threads.map(lambda _: engine.start() or engine.pid, range(8)))) == 8


@pytest.mark.macaulay2("any")
def test_a_session_closed_by_another_thread_says_so(program: Path, tmp_path: Path) -> None:
    looping = tmp_path / "looping"

    def close() -> None:
        wait_for(looping.exists)
        engine.close()

    with Macaulay2(program) as engine:
        threading.Thread(target=close).start()
        with pytest.raises(EngineDiedError):
            engine.run(Script("loop", f'"{looping}" << close; while true do 1'))
        assert emitted(engine, "6*7") == 42


@pytest.mark.macaulay2("any")
def test_a_forked_child_leaves_the_session_to_its_parent(program: Path) -> None:
    code = """
    one(engine)
    before = engine.pid
    child = os.fork()
    if child == 0:
        one(engine)
        print(engine.pid not in (None, before), flush=True)
        del engine
        sys.exit()
    os.waitpid(child, 0)
    one(engine)
    print(engine.pid == before)
    if os.fork() == 0:
        sys.exit()
    os.wait()
    print(one(engine) != (), engine.pid == before)
    """
    with python(program, code) as process:
        assert printed(process) == ["True", "True", "True True"]


@pytest.mark.macaulay2("any")
def test_a_forked_child_does_not_keep_the_session_of_a_killed_parent(program: Path) -> None:
    """It holds neither the terminal nor the folder."""
    code = """
    thread = threading.Thread(target=engine.start); thread.start(); thread.join()
    one(engine)
    if (child := os.fork()) == 0:
        signal.pause()
    print(engine.pid, child, flush=True)
    signal.pause()
    """
    with python(program, code, IGNORING) as process:
        assert process.stdout is not None
        leader, child = map(int, process.stdout.readline().split())
        try:
            process.kill()
            process.wait(PATIENCE)
            wait_for(lambda: not running(leader))
            assert running(child)
        finally:
            os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize(("ending", "limit"), [("exit 7", HOUR), ("while true do sleep 1", 1)])
def test_children_that_nobody_waits_for(program: Path, ending: str, limit: float) -> None:
    """Where SIGCHLD is ignored nobody knows how Macaulay2 ended; it ends all the same, and starts
    again.
    """
    code = f"""
    try:
        engine.run(Script("ending", "{ending}"), timeout={limit})
    except EngineError as error:
        print(type(error).__name__)
    print(one(engine) != ())
    engine.close()
    """
    with python(program, code, IGNORING) as process:
        assert printed(process) == [
            "EngineDiedError" if "exit" in ending else "TimeLimitError",
            "True",
        ]


# Scripts


def test_nothing_of_a_script_stays(program: Path) -> None:
    """Macaulay2 keeps a table of names, which would keep all rings and functions; it does
    not grow.
    """
    names = 'value Core#"private dictionary"#"Attributes"'
    script = Script(
        "ring",
        """R = QQ[x,y]; f = z -> z; M = R^2; T = new Type of List;
        K = frac R; use R; S = R/ideal(x*y); p = map(S, R); use R;
        mbEmit("x", degree ideal(x^2, x*y))""",
    )
    with Macaulay2(program) as engine:
        engine.run(script)
        before = emitted(engine, f"#({names})")
        for _ in range(5):
            engine.run(script)
        assert emitted(engine, f"#({names})") == before


@pytest.mark.parametrize(
    "code",
    [
        *(
            "mbRun = 0",
            "mbReport = 0",
            "mbEmit = 0",
            "symbol mbArray <- 0",
            "mbLength = 0",
            "mbShared = 0",
        ),
        *(
            "erase symbol mbRun",
            "erase symbol mbReport",
            "scan(2, i -> erase symbol mbEmit)",
            "dictionaryPath = {}",
        ),
        *(
            "mbOutput = 0",
            "mbNonce = 0; mbRecords = 0",
            "close mbOutput",
            "protect symbol mbOutput",
            "clearAll()",
        ),
    ],
)
def test_no_script_breaks_the_session_for_the_next_one(engine: Macaulay2, code: str) -> None:
    with suppress(EngineError):
        engine.run(Script("careless", code), timeout=HOUR)
    script = Script("next", 'R = QQ[x]; mbEmit("x", x^2); mbEmit("length", mbLength ideal(x^2))')
    answer = parse(engine.run(script, timeout=HOUR).records)
    assert (answer.integer("length"), str(answer.values["x"])) == (2, "x**2")


# Limits of the system


@pytest.mark.skipif(not limits_memory(), reason="only Linux keeps limits on memory")
@pytest.mark.parametrize("limit", ["ulimit -Sv", "ulimit -v"])
def test_a_limit_on_address_space_is_inherited_and_never_raised(program: Path, limit: str) -> None:
    code = """
    import resource
    one(engine)
    print(resource.prlimit(engine.pid, resource.RLIMIT_AS) == resource.getrlimit(resource.RLIMIT_AS))
    try:
        Limits(memory=5 * 2**30)
    except M2BridgeError as error:
        print(error)
    with Macaulay2(sys.argv[1], Limits(memory=2 * 2**30)) as smaller:
        one(smaller)
        print(resource.prlimit(smaller.pid, resource.RLIMIT_AS)[0] == 2 * 2**30)
    """
    with python(program, code, f'{limit} {4 * 2**20}; exec "$@"') as process:
        refusal = (
            "Argument 'memory' must be at most 4096M, the address space allowed here (ulimit -v)."
        )
        assert printed(process) == ["True", refusal, "True"]


@pytest.mark.parametrize(
    ("home", "folder"),
    [("", "/nowhere"), ("/nowhere", "{}/caf\udce9 \"q\\\n' x")],
    ids=["no HOME, no such TMPDIR", "no such HOME, TMPDIR not UTF-8"],
)
def test_strange_environments(program: Path, tmp_path: Path, home: str, folder: str) -> None:
    folder = folder.format(tmp_path)
    if folder.startswith(str(tmp_path)):
        os.mkdir(folder)
    code = """
    one(engine)
    try:
        engine.run(Script("faulty", "x = 3\\nerror \\"that is wrong\\""))
    except EngineError as error:
        print(error.error, error.line)
    """
    with python(program, code, HOME=home, TMPDIR=folder) as process:
        assert printed(process) == ["that is wrong 2"]


@pytest.mark.macaulay2("any")
def test_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch, program: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    with (
        Macaulay2(program) as engine,
        pytest.raises(EngineError, match=r"no temporary folder can be made: .*TMPDIR"),
    ):
        engine.start()


@pytest.mark.parametrize("files", [8, 12, 14])
def test_few_open_files(program: Path, command: str, files: int) -> None:
    """Enough, or one clear line."""
    line = f'ulimit -n {files}; exec "$@"'
    arguments = [command, "closure", "--d", "2", "--d-out", "1", "--json", "--m2", str(program)]
    found = subprocess.run(
        ["sh", "-c", line, "sh", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if found.returncode == 0:
        assert json.loads(found.stdout)["degree"] == 4
    else:
        assert found.returncode in (4, 5)
        assert found.stderr.startswith("Error: ")
        assert len(found.stderr.splitlines()) == 1
    assert found.returncode == 0 or files < 14


def test_too_few_open_files_for_workers(tmp_path: Path, m2: str) -> None:
    with certifying(tmp_path, m2, shell='ulimit -n 14; exec "$@"') as process:
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 5
    assert said.splitlines() == [
        "Error: BatchError: workers need at least 24 open files; 14 are allowed here (ulimit -n)"
    ]


def test_a_folder_into_which_a_process_writes_while_it_is_swept_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Macaulay2 whose Python was killed may write until it ends, too."""
    left = Path(tempfile.mkdtemp(prefix=scratch.PREFIX, dir=tmp_path))
    remove = shutil.rmtree
    written = []

    def written_meanwhile(path: Path, ignore_errors: bool) -> None:
        remove(path, ignore_errors=ignore_errors)
        if not written:
            written.append(path)
            path.mkdir()
            (path / "answers").write_text("")

    monkeypatch.setattr(scratch.shutil, "rmtree", written_meanwhile)
    sweep(tmp_path)
    assert written == [left]
    assert not left.exists()
