"""Says what went wrong, from what is left of a run that did not end well."""

from __future__ import annotations

import re
import signal

from m2bridge.engine.protocol import Limits, address_space
from m2bridge.errors import EngineDiedError, EngineError, EngineMemoryError

_OUT_OF_MEMORY = re.compile(r"out of memory|std::bad_alloc|(?:[Cc]annot|[Uu]nable to) allocate|failed to map")


def size(memory: int) -> str:
    """A number of bytes as a person writes it."""
    return f"{memory / 2**30:.3g} GiB" if memory >= 2**30 else f"{memory / 2**20:.3g} MiB"


def death(status: int | None, output: str, records: tuple[str, ...], limits: Limits) -> EngineError:
    """The error for a process that ended by itself, with its exit status (negative: a signal; ``None``: not known)."""
    tail = output[-2000:]
    if status == 97 and not output:
        return EngineDiedError("this system refuses a limit on memory; run without --memory")
    inherited = address_space()
    crashed = status in (-signal.SIGABRT, -signal.SIGSEGV) and (limits.memory is not None or inherited is not None)
    if _OUT_OF_MEMORY.search(tail) or crashed:
        if limits.memory is not None:
            reached, advice = f"the memory limit of {size(limits.memory)}", "give it more with --memory"
        elif inherited is not None:
            reached, advice = f"the limit of {size(inherited)} on address space here", "raise it (ulimit -v)"
        else:
            reached, advice = "the memory of this machine", "take a larger one"
        message = f"Macaulay2 reached {reached} and ended; {advice}, or try a smaller case"
        return EngineMemoryError(message, records=records, output=output)
    said = f"; its last words: {tail.strip().splitlines()[-1]}" if tail.strip() else ""
    return EngineDiedError(f"Macaulay2 {how(status)}{said}", records=records, output=output)


def how(status: int | None) -> str:
    """How a process ended, by its exit status; to follow its name."""
    if status is None:
        return "ended (how, is not known: this program ignores SIGCHLD, or waits for all its children)"
    if status >= 0:
        return f"ended with exit status {status}"
    hint = " (the system may have run out of memory)" if status == -signal.SIGKILL else ""
    return f"was killed by {signal.Signals(-status).name}{hint}"
