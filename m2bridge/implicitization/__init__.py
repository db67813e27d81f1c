"""The ideal of the image of a polynomial map, by exact linear algebra in each multidegree."""
