"""Observations of a case of one layer, with which the statements are compared."""
