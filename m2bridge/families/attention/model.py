"""Single-layer lightning self-attention as a model: a shape with coordinates, orbits, statements.

The computations are in the other modules of this package; each method calls one of them.
Imports inside methods are of modules that need SymPy, which is slow to import: naming a case does
without it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from m2bridge.errors import InvalidCaseError, MethodUnavailableError, check_choice
from m2bridge.families.attention import sizes
from m2bridge.families.attention.sizes import NAME, CoordinateSystem, LayerSizes, Parametrization
from m2bridge.loading import imported
from m2bridge.maps.model import (
    Core,
    DegreeVector,
    Expectation,
    MethodValue,
    Model,
    WithoutRealWeights,
)
from m2bridge.results.known import Bounds

if TYPE_CHECKING:
    from m2bridge.algebra.field import CoefficientField
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.ring import GeneratingSet
    from m2bridge.algebra.schur import Representation
    from m2bridge.families.attention.observations.at_orbits import Observations
    from m2bridge.families.attention.orbits.orbits import Orbit
    from m2bridge.maps.locus import LocusFindings
    from m2bridge.maps.model import PolarData
    from m2bridge.statements.statement import Observed, Statement

MAX_EXPANDED_COORDINATES = 1000
"""Cases with more are not expanded to know their dimension: that takes a second and more."""

DEFAULT_PARAMETRIZATION: Parametrization = "attention"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SingleLayerAttention(LayerSizes, Model):
    """The model X ↦ V X Xᵀ A X with A = KᵀQ, X ∈ R^{d×t} (Definition 1).

    Parameters
    ----------
    d : int
        Input embedding dimension.
    d_out : int
        Output embedding dimension (d' in the paper).
    a : int, optional
        Query/key dimension, d when left out; the attention matrix A has rank at most α = min(a, d).
    t : int
        Number of tokens. The statements of the paper assume t ≥ 2; t = 1 is a different variety.
    coordinates : {"reduced", "full"}, optional
        ``reduced``: the d'·d·d(d+1)/2 coordinates ``c_k_i_p_q``, the coefficient of x_i y_p y_q (p
        ≤ q) in output k, where x is the token and y another one; only for t ≥ 2, where they are the
        default. ``full``: all coefficients of V X Xᵀ A X that are not identically zero;
        ``f_k_j_p_u_q_v_r_w`` is the coefficient of X_pu X_qv X_rw in output k of token j.
    weights : {"attention", "factored"}
        ``attention``: parameters are the entries ``A_p_i`` and ``V_k_p``, with the (a+1)-minors of
        A as relations when a < d. ``factored``: parameters are the entries of Q, K and V, without
        relations.

    Raises
    ------
    InvalidCaseError
        If one of the numbers is not an integer, below 1 or too large, or the coordinates do not
        exist for this t.

    Examples
    --------
    >>> model = SingleLayerAttention(d=2, d_out=1)
    >>> print(model)
    (d, d', a) = (2, 1, 2), t = 2
    >>> model.parametrization().images[1]
    A_2_1*V_1_1 + A_1_1*V_1_2
    """

    coordinates: CoordinateSystem = field(hash=False)
    weights: Parametrization = field(hash=False)

    family: ClassVar[str] = NAME

    def __init__(
        self,
        d: int,
        d_out: int,
        a: int | None = None,
        t: int = 2,
        *,
        coordinates: str | None = None,
        weights: str | None = None,
    ) -> None:
        LayerSizes.__init__(self, d, d_out, a, t)
        coordinates = coordinates or self.default_coordinates
        weights = weights or DEFAULT_PARAMETRIZATION
        check_choice("coordinates", coordinates, CoordinateSystem)
        check_choice("weights", weights, Parametrization)
        if coordinates == "reduced" and self.t == 1:
            raise InvalidCaseError(
                "coordinates", "reduced coordinates need t ≥ 2; use full coordinates for t = 1"
            )
        # the only way to set a field of a frozen value
        object.__setattr__(self, "coordinates", coordinates)
        object.__setattr__(self, "weights", weights)

    def __repr__(self) -> str:
        chosen = f"d={self.d}, d_out={self.d_out}, a={self.a}, t={self.t}"
        if self.coordinates != self.default_coordinates:
            chosen += f", coordinates={self.coordinates!r}"
        if self.weights != DEFAULT_PARAMETRIZATION:
            chosen += f", weights={self.weights!r}"
        return f"SingleLayerAttention({chosen})"

    def in_coordinates(
        self, coordinates: str | None = None, weights: str | None = None
    ) -> SingleLayerAttention:
        """The model in other coordinates or from other weights; those that are left out stay."""
        return SingleLayerAttention(
            self.d,
            self.d_out,
            self.a,
            self.t,
            coordinates=coordinates or self.coordinates,
            weights=weights or self.weights,
        )

    def parametrization(
        self, coordinates: str | None = None, weights: str | None = None
    ) -> PolynomialMap:
        """The map from weights to function coordinates, in those of the model unless chosen.

        Raises
        ------
        InvalidCaseError
            If the coordinates do not exist for this t.
        TooLargeError
            If the map is too large to be stored.
        """
        from m2bridge.families.attention.orbits.parametrization import parametrization

        model = self.in_coordinates(coordinates, weights)
        return parametrization(model, model.coordinates, model.weights)

    def free_parametrization(self) -> PolynomialMap:
        """The map from weights without relations, as few as there can be."""
        from m2bridge.families.attention.orbits.parametrization import free_parametrization

        return free_parametrization(self, self.coordinates)

    @property
    def coordinate_system(self) -> str:
        """The name of the coordinate system, ``reduced`` or ``full``."""
        return self.coordinates

    @property
    def coordinate_count(self) -> int:
        """The number of coordinates, without building the map."""
        return sizes.coordinate_count(self, self.coordinates)

    def coordinate_names(self) -> tuple[str, ...]:
        """The names of the coordinates, without building the map."""
        from m2bridge.families.attention.orbits.parametrization import coordinate_names

        return coordinate_names(self, self.coordinates)

    def grading(self) -> tuple[DegreeVector, ...] | None:
        """The multidegree of c_k_i_p_q is (e_k, e_i, e_p + e_q); none for full coordinates."""
        from m2bridge.families.attention.orbits.parametrization import grading

        if self.coordinates == "full":
            # none is chosen there
            return None
        return grading(self, self.free_parametrization())

    def representations(
        self, counts: Mapping[tuple[int, tuple[int, ...]], int]
    ) -> tuple[Representation, ...] | None:
        """The representations of GL(X) × GL(H) × GL(Y), by the multidegrees of :meth:`grading`."""
        from m2bridge.families.attention.ideal.representations import from_multidegrees

        if self.coordinates == "full":
            return None
        return from_multidegrees(self, counts)

    def symmetries(self) -> tuple[dict[str, str], ...]:
        """The permutations of the indices."""
        from m2bridge.families.attention.orbits.parametrization import symmetries

        return symmetries(self, self.free_parametrization())

    def gauge_dimension(self) -> int:
        """The dimension of the group that acts on the free parameters and moves no function."""
        rescaling = 1
        if self.alpha == self.d:
            # the entries of A are free
            return rescaling
        # A = KᵀQ is the same for gK and g⁻ᵀQ, with g in GL_α
        return rescaling + self.alpha**2

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        """Return the upper bound: the dimension of the weights less one."""
        reason = "the dimension of the weights less one for their rescaling"
        return (Bounds.at_most(sizes.dimension_bound(self), reason),)

    def lower_bounds(self, characteristic: int) -> Iterator[MethodValue] | None:
        """The rank of one block, which decides; small cases are expanded (``None``)."""
        if self.coordinate_count <= MAX_EXPANDED_COORDINATES:
            return None
        from m2bridge.families.attention.orbits.parametrization import lower_bounds

        return lower_bounds(self, characteristic)

    def expectations(self) -> tuple[Expectation, ...]:
        """The value of Corollary 3.3, and a remark."""
        if self.t == 1:
            return (Expectation(None, "", "Corollary 3.3 assumes t ≥ 2"),)
        from m2bridge.families.attention.hypotheses import paper_hypotheses

        remark = "Corollary 3.3"
        if paper_hypotheses(self):
            # the formula holds there too, but the paper does not say so
            remark += ", outside its hypothesis α > 1 or d' > 1"
        return (Expectation(sizes.dimension_formula(self), remark),)

    def fibre_degree(self) -> int | None:
        """The degree by a formula, with the generic fibre of all sizes."""
        if self.t == 1:
            return sizes.one_token_degree(self)
        return sizes.degree_formula(self)

    def predicted_hilbert_function(self, degree: int) -> int | None:
        """The dimension of the part of this degree; the same in all coordinates."""
        from m2bridge.families.attention.ideal.sections import predicted_hilbert_function

        if self.t == 1 or sizes.hilbert_formula_is_too_large(self):
            return None
        return predicted_hilbert_function(self, degree)

    def numbers(self, observable: str) -> str:
        """The polar degrees, where they are integrals."""
        from m2bridge.families.attention.polar.chern_integrals import MAX_POLAR_DIMENSION
        from m2bridge.families.attention.polar.theorem import no_theorem, predicted_polar_degrees

        if observable != "polar_degrees" or no_theorem(self):
            return ""
        if sizes.dimension_formula(self) > MAX_POLAR_DIMENSION:
            return ""
        degrees = predicted_polar_degrees(self)
        return f"{', '.join(map(str, degrees))}; generic ED degree {sum(degrees)}"

    def polar_theorem(self) -> PolarData | None:
        """The polar degrees, for all sizes."""
        from m2bridge.families.attention.polar.theorem import polar_theorem

        return polar_theorem(self)

    def core(self) -> Core | None:
        """The products of as few linear forms in as few variables as decide.

        ``None`` for one token, whose functions are not products; and in full coordinates, unless a
        computation shows that they span the same functions of the weights as reduced ones, so that
        a linear isomorphism carries the one closure to the other.
        """
        if self.t == 1:
            return None
        from m2bridge.algebra.polynomial_map import same_span
        from m2bridge.families.attention.ideal import highest_weights, representations
        from m2bridge.families.attention.ideal.sections import CoreSize

        polynomials = None
        if self.coordinates == "reduced":
            polynomials = partial(highest_weights.sparse_generators, self)
        else:
            reduced = self.parametrization("reduced", "attention")
            full = self.parametrization("full", "attention")
            if not same_span(reduced, full):
                return None
        return Core(
            name=str(CoreSize.of(self)),
            hilbert_series=partial(representations.hilbert_series, self),
            representations=partial(representations.representations, self),
            up_to=partial(representations.values_and_generators, self),
            polynomials=polynomials,
        )

    def fewer_outputs(self, count: int) -> SingleLayerAttention | None:
        """The layer with the first rows of V alone; scaling these scales the first outputs."""
        if count >= self.d_out:
            return None
        return SingleLayerAttention(
            self.d, count, self.a, self.t, coordinates=self.coordinates, weights=self.weights
        )

    def eliminated(self) -> SingleLayerAttention:
        """Return, for one token, the layer with arbitrary A if all quadratic forms yᵀAy occur."""
        if self.t > 1 or sizes.form_rank(self) < self.d:
            return self
        return SingleLayerAttention(
            self.d, self.d_out, t=1, coordinates=self.coordinates, weights=self.weights
        )

    def statements(self) -> tuple[Statement, ...]:
        """The statements of the paper, and ours."""
        from m2bridge.families.attention.statements import REGISTRY

        return REGISTRY

    def needs_engine(self, observables: Collection[str]) -> bool:
        """Whether something is computed by Macaulay2, as fibres and degrees are."""
        from m2bridge.families.attention.statements import OF_TYPES

        return not set(observables) <= OF_TYPES

    def observe(self, observables: Collection[str], *, certified: bool = False) -> Observed | None:
        """The observations of all orbits, for several tokens, without numbers by degree."""
        from m2bridge.families.attention.statements import BY_DEGREE, OF_TRAINING, OF_TYPES

        if not OF_TYPES.isdisjoint(observables):
            return self._observe_types(observables)
        if not OF_TRAINING.isdisjoint(observables):
            loss = imported("m2bridge.families.attention.observations.learning_degree")
            of_training: Observed = loss.observe_learning_degree(self, observables)
            return of_training
        if not BY_DEGREE.isdisjoint(observables):
            numbers = imported("m2bridge.families.attention.observations.by_degree")
            by_degree: Observed = numbers.observe_by_degree(self, observables)
            return by_degree
        if self.t == 1:
            return None
        # with SymPy, while Macaulay2 starts
        observe = imported("m2bridge.families.attention.observations.observe").observe
        # certificates of a case share its observations
        polar = certified or "polar_degrees" in observables
        observations: Observations = observe(self, partial=not certified, polar=polar)
        if certified:
            return observations.certified()
        return observations

    def _observe_types(self, observables: Collection[str]) -> Observed | None:
        """The types of weights, which are observed alone; ``None`` for one token."""
        from m2bridge.families.attention.statements import EXPOSED_TYPES_OF_HEADS

        if len(set(observables)) > 1:
            raise MethodUnavailableError(
                "types of weights are observed separately: cross-check 'exposed' or"
                " 'exposed-heads' alone"
            )
        if self.t == 1:
            return None
        training = imported("m2bridge.families.attention.training.observed")
        head_dim = self.a if EXPOSED_TYPES_OF_HEADS in observables else None
        observed: Observed = training.observe_types(self, head_dim)
        return observed

    def no_orbits(self) -> str:
        """The reason why orbits classify no functions of one token; empty for several."""
        if self.t >= 2:
            return ""
        return "orbits classify functions of attention with t ≥ 2 only"

    def no_fibres(self, field: CoefficientField) -> str:
        """The reason why the smoothness lemma does not apply; empty if it does."""
        # it needs a birational map in characteristic 0
        if self.t >= 2 and sizes.is_birational(self) and not field.characteristic:
            return ""
        return "the method of fibres is for attention over QQ with t ≥ 2, and α > 1 or d' > 1"

    def orbit_methods(self) -> SingleLayerAttention | None:
        """The model itself, an :class:`~m2bridge.maps.locus.OrbitMethods` for t ≥ 2."""
        if self.no_orbits():
            return None
        return self

    def by_fibres(self) -> LocusFindings:
        """The singular locus by the fibres over the orbits."""
        from m2bridge.families.attention.observations.observe import by_fibres

        return by_fibres(self)

    def by_bounds(self) -> LocusFindings:
        """The singular locus by tangent vectors and equations of low degree."""
        from m2bridge.families.attention.orbits.tangents import by_bounds

        return by_bounds(self)

    def by_orbits(self, ideal: GeneratingSet, dimension: int) -> LocusFindings:
        """The singular locus by the ideal of the closure."""
        from m2bridge.families.attention.orbits.tangents import by_orbits

        return by_orbits(ideal, dimension, self, self.polynomial_map)

    def orbit_closure(self, orbit: Orbit) -> PolynomialMap:
        """A parametrization of the closure of the orbit."""
        from m2bridge.families.attention.orbits.parametrization import orbit_closure_map

        return orbit_closure_map(orbit, self, self.coordinates)

    def identify(self, prime: GeneratingSet, dimension: int) -> Orbit | None:
        """Return the orbit whose closure is the variety of the prime ideal, if there is one."""
        from m2bridge.algebra.polynomial_map import vanishes_on_image
        from m2bridge.families.attention.orbits.orbits import orbits
        from m2bridge.families.attention.orbits.tangents import orbit_dimension

        for orbit in orbits(self):
            if orbit_dimension(orbit, self) != dimension:
                continue
            # a closed subset of an irreducible variety with the same dimension is all of it
            if vanishes_on_image(prime, self.orbit_closure(orbit)):
                return orbit
        return None

    def without_real_weights(self) -> WithoutRealWeights | None:
        """A criterion for functions without real weights, for t ≥ 2."""
        from m2bridge.families.attention.orbits.fibres import without_real_weights

        if self.t == 1:
            return None
        return without_real_weights(self, self.coordinates)

    def has_real_weights(self, function: Mapping[str, Fraction]) -> bool:
        """Whether the function has real weights, by computing them; for t ≥ 2."""
        from m2bridge.families.attention.orbits.membership import INSIDE, membership_of
        from m2bridge.families.attention.orbits.parametrization import (
            indices,
            name_in,
            reduced_name,
        )

        # membership reads reduced coordinates, which are among the full ones under other names
        reduced = {}
        for index in indices(self):
            reduced[reduced_name(index)] = function[name_in(index, self.coordinates)]
        return membership_of(self, reduced).place == INSIDE
