"""Observations of a network, by computations that share nothing with predictions of statements.

Each observable is a function of a :class:`Computation` that returns a :class:`ComputedValue`; the
table of them is near the end. Numbers are ranks modulo a prime that attain an upper bound, or come
from Gröbner bases. Identities are equalities of *words*, products of letters that stand for
matrices of any size; for softmax two functions are compared at a point, in balls. Where nothing is
proved, the value says so. An observable that a network does not have, or that is too large, is
MethodUnavailableError or TooLargeError. Proofs are in ``docs/deep-attention.md``.

Notation: a network has l layers, widths d_0, …, d_l and t tokens, the columns of X; a head has an
attention matrix A = KᵀQ and a value matrix V. With one head and no skip connections (a *plain*
network) the virtual weights are A'_k = M_kᵀ A_k M_k, with M_k = V_{k−1}⋯V_1, and M = V_l⋯V_1; E is
the space of all matrices of their sizes. *Scalings* multiply A'_k and M such that the function of
lightning attention stays: they multiply V by a number and divide A by it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from random import Random
from typing import Any

import flint

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
from m2bridge.families.deep_attention.bounds import (
    RANK_POINT_SEED,
    columns_and_rank,
    full_rank,
    multiplicities_of_tokens,
)
from m2bridge.families.deep_attention.matrix_words import (
    TOKENS,
    UNIT_MATRIX,
    layer_of_letters,
    letters,
)
from m2bridge.families.deep_attention.network import (
    Balls,
    HeadMatrices,
    NetworkWeights,
    NumberSystem,
    Residues,
    output,
    random_matrix,
    virtual_weights,
)
from m2bridge.families.deep_attention.shape import (
    NetworkSizes,
    determined_dimension,
    virtual_dimension,
)
from m2bridge.families.deep_attention.upper_bounds import certified_bound
from m2bridge.limits import check_deadline_in, limited
from m2bridge.maps.dimension import dimension
from m2bridge.results.known import UNKNOWN, Bounds, intersect_bounds
from m2bridge.results.sheet import value_text
from m2bridge.statements.statement import Observed, Value

# The largest number of entries of a matrix whose rank is computed here.
MAX_OBSERVED_MATRIX_ENTRIES = 2_000_000
# Different from the seed of the bounds, so that a rank that is too small by chance is noticed.
RANDOM_WEIGHTS_SEED = 20250418
# The largest number l of layers, since the function is a word of 2·3^l − 1 letters.
MAX_NORMAL_FORM_LAYERS = 12
# The largest number of heads, since the function of a layer is a sum of one word for each.
MAX_OBSERVED_HEADS = 1000
# CERTIFIED_UNKNOWNS[layers] = the largest number of unknowns of a fibre that is certified, by the
# cost of the checker's Gröbner basis: seconds for two layers and 22 unknowns, and more than 2 GB
# for 25; with three layers minutes.
CERTIFIED_UNKNOWNS = {1: 25, 2: 22}


@dataclass(frozen=True, slots=True)
class ComputedValue:
    """A computed value of an observable, or the reason why it is not known."""

    # yes or no, or a number, possibly between bounds; ``None`` if nothing is known
    known: bool | Bounds | None
    method: str  # in one line, or the reason why nothing is known
    # the numbers that a certificate contains, by name
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> bool | int | None:
        """The value, or a bound for it, which :attr:`bound` names: the lower one of two."""
        return self.known.value if isinstance(self.known, Bounds) else self.known

    @property
    def bound(self) -> str:
        """``at least`` or ``at most`` if :attr:`value` is a bound; else empty."""
        if not isinstance(self.known, Bounds) or self.known.exact is not None:
            return ""
        if self.known.lower is None:
            return "at most"
        return "at least"

    @property
    def exact_value(self) -> bool | int | None:
        """The value if it is not only a bound; else ``None``."""
        return self.known.exact if isinstance(self.known, Bounds) else self.known

    @property
    def proved(self) -> bool:
        """Whether an exact value is known, which is then proved: bounds are proved, and agree."""
        return self.exact_value is not None

    @property
    def text(self) -> str:
        """The value in words, with its method."""
        if self.known is None:
            return f"not decided: {self.method}"
        remark = " (proved)" if self.proved else ""
        return f"{value_text(self.known)}{remark}: {self.method}"

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``; a value that is not known becomes ``null``."""
        return {
            "value": self.value,
            # "at least" or "at most"; null where the value is exact or not known
            "bound": self.bound or None,
            "proved": self.proved,
            "method": self.method,
        }


@dataclass(frozen=True, slots=True)
class ObservedNetwork(Observed):
    """The observed values of a network; see :class:`m2bridge.statements.statement.Observed`."""

    model: NetworkSizes
    findings: Mapping[str, ComputedValue]  # by observable
    engine_version: str  # of Macaulay2, or empty if no value needed it
    seconds: float
    unfinished: str = ""  # the limit that was reached
    remarks: tuple[str, ...] = ()  # empty, as no two methods are compared here

    @property
    def progress(self) -> str:
        """The observables that were computed before a limit, in words; empty without a limit."""
        if not self.unfinished:
            return ""
        return f"observed: {', '.join(self.findings) or 'nothing'}"

    def value(self, observable: str) -> Value | None:
        """Return the value of an observable where it is exact, else ``None``."""
        finding = self.findings.get(observable)
        return None if finding is None else finding.exact_value

    def unknown(self, observable: str) -> str:
        """Return in words why the value of an observable is not exact."""
        words = observable.replace("_", " ")
        finding = self.findings.get(observable)
        if finding is None:
            return self.unfinished or f"{words}: not observed"
        if finding.value is None:
            return f"{words}: {finding.method}"
        return f"{words}: {finding.known} ({finding.method})"

    def bounds(self, observable: str) -> Bounds:
        """Return the bounds for the dimension."""
        finding = self.findings.get(observable)
        if observable != "dimension" or finding is None or not isinstance(finding.known, Bounds):
            return UNKNOWN
        return finding.known

    def numbers(self) -> dict[str, int]:
        """Return the integers from which values follow, such as ranks, by their names; of several
        with one name the last.
        """
        numbers: dict[str, Any] = {}
        for finding in self.findings.values():
            numbers |= finding.numbers
        # Values yes and no are not numbers, although a bool is an int.
        return {name: number for name, number in numbers.items() if type(number) is int}

    def evidence(self) -> dict[str, Any]:
        """Return for a certificate the numbers from which each value follows, by observable."""
        return {name: {**self.findings[name].numbers} for name in sorted(self.findings)}

    def facts(self) -> list[tuple[str, str | None]]:
        """Return the name of each observable, and its value with the method, for a page."""
        return [(name.replace("_", " "), finding.text) for name, finding in self.findings.items()]

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``: each value by its observable."""
        observed = {name: finding.to_json() for name, finding in self.findings.items()}
        return {"observed": observed}


@dataclass(frozen=True)
class Computation:
    """The observation of a network, which caches values that several observables need."""

    network: NetworkSizes
    # whether the dimension is found as the checker does, with the numbers that a certificate has,
    # and not by the best of all methods
    certified: bool

    @cached_property
    def dimension(self) -> ComputedValue:
        """The dimension of the functions."""
        if self.certified:
            return _certified_dimension(self.network)
        best = dimension(self.network)
        if best.lower is None:
            raise MethodUnavailableError(best.unfinished or "no bound was found")
        return ComputedValue(best.lower.known, best.lower.method)

    @cached_property
    def virtual_weights(self) -> ComputedValue:
        """The dimension of the virtual weights: the rank of the differential of (A, V) or (K, Q, V)
        ↦ (A'_1, …, A'_l, M), with a row of derivatives for each parameter.
        """
        if not self.network.is_plain:
            raise MethodUnavailableError(
                "only a network of one head without skip connections has virtual weights"
            )
        count = self.network.parameter_count
        random = Random(RANDOM_WEIGHTS_SEED)
        _check_entries(count, self.network.virtual_entries)
        point = [random.randrange(LARGE_PRIME) for _ in range(count)]
        tangents = [_tangent(self.network, point, i) for i in check_deadline_in(range(count))]
        rank = rank_mod(tangents, LARGE_PRIME)
        method = f"rank of the differential of weights ↦ virtual weights modulo {LARGE_PRIME}"
        return _value_of_rank(rank, virtual_dimension(self.network), method)

    @cached_property
    def fibre(self) -> fibres.GenericFibre:
        """A generic fibre in E."""
        return fibres.generic_fibre(self.network)


def observe(network: NetworkSizes, observable: str, *, certified: bool = False) -> ComputedValue:
    """Compute the value of an observable, a key of :data:`OBSERVERS`."""
    return OBSERVERS[observable](Computation(network, certified))


def observe_part(
    network: NetworkSizes, observables: Collection[str], *, certified: bool = False
) -> ObservedNetwork | None:
    """Compute the observables of a network; when a limit is reached, only those before it. One that
    cannot be computed has the reason as its method.

    A certificate, of the observables that a checker recomputes, is whole or does not exist: errors
    and limits are raised. It is ``None`` if a checker recomputes none of them.
    """
    # In the order of OBSERVERS, quick ones first, so that their values are known if a limit is
    # reached.
    names = [name for name in OBSERVERS if name in observables]
    if certified:
        names = [name for name in names if can_be_certified(network, name)]
        if not names:
            return None
    findings: dict[str, ComputedValue] = {}
    unfinished = ""
    computation = Computation(network, certified)
    # no limit but the limit of an enclosing block; the timer measures the seconds
    with limited(timeout=None) as timer:
        for name in names:
            try:
                findings[name] = OBSERVERS[name](computation)
            except (MethodUnavailableError, TooLargeError) as reason:
                if certified:
                    raise
                findings[name] = ComputedValue(known=None, method=str(reason))
            except (TimeLimitError, MemoryLimitError) as limit:
                if certified:
                    raise
                unfinished = str(limit)
                break
    version = "" if BY_ENGINE.isdisjoint(findings) else current().version
    return ObservedNetwork(
        model=network,
        findings=findings,
        engine_version=version,
        seconds=timer.seconds,
        unfinished=unfinished,
    )


# Ranks of differentials.


def _check_entries(rows: int, columns: int) -> None:
    """Raise TooLargeError if a matrix of this size has too many entries."""
    if rows * columns > MAX_OBSERVED_MATRIX_ENTRIES:
        raise TooLargeError(
            f"a matrix of {rows} × {columns} entries; at most"
            f" {MAX_OBSERVED_MATRIX_ENTRIES} are handled: take fewer"
        )


def _attention_matrices(computation: Computation) -> ComputedValue:
    """Compute the dimension of the attention matrices KᵀQ of all heads of all layers, the sum of
    the ranks of the differential of (K, Q) ↦ KᵀQ at a random point.
    """
    random = Random(RANDOM_WEIGHTS_SEED)
    rank_sum = upper_bound = 0
    heads = computation.network.heads
    for d, _, a in computation.network.layer_sizes:
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
        rank_sum += heads * rank_mod(rows, LARGE_PRIME)
        upper_bound += heads * matrices_of_rank(d, alpha)
    method = f"rank of the differential of (K, Q) ↦ KᵀQ modulo {LARGE_PRIME}"
    return _value_of_rank(rank_sum, upper_bound, method)


def _tangent(network: NetworkSizes, point: list[int], i: int) -> list[Any]:
    """Return twice the derivative of all entries of A'_1, …, A'_l, M along parameter i: f(x + 1) −
    f(x − 1).

    As functions of parameter i alone, the entries have degree at most 2, because a matrix V occurs
    twice in A'_k = M_kᵀ A_k M_k, and K, Q or A once. The factor 2 does not change ranks.
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
    """Return a dimension by a rank modulo a prime: exact if the rank is the upper bound. By default
    these two are the numbers for a certificate.
    """
    # ContradictionError if the rank is above the upper bound
    bounds = intersect_bounds(
        Bounds.at_least(rank, method), Bounds.at_most(upper, "an upper bound")
    )
    # A value that is not exact is shown as one bound, here as that which was computed.
    if bounds.exact is None:
        bounds = Bounds.at_least(rank)
    if numbers is None:
        numbers = {"rank": rank, "upper_bound": upper}
    return ComputedValue(known=bounds, method=method, numbers=numbers)


def _certified_dimension(network: NetworkSizes) -> ComputedValue:
    """Compute the dimension by ranks modulo a prime, with the numbers from which it follows.

    With several heads or skip connections the lower bound is the rank of the whole differential.
    Otherwise one block decides (theorem-block): if the kernel of its differential has only the
    dimension that it always has, ``unseen``, the lower bound is the dimension of the functions. If
    the kernel is larger, the bound is 0: the rank of the block may then be more than the dimension.
    """
    upper = certified_bound(network)
    # the lower bound for one token of softmax, where every matrix of bounded rank is a function
    lower = upper
    block_numbers: dict[str, int] = {}
    if not network.is_plain:
        lower = full_rank(network).value
    elif not network.softmax or network.t > 1:
        columns, rank = columns_and_rank(network)
        unseen = network.kernel_dimension
        lower = determined_dimension(network) if rank == columns - unseen else 0
        block_numbers = {
            "columns": columns,
            "rank": rank,
            "unseen": unseen,
            "seed": RANK_POINT_SEED,
            "prime": LARGE_PRIME,
        }
    numbers = {"lower_bound": lower, **block_numbers, "upper_bound": upper}
    return _value_of_rank(lower, upper, "ranks modulo a prime", numbers)


# Identities.


def _normal_form(computation: Computation) -> ComputedValue:
    """Compute whether the function of plain lightning attention is P(XXᵀ)X with P = MQ.

    Put S = XXᵀ. If the tokens before layer k are Y = M_k Q X, the tokens after it are V_k YYᵀ A_k
    Y, which is M_{k+1} (Q S Qᵀ A'_k Q) X. So Q is the identity before the first layer, and layer k
    replaces Q by Q S Qᵀ A'_k Q.
    """
    network = computation.network
    if network.softmax or not network.is_plain:
        raise MethodUnavailableError(
            "only lightning attention of one head without skip connections has a normal form"
        )
    if network.layers > MAX_NORMAL_FORM_LAYERS:
        raise TooLargeError(
            f"words are written for at most {MAX_NORMAL_FORM_LAYERS} layers; --all-sizes decides"
            " all"
        )
    layers = tuple(map(layer_of_letters, range(network.layers)))
    # products of letters need nothing of the number system but its σ, the identity
    function = output(layers, TOKENS, numbers=NumberSystem())
    *matrices, M = virtual_weights(layers)
    S = TOKENS * TOKENS.transpose()
    Q = UNIT_MATRIX
    for A in matrices:
        Q = Q * S * Q.transpose() * A * Q
    return ComputedValue(
        known=function == M * Q * TOKENS,
        method="both sides as words in matrices",
        numbers={"factors": max(map(len, function))},
    )


def _scalings_keep_the_function(computation: Computation) -> ComputedValue:
    """Compute whether V → cV, A → A/c in the first head keeps the function of the first layer, and
    so of the network: in lightning attention if V and A occur equally often in each word of it.
    """
    network = computation.network
    if network.softmax:
        return _softmax_scalings(network)
    if network.heads > MAX_OBSERVED_HEADS:
        raise TooLargeError(f"words are written for at most {MAX_OBSERVED_HEADS} heads: take fewer")
    # the function of the first layer as a sum of words in A and V of its heads, and in the tokens
    first_layer = layer_of_letters(0, network.heads)
    function = output([first_layer], TOKENS, numbers=NumberSystem(), skip=network.skip)
    # of the first head
    A, V = letters(0)
    # for each word how often the letter is in it
    degrees_in_A, degrees_in_V = function.degrees(A), function.degrees(V)
    # The scaling multiplies a word by c to the degree in V less that in A.
    if degrees_in_V != degrees_in_A:
        return ComputedValue(known=False, method="the first layer with cV and A/c has other words")
    degrees = {"degree_in_values": max(degrees_in_V), "degree_in_attention": max(degrees_in_A)}
    return ComputedValue(
        known=True, method="the first layer with cV and A/c has the same words", numbers=degrees
    )


def _softmax_scalings(network: NetworkSizes) -> ComputedValue:
    """Show that V → 7V, A → A/7 in the first head of softmax attention changes the function: the
    outputs at one rational point are in disjoint balls. Balls never show that they are equal.
    """
    random = Random(RANDOM_WEIGHTS_SEED)
    unit = flint.fmpq(1, 10)
    multiplicities = multiplicities_of_tokens(network.t)
    numbers = Balls(multiplicities=multiplicities)
    parameters = [random.randrange(1, 10) * unit for _ in range(network.parameter_count)]
    weights = NetworkWeights.read(network, parameters, numbers).network()
    (first_head, *other_heads), *other_layers = weights
    scaled_head = HeadMatrices(A=first_head.A / 7, V=first_head.V * 7)
    scaled = ((scaled_head, *other_heads), *other_layers)
    X = random_matrix(
        numbers, network.widths[0], len(multiplicities), lambda: random.randrange(-9, 10) * unit
    )
    values = output(weights, X, numbers=numbers, skip=network.skip).entries()
    scaled_values = output(scaled, X, numbers=numbers, skip=network.skip).entries()
    pairs = zip(values, scaled_values, strict=True)
    if all(value.overlaps(scaled_value) for value, scaled_value in pairs):
        raise MethodUnavailableError(
            "the values with scaled weights cannot be separated in ball arithmetic"
        )
    return ComputedValue(known=False, method="differs at a rational point, in balls")


# Fibres, and closedness.


def _unseen_weights(computation: Computation) -> ComputedValue:
    """Compute the dimension of generic fibres of the map from all A and V to the functions: the
    dimension of all A and V, rk A ≤ a_k, less the dimension of the functions, with its method.
    """
    network = computation.network
    functions = computation.dimension
    # the dimension is a number, as an error is raised where no bound for it is found
    assert isinstance(functions.known, Bounds)
    # the exact dimension of the functions, or a lower bound for it
    functions_dimension = functions.known.value
    weights_dimension = 0
    for d, outputs, a in network.layer_sizes:
        weights_dimension += network.heads * (d * outputs + matrices_of_rank(d, a))
    fibre_dimension = weights_dimension - functions_dimension
    bound = Bounds.exactly if functions.proved else Bounds.at_most
    # a dimension that is not certified has no numbers
    numbers = {**functions.numbers}
    if numbers:
        numbers["weights"] = weights_dimension
    return replace(functions, known=bound(fibre_dimension), numbers=numbers)


def _virtual_fibre_dimension(computation: Computation) -> ComputedValue:
    """Compute the dimension of the fibre of virtual weights over a generic function, up to scaling:
    the difference of the dimensions of virtual weights and functions, less l for the torus of
    scalings.
    """
    if computation.network.softmax:
        raise MethodUnavailableError("only lightning attention has scalings")
    weights = computation.virtual_weights
    functions = computation.dimension
    # both are dimensions: numbers, or lower bounds
    assert isinstance(weights.value, int)
    assert isinstance(functions.value, int)
    method = "dimension of virtual weights, less the dimension of functions and l scalings"
    numbers = {"virtual_weights": weights.value, "functions": functions.value}
    if not (weights.proved and functions.proved):
        return ComputedValue(known=None, method=f"{method}: not both are known", numbers=numbers)
    value = weights.value - functions.value - computation.network.layers
    return ComputedValue(Bounds.exactly(value), method, numbers=numbers)


def _fibre_numbers(computation: Computation) -> dict[str, int]:
    """Return ``unknowns``, ``dimension`` and ``degree`` of the fibre in E over a random function.

    The virtual weights are an irreducible subset of E, dense in E if they have its dimension. So
    the fibre in E contains the fibre in the virtual weights, and has the same dimension in that
    case; else ContradictionError.
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
    """Compute the ``dimension`` or the ``degree`` of the fibre in E, up to scalings."""
    numbers = _fibre_numbers(computation)
    value = numbers[number]
    evidence = {"unknowns": numbers["unknowns"], number: value}
    return ComputedValue(Bounds.exactly(value), GROEBNER, numbers=evidence)


def _fibre_is_one_point(computation: Computation) -> ComputedValue:
    """Compute whether the fibre in the virtual weights, up to scalings, is one point: yes if the
    larger fibre in E is one simple point, no if its dimension is positive.
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
    """Compute whether the functions are closed: no, if one limit of networks is not a network."""
    has_property = fibres.limit_outside(computation.network)
    if not all(has_property.values()):
        raise MethodUnavailableError("the example does not show that the functions are not closed")
    method = "a limit of networks that is not a network, by a Gröbner basis over QQ"
    return ComputedValue(known=False, method=method, numbers=has_property)


GROEBNER = "Gröbner basis over QQ of the equations of a fibre in E over random virtual weights"

FIBRES = ("fibre_dimension", "fibre_degree", "fibre_is_one_point")
BY_ENGINE = frozenset((*FIBRES, "closed"))
OBSERVERS: dict[str, Callable[[Computation], ComputedValue]] = {
    "dimension": lambda computation: computation.dimension,
    "unseen_weights": _unseen_weights,
    "virtual_fibre_dimension": _virtual_fibre_dimension,
    "attention_matrices": _attention_matrices,
    "virtual_weights": lambda computation: computation.virtual_weights,
    "normal_form": _normal_form,
    "scalings_keep_the_function": _scalings_keep_the_function,
    "fibre_dimension": partial(_fibre, number="dimension"),
    "fibre_degree": partial(_fibre, number="degree"),
    "fibre_is_one_point": _fibre_is_one_point,
    "closed": _closed,
}
"""All observables, and how each is computed."""


def can_be_certified(network: NetworkSizes, observable: str) -> bool:
    """Return whether the checker recomputes the value of an observable of this network."""
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
