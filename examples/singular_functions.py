"""Which functions of one attention layer are singular points of their closure."""

from m2bridge import SingleLayerAttention, closure, singular_locus

layer = SingleLayerAttention(d=2, d_out=1)
found = closure(layer)
print("dimension", found.dimension, "and degree", found.degree)
for status in singular_locus(layer).orbits:
    orbit = status.orbit
    kind = "singular" if status.singular else "smooth"
    print(f"rk A = {orbit.r}, rk V = {orbit.s}, dim L ∩ U = {orbit.m}: {kind}")

# It prints:
#   dimension 5 and degree 4
#   rk A = 1, rk V = 1, dim L ∩ U = 0: singular
#   rk A = 1, rk V = 1, dim L ∩ U = 1: singular
#   rk A = 2, rk V = 1, dim L ∩ U = 1: smooth
