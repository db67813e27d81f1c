"""Macaulay2 as a process: the only door to pexpect, and no mathematics."""

from m2bridge.engine.discovery import Candidate, candidates, locate
from m2bridge.engine.optional import given_or_own
from m2bridge.engine.protocol import Engine, Limits, Transcript
from m2bridge.engine.session import Macaulay2

__all__ = ["Candidate", "Engine", "Limits", "Macaulay2", "Transcript", "candidates", "given_or_own", "locate"]
