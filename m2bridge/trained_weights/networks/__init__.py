"""Layers and networks: their symmetries, dimensions, and whether the weights are regular points."""
