"""The squared loss of a layer on given data, and its critical points."""
