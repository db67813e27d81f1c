"""The computations for every model: closure, dimension, image, singular locus, degrees, ranks, bounds."""
