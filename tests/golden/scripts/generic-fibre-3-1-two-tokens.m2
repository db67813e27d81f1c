-- The fibre of (A_1, .., A_l, M) -> P(XX^t)X over one function: lightning self-attention of widths (3, 1), a = (1), t = 2.
--
-- The entry (1,1) of each attention matrix is that of the given one: every orbit of the torus of scalings on the fibre
-- has exactly one such point.

unknowns = QQ[inner_(1,1,2), inner_(1,1,3), inner_(1,2,1), inner_(1,2,2), inner_(1,2,3), inner_(1,3,1), inner_(1,3,2), inner_(1,3,3), outer_(1,1), outer_(1,2), outer_(1,3)]
functions = unknowns[entry_1..entry_6]
functionMatrix = (matrices, values, S) -> (
    Q := id_(functions^3);
    for A in matrices do Q = Q * S * transpose Q * sub(A, functions) * Q;
    sub(values, functions) * Q)
inputMatrix = transpose genericMatrix(functions, first gens functions, 2, 3)
symmetric = inputMatrix * transpose inputMatrix
outputs = (matrices, values) -> functionMatrix(matrices, values, symmetric) * inputMatrix
equations = outputs({matrix(unknowns, {{5, inner_(1,1,2), inner_(1,1,3)}, {inner_(1,2,1), inner_(1,2,2), inner_(1,2,3)}, {inner_(1,3,1), inner_(1,3,2), inner_(1,3,3)}})}, matrix(unknowns, {{outer_(1,1), outer_(1,2), outer_(1,3)}})) - outputs({matrix(unknowns, {{5, -3, 2}, {5, -3, 2}, {15, -9, 6}})}, matrix(unknowns, {{1, -5, -5}}))
fibre = ideal sub(last coefficients matrix{ flatten entries equations }, unknowns)
mbEmit("dimension", dim fibre)
mbEmit("degree", degree fibre)
mbEmit("points", if dim fibre == 0 then mbPoints fibre else null)
