"""The statements about deep attention, the paper's and those of m2bridge, with their hypotheses.

The words are in ``words.toml``. Nothing here is computed from a network but its numbers; a
cross-check holds the predictions against what :mod:`m2bridge.families.deep_attention.observation`
computes.
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
    layered_bound,
    virtual_dimension,
)
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
    "rank-above-one": lambda n: n.layers > 1 or n.widths[1] > 1 or not _ranks_one(n),
    "ranks-above-one": lambda n: n.layers == 1 or not _ranks_one(n),
}


def _ranks_one(network: NetworkSizes) -> list[int]:
    """The layers k with min(a_k, d_{k−1}) = 1."""
    return [k for k, (d, _, a) in enumerate(network.layer_sizes, 1) if min(a, d) == 1]


@dataclass(frozen=True, slots=True)
class All:
    """The conjunction of hypotheses; called, the first that fails."""

    hypotheses: tuple[str, ...]

    def __call__(self, network: NetworkSizes) -> str:
        return next(iter(self.failing(network)), "")

    def failing(self, network: NetworkSizes) -> list[str]:
        """Return those that fail, in words."""
        names = [name for name in self.hypotheses if not HOLDS[name](network)]
        if not names:
            return []
        first, *hidden, last = network.widths
        numbers = {
            "widths": ", ".join(map(str, hidden)),
            "hidden": max(hidden, default=0),
            "first": first,
            "last": last,
            "layer": min(_ranks_one(network), default=0),
        }
        return [WORDS.hypotheses[name].format(**numbers) for name in names]


def failing(statement: Stated, network: NetworkSizes) -> list[str]:
    """Return the hypotheses of a statement that fail, in words."""
    assert isinstance(statement.hypotheses, All)
    return statement.hypotheses.failing(network)


def equation_14(network: NetworkSizes) -> int:
    """Eq. 16 less l, the number of scalings; for a single layer Corollary 3.3."""
    return equation_16(network) - network.layers


def equation_16(network: NetworkSizes) -> int:
    """δ(d_0 + d_l − δ) + α_1(2d_0 − α_1) + Σ_{k≥2} α_k(2δ − α_k), for one hidden width δ."""
    first, *hidden, last = network.widths
    if hidden:
        delta = hidden[0]
        value_matrix = delta * (first + last - delta)
    else:
        # A single value matrix has no factors whose rank is bounded.
        value_matrix = first * last
    return value_matrix + sum(matrices_of_rank(d, a) for d, _, a in network.layer_sizes)


def attention_matrices(network: NetworkSizes) -> int:
    """The dimension of all A, of each head by itself."""
    return network.heads * sum(matrices_of_rank(d, a) for d, _, a in network.layer_sizes)


def fibre_dimension(network: NetworkSizes) -> int:
    """Predict the dimension of fibres: a skew matrix for each layer that only forms determine."""
    return (network.layers - network.whole_layers) * comb(network.widths[0], 2)


def virtual_weights_of_fibre(network: NetworkSizes) -> int:
    """The dimension of the virtual weights with a given function, up to scalings."""
    return virtual_dimension(network) - determined_dimension(network) - network.layers


def bound_of_layers(network: NetworkSizes) -> int:
    """The bound for the dimension that is proved layer by layer."""
    return layered_bound(network).value


def theorem_s(network: NetworkSizes) -> int:
    """The dimension of softmax attention, for all widths and ranks."""
    # The only score of one token is normalized to 1: the function is M.
    if network.t == 1:
        return network.linear_dimension
    return virtual_dimension(network)


def skip_connections(network: NetworkSizes) -> int:
    """The dimension with skip connections and one head: a sum over layers, or of linear maps."""
    # The softmax of a single score is 1, so that each layer is a linear map of its token.
    if network.softmax and network.t == 1:
        return network.linear_dimension
    return layered_bound(network).value


def separate_heads(network: NetworkSizes) -> int:
    """The dimension of a layer if permutations of heads and scalings were all its symmetries."""
    d, d_out = network.widths[:2]
    return network.heads * (d * d_out + matrices_of_rank(d, network.a[0]) - 1)


def fibre_degree(network: NetworkSizes) -> int:
    """The number of linear spaces in a fibre up to scalings."""
    if min(network.widths) > 1:
        return 1
    last = network.alphas[-1]
    # M = h mᵀ has rank one, and m can be exchanged with a linear factor of the form of the last
    # layer: with k in A = k qᵀ; with both factors where only the symmetric part of A is seen.
    factors = 0
    if network.whole_layers == network.layers:
        if last == 1:
            factors = 1
    elif min(2 * last, network.entering_ranks[-1]) == 2:
        factors = 2
    return 1 + factors


@dataclass(frozen=True, slots=True)
class Predicted:
    """The prediction of a statement; ``None`` where one of these hypotheses fails.

    The formula is found by its name when it is asked for, so that a statement can be pickled.
    """

    formula: Value | str
    without: All

    def __call__(self, network: NetworkSizes) -> Value | None:
        if self.without(network):
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
    """Return the statement with this key and part in ``words.toml``.

    Parameters
    ----------
    formula : str, int or bool
        The name of a function of this file, or what is predicted of all networks.
    meaning : tuple of str, optional
        The hypotheses without which the formula has no meaning, and nothing is predicted; all when
        left out.
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
    _stated("fibre", "virtual weights", "virtual_weights_of_fibre", *LIGHTNING),
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
    _stated("skip", "dimension", "skip_connections", *SKIP),
    _stated("heads", "separate heads", "separate_heads", *HEADS),
    _stated("heads", "one layer", "bound_of_layers", *HEADS),
    _stated("heads", "several layers", "bound_of_layers", *SEVERAL_LAYERS),
)

STATEMENTS: tuple[Stated, ...] = (*WEIGHTS, *DIMENSIONS)


def expectations(network: NetworkSizes) -> tuple[Expectation, ...]:
    """Return the dimension by all statements that apply; by the paper's formula if it does not."""
    paper = CONJECTURE_3_10 if network.softmax else COROLLARY_3_8
    dimensions = []
    for statement in DIMENSIONS:
        remarks = WORDS.remarks
        name = remarks.get(f"{statement.key}, {statement.part}") or remarks[statement.key]
        fails = statement.hypotheses(network)
        predicted = statement.predict(network)
        assert predicted is None or isinstance(predicted, int)
        stated = predicted is not None and not fails
        if stated or (statement is paper and network.is_plain):
            assumed = "separate-heads" if statement.part == "separate heads" else "conjecture"
            assumes = WORDS.hypotheses[assumed]
            dimensions.append(Expectation(predicted, name, fails, assumes))
    return tuple(dimensions)
