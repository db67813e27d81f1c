"""Likely mistakes get one clear line; public names, errors and pickles."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import flint
import pytest
import sympy
from sympy import Poly, symbols

import m2bridge
from m2bridge import SingleLayerAttention, closure, errors, ideal, membership, verify
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.cli import commands, common, compute as computing
from m2bridge.cli.commands import cli
from m2bridge.cli.compute import ED_METHODS
from m2bridge.cli.show import LINKED_FORMATS
from m2bridge.convert.bounded_io import read_text
from m2bridge.engine.script import Script
from m2bridge.errors import (
    ConversionError,
    InvalidCaseError,
    M2BridgeError,
    ScriptError,
    TimeLimitError,
    TooExpensiveError,
    ValueTypeError,
)
from m2bridge.families.attention.sizes import CoordinateSystem, Parametrization
from m2bridge.limits import limited
from m2bridge.maps import dimension, singular_locus
from m2bridge.maps.closure import Strategy
from m2bridge.maps.degrees.ed_degree import EDMethod
from m2bridge.maps.model import MethodValue
from m2bridge.maps.polynomial_map_model import as_model, read_model
from m2bridge.results.known import Bounds
from m2bridge.results.sheet import enumeration
from m2bridge.workspace.macaulay2 import Macaulay2
from m2bridge.workspace.values import (
    Factorization,
    GroebnerBasis,
    Matrix,
    Module,
    QuotientRing,
    RingElement,
)

# The likeliest mistakes of somebody new, and what the program says: what to do next.

EXAMPLES = Path(__file__).parents[3] / "examples"

MODEL = SingleLayerAttention(2, 1)
CASE = ("--d", "2", "--d-out", "1")
ACCEPTED = Path(__file__).parents[2] / "certificates" / "accepted"

WORDS = {
    ("dimension", "-d", "2"): "No such option '-d'. Did you mean '--d'?",
    ("dimension", "-d2"): "No such option '-d'. Did you mean '--d'?",
    ("closure", "--d", "2", "-d-out=1"): "No such option '-d-out'. Did you mean '--d-out'?",
    (
        "closure",
        "--d",
        "2",
    ): "Option '--d-out' is missing: the output embedding dimension; a case is named by --d 2 --d-out 1",
    ("closure", "2", "1"): "there is no file '2'; a case is named by --d 2 --d-out 1",
    (
        "closure",
        "--d",
        "1..3",
        "--d-out",
        "1",
    ): "'1..3' is more than one number: this command takes one case, 'm2bridge certify'",
    ("closure", "--d", "2", "--dout", "1"): "'--d-out'",
    ("closure", "--d", "two", "--d-out", "1"): "'two' is not a valid integer",
    ("closure", "--d", "0", "--d-out", "1"): "Invalid value for '--d': must be at least 1, not 0",
    ("closer", *CASE): "No such command 'closer'. Did you mean 'closure'?",
    ("implicitize", "missing.toml"): "File 'missing.toml' does not exist",
    ("singular_locus", *CASE): "Did you mean 'singular-locus'?",
    (
        "dimension",
        *CASE,
        "--method",
        "groebner",
    ): "'groebner' is not one of 'auto', 'elimination', 'jacobian'",
    ("script", "fibres", *CASE, "--field", "GF(101)"): "must be QQ for fibres, not GF(101)",
    (
        "script",
        "fibres",
        *CASE,
        "--coordinates",
        "full",
    ): "Option '--coordinates' has no effect with fibres",
    ("closure", *CASE, "--field", "GF(4)"): "GF(4) is not a prime field: 4 is not a prime number",
    ("closure", *CASE, "--memory", "much"): "'much' is not an amount of memory: write 4G or 512M",
    (
        "ideal",
        "x^2 - y",
        "singular_locus",
    ): "'singular_locus' is a command of its own: m2bridge singular-locus --ideal FILE|TEXT.",
    ("ideal", "a2b-c3", "degree"): "'a2b' could be a^2*b or one variable: write the product",
    ("ideal", "x", "radical", "-json"): "No such option '-json'. Did you mean '--json'?",
    ("ideal", "Poly(x^2 - 1, x, modulus=4294967311)", "degree"): "GF(4294967311) is too large",
    ("report", str(EXAMPLES)): f"no certificates in the folder '{EXAMPLES}'; 'm2bridge certify …",
    ("cross-check", "9.9", *CASE): "'9.9' is not one of 3.2, 3.3, 3.4, A.2",
    ("cross-check", "3.8", *CASE): "give --family deep-attention",
    (
        "script",
        "closure",
        *CASE,
        "--method",
        "jacobian",
    ): "Option '--method' has no effect without singular-locus",
    (
        "certify",
        *CASE,
        "--out",
        "results",
        "--executor",
        "serial",
        "--recycle",
        "3",
    ): "Option '--recycle' has no effect without --executor processes",
    CASE: (
        "No such option '--d' before a command: options follow it, as in 'm2bridge closure --d 2"
        " --d-out 1'"
    ),
    ("help",): (
        "No such command 'help'. There are: atlas, certify, cite, closure, critical-points,"
        " cross-check, dimension, doctor, ed-degree"
    ),
    (
        "figure",
        "2",
    ): "No such command '2'. There are: 1, 3, hilbert, orbits, polar, radii, robustness, slice, training, weights.",
    (
        "figure",
        *CASE,
    ): "No such option '--d' before a command: options follow it, as in 'm2bridge figure 3",
    (
        "closure",
        "--widths",
        "2,2",
    ): "it is an option of --family deep-attention and --family polynomial-network",
    (
        "closure",
        "--map",
        str(EXAMPLES / "segre.toml"),
        "--d",
        "2",
    ): "give numbers or --map FILE, not both",
    (
        "implicitize",
        "--map",
        str(EXAMPLES / "segre.toml"),
    ): "the path is given without an option, as in 'm2bridge impl",
    (
        "report",
        "--folder",
        "results",
    ): "the path is given without an option, as in 'm2bridge report results",
    ("atlas", "--out", "atlas"): "the path is given without an option, as in 'm2bridge atlas atlas",
    (
        "closure",
        *CASE,
        "--out",
        "x.json",
    ): "redirect the output to a file, as in 'm2bridge closure --d",
    (
        "implicitize",
        str(EXAMPLES / "ideals" / "whitney_umbrella.toml"),
    ): "this file holds [ideal], and no map by itself",
    (
        "singular-locus",
        "--ideal",
        str(EXAMPLES / "segre.toml"),
    ): "this file holds a map, and no ideal: write --map FILE",
    (
        "membership",
        *CASE,
        "--A",
        "[[1, i], [2, 3]]",
        "--V",
        "[[1, 2]]",
    ): "in quotes for the shell, '[[1, 2], [3, \"1/2\"]]'",
    (
        "membership",
        *CASE,
        "--function",
        "{c: 1}",
    ): """in quotes for the shell, '{"c_1_1_1_1": 1, "c_1_1_2_2": "1/2"}'""",
    (
        "membership",
        *CASE,
        "--A",
        "[[1, 2], [3]]",
        "--V",
        "[[1, 2]]",
    ): "Error: Invalid value for the weights: 'A' is not a list of rows of numbers, all of one length",
    ("membership", "--A", "[[1]]", "--V", "3"): "Error: Invalid value for the weights: V, which",
    (
        "certify",
        "--d",
        "1-2",
        "--d-out",
        "1",
        "--out",
        "x",
    ): "'1-2' is not a range: write 3, 1..4 or 1,3,5",
    (
        "certify",
        *CASE,
        "--out",
        "x",
        "--check",
        "foo",
    ): "unknown question 'foo': use all, reachable, or 3.2, 3.3",
    ("certify", *CASE): "Missing option '--out'.",
    ("closure", "--d", "2.5", "--d-out", "1"): "'2.5' is not a valid integer",
    ("closure", *CASE, "--timeout", "-1"): "'-1' is not a number of seconds greater than 0",
    ("closure", *CASE, "--memory", "1K"): "must be at least 640M: Macaulay2 takes up to 620 MiB",
    ("closure", *CASE, "--format", "html"): "'html' is not one of 'text', 'json', 'latex', 'm2'",
    (
        "closure",
        *CASE,
        "--field",
        "R",
    ): "'R' is not a coefficient field: write QQ or GF(p) with a prime p",
    ("closure", "--family", "network"): "there is no family 'network': use attention, ",
    ("figure", "1", "--out", "figure.jpg"): "'figure.jpg' does not end in .svg, .pdf or .png",
    (
        "report",
        str(ACCEPTED),
        "--docs",
        "site",
    ): f"--docs needs a format with links: --format {enumeration(LINKED_FORMATS, 'or')}",
    ("report", str(ACCEPTED / "none")): "does not exist",
    **{
        (
            "report",
            str(ACCEPTED),
            "--format",
            "html",
            "--docs",
            address,
        ): "is neither an address (https://…) nor a rel"
        for address in (
            *(
                "javascript:alert(1)",
                "JavaScript:alert(1)",
                " javascript:alert(1)",
                "java\nscript:alert(1)",
                "data:,x",
            ),
            *(
                "//example.org",
                "\\\\example.org",
                "https:/x",
                "http://",
                "file:///etc/passwd",
                "https://a b",
            ),
        )
    },
}
MAP = '[map]\nparameters = ["s"]\n[coordinates]\nx = {}\n'
FILES = {
    MAP.format("s^2"): 'put polynomials in quotes: x = "s^2"',
    MAP.format("2"): 'must be a polynomial in quotes: write "2"',
    MAP.format('"s = 1"'): "found '='; no equation is expected here",
    MAP.format('"u + s"'): (
        "unknown name 'u'; known are s (in 'u + s'). Every name in a map must be declared in"
        " parameters. How a parameter becomes a constant is said under 'Parameters as constants' in"
        " docs/maps.md."
    ),
    MAP.format('"1/u"'): "declared in parameters. How a parameter becomes a constant is said under",
    MAP.format('"s"').replace("[coo", 'relations = ["s = u"]\n[coo'): (
        "unknown name 'u'; known are s (in 's = u'). Every name in a map must be declared"
    ),
    "": "the table [map] is missing: write [map] in a line of its own",
    "hello\r\n": "not TOML: Expected '=' after a key",
    '{"map": {}}': "not TOML",
    MAP.format('"s^-1"'): "an exponent must be an integer from 0 to 1000",
    MAP.format('"1/0"'): "column 3: a divisor must not be zero",
    MAP.format('"1/(1/s - 1/s)"'): "[coordinates] x: a divisor must not be zero",
    'parameters = ["s"]\n[coordinates]\nx = "s"\n': (
        "the table [map] is missing: write [map] in a line of its own"
    ),
    "[map]\nparameters = [s]\n": 'put names and polynomials in quotes: parameters = ["s", "t"]',
}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What the command line says of a mistake, on one line."""

    def complaint(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["m2bridge", *words])
        assert commands.run() == 2
        found = capsys.readouterr()
        assert found.out == ""
        return found.err

    return complaint


@pytest.mark.parametrize("words", WORDS)
def test_words(words: tuple[str, ...], said: Callable[..., str]) -> None:
    (line,) = said(*words).splitlines()
    assert WORDS[words] in line


@pytest.mark.parametrize("text", FILES)
def test_files_of_maps(text: str, said: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "map.toml"
    file.write_text(text, encoding="utf-8")
    for command in ("closure", "implicitize"):
        (line,) = said(command, str(file)).splitlines()
        assert FILES[text] in line


def test_marks_of_other_systems_are_no_mistakes(tmp_path: Path) -> None:
    """A byte order mark and line ends as Windows writes them."""
    file = tmp_path / "map.toml"
    file.write_bytes(b"\xef\xbb\xbf" + MAP.format('"s^2"').replace("\n", "\r\n").encode())
    assert str(read_model(read_text(file)).polynomial_map.images[0]) == "s**2"


def test_a_picture_goes_into_a_new_folder_and_an_impossible_one_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before Macaulay2 is asked for anything."""
    (tmp_path / "file").touch()
    for folder, code in (("file", 5), ("new", 4)):
        out = tmp_path / folder / "figure.svg"
        monkeypatch.setattr(
            "sys.argv",
            ["m2bridge", "figure", "1", "--out", str(out), "--m2", str(tmp_path / "none")],
        )
        assert commands.run() == code
        (line,) = capsys.readouterr().err.splitlines()
        assert (f"'{out}' cannot be written: " in line) == (folder == "file")
        assert out.parent.exists()


@pytest.mark.parametrize(
    ("name", "first"), [("a.html", "<!DOCTYPE html>"), ("a.CSV", "d,d_out"), ("a", "Verdicts: ")]
)
def test_the_ending_says_the_form_of_a_report(
    name: str, first: str, said: Callable[..., str], tmp_path: Path
) -> None:
    out = tmp_path / name
    command = cli.commands["report"]
    command.main([str(ACCEPTED), "--out", str(out)], standalone_mode=False)
    assert out.read_text(encoding="utf-8").startswith(first)


ALONE = (
    "dimension",
    "closure",
    "singular-locus",
    "polar-degrees",
    "script",
    "cross-check",
    "membership",
    "certify",
    "verify",
    "report",
)


@pytest.mark.parametrize("name", ALONE)
def test_a_command_alone_gets_its_usage_and_an_example(name: str, said: Callable[..., str]) -> None:
    first, example, more, *error = said(name).splitlines()
    assert first.startswith(f"Usage: m2bridge {name} ")
    assert example.startswith(f"Example: m2bridge {name} ")
    assert more == f"All options: m2bridge {name} --help"
    assert len(error) == 1
    assert error[0].startswith("Error: ")


def test_every_command_has_an_example() -> None:
    assert [
        name
        for name, command in cli.commands.items()
        if not (command.epilog or "").startswith("Example: ")
    ] == []


def test_no_option_of_a_command_is_defined_twice() -> None:
    for name, command in cli.commands.items():
        options = [option for parameter in command.params for option in parameter.opts]
        assert len(options) == len(set(options)), name


def test_choices_are_those_of_the_functions() -> None:
    assert get_args(dimension.DimensionMethod) == computing.DIMENSION_METHODS
    assert get_args(singular_locus.SingularLocusMethod) == computing.LOCUS_METHODS
    assert get_args(EDMethod) == ED_METHODS
    assert (get_args(Strategy), get_args(CoordinateSystem)) == (
        common.STRATEGIES,
        common.COORDINATES,
    )
    assert get_args(Parametrization) == computing.WEIGHTS


def test_a_poly_is_a_polynomial() -> None:
    s, t = symbols("s t")
    ring = PolynomialRing(QQ, ("s", "t"))
    for form in (Poly(s**2 - t / 2), Poly(s**2 - t / 2, s), ring.polynomial(s**2 - t / 2)):
        assert ring.polynomial(form) == ring.polynomial(s**2 - t / 2)
    assert PolynomialMap.from_expressions([s], {"x": Poly(s**3)}).images[0].as_expr() == s**3
    with pytest.raises(ConversionError, match="coefficients modulo 5"):
        ring.polynomial(Poly(s, modulus=5))
    with pytest.raises(ConversionError, match="not exact"):
        ring.polynomial(Poly(0.5 * s))


S = symbols("s")
LINE = PolynomialMap.from_expressions([S], {"x": S})
PYTHON: dict[str, tuple[Callable[[], object], str]] = {
    "one symbol": (
        lambda: PolynomialMap.from_expressions(S, {"x": S}),
        "such as \\[s, t\\], not s",
    ),  # type: ignore[arg-type]
    "names in a text": (
        lambda: PolynomialMap.from_expressions("s", {"x": S}),
        "such as \\[s, t\\], not 's'",
    ),
    "images as a list": (
        lambda: PolynomialMap.from_expressions([S], [S**2]),
        "a dictionary is needed",
    ),  # type: ignore[arg-type]
    "a function as a list": (
        lambda: membership(MODEL, [1, 2]),
        "must be a dictionary .* not a list",
    ),  # type: ignore[arg-type]
    "a float": (lambda: membership(MODEL, {"c_1_1_1_1": 0.1}), "write Fraction\\('0.1'\\)"),  # type: ignore[dict-item]
    "no number": (lambda: membership(MODEL, {"c_1_1_1_1": None}), "None is no rational number"),  # type: ignore[dict-item]
    "numbers as coordinates": (lambda: membership(MODEL, {1: 1}), "'1' is not a coordinate"),  # type: ignore[dict-item]
    "the name of a file": (lambda: verify("a.json"), "'m2bridge verify' reads files"),  # type: ignore[arg-type]
    "a number as a field": (
        lambda: closure(MODEL, field=7),  # type: ignore[arg-type]
        "CoefficientField\\(p\\), not 7",
    ),
    "a name that is no field": (
        lambda: m2bridge.singular_locus(MODEL, field="seven"),
        "'seven' is not a field of coefficients",
    ),
    "a field without a prime": (lambda: m2bridge.dimension(MODEL, field="GF(6)"), "not a prime"),
    "a number of points as text": (
        lambda: m2bridge.slice_surface(MODEL, fineness="24"),  # type: ignore[arg-type]
        "'fineness' must be a number, not a str",
    ),
    "no title": (
        lambda: m2bridge.image(LINE, title=None),  # type: ignore[arg-type]
        "'title' must be text, not a NoneType",
    ),
    "one output as text": (
        lambda: m2bridge.Chain((m2bridge.Layer(LINE),)).restricted_to("x"),
        "'outputs' must be a list of names, not a str",
    ),
    "an output as a list": (
        lambda: m2bridge.Chain((m2bridge.Layer(LINE),)).restricted_to([["x"]]),  # type: ignore[list-item]
        "there is no output",
    ),
    "a number of packages": (
        lambda: Macaulay2().workspace(packages=5),  # type: ignore[arg-type]
        "'packages' must be names of packages, not 5",
    ),
    "a number as a package": (
        lambda: Macaulay2().workspace(packages=[5]),  # type: ignore[list-item]
        "'5' is not the name of a package",
    ),
    "numbers for a model": (
        lambda: closure((2, 1)),
        "must be a model, a PolynomialMap, a mapping such as .* or an Ideal, not a tuple",
    ),  # type: ignore[arg-type]
}


WRONG_TYPES: dict[str, Callable[[Any], object]] = {
    "certify": lambda wrong: m2bridge.certify(wrong, "3.3"),
    "closure": closure,
    "closures_of_all_sizes": m2bridge.closures_of_all_sizes,
    "cross_check": m2bridge.cross_check,
    "cross_check_all_sizes": m2bridge.cross_check_all_sizes,
    "cross_check_deep_attention": lambda wrong: m2bridge.cross_check_deep_attention(wrong),
    "cross_check, statements": lambda wrong: m2bridge.cross_check(MODEL, statements=[wrong]),
    "dimension": m2bridge.dimension,
    "fibres": m2bridge.fibres,
    "fibres, wanted": lambda wrong: m2bridge.fibres(MODEL, wanted=wrong),
    "from_sage": m2bridge.from_sage,
    "hilbert_function": m2bridge.hilbert_function,
    "ideal": ideal,
    "image": m2bridge.image,
    "implicitize": m2bridge.implicitize,
    "membership": membership,
    "membership, function": lambda wrong: membership(MODEL, wrong),
    "observe": m2bridge.observe,
    "orbit_diagram": m2bridge.orbit_diagram,
    "plan": lambda wrong: m2bridge.plan((), wrong),
    "polar_degrees": m2bridge.polar_degrees,
    "load_ideal": m2bridge.load_ideal,
    "load_map": m2bridge.load_map,
    "load_model": m2bridge.load_model,
    "read_ideal_file": m2bridge.read_ideal_file,
    "read_map": m2bridge.read_map,
    "read_model": read_model,
    "read_mrdi": m2bridge.read_mrdi,
    "read_sage_text": m2bridge.read_sage_text,
    "singular_locus": m2bridge.singular_locus,
    "slice_surface": m2bridge.slice_surface,
    "slice_surface, coordinates": lambda wrong: m2bridge.slice_surface(MODEL, wrong),
    "tasks": m2bridge.tasks,
    "verify": verify,
    "weights": m2bridge.weights,
    "Chain": m2bridge.Chain,
    "CoefficientField": CoefficientField,
    "Layer": lambda wrong: m2bridge.Layer(wrong, ()),
    "PolynomialRing": lambda wrong: PolynomialRing(QQ, wrong),
    "PolynomialRing, field": lambda wrong: PolynomialRing(wrong, ("x",)),
    "ExtensionField": lambda wrong: m2bridge.ExtensionField(0, wrong),
    "ExtensionField, polynomial": lambda wrong: m2bridge.ExtensionField(0, ("a",), wrong),
    "ExtensionField, coefficients": lambda wrong: m2bridge.ExtensionField(0, ("a",), (1, 0, wrong)),
    "run_many": lambda wrong: m2bridge.run_many(len, wrong),
}


@pytest.mark.parametrize("wrong", [3, 2.5, object()], ids=["int", "float", "object"])
@pytest.mark.parametrize("name", WRONG_TYPES)
def test_an_argument_of_a_wrong_type_is_a_named_error(name: str, wrong: object) -> None:
    if (name, wrong) in (("CoefficientField", 3), ("ExtensionField, coefficients", 3)):
        return
    with pytest.raises((InvalidCaseError, ConversionError)):
        WRONG_TYPES[name](wrong)


@pytest.mark.parametrize("name", ["image", "implicitize"])
def test_a_model_is_no_map(name: str) -> None:
    with pytest.raises(InvalidCaseError, match="must be a PolynomialMap, such as"):
        WRONG_TYPES[name](MODEL)


@pytest.mark.parametrize("name", ["fibres", "membership", "observe", "orbit_diagram"])
def test_a_model_of_another_family_is_named(name: str) -> None:
    for model in (m2bridge.DeepAttention((2, 1), 1), m2bridge.PolynomialNetwork((2, 1))):
        said = f"must be a SingleLayerAttention, not a {type(model).__name__}"
        with pytest.raises(InvalidCaseError, match=said):
            WRONG_TYPES[name](model)


@pytest.mark.parametrize("name", PYTHON)
def test_mistakes_in_python(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before Macaulay2 is asked for anything."""
    monkeypatch.delattr("m2bridge.engine.session.Conversation.start")
    wrong, said = PYTHON[name]
    with pytest.raises((InvalidCaseError, ConversionError), match=said):
        wrong()


def test_methods_agree_only_where_they_finished() -> None:
    found = [MethodValue(name, Bounds.exactly(3)) for name in ("rank", "formula")]
    late = MethodValue("elimination", Bounds(because="did not finish"))
    s = symbols("s")
    model = as_model(PolynomialMap.from_expressions([s], {"x": s}), None)

    def shown(methods: list[MethodValue]) -> str:
        return dimension.Dimension(
            model=model, field=QQ, findings=tuple(methods), engine_version=None, seconds=0.0
        ).to_text()

    text = {n: shown(methods) for n, methods in enumerate((found, [*found, late]))}
    assert "all methods agree" in text[0]
    assert "all methods agree" not in text[1]
    assert "the methods that finished agree; not finished: elimination" in text[1]


def test_a_refuted_batch_ends_well_where_that_is_wanted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = (
        "certify",
        "--family",
        "polynomial-network",
        "--widths",
        "3,2,1",
        "--executor",
        "serial",
        "--quiet",
    )
    for more, code in (((), 1), (("--exit-zero",), 0)):
        monkeypatch.setattr("sys.argv", ["m2bridge", *batch, "--out", str(tmp_path), *more])
        assert commands.run() == code
    check = ("cross-check", "--family", "polynomial-network", "--widths", "3,2,1")
    for more, code in (((), 1), (("--exit-zero",), 0)):
        monkeypatch.setattr("sys.argv", ["m2bridge", *check, *more])
        assert commands.run() == code


@pytest.mark.slow
def test_a_limit_is_named_as_the_user_gave_it(m2: str) -> None:
    """However little of it is left when Macaulay2 is asked."""
    with Macaulay2(m2) as engine:
        engine.run(Script("short", 'mbEmit("one", 1)'))
        with limited(1e4) as running:
            late = limited(1e4, begin=running.now() - 1e4 + 0.5)
            with (
                late as inner,
                pytest.raises(TimeLimitError, match="within the limit of 10000 seconds"),
            ):
                engine.run(Script("long", "while true do ()"), timeout=inner.remaining)


# The public names are frozen on purpose: a change here is a change for every user.

NAMES = """
QQ AllSizes Closure CoefficientField Component CrossCheck Decision
Dimension Engine Fibre Ideal Image Limits Macaulay2 Membership
Observations Orbit OrbitFacts OrbitStatus PolynomialMap PolynomialRing Script SingleLayerAttention SingularLocus
Transcript
Verdict __version__ closure cross_check cross_check_all_sizes dimension fibres image membership observe read_ideal
singular_locus TooLargeError
Chain ContradictionError MemoryLimitError TimeLimitError InvalidCaseError Layer M2BridgeError
DeepAttention DeepAttentionAllSizes cross_check_deep_attention Plan PolynomialNetwork
ActivatedNetwork ConvolutionalNetwork ExtensionField
HilbertFunction OrbitDiagram PolarDegrees SliceSurface hilbert_function polar_degrees orbit_diagram slice_surface
certify implicitize plan read_map read_model verify
IdealSingularLocus IrreducibleComponent ideal read_ideal_file read_mrdi read_sage_text
AllClosures closures_of_all_sizes Outcome ProjectiveScheme from_sage run_many
ConversionError EngineDiedError Evaluation PackageError ScriptError UnknownSymbolError ValueTypeError Workspace
WorkspaceLostError WrongAnswerError Weights weights Store Task tasks
CriticalPoints critical_points EDDegree ed_degree Robustness robustness
RobustnessCount robustness_count
BatchError EngineError EngineNotFoundError EngineVersionError MethodUnavailableError
load_ideal load_map load_model parse_ideal parse_map parse_model
"""


def test_public_names() -> None:
    assert sorted(m2bridge.__all__) == sorted(NAMES.split())
    assert all(hasattr(m2bridge, name) for name in m2bridge.__all__)


# Errors cross worker processes whole.


def every_error() -> list[type[M2BridgeError]]:
    return [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, M2BridgeError)
    ]


OF_PARTS = (InvalidCaseError, TooExpensiveError, ValueTypeError)
"""Those that are made from parts and put their message together."""


@pytest.mark.parametrize("kind", [k for k in every_error() if k not in OF_PARTS])
def test_errors_pickle(kind: type[M2BridgeError]) -> None:
    copy = pickle.loads(pickle.dumps(kind("what happened")))
    assert type(copy) is kind
    assert str(copy) == "what happened"


def test_details_survive_pickling() -> None:
    script = ScriptError(
        "m", error="e", file="f", line=3, column=4, excerpt="x", records=("r",), output="o"
    )
    copy = pickle.loads(pickle.dumps(script))
    assert (copy.error, copy.file, copy.line, copy.column, copy.excerpt) == ("e", "f", 3, 4, "x")
    assert (copy.records, copy.output) == (("r",), "o")
    assert pickle.loads(pickle.dumps(TimeLimitError("late", records=("a",)))).records == ("a",)
    late = TimeLimitError("late")
    late.progress = "5 of 23 orbits were done"
    assert str(pickle.loads(pickle.dumps(late))) == "late (5 of 23 orbits were done)"
    refused = pickle.loads(pickle.dumps(InvalidCaseError("d_out", "too small")))
    assert (refused.option, str(refused)) == ("d_out", "Argument 'd_out': too small.")
    unknown = pickle.loads(pickle.dumps(ValueTypeError("FunctionClosure")))
    assert (unknown.kind, "FunctionClosure" in str(unknown)) == ("FunctionClosure", True)
    large = pickle.loads(pickle.dumps(TooExpensiveError("size", "too large")))
    assert (large.place, str(large)) == ("size", "size: too large")


# Results can be pickled and copied, with SymPy's polynomials and python-flint's numbers in them.

LEX, U, V = sympy.ring("u,v", sympy.ZZ, "lex")
RING = PolynomialRing(QQ, ("x", "y"))
X, Y = RING.sympy_ring.gens
ODD = PolynomialRing(CoefficientField(32003), ("x",))
ROW = Matrix(Module(RING, ((0,),)), Module(RING, ((1,), (1,))), ((X, Y),), (0,))

RESULTS = [
    RING.sympy_ring,
    LEX,
    X**2 - Y / 3,
    RING.sympy_ring.zero,
    U * V - 7,
    ODD.sympy_ring.gens[0] - 5,
    flint.nmod(3, 7),
    ideal("x^2 - y^3"),
    ideal("x^2 + 1", field=CoefficientField(7)),
    Factorization(((X - Y, 1), (X + Y, 2))),
    GroebnerBasis(ROW),
    QuotientRing(RING, (X * Y,)),
    RingElement(QuotientRing(RING, (X * Y,)), (((1, 0), 1),)),
]


@pytest.mark.parametrize(
    "again", [lambda v: pickle.loads(pickle.dumps(v)), copy.deepcopy, copy.copy]
)
@pytest.mark.parametrize("value", RESULTS, ids=str)
def test_results_are_the_same_afterwards(value: Any, again: Callable[[Any], Any]) -> None:
    found = again(value)
    assert found == value
    assert type(found) is type(value)
    assert str(found) == str(value)


def test_polynomials_can_be_computed_with_afterwards() -> None:
    for x in (X, U, ODD.sympy_ring.gens[0]):
        assert pickle.loads(pickle.dumps(x)) + x == 2 * x
