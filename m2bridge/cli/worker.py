"""A process that performs command lines: ``m2bridge mcp --worker=PIPE``.

Each is a line of standard input, a list of words as JSON, and its answer a line of standard output,
a :class:`~m2bridge.cli.workers.Answer`. All are performed with the same Macaulay2, which runs each
of its programs with symbols of their own.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict
from io import StringIO

from m2bridge import limits
from m2bridge.cli import shared
from m2bridge.cli.workers import Answer
from m2bridge.engine import Session
from m2bridge.engine.context import choose
from m2bridge.engine.discovery import VARIABLE
from m2bridge.errors import EngineError
from m2bridge.system import end_with, importing, lower_limit


def work(run: Callable[[], object], pipe: int, memory: int, program: str | None) -> None:
    """Perform command lines until there are none, each by calling ``run``.

    It ends with who holds the other end of ``pipe``. ``memory`` limits the address space of this
    process, and of Macaulay2.
    """
    end_with(pipe)
    # nothing that is computed takes or prints lines
    lines, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    lower_limit(resource.RLIMIT_AS, memory)
    if program is not None:
        os.environ[VARIABLE] = program
    session = Session(limits=limits.Limits(memory=memory))
    with suppress(EngineError), importing():  # a command that needs Macaulay2 says what is missing
        session.start()
        from m2bridge.maps import closure, cross_check  # noqa: F401
    choose(session)
    texts: list[str] = []
    shared.listeners.append(texts.append)
    for line in lines:
        texts.clear()
        limits.start("timeout")
        sys.argv = ["m2bridge", *json.loads(line)]
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as error:
            run()
        answer = Answer(printed=out.getvalue(), text="".join(texts), error=error.getvalue())
        print(json.dumps(asdict(answer)), file=answers, flush=True)
