-- The fibre of (A_1, .., A_l, M) -> P(XX^t)X over one function: lightning self-attention of widths (2, 2, 1), a = (1, 2), t = 2.
--
-- The entry (1,1) of each attention matrix is that of the given one: every orbit of the torus of scalings on the fibre
-- has exactly one such point.

unknowns = QQ[inner_(1,1,2), inner_(1,2,1), inner_(1,2,2), inner_(2,1,2), inner_(2,2,1), inner_(2,2,2), outer_(1,1), outer_(1,2)]
functions = unknowns[entry_1..entry_3]
functionMatrix = (matrices, values, S) -> (
    Q := id_(functions^2);
    for A in matrices do Q = Q * S * transpose Q * sub(A, functions) * Q;
    sub(values, functions) * Q)
symmetric = genericSymmetricMatrix(functions, first gens functions, 2)
outputs = (matrices, values) -> functionMatrix(matrices, values, symmetric)
equations = outputs({matrix(unknowns, {{3, inner_(1,1,2)}, {inner_(1,2,1), inner_(1,2,2)}}), matrix(unknowns, {{-27, inner_(2,1,2)}, {inner_(2,2,1), inner_(2,2,2)}})}, matrix(unknowns, {{outer_(1,1), outer_(1,2)}})) - outputs({matrix(unknowns, {{3, 5}, {3, 5}}), matrix(unknowns, {{-27, 5}, {-34, -25}})}, matrix(unknowns, {{4, -7}}))
fibre = ideal sub(last coefficients matrix{ flatten entries equations }, unknowns)
mbEmit("dimension", dim fibre)
mbEmit("degree", degree fibre)
mbEmit("points", if dim fibre == 0 then mbPoints fibre else null)
