"""The version of m2bridge."""

__version__ = "1.2.0.dev0"
