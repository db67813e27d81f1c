"""The numbers of a polynomial network, and what follows: grading, symmetries, gauge group, bounds, predictions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any, ClassVar, Self

from m2bridge.algebra.determinantal import monomial_count
from m2bridge.certificates.wording import wording
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.definition import positive_integer, positive_integers
from m2bridge.maps.model import DifferentiableModel, Multigrading, Symmetry, UpperBound, Vector, transposition
from m2bridge.maps.statement import GlobalStatement

NAME = "polynomial-network"
MAX_PARAMETERS = 100_000
MAX_DEGREE = 10**6
MAX_LAYERS = 100
MAX_COORDINATES = 20_000


@dataclass(frozen=True, slots=True, init=False)
class Shape(DifferentiableModel):
    """The widths d_0, …, d_l of a polynomial network and its activation degree r.

    Abstract: the functions are those of :class:`~m2bridge.families.polynomial_network.model.PolynomialNetwork`.
    """

    widths: tuple[int, ...]
    degree: int
    family: ClassVar[str] = NAME

    def __init__(self, widths: Iterable[int], degree: int = 2) -> None:
        listed = positive_integers("widths", widths)
        if not 2 <= len(listed) <= MAX_LAYERS + 1:
            raise InvalidCaseError("widths", f"must be from 2 to {MAX_LAYERS + 1} integers, not {len(listed)}")
        object.__setattr__(self, "widths", listed)
        object.__setattr__(self, "degree", positive_integer("degree", degree, MAX_DEGREE))
        if self.parameter_count > MAX_PARAMETERS:
            raise InvalidCaseError("widths", f"give {self.parameter_count} weights; at most {MAX_PARAMETERS} can be")

    @classmethod
    def from_key(cls, key: str) -> Self:
        """The network with this key, such as ``2-2-1-r2``."""
        match = re.fullmatch(r"([1-9][0-9]{0,8}(?:-[1-9][0-9]{0,8})+)-r([1-9][0-9]{0,8})", key, re.ASCII)
        if match is None:
            raise InvalidCaseError("key", f"'{key}' does not name a polynomial network: write 2-2-1-r2")
        return cls(map(int, match[1].split("-")), int(match[2]))

    @property
    def key(self) -> str:
        """The name of the case, such as ``2-2-1-r2``."""
        return f"{'-'.join(map(str, self.widths))}-r{self.degree}"

    @property
    def title(self) -> str:
        """The network in words."""
        shape = f"widths ({', '.join(map(str, self.widths))}) and activation degree {self.degree}"
        return f"polynomial neural network of {shape}"

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of the case."""
        return {"widths": list(self.widths), "degree": self.degree}

    @property
    def parameter_count(self) -> int:
        """The number of weights, Σ d_i d_{i−1}."""
        return sum(before * after for before, after in pairwise(self.widths))

    @property
    def input_count(self) -> int:
        """The number d_0 of inputs."""
        return self.widths[0]

    @property
    def output_count(self) -> int:
        """The number d_l of outputs."""
        return self.widths[-1]

    @property
    def function_degree(self) -> int:
        """The degree r^(l−1) of the outputs as forms in the inputs."""
        return int(self.degree ** (len(self.widths) - 2))

    @property
    def coordinate_count(self) -> int:
        """The number of coefficients, d_l·C(d_0 − 1 + r^(l−1), d_0 − 1)."""
        return self.output_count * monomial_count(self.input_count, self.function_degree)

    def check_expandable(self) -> None:
        """Raise TooLargeError if there are more coordinates than can be written down."""
        most = MAX_COORDINATES
        if (self.input_count > 1 and self.function_degree > most) or self.coordinate_count > most:
            raise TooLargeError(
                f"this network has more than {most} coordinates, too many to write down; its dimension needs none"
            )

    def grading(self) -> Multigrading:
        """Return degrees in Z^d_l × Z^d_0: (e_k, m) for the coefficient of x^m in output k.

        Rescaling the inputs acts on W_1, rescaling the outputs on W_l. The entry (i, j) of W_1 has degree e_j for
        input j, the entry (i, j) of W_l degree e_i for output i. Without hidden layers the map is the identity, and
        each coordinate has a degree of its own.
        """
        inputs, outputs, last = self.input_count, self.output_count, len(self.widths) - 1
        if last == 1:
            units = tuple(_unit(inputs * outputs, n) for n in range(inputs * outputs))
            return Multigrading(units, units)

        def weight(k: int, i: int, j: int) -> Vector:
            return _unit(outputs, i if k == last else None) + _unit(inputs, j if k == 1 else None)

        parameters = tuple(weight(*entry) for entry in self._entries())
        return Multigrading(parameters, tuple(_unit(outputs, k) + m for k, m in self._coefficients()))

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Return exchanges of neighbouring inputs and outputs; they generate S_d_0 × S_d_l."""
        inputs, outputs, last = self.input_count, self.output_count, len(self.widths) - 1
        entries = {entry: n for n, entry in enumerate(self._entries())}
        coordinates = {name: n for n, name in enumerate(self._coefficients())}
        swaps = [(transposition(outputs), transposition(inputs, (s, s + 1))) for s in range(inputs - 1)]
        swaps += [(transposition(outputs, (s, s + 1)), transposition(inputs)) for s in range(outputs - 1)]
        return tuple(
            Symmetry(
                tuple(entries[k, rows[i] if k == last else i, columns[j] if k == 1 else j] for k, i, j in entries),
                tuple(coordinates[rows[k], tuple(m[i] for i in columns)] for k, m in coordinates),
            )
            for rows, columns in swaps
        )

    def _entries(self) -> Iterator[tuple[int, int, int]]:
        """Layer (from 1), row and column (from 0) of each parameter."""
        for k, (before, after) in enumerate(pairwise(self.widths), 1):
            yield from ((k, i, j) for i in range(after) for j in range(before))

    def _coefficients(self) -> list[tuple[int, Vector]]:
        """Output (from 0) and exponents of each coordinate."""
        self.check_expandable()
        degree = self.function_degree
        return [(k, m) for k in range(self.output_count) for m in monomials(self.input_count, degree)]

    def gauge_dimension(self) -> int:
        """Return the dimension of the orbits of the gauge group on generic weights."""
        return gauge_dimension(self.widths, self.degree)

    def upper_bounds(self, characteristic: int) -> tuple[UpperBound, ...]:
        """Return the best bound of docs/polynomial_networks.md."""
        return (best_bound(self.widths, self.degree, characteristic),)


def monomials(variables: int, degree: int) -> Iterator[Vector]:
    """The exponents of all monomials of this degree, in decreasing lexicographic order."""
    if variables == 1:
        yield (degree,)
        return
    for first in range(degree, -1, -1):
        for rest in monomials(variables - 1, degree - first):
            yield (first, *rest)


def _unit(size: int, i: int | None) -> Vector:
    return tuple(int(i == j) for j in range(size))


Widths = tuple[int, ...]


def gauge_dimension(widths: Sequence[int], degree: int) -> int:
    """The dimension of the orbits of the gauge group on generic weights.

    For r ≥ 2 the torus that rescales the hidden neurons acts freely where no weight is zero. For r = 1 the group is
    Π GL(d_i) over the hidden layers.
    """
    hidden = widths[1:-1]
    return sum(hidden) if degree > 1 else sum(d * d for d in hidden) - _stabilizer(tuple(widths))


def _stabilizer(widths: Widths) -> int:
    """The dimension of the stabilizer of generic weights in Π GL(d_i), for r = 1.

    Generic matrices are a direct sum of intervals [a, b] with the multiplicities m_ab below; the stabilizer is open in
    the endomorphisms that vanish on inputs and outputs; Hom([a, b], [c, d]) is a line if c ≤ a ≤ d ≤ b, else zero.
    """
    last = len(widths) - 1

    def rank(a: int, b: int) -> int:
        return min(widths[a : b + 1]) if a >= 0 and b <= last else 0

    intervals = [(a, b) for a in range(last + 1) for b in range(a, last + 1)]
    copies = {(a, b): rank(a, b) - rank(a - 1, b) - rank(a, b + 1) + rank(a - 1, b + 1) for a, b in intervals}
    present = [(interval, count) for interval, count in copies.items() if count]
    return sum(
        many * others
        for (a, b), many in present
        for (c, d), others in present
        if c <= a <= d <= b and a > 0 and d < last
    )


def best_bound(widths: Widths, degree: int, characteristic: int = 0) -> UpperBound:
    """The smallest bound that these arguments give, applied to all parts of the network."""
    if degree == 1:
        rank = min(widths)
        return UpperBound(rank * (widths[0] + widths[-1] - rank), f"the functions are matrices of rank at most {rank}")

    @cache
    def bound(part: Widths) -> UpperBound:
        return min(candidates(part), key=lambda candidate: candidate.value)

    def candidates(part: Widths) -> Iterator[UpperBound]:
        first, second, last = part[0], part[1], part[-1]
        yield from _direct(part, degree, characteristic)
        if second < first:
            rest = bound((second, *part[1:]))
            value = second * (first - second) + rest.value
            yield UpperBound(value, f"every function depends on {second} linear forms only")
        if part[-2] < last:
            k = part[-2]
            rest = bound((*part[:-1], k))
            yield UpperBound(k * (last - k) + rest.value, f"the outputs span a space of dimension at most {k}")
        for i in range(1, len(part) - 1):
            before, after = bound(part[: i + 1]), bound(part[i:])
            yield UpperBound(
                before.value + after.value - part[i],
                f"composition at the hidden layer {i}: at most {before.value} + {after.value} − {part[i]}",
            )

    return bound(tuple(widths))


def _direct(part: Widths, degree: int, characteristic: int) -> Iterator[UpperBound]:
    """Bounds that look at the whole network at once."""
    first, last = part[0], part[-1]
    weights = sum(before * after for before, after in pairwise(part))
    form_degree = degree ** (len(part) - 2)
    yield UpperBound(weights - gauge_dimension(part, degree), "the weights up to the gauge group")
    if first > 1 and form_degree > weights:
        return  # even more coordinates than that, perhaps a number with very many digits
    ambient = last * comb(first - 1 + form_degree, first - 1)
    yield UpperBound(ambient, "the number of coordinates")
    if len(part) == 3 and last == 1:
        yield from _power_sums(first, part[1], degree, characteristic, ambient)
    if len(part) == 3 and last == 3 and degree == 2 and 2 * part[1] < 3 * first - first % 2:
        yield UpperBound(ambient - 1, "a minor of the skew-symmetric matrix of three quadratic forms vanishes")


def _power_sums(variables: int, summands: int, degree: int, characteristic: int, ambient: int) -> Iterator[UpperBound]:
    """Sums of r-th powers of linear forms that satisfy an equation (Alexander–Hirschowitz: defective cases)."""
    if summands < comb(variables - 1 + degree // 2, variables - 1):
        yield UpperBound(ambient - 1, "a minor of the catalecticant matrix vanishes")
    if (variables, summands, degree, characteristic) == (5, 7, 3, 0):
        yield UpperBound(ambient - 1, "seven points of P^4 are singular points of a cubic (Alexander–Hirschowitz)")


WORDS = wording(Path(__file__).parent / "words.toml")


def expected_dimension(network: Shape) -> int:
    """min(Σ_{0<i≤l} d_i d_{i−1} − Σ_{0<i<l} d_i, d_l·C(d_0 − 1 + r^(l−1), r^(l−1)))."""
    return min(network.parameter_count - sum(network.widths[1:-1]), network.coordinate_count)


def _about_dimension(part: str, *hypotheses: str) -> GlobalStatement[Shape]:
    def fails(network: Shape) -> str:
        holds = {"nonlinear": network.degree >= 2, "equal-widths": len(set(network.widths)) == 1}
        return next((WORDS.hypotheses[name] for name in hypotheses if not holds[name]), "")

    words = WORDS.fields("expected-dimension", part)
    return GlobalStatement(**words, predict=expected_dimension, hypotheses=fails)


STATEMENTS = (_about_dimension("", "nonlinear"), _about_dimension("equal widths", "nonlinear", "equal-widths"))
