"""A network at given weights: its parameters, dimension or bounds, gauge group, and whether the weights are regular.

Heads may have an output matrix O, so that their values are OV of rank at most v. The functions are then among those of
the network without such a bound, and bounds for its dimension hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from m2bridge.algebra.determinantal import determinantal_dimension, matrices_of_rank
from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import ContradictionError, TimeLimitError
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.network import Head, Residues, gradient
from m2bridge.families.deep_attention.shape import base_changes
from m2bridge.limits import watched
from m2bridge.maps.model import UpperBound

MOST_PARAMETERS = 3000
"""The rank of the differential at the weights of larger networks is not computed; for these it takes half a minute."""
_SPARE_ROWS = 5
_SEED = 20250417

Matrices = Mapping[str, Any]
"""The matrices of a head modulo the prime, by the letters K and Q, or A, and V, and perhaps O."""


@dataclass(frozen=True, slots=True)
class NetworkAtWeights:
    """A network at given weights.

    Parameters
    ----------
    model : DeepAttention
        The network whose values are not bounded in rank, for t = 2; what is said holds for t ≥ 2.
    parameters : int
        All entries of all matrices.
    lower : int or None
        A proved lower bound for the dimension of the neuromanifold.
    upper : UpperBound
    rank : int or None
        Of the differential at these weights modulo a prime, a lower bound; ``None`` where it is not computed.
    gauge : tuple of str
        Factors of a group that acts on the weights and keeps the function.
    note : str
        Why the rank is not computed; empty where it is.
    """

    model: DeepAttention
    parameters: int
    lower: int | None
    upper: UpperBound
    rank: int | None
    gauge: tuple[str, ...]
    note: str

    @property
    def regular(self) -> bool | None:
        """Whether the weights are proved to be a regular point; ``None`` where that is not decided."""
        return True if self.rank == self.upper.value else None

    def facts(self) -> list[tuple[str, object]]:
        """Names and values for people."""
        lower, upper = self.lower, self.upper
        proved = lower == upper.value
        below = "" if lower is None else f"at least {lower}, "
        why = self.note or f"the rank of the differential is at least {self.rank}"
        yes = "yes (proved: the rank of the differential is the dimension)"
        return [
            ("network", self.model.title),
            ("parameters", self.parameters),
            ("dimension", f"{lower} (proved)" if proved else f"{below}at most {upper.value}: {upper.reason}"),
            ("redundant directions", self.parameters - upper.value if proved else None),
            ("gauge group", " × ".join(self.gauge)),
            ("regular point", yes if self.regular else f"not decided: {why}"),
        ]

    def to_json(self) -> dict[str, Any]:
        """The values for ``json.dumps``."""
        return {
            **self.model.to_json(),
            "parameters": self.parameters,
            "dimension": self.lower if self.lower == self.upper.value else None,
            "lower_bound": self.lower,
            "upper_bound": {"value": self.upper.value, "reason": self.upper.reason},
            "gauge_group": list(self.gauge),
            "rank_at_weights": self.rank,
            "regular": self.regular,
            "note": self.note or None,
        }


def at_weights(
    model: DeepAttention, shapes: Sequence[Sequence[Any]], matrices: Callable[[], Sequence[Sequence[Matrices]]]
) -> NetworkAtWeights:
    """A network at given weights.

    Parameters
    ----------
    model : DeepAttention
    shapes : sequence of sequence
        For each head of each layer the numbers d, d_out, alpha, beta, v, factored and parameters.
    matrices : callable
        Returns the matrices of each head of each layer modulo the prime; called for small networks.

    Raises
    ------
    ContradictionError
        If a rank exceeds an upper bound.
    """
    parameters = sum(head.parameters for layer in shapes for head in layer)
    upper = min(*model.upper_bounds(0), _bound_by_ranks(model, shapes), key=lambda bound: bound.value)
    bounded = any(head.beta < min(head.d, head.d_out) for layer in shapes for head in layer)
    rank, note = None, ""
    if model.softmax:
        note = "it is computed for lightning attention only"
    elif parameters > MOST_PARAMETERS:
        note = f"it is computed for up to {MOST_PARAMETERS} parameters"
    else:
        try:
            rank = _rank(model, matrices(), min(upper.value, parameters) + _SPARE_ROWS)
        except TimeLimitError as limit:
            note = str(limit)
    lower = rank
    if rank != upper.value and not bounded and (model.is_plain or model.parameter_count <= MOST_PARAMETERS):
        from m2bridge.maps.dimension import dimension  # needs SymPy, which is slow to import

        generic = dimension(model).lower  # at other weights
        lower = max(
            (value for value in (None if generic is None else generic.value, rank) if value is not None), default=None
        )
    if lower is not None and lower > upper.value:
        raise ContradictionError(f"the rank {lower} exceeds the upper bound {upper.value}: {upper.reason}")
    return NetworkAtWeights(model, parameters, lower, upper, rank, _gauge(model, shapes), note)


def _bound_by_ranks(model: DeepAttention, shapes: Sequence[Sequence[Any]]) -> UpperBound:
    """An upper bound by the ranks of all A and OV, less the changes of base where outputs span a space.

    The functions of the layers are kept by changes of base between them, which act freely there.
    """
    size = sum(
        matrices_of_rank(head.d, head.alpha)
        + determinantal_dimension(head.d_out, head.d, head.beta)
        - (not model.softmax)
        for layer in shapes
        for head in layer
    )
    spanning = all(sum(head.beta for head in layer) >= layer[0].d_out for layer in shapes[:-1])
    bases = base_changes(model) if spanning else 0
    scaled = "" if model.softmax else " up to scalings"
    less = f" less {bases} for changes of base between layers" if bases else ""
    return UpperBound(size - bases, f"the matrices A and V of all heads{scaled}{less}")


def _gauge(model: DeepAttention, shapes: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    heads = [head for layer in shapes for head in layer]
    factors = [f"GL({head.a}) on K and Q" for head in heads if head.factored]
    factors += [f"GL({head.v}) on O and V" for head in heads if head.v is not None]
    factors += [] if model.skip else [f"GL({d}) between layers" for d in model.widths[1:-1]]
    factors += [] if model.softmax else ["R* on A and V" for _ in heads]
    return tuple(f"{name} ({count} times)" if count > 1 else name for name, count in Counter(factors).items())


def _rank(model: DeepAttention, layers: Sequence[Sequence[Matrices]], rows: int) -> int:
    """The rank modulo the prime of gradients at random inputs, each with a covector on the tokens."""
    numbers, random = Residues(LARGE_PRIME), Random(_SEED)
    network = tuple(
        tuple(
            Head(
                head["A"] if "A" in head else head["K"].transpose() * head["Q"],
                head["O"] * head["V"] if "O" in head else head["V"],
            )
            for head in layer
        )
        for layer in layers
    )

    def tokens(width: int) -> Any:
        return numbers.matrix([[random.randrange(LARGE_PRIME) for _ in range(model.t)] for _ in range(width)])

    gradients = (
        gradient(network, tokens(model.widths[0]), tokens(model.widths[-1]), numbers, model.skip)
        for _ in watched(range(rows))
    )
    return rank_mod([_flattened(layers, each) for each in gradients], LARGE_PRIME)


def _flattened(layers: Sequence[Sequence[Matrices]], gradients: Sequence[Sequence[Head]]) -> list[int]:
    """A gradient with respect to all A and OV as one with respect to K, Q, O and V."""
    entries: list[int] = []
    for layer, covectors in zip(layers, gradients, strict=True):
        for head, covector in zip(layer, covectors, strict=True):
            A, V = covector.A, covector.V
            parts = [A] if "A" in head else [head["Q"] * A.transpose(), head["K"] * A]
            parts += [V * head["V"].transpose(), head["O"].transpose() * V] if "O" in head else [V]
            entries += [int(entry) for part in parts for entry in part.entries()]
    return entries
