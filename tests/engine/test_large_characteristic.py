"""Prime fields of a characteristic that is too large for some of Macaulay2's algorithms, or for
all: what cannot be computed is refused in words, and never ends in an error of a program.
"""

from collections.abc import Callable

import pytest
from sympy import Poly, symbols

from m2bridge import (
    CoefficientField,
    InvalidCaseError,
    Macaulay2,
    SingleLayerAttention,
    ideal,
    polar_degrees,
    singular_locus,
)
from m2bridge.cli import commands
from m2bridge.errors import MethodUnavailableError

pytestmark = pytest.mark.macaulay2("any")

FACTORED = 536870909
"""The largest prime below 2^29, up to which Macaulay2 factors polynomials."""
TAKEN = (536870923, 2147483647)
"""The next one, and the largest that it takes at all."""
REFUSED = 2147483659

CASE = ("--d", "2", "--d-out", "1")
TWO = "x^2*y - y, x*y - z^2"
COMMANDS: list[tuple[str, ...]] = [
    ("closure", *CASE),
    ("dimension", *CASE),
    ("singular-locus", *CASE),
    ("singular-locus", *CASE, "--method", "jacobian"),
    ("singular-locus", "--ideal", "x^2*y - y^3"),
    ("script", "closure", *CASE),
    ("script", "polar-degrees", *CASE),
    ("cross-check", "3.4", *CASE),
    ("polar-degrees", *CASE),
    ("polar-degrees", "--ideal", "x^2 - y*z"),
    *(
        ("ideal", TWO, method)
        for method in ("radical", "is_prime", "minimal_primes", "groebner_basis", "degree")
    ),
    ("closure", "--family", "polynomial-network", "--widths", "2,2,2"),
    ("dimension", "--family", "deep-attention", "--widths", "2,1", "--a", "2"),
]


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("p", [*TAKEN, REFUSED])
@pytest.mark.usefixtures("one_session")
def test_every_command_computes_or_says_why_not(
    words: tuple[str, ...],
    p: int,
    program: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["m2bridge", *words, "--field", f"GF({p})"]
    if words[0] != "script":
        arguments += ["--m2", str(program)]
    monkeypatch.setattr("sys.argv", arguments)
    code = commands.run()
    said = capsys.readouterr()
    if p == REFUSED:
        assert code == 2
    assert code in (0, 2), said.err
    if code == 2:
        (line,) = said.err.splitlines()
        assert line.startswith("Error: ")
        if p == REFUSED:
            assert "GF(2147483659) is too large: Macaulay2 needs p ≤ 2147483647" in line


@pytest.mark.slow
def test_singular_loci_of_models_name_the_primes_that_can_be_taken(engine: Macaulay2) -> None:
    model = SingleLayerAttention(2, 1)
    for p in TAKEN:
        field = CoefficientField(p)
        with pytest.raises(MethodUnavailableError, match="use p < 536870912"):
            singular_locus(model, field=field, method="jacobian", engine=engine)
    found = singular_locus(model, field=CoefficientField(FACTORED), method="jacobian")
    assert found.dimension == singular_locus(model, engine=engine).dimension


def test_a_field_of_any_size_is_refused_in_words() -> None:
    for digits in (10, 13, 40, 5000):
        with pytest.raises(InvalidCaseError, match=r"not a prime field|too large"):
            CoefficientField.parse(f"GF({'9' * digits})")
    for text in ("GF(000)", "GF(-3)", "GF(2", "GF()", "ZZ"):
        with pytest.raises(InvalidCaseError, match="is not a coefficient field: write QQ or"):
            CoefficientField.parse(text)


def test_a_modulus_of_sympy_is_refused_in_the_same_words(engine: Macaulay2) -> None:
    x, y = symbols("x y")
    with pytest.raises(InvalidCaseError, match="too large: Macaulay2 needs p"):
        ideal(Poly(x**2 - y, modulus=REFUSED))
    given = ideal(Poly(x**2 * y - y, x, y, modulus=TAKEN[0]))
    asked: list[Callable[[], object]] = [given.minimal_primes, given.radical, given.singular_locus]
    for ask in asked:
        with pytest.raises(MethodUnavailableError, match="use p < 536870912"):
            ask()
    with pytest.raises(InvalidCaseError, match="must be QQ for polar degrees"):
        polar_degrees(given, engine=engine)
