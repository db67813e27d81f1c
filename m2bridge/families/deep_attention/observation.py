"""Observations of a network, by computations that share nothing with predictions of statements.

Each observable is a function of a :class:`Computation` that returns a :class:`ComputedValue`; the
table of them is near the end. Numbers are ranks modulo a prime that attain an upper bound, or come
from Gröbner bases; identities are decided in ``identities``. Where nothing is proved, the finding
says so. Proofs are in ``docs/deep-attention.md``.

Notation: a network has l layers, widths d_0, …, d_l and t tokens, the columns of X; a head has an
attention matrix A = KᵀQ and a value matrix V. With one head and no skip connections (a *plain*
network) the virtual weights are A'_k = M_kᵀ A_k M_k, with M_k = V_{k−1}⋯V_1, and M = V_l⋯V_1; E is
the space of all matrices of their sizes. *Scalings* multiply A'_k and M such that the function of
lightning attention stays.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from random import Random
from typing import Any, NamedTuple

from m2bridge.algebra.determinantal import matrices_of_rank
from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.engine import current
from m2bridge.errors import (
    ContradictionError,
    MemoryLimitError,
    MethodUnavailableError,
    TimeLimitError,
    TooLargeError,
)
from m2bridge.families.deep_attention import fibres
from m2bridge.families.deep_attention.bounds import RANK_POINT_SEED, columns_and_rank, full_rank
from m2bridge.families.deep_attention.identities import (
    MAX_NORMAL_FORM_LAYERS,
    RANDOM_WEIGHTS_SEED,
    normal_form,
    scalings_keep_the_function,
)
from m2bridge.families.deep_attention.network import NetworkWeights, Residues, virtual_weights
from m2bridge.families.deep_attention.observed import ComputedValue, ObservedNetwork
from m2bridge.families.deep_attention.shape import (
    NetworkSizes,
    determined_dimension,
    virtual_dimension,
)
from m2bridge.families.deep_attention.upper_bounds import certified_bound
from m2bridge.limits import check_deadline_in, limited
from m2bridge.maps.dimension import dimension
from m2bridge.results.known import Bounds, intersect_bounds

# The largest number of entries of a matrix whose rank is computed here.
MAX_OBSERVED_MATRIX_ENTRIES = 2_000_000


@dataclass(frozen=True)
class Computation:
    """The observation of a network, which caches values that several observables need.

    Parameters
    ----------
    network : NetworkSizes
    certified : bool
        Whether the dimension is found as the checker does, with the numbers that a certificate has,
        and not by the best of all methods.
    """

    network: NetworkSizes
    certified: bool

    @cached_property
    def dimension(self) -> ComputedValue:
        """The dimension of the functions."""
        if self.certified:
            return _certified_dimension(self.network)
        return _dimension(self.network)

    @cached_property
    def virtual_weights(self) -> ComputedValue:
        """The dimension of the virtual weights."""
        return _virtual_weights(self.network)

    @cached_property
    def fibre(self) -> fibres.GenericFibre:
        """A generic fibre in E."""
        return fibres.generic_fibre(self.network)


def observe(network: NetworkSizes, observable: str, *, certified: bool = False) -> ComputedValue:
    """Compute the value of an observable of a network.

    Parameters
    ----------
    observable : str
        A key of :data:`OBSERVERS`, such as ``dimension``: what some statement predicts.
    certified : bool
        Whether the value is for a certificate. The dimension is then found as the checker of
        certificates finds it, and not by the best of all methods.

    Raises
    ------
    MethodUnavailableError, TooLargeError
        If the observable cannot be computed for this network.
    """
    return OBSERVERS[observable](Computation(network, certified))


def observe_part(
    network: NetworkSizes, observables: Collection[str], *, certified: bool = False
) -> ObservedNetwork | None:
    """Compute the observables of a network; when a limit is reached, only those before it.

    An observable that cannot be computed for this network gets a :class:`ComputedValue` without a
    value and with the reason.

    ``certified`` says that the values are for a certificate. Then only the observables are computed
    that a checker recomputes. An error is raised if one of these cannot be computed, or not within
    a limit. The result is ``None`` if a checker recomputes none of the observables, as for softmax
    with several heads or skip connections.

    Raises
    ------
    MethodUnavailableError, TooLargeError
        If one of the values that are to be certified cannot be computed for this network.
    TimeLimitError, MemoryLimitError
        If a limit is reached before all values that are to be certified.
    """
    # In the order of OBSERVERS, quick ones first, so that their values are known if a limit is
    # reached.
    wanted = [name for name in OBSERVERS if name in observables]
    if certified:
        wanted = [name for name in wanted if can_be_certified(network, name)]
        if not wanted:
            return None
    # no limit of its own, but that of an enclosing block; the timer measures the seconds
    with limited(timeout=None) as timer:
        values = _values_until_limit(Computation(network, certified), wanted)
    version = "" if BY_ENGINE.isdisjoint(values.findings) else current().version
    return ObservedNetwork(
        model=network,
        findings=values.findings,
        engine_version=version,
        seconds=timer.seconds,
        unfinished=values.unfinished,
    )


class _ValuesUntilLimit(NamedTuple):
    """The values of observables by their names, and the limit that was reached, in words.

    ``unfinished`` is empty if all were computed.
    """

    findings: dict[str, ComputedValue]
    unfinished: str


def _values_until_limit(
    computation: Computation, observables: Collection[str]
) -> _ValuesUntilLimit:
    """Compute the values of observables in turn; when a limit is reached, only those before it.

    For a certificate, which is whole or does not exist, TimeLimitError or MemoryLimitError is
    raised there.
    """
    findings: dict[str, ComputedValue] = {}
    try:
        for name in observables:
            findings[name] = _value_or_reason(computation, name)
    except (TimeLimitError, MemoryLimitError) as limit:
        if computation.certified:
            raise
        return _ValuesUntilLimit(findings, unfinished=str(limit))
    return _ValuesUntilLimit(findings, unfinished="")


def _value_or_reason(computation: Computation, observable: str) -> ComputedValue:
    """Compute the value of an observable; a result without a value has the reason as its method.

    For a certificate MethodUnavailableError or TooLargeError is raised in its place.
    """
    try:
        return OBSERVERS[observable](computation)
    except (MethodUnavailableError, TooLargeError) as reason:
        if computation.certified:
            raise
        return ComputedValue(known=None, method=str(reason))


def _dimension(network: NetworkSizes) -> ComputedValue:
    """Compute the best lower bound for the dimension; it is exact if it meets an upper bound.

    MethodUnavailableError is raised if no method finds one.
    """
    result = dimension(network)
    if result.lower is None:
        raise MethodUnavailableError(result.unfinished or "no bound was found")
    return ComputedValue(result.lower.known, result.lower.method)


def _attention_matrices(network: NetworkSizes) -> ComputedValue:
    """Compute the dimension of the attention matrices KᵀQ of all heads of all layers.

    It is the sum over all heads of the ranks of the differential of (K, Q) ↦ KᵀQ at a random point,
    for K and Q of size min(a, d) × d. A rank is at most the dimension of the d × d matrices of rank
    at most a: d² for a ≥ d, and 2ad − a² for a ≤ d. It is found modulo LARGE_PRIME, once for all
    heads of a layer, which have one size.
    """
    random = Random(RANDOM_WEIGHTS_SEED)
    rank_sum = upper_bound = 0
    for d, _, a in network.layer_sizes:
        # K and Q have alpha rows: with d of them KᵀQ is any d × d matrix, so more change nothing
        alpha = min(a, d)
        _check_entries(2 * alpha * d, d * d)
        # The matrix of the differential has a row for each entry of K and then of Q, and a column
        # for each entry of A = KᵀQ; all of them row by row.
        K = [[random.randrange(LARGE_PRIME) for _ in range(d)] for _ in range(alpha)]
        Q = [[random.randrange(LARGE_PRIME) for _ in range(d)] for _ in range(alpha)]
        rows = [[0] * (d * d) for _ in range(2 * alpha * d)]
        for e, i, j in check_deadline_in(product(range(alpha), range(d), range(d))):
            # dK_ei and dQ_ej change A_ij = Σ_e K_ei Q_ej.
            rows[e * d + i][i * d + j] = Q[e][j]
            rows[alpha * d + e * d + j][i * d + j] = K[e][i]
        rank_sum += network.heads * rank_mod(rows, LARGE_PRIME)
        upper_bound += network.heads * matrices_of_rank(d, alpha)
    method = f"rank of the differential of (K, Q) ↦ KᵀQ modulo {LARGE_PRIME}"
    return _value_of_rank(rank_sum, upper_bound, method)


def _virtual_weights(network: NetworkSizes) -> ComputedValue:
    """Compute the dimension of the virtual weights.

    It is the rank of the differential of (A, V) or (K, Q, V) ↦ (A'_1, …, A'_l, M), which has a row
    of derivatives for each parameter. The rank is at most the dimension of the variety of flags and
    matrices that contains all virtual weights; see
    :func:`~m2bridge.families.deep_attention.shape.virtual_dimension`.
    """
    if not network.is_plain:
        raise MethodUnavailableError(
            "virtual weights are those of one head without skip connections"
        )
    count = network.parameter_count
    random = Random(RANDOM_WEIGHTS_SEED)
    _check_entries(count, network.virtual_entries)
    parameters = [random.randrange(LARGE_PRIME) for _ in range(count)]
    tangents = [_tangent(network, parameters, i) for i in check_deadline_in(range(count))]
    rank = rank_mod(tangents, LARGE_PRIME)
    method = f"rank of the differential of weights ↦ virtual weights modulo {LARGE_PRIME}"
    return _value_of_rank(rank, virtual_dimension(network), method)


def _tangent(network: NetworkSizes, point: list[int], i: int) -> list[Any]:
    """Return twice the derivative of all entries of A'_1, …, A'_l, M along parameter i.

    It is a list of residues modulo LARGE_PRIME, taken at ``point``, the list of all parameters. As
    functions of parameter i alone, the entries have degree at most 2, because a matrix V occurs
    twice in A'_k = M_kᵀ A_k M_k, and K, Q or A once. The derivative of such a polynomial f at x is
    (f(x + 1) − f(x − 1))/2. The factor 2 does not change ranks.
    """
    numbers = Residues(LARGE_PRIME)
    # the matrices A'_1, …, A'_l, M after a step of 1, and after a step of −1
    matrices_by_step = []
    for step in (1, -1):
        parameters = [*point[:i], point[i] + step, *point[i + 1 :]]
        weights = NetworkWeights.read(network, parameters, numbers)
        matrices_by_step.append(virtual_weights(weights.network()))
    entries: list[Any] = []
    for ahead, behind in zip(*matrices_by_step, strict=True):
        entries += (ahead - behind).entries()
    return entries


def _value_of_rank(
    rank: int, upper: int, method: str, numbers: Mapping[str, Any] | None = None
) -> ComputedValue:
    """Return a dimension by a rank modulo a prime: exact if the rank is the upper bound.

    If it is less, the rank is a lower bound; if it is more, an error is raised. ``numbers`` are
    those for a certificate; for ``None`` they are the rank and the upper bound.
    """
    # ContradictionError if the rank is above the upper bound
    dimension = intersect_bounds(
        Bounds.at_least(rank, method), Bounds.at_most(upper, "an upper bound")
    )
    # A value that is not exact is shown as one bound, here as that which was computed.
    if dimension.exact is None:
        dimension = Bounds.at_least(rank)
    if numbers is None:
        numbers = {"rank": rank, "upper_bound": upper}
    return ComputedValue(known=dimension, method=method, numbers=numbers)


def _unseen_weights(computation: Computation) -> ComputedValue:
    """Compute the dimension of generic fibres of the map from all A and V to the functions.

    It is the dimension of the variety of all A and V, where the d_{k−1} × d_{k−1} matrix A of each
    head has rank at most a_k, less the dimension of the functions. Where the functions have only a
    lower bound, the result is an upper bound. The method is that of the dimension of the functions.
    """
    network = computation.network
    functions = computation.dimension
    # the dimension is a number, as an error is raised where no bound for it is found
    assert isinstance(functions.known, Bounds)
    # the exact dimension of the functions, or a lower bound for it
    functions_dimension = functions.known.value
    weights_dimension = 0
    for d, after, a in network.layer_sizes:
        dimension_of_V = d * after
        dimension_of_A = matrices_of_rank(d, a)
        weights_dimension += network.heads * (dimension_of_V + dimension_of_A)
    fibre_dimension = weights_dimension - functions_dimension
    bound = Bounds.exactly if functions.proved else Bounds.at_most
    # The numbers for a certificate are those from which the dimension of the functions follows, and
    # the dimension of the weights. A dimension that is not certified has none.
    numbers = {**functions.numbers}
    if numbers:
        numbers["weights"] = weights_dimension
    return replace(functions, known=bound(fibre_dimension), numbers=numbers)


def _virtual_fibre_dimension(computation: Computation) -> ComputedValue:
    """Compute the dimension of the fibre of virtual weights over a generic function, up to scaling.

    It is the dimension of the virtual weights, less that of the functions and less l, the dimension
    of the torus of scalings. If one of these two dimensions is a lower bound only, the answer is
    that nothing is known. For softmax, which has no scalings, and where there are no virtual
    weights, MethodUnavailableError is raised.
    """
    if computation.network.softmax:
        raise MethodUnavailableError("scalings are those of lightning attention")
    weights = computation.virtual_weights
    functions = computation.dimension
    # both are dimensions: numbers, or lower bounds
    assert isinstance(weights.value, int)
    assert isinstance(functions.value, int)
    method = "dimension of virtual weights, less that of functions and l scalings"
    numbers = {"virtual_weights": weights.value, "functions": functions.value}
    if not (weights.proved and functions.proved):
        return ComputedValue(known=None, method=f"{method}: not both are known", numbers=numbers)
    value = weights.value - functions.value - computation.network.layers
    return ComputedValue(Bounds.exactly(value), method, numbers=numbers)


def _fibre_numbers(computation: Computation) -> dict[str, int]:
    """Return ``unknowns``, ``dimension`` and ``degree`` of the fibre in E over a random function,
    up to scalings.

    The virtual weights are an irreducible subset of E, dense in E if they have its dimension. So
    the fibre in E contains the fibre in the virtual weights, and has the same dimension in that
    case. ContradictionError is raised if the dimensions do not agree with that.
    """
    network = computation.network
    fibre = computation.fibre
    virtual_fibre = _virtual_fibre_dimension(computation)
    least_dimension = virtual_fibre.exact_value
    # the dimension of the virtual weights, or a lower bound for it: equality decides either way
    weights_dimension = virtual_fibre.numbers["virtual_weights"]
    virtual_weights_are_E = weights_dimension == network.virtual_entries
    if least_dimension is not None:
        too_small = fibre.dimension < least_dimension
        if too_small or (virtual_weights_are_E and fibre.dimension != least_dimension):
            raise ContradictionError(
                f"a fibre of dimension {fibre.dimension}, {least_dimension} in the virtual weights"
            )
    return {
        "unknowns": fibres.unknown_count(network),
        "dimension": fibre.dimension,
        "degree": fibre.degree,
    }


def _fibre(computation: Computation, number: str) -> ComputedValue:
    """Compute the ``dimension`` or the ``degree`` of the fibre in E over a random function, up to
    scalings; ``number`` is one of these two words.
    """
    numbers = _fibre_numbers(computation)
    value = numbers[number]
    evidence = {"unknowns": numbers["unknowns"], number: value}
    return ComputedValue(Bounds.exactly(value), GROEBNER, numbers=evidence)


def _fibre_is_one_point(computation: Computation) -> ComputedValue:
    """Compute whether the fibre in the virtual weights over a random function, up to scalings, is
    one point.

    It is one if the larger fibre in E is one simple point; it is not if its dimension is positive.
    Otherwise nothing is decided, and the result has no value.
    """
    numbers = _fibre_numbers(computation)
    if (numbers["dimension"], numbers["degree"]) == (0, 1):
        return ComputedValue(known=True, method=GROEBNER, numbers=numbers)
    virtual_fibre_dimension = _virtual_fibre_dimension(computation).exact_value
    if virtual_fibre_dimension is not None and virtual_fibre_dimension > 0:
        method = "a fibre of positive dimension in the virtual weights"
        return ComputedValue(known=False, method=method, numbers=numbers)
    method = "not one simple point in E; which are virtual weights is not computed"
    return ComputedValue(known=None, method=method, numbers=numbers)


def _closed(computation: Computation) -> ComputedValue:
    """Compute whether the functions are closed: no, if a limit of networks is no network.

    The properties :data:`fibres.LIMIT_OUTSIDE` together say that one function is a limit of
    networks and no network. If one of them does not hold, or for networks that the limit is not
    about, nothing is decided: MethodUnavailableError.
    """
    has_property = fibres.limit_outside(computation.network)
    if not all(has_property.values()):
        raise MethodUnavailableError("the example does not show that the functions are not closed")
    method = "a limit of networks that is no network, by a Gröbner basis over QQ"
    return ComputedValue(known=False, method=method, numbers=has_property)


GROEBNER = "Gröbner basis over QQ of the equations of a fibre in E over random virtual weights"

FIBRES = ("fibre_dimension", "fibre_degree", "fibre_is_one_point")
BY_ENGINE = frozenset((*FIBRES, "closed"))
OBSERVERS: dict[str, Callable[[Computation], ComputedValue]] = {
    "dimension": lambda computation: computation.dimension,
    "unseen_weights": _unseen_weights,
    "virtual_fibre_dimension": _virtual_fibre_dimension,
    "attention_matrices": lambda computation: _attention_matrices(computation.network),
    "virtual_weights": lambda computation: computation.virtual_weights,
    "normal_form": lambda computation: normal_form(computation.network),
    "scalings_keep_the_function": lambda computation: scalings_keep_the_function(
        computation.network
    ),
    "fibre_dimension": partial(_fibre, number="dimension"),
    "fibre_degree": partial(_fibre, number="degree"),
    "fibre_is_one_point": _fibre_is_one_point,
    "closed": _closed,
}
"""All observables, and how each is computed."""


def _check_entries(rows: int, columns: int) -> None:
    """Raise TooLargeError if a matrix of this size has too many entries."""
    if rows * columns > MAX_OBSERVED_MATRIX_ENTRIES:
        raise TooLargeError(
            f"a matrix of {rows} × {columns} entries; at most"
            f" {MAX_OBSERVED_MATRIX_ENTRIES} are handled: take fewer"
        )


# CERTIFIED_UNKNOWNS[layers] = the largest number of unknowns of a fibre that is certified, by the
# cost of the checker's Gröbner basis: it takes 15 seconds for two layers and 22 unknowns, whatever
# the fibre is, and more than 2 GB for 25; with three layers minutes.
CERTIFIED_UNKNOWNS = {1: 25, 2: 22}


def can_be_certified(network: NetworkSizes, observable: str) -> bool:
    """Return whether the checker recomputes the value of an observable of this network.

    ``observable`` is a key of :data:`OBSERVERS`.
    """
    plain_lightning = network.is_plain and not network.softmax
    # For three layers and more the checker's Gröbner basis never is small enough: 0 unknowns are
    # allowed, and there are more.
    has_small_basis = fibres.unknown_count(network) <= CERTIFIED_UNKNOWNS.get(network.layers, 0)
    dimension_is_recomputed = network.is_plain or not network.softmax
    recomputed = {
        "dimension": dimension_is_recomputed,
        # follows from the dimension
        "unseen_weights": dimension_is_recomputed,
        "virtual_fibre_dimension": plain_lightning,
        "attention_matrices": True,
        "virtual_weights": network.is_plain,
        "normal_form": plain_lightning and network.layers <= MAX_NORMAL_FORM_LAYERS,
        "scalings_keep_the_function": not network.softmax,
        **dict.fromkeys(FIBRES, plain_lightning and has_small_basis),
        # recomputed in the one example, of widths (3, 3, 3), whose functions are known not to be
        # a closed set (proposition-not-closed)
        "closed": fibres.is_example_not_closed(network),
    }
    return recomputed[observable]


def _certified_dimension(network: NetworkSizes) -> ComputedValue:
    """Compute the dimension by ranks modulo a prime, with the numbers from which it follows.

    With several heads or skip connections the lower bound is the rank of the whole differential.
    Otherwise one block decides (``_bound_by_block``). For softmax of one token no rank is needed.
    """
    upper = certified_bound(network)
    # the lower bound for one token of softmax, where every matrix of bounded rank is a function
    lower = upper
    numbers: dict[str, int] = {}
    if not network.is_plain:
        lower = full_rank(network).value
    elif not network.softmax or network.t > 1:
        lower, numbers = _bound_by_block(network)
    numbers = {"lower_bound": lower, **numbers, "upper_bound": upper}
    return _value_of_rank(lower, upper, "ranks modulo a prime", numbers)


def _bound_by_block(network: NetworkSizes) -> tuple[int, dict[str, int]]:
    """Return a lower bound for the dimension by theorem-block, and the numbers behind it, by name.

    The block is a network with at most two inputs and one output; its differential has a column
    for each number of the block. If the kernel of this differential has only the dimension that it
    always has, ``unseen``, the lower bound is the dimension of the functions. If the kernel is
    larger, the bound is 0: the rank of the block may then be more than the dimension.
    """
    columns, rank = columns_and_rank(network)
    unseen = network.kernel_dimension
    block_decides = rank == columns - unseen
    lower = determined_dimension(network) if block_decides else 0
    numbers = {
        "columns": columns,
        "rank": rank,
        "unseen": unseen,
        "seed": RANK_POINT_SEED,
        "prime": LARGE_PRIME,
    }
    return lower, numbers
