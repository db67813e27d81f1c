"""Batches of cases or other items: one certificate or outcome for each, resumable, in parallel.

``cases`` reads the cases of a batch, ``store`` is the folder with its answers, ``plan`` determines
what is left and runs it by one of the ``executors``; ``plan_file`` writes what is asked to the
folder, and finds what is missing there; ``pool`` has the worker processes.
``verifying`` checks many certificates, and ``run_many`` performs any other work, by the same
processes. This file has the limits of a batch.
"""

MAX_CASES_FILE_BYTES = 10_000_000
"""A file with as many cases as a batch may have, 100 000, has 100 bytes for each of them."""

MAX_ITEM_BYTES = 100_000_000
"""A file that is an item or contains an outcome; a worker holds a few of them in memory."""

MAX_OUTCOME_INTEGER_DIGITS = 4300
"""Digits of an integer in an outcome: Python writes no longer ones."""

MAX_CASE_NAME_BYTES = 200
"""File names have at most 255 bytes, with the question and the ending."""

MIN_CHECK_MEMORY_BYTES = 256 * 2**20
"""Python with SymPy and FLINT maps 100 MiB before it checks anything."""

RECYCLE_ABOVE_BYTES = 2 * 2**30
"""A worker process that together with its Macaulay2 holds more memory after a task is replaced."""

MIN_OPEN_FILES = 24
"""Open files that a process needs for its first worker; each further worker takes three more."""

MIN_CLUSTER_OPEN_FILES = 64
"""Open files that a local cluster of Dask needs."""

MAX_FALSE_STARTS = 5
"""If this many workers in a row end before they begin an item, the batch is given up."""

TASKS_AHEAD_PER_THREAD = 4
"""Tasks that Dask's scheduler holds for each thread, which keep it busy."""

CASE_GRACE_SECONDS = 1.0
"""Time after the limit for loops that check the deadline, whose errors say more than an alarm's."""

HELD_CASE_PAUSE_SECONDS = 0.5
"""The pause between two attempts at cases that another batch is computing."""

ABANDONED_AFTER_SECONDS = 3600.0
"""A half-written file of this age is left over: writing one takes milliseconds."""
