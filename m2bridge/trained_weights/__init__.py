"""Trained weights."""
