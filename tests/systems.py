"""Other systems, as programs that change Python when it starts; child processes begin so too."""

MACOS_LACKS = {
    "os": (
        *("sched_getaffinity", "sched_setaffinity", "memfd_create", "pidfd_open", "eventfd"),
        *("pipe2", "setresuid", "getresuid", "posix_fadvise", "splice", "unshare", "setns"),
        "waitid",  # before Python 3.13
    ),
    "resource": ("prlimit", "RLIMIT_RTPRIO", "RLIMIT_SIGPENDING"),
    "select": ("epoll",),
    "signal": ("sigtimedwait", "sigwaitinfo", "pidfd_send_signal", "SIGSTKFLT"),
    "socket": ("SOCK_CLOEXEC", "SOCK_NONBLOCK"),
}
"""Names of Python's modules that Linux has and macOS has not."""

# The names that macOS lacks are said below.
MACOS = """
import importlib, os, resource, select, signal
for module, names in LACKING.items():
    for name in names:
        if hasattr(importlib.import_module(module), name):
            delattr(importlib.import_module(module), name)

set_limit, set_timer, poll, kill_group = (
    resource.setrlimit, signal.setitimer, select.poll, os.killpg
)

def setrlimit(kind, limits):
    if kind == resource.RLIMIT_AS:
        raise ValueError("current limit exceeds maximum limit")
    set_limit(kind, limits)

def setitimer(which, seconds, interval=0.0):
    if seconds > 1e8:
        raise signal.ItimerError(22, "Invalid argument")
    return set_timer(which, seconds, interval)

class Poll:
    def __init__(self):
        self.real = poll()
    def register(self, file, *events):
        number = file if isinstance(file, int) else file.fileno()
        assert not os.isatty(number), "poll knows no terminals"
        self.real.register(file, *events)
    def __getattr__(self, name):
        return getattr(self.real, name)

def killpg(group, number):
    import psutil
    if psutil.pid_exists(group) and psutil.Process(group).status() == psutil.STATUS_ZOMBIE:
        raise PermissionError(1, "Operation not permitted")
    kill_group(group, number)

resource.setrlimit, signal.setitimer, select.poll, os.killpg = setrlimit, setitimer, Poll, killpg

from m2bridge import system

system.LINUX = False
"""

WINDOWS = """
import os, signal, sys
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
for module, names in {
    os: ("sched_getaffinity", "fork", "getuid", "posix_spawn", "setsid"),
    signal: ("SIGALRM", "SIGHUP", "SIGPIPE", "pthread_sigmask", "setitimer"),
}.items():
    for name in names:
        delattr(module, name)
"""

# Plugins of pytest ask for names of sockets by the name of the system.
SPARED = {module: names for module, names in MACOS_LACKS.items() if module != "socket"}
SYSTEMS = {
    "macOS": f"LACKING = {MACOS_LACKS}\n{MACOS}",
    "macOS, with pytest": f"LACKING = {SPARED}\n{MACOS}",
    "Windows": WINDOWS,
}
"""What Python runs when it starts; on macOS ``system.py`` takes the other way everywhere."""
