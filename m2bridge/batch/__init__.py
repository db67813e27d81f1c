"""Many cases, one certificate or outcome for each question: resumable, in parallel."""

from m2bridge.batch.cases import Case, grid, numbers, ordered, read_cases
from m2bridge.batch.certifier import Certifier, Report, Settings
from m2bridge.batch.cluster import Dask
from m2bridge.batch.executor import Executor, Serial
from m2bridge.batch.outcome import KINDS, Outcome
from m2bridge.batch.plan import Plan, plan
from m2bridge.batch.processes import Processes
from m2bridge.batch.progress import Lines, Live, Progress, Silent, shown
from m2bridge.batch.run import Summary, run
from m2bridge.batch.store import Store
from m2bridge.batch.task import Task, tasks

__all__ = [
    "KINDS",
    "Case",
    "Certifier",
    "Dask",
    "Executor",
    "Lines",
    "Live",
    "Outcome",
    "Plan",
    "Processes",
    "Progress",
    "Report",
    "Serial",
    "Settings",
    "Silent",
    "Store",
    "Summary",
    "Task",
    "grid",
    "numbers",
    "ordered",
    "plan",
    "read_cases",
    "run",
    "shown",
    "tasks",
]
