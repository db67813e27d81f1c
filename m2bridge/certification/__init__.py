"""Certificates made from observations of a case, and verified with the program behind them."""
