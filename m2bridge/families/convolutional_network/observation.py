"""Observations of a convolutional network, by computations that share nothing with predictions.

The dimension is a rank modulo a prime that attains an upper bound. Fibres are Gröbner bases over
QQ; the degree of the closure is that of the source divided by the length of a general fibre.
Proofs are in ``docs/convolutional-networks.md``.

Notation: a network has L filters w_i of sizes k_i and the activation degree r; the *source* is the
product of the projective spaces P^(k_i − 1) of filters up to rescaling. A *type of zeros* says how
many zeros filters have at their ends (:class:`ZeroType`). Observables are ``dimension``,
``degree``, and ``fibres`` and ``singular``, with a number for each type of zeros.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from m2bridge.engine import current
from m2bridge.errors import MemoryLimitError, TimeLimitError, TooLargeError
from m2bridge.families.convolutional_network.fibres import checked_zero_types, fibre_lengths
from m2bridge.families.convolutional_network.shape import FilterSizes, ZeroType
from m2bridge.limits import limited
from m2bridge.maps.jacobian_rank import RankResult, rank_result
from m2bridge.statements.statement import Numbers, NumbersByMethod, Observed, Value

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
            dimension += " affine (proved)"
        facts: list[tuple[str, str | None]] = [("dimension", dimension)]
        if self.degree is not None:  # known only if the general fibre is one point
            how = f"that of the source, {self.source_degree}, over fibres of one point"
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
    # no limit of its own, but that of an enclosing block; the timer measures the seconds
    with limited(timeout=None) as timer:
        rank = rank_result(network)
        wanted = BY_ENGINE & set(observables)
        if not wanted or network.degree == 1:
            return ObservedConvolution(model=network, rank=rank, seconds=timer.seconds)
        # further fields of the observation, {name: value}, or why they are missing
        fields: dict[str, Any] = {}
        try:
            types = types_for(network, wanted)
            lengths = fibre_lengths(network, types)
            fields = {"engine_version": current().version}
            if "degree" in wanted:
                # filters without zeros are of the first type
                fields |= {"source_degree": source_degree(network), "general_fibre": lengths[0]}
            if not ABOUT_FIBRES.isdisjoint(wanted):
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
