"""Polar."""
