"""The checker of certificates about convolutional networks: ranks, and fibres point by point.

*Theorems* (docs/convolutional-networks.md), for r ≥ 2 in characteristic 0. The map from filters up
to rescaling to the projective closure of the functions is finite. So the degree of the closure is
the degree of the source divided by the number of points of the general fibre, which is at most the
length of any fibre (theorem-convolutional-degree). Zeros at the ends of filters can be moved from
filter to filter, as long as their number in front of all filters together stays the same; and a
point is smooth exactly if its fibre is one reduced point (theorem-convolutional-fibres).

*Checked here*: the rank of the differential at one point modulo a prime, a lower bound for the
dimension, and the number of weights up to rescaling, an upper bound; the degree of the source
(ranks.py). Of one fibre for each type of zeros, all its points (fibres.py). Predictions of the
statements, and verdicts (statements.py).

*Taken on trust*: these theorems, and FLINT's ranks and Gröbner bases.

*Notation* (that of docs/convolutional-networks.md). A network has L filters w_i of sizes k_i, and
activation degree r, its ``degree``. The output f is a form of degree D = r^(L − 1) in the inputs
x_1 to x_n, n = 1 + Σ(k_i − 1), and of degree r^(L − i) in the entries of w_i. The *type of zeros*
of filters is (e, P): filter i has e_i zeros at its ends, and all together have P zeros in front.
"""

from m2bridge.checker import FamilyChecker
from m2bridge.families.convolutional_network.checker import statements

CHECKER = FamilyChecker(
    family="convolutional-network",
    name=statements.name,
    questions={
        "dimension": statements.about_dimension,
        "degree": statements.about_degree,
        "fibres": statements.about_fibres,
        "singular": statements.about_singular,
    },
    wordings=(statements.WORDS,),
)
