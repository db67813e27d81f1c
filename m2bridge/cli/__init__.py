"""The command line: its commands and exit codes. No other package imports click."""

DONE = 0
REFUTED = 1
USAGE = 2
UNDECIDED = 3
NO_ENGINE = 4
FAILED = 5

OTHER_RELEASE = 6
"""The exit code of ``verify`` for a certificate that only the release which wrote it can verify."""

INTERRUPTED = 130
"""The exit code after Ctrl-C, as when SIGINT ends a program."""

BROKEN_PIPE = 141
"""The exit code when the output pipe is closed, as when SIGPIPE ends a program."""
