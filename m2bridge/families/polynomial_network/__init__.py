"""Polynomial neural networks: x ↦ W_l σ_r(W_{l−1} … σ_r(W_1 x)), where σ_r raises each entry to the
r-th power.
"""
