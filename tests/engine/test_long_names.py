"""Names of megabytes are refused at once, wherever people give names."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from m2bridge import Macaulay2, ideal, weights
from m2bridge.errors import M2BridgeError

LONG = "x" * 1_000_000


def seconds_of_refusal(perform: Callable[..., Any], *args: Any, **kwargs: Any) -> float:
    """The CPU time until a name is refused, by an error that does not repeat all of it."""
    begin = time.process_time()
    with pytest.raises(M2BridgeError) as raised:
        perform(*args, **kwargs)
    assert len(str(raised.value)) < 1000
    return time.process_time() - begin


def test_in_ideals_and_weights() -> None:
    ideal("x*y")  # what is imported at first
    assert seconds_of_refusal(ideal, LONG) < 1
    assert seconds_of_refusal(ideal, f"{LONG}^2 - y") < 1
    arrays = {name: np.eye(2) for name in ("a", "b", "c")}
    assert seconds_of_refusal(weights, arrays, query=LONG, key="b", value="c") < 1


@pytest.mark.macaulay2("any")
def test_in_workspaces(session: Macaulay2) -> None:
    with session.workspace() as work:
        assert seconds_of_refusal(work.__setitem__, LONG, 3) < 1
        assert seconds_of_refusal(work.__getitem__, LONG) < 1
        assert work.value("1 + 1") == 2
