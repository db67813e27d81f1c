"""Macaulay2 as a process: the only door to pexpect, and no mathematics."""

from m2bridge.engine.discovery import Candidate, candidates, locate
from m2bridge.engine.protocol import Engine, Limits, Transcript
from m2bridge.engine.session import Macaulay2, given_or_own, given_or_shared
from m2bridge.workspace.evaluation import Evaluation
from m2bridge.workspace.workspace import Workspace

__all__ = [
    "Candidate",
    "Engine",
    "Evaluation",
    "Limits",
    "Macaulay2",
    "Transcript",
    "Workspace",
    "candidates",
    "given_or_own",
    "given_or_shared",
    "locate",
]
