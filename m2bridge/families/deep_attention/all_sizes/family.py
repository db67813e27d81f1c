"""Deep attention for all sizes: predictions are compared with what is counted, layer by layer.

What is counted, and why it is the dimension, stands in ``layers.py`` (docs/deep-attention.md,
"For all sizes"). Where a prediction differs, the smallest network that shows it is the
counterexample; its dimension is computed by ranks, and not counted. ``counts`` names the dimension,
a key of ``layers.LAYERS``, that a prediction, a formula as a sum over layers, is about.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any, ClassVar, Unpack

from m2bridge.crosscheck.scope import VerdictScope
from m2bridge.crosscheck.verdict import Verdict
from m2bridge.engine import RunOptions, computation
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.all_sizes import (
    AllSizesCase,
    AllSizesFamily,
    AllSizesResult,
    split_by_all_sizes_form,
)
from m2bridge.families.base import AnswerRow
from m2bridge.families.deep_attention.all_sizes import layers
from m2bridge.families.deep_attention.all_sizes.layers import (
    END,
    LAYER,
    WORDS,
    DimensionFormula,
    contributions,
    span_dimension,
    sum_contributions,
)
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.observation import observe
from m2bridge.families.deep_attention.statements import STATEMENTS, Stated, failing
from m2bridge.limits import check_deadline_in, clock, performed_within_limit
from m2bridge.results.base import Decision
from m2bridge.statements.statement import Value, check_statements

# A network for which a formula is not the dimension: ``network`` is its key, ``computed`` the
# dimension by ranks, ``stated`` that by the formula. Where a statement does not apply,
# ``hypothesis`` is the hypothesis that fails.
Example = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AmongNetworks(VerdictScope):
    """Whether a statement holds for all networks that it is about: CONFIRMED, REFUTED by a network,
    or UNDECIDED if its formula is not shown to be what is counted, and no small network differs.
    """

    in_parts: ClassVar[bool] = False

    decision: Decision = Decision.CONFIRMED
    # the smallest network to which the statement applies, and for which it is false
    witness: Example | None = None
    # networks to which it does not apply, and where its formula is not the dimension: for each
    # hypothesis the first one that only this hypothesis excludes
    outside: tuple[Example, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """Return for a certificate the counterexample or ``None``, and the examples ``outside``."""
        return {"counterexample": self.witness, "outside": list(self.outside)}

    def to_json(self) -> dict[str, Any]:
        """Return for ``json.dumps`` what a certificate has: :meth:`to_data`."""
        return self.to_data()

    def reasons(self) -> list[str]:
        """Return in words whether it holds, where it does not apply, and its counterexample."""
        lines = reasons({"verdict": self.decision, "outside": self.outside})
        if self.witness is not None:
            lines.append(f"the first counterexample: {example_text(self.witness)}")
        return lines


@dataclass(frozen=True, slots=True, repr=False)
class DeepAttentionAllSizes(AllSizesResult):
    """Verdicts for all sizes, and the data on which they rely.

    Parameters
    ----------
    identities : tuple of str
        The identities of polynomials that hold in every layer.
    blocks : tuple of BlockRank

    Examples
    --------
    >>> found = cross_check_deep_attention()
    >>> [verdict.name for verdict in found.verdicts if verdict.decision != "CONFIRMED"]
    []
    """

    subject: ClassVar[str] = "deep attention"
    scope: ClassVar[str] = (
        "all widths and ranks, any number of layers, and all t ≥ 1, in characteristic 0"
    )

    identities: tuple[str, ...]
    blocks: tuple[layers.BlockRank, ...]

    def evidence(self) -> dict[str, Any]:
        """Return the identities and ranks, for ``json.dumps``."""
        return {"identities": list(self.identities), "blocks": list(self.blocks)}

    @property
    def methods(self) -> str:
        """The libraries for integer sets and for linear algebra."""
        return "integer sets (isl) and exact linear algebra (FLINT)"

    def facts(self) -> list[tuple[str, str]]:
        """Return the names of the identities, and the number of blocks."""
        identities = f"of one layer: {', '.join(self.identities)}"
        blocks = f"all {len(self.blocks)} blocks of at most 3 layers (softmax: 2)"
        return [("identities", identities), ("ranks", f"{blocks} have their least kernel")]


def reasons(data: dict[str, Any]) -> list[str]:
    """Return in words why a verdict of a certificate is confirmed, and where it does not apply."""
    lines = []
    if data["verdict"] == "CONFIRMED":
        lines.append("true for all networks to which it applies")
    for example in data["outside"]:
        clause = f"there it would be false, first for {example_text(example)}"
        lines.append(f"does not apply: {example['hypothesis']}; {clause}")
    return lines


def example_text(example: Example | None) -> str:
    """Return an example in words; empty if there is none."""
    if example is None:
        return ""
    return f"{example['network']}: computed {example['computed']}, stated {example['stated']}"


# The statement that is an identity of one layer, and no dimension.
NORMAL_FORM = "3.6"


def decide(statement: Stated, prediction: DimensionFormula) -> Verdict:
    """Return the verdict on a statement about a dimension, for all sizes."""
    if counts_alike(prediction):
        check_assumed(statement, prediction)
        return verdict(statement, prediction.counts, outside=_outside(statement, prediction))
    # isl may have missed that two functions are the same: only an example refutes.
    example = _counterexample(statement, prediction)
    decision = Decision.UNDECIDED if example is None else Decision.REFUTED
    return verdict(statement, prediction.counts, decision=decision, witness=example)


def verdict(statement: Stated, observable: str, **extent: Any) -> Verdict:
    """Return a verdict with words and lemmas for an observable, and the fields of AmongNetworks."""
    return Verdict(
        statement=statement,
        extent=AmongNetworks(**extent),
        computed=WORDS.computed[observable],
        trusted=WORDS.trusted[observable],
    )


def counts_alike(prediction: DimensionFormula) -> bool:
    """Return whether M and every layer contribute as much to the prediction as to the dimension,
    where its assumptions hold, so that both sums are the same for all networks.

    Its dimensions s_k, if it defines them, must be the ones of ``layers``. ``False`` may also mean
    that isl does not see that two functions are the same.
    """
    end, layer = contributions(prediction.counts)
    assumed_of_end = END.where(prediction.end_assumed)
    assumed_of_layers = LAYER.where(prediction.layer_assumed)
    if not END.function(prediction.end).equals(end, assumed_of_end):
        return False
    if not LAYER.function(prediction.layer).equals(layer, assumed_of_layers):
        return False
    if not prediction.spans:
        return True
    after_the_first = LAYER.where("k >= 2")
    return LAYER.function(prediction.spans).equals(span_dimension(), after_the_first)


def check_assumed(statement: Stated, prediction: DimensionFormula) -> None:
    """Check in small networks that a prediction assumes no more than the statement's hypotheses."""
    # These functions are zero, and defined only where the assumptions hold.
    end = END.function([(prediction.end_assumed, "0")])
    layer = LAYER.function([(prediction.layer_assumed, "0")])
    for network in _admitted(statement, prediction):
        try:
            # an error if the network's variables are not in the domain of these functions
            sum_contributions(network, end, layer)
        except ContradictionError:
            message = f"more is assumed than {statement.key} says"
            raise ContradictionError(f"{message}: it is about {network.title}") from None


@cache
def small_networks(normalization: str) -> tuple[DeepAttention, ...]:
    """Return the plain networks of up to three layers, with widths and ranks up to 3, the smallest
    sum of numbers first: some thousands, among which counterexamples are searched.
    """
    numbers = (1, 2, 3)
    networks = []
    for count in (1, 2, 3):
        all_widths = product(numbers, repeat=count + 1)
        ranks = product(numbers, repeat=count)
        # Dimensions depend on t only by whether it is 1.
        for widths, a, t in product(all_widths, ranks, (1, 2)):
            networks.append(DeepAttention(widths, a, t, normalization=normalization))
    return tuple(sorted(networks, key=_size))


def _size(network: DeepAttention) -> tuple[Any, ...]:
    """Return a sorting key: the sum of a network's numbers, and then the numbers."""
    widths, a, t = network.widths, network.a, network.t
    return sum(widths) + sum(a) + t, network.layers, widths, a, t


def _networks(prediction: DimensionFormula) -> Iterator[DeepAttention]:
    """Return an iterator over the small networks that a prediction is about."""
    normalization = "softmax" if prediction.counts == "softmax" else "none"
    return check_deadline_in(small_networks(normalization))


def _admitted(statement: Stated, prediction: DimensionFormula) -> Iterator[DeepAttention]:
    """Yield the small networks that a prediction is about, of which no hypothesis fails."""
    for network in _networks(prediction):
        failing_hypothesis = statement.hypotheses(network)  # in words; empty if all hold
        if not failing_hypothesis:
            yield network


def known_dimension(network: DeepAttention, counts: str) -> int:
    """Return the dimension of a network as it is counted: a sum over its end and its layers."""
    end, layer = contributions(counts)
    return sum_contributions(network, end, layer)


def _counterexample(statement: Stated, prediction: DimensionFormula) -> Example | None:
    """Return the first small network that refutes a statement, or ``None``."""
    end = END.function(prediction.end)
    layer = LAYER.function(prediction.layer)
    for network in _admitted(statement, prediction):
        example = _example(
            network, prediction.counts, stated=sum_contributions(network, end, layer)
        )
        if example is not None:
            return example
    return None


def _outside(statement: Stated, prediction: DimensionFormula) -> tuple[Example, ...]:
    """Return for each hypothesis the first small network which shows that it is needed."""
    examples: dict[str, Example] = {}
    for network in _networks(prediction):
        failing_hypotheses = failing(statement, network)
        if len(failing_hypotheses) != 1:
            continue
        (hypothesis,) = failing_hypotheses
        # After the semicolon are the numbers of this network.
        without_numbers = hypothesis.partition(";")[0]
        if without_numbers in examples:
            continue
        example = _example(network, prediction.counts, stated=statement.predict(network))
        if example is not None:
            examples[without_numbers] = Example(hypothesis=hypothesis, **example)
    return tuple(examples.values())


def _example(network: DeepAttention, counts: str, stated: Value | None) -> Example | None:
    """Return a network as an example that a stated dimension is wrong; ``None`` if it is not.

    An example is not believed on the count alone: ContradictionError if ranks give another
    dimension, MethodUnavailableError if they do not decide it.
    """
    if stated is None:
        return None
    counted_dimension = known_dimension(network, counts)
    if stated == counted_dimension:
        return None
    observable = "virtual_weights" if counts == "virtual_weights" else "dimension"
    finding = observe(network, observable)
    if finding.exact_value is None:
        raise MethodUnavailableError(f"the dimension of {network.title}: {finding.method}")
    if finding.exact_value != counted_dimension:
        by_ranks = f"{network.title}: {finding.exact_value} by ranks"
        raise ContradictionError(f"{by_ranks}, {counted_dimension} counted layer by layer")
    return Example(network=network.key, computed=counted_dimension, stated=stated)


_KEYS = (*layers.PREDICTIONS, NORMAL_FORM)
# The statements that have a form for all sizes.
STATED = tuple(statement for statement in STATEMENTS if statement.key in _KEYS)


@computation
def cross_check_deep_attention(
    statements: Sequence[Stated] = (), **options: Unpack[RunOptions]
) -> DeepAttentionAllSizes:
    """Decide statements for all widths, ranks, numbers of layers and t, assuming none of them.

    Parameters
    ----------
    statements : sequence of GlobalStatement
        All when left out; those that are not stated for all sizes are named.
    engine : Engine, optional
        Not needed.
    timeout : float, optional
        A limit in seconds. The verdicts that were found before it are returned, and the result says
        so in ``unfinished``.

    Raises
    ------
    TimeLimitError
        If the limit is reached before the first verdict.
    MethodUnavailableError
        If none of them is stated for all sizes.
    ContradictionError
        If an identity does not hold, or independent computations disagree.

    Examples
    --------
    >>> found = cross_check_deep_attention()
    >>> {str(verdict.decision) for verdict in found.verdicts}
    {'CONFIRMED'}
    """
    check_statements(statements)
    own_statements, not_stated = split_by_all_sizes_form(
        statements or STATEMENTS, STATED.__contains__
    )
    identities = layers.layer_identities()
    failing_identities = [name for name, holds in identities.items() if not holds]
    if failing_identities:
        raise ContradictionError(
            f"the identity of a layer does not hold: {', '.join(failing_identities)}"
        )
    blocks = layers.block_ranks()
    tasks = ((statement.key, partial(_verdict, statement)) for statement in own_statements)
    verdicts, unfinished = performed_within_limit(tasks)
    return DeepAttentionAllSizes(
        identities=tuple(identities),
        blocks=blocks,
        verdicts=verdicts,
        seconds=clock().seconds,
        not_stated=not_stated,
        unfinished=unfinished,
    )


def _verdict(statement: Stated) -> Verdict:
    """Decide a statement that has a form for all sizes."""
    if statement.key == NORMAL_FORM:
        # one of the identities of a layer, which all hold
        return verdict(statement, "normal_form")
    return decide(statement, layers.PREDICTIONS[statement.key])


# With one head and without skip connections.
EVERY_NETWORK = AllSizesCase(
    "deep-attention-all-sizes",
    "deep attention for all widths and ranks, any number of layers, and all t ≥ 1",
)


class DeepAttentionOfAllSizes(AllSizesFamily):
    """The family with the one case EVERY_NETWORK."""

    __slots__ = ()

    case = EVERY_NETWORK
    title = "deep attention for all sizes"
    prefix = "deep-attention-"

    def stated(self) -> tuple[Stated, ...]:
        """Return the statements with a form for all sizes: on dimensions and the normal form."""
        return STATED

    def decided(self) -> DeepAttentionAllSizes:
        """Decide all statements that have a form for all sizes."""
        return cross_check_deep_attention()

    def row(self, key: str, verdict: dict[str, Any]) -> AnswerRow:
        """Return the table row of one verdict in a certificate; ValueError if a counterexample is
        there and the verdict is not REFUTED, or the other way round.
        """
        # empty without a counterexample
        witness = example_text(verdict["counterexample"])
        has_counterexample = witness != ""
        is_refuted = verdict["verdict"] == "REFUTED"
        if is_refuted != has_counterexample:
            raise ValueError(
                f"the verdict {verdict['verdict']} does not follow from the counterexample"
            )
        return AnswerRow(
            name=key,
            text=verdict["text"],
            verdict=verdict["verdict"],
            reason="; ".join(reasons(verdict)),
            witness=witness,
            source=verdict["source"],
        )


FAMILY = DeepAttentionOfAllSizes()
