"""Sessions, and the process behind them."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import psutil
import pytest

from m2bridge import ideal
from m2bridge.convert.answers import parse
from m2bridge.engine import process as module
from m2bridge.engine.process import Overdue, Process
from m2bridge.engine.script import Script
from m2bridge.errors import (
    EngineDiedError,
    EngineError,
    EngineVersionError,
    MemoryLimitError,
    ScriptError,
    TimeLimitError,
)
from m2bridge.limits import MIN_ENGINE_MEMORY_BYTES, Limits, clock, limited
from m2bridge.system import LINUX, limits_memory
from m2bridge.workspace.macaulay2 import Macaulay2
from tests.events import PATIENCE, alive, session_members, wait_for, wait_for_end
from tests.limits import HOUR, answers_so_far, limit_when

# The session on real Macaulay2: answers of any size, limits, deaths, interrupts.


def emitted(engine: Macaulay2, code: str) -> object:
    return parse(engine.run(Script("test", f'mbEmit("x", {code})')).records).values["x"]


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("2^20000", 2**20000),
        ("-(2^20000)", -(2**20000)),
        ("3^5000 / 2^5000", Fraction(3**5000, 2**5000)),
        ('{1, (2, true), null, "q\\"\\\\\\n\\t"}', [1, (2, True), None, 'q"\\\n\t']),
        ('"Zürich λ"', "Zürich λ"),
        ('concatenate(10^6 : "ab")', "ab" * 10**6),
    ],
    ids=["integer", "negative", "rational", "nested", "unicode", "2 MB"],
)
def test_values_are_exact(session: Macaulay2, code: str, value: object) -> None:
    assert emitted(session, code) == value


def test_prime_fields_and_matrices(session: Macaulay2) -> None:
    assert emitted(session, "-3_(ZZ/7)") == 4
    matrix = emitted(session, "(x = symbol x; R = QQ[x_(1,2)]; matrix{{x_(1,2), 1/2}, {0_R, 3}})")
    assert [[str(entry) for entry in row] for row in matrix.rows] == [["x_1_2", "1/2"], ["0", "3"]]
    assert emitted(session, "map(ZZ^0, ZZ^3, 0)").columns == 3
    assert emitted(session, "matrix{{1_(ZZ/5), 4}}").rows[0][1] == -1


@pytest.mark.slow
def test_a_polynomial_with_100_000_terms(session: Macaulay2) -> None:
    polynomial = emitted(
        session, "(x = symbol x; R = ZZ[x,y]; sum(400, i -> (i+1)*x^i) * sum(250, j -> y^j))"
    )
    assert len(polynomial) == 100_000
    assert polynomial[(399, 249)] == 400


@pytest.mark.slow
def test_an_ideal_with_2000_generators(session: Macaulay2) -> None:
    ideal = emitted(
        session, "(R = QQ[z_1..z_200]; ideal apply(2000, i -> z_(i%200+1)^(i//200+1) - 1/(i+1)))"
    )
    assert len(ideal.generators) == 2000
    assert ideal.ring.variables[-1] == "z_200"
    assert str(ideal.generators[201]) == "z_2**2 - 1/202"


def test_a_type_without_an_encoder_is_an_error(session: Macaulay2) -> None:
    for code in ("[1,2]", "hashTable{}", "1.5", "QQ", "QQ[x]", "ideal(3)"):
        with pytest.raises(ScriptError, match="no wire encoder"):
            emitted(session, code)


def test_prompt_like_output_changes_nothing(session: Macaulay2) -> None:
    code = (
        'print "i1 : \\n\\1m2bridge 0 9.9\\n{\\"end\\":\\"0\\",\\"records\\":0}"; stdio << endl;'
        ' mbEmit("x", 7)'
    )
    transcript = session.run(Script("noisy", code))
    assert parse(transcript.records).integer("x") == 7
    assert "i1 : " in transcript.output


def test_script_errors_show_message_and_lines(session: Macaulay2) -> None:
    before = session.pid
    with pytest.raises(ScriptError) as failure:
        session.run(Script("faulty", 'mbEmit("a", 1)\nx = 3\nerror "that is wrong"\ny = 4\n'))
    assert failure.value.error == "that is wrong"
    assert failure.value.line == 3
    assert '>    3 | error "that is wrong"' in failure.value.excerpt
    assert parse(failure.value.records).integer("a") == 1
    for code, said in [
        ("1 + + ) 2", "syntax error"),
        ("f = (", 'expected "\\)"|syntax error'),
        ("end", "emitted nothing"),
    ]:
        with pytest.raises(ScriptError, match=said):
            session.run(Script("faulty", code))
    assert emitted(session, "1+1") == 2
    assert session.pid == before, "an error in a script needs no fresh process"


@pytest.mark.slow
def test_a_limit_after_the_last_answer_leaves_the_answers(program: Path) -> None:
    late = Script("late", 'mbEmit("last", 5)\nmbFinish()\nwhile true do sleep 1')
    with (
        Macaulay2(program) as engine,
        limit_when(lambda: len(answers_so_far(engine)) == 2),
        pytest.raises(TimeLimitError) as failure,
    ):
        engine.run(late, timeout=HOUR)
    assert parse(failure.value.records).integer("last") == 5


@pytest.mark.slow
def test_time_limit_kills_everything_and_the_next_run_works(program: Path) -> None:
    with Macaulay2(program) as engine:
        engine.run(Script("warm", 'mbEmit("x", 1)'))
        leader = engine.pid
        assert leader is not None
        slow = 'mbEmit("early", 5)\nrun "sleep 3000 &"\nf = openIn "!sleep 3000"\nwhile true do 1'
        with (
            limit_when(lambda: answers_so_far(engine) and len(session_members(leader)) >= 3),
            pytest.raises(TimeLimitError, match=r"3600 seconds.*timeout=") as failure,
        ):
            engine.run(Script("slow", slow), timeout=HOUR)
        assert parse(failure.value.records).integer("early") == 5
        assert session_members(leader) == []
        assert emitted(engine, "1+1") == 2
        assert engine.pid != leader


@pytest.mark.slow
@pytest.mark.macaulay2("any")
def test_the_limit_is_a_number_of_seconds(program: Path) -> None:
    with Macaulay2(program) as engine, pytest.raises(TimeLimitError, match=r"0\.5 seconds"):
        engine.run(Script("slow", "while true do 1"), timeout=0.5)


@pytest.mark.slow
@pytest.mark.skipif(not limits_memory(), reason="only Linux keeps limits on memory")
def test_memory_limit(program: Path) -> None:
    with Macaulay2(program, Limits(memory=1 << 30)) as engine:
        for code in ("x = toList(1..10000); while true do x = join(x, x)", "2^(2^36)"):
            with pytest.raises(MemoryLimitError, match=r"1 GiB.*--memory"):
                engine.run(Script("greedy", 'mbEmit("a", 1);' + code), timeout=PATIENCE)
            assert emitted(engine, "1+1") == 2


@pytest.mark.slow
def test_the_least_memory_is_enough_or_fails_at_once(program: Path) -> None:
    """On a machine with many cores it is not enough; but Macaulay2 must never hang at its start:
    that is a time-out.
    """
    with (
        Macaulay2(program, Limits(memory=MIN_ENGINE_MEMORY_BYTES)) as engine,
        suppress(MemoryLimitError),
    ):
        assert emitted(engine, "1+1") == 2


def when(event: Callable[[], object], act: Callable[..., object], *arguments: object) -> None:
    """Act in another thread as soon as the event has come."""
    threading.Thread(target=lambda: (wait_for(event), act(*arguments)), daemon=True).start()


@pytest.mark.slow
def test_death_from_inside_and_outside(program: Path) -> None:
    with Macaulay2(program) as engine:
        with pytest.raises(EngineDiedError, match="exit status 7"):
            engine.run(Script("exit", "exit 7"))
        assert emitted(engine, "1+1") == 2
        assert engine.pid is not None
        when(lambda: answers_so_far(engine), os.kill, engine.pid, signal.SIGKILL)
        with pytest.raises(EngineDiedError, match="SIGKILL"):
            engine.run(Script("slow", 'mbEmit("x", 1)\nwhile true do 1'), timeout=PATIENCE)
        assert emitted(engine, "1+1") == 2


@pytest.mark.slow
@pytest.mark.macaulay2("any")
def test_no_script_is_blamed_for_a_death_before_it(program: Path) -> None:
    with Macaulay2(program) as engine:
        assert emitted(engine, "1+1") == 2
        process = engine.process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        wait_for(lambda: process.has_ended)
        assert emitted(engine, "1+1") == 2
        assert engine.pid != process.pid


@pytest.mark.slow
@pytest.mark.macaulay2("any")
def test_a_start_is_not_waited_for(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Macaulay2(program) as engine:
        with monkeypatch.context() as patch:
            patch.delattr(Process, "read_until")
            engine.start()
        pid = engine.pid
        assert emitted(engine, "6*7") == 42
        engine.start()
        assert engine.pid == pid
    assert pid is not None
    wait_for_end([pid])


def test_a_session_that_is_killed_while_nobody_waits_starts_again(program: Path) -> None:
    with Macaulay2(program) as engine:
        engine.start()
        for number in range(3):  # while it starts, and then between two runs
            assert engine.pid is not None
            os.kill(engine.pid, signal.SIGKILL)
            assert emitted(engine, str(number)) == number


@pytest.mark.macaulay2("any")
def test_another_thread_that_closes_a_session_is_named(program: Path) -> None:
    with Macaulay2(program) as engine:
        assert emitted(engine, "1") == 1
        when(lambda: answers_so_far(engine), engine.close)
        with pytest.raises(EngineDiedError, match="another thread: it was closed") as raised:
            engine.run(Script("slow", 'mbEmit("x", 1)\nwhile true do 1'), timeout=PATIENCE)
        assert "memory" not in str(raised.value)
        assert emitted(engine, "1") == 1


def test_a_program_that_prints_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = tmp_path / "M2"
    silent.write_text('#!/bin/sh\n[ "$1" = --version ] && echo 1.26.06 && exit\nexec sleep 10000\n')
    silent.chmod(0o755)
    monkeypatch.setattr("m2bridge.engine.session._START_LIMIT", 0.5)
    with Macaulay2(silent) as engine:
        with pytest.raises(TimeLimitError, match="did not start"):
            engine.run(Script("any", 'mbEmit("x", 1)'))
        assert engine.pid is None


def test_time_before_the_start_is_not_blamed_on_macaulay2(tmp_path: Path) -> None:
    """A limit that has passed starts nothing; one that is nearly over says how much was left."""
    silent = tmp_path / "M2"
    silent.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo 1.26.06 && exit\n'
        f"echo >>{tmp_path}/started\nexec sleep 10000\n"
    )
    silent.chmod(0o755)
    script = Script("any", 'mbEmit("x", 1)')
    with Macaulay2(silent) as engine, limited(30):
        assert engine.version == "1.26.06"
        an_hour_ago = clock().now() - 3600
        with (
            limited(3599, begin=an_hour_ago),
            pytest.raises(TimeLimitError, match=r"computation did not finish within .*3599"),
        ):
            engine.run(script)
        assert not (tmp_path / "started").exists()
        with (
            limited(3600.5, begin=an_hour_ago),
            pytest.raises(TimeLimitError, match=r"start in the 0\.[1-5] seconds .* of .*3600\.5"),
        ):
            engine.run(script)
        assert (tmp_path / "started").exists()


def bytes_in(terminal: int) -> int:
    """The number of bytes that nobody has read."""
    return int.from_bytes(fcntl.ioctl(terminal, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.slow
@pytest.mark.macaulay2("any")
def test_who_started_early_is_not_late(program: Path) -> None:
    """What a Macaulay2 said while nobody listened is heard, although the limit of a start is over."""
    with Macaulay2(program) as engine:
        engine.start()
        assert engine.process is not None
        process, terminal = engine.process, engine.process._master
        wait_for(lambda: bytes_in(terminal) > 60)  # the message of an error, and the report
        engine._process_began -= HOUR
        assert emitted(engine, "6*7") == 42
        assert engine.process is process


def test_an_old_program_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "M2"
    old.write_text("#!/bin/sh\necho 1.20\n")
    old.chmod(0o755)
    with pytest.raises(EngineVersionError, match=r"1\.20.*needs 1\.21"):
        Macaulay2(old).start()


CHILD = """
import os, signal, sys
from m2bridge.workspace.macaulay2 import Macaulay2
from m2bridge.engine.script import Script
engine = Macaulay2(sys.argv[1])
engine.run(Script("warm", 'mbEmit("x", 1)'))
print(engine.pid, flush=True)
{action}
"""


def child(program: Path, action: str) -> tuple[subprocess.Popen[str], int]:
    code = textwrap.dedent(CHILD).format(action=action)
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


SLOW = 'engine.run(Script("slow", "run \\"sleep 3000 &\\"; while true do 1"))'


@pytest.mark.slow
@pytest.mark.macaulay2("any")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_no_process_survives_a_signal_to_python(program: Path, number: signal.Signals) -> None:
    process, leader = child(program, SLOW)
    wait_for(lambda: len(session_members(leader)) >= 2)
    process.send_signal(number)
    process.wait(PATIENCE)
    wait_for(lambda: not session_members(leader))
    assert not alive(leader)


@pytest.mark.slow
@pytest.mark.macaulay2("any")
@pytest.mark.parametrize("action", ["raise RuntimeError", "pass", "sys.exit(3)", "os._exit(3)"])
def test_no_process_survives_the_end_of_python(program: Path, action: str) -> None:
    process, leader = child(program, action)
    process.wait(PATIENCE)
    wait_for_end([leader])


UNTIL = """"{begun}" << close;
while not fileExists "{done}" do nanosleep 10000000;
"""
"""Code that says that it has begun, and goes on when another file is there."""


def asks_for_scripts(engine: Macaulay2, code: str, **limit: float) -> object:
    transcript = engine.run(Script("test", f'{code}\nmbEmit("x", 42)'), **limit)
    return parse(transcript.records).values["x"]


def asks_for_values(engine: Macaulay2, code: str, **limit: float) -> object:
    return engine.value(f"{code}\n42", **limit)


def asks_a_workspace(engine: Macaulay2, code: str, **limit: float) -> object:
    (work,) = engine._workspaces or (engine.workspace(),)
    return work.value(f"{code}\n42", **limit)


ASKING = [asks_for_scripts, asks_for_values, asks_a_workspace]


@pytest.mark.slow
@pytest.mark.macaulay2("any")
@pytest.mark.parametrize("ask", ASKING)
def test_a_signal_handler_does_not_wait_for_what_it_interrupts(
    ask: Callable[..., object], program: Path, tmp_path: Path, bare: None
) -> None:
    """It is told so; what it has interrupted comes to its end, and later handlers get answers."""
    begun, done, said = tmp_path / "begun", tmp_path / "done", []

    def handler(*_: object) -> None:
        try:
            said.append(ask(engine, ""))
        except EngineError as error:
            said.append(type(error))
        engine.start()
        done.touch()

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with Macaulay2(program) as engine:
            asks_a_workspace(engine, "")
            when(begun.exists, os.kill, os.getpid(), signal.SIGUSR1)
            assert ask(engine, UNTIL.format(begun=begun, done=done)) == 42
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert said == [EngineError, 42]


@pytest.mark.slow
@pytest.mark.macaulay2("any")
@pytest.mark.parametrize("ask", ASKING)
def test_the_limit_of_a_call_counts_while_it_waits_for_its_turn(
    ask: Callable[..., object], program: Path, tmp_path: Path, bare: None
) -> None:
    """Whoever has the turn is not disturbed, and time in the queue is not given once more."""
    begun, done = tmp_path / "begun", tmp_path / "done"
    code = UNTIL.format(begun=begun, done=done)
    with Macaulay2(program) as engine, ThreadPoolExecutor(1) as threads:
        asks_a_workspace(engine, "")
        first = threads.submit(ask, engine, code)
        wait_for(begun.exists)
        try:
            with pytest.raises(TimeLimitError, match=r"other threads.*limit of 0\.5 seconds"):
                ask(engine, "", timeout=0.5)
            with pytest.raises(TimeLimitError, match=r"limit of 0\.6 seconds"), limited(0.6):
                ask(engine, "", timeout=HOUR)
        finally:
            done.touch()
        assert first.result() == 42


@pytest.mark.macaulay2("any")
def test_time_in_the_queue_is_part_of_the_limit(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that waited nine tenths of its limit has the tenth that is left."""
    limits = []
    read_until = Process.read_until

    def noted(process: Process, pattern: bytes, timeout: float | None) -> tuple[str, str]:
        limits.append(timeout)
        return read_until(process, pattern, timeout)

    monkeypatch.setattr(Process, "read_until", noted)
    with Macaulay2(program) as engine:
        assert emitted(engine, "1") == 1
        holding = threading.Event()

        def hold() -> None:
            with engine._turn:
                holding.set()
                time.sleep(1)

        thread = threading.Thread(target=hold)
        thread.start()
        holding.wait()
        engine.run(Script("test", 'mbEmit("x", 1)'), timeout=HOUR)
        thread.join()
    assert limits[-1] is not None
    assert limits[-1] <= HOUR - 0.9


@pytest.mark.slow
@pytest.mark.macaulay2("any")
def test_a_session_that_is_over_says_so(program: Path) -> None:
    with Macaulay2(program) as engine:
        engine.close()
        assert emitted(engine, "1") == 1  # between runs, close only ends the process
    for use in (engine.start, lambda: engine.run(Script("one", 'mbEmit("x", 1)'))):
        with pytest.raises(EngineError, match="with block was left"):
            use()
    assert engine.pid is None


def test_temporary_files_are_removed(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Macaulay2(program) as engine:
        emitted(engine, "1")
        folder = next(tmp_path.iterdir())
        assert list(folder.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


# A process on a terminal, with Python in the place of Macaulay2.

MEMORY = """
for line in iter(input, "end"):
    held = b"x" * int(line)
    del held
    print("\\ndone", line, flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not limits_memory(), reason="only Linux measures the peak anew")
def test_the_peak_of_a_large_computation_does_not_stay_with_the_small_ones_after_it(
    tmp_path: Path,
) -> None:
    process = Process(Path(sys.executable), ["-c", MEMORY], None, tmp_path)

    def peak(size: int) -> int:
        process.forget_peak_memory()
        process.send(f"{size}\n")
        process.read_until(rb"done (\d+)", None)
        return process.peak_memory or 0

    try:
        small, large, small_again = map(peak, (1, 200 * 2**20, 1))
    finally:
        process.kill()
    assert large > small + 150 * 2**20
    assert small_again < large - 150 * 2**20


def test_a_limit_longer_than_the_system_waits_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In several waits; what was printed during all of them is there at the end."""
    monkeypatch.setattr(module, "MAX_WAIT_SECONDS", 0.01)
    process = Process(
        Path(sys.executable),
        ["-c", "print('early', flush=True); input(); print('\\ndone 1', flush=True)"],
        None,
        tmp_path,
    )
    expect, waits = process._terminal.expect, []

    def counted(patterns: object, timeout: float) -> int:
        waits.append(timeout)
        if len(waits) == 3:
            process.send("go on\n")
        return expect(patterns, timeout)

    monkeypatch.setattr(process._terminal, "expect", counted)
    try:
        before, group = process.read_until(rb"done (\d+)", 1e300)
        assert ("early" in before, group) == (True, "1")
        assert len(waits) >= 3
        assert max(waits) <= 0.01
    finally:
        process.kill()


def test_a_limit_that_is_reached(tmp_path: Path) -> None:
    process = Process(Path(sys.executable), ["-c", "input()"], None, tmp_path)
    try:
        with pytest.raises(Overdue):
            process.read_until(rb"done (\d+)", 0.2)
    finally:
        process.kill()


def test_a_limit_of_a_month_is_taken(tmp_path: Path) -> None:
    code = "print('\\ndone 1', flush=True); input()"
    process = Process(Path(sys.executable), ["-c", code], None, tmp_path)
    try:
        assert process.read_until(rb"done (\d+)", 30 * 86400.0)[1] == "1"
    finally:
        process.kill()


STUBBORN = """
import signal, sys
from pathlib import Path
from m2bridge.engine.process import Process
code = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); print('\\\\ndone 1', flush=True); signal.pause()"
process = Process(Path(sys.executable), ["-c", code], None, Path(sys.argv[1]))
process.read_until(rb"done (\\d+)", 60)
print(process.pid, flush=True)
signal.pause()
"""


@pytest.mark.skipif(
    not LINUX
    or "pdeathsig"
    not in subprocess.run(
        ["sh", "-c", "setpriv --help 2>&1"], capture_output=True, text=True
    ).stdout,
    reason="only Linux kills it, where there is a recent setpriv",
)
def test_a_program_that_ignores_hang_ups_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STUBBORN, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert psutil.pid_exists(pid)
        process.kill()
    wait_for(
        lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    )


@pytest.mark.macaulay2("any")
def test_the_limit_of_the_session_ends_turns(program: Path) -> None:
    """Minimal primes of this ideal take minutes in both orders of the variables, which have turns
    of five seconds at first.
    """
    hard = ideal(
        "x^5*y + y^5*z + z^5*x + w^3*x - 1",
        "x^4*z + y^4*w - z^3*x*y + 2",
        "w^5 + x^3*y*z - y^4 + 3",
    )
    with Macaulay2(program, limits=Limits(timeout=0.5)) as engine:
        emitted(engine, "1")
        starts = []
        start = engine._start
        engine._start = lambda: (starts.append(1), start())[1]  # type: ignore[method-assign]
        with pytest.raises(TimeLimitError, match=r"limit of 0\.5 seconds") as raised:
            hard.minimal_primes(engine=engine)
        assert raised.value.of_session
        assert len(starts) == 2  # one run for each order
