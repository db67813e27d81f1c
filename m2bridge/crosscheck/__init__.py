"""Predictions against observations, for whatever a family states."""

from m2bridge.crosscheck.cross_check import CrossCheck, Verdict, compare, cross_check
from m2bridge.results.base import Decision

__all__ = ["CrossCheck", "Decision", "Verdict", "compare", "cross_check"]
