"""Predictions against observations, for whatever a family states."""

from m2bridge.crosscheck.cross_check import CrossCheck, compare, cross_check
from m2bridge.crosscheck.verdict import Decision, Verdict

Outcome = Decision
"""Its name in release 0.1."""

__all__ = ["CrossCheck", "Decision", "Outcome", "Verdict", "compare", "cross_check"]
