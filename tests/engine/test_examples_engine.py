"""The examples of the public names that need Macaulay2; all share one session."""

from collections.abc import Callable
from pathlib import Path

import pytest

from m2bridge.workspace.macaulay2 import Macaulay2
from tests.examples import ASKING, WITH_ENGINE, examples, failures, method_examples, shared


@pytest.mark.parametrize("name", [*sorted(WITH_ENGINE | ASKING), "m2bridge"])
def test_examples(name: str, m2: str, sessions: Callable[[Path], Macaulay2], monkeypatch: pytest.MonkeyPatch) -> None:
    test = examples(name)
    with shared(sessions(Path(m2)), monkeypatch) as names:
        test.globs.update(names)
        assert not failures(test)


def test_examples_of_methods(m2: str, sessions: Callable[[Path], Macaulay2], monkeypatch: pytest.MonkeyPatch) -> None:
    found = method_examples("Macaulay2", "Workspace")
    assert {test.name for test in found} >= {"Macaulay2.value", "Macaulay2.workspace", "Workspace.run"}
    with shared(sessions(Path(m2)), monkeypatch) as names:
        for test in found:
            test.globs.update(names)
            assert not failures(test)
