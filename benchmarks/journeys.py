"""How many files of m2bridge a reader of a command has to open: those in which it calls a function.

Usage: ``python benchmarks/journeys.py``; Macaulay2 is needed for some commands.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

COUNT = """
import sys, threading, pathlib
import m2bridge
root = str(pathlib.Path(m2bridge.__file__).parent) + "/"
files, functions = set(), set()
def profile(frame, event, argument):
    code = frame.f_code
    is_function = code.co_flags & 2  # not a module or a class
    if event == "call" and is_function and code.co_filename.startswith(root):
        files.add(code.co_filename)
        functions.add((code.co_filename, code.co_firstlineno))
threading.setprofile(profile)
sys.setprofile(profile)
try:
    {code}
except SystemExit:
    pass
finally:
    sys.setprofile(None)
    print(len(files), len(functions), file=sys.stderr)
"""
COMMAND = "sys.argv = ['m2bridge', *{!r}]; from m2bridge.cli.main import main; main()"
VALUE = "from m2bridge import Macaulay2; assert Macaulay2().value('1+1') == 2"

JOURNEYS = {
    "closure --d 2 --d-out 1": 50,
    "cross-check 3.4 --d 2 --d-out 1": 60,
    "certify --d 2 --d-out 1 --check 3.4 --executor serial --out {folder}": 75,
    "dimension --family deep-attention --widths 2,2,2 --a 1,1": 24,
    "Macaulay2().value('1+1')": 34,
}
"""What is run, and the number of files that it may enter."""


def entered(journey: str) -> tuple[int, int]:
    """Run a command in a process of its own; return the numbers of files and of functions that it
    enters.
    """
    with tempfile.TemporaryDirectory() as folder:
        code = VALUE if "(" in journey else COMMAND.format(journey.format(folder=folder).split())
        run = [sys.executable, "-c", COUNT.replace("{code}", code)]
        said = subprocess.run(
            run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
        ).stderr
    files, functions = said.splitlines()[-1].split()
    return int(files), int(functions)


def main() -> None:
    """Print a line for each."""
    for journey, most in JOURNEYS.items():
        files, functions = entered(journey)
        print(f"{files:4} files (at most {most}), {functions:4} functions: {journey}")


if __name__ == "__main__":
    main()
