"""Where Cayley's cubic surface is singular, in projective space."""

from m2bridge import ideal

cayley = ideal("x*y*z + x*y*w + x*z*w + y*z*w").projective()
print("a surface of degree", cayley.degree())
nodes = cayley.singular_locus().components
print(len(nodes), "singular points, such as the common zero of", nodes[0].ideal.generators)

# It prints:
#   a surface of degree 3
#   4 singular points, such as the common zero of (w, x, y)
