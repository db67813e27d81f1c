"""The registry of families, with families that other packages bring; and how cases are read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
import pytest
import sympy
from click.testing import CliRunner

from m2bridge.cli import commands
from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.families import registry
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.base import Family, integer, integers
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.polynomial_network.activation import ActivatedNetwork
from m2bridge.families.polynomial_network.family import FAMILY
from m2bridge.families.polynomial_network.model import PolynomialNetwork
from m2bridge.families.registry import families, family, family_names
from m2bridge.maps.dimension import dimension
from m2bridge.maps.jacobian_rank import rank_result
from m2bridge.maps.model import Model
from tests.plug_in import HERE, install as install_plug_in
from tests.plug_in.rational_normal_curves import NAME as RATIONAL_NORMAL_CURVES

NAME = "curves-of-these-tests"
"""Of a family that nobody has installed: other packages may have brought theirs."""
PLUG_IN = (
    (HERE / "rational_normal_curves.py")
    .read_text(encoding="utf-8")
    .replace(RATIONAL_NORMAL_CURVES, NAME)
)


def install(folder: Path, package: str, entries: dict[str, str], code: str = "") -> None:
    """An installed package, as pip leaves it: a module, and metadata with entry points."""
    (folder / f"{package}.py").write_text(code, encoding="utf-8")
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
    )
    lines = [f"{name} = {value}" for name, value in entries.items()]
    (metadata / "entry_points.txt").write_text(
        "\n".join(["[m2bridge.families]", *lines]), encoding="utf-8"
    )


@pytest.mark.parametrize("name", registry.OWN_FAMILIES)
def test_what_families_name_is_there(name: str) -> None:
    """Workers pass over a module that is missing, and import what they need later."""
    assert all(import_module(module) for module in family(name).modules)


@pytest.fixture(params=["alone", "beside"])
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A folder on the path for installed packages; also where another one has brought a family
    before.
    """
    for folder in ("plug-in", "site") if request.param == "beside" else ("site",):
        (tmp_path / folder).mkdir()
        monkeypatch.syspath_prepend(str(tmp_path / folder))
    if request.param == "beside":
        install_plug_in(tmp_path / "plug-in")
    return tmp_path / "site"


def test_a_package_brings_a_family(site: Path) -> None:
    before = family_names()
    install(site, "plug_curves", {NAME: "plug_curves:FAMILY"}, PLUG_IN)
    assert family_names() == tuple(sorted((*before, NAME)))
    assert set(registry.OWN_FAMILIES) <= set(before)
    found = family(NAME)
    model = found.from_options({"n": "3"})
    assert isinstance(model, Model)
    assert model.statements()
    assert (rank_result(model).lower, rank_result(model).status) == (2, "proved")
    assert found.from_json(model.to_json()) == model == found.from_key(model.key)
    assert [statement.part for statement in found.statements()] == ["right", "wrong"]


def test_a_family_without_statements_is_told_the_way_to_a_proof(site: Path) -> None:
    """Powers of a sum: the rank is 1, which no bound that needs no computation attains, and degrees
    are too large for the proof that all larger minors are zero.
    """
    silent = re.sub(r"    def statements.*?(?=\n\n\ndef )", "", PLUG_IN, flags=re.DOTALL)
    silent = silent.replace("s ** (self.n - i) * t**i", "(s**4000 + s + t + 1) ** (i + 1)")
    silent = re.sub(r"    def statements.*?(?=\n    def effort)", "", silent, flags=re.DOTALL)
    install(site, "plug_silent", {NAME: "plug_silent:FAMILY"}, silent)
    model = family(NAME).from_options({"n": "3"})
    assert not model.statements()
    shown = CliRunner().invoke(commands.cli, ["dimension", "--family", NAME, "--n", "3"])
    assert shown.exit_code == 0
    assert "1 (lower bound)" in shown.stdout
    assert re.search("to prove it +--method all", shown.stdout)
    assert "--method all" not in dimension(PolynomialNetwork((2, 2, 1))).to_text()


def test_a_broken_package_is_named_and_hides_no_other(site: Path) -> None:
    before, failed_before = families()
    install(site, "plug_curves", {NAME: "plug_curves:FAMILY"}, PLUG_IN)
    install(
        site, "plug_broken", {"broken": "plug_broken:FAMILY"}, "raise RuntimeError('no licence')"
    )
    install(
        site, "plug_empty", {"empty": "plug_empty:FAMILY", "other": "plug_empty:OTHER"}, "OTHER = 3"
    )
    install(site, "plug_alias", {"alias": "m2bridge.families.polynomial_network.family:FAMILY"})
    install(site, "plug_class", {"class": "plug_class:Cones"}, PLUG_IN)
    loaded, failed = families()
    assert set(loaded) == {*before, NAME} >= set(registry.OWN_FAMILIES)
    assert {name: failed[name].message for name in failed.keys() - failed_before.keys()} == {
        "alias": (
            "the family 'alias' of the package plug_alias cannot be used: it calls itself"
            " 'polynomial-network'"
        ),
        "broken": (
            "the family 'broken' of the package plug_broken cannot be used: RuntimeError:"
            " no licence"
        ),
        "class": (
            "the family 'class' of the package plug_class cannot be used: plug_class:Cones"
            " is a class: name an instance of it"
        ),
        "empty": (
            "the family 'empty' of the package plug_empty cannot be used: AttributeError:"
            " module 'plug_empty' has no attribute 'FAMILY'"
        ),
        "other": (
            "the family 'other' of the package plug_empty cannot be used: plug_empty:OTHER"
            " is not an m2bridge.families.base.Family"
        ),
    }
    with pytest.raises(InvalidCaseError, match="no licence"):
        family("broken")


@pytest.mark.parametrize(
    ("missing", "there", "instead"),
    [
        ("from_key", "def from_key", "def from_keys"),
        ("name", "    name = NAME\n", ""),
        ("title", "    title = ", "    tile = "),
    ],
)
def test_a_family_that_lacks_something_says_what(
    missing: str, there: str, instead: str, site: Path
) -> None:
    before, _, family_of_cones = PLUG_IN.rpartition("class Cones")
    install(
        site,
        "plug_half",
        {"half": "plug_half:FAMILY"},
        f"{before}class Cones{family_of_cones.replace(there, instead)}",
    )
    with pytest.raises(
        InvalidCaseError,
        match=rf"of the package plug_half cannot be used: .*abstract.* '?{missing}'?\.$",
    ):
        family("half")


ASKED: dict[str, Callable[[Family[Any]], Any]] = {
    "no statement about polynomial neural networks has a form for all sizes": (
        lambda f: f.cross_check_all_sizes(())
    ),
    "closures of polynomial neural networks are computed case by case": (
        lambda f: f.closures_of_all_sizes(vectors=True)
    ),
}


@pytest.mark.parametrize("said", ASKED)
def test_what_a_family_does_not_answer_it_refuses(said: str) -> None:
    with pytest.raises((InvalidCaseError, MethodUnavailableError), match=said):
        ASKED[said](FAMILY)


def test_a_name_that_two_packages_claim_is_refused(site: Path) -> None:
    install(site, "plug_one", {"mine": "plug_one:FAMILY"})
    install(site, "plug_two", {"mine": "plug_two:FAMILY", "polynomial-network": "plug_two:FAMILY"})
    with pytest.raises(
        InvalidCaseError, match=r"'mine' is claimed by plug_(one|two) .* and plug_(one|two) "
    ):
        family("mine")
    assert family("polynomial-network") is FAMILY, "the names of m2bridge's own families are taken"


def test_a_package_found_twice_counts_once(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "second"):
        (site / name).mkdir()
        install(site / name, "plug_twice", {NAME: "plug_twice:FAMILY"}, PLUG_IN)
        monkeypatch.syspath_prepend(str(site / name))
    assert family(NAME).name == NAME


def test_families_are_not_loaded_before_they_are_asked_for(site: Path) -> None:
    install(site, "plug_lazy", {"lazy": "plug_lazy:FAMILY"}, "raise SystemExit('loaded')")
    assert "lazy" in family_names()
    assert family("polynomial-network") is FAMILY


def test_own_families_are_what_they_are_called() -> None:
    for name in registry.OWN_FAMILIES:
        assert family(name).name == name
    with pytest.raises(InvalidCaseError, match="there is no family 'polynomial'"):
        family("polynomial")


BY_NAME = ("__init__.py", "families/registry.py")
"""Modules that name modules of families by text."""
ABOVE_FAMILIES = ("decision_boundary", "trained_weights", "training", "cli")
"""Packages that are about attention, and commands about one family."""


def test_nobody_imports_a_family_but_itself() -> None:
    """The registry loads it by name; the public names of the package are those of families too."""
    package = Path(registry.__file__).parents[1]
    for path in package.rglob("*.py"):
        inside = (
            path.relative_to(package / "families").parts[0]
            if path.is_relative_to(package / "families")
            else ""
        )
        place = path.relative_to(package)
        known = place.as_posix() in BY_NAME or place.parts[0] in ABOVE_FAMILIES
        for module in registry.OWN_FAMILIES.values() if not known else ():
            folder = module.removeprefix("m2bridge.families.")
            text = path.read_text(encoding="utf-8")
            own = inside == folder.partition(".")[0]
            assert own or not re.search(rf"families\.{re.escape(folder)}\b(?!:)", text), path


def test_a_case_in_all_its_forms() -> None:
    network = PolynomialNetwork((2, 3, 1), 4)
    assert FAMILY.from_options({"widths": "2, 3,1", "degree": "4"}) == network
    assert FAMILY.from_options({"widths": "2,3,1", "degree": None}) == PolynomialNetwork(
        (2, 3, 1), 2
    )
    assert FAMILY.from_json(json.loads(json.dumps(network.to_json()))) == network
    assert FAMILY.from_key(network.key) == network
    assert network.key == "2-3-1-r4"
    assert FAMILY.statements() == network.statements()


@pytest.mark.parametrize(
    ("options", "option", "said"),
    [
        ({}, "widths", "is missing"),
        ({"widths": "2,x"}, "widths", "not a list of integers"),
        ({"widths": "2,,1"}, "widths", "not a list of integers"),
        ({"widths": "2,٣"}, "widths", "not a list of integers"),
        ({"widths": "2,0"}, "widths", "at least 1"),
        ({"widths": "2,1", "degree": "two"}, "degree", "'two' is not an integer"),
        ({"widths": "2,1", "degree": "9" * 5000}, "degree", "'9{20}…' has too many digits"),
        ({"widths": f"2,-{'9' * 19}"}, "widths", "'-9{19}…' has too many digits"),
        (
            {"widths": "2,1", "d": "3"},
            "d",
            "not an option of the family polynomial-network: use widths, degree",
        ),
    ],
)
def test_options_that_name_no_case(options: dict[str, str], option: str, said: str) -> None:
    with pytest.raises(InvalidCaseError, match=said) as refused:
        FAMILY.from_options(options)
    assert refused.value.option == option


@pytest.mark.parametrize(
    "content",
    [
        *(3, None, [2, 2, 1], {}, {"widths": [2, 1]}, {"widths": "21", "degree": 2}),
        *({"widths": [2, 1], "degree": 2, "t": 1}, {"widths": [2, None], "degree": 2}),
        *({"widths": [2, 1], "degree": "2"}, {"widths": {"a": 1}, "degree": 2}),
    ],
)
def test_json_that_names_no_case(content: object) -> None:
    with pytest.raises(InvalidCaseError):
        FAMILY.from_json(content)


@pytest.mark.parametrize(
    "key", ["", "2", "2-2-1", "2-2-1-r", "2-2-1-r0", "02-1-r2", "2-1-r2\n", "2-1-r2/../x", "2-²-r2"]
)
def test_keys_that_name_no_case(key: str) -> None:
    with pytest.raises(InvalidCaseError):
        FAMILY.from_key(key)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda chosen: chosen.from_options({"d": "3"}), "'d' is not an option of .*: it has no"),
        (lambda chosen: chosen.from_json({"d": 3}), "'d' is not an option of .*: it has no"),
        (lambda chosen: chosen.build(d=3), "'d' is not an option of .*: it has no options"),
        (lambda chosen: chosen.from_json(3), "must be a table of no entries"),
    ],
)
def test_a_family_without_options_takes_none(
    make: Callable[[Family[Any]], object], said: str
) -> None:
    with pytest.raises(InvalidCaseError, match=said):
        make(family("attention-all-sizes"))


def test_integers_are_read_strictly() -> None:
    assert integer(f" {'9' * 18}{' ' * 9}") == 10**18 - 1
    assert integers("1, -2,3") == (1, -2, 3)
    for text in ("", "1.0", "1e3", "--1", "0x1", "1_000", "+1"):
        with pytest.raises(ValueError, match="is not"):
            integer(text)


@pytest.mark.parametrize("two", [numpy.int64(2), sympy.Integer(2)])
def test_integers_of_libraries_are_sizes(two: Any) -> None:
    model = SingleLayerAttention(two, 1)
    assert (model.key, type(model.d)) == ("d2-dout1-a2-t2", int)
    assert PolynomialNetwork([two, 1]).key == "2-1-r2"
    assert DeepAttention([two, 2], a=two).key == "2-2-a2-t2"
    activated = ActivatedNetwork([1, 1, 1], [two - 2, two, two])
    assert (activated.key, set(map(type, activated.activation))) == ("1-1-1-p0_2_2", {int})
    for number in (2.0, sympy.Rational(3, 2), True):
        with pytest.raises(InvalidCaseError, match="'d' must be an integer"):
            SingleLayerAttention(number, 1)


def test_a_family_is_a_value() -> None:
    assert isinstance(FAMILY, Family)
    assert {option.name for option in FAMILY.options} == {"widths", "degree", "activation"}
