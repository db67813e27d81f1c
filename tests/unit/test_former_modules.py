"""What packages and folders of release 1.0 rely on: names of modules, and those of functions."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from m2bridge import Ideal, certify, closure, membership
from m2bridge.batch.run_many import _source
from m2bridge.former_modules import DIVIDED_MODULES, FORMER_MODULES
from tests import plug_in

PLUG_IN_1_0 = Path(__file__).parents[1] / "plug_in_1_0"


@pytest.mark.parametrize("former", FORMER_MODULES)
def test_a_module_has_its_former_name_too(former: str) -> None:
    assert import_module(former) is import_module(FORMER_MODULES[former])


def test_no_former_module_takes_the_place_of_a_function() -> None:
    """Python sets the module that it has imported as an attribute of its package."""
    for former in FORMER_MODULES:
        package, _, name = former.rpartition(".")
        there = vars(import_module(package)).get(name)
        assert there is None or isinstance(there, ModuleType), former


def test_names_of_a_module_that_was_divided() -> None:
    for former, parts in DIVIDED_MODULES.items():
        module = import_module(former)
        for part in map(import_module, parts):
            for name, value in vars(part).items():
                if getattr(value, "__module__", "") == part.__name__:
                    assert getattr(module, name) is value


def test_a_module_that_was_divided_keeps_what_python_sets() -> None:
    """Among the names of the parts are ``__name__`` and ``__spec__``, which are not taken."""
    for former in DIVIDED_MODULES:
        module = import_module(former)
        assert module.__name__ == former
        assert module.__spec__ is not None
        assert module.__spec__.name == former


def test_other_modules_that_are_missing_are_missing() -> None:
    with pytest.raises(ModuleNotFoundError):
        import_module("m2bridge.maps.statements")


CERTIFY = """
from m2bridge import certify, verify
from m2bridge.families.registry import family
model = family("rational-normal-curve").from_options({"n": "3"})
certificate = certify(model, "dimension")
print(verify(certificate).outcome, certificate.answer["verdicts"][0]["verdict"])
"""


@pytest.mark.slow
def test_a_package_for_release_1_0_works(tmp_path: Path) -> None:
    """In a process of its own, where nothing was imported by its present name."""
    plug_in.install(tmp_path, PLUG_IN_1_0)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{CERTIFY}"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["accepted", "CONFIRMED"], done.stderr


@pytest.mark.parametrize(
    ("function", "digest"),
    [
        (closure, "f1d16a1ff296b6a50d3c517106580ddb56fd8e2d051ca6fba34fada5c2836895"),
        (membership, "b11a26541543aa0239b1ad7dc9d5256579f50e5ecb407d97c47bb044ee1addc2"),
        (Ideal.radical, "55662f8723b469e4625a0a235faefefc4de561560d05ad68252eb150790f5edf"),
        (certify, "3523c685b8a7face3389ccd0828400e980f6713d2fc38373b1b6096e7eeb1cd1"),
    ],
    ids=lambda value: getattr(value, "__qualname__", "sha256"),
)
def test_run_many_knows_public_functions_as_release_1_0_did(
    function: Callable[..., Any], digest: str
) -> None:
    """So its folders of outcomes go on where they were; the digests are those of release 1.0."""
    assert hashlib.sha256(_source(function).encode()).hexdigest() == digest
