"""The ideal of the closure as a representation: covariants, highest weights, Hilbert functions."""
