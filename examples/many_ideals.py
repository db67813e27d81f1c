"""A function of your own on many ideals: each within limits, with a result or a named outcome."""

from m2bridge import ideal, run_many


def singular_points(n: int) -> int:
    """The dimension of the singular locus of y^2 = x^n; -1 if it is smooth."""
    return ideal(f"y^2 - x^{n}").singular_locus().ideal.dimension()


for outcome in run_many(singular_points, [1, 2, 3], workers=1, timeout=60):
    print(outcome.kind, outcome.value)

# It prints:
#   computed -1
#   computed 0
#   computed 0
