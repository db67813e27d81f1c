"""A statement from its words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from m2bridge.certificates.wording import wording
from m2bridge.families.deep_attention import formulas
from m2bridge.families.deep_attention.shape import Shape
from m2bridge.maps.model import Expectation
from m2bridge.maps.statement import GlobalStatement, Value


def stated(
    key: str,
    part: str,
    predict: Callable[[Shape], Value | None],
    hypotheses: Hypothesis,
    meaning: Hypothesis | None = None,
) -> GlobalStatement[Shape]:
    """The statement with this key and part in ``words.toml``.

    Parameters
    ----------
    meaning : callable, optional
        Where the formula has a meaning, as for ``hypotheses``, which are meant when it is left out. Elsewhere nothing
        is predicted.
    """
    words = WORDS.words(key, part)
    without = hypotheses if meaning is None else meaning
    return GlobalStatement(
        key,
        part,
        words.text,
        words.source,
        words.observable,
        lambda network: None if without(network) else predict(network),
        hypotheses,
        WORDS.computed[words.observable],
        WORDS.trusted[words.observable],
    )


Hypothesis = Callable[[Shape], str]

WORDS = wording(Path(__file__).parent / "words.toml")
_SAID = WORDS.hypotheses


@dataclass(frozen=True, slots=True)
class Together:
    """Several hypotheses; called, the first that fails."""

    hypotheses: tuple[Hypothesis, ...]

    def __call__(self, network: Shape) -> str:
        return next(iter(self.failing(network)), "")

    def failing(self, network: Shape) -> list[str]:
        """All that fail."""
        return list(filter(None, (hypothesis(network) for hypothesis in self.hypotheses)))


def together(*hypotheses: Hypothesis) -> Together:
    """Several as one."""
    return Together(hypotheses)


def failing(hypothesis: Hypothesis, network: Shape) -> list[str]:
    """All parts of a hypothesis that fail."""
    return (hypothesis if isinstance(hypothesis, Together) else together(hypothesis)).failing(network)


def lightning(network: Shape) -> str:
    """No normalization."""
    return _SAID["lightning"] if network.softmax else ""


def softmax(network: Shape) -> str:
    """Softmax."""
    return "" if network.softmax else _SAID["softmax"]


def plain(network: Shape) -> str:
    """One head, no skip connections."""
    return "" if network.is_plain else _SAID["plain"]


def skip(network: Shape) -> str:
    """Skip connections."""
    return "" if network.skip else _SAID["skip"]


def one_head(network: Shape) -> str:
    """One head."""
    return "" if network.heads == 1 else _SAID["one-head"]


def several_heads(network: Shape) -> str:
    """At least two heads."""
    return "" if network.heads > 1 else _SAID["several-heads"]


def no_skip(network: Shape) -> str:
    """No skip connections."""
    return _SAID["no-skip"] if network.skip else ""


def scalings(network: Shape) -> str:
    """A can be scaled against V, if there are no skip connections."""
    return _SAID["scalings"] if network.softmax else ""


def several_tokens(network: Shape) -> str:
    """t ≥ 2."""
    return "" if network.t >= 2 else _SAID["several-tokens"]


def single_layer(network: Shape) -> str:
    """l = 1."""
    return "" if network.layers == 1 else _SAID["single-layer"]


def several_layers(network: Shape) -> str:
    """l ≥ 2."""
    return "" if network.layers > 1 else _SAID["several-layers"]


def one_hidden_width(network: Shape) -> str:
    """All hidden layers have one width."""
    hidden = network.widths[1:-1]
    listed = ", ".join(map(str, hidden))
    return _SAID["one-hidden-width"].format(widths=listed) if len(set(hidden)) > 1 else ""


def narrow(network: Shape) -> str:
    """No hidden layer is wider than the first or the last one."""
    first, *hidden, last = network.widths
    if not hidden or max(hidden) <= min(first, last):
        return ""
    return _SAID["bottleneck"].format(hidden=max(hidden), first=first, last=last)


def ranks_above_one(network: Shape) -> str:
    """All α_k ≥ 2, where α_k = min(a_k, d_{k−1})."""
    ranks = [min(a, d) for a, d in zip(network.a, network.widths, strict=False)]
    if network.layers == 1:
        return "" if ranks[0] > 1 or network.widths[1] > 1 else _SAID["rank-above-one"]
    ones = [k for k, rank in enumerate(ranks, 1) if rank == 1]
    return _SAID["ranks-above-one"].format(layer=ones[0]) if ones else ""


def equal_widths(network: Shape) -> str:
    """One width d ≥ 2 for all layers."""
    if len(set(network.widths)) > 1 or network.widths[0] < 2:
        return _SAID["equal-widths"]
    return ""


def no_hidden_width_one(network: Shape) -> str:
    """d_0, …, d_{l−1} ≥ 2."""
    return _SAID["no-hidden-width-one"] if min(network.widths[:-1]) == 1 else ""


def three_threes(network: Shape) -> str:
    """Widths (3, 3, 3), a_1, a_2 ≥ 2, t ≥ 3."""
    known = network.widths == (3, 3, 3) and min(network.a) >= 2 and network.t >= 3
    return "" if known else _SAID["three-threes"]


def _equation_14(network: Shape) -> int | None:
    return formulas.equation_14(network.widths, network.a)


def _equation_16(network: Shape) -> int | None:
    return formulas.equation_16(network.widths, network.a)


def _skip(network: Shape) -> int:
    return formulas.skip_connections(network.widths[0], network.a, network.t, network.softmax)


def _one_layer_of_heads(network: Shape) -> int:
    d, d_out = network.widths
    return formulas.one_layer_of_heads(d, d_out, network.a[0], network.heads)


def _separate_heads(network: Shape) -> int:
    d, d_out = network.widths
    return formulas.separate_heads(d, d_out, network.a[0], network.heads)


def _deep_heads(network: Shape) -> int:
    return formulas.deep_heads(network.widths[0], network.a, network.heads, network.skip, network.softmax)


COROLLARY_3_8 = stated(
    "3.8",
    "",
    _equation_14,
    together(plain, lightning, several_tokens, one_hidden_width, narrow, ranks_above_one),
    meaning=together(plain, lightning),
)

THEOREM_3_9 = stated("3.9", "", _equation_16, together(plain, softmax, several_tokens, single_layer))

CONJECTURE_3_10 = stated(
    "3.10",
    "",
    _equation_16,
    together(plain, softmax, several_tokens, one_hidden_width, narrow),
    meaning=together(plain, softmax),
)

THEOREM_L = stated(
    "L", "", lambda network: formulas.theorem_l(network.widths, network.a, network.t), together(plain, lightning)
)

THEOREM_S = stated(
    "S", "", lambda network: formulas.theorem_s(network.widths, network.a, network.t), together(plain, softmax)
)

SKIP_CONNECTIONS = stated("skip", "dimension", _skip, together(skip, one_head))

SEPARATE_HEADS = stated(
    "heads",
    "separate heads",
    _separate_heads,
    together(lightning, no_skip, single_layer, several_heads, several_tokens),
)

HEADS = stated(
    "heads", "one layer", _one_layer_of_heads, together(lightning, no_skip, single_layer, several_heads, several_tokens)
)

DEEP_HEADS = stated(
    "heads", "several layers", _deep_heads, together(several_layers, several_heads, several_tokens, equal_widths)
)

DIMENSIONS = (
    COROLLARY_3_8,
    THEOREM_3_9,
    CONJECTURE_3_10,
    THEOREM_L,
    THEOREM_S,
    SKIP_CONNECTIONS,
    SEPARATE_HEADS,
    HEADS,
    DEEP_HEADS,
)
"""The paper's first."""


def _attention_matrices(network: Shape) -> int:
    pairs = zip(network.widths, network.a, strict=False)
    return network.heads * sum(formulas.matrices_of_rank(d, a) for d, a in pairs)


def _virtual_weights(network: Shape) -> int | None:
    return formulas.equation_16(network.widths, network.a)


def _fibre_dimension(network: Shape) -> int:
    n, l = network.widths[0], network.layers
    first = formulas.first_of_rank_one(network.widths, network.a) if network.t > 1 else 0
    return (l - first) * (n * (n - 1) // 2)


def _fibre_degree(network: Shape) -> int:
    widths, a, l = network.widths, network.a, network.layers
    first = formulas.first_of_rank_one(widths, a) if network.t > 1 else 0
    last = min(a[-1], *widths[:-1])
    if min(widths) > 1:
        return 1
    if first == l:
        return 2 if last == 1 else 1
    return 3 if min(2 * last, *widths[:-1]) == 2 else 1


def _virtual_fibre_dimension(network: Shape) -> int:
    widths, a, l = network.widths, network.a, network.layers
    first = formulas.first_of_rank_one(widths, a) if network.t > 1 else 0
    return formulas.virtual_weights(widths, a, l) - formulas.virtual_weights(widths, a, first)


LEMMA_3_1 = stated("3.1", "", _attention_matrices, lambda network: "")

LEMMA_3_5 = stated("3.5", "", _virtual_weights, together(plain, one_hidden_width, narrow), meaning=plain)

PROPOSITION_V = stated(
    "V", "", lambda network: formulas.virtual_weights(network.widths, network.a, network.layers), plain
)

LEMMA_3_6 = stated("3.6", "", lambda network: True, together(plain, lightning))

THEOREM_3_7 = stated(
    "3.7",
    "",
    lambda network: True,
    together(plain, lightning, several_tokens, one_hidden_width, narrow, ranks_above_one),
)

FIBRE_DIMENSION = stated("fibre", "dimension", _fibre_dimension, together(plain, lightning))

FIBRE_DEGREE = stated("fibre", "degree", _fibre_degree, together(plain, lightning, no_hidden_width_one))

VIRTUAL_FIBRE_DIMENSION = stated("fibre", "virtual weights", _virtual_fibre_dimension, together(plain, lightning))

SKIP_SCALINGS = stated("skip", "scalings", lambda network: False, together(skip, one_head, scalings))

SKIP_ONE_TO_ONE = stated("skip", "one-to-one", lambda network: 0, together(skip, one_head, several_tokens))

NOT_CLOSED = stated("closed", "", lambda network: False, together(plain, lightning, three_threes))

WEIGHTS = (
    LEMMA_3_1,
    LEMMA_3_5,
    PROPOSITION_V,
    LEMMA_3_6,
    THEOREM_3_7,
    FIBRE_DIMENSION,
    FIBRE_DEGREE,
    VIRTUAL_FIBRE_DIMENSION,
    SKIP_SCALINGS,
    SKIP_ONE_TO_ONE,
    NOT_CLOSED,
)
"""The paper's in its order, each followed by those of m2bridge."""


STATEMENTS: tuple[GlobalStatement[Shape], ...] = (*WEIGHTS, *DIMENSIONS)

_NAMES = {
    "3.8": "Eq. 14 (Corollary 3.8)",
    "3.9": "Theorem 3.9",
    "3.10": "Eq. 16 (Conjecture 3.10)",
    "L": "Theorem L of m2bridge",
    "S": "Theorem S of m2bridge",
    "skip": "a conjecture of m2bridge on skip connections",
    "heads, separate heads": "the paper's symmetries of heads",
    "heads, one layer": "a conjecture of m2bridge on heads",
    "heads, several layers": "a conjecture of m2bridge on heads",
}


def expectations(network: Shape) -> tuple[Expectation, ...]:
    """The dimension by all statements that apply, and by the paper's formula also where it does not."""
    found = []
    for statement in DIMENSIONS:
        fails = statement.hypotheses(network)
        predicted = statement.predict(network)
        if not fails and isinstance(predicted, int):
            found.append(Expectation(predicted, _name(statement)))
        elif statement is (CONJECTURE_3_10 if network.softmax else COROLLARY_3_8) and network.is_plain:
            formula = formulas.equation_16 if network.softmax else formulas.equation_14
            found.append(Expectation(formula(network.widths, network.a), _name(statement), fails))
    return tuple(found)


def _name(statement: GlobalStatement[Shape]) -> str:
    key = f"{statement.key}, {statement.part}"
    return _NAMES.get(key) or _NAMES[statement.key]
