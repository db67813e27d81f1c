"""Polar degrees and ED degrees: points of a variety in slices, and critical points of distances."""
