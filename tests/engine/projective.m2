-- The fibre over a function by the projective route, as an independent method: all entries of A and V as homogeneous
-- unknowns, proportionality of the coordinates as 2x2 minors, saturation with respect to A and to V, primary decomposition.
-- Returns {length of the scheme in P x P, number of geometric points}.
projectiveFibre = (A0, V0, alpha) -> (
    d := numrows A0; e := numrows V0;
    S := QQ[a_(1,1)..a_(d,d), v_(1,1)..v_(e,d), Degrees => join(toList(d*d : {1,0}), toList(e*d : {0,1}))];
    A := genericMatrix(S, d, d);
    V := matrix apply(e, k -> apply(d, p -> v_(k+1,p+1)_S));
    A = matrix apply(d, p -> apply(d, i -> a_(p+1,i+1)_S));
    coordinates := (M, N) -> flatten flatten flatten apply(e, k -> apply(d, i -> apply(d, p -> apply(toList(p..d-1), q ->
        if p == q then N_(k,p)*M_(p,i) else N_(k,p)*M_(q,i) + N_(k,q)*M_(p,i)))));
    c := matrix {coordinates(A, V)};
    c0 := sub(matrix {coordinates(A0, V0)}, S);
    I := minors(2, c || c0) + minors(alpha + 1, A);
    I = saturate(saturate(I, ideal flatten entries A), ideal flatten entries V);
    -- On the chart given by two random linear forms the scheme is affine.
    setRandomSeed 7;
    lA := sum(flatten entries A, x -> random(1, 10^6) * x);
    lV := sum(flatten entries V, x -> random(1, 10^6) * x);
    J := I + ideal(lA - 1, lV - 1);
    {degree J, degree radical J})
-- The number of points, with multiplicities, in P(rk A <= alpha) x P(V) of a random linear section of the image modulo
-- 32003, on a random chart.
randomSection = (d, e, alpha) -> (
    setRandomSeed 7;
    kk := ZZ/32003;
    S := kk[a_(1,1)..a_(d,d), v_(1,1)..v_(e,d)];
    A := matrix apply(d, p -> apply(d, i -> a_(p+1,i+1)_S));
    V := matrix apply(e, k -> apply(d, p -> v_(k+1,p+1)_S));
    c := matrix {flatten flatten flatten apply(e, k -> apply(d, i -> apply(d, p -> apply(toList(p..d-1), q ->
        if p == q then V_(k,p)*A_(p,i) else V_(k,p)*A_(q,i) + V_(k,q)*A_(p,i)))))};
    dimension := alpha*(2*d - alpha) - 1 + d*e - 1;
    forms := c * sub(random(kk^(numColumns c), kk^dimension), S);
    linear := M -> sum(flatten entries M, x -> random kk * x) - 1;
    degree(ideal forms + minors(alpha + 1, A) + ideal(linear A, linear V)))
