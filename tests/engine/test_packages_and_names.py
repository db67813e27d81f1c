"""Packages with short global names, loaded by code, and programs that wait for input: nothing of it is seen later."""

from __future__ import annotations

from pathlib import Path

from m2bridge.workspace.macaulay2 import Macaulay2
from m2bridge.workspace.values import Symbol
from tests.events import PATIENCE

NAMES = ("e", "h", "p", "s", "x", "chain", "schurRing")
"""Names of symmetric functions, and what the packages call their functions."""
LOAD = 'needsPackage "SchurRings"; needsPackage "Posets"; '


def test_a_package_that_one_call_loads_does_not_disturb_the_next(program: Path) -> None:
    with Macaulay2(program) as m2:
        for _ in range(2):  # the second call finds the packages loaded
            assert m2.value(LOAD + "R = schurRing(QQ, s, 3); (#vertices chain 4, dim s_{2,1})") == (4, 8)
            assert m2.value(f"{{{', '.join(NAMES)}}}") == [Symbol(name) for name in NAMES]
            assert m2.value("(e+h+p+s+x+chain+schurRing, e)", **dict.fromkeys(NAMES, 1)) == (7, 1)


def test_a_package_does_not_hide_what_a_workspace_was_given(program: Path) -> None:
    with Macaulay2(program) as m2, m2.workspace("SchurRings") as work:
        for number, name in enumerate(NAMES):
            work[name] = number
        work.run(LOAD)
        assert [work[name] for name in NAMES] == list(range(len(NAMES)))
        assert work.value("toString(e*h + x)", x=5, e=2, h=3) == "11"
        assert work.value("QQ[m, n]; p*m + s*n == 2*m + 3*n")


def test_programs_have_no_input(program: Path) -> None:
    """They would wait until the limit for somebody to type."""
    with Macaulay2(program) as m2:
        assert m2.value('run "cat"', timeout=PATIENCE) == 0
        assert m2.value('run "read line; test -z $line && exit 3"', timeout=PATIENCE) == 3 * 256
        assert m2.evaluate('run "echo so | cat"', timeout=PATIENCE).output == "so\n"
        assert m2.value('try get "!cat" else "nothing"', timeout=PATIENCE) in ("", "nothing")
