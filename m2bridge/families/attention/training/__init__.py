"""Where training of one layer stops: types of weights, critical for open sets of targets."""
