"""The findings about trained weights: the orbit of the function of each head, what follows from it,
and the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Self

from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.families import family
from m2bridge.families.attention.exact_weights import HeadShape, Ranks, exact_ranks, residues
from m2bridge.families.attention.numerical_weights import Numerical, rank_words
from m2bridge.families.attention.weight_names import Head, LayerTensors, alike
from m2bridge.limits import watched
from m2bridge.results.sheet import plural

if TYPE_CHECKING:
    from m2bridge.families.attention.orbits import Orbit

_LARGE = 2000
"""The rank of matrices that are decomposed by several threads."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadWeights:
    """The weights of one head.

    Parameters
    ----------
    layer, head : int
        Counted from 1.
    shape : HeadShape
    ranks : Ranks
    numerical : Numerical
    """

    layer: int
    head: int
    shape: HeadShape
    ranks: Ranks
    numerical: Numerical

    @classmethod
    def of(cls, head: Head, a: int | None, softmax: bool, tolerance: float | None) -> Self:
        """Compute everything about a head; ``a`` is the largest rank of A where A is given."""
        shape, ranks = HeadShape.of(head.matrices, a, softmax), exact_ranks(head.matrices)
        from threadpoolctl import threadpool_limits  # slow to import

        # For small matrices threads take longer than they save.
        with threadpool_limits(1 if max(shape.alpha, shape.beta) < _LARGE else None):
            numerical = Numerical.of(head, shape, ranks, tolerance)
        return cls(head.layer, head.head, shape, ranks, numerical)

    @property
    def orbit(self) -> Orbit | None:
        """``None`` for the zero function."""
        from m2bridge.families.attention.orbits import Orbit  # needs SymPy, which is slow to import

        return None if self.is_zero else Orbit(*self.ranks.numbers)

    @property
    def is_zero(self) -> bool:
        """Whether V is 0, or, for lightning attention, A."""
        return not self.ranks.s or not (self.ranks.r or self.shape.softmax)

    @property
    def is_outside(self) -> bool:
        """Whether A has a larger rank than the model allows."""
        return self.ranks.r > self.shape.alpha

    def _holds(self, predicate: Callable[[int, int, int], bool]) -> bool | None:
        """Something about a function in this orbit; ``None`` of softmax, of which nothing
        is known.
        """
        decided = self.ranks.proved and not self.is_outside and not self.shape.softmax
        return predicate(*self.ranks.numbers) if decided else None

    @property
    def singular(self) -> bool | None:
        """Whether the function is a singular point of the Zariski closure."""
        return self._holds(self.shape.is_singular)

    @property
    def boundary(self) -> bool | None:
        """Whether it is a boundary point of the neuromanifold."""
        return self._holds(self.shape.is_boundary)

    @property
    def regular(self) -> bool | None:
        """Whether the rank of the differential at these weights is the dimension; at 0 for d = 1
        not decided.
        """
        if not self.ranks.proved or self.is_outside:
            return None
        if self.is_zero:
            return None if self.shape.d == 1 and not self.shape.softmax else False
        critical = not self.shape.softmax and self.ranks.numbers == (1, 1, 1) and self.shape.d > 1
        return False if critical else _onto(self.shape, self.ranks)

    @property
    def point(self) -> str:
        """What kind of point the function is, in words."""
        if self.singular is None:
            return (
                "outside" if self.is_outside else "softmax" if self.shape.softmax else "undecided"
            )
        named = ("zero", self.is_zero), ("singular", self.singular), ("smooth", not self.singular)
        return ", ".join(name for name, holds in (*named, ("boundary", self.boundary)) if holds)

    def words(self) -> str:
        """The words on what the function says about the weights."""
        if self.is_outside:
            most, tolerance = self.shape.alpha, self.numerical.tolerance
            distance = self.numerical.distances_to_lower_rank_A[most]
            return rank_words(self.ranks.r, most, self.shape.d, distance, tolerance)
        if self.is_zero:
            return (
                f"the zero function: all weights with {'' if self.shape.softmax else 'A = 0 or '}V"
                " = 0 have it"
            )
        if not self.ranks.proved:
            return (
                "not decided: exact ranks take too long here, and a generic function of these ranks"
                " is not assumed"
            )
        shape = self.shape
        pair = f"A and {'V' if shape.v is None else 'OV'} are determined by the function"
        factors = [("K and Q", "A", shape.a, self.ranks.r)] if shape.factored else []
        factors += [("O and V", "OV", shape.v, self.ranks.s)] if shape.v is not None else []
        up_to = [
            (
                f"{names} by {product} up to GL({size})"
                if rank == size
                else f"{names} up to more than GL({size})"
            )
            for names, product, size, rank in factors
        ]
        others = "; " + ", ".join(up_to) if up_to else ""
        if shape.softmax:
            return f"{pair} (t ≥ 2){others}"
        scaling = "(A, V) → (λA, V/λ)"
        if self.ranks.numbers == (1, 1, 0):
            return (
                f"two classes of weights up to {scaling}: A = kqᵀ, V = hvᵀ, and A = vqᵀ, V ="
                f" hkᵀ{others}"
            )
        double = ", as a double point" if self.ranks.numbers == (1, 1, 1) and shape.d > 1 else ""
        return f"{pair} up to the scaling {scaling}{double}{others}"

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps``."""
        shape, numbers, method = self.shape, self.ranks.numbers, self.ranks.method
        ranks = dict(zip(("rank_A", "rank_V", "dim_intersection"), numbers, strict=True))
        known = dict.fromkeys(ranks, "proved" if method else "lower bound")
        return {
            "layer": self.layer,
            "head": self.head,
            **{name: getattr(shape, name) for name in ("d", "d_out", "a", "v")},
            **ranks,
            "ranks": (
                known
                | ({} if method else {"dim_intersection": "not decided"})
                | {"method": method or None}
            ),
            "orbit": None if self.is_zero else dict(zip("rsm", numbers, strict=True)),
            **{name: getattr(self, name) for name in ("singular", "boundary", "regular")},
            "fibre": self.words(),
            "parameters": shape.parameters,
            "dimension": shape.dimension,
            "redundant": shape.parameters - shape.dimension,
            "redundant_directions": [
                {"name": name, "dimension": size} for name, size in shape.redundant()
            ],
            "numerical": asdict(self.numerical),
        }


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The symmetries of a layer without output matrix: its outputs are those of its heads, which
    are all known.
    """

    shapes: tuple[HeadShape, ...]

    def words(self) -> str:
        """The words on what the function of the layer determines."""
        return (
            "without an output matrix the outputs of its heads stand side by side, so the function"
            " of each is known"
        )

    def to_json(self) -> dict[str, Any]:
        """The values for ``json.dumps``: the sums of those of the heads."""
        redundant = sum(shape.parameters - shape.dimension for shape in self.shapes)
        listed = sum(size for shape in self.shapes for _, size in shape.redundant())
        return {
            "redundant": redundant,
            "redundant_at_least": redundant,
            "listed_symmetries": listed,
            "other_symmetries": redundant > listed,
        }


def _onto(shape: HeadShape, ranks: Ranks) -> bool | None:
    """Whether factors near these have all products near A, of rank ≤ α, and near OV
    (docs/weights.md).

    Then the weights are a regular point unless their function is critical.
    """
    if not ranks.proved:
        return None
    decided: list[bool | None] = []
    for letters, rows, most, rank in (
        ("KQ", shape.d, shape.alpha, ranks.r),
        ("OV", shape.d_out, shape.beta, ranks.s),
    ):
        missing = [
            n - k
            for x, n in zip(letters, (rows, shape.d), strict=True)
            if (k := ranks.each.get(x, n)) is not None
        ]
        onto = prod(missing) == (rows - most) * (shape.d - most) if len(missing) == 2 else None
        decided.append(rank == most or onto)
    return False if False in decided else None if None in decided else True


def find_heads(
    layers: Sequence[LayerTensors],
    count: int | None,
    a: int | None,
    softmax: bool,
    tolerance: float | None,
) -> tuple[list[HeadWeights], str]:
    """All heads, or those that the time suffices for."""
    if a is not None and (a < 1 or any("A" not in layer.parts for layer in layers)):
        raise InvalidCaseError(
            "a", "is for weights A, a number from 1 on; of K and Q it is the number of rows"
        )
    found: list[HeadWeights] = []
    try:
        every = (
            head for number, layer in enumerate(layers, 1) for head in layer.heads(number, count)
        )
        found.extend(HeadWeights.of(head, a, softmax, tolerance) for head in watched(every))
    except TimeLimitError as limit:
        if not found:
            raise
        return found, str(limit)
    undecided = sum(not head.ranks.proved for head in found)
    return found, f"the ranks of {plural(undecided, 'head')} are not proved" if undecided else ""


def find_symmetries(
    layers: Sequence[LayerTensors], found: Sequence[HeadWeights], skip: bool, normalization: str
) -> dict[int, Any]:
    """The symmetries of each layer with several heads; none of a layer whose weights are outside of
    the model.
    """
    symmetries: dict[int, Any] = {}
    for number, layer in enumerate(layers, 1):
        heads = [head for head in found if head.layer == number]
        shapes = [head.shape for head in heads]
        if len(heads) < 2 or len(set(shapes)) > 1 or any(head.is_outside for head in heads):
            continue
        if not _are_added(layer, shapes):
            symmetries[number] = SideBySide(tuple(shapes))
            continue
        shape = shapes[0]
        sizes = {"widths": [shape.d, shape.d_out], "a": [shape.a], "t": 2, "heads": len(heads)}
        deep = family("deep-attention")
        model = deep.build(
            **sizes, skip=skip and shape.d == shape.d_out, normalization=normalization
        )
        symmetries[number] = deep.symmetries(model, [shapes])
    return symmetries


def _are_added(layer: LayerTensors, shapes: Sequence[HeadShape]) -> bool:
    """Whether the outputs of the heads are added, and not stacked without an output matrix."""
    return len(shapes) == 1 or shapes[0].v is not None or len(layer.parts["V"].shape) == 3


def find_network(
    layers: Sequence[LayerTensors],
    found: Sequence[HeadWeights],
    count: int | None,
    skip: bool,
    normalization: str,
) -> Any:
    """The network of these layers at their weights; ``None`` if they do not follow one another."""
    shapes = [[head.shape for head in found if head.layer == k + 1] for k in range(len(layers))]
    widths = [shapes[0][0].d, *(layer[0].d_out for layer in shapes)]
    follow = all(head.d == d for layer, d in zip(shapes, widths, strict=False) for head in layer)
    summed = _are_added(layers[0], shapes[0])
    equal = len({len(layer) for layer in shapes}) == 1
    if not (alike(layers) and follow and equal and summed) or any(
        head.is_outside for head in found
    ):
        return None
    deep, a = family("deep-attention"), [layer[0].a for layer in shapes]
    sizes = {"widths": widths, "a": a, "t": 2, "heads": len(shapes[0])}
    model = deep.build(**sizes, skip=skip, normalization=normalization)

    def matrices(letters: str) -> Iterator[list[dict[str, Any]]]:
        for number, layer in enumerate(layers, 1):
            every = layer.heads(number, count)
            yield [
                {x: residues(array) for x, array in head.matrices.items() if x in letters}
                for head in every
            ]

    return deep.at_weights(model, shapes, all(head.regular for head in found), matrices)


def find_remarks(
    layers: Sequence[LayerTensors], found: Sequence[HeadWeights], heads: int | None, separate: bool
) -> tuple[str, ...]:
    """The remarks on the reading of these layers; ``separate`` if they are no network."""
    remarks, first = [], layers[0].parts
    one = heads is None and all(len(part.shape) == 2 for part in first.values())
    if one and "K" in first and found[0].shape.a >= found[0].shape.d > 1:
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
    return tuple(remarks)
