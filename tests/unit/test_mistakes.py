"""The likeliest mistakes: each gets one clear line that says what to do."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from sympy import Poly, symbols

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.cli import commands

MAP = '[map]\nparameters = ["s"]\n[coordinates]\nx = {}\n'
FILES = {
    "unquoted.toml": MAP.format("s^2"),
    "product.toml": MAP.format("2*s"),
    "decimal.toml": MAP.format('"0.5*s"'),
    "unknown.toml": MAP.format('"s*t"'),
    "bare.toml": '[coordinates]\nx = "s"\n',
    "empty/notes.json": "notes",
}
MISTAKES = [
    (["closure", "-d", "2", "--d-out", "1"], "No such option '-d'. Did you mean '--d'?"),
    (["closure", "--d", "2", "--dout", "1"], "'--d-out'"),
    (["singular-locus"], "Example: m2bridge singular-locus --d 2 --d-out 1"),
    (
        ["closure", "--d", "2"],
        "--d-out: is missing: the output embedding dimension; a case is named by --d 2 --d-out 1",
    ),
    (["closure", "--d", "1..3", "--d-out", "1"], "'m2bridge certify' takes many cases, this command one"),
    (["closure", "--d", "two", "--d-out", "1"], "'two' is not a valid integer"),
    (["closure", "--d", "0", "--d-out", "1"], "--d: "),
    (["closure", "--d", "2", "--d-out", "1", "--strategy", "best"], "is not one of 'auto', 'multigraded'"),
    (["closer"], "No such command 'closer'. Did you mean 'closure'?"),
    (["implicitize", "unquoted.toml"], 'put polynomials in quotes: x = "s^2"'),
    (["implicitize", "product.toml"], 'put polynomials in quotes: x = "2*s"'),
    (["implicitize", "decimal.toml"], "[coordinates] x: column 2: numbers are exact here: write 1/2, not 0.5"),
    (["implicitize", "unknown.toml"], "[coordinates] x: column 3: unknown name 't'"),
    (["implicitize", "bare.toml"], "the table [map] is missing"),
    (["implicitize", "missing.toml"], "missing.toml"),
    (["report", "empty"], "no certificates in the folder 'empty'; 1 file of other kinds, such as notes.json: not JSON"),
    (["cross-check", "3.14", "--d", "2", "--d-out", "1"], "3.14"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES, ids=lambda value: " ".join(value) if type(value) is list else "")
def test_a_mistake(words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    monkeypatch.setattr("sys.argv", ["m2bridge", *words])
    with CliRunner().isolation() as (_, error, *_rest):
        code = commands.run()
        shown = error.getvalue().decode()
    assert (code, said in shown) == (2, True), shown
    assert "Traceback" not in shown
    assert shown.count("\n") <= 5


@pytest.mark.parametrize("text", ["1.5", ".5", "x*0.25", "3 + 1.0*x"])
def test_decimal_numbers_are_written_as_fractions(text: str) -> None:
    from m2bridge.convert.polynomial_text import read_polynomial
    from m2bridge.errors import ConversionError

    with pytest.raises(ConversionError, match=r"write \d+(/\d+)?, not \d+\.\d+"):
        read_polynomial(text, PolynomialRing(QQ, ("x",)))


def test_a_poly_is_a_polynomial() -> None:
    x = symbols("x")
    ring = PolynomialRing(QQ, ("x",))
    assert ring.polynomial(Poly(x**2 / 2 - 1, x)) == ring.polynomial(ring.sympy_ring.gens[0] ** 2 / 2 - 1)
