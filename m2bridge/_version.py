"""The version of m2bridge."""

__version__ = "1.1.0"
