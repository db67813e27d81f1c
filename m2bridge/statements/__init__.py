"""Statements, which predict, and observations, with which predictions are compared."""
