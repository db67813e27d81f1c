"""Macaulay2 as a process, without any mathematics. No other package imports pexpect."""

from m2bridge.engine.context import RunOptions, computation, using
from m2bridge.engine.discovery import Candidate, candidates, locate
from m2bridge.engine.script import Engine, Transcript
from m2bridge.engine.session import Session, current

__all__ = [
    "Candidate",
    "Engine",
    "RunOptions",
    "Session",
    "Transcript",
    "candidates",
    "computation",
    "current",
    "locate",
    "using",
]
