"""A network at given weights: its parameters, dimension or bounds, gauge group, and whether the
weights are regular.

Heads may have an output matrix O, so that their values are OV of rank at most v. The functions are
then among those of the network without such a bound, and bounds for its dimension hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, mul
from typing import Any

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import TimeLimitError, TooLargeError
from m2bridge.families.deep_attention.bounds import (
    MOST_PARAMETERS,
    rank_by_series,
    rank_of_gradients,
    residues,
)
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.network import (
    NumberSystem,
    Point,
    Residues,
    gradients_at,
    random_matrix,
)
from m2bridge.families.deep_attention.shape import (
    THEOREM,
    act_freely,
    are_separate,
    base_changes,
    bound_by_ranks,
)
from m2bridge.limits import watched
from m2bridge.maps.rank import SPARE_ROWS
from m2bridge.results.known import Known, together
from m2bridge.results.sheet import plural

MOST_WIDTH = 2048
"""Of several layers of softmax; the ranks of their matrices take seconds each."""

Matrices = Mapping[str, Any]
"""The matrices of a head modulo the prime, by the letters K and Q, or A, and V, and perhaps O."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symmetries:
    """The redundant directions of generic weights, compared with the orbits of the gauge group.

    Parameters
    ----------
    redundant : Known
        The number of redundant directions: of the parameters less the dimension of the functions.
    listed : Known
        The dimension of an orbit of the gauge group. Its part on each head has orbits of a known
        dimension; those of changes of base between layers are known where these act freely, and
        else may be smaller.
    """

    redundant: Known
    listed: Known

    @classmethod
    def of(
        cls, model: DeepAttention, shapes: Sequence[Sequence[Any]], dimension: Known
    ) -> Symmetries:
        """Those of a network with these heads, whose functions have this dimension."""
        betas = [layer[0].beta for layer in shapes]
        # With fewer functions more directions are redundant: an upper bound becomes a lower one.
        redundant = Known.at_least(parameter_count(shapes) - int(dimension.most))
        if dimension.exact is not None:
            redundant = Known.exactly(redundant.lower)
        on_heads = sum(size for layer in shapes for head in layer for _, size in head.redundant())
        between_layers = 0 if model.skip else sum(width**2 for width in model.widths[1:-1])
        free = base_changes(model) if act_freely(model, betas) else 0
        return cls(redundant=redundant, listed=Known(on_heads + free, on_heads + between_layers))

    @property
    def others(self) -> bool | None:
        """Whether generic weights have infinitely many others, up to the gauge group, with the same
        function.

        ``None`` where that is not decided.
        """
        if self.redundant.least > self.listed.most:
            return True
        return False if self.redundant.exact == self.listed.lower else None

    def words(self) -> str:
        """The words on what the function determines, of generic weights."""
        redundant = plural(self.redundant.value, "redundant direction")
        if self.redundant.exact is None:
            redundant = f"at least {redundant}"
        listed = f"{self.listed.upper} of the listed symmetries"
        if self.listed.exact is None:
            listed = f"at most {listed}"
        if self.others:
            return (
                f"{redundant}, {listed}: there are others, and weights are not determined up to the"
                " listed ones"
            )
        if self.others is None:
            return f"{redundant}, {listed}: whether there are others is not decided"
        determined = "up to these and finitely many others, generic weights are determined"
        return f"{redundant}, all of the listed symmetries: {determined}"

    def to_json(self) -> dict[str, Any]:
        """The values for ``json.dumps``."""
        return {
            "redundant": self.redundant.exact,
            "redundant_at_least": self.redundant.lower,
            "listed_symmetries": self.listed.upper,
            "other_symmetries": self.others,
        }


def parameter_count(shapes: Sequence[Sequence[Any]]) -> int:
    """The number of entries of the matrices of all heads."""
    return sum(head.parameters for layer in shapes for head in layer)


def known_symmetries(model: DeepAttention, shapes: Sequence[Sequence[Any]]) -> Symmetries:
    """The symmetries of a network with these heads, by the bounds that need no computation with its
    weights.
    """
    betas = [layer[0].beta for layer in shapes]
    ranks = bound_by_ranks(model, betas)
    dimension = together(ranks, *model.upper_bounds(0))
    if are_separate(model, betas):
        dimension = together(dimension, Known.at_least(ranks.upper))
    return Symmetries.of(model, shapes, dimension)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkAtWeights:
    """A network at given weights.

    Parameters
    ----------
    model : DeepAttention
        The network whose values are not bounded in rank, for t = 2; what is said holds for t ≥ 2.
    parameters : int
        All entries of all matrices.
    dimension : Known
        Of the neuromanifold; its upper bound is always known.
    rank : int or None
        Of the differential at these weights, or a lower bound for it; ``None`` where it is not
        known.
    gauge : tuple of str
        Factors of a group that acts on the weights and keeps the function.
    note : str
        Why the rank is not known; or the theorem by which it is.
    symmetries : Symmetries
    """

    model: DeepAttention
    parameters: int
    dimension: Known
    rank: int | None
    gauge: tuple[str, ...]
    note: str
    symmetries: Symmetries

    @property
    def regular(self) -> bool | None:
        """Whether the weights are proved to be a regular point; ``None`` where that is not
        decided.
        """
        return True if self.rank == self.dimension.upper else None

    def facts(self) -> list[tuple[str, object]]:
        """Names and values for people."""
        facts: list[tuple[str, object]] = [
            ("network", self.model.title),
            ("parameters", self.parameters),
        ]
        if self.dimension.exact is None:
            facts.append(("dimension", f"{self.dimension}: {self.dimension.because}"))
        else:
            facts.append(("dimension", f"{self.dimension} (proved)"))
            facts.append(("redundant directions", self.parameters - self.dimension.exact))
        facts.append(("gauge group", " × ".join(self.gauge)))
        if self.regular:
            by = f" by {self.note}" if self.note else ""
            regular = f"yes (proved{by}: the rank of the differential is the dimension)"
        else:
            reason = self.note or f"the rank of the differential is at least {self.rank}"
            regular = f"not decided: {reason}"
        facts.append(("regular point", regular))
        return facts

    def to_json(self) -> dict[str, Any]:
        """The values for ``json.dumps``."""
        return {
            **self.model.to_json(),
            "parameters": self.parameters,
            **self.dimension.to_json(),
            "upper_bound": {"value": self.dimension.upper, "reason": self.dimension.because},
            "gauge_group": list(self.gauge),
            "rank_at_weights": self.rank,
            "regular": self.regular,
            "note": self.note or None,
            **self.symmetries.to_json(),
        }


def at_weights(
    model: DeepAttention,
    shapes: Sequence[Sequence[Any]],
    regular: bool,
    matrices: Callable[[str], Iterator[list[Matrices]]],
) -> NetworkAtWeights:
    """A network at given weights.

    Parameters
    ----------
    model : DeepAttention
    shapes : sequence of sequence
        For each head of each layer the numbers d, d_out, a, beta, v, factored and parameters.
    regular : bool
        Whether the weights of each head alone are proved to be a regular point.
    matrices : callable
        Yields for each layer the matrices of each head with these letters, modulo the prime.

    Raises
    ------
    ContradictionError
        If a rank exceeds an upper bound.
    """
    betas, parameters = [layer[0].beta for layer in shapes], parameter_count(shapes)
    ranks = bound_by_ranks(model, betas)
    known = together(*model.upper_bounds(0), ranks)
    upper = known.value
    separate = are_separate(model, betas)
    rank, note = None, f"it is computed for up to {MOST_PARAMETERS} parameters"
    try:
        if separate and model.softmax and regular and separate_at_weights(model, matrices):
            rank, note = upper, THEOREM
        elif parameters <= MOST_PARAMETERS:
            rank, note = _rank(model, list(matrices("KQAVO")), min(upper, parameters)), ""
    except (TimeLimitError, TooLargeError) as limit:
        note = str(limit)
    unbounded = betas == [min(d, after) for d, after, _ in model.layer_sizes]
    generic = ranks.value if separate else None
    if (
        upper not in (rank, generic)
        and unbounded
        and (model.is_plain or parameters <= MOST_PARAMETERS)
    ):
        from m2bridge.maps.dimension import dimension  # needs SymPy, which is slow to import

        found = dimension(model).lower  # at other weights
        generic = found.value if found else None
    known = together(known, Known.at_least(generic), Known.at_least(rank))
    return NetworkAtWeights(
        model=model,
        parameters=parameters,
        dimension=known,
        rank=rank,
        gauge=_gauge(model, shapes),
        note=note,
        symmetries=Symmetries.of(model, shapes, known),
    )


def _gauge(model: DeepAttention, shapes: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    heads = [head for layer in shapes for head in layer]
    factors = [f"GL({head.a}) on K and Q" for head in heads if head.factored]
    factors += [f"GL({head.v}) on O and V" for head in heads if head.v is not None]
    factors += [] if model.skip else [f"GL({d}) between layers" for d in model.widths[1:-1]]
    factors += [] if model.softmax else ["R* on A and V" for _ in heads]
    return tuple(
        f"{name} ({count} times)" if count > 1 else name for name, count in Counter(factors).items()
    )


def _rank(model: DeepAttention, layers: Sequence[Sequence[Matrices]], upper: int) -> int:
    """The rank of the differential modulo the prime, by gradients; for softmax by all orders of
    power series.
    """

    def point(numbers: NumberSystem) -> Point:
        return Point(
            [
                [{x: numbers.matrix(A.table()) for x, A in head.items()} for head in layer]
                for layer in layers
            ]
        )

    if model.softmax:
        return rank_by_series(model, point, upper)[0]
    gradients = gradients_at(Point(layers), model, Residues(LARGE_PRIME), model.t, residues())
    return rank_of_gradients(gradients, upper)


def separate_at_weights(
    model: DeepAttention, matrices: Callable[[str], Iterator[list[Matrices]]]
) -> bool:
    """Whether Theorem H holds at these weights, by ranks modulo the prime; no value matrix is zero.

    The sum B_k of the values of layer k, plus 1 with skip connections, is onto for k < l and
    one-to-one for k > 1. The quadratic forms of the heads, on the tokens that one head of the layer
    before has as outputs, are independent.
    """
    last, numbers, draw = model.layers - 1, Residues(LARGE_PRIME), residues()
    if last and max(model.widths) > MOST_WIDTH:
        raise TooLargeError(f"it is computed for widths up to {MOST_WIDTH}")

    def tokens(width: int) -> Any:
        return random_matrix(numbers, width, model.heads + SPARE_ROWS, draw)

    outputs = [tokens(model.widths[0])]
    for k, layer in enumerate(watched(matrices("KQAVO" if last else "KQA"))):
        if not any(
            rank_mod([_quadratic_form(head, X) for head in layer], LARGE_PRIME) == model.heads
            for X in outputs
        ):
            return False
        if last:
            d, after = model.widths[k : k + 2]
            values = [head["O"] * head["V"] if "O" in head else head["V"] for head in layer]
            identity = (
                [numbers.matrix([[int(i == j) for j in range(d)] for i in range(d)])]
                if model.skip
                else []
            )
            rank = reduce(add, values + identity).rank()
            if (k < last and rank < after) or (k and rank < d):
                return False
            X = tokens(d)
            outputs = [V * X for V in values]
    return True


def _quadratic_form(head: Matrices, X: Any) -> list[int]:
    """The values of xᵀAx at all columns x."""
    left, right = (X, head["A"] * X) if "A" in head else (head["K"] * X, head["Q"] * X)
    columns = zip(left.transpose().table(), right.transpose().table(), strict=True)
    return [sum(map(mul, *column)) for column in columns]
