"""Drawings of real surfaces and layered graphs, from plain numbers."""
