"""Single-layer lightning self-attention."""
