-- Ranks and degrees of the resolution of the symmetric matrices of size 4 and rank at most two.
R = QQ[x_0..x_9];
F = res minors(3, matrix {{x_0, x_1, x_2, x_3}, {x_1, x_4, x_5, x_6}, {x_2, x_5, x_7, x_8}, {x_3, x_6, x_8, x_9}});
(apply(4, i -> rank F_i), apply(4, i -> first min degrees F_i), apply(4, i -> first max degrees F_i))
