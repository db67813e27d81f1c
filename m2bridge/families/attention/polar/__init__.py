"""Polar degrees of one layer: the theorem, and the integrals of Chern classes that it rests on."""
