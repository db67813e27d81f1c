"""The text about trained weights: what it says in short, two sentences to quote, and the facts.

A ``Fact`` is a pair of a name and a value; it is stated once for all heads or layers that share it.
By default the text has the most important facts; with ``--heads all`` it has all, and JSON always
has all.

``layers`` has, by the number of a layer from 1 on, what is known of this layer alone, and
``behind_norms`` what is known of it with the LayerNorm after it; ``network`` is what is known of
all layers together, or ``None`` if nothing is. ``scope`` is what statements leave out of the model
of the file and add to it, which each of them names before the word *proved*. A head ``is_outside``
if its A has a larger rank than the model allows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from m2bridge.results.known import Bounds
from m2bridge.results.sheet import enumeration, plural
from m2bridge.trained_weights.heads.distances import (
    near_strata,
    near_words,
    nearest_loci,
    nearness,
    sentence_on_acting_ranks,
)
from m2bridge.trained_weights.heads.findings import HeadWeights
from m2bridge.trained_weights.heads.shape import HeadShape
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.symmetries import (
    LayerThenNorm,
    Symmetries,
    finite_symmetries,
    summary_sentence,
)
from m2bridge.trained_weights.scope import Scope

Fact = tuple[str, object]
Item = TypeVar("Item")
GroupKey = TypeVar("GroupKey", bound=Hashable)

MAX_FACTS = 9
"""The largest number of facts below the two sentences, unless all are asked for."""
MAX_NEAR_HEADS = 8
"""The largest number of sentences on heads near a lower rank in the text; JSON has all."""
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


def numbered_sentences(name: str, sentences: Sequence[str]) -> Fact:
    """Return sentences as one fact; several are numbered: ``("remarks", "(1) …; (2) …")``."""
    if len(sentences) == 1:
        return name, sentences[0]
    numbered = [f"({number}) {sentence}" for number, sentence in enumerate(sentences, 1)]
    return f"{name}s", "; ".join(numbered)


def summary(
    heads: Sequence[HeadWeights],
    layers: Mapping[int, NetworkAtWeights],
    network: NetworkAtWeights | None,
    scope: Scope,
) -> str | None:
    """Return the sentence on what the function of all weights determines, which can be quoted.
    ``None`` for one layer of several heads of which nothing is known, and a head that is outside.
    """
    layer_count = len({head.layer for head in heads})
    qualified = f", {scope.words}," if scope.words else ""
    # One head, with nothing but its matrices around it.
    if len(heads) == 1 and (1 not in layers or _is_head_alone(layers[1], heads[0])):
        return _sentence_on_head(heads[0], qualified)
    if layer_count == 1 and 1 in layers:
        subject = f"The layer of {plural(len(heads), 'head')}{qualified}"
        return summary_sentence(subject, layers[1].symmetries)
    if network is not None:
        return summary_sentence(
            f"The network of {layer_count} layers{qualified}", network.symmetries
        )
    if layer_count > 1:
        return f"Nothing is said of the {layer_count} layers together: each is decided alone."
    # One layer of several heads, of which nothing is known.
    return None


def _is_head_alone(layer: NetworkAtWeights, head: HeadWeights) -> bool:
    """Return whether a layer of this one head has nothing in addition to it, such as an output
    bias. Then what is known of the layer is said with the head.
    """
    numbers_of_head = (head.shape.parameters, head.shape.dimension)
    return (layer.parameters, layer.dimension.exact) == numbers_of_head


def _sentence_on_head(head: HeadWeights, qualified: str) -> str | None:
    """Return the sentence on generic weights of the sizes of a single head, by Theorem 3.2, or by
    Theorem S for softmax; or, for a head whose function is zero, on these weights.
    """
    if head.is_outside:
        return None
    if head.is_zero:
        return f"The head has {head.words()}."
    shape = head.shape
    redundant_directions = tuple(shape.redundant())
    # By the theorem the named symmetries of generic weights are all there are, ``complete``, and
    # their dimensions add up: ``listed`` is the sum.
    symmetries = Symmetries(
        parameters=shape.parameters,
        dimension=Bounds.exactly(shape.dimension),
        named=redundant_directions,
        listed=Bounds.exactly(sum(size for _, size in redundant_directions)),
        finite=finite_symmetries([shape]),
        complete=True,
    )
    return summary_sentence(f"The head{qualified}", symmetries)


def in_short(
    heads: Sequence[HeadWeights],
    layers: Mapping[int, NetworkAtWeights],
    network: NetworkAtWeights | None,
    scope: Scope,
    *,
    rotary: bool,
) -> str:
    """Return two sentences in plain words: in how many directions the weights can change without
    effect, and which matrices act like ones of lower rank. The first is left out where the layers
    form no network, or nothing is known of it.
    """
    layer_count = len({head.layer for head in heads})
    whole = layers.get(1) if layer_count == 1 else network
    qualified = f", {scope.words}," if scope.words else ""
    on_ranks = sentence_on_acting_ranks(heads, rotary=rotary)
    if whole is not None:
        parameters, dimension = whole.parameters, whole.dimension
    elif len(heads) == 1 and not heads[0].is_outside:
        shape = heads[0].shape
        parameters, dimension = shape.parameters, Bounds.exactly(shape.dimension)
    else:
        return on_ranks
    subject = f"network of {layer_count} layers"
    if layer_count == 1:
        subject = "head" if len(heads) == 1 else f"layer of {len(heads)} heads"
    sentence = f"The {subject}{qualified} has {parameters} parameters"
    exact = dimension.exact
    if exact == parameters:
        sentence += ", and none of them is redundant"
    elif exact is not None:
        directions = plural(parameters - exact, "direction")
        sentence += (
            f", but only {plural(exact, 'degree')} of freedom: in {directions} its weights can"
            " change, and it computes the same"
        )
    elif dimension.upper is None or dimension.upper == parameters:
        sentence += "; whether some of them are redundant is not decided"
    else:
        directions = plural(parameters - dimension.upper, "direction")
        sentence += (
            f", but at most {plural(dimension.upper, 'degree')} of freedom: in {directions} or more"
            " its weights can change, and it computes the same"
        )
    return f"{sentence}. {on_ranks}"


FACTOR_OF_SCORES = (
    "the rank of the network at these weights is that for the scores KᵀQ: where a model multiplies"
    " them by a factor, such as 1/√a, or outputs by one, multiply it into Q or O before"
)
TIED_EMBEDDINGS = (
    "input and output embeddings are tied: their matrix is not part of the layers, whose tokens are"
    " arbitrary vectors, so that nothing changes of what is said of these"
)


def most_important(by_kind: Mapping[str, Sequence[Fact]]) -> list[Fact]:
    """Return the :data:`MAX_FACTS` most important facts, in the order in which they are said."""
    all_facts: list[Fact] = []
    # For each fact its place among all of its kind, and the place of the kind: the smaller this
    # pair, the more important. So the first fact of each kind comes before the second of any.
    sort_keys: list[tuple[int, int]] = []
    for kind, facts in by_kind.items():
        all_facts += facts
        sort_keys += [(place, _IMPORTANCE.index(kind)) for place in range(len(facts))]
    by_importance = sorted(range(len(all_facts)), key=lambda i: sort_keys[i])
    chosen = sorted(by_importance[:MAX_FACTS])
    return [all_facts[i] for i in chosen]


def facts_by_kind(
    heads: Sequence[HeadWeights],
    layers: Mapping[int, NetworkAtWeights],
    network: NetworkAtWeights | None,
    behind_norms: Mapping[int, LayerThenNorm],
    scope: Scope,
) -> dict[str, list[Fact]]:
    """Return all facts about heads, layers and the network, by their kinds in :data:`_IMPORTANCE`,
    in the order in which they are said.
    """
    by_kind: dict[str, list[Fact]] = {}
    for shape, count in Counter(head.shape for head in heads).items():
        facts = _facts_on_shape(shape, count=count, all_heads=len(heads))
        for kind, name, value in facts:
            by_kind.setdefault(kind, []).append((name, value))
    by_kind["function of heads"] = list(_facts_on_functions(heads))
    by_kind["types"] = list(_facts_on_types(heads))
    by_kind["points"] = list(_facts_on_points(heads))
    near = [head for head in sorted(heads, key=nearness) if near_strata(head)]
    sentences: list[Fact] = [("numerically", near_words(head)) for head in near[:MAX_NEAR_HEADS]]
    if len(near) > MAX_NEAR_HEADS:
        more = f"{plural(len(near) - MAX_NEAR_HEADS, 'head')} more, in JSON"
        sentences.append(("numerically", more))
    by_kind["near a lower rank"] = sentences
    # For softmax, of which no singular functions are known, the loci are of lower ranks.
    loci = "; ".join(locus.words() for locus in nearest_loci(heads))
    by_kind["nearest"] = [("nearest", loci)] if len(heads) > 1 and loci else []
    by_kind |= _facts_on_layers(heads, layers)
    by_words = _grouped(behind_norms, lambda number: behind_norms[number].words())
    by_kind["norms after layers"] = [
        (f"{subject} with its norm", words) for subject, words in _subjects(by_words)
    ]
    return by_kind | _facts_on_network(heads, network, scope)


def _grouped(items: Iterable[Item], key: Callable[[Item], GroupKey]) -> dict[GroupKey, list[Item]]:
    """Return the items of which the same is said together, by what is said."""
    groups: dict[GroupKey, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _subjects(numbers_by_words: Mapping[GroupKey, Sequence[int]]) -> Iterator[tuple[str, GroupKey]]:
    """Yield the subject of a fact on layers with these numbers, and what is said: ``layer 1, 3``;
    or ``a layer``, if these are all layers of which something is said.
    """
    for words, numbers in numbers_by_words.items():
        are_all = len(numbers_by_words) == 1
        yield "a layer" if are_all else f"layer {', '.join(map(str, numbers))}", words


def _facts_on_shape(
    shape: HeadShape, *, count: int, all_heads: int
) -> Iterator[tuple[str, str, object]]:
    """Yield the sizes, dimension and redundant directions of ``count`` heads of one shape: the kind
    of each fact, its name and its value.
    """
    of_heads = of_one = ""
    if all_heads > 1:
        of_heads, of_one = f", {plural(count, 'head')}", " of a head"
    # With an output matrix O, values have v entries before it.
    values = "" if shape.v is None else f", values of dimension {shape.v}"
    yield "sizes", f"(d, d', a){of_heads}", f"({shape.width}, {shape.d_out}, {shape.a}){values}"
    if shape.coordinates:
        without = f"; no bias of {enumeration(shape.without_bias)}" if shape.lacks_biases else ""
        yield "tokens", "tokens", shape.coordinates.words + without
    yield "parameters of heads", f"parameters{of_one}", shape.parameters
    dimension = f"{shape.dimension} of the functions of one head (proved)"
    yield "dimension of heads", "dimension", dimension
    listed = ", ".join(f"{name} ({size})" for name, size in shape.redundant())
    redundant = f"{shape.parameters - shape.dimension}: {listed}"
    yield "redundant directions of heads", "redundant directions", redundant


def _facts_on_functions(heads: Sequence[HeadWeights]) -> Iterator[Fact]:
    """Yield what the functions of heads say about their weights."""
    for words, same_heads in _grouped(heads, lambda head: head.words()).items():
        if len(heads) == 1:
            yield "the function", words
        elif len(same_heads) == 1:
            (head,) = same_heads
            yield f"layer {head.layer}, head {head.head}, alone", words
        else:
            yield f"{plural(len(same_heads), 'head')}, each alone", words


def _facts_on_types(heads: Sequence[HeadWeights]) -> Iterator[Fact]:
    """Yield the types of heads; or, if no head has a type, one fact on why K and Q have none."""
    heads_of_type = Counter(head.types.words() for head in heads if head.types is not None)
    for words, count in heads_of_type.most_common():
        of_heads = "" if len(heads) == 1 else f", {plural(count, 'head')}"
        yield f"stationary type{of_heads}", words
    # The reason is about K and Q: where A is given there is no type, with biases or without.
    if not heads_of_type and any(head.shape.factored for head in heads):
        yield (
            "stationary type",
            "not determined: the theorem on where training stops is about layers without biases and"
            " norms (--biases ignore --norm-before none)",
        )


def _facts_on_points(heads: Sequence[HeadWeights]) -> Iterator[Fact]:
    """Yield one fact on the kinds of points of the Zariski closure that the functions of several
    heads are, as ``smooth: 11 heads; singular: head 2.1``.

    Nothing is yielded for softmax attention, of which no singular points are known, and for a
    single head, whose kind of point is in the table of exact ranks.
    """
    if len(heads) == 1 or heads[0].shape.softmax:
        return
    heads_by_point = _grouped(heads, lambda head: head.point)
    clauses = []
    for kind_of_point, same_heads in heads_by_point.items():
        which = plural(len(same_heads), "head")
        # A few heads that differ from others are named, and not only counted.
        if len(heads_by_point) > 1 and len(same_heads) <= 3:
            names = ", ".join(f"{head.layer}.{head.head}" for head in same_heads)
            which = f"{'head' if len(same_heads) == 1 else 'heads'} {names}"
        clauses.append(f"{kind_of_point}: {which}")
    yield "points of the closure", "; ".join(clauses)


def _facts_on_layers(
    heads: Sequence[HeadWeights], layers: Mapping[int, NetworkAtWeights]
) -> dict[str, list[Fact]]:
    """Return facts of two kinds: what the functions of layers determine, and their symmetries. A
    layer of one head that has nothing but this head is left out: the head says all.
    """
    numbers = []
    for number, head_count in Counter(head.layer for head in heads).items():
        # The first head of the layer.
        head = next(head for head in heads if head.layer == number)
        is_alone = number not in layers or _is_head_alone(layers[number], head)
        if head_count > 1 or not is_alone:
            numbers.append(number)

    def words(number: int) -> tuple[str, str]:
        if number not in layers:
            return "its function need not determine the functions of its heads", ""
        symmetries = layers[number].symmetries
        return symmetries.words(), symmetries.names

    functions: list[Fact] = []
    symmetries: list[Fact] = []
    for subject, (function, names) in _subjects(_grouped(numbers, words)):
        functions.append((subject, function))
        if names:
            symmetries.append((f"symmetries of {subject}", names))
    return {"layers": functions, "symmetries of layers": symmetries}


def _facts_on_network(
    heads: Sequence[HeadWeights], network: NetworkAtWeights | None, scope: Scope
) -> dict[str, list[Fact]]:
    """Return the facts on the network by their kinds. What its function determines, or that this is
    not known, is said of several layers only: of one layer :func:`_facts_on_layers` says it.
    """
    by_kind: dict[str, list[Fact]] = {}
    if len({head.layer for head in heads}) > 1:
        words, names = "its function need not determine the functions of its layers", ""
        if network is not None:
            words, names = network.symmetries.words(), network.symmetries.names
        by_kind["network"] = [("the network", words)]
        by_kind["symmetries"] = [("symmetries of the network", names)] if names else []
    if network is None:
        return by_kind
    for name, value in network.facts(scope.words):
        # A fact with the value ``None`` says nothing, and is left out.
        if value is not None:
            # A fact is of the kind with its name; but the kind "network" is what the function
            # determines, and the fact with this name, the title of the model, is another kind.
            kind = "model" if name == "network" else name
            by_kind[kind] = [(name, value)]
    return by_kind
