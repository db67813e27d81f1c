"""Exact mathematics without an engine and without a model."""
