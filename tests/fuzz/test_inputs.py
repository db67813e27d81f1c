"""Short runs of the fuzzers; the long ones are python -m tests.fuzz."""

import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from m2bridge import CoefficientField, Macaulay2, image
from m2bridge.convert.answers import parse
from m2bridge.ideals.ideal import Ideal
from m2bridge.results.known import Bounds
from tests.fuzz import certificates, faults, maps
from tests.fuzz.inputs import Answer, ask, complaint, complaints, environment, ideal_complaint
from tests.fuzz.inputs_corpus import ANY, CASE, Input, bad_inputs, option_values, random_input

pytestmark = pytest.mark.slow

# A short run of the fuzzer of inputs; the long one is ``python -m tests.fuzz inputs``.

SEED = 20261121
SHOWN = 3
"""So many complaints are enough: each may take its whole limit."""


def first(inputs: Iterable[Input], folder: Path) -> list[str]:
    return list(islice(complaints(inputs, folder), SHOWN))


def test_bad_files_places_programs_and_cases() -> None:
    """Of files of weights with one change a sixth."""
    with environment() as folder:
        chosen = [
            input_
            for place, input_ in enumerate(bad_inputs(folder))
            if place % 6 == 0 or not any(name.startswith("changed") for name in input_.files)
        ]
        assert len(chosen) > 1000
        assert first(chosen, folder) == []


def test_words_as_values_of_options() -> None:
    with environment() as folder:
        assert first(Random(SEED).sample(list(option_values()), 400), folder) == []


def test_random_changes() -> None:
    random = Random(SEED)
    with environment() as folder:
        assert first([random_input(random) for _ in range(300)], folder) == []
    assert [said for _ in range(300) if (said := ideal_complaint(random))] == []


@pytest.mark.parametrize(
    ("code", "out", "err", "said"),
    [
        (
            5,
            "",
            "Traceback (most recent call last):\nValueError: x\n",
            "a traceback: ValueError: x",
        ),
        (5, "", "Error: x\n", "exit code 5"),
        (2, "", "", "not one line"),
        (2, "", "Error: a\nb\n", "not one line"),
        (2, "a result\n", "Error: a\n", "not one line"),
        (2, "", f"Error: {'x' * 3000}\n", "a message of"),
        (0, "\x1b[2J", "", "commands the terminal"),
        (0, "\x9b2J", "", "commands the terminal"),
        (-1, "", "", "CPU time"),
        (2, "", "Error: Invalid value for '--d': must be at least 1, not 0\n", ""),
    ],
)
def test_what_the_fuzzer_complains_of(code: int, out: str, err: str, said: str) -> None:
    found = complaint(Input((), ANY), Answer(code, out, err, 0.0))
    assert (said in found) if said else not found


def test_commands_are_really_run() -> None:
    with environment():
        good = ask(["dimension", *CASE])
        assert (good.code, "dimension" in good.out, good.err) == (0, True, "")
        assert ask(["closure", *CASE, "--t", "1"]).code == 3, "the engine has no time"
        assert ask(["dimension", *CASE, "--a", "0"]).code == 2


# Changed certificates with a digest that fits: a short run.


def test_changed_certificates() -> None:
    assert certificates.run(150, 1) == 0


@pytest.mark.parametrize("path", certificates.ACCEPTED, ids=lambda path: path.name)
def test_certificates_that_are_not_changed_are_accepted(path: object) -> None:
    """Seals and names are written anew here; a wrong seal would make every rejection worthless."""
    data = json.loads(path.read_text(encoding="utf-8"))  # type: ignore[attr-defined]
    assert certificates.sealed(data) == data
    assert certificates.name_of(data) == path.name  # type: ignore[attr-defined]
    assert certificates.complaint(data, data, "accepted") == ""


def test_what_must_not_be_accepted() -> None:
    drawn = [certificates.changed(Random(f"1 {number}")) for number in range(300)]
    complained = [certificates.complaint(old, new, "accepted") for old, new in drawn]
    assert complained.count("accepted") > 200
    assert all(
        certificates.complaint(old, new, "failed")
        for old, new in drawn
        if new.get("family") == old["family"]
    )
    old, new = next(pair for pair, said in zip(drawn, complained, strict=True) if not said)
    assert certificates.complaint(old, new, "rejected") == ""


# Commands on systems where something is wrong: each fault once, those that are harmless together;
# and each signal, SIGHUP and SIGKILL at one moment.

HARMLESS = [name for name, fault in faults.FAULTS.items() if fault.harmless]
LATER = re.compile(rf"SIG(HUP|KILL) to the command at (?!run)|[\w -]+, ({'|'.join(HARMLESS)})$")
TRIALS = [
    *((name, trial) for name, trial in faults.each(seed=1) if not LATER.match(name)),
    *faults.together(),
]


def test_each_harmless_fault_is_taken_with_others() -> None:
    assert sorted(
        ["nothing", *(name for names in faults.TOGETHER.values() for name in names)]
    ) == sorted(HARMLESS)


@pytest.fixture
def folder() -> Iterator[Path]:
    """With a short name, as sockets in it need."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        yield Path(name)


@pytest.mark.parametrize(("name", "trial"), TRIALS, ids=[name for name, _ in TRIALS])
def test_a_command_takes_it(name: str, trial: faults.Suffering, folder: Path, m2: str) -> None:
    assert trial(folder, m2) == ""


def test_what_is_left_is_seen(folder: Path, m2: str) -> None:
    """A traceback, a file, a wrong exit code."""
    line = 'touch "$TMPDIR/left"; exec "$@"'
    trial = faults.Trial(folder, m2, ["script", "closure", "--d", "2", "--d-out", "1"], line)
    assert faults.suffered("", faults.Fault(line), "script", trial) == "left in TMPDIR: left"
    assert "no clear line" in faults.unclear("Traceback (most recent call last):\n  …")
    assert "3 lines" in faults.unclear("one\ntwo\nthree")
    assert "no clear line" in faults.unclear("")


# Random maps against Macaulay2's own kernel: a short run.


@pytest.mark.macaulay2("any")
def test_random_maps(engine: Macaulay2) -> None:
    assert maps.run(25, 1, engine) == 0


def test_every_field_and_kind_is_drawn() -> None:
    drawn = [maps.random_case(Random(f"1 {number}")) for number in range(100)]
    assert {case.field for case in drawn} == set(maps.FIELDS)
    assert {bool(case.relations) for case in drawn} == {True, False}
    assert {case.polynomial_map().image_degrees is None for case in drawn} == {True, False}


@pytest.mark.macaulay2("any")
def test_a_wrong_ideal_is_seen(engine: Macaulay2) -> None:
    """The twisted cubic without one of its quadrics, with one too many, and of a wrong degree."""
    cubic = maps.Case(CoefficientField(5), 2, tuple((((3 - i, i), 1),) for i in range(4)), ())
    found = image(cubic.polynomial_map(), engine=engine, field=cubic.field)
    ideal = found.closure.ideal
    assert ideal is not None

    def complaint(generators: tuple[object, ...], **changes: object) -> str:
        closure = replace(found.closure, equations=Ideal(ideal.ring, generators), **changes)  # type: ignore[arg-type]
        wrong = replace(found, closure=closure)
        return maps.complaint(
            cubic, wrong, parse(engine.run(maps.comparison(cubic, wrong)).records)
        )

    assert complaint(ideal.generators) == ""
    assert complaint(ideal.generators[1:]) == "not the whole kernel"
    assert (
        complaint((*ideal.generators, ideal.generators[0].ring.gens[0]))
        == "an element that is not in the kernel"
    )
    assert complaint(ideal.generators, degree=4) == "degree 4, not 3"
    wrong_dimension = Bounds.exactly(3, "a guess")
    assert complaint(ideal.generators, known_dimension=wrong_dimension) == "dimension 3, not 2"
