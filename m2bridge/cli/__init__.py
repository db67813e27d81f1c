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

MAX_CODE_BYTES = 100_000_000
"""A file of Macaulay2 code, which Macaulay2 reads as a whole before it runs the first statement."""

MAX_FUNCTION_FILE_BYTES = 10_000_000
"""A file with the coefficients of a function, which are read as exact numbers."""

RESULT_GRACE_SECONDS = 0.4
"""Time after the limit for loops that check the deadline to return what they have found."""

WRITING_SECONDS = 0.3
"""Time for writing a partial result after the limit was reached."""
