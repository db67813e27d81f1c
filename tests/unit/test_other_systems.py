"""Other systems, by what their Python lacks; child processes lack it too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from m2bridge.system import cores

CERTIFICATES = Path(__file__).parents[1] / "certificates"
ABSENT = {
    "macOS": """
import os, resource, select, signal, socket
for module, names in {
    os: ("sched_getaffinity", "sched_setaffinity", "memfd_create", "pidfd_open", "pipe2", "setresuid", "posix_fadvise"),
    resource: ("prlimit", "RLIMIT_RTPRIO", "RLIMIT_SIGPENDING"),
    select: ("epoll",),
    signal: ("sigtimedwait", "sigwaitinfo", "pidfd_send_signal"),
    socket: ("SOCK_CLOEXEC", "SOCK_NONBLOCK"),
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
""",
    "Windows": """
import os, signal, sys
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
for module, names in {
    os: ("sched_getaffinity", "fork", "getuid", "posix_spawn", "setsid"),
    signal: ("SIGALRM", "SIGHUP", "SIGPIPE", "pthread_sigmask", "setitimer"),
}.items():
    for name in names:
        delattr(module, name)
""",
}


@pytest.fixture
def on(tmp_path: Path):
    def run(system: str, *command: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "sitecustomize.py").write_text(ABSENT[system])
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment, cwd=tmp_path)

    return run


def test_macos_certifies_and_verifies(on, tmp_path: Path) -> None:
    """Without what Linux alone has: batches count cores there in another way."""
    assert on("macOS", "-c", "import os; print(hasattr(os, 'sched_getaffinity'))").stdout == "False\n"
    case = ("--family", "polynomial-network", "--widths", "1..2,1", "--out", "results")
    for command in (["certify", *case], ["verify", "results"]):
        done = on("macOS", "-m", "m2bridge", *command)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert list((tmp_path / "results").rglob("*.json"))


def test_windows_is_told_of_wsl(on) -> None:
    done = on("Windows", "-m", "m2bridge", "closure", "--d", "2", "--d-out", "1")
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith("Error: m2bridge needs Linux or macOS; on Windows install it in WSL")
    assert done.stderr.count("\n") == 1


def test_windows_is_told_of_wsl_by_the_library(on) -> None:
    done = on("Windows", "-c", "from m2bridge import closure")
    assert done.stderr.splitlines()[-1].startswith("m2bridge.errors.UnsupportedSystemError: m2bridge needs Linux or")


def test_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = cores()
    assert allowed >= 1
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert cores() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "m2bridge", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("m2bridge, version ")
