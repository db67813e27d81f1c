"""One polynomial map in a composition: inputs and parameters to outputs; its values and differential modulo a prime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from numbers import Rational

from sympy import Expr

from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.errors import ConversionError, InvalidCaseError

Row = Sequence[int]
Support = tuple[tuple[int, int], ...]
"""The variables of a monomial that occur, by position, each with its exponent."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A polynomial map from inputs and parameters to outputs.

    Parameters
    ----------
    polynomial_map : PolynomialMap
        Its parameters are the inputs followed by the parameters of the layer; without relations.
    inputs : tuple of str

    Raises
    ------
    ConversionError
        If the inputs do not come first, or there are relations.

    Examples
    --------
    >>> from sympy import symbols
    >>> x, a = symbols("x a")
    >>> Layer.from_expressions(["x"], ["a"], {"y": a * x**2}).parameters
    ('a',)
    """

    polynomial_map: PolynomialMap
    inputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.polynomial_map.source.variables[: len(self.inputs)] != self.inputs:
            raise ConversionError("the variables of a layer must be its inputs followed by its parameters")
        if self.polynomial_map.relations:
            raise ConversionError("the parameters of a layer must not satisfy relations")

    @classmethod
    def from_expressions(
        cls, inputs: Sequence[str], parameters: Sequence[str], outputs: Mapping[str, Expr | Rational | int]
    ) -> Layer:
        """Build a layer from SymPy expressions; errors as in :meth:`PolynomialMap.from_expressions`."""
        return cls(PolynomialMap.from_expressions([*inputs, *parameters], outputs), tuple(inputs))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the layer's own parameters."""
        return self.polynomial_map.source.variables[len(self.inputs) :]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return self.polynomial_map.coordinates

    def modulo(self, prime: int) -> ReducedLayer:
        """The layer modulo a prime.

        Raises
        ------
        InvalidCaseError
            If the prime divides a denominator.
        """
        reduced = []
        for name, image in zip(self.outputs, self.polynomial_map.images, strict=True):
            if any(int(c.denominator) % prime == 0 for c in image.values()):
                raise InvalidCaseError("field", f"{name} has no meaning modulo {prime}, which divides a denominator")
            terms = ((_residue(c, prime), support(monomial)) for monomial, c in image.items())
            reduced.append(tuple((c, factors) for c, factors in terms if c))
        return ReducedLayer(tuple(reduced), prime)


@dataclass(frozen=True, slots=True)
class ReducedLayer:
    """A layer modulo a prime, ready to be evaluated: for each output its terms."""

    outputs: tuple[tuple[tuple[int, Support], ...], ...]
    prime: int

    def values(self, point: Row) -> list[int]:
        """The outputs at a point (inputs followed by parameters)."""
        p = self.prime
        result = []
        for terms in self.outputs:
            total = 0
            for product, factors in terms:
                for i, exponent in factors:
                    product = product * pow(point[i], exponent, p) % p
                total += product
            result.append(total % p)
        return result

    def pullback(self, point: Row, covector: Row) -> list[int]:
        """The covector on the inputs and parameters that a covector on the outputs becomes: reverse differentiation."""
        p = self.prime
        result = [0] * len(point)
        for j in compress(range(len(self.outputs)), covector):
            scale = covector[j]
            for c, factors in self.outputs[j]:
                powers = [pow(point[i], exponent, p) for i, exponent in factors]
                for k, (i, exponent) in enumerate(factors):
                    product = scale * c * exponent * pow(point[i], exponent - 1, p) % p
                    for power in powers[:k] + powers[k + 1 :]:
                        product = product * power % p
                    result[i] += product
        return [entry % p for entry in result]


def support(monomial: Row) -> Support:
    """The variables that occur in a monomial, each with its exponent."""
    return tuple((i, exponent) for i, exponent in enumerate(monomial) if exponent)


def _residue(coefficient: Rational, prime: int) -> int:
    return int(coefficient.numerator) * pow(int(coefficient.denominator), -1, prime) % prime
