"""Errors cross worker processes whole."""

import pickle

import pytest

from m2bridge import errors
from m2bridge.errors import (
    InvalidCaseError,
    M2BridgeError,
    ScriptError,
    TimeLimitError,
    TooExpensiveError,
    ValueTypeError,
)


def every_error() -> list[type[M2BridgeError]]:
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, M2BridgeError)]


OF_PARTS = (InvalidCaseError, TooExpensiveError, ValueTypeError)
"""Those that are made from parts and put their message together."""


@pytest.mark.parametrize("kind", [k for k in every_error() if k not in OF_PARTS])
def test_errors_pickle(kind: type[M2BridgeError]) -> None:
    copy = pickle.loads(pickle.dumps(kind("what happened")))
    assert type(copy) is kind
    assert str(copy) == "what happened"


def test_details_survive_pickling() -> None:
    script = ScriptError("m", error="e", file="f", line=3, column=4, excerpt="x", records=("r",), output="o")
    copy = pickle.loads(pickle.dumps(script))
    assert (copy.error, copy.file, copy.line, copy.column, copy.excerpt) == ("e", "f", 3, 4, "x")
    assert (copy.records, copy.output) == (("r",), "o")
    assert pickle.loads(pickle.dumps(TimeLimitError("late", records=("a",)))).records == ("a",)
    late = TimeLimitError("late")
    late.progress = "5 of 23 orbits were done"
    assert str(pickle.loads(pickle.dumps(late))) == "late (5 of 23 orbits were done)"
    refused = pickle.loads(pickle.dumps(InvalidCaseError("d_out", "too small")))
    assert (refused.option, str(refused)) == ("d_out", "d_out: too small")
    unknown = pickle.loads(pickle.dumps(ValueTypeError("FunctionClosure")))
    assert (unknown.kind, "FunctionClosure" in str(unknown)) == ("FunctionClosure", True)
    large = pickle.loads(pickle.dumps(TooExpensiveError("size", "too large")))
    assert (large.place, str(large)) == ("size", "size: too large")
