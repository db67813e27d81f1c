"""Polar degrees by counting points of the source of a map in random slices, with free parameters.

Slices are cut out in the space of the parameters, so that no equation of the image is needed; each
point of the image is counted as often as its fibre has points, by which the numbers are divided.
``forms`` are a map whose images are homogeneous coordinates of the projective variety. Of its
parameters some remain variables, the ``spanning`` ones; all others become random numbers. As errors
a map with relations is MethodUnavailableError, and one whose image is the point zero
InvalidCaseError.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from math import comb
from typing import NamedTuple

import flint
from sympy.polys.rings import PolyElement

from m2bridge.algebra.differential import jacobian_at
from m2bridge.algebra.linear_algebra import IntegerVector, pivot_columns
from m2bridge.algebra.numbers import random_primes
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import answer_until_limit
from m2bridge.engine.script import Script, render
from m2bridge.errors import InvalidCaseError, MethodUnavailableError, TooLargeError
from m2bridge.maps.degrees.counting_primes import LONG_PRIME_BITS, with_given_prime
from m2bridge.maps.model import Model

MAX_SLICE_MINORS = 5000
"""The largest number of minors of one slice."""


def slices_program(model: Model) -> Script:
    """Return the Macaulay2 program that counts points in slices for a model; it draws a prime if it
    runs without one.
    """
    return RandomSlices.of(model).script


class ProjectiveMap(NamedTuple):
    """A map to a projective space, given by homogeneous coordinates.

    Unless the closure of the model is seen to be a cone, the first image is 1, and the projective
    variety is the projective closure.
    """

    forms: PolynomialMap
    is_cone: bool


@dataclass(frozen=True)
class RandomSlices:
    """Random slices of the source of a model, in which points are counted."""

    map: ProjectiveMap
    spanning: list[int]
    title: str

    @classmethod
    def of(cls, model: Model) -> RandomSlices:
        """Return the slices for a model."""
        projective_map = _projective_map(model)
        return cls(projective_map, _spanning_parameters(projective_map.forms), model.title)

    @property
    def dimension(self) -> int:
        """The dimension of the projective variety, which is the number of spanning parameters."""
        return len(self.spanning)

    @cached_property
    def script(self) -> Script:
        """The Macaulay2 program that counts the points."""
        return slices_script(self.map.forms, self.spanning, self.title)

    def check_minors(self) -> None:
        """Raise TooLargeError if a slice takes more than :data:`MAX_SLICE_MINORS` minors."""
        # The images and their derivatives by the spanning parameters are the dimension + 1 rows of
        # a matrix. On i hyperplanes, i + 2 random combinations of its columns have to be dependent:
        # there is a minor for each choice of i + 2 rows.
        n = self.dimension
        max_minors = max(comb(n + 1, i + 2) for i in range(n + 1))
        if max_minors > MAX_SLICE_MINORS:
            raise TooLargeError(
                f"slices of a variety of dimension {n} take {max_minors} minors; at most"
                f" {MAX_SLICE_MINORS}"
            )

    def degrees_modulo(self, prime: int) -> tuple[tuple[int, ...], str]:
        """Return the polar degrees δ_n, δ_{n−1}, … modulo a prime, and the limit, or "", that ended
        the count before the last of them.

        A polar degree is the number of points in a slice, divided by the number of points of a
        general fibre; MethodUnavailableError if points are not isolated.
        """
        answer, limit = answer_until_limit(with_given_prime(self.script, prime))
        # the answer has a field polar_i for each δ_i, in this order, until a limit
        names = [f"polar_{i}" for i in range(self.dimension, -1, -1)]
        counts = [answer.integer(name) for name in names if name in answer]
        # the fibre is counted first: without it there are no counts to be divided
        fibre = answer.integer("fibre") if "fibre" in answer else 1
        if fibre < 1 or any(value < 0 or value % fibre for value in counts):
            raise MethodUnavailableError(
                f"the points in slices are not isolated: {counts} for fibres of {fibre}; use"
                " conormal"
            )
        return tuple(value // fibre for value in counts), limit


def _projective_map(model: Model) -> ProjectiveMap:
    """Return homogeneous coordinates of the projective variety of a model: of its closure if it is
    seen to be a cone, else of the projective closure, with an additional first coordinate 1.

    Images are multiplied by their denominators, which is a linear change of coordinates.
    """
    free = model.free_map
    if free.relations:
        raise MethodUnavailableError(
            "the parameters satisfy relations, and slices need free ones: use conormal"
        )
    if not any(free.images):
        raise InvalidCaseError("map", "its image is the point zero")
    names = free.coordinates
    images = tuple(image.clear_denoms()[1] for image in free.images)  # without denominators
    is_cone = parametrizes_cone(free)
    if not is_cone:
        # a further coordinate that is 1 makes the image the affine part of its projective closure
        new_name = next(name for name in map("h{}".format, count()) if name not in names)
        names = (new_name, *names)
        images = (free.source.sympy_ring.one, *images)
    return ProjectiveMap(PolynomialMap(free.source, names, images), is_cone=is_cone)


def parametrizes_cone(parametrization: PolynomialMap) -> bool:
    """Whether weights of the parameters make all images homogeneous of weight 1.

    Then scaling the parameters by these weights scales the image, so that its closure is a cone.
    There are such weights w if the equations ⟨w, e⟩ = 1, for the exponents e of all monomials, have
    a solution over QQ: if a column of ones does not increase the rank of the matrix of the e.
    """
    exponents: set[IntegerVector] = set()
    for image in parametrization.images:
        exponents.update(image.monoms())
    if not exponents:  # all images are zero
        return True
    rank = flint.fmpz_mat(list(map(list, exponents))).rank()
    rank_with_ones = flint.fmpz_mat([[*monomial, 1] for monomial in exponents]).rank()
    return bool(rank_with_ones == rank)


def _spanning_parameters(forms: PolynomialMap) -> list[int]:
    """Return the positions of as few parameters as suffice to parametrize the projective variety.

    At a random point modulo a long random prime, the derivatives with respect to these parameters
    and the point of the image itself are a basis of the tangent space of the cone over the variety.
    So the number of these parameters is the dimension of the projective variety.
    """
    prime = next(random_primes(LONG_PRIME_BITS))
    point = [1 + secrets.randbelow(prime - 1) for _ in forms.source.variables]
    gradients = jacobian_at(forms.images, point, prime)
    # for each coordinate its value, then its derivatives; images have integer coefficients
    rows = []
    for image, gradient in zip(forms.images, gradients, strict=True):
        rows.append([int(image(*point)) % prime, *gradient])
    # the columns that are not combinations of earlier ones
    pivots, _echelon = pivot_columns(rows, prime)
    # the first column, the point of the image, is a pivot unless it is zero
    if pivots[:1] != [0]:
        raise InvalidCaseError("map", "its image is the point zero")
    return [pivot - 1 for pivot in pivots[1:]]


def slices_script(forms: PolynomialMap, spanning: Sequence[int], title: str) -> Script:
    """Return the Macaulay2 program that counts points in slices, modulo a prime that it is given.

    Its answers are ``fibre``, the number of points of a general fibre, and ``polar_i`` for
    i = n, …, 0, the number of points of the source in a slice for δ_i; −1 if they are not isolated.
    """
    values = {"title": title, **map_values(forms.source.variables, spanning, forms.images)}
    return render("polar_slices", libraries=("wire",), values=values)


def map_values(
    variables: Sequence[str], spanning: Sequence[int], images: Sequence[PolyElement]
) -> dict[str, str]:
    """Return the values of a template that describe a map: its parameters, those that remain
    variables, what replaces each of them, and the images.
    """
    names = m2_syntax.all_to_macaulay2(variables)
    values = []
    for j, name in enumerate(names):
        values.append(f"sub({name}, sourceRing)" if j in spanning else "randomNumber()")
    return {
        "parameters": ", ".join(names),
        "kept": ", ".join(names[j] for j in spanning),
        "values": m2_syntax.sequence(values),
        "images": m2_syntax.sequence(m2_syntax.polynomial(image, names) for image in images),
    }
