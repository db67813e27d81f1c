"""Observations of a network, by computations that share nothing with the predictions of its
statements.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
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
from m2bridge.families.deep_attention.bounds import SEED, columns_and_rank, full_rank
from m2bridge.families.deep_attention.expansion import (
    TOKENS,
    UNIT_MATRIX,
    layer_of_letters,
    letters,
)
from m2bridge.families.deep_attention.network import (
    Balls,
    Head,
    NumberSystem,
    Point,
    Residues,
    output,
    virtual_weights,
)
from m2bridge.families.deep_attention.shape import Shape, seen_dimension, virtual_dimension
from m2bridge.limits import limited, watched
from m2bridge.maps.dimension import dimension
from m2bridge.maps.statement import Observed, Value
from m2bridge.results.known import Known, together
from m2bridge.results.sheet import value_text


@dataclass(frozen=True, slots=True)
class Finding:
    """A value that was computed, or why it was not.

    Parameters
    ----------
    known : bool, Known or None
        Whether it is so, or a number, perhaps between bounds.
    method : str
        How, in one line; why not, if nothing is known.
    numbers : dict
        What a certificate holds of it.
    """

    known: bool | Known | None
    method: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> bool | int | None:
        """The value, or a bound."""
        return self.known.value if isinstance(self.known, Known) else self.known

    @property
    def bound(self) -> str:
        """The word before a number that is a bound, ``at least`` or ``at most``; else empty."""
        if not isinstance(self.known, Known) or self.proved:
            return ""
        return "at most" if self.known.lower is None else "at least"

    @property
    def exact_value(self) -> bool | int | None:
        """The value if it is not only a bound."""
        return self.known.exact if isinstance(self.known, Known) else self.known

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
    """See :class:`m2bridge.maps.statement.Observed`; there are no orbits.

    Parameters
    ----------
    model : Shape
    findings : dict of str to Finding
        By observable.
    engine_version : str
    seconds : float
    unfinished : str
        The limit that was reached, or empty.
    """

    model: Shape
    findings: Mapping[str, Finding]
    engine_version: str
    seconds: float
    unfinished: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def progress(self) -> str:
        """The observables that were computed before a limit."""
        return f"observed: {', '.join(self.findings) or 'nothing'}" if self.unfinished else ""

    def value(self, observable: str) -> Value | None:
        """Return the value of an observable where it is exact."""
        finding = self.findings.get(observable)
        return None if finding is None else finding.exact_value

    def unknown(self, observable: str) -> str:
        """Return a bound, or why nothing was computed."""
        words = observable.replace("_", " ")
        if (finding := self.findings.get(observable)) is None:
            return self.unfinished or f"{words}: not observed"
        if finding.value is None:
            return f"{words}: {finding.method}"
        return f"{words}: {finding.known} ({finding.method})"

    def numbers(self) -> dict[str, int]:
        """Return ranks and bounds."""
        items = (item for finding in self.findings.values() for item in finding.numbers.items())
        return {name: number for name, number in items if type(number) is int}

    def evidence(self) -> dict[str, Any]:
        """Return the numbers behind each observable, for a certificate."""
        return {
            observable: {**finding.numbers} for observable, finding in sorted(self.findings.items())
        }

    def facts(self) -> list[tuple[str, str | None]]:
        """Return each value, and how it was found."""
        return [
            (observable.replace("_", " "), _finding_text(finding))
            for observable, finding in self.findings.items()
        ]

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``."""
        return {
            "observed": {
                observable: finding.to_json() for observable, finding in self.findings.items()
            }
        }


def _finding_text(finding: Finding) -> str:
    if finding.known is None:
        return f"not decided: {finding.method}"
    proved = " (proved)" if finding.proved else ""
    return f"{value_text(finding.known)}{proved}: {finding.method}"


WEIGHTS_SEED = 20250418
MOST_LAYERS = 12
"""The function is a word of 2·3^l − 1 letters."""
MOST_HEADS = 1000
MOST_ENTRIES = 2_000_000
"""The size of the largest matrix whose rank is computed here."""


@dataclass(frozen=True)
class Computation:
    """A network that is observed; what several observables need is computed once.

    Parameters
    ----------
    network : Shape
    certified : bool
        Whether the dimension is found as the checker does, with the numbers that a certificate has.
    """

    network: Shape
    certified: bool

    @cached_property
    def dimension(self) -> Finding:
        """The dimension of the functions."""
        return (_certified_dimension if self.certified else _dimension)(self.network)

    @cached_property
    def virtual_weights(self) -> Finding:
        """The dimension of the virtual weights."""
        return _virtual_weights(self.network)

    @cached_property
    def fibre(self) -> fibres.GenericFibre:
        """A generic fibre in E."""
        return fibres.generic_fibre(self.network)


def observe(network: Shape, observable: str, *, certified: bool = False) -> Finding:
    """Compute what a statement predicts; see :class:`Computation`.

    Parameters
    ----------
    observable : str
        As in :attr:`m2bridge.maps.statement.GlobalStatement.observable`.

    Raises
    ------
    MethodUnavailableError
        If it cannot be computed for this network.
    """
    return OBSERVERS[observable](Computation(network, certified))


def observe_part(
    network: Shape, observables: Collection[str], *, certified: bool = False
) -> ObservedNetwork | None:
    """Compute all of these that can be; when a limit is reached, those before it.

    For a certificate all that can be certified, or the error that prevents it; ``None`` if nothing
    can. Softmax with several heads or skip connections is left out: no checker computes it anew.

    Raises
    ------
    TooLargeError
        If the network is too large for one of those that are to be certified.
    """
    findings: dict[str, Finding] = {}
    unfinished = ""
    computation = Computation(network, certified)
    possible = (name for name in OBSERVERS if not certified or can_be_certified(network, name))
    wanted = [name for name in possible if name in observables]
    with limited(None) as running:
        try:
            for name in wanted:
                try:
                    findings[name] = OBSERVERS[name](computation)
                except (MethodUnavailableError, TooLargeError) as reason:
                    if certified:
                        raise
                    findings[name] = Finding(None, str(reason))
        except (TimeLimitError, MemoryLimitError) as limit:
            if certified:
                raise
            unfinished = str(limit)
    version = current().version if not BY_ENGINE.isdisjoint(findings) else ""
    return (
        ObservedNetwork(network, findings, version, running.seconds, unfinished)
        if wanted or not certified
        else None
    )


def _dimension(network: Shape) -> Finding:
    """Compute the dimension in all ways, and the bound that it meets."""
    result = dimension(network)
    if result.lower is None:
        raise MethodUnavailableError(result.unfinished or "no bound was found")
    return Finding(result.lower.known, result.lower.method)


def _attention_matrices(network: Shape) -> Finding:
    """The rank of the differential of (K, Q) ↦ KᵀQ; at most d², and 2ad − a² because GL(a) acts
    freely for a ≤ d.
    """
    random, total, bound = Random(WEIGHTS_SEED), 0, 0
    for d, _, a in network.layer_sizes:
        _check_entries(2 * a * d, d * d)
        K, Q = (
            [[random.randrange(LARGE_PRIME) for _ in range(d)] for _ in range(a)] for _ in range(2)
        )
        rows = [[0] * (d * d) for _ in range(2 * a * d)]
        for e, i, j in watched((e, i, j) for e in range(a) for i in range(d) for j in range(d)):
            rows[e * d + i][i * d + j] = Q[e][j]  # dK_ei
            rows[a * d + e * d + j][i * d + j] = K[e][i]  # dQ_ej
        total += network.heads * rank_mod(rows, LARGE_PRIME)
        bound += network.heads * matrices_of_rank(d, a)
    return _rank(total, bound, f"rank of the differential of (K, Q) ↦ KᵀQ modulo {LARGE_PRIME}")


def _virtual_weights(network: Shape) -> Finding:
    """The rank of the differential of (A, V) or (K, Q, V) ↦ (A'_1, …, A'_l, M), by tangents.

    It is not more than the dimension of the flags and matrices that contain all virtual weights.
    """
    if not network.is_plain:
        raise MethodUnavailableError(
            "virtual weights are those of one head without skip connections"
        )
    count, random = network.parameter_count, Random(WEIGHTS_SEED)
    _check_entries(count, network.virtual_entries)
    point = [random.randrange(LARGE_PRIME) for _ in range(count)]
    rank = rank_mod([_tangent(network, point, i) for i in watched(range(count))], LARGE_PRIME)
    method = f"rank of the differential of weights ↦ virtual weights modulo {LARGE_PRIME}"
    return _rank(rank, virtual_dimension(network), method)


def _tangent(network: Shape, point: list[int], i: int) -> list[Any]:
    """Twice the derivative of the virtual weights along parameter i, which is f(1) − f(−1) for
    steps in its direction.

    With the other parameters fixed, A'_k and M are of degree at most 2 in it.
    """
    points = ([*point[:i], point[i] + step, *point[i + 1 :]] for step in (1, -1))
    weights = (
        virtual_weights(Point.read(network, each, Residues(LARGE_PRIME)).network())
        for each in points
    )
    return [
        entry
        for ahead, behind in zip(*weights, strict=True)
        for entry in (ahead - behind).entries()
    ]


def _rank(rank: int, bound: int, method: str, numbers: Mapping[str, Any] | None = None) -> Finding:
    """A rank is exact if it attains an upper bound."""
    known = together(Known.at_least(rank, method), Known.at_most(bound, "an upper bound"))
    evidence = numbers or {"rank": rank, "upper_bound": bound}
    if known.exact is None:
        known = Known.at_least(rank)
    return Finding(known, method, evidence)


def _normal_form(network: Shape) -> Finding:
    """φ(X) = P(XXᵀ)X, with P by its recursion from virtual weights: both sides are one word in
    matrices of any size.
    """
    if network.softmax or not network.is_plain:
        raise MethodUnavailableError(
            "the normal form is that of lightning attention, one head, no skip connections"
        )
    if network.layers > MOST_LAYERS:
        raise TooLargeError(
            f"words are written for at most {MOST_LAYERS} layers; --all-sizes decides all"
        )
    letters = tuple(map(layer_of_letters, range(network.layers)))
    *matrices, M = virtual_weights(letters)
    S, Q = TOKENS * TOKENS.transpose(), UNIT_MATRIX
    for A in matrices:
        Q = Q * S * Q.transpose() * A * Q
    function = output(letters, TOKENS, NumberSystem())
    factors = {"factors": max(map(len, function))}
    return Finding(function == M * Q * TOKENS, "both sides as words in matrices", numbers=factors)


def _scalings(network: Shape) -> Finding:
    """Whether V → cV, A → A/c in the first head of the first layer keeps the function: each word
    has as many V as A.
    """
    if network.softmax:
        return _softmax_scalings(network)
    if network.heads > MOST_HEADS:
        raise TooLargeError(f"words are written for at most {MOST_HEADS} heads: take fewer")
    function = output([layer_of_letters(0, network.heads)], TOKENS, NumberSystem(), network.skip)
    attention, values = map(function.degrees, letters(0))
    if values != attention:
        return Finding(False, "the first layer with cV and A/c has other words")
    degrees = {"degree_in_values": max(values), "degree_in_attention": max(attention)}
    return Finding(True, "the first layer with cV and A/c has the same words", numbers=degrees)


def _softmax_scalings(network: Shape) -> Finding:
    """Compare in balls at one rational point: where the balls of both values are disjoint, the
    functions differ.
    """
    random, unit = Random(WEIGHTS_SEED), flint.fmpq(1, 10)
    numbers = Balls((1,) * network.t)
    parameters = [random.randrange(1, 10) * unit for _ in range(network.parameter_count)]
    weights = Point.read(network, parameters, numbers).network()
    X = numbers.matrix(
        [
            [random.randrange(-9, 10) * unit for _ in range(network.t)]
            for _ in range(network.widths[0])
        ]
    )
    (head, *heads), *layers = weights
    scaled = ((Head(head.A / 7, head.V * 7), *heads), *layers)
    values, others = (
        output(each, X, numbers, network.skip).entries() for each in (weights, scaled)
    )
    if all(one.overlaps(other) for one, other in zip(values, others, strict=True)):
        raise MethodUnavailableError("the values with scaled weights cannot be told apart in balls")
    return Finding(False, "differs at a rational point, in balls")


def _unseen_weights(computation: Computation) -> Finding:
    """The dimension of the (A, V) of all layers less that of the functions."""
    network, functions = computation.network, computation.dimension
    assert isinstance(functions.known, Known)
    weights = network.heads * sum(
        d * after + matrices_of_rank(d, a) for d, after, a in network.layer_sizes
    )
    numbers = {**functions.numbers, "weights": weights} if functions.numbers else {}
    unseen = weights - functions.known.value
    # What the functions have at least, these have at most.
    known = Known.exactly(unseen) if functions.proved else Known.at_most(unseen)
    return replace(functions, known=known, numbers=numbers)


def _virtual_fibre_dimension(computation: Computation) -> Finding:
    """The dimension of the virtual weights with a generic function, up to scalings: D_virt less
    that of functions.
    """
    if computation.network.softmax:
        raise MethodUnavailableError("scalings are those of lightning attention")
    weights, functions = computation.virtual_weights, computation.dimension
    assert isinstance(weights.value, int)
    assert isinstance(functions.value, int)
    exact = weights.exact_value is not None and functions.exact_value is not None
    method = "dimension of virtual weights, less that of functions and l scalings"
    numbers = {"virtual_weights": weights.value, "functions": functions.value}
    if not exact:
        return Finding(None, f"{method}: not both are known", numbers=numbers)
    value = weights.value - functions.value - computation.network.layers
    return Finding(Known.exactly(value), method, numbers=numbers)


def _fibre(computation: Computation, observable: str) -> Finding:
    """An observable of the fibre in E.

    It contains that in the virtual weights, which are irreducible: they are E if they are as large.
    One simple point in E is one in the virtual weights, which are more where they have a positive
    dimension.
    """
    network, dimension, degree = (
        computation.network,
        computation.fibre.dimension,
        computation.fibre.degree,
    )
    virtual = _virtual_fibre_dimension(computation)
    among_virtual = virtual.exact_value
    everything = virtual.numbers["virtual_weights"] == network.virtual_entries
    if among_virtual is not None and (
        dimension != among_virtual if everything else dimension < among_virtual
    ):
        raise ContradictionError(
            f"a fibre of dimension {dimension}, {among_virtual} in the virtual weights"
        )
    numbers = {"unknowns": fibres.unknown_count(network), "dimension": dimension, "degree": degree}
    if observable != "fibre_is_one_point":
        name = observable.removeprefix("fibre_")
        shown = {"unknowns": numbers["unknowns"], name: numbers[name]}
        return Finding(Known.exactly(numbers[name]), GROEBNER, numbers=shown)
    if (dimension, degree) == (0, 1):
        return Finding(True, GROEBNER, numbers=numbers)
    if among_virtual:
        return Finding(
            False, "a fibre of positive dimension in the virtual weights", numbers=numbers
        )
    return Finding(
        None,
        "not one simple point in E; which are virtual weights is not computed",
        numbers=numbers,
    )


def _closed(computation: Computation) -> Finding:
    """Whether it is closed: no, if the example shows it; it never shows the contrary."""
    limit = fibres.limit_outside(computation.network)
    if not all(limit.values()):
        raise MethodUnavailableError("the example shows nothing")
    return Finding(
        False, "a limit of networks that is no network, by a Gröbner basis over QQ", numbers=limit
    )


GROEBNER = "Gröbner basis over QQ of the equations of a fibre in E over random virtual weights"

FIBRES = ("fibre_dimension", "fibre_degree", "fibre_is_one_point")
BY_ENGINE = frozenset((*FIBRES, "closed"))
OBSERVERS: dict[str, Callable[[Computation], Finding]] = {
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
    if rows * columns > MOST_ENTRIES:
        raise TooLargeError(
            f"a matrix of {rows} × {columns} entries; at most {MOST_ENTRIES} are handled: take"
            " fewer"
        )


CERTIFIED_UNKNOWNS = {1: 25, 2: 22}
"""By the number of layers, how many unknowns a fibre has at most that is certified.

The checker's Gröbner basis takes 15 seconds for two layers and 22 unknowns, whatever the fibre is,
and more than 2 GB for 25; with three layers minutes.
"""


def can_be_certified(network: Shape, observable: str) -> bool:
    """Whether the checker computes it anew."""
    lightning = network.is_plain and not network.softmax
    small = fibres.unknown_count(network) <= CERTIFIED_UNKNOWNS.get(network.layers, 0)
    return {
        "attention_matrices": True,
        "virtual_weights": network.is_plain,
        "scalings_keep_the_function": not network.softmax,
        "normal_form": lightning and network.layers <= MOST_LAYERS,
        "virtual_fibre_dimension": lightning,
        **dict.fromkeys(FIBRES, lightning and small),
        "closed": not fibres.concerns(network),
    }.get(observable, network.is_plain or not network.softmax)


def _certified_dimension(network: Shape) -> Finding:
    """The dimension by ranks modulo a prime, and the numbers from which it follows."""
    lower = upper = network.upper_bounds(0)[0].value
    numbers: dict[str, Any] = {}
    if not network.is_plain:
        lower = full_rank(network).value
    elif (
        not network.softmax or network.t > 1
    ):  # else every matrix of bounded rank is the function of a network
        (columns, rank), unseen = columns_and_rank(network), network.kernel_dimension
        # a block with a larger kernel says nothing: its rank may be more than the dimension
        lower = seen_dimension(network) if rank == columns - unseen else 0
        numbers = {
            "columns": columns,
            "rank": rank,
            "unseen": unseen,
            "seed": SEED,
            "prime": LARGE_PRIME,
        }
    return _rank(
        lower,
        upper,
        "ranks modulo a prime",
        {"lower_bound": lower, **numbers, "upper_bound": upper},
    )
