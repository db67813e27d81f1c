"""The smallest sizes at which Theorem 3.4 (iii) of the paper is false, with the witness."""

from m2bridge import SingleLayerAttention, cross_check

(verdict,) = cross_check(SingleLayerAttention(d=3, d_out=2, a=2), "3.4 (iii)").verdicts
print(verdict.name, verdict.decision.name)
numbers = verdict.witness.numbers
print(numbers["tangent_dimension_at_least"], "tangent vectors, dimension", numbers["dimension"])
print("V =", verdict.witness.weights["V"])

# It prints:
#   3.4 (iii) REFUTED
#   14 tangent vectors, dimension 13
#   V = ((1, 1, 0), (0, 0, 1))
