"""The logger ``m2bridge`` says which processes are started, and why they end."""

import logging
import re

import pytest

from m2bridge import EngineDiedError, Macaulay2, Script, run_many

pytestmark = pytest.mark.macaulay2("one")


def said(caplog: pytest.LogCaptureFixture) -> str:
    """All messages, without numbers."""
    return re.sub(r"[0-9.]+ s", "… s", "\n".join(r.getMessage() for r in caplog.records))


def test_processes_of_macaulay2(m2: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="m2bridge"), Macaulay2(m2) as engine:
        engine.run(Script("sum", 'mbEmit("sum", 1 + 1)'))
        with pytest.raises(EngineDiedError):
            engine.value("exit 3")
    text = said(caplog)
    assert len(re.findall(rf"Macaulay2 is started as process \d+: {re.escape(m2)}", text)) == 2
    assert "Macaulay2 ran the script 'sum': took … s" in text
    assert re.search(r"Macaulay2 has ended, process \d+: Macaulay2 ended with exit status 3", text)
    assert re.search(r"Macaulay2 is ended, process \d+: it was closed", text)
    levels = {record.getMessage()[:14]: record.levelname for record in caplog.records}
    assert (levels["Macaulay2 is s"], levels["Macaulay2 ran "]) == ("INFO", "DEBUG")


def test_workers(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="m2bridge"):
        assert [outcome.value for outcome in run_many(abs, [-1], workers=1)] == [1]
    assert re.search(r"a worker is started as process \d+", said(caplog))
