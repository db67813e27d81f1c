-- Fibres of the parametrization at one point of each orbit: (d, d', a) = (3, 2, 2), t = 2.

-- The base locus is empty: no nonzero linear forms l = l_(1,1) y_1 + .. and v have product 0. On the chart where
-- coefficient p of l and coefficient q of v are 1, the equations contain 1; up to renaming y it is enough to
-- look at p = q and p != q.
forms = QQ[l_1..l_3, v_1..v_3]
products = ideal mbFormMatrix(transpose matrix {{l_1..l_3}}, transpose matrix {{v_1..v_3}})
mbEmit("base_locus_empty", all({(1,1), (1,2)}, chart ->
    products + ideal(l_(first chart) - 1, v_(last chart) - 1) == 1))

-- Boundary: the functions of k = e_1 + i e w and v = e_1 - i e w, with w = e_2, have the real coordinates of
-- y_1^2 + e^2 y_2^2. The equation z_2^2 + e^2 = 0 holds on the whole fibre: no real point for e != 0. For e -> 0 they
-- tend to y_1^2, which is the function of the orbit (1, 1, 1).
family = QQ[e]
familyUnknowns = family[z_2, z_3]
realForm = diagonalMatrix(family, {2, 2*e^2} | {0})
limitForm = first first mbForms(matrix(QQ, {{1}, {0}, {0}}), matrix(QQ, {{1, 0, 0}}))
mbEmit("family_without_real_points", (z_2^2 + e^2) % mbFibreIdeal({{realForm}}, familyUnknowns) == 0)
mbEmit("family_tends_to_the_orbit", sub(realForm, e => 0) - sub(limitForm, family) == 0)

unknowns = QQ[z_2, z_3]
emitFibre = (name, A, V) -> (
    fibre := mbFibreOfKnownFunction(mbForms(A, V), unknowns, 2);
    mbEmit(name, {mbLength fibre, mbPoints fibre});)

-- Orbit (rk A, rk V, dim of the intersection of column space and row space): nonzero columns of A, nonzero rows of V.
-- The dense orbit is the first, since the fibre over it says what those over the others mean.
emitFibre("(2, 2, 1)", matrix(QQ, {{1, 0}, {0, 1}, {0, 0}}), matrix(QQ, {{1, 0, 0}, {0, 0, 1}}))
emitFibre("(1, 1, 0)", matrix(QQ, {{1}, {0}, {0}}), matrix(QQ, {{1, 1, 0}}))
emitFibre("(1, 1, 1)", matrix(QQ, {{1}, {0}, {0}}), matrix(QQ, {{1, 0, 0}}))
emitFibre("(1, 2, 0)", matrix(QQ, {{1}, {0}, {0}}), matrix(QQ, {{1, 1, 0}, {0, 0, 1}}))
emitFibre("(1, 2, 1)", matrix(QQ, {{1}, {0}, {0}}), matrix(QQ, {{1, 0, 0}, {0, 1, 0}}))
emitFibre("(2, 1, 0)", matrix(QQ, {{1, 0}, {0, 1}, {0, 0}}), matrix(QQ, {{1, 0, 1}}))
emitFibre("(2, 1, 1)", matrix(QQ, {{1, 0}, {0, 1}, {0, 0}}), matrix(QQ, {{1, 0, 0}}))
emitFibre("(2, 2, 2)", matrix(QQ, {{1, 0}, {0, 1}, {0, 0}}), matrix(QQ, {{1, 0, 0}, {0, 1, 0}}))
