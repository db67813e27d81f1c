"""The computations for every model: closure, image, singular locus, degrees, ranks, bounds."""
