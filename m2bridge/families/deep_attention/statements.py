"""The statements about deep attention, the paper's and m2bridge's own.

Words, hypotheses and formulas are in ``words.toml``, which the checker and both programs for all
sizes read, too; here are the numbers of a network by their names in formulas. Nothing is computed
from a network but these numbers; a cross-check compares the predictions with what
:mod:`m2bridge.families.deep_attention.observation` computes.

Notation: a network has l layers, widths d_0, …, d_l and t tokens. A head of layer k has a value
matrix V and a d_{k−1} × d_{k−1} attention matrix A_k of rank at most a_k; α_k is its generic rank.
A formula that has no meaning for a network predicts ``None``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from m2bridge.certificates.conditions import CaseNumbers
from m2bridge.certificates.wording import Words, wording
from m2bridge.families.deep_attention.shape import NetworkSizes
from m2bridge.maps.model import Expectation
from m2bridge.statements.statement import GlobalStatement, Value

Stated = GlobalStatement[NetworkSizes]

WORDS = wording(Path(__file__).parent / "words.toml")


def layer_numbers(network: NetworkSizes) -> list[dict[str, int]]:
    """Return the numbers of each layer by their names in formulas."""
    layers = []
    spans, alphas, entering = network.span_dimensions, network.alphas, network.entering_ranks
    earlier_of_rank_one = 0
    for k, (d, dp, a) in enumerate(network.layer_sizes, 1):
        alpha = alphas[k - 1]
        u = spans[k - 1]
        numbers = {
            "k": k,
            "d": d,
            "dp": dp,
            "rank": min(a, d),
            "r": entering[k - 1],
            "alpha": alpha,
            "u": u,
            "s": spans[k],
            "rho": min(2 * alpha, u),
            "p": earlier_of_rank_one,
        }
        layers.append(numbers)
        earlier_of_rank_one += alpha == 1
    return layers


def _hidden(network: NetworkSizes) -> tuple[int, ...]:
    """Return the hidden widths."""
    return network.widths[1:-1]


def _ranks(network: NetworkSizes) -> list[int]:
    """Return min(a_k, d_{k−1}) for each layer k."""
    return [min(d, a) for d, _, a in network.layer_sizes]


NUMBERS: dict[str, Callable[[NetworkSizes], Any]] = {
    "l": attrgetter("layers"),
    "t": attrgetter("t"),
    "H": attrgetter("heads"),
    "softmax": attrgetter("softmax"),
    "skip": attrgetter("skip"),
    "n": lambda network: network.widths[0],
    "e": lambda network: network.widths[-1],
    "m": attrgetter("rank"),
    "greatest": lambda network: max(network.widths),
    "narrow": lambda network: min(_hidden(network), default=0),
    "wide": lambda network: max(_hidden(network), default=0),
    "delta": lambda network: max(_hidden(network), default=0),
    "f": attrgetter("whole_layers"),
    "least_a": lambda network: min(network.a),
    "least_rank": lambda network: min(_ranks(network)),
    "r_l": lambda network: network.entering_ranks[-1],
    "alpha_l": lambda network: network.alphas[-1],
    "layers": layer_numbers,
    # in words of hypotheses that fail
    "widths": lambda network: ", ".join(map(str, _hidden(network))),
    "hidden": lambda network: max(_hidden(network)),
    "first": lambda network: network.widths[0],
    "last": lambda network: network.widths[-1],
    "layer": lambda network: _ranks(network).index(1) + 1,
}
"""The numbers of a network by their names in ``words.toml``; ``layers`` has them for each layer."""


@dataclass(frozen=True, slots=True)
class All:
    """The conjunction of hypotheses, by their names in ``words.toml``."""

    hypotheses: tuple[str, ...]

    def __call__(self, network: NetworkSizes) -> str:
        """Return the first hypothesis that fails, in words; empty if all hold."""
        return next(iter(self.failing(network)), "")

    def failing(self, network: NetworkSizes) -> list[str]:
        """Return the hypotheses that fail, in words with the numbers of the network, in order."""
        return WORDS.failing(self.hypotheses, CaseNumbers(network, NUMBERS))


def failing(statement: Stated, network: NetworkSizes) -> list[str]:
    """Return the hypotheses of a statement that fail for a network, in words; none if all hold."""
    assert isinstance(statement.hypotheses, All)
    return statement.hypotheses.failing(network)


@dataclass(frozen=True, slots=True)
class Predicted:
    """The prediction of a statement; ``None`` for a network where it has no meaning."""

    words: Words

    def __call__(self, network: NetworkSizes) -> Value | None:
        """Return what is predicted of a network; ``None`` where the formula has no meaning."""
        prediction: Value | None = WORDS.predicted(self.words, CaseNumbers(network, NUMBERS))
        return prediction


def _statement(words: Words) -> Stated:
    """Return the statement with these words."""
    fields = WORDS.fields(words.key, words.part)
    return GlobalStatement(**fields, predict=Predicted(words), hypotheses=All(words.assumes))


# The paper's in its order, each followed by the statements that m2bridge adds.
STATEMENTS: tuple[Stated, ...] = tuple(map(_statement, WORDS.statements))
DIMENSIONS = tuple(one for one in STATEMENTS if one.observable == "dimension")


def expectations(network: NetworkSizes) -> tuple[Expectation, ...]:
    """Return the dimension by each statement about it that applies to a network.

    For one head without skip connections the paper's formula (Corollary 3.8, for softmax Conjecture
    3.10) is always among them, with the hypothesis that fails, or without a value. ``assumes`` of
    an expectation has the words for what its formula takes for granted, and what only a computed
    dimension tests: that heads are separate, or that the conjecture is true.
    """
    paper_key = "3.10" if network.softmax else "3.8"
    result = []
    for statement in DIMENSIONS:
        predicted = statement.predict(network)
        assert predicted is None or isinstance(predicted, int)
        # the remarks have names of statements by "key, part", or by the key for all parts
        name = (
            WORDS.remarks.get(f"{statement.key}, {statement.part}") or WORDS.remarks[statement.key]
        )
        assumed = "separate-heads" if statement.part == "separate heads" else "conjecture"
        expectation = Expectation(
            value=predicted,
            statement=name,
            fails=statement.hypotheses(network),
            assumes=WORDS.hypotheses[assumed],
        )
        applies = expectation.value is not None and not expectation.fails
        if applies or (statement.key == paper_key and network.is_plain):
            result.append(expectation)
    return tuple(result)
