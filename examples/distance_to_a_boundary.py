"""How far a sequence of six tokens is from the decision boundary of a small classifier.

With a name, as in ``distance_to_a_boundary.py classifier.npz``, it writes the arrays into a file.
"""

import sys

import numpy

from m2bridge import robustness

random = numpy.random.default_rng(1)
d, t, a = 8, 6, 2
layer = {
    "K": random.integers(-8, 9, (a, d)) / 16,
    "Q": random.integers(-8, 9, (a, d)) / 16,
    "V": random.integers(-8, 9, (3, d)) / 16,
    "w": random.integers(-8, 9, 3) / 4,
    "X": random.integers(-16, 17, (d, t)) / 16,
}
for path in sys.argv[1:]:
    numpy.savez(path, **layer)

found = robustness(layer, threshold=0.5)
low, high = found.distance
print(f"g has the sign {found.sign}, and the distance is {high:.10f}.")
print("The nearest point is proved." if found.is_proved else "The nearest point is not known.")
print(f"{found.directions} of {d} directions count.")

# It prints:
#   g has the sign -1, and the distance is 0.4055862354.
#   The nearest point is proved.
#   5 of 8 directions count.
