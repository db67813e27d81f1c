"""Which inputs: a corpus of bad ones for every command and format, and random ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from m2bridge.cli.show import REPORT_FORMATS
from tests.fuzz.inputs_text import (
    CASE_FILES,
    CASES,
    ESCAPE,
    JSON,
    MAP,
    MAPS,
    MATRICES,
    TABLES,
    WORDS,
    changed,
    json_text,
    replaced,
)
from tests.fuzz.weight_files import HOSTILE, LAYOUTS, NASTY, changed_layers, entries

CERTIFICATES = Path(__file__).parents[1] / "certificates"

REFUSED = frozenset({2})
ANY = frozenset({0, 1, 2, 3, 4})
"""Not 5: that is a failure of m2bridge or of the system."""


@dataclass(frozen=True)
class Input:
    """A command line, the files that it names, and the exit codes that are right.

    Parameters
    ----------
    words : tuple of str
        ``{}`` at the beginning of one stands for the folder of the files.
    codes : frozenset of int
    files : dict of str to str or bytes
    """

    words: tuple[str, ...]
    codes: frozenset[int] = REFUSED
    files: dict[str, str | bytes] = field(default_factory=dict)

    @property
    def what(self) -> str:
        """What is in the files."""
        return "; ".join(f"{name}: {text[:150]!r}" for name, text in self.files.items())

    def arguments(self, folder: Path) -> list[str]:
        """The command line, after the files are written."""
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(
                text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
            )
        return [f"{folder}{word[2:]}" if word.startswith("{}/") else word for word in self.words]


FUNCTION = '{"c_1_1_1_1": 1}'
CASE = ("--d", "2", "--d-out", "2")
NUMBERS = ("--d", "--d-out", "--a", "--t")
CHOICES = ("--field", "--coordinates", "--timeout", "--memory", "--format")
OPTIONS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("dimension", *CASE): (*NUMBERS, *CHOICES, "--method"),
    ("closure", *CASE): (*NUMBERS, *CHOICES, "--strategy", "--max-degree", "--weights"),
    ("singular-locus", *CASE): (*NUMBERS, *CHOICES, "--method"),
    ("script", "closure", *CASE): (*NUMBERS, "--field", "--coordinates"),
    ("script", "singular-locus", *CASE): ("--method",),
    ("cross-check", *CASE): (*NUMBERS, *CHOICES),
    ("membership", *CASE, "--function", FUNCTION): (*NUMBERS, *CHOICES),
    ("implicitize", "{}/m.toml"): (*CHOICES[:1], *CHOICES[2:], "--strategy", "--max-degree"),
    ("certify", *CASE, "--out", "{}/out", "--executor", "serial", "--m2", "/no/M2"): (
        *NUMBERS,
        "--check",
        "--retry",
        "--executor",
        "--workers",
        "--recycle",
    ),
    ("verify", str(CERTIFICATES / "accepted" / "d2-dout1-a1-t2-3.2.json")): ("--workers",),
    ("report", "{}/none"): ("--format",),
}
"""Commands, and their options that take a value."""

IDEALS = (
    *(
        "x⁻¹",
        "xⁿ - y",
        "½*x",
        "x₁ - y",
        "x^²",
        "x²²²²²",
        "x^2²",
        "²",
        "𝑥 - y",
        "ｘ - x",
        "x^٢",
        "٣*x",
        "x^1_0",
    ),
    *("x''^2 -", "'x", "(x)'", "x\u2032 - 1", "(1-t^2)/(1+t^2)", f"1/({'t+' * 60}t)"),
)
"""Texts that are no polynomials, and look as if they were."""

CASES_ONLY = (
    *(("dimension",), ("closure",), ("singular-locus",), ("cross-check",)),
    *(("script", "fibres"), ("membership", "--function", FUNCTION)),
)
"""Commands that need a case besides."""

NAMES = (
    ["x", "y"],
    ["x", "2"],
    ["x", "y_1"],
    ["x", "ｘ"],
    ["λ", "变量"],
    ["x", "x*y"],
    ["x", "-x"],
    ["x", " "],
    "xy",
)


def corpus(folder: Path) -> Iterator[Input]:
    """Bad inputs of every kind."""
    yield from option_values()
    yield from bad_inputs(folder)


def bad_inputs(folder: Path) -> Iterator[Input]:
    """Files, places, programs and cases that are no good."""
    yield from (
        Input(("membership", *CASE, "--function", text))
        for text in JSON
        if text.startswith("{") and "\0" not in text
    )
    yield from (
        Input(("membership", *CASE, "--function", "{}/f.json"), files={"f.json": text})
        for text in JSON
    )
    good = "[[1, 2], [3, 4]]"
    yield from (Input(("membership", *CASE, "--A", text, "--V", good)) for text in MATRICES)
    yield from (Input(("membership", *CASE, "--A", good, "--V", text)) for text in MATRICES)
    yield from (Input(("implicitize", "{}/m.toml"), files={"m.toml": text}) for text in MAPS)
    yield from (
        Input((command, "--ideal", text))
        for command in ("singular-locus", "polar-degrees")
        for text in IDEALS
    )
    yield from _numbers()
    yield from _sizes_of_matrices()
    inhomogeneous = '[map]\nparameters = ["s"]\n[coordinates]\nx = "s^2"\ny = "s^3"\n'
    yield Input(
        ("singular-locus", "--map", "{}/m.toml", "--projective"),
        frozenset({2, 3}),
        {"m.toml": inhomogeneous},
    )
    yield Input(("singular-locus", *CASE, "--projective", "--method", "orbits"))
    yield from (_certify("c.toml", text) for text in CASE_FILES)
    yield from (_certify("c.csv", text) for text in TABLES)
    yield from _programs()
    yield from _places(folder)
    yield from _certificates()
    yield from _weights(folder)
    yield from _large_cases()
    yield from (
        Input(("figure", *figure, option, number))
        for figure in (("1",), ("slice", *CASE))
        for option in ("--azimuth", "--elevation", "--box")[: 1 + len(figure)]
        for number in ("1e400", "-1e400", "nan", "inf", "361", "1e9999999999", "1..1e400", "1/0")
    )
    yield from (
        Input(("report", str(CERTIFICATES / "accepted"), "--format", "html", "--docs", address))
        for address in (
            "javascript:alert(1)",
            "\tjavascript:alert(1)",
            "data:text/html,x",
            "//example.org",
            "http:",
        )
    )


def _numbers() -> Iterator[Input]:
    """Numbers as Python writes or reads them, and the command line does not."""
    weights = str(CERTIFICATES.parents[1] / "examples" / "weights.npz")
    for number in ("1_0", "٥", "１", "²", "+-1", "0x1", "1e1"):
        yield Input(("closure", "--d", number, "--d-out", "1"))
        yield Input(("closure", *CASE, "--max-degree", number))
        yield Input(
            ("dimension", "--family", "deep-attention", "--widths", f"3,{number}", "--a", "1")
        )
        yield Input(
            ("dimension", "--family", "polynomial-network", "--widths", "2,1", "--degree", number)
        )
        yield Input(("weights", weights, "--heads", number))
        yield Input(("weights", weights, "--tolerance", f"{number}_"))
        yield Input(
            (
                "certify",
                "--d",
                f"1..{number}",
                "--d-out",
                "1",
                "--out",
                "{}/out",
                "--executor",
                "serial",
            )
        )
        yield _certify("c.csv", f"d,d_out\n{number},1\n")
        yield _certify("c.toml", f'[[case]]\nd = "{number}"\nd_out = 1\n')
    for number in ("1_0", "٥", "1_0.5", "٥.٥", "5s", "1e_1"):
        yield Input(("closure", *CASE, "--timeout", number))
        yield Input(("doctor", "--timeout", number))


def _sizes_of_matrices() -> Iterator[Input]:
    """Matrices of which no sizes can be read, and sizes that are not theirs."""
    row, good = "[[1, 2]]", "[[1, 2], [3, 4]]"
    for text in ("[]", "[[]]", "[1, 2]", "{}", "1", '"x"', "[[], [1]]", "[[1], [2, 3]]", "[[[1]]]"):
        yield Input(("membership", "--K", row, "--Q", row, "--V", text))
        yield Input(("membership", "--K", text, "--Q", row, "--V", good))
        yield Input(("membership", "--A", good, "--V", text))
    for option in ("--d", "--d-out", "--a"):
        yield Input(("membership", "--K", row, "--Q", row, "--V", good, option, "3"))
    yield Input(("membership", "--V", good))


def _certify(name: str, text: str | bytes) -> Input:
    return Input(("certify", "--cases", f"{{}}/{name}", "--out", "{}/out"), files={name: text})


def option_values() -> Iterator[Input]:
    """Every word as the value of every option of every command; some are good values."""
    for command, options in OPTIONS.items():
        for option in options:
            for word in WORDS:
                yield Input((*command, option, word), ANY, {"m.toml": MAP})


def _large_cases() -> Iterator[Input]:
    """Cases of which nothing can be computed but a dimension; the last two are no cases."""
    for command in CASES_ONLY:
        for d, d_out in ((10**9 - 1, 1), (2, 10**9 - 1), (300, 300), (10**9, 1), (1, 10**5000)):
            proved = command == ("dimension",) and max(d, d_out) < 10**9
            codes = frozenset({0}) if proved else frozenset({2, 3})
            yield Input((*command, "--d", _decimal(d), "--d-out", _decimal(d_out)), codes)
        yield Input((*command, *CASE, "--a", "10000"), ANY)
        yield Input((*command, *CASE, "--t", "999999999"), ANY)
    for check, case in (
        ("equations", ("1", "1", "1")),
        ("equations", ("12", "12", "2")),
        ("all", ("300", "300", "2")),
    ):
        options = (
            word for pair in zip(("--d", "--d-out", "--t"), case, strict=True) for word in pair
        )
        yield Input(
            ("certify", *options, "--check", check, "--out", "{}/out", "--executor", "serial"), ANY
        )
    for numbers in (("--heads", "99999999"), ("--t", "99999999"), ("--a", "99999999")):
        yield Input(
            ("dimension", "--family", "deep-attention", "--widths", "3,3", "--a", "2", *numbers),
            ANY,
        )
    for widths in ("3,99999999,3", "99999999,3", "1,99999999,1"):
        yield Input(
            ("cross-check", "--family", "deep-attention", "--widths", widths, "--a", "2"), ANY
        )
    yield Input(("closure", *CASE, "--weights", "factored", "--a", "10000"), ANY)
    softmax = (
        "--family",
        "deep-attention",
        "--widths",
        "2,2",
        "--a",
        "1",
        "--normalization",
        "softmax",
    )
    yield from (
        Input(("singular-locus", *softmax, "--method", method))
        for method in ("auto", "fibres", "jacobian")
    )
    yield from (
        Input(("cross-check", *CASE, name)) for name in ("3.4 (iv)", "3.4 (", "3.3 ()", "(iii)", "")
    )
    yield Input(("certify", *CASE, "--check", "3.4 (iv)", "--out", "{}/out"))


def _decimal(number: int) -> str:
    from m2bridge.system import decimal

    return decimal(number)


def _programs() -> Iterator[Input]:
    for program in ("~nosuchuser/M2", "", "/", "/dev/null", "x" * 5000, ESCAPE, "/bin/cat", "[/b]"):
        yield Input(("doctor", "--m2", program), frozenset({4}))


def _places(folder: Path) -> Iterator[Input]:
    """Files and folders that are not what they should be."""
    os.mkdir(folder / "empty")
    os.mkdir(folder / "maze")
    os.symlink(folder / "maze", folder / "maze" / "loop")
    os.symlink(folder / "nowhere", folder / "maze" / "d1-dout1-a1-t1-3.4.json")
    os.mkfifo(folder / "maze" / "pipe.json")
    os.mkdir(folder / "maze" / "folder.json")
    os.truncate(os.open(folder / "maze" / "sparse.json", os.O_CREAT | os.O_WRONLY), 50 * 2**30)
    (folder / "maze" / f"{ESCAPE.replace('/', '')}.json").write_text("{}")
    for place in (
        "{}/none",
        "{}/empty",
        "/dev/zero",
        "/dev/null",
        "{}/maze/sparse.json",
        "x" * 5000,
        ESCAPE,
        "",
        "-x",
    ):
        yield Input(("implicitize", place))
        yield Input(("membership", *CASE, "--function", place))
        yield Input(("certify", "--cases", place, "--out", "{}/out"))
        yield Input(("dimension", place))
        yield Input(
            ("singular-locus", "--ideal", place),
            frozenset({0, 2, 3} if place.endswith("x") else {2}),
        )
    for place in ("{}/none", "{}/empty", "x" * 5000, ESCAPE, ""):
        yield Input(("report", place))
        yield Input(("verify", place))
    for form in REPORT_FORMATS:
        yield Input(("report", "{}/maze", "--format", form), frozenset({2}))


def _certificates() -> Iterator[Input]:
    for text in (*JSON, "[" * 20_000 + "]" * 20_000):
        for words in (("verify", "{}/certificates/x.json"), ("report", "{}/certificates")):
            yield Input(words, ANY, {"certificates/x.json": text})


def _weights(folder: Path) -> Iterator[Input]:
    """Files of weights with headers, types and names that do harm; configurations that never come
    to an end.
    """
    good = '{"K": [[1, 2]], "Q": [[1, 0]], "V": [[0, 1]]}'
    for name, (content, _) in HOSTILE.items():
        yield Input(("weights", f"{{}}/{name}"), files={name: content})
    for form in ("text", "json", "latex", "m2"):
        names = json.dumps(json.loads(good) | {name: [[1, 2]] for name in NASTY})
        yield Input(
            ("weights", "{}/names.json", "--format", form), frozenset({0}), {"names.json": names}
        )
    for number, shapes in enumerate(LAYOUTS.values()):
        arrays = {name: entries(shape) for name, shape in shapes.items()}
        files = {f"layout{number}.json": json.dumps(arrays)}
        for norm in ("layer", "rms", "none"):
            words = ("weights", f"{{}}/layout{number}.json", "--heads", "2", "--norm", norm)
            yield Input(words, frozenset({0}), files)
    for number, (_, arrays) in enumerate(changed_layers()):
        files = {f"changed{number}.json": json.dumps(arrays)}
        yield Input(("weights", f"{{}}/changed{number}.json", "--heads", "2"), ANY, files)
    for number, text in enumerate((*JSON, "[" * 50_000 + "]" * 50_000)):
        place = f"configured{number}"
        files = {f"{place}/w.json": good, f"{place}/config.json": text}
        yield Input(("weights", f"{{}}/{place}/w.json"), ANY, files)
    for place in ("pipe", "zeros"):
        os.mkdir(folder / place)
    os.mkfifo(folder / "pipe" / "config.json")
    os.symlink("/dev/zero", folder / "zeros" / "config.json")
    for place in ("pipe", "zeros"):
        name = f"{place}/w.json"
        yield Input(("weights", f"{{}}/{name}"), frozenset({0}), {name: good})


def random_input(random: Random) -> Input:
    """A random change of something good, for a random command."""
    kind = random.randrange(7)
    if kind == 0:
        command = random.choice(list(OPTIONS))
        words = [
            w
            for _ in range(random.randint(1, 3))
            for w in (random.choice(OPTIONS[command]), random.choice(WORDS))
        ]
        return Input((*command, *words), ANY, {"m.toml": MAP})
    if kind == 1:
        function = json_text(
            {f"c_{i}_{j}_1_2": random.choice(("3/7", 5, "1e5")) for i in (1, 2) for j in (1, 2)}
        )
        return Input(
            ("membership", *CASE, "--function", "{}/f.json"),
            ANY,
            {"f.json": changed(function, random)},
        )
    if kind == 2:
        return Input(("implicitize", "{}/m.toml"), ANY, {"m.toml": changed(MAP, random)})
    if kind == 3:
        texts = {"c.toml": CASES * 3, "c.csv": "d,d_out,a\n2,1,1\n3,1..2,2\n"}
        name = random.choice(list(texts))
        return _certify(name, changed(texts[name], random) + "\nd = 0\n")
    path = random.choice(sorted((CERTIFICATES / "accepted").glob("*.json")))
    if kind == 4:
        text = changed(path.read_text(encoding="utf-8"), random)
    else:
        text = json_text(_sealed(replaced(json.loads(path.read_text(encoding="utf-8")), random)))
    report = ("report", "{}/certificates", "--format", random.choice(REPORT_FORMATS))
    return Input(report, ANY, {"certificates/x.json": "{}", f"certificates/{path.name}": text})


def _sealed(data: object) -> object:
    """The data with the digest of a certificate, where one can be computed."""
    import hashlib

    if not isinstance(data, dict) or "digest" not in data:
        return data
    content = {name: value for name, value in data.items() if name != "digest"}
    try:
        text = json.dumps(
            content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        return {**data, "digest": hashlib.sha256(text.encode()).hexdigest()}
    except ValueError:
        return data


def ideal_data(random: Random) -> object:
    """The JSON of a closure with something strange in it."""
    names = random.choice(NAMES)
    generators = ["x**2 - 2/3*y", "-x*y", random.choice(WORDS), f"{random.choice(names)}**2"][
        : random.randint(1, 4)
    ]
    data: object = {
        "field": random.choice(("QQ", "GF(7)", "GF(3)")),
        "coordinates": names,
        "generators": generators,
    }
    return data if random.random() < 0.5 else replaced(data, random)
