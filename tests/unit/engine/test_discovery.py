"""The bridge without Macaulay2: where it is sought, recorded transcripts, rendered scripts, other
systems.
"""

import errno
import os
import re
import signal
import subprocess
import sys
import threading
import tomllib
import weakref
from pathlib import Path

import pytest

from m2bridge import SingleLayerAttention, closure, singular_locus
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.cli import commands
from m2bridge.convert import m2_syntax
from m2bridge.engine import Session, candidates, locate
from m2bridge.engine.discovery import INSTALL_WHEEL, TESTED_WHEEL, WHEEL
from m2bridge.engine.script import (
    Engine,
    Script,
    _document_environment,
    _script_environment,
    render,
)
from m2bridge.errors import EngineDiedError, EngineNotFoundError, EngineVersionError, RenderError
from m2bridge.system import cores, exit_text, folder, leave
from tests.conftest import usable
from tests.events import PATIENCE
from tests.limits import RecordedEngine
from tests.programs import hide_programs, program
from tests.systems import SYSTEMS
from tests.wheel import OF_AVX_512, uses

# Where Macaulay2 is looked for.


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Nothing is found, but for what a test adds."""
    hide_programs(monkeypatch)
    return monkeypatch


def test_nowhere(nothing: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        EngineNotFoundError, match=rf"{re.escape(INSTALL_WHEEL)}.*apt-get install macaulay2"
    ):
        locate()


def test_nothing_advises_to_install_a_name_that_is_not_registered() -> None:
    """From the clone ``pip install '.[plot]'``; a stranger could register the name."""
    root = Path(__file__).parents[3]
    kinds = ("*.md", "*.py", "*.toml", "*.yml", "*.j2", "*.tex")
    folders = ("m2bridge", "docs", "templates", "examples", "benchmarks", "paper", ".github")
    texts = [*root.glob("*.md"), root / ".ci" / "run"]
    texts += [file for folder in folders for kind in kinds for file in (root / folder).rglob(kind)]
    assert len(texts) > 200
    for text in texts:
        for command in re.findall(r"pip\s+install\s([^\n&;`]*)", text.read_text()):
            assert not re.search(r"(?<![/\w])m2bridge", command), text
        # an extra or a release of the name, wherever it is named
        assert not re.search(r"m2bridge(\[[a-z{]|==)", text.read_text()), text


def test_instructions_of_avx_512_are_seen() -> None:
    needed = (
        "vpaddd %zmm4,%zmm0,%zmm0",
        "vmovdqu64 %ymm17,(%rdi)",
        "kmovd %k1,%eax",
        "vpxord %xmm31,%xmm1,%xmm2",
    )
    assert all(map(OF_AVX_512.search, needed))
    assert not any(
        map(
            OF_AVX_512.search, ("vpaddd %ymm15,%ymm0,%ymm1", "mov %rax,%rbx", "movdqa %xmm3,%xmm11")
        )
    )


def test_a_program_that_is_not_disassembled_is_not_found_good(
    nothing: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Planted: an objdump that stops after a line without AVX-512, and one that prints one with it."""
    nothing.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    objdump = tmp_path / "objdump"
    objdump.write_text("#!/bin/sh\necho '0: mov %rax,%rbx'\nexit $STATUS\n")
    objdump.chmod(0o755)
    nothing.setenv("STATUS", "0")
    assert uses(Path("M2-binary")) == []
    nothing.setenv("STATUS", "1")
    with pytest.raises(
        SystemExit, match="M2-binary was not disassembled: objdump ended with exit status 1"
    ):
        uses(Path("M2-binary"))
    needs = "vpaddd %zmm4,%zmm0,%zmm0"
    objdump.write_text(f"#!/bin/sh\necho '0: mov %rax,%rbx'\necho ' 4: {needs}'\n")
    assert uses(Path("M2-binary")) == [f"4: {needs}"]


def test_the_extra_ends_with_the_wheel_that_is_tested() -> None:
    written = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    newest = TESTED_WHEEL.partition("==")[2]
    assert written["project"]["optional-dependencies"]["macaulay2"] == [f"{WHEEL}>=10.6,<={newest}"]


def test_order(nothing: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = {
        name: program(tmp_path / name, "1.26.06")
        for name in ("option", "variable", "wheel", "path")
    }
    nothing.setenv("PATH", str(found["path"].parent))
    assert locate().program == found["path"]
    nothing.setattr("m2bridge.engine.discovery.in_wheel", lambda *_: found["wheel"])
    assert locate().program == found["wheel"]
    nothing.setenv("M2BRIDGE_M2", str(found["variable"]))
    assert locate().program == found["variable"]
    assert locate(found["option"]).program == found["option"]
    assert [c.program for c in candidates(found["option"])] == list(found.values())


def test_a_named_program_is_never_replaced(nothing: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel = program(tmp_path / "wheel", "1.26.06")
    nothing.setattr("m2bridge.engine.discovery.in_wheel", lambda *_: wheel)
    with pytest.raises(EngineNotFoundError):
        locate(tmp_path / "missing")
    nothing.setenv("M2BRIDGE_M2", str(program(tmp_path / "old", "1.19.1")))
    with pytest.raises(EngineVersionError, match=r"needs 1\.21"):
        locate()


def test_a_probe_that_is_killed_is_made_again(nothing: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = program(tmp_path / "shot", "1.26.06")
    path.write_text(
        f"#!/bin/sh\n[ -e {tmp_path}/once ] || {{ : > {tmp_path}/once; kill -9 $$; }}\necho"
        " 1.26.06\n"
    )
    assert locate(path).version == "1.26.06"


STOPPED = {"itself": "kill -{signal} $$", "a script": "sh -c 'kill -{signal} $$'\nexit $?"}
"""Programs that a signal stops: directly, and behind a shell script, as that of the wheel is."""


@pytest.mark.parametrize("stopped", STOPPED.values(), ids=STOPPED)
def test_a_program_for_another_processor_says_so(
    nothing: pytest.MonkeyPatch, tmp_path: Path, stopped: str, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing.setenv("PATH", "/usr/bin:/bin")
    path = program(tmp_path / "foreign", "")
    path.write_text(f"#!/bin/sh\n{stopped.format(signal='ILL')}\n")
    said = (
        f"{path} was stopped by SIGILL: this build needs a processor with other instructions"
        f" (AVX-512); {INSTALL_WHEEL}"
    )
    with pytest.raises(EngineVersionError, match=f"^{re.escape(said)}$"):
        locate(path)
    nothing.setattr("sys.argv", ["m2bridge", "doctor", "--m2", str(path)])
    assert commands.run() == 4
    assert said in " ".join(capsys.readouterr().err.split())
    path.write_text(f"#!/bin/sh\n{stopped.format(signal='SEGV')}\n")
    with pytest.raises(
        EngineVersionError, match=r"was stopped by SIGSEGV at '--version'\. Get Macaulay2"
    ):
        locate(path)


@pytest.mark.parametrize("stopped", STOPPED.values(), ids=STOPPED)
def test_a_program_for_another_processor_may_say_so_late(
    nothing: pytest.MonkeyPatch, tmp_path: Path, stopped: str
) -> None:
    """Planted: a builtin with such instructions that is reached in a computation, after the version
    was said.
    """
    nothing.setenv("PATH", "/usr/bin:/bin")
    path = program(tmp_path / "late", "")
    path.write_text(
        f"#!/bin/sh\n[ $1 = --version ] && echo 1.26.06 && exit\n{stopped.format(signal='ILL')}\n"
    )
    with (
        Session(path) as session,
        pytest.raises(EngineDiedError, match="Macaulay2 was stopped by SIGILL: this build"),
    ):
        session.run(Script("late", 'mbEmit("x", 1)'))


def test_a_script_without_its_programs_says_which(
    nothing: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = program(tmp_path / "bare", "")
    for shell in ("sh", "bash"):
        path.write_text(
            f'#!/bin/{shell}\nhere=$(no-such-dirname "$0")\nexec "$here/M2-binary" "$@"\n'
        )
        with pytest.raises(
            EngineVersionError, match="needs the program no-such-dirname, which is not on PATH"
        ):
            locate(path)


def test_too_many_open_files_are_not_the_fault_of_the_program(
    nothing: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good = program(tmp_path / "good", "1.22")

    def run(*arguments: object, **options: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    nothing.setattr("m2bridge.engine.discovery.subprocess.run", run)
    with pytest.raises(EngineVersionError, match=r"too many files are open: .*ulimit -n"):
        locate(good)


def test_an_unusable_program_that_nobody_named_is_passed_over(
    nothing: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = program(tmp_path / "broken", "hello")
    nothing.setattr("m2bridge.engine.discovery.in_wheel", lambda *_: broken)
    with pytest.raises(EngineVersionError, match="is not Macaulay2"):
        locate()
    good = program(tmp_path / "good", "1.22")
    nothing.setenv("PATH", str(good.parent))
    assert locate().program == good


def stand_in_for_the_wheel(folder: Path, commands: str) -> Path:
    """A folder for PYTHONPATH, whose wheel of Macaulay2 goes before the installed one."""
    version = TESTED_WHEEL.partition("==")[2]
    about = folder / f"{WHEEL.replace('-', '_')}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {WHEEL}\nVersion: {version}\n")
    (folder / "sage_wheels").mkdir()
    path = program(folder / "sage_wheels" / "bin", "")
    path.write_text(f"#!/bin/sh\n{commands}\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("there", [True, False], ids=["another is there", "there is no other"])
def test_the_tests_go_on_without_a_wheel_that_cannot_be_used(tmp_path: Path, there: bool) -> None:
    """And one warning says so, however many processes there are. Where there is no other they fail,
    each by itself.
    """
    if there:
        program(tmp_path / "bin", "1.22")
    wheel = stand_in_for_the_wheel(tmp_path / "wheel", "kill -ILL $$")
    here = os.environ | {"PYTHONPATH": str(wheel), "PATH": str(tmp_path / "bin")}
    for name in ("M2BRIDGE_M2", "M2BRIDGE_REQUIRED_ENGINES", "PYTEST_ADDOPTS"):
        here.pop(name, None)
    one = "tests/unit/engine/test_discovery.py::test_titles_stand_in_comments_only"
    # only a warning can be given by several: by a worker and by the process that started it
    workers = "1" if there else "0"
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", workers, one]
    root = Path(__file__).parents[3]
    ended = subprocess.run(line, cwd=root, env=here, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    said = " ".join(ended.stdout.split())
    warning = f"tests run on Macaulay2 1.22 alone, without the Macaulay2 of wheel {WHEEL}: {wheel}"
    assert said.count(warning) == said.count("was stopped by SIGILL") == int(there), ended.stdout


def test_a_program_that_does_not_start_says_why(
    nothing: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = program(tmp_path / "crowded", "")
    path.write_text("#!/bin/sh\necho first >&2\necho 'cannot \033 open' >&2\nexit 1\n")
    with pytest.raises(EngineVersionError, match="printed '' and complained 'cannot   open'"):
        locate(path)
    nothing.setattr("m2bridge.engine.discovery.address_space", lambda: 300 * 2**20)
    with pytest.raises(
        EngineVersionError, match=r"within the 300M of address space allowed here \(ulimit -v\)"
    ):
        locate(path)


# The whole road without Macaulay2: computations answered from recorded transcripts.


def test_closure(recorded: Engine) -> None:
    found = closure(SingleLayerAttention(2, 2), engine=recorded)
    assert (found.dimension, found.degree, str(found.completeness)) == (7, 20, "proved")
    assert found.ideal is not None
    assert found.ideal.generator_degrees == {2: 5, 4: 10}
    assert "5 quadrics, 10 quartics" in found.to_text()
    assert found.to_json()["hilbert_series"] == {
        "numerator": [1, 5, 10, 10, -5, -1],
        "denominator_exponent": 7,
    }


def test_singular_locus(recorded: Engine) -> None:
    found = singular_locus(SingleLayerAttention(2, 1), engine=recorded, method="all", ideals=True)
    assert found.dimension == 4
    assert (
        r"$\operatorname{Sing} = \overline{\mathcal O_{(1,1,0)}}\;(\dim 4,\ \deg 3)$"
        in found.to_latex()
    )
    assert r"$f_{3} = c_{" in found.to_latex()  # the ideal of the component
    assert "\n    c_1_1_2_2*c_1_2_1_1 - c_1_1_1_1*c_1_2_2_2\n" in found.to_text()
    assert "3 quadrics" in found.to_text()


def test_a_script_that_was_never_recorded(recorded: Engine) -> None:
    if isinstance(recorded, RecordedEngine):
        with pytest.raises(EngineNotFoundError, match="no transcript"):
            closure(SingleLayerAttention(3, 3), engine=recorded, strategy="elimination")


BASE_LOCUS = {"field": "QQ", "parameters": "s", "relations": "", "radical": False, "images": "{s}"}


def test_polynomials_are_written_exactly() -> None:
    ring = PolynomialRing(QQ, ("x", "y_1_2"))
    x, y = ring.sympy_ring.gens
    third = ring.sympy_ring.domain(1, 3)
    assert m2_syntax.polynomial(x**2 * y - third * y + 1) == "x^2*y_(1,2)-1/3*y_(1,2)+1"
    assert m2_syntax.polynomial(-x) == "-x"
    assert m2_syntax.polynomial(0 * x) == "0"
    residues = PolynomialRing(CoefficientField(7), ("x",)).sympy_ring.gens[0]
    assert m2_syntax.polynomial(6 * residues) == "-x"


def test_long_sums_and_lists_are_grouped() -> None:
    """Macaulay2's parser crashes on flat sums of 50 000 terms and flat lists of 200 000 entries."""
    x = PolynomialRing(QQ, ("x",)).sympy_ring.gens[0]
    written = m2_syntax.polynomial(sum((x**k for k in range(1, 1000)), x**0))
    assert written.startswith("sum {")
    assert max(len(group.split("+")) for group in written.split(",")) <= 200
    items = m2_syntax.sequence(str(i) for i in range(100_000))
    assert max(len(group) for group in re.findall(r"\{([^{}]*)\}", items)) < 5000
    assert [int(i) for i in re.findall(r"\d+", items)] == list(range(100_000))


def test_titles_stand_in_comments_only() -> None:
    """A title is words of any origin; see also the property test that none of them leaves its
    comment.
    """
    for path in sorted(folder("templates").glob("*.m2.j2")):
        lines = [
            line
            for line in path.read_text(encoding="utf-8").splitlines()
            if re.search(r"\btitle\b", line)
        ]
        assert all(line.startswith("-- ") for line in lines), path.name


@pytest.mark.parametrize(
    "break_", ["\n", "\r", "\x0b", "\x0c", "\x00", "\x1b", "\x85", "\u2028", "\u2029", "\ud800"]
)
def test_no_character_ends_the_comment(break_: str) -> None:
    body = render("base_locus", values=BASE_LOCUS | {"title": f'a{break_}run "touch made"'}).body
    assert '-- a run "touch made".\n' in body


def test_missing_values_and_templates_are_errors() -> None:
    with pytest.raises(RenderError, match="undefined"):
        render("closure", values={"title": "no more than that"})
    with pytest.raises(RenderError):
        render("no_such_template")


def test_documents_leave_the_settings_of_scripts_alone() -> None:
    # an overlay of Jinja shares the dictionary of filters with its original
    of_documents = _document_environment()
    of_scripts = _script_environment()
    assert {"latex", "markdown"} <= of_documents.filters.keys() - of_scripts.filters.keys()


def test_standalone_has_the_shared_code_and_the_end() -> None:
    text = Script("one", 'mbEmit("x", 1)\n').standalone()
    assert "mbEncode = method" in text
    assert text.endswith('mbEmit("x", 1)\nmbFinish()\n')


# Other systems, by what their Python lacks; child processes lack it too.

CERTIFICATES = Path(__file__).parents[2] / "certificates"


@pytest.fixture
def on(tmp_path: Path):
    def run(system: str, *command: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "sitecustomize.py").write_text(SYSTEMS[system])
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            [sys.executable, *command],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
        )

    return run


@pytest.mark.slow
def test_macos_certifies_and_verifies(on, tmp_path: Path) -> None:
    """Without what Linux alone has: batches count cores there in another way."""
    assert (
        on("macOS", "-c", "import os; print(hasattr(os, 'sched_getaffinity'))").stdout == "False\n"
    )
    case = ("--family", "polynomial-network", "--widths", "1..2,1", "--out", "results")
    for command in (["certify", *case], ["verify", "results"]):
        done = on("macOS", "-m", "m2bridge", *command)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert list((tmp_path / "results").rglob("*.json"))


@pytest.mark.slow
@pytest.mark.engine
def test_macos_runs_the_engine(on) -> None:
    """Memory is not measured, and limits on it are not set; all else of sessions is the same.

    One Macaulay2 is enough: what differs is Python's.
    """
    tests = Path(__file__).parents[2] / "engine" / "test_session.py"
    left_out = [candidate.version for candidate in usable()[1:]]
    # sizes of answers, and the turns of threads, in which no system differs: one way of asking
    left_out += ["100_000_terms", "2000_generators", "MB]", "asks_for_values", "asks_a_workspace"]
    chosen = " and ".join(f"not {word}" for word in left_out)
    line = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", "-k", chosen, str(tests)]
    done = on("macOS, with pytest", *line)
    assert done.returncode == 0, done.stdout
    skipped = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    assert skipped
    assert all("Linux" in line for line in skipped)


@pytest.mark.slow
@pytest.mark.engine
def test_macos_computes_where_a_limit_on_memory_is_asked_for(on) -> None:
    """The server for assistants asks for one always."""
    case = ("dimension", "--d", "2", "--d-out", "1", "--method", "elimination")
    done = on("macOS", "-m", "m2bridge", *case, "--memory", "2G", "--timeout", "3600")
    assert done.returncode == 0, done.stderr


MACOS_SAYS = """
import os, resource, signal, subprocess, sys, time
from m2bridge import system
from m2bridge.engine.trace import death
from m2bridge.limits import MAX_TIMER_SECONDS, Limits, alarm, clock, limited

before = resource.getrlimit(resource.RLIMIT_AS)
system.limit_address_space(2**30)
assert resource.getrlimit(resource.RLIMIT_AS) == before
assert system.peak_memory(os.getpid()) is None
assert system.launcher("/dev/tty", 2**30)[-2:] == ("", "")
assert "memory limit" not in str(death(-signal.SIGSEGV, "", (), Limits(memory=2**30)))
assert system.is_hung_up(0)

child = subprocess.Popen(["sleep", "3600"], start_new_session=True)
assert not system.has_ended(child.pid)
system.kill_group(child.pid)
while not system.has_ended(child.pid):
    time.sleep(0.01)
system.kill_group(child.pid)  # a zombie: nothing is to be killed, and nobody says so
assert child.wait() == -signal.SIGKILL
assert system.has_ended(child.pid)

with limited(MAX_TIMER_SECONDS), alarm(clock(), 60.0):
    print("all of it")
"""


def test_macos_has_its_own_way(on) -> None:
    """Of each function that Linux has in another one."""
    done = on("macOS", "-c", MACOS_SAYS)
    assert (done.stdout, done.returncode) == ("all of it\n", 0), done.stderr


def test_a_process_ends_with_its_pipe_on_macos(on) -> None:
    program = """
import os, time
from m2bridge.system import end_with
reading, writing = os.pipe()
end_with(reading)
os.close(writing)
while True:
    time.sleep(1)
"""
    assert on("macOS", "-c", program).returncode == 1


def test_windows_is_told_of_wsl(on) -> None:
    done = on("Windows", "-m", "m2bridge", "closure", "--d", "2", "--d-out", "1")
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith(
        "Error: m2bridge needs Linux or macOS; on Windows install it in WSL"
    )
    assert done.stderr.count("\n") == 1


def test_windows_is_told_of_wsl_by_the_library(on) -> None:
    done = on("Windows", "-c", "from m2bridge import closure")
    assert done.stderr.splitlines()[-1].startswith(
        "m2bridge.errors.UnsupportedSystemError: m2bridge needs Linux or"
    )


def test_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = cores()
    assert allowed >= 1
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert cores() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "m2bridge", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("m2bridge, version ")


def test_a_signal_is_not_lost_while_something_is_taken_away(monkeypatch) -> None:
    """What a finalizer raises is shown and dropped, and the process went on."""
    shown: list[object] = []
    things = [threading.Event()]
    weakref.finalize(things[0], signal.raise_signal, signal.SIGTERM)

    def take_away() -> None:
        things.clear()
        threading.Event().wait(PATIENCE)

    monkeypatch.setattr(sys, "unraisablehook", shown.append)
    before = signal.signal(signal.SIGTERM, leave)
    try:
        with pytest.raises(SystemExit, match="143"):
            take_away()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not shown


def test_a_signal_at_the_end_of_python_is_not_shown() -> None:
    program = """
import os, signal, threading
from m2bridge.system import leave

seen = threading.Event()

def handler(number, frame):
    seen.set()
    leave(number, frame)

def late():
    threading.main_thread().join()
    # a signal that arrives just before the main thread waits for its threads does not wake it
    while not seen.wait(0.1):
        os.kill(os.getpid(), signal.SIGTERM)

signal.signal(signal.SIGTERM, handler)
threading.Thread(target=late).start()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_signal_without_a_name_has_its_number() -> None:
    assert exit_text(-9) == "was killed by SIGKILL"
    assert exit_text(-(signal.SIGSYS + 5)) == f"was killed by signal {signal.SIGSYS + 5}"
    assert exit_text(3) == "ended with exit status 3"
