"""The wheel of Macaulay2 without what its SageMath interface asks for: nothing that the program needs is missing."""

import platform
import re
import subprocess
from pathlib import Path

import pytest

from m2bridge.engine import Candidate, candidates
from m2bridge.workspace.macaulay2 import Macaulay2

SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z|util|resolv)\.so\.\d+|linux-vdso\.so\.1|ld-linux[\w.-]*")
"""What every Linux has that can run Python's wheels (manylinux), and zlib."""


@pytest.fixture
def wheel() -> Candidate:
    found = next(candidate for candidate in candidates() if candidate.origin.startswith("wheel"))
    if found.program is None:
        pytest.skip("Macaulay2 is not here as a wheel")
    return found


@pytest.mark.skipif(platform.system() != "Linux", reason="ldd is Linux's")
@pytest.mark.parametrize("name", ["M2-binary", "normaliz", "cohomcalg", "csdp"])
def test_programs_find_their_libraries_in_their_own_wheel(wheel: Candidate, name: str) -> None:
    assert wheel.program is not None
    program = wheel.program.with_name(name)
    own = program.parents[2] / "passagemath_macaulay2.libs"
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    libraries = [line.split() for line in said.splitlines()]
    assert len(libraries) > 4
    for words in libraries:
        if not SYSTEM.fullmatch(Path(words[0]).name):
            assert words[1] == "=>", words
            assert Path(words[2]).resolve().parent == own, words


def test_packages_of_macaulay2_are_in_the_wheel(wheel: Candidate) -> None:
    """Those that use other programs and libraries among them."""
    packages = ("Elimination", "PrimaryDecomposition", "MinimalPrimes", "Normaliz", "NumericalAlgebraicGeometry")
    with Macaulay2(wheel.program) as m2:
        for name in packages:
            assert m2.value(f'toString needsPackage "{name}"') == name
