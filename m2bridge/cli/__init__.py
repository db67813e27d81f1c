"""The command line: arguments to one call to an exit code; the only door to click."""

DONE = 0
REFUTED = 1
USAGE = 2
UNDECIDED = 3
NO_ENGINE = 4
FAILED = 5

OTHER_RELEASE = 6
"""The exit code of ``verify`` where another release wrote a certificate, and has to verify it."""

INTERRUPTED = 130
"""The exit code after Ctrl-C, as when SIGINT ends a program."""

BROKEN_PIPE = 141
"""The exit code when the output pipe is closed, as when SIGPIPE ends a program."""

LARGEST_CODE = 100_000_000
"""Bytes of Macaulay2 code, which reads it all before the first statement runs."""

LARGEST_FUNCTION = 10_000_000
"""Bytes of a file with a function: its coefficients are read as exact numbers."""

GRACE = 0.4
"""Seconds after the limit, in which loops that look at the clock show what was found."""

WRITING = 0.3
"""Seconds for writing what was found, when the limit was reached."""
