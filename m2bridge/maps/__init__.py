"""What works for every model: closure, dimension, image, singular locus, ranks, bounds."""
