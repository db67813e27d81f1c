"""The version of m2bridge."""

__version__ = "0.1.0"
