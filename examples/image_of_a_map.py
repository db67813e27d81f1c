"""The equations of the twisted cubic, found from its parametrization and proved to be all."""

from sympy import symbols

from m2bridge import PolynomialMap, closure

s, t = symbols("s t")
images = {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3}
cubic = closure(PolynomialMap.from_expressions([s, t], images))
print("degree", cubic.degree)
print(*cubic.ideal.generators, sep="\n")

# It prints:
#   degree 3
#   -y**2 + x*z
#   -y*z + x*w
#   -z**2 + y*w
