"""A workspace of the tests: plain Macaulay2 with its preloaded packages, and values in and out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from m2bridge.convert.given import bindings
from m2bridge.convert.wire import decode
from m2bridge.resources import m2script

OPTIONS = ("-q", "--silent", "--no-readline", "--no-prompts", "--no-debug", "--no-randomize")


def answers(program: Path, folder: Path, questions: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
    """The wire form of the value of each piece of code with its inputs, from one process; an error is its text."""
    lines = [f'load "{m2script(name)}"' for name in ("wire", "values")]
    for i, (code, inputs) in enumerate(questions):
        source = folder / f"{i}.m2"
        source.write_text(f"{bindings(inputs)}\n{code}\n", encoding="utf-8")
        lines += [
            "dictionaryPath = prepend(mbTestUser = new GlobalDictionary, dictionaryPath)",
            f'mbTestDone = false; mbTestOut = openOut "{folder}/{i}.json"; mbOutput = mbTestOut',
            f'mbTestValue = value get "{source}"; mbTestDone = true',
            'if mbTestDone then mbEmit("value", mbTestValue)',
            "dictionaryPath = drop(dictionaryPath, 1); close mbTestOut;",
        ]
    done = subprocess.run(
        [program, *OPTIONS],
        input="\n".join(lines) + "\n",
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    return [_answer(folder / f"{i}.json", done.stdout + done.stderr) for i in range(len(questions))]


def _answer(path: Path, output: str) -> Any:
    record = path.read_text(encoding="utf-8") if path.exists() else ""
    return json.loads(record)["value"] if record else AssertionError(output[-3000:])


def values(program: Path, folder: Path, questions: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
    """The Python object of each; an exception where there is none."""
    return [_decoded(answer) for answer in answers(program, folder, questions)]


def _decoded(answer: Any) -> Any:
    if isinstance(answer, Exception):
        return answer
    try:
        return decode(answer)
    except Exception as failure:  # compared by the tests
        return failure
