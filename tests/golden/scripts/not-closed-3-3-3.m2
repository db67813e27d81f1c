-- A limit of networks that is no network: lightning self-attention of widths (3, 3, 3), a = (2, 2), t = 3.
--
-- The function of virtual weights (A, B, M) is P(XX^t)X with P(S) = M S A S A^t S B S A. For A = k q^t + epsilon N, a
-- skew-symmetric matrix B and M = 1 it is divisible by epsilon, and the quotient tends to a function f(XX^t)X.

family = QQ[epsilon, sym_1..sym_6]
functionMatrix = (A, B, M, S) -> M * S * A * S * transpose A * S * B * S * A
rankOne = sub(matrix{ {0, 1, 0}, {0, 0, 0}, {0, 0, 0} }, family)
perturbation = sub(matrix{ {0, 0, 0}, {0, 0, 0}, {1, 2, 1} }, family)
skew = sub(matrix{ {0, 0, 1}, {0, 0, 1}, {-1, -1, 0} }, family)
symmetric = genericSymmetricMatrix(family, sym_1, 3)
networks = functionMatrix(rankOne + epsilon * perturbation, skew, id_(family^3), symmetric)
atZero = map(family, family, {0} | drop(gens family, 1))
quotients = matrix apply(entries networks, row -> apply(row, entry -> entry // epsilon))
mbEmit("networks_for_all_epsilon", entries(epsilon * quotients) == entries networks)
limit = atZero quotients

-- The columns of f span the space, so the matrix M of a network with this function is invertible.
rows = QQ[row_1..row_3][sym_1..sym_6]
combination = matrix{ {row_1, row_2, row_3} } * (map(rows, family, {0} | gens rows)) limit
mbEmit("columns_span", ideal sub(last coefficients combination, coefficientRing rows) == ideal gens coefficientRing rows)

-- f has rank one; with M invertible, A and B of rank two or more have a function of rank two or more.
mbEmit("rank_one", limit != 0 and minors(2, limit) == 0)

-- One token sees nothing; with M invertible that is so for A or B skew-symmetric only.
token = QQ[entry_1..entry_3]
column = transpose vars token
squares = flatten apply(3, i -> apply(3 - i, j -> column_(i, 0) * column_(i + j, 0)))
mbEmit("vanishes_on_one_token", (map(token, family, {0} | squares)) limit * column == 0)

-- So B has rank one, as A of rank one and B skew-symmetric have the function 0; and A is skew-symmetric.
weights = QQ[axis_1..axis_3, inner_1..inner_9, outer_1..outer_9]
functions = weights[sym_1..sym_6]
A = sub(matrix{ {0, axis_3, -axis_2}, {-axis_3, 0, axis_1}, {axis_2, -axis_1, 0} }, functions)
B = sub(genericMatrix(weights, inner_1, 3, 3), functions)
M = sub(genericMatrix(weights, outer_1, 3, 3), functions)
equations = functionMatrix(A, B, M, genericSymmetricMatrix(functions, sym_1, 3)) -
    (map(functions, family, {0} | gens functions)) limit
mbEmit("no_network", ideal sub(last coefficients matrix{ flatten entries equations }, weights) == ideal 1_weights)
