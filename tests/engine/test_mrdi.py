"""The interchange format against Macaulay2's own package MRDI (1.26), in both directions."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from m2bridge import Ideal, Macaulay2, Script, ideal, read_mrdi
from m2bridge.convert import macaulay2
from m2bridge.engine.answer import parse

IDEALS = [
    ideal("x^2 - 2/3*y", "x*y - 7"),
    ideal("c_1_2^3 - 123456789012345678901234567890*c_1*alpha", "ω*x_10 - 1/98765432109876543210"),
    ideal(variables="x y"),
    ideal(1, variables="x"),
    ideal("e*i - res", "gens^2"),
]


@pytest.fixture
def engine(m2: str, sessions: Callable[[Path], Macaulay2]) -> Macaulay2:
    """A Macaulay2 that has the package."""
    session = sessions(Path(m2))
    if tuple(map(int, session.version.split(".")[:2])) < (1, 26):
        pytest.skip("the package MRDI came with Macaulay2 1.26")
    return session


@pytest.mark.parametrize("given", IDEALS, ids=str)
def test_macaulay2_reads_what_we_write(engine: Macaulay2, given: Ideal, tmp_path: Path) -> None:
    given.write_mrdi(tmp_path / "ideal.mrdi")
    body = f'needsPackage "MRDI"\nmbEmit("read", loadMRDI get "{tmp_path / "ideal.mrdi"}")'
    found = parse(engine.run(Script("read", body)).records).ideal("read")
    assert (found.ring, found.generators) == (given.ring, given.generators)


@pytest.mark.parametrize("given", IDEALS, ids=str)
def test_we_read_what_macaulay2_writes(engine: Macaulay2, given: Ideal, tmp_path: Path) -> None:
    path = tmp_path / "ideal.mrdi"
    lines = [
        'needsPackage "MRDI"',
        f"givenRing = {macaulay2.ring(given.ring)}",
        f'saveMRDI({macaulay2.ideal(given, "givenRing")}, FileName => "{path}")',
        f'validateMRDI get "{path}"',
        'mbEmit("written", true)',
    ]
    engine.run(Script("write", "\n".join(lines)))
    found = read_mrdi(path)
    assert (found.ring, found.generators) == (given.ring, given.generators)


def test_what_we_write_is_valid(engine: Macaulay2, tmp_path: Path) -> None:
    """Macaulay2's check of the format itself, for both namespaces."""
    for namespace in ("Macaulay2", "Oscar"):
        IDEALS[0].write_mrdi(tmp_path / namespace, namespace)
        engine.run(
            Script("check", f'needsPackage "MRDI"\nvalidateMRDI get "{tmp_path / namespace}"\nmbEmit("valid", true)')
        )


def test_macaulay2_reads_rings_in_oscars_words(engine: Macaulay2, tmp_path: Path) -> None:
    """Over QQ; it reads no ideals, polynomials over QQ, or finite fields as Oscar writes them yet (1.26.06)."""
    given = ideal("x^2 - y")
    written = given.to_mrdi("Oscar")
    (ring,) = written["_refs"].values()
    (tmp_path / "ring.mrdi").write_text(json.dumps({"_ns": written["_ns"], **ring}))
    body = f'needsPackage "MRDI"\nmbEmit("read", ideal vars loadMRDI get "{tmp_path / "ring.mrdi"}")'
    assert parse(engine.run(Script("read", body)).records).ideal("read").ring == given.ring
