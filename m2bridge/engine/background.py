"""A computation by Macaulay2 that runs while Python computes something else."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from typing import TypeVar

from m2bridge.engine.session import Conversation, current

ComputedT = TypeVar("ComputedT")

STOP_EVERY_SECONDS = 0.05
"""How often Macaulay2 is stopped until the computation that asks it has ended."""


@contextmanager
def in_background(compute: Callable[[], ComputedT]) -> Iterator[Callable[[], ComputedT]]:
    """Perform a computation that asks Macaulay2 in a thread of its own, beside the block.

    The thread has the engine and the deadline of the running computation. An error that leaves the
    block stops Macaulay2, as nobody waits for its answer any more. The block asks no other question
    of the same Macaulay2 before it has the result: it would wait for its turn.

    Parameters
    ----------
    compute : callable
        Takes no arguments, and returns the result.

    Yields
    ------
    callable
        Takes no arguments, waits for the end of the computation, and returns its result or raises
        its error.

    Raises
    ------
    EngineNotFoundError
        If no session was chosen and no Macaulay2 is found.
    """
    engine = current()
    if isinstance(engine, Conversation):
        # here, since the system ends Macaulay2 with the main thread only if that has started it
        engine.start()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="m2bridge") as threads:
        running = threads.submit(copy_context().run, compute)
        try:
            yield running.result
        except BaseException:
            if isinstance(engine, Conversation):
                _stop(running, engine)
            raise


def _stop(running: Future[ComputedT], engine: Conversation) -> None:
    """End a computation in another thread, by ending the Macaulay2 that it asks."""
    # several times, as the thread may not have begun its request yet, and then begins another one
    while not running.done():
        engine.close("its answer is not needed any more")
        wait((running,), timeout=STOP_EVERY_SECONDS)
