"""The programs about fibres: of lightning attention over a random function, and of a limit.

E is the space of all matrices (B_1, …, B_l, N) with the sizes of the virtual weights
(A'_1, …, A'_l, M).
A fibre is that in E over the function of random virtual weights, by a Gröbner basis over QQ, where
B_k(1,1) = A'_k(1,1): if that entry and Me_1 are not zero, every orbit of the torus of scalings on
the fibre has one such point. (The function is then not zero at the token e_1, and so no B_k(1,1) is
zero on the fibre.) The other entries are the unknowns.

That two layers are not closed is shown by a limit of networks over which there is no fibre
(proposition-not-closed in docs/deep-attention.md).

Virtual weights are A'_k = M_kᵀ A_k M_k with M_k = V_{k−1}⋯V_1, and M = V_l⋯V_1, of the attention
matrices A_k and value matrices V_k of l layers with one head and no skip connections. The torus
multiplies each A'_k by a number, and M by the number that keeps the function. Scripts are programs
of Macaulay2, rendered from templates. MethodUnavailableError says that a network is not plain
lightning attention, or that the limit is not about it; TooLargeError that it has too many unknowns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count, islice

from m2bridge.algebra.linear_algebra import rank
from m2bridge.convert.answers import answer_to
from m2bridge.engine.script import Script, render
from m2bridge.errors import MethodUnavailableError, TooLargeError
from m2bridge.families.deep_attention.bounds import minimal_standard
from m2bridge.families.deep_attention.network import VirtualWeights, virtual_weights_at
from m2bridge.families.deep_attention.shape import NetworkSizes
from m2bridge.results.sheet import m2_list

# Not the seed of the checker, which has another function.
FIBRE_WEIGHTS_SEED = 240817221
# Widths (3, 3, 3) have as many; more are not tried.
MAX_FIBRE_UNKNOWNS = 25
# Entries of all layers, which are multiplied before there are unknowns.
MAX_FIBRE_WEIGHTS = 1_000_000


@dataclass(frozen=True, slots=True)
class GenericFibre:
    """A fibre up to scalings."""

    dimension: int
    degree: int  # the length of the fibre if the dimension is 0
    points: int | None  # the number of geometric points if the dimension is 0


def generic_fibre(network: NetworkSizes) -> GenericFibre:
    """Compute by Macaulay2 the fibre, up to scalings, over the function of random weights."""
    answer = answer_to(fibre_script(network))
    dimension = answer.integer("dimension")
    points = answer.integer("points") if dimension == 0 else None
    return GenericFibre(dimension=dimension, degree=answer.integer("degree"), points=points)


def unknown_count(network: NetworkSizes) -> int:
    """Return the number of entries of all B_k and N without the l entries B_k(1,1)."""
    return network.virtual_entries - network.layers


def fibre_script(network: NetworkSizes) -> Script:
    """Return the Macaulay2 program for the fibre, up to scalings, over a random function.

    Its answers are the integers ``dimension`` and ``degree``, and ``points``, the number of
    geometric points if the dimension is 0, else null.
    """
    if network.softmax or not network.is_plain:
        raise MethodUnavailableError(
            "fibres are computed for lightning attention, one head, no skip connections"
        )
    if unknown_count(network) > MAX_FIBRE_UNKNOWNS:
        raise TooLargeError(
            f"the fibre has {unknown_count(network)} unknowns; at most {MAX_FIBRE_UNKNOWNS} are"
            " tried: take smaller widths"
        )
    if network.parameter_count > MAX_FIBRE_WEIGHTS:
        raise TooLargeError(
            f"the network has {network.parameter_count} weights; fibres are computed for at most"
            f" {MAX_FIBRE_WEIGHTS}: take fewer"
        )
    n = network.widths[0]
    few_tokens = network.t < n
    # the inputs are the entries of X; for t ≥ n the entries of XXᵀ, then any symmetric matrix
    input_count = n * network.t if few_tokens else n * (n + 1) // 2
    attention, M = _random_weights(network)
    # The matrices (B_1, …, B_l, N) with texts for Macaulay2 as entries: A_k(1,1) for each
    # B_k(1,1), and else the name of an unknown.
    B: list[list[list[str]]] = []
    unknowns: list[str] = []
    for k, A in enumerate(attention, 1):
        # the entry (1, 1) is not an unknown, so that its name is left out
        (_, *first_row), *rows = _names(f"inner_({k},", n, n)
        B.append([[str(A[0][0]), *first_row], *rows])
        unknowns += [*first_row, *chain.from_iterable(rows)]
    N = _names("outer_(", network.widths[-1], n)
    unknowns += chain.from_iterable(N)
    return render(
        "deep_fibre",
        libraries=("wire", "fibres"),
        values={
            "title": network.title,
            "unknowns": ", ".join(unknowns),
            "inputs": f"entry_1..entry_{input_count}",
            "size": n,
            # 0 says that the inputs are XXᵀ
            "tokens": network.t if few_tokens else 0,
            "unknown_matrices": m2_list(map(_matrix, B)),
            "unknown_values": _matrix(N),
            "matrices": m2_list(map(_matrix, attention)),
            "values": _matrix(M),
        },
    )


def _names(beginning: str, rows: int, columns: int) -> list[list[str]]:
    """Return the rows of a matrix of names: ``inner_(1,`` gives ``inner_(1,1,1)`` at first."""
    column_numbers = range(1, columns + 1)
    return [[f"{beginning}{i},{j})" for j in column_numbers] for i in range(1, rows + 1)]


def _random_weights(network: NetworkSizes) -> VirtualWeights:
    """Return virtual weights of generic ranks, in the chart, of weights ±1, …, ±5."""
    states = minimal_standard(FIBRE_WEIGHTS_SEED)
    draws = ((1 + next(states) % 5) * (-1) ** (next(states) % 2) for _ in count())
    # of A'_1, …, A'_l, and of M
    generic_ranks = (*network.alphas, network.rank)
    while True:
        parameters = list(islice(draws, network.parameter_count))
        weights = virtual_weights_at(network, parameters)
        attention, M = weights
        first_entries_nonzero = all(A[0][0] != 0 for A in attention)
        first_column_nonzero = any(row[0] != 0 for row in M)
        chart_meets_all_orbits = first_entries_nonzero and first_column_nonzero
        if chart_meets_all_orbits and (*map(rank, attention), rank(M)) == generic_ranks:
            return weights


def _matrix(rows: Sequence[Sequence[object]]) -> str:
    """Return a matrix with these rows as Macaulay2 code, over the program's ring ``unknowns``."""
    listed_rows = m2_list(map(m2_list, rows))
    return f"matrix(unknowns, {listed_rows})"


LIMIT_OUTSIDE = (
    "networks_for_all_epsilon",
    "columns_span",
    "rank_one",
    "vanishes_on_one_token",
    "no_network",
)
"""The properties that Macaulay2 finds of the limit f(XXᵀ)X of networks of three widths 3.

The networks of the family, with ranks 2 and 2, are ε times a polynomial in ε with value f at 0. The
columns of f span the space, so that a network with the function f has an invertible matrix M. f has
rank one and is not zero; then A_1 or A_2 has rank one. f vanishes on one token; then A_1 or A_2 is
skew-symmetric. No network with A_1 skew-symmetric has the function f: the equations generate the
unit ideal over QQ. With all of them f is a limit of networks and no network.
"""


def is_example_not_closed(network: NetworkSizes) -> bool:
    """Return whether proposition-not-closed is about a network: its functions are not closed."""
    return why_limit_says_nothing(network) == ""


def why_limit_says_nothing(network: NetworkSizes) -> str:
    """Return why the limit says nothing about a network; empty if it does."""
    if network.softmax or not network.is_plain:
        return "the example is lightning attention with one head and without skip connections"
    if network.widths != (3, 3, 3) or min(network.a) < 2 or network.t < 3:
        return "the example has widths (3, 3, 3), a_1, a_2 ≥ 2 and t ≥ 3"
    return ""


def limit_outside(network: NetworkSizes) -> dict[str, bool]:
    """Check by Macaulay2 the example of proposition-not-closed, which is the same for all networks.

    If all properties LIMIT_OUTSIDE are true, this function is a limit of functions of networks and
    not one itself.
    """
    reason = why_limit_says_nothing(network)
    if reason:
        raise MethodUnavailableError(reason)
    answer = answer_to(limit_script(network))
    return {name: answer.boolean(name) for name in LIMIT_OUTSIDE}


def limit_script(network: NetworkSizes) -> Script:
    """Return the Macaulay2 program whose answers are the truth values LIMIT_OUTSIDE, by name."""
    return render("not_closed", values={"title": network.title})
