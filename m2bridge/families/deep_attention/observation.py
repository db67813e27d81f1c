"""Observations of a network, by computations that share nothing with predictions of statements.

Each observable is a function of a :class:`Computation` that returns a :class:`ComputedValue`; the
table of them is near the end. Numbers are ranks modulo a prime that attain an upper bound, words in
matrices, balls, or Gröbner bases; where nothing is proved, the finding says so. Proofs are in
``docs/deep-attention.md``.
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
from m2bridge.families.deep_attention.bounds import RANK_POINT_SEED, columns_and_rank, full_rank
from m2bridge.families.deep_attention.expansion import (
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
from m2bridge.limits import check_deadline_in, limited
from m2bridge.maps.dimension import dimension
from m2bridge.results.known import Bounds, intersect_bounds
from m2bridge.results.sheet import value_text
from m2bridge.statements.statement import Observed, Value


@dataclass(frozen=True, slots=True)
class ComputedValue:
    """A computed value of an observable, or the reason why it is not known.

    Parameters
    ----------
    known : bool, Bounds or None
        Yes or no, or a number, possibly between bounds.
    method : str
        The method in one line, or the reason why the value is not known.
    numbers : dict
        The numbers that a certificate contains.
    """

    known: bool | Bounds | None
    method: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> bool | int | None:
        """The value, or a bound."""
        return self.known.value if isinstance(self.known, Bounds) else self.known

    @property
    def bound(self) -> str:
        """The word before a number that is a bound, ``at least`` or ``at most``; else empty."""
        if not isinstance(self.known, Bounds) or self.proved:
            return ""
        if self.known.lower is None:
            return "at most"
        return "at least"

    @property
    def exact_value(self) -> bool | int | None:
        """The value if it is not only a bound."""
        return self.known.exact if isinstance(self.known, Bounds) else self.known

    @property
    def proved(self) -> bool:
        """Whether the value is proved to be exact."""
        return self.exact_value is not None

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``."""
        return {
            "value": self.value,
            "bound": self.bound or None,
            "proved": self.proved,
            "method": self.method,
        }


@dataclass(frozen=True, slots=True)
class ObservedNetwork(Observed):
    """The observed values of a network; see :class:`m2bridge.statements.statement.Observed`.

    Parameters
    ----------
    model : NetworkSizes
    findings : dict of str to ComputedValue
        The computed values by observable.
    engine_version : str
    seconds : float
    unfinished : str
        The limit that was reached, or empty.
    """

    model: NetworkSizes
    findings: Mapping[str, ComputedValue]
    engine_version: str
    seconds: float
    unfinished: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def progress(self) -> str:
        """The observables that were computed before a limit."""
        if not self.unfinished:
            return ""
        return f"observed: {', '.join(self.findings) or 'nothing'}"

    def value(self, observable: str) -> Value | None:
        """Return the value of an observable where it is exact."""
        finding = self.findings.get(observable)
        return None if finding is None else finding.exact_value

    def unknown(self, observable: str) -> str:
        """Return a bound, or why nothing was computed."""
        words = observable.replace("_", " ")
        finding = self.findings.get(observable)
        if finding is None:
            return self.unfinished or f"{words}: not observed"
        if finding.value is None:
            return f"{words}: {finding.method}"
        return f"{words}: {finding.known} ({finding.method})"

    def numbers(self) -> dict[str, int]:
        """Return the computed ranks and bounds, by their names."""
        numbers: dict[str, Any] = {}
        for finding in self.findings.values():
            numbers |= finding.numbers
        # Values yes and no are not numbers, although a bool is an int.
        return {name: number for name, number in numbers.items() if type(number) is int}

    def evidence(self) -> dict[str, Any]:
        """Return the numbers behind each observable, for a certificate."""
        return {name: {**self.findings[name].numbers} for name in sorted(self.findings)}

    def facts(self) -> list[tuple[str, str | None]]:
        """Return each value with its method."""
        findings = self.findings.items()
        return [(name.replace("_", " "), _finding_text(finding)) for name, finding in findings]

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``."""
        observed = {name: finding.to_json() for name, finding in self.findings.items()}
        return {"observed": observed}


def _finding_text(finding: ComputedValue) -> str:
    """Return the computed value of an observable in words."""
    if finding.known is None:
        return f"not decided: {finding.method}"
    proved = " (proved)" if finding.proved else ""
    return f"{value_text(finding.known)}{proved}: {finding.method}"


# Different from the seed of the bounds, so that a rank that is too small by chance is noticed.
RANDOM_WEIGHTS_SEED = 20250418
# The largest number l of layers, since the function is a word of 2·3^l − 1 letters.
MAX_NORMAL_FORM_LAYERS = 12
# The largest number of heads, since the function of a layer is a sum of one word for each.
MAX_OBSERVED_HEADS = 1000
# The largest number of entries of a matrix whose rank is computed here.
MAX_OBSERVED_MATRIX_ENTRIES = 2_000_000


@dataclass(frozen=True)
class Computation:
    """The observation of a network, which caches values that several observables need.

    Parameters
    ----------
    network : NetworkSizes
    certified : bool
        Whether the dimension is found as the checker does, with the numbers that a certificate has.
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
    """Compute the value of an observable; see :class:`Computation`.

    Parameters
    ----------
    observable : str
        As in :attr:`m2bridge.statements.statement.GlobalStatement.observable`.

    Raises
    ------
    MethodUnavailableError
        If it cannot be computed for this network.
    """
    return OBSERVERS[observable](Computation(network, certified))


def observe_part(
    network: NetworkSizes, observables: Collection[str], *, certified: bool = False
) -> ObservedNetwork | None:
    """Compute all of these that can be; when a limit is reached, those before it.

    For a certificate all that can be certified, or the error that prevents it; ``None`` if nothing
    can. Softmax with several heads or skip connections is left out: no checker recomputes it.

    Raises
    ------
    TooLargeError
        If the network is too large for one of those that are to be certified.
    """
    findings: dict[str, ComputedValue] = {}
    unfinished = ""
    computation = Computation(network, certified)
    # In the order of the table: quick values are known when a limit is reached.
    wanted = [name for name in OBSERVERS if name in observables]
    if certified:
        wanted = [name for name in wanted if can_be_certified(network, name)]
        if not wanted:
            return None
    with limited(None) as running:
        try:
            for name in wanted:
                try:
                    findings[name] = OBSERVERS[name](computation)
                except (MethodUnavailableError, TooLargeError) as reason:
                    # A certificate is whole, or there is none.
                    if certified:
                        raise
                    findings[name] = ComputedValue(None, str(reason))
        except (TimeLimitError, MemoryLimitError) as limit:
            if certified:
                raise
            unfinished = str(limit)
    version = "" if BY_ENGINE.isdisjoint(findings) else current().version
    return ObservedNetwork(
        model=network,
        findings=findings,
        engine_version=version,
        seconds=running.seconds,
        unfinished=unfinished,
    )


def _dimension(network: NetworkSizes) -> ComputedValue:
    """Compute the dimension in all ways, and the bound that it meets."""
    result = dimension(network)
    if result.lower is None:
        raise MethodUnavailableError(result.unfinished or "no bound was found")
    return ComputedValue(result.lower.known, result.lower.method)


def _attention_matrices(network: NetworkSizes) -> ComputedValue:
    """The rank of the differential of (K, Q) ↦ KᵀQ.

    It is at most d², and 2ad − a² because GL(a) acts freely for a ≤ d.
    """
    random = Random(RANDOM_WEIGHTS_SEED)
    total = bound = 0
    for d, _, a in network.layer_sizes:
        _check_entries(2 * a * d, d * d)
        K = [[random.randrange(LARGE_PRIME) for _ in range(d)] for _ in range(a)]
        Q = [[random.randrange(LARGE_PRIME) for _ in range(d)] for _ in range(a)]
        rows = [[0] * (d * d) for _ in range(2 * a * d)]
        for e, i, j in check_deadline_in(product(range(a), range(d), range(d))):
            # dK_ei and dQ_ej change A_ij = Σ_e K_ei Q_ej.
            rows[e * d + i][i * d + j] = Q[e][j]
            rows[a * d + e * d + j][i * d + j] = K[e][i]
        total += network.heads * rank_mod(rows, LARGE_PRIME)
        bound += network.heads * matrices_of_rank(d, a)
    return _rank(total, bound, f"rank of the differential of (K, Q) ↦ KᵀQ modulo {LARGE_PRIME}")


def _virtual_weights(network: NetworkSizes) -> ComputedValue:
    """The rank of the differential of (A, V) or (K, Q, V) ↦ (A'_1, …, A'_l, M), by tangents.

    It is not more than the dimension of the flags and matrices that contain all virtual weights.
    """
    if not network.is_plain:
        raise MethodUnavailableError(
            "virtual weights are those of one head without skip connections"
        )
    count = network.parameter_count
    random = Random(RANDOM_WEIGHTS_SEED)
    _check_entries(count, network.virtual_entries)
    point = [random.randrange(LARGE_PRIME) for _ in range(count)]
    rank = rank_mod(
        [_tangent(network, point, i) for i in check_deadline_in(range(count))], LARGE_PRIME
    )
    method = f"rank of the differential of weights ↦ virtual weights modulo {LARGE_PRIME}"
    return _rank(rank, virtual_dimension(network), method)


def _tangent(network: NetworkSizes, point: list[int], i: int) -> list[Any]:
    """Twice the derivative of the virtual weights along parameter i.

    With the other parameters fixed, A'_k and M are of degree at most 2 in it; so it is the
    difference of their values one step ahead and one step behind.
    """
    weights = []
    for step in (1, -1):
        moved = [*point[:i], point[i] + step, *point[i + 1 :]]
        weights.append(
            virtual_weights(NetworkWeights.read(network, moved, Residues(LARGE_PRIME)).network())
        )
    entries: list[Any] = []
    for ahead, behind in zip(*weights, strict=True):
        entries += (ahead - behind).entries()
    return entries


def _rank(
    rank: int, bound: int, method: str, numbers: Mapping[str, Any] | None = None
) -> ComputedValue:
    """A rank is exact if it attains an upper bound."""
    known = intersect_bounds(Bounds.at_least(rank, method), Bounds.at_most(bound, "an upper bound"))
    evidence = numbers or {"rank": rank, "upper_bound": bound}
    if known.exact is None:
        known = Bounds.at_least(rank)
    return ComputedValue(known, method, evidence)


def _normal_form(network: NetworkSizes) -> ComputedValue:
    """φ(X) = P(XXᵀ)X, with P from virtual weights, as words in matrices of any size."""
    if network.softmax or not network.is_plain:
        raise MethodUnavailableError(
            "the normal form is that of lightning attention, one head, no skip connections"
        )
    if network.layers > MAX_NORMAL_FORM_LAYERS:
        raise TooLargeError(
            f"words are written for at most {MAX_NORMAL_FORM_LAYERS} layers; --all-sizes decides"
            " all"
        )
    layers = tuple(map(layer_of_letters, range(network.layers)))
    *matrices, M = virtual_weights(layers)
    S = TOKENS * TOKENS.transpose()
    Q = UNIT_MATRIX
    for A in matrices:
        Q = Q * S * Q.transpose() * A * Q
    function = output(layers, TOKENS, NumberSystem())
    factors = {"factors": max(map(len, function))}
    return ComputedValue(
        function == M * Q * TOKENS, "both sides as words in matrices", numbers=factors
    )


def _scalings(network: NetworkSizes) -> ComputedValue:
    """Whether V → cV, A → A/c in the first head keeps the function of the first layer."""
    if network.softmax:
        return _softmax_scalings(network)
    if network.heads > MAX_OBSERVED_HEADS:
        raise TooLargeError(f"words are written for at most {MAX_OBSERVED_HEADS} heads: take fewer")
    function = output([layer_of_letters(0, network.heads)], TOKENS, NumberSystem(), network.skip)
    attention, values = map(function.degrees, letters(0))
    # A word with as many V as A is multiplied by 1.
    if values != attention:
        return ComputedValue(False, "the first layer with cV and A/c has other words")
    degrees = {"degree_in_values": max(values), "degree_in_attention": max(attention)}
    return ComputedValue(
        True, "the first layer with cV and A/c has the same words", numbers=degrees
    )


def _softmax_scalings(network: NetworkSizes) -> ComputedValue:
    """Compare in balls at one rational point: functions with disjoint balls differ."""
    random = Random(RANDOM_WEIGHTS_SEED)
    unit = flint.fmpq(1, 10)
    numbers = Balls((1,) * network.t)
    parameters = [random.randrange(1, 10) * unit for _ in range(network.parameter_count)]
    weights = NetworkWeights.read(network, parameters, numbers).network()

    def token_entry() -> Any:
        return random.randrange(-9, 10) * unit

    X = random_matrix(numbers, network.widths[0], network.t, token_entry)
    (head, *heads), *layers = weights
    scaled = ((HeadMatrices(head.A / 7, head.V * 7), *heads), *layers)
    values = output(weights, X, numbers, network.skip).entries()
    others = output(scaled, X, numbers, network.skip).entries()
    if all(one.overlaps(other) for one, other in zip(values, others, strict=True)):
        raise MethodUnavailableError(
            "the values with scaled weights cannot be separated in ball arithmetic"
        )
    return ComputedValue(False, "differs at a rational point, in balls")


def _unseen_weights(computation: Computation) -> ComputedValue:
    """The dimension of the (A, V) of all layers less that of the functions."""
    network = computation.network
    functions = computation.dimension
    assert isinstance(functions.known, Bounds)
    weights = 0
    for d, after, a in network.layer_sizes:
        weights += network.heads * (d * after + matrices_of_rank(d, a))
    # Only certified values have numbers.
    numbers = {**functions.numbers}
    if numbers:
        numbers["weights"] = weights
    unseen = weights - functions.known.value
    # A lower bound for functions gives an upper bound for their fibres.
    known = Bounds.exactly(unseen) if functions.proved else Bounds.at_most(unseen)
    return replace(functions, known=known, numbers=numbers)


def _virtual_fibre_dimension(computation: Computation) -> ComputedValue:
    """The dimension of the virtual weights with a generic function, up to l scalings."""
    if computation.network.softmax:
        raise MethodUnavailableError("scalings are those of lightning attention")
    weights = computation.virtual_weights
    functions = computation.dimension
    assert isinstance(weights.value, int)
    assert isinstance(functions.value, int)
    method = "dimension of virtual weights, less that of functions and l scalings"
    numbers = {"virtual_weights": weights.value, "functions": functions.value}
    if not (weights.proved and functions.proved):
        return ComputedValue(None, f"{method}: not both are known", numbers=numbers)
    value = weights.value - functions.value - computation.network.layers
    return ComputedValue(Bounds.exactly(value), method, numbers=numbers)


def _fibre(computation: Computation, observable: str) -> ComputedValue:
    """Compute an observable of the fibre in E over a random function.

    The virtual weights are an irreducible subset of E, and all of E if they have its dimension. So
    the fibre in E contains the fibre in the virtual weights, and is equal to it in that case. If
    the fibre in E is one simple point, so is the one in the virtual weights; if the latter has a
    positive dimension, it is more than a point.
    """
    network = computation.network
    dimension = computation.fibre.dimension
    degree = computation.fibre.degree
    virtual = _virtual_fibre_dimension(computation)
    among_virtual = virtual.exact_value
    everything = virtual.numbers["virtual_weights"] == network.virtual_entries
    if among_virtual is not None:
        differs = everything and dimension != among_virtual
        if differs or dimension < among_virtual:
            raise ContradictionError(
                f"a fibre of dimension {dimension}, {among_virtual} in the virtual weights"
            )
    numbers = {"unknowns": fibres.unknown_count(network), "dimension": dimension, "degree": degree}
    if observable != "fibre_is_one_point":
        name = observable.removeprefix("fibre_")
        shown = {"unknowns": numbers["unknowns"], name: numbers[name]}
        return ComputedValue(Bounds.exactly(numbers[name]), GROEBNER, numbers=shown)
    if (dimension, degree) == (0, 1):
        return ComputedValue(True, GROEBNER, numbers=numbers)
    if among_virtual:
        method = "a fibre of positive dimension in the virtual weights"
        return ComputedValue(False, method, numbers=numbers)
    method = "not one simple point in E; which are virtual weights is not computed"
    return ComputedValue(None, method, numbers=numbers)


def _closed(computation: Computation) -> ComputedValue:
    """Whether it is closed: no, if the example shows it; it never shows the contrary."""
    limit = fibres.limit_outside(computation.network)
    if not all(limit.values()):
        raise MethodUnavailableError("the example does not show that the functions are not closed")
    method = "a limit of networks that is no network, by a Gröbner basis over QQ"
    return ComputedValue(False, method, numbers=limit)


GROEBNER = "Gröbner basis over QQ of the equations of a fibre in E over random virtual weights"

FIBRES = ("fibre_dimension", "fibre_degree", "fibre_is_one_point")
BY_ENGINE = frozenset((*FIBRES, "closed"))
OBSERVERS: dict[str, Callable[[Computation], ComputedValue]] = {
    "dimension": lambda computation: computation.dimension,
    "unseen_weights": _unseen_weights,
    "virtual_fibre_dimension": _virtual_fibre_dimension,
    "attention_matrices": lambda computation: _attention_matrices(computation.network),
    "virtual_weights": lambda computation: computation.virtual_weights,
    "normal_form": lambda computation: _normal_form(computation.network),
    "scalings_keep_the_function": lambda computation: _scalings(computation.network),
    **{name: partial(_fibre, observable=name) for name in FIBRES},
    "closed": _closed,
}
"""All observables, and how each is computed."""


def _check_entries(rows: int, columns: int) -> None:
    """Check that a matrix of this size is small enough."""
    if rows * columns > MAX_OBSERVED_MATRIX_ENTRIES:
        raise TooLargeError(
            f"a matrix of {rows} × {columns} entries; at most"
            f" {MAX_OBSERVED_MATRIX_ENTRIES} are handled: take fewer"
        )


# By the number of layers, how many unknowns a fibre has at most that is certified: the checker's
# Gröbner basis takes 15 seconds for two layers and 22 unknowns, whatever the fibre is, and more
# than 2 GB for 25; with three layers minutes.
CERTIFIED_UNKNOWNS = {1: 25, 2: 22}


def can_be_certified(network: NetworkSizes, observable: str) -> bool:
    """Return whether the checker recomputes this value."""
    lightning = network.is_plain and not network.softmax
    small = fibres.unknown_count(network) <= CERTIFIED_UNKNOWNS.get(network.layers, 0)
    return {
        "attention_matrices": True,
        "virtual_weights": network.is_plain,
        "scalings_keep_the_function": not network.softmax,
        "normal_form": lightning and network.layers <= MAX_NORMAL_FORM_LAYERS,
        "virtual_fibre_dimension": lightning,
        **dict.fromkeys(FIBRES, lightning and small),
        "closed": not fibres.concerns(network),
    }.get(observable, network.is_plain or not network.softmax)


def _certified_dimension(network: NetworkSizes) -> ComputedValue:
    """The dimension by ranks modulo a prime, and the numbers from which it follows."""
    lower = upper = network.upper_bounds(0)[0].value
    numbers: dict[str, Any] = {}
    if not network.is_plain:
        lower = full_rank(network).value
    # With one token of softmax every matrix of bounded rank is the function of a network.
    elif not network.softmax or network.t > 1:
        columns, rank = columns_and_rank(network)
        unseen = network.kernel_dimension
        # a block with a larger kernel says nothing: its rank may be more than the dimension
        lower = determined_dimension(network) if rank == columns - unseen else 0
        numbers = {
            "columns": columns,
            "rank": rank,
            "unseen": unseen,
            "seed": RANK_POINT_SEED,
            "prime": LARGE_PRIME,
        }
    numbers = {"lower_bound": lower, **numbers, "upper_bound": upper}
    return _rank(lower, upper, "ranks modulo a prime", numbers)
