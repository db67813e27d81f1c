"""Orbits."""
