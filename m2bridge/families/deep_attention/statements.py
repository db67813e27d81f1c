"""The statements about deep attention: predictions and hypotheses, the paper's and those of m2bridge.

The words are in ``words.toml``. Nothing here is computed from a network but its numbers; a cross-check holds the
predictions against what :mod:`m2bridge.families.deep_attention.observation` computes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from pathlib import Path

from m2bridge.algebra.determinantal import determinantal_dimension, matrices_of_rank
from m2bridge.certificates.wording import wording
from m2bridge.families.deep_attention.shape import (
    Shape,
    base_changes,
    layer_bounds,
    reduced_dimension,
    virtual_dimension,
)
from m2bridge.maps.model import Expectation
from m2bridge.maps.statement import GlobalStatement, Value

Hypothesis = Callable[[Shape], str]
"""The hypothesis in words where it fails, empty where it holds."""
Stated = GlobalStatement[Shape]

WORDS = wording(Path(__file__).parent / "words.toml")


def _requires(name: str, holds: Callable[[Shape], bool]) -> Hypothesis:
    """Return the hypothesis with this name in ``words.toml``."""
    return lambda network: "" if holds(network) else WORDS.hypotheses[name]


lightning = _requires("lightning", lambda network: not network.softmax)
softmax = _requires("softmax", lambda network: network.softmax)
plain = _requires("plain", lambda network: network.is_plain)
skip = _requires("skip", lambda network: network.skip)
no_skip = _requires("no-skip", lambda network: not network.skip)
one_head = _requires("one-head", lambda network: network.heads == 1)
several_heads = _requires("several-heads", lambda network: network.heads > 1)
scalings = _requires("scalings", lambda network: not network.softmax)
several_tokens = _requires("several-tokens", lambda network: network.t > 1)
single_layer = _requires("single-layer", lambda network: network.layers == 1)
several_layers = _requires("several-layers", lambda network: network.layers > 1)
equal_widths = _requires("equal-widths", lambda network: len(set(network.widths)) == 1 and network.widths[0] > 1)
no_hidden_width_one = _requires("no-hidden-width-one", lambda network: min(network.widths[:-1]) > 1)
three_threes = _requires(
    "three-threes", lambda network: network.widths == (3, 3, 3) and min(network.a) > 1 and network.t > 2
)


def one_hidden_width(network: Shape) -> str:
    """All hidden layers have one width."""
    hidden = network.widths[1:-1]
    listed = ", ".join(map(str, hidden))
    return WORDS.hypotheses["one-hidden-width"].format(widths=listed) if len(set(hidden)) > 1 else ""


def narrow(network: Shape) -> str:
    """No hidden layer is wider than the first or the last one."""
    first, *hidden, last = network.widths
    if not hidden or max(hidden) <= min(first, last):
        return ""
    return WORDS.hypotheses["bottleneck"].format(hidden=max(hidden), first=first, last=last)


def ranks_above_one(network: Shape) -> str:
    """All α_k ≥ 2, where α_k = min(a_k, d_{k−1})."""
    ranks = [min(a, d) for d, _, a in network.layer_sizes]
    if network.layers == 1:
        return "" if ranks[0] > 1 or network.widths[1] > 1 else WORDS.hypotheses["rank-above-one"]
    ones = [k for k, rank in enumerate(ranks, 1) if rank == 1]
    return WORDS.hypotheses["ranks-above-one"].format(layer=ones[0]) if ones else ""


@dataclass(frozen=True, slots=True)
class All:
    """The conjunction of hypotheses; called, the first that fails."""

    hypotheses: tuple[Hypothesis, ...]

    def __call__(self, network: Shape) -> str:
        return next(iter(self.failing(network)), "")

    def failing(self, network: Shape) -> list[str]:
        """Return those that fail, in words."""
        return [fails for hypothesis in self.hypotheses if (fails := hypothesis(network))]


def failing(statement: Stated, network: Shape) -> list[str]:
    """Return the hypotheses of a statement that fail, in words."""
    assert isinstance(statement.hypotheses, All)
    return statement.hypotheses.failing(network)


def equation_14(network: Shape) -> int | None:
    """δ(d_0 + d_l − δ) + α_1(2d_0 − α_1) + Σ_{k≥2} α_k(2δ − α_k) − l, where δ is the width of all hidden layers.

    ``None`` if they are not all of one width; for a single layer Corollary 3.3.
    """
    value = equation_16(network)
    return None if value is None else value - network.layers


def equation_16(network: Shape) -> int | None:
    """Eq. 14 without − l."""
    first, *hidden, last = network.widths
    if len(set(hidden)) > 1:
        return None
    value_matrix = hidden[0] * (first + last - hidden[0]) if hidden else first * last
    return value_matrix + sum(matrices_of_rank(d, a) for d, _, a in network.layer_sizes)


def theorem_l(network: Shape) -> int:
    """The dimension of lightning attention, for all widths and ranks."""
    return reduced_dimension(network, network.whole_layers) - network.layers


def theorem_s(network: Shape) -> int:
    """The dimension of softmax attention, for all widths and ranks."""
    if network.t > 1:
        return virtual_dimension(network)
    return determinantal_dimension(network.widths[0], network.widths[-1], network.rank)


def skip_connections(network: Shape) -> int:
    """The dimension with skip connections and one head: the sum over all layers, or that of linear functions."""
    linear = network.softmax and network.t == 1
    return network.widths[0] ** 2 if linear else sum(bound.value for bound in layer_bounds(network))


def separate_heads(network: Shape) -> int:
    """The dimension of a layer if permutations of heads and scalings were all its symmetries."""
    d, d_out = network.widths[:2]
    return network.heads * (d * d_out + matrices_of_rank(d, network.a[0]) - 1)


def several_heads_dimension(network: Shape) -> int:
    """The dimension with several heads and t ≥ 2: the best bounds for all layers, less changes of base between them."""
    return sum(bound.value for bound in layer_bounds(network)) - base_changes(network)


def unseen_dimension(network: Shape) -> int:
    """The dimension of virtual weights that the function of a network does not see, besides scalings."""
    return virtual_dimension(network) - reduced_dimension(network, network.whole_layers)


def fibre_degree(network: Shape) -> int:
    """The number of linear spaces in a fibre up to scalings."""
    last = network.alphas[-1]
    if min(network.widths) > 1:
        return 1
    if network.whole_layers == network.layers:
        return 2 if last == 1 else 1
    return 3 if min(2 * last, network.entering_ranks[-1]) == 2 else 1


def _stated(
    key: str,
    part: str,
    predict: Callable[[Shape], Value | None],
    *hypotheses: Hypothesis,
    meaning: tuple[Hypothesis, ...] | None = None,
) -> Stated:
    """Return the statement with this key and part in ``words.toml``.

    Parameters
    ----------
    meaning : tuple of callable, optional
        The hypotheses without which the formula has no meaning, and nothing is predicted; all when left out.
    """
    without = All(hypotheses if meaning is None else meaning)
    return GlobalStatement(
        **WORDS.fields(key, part),
        predict=lambda network: None if without(network) else predict(network),
        hypotheses=All(hypotheses),
    )


LIGHTNING, SOFTMAX, NARROW = (plain, lightning), (plain, softmax), (one_hidden_width, narrow)
PAPER = (*LIGHTNING, several_tokens, *NARROW, ranks_above_one)
HEADS = (lightning, no_skip, single_layer, several_heads, several_tokens)
SEVERAL_LAYERS = (several_layers, several_heads, several_tokens, equal_widths)
SKIP = (skip, one_head)

WEIGHTS = (
    _stated("3.1", "", lambda n: n.heads * sum(matrices_of_rank(d, a) for d, _, a in n.layer_sizes)),
    _stated("3.5", "", lambda n: equation_16(n), plain, *NARROW, meaning=(plain,)),
    _stated("V", "", lambda n: virtual_dimension(n), plain),
    _stated("3.6", "", lambda n: True, *LIGHTNING),
    _stated("3.7", "", lambda n: True, *PAPER),
    _stated("fibre", "dimension", lambda n: (n.layers - n.whole_layers) * comb(n.widths[0], 2), *LIGHTNING),
    _stated("fibre", "degree", lambda n: fibre_degree(n), *LIGHTNING, no_hidden_width_one),
    _stated("fibre", "virtual weights", lambda n: unseen_dimension(n), *LIGHTNING),
    _stated("skip", "scalings", lambda n: False, *SKIP, scalings),
    _stated("skip", "one-to-one", lambda n: 0, *SKIP, several_tokens),
    _stated("closed", "", lambda n: False, *LIGHTNING, three_threes),
)
"""The paper's in its order, each followed by those of m2bridge."""

COROLLARY_3_8 = _stated("3.8", "", lambda n: equation_14(n), *PAPER, meaning=LIGHTNING)
CONJECTURE_3_10 = _stated("3.10", "", lambda n: equation_16(n), *SOFTMAX, several_tokens, *NARROW, meaning=SOFTMAX)
DIMENSIONS = (
    COROLLARY_3_8,
    _stated("3.9", "", lambda n: equation_16(n), *SOFTMAX, several_tokens, single_layer),
    CONJECTURE_3_10,
    _stated("L", "", lambda n: theorem_l(n), *LIGHTNING),
    _stated("S", "", lambda n: theorem_s(n), *SOFTMAX),
    _stated("skip", "dimension", lambda n: skip_connections(n), *SKIP),
    _stated("heads", "separate heads", lambda n: separate_heads(n), *HEADS),
    _stated("heads", "one layer", lambda n: several_heads_dimension(n), *HEADS),
    _stated("heads", "several layers", lambda n: several_heads_dimension(n), *SEVERAL_LAYERS),
)
"""The paper's first."""

STATEMENTS: tuple[Stated, ...] = (*WEIGHTS, *DIMENSIONS)


def expectations(network: Shape) -> tuple[Expectation, ...]:
    """Return the dimension by all statements that apply, and by the paper's formula also where it does not."""
    paper, formula = (CONJECTURE_3_10, equation_16) if network.softmax else (COROLLARY_3_8, equation_14)
    dimensions = []
    for statement in DIMENSIONS:
        name = WORDS.remarks.get(f"{statement.key}, {statement.part}") or WORDS.remarks[statement.key]
        fails, predicted = statement.hypotheses(network), statement.predict(network)
        if not fails and isinstance(predicted, int):
            dimensions.append(Expectation(predicted, name))
        elif statement is paper and network.is_plain:
            dimensions.append(Expectation(formula(network), name, fails))
    return tuple(dimensions)
