"""Errors cross worker processes whole."""

import pickle

import pytest

from m2bridge import errors
from m2bridge.errors import EngineTimeoutError, InvalidCaseError, M2BridgeError, ScriptError, TooExpensiveError


def every_error() -> list[type[M2BridgeError]]:
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, M2BridgeError)]


@pytest.mark.parametrize("kind", [k for k in every_error() if k not in (InvalidCaseError, TooExpensiveError)])
def test_errors_pickle(kind: type[M2BridgeError]) -> None:
    copy = pickle.loads(pickle.dumps(kind("what happened")))
    assert type(copy) is kind
    assert str(copy) == "what happened"


def test_details_survive_pickling() -> None:
    script = ScriptError("m", error="e", line=3, excerpt="x", records=("r",), output="o")
    copy = pickle.loads(pickle.dumps(script))
    assert (copy.error, copy.line, copy.excerpt, copy.records, copy.output) == ("e", 3, "x", ("r",), "o")
    assert pickle.loads(pickle.dumps(EngineTimeoutError("late", records=("a",)))).records == ("a",)
    late = EngineTimeoutError("late")
    late.progress = "5 of 23 orbits were done"
    assert str(pickle.loads(pickle.dumps(late))) == "late (5 of 23 orbits were done)"
    refused = pickle.loads(pickle.dumps(InvalidCaseError("d_out", "too small")))
    assert (refused.option, str(refused)) == ("d_out", "d_out: too small")
    large = pickle.loads(pickle.dumps(TooExpensiveError("size", "too large")))
    assert (large.place, str(large)) == ("size", "size: too large")
