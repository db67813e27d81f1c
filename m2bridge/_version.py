"""The version of m2bridge."""

__version__ = "1.0.0"
