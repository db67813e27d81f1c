-- What the theorems for all sizes rest on: identities in two indices, and 13 fibre ideals in at most three unknowns.

-- The base locus is empty: no nonzero linear forms l = l_(1,1) y_1 + .. and v have product 0. On the chart where
-- coefficient p of l and coefficient q of v are 1, the equations contain 1; up to renaming y it is enough to
-- look at p = q and p != q.
forms = QQ[l_1..l_2, v_1..v_2]
products = ideal mbFormMatrix(transpose matrix {{l_1..l_2}}, transpose matrix {{v_1..v_2}})
mbEmit("base_locus_empty", all({(1,1), (1,2)}, chart ->
    products + ideal(l_(first chart) - 1, v_(last chart) - 1) == 1))

-- Boundary: the functions of k = e_1 + i e w and v = e_1 - i e w, with w = e_2, have the real coordinates of
-- y_1^2 + e^2 y_2^2. The equation z_2^2 + e^2 = 0 holds on the whole fibre: no real point for e != 0. For e -> 0 they
-- tend to y_1^2, which is the function of the orbit (1, 1, 1).
family = QQ[e]
familyUnknowns = family[z_2]
realForm = diagonalMatrix(family, {2, 2*e^2} | {})
limitForm = first first mbForms(matrix(QQ, {{1}, {0}}), matrix(QQ, {{1, 0}}))
mbEmit("family_without_real_points", (z_2^2 + e^2) % mbFibreIdeal({{realForm}}, familyUnknowns) == 0)
mbEmit("family_tends_to_the_orbit", sub(realForm, e => 0) - sub(limitForm, family) == 0)

-- The reduced Groebner basis (GRevLex, z_2 > z_3 > ..) of a fibre ideal: nonzero columns of A, nonzero rows of V.
emitIdeal = (name, A, V, unknowns) -> mbEmit(name, ideal gens gb mbFibreIdeal(mbForms(A, V), unknowns))

emitIdeal("(2, 1, 1) at d = 2", matrix(QQ, {{1, 0}, {0, 1}}), matrix(QQ, {{1, 0}}), QQ[z_2])
emitIdeal("(2, 1, 1) at d = 3", matrix(QQ, {{1, 0}, {0, 1}, {0, 0}}), matrix(QQ, {{1, 0, 0}}), QQ[z_2, z_3])
emitIdeal("(1, 2, 1) at d = 2", matrix(QQ, {{1}, {0}}), matrix(QQ, {{1, 0}, {0, 1}}), QQ[z_2])
emitIdeal("(1, 2, 1) at d = 3", matrix(QQ, {{1}, {0}, {0}}), matrix(QQ, {{1, 0, 0}, {0, 1, 0}}), QQ[z_2, z_3])
emitIdeal("(2, 1, 0) at d = 3", matrix(QQ, {{1, 0}, {0, 1}, {0, 0}}), matrix(QQ, {{1, 0, 1}}), QQ[z_2, z_3])
emitIdeal("(2, 1, 0) at d = 4", matrix(QQ, {{1, 0}, {0, 1}, {0, 0}, {0, 0}}), matrix(QQ, {{1, 0, 1, 0}}), QQ[z_2, z_3, z_4])
emitIdeal("(1, 2, 0) at d = 3", matrix(QQ, {{1}, {0}, {0}}), matrix(QQ, {{1, 1, 0}, {0, 0, 1}}), QQ[z_2, z_3])
emitIdeal("(1, 2, 0) at d = 4", matrix(QQ, {{1}, {0}, {0}, {0}}), matrix(QQ, {{1, 1, 0, 0}, {0, 0, 1, 0}}), QQ[z_2, z_3, z_4])
emitIdeal("(1, 1, 1) at d = 2", matrix(QQ, {{1}, {0}}), matrix(QQ, {{1, 0}}), QQ[z_2])
emitIdeal("(1, 1, 1) at d = 3", matrix(QQ, {{1}, {0}, {0}}), matrix(QQ, {{1, 0, 0}}), QQ[z_2, z_3])
emitIdeal("(1, 1, 0) at d = 2", matrix(QQ, {{1}, {0}}), matrix(QQ, {{1, 1}}), QQ[z_2])
emitIdeal("(1, 1, 0) at d = 3", matrix(QQ, {{1}, {0}, {0}}), matrix(QQ, {{1, 1, 0}}), QQ[z_2, z_3])
emitIdeal("(1, 1, 0) at d = 4", matrix(QQ, {{1}, {0}, {0}, {0}}), matrix(QQ, {{1, 1, 0, 0}}), QQ[z_2, z_3, z_4])
