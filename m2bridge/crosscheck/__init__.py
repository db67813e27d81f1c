"""Predictions compared with observations: verdicts, and the cross-check of one case."""
