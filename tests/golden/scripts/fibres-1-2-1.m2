-- Fibres of the parametrization at one point of each orbit: (d, d', a) = (1, 2, 1), t = 2.

-- The base locus is empty: no nonzero linear forms l = l_(1,1) y_1 + .. and v have product 0. On the chart where
-- coefficient p of l and coefficient q of v are 1, the equations contain 1; up to renaming y it is enough to
-- look at p = q and p != q.
forms = QQ[l_1..l_1, v_1..v_1]
products = ideal mbFormMatrix(transpose matrix {{l_1..l_1}}, transpose matrix {{v_1..v_1}})
mbEmit("base_locus_empty", all({(1,1)}, chart ->
    products + ideal(l_(first chart) - 1, v_(last chart) - 1) == 1))

unknowns = QQ[]
emitFibre = (name, A, V) -> (
    fibre := mbFibreOfKnownFunction(mbForms(A, V), unknowns, 1);
    mbEmit(name, {mbLength fibre, mbPoints fibre});)

-- Orbit (rk A, rk V, dim of the intersection of column space and row space): nonzero columns of A, nonzero rows of V.
-- The dense orbit is the first, since the fibre over it says what those over the others mean.
emitFibre("(1, 1, 1)", matrix(QQ, {{1}}), matrix(QQ, {{1}}))
