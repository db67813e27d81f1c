"""The command line: arguments to one call to an exit code; the only door to click."""
