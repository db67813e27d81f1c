"""A short run of the fuzzer of inputs; the long one is ``python -m tests.fuzz inputs``."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.inputs import Answer, ask, complaint, complaints, environment, ideal_complaint
from tests.fuzz.inputs_corpus import ANY, CASE, Input, bad_inputs, option_values, random_input

SEED = 20261121
SHOWN = 3
"""So many complaints are enough: each may take its whole limit."""


def first(inputs: Iterable[Input], folder: Path) -> list[str]:
    return list(islice(complaints(inputs, folder), SHOWN))


def test_bad_files_places_programs_and_cases() -> None:
    with environment() as folder:
        assert first(bad_inputs(folder), folder) == []


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
        (5, "", "Traceback (most recent call last):\nValueError: x\n", "a traceback: ValueError: x"),
        (5, "", "Error: x\n", "exit code 5"),
        (2, "", "", "not one line"),
        (2, "", "Error: a\nb\n", "not one line"),
        (2, "a result\n", "Error: a\n", "not one line"),
        (2, "", f"Error: {'x' * 3000}\n", "a message of"),
        (0, "\x1b[2J", "", "commands the terminal"),
        (0, "\x9b2J", "", "commands the terminal"),
        (-1, "", "", "CPU time"),
        (2, "", "Error: --d: must be at least 1, not 0\n", ""),
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
