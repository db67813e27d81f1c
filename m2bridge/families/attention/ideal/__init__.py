"""Ideal."""
