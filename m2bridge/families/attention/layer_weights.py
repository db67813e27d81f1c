"""The verdict on layers and on the network: what their functions determine, by named symmetries.

The symmetries of lightning attention, and of softmax without biases, are asked of the family of
deep attention, for the coordinates of tokens that a layer sees. A layer of softmax with biases is
decided here, by the lemma in ``docs/weights.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import mul
from random import Random
from typing import Any, Self

import flint

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.families import family
from m2bridge.families.attention.exact_weights import HeadShape, residues
from m2bridge.families.attention.head_weights import HeadWeights
from m2bridge.families.attention.tokens import IN_CONSTANT, SeenHead, Tokens, norm_before, seen
from m2bridge.families.attention.weight_names import Head, LayerTensors, alike
from m2bridge.limits import watched
from m2bridge.results.sheet import plural

_SMALL = 400
"""A layer among others with so many parameters is differentiated at its weights: a second."""
_SPARE_ROWS = 8
"""Random tokens beyond the number of heads, at which quadratic forms are evaluated."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the layers of a file are read.

    Parameters
    ----------
    heads : int or None
        Of each layer.
    normalization : str
        ``none`` or ``softmax``.
    skip : bool
    biases : bool
        Whether they are counted.
    norm : str or None
        ``layer``, ``rms`` or ``none`` in place of what the file has.
    """

    heads: int | None
    normalization: str
    skip: bool
    biases: bool
    norm: str | None

    @property
    def softmax(self) -> bool:
        """Whether scores are normalized."""
        return self.normalization == "softmax"

    def seen(self, head: Head) -> SeenHead:
        """Return a head on the coordinates of its tokens."""
        return seen(head, self.softmax, self.biases, self.norm)

    def of(self, number: int, layer: LayerTensors) -> Iterator[SeenHead]:
        """Yield the heads of a layer."""
        return map(self.seen, layer.heads(number, self.heads))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a layer has besides the matrices of its heads.

    Parameters
    ----------
    norm : str
        ``LayerNorm`` or ``RMSNorm`` before the layer, or empty.
    norm_after : bool
        Whether a norm follows the layer.
    output_bias : int
        The number of its entries.
    gamma, beta : int
        The numbers of entries that the matrices K, Q, V and their biases can replace.
    missing : str
        Which of Q, K, V have no bias where others have one.
    """

    norm: str
    norm_after: bool
    output_bias: int
    gamma: int
    beta: int
    missing: str

    @classmethod
    def of(cls, head: Head, reading: Reading) -> Self:
        """Return what is around the heads of a layer, by one of them."""
        norm = norm_before(head, reading.norm)
        biases: set[str] = set()
        output_bias = 0
        if reading.biases:
            given = {"K": head.K_bias, "Q": head.Q_bias, "V": head.V_bias}
            biases = {letter for letter, bias in given.items() if bias is not None}
            output_bias = 0 if head.O_bias is None else len(head.O_bias)
        gamma = beta = 0
        if norm is not None and norm.gamma is not None and (norm.gamma != 0).all():
            gamma = len(norm.gamma)
        absorbed = bool(biases)
        if reading.softmax:
            absorbed = {"Q", "V"} <= biases
        if reading.biases and norm is not None and norm.beta is not None:
            tokens = Tokens.of(len(norm.beta), norm, reading.biases)
            if absorbed or tokens.is_moved:
                beta = len(norm.beta)
        missing = ""
        if biases and not reading.softmax and "A" not in head.matrices:
            missing = ", ".join(letter for letter in "QKV" if letter not in biases)
        kinds = {"layer": "LayerNorm", "rms": "RMSNorm"}
        return cls(
            norm=kinds[norm.kind] if norm else "",
            norm_after=head.norm is not None and head.norm.place == "post" and norm is None,
            output_bias=output_bias,
            gamma=gamma,
            beta=beta,
            missing=missing,
        )

    @property
    def is_nothing(self) -> bool:
        """Whether there is neither a norm before the layer nor an output bias."""
        return not (self.norm or self.output_bias)

    def named(self) -> tuple[tuple[str, int], ...]:
        """The redundant directions of γ and β."""
        found = (
            ("γ of the norm against K, Q and V", self.gamma),
            ("β of the norm against the biases of Q, K and V", self.beta),
        )
        return tuple((name, size) for name, size in found if size)

    def besides(self) -> tuple[int, int, tuple[tuple[str, int], ...]]:
        """The parameters, the dimension and the redundant directions that are not of the heads."""
        parameters = self.output_bias + self.gamma + self.beta
        return parameters, self.output_bias, self.named()

    def remarks(self) -> Iterator[str]:
        """Yield what has to be said of it."""
        if self.missing:
            yield (
                f"there is no bias of {self.missing}: 0 is taken as one, and what is said is of the"
                " layer in which Q, K and V have biases"
            )
        if self.norm_after:
            yield (
                "a norm after a layer changes nothing in what the layer itself determines; it hides"
                " the scale of its outputs and, as LayerNorm, their part along (1, …, 1)"
            )


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The symmetries of a layer without output matrix: those of its heads, which are all known."""

    shapes: tuple[HeadShape, ...]

    def words(self) -> str:
        """The words on what the function of the layer determines."""
        return (
            "without an output matrix the outputs of its heads stand side by side, so the function"
            " of each is known"
        )

    @property
    def parameters(self) -> int:
        """All entries."""
        return sum(shape.parameters for shape in self.shapes)

    def named(self) -> dict[str, int]:
        """The symmetries by name."""
        named: Counter[str] = Counter()
        for shape in self.shapes:
            named.update(dict(shape.redundant()))
        return named

    @property
    def names(self) -> str:
        """The parts of the group with their dimensions."""
        return ", ".join(f"{name} ({size})" for name, size in self.named().items())

    def to_json(self) -> dict[str, Any]:
        """The values for ``json.dumps``: the sums of those of the heads."""
        dimension = sum(shape.dimension for shape in self.shapes)
        named = self.named()
        listed = sum(named.values())
        redundant = self.parameters - dimension
        return {
            "parameters": self.parameters,
            "dimension": dimension,
            "redundant": redundant,
            "redundant_at_least": redundant,
            "listed_symmetries": listed,
            "other_symmetries": redundant > listed,
            "symmetries": [{"name": name, "dimension": size} for name, size in named.items()],
            "unnamed": redundant - listed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftmaxLayer:
    """A layer of softmax attention whose queries have a bias, or that adds a constant.

    Where the matrices A_h = KᵀQ of its heads are independent, its function determines all A_h and
    V_h, and the constant: heads are seen each alone, apart from the biases of V, of which only the
    sum with the output bias is seen.

    Parameters
    ----------
    shapes : tuple of HeadShape
    surroundings : Surroundings
    independent : bool
        Whether the A_h are, at these weights.
    all_regular : bool
        Whether the weights of each head alone are a regular point.
    """

    shapes: tuple[HeadShape, ...]
    surroundings: Surroundings
    independent: bool
    all_regular: bool

    @property
    def constant(self) -> int:
        """The dimension of the constants that the layer adds."""
        first = self.shapes[0]
        if self.surroundings.output_bias:
            return first.d_out
        if not (first.coordinates and first.coordinates.constants):
            return 0
        if first.v is None or first.v > first.most_V:
            return first.d_out
        return min(len(self.shapes) * first.v, first.d_out)

    @property
    def parameters(self) -> int:
        """All entries, with biases."""
        besides, *_ = self.surroundings.besides()
        return sum(shape.parameters for shape in self.shapes) + besides

    @property
    def dimension(self) -> int | None:
        """That of the functions of such layers, if generic A_h are independent."""
        first = self.shapes[0]
        if len(self.shapes) > first.d * first.queries:
            return None
        return sum(shape.dimension for shape in self.shapes) + self.constant

    @property
    def regular(self) -> bool | None:
        """Whether the weights are a regular point; ``None`` if that is not decided."""
        return True if self.dimension and self.independent and self.all_regular else None

    def named(self) -> list[tuple[str, int]]:
        """The symmetries by name."""
        named: Counter[str] = Counter()
        for shape in self.shapes:
            for name, size in shape.redundant():
                named[name] += size
        constants = named.pop(IN_CONSTANT, 0) + self.surroundings.output_bias - self.constant
        named["biases of V and of the output with the same constant"] += constants
        found = [*named.items(), *self.surroundings.named()]
        return [(name, size) for name, size in found if size]

    def words(self) -> str:
        """The words on what the function of the layer determines."""
        listed = sum(size for _, size in self.named())
        if self.dimension is None:
            return "not decided: there are more heads than independent matrices A"
        redundant = plural(self.parameters - self.dimension, "redundant direction")
        determined = "up to these and finitely many others, generic weights are determined"
        if self.parameters - self.dimension > listed:
            further = self.parameters - self.dimension - listed
            return f"{redundant}, {listed} listed: {plural(further, 'further direction')} not named"
        return f"{redundant}, all of the listed symmetries: {determined}"

    @property
    def names(self) -> str:
        """The parts of the group with their dimensions."""
        return ", ".join(f"{name} ({size})" for name, size in self.named())

    def to_json(self) -> dict[str, Any]:
        """The values for ``json.dumps``."""
        listed = sum(size for _, size in self.named())
        redundant = None if self.dimension is None else self.parameters - self.dimension
        return {
            "parameters": self.parameters,
            "dimension": self.dimension,
            "redundant": redundant,
            "redundant_at_least": redundant,
            "listed_symmetries": listed,
            "other_symmetries": None if redundant is None else redundant > listed,
            "symmetries": [{"name": name, "dimension": size} for name, size in self.named()],
            "unnamed": None if redundant is None else redundant - listed,
            "regular": self.regular,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LayersInARow:
    """Several layers with biases or norms, of which only the layers are decided, each alone.

    Parameters
    ----------
    layers : tuple
        What is known of each layer.
    between : tuple
        Names and numbers of symmetries between the layers.
    free : int
        The number of directions of these that change the functions of layers, for generic weights.
    """

    layers: tuple[dict[str, Any], ...]
    between: tuple[tuple[str, int], ...]
    free: int

    @property
    def symmetries(self) -> Self:
        """What is said of the network."""
        return self

    def named(self) -> list[tuple[str, int]]:
        """The symmetries by name."""
        named: Counter[str] = Counter()
        for layer in self.layers:
            for part in layer["symmetries"]:
                named[part["name"]] += part["dimension"]
        named.update(dict(self.between))
        return list(named.items())

    @property
    def redundant(self) -> int:
        """At least so many directions are redundant: of layers, each alone, and between them."""
        return self.free + sum(layer["redundant_at_least"] or 0 for layer in self.layers)

    @property
    def parameters(self) -> int:
        """All entries."""
        return sum(layer["parameters"] for layer in self.layers)

    @property
    def names(self) -> str:
        """The parts of the group with their dimensions."""
        return ", ".join(f"{name} ({size})" for name, size in self.named())

    @property
    def _reason(self) -> str:
        less = f", less {self.free} for symmetries between them" if self.free else ""
        return f"the sum of the layers{less}"

    def words(self) -> str:
        """The words on what the function of the network determines."""
        listed = sum(size for _, size in self.named())
        return (
            f"at least {plural(self.redundant, 'redundant direction')}, at most {listed} of the"
            f" listed symmetries: whether there are others is not decided ({_NOT_COMPOSED})"
        )

    def facts(self) -> list[tuple[str, object]]:
        """Names and values for people."""
        return [
            ("parameters", self.parameters),
            ("dimension", f"at most {self.parameters - self.redundant}: {self._reason}"),
            ("gauge group", self.names),
            ("regular point", f"not decided: {_NOT_COMPOSED}"),
        ]

    def to_json(self) -> dict[str, Any]:
        """The values for ``json.dumps``."""
        most = self.parameters - self.redundant
        return {
            "parameters": self.parameters,
            "dimension": None,
            "upper_bound": {"value": most, "reason": self._reason},
            "regular": None,
            "note": _NOT_COMPOSED,
            "redundant": None,
            "redundant_at_least": self.redundant,
            "listed_symmetries": sum(size for _, size in self.named()),
            "other_symmetries": None,
            "symmetries": [{"name": name, "dimension": size} for name, size in self.named()],
            "unnamed": None,
        }


_NOT_COMPOSED = "layers with biases or norms are decided each alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What is found of heads, and around them.

    Parameters
    ----------
    heads : list of HeadWeights
    around : dict
        By the number of a layer.
    unfinished : str
        Why heads are missing, or empty.
    """

    heads: list[HeadWeights]
    around: dict[int, Surroundings]
    unfinished: str

    def of(self, number: int) -> list[HeadWeights]:
        """Return the heads of a layer."""
        return [head for head in self.heads if head.layer == number]


def find_heads(
    layers: Sequence[LayerTensors], reading: Reading, a: int | None, tolerance: float | None
) -> Findings:
    """Return all heads, or those that the time suffices for, and why others are missing."""
    if a is not None and (a < 1 or any("A" not in layer.parts for layer in layers)):
        raise InvalidCaseError(
            "a", "is for weights A, a number from 1 on; of K and Q it is the number of rows"
        )
    found: list[HeadWeights] = []
    around: dict[int, Surroundings] = {}
    try:
        for number, layer in enumerate(layers, 1):
            for head in watched(layer.heads(number, reading.heads)):
                if number not in around:
                    around[number] = Surroundings.of(head, reading)
                seen_head = reading.seen(head)
                found.append(HeadWeights.of(seen_head, a, reading.softmax, tolerance))
    except TimeLimitError as limit:
        if not found:
            raise
        return Findings(heads=found, around=around, unfinished=str(limit))
    undecided = [head for head in found if not head.ranks.proved]
    unfinished = ""
    if undecided:
        unfinished = f"the ranks of {plural(len(undecided), 'head')} are not proved"
    return Findings(heads=found, around=around, unfinished=unfinished)


def find_symmetries(
    layers: Sequence[LayerTensors], found: Findings, reading: Reading
) -> dict[int, Any]:
    """Return the symmetries of each layer whose weights are in the model."""
    symmetries: dict[int, Any] = {}
    for number, layer in enumerate(layers, 1):
        heads = found.of(number)
        shapes = [head.shape for head in heads]
        if not heads or len(set(shapes)) > 1 or any(head.is_outside for head in heads):
            continue
        if not _are_added(layer, shapes):
            symmetries[number] = SideBySide(tuple(shapes))
        elif _is_affine_softmax(shapes[0], found.around[number]):
            symmetries[number] = SoftmaxLayer(
                shapes=tuple(shapes),
                surroundings=found.around[number],
                independent=_are_independent(list(reading.of(number, layer))),
                all_regular=all(head.regular for head in heads),
            )
        elif sum(shape.parameters for shape in shapes) <= _SMALL and len(shapes) > 1:
            alone = _at_weights({number: layer}, found, replace(reading, skip=False))
            symmetries[number] = alone.symmetries
        else:
            model = _model([shapes], replace(reading, skip=False))
            besides = found.around[number].besides()
            deep = family("deep-attention")
            symmetries[number] = deep.symmetries(model, [shapes], besides)
    return symmetries


def _model(shapes: Sequence[Sequence[HeadShape]], reading: Reading) -> Any:
    """The network of layers with these heads, for two tokens."""
    widths = [shapes[0][0].d, *(layer[0].d_out for layer in shapes)]
    a = [layer[0].a for layer in shapes]
    sizes = {"widths": widths, "a": a, "t": 2, "heads": len(shapes[0])}
    deep = family("deep-attention")
    return deep.build(**sizes, skip=reading.skip, normalization=reading.normalization)


def _is_affine_softmax(shape: HeadShape, around: Surroundings) -> bool:
    """Whether a layer of softmax has a bias of Q, or adds a constant."""
    if not shape.softmax:
        return False
    coordinates = shape.coordinates
    affine = coordinates is not None and (coordinates.constants or shape.queries > shape.d)
    return bool(affine or around.output_bias)


def _are_independent(heads: Sequence[SeenHead]) -> bool:
    """Whether the matrices A of all heads are, by values at random pairs modulo the prime."""
    draw = Random(1).randrange  # the same each time
    first = heads[0].matrices
    keys, queries = (first[x].shape[1] for x in ("AA" if "A" in first else "KQ"))
    number = len(heads) + _SPARE_ROWS

    def random(rows: int) -> Any:
        entries = [draw(LARGE_PRIME) for _ in range(rows * number)]
        return flint.nmod_mat(rows, number, entries, LARGE_PRIME)

    X, Y = random(keys), random(queries)
    rows = []
    for head in heads:
        matrices = head.matrices
        if "A" in matrices:
            left, right = X, residues(matrices["A"]) * Y
        else:
            left, right = residues(matrices["K"]) * X, residues(matrices["Q"]) * Y
        columns = zip(left.transpose().table(), right.transpose().table(), strict=True)
        values = [sum(map(mul, *pair)) for pair in columns]
        rows.append([int(value) for value in values])
    return bool(rank_mod(rows, LARGE_PRIME) == len(heads))


def _are_added(layer: LayerTensors, shapes: Sequence[HeadShape]) -> bool:
    """Whether the outputs of the heads are added, and not stacked without an output matrix."""
    return len(shapes) == 1 or shapes[0].v is not None or len(layer.parts["V"].shape) == 3


def find_network(
    layers: Sequence[LayerTensors], found: Findings, reading: Reading, symmetries: dict[int, Any]
) -> Any:
    """Return the network at these weights; ``None`` if layers do not follow one another."""
    shapes = [[head.shape for head in found.of(number)] for number in range(1, len(layers) + 1)]
    widths = [shapes[0][0].width, *(layer[0].d_out for layer in shapes)]
    if any(h.is_outside or h.shape.width != widths[h.layer - 1] for h in found.heads):
        return None
    equal = len({len(layer) for layer in shapes}) == 1
    if not (equal and alike(layers) and _are_added(layers[0], shapes[0])):
        return None
    changed = any(layer[0].coordinates for layer in shapes)
    changed = changed or not all(around.is_nothing for around in found.around.values())
    if changed and len(layers) > 1:
        if len(symmetries) < len(layers):
            return None
        parts = tuple(_layer_json(symmetries[number]) for number in sorted(symmetries))
        between = tuple(_between(shapes, found, reading))
        free = sum(size for _, size, is_free in between if is_free)
        names = tuple((name, size) for name, size, _ in between)
        return LayersInARow(layers=parts, between=names, free=free)
    if changed and _is_affine_softmax(shapes[0][0], found.around[1]):
        return None
    numbered = dict(enumerate(layers, 1))
    return _at_weights(numbered, found, replace(reading, skip=reading.skip and not changed))


def _at_weights(layers: dict[int, LayerTensors], found: Findings, reading: Reading) -> Any:
    """The network of these layers at its weights; of one layer with what is around its heads."""
    heads = [head for number in layers for head in found.of(number)]
    shapes = [[head.shape for head in found.of(number)] for number in layers]

    def matrices(letters: str) -> Iterator[list[dict[str, Any]]]:
        """Return these matrices of each head of each layer, modulo the prime."""
        for number, layer in layers.items():
            reduced = []
            for head in reading.of(number, layer):
                given = head.matrices
                reduced.append({x: residues(given[x]) for x in given if x in letters})
            yield reduced

    ranks = [head.most_rank for head in heads]
    known = [rank for rank in ranks if rank is not None]
    first, *others = layers
    return family("deep-attention").at_weights(
        _model(shapes, reading),
        shapes,
        regular=all(head.regular for head in heads),
        matrices=matrices,
        most_rank=sum(known) if len(known) == len(ranks) else None,
        besides=() if others else found.around[first].besides(),
    )


def _layer_json(symmetries: Any) -> dict[str, Any]:
    found: dict[str, Any] = symmetries.to_json()
    return found


def _between(
    shapes: Sequence[Sequence[HeadShape]], found: Findings, reading: Reading
) -> Iterator[tuple[str, int, bool]]:
    """The symmetries between layers: names, dimensions, and whether they act freely.

    Changes of base do where the outputs of all heads span the space, and translations always.
    """
    around = [found.around[number] for number in sorted(found.around)]
    hidden = [(layer[0].d_out, len(layer) * layer[0].beta) for layer in shapes[:-1]]
    has_norms = any(part.norm for part in around)
    if not reading.skip and not has_norms:
        for d, filled in hidden:
            yield f"GL({d}) between layers", d * d, filled >= d
    outputs = all(part.output_bias for part in around)
    # A translated token is as another bias of Q, K and V; softmax needs that of Q.
    following = [layer[0] for layer in shapes[1:]]
    biased = all(max(shape.queries, shape.d) > shape.width for shape in following)
    if outputs and biased and not has_norms:
        yield "translations of tokens between layers, by biases", sum(d for d, _ in hidden), True
    elif outputs and reading.skip and all(part.norm == "LayerNorm" for part in around):
        yield "output biases along (1, …, 1)", len(hidden), True


def find_remarks(
    layers: Sequence[LayerTensors], found: Findings, heads: int | None, separate: bool
) -> tuple[str, ...]:
    """Return remarks on the reading of these layers; ``separate`` if they are no network."""
    remarks = []
    first = layers[0].parts
    shape = found.heads[0].shape
    one = heads is None and all(len(part.shape) == 2 for part in first.values())
    if one and "K" in first and shape.a >= shape.width > 1:
        remarks.append(
            "taken as one head for each layer: the number of heads, if it is another, has to be"
            " given"
        )
    if "K" in first and first["K"].shape[0] < first["Q"].shape[0] and not layers[0].is_stacked:
        remarks.append("several heads share their keys and values: they are counted for each head")
    if separate:
        remarks.append(
            "nothing is said of a network as a whole: these layers do not follow one another, or"
            " have no output matrix"
        )
    for around in found.around.values():
        remarks.extend(around.remarks())
    return tuple(dict.fromkeys(remarks))
