"""The version of m2bridge."""

__version__ = "0.2.0"
