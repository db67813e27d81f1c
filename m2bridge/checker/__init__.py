"""Checking certificates without Macaulay2."""
