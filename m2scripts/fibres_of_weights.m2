-- The fibre over the function of weights (A, V) with A_(1,1) = V_(1,1) = 1, as in fibres.m2: all forms in a few matrix
-- operations, for cases where they are too many to be made one by one.
--
-- With the unknowns z = (1, z_2, .., z_d) for v_1, and w = z - v_1, the other weights of the chart are
--   l_i - A_(1,i) w     and     v_k + V_(k,1) w.

mbFibreOfWeights = (A, V, P, alpha) -> (
    A = A ** P;
    V = V ** P;
    w := transpose(matrix {{1_P}} | vars P) - transpose V^{0};
    l := A - w * A^{0};
    -- In row (p, q) the coefficients of y_p y_q' of all l_i v_k; the sums with those of y_q y_p' have to be the same.
    change := l ** (transpose V + w * transpose V_{0}) - A ** transpose V;
    d := numrows A;
    pairs := flatten apply(d, p -> apply(d - p, q -> (p, p + q)));
    I := ideal(change^(apply(pairs, (p, q) -> d * p + q)) + change^(apply(pairs, (p, q) -> d * q + p)));
    if alpha >= min(d, numcols A) or degree I == 1 then I else I + minors(alpha + 1, l))
