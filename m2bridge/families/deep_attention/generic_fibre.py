"""The fibre of lightning attention over the function of random virtual weights, by a Gröbner basis over QQ.

Unknowns are all virtual weights (B_1, …, B_l, N) of the space E, with B_k(1,1) = A_k(1,1): where that entry and Me_1
are not zero, every orbit of the torus of scalings on the fibre has one such point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from m2bridge.algebra.linear_algebra import rank
from m2bridge.clock import clock
from m2bridge.engine import Engine
from m2bridge.engine.answer import parse
from m2bridge.errors import MethodUnavailableError, TooLargeError
from m2bridge.families.deep_attention.block import MinimalStandard
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.render import Script, render

SEED = 240817221
MOST_UNKNOWNS = 25
MOST_WEIGHTS = 1_000_000
_SIZE = 6
Rows = list[list[int]]


@dataclass(frozen=True, slots=True)
class GenericFibre:
    """A fibre up to scalings.

    Parameters
    ----------
    dimension : int
    degree : int
        For dimension 0 its length.
    points : int or None
        For dimension 0 the number of geometric points.
    """

    dimension: int
    degree: int
    points: int | None


def generic_fibre(network: DeepAttention, engine: Engine) -> GenericFibre:
    """Compute the fibre over the function of random weights.

    Raises
    ------
    TooLargeError
        If the network is not lightning attention with one head and without skips, or there are too many unknowns.
    EngineError
        If Macaulay2 did not finish.
    """
    answer = parse(engine.run(script(network), clock().remaining).records)
    dimension = answer.integer("dimension")
    points = answer.integer("points") if dimension == 0 else None
    return GenericFibre(dimension, answer.integer("degree"), points)


def unknown_count(network: DeepAttention) -> int:
    """The number of entries of all B_k and N in the chart."""
    n = network.widths[0]
    return network.layers * (n * n - 1) + n * network.widths[-1]


def script(network: DeepAttention) -> Script:
    """The program."""
    if network.softmax or not network.is_plain:
        raise MethodUnavailableError("fibres are computed for lightning attention, one head, no skip connections")
    if (count := unknown_count(network)) > MOST_UNKNOWNS:
        raise TooLargeError(f"the fibre has {count} unknowns; at most {MOST_UNKNOWNS} are tried")
    if (count := network.parameter_count) > MOST_WEIGHTS:
        raise TooLargeError(f"the network has {count} weights; fibres are computed for at most {MOST_WEIGHTS}")
    n, outputs, l = network.widths[0], network.widths[-1], network.layers
    attention, M = _random_weights(network)
    names = [[[f"inner_({k},{i},{j})" for j in range(1, n + 1)] for i in range(1, n + 1)] for k in range(1, l + 1)]
    values = [[f"outer_({i},{j})" for j in range(1, n + 1)] for i in range(1, outputs + 1)]
    entries = n * network.t if network.t < n else n * (n + 1) // 2
    unknowns = [name for rows in names for name in [*rows[0][1:], *(x for row in rows[1:] for x in row)]]
    charts = [[[str(A[0][0]), *rows[0][1:]], *rows[1:]] for A, rows in zip(attention, names, strict=True)]
    return render(
        "deep_fibre",
        ("wire", "fibres"),
        values={
            "title": network.title,
            "unknowns": ", ".join([*unknowns, *(name for row in values for name in row)]),
            "inputs": f"entry_1..entry_{entries}",
            "size": n,
            "tokens": network.t if network.t < n else 0,
            "unknown_matrices": _list(_matrix(rows) for rows in charts),
            "unknown_values": _matrix(values),
            "matrices": _list(_matrix(A) for A in attention),
            "values": _matrix(M),
        },
    )


def _random_weights(network: DeepAttention) -> tuple[list[Rows], Rows]:
    """Virtual weights of generic ranks for which the chart meets all orbits; a checker makes others in this way."""
    random = MinimalStandard(SEED)
    while True:
        count = network.parameter_count
        parameters = [random.randrange(1, _SIZE) * (-1) ** random.randrange(0, 2) for _ in range(count)]
        attention, M = network.virtual_weights(parameters)
        chart = all(A[0][0] for A in attention) and any(row[0] for row in M)
        if chart and (*map(rank, attention), rank(M)) == (*network.shape.alphas, network.shape.rank):
            return attention, M


def _matrix(rows: Sequence[Sequence[object]]) -> str:
    return f"matrix(unknowns, {_list(_list(map(str, row)) for row in rows)})"


def _list(items: Iterable[str]) -> str:
    return "{" + ", ".join(items) + "}"
