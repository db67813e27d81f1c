"""The verdict on trained weights: ranks, orbits, fibres and singular points, exactly; distances,
numerically.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import zip_longest
from math import pi
from pathlib import Path
from typing import Any

from m2bridge.errors import InvalidCaseError
from m2bridge.limits import limited
from m2bridge.maps.jacobian_rank import FROM_TWO_TOKENS
from m2bridge.results.base import Result, result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.picture import PictureResult
from m2bridge.results.sheet import (
    Facts,
    Sheet,
    Table,
    duration,
    plural,
    quoted,
    value_text,
    visible,
)
from m2bridge.trained_weights.checkpoints.accounting import (
    ArrayUse,
    StoredOptions,
    array_uses,
    left_out,
)
from m2bridge.trained_weights.checkpoints.configuration import configuration, has_rotary_positions
from m2bridge.trained_weights.checkpoints.files import Tensor, tensors
from m2bridge.trained_weights.checkpoints.find_layers import find_layers, is_understood
from m2bridge.trained_weights.checkpoints.model_choice import ModelChoice
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.heads.distances import (
    chosen_heads,
    distance_names,
    distance_text,
    distances,
    near_strata,
    near_words,
    nearest_loci,
    nearness,
    spectrum,
)
from m2bridge.trained_weights.heads.findings import HeadWeights
from m2bridge.trained_weights.heads.pruning import (
    LowRankChange,
    rows_of_changes,
    sentence_on_lower_ranks,
)
from m2bridge.trained_weights.networks.groups import Symmetries, summary_sentence
from m2bridge.trained_weights.networks.layers import (
    AnalysedHeads,
    find_behind_norms,
    find_heads,
    find_network,
    find_remarks,
    find_symmetries,
)
from m2bridge.trained_weights.networks.symmetries import AnalysisOptions
from m2bridge.trained_weights.picture import weights_figure

MOST_VALUES = 12
"""Singular values of a single head that are written."""
MOST_HEADS = 24
"""Heads that have a line in tables without being asked for."""
MOST_SENTENCES = 8
"""Heads near a lower rank of which a sentence is written; all of them are in JSON."""


@dataclass(frozen=True, slots=True)
class Weights(PictureResult):
    """The findings from weights about functions, for each head of each layer, and of the network as
    a whole.

    Attributes
    ----------
    source : str
        The file, or empty.
    heads : tuple of HeadWeights
        With ``layer``, ``head``, ``orbit``, ``singular``, ``boundary``, ``regular``, ``words()``
        and ``numerical``.
    network : NetworkAtWeights or None
        ``None`` for one head, and where the layers do not follow one another.
    left_out : tuple of str
        What the file has besides, which is not in the model.
    remarks : tuple of str
    seconds : float
    unfinished : str
        The limit that was reached, or empty.
    symmetries : dict
        Of each layer with several heads: the redundant directions, and whether the listed
        symmetries have as many.
    behind_norms : dict
        Of each layer with a LayerNorm after it, as far as it is known: the dimension of both
        together, and what the norm hides.
    sort : str
        ``layer`` or ``distance``: the order of the heads in tables.
    worst : int or None
        As many of the heads nearest to the singular locus are in tables.
    choice : ModelChoice or None
        The model that the weights are taken for; ``None`` for matrices that were given.
    rank : int or None
        The rank to which distances and changes of all heads are in a table.
    all_heads : bool
        Whether tables have all heads, however many there are.
    arrays : tuple of ArrayUse
        What each array of the file is used for, or why it is left out.
    list_arrays : bool
        Whether a table says it.

    Examples
    --------
    >>> found = weights(K=[[1, 0, 2]], Q=[[0, 1, 1]], V=[[1, 1, 0], [2, 2, 0]])
    >>> head = found.heads[0]
    >>> head.orbit, head.singular, head.shape.dimension
    (Orbit(r=1, s=1, m=0), True, 10)
    """

    source: str
    heads: tuple[HeadWeights, ...]
    network: Any
    left_out: tuple[str, ...]
    remarks: tuple[str, ...]
    seconds: float
    unfinished: str = ""
    symmetries: Mapping[int, Any] = field(default_factory=dict)
    behind_norms: Mapping[int, Any] = field(default_factory=dict)
    sort: str = "layer"
    worst: int | None = None
    choice: ModelChoice | None = None
    rank: int | None = None
    all_heads: bool = False
    arrays: tuple[ArrayUse, ...] = ()
    list_arrays: bool = False

    @property
    def listed(self) -> tuple[HeadWeights, ...]:
        """The heads in tables, in their order."""
        return chosen_heads(self.heads, self.sort, self.worst)

    def to_sheet(self) -> Sheet:
        """The exact part, then the numerical one; a line for each head."""
        normalized = "softmax" if self.heads[0].shape.softmax else "lightning"
        source = f" in {visible(self.source)}" if self.source else ""
        title = f"Weights of {normalized} self-attention{source}: {self.size_text}, {self.tokens}"
        first: list[tuple[str, object]] = []
        if self.choice is not None and self.choice.words:
            first = [("weights", f"{source.strip()}: {self.size_text}, {self.tokens}".strip(": "))]
            title = self.choice.words
        elif self.choice is not None and not self.choice.is_said:
            title = f"{title}; --as softmax for softmax attention"
        facts = Facts(
            [
                *first,
                ("summary", self.summary),
                ("nearest to lower rank", self.sentence_on_ranks),
                *_sizes(self.heads),
                *_words(self.heads),
                *_words_on_types(self.heads),
                *_words_on_nearness(self.heads),
                *_words_of_layers(self.heads, self.symmetries),
                *_words_behind_norms(self.behind_norms),
                *_words_of_network(self.heads, self.network),
                *(self.network.facts() if self.network else ()),
                ("arrays", self._count_of_arrays()),
                ("left out", ", ".join(self.left_out) or None),
                *(("remark", remark) for remark in self.remarks),
                (
                    "computed by",
                    f"exact ranks (FLINT), singular values (NumPy), {duration(self.seconds)}",
                ),
                ("unfinished", self.unfinished or None),
                (
                    "tables",
                    None
                    if self.shows_tables
                    else f"of {len(self.heads)} heads with --heads all, or --worst 10",
                ),
            ]
        )
        blocks: list[Any] = [facts]
        if self.rank is not None:
            blocks.append(self._changes_table(self.rank))
        if self.shows_tables:
            blocks += [_exact(self.listed), _numerical(self.listed)]
        if len(self.heads) == 1:
            blocks.append(_values(self.heads[0]))
        if self.list_arrays:
            blocks.append(_uses(self.arrays))
        return Sheet(title, blocks)

    def _count_of_arrays(self) -> str | None:
        """How many arrays of the file are used, and how many are left out."""
        if not self.arrays:
            return None
        used = sum(bool(use.used_for) for use in self.arrays)
        advice = "" if self.list_arrays else "; --arrays lists them"
        return f"{used} of {len(self.arrays)} are used{advice}"

    @property
    def shows_tables(self) -> bool:
        """Whether there is a line for each head: of many heads only on request."""
        chosen = self.worst is not None or self.sort != "layer" or self.all_heads
        return chosen or len(self.heads) <= MOST_HEADS

    @property
    def summary(self) -> str | None:
        """The sentence on what the function of all weights determines, which can be quoted."""
        layers = len({head.layer for head in self.heads})
        if layers > 1 and self.network is not None:
            return summary_sentence(f"The network of {layers} layers", self.network.symmetries)
        if layers == 1 and len(self.heads) > 1 and 1 in self.symmetries:
            count = plural(len(self.heads), "head")
            return summary_sentence(f"The layer of {count}", self.symmetries[1])
        return None

    @property
    def sentence_on_ranks(self) -> str | None:
        """The sentence on the heads that are nearest to a lower rank, which can be quoted."""
        return sentence_on_lower_ranks(self.heads, rotary=self.is_rotary)

    @property
    def is_rotary(self) -> bool:
        """Whether queries and keys are rotated by positions, so that A is one of many matrices."""
        return self.choice is not None and self.choice.rotary

    def changes(self, rank: int) -> tuple[LowRankChange, ...]:
        """Return for each head in tables the change to rank at most so large, of A and V.

        With rotary positions it is that of V alone.
        """
        return tuple(self._change(head, rank) for head in self.listed)

    def _change(self, head: HeadWeights, rank: int) -> LowRankChange:
        return LowRankChange.of(head, rank, of_A=not self.is_rotary)

    def _changes_table(self, rank: int) -> Table:
        """How far each head is from a rank, and how much outputs change."""
        changes = self.changes(rank)
        header = ("layer", "head", f"A to rank ≤ {rank}", f"V to rank ≤ {rank}", "largest change")
        each = "" if self.heads[0].shape.softmax else ", for each token attended to"
        norms = sorted({found.token_norm for found in changes})
        tokens = " or ".join(f"{norm:.3g}" for norm in norms)
        which = "V replaced" if self.is_rotary else "Replaced"
        caption = (
            f"{which} by rank ≤ {rank} (numerical; change of the layer's output at most, for"
            f" tokens of norm at most {tokens}{each})"
        )
        return Table(header, list(rows_of_changes(changes)), caption)

    @property
    def tokens(self) -> str:
        """For which numbers t of tokens the answers are proved; of a network perhaps for fewer."""
        if self.network is None or self.network.tokens == FROM_TWO_TOKENS:
            return FROM_TWO_TOKENS
        return f"{FROM_TWO_TOKENS} (the network: {self.network.tokens})"

    @property
    def size_text(self) -> str:
        """``12 layers, 144 heads``."""
        layers = len({head.layer for head in self.heads})
        return f"{plural(layers, 'layer')}, {plural(len(self.heads), 'head')}"

    def to_json(self) -> dict[str, Any]:
        """All heads, and the network."""
        return result_json({"source": self.source or None}, "QQ", None, self.seconds) | {
            "heads": [self._head_json(head) for head in self.listed],
            "summary": self.summary,
            "nearest": [locus.to_json() for locus in nearest_loci(self.heads)],
            "layers": [self._layer_json(number) for number in self.symmetries],
            "network": None if self.network is None else self.network.to_json(),
            "left_out": list(self.left_out),
            "arrays": [use.to_json() for use in self.arrays],
            "remarks": list(self.remarks),
            "unfinished": self.unfinished or None,
            "model": self._model_json(),
        }

    def _head_json(self, head: HeadWeights) -> dict[str, Any]:
        """What is known of a head, and how it changes at the rank that is asked for."""
        found = head.to_json() | _nearness_json(head)
        if self.rank is not None:
            found["at_rank"] = self._change(head, self.rank).to_json()
        return found

    def _model_json(self) -> dict[str, Any]:
        """The model that the weights are taken for."""
        choice = self.choice
        return {
            "architecture": choice.name or None if choice else None,
            "normalization": "softmax" if self.heads[0].shape.softmax else "none",
            "skip": choice.skip if choice else False,
            "rotary": choice.rotary if choice else False,
        }

    def _layer_json(self, number: int) -> dict[str, Any]:
        """What is known of a layer, and of the LayerNorm after it if there is one."""
        found: dict[str, Any] = {"layer": number} | self.symmetries[number].to_json()
        if number in self.behind_norms:
            found["behind_norm"] = self.behind_norms[number].to_json()
        return found

    def to_macaulay2(self) -> str:
        """The triples (rk A, rk V, dim L∩U)."""
        return (
            "orbits ="
            f" {{{', '.join(f'({h.ranks.r}, {h.ranks.s}, {h.ranks.m})' for h in self.heads)}}}"
        )

    def to_csv(self) -> str:
        """A line for each head."""
        numbers = (
            "distance_to_singular_locus",
            "distance_to_boundary",
            "relative_change_of_function",
        )
        names = ("layer", "head", "rank_A", "rank_V", "dim_intersection", "singular", "boundary")
        rows = []
        for head in self.listed:
            found = head.to_json()
            row = [found[name] for name in names]
            rows.append(row + [found["numerical"][name] for name in numbers])
        return csv_text((*names, *numbers), rows)

    def figure(self) -> Any:
        """Singular values on a logarithmic axis with the distances to strata, a table beside them,
        and a map of the distances by layers and heads.

        The map has all heads; the others are those in tables, in their order.
        """
        return weights_figure(self.heads, self.listed, self.size_text)


@dataclass(frozen=True, slots=True)
class Contents(Result):
    """The arrays in a file: what can be named in ``--query``, ``--key`` and ``--value``."""

    source: str
    tensors: tuple[Tensor, ...]

    def to_sheet(self) -> Sheet:
        """A line for each."""
        rows = [(visible(item.name), item.size_text, item.kind) for item in self.tensors]
        return Sheet(f"Arrays in {visible(self.source)}", [Table(("name", "shape", "type"), rows)])

    def to_json(self) -> dict[str, Any]:
        """Names, shapes and types."""
        arrays = [{"name": t.name, "shape": list(t.shape), "type": t.kind} for t in self.tensors]
        return {"source": self.source, "arrays": arrays}

    def to_macaulay2(self) -> str:
        """The names."""
        names = (item.name.encode("utf-8", "surrogatepass") for item in self.tensors)
        return f"names = {{{', '.join(map(quoted, names))}}}"


def _sizes(heads: Sequence[HeadWeights]) -> Iterator[tuple[str, object]]:
    """Parameters, dimension and redundant directions, once for heads that are alike."""
    for shape, number in Counter(head.shape for head in heads).items():
        of, each = ("", "") if len(heads) == 1 else (f", {plural(number, 'head')}", " of a head")
        values = "" if shape.v is None else f", values of dimension {shape.v}"
        yield f"(d, d', a){of}", f"({shape.width}, {shape.d_out}, {shape.a}){values}"
        if shape.coordinates:
            yield "tokens", shape.coordinates.words
        yield f"parameters{each}", shape.parameters
        yield "dimension", f"{shape.dimension} of the functions of one head (proved)"
        listed = ", ".join(f"{name} ({size})" for name, size in shape.redundant())
        yield "redundant directions", f"{shape.parameters - shape.dimension}: {listed}"


def _words(heads: Sequence[HeadWeights]) -> Iterator[tuple[str, object]]:
    """The words about weights, once for heads of which the same is said."""
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


def _words_on_types(heads: Sequence[HeadWeights]) -> Iterator[tuple[str, object]]:
    """One line on the type of each head, once for heads of the same type."""
    said = Counter(head.types.words() for head in heads if head.types is not None)
    for words, number in said.items():
        of = "" if len(heads) == 1 else f", {plural(number, 'head')}"
        yield f"type{of}", words


def _words_on_nearness(heads: Sequence[HeadWeights]) -> Iterator[tuple[str, object]]:
    """The sentences on heads near a lower rank, and which head is nearest to which locus."""
    near = [head for head in sorted(heads, key=nearness) if near_strata(head)]
    for head in near[:MOST_SENTENCES]:
        yield "numerically", near_words(head)
    if len(near) > MOST_SENTENCES:
        yield "numerically", f"{plural(len(near) - MOST_SENTENCES, 'head')} more, in JSON"
    if len(heads) > 1:
        yield "nearest", "; ".join(locus.words() for locus in nearest_loci(heads)) or None


def _nearness_json(head: HeadWeights) -> dict[str, Any]:
    """The strata of lower rank near a head, and the sentence on them."""
    strata = [{"stratum": x.name, "distance": x.distance} for x in near_strata(head)]
    return {"near": strata, "near_words": near_words(head) or None}


def _words_of_layers(
    heads: Sequence[HeadWeights], symmetries: Mapping[int, Symmetries]
) -> Iterator[tuple[str, object]]:
    """The words about layers of several heads, once for layers of which the same is said."""
    said: dict[tuple[str, str], list[int]] = {}
    for number, count in Counter(head.layer for head in heads).items():
        found = symmetries.get(number)
        first = next(head.shape for head in heads if head.layer == number)
        # All of it is said with the head then.
        as_head = (first.parameters, first.dimension)
        if count == 1 and (found is None or (found.parameters, found.dimension.exact) == as_head):
            continue
        words, names = "its function need not determine those of its heads", ""
        if found is not None:
            words, names = found.words(), found.names
        said.setdefault((words, names), []).append(number)
    for (words, names), alike in said.items():
        which = _which(alike, said)
        yield which, words
        yield f"symmetries of {which}", names or None


def _words_behind_norms(behind: Mapping[int, Any]) -> Iterator[tuple[str, object]]:
    """The words about layers with the LayerNorm after them, once for those that are alike."""
    said: dict[str, list[int]] = {}
    for number, found in behind.items():
        said.setdefault(found.words(), []).append(number)
    for words, alike in said.items():
        yield f"{_which(alike, said)} with its norm", words


def _which(alike: Sequence[int], said: Sized) -> str:
    """The layers of which the same is said, by their numbers unless one thing is said of all."""
    return "a layer" if len(said) == 1 else f"layer {', '.join(map(str, alike))}"


def _words_of_network(heads: Sequence[HeadWeights], network: Any) -> Iterator[tuple[str, object]]:
    """The words about several layers together."""
    if len({head.layer for head in heads}) == 1:
        return
    words = "its function need not determine those of its layers"
    names = None
    if network is not None:
        words, names = network.symmetries.words(), network.symmetries.names
    yield "the network", words
    yield "symmetries of the network", names


def _exact(heads: Sequence[HeadWeights]) -> Table:
    """The orbits."""
    methods = {head.ranks.method for head in heads}
    known = (
        f"proved, {' or '.join(sorted(methods))}"
        if all(methods)
        else "lower bounds where they are not proved"
    )
    header = (
        "layer",
        "head",
        "rk A",
        "rk V",
        "dim L∩U",
        "point of the closure",
        "regular weights",
        "ranks",
    )
    words = {True: "proved", False: "lower bound"}
    rows = [
        (h.layer, h.head, *h.ranks.numbers, h.point, value_text(h.regular), words[h.ranks.proved])
        for h in heads
    ]
    return Table(header, rows, f"Exact (L = column space of A, U = row space of V; ranks: {known})")


def _numerical(heads: Sequence[HeadWeights]) -> Table:
    """Distances and effective ranks."""
    first = heads[0].numerical
    header = (
        "layer",
        "head",
        "σ(A)",
        "σ(V)",
        "eff. rk A",
        "eff. rk V",
        *distance_names(heads),
        "change",
        "angle (°)",
    )
    rows = []
    for head in heads:
        n = head.numerical
        largest = n.singular_values_A[0], n.singular_values_V[0]
        angle = n.principal_angles[0] if n.principal_angles else None
        degrees = "–" if angle is None else f"{angle * 180 / pi:.3g}"
        numbers = (
            *map(distance_text, largest),
            n.effective_rank_A,
            n.effective_rank_V,
            *map(distance_text, distances(head)),
        )
        rows.append(
            (head.layer, head.head, *numbers, distance_text(n.relative_change_of_function), degrees)
        )
    loci = dict.fromkeys(head.numerical.nearest_singular_locus for head in heads)
    names = ", ".join(filter(None, loci))
    nearest = f"; singular: {names}" if names else ""
    level = f"σ: largest singular value, effective ranks above {first.tolerance:.2g}σ"
    return Table(header, rows, f"Numerical ({first.kind}; {level}; relative distances{nearest})")


def _values(head: HeadWeights) -> Table:
    """The first singular values, and how near lower ranks are."""
    columns = [map(distance_text, column) for letter in "AV" for column in spectrum(head, letter)]
    rows = [(i, *row) for i, row in enumerate(zip_longest(*columns, fillvalue=""), 1)]
    more = f"; {len(rows) - MOST_VALUES} more with --json" if len(rows) > MOST_VALUES else ""
    header = ("i", "σ(A)", "A to rank ≤ i", "σ(V)", "V to rank ≤ i")
    return Table(header, rows[:MOST_VALUES], f"Singular values, numerical{more}")


def _uses(arrays: Sequence[ArrayUse]) -> Table:
    """A line for each array of the file."""
    rows = []
    for use in arrays:
        said = use.used_for or f"left out: {use.left_out_because}"
        rows.append((visible(use.name), use.size, said))
    return Table(("array", "shape", "used for"), rows, "Arrays of the file")


def contents(source: Any) -> Contents | None:
    """The arrays in a file whose names are not usual ones; ``None`` where layers are recognized."""
    available = tensors(source)
    return None if is_understood(available) else Contents(str(source), tuple(available.values()))


_CHOICES = {
    "normalization": (None, "none", "softmax"),
    "as_": (None, "lightning", "softmax"),
    "biases": ("count", "ignore"),
    "norm": (None, "layer", "rms", "rms1", "none"),
    "sort": ("layer", "distance"),
}
"""What the options of :func:`weights` that are words may be."""


def _check_options(
    words: Mapping[str, str | None], tolerance: float | None, worst: int | None
) -> None:
    """Check the options of :func:`weights`: InvalidCaseError for the first one that is wrong."""
    for name, chosen in words.items():
        if chosen not in _CHOICES[name]:
            *others, last = [choice for choice in _CHOICES[name] if choice]
            listed = f"{', '.join(others)} or {last}"
            raise InvalidCaseError(name, f"must be {listed}, not {chosen!r:.60}")
    if tolerance is not None and not 0 <= tolerance < 1:
        raise InvalidCaseError("tolerance", f"must be at least 0 and less than 1, not {tolerance}")
    if worst is not None and (type(worst) is not int or worst < 1):
        raise InvalidCaseError("worst", f"must be at least 1, not {worst!r:.60}")


def _heads_and_all(heads: int | str | None) -> tuple[int | None, bool]:
    """Return the number of heads, and whether all have a line: of 12, "all" or "12,all"."""
    if not isinstance(heads, str):
        return heads, False
    words = [word.strip() for word in heads.split(",")]
    numbers = [int(word) for word in words if word.isascii() and word.isdigit()]
    if len(numbers) > 1 or len(numbers) + words.count("all") < len(words):
        raise InvalidCaseError("heads", f"is a number, all, or both as 12,all; not {heads!r:.60}")
    return (numbers[0] if numbers else None), "all" in words


def _layers_and_network(
    layers: Sequence[LayerTensors], found: AnalysedHeads, reading: AnalysisOptions, *, rotary: bool
) -> dict[str, Any]:
    """What is said of layers, of the network and of norms behind layers, with remarks: fields of
    the result.

    Nothing is said of layers and network if some heads are missing, as a limit was reached.
    """
    symmetries: dict[int, Symmetries] = {}
    network = None
    if len(found.heads) == 1 and reading.skip:
        shape = found.heads[0].shape
        if shape.d_out != shape.width:
            raise InvalidCaseError(
                "skip",
                f"a layer adds its input to its output, and these have {shape.width} and"
                f" {shape.d_out} entries: leave it out",
            )
    if not found.unfinished:
        symmetries = find_symmetries(layers, found, reading)
        if len(found.heads) > 1:
            network = find_network(layers, found, reading, symmetries)
    if network is not None and len(layers) == 1:
        # The layer is the network, of which more is known.
        symmetries = {1: network.symmetries}
    is_one_layer = len(layers) == 1 and bool(symmetries)
    several = len(found.heads) > 1 and not found.unfinished
    separate = several and network is None and not is_one_layer
    behind_norms = find_behind_norms(layers, found, reading, symmetries)
    return {
        "symmetries": symmetries,
        "network": network,
        "behind_norms": behind_norms,
        "remarks": find_remarks(layers, found, reading.heads, separate=separate, rotary=rotary),
    }


def weights(
    source: Any = None,
    *,
    K: Any = None,
    Q: Any = None,
    V: Any = None,
    A: Any = None,
    O: Any = None,
    a: int | None = None,
    heads: int | str | None = None,
    query: str | None = None,
    key: str | None = None,
    value: str | None = None,
    output: str | None = None,
    stacked: str | None = None,
    layout: str | None = None,
    ignore: str | None = None,
    adapter: str | Path | None = None,
    skip: bool | None = None,
    normalization: str | None = None,
    as_: str | None = None,
    biases: str = "count",
    norm: str | None = None,
    tolerance: float | None = None,
    sort: str = "layer",
    worst: int | None = None,
    rank: int | None = None,
    list_arrays: bool = False,
    timeout: float | None = None,
) -> Weights:
    """Say exactly what weights of self-attention determine, and how near to singular they are.

    Floating-point numbers are dyadic rationals, and A = KᵀQ is never rounded. For t ≥ 2 tokens;
    what ranks say of a network of softmax, or of several layers with biases or norms, for t = 2 and
    all but finitely many t (``tokens``).

    Parameters
    ----------
    source : path or mapping, optional
        A file ``.npz``, ``.npy``, ``.safetensors``, ``.json``, or of PyTorch (read by
        ``weights_only=True``), a folder of such files, or a dictionary from names to arrays, such
        as a state dict. Or, in its place:
    K, Q, V, O : array, optional
        Of shapes (heads·a, d), (heads·a, d), (heads·v, d) and (d', heads·v), or with the heads as
        first index: arrays of NumPy, tensors of PyTorch, lists of numbers or fractions.
    A : array, optional
        KᵀQ in place of K and Q, of one head; it is better to give K and Q, as rounding A changes
        its rank.
    a : int, optional
        With A: the largest rank of A, d when left out.
    heads : int or str, optional
        Of each layer; what ``config.json`` beside the file, shapes or names say when left out.
        Where nothing says it, it is 1 for K, Q and V, for arrays with these letters as names, and
        for given names if Q has fewer rows than columns; else it has to be given. ``all`` puts all
        heads in the tables of the text, however many there are, and ``12,all`` says both.
    query, key, value, output : str, optional
        Names in the source; ``*`` stands for what differs from layer to layer. Usual names need not
        be given.
    stacked : str, optional
        The name of one array with Q, K and V, in place of theirs: of shape (3d, d), (d, 3d) or (3,
        ·, ·), or as in PyTorch with the numbers of rows that heads and output matrix say.
    layout : str, optional
        How arrays are stored where neither their names nor their shapes say it: ``rows`` (the shape
        is (out, in), as in PyTorch) or ``columns`` ((in, out), as in Flax, Keras and TensorFlow);
        one array with Q, K and V ``q-k-v``, ``by-head``, ``by-group``, ``by-row`` or
        ``by-quarter``; arrays with three indices ``heads-a-d``, ``heads-d-a`` or ``d-heads-a``.
        Several words are separated by commas.
    ignore : str, optional
        Arrays beside a layer that are left out, with ``*`` for any text; several are separated by
        commas. Else an array that belongs to a layer and is not understood is refused.
    adapter : path, optional
        A LoRA adapter with its ``adapter_config.json``, which is merged with the source exactly.
    skip, normalization
        Of the network, as for :class:`~m2bridge.DeepAttention`; what ``config.json`` beside the
        file says of a known architecture when left out, and else ``False`` and ``none``.
    as_ : str, optional
        ``lightning``, for the algebraic model of the paper, or ``softmax``: these layers alone,
        without skip connections and rotary positions, whatever ``config.json`` says.
    biases : str
        ``count``, or ``ignore`` for the layer without them.
    norm : str, optional
        The norm before each layer, ``layer``, ``rms``, ``rms1`` (an RMSNorm that multiplies by 1 +
        γ, as Gemma's) or ``none``; what the file and ``config.json`` beside it say when left out.
    tolerance : float, optional
        Singular values above it, times the largest, count for effective ranks; the precision of the
        stored type when left out.
    sort, worst
        Heads are listed by ``layer``, or by ``distance`` to the singular locus; and only so many,
        the nearest ones. Of softmax the distance is that to a lower rank.
    rank : int, optional
        A table says how far each head is from this rank, and how much outputs change at most where
        it is replaced.
    list_arrays : bool
        A table says of each array of the file what it is used for, or why it is left out.

    Raises
    ------
    InvalidCaseError
        If names are missing, shapes do not fit, or an entry is no finite number.
    ConversionError
        If a file cannot be read.
    MethodUnavailableError
        If a package is missing that is needed for the file.

    Examples
    --------
    >>> V = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> found = weights(K=[[1.0, 0.5, 0.0]], Q=[[0.0, 1.0, 0.25]], V=V)
    >>> found.heads[0].words()
    'A and V are determined by the function up to the scaling (A, V) → (λA, V/λ); K and Q by A up to
    GL(1)'
    >>> found.heads[0].numerical.distance_to_singular_locus
    0.707107
    """
    words = {
        "normalization": normalization,
        "as_": as_,
        "biases": biases,
        "norm": norm,
        "sort": sort,
    }
    _check_options(words, tolerance, worst)
    if rank is not None and (type(rank) is not int or rank < 0):
        raise InvalidCaseError("rank", f"must be at least 0, not {rank!r:.60}")
    heads, all_heads = _heads_and_all(heads)
    matrices = {"K": K, "Q": Q, "V": V, "A": A, "O": O}
    names = {"query": query, "key": key, "value": value, "output": output, "stacked": stacked}
    with limited(timeout) as running:
        stored = StoredOptions(
            layout=layout, ignore=ignore, adapter=adapter, biases=biases == "count", norm=norm
        )
        layers, available, heads = find_layers(source, matrices, names, heads, stored)
        config = configuration(source) if isinstance(source, str | Path) else {}
        choice = ModelChoice.of(
            config,
            names=available,
            has_norms=any(layer.norm is not None for layer in layers),
            kind=as_,
            normalization=normalization,
            skip=skip,
            norm=norm,
        )
        reading = AnalysisOptions(
            heads=heads,
            normalization="softmax" if choice.softmax else "none",
            skip=choice.skip,
            biases=biases == "count",
            norm="rms" if norm == "rms1" else norm,
            rotary=choice.rotary,
        )
        layers = [layer.of(biases=reading.biases, norm=norm) for layer in layers]
        found = find_heads(layers, reading, a, tolerance)
        rotary = has_rotary_positions(source, available) or choice.rotary_left_out
        said = _layers_and_network(layers, found, reading, rotary=rotary)
        said["remarks"] += choice.remarks
        return Weights(
            source=str(source) if isinstance(source, str | Path) else "",
            heads=tuple(found.heads),
            left_out=left_out(available, layers),
            seconds=running.seconds,
            unfinished=found.unfinished,
            sort=sort,
            worst=worst,
            choice=None if source is None else choice,
            rank=rank,
            all_heads=all_heads,
            arrays=array_uses(available, layers, stored),
            list_arrays=list_arrays,
            **said,
        )
