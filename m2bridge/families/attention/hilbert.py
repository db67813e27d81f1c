"""The Hilbert function of the closure, for all sizes (ours): an upper bound, which is exact in large degrees.

X, H, Y stand for the spaces of dimension d (index i), d' (index k) and d (the variables y), S_λ for Schur functors. In
degree n the coordinate ring of the source is C[D_α]_n ⊗ S_n(H ⊗ Y). From it are missing the forms that take different
values at two preimages with k and v exchanged, and where these come together those that are odd in the difference:

    h(n) = dim C[D_α]_n · C(n + d d' − 1, n) − dim S_n X · dim S_n H · C(dim S_n Y, 2)
           − Σ_{k=1}^{d−2} Σ_{i+j=k, i<α, j<d'} dim S_(n−i, 1^i) X · dim S_(n−j, 1^j) H · dim S_(2n−k−1, 1^(k+1)) Y.

This is the number of sections of O(n) over the closure, proved in docs/completeness.md; the coordinate ring consists of
some of them, and of all in large degrees. For d = 3, α ≥ 2, d' ≥ 2 fewer were seen in the degrees 2 and 3.
"""

from itertools import product
from math import comb

from m2bridge.algebra.determinantal import determinantal_hilbert_function, monomial_count
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.families.attention.shape import Shape
from m2bridge.families.attention.statements import several_tokens

FEWER_FORMS = {2: 3, 3: 8}
"""The correction for d = 3, α ≥ 2, d' ≥ 2, by degree, in multiples of dim S_(n−1, 1) X · dim S_(n−1, 1) H."""


def no_prediction(model: Shape) -> str:
    """Why no prediction exists for a model; empty if one exists."""
    if reason := several_tokens(model):
        return reason
    if model.d >= 4 and model.d_out >= 2 and model.alpha >= 2:
        return "for d ≥ 4, d' ≥ 2, min(a, d) ≥ 2 the formula is too large in low degrees (at (4, 2, 2) for n = 2, 3, 4)"
    return ""


def predicted_hilbert_function(model: Shape, n: int) -> int:
    """The predicted dimension of the part of degree n of the coordinate ring; t ≥ 2.

    Examples
    --------
    >>> [predicted_hilbert_function(SingleLayerAttention(2, 1), n) for n in range(5)]
    [1, 6, 21, 56, 125]
    """
    value = sections_of(model, n)
    if model.d == 3 and model.alpha >= 2 and model.d_out >= 2:
        value -= FEWER_FORMS.get(n, 0) * _hook(model.d, n, 1) * _hook(model.d_out, n, 1)
    return value


def sections_of(model: Shape, n: int) -> int:
    """The number of independent sections of O(n) over the closure, h(n) above; t ≥ 2."""
    return section_count(model.d, model.d_out, model.d, model.alpha, n)


def section_count(columns: int, rows: int, variables: int, rank: int, n: int) -> int:
    """The same for the products of linear forms l_i, which span a space of dimension at most ``rank``, and v_k.

    ``columns``, ``rows`` and ``variables`` are the dimensions of X, H and Y.
    """
    value = determinantal_hilbert_function(columns, variables, rank, n) * monomial_count(variables * rows, n)
    value -= monomial_count(columns, n) * monomial_count(rows, n) * comb(monomial_count(variables, n), 2)
    for i, j in product(range(rank), range(rows)):
        if 1 <= i + j <= variables - 2:
            value -= _hook(columns, n, i) * _hook(rows, n, j) * _hook(variables, 2 * n, i + j + 1)
    return value


def predicted_series(model: Shape, dimension: int) -> HilbertSeries:
    """The predicted Hilbert series of a closure of this dimension.

    The formula is a polynomial in n for all n ≥ 0, but for the corrections at n ≤ 3; so the numerator has at most
    dimension + 4 coefficients.
    """
    return HilbertSeries.from_values([predicted_hilbert_function(model, n) for n in range(dimension + 4)], dimension)


def sections_series(model: Shape, dimension: int) -> HilbertSeries:
    """Σ h(n) T^n, which has the Hilbert polynomial of the closure; h is a polynomial for n ≥ 1.

    Examples
    --------
    >>> sections_series(SingleLayerAttention(2, 1), 5).hilbert_coefficients
    (4, 6, 4, 1, 0)
    """
    return HilbertSeries.from_values([sections_of(model, n) for n in range(dimension + 1)], dimension)


def _hook(size: int, n: int, legs: int) -> int:
    """dim S_λ for λ = (n − legs, 1^legs); 0 if that is not a partition."""
    arm = n - legs - 1
    return comb(size + arm, arm + legs + 1) * comb(arm + legs, legs) if arm >= 0 else 0
