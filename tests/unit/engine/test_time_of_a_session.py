"""Requests to a process of Macaulay2, without one."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from m2bridge.engine.discovery import Candidate
from m2bridge.engine.script import Reply
from m2bridge.engine.session import Conversation
from m2bridge.engine.trace import Source
from m2bridge.limits import Limits, limited


class Known(Candidate):
    """A program whose version needs no process."""

    @property
    def version(self) -> str:
        """Return a version."""
        return "1.26"


class Answered(Conversation):
    """A conversation in which each request is answered at once; it keeps their limits."""

    def __init__(self, timeout: float | None) -> None:
        found = Known("here", Path("/bin/M2"))
        super().__init__(lambda: found, Limits(timeout=timeout), (), ())
        self.seen: list[float | None] = []

    def _exchange(
        self,
        function: str,
        texts: object,
        arguments: Sequence[str],
        limit: float | None,
        waited: float,
        *,
        is_first: bool,
    ) -> Reply:
        self.seen.append(limit)
        return Reply(nonce="n1", records=('{"end":"n1","records":0}',), output="", seconds=0.0)


@pytest.mark.parametrize(
    ("of_the_session", "of_the_call", "expected"),
    [(None, None, None), (9.0, None, 9.0), (None, 5.0, 5.0), (9.0, 5.0, 5.0), (3.0, 5.0, 3.0)],
)
def test_the_shorter_limit_of_session_and_call_holds(
    of_the_session: float | None, of_the_call: float | None, expected: float | None
) -> None:
    conversation = Answered(of_the_session)
    with limited(None):
        reply = conversation.request("f", Source("code", "1"), timeout=of_the_call)
    assert conversation.seen == [expected]
    assert reply.records == ()
