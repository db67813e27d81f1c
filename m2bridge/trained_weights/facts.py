"""The text about trained weights: two sentences that can be quoted, and the facts behind them.

A fact is stated once for all heads or layers that share it. By default the text has the most
important facts; with ``--heads all`` it has all, and JSON always has all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Sized

from m2bridge.results.known import Bounds
from m2bridge.results.sheet import plural
from m2bridge.trained_weights.heads.distances import near_strata, near_words, nearest_loci, nearness
from m2bridge.trained_weights.heads.findings import HeadWeights
from m2bridge.trained_weights.heads.ranks import HeadShape
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.groups import Symmetries, summary_sentence
from m2bridge.trained_weights.networks.symmetries import LayerThenNorm, finite_symmetries

Fact = tuple[str, object]
"""A name and a value."""

MAX_FACTS = 9
"""Facts between the two sentences and the line on how they were computed, unless all are asked for.
"""
MAX_NEAR_HEADS = 8
"""Heads near a lower rank of which a sentence is written; all of them are in JSON."""
MAX_NAMED_HEADS = 3
"""Heads with one kind of point that are named and not only counted."""
_IMPORTANCE = (
    "unfinished",
    "dimension",
    "regular point",
    "network",
    "left out",
    "function of heads",
    "types",
    "remarks",
    "symmetries",
    "near a lower rank",
    "parameters",
    "points",
    "layers",
    "symmetries of layers",
    "sizes",
    "model",
    "tokens",
    "dimension of heads",
    "nearest",
    "norms after layers",
    "redundant directions",
    "parameters of heads",
    "redundant directions of heads",
    "gauge group",
)
"""Kinds of facts, the most important ones first."""


def summary(
    heads: Sequence[HeadWeights],
    layers: Mapping[int, NetworkAtWeights],
    network: NetworkAtWeights | None,
) -> str | None:
    """Return the sentence on what the function of all weights determines, which can be quoted.

    ``None`` where nothing is said of them together.
    """
    number = len({head.layer for head in heads})
    if len(heads) == 1 and (1 not in layers or _adds_nothing(layers[1], heads[0])):
        return _sentence_on_head(heads[0])
    if number == 1 and 1 in layers:
        what = f"The layer of {plural(len(heads), 'head')}"
        return summary_sentence(what, layers[1].symmetries)
    if network is not None:
        return summary_sentence(f"The network of {number} layers", network.symmetries)
    if number > 1:
        return f"Nothing is said of the {number} layers together: each is decided alone."
    return None


def _adds_nothing(layer: NetworkAtWeights, head: HeadWeights) -> bool:
    """Whether a layer with one head is the head alone, of which everything is said already."""
    as_head = (head.shape.parameters, head.shape.dimension)
    return (layer.parameters, layer.dimension.exact) == as_head


def _sentence_on_head(head: HeadWeights) -> str | None:
    """The sentence on a single head, by Theorem 3.2 or Theorem S."""
    if head.is_outside:
        return None
    if head.is_zero:
        return f"The head has {head.words()}."
    shape = head.shape
    named = tuple(shape.redundant())
    finite = finite_symmetries([shape])
    symmetries = Symmetries(
        parameters=shape.parameters,
        dimension=Bounds.exactly(shape.dimension),
        named=named,
        listed=Bounds.exactly(sum(size for _, size in named)),
        finite=finite,
        complete=True,
    )
    return summary_sentence("The head", symmetries)


_OUTSIDE = "before and after the layers, whose tokens are arbitrary vectors"
_BETWEEN = "each layer determines the same without them, and several layers are taken without them"
_NO_WEIGHTS = "no weights of the model"
_NOT_IN_MODEL = "not in the model of a layer"
_WHY_LEFT_OUT = {
    "embeddings": _OUTSIDE,
    "heads of the model": _OUTSIDE,
    "MLPs": _BETWEEN,
    "norms": _BETWEEN,
    "attention to other tokens": _BETWEEN,
    "models of images or sounds": "another model",
    "masks": _NO_WEIGHTS,
    "states of libraries": _NO_WEIGHTS,
    "states of an optimizer": _NO_WEIGHTS,
    "averages of the weights": _NO_WEIGHTS,
}
"""Why arrays of a kind that is left out change nothing of what is said of layers."""
FACTOR_OF_SCORES = (
    "the rank of the network at these weights is that for the scores KᵀQ: where a model multiplies"
    " them by a factor, such as 1/√a, or outputs by one, multiply it into Q or O before"
)
TIED_EMBEDDINGS = (
    "the embeddings are the matrix of the outputs, too (tied): it is not part of the layers, whose"
    " tokens are arbitrary vectors, so that nothing changes of what is said of these"
)


def left_out_words(kinds: Sequence[str]) -> str:
    """Return the kinds of arrays that are left out, such as ``MLPs (3)``, each with its reason."""
    by_reason: dict[str, list[str]] = {}
    for kind in kinds:
        name, _, _ = kind.rpartition(" (")
        by_reason.setdefault(_WHY_LEFT_OUT.get(name, _NOT_IN_MODEL), []).append(kind)
    return "; ".join(f"{', '.join(alike)}: {why}" for why, alike in by_reason.items())


def most_important(by_kind: Mapping[str, Sequence[Fact]]) -> list[Fact]:
    """Return the most important facts, in the order of all."""
    listed: list[Fact] = []
    order: list[tuple[int, int]] = []
    for kind, own in by_kind.items():
        listed += own
        # The first fact of each kind is more important than the second one of any.
        order += [(place, _IMPORTANCE.index(kind)) for place in range(len(own))]
    chosen = sorted(range(len(listed)), key=lambda i: order[i])[:MAX_FACTS]
    return [listed[i] for i in sorted(chosen)]


def facts_by_kind(
    heads: Sequence[HeadWeights],
    layers: Mapping[int, NetworkAtWeights],
    network: NetworkAtWeights | None,
    behind_norms: Mapping[int, LayerThenNorm],
) -> dict[str, list[Fact]]:
    """Return all facts about heads, layers and the network, in the order in which they are said."""
    by_kind: dict[str, list[Fact]] = {}
    for shape, number in Counter(head.shape for head in heads).items():
        for kind, name, value in _on_shape(shape, number, len(heads)):
            by_kind.setdefault(kind, []).append((name, value))
    by_kind["function of heads"] = list(_on_functions(heads))
    by_kind["types"] = list(_on_types(heads))
    by_kind["points"] = list(_on_points(heads))
    by_kind["near a lower rank"] = list(_on_near_heads(heads))
    by_kind["nearest"] = list(_on_nearest_heads(heads))
    by_kind |= _on_layers(heads, layers)
    by_kind["norms after layers"] = list(_on_norms(behind_norms))
    return by_kind | _on_network(heads, network)


def _on_shape(shape: HeadShape, number: int, heads: int) -> Iterator[tuple[str, str, object]]:
    """Kind, name and value: sizes, dimension and redundant directions of heads that are alike."""
    of, each = ("", "") if heads == 1 else (f", {plural(number, 'head')}", " of a head")
    values = "" if shape.v is None else f", values of dimension {shape.v}"
    yield "sizes", f"(d, d', a){of}", f"({shape.width}, {shape.d_out}, {shape.a}){values}"
    if shape.coordinates:
        yield "tokens", "tokens", shape.coordinates.words
    yield "parameters of heads", f"parameters{each}", shape.parameters
    dimension = f"{shape.dimension} of the functions of one head (proved)"
    yield "dimension of heads", "dimension", dimension
    listed = ", ".join(f"{name} ({size})" for name, size in shape.redundant())
    redundant = f"{shape.parameters - shape.dimension}: {listed}"
    yield "redundant directions of heads", "redundant directions", redundant


def _on_functions(heads: Sequence[HeadWeights]) -> Iterator[Fact]:
    """What functions of heads say about their weights, once for heads of which it is the same."""
    said: dict[str, list[HeadWeights]] = {}
    for head in heads:
        said.setdefault(head.words(), []).append(head)
    for words, alike in said.items():
        if len(heads) == 1:
            yield "the function", words
        elif len(alike) == 1:
            yield f"layer {alike[0].layer}, head {alike[0].head}, alone", words
        else:
            yield f"{plural(len(alike), 'head')}, each alone", words


def _on_types(heads: Sequence[HeadWeights]) -> Iterator[Fact]:
    """The types of heads, one line for all that have the same, or why there are none."""
    said = Counter(head.types.words() for head in heads if head.types is not None)
    for words, number in said.most_common():
        of = "" if len(heads) == 1 else f", {plural(number, 'head')}"
        yield f"type{of}", words
    if not said and any(head.shape.factored for head in heads):
        yield (
            "type",
            "none: the theorem on where training stops is about layers without biases and norms"
            " (--biases ignore --norm none)",
        )


def _on_points(heads: Sequence[HeadWeights]) -> Iterator[Fact]:
    """What kinds of points the functions of several heads are; few ones by their heads.

    Of softmax attention no singular points are known, and of a single head a table says it.
    """
    if len(heads) == 1 or heads[0].shape.softmax:
        return
    by_point: dict[str, list[HeadWeights]] = {}
    for head in heads:
        by_point.setdefault(head.point, []).append(head)
    parts = []
    for point, alike in by_point.items():
        which = plural(len(alike), "head")
        if len(by_point) > 1 and len(alike) <= MAX_NAMED_HEADS:
            names = ", ".join(f"{head.layer}.{head.head}" for head in alike)
            which = f"{'head' if len(alike) == 1 else 'heads'} {names}"
        parts.append(f"{point}: {which}")
    yield "points of the closure", "; ".join(parts)


def _on_near_heads(heads: Sequence[HeadWeights]) -> Iterator[Fact]:
    """The sentences on heads near a lower rank, the nearest ones first."""
    near = [head for head in sorted(heads, key=nearness) if near_strata(head)]
    for head in near[:MAX_NEAR_HEADS]:
        yield "numerically", near_words(head)
    if len(near) > MAX_NEAR_HEADS:
        yield "numerically", f"{plural(len(near) - MAX_NEAR_HEADS, 'head')} more, in JSON"


def _on_nearest_heads(heads: Sequence[HeadWeights]) -> Iterator[Fact]:
    """Which of several heads is nearest to which part of the singular locus."""
    loci = "; ".join(locus.words() for locus in nearest_loci(heads))
    if len(heads) > 1 and loci:
        yield "nearest", loci


def _on_layers(
    heads: Sequence[HeadWeights], layers: Mapping[int, NetworkAtWeights]
) -> dict[str, list[Fact]]:
    """What is said of layers of several heads, and their symmetries, once for layers alike."""
    said: dict[tuple[str, str], list[int]] = {}
    for number, count in Counter(head.layer for head in heads).items():
        found = layers.get(number)
        first = next(head for head in heads if head.layer == number)
        if count == 1 and (found is None or _adds_nothing(found, first)):
            continue
        words, names = "its function need not determine those of its heads", ""
        if found is not None:
            words, names = found.symmetries.words(), found.symmetries.names
        said.setdefault((words, names), []).append(number)
    of_layers: list[Fact] = []
    symmetries: list[Fact] = []
    for (words, names), alike in said.items():
        which = _which(alike, said)
        of_layers.append((which, words))
        if names:
            symmetries.append((f"symmetries of {which}", names))
    return {"layers": of_layers, "symmetries of layers": symmetries}


def _on_norms(behind: Mapping[int, LayerThenNorm]) -> Iterator[Fact]:
    """What is said of layers with the LayerNorm after them, once for those that are alike."""
    said: dict[str, list[int]] = {}
    for number, found in behind.items():
        said.setdefault(found.words(), []).append(number)
    for words, alike in said.items():
        yield f"{_which(alike, said)} with its norm", words


def _which(alike: Sequence[int], said: Sized) -> str:
    """The layers of which the same is said, by their numbers unless one thing is said of all."""
    return "a layer" if len(said) == 1 else f"layer {', '.join(map(str, alike))}"


def _on_network(
    heads: Sequence[HeadWeights], network: NetworkAtWeights | None
) -> dict[str, list[Fact]]:
    """What is said of the network, by kinds; of one layer it is what its functions determine."""
    by_kind: dict[str, list[Fact]] = {}
    if len({head.layer for head in heads}) > 1:
        words, names = "its function need not determine those of its layers", ""
        if network is not None:
            words, names = network.symmetries.words(), network.symmetries.names
        by_kind["network"] = [("the network", words)]
        by_kind["symmetries"] = [("symmetries of the network", names)] if names else []
    for name, value in network.facts() if network else ():
        if value is not None:
            by_kind["model" if name == "network" else name] = [(name, value)]
    return by_kind
