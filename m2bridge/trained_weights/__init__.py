"""What trained weights of attention determine: ranks, symmetries, regular points, distances."""
