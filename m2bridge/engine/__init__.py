"""Macaulay2 as a process: the only door to pexpect, and no mathematics."""

from m2bridge.engine.discovery import Candidate, candidates, locate
from m2bridge.engine.script import Engine, Transcript
from m2bridge.engine.session import Session, engine_or_own, engine_or_shared

__all__ = ["Candidate", "Engine", "Session", "Transcript", "candidates", "engine_or_own", "engine_or_shared", "locate"]
