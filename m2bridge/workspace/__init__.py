"""Macaulay2 from Python: evaluate code, keep symbols, exchange values."""
