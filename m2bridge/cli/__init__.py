"""The command line: arguments to one call to an exit code; the only door to click."""

DONE, REFUTED, USAGE, UNDECIDED, NO_ENGINE, FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

OTHER_RELEASE = 6
"""The exit code of ``verify`` where another release wrote a certificate, and has to verify it."""

BROKEN_PIPE = 141
"""The exit code when the output pipe is closed, as when SIGPIPE ends a program."""
