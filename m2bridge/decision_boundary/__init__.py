"""How far an input of a lightning attention layer is from a decision boundary, exactly.

A layer φ(X) = Σ_h V_h X Xᵀ A_h X, with a linear readout R and a bias b, decides by the sign of
g(X) = ⟨R, φ(X)⟩ + b. The distance of an input U to {g = 0} is a nonconvex problem in d·t unknowns;
theorems of docs/robustness.md reduce it, and prove of a point that a local search finds that it is
the nearest one, in a certificate of a few small matrices.
"""
