"""The components of a curve, and the one that a saturation leaves."""

from m2bridge import ideal

curve = ideal("x*z - y^2", "x^3 - y*z")  # the z-axis, and the points (t^3, t^4, t^5)
print("dimension", curve.dimension(), "and degree", curve.degree())
for prime in curve.minimal_primes():
    print(prime)
print("without the axis:", curve.saturate("x").degree())

# It prints:
#   dimension 1 and degree 6
#   ideal(x, y) of QQ[x, y, z]
#   ideal(y**2 - x*z, x**3 - y*z, x**2*y - z**2) of QQ[x, y, z]
#   without the axis: 5
