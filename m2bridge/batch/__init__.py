"""Many cases, and many of anything: one certificate or outcome for each, resumable, in parallel.

``cases`` reads what a batch is about, ``store`` is the folder in which its answers are, ``plan``
says what is left and runs it, by one of the ``executors``; ``pool`` has the worker processes.
``verifying`` checks many certificates, and ``many`` performs anything else, by the same processes.
Here stand the limits of a batch.
"""

LARGEST_CASES = 10_000_000
"""Bytes of a file of cases; two million lines fit, as many as a batch may have cases."""

LARGEST_ITEM = 100_000_000
"""Bytes of a file that is an item, or holds an outcome; workers hold a few of them at once."""

LONGEST_NAME = 200
"""Bytes of the name of a case: a name of a file has at most 255, with question and ending."""

LEAST_MEMORY = 256 * 2**20
"""Bytes for a check: Python with SymPy and FLINT maps 100 MiB before it checks anything."""

MEMORY_MARK = 2 * 2**30
"""Bytes that a worker process and its Macaulay2 may hold when it turns to another task."""

LEAST_FILES = 24
"""Open files that a process needs to have one worker; each other one takes three more."""

LEAST_CLUSTER_FILES = 64
"""Open files that a local cluster of Dask needs."""

FALSE_STARTS = 5
"""So many workers in a row may end before they begin with anything: it is no accident then."""

LAST = 4
"""So many items for each worker count as the last ones, which begin with the longest."""

AHEAD = 4
"""Tasks that Dask's scheduler holds for each thread: enough to keep it busy, and few."""

GRACE = 1.0
"""Seconds after the limit, in which loops that look at the clock come first and can say more."""

PAUSE = 0.5
"""Seconds between two attempts at cases that another batch is at."""

ABANDONED = 3600.0
"""Seconds after which a half-written file is nobody's: writing one takes milliseconds."""
