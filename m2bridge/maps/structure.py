"""Structure of a parametrization that a model knows: a multigrading and permutations, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from m2bridge.errors import ContradictionError

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap

Vector = tuple[int, ...]
Permutation = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Multigrading:
    """Multidegrees for which every image is homogeneous: the ideal of the image is then homogeneous too.

    Parameters
    ----------
    parameters : tuple of vectors of int
        The multidegree of each parameter, in the order of the parametrization.
    coordinates : tuple of vectors of int
        The multidegree of the image of each coordinate.
    """

    parameters: tuple[Vector, ...]
    coordinates: tuple[Vector, ...]

    def check(self, parametrization: PolynomialMap) -> None:
        """Look at every monomial.

        Raises
        ------
        ContradictionError
            If an image is not homogeneous of the multidegree given.
        """
        pairs = zip(parametrization.coordinates, parametrization.images, self.coordinates, strict=True)
        for name, image, degree in pairs:
            if any(_degree(monomial, self.parameters) != degree for monomial in image):
                raise ContradictionError(f"the image of {name} is not homogeneous of multidegree {degree}")


def _degree(monomial: Vector, degrees: Sequence[Vector]) -> Vector:
    terms = [[exponent * entry for entry in degree] for exponent, degree in zip(monomial, degrees, strict=True)]
    return tuple(sum(column) for column in zip(*terms, strict=True))


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A permutation τ of the parameters and a permutation π of the coordinates with f_π(j)(p) = f_j(p_τ(1), …, p_τ(n)).

    In words: renaming parameter i to τ(i) turns the image of coordinate j into that of coordinate π(j). So π carries
    the ideal of the image to itself.

    Parameters
    ----------
    parameters : tuple of int
        τ(0), …, τ(n − 1), positions in the list of parameters.
    coordinates : tuple of int
        π(0), π(1), …, positions in the list of coordinates.
    """

    parameters: Permutation
    coordinates: Permutation

    def renaming(self, variables: Sequence[str]) -> dict[str, str]:
        """The permutation of the parameters by names; those that stay are left out."""
        return {variables[i]: variables[j] for i, j in enumerate(self.parameters) if i != j}

    def check(self, parametrization: PolynomialMap) -> None:
        """Compare all images, term by term.

        Raises
        ------
        ContradictionError
            If the permutation of the parameters does not carry the images to one another in this way.
        """
        sources = [self.parameters.index(i) for i in range(len(self.parameters))]
        for name, image, j in zip(parametrization.coordinates, parametrization.images, self.coordinates, strict=True):
            moved = {tuple(monomial[i] for i in sources): c for monomial, c in image.items()}
            if moved != dict(parametrization.images[j]):
                raise ContradictionError(f"the permutation does not carry {name} to {parametrization.coordinates[j]}")


def transposition(size: int, *swaps: tuple[int, int]) -> Permutation:
    """The permutation of 0, …, size − 1 that exchanges the two of each of these disjoint pairs."""
    moved = dict(swaps) | {j: i for i, j in swaps}
    return tuple(moved.get(i, i) for i in range(size))
