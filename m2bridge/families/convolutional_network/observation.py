"""Observations of a convolutional network, by computations that share nothing with predictions.

The dimension is a rank modulo a prime that attains an upper bound. Fibres are Gröbner bases over QQ
in Macaulay2; the degree of the closure is the degree of the source divided by the length of a
general fibre. Proofs are in ``docs/convolutional-networks.md``.

Rescaled filters λ_i w_i have the function of the w_i exactly if ∏ λ_i^(D_i) = 1, where D_i =
r^(L−i). So all filters with one function f are the disjoint union of hypersurfaces of degree ΣD_i
in linear spaces of dimension L, one for each point of the fibre in the product of projective
spaces, with its multiplicity. Their ideal has the coefficients of φ(w) − f as generators.

Notation: a network has L filters w_i of sizes k_i, the activation degree r and the function φ(w);
the *source* is the product of the projective spaces P^(k_i − 1) of filters up to rescaling. A *type
of zeros* says how many zeros filters have at their ends (:class:`ZeroType`); fibres are computed
over one function of each type. Observables are ``dimension``, ``degree``, and ``fibres`` and
``singular``, with a number for each type of zeros.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from m2bridge.algebra.determinantal import monomial_count
from m2bridge.convert.answers import answer_to
from m2bridge.engine import current
from m2bridge.engine.script import Script, render
from m2bridge.errors import ContradictionError, MemoryLimitError, TimeLimitError, TooLargeError
from m2bridge.families.convolutional_network.shape import MAX_ZERO_TYPES, FilterSizes, ZeroType
from m2bridge.limits import limited
from m2bridge.maps.jacobian_rank import RankResult, rank_result
from m2bridge.results.known import UNKNOWN, Bounds
from m2bridge.results.sheet import m2_list
from m2bridge.statements.statement import Numbers, NumbersByMethod, Observed, Value

# Most fibres within these limits take seconds, and some of 16 weights in three layers minutes.
MAX_FIBRE_WEIGHTS = 16
MAX_FIBRE_COEFFICIENTS = 6000

Filters = list[list[int]]


ABOUT_FIBRES = frozenset(("fibres", "singular"))
BY_ENGINE = frozenset(("degree", *ABOUT_FIBRES))
"""The observables that need Macaulay2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedConvolution(Observed):
    """The observed values of a network; see :class:`m2bridge.statements.statement.Observed`.

    ``None`` and empty are what was not computed.
    """

    model: FilterSizes
    rank: RankResult  # the dimension of the closure
    source_degree: int | None = None  # of the product of projective spaces of filters
    # the length of the fibre over a function of filters without zeros
    general_fibre: int | None = None
    zero_types: tuple[ZeroType, ...] = ()
    fibre_lengths: tuple[int, ...] = ()  # over one function of each of these types
    # why the degree or fibres that were asked for are not known
    reason: str = ""
    unfinished: str = ""  # the limit that was reached
    remarks: tuple[str, ...] = ()
    engine_version: str = ""
    seconds: float = 0.0

    @property
    def degree(self) -> int | None:
        """The degree of the closure; ``None`` if not computed, or for a fibre of larger length.

        The length of any fibre is at least the number of points of the general one. So only the
        length 1 says what this number is.
        """
        return self.source_degree if self.general_fibre == 1 else None

    def value(self, observable: str) -> Value | None:
        """Return the dimension, degree, or a number for each type of zeros; ``None`` if unknown.

        For ``singular`` a number is 1 if the fibre is more than one reduced point, else 0. Numbers
        have the name of the one method that found them, ``lengths_of_fibres``.
        """
        if observable == "dimension":
            return self.rank.exact
        if observable == "degree":
            return self.degree
        # "fibres" or "singular"; None if no fibres were computed
        if not self.fibre_lengths:
            return None
        numbers = self.fibre_lengths
        if observable == "singular":
            numbers = tuple(int(length > 1) for length in self.fibre_lengths)
        return NumbersByMethod((("lengths_of_fibres", Numbers(numbers)),))

    def unknown(self, observable: str) -> str:
        """Return in words why a value is not known: the bounds of the dimension, or the reason."""
        if observable == "dimension":
            return f"the dimension is {' and '.join(self.rank.sides())}"
        return self.unfinished or self.reason or f"{observable}: not observed"

    def bounds(self, observable: str) -> Bounds:
        """Return the bounds for the dimension."""
        return self.rank if observable == "dimension" else UNKNOWN

    def numbers(self) -> dict[str, int]:
        """Return the numbers that were found, keyed by their names in a certificate."""
        numbers = {
            "dimension": self.rank.exact,
            "source_degree": self.source_degree,
            "general_fibre": self.general_fibre,
        }
        return {name: value for name, value in numbers.items() if value is not None}

    def facts(self) -> list[tuple[str, str | None]]:
        """Return the dimension, the degree and the number of types of zeros, as far as known."""
        dimension = str(self.rank)
        if self.rank.exact is not None:
            dimension += " (proved)"
        facts: list[tuple[str, str | None]] = [("affine dimension", dimension)]
        if self.degree is not None:  # known only if the general fibre is one point
            how = f"the degree of the source, {self.source_degree}, over fibres of one point"
            facts.append(("degree", f"{self.degree}: {how}"))
        if self.fibre_lengths:
            # a function is singular if its fibre is longer than one reduced point
            singular = sum(length > 1 for length in self.fibre_lengths)
            count = len(self.fibre_lengths)
            facts.append(("types of zeros", f"{count}, {singular} of them with singular functions"))
        return facts

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``, with the length of the fibre for each type."""
        fibres = [
            {"zeros": list(zeros.zeros), "leading": zeros.leading, "length": length}
            for zeros, length in zip(self.zero_types, self.fibre_lengths, strict=True)
        ]
        return {
            **self.rank.to_json(),
            "degree": self.degree,
            "source_degree": self.source_degree,
            "general_fibre": self.general_fibre,
            "fibres": fibres,
        }


def observe(
    network: FilterSizes, observables: Collection[str], *, certified: bool = False
) -> ObservedConvolution:
    """Observe the dimension, and the degree and the fibres if they are among the observables.

    For r = 1 neither is observed, since the statements about these are about r ≥ 2. A certificate
    is complete, or an error.
    """
    # no limit but the limit of an enclosing block; the timer measures the seconds
    with limited(timeout=None) as timer:
        rank = rank_result(network)
        by_engine = BY_ENGINE & set(observables)
        if not by_engine or network.degree == 1:
            return ObservedConvolution(model=network, rank=rank, seconds=timer.seconds)
        # further fields of the observation, {name: value}, or why they are missing
        fields: dict[str, Any] = {}
        try:
            types = types_for(network, by_engine)
            lengths = fibre_lengths(network, types)
            fields = {"engine_version": current().version}
            if "degree" in by_engine:
                # filters without zeros are of the first type
                fields |= {"source_degree": source_degree(network), "general_fibre": lengths[0]}
            if not ABOUT_FIBRES.isdisjoint(by_engine):
                fields |= {"zero_types": types, "fibre_lengths": lengths}
        except TooLargeError as reason:
            if certified:
                raise
            fields = {"reason": str(reason)}
        except (TimeLimitError, MemoryLimitError) as limit:
            if certified:
                raise
            fields = {"unfinished": str(limit)}
        return ObservedConvolution(model=network, rank=rank, seconds=timer.seconds, **fields)


def types_for(network: FilterSizes, observables: Collection[str]) -> tuple[ZeroType, ...]:
    """Return the types of zeros whose fibres answer these observables: the first one, or all."""
    if ABOUT_FIBRES.isdisjoint(observables):
        return (next(network.zero_types()),)
    return checked_zero_types(network)


def source_degree(network: FilterSizes) -> int:
    """Return the degree of Π P^(k_i − 1), embedded by forms of the degrees r^(L−i) in the w_i.

    In the Chow ring of the source, where h_i^(k_i) = 0, the hyperplane class Σ D_i h_i with
    D_i = r^(L−i) is raised to the dimension of the source. The result is a multiple of the class of
    a point, Π h_i^(k_i − 1), and the coefficient is the degree.
    """
    # Σ(k_i − 1)
    dimension = network.input_count - 1
    # power[exponents of the h_i] = the coefficient in a power of the hyperplane class; at first 1
    power = {(0,) * len(network.filters): 1}
    for _ in range(dimension):
        next_power: dict[tuple[int, ...], int] = {}
        for exponents, coefficient in power.items():
            for i, D_i in enumerate(network.weight_degrees):
                # else the power of h_i is zero
                if exponents[i] + 1 < network.filters[i]:
                    raised = (*exponents[:i], exponents[i] + 1, *exponents[i + 1 :])
                    next_power[raised] = next_power.get(raised, 0) + D_i * coefficient
        power = next_power
    # one term is left, a multiple of the class of a point
    ((_, degree),) = power.items()
    return degree


def check_fibres_computable(network: FilterSizes) -> None:
    """Raise TooLargeError if there are too many weights or coefficients to compute fibres."""
    if network.parameter_count > MAX_FIBRE_WEIGHTS:
        raise TooLargeError(
            f"the fibre has {network.parameter_count} unknowns; at most {MAX_FIBRE_WEIGHTS} are"
            " tried: take smaller filters"
        )
    if monomial_count(network.input_count, network.function_degree) > MAX_FIBRE_COEFFICIENTS:
        raise TooLargeError(
            f"the functions have more than {MAX_FIBRE_COEFFICIENTS} coefficients, too many for"
            " fibres: take fewer or smaller filters, or a smaller --degree"
        )


def checked_zero_types(network: FilterSizes) -> tuple[ZeroType, ...]:
    """Return all types of zeros; raise TooLargeError if they are too many."""
    types = network.listed_zero_types()
    if types is None:
        raise TooLargeError(
            f"there are {network.zero_type_count} types of zeros; fibres are computed for at most"
            f" {MAX_ZERO_TYPES}: take smaller filters"
        )
    return types


def fibre_lengths(network: FilterSizes, types: Sequence[ZeroType]) -> tuple[int, ...]:
    """Return the length of the fibre over one function of each type of zeros, for r ≥ 2.

    The length is the number of points of the fibre, filters up to rescaling, with multiplicities.
    """
    # for each type the dimension and the degree of the set of all filters with the function
    answer = answer_to(fibres_script(network, types))
    # dimension and degree of the hypersurface of rescalings of one point of a fibre
    orbit_dimension = len(network.filters) - 1
    orbit_degree = sum(network.weight_degrees)
    lengths = []
    for dimension, degree in answer.integer_lists("fibres"):
        if dimension != orbit_dimension or degree % orbit_degree:
            raise ContradictionError(
                f"{network.title}: the filters with one function have dimension {dimension} and"
                f" degree {degree}"
            )
        lengths.append(degree // orbit_degree)
    return tuple(lengths)


def fibres_script(network: FilterSizes, types: Sequence[ZeroType]) -> Script:
    """Return the Macaulay2 program for the fibres over one function of each type of zeros.

    Its answer ``fibres`` is a list of pairs, one for each type: the dimension and the degree of the
    set of all filters with the function of the filters :func:`filters_of` of this type.
    """
    check_fibres_computable(network)
    # w_(i,1), … are the entries of filter i
    weights = [
        [f"w_({i},{a})" for a in range(1, size + 1)] for i, size in enumerate(network.filters, 1)
    ]
    filters_of_types = [m2_list(map(m2_list, filters_of(network, zeros))) for zeros in types]
    return render(
        "convolutional_fibres",
        libraries=("wire",),
        values={
            "title": network.title,
            "orbit_degree": sum(network.weight_degrees),
            "orbit_dimension": len(network.filters) - 1,
            "weights": ", ".join(chain.from_iterable(weights)),
            "inputs": network.input_count,
            "activation": network.degree,
            "filters": m2_list(map(m2_list, weights)),
            "points": m2_list(filters_of_types),
        },
    )


def filters_of(network: FilterSizes, zeros: ZeroType) -> Filters:
    """Return filters of this type of zeros, with small integers between the zeros."""
    filters = []
    for i, (leading, trailing) in enumerate(zeros.placed(), 1):
        # of the core, the entries between the zeros
        size = network.filters[i - 1] - leading - trailing
        # Numbers from ±1, …, ±7 that look random, as the fibre over the function of special ones
        # may be longer. None is 0, so that there are no further zeros at the ends.
        core = [(-1) ** a * (1 + (3 * a + 2 * i + a * i) % 7) for a in range(size)]
        filters.append([0] * leading + core + [0] * trailing)
    return filters
