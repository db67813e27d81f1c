"""An attention model in one of its coordinate systems: what general computations know of attention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from m2bridge.families.attention.model import NAME, Coordinates, SingleLayerAttention, Weights
from m2bridge.maps.model import LowerBound, UpperBound, WithoutRealWeights
from m2bridge.maps.structure import Multigrading, Symmetry

if TYPE_CHECKING:
    from m2bridge.algebra.field import CoefficientField
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.ring import Ideal
    from m2bridge.engine import Engine
    from m2bridge.families.attention.orbits import Orbit
    from m2bridge.maps.agreement import LocusFindings
    from m2bridge.maps.closure_result import Closure
    from m2bridge.maps.core import Core

FEW_COORDINATES = 1000
"""Cases with more are not expanded to know their dimension: that takes a second and more."""


@dataclass(frozen=True, slots=True)
class AttentionCoordinates:
    """A :class:`~m2bridge.maps.model.Model`, with a core and with orbits.

    Parameters
    ----------
    shape : SingleLayerAttention
    coordinates : {"reduced", "full"}
    weights : {"attention", "factored"}
        The parameters of :meth:`parametrization`.
    """

    shape: SingleLayerAttention
    coordinates: Coordinates
    weights: Weights = "attention"

    @property
    def family(self) -> str:
        """The name of the family."""
        return NAME

    @property
    def key(self) -> str:
        """As of the shape."""
        return self.shape.key

    @property
    def title(self) -> str:
        """As of the shape."""
        return self.shape.title

    def to_json(self) -> dict[str, Any]:
        """The numbers of the shape."""
        return self.shape.to_json()

    def parametrization(self) -> PolynomialMap:
        """From the chosen weights."""
        return self.shape.parametrization(self.coordinates, self.weights)

    def free_parametrization(self) -> PolynomialMap:
        """From weights without relations, as few as there can be: A = KᵀQ is any matrix of rank at most α for a = α."""
        shape = SingleLayerAttention(self.shape.d, self.shape.d_out, self.shape.alpha, self.shape.t)
        return shape.parametrization(self.coordinates, "attention" if shape.a == shape.d else "factored")

    @property
    def coordinate_system(self) -> str:
        """``reduced`` or ``full``."""
        return self.coordinates

    @property
    def coordinate_count(self) -> int:
        """The number of coordinates, without building the map."""
        return self.shape.coordinate_count(self.coordinates)

    def coordinate_names(self) -> tuple[str, ...]:
        """The names of the coordinates, without building the map."""
        from m2bridge.families.attention.parametrization import coordinate_names

        return coordinate_names(self.shape, self.coordinates)

    def grading(self) -> Multigrading | None:
        """The multidegree of c_k_i_p_q is (e_k, e_i, e_p + e_q); none is chosen for full coordinates."""
        from m2bridge.families.attention.structure import grading

        return grading(self.shape, self.free_parametrization()) if self.coordinates == "reduced" else None

    def symmetries(self) -> tuple[Symmetry, ...]:
        """All permutations of the indices."""
        from m2bridge.families.attention.structure import symmetries

        return symmetries(self.shape, self.free_parametrization())

    def gauge_dimension(self) -> int:
        """Of the group that acts on the free parameters: rescaling A against V, and GL_α on Q and K."""
        return 1 if self.shape.alpha == self.shape.d else 1 + self.shape.alpha**2

    def upper_bounds(self, characteristic: int) -> tuple[UpperBound, ...]:
        """See :func:`m2bridge.families.attention.formulas.dimension_bound`."""
        from m2bridge.families.attention.formulas import dimension_bound

        return (UpperBound(dimension_bound(self.shape), "the dimension of the weights less one for their rescaling"),)

    def lower_bounds(self, characteristic: int) -> Iterator[LowerBound] | None:
        """See :mod:`m2bridge.families.attention.one_block`; small cases are expanded."""
        if self.coordinate_count <= FEW_COORDINATES:
            return None
        from m2bridge.families.attention.one_block import lower_bounds

        return lower_bounds(self.shape, characteristic)

    def expected_dimension(self) -> tuple[int | None, str]:
        """Corollary 3.3."""
        from m2bridge.families.attention.formulas import dimension_formula
        from m2bridge.families.attention.statements.statement import paper_hypotheses

        if self.shape.t == 1:
            return None, "Corollary 3.3 assumes t ≥ 2"
        remark = "Corollary 3.3" + (", outside its hypothesis α > 1 or d' > 1" if paper_hypotheses(self.shape) else "")
        return dimension_formula(self.shape), remark

    def fibre_degree(self) -> int | None:
        """By :func:`m2bridge.families.attention.formulas.degree_formula`, with the generic fibre of all sizes."""
        from m2bridge.families.attention.formulas import degree_formula

        return degree_formula(self.shape) if self.shape.t > 1 else None

    def predicted_hilbert_function(self, degree: int) -> int | None:
        """See :mod:`m2bridge.families.attention.hilbert_function`; the same in all coordinates."""
        from m2bridge.families.attention.hilbert_function import no_prediction, predicted_hilbert_function

        return None if no_prediction(self.shape) else predicted_hilbert_function(self.shape, degree)

    def core(self) -> Core | None:
        """See :mod:`m2bridge.families.attention.core`."""
        from m2bridge.families.attention.core import core

        return core(self.shape, self.coordinates)

    def no_orbits(self) -> str:
        """For one token the orbits classify no functions."""
        return "" if self.shape.t >= 2 else "orbits classify functions of attention with t ≥ 2 only"

    def no_fibres(self, field: CoefficientField) -> str:
        """The smoothness lemma needs a birational parametrization, in characteristic 0."""
        from m2bridge.families.attention.fibre_criterion import fibres_apply

        if fibres_apply(self.shape) and not field.characteristic:
            return ""
        return "the method of fibres is for attention over QQ with t ≥ 2, and α > 1 or d' > 1"

    def by_fibres(self, engine: Engine) -> LocusFindings:
        """See :func:`m2bridge.families.attention.fibre_criterion.by_fibres`."""
        from m2bridge.families.attention.fibre_criterion import by_fibres

        return by_fibres(self.shape, engine)

    def by_bounds(self) -> LocusFindings:
        """See :func:`m2bridge.families.attention.bound_criterion.by_bounds`."""
        from m2bridge.families.attention.bound_criterion import by_bounds

        return by_bounds(self.shape)

    def by_orbits(self, found: Closure) -> LocusFindings:
        """See :func:`m2bridge.families.attention.orbit_criterion.by_orbits`."""
        from m2bridge.families.attention.orbit_criterion import by_orbits

        return by_orbits(found, self)

    @property
    def independent_count(self) -> int:
        """The number of linearly independent coordinates: the reduced ones."""
        return self.shape.coordinate_count("reduced")

    def orbit_closure(self, orbit: Orbit) -> PolynomialMap:
        """See :func:`m2bridge.families.attention.orbit_closures.orbit_closure_map`."""
        from m2bridge.families.attention.orbit_closures import orbit_closure_map

        return orbit_closure_map(orbit, self.shape, self.coordinates)

    def identify(self, prime: Ideal, dimension: int) -> Orbit | None:
        """The orbit whose closure is the variety of the prime: contained in it, and irreducible of this dimension."""
        from m2bridge.algebra.evaluation import vanishes_on_image
        from m2bridge.families.attention.orbits import orbits
        from m2bridge.families.attention.tangents import orbit_dimension

        for orbit in orbits(self.shape):
            same = orbit_dimension(orbit, self.shape) == dimension
            if same and vanishes_on_image(prime, self.orbit_closure(orbit)):
                return orbit
        return None

    def zero_tangent_dimension(self) -> int:
        """See :func:`m2bridge.families.attention.tangents.zero_tangent_dimension`."""
        from m2bridge.families.attention.tangents import zero_tangent_dimension

        return zero_tangent_dimension(self.shape)

    def without_real_weights(self) -> WithoutRealWeights | None:
        """See :mod:`m2bridge.families.attention.real_weights`; for t ≥ 2."""
        from m2bridge.families.attention.real_weights import without_real_weights

        return without_real_weights(self.shape, self.coordinates) if self.shape.t > 1 else None

    def has_real_weights(self, function: Mapping[str, Fraction], engine: Engine) -> bool:
        """See :func:`m2bridge.families.attention.membership.membership`; for t ≥ 2."""
        from m2bridge.families.attention.membership import INSIDE, membership
        from m2bridge.families.attention.parametrization import name_in
        from m2bridge.families.attention.reduced_coordinates import indices, name

        reduced = {name(index): function[name_in(index, self.coordinates)] for index in indices(self.shape)}
        return membership(self.shape, reduced, engine).place == INSIDE
