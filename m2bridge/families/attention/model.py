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
from numbers import Integral, Rational
from typing import TYPE_CHECKING, ClassVar

from m2bridge.errors import InvalidCaseError, MethodUnavailableError, check_choice, check_kind
from m2bridge.families.attention import sizes
from m2bridge.families.attention.sizes import NAME, CoordinateSystem, LayerSizes, Parametrization
from m2bridge.families.base import positive_integer
from m2bridge.limits import importing
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
    from m2bridge.families.attention.orbits.orbits import Orbit
    from m2bridge.maps.locus import LocusFindings
    from m2bridge.maps.model import PolarData
    from m2bridge.statements.statement import Observed, Statement

DEFAULT_PARAMETRIZATION: Parametrization = "attention"
"""The weights that are the parameters of a model without another choice: A and V."""


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
        if coordinates is None:
            coordinates = self.default_coordinates
        if weights is None:
            weights = DEFAULT_PARAMETRIZATION
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
        arguments = f"d={self.d}, d_out={self.d_out}, a={self.a}, t={self.t}"
        if self.coordinates != self.default_coordinates:
            arguments += f", coordinates={self.coordinates!r}"
        if self.weights != DEFAULT_PARAMETRIZATION:
            arguments += f", weights={self.weights!r}"
        return f"SingleLayerAttention({arguments})"

    def in_coordinates(
        self, coordinates: str | None = None, weights: str | None = None
    ) -> SingleLayerAttention:
        """Return the model in other coordinates, or with other weights; unchanged by default."""
        return SingleLayerAttention(
            self.d,
            self.d_out,
            self.a,
            self.t,
            coordinates=self.coordinates if coordinates is None else coordinates,
            weights=self.weights if weights is None else weights,
        )

    def parametrization(
        self, coordinates: str | None = None, weights: str | None = None
    ) -> PolynomialMap:
        """Return the map from weights to function coordinates.

        Without arguments it has the coordinates and weights of the model.

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
        """Return a map with the same image, whose parameters are weights without relations.

        The weights are A and V for α = d, where A is any matrix; for α < d they are K, Q and V,
        with α rows in K and Q, the fewest that give all A of rank at most α.
        """
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
        """Return the names of the coordinates, without building the map."""
        from m2bridge.families.attention.orbits.coordinates import coordinate_names

        return coordinate_names(self, self.coordinates)

    def grading(self) -> tuple[DegreeVector, ...] | None:
        """Return the multidegree of each coordinate: (e_k, e_i, e_p + e_q) for c_k_i_p_q.

        With unit vectors e it is one tuple of d' + d + d integers. ``None`` for full coordinates,
        for which no grading is implemented.
        """
        from m2bridge.families.attention.orbits.parametrization import grading

        if self.coordinates == "full":
            return None
        return grading(self, self.free_parametrization())

    def representations(
        self, counts: Mapping[tuple[int, tuple[int, ...]], int]
    ) -> tuple[Representation, ...] | None:
        """Return the representations of GL(X) × GL(H) × GL(Y) that minimal generators form.

        X, H and Y are the spaces of the indices i, k and p, q. ``counts`` maps (degree,
        multidegree) to the number of generators, with the multidegrees of :meth:`grading`.
        ``None`` for full coordinates, for which no grading is implemented.
        """
        from m2bridge.families.attention.ideal.representations import from_multidegrees

        if self.coordinates == "full":
            return None
        return from_multidegrees(self, counts)

    def symmetries(self) -> tuple[dict[str, str], ...]:
        """Return generators of the permutations of the indices, each as a map of parameters.

        The map has the parameters of :meth:`free_parametrization`; one generator maps A_1_1 to
        A_1_2, A_1_2 to A_1_1, and so on.
        """
        from m2bridge.families.attention.orbits.parametrization import symmetries

        return symmetries(self, self.free_parametrization())

    def gauge_dimension(self) -> int:
        """Return the dimension of a group that acts on free parameters and fixes functions.

        For t = 1 larger groups do so, too.
        """
        # (λA, V/λ), or (λK, Q, V/λ), has the same function
        rescaling = 1
        if self.alpha == self.d:
            # the entries of A are free
            return rescaling
        # A = KᵀQ is the same for gK and g⁻ᵀQ, with g in GL_α
        return rescaling + self.alpha**2

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        """Return one upper bound for the dimension, the same in every characteristic."""
        entries_of_V = self.d * self.d_out
        others = sizes.weights_dimension(self) - entries_of_V
        if self.t > 1:
            pairs = f"the pairs (A, V) with A of rank at most {self.alpha}"
            rescaling = "(λA, V/λ)"
        else:
            rank = sizes.form_rank(self)
            pairs = f"the pairs (q, V) with q = yᵀAy a quadratic form of rank at most {rank}"
            rescaling = "(λq, V/λ)"
        reason = f"{pairs}: {others} + {entries_of_V}, less 1 for the rescaling {rescaling}"
        return (Bounds.at_most(sizes.dimension_bound(self), reason),)

    def lower_bounds(self, characteristic: int) -> Iterator[MethodValue] | None:
        """Return an iterator over a lower bound for the dimension, which needs no expanded map.

        If the differential of a small case, with d ≤ 2, has its largest possible rank at random
        weights, the dimension of this case is at least the dimension of its weights less one
        (theorem-one-block). This number is yielded, and otherwise nothing.

        ``None`` for cases with few coordinates: the rank of their own differential is computed.
        """
        # beyond, expanding the map takes a second and more
        if self.coordinate_count <= 1000:
            return None
        from m2bridge.families.attention.orbits.parametrization import lower_bounds

        return lower_bounds(self, characteristic)

    def expectations(self) -> tuple[Expectation, ...]:
        """Return the dimension by Corollary 3.3; for one token the note that it does not apply."""
        if self.t == 1:
            return (Expectation(value=None, statement="", fails="Corollary 3.3 assumes t ≥ 2"),)
        from m2bridge.families.attention.hypotheses import why_outside_paper

        remark = "Corollary 3.3"
        if why_outside_paper(self):
            # For α = d' = 1 fibres are finite up to scaling too, so that the formula holds, but the
            # paper does not say so. So this is a remark, and not a hypothesis that ``fails``.
            remark += ", outside its hypothesis α > 1 or d' > 1"
        return (Expectation(value=sizes.dimension_formula(self), statement=remark),)

    def fibre_degree(self) -> int | None:
        """Return the degree of the closure by a closed formula.

        The formula is the degree of the variety of weights, divided by the number of points of the
        generic fibre; both are known by a proof.
        """
        if self.t == 1:
            return sizes.one_token_degree(self)
        return sizes.degree_formula(self)

    def predicted_hilbert_function(self, degree: int) -> int | None:
        """Return the predicted dimension of the coordinate ring of the closure in this degree.

        It is the same number in reduced and full coordinates. ``None`` where there is no
        prediction.

        Raises
        ------
        InvalidCaseError
            If the degree is not an integer, or below 0.
        """
        from m2bridge.families.attention.ideal.sections import predicted_hilbert_function

        # degrees are integers from 0, sizes of cases from 1
        if not isinstance(degree, Integral) or isinstance(degree, bool) or degree < 0:
            raise InvalidCaseError("degree", f"must be an integer ≥ 0, not {degree!r:.60}")
        if self.t == 1 or sizes.hilbert_formula_is_too_large(self):
            return None
        return predicted_hilbert_function(self, degree)

    def numbers(self, observable: str) -> str:
        """Return the polar degrees with their sum, in words, for the observable "polar_degrees".

        The text is empty for all other observables, and where the theorem does not apply or the
        degrees are too large.
        """
        from m2bridge.families.attention.polar.chern_integrals import has_short_polar_degrees
        from m2bridge.families.attention.polar.theorem import predicted_polar_degrees

        if observable != "polar_degrees" or self.t == 1:
            return ""
        if not has_short_polar_degrees(self):
            return ""
        degrees = predicted_polar_degrees(self)
        return f"{', '.join(map(str, degrees))}; generic ED degree {sum(degrees)}"

    def polar_theorem(self) -> PolarData | None:
        """Return the polar degrees by the theorem; ``None`` for one token.

        Raises
        ------
        TooLargeError
            If the dimension of the closure is too large.
        ContradictionError
            If two methods of integration disagree, or a hypothesis of the theorem fails.
        """
        from m2bridge.families.attention.polar.theorem import polar_theorem

        return polar_theorem(self)

    def core(self) -> Core | None:
        """Return the core, a smaller variety that determines the ideal in all degrees.

        Its points are all products l_i v_k of α forms l_i and min(d', d) forms v_k, which can be
        any linear forms, in as few variables as they need.

        ``None`` for one token, whose functions are not products; and in full coordinates, unless a
        computation shows that they span the same functions of the weights as reduced ones, so that
        a linear isomorphism carries the one closure to the other.
        """
        if self.t == 1:
            return None
        if self.coordinates == "full":
            from m2bridge.algebra.polynomial_map import same_span

            reduced = self.parametrization("reduced", "attention")
            if not same_span(reduced, self.parametrization("full", "attention")):
                return None
        from m2bridge.families.attention.ideal import highest_weights, representations
        from m2bridge.families.attention.ideal.sections import CoreSize

        # the minimal generators as polynomials are known in reduced coordinates only
        polynomials = None
        if self.coordinates == "reduced":
            polynomials = partial(highest_weights.generators_as_terms, self)
        # functions that compute on demand; their first argument, the case, is given already
        return Core(
            name=str(CoreSize.of(self)),
            hilbert_series=partial(representations.hilbert_series, self),
            representations=partial(representations.representations, self),
            up_to=partial(representations.values_and_generators, self),
            polynomials=polynomials,
        )

    def fewer_outputs(self, count: int) -> SingleLayerAttention | None:
        """Return the layer with the first ``count`` outputs only; ``None`` if it has no more.

        These are the outputs of the first rows of V. Callers recognize an output k by its
        multidegree e_k, which row k of V has.

        Raises
        ------
        InvalidCaseError
            If ``count`` is not an integer, or below 1.
        """
        count = positive_integer("count", count)
        if count >= self.d_out:
            return None
        return SingleLayerAttention(
            self.d, count, self.a, self.t, coordinates=self.coordinates, weights=self.weights
        )

    def eliminated(self) -> SingleLayerAttention:
        """Return the layer that elimination uses, with the same closure and fewer relations.

        For one token the function depends on A only by the quadratic form yᵀAy. If this form can
        have rank d, then matrices A of rank at most a and arbitrary A give the same closure; so the
        layer with a = d is returned, which has no minors of A as relations. In all other cases the
        layer itself is returned.
        """
        if self.t > 1 or sizes.form_rank(self) < self.d:
            return self
        return SingleLayerAttention(
            self.d, self.d_out, t=1, coordinates=self.coordinates, weights=self.weights
        )

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements of the paper, and ours."""
        from m2bridge.families.attention.statements import REGISTRY

        return REGISTRY

    def needs_engine(self, observables: Collection[str]) -> bool:
        """Return whether Macaulay2 is needed: unless all observables are types of weights."""
        from m2bridge.families.attention.statements import OF_TYPES

        return not set(observables) <= OF_TYPES

    def observe(self, observables: Collection[str], *, certified: bool = False) -> Observed | None:
        """Return the observations of these observables, as far as one computation makes them.

        Types of weights, the number of critical points of training, and numbers by degree are
        observed separately; all other observables together, at all orbits.

        Parameters
        ----------
        observables : collection of str
            Names from the registry of statements, all to be observed by one computation.
        certified : bool
            Whether the observations are for a certificate. Then incomplete observations are an
            error, and the result contains only what a checker can recompute.

        Returns
        -------
        Observed or None
            ``None`` for one token, except for numbers by degree and the number of critical points.
        """
        from m2bridge.families.attention.statements import (
            BY_DEGREE,
            EXPOSED_TYPES_OF_HEADS,
            OF_TRAINING,
            OF_TYPES,
        )

        if not OF_TYPES.isdisjoint(observables):
            if len(set(observables)) > 1:
                raise MethodUnavailableError(
                    "types of weights are observed separately: cross-check 'exposed' or"
                    " 'exposed-heads' alone"
                )
            if self.t == 1:
                return None
            with importing():
                from m2bridge.families.attention.training.observed import observe_types
            head_dim = None  # for types of (K, Q, V), which have no O
            if EXPOSED_TYPES_OF_HEADS in observables:
                # O has as many columns as K has rows
                head_dim = self.a
            return observe_types(self, head_dim)
        if not OF_TRAINING.isdisjoint(observables):
            with importing():
                from m2bridge.families.attention.observations.learning_degree import (
                    observe_learning_degree,
                )

            return observe_learning_degree(self, observables)
        if not BY_DEGREE.isdisjoint(observables):
            with importing():
                from m2bridge.families.attention.observations.by_degree import observe_by_degree

            return observe_by_degree(self, observables)
        if self.t == 1:
            return None
        with importing():  # with SymPy, while Macaulay2 starts
            from m2bridge.families.attention.observations.observe import observe

        # All certificates of a case share its observations, so these have the polar degrees too.
        polar = certified or "polar_degrees" in observables
        # A certificate has no bounds by equations: they take longer than all that it has. Partial
        # results are what was found until a limit was reached.
        observations = observe(self, partial=not certified, equations=not certified, polar=polar)
        if certified:
            return observations.certified()
        return observations

    def no_orbits(self) -> str:
        """Return why orbits do not classify the functions, for one token; empty for several."""
        if self.t >= 2:
            return ""
        return "orbits classify functions of attention with t ≥ 2 only"

    def no_fibres(self, field: CoefficientField) -> str:
        """Return why the lemma that decides smoothness by fibres does not apply; empty if it does.

        The lemma needs a birational parametrization in characteristic 0.
        """
        if self.t >= 2 and sizes.is_birational(self) and not field.characteristic:
            return ""
        return "the method of fibres is for attention over QQ with t ≥ 2, and α > 1 or d' > 1"

    def orbit_methods(self) -> SingleLayerAttention | None:
        """Return the model itself, which has the methods of orbits; ``None`` for one token."""
        if self.no_orbits():
            return None
        return self

    def by_fibres(self) -> LocusFindings:
        """Return findings about the singular locus, by the fibres of the parametrization.

        Only for models for which :meth:`no_fibres` gives no reason: their parametrization is
        birational, so a point of the closure is smooth if and only if its fibre is one reduced
        point and the variety of weights is smooth there.
        """
        from m2bridge.families.attention.observations.observe import by_fibres

        return by_fibres(self)

    def by_bounds(self) -> LocusFindings:
        """Return findings about singular orbits, by tangent vectors and low equations."""
        from m2bridge.families.attention.orbits.singular_orbits import by_bounds

        return by_bounds(self)

    def by_orbits(self, ideal: GeneratingSet, dimension: int) -> LocusFindings:
        """Return findings about the singular locus, by the Jacobian criterion at the orbits.

        ``ideal`` is the whole ideal of the closure, and ``dimension`` its affine dimension.
        """
        from m2bridge.families.attention.orbits.singular_orbits import by_orbits

        return by_orbits(ideal, dimension, self, self.polynomial_map)

    def orbit_closure(self, orbit: Orbit) -> PolynomialMap:
        """Return a map to the coordinates of this model whose image is dense in an orbit's closure.

        For an orbit (r, s, m) its parameters are the entries of vectors b_p, q_p and h_k with A = Σ
        b_p q_pᵀ, of r summands, and V = Σ h_k u_kᵀ, of s, where the u_k are among the b.
        """
        from m2bridge.families.attention.orbits.orbits import Orbit
        from m2bridge.families.attention.orbits.parametrization import orbit_closure_map

        check_kind("orbit", orbit, Orbit, "an Orbit")
        return orbit_closure_map(orbit, self, self.coordinates)

    def identify(self, prime: GeneratingSet, dimension: int) -> Orbit | None:
        """Return the orbit whose closure is the variety of a prime ideal; ``None`` if none is.

        The ideal is in the coordinates of this model, and its variety a cone of this affine
        dimension.
        """
        from m2bridge.algebra.polynomial_map import vanishes_on_image
        from m2bridge.families.attention.orbits.orbits import orbits
        from m2bridge.families.attention.orbits.tangents import orbit_dimension

        for orbit in orbits(self):
            if orbit_dimension(orbit, self) != dimension:
                continue
            # The orbit's closure is contained in the variety if the ideal vanishes on it; and a
            # closed subset of an irreducible variety with the same dimension is all of it.
            if vanishes_on_image(prime, self.orbit_closure(orbit)):
                return orbit
        return None

    def without_real_weights(self) -> WithoutRealWeights | None:
        """Return conditions for points without real weights; ``None`` for one token."""
        from m2bridge.families.attention.orbits.fibres import without_real_weights

        if self.t == 1:
            return None
        return without_real_weights(self, self.coordinates)

    def has_real_weights(self, function: Mapping[str, Fraction]) -> bool:
        """Return whether a function in the closure has real weights, by computing them; t ≥ 2.

        ``function`` has the value of each coordinate of the model, by its name.

        Raises
        ------
        InvalidCaseError
            If t = 1, or the value of a coordinate is missing, or no rational number.
        """
        from m2bridge.families.attention.orbits.coordinates import (
            coordinate_name_in,
            indices,
            reduced_name,
        )
        from m2bridge.families.attention.orbits.membership import INSIDE, membership_of

        if self.t == 1:
            raise InvalidCaseError("t", "must be at least 2 for a criterion of real weights")
        if not isinstance(function, Mapping):
            raise InvalidCaseError(
                "function", f"must map names of coordinates to values, not {function!r:.60}"
            )
        # membership reads reduced coordinates, which are among the full ones under other names
        reduced = {}
        for index in indices(self):
            name = coordinate_name_in(index, self.coordinates)
            if not isinstance(function.get(name), Rational):
                raise InvalidCaseError("function", f"must have a rational number for {name}")
            reduced[reduced_name(index)] = function[name]
        return membership_of(self, reduced).place == INSIDE
