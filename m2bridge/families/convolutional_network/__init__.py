"""Polynomial convolutional networks with one channel, in one dimension and with stride 1.

They are the functions x ↦ w_L * σ_r(w_{L−1} * … σ_r(w_1 * x)), where σ_r raises each entry to the
r-th power.
"""
