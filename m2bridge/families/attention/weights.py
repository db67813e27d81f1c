"""From trained weights to a verdict: ranks, orbits, fibres and singular points, exactly; distances, numerically."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from m2bridge.errors import InvalidCaseError, MethodUnavailableError, TimeLimitError
from m2bridge.families import family
from m2bridge.limits import limited, watched
from m2bridge.results.base import Result, result_json
from m2bridge.results.picture import PictureResult
from m2bridge.results.sheet import Sheet, Table, duration, plural

if TYPE_CHECKING:
    from m2bridge.convert.weight_files import Tensor
    from m2bridge.families.attention.weight_names import Head, LayerTensors
    from m2bridge.families.attention.weights_head import HeadWeights


@dataclass(frozen=True, slots=True)
class Weights(PictureResult):
    """What weights say about functions, for each head of each layer, and of the network as a whole.

    Attributes
    ----------
    source : str
        The file, or empty.
    heads : tuple of HeadWeights
        With ``layer``, ``head``, ``orbit``, ``singular``, ``boundary``, ``regular``, ``words()`` and ``numerical``.
    network : NetworkAtWeights or None
        ``None`` for one head, and where the layers do not follow one another.
    left_out : tuple of str
        What the file has besides, which is not in the model.
    remarks : tuple of str
    seconds : float
    unfinished : str
        The limit that was reached, or empty.

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

    def to_sheet(self) -> Sheet:
        """What is exact, then what is numerical; a line for each head."""
        from m2bridge.families.attention.weights_shown import blocks

        normalized = "softmax" if self.heads[0].shape.softmax else "lightning"
        source = f" in {self.source}" if self.source else ""
        title = f"Weights of {normalized} self-attention{source}: {self.size_text}, t ≥ 2"
        ending = [("computed by", f"exact ranks (FLINT), singular values (NumPy), {duration(self.seconds)}")]
        return Sheet(title, blocks(self, [*ending, ("unfinished", self.unfinished or None)]))

    @property
    def size_text(self) -> str:
        """``12 layers, 144 heads``."""
        layers = len({head.layer for head in self.heads})
        return f"{plural(layers, 'layer')}, {plural(len(self.heads), 'head')}"

    def to_json(self) -> dict[str, Any]:
        """All heads, and the network."""
        return result_json({"source": self.source or None}, "QQ", None, self.seconds) | {
            "heads": [head.to_json() for head in self.heads],
            "network": None if self.network is None else self.network.to_json(),
            "left_out": list(self.left_out),
            "remarks": list(self.remarks),
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """The triples (rk A, rk V, dim L∩U)."""
        return f"orbits = {{{', '.join(f'({h.ranks.r}, {h.ranks.s}, {h.ranks.m})' for h in self.heads)}}}"

    def to_csv(self) -> str:
        """A line for each head."""
        page = StringIO()
        lines = csv.writer(page, lineterminator="\n")
        names = ("distance_to_singular_locus", "distance_to_boundary", "relative_change_of_function")
        first = ("layer", "head", "rank_A", "rank_V", "dim_intersection", "singular", "boundary")
        lines.writerow((*first, *names))
        for head in self.heads:
            values = head.to_json()
            lines.writerow([*(values[name] for name in first), *(values["numerical"][name] for name in names)])
        return page.getvalue()

    def figure(self) -> Any:
        """Singular values on a logarithmic axis with the distances to strata, and a table beside them."""
        from m2bridge.families.attention.weights_shown import draw_weights

        return draw_weights(self)


@dataclass(frozen=True, slots=True)
class Contents(Result):
    """The arrays in a file: what can be named in ``--query``, ``--key`` and ``--value``."""

    source: str
    tensors: tuple[Tensor, ...]
    unfinished: str = ""

    def to_sheet(self) -> Sheet:
        """A line for each."""
        rows = [(item.name, item.size_text, item.kind) for item in self.tensors]
        return Sheet(f"Arrays in {self.source}", [Table(("name", "shape", "type"), rows)])

    def to_json(self) -> dict[str, Any]:
        """Names, shapes and types."""
        return {
            "source": self.source,
            "arrays": [{"name": t.name, "shape": list(t.shape), "type": t.kind} for t in self.tensors],
        }

    def to_macaulay2(self) -> str:
        """The names."""
        return f"names = {{{', '.join(repr(item.name) for item in self.tensors)}}}".replace("'", '"')


def contents(source: Any) -> Contents | None:
    """The arrays in a file whose names are not usual ones; ``None`` where layers are recognized."""
    _check_available()
    from m2bridge.convert.weight_files import tensors
    from m2bridge.families.attention.weight_names import usual_layers

    available = tensors(source)
    return None if usual_layers(available) else Contents(str(source), tuple(available.values()))


def weights(
    source: Any = None,
    *,
    K: Any = None,
    Q: Any = None,
    V: Any = None,
    A: Any = None,
    O: Any = None,
    a: int | None = None,
    heads: int | None = None,
    query: str | None = None,
    key: str | None = None,
    value: str | None = None,
    output: str | None = None,
    skip: bool = False,
    normalization: str = "none",
    tolerance: float | None = None,
    timeout: float | None = None,
) -> Weights:
    """Say what weights of self-attention determine: exactly, and how near they are to singular functions, numerically.

    Floating-point numbers are taken exactly, as the dyadic rationals that they are; A = KᵀQ is never rounded. What is
    said holds for t ≥ 2 tokens.

    Parameters
    ----------
    source : path or mapping, optional
        A file ``.npz``, ``.npy``, ``.safetensors``, ``.json``, or of PyTorch (read by ``weights_only=True``), a folder
        of such files, or a dictionary from names to arrays, such as a state dict. Or, in its place:
    K, Q, V, O : array, optional
        Of shapes (heads·a, d), (heads·a, d), (heads·v, d) and (d', heads·v), or with the heads as first index: arrays
        of NumPy, tensors of PyTorch, lists of numbers or fractions.
    A : array, optional
        KᵀQ in place of K and Q, of one head; it is better to give K and Q, as rounding A changes its rank.
    a : int, optional
        With A: the largest rank of A, d when left out.
    heads : int, optional
        Of each layer; what ``config.json`` beside the file says, or 1.
    query, key, value, output : str, optional
        Names in the source; ``*`` stands for what differs from layer to layer. Usual names need not be given.
    skip, normalization
        Of the network, as for :class:`~m2bridge.DeepAttention`.
    tolerance : float, optional
        Singular values above it, times the largest, count for effective ranks; the precision of the stored type when
        left out.

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
    >>> found = weights(K=[[1.0, 0.5, 0.0]], Q=[[0.0, 1.0, 0.25]], V=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> found.heads[0].words()
    'A and V are determined by the function up to the scaling (A, V) → (λA, V/λ); K and Q by A up to GL(1)'
    >>> found.heads[0].numerical.distance_to_singular_locus
    0.707107
    """
    _check_available()
    from m2bridge.families.attention.weight_names import left_out

    if normalization not in ("none", "softmax"):
        raise InvalidCaseError("normalization", f"must be none or softmax, not {normalization!r:.60}")
    if tolerance is not None and not 0 <= tolerance < 1:
        raise InvalidCaseError("tolerance", f"must be at least 0 and less than 1, not {tolerance}")
    given = {letter: array for letter, array in zip("KQVAO", (K, Q, V, A, O), strict=True) if array is not None}
    names = {"query": query, "key": key, "value": value, "output": output}
    with limited(timeout) as running:
        layers, available, heads = _layers(source, given, names, heads)
        found, unfinished = _heads(layers, heads, a, normalization == "softmax", tolerance)
        whole = not unfinished and len(found) > 1
        network = _network(layers, found, heads, skip, normalization) if whole else None
        remarks = _remarks(layers, found, heads, whole and network is None)
        others, name = left_out(available, layers), str(source) if isinstance(source, str | Path) else ""
        return Weights(name, tuple(found), network, others, remarks, running.seconds, unfinished)


def _check_available() -> None:
    try:
        import numpy  # noqa: F401
        import threadpoolctl  # noqa: F401
    except ImportError as missing:
        message = f"weights need the package {missing.name or 'numpy'}: pip install 'm2bridge[weights]'"
        raise MethodUnavailableError(message) from None


def _layers(
    source: Any, given: Mapping[str, Any], names: Mapping[str, str | None], heads: int | None
) -> tuple[list[LayerTensors], Mapping[str, Tensor], int | None]:
    """The layers, all arrays, and the number of heads of each layer if it is known."""
    from m2bridge.convert.weight_files import tensor, tensors
    from m2bridge.families.attention.weight_names import (
        LayerTensors,
        heads_in_configuration,
        named_layers,
        usual_layers,
    )

    if heads is not None and (not isinstance(heads, int) or isinstance(heads, bool) or heads < 1):
        raise InvalidCaseError("heads", f"must be at least 1, not {heads!r:.60}")
    if (source is None) == (not given):
        raise InvalidCaseError("weights", "give a file or a dictionary, or K, Q and V, or A and V")
    if given:
        if set(given) - {"O"} not in ({"K", "Q", "V"}, {"A", "V"}):
            raise InvalidCaseError("weights", f"give K, Q and V, or A and V; not {', '.join(given)}")
        parts = {letter: tensor(letter, array) for letter, array in given.items()}
        return [LayerTensors("", parts)], {}, heads
    available = tensors(source)
    if isinstance(source, str | Path) and heads is None:
        heads = heads_in_configuration(source)
    if any(names.values()):
        return named_layers(available, names), available, heads
    layers = usual_layers(available)
    if not layers:
        listed = ", ".join(f"'{t.name}' ({t.size_text})" for t in list(available.values())[:8])
        more = f" and {len(available) - 8} more" if len(available) > 8 else ""
        message = f"no usual names are in it: say query, key and value; it holds {listed}{more}"
        raise InvalidCaseError("query", message)
    return layers, available, heads


def _heads(
    layers: Sequence[LayerTensors], count: int | None, a: int | None, softmax: bool, tolerance: float | None
) -> tuple[list[HeadWeights], str]:
    """All heads, or those that the time suffices for."""
    from threadpoolctl import threadpool_limits

    from m2bridge.families.attention.weights_head import HeadWeights

    if a is not None and (a < 1 or any("A" not in layer.parts for layer in layers)):
        raise InvalidCaseError("a", "is for weights A, a number from 1 on; of K and Q it is the number of rows")
    found: list[HeadWeights] = []
    try:
        with threadpool_limits(1):  # for small matrices threads take longer than they save
            found.extend(HeadWeights.of(head, a, softmax, tolerance) for head in watched(_every(layers, count)))
    except TimeLimitError as limit:
        if not found:
            raise
        return found, str(limit)
    undecided = sum(not head.ranks.proved for head in found)
    return found, f"the ranks of {plural(undecided, 'head')} are not proved" if undecided else ""


def _every(layers: Sequence[LayerTensors], count: int | None) -> Iterator[Head]:
    for number, layer in enumerate(layers, 1):
        yield from layer.heads(number, count)


def _network(
    layers: Sequence[LayerTensors], found: Sequence[HeadWeights], count: int | None, skip: bool, normalization: str
) -> Any:
    """The network of these layers at their weights; ``None`` if they do not follow one another."""
    from m2bridge.families.attention.exact_weights import residues
    from m2bridge.families.attention.weight_names import alike

    shapes = [[head.shape for head in found if head.layer == k + 1] for k in range(len(layers))]
    widths = [shapes[0][0].d, *(layer[0].d_out for layer in shapes)]
    follow = all(head.d == d for layer, d in zip(shapes, widths, strict=False) for head in layer)
    summed = len(shapes[0]) == 1 or shapes[0][0].v is not None or len(layers[0].parts["V"].shape) == 3
    equal = len({len(layer) for layer in shapes}) == 1
    if not (alike(layers) and follow and equal and summed) or any(head.is_outside for head in found):
        return None
    deep = family("deep-attention")
    model = deep.build(
        widths, [layer[0].a for layer in shapes], 2, heads=len(shapes[0]), skip=skip, normalization=normalization
    )

    def matrices() -> list[list[dict[str, Any]]]:
        every: list[list[dict[str, Any]]] = [[] for _ in layers]
        for head in _every(layers, count):
            every[head.layer - 1].append({letter: residues(array) for letter, array in head.matrices.items()})
        return every

    return deep.command("at_weights")(model, shapes, matrices)


def _remarks(
    layers: Sequence[LayerTensors], found: Sequence[HeadWeights], heads: int | None, separate: bool
) -> tuple[str, ...]:
    remarks = []
    first = layers[0].parts
    one = heads is None and all(len(part.shape) == 2 for part in first.values())
    if one and "K" in first and found[0].shape.a >= found[0].shape.d > 1:
        remarks.append("taken as one head for each layer: the number of heads, if it is another, has to be given")
    if "K" in first and first["K"].shape[0] < first["Q"].shape[0] and first["K"].name != first["V"].name:
        remarks.append("several heads share their keys and values: they are counted for each head")
    if separate:
        remarks.append(
            "nothing is said of a network as a whole: these layers do not follow one another, or have no output matrix"
        )
    return tuple(remarks)
