"""One layer of lightning self-attention: orbits, ideals, polar degrees, training, statements.

Notation of the whole package. A case has the sizes d, d' (``d_out``), a and t; functions take them
as a LayerSizes, ``shape``, which a SingleLayerAttention is too. α = min(a, d). Weights are a d×d
matrix A of rank ≤ α and a d'×d matrix V, or a×d matrices Q and K with A = KᵀQ, and V. The model
takes X, whose t columns are the tokens, to V X Xᵀ A X: output k of a token x is the sum of
(yᵀAx)(Vy)_k over all tokens y.

l_i = Σ_p A_pi y_p, from column i of A, and v_k = Σ_q V_kq y_q, from row k of V, are linear forms.
They span L and U, subspaces of R^d. For t ≥ 2 a function is given by its reduced coordinates
c_{k,i,p,q}, p ≤ q: the coefficient of x_i y_p y_q in output k, which is the one of y_p y_q in
l_i v_k: A_pi V_kq + A_qi V_kp for p < q, and A_pi V_kp for p = q. Full coordinates are all
coefficients of the outputs as polynomials in the tokens; for t = 1 there are no others.

The parametrization f, which is bilinear, takes (A, V) to its function; its source is {rk A ≤ α} ×
{V}. The neuromanifold is the image over R, and the closure is its Zariski closure, a cone:
dimensions are affine unless they are said to be projective. The fibre over a function is the scheme
of its weights up to the rescaling (λA, V/λ), and its length counts multiplicities.

The orbit (r, s, m) has the functions with rk A = r, rk V = s and dim L ∩ U = m; r, s ≥ 1. Its
representative is f of the weights that orbits/orbits.py writes down, with A_11 = V_11 = 1. Indices
begin with 1 in formulas and names, and with 0 in code.
"""
