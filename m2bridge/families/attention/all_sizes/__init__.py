"""Theorems for all sizes d, d', a at once: thirteen small ideals, and exact sets of sizes
(ours).
"""
