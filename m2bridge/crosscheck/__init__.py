"""Predictions against observations."""

from m2bridge.crosscheck.compare import compare
from m2bridge.crosscheck.cross_check import CrossCheck, cross_check
from m2bridge.crosscheck.verdict import Outcome, Verdict

__all__ = ["CrossCheck", "Outcome", "Verdict", "compare", "cross_check"]
