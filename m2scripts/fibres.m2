-- Fibres of the parametrization (A, V) -> function, t >= 2, in one affine chart.
--
-- With the linear forms l_i (columns of A) and v_k (rows of V) a function is the collection of quadratic forms l_i v_k.
-- We keep the symmetric matrix C = l_i v_k^T + v_k l_i^T of each: 2 A_(p,i) V_(k,p) on the diagonal,
-- and A_(p,i) V_(k,q) + A_(q,i) V_(k,p) off it.

mbFormMatrix = (l, v) -> (product' := l * transpose v; product' + transpose product')

-- The forms of weights (A, V), one list for each row of V. Zero columns of A and zero rows of V stay zero on the
-- whole fibre (l_1 and v_1 are not zero), so they may be left out before.
mbForms = (A, V) -> apply(numrows V, k -> apply(numcols A, i -> mbFormMatrix(A_{i}, transpose V^{k})))

-- All (A', V') with A'_(1,1) = V'_(1,1) = 1 and the given forms, where the form (1, 1) has value 1 at (1, 0, .., 0).
-- On this chart lies the whole projective fibre. P is a polynomial ring with the d-1 unknowns z_2 .. z_d, the entries of
-- v_1 = (1, z_2, .., z_d). The coefficients of y_1 y_q determine the rest:
--   l_i = (first row of the form (1, i)) - A_(1,i) v_1     with A_(1,i) = half its first entry,
--   v_k = (first row of the form (k, 1)) - V_(k,1) l_1     with V_(k,1) = half its first entry.
mbFibreForms = (forms, P) -> (
    z := transpose(matrix {{1_P}} | vars P);
    linearForm := (C, x) -> transpose(C^{0} ** P) - (C_(0,0) / 2) * x;
    l := apply(first forms, C -> linearForm(C, z));
    v := apply(forms, row -> linearForm(first row, first l));
    (l, v))

-- The ideal of the fibre in P. It is zero-dimensional: among the equations are z_q (c - z_q) = c' for each q.
mbFibreIdeal = (forms, P) -> (
    (l, v) := mbFibreForms(forms, P);
    ideal flatten apply(#v, k -> apply(#l, i -> mbFormMatrix(l#i, v#k) - forms#k#i ** P)))

-- The same with rk A <= alpha.
mbFibre = (forms, P, alpha) -> (
    A := fold((x, y) -> x | y, first mbFibreForms(forms, P));
    I := mbFibreIdeal(forms, P);
    if alpha >= min(numrows A, numcols A) then I else I + minors(alpha + 1, A))

-- The same for a function that is known to have weights with rk A <= alpha: if the fibre is one reduced point without the
-- rank condition, it is the point of these weights, and the minors need not be computed.
mbFibreOfKnownFunction = (forms, P, alpha) -> (
    I := mbFibreIdeal(forms, P);
    if degree I == 1 then I else mbFibre(forms, P, alpha))

-- Length of a zero-dimensional scheme; the empty scheme has length 0.
mbLength = I -> if I == 1 then 0 else degree I

-- The trace form (f, g) -> trace of multiplication by f g on the coordinate ring of a zero-dimensional scheme over QQ.
-- Its rank is the number of geometric points, its signature the number of real ones.
-- Cox, Little, O'Shea, Using Algebraic Geometry, Theorem 2.5.2.
mbTraceForm = I -> (
    B := basis(ring I / I);
    multiplications := apply(flatten entries B, b -> lift(last coefficients(b * B, Monomials => B), QQ));
    matrix apply(multiplications, M -> apply(multiplications, N -> trace(M * N))))
mbPoints = I -> if mbLength I <= 1 then mbLength I else rank mbTraceForm I

-- The traces of multiplication by the unknowns, and by their products: sums over the points, with multiplicity, of the
-- coordinates and of their products.
mbMoments = I -> (
    B := basis(ring I / I);
    multiplications := apply(gens ring I, z -> lift(last coefficients(z * B, Monomials => B), QQ));
    {apply(multiplications, trace), apply(multiplications, M -> apply(multiplications, N -> trace(M * N)))})
