-- The fibre over the function of weights (A, V) with A_(1,1) = V_(1,1) = 1, as in fibres.m2: all forms in a few matrix
-- operations, for cases where they are too many to be made one by one.
--
-- With the unknowns z = (1, z_2, .., z_d) for v_1, and w = z - v_1, the other weights of the chart are
--   l_i - A_(1,i) w     and     v_k + V_(k,1) w,
-- and their products differ from the given ones, l_i v_k, by w g_(i,k) with the linear forms
--   g_(i,k) = V_(k,1) l_i - A_(1,i) v_k - A_(1,i) V_(k,1) w.
-- So the fibre is where all products w g_(i,k) are zero. The same ideal comes from g_(1,1) and the forms
-- g_(i,k) - A_(1,i) V_(k,1) g_(1,1), whose coefficients are numbers: then the equations are linear. All equations vanish
-- for w = 0. So as soon as some of them generate (w) the fibre is this one reduced point, whose weights are the given
-- ones. It is returned as the origin of a line, because Macaulay2 needs milliseconds for a degree in many variables.

mbOrigin = ideal gens(QQ[mbCoordinate])

mbFibreOfWeights = (A, V, P, alpha) -> (
    w := transpose(matrix {{1_P}} | vars P) - transpose V^{0} ** P;
    -- In column (i, k): the form V_(k,1) l_i - A_(1,i) v_k, and the number A_(1,i) V_(k,1), which is 1 for (1, 1).
    forms := A ** transpose V_{0} - A^{0} ** transpose V;
    numbers := A^{0} ** transpose V_{0};
    known := compress(forms - forms_{0} * numbers);
    coefficients' := form -> compress flatten mbFormMatrix(w, form);
    equations := matrix {{0_P}};
    for j to numcols known - 1 do (
        equations = equations | coefficients'(known_{j} ** P);
        if transpose w % gb equations == 0 then return mbOrigin);
    I := ideal(equations | coefficients'(forms_{0} ** P - w));
    if alpha >= min(numrows A, numcols A) or degree I == 1 then I else I + minors(alpha + 1, A ** P - w * (A^{0} ** P)))
