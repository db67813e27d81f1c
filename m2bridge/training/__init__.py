"""What data do to a layer: losses from files of data, and the critical points of training."""
