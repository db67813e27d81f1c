"""Batches of cases or other items: one certificate or outcome for each, resumable, in parallel.

``cases`` reads the cases of a batch, ``store`` is the folder with its answers, ``plan`` determines
what is left and runs it by one of the ``executors``; ``plan_file`` writes what is asked to the
folder, and finds what is missing there; ``pool`` has the worker processes.
``verifying`` checks many certificates, and ``run_many`` performs any other work, by the same
processes. This file has the limits of a batch.
"""

MAX_CASE_NAME_BYTES = 200
"""File names have at most 255 bytes, with the question and the ending."""

MIN_CHECK_MEMORY_BYTES = 256 * 2**20
"""Python with SymPy and FLINT maps 100 MiB before it checks anything."""

CASE_GRACE_SECONDS = 1.0
"""Time after the limit for loops that check the deadline, whose errors say more than an alarm's."""
