"""Says what went wrong, from what is left of a run that did not end well."""

from __future__ import annotations

import re
import signal

from m2bridge.engine.protocol import Limits, address_space
from m2bridge.errors import EngineDiedError, EngineError, EngineMemoryError, ScriptError
from m2bridge.render import Script

_OUT_OF_MEMORY = re.compile(r"out of memory|std::bad_alloc|(?:[Cc]annot|[Uu]nable to) allocate|failed to map")
_ERROR = re.compile(r"^(?:.*?:\d+:\d+:.*?: )?error: (.*(?:\n(?:--)? {4,}.*)*)", re.MULTILINE)


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
    return EngineDiedError(f"Macaulay2 {_how(status)}{said}", records=records, output=output)


def _how(status: int | None) -> str:
    if status is None:
        return "ended (how, is not known: this program ignores SIGCHLD, or waits for all its children)"
    if status >= 0:
        return f"ended with exit status {status}"
    hint = " (the system may have run out of memory)" if status == -signal.SIGKILL else ""
    return f"was killed by {signal.Signals(-status).name}{hint}"


def script_error(script: Script, file_name: str, output: str, records: tuple[str, ...]) -> ScriptError:
    """The error for a script that Macaulay2 did not run to its last line."""
    found = _ERROR.search(output)
    if found is None:
        message = "the script ended before its last line"
    else:
        message = re.sub(r"^-- ?", "", found[1].strip(), flags=re.MULTILINE)
    places = re.findall(rf'{re.escape(file_name)}"?:(\d+):\d+', output[found.start() :] if found else "")
    line = int(places[0]) if places else None
    excerpt = _excerpt(script.body, line) if line else ""
    where = f" (line {line} of the script '{script.name}')" if line else f" (script '{script.name}')"
    return ScriptError(
        f"Macaulay2 reported an error: {message}{where}" + (f"\n{excerpt}" if excerpt else ""),
        error=message,
        line=line,
        excerpt=excerpt,
        records=records,
        output=output,
    )


def _excerpt(body: str, line: int) -> str:
    lines = body.splitlines()
    around = range(max(1, line - 2), min(len(lines), line + 2) + 1)
    return "\n".join(f"{'>' if n == line else ' '} {n:4} | {lines[n - 1][:200]}" for n in around)
