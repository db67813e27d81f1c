"""The statements about deep attention, the paper's and those of m2bridge, with their hypotheses.

The words are in ``words.toml``. Nothing here is computed from a network but its numbers; a
cross-check holds the predictions against what :mod:`m2bridge.families.deep_attention.observation`
computes.

Notation: a network has l layers, widths d_0, …, d_l and t tokens; d_k is δ for all hidden layers
where they have one width. A head of layer k has a value matrix V and a d_{k−1} × d_{k−1} attention
matrix A_k of rank at most a_k; α_k is its generic rank. A formula that has no meaning for a network
predicts ``None``. With one head and no skip connections the
function depends only on the virtual weights, l matrices made of the A_k, and M = V_l⋯V_1. A *fibre*
is the set of all matrices of their sizes that have one function, taken up to *scalings*: of each
A_k by a number and of M by the number that keeps the function.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from pathlib import Path

from m2bridge.algebra.determinantal import matrices_of_rank
from m2bridge.certificates.wording import wording
from m2bridge.families.deep_attention.shape import (
    NetworkSizes,
    determined_dimension,
    virtual_dimension,
)
from m2bridge.families.deep_attention.upper_bounds import layered_bound
from m2bridge.maps.model import Expectation
from m2bridge.statements.statement import GlobalStatement, Value

Stated = GlobalStatement[NetworkSizes]

WORDS = wording(Path(__file__).parent / "words.toml")

# Whether a network satisfies a hypothesis; the words are in ``words.toml``.
HOLDS: dict[str, Callable[[NetworkSizes], bool]] = {
    "lightning": lambda n: not n.softmax,
    "softmax": lambda n: n.softmax,
    "plain": lambda n: n.is_plain,
    "skip": lambda n: n.skip,
    "no-skip": lambda n: not n.skip,
    "one-head": lambda n: n.heads == 1,
    "several-heads": lambda n: n.heads > 1,
    "scalings": lambda n: not n.softmax,
    "several-tokens": lambda n: n.t > 1,
    "single-layer": lambda n: n.layers == 1,
    "several-layers": lambda n: n.layers > 1,
    "equal-widths": lambda n: len(set(n.widths)) == 1 and n.widths[0] > 1,
    "no-hidden-width-one": lambda n: min(n.widths[:-1]) > 1,
    "three-threes": lambda n: n.widths == (3, 3, 3) and min(n.a) > 1 and n.t > 2,
    "one-hidden-width": lambda n: len(set(n.widths[1:-1])) < 2,
    "bottleneck": lambda n: max(n.widths[1:-1], default=0) <= min(n.widths[0], n.widths[-1]),
    "rank-above-one": lambda n: n.layers > 1 or n.widths[1] > 1 or not _layers_of_rank_one(n),
    "ranks-above-one": lambda n: n.layers == 1 or not _layers_of_rank_one(n),
}


def _layers_of_rank_one(network: NetworkSizes) -> list[int]:
    """Return the layers k, from 1, with min(a_k, d_{k−1}) = 1."""
    return [k for k, (d, _, a) in enumerate(network.layer_sizes, 1) if min(a, d) == 1]


@dataclass(frozen=True, slots=True)
class All:
    """The conjunction of hypotheses, by their names in HOLDS."""

    hypotheses: tuple[str, ...]

    def __call__(self, network: NetworkSizes) -> str:
        """Return the first hypothesis that fails, in words; empty if all hold."""
        return next(iter(self.failing(network)), "")

    def failing(self, network: NetworkSizes) -> list[str]:
        """Return the hypotheses that fail, in words with the numbers of the network, in order."""
        failing_names = [name for name in self.hypotheses if not HOLDS[name](network)]
        if not failing_names:
            return []
        # What the placeholders in words.toml stand for. A 0 is never shown: without hidden widths,
        # or without layers of rank one, the hypotheses about them hold.
        first, *hidden, last = network.widths
        numbers = {
            "widths": ", ".join(map(str, hidden)),
            "hidden": max(hidden, default=0),
            "first": first,
            "last": last,
            "layer": min(_layers_of_rank_one(network), default=0),
        }
        return [WORDS.hypotheses[name].format(**numbers) for name in failing_names]


def failing(statement: Stated, network: NetworkSizes) -> list[str]:
    """Return the hypotheses of a statement that fail for a network, in words; none if all hold."""
    assert isinstance(statement.hypotheses, All)
    return statement.hypotheses.failing(network)


def equation_14(network: NetworkSizes) -> int:
    """Predict the dimension of lightning attention: the number of Eq. 16, less l for the scalings;
    for a single layer it is the number of Corollary 3.3.
    """
    return equation_16(network) - network.layers


def equation_16(network: NetworkSizes) -> int:
    """Predict δ(d_0 + d_l − δ) + α_1(2d_0 − α_1) + Σ_{k≥2} α_k(2δ − α_k), for one hidden width δ:
    the dimension of M, plus the dimensions of the attention matrices. Without hidden layers M is
    any matrix.
    """
    first, *hidden, last = network.widths
    if hidden:
        # all hidden widths are equal
        delta = hidden[0]
        value_matrix = delta * (first + last - delta)
    else:
        # A single value matrix has no factors whose rank is bounded.
        value_matrix = first * last
    # d is d_{k−1}: d_0 for the first layer, and δ for all others
    attention = sum(matrices_of_rank(d, a) for d, _, a in network.layer_sizes)
    return value_matrix + attention


def attention_matrices(network: NetworkSizes) -> int:
    """Predict the dimension of the attention matrices of all heads, which are independent."""
    return network.heads * sum(matrices_of_rank(d, a) for d, _, a in network.layer_sizes)


def fibre_dimension(network: NetworkSizes) -> int:
    """Predict the dimension of the fibres among all matrices (proposition-fibres): for each layer
    after ``whole_layers`` the skew-symmetric part of a d_0 × d_0 matrix is free.
    """
    return (network.layers - network.whole_layers) * comb(network.widths[0], 2)


def virtual_fibre_dimension(network: NetworkSizes) -> int:
    """Predict the dimension of the virtual weights with a given function, up to scalings, by
    Theorem L.
    """
    return virtual_dimension(network) - determined_dimension(network) - network.layers


def bound_of_layers(network: NetworkSizes) -> int:
    """Predict the dimension: it is the upper bound which is proved layer by layer."""
    return layered_bound(network).value


def theorem_s(network: NetworkSizes) -> int:
    """Predict the dimension of softmax attention: of the virtual weights, or for t = 1 of M."""
    # The only score of one token is normalized to 1: the function is M.
    if network.t == 1:
        return network.linear_dimension
    return virtual_dimension(network)


def dimension_with_skip_connections(network: NetworkSizes) -> int:
    """Predict the dimension with skip connections and one head: the sum over the layers."""
    # The softmax of a single score is 1, so that each layer is a linear map of its token.
    if network.softmax and network.t == 1:
        return network.linear_dimension
    return layered_bound(network).value


def dimension_of_separate_heads(network: NetworkSizes) -> int:
    """Predict the dimension of a single layer whose only symmetries scale or permute heads."""
    d, d_out = network.widths[:2]
    # V and A of each head, less the scaling of A against V
    return network.heads * (d * d_out + matrices_of_rank(d, network.a[0]) - 1)


def fibre_degree(network: NetworkSizes) -> int:
    """Predict the number of linear spaces of which a fibre consists, up to scalings: one, unless M
    = h mᵀ has rank one.

    Then m can be exchanged with a linear factor of xᵀA_l x, the quadratic form of the last layer,
    and each such factor gives one more space (proposition-fibres).
    """
    rank_of_M = min(network.widths)
    if rank_of_M > 1:
        return 1
    alpha = network.alphas[-1]
    # how many linear factors m can be exchanged with
    factors = 0
    if network.whole_layers == network.layers:
        # the function depends on all of A_l: m can be exchanged with k if A_l = k qᵀ has rank one
        if alpha == 1:
            factors = 1
    else:
        # it depends on the form alone, which has two linear factors if its rank is two, else none
        rank_of_form = min(2 * alpha, network.entering_ranks[-1])
        if rank_of_form == 2:
            factors = 2
    return 1 + factors


@dataclass(frozen=True, slots=True)
class Predicted:
    """The prediction of a statement; ``None`` for a network where it has no meaning."""

    # what is predicted of all networks, or the name of a function of this file, which is found when
    # it is asked for, so that a statement can be pickled
    formula: Value | str
    without: All  # the hypotheses without which the formula has no meaning

    def __call__(self, network: NetworkSizes) -> Value | None:
        """Return what is predicted of a network; ``None`` where the formula has no meaning."""
        # a text says which hypothesis fails
        if self.without(network) != "":
            return None
        if not isinstance(self.formula, str):
            return self.formula
        predict: Callable[[NetworkSizes], Value | None] = globals()[self.formula]
        return predict(network)


def _stated(
    key: str,
    part: str,
    formula: Value | str,
    *hypotheses: str,
    meaning: tuple[str, ...] | None = None,
) -> Stated:
    """Return the statement with this key and part in ``words.toml``, and these hypotheses; nothing
    is predicted without the ones of ``meaning``, by default all.
    """
    predicted = Predicted(formula, All(hypotheses if meaning is None else meaning))
    words = WORDS.fields(key, part)
    return GlobalStatement(**words, predict=predicted, hypotheses=All(hypotheses))


LIGHTNING = ("plain", "lightning")
SOFTMAX = ("plain", "softmax")
NARROW = ("one-hidden-width", "bottleneck")
PAPER = (*LIGHTNING, "several-tokens", *NARROW, "rank-above-one", "ranks-above-one")
HEADS = ("lightning", "no-skip", "single-layer", "several-heads", "several-tokens")
SEVERAL_LAYERS = ("several-layers", "several-heads", "several-tokens", "equal-widths")
SKIP = ("skip", "one-head")

# The paper's in its order, each followed by those of m2bridge.
WEIGHTS = (
    _stated("3.1", "", "attention_matrices"),
    _stated("3.5", "", "equation_16", "plain", *NARROW, meaning=("plain", "one-hidden-width")),
    _stated("V", "", "virtual_dimension", "plain"),
    _stated("3.6", "", True, *LIGHTNING),
    _stated("3.7", "", True, *PAPER),
    _stated("fibre", "dimension", "fibre_dimension", *LIGHTNING),
    _stated("fibre", "degree", "fibre_degree", *LIGHTNING, "no-hidden-width-one"),
    _stated("fibre", "virtual weights", "virtual_fibre_dimension", *LIGHTNING),
    _stated("skip", "scalings", False, *SKIP, "scalings"),
    _stated("skip", "one-to-one", 0, *SKIP, "several-tokens"),
    _stated("closed", "", False, *LIGHTNING, "three-threes"),
)

COROLLARY_3_8 = _stated("3.8", "", "equation_14", *PAPER, meaning=(*LIGHTNING, "one-hidden-width"))
CONJECTURE_3_10 = _stated(
    "3.10",
    "",
    "equation_16",
    *SOFTMAX,
    "several-tokens",
    *NARROW,
    meaning=(*SOFTMAX, "one-hidden-width"),
)
# The paper's first.
DIMENSIONS = (
    COROLLARY_3_8,
    _stated("3.9", "", "equation_16", *SOFTMAX, "several-tokens", "single-layer"),
    CONJECTURE_3_10,
    _stated("L", "", "determined_dimension", *LIGHTNING),
    _stated("S", "", "theorem_s", *SOFTMAX),
    _stated("skip", "dimension", "dimension_with_skip_connections", *SKIP),
    _stated("heads", "separate heads", "dimension_of_separate_heads", *HEADS),
    _stated("heads", "one layer", "bound_of_layers", *HEADS),
    _stated("heads", "several layers", "bound_of_layers", *SEVERAL_LAYERS),
)

STATEMENTS: tuple[Stated, ...] = (*WEIGHTS, *DIMENSIONS)


def expectations(network: NetworkSizes) -> tuple[Expectation, ...]:
    """Return the dimension by each statement about it that applies to a network.

    For one head without skip connections the paper's formula (Corollary 3.8, for softmax Conjecture
    3.10) is always among them, with the hypothesis that fails, or without a value. ``assumes`` of
    an expectation has the words for what its formula takes for granted, and what only a computed
    dimension tests: that heads are separate, or that the conjecture is true.
    """
    paper = CONJECTURE_3_10 if network.softmax else COROLLARY_3_8
    expected = []
    for statement in DIMENSIONS:
        expectation = _expectation(statement, network)
        applies = expectation.value is not None and not expectation.fails
        if applies or (statement is paper and network.is_plain):
            expected.append(expectation)
    return tuple(expected)


def _expectation(statement: Stated, network: NetworkSizes) -> Expectation:
    """Return what a statement about the dimension says of a network, and what fails."""
    predicted = statement.predict(network)
    assert predicted is None or isinstance(predicted, int)
    # the remarks have names of statements by "key, part", or by the key for all parts
    name = WORDS.remarks.get(f"{statement.key}, {statement.part}") or WORDS.remarks[statement.key]
    assumed = "separate-heads" if statement.part == "separate heads" else "conjecture"
    return Expectation(
        value=predicted,
        statement=name,
        fails=statement.hypotheses(network),
        assumes=WORDS.hypotheses[assumed],
    )
